/* SPDX-License-Identifier: BSD-3-Clause */
/* Deferred scores on a card: what holds of them on the processor holds there, up to how values are
 * rounded. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/parallel.h"
#include "deferred_walk.h"
#include "device/test_device.h"
#include "gram/card.h"

/* ---- random walks ---- */

static deferred_kind draw_card_kind(const md_device *device, uint64_t seed)
{
    enum { SEVERAL_TURNS = 17 }; /* labels: a card has up to 16 in registers */
    static const size_t rows[] = {1, 2, 17, 150, 270};
    deferred_kind kind = draw_kind(seed);
    kind.rows = rows[seed % 5];
    kind.labels = seed % 7 == 0 ? SEVERAL_TURNS : kind.labels;
    kind.device = device;
    kind.precise = seed % 2 == 0;
    return kind;
}

static void scores_are_true_on_any_way(void **state)
{
    MD_OWNED(md_device_close) md_device *device = open_card(state);
    size_t found = 0;
    for (uint64_t seed = 1; seed <= (is_slow(*state) ? 35 : 120); seed++) {
        const deferred_kind kind = draw_card_kind(device, seed);
        deferred_case c;
        open_deferred(&c, &kind);
        assert_true(md_gram_is_on_card(c.gram));
        for (size_t t = 0; t < (kind.rows > 100 ? 60 : 200); t++)
            do_anything(&c);
        close_and_check(&c);
        found += md_deferred_count(c.deferred).found;
        close_deferred(&c);
    }
    assert_true(found > 0);
}

static void a_walk_has_one_end(void **state)
{
    MD_OWNED(md_device_close) md_device *device = open_card(state);
    for (uint64_t seed = 1; seed <= 6; seed++) {
        deferred_kind kind = draw_card_kind(device, seed);
        size_t bytes[2];
        size_t found = 0;
        float *one = walk(&kind, 60, &bytes[0], &found);
        kind.threads = 3 - kind.threads;
        float *two = walk(&kind, 60, &bytes[1], &found);
        assert_int_equal(bytes[0], bytes[1]);
        assert_memory_equal(one, two, bytes[0]);
        free(one);
        free(two);
    }
}

/* ---- special ways ---- */

static deferred_kind plain_kind(const md_device *device, size_t rows, uint64_t seed)
{
    return (deferred_kind){.rows = rows,
                           .labels = 3,
                           .longest = 16,
                           .threads = 2,
                           .room = KEEPS_ALL,
                           .seed = seed,
                           .device = device,
                           .precise = seed % 2 == 0};
}

static void change_window(deferred_case *c)
{
    for (size_t m = 0; m < c->count; m++)
        for (size_t s = 0; c->shadows[m].attached && s < c->window_count; s++)
            add_change(c, m, c->window[s], (s + m) % c->labels, draw_change(c));
}

static void expect_rows(deferred_case *c, const size_t *rows, size_t count)
{
    medley_error error = {0};
    check_ok(md_deferred_expect(c->deferred, rows, count, &error), &error);
}

/* Others are opened than was said: some of them, more, in another order, none. */
static void what_is_expected_need_not_come(void **state)
{
    MD_OWNED(md_device_close) md_device *device = open_card(state);
    for (uint64_t seed = 1; seed <= 4; seed++) {
        const deferred_kind kind = plain_kind(device, 40, seed);
        const size_t expected[] = {5, 7, 9, 30, 31};
        deferred_case c;
        open_deferred(&c, &kind);
        for (size_t t = 0; t < 8; t++) {
            open_window(&c, 1 + 2 * t);
            check_window(&c);
            expect_rows(&c, expected, 5);
            change_window(&c);
            check_window(&c); /* its values are still there */
            md_random_shuffle(&c.random, c.window, c.n);
            if (t % 3 == 1)
                expect_rows(&c, c.window, c.n); /* and again, other ones */
            if (t % 4 == 3)
                close_window(&c);
        }
        c.window[0] = 7;
        c.window[1] = 5;
        open_window(&c, 2);
        check_any_entry(&c);
        expect_rows(&c, NULL, 0);
        close_and_check(&c);
        close_deferred(&c);
    }
}

