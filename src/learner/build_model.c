/* SPDX-License-Identifier: BSD-3-Clause */
/* From trained blocks to a model that stands alone: active kernels, the rows that support them,
 * their coefficients, and the story of the run. */
#include "learner/problem.h"

#include "base/clock.h"
#include "base/memory.h"
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct builder {
    md_problem *problem;
    const md_trained *trained;
    medley_model *model;
    size_t labels;
    float **body;     /* [block_count] exported, NULL if inactive */
    size_t *kernels;  /* [active_count] of the problem's bank, in order */
    size_t *block_of; /* [active_count] the block that each active kernel belongs to */
    size_t active_count;
    size_t template_count;
    bool **kept; /* [template_count] features with weights; NULL: of none */
    medley_error *error;
};

static const md_candidate *candidate_of(const struct builder *b, size_t block)
{
    return &b->problem->candidates[b->trained->candidate[block]];
}

static bool stands_for_kernels(const struct builder *b, size_t block)
{
    return candidate_of(b, block)->source == MD_FROM_KERNEL;
}

static medley_status export_blocks(struct builder *b)
{
    const md_trained *trained = b->trained;
    const size_t most = b->problem->bank.count;
    b->body = md_calloc(trained->block_count, sizeof *b->body);
    b->kernels = md_calloc(most, sizeof *b->kernels);
    b->block_of = md_calloc(most, sizeof *b->block_of);
    if (b->body == NULL || b->kernels == NULL || b->block_of == NULL)
        return md_fail_memory(b->error, most * sizeof *b->kernels);
    for (size_t i = 0; i < trained->block_count; i++) {
        md_block *block = trained->blocks[i];
        if (!(block->norm > 0))
            continue;
        b->body[i] = md_calloc(block->class->body_size(block), sizeof(float));
        if (b->body[i] == NULL)
            return md_fail_memory(b->error, block->class->body_size(block) * sizeof(float));
        block->class->export_body(block, b->body[i]);
        for (size_t m = 0; stands_for_kernels(b, i) && m < (trained->is_mixture ? most : 1); m++) {
            b->block_of[b->active_count] = i;
            b->kernels[b->active_count++] = trained->is_mixture ? m : candidate_of(b, i)->index;
        }
    }
    return MEDLEY_OK;
}

static bool is_explicit(const struct builder *b, size_t active)
{
    return md_kernel_has_weights(&b->problem->bank.kernels[b->kernels[active]]);
}

/* Training rows with a coefficient in some active kernel block; all of them if a centred kernel is
 * active, since its mean is over all. */
static medley_status find_support(struct builder *b)
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
        const float *body = b->body[b->block_of[a]];
        for (size_t i = 0; i < n * b->labels; i++)
            if (all || body[i] != 0)
                used[i / b->labels] = true;
    }
    for (size_t r = 0; r < n; r++)
        if (used[r])
            model->support_row[model->support_count++] = r;
    free(used);
    return MEDLEY_OK;
}

/* One body per block: rows of support only, or the weights as they are. */
static medley_status copy_bodies(struct builder *b)
{
    medley_model *model = b->model;
    model->bodies = md_calloc(b->trained->block_count, sizeof *model->bodies);
    model->terms = md_calloc(b->active_count, sizeof *model->terms);
    if (model->bodies == NULL || model->terms == NULL)
        return md_fail_memory(b->error, b->active_count * sizeof *model->terms);
    size_t previous = SIZE_MAX;
    for (size_t a = 0; a < b->active_count; a++) {
        const size_t i = b->block_of[a];
        if (i != previous) {
            const bool whole = is_explicit(b, a);
            const md_block *block = b->trained->blocks[i];
            md_body *body = &model->bodies[model->body_count++];
            body->rows = whole ? block->class->body_size(block) / b->labels : model->support_count;
            body->values = md_calloc(body->rows * b->labels, sizeof(float));
            if (body->values == NULL)
                return md_fail_memory(b->error, body->rows * b->labels * sizeof(float));
            for (size_t r = 0; r < body->rows; r++)
                memcpy(body->values + r * b->labels,
                       b->body[i] + (whole ? r : model->support_row[r]) * b->labels,
                       b->labels * sizeof(float));
            previous = i;
        }
        model->terms[model->term_count++] =
            (md_term){.kernel = a,
                      .body = model->body_count - 1,
                      .factor = b->trained->is_mixture ? 1 / (double)b->problem->bank.count : 1};
    }
    return MEDLEY_OK;
}

