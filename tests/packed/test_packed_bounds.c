/* SPDX-License-Identifier: BSD-3-Clause */
/* What a packed grams says of the eigenvalues of its kernels: bounds, defects, factors; and kernels
 * that came ready made in double precision. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "optim/optim.h"
#include "packed_case.h"

/* Eigenvalues of a full matrix, which is left as it is. */
static void eigenvalues_of(const double *matrix, size_t n, double *least, double *most)
{
    double *copy = md_copy(matrix, n * n * sizeof *matrix);
    assert_non_null(copy);
    assert_int_equal(md_extreme_eigenvalues(copy, n, least, most, NULL), MEDLEY_OK);
    free(copy);
}

/* matrix becomes H matrix H with H = I - 11'/n. */
static void center_fully(double *matrix, size_t n)
{
    double *mean = md_calloc(n, sizeof *mean);
    double grand = 0;
    assert_non_null(mean);
    for (size_t i = 0; i < n * n; i++) {
        mean[i / n] += matrix[i] / (double)n;
        grand += matrix[i] / ((double)n * (double)n);
    }
    for (size_t i = 0; i < n * n; i++)
        matrix[i] += grand - mean[i / n] - mean[i % n];
    free(mean);
}

static void spreads_bound_what_is_left_of_kernels(void **state)
{
    (void)state;
    const size_t sizes[] = {1, 2, 3, 30, 120};
    for (size_t s = 0; s < 5; s++) {
        const case_choice choice = {
            .kind = {.rows = sizes[s], .columns = 5, .center = 1, .spread = 1}, .seed = s + 1};
        gram_case c;
        open_case(&c, &choice);
        const md_packed_options options = {.threads = 2, .ridge = s % 2 ? 0.01 : 0};
        md_packed *packed = open_store(&c, &options);
        for (size_t m = 0; m < c.bank.count; m++) {
            double *matrix = read_matrix(packed, m);
            double least, most;
            const double size = sqrt(naive_dots(matrix, matrix, c.n * c.n));
            center_fully(matrix, c.n);
            eigenvalues_of(matrix, c.n, &least, &most);
            const double norm = sqrt(naive_dots(matrix, matrix, c.n * c.n));
            assert_true(md_packed_spread(packed, m) >= most);
            assert_true(md_packed_spread(packed, m) <= norm + 3e-6 * size);
            free(matrix);
        }
        md_packed_free(packed);
        close_case(&c);
    }
}

/* ---- ready-made kernels ---- */

enum { ROWS = 30 };

/* Eigenvalues d reflected by random mirrors: neither diagonal nor diagonally dominant. */
static void make_matrix(double *matrix, const double *d, size_t n, uint64_t seed)
{
    memset(matrix, 0, n * n * sizeof *matrix);
    for (size_t i = 0; i < n; i++)
        matrix[i * n + i] = d[i];
    for (uint64_t mirror = 0; mirror < 6; mirror++) {
        double *v = draw_doubles(n, seed + 100 * mirror);
        const double norm2 = naive_dots(v, v, n);
        for (size_t side = 0; side < 2; side++)
            for (size_t i = 0; i < n; i++) {
                double sum = 0;
                for (size_t j = 0; j < n; j++)
                    sum += v[j] * matrix[side ? i * n + j : j * n + i];
                for (size_t j = 0; j < n; j++)
                    matrix[side ? i * n + j : j * n + i] -= 2 * sum * v[j] / norm2;
            }
        free(v);
    }
    for (size_t i = 0; i < n; i++) /* symmetric to the bit */
        for (size_t j = 0; j < i; j++)
            matrix[i * n + j] = matrix[j * n + i];
}

/* Positive eigenvalues but for one. */
static void make_with_least(double *matrix, double least, uint64_t seed)
{
    double d[ROWS];
    for (size_t i = 0; i < ROWS; i++)
        d[i] = 3 / (double)(i + 1);
    d[7] = least;
    make_matrix(matrix, d, ROWS, seed);
}

