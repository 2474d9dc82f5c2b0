/* SPDX-License-Identifier: BSD-3-Clause */
/* Both sides of the gap. The primal value comes from coefficients alone. The dual value is that of
 * a point r inside the loss's domain with sum 0, at its best scaling:
 *
 *     max_s  -sum_i l*(-s r_i) - sum_m (strength g)*(s ||r||_{K_m})
 *
 * For the block 1-norm the second sum is 0 as long as no norm is above the strength and infinite
 * beyond: the scaling that makes the point feasible (SpicyMKL section 6.1) is the end of the
 * interval. */
#include "batch/certificate.h"

#include "linalg/vectors.h"

static const double ROUNDING = 1e-9; /* of the primal value: error of sums */

double md_relative_gap(double primal, double dual)
{
    const double difference = primal - dual;
    if (difference <= 0)
        return 0;
    return primal > 0 && difference > 0 ? difference / primal : INFINITY; /* not for NaN */
}

double md_certified_gap(double primal, double dual)
{
    const double difference = primal - dual;
    return difference < -ROUNDING * fabs(primal) ? -difference / fabs(primal)
                                                 : md_relative_gap(primal, dual);
}

/* ---- the primal value ---- */

double md_batch_loss(const md_batch_problem *p, const double *f, double *bias)
{
    const size_t n = md_packed_rows(p->packed);
    double loss = 0;
    *bias = md_best_bias(p->loss, p->loss_state, p->y, f, n);
    for (size_t i = 0; i < n; i++)
        loss += p->loss->value(p->loss_state, p->y[i], f[i] + *bias);
    return loss;
}

double md_norm_of(double q, const double *x, size_t count)
{
    double largest = 0;
    double sum = 0;
    for (size_t m = 0; m < count; m++)
        largest = fmax(largest, x[m]);
    if (largest == 0 || isinf(q))
        return largest;
    for (size_t m = 0; m < count; m++)
        sum += x[m] > 0 ? pow(x[m] / largest, q) : 0;
    return largest * pow(sum, 1 / q);
}

double md_batch_rest(const md_batch_problem *p, const double *norm, size_t count)
{
    double sum = 0;
    for (size_t i = 0; p->rest != NULL && i < count; i++)
        sum += md_sum_of_scalars.value(p->rest, norm[i]);
    return sum;
}

double md_batch_penalty(const md_batch_problem *p, const double *norm, size_t count)
{
    double sum = 0;
    if (p->square > 0) {
        const double all = md_norm_of(p->square, norm, count);
        return all * all / 2 + md_batch_rest(p, norm, count);
    }
    for (size_t i = 0; i < count; i++)
        sum += p->penalty->value(p->penalty_state, norm[i]);
    return sum;
}

medley_status md_batch_value_model(md_batch_solution *solution, const md_batch_problem *p,
                                   medley_error *error)
{
    const size_t n = solution->rows;
    MD_CLEARED(md_pool_clear) md_pool pool = {0};
    double *Ka = NULL; /* [active][n] */
    double *f = NULL;
    MEDLEY_TRY(md_pool_new(&pool, &Ka, solution->active * n, sizeof *Ka, error));
    MEDLEY_TRY(md_pool_new(&pool, &f, n, sizeof *f, error));
    MEDLEY_TRY(md_packed_multiply_exactly(p->packed,
                                          (md_chosen){solution->kernel, solution->active},
                                          solution->coefficient, n, Ka, solution->norm, error));
    for (size_t i = 0; i < solution->active; i++) {
        solution->norm[i] = sqrt(solution->norm[i]);
        md_add_scaled(f, 1, Ka + i * n, n);
    }
    solution->loss = md_batch_loss(p, f, &solution->bias);
    solution->primal =
        solution->loss + p->strength * md_batch_penalty(p, solution->norm, solution->active);
    return MEDLEY_OK;
}

/* ---- the dual value ---- */

/* h becomes upper bounds of the norms ||rho||: those of kernels in single precision that may matter
 * are computed in double precision, others have what rounding may have taken away. Below the slope
 * of the penalty at zero the conjugate is 0, or near the optimum as good as that: a bound does. */
static medley_status find_norms(double *h, const md_batch_problem *p, const double *rho,
                                medley_error *error)
{
    MD_CLEARED(md_pool_clear) md_pool pool = {0};
    const size_t n = md_packed_rows(p->packed);
    const double length2 = md_dot(rho, rho, n);
    /* of a squared sum of norms the largest one counts, whatever it is; of other squared norms all
     * do */
    const bool all_matter = p->square > 0 && md_penalty_conjugate_is_finite(p);
    const double limit = p->square > 0 ? md_norm_of(INFINITY, h, md_packed_count(p->packed))
                                       : md_penalty_threshold(p);
    const size_t kernels = md_packed_count(p->packed);
    md_chosen anew = {0};
    size_t *list = NULL;
    double *norm2 = NULL;
    MEDLEY_TRY(md_pool_new(&pool, &list, kernels, sizeof *list, error));
    MEDLEY_TRY(md_pool_new(&pool, &norm2, kernels, sizeof *norm2, error));
    for (size_t m = 0; m < kernels; m++) {
        const double most = h[m] * h[m] + length2 * md_packed_uncertainty(p->packed, m);
        h[m] = sqrt(most);
        if (!md_packed_is_exact(p->packed, m) && (all_matter || most >= limit * limit))
            list[anew.count++] = m;
    }
    anew.kernels = list;
    MEDLEY_TRY(md_packed_multiply_exactly(p->packed, anew, rho, 0, NULL, norm2, error));
    for (size_t i = 0; i < anew.count; i++)
        h[list[i]] = sqrt(norm2[i]);
    return MEDLEY_OK;
}

