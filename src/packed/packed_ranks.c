/* SPDX-License-Identifier: BSD-3-Clause */
/* Packed grams of several ranks: every kernel belongs to one of them, which computes, keeps and
 * multiplies it. All ranks know how large kernels are, and get what the owners find: results of
 * single kernels, which are the same bits as those of a process alone, and sums in the order of
 * ranks. */
#include "packed/packed_internal.h"

#include "base/random.h"

enum { GROUP_KERNELS = 16, GROUPS = 8 }; /* of kernels that share products; for each rank */

/* Kernels of one view stay together as far as there are enough of such groups; these are dealt out
 * in rounds, in another order each, so that no pattern in the bank gives one rank more to do. */
medley_status md_packed_divide(md_packed *packed, medley_comm *comm, medley_error *error)
{
    packed->comm = comm;
    packed->rank = comm != NULL ? medley_comm_rank(comm) : 0;
    packed->ranks = comm != NULL ? medley_comm_size(comm) : 1;
    MEDLEY_TRY(
        md_pool_new(&packed->pool, &packed->owner, packed->count, sizeof *packed->owner, error));
    MEDLEY_TRY(md_pool_new(&packed->pool, &packed->shared, packed->count, sizeof(double *), error));
    if (packed->ranks == 1)
        return MEDLEY_OK;
    const size_t most = md_max(md_min(GROUP_KERNELS, packed->count / (GROUPS * packed->ranks)), 1);
    MD_OWNED(free) size_t *order = NULL; /* of the ranks, in this round */
    MEDLEY_TRY(md_new(&order, packed->ranks, sizeof *order, error));
    md_random random;
    md_random_seed(&random, 1);
    size_t inside = 0; /* kernels of the present group */
    size_t turn = 0;   /* of this round */
    for (size_t m = 0; m < packed->count; m++) {
        const md_kernel *kernel = &packed->bank->kernels[m];
        const bool shares =
            m > 0 && kernel->class != NULL && kernel[-1].view == kernel->view && inside < most;
        if (m > 0 && !shares) {
            turn = turn + 1 < packed->ranks ? turn + 1 : 0;
            inside = 0;
        }
        if (turn == 0 && inside == 0) {
            for (size_t r = 0; r < packed->ranks; r++)
                order[r] = r;
            md_random_shuffle(&random, order, packed->ranks);
        }
        packed->owner[m] = order[turn];
        inside++;
    }
    return MEDLEY_OK;
}

/* ---- what owners found ---- */

/* items[count + 1]: first place of each rank when the chosen kernels are in the order of ranks. */
static void count_items(const md_packed *packed, md_chosen chosen, size_t *first)
{
    memset(first, 0, (packed->ranks + 1) * sizeof *first);
    for (size_t i = 0; i < chosen.count; i++)
        first[packed->owner[md_chosen_kernel(chosen, i)] + 1]++;
    for (size_t r = 0; r < packed->ranks; r++)
        first[r + 1] += first[r];
}

medley_status md_packed_exchange(const md_packed *packed, md_chosen chosen, double *values,
                                 size_t width, medley_error *error)
{
    MD_CLEARED(md_pool_clear) md_pool pool = {0};
    double *all = NULL;
    size_t *first = NULL;
    size_t *next = NULL;
    if (packed->ranks == 1 || chosen.count == 0)
        return MEDLEY_OK;
    const size_t bytes = width * sizeof *values;
    MEDLEY_TRY(md_pool_new_aligned(&pool, &all, chosen.count * width, sizeof *all, error));
    MEDLEY_TRY(md_pool_new(&pool, &first, packed->ranks + 1, sizeof *first, error));
    MEDLEY_TRY(md_pool_new(&pool, &next, packed->ranks, sizeof *next, error));
    count_items(packed, chosen, first);
    memcpy(next, first, packed->ranks * sizeof *next);
    for (size_t i = 0; i < chosen.count; i++)
        if (md_packed_is_own(packed, md_chosen_kernel(chosen, i)))
            memcpy(all + next[packed->rank]++ * width, values + i * width, bytes);
    MEDLEY_TRY(md_comm_gather_spans(packed->comm, all, first, bytes, error));
    memcpy(next, first, packed->ranks * sizeof *next);
    for (size_t i = 0; i < chosen.count; i++) {
        const size_t m = md_chosen_kernel(chosen, i);
        const double *from = all + next[packed->owner[m]]++ * width;
        if (!md_packed_is_own(packed, m))
            memcpy(values + i * width, from, bytes);
    }
    return MEDLEY_OK;
}

