/* SPDX-License-Identifier: BSD-3-Clause */
/* Problems of the batch solver that have no spread where they should have some: rows and kernels
 * that are the same, kernels without values, targets that are all equal, hardly any rows. Each has
 * a certificate all the same, with every loss and penalty. */
#include "batch/check_solution.h"

/* Changes a case that is drawn. */
typedef void (*twist)(batch_case *c);

static void try_twist(twist change, size_t rows, size_t kernels)
{
    static const double shares[] = {1.5, 0.5, 0.02};
    for (size_t l = 0; l < LOSSES; l++)
        for (size_t p = 0; p < PENALTIES; p++)
            for (size_t i = 0; i < 3; i++) {
                const batch_choice choice = {.rows = rows,
                                             .kernels = kernels,
                                             .loss = {.kind = l, .epsilon = 0.1},
                                             .penalty = &plain_penalties[p],
                                             .wide = i % 2,
                                             .seed = 100 * rows + 10 * l + p};
                batch_case c;
                md_batch_solution s;
                draw_case(&c, &choice);
                change(&c);
                open_case(&c);
                set_strength(&c, shares[i]);
                solve_and_check(&c, NULL, &s);
                md_batch_solution_clear(&s);
                close_case(&c);
            }
}

static void set_kernel(batch_case *c, size_t m, double value, double diagonal)
{
    for (size_t i = 0; i < c->n; i++)
        for (size_t j = 0; j < c->n; j++)
            case_matrix(c, m)[i * c->n + j] = i == j ? diagonal : value;
}

/* ---- data ---- */

static void leave_alone(batch_case *c)
{
    (void)c;
}

static void hardly_any_rows_or_kernels(void **state)
{
    (void)state;
    try_twist(leave_alone, 2, 1);
    try_twist(leave_alone, 2, 5);
    try_twist(leave_alone, 3, 2);
    try_twist(leave_alone, 20, 1);
}

/* Every row stands three times, some with other targets. */
static void repeat_rows(batch_case *c)
{
    const size_t n = c->n;
    for (size_t m = 0; m < c->count; m++)
        for (size_t i = 0; i < n * n; i++)
            case_matrix(c, m)[i] = case_matrix(c, m)[i / n / 3 * 3 * n + i % n / 3 * 3];
    for (size_t m = 0; m < c->count && !c->choice.wide; m++)
        add_ridge(c, m);
    for (size_t i = 0; i < n; i++)
        c->y[i] = i % 7 == 0 ? c->y[i] : c->y[i / 3 * 3];
}

static void rows_that_are_the_same(void **state)
{
    (void)state;
    try_twist(repeat_rows, 18, 4);
}

static void repeat_kernels(batch_case *c)
{
    for (size_t m = 0; m < c->count; m++)
        memmove(case_matrix(c, m), case_matrix(c, m / 3 * 3), c->n * c->n * sizeof *c->K);
}

static void kernels_that_are_the_same(void **state)
{
    (void)state;
    try_twist(repeat_kernels, 14, 9);
}

/* No values, all ones, and the identity. */
static void flatten_kernels(batch_case *c)
{
    set_kernel(c, 0, 0, 0);
    set_kernel(c, 1, 1, 1);
    set_kernel(c, 2, 0, 1);
}

static void kernels_that_say_nothing(void **state)
{
    (void)state;
    try_twist(flatten_kernels, 12, 5);
}

/* A kernel that is constant only adds to the bias, which is free. */
static void only_constant_kernels(batch_case *c)
{
    for (size_t m = 0; m < c->count; m++)
        set_kernel(c, m, (double)m + 1, (double)m + 1);
}

static void constant_kernels_alone(void **state)
{
    (void)state;
    try_twist(only_constant_kernels, 10, 3);
    const batch_choice choice = {.rows = 9,
                                 .kernels = 2,
                                 .loss = {.kind = LOGISTIC},
                                 .penalty = &plain_penalties[0],
                                 .wide = true,
                                 .seed = 3};
    batch_case c;
    md_batch_solution s;
    draw_case(&c, &choice);
    only_constant_kernels(&c);
    open_case(&c);
    c.problem.strength = 1e-3;
    solve_and_check(&c, NULL, &s);
    assert_int_equal(s.active, 0);
    double ones = 0;
    for (size_t i = 0; i < c.n; i++)
        ones += c.y[i] > 0;
    assert_true(fabs(s.bias - log(ones / ((double)c.n - ones))) < 1e-9);
    md_batch_solution_clear(&s);
    close_case(&c);
}

/* ---- targets ---- */

static void equal_targets(batch_case *c)
{
    for (size_t i = 0; i < c->n && c->choice.loss.kind >= SQUARED; i++)
        c->y[i] = 0.1;
}

static void numbers_that_are_all_equal(void **state)
{
    (void)state;
    try_twist(equal_targets, 13, 4);
}

static void one_of_a_kind(batch_case *c)
{
    for (size_t i = 1; i < c->n && c->choice.loss.kind < SQUARED; i++)
        c->y[i] = -1;
    for (size_t i = 1; i < c->n && c->choice.loss.kind >= SQUARED; i++)
        c->y[i] = 2;
}

static void one_row_is_unlike_all_others(void **state)
{
    (void)state;
    try_twist(one_of_a_kind, 24, 5);
}

static void far_targets(batch_case *c)
{
    for (size_t i = 0; i < c->n && c->choice.loss.kind >= SQUARED; i++)
        c->y[i] += 1e4;
}

static void numbers_far_from_zero(void **state)
{
    (void)state;
    try_twist(far_targets, 15, 4);
}

/* ---- scales ---- */

static void shrink_kernels(batch_case *c)
{
    for (size_t i = 0; i < c->count * c->n * c->n; i++)
        c->K[i] *= 1e-6;
}

static void grow_kernels(batch_case *c)
{
    for (size_t i = 0; i < c->count * c->n * c->n; i++)
        c->K[i] *= 1e6;
}

static void mix_scales(batch_case *c)
{
    for (size_t m = 0; m < c->count; m++)
        for (size_t i = 0; i < c->n * c->n; i++)
            case_matrix(c, m)[i] *= pow(100, (double)m - 2);
}

static void kernels_of_any_size(void **state)
{
    (void)state;
    try_twist(shrink_kernels, 12, 4);
    try_twist(grow_kernels, 12, 4);
    try_twist(mix_scales, 12, 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hardly_any_rows_or_kernels),
        cmocka_unit_test(rows_that_are_the_same),
        cmocka_unit_test(kernels_that_are_the_same),
        cmocka_unit_test(kernels_that_say_nothing),
        cmocka_unit_test(constant_kernels_alone),
        cmocka_unit_test(numbers_that_are_all_equal),
        cmocka_unit_test(one_row_is_unlike_all_others),
        cmocka_unit_test(numbers_far_from_zero),
        cmocka_unit_test(kernels_of_any_size),
    };
    dirty_memory();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
