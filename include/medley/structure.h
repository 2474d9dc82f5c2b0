/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Output spaces that a program brings along: segmentations, rankings, matchings, anything that can
 * be decoded. Kernels, templates, penalties, losses, learners and model files come from Medley.
 *
 * An example is a sequence of rows of a data set (medley_dataset_put_sequences), each with features
 * of its own: words, candidate segments, pairs that might be matched. An output gives every row one
 * of the labels; which combinations of labels are possible is up to the structure. The score of an
 * output is the sum of the scores of its parts:
 *
 * - row parts: part `row * labels + label` says that this row of the example has this label.
 * Kernels and templates score them. Every output has one for each row.
 * - shared parts, if the structure has any: numbered from `length * labels` on, the same ones in
 * all examples (a label that follows another, say). Each has a weight of its own, in a block called
 *   "shared". An output may have any of them, each any number of times.
 *
 * examples/segments.c and examples/matching.c are complete programs; docs/guides/structures.md is
 * the guide.
 */
#ifndef MEDLEY_STRUCTURE_H
#define MEDLEY_STRUCTURE_H

#include "medley/model.h"

#ifdef __cplusplus
extern "C" {
#endif

/** An example, as the functions of a structure see it. Frozen. */
typedef struct medley_example {
    size_t length; /**< rows */
    size_t labels; /**< that the training data have, numbered in the order of their names */
    size_t row;    /**< its first row in the data set */
    const int32_t
        *info; /**< [length][info_width] what medley_dataset_put_info gave; NULL: nothing */
    size_t info_width;
} medley_example;

/** What is wanted of an example: for medley_structure.infer. Allocated by the library only. */
typedef struct medley_inference {
    medley_example example;
    const float *score;  /**< [parts] */
    const int32_t *gold; /**< [length] the right output, if costs are to be added; NULL: none are */
    int32_t *output;     /**< [length] to be filled; NULL: marginals are wanted */
    float *marginal;     /**< [parts] to be filled, zeros so far; NULL: the output is wanted */
    double *value;       /**< of marginals: log sum_y exp f(y); of an output: its cost, where there
                              is gold */
} medley_inference;

/**
 * A structure. Start with MEDLEY_STRUCTURE_INIT. Functions must not change the context, as they are
 * called from several threads at once, but for infer, which is called from one at a time. Those
 * that return an int return 0, or another number for a failure, which ends the call of the library
 * with MEDLEY_FAILED.
 */
typedef struct medley_structure {
    size_t struct_size;
    const char *name; /**< models name the structure they need; at most 63 characters */
    void *context;    /**< handed to every function */

    /** How many shared parts there are; NULL: none. */
    size_t (*shared_parts)(void *context, size_t labels);

    /** The most shared parts that an output of this length has, counting repetitions. */
    size_t (*most_shared)(void *context, size_t length, size_t labels);

    /** Writes the shared parts of an output, numbered from 0, as often as they occur; returns how
     *  many. Needed if there are shared parts. */
    size_t (*shared_of)(void *context, const medley_example *example, const int32_t *output,
                        uint32_t *parts);

    /** The output with the largest score. */
    int (*decode)(void *context, const medley_example *example, const float *score, int32_t *output,
                  void *workspace);

    /** The output with the largest score plus cost, and its cost. NULL: every row with a wrong
     * label costs 1, and decode is called with scores to which that was added. */
    int (*decode_with_cost)(void *context, const medley_example *example, const float *score,
                            const int32_t *gold, int32_t *output, double *cost, void *workspace);

    /** The largest cost of any output; NULL: `length`. */
    double (*most_cost)(void *context, size_t length, size_t labels);

    /** How often each part is expected to occur if outputs have probabilities in proportion to
     *  exp(score), into marginal (zeros so far); *value: the logarithm of the sum of these. NULL:
     *  there are no log losses and no probabilities. */
    int (*marginals)(void *context, const medley_example *example, const float *score,
                     float *marginal, double *value, void *workspace);

    /** Bytes of workspace that these functions want; NULL: none. */
    size_t (*workspace_bytes)(void *context, size_t length, size_t labels);

    /** Many examples at a time, in place of decode, decode_with_cost and marginals, which may then
     * be NULL: for languages in which a call is costly. can_infer_marginals tells whether it knows
     *  marginals. Where costs are wanted, every row with a wrong label costs 1 unless *value says
     *  otherwise (it is NaN before). */
    int (*infer)(void *context, medley_inference *const *wanted, size_t count);
    bool can_infer_marginals;
} medley_structure;

/** A structure without functions. */
#define MEDLEY_STRUCTURE_INIT                                                                      \
    {                                                                                              \
        sizeof(medley_structure), NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,      \
            NULL, false                                                                            \
    }

/** Sets shared_parts, most_shared and shared_of to pairs of labels of neighbouring rows: part
 *  `before * labels + label`, as in sequence labelling. */
MEDLEY_API void medley_structure_neighbours(medley_structure *structure);

/**
 * Learning with these options predicts outputs of the structure. It is copied; its name and context
 * are borrowed and must outlive the options and every model that is learnt with them.
 */
MEDLEY_API MEDLEY_CHECKED medley_status medley_options_set_structure(
    medley_options *options, const medley_structure *structure, medley_error *error);

/** Loads a model that needs a structure, which must have the same name as in training. (Without it,
 *  medley_model_load refuses such a model.) Other models do not look at it. */
MEDLEY_API MEDLEY_CHECKED medley_status medley_model_load_with(medley_model **model,
                                                               const char *path,
                                                               const medley_structure *structure,
                                                               medley_error *error);
/** The same from bytes, as medley_model_read. */
MEDLEY_API MEDLEY_CHECKED medley_status medley_model_read_with(medley_model **model,
                                                               const void *bytes, size_t size,
                                                               const char *name,
                                                               const medley_structure *structure,
                                                               medley_error *error);

/** The structure that a model needs; NULL: one of Medley's own, or none. */
MEDLEY_API const char *medley_model_structure(const medley_model *model);

#ifdef __cplusplus
}
#endif
#endif
