/* SPDX-License-Identifier: BSD-3-Clause */
/* Tables and kernel values from memory: copies of every layout against the numbers they were made
 * from, borrowed ones, and what is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/random.h"
#include "data/dataset.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_ROWS = 12, MOST_COLUMNS = 9, SEEDS = 200 };

static medley_dataset *empty(void)
{
    medley_dataset *dataset = NULL;
    medley_error error = {0};
    assert_int_equal(medley_dataset_create(&dataset, &error), MEDLEY_OK);
    return dataset;
}

static void put(medley_dataset *dataset, const medley_table *table)
{
    medley_error error = {0};
    if (medley_dataset_put_table(dataset, table, &error) != MEDLEY_OK)
        fail_msg("%s", error.message);
}

static void assert_values(const medley_dataset *dataset, size_t rows, size_t columns,
                          const double *expected)
{
    float found[MOST_COLUMNS];
    assert_int_equal(medley_dataset_rows(dataset), rows);
    assert_int_equal(medley_dataset_columns(dataset), columns);
    for (size_t r = 0; r < rows; r++) {
        medley_dataset_row(found, dataset, r);
        for (size_t c = 0; c < columns; c++)
            assert_true(found[c] == (float)expected[r * columns + c]);
    }
}

/* Every type, stride and alignment; borrowed where it can be and where it cannot. */
static void dense_tables_hold_the_numbers_given(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        md_random random;
        md_random_seed(&random, seed);
        const size_t rows = 1 + md_random_below(&random, MOST_ROWS);
        const size_t columns = 1 + md_random_below(&random, MOST_COLUMNS);
        const size_t stride = columns + md_random_below(&random, 3);
        const size_t shift = md_random_below(&random, 2); /* bytes: 1 is aligned to nothing */
        const bool narrow = md_random_below(&random, 2) == 0;
        double expected[MOST_ROWS * MOST_COLUMNS];
        /* no more memory than the table has: the last row ends with its last column */
        const size_t count = (rows - 1) * stride + columns;
        const size_t size = narrow ? sizeof(float) : sizeof(double);
        char *bytes = malloc(count * size + shift);
        memset(bytes, 0xff, count * size + shift); /* NaN between the rows */
        for (size_t r = 0; r < rows; r++) {
            for (size_t c = 0; c < columns; c++) {
                const double value = 1e3 * md_random_normal(&random);
                const float rounded = (float)value;
                expected[r * columns + c] = value;
                memcpy(bytes + shift + (r * stride + c) * size,
                       narrow ? (const void *)&rounded : (const void *)&value, size);
            }
        }
        medley_table table = MEDLEY_TABLE_INIT;
        table.rows = rows;
        table.columns = columns;
        table.type = narrow ? MEDLEY_FLOAT32 : MEDLEY_FLOAT64;
        table.values = bytes + shift;
        table.stride = stride;
        table.borrow = md_random_below(&random, 2) == 0;
        medley_dataset *dataset = empty();
        put(dataset, &table);
        const bool borrowed = table.borrow && narrow && stride == columns && shift == 0;
        assert_int_equal(dataset->tables[0].features.borrowed, borrowed);
        assert_int_equal((const char *)dataset->tables[0].features.dense == bytes, borrowed);
        assert_values(dataset, rows, columns, expected);
        medley_dataset_free(dataset);
        free(bytes);
    }
}

