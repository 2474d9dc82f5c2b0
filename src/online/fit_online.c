/* SPDX-License-Identifier: BSD-3-Clause */
/* The methods of the online loop: how a problem becomes settings of the loop, and a rule on all
 * blocks. */
#include "online/run.h"

/* For the margin of the bound in the end (bound.c): a little less than what is asked for. */
static const double ROOM = 0.97;

md_online_problem md_problem_for_loop(const md_problem *problem, const md_run_blocks *blocks)
{
    return (md_online_problem){.blocks = blocks->blocks,
                               .block_count = blocks->count,
                               .penalised = blocks->penalised,
                               .gram = problem->online->gram,
                               .deferred = problem->online->deferred,
                               .window = problem->source ? problem->source->window : NULL,
                               .space = problem->space,
                               .loss = problem->online->loss,
                               .penalty = problem->penalty,
                               .examples = problem->examples,
                               .example_count = problem->example_count,
                               .gold = problem->gold};
}

/* The score caches of kernels are happy with large first steps (the paper's rate); where there are
 * sparse features, of which some are seen for the first time late, the rate must not fall so soon.
 */
static md_schedule choose_schedule(const md_problem *problem)
{
    if (problem->options->schedule != MD_RATE_AUTO)
        return (md_schedule)problem->options->schedule;
    return md_problem_is_explicit(problem) ? MD_RATE_EPOCH : MD_RATE_SQRT;
}

/* Of templates with large tables, no scores are kept. */
static bool has_large_tables(const md_problem *problem)
{
    return problem->source != NULL && problem->source->class->large_tables;
}

/* Rounds before a prox. */
static size_t choose_prox_every(const md_problem *problem)
{
    const size_t given = (size_t)problem->options->prox_every;
    const size_t usual = problem->task->defaults.prox_every;
    return given > 0 ? given : usual > 0 ? usual : 1;
}

/* Rows this near to certainty take no step; rules that have none of rows look at everything. */
static double least_step(const md_problem *problem)
{
    const bool has_rounds = problem->method->about->takes & MD_TAKES_ROUNDS;
    return has_rounds ? problem->options->skip_certain : 0;
}

/* Is the penalty the one that `p` speaks of? */
static bool has_own_norm(const md_problem *problem)
{
    return strcmp(problem->options->penalty, "auto") == 0;
}

md_online_settings md_problem_settings(const md_problem *problem)
{
    const medley_options *options = problem->options;
    return (md_online_settings){
        .rule = problem->method->rule,
        .rates = {.eta0 = problem->online->eta0,
                  .schedule = choose_schedule(problem),
                  .radius = problem->online->radius,
                  .prox_every = choose_prox_every(problem)},
        .dual = {.p = has_own_norm(problem) ? options->p : NAN, .eta = problem->online->eta},
        .lambda = problem->lambda,
        .gap = ROOM * options->gap,
        .average = options->average,
        .average_from = (size_t)(options->average_from * (double)problem->online->epochs),
        .batch = md_problem_batch(problem),
        .skip_threshold = least_step(problem),
        .by_block = has_large_tables(problem),
        .least_part = has_large_tables(problem) ? least_step(problem) : 0,
        .seed = (uint64_t)options->seed,
        .threads = problem->threads,
        .comm = options->comm};
}

medley_status md_train_and_build(medley_model **model, md_problem *problem,
                                 const md_run_blocks *blocks, medley_error *error)
{
    static const md_run_plan whole = {.stage = "training", .certifies = true};
    MD_CLEARED(md_run_result_clear) md_run_result result = {0};
    medley_status stopped;
    MEDLEY_TRY(stopped = md_run_online(problem, &whole, blocks, &result, error));
    MEDLEY_TRY(md_model_of_blocks(model, problem, blocks, &result, error));
    return stopped != MEDLEY_OK ? stopped
                                : md_calibrate(model, problem, blocks, result.eta0, error);
}

medley_status md_fit_online(medley_model **model, md_problem *problem, medley_error *error)
{
    MD_CLEARED(md_run_blocks_clear) md_run_blocks blocks = {0};
    MEDLEY_TRY(md_run_blocks_make(&blocks, problem, MD_ALL_KERNELS, error));
    return md_train_and_build(model, problem, &blocks, error);
}
