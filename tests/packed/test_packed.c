/* SPDX-License-Identifier: BSD-3-Clause */
/* Packed matrices of many kernels: their values against the formulas, and passes over them against
 * plain loops over the same values, in memory, computed when they are needed, and held. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "packed_passes.h"

/* One tile holds 256 rows; beyond 723 products are cut into blocks of rows. */
static const size_t sizes[] = {1, 2, 3, 17, 64, 257, 300};
enum { SIZES = sizeof sizes / sizeof *sizes };
static const char *const some_kernels[] = {"poly", "rbf", "laplace", "bspline", "bias", NULL};
static const char *const one_of_each_quantity[] = {"poly", "rbf", "laplace", NULL};
static const char *const two_kernels[] = {"poly", "rbf", NULL};
static const char *const one_kernel[] = {"rbf", NULL};
static const char *const two_norms[] = {"trace", "center", NULL};

static data_kind kind_of(size_t rows, bool sparse)
{
    return (data_kind){.rows = rows,
                       .columns = sparse ? 9 : 5,
                       .center = 1,
                       .spread = 1,
                       .zeros = sparse ? 0.7 : 0.05,
                       .sparse = sparse};
}

/* ---- values ---- */

static void check_matrices(const gram_case *c, md_packed *packed)
{
    for (size_t m = 0; m < c->bank.count; m++) {
        const double scale = case_scale(c, m);
        double *matrix = read_matrix(packed, m);
        double trace = 0;
        for (size_t i = 0; i < c->n; i++) {
            trace += matrix[i * c->n + i];
            for (size_t j = 0; j < c->n; j++)
                check_near(c, m, i, j, matrix[i * c->n + j], scale);
        }
        assert_true(fabs(md_packed_trace(packed, m) - trace) <= 1e-12 * scale * (double)c->n);
        free(matrix);
    }
}

static void triangles_equal_the_formulas(void **state)
{
    (void)state;
    for (size_t s = 0; s < 2 * SIZES; s++) {
        const case_choice choice = {
            .kind = kind_of(sizes[s / 2], s % 2), .kernels = some_kernels, .seed = s + 1};
        gram_case c;
        open_case(&c, &choice);
        const md_packed_options options = {.threads = 2, .float64 = s % 3 == 0};
        md_packed *packed = open_store(&c, &options);
        assert_true(md_packed_is_resident(packed));
        const size_t most = c.bank.count * triangle_bytes(c.n, options.float64 ? 8 : 4);
        assert_true(md_packed_bytes(packed) <= most); /* less: kernels of low rank */
        assert_true(c.n > 8 || md_packed_bytes(packed) == most);
        check_matrices(&c, packed);
        md_packed_free(packed);
        close_case(&c);
    }
}

/* What is learnt of centred kernels is what a Gram source learns. */
static void means_are_learnt_into_the_bank(void **state)
{
    (void)state;
    static const char *const norms[] = {"center", NULL};
    const case_choice choice = {
        .kind = kind_of(300, false), .kernels = one_of_each_quantity, .norms = norms, .seed = 3};
    gram_case c;
    open_case(&c, &choice);
    md_gram_free(open_gram(&c, 1, 0));
    float means[3][300];
    double grand[3];
    for (size_t m = 0; m < 3; m++) {
        memcpy(means[m], c.bank.kernels[m].column_mean, sizeof means[m]);
        grand[m] = c.bank.kernels[m].grand_mean;
        memset(c.bank.kernels[m].column_mean, 0, sizeof means[m]);
        c.bank.kernels[m].grand_mean = 0;
    }
    const md_packed_options options = {.threads = 2, .memory = 1};
    md_packed *packed = open_store(&c, &options);
    for (size_t m = 0; m < 3; m++) {
        for (size_t i = 0; i < c.n; i++)
            assert_true(fabsf(c.bank.kernels[m].column_mean[i] - means[m][i]) <=
                        1e-6f * fabsf(means[m][i]));
        assert_true(fabs(c.bank.kernels[m].grand_mean - grand[m]) <= 1e-6 * fabs(grand[m]));
    }
    check_matrices(&c, packed);
    md_packed_free(packed);
    close_case(&c);
}

