/* SPDX-License-Identifier: BSD-3-Clause */
/* Kernel rows that are kept between bookings. A row comes again as often as its example is hard, so
 * those that were booked most often are worth most. One that came a few times only is not kept:
 * touching new memory may take as long as computing some rows again. */
#include "gram/ledger_internal.h"

#include "base/memory.h"
#include <stdlib.h>
#include <string.h>

enum { WORTH_KEEPING = 4 };          /* bookings: what has come so often comes many times more */
static const double SLAB = 32 << 20; /* bytes that are asked for at a time */

static void drop_rows(md_kept_rows *kept)
{
    for (size_t s = 0; s < kept->count; s++) {
        kept->slot[kept->row[s]] = 0;
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
    free(kept->place);
    free(kept->values);
    free(kept->slab);
    free(kept->row);
    free(kept->slot);
    free(kept->uses);
    *kept = (md_kept_rows){0};
}

medley_status md_kept_rows_init(md_kept_rows *kept, const md_ledger *ledger, medley_error *error)
{
    kept->place = md_calloc(ledger->count, sizeof *kept->place);
    /* NOLINTBEGIN(bugprone-sizeof-expression): arrays of pointers are wanted */
    kept->values = md_calloc(ledger->n, sizeof *kept->values);
    kept->slab = md_calloc(ledger->n, sizeof *kept->slab);
    /* NOLINTEND(bugprone-sizeof-expression) */
    kept->row = md_calloc(ledger->n, sizeof *kept->row);
    kept->slot = md_calloc(ledger->n, sizeof *kept->slot);
    kept->uses = md_calloc(ledger->n, sizeof *kept->uses);
    if (!kept->place || !kept->values || !kept->slab || !kept->row || !kept->slot || !kept->uses)
        return md_fail_memory(error, ledger->n * sizeof *kept->values);
    for (size_t m = 0; m < ledger->count; m++)
        kept->place[m] = SIZE_MAX;
    return MEDLEY_OK;
}

void md_kept_rows_prepare(md_ledger *ledger)
{
    md_kept_rows *kept = &ledger->kept;
    bool missing = false;
    for (size_t m = 0; m < ledger->count; m++)
        missing = missing || (ledger->wanted[m] && kept->place[m] == SIZE_MAX);
    if (!missing)
        return;
    drop_rows(kept);
    kept->kernels = 0;
    for (size_t m = 0; m < ledger->count; m++)
        kept->place[m] = ledger->wanted[m] ? kept->kernels++ : SIZE_MAX;
    const double bytes = (double)kept->kernels * (double)ledger->n * sizeof(float);
    const double fits = ledger->memory > 0 ? (double)ledger->memory / bytes : (double)ledger->n;
    kept->capacity = fits < (double)ledger->n ? (size_t)fits : ledger->n;
    kept->slab_rows = bytes > 0 && bytes < SLAB ? (size_t)(SLAB / bytes) : 1;
}

/* Memory of the next row; NULL: there is none. */
static float *allocate_row(md_kept_rows *kept, size_t n)
{
    const size_t in_slab = kept->count % kept->slab_rows;
    const size_t size = kept->kernels * n;
    if (in_slab == 0) {
        const size_t left = kept->capacity - kept->count;
        const size_t rows = left < kept->slab_rows ? left : kept->slab_rows;
        float *slab = md_alloc_aligned(rows * size, sizeof(float));
        if (slab == NULL)
            return NULL;
        kept->slab[kept->slabs++] = slab;
    }
    return kept->slab[kept->slabs - 1] + in_slab * size;
}

/* The slot of the row that was booked least often. */
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

float *md_kept_rows_take(md_ledger *ledger, size_t row, const float *const *used, size_t count)
{
    md_kept_rows *kept = &ledger->kept;
    size_t slot = kept->count;
    for (size_t m = 0; m < ledger->count; m++)
        if (kept->place[m] != SIZE_MAX && !ledger->wanted[m])
            return NULL; /* it would lack a kernel that others have */
    if (kept->slot[row] != 0 || kept->capacity == 0 || kept->uses[row] < WORTH_KEEPING)
        return NULL; /* or twice in one booking */
    if (kept->count == kept->capacity) {
        slot = least_used(kept);
        if (kept->uses[kept->row[slot]] >= kept->uses[row] ||
            is_among(kept->values[slot], used, count))
            return NULL;
        kept->slot[kept->row[slot]] = 0;
    } else {
        kept->values[slot] = allocate_row(kept, ledger->n);
        if (kept->values[slot] == NULL) { /* no need to fail: what is kept is enough */
            kept->capacity = kept->count;
            return NULL;
        }
        kept->count++;
    }
    kept->row[slot] = row;
    kept->slot[row] = slot + 1;
    return kept->values[slot];
}

const float *md_kept_rows_find(const md_ledger *ledger, size_t row)
{
    const md_kept_rows *kept = &ledger->kept;
    return kept->slot[row] != 0 ? kept->values[kept->slot[row] - 1] : NULL;
}
