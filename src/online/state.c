/* SPDX-License-Identifier: BSD-3-Clause */
/* The state of an online run: made, started anew, continued, copied, and what is returned in the
 * end. */
#include "online/rule.h"

#include "online/gather.h"
#include "online/row_sums.h"

static const double COLDEST = 0.02; /* of a rate */

static medley_status init_batch(md_online *online, medley_error *error)
{
    const size_t batch = online->settings.batch;
    md_pool *pool = &online->pool;
    MEDLEY_TRY(md_pool_new(pool, &online->inference, batch, sizeof *online->inference, error));
    MEDLEY_TRY(md_pool_new(pool, &online->gradients, batch, sizeof *online->gradients, error));
    MEDLEY_TRY(md_pool_new(pool, &online->loss, batch, sizeof *online->loss, error));
    MEDLEY_TRY(md_pool_new(pool, &online->dropped, batch, sizeof *online->dropped, error));
    MEDLEY_TRY(md_pool_new(pool, &online->mine, batch, sizeof *online->mine, error));
    MEDLEY_TRY(md_pool_new(pool, &online->cost, batch, sizeof *online->cost, error));
    if (medley_comm_size(online->settings.comm) > 1)
        MEDLEY_TRY(md_exchange_create(&online->exchange, online->settings.comm, error));
    MEDLEY_TRY(md_pool_new(pool, &online->cuts, md_round_groups(online->settings.threads) + 1,
                           sizeof *online->cuts, error));
    if (batch == 1) /* larger rounds are scored by several threads */
        MEDLEY_TRY(md_row_sums_new(&online->sums, pool, &online->problem, error));
    for (size_t b = 0; b < batch; b++)
        MEDLEY_TRY(md_inference_init(&online->inference[b], online->problem.space, online->longest,
                                     error));
    return MEDLEY_OK;
}

medley_status md_online_init(md_online *online, const md_online_problem *problem,
                             const md_online_settings *settings, medley_error *error)
{
    *online = (md_online){.settings = *settings, .problem = *problem};
    if (problem->visit == NULL)
        online->problem.visit_count = problem->example_count;
    for (size_t e = 0; e < problem->example_count; e++)
        if (problem->examples[e].length > online->longest)
            online->longest = problem->examples[e].length;
    const size_t visited = online->problem.visit_count;
    const size_t m = problem->block_count;
    md_pool *pool = &online->pool;
    const size_t rows = problem->deferred ? md_deferred_open_most(problem->deferred) : 0;
    MEDLEY_TRY(md_pool_new(pool, &online->order, visited, sizeof *online->order, error));
    MEDLEY_TRY(md_pool_new(pool, &online->rows, rows, sizeof *online->rows, error));
    MEDLEY_TRY(md_pool_new(pool, &online->stepped, problem->example_count, sizeof *online->stepped,
                           error));
    const size_t scratch = md_max(3 * m, md_penalty_scratch(problem->penalty, m));
    MEDLEY_TRY(md_pool_new(pool, &online->norm, 2 * m + scratch, sizeof *online->norm, error));
    MEDLEY_TRY(md_pool_new(pool, &online->state, 1, settings->rule->state_size, error));
    MEDLEY_TRY(init_batch(online, error));
    online->shrunk = online->norm + m;
    online->scratch = online->norm + 2 * m;
    md_online_fill_order(online);
    online->rate = settings->rule->first_rate
                       ? settings->rule->first_rate(&online->problem, settings)
                       : settings->rates.eta0;
    return settings->rule->init ? settings->rule->init(online, error) : MEDLEY_OK;
}

void md_online_clear(md_online *online)
{
    for (size_t b = 0; online->inference != NULL && b < online->settings.batch; b++)
        md_inference_clear(&online->inference[b]);
    if (online->settings.rule != NULL && online->settings.rule->clear != NULL)
        online->settings.rule->clear(online);
    md_exchange_free(online->exchange);
    md_pool_clear(&online->pool);
    *online = (md_online){0};
}

