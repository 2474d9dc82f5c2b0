/* SPDX-License-Identifier: BSD-3-Clause */
/* Random views: fair coins, never empty, the same from one seed, and what is refused. */
#include "view/view_data.h"

#include "base/memory.h"

struct made {
    md_view *views;
    size_t count;
};

static struct made make(const medley_dataset *dataset, const char *spec)
{
    struct made made = {0};
    medley_error error = {0};
    if (md_views_make(&made.views, &made.count, dataset, spec, &error) < 0)
        fail_msg("%s: %s", spec, error.message);
    return made;
}

static void clear(struct made *made)
{
    md_views_free(made->views, made->count);
}

static bool same_columns(const md_view *a, const md_view *b)
{
    return a->column_count == b->column_count &&
           memcmp(a->columns, b->columns, a->column_count * sizeof *a->columns) == 0;
}

static void views_are_named_and_increasing_and_never_empty(void **state)
{
    (void)state;
    for (size_t columns = 1; columns <= 130; columns = 2 * columns + 1) {
        medley_dataset *dataset = NULL;
        add_dense(&dataset, "", 2, columns, NULL);
        struct made made = make(dataset, "random:300");
        assert_int_equal(made.count, 300);
        for (size_t v = 0; v < made.count; v++) {
            const md_view *view = &made.views[v];
            char name[32];
            snprintf(name, sizeof name, "random%zu", v + 1);
            assert_string_equal(view->name, name);
            assert_string_equal(view->group, "random");
            assert_int_equal(view->table_columns, columns);
            assert_in_range(view->column_count, 1, columns);
            for (size_t c = 0; c < view->column_count; c++)
                assert_true(view->columns[c] < columns &&
                            (c == 0 || view->columns[c] > view->columns[c - 1]));
        }
        clear(&made);
        medley_dataset_free(dataset);
    }
}

/* Each column, and each pair of neighbours, by its binomial law: within five deviations. */
static void coins_are_fair_and_independent(void **state)
{
    (void)state;
    enum { COLUMNS = 140, VIEWS = 4000 };
    medley_dataset *dataset = NULL;
    add_dense(&dataset, "", 2, COLUMNS, NULL);
    struct made made = make(dataset, "random:4000:3");
    size_t alone[COLUMNS] = {0};
    size_t together[COLUMNS] = {0};
    for (size_t v = 0; v < made.count; v++) {
        const md_view *view = &made.views[v];
        for (size_t c = 0; c < view->column_count; c++) {
            alone[view->columns[c]]++;
            if (c > 0 && view->columns[c] == view->columns[c - 1] + 1)
                together[view->columns[c]]++;
        }
    }
    for (size_t c = 0; c < COLUMNS; c++) {
        assert_true(fabs((double)alone[c] - VIEWS * 0.5) < 5 * sqrt(VIEWS * 0.25));
        if (c > 0)
            assert_true(fabs((double)together[c] - VIEWS * 0.25) < 5 * sqrt(VIEWS * 0.1875));
    }
    clear(&made);
    medley_dataset_free(dataset);
}

static void a_seed_gives_one_draw_and_more_views_go_on_from_fewer(void **state)
{
    (void)state;
    medley_dataset *dataset = NULL;
    add_dense(&dataset, "", 2, 20, NULL);
    struct made few = make(dataset, "random:10");
    struct made many = make(dataset, "random:50:1");
    struct made other = make(dataset, "random:10:2");
    size_t alike = 0;
    for (size_t v = 0; v < few.count; v++) {
        assert_true(same_columns(&few.views[v], &many.views[v]));
        alike += same_columns(&few.views[v], &other.views[v]);
    }
    assert_true(alike < 3);
    /* written down once, so that a change of the draw does not go unnoticed */
    static const size_t first[] = {0, 1, 3, 4, 7, 9, 14, 15, 16, 17};
    assert_int_equal(few.views[0].column_count, sizeof first / sizeof *first);
    assert_memory_equal(few.views[0].columns, first, sizeof first);
    clear(&few);
    clear(&many);
    clear(&other);
    medley_dataset_free(dataset);
}

