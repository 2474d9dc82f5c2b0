/* SPDX-License-Identifier: BSD-3-Clause */
/* Gram sources: kernel values K_m(left row, right row) for every kernel of a bank, wherever they
 * are kept: full float32 matrices, sparse ones where most values are zero, or rows computed when
 * they are about to be used (deferred.h) if the matrices do not fit the memory budget. Learners ask
 * for rows; they never see kernels. */
#ifndef MD_GRAM_H
#define MD_GRAM_H

#include "comm/comm.h"
#include "device/open_device.h"
#include "gram/prepared_rows.h"
#include "medley/observer.h"

typedef struct md_gram md_gram;

typedef struct md_gram_options {
    size_t threads;
    size_t memory;                   /* budget in bytes for kernel values; 0: no limit */
    const medley_observer *observer; /* may be NULL */
    const md_device *device; /* what is not constant is computed there; NULL: the processor does */
    double device_rounds; /* values are rounded there to half precision if no K(x,x) is larger, */
    medley_comm *comm; /* the columns of deferred scores are divided among its ranks; NULL: alone */
} md_gram_options;

/* Training Gram matrices of prepared rows with themselves. Learns the means of centred kernels into
 * the bank. Bank and prepared rows must outlive the Gram source. */
medley_status md_gram_create(md_gram **gram, md_bank *bank, const md_prepared *prepared,
                             const md_gram_options *options, medley_error *error);
void md_gram_free(md_gram *gram);
MD_OWNER(md_gram_free, md_gram)

size_t md_gram_count(const md_gram *gram); /* kernels */
size_t md_gram_rows(const md_gram *gram);
bool md_gram_is_streamed(const md_gram *gram);
size_t md_gram_bytes(const md_gram *gram); /* held in memory */
bool md_gram_is_on_card(const md_gram *gram);
/* On a card: would its values be rounded, or not, as they are, if this were device_rounds? */
bool md_gram_is_rounded_for(const md_gram *gram, double device_rounds);

/* Are the values of kernel m (of a mixture: all of them) kept? What follows is for these; deferred
 * scores (deferred.h) are for the others. */
bool md_gram_is_kept(const md_gram *gram, size_t m);

/* Kernels with explicit weights have no values here: what follows is for the others.
 *
 * y[t][j] += alpha[t] * K_m(row, j) for all j and every target t (all different arrays). */
typedef struct md_targets {
    const float *alpha;
    float *const *y;
    size_t count;
} md_targets;

void md_gram_add_row(md_gram *gram, size_t m, size_t row, const md_targets *targets);

/* scores[label][j] += alpha * sum_i coefficient[i][label] K_m(first + i, j), i = 0 .. rows-1, as
 * one matrix product; false, and nothing is done, if the rows are not at hand side by side. */
bool md_gram_add_rows(md_gram *gram, size_t m, size_t first, size_t rows, float alpha,
                      const float *coefficient, size_t labels, float *scores);

float md_gram_entry(md_gram *gram, size_t m, size_t row, size_t column);
double md_gram_diagonal(const md_gram *gram, size_t m, size_t row);

/* Replaces all kernels by their weighted sum: afterwards there is one kernel, sum weight[m] K_m.
 * Once only. */
medley_status md_gram_mix(md_gram *gram, const double *weight, medley_error *error);

/* out[rows][labels] += K_m coefficient, coefficient [rows][labels]. */
void md_gram_multiply(md_gram *gram, size_t m, const float *coefficient, size_t labels, float *out);

/* ---- values between two sets of prepared rows, without keeping them ---- */

/* A term sum_j K_m(x_i, z_j) coefficient[j][labels] of an expansion. */
typedef struct md_expansion {
    size_t kernel;
    const float *coefficient; /* [right rows][labels] */
} md_expansion;

typedef struct md_between {
    md_bank *bank;
    const md_prepared *left, *right;
    const size_t *training_row; /* [right rows] which training row each right row was */
    size_t threads;
    const char *device; /* where scores are computed, as option `device` says; NULL: here */
    char *device_name;  /* [MD_DEVICE_NAME] the card that has computed them; NULL: nobody asks */
} md_between;

/* scores[left rows][labels] += sum over terms, at most one for each kernel. Kernels of one view
 * that follow one another in the bank share products. */
medley_status md_between_scores(const md_between *between, const md_expansion *terms,
                                size_t term_count, size_t labels, float *scores,
                                medley_error *error);

/* The same with the scores of every term by themselves: scores[t][left rows][labels] += term t. */
medley_status md_between_scores_apart(const md_between *between, const md_expansion *terms,
                                      size_t term_count, size_t labels, float *const *scores,
                                      medley_error *error);

/* values[left rows][right rows] of one kernel, all normalisation included. Exactly symmetric where
 * left and right are the same prepared rows. */
medley_status md_between_values(const md_between *between, size_t kernel, float *values,
                                medley_error *error);

#endif
