/* SPDX-License-Identifier: BSD-3-Clause */
/* Learning piece by piece: the same model however the examples are cut, and the same as the method
 * obscure where that meets the examples in the same order. */
#include "incremental/pieces.h"

#include "model/model.h"

/* Some of these are kept as weights, as a kernel, or computed on the fly. */
static const struct {
    bool sparse;
    const char *options;
} cases[] = {
    {false, "kernel=linear kernel=poly(degree=2) kernel=rbf(gamma=0.4)"},
    {false, "kernel=linear(explicit) kernel=rbf(gamma={0.1,0.5,2}) p=1.05"},
    {false, "kernel=linear kernel=rbf(gamma=0.3) normalize=diag p=2"},
    {false, "kernel=linear kernel=poly(degree=3) kernel=bias memory=2K"},
    {false, "kernel=linear(explicit) kernel=laplace(gamma=0.3) views=each block-scale=linear*=0.5"},
    {false, "kernel=rbf(gamma=0.2) kernel=poly block-scale=rbf*=2 block-scale=poly*=0.3 memory=1K"},
    {false, "kernel=linear kernel=rbf(gamma=0.4) loss=logistic"},
    {false, "kernel=linear(explicit) kernel=linear"},
    {true, "kernel=linear kernel=poly(degree=2) kernel=rbf(gamma=0.4)"},
    {true,
     "kernel=linear(explicit) kernel=rbf(gamma=0.4) kernel=intersection kernel=laplace(gamma=0.2)"},
    {true, "kernel=linear(norm=diag) kernel=poly(norm=diag) loss=softmax-margin memory=2K"},
};
enum { CASES = sizeof cases / sizeof *cases };

static void any_cutting_gives_the_same_model(void **state)
{
    (void)state;
    for (size_t i = 0; i < CASES; i++)
        for (uint64_t seed = 1; seed <= 4; seed++) {
            char options[256];
            const struct rows_kind kind = {
                .rows = 90, .labels = 2 + seed % 3, .sparse = cases[i].sparse, .seed = seed};
            medley_dataset *data = draw_rows(kind);
            snprintf(options, sizeof options, "%s eta=0.7 threads=%d", cases[i].options,
                     1 + (int)(seed % 2));
            medley_model *whole = learn_at_once(data, options);
            medley_model *cut_up = learn_in_pieces(data, options, 2 + 9 * seed, seed);
            compare_models(whole, cut_up, data, 1e-4);
            medley_model_free(whole);
            medley_model_free(cut_up);
            medley_dataset_free(data);
        }
}

/* With the same first piece everything that is chosen from data is the same. */
static void choices_are_those_of_the_first_piece(void **state)
{
    (void)state;
    static const char *const options[] = {
        "", "kernel=rbf(auto) kernel=linear scale=standard normalize=trace",
        "kernel=chi2(auto) kernel=intersection scale=minmax p=1.1"};
    for (size_t i = 0; i < 3; i++)
        for (size_t sparse = 0; sparse < 2; sparse++) {
            medley_dataset *data = draw_rows(
                (struct rows_kind){.rows = 120, .labels = 3, .sparse = sparse, .seed = 5 + i});
            medley_model *one = learn_in_pieces(data, options[i], 40, 1);
            medley_model *other = learn_in_pieces(data, options[i], 40, 2);
            compare_models(one, other, data, 1e-4);
            medley_model_free(one);
            medley_model_free(other);
            medley_dataset_free(data);
        }
}

/* ---- the method ---- */

static void one_piece_is_one_epoch_of_the_first_stage(void **state)
{
    (void)state;
    for (size_t i = 0; i < CASES; i++) {
        medley_dataset *data = draw_rows(
            (struct rows_kind){.rows = 70, .labels = 4, .sparse = cases[i].sparse, .seed = i});
        compare_with_fit(data, cases[i].options);
        medley_dataset_free(data);
    }
}

/* ---- special cases ---- */

/* The same row with both labels in turn: theta vanishes at every second example, wherever pieces
 * end. */
