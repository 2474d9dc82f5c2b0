/* SPDX-License-Identifier: BSD-3-Clause */
/* Views: which columns they take, how they learn their scaling, and how they treat new data that
 * are stored differently or have other columns. */
#include "view/view_data.h"

#include "base/memory.h"

static void check_names(const medley_dataset *dataset, const char *spec,
                        const char *const *expected)
{
    md_view *views = NULL;
    size_t count = 0;
    medley_error error = {0};
    if (md_views_make(&views, &count, dataset, spec, &error) < 0)
        fail_msg("%s", error.message);
    size_t seen = 0;
    for (; expected[2 * seen] != NULL; seen++) {
        assert_true(seen < count);
        assert_string_equal(views[seen].name, expected[2 * seen]);
        assert_string_equal(views[seen].group, expected[2 * seen + 1]);
    }
    assert_int_equal(seen, count);
    md_views_free(views, count);
}

/* ---- making views ---- */

static void all_and_each_name_the_columns(void **state)
{
    (void)state;
    medley_dataset *dataset = NULL;
    md_table *table = add_dense(&dataset, "", 2, 3, NULL);
    check_names(dataset, "all", (const char *[]){"all", "all", NULL});
    check_names(dataset, NULL, (const char *[]){"all", "all", NULL});
    check_names(dataset, "each", (const char *[]){"x1", "each", "x2", "each", "x3", "each", NULL});
    md_strings_add(&table->column_names, "age", 3);
    md_strings_add(&table->column_names, "height", 6);
    md_strings_add(&table->column_names, "V3", 2);
    check_names(
        dataset, "each+all",
        (const char *[]){"age", "each", "height", "each", "V3", "each", "all", "all", NULL});
    medley_dataset_free(dataset);
}

/* A kernel's name ends in its view's, and is read again from a model file. */
static void a_column_without_a_name_is_called_by_its_number(void **state)
{
    (void)state;
    medley_dataset *dataset = NULL;
    md_table *table = add_dense(&dataset, "", 2, 3, NULL);
    md_strings_add(&table->column_names, "", 0);
    md_strings_add(&table->column_names, " \t", 2);
    md_strings_add(&table->column_names, "age", 3);
    check_names(dataset, "each", (const char *[]){"x1", "each", "x2", "each", "age", "each", NULL});
    table = NULL;
    medley_error error = {0};
    assert_int_equal(md_dataset_new_table(&table, dataset, " ", "data.csv", &error), MEDLEY_USAGE);
    assert_non_null(strstr(error.message, "name"));
    medley_dataset_free(dataset);
}

static void or_by_another_where_a_column_is_called_so(void **state)
{
    (void)state;
    medley_dataset *dataset = NULL;
    md_table *table = add_dense(&dataset, "", 2, 3, NULL);
    md_strings_add(&table->column_names, "", 0);
    md_strings_add(&table->column_names, "x1", 2);
    md_strings_add(&table->column_names, "x1_2", 4);
    check_names(dataset, "each",
                (const char *[]){"x1_3", "each", "x1", "each", "x1_2", "each", NULL});
    medley_dataset_free(dataset);
}

static void each_view_holds_its_column(void **state)
{
    (void)state;
    static const float values[] = {1, 2, 3, 4, 5, 6};
    medley_dataset *dataset = NULL;
    add_dense(&dataset, "", 2, 3, values);
    md_view *views = NULL;
    size_t count = 0;
    assert_int_equal(md_views_make(&views, &count, dataset, "each", NULL), MEDLEY_OK);
    for (size_t v = 0; v < 3; v++) {
        md_matrix matrix = {0};
        assert_int_equal(md_view_extract(&matrix, &views[v], dataset, NULL), MEDLEY_OK);
        check_matrix(&matrix, 2, 1, (const float[]){values[v], values[3 + v]});
        md_matrix_clear(&matrix);
    }
    md_views_free(views, count);
    medley_dataset_free(dataset);
}

