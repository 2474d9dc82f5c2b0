/* SPDX-License-Identifier: BSD-3-Clause */
/* From trained blocks or plain coefficients to a model that stands alone: active kernels, the rows
 * that support them, their coefficients, and the summary of the run. */
#include "setup/setup.h"

typedef struct md_builder {
    const md_draft *draft;
    const md_problem *problem;    /* of the draft */
    const md_coefficients *plain; /* whose coefficients they are; NULL: of blocks */
    bool is_mixture;              /* what was learnt stands for the average of all kernels */
    const md_run_result *result;
    medley_model *model;
    size_t outputs;
    size_t *kernels;   /* [active_count] of the problem's bank, in order */
    size_t *learnt_of; /* [active_count] what each active kernel belongs to */
    size_t active_count;
    medley_error *error;
} md_builder;

static void clear_builder(md_builder *b)
{
    free(b->kernels);
    free(b->learnt_of);
    medley_model_free(b->model);
}

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
    const bool mixture = b->is_mixture;
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
    const size_t element = learnt->float64 != NULL ? sizeof(double) : sizeof(float);
    const size_t bytes = outputs * element;
    const char *from =
        learnt->float64 != NULL ? (const char *)learnt->float64 : (char *)learnt->values;
    char *to = NULL;
    MEDLEY_TRY(md_new(&to, body->rows, bytes, error));
    for (size_t r = 0; r < body->rows; r++)
        memcpy(to + r * bytes, from + (rows ? rows[r] : r) * bytes, bytes);
    if (learnt->float64 == NULL) {
        body->values = (float *)(void *)to;
        return MEDLEY_OK;
    }
    body->float64 = (double *)(void *)to;
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
                      .factor = b->is_mixture ? 1 / (double)b->problem->bank.count : 1};
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
    MEDLEY_TRY(
        md_bank_subset(&model->bank, &b->problem->bank, b->kernels, b->active_count, b->error));
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
        if (!b->is_mixture || !has_kernels(b, i)) {
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
    medley_model *model = b->model;
    const md_coefficients *plain = b->plain;
    const md_task *task = b->draft->task;
    model->outputs = b->outputs;
    if (plain != NULL && plain->bias != NULL)
        MEDLEY_TRY(
            md_new_copy(&model->bias, plain->bias, plain->outputs * sizeof *model->bias, b->error));
    model->link = plain != NULL && plain->logistic_link ? MD_LINK_LOGISTIC : MD_LINK_SOFTMAX;
    return task->build != NULL ? task->build(model, b->draft, b->error) : MEDLEY_OK;
}

static medley_status copy_epochs(md_builder *b)
{
    const size_t count = b->result->epoch_count;
    MEDLEY_TRY(md_new_copy(&b->model->epochs, b->result->epochs, count * sizeof *b->model->epochs,
                           b->error));
    b->model->summary.epoch_count = count;
    return MEDLEY_OK;
}

static medley_status tell_device(medley_model *model, const md_device_use *use, medley_error *error)
{
    const bool used = use->what[0] != '\0';
    MEDLEY_TRY(copy_text(&model->device, used ? use->name : "cpu", error));
    MEDLEY_TRY(copy_text(&model->device_use, use->what, error));
    return copy_text(&model->device_reason, used ? "" : use->reason, error);
}

static medley_status fill_summary(md_builder *b)
{
    medley_model *model = b->model;
    const md_problem *problem = b->problem;
    const md_run_result *result = b->result;
    const md_coefficients *plain = b->plain;
    medley_summary *summary = &model->summary;
    const md_draft *draft = b->draft;
    const double n = (double)draft->examples;
    model->task = draft->task;
    if (problem->format != NULL)
        MEDLEY_TRY(copy_text(&model->format, problem->format, b->error));
    summary->task = model->task->about.name;
    MEDLEY_TRY(copy_text(&model->method, problem->method->about->name, b->error));
    MEDLEY_TRY(copy_text(&model->loss, problem->loss, b->error));
    MEDLEY_TRY(copy_text(&model->penalty, md_penalty_text(problem->penalty), b->error));
    summary->lambda = draft->lambda;
    summary->C = draft->lambda > 0 ? 1 / (draft->lambda * n) : NAN;
    summary->spicy_C = draft->lambda > 0 ? draft->lambda * n : NAN;
    summary->eta0 = result->eta0;
    summary->examples = draft->examples;
    summary->parts = draft->training_rows;
    summary->objective = result->objective;
    summary->dual = plain ? plain->dual : result->certified ? result->dual : NAN;
    summary->gap = plain ? plain->gap : result->certified ? result->gap : NAN;
    summary->newton_steps = plain ? plain->newton_steps : 0;
    summary->passes = plain ? plain->passes : 0;
    summary->iterations = result->iterations;
    summary->updates = result->updates;
    summary->steps_skipped = result->left_out;
    summary->regret = result->regret;
    summary->mistakes = result->mistakes;
    summary->radius = result->radius;
    summary->bound = result->bound;
    summary->seconds_kernels = draft->seconds_kernels;
    summary->seconds_train = md_clock_seconds() - draft->began - draft->seconds_kernels;
    summary->peak_rss_mb = md_peak_rss_mb();
    summary->seed = (unsigned long long)problem->options->seed;
    summary->threads = problem->threads;
    MEDLEY_TRY(tell_device(b->model, &problem->device_use, b->error));
    summary->converged = result->converged;
    summary->wanted_gap =
        problem->method->about->takes & MD_TAKES_GAP ? problem->options->gap : NAN;
    return MEDLEY_OK;
}