static void what_vanishes_stays_gone(void **state)
{
    (void)state;
    enum { ROWS = 11 };
    const double last[PIECE_COLUMNS] = {0.3, 1, 0, 0.5};
    double x[ROWS * PIECE_COLUMNS] = {0};
    const char *labels[ROWS];
    medley_dataset *data = NULL;
    for (size_t r = 0; r < ROWS; r++) {
        labels[r] = r % 2 == 0 ? "a" : "b";
        for (size_t c = 0; c < PIECE_COLUMNS; c++)
            x[r * PIECE_COLUMNS + c] = r + 1 < ROWS ? 0.5 : last[c];
    }
    assert_int_equal(medley_dataset_from_dense(&data, x, ROWS, PIECE_COLUMNS, labels, NULL),
                     MEDLEY_OK);
    for (size_t first = 2; first < ROWS; first++)
        for (size_t step = 1; step <= 2; step++) {
            medley_learner *learner = open_learner("kernel=rbf(gamma=1) kernel=linear eta=2");
            feed_part(learner, data, 0, first);
            for (size_t at = first; at < ROWS; at += step)
                feed_part(learner, data, at, ROWS - at < step ? ROWS - at : step);
            medley_model *cut_up = model_of(learner);
            medley_model *whole = learn_at_once(data, "kernel=rbf(gamma=1) kernel=linear eta=2");
            compare_models(whole, cut_up, data, 1e-4);
            medley_model_free(whole);
            medley_model_free(cut_up);
            medley_learner_free(learner);
        }
    medley_dataset_free(data);
}

/* Files of a sparse format end where their last column is. */
static medley_dataset *without_last_columns(const medley_dataset *data, size_t first, size_t count,
                                            size_t columns)
{
    medley_dataset *piece = cut(data, first, count);
    md_matrix *matrix = &piece->tables[0].features;
    size_t used = 0;
    for (size_t r = 0, e = 0; r < matrix->rows; r++) {
        for (; e < matrix->start[r + 1]; e++)
            if ((size_t)matrix->index[e] < columns) {
                matrix->index[used] = matrix->index[e];
                matrix->value[used++] = matrix->value[e];
            }
        matrix->start[r + 1] = used;
    }
    matrix->columns = columns;
    return piece;
}

/* Rows 0 .. 29 have none of the last columns. */
static medley_dataset *draw_with_late_columns(uint64_t seed)
{
    medley_dataset *data =
        draw_rows((struct rows_kind){.rows = 80, .labels = 3, .sparse = true, .seed = seed});
    md_matrix *matrix = &data->tables[0].features;
    for (size_t e = 0; e < matrix->start[30]; e++)
        matrix->value[e] = matrix->index[e] < 3 ? matrix->value[e] : 0;
    return data;
}

static medley_model *learn_with_late_columns(const medley_dataset *data, const char *options)
{
    medley_dataset *first = without_last_columns(data, 0, 30, 3);
    medley_learner *learner = open_learner(options);
    feed(learner, first);
    feed_part(learner, data, 30, 50);
    medley_model *model = model_of(learner);
    medley_learner_free(learner);
    medley_dataset_free(first);
    return model;
}

static void columns_may_come_late(void **state)
{
    (void)state;
    static const char *const options[] = {
        "eta=0.5 kernel=linear(explicit) kernel=rbf(gamma=0.4) kernel=intersection",
        "eta=0.5 kernel=linear(explicit)", "eta=0.5 kernel=poly"};
    for (size_t i = 0; i < 3; i++) {
        medley_dataset *data = draw_with_late_columns(40 + i);
        medley_model *whole = learn_at_once(data, options[i]);
        medley_model *cut_up = learn_with_late_columns(data, options[i]);
        compare_models(whole, cut_up, data, 1e-4);
        compare_with_loaded(cut_up, data);
        assert_int_equal(medley_model_columns(cut_up, ""), PIECE_COLUMNS);
        medley_model_free(whole);
        medley_model_free(cut_up);
        medley_dataset_free(data);
    }
}

