/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the files of the gram module. */
#ifndef MD_GRAM_INTERNAL_H
#define MD_GRAM_INTERNAL_H

#include "gram/gram.h"
#include "gram/tile.h"

/* How one kernel's values are kept: one of full, sparse, or neither (rows through the window). */
typedef struct md_stored {
    float *full;      /* [n][n] */
    md_matrix sparse; /* start != NULL if used */
    double *diagonal; /* [n] */
} md_stored;

/* Rows computed ahead of their use. */
typedef struct md_window {
    size_t capacity;  /* rows */
    size_t *row;      /* [capacity] which row each slot holds */
    size_t *slot;     /* [n] slot + 1 of a row, 0: not here */
    size_t used;      /* slots in use */
    float *values;    /* [streamed kernels][capacity][n] */
    size_t *place;    /* [count] position of a kernel among the streamed ones */
    bool *wanted;     /* [count] is streamed */
    size_t kernels;   /* streamed ones */
} md_window;

struct md_gram {
    md_bank *bank;
    const md_points *points;
    size_t n, count, threads;
    const medley_observer *observer;
    double began;
    bool streamed;
    size_t bytes;
    md_stored *stored;        /* [count] */
    md_window window;
    md_tile_scratch *scratch; /* [threads] */
    double *mix;              /* [count] weights of the mixture, or NULL */
};

const float *md_gram_row(md_gram *gram, size_t m, size_t row);
void md_gram_multiply_rows(md_gram *gram, size_t m, float factor, const float *coefficient,
                           size_t labels, size_t row, size_t count, float *out);

medley_status md_gram_learn_means(md_kernel *kernel, const double *sums, size_t n,
                                  medley_error *error);
/* values[count] of one row against training rows 0..count-1. */
void md_center_row(const md_kernel *kernel, float *values, size_t count, double row_mean);

/* sparse.c: keeps the kernels that are mostly zero as sparse matrices. */
medley_status md_gram_build_sparse(md_gram *gram, size_t memory, medley_error *error);

/* window.c */
medley_status md_gram_window_init(md_gram *gram, const bool *streamed, size_t memory,
                                  medley_error *error);
void md_gram_window_clear(md_gram *gram);
const float *md_gram_window_row(md_gram *gram, size_t m, size_t row);

#endif