static void columns_are_extracted(void **state)
{
    (void)state;
    enum { ROWS = 5, COLUMNS = 9 };
    float values[ROWS * COLUMNS];
    medley_dataset *dense = NULL;
    medley_dataset *sparse = NULL;
    fill_images(values, ROWS, COLUMNS, 4);
    add_dense(&dense, "", ROWS, COLUMNS, values);
    add_sparse(&sparse, "", ROWS, COLUMNS, values);
    for (int kind = 0; kind < 2; kind++) {
        const medley_dataset *dataset = kind ? sparse : dense;
        struct made made = make(dataset, "random:20:9");
        for (size_t v = 0; v < made.count; v++) {
            const md_view *view = &made.views[v];
            float expected[ROWS * COLUMNS];
            for (size_t r = 0; r < ROWS; r++)
                for (size_t c = 0; c < view->column_count; c++)
                    expected[r * view->column_count + c] = values[r * COLUMNS + view->columns[c]];
            check_extracted(view, dataset, view->column_count, expected);
        }
        clear(&made);
    }
    medley_dataset_free(dense);
    medley_dataset_free(sparse);
}

static void views_of_named_tables_carry_its_name(void **state)
{
    (void)state;
    medley_dataset *dataset = NULL;
    add_dense(&dataset, "a", 2, 3, NULL);
    add_dense(&dataset, "b", 2, 4, NULL);
    struct made made = make(dataset, "all + random:2:7");
    static const char *const names[] = {"a", "a.random1", "a.random2",
                                        "b", "b.random1", "b.random2"};
    assert_int_equal(made.count, 6);
    for (size_t v = 0; v < 6; v++)
        assert_string_equal(made.views[v].name, names[v]);
    clear(&made);
    medley_dataset_free(dataset);
}

static void what_is_no_number_of_views_is_refused(void **state)
{
    (void)state;
    static const char *const wrong[][2] = {
        {"random:", "'' is not a whole number; write random:COUNT"},
        {"random:ten", "'ten' is not a whole number"},
        {"random:2.5", "'2.5' is not a whole number"},
        {"random:0", "ask for 1 to 1000000 random views"},
        {"random:-4", "ask for 1 to 1000000"},
        {"random:1000001", "ask for 1 to 1000000"},
        {"random:99999999999999999999999999", "is not a whole number"},
        {"random:5:", "the seed '' is not a whole number"},
        {"random:5:x", "the seed 'x' is not"},
        {"random:5:-1", "the seed '-1' is not"},
        {"random:5:1:1", "the seed '1:1' is not"},
        {"random:5+random:5:2", "once"},
    };
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
    }
    medley_dataset_free(dataset);
}

static void more_lists_of_columns_than_memory_are_refused(void **state)
{
    (void)state;
    if (md_memory_available() == 0)
        skip();
    medley_dataset *dataset = NULL;
    const float one = 1;
    md_table *table = add_sparse(&dataset, "", 1, 1, &one);
    table->features.columns = INT32_MAX;
    md_view *views = NULL;
    size_t count = 0;
    medley_error error = {0};
    assert_int_equal(md_views_make(&views, &count, dataset, "random:1000000", &error),
                     MEDLEY_FAILED);
    assert_non_null(strstr(error.message, "memory"));
    medley_dataset_free(dataset);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(views_are_named_and_increasing_and_never_empty),
        cmocka_unit_test(coins_are_fair_and_independent),
        cmocka_unit_test(a_seed_gives_one_draw_and_more_views_go_on_from_fewer),
        cmocka_unit_test(columns_are_extracted),
        cmocka_unit_test(views_of_named_tables_carry_its_name),
        cmocka_unit_test(what_is_no_number_of_views_is_refused),
        cmocka_unit_test(more_lists_of_columns_than_memory_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
