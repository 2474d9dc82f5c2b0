/* SPDX-License-Identifier: BSD-3-Clause */
/* Full and sparse Gram matrices, and rows that are computed on the fly, against the formulas, for
 * every kernel and normalisation; what must hold exactly (symmetry, unit diagonals, bits for any
 * number of threads) does. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "gram_case.h"

/* One tile holds 256 rows. */
static const size_t sizes[] = {1, 2, 7, 300, 600};
enum { SIZES = 5 };
static const char *const one_of_each_quantity[] = {"poly", "rbf", "laplace", NULL};

/* Values that chi2 and intersection accept; few rows of zeros among them. */
static data_kind kind_of(size_t rows, bool sparse)
{
    return (data_kind){.rows = rows,
                       .columns = sparse ? 9 : 5,
                       .center = 1,
                       .spread = 1,
                       .zeros = sparse ? 0.7 : 0.05,
                       .sparse = sparse};
}

static void check_values(const gram_case *c, md_gram *gram)
{
    double scale[CASE_KERNELS];
    gram_rows rows = open_rows(gram);
    for (size_t m = 0; m < c->bank.count; m++)
        scale[m] = case_scale(c, m);
    for (size_t i = 0; i < c->n; i++) {
        const size_t other = (i + 5) % 7 < c->n ? (i + 5) % 7 : 0;
        fetch_rows(&rows, i);
        for (size_t m = 0; m < c->bank.count; m++) {
            const float *row = row_of(&rows, m);
            for (size_t j = 0; j < c->n; j++)
                check_near(c, m, i, j, (double)row[j], scale[m]);
            check_near(c, m, i, i, md_gram_diagonal(gram, m, i), scale[m]);
            if (md_gram_is_kept(gram, m))
                assert_true(md_gram_entry(gram, m, i, other) == row[other]);
            else
                assert_true(row[i] == (float)md_gram_diagonal(gram, m, i));
        }
    }
    for (size_t i = 0; i < c->n; i += 1 + c->n / 40)
        for (size_t m = 0; m < c->bank.count; m++) {
            const size_t other = (i * 11 + 3) % c->n;
            check_near(c, m, i, other, entry_of(&rows, m, i, other), scale[m]);
            if (is_computed(&rows, m))
                assert_true((float)entry_of(&rows, m, i, i) == (float)md_gram_diagonal(gram, m, i));
        }
    close_rows(&rows);
}

/* Symmetry and unit diagonals to the bit; traces and sums of centred rows to rounding. */
static void check_exact(const gram_case *c, md_gram *gram)
{
    for (size_t m = 0; m < c->bank.count; m++) {
        const md_norm norm = c->bank.kernels[m].norm;
        const double scale = case_scale(c, m);
        double trace = 0;
        for (size_t i = 0; i < c->n; i++) {
            double sum = 0;
            for (size_t j = 0; j < c->n; j++) {
                if (md_gram_entry(gram, m, i, j) != md_gram_entry(gram, m, j, i))
                    fail_msg("%s is not symmetric at %zu, %zu", c->bank.kernels[m].name, i, j);
                sum += (double)md_gram_entry(gram, m, i, j);
            }
            trace += (double)md_gram_entry(gram, m, i, i);
            if (norm == MD_NORM_CENTER)
                assert_true(fabs(sum) <= 1e-6 * scale * (double)c->n);
            const float *x = c->values + i * c->d;
            if (norm == MD_NORM_DIAG && naive_value(&c->kernels[m], x, x, c->d) > 0)
                assert_true(md_gram_entry(gram, m, i, i) == 1 && md_gram_diagonal(gram, m, i) == 1);
        }
        if (norm == MD_NORM_TRACE)
            assert_true(fabs(trace - 1) < 1e-5);
    }
}

static void full_matrices_equal_the_formulas(void **state)
{
    (void)state;
    for (size_t s = 0; s < 2 * SIZES; s++) {
        const case_choice choice = {.kind = kind_of(sizes[s / 2], s % 2),
                                    .kernels = s / 2 == SIZES - 1 ? one_of_each_quantity : NULL,
                                    .seed = s + 1};
        gram_case c;
        open_case(&c, &choice);
        md_gram *gram = open_gram(&c, 1, 0);
        assert_int_equal(md_gram_count(gram), c.bank.count);
        assert_int_equal(md_gram_rows(gram), c.n);
        assert_false(md_gram_is_streamed(gram));
        for (size_t m = 0; m < c.bank.count; m++)
            assert_true(md_gram_is_kept(gram, m));
        check_values(&c, gram);
        check_exact(&c, gram);
        md_gram_free(gram);
        close_case(&c);
    }
}

