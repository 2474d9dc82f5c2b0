/* SPDX-License-Identifier: BSD-3-Clause */
/* Transformed views from their specs: names, sizes, scaling, new data, and what is refused. */
#include "view/view_data.h"

#include "param/param.h"

enum { ROWS = 23 };

static void views_are_named_as_written(void **state)
{
    (void)state;
    static const char *const expected[][2] = {{"all", "all"},
                                              {"blur(3x3,1e+0)", "blur"},
                                              {"blur(0.5)", "blur"},
                                              {"shift", "shift"},
                                              {"shift/blur(1)/window:2", "shift/blur/window"}};
    medley_dataset *dataset = NULL;
    add_dense(&dataset, "", 2, 9, NULL);
    md_view *views = NULL;
    size_t count = 0;
    assert_int_equal(md_views_make(&views, &count, dataset,
                                   "all+blur(3x3,1e+0)+blur(0.5) + shift +shift/blur(1)/window:2",
                                   NULL),
                     MEDLEY_OK);
    assert_int_equal(count, 5);
    for (size_t v = 0; v < count; v++) {
        assert_string_equal(views[v].name, expected[v][0]);
        assert_string_equal(views[v].group, expected[v][1]);
    }
    assert_int_equal(views[4].column_count, 45);
    md_views_free(views, count);
    medley_dataset_free(dataset);
    dataset = NULL;
    add_dense(&dataset, "pix", 2, 9, NULL);
    md_view view = view_of(dataset, "blur(0.5)");
    assert_string_equal(view.name, "pix.blur(0.5)");
    assert_string_equal(view.table, "pix");
    md_matrix matrix = {0};
    assert_int_equal(md_view_extract(&matrix, &view, dataset, NULL), MEDLEY_OK);
    md_matrix_clear(&matrix);
    md_view_clear(&view);
    medley_dataset_free(dataset);
}

/* A kernel's spec reaches a view by its name, whatever signs are in it. */
static void kernels_name_transformed_views(void **state)
{
    (void)state;
    static const char *const specs[] = {"rbf(sigma2=2)@blur(16x8,0.7)/window:1",
                                        "rbf @ blur(16x8,0.7)/window:1 "};
    for (size_t i = 0; i < 2; i++) {
        char **texts = NULL;
        md_spec spec;
        assert_int_equal(md_spec_expand(&texts, specs[i], NULL), MEDLEY_OK);
        assert_int_equal(md_texts_count(texts), 1);
        assert_int_equal(md_spec_parse(&spec, texts[0], NULL), MEDLEY_OK);
        assert_string_equal(spec.name, "rbf");
        assert_string_equal(spec.view, "blur(16x8,0.7)/window:1");
        md_spec_clear(&spec);
        md_texts_free(texts);
    }
}

static void transformed_columns_are_scaled(void **state)
{
    (void)state;
    static float values[ROWS * 12];
    fill_images(values, ROWS, 12, 8);
    medley_dataset *dataset = NULL;
    add_dense(&dataset, "", ROWS, 12, values);
    md_view view = view_of(dataset, "blur(3x4,1)/window:1");
    md_matrix plain = {0};
    md_matrix scaled = {0};
    assert_int_equal(md_view_extract(&plain, &view, dataset, NULL), MEDLEY_OK);
    assert_int_equal(md_view_fit_scale(&view, MD_SCALE_MINMAX, dataset, NULL), MEDLEY_OK);
    assert_int_equal(md_view_extract(&scaled, &view, dataset, NULL), MEDLEY_OK);
    for (size_t c = 0; c < 36; c++) {
        float least = INFINITY;
        float most = -INFINITY;
        for (size_t r = 0; r < ROWS; r++) {
            least = fminf(least, plain.dense[r * 36 + c]);
            most = fmaxf(most, plain.dense[r * 36 + c]);
        }
        for (size_t r = 0; r < ROWS; r++) {
            const float value = plain.dense[r * 36 + c];
            const float expected = most > least ? (value - least) / (most - least) : 0;
            assert_true(fabsf(scaled.dense[r * 36 + c] - expected) < 1e-5f);
        }
    }
    md_matrix_clear(&plain);
    md_matrix_clear(&scaled);
    md_view_clear(&view);
    medley_dataset_free(dataset);
}

