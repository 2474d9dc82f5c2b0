/* SPDX-License-Identifier: BSD-3-Clause */
/* Quadratic programs on the simplex against all sets of variables and planes that may matter: of
 * the points at which a set is level the best one that is allowed is the optimum. Larger ones by
 * their optimality conditions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/random.h"
#include "optim/simplex.h"

enum { MOST = 5, MOST_PLANES = 3, SIZE = MOST + MOST_PLANES + 1, MANY = 400, RANK = 30 };

/* ---- by all sets ---- */

/* a[n][n + 1] holds a system and becomes its solution, in the last column. */
static bool eliminate(double a[SIZE][SIZE + 1], size_t n)
{
    for (size_t k = 0; k < n; k++) {
        size_t pivot = k;
        for (size_t i = k; i < n; i++)
            pivot = fabs(a[i][k]) > fabs(a[pivot][k]) ? i : pivot;
        if (fabs(a[pivot][k]) < 1e-10)
            return false;
        for (size_t j = 0; j <= n; j++)
            md_swap(&a[k][j], &a[pivot][j]);
        for (size_t i = 0; i < n; i++) {
            const double factor = i == k ? 0 : a[i][k] / a[k][k];
            for (size_t j = 0; j <= n; j++)
                a[i][j] -= factor * a[k][j];
        }
    }
    for (size_t k = 0; k < n; k++)
        a[k][n] /= a[k][k];
    return true;
}

/* minimise slope'x + 1/2 x'Hx on the simplex, slope_k'x <= limit_k */
struct program {
    size_t count, planes;
    double slope[MOST], H[MOST][MOST];
    double plane[MOST_PLANES][MOST], limit[MOST_PLANES];
};

static double value_of(const struct program *p, const double *x)
{
    double value = 0;
    for (size_t i = 0; i < p->count; i++) {
        value += p->slope[i] * x[i];
        for (size_t j = 0; j < p->count; j++)
            value += x[i] * p->H[i][j] * x[j] / 2;
    }
    return value;
}

static double excess_of(const struct program *p, const double *x)
{
    double excess = 0;
    double sum = 0;
    for (size_t i = 0; i < p->count; i++) {
        excess = fmax(excess, -x[i]);
        sum += x[i];
    }
    for (size_t k = 0; k < p->planes; k++) {
        double height = -p->limit[k];
        for (size_t i = 0; i < p->count; i++)
            height += p->plane[k][i] * x[i];
        excess = fmax(excess, height);
    }
    return fmax(excess, fabs(sum - 1));
}

/* The level point of the variables and planes of two sets; false: there is none. */
static bool level_point(const struct program *p, unsigned variables, unsigned planes, double *x)
{
    size_t chosen[MOST] = {0};
    size_t tight[MOST_PLANES] = {0};
    size_t n = 0;
    size_t t = 0;
    double a[SIZE][SIZE + 1] = {{0}};
    for (size_t i = 0; i < p->count; i++)
        if (variables >> i & 1)
            chosen[n++] = i;
    for (size_t k = 0; k < p->planes; k++)
        if (planes >> k & 1)
            tight[t++] = k;
    const size_t size = n + t + 1;
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < n; j++)
            a[i][j] = p->H[chosen[i]][chosen[j]];
        for (size_t k = 0; k < t; k++)
            a[i][n + k] = a[n + k][i] = p->plane[tight[k]][chosen[i]];
        a[i][n + t] = a[n + t][i] = 1;
        a[i][size] = -p->slope[chosen[i]];
    }
    for (size_t k = 0; k < t; k++)
        a[n + k][size] = p->limit[tight[k]];
    a[n + t][size] = 1;
    if (!eliminate(a, size))
        return false;
    for (size_t i = 0; i < p->count; i++)
        x[i] = 0;
    for (size_t i = 0; i < n; i++)
        x[chosen[i]] = a[i][size];
    return true;
}

static double least_value(const struct program *p)
{
    double least = INFINITY;
    for (unsigned variables = 1; variables < 1U << p->count; variables++)
        for (unsigned planes = 0; planes < 1U << p->planes; planes++) {
            double x[MOST];
            if (level_point(p, variables, planes, x) && excess_of(p, x) < 1e-9)
                least = fmin(least, value_of(p, x));
        }
    return least;
}

/* ---- quadratics ---- */

static void quadratics_are_least_among_all_sets(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 500; seed++) {
        md_random random;
        md_random_seed(&random, seed);
        struct program p = {.count = 1 + seed % MOST};
        const size_t rank = seed % 4;
        double factor[MOST][4] = {{0}};
        double x[MOST];
        for (size_t i = 0; i < p.count; i++) {
            p.slope[i] = md_random_normal(&random);
            for (size_t r = 0; r < rank; r++)
                factor[i][r] = 2 * md_random_normal(&random);
        }
        double rows[MOST * 4] = {0};
        for (size_t i = 0; i < p.count; i++)
            for (size_t j = 0; j < p.count; j++) {
                p.H[i][j] = i == j ? 1e-3 : 0;
                for (size_t r = 0; r < rank; r++) {
                    p.H[i][j] += factor[i][r] * factor[j][r];
                    rows[i * rank + r] = factor[i][r];
                }
            }
        const md_simplex_quadratic q = {p.count, rank, p.slope, rows, 1e-3};
        assert_int_equal(md_simplex_minimise(&q, x, NULL), MEDLEY_OK);
        assert_true(excess_of(&p, x) <= 1e-12);
        const double least = least_value(&p);
        if (!(fabs(value_of(&p, x) - least) <= 1e-9 * (1 + fabs(least))))
            fail_msg("seed %d: %.12g, expected %.12g", (int)seed, value_of(&p, x), least);
    }
}

