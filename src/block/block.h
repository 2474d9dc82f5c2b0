/* SPDX-License-Identifier: BSD-3-Clause */
/* A block is one kernel or one group of explicit features (of rows, or of arcs): theta_m = scale *
 * body, so that shrinking costs O(1). It can score the parts of an example, take a step and tell
 * its norm, be cleared, be averaged. Whatever it is made of, learners treat it alike.
 *
 * Notation: a step is theta -= eta * d, d = sum_p delta_p phi(p) over the parts of some examples.
 * What scores is w = dual_scale * theta: learners that keep a dual vector (mirror descent) set it,
 * for all others it is 1.
 *
 * Averages of iterates cost nothing in rounds that leave the body alone: with c_t = scale_t *
 * dual_scale_t, the sum over rounds sum_t c_t body_t is kept as weight_sum * body + correction,
 * where weight_sum = sum_t c_t. A round only adds c_t to weight_sum; a step that changes the body
 * by x takes weight_sum * x off the correction. */
#ifndef MD_BLOCK_H
#define MD_BLOCK_H

#include "comm/comm.h"
#include "feature/arc.h"
#include "gram/deferred.h"
#include "structure/heads.h"
#include "structure/structure.h"

/* Rows row .. row+length-1 of the training data. */
typedef struct md_example {
    size_t row, length;
} md_example;

/* The gradient of one example's loss. */
typedef struct md_gradient {
    md_example example;
    const md_delta *delta;
} md_gradient;

typedef struct md_step {
    const md_gradient *gradients;
    size_t count;
    double eta;
} md_step;

/* Features that are made for some examples at a time. open makes those of examples[0] and as many
 * after it as fit, a multiple of `batch` of them unless it is all `count`, and tells how many. */
typedef struct md_window {
    void *context;
    medley_status (*open)(void *context, const size_t *examples, size_t count, size_t batch,
                          size_t *opened, medley_error *error);
} md_window;

typedef struct md_block md_block;

/* Called for every piece of a block's state. */
typedef void (*md_state_visitor)(void *context, void *data, size_t bytes);

typedef struct md_block_class {
    const char *name;

    /* score[part] += w's score of the parts of an example. */
    void (*score)(const md_block *block, md_example example, float *score);

    /* The same for the parts of some of its rows; those of no single row come with the first one.
     * NULL: only whole examples can be scored. */
    void (*score_rows)(const md_block *block, md_example example, size_t first, size_t rows,
                       float *score);

    /* An example that will be scored soon; NULL: there is nothing to gain. */
    void (*prefetch)(const md_block *block, md_example example);
    /* The same of one that will probably lead to a step. */
    void (*prefetch_change)(const md_block *block, md_example example);
    /* The same before a step: all blocks ask at once for what they would wait for one by one. */
    void (*prefetch_step)(const md_block *block, const md_gradient *gradient);

    /* Takes a step and returns ||theta|| after it. What is costly and may turn out to be of no
     * use, since the block is about to be shrunk to nothing, is left to finish, which is called
     * with the same step and before anything else unless the block is cleared. finish NULL: nothing
     * is left to it. */
    double (*step)(md_block *block, const md_step *step);
    void (*finish)(md_block *block, const md_step *step);

    /* ||phi||^2 of a (row, label) part. */
    double (*self)(const md_block *block, size_t row);

    /* <theta, d> of one example's gradient. */
    double (*slope)(md_block *block, const md_gradient *gradient);

    /* ||d||^2 of one example's gradient. */
    double (*gradient_norm2)(md_block *block, const md_gradient *gradient);

    /* theta has no parts of this example but those of delta: what rounding has left of the others
     * is dropped. NULL: it does no harm. */
    void (*drop_others)(md_block *block, md_example example, const md_delta *delta);

    /* <theta, theta'> with the theta' of a body that was exported. */
    double (*inner)(md_block *block, const float *body);

    void (*clear)(md_block *block);   /* theta = 0; counted iterates stay counted */
    void (*restart)(md_block *block); /* theta = 0 and no iterates counted, as after creation */
    double (*norm2)(md_block *block); /* ||theta||^2 from scratch */

    /* Soft-thresholds every coordinate by tau; NULL: the block has no coordinates (kernel
     * expansions). It may be put off until a coordinate is looked at; norm2 and sum_abs look at
     * all of them. */
    void (*soft_threshold)(md_block *block, double tau);
    double (*sum_abs)(md_block *block);

    /* theta becomes the average of the iterates w counted by md_block_count_iterate (at least one),
     * and dual_scale is to be set to 1; they stay counted: another theta may be imported and
     * counting go on. */
    medley_status (*take_average)(md_block *block, medley_error *error);

    /* What is kept beside theta, and drifts from it by rounding, is computed anew; the deferred
     * scores are to be closed and the norm to be refreshed afterwards. NULL: there is nothing. */
    medley_status (*renew)(md_block *block, medley_error *error);

    /* Copies of theta: size in floats, out and in again. After import_body and take_average the
     * deferred scores are to be closed and the norm to be refreshed, when all blocks have had their
     * turn. */
    size_t (*body_size)(const md_block *block);
    void (*export_body)(md_block *block, float *body); /* w: both scales applied */
    medley_status (*import_body)(md_block *block, const float *body, medley_error *error);

    /* Visits all that changes in training, always in the same order and sizes: a
     * copy that is put back goes on as if nothing had happened. md_block_visit adds the fields
     * below. */
    void (*visit_state)(md_block *block, md_state_visitor visit, void *context);

    /* theta, and what is averaged of the iterates, become their means over the ranks; the norm is
     * to be refreshed. NULL: the block is of a kind that ranks learn together. */
    medley_status (*mix)(md_block *block, medley_comm *comm, medley_error *error);

    void (*free)(md_block *block);
} md_block_class;

