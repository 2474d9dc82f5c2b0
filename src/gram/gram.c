/* SPDX-License-Identifier: BSD-3-Clause */
/* The life of a Gram source: how each kernel's values are to be kept, and reading them. */
#include "gram/gram_internal.h"

#include "base/vector.h"
#include "linalg/blas.h"

enum { SMALL_MATRIX = 4 << 20 }; /* bytes */

void md_gram_free(md_gram *gram)
{
    if (gram == NULL)
        return;
    for (size_t m = 0; gram->stored != NULL && m < gram->count; m++) {
        if (gram->small == NULL)
            free(gram->stored[m].full);
        md_matrix_clear(&gram->stored[m].sparse);
    }
    md_card_free(gram->card);
    md_pool_clear(&gram->pool);
    free(gram->small);
    free(gram->mix);
    free(gram);
}

size_t md_gram_count(const md_gram *gram)
{
    return gram->mix ? 1 : gram->count;
}

size_t md_gram_rows(const md_gram *gram)
{
    return gram->n;
}

bool md_gram_is_streamed(const md_gram *gram)
{
    return gram->streamed;
}

bool md_gram_is_kept(const md_gram *gram, size_t m)
{
    const md_stored *stored = &gram->stored[m];
    if (gram->mix != NULL)
        return !gram->streamed;
    return stored->full != NULL || stored->same != NULL || stored->sparse.start != NULL;
}

bool md_gram_is_on_card(const md_gram *gram)
{
    return gram->card != NULL;
}

bool md_gram_is_rounded_for(const md_gram *gram, double device_rounds)
{
    return gram->is_rounded == (gram->largest_self <= device_rounds);
}

size_t md_gram_bytes(const md_gram *gram)
{
    return gram->bytes;
}

/* ---- creation ---- */

/* K_m(i,i) of every row after normalisation (centred kernels: once their means are known). */
static medley_status learn_diagonals(md_gram *gram, medley_error *error)
{
    for (size_t m = 0; m < gram->count; m++) {
        const md_kernel *kernel = &gram->bank->kernels[m];
        if (md_kernel_has_weights(kernel))
            continue;
        MEDLEY_TRY(
            md_pool_new(&gram->pool, &gram->stored[m].diagonal, gram->n, sizeof(double), error));
        double *self = gram->stored[m].diagonal;
        const md_matrix *given = gram->prepared->precomputed[m];
        if (kernel->class != NULL)
            md_prepared_self(gram->prepared, gram->bank, m, self);
        else
            for (size_t i = 0; i < gram->n; i++)
                self[i] = (double)given->dense[i * gram->n + i];
        for (size_t i = 0; i < gram->n; i++) {
            if (kernel->norm == MD_NORM_DIAG)
                self[i] = self[i] >= MD_LEAST_SELF ? 1 : 0;
            else if (kernel->norm == MD_NORM_CENTER)
                self[i] += kernel->grand_mean - 2 * (double)kernel->column_mean[i];
            else
                self[i] *= kernel->factor;
        }
        gram->stored[m].is_unit = true;
        for (size_t i = 0; i < gram->n; i++)
            gram->stored[m].is_unit = gram->stored[m].is_unit && self[i] == 1;
    }
    return MEDLEY_OK;
}

/* Without centring a constant is 1, or 1/N with unit trace. Centred it is 0, and its means are the
 * constant. */
static medley_status build_constant(md_gram *gram, size_t m, medley_error *error)
{
    md_kernel *kernel = &gram->bank->kernels[m];
    float **row = &gram->stored[m].same;
    MEDLEY_TRY(md_pool_new(&gram->pool, row, gram->n, sizeof **row, error));
    for (size_t j = 0; kernel->norm != MD_NORM_CENTER && j < gram->n; j++)
        (*row)[j] = (float)kernel->factor;
    if (kernel->norm != MD_NORM_CENTER)
        return MEDLEY_OK;
    MD_OWNED(free) double *sums = NULL;
    MEDLEY_TRY(md_new(&sums, gram->n, sizeof *sums, error));
    for (size_t i = 0; i < gram->n; i++)
        sums[i] = (double)gram->n;
    return md_gram_learn_means(kernel, sums, gram->n, error);
}

/* Room for the matrices of the kernels with full[m]: small ones side by side in one array, since
 * large arrays get large pages. False for lack of memory. */
static bool allocate_full(md_gram *gram, const bool *full)
{
    const size_t size = gram->n * gram->n;
    size_t count = 0;
    for (size_t m = 0; m < gram->count; m++)
        count += full[m];
    if (size * sizeof(float) < SMALL_MATRIX && count > 1) {
        gram->small = md_alloc_aligned(count * size, sizeof(float));
        if (gram->small == NULL)
            return false;
    }
    count = 0;
    for (size_t m = 0; m < gram->count; m++) {
        if (!full[m])
            continue;
        gram->stored[m].full = gram->small != NULL ? gram->small + count++ * size
                                                   : md_alloc_aligned(size, sizeof(float));
        if (gram->stored[m].full == NULL)
            return false;
    }
    return true;
}