/* No row joins the support, but there are columns now that none of its rows has. */
static void columns_may_come_with_nothing_new(void **state)
{
    (void)state;
    medley_dataset *data =
        draw_rows((struct rows_kind){.rows = 20, .labels = 2, .sparse = true, .seed = 60});
    medley_learner *learner = open_learner("kernel=rbf(gamma=50) kernel=linear(explicit) eta=20");
    feed(learner, data);
    feed(learner, data);
    feed(learner, data);
    medley_model *before = model_of(learner);
    data->tables[0].features.columns += 4;
    feed(learner, data);
    medley_model *after = model_of(learner);
    assert_int_equal(medley_model_summary(before)->updates, medley_model_summary(after)->updates);
    compare_models(before, after, data, 0);
    compare_with_loaded(after, data);
    assert_int_equal(medley_model_columns(after, ""), PIECE_COLUMNS + 4);
    medley_model_free(before);
    medley_model_free(after);
    medley_learner_free(learner);
    medley_dataset_free(data);
}

/* The first columns are divided by what is largest in the first piece, the others stay. */
static void late_columns_are_not_scaled(void **state)
{
    (void)state;
    static const char options[] = "eta=0.5 kernel=linear(explicit) kernel=poly";
    char scaled_options[128];
    medley_dataset *data = draw_with_late_columns(50);
    medley_dataset *scaled = cut(data, 0, data->rows);
    md_matrix *matrix = &scaled->tables[0].features;
    float largest[PIECE_COLUMNS] = {0};
    for (size_t e = 0; e < matrix->start[30]; e++)
        largest[matrix->index[e]] = fmaxf(largest[matrix->index[e]], matrix->value[e]);
    for (size_t e = 0; e < matrix->start[80]; e++)
        if (matrix->index[e] < 3)
            matrix->value[e] /= largest[matrix->index[e]];
    snprintf(scaled_options, sizeof scaled_options, "%s scale=minmax", options);
    medley_model *by_hand = learn_at_once(scaled, options);
    medley_model *model = learn_with_late_columns(data, scaled_options);
    compare_with_loaded(model, data);
    medley_prediction *expected = predict(by_hand, scaled);
    medley_prediction *prediction = predict(model, data);
    const double scale = largest_score(expected);
    for (size_t i = 0; i < 80 * 3; i++)
        assert_near((double)prediction->score[i], (double)expected->score[i], 1e-4 * scale);
    medley_prediction_free(expected);
    medley_prediction_free(prediction);
    medley_model_free(by_hand);
    medley_model_free(model);
    medley_dataset_free(scaled);
    medley_dataset_free(data);
}

/* ---- what one gets ---- */

/* Support rows carry the numbers they had among all rows, in order. */
static void check_support(const medley_model *model, const medley_dataset *data)
{
    const md_matrix *rows = &data->tables[0].features;
    for (size_t i = 0; i < model->support_count; i++) {
        const size_t row = model->support_row[i];
        assert_true(row < data->rows && (i == 0 || row > model->support_row[i - 1]));
        if (md_matrix_is_sparse(rows) && model->prepared.used[0])
            assert_int_equal(rows->start[row + 1] - rows->start[row],
                             model->prepared.views[0].start[i + 1] -
                                 model->prepared.views[0].start[i]);
        const float *origin = model->bank.origin[0];
        for (size_t c = 0; !md_matrix_is_sparse(rows) && model->prepared.used[0] &&
                           c < model->prepared.views[0].columns;
             c++) {
            const float value =
                model->prepared.views[0].dense[i * model->prepared.views[0].columns + c];
            assert_near((double)value + (origin ? (double)origin[c] : 0),
                        (double)rows->dense[row * PIECE_COLUMNS + c], 1e-5);
        }
    }
}

static void models_are_as_good_as_any(void **state)
{
    (void)state;
    for (size_t i = 0; i < CASES; i++) {
        medley_dataset *data = draw_rows(
            (struct rows_kind){.rows = 60, .labels = 3, .sparse = cases[i].sparse, .seed = i});
        medley_model *model = learn_in_pieces(data, cases[i].options, 20, 5);
        compare_with_loaded(model, data);
        assert_true(accuracy_of(model, data) > 0.45); /* by chance a third */
        const medley_summary *summary = medley_model_summary(model);
        assert_string_equal(summary->method, "obscure");
        assert_int_equal(summary->examples, 60);
        assert_int_equal(summary->parts, 60);
        assert_int_equal(summary->active_blocks, summary->block_count);
        check_support(model, data);
        medley_model_free(model);
        medley_dataset_free(data);
    }
}

