/* SPDX-License-Identifier: BSD-3-Clause */
#include "learner/online_internal.h"

#include "base/memory.h"
#include "base/parallel.h"
#include "base/random.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double PARALLEL_WORK = 1e6;    /* values touched by a step worth two threads */
static const double PARALLEL_LOOKUPS = 5e3; /* the same for explicit features looked up */
static const double DENSE_COST = 1.0 / 16;  /* of a value that is part of a matrix product */
static const double PARALLEL_BATCH = 2e4; /* values looked at to score a batch worth two threads */
enum { SHARES = 8 }; /* of the blocks for each thread: few, since a block alone may be tiny */
static const double MOST_SHRINK = 1e300; /* of tau = eta lambda, which must stay finite */

void md_online_fill_order(md_online *online)
{
    const md_online_problem *p = &online->problem;
    for (size_t i = 0; i < p->visit_count; i++)
        online->order[i] = p->visit ? p->visit[i] : i;
}

/* Where the norms of blocks do not enter, since what the penalty does to whole blocks is the same
 * for all of them (l1, or l1 and l2), coordinates may be thresholded as late as they are looked
 * at. */
static bool may_shrink_late(const md_online *online)
{
    return md_penalty_inner_threshold(online->problem.penalty) > 0 &&
           md_penalty_is_uniform(online->problem.penalty) && isinf(online->settings.radius);
}

static medley_status init_batch(md_online *online, medley_error *error)
{
    const size_t batch = online->settings.batch;
    online->inference = md_calloc(batch, sizeof *online->inference);
    online->gradients = md_calloc(batch, sizeof *online->gradients);
    online->loss = md_calloc(batch, sizeof *online->loss);
    if (online->inference == NULL || online->gradients == NULL || online->loss == NULL)
        return md_fail_memory(error, batch * sizeof *online->inference);
    medley_status status = MEDLEY_OK;
    for (size_t b = 0; b < batch && status == MEDLEY_OK; b++)
        status =
            md_inference_init(&online->inference[b], online->problem.space, online->longest, error);
    return status;
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
    online->late_shrink = may_shrink_late(online);
    const size_t rows = problem->ledger ? md_ledger_window(problem->ledger) : 0;
    online->order = md_calloc(visited, sizeof *online->order);
    online->rows = md_calloc(rows, sizeof *online->rows);
    online->stepped = md_calloc(problem->example_count, sizeof *online->stepped);
    online->norm = md_calloc(m, sizeof *online->norm);
    online->shrunk = md_calloc(m, sizeof *online->shrunk);
    online->scratch = md_calloc(3 * m, sizeof *online->scratch);
    medley_status status = MEDLEY_OK;
    if (!online->order || !online->rows || !online->stepped || !online->norm || !online->shrunk ||
        !online->scratch)
        status = md_fail_memory(error, (visited + rows + 5 * m) * 8);
    if (status == MEDLEY_OK)
        status = init_batch(online, error);
    if (status < 0)
        md_online_clear(online);
    else
        md_online_fill_order(online);
    return status;
}

void md_online_clear(md_online *online)
{
    free(online->order);
    free(online->rows);
    free(online->stepped);
    free(online->norm);
    free(online->shrunk);
    free(online->scratch);
    for (size_t b = 0; online->inference != NULL && b < online->settings.batch; b++)
        md_inference_clear(&online->inference[b]);
    free(online->inference);
    free(online->gradients);
    free(online->loss);
    *online = (md_online){0};
}

/* inverse: 1/(sigma t) with sigma the strong convexity of lambda Omega; eta0/t if it has none. */
static double rate(const md_online *online)
{
    const md_online_settings *s = &online->settings;
    const double t = (double)online->round;
    if (s->schedule == MD_RATE_CONSTANT)
        return s->eta0;
    if (s->schedule == MD_RATE_SQRT)
        return s->eta0 / sqrt(t);
    if (s->schedule == MD_RATE_EPOCH)
        return s->eta0 / sqrt(1 + t / (double)online->problem.visit_count);
    const double sigma = s->lambda * md_penalty_strong_convexity(online->problem.penalty);
    return s->eta0 / ((sigma > 0 ? sigma : 1) * t);
}

/* ---- one round ---- */

/* Some of the blocks at a time, since a block alone may be tiny. */
struct shared_work {
    md_online *online;
    md_step step;
    double shrink_all; /* by the projection */
    size_t share;      /* blocks that one thread takes at a time */
    void (*of_block)(const struct shared_work *work, size_t m);
};

static void take_share(void *context, size_t item, size_t worker)
{
    (void)worker;
    const struct shared_work *work = context;
    const size_t count = work->online->problem.block_count;
    const size_t first = item * work->share;
    const size_t last = count - first < work->share ? count : first + work->share;
    for (size_t m = first; m < last; m++)
        work->of_block(work, m);
}

