/* SPDX-License-Identifier: BSD-3-Clause */
#include "online/row_sums.h"

enum { TWO = 2 };                 /* rows, which may have parts in common */
static const double ALIKE = 1e-7; /* relative, of factors: no more than scores are rounded */

medley_status md_row_sums_new(md_row_sums **sums, md_pool *pool, const md_online_problem *problem,
                              medley_error *error)
{
    const md_space space = problem->space;
    const size_t floats = space.shape.labels * MD_SIDE_BY_SIDE;
    md_row_sums *made;
    *sums = NULL;
    if (problem->deferred == NULL || problem->block_count == 0 ||
        space.structure->part_count(space.shape, TWO) != TWO * space.shape.labels)
        return MEDLEY_OK;
    for (size_t m = 0; m < problem->block_count; m++)
        if (!md_kernel_block_is_deferred(problem->blocks[m]))
            return MEDLEY_OK;
    MEDLEY_TRY(md_pool_new(pool, &made, 1, sizeof *made, error));
    MEDLEY_TRY(md_pool_new_aligned(pool, &made->sum, floats, sizeof *made->sum, error));
    MEDLEY_TRY(md_pool_new(pool, &made->factor, problem->block_count, sizeof *made->factor, error));
    *sums = made;
    return MEDLEY_OK;
}

static void add_up(md_row_sums *sums, const md_online_problem *p, size_t place)
{
    const size_t open = md_deferred_open_most(p->deferred);
    sums->first = place / MD_SIDE_BY_SIDE * MD_SIDE_BY_SIDE;
    sums->count = md_min(open - sums->first, MD_SIDE_BY_SIDE);
    memset(sums->sum, 0, p->space.shape.labels * MD_SIDE_BY_SIDE * sizeof *sums->sum);
    for (size_t m = 0; m < p->block_count; m++) {
        sums->factor[m] = md_block_factor(p->blocks[m]);
        md_kernel_block_score_open(p->blocks[m], sums->first, sums->count, sums->sum);
    }
}

/* What all factors have been multiplied by since the sums were made; NaN: not all alike. */
static double common_factor(const md_row_sums *sums, const md_online_problem *p)
{
    double common = NAN;
    for (size_t m = 0; m < p->block_count; m++) {
        const double now = md_block_factor(p->blocks[m]);
        const double then = sums->factor[m];
        if (then == 0 && now == 0)
            continue;
        if (isnan(common))
            common = now / then;
        if (!(fabs(now - common * then) <= ALIKE * now))
            return NAN;
    }
    return common;
}

static void look_up(const md_row_sums *sums, size_t labels, size_t place, float factor,
                    float *score)
{
    for (size_t l = 0; l < labels; l++)
        score[l] = factor * sums->sum[l * MD_SIDE_BY_SIDE + place - sums->first];
}

bool md_row_sums_score(md_row_sums *sums, const md_online_problem *problem, md_example example,
                       float *score)
{
    const size_t labels = problem->space.shape.labels;
    if (md_deferred_place(problem->deferred, example.row) == SIZE_MAX)
        return false;
    const size_t version = md_deferred_version(problem->deferred);
    double factor = sums->version == version ? common_factor(sums, problem) : NAN;
    sums->version = version;
    if (isnan(factor))
        sums->count = 0;
    for (size_t i = 0; i < example.length; i++) {
        const size_t place = md_deferred_place(problem->deferred, example.row + i);
        if (place - sums->first >= sums->count) {
            add_up(sums, problem, place);
            factor = 1;
        }
        look_up(sums, labels, place, (float)factor, score + i * labels);
    }
    return true;
}
