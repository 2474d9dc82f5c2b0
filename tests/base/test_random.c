/* SPDX-License-Identifier: BSD-3-Clause */
/* Moments of the random numbers, evenness of bounded ones, shuffles, and seeds. Bounds are five
 * standard errors; the seeds are fixed, so a failure is a change of the generator. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/random.h"
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

enum { DRAWS = 200000 };

static void bits_follow_the_reference_generator(void **state)
{
    (void)state;
    /* xoshiro256++ from the state 1, 2, 3, 4: first outputs of the authors' program */
    md_random random = {{1, 2, 3, 4}};
    static const uint64_t expected[] = {41943041u, 58720359u, 3588806011781223u, 3591011842654386u};
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)
        assert_true(md_random_bits(&random) == expected[i]);
}

static void uniform_numbers_have_the_right_moments(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 3; seed++) {
        md_random random;
        md_random_seed(&random, seed);
        double sum = 0;
        double squares = 0;
        for (int i = 0; i < DRAWS; i++) {
            const double x = md_random_uniform(&random);
            assert_true(x >= 0 && x < 1);
            sum += x;
            squares += x * x;
        }
        assert_true(fabs(sum / DRAWS - 0.5) < 5 * sqrt(1.0 / 12 / DRAWS));
        assert_true(fabs(squares / DRAWS - 1.0 / 3) < 5 * sqrt(4.0 / 45 / DRAWS));
    }
}

static void normal_numbers_have_the_right_moments(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 3; seed++) {
        md_random random;
        md_random_seed(&random, seed);
        double power[5] = {0};
        int beyond_two = 0;
        for (int i = 0; i < DRAWS; i++) {
            const double x = md_random_normal(&random);
            for (int k = 1; k <= 4; k++)
                power[k] += pow(x, k) / DRAWS;
            beyond_two += fabs(x) > 2;
        }
        /* variances of x, x^2, x^3, x^4 are 1, 2, 15, 96 */
        assert_true(fabs(power[1]) < 5 * sqrt(1.0 / DRAWS));
        assert_true(fabs(power[2] - 1) < 5 * sqrt(2.0 / DRAWS));
        assert_true(fabs(power[3]) < 5 * sqrt(15.0 / DRAWS));
        assert_true(fabs(power[4] - 3) < 5 * sqrt(96.0 / DRAWS));
        assert_true(fabs(beyond_two / (double)DRAWS - erfc(sqrt(2))) < 5 * sqrt(0.045 / DRAWS));
    }
}

static void bounded_numbers_are_even(void **state)
{
    (void)state;
    static const size_t bounds[] = {1, 2, 3, 7, 10};
    md_random random;
    md_random_seed(&random, 7);
    for (size_t b = 0; b < sizeof bounds / sizeof *bounds; b++) {
        size_t count[10] = {0};
        const double share = 1 / (double)bounds[b];
        for (int i = 0; i < DRAWS; i++) {
            const size_t x = md_random_below(&random, bounds[b]);
            assert_true(x < bounds[b]);
            count[x]++;
        }
        for (size_t x = 0; x < bounds[b]; x++)
            assert_true(fabs((double)count[x] / DRAWS - share) <= 5 * sqrt(share / DRAWS));
    }
}

/* With a bound of 3/4 of 2^64, taking remainders alone would give low numbers twice as often. */
static void huge_bounds_are_even_too(void **state)
{
    (void)state;
    md_random random;
    md_random_seed(&random, 8);
    const size_t bound = SIZE_MAX / 4 * 3;
    int low = 0;
    for (int i = 0; i < DRAWS; i++)
        low += md_random_below(&random, bound) < bound / 3;
    assert_true(fabs(low / (double)DRAWS - 1.0 / 3) < 5 * sqrt(2.0 / 9 / DRAWS));
}

static void a_shuffle_is_a_permutation(void **state)
{
    (void)state;
    enum { MOST = 200 };
    md_random random;
    md_random_seed(&random, 9);
    for (size_t count = 0; count <= MOST; count++) {
        size_t items[MOST + 1];
        bool seen[MOST + 1] = {false};
        for (size_t i = 0; i <= MOST; i++)
            items[i] = i;
        md_random_shuffle(&random, items, count);
        for (size_t i = 0; i < count; i++) {
            assert_true(items[i] < count && !seen[items[i]]);
            seen[items[i]] = true;
        }
        for (size_t i = count; i <= MOST; i++)
            assert_int_equal(items[i], i);
    }
}

static void every_order_of_a_shuffle_is_as_likely(void **state)
{
    (void)state;
    md_random random;
    md_random_seed(&random, 10);
    size_t count[27] = {0};
    enum { ROUNDS = 60000 };
    for (int i = 0; i < ROUNDS; i++) {
        size_t items[] = {0, 1, 2};
        md_random_shuffle(&random, items, 3);
        count[9 * items[0] + 3 * items[1] + items[2]]++;
    }
    static const size_t orders[] = {5, 7, 11, 15, 19, 21};
    for (size_t k = 0; k < 6; k++)
        assert_true(fabs((double)count[orders[k]] / ROUNDS - 1.0 / 6) <
                    5 * sqrt(5.0 / 36 / ROUNDS));
}

static void one_seed_gives_one_sequence_and_neighbours_differ(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 100; seed++) {
        md_random one;
        md_random same;
        md_random next;
        md_random_seed(&one, seed);
        md_random_seed(&same, seed);
        md_random_seed(&next, seed + 1);
        int equal_bits = 0;
        for (int i = 0; i < 32; i++) {
            const uint64_t bits = md_random_bits(&one);
            assert_true(bits == md_random_bits(&same));
            equal_bits += __builtin_popcountll(~(bits ^ md_random_bits(&next)));
        }
        assert_true(abs(equal_bits - 1024) < 5 * 23); /* 2048 fair coins: deviation 22.6 */
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bits_follow_the_reference_generator),
        cmocka_unit_test(uniform_numbers_have_the_right_moments),
        cmocka_unit_test(normal_numbers_have_the_right_moments),
        cmocka_unit_test(bounded_numbers_are_even),
        cmocka_unit_test(huge_bounds_are_even_too),
        cmocka_unit_test(a_shuffle_is_a_permutation),
        cmocka_unit_test(every_order_of_a_shuffle_is_as_likely),
        cmocka_unit_test(one_seed_gives_one_sequence_and_neighbours_differ),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
