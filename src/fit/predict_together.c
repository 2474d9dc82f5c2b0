/* SPDX-License-Identifier: BSD-3-Clause */
/* Prediction by several ranks: each predicts a share of the rows, in whole sequences, and all get
 * everything. What is predicted of a row does not depend on its company, so the result is that of a
 * single process, to the bit. */
#include "fit/fit.h"

#include "data/dataset.h"

/* How the numbers of an array of a prediction belong to rows or sequences. */
enum layout { BY_ROW, BY_ROW_AND_LABEL, BY_RANK_AND_ROW, BY_SEQUENCE, BY_ARC };

static const struct array {
    size_t place, bytes; /* of the pointer in a prediction; of an element */
    enum layout layout;
} arrays[] = {
    {offsetof(medley_prediction, value), sizeof(double), BY_ROW},
    {offsetof(medley_prediction, label), sizeof(int32_t), BY_ROW},
    {offsetof(medley_prediction, score), sizeof(float), BY_ROW_AND_LABEL},
    {offsetof(medley_prediction, best_label), sizeof(int32_t), BY_RANK_AND_ROW},
    {offsetof(medley_prediction, best_score), sizeof(double), BY_SEQUENCE},
    {offsetof(medley_prediction, head), sizeof(int32_t), BY_ROW},
    {offsetof(medley_prediction, head_probability), sizeof(float), BY_ROW},
    {offsetof(medley_prediction, arc_probability), sizeof(float), BY_ARC},
    {offsetof(medley_prediction, best_head), sizeof(int32_t), BY_RANK_AND_ROW},
    {offsetof(medley_prediction, best_probability), sizeof(double), BY_SEQUENCE},
    {offsetof(medley_prediction, best_label_probability), sizeof(float), BY_RANK_AND_ROW},
};
enum { ARRAYS = sizeof arrays / sizeof arrays[0] };

/* Where the shares of ranks begin: [size + 1] each. */
struct shares {
    md_pool pool;
    size_t *sequence, *row, *arc;
    size_t *scaled; /* scratch */
};

static void clear_shares(struct shares *shares)
{
    md_pool_clear(&shares->pool);
}

static void **array_of(medley_prediction *prediction, const struct array *array)
{
    return (void **)((char *)prediction + array->place);
}

/* Sequences in order, about as many rows for each rank. */
static medley_status find_shares(struct shares *shares, const medley_dataset *dataset, size_t size,
                                 medley_error *error)
{
    const size_t sequences = dataset->sequence_count ? dataset->sequence_count : dataset->rows;
    md_pool *pool = &shares->pool;
    MEDLEY_TRY(md_pool_new(pool, &shares->sequence, size + 1, sizeof(size_t), error));
    MEDLEY_TRY(md_pool_new(pool, &shares->row, size + 1, sizeof(size_t), error));
    MEDLEY_TRY(md_pool_new(pool, &shares->arc, size + 1, sizeof(size_t), error));
    MEDLEY_TRY(md_pool_new(pool, &shares->scaled, size + 1, sizeof(size_t), error));
    size_t arcs = 0;
    for (size_t s = 0, r = 0; s <= sequences; s++) {
        const size_t row = md_dataset_unit_start(dataset, s);
        while (r <= size && (s == sequences || row * size >= r * dataset->rows)) {
            shares->sequence[r] = s;
            shares->row[r] = row;
            shares->arc[r++] = arcs;
        }
        const size_t length = s < sequences ? md_dataset_unit_start(dataset, s + 1) - row : 0;
        arcs += length * (length + 1);
    }
    return MEDLEY_OK;
}

/* The prediction of this rank's rows; NULL: it has none. */
static medley_status predict_share(medley_prediction **own, const md_request *request,
                                   const struct shares *shares, medley_error *error)
{
    const size_t rank = medley_comm_rank(request->options.comm);
    const size_t first = shares->row[rank];
    const size_t count = shares->row[rank + 1] - first;
    medley_predict_options options = request->options;
    MD_OWNED(free) size_t *rows = NULL;
    MD_OWNED(medley_dataset_free) medley_dataset *part = NULL;
    options.comm = NULL;
    if (md_device_is_auto(options.device))
        options.device = "cpu"; /* which ranks have enough of */
    if (count == 0)
        return MEDLEY_OK;
    MEDLEY_TRY(md_new(&rows, count, sizeof *rows, error));
    for (size_t i = 0; i < count; i++)
        rows[i] = first + i;
    MEDLEY_TRY(md_dataset_select(&part, request->dataset, rows, count, NULL, error));
    return medley_predict_with(own, request->model, part, &options, error);
}

/* ---- putting together ---- */

