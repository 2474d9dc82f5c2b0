/* SPDX-License-Identifier: BSD-3-Clause */
/* What holds for every penalty of the registry, whatever its formula: laws of proximity operators,
 * norms and their duals, checked on random parameters, weights and norms. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "laws/penalty_case.h"
#include "penalty/block_weight.h"
#include <string.h>

/* Rounding in sums of 40 terms of size up to 1e3 or so, relative to the size of the result. */
static const double ROUNDING = 1e-11;

/* Golden section compares values of the objective, which are good to 1e-16 relative, so it places
 * a minimum to about the square root of that. */
static const double SEARCH_TOLERANCE = 1e-6;

static double dot(const double *x, const double *y, size_t count)
{
    double sum = 0;
    for (size_t m = 0; m < count; m++)
        sum += x[m] * y[m];
    return sum;
}

static void check(bool holds, const struct penalty_case *c, const char *law, double left,
                  double right)
{
    if (!holds)
        fail_msg("%s: %s: %.17g against %.17g", c->name, law, left, right);
}

/* ---- the prox ---- */

/* The objective is 1-strongly convex, so away from its minimum p it grows at least by
 * 1/2 ||x - p||^2: stronger than being larger. */
static void beats_perturbations(struct penalty_case *c)
{
    double p[CASE_MOST_BLOCKS] = {0};
    double x[CASE_MOST_BLOCKS];
    case_prox(c, c->tau, c->b, p);
    const double least = case_objective(c, p);
    for (int trial = 0; trial < 60; trial++) {
        const double size = pow(10, -6 + 7 * md_random_uniform(&c->random));
        const bool one_only = trial % 3 == 0;
        const size_t only = md_random_below(&c->random, c->count);
        double distance = 0;
        for (size_t m = 0; m < c->count; m++) {
            const double moved = p[m] + size * md_random_normal(&c->random);
            x[m] = one_only && m != only ? p[m] : fmax(0, moved);
            distance += (x[m] - p[m]) * (x[m] - p[m]);
        }
        const double other = case_objective(c, x);
        check(other >= least + distance / 2 - ROUNDING * (1 + other), c, "prox is the minimum",
              other, least + distance / 2);
    }
}

static void prox_beats_random_perturbations(void **state)
{
    (void)state;
    for_all_cases(beats_perturbations);
}

static void is_non_expansive(struct penalty_case *c)
{
    double other[CASE_MOST_BLOCKS];
    double p[CASE_MOST_BLOCKS] = {0};
    double r[CASE_MOST_BLOCKS] = {0};
    for (int trial = 0; trial < 10; trial++) {
        draw_norms(&c->random, other, c->count);
        case_prox(c, c->tau, c->b, p);
        case_prox(c, c->tau, other, r);
        double before = 0;
        double after = 0;
        for (size_t m = 0; m < c->count; m++) {
            before += (c->b[m] - other[m]) * (c->b[m] - other[m]);
            after += (p[m] - r[m]) * (p[m] - r[m]);
        }
        check(after <= before + ROUNDING, c, "non-expansive", after, before);
    }
}

static void prox_is_non_expansive(void **state)
{
    (void)state;
    for_all_cases(is_non_expansive);
}

static void stays_between(struct penalty_case *c)
{
    double p[CASE_MOST_BLOCKS] = {0};
    double in_place[CASE_MOST_BLOCKS];
    case_prox(c, c->tau, c->b, p);
    memcpy(in_place, c->b, sizeof in_place);
    case_prox(c, c->tau, in_place, in_place);
    for (size_t m = 0; m < c->count; m++) {
        check(p[m] >= 0 && p[m] <= c->b[m], c, "0 <= b' <= b", p[m], c->b[m]);
        check(p[m] == in_place[m], c, "in place", p[m], in_place[m]);
    }
    case_prox(c, 0, c->b, p);
    for (size_t m = 0; m < c->count; m++)
        check(p[m] == c->b[m], c, "tau = 0 changes nothing", p[m], c->b[m]);
}

