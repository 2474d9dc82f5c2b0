/* SPDX-License-Identifier: BSD-3-Clause */
/* Columns as people name them: by header or by number, alone, in lists and in ranges. */
#include "io/io.h"

enum { LISTED_COLUMNS = 8 };

static bool has_name(char *const *names, size_t column, const char *text, size_t length)
{
    return names != NULL && names[column] != NULL && strlen(names[column]) == length &&
           memcmp(names[column], text, length) == 0;
}

/* A 1-based column number as an index; `columns` if it is none. */
static size_t read_column(const char *text, size_t length, size_t columns)
{
    size_t number = 0;
    for (size_t i = 0; i < length; i++) {
        if (text[i] < '0' || text[i] > '9' || number > columns)
            return columns;
        number = number * 10 + (size_t)(text[i] - '0');
    }
    return number >= 1 && number <= columns ? number - 1 : columns;
}

size_t md_column_find(const char *text, size_t length, size_t columns, char *const *names)
{
    for (size_t c = 0; c < columns; c++)
        if (has_name(names, c, text, length))
            return c;
    return read_column(text, length, columns);
}

md_text md_columns_list(size_t columns, char *const *names)
{
    md_text list = {0};
    if (names == NULL) {
        md_text_addf(&list, "1 to %zu", columns);
        return list;
    }
    for (size_t c = 0; c < columns && c < LISTED_COLUMNS; c++) {
        if (names[c] != NULL)
            md_text_addf(&list, "%s'%.40s'", c > 0 ? ", " : "", names[c]);
        else
            md_text_addf(&list, "%s%zu", c > 0 ? ", " : "", c + 1);
    }
    if (columns > LISTED_COLUMNS)
        md_text_addf(&list, " ... (%zu in all)", columns);
    return list;
}

/* One item of the list: a name, a number or a range of numbers. */
static bool choose_item(bool *keep, size_t columns, char *const *names, const char *text,
                        size_t length)
{
    size_t first = md_column_find(text, length, columns, names);
    size_t last = first;
    const char *dash = memchr(text, '-', length);
    if (first == columns && dash != NULL) {
        const size_t before = (size_t)(dash - text);
        first = read_column(text, before, columns);
        last = read_column(dash + 1, length - before - 1, columns);
    }
    if (first == columns || last == columns || last < first)
        return false;
    memset(keep + first, true, last - first + 1);
    return true;
}

bool md_columns_are_left_out(const char *text)
{
    return text != NULL && text[0] == '!';
}

medley_status md_columns_choose(bool *keep, size_t columns, char *const *names, const char *text,
                                medley_error *error)
{
    const bool left_out = md_columns_are_left_out(text);
    memset(keep, false, columns * sizeof *keep);
    for (const char *item = text + left_out;;) {
        const size_t length = strcspn(item, ",");
        if (!choose_item(keep, columns, names, item, length)) {
            MD_CLEARED(md_text_clear) md_text list = md_columns_list(columns, names);
            return md_fail(error, MEDLEY_USAGE, "there is no column '%.*s'; the columns are %s",
                           (int)length, item, md_text_string(&list));
        }
        if (item[length] == '\0')
            break;
        item += length + 1;
    }
    for (size_t c = 0; left_out && c < columns; c++)
        keep[c] = !keep[c];
    return MEDLEY_OK;
}
