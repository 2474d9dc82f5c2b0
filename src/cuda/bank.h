/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows on the card, and the values of their kernels. */
#ifndef MD_CUDA_BANK_H
#define MD_CUDA_BANK_H

#include "cuda/card.h"
#include <cuda_fp16.h>

/* Rows as threads see them: pointers to arrays on the card, which are there themselves. */
struct card_rows {
    const float *const *view;   /* [views] of [rows][stride[view]], padded with zeros */
    const float *const *norm2;  /* [views] */
    const float *const *lift;   /* [views] of [rows], or NULL */
    const float *const *factor; /* [kernels] of [rows], or NULL */
    const float *const *shift;  /* [kernels] of [rows], or NULL */
    const float *const *root;   /* [kernels] of [rows], or NULL */
    const unsigned *index;      /* which rows count; NULL: all of them */
    unsigned rows;
};

/* Kernels that share a quantity of a view: what a tile of threads computes at a time. */
struct card_group {
    unsigned view, stride; /* floats from row to row */
    unsigned first, end;   /* kernels */
    int sum;               /* of card_sum */
};

enum card_sum { SUM_PRODUCTS, SUM_L1, SUM_CHI2, SUM_MINIMA };

/* Memory of rows on the card that is filled again and again. */
struct card_room {
    card_rows rows;
    float **view, **norm2, **lift, **factor, **shift, **root; /* the same pointers, known here */
    float *block; /* where all of them point to, one behind the other: [size] floats */
    size_t size, room;
    float *staged[2]; /* pinned, taking turns: many small arrays are copied at a time */
    cudaEvent_t was_sent[2];
    unsigned turn;
};

struct card_bank {
    card *on;
    card_pool pool;
    bool precise, is_unit;
    bool plain_roots; /* 0 or 1 */
    unsigned views, kernels, groups;
    void (*each)(size_t, size_t, void (*)(void *, size_t, size_t), void *);
    size_t threads; /* of the processor, to copy */
    size_t rows;
    size_t stride;     /* values from kernel to kernel of a kept row: rows, rounded up */
    unsigned *columns; /* [views] of the rows as they come */
    unsigned *padded;  /* [views] of the rows on the card */
    bool *has_lift;    /* [views] */
    bool *has_factor, *has_shift, *has_root; /* [kernels] */
    md_device_kernel *kernel;                /* [kernels] of the processor */
    card_room own;
    const card_group *group;             /* [groups] on the card */
    const md_device_kernel *card_kernel; /* [kernels] on the card */

    /* kept rows: values before the roots, [kernels][stride] each */
    void **kept;                 /* [rows] on the card; NULL: not kept */
    size_t kept_rows;            /* so far */
    char *slab;                  /* memory of the next ones */
    size_t slab_left, slab_rows; /* rows in it */
    bool is_full;
    size_t computed, found;
    struct card_scores *waiting; /* whose changes are on their way, with rows that are to be kept */
};

size_t card_value_size(const card_bank *bank);
static inline size_t card_row_bytes(const card_bank *bank)
{
    return bank->kernels * bank->stride * card_value_size(bank);
}

/* In single precision, in any case. */
static inline size_t card_scratch_bytes(const card_bank *bank)
{
    return bank->kernels * bank->stride * sizeof(float);
}

/* A copy of many bytes in the processor's memory, by several threads. */
void card_copy(const card_bank *bank, void *to, const void *from, size_t bytes);

/* Room for so many rows like those of the bank. */
bool card_room_make(card_room *room, card_bank *bank, card_pool *pool, size_t rows, char *message);
void card_room_free(card_room *room); /* what the processor has of it */
bool card_room_fill(card_room *room, const card_bank *bank, const md_device_rows *rows,
                    char *message);

/* Memory for the values of a row that is to be kept; NULL: there is none left. */
void *card_bank_keep(card_bank *bank, size_t row);
/* What was to be computed was not: nothing is taken for kept any more. */
void card_bank_forget(card_bank *bank);

void card_bank_functions(md_device_functions *functions);
void card_scores_functions(md_device_functions *functions);
void card_matrices_functions(md_device_functions *functions);

/* ---- values.cu ---- */

/* Values of left rows with all rows of the bank, before the roots: place[i] is where those of left
 * row i go, [kernels][stride]. own: left rows are rows of the bank. */
bool card_values(const card_bank *bank, card_rows left, bool own, bool precise, void *const *place,
                 cudaStream_t stream, char *message);

/* The same with some rows of the bank, right.index, stride values from kernel to kernel. */
bool card_values_of(const card_bank *bank, card_rows left, card_rows right, size_t stride,
                    void *const *place, cudaStream_t stream, char *message);

/* Values of some rows of the bank with each other, with the roots and weights, added up by slots:
 * values[slot][most][most]. */
struct card_square {
    const unsigned *slot_of; /* [kernels] */
    const float *weight;     /* [kernels] */
    unsigned slots, most;
    bool mixed; /* a slot has several kernels */
    float *values;
    __half *halves; /* in place of values, where that loses nothing (card_bank_has_halves) and most
                     * is a multiple of four */
};
/* Are values times roots numbers of half precision? Where roots are 0 or 1. */
bool card_bank_has_halves(const card_bank *bank);
bool card_square_values(const card_bank *bank, const unsigned *index, unsigned rows,
                        const card_square *square, cudaStream_t stream, char *message);

#endif
