/* SPDX-License-Identifier: BSD-3-Clause */
/* The lower bound of the objective that a run's gradients give (penalty/bound.h). The blocks, whose
 * theta is set aside by the caller, take all the gathered gradients in one step each, so that theta
 * becomes minus their sum over the examples, whatever the blocks are made of; its norms are what
 * the penalty's conjugate asks for.
 *
 * All of it is in single precision, as kernel values are, and the bound must hold nevertheless. So
 * it gets a margin: squared norms n^2 are enlarged by the share 2^-22 sqrt(T) of n^2 + r^2, where T
 * rows have gradients and r^2 is the sum of their squared lengths, as if they were orthogonal (what
 * T roundings in no particular direction add up to, four times), and the mean offset is smaller by
 * 2^-20 of the numbers that it is the difference of. */
#include "online/run.h"

#include "base/random.h"
#include "online/gather.h"
#include "penalty/bound.h"
#include "penalty/link.h"

static const double NORM_MARGIN = 0x1p-22;

medley_status md_run_check(md_problem *problem, medley_error *error)
{
    const md_rule *rule = problem->method->rule;
    if (rule != NULL && rule->is_smooth && !problem->online->loss->by_marginals)
        return md_fail(error, MEDLEY_USAGE,
                       "`method=%s` needs a smooth loss, and `loss=%s` has kinks; use "
                       "`loss=logistic` or softmax-margin, or `method=spom` or frank-wolfe",
                       rule->about.name, problem->online->loss->name);
    if (rule != NULL && rule->check != NULL)
        MEDLEY_TRY(rule->check(problem, error));
    const md_space space = problem->space;
    const bool proves = problem->options->certify || (rule != NULL && rule->gap != NULL);
    if (proves && space.structure != NULL && space.structure->approximates != NULL &&
        space.structure->approximates(space.shape))
        return md_fail(
            error, MEDLEY_USAGE,
            "`%s` needs best outputs that are proven, and those of `order=2` and `prune` "
            "are not; leave these out, or %s",
            problem->options->certify ? "certify" : "method",
            problem->options->certify ? "that" : "use `method=spom`");
    const bool has_bound = !problem->options->certify || problem->method->kind->batch ||
                           md_penalty_has_conjugate(problem->penalty);
    if (proves && has_bound && !problem->method->kind->batch)
        return md_check_definite(problem,
                                 problem->options->certify ? "leave out `certify`"
                                                           : "use `method=obscure` or spom",
                                 error);
    if (has_bound)
        return MEDLEY_OK;
    return md_fail(error, MEDLEY_USAGE,
                   "`certify` needs a penalty whose conjugate follows from the norms of blocks, "
                   "and that of `penalty=%s` does not; use mkl, group-lasso, l2, absorbed-l2, "
                   "block, squared-block, elastic, elastic-mkl or a sum of them, or leave out "
                   "`certify`",
                   md_penalty_text(problem->penalty));
}

/* An objective below the dual is so by rounding alone. */
void md_certify_result(md_run_result *result)
{
    if (!result->certified)
        return;
    result->dual = fmin(result->dual, result->objective);
    result->gap = result->objective > 0 ? 1 - result->dual / result->objective : 0;
}

/* ---- the sum of all gradients ---- */

struct laying {
    md_online *online;
    double *row_square; /* [rows] squared length of the gradient in the parts of a row; or NULL */
    double rows;        /* that have one */
};

static void note_squares(struct laying *laying, const md_gradient *gradient, double factor)
{
    const md_delta *delta = gradient->delta;
    for (size_t r = 0; laying->row_square != NULL && r < delta->row_count; r++) {
        double sum = 0;
        for (size_t i = delta->start[r]; i < delta->start[r + 1]; i++)
            sum += (double)delta->coefficient[i] * (double)delta->coefficient[i];
        laying->row_square[gradient->example.row + delta->row[r]] = factor * factor * sum;
        laying->rows += 1;
    }
}

/* The gradients of so many examples from order[from] on. */
static void lay_round(struct laying *laying, size_t from, size_t count)
{
    md_online *online = laying->online;
    const md_gather *gather = online->gather;
    const double eta = 1 / gather->total;
    bool any = false;
    for (size_t i = 0; i < count; i++) {
        const size_t which = online->order[from + i];
        const md_example example = online->problem.examples[which];
        md_inference *inference = &online->inference[i];
        inference->space.shape.row = example.row;
        md_gather_fill(gather, which, example.length, from + i == 0, inference);
        online->gradients[i] = (md_gradient){.example = example, .delta = &inference->delta};
        note_squares(laying, &online->gradients[i], eta);
        any = any || inference->delta.count > 0;
    }
    if (!any)
        return;
    md_online_step(online, count, eta);
    memcpy(online->shrunk, online->norm, online->problem.block_count * sizeof *online->norm);
    md_online_finish(online, count, eta, 1);
}