/* Neither models on the way nor the number of threads change a bit. */
static void learning_goes_on_behind_a_model(void **state)
{
    (void)state;
    medley_dataset *data = draw_rows((struct rows_kind){.rows = 300, .labels = 5, .seed = 3});
    medley_model *last[3];
    for (size_t way = 0; way < 3; way++) {
        medley_learner *learner = open_learner(
            way == 2 ? "threads=2 eta=1 kernel=rbf(gamma=0.2) kernel=poly memory=200K"
                     : "threads=1 eta=1 kernel=rbf(gamma=0.2) kernel=poly memory=200K");
        for (size_t at = 0; at < 300; at += 100) {
            feed_part(learner, data, at, 100);
            medley_model *model = way == 1 ? model_of(learner) : NULL;
            medley_model_free(model);
        }
        last[way] = model_of(learner);
        medley_learner_free(learner);
    }
    assert_same_bytes(last[0], last[1]);
    assert_same_bytes(last[0], last[2]);
    for (size_t way = 0; way < 3; way++)
        medley_model_free(last[way]);
    medley_dataset_free(data);
}

/* Nothing is left to learn: no support joins, and the model stays what it is. */
static void a_piece_may_bring_nothing_new(void **state)
{
    (void)state;
    medley_dataset *data = draw_rows((struct rows_kind){.rows = 40, .labels = 2, .seed = 9});
    medley_learner *learner = open_learner("kernel=rbf(gamma=50) eta=20");
    feed(learner, data);
    medley_model *before = model_of(learner);
    for (size_t r = 0; r < 40; r++)
        feed_part(learner, data, r, 1);
    medley_model *after = model_of(learner);
    assert_int_equal(medley_model_summary(before)->support_rows,
                     medley_model_summary(after)->support_rows);
    assert_int_equal(medley_model_summary(after)->examples, 80);
    compare_models(before, after, data, 1e-6);
    medley_model_free(before);
    medley_model_free(after);
    medley_learner_free(learner);
    medley_dataset_free(data);
}

/* How the columns are scaled after a first piece of so many rows. */
static void check_scale(const char *options, size_t first, const char *scale)
{
    medley_dataset *data = draw_rows((struct rows_kind){.rows = 120, .labels = 3, .seed = 8});
    md_matrix *matrix = &data->tables[0].features;
    for (size_t r = 0; r < matrix->rows; r++)
        matrix->dense[r * matrix->columns] *= 1000;
    medley_learner *learner = open_learner(options);
    medley_dataset *bad = cut(data, 0, 60);
    bad->label[3] = -1; /* what a piece has decided that was not learnt from is forgotten */
    medley_error error = {0};
    assert_true(medley_learner_partial_fit(learner, bad, &error) < 0);
    feed_part(learner, data, 0, first);
    feed_part(learner, data, first, 120 - first);
    medley_model *model = model_of(learner);
    assert_string_equal(medley_model_summary(model)->scale, scale);
    medley_model_free(model);
    medley_learner_free(learner);
    medley_dataset_free(bad);
    medley_dataset_free(data);
}

/* A handful of rows says nothing about deviations. */
static void a_large_first_piece_decides_about_the_scale(void **state)
{
    (void)state;
    check_scale("kernel=rbf(auto)", 60, "standard");
    check_scale("", 60, "standard");
    check_scale("kernel=rbf(auto)", 20, "none");
    check_scale("kernel=rbf(auto) scale=auto", 20, "standard");
    check_scale("kernel=rbf(auto) scale=minmax", 20, "minmax");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_cutting_gives_the_same_model),
        cmocka_unit_test(choices_are_those_of_the_first_piece),
        cmocka_unit_test(one_piece_is_one_epoch_of_the_first_stage),
        cmocka_unit_test(what_vanishes_stays_gone),
        cmocka_unit_test(columns_may_come_late),
        cmocka_unit_test(columns_may_come_with_nothing_new),
        cmocka_unit_test(late_columns_are_not_scaled),
        cmocka_unit_test(models_are_as_good_as_any),
        cmocka_unit_test(learning_goes_on_behind_a_model),
        cmocka_unit_test(a_piece_may_bring_nothing_new),
        cmocka_unit_test(a_large_first_piece_decides_about_the_scale),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
