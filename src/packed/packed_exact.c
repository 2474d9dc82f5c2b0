/* SPDX-License-Identifier: BSD-3-Clause */
/* Kernels in double precision: triangles of doubles, and products with kernels that are kept in
 * single precision, from values that are computed anew. */
#include "gram/exact.h"
#include "packed/packed_internal.h"

#include "base/parallel.h"
#include "linalg/vectors.h"

static md_between itself(const md_packed *packed)
{
    return (md_between){.bank = packed->bank,
                        .left = &packed->prepared,
                        .right = &packed->prepared,
                        .threads = packed->threads};
}

/* ---- triangles ---- */

struct exact_load {
    md_packed *packed;
    md_between between;
    const size_t *kernels;
    double *scratch; /* [workers][n + md_exact_scratch] */
};

/* An item is a row of a kernel. */
static void load_row(void *context, size_t item, size_t worker)
{
    const struct exact_load *load = context;
    const md_packed *packed = load->packed;
    const size_t n = packed->n;
    const size_t m = load->kernels[item / n];
    const size_t row = item % n;
    double *values = load->scratch + worker * (n + md_exact_scratch(&packed->prepared));
    md_exact_row(&load->between, m, row, values, values + n);
    memcpy((double *)packed->values[m] + md_triangle_row(n, row), values + row,
           (n - row) * sizeof *values);
    if (row + 1 == n)
        md_packed_end_triangle(packed, m);
}

medley_status md_packed_load_exact(md_packed *packed, const size_t *kernels, size_t count,
                                   medley_error *error)
{
    const size_t n = packed->n;
    MD_OWNED(free) double *scratch = NULL;
    const size_t each = n + md_exact_scratch(&packed->prepared);
    MEDLEY_TRY(md_new_aligned(&scratch, packed->threads * each, sizeof *scratch, error));
    struct exact_load load = {packed, itself(packed), kernels, scratch};
    md_parallel_for(packed->threads, count * n, load_row, &load);
    return MEDLEY_OK;
}

/* ---- products ---- */

bool md_packed_has_rounded(const md_packed *packed)
{
    for (size_t m = 0; m < packed->count; m++)
        if (!md_packed_is_exact(packed, m))
            return true;
    return false;
}

bool md_packed_is_exact(const md_packed *packed, size_t m)
{
    return packed->loops == &md_triangle_double || md_packed_is_lowrank(packed, m);
}

double md_packed_uncertainty(const md_packed *packed, size_t m)
{
    static const double rounding = 1e-6; /* of a value */
    return md_packed_is_exact(packed, m) ? 0 : rounding * sqrt(packed->frobenius2[m]);
}

static void subtract_mean(double *x, size_t n)
{
    double mean = 0;
    for (size_t i = 0; i < n; i++)
        mean += x[i] / (double)n;
    for (size_t i = 0; i < n; i++)
        x[i] -= mean;
}

/* Kernels whose values are computed anew. */
struct anew {
    size_t *kernels, *place; /* [count] and where they are in the call */
    size_t count;
    double *x; /* [count][n], or [n]: what is multiplied, without its mean where that counts */
    size_t stride;
    double *y; /* [n][count] */
};

static bool is_centred(const md_packed *packed, size_t m)
{
    return packed->bank->kernels[m].norm == MD_NORM_CENTER;
}

static medley_status list_anew(struct anew *anew, md_pool *pool, const md_packed *packed,
                               md_chosen chosen, const double *x, size_t stride,
                               medley_error *error)
{
    const size_t n = packed->n;
    MEDLEY_TRY(md_pool_new(pool, &anew->kernels, chosen.count, sizeof(size_t), error));
    MEDLEY_TRY(md_pool_new(pool, &anew->place, chosen.count, sizeof(size_t), error));
    anew->stride = stride;
    for (size_t i = 0; i < chosen.count; i++) {
        const size_t m = md_chosen_kernel(chosen, i);
        if (md_packed_is_exact(packed, m))
            continue;
        anew->kernels[anew->count] = m;
        anew->place[anew->count++] = i;
        anew->stride = is_centred(packed, m) ? n : anew->stride;
    }
    const size_t vectors = anew->stride > 0 ? anew->count : md_min(anew->count, 1);
    MEDLEY_TRY(md_pool_new(pool, &anew->x, vectors * n, sizeof(double), error));
    MEDLEY_TRY(md_pool_new(pool, &anew->y, anew->count * n, sizeof(double), error));
    for (size_t k = 0; k < vectors; k++) {
        double *copy = anew->x + k * n;
        memcpy(copy, x + anew->place[k] * stride, n * sizeof *copy);
        if (is_centred(packed, anew->kernels[k]))
            subtract_mean(copy, n);
    }
    return MEDLEY_OK;
}

