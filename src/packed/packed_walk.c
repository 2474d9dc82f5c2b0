/* SPDX-License-Identifier: BSD-3-Clause */
/* Batches: the kernels of a call that are in memory, and then the others, computed as many at a
 * time as there is room for. */
#include "packed/packed_internal.h"

struct walk {
    md_packed *packed;
    md_chosen chosen;
    const bool *skip;
    size_t *place;       /* [chosen] of this batch */
    const void **values; /* [chosen] */
    size_t *fresh;       /* [load capacity] kernels computed for it */
    md_packed_visit visit;
    void *context;
    medley_error *error;
};

static medley_status visit(struct walk *walk, size_t count)
{
    const md_packed_batch batch = {.packed = walk->packed,
                                   .count = count,
                                   .place = walk->place,
                                   .values = walk->values,
                                   .error = walk->error};
    return count == 0 ? MEDLEY_OK : walk->visit(walk->context, &batch);
}

static medley_status load_and_visit(struct walk *walk, size_t fresh, size_t count)
{
    MEDLEY_TRY(md_packed_load(walk->packed, walk->fresh, fresh, false, walk->error));
    return visit(walk, count);
}

static medley_status visit_present(struct walk *walk)
{
    size_t count = 0;
    for (size_t i = 0; i < walk->chosen.count; i++) {
        const void *values = walk->packed->values[md_chosen_kernel(walk->chosen, i)];
        if (values == NULL || (walk->skip != NULL && walk->skip[i]))
            continue;
        walk->place[count] = i;
        walk->values[count++] = values;
    }
    return visit(walk, count);
}

/* From place *next on, as many as there is room for; *next moves past them. A kernel may be
 * chosen twice. */
static medley_status visit_absent(struct walk *walk, size_t *next)
{
    md_packed *packed = walk->packed;
    size_t count = 0;
    size_t fresh = 0;
    for (; *next < walk->chosen.count; ++*next) {
        const size_t m = md_chosen_kernel(walk->chosen, *next);
        const bool present =
            packed->permanent[m] || packed->held[m] || md_packed_is_lowrank(packed, m);
        if (present || !md_packed_is_own(packed, m) || (walk->skip != NULL && walk->skip[*next]))
            continue;
        if (packed->values[m] == NULL) {
            if (fresh == packed->load_capacity)
                break;
            packed->values[m] = packed->loaded + fresh * packed->bytes;
            walk->fresh[fresh++] = m;
        }
        walk->place[count] = *next;
        walk->values[count++] = packed->values[m];
    }
    const medley_status status = load_and_visit(walk, fresh, count);
    for (size_t f = 0; f < fresh; f++) /* the room is used again, also after a failure */
        packed->values[walk->fresh[f]] = NULL;
    return status;
}

medley_status md_packed_walk(md_packed *packed, md_chosen chosen, const bool *skip,
                             md_packed_visit call, void *context, medley_error *error)
{
    MD_CLEARED(md_pool_clear) md_pool pool = {0};
    struct walk walk = {.packed = packed,
                        .chosen = chosen,
                        .skip = skip,
                        .visit = call,
                        .context = context,
                        .error = error};
    MEDLEY_TRY(md_pool_new(&pool, &walk.place, chosen.count, sizeof *walk.place, error));
    MEDLEY_TRY(md_pool_new(&pool, &walk.values, chosen.count, sizeof(void *), error));
    MEDLEY_TRY(md_pool_new(&pool, &walk.fresh, packed->load_capacity, sizeof *walk.fresh, error));
    MEDLEY_TRY(visit_present(&walk));
    for (size_t next = 0; packed->load_capacity > 0 && next < chosen.count;)
        MEDLEY_TRY(visit_absent(&walk, &next));
    return MEDLEY_OK;
}
