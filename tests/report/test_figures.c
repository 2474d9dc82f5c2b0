/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers for readers, and the ticks of axes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/random.h"
#include "report/chart.h"
#include "report/report.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define check(expression, expected) assert_string_equal((expression).text, (expected))

static void numbers_are_written_for_readers(void **state)
{
    (void)state;
    check(md_figure_count(0), "0");
    check(md_figure_count(999), "999");
    check(md_figure_count(1647), "1,647");
    check(md_figure_count(1234567), "1,234,567");
    check(md_figure_number(0.162992), "0.1630");
    check(md_figure_number(-1234.5678), "\xE2\x88\x92"
                                        "1,235");
    check(md_figure_number(12), "12");
    check(md_figure_number(-0.0), "0");
    check(md_figure_number(8.462e-5), "8.462 × 10⁻⁵");
    check(md_figure_number(3e12), "3.000 × 10¹²");
    check(md_figure_percent(0.854), "85.40\xC2\xA0%");
    check(md_figure_percent(1), "100.00\xC2\xA0%");
    check(md_figure_rough(0.92), "92\xC2\xA0%");
    check(md_figure_rough(0.996), "99.6\xC2\xA0%");
    check(md_figure_rough(0.0033), "0.3\xC2\xA0%");
    check(md_figure_rough(0.00001), "0.0010\xC2\xA0%");
    check(md_figure_rough(0), "0\xC2\xA0%");
    check(md_figure_rough(1), "100\xC2\xA0%");
    check(md_figure_rough(0.99996), "99.9\xC2\xA0%"); /* not all of it */
    check(md_figure_percent(0.99996), "99.99\xC2\xA0%");
    check(md_figure_at_most(0.00121), "0.13\xC2\xA0%");
    check(md_figure_at_most(0.0012), "0.12\xC2\xA0%");
    check(md_figure_at_most(0.9961), "100\xC2\xA0%");
    check(md_figure_at_most(0.0140001), "1.5\xC2\xA0%");
    check(md_figure_at_most(-1e-17), "0\xC2\xA0%");
    check(md_figure_of(1, "row", "rows"), "1 row");
    check(md_figure_of(0, "row", "rows"), "0 rows");
    check(md_figure_of(1647, "row", "rows"), "1,647 rows");
    check(md_figure_tick_of(1000.5, 0.5), "1,000.5");
    check(md_figure_tick_of(0, 0.5), "0");
    check(md_figure_tick_percent_of(0.9005, 0.0005), "90.05\xC2\xA0%");
    check(md_figure_exact(0.1), "0.1");
    check(md_figure_tick(0.5), "0.5");
    check(md_figure_tick(20000), "20,000");
    check(md_figure_tick(1e-5), "10⁻⁵");
    check(md_figure_tick(2e6), "2 × 10⁶");
    check(md_figure_tick_percent(0.925), "92.5\xC2\xA0%");
    check(md_figure_tick_percent(0.9), "90\xC2\xA0%");
    check(md_figure_seconds(0.0001), "under 1 ms");
    check(md_figure_seconds(0.014), "14\xC2\xA0ms");
    check(md_figure_seconds(0.14), "0.14\xC2\xA0s");
    check(md_figure_seconds(59.97), "60.0\xC2\xA0s");
    check(md_figure_seconds(200), "3\xC2\xA0min 20\xC2\xA0s");
    check(md_figure_seconds(7500), "2\xC2\xA0h 5\xC2\xA0min");
}

typedef md_figure (*writer)(double);
static const writer writers[] = {md_figure_number,      md_figure_exact,   md_figure_percent,
                                 md_figure_rough,       md_figure_seconds, md_figure_tick,
                                 md_figure_tick_percent};

static void no_number_is_nan_inf_or_too_long(void **state)
{
    (void)state;
    md_random random;
    md_random_seed(&random, 3);
    for (int round = 0; round < 20000; round++) {
        double value;
        const uint64_t bits = md_random_bits(&random);
        memcpy(&value, &bits, sizeof value); /* any double, NaN and infinities included */
        if (round % 10 == 0)
            value = round % 20 == 0 ? (double)NAN : (double)-INFINITY;
        for (size_t w = 0; w < sizeof writers / sizeof *writers; w++) {
            const md_figure figure = writers[w](value);
            assert_non_null(memchr(figure.text, '\0', sizeof figure.text));
            assert_true(figure.text[0] != '\0');
            assert_null(strcasestr(figure.text, "nan"));
            assert_null(strcasestr(figure.text, "inf"));
        }
    }
}

static void ticks_are_round_and_few(void **state)
{
    (void)state;
    md_random random;
    md_random_seed(&random, 5);
    for (int round = 0; round < 20000; round++) {
        md_axis axis = MD_AXIS_INIT(md_figure_tick, "");
        axis.logarithmic = round % 2 == 1;
        const double size = pow(10, 12 * md_random_uniform(&random) - 6);
        const double first = axis.logarithmic ? size : size * (md_random_uniform(&random) - 0.5);
        const double second = axis.logarithmic
                                  ? size * pow(10, 8 * md_random_uniform(&random))
                                  : first + (round % 7 ? size * md_random_uniform(&random) : 0);
        md_axis_include(&axis, first);
        md_axis_include(&axis, (double)NAN);
        md_axis_include(&axis, (double)INFINITY);
        md_axis_include(&axis, second);
        md_axis_round(&axis, 5);
        assert_true(axis.low < axis.high);
        assert_true(axis.low <= first * (1 + (first < 0 ? -1e-6 : 1e-6)));
        assert_true(axis.high >= second * (1 - (second < 0 ? -1e-6 : 1e-6)));
        const double share = md_axis_share(&axis, first);
        assert_true(share > -1e-6 && share < 1 + 1e-6);
        double ticks[24];
        const size_t count = md_axis_ticks(&axis, 5, ticks, 24);
        assert_in_range(count, 1, 12);
        for (size_t t = 0; t < count; t++) {
            char text[32];
            snprintf(text, sizeof text, "%.6e", fabs(ticks[t]));
            /* one digit, or two while steps of 2 or 5 pass a power of ten */
            assert_true(ticks[t] == 0 || axis.logarithmic == false || strspn(text + 2, "0") >= 6);
            assert_true(t == 0 || ticks[t] > ticks[t - 1]);
        }
    }
}

