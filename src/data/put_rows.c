/* SPDX-License-Identifier: BSD-3-Clause */
/* What the caller knows about the rows: labels, numbers to be predicted, sequences; and the
 * selection of rows by number. Whatever comes first tells how many rows there are. */
#include "data/dataset.h"

static medley_status check_rows(const medley_dataset *dataset, size_t rows, const char *what,
                                medley_error *error)
{
    if (rows == 0)
        return md_fail(error, MEDLEY_BAD_INPUT, "no %s were given; at least one is needed", what);
    if (dataset->rows == 0 || dataset->rows == rows)
        return MEDLEY_OK;
    return md_fail(error, MEDLEY_BAD_INPUT, "%zu %s for %zu rows; every row needs one", rows, what,
                   dataset->rows);
}

static medley_status fail_null(const char *what, medley_error *error)
{
    return md_fail(error, MEDLEY_USAGE, "the %s are NULL; give an array", what);
}

/* ---- labels ---- */

/* The names as labels are written everywhere, in the order given; number[i]: the value of each, or
 * NaN if it is no number. */
static medley_status copy_names(md_strings *names, double *number, const char *const *given,
                                size_t count, medley_error *error)
{
    for (size_t i = 0; i < count; i++) {
        char buffer[32];
        if (given[i] == NULL)
            return md_fail(error, MEDLEY_USAGE, "the name of label %zu is NULL", i);
        if (given[i][0] == '\0')
            return md_fail(error, MEDLEY_USAGE,
                           "the name of label %zu is empty; rows without a label have the number "
                           "-1",
                           i);
        size_t length = strlen(given[i]);
        const char *text = md_label_canonical(given[i], &length, &number[i], buffer);
        int32_t id;
        MEDLEY_TRY(md_strings_put(names, text, length, &id, error));
        if ((size_t)id != i)
            return md_fail(error, MEDLEY_USAGE,
                           "the labels %d and %zu are both called '%.60s'; give each name once",
                           (int)id, i, text);
    }
    return MEDLEY_OK;
}

static medley_status check_labels(const int32_t *label, size_t rows, size_t count,
                                  medley_error *error)
{
    for (size_t r = 0; r < rows; r++)
        if (label[r] < -1 || label[r] >= (int64_t)count)
            return md_fail(error, MEDLEY_BAD_INPUT,
                           "the label of row %zu is number %ld, and the names have the numbers 0 "
                           "to %zu (-1: no label)",
                           r + 1, (long)label[r], count - 1);
    return MEDLEY_OK;
}

medley_status medley_dataset_put_labels(medley_dataset *dataset, const int32_t *label, size_t rows,
                                        const char *const *names, size_t name_count,
                                        medley_error *error)
{
    md_begin(error);
    MD_CLEARED(md_strings_clear) md_strings copies = {0};
    MD_OWNED(free) double *number = NULL;
    MD_OWNED(free) int32_t *copy = NULL;
    double *target = NULL;
    MEDLEY_TRY(check_rows(dataset, rows, "labels", error));
    if (name_count == 0 || name_count > INT32_MAX)
        return md_fail(error, MEDLEY_BAD_INPUT, "%zu names of labels were given; 1 to %ld can be",
                       name_count, (long)INT32_MAX);
    if (label == NULL || names == NULL)
        return fail_null(label == NULL ? "labels" : "names of labels", error);
    MEDLEY_TRY(md_new(&number, name_count, sizeof *number, error));
    MEDLEY_TRY(md_new_copy(&copy, label, rows * sizeof *copy, error));
    MEDLEY_TRY(copy_names(&copies, number, names, name_count, error));
    MEDLEY_TRY(check_labels(copy, rows, name_count, error));
    MEDLEY_TRY(md_labels_as_targets(&target, number, name_count, copy, rows, error));
    md_dataset_replace_labels(dataset, md_take(&copies), md_take(&copy), target);
    dataset->rows = rows;
    return MEDLEY_OK;
}

medley_status medley_dataset_put_targets(medley_dataset *dataset, const double *target, size_t rows,
                                         medley_error *error)
{
    md_begin(error);
    double *copy = NULL;
    MEDLEY_TRY(check_rows(dataset, rows, "numbers to be predicted", error));
    if (target == NULL)
        return fail_null("numbers to be predicted", error);
    for (size_t r = 0; r < rows; r++)
        if (!isfinite(target[r]))
            return md_fail(error, MEDLEY_BAD_INPUT,
                           "the number to be predicted of row %zu is %g; finite numbers are "
                           "needed: fill in or remove such rows",
                           r + 1, target[r]);
    MEDLEY_TRY(md_new_copy(&copy, target, rows * sizeof *copy, error));
    md_dataset_replace_labels(dataset, (md_strings){0}, NULL, copy);
    dataset->rows = rows;
    return MEDLEY_OK;
}

