/* SPDX-License-Identifier: BSD-3-Clause */
#include "report/figures.h"

#include "base/text.h"

static const char DASH[] = "\xE2\x80\x93";
static const char PERCENT[] = "\xC2\xA0%"; /* a line must not end before it */
static const char MINUS[] = "\xE2\x88\x92";

static md_figure plain(const char *text)
{
    md_figure figure;
    snprintf(figure.text, sizeof figure.text, "%s", text);
    return figure;
}

/* Commas between thousands of the whole part; a true minus. text: as printf writes numbers. */
static md_figure with_commas(const char *text)
{
    md_figure figure = {{0}};
    const bool negative = text[0] == '-';
    const char *digits = text + negative;
    const size_t whole = strcspn(digits, ".e");
    size_t used = 0;
    if (negative)
        used = (size_t)snprintf(figure.text, sizeof figure.text, "%s", MINUS);
    for (size_t i = 0; i < whole && used + 2 < sizeof figure.text; i++) {
        if (i > 0 && (whole - i) % 3 == 0)
            figure.text[used++] = ',';
        figure.text[used++] = digits[i];
    }
    snprintf(figure.text + used, sizeof figure.text - used, "%s", digits + whole);
    return figure;
}

/* 10 to a power, with the digits in front: "8.462 × 10⁻⁵"; front "1" is left out. */
static md_figure scientific(const char *front, int exponent)
{
    static const char *const raised[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
    md_figure figure = {{0}};
    char digits[16];
    snprintf(digits, sizeof digits, "%d", exponent < 0 ? -exponent : exponent);
    const bool negative = front[0] == '-';
    const char *number = front + negative;
    size_t used = (size_t)snprintf(figure.text, sizeof figure.text, "%s%s%s10%s",
                                   negative ? MINUS : "", strcmp(number, "1") == 0 ? "" : number,
                                   strcmp(number, "1") == 0 ? "" : " × ", exponent < 0 ? "⁻" : "");
    for (const char *d = digits; *d != '\0' && used < sizeof figure.text; d++)
        used +=
            (size_t)snprintf(figure.text + used, sizeof figure.text - used, "%s", raised[*d - '0']);
    return figure;
}

/* Ends a text such as "1.5e-07" before its e; returns the exponent. */
static int cut_exponent(char *text)
{
    char *e = strchr(text, 'e');
    if (e == NULL)
        return 0;
    *e = '\0';
    return (int)strtol(e + 1, NULL, 10);
}

/* %g with `digits` digits; powers of ten beyond `small` and `large` as such. */
static md_figure general(double value, int digits, double small, double large)
{
    char text[64];
    if (!isfinite(value))
        return plain(DASH);
    if (value == 0)
        return plain("0");
    if (fabs(value) >= small && fabs(value) < large) {
        const int decimals = digits - 1 - (int)floor(log10(fabs(value)));
        snprintf(text, sizeof text, "%.*f", decimals > 0 ? decimals : 0, value);
        return with_commas(text);
    }
    snprintf(text, sizeof text, "%.*e", digits - 1, value);
    return scientific(text, cut_exponent(text));
}

static md_figure with_percent(md_figure figure)
{
    const size_t length = strlen(figure.text);
    snprintf(figure.text + length, sizeof figure.text - length, "%s", PERCENT);
    return figure;
}

static void drop_zeros(char *text)
{
    char *point = strchr(text, '.');
    if (point == NULL)
        return;
    char *end = text + strlen(text);
    while (end > point && (end[-1] == '0' || end[-1] == '.')) {
        const bool was_point = end[-1] == '.';
        *--end = '\0';
        if (was_point)
            break;
    }
}

md_figure md_figure_count(size_t value)
{
    char text[32];
    snprintf(text, sizeof text, "%zu", value);
    return with_commas(text);
}

md_figure md_figure_of(size_t count, const char *one, const char *many)
{
    md_figure figure = md_figure_count(count);
    const size_t length = strlen(figure.text);
    snprintf(figure.text + length, sizeof figure.text - length, " %s", count == 1 ? one : many);
    return figure;
}

md_figure md_figure_number(double value)
{
    if (isfinite(value) && value == nearbyint(value) && fabs(value) < 1e6) {
        char text[32];
        snprintf(text, sizeof text, "%.0f", value == 0 ? 0 : value);
        return with_commas(text);
    }
    return general(value, 4, 1e-3, 1e7);
}

md_figure md_figure_exact(double value)
{
    char text[32];
    return plain(isfinite(value) ? md_format_double(text, value) : DASH);
}

md_figure md_figure_percent(double share)
{
    char text[64];
    if (!(fabs(share) < 1e6))
        return md_figure_number(share);
    snprintf(text, sizeof text, "%.2f", share < 1 ? fmin(100 * share, 99.99) : 100 * share);
    return with_percent(with_commas(text));
}

md_figure md_figure_rough(double share)
{
    char text[64];
    if (!(fabs(share) < 1e6))
        return md_figure_number(share);
    const bool near_end = share != 0 && share != 1 && (fabs(share) < 0.01 || share > 0.99);
    if (fabs(share) < 0.0005 && share != 0) /* of gaps */
        return with_percent(general(100 * share, 2, 1e-3, 1e7));
    const double shown = share < 1 ? fmin(100 * share, 99.9) : 100 * share; /* not yet all */
    snprintf(text, sizeof text, "%.*f", near_end ? 1 : 0, shown);
    return with_percent(with_commas(text));
}

md_figure md_figure_at_most(double share)
{
    if (!isfinite(share))
        return plain(DASH);
    if (!(share > 0))
        return plain("0\xC2\xA0%");
    const double percent = 100 * share;
    const double unit = pow(10, floor(log10(percent)) - 1);
    return with_percent(general(unit * ceil(percent / unit - 1e-9), 2, 1e-3, 1e7));
}

md_figure md_figure_seconds(double seconds)
{
    md_figure figure;
    if (!isfinite(seconds) || seconds < 0)
        return plain(DASH);
    if (seconds < 0.0005)
        return plain("under 1 ms");
    if (seconds < 0.0995)
        snprintf(figure.text, sizeof figure.text, "%.0f\xC2\xA0ms", 1000 * seconds);
    else if (seconds < 9.995)
        snprintf(figure.text, sizeof figure.text, "%.2f\xC2\xA0s", seconds);
    else if (seconds < 99.95)
        snprintf(figure.text, sizeof figure.text, "%.1f\xC2\xA0s", seconds);
    else if (seconds < 7200)
        snprintf(figure.text, sizeof figure.text, "%d\xC2\xA0min %d\xC2\xA0s", (int)(seconds / 60),
                 (int)fmod(seconds, 60));
    else
        snprintf(figure.text, sizeof figure.text, "%.0f\xC2\xA0h %d\xC2\xA0min",
                 floor(fmin(seconds, 1e12) / 3600), (int)(fmod(seconds, 3600) / 60));
    return figure;
}

md_figure md_figure_tick(double value)
{
    char text[64];
    if (!isfinite(value))
        return plain(DASH);
    if (value == 0)
        return plain("0");
    if (fabs(value) >= 1e-3 && fabs(value) < 1e5) {
        snprintf(text, sizeof text, "%.*f", fabs(value) >= 1000 ? 0 : 6, value);
        drop_zeros(text);
        return with_commas(text);
    }
    snprintf(text, sizeof text, "%.3e", value);
    const int exponent = cut_exponent(text);
    drop_zeros(text);
    return scientific(text, exponent);
}

md_figure md_figure_tick_percent(double share)
{
    char text[64];
    if (!isfinite(share) || fabs(share) > 1e6)
        return plain(DASH);
    snprintf(text, sizeof text, "%.4f", 100 * share);
    drop_zeros(text);
    return with_percent(with_commas(strcmp(text, "-0") == 0 ? "0" : text));
}

/* Of ticks a step apart, so that neighbours differ. */
static md_figure stepped(double value, double step)
{
    const int place = (int)floor(log10(step) + 1e-9); /* of the last digit that is needed */
    char text[64];
    if (fabs(value) < 1e7 && place >= -6) {
        snprintf(text, sizeof text, "%.*f", place < 0 ? -place : 0, value);
        return with_commas(text);
    }
    const int digits = (int)floor(log10(fabs(value)) + 1e-9) - place;
    snprintf(text, sizeof text, "%.*e", digits < 0 ? 0 : digits > 12 ? 12 : digits, value);
    return scientific(text, cut_exponent(text));
}

md_figure md_figure_tick_of(double value, double step)
{
    if (!isfinite(value) || !(step > 0) || !isfinite(step))
        return md_figure_tick(value);
    return fabs(value) < step / 2 ? plain("0") : stepped(value, step);
}

md_figure md_figure_tick_percent_of(double share, double step)
{
    if (!isfinite(share) || !(step > 0) || !isfinite(step) || fabs(share) > 1e6)
        return md_figure_tick_percent(share);
    return with_percent(fabs(share) < step / 2 ? plain("0") : stepped(100 * share, 100 * step));
}

md_figure_writer md_measure_text(bool higher_is_better)
{
    return higher_is_better ? md_figure_percent : md_figure_number;
}

md_figure_writer md_measure_tick(bool higher_is_better)
{
    return higher_is_better ? md_figure_tick_percent : md_figure_tick;
}
