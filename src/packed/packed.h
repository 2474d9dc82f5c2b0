/* SPDX-License-Identifier: BSD-3-Clause */
/* A packed grams: the training matrices of all kernels of a bank as packed upper triangles, for
 * solvers that look at whole matrices: x'Kx for thousands of kernels, Kx, weighted sums. Values are
 * float32 (or float64), sums are in double precision throughout. Bytes: a pass reads n(n+1)/2
 * values of each kernel once; flops: two per value for x'Kx, four for Kx.
 *
 * Kernels beyond the memory budget are computed anew by every call that needs them, but for those
 * that are held. Kernels of low rank may be kept as factors besides (see md_packed_factor).
 *
 * x'Kx, Kx, traces, spreads and factors of a kernel are the same bits whatever the number of
 * threads, the budget (but for kernels by rows) and the other kernels of the call; sums are for any
 * number of threads. A packed grams serves one caller at a time. */
#ifndef MD_PACKED_H
#define MD_PACKED_H

#include "device/open_device.h"
#include "gram/prepared_rows.h"
#include "medley/comm.h"
#include "medley/observer.h"

typedef struct md_packed md_packed;

typedef struct md_packed_options {
    size_t threads;
    medley_comm *comm; /* NULL: one process; see below */
    size_t memory;     /* budget in bytes for kernel values, held ones not counted; 0: no limit */
    bool float64;      /* values are kept as float64, see below */
    bool by_rows;      /* kernels beyond the budget are computed some rows at a time, see below */
    const md_device *device; /* has the matrices, if it can; NULL: the processor does */
    double ridge;            /* added to every diagonal, times the mean of that diagonal */
    const double *weight; /* [kernels] d > 0: kernels are K / d^2; NULL: all 1. Must outlive them */
    const medley_observer *observer; /* may be NULL; progress in stage "kernels" */
} md_packed_options;

/* The first kernels stay in memory, as many as the budget allows next to room for those that are
 * computed when they are needed: an eighth of it, at most 256 MB and at least one kernel.
 *
 * float64: all values are computed and kept in double precision, precomputed ones as their source
 * has them (prepared->precomputed_float64). Kernels of low rank are kept as factors in double
 * precision in any case (packed_lowrank.c).
 *
 * by_rows: memory is for kernels that are held only, at first those that come first, and others are
 * never there as a whole. It is chosen, too, where not all kernels fit and a triangle is large (64
 * MB and more) beside the budget.
 *
 * device: it has the matrices of all kernels in single precision (with float64: of none), which
 * must fit its memory, but for linear and constant ones, which are factors; md_card_check says what
 * it can. Alone, not among ranks.
 *
 * comm: kernels are divided among its ranks, and memory is that of each rank. All ranks make the
 * same calls with the same arguments, and get the same results: of single kernels the bits of one
 * process, of sums those that come from adding in the order of ranks.
 *
 * Learns the means of centred kernels into the bank. Bank and prepared rows must outlive the packed
 * grams. MEDLEY_FAILED where the observer stops it. */
medley_status md_packed_create(md_packed **packed, md_bank *bank, const md_prepared *prepared,
                               const md_packed_options *options, medley_error *error);
void md_packed_free(md_packed *packed);
MD_OWNER(md_packed_free, md_packed)

size_t md_packed_count(const md_packed *packed);
size_t md_packed_rows(const md_packed *packed);
size_t md_packed_bytes(const md_packed *packed);     /* held in memory */
bool md_packed_is_resident(const md_packed *packed); /* all kernels are in memory */
/* The factor F[rank][n] of a kernel that is kept as F'F, NULL: of one that is not. Of several
 * ranks, those of kernels that were chosen in md_packed_hold, on all of them. */
const double *md_packed_lowrank(const md_packed *packed, size_t m, size_t *rank);
double md_packed_trace(const md_packed *packed, size_t m);

/* An upper bound of the largest eigenvalue of K_m among vectors that sum to 0: of H K_m H with
 * H = I - 11'/n. It is the Frobenius norm of H K_m H, which is never more than its trace if K_m is
 * positive semi-definite and a bound if it is not quite, and 1e-6 of that of K_m for rounding.
 * Found in the first pass over the values. */
double md_packed_spread(const md_packed *packed, size_t m);

/* The first kernel whose smallest eigenvalue is below -1e-5 times the largest (-1e-10 where its
 * values were never rounded to single precision) and both of these, or count if there is none.
 * Looks only at kernels that may not be positive semi-definite: precomputed ones and those whose
 * class does not promise it. A Cholesky factorisation each, parallel; by rows, eigenvalues are
 * looked for by products. */
