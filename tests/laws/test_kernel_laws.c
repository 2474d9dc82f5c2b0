/* SPDX-License-Identifier: BSD-3-Clause */
/* Laws that every kernel in kernels.def obeys, with its default and with random parameters, and the
 * rules that choose parameters from the data. A kernel that is added needs its formula in naive.h.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "gram/naive.h"
#include "gram/prepared_rows.h"
#include "kernel/kernel.h"
#include <float.h>

enum { DIMENSION = 9, ROUNDS = 12, POINTS = 24 };

static const data_kind positive = {
    .rows = POINTS, .columns = DIMENSION, .center = 1, .spread = 1, .zeros = 0.2};
static const data_kind anywhere = {.rows = POINTS, .columns = DIMENSION, .spread = 1.5};

static const data_kind *kind_for(const md_kernel_class *class)
{
    return class->nonnegative_data ? &positive : &anywhere;
}

/* The quantity of a pair in double precision. */
static double quantity(const md_kernel_class *class, const float *x, const float *z)
{
    if (class->quantity == MD_DOT)
        return naive_dot(x, z, DIMENSION);
    if (class->quantity == MD_DISTANCE2)
        return naive_distance2(x, z, DIMENSION);
    return (double)class->pair_sum(x, z, DIMENSION);
}

static md_kernel kernel_of(const char *spec)
{
    md_kernel kernel;
    medley_error error = {0};
    if (md_kernel_from_name(&kernel, spec, &error) < 0)
        fail_msg("%s", error.message);
    return kernel;
}

static float value_of(const md_kernel *kernel, const float *x, const float *z)
{
    float q = (float)quantity(kernel->class, x, z);
    kernel->class->map(kernel->state, &q, &q, 1);
    return q;
}

/* Calls check for every kernel with several random parameters on random points. */
static void for_random_kernels(void (*check)(const naive *k, const md_kernel *kernel,
                                             const float *points))
{
    for (size_t i = 0; md_kernels[i] != NULL; i++) {
        for (uint64_t seed = 1; seed <= ROUNDS; seed++) {
            md_random random;
            md_random_seed(&random, seed);
            const naive k = naive_draw(md_kernels[i]->name, "", &random);
            md_kernel kernel = kernel_of(k.spec);
            medley_dataset *data = make_data(kind_for(kernel.class), seed);
            check(&k, &kernel, data->tables[0].features.dense);
            medley_dataset_free(data);
            md_kernel_clear(&kernel);
        }
    }
}

static void check_formula(const naive *k, const md_kernel *kernel, const float *points)
{
    /* single precision of q (about 30) times the slope of exp or of a fifth power, each kernel's
     * own rounding included */
    const double tolerance = 4e-6;
    for (size_t i = 0; i < POINTS; i++)
        for (size_t j = 0; j < POINTS; j++) {
            const float *x = points + i * DIMENSION;
            const float *z = points + j * DIMENSION;
            const double expected = naive_value(k, x, z, DIMENSION);
            const double value = (double)value_of(kernel, x, z);
            if (isnan(expected))
                fail_msg("write the formula of kernel %s in naive.h", kernel->class->name);
            if (!(fabs(value - expected) <= tolerance * (1 + fabs(expected))))
                fail_msg("%s: %.9g, by the formula %.9g", k->spec, value, expected);
        }
}

static void kernels_equal_their_formulas(void **state)
{
    (void)state;
    for_random_kernels(check_formula);
}

static void check_symmetry(const naive *k, const md_kernel *kernel, const float *points)
{
    for (size_t i = 0; i < POINTS; i++)
        for (size_t j = 0; j < i; j++)
            if (value_of(kernel, points + i * DIMENSION, points + j * DIMENSION) !=
                value_of(kernel, points + j * DIMENSION, points + i * DIMENSION))
                fail_msg("%s is not symmetric", k->spec);
}

static void kernels_are_symmetric(void **state)
{
    (void)state;
    for_random_kernels(check_symmetry);
}

/* Smallest eigenvalue of a symmetric matrix by cyclic Jacobi rotations; a is destroyed. */
static double smallest_eigenvalue(double *a, size_t n)
{
    for (int sweep = 0; sweep < 30; sweep++) {
        for (size_t p = 0; p < n; p++)
            for (size_t q = p + 1; q < n; q++) {
                if (a[p * n + q] == 0)
                    continue;
                const double theta = (a[q * n + q] - a[p * n + p]) / (2 * a[p * n + q]);
                const double t = (theta >= 0 ? 1 : -1) / (fabs(theta) + sqrt(theta * theta + 1));
                const double c = 1 / sqrt(t * t + 1);
                const double s = t * c;
                for (size_t k = 0; k < n; k++) {
                    const double u = a[k * n + p];
                    const double v = a[k * n + q];
                    a[k * n + p] = c * u - s * v;
                    a[k * n + q] = s * u + c * v;
                }
                for (size_t k = 0; k < n; k++) {
                    const double u = a[p * n + k];
                    const double v = a[q * n + k];
                    a[p * n + k] = c * u - s * v;
                    a[q * n + k] = s * u + c * v;
                }
            }
    }
    double least = INFINITY;
    for (size_t i = 0; i < n; i++)
        least = fmin(least, a[i * n + i]);
    return least;
}

