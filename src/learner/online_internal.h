/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the files of the online loop. */
#ifndef MD_ONLINE_INTERNAL_H
#define MD_ONLINE_INTERNAL_H

#include "learner/online.h"

/* No length that single precision could show. */
#define MD_VANISHED 1e-30

/* The visited examples in the order of the data. */
void md_online_fill_order(md_online *online);

/* Factor of the rate: as a run cools down, single examples have less and less of a say. */
double md_online_cooling(const md_online *online);

/* The first `count` gradients of the round, with a rate; norms behind it go to online->norm. */
void md_online_step(md_online *online, size_t count, double eta);

/* Every block becomes as long as online->shrunk says, times factor. count: gradients of the step.
 */
void md_online_finish(md_online *online, size_t count, double eta, double factor);

/* What every block is made of is up to date afterwards, for all rows. */
medley_status md_online_settle(md_online *online, medley_error *error);

/* Score caches are computed anew, if there were enough changes since; norms are to be refreshed. */
medley_status md_online_renew(md_online *online, medley_error *error);

bool md_online_norms_are_finite(const md_online *online);

/* ---- mirror.c ---- */

/* What follows from `count` gradients of a round of so many examples; count 0: none had a loss. */
void md_mirror_update(md_online *online, size_t count, size_t examples);

/* theta = 0. */
void md_mirror_restart(md_online *online);

/* Sets the links anew: norms were refreshed, or theta was replaced. */
void md_mirror_relink(md_online *online);

#endif
