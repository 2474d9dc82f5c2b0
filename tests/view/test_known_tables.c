/* SPDX-License-Identifier: BSD-3-Clause */
/* The columns of other data in the order of training, by their names. */
#include "view/known_tables.h"
#include "view/view_data.h"

static const char *const names[] = {"a", "b", "c", NULL};
static const float rows[] = {1, 2, 3, /**/ 4, 5, 6}; /* 2 x 3 */

static md_known_tables known_tables(void)
{
    medley_dataset *train = NULL;
    md_known_tables known = {0};
    name_columns(add_dense(&train, "", 2, 3, rows), names);
    assert_int_equal(md_known_tables_make(&known, train, NULL), MEDLEY_OK);
    medley_dataset_free(train);
    return known;
}

/* The features of the only table after it was put into order. */
static void check_aligned(const md_known_tables *known, const medley_dataset *data,
                          const float *expected)
{
    md_aligned aligned = {0};
    md_matrix dense = {0};
    assert_int_equal(md_align_tables(&aligned, known, data, NULL), MEDLEY_OK);
    const md_matrix *features = &aligned.dataset.tables[0].features;
    assert_int_equal(features->columns, 3);
    if (md_matrix_is_sparse(features)) {
        assert_int_equal(md_matrix_to_dense(&dense, features, 3, NULL), MEDLEY_OK);
        features = &dense;
    }
    assert_memory_equal(features->dense, expected, 6 * sizeof *expected);
    md_matrix_clear(&dense);
    md_aligned_clear(&aligned);
}

static void columns_are_put_into_the_order_of_training(void **state)
{
    (void)state;
    static const char *const moved[] = {"c", "x", "a", "b", NULL};
    static const float fresh[] = {3, 9, 1, 2, /**/ 6, 9, 4, 5};
    md_known_tables known = known_tables();
    medley_dataset *data[3] = {NULL};
    name_columns(add_dense(&data[0], "", 2, 4, fresh), moved);
    name_columns(add_sparse(&data[1], "", 2, 4, fresh), moved);
    add_dense(&data[2], "", 2, 3, rows); /* without names: by place */
    for (size_t i = 0; i < 3; i++) {
        check_aligned(&known, data[i], rows);
        medley_dataset_free(data[i]);
    }
    md_known_tables_clear(&known);
}

static void missing_columns_are_named(void **state)
{
    (void)state;
    static const char *const some[] = {"b", "x", NULL};
    static const float fresh[] = {2, 9, /**/ 5, 9};
    static const float zeros[] = {0, 2, 0, /**/ 0, 5, 0};
    md_known_tables known = known_tables();
    medley_dataset *dense = NULL;
    medley_dataset *sparse = NULL;
    md_aligned aligned = {0};
    medley_error error = {0};
    name_columns(add_dense(&dense, "", 2, 2, fresh), some);
    name_columns(add_sparse(&sparse, "", 2, 2, fresh), some);
    assert_int_equal(md_align_tables(&aligned, &known, dense, &error), MEDLEY_BAD_INPUT);
    assert_non_null(strstr(error.message, "are missing: 'a', 'c';"));
    assert_non_null(strstr(error.message, "the 2 columns are 'b', 'x', and the model needs 3"));
    check_aligned(&known, sparse, zeros);
    medley_dataset_free(dense);
    medley_dataset_free(sparse);
    md_known_tables_clear(&known);
}

/* Every cut of the bytes is refused. */
static void what_is_packed_comes_back(void **state)
{
    (void)state;
    md_known_tables known = known_tables();
    md_known_tables back = {0};
    md_text bytes = {0};
    md_known_tables_pack(&bytes, &known);
    md_unpack in = {.data = bytes.data, .length = bytes.length};
    assert_true(md_known_tables_unpack(&back, &in, true) && md_unpack_done(&in));
    assert_int_equal(back.count, 1);
    assert_null(back.items[0].label_name);
    for (size_t c = 0; c < 3; c++)
        assert_string_equal(back.items[0].names.items[c], names[c]);
    md_known_tables_clear(&back);
    for (size_t length = 0; length < bytes.length; length += 8) {
        in = (md_unpack){.data = bytes.data, .length = length};
        assert_false(md_known_tables_unpack(&back, &in, true));
        assert_null(back.items);
    }
    md_text_clear(&bytes);
    md_known_tables_clear(&known);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(columns_are_put_into_the_order_of_training),
        cmocka_unit_test(missing_columns_are_named),
        cmocka_unit_test(what_is_packed_comes_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
