/* SPDX-License-Identifier: BSD-3-Clause */
/* Kernels that are gone through by rows: the same values, facts and passes as with whole
 * triangles, with any number of threads and whatever is held. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "packed_passes.h"

static const char *const kernels[] = {"poly", "rbf", "laplace", "bspline", "bias", NULL};
static const char *const norms[] = {"none", "trace", "center", "diag", NULL};
/* Slices have 32 rows, tiles 256, blocks are 32 at most. */
static const size_t sizes[] = {1, 3, 17, 33, 257, 700};
enum { SIZES = sizeof sizes / sizeof *sizes };

static void open_sized(gram_case *c, size_t rows, bool sparse, uint64_t seed)
{
    const case_choice choice = {.kind = {.rows = rows,
                                         .columns = sparse ? 30 : 12,
                                         .center = 1,
                                         .spread = 1,
                                         .zeros = sparse ? 0.7 : 0.05,
                                         .sparse = sparse},
                                .kernels = kernels,
                                .norms = norms,
                                .seed = seed};
    open_case(c, &choice);
}

static void check_facts(const md_packed *found, const md_packed *expected)
{
    for (size_t m = 0; m < md_packed_count(found); m++) {
        const double trace = md_packed_trace(expected, m);
        const double spread = md_packed_spread(expected, m);
        assert_true(fabs(md_packed_trace(found, m) - trace) <= 1e-6 * fabs(trace) + 1e-6);
        assert_true(fabs(md_packed_spread(found, m) - spread) <= 1e-5 * fabs(spread) + 1e-6);
    }
}

static void check_matrices(md_packed *found, md_packed *expected)
{
    const size_t n = md_packed_rows(found);
    double *mine = read_matrices(found);
    double *other = read_matrices(expected);
    for (size_t m = 0; m < md_packed_count(found); m++) {
        const double size = 1 + largest_of(other + m * n * n, n * n);
        for (size_t i = 0; i < n * n; i++)
            assert_true(fabs(mine[m * n * n + i] - other[m * n * n + i]) <= 1e-6 * size);
    }
    free(mine);
    free(other);
}

static void rows_equal_whole_triangles(void **state)
{
    (void)state;
    for (size_t s = 0; s < 4 * SIZES; s++) {
        const size_t n = sizes[s / 4];
        gram_case c;
        open_sized(&c, n, s % 2, s + 1);
        md_packed_options options = {
            .threads = 1 + s % 3, .float64 = s % 4 >= 2, .ridge = s % 3 == 0 ? 0.1 : 0};
        md_packed *expected = open_store(&c, &options);
        options.by_rows = true;
        options.memory = 1 + (s % 5) * triangle_bytes(n, options.float64 ? 8 : 4);
        md_packed *packed = open_store(&c, &options);
        check_facts(packed, expected);
        check_matrices(packed, expected);
        check_passes(packed, s);
        md_packed_free(packed);
        md_packed_free(expected);
        close_case(&c);
    }
}

/* Norms and products of all kernels, [count], [count][n]. */
static void read_products(md_packed *packed, const double *x, double *norm2, double *y)
{
    const md_chosen all = {.count = md_packed_count(packed)};
    assert_int_equal(md_packed_norms2(packed, all, x, norm2, NULL), MEDLEY_OK);
    assert_int_equal(md_packed_multiply(packed, all, x, y, NULL), MEDLEY_OK);
}

static void threads_and_held_kernels_change_no_bit(void **state)
{
    (void)state;
    enum { ROWS = 700 };
    gram_case c;
    open_sized(&c, ROWS, false, 5);
    const size_t count = c.bank.count;
    double *x = draw_doubles(ROWS, 6);
    double *norm2 = md_calloc(2 * count, sizeof *norm2);
    double *y = md_calloc(2 * count * ROWS, sizeof *y);
    assert_true(norm2 != NULL && y != NULL);
    for (size_t t = 1; t <= 4; t++) {
        const md_packed_options options = {
            .threads = t, .by_rows = true, .memory = 1 + (t - 1) * triangle_bytes(ROWS, 4)};
        md_packed *packed = open_store(&c, &options);
        const size_t some[] = {count - 1, 0, 2};
        const md_chosen held = {.kernels = some, .count = 3};
        const size_t at = t > 1;
        if (t > 2)
            assert_int_equal(md_packed_hold(packed, held, NULL), MEDLEY_OK);
        read_products(packed, x, norm2 + at * count, y + at * count * ROWS);
        md_packed_free(packed);
        if (t == 1)
            continue;
        assert_memory_equal(norm2, norm2 + count, count * sizeof *norm2);
        assert_memory_equal(y, y + count * ROWS, count * ROWS * sizeof *y);
    }
    free(x);
    free(norm2);
    free(y);
    close_case(&c);
}

/* A matrix with eigenvalues of either sign is noticed without a factorisation. */
static void defects_are_found_by_products(void **state)
{
    (void)state;
    enum { ROWS = 60 };
    for (int bad = 0; bad < 2; bad++) {
        medley_dataset *data = NULL;
        md_precomputed *gram = NULL;
        md_bank bank = {0};
        md_prepared prepared = {0};
        md_packed *packed = NULL;
        md_packed_defect defect;
        medley_error error = {0};
        assert_int_equal(medley_dataset_create(&data, NULL), MEDLEY_OK);
        data->rows = ROWS;
        assert_int_equal(md_dataset_new_gram(&gram, data, "given", NULL), MEDLEY_OK);
        assert_int_equal(md_matrix_init_dense(&gram->values, ROWS, ROWS, NULL), MEDLEY_OK);
        for (size_t i = 0; i < ROWS; i++)
            for (size_t j = 0; j < ROWS; j++)
                gram->values.dense[i * ROWS + j] =
                    (float)((i == j ? 2 + (double)(i % 7) : 0) + (bad && i + j == 1 ? 6 : 0));
        const md_bank_options bank_options = {.views = "all"};
        check_ok(md_bank_make(&bank, data, &bank_options, &error), &error);
        check_ok(md_prepared_make(&prepared, &bank, data, true, &error), &error);
        const md_packed_options options = {.threads = 1, .by_rows = true, .memory = 1};
        check_ok(md_packed_create(&packed, &bank, &prepared, &options, &error), &error);
        check_ok(md_packed_find_defect(packed, &defect, &error), &error);
        assert_int_equal(defect.kernel, bad ? 0 : 1);
        assert_true(!bad || (defect.least > -3.6 && defect.least < -3.4)); /* of [2 6; 6 3] */
        md_packed_free(packed);
        md_prepared_clear(&prepared);
        md_bank_clear(&bank);
        medley_dataset_free(data);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_equal_whole_triangles),
        cmocka_unit_test(threads_and_held_kernels_change_no_bit),
        cmocka_unit_test(defects_are_found_by_products),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