/* Those with a gradient come first; how many these are, at least one, which brings what is shared.
 */
static size_t choose_laid(md_online *online)
{
    size_t count = 0;
    for (size_t i = 0; i < online->problem.visit_count; i++)
        if (md_gather_has(online->gather, online->order[i]))
            online->order[count++] = online->order[i];
    return md_max(count, 1);
}

/* From zero on. In random order: sums of gradients in the order of the data, which may be sorted,
 * could be large before they are small. */
static medley_status lay_gradients(struct laying *laying, medley_error *error)
{
    md_online *online = laying->online;
    const size_t batch = online->settings.batch;
    size_t announced = 0;
    md_random random;
    for (size_t m = 0; m < online->problem.block_count; m++) {
        online->problem.blocks[m]->class->restart(online->problem.blocks[m]);
        online->problem.blocks[m]->dual_scale = 1;
    }
    md_online_fill_order(online);
    md_random_seed(&random, online->settings.seed);
    md_random_shuffle(&random, online->order, online->problem.visit_count);
    const size_t visited = choose_laid(online);
    for (size_t i = 0; i < visited; i += batch) {
        if (i >= announced) {
            size_t count;
            MEDLEY_TRY(md_online_announce(online, i, visited, &count, error));
            announced = i + count;
        }
        lay_round(laying, i, md_min(visited - i, batch));
    }
    return md_online_settle(online, error);
}

medley_status md_online_take_gathered(md_online *online, medley_error *error)
{
    struct laying laying = {.online = online};
    MEDLEY_TRY(lay_gradients(&laying, error));
    for (size_t m = 0; m < online->problem.block_count; m++)
        md_block_refresh_norm(online->problem.blocks[m]);
    return MEDLEY_OK;
}

/* ---- its norms ---- */

medley_status md_online_make_exact(md_online *online, medley_error *error)
{
    const md_online_problem *p = &online->problem;
    for (size_t m = 0; m < p->block_count && p->deferred == NULL; m++)
        if (p->blocks[m]->class->renew != NULL)
            MEDLEY_TRY(p->blocks[m]->class->renew(p->blocks[m], error));
    MEDLEY_TRY(md_online_settle(online, error));
    for (size_t m = 0; m < p->block_count; m++)
        md_block_refresh_norm(p->blocks[m]);
    return MEDLEY_OK;
}

/* Of the mean gradient, with the margin. */
static void find_norms(const struct laying *laying, double *norm)
{
    const md_online_problem *p = &laying->online->problem;
    const double share = NORM_MARGIN * sqrt(laying->rows);
    for (size_t m = 0; m < p->block_count; m++) {
        const md_block *block = p->blocks[m];
        double squares = 0;
        for (size_t e = 0; e < p->example_count; e++)
            for (size_t i = 0; i < p->examples[e].length; i++) {
                const size_t row = p->examples[e].row + i;
                if (laying->row_square[row] > 0)
                    squares += laying->row_square[row] * fmax(0, block->class->self(block, row));
            }
        const double square = block->norm * block->norm;
        norm[m] = sqrt(square + share * (square + squares)) / (double)p->visit_count;
    }
}

medley_status md_online_bound(md_online *online, double *bound, medley_error *error)
{
    const md_online_problem *p = &online->problem;
    const md_gather *gather = online->gather;
    size_t rows = 0;
    for (size_t e = 0; e < p->example_count; e++)
        rows = md_max(rows, p->examples[e].row + p->examples[e].length);
    MD_OWNED(free) double *row_square = NULL;
    MEDLEY_TRY(md_new(&row_square, rows, sizeof *row_square, error));
    struct laying laying = {.online = online, .row_square = row_square};
    *bound = 0;
    if (!(gather->total > 0))
        return MEDLEY_OK;
    MEDLEY_TRY(lay_gradients(&laying, error));
    MEDLEY_TRY(md_online_make_exact(online, error));
    find_norms(&laying, online->norm);
    const double count = gather->total * (double)p->visit_count;
    const double offset = (gather->offset - MD_ROUNDING * gather->rounding) / count;
    *bound = md_penalty_bound(p->penalty, online->settings.lambda, offset, online->norm,
                              p->penalised, p->block_count, NULL, online->scratch);
    return MEDLEY_OK;
}