/* Kernels that are mostly zero go to sparse storage first; the others are kept in full if all of
 * them fit what is left of the budget, else their rows are computed as they are needed. */
static medley_status choose_storage(md_gram *gram, const md_gram_options *options, bool *full,
                                    medley_error *error)
{
    const size_t memory = options->memory;
    const double each = (double)gram->n * (double)gram->n * sizeof(float);
    double wanted = 0;
    if (options->device == NULL)
        MEDLEY_TRY(md_gram_build_sparse(gram, memory, error));
    for (size_t m = 0; m < gram->count; m++) {
        const md_kernel *kernel = &gram->bank->kernels[m];
        const bool constant = kernel->class != NULL && kernel->class->constant;
        if (constant)
            MEDLEY_TRY(build_constant(gram, m, error));
        full[m] =
            !md_kernel_has_weights(kernel) && !constant && gram->stored[m].sparse.start == NULL;
        wanted += full[m] ? each : 0;
    }
    gram->streamed =
        options->device != NULL || (memory > 0 && wanted + (double)gram->bytes > (double)memory);
    if (options->device != NULL)
        return md_card_learn_means(gram->bank, options->device, gram->prepared, full, error);
    if (gram->streamed)
        return md_gram_learn_unkept_means(gram, full, error);
    if (!allocate_full(gram, full))
        return md_fail(error, MEDLEY_FAILED,
                       "the kernels need %.1f GB; set `memory` to a smaller budget so that they "
                       "are computed on the fly",
                       wanted / 1e9);
    gram->bytes += (size_t)wanted;
    return MEDLEY_OK;
}

static medley_status build_full(md_gram *gram, medley_error *error)
{
    MD_OWNED(free) float **full = NULL;
    MEDLEY_TRY(md_new(&full, gram->count, sizeof(float *), error));
    for (size_t m = 0; m < gram->count; m++)
        full[m] = gram->stored[m].full;
    md_full_job job = {.bank = gram->bank,
                       .prepared = gram->prepared,
                       .full = full,
                       .scratch = gram->scratch,
                       .threads = gram->threads,
                       .observer = gram->observer,
                       .began = gram->began};
    const medley_status status = md_full_compute(&job, error);
    if (status == MEDLEY_STOPPED)
        return md_fail(error, MEDLEY_FAILED,
                       "stopped while kernels were computed; nothing was learnt");
    return status;
}

/* Constant kernels, too: the kernels may be mixed. */
static medley_status take_to_card(md_gram *gram, const md_gram_options *options,
                                  medley_error *error)
{
    MD_OWNED(free) const double **diagonal = NULL;
    MD_OWNED(free) bool *wanted = NULL;
    MEDLEY_TRY(md_new(&diagonal, gram->count, sizeof *diagonal, error));
    MEDLEY_TRY(md_new(&wanted, gram->count, sizeof *wanted, error));
    for (size_t m = 0; m < gram->count; m++) {
        diagonal[m] = gram->stored[m].diagonal;
        wanted[m] = !md_kernel_has_weights(&gram->bank->kernels[m]);
        for (size_t i = 0; wanted[m] && i < gram->n; i++)
            gram->largest_self = fmax(gram->largest_self, diagonal[m][i]);
    }
    gram->is_rounded = gram->largest_self <= options->device_rounds;
    const md_card_wish wish = {.bank = gram->bank,
                               .rows = gram->prepared,
                               .wanted = wanted,
                               .diagonal = diagonal,
                               .precise = !gram->is_rounded};
    return md_card_create(&gram->card, options->device, &wish, error);
}

medley_status md_gram_create(md_gram **result, md_bank *bank, const md_prepared *prepared,
                             const md_gram_options *options, medley_error *error)
{
    MD_OWNED(free) bool *full = NULL;
    MD_OWNED(md_gram_free) md_gram *gram = NULL;
    MEDLEY_TRY(md_new(&full, bank->count, sizeof *full, error));
    MEDLEY_TRY(md_new(&gram, 1, sizeof *gram, error));
    md_blas_single_thread();
    gram->bank = bank;
    gram->prepared = prepared;
    gram->n = prepared->rows;
    gram->count = bank->count;
    gram->threads = md_max(options->threads, 1);
    gram->observer = options->observer;
    gram->comm = options->comm;
    gram->began = md_clock_seconds();
    MEDLEY_TRY(md_pool_new(&gram->pool, &gram->stored, gram->count, sizeof *gram->stored, error));
    MEDLEY_TRY(
        md_tile_scratch_make(&gram->pool, &gram->scratch, gram->threads, bank, prepared, error));
    MEDLEY_TRY(choose_storage(gram, options, full, error));
    if (!gram->streamed) {
        MEDLEY_TRY(build_full(gram, error));
        MEDLEY_TRY(md_gram_center_full(gram, error));
    }
    MEDLEY_TRY(learn_diagonals(gram, error));
    if (options->device != NULL)
        MEDLEY_TRY(take_to_card(gram, options, error));
    *result = md_take(&gram);
    return MEDLEY_OK;
}

