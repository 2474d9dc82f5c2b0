/* SPDX-License-Identifier: BSD-3-Clause */
/* From trained blocks or plain coefficients to a model that stands alone: active kernels, the rows
 * that support them, their coefficients, and the summary of the run. */
#include "setup/setup.h"

#include "base/clock.h"
#include "base/memory.h"
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef struct md_builder {
    const md_draft *draft;
    const md_problem *problem; /* of the draft */
    const md_trained *trained;
    medley_model *model;
    size_t outputs;
    size_t *kernels;   /* [active_count] of the problem's bank, in order */
    size_t *learnt_of; /* [active_count] what each active kernel belongs to */
    size_t active_count;
    medley_error *error;
} md_builder;

static const md_candidate *candidate_of(const md_builder *b, size_t i)
{
    return &b->problem->candidates[b->draft->exported[i].candidate];
}

static bool has_kernels(const md_builder *b, size_t i)
{
    return candidate_of(b, i)->origin == MD_FROM_KERNEL;
}

static medley_status find_active(md_builder *b)
{
    const bool mixture = b->trained->is_mixture;
    const size_t most = b->problem->bank.count;
    MEDLEY_TRY(md_new(&b->kernels, most, sizeof *b->kernels, b->error));
    MEDLEY_TRY(md_new(&b->learnt_of, most, sizeof *b->learnt_of, b->error));
    for (size_t i = 0; i < b->draft->exported_count; i++) {
        if (!md_exported_is_active(&b->draft->exported[i]) || !has_kernels(b, i))
            continue;
        for (size_t m = 0; m < (mixture ? most : 1); m++) {
            b->learnt_of[b->active_count] = i;
            b->kernels[b->active_count++] = mixture ? m : candidate_of(b, i)->index;
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
    const size_t n = b->draft->rows;
    MD_OWNED(free) bool *used = NULL;
    MEDLEY_TRY(md_new(&used, n, sizeof *used, b->error));
    MEDLEY_TRY(md_new(&model->support_row, n, sizeof *model->support_row, b->error));
    for (size_t a = 0; a < b->active_count; a++) {
        if (is_explicit(b, a))
            continue;
        const bool all = b->problem->bank.kernels[b->kernels[a]].norm == MD_NORM_CENTER;
        for (size_t r = 0; r < n; r++)
            used[r] = used[r] || all ||
                      md_exported_has_some(&b->draft->exported[b->learnt_of[a]], r * b->outputs,
                                           b->outputs);
    }
    for (size_t r = 0; r < n; r++)
        if (used[r])
            model->support_row[model->support_count++] = r;
    return MEDLEY_OK;
}

/* Rows of support only, or (rows NULL) the weights as they are. */
static medley_status copy_body(md_body *body, const md_exported *learnt, const size_t *rows,
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
    MEDLEY_TRY(md_new(&model->bodies, b->active_count, sizeof *model->bodies, b->error));
    MEDLEY_TRY(md_new(&model->terms, b->active_count, sizeof *model->terms, b->error));
    size_t previous = SIZE_MAX;
    for (size_t a = 0; a < b->active_count; a++) {
        const md_exported *learnt = &b->draft->exported[b->learnt_of[a]];
        if (b->learnt_of[a] != previous) {
            const bool whole = is_explicit(b, a);
            md_body *body = &model->bodies[model->body_count++];
            body->rows = whole ? learnt->size / b->outputs : model->support_count;
            MEDLEY_TRY(
                copy_body(body, learnt, whole ? NULL : model->support_row, b->outputs, b->error));
            previous = b->learnt_of[a];
        }
        model->terms[model->term_count++] =
            (md_term){.kernel = a,
                      .body = model->body_count - 1,
                      .factor = b->trained->is_mixture ? 1 / (double)b->problem->bank.count : 1};
    }
    return MEDLEY_OK;
}

/* The support rows as prepared rows of the active kernels only: unit-diagonal factors are per
 * kernel. */
static medley_status copy_prepared(md_builder *b)
{
    medley_model *model = b->model;
    if (b->problem->bank.count == 0)
        return MEDLEY_OK;
    medley_status status =
        md_bank_subset(&model->bank, &b->problem->bank, b->kernels, b->active_count, b->error);
    if (status < 0)
        return status;
    const md_prepared_choice choice = {.bank = &b->problem->bank,
                                       .subset = &model->bank,
                                       .keep = b->kernels,
                                       .rows = model->support_row,
                                       .row_count = model->support_count};
    model->bank.training_rows = b->draft->training_rows;
    return md_prepared_subset(&model->prepared, b->draft->prepared, &choice, b->error);
}

/* ---- the summary ---- */

static medley_status copy_text(char **copy, const char *text, medley_error *error)
{
    return md_new_text(copy, text, strlen(text), error);
}

/* Support vectors of a kernel, weights of anything else. */
static size_t count_features(const md_builder *b, size_t i)
{
    const md_exported *learnt = &b->draft->exported[i];
    if (!md_exported_is_active(learnt))
        return 0;
    const size_t group = learnt->weights ? 1 : b->outputs;
    size_t count = 0;
    for (size_t first = 0; first < learnt->size; first += group)
        count += md_exported_has_some(learnt, first, group);
    return count;
}

/* Norms of every candidate; those of which nothing was learnt have none, those that share a block
 * share its length. */
static void find_norms(md_builder *b, double *norm)
{
    const md_problem *problem = b->problem;
    for (size_t i = 0; i < b->draft->exported_count; i++) {
        const md_exported *learnt = &b->draft->exported[i];
        const size_t features = count_features(b, i);
        if (!b->trained->is_mixture || !has_kernels(b, i)) {
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
    MD_OWNED(free) double *norm = NULL;
    for (size_t c = 0; c < count; c++)
        penalised += !problem->candidates[c].own_term;
    MEDLEY_TRY(md_new(&norm, 2 * count, sizeof *norm, b->error));
    MEDLEY_TRY(md_new(&model->names, count, sizeof *model->names, b->error));
    MEDLEY_TRY(md_new(&model->blocks, count, sizeof *model->blocks, b->error));
    find_norms(b, norm);
    md_penalty_weights(problem->penalty, norm, penalised, norm + count);
    model->summary.block_count = count;
    for (size_t c = 0; c < count; c++) {
        model->blocks[c].norm = norm[c];
        model->blocks[c].weight = norm[count + c];
        model->summary.active_blocks += norm[c] > 0;
        MEDLEY_TRY(copy_text(&model->names[c], problem->candidates[c].name, b->error));
    }
    return MEDLEY_OK;
}

/* What scores mean: bias, link, and what the task adds. */
static medley_status describe_outputs(md_builder *b)
{
    medley_status status = MEDLEY_OK;
    medley_model *model = b->model;
    const md_coefficients *plain = b->trained->plain;
    const md_task *task = b->draft->task;
    model->outputs = b->outputs;
    if (plain != NULL && plain->bias != NULL)
        MEDLEY_TRY_DONE(
            md_new_copy(&model->bias, plain->bias, plain->outputs * sizeof *model->bias, b->error));
    model->link = plain != NULL && plain->logistic_link ? MD_LINK_LOGISTIC : MD_LINK_SOFTMAX;
    if (task->build != NULL)
        status = task->build(model, b->draft, b->error);
done:
    return status;
}

/* Methods with blocks say nothing of duals. */
static medley_status copy_epochs(md_builder *b)
{
    const size_t count = b->trained->epoch_count;
    MEDLEY_TRY(md_new_copy(&b->model->epochs, b->trained->epochs, count * sizeof *b->model->epochs,
                           b->error));
    for (size_t e = 0; e < count && b->trained->plain == NULL; e++) {
        b->model->epochs[e].dual = NAN;
        b->model->epochs[e].gap = NAN;
    }
    b->model->summary.epoch_count = count;
    return MEDLEY_OK;
}

static medley_status fill_summary(md_builder *b)
{
    medley_model *model = b->model;
    const md_problem *problem = b->problem;
    const md_trained *trained = b->trained;
    const md_coefficients *plain = trained->plain;
    medley_summary *summary = &model->summary;
    const md_draft *draft = b->draft;
    const double n = (double)draft->examples;
    model->task = draft->task;
    summary->task = model->task->about.name;
    MEDLEY_TRY(copy_text(&model->method, problem->method->about->name, b->error));
    MEDLEY_TRY(copy_text(&model->loss, problem->loss, b->error));
    MEDLEY_TRY(copy_text(&model->penalty, md_penalty_text(problem->penalty), b->error));
    summary->lambda = draft->lambda;
    summary->C = 1 / (draft->lambda * n);
    summary->spicy_C = draft->lambda * n;
    summary->eta0 = trained->eta0;
    summary->examples = draft->examples;
    summary->parts = draft->training_rows;
    summary->objective = trained->objective;
    summary->dual = plain ? plain->dual : NAN;
    summary->gap = plain ? plain->gap : NAN;
    summary->newton_steps = plain ? plain->newton_steps : 0;
    summary->passes = plain ? plain->passes : 0;
    summary->iterations = trained->iterations;
    summary->updates = trained->updates;
    summary->radius = trained->radius;
    summary->bound = trained->bound;
    summary->seconds_kernels = draft->seconds_kernels;
    summary->seconds_train = md_clock_seconds() - draft->began - draft->seconds_kernels;
    summary->peak_rss_mb = md_peak_rss_mb();
    summary->seed = (unsigned long long)problem->options->seed;
    summary->threads = problem->threads;
    summary->converged = trained->converged;
    return MEDLEY_OK;
}

medley_status md_draft_build(medley_model **result, const md_draft *draft,
                             const md_trained *trained, medley_error *error)
{
    medley_status status = MEDLEY_OK;
    const size_t labels = draft->problem->space.shape.labels;
    md_builder b = {.draft = draft,
                    .problem = draft->problem,
                    .trained = trained,
                    .outputs = trained->plain ? trained->plain->outputs : labels,
                    .error = error};
    MEDLEY_TRY_DONE(md_new(&b.model, 1, sizeof *b.model, error));
    MEDLEY_TRY_DONE(find_active(&b));
    MEDLEY_TRY_DONE(find_support(&b));
    MEDLEY_TRY_DONE(copy_bodies(&b));
    MEDLEY_TRY_DONE(copy_prepared(&b));
    MEDLEY_TRY_DONE(describe_blocks(&b));
    MEDLEY_TRY_DONE(describe_outputs(&b));
    MEDLEY_TRY_DONE(copy_epochs(&b));
    MEDLEY_TRY_DONE(fill_summary(&b));
    md_model_bind_summary(b.model);
    *result = b.model;
    b.model = NULL;
done:
    free(b.kernels);
    free(b.learnt_of);
    medley_model_free(b.model);
    return status;
}

/* ---- what a run has learnt ---- */

static medley_status export_blocks(md_draft *draft, const md_trained *trained, medley_error *error)
{
    for (size_t i = 0; i < trained->block_count; i++) {
        md_block *block = trained->blocks[i];
        md_exported *learnt = &draft->exported[i];
        *learnt = (md_exported){.size = block->class->body_size(block),
                                .weights = block->class->soft_threshold != NULL,
                                .candidate = trained->candidate[i],
                                .norm = md_block_length(block)};
        if (!(md_block_length(block) > 0))
            continue;
        MEDLEY_TRY(md_new(&learnt->values, learnt->size, sizeof *learnt->values, error));
        block->class->export_body(block, learnt->values);
    }
    return MEDLEY_OK;
}

static medley_status borrow_coefficients(md_draft *draft, const md_coefficients *plain,
                                         medley_error *error)
{
    const md_problem *problem = draft->problem;
    for (size_t c = 0; c < problem->candidate_count; c++) {
        if (problem->candidates[c].origin != MD_FROM_KERNEL)
            continue;
        const size_t m = problem->candidates[c].index;
        const bool active = plain->body[m] != NULL && plain->norm[m] > 0;
        if (active && md_kernel_has_weights(&problem->bank.kernels[m]))
            return md_fail(error, MEDLEY_NOT_SUPPORTED,
                           "method %s learns coefficients of rows, not weights of columns as "
                           "kernel %s has them; leave out 'explicit'",
                           problem->method->about->name, problem->bank.kernels[m].name);
        draft->exported[m] = (md_exported){.wide = active ? plain->body[m] : NULL,
                                           .size = draft->rows * plain->outputs,
                                           .candidate = c,
                                           .norm = active ? plain->norm[m] : 0};
    }
    return MEDLEY_OK;
}

medley_status md_model_build(medley_model **model, md_problem *problem, const md_trained *trained,
                             medley_error *error)
{
    medley_status status = MEDLEY_OK;
    md_draft draft = {.problem = problem,
                      .task = problem->task,
                      .labels = &problem->train->label_names,
                      .prepared = &problem->prepared,
                      .rows = problem->train->rows,
                      .training_rows = problem->train->rows,
                      .examples = problem->example_count,
                      .lambda = problem->lambda,
                      .began = problem->progress.began,
                      .seconds_kernels = problem->progress.seconds_kernels,
                      .exported_count =
                          trained->plain ? problem->bank.count : trained->block_count};
    MEDLEY_TRY_DONE(md_new(&draft.exported, draft.exported_count, sizeof *draft.exported, error));
    MEDLEY_TRY_DONE(trained->plain ? borrow_coefficients(&draft, trained->plain, error)
                                   : export_blocks(&draft, trained, error));
    status = md_draft_build(model, &draft, trained, error);
done:
    for (size_t i = 0; draft.exported != NULL && i < draft.exported_count; i++)
        free(draft.exported[i].values);
    free(draft.exported);
    return status;
}

/* Builds the model as it would be returned now and lets it predict: what is measured is what the
 * user gets. */
medley_status md_problem_dev_accuracy(double *accuracy, md_problem *problem,
                                      const md_trained *trained, medley_error *error)
{
    medley_status status = MEDLEY_OK;
    medley_model *model = NULL;
    medley_prediction *prediction = NULL;
    size_t right = 0;
    MEDLEY_TRY_DONE(md_model_build(&model, problem, trained, error));
    MEDLEY_TRY_DONE(medley_predict(&prediction, model, problem->dev, problem->threads, error));
    const int32_t *predicted = problem->task->outputs(prediction);
    for (size_t r = 0; r < problem->dev->rows; r++)
        right += problem->dev_gold[r] == predicted[r];
    *accuracy = (double)right / (double)problem->dev->rows;
done:
    medley_prediction_free(prediction);
    medley_model_free(model);
    return status;
}
