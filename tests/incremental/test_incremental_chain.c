/* SPDX-License-Identifier: BSD-3-Clause */
/* Sequences piece by piece: with every kind of label context, the same model however they are cut,
 * and labels that come late take their place among pairs and triples. */
#include "incremental/pieces.h"

static const char *const cases[] = {
    "kernel=linear kernel=rbf(gamma=0.4)",
    "kernel=rbf(gamma=0.3) bigram=none",
    "kernel=linear kernel=poly order=2 bigram-ends=yes bigram-scale=0.5",
    "kernel=linear(explicit) bigram-ends=yes p=1.1",
    "kernel=rbf(gamma=0.4) kernel=poly loss=logistic order=2 memory=3K",
    "kernel=rbf(gamma=0.4) kernel=linear loss=softmax-margin views=window:1",
};
enum { CASES = sizeof cases / sizeof *cases };

static void any_cutting_of_sequences_gives_the_same_model(void **state)
{
    (void)state;
    for (size_t i = 0; i < CASES; i++)
        for (uint64_t seed = 1; seed <= 4; seed++) {
            char options[256];
            medley_dataset *data = draw_rows((struct rows_kind){.rows = 110,
                                                                .labels = 2 + seed % 3,
                                                                .sparse = seed == 4,
                                                                .sequences = true,
                                                                .seed = 10 * i + seed});
            snprintf(options, sizeof options, "%s eta=0.3 threads=%d", cases[i],
                     1 + (int)(seed % 2));
            medley_model *whole = learn_at_once(data, options);
            medley_model *cut_up = learn_in_pieces(data, options, 3 + seed, seed);
            compare_models(whole, cut_up, data, 1e-4);
            assert_string_equal(medley_model_summary(cut_up)->task, "chain");
            assert_int_equal(medley_model_summary(cut_up)->examples, data->sequence_count);
            assert_int_equal(medley_model_summary(cut_up)->parts, data->rows);
            medley_model_free(whole);
            medley_model_free(cut_up);
            medley_dataset_free(data);
        }
}

static void one_piece_of_sequences_is_one_epoch(void **state)
{
    (void)state;
    for (size_t i = 0; i < CASES; i++) {
        medley_dataset *data = draw_rows(
            (struct rows_kind){.rows = 90, .labels = 3, .sequences = true, .seed = 70 + i});
        compare_with_fit(data, cases[i]);
        medley_dataset_free(data);
    }
}

static void chains_are_saved_and_loaded(void **state)
{
    (void)state;
    for (size_t i = 0; i < CASES; i++) {
        medley_dataset *data = draw_rows(
            (struct rows_kind){.rows = 80, .labels = 3, .sequences = true, .seed = 60 + i});
        medley_model *model = learn_in_pieces(data, cases[i], 4, 3);
        compare_with_loaded(model, data);
        medley_model_free(model);
        medley_dataset_free(data);
    }
}

/* ---- late labels ---- */

/* A data set that knows the labels of its rows only, under other names: label l is names[l]. */
static medley_dataset *renamed(const medley_dataset *data, size_t first, size_t count,
                               const char *const *names)
{
    medley_dataset *piece = cut(data, first, count);
    md_label_builder builder = {0};
    for (size_t r = 0; r < piece->rows; r++) {
        const char *name = names[piece->label[r]];
        assert_int_equal(md_labels_add(&builder, name, strlen(name), NULL), MEDLEY_OK);
    }
    assert_int_equal(md_labels_finish(&builder, piece, NULL), MEDLEY_OK);
    return piece;
}

static medley_model *learn_renamed(const medley_dataset *data, const char *options,
                                   const char *const *names)
{
    medley_learner *learner = open_learner(options);
    for (size_t at = 0, count = 8; at < data->sequence_count; at += count, count = 3) {
        const size_t left = data->sequence_count - at;
        medley_dataset *piece = renamed(data, at, left < count ? left : count, names);
        feed(learner, piece);
        medley_dataset_free(piece);
    }
    medley_model *model = model_of(learner);
    medley_learner_free(learner);
    return model;
}

static size_t label_called(const medley_model *model, const char *name)
{
    for (size_t l = 0; l < medley_model_label_count(model); l++)
        if (strcmp(medley_model_label_name(model, l), name) == 0)
            return l;
    fail_msg("there is no label %s", name);
    return 0;
}

/* Marginals look at all parts. With the logistic loss no two labels ever draw level, so that the
 * order of labels does not matter. */
static void compare_renamed(const medley_model *one, const char *const *names,
                            const medley_model *other, const char *const *other_names,
                            const medley_dataset *data)
{
    medley_predict_options options = MEDLEY_PREDICT_OPTIONS_INIT;
    medley_prediction *a = NULL;
    medley_prediction *b = NULL;
    options.probabilities = true;
    assert_int_equal(medley_predict_with(&a, one, data, &options, NULL), MEDLEY_OK);
    assert_int_equal(medley_predict_with(&b, other, data, &options, NULL), MEDLEY_OK);
    assert_int_equal(a->labels, 4);
    assert_int_equal(b->labels, 4);
    for (size_t l = 0; l < 4; l++) {
        const size_t la = label_called(one, names[l]);
        const size_t lb = label_called(other, other_names[l]);
        for (size_t r = 0; r < data->rows; r++) {
            const double p = (double)a->score[r * 4 + la];
            const double q = (double)b->score[r * 4 + lb];
            if (!(fabs(p - q) <= 1e-4))
                fail_msg("row %zu, label %zu: %g and %g", r, l, p, q);
        }
    }
    medley_prediction_free(a);
    medley_prediction_free(b);
}

/* Labels 1 and 3 come late. Under the first names old labels keep their numbers, under the second
 * they move, and 10 is behind 9 but before "9" as soon as there is a name that is no number. */
static void late_labels_take_their_place(void **state)
{
    (void)state;
    static const char *const last[] = {"a", "c", "b", "d"};
    static const char *const between[] = {"9", "100", "10", "x"};
    static const char *const options[] = {
        "kernel=linear kernel=rbf(gamma=0.4) loss=logistic eta=0.3 order=2 bigram-ends=yes",
        "kernel=linear(explicit) kernel=poly loss=logistic eta=0.1 memory=1K"};
    for (size_t i = 0; i < 2; i++) {
        medley_dataset *data = draw_rows(
            (struct rows_kind){.rows = 150, .labels = 4, .sequences = true, .seed = 20 + i});
        for (size_t r = 0; r < data->rows; r++) {
            if (r < 50 && data->label[r] == 1)
                data->label[r] = 0;
            if (r < 100 && data->label[r] == 3)
                data->label[r] = 2;
        }
        medley_model *one = learn_renamed(data, options[i], last);
        medley_model *other = learn_renamed(data, options[i], between);
        assert_string_equal(medley_model_label_name(other, 0), "10");
        compare_renamed(one, last, other, between, data);
        medley_model_free(one);
        medley_model_free(other);
        medley_dataset_free(data);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_cutting_of_sequences_gives_the_same_model),
        cmocka_unit_test(one_piece_of_sequences_is_one_epoch),
        cmocka_unit_test(chains_are_saved_and_loaded),
        cmocka_unit_test(late_labels_take_their_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
