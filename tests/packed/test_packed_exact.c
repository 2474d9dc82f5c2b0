/* SPDX-License-Identifier: BSD-3-Clause */
/* Kernels in double precision: values kept as doubles and products that are computed anew are those
 * of the formulas to rounding, for every kernel, normalisation and storage of rows; kernels of low
 * rank are factors, with the same products, whatever the budget. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "gram/exact.h"
#include "packed/packed_case.h"

enum { SEEDS = 6 };
/* Unit-diagonal factors are kept in single precision, and traces are sums of such values; they
 * scale what is learnt and what is predicted alike. */
static const double PRECISE = 1e-12, ROUNDED_ROOTS = 1e-6;

static void check_values(gram_case *c, md_packed *packed, size_t m)
{
    const size_t n = c->n;
    const double *expected = c->expected[m];
    const md_norm norm = c->bank.kernels[m].norm;
    const double tolerance =
        norm == MD_NORM_DIAG || norm == MD_NORM_TRACE ? ROUNDED_ROOTS : PRECISE;
    double *x = draw_doubles(n, m + 1);
    double *y = draw_doubles(n, 1);
    double norm2;
    double wanted2 = 0;
    double scale = 1e-3; /* a centred constant is 0 */
    for (size_t i = 0; i < n * n; i++)
        scale = fmax(scale, fabs(expected[i]));
    assert_int_equal(md_packed_multiply_exactly(packed, (md_chosen){&m, 1}, x, 0, y, &norm2, NULL),
                     MEDLEY_OK);
    for (size_t i = 0; i < n; i++) {
        double sum = 0;
        for (size_t j = 0; j < n; j++)
            sum += expected[i * n + j] * x[j];
        wanted2 += x[i] * sum;
        if (!(fabs(y[i] - sum) <= tolerance * scale * (double)n * 4))
            fail_msg("%s, %zu rows, row %zu: %.17g, expected %.17g", c->bank.kernels[m].name, n, i,
                     y[i], sum);
    }
    assert_true(fabs(norm2 - fmax(wanted2, 0)) <= tolerance * scale * (double)(n * n) * 4);
    free(x);
    free(y);
}

/* Narrow and wide views, dense and sparse; the last three have more than one panel of rows. */
static void values_are_those_of_the_formulas(void **state)
{
    (void)state;
    static const data_kind kinds[] = {
        {.rows = 20, .columns = 3},  {.rows = 33, .columns = 3, .zeros = 0.6, .sparse = true},
        {.rows = 46, .columns = 17}, {.rows = 59, .columns = 17, .zeros = 0.6, .sparse = true},
        {.rows = 131, .columns = 5}, {.rows = 140, .columns = 9, .zeros = 0.6, .sparse = true},
        {.rows = 150, .columns = 70}};
    for (uint64_t seed = 1; seed <= SEEDS; seed++)
        for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
            if (kinds[k].rows > 100 && seed > 2)
                continue; /* that takes a while */
            case_choice choice = {.kind = kinds[k], .seed = seed};
            choice.kind.center = choice.kind.spread = 1;
            gram_case c;
            open_case(&c, &choice);
            const md_packed_options options = {.threads = 2, .float64 = seed % 2 == 0};
            md_packed *packed = open_store(&c, &options);
            for (size_t m = 0; m < c.bank.count; m++)
                check_values(&c, packed, m);
            md_packed_free(packed);
            close_case(&c);
        }
}

enum { ROWS = 150, FIRST = 70, END = 139, VECTORS = 3 };

/* What md_exact_row gives is the same to rounding. */
static void check_row_products(const md_between *between, size_t m, const double *x,
                               const double *y, size_t stride)
{
    double *row = draw_doubles(ROWS + md_exact_scratch(between->right), 8);
    for (size_t i = 0; i < ROWS; i++) {
        double sum = 0;
        double size = 0;
        md_exact_row(between, m, i, row, row + ROWS);
        for (size_t j = 0; j < ROWS; j++) {
            sum += row[j] * x[j];
            size += fabs(row[j] * x[j]);
        }
        assert_true(fabs(y[i * stride] - sum) <= 1e-13 * size);
    }
    free(row);
}

/* Several vectors for one kernel are products as any others. */
static void check_vectors(const md_between *between, size_t m, const double *x, const double *y,
                          size_t count)
{
    double *together = draw_doubles(VECTORS * ROWS, 9);
    double *alone = draw_doubles(ROWS, 10);
    assert_int_equal(md_exact_multiply(between, m, x, VECTORS, together, NULL), MEDLEY_OK);
    for (size_t i = 0; i < ROWS; i++)
        assert_true(together[i] == y[i * count + m]);
    for (size_t v = 0; v < VECTORS; v++) {
        assert_int_equal(md_exact_multiply(between, m, x + v * ROWS, 1, alone, NULL), MEDLEY_OK);
        assert_memory_equal(together + v * ROWS, alone, ROWS * sizeof *alone);
    }
    free(alone);
    free(together);
}

