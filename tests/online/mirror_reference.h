/* SPDX-License-Identifier: BSD-3-Clause */
/* OBSCURE's Algorithms 1 and 2 and OM-2 written down as they stand, in double precision on dense
 * vectors: what the tests of obscure, pegasos and om2 compare with. What an example is, is up to a
 * function. */
#ifndef TESTS_ONLINE_MIRROR_REFERENCE_H
#define TESTS_ONLINE_MIRROR_REFERENCE_H

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* The loss of an example; z = phi(x, y) - phi(x, y^), the negative gradient, is added to z, which
 * comes as zeros. *gap: how far the scores are from another decision. */
typedef double loss_at(const void *context, size_t example, const double *w, double *z,
                       double *gap);

struct mirror_reference {
    size_t blocks, size;   /* vectors, and numbers of each */
    double q, lambda, eta; /* eta 0: that of OM-2 */
    loss_at *loss;
    const void *context;

    double *theta, *w, *z, *sum; /* [blocks][size] */
    bool descends, adaptive;
    double radius, rounds, s, rate;
    size_t updates, counted;
    double closest; /* the smallest gap since it was set */
};

static inline void mirror_reference_make(struct mirror_reference *r, size_t blocks, size_t size,
                                         double p)
{
    *r = (struct mirror_reference){
        .blocks = blocks, .size = size, .q = p / (p - 1), .closest = INFINITY};
    r->theta = calloc(4 * blocks * size, sizeof *r->theta);
    if (r->theta == NULL)
        abort();
    r->w = r->theta + blocks * size;
    r->z = r->w + blocks * size;
    r->sum = r->z + blocks * size;
}

static inline void mirror_reference_clear(struct mirror_reference *r)
{
    free(r->theta);
}

/* ||x_b|| */
static inline double block_length(const struct mirror_reference *r, const double *x, size_t b)
{
    double sum = 0;
    for (size_t i = 0; i < r->size; i++)
        sum += x[b * r->size + i] * x[b * r->size + i];
    return sqrt(sum);
}

/* ||x||_{2,a}. Long doubles reach far enough for the powers of what the tests have. */
static inline double group_norm(const struct mirror_reference *r, const double *x, double a)
{
    long double sum = 0;
    for (size_t b = 0; b < r->blocks; b++)
        sum += powl((long double)block_length(r, x, b), (long double)a);
    return (double)powl(sum, 1 / (long double)a);
}

/* Line 9 of Alg. 1, 13 of Alg. 2. */
static inline void reference_link(struct mirror_reference *r)
{
    const double whole = group_norm(r, r->theta, r->q);
    for (size_t b = 0; b < r->blocks; b++) {
        const double ratio = whole > 0 ? block_length(r, r->theta, b) / whole : 0;
        const double factor = ratio > 0 ? pow(ratio, r->q - 2) / r->q : 0;
        for (size_t i = 0; i < r->size; i++)
            r->w[b * r->size + i] = factor * r->theta[b * r->size + i];
    }
}

static inline void reference_scale(struct mirror_reference *r, double factor)
{
    for (size_t i = 0; i < r->blocks * r->size; i++)
        r->theta[i] *= factor;
}

static inline void reference_add(struct mirror_reference *r, double eta)
{
    for (size_t i = 0; i < r->blocks * r->size; i++)
        r->theta[i] += eta * r->z[i];
}

static inline double reference_loss(struct mirror_reference *r, size_t example)
{
    double gap = INFINITY;
    memset(r->z, 0, r->blocks * r->size * sizeof *r->z);
    const double loss = r->loss(r->context, example, r->w, r->z, &gap);
    r->closest = fmin(r->closest, gap);
    return loss;
}

/* Alg. 2, lines 8 to 13. */
static inline void reference_descend(struct mirror_reference *r)
{
    r->rounds += 1;
    const double d = r->lambda * r->rounds + r->s;
    const double slope =
        r->lambda / r->q * group_norm(r, r->theta, r->q) + group_norm(r, r->z, r->q);
    if (r->adaptive)
        r->s += (sqrt(d * d + r->q * slope * slope / (r->radius * r->radius)) - d) / 2;
    r->rate = r->q / (r->lambda * r->rounds + r->s);
    reference_scale(r, 1 - r->lambda * r->rate / r->q);
    reference_add(r, r->rate);
    const double length = group_norm(r, r->theta, r->q);
    if (length > r->q * r->radius)
        reference_scale(r, r->q * r->radius / length);
}

/* Of OM-2: 1 after a mistake, less with a margin. */
static inline double margin_rate(const struct mirror_reference *r)
{
    const double length = group_norm(r, r->z, r->q);
    double margin = 0;
    for (size_t i = 0; i < r->blocks * r->size; i++)
        margin += r->w[i] * r->z[i];
    return fmax(0, fmin(1, 1 - 2 * margin / (length * length)));
}

static inline void reference_visit(struct mirror_reference *r, size_t example)
{
    const double loss = reference_loss(r, example);
    r->updates += loss > 0;
    if (r->descends)
        reference_descend(r);
    else if (loss > 0)
        reference_add(r, r->eta > 0 ? r->eta : margin_rate(r));
    reference_link(r);
}

static inline void reference_count(struct mirror_reference *r)
{
    for (size_t i = 0; i < r->blocks * r->size; i++)
        r->sum[i] += r->w[i];
    r->counted++;
}

static inline double reference_mean_loss(struct mirror_reference *r, size_t examples)
{
    double sum = 0;
    const double closest = r->closest;
    for (size_t e = 0; e < examples; e++)
        sum += reference_loss(r, e);
    r->closest = closest; /* nothing is decided here */
    return sum / (double)examples;
}

static inline double reference_objective(struct mirror_reference *r, size_t examples)
{
    const double norm = group_norm(r, r->w, r->q / (r->q - 1));
    return r->lambda / 2 * norm * norm + reference_mean_loss(r, examples);
}

/* Line 12 of Alg. 1. */
static inline void reference_begin_descent(struct mirror_reference *r, size_t examples,
                                           bool adaptive)
{
    const double norm = group_norm(r, r->w, r->q / (r->q - 1));
    r->radius = sqrt(norm * norm + 2 / r->lambda * reference_mean_loss(r, examples));
    r->descends = true;
    r->adaptive = adaptive;
    r->rounds = r->s = 0;
}

#endif
