/* SPDX-License-Identifier: BSD-3-Clause */
/* What `scale=auto` makes of tables, and of columns that want to mislead it. */
#include "view/view_data.h"

enum { ROWS = 60, COLUMNS = 20 };

/* What auto chooses for the first view of spec. */
static md_scale choose_for(const medley_dataset *dataset, const char *spec)
{
    md_view *views = NULL;
    size_t count;
    bool as_is[64] = {false};
    md_scale scales[64];
    assert_int_equal(md_views_make(&views, &count, dataset, spec, NULL), MEDLEY_OK);
    assert_true(count <= 64);
    for (size_t v = 0; v < count; v++)
        scales[v] = MD_SCALE_AUTO;
    assert_int_equal(
        md_views_auto_scale(scales, views, count, as_is, MD_SCALE_CENTER, dataset, NULL),
        MEDLEY_OK);
    for (size_t v = 1; v < count; v++)
        assert_int_equal(scales[v], scales[0]); /* one table, one decision */
    md_views_free(views, count);
    return scales[0];
}

static md_scale choose(const float *values, size_t rows, size_t columns)
{
    medley_dataset *dataset = NULL;
    add_dense(&dataset, "", rows, columns, values);
    const md_scale scale = choose_for(dataset, "all");
    assert_int_equal(choose_for(dataset, "all+each+random:7"), scale);
    medley_dataset_free(dataset);
    return scale;
}

/* Normal numbers of these deviations around 3. */
static void fill(float *values, size_t rows, size_t columns, const double *deviations)
{
    md_random random;
    md_random_seed(&random, 5);
    for (size_t i = 0; i < rows * columns; i++)
        values[i] = (float)(3 + deviations[i % columns] * md_random_normal(&random));
}

static void deviations_that_differ_tenfold_are_made_alike(void **state)
{
    (void)state;
    float values[ROWS * 3];
    fill(values, ROWS, 3, (const double[]){1, 5, 2});
    assert_int_equal(choose(values, ROWS, 3), MD_SCALE_CENTER);
    fill(values, ROWS, 3, (const double[]){1, 20, 2});
    assert_int_equal(choose(values, ROWS, 3), MD_SCALE_STANDARD);
    fill(values, ROWS, 3, (const double[]){1, 2, 0.02});
    assert_int_equal(choose(values, ROWS, 3), MD_SCALE_STANDARD);
    fill(values, ROWS, 3, (const double[]){1e12, 1e-12, 1});
    assert_int_equal(choose(values, ROWS, 3), MD_SCALE_STANDARD);
}

static void constant_columns_have_no_say(void **state)
{
    (void)state;
    float values[ROWS * 3];
    fill(values, ROWS, 3, (const double[]){1, 0, 2});
    assert_int_equal(choose(values, ROWS, 3), MD_SCALE_CENTER);
    for (size_t r = 0; r < ROWS; r++) /* constant but for the last bit */
        values[3 * r + 1] = r % 2 ? 0.1F : nextafterf(0.1F, 1);
    assert_int_equal(choose(values, ROWS, 3), MD_SCALE_CENTER);
    fill(values, ROWS, 3, (const double[]){0, 0, 0});
    assert_int_equal(choose(values, ROWS, 3), MD_SCALE_NONE);
    fill(values, 1, 3, (const double[]){1, 100, 1});
    assert_int_equal(choose(values, 1, 3), MD_SCALE_NONE);
}

/* Values from 0 to top, dark at the border: pixels that hardly ever shine vary little. */
static void fill_pixels(float *values, float top)
{
    md_random random;
    md_random_seed(&random, 6);
    for (size_t i = 0; i < ROWS * COLUMNS; i++) {
        const bool border = i % COLUMNS < 6;
        const double light = md_random_uniform(&random);
        values[i] = border ? 0 : (float)floor(16 * light) / 15 * top;
        if (i / COLUMNS < 2 && border)
            values[i] = i / COLUMNS ? 0 : top / 40;
        values[i] = fminf(values[i], top);
    }
}

