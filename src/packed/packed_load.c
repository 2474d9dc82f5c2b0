/* SPDX-License-Identifier: BSD-3-Clause */
/* Triangles from tiles: the part of each tile on and above the diagonal goes straight to its
 * place. Kernels of one view share its products, as in full.c. Then kernels that ask for it are
 * centred and the ridge is added, and in the first pass traces and spreads are learnt. */
#include "gram/gram_internal.h"
#include "packed/packed_internal.h"

#include "base/parallel.h"

/* Of a spread, relative to the norm of the matrix: it is what is left of sums in double precision
 * whose relative error is far below the square of this. */
static const double ROUNDING = 1e-6;

medley_status md_packed_report(const md_packed *packed, size_t done, medley_error *error)
{
    if (md_report_kernels(packed->observer, done, packed->count, packed->began))
        return MEDLEY_OK;
    return md_fail(error, MEDLEY_FAILED, "stopped while kernels were computed; nothing was learnt");
}

/* ---- tiles ---- */

/* By the thread that computes the end of the triangle: memory belongs to the processor that touches
 * it first, and clearing its pages takes as long as filling them. */
void md_packed_end_triangle(const md_packed *packed, size_t m)
{
    const size_t used = packed->size * packed->loops->value_bytes;
    memset((char *)packed->values[m] + used, 0, packed->bytes - used);
}

static void take_tile(void *context, size_t m, const md_tile_values *tile)
{
    const md_packed *packed = context;
    packed->loops->take(packed->values[m], packed->n, tile);
    if (tile->row + tile->rows == packed->n)
        md_packed_end_triangle(packed, m);
}

static void compute_tiles(md_packed *packed)
{
    const md_tile_sink sink = {.context = packed, .take = take_tile};
    md_triangle triangle = {.scratch = packed->scratch,
                            .group_start = packed->group_start,
                            .job = {.bank = packed->bank,
                                    .left = &packed->prepared,
                                    .right = &packed->prepared,
                                    .wanted = packed->wanted,
                                    .sink = &sink}};
    md_triangle_group(&triangle, packed->wanted);
    const size_t threads = md_packed_threads(packed, triangle.groups * packed->size);
    md_triangle_compute(&triangle, threads, SIZE_MAX, NULL, 0);
}

/* ---- what is done to a whole triangle ---- */

struct finish {
    md_packed *packed;
    const size_t *kernels;
    bool learn;
    double *sums;  /* [workers][2 n]: row sums, ones */
    double *means; /* [kernels][n] sums of rows of centred kernels */
};

static double *row_sums(const struct finish *finish, const void *values, size_t worker)
{
    const md_packed *packed = finish->packed;
    const size_t n = packed->n;
    double *sums = finish->sums + worker * 2 * packed->length;
    double *ones = sums + packed->length;
    for (size_t i = 0; i < n; i++) {
        sums[i] = 0;
        ones[i] = 1;
    }
    packed->loops->multiply(values, n, 0, n, ones, sums);
    return sums;
}

static void center(const struct finish *finish, size_t item, size_t worker)
{
    md_packed *packed = finish->packed;
    const size_t n = packed->n;
    void *values = packed->values[finish->kernels[item]];
    double *mean = row_sums(finish, values, worker);
    double grand = 0;
    if (finish->learn)
        for (size_t i = 0; i < n; i++)
            finish->means[item * n + i] = mean[i];
    for (size_t i = 0; i < n; i++) {
        mean[i] /= (double)n;
        grand += mean[i];
    }
    packed->loops->center(values, n, 0, n, mean, grand / (double)n);
}

static double trace_of(const md_packed *packed, const void *values)
{
    double trace = 0;
    for (size_t i = 0; i < packed->n; i++)
        trace += packed->loops->get(values, md_triangle_row(packed->n, i));
    return trace;
}

static void add_ridge(const md_packed *packed, void *values)
{
    const double ridge = packed->ridge * trace_of(packed, values) / (double)packed->n;
    for (size_t i = 0; i < packed->n; i++) {
        const size_t place = md_triangle_row(packed->n, i);
        packed->loops->set(values, place, packed->loops->get(values, place) + ridge);
    }
}

