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

/* y = H K H x / d^2 + ridge x where the kernel is centred, K x / d^2 + ridge x otherwise. */
static medley_status multiply_anew(md_packed *packed, size_t m, const double *x, double *y,
                                   medley_error *error)
{
    const size_t n = packed->n;
    const bool centred = packed->bank->kernels[m].norm == MD_NORM_CENTER;
    const double ridge =
        packed->ridge / (1 + packed->ridge) * packed->trace[m] / (double)n; /* the trace has it */
    const md_between between = itself(packed);
    MD_OWNED(free) double *copy = NULL;
    MEDLEY_TRY(md_new_copy(&copy, x, n * sizeof *copy, error));
    if (centred)
        subtract_mean(copy, n);
    MEDLEY_TRY(md_exact_multiply(&between, m, copy, 1, y, error));
    if (centred)
        subtract_mean(y, n);
    for (size_t i = 0; i < n && packed->weight != NULL; i++)
        y[i] *= md_packed_scale(packed, m);
    md_add_scaled(y, ridge, x, n);
    return MEDLEY_OK;
}

/* One of its own kernels. */
static medley_status multiply_own(md_packed *packed, size_t m, const double *x, double *y,
                                  double *norm2, medley_error *error)
{
    const md_chosen one = {.kernels = &m, .count = 1};
    if (md_packed_is_exact(packed, m))
        MEDLEY_TRY(md_packed_own_products(packed, one, x, 0, NULL, y, error));
    else
        MEDLEY_TRY(multiply_anew(packed, m, x, y, error));
    *norm2 = fmax(0, md_dot(x, y, packed->n));
    if (md_packed_is_lowrank(packed, m))
        MEDLEY_TRY(md_packed_own_products(packed, one, x, 0, norm2, NULL, error));
    return MEDLEY_OK;
}

medley_status md_packed_multiply_exactly(md_packed *packed, md_chosen chosen, const double *x,
                                         size_t stride, double *y, double *norm2,
                                         medley_error *error)
{
    const size_t n = packed->n;
    MD_OWNED(free) double *scratch = NULL;
    MEDLEY_TRY(md_new(&scratch, n, sizeof *scratch, error));
    for (size_t i = 0; i < chosen.count; i++) {
        const size_t m = md_chosen_kernel(chosen, i);
        if (md_packed_is_own(packed, m))
            MEDLEY_TRY(multiply_own(packed, m, x + i * stride, y != NULL ? y + i * n : scratch,
                                    &norm2[i], error));
    }
    MEDLEY_TRY(md_packed_exchange(packed, chosen, norm2, 1, error));
    return y != NULL ? md_packed_exchange(packed, chosen, y, n, error) : MEDLEY_OK;
}
