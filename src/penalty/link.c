/* SPDX-License-Identifier: BSD-3-Clause */
#include "penalty/link.h"

#include "penalty/penalty_internal.h"

md_link_kind md_penalty_link_kind(const md_penalty *penalty)
{
    const md_penalty_term *term = &penalty->terms[0];
    const md_penalty_class *class = term->class;
    if (penalty->count != 1 || class->conjugate == NULL || class->absorbed != NULL ||
        md_penalty_inner_threshold(penalty) > 0)
        return MD_NO_LINK;
    const bool smooth =
        class->link != NULL && (class->has_link == NULL || class->has_link(term->state));
    return smooth ? MD_SMOOTH_LINK : MD_PROX_LINK;
}

/* (f Omega)*(n) = f Omega*(n / f). */
static void smooth_link(const md_penalty *penalty, double lambda, const double *norm, size_t count,
                        double *scale, double *n)
{
    const md_penalty_term *term = &penalty->terms[0];
    const double factor = 1 / (lambda * term->factor);
    for (size_t m = 0; m < count; m++)
        n[m] = factor * norm[m];
    term->class->link(term->state, n, penalty->weight, count, scale);
    for (size_t m = 0; m < count; m++)
        scale[m] *= factor;
}

void md_penalty_link(const md_penalty *penalty, double lambda, double mu, const double *norm,
                     size_t count, double *scale, double *scratch)
{
    if (mu == 0) {
        smooth_link(penalty, lambda, norm, count, scale, scratch);
        return;
    }
    for (size_t m = 0; m < count; m++)
        scale[m] = norm[m] / (lambda * mu);
    md_penalty_prox(penalty, 1 / mu, scale, count, scratch);
    for (size_t m = 0; m < count; m++)
        scale[m] = norm[m] > 0 ? scale[m] / norm[m] : 0;
}
