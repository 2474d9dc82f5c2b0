/* SPDX-License-Identifier: BSD-3-Clause */
/* Kernels on the fly: whatever is entered, forgotten, rescaled or replaced, and whenever it is
 * flushed, the scores of a window and, once the deferred scores is closed, of all rows are sums of
 * kernel values. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "deferred_walk.h"

/* ---- random walks ---- */

static void scores_are_true_on_any_way(void **state)
{
    (void)state;
    size_t found[3] = {0};
    for (uint64_t seed = 1; seed <= 40; seed++) {
        const deferred_kind kind = draw_kind(seed);
        deferred_case c;
        open_deferred(&c, &kind);
        for (size_t t = 0; t < (kind.rows > 100 ? 120 : 300); t++)
            do_anything(&c);
        close_and_check(&c);
        found[kind.room] += md_deferred_count(c.deferred).found;
        close_deferred(&c);
    }
    assert_int_equal(found[KEEPS_NONE], 0);
    assert_true(found[KEEPS_FEW] > 0 && found[KEEPS_ALL] > 0); /* of other cases, by chance */
}

/* ---- bits ---- */

static void threads_do_not_change_a_bit(void **state)
{
    (void)state;
    size_t found = 0;
    for (uint64_t seed = 1; seed <= 4; seed++) {
        deferred_kind kind = draw_kind(seed);
        kind.rows = 560; /* of which one thread takes 256 at a time */
        kind.columns = 40;
        kind.longest = 90;
        kind.mixed = seed % 3 == 0;
        size_t bytes[2];
        kind.threads = 1;
        float *one = walk(&kind, 40, &bytes[0], &found);
        for (kind.threads = 2; kind.threads <= 5; kind.threads += 3) {
            float *many = walk(&kind, 40, &bytes[1], &found);
            assert_int_equal(bytes[0], bytes[1]);
            assert_memory_equal(one, many, bytes[0]);
            free(many);
        }
        free(one);
    }
}

/* What is kept spares work, and must not show in what is learnt: a run that goes on from a file
 * keeps other rows than one that was never interrupted. */
static void kept_rows_do_not_change_a_bit(void **state)
{
    (void)state;
    size_t found[3] = {0};
    for (uint64_t seed = 1; seed <= 6; seed++) {
        deferred_kind kind = draw_kind(seed);
        kind.rows = 24;     /* that come again and again */
        kind.columns = 40;  /* products of few columns are rounded alike in any order */
        kind.longest = 128; /* windows do not depend on the memory */
        kind.room = KEEPS_NONE;
        size_t bytes[2];
        float *none = walk(&kind, 300, &bytes[0], &found[KEEPS_NONE]);
        for (int room = KEEPS_FEW; room <= KEEPS_ALL; room++) {
            kind.room = (deferred_room)room;
            float *some = walk(&kind, 300, &bytes[1], &found[room]);
            assert_int_equal(bytes[0], bytes[1]);
            assert_memory_equal(none, some, bytes[0]);
            free(some);
        }
        free(none);
    }
    assert_true(found[KEEPS_NONE] == 0 && found[KEEPS_FEW] > 0 && found[KEEPS_ALL] > 0);
}

/* ---- special ways ---- */

static deferred_kind plain_kind(size_t rows, deferred_room room, uint64_t seed)
{
    return (deferred_kind){
        .rows = rows, .labels = 2, .longest = 16, .threads = 2, .room = room, .seed = seed};
}

/* Every row of one window after the other, without closing: some 256 changes can wait. */
static void more_changes_than_can_wait_are_booked_in_between(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 3; seed++) {
        const deferred_kind kind = plain_kind(450, (deferred_room)(seed - 1), seed);
        deferred_case c;
        open_deferred(&c, &kind);
        const size_t window = md_deferred_open_most(c.deferred);
        size_t *order = md_copy(c.window, c.n * sizeof *order);
        assert_non_null(order);
        md_random_shuffle(&c.random, order, c.n);
        for (size_t first = 0; first < c.n; first += window) {
            const size_t count = c.n - first < window ? c.n - first : window;
            memcpy(c.window, order + first, count * sizeof *order);
            open_window(&c, count);
            for (size_t m = 0; m < c.count; m++)
                for (size_t s = 0; c.shadows[m].attached && s < count; s++)
                    add_change(&c, m, c.window[s], (s + m) % 2, draw_change(&c));
            for (size_t m = 0; m < c.count; m++)
                if (c.shadows[m].attached)
                    check_row(&c, m, c.window[count - 1]);
        }
        assert_true(md_deferred_count(c.deferred).computed >= 150); /* before it is closed */
        close_window(&c);
        check_all(&c);
        assert_true(md_deferred_count(c.deferred).computed == 450);
        free(order);
        close_deferred(&c);
    }
}

/* The same rows in windows that follow one another, also alone: they are due several times. */
static void a_row_may_change_again_before_it_was_booked(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 9; seed++) {
        const deferred_kind kind = plain_kind(40, (deferred_room)(seed % 3), seed);
        deferred_case c;
        open_deferred(&c, &kind);
        for (size_t t = 0; t < 12; t++) {
            open_window(&c, 1 + t % 3);
            check_window(&c);
            for (size_t m = 0; m < c.count; m++)
                if (c.shadows[m].attached) {
                    add_change(&c, m, c.window[0], t % 2, draw_change(&c));
                    add_change(&c, m, c.window[t % (1 + t % 3)], 0, draw_change(&c));
                    check_row(&c, m, c.window[0]);
                }
            if (t == 7) {
                close_window(&c);
                check_all(&c);
            }
        }
        close_window(&c);
        check_all(&c);
        close_deferred(&c);
    }
}

