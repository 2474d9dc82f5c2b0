/* SPDX-License-Identifier: BSD-3-Clause */
/* The seam to cards that compute kernel values. A device is a plug-in (base/plugin.h) that fills
 * md_device_functions; src/cuda is one. The processor has no row here: without a device, tiles of
 * gram/ and triangles of packed/ do the same, and are what devices are compared with.
 *
 * Plug-ins may be written in C++, so this header is both. All functions that return int return 0,
 * or what went wrong is in message[MD_DEVICE_MESSAGE]. One thread calls them at a time, but for
 * scale, which is called for several slots side by side; what it does follows what was called
 * before, and goes before what is called then. */
#ifndef MD_DEVICE_H
#define MD_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MD_DEVICE_MESSAGE = 300, MD_DEVICE_NAME = 128 };

/* ---- kernels ---- */

/* What a kernel is a function of. */
typedef enum md_device_quantity {
    MD_ON_PRODUCT,   /* <x,z> + lift(x) + lift(z) */
    MD_ON_DISTANCE2, /* max(0, |x|^2 + |z|^2 - 2 <x,z>) */
    MD_ON_L1,        /* sum |x - z| */
    MD_ON_CHI2,      /* sum (x - z)^2 / (x + z) */
    MD_ON_MINIMA     /* sum min(x, z) */
} md_device_quantity;

typedef enum md_device_map {
    MD_MAP_POWER, /* (scale q + offset)^degree */
    MD_MAP_EXP,   /* exp(scale q) */
    MD_MAP_HAT    /* max(0, 1 - scale sqrt(q)) */
} md_device_map;

/* A kernel before normalisation: map(quantity). */
typedef struct md_device_form {
    md_device_quantity quantity;
    md_device_map map;
    float scale, offset;
    int degree;
} md_device_form;

typedef struct md_device_kernel {
    md_device_form form;
    size_t view;
} md_device_kernel;

/* The kernels of a view follow one another, and so do those of them with one quantity. */
typedef struct md_device_layout {
    size_t views;
    const size_t *columns; /* [views] */
    size_t kernels;
    const md_device_kernel *kernel; /* [kernels] */
    /* The processor's threads, for copies: body(context, item, thread) for all items. For as long
     * as the bank is there. */
    void (*each)(size_t threads, size_t items, void (*body)(void *, size_t, size_t), void *context);
    size_t threads;
} md_device_layout;

/* Rows as the kernels see them. A value is
 *
 *     K(x,z) = (map(q) + shift(x) + shift(z)) factor(x) factor(z) root(x) root(z),
 *
 * and what stands before the roots is at most 1 where roots are sqrt(K(x,x)): it can be kept in
 * half precision, whatever the kernel. */
typedef struct md_device_rows {
    size_t rows;
    const float *const *view;   /* [views] of [rows][columns of the view] */
    const float *const *norm2;  /* [views] of [rows] */
    const float *const *lift;   /* [views] of [rows], NULL: 0 */
    const float *const *factor; /* [kernels] of [rows], NULL: 1 */
    const float *const *shift;  /* [kernels] of [rows], NULL: 0 */
    const float *const *root;   /* [kernels] of [rows], NULL: 1 */
    bool is_unit; /* before the roots, a row's value with itself is 1 (0 where its root is 0), and
                   * is not left to rounding */
} md_device_rows;

/* ---- scores ---- */

/* Scores are what the kernel values of columns j, the rows of a bank, are added up to:
 *
 *     scores[slot][label][j] += sum_i change[slot][label][i] sum_m weight_m K_m(x_i, x_j)
 *
 * over the kernels m of a slot: one for each of them, or one for their mixture. */
typedef struct md_device_slots {
    size_t slots, labels;
    const size_t *slot_of; /* [kernels] */
    const float *weight;   /* [kernels] */
    size_t most;           /* rows i at a time */
    size_t most_open;      /* rows that are open together; 0: none ever are */
} md_device_slots;