void md_online_restart(md_online *online, double rate)
{
    online->round = online->skipped = online->updates = online->renewed = online->left_out = 0;
    online->stage = online->stage_began = 0;
    online->diverged = false;
    online->rate = rate;
    for (size_t m = 0; m < online->problem.block_count; m++)
        online->problem.blocks[m]->class->restart(online->problem.blocks[m]);
    online->settings.rule->restart(online);
    memset(online->stepped, 0, online->problem.example_count * sizeof *online->stepped);
}

void md_online_continue(md_online *online, bool from_weights)
{
    const md_rule *rule = online->settings.rule;
    if (from_weights && rule->from_weights != NULL)
        rule->from_weights(online);
    rule->restart(online);
}

medley_status md_online_begin_stage(md_online *online, size_t stage, size_t epoch,
                                    medley_error *error)
{
    online->stage = stage;
    online->stage_began = epoch;
    return online->settings.rule->begin ? online->settings.rule->begin(online, error) : MEDLEY_OK;
}

double md_online_cooling(const md_online *online)
{
    const md_online_settings *s = &online->settings;
    const double since = (double)online->round - s->cool_from;
    const double share = s->cool_to > s->cool_from ? since / (s->cool_to - s->cool_from) : 0;
    return share > 0 ? fmax(COLDEST, 1 - share) : 1;
}

void md_online_visit_state(md_online *online, md_state_visitor visit, void *context)
{
    visit(context, &online->round, sizeof online->round);
    visit(context, &online->updates, sizeof online->updates);
    visit(context, &online->renewed, sizeof online->renewed);
    visit(context, &online->left_out, sizeof online->left_out);
    visit(context, &online->stage, sizeof online->stage);
    visit(context, &online->stage_began, sizeof online->stage_began);
    visit(context, online->state, online->settings.rule->state_size);
    md_visit_bools(online->stepped, online->problem.example_count, visit, context);
    for (size_t m = 0; m < online->problem.block_count; m++)
        md_block_visit(online->problem.blocks[m], visit, context);
    if (online->gather != NULL)
        md_gather_visit_state(online->gather, visit, context);
    if (online->settings.rule->visit_state != NULL)
        online->settings.rule->visit_state(online, visit, context);
}

medley_status md_online_settle(md_online *online, medley_error *error)
{
    if (online->problem.deferred == NULL)
        return MEDLEY_OK;
    return md_deferred_close(online->problem.deferred, error);
}

medley_status md_online_renew_all(md_online *online, medley_error *error)
{
    const md_online_problem *p = &online->problem;
    online->renewed = online->updates;
    for (size_t m = 0; m < p->block_count; m++)
        if (p->blocks[m]->class->renew != NULL)
            MEDLEY_TRY(p->blocks[m]->class->renew(p->blocks[m], error));
    return md_online_settle(online, error);
}

/* Thousands of small changes are lost in single precision. What it costs is little beside the
 * updates themselves. */
medley_status md_online_renew(md_online *online, medley_error *error)
{
    enum { CHANGES_OF_A_ROW = 32, CHANGES_FOR_A_LABEL = 8 };
    const md_online_problem *p = &online->problem;
    const size_t labels = CHANGES_FOR_A_LABEL * p->space.shape.labels;
    const size_t often = labels > CHANGES_OF_A_ROW ? labels : CHANGES_OF_A_ROW;
    if ((online->updates - online->renewed) / often < p->visit_count || p->gram == NULL)
        return MEDLEY_OK;
    return md_online_renew_all(online, error);
}

void md_online_take_weights(md_online *online)
{
    for (size_t m = 0; m < online->problem.block_count; m++) {
        md_block *block = online->problem.blocks[m];
        if (block->dual_scale > 0)
            md_block_rescale(block, block->dual_scale);
        else
            block->class->clear(block);
        block->dual_scale = 1;
    }
}

medley_status md_online_take_average(md_online *online, medley_error *error)
{
    for (size_t m = 0; m < online->problem.block_count; m++) {
        md_block *block = online->problem.blocks[m];
        if (block->iterates > 0) {
            MEDLEY_TRY(block->class->take_average(block, error));
            block->dual_scale = 1;
        }
    }
    MEDLEY_TRY(md_online_settle(online, error));
    md_online_refresh_norms(online);
    return MEDLEY_OK;
}
