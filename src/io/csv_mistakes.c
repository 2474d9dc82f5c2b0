/* SPDX-License-Identifier: BSD-3-Clause */
/* What is wrong with a field of a CSV file, or with the number of fields, and what to do about it:
 * texts in place of numbers are told apart by what they look like. */
#include "io/csv.h"

#include "io/float_text.h"
#include <ctype.h>
#include <strings.h>

enum { SHOWN = 40 };

/* ---- what a text looks like ---- */

static bool is_one_of(const char *text, size_t length, const char *const *codes)
{
    for (; *codes != NULL; codes++)
        if (length == strlen(*codes) && strncasecmp(text, *codes, length) == 0)
            return true;
    return false;
}

/* A value that is not there. */
static bool is_missing(const md_csv_field *field)
{
    static const char *const codes[] = {"na", "n/a", "?",    "null",    "none", "nan",
                                        "-",  ".",   "#n/a", "missing", NULL};
    return is_one_of(field->text, field->length, codes);
}

/* Not words that may well be a class: "none", "-". */
bool md_csv_is_missing_label(const char *text, size_t length)
{
    static const char *const codes[] = {"", "na", "n/a", "?", "null", "nan", "#n/a", NULL};
    return is_one_of(text, length, codes);
}

static bool is_number(const char *text, size_t length)
{
    float value;
    const char *p = text;
    return length > 0 && md_read_float(&p, text + length, &value) && p == text + length;
}

/* "0,25" */
static bool has_decimal_comma(const md_csv_field *field)
{
    char copy[32];
    const char *comma = memchr(field->text, ',', field->length);
    if (comma == NULL || field->length >= sizeof copy)
        return false;
    memcpy(copy, field->text, field->length);
    copy[comma - field->text] = '.';
    copy[field->length] = '\0'; /* numbers are read up to what is no part of them */
    return is_number(copy, field->length);
}

/* "1,234": a decimal comma, or one between thousands? */
static bool may_have_thousands(const md_csv_field *field)
{
    size_t digits = 0;
    size_t commas = 0;
    for (size_t i = field->length > 0 && field->text[0] == '-'; i < field->length; i++) {
        const char c = field->text[i];
        if (c == ',' && digits > 0 && digits <= 3 && (commas == 0 || digits == 3)) {
            commas++;
            digits = 0;
        } else if (isdigit((unsigned char)c)) {
            digits++;
        } else {
            return commas > 0 && digits == 3 && c == '.';
        }
    }
    return commas > 0 && digits == 3;
}

bool md_csv_is_missing(const char *text, size_t length)
{
    const md_csv_field field = {.text = text, .length = length};
    const bool may_be_name = length > 1 && isupper((unsigned char)text[0]) &&
                             islower((unsigned char)text[length - 1]) &&
                             (length != 4 || memcmp(text, "None", 4) != 0);
    return length == 0 || (is_missing(&field) && !may_be_name);
}

bool md_csv_is_value(const char *text, size_t length)
{
    const md_csv_field field = {.text = text, .length = length};
    return has_decimal_comma(&field) ||
           (length > 1 && text[length - 1] == '%' && is_number(text, length - 1));
}

/* "2026-11-19", "19.11.2026", "11/19/26 08:00" */
static bool looks_like_date(const md_csv_field *field)
{
    size_t marks = 0;
    char mark = '\0';
    for (size_t i = 0; i < field->length && field->text[i] != ' ' && field->text[i] != 'T'; i++) {
        const char c = field->text[i];
        if (isdigit((unsigned char)c))
            continue;
        if (i == 0 || (c != '-' && c != '/' && c != '.') || (mark != '\0' && c != mark))
            return false;
        mark = c;
        marks++;
    }
    return marks == 2;
}

/* Texts in other columns of the record, as `ignore` takes them: "city,kind", or NULL for one alone.
 */
static medley_status list_texts(md_text *list, md_csv_place place, medley_error *error)
{
    enum { MOST = 8 }; /* more of them are seldom all to be left out */
    MD_CLEARED(md_text_clear) md_text unquoted = {0};
    const md_csv_layout *layout = place.layout;
    const char *p = place.record;
    size_t count = 0;
    md_csv_field field;
    for (size_t c = 0; c < layout->columns; c++, p = field.end + 1) {
        MEDLEY_TRY(md_csv_read_field(&field, p, layout->delimiter, place.input, &unquoted, error));
        const char *name = c < layout->header.count ? layout->header.items[c] : NULL;
        if (layout->is_feature[c] && field.length > 0 && !is_missing(&field) &&
            !is_number(field.text, field.length) && count++ < MOST) {
            md_text_addf(list, "%s", count > 1 ? "," : "");
            if (name != NULL && md_text_is_word(name, SHOWN))
                md_text_addf(list, "%s", name);
            else
                md_text_addf(list, "%zu", c + 1);
        }
        if (*field.end == '\n')
            break;
    }
    if (count > MOST)
        md_text_addf(list, "...");
    return md_text_check(list, error);
}

/* ---- remedies ---- */

