/* SPDX-License-Identifier: BSD-3-Clause */
/* What every batch method returns: room for a model, the record of the iterations, and the choice
 * between two solutions. */
#include "batch/certificate.h"

static void clear_model(md_batch_solution *solution)
{
    free(solution->kernel);
    free(solution->coefficient);
    free(solution->norm);
    free(solution->rho);
    solution->kernel = NULL;
    solution->coefficient = solution->norm = solution->rho = NULL;
}

void md_batch_solution_clear(md_batch_solution *solution)
{
    clear_model(solution);
    free(solution->steps);
    *solution = (md_batch_solution){0};
}

medley_status md_batch_allocate(md_batch_solution *solution, size_t rows, size_t active,
                                const double *rho, medley_error *error)
{
    clear_model(solution);
    solution->rows = rows;
    solution->active = active;
    MEDLEY_TRY(md_new(&solution->kernel, active, sizeof *solution->kernel, error));
    MEDLEY_TRY(md_new(&solution->norm, active, sizeof *solution->norm, error));
    MEDLEY_TRY(md_new(&solution->coefficient, active * rows, sizeof(double), error));
    return md_new_copy(&solution->rho, rho, rows * sizeof *rho, error);
}

medley_status md_batch_record(md_batch_solution *solution, const md_batch_problem *problem,
                              const md_batch_step *step, medley_error *error)
{
    MEDLEY_TRY(md_grow(&solution->steps, &solution->step_capacity, solution->step_count + 1,
                       sizeof *step, error));
    solution->steps[solution->step_count++] = *step;
    if (problem->watch != NULL && !problem->watch(problem->context, step))
        solution->stopped = true;
    return MEDLEY_OK;
}

bool md_batch_reached_rounded(const md_batch_problem *problem, const md_batch_solution *solution)
{
    return solution->step_count > 0 &&
           solution->steps[solution->step_count - 1].gap <= problem->gap &&
           md_packed_has_rounded(problem->packed);
}

void md_batch_keep_better(md_batch_solution *first, md_batch_solution *second)
{
    const size_t newton_steps = first->newton_steps + second->newton_steps;
    const size_t passes = first->passes + second->passes;
    const bool stopped = second->stopped;
    if (second->gap < first->gap)
        md_swap(first, second);
    first->newton_steps = newton_steps;
    first->passes = passes;
    first->stopped = stopped;
}