/* ||HKH||^2 = ||K||^2 - 2 ||K1||^2 / n + (1'K1)^2 / n^2. */
void md_packed_learn_spread(md_packed *packed, size_t m, const double *sums)
{
    const double n = (double)packed->n;
    const double norm2 = packed->frobenius2[m];
    double total = 0;
    double sums2 = 0;
    for (size_t i = 0; i < packed->n; i++) {
        total += sums[i];
        sums2 += sums[i] * sums[i];
    }
    const double centred2 = norm2 - 2 * sums2 / n + total * total / (n * n);
    packed->spread[m] = sqrt(centred2 > 0 ? centred2 : 0) + ROUNDING * sqrt(norm2);
}

static void learn_norm(md_packed *packed, size_t m)
{
    const void *values = packed->values[m];
    double diagonal2 = 0;
    for (size_t i = 0; i < packed->n; i++) {
        const double own = packed->loops->get(values, md_triangle_row(packed->n, i));
        diagonal2 += own * own;
    }
    packed->frobenius2[m] = 2 * packed->loops->squares(values, 0, packed->size) - diagonal2;
}

static void finish_kernel(void *context, size_t item, size_t worker)
{
    const struct finish *finish = context;
    md_packed *packed = finish->packed;
    const size_t m = finish->kernels[item];
    if (packed->bank->kernels[m].norm == MD_NORM_CENTER)
        center(finish, item, worker);
    if (packed->weight != NULL)
        packed->loops->scale(packed->values[m], md_packed_scale(packed, m), packed->size);
    if (packed->ridge != 0)
        add_ridge(packed, packed->values[m]);
    if (!finish->learn)
        return;
    packed->trace[m] = trace_of(packed, packed->values[m]);
    learn_norm(packed, m);
    md_packed_learn_spread(packed, m, row_sums(finish, packed->values[m], worker));
}

static medley_status learn_means(const struct finish *finish, size_t count, medley_error *error)
{
    const size_t n = finish->packed->n;
    for (size_t i = 0; finish->learn && i < count; i++) {
        md_kernel *kernel = &finish->packed->bank->kernels[finish->kernels[i]];
        if (kernel->norm == MD_NORM_CENTER)
            MEDLEY_TRY(md_gram_learn_means(kernel, finish->means + i * n, n, error));
    }
    return MEDLEY_OK;
}

static medley_status finish_kernels(md_packed *packed, const size_t *kernels, size_t count,
                                    bool learn, medley_error *error)
{
    MD_OWNED(free) double *sums = NULL;
    MD_OWNED(free) double *means = NULL;
    bool centred = false;
    for (size_t i = 0; i < count; i++)
        centred = centred || packed->bank->kernels[kernels[i]].norm == MD_NORM_CENTER;
    if (!centred && packed->ridge == 0 && packed->weight == NULL && !learn)
        return MEDLEY_OK;
    MEDLEY_TRY(md_new(&sums, 2 * packed->length * packed->threads, sizeof *sums, error));
    if (learn && centred)
        MEDLEY_TRY(md_new(&means, count * packed->n, sizeof *means, error));
    struct finish finish = {packed, kernels, learn, sums, means};
    md_parallel_for(md_packed_threads(packed, count * packed->size), count, finish_kernel, &finish);
    return learn_means(&finish, count, error);
}

medley_status md_packed_load(md_packed *packed, const size_t *kernels, size_t count, bool learn,
                             medley_error *error)
{
    if (count == 0)
        return MEDLEY_OK;
    md_packed_note(packed, count);
    if (packed->by_rows)
        return md_packed_load_by_rows(packed, kernels, count, error);
    md_packed_want(packed, (md_chosen){kernels, count});
    if (packed->loops == &md_triangle_double)
        MEDLEY_TRY(md_packed_load_exact(packed, kernels, count, error));
    else
        compute_tiles(packed);
    return finish_kernels(packed, kernels, count, learn, error);
}