static void for_every_block(struct shared_work *work, size_t threads,
                            void (*of_block)(const struct shared_work *work, size_t m))
{
    const size_t count = work->online->problem.block_count;
    work->of_block = of_block;
    work->share = count / (threads * SHARES) + 1;
    md_parallel_for(threads, (count + work->share - 1) / work->share, take_share, work);
}

/* Line 7. */
static void step_block(const struct shared_work *work, size_t m)
{
    md_block *block = work->online->problem.blocks[m];
    work->online->norm[m] =
        work->step.count > 0 ? block->class->step(block, &work->step) : block->norm;
}

/* The prox (line 10) and the projection (line 11) rescale: norm[m] is ||theta~_m||, shrunk[m] its
 * length after the prox. */
static void finish_block(const struct shared_work *work, size_t m)
{
    md_online *online = work->online;
    md_block *block = online->problem.blocks[m];
    const double length = online->shrunk[m] * work->shrink_all;
    if (length < MD_VANISHED) {
        if (block->norm > 0 || work->step.count > 0)
            block->class->clear(block);
        return;
    }
    if (work->step.count > 0)
        block->class->finish(block, &work->step);
    block->norm = online->norm[m];
    md_block_rescale(block, length / online->norm[m]);
}

bool md_online_norms_are_finite(const md_online *online)
{
    for (size_t m = 0; m < online->problem.block_count; m++)
        if (!isfinite(online->norm[m]))
            return false;
    return true;
}

static double projection(const md_online *online)
{
    double square = 0;
    for (size_t m = 0; m < online->problem.block_count; m++)
        square += online->shrunk[m] * online->shrunk[m];
    const double norm = sqrt(square);
    return norm > online->settings.radius ? online->settings.radius / norm : 1;
}

/* The quadratic term that the loss has absorbed: its gradient is a multiple of theta. */
static void shrink_before_step(md_online *online, double factor)
{
    for (size_t m = 0; m < online->problem.penalised; m++) {
        md_block *block = online->problem.blocks[m];
        if (factor > 0)
            md_block_rescale(block, factor);
        else
            block->class->clear(block);
    }
}

/* Thresholds come first in the prox; where norms matter behind them, they are taken anew. */
static void threshold_blocks(struct shared_work *work, double threshold)
{
    md_online *online = work->online;
    for (size_t m = 0; m < online->problem.penalised; m++) {
        md_block *block = online->problem.blocks[m];
        if (work->step.count > 0)
            block->class->finish(block, &work->step);
        if (block->class->soft_threshold == NULL)
            continue;
        block->norm = online->norm[m];
        block->class->soft_threshold(block, threshold);
        if (!online->late_shrink) {
            md_block_refresh_norm(block);
            online->norm[m] = block->norm;
        }
    }
}

/* Lines 8 and 9, and the terms of the blocks that are not under the penalty. */
static void shrink(md_online *online, double tau)
{
    const md_online_problem *p = &online->problem;
    memcpy(online->shrunk, online->norm, p->block_count * sizeof *online->norm);
    md_penalty_prox(p->penalty, tau, online->shrunk, p->penalised, online->scratch);
    for (size_t m = p->penalised; m < p->block_count; m++)
        online->shrunk[m] /= 1 + tau;
}

static size_t step_threads(const md_online *online, const md_step *step)
{
    const md_online_problem *p = &online->problem;
    const size_t rows = p->ledger ? md_ledger_window(p->ledger)
                        : p->gram ? md_gram_rows(p->gram)
                                  : 0;
    double values = 0;
    for (size_t g = 0; g < step->count; g++) {
        const md_gradient *gradient = &step->gradients[g];
        const double entries = (double)gradient->delta->count;
        const size_t length = gradient->example.length;
        const double all = (double)length * (double)md_row_width(p->space, length);
        const double cost = 2 * entries > all ? DENSE_COST : 1; /* one matrix product */
        values += rows > 0 ? cost * entries * (double)rows : (double)gradient->delta->row_count;
    }
    const double work = values * (double)p->block_count;
    const double least = rows > 0 ? PARALLEL_WORK : PARALLEL_LOOKUPS;
    return work > least ? online->settings.threads : 1;
}

struct batch {
    md_online *online;
    const size_t *which; /* [count] examples */
    size_t count;
    bool is_last;  /* of the epoch */
    size_t groups; /* that examples are scored in; scores are the same for any number */
};

static md_example example_of(const struct batch *batch, size_t item)
{
    return batch->online->problem.examples[batch->which[item]];
}

