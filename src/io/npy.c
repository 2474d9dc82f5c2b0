/* SPDX-License-Identifier: BSD-3-Clause */
/* The npy format of NumPy (versions 1 to 3 of its header): read in any byte and array order, run by
 * run or whole, and written as little-endian float32. An array (rows, columns) is a table without
 * labels. */
#include "io/io.h"
#include <byteswap.h>
#include <sys/mman.h>
#include <unistd.h>

static const char MAGIC[] = "\x93NUMPY";
enum { MAGIC_LENGTH = 6, HEADER_ALIGNMENT = 64 };

/* ---- the elements ---- */

/* Converts count elements, the first at bytes and each `stride` bytes after the one before,
 * swapping the bytes of each if asked. Elements mostly touch, and then the loop is a fast one. */
#define DEFINE_CONVERTER(name, type, raw_type, swapped)                                            \
    static inline double name##_one(const char *bytes, bool swap)                                  \
    {                                                                                              \
        raw_type raw;                                                                              \
        type value;                                                                                \
        memcpy(&raw, bytes, sizeof raw);                                                           \
        if (swap)                                                                                  \
            raw = swapped(raw);                                                                    \
        memcpy(&value, &raw, sizeof value);                                                        \
        return (double)value;                                                                      \
    }                                                                                              \
    static void name(double *values, const char *bytes, size_t count, size_t stride, bool swap)    \
    {                                                                                              \
        if (stride == sizeof(raw_type) && !swap)                                                   \
            for (size_t i = 0; i < count; i++)                                                     \
                values[i] = name##_one(bytes + i * sizeof(raw_type), false);                       \
        else                                                                                       \
            for (size_t i = 0; i < count; i++)                                                     \
                values[i] = name##_one(bytes + i * stride, swap);                                  \
    }

#define SAME(x) (x)
DEFINE_CONVERTER(convert_f4, float, uint32_t, bswap_32)
DEFINE_CONVERTER(convert_f8, double, uint64_t, bswap_64)
DEFINE_CONVERTER(convert_i1, int8_t, uint8_t, SAME)
DEFINE_CONVERTER(convert_i2, int16_t, uint16_t, bswap_16)
DEFINE_CONVERTER(convert_i4, int32_t, uint32_t, bswap_32)
DEFINE_CONVERTER(convert_i8, int64_t, uint64_t, bswap_64)
DEFINE_CONVERTER(convert_u1, uint8_t, uint8_t, SAME)
DEFINE_CONVERTER(convert_u2, uint16_t, uint16_t, bswap_16)
DEFINE_CONVERTER(convert_u4, uint32_t, uint32_t, bswap_32)
DEFINE_CONVERTER(convert_u8, uint64_t, uint64_t, bswap_64)

static const md_element_type ELEMENT_TYPES[] = {
    {"f4", 4, convert_f4}, {"f8", 8, convert_f8}, {"i1", 1, convert_i1}, {"i2", 2, convert_i2},
    {"i4", 4, convert_i4}, {"i8", 8, convert_i8}, {"u1", 1, convert_u1}, {"u2", 2, convert_u2},
    {"u4", 4, convert_u4}, {"u8", 8, convert_u8}, {"b1", 1, convert_u1}};

const md_element_type *md_element_type_find(const char *name)
{
    for (size_t i = 0; i < sizeof ELEMENT_TYPES / sizeof *ELEMENT_TYPES; i++)
        if (memcmp(ELEMENT_TYPES[i].name, name, 2) == 0)
            return &ELEMENT_TYPES[i];
    return NULL;
}

/* ---- the header: a Python dictionary with three keys ---- */

typedef struct npy_header {
    const md_element_type *type;
    bool big_endian, fortran_order;
    size_t dimensions, shape[3];
    size_t count; /* of elements */
} npy_header;

typedef struct header_reader {
    const char *p, *end;
    const md_input *input;
    medley_error *error;
} header_reader;

static medley_status fail_header(const header_reader *reader, const char *what)
{
    return md_fail_at(reader->error, MEDLEY_BAD_INPUT, reader->input->path, 0,
                      "the npy header is damaged: %s", what);
}

static bool accept(header_reader *reader, char c)
{
    while (reader->p < reader->end && (*reader->p == ' ' || *reader->p == '\n'))
        reader->p++;
    if (reader->p == reader->end || *reader->p != c)
        return false;
    reader->p++;
    return true;
}

