/* SPDX-License-Identifier: BSD-3-Clause */
/* Writing a dataset, predictions in the format of the data they belong to, and the shortest text of
 * a float.
 *
 * A float of moderate size is n / 10^p for the smallest p at which the division gives it back; the
 * quotient of two exact doubles is just what the readers compute. Other values are tried with 1 to
 * 9 digits, which always suffice. */
#include "io/io.h"

enum { MOST_PLACES = 7 };

/* Writes n / 10^places, from the last digit to the first. */
static void write_decimal(char *to, unsigned long n, int places)
{
    char reversed[32];
    size_t used = 0;
    for (int written = 0; n > 0 || written <= places; written++, n /= 10) {
        if (written == places && places > 0)
            reversed[used++] = '.';
        reversed[used++] = (char)('0' + n % 10);
    }
    while (used > 0)
        *to++ = reversed[--used];
    *to = '\0';
}

const char *md_float_text(char buffer[32], float value)
{
    const double magnitude = fabs((double)value);
    if (value == 0)
        return memcpy(buffer, "0", 2);
    if (magnitude >= 1e-3 && magnitude < 1e7) {
        unsigned long power = 1;
        for (int places = 0; places <= MOST_PLACES; places++, power *= 10) {
            const double scaled = floor(magnitude * (double)power + 0.5);
            if ((float)(scaled / (double)power) != (float)magnitude)
                continue;
            buffer[0] = '-';
            write_decimal(buffer + (value < 0), (unsigned long)scaled, places);
            return buffer;
        }
    }
    for (int digits = 1; digits <= 9; digits++) {
        double back = 0;
        md_print(buffer, 32, "%.*g", digits, (double)value);
        if (md_parse_double(buffer, &back) && (float)back == value)
            break;
    }
    return buffer;
}

medley_status md_format_needs_one_table(const char *format, const medley_dataset *dataset,
                                        medley_error *error)
{
    if (dataset->table_count == 1)
        return MEDLEY_OK;
    if (dataset->table_count == 0)
        return md_fail(error, MEDLEY_USAGE,
                       "the data have no columns of numbers, which %s needs; use the format they "
                       "were read in",
                       format);
    return md_fail(error, MEDLEY_USAGE,
                   "the data have %zu views and a %s file holds one; write them one by one",
                   dataset->table_count, format);
}

/* The format that the data were read in. */
static const md_format *format_of(const medley_dataset *dataset)
{
    return dataset->format != NULL ? md_format_find(dataset->format) : NULL;
}

medley_status medley_dataset_write(const medley_dataset *dataset, const char *path,
                                   const char *format, medley_error *error)
{
    md_begin(error);
    MD_CLEARED(md_output_abandon) md_output output = {0};
    const md_format *chosen = format == NULL ? md_format_of_path(path) : NULL;
    if (format != NULL)
        MEDLEY_TRY(md_format_named(&chosen, format, error));
    else if (chosen == NULL)
        chosen = format_of(dataset);
    if (chosen == NULL)
        return md_fail_at(error, MEDLEY_USAGE, path, 0,
                          "the name does not tell the format to write; name the format, or end "
                          "the name in .svm, .csv or .npy");
    if (chosen->write == NULL)
        return md_fail_at(error, MEDLEY_NOT_SUPPORTED, path, 0,
                          "the format %s is read but not written; use svmlight, csv or npy",
                          chosen->name);
    MEDLEY_TRY(md_output_open(&output, path, error));
    MEDLEY_TRY(chosen->write(&output, dataset, error));
    return md_output_commit(&output, error);
}

/* ---- predictions ---- */

/* What is written must be one line, and one field of it, when it is read again. */
static medley_status check_line(const char *label, medley_error *error)
{
    const size_t length = strcspn(label, "\t\r\n");
    if (label[length] == '\0')
        return MEDLEY_OK;
    return md_fail(error, MEDLEY_BAD_INPUT,
                   "the label that begins with '%.*s' has a tab or a line end in it and cannot be "
                   "written as a line of text; write JSON, or rename the label",
                   (int)(length < 60 ? length : 60), label);
}

