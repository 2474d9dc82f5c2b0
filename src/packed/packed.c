/* SPDX-License-Identifier: BSD-3-Clause */
/* The life of packed grams: what stays in memory, what is held, what is known of each kernel. */
#include "packed/packed_internal.h"

#include "linalg/blas.h"

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

void md_packed_free(md_packed *packed)
{
    if (packed == NULL)
        return;
    for (size_t m = 0; packed->values != NULL && packed->held != NULL && m < packed->count; m++)
        if (packed->held[m])
            free(packed->values[m]);
    for (size_t v = 0; packed->transposed != NULL && v < packed->prepared.view_count; v++)
        md_matrix_clear(&packed->transposed[v]);
    for (size_t m = 0; packed->lowrank != NULL && m < packed->count; m++)
        free(packed->lowrank[m].values);
    md_packed_card_free(packed->card);
    md_packed_drop_shared(packed);
    md_packed_forget_factors(packed);
    free(packed->factor_arrays);
    md_pool_clear(&packed->pool);
    free(packed->resident);
    free(packed->loaded);
    free(packed->slices);
    free(packed->parts);
    free(packed->sums);
    free(packed);
}

size_t md_packed_count(const md_packed *packed)
{
    return packed->count;
}

size_t md_packed_rows(const md_packed *packed)
{
    return packed->n;
}

size_t md_packed_bytes(const md_packed *packed)
{
    return (packed->residents + packed->held_count + packed->load_capacity) * packed->bytes +
           packed->lowrank_bytes;
}

bool md_packed_is_resident(const md_packed *packed)
{
    return packed->is_resident;
}

const double *md_packed_lowrank(const md_packed *packed, size_t m, size_t *rank)
{
    if (packed->lowrank[m].ridge != 0)
        return NULL;
    *rank = packed->lowrank[m].rank;
    return packed->ranks > 1 ? packed->shared[m] : packed->lowrank[m].values;
}

double md_packed_trace(const md_packed *packed, size_t m)
{
    return packed->trace[m];
}

double md_packed_spread(const md_packed *packed, size_t m)
{
    return packed->spread[m];
}

size_t md_packed_threads(const md_packed *packed, size_t values)
{
    return values < FEW_VALUES ? 1 : packed->threads;
}

/* ---- creation ---- */

/* Cuts the rows of a triangle into *pieces of about `values` values: their first rows and n. */
static medley_status cut_rows(md_packed *packed, size_t values, size_t **start, size_t *pieces,
                              medley_error *error)
{
    *pieces = md_max(md_min(md_pieces(packed->size, values), packed->n), 1);
    MEDLEY_TRY(md_pool_new(&packed->pool, start, *pieces + 1, sizeof **start, error));
    size_t row = 0;
    for (size_t p = 0; p < *pieces; p++) {
        while (md_triangle_row(packed->n, row) < p * (packed->size / *pieces))
            row++;
        (*start)[p] = row;
    }
    (*start)[*pieces] = packed->n;
    return MEDLEY_OK;
}

medley_status md_packed_init(md_packed *packed, medley_error *error)
{
    md_pool *pool = &packed->pool;
    const size_t count = packed->count;
    packed->size = md_triangle_size(packed->n);
    packed->length = packed->n + MD_TRIANGLE_LANES;
    const size_t values = packed->size + MD_TRIANGLE_LANES; /* some are read after the last row */
    packed->bytes = md_pieces(values * packed->loops->value_bytes, LINE) * LINE;
    MEDLEY_TRY(md_pool_new(pool, &packed->values, count, sizeof(void *), error));
    MEDLEY_TRY(md_pool_new(pool, &packed->held, count, sizeof *packed->held, error));
    MEDLEY_TRY(md_pool_new(pool, &packed->permanent, count, sizeof(bool), error));
    MEDLEY_TRY(md_pool_new(pool, &packed->lowrank, count, sizeof *packed->lowrank, error));
    MEDLEY_TRY(md_pool_new(pool, &packed->trace, count, sizeof *packed->trace, error));
    MEDLEY_TRY(md_pool_new(pool, &packed->spread, count, sizeof *packed->spread, error));
    MEDLEY_TRY(md_pool_new(pool, &packed->frobenius2, count, sizeof *packed->frobenius2, error));
    MEDLEY_TRY(md_pool_new(pool, &packed->wanted, count, sizeof *packed->wanted, error));
    MEDLEY_TRY(cut_rows(packed, BLOCK_VALUES, &packed->block_start, &packed->blocks, error));
    return cut_rows(packed, CHUNK_VALUES, &packed->chunk_start, &packed->chunks, error);
}