/* Every pixel is in exactly one tile, in the tile where it lies. */
static void tiles_divide_the_image(void **state)
{
    (void)state;
    static const size_t shapes[][4] = {/* height, width, down, across */
                                       {4, 4, 2, 2},
                                       {5, 7, 2, 3},
                                       {6, 6, 6, 1},
                                       {3, 3, 1, 1}};
    for (size_t s = 0; s < 4; s++) {
        const size_t height = shapes[s][0];
        const size_t width = shapes[s][1];
        const size_t down = shapes[s][2];
        const size_t across = shapes[s][3];
        medley_dataset *dataset = NULL;
        md_table *table = add_dense(&dataset, "", 1, height * width, NULL);
        if (height != width) { /* squares are recognised by themselves */
            table->height = height;
            table->width = width;
        }
        char spec[64];
        snprintf(spec, sizeof spec, "grid:%zux%zu", down, across);
        md_view *views = NULL;
        size_t count = 0;
        assert_int_equal(md_views_make(&views, &count, dataset, spec, NULL), MEDLEY_OK);
        assert_int_equal(count, down * across);
        size_t *seen = md_calloc(height * width, sizeof *seen);
        assert_non_null(seen);
        for (size_t v = 0; v < count; v++) {
            char name[64];
            snprintf(name, sizeof name, "tile%zux%zu", v / across + 1, v % across + 1);
            assert_string_equal(views[v].name, name);
            assert_string_equal(views[v].group, "grid");
            for (size_t c = 0; c < views[v].column_count; c++) {
                const size_t y = views[v].columns[c] / width;
                const size_t x = views[v].columns[c] % width;
                assert_true(c == 0 || views[v].columns[c] > views[v].columns[c - 1]);
                assert_true(y >= v / across * height / down);
                assert_true(y < (v / across + 1) * height / down);
                assert_true(x >= v % across * width / across);
                assert_true(x < (v % across + 1) * width / across);
                seen[views[v].columns[c]]++;
            }
        }
        for (size_t p = 0; p < height * width; p++)
            assert_int_equal(seen[p], 1);
        free(seen);
        md_views_free(views, count);
        medley_dataset_free(dataset);
    }
}

static void further_tables_are_one_view_each(void **state)
{
    (void)state;
    medley_dataset *dataset = NULL;
    add_dense(&dataset, "", 2, 2, NULL);
    add_dense(&dataset, "fou", 2, 9, NULL);
    add_dense(&dataset, "mor", 2, 4, NULL);
    check_names(dataset, "each",
                (const char *[]){"x1", "each", "x2", "each", "fou", "all", "mor", "all", NULL});
    medley_dataset_free(dataset);
    dataset = NULL; /* without DATA the views are those of every table */
    add_dense(&dataset, "a", 2, 2, NULL);
    add_dense(&dataset, "b", 2, 1, NULL);
    check_names(dataset, "all", (const char *[]){"a", "all", "b", "all", NULL});
    check_names(dataset, "each+all",
                (const char *[]){"a.x1", "each", "a.x2", "each", "a", "all", "b.x1", "each", "b",
                                 "all", NULL});
    medley_dataset_free(dataset);
}

static void unknown_views_are_refused(void **state)
{
    (void)state;
    static const char *const wrong[][2] = {{"some", "'some' are not known"},
                                           {"all+", "not known"},
                                           {"", "not known"},
                                           {"grid", "not known"},
                                           {"grid:2", "ROWSxCOLUMNS"},
                                           {"grid:0x2", "ROWSxCOLUMNS"},
                                           {"grid:2x2x2", "ROWSxCOLUMNS"},
                                           {"all+grid:4x1", "only 3x3"},
                                           {"random", "random:COUNT"},
                                           {"prefix", "no names"},
                                           {"all blur", "window:K; blur(SIGMA)"}};
    medley_dataset *dataset = NULL;
    add_dense(&dataset, "", 2, 9, NULL);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        md_view *views = NULL;
        size_t count = 77;
        medley_error error = {0};
        assert_int_equal(md_views_make(&views, &count, dataset, wrong[i][0], &error), MEDLEY_USAGE);
        if (strstr(error.message, wrong[i][1]) == NULL)
            fail_msg("%s: %s", wrong[i][0], error.message);
        assert_null(views);
        assert_int_equal(count, 77);
    }
    medley_dataset_free(dataset);
    dataset = NULL;
    add_dense(&dataset, "", 2, 10, NULL);
    md_view *views = NULL;
    size_t count;
    medley_error error = {0};
    assert_int_equal(md_views_make(&views, &count, dataset, "grid:2x2", &error), MEDLEY_USAGE);
    assert_non_null(strstr(error.message, "10 columns are no square image"));
    medley_dataset_free(dataset);
}

/* ---- scaling ---- */

/* Mean and standard deviation, least and greatest of a column. */
static void measure(const md_matrix *matrix, size_t c, double range[4])
{
    double sum = 0;
    double square = 0;
    range[2] = INFINITY;
    range[3] = -INFINITY;
    for (size_t r = 0; r < matrix->rows; r++)
        sum += (double)element(matrix, r, c);
    range[0] = sum / (double)matrix->rows;
    for (size_t r = 0; r < matrix->rows; r++) {
        const double value = (double)element(matrix, r, c);
        square += (value - range[0]) * (value - range[0]);
        range[2] = fmin(range[2], value);
        range[3] = fmax(range[3], value);
    }
    range[1] = sqrt(square / (double)matrix->rows);
}

