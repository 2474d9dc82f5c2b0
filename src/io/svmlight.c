/* SPDX-License-Identifier: BSD-3-Clause */
/* The format of SVMlight and LIBSVM: how it is recognised and written. Reading is in
 * svmlight_read.c. */
#include "io/svmlight.h"

#include "base/memory.h"

/* ---- recognising ---- */

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* `digits:something` or `qid:something` */
static bool is_pair(const char *item, size_t length)
{
    size_t i = 0;
    if (length > 4 && memcmp(item, "qid:", 4) == 0)
        return true;
    while (i < length && is_digit(item[i]))
        i++;
    return i > 0 && i + 1 < length && item[i] == ':';
}

/* 1: label and pairs, 0: something else, -1: nothing that decides. */
static int judge_line(const char *line, const char *end)
{
    size_t items = 0;
    while (line < end && *line != '#') {
        size_t length = 0;
        while (line + length < end && strchr(" \t\r#", line[length]) == NULL)
            length++;
        if (length > 0) {
            if (!is_pair(line, length) && items > 0)
                return 0;
            items += is_pair(line, length) ? 2 : 1;
        }
        line += length;
        while (line < end && strchr(" \t\r", *line) != NULL)
            line++;
    }
    return items >= 2 ? 1 : -1;
}

static bool sniff(const char *head, size_t length)
{
    const char *end = head + length;
    int verdict = -1;
    while (head < end && verdict < 0) {
        const char *stop = memchr(head, '\n', (size_t)(end - head));
        if (stop == NULL)
            stop = end;
        if (memchr(head, '\0', (size_t)(stop - head)) != NULL)
            return false;
        verdict = judge_line(head, stop);
        head = stop + 1;
    }
    return verdict == 1;
}

/* ---- writing ---- */

/* A label must be one word that does not look like a feature. */
static medley_status check_labels(const medley_dataset *dataset, medley_error *error)
{
    for (size_t i = 0; i < dataset->label_names.count; i++) {
        const char *name = dataset->label_names.items[i];
        if (name[0] == '\0' || strpbrk(name, " \t\r\n#") != NULL || is_pair(name, strlen(name)))
            return md_fail(error, MEDLEY_USAGE,
                           "the label '%.60s' cannot be written as svmlight, whose labels are "
                           "single words; use csv",
                           name);
    }
    return MEDLEY_OK;
}

static void add_feature(md_text *text, size_t column, float value)
{
    char number[32];
    md_text_addf(text, " %zu:", column + 1);
    md_float_text(number, value);
    md_text_add(text, number, strlen(number));
}

/* Zeros are left out, except that the first row names the last column so that the number of columns
 * comes back. */
static void add_features(md_text *text, const md_matrix *features, size_t row)
{
    const size_t columns = features->columns;
    const bool sparse = md_matrix_is_sparse(features);
    const size_t first = sparse ? features->start[row] : row * columns;
    const size_t last = sparse ? features->start[row + 1] : first + columns;
    bool has_last_column = false;
    for (size_t e = first; e < last; e++) {
        const float value = sparse ? features->value[e] : features->dense[e];
        const size_t column = sparse ? (size_t)features->index[e] : e - first;
        if (value == 0)
            continue;
        add_feature(text, column, value);
        has_last_column = column + 1 == columns;
    }
    if (row == 0 && columns > 0 && !has_last_column)
        add_feature(text, columns - 1, 0);
}

static medley_status write_svmlight(md_output *output, const medley_dataset *dataset,
                                    medley_error *error)
{
    MD_CLEARED(md_text_clear) md_text text = {0};
    size_t sequence = 0;
    MEDLEY_TRY(md_format_needs_one_table("svmlight", dataset, error));
    MEDLEY_TRY(check_labels(dataset, error));
    for (size_t row = 0; row < dataset->rows; row++) {
        char number[32];
        const char *name = md_dataset_label_text(dataset, row, number);
        md_text_addf(&text, "%s", name != NULL ? name : "0");
        if (dataset->sequence_count > 0) {
            sequence += row == dataset->sequence_start[sequence + 1];
            md_text_addf(&text, " qid:%zu", sequence + 1);
        }
        add_features(&text, &dataset->tables[0].features, row);
        md_text_add(&text, "\n", 1);
        MEDLEY_TRY(md_output_text(output, &text, row + 1 == dataset->rows, error));
    }
    return MEDLEY_OK;
}

static const char *const extensions[] = {".svm", ".svmlight", ".libsvm", NULL};

const md_format md_format_svmlight = {
    .name = "svmlight",
    .summary = "label index:value ..., sparse; also called libsvm",
    .extensions = extensions,
    .sniff = sniff,
    .read = md_svmlight_read,
    .write = write_svmlight,
};
