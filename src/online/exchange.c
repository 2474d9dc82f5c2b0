/* SPDX-License-Identifier: BSD-3-Clause */
/* Ranks that share the examples of a round. Each scores and decodes some of them; then all are told
 * everything that is read later: losses, gradients, what was left out. Steps are taken by every
 * rank, with all gradients in the order of the examples, so all have the same weights, bit by bit,
 * as one process would have.
 *
 * Bytes of a round: 8 for each part of a gradient, 8 for each of its rows and 56 for each example,
 * from every rank to every other. */
#include "online/rule.h"

#include "online/gather.h"

/* Parts of all blocks that are scored while an example could be exchanged. */
static const double WORTH_EXCHANGING = 1.5e4;
enum { FEW = 512 }; /* items of a round that are dealt out one by one, the largest first */
enum { BYTES = 8 }; /* records begin at multiples of it */

static const char FAILED_ELSEWHERE[] = "it failed on another rank";

struct md_exchange {
    double *load;   /* [ranks] */
    size_t *offset; /* [ranks + 1] */
    char *told;     /* what this rank tells */
    size_t capacity, used;
    char *heard; /* what all ranks tell */
    size_t heard_capacity;
    medley_status status; /* of the first exchange that failed */
    medley_error error;
};

void md_exchange_free(md_exchange *exchange)
{
    if (exchange == NULL)
        return;
    free(exchange->load);
    free(exchange->offset);
    free(exchange->told);
    free(exchange->heard);
    free(exchange);
}

medley_status md_exchange_create(md_exchange **result, const medley_comm *comm, medley_error *error)
{
    const size_t ranks = medley_comm_size(comm);
    MD_OWNED(md_exchange_free) md_exchange *exchange = NULL;
    MEDLEY_TRY(md_new(&exchange, 1, sizeof *exchange, error));
    MEDLEY_TRY(md_new(&exchange->load, ranks, sizeof *exchange->load, error));
    MEDLEY_TRY(md_new(&exchange->offset, ranks + 1, sizeof *exchange->offset, error));
    *result = md_take(&exchange);
    return MEDLEY_OK;
}

medley_status md_exchange_check(const md_exchange *exchange, medley_error *error)
{
    if (exchange == NULL || exchange->status == MEDLEY_OK)
        return MEDLEY_OK;
    return md_fail(error, exchange->status, "%s", exchange->error.message);
}

/* ---- who scores what ---- */

static bool is_worth_it(const md_round *round)
{
    const md_online *online = round->online;
    double work = 0;
    for (size_t i = 0; i < round->size; i++)
        work += (double)online->problem.block_count * (double)online->cost[i];
    return online->exchange != NULL && !online->settings.mixes && round->size > 1 &&
           work > WORTH_EXCHANGING && !md_looks_ahead(online->problem.space);
}

static size_t least_loaded(const double *load, size_t ranks)
{
    size_t least = 0;
    for (size_t r = 1; r < ranks; r++)
        if (load[r] < load[least])
            least = r;
    return least;
}

/* The largest items first, each to the rank that has least so far. */
static void deal_out(md_round *round, size_t rank, size_t ranks)
{
    md_online *online = round->online;
    size_t order[FEW] = {0};
    for (size_t i = 0; i < round->size; i++) {
        size_t at = i;
        for (; at > 0 && online->cost[order[at - 1]] < online->cost[i]; at--)
            order[at] = order[at - 1];
        order[at] = i;
    }
    memset(online->exchange->load, 0, ranks * sizeof *online->exchange->load);
    for (size_t i = 0; i < round->size; i++) {
        const size_t taker = least_loaded(online->exchange->load, ranks);
        online->exchange->load[taker] += (double)online->cost[order[i]];
        if (taker == rank)
            online->mine[round->own++] = order[i];
    }
}

void md_round_divide(md_round *round)
{
    md_online *online = round->online;
    const medley_comm *comm = online->settings.comm;
    const bool divided = is_worth_it(round);
    round->own = 0;
    if (divided && round->size <= FEW) {
        deal_out(round, medley_comm_rank(comm), medley_comm_size(comm));
        return;
    }
    const md_span span =
        divided ? md_comm_share(comm, round->size, 1) : (md_span){.end = round->size};
    for (size_t i = span.first; i < span.end; i++)
        online->mine[round->own++] = i;
}

/* ---- records ---- */

/* What is told of an example; its parts, coefficients, rows and starts follow, and for rules that
 * look at distributions its scores and its output. */
struct record {
    uint32_t item, count, row_count, failed;
    uint64_t dropped;
    double loss, offset, rounding;
};

static bool needs_scores(const md_online *online)
{
    return online->gather != NULL && online->settings.rule->distributions != NULL;
}

static size_t part_count(const md_online_problem *p, md_example example)
{
    return p->space.structure->part_count(md_shape_at(p->space.shape, example.row), example.length);
}

/* Moves `bytes` between a record and where they belong. */
static char *copy_out(char *to, const void *from, size_t bytes)
{
    memcpy(to, from, bytes);
    return to + bytes;
}

static const char *copy_in(void *to, const char *from, size_t bytes)
{
    memcpy(to, from, bytes);
    return from + bytes;
}