/* Rows in any order, with columns given several times, some of them empty. */
static void sparse_tables_are_sorted_and_added_up(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        md_random random;
        md_random_seed(&random, seed);
        const size_t rows = 1 + md_random_below(&random, MOST_ROWS);
        const size_t columns = 1 + md_random_below(&random, MOST_COLUMNS);
        const bool narrow = md_random_below(&random, 2) == 0;
        const bool tidy = md_random_below(&random, 2) == 0;
        int64_t start[MOST_ROWS + 1] = {0};
        int32_t index[MOST_ROWS * MOST_COLUMNS];
        float narrow_values[MOST_ROWS * MOST_COLUMNS];
        double values[MOST_ROWS * MOST_COLUMNS];
        double expected[MOST_ROWS * MOST_COLUMNS] = {0};
        size_t used = 0;
        for (size_t r = 0; r < rows; r++) {
            const size_t length = md_random_below(&random, columns + 1);
            for (size_t e = 0; e < length; e++, used++) {
                const size_t column = tidy ? e : md_random_below(&random, columns);
                /* multiples of 1/8: sums are exact in any order */
                values[used] = (double)md_random_below(&random, 100) / 8 - 6;
                narrow_values[used] = (float)values[used];
                index[used] = (int32_t)column;
                expected[r * columns + column] += values[used];
            }
            start[r + 1] = (int64_t)used;
        }
        medley_table table = MEDLEY_TABLE_INIT;
        table.rows = rows;
        table.columns = columns;
        table.type = narrow ? MEDLEY_FLOAT32 : MEDLEY_FLOAT64;
        table.values = narrow ? (const void *)narrow_values : (const void *)values;
        table.start = start;
        table.index = used > 0 ? index : NULL;
        table.borrow = true;
        medley_dataset *dataset = empty();
        put(dataset, &table);
        const md_matrix *features = &dataset->tables[0].features;
        assert_true(md_matrix_is_sparse(features) && !features->borrowed);
        for (size_t r = 0; r < rows; r++)
            for (size_t e = features->start[r] + 1; e < features->start[r + 1]; e++)
                assert_true(features->index[e - 1] < features->index[e]);
        assert_values(dataset, rows, columns, expected);
        medley_dataset_free(dataset);
    }
}

static void further_tables_have_names_and_shapes(void **state)
{
    (void)state;
    const float first[] = {1, 2, 3, 4};
    const double second[] = {5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
    medley_dataset *dataset = empty();
    medley_table table = MEDLEY_TABLE_INIT;
    table.rows = 2;
    table.columns = 2;
    table.type = MEDLEY_FLOAT32;
    table.values = first;
    put(dataset, &table);
    table = (medley_table)MEDLEY_TABLE_INIT;
    table.name = "image";
    table.rows = 2;
    table.columns = 6;
    table.values = second;
    table.height = 2;
    table.width = 3;
    put(dataset, &table);
    assert_int_equal(medley_dataset_table_count(dataset), 2);
    assert_string_equal(medley_dataset_table_name(dataset, 0), "");
    assert_string_equal(medley_dataset_table_name(dataset, 1), "image");
    medley_dataset *image = NULL;
    medley_error error = {0};
    size_t height = 0;
    size_t width = 0;
    assert_int_equal(medley_dataset_keep_table(&image, dataset, 1, &error), MEDLEY_OK);
    assert_true(medley_dataset_image_shape(&height, &width, image));
    assert_int_equal(height, 2);
    assert_int_equal(width, 3);
    assert_values(image, 2, 6, second);
    medley_dataset_free(image);
    medley_dataset_free(dataset);
}

/* An older program's struct is shorter: what it lacks has its default. */
static void short_structs_are_understood(void **state)
{
    (void)state;
    const double values[] = {1, 2, 3, 4, 5, 6};
    medley_table table = MEDLEY_TABLE_INIT;
    table.rows = 3;
    table.columns = 2;
    table.values = values;
    table.height = 77; /* not looked at */
    table.struct_size = offsetof(medley_table, height);
    medley_dataset *dataset = empty();
    put(dataset, &table);
    assert_values(dataset, 3, 2, values);
    medley_dataset_free(dataset);
}

/* ---- refusals ---- */

static void assert_refused(medley_dataset *dataset, const medley_table *table, medley_status code,
                           const char *phrase)
{
    medley_error error = {0};
    const size_t rows = dataset->rows;
    const size_t tables = dataset->table_count;
    assert_int_equal(medley_dataset_put_table(dataset, table, &error), code);
    if (strstr(error.message, phrase) == NULL)
        fail_msg("'%s' does not say '%s'", error.message, phrase);
    assert_int_equal(dataset->rows, rows);
    assert_int_equal(dataset->table_count, tables);
}

static void values_that_are_not_finite_are_refused_with_their_place(void **state)
{
    (void)state;
    const double odd[] = {(double)NAN, (double)INFINITY, -(double)INFINITY, 1e39};
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
        for (size_t place = 0; place < 12; place++) {
            double values[12] = {0};
            float narrow[12] = {0};
            char phrase[64];
            medley_dataset *dataset = empty();
            medley_table table = MEDLEY_TABLE_INIT;
            values[place] = odd[i];
            narrow[place] = (float)odd[i];
            table.rows = 3;
            table.columns = 4;
            table.values = values;
            snprintf(phrase, sizeof phrase, "row %zu, column %zu is %g; finite numbers",
                     place / 4 + 1, place % 4 + 1, odd[i]);
            assert_refused(dataset, &table, MEDLEY_BAD_INPUT, phrase);
            snprintf(phrase, sizeof phrase, "row %zu, column %zu is %g; finite numbers",
                     place / 4 + 1, place % 4 + 1, (double)narrow[place]);
            table.type = MEDLEY_FLOAT32;
            table.values = narrow;
            for (int borrow = 0; borrow < 2; borrow++) {
                table.borrow = borrow == 1;
                assert_refused(dataset, &table, MEDLEY_BAD_INPUT, phrase);
            }
            const int64_t start[] = {0, 4, 8, 12};
            int32_t index[12];
            for (size_t reversed = 0; reversed < 2; reversed++) {
                for (int32_t e = 0; e < 12; e++)
                    index[e] = reversed ? 3 - e % 4 : e % 4;
                table.start = start;
                table.index = index;
                snprintf(phrase, sizeof phrase, "row %zu, column %d is", place / 4 + 1,
                         (int)index[place] + 1);
                assert_refused(dataset, &table, MEDLEY_BAD_INPUT, phrase);
            }
            table.start = NULL;
            table.name = "other";
            assert_refused(dataset, &table, MEDLEY_BAD_INPUT, "view 'other': row ");
            medley_dataset_free(dataset);
        }
    }
}

