/* SPDX-License-Identifier: BSD-3-Clause */
/* Is the first record of a CSV file a header? Decided by the options where they speak, else by what
 * it says beside the second one: names stand above numbers, or are those of a model's columns or of
 * a label. */
#include "io/csv.h"

#include <strings.h>

const char *const md_csv_usual_labels[] = {"label", "class", "target", "y", NULL};

static bool is_number(const char *text)
{
    double ignored;
    return md_parse_double(text, &ignored);
}

static bool is_called(const char *text, const char *name)
{
    return name != NULL && strcasecmp(text, name) == 0;
}

static bool is_usual_label(const char *text)
{
    for (size_t i = 0; md_csv_usual_labels[i] != NULL; i++)
        if (strcasecmp(text, md_csv_usual_labels[i]) == 0)
            return true;
    return false;
}

/* Data frames without names are saved with a header 0,1,2 ...: count of its numbers from `base`. */
static bool counts_from(const md_csv_record *record, long long base)
{
    for (size_t i = 0; i + 1 < record->count; i++) {
        long long number;
        if (!md_parse_int(record->items[i], &number) || number != base + (long long)i)
            return false;
    }
    return record->count >= 4;
}

static bool is_numbered_header(const md_csv_record *record)
{
    return counts_from(record, 0) || counts_from(record, 1);
}

/* What is known of the beginning of a file. */
typedef struct beginning {
    md_csv_record first, second;
    const char *rest; /* after these */
    char delimiter;
    const md_input *input;
} beginning;

static void clear_beginning(beginning *b)
{
    md_csv_clear_record(&b->first);
    md_csv_clear_record(&b->second);
}

static const char *below(const beginning *b, size_t c)
{
    return c < b->second.count ? b->second.items[c] : "";
}

/* Do the numbers of the first record, at least so many, grow all the way, or fall, as years and
 * wavelengths do? */
static bool has_scale(const md_csv_record *first, size_t least)
{
    double last = NAN;
    double step = 0;
    size_t numbers = 0;
    for (size_t c = 0; c < first->count; c++) {
        double value;
        if (!md_parse_double(first->items[c], &value))
            continue;
        if (!isnan(last) && (value == last || !isfinite(value) || (value - last) * step < 0))
            return false;
        step = isnan(last) ? 0 : value - last;
        last = value;
        numbers++;
    }
    return numbers >= least;
}

/* Does a text come again in its column, as classes do and names do not? Some records tell. */
static bool comes_again(const beginning *b, size_t column)
{
    enum { RECORDS = 200, FIELDS = 1 << 18 };
    MD_CLEARED(md_text_clear) md_text unquoted = {0};
    const char *text = b->first.items[column];
    const char *end = b->input->data + b->input->length;
    const char *p = b->rest;
    medley_error error = {0};
    md_csv_field field;
    size_t at = 0;
    for (size_t records = 0, fields = 0; p < end && records < RECORDS && fields < FIELDS;
         fields++) {
        if (md_csv_read_field(&field, p, b->delimiter, b->input, &unquoted, &error) < 0)
            return false; /* told when the record is read */
        if (at == column && field.length == strlen(text) &&
            memcmp(field.text, text, field.length) == 0)
            return true;
        const bool ends = *field.end == '\n';
        at = ends ? 0 : at + 1;
        records += ends;
        p = field.end + 1;
    }
    return false;
}

/* The name of a label column at the head of a column that has something else: years or wavelengths
 * may be names, too. A class may well be called so. */
static bool names_label(const beginning *b, const medley_read_options *options)
{
    const bool by_name = options->label != NULL && !is_number(options->label) &&
                         !md_label_is(options, "last") && !md_label_is(options, "none");
    for (size_t c = 0; c < b->first.count; c++) {
        const char *name = b->first.items[c];
        if (strcmp(name, below(b, c)) == 0)
            continue;
        if ((by_name && is_called(name, options->label)) ||
            (is_usual_label(name) && has_scale(&b->first, 0) && !comes_again(b, c)))
            return true;
    }
    return false;
}

/* Where a name stands, mostly at `guess`; count: nowhere. */
static size_t find_name(const md_csv_record *record, const char *name, size_t guess)
{
    size_t c = 0;
    if (guess < record->count && strcmp(record->items[guess], name) == 0)
        return guess;
    while (c < record->count && strcmp(record->items[c], name) != 0)
        c++;
    return c;
}

/* Are these all the columns of a model? */
static bool names_features(const md_csv_record *first, const medley_read_options *options)
{
    size_t place = 0;
    for (size_t i = 0; options->feature_names != NULL && i < options->feature_count; i++) {
        place = find_name(first, options->feature_names[i], place);
        if (place++ == first->count)
            return false;
    }
    return options->feature_names != NULL && options->feature_count > 0;
}

/* A number that names no column: "0.3". */
static bool is_fraction(const char *text)
{
    double value;
    return md_parse_double(text, &value) && isfinite(value) && value != floor(value);
}

/* Words above numbers are names, and so are words alone. A word among numbers that are no scale is
 * a mistake in a row of data, unless it is the last one, where the label is. */
static bool has_names(const beginning *b)
{
    const size_t count = b->first.count;
    bool all_words = true;
    bool any_name = false;
    bool any_fraction = false;
    for (size_t c = 0; c < count; c++) {
        const char *text = b->first.items[c];
        const bool above_number = is_number(below(b, c));
        const bool value = md_csv_is_value(text, strlen(text));
        const bool word = !is_number(text) && !value && !md_csv_is_missing(text, strlen(text));
        if (word && above_number && c + 1 == count)
            return true;
        any_name = any_name || (word && above_number);
        any_fraction = any_fraction || is_fraction(text);
        all_words = all_words && (word || (value && above_number));
    }
    return all_words || (any_name && (!any_fraction || has_scale(&b->first, 2)));
}

static bool looks_like_header(const beginning *b, const medley_read_options *options)
{
    return has_names(b) || is_numbered_header(&b->first) || names_label(b, options) ||
           names_features(&b->first, options);
}

/* Takes the first record as the header, or leaves it as data. */
medley_status md_csv_read_header(md_csv_layout *layout, const char *first, const md_input *input,
                                 const medley_read_options *options, medley_error *error)
{
    MD_CLEARED(clear_beginning) beginning b = {.delimiter = layout->delimiter, .input = input};
    const char *end = input->data + input->length;
    const char *p = first;
    MEDLEY_TRY(md_csv_read_record(&b.first, &p, layout->delimiter, input, error));
    layout->columns = b.first.count;
    p = md_csv_skip_empty(p, end);
    layout->body = p;
    if (p < end)
        MEDLEY_TRY(md_csv_read_record(&b.second, &p, layout->delimiter, input, error));
    b.rest = p;
    const bool has_header =
        options->header >= 0 ? options->header != 0 : looks_like_header(&b, options);
    if (!has_header) {
        layout->body = first;
        return MEDLEY_OK;
    }
    if (is_numbered_header(&b.first))
        for (size_t c = 0; c < b.first.count; c++)
            if (is_number(b.first.items[c])) { /* such names would be taken for column numbers */
                free(b.first.items[c]);
                b.first.items[c] = NULL;
            }
    layout->header = md_take(&b.first);
    return MEDLEY_OK;
}
