/* SPDX-License-Identifier: BSD-3-Clause */
/* Labels: the scores of rows become the best labels of rows or sequences, and probabilities. */
#include "task/predicting.h"

#include "base/parallel.h"
#include "model/model.h"

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
    md_pool pool; /* of the decoders' arrays */
    const medley_model *model;
    const medley_dataset *dataset;
    const medley_predict_options *options;
    medley_prediction *prediction;
    md_feature_ids ids;
    int32_t *given; /* [rows] labels that are known, or NULL */
    md_shape shape; /* of the model's space, for these data */
    size_t longest, threads;
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
            md_weights_score(weights, &d->ids, first + groups.row, groups.count,
                             score + groups.first);
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

/* Scores whose log-partition has the probabilities as its marginals, from those that decode. */
static void prepare_probabilities(const struct decoding *d, size_t first, size_t length,
                                  float *score)
{
    const md_space *space = &d->model->space;
    const size_t labels = space->shape.labels;
    if (d->model->link == MD_LINK_LOGISTIC)
        md_log_logistic(score, length * labels);
    if (d->model->calibration.factor > 0)
        md_calibration_apply(&d->model->calibration, score,
                             space->structure->part_count(space->shape, length), length, labels);
    if (d->given != NULL) /* whatever the factor has made of it */
        rule_out(score, d->given + first, length, labels);
}

static void decode_chunk(void *context, size_t chunk, size_t worker)
{
    const struct decoding *d = context;
    struct decoder *decoder = &d->decoders[worker];
    const md_space *space = &d->model->space;
    const size_t labels = space->shape.labels;
    const size_t begin = chunk * CHUNK_SEQUENCES;
    const size_t left = d->prediction->sequences - begin;
    const size_t end = begin + (left < CHUNK_SEQUENCES ? left : CHUNK_SEQUENCES);
    for (size_t s = begin; s < end; s++) {
        const size_t first = first_row(d, s);
        const size_t length = first_row(d, s + 1) - first;
        fill_scores(d, first, length, decoder->score);
        if (d->given != NULL)
            rule_out(decoder->score, d->given + first, length, labels);
        md_shape shape = d->shape;
        shape.row = first;
        space->structure->decode(shape, length, decoder->score, d->given ? d->given + first : NULL,
                                 d->prediction->label + first, &decoder->workspace);
        if (d->prediction->best > 0)
            decode_best(d, decoder, s);
        if (!d->options->probabilities)
            continue;
        prepare_probabilities(d, first, length, decoder->score);
        space->structure->log_partition(shape, length, decoder->score, decoder->marginal,
                                        &decoder->workspace);
        memcpy(d->prediction->score + first * labels, decoder->marginal,
               length * labels * sizeof(float));
    }
}

static medley_status make_decoders(struct decoding *d, medley_error *error)
{
    const md_space *space = &d->model->space;
    const size_t parts = space->structure->part_count(space->shape, d->longest);
    const size_t wanted = d->prediction->best;
    size_t floats = space->structure->workspace_size(space->shape, d->longest);
    if (wanted > 0) {
        const size_t more = space->structure->best_workspace_size(space->shape, d->longest, wanted);
        floats = more > floats ? more : floats;
    }
    const size_t marginals = d->options->probabilities ? parts : 0;
    MEDLEY_TRY(md_pool_new(&d->pool, &d->decoders, d->threads, sizeof *d->decoders, error));
    for (size_t t = 0; t < d->threads; t++) {
        struct decoder *decoder = &d->decoders[t];
        MEDLEY_TRY(md_pool_new(&d->pool, &decoder->score, parts, sizeof *decoder->score, error));
        MEDLEY_TRY(
            md_pool_new(&d->pool, &decoder->marginal, marginals, sizeof *decoder->marginal, error));
        MEDLEY_TRY(md_pool_new(&d->pool, &decoder->best, wanted * d->longest, sizeof *decoder->best,
                               error));
        if (md_workspace_reserve(&decoder->workspace, floats) != 0)
            MEDLEY_TRY(md_fail_memory(error, floats * sizeof(float)));
    }
    return MEDLEY_OK;
}

