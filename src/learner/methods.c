/* SPDX-License-Identifier: BSD-3-Clause */
/* The methods that run the online loop: spom on all blocks, and the two baselines every paper
 * compares with, the average kernel and the best single one. */
#include "learner/problem.h"

#include "base/memory.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void free_blocks(md_trained *trained)
{
    for (size_t b = 0; trained->blocks != NULL && b < trained->block_count; b++)
        md_block_free(trained->blocks[b]);
    free(trained->blocks);
    free(trained->epochs);
    *trained = (md_trained){0};
}

static medley_status new_blocks(md_trained *trained, size_t count, medley_error *error)
{
    *trained = (md_trained){.blocks = md_calloc(count, sizeof(md_block *))};
    if (trained->blocks == NULL)
        return md_fail_memory(error, count * sizeof(md_block *));
    trained->block_count = count;
    return MEDLEY_OK;
}

/* Runs and builds; keeps the information that the observer stopped the run. */
static medley_status run_and_build(medley_model **model, md_problem *problem, md_trained *trained,
                                   const char *stage, medley_error *error)
{
    const medley_status ran = md_run_online(problem, trained, NULL, 0, stage, error);
    if (ran < 0)
        return ran;
    const medley_status built = md_model_build(model, problem, trained, error);
    return built < 0 ? built : ran;
}

static medley_status fit_spom(medley_model **model, md_problem *problem, medley_error *error)
{
    md_trained trained = {0};
    medley_status status = new_blocks(&trained, problem->bank.count, error);
    for (size_t m = 0; status == MEDLEY_OK && m < problem->bank.count; m++)
        status = md_problem_block(&trained.blocks[m], problem, m, error);
    if (status == MEDLEY_OK)
        status = run_and_build(model, problem, &trained, "training", error);
    free_blocks(&trained);
    return status;
}

static medley_status refuse_explicit(const md_problem *problem, const char *method,
                                     medley_error *error)
{
    for (size_t m = 0; m < problem->bank.count; m++)
        if (problem->bank.kernels[m].explicit_weights)
            return md_fail(error, MEDLEY_NOT_SUPPORTED,
                           "--method %s works on kernels; '%s' has explicit weights", method,
                           problem->bank.kernels[m].name);
    return MEDLEY_OK;
}

static medley_status fit_average(medley_model **model, md_problem *problem, medley_error *error)
{
    medley_status status = refuse_explicit(problem, "average", error);
    if (status < 0)
        return status;
    md_trained trained = {0};
    double *weight = md_calloc(problem->bank.count, sizeof *weight);
    if (weight == NULL)
        return md_fail_memory(error, problem->bank.count * sizeof *weight);
    for (size_t m = 0; m < problem->bank.count; m++)
        weight[m] = 1 / (double)problem->bank.count;
    MEDLEY_TRY(md_gram_mix(problem->gram, weight, error));
    MEDLEY_TRY(new_blocks(&trained, 1, error));
    trained.is_mixture = true;
    MEDLEY_TRY(md_problem_block(&trained.blocks[0], problem, 0, error));
    status = run_and_build(model, problem, &trained, "training", error);
done:
    free(weight);
    free_blocks(&trained);
    return status;
}

/* ---- the best single kernel ---- */

/* The examples that are trained on; the others are held out. */
struct division {
    size_t *visit; /* [count] increasing */
    size_t count;
};

/* Every fifth example of each label, in order of appearance, is held out. */
static medley_status divide(struct division *division, const md_problem *problem,
                            medley_error *error)
{
    size_t *seen = md_calloc(problem->train->label_names.count, sizeof *seen);
    *division =
        (struct division){.visit = md_calloc(problem->example_count, sizeof *division->visit)};
    if (division->visit == NULL || seen == NULL) {
        free(seen);
        return md_fail_memory(error, problem->example_count * sizeof *division->visit);
    }
    for (size_t e = 0; e < problem->example_count; e++) {
        const size_t label = (size_t)problem->train->label[problem->examples[e].row];
        if (++seen[label] % 5 != 0)
            division->visit[division->count++] = e;
    }
    free(seen);
    return MEDLEY_OK;
}