/* No variable outside falls faster than those inside, and these are level. */
static void large_quadratics_are_level(void **state)
{
    (void)state;
    static double factor[MANY][RANK];
    static double slope[MANY];
    static double x[MANY];
    for (uint64_t seed = 0; seed < 5; seed++) {
        md_random random;
        md_random_seed(&random, seed);
        double image[RANK] = {0};
        double level = 0;
        double sum = 0;
        for (size_t m = 0; m < MANY; m++) {
            slope[m] = md_random_normal(&random);
            for (size_t r = 0; r < RANK; r++) /* many rows are nearly the same */
                factor[m][r] = m % 3 == 0 || m == 1 ? md_random_normal(&random) + 3
                                                    : factor[m - 1][r] + 1e-7 * slope[m];
        }
        const md_simplex_quadratic q = {MANY, RANK, slope, factor[0], 1e-9};
        assert_int_equal(md_simplex_minimise(&q, x, NULL), MEDLEY_OK);
        for (size_t m = 0; m < MANY; m++) {
            assert_true(x[m] >= 0);
            sum += x[m];
            for (size_t r = 0; r < RANK; r++)
                image[r] += x[m] * factor[m][r];
        }
        assert_true(fabs(sum - 1) <= 1e-9);
        for (int round = 0; round < 2; round++)
            for (size_t m = 0; m < MANY; m++) {
                double here = slope[m] + 1e-9 * x[m];
                for (size_t r = 0; r < RANK; r++)
                    here += factor[m][r] * image[r];
                if (round == 0)
                    level += x[m] * here;
                else
                    assert_true(here >= level - 1e-6 && (x[m] < 1e-6 || here <= level + 1e-5));
            }
    }
}

/* ---- projections ---- */

static void projections_are_nearest_among_all_sets(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 1000; seed++) {
        md_random random;
        md_random_seed(&random, seed);
        struct program p = {.count = 2 + seed % (MOST - 1), .planes = seed % (MOST_PLANES + 1)};
        double inside[MOST];
        double x[MOST];
        double scratch[MOST];
        double slope[MOST_PLANES * MOST] = {0};
        double half = 0; /* of ||x0||^2: what value_of leaves out */
        for (size_t i = 0; i < p.count; i++) {
            inside[i] = md_random_normal(&random);
            x[i] = 2 * md_random_normal(&random);
            p.slope[i] = -x[i];
            p.H[i][i] = 1;
            half += x[i] * x[i] / 2;
        }
        md_simplex_project(inside, p.count, scratch);
        for (size_t k = 0; k < p.planes; k++) {
            p.limit[k] = seed % 5 == 0 ? 0 : 0.3 * md_random_uniform(&random);
            for (size_t i = 0; i < p.count; i++) {
                p.plane[k][i] = slope[k * p.count + i] = md_random_normal(&random);
                p.limit[k] += p.plane[k][i] * inside[i];
            }
        }
        const md_half_spaces spaces = {p.count, p.planes, slope, p.limit};
        assert_int_equal(md_simplex_project_into(&spaces, x, NULL), MEDLEY_OK);
        const double least = least_value(&p);
        if (!(excess_of(&p, x) <= 1e-7 && fabs(value_of(&p, x) - least) <= 1e-7 * (1 + half)))
            fail_msg("seed %d: %.12g, expected %.12g; outside by %g", (int)seed, value_of(&p, x),
                     least, excess_of(&p, x));
    }
}

static void points_of_the_simplex_stay(void **state)
{
    (void)state;
    double x[] = {0.25, 0, 0.75};
    double scratch[3];
    md_simplex_project(x, 3, scratch);
    assert_true(fabs(x[0] - 0.25) < 1e-15 && x[1] == 0 && fabs(x[2] - 0.75) < 1e-15);
    double far[] = {1e9, 0, -1e9};
    md_simplex_project(far, 3, scratch);
    assert_true(far[0] == 1 && far[1] == 0 && far[2] == 0);
}

/* Without a point in all half-spaces it ends, on the simplex. */
static void contradictions_end_on_the_simplex(void **state)
{
    (void)state;
    static const double slope[] = {1, 0, -1, 0};
    static const double limit[] = {0.2, -0.6};
    const md_half_spaces spaces = {2, 2, slope, limit};
    double x[] = {0.5, 0.5};
    assert_int_equal(md_simplex_project_into(&spaces, x, NULL), MEDLEY_OK);
    assert_true(x[0] >= 0 && x[1] >= 0 && fabs(x[0] + x[1] - 1) <= 1e-9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quadratics_are_least_among_all_sets),
        cmocka_unit_test(large_quadratics_are_level),
        cmocka_unit_test(projections_are_nearest_among_all_sets),
        cmocka_unit_test(points_of_the_simplex_stay),
        cmocka_unit_test(contradictions_end_on_the_simplex),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