static void the_eigenvalues_of_the_test_are_right(void **state)
{
    (void)state;
    double a[] = {2, 1, 0, 1, 2, 1, 0, 1, 2}; /* 2 - sqrt(2), 2, 2 + sqrt(2) */
    double b[] = {1, 2, 2, 1};                /* -1, 3 */
    assert_true(fabs(smallest_eigenvalue(a, 3) - (2 - sqrt(2))) < 1e-12);
    assert_true(fabs(smallest_eigenvalue(b, 2) + 1) < 1e-12);
}

static void check_definite(const naive *k, const md_kernel *kernel, const float *points)
{
    double a[POINTS * POINTS];
    double trace = 0;
    if (!kernel->class->positive_definite)
        return;
    for (size_t i = 0; i < POINTS; i++)
        for (size_t j = 0; j < POINTS; j++)
            a[i * POINTS + j] =
                (double)value_of(kernel, points + i * DIMENSION, points + j * DIMENSION);
    for (size_t i = 0; i < POINTS; i++)
        trace += a[i * POINTS + i];
    /* rounding to single precision moves eigenvalues by at most 2^-24 of the trace and a bit */
    const double least = smallest_eigenvalue(a, POINTS);
    if (!(least >= -1e-6 * trace))
        fail_msg("%s: eigenvalue %g, trace %g", k->spec, least, trace);
}

static void definite_kernels_have_no_negative_eigenvalue(void **state)
{
    (void)state;
    for_random_kernels(check_definite);
}

static void check_in_place(const naive *k, const md_kernel *kernel, const float *points)
{
    enum { COUNT = 301 }; /* odd: vector loops have a remainder */
    float q[COUNT];
    float apart[COUNT];
    float single;
    for (size_t j = 0; j < COUNT; j++)
        q[j] = (float)fabs((double)points[j % (POINTS * DIMENSION)]) * (float)(1 + j % 7);
    kernel->class->map(kernel->state, q, apart, COUNT);
    single = q[COUNT - 1];
    kernel->class->map(kernel->state, &single, &single, 1);
    kernel->class->map(kernel->state, q, q, COUNT);
    for (size_t j = 0; j < COUNT; j++)
        if (q[j] != apart[j])
            fail_msg("%s: the map in place differs", k->spec);
    if (!(fabs((double)single - (double)apart[COUNT - 1]) <= 1e-6 * fabs((double)single)))
        fail_msg("%s: the map of one value differs from that of many", k->spec);
}

static void maps_may_work_in_place(void **state)
{
    (void)state;
    for_random_kernels(check_in_place);
}

static void check_name(const naive *k, const md_kernel *kernel, const float *points)
{
    md_kernel again = kernel_of(kernel->name);
    for (size_t i = 0; i < POINTS; i++)
        if (value_of(kernel, points, points + i * DIMENSION) !=
            value_of(&again, points, points + i * DIMENSION))
            fail_msg("%s does not read back from its name %s", k->spec, kernel->name);
    md_kernel_clear(&again);
}

static md_bank bank_of(const medley_dataset *data, const char *spec)
{
    char text[200];
    snprintf(text, sizeof text, "%s", spec);
    char *const specs[] = {text, NULL};
    const md_bank_options options = {.kernels = specs, .views = "all", .seed = 3};
    md_bank bank;
    medley_error error = {0};
    if (md_bank_make(&bank, data, &options, &error) < 0)
        fail_msg("%s: %s", spec, error.message);
    return bank;
}

/* The names that a bank gives its kernels describe them completely, chosen parameters included. */
static void names_read_back_to_the_same_kernel(void **state)
{
    (void)state;
    for (size_t i = 0; md_kernels[i] != NULL; i++) {
        for (uint64_t seed = 0; seed <= ROUNDS; seed++) {
            md_random random;
            md_random_seed(&random, seed);
            const naive k = naive_draw(md_kernels[i]->name, "", &random);
            medley_dataset *data = make_data(kind_for(md_kernels[i]), seed + 100);
            md_bank bank = bank_of(data, seed == 0 ? md_kernels[i]->name : k.spec);
            check_name(&k, &bank.kernels[0], data->tables[0].features.dense);
            md_bank_clear(&bank);
            medley_dataset_free(data);
        }
    }
}

