/* SPDX-License-Identifier: BSD-3-Clause */
/* Scores of new rows: kernels against the support rows, explicit weights. All of it in float, with
 * float64 coefficients rounded once when the model was made or loaded, but for bodies that are
 * exact. */
#include "model/model.h"

#include "base/parallel.h"
#include "block/feature_weights.h"
#include "gram/exact.h"
#include "linalg/products.h"
#include "linalg/vectors.h"

/* ---- kernels ---- */

static void add_explicit(const md_matrix *features, const md_body *body, double factor,
                         size_t outputs, float *scores)
{
    for (size_t r = 0; r < features->rows; r++) {
        const md_row row = md_matrix_row(features, r);
        float *out = scores + r * outputs;
        for (size_t e = 0; e < row.count; e++) {
            const size_t column = md_row_column(row, e);
            if (column >= body->rows)
                continue; /* a feature never seen in training */
            const float value = (float)factor * row.value[e];
            for (size_t l = 0; l < outputs; l++)
                out[l] += value * body->values[column * outputs + l];
        }
    }
}

/* The same where rows are shifted and normalised first: (x + origin) W / ||x||, by chunks. */
static medley_status add_primal(const md_prepared *left, const md_bank *bank, size_t m,
                                const md_body *body, size_t outputs, float *scores,
                                medley_error *error)
{
    enum { CHUNK = 1024 };
    const md_kernel *kernel = &bank->kernels[m];
    const md_matrix *view = &left->views[kernel->view];
    const size_t columns = view->columns;
    const float *origin = bank->origin != NULL ? bank->origin[kernel->view] : NULL;
    const float *inverse_root = left->inverse_root[m];
    MD_OWNED(free) float *products = NULL;
    MEDLEY_TRY(md_new(&products, (CHUNK + 1 + columns) * outputs, sizeof *products, error));
    float *constant = products + CHUNK * outputs; /* origin W */
    float *by_output = constant + outputs;        /* W' */
    for (size_t c = 0; c < columns; c++) {
        for (size_t l = 0; l < outputs; l++)
            by_output[l * columns + c] = body->values[c * outputs + l];
        if (origin != NULL)
            md_add_multiple(constant, origin[c], body->values + c * outputs, outputs);
    }
    for (size_t first = 0; first < left->rows; first += CHUNK) {
        const size_t rows = left->rows - first < CHUNK ? left->rows - first : CHUNK;
        for (size_t r = 0; r < rows; r++)
            memcpy(products + r * outputs, constant, outputs * sizeof *products);
        md_add_products(rows, outputs, columns, view->dense + first * columns, columns, by_output,
                        columns, products, outputs);
        for (size_t r = 0; r < rows; r++)
            md_add_multiple(scores + (first + r) * outputs,
                            inverse_root ? inverse_root[first + r] : 1, products + r * outputs,
                            outputs);
    }
    return MEDLEY_OK;
}

/* One expansion per kernel term; a body that several kernels share is scaled for each. What is
 * made is the caller's whatever comes back. */
static medley_status make_expansions(const medley_model *model, md_expansion **expansions,
                                     float **scaled, size_t *count, medley_error *error)
{
    const size_t size = model->support_count * model->outputs;
    size_t copied = 0;
    for (size_t t = 0; t < model->term_count; t++)
        copied += model->terms[t].factor != 1;
    MEDLEY_TRY(md_new(expansions, model->term_count, sizeof **expansions, error));
    MEDLEY_TRY(md_new(scaled, copied * size, sizeof **scaled, error));
    float *copy = *scaled;
    for (size_t t = 0; t < model->term_count; t++) {
        const md_term *term = &model->terms[t];
        const float *values = model->bodies[term->body].values;
        if (md_kernel_has_weights(&model->bank.kernels[term->kernel]) ||
            model->bodies[term->body].exact)
            continue;
        if (term->factor != 1) {
            for (size_t i = 0; i < size; i++)
                copy[i] = (float)term->factor * values[i];
            values = copy;
            copy += size;
        }
        (*expansions)[(*count)++] = (md_expansion){.kernel = term->kernel, .coefficient = values};
    }
    return MEDLEY_OK;
}

static bool is_exact(const medley_model *model)
{
    for (size_t b = 0; b < model->body_count; b++)
        if (model->bodies[b].exact)
            return true;
    return false;
}

/* Terms of exact bodies. */
static medley_status add_exactly(const medley_model *model, const md_between *between,
                                 double *scores, medley_error *error)
{
    for (size_t t = 0; t < model->term_count; t++) {
        const md_term *term = &model->terms[t];
        if (model->bodies[term->body].exact)
            MEDLEY_TRY(md_exact_scores(between, term->kernel, model->bodies[term->body].float64,
                                       model->outputs, scores, error));
    }
    return MEDLEY_OK;
}

/* scores and exact, both [rows][outputs], get the terms that are theirs; exact is NULL if there are
 * none. */
static medley_status add_kernels(const medley_model *model, const md_prepared *left,
                                 const md_machine *machine, float *scores, double *exact,
                                 medley_error *error)
{
    const size_t outputs = model->outputs;
    MD_OWNED(free) md_expansion *expansions = NULL;
    MD_OWNED(free) float *scaled = NULL;
    size_t count = 0;
    md_bank bank = model->bank; /* borrows all of it, and only reads */
    MEDLEY_TRY(make_expansions(model, &expansions, &scaled, &count, error));
    const md_between between = {.bank = &bank,
                                .left = left,
                                .right = &model->prepared,
                                .training_row = model->support_row,
                                .threads = machine->threads,
                                .device = machine->device,
                                .device_name = machine->device_name};
    if (exact != NULL)
        MEDLEY_TRY(add_exactly(model, &between, exact, error));
    if (count > 0)
        MEDLEY_TRY(md_between_scores(&between, expansions, count, outputs, scores, error));
    for (size_t t = 0; t < model->term_count; t++) {
        const md_term *term = &model->terms[t];
        const md_kernel *kernel = &model->bank.kernels[term->kernel];
        const md_body *body = &model->bodies[term->body];
        if (kernel->primal)
            MEDLEY_TRY(add_primal(left, &bank, term->kernel, body, outputs, scores, error));
        else if (kernel->explicit_weights)
            add_explicit(&left->views[kernel->view], body, term->factor, outputs, scores);
    }
    return MEDLEY_OK;
}