static bool accept_word(header_reader *reader, const char *word)
{
    const size_t length = strlen(word);
    while (reader->p < reader->end && *reader->p == ' ')
        reader->p++;
    if ((size_t)(reader->end - reader->p) < length || memcmp(reader->p, word, length) != 0)
        return false;
    reader->p += length;
    return true;
}

/* 'text' or "text": its beginning and length. */
static bool accept_string(header_reader *reader, const char **text, size_t *length)
{
    const char quote = accept(reader, '\'') ? '\'' : '"';
    if (quote == '"' && !accept(reader, '"'))
        return false;
    const char *close = memchr(reader->p, quote, (size_t)(reader->end - reader->p));
    if (close == NULL)
        return false;
    *text = reader->p;
    *length = (size_t)(close - reader->p);
    reader->p = close + 1;
    return true;
}

static medley_status read_type(npy_header *header, header_reader *reader)
{
    const char *text = "";
    size_t length = 0;
    const bool is_text = accept_string(reader, &text, &length);
    if (is_text && length == 3 && strchr("<>|=", text[0]) != NULL) {
        header->big_endian =
            text[0] == '>' || (text[0] == '=' && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
        header->type = md_element_type_find(text + 1);
    }
    if (header->type != NULL)
        return MEDLEY_OK;
    return md_fail_at(reader->error, MEDLEY_BAD_INPUT, reader->input->path, 0,
                      "elements of type '%.*s' cannot be used; save numbers instead, for example "
                      "array.astype('float32')",
                      is_text ? (int)(length < 40 ? length : 40) : 10,
                      is_text ? text : "structured");
}

static medley_status read_shape(npy_header *header, header_reader *reader)
{
    if (!accept(reader, '('))
        return fail_header(reader, "the shape is no tuple");
    while (!accept(reader, ')')) {
        size_t extent = 0;
        const char *first = reader->p;
        for (; reader->p < reader->end && *reader->p >= '0' && *reader->p <= '9'; reader->p++)
            if (__builtin_mul_overflow(extent, 10, &extent) ||
                __builtin_add_overflow(extent, (size_t)(*reader->p - '0'), &extent))
                return fail_header(reader, "the shape is too large");
        if (reader->p == first)
            return fail_header(reader, "the shape holds something that is no whole number");
        if (header->dimensions == 3)
            return md_fail_at(
                reader->error, MEDLEY_BAD_INPUT, reader->input->path, 0,
                "the array has more than 3 dimensions; reshape it to (rows, columns)");
        header->shape[header->dimensions++] = extent;
        if (!accept(reader, ',')) {
            if (!accept(reader, ')'))
                return fail_header(reader, "the shape does not end");
            break;
        }
    }
    if (header->dimensions == 0)
        return md_fail_at(reader->error, MEDLEY_BAD_INPUT, reader->input->path, 0,
                          "the array is a single number; an array of 1 to 3 dimensions is needed");
    header->count = 1;
    for (size_t i = 0; i < header->dimensions; i++)
        if (__builtin_mul_overflow(header->count, header->shape[i], &header->count))
            return fail_header(reader, "the shape is too large");
    return MEDLEY_OK;
}

static medley_status read_dictionary(npy_header *header, header_reader *reader)
{
    bool has_order = false;
    if (!accept(reader, '{'))
        return fail_header(reader, "it does not begin with {");
    while (!accept(reader, '}')) {
        const char *key;
        size_t length;
        if (!accept_string(reader, &key, &length) || !accept(reader, ':'))
            return fail_header(reader, "a key was expected");
        if (length == 5 && memcmp(key, "descr", 5) == 0) {
            MEDLEY_TRY(read_type(header, reader));
        } else if (length == 5 && memcmp(key, "shape", 5) == 0 && header->dimensions == 0) {
            MEDLEY_TRY(read_shape(header, reader));
        } else if (length == 13 && memcmp(key, "fortran_order", 13) == 0) {
            has_order = true;
            header->fortran_order = accept_word(reader, "True");
            if (!header->fortran_order && !accept_word(reader, "False"))
                return fail_header(reader, "fortran_order is neither True nor False");
        } else {
            return fail_header(reader, "it holds an unknown key");
        }
        if (!accept(reader, ',') && (reader->p == reader->end || *reader->p != '}'))
            return fail_header(reader, "a comma was expected");
    }
    if (header->type == NULL || header->dimensions == 0 || !has_order)
        return fail_header(reader, "descr, fortran_order or shape is missing");
    return MEDLEY_OK;
}

/* Reads the header; *data is where the elements begin. */
static medley_status read_header(npy_header *header, const char **data, const md_input *input,
                                 medley_error *error)
{
    const unsigned char *bytes = (const unsigned char *)input->data;
    header_reader reader = {.input = input, .error = error};
    if (input->length < 10 || memcmp(bytes, MAGIC, MAGIC_LENGTH) != 0)
        return md_fail_at(error, MEDLEY_BAD_INPUT, input->path, 0,
                          "this is no npy file: it does not begin with \\x93NUMPY; save it with "
                          "numpy.save");
    if (bytes[6] < 1 || bytes[6] > 3)
        return md_fail_at(error, MEDLEY_BAD_INPUT, input->path, 0,
                          "version %d of the npy format is not known; 1 to 3 are", (int)bytes[6]);
    size_t start = 10;
    size_t length = (size_t)bytes[8] | (size_t)bytes[9] << 8;
    if (bytes[6] > 1 && input->length >= 12) {
        start = 12;
        length |= (size_t)bytes[10] << 16 | (size_t)bytes[11] << 24;
    }
    if (length > input->length - start)
        return fail_header(&reader, "it is cut off");
    reader.p = input->data + start;
    reader.end = reader.p + length;
    *data = reader.end;
    return read_dictionary(header, &reader);
}

/* ---- arrays ---- */

medley_status md_npy_open(md_npy_file *file, const md_input *input, medley_error *error)
{
    npy_header header = {0};
    const char *data = NULL;
    MEDLEY_TRY(read_header(&header, &data, input, error));
    const size_t available = (size_t)(input->data + input->length - data);
    const size_t size = header.type->size;
    size_t needed;
    if (__builtin_mul_overflow(header.count, size, &needed) || needed != available)
        return md_fail_at(error, MEDLEY_BAD_INPUT, input->path, 0,
                          "%zu bytes follow the npy header, which promises %zu elements of %zu "
                          "bytes; the file is %s",
                          available, header.count, size,
                          available / size < header.count ? "cut off" : "followed by other data");
    if (header.count == 0)
        return md_fail_at(error, MEDLEY_BAD_INPUT, input->path, 0, "the array has no elements");
    *file = (md_npy_file){.dimensions = header.dimensions,
                          .shape = {header.shape[0], header.shape[1], header.shape[2]},
                          .elements = input->data + (data - input->data),
                          .convert = header.type->convert,
                          .swap = header.big_endian != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)};
    size_t stride = size; /* of the index that varies fastest: the last, or the first */
    for (size_t i = 0; i < header.dimensions; i++) {
        const size_t place = header.fortran_order ? i : header.dimensions - 1 - i;
        file->stride[place] = stride;
        stride *= header.shape[place];
    }
    return MEDLEY_OK;
}