static medley_status fill_model(md_builder *b)
{
    MEDLEY_TRY(md_new(&b->model, 1, sizeof *b->model, b->error));
    MEDLEY_TRY(find_active(b));
    MEDLEY_TRY(find_support(b));
    MEDLEY_TRY(copy_bodies(b));
    MEDLEY_TRY(copy_prepared(b));
    MEDLEY_TRY(describe_blocks(b));
    MEDLEY_TRY(describe_outputs(b));
    MEDLEY_TRY(copy_epochs(b));
    MEDLEY_TRY(
        md_preselection_copy(&b->model->preselection, &b->draft->problem->preselection, b->error));
    return fill_summary(b);
}

static medley_status build(medley_model **model, md_builder b)
{
    MD_CLEARED(clear_builder) md_builder builder = b;
    builder.problem = b.draft->problem;
    builder.outputs = b.plain ? b.plain->outputs : builder.problem->space.shape.labels;
    MEDLEY_TRY(fill_model(&builder));
    MEDLEY_TRY(md_model_tell_scale(builder.model, builder.error));
    md_model_bind_summary(builder.model);
    *model = builder.model;
    builder.model = NULL;
    return MEDLEY_OK;
}

medley_status md_draft_build(medley_model **model, const md_draft *draft,
                             const md_run_result *result, medley_error *error)
{
    return build(model, (md_builder){.draft = draft, .result = result, .error = error});
}

/* ---- from the rows of a problem ---- */

void md_draft_clear(md_draft *draft)
{
    for (size_t i = 0; draft->exported != NULL && i < draft->exported_count; i++)
        free(draft->exported[i].values);
    free(draft->exported);
}

/* count: of things learnt, of which nothing is known yet. */
static medley_status begin_draft(md_draft *draft, const md_problem *problem, size_t count,
                                 medley_error *error)
{
    *draft = (md_draft){.problem = problem,
                        .task = problem->task,
                        .labels = &problem->train->label_names,
                        .prepared = &problem->prepared,
                        .rows = problem->train->rows,
                        .training_rows = problem->train->rows,
                        .examples = problem->example_count,
                        .lambda = problem->lambda,
                        .began = problem->progress.began,
                        .seconds_kernels = problem->progress.seconds_kernels,
                        .exported_count = count};
    return md_new(&draft->exported, count, sizeof *draft->exported, error);
}

medley_status md_model_of_blocks(medley_model **model, const md_problem *problem,
                                 const md_run_blocks *run, const md_run_result *result,
                                 medley_error *error)
{
    MD_CLEARED(md_draft_clear) md_draft draft = {0};
    MEDLEY_TRY(begin_draft(&draft, problem, run->count, error));
    for (size_t i = 0; i < run->count; i++) {
        md_block *block = run->blocks[i];
        md_exported *learnt = &draft.exported[i];
        *learnt = (md_exported){.size = block->class->body_size(block),
                                .weights = block->class->soft_threshold != NULL,
                                .candidate = run->candidate[i],
                                .norm = md_block_length(block)};
        if (!(learnt->norm > 0))
            continue;
        MEDLEY_TRY(md_new(&learnt->values, learnt->size, sizeof *learnt->values, error));
        block->class->export_body(block, learnt->values);
    }
    return build(model, (md_builder){.draft = &draft,
                                     .result = result,
                                     .is_mixture = run->is_mixture,
                                     .error = error});
}

medley_status md_model_of_coefficients(medley_model **model, const md_problem *problem,
                                       const md_coefficients *plain, const md_run_result *result,
                                       medley_error *error)
{
    MD_CLEARED(md_draft_clear) md_draft draft = {0};
    MEDLEY_TRY(begin_draft(&draft, problem, problem->bank.count, error));
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
        draft.exported[m] = (md_exported){.float64 = active ? plain->body[m] : NULL,
                                          .size = draft.rows * plain->outputs,
                                          .candidate = c,
                                          .norm = active ? plain->norm[m] : 0};
    }
    MEDLEY_TRY(build(
        model, (md_builder){.draft = &draft, .plain = plain, .result = result, .error = error}));
    return problem->progress.stopped ? MEDLEY_STOPPED : MEDLEY_OK;
}