static void prox_stays_between_zero_and_the_norms(void **state)
{
    (void)state;
    for_all_cases(stays_between);
}

/* An independent minimiser: golden section along one coordinate after the other. It converges since
 * on x >= 0 every objective is smooth, or smooth plus a separable part. */
static double minimise_along(const struct penalty_case *c, double *x, size_t m)
{
    static const double golden = 0.6180339887498949;
    double low = 0;
    double high = c->b[m];
    const double old = x[m];
    while (high - low > 1e-9) {
        const double left = high - golden * (high - low);
        const double right = low + golden * (high - low);
        x[m] = left;
        const double at_left = case_objective(c, x);
        x[m] = right;
        if (at_left <= case_objective(c, x))
            high = right;
        else
            low = left;
    }
    x[m] = (low + high) / 2;
    return fabs(x[m] - old);
}

static void agrees_with_search(struct penalty_case *c)
{
    if (c->count > 3)
        return;
    double p[CASE_MOST_BLOCKS] = {0};
    double x[CASE_MOST_BLOCKS];
    c->tau = fmin(c->tau, 2); /* coordinate search crawls where the coupling is strong */
    case_prox(c, c->tau, c->b, p);
    memcpy(x, c->b, sizeof x);
    double moved = 1;
    for (int sweep = 0; sweep < 400 && moved > 1e-8; sweep++) {
        moved = 0;
        for (size_t m = 0; m < c->count; m++)
            moved = fmax(moved, minimise_along(c, x, m));
    }
    for (size_t m = 0; m < c->count; m++)
        check(fabs(x[m] - p[m]) <= SEARCH_TOLERANCE, c, "coordinate search", p[m], x[m]);
}

static void prox_agrees_with_coordinate_search(void **state)
{
    (void)state;
    for_all_cases(agrees_with_search);
}

static const double extreme_sizes[] = {0, 5e-324, 1e-300, 1e-150, 1e-10, 1, 1e10, 1e100, 1e150};
static const double rising_taus[] = {0, 5e-324, 1e-300, 1e-20, 1, 1e20, 1e150, 1e300};

enum {
    SIZE_COUNT = sizeof extreme_sizes / sizeof *extreme_sizes,
    TAU_COUNT = sizeof rising_taus / sizeof *rising_taus
};

/* Results stay in range, a block without weight stays as it is, and Omega(prox) falls as tau
 * rises. */
static void check_at_rising_tau(const struct penalty_case *c)
{
    double p[CASE_MOST_BLOCKS] = {0};
    double previous = INFINITY;
    const double cancelled = ROUNDING * case_value(c, c->b); /* b - t d may lose all digits */
    for (size_t t = 0; t < TAU_COUNT; t++) {
        case_prox(c, rising_taus[t], c->b, p);
        for (size_t m = 0; m < c->count; m++) {
            const bool free_block = c->weight != NULL && c->d[m] == 0;
            check(p[m] >= 0 && p[m] <= c->b[m], c, "finite at extremes", p[m], c->b[m]);
            if (free_block && strcmp(c->class->name, "elastic-mkl") != 0)
                check(p[m] == c->b[m], c, "no weight, no shrinking", p[m], c->b[m]);
        }
        const double value = case_value(c, p);
        check(value <= previous * (1 + ROUNDING) + cancelled, c, "larger tau, smaller Omega", value,
              previous);
        previous = value;
    }
}

/* Tiny, huge, tied and zero norms, alone and mixed, with plain and with tiny and huge weights. */
static void survives_extremes(struct penalty_case *c)
{
    for (size_t trial = 0; trial < 2 * SIZE_COUNT; trial++) {
        for (size_t m = 0; m < c->count; m++) {
            c->b[m] =
                extreme_sizes[trial % 2 ? md_random_below(&c->random, SIZE_COUNT) : trial / 2];
            if (trial > SIZE_COUNT)
                c->d[m] = extreme_sizes[md_random_below(&c->random, SIZE_COUNT - 1)];
        }
        check_at_rising_tau(c);
    }
}

