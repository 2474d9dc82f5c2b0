/* SPDX-License-Identifier: BSD-3-Clause */
/* A bank: the kernels of a run, each with its view, parameters and normalisation. It is made once,
 * from training data; what was learnt from them (widths, scalings, traces, means) stays in it, so
 * that new prepared rows are treated as training prepared rows were. */
#ifndef MD_BANK_H
#define MD_BANK_H

#include "kernel/kernel.h"
#include "view/known_tables.h"
#include "view/view.h"

typedef enum md_norm {
    MD_NORM_NONE,
    MD_NORM_DIAG,  /* K(x,z) / sqrt(K(x,x) K(z,z)) */
    MD_NORM_TRACE, /* K / sum_i K(x_i,x_i) over training rows */
    MD_NORM_CENTER /* features minus their training mean */
} md_norm;
extern const char *const md_norm_names[]; /* "none", "diag", "trace", "center", NULL */

typedef struct md_kernel {
    const md_kernel_class *class; /* NULL: precomputed values */
    void *state;                  /* of class */
    char *name;                   /* canonical spec with its view: "rbf(sigma2=5)@all" */
    size_t view; /* index into the bank's views; of dataset->grams if precomputed */
    md_norm norm;
    bool explicit_weights; /* linear only: a block of weights, not a kernel expansion, by request */
    bool primal;           /* linear only: the same by our choice, since it is cheaper */
    bool sound;            /* precomputed only: known to be positive semi-definite */
    bool is_distance;      /* precomputed only: values are exp(-d / gamma) of distances d */

    /* learnt from the training rows: */
    double factor;      /* trace: 1 / trace; else 1 */
    double gamma;       /* of distances: their mean */
    float *column_mean; /* center: [training rows] mean over i of K(x_i, x_j) */
    double grand_mean;  /* center: mean of all values */
} md_kernel;

typedef struct md_bank {
    md_view *views;
    size_t view_count;
    float **origin; /* [view_count] training mean subtracted before products, or NULL */
    md_kernel *kernels;
    size_t count;
    size_t training_rows;
    size_t threads;         /* for preparing rows; 0: one */
    md_known_tables tables; /* of the training data: new data are put into their order */
} md_bank;

typedef struct md_bank_options {
    char *const *kernels; /* specs, NULL-terminated; NULL: the default bank */
    const char *views;    /* "all", "each", ... */
    char *const *scale;   /* "standard", "VIEW=minmax", ...; NULL: all as usual */
    md_scale usual_scale; /* of views that scale does not speak of */
    md_norm normalize;    /* for kernels that do not say norm= themselves */
    uint64_t seed;        /* of the pairs looked at by auto */
    size_t threads;       /* 0: one */
    bool primal;          /* linear kernels of few columns may be kept as weights */
} md_bank_options;

/* Has one weight per column and label, so that no kernel values are needed. */
static inline bool md_kernel_has_weights(const md_kernel *kernel)
{
    return kernel->explicit_weights || kernel->primal;
}

void md_bank_clear(md_bank *bank);

/* Expands specs over views and chooses the data-dependent parameters. Does not compute Gram
 * matrices: traces and means are learnt with the prepared rows (md_prepared). */
medley_status md_bank_make(md_bank *bank, const medley_dataset *dataset,
                           const md_bank_options *options, medley_error *error);

/* Only the kernels named in keep[count], in that order, and the views they need: what a model
 * stores. The original stays as it is. */
medley_status md_bank_subset(md_bank *subset, const md_bank *bank, const size_t *keep, size_t count,
                             medley_error *error);

/* The kernel that a canonical name describes, ready for use (for readers of model files): nothing
 * may be left to the data. The view is not looked at. */
medley_status md_kernel_from_name(md_kernel *kernel, const char *name, medley_error *error);

void md_kernel_clear(md_kernel *kernel);

#endif
