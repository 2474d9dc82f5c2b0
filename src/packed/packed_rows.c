/* SPDX-License-Identifier: BSD-3-Clause */
/* Kernels by rows: a triangle of many rows takes too much memory to be computed for one look at it,
 * so it is computed some rows at a time, which are used and forgotten. All kernels of a group go
 * along together, and those of one view share its products. Rows are cut into blocks, and these
 * into slices, by the number of rows alone: results do not depend on the number of threads, nor on
 * which kernels are in memory. */
#include "gram/exact.h"
#include "gram/gram_internal.h"
#include "packed/packed_internal.h"

#include "base/parallel.h"

enum {
    BLOCKS = 32,             /* whose results are added in order */
    SLICE_ROWS = 32,         /* a multiple of four: loops take four rows at once */
    BUFFER_BYTES = 128 << 20 /* for slices of kernels that are computed, about, by all workers */
};

struct walk {
    md_packed *packed;
    const size_t *kernels; /* of this group */
    size_t count;
    bool raw;
    md_packed_use_rows use;
    void *context;
    md_packed_slice slice; /* what all slices of the group have in common */
    size_t *slot;          /* [kernels of the bank] which buffer, of computed ones */
    size_t slots;          /* buffers of a worker */
    size_t first, end;     /* kernels of the bank that are computed lie in between */
    char *buffers;         /* [workers][slots][slice_bytes] */
    size_t slice_bytes;
    const void **values; /* [workers][count] */
    double *scratch;     /* [workers][n + md_exact_scratch] float64 only */
};

size_t md_packed_row_blocks(const md_packed *packed)
{
    return md_min(BLOCKS, md_pieces(packed->n, SLICE_ROWS));
}

/* Rows of a block have about the same number of values; it begins with a whole slice. */
size_t md_packed_row_block_start(const md_packed *packed, size_t block)
{
    const size_t blocks = md_packed_row_blocks(packed);
    const double n = (double)packed->n;
    if (block == 0 || block >= blocks)
        return block == 0 ? 0 : packed->n;
    const double row = n * (1 - sqrt(1 - (double)block / (double)blocks));
    return (size_t)(row / SLICE_ROWS) * SLICE_ROWS;
}

size_t md_packed_slice_values(const md_packed *packed)
{
    return md_min(SLICE_ROWS, packed->n) * packed->n;
}

/* ---- rows of one kernel ---- */

/* Where a triangle would begin of which these rows are at `buffer`. */
static void *base_of(const md_packed *packed, char *buffer, size_t row)
{
    const size_t before = md_triangle_row(packed->n, row) * packed->loops->value_bytes;
    return md_moved(buffer, -(ptrdiff_t)before);
}

static char *buffer_of(const struct walk *walk, size_t m, size_t worker)
{
    return walk->buffers + (worker * walk->slots + walk->slot[m]) * walk->slice_bytes;
}

/* A slice while it is computed. */
struct fresh {
    const struct walk *walk;
    size_t row, end, worker;
};

static void take_tile(void *context, size_t m, const md_tile_values *tile)
{
    const struct fresh *fresh = context;
    const md_packed *packed = fresh->walk->packed;
    char *buffer = buffer_of(fresh->walk, m, fresh->worker);
    packed->loops->take(base_of(packed, buffer, fresh->row), packed->n, tile);
}

static void compute_tiles(const struct fresh *fresh)
{
    const struct walk *walk = fresh->walk;
    md_packed *packed = walk->packed;
    const md_tile_sink sink = {.context = (void *)fresh, .take = take_tile};
    const md_tile_job job = {.bank = packed->bank,
                             .left = &packed->prepared,
                             .right = &packed->prepared,
                             .wanted = packed->wanted,
                             .sink = &sink};
    const md_tile_range range = {.row = fresh->row,
                                 .rows = fresh->end - fresh->row,
                                 .column = fresh->row,
                                 .first_kernel = walk->first,
                                 .end_kernel = walk->end,
                                 .symmetric = true};
    md_tile_compute_rows(&job, range, &packed->scratch[fresh->worker]);
}