typedef struct md_packed_defect {
    size_t kernel;
    double least, most;
} md_packed_defect;
medley_status md_packed_find_defect(md_packed *packed, md_packed_defect *defect,
                                    medley_error *error);

/* Which kernels a call is about, in any order. kernels NULL: 0 .. count-1. */
typedef struct md_chosen {
    const size_t *kernels;
    size_t count;
} md_chosen;

/* Keeps these kernels in memory until the next call, the first ones if half of the budget (or 64
 * MB) does not do for all, and lets go of others that were held. The working set of a solver. */
medley_status md_packed_hold(md_packed *packed, md_chosen chosen, medley_error *error);

/* norm2[i] = x' K x, clipped at 0. */
medley_status md_packed_norms2(md_packed *packed, md_chosen chosen, const double *x, double *norm2,
                               medley_error *error);

/* y[i][n] = K x. */
medley_status md_packed_multiply(md_packed *packed, md_chosen chosen, const double *x, double *y,
                                 medley_error *error);

/* y[i][n] = K x[i][n]: each kernel has a vector of its own. */
medley_status md_packed_multiply_each(md_packed *packed, md_chosen chosen, const double *x,
                                      double *y, medley_error *error);

/* Is it kept in double precision? */
bool md_packed_is_exact(const md_packed *packed, size_t m);
bool md_packed_has_rounded(const md_packed *packed); /* is any of them not? */

/* y[i][n] = K x and norm2[i] = x'Kx in double precision throughout, whatever is kept: for
 * certificates. stride: n, if each kernel has an x of its own, or 0. y may be NULL. */
medley_status md_packed_multiply_exactly(md_packed *packed, md_chosen chosen, const double *x,
                                         size_t stride, double *y, double *norm2,
                                         medley_error *error);

/* What rounding of values may add to the squared norm of a vector of unit length, or take away: 0
 * for kernels in double precision. */
double md_packed_uncertainty(const md_packed *packed, size_t m);

/* sum[r][c] = sum_i weight[i] K(r, c) for c >= r; sum is [n][n], below the diagonal it is left as
 * it is. */
medley_status md_packed_sum(md_packed *packed, md_chosen chosen, const double *weight, double *sum,
                            medley_error *error);

/* Everything a Newton step on many kernels needs, reading each kernel once: y[i] = K x, and then
 * with weight = weigh(context, i, x' K x), called from any thread, sum = sum of weight K, as above.
 * norm2[i] = x' K x, clipped at 0, comes back too. y may be NULL. Small kernels are read once if
 * there are hundreds of them, large ones (beyond 256 KB) twice. */
typedef double (*md_weigh)(void *context, size_t i, double norm2);
medley_status md_packed_multiply_and_sum(md_packed *packed, md_chosen chosen, const double *x,
                                         md_weigh weigh, void *context, double *y, double *norm2,
                                         double *sum, medley_error *error);

/* A packed grams of one kernel, which is a [n][n] matrix (its upper triangle counts, and is
 * copied), or the sum of weight[i] times the chosen kernels of another packed grams: for solvers of
 * a single kernel. Values are float64. It knows no bank: md_packed_find_defect is not for it. */
medley_status md_packed_of_matrix(md_packed **packed, const double *matrix, size_t n,
                                  size_t threads, medley_error *error);
medley_status md_packed_mix(md_packed **mixed, md_packed *packed, md_chosen chosen,
                            const double *weight, medley_error *error);

/* Factors: tries to write every kernel as F F' + E with F[n][rank] and trace E <= tolerance times
 * its trace, rank <= most_rank, by pivoted Cholesky; those that succeed get a factor beside their
 * values, in float32 and not counted against the budget. Kernels that do not seem to get there are
 * given up after a few steps. md_packed_bounds2 then gives upper bounds of x'Kx that cost n * rank
 * for those: ||F'x||^2 + ||x||^2 ||E||, with the Frobenius norm of E, and x'Kx for the rest. */
medley_status md_packed_factor(md_packed *packed, double tolerance, size_t most_rank,
                               medley_error *error);
bool md_packed_has_factor(const md_packed *packed, size_t m);
size_t md_packed_factor_bytes(const md_packed *packed);
medley_status md_packed_bounds2(md_packed *packed, md_chosen chosen, const double *x,
                                double *bound2, medley_error *error);

#endif
