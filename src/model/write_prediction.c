/* SPDX-License-Identifier: BSD-3-Clause */
/* Predictions as texts, in the format of the data. */
#include "model/model.h"

#include "base/memory.h"
#include <stdlib.h>

enum { NUMBER_BYTES = 32 };

medley_status medley_prediction_write(const medley_prediction *prediction,
                                      const medley_model *model, const medley_dataset *dataset,
                                      const char *path, medley_error *error)
{
    const size_t rows = prediction->rows;
    const char **texts = md_calloc(rows, sizeof *texts);
    char(*numbers)[NUMBER_BYTES] = md_calloc(prediction->value ? rows : 0, sizeof *numbers);
    if (texts == NULL || numbers == NULL) {
        free(texts);
        free(numbers);
        return md_fail_memory(error, rows * sizeof *numbers);
    }
    for (size_t r = 0; r < rows; r++)
        texts[r] = prediction->label == NULL && prediction->value == NULL ? NULL
                   : prediction->value != NULL
                       ? md_format_double(numbers[r], prediction->value[r])
                       : medley_model_label_name(model, (size_t)prediction->label[r]);
    const medley_status status =
        prediction->head != NULL
            ? medley_dataset_write_trees(dataset, prediction->head, texts, path, error)
            : medley_dataset_write_labels(dataset, texts, path, error);
    free(texts);
    free(numbers);
    return status;
}