/* ---- use ---- */

size_t md_gram_threads(const md_gram *gram, size_t rows, size_t work_per_row)
{
    static const double little = 1e6; /* a fraction of a millisecond */
    return (double)rows * (double)work_per_row < little ? 1 : gram->threads;
}

const float *md_gram_row(md_gram *gram, size_t m, size_t row)
{
    const md_stored *stored = &gram->stored[m];
    if (stored->same != NULL)
        return stored->same;
    return stored->full + row * gram->n;
}

/* Two targets read the row once. */
MD_VECTOR_VOID(add_two_multiples,
               (float *restrict y, float *restrict z, const float alpha[2], const float *restrict x,
                size_t count),
               (y, z, alpha, x, count))
{
    const float a = alpha[0];
    const float b = alpha[1];
#pragma omp simd
    for (size_t j = 0; j < count; j++) {
        y[j] += a * x[j];
        z[j] += b * x[j];
    }
}

static void add_stored_row(md_gram *gram, size_t m, size_t row, const md_targets *targets,
                           float factor)
{
    const md_matrix *k = &gram->stored[m].sparse;
    const bool sparse = k->start != NULL;
    const float *values = sparse ? NULL : md_gram_row(gram, m, row);
    for (size_t t = 0; t < targets->count; t++) {
        const float alpha[2] = {factor * targets->alpha[t],
                                t + 1 < targets->count ? factor * targets->alpha[t + 1] : 0};
        float *y = targets->y[t];
        if (sparse)
            for (size_t e = k->start[row]; e < k->start[row + 1]; e++)
                y[k->index[e]] += alpha[0] * k->value[e];
        else if (t + 1 < targets->count)
            add_two_multiples(y, targets->y[++t], alpha, values, gram->n);
        else
            md_add_multiple(y, alpha[0], values, gram->n);
    }
}

void md_gram_add_row(md_gram *gram, size_t m, size_t row, const md_targets *targets)
{
    if (gram->mix == NULL) {
        add_stored_row(gram, m, row, targets, 1);
        return;
    }
    for (size_t k = 0; k < gram->count; k++)
        if (gram->mix[k] != 0)
            add_stored_row(gram, k, row, targets, (float)gram->mix[k]);
}

bool md_gram_add_rows(md_gram *gram, size_t m, size_t first, size_t rows, float alpha,
                      const float *coefficient, size_t labels, float *scores)
{
    if (gram->mix != NULL || gram->stored[m].full == NULL)
        return false;
    md_gemm_columns(labels, gram->n, rows, alpha, coefficient, labels,
                    gram->stored[m].full + first * gram->n, gram->n, 1, scores, gram->n);
    return true;
}

static float sparse_entry(const md_matrix *k, size_t row, size_t column)
{
    const size_t e = md_matrix_lower_bound(k, row, column);
    return e < k->start[row + 1] && (size_t)k->index[e] == column ? k->value[e] : 0;
}

static float stored_entry(md_gram *gram, size_t m, size_t row, size_t column)
{
    const md_matrix *sparse = &gram->stored[m].sparse;
    return sparse->start != NULL ? sparse_entry(sparse, row, column)
                                 : md_gram_row(gram, m, row)[column];
}

float md_gram_entry(md_gram *gram, size_t m, size_t row, size_t column)
{
    if (gram->mix == NULL)
        return stored_entry(gram, m, row, column);
    double sum = 0;
    for (size_t k = 0; k < gram->count; k++)
        if (gram->mix[k] != 0)
            sum += gram->mix[k] * (double)stored_entry(gram, k, row, column);
    return (float)sum;
}

double md_gram_diagonal(const md_gram *gram, size_t m, size_t row)
{
    if (gram->mix == NULL) /* mostly 1, and then not worth a look at distant memory */
        return gram->stored[m].is_unit ? 1 : gram->stored[m].diagonal[row];
    double sum = 0;
    for (size_t k = 0; k < gram->count; k++)
        if (gram->mix[k] != 0)
            sum += gram->mix[k] * gram->stored[k].diagonal[row];
    return sum;
}
