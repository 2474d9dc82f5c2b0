/* SPDX-License-Identifier: BSD-3-Clause */
/* The two baselines every paper compares with, by the online loop: the average kernel and the best
 * single one. */
#include "online/run.h"
#include "setup/held_out.h"

#include "base/memory.h"
#include <stdio.h>
#include <stdlib.h>

/* The baselines are about kernels. */
static medley_status refuse_others(const md_problem *problem, bool explicit_kernels,
                                   medley_error *error)
{
    const char *method = problem->method->about->name;
    for (size_t c = 0; c < problem->candidate_count; c++) {
        const md_candidate *candidate = &problem->candidates[c];
        if (candidate->origin == MD_FROM_TEMPLATE)
            return md_fail(error, MEDLEY_NOT_SUPPORTED,
                           "--method %s compares kernels and '%s' is a template; leave out "
                           "--template or use --method spom",
                           method, candidate->name);
        if (!explicit_kernels && candidate->origin == MD_FROM_KERNEL &&
            problem->bank.kernels[candidate->index].explicit_weights)
            return md_fail(error, MEDLEY_NOT_SUPPORTED,
                           "--method %s works on kernels; '%s' has explicit weights", method,
                           candidate->name);
    }
    return MEDLEY_OK;
}

static medley_status fit_average(medley_model **model, md_problem *problem, medley_error *error)
{
    MD_CLEARED(md_trained_clear) md_trained trained = {0};
    MD_OWNED(free) double *weight = NULL;
    MEDLEY_TRY(refuse_others(problem, false, error));
    MEDLEY_TRY(md_mean_weights(&weight, problem->bank.count, error));
    MEDLEY_TRY(md_gram_mix(problem->online->gram, weight, error));
    MEDLEY_TRY(md_trained_make(&trained, problem, 0, error));
    trained.is_mixture = true;
    return md_train_and_build(model, problem, &trained, error);
}

/* ---- the best single kernel ---- */

/* Share of the held-out rows whose label is right. The score caches cover all training rows, so
 * that held-out ones cost nothing. */
static medley_status held_out_accuracy(double *accuracy, const md_problem *problem,
                                       const md_trained *trained, const md_division *division,
                                       medley_error *error)
{
    const md_space space = problem->space;
    const md_online_problem loop = md_problem_for_loop(problem, trained);
    md_inference inference;
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
    md_inference_clear(&inference);
    return MEDLEY_OK;
}

/* Trains kernel m alone on the visited examples; the caller frees trained in any case. */
static medley_status try_kernel(md_trained *trained, md_problem *problem, size_t m,
                                const md_division *division, double *accuracy, medley_error *error)
{
    medley_status status = MEDLEY_OK;
    char stage[64];
    snprintf(stage, sizeof stage, "kernel %zu of %zu", m + 1, problem->bank.count);
    const md_run_plan plan = {
        .stage = stage, .visit = division->visit, .visit_count = division->visit_count};
    MEDLEY_TRY_DONE(md_trained_make(trained, problem, (long)m, error));
    MEDLEY_TRY_DONE(md_run_online(problem, &plan, trained, error));
    MEDLEY_TRY_DONE(held_out_accuracy(accuracy, problem, trained, division, error));
done:
    return status;
}

/* The kernel that does best, and how it was trained: all there is if the observer stops here. */
static medley_status search_best(md_trained *best, size_t *best_kernel, md_problem *problem,
                                 const md_division *division, medley_error *error)
{
    double best_accuracy = -1;
    for (size_t m = 0; m < problem->bank.count && !problem->progress.stopped; m++) {
        md_trained candidate = {0};
        double accuracy = -1;
        const medley_status status = try_kernel(&candidate, problem, m, division, &accuracy, error);
        if (status >= 0 && accuracy > best_accuracy) {
            const md_trained previous = *best;
            *best = candidate;
            candidate = previous;
            best_accuracy = accuracy;
            *best_kernel = m;
        }
        md_trained_clear(&candidate);
        if (status < 0)
            return status;
    }
    return MEDLEY_OK;
}

static medley_status fit_best(medley_model **model, md_problem *problem, medley_error *error)
{
    medley_status status = MEDLEY_OK;
    md_trained trained = {0};
    size_t best = 0;
    md_division division = {0};
    const md_division_rule rule = {
        .sequences = problem->task->by_sequence, .by_label = true, .which = 5};
    MEDLEY_TRY_DONE(refuse_others(problem, true, error));
    if (problem->bank.count > 1) {
        MEDLEY_TRY_DONE(md_division_make(&division, problem->train, &rule, error));
        MEDLEY_TRY_DONE(search_best(&trained, &best, problem, &division, error));
    }
    if (problem->progress.stopped) {
        MEDLEY_TRY_DONE(md_model_build(model, problem, &trained, error));
        status = MEDLEY_STOPPED;
        goto done;
    }
    md_trained_clear(&trained);
    MEDLEY_TRY_DONE(md_trained_make(&trained, problem, (long)best, error));
    status = md_train_and_build(model, problem, &trained, error);
done:
    md_division_clear(&division);
    md_trained_clear(&trained);
    return status;
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