/* ---- sequences ---- */

medley_status medley_dataset_put_sequences(medley_dataset *dataset, const size_t *length,
                                           size_t count, medley_error *error)
{
    md_begin(error);
    size_t rows = 0;
    if (count == 0)
        return md_fail(error, MEDLEY_BAD_INPUT, "no sequences were given; at least one is needed");
    if (length == NULL)
        return fail_null("lengths of sequences", error);
    if (dataset->sequence_count > 0 && dataset->format != NULL)
        return md_fail_at(error, MEDLEY_USAGE, dataset->source, 0,
                          "the data have sequences of their own; give none beside them");
    for (size_t s = 0; s < count; s++) {
        if (length[s] == 0)
            return md_fail(error, MEDLEY_BAD_INPUT,
                           "sequence %zu has no rows; each needs at least one", s + 1);
        if (__builtin_add_overflow(rows, length[s], &rows))
            return md_fail(error, MEDLEY_BAD_INPUT, "sequence %zu has %zu rows: too many", s + 1,
                           length[s]);
    }
    if (dataset->rows > 0 && rows != dataset->rows)
        return md_fail(error, MEDLEY_BAD_INPUT,
                       "the lengths of %zu sequences add up to %zu rows, and there are %zu", count,
                       rows, dataset->rows);
    size_t *start = NULL;
    MEDLEY_TRY(md_new(&start, count + 1, sizeof *start, error));
    for (size_t s = 0; s < count; s++)
        start[s + 1] = start[s] + length[s];
    free(dataset->sequence_start);
    dataset->sequence_start = start;
    dataset->sequence_count = count;
    dataset->rows = rows;
    return MEDLEY_OK;
}

medley_status medley_dataset_put_info(medley_dataset *dataset, const int32_t *info, size_t rows,
                                      size_t width, medley_error *error)
{
    md_begin(error);
    int32_t *copy = NULL;
    if (info == NULL || width == 0)
        return fail_null("numbers beside the rows", error);
    if (dataset->rows > 0 && rows != dataset->rows)
        return md_fail(error, MEDLEY_BAD_INPUT, "there are %zu rows, and numbers beside %zu",
                       dataset->rows, rows);
    MEDLEY_TRY(md_new_copy(&copy, info, rows * width * sizeof *copy, error));
    free(dataset->info);
    dataset->info = copy;
    dataset->info_width = width;
    dataset->rows = rows;
    return MEDLEY_OK;
}

/* ---- rows by number ---- */

static medley_status check_sequences(const medley_dataset *dataset, const size_t *rows,
                                     size_t count, medley_error *error)
{
    /* after the last row of the sequence that begins there, 0 within one */
    MD_OWNED(free) size_t *sequence_end = NULL;
    MEDLEY_TRY(md_new(&sequence_end, dataset->rows, sizeof *sequence_end, error));
    for (size_t s = 0; s < dataset->sequence_count; s++)
        sequence_end[dataset->sequence_start[s]] = dataset->sequence_start[s + 1];
    for (size_t i = 0; i < count;) {
        const size_t end = sequence_end[rows[i]];
        size_t row = rows[i];
        if (end == 0)
            return md_fail(error, MEDLEY_USAGE,
                           "row %zu stands within a sequence whose first row was not named "
                           "before; name whole sequences",
                           row);
        for (; row < end; row++, i++)
            if (i == count || rows[i] != row)
                return md_fail(error, MEDLEY_USAGE,
                               "row %zu of a sequence is missing or out of order; name whole "
                               "sequences",
                               row);
    }
    return MEDLEY_OK;
}

medley_status medley_dataset_rows_of(medley_dataset **selected, const medley_dataset *dataset,
                                     const size_t *rows, size_t count, medley_error *error)
{
    md_begin(error);
    if (count == 0)
        return md_fail(error, MEDLEY_USAGE, "no rows were named; at least one is needed");
    if (rows == NULL)
        return fail_null("numbers of rows", error);
    for (size_t i = 0; i < count; i++)
        if (rows[i] >= dataset->rows)
            return md_fail(error, MEDLEY_USAGE,
                           "there is no row %zu; the rows have the numbers 0 to %zu", rows[i],
                           dataset->rows - 1);
    if (dataset->sequence_count > 0)
        MEDLEY_TRY(check_sequences(dataset, rows, count, error));
    const md_columns columns = {rows, count};
    return md_dataset_select(selected, dataset, rows, count, &columns, error);
}