static void the_exponential_is_accurate(void **state)
{
    (void)state;
    enum { COUNT = 200001 };
    static const double factors[] = {1, -1, -0.5, -0.123456789, -1e-3, -3e5};
    float *q = md_calloc(COUNT, sizeof *q);
    float *value = md_calloc(COUNT, sizeof *value);
    assert_non_null(q);
    assert_non_null(value);
    for (size_t f = 0; f < sizeof factors / sizeof *factors; f++) {
        const float factor = (float)factors[f];
        for (size_t j = 0; j < COUNT; j++) /* exponents from -100 to 87.9 */
            q[j] = (float)((-100 + 187.9 * (double)j / (COUNT - 1)) / factors[f]);
        md_exp_scaled(q, value, COUNT, factors[f]);
        for (size_t j = 0; j < COUNT; j++) {
            const float exponent = factor * q[j];
            const double exact = exp((double)exponent);
            const double got = (double)value[j];
            if (exponent < -87 ? got != 0 : !(fabs(got - exact) <= 2e-7 * exact))
                fail_msg("exp(%.9g) = %.9g, got %.9g", (double)exponent, exact, got);
        }
    }
    free(q);
    free(value);
}

static void the_exponential_survives_extremes(void **state)
{
    (void)state;
    const float q[] = {0, 1, FLT_MIN, FLT_MAX, 1e30f};
    float value[5];
    static const double factors[] = {-1e300, -1e38, -1, -1e-300, 0, 1e300};
    for (size_t f = 0; f < sizeof factors / sizeof *factors; f++) {
        md_exp_scaled(q, value, 5, factors[f]);
        assert_true(value[0] == 1);
        for (size_t j = 0; j < 5; j++)
            assert_true(value[j] >= 0 && value[j] <= FLT_MAX);
    }
    md_kernel narrow = kernel_of("rbf(sigma=1e-150)");
    md_kernel hat = kernel_of("bspline(h=1e-150)");
    float r[] = {0, 1e-20f};
    narrow.class->map(narrow.state, r, value, 2);
    assert_true(value[0] == 1 && value[1] == 0);
    hat.class->map(hat.state, r, value, 2);
    assert_true(value[0] == 1 && value[1] == 0);
    md_kernel_clear(&narrow);
    md_kernel_clear(&hat);
}

static void wrong_parameters_are_refused(void **state)
{
    (void)state;
    static const char *const wrong[][2] = {
        {"rbf(sigma=1,gamma=2)", "not several"},  {"rbf(sigma2=1,auto)", "not several"},
        {"laplace(sigma=1,sigma2=2)", "several"}, {"rbf(width=1)", "no option 'width'"},
        {"linear(degree=2)", "no option"},        {"poly(degree=0)", "out of range"},
        {"poly(degree=1.5)", "whole number"},     {"poly(degree=21)", "out of range"},
        {"poly(offset=-1)", "out of range"},      {"bspline(zeros=2)", "out of range"},
        {"bspline(h=0)", "out of range"},         {"rbf(sigma=-1)", "out of range"},
        {"rbf(sigma=nan)", "not a number"},       {"rbf(norm=unit)", "none, diag, trace, center"},
        {"poly(explicit)", "cannot be explicit"}, {"linear(explicit=perhaps)", "yes or no"},
        {"linear(explicit,norm=diag)", "`scale`"}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        md_kernel kernel;
        medley_error error = {0};
        assert_int_equal(md_kernel_from_name(&kernel, wrong[i][0], &error), MEDLEY_USAGE);
        if (strstr(error.message, wrong[i][1]) == NULL)
            fail_msg("%s: %s", wrong[i][0], error.message);
    }
    medley_error error = {0};
    md_kernel kernel;
    assert_int_equal(md_kernel_from_name(&kernel, "rbf", &error), MEDLEY_BAD_INPUT);
    assert_non_null(strstr(error.message, "leaves a parameter open"));
}

/* ---- parameters chosen from the data ---- */

static double parameter(const md_bank *bank, const char *key)
{
    const char *text = strstr(bank->kernels[0].name, key);
    return text != NULL ? strtod(text + strlen(key), NULL) : NAN;
}

static double mean_over_pairs(const medley_dataset *data,
                              double (*distance)(const float *, const float *, size_t))
{
    const md_matrix *matrix = &data->tables[0].features;
    float *values = dense_values(matrix);
    double sum = 0;
    for (size_t i = 0; i < matrix->rows; i++)
        for (size_t j = 0; j < matrix->rows; j++)
            sum += distance(values + i * matrix->columns, values + j * matrix->columns,
                            matrix->columns);
    free(values);
    return sum / ((double)matrix->rows * (double)(matrix->rows - 1));
}

