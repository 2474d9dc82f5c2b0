/* SPDX-License-Identifier: BSD-3-Clause */
/* Labels in a file of their own: npy numbers, idx bytes (as MNIST has them), or text with one label
 * a line. */
#include "base/memory.h"
#include "io/io.h"
#include <math.h>
#include <string.h>

enum { IDX_HEADER = 8 };

static medley_status add_number(md_label_builder *builder, double value, const md_input *input,
                                medley_error *error)
{
    char text[32];
    if (!isfinite(value))
        return md_fail_at(error, MEDLEY_BAD_INPUT, input->path, 0,
                          "label %zu is %g; every label must be a finite number",
                          builder->count + 1, value);
    md_format_double(text, value);
    return md_labels_add(builder, text, strlen(text), error);
}

static medley_status read_npy_labels(md_label_builder *builder, const md_input *input,
                                     medley_error *error)
{
    md_npy array = {0};
    medley_status status = md_npy_read(&array, input, error);
    if (status < 0)
        return status;
    const bool one_column = array.dimensions == 2 && array.shape[1] == 1;
    if (array.dimensions != 1 && !one_column)
        status = md_fail_at(error, MEDLEY_BAD_INPUT, input->path, 0,
                            "the labels have %zu dimensions, expected 1: one number for each row",
                            array.dimensions);
    for (size_t i = 0; status == MEDLEY_OK && i < array.shape[0]; i++)
        status = add_number(builder, array.values[i], input, error);
    md_npy_clear(&array);
    return status;
}

/* Big-endian magic 0x00000801 (one dimension of bytes), count, bytes. */
static medley_status read_idx_labels(md_label_builder *builder, const md_input *input,
                                     medley_error *error)
{
    const unsigned char *bytes = (const unsigned char *)input->data;
    if (input->length < IDX_HEADER)
        return md_fail_at(error, MEDLEY_BAD_INPUT, input->path, 0,
                          "the idx header is cut off after %zu bytes", input->length);
    const size_t count =
        (size_t)bytes[4] << 24 | (size_t)bytes[5] << 16 | (size_t)bytes[6] << 8 | (size_t)bytes[7];
    if (input->length - IDX_HEADER != count)
        return md_fail_at(error, MEDLEY_BAD_INPUT, input->path, 0,
                          "%zu bytes of labels follow the idx header, which says %zu",
                          input->length - IDX_HEADER, count);
    medley_status status = MEDLEY_OK;
    for (size_t i = 0; status == MEDLEY_OK && i < count; i++)
        status = add_number(builder, bytes[IDX_HEADER + i], input, error);
    return status;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

static medley_status read_text_labels(md_label_builder *builder, const md_input *input,
                                      medley_error *error)
{
    const char *line;
    const char *end = input->data + input->length;
    medley_status status = md_input_text(&line, input, error);
    while (end > input->data && (end[-1] == '\n' || is_blank(end[-1])))
        end--; /* blank lines at the end are no labels */
    while (status == MEDLEY_OK && line < end) {
        const char *stop = memchr(line, '\n', (size_t)(end - line));
        if (stop == NULL)
            stop = end;
        const char *first = line;
        const char *last = stop;
        while (first < last && is_blank(*first))
            first++;
        while (last > first && is_blank(last[-1]))
            last--;
        if (first == last)
            return md_fail_at(error, MEDLEY_BAD_INPUT, input->path, md_input_line(input, line),
                              "there is no label on this line; every line needs one");
        status = md_labels_add(builder, first, (size_t)(last - first), error);
        line = stop + 1;
    }
    return status;
}

medley_status medley_dataset_read_labels(medley_dataset *dataset, const char *path,
                                         medley_error *error)
{
    md_begin(error);
    static const char npy_magic[] = "\x93NUMPY";
    static const char idx_magic[] = {0, 0, 8, 1};
    medley_status status = MEDLEY_OK;
    md_label_builder builder = {0};
    md_input input = {0};
    MEDLEY_TRY_DONE(md_input_read(&input, path, error));
    if (input.length >= 6 && memcmp(input.data, npy_magic, 6) == 0)
        MEDLEY_TRY_DONE(read_npy_labels(&builder, &input, error));
    else if (input.length >= 4 && memcmp(input.data, idx_magic, 4) == 0)
        MEDLEY_TRY_DONE(read_idx_labels(&builder, &input, error));
    else
        MEDLEY_TRY_DONE(read_text_labels(&builder, &input, error));
    if (builder.count == 0 || (dataset->rows > 0 && builder.count != dataset->rows)) {
        status = md_fail_at(error, MEDLEY_BAD_INPUT, input.path, 0,
                            "%zu labels were found, expected %zu: one for each row%s%s",
                            builder.count, dataset->rows, dataset->source != NULL ? " of " : "",
                            dataset->source != NULL ? dataset->source : "");
        goto done;
    }
    const size_t rows = dataset->rows;
    dataset->rows = builder.count; /* an empty dataset learns its size here */
    status = md_labels_finish(&builder, dataset, error);
    if (status < 0)
        dataset->rows = rows;
done:
    md_labels_clear(&builder);
    md_input_clear(&input);
    return status;
}
