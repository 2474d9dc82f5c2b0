/* SPDX-License-Identifier: BSD-3-Clause */
/* From what a learner knows to a model: norms computed exactly, dual scales by them, and then the
 * way of all models, with blocks that hold what they are given. */
#include "learner/partial.h"

#include "base/clock.h"
#include "base/memory.h"
#include "online/dual.h"
#include <math.h>
#include <stdlib.h>

/* ---- blocks that only tell what they hold ---- */

typedef struct given_block {
    md_block base;
    const md_theta *theta;
} given_block;

static size_t given_size(const md_block *block)
{
    const md_theta *theta = ((const given_block *)block)->theta;
    return theta->rows * theta->width;
}

static void export_given(md_block *block, float *body)
{
    const md_theta *theta = ((const given_block *)block)->theta;
    const float scale = (float)block->dual_scale;
    for (size_t i = 0; i < theta->rows * theta->width; i++)
        body[i] = scale * theta->body[i];
}

/* Says that there are coordinates; nobody calls it. */
static void no_threshold(md_block *block, double tau)
{
    (void)block;
    (void)tau;
}

static const md_block_class given_rows = {
    .name = "given rows", .body_size = given_size, .export_body = export_given};
static const md_block_class given_weights = {.name = "given weights",
                                             .soft_threshold = no_threshold,
                                             .body_size = given_size,
                                             .export_body = export_given};

/* ---- norms ---- */

/* ||theta||^2 = sum of body * scores / gain2 */
static double norm_by_scores(const md_theta *theta, const float *scores)
{
    double sum = 0;
    for (size_t i = 0; i < theta->rows * theta->width; i++)
        sum += (double)theta->body[i] * (double)scores[i];
    return sum > 0 ? sqrt(sum / theta->gain2) : 0;
}

/* Of kernels, the support against itself; weights have had theirs computed. */
static medley_status find_norms(double *norm, medley_learner *learner, medley_error *error)
{
    medley_status status = MEDLEY_OK;
    const md_knowledge *known = &learner->known;
    const size_t labels = known->labels.count;
    const size_t size = learner->support.rows * labels;
    size_t count = 0;
    size_t *which = md_calloc(known->count, sizeof *which);
    md_expansion *terms = md_calloc(known->count, sizeof *terms);
    float **scores = md_calloc(known->count, sizeof(float *));
    float *values = NULL;
    if (which == NULL || terms == NULL || scores == NULL) {
        status = md_fail_memory(error, known->count * sizeof *terms);
        goto done;
    }
    for (size_t c = 0; c < known->count; c++) {
        norm[c] = known->theta[c].norm;
        if (!md_candidate_has_rows(&learner->problem, c) || !(norm[c] > 0))
            continue;
        terms[count] = (md_expansion){.kernel = learner->problem.candidates[c].index,
                                      .coefficient = known->theta[c].body};
        which[count++] = c;
    }
    values = md_calloc(count * size, sizeof *values);
    if (values == NULL) {
        status = md_fail_memory(error, count * size * sizeof *values);
        goto done;
    }
    for (size_t t = 0; t < count; t++)
        scores[t] = values + t * size;
    const md_cross cross = {.bank = &learner->problem.bank,
                            .left = &learner->support,
                            .right = &learner->support,
                            .threads = learner->problem.threads};
    if (count > 0)
        MEDLEY_TRY(md_cross_scores_apart(&cross, terms, count, labels, scores, error));
    for (size_t t = 0; t < count; t++)
        norm[which[t]] = norm_by_scores(&known->theta[which[t]], scores[t]);
done:
    free(which);
    free(terms);
    free(scores);
    free(values);
    return status;
}

/* ---- the model ---- */

struct telling {
    medley_learner *learner;
    given_block *given; /* [count] */
    md_block **blocks;  /* [count] these */
    size_t *candidate;  /* [count] all of them, in order */
    double *norm;       /* [count] */
};