static void prox_survives_extreme_inputs(void **state)
{
    (void)state;
    for_all_cases(survives_extremes);
}

/* ---- norms, and their duals sup { <z, b> : norm(b) <= 1 } for z >= 0, which are infinite where a
 * block without weight has z > 0 ---- */

/* max z/d with 0/0 = 0: the dual norm of sum d b. */
static double largest_ratio(const void *state, const double *z, const double *weight, size_t count)
{
    (void)state;
    double largest = 0;
    for (size_t m = 0; m < count; m++) {
        const double d = md_block_weight(weight, m);
        const double ratio = z[m] > 0 ? z[m] / d : 0;
        largest = ratio > largest ? ratio : largest;
    }
    return largest;
}

/* The norm is sqrt(sum (d b)^2). */
static double l2_dual_norm(const void *state, const double *z, const double *weight, size_t count)
{
    (void)state;
    double sum = 0;
    for (size_t m = 0; m < count; m++)
        if (z[m] > 0)
            sum += pow(z[m] / md_block_weight(weight, m), 2);
    return sqrt(sum);
}

/* With b~ = d b the norm is the plain q-norm, whose dual is the q'-norm, 1/q + 1/q' = 1. */
static double squared_block_dual_norm(const void *state, const double *z, const double *weight,
                                      size_t count)
{
    const double q = md_number(state);
    if (q == 1)
        return largest_ratio(state, z, weight, count);
    const double dual = q / (q - 1);
    double largest = 0;
    for (size_t m = 0; m < count; m++)
        if (z[m] > 0)
            largest = fmax(largest, z[m] / md_block_weight(weight, m));
    if (largest == 0 || isinf(largest))
        return largest;
    double sum = 0;
    for (size_t m = 0; m < count; m++)
        if (z[m] > 0)
            sum += pow(z[m] / md_block_weight(weight, m) / largest, dual);
    return largest * pow(sum, 1 / dual);
}

struct norm {
    const char *name; /* of the penalty that it is, or half the square of */
    bool is_half_square;
    double (*dual)(const void *state, const double *z, const double *weight, size_t count);
};

static const struct norm *norm_of(const struct penalty_case *c)
{
    static const struct norm norms[] = {{"group-lasso", false, largest_ratio},
                                        {"mkl", true, largest_ratio},
                                        {"l2", true, l2_dual_norm},
                                        {"squared-block", true, squared_block_dual_norm}};
    for (size_t i = 0; i < sizeof norms / sizeof *norms; i++)
        if (strcmp(norms[i].name, c->class->name) == 0)
            return &norms[i];
    return NULL;
}

static double norm_value(const struct penalty_case *c, const double *x)
{
    const double value = case_value(c, x);
    return norm_of(c)->is_half_square ? sqrt(2 * value) : value;
}

/* With r = b - prox(b): for a norm, r/tau lies in the dual ball and supports the norm at prox(b);
 * for half its square, r/tau is as large in the dual norm as prox(b) in the norm. */
static void obeys_moreau(struct penalty_case *c)
{
    if (norm_of(c) == NULL)
        return;
    double p[CASE_MOST_BLOCKS] = {0};
    double r[CASE_MOST_BLOCKS] = {0};
    case_prox(c, c->tau, c->b, p);
    double largest = 0;
    for (size_t m = 0; m < c->count; m++) {
        r[m] = c->b[m] - p[m];
        largest = fmax(largest, c->b[m]);
    }
    const double norm = norm_value(c, p);
    const double dual = norm_of(c)->dual(&c->state, r, c->weight, c->count);
    const double inner = dot(p, r, c->count);
    const double scale = ROUNDING * (1 + c->tau) * (1 + largest) * (1 + largest) * (double)c->count;
    if (norm_of(c)->is_half_square) {
        check(fabs(dual - c->tau * norm) <= scale, c, "dual norm of the rest", dual, c->tau * norm);
        check(fabs(inner - c->tau * norm * norm) <= scale, c, "inner product with the rest", inner,
              c->tau * norm * norm);
    } else {
        check(dual <= c->tau * (1 + ROUNDING), c, "rest in the dual ball", dual, c->tau);
        check(fabs(inner - c->tau * norm) <= scale, c, "inner product with the rest", inner,
              c->tau * norm);
    }
}