/* Kernels with these least eigenvalues; wide: their doubles are kept. */
static void open_given(gram_case *c, const double *least, size_t count, bool wide, md_norm norm)
{
    medley_error error = {0};
    const md_bank_options options = {.views = "all", .normalize = norm};
    *c = (gram_case){.n = ROWS};
    assert_int_equal(medley_dataset_create(&c->data, NULL), MEDLEY_OK);
    c->data->rows = ROWS;
    for (size_t g = 0; g < count; g++) {
        char name[24];
        snprintf(name, sizeof name, "k%zu", g);
        md_precomputed *gram = NULL;
        assert_int_equal(md_dataset_new_gram(&gram, c->data, name, NULL), MEDLEY_OK);
        check_ok(md_matrix_init_dense(&gram->values, ROWS, ROWS, &error), &error);
        double *matrix = md_calloc((size_t)ROWS * ROWS, sizeof *matrix);
        assert_non_null(matrix);
        make_with_least(matrix, least[g], g + 1);
        for (size_t i = 0; i < (size_t)ROWS * ROWS; i++)
            gram->values.dense[i] = (float)matrix[i];
        if (wide)
            gram->wide = matrix;
        else
            free(matrix);
    }
    check_ok(md_bank_make(&c->bank, c->data, &options, &error), &error);
    check_ok(md_prepared_make(&c->prepared, &c->bank, c->data, true, &error), &error);
    assert_int_equal(c->bank.count, count);
}

static void the_first_defect_is_found(void **state)
{
    (void)state;
    static const double cases[][4] = {{0.1, 0, -1e-6, 0.2}, /* nothing beyond rounding */
                                      {0.1, 0.1, -0.01, -0.2},
                                      {-1e-4, 0.1, 0.1, -0.2},
                                      {0, 0, 0, -0.2}};
    static const size_t found[] = {4, 2, 0, 3};
    for (size_t s = 0; s < 16; s++) {
        gram_case c;
        const size_t k = s % 4;
        open_given(&c, cases[k], 4, false, MD_NORM_NONE);
        const md_packed_options options = {.threads = 1 + s / 4 % 2,
                                           .memory = s / 8 ? 2 * triangle_bytes(ROWS, 4) : 0};
        md_packed *packed = open_store(&c, &options);
        md_packed_defect defect;
        assert_int_equal(md_packed_find_defect(packed, &defect, NULL), MEDLEY_OK);
        assert_int_equal(defect.kernel, found[k]);
        if (found[k] < 4) {
            assert_true(fabs(defect.least - cases[k][found[k]]) < 1e-6);
            assert_true(fabs(defect.most - 3) < 1e-5);
        }
        md_packed_free(packed);
        close_case(&c);
    }
}

/* The defect may be cured by a ridge, and kernels whose class promises are not looked at. */
static void defects_are_those_of_the_stored_matrices(void **state)
{
    (void)state;
    static const double least[] = {-0.01};
    gram_case c;
    open_given(&c, least, 1, false, MD_NORM_NONE);
    const md_packed_options options = {.threads = 1, .ridge = 0.1};
    md_packed *packed = open_store(&c, &options);
    md_packed_defect defect;
    assert_int_equal(md_packed_find_defect(packed, &defect, NULL), MEDLEY_OK);
    assert_int_equal(defect.kernel, 1);
    md_packed_free(packed);
    close_case(&c);

    static const char *const kernels[] = {"rbf", "bspline", NULL};
    static const char *const norms[] = {"none", NULL};
    const case_choice choice = {.kind = {.rows = 60, .columns = 6, .spread = 2},
                                .kernels = kernels,
                                .norms = norms,
                                .seed = 3};
    const md_packed_options plain = {.threads = 2};
    open_case(&c, &choice);
    packed = open_store(&c, &plain);
    for (size_t m = 0; m < 2; m++) {
        double *matrix = read_matrix(packed, m);
        double low, high;
        eigenvalues_of(matrix, c.n, &low, &high);
        assert_int_equal(md_packed_find_defect(packed, &defect, NULL), MEDLEY_OK);
        if (c.bank.kernels[m].class->positive_definite)
            assert_true(defect.kernel != m);
        else /* a cone in six dimensions: not positive definite in general */
            assert_int_equal(defect.kernel == m, low < -1e-5 * high);
        free(matrix);
    }
    md_packed_free(packed);
    close_case(&c);
}

/* In double precision what single precision would call rounding is a defect. */
static void doubles_are_kept_as_they_are(void **state)
{
    (void)state;
    static const double least[] = {0.3, -1e-8};
    for (size_t s = 0; s < 2; s++) {
        gram_case c;
        open_given(&c, least, 2, true, s ? MD_NORM_DIAG : MD_NORM_NONE);
        const md_packed_options options = {.threads = 2, .float64 = true};
        md_packed *packed = open_store(&c, &options);
        for (size_t m = 0; m < 2; m++) {
            double *matrix = read_matrix(packed, m);
            const double *given = c.data->grams[m].wide;
            for (size_t i = 0; i < (size_t)ROWS * ROWS; i++) {
                const double root =
                    sqrt(given[i / ROWS * (ROWS + 1)] * given[i % ROWS * (ROWS + 1)]);
                assert_true(s ? fabs(matrix[i] - given[i] / root) < 1e-15 : matrix[i] == given[i]);
            }
            free(matrix);
        }
        md_packed_defect defect;
        assert_int_equal(md_packed_find_defect(packed, &defect, NULL), MEDLEY_OK);
        assert_int_equal(defect.kernel, 1);
        if (s == 0)
            assert_true(fabs(defect.least - least[1]) < 1e-13);
        md_packed_free(packed);

        const md_packed_options narrow = {.threads = 2};
        packed = open_store(&c, &narrow);
        assert_int_equal(md_packed_find_defect(packed, &defect, NULL), MEDLEY_OK);
        assert_int_equal(defect.kernel, 2);
        md_packed_free(packed);
        close_case(&c);
    }
}