static void compute_exactly(const struct fresh *fresh)
{
    const struct walk *walk = fresh->walk;
    md_packed *packed = walk->packed;
    const size_t n = packed->n;
    const md_between between = {
        .bank = packed->bank, .left = &packed->prepared, .right = &packed->prepared};
    double *values = walk->scratch + fresh->worker * (n + md_exact_scratch(&packed->prepared));
    for (size_t m = walk->first; m < walk->end; m++) {
        if (!packed->wanted[m])
            continue;
        double *to = (double *)(void *)buffer_of(walk, m, fresh->worker);
        for (size_t row = fresh->row; row < fresh->end; row++) {
            md_exact_row(&between, m, row, values, values + n);
            memcpy(to, values + row, (n - row) * sizeof *to);
            to += n - row;
        }
    }
}

/* What md_packed_load does to whole triangles. */
static void finish_rows(const md_packed *packed, size_t m, size_t row, size_t end, char *buffer)
{
    const size_t n = packed->n;
    void *base = base_of(packed, buffer, row);
    const size_t values = md_triangle_row(n, end) - md_triangle_row(n, row);
    if (packed->means[m] != NULL)
        packed->loops->center(base, n, row, end, packed->means[m], packed->grand[m]);
    if (packed->weight != NULL)
        packed->loops->scale(buffer, md_packed_scale(packed, m), values);
    for (size_t i = row; i < end && packed->diagonal[m] != 0; i++) {
        const size_t place = md_triangle_row(n, i);
        packed->loops->set(base, place, packed->loops->get(base, place) + packed->diagonal[m]);
    }
}

static void compute_slice(const struct walk *walk, size_t row, size_t end, size_t worker)
{
    const md_packed *packed = walk->packed;
    const struct fresh fresh = {walk, row, end, worker};
    const size_t used = (md_triangle_row(packed->n, end) - md_triangle_row(packed->n, row)) *
                        packed->loops->value_bytes;
    if (packed->loops == &md_triangle_double)
        compute_exactly(&fresh);
    else
        compute_tiles(&fresh);
    for (size_t m = walk->first; m < walk->end; m++) {
        if (!packed->wanted[m])
            continue;
        char *buffer = buffer_of(walk, m, worker);
        memset(buffer + used, 0, MD_TRIANGLE_LANES * packed->loops->value_bytes);
        if (!walk->raw)
            finish_rows(packed, m, row, end, buffer);
    }
}

/* ---- blocks of rows of all kernels of a group ---- */

static void visit_block(void *context, size_t block, size_t worker)
{
    const struct walk *walk = context;
    const md_packed *packed = walk->packed;
    const size_t last = md_packed_row_block_start(packed, block + 1);
    const void **values = walk->values + worker * walk->count;
    md_packed_slice slice = walk->slice;
    slice.block = block;
    slice.worker = worker;
    slice.first = true;
    slice.values = values;
    slice.row = md_packed_row_block_start(packed, block);
    while (slice.first || slice.row < last) { /* also a block without rows has its parts set */
        slice.end = md_min(slice.row + SLICE_ROWS, last);
        if (walk->first < walk->end && slice.row < slice.end)
            compute_slice(walk, slice.row, slice.end, worker);
        for (size_t k = 0; k < walk->count; k++) {
            const size_t m = walk->kernels[k];
            values[k] = packed->wanted[m] ? base_of(packed, buffer_of(walk, m, worker), slice.row)
                                          : packed->values[m];
        }
        walk->use(walk->context, &slice);
        slice.row = slice.end;
        slice.first = false;
    }
}