medley_status md_packed_sum_ranks(const md_packed *packed, double *sum, medley_error *error)
{
    const size_t n = packed->n;
    MD_OWNED(free) double *triangle = NULL;
    if (packed->ranks == 1)
        return MEDLEY_OK;
    MEDLEY_TRY(md_new_aligned(&triangle, packed->size, sizeof *triangle, error));
    for (size_t i = 0; i < n; i++)
        memcpy(triangle + md_triangle_row(n, i), sum + i * n + i, (n - i) * sizeof *sum);
    MEDLEY_TRY(md_comm_sum(packed->comm, triangle, packed->size, error));
    for (size_t i = 0; i < n; i++)
        memcpy(sum + i * n + i, triangle + md_triangle_row(n, i), (n - i) * sizeof *sum);
    return MEDLEY_OK;
}

/* ---- what is known of each kernel ---- */

enum { TRACE, SPREAD, FROBENIUS2, RANK, LOW_RIDGE, FACTS };

static medley_status share_means(md_packed *packed, medley_error *error)
{
    MD_CLEARED(md_pool_clear) md_pool pool = {0};
    const size_t n = packed->n;
    double *means = NULL; /* [centred][n + 1] */
    size_t *kernels = NULL;
    size_t count = 0;
    MEDLEY_TRY(md_pool_new(&pool, &kernels, packed->count, sizeof *kernels, error));
    for (size_t m = 0; m < packed->count; m++)
        if (packed->bank->kernels[m].norm == MD_NORM_CENTER)
            kernels[count++] = m;
    MEDLEY_TRY(md_pool_new(&pool, &means, count * (n + 1), sizeof *means, error));
    for (size_t k = 0; k < count; k++) {
        const md_kernel *kernel = &packed->bank->kernels[kernels[k]];
        for (size_t i = 0; md_packed_is_own(packed, kernels[k]) && i < n; i++)
            means[k * (n + 1) + i] = (double)kernel->column_mean[i];
        means[k * (n + 1) + n] = kernel->grand_mean;
    }
    MEDLEY_TRY(md_packed_exchange(packed, (md_chosen){kernels, count}, means, n + 1, error));
    for (size_t k = 0; k < count; k++) {
        md_kernel *kernel = &packed->bank->kernels[kernels[k]];
        if (md_packed_is_own(packed, kernels[k]))
            continue;
        free(kernel->column_mean);
        MEDLEY_TRY(md_new(&kernel->column_mean, n, sizeof *kernel->column_mean, error));
        for (size_t i = 0; i < n; i++)
            kernel->column_mean[i] = (float)means[k * (n + 1) + i];
        kernel->grand_mean = means[k * (n + 1) + n];
    }
    return MEDLEY_OK;
}

medley_status md_packed_share_facts(md_packed *packed, medley_error *error)
{
    MD_OWNED(free) double *facts = NULL;
    bool absent = false;
    for (size_t m = 0; m < packed->count; m++)
        absent = absent || (md_packed_is_own(packed, m) && !packed->permanent[m] &&
                            !(packed->by_rows && packed->held[m]));
    MEDLEY_TRY(md_comm_any(packed->comm, &absent, error));
    packed->is_resident = !absent;
    if (packed->ranks == 1)
        return MEDLEY_OK;
    MEDLEY_TRY(md_new(&facts, packed->count * FACTS, sizeof *facts, error));
    for (size_t m = 0; m < packed->count; m++) {
        double *own = facts + m * FACTS;
        own[TRACE] = packed->trace[m];
        own[SPREAD] = packed->spread[m];
        own[FROBENIUS2] = packed->frobenius2[m];
        own[RANK] = (double)packed->lowrank[m].rank;
        own[LOW_RIDGE] = packed->lowrank[m].ridge;
    }
    MEDLEY_TRY(
        md_packed_exchange(packed, (md_chosen){.count = packed->count}, facts, FACTS, error));
    for (size_t m = 0; m < packed->count; m++) {
        const double *own = facts + m * FACTS;
        packed->trace[m] = own[TRACE];
        packed->spread[m] = own[SPREAD];
        packed->frobenius2[m] = own[FROBENIUS2];
        packed->lowrank[m].rank = (size_t)own[RANK];
        packed->lowrank[m].ridge = own[LOW_RIDGE];
    }
    return share_means(packed, error);
}

