/* SPDX-License-Identifier: BSD-3-Clause */
/* Calibrated probabilities: how far scores can be trusted, learnt from rows or sequences that were
 * not trained on. Rows that stand alone get
 *
 *     P(l | x) = softmax_l(factor s_l + offset_l),
 *
 * sequences P(y | x) proportional to exp(factor f(y)): the margin losses fix scores only up to a
 * factor, and say nothing of probabilities.
 *
 * Both fits minimise the log loss of the held-out part under targets that are smoothed by one
 * example in all (Laplace's rule): each of n examples counts as wrong, with a label at random, by
 * 1/(n+1). So the factor is finite even where every held-out example is right, and grows with their
 * number. The offsets have a ridge: one of a label that is rare or missing stays near 0. */
#ifndef MD_CALIBRATION_H
#define MD_CALIBRATION_H

#include "structure/structure.h"

typedef struct md_calibration {
    double factor;  /* of scores, positive: the inverse of the temperature; 0: not calibrated */
    double *offset; /* [labels] summing to 0; NULL: none, as of sequences */
} md_calibration;

void md_calibration_clear(md_calibration *calibration);

/* The scores of an example's parts, of which the first rows * labels are those of its rows, become
 * those whose log-partition has calibrated marginals. */
void md_calibration_apply(const md_calibration *calibration, float *score, size_t parts,
                          size_t rows, size_t labels);

/* Logistic probabilities divided by their sum are the softmax of their logarithms, which take the
 * place of scores. */
void md_log_logistic(float *score, size_t count);

/* ---- rows that stand alone: calibration.c ---- */

typedef struct md_held_rows {
    const float *score;   /* [rows][labels] */
    const int32_t *label; /* [rows] the right ones */
    size_t rows, labels;
} md_held_rows;

/* Newton's method, with conjugate gradients. */
medley_status md_calibration_fit(md_calibration *calibration, const md_held_rows *held,
                                 medley_error *error);

/* What is minimised, in x = (factor, offsets) of scores that are centred in each row and of unit
 * size: shown to tests. */
typedef struct md_softmax_fit {
    size_t rows, labels;
    const int32_t *label;
    float *score;    /* [rows][labels] centred, scaled */
    float *share;    /* [rows][labels] probabilities where the gradient was last taken */
    double *scratch; /* [labels] */
    double smoothing;
    bool holds_factor; /* only the offsets are fitted */
} md_softmax_fit;

/* gradient[1 + labels] may be NULL; share is filled along with it. */
double md_softmax_value(md_softmax_fit *fit, const double *x, double *gradient);

/* product = H v for the Hessian H where the gradient was last taken; context is an md_softmax_fit.
 */
void md_softmax_multiply(void *context, const double *v, double *product);

/* ---- sequences: temperature.c ---- */

/* Fills the scores of all parts of sequence i; called from any thread. */
typedef struct md_sequence {
    size_t row, length;   /* where it begins, if the structure looks at that */
    const int32_t *label; /* [length] the right ones */
} md_sequence;
typedef md_sequence (*md_sequence_scorer)(void *context, size_t i, float *score);

typedef struct md_held_sequences {
    md_space space;
    size_t count, longest;
    md_sequence_scorer scores;
    void *context;
    size_t threads; /* the result does not depend on it */
} md_held_sequences;

/* The factor alone, by the slope of the log loss, which grows with it. */
medley_status md_temperature_fit(md_calibration *calibration, const md_held_sequences *held,
                                 medley_error *error);

#endif
