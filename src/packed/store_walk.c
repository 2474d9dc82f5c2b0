/* SPDX-License-Identifier: BSD-3-Clause */
/* Batches: the kernels of a call that are in memory, and then the others, computed as many at a
 * time as there is room for. */
#include "packed/store_internal.h"

#include "base/memory.h"
#include <stdlib.h>

struct walk {
    md_store *store;
    md_chosen chosen;
    const bool *skip;
    size_t *place;       /* [chosen] of this batch */
    const void **values; /* [chosen] */
    size_t *fresh;       /* [load capacity] kernels computed for it */
    md_store_visit visit;
    void *context;
    medley_error *error;
};

static medley_status visit(struct walk *walk, size_t count)
{
    const md_store_batch batch = {.store = walk->store,
                                  .count = count,
                                  .place = walk->place,
                                  .values = walk->values,
                                  .error = walk->error};
    return count == 0 ? MEDLEY_OK : walk->visit(walk->context, &batch);
}

static medley_status visit_present(struct walk *walk)
{
    size_t count = 0;
    for (size_t i = 0; i < walk->chosen.count; i++) {
        const void *values = walk->store->values[md_chosen_kernel(walk->chosen, i)];
        if (values == NULL || (walk->skip != NULL && walk->skip[i]))
            continue;
        walk->place[count] = i;
        walk->values[count++] = values;
    }
    return visit(walk, count);
}

/* From place *next on, as many as there is room for; *next moves behind them. A kernel may be
 * chosen twice. */
static medley_status visit_absent(struct walk *walk, size_t *next)
{
    md_store *store = walk->store;
    size_t count = 0;
    size_t fresh = 0;
    for (; *next < walk->chosen.count; ++*next) {
        const size_t m = md_chosen_kernel(walk->chosen, *next);
        const bool present = m < store->residents || store->held[m];
        if (present || (walk->skip != NULL && walk->skip[*next]))
            continue;
        if (store->values[m] == NULL) {
            if (fresh == store->load_capacity)
                break;
            store->values[m] = store->loaded + fresh * store->bytes;
            walk->fresh[fresh++] = m;
        }
        walk->place[count] = *next;
        walk->values[count++] = store->values[m];
    }
    medley_status status = md_store_load(store, walk->fresh, fresh, false, walk->error);
    if (status == MEDLEY_OK)
        status = visit(walk, count);
    for (size_t f = 0; f < fresh; f++)
        store->values[walk->fresh[f]] = NULL;
    return status;
}

medley_status md_store_walk(md_store *store, md_chosen chosen, const bool *skip,
                            md_store_visit call, void *context, medley_error *error)
{
    medley_status status = MEDLEY_OK;
    struct walk walk = {.store = store,
                        .chosen = chosen,
                        .skip = skip,
                        .visit = call,
                        .context = context,
                        .error = error};
    MEDLEY_TRY(md_new(&walk.place, chosen.count, sizeof *walk.place, error));
    MEDLEY_TRY(md_new(&walk.values, chosen.count, sizeof(void *), error));
    MEDLEY_TRY(md_new(&walk.fresh, store->load_capacity, sizeof *walk.fresh, error));
    MEDLEY_TRY(visit_present(&walk));
    for (size_t next = 0; store->residents < store->count && next < chosen.count;)
        MEDLEY_TRY(visit_absent(&walk, &next));
done:
    free(walk.place);
    free(walk.values);
    free(walk.fresh);
    return status;
}
