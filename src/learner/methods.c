/* SPDX-License-Identifier: BSD-3-Clause */
/* The methods that run the online loop: every rule on all blocks, and the two baselines every paper
 * compares with, the average kernel and the best single one. */
#include "learner/calibrate.h"
#include "learner/held_out.h"
#include "learner/path.h"

#include "base/memory.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void md_trained_clear(md_trained *trained)
{
    for (size_t b = 0; trained->blocks != NULL && b < trained->block_count; b++)
        md_block_free(trained->blocks[b]);
    free(trained->blocks);
    free(trained->candidate);
    free(trained->epochs);
    *trained = (md_trained){0};
}

/* Blocks for one of the kernels, or for all of them (ALL_KERNELS), and for everything else. */
enum { ALL_KERNELS = -1 };

static medley_status make_blocks(md_trained *trained, md_problem *problem, long kernel,
                                 medley_error *error)
{
    medley_status status = MEDLEY_OK;
    const size_t most = problem->candidate_count;
    *trained = (md_trained){0};
    MEDLEY_TRY(md_new(&trained->blocks, most, sizeof(md_block *), error));
    MEDLEY_TRY(md_new(&trained->candidate, most, sizeof *trained->candidate, error));
    for (size_t c = 0; c < most; c++) {
        const md_candidate *candidate = &problem->candidates[c];
        if (candidate->origin == MD_FROM_KERNEL && kernel != ALL_KERNELS &&
            candidate->index != (size_t)kernel)
            continue;
        MEDLEY_TRY(md_problem_block(&trained->blocks[trained->block_count], problem, c, error));
        trained->candidate[trained->block_count++] = c;
        trained->penalised += !candidate->own_term;
    }
done:
    return status;
}

medley_status md_trained_make(md_trained *trained, md_problem *problem, medley_error *error)
{
    return make_blocks(trained, problem, ALL_KERNELS, error);
}

/* The run on all examples, and its model; keeps the information that the observer has stopped it.
 */
static medley_status train_and_build(medley_model **model, md_problem *problem, md_trained *trained,
                                     medley_error *error)
{
    static const md_run_plan whole = {.stage = "training"};
    const medley_status ran = md_run_online(problem, &whole, trained, error);
    const medley_status built = ran < 0 ? ran : md_model_build(model, problem, trained, error);
    if (built < 0 || ran != MEDLEY_OK)
        return built < 0 ? built : ran;
    return md_calibrate(model, problem, trained, error);
}

static medley_status fit_all(medley_model **model, md_problem *problem, medley_error *error)
{
    medley_status status = MEDLEY_OK;
    md_trained trained = {0};
    MEDLEY_TRY(make_blocks(&trained, problem, ALL_KERNELS, error));
    status = train_and_build(model, problem, &trained, error);
done:
    md_trained_clear(&trained);
    return status;
}

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
    medley_status status = MEDLEY_OK;
    md_trained trained = {0};
    double *weight = NULL;
    MEDLEY_TRY(refuse_others(problem, false, error));
    MEDLEY_TRY(md_mean_weights(&weight, problem->bank.count, error));
    MEDLEY_TRY(md_gram_mix(problem->online->gram, weight, error));
    MEDLEY_TRY(make_blocks(&trained, problem, 0, error));
    trained.is_mixture = true;
    status = train_and_build(model, problem, &trained, error);
done:
    free(weight);
    md_trained_clear(&trained);
    return status;
}

/* ---- the best single kernel ---- */

/* Trains kernel m alone on the visited examples; the caller frees trained in any case. */
static medley_status try_kernel(md_trained *trained, md_problem *problem, size_t m,
                                const md_division *division, double *accuracy, medley_error *error)
{
    medley_status status = MEDLEY_OK;
    char stage[64];
    snprintf(stage, sizeof stage, "kernel %zu of %zu", m + 1, problem->bank.count);
    const md_run_plan plan = {
        .stage = stage, .visit = division->visit, .visit_count = division->visit_count};
    MEDLEY_TRY(make_blocks(trained, problem, (long)m, error));
    MEDLEY_TRY(md_run_online(problem, &plan, trained, error));
    MEDLEY_TRY(md_held_out_accuracy(accuracy, problem, trained, division, error));
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
    MEDLEY_TRY(refuse_others(problem, true, error));
    if (problem->bank.count > 1) {
        MEDLEY_TRY(md_division_make(&division, problem->train, &rule, error));
        MEDLEY_TRY(search_best(&trained, &best, problem, &division, error));
    }
    if (problem->progress.stopped) {
        MEDLEY_TRY(md_model_build(model, problem, &trained, error));
        status = MEDLEY_STOPPED;
        goto done;
    }
    md_trained_clear(&trained);
    MEDLEY_TRY(make_blocks(&trained, problem, (long)best, error));
    status = train_and_build(model, problem, &trained, error);
done:
    md_division_clear(&division);
    md_trained_clear(&trained);
    return status;
}

/* ---- the table ---- */

#define MD_METHOD(name) extern const md_method md_method_##name;
#include "learner/methods.def"
#undef MD_METHOD
extern const md_method md_method_batch_average, md_method_batch_best;

#define MD_RULE(name)                                                                              \
    static const md_method method_##name = {.about = &md_rule_##name.about,                        \
                                            .kind = &md_online_kind,                               \
                                            .rule = &md_rule_##name,                               \
                                            .fit = fit_all,                                        \
                                            .fit_path = md_fit_online_path};
#include "online/rules.def"
#undef MD_RULE

/* Both run spom on one kernel. */
enum { OF_SPOM = MD_LOOP_TAKES | MD_TAKES_PENALTY | MD_TAKES_EPOCHS | MD_TAKES_RATES };
const md_method md_method_average = {
    .about = &(const md_about){.name = "average",
                               .summary = "baseline: one model on the mean of all kernels",
                               .takes = OF_SPOM | MD_TAKES_CHECKPOINTS},
    .kind = &md_online_kind,
    .rule = &md_rule_spom,
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
    .fit = fit_best,
    .batch_form = &md_method_batch_best,
};

const md_method *const md_methods[] = {
#define MD_RULE(name) &method_##name,
#include "online/rules.def"
#undef MD_RULE
#define MD_METHOD(name) &md_method_##name,
#include "learner/methods.def"
#undef MD_METHOD
    NULL};
