/* SPDX-License-Identifier: BSD-3-Clause */
/* Losses of a structured prediction. A loss sees part scores and asks the structure to decode or
 * to give marginals; what comes back is the gradient with respect to the part scores, sparse.
 *
 * A loss is one file and one line in losses.def. */
#ifndef MD_LOSS_H
#define MD_LOSS_H

#include "structure/structure.h"

/* Everything one evaluation needs, allocated once per thread for the longest example. */
typedef struct md_inference {
    md_pool pool; /* of the arrays */
    md_space space;
    md_workspace workspace;
    float *score;    /* [part_count] of the example, filled by the caller */
    int32_t *output; /* [length] */
    uint32_t *parts; /* [2 * parts_per_output] */
    md_delta delta;  /* the gradient; between evaluations dense is zero outside of it */
    bool whole;      /* gradients keep their smallest parts, too */
} md_inference;

/* To be cleared whatever comes back. */
medley_status md_inference_init(md_inference *inference, md_space space, size_t longest,
                                medley_error *error);
void md_inference_clear(md_inference *inference);

typedef struct md_loss {
    const char *name, *summary, *formula;
    bool by_marginals; /* asks for those, not for an output */
    bool adds_costs;   /* to the scores that it asks with */
    bool has_margin;   /* an example that is right by a margin has no gradient: few rows change */

    /* Loss of the scores inference->score, which it may change. wants_gradient: fills part,
     * coefficient, count and dense of inference->delta, otherwise leaves them empty. */
    double (*evaluate)(md_inference *inference, size_t length, const int32_t *gold,
                       bool wants_gradient);

    /* Largest loss of an example at theta = 0, for the projection's radius. */
    double (*at_zero)(md_space space, size_t length);
} md_loss;

#define MD_LOSS(name) extern const md_loss md_loss_##name;
#include "loss/losses.def"
#undef MD_LOSS
extern const md_loss *const md_losses[]; /* NULL-terminated */
const md_loss *md_loss_find(const char *name);

/* The log loss of inference->score, for losses that are made of it. */
double md_log_loss(md_inference *inference, size_t length, const int32_t *gold,
                   bool wants_gradient);

/* Evaluates and groups the gradient by rows. */
double md_loss_gradient(const md_loss *loss, md_inference *inference, size_t length,
                        const int32_t *gold);

/* What a loss, whose value, gradient and scores (as they were before) are given, is beside the
 * product of gradient and scores: the expected cost, the entropy or both, of the distribution over
 * outputs that the gradient is of. It is a lower bound that does not depend on scores: no loss of
 * other scores is less than its product with this gradient plus this. Of a whole gradient.
 * *rounding: the size of the numbers that it is the difference of. */
double md_loss_offset(md_inference *inference, size_t length, const int32_t *gold,
                      const float *score, double value, double *rounding);

/* Parts below this change no score that matters; whole gradients keep them. */
#define MD_NEGLIGIBLE_PART 1e-6f

/* Makes the list of a gradient whose dense[parts] was filled; what is below `least` becomes 0. */
void md_delta_list(md_delta *delta, size_t parts, float least);

/* Makes row, start and row_count of a gradient whose list was filled. */
void md_delta_group_rows(md_delta *delta, size_t length, size_t width);

/* Leaves out rows whose right label lacks less than `least` of all probability: they
 * have next to nothing left to learn, and are most of the rows once a model is good. Of the other
 * rows, which have `width` parts, those below least_part are left out, but for the largest, at
 * the cost of the right part: a row adds up to 0 as before. How many: rows, and
 * parts of the others. */
size_t md_delta_drop_rows(md_delta *delta, size_t width, const int32_t *gold, float least,
                          float least_part);

#endif
