/* SPDX-License-Identifier: BSD-3-Clause */
/* Scores of new data, and decoding. */
#include "model/model.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "block/weights.h"
#include "linalg/blas.h"
#include "structure/structure.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- scores ---- */

static void add_explicit(const md_matrix *features, const md_body *body, double factor,
                         size_t labels, float *scores)
{
    for (size_t r = 0; r < features->rows; r++) {
        const bool sparse = md_matrix_is_sparse(features);
        const size_t first = sparse ? features->start[r] : r * features->columns;
        const size_t last = sparse ? features->start[r + 1] : first + features->columns;
        float *out = scores + r * labels;
        for (size_t e = first; e < last; e++) {
            const size_t column = sparse ? (size_t)features->index[e] : e - first;
            if (column >= body->rows)
                continue; /* a feature never seen in training */
            const float value = (float)factor * (sparse ? features->value[e] : features->dense[e]);
            for (size_t l = 0; l < labels; l++)
                out[l] += value * body->values[column * labels + l];
        }
    }
}

/* The same where rows are shifted and normalised first: (x + origin) W / ||x||, by chunks. */
static medley_status add_primal(const md_points *left, const md_bank *bank, size_t m,
                                const md_body *body, size_t labels, float *scores,
                                medley_error *error)
{
    enum { CHUNK = 1024 };
    const md_kernel *kernel = &bank->kernels[m];
    const md_matrix *view = &left->views[kernel->view];
    const float *origin = bank->origin != NULL ? bank->origin[kernel->view] : NULL;
    const float *inverse_root = left->inverse_root[m];
    float *products = md_calloc((CHUNK + 1) * labels, sizeof *products);
    if (products == NULL)
        return md_fail_memory(error, (CHUNK + 1) * labels * sizeof *products);
    float *constant = products + CHUNK * labels; /* origin W */
    for (size_t c = 0; origin != NULL && c < view->columns; c++)
        md_add_weights(constant, body->values + c * labels, origin[c], labels);
    for (size_t first = 0; first < left->rows; first += CHUNK) {
        const size_t rows = left->rows - first < CHUNK ? left->rows - first : CHUNK;
        md_gemm(rows, labels, view->columns, 1, view->dense + first * view->columns, view->columns,
                body->values, labels, 0, products, labels);
        for (size_t r = 0; r < rows; r++) {
            const float factor = inverse_root ? inverse_root[first + r] : 1;
            float *out = scores + (first + r) * labels;
            md_add_weights(out, products + r * labels, factor, labels);
            md_add_weights(out, constant, factor, labels);
        }
    }
    free(products);
    return MEDLEY_OK;
}

/* One expansion per kernel term; a body that several kernels share is scaled for each. */
static medley_status make_expansions(const medley_model *model, md_expansion **expansions,
                                     float **scaled, size_t *count, medley_error *error)
{
    const size_t size = model->support_count * model->labels.count;
    size_t copied = 0;
    for (size_t t = 0; t < model->term_count; t++)
        copied += model->terms[t].factor != 1;
    md_expansion *list = md_calloc(model->term_count, sizeof *list);
    float *copies = md_calloc(copied * size, sizeof *copies);
    if (list == NULL || copies == NULL) {
        free(list);
        free(copies);
        return md_fail_memory(error, copied * size * sizeof *copies);
    }
    size_t used = 0;
    float *copy = copies;
    for (size_t t = 0; t < model->term_count; t++) {
        const md_term *term = &model->terms[t];
        const float *values = model->bodies[term->body].values;
        if (md_kernel_has_weights(&model->bank.kernels[term->kernel]))
            continue;
        if (term->factor != 1) {
            for (size_t i = 0; i < size; i++)
                copy[i] = (float)term->factor * values[i];
            values = copy;
            copy += size;
        }
        list[used++] = (md_expansion){.kernel = term->kernel, .coefficient = values};
    }
    *expansions = list;
    *scaled = copies;
    *count = used;
    return MEDLEY_OK;
}

