/* SPDX-License-Identifier: BSD-3-Clause */
/* The methods that SPOM comes down to with special options, each as its paper has it: a few lines
 * on a plain vector, with gradients found by listing all outputs. */
#ifndef TESTS_LEARNER_DIRECT_METHODS_H
#define TESTS_LEARNER_DIRECT_METHODS_H

#include "fit/tiny_outputs.h"
#include "online/rule.h"

struct direct {
    const struct tiny_data *data;
    const char *loss;
    double lambda, eta0, radius;
    md_schedule schedule;
    size_t batch, epoch_size; /* in examples */
    double t;                 /* examples so far, those of this round included */
    double rounds;
    double theta[MOST_WEIGHTS], sum[MOST_WEIGHTS];
};

/* The examples of a round. t counts examples, so that a mini-batch of k with rate eta and k times
 * the penalty is a round with the mean gradient and rate k eta. */
struct batch {
    const size_t *examples;
    size_t count;
};

static inline const char *schedule_name(md_schedule schedule)
{
    return schedule == MD_RATE_SQRT      ? "sqrt"
           : schedule == MD_RATE_EPOCH   ? "epoch"
           : schedule == MD_RATE_INVERSE ? "inverse"
                                         : "constant";
}

static inline double falling_rate(const struct direct *d, double strong_convexity)
{
    switch (d->schedule) {
    case MD_RATE_SQRT:
        return d->eta0 / sqrt(d->t);
    case MD_RATE_EPOCH:
        return d->eta0 / sqrt(1 + d->t / (double)d->epoch_size);
    case MD_RATE_INVERSE:
        return d->eta0 / (strong_convexity * d->t);
    default:
        return d->eta0;
    }
}

/* theta <- shrink theta - eta * gradient of the losses of these examples at theta. */
static inline void gradient_step(struct direct *d, const struct batch *batch, double eta,
                                 double shrink)
{
    double gradient[MOST_WEIGHTS] = {0};
    for (size_t i = 0; i < batch->count; i++)
        add_loss(d->data, d->loss, d->theta, batch->examples[i], gradient);
    for (size_t j = 0; j < d->data->weights; j++)
        d->theta[j] = shrink * d->theta[j] - eta * gradient[j];
}

static inline double length_between(const double *theta, size_t first, size_t behind)
{
    double square = 0;
    for (size_t j = first; j < behind; j++)
        square += theta[j] * theta[j];
    return sqrt(square);
}

static inline void project(struct direct *d)
{
    const double norm = length_between(d->theta, 0, d->data->weights);
    for (size_t j = 0; j < d->data->weights && norm > d->radius; j++)
        d->theta[j] *= d->radius / norm;
}

static inline void zinkevich(struct direct *d, const struct batch *batch)
{
    gradient_step(d, batch, falling_rate(d, 1), 1);
    project(d);
}

static inline void pegasos(struct direct *d, const struct batch *batch)
{
    gradient_step(d, batch, 1 / (d->lambda * d->t), 1 - (double)batch->count / d->t);
    project(d);
}

static inline void truncated_gradient(struct direct *d, const struct batch *batch)
{
    const double eta = falling_rate(d, 1);
    gradient_step(d, batch, eta, 1);
    const double tau = eta * d->lambda * (double)batch->count;
    for (size_t j = 0; j < d->data->weights; j++)
        d->theta[j] = copysign(fmax(0, fabs(d->theta[j]) - tau), d->theta[j]);
    project(d);
}

static inline void fobos_l2(struct direct *d, const struct batch *batch)
{
    const double eta = falling_rate(d, d->lambda);
    gradient_step(d, batch, eta, 1);
    for (size_t j = 0; j < d->data->weights; j++)
        d->theta[j] /= 1 + eta * d->lambda * (double)batch->count;
    project(d);
}

static inline void fobos_group_lasso(struct direct *d, const struct batch *batch)
{
    const double eta = falling_rate(d, 1);
    const double tau = eta * d->lambda * (double)batch->count;
    gradient_step(d, batch, eta, 1);
    for (size_t g = 0; g < d->data->group_count; g++) {
        const double b = length_between(d->theta, d->data->group[g], d->data->group[g + 1]);
        for (size_t j = d->data->group[g]; j < d->data->group[g + 1]; j++)
            d->theta[j] *= b > 0 ? fmax(0, b - tau) / b : 0;
    }
    project(d);
}

struct algorithm {
    const char *penalty;
    void (*round)(struct direct *d, const struct batch *batch);
    double lambda;
    bool inverse_only; /* the rate is part of the algorithm */
};

static const struct algorithm zinkevich_s = {"none", zinkevich, 0.5, false};
static const struct algorithm pegasos_s = {"absorbed-l2", pegasos, 0.3, true};
static const struct algorithm truncated_gradients = {"l1", truncated_gradient, 0.02, false};
static const struct algorithm fobos_with_l2 = {"l2", fobos_l2, 0.2, false};
static const struct algorithm fobos_with_group_lasso = {"group-lasso", fobos_group_lasso, 0.08,
                                                        false};

static inline void one_round(struct direct *d, const struct algorithm *algorithm,
                             const struct batch *batch)
{
    d->t += (double)batch->count;
    d->rounds += 1;
    algorithm->round(d, batch);
    for (size_t j = 0; j < d->data->weights; j++)
        d->sum[j] += d->theta[j];
}

/* The order of visits is part of what a seed promises. */
static inline void one_epoch(struct direct *d, const struct algorithm *algorithm, uint64_t seed,
                             size_t epoch)
{
    const size_t examples = d->data->kind.examples;
    size_t order[MOST_EXAMPLES];
    md_random random;
    for (size_t e = 0; e < examples; e++)
        order[e] = e;
    md_random_seed(&random, seed * 1000003u + epoch);
    md_random_shuffle(&random, order, examples);
    for (size_t e = 0; e < examples; e += d->batch) {
        const size_t left = examples - e;
        one_round(d, algorithm, &(struct batch){order + e, left < d->batch ? left : d->batch});
    }
}

#endif
