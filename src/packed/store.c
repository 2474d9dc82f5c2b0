/* SPDX-License-Identifier: BSD-3-Clause */
/* The life of a store: what stays in memory, what is held, what is known of each kernel. */
#include "packed/store_internal.h"

#include "base/clock.h"
#include "base/memory.h"
#include "linalg/blas.h"
#include <stdlib.h>

enum {
    LINE = 64,              /* bytes: triangles begin on cache lines */
    FEW_VALUES = 100000,    /* that one thread reads before another is awake */
    BLOCK_VALUES = 1 << 18, /* of a block of rows */
    CHUNK_VALUES = 1 << 14, /* of a chunk of rows: 128 KB of sums */
    LOAD_BYTES = 256 << 20, /* of kernels that are computed together, at most */
    LOAD_SHARE = 8,         /* part of the budget that is kept for them */
    LEAST_HELD = 64 << 20,  /* bytes that may be held even if the budget is smaller */
    BUILD_KERNELS = 16,     /* computed between reports of progress, at least */
    BUILD_REPORTS = 16      /* otherwise */
};

void md_store_free(md_store *store)
{
    if (store == NULL)
        return;
    for (size_t m = 0; store->values != NULL && store->held != NULL && m < store->count; m++)
        if (store->held[m])
            free(store->values[m]);
    for (size_t v = 0; store->transposed != NULL && v < store->points.view_count; v++)
        md_matrix_clear(&store->transposed[v]);
    md_tile_scratch_free(store->scratch, store->threads);
    for (size_t a = 0; a < store->factor_array_count; a++)
        free(store->factor_arrays[a]);
    free(store->factor_arrays);
    free(store->factors);
    free(store->transposed);
    free(store->all_transposed);
    free(store->block_start);
    free(store->chunk_start);
    free(store->resident);
    free(store->loaded);
    free(store->values);
    free(store->held);
    free(store->trace);
    free(store->spread);
    free(store->frobenius2);
    free(store->wanted);
    free(store->group_start);
    free(store->sums);
    free(store);
}

size_t md_store_count(const md_store *store)
{
    return store->count;
}

size_t md_store_rows(const md_store *store)
{
    return store->n;
}

size_t md_store_bytes(const md_store *store)
{
    return (store->residents + store->held_count + store->load_capacity) * store->bytes;
}

bool md_store_is_resident(const md_store *store)
{
    return store->residents == store->count;
}

double md_store_trace(const md_store *store, size_t m)
{
    return store->trace[m];
}

double md_store_spread(const md_store *store, size_t m)
{
    return store->spread[m];
}

size_t md_store_threads(const md_store *store, size_t values)
{
    return values < FEW_VALUES ? 1 : store->threads;
}

bool md_store_is_exact(const md_store *store, size_t m)
{
    return store->packed == &md_packed_double && store->points.precomputed_wide[m] != NULL;
}

/* ---- creation ---- */

/* Cuts the rows of a triangle into *pieces of about so many values: their first rows and n. */
static medley_status cut_rows(const md_store *store, size_t values, size_t **start, size_t *pieces,
                              medley_error *error)
{
    *pieces = (store->size + values - 1) / values;
    *pieces = *pieces < store->n ? *pieces : store->n;
    *pieces = *pieces > 0 ? *pieces : 1;
    const medley_status status = md_new(start, *pieces + 1, sizeof **start, error);
    if (status < 0)
        return status;
    size_t row = 0;
    for (size_t p = 0; p < *pieces; p++) {
        while (md_packed_row(store->n, row) < p * (store->size / *pieces))
            row++;
        (*start)[p] = row;
    }
    (*start)[*pieces] = store->n;
    return MEDLEY_OK;
}

medley_status md_store_init(md_store *store, medley_error *error)
{
    medley_status status = MEDLEY_OK;
    store->size = md_packed_size(store->n);
    store->length = store->n + MD_PACKED_LANES;
    const size_t values = store->size + MD_PACKED_LANES; /* for what is read behind the last row */
    store->bytes = (values * store->packed->value_bytes + LINE - 1) / LINE * LINE;
    MEDLEY_TRY(md_new(&store->values, store->count, sizeof(void *), error));
    MEDLEY_TRY(md_new(&store->held, store->count, sizeof *store->held, error));
    MEDLEY_TRY(md_new(&store->trace, store->count, sizeof *store->trace, error));
    MEDLEY_TRY(md_new(&store->spread, store->count, sizeof *store->spread, error));
    MEDLEY_TRY(md_new(&store->frobenius2, store->count, sizeof *store->frobenius2, error));
    MEDLEY_TRY(md_new(&store->wanted, store->count, sizeof *store->wanted, error));
    MEDLEY_TRY(cut_rows(store, BLOCK_VALUES, &store->block_start, &store->blocks, error));
    MEDLEY_TRY(cut_rows(store, CHUNK_VALUES, &store->chunk_start, &store->chunks, error));
done:
    return status;
}

/* Kernels that are weights elsewhere are matrices here: their sparse views need transposes. */
static medley_status complete_points(md_store *store, medley_error *error)
{
    medley_status status = MEDLEY_OK;
    md_points *points = &store->points;
    const size_t views = points->view_count;
    MEDLEY_TRY(md_new(&store->transposed, views, sizeof *store->transposed, error));
    MEDLEY_TRY(md_new_copy(&store->all_transposed, points->transposed,
                           views * sizeof *store->all_transposed, error));
    for (size_t m = 0; m < store->count; m++) {
        const md_kernel *kernel = &store->bank->kernels[m];
        if (kernel->class == NULL)
            continue;
        const size_t v = kernel->view;
        const bool lacks = md_matrix_is_sparse(&points->views[v]) && !points->used[v];
        if (!lacks || store->transposed[v].start != NULL)
            continue;
        MEDLEY_TRY(md_matrix_transpose_sparse(&store->transposed[v], &points->views[v], error));
        store->all_transposed[v] = store->transposed[v];
    }
    points->transposed = store->all_transposed;
done:
    return status;
}