/* What open rows need, in memory of the device, until the next rows are opened. */
typedef struct md_device_opened {
    float *scores; /* [slots][labels][most_open] */
    /* [slots][most_open][most_open], weighted: in single precision, or, where nothing is lost by
     * that, in half precision (binary16 of IEEE 754), which is half as much to copy and to read;
     * the other one is NULL. */
    const float *values;
    const uint16_t *halves;
} md_device_opened;

typedef struct md_device_functions {
    void *context;
    char name[MD_DEVICE_NAME]; /* "NVIDIA H200" */

    void (*close)(void *context);

    /* Memory of the processor that results are copied to again and again, which may be faster then.
     * False: it cannot be, and need not be given back. */
    bool (*pin)(void *context, void *memory, size_t bytes);
    void (*unpin)(void *context, void *memory);

    /* ---- banks: rows on the card. precise: values are computed and kept in single precision, else
     * rounded to half precision, whether they are kept or not ---- */
    int (*bank_create)(void *context, void **bank, const md_device_layout *layout,
                       const md_device_rows *rows, bool precise, char *message);
    void (*bank_free)(void *bank);

    /* ---- scores of the rows of a bank, all 0 at first ---- */
    int (*scores_create)(void *bank, void **scores, const md_device_slots *slots, char *message);
    void (*scores_free)(void *scores);
    /* Rows i are rows of the bank. change[slots][labels][count], count <= most. precisely: by
     * values in single precision, whatever the bank has. */
    int (*add)(void *scores, const size_t *rows, size_t count, const float *change, bool precisely,
               char *message);
    /* Rows i are others, of which the same arrays are NULL as of the bank's rows. */
    int (*add_others)(void *scores, const md_device_rows *rows, const float *change, char *message);
    /* These rows will be opened next: values between them may be computed beforehand. */
    int (*expect)(void *scores, const size_t *rows, size_t count, char *message);
    int (*open)(void *scores, const size_t *rows, size_t count, md_device_opened *opened,
                char *message);
    /* scores[labels][rows of the bank] of a slot. */
    int (*read)(void *scores, size_t slot, float *out, char *message);
    int (*write)(void *scores, size_t slot, const float *in, char *message);
    /* Labels first .. first + count - 1 of a slot, times factor; 0 clears them. */
    int (*scale)(void *scores, size_t slot, size_t first, size_t count, float factor,
                 char *message);
    /* Of the rows of a bank that were changed: computed so far, and found among kept ones. */
    void (*count)(const void *bank, size_t *computed, size_t *found);

    /* ---- whole matrices of the rows of a precise bank without roots, for solvers that look at all
     * of them; sums are in double precision ---- */
    int (*matrices_create)(void *bank, void **matrices, char *message); /* with room for a sum */
    void (*matrices_free)(void *matrices);
    /* norm2[count] = x'Kx and y[count][rows] = Kx of some kernels, with x + i * stride; either may
     * be NULL. */
    int (*multiply)(void *matrices, const size_t *kernels, size_t count, const double *x,
                    size_t stride, double *norm2, double *y, char *message);
    /* square[kernels]: sums of the squares of all values. */
    int (*squares)(void *matrices, double *square, char *message);
    /* sum_i weight[i] K, which stays there; sum[rows][rows] gets it, too, unless it is NULL. */
    int (*sum)(void *matrices, const size_t *kernels, size_t count, const double *weight,
               double *sum, char *message);
    /* Of that sum: y = sum x, and a column. */
    int (*multiply_sum)(void *matrices, const double *x, double *y, char *message);
    int (*column)(void *matrices, size_t row, double *column, char *message);
} md_device_functions;

/* The entry of a plug-in, of this name: opens card `number`. version: MD_DEVICE_VERSION of the
 * library's, whose second number is raised whenever anything above changes. */
#define MD_DEVICE_ENTRY            "medley_cuda_open"
#define MD_DEVICE_VERSION(version) version " (cards: 2)"
typedef int md_device_entry(md_device_functions *functions, int number, const char *version,
                            char *message);

#endif