/* Room for so many rows of every kernel. */
static size_t room_for(const gram_case *c, size_t rows)
{
    return (rows + 1) * c->bank.count * c->n * sizeof(float);
}

static void computed_rows_equal_the_formulas(void **state)
{
    (void)state;
    for (size_t s = 2; s < 2 * SIZES - 2; s++) {
        const size_t rows = sizes[s / 2];
        const case_choice choice = {.kind = kind_of(rows, s % 2), .seed = s + 1};
        gram_case c;
        open_case(&c, &choice);
        md_gram *gram = open_gram(&c, 2, room_for(&c, rows > 2 ? rows / 3 : 1));
        if (rows > 2) {
            size_t computed = 0;
            for (size_t m = 0; m < c.bank.count; m++)
                computed += !md_gram_is_kept(gram, m);
            assert_true(md_gram_is_streamed(gram));
            assert_true(computed > 0);
            assert_true(md_gram_bytes(gram) <= room_for(&c, rows / 3));
        }
        check_values(&c, gram);
        md_gram_free(gram);
        close_case(&c);
    }
}

/* Entries between the rows of a window, whatever the order of the rows; diagonals to the bit. */
static void check_window(gram_case *c, md_gram *gram, const size_t *visits, size_t count)
{
    medley_error error = {0};
    gram_rows rows = open_rows(gram);
    double scale[CASE_KERNELS];
    for (size_t m = 0; m < c->bank.count; m++)
        scale[m] = case_scale(c, m);
    const size_t window = md_deferred_open_most(rows.deferred);
    for (size_t first = 0; first < count; first += window) {
        const size_t opened = count - first < window ? count - first : window;
        check_ok(md_deferred_open(rows.deferred, visits + first, opened, &error), &error);
        for (size_t m = 0; m < c->bank.count; m++)
            for (size_t k = 0; k < opened * opened; k++) {
                const size_t i = visits[first + k / opened];
                const size_t j = visits[first + k % opened];
                const float value = md_deferred_entry(rows.deferred, m, i, j);
                check_near(c, m, i, j, (double)value, scale[m]);
                if (i == j)
                    assert_true(value == (float)md_gram_diagonal(gram, m, i));
            }
    }
    close_rows(&rows);
}

static void visiting_order_does_not_matter(void **state)
{
    (void)state;
    for (size_t sparse = 0; sparse < 2; sparse++) {
        const case_choice choice = {
            .kind = kind_of(300, sparse), .kernels = one_of_each_quantity, .seed = 5 + sparse};
        gram_case c;
        open_case(&c, &choice);
        md_gram *gram = open_gram(&c, 2, room_for(&c, 40));
        assert_true(md_gram_is_streamed(gram));
        size_t visits[300];
        md_random random;
        md_random_seed(&random, 9);
        for (size_t i = 0; i < 300; i++)
            visits[i] = i;
        check_window(&c, gram, visits, 300);
        md_random_shuffle(&random, visits, 300);
        check_window(&c, gram, visits, 300);
        md_gram_free(gram);
        close_case(&c);
    }
}

static void mostly_zero_kernels_are_kept_sparse(void **state)
{
    (void)state;
    static const char *const hats[] = {"bspline", NULL};
    static const char *const products[] = {"linear", "intersection", NULL};
    static const char *const norms[] = {"none", "diag", "trace", NULL};
    const case_choice choices[] = {
        {.kind = {.rows = 600, .columns = 5, .spread = 9}, .kernels = hats, .norms = norms},
        {.kind =
             {.rows = 600, .columns = 60, .center = 1, .spread = 1, .zeros = 0.97, .sparse = true},
         .kernels = products,
         .norms = norms}};
    for (size_t i = 0; i < 2; i++) {
        gram_case c;
        open_case(&c, &choices[i]);
        md_gram *gram = open_gram(&c, 2, 0);
        size_t entries = 0;
        for (size_t m = 0; m < c.bank.count; m++)
            for (size_t e = 0; e < c.n * c.n; e++)
                entries += c.expected[m][e] != 0;
        assert_true(entries < c.bank.count * c.n * c.n / 4);
        /* an index and a value for each; rounding may add a few next to zero */
        assert_true(md_gram_bytes(gram) < 9 * entries);
        check_values(&c, gram);
        md_gram_free(gram);
        close_case(&c);
    }
}

