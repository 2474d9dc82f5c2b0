/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the files of the fake card (fake_card.c). */
#ifndef TESTS_DEVICE_FAKE_CARD_H
#define TESTS_DEVICE_FAKE_CARD_H

#include "device/device.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FAKE_PINS = 64 };

typedef struct fake_card {
    bool lacks_memory, lacks_scores;
    long healthy_calls; /* before it is lost; negative: it never is */
    atomic_long calls;
    void *pinned[FAKE_PINS];
    size_t pinned_count;
} fake_card;

typedef struct fake_bank {
    fake_card *card;
    pthread_t thread; /* that uses it */
    bool precise;
    size_t views, kernels;
    size_t *columns; /* [views] */
    md_device_kernel *kernel;
    md_device_rows own;
    float **kept; /* [rows] of [kernels][rows] values before the roots; NULL: not yet */
    size_t computed, found;
} fake_bank;

/* ---- fake_card.c ---- */

/* Who breaks the contract is told so, and that is the end. */
void fake_demand(bool holds, const char *what);
/* Zeros; there is memory for a test. */
void *fake_array(size_t count, size_t size);
void *fake_copy(const void *from, size_t count, size_t size); /* NULL of NULL */

/* A call that can fail; true: it does. */
bool fake_is_lost(fake_card *card, char *message);
/* The same of a call that only one thread makes. */
bool fake_fails(const fake_bank *bank, char *message);
int fake_needs_memory(char *message); /* 1 */

/* ---- fake_bank.c ---- */

void fake_bank_functions(md_device_functions *functions);

static inline double fake_value_at(const float *const *arrays, size_t at, size_t row,
                                   double fallback)
{
    return arrays[at] != NULL ? (double)arrays[at][row] : fallback;
}

/* Have other rows what those of the bank have? */
void fake_check_others(const fake_bank *bank, const md_device_rows *others);
/* [kernels][rows] of left row i before the roots, rounded as they are kept. own: of the bank. */
void fake_fill_values(const fake_bank *bank, const md_device_rows *left, size_t i, bool own,
                      float *out);
/* The same of a row of the bank, computed once. */
const float *fake_kept_row(const fake_bank *bank, size_t row);

/* ---- fake_scores.c ---- */

void fake_scores_functions(md_device_functions *functions);

/* ---- fake_matrices.c ---- */

void fake_matrices_functions(md_device_functions *functions);

#endif