static void prefetch(const struct batch *batch, size_t item)
{
    const md_online_problem *p = &batch->online->problem;
    for (size_t m = 0; m < p->block_count && item < batch->count; m++)
        if (p->blocks[m]->class->prefetch != NULL)
            p->blocks[m]->class->prefetch(p->blocks[m], example_of(batch, item));
}

static void clear_scores(const struct batch *batch, size_t item)
{
    const md_space space = batch->online->problem.space;
    const size_t parts = space.structure->part_count(space.shape, example_of(batch, item).length);
    memset(batch->online->inference[item].score, 0, parts * sizeof(float));
}

/* Alg. 3, lines 5 and 6: the loss of an example that has been scored, and the gradient of that. */
static void find_gradient(const struct batch *batch, size_t item)
{
    md_online *online = batch->online;
    const md_online_problem *p = &online->problem;
    const md_example example = example_of(batch, item);
    md_inference *inference = &online->inference[item];
    const int32_t *gold = p->gold + example.row;
    online->gradients[item] = (md_gradient){.example = example, .delta = &inference->delta};
    online->loss[item] = md_loss_gradient(p->loss, inference, example.length, gold);
    if (online->settings.learnt > 0)
        md_delta_drop_rows(&inference->delta, md_row_width(p->space, example.length), gold,
                           (float)online->settings.learnt, (float)online->settings.least_part);
}

static void find_one_gradient(void *context, size_t item, size_t worker)
{
    (void)worker;
    const struct batch *batch = context;
    const md_online_problem *p = &batch->online->problem;
    prefetch(batch, item + 1);
    clear_scores(batch, item);
    for (size_t m = 0; m < p->block_count; m++)
        p->blocks[m]->class->score(p->blocks[m], example_of(batch, item),
                                   batch->online->inference[item].score);
    find_gradient(batch, item);
}

/* Every so many-th example from this one on, block by block: what one of them looks up is near when
 * the next one needs it. */
enum { FEWEST_GROUPS = 4 };

static void find_gradients_of_group(void *context, size_t group, size_t worker)
{
    (void)worker;
    const struct batch *batch = context;
    const md_online_problem *p = &batch->online->problem;
    for (size_t i = group; i < batch->count; i += batch->groups)
        clear_scores(batch, i);
    for (size_t m = 0; m < p->block_count; m++)
        for (size_t i = group; i < batch->count; i += batch->groups)
            p->blocks[m]->class->score(p->blocks[m], example_of(batch, i),
                                       batch->online->inference[i].score);
    for (size_t i = group; i < batch->count; i += batch->groups)
        find_gradient(batch, i);
}

static void find_gradients(struct batch *batch)
{
    const md_online_problem *p = &batch->online->problem;
    size_t parts = 0;
    for (size_t i = 0; i < batch->count; i++) {
        const size_t length = example_of(batch, i).length;
        parts += length * md_row_width(p->space, length);
    }
    const double work = (double)parts * (double)p->block_count;
    const bool worth_it = batch->count > 1 && work > PARALLEL_BATCH;
    const size_t threads = worth_it ? batch->online->settings.threads : 1;
    batch->groups = threads > FEWEST_GROUPS ? threads : FEWEST_GROUPS;
    if (batch->online->settings.by_block)
        md_parallel_for(threads, batch->groups, find_gradients_of_group, batch);
    else
        md_parallel_for(threads, batch->count, find_one_gradient, batch);
}

/* Which examples had a loss to step against. */
static bool note_steps(struct batch *batch)
{
    bool any = false;
    for (size_t i = 0; i < batch->count; i++) {
        const bool stepped = batch->online->gradients[i].delta->count > 0;
        batch->online->stepped[batch->which[i]] = stepped;
        any = any || stepped;
        batch->online->updates += stepped;
        batch->online->loss_sum += batch->online->loss[i];
        if (!isfinite(batch->online->loss[i]))
            batch->online->diverged = true;
    }
    return any;
}

static struct shared_work work_of(md_online *online, size_t count, double eta)
{
    return (struct shared_work){
        .online = online, .step = {.gradients = online->gradients, .count = count, .eta = eta}};
}

void md_online_step(md_online *online, size_t count, double eta)
{
    struct shared_work work = work_of(online, count, eta);
    for_every_block(&work, step_threads(online, &work.step), step_block);
}

void md_online_finish(md_online *online, size_t count, double eta, double factor)
{
    struct shared_work work = work_of(online, count, eta);
    work.shrink_all = factor;
    for_every_block(&work, step_threads(online, &work.step), finish_block);
}

/* Is it time for the prox? Steps of several rounds may come before it, and it then shrinks by as
 * much as it would have in all of them (truncated gradients): what steps in all directions leave of
 * a block that nothing needs is smaller than that, and the block goes out. */
