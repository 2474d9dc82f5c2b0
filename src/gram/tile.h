/* SPDX-License-Identifier: BSD-3-Clause */
/* Kernel values by tiles: for a block of left rows against a block of right rows, one matrix
 * product per view serves all its kernels. Bytes: each tile of products stays in cache, so what
 * moves is the inputs and the results. Everything that needs kernel values goes through here. */
#ifndef MD_TILE_H
#define MD_TILE_H

#include "gram/prepared_rows.h"
#include "medley/observer.h"

enum { MD_TILE = 256 }; /* rows and columns of a tile: 256 KB of products */

typedef struct md_tile_values {
    size_t row, column, rows, columns;
    const float *values; /* [rows][stride] */
    size_t stride;
} md_tile_values;

/* Where the values of kernel m at (row, column) go: *stride floats from row to row. NULL: the
 * values are kept in scratch memory and only shown to take. */
typedef struct md_tile_sink {
    void *context;
    float *(*place)(void *context, size_t m, size_t row, size_t column, size_t *stride);
    /* Called when a tile of kernel m is complete; may be NULL. */
    void (*take)(void *context, size_t m, const md_tile_values *tile);
} md_tile_sink;

typedef struct md_tile_scratch {
    float *products; /* [MD_TILE][MD_TILE] */
    float *values;   /* [MD_TILE][MD_TILE] */
    float *pairs;    /* sparse rows of paired kernels, densified */
    size_t pairs_length;
} md_tile_scratch;

/* One for each thread, in the pool. */
medley_status md_tile_scratch_make(md_pool *pool, md_tile_scratch **scratch, size_t threads,
                                   const md_bank *bank, const md_prepared *right,
                                   medley_error *error);

typedef struct md_tile_range {
    size_t row, rows, column, columns; /* rows, columns <= MD_TILE */
    size_t first_kernel, end_kernel;   /* of the bank; end 0: all */
    bool symmetric;                    /* left and right are the same prepared rows */
} md_tile_range;

/* Computes one tile of every kernel m with wanted[m] (NULL: all but explicit ones), normalised but
 * for centring, into the sink. columns_of: right row of each column for precomputed kernels, NULL:
 * the identity. */
typedef struct md_tile_job {
    const md_bank *bank;
    const md_prepared *left, *right;
    const size_t *columns_of;
    const bool *wanted;
    const md_tile_sink *sink;
} md_tile_job;

void md_tile_compute(const md_tile_job *job, md_tile_range range, md_tile_scratch *scratch);

/* The same for all columns from range.column on, tile by tile. */
void md_tile_compute_rows(const md_tile_job *job, md_tile_range range, md_tile_scratch *scratch);

/* ---- triangle.c ---- */

enum { MD_MANY_TILES = 64 }; /* enough to keep every thread busy */

/* All tiles on and above the diagonal, of each group of kernels. */
typedef struct md_triangle {
    md_tile_job job;          /* left and right are the same prepared rows */
    md_tile_scratch *scratch; /* [threads] */
    size_t *group_start;      /* [groups + 1] first kernel of each */
    size_t groups;
    size_t first; /* tile of the present batch */
} md_triangle;

/* Groups the kernels with counted[m] (NULL: all): all of them where tiles are many, otherwise as a
 * rule those of one view. group_start has room for all kernels and one more. */
void md_triangle_group(md_triangle *triangle, const bool *counted);
size_t md_triangle_items(const md_triangle *triangle); /* tiles of all groups */

/* Computes them, so many between reports of progress; false: the observer wants to stop. */
bool md_triangle_compute(md_triangle *triangle, size_t threads, size_t batch,
                         const medley_observer *observer, double began);

/* Copies a tile on or above the diagonal of values[n][n] (where it stands already) to below it, in
 * squares that follow one another along the rows that are written: what is then stored is exactly
 * symmetric. */
void md_tile_mirror(float *values, size_t n, const md_tile_values *tile);

/* ---- full.c: whole matrices of rows with themselves, not centred ---- */

typedef struct md_full_job {
    const md_bank *bank;
    const md_prepared *prepared;
    float **full;             /* [kernels] each [rows][rows], or NULL: it is not wanted */
    md_tile_scratch *scratch; /* [threads] */
    size_t threads;
    const medley_observer *observer;
    double began;
} md_full_job;

/* MEDLEY_STOPPED: the observer wants to stop. */
medley_status md_full_compute(md_full_job *job, medley_error *error);

bool md_report_kernels(const medley_observer *observer, size_t done, size_t total, double began);

#endif
