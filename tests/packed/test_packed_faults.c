/* SPDX-License-Identifier: BSD-3-Clause */
/* Every allocation of a packed grams's calls fails once, one after the other: each time the call
 * says so, leaves nothing behind, and succeeds when it is tried again. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "failing_allocations.h"
#include "packed_case.h"

#if CAN_FAIL

enum { ROWS = 730, KERNELS = 6 }; /* products are cut into blocks of rows */

struct subject {
    gram_case c;
    md_packed *packed;
    double x[ROWS], weight[KERNELS], norm2[KERNELS], y[KERNELS * ROWS];
    double *sum;
};

static const size_t few[] = {5, 2, 4};
static const md_chosen all = {.count = KERNELS};
static const md_packed_options options = {
    .threads = 1, .memory = 3 * (ROWS * (ROWS + 1) / 2 + 16) * sizeof(float)};

static double weigh(void *context, size_t i, double norm2)
{
    (void)context;
    return (double)(i + 1) / (1 + norm2);
}

static medley_status do_create(struct subject *s, medley_error *error)
{
    md_packed *packed = NULL;
    const medley_status status =
        md_packed_create(&packed, &s->c.bank, &s->c.prepared, &options, error);
    assert_true((status == MEDLEY_OK) == (packed != NULL));
    md_packed_free(packed);
    return status;
}

static medley_status do_hold(struct subject *s, medley_error *error)
{
    const md_chosen none = {.count = 0};
    const md_chosen chosen = {.kernels = few, .count = 3};
    const medley_status status = md_packed_hold(s->packed, chosen, error);
    countdown = 0;
    assert_int_equal(md_packed_hold(s->packed, none, NULL), MEDLEY_OK);
    return status;
}

static medley_status do_norms2(struct subject *s, medley_error *error)
{
    return md_packed_norms2(s->packed, all, s->x, s->norm2, error);
}

static medley_status do_multiply(struct subject *s, medley_error *error)
{
    return md_packed_multiply(s->packed, all, s->x, s->y, error);
}

static medley_status do_sum(struct subject *s, medley_error *error)
{
    return md_packed_sum(s->packed, all, s->weight, s->sum, error);
}

static medley_status do_both(struct subject *s, medley_error *error)
{
    return md_packed_multiply_and_sum(s->packed, all, s->x, weigh, NULL, s->y, s->norm2, s->sum,
                                      error);
}

static medley_status do_defect(struct subject *s, medley_error *error)
{
    md_packed_defect defect;
    return md_packed_find_defect(s->packed, &defect, error);
}

/* What factors there were is forgotten, and what was allocated for them with it. */
static medley_status do_factor(struct subject *s, medley_error *error)
{
    const medley_status status = md_packed_factor(s->packed, 1e-3, 10, error);
    countdown = 0;
    const medley_status bounded = md_packed_bounds2(s->packed, all, s->x, s->norm2, NULL);
    assert_int_equal(bounded, MEDLEY_OK);
    return status;
}

static medley_status do_bounds2(struct subject *s, medley_error *error)
{
    return md_packed_bounds2(s->packed, all, s->x, s->norm2, error);
}

/* Fails the first allocation, the second, ... until there is none left to fail. */
static void fail_each(struct subject *s, medley_status (*call)(struct subject *, medley_error *),
                      bool leaves_nothing)
{
    assert_int_equal(call(s, NULL), MEDLEY_OK);
    for (size_t turn = 1;; turn++) {
        medley_error error = {0};
        const long before = live;
        has_failed = false;
        countdown = turn;
        const medley_status status = call(s, &error);
        countdown = 0;
        if (leaves_nothing)
            assert_true(live == before);
        if (!has_failed)
            break;
        assert_true(status < 0 && error.message[0] != '\0');
    }
    assert_int_equal(call(s, NULL), MEDLEY_OK);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    static const char *const kernels[] = {"linear", "rbf", "bspline", NULL};
    static const char *const norms[] = {"none", "center", NULL};
    const case_choice choice = {.kind = {.rows = ROWS, .columns = 3, .spread = 1},
                                .kernels = kernels,
                                .norms = norms,
                                .seed = 1};
    static struct subject s;
    open_case(&s.c, &choice);
    assert_int_equal(s.c.bank.count, KERNELS);
    s.packed = open_store(&s.c, &options);
    assert_false(md_packed_is_resident(s.packed));
    s.sum = md_calloc((size_t)ROWS * ROWS, sizeof *s.sum);
    assert_non_null(s.sum);
    for (size_t i = 0; i < ROWS; i++)
        s.x[i] = 1 / (double)(i + 1);
    for (size_t i = 0; i < KERNELS; i++)
        s.weight[i] = (double)i;
    fail_each(&s, do_create, false); /* means are learnt into the bank */
    fail_each(&s, do_hold, true);
    fail_each(&s, do_norms2, true);
    fail_each(&s, do_multiply, true);
    fail_each(&s, do_sum, true);
    fail_each(&s, do_both, true);
    fail_each(&s, do_defect, true);
    fail_each(&s, do_factor, false);
    fail_each(&s, do_bounds2, true);
    md_packed_free(s.packed);
    free(s.sum);
    close_case(&s.c);
}

static void nothing_is_left(void **state)
{
    const long before = live;
    every_allocation_may_fail(state);
    assert_true(live == before);
}

#else

static void nothing_is_left(void **state)
{
    (void)state;
    print_message("the allocator cannot be replaced here\n");
    skip();
}

#endif

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(nothing_is_left)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
