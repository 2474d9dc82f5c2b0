/* SPDX-License-Identifier: BSD-3-Clause */
/* The problem of one kernel by SpicyMKL itself, for losses that libsvm does not know and gaps that
 * it cannot reach. The penalty is 1/2 ||f||^2: its dual is smooth and the outer loop short. */
#include "baseline/one_kernel.h"

enum { MOST_ITERATIONS = 200 };

extern const md_penalty_class md_penalty_l2;

medley_status md_one_kernel_solve(md_batch_solution *solution, const md_one_kernel *one,
                                  const md_batch_solution *start, medley_error *error)
{
    md_batch_problem problem = *one->problem;
    MD_OWNED(md_packed_free) md_packed *packed = NULL;
    MEDLEY_TRY(md_packed_of_matrix(&packed, one->kernel, one->n, problem.threads, error));
    problem.packed = packed;
    problem.penalty = md_penalty_l2.scalar;
    problem.penalty_state = NULL;
    problem.gap = one->gap;
    problem.max_iterations = MOST_ITERATIONS;
    problem.watch = NULL;
    return md_batch_solve(solution, &problem, start, error);
}

medley_status md_one_kernel_newton(const md_one_kernel *one, double *rho, double *point,
                                   medley_error *error)
{
    const md_batch_solution start = {.rows = one->n, .rho = point};
    MD_CLEARED(md_batch_solution_clear) md_batch_solution solution = {0};
    MEDLEY_TRY(md_one_kernel_solve(&solution, one, &start, error));
    for (size_t i = 0; i < one->n; i++) {
        point[i] = solution.rho[i];
        rho[i] = solution.active > 0 ? one->problem->strength * solution.coefficient[i] : point[i];
    }
    return MEDLEY_OK;
}