/* offset[size + 1] of the shares in one piece of an array, in elements; *pieces: how many. */
static const size_t *layout_of(struct shares *shares, const struct array *array, size_t size,
                               const medley_prediction *whole, size_t *pieces)
{
    const size_t *from = array->layout == BY_ARC        ? shares->arc
                         : array->layout == BY_SEQUENCE ? shares->sequence
                                                        : shares->row;
    const size_t each = array->layout == BY_ROW_AND_LABEL ? whole->labels
                        : array->layout == BY_SEQUENCE    ? whole->best
                                                          : 1;
    *pieces = array->layout == BY_RANK_AND_ROW ? whole->best : 1;
    for (size_t r = 0; r <= size; r++)
        shares->scaled[r] = from[r] * each;
    return shares->scaled;
}

static medley_status join_array(medley_prediction *whole, medley_prediction *own,
                                const struct array *array, struct shares *shares, medley_comm *comm,
                                medley_error *error)
{
    const size_t size = medley_comm_size(comm);
    const size_t rank = medley_comm_rank(comm);
    size_t pieces;
    const size_t *offset = layout_of(shares, array, size, whole, &pieces);
    const size_t width = offset[rank + 1] - offset[rank];
    char *data = NULL;
    MEDLEY_TRY(md_new(&data, pieces * offset[size], array->bytes, error));
    *array_of(whole, array) = data;
    for (size_t k = 0; k < pieces; k++) {
        char *piece = data + k * offset[size] * array->bytes;
        if (width > 0)
            memcpy(piece + offset[rank] * array->bytes,
                   (char *)*array_of(own, array) + k * width * array->bytes, width * array->bytes);
        MEDLEY_TRY(md_comm_gather_spans(comm, piece, offset, array->bytes, error));
    }
    return MEDLEY_OK;
}

/* Which arrays there are, as ranks with rows know. */
static medley_status find_arrays(bool has[ARRAYS], medley_prediction *own, medley_comm *comm,
                                 medley_error *error)
{
    double absent[ARRAYS];
    for (size_t a = 0; a < ARRAYS; a++)
        absent[a] = own == NULL || *array_of(own, &arrays[a]) == NULL ? 0 : 1;
    MEDLEY_TRY(md_comm_sum(comm, absent, ARRAYS, error));
    for (size_t a = 0; a < ARRAYS; a++)
        has[a] = absent[a] > 0;
    return MEDLEY_OK;
}

static medley_status join(medley_prediction *whole, medley_prediction *own, struct shares *shares,
                          medley_comm *comm, medley_error *error)
{
    bool has[ARRAYS];
    MEDLEY_TRY(find_arrays(has, own, comm, error));
    for (size_t a = 0; a < ARRAYS; a++)
        if (has[a])
            MEDLEY_TRY(join_array(whole, own, &arrays[a], shares, comm, error));
    return MEDLEY_OK;
}

medley_status md_predict_together(medley_prediction **result, const md_request *request,
                                  medley_error *error)
{
    const medley_dataset *dataset = request->dataset;
    medley_comm *comm = request->options.comm;
    MD_CLEARED(clear_shares) struct shares shares = {0};
    MD_OWNED(medley_prediction_free) medley_prediction *own = NULL;
    MD_OWNED(medley_prediction_free) medley_prediction *whole = NULL;
    medley_error ignored = {0};
    const double start = md_clock_seconds();
    MEDLEY_TRY(find_shares(&shares, dataset, medley_comm_size(comm), error));
    bool fails = predict_share(&own, request, &shares, &ignored) < 0;
    MEDLEY_TRY(md_comm_any(comm, &fails, error));
    if (fails || dataset->rows == 0) { /* what is wrong is told as it is told of all rows */
        medley_predict_options alone = request->options;
        alone.comm = NULL;
        return medley_predict_with(result, request->model, dataset, &alone, error);
    }
    MEDLEY_TRY(md_new(&whole, 1, sizeof *whole, error));
    whole->rows = dataset->rows;
    whole->labels = request->model->labels.count;
    whole->sequences = dataset->sequence_count ? dataset->sequence_count : dataset->rows;
    whole->best = request->options.best;
    whole->probabilities = request->options.probabilities;
    if (own != NULL)
        memcpy(whole->device, own->device, sizeof whole->device);
    /* rank 0 has rows */
    MEDLEY_TRY(md_comm_broadcast(comm, whole->device, sizeof whole->device, error));
    MEDLEY_TRY(join(whole, own, &shares, comm, error));
    whole->seconds_score = own != NULL ? own->seconds_score : 0;
    whole->seconds_decode = md_clock_seconds() - start - whole->seconds_score;
    *result = md_take(&whole);
    return MEDLEY_OK;
}