static void the_ridge_is_a_share_of_the_mean_diagonal(void **state)
{
    (void)state;
    const case_choice choice = {
        .kind = kind_of(40, false), .kernels = one_of_each_quantity, .seed = 4};
    gram_case c;
    open_case(&c, &choice);
    for (size_t s = 0; s < 3; s++) {
        const md_packed_options plain = {.threads = 1};
        const md_packed_options ridged = {
            .threads = 1, .ridge = 0.25, .float64 = s == 1, .memory = s == 2 ? 1 : 0};
        md_packed *before = open_store(&c, &plain);
        md_packed *after = open_store(&c, &ridged);
        for (size_t m = 0; m < c.bank.count; m++) {
            double *a = read_matrix(before, m);
            double *b = read_matrix(after, m);
            const double mean = md_packed_trace(before, m) / (double)c.n;
            for (size_t i = 0; i < c.n * c.n; i++) {
                const double expected = a[i] + (i % (c.n + 1) == 0 ? 0.25 * mean : 0);
                assert_true(fabs(b[i] - expected) <= 1e-6 * (fabs(expected) + mean));
            }
            assert_true(fabs(md_packed_trace(after, m) / (1.25 * mean * (double)c.n) - 1) < 1e-6);
            free(a);
            free(b);
        }
        md_packed_free(before);
        md_packed_free(after);
    }
    close_case(&c);
}

/* A bank of `columns` views of one column each, dense or sparse. */
static void open_views(gram_case *c, size_t rows, size_t columns, bool sparse, char *const *specs)
{
    const data_kind kind = {.rows = rows,
                            .columns = columns,
                            .center = 1,
                            .spread = 1,
                            .zeros = sparse ? 0.5 : 0,
                            .sparse = sparse};
    const md_bank_options options = {.kernels = specs, .views = "each"};
    medley_error error = {0};
    *c = (gram_case){.n = rows, .d = columns, .data = make_data(&kind, 7)};
    check_ok(md_bank_make(&c->bank, c->data, &options, &error), &error);
    check_ok(md_prepared_make(&c->prepared, &c->bank, c->data, true, &error), &error);
}

/* Kernels of many views are computed in groups; those that are weights elsewhere too. */
static void kernels_of_many_views_are_each_their_own(void **state)
{
    (void)state;
    char linear[] = "linear(explicit)";
    char narrow[] = "rbf(gamma=1..18)";
    char *const specs[] = {linear, narrow, NULL};
    for (size_t s = 0; s < 4; s++) {
        gram_case c;
        open_views(&c, s / 2 ? 260 : 40, 4, s % 2, specs);
        const md_packed_options options = {.threads = 2, .memory = s == 1 ? 4000 : 0};
        md_packed *packed = open_store(&c, &options);
        float *values = dense_values(&c.data->tables[0].features);
        assert_int_equal(c.bank.count, 4 * 19);
        for (size_t m = 0; m < c.bank.count; m++) {
            double *matrix = read_matrix(packed, m);
            const naive kernel = {.kind = m % 19 ? RBF : LINEAR, .gamma = (double)(m % 19)};
            for (size_t i = 0; i < c.n * c.n; i += c.n / 40) {
                const float *x = values + i / c.n * 4 + m / 19;
                const float *z = values + i % c.n * 4 + m / 19;
                assert_true(fabs(matrix[i] - naive_value(&kernel, x, z, 1)) < GRAM_TOLERANCE);
            }
            free(matrix);
        }
        free(values);
        md_packed_free(packed);
        close_case(&c);
    }
}

/* ---- passes ---- */