/* Accounts that nobody enters anything in cost nothing and hold zeros; one that comes alive in the
 * middle of a window, with changes of others waiting, is right at once; one that leaves with
 * changes waiting disturbs nobody. */
static void accounts_come_alive_and_leave(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 9; seed++) {
        const deferred_kind kind = plain_kind(50, (deferred_room)(seed % 3), seed);
        deferred_case c;
        open_deferred(&c, &kind);
        const size_t first = draw_slot(&c);
        open_window(&c, 16);
        close_window(&c);
        assert_int_equal(md_deferred_count(c.deferred).computed, 0);
        for (size_t t = 0; t < 3; t++) {
            open_any_window(&c);
            add_change(&c, first, c.window[0], 0, 1);
        }
        for (size_t m = 0; m < c.count; m++)
            if (c.shadows[m].attached && m != first) {
                check_window(&c);
                add_change(&c, m, c.window[c.window_count - 1], 1, draw_change(&c));
            }
        check_window(&c);
        open_any_window(&c);
        for (size_t m = 0; m < c.count; m += 2)
            if (c.shadows[m].attached && m != first)
                detach(&c, m);
        check_window(&c);
        forget(&c, first, false);
        open_any_window(&c);
        close_and_check(&c);
        open_any_window(&c);
        for (size_t m = 0; m < c.count; m++)
            if (c.shadows[m].attached)
                add_change(&c, m, c.window[0], 0, draw_change(&c));
        close_and_check(&c);
        close_deferred(&c);
    }
}

/* Scores that were read from somewhere, as a run that goes on does it. */
static void scores_may_be_put_into_an_account(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 6; seed++) {
        const deferred_kind kind = plain_kind(70, KEEPS_ALL, seed);
        deferred_case c;
        open_deferred(&c, &kind);
        for (size_t t = 0; t < 30; t++)
            add_any(&c);
        close_window(&c);
        for (size_t m = 0; m < c.count; m++) {
            shadow *s = &c.shadows[m];
            if (!s->attached)
                continue;
            float *copy = md_copy(s->score, c.labels * c.n * sizeof *copy);
            assert_non_null(copy);
            md_deferred_forget(c.deferred, m);
            memcpy(s->score, copy, c.labels * c.n * sizeof *copy);
            free(copy);
        }
        for (size_t t = 0; t < 30; t++)
            add_any(&c);
        close_and_check(&c);
        close_deferred(&c);
    }
}

/* ---- kept rows ---- */

/* Changes the first `count` rows and flushes them. */
static md_deferred_counts flush(deferred_case *c, size_t count)
{
    const md_deferred_counts before = md_deferred_count(c->deferred);
    open_window(c, count);
    for (size_t m = 0; m < c->count; m++)
        for (size_t s = 0; c->shadows[m].attached && s < count; s++)
            add_change(c, m, c->window[s], 0, draw_change(c));
    close_window(c);
    check_all(c);
    const md_deferred_counts after = md_deferred_count(c->deferred);
    return (md_deferred_counts){after.computed - before.computed, after.found - before.found};
}

/* Bookings until a row is worth keeping, at most. */
enum { OFTEN = 12 };

static void rows_that_come_often_are_found(void **state)
{
    (void)state;
    for (int room = KEEPS_NONE; room <= KEEPS_ALL; room++) {
        const deferred_kind kind = plain_kind(60, (deferred_room)room, 5);
        deferred_case c;
        open_deferred(&c, &kind);
        md_deferred_counts counts = flush(&c, 12);
        assert_true(counts.computed == 12 && counts.found == 0);
        for (size_t t = 0; t < OFTEN; t++) {
            counts = flush(&c, 12);
            assert_int_equal(counts.computed + counts.found, 12);
        }
        assert_true(room == KEEPS_NONE  ? counts.found == 0
                    : room == KEEPS_FEW ? counts.found >= 3 && counts.found < 12
                                        : counts.found == 12);
        close_deferred(&c);
    }
}

/* Where there is little room, rows that come more often drive others out. */
static void rows_that_come_most_often_stay(void **state)
{
    (void)state;
    const deferred_kind kind = plain_kind(60, KEEPS_FEW, 3);
    deferred_case c;
    md_deferred_counts counts = {0};
    open_deferred(&c, &kind);
    for (size_t t = 0; t < OFTEN; t++)
        flush(&c, 14); /* rows 0 to 13 take all the room */
    for (size_t t = 0; t < 2 * OFTEN; t++) {
        c.window[0] = 40;
        c.window[1] = 41;
        counts = flush(&c, 2);
    }
    assert_int_equal(counts.found, 2);
    for (size_t i = 0; i < 14; i++)
        c.window[i] = 20 + i;
    for (size_t t = 0; t < OFTEN; t++)
        flush(&c, 14);
    c.window[0] = 41;
    c.window[1] = 40;
    counts = flush(&c, 2);
    assert_true(counts.found == 2 && counts.computed == 0);
    close_deferred(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scores_are_true_on_any_way),
        cmocka_unit_test(threads_do_not_change_a_bit),
        cmocka_unit_test(kept_rows_do_not_change_a_bit),
        cmocka_unit_test(more_changes_than_can_wait_are_booked_in_between),
        cmocka_unit_test(a_row_may_change_again_before_it_was_booked),
        cmocka_unit_test(accounts_come_alive_and_leave),
        cmocka_unit_test(scores_may_be_put_into_an_account),
        cmocka_unit_test(rows_that_come_often_are_found),
        cmocka_unit_test(rows_that_come_most_often_stay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
