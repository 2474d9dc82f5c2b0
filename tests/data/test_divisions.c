/* SPDX-License-Identifier: BSD-3-Clause */
/* Datasets in memory: folds, samples and splits. */
#include "data/everything.h"

/* ---- folds ---- */

static void folds_follow_the_fold_column(void **state)
{
    (void)state;
    for (int sequences = 0; sequences < 2; sequences++) {
        medley_dataset *dataset = everything(40, sequences, 3);
        medley_dataset *selected = NULL;
        assert_int_equal(medley_dataset_folds(&selected, dataset, "0,2-3", NULL), MEDLEY_OK);
        check_selected(selected, dataset, selected);
        size_t expected = 0;
        for (size_t row = 0; row < 40; row++) {
            if (dataset->fold[row] == 1)
                continue;
            assert_int_equal(original(selected, expected), row);
            expected++;
        }
        assert_int_equal(selected->rows, expected);
        medley_dataset_free(selected);
        medley_dataset_free(dataset);
    }
}

static void parts_of_a_division_are_stratified_and_always_the_same(void **state)
{
    (void)state;
    medley_dataset *dataset = everything(100, false, 4);
    size_t seen[100] = {0};
    for (int part = 0; part < 5; part++) {
        char folds[16];
        medley_dataset *first = NULL;
        medley_dataset *second = NULL;
        snprintf(folds, sizeof folds, "%d/5", part);
        assert_int_equal(medley_dataset_folds(&first, dataset, folds, NULL), MEDLEY_OK);
        assert_int_equal(medley_dataset_folds(&second, dataset, folds, NULL), MEDLEY_OK);
        check_selected(first, dataset, first);
        assert_int_equal(first->rows, 20);
        size_t counts[3] = {0};
        for (size_t row = 0; row < first->rows; row++) {
            assert_int_equal(original(first, row), original(second, row));
            seen[original(first, row)]++;
            counts[first->label[row]]++;
        }
        for (int label = 0; label < 3; label++) {
            size_t total = 0;
            for (size_t row = 0; row < 100; row++)
                total += dataset->label[row] == label;
            assert_true(counts[label] == total / 5 || counts[label] == (total + 4) / 5);
        }
        medley_dataset_free(first);
        medley_dataset_free(second);
    }
    for (size_t row = 0; row < 100; row++)
        assert_int_equal(seen[row], 1);
    medley_dataset_free(dataset);
}

static void parts_of_a_division_keep_sequences_whole(void **state)
{
    (void)state;
    medley_dataset *dataset = everything(100, true, 5);
    medley_dataset *some = NULL;
    medley_dataset *others = NULL;
    assert_int_equal(medley_dataset_folds(&some, dataset, "0/3", NULL), MEDLEY_OK);
    assert_int_equal(medley_dataset_folds(&others, dataset, "1-2/3", NULL), MEDLEY_OK);
    assert_int_equal(some->sequence_count + others->sequence_count, dataset->sequence_count);
    assert_int_equal(some->rows + others->rows, 100);
    check_selected(some, dataset, some); /* the lines kept show whole sequences */
    check_selected(others, dataset, others);
    medley_dataset_free(some);
    medley_dataset_free(others);
    medley_dataset_free(dataset);
}

static void wrong_folds_are_refused_with_a_remedy(void **state)
{
    (void)state;
    static const struct {
        const char *folds, *phrase;
    } cases[] = {{"", "cannot read the folds"},
                 {"a", "cannot read the folds"},
                 {"1,", "cannot read the folds"},
                 {"3-1", "cannot read the folds"},
                 {"1/", "cannot read the folds"},
                 {"0/1", "cannot read the folds"},
                 {"0/5x", "cannot read the folds"},
                 {"-1", "cannot read the folds"},
                 {"9999999999", "cannot read the folds"},
                 {"7", "fold 7 has no rows"},
                 {"0-9", "fold 4 has no rows"},
                 {"5/5", "fold 5 has no rows"},
                 {"0/50", "cannot divide 40 rows into 50 parts"}};
    medley_dataset *dataset = everything(40, false, 6);
    medley_dataset *selected = NULL;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        medley_error error = {0};
        assert_int_equal(medley_dataset_folds(&selected, dataset, cases[i].folds, &error),
                         MEDLEY_USAGE);
        assert_null(selected);
        if (strstr(error.message, cases[i].phrase) == NULL)
            fail_msg("'%s': '%s'", cases[i].folds, error.message);
    }
    free(dataset->fold);
    dataset->fold = NULL;
    medley_error error = {0};
    assert_int_equal(medley_dataset_folds(&selected, dataset, "1-4", &error), MEDLEY_USAGE);
    assert_non_null(strstr(error.message, "use LIST/K"));
    assert_non_null(strstr(error.message, "1-4/5"));
    medley_dataset_free(dataset);
}

/* ---- samples and splits ---- */

