/* SPDX-License-Identifier: BSD-3-Clause */
/* Steps with options, center and orient: their views in model files, and what is refused. */
#include "view/view_data.h"

enum { ROWS = 23 };

static void views_come_back_from_bytes(void **state)
{
    (void)state;
    static const char *const specs[] = {"center(4x4,pad=1,slant=0.5)/orient(directions=3)",
                                        "orient(4x4,stride=1)/window:1", "center(4x4)",
                                        "center(4x4)/blur(1)/center(pad=0)/shift(1,0)/orient"};
    static const size_t columns[] = {3 * 9, 3 * 8 * 16, 64, 8 * 16};
    float narrow[ROWS * 13];
    medley_dataset *dataset = NULL;
    fill_images(narrow, ROWS, 13, 3);
    add_sparse(&dataset, "", ROWS, 13, narrow); /* ends before its images do */
    for (size_t i = 0; i < 4; i++) {
        md_view view = view_of(dataset, specs[i]);
        md_text bytes = {0};
        md_view back;
        md_matrix matrix = {0};
        assert_int_equal(view.column_count, columns[i]);
        assert_int_equal(md_view_fit_scale(&view, MD_SCALE_STANDARD, dataset, NULL), MEDLEY_OK);
        assert_int_equal(md_view_extract(&matrix, &view, dataset, NULL), MEDLEY_OK);
        md_view_pack(&bytes, &view);
        md_unpack in = {.data = bytes.data, .length = bytes.length};
        assert_int_equal(md_view_unpack(&back, &in, true), MEDLEY_OK);
        assert_string_equal(back.steps, specs[i]);
        check_extracted(&back, dataset, columns[i], matrix.dense);
        md_matrix_clear(&matrix);
        md_text_clear(&bytes);
        md_view_clear(&back);
        md_view_clear(&view);
    }
    medley_dataset_free(dataset);
}

static const char *const wrong_specs[][2] = {
    {"center", "12 columns are no square image; write center or center(HxW,pad=2,slant=0)"},
    {"center()", "write center"},
    {"center:2", "write center"},
    {"center(3x4,2)", "write center"},
    {"center(pad=2,3x4)", "write center"},
    {"center(3x4,4x3)", "write center"},
    {"center(3x4,)", "write center"},
    {"center(3x5)", "15 pixels but the data have 12"},
    {"center(3x4,pad=-1)", "transform center: pad=-1 is out of range; give 0 to 100"},
    {"center(3x4,pad=101)", "give 0 to 100"},
    {"center(3x4,pad=1.5)", "pad='1.5' is not a whole number"},
    {"center(3x4,pad=)", "pad='' is not a whole number"},
    {"center(3x4,pad=1,pad=2)", "'pad' is given twice"},
    {"center(3x4,pda=1)", "has no option 'pda'; did you mean 'pad'?"},
    {"center(3x4,=1)", "has no option ''"},
    {"center(3x4,slant=-0.1)", "give 0 to 1"},
    {"center(3x4,slant=1.1)", "give 0 to 1"},
    {"center(3x4,slant=nan)", "is not a number"},
    {"center(3x4)/blur(3x4,1)", "12 pixels but the data have 56"},
    {"orient", "12 columns are no square image; write orient or orient(HxW,directions=8,"},
    {"orient(3x4,8)", "write orient"},
    {"orient(3x4,directions=0)", "transform orient: directions=0 is out of range; give 1 to 64"},
    {"orient(3x4,directions=65)", "give 1 to 64"},
    {"orient(3x4,blur=-1)", "give 0 to 100"},
    {"orient(3x4,blur=inf)", "is not a number"},
    {"orient(3x4,stride=0)", "stride=0 is out of range"},
    {"orient(3x4,stride=4)", "images of 3x4 need a stride of at most 3"},
    {"orient(12x1)", "stride is 2 but images of 12x1 need a stride of at most 1"},
    {"orient(3x4,root=0)", "give 0.01 to 10"},
    {"orient(3x4,root=-1)", "give 0.01 to 10"},
    {"orient(3x4,directions=8,blur=1,stride=1,root=1,root=1)", "write orient"},
    {"orient(3x4)/blur(1)", "16 columns are no square"},
    {"orient(3x4,directions=1,stride=1)/orient(directions=4)/blur(1)", "columns are no square"},
    {"centre(3x4)", "center or center(HxW,pad=2,slant=0)"},
    {"shift(3x4)/centre", "did you mean 'center'"},
};

static void bad_options_are_refused(void **state)
{
    (void)state;
    static const float pixels[12] = {1};
    medley_dataset *dense = NULL;
    medley_dataset *sparse = NULL;
    medley_error error = {0};
    md_view *views = NULL;
    size_t count;
    add_dense(&dense, "", 1, 12, pixels);
    for (size_t i = 0; i < sizeof wrong_specs / sizeof *wrong_specs; i++) {
        error = (medley_error){0};
        assert_int_equal(md_views_make(&views, &count, dense, wrong_specs[i][0], &error),
                         MEDLEY_USAGE);
        if (strstr(error.message, wrong_specs[i][1]) == NULL)
            fail_msg("%s: %s", wrong_specs[i][0], error.message);
        assert_null(views);
    }
    add_sparse(&sparse, "", 1, 12, pixels); /* its images may have any size */
    static const char *const huge[][2] = {{"center(20000000x104)", "too many pixels"},
                                          {"center(2000000000x1,pad=100)", "too many pixels"},
                                          {"orient(20000x20000,stride=1)", "are too many"}};
    for (size_t i = 0; i < 3; i++) {
        error = (medley_error){0};
        assert_int_equal(md_views_make(&views, &count, sparse, huge[i][0], &error), MEDLEY_USAGE);
        if (strstr(error.message, huge[i][1]) == NULL)
            fail_msg("%s: %s", huge[i][0], error.message);
    }
    medley_dataset_free(dense);
    medley_dataset_free(sparse);
}

/* Random texts of the pieces that specs are made of: views or a refusal. */
static void noise_never_breaks_the_parser(void **state)
{
    (void)state;
    static const char *const pieces[] = {
        "center(", "orient(", "center", "orient", "3x4",  ",",       ")",        "/",       "=",
        "pad=1",   "slant=1", "pad",    "blur=1", "3x4)", "root=1)", "stride=1", "window:1"};
    md_random random;
    md_random_seed(&random, 13);
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
        cmocka_unit_test(views_come_back_from_bytes),
        cmocka_unit_test(bad_options_are_refused),
        cmocka_unit_test(noise_never_breaks_the_parser),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