static void pixels_are_not_made_alike(void **state)
{
    (void)state;
    float values[ROWS * COLUMNS];
    for (int i = 0; i < 2; i++) {
        fill_pixels(values, i ? 255 : 1);
        assert_int_equal(choose(values, ROWS, COLUMNS), MD_SCALE_CENTER);
    }
    values[7] = -1; /* below the others: no pixel */
    assert_int_equal(choose(values, ROWS, COLUMNS), MD_SCALE_STANDARD);
    fill_pixels(values, 1);
    values[8] = 1e4F; /* far above the others */
    assert_int_equal(choose(values, ROWS, COLUMNS), MD_SCALE_STANDARD);
}

static void answers_beside_numbers_are_made_alike(void **state)
{
    (void)state;
    float values[ROWS * COLUMNS] = {0};
    md_random random;
    md_random_seed(&random, 7);
    for (size_t r = 0; r < ROWS; r++)
        values[r * COLUMNS + md_random_below(&random, COLUMNS)] = 1; /* one of twenty each */
    assert_int_equal(choose(values, ROWS, COLUMNS), MD_SCALE_CENTER);
    for (size_t r = 0; r < ROWS; r++)
        values[r * COLUMNS] = (float)(20 + md_random_below(&random, 60)); /* an age */
    assert_int_equal(choose(values, ROWS, COLUMNS), MD_SCALE_STANDARD);
}

