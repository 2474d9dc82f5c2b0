/* SPDX-License-Identifier: BSD-3-Clause */
/* SimpleMKL (Rakotomamonjy, Bach, Canu and Grandvalet 2008): descent on J(d), the least value for
 * kernel weights d, along its reduced gradient,
 *
 *     dJ/dd_m = strength/2 - ||rho||_{K_m}^2 / (2 strength),
 *
 * with rho of the problem of the one kernel sum_m d_m K_m. The paper squares the sum of norms and
 * holds the sum of d at 1: there the term strength/2 is none, and the largest weight, that of
 * kernel mu, gives or takes what the others want (eq. 12). For the penalty strength sum_m ||f_m||
 * weights are only kept from falling below 0. As in the paper: from a gradient on, steps go as far
 * as the next weight that becomes 0 and on from there, as long as J falls, and then a golden
 * section search divides the last stretch. Along a stretch the mixture is linear in the step, so a
 * trial costs one problem of one kernel and no look at the kernels. */
#include "baseline/reduced_gradient.h"
#include "baseline/wrappers.h"
#include "batch/batch.h"
#include "optim/optim.h"

static const double NO_WEIGHT = 1e-8; /* of the largest: as good as 0 */
static const double PRECISION = 0.1;  /* of the golden section search, as in the paper */
static const double SHORTEST = 1e-8;  /* share of a stretch that it looks at while nothing helps */

/* A point on a stretch. */
struct trial {
    double step, total; /* total: J */
    md_fixed model;
};

struct descent {
    md_wrap *w;
    double *slope;  /* [kernels] direction */
    size_t mu;      /* on the simplex: whose weight makes up for the others */
    double *along;  /* [n][n] sum_m slope_m K_m */
    double *matrix; /* [n][n] of a trial */
    struct trial trial, best;
};

static medley_status init_descent(struct descent *s, md_pool *pool, size_t n, size_t kernels,
                                  medley_error *error)
{
    MEDLEY_TRY(md_pool_new(pool, &s->slope, kernels, sizeof(double), error));
    MEDLEY_TRY(md_pool_new_aligned(pool, &s->along, n * n, sizeof(double), error));
    MEDLEY_TRY(md_pool_new_aligned(pool, &s->matrix, n * n, sizeof(double), error));
    MEDLEY_TRY(md_pool_new(pool, &s->trial.model.rho, n, sizeof(double), error));
    MEDLEY_TRY(md_pool_new(pool, &s->trial.model.point, n, sizeof(double), error));
    MEDLEY_TRY(md_pool_new(pool, &s->best.model.rho, n, sizeof(double), error));
    return md_pool_new(pool, &s->best.model.point, n, sizeof(double), error);
}

/* ---- points ---- */

/* strength/2 h(d) at a step; on the simplex nothing. */
static double price_of_weights(const struct descent *s, double step)
{
    double sum = 0;
    for (size_t m = 0; m < s->w->kernels && s->w->price > 0; m++)
        sum += s->w->weight[m] + step * s->slope[m];
    return s->w->problem->strength / 2 * sum;
}

/* J at a step; the best trial is kept. */
static medley_status try_step(struct descent *s, double step, double *total, medley_error *error)
{
    md_wrap *w = s->w;
    const size_t n = w->n;
    struct trial *trial = &s->trial;
    for (size_t i = 0; i < n; i++)
        for (size_t j = i; j < n; j++)
            s->matrix[i * n + j] = w->mix[i * n + j] + step * s->along[i * n + j];
    memcpy(trial->model.point, s->best.model.point, n * sizeof(double));
    MEDLEY_TRY(md_wrap_solve(w, s->matrix, &trial->model, error));
    trial->step = step;
    trial->total = trial->model.value + price_of_weights(s, step);
    *total = trial->total;
    if (trial->total < s->best.total)
        md_swap(&s->best, trial);
    return MEDLEY_OK;
}

/* Moves to the best trial of this stretch. */
static void take_best(struct descent *s)
{
    md_wrap *w = s->w;
    const size_t n = w->n;
    for (size_t m = 0; m < w->kernels; m++)
        w->weight[m] = fmax(0, w->weight[m] + s->best.step * s->slope[m]);
    for (size_t i = 0; i < n; i++)
        for (size_t j = i; j < n; j++)
            w->mix[i * n + j] += s->best.step * s->along[i * n + j];
    md_fixed_copy(&w->here, &s->best.model, n);
    s->best.step = 0;
}

/* ---- the direction ---- */

/* What it costs to give a kernel weight: on the simplex mu has to give it. */
static double least_descent(const struct descent *s)
{
    return s->w->on_simplex ? md_wrap_descent(s->w, s->mu) : 0;
}