static void samples_keep_the_order_and_depend_on_the_seed(void **state)
{
    (void)state;
    for (int sequences = 0; sequences < 2; sequences++) {
        medley_dataset *dataset = everything(60, sequences, 7);
        const size_t units = sequences ? dataset->sequence_count : 60;
        medley_dataset *samples[3];
        for (size_t i = 0; i < 3; i++) {
            assert_int_equal(medley_dataset_sample(&samples[i], dataset, 8, i / 2, NULL),
                             MEDLEY_OK);
            assert_int_equal(sequences ? samples[i]->sequence_count : samples[i]->rows, 8);
            check_selected(samples[i], dataset, samples[i]);
            for (size_t row = 1; row < samples[i]->rows; row++)
                assert_true(original(samples[i], row) > original(samples[i], row - 1));
        }
        bool different = samples[0]->rows != samples[2]->rows;
        assert_int_equal(samples[0]->rows, samples[1]->rows);
        for (size_t row = 0; row < samples[0]->rows; row++) {
            assert_int_equal(original(samples[0], row), original(samples[1], row));
            different = different || original(samples[0], row) != original(samples[2], row);
        }
        assert_true(different);
        for (size_t i = 0; i < 3; i++)
            medley_dataset_free(samples[i]);
        assert_int_equal(medley_dataset_sample(&samples[0], dataset, units + 5, 1, NULL),
                         MEDLEY_OK);
        assert_int_equal(samples[0]->rows, 60);
        medley_dataset_free(samples[0]);
        medley_error error = {0};
        assert_int_equal(medley_dataset_sample(&samples[0], dataset, 0, 1, &error), MEDLEY_USAGE);
        medley_dataset_free(dataset);
    }
}

static void splits_are_stratified_and_lose_nothing(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 10; seed++) {
        medley_dataset *dataset = everything(90, seed % 5 == 0, seed);
        medley_dataset *kept = NULL;
        medley_dataset *held_out = NULL;
        assert_int_equal(medley_dataset_split(&kept, &held_out, dataset, 0.3, seed, NULL),
                         MEDLEY_OK);
        check_selected(kept, dataset, kept);
        check_selected(held_out, dataset, kept);
        size_t seen[90] = {0};
        for (size_t row = 0; row < kept->rows; row++)
            seen[original(kept, row)]++;
        for (size_t row = 0; row < held_out->rows; row++)
            seen[original(held_out, row)]++;
        for (size_t row = 0; row < 90; row++)
            assert_int_equal(seen[row], 1);
        for (int label = 0; seed % 5 != 0 && label < 3; label++) {
            double total = 0;
            double held = 0;
            for (size_t row = 0; row < 90; row++)
                total += dataset->label[row] == label;
            for (size_t row = 0; row < held_out->rows; row++)
                held += held_out->label[row] == label;
            assert_true(fabs(held - 0.3 * total) <= 1.0);
        }
        if (seed % 5 != 0)
            assert_int_equal(held_out->rows, 27);
        medley_dataset_free(kept);
        medley_dataset_free(held_out);
        medley_dataset_free(dataset);
    }
}

static void splits_of_numbers_that_do_not_repeat_depend_on_the_seed(void **state)
{
    (void)state;
    double values[40];
    char texts[40][8];
    const char *labels[40];
    for (size_t i = 0; i < 40; i++) {
        values[i] = (double)i;
        snprintf(texts[i], sizeof texts[i], "%zu", i * 3);
        labels[i] = texts[i];
    }
    medley_dataset *dataset;
    assert_int_equal(medley_dataset_from_dense(&dataset, values, 40, 1, labels, NULL), MEDLEY_OK);
    bool different = false;
    medley_dataset *kept[2];
    medley_dataset *held_out[2];
    for (uint64_t seed = 0; seed < 2; seed++)
        assert_int_equal(
            medley_dataset_split(&kept[seed], &held_out[seed], dataset, 0.5, seed, NULL),
            MEDLEY_OK);
    for (size_t row = 0; row < 20; row++)
        different = different || held_out[0]->target[row] != held_out[1]->target[row];
    assert_true(different);
    for (size_t i = 0; i < 2; i++) {
        medley_dataset_free(kept[i]);
        medley_dataset_free(held_out[i]);
    }
    medley_dataset_free(dataset);
}

static void splits_that_leave_a_side_empty_are_refused(void **state)
{
    (void)state;
    medley_dataset *dataset = everything(5, false, 1);
    medley_dataset *kept = NULL;
    medley_dataset *held_out = NULL;
    static const double fractions[] = {0, 1, -0.5, 0.01, 0.99, (double)NAN};
    for (size_t i = 0; i < sizeof fractions / sizeof *fractions; i++) {
        medley_error error = {0};
        assert_int_equal(medley_dataset_split(&kept, &held_out, dataset, fractions[i], 1, &error),
                         MEDLEY_USAGE);
        assert_true(error.message[0] != '\0' && kept == NULL && held_out == NULL);
    }
    medley_dataset_free(dataset);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(folds_follow_the_fold_column),
        cmocka_unit_test(parts_of_a_division_are_stratified_and_always_the_same),
        cmocka_unit_test(parts_of_a_division_keep_sequences_whole),
        cmocka_unit_test(wrong_folds_are_refused_with_a_remedy),
        cmocka_unit_test(samples_keep_the_order_and_depend_on_the_seed),
        cmocka_unit_test(splits_are_stratified_and_lose_nothing),
        cmocka_unit_test(splits_of_numbers_that_do_not_repeat_depend_on_the_seed),
        cmocka_unit_test(splits_that_leave_a_side_empty_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