/* The score caches cover all training rows, so the held-out ones cost nothing. */
static double held_out_accuracy(const md_problem *problem, const md_block *block,
                                const struct division *division, float *score)
{
    size_t right = 0;
    size_t total = 0;
    size_t next = 0;
    for (size_t e = 0; e < problem->example_count; e++) {
        if (next < division->count && division->visit[next] == e) {
            next++;
            continue;
        }
        memset(score, 0, block->labels * sizeof *score);
        block->class->score(block, problem->examples[e], score);
        size_t top = 0;
        for (size_t l = 1; l < block->labels; l++)
            if (score[l] > score[top])
                top = l;
        right += (int32_t)top == problem->train->label[problem->examples[e].row];
        total++;
    }
    return total ? (double)right / (double)total : 0;
}

/* Trains kernel *m alone on the visited examples; the caller frees trained in any case. */
static medley_status try_kernel(md_trained *trained, md_problem *problem, const size_t *m,
                                const struct division *division, double *accuracy,
                                medley_error *error)
{
    char stage[64];
    float *score = md_calloc(problem->train->label_names.count, sizeof *score);
    medley_status status =
        score ? new_blocks(trained, 1, error) : md_fail_memory(error, sizeof *score);
    if (status == MEDLEY_OK)
        status = md_problem_block(&trained->blocks[0], problem, *m, error);
    snprintf(stage, sizeof stage, "kernel %zu of %zu", *m + 1, problem->bank.count);
    trained->kernel = m;
    if (status == MEDLEY_OK)
        status = md_run_online(problem, trained, division->visit, division->count, stage, error);
    if (status >= 0)
        *accuracy = held_out_accuracy(problem, trained->blocks[0], division, score);
    free(score);
    return status;
}

/* The kernel that does best, and how it was trained: all there is if the observer stops here. */
static medley_status search_best(md_trained *best, size_t *best_kernel, md_problem *problem,
                                 const struct division *division, medley_error *error)
{
    double best_accuracy = -1;
    for (size_t m = 0; m < problem->bank.count && !problem->stopped; m++) {
        md_trained candidate = {0};
        double accuracy = -1;
        const medley_status status =
            try_kernel(&candidate, problem, &m, division, &accuracy, error);
        if (status >= 0 && accuracy > best_accuracy) {
            const md_trained previous = *best;
            *best = candidate;
            candidate = previous;
            best_accuracy = accuracy;
            *best_kernel = m;
            best->kernel = best_kernel;
        }
        free_blocks(&candidate);
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
    struct division division = {0};
    if (problem->bank.count > 1) {
        MEDLEY_TRY(divide(&division, problem, error));
        MEDLEY_TRY(search_best(&trained, &best, problem, &division, error));
    }
    if (problem->stopped) {
        MEDLEY_TRY(md_model_build(model, problem, &trained, error));
        status = MEDLEY_STOPPED;
        goto done;
    }
    free_blocks(&trained);
    MEDLEY_TRY(new_blocks(&trained, 1, error));
    trained.kernel = &best;
    MEDLEY_TRY(md_problem_block(&trained.blocks[0], problem, best, error));
    status = run_and_build(model, problem, &trained, "training", error);
done:
    free(division.visit);
    free_blocks(&trained);
    return status;
}

/* ---- the table ---- */

static const md_method md_method_spom = {
    .name = "spom",
    .summary = "online proximal learning of all blocks together (SPOM)",
    .fit = fit_spom,
};
static const md_method md_method_average = {
    .name = "average",
    .summary = "baseline: one model on the mean of all kernels",
    .fit = fit_average,
};
static const md_method md_method_best = {
    .name = "best",
    .summary = "baseline: the single kernel that does best on a held-out fifth, retrained",
    .fit = fit_best,
};

const md_method *const md_methods[] = {
#define MD_METHOD(name) &md_method_##name,
#include "learner/methods.def"
#undef MD_METHOD
    NULL};
