/* SPDX-License-Identifier: BSD-3-Clause */
/* The prox of nested and of overlapping groups, and what SPOM's Lemma 2 asks of sums of terms. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "laws/penalty_case.h"
#include "penalty/groups.h"

enum { BLOCKS = 6, MOST_GROUPS = 5, TRIALS = 300 };

struct groups_case {
    md_block_groups *groups;
    double tau, b[BLOCKS], x[BLOCKS];
    double scratch[MOST_GROUPS * BLOCKS];
};

static const bool TREE[][BLOCKS] = {{1, 1, 1, 1, 1, 1}, {1, 1, 1}, {0, 1, 1}, {0, 0, 0, 1, 1}};
static const bool OVERLAP[][BLOCKS] = {
    {1, 1, 1}, {0, 0, 1, 1, 1}, {1, 0, 0, 0, 1, 1}, {0, 1, 0, 1, 0, 1}, {1, 1, 1, 1, 1, 1}};

static double value(const struct groups_case *c, const double *x)
{
    return md_penalty_groups.value(c->groups, x, NULL, BLOCKS);
}

static double objective(const struct groups_case *c, const double *x)
{
    double squares = 0;
    for (size_t m = 0; m < BLOCKS; m++)
        squares += (x[m] - c->b[m]) * (x[m] - c->b[m]);
    return squares / 2 + c->tau * value(c, x);
}

static void make(struct groups_case *c, const bool (*member)[BLOCKS], size_t count, uint64_t seed)
{
    md_group list[MOST_GROUPS];
    md_random random;
    md_random_seed(&random, seed);
    for (size_t g = 0; g < count; g++)
        list[g] = (md_group){member[g], 0.1 + md_random_uniform(&random)};
    assert_int_equal(md_block_groups_create(&c->groups, list, count, BLOCKS, NULL), MEDLEY_OK);
    draw_norms(&random, c->b, BLOCKS);
    c->tau = exp(md_random_normal(&random) - 1);
    memcpy(c->x, c->b, sizeof c->x);
    md_block_groups_prox(c->groups, c->tau, c->x, c->scratch);
}

/* x is the prox if and only if f(y) >= f(x) + 1/2 ||y - x||^2 for every y. */
static void check_optimal(const struct groups_case *c, uint64_t seed)
{
    md_random random;
    md_random_seed(&random, seed + 1000);
    const double least = objective(c, c->x);
    for (int trial = 0; trial < TRIALS; trial++) {
        const double size = exp(-12 * md_random_uniform(&random));
        double y[BLOCKS];
        double squares = 0;
        for (size_t m = 0; m < BLOCKS; m++) {
            y[m] = fmax(0, c->x[m] + size * md_random_normal(&random));
            squares += (y[m] - c->x[m]) * (y[m] - c->x[m]);
        }
        const double there = objective(c, y);
        if (!(there >= least + squares / 2 - 1e-11 * (1 + least)))
            fail_msg("seed %u: %.17g at distance %g, %.17g at the prox", (unsigned)seed, there,
                     sqrt(squares), least);
    }
}

static void check_all(const bool (*member)[BLOCKS], size_t count, bool nested)
{
    for (uint64_t seed = 0; seed < 100; seed++) {
        struct groups_case c;
        make(&c, member, count, seed);
        assert_int_equal(c.groups->nested, nested);
        check_optimal(&c, seed);
        for (size_t m = 0; m < BLOCKS; m++)
            assert_true(c.x[m] >= 0 && c.x[m] <= c.b[m]);
        free(c.groups);
    }
}

static void nested_groups_have_their_prox_in_one_round(void **state)
{
    (void)state;
    check_all(TREE, sizeof TREE / sizeof *TREE, true);
}

static void overlapping_groups_have_their_prox(void **state)
{
    (void)state;
    check_all(OVERLAP, sizeof OVERLAP / sizeof *OVERLAP, false);
}

/* Inner groups shrink first, whatever the order of the list. */
static void small_groups_come_first(void **state)
{
    (void)state;
    struct groups_case c;
    make(&c, TREE, sizeof TREE / sizeof *TREE, 1);
    for (size_t g = 1; g < c.groups->count; g++)
        assert_true(c.groups->start[g + 1] - c.groups->start[g] >=
                    c.groups->start[g] - c.groups->start[g - 1]);
    assert_int_equal(c.groups->start[4], 13);
    free(c.groups);
}

static void groups_are_a_term_of_the_penalty(void **state)
{
    (void)state;
    static const struct {
        const char *before, *after;
    } cases[] = {{"none", "groups"}, {"l2", "l2+groups"}, {"mkl+l2", "mkl+l2+groups"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct groups_case c;
        md_penalty *penalty = NULL;
        make(&c, OVERLAP, sizeof OVERLAP / sizeof *OVERLAP, i);
        assert_int_equal(md_penalty_create(&penalty, cases[i].before, NULL), MEDLEY_OK);
        const double before = md_penalty_value(penalty, c.b, BLOCKS);
        const double own = value(&c, c.b);
        assert_int_equal(md_penalty_add_groups(penalty, c.groups, NULL), MEDLEY_OK);
        assert_string_equal(md_penalty_text(penalty), cases[i].after);
        assert_true(fabs(md_penalty_value(penalty, c.b, BLOCKS) - before - own) <= 1e-14 * own);
        assert_false(md_penalty_is_symmetric(penalty));
        assert_int_equal(md_penalty_scratch(penalty, BLOCKS), 18);
        md_penalty_free(penalty);
    }
}

/* Lemma 2 (ii): no prox of a term increases another term; (iii): nor does a projection onto a ball,
 * which multiplies all norms by a number below 1. */
static void check_lemma(struct penalty_case *c)
{
    double x[CASE_MOST_BLOCKS] = {0};
    case_prox(c, c->tau, c->b, x);
    for (size_t i = 0; md_penalties[i] != NULL; i++) {
        struct penalty_case other;
        draw_case(&other, md_penalties[i], c->count, 3);
        assert_true(case_value(&other, x) <= case_value(&other, c->b) * (1 + 1e-14));
        for (size_t m = 0; m < c->count; m++)
            x[m] *= 0.9;
        assert_true(case_value(&other, x) <= case_value(&other, c->b) * (1 + 1e-14));
    }
    if (c->count < BLOCKS)
        return;
    struct groups_case groups;
    make(&groups, OVERLAP, sizeof OVERLAP / sizeof *OVERLAP, 7);
    assert_true(value(&groups, x) <= value(&groups, c->b) * (1 + 1e-14));
    double shrunk[CASE_MOST_BLOCKS] = {0};
    memcpy(shrunk, c->b, sizeof shrunk);
    md_block_groups_prox(groups.groups, c->tau, shrunk, groups.scratch);
    assert_true(case_value(c, shrunk) <= case_value(c, c->b) * (1 + 1e-14));
    free(groups.groups);
}

static void terms_obey_lemma_2(void **state)
{
    (void)state;
    for_all_cases(check_lemma);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nested_groups_have_their_prox_in_one_round),
        cmocka_unit_test(overlapping_groups_have_their_prox),
        cmocka_unit_test(small_groups_come_first),
        cmocka_unit_test(groups_are_a_term_of_the_penalty),
        cmocka_unit_test(terms_obey_lemma_2),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