static void dense_columns_are_scaled(void **state)
{
    (void)state;
    enum { ROWS = 400, COLUMNS = 5 };
    static const double center[COLUMNS] = {0, 5, -3000, 1e6, 7};
    static const double spread[COLUMNS] = {1, 0.01, 40, 3, 0}; /* the last one is constant */
    static float values[ROWS * COLUMNS];
    md_random random;
    md_random_seed(&random, 4);
    for (size_t i = 0; i < ROWS * COLUMNS; i++)
        values[i] = (float)(center[i % COLUMNS] + spread[i % COLUMNS] * md_random_normal(&random));
    medley_dataset *dataset = NULL;
    add_dense(&dataset, "", ROWS, COLUMNS, values);
    for (int kind = 0; kind < 2; kind++) {
        md_view view = view_of(dataset, "all");
        md_matrix matrix = {0};
        assert_int_equal(
            md_view_fit_scale(&view, kind ? MD_SCALE_MINMAX : MD_SCALE_STANDARD, dataset, NULL),
            MEDLEY_OK);
        assert_int_equal(md_view_extract(&matrix, &view, dataset, NULL), MEDLEY_OK);
        for (size_t c = 0; c < COLUMNS; c++) {
            double range[4];
            measure(&matrix, c, range);
            /* means are kept as floats: 1e6 to 0.03, a hundredth of that column's deviation */
            if (spread[c] == 0)
                assert_true(range[2] == 0 && range[3] == 0);
            else if (kind == 0)
                assert_true(fabs(range[0]) < 0.02 && fabs(range[1] - 1) < 1e-5);
            else
                assert_true(fabs(range[2]) < 1e-6 && fabs(range[3] - 1) < 1e-6);
        }
        md_matrix_clear(&matrix);
        md_view_clear(&view);
    }
    medley_dataset_free(dataset);
}

static void no_scaling_leaves_values_alone(void **state)
{
    (void)state;
    static const float values[] = {1, 200, -3, 4};
    medley_dataset *dataset = NULL;
    add_dense(&dataset, "", 2, 2, values);
    md_view view = view_of(dataset, "all");
    md_matrix matrix = {0};
    assert_int_equal(md_view_fit_scale(&view, MD_SCALE_NONE, dataset, NULL), MEDLEY_OK);
    assert_null(view.factor);
    assert_int_equal(md_view_extract(&matrix, &view, dataset, NULL), MEDLEY_OK);
    assert_memory_equal(matrix.dense, values, sizeof values);
    md_matrix_clear(&matrix);
    md_view_clear(&view);
    medley_dataset_free(dataset);
}

/* Where nothing is shifted: maxabs, and minmax of columns whose least value is 0. */
static void sparse_columns_keep_their_zeros(void **state)
{
    (void)state;
    for (int kind = 0; kind < 2; kind++) {
        const float sign = kind ? 1 : -1;
        const float values[] = {0, sign * 4, 0, 0, 3, 2, 0, 0, 0, 0, 0, 1, 3, 0, 0, 1};
        const float largest[] = {3, 4, 1, 1};
        float expected[16];
        medley_dataset *dataset = NULL;
        add_sparse(&dataset, "", 4, 4, values);
        for (size_t i = 0; i < 16; i++)
            expected[i] = values[i] / largest[i % 4];
        md_view view = view_of(dataset, "all");
        md_matrix matrix = {0};
        assert_int_equal(
            md_view_fit_scale(&view, kind ? MD_SCALE_MINMAX : MD_SCALE_MAXABS, dataset, NULL),
            MEDLEY_OK);
        assert_int_equal(md_view_extract(&matrix, &view, dataset, NULL), MEDLEY_OK);
        assert_true(md_matrix_is_sparse(&matrix));
        assert_int_equal(matrix.start[4], 6);
        check_matrix(&matrix, 4, 4, expected);
        md_matrix_clear(&matrix);
        md_view_clear(&view);
        medley_dataset_free(dataset);
    }
}

