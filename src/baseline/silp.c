/* SPDX-License-Identifier: BSD-3-Clause */
/* SILP (Sonnenburg, Raetsch, Schaefer and Schoelkopf 2006): a semi-infinite linear program in the
 * kernel weights d, with a row for every dual point rho,
 *
 *     minimise t   subject to   t >= -sum_i l*(-rho_i) + sum_m d_m (price - ||rho||_m^2 / (2
 * strength))
 *
 * by column generation: the row that is violated most at the d of the rows so far is that of the
 * rho which solves the problem of the one kernel sum_m d_m K_m. The next d is a corner of the
 * simplex that these rows cut, often far from the one before. */
#include "baseline/weight_simplex.h"
#include "batch/batch.h"

/* Of the value: what linear programs are not exact to. */
static const double NO_GAIN = 1e-9;

static medley_status follow_program(md_wrap *w, void *method, bool *moved, medley_error *error)
{
    md_bounds *bounds = method;
    const double before = bounds->solution[0];
    *moved = true;
    MEDLEY_TRY(md_bounds_add(bounds, w, error));
    if (bounds->value - before <= NO_GAIN) /* it was known: the next d would be the same */
        return md_wrap_refine(w, moved, error);
    memcpy(bounds->shares.x, bounds->solution + 1, bounds->shares.count * sizeof(double));
    md_shares_write(&bounds->shares, w);
    return md_wrap_settle(w, error);
}

medley_status md_batch_silp(md_batch_solution *solution, const md_batch_problem *problem,
                            const md_batch_solution *start, medley_error *error)
{
    MD_CLEARED(md_pool_clear) md_pool pool = {0};
    MD_CLEARED(md_bounds_clear) md_bounds bounds = {0};
    const md_wrap_method method = {.move = follow_program, .state = &bounds, .inner_share = 0.1};
    *solution = (md_batch_solution){0};
    MEDLEY_TRY(md_wrap_check_penalty(problem, "silp", error));
    MEDLEY_TRY(md_bounds_init(&bounds, &pool, problem, "silp", error));
    return md_wrap_run(solution, problem, start, &method, error);
}

extern const md_method md_method_silp;
const md_method md_method_silp = {
    MD_CERTIFIED_METHOD,
    .about = &(const md_about){.name = "silp",
                               .summary = "for comparison: as spicy, by linear programs for "
                                          "kernel weights (SILP)",
                               .takes = MD_BATCH_TAKES | MD_TAKES_WEIGHTS},
    .fit_path = md_fit_batch_path,
    .solve = md_batch_silp,
    .squares = true,
};
