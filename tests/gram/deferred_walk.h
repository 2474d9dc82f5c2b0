/* SPDX-License-Identifier: BSD-3-Clause */
/* Random walks over deferred scores: whatever is entered, forgotten, rescaled or replaced, and
 * whenever it is flushed. For cmocka tests. */
#ifndef TESTS_GRAM_DEFERRED_WALK_H
#define TESTS_GRAM_DEFERRED_WALK_H

#include "deferred_case.h"

static inline float draw_change(deferred_case *c)
{
    return (float)md_random_normal(&c->random);
}

/* An slot that somebody has. */
static inline size_t draw_slot(deferred_case *c)
{
    for (;;) {
        const size_t m = md_random_below(&c->random, c->count);
        if (c->shadows[m].attached)
            return m;
    }
}

static inline size_t attached_count(const deferred_case *c)
{
    size_t count = 0;
    for (size_t m = 0; m < c->count; m++)
        count += c->shadows[m].attached;
    return count;
}

/* What is opened next may be told beforehand, and need not come true. */
static inline void announce_any(deferred_case *c, size_t most)
{
    medley_error error = {0};
    c->expected_count = md_random_below(&c->random, 2) * (1 + md_random_below(&c->random, most));
    check_ok(md_deferred_expect(c->deferred, c->window, c->expected_count, &error), &error);
}

static inline void open_any_window(deferred_case *c)
{
    const size_t most =
        md_deferred_open_most(c->deferred) < c->n ? md_deferred_open_most(c->deferred) : c->n;
    size_t count = c->expected_count;
    if (md_random_below(&c->random, 4) == 0) /* else the same rows come again */
        md_random_shuffle(&c->random, c->window, c->n);
    if (count == 0 || md_random_below(&c->random, 2) == 0)
        count = md_random_below(&c->random, 4) == 0 ? most : 1 + md_random_below(&c->random, most);
    open_window(c, count);
    announce_any(c, most);
    check_window(c);
}

/* After every change the rows of the window that are still to be visited are true. */
static inline void add_any(deferred_case *c)
{
    if (c->window_count == 0)
        open_any_window(c);
    const size_t m = draw_slot(c);
    if (md_random_below(&c->random, 3) == 0)
        visit(c, c->visited + md_random_below(&c->random, c->window_count - c->visited));
    const size_t next = c->visited + md_random_below(&c->random, c->window_count - c->visited);
    add_change(c, m, c->window[next], md_random_below(&c->random, c->labels), draw_change(c));
    for (size_t s = c->visited; s < c->window_count; s++)
        check_row(c, m, c->window[s]);
}

static inline void check_any_entry(deferred_case *c)
{
    if (c->window_count == 0)
        return;
    const size_t m = draw_slot(c);
    const size_t i = c->window[md_random_below(&c->random, c->window_count)];
    const size_t j = c->window[md_random_below(&c->random, c->window_count)];
    const double value = (double)md_deferred_entry(c->deferred, m, i, j);
    const double expected = c->values[m][i * c->n + j];
    assert_true(fabs(value - expected) <= tolerance_of(c, m, i, j));
    assert_true(value == (double)md_deferred_entry(c->deferred, m, j, i) ||
                fabs(value - expected) <= 3e-6 * c->scale[m]);
}

/* One slot or several together, others go on until the deferred scores is closed. */
static inline void replace_some(deferred_case *c)
{
    const float gain = (float)(0.5 + md_random_uniform(&c->random));
    for (size_t m = 0; m < c->count; m++) {
        if (!c->shadows[m].attached)
            continue;
        if (md_random_below(&c->random, 2) == 0)
            replace(c, m, gain);
        else if (c->window_count > 0)
            add_change(c, m, c->window[0], 0, draw_change(c));
    }
    close_window(c);
    check_all(c);
}

static inline void close_and_check(deferred_case *c)
{
    close_window(c);
    check_all(c);
    for (size_t m = 0; m < c->count; m++) /* who had left may come back */
        if (c->values[m] != NULL && !c->shadows[m].attached && md_random_below(&c->random, 2) == 0)
            attach(c, m);
}

static inline void do_anything(deferred_case *c)
{
    const size_t choice = md_random_below(&c->random, 40);
    if (choice < 22)
        add_any(c);
    else if (choice < 28)
        open_any_window(c);
    else if (choice < 31)
        check_any_entry(c);
    else if (choice < 33)
        rescale(c, draw_slot(c), (float)(0.2 + md_random_uniform(&c->random)));
    else if (choice < 35)
        forget(c, draw_slot(c), choice == 34);
    else if (choice < 36)
        forget_label(c, draw_slot(c), md_random_below(&c->random, c->labels));
    else if (choice < 37)
        replace_some(c);
    else if (choice < 38 && attached_count(c) > 1)
        detach(c, draw_slot(c));
    else
        close_and_check(c);
    if (choice >= 31 && choice < 36)
        check_window(c);
}

static inline deferred_kind draw_kind(uint64_t seed)
{
    static const size_t rows[] = {3, 17, 60, 150, 270};
    md_random random;
    md_random_seed(&random, seed);
    return (deferred_kind){.rows = rows[md_random_below(&random, 5)],
                           .labels = 1 + md_random_below(&random, 4),
                           .longest =
                               1 + md_random_below(&random, 20) * md_random_below(&random, 3),
                           .threads = 1 + md_random_below(&random, 2),
                           .room = (deferred_room)md_random_below(&random, 3),
                           .mixed = md_random_below(&random, 3) == 0,
                           .seed = seed};
}

/* All scores behind a walk; the caller frees them. */
static inline float *walk(const deferred_kind *kind, size_t steps, size_t *bytes, size_t *found)
{
    deferred_case c;
    open_deferred(&c, kind);
    c.quiet = true;
    for (size_t t = 0; t < steps; t++)
        do_anything(&c);
    close_window(&c);
    *found += md_deferred_count(c.deferred).found;
    const size_t each = c.labels * c.n;
    float *scores = md_calloc(c.count * each, sizeof *scores);
    assert_non_null(scores);
    *bytes = c.count * each * sizeof *scores;
    for (size_t m = 0; m < c.count; m++)
        if (c.shadows[m].attached)
            memcpy(scores + m * each, c.shadows[m].score, each * sizeof *scores);
    close_deferred(&c);
    return scores;
}

#endif