static void passes_equal_plain_loops(void **state)
{
    (void)state;
    for (size_t s = 0; s < SIZES + 1; s++) {
        const size_t rows = s < SIZES ? sizes[s] : 730;
        const case_choice choice = {.kind = kind_of(rows, false),
                                    .kernels = rows < 100   ? some_kernels
                                               : rows < 700 ? one_of_each_quantity
                                                            : one_kernel,
                                    .norms = rows < 100 ? NULL : two_norms,
                                    .seed = s + 1};
        gram_case c;
        open_case(&c, &choice);
        for (size_t w = 0; w < 2; w++) {
            const md_packed_options options = {.threads = 2, .float64 = w};
            md_packed *packed = open_store(&c, &options);
            check_passes(packed, 10 * s + w);
            md_packed_free(packed);
        }
        close_case(&c);
    }
}

static double even_weight(void *context, size_t i, double norm2)
{
    (void)context;
    (void)norm2;
    return 1 / (double)(i + 1);
}

/* Hundreds of kernels are divided among parts with sums of their own. */
static void sums_of_hundreds_of_kernels(void **state)
{
    (void)state;
    enum { MANY = 140 };
    char texts[MANY][40];
    char *specs[MANY + 1] = {NULL};
    for (size_t i = 0; i < MANY; i++) {
        snprintf(texts[i], sizeof texts[i], "rbf(gamma=%g)", 0.01 * (double)(i + 1));
        specs[i] = texts[i];
    }
    const size_t rows[] = {5, 60, 185};
    for (size_t s = 0; s < 3; s++) {
        gram_case c;
        open_views(&c, rows[s], 1, false, specs);
        const md_packed_options options = {.threads = 2,
                                           .memory = s == 1 ? 30 * triangle_bytes(rows[s], 4) : 0};
        md_packed *packed = open_store(&c, &options);
        const size_t n = c.n;
        double *x = draw_doubles(n, 1);
        double *matrices = read_matrices(packed);
        double *norm2 = md_calloc(MANY, sizeof *norm2);
        double *weight = md_calloc(MANY, sizeof *weight);
        double *sums = md_calloc(2 * n * n, sizeof *sums);
        assert_true(norm2 != NULL && weight != NULL && sums != NULL);
        for (size_t m = 0; m < MANY; m++)
            weight[m] = even_weight(NULL, m, 0);
        const md_chosen all = {.count = MANY};
        assert_int_equal(md_packed_sum(packed, all, weight, sums, NULL), MEDLEY_OK);
        assert_int_equal(md_packed_multiply_and_sum(packed, all, x, even_weight, NULL, NULL, norm2,
                                                    sums + n * n, NULL),
                         MEDLEY_OK);
        for (size_t i = 0; i < n; i++)
            for (size_t j = i; j < n; j++) {
                double sum = 0;
                for (size_t m = 0; m < MANY; m++)
                    sum += weight[m] * matrices[m * n * n + i * n + j];
                check_close(sums[i * n + j], sum, sum);
                check_close(sums[n * n + i * n + j], sum, sum);
            }
        free(x);
        free(matrices);
        free(norm2);
        free(weight);
        free(sums);
        md_packed_free(packed);
        close_case(&c);
    }
}

static void nothing_chosen_is_a_sum_of_nothing(void **state)
{
    (void)state;
    const case_choice choice = {.kind = kind_of(5, false), .kernels = one_of_each_quantity};
    gram_case c;
    open_case(&c, &choice);
    const md_packed_options options = {.threads = 2};
    md_packed *packed = open_store(&c, &options);
    const md_chosen none = {.count = 0};
    const md_chosen two = {.count = 2};
    const double zeros[2] = {0};
    double x[5] = {1, 2, 3, 4, 5};
    for (size_t s = 0; s < 3; s++) {
        double sum[25];
        double norm2[1];
        for (size_t i = 0; i < 25; i++)
            sum[i] = 7;
        assert_int_equal(s == 0   ? md_packed_sum(packed, none, NULL, sum, NULL)
                         : s == 1 ? md_packed_sum(packed, two, zeros, sum, NULL)
                                  : md_packed_multiply_and_sum(packed, none, x, even_weight, NULL,
                                                               NULL, norm2, sum, NULL),
                         MEDLEY_OK);
        for (size_t i = 0; i < 25; i++)
            assert_true(sum[i] == (i % 5 >= i / 5 ? 0 : 7));
    }
    assert_int_equal(md_packed_norms2(packed, none, x, NULL, NULL), MEDLEY_OK);
    assert_int_equal(md_packed_hold(packed, none, NULL), MEDLEY_OK);
    md_packed_free(packed);
    close_case(&c);
}

