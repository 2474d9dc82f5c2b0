/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the files of the packed grams. */
#ifndef MD_PACKED_INTERNAL_H
#define MD_PACKED_INTERNAL_H

#include "comm/comm.h"
#include "gram/card.h"
#include "gram/tile.h"
#include "packed/packed.h"
#include "packed/triangle_loops.h"

/* One kernel as F'F + E: F[rank][n], and an upper bound of the largest eigenvalue of E. */
typedef struct md_factor {
    const float *values; /* NULL: has none */
    size_t rank;
    double slack;
} md_factor;

/* One kernel as F'F + ridge I in double precision: F[rank][n]. */
typedef struct md_lowrank {
    double *values; /* NULL: not in memory */
    size_t rank;    /* 0: the kernel has values, not a factor */
    double ridge;
} md_lowrank;

typedef struct md_packed_card md_packed_card; /* packed_card.c */

struct md_packed {
    md_pool pool; /* of arrays whose size does not change */
    md_bank *bank;
    md_prepared prepared;      /* a shallow copy, but for transposed */
    md_matrix *transposed;     /* [view_count] those that prepared rows lack */
    md_matrix *all_transposed; /* [view_count] shallow: those of prepared rows and these */
    size_t n, count, threads;
    double ridge;
    const double *weight; /* [count], or NULL */
    const medley_observer *observer;
    double began;

    const md_triangle_loops *loops;
    size_t size;  /* values of a triangle */
    size_t bytes; /* of a triangle and zeros after it, whole cache lines */

    size_t length;       /* of vectors for loops over triangles: n and a few more */
    size_t blocks;       /* into which the rows of a triangle are cut, of about the same size */
    size_t *block_start; /* [blocks + 1] first row of each */
    size_t chunks;       /* the same, smaller: a chunk of a sum stays in cache */
    size_t *chunk_start; /* [chunks + 1] */

    char *resident; /* [residents] triangles of kernels 0, 1, ... */
    size_t residents;
    bool *permanent; /* [count] among the residents, or kept as a factor */
    char *loaded;    /* [load_capacity] triangles of the kernels of one batch */
    size_t load_capacity;
    void **values; /* [count] where each kernel's triangle is, NULL: not in memory */
    bool *held;    /* [count] values[m] is an array of its own */
    size_t held_count, held_most;

    /* Several ranks (packed_ranks.c). */
    medley_comm *comm; /* NULL: alone */
    size_t rank, ranks;
    size_t *owner;     /* [count] rank of each kernel; only that one has values or a factor */
    double **shared;   /* [count] factors that all ranks have, NULL: not this one */
    size_t share_most; /* bytes of those, about; 0: no limit */
    bool is_resident;  /* all kernels are in memory, on all ranks */

    /* Kernels by rows (packed_rows.c): those that are not held are computed some rows at a time. */
    bool by_rows;
    char *slices; /* [slices_bytes] scratch: kept, since fresh pages are slow */
    size_t slices_bytes;
    double *parts; /* [parts_count] the same */
    size_t parts_count;
    double **means;   /* [count] of the rows of centred kernels, [n] each; NULL: not centred */
    double *grand;    /* [count] mean of these */
    double *diagonal; /* [count] what the ridge adds to the diagonal */

    md_packed_card *card; /* has the matrices of all kernels that are no factors; NULL: there is
                           * none. Otherwise it is by rows, and there are no triangles. */

    double *trace, *spread; /* [count] */
    double *frobenius2;     /* [count] squared norm of the matrix */
    md_lowrank *lowrank;    /* [count], or NULL */
    size_t lowrank_bytes;
    bool only_known;       /* factors are not searched for: only linear and constant kernels */
    size_t most_rank;      /* of a factor, for the budget: where there are many rows */
    md_factor *factors;    /* [count], or NULL */
    float **factor_arrays; /* that these lie in */
    size_t factor_array_count, factor_array_capacity, factor_bytes;

    bool *wanted;             /* [count] scratch: kernels of a load */
    size_t *group_start;      /* [count + 1] scratch: groups of kernels of a load */
    md_tile_scratch *scratch; /* [threads] */
    double *sums;             /* [sums_count] scratch of sums: kept, since fresh pages are slow */
    size_t sums_count;
};

static inline size_t md_chosen_kernel(md_chosen chosen, size_t i)
{
    return chosen.kernels ? chosen.kernels[i] : i;
}

static inline bool md_packed_is_own(const md_packed *packed, size_t m)
{
    return packed->owner[m] == packed->rank;
}

