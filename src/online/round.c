/* SPDX-License-Identifier: BSD-3-Clause */
/* Scores and gradients of the examples of a round, in parallel where that pays. */
#include "online/rule.h"

#include "base/parallel.h"
#include "online/gather.h"
#include "online/row_sums.h"

static const double WORTH_A_THREAD = 1e4; /* values looked at to score */
static const double WORTH_GROUPS = 2e4; /* the same of a thread that shares examples with others */
enum { FEWEST_GROUPS = 4, GROUPS_OF_A_THREAD = 2 }; /* of rows that are scored block by block */

static md_example example_of(const md_round *round, size_t item)
{
    return round->online->problem.examples[round->which[item]];
}

static void prefetch(const md_round *round, size_t item)
{
    const md_online_problem *p = &round->online->problem;
    for (size_t m = 0; m < p->block_count; m++)
        if (p->blocks[m]->class->prefetch != NULL)
            p->blocks[m]->class->prefetch(p->blocks[m], example_of(round, item));
}

static size_t parts_of_example(const md_online_problem *p, md_example example)
{
    return p->space.structure->part_count(md_shape_at(p->space.shape, example.row), example.length);
}

static void clear_scores(const md_online_problem *p, md_example example, float *score)
{
    memset(score, 0, parts_of_example(p, example) * sizeof *score);
}

void md_online_score(const md_online_problem *p, md_example example, float *score)
{
    clear_scores(p, example, score);
    for (size_t m = 0; m < p->block_count; m++)
        p->blocks[m]->class->score(p->blocks[m], example, score);
}

/* What learning does not need is left out. */
static void drop_parts(const md_online *online, size_t item, md_example example)
{
    const md_online_problem *p = &online->problem;
    online->dropped[item] = 0;
    if (online->settings.skip_threshold > 0 && online->inference[item].delta.count > 0)
        online->dropped[item] = md_delta_drop_rows(
            &online->inference[item].delta, md_row_width(p->space, example.length),
            p->gold + example.row, (float)online->settings.skip_threshold,
            (float)online->settings.least_part);
}

/* The loss of an example that has been scored, and its gradient: by decoding with costs, or from
 * marginals, as the loss needs it. */
static void find_gradient(const md_round *round, size_t item)
{
    md_online *online = round->online;
    const md_online_problem *p = &online->problem;
    const md_example example = example_of(round, item);
    md_inference *inference = &online->inference[item];
    md_gather *gather = online->gather;
    const int32_t *gold = p->gold + example.row;
    inference->space.shape.row = example.row;
    inference->whole = gather != NULL || !(online->settings.skip_threshold > 0);
    online->gradients[item] = (md_gradient){.example = example, .delta = &inference->delta};
    if (gather != NULL)
        memcpy(gather->score + item * gather->parts, inference->score,
               parts_of_example(p, example) * sizeof(float));
    online->loss[item] = md_loss_gradient(p->loss, inference, example.length, gold);
    if (gather == NULL)
        drop_parts(online, item, example);
    else
        gather->item_offset[item] =
            md_loss_offset(inference, example.length, gold, gather->score + item * gather->parts,
                           online->loss[item], &gather->item_rounding[item]);
}

/* The whole gradients of a round; learning goes on with what it would have had without. */
static void gather_gradients(md_online *online, const md_round *round)
{
    for (size_t i = 0; i < round->size; i++) {
        md_inference *inference = &online->inference[i];
        md_delta *delta = &inference->delta;
        const md_example example = example_of(round, i);
        md_gather_add(online->gather, round->which[i], example.length, delta);
        md_gather_add_offset(online->gather, i);
        if (online->problem.loss->by_marginals) {
            const md_space space = online->problem.space;
            md_delta_list(delta, parts_of_example(&online->problem, example),
                          online->settings.skip_threshold > 0 ? MD_NEGLIGIBLE_PART : 0);
            md_delta_group_rows(delta, example.length, md_row_width(space, example.length));
        }
        drop_parts(online, i, example);
    }
}