medley_status md_model_score_rows(const medley_model *model, const md_prepared *left,
                                  const md_machine *machine, double *scores, medley_error *error)
{
    const size_t count = left->rows * model->outputs;
    MD_OWNED(free) float *rounded = NULL;
    MEDLEY_TRY(md_new(&rounded, count, sizeof *rounded, error));
    memset(scores, 0, count * sizeof *scores);
    MEDLEY_TRY(add_kernels(model, left, machine, rounded, is_exact(model) ? scores : NULL, error));
    for (size_t i = 0; i < count; i++)
        scores[i] += (double)rounded[i];
    return MEDLEY_OK;
}

medley_status md_fail_overflow(size_t row, medley_error *error)
{
    return md_fail(
        error, MEDLEY_BAD_INPUT,
        "the score of row %zu is beyond the range of numbers: its values, or those of the "
        "model, are too large; look for a slip in the data, or train on smaller values "
        "(`scale=standard`)",
        row + 1);
}

medley_status md_model_score_exactly(const medley_model *model, const medley_dataset *dataset,
                                     const md_machine *machine, double *scores, medley_error *error)
{
    MD_CLEARED(md_prepared_clear) md_prepared left = {0};
    md_bank bank = model->bank; /* borrows all of it: making prepared rows of new rows only reads */
    bank.threads = machine->threads;
    memset(scores, 0, dataset->rows * model->outputs * sizeof *scores);
    if (model->term_count == 0)
        return MEDLEY_OK;
    MEDLEY_TRY(md_prepared_make(&left, &bank, dataset, false, error));
    MEDLEY_TRY(md_model_score_rows(model, &left, machine, scores, error));
    for (size_t i = 0; i < dataset->rows * model->outputs; i++)
        if (!isfinite(scores[i]))
            return md_fail_overflow(i / model->outputs, error);
    return MEDLEY_OK;
}

/* The sum of all terms, rounded once where bodies are exact. */
static medley_status add_terms(const medley_model *model, const medley_dataset *dataset,
                               const md_machine *machine, float *scores, medley_error *error)
{
    MD_CLEARED(md_prepared_clear) md_prepared left = {0};
    MD_OWNED(free) double *exact = NULL;
    md_bank bank = model->bank; /* borrows all of it: making prepared rows of new rows only reads */
    const size_t count = dataset->rows * model->outputs;
    bank.threads = machine->threads;
    MEDLEY_TRY(md_prepared_make(&left, &bank, dataset, false, error));
    if (is_exact(model))
        MEDLEY_TRY(md_new(&exact, count, sizeof *exact, error));
    MEDLEY_TRY(add_kernels(model, &left, machine, scores, exact, error));
    for (size_t i = 0; exact != NULL && i < count; i++)
        scores[i] = (float)((double)scores[i] + exact[i]);
    return MEDLEY_OK;
}

/* ---- weights of templates and label context ---- */

enum { CHUNK_ROWS = 1024 };

struct row_scores {
    const medley_model *model;
    const md_feature_ids *ids;
    size_t rows;
    float *scores;
};

void md_weights_score(const md_weights *weights, const md_feature_ids *ids, size_t first,
                      size_t groups, float *out)
{
    if (weights->block != MD_CONSTANT) {
        const md_lookup lookup = {.weight = weights->values,
                                  .width = weights->width,
                                  .stride = weights->width,
                                  .id = ids->ids[weights->block] + first,
                                  .step = 1};
        md_add_weights_of_ids(out, &lookup, groups, 1);
        return;
    }
    for (size_t g = 0; g < groups; g++)
        md_add_multiple(out + g * weights->width, 1, weights->values, weights->width);
}

static void add_row_weights(void *context, size_t chunk, size_t worker)
{
    (void)worker;
    const struct row_scores *work = context;
    const size_t first = chunk * CHUNK_ROWS;
    const size_t left = work->rows - first;
    const size_t count = left < CHUNK_ROWS ? left : CHUNK_ROWS;
    for (size_t w = 0; w < work->model->weights_count; w++) {
        const md_weights *weights = &work->model->weights[w];
        if (weights->kind == MD_ROW_PARTS)
            md_weights_score(weights, work->ids, first, count,
                             work->scores + first * weights->width);
    }
}

medley_status md_model_score(const medley_model *model, const medley_dataset *dataset,
                             const md_feature_ids *ids, const md_machine *machine, float *scores,
                             medley_error *error)
{
    memset(scores, 0, dataset->rows * model->outputs * sizeof *scores);
    if (model->term_count > 0)
        MEDLEY_TRY(add_terms(model, dataset, machine, scores, error));
    struct row_scores work = {.model = model, .ids = ids, .rows = dataset->rows, .scores = scores};
    md_parallel_for(machine->threads, (dataset->rows + CHUNK_ROWS - 1) / CHUNK_ROWS,
                    add_row_weights, &work);
    for (size_t i = 0; i < dataset->rows * model->outputs; i++)
        if (!isfinite(scores[i]))
            return md_fail_overflow(i / model->outputs, error);
    return MEDLEY_OK;
}
