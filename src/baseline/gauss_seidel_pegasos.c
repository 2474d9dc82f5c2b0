/* SPDX-License-Identifier: BSD-3-Clause */
/* lp-norm multiple kernel learning by turns (Kloft et al. 2010) around structured Pegasos, with
 * which SPOM is compared (Martins et al. 2011, section 4.1): whenever a call of the machine ends,
 * the kernel weights become the best ones for the model that it has found. */
#include "baseline/inner_pegasos.h"

static medley_status check(const md_problem *problem, medley_error *error)
{
    return md_inner_check(problem->penalty, md_rule_gauss_seidel_pegasos.about.name, 2, error);
}

static medley_status init(md_online *online, medley_error *error)
{
    return md_inner_init(online, 1, error);
}

static medley_status take_turn(md_online *online, medley_error *error)
{
    (void)error;
    if (md_inner_begins_call(online))
        md_inner_best_weights(online);
    return MEDLEY_OK;
}

static void visit_state(md_online *online, md_state_visitor visit, void *context)
{
    visit(context, online->own, online->problem.block_count * sizeof *online->own);
}

const md_rule md_rule_gauss_seidel_pegasos = {
    .about = {.name = "gauss-seidel-pegasos",
              .summary = "for comparison: as spom, by turns between kernel weights and Pegasos",
              .takes = MD_LOOP_TAKES | MD_ALL_BLOCKS | MD_TAKES_BOUND | MD_TAKES_PENALTY |
                       MD_TAKES_EPOCHS},
    .traits = {.own_terms = true, .epochs = 100},
    .smaller = {"C"},
    .state_size = sizeof(md_inner),
    .check = check,
    .init = init,
    .restart = md_inner_restart,
    .from_weights = md_inner_from_weights,
    .begin = md_inner_begin,
    .before_epoch = take_turn,
    .visit_state = visit_state,
    .round = md_inner_round,
};