static void score_item(const md_round *round, size_t item)
{
    const md_online *online = round->online;
    const md_example example = example_of(round, item);
    float *score = online->inference[item].score;
    if (online->sums == NULL || !md_row_sums_score(online->sums, &online->problem, example, score))
        md_online_score(&online->problem, example, score);
}

/* ---- examples one by one ---- */

/* Where each thread has a few examples only, the longest ones come first: what is left in the end,
 * when some threads wait for others, is short. */
static void sort_by_cost(const md_round *round)
{
    enum { FEW = 32 };
    const size_t *cost = round->online->cost;
    size_t *own = round->online->mine;
    if (round->threads == 1 || round->own > FEW * round->threads)
        return;
    for (size_t i = 0; i < round->own; i++) {
        const size_t item = own[i];
        size_t at = i;
        for (; at > 0 && cost[own[at - 1]] < cost[item]; at--)
            own[at] = own[at - 1];
        own[at] = item;
    }
}

/* The example that this thread will probably take next is asked for beforehand. */
static void find_one_gradient(void *context, size_t place, size_t worker)
{
    (void)worker;
    const md_round *round = context;
    const size_t *own = round->online->mine;
    if (round->threads > 1 && place < round->threads)
        prefetch(round, own[place]);
    if (place + round->threads < round->own)
        prefetch(round, own[place + round->threads]);
    score_item(round, own[place]);
    find_gradient(round, own[place]);
}

/* What went wrong with an example is noted. */
static void note_failure(md_online *online, size_t item)
{
    if (online->inference[item].workspace.failure != NULL)
        online->failure = online->inference[item].workspace.failure;
    if (!isfinite(online->loss[item]))
        online->diverged = true;
}

void md_online_find_gradient(md_round *round, size_t item)
{
    score_item(round, item);
    find_gradient(round, item);
    note_failure(round->online, item);
}

/* ---- rows in groups, block by block ---- */

/* What one row looks up is still in the cache when the next one needs it. Groups are cut by what
 * their rows cost, inside of examples where blocks allow that: one long sentence has more pairs of
 * words than many short ones. */

size_t md_round_groups(size_t threads)
{
    return md_max(FEWEST_GROUPS, threads > 1 ? GROUPS_OF_A_THREAD * threads : 1);
}

static bool can_be_cut(const md_online_problem *p)
{
    for (size_t m = 0; m < p->block_count; m++)
        if (p->blocks[m]->class->score_rows == NULL)
            return false;
    return true;
}

/* Group g begins with the first row that has g shares of the costs, or more, before it. */
static void cut_round(md_round *round)
{
    const bool inside = can_be_cut(&round->online->problem);
    md_round_place *cut = round->online->cuts;
    size_t total = 0;
    for (size_t i = 0; i < round->own; i++)
        total += round->online->cost[round->online->mine[i]];
    size_t before = 0;
    size_t group = 0;
    for (size_t i = 0; i < round->own; i++) {
        const size_t item = round->online->mine[i];
        const size_t rows = example_of(round, item).length;
        const size_t cost = round->online->cost[item] / rows;
        for (size_t row = 0; row < rows; row++, before += cost)
            for (; (inside || row == 0) && group < round->groups &&
                   before * round->groups >= group * total;
                 group++)
                cut[group] = (md_round_place){i, row};
    }
    for (; group <= round->groups; group++)
        cut[group] = (md_round_place){round->own, 0};
}

static void score_group(void *context, size_t group, size_t worker)
{
    (void)worker;
    const md_round *round = context;
    const md_online_problem *p = &round->online->problem;
    const md_round_place from = round->online->cuts[group];
    const md_round_place to = round->online->cuts[group + 1];
    const size_t end = to.place + (to.row > 0);
    for (size_t m = 0; m < p->block_count; m++)
        for (size_t i = from.place; i < end; i++) {
            const size_t item = round->online->mine[i];
            const md_example example = example_of(round, item);
            const size_t first = i == from.place ? from.row : 0;
            const size_t last = i == to.place ? to.row : example.length;
            float *score = round->online->inference[item].score;
            if (first == 0 && last == example.length)
                p->blocks[m]->class->score(p->blocks[m], example, score);
            else if (first < last)
                p->blocks[m]->class->score_rows(p->blocks[m], example, first, last - first, score);
        }
}

