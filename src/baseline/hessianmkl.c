/* SPDX-License-Identifier: BSD-3-Clause */
/* HessianMKL (Chapelle and Rakotomamonjy 2008): Newton's method on J(d). With the dual point rho of
 * the problem of the one kernel K = sum_m d_m K_m and the rows F whose rho_i can move,
 *
 *     d2J / dd_m dd_l = 1/strength (K_m rho)_F' P (K_l rho)_F,
 *     P = A^-1 - A^-1 1 1' A^-1 / (1' A^-1 1),   A = K_FF + strength diag(l*''),
 *
 * since rho answers a change of d by -A^-1 ((K_m rho)_F + strength db 1) with the bias that keeps
 * 1'rho = 0. F are the rows inside the loss's domain: for the hinge loss the support vectors on the
 * margin, and l*'' is 0. A move minimises the quadratic model over the simplex and then halves the
 * step to there until J falls. The Hessian is kept as factors, as many as F has rows: J does not
 * depend on d in other ways, and its quadratic program has a solution of few kernels. */
#include "baseline/weight_simplex.h"
#include "batch/batch.h"
#include "linalg/blas.h"
#include "linalg/vectors.h"
#include "optim/optim.h"
#include "optim/simplex.h"

enum { AT_ONCE = 64, MOST_HALVINGS = 30 };
static const double INSIDE = 1e-6;        /* distance of rho from an end that counts as inside */
static const double ROW_RIDGE = 1e-10;    /* of the mean of A's diagonal */
static const double WEIGHT_RIDGE = 1e-10; /* of the largest element of the Hessian */

struct newton {
    md_shares shares;
    size_t *rows, count;            /* [n] F */
    double *a;                      /* [count][count] A, then its Cholesky factor */
    double *ones;                   /* [n] R^-T 1, of length 1 */
    double *products;               /* [AT_ONCE][n] K_m rho */
    double *factor;                 /* [shares][count] of the Hessian in shares */
    double *image, *slope, *target; /* [n], [shares], [shares] scratch */
    double *weight;                 /* [kernels] where the step begins */
    md_fixed before;                /* there */
};

static medley_status init_newton(struct newton *s, md_pool *pool, const md_batch_problem *problem,
                                 medley_error *error)
{
    const size_t n = md_packed_rows(problem->packed);
    MEDLEY_TRY(md_shares_init(&s->shares, pool, problem, error));
    MEDLEY_TRY(md_pool_new(pool, &s->rows, n, sizeof *s->rows, error));
    MEDLEY_TRY(md_pool_new_aligned(pool, &s->a, n * n, sizeof(double), error));
    MEDLEY_TRY(md_pool_new_aligned(pool, &s->products, AT_ONCE * n, sizeof(double), error));
    MEDLEY_TRY(md_pool_new_aligned(pool, &s->factor, s->shares.count * n, sizeof(double), error));
    double **of_rows[] = {&s->ones, &s->image, &s->before.rho, &s->before.point};
    double **of_shares[] = {&s->slope, &s->target, &s->weight};
    for (size_t i = 0; i < sizeof of_rows / sizeof *of_rows; i++)
        MEDLEY_TRY(md_pool_new(pool, of_rows[i], n, sizeof(double), error));
    for (size_t i = 0; i < sizeof of_shares / sizeof *of_shares; i++)
        MEDLEY_TRY(md_pool_new(pool, of_shares[i], s->shares.count, sizeof(double), error));
    return MEDLEY_OK;
}

/* ---- the Hessian ---- */

static bool can_move(const md_batch_problem *p, double y, double rho)
{
    const md_interval domain = p->loss->domain(p->loss_state, y);
    /* the conjugate of a loss with kinks may have one at 0 */
    const bool level = p->loss->smooth_conjugate || fabs(rho) > INSIDE;
    return rho > domain.low + INSIDE && rho < domain.high - INSIDE && level;
}

/* F, and the factor of A; no rows if there is none. */
static void factor_rows(struct newton *s, const md_wrap *w)
{
    const md_batch_problem *p = w->problem;
    const double *rho = w->here.point;
    double trace = 0;
    s->count = 0;
    for (size_t i = 0; i < w->n; i++)
        if (can_move(p, p->y[i], rho[i]))
            s->rows[s->count++] = i;
    for (size_t i = 0; i < s->count; i++) {
        const size_t row = s->rows[i];
        for (size_t j = i; j < s->count; j++)
            s->a[i * s->count + j] = w->mix[row * w->n + s->rows[j]];
        trace += s->a[i * s->count + i];
        if (p->loss->smooth_conjugate)
            s->a[i * s->count + i] +=
                p->strength * p->loss->conjugate_curvature(p->loss_state, p->y[row], rho[row]);
    }
    for (size_t i = 0; i < s->count; i++)
        s->a[i * s->count + i] += ROW_RIDGE * trace / (double)s->count;
    if (s->count > 0 && !md_cholesky(s->a, s->count, p->threads))
        s->count = 0;
    if (s->count == 0)
        return;
    for (size_t i = 0; i < s->count; i++)
        s->ones[i] = 1;
    md_dtrsv(s->count, s->a, s->count, true, s->ones);
    const double length = sqrt(md_dot(s->ones, s->ones, s->count));
    for (size_t i = 0; i < s->count; i++)
        s->ones[i] /= length;
}

