/* SPDX-License-Identifier: BSD-3-Clause */
/* Mercer kernels. Every kernel here is a scalar function of one quantity of two rows: their dot
 * product, their squared distance, or a sum over columns of its own (|x-z|, (x-z)^2/(x+z), min).
 * So a tile of products serves all kernels of a view, and a kernel is one file: its parameters, a
 * vectorised map, and where it applies a rule that chooses parameters from the data.
 *
 * A kernel is one file and one line in kernels.def. */
#ifndef MD_KERNEL_H
#define MD_KERNEL_H

#include "device/device.h"
#include "param/param.h"

typedef enum md_quantity {
    MD_DOT,       /* q = <x, z> */
    MD_DISTANCE2, /* q = ||x - z||^2 */
    MD_PAIRED     /* q = pair_sum(x, z) */
} md_quantity;

/* What a kernel may look at to choose its parameters: q over pairs of different training rows. */
typedef struct md_pair_statistics {
    double mean;         /* exact for squared distances, else over the sample */
    const float *sorted; /* [count] a sample of q, ascending; NULL unless needs_quantiles */
    size_t count;
} md_pair_statistics;

typedef struct md_kernel_class {
    const char *name, *summary, *formula;
    md_quantity quantity;
    const md_param *params;
    size_t state_size;
    bool positive_definite; /* K is PSD for every data set */
    bool nonnegative_data;  /* defined for values >= 0 only */
    bool often_zero;        /* most values may be exactly 0: worth sparse storage */
    bool constant;          /* one value for every pair of rows, whatever the view */
    bool has_primal_form;   /* one weight for each column says the same as one for each row */
    bool needs_quantiles;   /* choose looks at statistics->sorted, not only at the mean */

    /* out[j] = k(q[j]); out may be q. */
    void (*map)(const void *state, const float *q, float *out, size_t count);

    /* The same in double precision; out may be q. */
    void (*exact)(const void *state, const double *q, double *out, size_t count);

    /* MD_PAIRED only: the sum over columns, and 0 for two zero columns; and in double precision. */
    float (*pair_sum)(const float *x, const float *z, size_t columns);
    double (*exact_pair_sum)(const float *x, const float *z, size_t columns);

    /* The same for cards. NULL: they have no such kernel. */
    void (*form)(const void *state, md_device_form *form);

    /* Checks the parameters and prepares the state for map. needs_data tells whether choose must
     * be called with statistics first; NULL: nothing to check. */
    medley_status (*prepare)(void *state, bool *needs_data, medley_error *error);

    /* Sets the parameters that were left to the data; then map is ready. NULL: never needed. */
    medley_status (*choose)(void *state, const md_pair_statistics *statistics, medley_error *error);
} md_kernel_class;

#define MD_KERNEL(name) extern const md_kernel_class md_kernel_##name;
#include "kernel/kernels.def"
#undef MD_KERNEL
extern const md_kernel_class *const md_kernels[]; /* NULL-terminated */
const md_kernel_class *md_kernel_find(const char *name);

/* out[j] = exp(x), x = factor * q[j] rounded to float: relative error below 2e-7, 0 below exp(-87),
 * never more than exp(88); out may be q. */
void md_exp_scaled(const float *q, float *out, size_t count, double factor);

/* The nearest finite float: an infinite factor would make 0 * factor undefined. */
float md_float_factor(double factor);

/* The map of kernels that are their quantity. */
void md_exact_identity(const void *state, const double *q, double *out, size_t count);
void md_map_identity(const void *state, const float *q, float *out, size_t count);

void md_form_identity(const void *state, md_device_form *form);

/* A number chosen from the data, to six digits: it is an estimate, and names stay readable. */
double md_round_choice(double value);

/* ---- exponential.c: what kernels exp(-gamma q) of a distance q share ---- */

/* One of sigma, sigma2, gamma or auto; the default is auto. */
typedef struct md_exponential {
    double sigma, sigma2, gamma; /* NaN: not given */
    bool automatic;
    double factor; /* -gamma */
} md_exponential;

extern const md_param md_exponential_params[];

/* Slots; prepare is told the kernel's name for its message. */
medley_status md_exponential_prepare(md_exponential *state, const char *kernel, bool *needs_data,
                                     medley_error *error);
void md_exponential_map(const void *state, const float *q, float *out, size_t count);
void md_exponential_exact(const void *state, const double *q, double *out, size_t count);
void md_exponential_form(const void *state, md_device_form *form); /* of a squared distance */

#endif