/* Sparse tables give what the same dense tables give, also if their last pixels are never set. */
static void sparse_images_are_made_dense(void **state)
{
    (void)state;
    static float values[ROWS * 16];
    static float narrow[ROWS * 13];
    fill_images(values, ROWS, 16, 9);
    for (size_t r = 0; r < ROWS; r++) {
        memset(values + r * 16 + 13, 0, 3 * sizeof *values);
        memcpy(narrow + r * 13, values + r * 16, 13 * sizeof *values);
    }
    medley_dataset *dense = NULL;
    medley_dataset *sparse = NULL;
    medley_dataset *ends_early = NULL;
    add_dense(&dense, "", ROWS, 16, values);
    add_sparse(&sparse, "", ROWS, 16, values);
    add_sparse(&ends_early, "", ROWS, 13, narrow);
    const medley_dataset *all[] = {dense, sparse, ends_early};
    static const char *const specs[] = {"blur(4x4,0.8)/window:1", "shift(4x4)"};
    for (size_t s = 0; s < 2; s++)
        for (size_t made = 0; made < 3; made++) {
            md_view view = view_of(all[made], specs[s]);
            md_matrix expected = {0};
            assert_int_equal(view.table_columns, 16);
            assert_int_equal(md_view_extract(&expected, &view, dense, NULL), MEDLEY_OK);
            for (size_t applied = 0; applied < 3; applied++)
                check_extracted(&view, all[applied], expected.columns, expected.dense);
            md_matrix_clear(&expected);
            md_view_clear(&view);
        }
    medley_dataset_free(dense);
    medley_dataset_free(sparse);
    medley_dataset_free(ends_early);
}

static void other_columns_and_huge_tables_are_refused(void **state)
{
    (void)state;
    medley_dataset *train = NULL;
    medley_dataset *narrow = NULL;
    medley_dataset *huge = NULL;
    add_dense(&train, "", 2, 16, NULL);
    add_dense(&narrow, "", 2, 9, NULL);
    md_view view = view_of(train, "blur(0.5)");
    md_matrix matrix = {0};
    medley_error error = {0};
    assert_int_equal(md_view_extract(&matrix, &view, narrow, &error), MEDLEY_BAD_INPUT);
    assert_non_null(strstr(error.message, "9 feature columns found, the model expects 16"));
    assert_null(matrix.dense);
    md_view_clear(&view);
    static const float one[] = {1, 2};
    md_table *table = add_sparse(&huge, "", 2, 1, one);
    table->features.columns = 100000000;
    md_view *views = NULL;
    size_t count;
    error = (medley_error){0};
    assert_int_equal(md_views_make(&views, &count, huge, "window:1", &error), MEDLEY_USAGE);
    if (strstr(error.message, "would make the sparse data dense") == NULL)
        fail_msg("%s", error.message);
    medley_dataset_free(train);
    medley_dataset_free(narrow);
    medley_dataset_free(huge);
}

