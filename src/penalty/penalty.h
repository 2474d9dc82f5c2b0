/* SPDX-License-Identifier: BSD-3-Clause */
/* Penalties: functions Omega of the block norms b_m = ||theta_m|| (docs/math.md).
 * By Prop. 1 of SPOM the prox of such a function rescales each block, so a penalty only ever sees
 * the vector b. Terms that look inside blocks (l1) ask the blocks to soft-threshold themselves: the
 * learner does that first, recomputes the norms and then calls prox, and in this order the two
 * steps are the exact prox of the sum. value() leaves the inside part out for the same reason, and
 * what the loss has absorbed; the learner adds inner_threshold * sum |theta| and absorbed/2 sum b^2
 * itself.
 *
 * A penalty is one file and one line in penalties.def. No function here allocates, but create and
 * set_weights; none changes the penalty, but set_weights. */
#ifndef MD_PENALTY_H
#define MD_PENALTY_H

#include "param/param.h"

/* A penalty that is a sum of one function g of each norm, for solvers that work in the dual. tau >
 * 0 is the strength, x and y are norms >= 0. */
typedef struct md_scalar_penalty {
    /* (tau g)* is finite, twice differentiable but at finitely many y, and tame: Newton's method
     * can follow its curvature */
    bool (*smooth_conjugate)(const void *state);
    /* The same but for being tame: worth a try where the loss's conjugate is smooth as well, so
     * that one minimum is all there is to find; true wherever smooth_conjugate is */
    bool (*one_step)(const void *state);

    double (*value)(const void *state, double x); /* g(x), g(0) = 0 */
    double (*slope_at_zero)(const void *state);   /* g'(0+): blocks stay 0 below tau times this */
    double (*slope)(const void *state, double x); /* g'(x), x > 0; x / g'(x) is the kernel weight */

    double (*bend)(const void *state, double x); /* g''(x), x > 0 */

    /* argmin_x 1/2 (x - y)^2 + tau g(x); *derivative: in y. */
    double (*prox)(const void *state, double tau, double y, double *derivative);

    /* sup_x x y - tau g(x), infinite where there is none. slope and curvature (may be NULL) only
     * where one_step. */
    double (*conjugate)(const void *state, double tau, double y, double *slope, double *curvature);
} md_scalar_penalty;

typedef struct md_penalty_class {
    const char *name, *summary, *formula;
    const char *weights;             /* how they follow from norms (medley/options.h), or NULL */
    const md_scalar_penalty *scalar; /* NULL: not such a sum */
    const void *fixed;               /* the state of scalar, where that is none of the user's */
    const md_param *params;          /* NULL: none */
    size_t state_size;
    bool uniform;    /* without block weights, prox multiplies all b_m by the same factor */
    bool asymmetric; /* blocks are not alike, even without weights */

    /* Doubles that prox needs, where that may be more than 3 * count; NULL: it is not. */
    size_t (*scratch)(const void *state);

    /* Omega(d b) without its inside part: each norm times its weight d_m = weight[m] >= 0; NULL:
     * all one. */
    double (*value)(const void *state, const double *b, const double *weight, size_t count);

    /* shrunk = argmin_x 1/2 ||x - b||^2 + tau Omega(x), all b >= 0 and tau >= 0 finite, shrunk may
     * be b. 0 <= shrunk <= b. scratch: 3 * count doubles, or what
     * `scratch` says if that is more. */
    void (*prox)(const void *state, double tau, const double *b, const double *weight, size_t count,
                 double *shrunk, double *scratch);

    /* Amount by which every coordinate inside a block is soft-thresholded before prox is applied
     * to the resulting norms, per unit of tau; NULL: 0. */
    double (*inner_threshold)(const void *state);

    /* Reported kernel weight of a block of norm b > 0, without weights d: b / (dOmega/db), which is
     * SpicyMKL's 1/(2 g'(b^2)), or b where that would fall as b rises. total: the sum of all norms.
     * NULL: this penalty has no say. */
    double (*kernel_weight)(const void *state, double b, double total);

    /* Strength a of a term a/2 sum b^2 that has no prox since it counts as a part of the loss: its
     * gradient shrinks theta by 1 - eta lambda a before each step (Pegasos); NULL: 0. */
    double (*absorbed)(const void *state);

    /* Strong convexity of Omega in b (0 if none), for the 1/(sigma t) schedule, where the smallest
     * d_m is least_weight; NULL: 0. */
    double (*strong_convexity)(const void *state, double least_weight);

    /* Omega*(n) = sup over b >= 0 of sum n b - Omega(b), absorbed terms included, all n >= 0: the
     * conjugate as a function of theta's blocks sees only their norms as well. Infinite where it
     * is, as for a block with n > 0 that costs nothing (d = 0). NULL: not known from norms alone,
     * or of no use. */
    double (*conjugate)(const void *state, const double *n, const double *weight, size_t count);

    /* scale[m] = dOmega*(n) / dn_m / n_m, any number where n_m is 0: what turns a dual vector of
     * block norms n into the weights that it belongs to, w_m = scale_m v_m. scale may not be n.
     * NULL: Omega* is not known or not smooth. */
    void (*link)(const void *state, const double *n, const double *weight, size_t count,
                 double *scale);

    /* Where that depends on the state: is link right for it? NULL: for any. */
    bool (*has_link)(const void *state);

    /* Where Omega = 1/2 (sum b^q)^(2/q), but for weights: b^q / q as a scalar penalty, its state,
     * and q. NULL, or the answer is NULL: it is no such square, or q is too near 1. */
    const md_scalar_penalty *(*root)(const void *state, const void **root_state, double *q);

    /* Where Omega is a mixture of that square and of 1/2 sum b^2: the share of the latter. NULL: 0
     */
    double (*l2_share)(const void *state);
} md_penalty_class;

