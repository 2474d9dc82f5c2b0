/* SPDX-License-Identifier: BSD-3-Clause */
/* A rule from outside: plain subgradient descent on the objective with l2, eta_t = 1/(lambda t).
 * A rule is a method of its name. */
#include "online/rule.h"

#include <string.h>

static void restart(md_online *online)
{
    *(size_t *)online->state = 0;
}

static void penalty(char *text, size_t size, const medley_options *options)
{
    (void)options;
    (void)!strncpy(text, "l2", size);
}

static void take_round(md_online *online, md_round *round)
{
    size_t *t = online->state;
    if (!md_online_find_gradients(online, round))
        return;
    const size_t count = online->problem.block_count;
    const double eta = 1 / (online->settings.lambda * (double)++*t);
    md_online_rescale(online, count, 1 - eta * online->settings.lambda);
    md_online_step(online, round->gradients, eta / (double)round->size);
    memcpy(online->shrunk, online->norm, count * sizeof *online->norm);
    md_online_finish(online, round->gradients, eta / (double)round->size, 1);
}

const md_rule md_rule_stepwise = {
    .about = {.name = "stepwise",
              .summary = "subgradient descent, from outside",
              .takes = MD_LOOP_TAKES | MD_ALL_BLOCKS | MD_TAKES_EPOCHS},
    .smaller = {"C"},
    .state_size = sizeof(size_t),
    .traits.penalty = penalty,
    .restart = restart,
    .round = take_round,
};