static const char *const wrong_specs[][2] = {
    {"window", "write window:K"},
    {"window:", "window:K"},
    {"window:0", "from 1 to 50"},
    {"window:51", "from 1 to 50"},
    {"window:-1", "from 1 to 50"},
    {"window:1x", "from 1 to 50"},
    {"window(1,2)", "from 1 to 50"},
    {"window:99999999999999999999", "from 1 to 50"},
    {"blur", "write blur(SIGMA)"},
    {"blur()", "write blur(SIGMA)"},
    {"blur(", "write blur(SIGMA)"},
    {"blur(1", "write blur(SIGMA)"},
    {"blur(1)x", "write blur(SIGMA)"},
    {"blur(12x1,1,1)", "write blur(SIGMA)"},
    {"blur(12x1,1,1,1,1)", "write blur(SIGMA)"},
    {"blur(12,1)", "write blur(SIGMA)"},
    {"blur(x,1)", "write blur(SIGMA)"},
    {"blur(-3x-4,1)", "write blur(SIGMA)"},
    {"blur(0x12,1)", "write blur(SIGMA)"},
    {"blur(9999999999x9999999999,1)", "write blur(SIGMA)"},
    {"blur(3x00000000000000000000000000000000004,1)", "write blur(SIGMA)"},
    {"blur(1)", "12 columns are no square"},
    {"blur(3x5,1)", "15 pixels but the data have 12"},
    {"blur(3x3,1)", "9 pixels but the data have 12"},
    {"blur(3x4,0)", "above 0 and at most 4"},
    {"blur(3x4,-1)", "above 0 and at most 4"},
    {"blur(3x4,4.1)", "above 0 and at most 4"},
    {"blur(3x4,nan)", "above 0 and at most 4"},
    {"blur(3x4,inf)", "above 0 and at most 4"},
    {"blur(3x4,)", "above 0 and at most 4"},
    {"blur(3x4,1))", "above 0 and at most 4"},
    {"shift", "12 columns are no square"},
    {"shift(3)", "write shift"},
    {"shift:", "write shift"},
    {"shift(3x4,1)", "no square"},
    {"shift(3x4,1,x)", "whole numbers"},
    {"shift(3x4,3,0)", "whole numbers"},
    {"shift(3x4,0,-4)", "whole numbers"},
    {"window:1/shift", "36 columns are no square"},
    {"shift(3x4)/", "there is no transform ''"},
    {"shift(3x4)//window:1", "there is no transform ''"},
    {"shift(3x4)/blurr(1)", "did you mean 'blur'"},
    {"shift(3x4)/all", "known: window, blur, shift"},
    {"/shift(3x4)", "not known"},
    {"all/shift(3x4)", "not known"},
    {"blurr(1)", "not known"},
    {"window:50/window:50/window:50/window:50/window:50", "too many"},
    {"window:1/window:1/window:1/window:1/window:1/window:1/window:1/window:1/window:1",
     "more than 8 steps"},
};

static void bad_specs_are_refused(void **state)
{
    (void)state;
    medley_dataset *dataset = NULL;
    add_dense(&dataset, "", 2, 12, NULL);
    for (size_t i = 0; i < sizeof wrong_specs / sizeof *wrong_specs; i++) {
        md_view *views = NULL;
        size_t count = 77;
        medley_error error = {0};
        assert_int_equal(md_views_make(&views, &count, dataset, wrong_specs[i][0], &error),
                         MEDLEY_USAGE);
        if (strstr(error.message, wrong_specs[i][1]) == NULL)
            fail_msg("%s: %s", wrong_specs[i][0], error.message);
        assert_null(views);
    }
    medley_dataset_free(dataset);
}

/* Random texts of the alphabet that specs are made of: views or a refusal. */
static void noise_never_breaks_the_parser(void **state)
{
    (void)state;
    static const char *const pieces[] = {"blur(", "shift", "window:", "(",  ")",   "/", ",", "3x4",
                                         "1",     "-1",    "0.5",     "+",  " ",   "x", "9", "4x3",
                                         "blur",  ":",     "3x4,1)",  "1)", "all", "("};
    md_random random;
    md_random_seed(&random, 11);
    medley_dataset *dataset = NULL;
    add_dense(&dataset, "", 2, 12, NULL);
    size_t made = 0;
    for (int trial = 0; trial < 20000; trial++) {
        md_text spec = {0};
        const size_t length = 1 + md_random_below(&random, 8);
        for (size_t i = 0; i < length; i++)
            md_text_addf(&spec, "%s",
                         pieces[md_random_below(&random, sizeof pieces / sizeof *pieces)]);
        md_view *views = NULL;
        size_t count = 0;
        const medley_status status = md_views_make(&views, &count, dataset, spec.data, NULL);
        assert_true(status == MEDLEY_OK || status == MEDLEY_USAGE);
        made += status == MEDLEY_OK;
        for (size_t v = 0; v < count; v++) {
            md_matrix matrix = {0};
            assert_int_equal(md_view_extract(&matrix, &views[v], dataset, NULL), MEDLEY_OK);
            assert_int_equal(matrix.columns, views[v].column_count);
            md_matrix_clear(&matrix);
        }
        md_views_free(views, count);
        md_text_clear(&spec);
    }
    assert_true(made > 100);
    medley_dataset_free(dataset);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(views_are_named_as_written),
        cmocka_unit_test(kernels_name_transformed_views),
        cmocka_unit_test(transformed_columns_are_scaled),
        cmocka_unit_test(sparse_images_are_made_dense),
        cmocka_unit_test(other_columns_and_huge_tables_are_refused),
        cmocka_unit_test(bad_specs_are_refused),
        cmocka_unit_test(noise_never_breaks_the_parser),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
