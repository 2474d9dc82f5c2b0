/* SPDX-License-Identifier: BSD-3-Clause */
/* From trained blocks or plain coefficients to a model that stands alone: active kernels, the rows
 * that support them, their coefficients, and the story of the run. */
#include "learner/build_model.h"

#include "base/clock.h"
#include "base/memory.h"
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static medley_status export_blocks(md_builder *b)
{
    for (size_t i = 0; i < b->trained->block_count; i++) {
        md_block *block = b->trained->blocks[i];
        md_learnt *learnt = &b->learnt[i];
        *learnt = (md_learnt){.size = block->class->body_size(block),
                              .candidate = b->trained->candidate[i],
                              .norm = md_block_length(block)};
        if (!(md_block_length(block) > 0))
            continue;
        learnt->values = md_calloc(learnt->size, sizeof *learnt->values);
        if (learnt->values == NULL)
            return md_fail_memory(b->error, learnt->size * sizeof *learnt->values);
        block->class->export_body(block, learnt->values);
    }
    return MEDLEY_OK;
}

static medley_status borrow_coefficients(md_builder *b)
{
    const md_problem *problem = b->problem;
    const md_coefficients *plain = b->trained->plain;
    for (size_t c = 0; c < problem->candidate_count; c++) {
        if (problem->candidates[c].origin != MD_FROM_KERNEL)
            continue;
        const size_t m = problem->candidates[c].index;
        const bool active = plain->body[m] != NULL && plain->norm[m] > 0;
        if (active && md_kernel_has_weights(&problem->bank.kernels[m]))
            return md_fail(b->error, MEDLEY_NOT_SUPPORTED,
                           "method %s learns coefficients of rows, not weights of columns as "
                           "kernel %s has them; leave out 'explicit'",
                           problem->method->about->name, problem->bank.kernels[m].name);
        b->learnt[m] = (md_learnt){.wide = active ? plain->body[m] : NULL,
                                   .size = problem->train->rows * plain->outputs,
                                   .candidate = c,
                                   .norm = active ? plain->norm[m] : 0};
    }
    return MEDLEY_OK;
}

static medley_status find_learnt(md_builder *b)
{
    const md_trained *trained = b->trained;
    const size_t most = b->problem->bank.count;
    b->learnt_count = trained->plain ? most : trained->block_count;
    b->learnt = md_calloc(b->learnt_count, sizeof *b->learnt);
    b->kernels = md_calloc(most, sizeof *b->kernels);
    b->learnt_of = md_calloc(most, sizeof *b->learnt_of);
    if (b->learnt == NULL || b->kernels == NULL || b->learnt_of == NULL)
        return md_fail_memory(b->error, most * sizeof *b->learnt);
    const medley_status status = trained->plain ? borrow_coefficients(b) : export_blocks(b);
    if (status < 0)
        return status;
    for (size_t i = 0; i < b->learnt_count; i++) {
        if (!md_learnt_is_active(&b->learnt[i]) || !md_builder_has_kernels(b, i))
            continue;
        for (size_t m = 0; m < (trained->is_mixture ? most : 1); m++) {
            b->learnt_of[b->active_count] = i;
            b->kernels[b->active_count++] =
                trained->is_mixture ? m : md_builder_candidate(b, i)->index;
        }
    }
    return MEDLEY_OK;
}

static bool is_explicit(const md_builder *b, size_t active)
{
    return md_kernel_has_weights(&b->problem->bank.kernels[b->kernels[active]]);
}

/* Training rows with a coefficient in some active kernel; all of them if a centred kernel is
 * active, since its mean is over all. */