/* The texts of the ticks of a chart in their order, behind where they are anchored: "end>0.5". */
static size_t tick_texts(const char *html, char texts[64][48])
{
    size_t count = 0;
    for (const char *p = html; (p = strstr(p, "<text")) != NULL && count < 64; p++) {
        const char *text = strstr(p, "anchor=\"") + strlen("anchor=\"");
        snprintf(texts[count++], 48, "%.*s", (int)strcspn(text, "<"), text);
    }
    return count;
}

static void neighbouring_ticks_differ(void **state)
{
    (void)state;
    md_random random;
    md_random_seed(&random, 9);
    for (int round = 0; round < 2000; round++) {
        const bool percent = round % 3 == 0;
        md_figure (*const text)(double) = percent ? md_figure_tick_percent : md_figure_tick;
        md_chart chart = {
            .x = MD_AXIS_INIT(text, ""), .y = MD_AXIS_INIT(text, ""), .height = 200, .label = ""};
        const double size = pow(10, percent ? 0 : 18 * md_random_uniform(&random) - 9);
        const double first = size * md_random_uniform(&random);
        const double span = size * pow(10, -7 * md_random_uniform(&random));
        chart.x.whole = round % 5 == 0;
        md_axis_include(&chart.x, first);
        md_axis_include(&chart.x, first + span);
        chart.y = chart.x;
        md_axis_round(&chart.x, 5);
        md_axis_round(&chart.y, 5);
        md_html html = {0};
        char texts[64][48];
        md_chart_open(&html, &chart);
        const size_t count = tick_texts(html.text.data, texts);
        assert_true(count > 2);
        for (size_t t = 1; t < count; t++)
            assert_string_not_equal(texts[t], texts[t - 1]);
        for (size_t t = 0; chart.x.whole && size > 1 && size < 1e5 && !percent && t < count; t++)
            assert_null(strchr(texts[t], '.'));
        md_html_clear(&html);
    }
}

static void ticks_of_known_ranges(void **state)
{
    (void)state;
    md_axis axis = MD_AXIS_INIT(md_figure_tick, "");
    double ticks[24];
    md_axis_include(&axis, 0.13);
    md_axis_include(&axis, 0.94);
    md_axis_round(&axis, 5);
    assert_int_equal(md_axis_ticks(&axis, 5, ticks, 24), 6);
    for (size_t t = 0; t < 6; t++)
        assert_true(fabs(ticks[t] - 0.2 * (double)t) < 1e-12);
    md_axis gap = MD_AXIS_INIT(md_figure_tick, "");
    gap.logarithmic = true;
    md_axis_include(&gap, 0); /* has no place there */
    md_axis_include(&gap, 1e-4);
    md_axis_include(&gap, 1);
    md_axis_round(&gap, 5);
    assert_int_equal(md_axis_ticks(&gap, 5, ticks, 24), 5);
    assert_true(fabs(ticks[0] - 1e-4) < 1e-12 && fabs(ticks[4] - 1) < 1e-12);
    assert_true(isnan(md_axis_share(&gap, 0)));
    assert_true(fabs(md_axis_share(&gap, 1e-2) - 0.5) < 1e-12);
    gap.falling = true;
    assert_true(fabs(md_axis_share(&gap, 1e-4) - 1) < 1e-12);
}

static void lines_stop_where_there_is_no_number(void **state)
{
    (void)state;
    md_chart chart = {.x = {0, 4, false, false, md_figure_tick, "", false},
                      .y = {0, 1, false, false, md_figure_tick, "", false},
                      .height = 200,
                      .label = ""};
    const double x[] = {0, 1, 2, 3, 4};
    const double y[] = {0, 1, (double)NAN, 1, 0};
    md_html html = {0};
    md_chart_line(&html, &chart, x, y, 5, "line");
    size_t moves = 0;
    for (const char *p = html.text.data; (p = strchr(p, 'M')) != NULL; p++)
        moves++;
    assert_int_equal(moves, 2);
    assert_null(strstr(html.text.data, "nan"));
    md_html_clear(&html);
}

static double value_at(const void *values, size_t i)
{
    return ((const double *)values)[i];
}

static void ranks_fall_and_what_is_nan_comes_last(void **state)
{
    (void)state;
    const double values[] = {1, (double)NAN, 3, 1, -2};
    size_t *order;
    medley_error error = {0};
    assert_int_equal(md_rank(&order, 5, value_at, values, &error), MEDLEY_OK);
    const size_t expected[] = {2, 0, 3, 4, 1};
    assert_memory_equal(order, expected, sizeof expected);
    free(order);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_written_for_readers),
        cmocka_unit_test(no_number_is_nan_inf_or_too_long),
        cmocka_unit_test(ticks_are_round_and_few),
        cmocka_unit_test(neighbouring_ticks_differ),
        cmocka_unit_test(ticks_of_known_ranges),
        cmocka_unit_test(lines_stop_where_there_is_no_number),
        cmocka_unit_test(ranks_fall_and_what_is_nan_comes_last),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
