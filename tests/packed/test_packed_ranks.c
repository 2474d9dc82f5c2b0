/* SPDX-License-Identifier: BSD-3-Clause */
/* Packed grams that are divided among ranks: results of single kernels are the bits of one process,
 * sums are the same up to rounding, and every rank gets all of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "comm/fake_ranks.h"
#include "packed/mixture.h"
#include "packed_passes.h"

enum { MOST_KERNELS = 24 };

static const char *const kernels[] = {"linear", "poly", "rbf", "laplace", "bias", NULL};
static const char *const norms[] = {"none", "trace", "center", "diag", NULL};

/* What a rank got. */
struct found {
    size_t n, count;
    double trace[MOST_KERNELS], spread[MOST_KERNELS];
    double norm2[MOST_KERNELS], bound2[MOST_KERNELS], exact2[MOST_KERNELS];
    double *y, *each, *exact; /* [count][n] */
    double *factors;          /* [count][n] a row of each */
    float *means;             /* [count][n] */
    double *sum, *both;       /* [n][n] */
    double *mixed;            /* [2][n] */
    bool resident;
    size_t own;
};

struct run {
    size_t rows, columns;
    md_packed_options options;
    struct found found[MOST_FAKE_RANKS];
};

static void make_room(struct found *found, size_t n, size_t count)
{
    found->n = n;
    found->count = count;
    found->y = md_calloc(4 * count * n, sizeof(double));
    found->each = found->y + count * n;
    found->exact = found->each + count * n;
    found->factors = found->exact + count * n;
    found->means = md_calloc(count * n, sizeof(float));
    found->sum = md_calloc(2 * n * n + 2 * n, sizeof(double));
    found->both = found->sum + n * n;
    found->mixed = found->both + n * n;
}

static void forget(struct found *found)
{
    free(found->y);
    free(found->means);
    free(found->sum);
}

static medley_status mix(md_packed *packed, struct found *found, const double *x,
                         const double *weight, medley_error *error)
{
    MD_OWNED(md_mixture_free) md_mixture *mixture = NULL;
    const md_chosen all = {.count = found->count};
    MEDLEY_TRY(md_mixture_create(&mixture, packed, 1 << 20, error));
    MEDLEY_TRY(md_mixture_set(mixture, all, weight, error));
    MEDLEY_TRY(md_mixture_multiply(mixture, x, found->mixed, error));
    return md_mixture_column(mixture, found->n / 3, found->mixed + found->n, error);
}

static medley_status ask(md_packed *packed, struct found *found, const double *x, double *weight,
                         medley_error *error)
{
    const size_t n = found->n;
    const md_chosen all = {.count = found->count};
    size_t some[] = {found->count - 1, 0, 3, 2, 0};
    MEDLEY_TRY(md_packed_norms2(packed, all, x, found->norm2, error));
    MEDLEY_TRY(md_packed_multiply(packed, all, x, found->y, error));
    MEDLEY_TRY(md_packed_hold(packed, (md_chosen){some, 4}, error));
    MEDLEY_TRY(md_packed_multiply_each(packed, (md_chosen){some, 5}, x, found->each, error));
    MEDLEY_TRY(md_packed_hold(packed, all, error));
    for (size_t m = 0; m < found->count; m++) {
        size_t rank = 0;
        const double *factor = md_packed_lowrank(packed, m, &rank);
        if (factor != NULL && rank > 0)
            memcpy(found->factors + m * n, factor + (rank - 1) * n, n * sizeof *factor);
        found->trace[m] = md_packed_trace(packed, m);
        found->spread[m] = md_packed_spread(packed, m);
    }
    MEDLEY_TRY(md_packed_multiply_exactly(packed, all, x, 0, found->exact, found->exact2, error));
    MEDLEY_TRY(md_packed_sum(packed, all, weight, found->sum, error));
    MEDLEY_TRY(md_packed_multiply_and_sum(packed, all, x, weigh_by_norm, weight, found->y,
                                          found->norm2, found->both, error));
    MEDLEY_TRY(md_packed_factor(packed, 1e-3, n / 3, error));
    return md_packed_bounds2(packed, all, x, found->bound2, error);
}

