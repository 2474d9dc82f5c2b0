/* SPDX-License-Identifier: BSD-3-Clause */
/* The dual value of a point r inside the loss's domain with sum 0, scaled as well as can be:
 *
 *     max_s  -sum_i l*(-s r_i) - sum_m (strength g)*(s ||r||_{K_m})
 *
 * For the block 1-norm the second sum is 0 as long as no norm is above the strength and infinite
 * beyond: the scaling that makes the point feasible (SpicyMKL section 6.1) is the end of the
 * interval. */
#include "batch/certificate.h"
#include "batch/spicy.h"

#include <math.h>

struct ray {
    const md_batch_problem *problem;
    const double *r, *h;
    size_t n, count;
    bool finite; /* the conjugate of the penalty */
};

static double value_at(const struct ray *ray, double s)
{
    const md_batch_problem *p = ray->problem;
    double value = 0;
    for (size_t i = 0; i < ray->n; i++)
        value -= p->loss->conjugate(p->loss_state, p->y[i], s * ray->r[i]);
    for (size_t m = 0; ray->finite && m < ray->count; m++)
        value -= p->penalty->conjugate(p->penalty_state, p->strength, s * ray->h[m], NULL, NULL);
    return value;
}

/* Largest s for which everything is finite. */
static double longest(const struct ray *ray)
{
    const md_batch_problem *p = ray->problem;
    double most = 2; /* r is near the optimum: there is no need to look further */
    for (size_t i = 0; i < ray->n; i++) {
        double low;
        double high;
        p->loss->domain(p->loss_state, p->y[i], &low, &high);
        if (ray->r[i] > 0 && high / ray->r[i] < most)
            most = high / ray->r[i];
        if (ray->r[i] < 0 && low / ray->r[i] < most)
            most = low / ray->r[i];
    }
    if (ray->finite)
        return most;
    double largest = 0;
    for (size_t m = 0; m < ray->count; m++)
        largest = ray->h[m] > largest ? ray->h[m] : largest;
    const double limit = p->strength * p->penalty->slope_at_zero(p->penalty_state);
    return largest * most > limit ? limit / largest : most;
}

bool md_penalty_conjugate_is_finite(const md_batch_problem *problem)
{
    const double slope = problem->penalty->slope_at_zero(problem->penalty_state);
    return isfinite(problem->penalty->conjugate(problem->penalty_state, problem->strength,
                                                problem->strength * (2 * slope + 1e-6), NULL,
                                                NULL));
}

double md_dual_value(const md_batch_problem *problem, const double *r, const double *h,
                     size_t count, double *scale)
{
    static const double golden = 0.618033988749895;
    const struct ray ray = {.problem = problem,
                            .r = r,
                            .h = h,
                            .n = md_store_rows(problem->store),
                            .count = count,
                            .finite = md_penalty_conjugate_is_finite(problem)};
    const double end = longest(&ray) * (1 - 1e-15); /* rounding must not lead outside */
    double low = 0;
    double high = end;
    double left = high - golden * (high - low);
    double right = low + golden * (high - low);
    double left_value = value_at(&ray, left);
    double right_value = value_at(&ray, right);
    for (int i = 0; i < 40; i++) {
        if (left_value < right_value) {
            low = left;
            left = right;
            left_value = right_value;
            right = low + golden * (high - low);
            right_value = value_at(&ray, right);
        } else {
            high = right;
            right = left;
            right_value = left_value;
            left = high - golden * (high - low);
            left_value = value_at(&ray, left);
        }
    }
    const double places[] = {end < 1 ? end : 1, left, right, end};
    double best = -INFINITY;
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        const double value = value_at(&ray, places[i]);
        if (!(value <= best)) {
            best = value;
            *scale = places[i];
        }
    }
    return best;
}

double md_spicy_dual(const md_spicy *s, const double *r, const double *h, size_t count,
                     double *scale)
{
    return md_dual_value(s->problem, r, h, count, scale);
}