static void sums_that_overflow_are_refused(void **state)
{
    (void)state;
    const double values[] = {3e38, 3e38};
    const int64_t start[] = {0, 2};
    const int32_t index[] = {1, 1};
    medley_dataset *dataset = empty();
    medley_table table = MEDLEY_TABLE_INIT;
    table.rows = 1;
    table.columns = 3;
    table.values = values;
    table.start = start;
    table.index = index;
    assert_refused(dataset, &table, MEDLEY_BAD_INPUT, "row 1, column 2 is 6e+38");
    medley_dataset_free(dataset);
}

static void tables_that_make_no_sense_are_refused(void **state)
{
    (void)state;
    const double values[12] = {0};
    medley_dataset *dataset = empty();
    medley_table good = MEDLEY_TABLE_INIT;
    good.rows = 3;
    good.columns = 4;
    good.values = values;
    medley_table table = good;
    table.rows = 0;
    assert_refused(dataset, &table, MEDLEY_BAD_INPUT, "0 rows of 4 columns");
    table = good;
    table.columns = 0;
    assert_refused(dataset, &table, MEDLEY_BAD_INPUT, "3 rows of 0 columns");
    table = good;
    table.values = NULL;
    assert_refused(dataset, &table, MEDLEY_USAGE, "are NULL");
    table = good;
    table.stride = 3;
    assert_refused(dataset, &table, MEDLEY_USAGE, "3 numbers apart");
    table = good;
    table.type = (medley_number)7;
    assert_refused(dataset, &table, MEDLEY_USAGE, "type 7");
    table = good;
    table.height = 2;
    table.width = 3;
    assert_refused(dataset, &table, MEDLEY_BAD_INPUT, "images of 2x3");
    table = good;
    table.rows = SIZE_MAX / 8;
    assert_refused(dataset, &table, MEDLEY_FAILED, "memory");
    put(dataset, &good);
    assert_refused(dataset, &good, MEDLEY_USAGE, "two views called ''");
    table = good;
    table.name = "b";
    table.rows = 2;
    assert_refused(dataset, &table, MEDLEY_BAD_INPUT, "has 2 rows, expected 3");
    medley_dataset_free(dataset);
}

