/* SPDX-License-Identifier: BSD-3-Clause */
/* The life of a store: what stays in memory, what is held, what is known of each kernel. */
#include "gram/store_internal.h"

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
    for (size_t t = 0; store->scratch != NULL && t < store->threads; t++)
        md_tile_scratch_clear(&store->scratch[t]);
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
    free(store->scratch);
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

/* Cuts the rows of a triangle into *pieces of about so many values: their first rows and n. NULL
 * for lack of memory. */
static size_t *cut_rows(const md_store *store, size_t values, size_t *pieces)
{
    *pieces = (store->size + values - 1) / values;
    *pieces = *pieces < store->n ? *pieces : store->n;
    *pieces = *pieces > 0 ? *pieces : 1;
    size_t *start = md_calloc(*pieces + 1, sizeof *start);
    size_t row = 0;
    for (size_t p = 0; start != NULL && p < *pieces; p++) {
        while (md_packed_row(store->n, row) < p * (store->size / *pieces))
            row++;
        start[p] = row;
    }
    if (start != NULL)
        start[*pieces] = store->n;
    return start;
}

medley_status md_store_cut(md_store *store, medley_error *error)
{
    store->block_start = cut_rows(store, BLOCK_VALUES, &store->blocks);
    store->chunk_start = cut_rows(store, CHUNK_VALUES, &store->chunks);
    return store->block_start != NULL && store->chunk_start != NULL
               ? MEDLEY_OK
               : md_fail_memory(error, store->n * sizeof(size_t));
}

/* Kernels that are weights elsewhere are matrices here: their sparse views need transposes. */
static medley_status complete_points(md_store *store, medley_error *error)
{
    md_points *points = &store->points;
    store->transposed = md_calloc(points->view_count, sizeof *store->transposed);
    store->all_transposed = md_calloc(points->view_count, sizeof *store->all_transposed);
    if (store->transposed == NULL || store->all_transposed == NULL)
        return md_fail_memory(error, points->view_count * sizeof *store->transposed);
    for (size_t v = 0; v < points->view_count; v++)
        store->all_transposed[v] = points->transposed[v];
    for (size_t m = 0; m < store->count; m++) {
        const md_kernel *kernel = &store->bank->kernels[m];
        if (kernel->class == NULL)
            continue;
        const size_t v = kernel->view;
        const bool lacks = md_matrix_is_sparse(&points->views[v]) && !points->used[v];
        if (!lacks || store->transposed[v].start != NULL)
            continue;
        const medley_status status =
            md_matrix_transpose_sparse(&store->transposed[v], &points->views[v], error);
        if (status < 0)
            return status;
        store->all_transposed[v] = store->transposed[v];
    }
    points->transposed = store->all_transposed;
    return MEDLEY_OK;
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

static medley_status init_store(md_store *store, medley_error *error)
{
    medley_status status = MEDLEY_OK;
    /* NOLINTNEXTLINE(bugprone-sizeof-expression): an array of pointers is wanted */
    store->values = md_calloc(store->count, sizeof *store->values);
    store->held = md_calloc(store->count, sizeof *store->held);
    store->trace = md_calloc(store->count, sizeof *store->trace);
    store->spread = md_calloc(store->count, sizeof *store->spread);
    store->frobenius2 = md_calloc(store->count, sizeof *store->frobenius2);
    store->wanted = md_calloc(store->count, sizeof *store->wanted);
    store->group_start = md_calloc(store->count + 2, sizeof *store->group_start);
    store->scratch = md_calloc(store->threads, sizeof *store->scratch);
    if (!store->values || !store->held || !store->trace || !store->spread || !store->frobenius2 ||
        !store->wanted || !store->group_start || !store->scratch)
        return md_fail_memory(error, store->count * sizeof(double));
    MEDLEY_TRY(md_store_cut(store, error));
    MEDLEY_TRY(complete_points(store, error));
    for (size_t t = 0; t < store->threads; t++)
        MEDLEY_TRY(md_tile_scratch_init(&store->scratch[t], &store->points, error));
done:
    return status;
}

/* Every kernel once: residents where they stay, the others only to learn what is asked of them. */
static medley_status build(md_store *store, medley_error *error)
{
    medley_status status = MEDLEY_OK;
    size_t most = store->count / BUILD_REPORTS;
    most = most > BUILD_KERNELS ? most : BUILD_KERNELS;
    size_t *kernels = md_calloc(most, sizeof *kernels);
    if (kernels == NULL)
        return md_fail_memory(error, most * sizeof *kernels);
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
        if (status == MEDLEY_OK)
            status = md_store_report(store, first + count, error);
        if (status < 0)
            break;
    }
    free(kernels);
    return status;
}

medley_status md_store_create(md_store **result, md_bank *bank, const md_points *points,
                              const md_store_options *options, medley_error *error)
{
    medley_status status = MEDLEY_OK;
    md_store *store = md_calloc(1, sizeof *store);
    if (store == NULL)
        return md_fail_memory(error, sizeof *store);
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
    store->size = md_packed_size(store->n);
    store->length = store->n + MD_PACKED_LANES;
    const size_t values = store->size + MD_PACKED_LANES; /* for what is read behind the last row */
    store->bytes = (values * store->packed->value_bytes + LINE - 1) / LINE * LINE;
    MEDLEY_TRY(init_store(store, error));
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
    size_t *fresh = md_calloc(chosen.count, sizeof *fresh);
    size_t count = 0;
    if (fresh == NULL)
        return md_fail_memory(error, chosen.count * sizeof *fresh);
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
        store->values[m] = md_alloc_aligned(1, store->bytes);
        if (store->values[m] == NULL) {
            status = md_fail_memory(error, store->bytes);
            goto done;
        }
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
