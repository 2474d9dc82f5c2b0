/* SPDX-License-Identifier: BSD-3-Clause */
/* Views as bytes: what comes back is what went in, and damaged bytes are noticed. */
#include "view/view_data.h"

#include "base/memory.h"

enum { ROWS = 4, COLUMNS = 12 };

static float values[ROWS * COLUMNS];

static const char *const some_names[] = {"w=a", "w=b", "p=N", "bias", "w=c", "p=V", "w=d",
                                         "w=e", "p=X", "q",   "r=",   "=s",  NULL};

static medley_dataset *make_data(bool sparse, bool named, size_t height, size_t width)
{
    medley_dataset *dataset = NULL;
    for (size_t i = 0; i < ROWS * COLUMNS; i++)
        values[i] = (float)(i * 7 % 5);
    md_table *table = sparse ? add_sparse(&dataset, "", ROWS, COLUMNS, values)
                             : add_dense(&dataset, "", ROWS, COLUMNS, values);
    if (named)
        name_columns(table, some_names);
    table->height = height;
    table->width = width;
    return dataset;
}

/* Every kind of view, one after another; returns their number. */
static size_t make_views(md_view *views, size_t most)
{
    static const struct {
        const char *spec;
        size_t height, width;
        md_scale scale;
        bool sparse, named;
    } cases[] = {
        {"all+each", 0, 0, MD_SCALE_NONE, false, false},
        {"grid:1x2+blur(0.5)+shift/window:1", 3, 4, MD_SCALE_STANDARD, false, false},
        {"all+prefix+blur(4x3,1)/shift(0,1)", 0, 0, MD_SCALE_MINMAX, false, true},
        {"all+window:1+blur(4x4,1)", 0, 0, MD_SCALE_STANDARD, true, false},
        {"random:3:5", 0, 0, MD_SCALE_STANDARD, false, false},
        {"random:3", 0, 0, MD_SCALE_NONE, true, true},
        {"all+prefix+each+window:2", 0, 0, MD_SCALE_MINMAX, true, true},
    };
    size_t count = 0;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        medley_dataset *dataset =
            make_data(cases[i].sparse, cases[i].named, cases[i].height, cases[i].width);
        md_view *made = NULL;
        size_t more = 0;
        medley_error error = {0};
        if (md_views_make(&made, &more, dataset, cases[i].spec, &error) < 0)
            fail_msg("%s", error.message);
        assert_true(count + more <= most);
        for (size_t v = 0; v < more; v++) {
            assert_int_equal(md_view_fit_scale(&made[v], cases[i].scale, dataset, NULL), MEDLEY_OK);
            views[count++] = made[v];
        }
        free(made);
        medley_dataset_free(dataset);
    }
    return count;
}

static void assert_same_array(const void *a, const void *b, size_t bytes)
{
    assert_true((a == NULL) == (b == NULL));
    if (a != NULL)
        assert_memory_equal(a, b, bytes);
}

static void assert_same_view(const md_view *a, const md_view *b)
{
    assert_string_equal(a->name, b->name);
    assert_string_equal(a->group, b->group);
    assert_string_equal(a->table, b->table);
    assert_int_equal(a->table_columns, b->table_columns);
    assert_int_equal(a->column_count, b->column_count);
    assert_int_equal(a->sparse, b->sparse);
    assert_int_equal(a->scale, b->scale);
    assert_same_array(a->columns, b->columns, a->column_count * sizeof *a->columns);
    assert_same_array(a->shift, b->shift, a->column_count * sizeof *a->shift);
    assert_same_array(a->factor, b->factor, a->column_count * sizeof *a->factor);
    assert_true((a->steps == NULL) == (b->steps == NULL));
    if (a->steps != NULL)
        assert_string_equal(a->steps, b->steps);
    assert_int_equal(a->height, b->height);
    assert_int_equal(a->width, b->width);
    assert_int_equal(a->names.count, b->names.count);
    for (size_t c = 0; c < a->names.count; c++)
        assert_string_equal(a->names.items[c], b->names.items[c]);
}

static void views_come_back(void **state)
{
    (void)state;
    md_view views[64];
    const size_t count = make_views(views, 64);
    assert_true(count > 30);
    md_text bytes = {0};
    for (size_t v = 0; v < count; v++)
        md_view_pack(&bytes, &views[v]);
    assert_false(bytes.failed);
    md_unpack in = {.data = bytes.data, .length = bytes.length};
    for (size_t v = 0; v < count; v++) {
        md_view back;
        assert_int_equal(md_view_unpack(&back, &in, true), MEDLEY_OK);
        assert_same_view(&views[v], &back);
        md_view_clear(&back);
        md_view_clear(&views[v]);
    }
    assert_true(md_unpack_done(&in));
    md_text_clear(&bytes);
}

static void assert_empty(const md_view *view)
{
    assert_null(view->name);
    assert_null(view->columns);
    assert_null(view->factor);
    assert_null(view->steps);
    assert_int_equal(view->names.count, 0);
}

static void truncated_views_are_bad(void **state)
{
    (void)state;
    md_view views[64];
    const size_t count = make_views(views, 64);
    for (size_t v = 0; v < count; v++) {
        md_text bytes = {0};
        md_view_pack(&bytes, &views[v]);
        for (size_t length = 0; length < bytes.length; length++) {
            char *cut = md_copy(bytes.data, length); /* so that reading beyond is noticed */
            md_unpack in = {.data = cut, .length = length};
            md_view back;
            assert_int_equal(md_view_unpack(&back, &in, true), MEDLEY_BAD_INPUT);
            assert_true(in.bad);
            assert_empty(&back);
            free(cut);
        }
        md_text_clear(&bytes);
        md_view_clear(&views[v]);
    }
}

