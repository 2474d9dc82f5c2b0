/* SPDX-License-Identifier: BSD-3-Clause */
/* The online loop over blocks: score, decode, step, and whatever the rule (rule.h) makes of the
 * step. The loop knows neither kernels nor what an output looks like. */
#ifndef MD_ONLINE_H
#define MD_ONLINE_H

#include "block/block.h"
#include "loss/loss.h"
#include "penalty/penalty.h"
#include "settings/options.h"

typedef struct md_rule md_rule;
typedef struct md_gather md_gather; /* gather.h */
typedef struct md_exchange md_exchange;

/* Of rules whose rates the user chooses (MD_TAKES_RATES). */
typedef struct md_rate_settings {
    double eta0;          /* the first rate; NaN: to be searched */
    md_schedule schedule; /* not auto */
    double radius;        /* of the projection; infinity: none, NaN: a ball that has the optimum */
    size_t prox_every;    /* rounds, and at the end of an epoch */
} md_rate_settings;

/* Of rules in which theta is dual to the weights that score (dual.h). */
typedef struct md_dual_settings {
    double p;   /* of the norm: 1 < p <= 2 */
    double eta; /* rate of a first stage; NaN: by the size of the kernels */
} md_dual_settings;

/* What is asked for. */
typedef struct md_online_settings {
    const md_rule *rule;
    md_rate_settings rates;
    md_dual_settings dual;
    double lambda;
    double gap;                /* relative, that a run with a certificate is to reach */
    double cool_from, cool_to; /* rounds between which rates fall to next to nothing; 0: none */
    bool average;
    size_t average_from;   /* iterates of earlier epochs do not count */
    size_t batch;          /* examples of a round, all scored by the same theta */
    bool by_block;         /* examples of a round are scored block by block, not one by one */
    double least_part;     /* parts of other rows with less are left alone as well */
    double skip_threshold; /* rows whose right label lacks less probability are left alone; 0: none
                              are */
    bool in_order; /* examples are met as they stand, and norms are left to the recurrence, since a
                    * part of theta may belong to rows that are not here */
    uint64_t seed;
    size_t threads;
    bool mixes;        /* each rank learns from a share of an epoch, then weights are averaged */
    medley_comm *comm; /* examples are divided among its ranks; NULL: the process is alone */
} md_online_settings;