/* Kernels that are weights elsewhere are matrices here: their sparse views need transposes. */
static medley_status complete_prepared(md_packed *packed, medley_error *error)
{
    md_prepared *prepared = &packed->prepared;
    const size_t views = prepared->view_count;
    MEDLEY_TRY(md_pool_new(&packed->pool, &packed->transposed, views, sizeof(md_matrix), error));
    MEDLEY_TRY(
        md_pool_new(&packed->pool, &packed->all_transposed, views, sizeof(md_matrix), error));
    memcpy(packed->all_transposed, prepared->transposed, views * sizeof(md_matrix));
    for (size_t m = 0; m < packed->count; m++) {
        const md_kernel *kernel = &packed->bank->kernels[m];
        if (kernel->class == NULL)
            continue;
        const size_t v = kernel->view;
        const bool lacks = md_matrix_is_sparse(&prepared->views[v]) && !prepared->used[v];
        if (!lacks || packed->transposed[v].start != NULL)
            continue;
        MEDLEY_TRY(
            md_matrix_transpose_occurring(&packed->transposed[v], &prepared->views[v], error));
        packed->all_transposed[v] = packed->transposed[v];
    }
    prepared->transposed = packed->all_transposed;
    return MEDLEY_OK;
}

/* First come, first kept; where not all find room, part of the budget is for those that are
 * computed when they are needed, and half of it for those that are held. */
static medley_status choose_residents(md_packed *packed, size_t memory, medley_error *error)
{
    size_t valued = 0; /* kernels that are no factors */
    bool all_stay = true;
    for (size_t m = 0; m < packed->count; m++) {
        if (!md_packed_is_own(packed, m))
            continue;
        valued += !md_packed_is_lowrank(packed, m);
        all_stay = all_stay && (packed->lowrank[m].values != NULL) == (packed->lowrank[m].rank > 0);
    }
    const double wanted = (double)valued * (double)packed->bytes;
    packed->residents = valued;
    if (!all_stay || (memory > 0 && wanted + (double)packed->lowrank_bytes > (double)memory)) {
        memory -= packed->lowrank_bytes;
        const size_t share = md_min(memory / LOAD_SHARE, LOAD_BYTES);
        packed->load_capacity = md_max(share / packed->bytes, 1);
        const size_t load = packed->load_capacity * packed->bytes;
        const size_t half = memory / 2; /* the other one is for kernels that are held */
        packed->residents = half > load ? (half - load) / packed->bytes : 0;
        packed->held_most = md_max(half, LEAST_HELD) / packed->bytes;
        MEDLEY_TRY(md_new_aligned(&packed->loaded, packed->load_capacity, packed->bytes, error));
    }
    packed->resident = md_alloc_aligned(packed->residents, packed->bytes);
    if (packed->resident == NULL)
        return md_fail(error, MEDLEY_FAILED,
                       "the kernels need %.1f GB; set `memory` to a smaller budget so that they "
                       "are computed when they are needed",
                       wanted / 1e9);
    for (size_t m = 0, place = 0; m < packed->count; m++) {
        const bool stays = md_packed_is_own(packed, m) && !md_packed_is_lowrank(packed, m) &&
                           place < packed->residents;
        packed->permanent[m] = stays || packed->lowrank[m].values != NULL;
        packed->values[m] = stays ? packed->resident + place++ * packed->bytes : NULL;
    }
    return MEDLEY_OK;
}

/* Are whole triangles too large for what is kept free for those that are computed? */
static medley_status wants_rows(const md_packed *packed, size_t memory, bool *wants,
                                medley_error *error)
{
    const size_t free = md_max(md_min(memory / LOAD_SHARE, LOAD_BYTES), LEAST_HELD);
    double wanted = (double)packed->lowrank_bytes;
    for (size_t m = 0; m < packed->count; m++)
        if (md_packed_is_own(packed, m) && !md_packed_is_lowrank(packed, m))
            wanted += (double)packed->bytes;
    *wants = packed->n > 0 && memory > 0 && wanted > (double)memory && packed->bytes > free;
    return md_comm_any(packed->comm, wants, error);
}