static medley_status find_support(md_builder *b)
{
    medley_model *model = b->model;
    const size_t n = b->problem->train->rows;
    bool *used = md_calloc(n, sizeof *used);
    model->support_row = md_calloc(n, sizeof *model->support_row);
    if (used == NULL || model->support_row == NULL) {
        free(used);
        return md_fail_memory(b->error, n * sizeof *model->support_row);
    }
    for (size_t a = 0; a < b->active_count; a++) {
        if (is_explicit(b, a))
            continue;
        const bool all = b->problem->bank.kernels[b->kernels[a]].norm == MD_NORM_CENTER;
        for (size_t r = 0; r < n; r++)
            used[r] = used[r] || all ||
                      md_learnt_has_some(&b->learnt[b->learnt_of[a]], r * b->outputs, b->outputs);
    }
    for (size_t r = 0; r < n; r++)
        if (used[r])
            model->support_row[model->support_count++] = r;
    free(used);
    return MEDLEY_OK;
}

/* Rows of support only, or (rows NULL) the weights as they are. */
static medley_status copy_body(md_body *body, const md_learnt *learnt, const size_t *rows,
                               size_t outputs, medley_error *error)
{
    const size_t element = learnt->wide != NULL ? sizeof(double) : sizeof(float);
    const size_t bytes = outputs * element;
    const char *from = learnt->wide != NULL ? (const char *)learnt->wide : (char *)learnt->values;
    char *to = md_calloc(body->rows, bytes);
    if (to == NULL)
        return md_fail_memory(error, body->rows * bytes);
    for (size_t r = 0; r < body->rows; r++)
        memcpy(to + r * bytes, from + (rows ? rows[r] : r) * bytes, bytes);
    if (learnt->wide == NULL) {
        body->values = (float *)(void *)to;
        return MEDLEY_OK;
    }
    body->wide = (double *)(void *)to;
    return md_body_round(body, outputs) == 0 ? MEDLEY_OK
                                             : md_fail_memory(error, body->rows * bytes);
}

/* One body for each thing learnt, one term for each active kernel. */
static medley_status copy_bodies(md_builder *b)
{
    medley_model *model = b->model;
    model->bodies = md_calloc(b->active_count, sizeof *model->bodies);
    model->terms = md_calloc(b->active_count, sizeof *model->terms);
    if (model->bodies == NULL || model->terms == NULL)
        return md_fail_memory(b->error, b->active_count * sizeof *model->terms);
    size_t previous = SIZE_MAX;
    for (size_t a = 0; a < b->active_count; a++) {
        const md_learnt *learnt = &b->learnt[b->learnt_of[a]];
        if (b->learnt_of[a] != previous) {
            const bool whole = is_explicit(b, a);
            md_body *body = &model->bodies[model->body_count++];
            body->rows = whole ? learnt->size / b->outputs : model->support_count;
            const medley_status status =
                copy_body(body, learnt, whole ? NULL : model->support_row, b->outputs, b->error);
            if (status < 0)
                return status;
            previous = b->learnt_of[a];
        }
        model->terms[model->term_count++] =
            (md_term){.kernel = a,
                      .body = model->body_count - 1,
                      .factor = b->trained->is_mixture ? 1 / (double)b->problem->bank.count : 1};
    }
    return MEDLEY_OK;
}

/* The support rows as points of the active kernels only: unit-diagonal factors are per kernel. */
static medley_status copy_points(md_builder *b)
{
    medley_model *model = b->model;
    if (b->problem->bank.count == 0)
        return MEDLEY_OK;
    medley_status status =
        md_bank_subset(&model->bank, &b->problem->bank, b->kernels, b->active_count, b->error);
    if (status < 0)
        return status;
    const md_points_choice choice = {.bank = &b->problem->bank,
                                     .subset = &model->bank,
                                     .keep = b->kernels,
                                     .rows = model->support_row,
                                     .row_count = model->support_count};
    return md_points_subset(&model->points, &b->problem->points, &choice, b->error);
}

/* ---- the story ---- */

static char *copy_of(const char *text)
{
    return md_copy_text(text, strlen(text));
}

