/* SPDX-License-Identifier: BSD-3-Clause */
/* Predictions in the format of the data they belong to. */
#include "io/io.h"

#include "base/memory.h"
#include <string.h>

medley_status md_write_plain_labels(md_output *output, size_t rows, const char *const *labels,
                                    medley_error *error)
{
    MD_CLEARED(md_text_clear) md_text text = {0};
    for (size_t row = 0; row < rows; row++) {
        md_text_add(&text, labels[row], strlen(labels[row]));
        md_text_add(&text, "\n", 1);
        MEDLEY_TRY(md_output_text(output, &text, row + 1 == rows, error));
    }
    return MEDLEY_OK;
}

static medley_status write_predicted(const medley_dataset *dataset, const md_format *format,
                                     const md_predicted *predicted, const char *path,
                                     medley_error *error)
{
    MD_CLEARED(md_output_abandon) md_output output = {0};
    MEDLEY_TRY(md_output_open(&output, path != NULL ? path : "-", error));
    if (format != NULL && format->write_labelled != NULL)
        MEDLEY_TRY(format->write_labelled(&output, dataset, predicted, error));
    else
        MEDLEY_TRY(md_write_plain_labels(&output, dataset->rows, predicted->labels, error));
    return md_output_commit(&output, error);
}

static const md_format *format_of(const medley_dataset *dataset)
{
    return dataset->format != NULL ? md_format_find(dataset->format) : NULL;
}

medley_status medley_dataset_write_labels(const medley_dataset *dataset, const char *const *labels,
                                          const char *path, medley_error *error)
{
    md_begin(error);
    const md_predicted predicted = {.labels = labels};
    return write_predicted(dataset, format_of(dataset), &predicted, path, error);
}

medley_status medley_dataset_write_trees(const medley_dataset *dataset, const int32_t *head,
                                         const char *const *relations, const char *path,
                                         medley_error *error)
{
    md_begin(error);
    const md_format *format = format_of(dataset);
    if (format == NULL || !format->holds_trees)
        return md_fail(error, MEDLEY_NOT_SUPPORTED,
                       "the data are not in a format with heads of words, so trees cannot be "
                       "written beside them; read them from a CoNLL-U file");
    const md_predicted predicted = {.labels = relations, .head = head};
    return write_predicted(dataset, format, &predicted, path, error);
}
