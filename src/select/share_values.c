/* SPDX-License-Identifier: BSD-3-Clause */
/* Tiles on and above the diagonal are computed and mirrored, as for the matrices of a learner; but
 * nothing is centred, and what comes out belongs to the caller. */
#include "select/share.h"

#include "gram/tile.h"

enum { REPORTS = 16 }; /* of progress */

struct values {
    float **full; /* [kernels] each [n][n], or NULL */
    size_t n;
};

static float *place_value(void *context, size_t m, size_t row, size_t column, size_t *stride)
{
    const struct values *values = context;
    *stride = values->n;
    return values->full[m] + row * values->n + column;
}

static void mirror_value(void *context, size_t m, const md_tile_values *tile)
{
    const struct values *values = context;
    md_tile_mirror(values->full[m], values->n, tile);
}

medley_status md_share_values(const md_kernel_set *set, float **full, const md_share_limits *limits,
                              double began, medley_error *error)
{
    const md_bank *bank = &set->bank;
    MD_OWNED(free) bool *wanted = NULL;
    MD_OWNED(free) size_t *group_start = NULL;
    struct values values = {.full = full, .n = set->data->rows};
    const md_tile_sink sink = {.context = &values, .place = place_value, .take = mirror_value};
    md_triangle triangle = {
        .job = {.bank = bank, .left = &set->prepared, .right = &set->prepared, .sink = &sink}};
    MEDLEY_TRY(md_new(&wanted, bank->count, sizeof *wanted, error));
    MEDLEY_TRY(md_new(&group_start, bank->count + 1, sizeof *group_start, error));
    for (size_t m = 0; m < bank->count; m++) {
        wanted[m] = full[m] != NULL;
        if (m == 0 || bank->kernels[m].view != bank->kernels[m - 1].view)
            group_start[triangle.groups++] = m;
    }
    group_start[triangle.groups] = bank->count;
    triangle.group_start = group_start;
    triangle.job.wanted = wanted;
    const size_t batch = md_triangle_items(&triangle) / REPORTS + limits->threads;
    medley_status status =
        md_tile_scratch_make(&triangle.scratch, limits->threads, &set->prepared, error);
    if (status >= 0 &&
        !md_triangle_compute(&triangle, limits->threads, batch, limits->observer, began))
        status = MEDLEY_STOPPED;
    md_tile_scratch_free(triangle.scratch);
    return status;
}
