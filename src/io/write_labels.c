/* SPDX-License-Identifier: BSD-3-Clause */
/* Predictions in the format of the data they belong to. */
#include "io/io.h"
#include <string.h>

enum { WRITE_PIECE = 1 << 16 };

medley_status md_write_plain_labels(md_output *output, size_t rows, const char *const *labels,
                                    medley_error *error)
{
    medley_status status = MEDLEY_OK;
    md_text text = {0};
    for (size_t row = 0; row < rows && status == MEDLEY_OK; row++) {
        md_text_add(&text, labels[row], strlen(labels[row]));
        md_text_add(&text, "\n", 1);
        if (text.length < WRITE_PIECE && row + 1 < rows)
            continue;
        status = text.failed ? md_fail_memory(error, text.capacity)
                             : md_output_write(output, text.data, text.length, error);
        text.length = 0;
    }
    md_text_clear(&text);
    return status;
}

medley_status medley_dataset_write_labels(const medley_dataset *dataset, const char *const *labels,
                                          const char *path, medley_error *error)
{
    medley_status status = MEDLEY_OK;
    md_output output = {0};
    const md_format *format = dataset->format != NULL ? md_format_find(dataset->format) : NULL;
    MEDLEY_TRY(md_output_open(&output, path != NULL ? path : "-", error));
    if (format != NULL && format->write_labelled != NULL)
        MEDLEY_TRY(format->write_labelled(&output, dataset, labels, error));
    else
        MEDLEY_TRY(md_write_plain_labels(&output, dataset->rows, labels, error));
    MEDLEY_TRY(md_output_commit(&output, error));
done:
    md_output_abandon(&output);
    return status;
}