/* ---- memory ---- */

/* What a packed grams says of its kernels, and what passes give: equal to the bit where they should
 * be. */
static void check_same(md_packed *packed, md_packed *expected, bool same_sums)
{
    const size_t n = md_packed_rows(packed);
    const size_t count = md_packed_count(packed);
    const md_chosen all = {.count = count};
    double *x = draw_doubles(n, 5);
    double *weight = draw_doubles(count, 6);
    double *got = md_calloc(2 * (count * (n + 1) + n * n), sizeof *got);
    assert_non_null(got);
    double *wanted = got + count * (n + 1) + n * n;
    for (size_t s = 0; s < 2; s++) {
        md_packed *from = s ? expected : packed;
        double *out = s ? wanted : got;
        assert_int_equal(md_packed_norms2(from, all, x, out, NULL), MEDLEY_OK);
        assert_int_equal(md_packed_multiply(from, all, x, out + count, NULL), MEDLEY_OK);
        if (same_sums)
            assert_int_equal(md_packed_sum(from, all, weight, out + count * (n + 1), NULL),
                             MEDLEY_OK);
    }
    assert_memory_equal(got, wanted, (count * (n + 1) + n * n) * sizeof *got);
    for (size_t m = 0; m < count; m++) {
        assert_true(md_packed_trace(packed, m) == md_packed_trace(expected, m));
        assert_true(md_packed_spread(packed, m) == md_packed_spread(expected, m));
    }
    free(x);
    free(weight);
    free(got);
}

static void threads_do_not_change_a_bit(void **state)
{
    (void)state;
    const size_t rows[] = {64, 300, 730};
    for (size_t s = 0; s < 6; s++) {
        const case_choice choice = {.kind = kind_of(rows[s / 2], false),
                                    .kernels = s < 4 ? one_of_each_quantity : one_kernel,
                                    .norms = two_norms,
                                    .seed = s + 1};
        gram_case c;
        open_case(&c, &choice);
        md_packed_options options = {.threads = 1,
                                     .memory = s % 2 ? 4 * triangle_bytes(rows[s / 2], 4) : 0};
        md_packed *one = open_store(&c, &options);
        for (options.threads = 2; options.threads <= 5; options.threads += 3) {
            md_packed *many = open_store(&c, &options);
            check_same(many, one, true);
            md_packed_free(many);
        }
        md_packed_free(one);
        close_case(&c);
    }
}

/* Room for none, a part, all but one: the same values, and no more memory than allowed. */
static void budgets_change_nothing(void **state)
{
    (void)state;
    const size_t rows[] = {17, 300, 730};
    for (size_t s = 0; s < 3; s++) {
        const case_choice choice = {.kind = kind_of(rows[s], s == 1),
                                    .kernels = s < 2 ? one_of_each_quantity : two_kernels,
                                    .norms = s < 1 ? NULL : two_norms,
                                    .seed = s + 1};
        gram_case c;
        open_case(&c, &choice);
        const md_packed_options plenty = {.threads = 2, .ridge = 1e-3};
        md_packed *whole = open_store(&c, &plenty);
        const size_t each = triangle_bytes(c.n, 4);
        const size_t budgets[] = {1, 2 * each + 1, 5 * each, c.bank.count * each - 1};
        for (size_t b = 0; b < (s < 2 ? 4 : 2); b++) {
            const md_packed_options options = {.threads = 2, .ridge = 1e-3, .memory = budgets[b]};
            md_packed *packed = open_store(&c, &options);
            assert_false(md_packed_is_resident(packed));
            assert_true(md_packed_bytes(packed) <= (budgets[b] > each ? budgets[b] : each));
            check_same(packed, whole, false);
            if (s == 0 || b == 1)
                check_passes(packed, b);
            md_packed_free(packed);
        }
        md_packed_free(whole);
        close_case(&c);
    }
}

