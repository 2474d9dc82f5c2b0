/* SPDX-License-Identifier: BSD-3-Clause */
/* lp-norm multiple kernel learning by taking turns (Kloft et al. 2009, 2011), for every penalty
 * that is a minimum over kernel weights: with the model fixed the best weight is
 * d_m = 1 / (2 g'(||f_m||^2)), in terms of the function of the norm ||f_m|| / g'(||f_m||). For the
 * block 1-norm that is ||f_m|| = d_m ||rho||_{K_m} / strength: weights of kernels that are not
 * needed shrink by a constant factor each time. */
#include "baseline/wrappers.h"
#include "batch/batch.h"

/* Weights stay above this, so that a kernel can come back. */
static const double LEAST_WEIGHT = 1e-200;

static medley_status take_turns(md_wrap *w, void *method, bool *moved, medley_error *error)
{
    const md_batch_problem *p = w->problem;
    (void)method;
    for (size_t m = 0; m < w->kernels; m++) {
        const double length = w->weight[m] * w->norm[m] / p->strength;
        if (length > 0)
            w->weight[m] = fmax(length / p->penalty->slope(p->penalty_state, length), LEAST_WEIGHT);
    }
    *moved = true;
    return md_wrap_settle(w, error);
}

/* g is concave in the square of the norm if weights grow with norms. */
bool md_has_kernel_weights(const md_batch_problem *p)
{
    double before = 0;
    for (int power = -8; power <= 8; power++) {
        const double norm = pow(4, power);
        const double weight = norm / p->penalty->slope(p->penalty_state, norm);
        if (weight < before * (1 - 1e-12))
            return false;
        before = weight;
    }
    return true;
}

medley_status md_batch_gauss_seidel(md_batch_solution *solution, const md_batch_problem *problem,
                                    const md_batch_solution *start, medley_error *error)
{
    static const md_wrap_method method = {.move = take_turns, .inner_share = 0.1};
    *solution = (md_batch_solution){0};
    if (!md_has_kernel_weights(problem))
        return md_fail(error, MEDLEY_NOT_SUPPORTED,
                       "`method=gauss-seidel` needs a penalty whose powers of norms are at most "
                       "2: group-lasso, elastic or block(q=1.5); use one of these, or `method="
                       "spicy`");
    return md_wrap_run(solution, problem, start, &method, error);
}

extern const md_method md_method_gauss_seidel;
const md_method md_method_gauss_seidel = {
    MD_CERTIFIED_METHOD,
    .about = &(const md_about){.name = "gauss-seidel",
                               .summary = "for comparison: as spicy, by turns between kernel "
                                          "weights and an SVM (lp-MKL)",
                               .takes = MD_BATCH_TAKES | MD_TAKES_WEIGHTS},
    .fit_path = md_fit_batch_path,
    .solve = md_batch_gauss_seidel,
    .structured = "gauss-seidel-pegasos",
};