/* Sums over pairs of values take far longer than products. */
static bool is_slow(const md_packed *packed, size_t m)
{
    const md_kernel *kernel = &packed->bank->kernels[m];
    return kernel->class != NULL && kernel->class->quantity == MD_PAIRED;
}

/* The first kernels have room of their own, slow ones before others, and are held until others are.
 */
static medley_status begin_by_rows(md_packed *packed, size_t memory, medley_error *error)
{
    const size_t count = packed->count;
    const size_t left = memory > packed->lowrank_bytes ? memory - packed->lowrank_bytes : 0;
    packed->by_rows = true;
    packed->held_most = memory > 0 ? left / packed->bytes : count;
    MEDLEY_TRY(md_pool_new(&packed->pool, &packed->means, count, sizeof(double *), error));
    MEDLEY_TRY(md_pool_new(&packed->pool, &packed->grand, count, sizeof(double), error));
    MEDLEY_TRY(md_pool_new(&packed->pool, &packed->diagonal, count, sizeof(double), error));
    for (size_t i = 0; i < 2 * count; i++) {
        const size_t m = i % count;
        packed->permanent[m] = packed->lowrank[m].values != NULL;
        if (!md_packed_is_own(packed, m) || md_packed_is_lowrank(packed, m) ||
            packed->held_count == packed->held_most || is_slow(packed, m) != (i < count))
            continue;
        MEDLEY_TRY(md_new_aligned(&packed->values[m], 1, packed->bytes, error));
        packed->held[m] = true;
        packed->held_count++;
    }
    return md_packed_build_by_rows(packed, error);
}

/* Every kernel from m on and before `end` that has values, once: residents where they stay, the
 * others only to learn what is asked of them. kernels: [most] scratch */
static medley_status build_some(md_packed *packed, size_t m, size_t end, size_t *kernels,
                                size_t most, medley_error *error)
{
    while (m < end) {
        size_t count = 0;
        size_t loaded = 0;
        for (; m < end && count < most; m++) {
            if (md_packed_is_lowrank(packed, m) || !md_packed_is_own(packed, m))
                continue;
            if (!packed->permanent[m] && loaded == packed->load_capacity)
                break;
            if (!packed->permanent[m])
                packed->values[m] = packed->loaded + loaded++ * packed->bytes;
            kernels[count++] = m;
        }
        MEDLEY_TRY(md_packed_load(packed, kernels, count, true, error));
        for (size_t i = 0; i < count; i++)
            if (!packed->permanent[kernels[i]])
                packed->values[kernels[i]] = NULL;
        if (packed->ranks == 1)
            MEDLEY_TRY(md_packed_report(packed, m, error));
    }
    return MEDLEY_OK;
}

/* Ranks have different kernels, but report equally often. */
static medley_status build(md_packed *packed, medley_error *error)
{
    const size_t most = md_max(packed->count / BUILD_REPORTS, BUILD_KERNELS);
    const size_t each = packed->ranks == 1 ? packed->count : most * packed->ranks;
    MD_OWNED(free) size_t *kernels = NULL;
    MEDLEY_TRY(md_new(&kernels, most, sizeof *kernels, error));
    for (size_t m = 0; m < packed->count; m += each) {
        const size_t end = md_min(m + each, packed->count);
        MEDLEY_TRY(build_some(packed, m, end, kernels, most, error));
        if (packed->ranks > 1)
            MEDLEY_TRY(md_packed_report(packed, end, error));
    }
    return MEDLEY_OK;
}