/* As many kernels from `place` on as there are buffers for; which of them are computed. */
static void choose_group(struct walk *walk, size_t place, size_t count, size_t most, size_t room)
{
    md_packed *packed = walk->packed;
    memset(packed->wanted, 0, packed->count * sizeof *packed->wanted);
    walk->count = walk->slots = walk->end = 0;
    walk->first = packed->count;
    for (size_t k = 0; k < count && (most == 0 || k < most); k++) {
        const size_t m = walk->kernels[k];
        if (packed->values[m] == NULL && !packed->wanted[m]) {
            if (walk->slots == room)
                break;
            packed->wanted[m] = true;
            walk->slot[m] = walk->slots++;
            walk->first = md_min(walk->first, m);
            walk->end = md_max(walk->end, m + 1);
        }
        walk->count++;
    }
    walk->slice = (md_packed_slice){.place = place, .count = walk->count};
}

static medley_status make_room(md_packed *packed, size_t bytes, medley_error *error)
{
    if (bytes <= packed->slices_bytes)
        return MEDLEY_OK;
    free(packed->slices);
    packed->slices = NULL;
    packed->slices_bytes = 0;
    MEDLEY_TRY(md_new_aligned(&packed->slices, bytes, 1, error));
    packed->slices_bytes = bytes;
    return MEDLEY_OK;
}

medley_status md_packed_parts(md_packed *packed, size_t count, double **parts, medley_error *error)
{
    if (count > packed->parts_count) {
        free(packed->parts);
        packed->parts = NULL;
        packed->parts_count = 0;
        MEDLEY_TRY(md_new_aligned(&packed->parts, count, sizeof(double), error));
        packed->parts_count = count;
    }
    *parts = packed->parts;
    return MEDLEY_OK;
}

medley_status md_packed_each_slice(md_packed *packed, const size_t *kernels, size_t count,
                                   size_t most, bool raw, md_packed_use_rows use,
                                   md_packed_use_rows end, void *context, medley_error *error)
{
    MD_CLEARED(md_pool_clear) md_pool pool = {0};
    const size_t workers = packed->threads;
    const size_t values = md_packed_slice_values(packed) + 16;
    struct walk walk = {.packed = packed, .raw = raw, .use = use, .context = context};
    walk.slice_bytes = values * packed->loops->value_bytes;
    size_t absent = 0;
    for (size_t k = 0; k < count; k++)
        absent += packed->values[kernels[k]] == NULL;
    const size_t room = md_min(BUFFER_BYTES / (workers * walk.slice_bytes) + 1, absent);
    const size_t scratch = packed->loops == &md_triangle_double
                               ? workers * (packed->n + md_exact_scratch(&packed->prepared))
                               : 0;
    if (count == 0)
        return MEDLEY_OK;
    md_packed_note(packed, count);
    MEDLEY_TRY(md_pool_new(&pool, &walk.slot, packed->count, sizeof *walk.slot, error));
    MEDLEY_TRY(md_pool_new(&pool, &walk.values, workers * count, sizeof(void *), error));
    MEDLEY_TRY(make_room(packed, workers * room * walk.slice_bytes, error));
    walk.buffers = packed->slices;
    MEDLEY_TRY(md_pool_new_aligned(&pool, &walk.scratch, scratch, sizeof(double), error));
    for (size_t place = 0; place < count; place += walk.count) {
        walk.kernels = kernels + place;
        choose_group(&walk, place, count - place, most, room);
        md_parallel_for(workers, md_packed_row_blocks(packed), visit_block, &walk);
        if (end != NULL)
            end(context, &walk.slice);
    }
    return MEDLEY_OK;
}

/* ---- whole triangles ---- */

struct keep {
    md_packed *packed;
    const size_t *kernels;
    char **to; /* [count] triangles, or NULL */
};

static void copy_rows(const struct keep *keep, const md_packed_slice *slice)
{
    const md_packed *packed = keep->packed;
    const size_t value = packed->loops->value_bytes;
    const size_t first = md_triangle_row(packed->n, slice->row) * value;
    const size_t end = md_triangle_row(packed->n, slice->end) * value;
    for (size_t k = 0; k < slice->count; k++)
        if (keep->to[slice->place + k] != NULL)
            memcpy(keep->to[slice->place + k] + first, md_moved(slice->values[k], (ptrdiff_t)first),
                   end - first);
}

static void keep_rows(void *context, const md_packed_slice *slice)
{
    copy_rows(context, slice);
}

