/* SPDX-License-Identifier: BSD-3-Clause */
/* Random inputs for the laws of penalties: parameters, weights (some 0), norms (some 0 or tied). */
#ifndef PENALTY_CASE_H
#define PENALTY_CASE_H

#include "base/random.h"
#include "penalty/penalty.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>

enum { CASE_MOST_BLOCKS = 40, CASE_SEEDS = 20 };

struct penalty_case {
    const md_penalty_class *class;
    union {
        double alignment;
        char bytes[64];
    } state;
    size_t count;
    double tau;
    double b[CASE_MOST_BLOCKS], d[CASE_MOST_BLOCKS];
    const double *weight; /* d or NULL */
    md_random random;
    char name[96]; /* for messages */
};

/* The default parameters for even seeds, else random ones, denser near the lower end. */
static void draw_parameters(struct penalty_case *c, bool random_parameters)
{
    static const md_param none[] = {{0}};
    const md_param *params = c->class->params ? c->class->params : none;
    assert(c->class->state_size <= sizeof c->state);
    const medley_status status = md_params_defaults(params, &c->state, NULL);
    assert(status == MEDLEY_OK);
    (void)status;
    for (const md_param *p = params; random_parameters && p->name != NULL; p++) {
        assert(p->type == MD_DOUBLE);
        const double u = md_random_uniform(&c->random);
        *(double *)((char *)&c->state + p->offset) = p->least + (p->most - p->least) * u * u;
    }
}

static void draw_norms(md_random *random, double *b, size_t count)
{
    for (size_t m = 0; m < count; m++) {
        const size_t kind = md_random_below(random, 8);
        b[m] = fabs(md_random_normal(random)) * 2;
        if (kind == 0)
            b[m] = 0;
        else if (kind == 1 && m > 0)
            b[m] = b[m - 1];
    }
}

static void draw_case(struct penalty_case *c, const md_penalty_class *class, size_t count,
                      uint64_t seed)
{
    *c = (struct penalty_case){.class = class, .count = count};
    md_random_seed(&c->random, seed * 1000 + count);
    draw_parameters(c, seed % 2 == 1);
    draw_norms(&c->random, c->b, count);
    for (size_t m = 0; m < count; m++)
        c->d[m] = md_random_below(&c->random, 5) == 0 ? 0 : 0.2 + 2 * md_random_uniform(&c->random);
    c->weight = seed % 3 == 0 ? NULL : c->d;
    c->tau = exp(3 * md_random_normal(&c->random) - 1);
    snprintf(c->name, sizeof c->name, "%s, %zu blocks, seed %u, tau %g", class->name, count,
             (unsigned)seed, c->tau);
}

static double case_value(const struct penalty_case *c, const double *x)
{
    return c->class->value(&c->state, x, c->weight, c->count);
}

/* With what the loss has absorbed: what the objective holds of this penalty, but for the inside of
 * blocks. */
static inline double case_whole_value(const struct penalty_case *c, const double *x)
{
    const double absorbed = c->class->absorbed ? c->class->absorbed(&c->state) : 0;
    double squares = 0;
    for (size_t m = 0; m < c->count; m++)
        squares += x[m] * x[m];
    return case_value(c, x) + absorbed * squares / 2;
}

static void case_prox(const struct penalty_case *c, double tau, const double *b, double *shrunk)
{
    double scratch[3 * CASE_MOST_BLOCKS];
    c->class->prox(&c->state, tau, b, c->weight, c->count, shrunk, scratch);
}

/* 1/2 ||x - b||^2 + tau Omega(x) */
static inline double case_objective(const struct penalty_case *c, const double *x)
{
    double squares = 0;
    for (size_t m = 0; m < c->count; m++)
        squares += (x[m] - c->b[m]) * (x[m] - c->b[m]);
    return squares / 2 + c->tau * case_value(c, x);
}

/* Calls law on every penalty, several sizes and seeds. */
static inline void for_all_cases(void (*law)(struct penalty_case *))
{
    static const size_t sizes[] = {1, 2, 3, 7, CASE_MOST_BLOCKS};
    for (size_t i = 0; md_penalties[i] != NULL; i++)
        for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++)
            for (uint64_t seed = 0; seed < CASE_SEEDS; seed++) {
                struct penalty_case c;
                draw_case(&c, md_penalties[i], sizes[k], seed);
                law(&c);
            }
}

#endif
