/* SPDX-License-Identifier: BSD-3-Clause */
#include "online/gather.h"

/* Of examples of this length, parts that belong to single rows are in several groups. */
enum { SEVERAL_ROWS = 4 };

static md_groups groups_of(const md_gather *gather, size_t length, size_t kind)
{
    return gather->space.structure->groups(gather->space.shape, length, (md_part_kind)kind);
}

static size_t own_parts(const md_gather *gather, size_t length)
{
    size_t parts = 0;
    for (size_t kind = 0; kind < MD_PART_KINDS; kind++) {
        const md_groups groups = groups_of(gather, length, kind);
        parts += gather->is_shared[kind] ? 0 : groups.width * groups.count;
    }
    return parts;
}

static void find_shared(md_gather *gather)
{
    for (size_t kind = 0; kind < MD_PART_KINDS; kind++) {
        const md_groups groups = groups_of(gather, SEVERAL_ROWS, kind);
        gather->is_shared[kind] = kind != MD_ROW_PARTS && groups.count == 1;
        gather->shared_start[kind] = gather->shared_size;
        gather->shared_size += gather->is_shared[kind] ? groups.width : 0;
    }
}

medley_status md_gather_init(md_gather *gather, const md_online_problem *problem, size_t batch,
                             size_t longest, medley_error *error)
{
    *gather = (md_gather){.space = problem->space, .by_marginals = problem->loss->by_marginals};
    gather->parts = problem->space.structure->part_count(problem->space.shape, longest);
    md_pool *pool = &gather->pool;
    find_shared(gather);
    MEDLEY_TRY(md_pool_new(pool, &gather->start, problem->example_count + 1, sizeof *gather->start,
                           error));
    for (size_t e = 0; e < problem->example_count; e++) {
        gather->size += own_parts(gather, problem->examples[e].length);
        gather->start[e + 1] = gather->size;
    }
    MEDLEY_TRY(md_pool_new(pool, &gather->sum, gather->size, sizeof *gather->sum, error));
    MEDLEY_TRY(
        md_pool_new(pool, &gather->shared, gather->shared_size, sizeof *gather->shared, error));
    MEDLEY_TRY(
        md_pool_new(pool, &gather->score, batch * gather->parts, sizeof *gather->score, error));
    MEDLEY_TRY(md_pool_new(pool, &gather->item_offset, 2 * batch, sizeof(double), error));
    gather->item_rounding = gather->item_offset + batch;
    return MEDLEY_OK;
}

void md_gather_clear(md_gather *gather)
{
    md_pool_clear(&gather->pool);
    *gather = (md_gather){0};
}

/* Late epochs met better theta. Gradients that are single outputs are noisy, and more epochs are
 * needed for their mean than for that of marginals. */
void md_gather_begin_epoch(md_gather *gather)
{
    const double epoch = (double)++gather->epochs;
    gather->weight = gather->by_marginals ? epoch * epoch * epoch : epoch;
    gather->total += gather->weight;
}

void md_gather_forget(md_gather *gather)
{
    memset(gather->sum, 0, gather->size * sizeof *gather->sum);
    memset(gather->shared, 0, gather->shared_size * sizeof *gather->shared);
    gather->weight = gather->total = 1;
    gather->offset = gather->rounding = 0;
}

void md_gather_restart(md_gather *gather)
{
    md_gather_forget(gather);
    gather->epochs = 0;
}

void md_gather_add_offset(md_gather *gather, size_t item)
{
    gather->offset += gather->weight * gather->item_offset[item];
    gather->rounding += gather->weight * gather->item_rounding[item];
}

/* The entries from `first` on that lie in one kind of parts. */
static void add_kind(md_gather *gather, float *own, size_t kind, md_groups groups,
                     const md_delta *delta)
{
    const size_t end = groups.first + groups.width * groups.count;
    double *shared = gather->shared + gather->shared_start[kind];
    for (size_t i = delta->start[delta->row_count]; i < delta->count; i++) {
        const size_t part = delta->part[i];
        const double change = gather->weight * (double)delta->coefficient[i];
        if (part < groups.first || part >= end)
            continue;
        if (gather->is_shared[kind])
            shared[part - groups.first] += change;
        else
            own[part - groups.first] += (float)change;
    }
}

void md_gather_add(md_gather *gather, size_t example, size_t length, const md_delta *delta)
{
    float *own = gather->sum + gather->start[example];
    const float weight = (float)gather->weight;
    for (size_t i = 0; i < delta->start[delta->row_count]; i++)
        own[delta->part[i]] += weight * delta->coefficient[i];
    for (size_t kind = 0; kind < MD_PART_KINDS; kind++) {
        const md_groups groups = groups_of(gather, length, kind);
        if (kind != MD_ROW_PARTS && groups.count > 0)
            add_kind(gather, own, kind, groups, delta);
        own += gather->is_shared[kind] ? 0 : groups.width * groups.count;
    }
}

void md_gather_fill(const md_gather *gather, size_t example, size_t length, bool with_shared,
                    md_inference *inference)
{
    md_delta *delta = &inference->delta;
    const float *own = gather->sum + gather->start[example];
    for (size_t i = 0; i < delta->count; i++)
        delta->dense[delta->part[i]] = 0;
    for (size_t kind = 0; kind < MD_PART_KINDS; kind++) {
        const md_groups groups = groups_of(gather, length, kind);
        const double *shared = gather->shared + gather->shared_start[kind];
        float *dense = delta->dense + groups.first;
        const size_t count = groups.width * groups.count;
        if (!gather->is_shared[kind]) {
            memcpy(dense, own, count * sizeof *own);
            own += count;
        }
        for (size_t i = 0; with_shared && gather->is_shared[kind] && i < count; i++)
            dense[i] = (float)shared[i];
    }
    md_delta_list(delta, gather->space.structure->part_count(gather->space.shape, length), 0);
    md_delta_group_rows(delta, length, md_row_width(gather->space, length));
}

bool md_gather_has(const md_gather *gather, size_t example)
{
    for (size_t i = gather->start[example]; i < gather->start[example + 1]; i++)
        if (gather->sum[i] != 0)
            return true;
    return false;
}

void md_gather_visit_state(md_gather *gather, md_state_visitor visit, void *context)
{
    visit(context, &gather->epochs, sizeof gather->epochs);
    visit(context, &gather->total, sizeof gather->total);
    visit(context, &gather->offset, sizeof gather->offset);
    visit(context, &gather->rounding, sizeof gather->rounding);
    visit(context, gather->sum, gather->size * sizeof *gather->sum);
    visit(context, gather->shared, gather->shared_size * sizeof *gather->shared);
}