/* Columns: some zeros, none, one sign, both, constant, nothing but zeros. */
static void dense_and_sparse_columns_are_scaled_alike(void **state)
{
    (void)state;
    static const float values[] = {0, 5, -1, 7, 0, /**/ 3, 6, 2, 7, 0,
                                   2, 9, 0,  7, 0, /**/ 0, 5, 4, 7, 0};
    for (md_scale scale = MD_SCALE_NONE; scale <= MD_SCALE_MAXABS; scale++) {
        medley_dataset *dense = NULL;
        medley_dataset *sparse = NULL;
        md_matrix expected = {0};
        add_dense(&dense, "", 4, 5, values);
        add_sparse(&sparse, "", 4, 5, values);
        md_view from_dense = view_of(dense, "all");
        md_view from_sparse = view_of(sparse, "all");
        assert_int_equal(md_view_fit_scale(&from_dense, scale, dense, NULL), MEDLEY_OK);
        assert_int_equal(md_view_fit_scale(&from_sparse, scale, sparse, NULL), MEDLEY_OK);
        assert_int_equal(md_view_extract(&expected, &from_dense, dense, NULL), MEDLEY_OK);
        check_extracted(&from_sparse, sparse, 5, expected.dense);
        check_extracted(&from_sparse, dense, 5, expected.dense);
        md_matrix_clear(&expected);
        md_view_clear(&from_dense);
        md_view_clear(&from_sparse);
        medley_dataset_free(dense);
        medley_dataset_free(sparse);
    }
}

/* 3000 rows of 100,000 columns would be 1.2 GB. */
static void sparse_data_too_large_to_shift_are_refused(void **state)
{
    (void)state;
    enum { ROWS = 3000, COLUMNS = 100000 };
    static const int32_t index[] = {0, COLUMNS - 1};
    static const double values[] = {1, 3};
    static int64_t start[ROWS + 1];
    medley_table table = MEDLEY_TABLE_INIT;
    medley_error error = {0};
    medley_dataset *dataset = NULL;
    for (size_t r = 1; r <= ROWS; r++)
        start[r] = r == 1 ? 1 : 2;
    table.rows = ROWS;
    table.columns = COLUMNS;
    table.start = start;
    table.index = index;
    table.values = values;
    assert_int_equal(medley_dataset_create(&dataset, &error), MEDLEY_OK);
    assert_int_equal(medley_dataset_put_table(dataset, &table, &error), MEDLEY_OK);
    md_view view = view_of(dataset, "all");
    assert_int_equal(md_view_fit_scale(&view, MD_SCALE_STANDARD, dataset, &error), MEDLEY_USAGE);
    assert_non_null(strstr(error.message, "3000 rows of 100000 columns, 1.2 GB"));
    assert_non_null(strstr(error.message, "use `scale=maxabs`"));
    assert_int_equal(md_view_fit_scale(&view, MD_SCALE_MINMAX, dataset, &error), MEDLEY_OK);
    assert_true(view.sparse);
    md_view_clear(&view);
    medley_dataset_free(dataset);
}

/* ---- new data ---- */

static const float training[] = {1, 0, 2, /**/ 3, 4, 0}; /* 2 x 3 */

/* Dense and sparse files of the same values look the same to a view, scaled or not. */
static void storage_of_new_data_does_not_matter(void **state)
{
    (void)state;
    static const float fresh[] = {0, 2, 2};
    for (int sparse = 0; sparse < 2; sparse++)
        for (md_scale scale = MD_SCALE_NONE; scale <= MD_SCALE_MAXABS; scale++) {
            medley_dataset *train = NULL;
            medley_dataset *as_dense = NULL;
            medley_dataset *as_sparse = NULL;
            if (sparse)
                add_sparse(&train, "", 2, 3, training);
            else
                add_dense(&train, "", 2, 3, training);
            add_dense(&as_dense, "", 1, 3, fresh);
            add_sparse(&as_sparse, "", 1, 3, fresh);
            md_view view = view_of(train, "all");
            assert_int_equal(md_view_fit_scale(&view, scale, train, NULL), MEDLEY_OK);
            float expected[3];
            for (size_t c = 0; c < 3; c++)
                expected[c] = scale ? (fresh[c] - view.shift[c]) * view.factor[c] : fresh[c];
            check_extracted(&view, as_dense, 3, expected);
            check_extracted(&view, as_sparse, 3, expected);
            md_view_clear(&view);
            medley_dataset_free(train);
            medley_dataset_free(as_dense);
            medley_dataset_free(as_sparse);
        }
}

