/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the tests of learning piece by piece: noisy classes as dense or sparse rows or as
 * sequences, data cut into pieces, learners fed with them, and models compared by their scores. */
#ifndef TESTS_LEARNER_PIECES_H
#define TESTS_LEARNER_PIECES_H

#include "base/random.h"
#include "data/dataset.h"
#include "fit/fitting.h"

enum { PIECE_COLUMNS = 6 };

struct rows_kind {
    size_t rows, labels;
    bool sparse;
    bool sequences; /* of one to six rows */
    uint64_t seed;
};

static inline void make_sparse(md_matrix *matrix)
{
    md_matrix sparse;
    size_t entries = 0;
    for (size_t i = 0; i < matrix->rows * matrix->columns; i++)
        entries += matrix->dense[i] != 0;
    assert_int_equal(md_matrix_init_sparse(&sparse, matrix->rows, matrix->columns, entries, NULL),
                     MEDLEY_OK);
    entries = 0;
    for (size_t r = 0; r < matrix->rows; r++) {
        for (size_t c = 0; c < matrix->columns; c++)
            if (matrix->dense[r * matrix->columns + c] != 0) {
                sparse.index[entries] = (int32_t)c;
                sparse.value[entries++] = matrix->dense[r * matrix->columns + c];
            }
        sparse.start[r + 1] = entries;
    }
    md_matrix_clear(matrix);
    *matrix = sparse;
}

static inline void make_sequences(medley_dataset *data, md_random *random)
{
    data->sequence_start = calloc(data->rows + 1, sizeof *data->sequence_start);
    assert_non_null(data->sequence_start);
    for (size_t r = 0; r < data->rows;) {
        const size_t length = 1 + md_random_below(random, 6);
        r = data->rows - r < length ? data->rows : r + length;
        data->sequence_start[++data->sequence_count] = r;
    }
}

/* Classes that overlap, so that steps never cease. The first rows have all labels in turn; sparse
 * ones have nothing negative. */
static inline medley_dataset *draw_rows(struct rows_kind kind)
{
    static const char *const names[] = {"ant", "bee", "cow", "dog", "eel", "fox"};
    medley_dataset *data = NULL;
    medley_error error = {0};
    md_random random;
    md_random_seed(&random, kind.seed);
    double *x = calloc(kind.rows * PIECE_COLUMNS, sizeof *x);
    const char **labels = calloc(kind.rows, sizeof *labels);
    assert_true(x != NULL && labels != NULL);
    for (size_t r = 0; r < kind.rows; r++) {
        const size_t label = r < kind.labels ? r : md_random_below(&random, kind.labels);
        labels[r] = names[label];
        for (size_t c = 0; c < PIECE_COLUMNS; c++)
            if (!kind.sparse || md_random_uniform(&random) < 0.4) {
                const double value =
                    0.6 * md_random_normal(&random) + (c % kind.labels == label ? 1 : 0.1);
                x[r * PIECE_COLUMNS + c] = kind.sparse ? fabs(value) : value;
            }
    }
    assert_int_equal(medley_dataset_from_dense(&data, x, kind.rows, PIECE_COLUMNS, labels, &error),
                     MEDLEY_OK);
    if (kind.sparse)
        make_sparse(&data->tables[0].features);
    if (kind.sequences)
        make_sequences(data, &random);
    free(x);
    free(labels);
    return data;
}

/* ---- pieces ---- */

static inline size_t count_examples(const medley_dataset *data)
{
    return data->sequence_count > 0 ? data->sequence_count : data->rows;
}

/* Some rows, or sequences, of data; the names of all labels stay. */
static inline medley_dataset *cut(const medley_dataset *data, size_t first, size_t count)
{
    medley_dataset *piece = NULL;
    const bool sequences = data->sequence_count > 0;
    const size_t from = sequences ? data->sequence_start[first] : first;
    const size_t to = sequences ? data->sequence_start[first + count] : first + count;
    size_t *rows = calloc(to - from + 1, sizeof *rows);
    assert_non_null(rows);
    for (size_t r = from; r < to; r++)
        rows[r - from] = r;
    assert_int_equal(md_dataset_select(&piece, data, rows, to - from, NULL, NULL), MEDLEY_OK);
    free(rows);
    return piece;
}

