/* SPDX-License-Identifier: BSD-3-Clause */
#include "batch/certificate.h"

#include "base/memory.h"
#include "batch/spicy.h"
#include <math.h>
#include <stdlib.h>

static const double ROUNDING = 1e-9; /* of the primal value: what sums may be off by */

double md_relative_gap(double primal, double dual)
{
    const double difference = primal - dual;
    if (!(difference > 0))
        return 0;
    return primal > 0 ? difference / primal : INFINITY;
}

double md_certified_gap(double primal, double dual)
{
    const double difference = primal - dual;
    return difference < -ROUNDING * fabs(primal) ? -difference / fabs(primal)
                                                 : md_relative_gap(primal, dual);
}

static void value_model(md_batch_solution *solution, const md_batch_problem *p, const double *Ka,
                        double *f)
{
    const size_t n = solution->rows;
    double penalty = 0;
    for (size_t i = 0; i < solution->active; i++) {
        const double norm2 = md_batch_dot(solution->coefficient + i * n, Ka + i * n, n);
        solution->norm[i] = norm2 > 0 ? sqrt(norm2) : 0;
        penalty += p->penalty->value(p->penalty_state, solution->norm[i]);
        md_batch_add(f, 1, Ka + i * n, n);
    }
    solution->bias = md_best_bias(p->loss, p->loss_state, p->y, f, n);
    solution->loss = 0;
    for (size_t i = 0; i < n; i++)
        solution->loss += p->loss->value(p->loss_state, p->y[i], f[i] + solution->bias);
    solution->primal = solution->loss + p->strength * penalty;
}

medley_status md_batch_certify(md_batch_solution *solution, const md_batch_problem *problem,
                               medley_error *error)
{
    const size_t n = solution->rows;
    double *Ka = md_calloc(solution->active * n, sizeof *Ka);
    double *f = md_calloc(n, sizeof *f);
    medley_status status = MEDLEY_OK;
    const md_chosen chosen = {.kernels = solution->kernel, .count = solution->active};
    if (Ka == NULL || f == NULL)
        status = md_fail_memory(error, (solution->active + 1) * n * sizeof *f);
    if (status == MEDLEY_OK && solution->active > 0)
        status = md_store_multiply_each(problem->store, chosen, solution->coefficient, Ka, error);
    if (status == MEDLEY_OK)
        value_model(solution, problem, Ka, f);
    free(Ka);
    free(f);
    return status;
}

medley_status md_batch_record(md_batch_solution *solution, const md_batch_problem *problem,
                              const md_batch_step *step, medley_error *error)
{
    if (solution->step_count == solution->step_capacity) {
        const size_t capacity = 2 * solution->step_capacity + 16;
        md_batch_step *steps = realloc(solution->steps, capacity * sizeof *steps);
        if (steps == NULL)
            return md_fail_memory(error, capacity * sizeof *steps);
        solution->steps = steps;
        solution->step_capacity = capacity;
    }
    solution->steps[solution->step_count++] = *step;
    if (problem->watch != NULL && !problem->watch(problem->context, step))
        solution->stopped = true;
    return MEDLEY_OK;
}
