/* SPDX-License-Identifier: BSD-3-Clause */
/* One kernel by the batch solver itself: the penalty is 1/2 ||f||^2, so its dual is smooth and the
 * outer loop is short. */
#include "batch/inner.h"

enum { MOST_ITERATIONS = 200 };

medley_status md_inner_newton(const md_inner *inner, double *rho, double *point,
                              medley_error *error)
{
    const md_batch_problem *outer = inner->problem;
    const size_t n = inner->n;
    md_store *store = NULL;
    medley_status status = md_store_of_matrix(&store, inner->kernel, n, outer->threads, error);
    if (status < 0)
        return status;
    const md_batch_problem problem = {.store = store,
                                      .loss = outer->loss,
                                      .loss_state = outer->loss_state,
                                      .y = outer->y,
                                      .penalty = md_penalty_find("l2")->scalar,
                                      .strength = outer->strength,
                                      .gap = inner->gap,
                                      .max_iterations = MOST_ITERATIONS,
                                      .threads = outer->threads};
    const md_batch_solution start = {.rows = n, .rho = point};
    md_batch_solution solution = {0};
    status = md_batch_solve(&solution, &problem, &start, error);
    for (size_t i = 0; i < n && status == MEDLEY_OK; i++) {
        point[i] = solution.rho[i];
        rho[i] = solution.active > 0 ? outer->strength * solution.coefficient[i] : point[i];
    }
    md_batch_solution_clear(&solution);
    md_store_free(store);
    return status;
}