extern const md_scalar_penalty md_elastic_scalar; /* the state is t */

#define MD_PENALTY(name) extern const md_penalty_class md_penalty_##name;
#include "penalty/penalties.def"
#undef MD_PENALTY
extern const md_penalty_class *const md_penalties[]; /* NULL-terminated */
const md_penalty_class *md_penalty_find(const char *name);

/* One or more terms joined by '+', each with an optional factor: "mkl", "group-lasso+l2",
 * "elastic(t=0.3)", "0.5*l2+mkl". Composites run their terms in sequence, as written (SPOM Alg. 1,
 * J > 1): in general not the prox of the sum. elastic and elastic-mkl are exact. */
typedef struct md_penalty md_penalty;

/* MEDLEY_USAGE for an unknown name or option, a value out of range or an empty term. */
medley_status md_penalty_create(md_penalty **penalty, const char *text, medley_error *error);
void md_penalty_free(md_penalty *penalty);
MD_OWNER(md_penalty_free, md_penalty)

/* Per-block weights 0 <= d_m <= 1e100 (copied), or NULL for all one: every term but the absorbed
 * and the inside ones then sees d_m b_m in place of b_m. From then on count must be this count
 * everywhere. MEDLEY_USAGE for other weights. */
medley_status md_penalty_set_weights(md_penalty *penalty, const double *weight, size_t count,
                                     medley_error *error);

/* Are they obeyed? Not by a term that looks at no norms (l1, none), nor by an absorbed one. */
bool md_penalty_has_weights(const md_penalty *penalty);
/* They, or NULL: all one. */
const double *md_penalty_block_weights(const md_penalty *penalty);

double md_penalty_value(const md_penalty *penalty, const double *b, size_t count);

/* No more than Omega where the weighted norms d b have the length r: a function of r that does not
 * fall. 0 where nothing is known. scratch: count doubles. */
double md_penalty_least(const md_penalty *penalty, double r, size_t count, double *scratch);

/* Doubles that its prox needs: 3 * count, and more where there are groups (groups.h). */
size_t md_penalty_scratch(const md_penalty *penalty, size_t count);
/* Is it the same for blocks in another order, but for weights? */
bool md_penalty_is_symmetric(const md_penalty *penalty);

/* In place; scratch: md_penalty_scratch. Does not apply inner thresholds. */
void md_penalty_prox(const md_penalty *penalty, double tau, double *b, size_t count,
                     double *scratch);

/* The prox of the sum itself, where md_penalty_prox takes the terms one after the other
 * (exact_prox.c). scratch: md_penalty_exact_scratch. */
size_t md_penalty_exact_scratch(const md_penalty *penalty, size_t count);
void md_penalty_exact_prox(const md_penalty *penalty, double tau, double *b, size_t count,
                           double *scratch);

/* Sum over terms; multiply by tau. 0 for penalties of norms only. */
double md_penalty_inner_threshold(const md_penalty *penalty);
double md_penalty_strong_convexity(const md_penalty *penalty);
double md_penalty_absorbed(const md_penalty *penalty); /* sum over terms */
bool md_penalty_is_uniform(const md_penalty *penalty); /* prox treats all blocks alike */

/* Reported weights beta_m, summing to 1 (all 0 if every b is 0; 0 where b is 0). The inverse
 * weights of a composite's terms add up; with no term on norms beta_m ~ b_m. */
void md_penalty_weights(const md_penalty *penalty, const double *b, size_t count, double *beta);

/* The penalty as factor times a scalar one, if it is: one term whose class has a scalar form, of
 * weighted norms where blocks have weights. NULL otherwise. */
const md_scalar_penalty *md_penalty_scalar(const md_penalty *penalty, const void **state,
                                           double *factor);

/* The same for half the square of a norm, 1/2 (sum b^q)^(2/q): factor times that, and b^q / q as a
 * scalar penalty, which has the same minima under another strength. */
const md_scalar_penalty *md_penalty_root(const md_penalty *penalty, const void **state, double *q,
                                         double *factor);

/* Canonical text, "0.5*elastic(t=0.3)+l2"; borrowed. */
const char *md_penalty_text(const md_penalty *penalty);

#endif