static void held_kernels_stay_until_others_are(void **state)
{
    (void)state;
    const case_choice choice = {
        .kind = kind_of(70, false), .kernels = one_of_each_quantity, .seed = 8};
    gram_case c;
    open_case(&c, &choice);
    const size_t each = triangle_bytes(c.n, 4);
    const md_packed_options plenty = {.threads = 2};
    md_packed *whole = open_store(&c, &plenty);
    const size_t sets[][4] = {{0, 7, 9, 9}, {9, 4, 10, 11}, {0, 1, 1, 0}};
    const struct {
        size_t memory, held[3];
    } budgets[] = {{8, {2, 4, 0}}, {1, {3, 4, 2}}};
    for (size_t b = 0; b < sizeof budgets / sizeof budgets[0]; b++) {
        const md_packed_options options = {.threads = 2, .memory = budgets[b].memory * each};
        md_packed *packed = open_store(&c, &options);
        const size_t before = md_packed_bytes(packed);
        for (size_t s = 0; s < 3; s++) {
            const md_chosen chosen = {.kernels = sets[s], .count = 4};
            assert_int_equal(md_packed_hold(packed, chosen, NULL), MEDLEY_OK);
            assert_int_equal(md_packed_bytes(packed), before + budgets[b].held[s] * each);
            check_same(packed, whole, false);
            check_passes(packed, s);
        }
        md_packed_free(packed);
    }
    md_packed_free(whole);
    close_case(&c);
}

/* ---- the observer ---- */

struct watch {
    size_t calls, done, stop_at;
};

static bool watch(void *context, const medley_progress *progress)
{
    struct watch *w = context;
    assert_string_equal(progress->stage, "kernels");
    assert_true(progress->done > w->done && progress->done <= progress->total);
    w->done = progress->done;
    return ++w->calls != w->stop_at;
}

static void progress_is_told_and_may_be_stopped(void **state)
{
    (void)state;
    const case_choice choice = {.kind = kind_of(20, false), .seed = 2};
    gram_case c;
    open_case(&c, &choice);
    struct watch w = {0};
    const medley_observer observer = {sizeof observer, .context = &w, .progress = watch};
    const md_packed_options options = {.threads = 2, .memory = 1, .observer = &observer};
    md_packed_free(open_store(&c, &options));
    assert_int_equal(w.done, c.bank.count);
    const size_t calls = w.calls;
    assert_true(calls > 1);
    w = (struct watch){.stop_at = calls - 1};
    md_packed *packed = NULL;
    medley_error error = {0};
    assert_int_equal(md_packed_create(&packed, &c.bank, &c.prepared, &options, &error),
                     MEDLEY_FAILED);
    assert_null(packed);
    assert_non_null(strstr(error.message, "stopped"));
    assert_int_equal(w.calls, calls - 1);
    close_case(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(triangles_equal_the_formulas),
        cmocka_unit_test(means_are_learnt_into_the_bank),
        cmocka_unit_test(the_ridge_is_a_share_of_the_mean_diagonal),
        cmocka_unit_test(kernels_of_many_views_are_each_their_own),
        cmocka_unit_test(passes_equal_plain_loops),
        cmocka_unit_test(sums_of_hundreds_of_kernels),
        cmocka_unit_test(nothing_chosen_is_a_sum_of_nothing),
        cmocka_unit_test(threads_do_not_change_a_bit),
        cmocka_unit_test(budgets_change_nothing),
        cmocka_unit_test(held_kernels_stay_until_others_are),
        cmocka_unit_test(progress_is_told_and_may_be_stopped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