static void clear_decoding(struct decoding *d)
{
    for (size_t t = 0; d->decoders != NULL && t < d->threads; t++)
        md_workspace_clear(&d->decoders[t].workspace);
    md_pool_clear(&d->pool);
    free(d->given);
    md_feature_ids_free(&d->ids);
}

static medley_status decode_all(struct decoding *d, medley_error *error)
{
    const bool looks_ahead = md_looks_ahead(d->model->space); /* from one thread at a time */
    d->threads = looks_ahead ? 1 : d->options->threads;
    d->longest = 1;
    for (size_t s = 0; s < d->prediction->sequences; s++) {
        const size_t length = first_row(d, s + 1) - first_row(d, s);
        d->longest = length > d->longest ? length : d->longest;
    }
    if (d->options->keep_labels && d->dataset->label != NULL) {
        MEDLEY_TRY(md_dataset_map_labels(&d->given, d->dataset, &d->model->labels, error));
    }
    MEDLEY_TRY(make_decoders(d, error));
    md_parallel_for(d->threads, (d->prediction->sequences + CHUNK_SEQUENCES - 1) / CHUNK_SEQUENCES,
                    decode_chunk, d);
    for (size_t t = 0; t < d->threads; t++)
        if (d->decoders[t].workspace.failure != NULL)
            return md_fail_structure(d->model->space, d->decoders[t].workspace.failure, error);
    return MEDLEY_OK;
}

/* ---- prediction ---- */

static medley_status make_room(medley_prediction *p, medley_error *error)
{
    MEDLEY_TRY(md_new(&p->label, p->rows, sizeof *p->label, error));
    MEDLEY_TRY(md_new(&p->score, p->rows * p->labels, sizeof *p->score, error));
    MEDLEY_TRY(md_new(&p->best_label, p->best * p->rows, sizeof *p->best_label, error));
    return md_new(&p->best_score, p->best * p->sequences, sizeof *p->best_score, error);
}

/* The outputs and their bias are scores of all labels, or one for the second of two labels. */
static medley_status score_rows(const struct decoding *d, medley_error *error)
{
    const medley_model *model = d->model;
    const size_t count = model->outputs;
    const size_t size = d->dataset->rows * count;
    float *score = d->prediction->score;
    const md_machine machine = md_machine_of(d->options, d->prediction);
    if (model->bias == NULL && count == model->labels.count)
        return md_model_score(model, d->dataset, &d->ids, &machine, score, error);
    MD_OWNED(free) float *outputs = NULL;
    MEDLEY_TRY(md_new(&outputs, size, sizeof *outputs, error));
    MEDLEY_TRY(md_model_score(model, d->dataset, &d->ids, &machine, outputs, error));
    for (size_t i = 0; i < size; i++)
        score[count == model->labels.count ? i : 2 * i + 1] =
            (float)((double)outputs[i] + (model->bias ? model->bias[i % count] : 0));
    return MEDLEY_OK;
}

medley_status md_labels_predict(medley_prediction *prediction, const md_request *request,
                                medley_error *error)
{
    const double start = md_clock_seconds();
    const medley_model *model = request->model;
    const medley_dataset *dataset = request->dataset;
    const medley_predict_options *options = &request->options;
    MD_CLEARED(clear_decoding)
    struct decoding decoding = {.model = model,
                                .dataset = dataset,
                                .options = options,
                                .prediction = prediction,
                                .shape = model->space.shape};
    decoding.shape.info = dataset->info;
    decoding.shape.info_width = dataset->info_width;
    MEDLEY_TRY(make_room(prediction, error));
    if (model->features != NULL)
        MEDLEY_TRY(
            md_features_apply(model->features, &decoding.ids, dataset, options->threads, error));
    MEDLEY_TRY(score_rows(&decoding, error));
    prediction->seconds_score = md_clock_seconds() - start;
    return decode_all(&decoding, error);
}