/* Large arrays of scores are pinned when they are first read, and let go with their slots. */
static void scores_of_many_labels_are_read_again_and_again(void **state)
{
    MD_OWNED(md_device_close) md_device *device = open_card(state);
    deferred_kind kind = plain_kind(device, 70, 1);
    deferred_case c;
    kind.labels = LABELS_MOST;
    open_deferred(&c, &kind);
    for (size_t t = 0; t < 2; t++) {
        open_window(&c, 9);
        change_window(&c);
        close_and_check(&c);
    }
    close_deferred(&c);
}

/* A run that goes on from a file fills scores; the card gets them before they are needed. */
static void scores_that_their_owner_fills_are_taken_over(void **state)
{
    MD_OWNED(md_device_close) md_device *device = open_card(state);
    for (uint64_t seed = 1; seed <= 6; seed++) {
        const deferred_kind kind = plain_kind(device, 50, seed);
        deferred_case c;
        open_deferred(&c, &kind);
        for (size_t t = 0; t < 20; t++)
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
            md_deferred_continue(c.deferred, m);
            free(copy);
            if (m % 3 == 0) /* before it is there */
                rescale(&c, m, 0.5F);
            if (m % 3 == 1)
                forget_label(&c, m, 1);
        }
        if (seed % 2 == 0)
            close_and_check(&c);
        for (size_t t = 0; t < 20; t++)
            add_any(&c);
        close_and_check(&c);
        close_deferred(&c);
    }
}

/* More than are flushed at a time are replaced at a time. */
static void many_rows_are_replaced_together(void **state)
{
    MD_OWNED(md_device_close) md_device *device = open_card(state);
    for (uint64_t seed = 1; seed <= 2; seed++) {
        const deferred_kind kind = plain_kind(device, 700, seed);
        deferred_case c;
        open_deferred(&c, &kind);
        open_window(&c, 16);
        change_window(&c);
        for (size_t m = 0; m < c.count; m += 2)
            if (c.shadows[m].attached)
                replace(&c, m, 0.75F);
        close_and_check(&c);
        close_deferred(&c);
    }
}

static void values_of_a_row_are_computed_once(void **state)
{
    MD_OWNED(md_device_close) md_device *device = open_card(state);
    const deferred_kind kind = plain_kind(device, 60, 5);
    deferred_case c;
    open_deferred(&c, &kind);
    const md_deferred_counts none = md_deferred_count(c.deferred);
    for (size_t t = 0; t < 3; t++) {
        open_window(&c, 12);
        change_window(&c);
        close_window(&c);
    }
    const md_deferred_counts counts = md_deferred_count(c.deferred);
    assert_int_equal(counts.computed - none.computed + counts.found - none.found, 36);
    assert_true(counts.found - none.found >= 24);
    close_deferred(&c);
}

/* ---- several scores of one bank ---- */

