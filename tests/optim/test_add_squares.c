/* SPDX-License-Identifier: BSD-3-Clause */
/* Sums of squares of rows by tiles: against plain loops, and the same bits for any threads. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/random.h"
#include "optim/optim.h"

enum { MOST = 300, DEPTH = 40, WIDER = 7 };

static void squares_equal_plain_loops(void **state)
{
    (void)state;
    static double a[DEPTH * (MOST + WIDER)], c[MOST * (MOST + WIDER)], first[MOST * (MOST + WIDER)];
    static const size_t sizes[] = {1, 5, 127, 128, 129, MOST};
    md_random random;
    md_random_seed(&random, 1);
    for (size_t i = 0; i < sizeof a / sizeof *a; i++)
        a[i] = md_random_normal(&random);
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (size_t threads = 1; threads <= 3; threads++) {
            const size_t n = sizes[s];
            const size_t stride = n + WIDER;
            for (size_t i = 0; i < n * stride; i++)
                c[i] = (double)(i % 11);
            md_add_squares(n, DEPTH, -0.5, a, stride, c, stride, threads);
            for (size_t i = 0; i < n; i++)
                for (size_t j = i; j < n; j++) {
                    double sum = (double)((i * stride + j) % 11);
                    for (size_t k = 0; k < DEPTH; k++)
                        sum -= 0.5 * a[k * stride + i] * a[k * stride + j];
                    assert_true(fabs(c[i * stride + j] - sum) <= 1e-12 * DEPTH);
                }
            if (threads == 1)
                memcpy(first, c, sizeof c);
            assert_memory_equal(c, first, n * stride * sizeof *c);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(squares_equal_plain_loops)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
