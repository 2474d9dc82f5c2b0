/* SPDX-License-Identifier: BSD-3-Clause */
/* Folds: every row is held out once, labels are spread evenly, sequences stay whole, and the seed
 * decides. */
#include "select/folds.h"

#include "fit/fitting.h"

static int32_t *folds_of(const medley_dataset *dataset, size_t folds, uint64_t seed)
{
    int32_t *part = NULL;
    medley_error error = {0};
    if (md_folds_make(&part, dataset, folds, seed, &error) != MEDLEY_OK)
        fail_msg("%s", error.message);
    return part;
}

/* Rows of a label in a fold; label -1: of any. */
static size_t count_in(const medley_dataset *dataset, const int32_t *part, int32_t fold,
                       int32_t label)
{
    size_t count = 0;
    for (size_t r = 0; r < dataset->rows; r++)
        count += part[r] == fold && (label < 0 || dataset->label[r] == label);
    return count;
}

static void labels_are_spread_evenly(void **state)
{
    (void)state;
    static const size_t rows[] = {23, 60, 101};
    for (size_t i = 0; i < 3; i++) {
        medley_dataset *dataset = make_data("waveform", rows[i], i + 1);
        for (size_t folds = 2; folds < 8; folds++) {
            int32_t *part = folds_of(dataset, folds, 3);
            for (int32_t label = -1; label < (int32_t)dataset->label_names.count; label++) {
                size_t least = SIZE_MAX;
                size_t most = 0;
                for (int32_t f = 0; f < (int32_t)folds; f++) {
                    const size_t count = count_in(dataset, part, f, label);
                    least = count < least ? count : least;
                    most = count > most ? count : most;
                }
                assert_true(most - least <= 1);
            }
            free(part);
        }
        medley_dataset_free(dataset);
    }
}

static void a_cut_has_every_row_once(void **state)
{
    (void)state;
    static const char *const generators[] = {"ringnorm", "handwriting"};
    for (size_t g = 0; g < 2; g++) {
        medley_dataset *dataset = make_data(generators[g], 41, 2);
        int32_t *part = folds_of(dataset, 5, 1);
        medley_error error = {0};
        for (int32_t f = 0; f < 5; f++) {
            medley_dataset *train = NULL;
            medley_dataset *held = NULL;
            medley_dataset *by_name = NULL;
            char name[16];
            assert_int_equal(md_fold_cut(&train, &held, dataset, part, f, &error), MEDLEY_OK);
            assert_int_equal(train->rows + held->rows, dataset->rows);
            assert_int_equal(train->sequence_count + held->sequence_count, dataset->sequence_count);
            assert_int_equal(held->rows, count_in(dataset, part, f, -1));
            snprintf(name, sizeof name, "%d/5", (int)f); /* seed 1 is the division of LIST/K */
            assert_int_equal(medley_dataset_folds(&by_name, dataset, name, &error), MEDLEY_OK);
            const md_matrix *a = &held->tables[0].features;
            const md_matrix *b = &by_name->tables[0].features;
            assert_int_equal(a->rows, b->rows);
            assert_memory_equal(a->dense, b->dense, a->rows * a->columns * sizeof(float));
            medley_dataset_free(train);
            medley_dataset_free(held);
            medley_dataset_free(by_name);
        }
        for (size_t s = 0; s < dataset->sequence_count; s++)
            for (size_t r = dataset->sequence_start[s]; r < dataset->sequence_start[s + 1]; r++)
                assert_int_equal(part[r], part[dataset->sequence_start[s]]);
        free(part);
        medley_dataset_free(dataset);
    }
}

static void the_seed_decides(void **state)
{
    (void)state;
    medley_dataset *dataset = make_data("ringnorm", 80, 1);
    int32_t *one = folds_of(dataset, 4, 7);
    int32_t *same = folds_of(dataset, 4, 7);
    int32_t *other = folds_of(dataset, 4, 8);
    assert_memory_equal(one, same, dataset->rows * sizeof *one);
    assert_true(memcmp(one, other, dataset->rows * sizeof *one) != 0);
    free(one);
    free(same);
    free(other);
    medley_dataset_free(dataset);
}

static void too_few_or_too_many_folds_are_refused(void **state)
{
    (void)state;
    medley_dataset *dataset = make_data("ringnorm", 10, 1);
    static const size_t counts[] = {0, 1, 11, SIZE_MAX};
    for (size_t i = 0; i < 4; i++) {
        int32_t *part = NULL;
        medley_error error = {0};
        assert_int_equal(md_folds_make(&part, dataset, counts[i], 1, &error), MEDLEY_USAGE);
        assert_true(error.message[0] != '\0');
        assert_null(part);
    }
    medley_dataset_free(dataset);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(labels_are_spread_evenly),
        cmocka_unit_test(a_cut_has_every_row_once),
        cmocka_unit_test(the_seed_decides),
        cmocka_unit_test(too_few_or_too_many_folds_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