/* Values that came as floats are no more exact for being kept as doubles. */
static void floats_that_become_doubles_keep_their_rounding(void **state)
{
    (void)state;
    static const double least[] = {0, -1e-7, -1e-3};
    gram_case c;
    open_given(&c, least, 3, false, MD_NORM_NONE);
    const md_packed_options options = {.threads = 1, .float64 = true};
    md_packed *packed = open_store(&c, &options);
    md_packed_defect defect;
    assert_int_equal(md_packed_find_defect(packed, &defect, NULL), MEDLEY_OK);
    assert_int_equal(defect.kernel, 2);
    md_packed_free(packed);
    close_case(&c);
}

/* Centred in double precision, rows add up to 0 as well as doubles can. */
static void doubles_are_centred_as_doubles(void **state)
{
    (void)state;
    static const double least[] = {0.3};
    gram_case c;
    open_given(&c, least, 1, true, MD_NORM_CENTER);
    const md_packed_options options = {.threads = 2, .float64 = true};
    md_packed *packed = open_store(&c, &options);
    double *matrix = read_matrix(packed, 0);
    double *expected = md_copy(c.data->grams[0].wide, sizeof(double) * ROWS * ROWS);
    assert_non_null(expected);
    center_fully(expected, ROWS);
    for (size_t i = 0; i < (size_t)ROWS * ROWS; i++)
        assert_true(fabs(matrix[i] - expected[i]) < 1e-14);
    free(matrix);
    free(expected);
    md_packed_free(packed);
    close_case(&c);
}

/* ---- factors ---- */

/* Gaussian kernels from flat to nearly the unit matrix, and a product of few columns. */
static void open_widths(gram_case *c, size_t rows)
{
    static char texts[6][24] = {"linear",       "rbf(gamma=0.001)", "rbf(gamma=0.1)",
                                "rbf(gamma=1)", "rbf(gamma=30)",    "bias"};
    char *specs[7] = {NULL};
    for (size_t i = 0; i < 6; i++)
        specs[i] = texts[i];
    const data_kind kind = {.rows = rows, .columns = 3, .center = 1, .spread = 2};
    const md_bank_options options = {.kernels = specs, .views = "all"};
    medley_error error = {0};
    *c = (gram_case){.n = rows, .data = make_data(&kind, 5)};
    check_ok(md_bank_make(&c->bank, c->data, &options, &error), &error);
    check_ok(md_prepared_make(&c->prepared, &c->bank, c->data, true, &error), &error);
}

static size_t find_kernel(const gram_case *c, const char *start)
{
    for (size_t m = 0; m < c->bank.count; m++)
        if (strncmp(c->bank.kernels[m].name, start, strlen(start)) == 0)
            return m;
    fail_msg("no kernel %s", start);
    return 0;
}

/* Bounds are above, and no further than what was left out allows. */
static void check_bounds(md_packed *packed, double tolerance)
{
    const size_t n = md_packed_rows(packed);
    const size_t count = md_packed_count(packed);
    const md_chosen all = {.count = count};
    double norm2[16];
    double bound2[16];
    for (uint64_t seed = 0; seed < 20; seed++) {
        double *x = draw_doubles(n, seed);
        for (size_t i = 0; seed % 3 == 1 && i < n; i++)
            x[i] = fabs(x[i]);
        for (size_t i = 0; seed % 3 == 2 && i < n; i++)
            x[i] = i == seed;
        const double x2 = naive_dots(x, x, n);
        assert_int_equal(md_packed_norms2(packed, all, x, norm2, NULL), MEDLEY_OK);
        assert_int_equal(md_packed_bounds2(packed, all, x, bound2, NULL), MEDLEY_OK);
        for (size_t m = 0; m < count; m++) {
            if (md_packed_has_factor(packed, m)) {
                assert_true(bound2[m] >= norm2[m]);
                assert_true(bound2[m] <=
                            norm2[m] + 2 * (tolerance + 1e-6) * md_packed_trace(packed, m) * x2);
            } else {
                assert_true(bound2[m] == norm2[m]);
            }
        }
        free(x);
    }
}

