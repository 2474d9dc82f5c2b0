/* SPDX-License-Identifier: BSD-3-Clause */
/* Columns known by name: found again in files that number them differently, and one view per prefix
 * of their names. */
#include "view/view_data.h"

#include "base/memory.h"

static const char *const names[] = {"w=a", "w=b", "p=N", "bias", "w=c", "p=V", NULL};
static const float training[] = {1, 0, 2, 1, 0, 0, /**/ 0, 3, 0, 1, 4, 5}; /* 2 x 6 */

static medley_dataset *training_data(void)
{
    medley_dataset *dataset = NULL;
    name_columns(add_sparse(&dataset, "", 2, 6, training), names);
    return dataset;
}

static void columns_are_found_by_name(void **state)
{
    (void)state;
    static const char *const other[] = {"p=V", "x=y", "w=c", "w=a", "bias", NULL};
    static const float fresh[] = {10, 20, 30, 40, 50, /**/ 0, 1, 0, 2, 0};
    static const float expected[] = {40, 0, 0, 50, 30, 10, /**/ 2, 0, 0, 0, 0, 0};
    medley_dataset *train = training_data();
    medley_dataset *sparse = NULL;
    medley_dataset *dense = NULL;
    name_columns(add_sparse(&sparse, "", 2, 5, fresh), other);
    name_columns(add_dense(&dense, "", 2, 5, fresh), other);
    md_view view = view_of(train, "all");
    assert_int_equal(view.names.count, 6);
    check_extracted(&view, train, 6, training);
    check_extracted(&view, sparse, 6, expected);
    check_extracted(&view, dense, 6, expected);
    md_matrix matrix = {0}; /* entries in the order of their columns, nothing else */
    assert_int_equal(md_view_extract(&matrix, &view, sparse, NULL), MEDLEY_OK);
    static const int32_t order[] = {0, 3, 4, 5, 0};
    assert_int_equal(matrix.start[2], 5);
    assert_memory_equal(matrix.index, order, sizeof order);
    md_matrix_clear(&matrix);
    assert_int_equal(md_view_fit_scale(&view, MD_SCALE_MAXABS, train, NULL), MEDLEY_OK);
    static const float scaled[] = {40, 0, 0, 50, 7.5f, 2, /**/ 2, 0, 0, 0, 0, 0};
    check_extracted(&view, sparse, 6, scaled);
    md_view_clear(&view);
    medley_dataset_free(train);
    medley_dataset_free(sparse);
    medley_dataset_free(dense);
}

/* Against looking up every value by its name, over random tables in random order. */
static void any_numbering_gives_the_same_rows(void **state)
{
    (void)state;
    enum { ROWS = 7, MOST = 40, POOL = 60 };
    md_random random;
    md_random_seed(&random, 3);
    for (int trial = 0; trial < 200; trial++) {
        float values[2][ROWS * MOST] = {{0}};
        size_t columns[2];
        medley_dataset *data[2] = {NULL, NULL};
        md_table *tables[2];
        for (int i = 0; i < 2; i++) {
            columns[i] = 1 + md_random_below(&random, MOST);
            for (size_t v = 0; v < ROWS * columns[i]; v++)
                values[i][v] = (float)(md_random_below(&random, 3) * (1 + v));
            tables[i] = add_sparse(&data[i], "", ROWS, columns[i], values[i]);
            while (tables[i]->column_names.count < columns[i]) {
                char name[16];
                const int length =
                    snprintf(name, sizeof name, "n%zu", md_random_below(&random, POOL));
                assert_true(md_strings_add(&tables[i]->column_names, name, (size_t)length) >= 0);
            }
        }
        md_view view = view_of(data[0], "all");
        float expected[ROWS * MOST] = {0};
        for (size_t c = 0; c < columns[0]; c++) {
            const char *name = tables[0]->column_names.items[c];
            for (size_t d = 0; d < columns[1]; d++)
                for (size_t r = 0; r < ROWS; r++)
                    if (strcmp(tables[1]->column_names.items[d], name) == 0)
                        expected[r * columns[0] + c] = values[1][r * columns[1] + d];
        }
        check_extracted(&view, data[1], columns[0], expected);
        md_matrix matrix = {0};
        assert_int_equal(md_view_extract(&matrix, &view, data[1], NULL), MEDLEY_OK);
        for (size_t r = 0; r < ROWS; r++)
            for (size_t e = matrix.start[r] + 1; e < matrix.start[r + 1]; e++)
                assert_true(matrix.index[e] > matrix.index[e - 1]);
        md_matrix_clear(&matrix);
        md_view_clear(&view);
        medley_dataset_free(data[0]);
        medley_dataset_free(data[1]);
    }
}

static void dense_tables_go_by_number(void **state)
{
    (void)state;
    medley_dataset *train = NULL;
    medley_dataset *swapped = NULL;
    name_columns(add_dense(&train, "", 2, 6, training), names);
    name_columns(add_dense(&swapped, "", 2, 6, training),
                 (const char *[]){"w=b", "w=a", "bias", "p=N", "p=V", "w=c", NULL});
    md_view view = view_of(train, "all");
    assert_int_equal(view.names.count, 0);
    check_extracted(&view, swapped, 6, training);
    md_view_clear(&view);
    medley_dataset_free(train);
    medley_dataset_free(swapped);
}