static medley_status add_kernels(const medley_model *model, const medley_dataset *dataset,
                                 size_t threads, float *scores, medley_error *error)
{
    medley_status status = MEDLEY_OK;
    const size_t labels = model->labels.count;
    md_points left = {0};
    md_expansion *expansions = NULL;
    float *scaled = NULL;
    size_t count = 0;
    md_bank bank = model->bank; /* borrows all of it: making points of new rows only reads */
    MEDLEY_TRY(md_points_make(&left, &bank, dataset, false, error));
    MEDLEY_TRY(make_expansions(model, &expansions, &scaled, &count, error));
    const md_cross cross = {.bank = &bank,
                            .left = &left,
                            .right = &model->points,
                            .training_row = model->support_row,
                            .threads = threads};
    if (count > 0)
        MEDLEY_TRY(md_cross_scores(&cross, expansions, count, labels, scores, error));
    for (size_t t = 0; t < model->term_count; t++) {
        const md_term *term = &model->terms[t];
        const md_kernel *kernel = &model->bank.kernels[term->kernel];
        const md_body *body = &model->bodies[term->body];
        if (kernel->primal)
            MEDLEY_TRY(add_primal(&left, &bank, term->kernel, body, labels, scores, error));
        else if (kernel->explicit_weights)
            add_explicit(&left.views[kernel->view], body, term->factor, labels, scores);
    }
done:
    md_points_clear(&left);
    free(expansions);
    free(scaled);
    return status;
}

/* ---- weights of templates and label context ---- */

enum { CHUNK_ROWS = 1024 };

struct row_scores {
    const medley_model *model;
    const md_feature_ids *ids;
    size_t rows;
    float *scores;
};

/* Adds a block's weights to groups of parts that belong to rows first, first + 1, ... */
static void add_weights(const md_weights *weights, const md_feature_ids *ids, size_t first,
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
        md_add_weights(out + g * weights->width, weights->values, 1, weights->width);
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
            add_weights(weights, work->ids, first, count, work->scores + first * weights->width);
    }
}

static medley_status score_rows(const medley_model *model, const medley_dataset *dataset,
                                const md_feature_ids *ids, size_t threads, float *scores,
                                medley_error *error)
{
    memset(scores, 0, dataset->rows * model->labels.count * sizeof *scores);
    if (model->term_count > 0) {
        const medley_status status = add_kernels(model, dataset, threads, scores, error);
        if (status < 0)
            return status;
    }
    struct row_scores work = {.model = model, .ids = ids, .rows = dataset->rows, .scores = scores};
    md_parallel_for(threads, (dataset->rows + CHUNK_ROWS - 1) / CHUNK_ROWS, add_row_weights, &work);
    return MEDLEY_OK;
}

static medley_status find_ids(const medley_model *model, const medley_dataset *dataset,
                              size_t threads, md_feature_ids *ids, medley_error *error)
{
    *ids = (md_feature_ids){0};
    if (model->features == NULL)
        return MEDLEY_OK;
    return md_features_apply(model->features, ids, dataset, threads, error);
}

/* ---- decoding ---- */

enum { CHUNK_SEQUENCES = 32 };

/* Of one thread. */
struct decoder {
    float *score;    /* [parts of the longest] */
    float *marginal; /* the same, if probabilities are wanted */
    int32_t *best;   /* [wanted][longest] */
    md_workspace workspace;
};

struct decoding {
    const medley_model *model;
    const medley_dataset *dataset;
    const md_feature_ids *ids;
    medley_prediction *prediction;
    const medley_predict_options *options;
    const int32_t *given; /* [rows] labels that are known, or NULL */
    size_t sequences, longest;
    struct decoder *decoders; /* [threads] */
};

static size_t first_row(const struct decoding *d, size_t sequence)
{
    return d->dataset->sequence_count == 0 ? sequence : d->dataset->sequence_start[sequence];
}

/* The scores of all parts of a sequence. */
static void fill_scores(const struct decoding *d, size_t first, size_t length, float *score)
{
    const md_space *space = &d->model->space;
    const size_t rows = length * space->shape.labels;
    const size_t parts = space->structure->part_count(space->shape, length);
    memcpy(score, d->prediction->score + first * space->shape.labels, rows * sizeof *score);
    memset(score + rows, 0, (parts - rows) * sizeof *score);
    for (size_t w = 0; w < d->model->weights_count; w++) {
        const md_weights *weights = &d->model->weights[w];
        const md_groups groups = space->structure->groups(space->shape, length, weights->kind);
        if (weights->kind != MD_ROW_PARTS)
            add_weights(weights, d->ids, first + groups.row, groups.count, score + groups.first);
    }
}

