/* SPDX-License-Identifier: BSD-3-Clause */
/* What is done to the state of an online run between epochs: starting anew, going on, copying it,
 * and what is returned in the end. */
#include "learner/online_internal.h"

#include <math.h>
#include <string.h>

static const double COLDEST = 0.02; /* of a rate */

void md_online_restart(md_online *online, double eta0)
{
    online->round = online->updates = online->renewed = 0;
    online->owed = 0;
    online->rounds_since_prox = 0;
    online->mirror = (md_mirror){0};
    online->diverged = false;
    online->settings.eta0 = eta0;
    for (size_t m = 0; m < online->problem.block_count; m++)
        online->problem.blocks[m]->class->restart(online->problem.blocks[m]);
    if (online->settings.rule == MD_RULE_MIRROR)
        md_mirror_restart(online);
    memset(online->stepped, 0, online->problem.example_count * sizeof *online->stepped);
}

void md_online_continue(md_online *online)
{
    if (online->settings.rule == MD_RULE_MIRROR)
        md_mirror_restart(online);
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
    visit(context, &online->mirror, sizeof online->mirror);
    visit(context, online->stepped, online->problem.example_count * sizeof *online->stepped);
    for (size_t m = 0; m < online->problem.block_count; m++)
        md_block_visit(online->problem.blocks[m], visit, context);
}

medley_status md_online_settle(md_online *online, medley_error *error)
{
    if (online->problem.ledger == NULL)
        return MEDLEY_OK;
    return md_ledger_close(online->problem.ledger, error);
}

/* Thousands of small changes are lost in single precision. What it costs is little beside the
 * updates themselves. */
medley_status md_online_renew(md_online *online, medley_error *error)
{
    enum { CHANGES_OF_A_ROW = 32, CHANGES_FOR_A_LABEL = 8 };
    const md_online_problem *p = &online->problem;
    const size_t labels = CHANGES_FOR_A_LABEL * p->space.shape.labels;
    const size_t often = labels > CHANGES_OF_A_ROW ? labels : CHANGES_OF_A_ROW;
    medley_status status = MEDLEY_OK;
    if ((online->updates - online->renewed) / often < p->visit_count || p->gram == NULL)
        return MEDLEY_OK;
    online->renewed = online->updates;
    for (size_t m = 0; m < p->block_count && status == MEDLEY_OK; m++)
        if (p->blocks[m]->class->renew != NULL)
            status = p->blocks[m]->class->renew(p->blocks[m], error);
    return status == MEDLEY_OK ? md_online_settle(online, error) : status;
}

void md_online_take_links(md_online *online)
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
    medley_status status = MEDLEY_OK;
    for (size_t m = 0; m < online->problem.block_count && status == MEDLEY_OK; m++) {
        md_block *block = online->problem.blocks[m];
        if (block->iterates > 0) {
            status = block->class->take_average(block, error);
            block->dual_scale = 1;
        }
    }
    if (status == MEDLEY_OK)
        status = md_online_settle(online, error);
    for (size_t m = 0; m < online->problem.block_count && status == MEDLEY_OK; m++)
        md_block_refresh_norm(online->problem.blocks[m]);
    return status;
}