/* ---- factors ---- */

void md_packed_drop_shared(md_packed *packed)
{
    for (size_t m = 0; packed->shared != NULL && m < packed->count; m++) {
        free(packed->shared[m]);
        packed->shared[m] = NULL;
    }
}

static void drop_others(md_packed *packed, const bool *wanted)
{
    for (size_t m = 0; m < packed->count; m++)
        if (!wanted[m]) {
            free(packed->shared[m]);
            packed->shared[m] = NULL;
        }
}

/* Room for the factors of those chosen kernels that all ranks are to have, in their order as far as
 * the budget goes: [*count] fresh ones. */
static medley_status choose_shared(md_packed *packed, md_chosen chosen, size_t *fresh,
                                   size_t *count, medley_error *error)
{
    double bytes = 0;
    for (size_t i = 0; i < chosen.count; i++) {
        const size_t m = md_chosen_kernel(chosen, i);
        const size_t values = packed->lowrank[m].rank * packed->n;
        bytes += (double)values * sizeof(double);
        if (values == 0 || (packed->share_most > 0 && bytes > (double)packed->share_most) ||
            packed->shared[m] != NULL)
            continue;
        MEDLEY_TRY(md_new_aligned(&packed->shared[m], values, sizeof(double), error));
        fresh[(*count)++] = m;
    }
    return MEDLEY_OK;
}

/* They follow one another in one array, in the order of ranks. */
static medley_status send_factors(md_packed *packed, const size_t *fresh, size_t count,
                                  medley_error *error)
{
    MD_CLEARED(md_pool_clear) md_pool pool = {0};
    const size_t n = packed->n;
    double *all = NULL;
    size_t *offset = NULL; /* [ranks + 1] rows of factors */
    size_t total = 0;
    MEDLEY_TRY(md_pool_new(&pool, &offset, packed->ranks + 1, sizeof *offset, error));
    for (size_t r = 0; r < packed->ranks; r++) {
        for (size_t f = 0; f < count; f++)
            total += packed->owner[fresh[f]] == r ? packed->lowrank[fresh[f]].rank : 0;
        offset[r + 1] = total;
    }
    MEDLEY_TRY(md_pool_new_aligned(&pool, &all, total * n, sizeof *all, error));
    for (int get = 0; get < 2; get++) {
        size_t at = 0;
        for (size_t r = 0; r < packed->ranks; r++)
            for (size_t f = 0; f < count; f++) {
                const size_t m = fresh[f];
                const size_t values = packed->lowrank[m].rank * n;
                if (packed->owner[m] != r)
                    continue;
                if (get == 0 && r == packed->rank)
                    MEDLEY_TRY(md_packed_copy_factor(packed, m, all + at, error));
                if (get == 1)
                    memcpy(packed->shared[m], all + at, values * sizeof *all);
                at += values;
            }
        if (get == 0)
            MEDLEY_TRY(md_comm_gather_spans(packed->comm, all, offset, n * sizeof(double), error));
    }
    return MEDLEY_OK;
}

medley_status md_packed_share_factors(md_packed *packed, md_chosen chosen, medley_error *error)
{
    MD_OWNED(free) size_t *fresh = NULL;
    size_t count = 0;
    if (packed->ranks == 1)
        return MEDLEY_OK;
    MEDLEY_TRY(md_new(&fresh, chosen.count, sizeof *fresh, error));
    md_packed_want(packed, chosen);
    drop_others(packed, packed->wanted);
    MEDLEY_TRY(choose_shared(packed, chosen, fresh, &count, error));
    return send_factors(packed, fresh, count, error);
}