static medley_status fill_blocks(struct telling *t, medley_error *error)
{
    medley_learner *learner = t->learner;
    const size_t count = learner->known.count;
    t->given = md_calloc(count, sizeof *t->given);
    t->blocks = md_calloc(count, sizeof(md_block *));
    t->candidate = md_calloc(count, sizeof *t->candidate);
    t->norm = md_calloc(count, sizeof *t->norm);
    if (t->given == NULL || t->blocks == NULL || t->candidate == NULL || t->norm == NULL)
        return md_fail_memory(error, count * sizeof *t->given);
    const medley_status status = find_norms(t->norm, learner, error);
    for (size_t c = 0; c < count && status == MEDLEY_OK; c++) {
        const bool rows = md_candidate_has_rows(&learner->problem, c);
        t->given[c] = (given_block){.base = {.class = rows ? &given_rows : &given_weights,
                                             .name = learner->problem.candidates[c].name,
                                             .labels = learner->known.labels.count,
                                             .scale = 1,
                                             .norm = t->norm[c]},
                                    .theta = &learner->known.theta[c]};
        t->blocks[c] = &t->given[c].base;
        t->candidate[c] = c;
    }
    return status;
}

/* Mean loss of the examples, each when it was met, and the penalty as it is now. */
static medley_epoch tell_epoch(struct telling *t, double lambda)
{
    const medley_learner *learner = t->learner;
    const size_t count = learner->known.count;
    medley_epoch epoch = {.loss = learner->loss_sum / (double)learner->examples,
                          .dev_accuracy = NAN,
                          .seconds = learner->seconds,
                          .updates = learner->updates};
    for (size_t c = 0; c < count; c++)
        t->norm[c] = md_block_length(t->blocks[c]);
    epoch.objective =
        epoch.loss + lambda * md_penalty_value(learner->problem.penalty, t->norm, count);
    return epoch;
}

/* The problem as if all rows so far had been those of the support. */
static void tell_problem(md_problem *problem, medley_dataset *rows, const medley_learner *learner)
{
    *problem = learner->problem;
    *rows = (medley_dataset){.rows = learner->support.rows, .label_names = learner->known.labels};
    problem->train = rows;
    problem->points = learner->support;
    problem->bank.training_rows = learner->rows;
    problem->example_count = learner->examples;
    problem->progress.began = md_clock_seconds() - learner->seconds;
    problem->progress.seconds_kernels = learner->seconds_kernels;
    if (!problem->task->by_sequence)
        problem->task = md_task_of(learner->options, rows);
    problem->lambda = learner->strength / (double)learner->examples;
}

static medley_status build(medley_model **model, struct telling *t, medley_error *error)
{
    const medley_learner *learner = t->learner;
    md_problem problem;
    medley_dataset rows;
    tell_problem(&problem, &rows, learner);
    medley_epoch epoch = tell_epoch(t, problem.lambda);
    const md_trained trained = {.blocks = t->blocks,
                                .candidate = t->candidate,
                                .block_count = learner->known.count,
                                .penalised = learner->known.count,
                                .eta0 = learner->eta,
                                .objective = epoch.objective,
                                .radius = NAN,
                                .bound = NAN,
                                .epochs = &epoch,
                                .epoch_count = 1,
                                .iterations = learner->examples,
                                .updates = learner->updates};
    const medley_status status = md_model_build(model, &problem, &trained, error);
    if (status < 0)
        return status;
    (*model)->summary.parts = learner->rows;
    for (size_t i = 0; i < (*model)->support_count; i++)
        (*model)->support_row[i] = learner->support_row[(*model)->support_row[i]];
    return status;
}

medley_status medley_learner_model(medley_model **model, medley_learner *learner,
                                   medley_error *error)
{
    medley_status status = MEDLEY_OK;
    struct telling t = {.learner = learner};
    if (!learner->begun)
        return md_fail(error, MEDLEY_USAGE,
                       "this learner has seen no examples, so there is no model yet; call "
                       "medley_learner_partial_fit first");
    MEDLEY_TRY(fill_blocks(&t, error));
    md_dual_scales(t.blocks, learner->known.count, learner->options->p, t.norm);
    status = build(model, &t, error);
done:
    free(t.given);
    free(t.blocks);
    free(t.candidate);
    free(t.norm);
    return status;
}
