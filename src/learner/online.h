/* SPDX-License-Identifier: BSD-3-Clause */
/* The online loop over blocks: score, decode, step, and what the rule does with the step: shrink
 * and project (SPOM, Algs. 1 and 3), or link (OBSCURE, Algs. 1 and 2: mirror.c). It knows neither
 * kernels nor what an output looks like. */
#ifndef MD_ONLINE_H
#define MD_ONLINE_H

#include "block/block.h"
#include "loss/loss.h"
#include "penalty/penalty.h"
#include "settings/options.h"

typedef enum md_rule {
    MD_RULE_PROX,   /* theta is what scores; the penalty's prox shrinks it */
    MD_RULE_MIRROR, /* theta is dual to what scores: p-norm mirror descent */
} md_rule;

/* Of the log losses: most rows have learnt as much after some epochs, and steps for them take most
 * of the time. It keeps the objective within about a thousandth of what it would be without. */
#define MD_LEARNT 1e-3

typedef struct md_online_settings {
    md_rule rule;
    double p;   /* of the mirror rule: 1 < p <= 2 */
    double eta; /* of its first stage */
    double lambda, eta0;
    md_schedule schedule;      /* not auto */
    double cool_from, cool_to; /* rounds between which rates fall to next to nothing; 0: none */
    bool average;
    size_t average_from; /* iterates of earlier epochs do not count */
    double radius;       /* infinity: no projection */
    size_t batch;        /* examples of a round, all scored by the same theta */
    size_t prox_every;   /* so many rounds, and at the end of an epoch */
    bool by_block;       /* examples of a round are scored block by block, not one by one */
    double least_part;   /* parts of other rows with less are left alone as well */
    double learnt; /* rows whose right label lacks less probability are left alone; 0: none are */
    bool in_order; /* examples are met as they stand, and norms are left to the recurrence, since a
                    * part of theta may belong to rows that are not here */
    uint64_t seed;
    size_t threads;
} md_online_settings;

/* What is learnt from what; every pointer is borrowed. */
typedef struct md_online_problem {
    md_block **blocks; /* [block_count] */
    size_t block_count;
    size_t penalised; /* so many blocks, the first, are under the penalty; each other has an l2 term
                       * of its own */
    md_gram *gram;    /* NULL: no kernels */
    md_ledger *ledger;       /* told which rows come next; NULL: all values are kept */
    const md_window *window; /* NULL: all features are there */
    md_space space;
    const md_loss *loss;
    const md_penalty *penalty;
    const md_example *examples; /* [example_count] */
    size_t example_count;
    const int32_t *gold; /* [rows] */
    const size_t *visit; /* [visit_count] the examples that are trained on; NULL: all of them */
    size_t visit_count;
} md_online_problem;

/* Where the mirror rule stands (mirror.c). */
typedef struct md_mirror {
    double q;         /* 1/p + 1/q = 1 */
    bool descends;    /* stage 2: steps of the objective, not of the loss alone */
    bool adaptive;    /* stage 2 of OBSCURE; else of Pegasos, s = 0 */
    double radius;    /* R of stage 2 */
    double rounds, s; /* t and s of stage 2 */
    double skipped;   /* of the rounds, those before a run that continues; 0: s knows of them */
    double length;    /* ||theta||_{2,q} */
    size_t began;     /* epoch of stage 2's beginning */
} md_mirror;

typedef struct md_online {
    md_online_settings settings;
    md_online_problem problem;
    size_t round;   /* examples seen */
    size_t updates; /* of them, how many led to a step */
    size_t renewed; /* updates when score caches were last computed anew */
    double owed;    /* tau of rounds since the last prox */
    size_t rounds_since_prox;
    md_mirror mirror;
    bool counting;    /* iterates of this epoch count for the average */
    bool diverged;    /* a norm is not finite: theta is worthless and rounds are no longer run */
    bool late_shrink; /* soft thresholds are put off: see online.c */
    size_t *order;    /* [visit_count] visiting order of the epoch */
    size_t *rows;     /* of announced examples */
    bool *stepped;    /* [example_count] needed a step when it was last visited */
    double *norm;     /* [block_count] after the gradient step */
    double *shrunk;   /* [block_count] after the prox */
    double *scratch;  /* [3 * block_count] */
    size_t longest;
    md_inference *inference; /* [batch] */
    md_gradient *gradients;  /* [batch] */
    double *loss;            /* [batch] */
    double loss_sum;         /* of the examples of this epoch so far, as they were met */
} md_online;

medley_status md_online_init(md_online *online, const md_online_problem *problem,
                             const md_online_settings *settings, medley_error *error);
void md_online_clear(md_online *online);

/* Back to theta = 0, round 0 and no iterates counted, with another first rate. */
void md_online_restart(md_online *online, double eta0);

/* Sets out from what the blocks hold, not from theta = 0: in place of md_online_restart. */
void md_online_continue(md_online *online);

/* One pass, in an order that depends on the seed and the number of the epoch only; then the norms
 * are recomputed exactly. in_order says otherwise. */
medley_status md_online_epoch(md_online *online, size_t epoch, medley_error *error);

/* Mean loss of the last epoch's examples, each when it was met and before the step it led to, plus
 * lambda Omega behind the epoch: what there is to tell without another pass over the data. */
double md_online_progress(md_online *online, double *mean_loss);

/* Objective of the current theta over the visited examples, from the score caches; infinite if
 * training has diverged. loss: mean loss (may be NULL). */
medley_status md_online_objective(md_online *online, double *objective, double *loss,
                                  medley_error *error);

/* Mean loss over any examples, trained on or not: the score caches cover them all. */
medley_status md_online_mean_loss(md_online *online, const size_t *which, size_t count,
                                  double *mean_loss, medley_error *error);

/* The mirror rule goes over to stage 2: R from the norm and the loss as they are (Alg. 1, line 12).
 * adaptive: by Alg. 2, else by Pegasos' rate. */
medley_status md_mirror_descend(md_online *online, bool adaptive, medley_error *error);

/* The largest K_j(x,x) of a row, and of an example: features of its rows add up. */
typedef struct md_largest {
    double row, example;
} md_largest;
md_largest md_mirror_largest(const md_online_problem *problem);

/* The paper's eta, 2, for kernels of any size; rows count, not examples, since a longer sequence
 * also has more to lose. */
double md_mirror_eta(const md_online_problem *problem);

/* Theorem 1: with probability 1 - delta the objective is not farther from the optimum.
 * largest_self: the largest K_j(x,x), 1 in the paper. NaN before stage 2. */
double md_mirror_bound(md_online *online, double largest_self, double delta);

/* theta, which is what scores since md_online_take_links, becomes dual to it again. */
void md_online_return_links(md_online *online);

/* Stage 2 goes on as if it had taken so many rounds. */
void md_mirror_skip(md_online *online, double rounds);

/* theta becomes what scores, and the links 1. */
void md_online_take_links(md_online *online);

/* theta becomes the average of the iterates, which stay counted; it stays as it is if none were. */
medley_status md_online_take_average(md_online *online, medley_error *error);

/* Radius of a ball that contains the optimum: lambda Omega(theta*) <= the loss at theta = 0. */
double md_online_radius(const md_online_problem *problem, double lambda, double loss_at_zero);

/* All that changes in training but for the order of visits, which the epoch's number tells. */
void md_online_visit_state(md_online *online, md_state_visitor visit, void *context);

#endif