/* Support vectors of a kernel, weights of anything else. */
static size_t count_features(const md_builder *b, size_t i)
{
    const md_learnt *learnt = &b->learnt[i];
    if (!md_learnt_is_active(learnt))
        return 0;
    const bool weights =
        b->trained->plain == NULL && b->trained->blocks[i]->class->soft_threshold != NULL;
    const size_t group = weights ? 1 : b->outputs;
    size_t count = 0;
    for (size_t first = 0; first < learnt->size; first += group)
        count += md_learnt_has_some(learnt, first, group);
    return count;
}

/* Norms of every candidate; those of which nothing was learnt have none, those that share a block
 * share its length. */
static void find_norms(md_builder *b, double *norm)
{
    const md_problem *problem = b->problem;
    for (size_t i = 0; i < b->learnt_count; i++) {
        const md_learnt *learnt = &b->learnt[i];
        const size_t features = count_features(b, i);
        if (!b->trained->is_mixture || !md_builder_has_kernels(b, i)) {
            norm[learnt->candidate] = learnt->norm;
            b->model->blocks[learnt->candidate].features = features;
            continue;
        }
        for (size_t c = 0; c < problem->candidate_count; c++)
            if (problem->candidates[c].origin == MD_FROM_KERNEL) {
                norm[c] = learnt->norm / (double)problem->bank.count;
                b->model->blocks[c].features = features;
            }
    }
}

/* What has a term of its own is told of, but has no share in the weights. */
static medley_status describe_blocks(md_builder *b)
{
    medley_model *model = b->model;
    const md_problem *problem = b->problem;
    const size_t count = problem->candidate_count;
    size_t penalised = 0;
    for (size_t c = 0; c < count; c++)
        penalised += !problem->candidates[c].own_term;
    double *norm = md_calloc(2 * count, sizeof *norm);
    model->names = md_calloc(count, sizeof *model->names);
    model->blocks = md_calloc(count, sizeof *model->blocks);
    if (norm == NULL || model->names == NULL || model->blocks == NULL) {
        free(norm);
        return md_fail_memory(b->error, count * sizeof *model->blocks);
    }
    find_norms(b, norm);
    md_penalty_weights(problem->penalty, norm, penalised, norm + count);
    model->summary.block_count = count;
    for (size_t c = 0; c < count; c++) {
        model->blocks[c].norm = norm[c];
        model->blocks[c].weight = norm[count + c];
        model->summary.active_blocks += norm[c] > 0;
        model->names[c] = copy_of(problem->candidates[c].name);
        if (model->names[c] == NULL) {
            free(norm);
            return md_fail_memory(b->error, 64);
        }
    }
    free(norm);
    return MEDLEY_OK;
}

/* What scores mean: bias, link, and what the task adds. */
static medley_status describe_outputs(md_builder *b)
{
    medley_model *model = b->model;
    const md_coefficients *plain = b->trained->plain;
    model->outputs = b->outputs;
    if (plain != NULL && plain->bias != NULL) {
        model->bias = md_copy(plain->bias, plain->outputs * sizeof *model->bias);
        if (model->bias == NULL)
            return md_fail_memory(b->error, plain->outputs * sizeof *model->bias);
    }
    model->link = plain != NULL && plain->logistic_link ? MD_LINK_LOGISTIC : MD_LINK_SOFTMAX;
    if (b->problem->task->build == NULL)
        return MEDLEY_OK;
    return b->problem->task->build(model, b->problem, b->learnt, b->learnt_count, b->error);
}

/* Methods with blocks say nothing of duals. */
static medley_status copy_epochs(md_builder *b)
{
    const size_t count = b->trained->epoch_count;
    b->model->epochs = md_copy(b->trained->epochs, count * sizeof *b->model->epochs);
    if (b->model->epochs == NULL)
        return md_fail_memory(b->error, count * sizeof *b->model->epochs);
    for (size_t e = 0; e < count && b->trained->plain == NULL; e++) {
        b->model->epochs[e].dual = NAN;
        b->model->epochs[e].gap = NAN;
    }
    b->model->summary.epoch_count = count;
    return MEDLEY_OK;
}

