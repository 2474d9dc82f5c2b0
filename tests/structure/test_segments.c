/* SPDX-License-Identifier: BSD-3-Clause */
/* The segments of examples/segments.c against all outputs there are. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

int example_main(void);
#define main example_main
#include "../../examples/segments.c"
#undef main

enum { CANDIDATES = 8 };

/* Do the candidates in use cover all points, each once? */
static bool covers(const int32_t (*info)[2], const int32_t *y)
{
    int covered[POINTS] = {0};
    for (size_t c = 0; c < CANDIDATES; c++)
        for (int32_t i = info[c][0]; y[c] != 0 && i < info[c][1]; i++)
            covered[i]++;
    bool all = true;
    for (size_t i = 0; i < POINTS; i++)
        all = all && covered[i] == 1;
    return all;
}

static double score_of(const float *score, const int32_t *y)
{
    double sum = 0;
    for (size_t c = 0; c < CANDIDATES; c++)
        sum += (double)score[c * KINDS + (size_t)y[c]];
    return sum;
}

static void decoding_finds_the_best_of_all_covers(void **state)
{
    (void)state;
    static const int32_t info[CANDIDATES][2] = {{0, 5},   {0, 10},  {5, 10},  {5, 15},
                                                {10, 15}, {10, 20}, {15, 20}, {0, 20}};
    unsigned seed = 3;
    for (int trial = 0; trial < 20; trial++) {
        float score[CANDIDATES * KINDS];
        int32_t found[CANDIDATES];
        const medley_example example = {
            .length = CANDIDATES, .labels = KINDS, .info = info[0], .info_width = 2};
        for (size_t i = 0; i < CANDIDATES * KINDS; i++)
            score[i] = (float)(4 * uniform(&seed) - 2);
        assert_int_equal(decode(NULL, &example, score, found, NULL), 0);
        assert_true(covers(info, found));
        double best = -INFINITY;
        for (unsigned code = 0; code < 1u << (2 * CANDIDATES); code++) {
            int32_t y[CANDIDATES];
            for (unsigned c = 0; c < CANDIDATES; c++)
                y[c] = (int32_t)(code >> (2 * c) & 3);
            if (covers(info, y))
                best = fmax(best, score_of(score, y));
        }
        assert_true(fabs(score_of(score, found) - best) < 1e-9);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(decoding_finds_the_best_of_all_covers)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
