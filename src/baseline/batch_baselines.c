/* SPDX-License-Identifier: BSD-3-Clause */
/* What every paper compares with, solved by the batch solver on a single kernel: the mean of all
 * kernels, and the one that does best alone. */
#include "baseline/wrappers.h"
#include "batch/batch.h"
#include "batch/certificate.h"

/* ---- certificates of a sum of kernels ---- */

static bool all_are_exact(const md_packed *packed, md_chosen chosen)
{
    for (size_t k = 0; k < chosen.count; k++)
        if (!md_packed_is_exact(packed, chosen.kernels != NULL ? chosen.kernels[k] : k))
            return false;
    return true;
}

/* The sum was made of rounded values: what was found on it is told anew for true ones, as
 * md_batch_certify does. The model has the coefficients a[n] on the sum of the chosen kernels, each
 * times weight. norm: [chosen.count] of a in each of them. */
static medley_status certify_sum(md_batch_solution *solution, const md_batch_problem *problem,
                                 md_chosen chosen, double weight, const double *a, double *norm,
                                 medley_error *error)
{
    const size_t n = solution->rows;
    MD_CLEARED(md_pool_clear) md_pool pool = {0};
    double *f = NULL;
    double model2 = 0;
    double dual2 = 0;
    double scale;
    if (all_are_exact(problem->packed, chosen))
        return MEDLEY_OK;
    MEDLEY_TRY(md_pool_new(&pool, &f, 2 * n, sizeof *f, error));
    for (size_t k = 0; k < chosen.count; k++) {
        const size_t m = chosen.kernels != NULL ? chosen.kernels[k] : k;
        double norm2;
        const md_chosen one = {.kernels = &m, .count = 1};
        MEDLEY_TRY(md_packed_multiply_exactly(problem->packed, one, solution->rho, 0, NULL, &norm2,
                                              error));
        dual2 += weight * norm2;
        MEDLEY_TRY(md_packed_multiply_exactly(problem->packed, one, a, 0, f + n, &norm2, error));
        model2 += weight * norm2;
        norm[k] = sqrt(norm2);
        for (size_t i = 0; i < n; i++)
            f[i] += weight * f[n + i];
    }
    const double h = sqrt(dual2);
    solution->loss = md_batch_loss(problem, f, &solution->bias);
    solution->primal =
        solution->loss +
        problem->strength * problem->penalty->value(problem->penalty_state, sqrt(model2));
    solution->dual = md_dual_value(problem, solution->rho, &h, 1, &scale);
    for (size_t i = 0; i < n; i++)
        solution->rho[i] *= scale;
    solution->gap = md_relative_gap(solution->primal, solution->dual);
    solution->converged = solution->gap <= problem->gap;
    return MEDLEY_OK;
}

/* ---- the average ---- */

static medley_status mean_kernel(md_packed **mean, const md_batch_problem *problem,
                                 medley_error *error)
{
    const size_t kernels = md_packed_count(problem->packed);
    MD_OWNED(free) double *weight = NULL;
    MEDLEY_TRY(md_mean_weights(&weight, kernels, error));
    return md_packed_mix(mean, problem->packed, (md_chosen){.count = kernels}, weight, error);
}

/* The coefficients of the mean kernel become those of all kernels, each with its share. */
static medley_status share_coefficients(md_batch_solution *solution,
                                        const md_batch_problem *problem, medley_error *error)
{
    const size_t n = solution->rows;
    const size_t kernels = md_packed_count(problem->packed);
    if (solution->active == 0)
        return MEDLEY_OK;
    MD_OWNED(free) double *mean = solution->coefficient; /* [n] */
    MD_OWNED(free) double *rho = solution->rho;
    solution->coefficient = solution->rho = NULL;
    MEDLEY_TRY(md_batch_allocate(solution, n, kernels, rho, error));
    const md_chosen all = {.count = kernels};
    MEDLEY_TRY(md_packed_norms2(problem->packed, all, mean, solution->norm, error));
    for (size_t m = 0; m < kernels; m++)
        solution->norm[m] = sqrt(solution->norm[m]);
    MEDLEY_TRY(
        certify_sum(solution, problem, all, 1 / (double)kernels, mean, solution->norm, error));
    for (size_t m = 0; m < kernels; m++) {
        solution->kernel[m] = m;
        solution->norm[m] /= (double)kernels;
        for (size_t i = 0; i < n; i++)
            solution->coefficient[m * n + i] = mean[i] / (double)kernels;
    }
    for (size_t s = 0; s < solution->step_count; s++)
        solution->steps[s].active *= kernels;
    return MEDLEY_OK;
}