static inline medley_learner *open_learner(const char *text)
{
    medley_learner *learner = NULL;
    medley_error error = {0};
    medley_options *options = make_options(text);
    if (medley_learner_create(&learner, options, &error) != MEDLEY_OK)
        fail_msg("%s: %s", text, error.message);
    medley_options_free(options); /* they were copied */
    return learner;
}

static inline void feed(medley_learner *learner, const medley_dataset *piece)
{
    medley_error error = {0};
    if (medley_learner_partial_fit(learner, piece, &error) != MEDLEY_OK)
        fail_msg("%s", error.message);
}

static inline void feed_part(medley_learner *learner, const medley_dataset *data, size_t first,
                             size_t count)
{
    medley_dataset *piece = cut(data, first, count);
    feed(learner, piece);
    medley_dataset_free(piece);
}

static inline medley_model *model_of(medley_learner *learner)
{
    medley_model *model = NULL;
    medley_error error = {0};
    if (medley_learner_model(&model, learner, &error) != MEDLEY_OK)
        fail_msg("%s", error.message);
    return model;
}

/* The first piece as given, the others at random: most of them short. */
static inline medley_model *learn_in_pieces(const medley_dataset *data, const char *text,
                                            size_t first, uint64_t seed)
{
    medley_learner *learner = open_learner(text);
    md_random random;
    md_random_seed(&random, seed);
    const size_t examples = count_examples(data);
    for (size_t at = 0, count = first; at < examples; at += count) {
        if (at > 0)
            count = 1 + md_random_below(&random, 1 + md_random_below(&random, examples));
        count = examples - at < count ? examples - at : count;
        feed_part(learner, data, at, count);
    }
    medley_model *model = model_of(learner);
    medley_learner_free(learner);
    return model;
}

static inline medley_model *learn_at_once(const medley_dataset *data, const char *text)
{
    return learn_in_pieces(data, text, count_examples(data), 1);
}

/* ---- models ---- */

static inline double largest_score(const medley_prediction *prediction)
{
    double largest = 0;
    for (size_t i = 0; i < prediction->rows * prediction->labels; i++)
        largest = fmax(largest, fabs((double)prediction->score[i]));
    return largest;
}

/* Label l of the one is label l of the other. */
static inline void compare_models(const medley_model *one, const medley_model *other,
                                  const medley_dataset *test, double tolerance)
{
    medley_prediction *a = predict(one, test);
    medley_prediction *b = predict(other, test);
    const double scale = largest_score(a);
    assert_true(scale > 0);
    assert_int_equal(a->labels, b->labels);
    for (size_t l = 0; l < a->labels; l++)
        assert_string_equal(medley_model_label_name(one, l), medley_model_label_name(other, l));
    for (size_t i = 0; i < a->rows * a->labels; i++)
        if (!(fabs((double)a->score[i] - (double)b->score[i]) <= tolerance * scale))
            fail_msg("row %zu, label %zu: %.9g and %.9g (largest %g)", i / a->labels, i % a->labels,
                     (double)a->score[i], (double)b->score[i], scale);
    for (size_t r = 0; r < a->rows; r++)
        assert_int_equal(a->label[r], b->label[r]);
    medley_prediction_free(a);
    medley_prediction_free(b);
}

static inline void assert_near(double value, double expected, double tolerance)
{
    if (!(fabs(value - expected) <= tolerance))
        fail_msg("%.9g, expected %.9g", value, expected);
}

/* Saved and loaded it scores the same, to the bit. */
static inline void compare_with_loaded(const medley_model *model, const medley_dataset *data)
{
    char path[PATH_SIZE];
    medley_model *loaded = NULL;
    medley_error error = {0};
    temporary_path(path);
    assert_int_equal(medley_model_save(model, path, &error), MEDLEY_OK);
    if (medley_model_load(&loaded, path, &error) != MEDLEY_OK)
        fail_msg("%s", error.message);
    unlink(path);
    compare_models(model, loaded, data, 0);
    medley_model_free(loaded);
}