/* y = H K H x / d^2 + ridge x where the kernel is centred, K x / d^2 + ridge x otherwise. */
static void finish_anew(const md_packed *packed, const struct anew *anew, size_t k, const double *x,
                        double *y)
{
    const size_t n = packed->n;
    const size_t m = anew->kernels[k];
    const double ridge =
        packed->ridge / (1 + packed->ridge) * packed->trace[m] / (double)n; /* the trace has it */
    for (size_t i = 0; i < n; i++)
        y[i] = anew->y[i * anew->count + k];
    if (is_centred(packed, m))
        subtract_mean(y, n);
    for (size_t i = 0; i < n && packed->weight != NULL; i++)
        y[i] *= md_packed_scale(packed, m);
    md_add_scaled(y, ridge, x, n);
}

/* Rows are divided among the ranks, since the values come from the data. */
static medley_status multiply_anew(md_packed *packed, const struct anew *anew, medley_error *error)
{
    enum { UNIT = 16 };
    const md_between between = itself(packed);
    const md_span own = md_comm_share(packed->comm, packed->n, UNIT);
    const md_exact_products products = {.kernels = anew->kernels,
                                        .count = anew->count,
                                        .x = anew->x,
                                        .stride = anew->stride,
                                        .first = own.first,
                                        .end = own.end};
    if (anew->count == 0)
        return MEDLEY_OK;
    md_comm_note_work(packed->comm,
                      (double)(own.end - own.first) * (double)(packed->n * anew->count));
    MEDLEY_TRY(
        md_exact_multiply_rows(&between, &products, anew->y + own.first * anew->count, error));
    return md_comm_gather(packed->comm, anew->y, packed->n, UNIT, anew->count * sizeof(double),
                          error);
}

/* Of kernels that are kept in double precision. */
static medley_status multiply_kept(md_packed *packed, md_chosen chosen, const double *x,
                                   size_t stride, double *y, double *norm2, medley_error *error)
{
    const size_t n = packed->n;
    MD_CLEARED(md_pool_clear) md_pool pool = {0};
    double *scratch = NULL;
    MEDLEY_TRY(md_pool_new(&pool, &scratch, n, sizeof *scratch, error));
    for (size_t i = 0; i < chosen.count; i++) {
        const size_t m = md_chosen_kernel(chosen, i);
        const md_chosen one = {.kernels = &m, .count = 1};
        double *product = y != NULL ? y + i * n : scratch;
        if (!md_packed_is_exact(packed, m) || !md_packed_is_own(packed, m))
            continue;
        MEDLEY_TRY(md_packed_own_products(packed, one, x + i * stride, 0, NULL, product, error));
        norm2[i] = fmax(0, md_dot(x + i * stride, product, n));
        if (md_packed_is_lowrank(packed, m))
            MEDLEY_TRY(
                md_packed_own_products(packed, one, x + i * stride, 0, &norm2[i], NULL, error));
    }
    MEDLEY_TRY(md_packed_exchange(packed, chosen, norm2, 1, error));
    return y != NULL ? md_packed_exchange(packed, chosen, y, n, error) : MEDLEY_OK;
}

static medley_status multiply_some(md_packed *packed, md_chosen chosen, const double *x,
                                   size_t stride, double *y, double *norm2, medley_error *error)
{
    const size_t n = packed->n;
    MD_CLEARED(md_pool_clear) md_pool pool = {0};
    struct anew anew = {0};
    double *scratch = NULL;
    MEDLEY_TRY(md_pool_new(&pool, &scratch, n, sizeof *scratch, error));
    MEDLEY_TRY(list_anew(&anew, &pool, packed, chosen, x, stride, error));
    if (anew.count < chosen.count)
        MEDLEY_TRY(multiply_kept(packed, chosen, x, stride, y, norm2, error));
    MEDLEY_TRY(multiply_anew(packed, &anew, error));
    for (size_t k = 0; k < anew.count; k++) {
        const size_t i = anew.place[k];
        double *product = y != NULL ? y + i * n : scratch;
        finish_anew(packed, &anew, k, x + i * stride, product);
        norm2[i] = fmax(0, md_dot(x + i * stride, product, n));
    }
    return MEDLEY_OK;
}

medley_status md_packed_multiply_exactly(md_packed *packed, md_chosen chosen, const double *x,
                                         size_t stride, double *y, double *norm2,
                                         medley_error *error)
{
    enum { BYTES = 64 << 20 }; /* of products, at a time */
    const size_t n = packed->n;
    const size_t most = BYTES / (n * sizeof(double)) + 1;
    MD_OWNED(free) size_t *kernels = NULL;
    MEDLEY_TRY(md_new(&kernels, chosen.count, sizeof *kernels, error));
    for (size_t i = 0; i < chosen.count; i++)
        kernels[i] = md_chosen_kernel(chosen, i);
    for (size_t i = 0; i < chosen.count; i += most) {
        const md_chosen some = {kernels + i, md_min(chosen.count - i, most)};
        MEDLEY_TRY(multiply_some(packed, some, x + i * stride, stride, y != NULL ? y + i * n : NULL,
                                 norm2 + i, error));
    }
    return MEDLEY_OK;
}