medley_status md_batch_average(md_batch_solution *solution, const md_batch_problem *problem,
                               const md_batch_solution *start, medley_error *error)
{
    md_batch_problem single = *problem;
    MD_OWNED(md_packed_free) md_packed *mean = NULL;
    (void)start; /* its dual point belongs to another kernel */
    *solution = (md_batch_solution){0};
    MEDLEY_TRY(mean_kernel(&mean, problem, error));
    single.packed = mean;
    MEDLEY_TRY(md_batch_solve(solution, &single, NULL, error));
    return share_coefficients(solution, problem, error);
}

/* A model with scores of size 1 along rho_0 has at least the norm sum |rho_0| / ||rho_0||_K: there
 * the slope of the penalty is to be that of the loss. */
medley_status md_batch_average_strength(const md_batch_problem *problem, double *largest,
                                        double *without_slope, medley_error *error)
{
    const md_margin_loss *loss = problem->loss;
    const size_t n = md_packed_rows(problem->packed);
    MD_OWNED(md_packed_free) md_packed *mean = NULL;
    double square = 0;
    double sum = 0;
    MD_OWNED(free) double *rho = NULL;
    MEDLEY_TRY(md_new(&rho, n, sizeof *rho, error));
    MEDLEY_TRY(mean_kernel(&mean, problem, error));
    md_empty_dual(loss, problem->loss_state, problem->y, rho, n);
    MEDLEY_TRY(md_packed_norms2(mean, (md_chosen){.count = 1}, rho, &square, error));
    for (size_t i = 0; i < n; i++)
        sum += fabs(rho[i]);
    const double norm = sqrt(square);
    *largest = *without_slope =
        norm > 0 ? norm / problem->penalty->slope(problem->penalty_state, sum / norm) : 0;
    return MEDLEY_OK;
}

/* ---- the best ---- */

/* How a kernel does on the rows that are held out. */
struct quality {
    size_t right; /* of labels */
    double loss;
};

struct contest {
    const md_batch_problem *problem;
    size_t n;
    size_t *training, *held; /* rows */
    size_t training_count, held_count;
    double *matrix; /* [n][n] of a kernel, upper triangle */
    double *part;   /* [training][training] */
    double *y;      /* [training] */
    size_t newton_steps;
    bool stopped;
};

/* Every fifth row of each label, in order of appearance, or of all where they are numbers. */
static medley_status divide(struct contest *c, const md_batch_problem *problem, md_pool *pool,
                            medley_error *error)
{
    const size_t n = md_packed_rows(problem->packed);
    size_t seen[2] = {0, 0};
    *c = (struct contest){.problem = problem, .n = n};
    MEDLEY_TRY(md_pool_new(pool, &c->training, n, sizeof(size_t), error));
    MEDLEY_TRY(md_pool_new(pool, &c->held, n, sizeof(size_t), error));
    MEDLEY_TRY(md_pool_new_aligned(pool, &c->matrix, n * n, sizeof(double), error));
    MEDLEY_TRY(md_pool_new_aligned(pool, &c->part, n * n, sizeof(double), error));
    MEDLEY_TRY(md_pool_new(pool, &c->y, n, sizeof(double), error));
    for (size_t i = 0; i < n; i++) {
        const bool second = problem->loss->classifies && problem->y[i] > 0;
        if (++seen[second] % 5 == 0) {
            c->held[c->held_count++] = i;
            continue;
        }
        c->y[c->training_count] = problem->y[i];
        c->training[c->training_count++] = i;
    }
    return MEDLEY_OK;
}

static double value_at(const struct contest *c, size_t i, size_t j)
{
    return c->matrix[i < j ? i * c->n + j : j * c->n + i];
}

/* The watcher's wish is remembered, and what it is told is scaled to all rows. */
static bool watch_contest(void *context, const md_batch_step *step)
{
    struct contest *c = context;
    const double factor = (double)c->n / (double)c->training_count;
    md_batch_step scaled = *step;
    scaled.primal *= factor;
    scaled.loss *= factor;
    scaled.dual *= factor;
    if (c->problem->watch != NULL && !c->problem->watch(c->problem->context, &scaled))
        c->stopped = true;
    return !c->stopped;
}

static void measure(struct quality *quality, const struct contest *c,
                    const md_batch_solution *solution)
{
    const md_batch_problem *p = c->problem;
    *quality = (struct quality){0};
    for (size_t h = 0; h < c->held_count; h++) {
        const size_t row = c->held[h];
        double f = solution->bias;
        for (size_t i = 0; solution->active > 0 && i < c->training_count; i++)
            f += value_at(c, row, c->training[i]) * solution->coefficient[i];
        quality->right += p->loss->classifies && p->y[row] * f > 0;
        quality->loss += p->loss->value(p->loss_state, p->y[row], f);
    }
}