/* values[m] of the kernels, which become NULL; *to: they. */
static medley_status take_triangles(md_packed *packed, const size_t *kernels, size_t count,
                                    char ***to, medley_error *error)
{
    const size_t used = packed->size * packed->loops->value_bytes;
    MEDLEY_TRY(md_new(to, count, sizeof **to, error));
    for (size_t k = 0; k < count; k++) {
        (*to)[k] = packed->values[kernels[k]];
        packed->values[kernels[k]] = NULL;
        if ((*to)[k] != NULL)
            memset((*to)[k] + used, 0, packed->bytes - used);
    }
    return MEDLEY_OK;
}

static void give_triangles(md_packed *packed, const size_t *kernels, size_t count, char **to)
{
    for (size_t k = 0; to != NULL && k < count; k++)
        packed->values[kernels[k]] = to[k];
}

medley_status md_packed_load_by_rows(md_packed *packed, const size_t *kernels, size_t count,
                                     medley_error *error)
{
    MD_OWNED(free) char **to = NULL;
    MEDLEY_TRY(take_triangles(packed, kernels, count, &to, error));
    struct keep keep = {packed, kernels, to};
    const medley_status status =
        md_packed_each_slice(packed, kernels, count, 0, false, keep_rows, NULL, &keep, error);
    give_triangles(packed, kernels, count, to);
    return status;
}

/* ---- what is known of each kernel ---- */

struct learning {
    struct keep keep;
    size_t blocks;
    double *ones;  /* [length] */
    double *parts; /* [kernels of a group][blocks][length] sums of rows */
    double *facts; /* [kernels of a group][blocks][2] trace, squares */
    double *sums;  /* [n] */
    bool raw;
    medley_error *error;
    medley_status status;
};

static void learn_rows(void *context, const md_packed_slice *slice)
{
    struct learning *learning = context;
    const md_packed *packed = learning->keep.packed;
    const size_t n = packed->n;
    if (!learning->raw)
        copy_rows(&learning->keep, slice);
    for (size_t k = 0; k < slice->count; k++) {
        const void *values = slice->values[k];
        double *part = learning->parts + (k * learning->blocks + slice->block) * packed->length;
        double *facts = learning->facts + 2 * (k * learning->blocks + slice->block);
        const size_t first = md_triangle_row(n, slice->row);
        if (slice->first) {
            memset(part, 0, packed->length * sizeof *part);
            facts[0] = facts[1] = 0;
        }
        facts[1] +=
            2 * packed->loops->squares(values, first, md_triangle_row(n, slice->end) - first);
        for (size_t i = slice->row; i < slice->end; i++) {
            const double own = packed->loops->get(values, md_triangle_row(n, i));
            facts[0] += own;
            facts[1] -= own * own;
        }
        packed->loops->multiply(values, n, slice->row, slice->end, learning->ones, part);
    }
}

/* Before centring, weights and the ridge: means, and what the ridge adds. */
static medley_status learn_raw(struct learning *learning, size_t m, double trace)
{
    md_packed *packed = learning->keep.packed;
    const size_t n = packed->n;
    md_kernel *kernel = &packed->bank->kernels[m];
    if (kernel->norm == MD_NORM_CENTER) {
        MEDLEY_TRY(
            md_pool_new(&packed->pool, &packed->means[m], n, sizeof(double), learning->error));
        MEDLEY_TRY(md_gram_learn_means(kernel, learning->sums, n, learning->error));
        double total = 0;
        for (size_t i = 0; i < n; i++) {
            packed->means[m][i] = learning->sums[i] / (double)n;
            total += packed->means[m][i];
        }
        packed->grand[m] = total / (double)n;
        trace -= total;
    }
    packed->diagonal[m] = packed->ridge * md_packed_scale(packed, m) * trace / (double)n;
    return MEDLEY_OK;
}

