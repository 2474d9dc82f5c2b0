/* SPDX-License-Identifier: BSD-3-Clause */
/* Steps, thresholds and rescaling of all blocks, in parallel where that pays. */
#include "online/rule.h"

#include "base/parallel.h"

/* No length that single precision could show. */
static const double VANISHED = 1e-30;
static const double VALUES_OF_A_THREAD = 5e5;  /* touched by a step, to be worth one more */
static const double LOOKUPS_OF_A_THREAD = 400; /* the same for explicit features looked up */
static const double DENSE_COST = 1.0 / 16;     /* of a value that is part of a matrix product */
enum { SHARES = 8 }; /* of the blocks for each thread: few, since a block alone may be tiny */

struct work {
    md_online *online;
    md_step step;
    double factor; /* of all lengths */
    size_t share;  /* blocks that one thread takes at a time */
    size_t items;  /* shares */
};

static size_t step_threads(const md_online *online, const md_step *step)
{
    const md_online_problem *p = &online->problem;
    const size_t rows = p->deferred ? md_deferred_open_most(p->deferred)
                        : p->gram   ? md_gram_rows(p->gram)
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
    return md_threads_for(online->settings.threads, work,
                          rows > 0 ? VALUES_OF_A_THREAD : LOOKUPS_OF_A_THREAD);
}

static struct work begin_work(md_online *online, size_t count, double eta)
{
    return (struct work){.online = online,
                         .step = {.gradients = online->gradients, .count = count, .eta = eta}};
}

static void share_work(struct work *work, size_t threads, md_parallel_body body)
{
    const size_t blocks = work->online->problem.block_count;
    work->share = blocks / (threads * SHARES) + 1;
    work->items = (blocks + work->share - 1) / work->share;
    md_parallel_for(threads, work->items, body, work);
}

static size_t end_of_share(const struct work *work, size_t item)
{
    const size_t end = (item + 1) * work->share;
    const size_t count = work->online->problem.block_count;
    return end < count ? end : count;
}

static void step_blocks(void *context, size_t item, size_t worker)
{
    (void)worker;
    const struct work *work = context;
    for (size_t m = item * work->share; m < end_of_share(work, item); m++) {
        md_block *block = work->online->problem.blocks[m];
        work->online->norm[m] =
            work->step.count > 0 ? block->class->step(block, &work->step) : block->norm;
    }
}

/* Of a single example: others hide what they wait for behind their own work. */
static void prefetch_step(const md_online *online, const md_step *step)
{
    const md_online_problem *p = &online->problem;
    for (size_t m = 0; step->count == 1 && m < p->block_count; m++)
        if (p->blocks[m]->class->prefetch_step != NULL)
            p->blocks[m]->class->prefetch_step(p->blocks[m], &step->gradients[0]);
}

void md_online_step(md_online *online, size_t count, double eta)
{
    struct work work = begin_work(online, count, eta);
    prefetch_step(online, &work.step);
    share_work(&work, step_threads(online, &work.step), step_blocks);
}

/* norm[m] is the length before, shrunk[m] times factor the one after. */
static void finish_block(const struct work *work, size_t m)
{
    md_online *online = work->online;
    md_block *block = online->problem.blocks[m];
    const double length = online->shrunk[m] * work->factor;
    if (length < VANISHED) {
        if (block->norm > 0 || work->step.count > 0)
            block->class->clear(block);
        return;
    }
    if (work->step.count > 0)
        md_block_finish(block, &work->step);
    block->norm = online->norm[m];
    md_block_rescale(block, length / online->norm[m]);
}

static void finish_blocks(void *context, size_t item, size_t worker)
{
    (void)worker;
    const struct work *work = context;
    for (size_t m = item * work->share; m < end_of_share(work, item); m++)
        finish_block(work, m);
}

/* Is there more to do than to rescale? */
static bool leaves_work(const md_online_problem *p)
{
    for (size_t m = 0; m < p->block_count; m++)
        if (p->blocks[m]->class->finish != NULL)
            return true;
    return false;
}

void md_online_finish(md_online *online, size_t count, double eta, double factor)
{
    struct work work = begin_work(online, count, eta);
    work.factor = factor;
    share_work(&work, leaves_work(&online->problem) ? step_threads(online, &work.step) : 1,
               finish_blocks);
}

/* ---- whole blocks ---- */

static void refresh_norm(void *context, size_t m, size_t worker)
{
    (void)worker;
    const md_online *online = context;
    md_block_refresh_norm(online->problem.blocks[m]);
}

void md_online_refresh_norms(md_online *online)
{
    md_parallel_for(online->settings.threads, online->problem.block_count, refresh_norm, online);
}

/* Where the norms of blocks do not enter, since what the penalty does to whole blocks is the same
 * for all of them (l1, or l1 and l2). */
bool md_online_shrinks_late(const md_online *online)
{
    return md_penalty_inner_threshold(online->problem.penalty) > 0 &&
           md_penalty_is_uniform(online->problem.penalty) && isinf(online->settings.rates.radius);
}

void md_online_threshold(md_online *online, size_t count, double eta, double threshold)
{
    const md_step step = {.gradients = online->gradients, .count = count, .eta = eta};
    const bool late = md_online_shrinks_late(online);
    for (size_t m = 0; m < online->problem.penalised; m++) {
        md_block *block = online->problem.blocks[m];
        if (count > 0)
            md_block_finish(block, &step);
        if (block->class->soft_threshold == NULL)
            continue;
        block->norm = online->norm[m];
        block->class->soft_threshold(block, threshold);
        if (!late) { /* norms matter afterwards */
            md_block_refresh_norm(block);
            online->norm[m] = block->norm;
        }
    }
}

void md_online_rescale(md_online *online, size_t count, double factor)
{
    for (size_t m = 0; m < count; m++) {
        md_block *block = online->problem.blocks[m];
        if (factor > 0)
            md_block_rescale(block, factor);
        else
            block->class->clear(block);
    }
}

bool md_online_norms_are_finite(const md_online *online)
{
    for (size_t m = 0; m < online->problem.block_count; m++)
        if (!isfinite(online->norm[m]))
            return false;
    return true;
}
