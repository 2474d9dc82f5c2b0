/* SPDX-License-Identifier: BSD-3-Clause */
/* LevelMKL (Xu, Jin, King and Lyu 2009): the bounds of SILP, but not their least point. With the
 * best value so far, U, and the least value L of the largest bound h, a linear program, the next
 * weights are the nearest ones to the present that are as good by h as a level between both:
 *
 *     minimise ||d' - d||^2   subject to   h(d') <= lambda U + (1 - lambda) L
 *
 * which is a quadratic program with a plane for each bound. As in the paper lambda is 0.9, and 0.99
 * once U - L is less than a hundredth of U. */
#include "baseline/weight_simplex.h"
#include "batch/batch.h"
#include "optim/simplex.h"

static const double LEVEL = 0.9;
static const double LATER_LEVEL = 0.99;
static const double LATER = 0.01;
/* Of the value: as good as none. */
static const double NO_GAP = 1e-10;

struct level {
    md_bounds bounds;
    double *slope, *height, *limit; /* [planes][count], [planes], [planes] of all bounds */
    size_t planes, slope_capacity, height_capacity, limit_capacity;
};

static void clear_level(struct level *s)
{
    md_bounds_clear(&s->bounds);
    free(s->slope);
    free(s->height);
    free(s->limit);
}

/* Keeps the last bound. */
static medley_status add_plane(struct level *s, medley_error *error)
{
    const size_t count = s->bounds.shares.count;
    const size_t planes = s->planes + 1;
    MEDLEY_TRY(md_grow(&s->slope, &s->slope_capacity, planes * count, sizeof *s->slope, error));
    MEDLEY_TRY(md_grow(&s->height, &s->height_capacity, planes, sizeof *s->height, error));
    MEDLEY_TRY(md_grow(&s->limit, &s->limit_capacity, planes, sizeof *s->limit, error));
    memcpy(s->slope + s->planes * count, s->bounds.row + 1, count * sizeof *s->slope);
    s->height[s->planes] = s->bounds.height;
    s->planes = planes;
    return MEDLEY_OK;
}

/* The level, of the scale. */
static double choose_level(const struct level *s)
{
    const double least = s->bounds.solution[0];
    const double share = s->bounds.best - least < LATER * s->bounds.best ? LATER_LEVEL : LEVEL;
    return share * s->bounds.best + (1 - share) * least;
}

static medley_status project(struct level *s, double level, medley_error *error)
{
    for (size_t k = 0; k < s->planes; k++)
        s->limit[k] = level - s->height[k];
    const md_half_spaces spaces = {
        .count = s->bounds.shares.count, .planes = s->planes, .slope = s->slope, .limit = s->limit};
    return md_simplex_project_into(&spaces, s->bounds.shares.x, error);
}

static bool has_moved(const struct level *s, const md_wrap *w)
{
    const md_shares *shares = &s->bounds.shares;
    for (size_t m = 0; m < w->kernels; m++)
        if (fabs(shares->x[m] * shares->total - w->weight[m]) > 1e-13 * shares->total)
            return true;
    return false;
}

static medley_status follow_level(md_wrap *w, void *method, bool *moved, medley_error *error)
{
    struct level *s = method;
    md_bounds *bounds = &s->bounds;
    *moved = true;
    MEDLEY_TRY(md_bounds_add(bounds, w, error));
    MEDLEY_TRY(add_plane(s, error));
    const double level = choose_level(s);
    if (!(bounds->value >
          level + NO_GAP * bounds->best)) /* by its bound d is good enough to stay */
        return md_wrap_refine(w, moved, error);
    MEDLEY_TRY(project(s, level, error));
    if (!has_moved(s, w)) /* rounding hides the way */
        return md_wrap_refine(w, moved, error);
    md_shares_write(&bounds->shares, w);
    return md_wrap_settle(w, error);
}

medley_status md_batch_levelmkl(md_batch_solution *solution, const md_batch_problem *problem,
                                const md_batch_solution *start, medley_error *error)
{
    MD_CLEARED(md_pool_clear) md_pool pool = {0};
    MD_CLEARED(clear_level) struct level s = {0};
    const md_wrap_method method = {.move = follow_level, .state = &s, .inner_share = 0.1};
    *solution = (md_batch_solution){0};
    MEDLEY_TRY(md_wrap_check_penalty(problem, "levelmkl", error));
    MEDLEY_TRY(md_bounds_init(&s.bounds, &pool, problem, "levelmkl", error));
    return md_wrap_run(solution, problem, start, &method, error);
}

extern const md_method md_method_levelmkl;
const md_method md_method_levelmkl = {
    MD_CERTIFIED_METHOD,
    .about = &(const md_about){.name = "levelmkl",
                               .summary = "for comparison: as spicy, by projections of kernel "
                                          "weights on level sets (LevelMKL)",
                               .takes = MD_BATCH_TAKES | MD_TAKES_WEIGHTS},
    .fit_path = md_fit_batch_path,
    .solve = md_batch_levelmkl,
    .squares = true,
};
