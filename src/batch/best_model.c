/* SPDX-License-Identifier: BSD-3-Clause */
/* The best model of a run of SpicyMKL: every Newton step passes through a model, a_m = prox(v_m),
 * and the one with the least primal value is returned, not the last one. */
#include "batch/certificate.h"
#include "batch/spicy.h"

void md_spicy_try_model(md_spicy *s)
{
    const md_batch_problem *p = s->problem;
    double bias;
    double penalty = 0;
    const double loss = md_batch_loss(p, s->f, &bias);
    for (size_t i = 0; i < s->count; i++)
        if (s->members[i].ratio > 0)
            penalty += p->penalty->value(p->penalty_state, s->members[i].length);
    const double primal = loss + p->strength * penalty;
    if (!(primal < s->best_primal))
        return;
    s->best_primal = primal;
    s->best_loss = loss;
    s->best_bias = bias;
    s->best_is_here = true;
    s->best_gamma = s->gamma;
    memcpy(s->best_rho, s->rho, s->n * sizeof *s->rho);
    for (size_t i = 0; i < s->count; i++)
        s->best_ratio[i] = s->members[i].ratio;
}

static size_t count_active(const md_spicy *s)
{
    size_t active = s->best_is_here ? 0 : s->kept;
    for (size_t i = 0; s->best_is_here && i < s->count; i++)
        active += s->best_ratio[i] > 0;
    return active;
}

medley_status md_spicy_keep_best(md_spicy *s, medley_error *error)
{
    if (!s->best_is_here)
        return MEDLEY_OK;
    const size_t active = count_active(s);
    free(s->kept_kernel);
    MEDLEY_TRY(md_new(&s->kept_kernel, active, sizeof *s->kept_kernel, error));
    free(s->kept_coefficient);
    MEDLEY_TRY(md_new(&s->kept_coefficient, active * s->n, sizeof(double), error));
    s->kept = 0;
    for (size_t i = 0; i < s->count; i++) {
        const double ratio = s->best_ratio[i];
        if (!(ratio > 0))
            continue;
        double *to = s->kept_coefficient + s->kept * s->n;
        for (size_t j = 0; j < s->n; j++)
            to[j] = ratio *
                    ((s->smooth_penalty ? 0 : s->a[i * s->n + j]) + s->best_gamma * s->best_rho[j]);
        s->kept_kernel[s->kept++] = s->members[i].kernel;
    }
    s->best_is_here = false;
    return MEDLEY_OK;
}

double md_spicy_gap(const md_spicy *s)
{
    return md_relative_gap(s->best_primal, s->best_dual);
}

medley_status md_spicy_record(md_spicy *s, medley_error *error)
{
    const md_batch_step step = {.primal = s->best_primal,
                                .loss = s->best_loss,
                                .dual = s->best_dual,
                                .gap = md_spicy_gap(s),
                                .active = count_active(s),
                                .seconds = md_clock_seconds() - s->began};
    return md_batch_record(s->solution, s->problem, &step, error);
}

/* ---- the model that is returned ---- */

/* In the order of the kernels. */
static void copy_kept(const md_spicy *s)
{
    md_batch_solution *solution = s->solution;
    size_t next = 0;
    for (size_t m = 0; m < s->kernels; m++)
        s->list[m] = s->kept; /* not in the model */
    for (size_t i = 0; i < s->kept; i++)
        s->list[s->kept_kernel[i]] = i;
    for (size_t m = 0; m < s->kernels; m++) {
        if (s->list[m] == s->kept)
            continue;
        memcpy(solution->coefficient + next * s->n, s->kept_coefficient + s->list[m] * s->n,
               s->n * sizeof(double));
        solution->kernel[next++] = m;
    }
}

medley_status md_spicy_finish(md_spicy *s, medley_error *error)
{
    MEDLEY_TRY(md_spicy_keep_best(s, error));
    MEDLEY_TRY(md_batch_allocate(s->solution, s->n, s->kept, s->dual_point, error));
    copy_kept(s);
    MEDLEY_TRY(md_batch_certify(s->solution, s->problem, s->dual_norms, error));
    s->solution->newton_steps = s->newton_steps;
    s->solution->passes = s->passes;
    s->best_primal = s->solution->primal; /* the value tracked by iterations may have been lower */
    s->best_loss = s->solution->loss;
    return MEDLEY_OK;
}