/* The support rows as points of the active kernels only: unit-diagonal factors are per kernel. */
static medley_status copy_points(struct builder *b)
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

/* ---- weights of templates and label context ---- */

/* Which features of a template have any weight. */
static medley_status find_kept(struct builder *b, size_t block, size_t *count)
{
    const md_candidate *candidate = candidate_of(b, block);
    const md_block *trained = b->trained->blocks[block];
    const size_t features = md_features_count(b->problem->features, candidate->index);
    const size_t size = trained->class->body_size(trained);
    bool *kept = md_calloc(features, sizeof *kept);
    if (kept == NULL)
        return md_fail_memory(b->error, features * sizeof *kept);
    b->kept[candidate->index] = kept;
    const bool hashed = b->problem->options->hash_bits > 0;
    const size_t width = size / features;
    *count = 0;
    for (size_t f = 0; f < features; f++) {
        kept[f] = hashed; /* slots are where they are */
        for (size_t p = 0; p < width; p++)
            kept[f] = kept[f] || b->body[block][f * width + p] != 0;
        *count += kept[f];
    }
    return MEDLEY_OK;
}

/* The features that stay move together; their order stays. */
static medley_status copy_weights(struct builder *b, size_t block, md_weights *weights)
{
    const md_candidate *candidate = candidate_of(b, block);
    const md_block *trained = b->trained->blocks[block];
    const md_space *space = &b->problem->space;
    const bool templated = candidate->source == MD_FROM_TEMPLATE;
    *weights =
        (md_weights){.kind = candidate->kind,
                     .info = b->trained->candidate[block],
                     .block = templated ? candidate->index : MD_CONSTANT,
                     .width = space->structure->groups(space->shape, 3, candidate->kind).width,
                     .rows = 1};
    if (templated) {
        const medley_status status = find_kept(b, block, &weights->rows);
        if (status < 0)
            return status;
    }
    weights->values = md_calloc(weights->rows * weights->width, sizeof *weights->values);
    if (weights->values == NULL)
        return md_fail_memory(b->error, weights->rows * weights->width * sizeof(float));
    const size_t rows = trained->class->body_size(trained) / weights->width;
    float *to = weights->values;
    for (size_t f = 0; f < rows; f++) {
        if (templated && !b->kept[candidate->index][f])
            continue;
        memcpy(to, b->body[block] + f * weights->width, weights->width * sizeof *to);
        to += weights->width;
    }
    return MEDLEY_OK;
}

/* Templates without weights are left out, so those behind them move up. */
static void renumber_templates(struct builder *b)
{
    for (size_t w = 0; w < b->model->weights_count; w++) {
        md_weights *weights = &b->model->weights[w];
        size_t place = 0;
        for (size_t t = 0; weights->block != MD_CONSTANT && t < weights->block; t++)
            place += b->kept[t] != NULL;
        if (weights->block != MD_CONSTANT)
            weights->block = place;
    }
}

static medley_status copy_features(struct builder *b)
{
    medley_model *model = b->model;
    const md_templates *templates = b->problem->templates;
    b->template_count = templates ? md_templates_count(templates) : 0;
    b->kept = md_calloc(b->template_count, sizeof *b->kept);
    model->weights = md_calloc(b->trained->block_count, sizeof *model->weights);
    if (b->kept == NULL || model->weights == NULL)
        return md_fail_memory(b->error, b->trained->block_count * sizeof *model->weights);
    bool templated = false;
    for (size_t i = 0; i < b->trained->block_count; i++) {
        if (b->body[i] == NULL || stands_for_kernels(b, i))
            continue;
        templated = templated || candidate_of(b, i)->source == MD_FROM_TEMPLATE;
        const medley_status status = copy_weights(b, i, &model->weights[model->weights_count++]);
        if (status < 0)
            return status;
    }
    model->token_columns = templates ? b->problem->train->token_columns : 0;
    model->label_column = templates ? b->problem->train->label_column + 1 : 0;
    if (!templated)
        return MEDLEY_OK;
    renumber_templates(b);
    return md_features_subset(&model->features, b->problem->features, (const bool *const *)b->kept,
                              b->error);
}

/* ---- the story ---- */

static char *copy_of(const char *text)
{
    return md_copy_text(text, strlen(text));
}