/* Products of some rows have the bits of the products of all of them, with any number of threads
 * and whichever kernels there are. */
static void check_products(gram_case *c)
{
    const size_t count = c->bank.count;
    md_between between = {
        .bank = &c->bank, .left = &c->prepared, .right = &c->prepared, .threads = 1};
    size_t *kernels = md_calloc(count, sizeof *kernels);
    double *x = draw_doubles(ROWS * md_max(count, VECTORS), 5);
    double *y = draw_doubles(ROWS * count, 6);
    double *some = draw_doubles(ROWS * count, 7);
    assert_non_null(kernels);
    for (size_t m = 0; m < count; m++)
        kernels[m] = m;
    md_exact_products products = {.kernels = kernels, .count = count, .x = x, .end = ROWS};
    assert_int_equal(md_exact_multiply_rows(&between, &products, y, NULL), MEDLEY_OK);
    for (size_t m = 0; m < count; m++) {
        check_row_products(&between, m, x, y + m, count);
        check_vectors(&between, m, x, y, count);
    }
    between.threads = 3;
    products.first = FIRST;
    products.end = END;
    assert_int_equal(md_exact_multiply_rows(&between, &products, some, NULL), MEDLEY_OK);
    assert_memory_equal(y + FIRST * count, some, (END - FIRST) * count * sizeof *y);
    products.end = FIRST; /* as a rank without rows */
    assert_int_equal(md_exact_multiply_rows(&between, &products, some, NULL), MEDLEY_OK);
    products = (md_exact_products){
        .kernels = kernels, .count = count, .x = x, .stride = ROWS, .end = ROWS};
    assert_int_equal(md_exact_multiply_rows(&between, &products, y, NULL), MEDLEY_OK);
    for (size_t m = 0; m < count; m++)
        check_row_products(&between, m, x + m * ROWS, y + m, count);
    free(some);
    free(y);
    free(x);
    free(kernels);
}

static void products_do_not_depend_on_their_neighbours(void **state)
{
    (void)state;
    static const size_t columns[] = {1, 63, 64};
    for (size_t i = 0; i < 2 * sizeof columns / sizeof *columns; i++) {
        const bool sparse = i % 2 == 1;
        const case_choice choice = {.kind = {.rows = ROWS,
                                             .columns = columns[i / 2],
                                             .center = 1,
                                             .spread = 1,
                                             .zeros = sparse ? 0.6 : 0,
                                             .sparse = sparse},
                                    .seed = i + 1};
        gram_case c;
        open_case(&c, &choice);
        check_products(&c);
        close_case(&c);
    }
}

/* 64 rows of 3 columns: linear kernels and constants are factors, and products with them have the
 * same bits when these are computed anew. */
static void low_rank_is_found_and_kept_or_not(void **state)
{
    (void)state;
    const case_choice choice = {.kind = {.rows = 64, .columns = 3, .center = 1, .spread = 1},
                                .seed = 3};
    gram_case c;
    open_case(&c, &choice);
    const md_packed_options all = {.threads = 2};
    const md_packed_options few = {.threads = 1, .memory = 64 * sizeof(double)};
    md_packed *kept = open_store(&c, &all);
    md_packed *anew = open_store(&c, &few);
    const md_chosen chosen = {.count = c.bank.count};
    double *x = draw_doubles(c.n, 9);
    double *y[2] = {draw_doubles(c.n * c.bank.count, 1), draw_doubles(c.n * c.bank.count, 2)};
    assert_int_equal(md_packed_multiply(kept, chosen, x, y[0], NULL), MEDLEY_OK);
    assert_int_equal(md_packed_multiply(anew, chosen, x, y[1], NULL), MEDLEY_OK);
    assert_memory_equal(y[0], y[1], c.n * c.bank.count * sizeof *x);
    size_t factors = 0;
    for (size_t m = 0; m < c.bank.count; m++) {
        size_t rank = 0;
        const double *factor = md_packed_lowrank(kept, m, &rank);
        const char *name = c.bank.kernels[m].class->name;
        factors += factor != NULL;
        assert_true(factor == NULL || (rank > 0 && rank <= 8 && md_packed_is_exact(kept, m)));
        if (strcmp(name, "linear") == 0)
            assert_true(factor != NULL && rank == 3);
        if (strcmp(name, "bias") == 0)
            assert_true(factor != NULL && rank == 1);
        if (strcmp(name, "bspline") == 0)
            assert_null(factor);
    }
    assert_true(factors >= 8);
    for (size_t i = 0; i < 2; i++)
        free(y[i]);
    free(x);
    md_packed_free(kept);
    md_packed_free(anew);
    close_case(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_those_of_the_formulas),
        cmocka_unit_test(products_do_not_depend_on_their_neighbours),
        cmocka_unit_test(low_rank_is_found_and_kept_or_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
