/* SPDX-License-Identifier: BSD-3-Clause */
/* The idx arrays of the MNIST files: two zero bytes, a type, the number of dimensions, each
 * dimension as a big-endian 32-bit number, then the values. The first dimension counts the rows;
 * three dimensions are images. Values are kept as they are (bytes: 0 to 255). The labels of
 * X-images-idx3-Y are taken from X-labels-idx1-Y where that file exists. */
#include "io/io.h"
#include <unistd.h>

enum { HEADER = 4, LEAST_DIMENSIONS = 2, MOST_DIMENSIONS = 3 };

typedef struct idx_array {
    const md_element_type *type;
    size_t dimensions, shape[MOST_DIMENSIONS];
    size_t columns;
    const char *values;
} idx_array;

/* NULL: there is no such type. */
static const md_element_type *type_of(unsigned char code)
{
    static const char names[][3] = {
        [0x08] = "u1", [0x09] = "i1", [0x0b] = "i2", [0x0c] = "i4", [0x0d] = "f4", [0x0e] = "f8"};
    return code < sizeof names / sizeof *names ? md_element_type_find(names[code]) : NULL;
}

static size_t big_endian(const unsigned char *bytes)
{
    return (size_t)bytes[0] << 24 | (size_t)bytes[1] << 16 | (size_t)bytes[2] << 8 | bytes[3];
}

static medley_status read_header(idx_array *array, const md_input *input, medley_error *error)
{
    const unsigned char *bytes = (const unsigned char *)input->data;
    if (input->length < HEADER || bytes[0] != 0 || bytes[1] != 0 || type_of(bytes[2]) == NULL)
        return md_fail_at(error, MEDLEY_BAD_INPUT, input->path, 0,
                          "this is no idx file: it does not start with 0, 0, a type and the number "
                          "of dimensions");
    *array = (idx_array){.type = type_of(bytes[2]), .dimensions = bytes[3]};
    if (array->dimensions < LEAST_DIMENSIONS || array->dimensions > MOST_DIMENSIONS)
        return md_fail_at(
            error, MEDLEY_BAD_INPUT, input->path, 0,
            "the array has %zu dimensions, expected 2 (rows, columns) or 3 (images)%s",
            array->dimensions, array->dimensions == 1 ? "; labels are read with `labels`" : "");
    const size_t start = HEADER + 4 * array->dimensions;
    if (input->length < start)
        return md_fail_at(error, MEDLEY_BAD_INPUT, input->path, 0,
                          "the idx header is cut off after %zu bytes, expected %zu", input->length,
                          start);
    for (size_t d = 0; d < array->dimensions; d++)
        array->shape[d] = big_endian(bytes + HEADER + 4 * d);
    /* two 32-bit numbers always fit; the third factor and the size may not */
    array->columns = array->shape[1] * (array->dimensions == 3 ? array->shape[2] : 1);
    size_t size;
    if (__builtin_mul_overflow(array->shape[0], array->columns, &size) ||
        __builtin_mul_overflow(size, array->type->size, &size))
        return md_fail_at(error, MEDLEY_BAD_INPUT, input->path, 0,
                          "the dimensions in the idx header are impossibly large (%zu rows of %zu "
                          "values)",
                          array->shape[0], array->columns);
    if (size != input->length - start)
        return md_fail_at(error, MEDLEY_BAD_INPUT, input->path, 0,
                          "%zu bytes of values follow the idx header, expected %zu for %zu rows of "
                          "%zu values; the file is %s",
                          input->length - start, size, array->shape[0], array->columns,
                          input->length - start < size ? "cut off" : "too long");
    if (size == 0)
        return md_fail_at(error, MEDLEY_BAD_INPUT, input->path, 0,
                          "the array is empty (%zu rows of %zu values)", array->shape[0],
                          array->columns);
    array->values = input->data + start;
    return MEDLEY_OK;
}

static medley_status fill_table(md_table *table, const idx_array *array, const md_input *input,
                                medley_error *error)
{
    const size_t columns = array->columns;
    const size_t size = array->type->size;
    MD_OWNED(free) double *from = NULL;
    MEDLEY_TRY(md_new(&from, columns, sizeof *from, error));
    MEDLEY_TRY(md_matrix_init_unfilled(&table->features, array->shape[0], columns, error));
    for (size_t r = 0; r < array->shape[0]; r++) {
        float *row = table->features.dense + r * columns;
        array->type->convert(from, array->values + r * columns * size, columns, size,
                             __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__);
        if (md_round_doubles(row, from, columns))
            continue;
        size_t c = 0;
        while (c + 1 < columns && isfinite(row[c]))
            c++;
        return md_fail_at(error, MEDLEY_BAD_INPUT, input->path, 0,
                          "row %zu, column %zu is not a finite number within the range of "
                          "float; fill in or remove such values",
                          r + 1, c + 1);
    }
    return MEDLEY_OK;
}

/* Reads the labels beside a file of images, if they are where MNIST has them. */
static medley_status read_sibling_labels(medley_dataset *dataset, const char *path,
                                         medley_error *error)
{
    static const char images[] = "images-idx3";
    static const char labels[] = "labels-idx1";
    _Static_assert(sizeof images == sizeof labels, "the name is changed in place");
    const char *slash = strrchr(path, '/');
    const char *found = strstr(slash != NULL ? slash : path, images);
    if (found == NULL)
        return MEDLEY_OK;
    MD_OWNED(free) char *sibling = NULL;
    MEDLEY_TRY(md_new_text(&sibling, path, strlen(path), error));
    memcpy(sibling + (found - path), labels, strlen(labels));
    return access(sibling, F_OK) == 0 ? medley_dataset_read_labels(dataset, sibling, error)
                                      : MEDLEY_OK;
}

static medley_status read_idx(medley_dataset *dataset, const md_input *input,
                              const medley_read_options *options, medley_error *error)
{
    idx_array array = {0};
    md_table *table;
    const bool wants_none = md_label_is(options, "none");
    if (options->label != NULL && !wants_none)
        return md_fail_at(error, MEDLEY_USAGE, input->path, 0,
                          "label column '%s': idx files have no label column; their labels come "
                          "from a file of their own",
                          options->label);
    MEDLEY_TRY(read_header(&array, input, error));
    MEDLEY_TRY(md_dataset_new_table(&table, dataset, "", input->path, error));
    MEDLEY_TRY(fill_table(table, &array, input, error));
    if (array.dimensions == 3) {
        table->height = array.shape[1];
        table->width = array.shape[2];
    }
    dataset->rows = array.shape[0];
    return wants_none || options->ignore_labels ? MEDLEY_OK
                                                : read_sibling_labels(dataset, input->path, error);
}

static bool sniff(const char *head, size_t length)
{
    return length >= HEADER && head[0] == 0 && head[1] == 0 &&
           type_of((unsigned char)head[2]) != NULL && head[3] >= 1 && head[3] <= MOST_DIMENSIONS;
}

const md_format md_format_idx = {
    .name = "idx",
    .summary = "idx arrays such as MNIST's images, with their labels file beside them",
    .extensions = (const char *const[]){".idx", "-idx3-ubyte", ".idx3-ubyte", NULL},
    .sniff = sniff,
    .read = read_idx,
};
