/* SPDX-License-Identifier: BSD-3-Clause */
/* A distribution over the outputs of each example: the variables of dual methods. Some outputs of
 * an example are kept with their weights, so that weight may be moved from one to another; all
 * others are folded into one mixture, of which only the expected parts are known. Losses of
 * marginals keep the mixture alone. All parts are less those of the right output, of which
 * everything is 0 (loss.h).
 *
 * Memory: a float for each part of an example, and its length for each output that is kept. */
#ifndef MD_DUALS_H
#define MD_DUALS_H

#include "block/block.h"
#include "loss/loss.h"

typedef struct md_duals {
    md_pool pool; /* of the arrays */
    md_space space;
    size_t most;    /* outputs kept of an example; 0: the loss is one of marginals */
    size_t *start;  /* [examples] where the parts of an example begin in mixture */
    float *mixture; /* [size] expected parts, times the weight of the mixture */
    size_t size, examples, rows;
    double *mixture_weight, *mixture_offset, *mixture_rounding; /* [examples]; the latter two times
                                                                   the weight */
    double *gap;     /* [examples] when it was last measured */
    uint64_t *count; /* [examples] outputs that are kept */
    double *weight;  /* [examples][most] */
    double *offset;  /* [examples][most] costs */
    int32_t *output; /* [rows][most]: those of an example stand together, one after the other */
    md_inference scratch; /* its delta is the direction */
} md_duals;

/* To be cleared whatever comes back. All weight is on the right outputs. */
medley_status md_duals_init(md_duals *duals, md_space space, bool by_marginals,
                            const md_example *examples, size_t count, medley_error *error);
void md_duals_clear(md_duals *duals);
void md_duals_restart(md_duals *duals, const md_example *examples, const int32_t *gold);

/* What a loss has found for an example: an output, or marginals. */
typedef struct md_found {
    size_t example;
    md_example where;
    const int32_t *gold;     /* [length] */
    const float *score;      /* of the parts, without costs */
    const md_delta *delta;   /* expected parts less the right ones */
    const int32_t *output;   /* NULL: marginals */
    double loss;             /* offset + <score, delta> */
    double offset, rounding; /* of a loss (loss.h, md_loss_offset) */
} md_found;

/* Where weight may go, and what for. */
typedef struct md_move {
    size_t to;     /* kept output; most: one that is not kept yet; MD_MIXTURE */
    size_t from;   /* kept output or MD_MIXTURE */
    double most;   /* weight */
    double offset; /* change for a weight of one */
    double gap;    /* loss less its mean over the distribution: 0 where nothing is to be gained */
} md_move;
#define MD_MIXTURE SIZE_MAX

/* The gap of a move alone. */
double md_duals_measure(md_duals *duals, const md_found *found);

/* The best move towards what was found; its direction, for a weight of one, goes to
 * duals->scratch.delta. */
md_move md_duals_choose(md_duals *duals, const md_found *found);
void md_duals_take(md_duals *duals, const md_found *found, const md_move *move, double weight);

/* Expected parts of an example in all, into duals->scratch.delta; *offset, *rounding: of its loss.
 */
void md_duals_fill(md_duals *duals, size_t example, md_example where, const int32_t *gold,
                   double *offset, double *rounding);

/* Can what was read be distributions? Outputs have existing labels, and weights are some. */
bool md_duals_are_sound(md_duals *duals, const md_example *examples);

void md_duals_visit_state(md_duals *duals, md_state_visitor visit, void *context);

#endif
