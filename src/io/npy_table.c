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

static medley_status fill_table(md_matrix *features, const md_npy_file *array,
                                const md_input *input, medley_error *error)
{
    medley_status status = MEDLEY_OK;
    const size_t columns = array->shape[1];
    double *from;
    MEDLEY_TRY_DONE(md_new(&from, columns, sizeof *from, error));
    MEDLEY_TRY_DONE(md_matrix_init_dense(features, array->shape[0], columns, error));
    for (size_t i = 0; i < features->rows; i++) {
        float *row = features->dense + i * columns;
        md_npy_get_run(array, i, from);
        for (size_t j = 0; j < columns; j++) {
            row[j] = (float)from[j];
            if (isfinite(row[j]))
                continue;
            status =
                md_fail_at(error, MEDLEY_BAD_INPUT, input->path, 0,
                           "row %zu, column %zu is %g; finite numbers within the range of float "
                           "are needed: fill in or remove such values",
                           i + 1, j + 1, from[j]);
            goto done;
        }
    }
done:
    free(from);
    return status;
}

static medley_status read_table(medley_dataset *dataset, const md_input *input,
                                const medley_read_options *options, medley_error *error)
{
    (void)options;
    md_npy_file array;
    MEDLEY_TRY(md_npy_open(&array, input, error));
    if (array.dimensions != 2)
        return md_fail_at(error, MEDLEY_BAD_INPUT, input->path, 0,
                          "the array has %zu dimensions, expected 2: (rows, columns)%s",
                          array.dimensions,
                          array.dimensions == 3 ? "; give kernel values with --gram" : "");
    md_table *table = md_dataset_new_table(dataset, "", input->path);
    if (table == NULL)
        return md_fail_memory(error, sizeof *table);
    dataset->rows = array.shape[0];
    return fill_table(&table->features, &array, input, error);
}

static medley_status write_table(md_output *output, const medley_dataset *dataset,
                                 medley_error *error)
{
    medley_status status = MEDLEY_OK;
    md_matrix dense = {0};
    MEDLEY_TRY_DONE(md_format_needs_one_table("npy", dataset, error));
    const md_matrix *features = &dataset->tables[0].features;
    const size_t shape[] = {features->rows, features->columns};
    if (!md_matrix_is_sparse(features))
        return md_npy_write(output, features->dense, shape, 2, error);
    MEDLEY_TRY_DONE(md_matrix_init_dense(&dense, features->rows, features->columns, error));
    for (size_t row = 0; row < features->rows; row++)
        medley_dataset_row(dense.dense + row * features->columns, dataset, row);
    MEDLEY_TRY_DONE(md_npy_write(output, dense.dense, shape, 2, error));
done:
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