static void images_and_sparse_rows_are_not_made_alike(void **state)
{
    (void)state;
    float values[ROWS * 16];
    const double deviations[16] = {1, 100, 1, 5, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    fill(values, ROWS, 16, deviations);
    medley_dataset *dataset = NULL;
    md_table *table = add_dense(&dataset, "", ROWS, 16, values);
    assert_int_equal(choose_for(dataset, "all+each"), MD_SCALE_STANDARD);
    assert_int_equal(choose_for(dataset, "all+grid:2x2"), MD_SCALE_CENTER);
    assert_int_equal(choose_for(dataset, "blur(4x4,0.5)+all"), MD_SCALE_CENTER);
    assert_int_equal(choose_for(dataset, "window:1"), MD_SCALE_STANDARD);
    table->height = table->width = 4;
    assert_int_equal(choose_for(dataset, "all"), MD_SCALE_CENTER);
    medley_dataset_free(dataset);
    dataset = NULL;
    add_sparse(&dataset, "", ROWS, 16, values);
    assert_int_equal(choose_for(dataset, "all"), MD_SCALE_NONE);
    medley_dataset_free(dataset);
}

static void what_somebody_has_said_stays(void **state)
{
    (void)state;
    float values[ROWS * 3];
    fill(values, ROWS, 3, (const double[]){1, 100, 2});
    medley_dataset *dataset = NULL;
    add_dense(&dataset, "", ROWS, 3, values);
    md_view *views = NULL;
    size_t count;
    assert_int_equal(md_views_make(&views, &count, dataset, "all+each", NULL), MEDLEY_OK);
    const bool as_is[] = {false, true, false, true};
    md_scale scales[] = {MD_SCALE_AUTO, MD_SCALE_AUTO, MD_SCALE_MINMAX, MD_SCALE_MAXABS};
    assert_int_equal(
        md_views_auto_scale(scales, views, count, as_is, MD_SCALE_CENTER, dataset, NULL),
        MEDLEY_OK);
    assert_int_equal(scales[0], MD_SCALE_STANDARD);
    assert_int_equal(scales[1], MD_SCALE_NONE);
    assert_int_equal(scales[2], MD_SCALE_MINMAX);
    assert_int_equal(scales[3], MD_SCALE_MAXABS);
    md_views_free(views, count);
    medley_dataset_free(dataset);
}

/* Random tables of every kind: columns in another order get the same answer. */
static void the_order_of_columns_does_not_matter(void **state)
{
    (void)state;
    md_random random;
    md_random_seed(&random, 8);
    size_t chosen[MD_SCALES] = {0};
    for (int round = 0; round < 300; round++) {
        float values[12 * 6];
        float permuted[12 * 6];
        size_t order[6] = {0, 1, 2, 3, 4, 5};
        const bool whole = round % 3 == 0;
        md_random_shuffle(&random, order, 6);
        for (size_t i = 0; i < 72; i++) {
            const double x = md_random_normal(&random) * exp(1.2 * (double)(i % 6 % 4));
            values[i] = (float)(whole ? fmax(0, fmin(3, round % 2 ? floor(x) : fabs(x))) : x);
        }
        for (size_t i = 0; i < 72; i++)
            permuted[i] = values[i / 6 * 6 + order[i % 6]];
        const md_scale scale = choose(values, 12, 6);
        assert_int_equal(choose(permuted, 12, 6), scale);
        chosen[scale]++;
    }
    assert_true(chosen[MD_SCALE_STANDARD] > 20 && chosen[MD_SCALE_CENTER] > 20);
}

/* Nobody has asked for a scale: numbers too small for one are no reason to refuse the data. */
static void numbers_too_small_for_a_scale_are_left_out(void **state)
{
    (void)state;
    static const float values[] = {1e-41F, 1, 3e-41F, 2, 0, 4};
    medley_dataset *dataset = NULL;
    medley_error error = {0};
    add_dense(&dataset, "", 3, 2, values);
    md_view *views = NULL;
    size_t count;
    md_matrix matrix = {0};
    assert_int_equal(md_views_make(&views, &count, dataset, "all", NULL), MEDLEY_OK);
    assert_int_equal(md_view_fit_scale(views, MD_SCALE_STANDARD, dataset, &error),
                     MEDLEY_BAD_INPUT);
    views[0].chosen = true;
    assert_int_equal(md_view_fit_scale(views, MD_SCALE_STANDARD, dataset, NULL), MEDLEY_OK);
    assert_int_equal(md_view_extract(&matrix, views, dataset, NULL), MEDLEY_OK);
    for (size_t r = 0; r < 3; r++)
        assert_true(matrix.dense[2 * r] == 0 && matrix.dense[2 * r + 1] != 0);
    md_matrix_clear(&matrix);
    md_views_free(views, count);
    medley_dataset_free(dataset);
}

static void centred_columns_keep_their_deviations(void **state)
{
    (void)state;
    static const float values[] = {1, 200, 7, -3, 4, 7, 5, 6, 7};
    static const float expected[] = {0, 130, 0, -4, -66, 0, 4, -64, 0};
    medley_dataset *dataset = NULL;
    add_dense(&dataset, "", 3, 3, values);
    md_view *views = NULL;
    size_t count;
    md_matrix matrix = {0};
    assert_int_equal(md_views_make(&views, &count, dataset, "all", NULL), MEDLEY_OK);
    assert_int_equal(md_view_fit_scale(views, MD_SCALE_CENTER, dataset, NULL), MEDLEY_OK);
    assert_int_equal(md_view_extract(&matrix, views, dataset, NULL), MEDLEY_OK);
    for (size_t i = 0; i < 9; i++)
        assert_true(matrix.dense[i] == expected[i]);
    md_matrix_clear(&matrix);
    md_views_free(views, count);
    medley_dataset_free(dataset);
}

static void views_that_differ_are_told_one_by_one(void **state)
{
    (void)state;
    char name[10][4];
    md_view views[10] = {0};
    for (size_t v = 0; v < 10; v++) {
        snprintf(name[v], sizeof name[v], "v%zu", v);
        views[v].name = name[v];
        views[v].scale = MD_SCALE_STANDARD;
    }
    md_text text = {0};
    md_views_tell_scale(&text, views, 0);
    assert_int_equal(text.length, 0);
    md_views_tell_scale(&text, views, 10);
    assert_string_equal(text.data, "standard");
    md_text_clear(&text);
    views[1].scale = MD_SCALE_NONE;
    views[2].scale = MD_SCALE_AUTO; /* of an older file */
    md_views_tell_scale(&text, views, 3);
    assert_string_equal(text.data, "v0=standard, v1=none, v2=scaled");
    md_text_clear(&text);
    md_views_tell_scale(&text, views, 10);
    assert_non_null(strstr(text.data, "v7=standard, ..."));
    md_text_clear(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(deviations_that_differ_tenfold_are_made_alike),
        cmocka_unit_test(constant_columns_have_no_say),
        cmocka_unit_test(pixels_are_not_made_alike),
        cmocka_unit_test(answers_beside_numbers_are_made_alike),
        cmocka_unit_test(images_and_sparse_rows_are_not_made_alike),
        cmocka_unit_test(what_somebody_has_said_stays),
        cmocka_unit_test(the_order_of_columns_does_not_matter),
        cmocka_unit_test(numbers_too_small_for_a_scale_are_left_out),
        cmocka_unit_test(centred_columns_keep_their_deviations),
        cmocka_unit_test(views_that_differ_are_told_one_by_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
