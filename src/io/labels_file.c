/* SPDX-License-Identifier: BSD-3-Clause */
/* Labels in a file of their own: npy numbers, idx bytes (as MNIST has them), or text with one label
 * a line. */
#include "io/tokens.h"

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
    MD_CLEARED(md_npy_clear) md_npy array = {0};
    MEDLEY_TRY(md_npy_read(&array, input, error));
    const bool one_column = array.dimensions == 2 && array.shape[1] == 1;
    if (array.dimensions != 1 && !one_column)
        return md_fail_at(error, MEDLEY_BAD_INPUT, input->path, 0,
                          "the labels have %zu dimensions, expected 1: one number for each row",
                          array.dimensions);
    for (size_t i = 0; i < array.shape[0]; i++)
        MEDLEY_TRY(add_number(builder, array.values[i], input, error));
    return MEDLEY_OK;
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
    for (size_t i = 0; i < count; i++)
        MEDLEY_TRY(add_number(builder, bytes[IDX_HEADER + i], input, error));
    return MEDLEY_OK;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

static medley_status read_text_labels(md_label_builder *builder, const md_input *input,
                                      medley_error *error)
{
    md_lines lines;
    MEDLEY_TRY(md_lines_begin(&lines, input, error));
    while (lines.limit > input->data && (lines.limit[-1] == '\n' || is_blank(lines.limit[-1])))
        lines.limit--; /* blank lines at the end are no labels */
    while (md_lines_next(&lines)) {
        while (lines.start < lines.end && is_blank(*lines.start))
            lines.start++;
        while (lines.end > lines.start && is_blank(lines.end[-1]))
            lines.end--;
        if (lines.start == lines.end)
            return md_fail_at(error, MEDLEY_BAD_INPUT, input->path, lines.number,
                              "there is no label on this line; every line needs one");
        MEDLEY_TRY(md_labels_add(builder, lines.start, (size_t)(lines.end - lines.start), error));
    }
    return MEDLEY_OK;
}

medley_status medley_dataset_read_labels(medley_dataset *dataset, const char *path,
                                         medley_error *error)
{
    md_begin(error);
    static const char npy_magic[] = "\x93NUMPY";
    static const char idx_magic[] = {0, 0, 8, 1};
    MD_CLEARED(md_labels_clear) md_label_builder builder = {0};
    MD_CLEARED(md_input_clear) md_input input = {0};
    MEDLEY_TRY(md_input_read(&input, path, error));
    if (input.length >= 6 && memcmp(input.data, npy_magic, 6) == 0)
        MEDLEY_TRY(read_npy_labels(&builder, &input, error));
    else if (input.length >= 4 && memcmp(input.data, idx_magic, 4) == 0)
        MEDLEY_TRY(read_idx_labels(&builder, &input, error));
    else
        MEDLEY_TRY(read_text_labels(&builder, &input, error));
    const size_t rows = dataset->rows;
    if (builder.count == 0 || (rows > 0 && builder.count != rows))
        return md_fail_at(error, MEDLEY_BAD_INPUT, input.path, 0,
                          "%zu labels were found, expected %zu: one for each row%s%s",
                          builder.count, rows, dataset->source != NULL ? " of " : "",
                          dataset->source != NULL ? dataset->source : "");
    dataset->rows = builder.count; /* an empty dataset learns its size here */
    const medley_status status = md_labels_finish(&builder, dataset, error);
    if (status < 0)
        dataset->rows = rows;
    return status;
}