static void sparse_rows_that_make_no_sense_are_refused(void **state)
{
    (void)state;
    const double values[4] = {1, 2, 3, 4};
    const int32_t index[4] = {0, 1, 2, 0};
    const int32_t negative[4] = {0, -1, 2, 0};
    const int32_t beyond[4] = {0, 1, 3, 0};
    const int64_t start[3] = {0, 3, 4};
    const int64_t falling[3] = {0, 3, 2};
    const int64_t late[3] = {1, 3, 4};
    const int64_t nothing[3] = {0, 0, 0};
    medley_dataset *dataset = empty();
    medley_table good = MEDLEY_TABLE_INIT;
    good.rows = 2;
    good.columns = 3;
    good.values = values;
    good.start = start;
    good.index = index;
    medley_table table = good;
    table.start = falling;
    assert_refused(dataset, &table, MEDLEY_BAD_INPUT, "row 2 begins at 3 and ends at 2");
    table.start = late;
    assert_refused(dataset, &table, MEDLEY_BAD_INPUT, "begins at 1, expected 0");
    table = good;
    table.index = negative;
    assert_refused(dataset, &table, MEDLEY_BAD_INPUT, "row 1 has an entry in column -1");
    table.index = beyond;
    assert_refused(dataset, &table, MEDLEY_BAD_INPUT, "column 3 (counted from 0)");
    table.index = NULL;
    assert_refused(dataset, &table, MEDLEY_USAGE, "columns are NULL");
    table = good;
    table.values = NULL;
    assert_refused(dataset, &table, MEDLEY_USAGE, "values are NULL");
    table = good;
    table.columns = (size_t)INT32_MAX + 1;
    assert_refused(dataset, &table, MEDLEY_BAD_INPUT, "can be numbered");
    table = good;
    table.start = nothing;
    table.values = NULL;
    table.index = NULL;
    put(dataset, &table); /* rows without entries are rows of zeros */
    const double zeros[6] = {0};
    assert_values(dataset, 2, 3, zeros);
    medley_dataset_free(dataset);
}

/* ---- kernel values ---- */

static void kernel_values_are_kept_rounded_and_wide(void **state)
{
    (void)state;
    for (int wide = 0; wide < 2; wide++) {
        const double values[] = {1 + 1e-12, 2, 0, 3, 4, 0}; /* stride 3 */
        const double diagonal[] = {5, 6};
        const float narrow[] = {1, 2, 3, 4};
        medley_error error = {0};
        medley_dataset *dataset = empty();
        medley_table table = MEDLEY_TABLE_INIT;
        if (wide)
            medley_dataset_keep_wide(dataset);
        table.rows = 2;
        table.columns = 2;
        table.stride = 3;
        table.values = values;
        assert_int_equal(medley_dataset_put_gram(dataset, &table, diagonal, &error), MEDLEY_OK);
        table.name = "borrowed";
        table.stride = 0;
        table.type = MEDLEY_FLOAT32;
        table.values = narrow;
        table.borrow = true;
        assert_int_equal(medley_dataset_put_gram(dataset, &table, NULL, &error), MEDLEY_OK);
        assert_int_equal(dataset->gram_count, 2);
        assert_int_equal(dataset->rows, 2);
        const md_precomputed *first = &dataset->grams[0];
        const md_precomputed *second = &dataset->grams[1];
        assert_string_equal(first->name, "gram1");
        assert_string_equal(second->name, "borrowed");
        for (size_t i = 0; i < 4; i++) {
            assert_true(first->values.dense[i] == (float)(i + 1));
            assert_true(second->values.dense[i] == (float)(i + 1));
        }
        assert_ptr_equal(second->values.dense, narrow);
        assert_int_equal(first->wide != NULL, wide);
        if (wide)
            assert_true(first->wide[0] == 1 + 1e-12 && first->wide[2] == 3);
        assert_true(first->diagonal[0] == 5 && first->diagonal[1] == 6);
        assert_null(second->wide);
        assert_null(second->diagonal);
        medley_dataset_free(dataset);
    }
}

