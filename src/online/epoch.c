/* SPDX-License-Identifier: BSD-3-Clause */
/* One pass over the examples: visiting order, announcing of what comes next, rounds. */
#include "online/rule.h"

#include "base/random.h"
#include "online/gather.h"

void md_online_fill_order(md_online *online)
{
    const md_online_problem *p = &online->problem;
    for (size_t i = 0; i < p->visit_count; i++)
        online->order[i] = p->visit ? p->visit[i] : i;
}

/* What examples are lies far apart, in the order of visits: it is asked for some examples before it
 * is needed. */
enum { SOON = 12, LIKELY = 3 };

/* The rows of as many whole rounds as may be open together, from `from` on; *count: of so many
 * examples. */
static size_t list_rows(md_online *online, size_t from, size_t end, size_t *count)
{
    const md_online_problem *p = &online->problem;
    const size_t window = md_deferred_open_most(p->deferred);
    size_t rows = 0;
    size_t taken = 0;
    while (from + taken < end) {
        const md_example example = p->examples[online->order[from + taken]];
        if (from + taken + SOON < end)
            __builtin_prefetch(&p->examples[online->order[from + taken + SOON]]);
        __builtin_prefetch(p->gold + example.row);
        if (rows + example.length > window)
            break;
        for (size_t i = 0; i < example.length; i++)
            online->rows[rows++] = example.row + i;
        taken++;
    }
    if (from + taken < end)
        for (; taken % online->settings.batch != 0; taken--)
            rows -= p->examples[online->order[from + taken - 1]].length;
    *count = taken;
    return rows;
}

medley_status md_online_announce(md_online *online, size_t from, size_t end, size_t *count,
                                 medley_error *error)
{
    const md_online_problem *p = &online->problem;
    const size_t batch = online->settings.batch;
    *count = end - from;
    if (p->window != NULL)
        return p->window->open(p->window->context, online->order + from, *count, batch, count,
                               error);
    if (p->deferred == NULL)
        return MEDLEY_OK;
    size_t rows = list_rows(online, from, end, count);
    MEDLEY_TRY(md_deferred_open(p->deferred, online->rows, rows, error));
    size_t next;
    rows = list_rows(online, from + *count, end, &next);
    return md_deferred_expect(p->deferred, online->rows, rows, error);
}

/* After the rounds: scores, norms and what the rule makes of them are exact again. */
static medley_status refresh(md_online *online, medley_error *error)
{
    const bool anew = !online->diverged && !online->settings.in_order;
    MEDLEY_TRY(md_online_settle(online, error));
    if (anew)
        MEDLEY_TRY(md_online_renew(online, error));
    if (online->diverged)
        return MEDLEY_OK;
    if (anew)
        md_online_refresh_norms(online);
    if (online->settings.rule->end_epoch != NULL)
        online->settings.rule->end_epoch(online);
    return MEDLEY_OK;
}

/* An example that needed a step when it was last visited will probably need one again. */
static void prefetch_likely(const md_online *online, size_t which)
{
    const md_online_problem *p = &online->problem;
    if (!online->stepped[which])
        return;
    for (size_t m = 0; m < p->block_count; m++)
        if (p->blocks[m]->class->prefetch_change != NULL)
            p->blocks[m]->class->prefetch_change(p->blocks[m], p->examples[which]);
}

medley_status md_online_epoch(md_online *online, size_t epoch, medley_error *error)
{
    const md_online_settings *s = &online->settings;
    size_t visited = online->problem.visit_count;
    size_t announced = 0;
    md_random random;
    if (s->rule->before_epoch != NULL)
        MEDLEY_TRY(s->rule->before_epoch(online, error));
    online->loss_sum = 0;
    if (online->gather != NULL)
        md_gather_begin_epoch(online->gather);
    online->counting = s->average && epoch >= s->average_from;
    md_online_fill_order(online);
    md_random_seed(&random, s->seed * 1000003u + epoch);
    if (!s->in_order && !s->rule->in_order)
        md_random_shuffle(&random, online->order, visited);
    if (s->rule->choose != NULL)
        MEDLEY_TRY(s->rule->choose(online, &visited, error));
    const md_epoch_start start = {online->round, online->updates, online->left_out};
    const md_span own =
        s->mixes ? md_comm_share(s->comm, visited, s->batch) : (md_span){.end = visited};
    for (size_t i = own.first; i < own.end && !online->diverged;) {
        if (i >= announced) {
            size_t count;
            MEDLEY_TRY(md_online_announce(online, i, own.end, &count, error));
            announced = i + count;
        }
        const size_t left = own.end - i; /* rounds do not depend on what was announced */
        md_round round = {.online = online,
                          .which = online->order + i,
                          .size = left < s->batch ? left : s->batch};
        round.is_last = round.size == left;
        online->round += round.size;
        if (online->problem.deferred != NULL)
            md_deferred_visit(online->problem.deferred, online->problem.examples[*round.which].row);
        if (online->problem.deferred != NULL && i + LIKELY < announced)
            prefetch_likely(online, online->order[i + LIKELY]);
        s->rule->round(online, &round);
        for (size_t m = 0; online->counting && m < online->problem.block_count; m++)
            md_block_count_iterate(online->problem.blocks[m]);
        i += round.size;
    }
    MEDLEY_TRY(md_exchange_check(online->exchange, error));
    if (s->mixes)
        MEDLEY_TRY(md_online_mix(online, &start, visited, error));
    if (online->failure != NULL)
        return md_fail_structure(online->problem.space, online->failure, error);
    return refresh(online, error);
}
