/* SPDX-License-Identifier: BSD-3-Clause */
/* Kernels on the fly. deferred scores keeps, for every kernel whose matrix is not kept, the scores
 *
 *     S[label][j] = sum_i A[label][i] K(x_i, x_j)
 *
 * of all training rows j while A changes at one row after the other. What is read next is known
 * beforehand: the open rows, whose scores are exact until they have been visited. A change at an
 * open row is entered at once for the open rows and flushed for all other rows later, together with
 * many others, as one product of kernel values with changes; kernels of a view share their dot
 * products. So every kernel row is computed when and as often as its row has changed, at the speed
 * of matrix products, and never for rows that are only looked at. Rows that change often are kept
 * as far as memory goes.
 *
 * Bytes and flops of flushing c changed rows against n rows of d columns, f kernels, L labels:
 * reads 4 n d, reads and writes 8 n L f; 2 c n d products, c n f maps, 2 c n L f to add up. */
#ifndef MD_DEFERRED_H
#define MD_DEFERRED_H

#include "gram/gram.h"

typedef struct md_deferred md_deferred;

typedef struct md_deferred_options {
    size_t labels;
    size_t longest; /* rows that must be open together */
    size_t memory;  /* bytes for open and kept rows; 0: no limit */
} md_deferred_options;

/* For the kernels of gram that md_gram_is_kept says are not. gram must outlive the deferred scores.
 */
medley_status md_deferred_create(md_deferred **deferred, md_gram *gram,
                                 const md_deferred_options *options, medley_error *error);
void md_deferred_free(md_deferred *deferred);
MD_OWNER(md_deferred_free, md_deferred)

/* Opens a slot for kernel m: score[labels][rows] is kept up to date from here on, and holds
 * zeros now. Until it is closed there is no other for the same kernel. */
medley_status md_deferred_attach(md_deferred *deferred, size_t m, float *score,
                                 medley_error *error);
void md_deferred_detach(md_deferred *deferred, size_t m);

/* Rows that may be open, at most. */
size_t md_deferred_open_most(const md_deferred *deferred);

/* The rows that are looked at and changed next, each once. Flushes what has come together. */
medley_status md_deferred_open(md_deferred *deferred, const size_t *rows, size_t count,
                               medley_error *error);

/* The rows that will be opened after these, if that is known: a card computes their values while
 * these are looked at. */
medley_status md_deferred_expect(md_deferred *deferred, const size_t *rows, size_t count,
                                 medley_error *error);

/* A round begins with this row: scores of the rows that were opened before it may be stale from now
 * on. For a row that is not open those of all open rows stay exact. */
void md_deferred_visit(md_deferred *deferred, size_t row);

/* Flushes everything: score is then exact for all rows, and none is open. */
medley_status md_deferred_close(md_deferred *deferred, medley_error *error);

/* Where the scores of a row are: *stride floats from label to label. Those of an open row that was
 * visited may be stale. */
const float *md_deferred_scores(const md_deferred *deferred, size_t m, size_t row, size_t *stride);

typedef struct md_label_change {
    size_t label;
    float change;
} md_label_change;

/* A[label][row] += change for each of the changes, whose labels are different; the row is open.
 * Slots may be changed side by side. */
void md_deferred_add(md_deferred *deferred, size_t m, size_t row, const md_label_change *changes,
                     size_t count);

/* That the values which such a change needs are asked for beforehand. */
void md_deferred_prefetch(const md_deferred *deferred, size_t m, size_t row);

/* Where an open row stands among the open rows, which are in the order in which they were opened;
 * SIZE_MAX: it is not open. */
size_t md_deferred_place(const md_deferred *deferred, size_t row);

/* The scores of the open rows from this place on, as md_deferred_scores gives them. */
const float *md_deferred_open_scores(const md_deferred *deferred, size_t m, size_t place,
                                     size_t *stride);

/* Another number whenever something was done to scores of open rows, or to which rows are open. */
size_t md_deferred_version(const md_deferred *deferred);

/* K(row, other), both open. */
float md_deferred_entry(const md_deferred *deferred, size_t m, size_t row, size_t other);

/* A = 0, or for one label only; score is left as it is, and to be cleared by its owner. */
void md_deferred_forget(md_deferred *deferred, size_t m);
void md_deferred_forget_label(md_deferred *deferred, size_t m, size_t label);

/* What has not been flushed yet, times factor: the owner does the same to A and score. */
void md_deferred_rescale(md_deferred *deferred, size_t m, float factor);

/* A was replaced by coefficient[labels][rows], times gain, borrowed until the deferred scores is
 * closed, which computes the scores of all slots that were replaced together. */
void md_deferred_replace(md_deferred *deferred, size_t m, const float *coefficient, float gain);

/* score was filled by its owner with what rows bring in that are not here; no row is open. */
void md_deferred_continue(md_deferred *deferred, size_t m);

/* Rows that were computed, and those that were found among the kept ones. */
typedef struct md_deferred_counts {
    size_t computed, found;
} md_deferred_counts;
md_deferred_counts md_deferred_count(const md_deferred *deferred);

#endif