static void data_without_names_are_refused(void **state)
{
    (void)state;
    medley_dataset *train = training_data();
    medley_dataset *sparse = NULL;
    medley_dataset *dense = NULL;
    add_sparse(&sparse, "", 2, 6, training);
    add_dense(&dense, "", 2, 6, training);
    md_view view = view_of(train, "all");
    for (int i = 0; i < 2; i++) {
        md_matrix matrix = {0};
        medley_error error = {0};
        assert_int_equal(md_view_extract(&matrix, &view, i ? dense : sparse, &error),
                         MEDLEY_BAD_INPUT);
        assert_non_null(strstr(error.message, "finds its columns by name"));
        assert_null(matrix.start);
    }
    md_view_clear(&view);
    medley_dataset_free(train);
    medley_dataset_free(sparse);
    medley_dataset_free(dense);
}

static void prefixes_have_a_view_each(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        size_t count;
        float row[3]; /* the second row */
    } expected[] = {{"w", 3, {0, 3, 4}}, {"p", 2, {0, 5}}, {"other", 1, {1}}};
    static const char *const shuffled[] = {"bias", "p=V", "p=N", "w=c", "w=b", "w=a", NULL};
    static const float again[] = {1, 5, 0, 4, 3, 0};
    medley_dataset *sparse = training_data();
    medley_dataset *dense = NULL;
    medley_dataset *fresh = NULL;
    name_columns(add_dense(&dense, "", 2, 6, training), names);
    name_columns(add_sparse(&fresh, "", 1, 6, again), shuffled);
    for (int kind = 0; kind < 2; kind++) {
        const medley_dataset *dataset = kind ? dense : sparse;
        md_view *views = NULL;
        size_t count = 0;
        assert_int_equal(md_views_make(&views, &count, dataset, "prefix", NULL), MEDLEY_OK);
        assert_int_equal(count, 3);
        for (size_t v = 0; v < count; v++) {
            assert_string_equal(views[v].name, expected[v].name);
            assert_string_equal(views[v].group, "prefix");
            assert_int_equal(views[v].column_count, expected[v].count);
            md_matrix matrix = {0};
            assert_int_equal(md_view_extract(&matrix, &views[v], dataset, NULL), MEDLEY_OK);
            for (size_t c = 0; c < expected[v].count; c++)
                assert_true(element(&matrix, 1, c) == expected[v].row[c]);
            md_matrix_clear(&matrix);
            if (!kind)
                check_extracted(&views[v], fresh, expected[v].count, expected[v].row);
        }
        md_views_free(views, count);
    }
    medley_dataset_free(sparse);
    medley_dataset_free(dense);
    medley_dataset_free(fresh);
}

static void odd_names_go_with_the_others(void **state)
{
    (void)state;
    static const char *const odd[] = {"=x", "other=1", "", "a=b=c", "plain", "a=", NULL};
    medley_dataset *dataset = NULL;
    name_columns(add_sparse(&dataset, "t", 2, 6, training), odd);
    md_view *views = NULL;
    size_t count = 0;
    assert_int_equal(md_views_make(&views, &count, dataset, "prefix", NULL), MEDLEY_OK);
    assert_int_equal(count, 2);
    assert_string_equal(views[0].name, "t.other");
    assert_string_equal(views[1].name, "t.a");
    static const size_t columns[] = {0, 1, 2, 4};
    assert_int_equal(views[0].column_count, 4);
    assert_memory_equal(views[0].columns, columns, sizeof columns);
    md_views_free(views, count);
    medley_dataset_free(dataset);
}

static void windows_find_their_columns_by_name(void **state)
{
    (void)state;
    static const float fresh[] = {7, 8};
    static const float expected[] = {0, 0, 0, 0, 0, 0, 8, 0, 0, 0, 0, 7, 0, 0, 0, 0, 0, 0};
    medley_dataset *train = training_data();
    medley_dataset *other = NULL;
    name_columns(add_sparse(&other, "", 1, 2, fresh), (const char *[]){"p=V", "w=a", NULL});
    md_view view = view_of(train, "window:1");
    assert_int_equal(view.names.count, 6);
    check_extracted(&view, other, 18, expected);
    md_view_clear(&view);
    medley_dataset_free(train);
    medley_dataset_free(other);
}

static void a_copy_is_a_view_of_its_own(void **state)
{
    (void)state;
    static const char *const specs[] = {"all", "window:1"};
    medley_dataset *train = training_data();
    for (size_t i = 0; i < 2; i++) {
        md_view view = view_of(train, specs[i]);
        md_view copy = {0};
        md_matrix matrix = {0};
        assert_int_equal(md_view_fit_scale(&view, MD_SCALE_STANDARD, train, NULL), MEDLEY_OK);
        assert_int_equal(md_view_extract(&matrix, &view, train, NULL), MEDLEY_OK);
        assert_int_equal(md_view_copy(&copy, &view, NULL), MEDLEY_OK);
        float expected[36] = {0};
        for (size_t e = 0; e < matrix.rows * matrix.columns; e++)
            expected[e] = element(&matrix, e / matrix.columns, e % matrix.columns);
        md_view_clear(&view);
        assert_int_equal(copy.names.count, 6);
        check_extracted(&copy, train, matrix.columns, expected);
        md_view_clear(&copy);
        md_matrix_clear(&matrix);
    }
    medley_dataset_free(train);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(columns_are_found_by_name),
        cmocka_unit_test(any_numbering_gives_the_same_rows),
        cmocka_unit_test(dense_tables_go_by_number),
        cmocka_unit_test(data_without_names_are_refused),
        cmocka_unit_test(prefixes_have_a_view_each),
        cmocka_unit_test(odd_names_go_with_the_others),
        cmocka_unit_test(windows_find_their_columns_by_name),
        cmocka_unit_test(a_copy_is_a_view_of_its_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
