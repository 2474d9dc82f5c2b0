/* SPDX-License-Identifier: BSD-3-Clause */
/* Lists of values: "0.1,1,10", "mkl,block(q=1.5)", "0.01..100:9", "rbf(sigma=1) | rbf(sigma=2)". */
#include "select/choice.h"

#include <unistd.h>

enum { MOST_VALUES = 1000, RANGE_DIGITS = 4 };

/* ---- ranges ---- */

/* Is it the whole of text: NUMBER..NUMBER or NUMBER..NUMBER:COUNT? */
static bool read_range(const char *text, char low[32], char high[32], long long *count)
{
    const char *dots = strstr(text, "..");
    if (dots == NULL || dots == text)
        return false;
    const char *end = dots + 2 + strcspn(dots + 2, ":");
    const int lengths[] = {(int)(dots - text), (int)(end - dots - 2)};
    if (lengths[0] >= 32 || lengths[1] >= 32)
        return false;
    double number;
    snprintf(low, 32, "%.*s", lengths[0], text);
    snprintf(high, 32, "%.*s", lengths[1], dots + 2);
    *count = 0; /* -1: what follows the colon is no number */
    if (!md_parse_double(low, &number) || !md_parse_double(high, &number))
        return false;
    if (*end == ':' && !md_parse_int(end + 1, count))
        *count = -1;
    return true;
}

/* "X", "X|auto", "auto|none|X": a number is among what the option takes. */
static bool takes_numbers(const md_param *param)
{
    return param->type == MD_DOUBLE ||
           (param->type == MD_STRING &&
            (strncmp(param->argument, "X|", 2) == 0 || strstr(param->argument, "|X") != NULL));
}

static medley_status check_range(const md_param *param, const char *text, double low, double high,
                                 long long count, medley_error *error)
{
    if (!takes_numbers(param))
        return md_fail(error, MEDLEY_USAGE,
                       "`%s='%s'`: ranges are of numbers with fractions; write the values with "
                       "commas between them",
                       param->name, text);
    if (!(low > 0 && high > 0 && low < INFINITY && high < INFINITY))
        return md_fail(error, MEDLEY_USAGE,
                       "`%s='%s'`: a range is spaced evenly in logarithm, so both ends must be "
                       "above 0",
                       param->name, text);
    if (count < 0 || count == 1 || count > MOST_VALUES)
        return md_fail(
            error, MEDLEY_USAGE,
            "`%s='%s'`: the number of values, which follows the colon, must be from 2 to %d",
            param->name, text, MOST_VALUES);
    return MEDLEY_OK;
}

/* Whole numbers and their exponents are written alike in all locales. */
const char *md_choice_power(char text[32], double exponent, int digits)
{
    double value;
    const double whole = floor(exponent);
    const long long mantissa = llround(pow(10, exponent - whole + digits - 1));
    snprintf(text, 32, "%llde%d", mantissa, (int)whole - digits + 1);
    return md_parse_double(text, &value) ? md_format_double(text, value) : text;
}

/* The ends as they were written, and between them numbers of four digits. The ratio of the ends may
 * be beyond all numbers, that of their logarithms is not. */
static medley_status add_range(char ***values, const md_param *param, const char *text,
                               const char *ends[2], long long count, medley_error *error)
{
    double low = NAN;
    double high = NAN;
    const bool read = md_parse_double(ends[0], &low) && md_parse_double(ends[1], &high);
    MEDLEY_TRY(check_range(param, text, low, high, count, error));
    if (!read)
        return MEDLEY_OK;
    const double first = log10(low);
    const double decades = log10(high) - first;
    if (count == 0)
        count = 1 + llround(fabs(decades));
    if (count == 1)
        count = low == high ? 1 : 2;
    for (long long i = 0; i < count; i++) {
        char number[32];
        const double share = (double)i / (double)(count > 1 ? count - 1 : 1);
        const char *between = md_choice_power(number, first + decades * share, RANGE_DIGITS);
        MEDLEY_TRY(
            md_texts_add(values, i == 0 ? ends[0] : (i == count - 1 ? ends[1] : between), error));
    }
    return MEDLEY_OK;
}

/* ---- lists ---- */

/* One piece of a list, without the blanks around it. */
static medley_status add_piece(char ***values, const md_param *param, const char *start,
                               size_t length, medley_error *error)
{
    while (length > 0 && start[0] == ' ') {
        start++;
        length--;
    }
    while (length > 0 && start[length - 1] == ' ')
        length--;
    if (length == 0)
        return md_fail(error, MEDLEY_USAGE,
                       "`%s`: a value of the list is empty; write one between every two %s",
                       param->name, (param->roles & MD_ROLE_BARS) != 0 ? "bars" : "commas");
    MD_OWNED(free) char *piece = NULL;
    MEDLEY_TRY(md_new_text(&piece, start, length, error));
    char low[32];
    char high[32];
    long long count;
    const bool numbers =
        param->type != MD_LIST && param->type != MD_CHOICE && read_range(piece, low, high, &count);
    return numbers ? add_range(values, param, piece, (const char *[]){low, high}, count, error)
                   : md_texts_add(values, piece, error);
}

static medley_status find_option(const md_param **param, const char *name, medley_error *error)
{
    enum { MOST_NAMES = 128 };
    const char *names[MOST_NAMES + 1] = {NULL};
    *param = md_params_find(md_option_table, name);
    if (*param != NULL)
        return MEDLEY_OK;
    for (size_t i = 0; i < MOST_NAMES && md_option_table[i].name != NULL; i++)
        names[i] = md_option_table[i].name;
    return md_fail_unknown("option", name, names, error);
}

/* A file's name may have commas. */
static bool is_file(const md_param *param, const char *text)
{
    return strstr(param->argument, "FILE") != NULL && access(text, F_OK) == 0;
}

medley_status md_choice_values(char ***values, const medley_choice *choice, medley_error *error)
{
    const md_param *param;
    if (choice == NULL || choice->option == NULL || choice->values == NULL)
        return md_fail(error, MEDLEY_USAGE, "a choice has no %s: the pointer is NULL",
                       choice == NULL || choice->option == NULL ? "option" : "values");
    MEDLEY_TRY(find_option(&param, choice->option, error));
    const bool divided = (param->roles & MD_ROLE_UNDIVIDED) == 0 && !is_file(param, choice->values);
    const char separator = (param->roles & MD_ROLE_BARS) != 0 ? '|' : ',';
    MD_OWNED(md_texts_free) char **list = NULL;
    int depth = 0;
    const char *start = choice->values;
    for (const char *p = start;; p++) {
        depth += (*p == '(' || *p == '[' || *p == '{') - (*p == ')' || *p == ']' || *p == '}');
        if (*p != '\0' && (*p != separator || depth > 0 || !divided))
            continue;
        MEDLEY_TRY(add_piece(&list, param, start, (size_t)(p - start), error));
        start = p + 1;
        if (*p == '\0')
            break;
    }
    *values = md_take(&list);
    return MEDLEY_OK;
}

medley_status medley_choice_count(size_t *count, const medley_choice *choice, medley_error *error)
{
    md_begin(error);
    MD_OWNED(md_texts_free) char **values = NULL;
    MEDLEY_TRY(md_choice_values(&values, choice, error));
    *count = md_texts_count(values);
    return MEDLEY_OK;
}