static void moreau_identity_holds_for_norms(void **state)
{
    (void)state;
    for_all_cases(obeys_moreau);
}

/* <z, v> <= dual(z) norm(v) for all v, and a climb from the best axis nearly reaches it. */
static void dual_is_the_maximum(struct penalty_case *c)
{
    if (norm_of(c) == NULL || c->count > 3)
        return;
    double z[CASE_MOST_BLOCKS] = {0};
    double v[CASE_MOST_BLOCKS] = {0};
    double best_v[CASE_MOST_BLOCKS] = {0};
    bool weightless = false;
    for (size_t m = 0; m < c->count; m++) {
        z[m] = md_random_uniform(&c->random);
        weightless = weightless || (c->weight != NULL && c->weight[m] == 0 && z[m] > 0);
    }
    const double dual = norm_of(c)->dual(&c->state, z, c->weight, c->count);
    if (weightless) {
        check(isinf(dual), c, "a block without weight makes the dual norm infinite", dual,
              INFINITY);
        return;
    }
    double best = 0;
    for (int trial = 0; trial < 4000; trial++) {
        const double step = pow(10, -4 * md_random_uniform(&c->random));
        for (size_t m = 0; m < c->count; m++)
            v[m] = (size_t)trial < c->count
                       ? (double)((size_t)trial == m)
                       : fmax(0, best_v[m] + step * md_random_normal(&c->random));
        const double norm = norm_value(c, v);
        const double ratio = norm > 0 ? dot(z, v, c->count) / norm : 0;
        check(ratio <= dual * (1 + ROUNDING), c, "dual norm is a bound", ratio, dual);
        if (ratio > best) {
            best = ratio;
            for (size_t m = 0; m < c->count; m++)
                best_v[m] = v[m] / norm;
        }
    }
    check(best >= dual * (1 - 1e-3), c, "dual norm is reached", best, dual);
}

static void dual_norm_is_the_largest_inner_product(void **state)
{
    (void)state;
    for_all_cases(dual_is_the_maximum);
}

static void registry_rows_are_complete(void **state)
{
    (void)state;
    for (size_t i = 0; md_penalties[i] != NULL; i++) {
        const md_penalty_class *class = md_penalties[i];
        assert_non_null(class->summary);
        assert_non_null(class->formula);
        assert_ptr_equal(md_penalty_find(class->name), class);
    }
    assert_null(md_penalty_find("nothing"));
}

/* All penalties but those of sums of norms treat each block as if it were alone. */
static void separates(struct penalty_case *c)
{
    const char *const joint[] = {"mkl", "squared-block", "elastic-mkl", NULL};
    if (md_text_index(c->class->name, joint) >= 0)
        return;
    double p[CASE_MOST_BLOCKS] = {0};
    double scratch[3];
    case_prox(c, c->tau, c->b, p);
    for (size_t m = 0; m < c->count; m++) {
        double alone;
        c->class->prox(&c->state, c->tau, &c->b[m], c->weight ? &c->weight[m] : NULL, 1, &alone,
                       scratch);
        check(alone == p[m], c, "separable", alone, p[m]);
    }
}

static void separable_penalties_separate(void **state)
{
    (void)state;
    for_all_cases(separates);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(registry_rows_are_complete),
        cmocka_unit_test(prox_beats_random_perturbations),
        cmocka_unit_test(prox_is_non_expansive),
        cmocka_unit_test(prox_stays_between_zero_and_the_norms),
        cmocka_unit_test(prox_agrees_with_coordinate_search),
        cmocka_unit_test(prox_survives_extreme_inputs),
        cmocka_unit_test(separable_penalties_separate),
        cmocka_unit_test(moreau_identity_holds_for_norms),
        cmocka_unit_test(dual_norm_is_the_largest_inner_product),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