/* What one of them has computed and keeps, the other finds. */
static void scores_of_one_bank_do_not_disturb_each_other(void **state)
{
    MD_OWNED(md_device_close) md_device *device = open_card(state);
    deferred_case c = {.n = 60, .kind = {.seed = 3, .device = device}};
    MD_OWNED(md_card_free) md_card *card = NULL;
    MD_OWNED(md_device_scores_free) md_device_scores *one = NULL;
    MD_OWNED(md_device_scores_free) md_device_scores *two = NULL;
    bool wanted[ACCOUNTS_MOST];
    float change[ACCOUNTS_MOST];
    float score[2][60];
    size_t most;
    medley_error error = {0};
    const size_t row = 4;
    md_random_seed(&c.random, 3);
    open_bank(&c);
    for (size_t m = 0; m < ACCOUNTS_MOST; m++) {
        wanted[m] = true;
        change[m] = 1;
    }
    const md_card_wish wish = {
        .bank = &c.bank, .rows = &c.prepared, .wanted = wanted, .precise = true, .raw = true};
    check_ok(md_card_create(&card, device, &wish, &error), &error);
    check_ok(md_card_scores(&one, card, 1, NULL, 16, &most, &error), &error);
    check_ok(md_card_scores(&two, card, 1, NULL, 16, &most, &error), &error);
    check_ok(md_device_add(one, &row, 1, change, false, &error), &error);
    check_ok(md_device_add(two, &row, 1, change, false, &error), &error);
    for (size_t k = 0; k < md_card_kernels(card); k++) {
        check_ok(md_device_read(two, k, score[0], &error), &error);
        check_ok(md_device_read(one, k, score[1], &error), &error);
        assert_true(isfinite(score[0][row]) && score[0][row] != 0);
        assert_memory_equal(score[0], score[1], sizeof score[0]);
    }
    md_prepared_clear(&c.prepared);
    md_bank_clear(&c.bank);
    medley_dataset_free(c.data);
}

struct scaling {
    md_device_scores *scores;
};

static void double_scores(void *context, size_t slot, size_t worker)
{
    (void)worker;
    md_device_scale(((struct scaling *)context)->scores, slot, 0, 1, 2);
}

/* Changes that are on their way are added once, whoever comes first. */
static void scores_are_scaled_by_several_threads(void **state)
{
    MD_OWNED(md_device_close) md_device *device = open_card(state);
    deferred_case c = {.n = 40, .kind = {.seed = 3, .device = device}};
    MD_OWNED(md_card_free) md_card *card = NULL;
    bool wanted[ACCOUNTS_MOST];
    float change[ACCOUNTS_MOST];
    float score[2][40];
    size_t most;
    medley_error error = {0};
    const size_t row = 7;
    md_random_seed(&c.random, 3);
    open_bank(&c);
    for (size_t m = 0; m < ACCOUNTS_MOST; m++) {
        wanted[m] = true;
        change[m] = 1;
    }
    const md_card_wish wish = {
        .bank = &c.bank, .rows = &c.prepared, .wanted = wanted, .precise = true, .raw = true};
    check_ok(md_card_create(&card, device, &wish, &error), &error);
    for (size_t t = 0; t < 20; t++) {
        MD_OWNED(md_device_scores_free) md_device_scores *plain = NULL;
        MD_OWNED(md_device_scores_free) md_device_scores *scaled = NULL;
        check_ok(md_card_scores(&plain, card, 1, NULL, 16, &most, &error), &error);
        check_ok(md_card_scores(&scaled, card, 1, NULL, 16, &most, &error), &error);
        check_ok(md_device_add(plain, &row, 1, change, false, &error), &error);
        check_ok(md_device_add(scaled, &row, 1, change, false, &error), &error);
        struct scaling scaling = {scaled};
        md_parallel_for(4, md_card_kernels(card), double_scores, &scaling);
        for (size_t k = 0; k < md_card_kernels(card); k++) {
            check_ok(md_device_read(plain, k, score[0], &error), &error);
            check_ok(md_device_read(scaled, k, score[1], &error), &error);
            for (size_t i = 0; i < c.n; i++)
                assert_true(score[1][i] == 2 * score[0][i]);
        }
    }
    md_prepared_clear(&c.prepared);
    md_bank_clear(&c.bank);
    medley_dataset_free(c.data);
}

/* ---- what cards cannot do ---- */