/* In place of a text that is no number, and what to do; NULL: it is any text. */
static const char *expected(const md_csv_field *field)
{
    static const char *const truths[] = {"true", "false", "yes", "no", NULL};
    const bool percent = field->length > 1 && field->text[field->length - 1] == '%';
    if (is_number(field->text, field->length))
        return "finite number within the range of float; fill it in or remove the row";
    if (may_have_thousands(field))
        return "number; remove the comma if it separates thousands, else write a decimal point";
    if (has_decimal_comma(field))
        return "number; write a decimal point in place of the comma";
    if (percent && is_number(field->text, field->length - 1))
        return "number; leave out the %";
    if (is_one_of(field->text, field->length, truths))
        return "number; write 1 and 0";
    if (looks_like_date(field))
        return "number; write dates as numbers, days since the first for instance";
    return NULL;
}

/* "column 3 ('width')" for messages. */
static void describe_column(char text[80], md_csv_place place)
{
    const md_csv_record *names = &place.layout->header;
    const char *name = place.column < names->count ? names->items[place.column] : NULL;
    if (name != NULL)
        snprintf(text, 80, "column %zu ('%.40s')", place.column + 1, name);
    else
        snprintf(text, 80, "column %zu", place.column + 1);
}

static medley_status fail_text(md_csv_place place, const md_csv_field *field, const char *where,
                               medley_error *error)
{
    const size_t line = md_input_line(place.input, place.text);
    const int shown = (int)md_min(field->length, SHOWN);
    MD_CLEARED(md_text_clear) md_text list = {0};
    if (place.is_for_model)
        return md_fail_at(error, MEDLEY_BAD_INPUT, place.input->path, line,
                          "%s holds '%.*s', expected a number, as in training", where, shown,
                          field->text);
    if (place.layout->columns <= 2 && memchr(field->text, ' ', field->length) != NULL)
        return md_fail_at(error, MEDLEY_BAD_INPUT, place.input->path, line,
                          "%s holds '%.*s', expected a number; columns are separated by commas, "
                          "semicolons or tabs, not by blanks",
                          where, shown, field->text);
    if (place.layout->columns == 1)
        return md_fail_at(error, MEDLEY_BAD_INPUT, place.input->path, line,
                          "%s holds '%.*s', expected a number; columns are separated by commas, "
                          "semicolons or tabs",
                          where, shown, field->text);
    MEDLEY_TRY(list_texts(&list, place, error));
    const bool several = strchr(md_text_string(&list), ',') != NULL;
    return md_fail_at(
        error, MEDLEY_BAD_INPUT, place.input->path, line,
        "%s holds '%.*s', expected a number; leave %s out by `ignore=%s`, make columns of 0 and 1 "
        "of %s categories, or say by `label` which column is the label",
        where, shown, field->text, several ? "columns of text" : "the column",
        md_text_string(&list), several ? "their" : "its");
}

medley_status md_csv_fail_value(md_csv_place place, const md_csv_field *field, medley_error *error)
{
    char where[80];
    const size_t line = md_input_line(place.input, place.text);
    const int shown = (int)md_min(field->length, SHOWN);
    const char *remedy = expected(field);
    describe_column(where, place);
    if (field->length == 0)
        return md_fail_at(error, MEDLEY_BAD_INPUT, place.input->path, line,
                          "missing value in %s; fill it in or remove the row", where);
    if (is_missing(field))
        return md_fail_at(error, MEDLEY_BAD_INPUT, place.input->path, line,
                          "missing value ('%.*s') in %s; fill it in or remove the row", shown,
                          field->text, where);
    if (remedy == NULL)
        return fail_text(place, field, where, error);
    return md_fail_at(error, MEDLEY_BAD_INPUT, place.input->path, line,
                      "%s holds '%.*s', expected a %s", where, shown, field->text, remedy);
}

medley_status md_csv_fail_label(md_csv_place place, const md_csv_field *field, medley_error *error)
{
    const size_t line = md_input_line(place.input, place.text);
    if (field->length == 0)
        return md_fail_at(error, MEDLEY_BAD_INPUT, place.input->path, line,
                          "the label is missing (column %zu); every row needs one",
                          place.column + 1);
    return md_fail_at(error, MEDLEY_BAD_INPUT, place.input->path, line,
                      "the label is '%.*s' (column %zu), which stands for a missing value; remove "
                      "the row, or put the label in quotes if it is a class",
                      (int)field->length, field->text, place.column + 1);
}

medley_status md_csv_fail_count(md_csv_place place, md_text *unquoted, medley_error *error)
{
    const md_csv_layout *layout = place.layout;
    const char *first = layout->header.count > 0 ? layout->header.items[0] : NULL;
    const size_t line = md_input_line(place.input, place.record);
    size_t count = 0;
    const char *p = place.record;
    md_csv_field field;
    do {
        MEDLEY_TRY(md_csv_read_field(&field, p, layout->delimiter, place.input, unquoted, error));
        count++;
        p = field.end + 1;
    } while (*field.end != '\n');
    if (first != NULL && first[0] == '#')
        return md_fail_at(error, MEDLEY_BAD_INPUT, place.input->path, line,
                          "%zu fields were found, expected %zu as in the first line, which looks "
                          "like a comment; remove that line",
                          count, layout->columns);
    return md_fail_at(error, MEDLEY_BAD_INPUT, place.input->path, line,
                      "%zu fields were found, expected %zu as in the first line; quote fields that "
                      "contain '%s'",
                      count, layout->columns,
                      layout->delimiter == '\t' ? "a tab" : (char[]){layout->delimiter, '\0'});
}