/* So many triangles were computed or looked at. */
static inline void md_packed_note(const md_packed *packed, size_t kernels)
{
    md_comm_note_work(packed->comm, (double)kernels * (double)packed->size);
}

/* What values are multiplied by, 1 / d^2: then ||a||^2 is that of d times the vector which a model
 * of these kernels scores with, and a penalty of such norms is Omega(d b). */
static inline double md_packed_scale(const md_packed *packed, size_t m)
{
    return packed->weight != NULL ? 1 / (packed->weight[m] * packed->weight[m]) : 1;
}

/* A factor in place of values. */
static inline bool md_packed_is_lowrank(const md_packed *packed, size_t m)
{
    return packed->lowrank[m].rank > 0;
}

/* Threads for a pass over so many values: one if waking the others would take longer. */
size_t md_packed_threads(const md_packed *packed, size_t values);

/* Sizes, room for what is known of each kernel, and the rows of triangles cut into blocks and
 * chunks; n, count and packed are known. */
medley_status md_packed_init(md_packed *packed, medley_error *error);

/* wanted[m]: is kernel m among the chosen ones? */
void md_packed_want(md_packed *packed, md_chosen chosen);

/* ---- packed_load.c ---- */

/* Computes the triangles of kernels[count] (all different) at packed grams->values[m]. learn: also
 * means, traces and spreads. */
medley_status md_packed_load(md_packed *packed, const size_t *kernels, size_t count, bool learn,
                             medley_error *error);

/* Zeros after the triangle of kernel m. */
void md_packed_end_triangle(const md_packed *packed, size_t m);

/* From the sums of the rows of the whole matrix, and its norm. */
void md_packed_learn_spread(md_packed *packed, size_t m, const double *sums);

/* Tells the observer, and fails if it wants to stop. */
medley_status md_packed_report(const md_packed *packed, size_t done, medley_error *error);

/* ---- packed_lowrank.c ---- */

/* Which kernels are factors; they stay in memory as far as half of it (0: no limit) does. */
medley_status md_packed_find_lowrank(md_packed *packed, size_t memory, medley_error *error);

/* norm2[i] = x'Kx and y[i] = Kx (NULL: not wanted) of those of the chosen kernels that are factors.
 */
medley_status md_packed_lowrank_product(md_packed *packed, md_chosen chosen, const double *x,
                                        size_t stride, double *norm2, double *y,
                                        medley_error *error);
/* sum += weight[i] K, upper triangle. */
medley_status md_packed_lowrank_add(md_packed *packed, md_chosen chosen, const double *weight,
                                    double *sum, medley_error *error);
/* The factor of one of its own kernels to values[rank][n]. */
medley_status md_packed_copy_factor(md_packed *packed, size_t m, double *values,
                                    medley_error *error);
/* Computes factors that are not in memory. */
medley_status md_packed_load_lowrank(md_packed *packed, const size_t *kernels, size_t count,
                                     medley_error *error);

/* ---- packed_exact.c ---- */

/* Computes triangles of doubles, not yet finished. */
medley_status md_packed_load_exact(md_packed *packed, const size_t *kernels, size_t count,
                                   medley_error *error);

/* ---- packed_factor.c ---- */
void md_packed_forget_factors(md_packed *packed);

/* Steps of Cholesky's method with pivoting: the row with the largest remaining diagonal; and from
 * the remaining values of that row, in row[n], the next row of the factor and the diagonal that is
 * left. Returns its trace. */
size_t md_packed_pivot(const double *diagonal, size_t n);
double md_packed_eliminate(double *row, double *diagonal, size_t pivot, size_t n);

/* ---- packed_walk.c ---- */

/* Some kernels of a call whose triangles are all in memory. */
typedef struct md_packed_batch {
    md_packed *packed;
    size_t count;
    const size_t *place;       /* [count] in the lists of the call */
    const void *const *values; /* [count] triangles */
    medley_error *error;
} md_packed_batch;

typedef medley_status (*md_packed_visit)(void *context, const md_packed_batch *batch);

/* Calls visit with batches that together make up the chosen kernels, but for those with skip[i]
 * (NULL: none): first those that are in memory, then the others as they are computed. */
medley_status md_packed_walk(md_packed *packed, md_chosen chosen, const bool *skip,
                             md_packed_visit visit, void *context, medley_error *error);

/* ---- packed_ranks.c ---- */

/* Which rank has which kernel. */
medley_status md_packed_divide(md_packed *packed, medley_comm *comm, medley_error *error);
/* values[chosen][width], of which those of its own kernels are filled: all ranks get all. */
medley_status md_packed_exchange(const md_packed *packed, md_chosen chosen, double *values,
                                 size_t width, medley_error *error);