/* What is learnt from what: read only but for what the blocks hold; every pointer is borrowed. */
typedef struct md_online_problem {
    md_block **blocks; /* [block_count] */
    size_t block_count;
    size_t penalised; /* the first blocks, which are under the penalty; each other has an l2 term of
                       * its own */
    md_gram *gram;    /* NULL: no kernels */
    md_deferred *deferred;   /* told which rows come next; NULL: all values are kept */
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

/* A row of an example of a round, by its place in the list of those that this rank scores. */
typedef struct md_round_place {
    size_t place, row;
} md_round_place;

/* What changes while learning, but for what the blocks hold; made by md_online_init only. */
typedef struct md_online {
    md_pool pool; /* of the arrays */
    md_online_settings settings;
    md_online_problem problem;
    void *state;         /* of the rule: [rule->state_size] */
    double rate;         /* the first one; rules without one do not look at it */
    size_t round;        /* examples seen */
    size_t skipped;      /* of them, those that a run which continues only counts as seen */
    size_t updates;      /* examples that led to a step */
    size_t renewed;      /* updates when score caches were last computed anew */
    size_t stage;        /* 0, then 1 */
    size_t stage_began;  /* in this epoch */
    bool counting;       /* iterates of this epoch count for the average */
    const char *failure; /* of a structure that a program has brought: rounds are no longer run */
    bool diverged;       /* a norm is not finite: theta is worthless and rounds are no longer run */
    size_t *order;       /* [visit_count] visiting order of the epoch */
    size_t *rows;        /* of announced examples */
    bool *stepped;       /* [example_count] needed a step when it was last visited */
    double *norm;    /* [block_count] after the gradient step; the next two follow it in memory */
    double *shrunk;  /* [block_count] what the rule makes of it */
    double *scratch; /* [3 * block_count] */
    size_t longest;
    md_inference *inference;      /* [batch] */
    md_gradient *gradients;       /* [batch] */
    double *loss;                 /* [batch] */
    size_t *dropped;              /* [batch] rows and parts that were left alone */
    size_t *mine;                 /* [batch] items of a round that this rank scores */
    size_t *cost;                 /* [batch] what each takes */
    md_exchange *exchange;        /* NULL: the process is alone */
    md_round_place *cuts;         /* where groups of rows of a round begin (round.c) */
    size_t left_out;              /* these, so far */
    double loss_sum;              /* of the examples of this epoch so far, as they were met */
    struct md_duals *duals;       /* of a rule that has some (duals.h) */
    double *own;                  /* numbers of a rule, made by its init */
    struct md_iterates *iterates; /* of a rule that has some (fista.c) */
    md_gather *gather;            /* of what is met; borrowed, NULL: nothing is */
    struct md_row_sums *sums;     /* of rows that are met next; NULL: none are made */
} md_online;

/* To be cleared whatever comes back. */
medley_status md_online_init(md_online *online, const md_online_problem *problem,
                             const md_online_settings *settings, medley_error *error);
void md_online_clear(md_online *online);

/* Back to theta = 0, round 0 and no iterates counted, with another first rate. */
void md_online_restart(md_online *online, double rate);

/* In place of md_online_restart: sets out from the theta that the blocks hold, or, if they hold the
 * weights that score, from the theta of those. */
void md_online_continue(md_online *online, bool from_weights);

/* Stage 0 begins at epoch 0, before it; a later stage ends the one before. */
medley_status md_online_begin_stage(md_online *online, size_t stage, size_t epoch,
                                    medley_error *error);

/* One pass, in an order that depends on the seed and the number of the epoch only; then the norms
 * are recomputed exactly. in_order says otherwise. */
medley_status md_online_epoch(md_online *online, size_t epoch, medley_error *error);

/* Mean loss of the last epoch's examples, each when it was met and before the step it led to, plus
 * lambda Omega after the epoch: what there is to tell without another pass over the data. */
double md_online_progress(md_online *online, double *mean_loss);

/* Objective of the current theta over the visited examples, from the score caches; infinite if
 * training has diverged. loss: mean loss (may be NULL). */
medley_status md_online_objective(md_online *online, double *objective, double *loss,
                                  medley_error *error);

/* Mean loss over any examples, trained on or not: the score caches cover them all. */
medley_status md_online_mean_loss(md_online *online, const size_t *which, size_t count,
                                  double *mean_loss, medley_error *error);

/* The largest K_j(x,x) of a row, and of an example: features of its rows add up. */
typedef struct md_largest {
    double row, example;
} md_largest;
md_largest md_online_largest(const md_online_problem *problem);

/* A lower bound of the objective, whatever theta, from what was gathered; 0 or more. The blocks are
 * left with what they are not to keep: theta and the iterates are lost. */
medley_status md_online_bound(md_online *online, double *bound, medley_error *error);

/* theta becomes minus the sum over the visited examples of what was gathered of their gradients,
 * and iterates are lost. */
medley_status md_online_take_gathered(md_online *online, medley_error *error);

/* theta becomes the weights that score, and the dual scales 1. */
void md_online_take_weights(md_online *online);

/* theta becomes the average of the iterates, which stay counted; it stays as it is if none were. */
medley_status md_online_take_average(md_online *online, medley_error *error);

/* Mean loss at theta = 0. */
double md_online_loss_at_zero(const md_online_problem *problem);

/* Radius of a ball that contains the optimum: lambda Omega(theta*) <= the loss at theta = 0. NaN:
 * there is no memory to find it. */
double md_online_radius(const md_online_problem *problem, double lambda, double loss_at_zero);

/* All that changes in training but for the order of visits, which the epoch's number tells. */
void md_online_visit_state(md_online *online, md_state_visitor visit, void *context);

#endif