/* Labels that contradict a given one get a score that no others can make up for. */
static const float RULED_OUT = -1e6f;

static void rule_out(float *score, const int32_t *given, size_t length, size_t labels)
{
    for (size_t i = 0; i < length; i++)
        for (size_t l = 0; given[i] >= 0 && l < labels; l++)
            if (l != (size_t)given[i])
                score[i * labels + l] = RULED_OUT;
}

static void decode_best(const struct decoding *d, struct decoder *decoder, size_t sequence)
{
    const md_space *space = &d->model->space;
    const size_t first = first_row(d, sequence);
    const size_t length = first_row(d, sequence + 1) - first;
    const size_t wanted = d->prediction->best;
    double *values = d->prediction->best_score + sequence * wanted;
    size_t found = space->structure->decode_best(space->shape, length, decoder->score, wanted,
                                                 decoder->best, values, &decoder->workspace);
    while (d->given != NULL && found > 0 && values[found - 1] < (double)RULED_OUT / 2)
        found--;
    for (size_t k = 0; k < wanted; k++) {
        int32_t *to = d->prediction->best_label + k * d->prediction->rows + first;
        if (k < found) {
            memcpy(to, decoder->best + k * length, length * sizeof *to);
            continue;
        }
        values[k] = NAN;
        for (size_t i = 0; i < length; i++)
            to[i] = -1;
    }
}

static void decode_chunk(void *context, size_t chunk, size_t worker)
{
    const struct decoding *d = context;
    struct decoder *decoder = &d->decoders[worker];
    const md_space *space = &d->model->space;
    const size_t labels = space->shape.labels;
    const size_t begin = chunk * CHUNK_SEQUENCES;
    const size_t end =
        d->sequences - begin < CHUNK_SEQUENCES ? d->sequences : begin + CHUNK_SEQUENCES;
    for (size_t s = begin; s < end; s++) {
        const size_t first = first_row(d, s);
        const size_t length = first_row(d, s + 1) - first;
        fill_scores(d, first, length, decoder->score);
        if (d->given != NULL)
            rule_out(decoder->score, d->given + first, length, labels);
        space->structure->decode(space->shape, length, decoder->score,
                                 d->given ? d->given + first : NULL, d->prediction->label + first,
                                 &decoder->workspace);
        if (d->prediction->best > 0)
            decode_best(d, decoder, s);
        if (!d->options->probabilities)
            continue;
        space->structure->log_partition(space->shape, length, decoder->score, decoder->marginal,
                                        &decoder->workspace);
        memcpy(d->prediction->score + first * labels, decoder->marginal,
               length * labels * sizeof(float));
    }
}

static medley_status make_decoders(struct decoding *d, size_t threads, medley_error *error)
{
    const md_space *space = &d->model->space;
    const size_t parts = space->structure->part_count(space->shape, d->longest);
    const size_t wanted = d->prediction->best;
    size_t floats = space->structure->workspace_size(space->shape, d->longest);
    if (wanted > 0) {
        const size_t more = space->structure->best_workspace_size(space->shape, d->longest, wanted);
        floats = more > floats ? more : floats;
    }
    d->decoders = md_calloc(threads, sizeof *d->decoders);
    bool fine = d->decoders != NULL;
    for (size_t t = 0; fine && t < threads; t++) {
        struct decoder *decoder = &d->decoders[t];
        decoder->score = md_calloc(parts, sizeof *decoder->score);
        decoder->marginal =
            md_calloc(d->options->probabilities ? parts : 0, sizeof *decoder->marginal);
        decoder->best = md_calloc(wanted * d->longest, sizeof *decoder->best);
        fine = decoder->score != NULL && decoder->marginal != NULL && decoder->best != NULL &&
               md_workspace_reserve(&decoder->workspace, floats) == 0;
    }
    return fine ? MEDLEY_OK : md_fail_memory(error, threads * (parts + floats) * sizeof(float));
}

static void free_decoders(struct decoding *d, size_t threads)
{
    for (size_t t = 0; d->decoders != NULL && t < threads; t++) {
        free(d->decoders[t].score);
        free(d->decoders[t].marginal);
        free(d->decoders[t].best);
        md_workspace_clear(&d->decoders[t].workspace);
    }
    free(d->decoders);
}

