/* SPDX-License-Identifier: BSD-3-Clause */
/* Structured Pegasos for fixed kernel weights d, the machine inside of the wrappers that SPOM is
 * compared with (Martins et al. 2011, figure 2). It minimises
 *
 *     lambda/2 sum_m ||w_m||^2 / d_m + mean loss(w; x, y),     w_m = d_m theta_m,
 *
 * which is lambda/2 ||theta||^2 in the space of the one kernel sum_m d_m K_m: theta is the same
 * expansion for all kernels and d the dual scale of its blocks. Blocks with a term of their own
 * have weight 1. The least value over d is SPOM's objective, the penalty being half the square of a
 * norm (SPOM eqs. 5 and 6).
 *
 * A wrapper is a rule of the online loop that changes d as a call of the machine ends. As in the
 * paper the first call has 20 epochs and each of the others 3, which begin with the theta of the
 * one before; rates go on falling through all of them, since 1/(lambda t) for t = 1 would forget
 * theta at once.
 *
 * The loop of the batch wrappers (wrappers.h) does not serve: it wants one number for each row, the
 * matrix of the mixture and a certificate, where here are parts of structures, blocks of any kind
 * and a machine that stops early. */
#ifndef MD_INNER_PEGASOS_H
#define MD_INNER_PEGASOS_H

#include "online/rule.h"

/* What a rule of this kind has at the beginning of its state. */
typedef struct md_inner {
    double rounds;        /* t */
    double radius;        /* of theta in the space of the mixture */
    size_t epochs, calls; /* of this call, and calls before it */
} md_inner;

/* Functions of a rule's row. Weights are the first [block_count] numbers of online->own. */
void md_inner_restart(md_online *online); /* weights all alike, unless there is a theta */
void md_inner_from_weights(md_online *online);
medley_status md_inner_begin(md_online *online, medley_error *error);
void md_inner_round(md_online *online, md_round *round);

/* Makes room for so many arrays, of which the weights are the first. */
medley_status md_inner_init(md_online *online, size_t arrays, medley_error *error);

/* Is the penalty half the square of a norm, with a power of at most most_q? If not, a refusal that
 * names the method. */
medley_status md_inner_check(const md_penalty *penalty, const char *method, double most_q,
                             medley_error *error);

/* Was the last epoch the last one of a call of the machine? */
bool md_inner_ends_call(const md_online *online);

/* Another epoch begins, and is counted: is it the first of another call, so that weights may
 * change?
 */
bool md_inner_begins_call(md_online *online);

/* The weights become the best ones for w as it is, in proportion to ||w_m||^(2-q) (SPOM section
 * 2.2), and are used; they are left alone if w is 0. */
void md_inner_best_weights(md_online *online);

/* The dual scales follow the weights. */
void md_inner_use_weights(md_online *online);

#endif