static bool is_prox_due(md_online *online, bool last)
{
    const bool due = last || ++online->rounds_since_prox >= online->settings.prox_every;
    if (due)
        online->rounds_since_prox = 0;
    return due;
}

/* count: gradients, 0 where no example had a loss; examples: of the round; last: of the epoch. */
static void prox_update(md_online *online, size_t count, size_t examples, bool last)
{
    const md_penalty *penalty = online->problem.penalty;
    const double eta = rate(online) * md_online_cooling(online);
    const double tau = fmin(eta * online->settings.lambda * (double)examples, MOST_SHRINK);
    const double absorbed = md_penalty_absorbed(penalty);
    if (absorbed > 0)
        shrink_before_step(online, 1 - tau * absorbed);
    md_online_step(online, count, eta);
    online->owed = fmin(online->owed + tau, MOST_SHRINK);
    const bool due = is_prox_due(online, last);
    const double threshold = due ? online->owed * md_penalty_inner_threshold(penalty) : 0;
    if (threshold > 0 && md_online_norms_are_finite(online)) {
        struct shared_work work = work_of(online, count, eta);
        threshold_blocks(&work, threshold);
    }
    if (!md_online_norms_are_finite(online)) {
        online->diverged = true;
        return;
    }
    if (due) {
        shrink(online, online->owed);
        online->owed = 0;
    } else {
        memcpy(online->shrunk, online->norm, online->problem.block_count * sizeof *online->norm);
    }
    md_online_finish(online, count, eta, projection(online));
}

static void run_round(struct batch *batch)
{
    md_online *online = batch->online;
    online->round += batch->count;
    find_gradients(batch);
    const size_t count = note_steps(batch) ? batch->count : 0;
    if (online->diverged)
        return;
    if (online->settings.rule == MD_RULE_MIRROR)
        md_mirror_update(online, count, batch->count);
    else
        prox_update(online, count, batch->count, batch->is_last);
    for (size_t m = 0; online->counting && m < online->problem.block_count; m++)
        md_block_count_iterate(online->problem.blocks[m]);
}

/* ---- an epoch ---- */

/* Features of the next examples are made, or the ledger is told their rows, as many whole rounds as
 * fit its window; *count: how many examples these are. */
static medley_status announce(md_online *online, size_t from, size_t *count, medley_error *error)
{
    const md_online_problem *p = &online->problem;
    const size_t batch = online->settings.batch;
    *count = p->visit_count - from;
    if (p->window != NULL)
        return p->window->open(p->window->context, online->order + from, *count, batch, count,
                               error);
    if (p->ledger == NULL)
        return MEDLEY_OK;
    const size_t window = md_ledger_window(p->ledger);
    size_t rows = 0;
    size_t taken = 0;
    while (from + taken < p->visit_count) {
        const md_example example = p->examples[online->order[from + taken]];
        if (rows + example.length > window)
            break;
        for (size_t i = 0; i < example.length; i++)
            online->rows[rows++] = example.row + i;
        taken++;
    }
    if (from + taken < p->visit_count)
        for (; taken % batch != 0; taken--)
            rows -= p->examples[online->order[from + taken - 1]].length;
    *count = taken;
    return md_ledger_open(p->ledger, online->rows, rows, error);
}

medley_status md_online_epoch(md_online *online, size_t epoch, medley_error *error)
{
    const size_t visited = online->problem.visit_count;
    md_random random;
    online->loss_sum = 0;
    online->counting = online->settings.average && epoch >= online->settings.average_from;
    md_online_fill_order(online);
    md_random_seed(&random, online->settings.seed * 1000003u + epoch);
    if (!online->settings.in_order)
        md_random_shuffle(&random, online->order, visited);
    for (size_t i = 0; i < visited;) {
        size_t count;
        const medley_status status = announce(online, i, &count, error);
        if (status < 0)
            return status;
        for (const size_t last = i + count; i < last && !online->diverged;) {
            const size_t left = visited - i; /* batches do not depend on what was announced */
            struct batch batch = {.online = online,
                                  .which = online->order + i,
                                  .count = left < online->settings.batch ? left
                                                                         : online->settings.batch};
            batch.is_last = batch.count == left;
            run_round(&batch);
            i += batch.count;
        }
        if (online->diverged)
            break;
    }
    medley_status status = md_online_settle(online, error);
    if (status == MEDLEY_OK && !online->diverged && !online->settings.in_order)
        status = md_online_renew(online, error);
    if (status < 0 || online->diverged)
        return status;
    for (size_t m = 0; !online->settings.in_order && m < online->problem.block_count; m++)
        md_block_refresh_norm(online->problem.blocks[m]);
    if (online->settings.rule == MD_RULE_MIRROR)
        md_mirror_relink(online);
    return MEDLEY_OK;
}