static medley_status look(medley_comm *comm, size_t rank, void *context, medley_error *error)
{
    struct run *run = context;
    struct found *found = &run->found[rank];
    const case_choice choice = {
        .kind = {.rows = run->rows, .columns = run->columns, .center = 1, .spread = 1},
        .kernels = kernels,
        .norms = norms,
        .seed = 7};
    gram_case c;
    open_case(&c, &choice);
    md_packed_options options = run->options;
    options.comm = comm;
    make_room(found, run->rows, c.bank.count);
    double *x = draw_doubles(5 * run->rows, 8);
    double *weight = draw_doubles(c.bank.count, 9);
    for (size_t m = 0; m < c.bank.count; m++)
        weight[m] = fabs(weight[m]);
    md_packed *packed = NULL;
    medley_status status = md_packed_create(&packed, &c.bank, &c.prepared, &options, error);
    if (status >= 0)
        status = ask(packed, found, x, weight, error);
    if (status >= 0 && options.by_rows)
        status = mix(packed, found, x, weight, error);
    found->resident = status >= 0 && md_packed_is_resident(packed);
    found->own = status >= 0 ? md_packed_bytes(packed) : 0;
    for (size_t m = 0; m < c.bank.count; m++)
        if (c.bank.kernels[m].column_mean != NULL)
            memcpy(found->means + m * found->n, c.bank.kernels[m].column_mean,
                   found->n * sizeof(float));
    md_packed_free(packed);
    free(x);
    free(weight);
    close_case(&c);
    return status;
}

static void look_together(struct run *run, size_t ranks)
{
    struct fake_group group;
    run_fake_ranks(&group, ranks, look, run);
    for (size_t r = 0; r < ranks; r++)
        if (group.ranks[r].status < 0)
            fail_msg("rank %zu of %zu: %s", r, ranks, group.ranks[r].error.message);
}

static void check_near_to(const double *found, const double *expected, size_t count)
{
    const double size = largest_of(expected, count);
    for (size_t i = 0; i < count; i++)
        assert_true(fabs(found[i] - expected[i]) <= 1e-11 * size);
}

static void check_found(const struct found *found, const struct found *expected, bool by_rows)
{
    const size_t values = expected->n * expected->count;
    const size_t bytes = expected->count * sizeof(double);
    assert_int_equal(found->count, expected->count);
    assert_memory_equal(found->trace, expected->trace, bytes);
    assert_memory_equal(found->spread, expected->spread, bytes);
    assert_memory_equal(found->bound2, expected->bound2, bytes);
    assert_memory_equal(found->exact2, expected->exact2, bytes);
    assert_memory_equal(found->y, expected->y, values * sizeof(double));
    assert_memory_equal(found->each, expected->each, values * sizeof(double));
    assert_memory_equal(found->exact, expected->exact, values * sizeof(double));
    assert_memory_equal(found->factors, expected->factors, values * sizeof(double));
    assert_memory_equal(found->means, expected->means, values * sizeof(float));
    check_near_to(found->norm2, expected->norm2, expected->count);
    check_near_to(found->sum, expected->sum, expected->n * expected->n);
    check_near_to(found->both, expected->both, expected->n * expected->n);
    if (by_rows)
        for (size_t i = 0; i < 2 * expected->n; i++) /* sums in single precision */
            assert_true(fabs(found->mixed[i] - expected->mixed[i]) <=
                        1e-5 * largest_of(expected->mixed, 2 * expected->n));
}

static void check_ranks(size_t rows, size_t columns, md_packed_options options)
{
    struct run alone = {.rows = rows, .columns = columns, .options = options};
    look_together(&alone, 1);
    for (size_t ranks = 2; ranks <= 4; ranks++) {
        struct run run = {.rows = rows, .columns = columns, .options = options};
        run.options.threads = ranks % 2 + 1;
        look_together(&run, ranks);
        for (size_t r = 0; r < ranks; r++) {
            check_found(&run.found[r], &alone.found[0], options.by_rows);
            if (options.memory == 0) /* nobody keeps everything */
                assert_true(run.found[r].resident && run.found[r].own < alone.found[0].own);
            forget(&run.found[r]);
        }
    }
    forget(&alone.found[0]);
}

static void kernels_of_ranks_are_those_of_one_process(void **state)
{
    (void)state;
    check_ranks(150, 12, (md_packed_options){.threads = 1});
    check_ranks(150, 3, (md_packed_options){.threads = 1, .ridge = 0.1});
    check_ranks(90, 5, (md_packed_options){.threads = 1, .float64 = true});
}

static void budgets_of_ranks(void **state)
{
    (void)state;
    check_ranks(150, 12, (md_packed_options){.threads = 1, .memory = 6 * triangle_bytes(150, 4)});
}

static void rows_of_ranks(void **state)
{
    (void)state;
    check_ranks(150, 12, (md_packed_options){.threads = 1, .by_rows = true});
    check_ranks(
        150, 12,
        (md_packed_options){.threads = 2, .by_rows = true, .memory = 6 * triangle_bytes(150, 4)});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernels_of_ranks_are_those_of_one_process),
        cmocka_unit_test(budgets_of_ranks),
        cmocka_unit_test(rows_of_ranks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