/* total / sqrt(strength) P^1/2 (K_m rho)_F for all kernels m, 0 for the rest. */
static medley_status find_factor(struct newton *s, md_wrap *w, medley_error *error)
{
    const double scale = s->shares.total / sqrt(w->problem->strength);
    memset(s->factor, 0, s->shares.count * s->count * sizeof *s->factor);
    for (size_t first = 0; first < w->kernels && s->count > 0; first += AT_ONCE) {
        const size_t many = w->kernels - first < AT_ONCE ? w->kernels - first : AT_ONCE;
        for (size_t k = 0; k < many; k++)
            w->list[k] = first + k;
        const md_chosen chosen = {.kernels = w->list, .count = many};
        MEDLEY_TRY(
            md_packed_multiply(w->problem->packed, chosen, w->here.point, s->products, error));
        for (size_t k = 0; k < many; k++) {
            double *row = s->factor + (first + k) * s->count;
            for (size_t i = 0; i < s->count; i++)
                row[i] = scale * s->products[k * w->n + s->rows[i]];
            md_dtrsv(s->count, s->a, s->count, true, row);
            md_add_scaled(row, -md_dot(s->ones, row, s->count), s->ones, s->count);
        }
    }
    w->looks++;
    return MEDLEY_OK;
}

/* ---- a step ---- */

/* target: the least point of slope'(t - x) + 1/2 (t - x)'H(t - x) over the simplex. */
static medley_status find_target(struct newton *s, medley_error *error)
{
    const md_shares *shares = &s->shares;
    double largest = 0;
    memset(s->image, 0, s->count * sizeof *s->image);
    for (size_t m = 0; m < shares->count; m++) {
        const double *row = s->factor + m * s->count;
        largest = fmax(largest, fmax(md_dot(row, row, s->count), fabs(shares->slope[m])));
        if (shares->x[m] > 0)
            md_add_scaled(s->image, shares->x[m], row, s->count);
    }
    const md_simplex_quadratic model = {.count = shares->count,
                                        .rank = s->count,
                                        .slope = s->slope,
                                        .factor = s->factor,
                                        .ridge = fmax(WEIGHT_RIDGE * largest, 1e-300)};
    for (size_t m = 0; m < shares->count; m++)
        s->slope[m] = shares->slope[m] - md_dot(s->factor + m * s->count, s->image, s->count) -
                      model.ridge * shares->x[m];
    return md_simplex_minimise(&model, s->target, error);
}

/* Towards the target, half as far each time until J falls. */
static medley_status search(struct newton *s, md_wrap *w, bool *moved, medley_error *error)
{
    const double total = s->shares.total;
    const double before = md_wrap_total(w);
    double share = 1;
    memcpy(s->weight, w->weight, w->kernels * sizeof *s->weight);
    md_fixed_copy(&s->before, &w->here, w->n);
    *moved = false;
    for (int i = 0; i < MOST_HALVINGS && !*moved; i++, share /= 2) {
        for (size_t m = 0; m < w->kernels; m++)
            w->weight[m] = (1 - share) * s->weight[m] + share * total * s->target[m];
        MEDLEY_TRY(md_wrap_settle(w, error));
        *moved = md_wrap_total(w) < before;
    }
    if (*moved)
        return MEDLEY_OK;
    memcpy(w->weight, s->weight, w->kernels * sizeof *s->weight);
    md_fixed_copy(&w->here, &s->before, w->n);
    return md_wrap_refine(w, moved, error);
}

static medley_status step(md_wrap *w, void *method, bool *moved, medley_error *error)
{
    struct newton *s = method;
    md_shares_read(&s->shares, w);
    factor_rows(s, w);
    MEDLEY_TRY(find_factor(s, w, error));
    MEDLEY_TRY(find_target(s, error));
    return search(s, w, moved, error);
}

medley_status md_batch_hessianmkl(md_batch_solution *solution, const md_batch_problem *problem,
                                  const md_batch_solution *start, medley_error *error)
{
    MD_CLEARED(md_pool_clear) md_pool pool = {0};
    struct newton s = {0};
    const md_wrap_method method = {.move = step, .state = &s, .inner_share = 0.01};
    *solution = (md_batch_solution){0};
    MEDLEY_TRY(md_wrap_check_penalty(problem, "hessianmkl", error));
    MEDLEY_TRY(init_newton(&s, &pool, problem, error));
    return md_wrap_run(solution, problem, start, &method, error);
}

extern const md_method md_method_hessianmkl;
const md_method md_method_hessianmkl = {
    MD_CERTIFIED_METHOD,
    .about = &(const md_about){.name = "hessianmkl",
                               .summary = "for comparison: as spicy, by Newton's steps on kernel "
                                          "weights (HessianMKL)",
                               .takes = MD_BATCH_TAKES | MD_TAKES_WEIGHTS},
    .fit_path = md_fit_batch_path,
    .solve = md_batch_hessianmkl,
    .squares = true,
};