static size_t count_runs(const md_npy_file *file)
{
    size_t runs = 1;
    for (size_t i = 0; i + 1 < file->dimensions; i++)
        runs *= file->shape[i];
    return runs;
}

static size_t run_offset(const md_npy_file *file, size_t run)
{
    size_t offset = 0;
    for (size_t i = file->dimensions - 1; i-- > 0; run /= file->shape[i])
        offset += run % file->shape[i] * file->stride[i];
    return offset;
}

void md_npy_get_run(const md_npy_file *file, size_t run, double *values)
{
    const size_t last = file->dimensions - 1;
    file->convert(values, file->elements + run_offset(file, run), file->shape[last],
                  file->stride[last], file->swap);
}

void md_npy_release(md_npy_file *file, size_t run)
{
    enum { WORTH_A_CALL = 16 << 20 };
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    if (file->stride[0] < file->stride[file->dimensions - 1])
        return; /* every run is spread over the whole file */
    const uintptr_t from = ((uintptr_t)file->elements + file->released + page - 1) / page * page;
    const size_t offset = run_offset(file, run);
    const uintptr_t to = ((uintptr_t)file->elements + offset) / page * page;
    if (to < from + WORTH_A_CALL)
        return;
    (void)madvise((char *)file->elements + (from - (uintptr_t)file->elements), to - from,
                  MADV_DONTNEED);
    file->released = offset;
}