/* 2 sigma2 is the mean: two rows as far apart as rows are have the value exp(-1). */
static void gaussian_width_is_half_the_exact_mean_squared_distance(void **state)
{
    (void)state;
    /* more rows than all pairs are looked at for; far from the origin; sparse */
    static const data_kind kinds[] = {
        {.rows = 800, .columns = 7, .spread = 2},
        {.rows = 50, .columns = 3, .center = 2000, .spread = 1},
        {.rows = 800, .columns = 12, .spread = 1, .zeros = 0.8, .sparse = true}};
    for (size_t i = 0; i < 3; i++) {
        medley_dataset *data = make_data(&kinds[i], i + 1);
        md_bank bank = bank_of(data, i == 0 ? "rbf" : "rbf(auto)");
        const double expected = mean_over_pairs(data, naive_distance2) / 2;
        assert_true(fabs(parameter(&bank, "sigma2=") - expected) <
                    6e-6 * expected); /* six digits */
        md_bank_clear(&bank);
        medley_dataset_free(data);
    }
}

static void laplace_width_is_the_mean_distance(void **state)
{
    (void)state;
    static const data_kind kinds[] = {
        {.rows = 200, .columns = 7, .spread = 2},
        {.rows = 200, .columns = 12, .spread = 1, .zeros = 0.8, .sparse = true},
        {.rows = 900, .columns = 5, .spread = 1}};
    for (size_t i = 0; i < 3; i++) {
        const double tolerance = kinds[i].rows > 600 ? 1e-2 : 1e-5; /* sampled or all pairs */
        medley_dataset *data = make_data(&kinds[i], i + 1);
        md_bank bank = bank_of(data, "laplace(auto)");
        const double expected = 1 / mean_over_pairs(data, naive_distance1);
        assert_true(fabs(parameter(&bank, "gamma=") - expected) < tolerance * expected);
        md_bank_clear(&bank);
        medley_dataset_free(data);
    }
}

static void bspline_support_gives_the_wanted_share_of_zeros(void **state)
{
    (void)state;
    static const double shares[] = {0.95, 0.5, 0.99};
    static const data_kind kinds[] = {
        {.rows = 700, .columns = 6, .spread = 1},
        {.rows = 700, .columns = 30, .center = 1, .spread = 1, .zeros = 0.7, .sparse = true}};
    for (size_t i = 0; i < 6; i++) {
        char spec[40];
        snprintf(spec, sizeof spec, "bspline(zeros=%g)", shares[i / 2]);
        medley_dataset *data = make_data(&kinds[i % 2], i + 1);
        const md_matrix *matrix = &data->tables[0].features;
        md_bank bank = bank_of(data, i < 2 ? "bspline" : spec);
        const double h = parameter(&bank, "h=");
        float *values = dense_values(matrix);
        size_t zeros = 0;
        for (size_t a = 0; a < matrix->rows; a++)
            for (size_t b = 0; b < a; b++)
                zeros += sqrt(naive_distance2(values + a * matrix->columns,
                                              values + b * matrix->columns, matrix->columns)) >= h;
        const double share =
            (double)zeros / ((double)matrix->rows * (double)(matrix->rows - 1) / 2);
        if (fabs(share - shares[i / 2]) > 0.01)
            fail_msg("%s: %g of the values are zero", spec, share);
        free(values);
        md_bank_clear(&bank);
        medley_dataset_free(data);
    }
}

static void identical_rows_leave_widths_usable(void **state)
{
    (void)state;
    static const char *const specs[] = {"rbf", "laplace", "bspline", "chi2"};
    static const data_kind kinds[] = {{.rows = 1, .columns = 3, .center = 1},
                                      {.rows = 5, .columns = 3, .center = 1}};
    for (size_t i = 0; i < 8; i++) {
        medley_dataset *data = make_data(&kinds[i % 2], 1);
        md_bank bank = bank_of(data, specs[i / 2]);
        float q[] = {0, 1};
        bank.kernels[0].class->map(bank.kernels[0].state, q, q, 2);
        assert_true(q[0] == 1 && q[1] >= 0 && q[1] < 1);
        md_bank_clear(&bank);
        medley_dataset_free(data);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernels_equal_their_formulas),
        cmocka_unit_test(kernels_are_symmetric),
        cmocka_unit_test(the_eigenvalues_of_the_test_are_right),
        cmocka_unit_test(definite_kernels_have_no_negative_eigenvalue),
        cmocka_unit_test(maps_may_work_in_place),
        cmocka_unit_test(names_read_back_to_the_same_kernel),
        cmocka_unit_test(the_exponential_is_accurate),
        cmocka_unit_test(the_exponential_survives_extremes),
        cmocka_unit_test(wrong_parameters_are_refused),
        cmocka_unit_test(gaussian_width_is_half_the_exact_mean_squared_distance),
        cmocka_unit_test(laplace_width_is_the_mean_distance),
        cmocka_unit_test(bspline_support_gives_the_wanted_share_of_zeros),
        cmocka_unit_test(identical_rows_leave_widths_usable),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