static void find_scored_gradient(void *context, size_t place, size_t worker)
{
    (void)worker;
    const md_round *round = context;
    find_gradient(round, round->online->mine[place]);
}

static void find_gradients_by_groups(md_round *round)
{
    const md_online_problem *p = &round->online->problem;
    round->groups = md_round_groups(round->threads);
    for (size_t i = 0; i < round->own; i++) {
        const size_t item = round->online->mine[i];
        clear_scores(p, example_of(round, item), round->online->inference[item].score);
    }
    cut_round(round);
    md_parallel_for(round->threads, round->groups, score_group, round);
    md_parallel_for(round->threads, round->own, find_scored_gradient, round);
}

/* ---- structures that look ahead ---- */

static void score_one(void *context, size_t place, size_t worker)
{
    (void)worker;
    const md_round *round = context;
    score_item(round, round->online->mine[place]);
}

void md_online_look_ahead(const md_online_problem *p, md_inference *inference, const size_t *which,
                          size_t count)
{
    md_ahead ahead[MD_AHEAD];
    for (size_t i = 0; i < count; i++) {
        const md_example example = p->examples[which[i]];
        inference[i].space.shape.row = example.row;
        ahead[i] = (md_ahead){.shape = inference[i].space.shape,
                              .length = example.length,
                              .score = inference[i].score,
                              .gold = p->loss->adds_costs ? p->gold + example.row : NULL,
                              .workspace = &inference[i].workspace};
    }
    p->space.structure->look_ahead(ahead, count, p->loss->by_marginals);
}

/* All examples are scored before the structure sees the first one. */
static void find_gradients_ahead(md_round *round)
{
    md_parallel_for(round->threads, round->size, score_one, round);
    for (size_t first = 0; first < round->size; first += MD_AHEAD)
        md_online_look_ahead(&round->online->problem, round->online->inference + first,
                             round->which + first, md_min(round->size - first, MD_AHEAD));
    md_parallel_for(round->threads, round->size, find_scored_gradient, round);
}

/* ---- rounds ---- */

/* Parts of rows, as they are scored by one block. */
static void find_costs(const md_round *round)
{
    for (size_t i = 0; i < round->size; i++) {
        const size_t length = example_of(round, i).length;
        round->online->cost[i] = length * md_row_width(round->online->problem.space, length);
    }
}

/* The items of this rank. */
static void find_own_gradients(md_round *round)
{
    md_online *online = round->online;
    const double blocks = (double)online->problem.block_count;
    const size_t threads = online->settings.threads;
    double work = 0;
    for (size_t i = 0; i < round->own; i++)
        work += blocks * (double)online->cost[online->mine[i]];
    round->threads = round->own > 0 ? md_threads_for(threads, work, WORTH_A_THREAD) : 1;
    sort_by_cost(round);
    const bool few = round->threads > 1 && 2 * round->threads > round->own &&
                     md_threads_for(threads, work, WORTH_GROUPS) == threads;
    if (md_looks_ahead(online->problem.space))
        find_gradients_ahead(round);
    else if (online->settings.by_block || (few && can_be_cut(&online->problem)))
        find_gradients_by_groups(round);
    else
        md_parallel_for(md_min(round->threads, round->own), round->own, find_one_gradient, round);
    md_comm_note_work(online->settings.comm, work);
}

bool md_online_find_gradients(md_online *online, md_round *round)
{
    find_costs(round);
    md_round_divide(round);
    find_own_gradients(round);
    if (round->own < round->size && !md_round_exchange(round))
        return false;
    if (online->gather != NULL && online->settings.rule->distributions == NULL)
        gather_gradients(online, round);
    for (size_t i = 0; i < round->size; i++) {
        const bool stepped = online->gradients[i].delta->count > 0;
        online->stepped[round->which[i]] = stepped;
        online->updates += stepped;
        online->loss_sum += online->loss[i];
        online->left_out += online->dropped[i];
        if (stepped)
            round->gradients = round->size;
        note_failure(online, i);
    }
    return !online->diverged;
}
