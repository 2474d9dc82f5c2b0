/* SPDX-License-Identifier: BSD-3-Clause */
/* p-norm mirror descent, which OBSCURE and Pegasos share: theta is dual to the weights that score,
 *
 *     w_j = 1/q (||theta_j|| / ||theta||_{2,q})^(q-2) theta_j,     1/p + 1/q = 1,
 *
 * so that ||w||_{2,p} = ||theta||_{2,q} / q. The factor in front of theta_j is the dual scale of
 * block j. The gradient of the loss is -z in the paper's notation, whatever the structure. */
#ifndef MD_DUAL_H
#define MD_DUAL_H

#include "online/rule.h"

/* What a rule of this kind has at the beginning of its state. */
typedef struct md_dual {
    double q;      /* 1/p + 1/q = 1 */
    double length; /* ||theta||_{2,q} */
    double radius; /* R: the descent keeps the length within q R */
    double rounds; /* t of the descent */
    double s;      /* s_t, by which OBSCURE's rates are smaller than Pegasos' */
} md_dual;

/* The dual scales of blocks with these norms, and weights (NULL: all 1); returns ||theta||_{2,q} of
 * the norms over the weights. */
double md_dual_scales(double *scale, const double *norm, const double *weight, size_t count,
                      double p);

/* ||b||_q of norms b. */
double md_dual_norm(const double *b, size_t count, double q);

/* ||w||_{2,p} of the blocks, which hold weights. */
double md_dual_weights_norm(md_online *online);

/* Functions of a rule's row. */
void md_dual_restart(md_online *online);
void md_dual_set_scales(md_online *online);
void md_dual_from_weights(md_online *online);
void md_dual_penalty(char *text, size_t size, const medley_options *options);

/* ||z_m|| of the sum of a round's gradients, or more. */
double md_dual_block_gradient(const md_online *online, size_t m, size_t count);

/* ||z||_{2,q} of it, or more; the norms of blocks are overwritten. */
double md_dual_gradient_length(md_online *online, size_t count);

/* theta += eta z; false: a norm is not finite, which is divergence. */
bool md_dual_step(md_online *online, size_t count, double eta);

/* The same, and the dual scales follow. */
void md_dual_add(md_online *online, size_t count, double eta);

/* The descent begins: t = s = 0 and R from the norm and the loss as they are. */
medley_status md_dual_begin_descent(md_online *online, medley_error *error);

/* theta *= factor; the dual scales, which follow from ratios of norms, stay as they are. */
void md_dual_rescale(md_online *online, double factor);

/* theta *= min(1, q R / ||theta||_{2,q}) */
void md_dual_project(md_online *online);

/* Theorem 1: with probability 1 - delta the objective is not farther from the optimum.
 * largest_self: the largest K_j(x,x), 1 in the paper. weak: the part of the theorem that needs s
 * holds. */
double md_dual_distance(const md_online *online, double largest_self, double delta, bool weak);
md_bound md_dual_bound(const md_online *online, bool weak);

#endif
