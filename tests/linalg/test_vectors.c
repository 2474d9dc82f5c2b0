/* SPDX-License-Identifier: BSD-3-Clause */
/* Multiples of vectors in single and half precision: every number of half precision, and any length
 * and place. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/random.h"
#include "linalg/vectors.h"
#include <math.h>
#include <string.h>

enum { MOST = 70, ROUNDS = 300 };

/* By the definition of binary16. */
static double value_by_definition(uint16_t half)
{
    const int exponent = half >> 10 & 31;
    const double digits = half & 1023;
    const double size = exponent > 0 ? ldexp(1024 + digits, exponent - 25) : ldexp(digits, -24);
    return half >> 15 ? -size : size;
}

static void halves_are_what_they_are(void **state)
{
    (void)state;
    for (uint32_t half = 0; half <= UINT16_MAX; half++) {
        const float value = md_half_value((uint16_t)half);
        if ((half & 0x7c00) == 0x7c00) { /* no number, or infinite */
            assert_true((half & 0x3ff) != 0 ? isnan(value) : isinf(value));
            continue;
        }
        assert_true((double)value == value_by_definition((uint16_t)half));
        assert_int_equal(signbit(value) != 0, half >> 15);
    }
}

struct vectors {
    float y[MOST], z[MOST], x[MOST];
    uint16_t halves[MOST];
    size_t first, count;
    float alpha, beta;
};

static void draw(struct vectors *v, md_random *random)
{
    *v = (struct vectors){.first = md_random_below(random, MOST)};
    v->count = md_random_below(random, MOST - v->first + 1);
    v->alpha = (float)md_random_normal(random);
    v->beta = (float)md_random_normal(random);
    for (size_t i = 0; i < MOST; i++) {
        v->halves[i] = (uint16_t)(md_random_below(random, 0x4000) | (i % 2) << 15);
        v->x[i] = md_half_value(v->halves[i]);
        v->y[i] = (float)md_random_normal(random);
        v->z[i] = (float)md_random_normal(random);
    }
}

static void check(const float *is, const float *was, const struct vectors *v, float factor)
{
    for (size_t i = 0; i < MOST; i++) {
        const bool inside = i >= v->first && i < v->first + v->count;
        const double wanted = (double)was[i] + (inside ? (double)factor * (double)v->x[i] : 0);
        assert_true(fabs((double)is[i] - wanted) <= (inside ? 1e-6 : 0));
    }
}

static void multiples_are_added(void **state)
{
    (void)state;
    md_random random;
    md_random_seed(&random, 3);
    for (size_t round = 0; round < ROUNDS; round++) {
        struct vectors before;
        draw(&before, &random);
        const size_t first = before.first;
        struct vectors v = before;
        md_add_multiple(v.y + first, v.alpha, v.x + first, v.count);
        check(v.y, before.y, &before, before.alpha);
        v = before;
        md_add_two_multiples(v.y + first, v.alpha, v.z + first, v.beta, v.x + first, v.count);
        check(v.y, before.y, &before, before.alpha);
        check(v.z, before.z, &before, before.beta);
        v = before;
        md_add_half_multiple(v.y + first, v.alpha, v.halves + first, v.count);
        check(v.y, before.y, &before, before.alpha);
        v = before;
        md_add_two_half_multiples(v.y + first, v.alpha, v.z + first, v.beta, v.halves + first,
                                  v.count);
        check(v.y, before.y, &before, before.alpha);
        check(v.z, before.z, &before, before.beta);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(halves_are_what_they_are),
        cmocka_unit_test(multiples_are_added),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
