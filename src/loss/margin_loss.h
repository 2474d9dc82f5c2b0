/* SPDX-License-Identifier: BSD-3-Clause */
/* Losses l(y, f) of one number f, and their conjugates: what the batch solver works with (SpicyMKL
 * sections 3.2-3.4). rho is the dual variable of f; at the optimum rho = -dl/df. The conjugate is
 * taken as a function of rho: l*(-rho) = sup_f -rho f - l(f).
 *
 * A loss is one file and one line in margin_losses.def. */
#ifndef MD_MARGIN_LOSS_H
#define MD_MARGIN_LOSS_H

#include "param/param.h"

typedef struct md_interval {
    double low, high; /* infinite where there is no bound */
} md_interval;

typedef struct md_margin_loss {
    const char *name, *summary, *formula;
    const md_param *params; /* NULL: none */
    size_t state_size;
    bool classifies;         /* y is -1 or +1; else any number */
    bool svm;                /* a support vector machine's: libsvm can minimise it */
    bool logistic_link;      /* 1 / (1 + exp(-f)) is the probability of y = +1 */
    bool smooth_conjugate;   /* curved, and twice differentiable inside its domain */
    double strong_convexity; /* of the conjugate in rho; 0: none */

    double (*value)(const void *state, double y, double f);
    double (*slope)(const void *state, double y, double f); /* dl/df; at a kink the middle */

    md_interval (*domain)(const void *state, double y); /* rho for which the conjugate is finite */
    double (*conjugate)(const void *state, double y, double rho); /* l*(-rho); infinite outside */

    /* smooth_conjugate only: d/drho and d2/drho2 of l*(-rho), inside the domain. The first is -f
     * for the f that attains the supremum. */
    double (*conjugate_slope)(const void *state, double y, double rho);
    double (*conjugate_curvature)(const void *state, double y, double rho);

    /* argmin_z l(y, z) + (z - u)^2 / (2 gamma), and its derivative in u in *derivative (where there
     * are two, either). */
    double (*prox)(const void *state, double y, double gamma, double u, double *derivative);

    /* Losses with kinks only: dl/df and d2l/df2 of a smooth loss that tends to this one with
     * softness: kinks max(0, x) become softness log(1 + exp(x / softness)), which is larger by at
     * most softness log 2. Its conjugate has the negative entropy of rho added, times softness: a
     * barrier at the ends of the domain. */
    double (*soft_slope)(const void *state, double y, double softness, double f, double *curvature);
} md_margin_loss;

#define MD_MARGIN_LOSS(name) extern const md_margin_loss md_margin_##name;
#include "loss/margin_losses.def"
#undef MD_MARGIN_LOSS

extern const md_margin_loss *const md_margin_losses[]; /* NULL-terminated */
const md_margin_loss *md_margin_loss_find(const char *name);

/* prox of the smooth loss that soft_slope belongs to. */
double md_soft_prox(const md_margin_loss *loss, const void *state, double y, double gamma,
                    double softness, double u, double *derivative);

/* Slope and curvature of softness log(1 + exp(x / softness)). */
double md_softplus_slope(double x, double softness, double *curvature);

/* The domain of losses of labels whose slope is between 0 and -y: 0 <= y rho <= 1. */
md_interval md_label_domain(const void *state, double y);

/* The bias b that minimises sum_i l(y_i, f_i + b), to rounding. Finite also where the minimum is at
 * infinity (logistic, all labels the same): every margin is then 40 or more. */
double md_best_bias(const md_margin_loss *loss, const void *state, const double *y, const double *f,
                    size_t n);

/* The point nearest to rho with sum 0 inside the domain (in place): clip(rho_i - mu). */
void md_project_dual(const md_margin_loss *loss, const void *state, const double *y, double *rho,
                     size_t n);

/* The dual point of the best model without kernels (bias only): rho_i = -dl/df at the best bias,
 * for losses with kinks a point of the domain with sum 0 that attains the dual optimum. */
void md_empty_dual(const md_margin_loss *loss, const void *state, const double *y, double *rho,
                   size_t n);

#endif