/* The upper triangle of sum[n][n] becomes its sum over ranks. */
medley_status md_packed_sum_ranks(const md_packed *packed, double *sum, medley_error *error);
/* Traces, spreads, norms, ranks and means of all kernels. */
medley_status md_packed_share_facts(md_packed *packed, medley_error *error);
/* The factors of the chosen kernels, for all ranks; others that were shared go. */
medley_status md_packed_share_factors(md_packed *packed, md_chosen chosen, medley_error *error);
void md_packed_drop_shared(md_packed *packed);

/* ---- packed_rows.c ---- */

/* Rows [row, end) of some kernels of a call, on and above the diagonal. */
typedef struct md_packed_slice {
    size_t block, worker; /* slices of a block come in order, and from one worker */
    bool first;           /* of its block */
    size_t row, end;
    size_t place, count;       /* kernels place .. place + count - 1 of the list of the call */
    const void *const *values; /* [count] triangles that have these rows, and perhaps no others */
} md_packed_slice;

typedef void (*md_packed_use_rows)(void *context, const md_packed_slice *slice);

/* Calls use with all rows of kernels[count], which have values. Kernels that are not in memory are
 * computed for it, `most` kernels (0: any number) or fewer at a time; raw: as they are before
 * centring, weights and the ridge. end (may be NULL) is called after each group of kernels, with
 * the same place and count, and no rows. */
medley_status md_packed_each_slice(md_packed *packed, const size_t *kernels, size_t count,
                                   size_t most, bool raw, md_packed_use_rows use,
                                   md_packed_use_rows end, void *context, medley_error *error);

/* Room for parts of results, until the next call. */
medley_status md_packed_parts(md_packed *packed, size_t count, double **parts, medley_error *error);

/* How the rows are divided: blocks, whose results are added in order. */
size_t md_packed_row_blocks(const md_packed *packed);
size_t md_packed_row_block_start(const md_packed *packed, size_t block);
/* Values that a slice has at most. */
size_t md_packed_slice_values(const md_packed *packed);

/* Triangles at values[m], as md_packed_load. */
medley_status md_packed_load_by_rows(md_packed *packed, const size_t *kernels, size_t count,
                                     medley_error *error);
/* What is known of each kernel; those with values[m] (arrays that are empty yet) are kept. */
medley_status md_packed_build_by_rows(md_packed *packed, medley_error *error);

/* ---- packed_rows_product.c: of those of the chosen kernels that are no factors ---- */
medley_status md_packed_rows_product(md_packed *packed, md_chosen chosen, const double *x,
                                     size_t stride, double *norm2, double *y, medley_error *error);
/* sum += weight[i] K, upper triangle of [n][n]. */
medley_status md_packed_rows_add(md_packed *packed, md_chosen chosen, const double *weight,
                                 double *sum, medley_error *error);

/* ---- packed_card.c: the same as packed_rows.c has, and sums for mixtures ---- */
medley_status md_packed_card_create(md_packed *packed, const md_device *device,
                                    medley_error *error);
void md_packed_card_free(md_packed_card *card);
medley_status md_packed_card_product(md_packed *packed, md_chosen chosen, const double *x,
                                     size_t stride, double *norm2, double *y, medley_error *error);
medley_status md_packed_card_add(md_packed *packed, md_chosen chosen, const double *weight,
                                 double *sum, medley_error *error);
/* The sum stays there, but for *diagonal, which is the same in all its rows. */
medley_status md_packed_card_set(md_packed *packed, md_chosen chosen, const double *weight,
                                 double *diagonal, medley_error *error);
medley_status md_packed_card_multiply(md_packed *packed, const double *x, double *y,
                                      medley_error *error);
medley_status md_packed_card_column(const md_packed *packed, size_t row, double *column,
                                    medley_error *error);

/* ---- packed_product.c ---- */

/* norm2[i] = x'Kx or y[i] = Kx, the other one is NULL, of those chosen kernels that are its own. */
medley_status md_packed_own_products(md_packed *packed, md_chosen chosen, const double *x,
                                     size_t stride, double *norm2, double *y, medley_error *error);

/* norm2[i] = x'Kx and y[i][n] = Kx, of a batch, for vectors x + i * stride. */
medley_status md_packed_batch_norms2(const md_packed_batch *batch, const double *x, double *norm2);
medley_status md_packed_batch_multiply(const md_packed_batch *batch, const double *x, size_t stride,
                                       double *y);

#endif
