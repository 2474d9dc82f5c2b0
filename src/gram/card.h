/* SPDX-License-Identifier: BSD-3-Clause */
/* Kernels of a bank on a card (device/device.h): prepared rows in the form that cards take, and
 * what is asked of them. */
#ifndef MD_CARD_H
#define MD_CARD_H

#include "device/open_device.h"
#include "gram/prepared_rows.h"

typedef struct md_card md_card;

typedef struct md_card_wish {
    const md_bank *bank;
    const md_prepared *rows;
    const bool *wanted;            /* [kernels] */
    const double *const *diagonal; /* [kernels] K(x,x) of the rows, so that values can be kept in
                                    * half precision; NULL: they are in single precision */
    bool precise;                  /* in any case */
    bool raw;                      /* values are not centred */
    double memory;                 /* of the processor, a part of which sparse views may take that
                                    * are written out; 0: no limit of its own */
} md_card_wish;

/* Can a card compute the kernels? If not, why, as an error. */
medley_status md_card_check(const md_card_wish *wish, medley_error *error);

/* Multiplications for all pairs of rows and other rows, roughly. */
double md_card_work(const md_bank *bank, const bool *wanted, size_t rows, size_t other_rows);

/* Rows and wanted kernels on a card. */
medley_status md_card_create(md_card **card, const md_device *device, const md_card_wish *wish,
                             medley_error *error);
void md_card_free(md_card *card);
MD_OWNER(md_card_free, md_card)

size_t md_card_kernels(const md_card *card);
/* The number of a kernel among those of the card; SIZE_MAX: it is not there. */
size_t md_card_place(const md_card *card, size_t kernel);
void md_card_count(const md_card *card, size_t *computed, size_t *found);

/* Learns the means of those wanted kernels that are centred into the bank. */
medley_status md_card_learn_means(md_bank *bank, const md_device *device, const md_prepared *rows,
                                  const bool *wanted, medley_error *error);

/* The matrices of all its kernels: of a card without diagonals. */
medley_status md_card_matrices(md_device_matrices **matrices, const md_card *card,
                               medley_error *error);

/* Scores of the rows: by kernel, in the order of the card, or mixed by weight[kernels of the bank].
 * most: changed rows at a time, at most that many, fewer where kernels and labels are many. */
medley_status md_card_scores(md_device_scores **scores, const md_card *card, size_t labels,
                             const double *weight, size_t most_open, size_t *most,
                             medley_error *error);

/* sum[kernel of the card][row] = sum_j K(row, j) over all rows. */
medley_status md_card_row_sums(const md_card *card, float *sum, medley_error *error);

/* Adds coefficient[kernel of the card][labels][other rows] times the values of other rows, which
 * are prepared for the same bank. */
medley_status md_card_add_others(const md_card *card, md_device_scores *scores, size_t most,
                                 const md_prepared *others, const float *coefficient, size_t labels,
                                 medley_error *error);

#endif