static medley_status drop_small_weights(struct descent *s, medley_error *error)
{
    md_wrap *w = s->w;
    double dropped = 0;
    s->mu = 0;
    for (size_t m = 0; m < w->kernels; m++)
        s->mu = w->weight[m] > w->weight[s->mu] ? m : s->mu;
    const double largest = w->weight[s->mu];
    for (size_t m = 0; m < w->kernels; m++)
        if (w->weight[m] > 0 && w->weight[m] < NO_WEIGHT * largest &&
            md_wrap_descent(w, m) < least_descent(s)) {
            dropped += w->weight[m];
            w->weight[m] = 0;
        }
    if (w->on_simplex)
        w->weight[s->mu] += dropped;
    return dropped > 0 ? md_wrap_settle(w, error) : MEDLEY_OK;
}

static medley_status find_direction(struct descent *s, medley_error *error)
{
    md_wrap *w = s->w;
    for (size_t m = 0; m < w->kernels; m++)
        s->slope[m] = md_wrap_descent(w, m) - least_descent(s);
    const double sum = md_reduced_direction(s->slope, w->weight, w->kernels);
    if (w->on_simplex)
        s->slope[s->mu] = -sum;
    return md_wrap_mix(w, s->slope, s->along, error);
}

/* How far until a weight is 0, and which one. Without such an end, as far as the weights are
 * doubled in sum; on the simplex nothing is left then but rounding. */
static double stretch(const struct descent *s, size_t *which)
{
    const md_wrap *w = s->w;
    double sum = 0;
    double slope = 0;
    for (size_t m = 0; m < w->kernels; m++) {
        sum += w->weight[m];
        slope += s->slope[m];
    }
    const double length = md_reduced_stretch(s->slope, w->weight, w->kernels, which);
    if (*which < w->kernels)
        return length;
    return slope > 0 && !w->on_simplex ? (sum > 0 ? sum : 1) / slope : 0;
}

/* ---- the line search ---- */

/* Whole stretches while J falls. *length: the one that is too long; 0: none is left. */
static medley_status take_stretches(struct descent *s, double *length, medley_error *error)
{
    for (;;) {
        size_t which;
        double total;
        *length = stretch(s, &which);
        if (!(*length > 0))
            break;
        const double before = s->best.total;
        MEDLEY_TRY(try_step(s, *length, &total, error));
        if (!(total < before))
            break;
        take_best(s);
        if (which == s->w->kernels)
            continue;
        s->w->weight[which] = 0; /* and it stays there */
        if (s->w->on_simplex && which == s->mu) {
            *length = 0; /* all others would have to fall */
            break;
        }
        if (s->w->on_simplex)
            s->slope[s->mu] += s->slope[which];
        s->slope[which] = 0;
        MEDLEY_TRY(md_wrap_mix(s->w, s->slope, s->along, error));
    }
    return MEDLEY_OK;
}

static medley_status golden_section(struct descent *s, double length, medley_error *error)
{
    md_golden golden = md_golden_over(length);
    while (golden.high - golden.low > (s->best.step > 0 ? PRECISION : SHORTEST) * length) {
        double total;
        MEDLEY_TRY(try_step(s, md_golden_ask(&golden), &total, error));
        md_golden_tell(&golden, total);
    }
    return MEDLEY_OK;
}

/* ---- a move ---- */

static medley_status descend(md_wrap *w, void *method, bool *moved, medley_error *error)
{
    struct descent *s = method;
    double length;
    s->w = w;
    MEDLEY_TRY(drop_small_weights(s, error));
    MEDLEY_TRY(find_direction(s, error));
    const double before = w->here.value + price_of_weights(s, 0);
    md_fixed_copy(&s->best.model, &w->here, w->n);
    s->best.step = 0;
    s->best.total = before;
    MEDLEY_TRY(take_stretches(s, &length, error));
    if (length > 0)
        MEDLEY_TRY(golden_section(s, length, error));
    if (s->best.step > 0)
        take_best(s);
    *moved = s->best.total < before;
    return *moved ? MEDLEY_OK : md_wrap_refine(w, moved, error);
}

medley_status md_batch_simplemkl(md_batch_solution *solution, const md_batch_problem *problem,
                                 const md_batch_solution *start, medley_error *error)
{
    MD_CLEARED(md_pool_clear) md_pool pool = {0};
    struct descent s = {0};
    const md_wrap_method method = {.move = descend, .state = &s, .inner_share = 0.01};
    *solution = (md_batch_solution){0};
    MEDLEY_TRY(md_wrap_check_penalty(problem, "simplemkl", error));
    MEDLEY_TRY(init_descent(&s, &pool, md_packed_rows(problem->packed),
                            md_packed_count(problem->packed), error));
    return md_wrap_run(solution, problem, start, &method, error);
}

extern const md_method md_method_simplemkl;
const md_method md_method_simplemkl = {
    MD_CERTIFIED_METHOD,
    .about = &(const md_about){.name = "simplemkl",
                               .summary = "for comparison: as spicy, by reduced gradients on "
                                          "kernel weights (SimpleMKL)",
                               .takes = MD_BATCH_TAKES | MD_TAKES_WEIGHTS},
    .fit_path = md_fit_batch_path,
    .solve = md_batch_simplemkl,
    .structured = "simplemkl-pegasos",
    .squares = true,
};
