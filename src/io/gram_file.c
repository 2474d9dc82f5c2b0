/* SPDX-License-Identifier: BSD-3-Clause */
/* Kernel values computed elsewhere: npy arrays of one kernel or a stack of them, and their
 * diagonals. Whether they are square and symmetric is checked where they are used. */
#include "io/io.h"

/* One kernel of the stack: rounded to float in values, and as it is in wide where that is kept.
 * row[columns] is scratch. A value that is not finite is an error. */
static medley_status copy_rows(md_precomputed *gram, double *row, const md_npy_file *stack,
                               size_t kernel, const char *path, medley_error *error)
{
    const size_t columns = gram->values.columns;
    for (size_t i = 0; i < gram->values.rows; i++) {
        double *from = gram->wide != NULL ? gram->wide + i * columns : row;
        float *to = gram->values.dense + i * columns;
        md_npy_get_run(stack, kernel * gram->values.rows + i, from);
        for (size_t j = 0; j < columns; j++) {
            to[j] = (float)from[j];
            if (!isfinite(to[j]))
                return md_fail_at(error, MEDLEY_BAD_INPUT, path, 0,
                                  "%s %zu, row %zu, column %zu is %g; %s must be finite numbers "
                                  "within the range of float",
                                  gram->is_distance ? "matrix of distances" : "kernel", kernel + 1,
                                  i + 1, j + 1, from[j],
                                  gram->is_distance ? "distances" : "kernel values");
        }
    }
    return MEDLEY_OK;
}

static medley_status copy_kernel(md_precomputed *gram, bool keeps_wide, const md_npy_file *stack,
                                 size_t kernel, const char *path, medley_error *error)
{
    const size_t rows = stack->shape[stack->dimensions - 2];
    const size_t columns = stack->shape[stack->dimensions - 1];
    MD_OWNED(free) double *row = NULL;
    MEDLEY_TRY(md_new(&row, columns, sizeof *row, error));
    MEDLEY_TRY(md_matrix_init_unfilled(&gram->values, rows, columns, error));
    if (keeps_wide)
        MEDLEY_TRY(md_new_aligned(&gram->wide, rows * columns, sizeof *gram->wide, error));
    return copy_rows(gram, row, stack, kernel, path, error);
}

/* What a file is to be: kernels of a name, or NULL, or distances. */
struct addition {
    const char *name, *path;
    bool are_distances;
};

/* "name" alone, name1, name2 ... in a stack; without a name all are numbered as they come. What was
 * begun stays in dataset on failure: the caller drops it. */
static medley_status append_kernel(medley_dataset *dataset, const struct addition *what,
                                   const md_npy_file *stack, size_t kernel, medley_error *error)
{
    MD_CLEARED(md_text_clear) md_text full = {0};
    if (what->name == NULL)
        md_text_addf(&full, "%s%zu", what->are_distances ? "distance" : "gram",
                     dataset->gram_count + 1);
    else if (stack->dimensions == 2)
        md_text_addf(&full, "%s", what->name);
    else
        md_text_addf(&full, "%s%zu", what->name, kernel + 1);
    MEDLEY_TRY(md_text_check(&full, error));
    if (md_dataset_has_gram(dataset, full.data))
        return md_fail(error, MEDLEY_USAGE,
                       "there are two precomputed kernels called '%s'; rename one", full.data);
    md_precomputed *gram;
    MEDLEY_TRY(md_dataset_new_gram(&gram, dataset, full.data, error));
    gram->is_distance = what->are_distances;
    gram->is_named = what->name != NULL;
    gram->family -= kernel;
    return copy_kernel(gram, dataset->keeps_wide, stack, kernel, what->path, error);
}

static medley_status check_shape(const medley_dataset *dataset, const md_npy_file *stack,
                                 const char *path, medley_error *error)
{
    if (stack->dimensions < 2)
        return md_fail_at(error, MEDLEY_BAD_INPUT, path, 0,
                          "the array has 1 dimension, expected (rows, training rows) or a stack "
                          "(kernels, rows, training rows)");
    const size_t rows = stack->shape[stack->dimensions - 2];
    if (dataset->rows > 0 && rows != dataset->rows)
        return md_fail_at(error, MEDLEY_BAD_INPUT, path, 0,
                          "the kernel has %zu rows, expected %zu as in %s", rows, dataset->rows,
                          dataset->source != NULL ? dataset->source : "the other input");
    return MEDLEY_OK;
}