/* Any byte changed to anything: bad, or a view that can be used on any data. */
static void damaged_views_do_no_harm(void **state)
{
    (void)state;
    md_view views[64];
    const size_t count = make_views(views, 64);
    medley_dataset *data[4];
    for (size_t d = 0; d < 4; d++)
        data[d] = make_data(d & 1, d & 2, 0, 0);
    md_random random;
    md_random_seed(&random, 5);
    size_t good = 0;
    size_t bad = 0;
    for (size_t v = 0; v < count; v++) {
        md_text bytes = {0};
        md_view_pack(&bytes, &views[v]);
        for (size_t place = 0; place < bytes.length; place++) {
            const char before = bytes.data[place];
            bytes.data[place] = (char)(before ^ (char)(1 + md_random_below(&random, 255)));
            md_unpack in = {.data = bytes.data, .length = bytes.length};
            md_view back;
            const medley_status status = md_view_unpack(&back, &in, true);
            bytes.data[place] = before;
            assert_true((status == MEDLEY_OK) == !in.bad);
            good += status == MEDLEY_OK;
            bad += status < 0;
            if (status < 0) {
                assert_empty(&back);
                continue;
            }
            for (size_t d = 0; d < 4; d++) {
                md_matrix matrix = {0};
                if (back.column_count < 100000 && back.table_columns < 100000)
                    (void)md_view_extract(&matrix, &back, data[d], NULL);
                md_matrix_clear(&matrix);
            }
            md_view_clear(&back);
        }
        md_text_clear(&bytes);
        md_view_clear(&views[v]);
    }
    assert_true(good > 100 && bad > 100);
    for (size_t d = 0; d < 4; d++)
        medley_dataset_free(data[d]);
}

/* A view of 12 columns without scaling or names, with what is said of it below. */
static medley_status pack_and_unpack(md_view view)
{
    static char name[] = "v";
    md_text bytes = {0};
    md_view back;
    view.name = view.group = view.table = name;
    md_view_pack(&bytes, &view);
    md_unpack in = {.data = bytes.data, .length = bytes.length};
    const medley_status status = md_view_unpack(&back, &in, true);
    md_view_clear(&back);
    md_text_clear(&bytes);
    return status;
}

/* Parts that are well formed but do not fit together. */
static void parts_that_do_not_fit_are_bad(void **state)
{
    (void)state;
    static char *const wrong_steps[] = {
        "",          "all",          "blur(3x5,1)", "blur(4x4,1)", "blur(1)/",
        "window:51", "window:1",     "shift",       "blur(3x4)",   "blur(3x4,nan)",
        "blur(1",    "blur(3x4,1)+", "blurr(3x4,1)"};
    static char steps[] = "blur(3x4,1)";
    size_t all[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
    const size_t huge = (size_t)1 << 31;
    const md_view cases[] = {
        /* the first two are fine */
        {.table_columns = 12, .column_count = 12, .steps = steps},
        {.table_columns = 12, .column_count = 2, .columns = (size_t[]){1, 11}},
        {.table_columns = 12, .column_count = 12, .steps = steps, .sparse = true},
        {.table_columns = 12, .column_count = 12, .steps = steps, .height = 3},
        {.table_columns = 12, .column_count = 12, .steps = steps, .height = 4, .width = 4},
        {.table_columns = 12, .column_count = 12, .steps = steps, .height = huge << 32, .width = 2},
        {.table_columns = 12, .column_count = 13, .steps = steps},
        {.table_columns = 12, .column_count = 12, .steps = steps, .columns = all},
        {.table_columns = 12, .column_count = 11},
        {.table_columns = 12, .column_count = 2, .columns = (size_t[]){1, 0}},
        {.table_columns = 12, .column_count = 2, .columns = (size_t[]){1, 12}},
        {.table_columns = huge, .column_count = huge},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (pack_and_unpack(cases[i]) != (i < 2 ? MEDLEY_OK : MEDLEY_BAD_INPUT))
            fail_msg("case %zu", i);
    for (size_t i = 0; i < sizeof wrong_steps / sizeof *wrong_steps; i++) {
        const md_view view = {.table_columns = 12, .column_count = 12, .steps = wrong_steps[i]};
        if (pack_and_unpack(view) != MEDLEY_BAD_INPUT)
            fail_msg("'%s'", wrong_steps[i]);
    }
}

/* Names must be distinct and as many as the columns. */
static void wrong_names_are_bad(void **state)
{
    (void)state;
    for (int kind = 0; kind < 3; kind++) {
        medley_dataset *dataset = make_data(true, true, 0, 0);
        md_view view = view_of(dataset, "all");
        if (kind == 1) {
            free(view.names.items[3]);
            view.names.items[3] = md_copy_text("w=a", 3);
        } else if (kind == 2) {
            free(view.names.items[--view.names.count]);
        }
        md_text bytes = {0};
        md_view_pack(&bytes, &view);
        md_unpack in = {.data = bytes.data, .length = bytes.length};
        md_view back;
        assert_int_equal(md_view_unpack(&back, &in, true), kind ? MEDLEY_BAD_INPUT : MEDLEY_OK);
        md_view_clear(&back);
        md_text_clear(&bytes);
        md_view_clear(&view);
        medley_dataset_free(dataset);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(views_come_back),          cmocka_unit_test(truncated_views_are_bad),
        cmocka_unit_test(damaged_views_do_no_harm), cmocka_unit_test(parts_that_do_not_fit_are_bad),
        cmocka_unit_test(wrong_names_are_bad),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