/* Names that the caller took already are left out. */
static void kernels_without_a_name_are_numbered(void **state)
{
    (void)state;
    static const char *const given[] = {"gram2", NULL, "", "gram6", NULL, NULL};
    static const char *const expected[] = {"gram2", "gram3", "gram4", "gram6", "gram5", "gram7"};
    static const double value = 1;
    medley_dataset *dataset = NULL;
    medley_error error = {0};
    assert_int_equal(medley_dataset_create(&dataset, &error), MEDLEY_OK);
    medley_table table = MEDLEY_TABLE_INIT;
    table.rows = table.columns = 1;
    table.values = &value;
    for (size_t i = 0; i < 6; i++) {
        table.name = given[i];
        if (medley_dataset_put_gram(dataset, &table, NULL, &error) != MEDLEY_OK)
            fail_msg("kernel %zu: %s", i, error.message);
        assert_string_equal(dataset->grams[i].name, expected[i]);
    }
    medley_dataset_free(dataset);
}

static void kernel_values_that_do_not_fit_are_refused(void **state)
{
    (void)state;
    const double values[] = {1, 2, 3, 4};
    const double bad[] = {1, 2, (double)NAN, 4};
    const double diagonal[] = {1, (double)INFINITY};
    const int64_t start[] = {0, 2, 4};
    medley_dataset *dataset = empty();
    medley_table good = MEDLEY_TABLE_INIT;
    good.name = "k";
    good.rows = 2;
    good.columns = 2;
    good.values = values;
    medley_table cases[4] = {good, good, good, good};
    const char *phrases[] = {"row 2, column 1 is nan", "sparse", "1 rows, expected 2",
                             "two precomputed kernels called 'k'"};
    medley_error error = {0};
    cases[0].values = bad;
    assert_int_equal(medley_dataset_put_gram(dataset, &cases[0], NULL, &error), MEDLEY_BAD_INPUT);
    assert_int_equal(dataset->rows, 0);
    error = (medley_error){0};
    assert_int_equal(medley_dataset_put_gram(dataset, &good, diagonal, &error), MEDLEY_BAD_INPUT);
    assert_non_null(strstr(error.message, "value 2 is inf"));
    error = (medley_error){0};
    assert_int_equal(medley_dataset_put_gram(dataset, &good, NULL, &error), MEDLEY_OK);
    cases[0].name = "l";
    cases[1].start = start;
    cases[2].rows = 1;
    for (size_t i = 0; i < 4; i++) {
        error = (medley_error){0};
        assert_true(medley_dataset_put_gram(dataset, &cases[i], NULL, &error) < 0);
        if (strstr(error.message, phrases[i]) == NULL)
            fail_msg("'%s' does not say '%s'", error.message, phrases[i]);
        assert_int_equal(dataset->gram_count, 1);
    }
    medley_dataset_free(dataset);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dense_tables_hold_the_numbers_given),
        cmocka_unit_test(sparse_tables_are_sorted_and_added_up),
        cmocka_unit_test(further_tables_have_names_and_shapes),
        cmocka_unit_test(short_structs_are_understood),
        cmocka_unit_test(values_that_are_not_finite_are_refused_with_their_place),
        cmocka_unit_test(sums_that_overflow_are_refused),
        cmocka_unit_test(tables_that_make_no_sense_are_refused),
        cmocka_unit_test(sparse_rows_that_make_no_sense_are_refused),
        cmocka_unit_test(kernel_values_are_kept_rounded_and_wide),
        cmocka_unit_test(kernels_without_a_name_are_numbered),
        cmocka_unit_test(kernel_values_that_do_not_fit_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