static void sparse_files_may_have_other_columns(void **state)
{
    (void)state;
    static const float wide[] = {1, 0, 2, 0, 9};
    medley_dataset *dense = NULL;
    medley_dataset *sparse = NULL;
    medley_dataset *more = NULL;
    medley_dataset *fewer = NULL;
    medley_dataset *dense_fewer = NULL;
    add_dense(&dense, "", 2, 3, training);
    add_sparse(&sparse, "", 2, 3, training);
    add_sparse(&more, "", 1, 5, wide);
    add_sparse(&fewer, "", 1, 1, wide);
    add_dense(&dense_fewer, "", 1, 2, wide);
    md_view from_dense = view_of(dense, "all");
    md_view from_sparse = view_of(sparse, "all");
    check_extracted(&from_dense, more, 3, wide);
    check_extracted(&from_dense, fewer, 3, (const float[]){1, 0, 0});
    check_extracted(&from_sparse, more, 5, wide); /* unseen columns count for distances */
    check_extracted(&from_sparse, fewer, 3, (const float[]){1, 0, 0});
    check_extracted(&from_sparse, dense_fewer, 3, (const float[]){1, 0, 0});
    /* a view of single columns beyond the end of the file */
    md_view *views = NULL;
    size_t count = 0;
    assert_int_equal(md_views_make(&views, &count, sparse, "each", NULL), MEDLEY_OK);
    check_extracted(&views[0], fewer, 1, (const float[]){1});
    check_extracted(&views[2], fewer, 1, (const float[]){0});
    check_extracted(&views[2], dense_fewer, 1, (const float[]){0});
    check_extracted(&views[2], more, 1, (const float[]){2});
    md_views_free(views, count);
    /* scaling knows nothing of unseen columns */
    assert_int_equal(md_view_fit_scale(&from_sparse, MD_SCALE_MAXABS, sparse, NULL), MEDLEY_OK);
    check_extracted(&from_sparse, more, 5, (const float[]){1.0f / 3, 0, 1, 0, 9});
    md_view_clear(&from_dense);
    md_view_clear(&from_sparse);
    medley_dataset_free(dense);
    medley_dataset_free(sparse);
    medley_dataset_free(more);
    medley_dataset_free(fewer);
    medley_dataset_free(dense_fewer);
}

static void other_dense_columns_and_missing_tables_are_refused(void **state)
{
    (void)state;
    medley_dataset *train = NULL;
    medley_dataset *narrow = NULL;
    medley_dataset *other = NULL;
    add_dense(&train, "", 2, 3, training);
    add_dense(&train, "fou", 2, 3, training);
    add_dense(&narrow, "", 3, 2, NULL);
    add_dense(&other, "mor", 2, 3, NULL);
    md_view *views = NULL;
    size_t count = 0;
    assert_int_equal(md_views_make(&views, &count, train, "all", NULL), MEDLEY_OK);
    md_matrix matrix = {0};
    medley_error error = {0};
    assert_int_equal(md_view_extract(&matrix, &views[0], narrow, &error), MEDLEY_BAD_INPUT);
    assert_non_null(strstr(error.message, "2 feature columns found, the model expects 3"));
    assert_string_equal(error.file, "data.csv");
    error = (medley_error){0};
    assert_int_equal(md_view_extract(&matrix, &views[0], other, &error), MEDLEY_USAGE);
    assert_non_null(strstr(error.message, "name that, too"));
    error = (medley_error){0};
    assert_int_equal(md_view_extract(&matrix, &views[1], other, &error), MEDLEY_USAGE);
    assert_non_null(strstr(error.message, "give `view=fou=FILE`"));
    assert_null(matrix.dense);
    md_views_free(views, count);
    medley_dataset_free(train);
    medley_dataset_free(narrow);
    medley_dataset_free(other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_and_each_name_the_columns),
        cmocka_unit_test(a_column_without_a_name_is_called_by_its_number),
        cmocka_unit_test(or_by_another_where_a_column_is_called_so),
        cmocka_unit_test(each_view_holds_its_column),
        cmocka_unit_test(tiles_divide_the_image),
        cmocka_unit_test(further_tables_are_one_view_each),
        cmocka_unit_test(unknown_views_are_refused),
        cmocka_unit_test(dense_columns_are_scaled),
        cmocka_unit_test(no_scaling_leaves_values_alone),
        cmocka_unit_test(sparse_columns_keep_their_zeros),
        cmocka_unit_test(dense_and_sparse_columns_are_scaled_alike),
        cmocka_unit_test(sparse_data_too_large_to_shift_are_refused),
        cmocka_unit_test(storage_of_new_data_does_not_matter),
        cmocka_unit_test(sparse_files_may_have_other_columns),
        cmocka_unit_test(other_dense_columns_and_missing_tables_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
