/* SPDX-License-Identifier: BSD-3-Clause */
/* The two baselines every paper compares with, by the online loop: the average kernel and the best
 * single one. */
#include "online/run.h"
#include "setup/setup.h"

/* The baselines are about kernels. */
static medley_status refuse_others(const md_problem *problem, bool explicit_kernels,
                                   medley_error *error)
{
    const char *method = problem->method->about->name;
    for (size_t c = 0; c < problem->candidate_count; c++) {
        const md_candidate *candidate = &problem->candidates[c];
        if (candidate->origin == MD_FROM_TEMPLATE)
            return md_fail(error, MEDLEY_NOT_SUPPORTED,
                           "`method=%s` compares kernels and '%s' is a template; leave out "
                           "`template` or use `method=spom`",
                           method, candidate->name);
        if (!explicit_kernels && candidate->origin == MD_FROM_KERNEL &&
            problem->bank.kernels[candidate->index].explicit_weights)
            return md_fail(error, MEDLEY_NOT_SUPPORTED,
                           "`method=%s` works on kernels; '%s' has explicit weights", method,
                           candidate->name);
    }
    return MEDLEY_OK;
}

static medley_status fit_average(medley_model **model, md_problem *problem, medley_error *error)
{
    MD_CLEARED(md_run_blocks_clear) md_run_blocks blocks = {0};
    MD_OWNED(free) double *weight = NULL;
    MEDLEY_TRY(refuse_others(problem, false, error));
    MEDLEY_TRY(md_mean_weights(&weight, problem->bank.count, error));
    MEDLEY_TRY(md_problem_mix_kernels(problem, weight, error));
    MEDLEY_TRY(md_run_blocks_make(&blocks, problem, 0, error));
    blocks.is_mixture = true;
    return md_train_and_build(model, problem, &blocks, error);
}

/* ---- the best single kernel ---- */

/* Share of the held-out rows whose label is right. The score caches cover all training rows, so
 * that held-out ones cost nothing. */
static medley_status held_out_accuracy(double *accuracy, const md_problem *problem,
                                       const md_run_blocks *blocks, const md_division *division,
                                       medley_error *error)
{
    const md_space space = problem->space;
    const md_online_problem loop = md_problem_for_loop(problem, blocks);
    MD_CLEARED(md_inference_clear) md_inference inference = {0};
    MEDLEY_TRY(md_inference_init(&inference, space, problem->longest, error));
    size_t right = 0;
    size_t total = 0;
    for (size_t h = 0; h < division->held_count; h++) {
        const md_example example = problem->examples[division->held[h]];
        md_online_score(&loop, example, inference.score);
        inference.space.shape.row = example.row;
        space.structure->decode(inference.space.shape, example.length, inference.score, NULL,
                                inference.output, &inference.workspace);
        for (size_t i = 0; i < example.length; i++)
            right += inference.output[i] == problem->gold[example.row + i];
        total += example.length;
    }
    *accuracy = total ? (double)right / (double)total : 0;
    return MEDLEY_OK;
}

struct contender {
    md_run_blocks blocks; /* of one kernel */
    md_run_result result;
    double accuracy; /* of the held-out examples */
};

static void clear_contender(struct contender *contender)
{
    md_run_blocks_clear(&contender->blocks);
    md_run_result_clear(&contender->result);
}

/* Trains kernel m alone on the visited examples. */
static medley_status try_kernel(struct contender *contender, md_problem *problem, size_t m,
                                const md_division *division, medley_error *error)
{
    char stage[64];
    snprintf(stage, sizeof stage, "kernel %zu of %zu", m + 1, problem->bank.count);
    const md_run_plan plan = {
        .stage = stage, .visit = division->visit, .visit_count = division->visit_count};
    md_run_blocks *blocks = &contender->blocks;
    MEDLEY_TRY(md_run_blocks_make(blocks, problem, (long)m, error));
    MEDLEY_TRY(md_run_online(problem, &plan, blocks, &contender->result, error));
    return held_out_accuracy(&contender->accuracy, problem, blocks, division, error);
}

/* The kernel that does best, and how it was trained: all there is if the observer stops here. */
static medley_status search_best(struct contender *best, size_t *best_kernel, md_problem *problem,
                                 const md_division *division, medley_error *error)
{
    best->accuracy = -1;
    for (size_t m = 0; m < problem->bank.count && !problem->progress.stopped; m++) {
        MD_CLEARED(clear_contender) struct contender contender = {0};
        MEDLEY_TRY(try_kernel(&contender, problem, m, division, error));
        if (contender.accuracy > best->accuracy) {
            md_swap(best, &contender);
            *best_kernel = m;
        }
    }
    return MEDLEY_OK;
}

static medley_status fit_best(medley_model **model, md_problem *problem, medley_error *error)
{
    MD_CLEARED(clear_contender) struct contender best = {0};
    size_t kernel = 0;
    MD_CLEARED(md_division_clear) md_division division = {0};
    const md_division_rule rule = {
        .sequences = problem->task->by_sequence, .by_label = true, .which = 5};
    MEDLEY_TRY(refuse_others(problem, true, error));
    if (problem->bank.count > 1) {
        MEDLEY_TRY(md_division_make(&division, problem->train, &rule, error));
        MEDLEY_TRY(search_best(&best, &kernel, problem, &division, error));
    }
    if (problem->progress.stopped) {
        MEDLEY_TRY(md_model_of_blocks(model, problem, &best.blocks, &best.result, error));
        return MEDLEY_STOPPED;
    }
    clear_contender(&best);
    MEDLEY_TRY(md_run_blocks_make(&best.blocks, problem, (long)kernel, error));
    return md_train_and_build(model, problem, &best.blocks, error);
}

/* ---- the methods ---- */

extern const md_method md_method_average, md_method_best;
extern const md_method md_method_batch_average, md_method_batch_best;

/* Both run spom on one kernel. */
enum { OF_SPOM = MD_LOOP_TAKES | MD_TAKES_PENALTY | MD_TAKES_EPOCHS | MD_TAKES_RATES };
const md_method md_method_average = {
    .about = &(const md_about){.name = "average",
                               .summary = "baseline: one model on the mean of all kernels",
                               .takes = OF_SPOM | MD_TAKES_CHECKPOINTS},
    .kind = &md_online_kind,
    .rule = &md_rule_spom,
    .traits = &md_rule_spom.traits,
    .needs_kernels = true,
    .fit = fit_average,
    .batch_form = &md_method_batch_average,
};
const md_method md_method_best = {
    .about = &(const md_about){.name = "best",
                               .summary = "baseline: the single kernel that does best on a "
                                          "held-out fifth, retrained",
                               .takes = OF_SPOM | MD_TAKES_BLOCKS},
    .kind = &md_online_kind,
    .rule = &md_rule_spom,
    .traits = &md_rule_spom.traits,
    .fit = fit_best,
    .batch_form = &md_method_batch_best,
};