medley_status md_batch_dual_norms(double *h, const md_batch_problem *p, const double *rho,
                                  const double *given, medley_error *error)
{
    const size_t count = md_packed_count(p->packed);
    if (given == NULL)
        MEDLEY_TRY(md_packed_norms2(p->packed, (md_chosen){.count = count}, rho, h, error));
    for (size_t m = 0; m < count; m++)
        h[m] = given != NULL ? given[m] : sqrt(h[m]);
    return find_norms(h, p, rho, error);
}

/* The dual value of solution->rho. given: norms that are known, as values are stored; NULL: none.
 */
static medley_status value_dual(md_batch_solution *solution, const md_batch_problem *p,
                                const double *given, medley_error *error)
{
    const size_t count = md_packed_count(p->packed);
    MD_OWNED(free) double *h = NULL;
    double scale;
    MEDLEY_TRY(md_new(&h, count, sizeof *h, error));
    MEDLEY_TRY(md_batch_dual_norms(h, p, solution->rho, given, error));
    solution->dual = md_dual_value(p, solution->rho, h, count, &scale);
    for (size_t i = 0; i < solution->rows; i++)
        solution->rho[i] *= scale;
    return MEDLEY_OK;
}

medley_status md_batch_certify(md_batch_solution *solution, const md_batch_problem *problem,
                               const double *norms, medley_error *error)
{
    MEDLEY_TRY(md_batch_value_model(solution, problem, error));
    MEDLEY_TRY(value_dual(solution, problem, norms, error));
    md_batch_conclude(solution, problem->gap);
    return MEDLEY_OK;
}

void md_batch_conclude(md_batch_solution *solution, double wanted)
{
    if (!(solution->dual <= solution->primal * (1 + ROUNDING)))
        solution->dual = 0; /* no value is negative: a bound where this one cannot be trusted */
    solution->gap = md_relative_gap(solution->primal, solution->dual);
    solution->converged = solution->gap <= wanted;
}

/* ---- the dual value ---- */

double md_penalty_threshold(const md_batch_problem *problem)
{
    return problem->strength * problem->penalty->slope_at_zero(problem->penalty_state);
}

struct ray {
    const md_batch_problem *problem;
    const double *r, *h;
    size_t n, count;
    bool finite;   /* the conjugate of the penalty */
    double square; /* another term of it: s^2 times this */
};

static double value_at(const struct ray *ray, double s)
{
    const md_batch_problem *p = ray->problem;
    double value = -s * s * ray->square;
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
    double most = 2; /* r is near the optimum, so the best scaling is near 1 */
    for (size_t i = 0; i < ray->n; i++) {
        const md_interval domain = p->loss->domain(p->loss_state, p->y[i]);
        if (ray->r[i] > 0 && domain.high / ray->r[i] < most)
            most = domain.high / ray->r[i];
        if (ray->r[i] < 0 && domain.low / ray->r[i] < most)
            most = domain.low / ray->r[i];
    }
    if (ray->finite)
        return most;
    double largest = 0;
    for (size_t m = 0; m < ray->count; m++)
        largest = ray->h[m] > largest ? ray->h[m] : largest;
    const double limit = md_penalty_threshold(p);
    return largest * most > limit ? limit / largest : most;
}

bool md_penalty_conjugate_is_finite(const md_batch_problem *problem)
{
    const double slope = problem->penalty->slope_at_zero(problem->penalty_state);
    return isfinite(problem->penalty->conjugate(problem->penalty_state, problem->strength,
                                                problem->strength * (2 * slope + 1e-6), NULL,
                                                NULL));
}

/* The largest value along the ray, and where. */
static double best_on_ray(const struct ray *ray, double *scale)
{
    static const double golden = 0.618033988749895;
    const double end = longest(ray) * (1 - 1e-15); /* rounding must not lead outside */
    double low = 0;
    double high = end;
    double left = high - golden * (high - low);
    double right = low + golden * (high - low);
    double left_value = value_at(ray, left);
    double right_value = value_at(ray, right);
    for (int i = 0; i < 40; i++) {
        if (left_value < right_value) {
            low = left;
            left = right;
            left_value = right_value;
            right = low + golden * (high - low);
            right_value = value_at(ray, right);
        } else {
            high = right;
            right = left;
            right_value = left_value;
            left = high - golden * (high - low);
            left_value = value_at(ray, left);
        }
    }
    const double places[] = {end < 1 ? end : 1, left, right, end};
    double best = -INFINITY;
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        const double value = value_at(ray, places[i]);
        if (!(value <= best)) {
            best = value;
            *scale = places[i];
        }
    }
    return best;
}

double md_dual_norm_of(double q, const double *x, size_t count)
{
    return md_norm_of(q > 1 ? q / (q - 1) : INFINITY, x, count);
}

double md_dual_value(const md_batch_problem *problem, const double *r, const double *h,
                     size_t count, double *scale)
{
    struct ray ray = {.problem = problem, .r = r, .n = md_packed_rows(problem->packed)};
    if (problem->square > 0) {
        const double norm = md_dual_norm_of(problem->square, h, count);
        ray.square = norm * norm / (2 * problem->strength);
    } else {
        ray.h = h;
        ray.count = count;
        ray.finite = md_penalty_conjugate_is_finite(problem);
    }
    return best_on_ray(&ray, scale);
}
