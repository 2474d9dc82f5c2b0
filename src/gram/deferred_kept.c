/* SPDX-License-Identifier: BSD-3-Clause */
/* Kernel rows that are kept between flushes. A row comes again as often as its example is hard, so
 * those that were flushed most often are worth most. One that came a few times only is not kept:
 * touching new memory may take as long as computing the row some times more. */
#include "gram/deferred_internal.h"

enum { WORTH_KEEPING = 12 };         /* flushes: what has come so often comes many times more */
static const double SLAB = 32 << 20; /* bytes that are asked for at a time */

static void drop_rows(md_kept_rows *kept)
{
    for (size_t s = 0; s < kept->count; s++) {
        kept->position[kept->row[s]] = 0;
        kept->values[s] = NULL;
    }
    for (size_t i = 0; i < kept->slabs; i++)
        free(kept->slab[i]);
    kept->count = kept->slabs = 0;
}

void md_kept_rows_clear(md_kept_rows *kept)
{
    if (kept->values != NULL)
        drop_rows(kept);
    md_pool_clear(&kept->pool);
    *kept = (md_kept_rows){0};
}

medley_status md_kept_rows_init(md_kept_rows *kept, const md_deferred *deferred,
                                medley_error *error)
{
    md_pool *pool = &kept->pool;
    MEDLEY_TRY(md_pool_new(pool, &kept->place, deferred->count, sizeof *kept->place, error));
    MEDLEY_TRY(md_pool_new(pool, &kept->values, deferred->n, sizeof(float *), error));
    MEDLEY_TRY(md_pool_new(pool, &kept->slab, deferred->n, sizeof(float *), error));
    MEDLEY_TRY(md_pool_new(pool, &kept->row, deferred->n, sizeof *kept->row, error));
    MEDLEY_TRY(md_pool_new(pool, &kept->position, deferred->n, sizeof *kept->position, error));
    MEDLEY_TRY(md_pool_new(pool, &kept->uses, deferred->n, sizeof *kept->uses, error));
    for (size_t m = 0; m < deferred->count; m++)
        kept->place[m] = SIZE_MAX;
    return MEDLEY_OK;
}

void md_kept_rows_prepare(md_deferred *deferred)
{
    md_kept_rows *kept = &deferred->kept;
    bool missing = false;
    for (size_t m = 0; m < deferred->count; m++)
        missing = missing || (deferred->wanted[m] && kept->place[m] == SIZE_MAX);
    if (!missing)
        return;
    drop_rows(kept);
    kept->kernels = 0;
    for (size_t m = 0; m < deferred->count; m++)
        kept->place[m] = deferred->wanted[m] ? kept->kernels++ : SIZE_MAX;
    kept->width = deferred->own.end - deferred->own.first;
    const double bytes = (double)kept->kernels * (double)kept->width * sizeof(float);
    const double fits =
        deferred->memory > 0 ? (double)deferred->memory / bytes : (double)deferred->n;
    kept->capacity = fits < (double)deferred->n ? (size_t)fits : deferred->n;
    kept->slab_rows = bytes > 0 && bytes < SLAB ? (size_t)(SLAB / bytes) : 1;
}

/* Memory of the next row; NULL: there is none. */
static float *allocate_row(md_kept_rows *kept)
{
    const size_t in_slab = kept->count % kept->slab_rows;
    const size_t size = kept->kernels * kept->width;
    if (in_slab == 0) {
        const size_t rows = md_min(kept->capacity - kept->count, kept->slab_rows);
        float *slab = md_alloc_aligned(rows * size, sizeof(float));
        if (slab == NULL)
            return NULL;
        kept->slab[kept->slabs++] = slab;
    }
    return kept->slab[kept->slabs - 1] + in_slab * size;
}

/* The position of the row that was flushed least often. */
static size_t least_used(const md_kept_rows *kept)
{
    size_t least = 0;
    for (size_t s = 1; s < kept->count; s++)
        if (kept->uses[kept->row[s]] < kept->uses[kept->row[least]])
            least = s;
    return least;
}

static bool is_among(const float *values, const float *const *used, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (used[i] == values)
            return true;
    return false;
}

float *md_kept_rows_take(md_deferred *deferred, size_t row, const float *const *used, size_t count)
{
    md_kept_rows *kept = &deferred->kept;
    size_t position = kept->count;
    for (size_t m = 0; m < deferred->count; m++)
        if (kept->place[m] != SIZE_MAX && !deferred->wanted[m])
            return NULL; /* it would lack a kernel that others have */
    if (kept->position[row] != 0 || kept->capacity == 0 || kept->uses[row] < WORTH_KEEPING)
        return NULL; /* or twice in one flushing */
    if (kept->count == kept->capacity) {
        position = least_used(kept);
        if (kept->uses[kept->row[position]] >= kept->uses[row] ||
            is_among(kept->values[position], used, count))
            return NULL;
        kept->position[kept->row[position]] = 0;
    } else {
        kept->values[position] = allocate_row(kept);
        if (kept->values[position] == NULL) { /* no need to fail: what is kept is enough */
            kept->capacity = kept->count;
            return NULL;
        }
        kept->count++;
    }
    kept->row[position] = row;
    kept->position[row] = position + 1;
    return kept->values[position];
}

const float *md_kept_rows_find(const md_deferred *deferred, size_t row)
{
    const md_kept_rows *kept = &deferred->kept;
    return kept->position[row] != 0 ? kept->values[kept->position[row] - 1] : NULL;
}

size_t md_kept_rows_list_fresh(md_deferred *deferred, size_t first, size_t count)
{
    size_t fresh = 0;
    for (size_t d = 0; d < count; d++) {
        const size_t row = deferred->due_row[first + d];
        deferred->found[d] = md_kept_rows_find(deferred, row);
        deferred->fresh[d] = fresh;
        if (deferred->found[d] == NULL)
            deferred->fresh_row[fresh++] = row;
        deferred->kept.uses[row]++;
    }
    return fresh;
}

void md_kept_rows_find_room(md_deferred *deferred, size_t fresh, size_t count)
{
    for (size_t i = 0; i < fresh; i++)
        deferred->keep[i] =
            md_kept_rows_take(deferred, deferred->fresh_row[i], deferred->found, count);
    for (size_t i = 0; i < fresh; i++)
        if (md_kept_rows_find(deferred, deferred->fresh_row[i]) != deferred->keep[i])
            deferred->keep[i] = NULL; /* a later one has taken its place */
}