static medley_status append_kernels(medley_dataset *dataset, struct addition what,
                                    medley_error *error)
{
    MD_CLEARED(md_input_clear) md_input input = {0};
    md_npy_file stack;
    MEDLEY_TRY(md_input_read(&input, what.path, error));
    MEDLEY_TRY(md_npy_open(&stack, &input, error));
    what.path = input.path;
    MEDLEY_TRY(check_shape(dataset, &stack, input.path, error));
    const size_t kernels = stack.dimensions == 3 ? stack.shape[0] : 1;
    const size_t rows = stack.shape[stack.dimensions - 2];
    for (size_t kernel = 0; kernel < kernels; kernel++) {
        MEDLEY_TRY(append_kernel(dataset, &what, &stack, kernel, error));
        md_npy_release(&stack, (kernel + 1) * rows);
    }
    if (dataset->source == NULL)
        MEDLEY_TRY(md_new_text(&dataset->source, input.path, strlen(input.path), error));
    dataset->rows = rows;
    return MEDLEY_OK;
}

static medley_status add_kernels(medley_dataset *dataset, struct addition what, medley_error *error)
{
    const size_t before = dataset->gram_count;
    const medley_status status = append_kernels(dataset, what, error);
    while (status < 0 && dataset->gram_count > before)
        md_precomputed_clear(&dataset->grams[--dataset->gram_count]);
    return status;
}

medley_status medley_dataset_add_gram(medley_dataset *dataset, const char *name, const char *path,
                                      medley_error *error)
{
    md_begin(error);
    return add_kernels(dataset, (struct addition){.name = name, .path = path}, error);
}

medley_status medley_dataset_add_distances(medley_dataset *dataset, const char *name,
                                           const char *path, medley_error *error)
{
    md_begin(error);
    const struct addition what = {.name = name, .path = path, .are_distances = true};
    return add_kernels(dataset, what, error);
}

medley_status medley_dataset_add_gram_diagonal(medley_dataset *dataset, const char *path,
                                               medley_error *error)
{
    md_begin(error);
    MD_CLEARED(md_input_clear) md_input input = {0};
    MD_CLEARED(md_npy_clear) md_npy array = {0};
    if (dataset->gram_count == 0)
        return md_fail(error, MEDLEY_USAGE,
                       "a diagonal was given but no precomputed kernel; give the kernel first");
    MEDLEY_TRY(md_input_read(&input, path, error));
    MEDLEY_TRY(md_npy_read(&array, &input, error));
    const size_t kernels = array.dimensions == 2 ? array.shape[0] : 1;
    const size_t rows = array.shape[array.dimensions - 1];
    if (array.dimensions > 2 || kernels != dataset->gram_count || rows != dataset->rows)
        return md_fail_at(error, MEDLEY_BAD_INPUT, input.path, 0,
                          "%zu diagonals of %zu values in %zu dimensions were found, expected "
                          "shape (%zu, %zu): one value for each kernel and row",
                          kernels, rows, array.dimensions, dataset->gram_count, dataset->rows);
    for (size_t i = 0; i < kernels * rows; i++)
        if (!isfinite(array.values[i]))
            return md_fail_at(error, MEDLEY_BAD_INPUT, input.path, 0,
                              "kernel %zu, row %zu is %g; a finite number is needed", i / rows + 1,
                              i % rows + 1, array.values[i]);
    for (size_t kernel = 0; kernel < kernels; kernel++) {
        double *diagonal;
        MEDLEY_TRY(
            md_new_copy(&diagonal, array.values + kernel * rows, rows * sizeof *diagonal, error));
        free(dataset->grams[kernel].diagonal);
        dataset->grams[kernel].diagonal = diagonal;
    }
    return MEDLEY_OK;
}