static void sparse_and_computed_kernels_live_together(void **state)
{
    (void)state;
    static const char *const names[] = {"rbf", "bspline", NULL};
    static const char *const norms[] = {"none", "trace", NULL};
    const case_choice choice = {
        .kind = {.rows = 300, .columns = 5, .spread = 9}, .kernels = names, .norms = norms};
    gram_case c;
    open_case(&c, &choice);
    md_gram *gram = open_gram(&c, 2, 300 * 300 * sizeof(float)); /* one full matrix, or less */
    assert_true(md_gram_is_streamed(gram));
    check_values(&c, gram);
    md_gram_free(gram);
    close_case(&c);
}

static float *all_rows(gram_case *c, size_t threads, size_t memory)
{
    md_gram *gram = open_gram(c, threads, memory);
    gram_rows from = open_rows(gram);
    float *rows = md_calloc(c->n * c->bank.count * c->n, sizeof *rows);
    assert_non_null(rows);
    for (size_t i = 0; i < c->n; i++) {
        fetch_rows(&from, i);
        memcpy(rows + i * c->bank.count * c->n, from.values, c->bank.count * c->n * sizeof *rows);
    }
    close_rows(&from);
    md_gram_free(gram);
    return rows;
}

static void threads_do_not_change_a_bit(void **state)
{
    (void)state;
    static const char *const norms[] = {"diag", "center", NULL};
    for (size_t s = 0; s < 4; s++) {
        const bool streamed = s / 2;
        const case_choice choice = {.kind = kind_of(streamed ? 270 : 400, s % 2),
                                    .kernels = one_of_each_quantity,
                                    .norms = norms,
                                    .seed = s + 1};
        gram_case c;
        open_case(&c, &choice);
        const size_t memory = streamed ? room_for(&c, 100) : 0;
        float *one = all_rows(&c, 1, memory);
        for (size_t threads = 2; threads <= 5; threads += 3) {
            float *many = all_rows(&c, threads, memory);
            assert_memory_equal(many, one, c.bank.count * c.n * c.n * sizeof *one);
            free(many);
        }
        free(one);
        close_case(&c);
    }
}

/* Many views of few rows are computed in groups of kernels. */
static void kernels_of_many_views_are_each_their_own(void **state)
{
    (void)state;
    const data_kind kind = {.rows = 20, .columns = 30, .spread = 1};
    medley_dataset *data = make_data(&kind, 1);
    const float *values = data->tables[0].features.dense;
    char spec[] = "rbf(gamma={1..40})";
    char *const specs[] = {spec, NULL};
    const md_bank_options options = {.kernels = specs, .views = "each"};
    md_bank bank;
    md_prepared prepared;
    md_gram *gram = NULL;
    const md_gram_options gram_options = {.threads = 2};
    assert_int_equal(md_bank_make(&bank, data, &options, NULL), MEDLEY_OK);
    assert_int_equal(bank.count, 1200);
    assert_int_equal(md_prepared_make(&prepared, &bank, data, true, NULL), MEDLEY_OK);
    assert_int_equal(md_gram_create(&gram, &bank, &prepared, &gram_options, NULL), MEDLEY_OK);
    for (size_t m = 0; m < bank.count; m++)
        for (size_t i = 0; i < 20; i++) {
            const double difference =
                (double)values[i * 30 + m / 40] - (double)values[3 * 30 + m / 40];
            const double expected = exp(-(double)(m % 40 + 1) * difference * difference);
            assert_true(fabs((double)md_gram_entry(gram, m, 3, i) - expected) < GRAM_TOLERANCE);
        }
    md_gram_free(gram);
    md_prepared_clear(&prepared);
    md_bank_clear(&bank);
    medley_dataset_free(data);
}