/* Support vectors of a kernel, weights of anything else. */
static size_t count_features(const struct builder *b, size_t block)
{
    if (b->body[block] == NULL)
        return 0;
    const bool weights = b->trained->blocks[block]->class->soft_threshold != NULL;
    const size_t group = weights ? 1 : b->labels;
    const size_t size = b->trained->blocks[block]->class->body_size(b->trained->blocks[block]);
    size_t count = 0;
    for (size_t i = 0; i < size; i += group) {
        bool nonzero = false;
        for (size_t j = 0; j < group; j++)
            nonzero = nonzero || b->body[block][i + j] != 0;
        count += nonzero;
    }
    return count;
}

/* Norms of every candidate; those without a block of their own have none, those that share one
 * share its length. */
static void find_norms(struct builder *b, double *norm)
{
    const md_problem *problem = b->problem;
    for (size_t i = 0; i < b->trained->block_count; i++) {
        const double length = b->trained->blocks[i]->norm;
        const size_t features = count_features(b, i);
        if (!b->trained->is_mixture || !stands_for_kernels(b, i)) {
            norm[b->trained->candidate[i]] = length;
            b->model->blocks[b->trained->candidate[i]].features = features;
            continue;
        }
        for (size_t c = 0; c < problem->candidate_count; c++)
            if (problem->candidates[c].source == MD_FROM_KERNEL) {
                norm[c] = length / (double)problem->bank.count;
                b->model->blocks[c].features = features;
            }
    }
}

/* What has a term of its own is told of, but has no share in the weights. */
static medley_status describe_blocks(struct builder *b)
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

static medley_status tell_story(struct builder *b)
{
    medley_model *model = b->model;
    const md_problem *problem = b->problem;
    const md_trained *trained = b->trained;
    medley_summary *summary = &model->summary;
    const double n = (double)problem->example_count;
    model->space = problem->space;
    model->task = copy_of(problem->task);
    model->method = copy_of(problem->options->method);
    model->loss = copy_of(problem->loss->name);
    model->penalty = copy_of(md_penalty_text(problem->penalty));
    model->epochs = md_copy(trained->epochs, trained->epoch_count * sizeof *model->epochs);
    if (!model->task || !model->method || !model->loss || !model->penalty || !model->epochs)
        return md_fail_memory(b->error, trained->epoch_count * sizeof *model->epochs);
    for (size_t l = 0; l < b->labels; l++) {
        const char *name = problem->train->label_names.items[l];
        if (md_strings_add(&model->labels, name, strlen(name)) < 0)
            return md_fail_memory(b->error, strlen(name));
    }
    summary->lambda = problem->lambda;
    summary->C = 1 / (problem->lambda * n);
    summary->spicy_C = problem->lambda * n;
    summary->eta0 = trained->eta0;
    summary->examples = problem->example_count;
    summary->parts = problem->train->rows;
    summary->objective = trained->objective;
    summary->dual = NAN;
    summary->gap = NAN;
    summary->iterations = trained->iterations;
    summary->epoch_count = trained->epoch_count;
    summary->seconds_kernels = problem->seconds_kernels;
    summary->seconds_train = md_clock_seconds() - problem->began - problem->seconds_kernels;
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
    struct builder b = {.problem = problem,
                        .trained = trained,
                        .labels = problem->train->label_names.count,
                        .error = error};
    b.model = md_calloc(1, sizeof *b.model);
    if (b.model == NULL)
        return md_fail_memory(error, sizeof *b.model);
    MEDLEY_TRY(export_blocks(&b));
    MEDLEY_TRY(find_support(&b));
    MEDLEY_TRY(copy_bodies(&b));
    MEDLEY_TRY(copy_points(&b));
    MEDLEY_TRY(copy_features(&b));
    MEDLEY_TRY(describe_blocks(&b));
    MEDLEY_TRY(tell_story(&b));
    md_model_link_summary(b.model);
    *result = b.model;
    b.model = NULL;
done:
    for (size_t i = 0; b.body != NULL && i < trained->block_count; i++)
        free(b.body[i]);
    free(b.body);
    for (size_t t = 0; b.kept != NULL && t < b.template_count; t++)
        free(b.kept[t]);
    free(b.kept);
    free(b.kernels);
    free(b.block_of);
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
        size_t right = 0;
        for (size_t r = 0; r < problem->dev->rows; r++)
            right += problem->dev_gold[r] == prediction->label[r];
        *accuracy = (double)right / (double)problem->dev->rows;
    }
    medley_prediction_free(prediction);
    medley_model_free(model);
    return status;
}
