/* SPDX-License-Identifier: BSD-3-Clause */
/* Sparse storage of kernels that are mostly zero: compact support, or few shared features. */
#include "gram/gram_internal.h"

#include "base/parallel.h"
#include "base/random.h"

static const double WORTH_IT = 0.75; /* share of zeros: index and value cost twice a plain value */
enum { SAMPLE_ROWS = 32, ENTRY_BYTES = sizeof(float) + sizeof(int32_t) };

/* May this kernel have zeros at all? */
static bool is_candidate(const md_gram *gram, size_t m)
{
    const md_kernel *kernel = &gram->bank->kernels[m];
    if (kernel->class == NULL || md_kernel_has_weights(kernel) || kernel->norm == MD_NORM_CENTER)
        return false;
    if (kernel->class->often_zero)
        return true;
    if (!gram->bank->views[kernel->view].sparse || kernel->class->quantity == MD_DISTANCE2)
        return false;
    float nothing_shared = 0;
    kernel->class->map(kernel->state, &nothing_shared, &nothing_shared, 1);
    return nothing_shared == 0;
}

/* A strip of rows of one kernel, all columns. */
struct strip {
    md_gram *gram;
    md_tile_job job;
    size_t row, rows;
    float *values; /* [MD_TILE][n] */
};

static float *place_in_strip(void *context, size_t m, size_t row, size_t column, size_t *stride)
{
    const struct strip *strip = context;
    (void)m;
    *stride = strip->gram->n;
    return strip->values + (row - strip->row) * strip->gram->n + column;
}

static void strip_tile(void *context, size_t item, size_t worker)
{
    const struct strip *strip = context;
    const size_t column = item * MD_TILE;
    const md_tile_range range = {.row = strip->row,
                                 .rows = strip->rows,
                                 .column = column,
                                 .columns = md_min(strip->gram->n - column, MD_TILE),
                                 .symmetric = true};
    md_tile_compute(&strip->job, range, &strip->gram->scratch[worker]);
}

static void compute_strip(struct strip *strip, size_t row, size_t rows)
{
    strip->row = row;
    strip->rows = rows;
    const md_gram *gram = strip->gram;
    md_parallel_for(md_gram_threads(gram, rows, MD_TERMS * gram->n), md_pieces(gram->n, MD_TILE),
                    strip_tile, strip);
}

static double share_of_zeros(struct strip *strip)
{
    const size_t n = strip->gram->n;
    const size_t rows = md_min(n, SAMPLE_ROWS);
    md_random random;
    md_random_seed(&random, 1);
    size_t zeros = 0;
    for (size_t r = 0; r < rows; r++) {
        compute_strip(strip, rows == n ? r : md_random_below(&random, n), 1);
        for (size_t j = 0; j < n; j++)
            zeros += strip->values[j] == 0;
    }
    return (double)zeros / ((double)rows * (double)n);
}

/* Appends the strip's nonzero values to a growing sparse matrix. */
static medley_status append_strip(md_matrix *sparse, size_t *capacity, const struct strip *strip,
                                  medley_error *error)
{
    const size_t n = strip->gram->n;
    for (size_t r = 0; r < strip->rows; r++) {
        const float *values = strip->values + r * n;
        size_t used = sparse->start[strip->row + r];
        size_t room = *capacity;
        MEDLEY_TRY(md_grow(&sparse->index, &room, used + n, sizeof *sparse->index, error));
        MEDLEY_TRY(md_grow(&sparse->value, capacity, used + n, sizeof *sparse->value, error));
        for (size_t j = 0; j < n; j++) {
            if (values[j] == 0)
                continue;
            sparse->index[used] = (int32_t)j;
            sparse->value[used++] = values[j];
        }
        sparse->start[strip->row + r + 1] = used;
    }
    return MEDLEY_OK;
}

/* Gives back the room for entries that did not come. */
static void shrink(md_matrix *sparse)
{
    const size_t entries = sparse->start[sparse->rows] + 1; /* realloc to 0 would free */
    int32_t *index = realloc(sparse->index, entries * sizeof *index);
    sparse->index = index ? index : sparse->index;
    float *value = realloc(sparse->value, entries * sizeof *value);
    sparse->value = value ? value : sparse->value;
}

static medley_status build(md_gram *gram, size_t m, struct strip *strip, size_t memory,
                           medley_error *error)
{
    md_matrix *sparse = &gram->stored[m].sparse;
    size_t capacity = 0;
    MEDLEY_TRY(md_matrix_init_sparse(sparse, gram->n, gram->n, 0, error));
    for (size_t i = 0; i < gram->n; i += MD_TILE) {
        compute_strip(strip, i, md_min(gram->n - i, MD_TILE));
        MEDLEY_TRY(append_strip(sparse, &capacity, strip, error));
        if (memory > 0 && gram->bytes + capacity * ENTRY_BYTES > memory) {
            md_matrix_clear(sparse); /* denser than it looked: to be streamed */
            return MEDLEY_OK;
        }
    }
    shrink(sparse);
    gram->bytes += sparse->start[gram->n] * ENTRY_BYTES;
    return MEDLEY_OK;
}

medley_status md_gram_build_sparse(md_gram *gram, size_t memory, medley_error *error)
{
    MD_OWNED(free) bool *wanted = NULL;
    MD_OWNED(free) float *values = NULL;
    MEDLEY_TRY(md_new(&wanted, gram->count, sizeof *wanted, error));
    MEDLEY_TRY(md_new_aligned(&values, gram->n * MD_TILE, sizeof *values, error));
    struct strip strip = {.gram = gram, .values = values};
    const md_tile_sink sink = {.context = &strip, .place = place_in_strip};
    strip.job = (md_tile_job){.bank = gram->bank,
                              .left = gram->prepared,
                              .right = gram->prepared,
                              .wanted = wanted,
                              .sink = &sink};
    for (size_t m = 0; m < gram->count; m++) {
        if (!is_candidate(gram, m))
            continue;
        wanted[m] = true;
        if (share_of_zeros(&strip) >= WORTH_IT)
            MEDLEY_TRY(build(gram, m, &strip, memory, error));
        wanted[m] = false;
    }
    return MEDLEY_OK;
}