static size_t record_bytes(const md_online *online, md_example example, const md_delta *delta)
{
    size_t bytes = sizeof(struct record) + delta->count * (sizeof(uint32_t) + sizeof(float)) +
                   (2 * delta->row_count + 1) * sizeof(uint32_t);
    if (needs_scores(online))
        bytes += part_count(&online->problem, example) * sizeof(float) +
                 example.length * sizeof(int32_t);
    return md_pieces(bytes, BYTES) * BYTES;
}

static int tell(const md_round *round, size_t item)
{
    const md_online *online = round->online;
    md_exchange *exchange = online->exchange;
    const md_gather *gather = online->gather;
    const md_inference *inference = &online->inference[item];
    const md_delta *delta = &inference->delta;
    const md_example example = online->problem.examples[round->which[item]];
    const size_t bytes = record_bytes(online, example, delta);
    if (md_reserve((void **)&exchange->told, &exchange->capacity, exchange->used + bytes, 1) != 0)
        return -1;
    char *at = exchange->told + exchange->used;
    exchange->used += bytes;
    memset(at + bytes - BYTES, 0, BYTES); /* what is left of the last ones is told too */
    const struct record record = {.item = (uint32_t)item,
                                  .count = (uint32_t)delta->count,
                                  .row_count = (uint32_t)delta->row_count,
                                  .failed = inference->workspace.failure != NULL,
                                  .dropped = gather == NULL ? online->dropped[item] : 0,
                                  .loss = online->loss[item],
                                  .offset = gather != NULL ? gather->item_offset[item] : 0,
                                  .rounding = gather != NULL ? gather->item_rounding[item] : 0};
    at = copy_out(at, &record, sizeof record);
    at = copy_out(at, delta->part, delta->count * sizeof *delta->part);
    at = copy_out(at, delta->coefficient, delta->count * sizeof *delta->coefficient);
    at = copy_out(at, delta->row, delta->row_count * sizeof *delta->row);
    at = copy_out(at, delta->start, (delta->row_count + 1) * sizeof *delta->start);
    if (needs_scores(online)) {
        at = copy_out(at, gather->score + item * gather->parts,
                      part_count(&online->problem, example) * sizeof(float));
        copy_out(at, inference->output, example.length * sizeof *inference->output);
    }
    return 0;
}

static const char *take_delta(md_delta *delta, const struct record *record, const char *from)
{
    for (size_t i = 0; i < delta->count; i++)
        delta->dense[delta->part[i]] = 0;
    delta->count = record->count;
    delta->row_count = record->row_count;
    from = copy_in(delta->part, from, delta->count * sizeof *delta->part);
    from = copy_in(delta->coefficient, from, delta->count * sizeof *delta->coefficient);
    from = copy_in(delta->row, from, delta->row_count * sizeof *delta->row);
    from = copy_in(delta->start, from, (delta->row_count + 1) * sizeof *delta->start);
    for (size_t i = 0; i < delta->count; i++)
        delta->dense[delta->part[i]] = delta->coefficient[i];
    return from;
}

/* Returns where the next record begins. */
static const char *hear(const md_round *round, const char *from)
{
    md_online *online = round->online;
    md_gather *gather = online->gather;
    const char *const begin = from;
    struct record record;
    from = copy_in(&record, from, sizeof record);
    const size_t item = record.item;
    const md_example example = online->problem.examples[round->which[item]];
    md_inference *inference = &online->inference[item];
    inference->space.shape.row = example.row;
    inference->workspace.failure = record.failed ? FAILED_ELSEWHERE : NULL;
    from = take_delta(&inference->delta, &record, from);
    online->gradients[item] = (md_gradient){.example = example, .delta = &inference->delta};
    online->loss[item] = record.loss;
    online->dropped[item] = (size_t)record.dropped;
    if (gather != NULL) {
        gather->item_offset[item] = record.offset;
        gather->item_rounding[item] = record.rounding;
    }
    if (needs_scores(online)) {
        from = copy_in(gather->score + item * gather->parts, from,
                       part_count(&online->problem, example) * sizeof(float));
        copy_in(inference->output, from, example.length * sizeof *inference->output);
    }
    return begin + record_bytes(online, example, &inference->delta);
}

/* ---- rounds ---- */

static medley_status exchange_records(md_round *round, medley_error *error)
{
    md_online *online = round->online;
    md_exchange *exchange = online->exchange;
    medley_comm *comm = online->settings.comm;
    exchange->used = 0;
    for (size_t i = 0; i < round->own; i++)
        if (tell(round, online->mine[i]) != 0)
            return md_fail_memory(error, exchange->used);
    MEDLEY_TRY(md_comm_gather_any(comm, exchange->told, exchange->used, &exchange->heard,
                                  &exchange->heard_capacity, exchange->offset, error));
    const char *all = exchange->heard;
    for (size_t r = 0; r < medley_comm_size(comm); r++) {
        const char *end = all + exchange->offset[r + 1];
        for (const char *at = all + exchange->offset[r]; r != medley_comm_rank(comm) && at < end;)
            at = hear(round, at);
    }
    return MEDLEY_OK;
}

bool md_round_exchange(md_round *round)
{
    md_exchange *exchange = round->online->exchange;
    exchange->status = exchange_records(round, &exchange->error);
    if (exchange->status < 0)
        round->online->diverged = true; /* rounds are no longer run */
    return exchange->status >= 0;
}
