/* SPDX-License-Identifier: BSD-3-Clause */
/* The confidence interval of the F1 of chunks: by hand, against a bootstrap over sentences, and by
 * how often it holds the F1 of the population that the sentences were drawn from. */
#include "report_case.h"

#include "base/random.h"
#include "report/report.h"
#include <math.h>

static md_confidence_interval interval_of(md_chunk_counts *chunks, size_t sentences)
{
    medley_dataset data = {.sequence_count = sentences};
    medley_prediction prediction = {.rows = 1};
    md_report report = {.measured = true, .prediction = &prediction, .chunks = chunks};
    report.options.data = &data;
    return md_report_chunk_interval(&report);
}

/* F1 1/2, variance (4 + 0 + 0 + 4) / 16^2 * 4/3 = 1/24: that of six independent rows. */
static void the_interval_of_four_sentences_is_that_by_hand(void **state)
{
    (void)state;
    md_chunk_counts chunks[] = {{2, 2, 2}, {2, 2, 1}, {2, 2, 1}, {2, 2, 0}};
    const md_confidence_interval interval = interval_of(chunks, 4);
    assert_true(fabs(interval.low - 0.18762) < 1e-5 && fabs(interval.high - 0.81238) < 1e-5);
}

static void sentences_without_a_mistake_leave_room_for_some(void **state)
{
    (void)state;
    md_chunk_counts chunks[12] = {{0}};
    for (size_t s = 0; s < 10; s++) /* two sentences have no chunks, and say nothing */
        chunks[s] = (md_chunk_counts){3, 3, 3};
    const md_confidence_interval interval = interval_of(chunks, 12);
    assert_true(fabs(interval.low - 10 / (10 + 3.841459)) < 1e-5 && interval.high > 1 - 1e-9);
}

/* Ten sentences, each of them right in one half: no variance, by luck. */
static void equal_sentences_count_as_one_row_each(void **state)
{
    (void)state;
    md_chunk_counts chunks[10];
    for (size_t s = 0; s < 10; s++)
        chunks[s] = (md_chunk_counts){4, 4, 2};
    const md_confidence_interval interval = interval_of(chunks, 10);
    assert_true(fabs(interval.low - 0.23659) < 1e-4 && fabs(interval.high - 0.76341) < 1e-4);
}

static void without_chunks_there_is_no_interval(void **state)
{
    (void)state;
    md_chunk_counts chunks[3] = {{0}};
    assert_true(isnan(interval_of(chunks, 3).low));
    assert_true(isnan(interval_of(NULL, 3).low));
}

/* Sentences of 1 to 20 chunks, of which some are hard as a whole; what is missed is in part found
 * as something else. */
static void draw_sentences(md_chunk_counts *chunks, size_t count, md_random *random)
{
    for (size_t s = 0; s < count; s++) {
        const double right = md_random_uniform(random) < 0.2 ? 0.6 : 0.95;
        const size_t given = 1 + md_random_below(random, 20);
        chunks[s] = (md_chunk_counts){.given = given};
        for (size_t i = 0; i < given; i++) {
            const bool is_right = md_random_uniform(random) < right;
            chunks[s].correct += is_right;
            chunks[s].found += is_right || md_random_uniform(random) < 0.7;
        }
    }
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a;
    const double y = *(const double *)b;
    return (x > y) - (x < y);
}

static void the_interval_is_that_of_a_bootstrap_over_sentences(void **state)
{
    enum { SENTENCES = 500, TIMES = 4000 };
    (void)state;
    static md_chunk_counts chunks[SENTENCES];
    static md_chunk_counts again[SENTENCES];
    static double f1[TIMES];
    md_random random;
    md_random_seed(&random, 7);
    for (size_t round = 0; round < 5; round++) {
        draw_sentences(chunks, SENTENCES, &random);
        for (size_t t = 0; t < TIMES; t++) {
            for (size_t s = 0; s < SENTENCES; s++)
                again[s] = chunks[md_random_below(&random, SENTENCES)];
            f1[t] = md_chunk_f1(md_chunk_total(again, SENTENCES));
        }
        qsort(f1, TIMES, sizeof *f1, by_value);
        const double low = f1[TIMES * 25 / 1000];
        const double high = f1[TIMES * 975 / 1000];
        const md_confidence_interval interval = interval_of(chunks, SENTENCES);
        assert_true(fabs(interval.low - low) < 0.1 * (high - low));
        assert_true(fabs(interval.high - high) < 0.1 * (high - low));
    }
}

static void nineteen_of_twenty_intervals_hold_the_truth(void **state)
{
    enum { SENTENCES = 100, TIMES = 2000, MANY = 200000 };
    (void)state;
    static md_chunk_counts chunks[MANY];
    md_random random;
    size_t held = 0;
    md_random_seed(&random, 11);
    draw_sentences(chunks, MANY, &random);
    const double truth = md_chunk_f1(md_chunk_total(chunks, MANY));
    for (size_t t = 0; t < TIMES; t++) {
        draw_sentences(chunks, SENTENCES, &random);
        const md_confidence_interval interval = interval_of(chunks, SENTENCES);
        held += interval.low <= truth && truth <= interval.high;
    }
    assert_in_range(held, TIMES * 93 / 100, TIMES * 97 / 100);
}

static void reports_of_new_sentences_have_the_interval(void **state)
{
    (void)state;
    medley_dataset *train = read_text("He PRP B-NP\nsees VB B-VP\nthe DT B-NP\ndog NN I-NP\n\n"
                                      "She PRP B-NP\nruns VB B-VP\n\nA DT B-NP\ncat NN I-NP\n\n",
                                      ".txt", NULL);
    medley_dataset *test = read_text("She PRP B-NP\nsees VB B-VP\na DT B-NP\ncat NN I-NP\n\n"
                                     "the DT B-NP\ndog NN I-NP\nruns VB B-XP\n\n",
                                     ".txt", NULL);
    const char *const settings[] = {"template", "chunk", "epochs", "3", NULL};
    medley_model *model = fit(train, settings);
    medley_report_options options = MEDLEY_REPORT_OPTIONS_INIT;
    options.data = test;
    char *html = report_text(model, &options);
    check_markup(html);
    check_has(html, "of them: F1 80.00\xC2\xA0%"); /* B-XP is not known to the model, and counts */
    check_has(html, "(95 % confidence: ");
    check_has(html, "F1 of chunks</dt><dd class=\"big\">80.00\xC2\xA0%</dd>"
                    "<dd class=\"small\">95 % CI: ");
    free(html);
    options.data_chose = true;
    html = report_text(model, &options);
    check_has_not(html, "% confidence: ");
    free(html);
    medley_model_free(model);
    medley_dataset_free(train);
    medley_dataset_free(test);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_interval_of_four_sentences_is_that_by_hand),
        cmocka_unit_test(sentences_without_a_mistake_leave_room_for_some),
        cmocka_unit_test(equal_sentences_count_as_one_row_each),
        cmocka_unit_test(without_chunks_there_is_no_interval),
        cmocka_unit_test(the_interval_is_that_of_a_bootstrap_over_sentences),
        cmocka_unit_test(nineteen_of_twenty_intervals_hold_the_truth),
        cmocka_unit_test(reports_of_new_sentences_have_the_interval),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