/* In place of its values, or beside them. */
static bool has_any_factor(const md_packed *packed, size_t m)
{
    size_t rank;
    return md_packed_has_factor(packed, m) || md_packed_lowrank(packed, m, &rank) != NULL;
}

static void factors_bound_norms_from_above(void **state)
{
    (void)state;
    const size_t sizes[] = {1, 2, 3, 50, 150};
    for (size_t s = 0; s < 20; s++) {
        const size_t rows = sizes[s % 5];
        gram_case c;
        open_widths(&c, rows);
        const size_t each = triangle_bytes(rows, 4);
        const md_packed_options options = {
            .threads = 2, .float64 = s / 5 == 1, .memory = s / 5 == 2 ? 2 * each : 0};
        md_packed *packed = open_store(&c, &options);
        const double tolerance = s / 5 == 3 ? 1e-6 : 1e-3;
        assert_false(md_packed_has_factor(packed, 0));
        assert_int_equal(md_packed_factor_bytes(packed), 0);
        check_bounds(packed, 0);
        for (size_t again = 0; again < 2; again++)
            assert_int_equal(md_packed_factor(packed, tolerance, 12, NULL), MEDLEY_OK);
        assert_true(has_any_factor(packed, find_kernel(&c, "linear")));
        assert_true(has_any_factor(packed, find_kernel(&c, "bias")));
        assert_true(has_any_factor(packed, find_kernel(&c, "rbf(gamma=0.001)")));
        if (rows >= 50)
            assert_false(md_packed_has_factor(packed, find_kernel(&c, "rbf(gamma=30)")));
        assert_true(rows > 8 || md_packed_factor_bytes(packed) >= 3 * rows * sizeof(float));
        assert_true(md_packed_factor_bytes(packed) <= 6 * (12 * rows * sizeof(float) + 64));
        check_bounds(packed, tolerance);
        md_packed_free(packed);
        close_case(&c);
    }
}

/* Factors are sought long enough: a kernel of exactly this rank with equal eigenvalues gets one. */
static void flat_spectra_are_not_given_up(void **state)
{
    (void)state;
    enum { RANK = 9 };
    for (uint64_t seed = 1; seed < 20; seed++) {
        double d[ROWS] = {0};
        double matrix[ROWS * ROWS];
        for (size_t i = 0; i < RANK; i++)
            d[i] = 1;
        make_matrix(matrix, d, ROWS, seed);
        const double none = 1;
        gram_case c;
        open_given(&c, &none, 1, false, MD_NORM_NONE);
        for (size_t i = 0; i < (size_t)ROWS * ROWS; i++)
            c.data->grams[0].values.dense[i] = (float)matrix[i];
        const md_packed_options options = {.threads = 1};
        md_packed *packed = open_store(&c, &options);
        assert_int_equal(md_packed_factor(packed, 1e-4, RANK + 2, NULL), MEDLEY_OK);
        assert_true(md_packed_has_factor(packed, 0));
        assert_int_equal(md_packed_factor(packed, 1e-4, RANK - 1, NULL), MEDLEY_OK);
        assert_false(md_packed_has_factor(packed, 0));
        md_packed_free(packed);
        close_case(&c);
    }
}

static void threads_give_the_same_factors(void **state)
{
    (void)state;
    double bound2[3][16];
    gram_case c;
    open_widths(&c, 150);
    double *x = draw_doubles(150, 3);
    for (size_t threads = 1; threads <= 3; threads++) {
        const md_packed_options options = {.threads = threads};
        md_packed *packed = open_store(&c, &options);
        assert_int_equal(md_packed_factor(packed, 1e-3, 20, NULL), MEDLEY_OK);
        const md_chosen all = {.count = c.bank.count};
        assert_int_equal(md_packed_bounds2(packed, all, x, bound2[threads - 1], NULL), MEDLEY_OK);
        assert_memory_equal(bound2[0], bound2[threads - 1], c.bank.count * sizeof(double));
        md_packed_free(packed);
    }
    free(x);
    close_case(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(spreads_bound_what_is_left_of_kernels),
        cmocka_unit_test(the_first_defect_is_found),
        cmocka_unit_test(defects_are_those_of_the_stored_matrices),
        cmocka_unit_test(doubles_are_kept_as_they_are),
        cmocka_unit_test(floats_that_become_doubles_keep_their_rounding),
        cmocka_unit_test(doubles_are_centred_as_doubles),
        cmocka_unit_test(factors_bound_norms_from_above),
        cmocka_unit_test(flat_spectra_are_not_given_up),
        cmocka_unit_test(threads_give_the_same_factors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