medley_status md_packed_create(md_packed **result, md_bank *bank, const md_prepared *prepared,
                               const md_packed_options *options, medley_error *error)
{
    MD_OWNED(md_packed_free) md_packed *packed = NULL;
    MEDLEY_TRY(md_new(&packed, 1, sizeof *packed, error));
    md_blas_single_thread();
    packed->bank = bank;
    packed->prepared = *prepared;
    packed->n = prepared->rows;
    packed->count = bank->count;
    packed->threads = md_max(options->threads, 1);
    packed->ridge = options->ridge;
    packed->weight = options->weight;
    packed->observer = options->observer;
    packed->began = md_clock_seconds();
    packed->loops = options->float64 ? &md_triangle_double : &md_triangle_float;
    MEDLEY_TRY(md_packed_init(packed, error));
    MEDLEY_TRY(
        md_pool_new(&packed->pool, &packed->group_start, packed->count + 1, sizeof(size_t), error));
    MEDLEY_TRY(complete_prepared(packed, error));
    MEDLEY_TRY(md_tile_scratch_make(&packed->pool, &packed->scratch, packed->threads, bank,
                                    &packed->prepared, error));
    MEDLEY_TRY(md_packed_divide(packed, options->comm, error));
    packed->share_most = options->memory / 4;
    packed->only_known = options->device != NULL;
    MEDLEY_TRY(md_packed_find_lowrank(packed, options->memory, error));
    bool by_rows = false;
    MEDLEY_TRY(wants_rows(packed, options->memory, &by_rows, error));
    if (options->device != NULL) {
        MEDLEY_TRY(md_packed_card_create(packed, options->device, error));
    } else if (options->by_rows || by_rows) {
        MEDLEY_TRY(begin_by_rows(packed, options->memory, error));
    } else {
        MEDLEY_TRY(choose_residents(packed, options->memory, error));
        MEDLEY_TRY(build(packed, error));
    }
    MEDLEY_TRY(md_packed_share_facts(packed, error));
    *result = md_take(&packed);
    return MEDLEY_OK;
}

/* ---- holding ---- */

void md_packed_want(md_packed *packed, md_chosen chosen)
{
    memset(packed->wanted, 0, packed->count * sizeof *packed->wanted);
    for (size_t i = 0; i < chosen.count; i++)
        packed->wanted[md_chosen_kernel(chosen, i)] = true;
}

static void let_go(md_packed *packed, size_t m)
{
    free(packed->lowrank[m].values);
    packed->lowrank[m].values = NULL;
    free(packed->values[m]);
    packed->values[m] = NULL;
    packed->held[m] = false;
    packed->held_count--;
}

/* Computes those of the chosen kernels that are not in memory, as far as they may be held;
 * fresh[*count]: which they are, also after a failure. */
static medley_status hold_fresh(md_packed *packed, md_chosen chosen, size_t *fresh, size_t *count,
                                medley_error *error)
{
    for (size_t i = 0; i < chosen.count; i++) {
        const size_t m = md_chosen_kernel(chosen, i);
        if (!md_packed_is_own(packed, m) || packed->permanent[m] || packed->held[m] ||
            packed->held_count >= packed->held_most)
            continue;
        if (!md_packed_is_lowrank(packed, m))
            MEDLEY_TRY(md_new_aligned(&packed->values[m], 1, packed->bytes, error));
        packed->held[m] = true;
        packed->held_count++;
        fresh[(*count)++] = m;
    }
    size_t valued = 0; /* of fresh: first those, then factors */
    for (size_t i = 0; i < *count; i++)
        if (!md_packed_is_lowrank(packed, fresh[i])) {
            md_swap(&fresh[i], &fresh[valued]);
            valued++;
        }
    MEDLEY_TRY(md_packed_load(packed, fresh, valued, false, error));
    return md_packed_load_lowrank(packed, fresh + valued, *count - valued, error);
}

medley_status md_packed_hold(md_packed *packed, md_chosen chosen, medley_error *error)
{
    MD_OWNED(free) size_t *fresh = NULL;
    size_t count = 0;
    MEDLEY_TRY(md_packed_share_factors(packed, chosen, error));
    if (packed->by_rows && md_packed_is_resident(packed))
        return MEDLEY_OK;
    MEDLEY_TRY(md_new(&fresh, chosen.count, sizeof *fresh, error));
    md_packed_want(packed, chosen);
    for (size_t m = 0; m < packed->count; m++)
        if (packed->held[m] && !packed->wanted[m])
            let_go(packed, m);
    const medley_status status = hold_fresh(packed, chosen, fresh, &count, error);
    for (size_t i = 0; i < count && status < 0; i++) /* what was not computed is not held */
        let_go(packed, fresh[i]);
    return status;
}
