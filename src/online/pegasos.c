/* SPDX-License-Identifier: BSD-3-Clause */
/* p-norm Pegasos, which the OBSCURE paper compares with (section 4.1): the batch stage of OBSCURE
 * (Alg. 2) alone, from theta = 0 and with s_t = 0, so that eta_t = q / (lambda t). Line numbers are
 * those of Alg. 2. The ball has R^2 = 2 / lambda times the mean loss at theta = 0, since
 * lambda/2 ||w*||^2 is no more than the objective there. Theorem 1 then holds without the part
 * that needs s_t. */
#include "online/dual.h"

static void take_round(md_online *online, md_round *round)
{
    md_dual *dual = online->state;
    const double lambda = online->settings.lambda;
    if (!md_online_find_gradients(online, round)) /* lines 4 to 7 */
        return;
    dual->rounds += 1;                                                                /* line 3 */
    const double eta = dual->q / (lambda * dual->rounds) * md_online_cooling(online); /* line 10 */
    md_dual_rescale(online, 1 - lambda * eta / dual->q);                              /* line 11 */
    if (round->gradients > 0)
        md_dual_add(online, round->gradients,
                    1 / (double)round->size * eta); /* and line 13, which line 12 leaves as it is */
    md_dual_project(online);                        /* line 12 */
}

static md_bound bound(const md_online *online)
{
    return md_dual_bound(online, false);
}

const md_rule md_rule_pegasos = {
    .about = {.name = "pegasos",
              .summary =
                  "baseline of obscure: p-norm Pegasos, its second stage alone at a plain rate",
              .takes =
                  MD_LOOP_TAKES | MD_ALL_BLOCKS | MD_TAKES_BOUND | MD_TAKES_EPOCHS | MD_TAKES_NORM},
    .traits = {.default_C = 1, .few_changes = true, .penalty = md_dual_penalty},
    .smaller = {"C"},
    .state_size = sizeof(md_dual),
    .restart = md_dual_restart,
    .from_weights = md_dual_from_weights,
    .begin = md_dual_begin_descent,
    .end_epoch = md_dual_set_scales,
    .bound = bound,
    .round = take_round,
};