/* With one kernel there is one weight, which is found in a few turns: where libsvm takes them, that
 * is many times faster than Newton's method on one poor kernel. */
static md_batch_solver solver_of_one(const md_batch_problem *problem)
{
    const bool turns = md_has_kernel_weights(problem) && md_one_kernel_libsvm(problem) != NULL;
    return turns ? md_batch_gauss_seidel : md_batch_solve;
}

/* Learns kernel m alone on the rows that are not held out. */
static medley_status try_kernel(struct contest *c, size_t m, struct quality *quality,
                                medley_error *error)
{
    static const double one = 1;
    static const double enough = 0.01; /* gap that settles which kernel is best */
    static const size_t most_iterations = 20;
    const size_t n = c->training_count;
    md_batch_problem part = *c->problem;
    MD_OWNED(md_packed_free) md_packed *packed = NULL;
    MD_CLEARED(md_batch_solution_clear) md_batch_solution solution = {0};
    MEDLEY_TRY(md_packed_sum(c->problem->packed, (md_chosen){.kernels = &m, .count = 1}, &one,
                             c->matrix, error));
    for (size_t i = 0; i < n; i++)
        for (size_t j = i; j < n; j++)
            c->part[i * n + j] = value_at(c, c->training[i], c->training[j]);
    MEDLEY_TRY(md_packed_of_matrix(&packed, c->part, n, part.threads, error));
    part.packed = packed;
    part.y = c->y;
    part.strength *= (double)n / (double)c->n;
    part.gap = fmax(part.gap, enough);
    if (part.max_iterations > most_iterations)
        part.max_iterations = most_iterations;
    part.watch = watch_contest;
    part.context = c;
    MEDLEY_TRY(solver_of_one(&part)(&solution, &part, NULL, error));
    measure(quality, c, &solution);
    c->newton_steps += solution.newton_steps;
    return MEDLEY_OK;
}

static medley_status search(struct contest *c, size_t *best, medley_error *error)
{
    const size_t kernels = md_packed_count(c->problem->packed);
    struct quality most = {0};
    *best = 0;
    for (size_t m = 0; kernels > 1 && m < kernels && !c->stopped; m++) {
        struct quality quality;
        MEDLEY_TRY(try_kernel(c, m, &quality, error));
        if (m > 0 && (quality.right < most.right ||
                      (quality.right == most.right && !(quality.loss < most.loss))))
            continue;
        most = quality;
        *best = m;
    }
    return MEDLEY_OK;
}

/* After a search that was stopped: one iteration is allowed, so that there is a model. */
static bool stop_at_once(void *context, const md_batch_step *step)
{
    (void)context;
    (void)step;
    return false;
}

medley_status md_batch_best(md_batch_solution *solution, const md_batch_problem *problem,
                            const md_batch_solution *start, medley_error *error)
{
    static const double one = 1;
    md_batch_problem single = *problem;
    MD_CLEARED(md_pool_clear) md_pool pool = {0};
    struct contest c = {0};
    MD_OWNED(md_packed_free) md_packed *packed = NULL;
    size_t best;
    (void)start; /* it says nothing of kernels alone */
    *solution = (md_batch_solution){0};
    MEDLEY_TRY(divide(&c, problem, &pool, error));
    MEDLEY_TRY(search(&c, &best, error));
    MEDLEY_TRY(md_packed_mix(&packed, problem->packed, (md_chosen){.kernels = &best, .count = 1},
                             &one, error));
    single.packed = packed;
    if (c.stopped)
        single.watch = stop_at_once;
    MEDLEY_TRY(md_batch_solve(solution, &single, NULL, error));
    if (solution->active > 0) {
        solution->kernel[0] = best;
        MEDLEY_TRY(certify_sum(solution, problem, (md_chosen){.kernels = &best, .count = 1}, 1,
                               solution->coefficient, solution->norm, error));
    }
    solution->newton_steps += c.newton_steps;
    solution->stopped = solution->stopped || c.stopped;
    return MEDLEY_OK;
}

/* ---- the methods, which are the batch forms of online ones ---- */

extern const md_method md_method_batch_average, md_method_batch_best;
const md_method md_method_batch_average = {
    MD_CERTIFIED_METHOD,
    .about = &(const md_about){.name = "average", .takes = MD_BATCH_TAKES},
    .suits = md_batch_suits,
    .penalty = "l2",
    .solve = md_batch_average,
    .largest_strength = md_batch_average_strength,
};
const md_method md_method_batch_best = {
    MD_CERTIFIED_METHOD,
    .about = &(const md_about){.name = "best", .takes = MD_BATCH_TAKES},
    .suits = md_batch_suits,
    .solve = md_batch_best,
};