static medley_status decode_all(struct decoding *d, size_t threads, medley_error *error)
{
    medley_status status = MEDLEY_OK;
    int32_t *given = NULL;
    d->longest = 1;
    for (size_t s = 0; s < d->sequences; s++) {
        const size_t length = first_row(d, s + 1) - first_row(d, s);
        d->longest = length > d->longest ? length : d->longest;
    }
    if (d->options->keep_labels && d->dataset->label != NULL) {
        given = md_dataset_map_labels(d->dataset, &d->model->labels);
        if (given == NULL)
            return md_fail_memory(error, d->dataset->rows * sizeof *given);
        d->given = given;
    }
    MEDLEY_TRY(make_decoders(d, threads, error));
    md_parallel_for(threads, (d->sequences + CHUNK_SEQUENCES - 1) / CHUNK_SEQUENCES, decode_chunk,
                    d);
done:
    free_decoders(d, threads);
    free(given);
    return status;
}

/* ---- prediction ---- */

void medley_prediction_free(medley_prediction *prediction)
{
    if (prediction == NULL)
        return;
    free(prediction->label);
    free(prediction->score);
    free(prediction->best_label);
    free(prediction->best_score);
    free(prediction);
}

static medley_status new_prediction(medley_prediction **result, const medley_model *model,
                                    const medley_dataset *dataset, size_t best, medley_error *error)
{
    const size_t rows = dataset->rows;
    const size_t labels = model->labels.count;
    medley_prediction *prediction = md_calloc(1, sizeof *prediction);
    if (prediction == NULL)
        return md_fail_memory(error, sizeof *prediction);
    *result = prediction;
    prediction->rows = rows;
    prediction->labels = labels;
    prediction->sequences = dataset->sequence_count ? dataset->sequence_count : rows;
    prediction->best = best;
    prediction->label = md_calloc(rows, sizeof *prediction->label);
    prediction->score = md_calloc(rows * labels, sizeof *prediction->score);
    prediction->best_label = md_calloc(best * rows, sizeof *prediction->best_label);
    prediction->best_score =
        md_calloc(best * prediction->sequences, sizeof *prediction->best_score);
    if (!prediction->label || !prediction->score || !prediction->best_label ||
        !prediction->best_score)
        return md_fail_memory(error, rows * labels * sizeof(float));
    return MEDLEY_OK;
}

medley_status medley_predict_with(medley_prediction **result, const medley_model *model,
                                  const medley_dataset *dataset,
                                  const medley_predict_options *given, medley_error *error)
{
    enum { MOST_BEST = 20 };
    medley_status status = MEDLEY_OK;
    medley_predict_options options = MEDLEY_PREDICT_OPTIONS_INIT;
    if (given != NULL)
        memcpy(&options, given,
               given->struct_size < sizeof options ? given->struct_size : sizeof options);
    const size_t threads = options.threads ? options.threads : md_processor_count();
    medley_prediction *prediction = NULL;
    md_feature_ids ids = {0};
    if (options.best > MOST_BEST)
        return md_fail(error, MEDLEY_USAGE, "at most the %d best outputs can be asked for",
                       MOST_BEST);
    const double start = md_clock_seconds();
    MEDLEY_TRY(new_prediction(&prediction, model, dataset, options.best, error));
    MEDLEY_TRY(find_ids(model, dataset, threads, &ids, error));
    MEDLEY_TRY(score_rows(model, dataset, &ids, threads, prediction->score, error));
    const double scored = md_clock_seconds();
    struct decoding decoding = {.model = model,
                                .dataset = dataset,
                                .ids = &ids,
                                .prediction = prediction,
                                .options = &options,
                                .sequences = prediction->sequences};
    MEDLEY_TRY(decode_all(&decoding, threads, error));
    prediction->seconds_score = scored - start;
    prediction->seconds_decode = md_clock_seconds() - scored;
    *result = prediction;
    prediction = NULL;
done:
    md_feature_ids_free(&ids);
    medley_prediction_free(prediction);
    return status;
}

medley_status medley_predict(medley_prediction **result, const medley_model *model,
                             const medley_dataset *dataset, size_t threads, medley_error *error)
{
    medley_predict_options options = MEDLEY_PREDICT_OPTIONS_INIT;
    options.threads = threads;
    return medley_predict_with(result, model, dataset, &options, error);
}
