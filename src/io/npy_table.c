/* SPDX-License-Identifier: BSD-3-Clause */
/* npy arrays of shape (rows, columns) as data. They carry no labels. */
#include "base/memory.h"
#include "io/io.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool sniff(const char *head, size_t length)
{
    return length >= 6 && memcmp(head, "\x93NUMPY", 6) == 0;
}

static medley_status fill_table(md_matrix *features, const md_npy *array, const md_input *input,
                                medley_error *error)
{
    const size_t rows = array->shape[0];
    const size_t columns = array->shape[1];
    const medley_status status = md_matrix_init_dense(features, rows, columns, error);
    if (status < 0)
        return status;
    for (size_t i = 0; i < rows * columns; i++) {
        features->dense[i] = (float)array->values[i];
        if (!isfinite(features->dense[i]))
            return md_fail_at(error, MEDLEY_BAD_INPUT, input->path, 0,
                              "row %zu, column %zu is %g; finite numbers within the range of float "
                              "are needed: fill in or remove such values",
                              i / columns + 1, i % columns + 1, array->values[i]);
    }
    return MEDLEY_OK;
}

static medley_status read_table(medley_dataset *dataset, const md_input *input,
                                const medley_read_options *options, medley_error *error)
{
    (void)options;
    medley_status status = MEDLEY_OK;
    md_npy array = {0};
    MEDLEY_TRY(md_npy_read(&array, input, error));
    if (array.dimensions != 2) {
        status = md_fail_at(error, MEDLEY_BAD_INPUT, input->path, 0,
                            "the array has %zu dimensions, expected 2: (rows, columns)%s",
                            array.dimensions,
                            array.dimensions == 3 ? "; give kernel values with --gram" : "");
        goto done;
    }
    md_table *table = md_dataset_new_table(dataset, "", input->path);
    if (table == NULL) {
        status = md_fail_memory(error, sizeof *table);
        goto done;
    }
    MEDLEY_TRY(fill_table(&table->features, &array, input, error));
    dataset->rows = array.shape[0];
done:
    md_npy_clear(&array);
    return status;
}

static medley_status write_table(md_output *output, const medley_dataset *dataset,
                                 medley_error *error)
{
    medley_status status = md_format_needs_one_table("npy", dataset, error);
    if (status < 0)
        return status;
    const md_matrix *features = &dataset->tables[0].features;
    const size_t shape[] = {features->rows, features->columns};
    if (!md_matrix_is_sparse(features))
        return md_npy_write(output, features->dense, shape, 2, error);
    md_matrix dense = {0};
    status = md_matrix_init_dense(&dense, features->rows, features->columns, error);
    for (size_t row = 0; status == MEDLEY_OK && row < features->rows; row++)
        medley_dataset_row(dataset, row, dense.dense + row * features->columns);
    if (status == MEDLEY_OK)
        status = md_npy_write(output, dense.dense, shape, 2, error);
    md_matrix_clear(&dense);
    return status;
}

static const char *const extensions[] = {".npy", NULL};

const md_format md_format_npy = {
    .name = "npy",
    .summary = "a NumPy array (rows, columns) without labels",
    .extensions = extensions,
    .sniff = sniff,
    .read = read_table,
    .write = write_table,
};