medley_status md_npy_read(md_npy *array, const md_input *input, medley_error *error)
{
    md_npy_file file;
    double *values;
    MEDLEY_TRY(md_npy_open(&file, input, error));
    const size_t length = file.shape[file.dimensions - 1];
    const size_t runs = count_runs(&file);
    MEDLEY_TRY(md_new_aligned(&values, runs * length, sizeof *values, error));
    for (size_t run = 0; run < runs; run++)
        md_npy_get_run(&file, run, values + run * length);
    *array = (md_npy){file.dimensions, {file.shape[0], file.shape[1], file.shape[2]}, values};
    return MEDLEY_OK;
}

void md_npy_clear(md_npy *array)
{
    free(array->values);
    *array = (md_npy){0};
}

medley_status md_npy_write_header(md_output *output, const size_t *shape, size_t dimensions,
                                  medley_error *error)
{
    MD_CLEARED(md_text_clear) md_text header = {0};
    md_text_addf(&header, "{'descr': '%cf4', 'fortran_order': False, 'shape': (",
                 __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? '>' : '<');
    for (size_t i = 0; i < dimensions; i++)
        md_text_addf(&header, "%zu%s", shape[i], i + 1 < dimensions ? ", " : "");
    md_text_addf(&header, "%s), }", dimensions == 1 ? "," : "");
    while (!header.failed && (10 + header.length + 1) % HEADER_ALIGNMENT != 0)
        md_text_add(&header, " ", 1);
    md_text_add(&header, "\n", 1);
    MEDLEY_TRY(md_text_check(&header, error));
    const unsigned char version_and_length[] = {1, 0, (unsigned char)(header.length & 0xff),
                                                (unsigned char)(header.length >> 8)};
    MEDLEY_TRY(md_output_write(output, MAGIC, MAGIC_LENGTH, error));
    MEDLEY_TRY(md_output_write(output, version_and_length, sizeof version_and_length, error));
    return md_output_write(output, header.data, header.length, error);
}

medley_status md_npy_write(md_output *output, const float *values, const size_t *shape,
                           size_t dimensions, medley_error *error)
{
    size_t count = 1;
    for (size_t i = 0; i < dimensions; i++)
        count *= shape[i];
    MEDLEY_TRY(md_npy_write_header(output, shape, dimensions, error));
    return md_output_write(output, values, count * sizeof *values, error);
}

/* ---- as a format of data ---- */

static bool sniff(const char *head, size_t length)
{
    return length >= MAGIC_LENGTH && memcmp(head, MAGIC, MAGIC_LENGTH) == 0;
}

static medley_status fill_table(md_matrix *features, const md_npy_file *array,
                                const md_input *input, medley_error *error)
{
    const size_t columns = array->shape[1];
    MD_OWNED(free) double *from = NULL;
    MEDLEY_TRY(md_new(&from, columns, sizeof *from, error));
    MEDLEY_TRY(md_matrix_init_unfilled(features, array->shape[0], columns, error));
    for (size_t i = 0; i < features->rows; i++) {
        float *row = features->dense + i * columns;
        md_npy_get_run(array, i, from);
        if (md_round_doubles(row, from, columns))
            continue;
        size_t j = 0;
        while (j + 1 < columns && isfinite(row[j]))
            j++;
        return md_fail_at(error, MEDLEY_BAD_INPUT, input->path, 0,
                          "row %zu, column %zu is %g; finite numbers within the range of "
                          "float are needed: fill in or remove such values",
                          i + 1, j + 1, from[j]);
    }
    return MEDLEY_OK;
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
                          array.dimensions == 3 ? "; give kernel values with `gram`" : "");
    md_table *table;
    MEDLEY_TRY(md_dataset_new_table(&table, dataset, "", input->path, error));
    dataset->rows = array.shape[0];
    return fill_table(&table->features, &array, input, error);
}

static medley_status write_table(md_output *output, const medley_dataset *dataset,
                                 medley_error *error)
{
    MD_CLEARED(md_matrix_clear) md_matrix dense = {0};
    MEDLEY_TRY(md_format_needs_one_table("npy", dataset, error));
    const md_matrix *features = &dataset->tables[0].features;
    const size_t shape[] = {features->rows, features->columns};
    if (!md_matrix_is_sparse(features))
        return md_npy_write(output, features->dense, shape, 2, error);
    MEDLEY_TRY(md_matrix_to_dense(&dense, features, features->columns, error));
    return md_npy_write(output, dense.dense, shape, 2, error);
}

const md_format md_format_npy = {
    .name = "npy",
    .summary = "a NumPy array (rows, columns) without labels",
    .extensions = (const char *const[]){".npy", NULL},
    .sniff = sniff,
    .read = read_table,
    .write = write_table,
};