static medley_status tell_story(md_builder *b)
{
    medley_model *model = b->model;
    const md_problem *problem = b->problem;
    const md_trained *trained = b->trained;
    const md_coefficients *plain = trained->plain;
    medley_summary *summary = &model->summary;
    const double n = (double)problem->example_count;
    model->task = problem->task;
    summary->task = model->task->about.name;
    model->method = copy_of(problem->method->about->name);
    model->loss = copy_of(problem->loss);
    model->penalty = copy_of(md_penalty_text(problem->penalty));
    if (!model->method || !model->loss || !model->penalty)
        return md_fail_memory(b->error, 64);
    summary->lambda = problem->lambda;
    summary->C = 1 / (problem->lambda * n);
    summary->spicy_C = problem->lambda * n;
    summary->eta0 = trained->eta0;
    summary->examples = problem->example_count;
    summary->parts = problem->train->rows;
    summary->objective = trained->objective;
    summary->dual = plain ? plain->dual : NAN;
    summary->gap = plain ? plain->gap : NAN;
    summary->newton_steps = plain ? plain->newton_steps : 0;
    summary->passes = plain ? plain->passes : 0;
    summary->iterations = trained->iterations;
    summary->updates = trained->updates;
    summary->radius = trained->radius;
    summary->bound = trained->bound;
    summary->seconds_kernels = problem->progress.seconds_kernels;
    summary->seconds_train =
        md_clock_seconds() - problem->progress.began - problem->progress.seconds_kernels;
    summary->peak_rss_mb = md_peak_rss_mb();
    summary->seed = (unsigned long long)problem->options->seed;
    summary->threads = problem->threads;
    summary->converged = trained->converged;
    return MEDLEY_OK;
}

medley_status md_model_build(medley_model **result, md_problem *problem, const md_trained *trained,
                             medley_error *error)
{
    medley_status status = MEDLEY_OK;
    md_builder b = {.problem = problem,
                    .trained = trained,
                    .outputs =
                        trained->plain ? trained->plain->outputs : problem->space.shape.labels,
                    .error = error};
    b.model = md_calloc(1, sizeof *b.model);
    if (b.model == NULL)
        return md_fail_memory(error, sizeof *b.model);
    MEDLEY_TRY(find_learnt(&b));
    MEDLEY_TRY(find_support(&b));
    MEDLEY_TRY(copy_bodies(&b));
    MEDLEY_TRY(copy_points(&b));
    MEDLEY_TRY(describe_blocks(&b));
    MEDLEY_TRY(describe_outputs(&b));
    MEDLEY_TRY(copy_epochs(&b));
    MEDLEY_TRY(tell_story(&b));
    md_model_link_summary(b.model);
    *result = b.model;
    b.model = NULL;
done:
    for (size_t i = 0; b.learnt != NULL && i < b.learnt_count; i++)
        free(b.learnt[i].values);
    free(b.learnt);
    free(b.kernels);
    free(b.learnt_of);
    medley_model_free(b.model);
    return status;
}

/* Builds the model as it would be returned now and lets it predict: what is measured is what the
 * user gets. */
medley_status md_problem_dev_accuracy(double *accuracy, md_problem *problem,
                                      const md_trained *trained, medley_error *error)
{
    medley_model *model = NULL;
    medley_prediction *prediction = NULL;
    medley_status status = md_model_build(&model, problem, trained, error);
    if (status == MEDLEY_OK)
        status = medley_predict(&prediction, model, problem->dev, problem->threads, error);
    if (status == MEDLEY_OK) {
        const int32_t *predicted = problem->task->outputs(prediction);
        size_t right = 0;
        for (size_t r = 0; r < problem->dev->rows; r++)
            right += problem->dev_gold[r] == predicted[r];
        *accuracy = (double)right / (double)problem->dev->rows;
    }
    medley_prediction_free(prediction);
    medley_model_free(model);
    return status;
}