/* Values of 2000 +- 1: squares of 4e6 per column, of which distances are a millionth. */
static void far_data_keep_their_distances(void **state)
{
    (void)state;
    static const char *const names[] = {"rbf", "bspline", "linear", NULL};
    static const char *const norms[] = {"none", "diag", NULL};
    const case_choice choice = {.kind = {.rows = 300, .columns = 20, .center = 2000, .spread = 1},
                                .kernels = names,
                                .norms = norms,
                                .seed = 3};
    gram_case c;
    open_case(&c, &choice);
    for (size_t memory = 0; memory < 2; memory++) {
        md_gram *gram = open_gram(&c, 1, memory ? room_for(&c, 90) : 0);
        gram_rows rows = open_rows(gram);
        assert_int_equal(md_gram_is_streamed(gram), memory);
        for (size_t i = 0; i < c.n; i++) {
            fetch_rows(&rows, i);
            for (size_t k = 0; k < c.bank.count * c.n; k++) {
                const double expected = c.expected[k / c.n][i * c.n + k % c.n];
                const double value = (double)rows.values[k];
                assert_true(fabs(value - expected) < 1e-4 * fmax(1, fabs(expected)));
            }
        }
        close_rows(&rows);
        md_gram_free(gram);
    }
    close_case(&c);
}

/* A row of zeros far from the others' mean has K(x,x) = 0, not what rounding leaves of it. */
static void rows_of_zeros_stay_zero(void **state)
{
    (void)state;
    const data_kind kind = {.rows = 9, .columns = 4, .center = 3, .spread = 0.5};
    medley_dataset *data = make_data(&kind, 1);
    memset(data->tables[0].features.dense + 4 * 4, 0, 4 * sizeof(float));
    char linear[] = "linear(norm=diag)";
    char gaussian[] = "rbf(gamma=1)"; /* asks for an origin */
    char *const specs[] = {linear, gaussian, NULL};
    const md_bank_options options = {.kernels = specs, .views = "all"};
    md_bank bank;
    md_prepared prepared;
    md_gram *gram = NULL;
    const md_gram_options gram_options = {.threads = 1};
    assert_int_equal(md_bank_make(&bank, data, &options, NULL), MEDLEY_OK);
    assert_non_null(bank.origin[0]);
    assert_int_equal(md_prepared_make(&prepared, &bank, data, true, NULL), MEDLEY_OK);
    assert_int_equal(md_gram_create(&gram, &bank, &prepared, &gram_options, NULL), MEDLEY_OK);
    for (size_t j = 0; j < 9; j++)
        assert_true(md_gram_entry(gram, 0, 4, j) == 0);
    assert_true(md_gram_diagonal(gram, 0, 4) == 0 && md_gram_diagonal(gram, 0, 3) == 1);
    md_gram_free(gram);
    md_prepared_clear(&prepared);
    md_bank_clear(&bank);
    medley_dataset_free(data);
}

static bool stop_at_once(void *context, const medley_progress *progress)
{
    (*(size_t *)context)++;
    assert_string_equal(progress->stage, "kernels");
    assert_true(progress->done <= progress->total);
    return false;
}

static void observers_are_obeyed(void **state)
{
    (void)state;
    const case_choice choice = {.kind = kind_of(300, false), .seed = 1};
    gram_case c;
    open_case(&c, &choice);
    md_gram *gram = NULL;
    medley_error error = {0};
    size_t calls = 0;
    const medley_observer observer = {sizeof observer, .context = &calls, .progress = stop_at_once};
    const md_gram_options options = {.threads = 1, .observer = &observer};
    assert_int_equal(md_gram_create(&gram, &c.bank, &c.prepared, &options, &error), MEDLEY_FAILED);
    assert_non_null(strstr(error.message, "stopped"));
    assert_int_equal(calls, 1);
    assert_null(gram);
    close_case(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(full_matrices_equal_the_formulas),
        cmocka_unit_test(computed_rows_equal_the_formulas),
        cmocka_unit_test(visiting_order_does_not_matter),
        cmocka_unit_test(mostly_zero_kernels_are_kept_sparse),
        cmocka_unit_test(sparse_and_computed_kernels_live_together),
        cmocka_unit_test(threads_do_not_change_a_bit),
        cmocka_unit_test(kernels_of_many_views_are_each_their_own),
        cmocka_unit_test(far_data_keep_their_distances),
        cmocka_unit_test(rows_of_zeros_stay_zero),
        cmocka_unit_test(observers_are_obeyed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