/* First come, first kept; where not all find room, part of the budget is for those that are
 * computed when they are needed, and half of it for those that are held. */
static medley_status choose_residents(md_store *store, size_t memory, medley_error *error)
{
    const double wanted = (double)store->count * (double)store->bytes;
    store->residents = store->count;
    if (memory > 0 && wanted > (double)memory) {
        const size_t share = memory / LOAD_SHARE < LOAD_BYTES ? memory / LOAD_SHARE : LOAD_BYTES;
        store->load_capacity = share > store->bytes ? share / store->bytes : 1;
        const size_t load = store->load_capacity * store->bytes;
        const size_t half = memory / 2; /* the other one is for kernels that are held */
        store->residents = half > load ? (half - load) / store->bytes : 0;
        store->held_most = (half > LEAST_HELD ? half : LEAST_HELD) / store->bytes;
        store->loaded = md_alloc_aligned(store->load_capacity, store->bytes);
        if (store->loaded == NULL)
            return md_fail_memory(error, load);
    }
    store->resident = md_alloc_aligned(store->residents, store->bytes);
    if (store->resident == NULL)
        return md_fail(error, MEDLEY_FAILED,
                       "the kernels need %.1f GB; set --memory to a smaller budget so that they "
                       "are computed when they are needed",
                       wanted / 1e9);
    for (size_t m = 0; m < store->residents; m++)
        store->values[m] = store->resident + m * store->bytes;
    return MEDLEY_OK;
}

/* Every kernel once: residents where they stay, the others only to learn what is asked of them. */
static medley_status build(md_store *store, medley_error *error)
{
    medley_status status = MEDLEY_OK;
    size_t most = store->count / BUILD_REPORTS;
    most = most > BUILD_KERNELS ? most : BUILD_KERNELS;
    size_t *kernels = NULL;
    MEDLEY_TRY(md_new(&kernels, most, sizeof *kernels, error));
    for (size_t first = 0, count; first < store->count; first += count) {
        const bool stays = first < store->residents;
        const size_t limit = stays ? store->residents - first : store->load_capacity;
        count = store->count - first < most ? store->count - first : most;
        count = count < limit ? count : limit;
        for (size_t i = 0; i < count; i++) {
            kernels[i] = first + i;
            if (!stays)
                store->values[first + i] = store->loaded + i * store->bytes;
        }
        status = md_store_load(store, kernels, count, true, error);
        for (size_t i = 0; i < count && !stays; i++)
            store->values[first + i] = NULL;
        if (status < 0)
            goto done;
        MEDLEY_TRY(md_store_report(store, first + count, error));
    }
done:
    free(kernels);
    return status;
}

medley_status md_store_create(md_store **result, md_bank *bank, const md_points *points,
                              const md_store_options *options, medley_error *error)
{
    medley_status status = MEDLEY_OK;
    md_store *store = NULL;
    MEDLEY_TRY(md_new(&store, 1, sizeof *store, error));
    md_blas_single_thread();
    store->bank = bank;
    store->points = *points;
    store->n = points->rows;
    store->count = bank->count;
    store->threads = options->threads ? options->threads : 1;
    store->ridge = options->ridge;
    store->observer = options->observer;
    store->began = md_clock_seconds();
    store->packed = options->wide ? &md_packed_double : &md_packed_float;
    MEDLEY_TRY(md_store_init(store, error));
    MEDLEY_TRY(md_new(&store->group_start, store->count + 1, sizeof(size_t), error));
    MEDLEY_TRY(complete_points(store, error));
    MEDLEY_TRY(md_tile_scratch_make(&store->scratch, store->threads, &store->points, error));
    MEDLEY_TRY(choose_residents(store, options->memory, error));
    MEDLEY_TRY(build(store, error));
    *result = store;
    return MEDLEY_OK;
done:
    md_store_free(store);
    return status;
}

/* ---- holding ---- */

static void let_go(md_store *store, size_t m)
{
    free(store->values[m]);
    store->values[m] = NULL;
    store->held[m] = false;
    store->held_count--;
}

medley_status md_store_hold(md_store *store, md_chosen chosen, medley_error *error)
{
    medley_status status = MEDLEY_OK;
    size_t *fresh = NULL;
    size_t count = 0;
    MEDLEY_TRY(md_new(&fresh, chosen.count, sizeof *fresh, error));
    for (size_t m = 0; m < store->count; m++)
        store->wanted[m] = false;
    for (size_t i = 0; i < chosen.count; i++)
        store->wanted[md_chosen_kernel(chosen, i)] = true;
    for (size_t m = 0; m < store->count; m++)
        if (store->held[m] && !store->wanted[m])
            let_go(store, m);
    for (size_t i = 0; i < chosen.count; i++) {
        const size_t m = md_chosen_kernel(chosen, i);
        if (store->values[m] != NULL || store->held_count >= store->held_most)
            continue;
        MEDLEY_TRY(md_new_aligned(&store->values[m], 1, store->bytes, error));
        store->held[m] = true;
        store->held_count++;
        fresh[count++] = m;
    }
    MEDLEY_TRY(md_store_load(store, fresh, count, false, error));
done:
    for (size_t i = 0; i < count && status < 0; i++)
        let_go(store, fresh[i]);
    free(fresh);
    return status;
}
