/* SPDX-License-Identifier: BSD-3-Clause */
/* Datasets in memory: selecting rows, and looking at them. */
#include "data/everything.h"

static void selecting_rows_carries_everything(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        md_random random;
        md_random_seed(&random, seed);
        const bool sequences = seed % 2 == 0;
        medley_dataset *dataset = everything(30, sequences, seed);
        medley_dataset *selected = NULL;
        size_t rows[60];
        size_t count = 0;
        const size_t units = sequences ? dataset->sequence_count : 30;
        for (size_t draw = 0; draw < 12 && count < 30; draw++) { /* any order, with repeats */
            const size_t unit = md_random_below(&random, units);
            const size_t end = sequences ? dataset->sequence_start[unit + 1] : unit + 1;
            for (size_t row = sequences ? dataset->sequence_start[unit] : unit;
                 row < end && count < 60; row++)
                rows[count++] = row;
        }
        const bool square = seed % 3 == 0;
        const md_columns columns = {rows, count};
        assert_int_equal(
            md_dataset_select(&selected, dataset, rows, count, square ? &columns : NULL, NULL),
            MEDLEY_OK);
        assert_int_equal(selected->rows, count);
        for (size_t i = 0; i < count; i++)
            assert_int_equal(original(selected, i), rows[i]);
        check_selected(selected, dataset, square ? selected : NULL);
        medley_dataset_free(selected);
        medley_dataset_free(dataset);
    }
}
static void rows_of_sparse_tables_come_out_dense(void **state)
{
    (void)state;
    medley_dataset *dataset;
    assert_int_equal(medley_dataset_create(&dataset, NULL), MEDLEY_OK);
    dataset->rows = 4;
    add_sparse_table(dataset);
    float values[5];
    medley_dataset_row(values, dataset, 2);
    assert_true(values[2] == 2.5f && values[0] == 0 && values[4] == 0);
    size_t height = 9;
    size_t width = 9;
    assert_false(medley_dataset_image_shape(&height, &width, dataset));
    dataset->tables[0].height = 1;
    dataset->tables[0].width = 5;
    assert_true(medley_dataset_image_shape(&height, &width, dataset));
    assert_int_equal(height, 1);
    assert_int_equal(width, 5);
    medley_dataset_free(dataset);
    medley_dataset_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(selecting_rows_carries_everything),
        cmocka_unit_test(rows_of_sparse_tables_come_out_dense),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