static void kernels_from_outside_stay_outside(void **state)
{
    (void)state;
    const deferred_kind kind = {.rows = 12, .labels = 1, .longest = 1, .threads = 1, .seed = 1};
    bool wanted[ACCOUNTS_MOST];
    deferred_case c;
    medley_error error = {0};
    open_deferred(&c, &kind);
    for (size_t m = 0; m < ACCOUNTS_MOST; m++)
        wanted[m] = true;
    const md_card_wish wish = {.bank = &c.bank, .rows = &c.prepared, .wanted = wanted};
    assert_int_equal(md_card_check(&wish, &error), MEDLEY_NOT_SUPPORTED);
    assert_non_null(strstr(error.message, "values from outside"));
    for (size_t m = 0; m < c.bank.count; m++)
        wanted[m] = c.bank.kernels[m].class != NULL;
    error = (medley_error){0};
    check_ok(md_card_check(&wish, &error), &error);
    close_deferred(&c);
}

/* ---- lost cards ---- */

/* Everything that asks a card, up to what fails. */
static medley_status ask_card(deferred_case *c, md_gram_options options, float *score,
                              medley_error *error)
{
    MD_OWNED(md_gram_free) md_gram *gram = NULL;
    MD_OWNED(md_deferred_free) md_deferred *deferred = NULL;
    const md_deferred_options how = {.labels = 1, .longest = 2};
    const size_t rows[] = {0, 1, 2, 3};
    MEDLEY_TRY(md_gram_create(&gram, &c->bank, &c->prepared, &options, error));
    MEDLEY_TRY(md_deferred_create(&deferred, gram, &how, error));
    MEDLEY_TRY(md_deferred_attach(deferred, 0, score, error));
    md_deferred_continue(deferred, 0);
    for (size_t first = 0; first <= 2; first += 2) {
        MEDLEY_TRY(md_deferred_open(deferred, rows + first, 2, error));
        MEDLEY_TRY(md_deferred_expect(deferred, rows + 2, 2, error));
        md_deferred_add(deferred, 0, first, &(md_label_change){0, 1}, 1);
        md_deferred_rescale(deferred, 0, 0.5F);
    }
    return md_deferred_close(deferred, error);
}

/* Whichever call is the first to fail: one sentence, and nothing is left behind. */
static void a_lost_card_is_an_error(void **state)
{
    (void)state;
    deferred_case c = {.n = 30, .kind = {.seed = 7}};
    float score[30] = {0};
    char fault[20];
    char reason[MD_DEVICE_MESSAGE];
    medley_status status = MEDLEY_FAILED;
    md_random_seed(&c.random, 7);
    use_fake_card("");
    c.kind.device = (const md_device *)(const void *)&c; /* no ready-made kernels */
    open_bank(&c);
    for (size_t call = 1; status != MEDLEY_OK; call++) {
        MD_OWNED(md_device_close) md_device *device = NULL;
        medley_error error = {0};
        assert_true(call < 40);
        snprintf(fault, sizeof fault, "lost:%zu", call);
        use_fake_card(fault);
        check_ok(md_device_open(&device, "cuda", reason, &error), &error);
        const md_gram_options options = {.threads = 2, .device = device};
        status = ask_card(&c, options, score, &error);
        assert_true(status == MEDLEY_FAILED || call > 10);
        if (status != MEDLEY_OK)
            assert_non_null(strstr(error.message,
                                   "fake card: unspecified launch failure while waiting for it"));
    }
    md_prepared_clear(&c.prepared);
    md_bank_clear(&c.bank);
    medley_dataset_free(c.data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON_EVERY_CARD(scores_are_true_on_any_way),
        ON_EVERY_CARD(a_walk_has_one_end),
        ON_EVERY_CARD(what_is_expected_need_not_come),
        ON_EVERY_CARD(scores_that_their_owner_fills_are_taken_over),
        ON_EVERY_CARD(many_rows_are_replaced_together),
        ON_EVERY_CARD(values_of_a_row_are_computed_once),
        ON_EVERY_CARD(scores_of_many_labels_are_read_again_and_again),
        cmocka_unit_test(kernels_from_outside_stay_outside),
        ON_EVERY_CARD(scores_of_one_bank_do_not_disturb_each_other),
        ON_EVERY_CARD(scores_are_scaled_by_several_threads),
        cmocka_unit_test(a_lost_card_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