static void learn_kernels(void *context, const md_packed_slice *slice)
{
    struct learning *learning = context;
    md_packed *packed = learning->keep.packed;
    for (size_t k = 0; k < slice->count && learning->status >= 0; k++) {
        const size_t m = learning->keep.kernels[slice->place + k];
        double facts[2] = {0};
        memset(learning->sums, 0, packed->n * sizeof(double));
        for (size_t b = 0; b < learning->blocks; b++) {
            const double *part = learning->parts + (k * learning->blocks + b) * packed->length;
            for (size_t i = md_packed_row_block_start(packed, b); i < packed->n; i++)
                learning->sums[i] += part[i];
            facts[0] += learning->facts[2 * (k * learning->blocks + b)];
            facts[1] += learning->facts[2 * (k * learning->blocks + b) + 1];
        }
        if (learning->raw) {
            learning->status = learn_raw(learning, m, facts[0]);
            continue;
        }
        packed->trace[m] = facts[0];
        packed->frobenius2[m] = facts[1];
        md_packed_learn_spread(packed, m, learning->sums);
    }
}

/* Kernels that have values, in order; [count of the bank] */
static size_t list_valued(const md_packed *packed, size_t *kernels)
{
    size_t count = 0;
    for (size_t m = 0; m < packed->count; m++)
        if (md_packed_is_own(packed, m) && !md_packed_is_lowrank(packed, m))
            kernels[count++] = m;
    return count;
}

static medley_status learn(struct learning *learning, size_t count, size_t group, bool raw,
                           medley_error *error)
{
    md_packed *packed = learning->keep.packed;
    learning->raw = raw;
    for (size_t first = 0; first < count; first += group) {
        const size_t some = md_min(count - first, group);
        struct learning part = *learning;
        part.keep.kernels += first;
        part.keep.to += first;
        MEDLEY_TRY(md_packed_each_slice(packed, part.keep.kernels, some, group, raw, learn_rows,
                                        learn_kernels, &part, error));
        MEDLEY_TRY(part.status);
        if (packed->ranks == 1)
            MEDLEY_TRY(md_packed_report(packed, raw ? 0 : part.keep.kernels[some - 1] + 1, error));
    }
    return MEDLEY_OK;
}

medley_status md_packed_build_by_rows(md_packed *packed, medley_error *error)
{
    enum { PARTS_BYTES = 64 << 20 };
    MD_CLEARED(md_pool_clear) md_pool pool = {0};
    MD_OWNED(free) char **to = NULL;
    size_t *kernels = NULL;
    struct learning learning = {.error = error, .blocks = md_packed_row_blocks(packed)};
    const size_t each = learning.blocks * packed->length;
    const size_t group = PARTS_BYTES / (each * sizeof(double)) + 1;
    bool centred = false;
    MEDLEY_TRY(md_pool_new(&pool, &kernels, packed->count, sizeof *kernels, error));
    MEDLEY_TRY(md_pool_new(&pool, &learning.ones, packed->length, sizeof(double), error));
    MEDLEY_TRY(md_pool_new(&pool, &learning.sums, packed->n, sizeof(double), error));
    MEDLEY_TRY(
        md_packed_parts(packed, md_min(group, packed->count) * each, &learning.parts, error));
    MEDLEY_TRY(
        md_pool_new(&pool, &learning.facts, 2 * group * learning.blocks, sizeof(double), error));
    const size_t count = list_valued(packed, kernels);
    MEDLEY_TRY(take_triangles(packed, kernels, count, &to, error));
    learning.keep = (struct keep){packed, kernels, to};
    for (size_t i = 0; i < packed->n; i++)
        learning.ones[i] = 1;
    for (size_t k = 0; k < count; k++)
        centred = centred || packed->bank->kernels[kernels[k]].norm == MD_NORM_CENTER;
    medley_status status = MEDLEY_OK;
    if (centred || packed->ridge != 0)
        status = learn(&learning, count, group, true, error);
    if (status >= 0)
        status = learn(&learning, count, group, false, error);
    give_triangles(packed, kernels, count, to);
    if (status >= 0 && packed->ranks > 1)
        status = md_packed_report(packed, packed->count, error);
    return status;
}