static inline void assert_same_bytes(const medley_model *one, const medley_model *other)
{
    size_t length, other_length;
    char *bytes = model_bytes(one, &length);
    char *other_bytes = model_bytes(other, &other_length);
    assert_int_equal(length, other_length);
    assert_memory_equal(bytes, other_bytes, length);
    free(bytes);
    free(other_bytes);
}

/* ---- the method ---- */

/* The examples of data such that medley_fit, which shuffles them, meets them as they stand there.
 */
static inline medley_dataset *in_order_of_visits(const medley_dataset *data, uint64_t seed)
{
    medley_dataset *moved = NULL;
    md_random random;
    const size_t examples = count_examples(data);
    size_t *order = calloc(examples, sizeof *order);
    size_t *example = calloc(examples, sizeof *example);
    size_t *rows = calloc(data->rows, sizeof *rows);
    assert_true(order != NULL && example != NULL && rows != NULL);
    for (size_t i = 0; i < examples; i++)
        order[i] = i;
    md_random_seed(&random, seed * 1000003u);
    md_random_shuffle(&random, order, examples);
    for (size_t i = 0; i < examples; i++)
        example[order[i]] = i;
    size_t used = 0;
    for (size_t i = 0; i < examples; i++) {
        const bool sequences = data->sequence_count > 0;
        const size_t first = sequences ? data->sequence_start[example[i]] : example[i];
        const size_t last = sequences ? data->sequence_start[example[i] + 1] : first + 1;
        for (size_t r = first; r < last; r++)
            rows[used++] = r;
    }
    assert_int_equal(md_dataset_select(&moved, data, rows, data->rows, NULL, NULL), MEDLEY_OK);
    free(order);
    free(example);
    free(rows);
    return moved;
}

static inline void compare_summaries(const medley_summary *fitted, const medley_summary *learnt)
{
    const medley_epoch *epoch = &fitted->epochs[0];
    assert_int_equal(learnt->support_rows, fitted->support_rows);
    assert_int_equal(learnt->updates, fitted->updates);
    assert_int_equal(learnt->examples, fitted->examples);
    assert_int_equal(learnt->parts, fitted->parts);
    assert_int_equal(learnt->block_count, fitted->block_count);
    assert_string_equal(learnt->task, fitted->task);
    assert_string_equal(learnt->penalty, fitted->penalty);
    assert_near(learnt->eta0, fitted->eta0, 1e-5 * fitted->eta0);
    assert_near(learnt->lambda, fitted->lambda, 1e-12 * fitted->lambda);
    assert_near(learnt->epochs[0].loss, epoch->loss, 1e-4 * epoch->loss);
    assert_near(learnt->objective, epoch->objective, 1e-4 * epoch->objective);
    for (size_t m = 0; m < fitted->block_count; m++) {
        const medley_block_info *block = &fitted->blocks[m];
        assert_string_equal(learnt->blocks[m].name, block->name);
        assert_int_equal(learnt->blocks[m].features, block->features);
        assert_near(learnt->blocks[m].norm, block->norm, 1e-4 * block->norm);
        assert_near(learnt->blocks[m].weight, block->weight, 1e-4);
    }
}

/* One piece is one epoch of the first stage of method obscure. */
static inline void compare_with_fit(const medley_dataset *data, const char *options)
{
    char text[256];
    medley_dataset *moved = in_order_of_visits(data, 3);
    snprintf(text, sizeof text, "%s seed=3 batch=1 epochs1=1 epochs2=0 method=obscure", options);
    medley_model *fitted = fit(moved, NULL, text);
    medley_model *learnt = learn_at_once(data, text);
    compare_models(fitted, learnt, data, 1e-4);
    compare_summaries(medley_model_summary(fitted), medley_model_summary(learnt));
    medley_model_free(fitted);
    medley_model_free(learnt);
    medley_dataset_free(moved);
}

#endif
