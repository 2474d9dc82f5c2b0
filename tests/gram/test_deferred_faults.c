/* SPDX-License-Identifier: BSD-3-Clause */
/* Every allocation of deferred scores's life fails once: each time the call says so and leaves
 * nothing, or does without, as for rows that would be kept, and is right all the same. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "failing_allocations.h"
#include "gram_case.h"

#if CAN_FAIL

enum { ROWS = 40, LABELS = 2, CHANGED = 9, KERNELS = 4, TIMES = 14 };

struct subject {
    gram_case c;
    md_gram *gram;
    float score[KERNELS][LABELS * ROWS];
    float coefficient[LABELS * ROWS];
    size_t found;
};

/* Changes by 1 at the same rows, again and again: they become worth keeping. */
static medley_status change_rows(md_deferred *deferred, medley_error *error)
{
    size_t rows[CHANGED];
    medley_status status = MEDLEY_OK;
    for (size_t i = 0; i < CHANGED; i++)
        rows[i] = 4 * i;
    for (size_t t = 0; t < TIMES && status == MEDLEY_OK; t++) {
        status = md_deferred_open(deferred, rows, CHANGED, error);
        for (size_t k = 0; status == MEDLEY_OK && k < KERNELS * CHANGED; k++)
            md_deferred_add(deferred, k / CHANGED, rows[k % CHANGED], &(md_label_change){0, 1}, 1);
        if (status == MEDLEY_OK && t % 2 == 1)
            status = md_deferred_close(deferred, error);
    }
    return status;
}

static medley_status live_once(struct subject *s, medley_error *error)
{
    MD_OWNED(md_deferred_free) md_deferred *deferred = NULL;
    const md_deferred_options deferred_options = {.labels = LABELS, .longest = CHANGED};
    memset(s->score, 0, sizeof s->score);
    MEDLEY_TRY(md_deferred_create(&deferred, s->gram, &deferred_options, error));
    for (size_t m = 0; m < KERNELS; m++)
        MEDLEY_TRY(md_deferred_attach(deferred, m, s->score[m], error));
    MEDLEY_TRY(change_rows(deferred, error));
    s->found = md_deferred_count(deferred).found;
    md_deferred_replace(deferred, 1, s->coefficient, 1);
    MEDLEY_TRY(md_deferred_close(deferred, error));
    for (size_t m = 0; m < KERNELS; m += 2)
        md_deferred_detach(deferred, m);
    return MEDLEY_OK;
}

static void check_scores(const struct subject *s)
{
    for (size_t m = 0; m < KERNELS; m++)
        for (size_t j = 0; j < ROWS; j++) {
            double sum = 0;
            double size = 0;
            for (size_t i = 0; i < ROWS; i++) {
                const double a = m == 1                          ? (double)s->coefficient[i]
                                 : i < 4 * CHANGED && i % 4 == 0 ? TIMES
                                                                 : 0;
                sum += a * s->c.expected[m][i * ROWS + j];
                size += fabs(a) * case_scale(&s->c, m);
            }
            assert_true(fabs((double)s->score[m][j] - sum) <= GRAM_TOLERANCE * size);
        }
}

/* Means of centred kernels that are not kept go to the bank, where old ones may be lost. */
static void fail_creation(struct subject *s)
{
    const md_gram_options options = {.threads = 1, .memory = 1};
    for (size_t k = 1; s->gram == NULL; k++) {
        medley_error error = {0};
        countdown = k;
        const medley_status status =
            md_gram_create(&s->gram, &s->c.bank, &s->c.prepared, &options, &error);
        countdown = 0;
        assert_int_equal(status, s->gram != NULL ? MEDLEY_OK : MEDLEY_FAILED);
        assert_true(s->gram != NULL || error.message[0] != '\0');
    }
}

static void fail_one_by_one(void **state)
{
    (void)state;
    static const char *const kernels[] = {"linear", "rbf", NULL};
    static const char *const norms[] = {"diag", "center", NULL};
    const case_choice choice = {
        .kind = {.rows = ROWS, .columns = 6, .spread = 1, .zeros = 0.4, .sparse = true},
        .kernels = kernels,
        .norms = norms,
        .seed = 2};
    static struct subject s;
    medley_error error = {0};
    size_t done_without = 0;
    open_case(&s.c, &choice);
    for (size_t i = 0; i < LABELS * ROWS; i++)
        s.coefficient[i] = (float)(i % 7) - 3;
    fail_creation(&s);
    check_ok(live_once(&s, &error), &error);
    assert_true(s.found > 0);
    for (size_t k = 1;; k++) {
        error = (medley_error){0};
        has_failed = false;
        const long before = live;
        countdown = k;
        const medley_status status = live_once(&s, &error);
        countdown = 0;
        if (live != before)
            fail_msg("allocation %zu: %ld blocks are left", k, live - before);
        if (status == MEDLEY_OK)
            check_scores(&s);
        else if (status != MEDLEY_FAILED || error.message[0] == '\0')
            fail_msg("allocation %zu: status %d, '%s'", k, (int)status, error.message);
        if (!has_failed)
            break;
        done_without += status == MEDLEY_OK;
    }
    assert_true(done_without > 0 && done_without < 10);
    md_gram_free(s.gram);
    close_case(&s.c);
}

static void every_allocation_may_fail(void **state)
{
    const long before = live;
    fail_one_by_one(state);
    assert_true(live == before);
}

#else

static void every_allocation_may_fail(void **state)
{
    (void)state;
    print_message("the allocator cannot be replaced here\n");
    skip();
}

#endif

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_allocation_may_fail)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
