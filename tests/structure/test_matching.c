/* SPDX-License-Identifier: BSD-3-Clause */
/* The assignments of examples/matching.c against all permutations. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

int example_main(void);
#define main example_main
#include "../../examples/matching.c"
#undef main

/* The least cost of giving rows i .. n-1 the columns that are left. */
static double least_cost(const float *score, size_t n, size_t i, unsigned taken)
{
    double best = i == n ? 0 : INFINITY;
    for (size_t j = 0; j < n && i < n; j++)
        if ((taken >> j & 1) == 0)
            best = fmin(best, cost(score, n, i, j) + least_cost(score, n, i + 1, taken | 1u << j));
    return best;
}

static void decoding_finds_the_best_assignment(void **state)
{
    (void)state;
    unsigned seed = 5;
    for (size_t n = 1; n <= OBJECTS; n++)
        for (int trial = 0; trial < 30; trial++) {
            float score[2 * PAIRS];
            int32_t found[PAIRS];
            const medley_example example = {.length = n * n, .labels = 2};
            for (size_t i = 0; i < 2 * n * n; i++)
                score[i] = (float)(trial % 3 == 0 ? floor(4 * uniform(&seed)) : uniform(&seed));
            assert_int_equal(decode(NULL, &example, score, found, NULL), 0);
            double sum = 0;
            for (size_t i = 0; i < n; i++) {
                int row = 0;
                int column = 0;
                for (size_t j = 0; j < n; j++) {
                    row += found[i * n + j];
                    column += found[j * n + i];
                    sum += found[i * n + j] ? cost(score, n, i, j) : 0;
                }
                assert_true(row == 1 && column == 1);
            }
            assert_true(fabs(sum - least_cost(score, n, 0, 0)) < 1e-9);
        }
    const medley_example wrong = {.length = 5, .labels = 2};
    int32_t output[5];
    float score[10] = {0};
    assert_int_equal(decode(NULL, &wrong, score, output, NULL), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(decoding_finds_the_best_assignment)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