struct md_block {
    const md_block_class *class;
    const char *name;
    size_t labels;
    double scale;      /* theta = scale * body; never 0 */
    double dual_scale; /* w = dual_scale * theta */
    double norm;       /* ||theta||, kept by the recurrence, refreshed every epoch */
    double weight_sum; /* of averages: the sum of counted iterates is weight_sum * body + correction
                        */
    double iterates;   /* how many were counted */
};

/* Kernel m of gram; deferred scores: where its values are not kept, else NULL. What is pointed to
 * must outlive the block. averaging: iterates will be averaged. */
typedef struct md_kernel_source {
    md_gram *gram;
    md_deferred *deferred;
    size_t m;
    const char *name;
    size_t labels;
    bool averaging;
} md_kernel_source;

medley_status md_kernel_block_create(md_block **block, const md_kernel_source *source,
                                     medley_error *error);

/* Are its scores deferred ones? Then sum[label][MD_SIDE_BY_SIDE] += w's scores of the open rows
 * from place `first` on, at most MD_SIDE_BY_SIDE. */
enum { MD_SIDE_BY_SIDE = 16 };
bool md_kernel_block_is_deferred(const md_block *block);
void md_kernel_block_score_open(const md_block *block, size_t first, size_t count, float *sum);

/* Multiplies the kernel's features by gain, before anything is learnt. */
void md_kernel_block_set_gain(md_block *block, double gain);

/* The factor of the kernel: theta = sum A phi has ||theta||^2 = sum A S with S = gain^2 K A, and
 * export_body gives gain^2 A. */
double md_kernel_block_gain2(const md_block *block);

/* Sets out from a part of theta that belongs to rows that are not here: it gives the rows that are
 * scores[rows][labels] and has this norm, which is not 0. The block is as it was created. From here
 * on norm2 is not to be asked: the part is not known. */
void md_kernel_block_continue(md_block *block, const float *scores, double norm);

/* Is that part still there? It is gone once the block has been cleared. */
bool md_kernel_block_continues(const md_block *block);

/* Features of the rows of the training data: the columns of a matrix, or one feature of value 1 a
 * row (id -1: none), or, if neither is given, the same single feature everywhere. */
typedef struct md_row_features {
    const md_matrix *matrix;
    const int32_t *id; /* of row i: id[i * id_step] */
    size_t id_step;
    size_t count; /* of features: columns of the matrix, ids, or 1 */
} md_row_features;

/* One weight for each feature and each part of one kind, times gain. All that is pointed to must
 * outlive the block. */
typedef struct md_explicit {
    const char *name;
    md_row_features features;
    double gain;
    md_space space;
    md_part_kind kind;
    bool averaging;  /* iterates will be averaged */
    bool thresholds; /* soft_threshold will be called */
} md_explicit;

medley_status md_explicit_block_create(md_block **block, const md_explicit *what,
                                       medley_error *error);

/* One weight for each of 2^bits slots, which the features of one arc template are hashed to, times
 * gain. All that is pointed to must outlive the block; the weights of all templates stand together
 * in memory, since look-ups at random are faster in large pages. */
typedef struct md_arc_explicit {
    const char *name;
    md_arcs *const *arcs;     /* may become others, but those of examples in use are there */
    const uint32_t *sentence; /* [rows] which one of arcs a row of the training data is in */
    const md_heads *heads;    /* of all rows; NULL: all heads, and arcs alone */
    md_arc_parts parts;       /* what the template is about */
    size_t t;                 /* template */
    size_t bits;              /* at most 30 */
    bool bag;                 /* arcs may have several of its features */
    float *weight;            /* [2^bits] zeros */
    float *correction;        /* the same, after weight, if averages are kept; else NULL */
    double gain;
    bool thresholds;
} md_arc_explicit;

medley_status md_arc_block_create(md_block **block, const md_arc_explicit *what,
                                  medley_error *error);

void md_block_free(md_block *block);
MD_OWNER(md_block_free, md_block)

/* theta *= factor, in O(1). */
void md_block_rescale(md_block *block, double factor);

/* Recomputes the norm exactly: the recurrence drifts. A block without length is cleared, so that
 * norm 0 always means a body of zeros. */
void md_block_refresh_norm(md_block *block);

void md_block_visit(md_block *block, md_state_visitor visit, void *context);

/* Shows truth values to a visitor, which may have changed them to other bytes than 0 and 1. */
void md_visit_bools(bool *values, size_t count, md_state_visitor visit, void *context);

/* One more iterate for the average (call after every round). */
static inline void md_block_count_iterate(md_block *block)
{
    block->weight_sum += block->scale * block->dual_scale;
    block->iterates += 1;
}

/* What a step has left. */
static inline void md_block_finish(md_block *block, const md_step *step)
{
    if (block->class->finish != NULL)
        block->class->finish(block, step);
}

/* w = factor * body; 0 where it would only make denormal numbers, which are slow to work with:
 * p-norms near 1 lead to such blocks. */
static inline double md_block_factor(const md_block *block)
{
    const double factor = block->scale * block->dual_scale;
    return block->norm > 0 && factor > 1e-30 ? factor : 0;
}

/* ||w|| */
static inline double md_block_length(const md_block *block)
{
    return block->norm * block->dual_scale;
}

#endif