static void add_header(md_text *text, const md_predicted *predicted)
{
    md_text_add(text, "label", strlen("label"));
    for (size_t l = 0; l < predicted->names->count; l++)
        md_text_addf(text, "\t%s", predicted->names->items[l]);
    md_text_add(text, "\n", 1);
}

medley_status md_write_plain(md_output *output, size_t rows, const md_predicted *predicted,
                             medley_error *error)
{
    MD_CLEARED(md_text_clear) md_text text = {0};
    const size_t count = predicted->score != NULL ? predicted->names->count : 0;
    for (size_t row = 0; row < rows; row++)
        MEDLEY_TRY(check_line(predicted->labels[row], error));
    for (size_t l = 0; l < count; l++)
        MEDLEY_TRY(check_line(predicted->names->items[l], error));
    if (count > 0)
        add_header(&text, predicted);
    for (size_t row = 0; row < rows; row++) {
        const char *label = predicted->labels[row];
        md_text_add(&text, label, strlen(label));
        for (size_t l = 0; l < count; l++)
            md_text_addf(&text, "\t%.6g", (double)predicted->score[row * count + l]);
        md_text_add(&text, "\n", 1);
        MEDLEY_TRY(md_output_text(output, &text, row + 1 == rows, error));
    }
    return MEDLEY_OK;
}

medley_status md_write_predicted(const medley_dataset *dataset, const md_predicted *predicted,
                                 const char *path, medley_error *error)
{
    MD_CLEARED(md_output_abandon) md_output output = {0};
    const md_format *format = format_of(dataset);
    MEDLEY_TRY(md_output_open(&output, path != NULL ? path : "-", error));
    if (format != NULL && format->write_labelled != NULL)
        MEDLEY_TRY(format->write_labelled(&output, dataset, predicted, error));
    else
        MEDLEY_TRY(md_write_plain(&output, dataset->rows, predicted, error));
    return md_output_commit(&output, error);
}

medley_status medley_dataset_write_labels(const medley_dataset *dataset, const char *const *labels,
                                          const char *path, medley_error *error)
{
    md_begin(error);
    const md_predicted predicted = {.labels = labels};
    return md_write_predicted(dataset, &predicted, path, error);
}

static medley_status check_holds_trees(const medley_dataset *dataset, medley_error *error)
{
    const md_format *format = format_of(dataset);
    if (format != NULL && format->holds_trees)
        return MEDLEY_OK;
    return md_fail(error, MEDLEY_NOT_SUPPORTED,
                   "the data are not in a format with heads of words, so trees cannot be "
                   "written beside them; read them from a CoNLL-U file");
}

medley_status md_write_trees(const medley_dataset *dataset, const md_predicted *predicted,
                             const char *path, medley_error *error)
{
    MEDLEY_TRY(check_holds_trees(dataset, error));
    return md_write_predicted(dataset, predicted, path, error);
}

medley_status md_write_ranking(const medley_dataset *dataset, const md_ranking *ranking,
                               const char *path, medley_error *error)
{
    MD_CLEARED(md_output_abandon) md_output output = {0};
    MEDLEY_TRY(check_holds_trees(dataset, error));
    MEDLEY_TRY(md_output_open(&output, path != NULL ? path : "-", error));
    MEDLEY_TRY(format_of(dataset)->write_ranking(&output, dataset, ranking, error));
    return md_output_commit(&output, error);
}

medley_status medley_dataset_write_trees(const medley_dataset *dataset, const int32_t *head,
                                         const char *const *relations, const char *path,
                                         medley_error *error)
{
    md_begin(error);
    const md_predicted predicted = {.labels = relations, .head = head};
    return md_write_trees(dataset, &predicted, path, error);
}
