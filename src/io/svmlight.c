/* SPDX-License-Identifier: BSD-3-Clause */
/* The format of SVMlight and LIBSVM, `label [qid:N] index:value ... # comment`, a row a line.
 * Indices count from 1, or from 0 if a 0 occurs anywhere; consecutive rows of one qid are a
 * sequence. Reading is one pass over the bytes into arrays that are large enough from the start:
 * there is no more than one entry for each
 * ':' and no more than one row for each line. */
#include "io/float_text.h"
#include "io/io.h"

/* Mostly filled rows are faster and smaller when dense. */
enum { DENSE_BELOW_COLUMNS = 10000, SHOWN = 40 };

/* Tables are kept per column: beyond this, features want hashing to fewer numbers. */
static const uint64_t LARGEST_INDEX = 100000000;

typedef struct svmlight_reader {
    const md_input *input;
    const medley_read_options *options;
    medley_error *error;
    const char *p, *end; /* *end is the '\n' after the input */
    md_matrix matrix;    /* index[] holds what the file says minus 1 while reading */
    size_t rows, entries;
    int64_t largest; /* index so far */
    bool from_zero;
    md_label_builder labels;
    md_strings queries; /* the qid of each sequence */
    size_t *sequence_start;
    size_t sequence_capacity;
} svmlight_reader;

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

static bool ends_item(char c)
{
    return is_space(c) || c == '\n' || c == '#';
}

static size_t item_length(const char *p)
{
    size_t length = 0;
    while (!ends_item(p[length]))
        length++;
    return length;
}

/* Reports the item at p: "found 'abc', expected ...". */
static medley_status fail_item(const svmlight_reader *reader, const char *p, const char *expected)
{
    const size_t length = item_length(p);
    return md_fail_at(reader->error, MEDLEY_BAD_INPUT, reader->input->path,
                      md_input_line(reader->input, p), "found '%.*s%s', expected %s",
                      (int)(length < SHOWN ? length : SHOWN), p, length > SHOWN ? "..." : "",
                      expected);
}

/* What is wrong with the item at p, found by looking again, slowly. */
static medley_status explain(const svmlight_reader *reader, const char *p, int64_t last)
{
    uint64_t index = 0;
    const char *item = p;
    p = md_read_digits(p, &index);
    if (p == item)
        return fail_item(reader, item, "index:value with a whole number as the index");
    if (*p != ':')
        return fail_item(reader, item, "index:value with a ':' behind the index");
    if (p - item > 10 || index > LARGEST_INDEX)
        return fail_item(reader, item, "an index of at most 100000000 (renumber the features)");
    if ((int64_t)index <= last)
        return md_fail_at(reader->error, MEDLEY_BAD_INPUT, reader->input->path,
                          md_input_line(reader->input, item),
                          "index %llu follows index %lld, expected increasing indices; sort the "
                          "features of this line and remove duplicates",
                          (unsigned long long)index, (long long)last);
    const char *value = ++p;
    float number;
    if (md_read_float(&p, reader->end, &number) && ends_item(*p) && !isfinite(number))
        return fail_item(reader, value,
                         "a finite number within the range of float; leave out missing values");
    return fail_item(reader, item, "index:value with a number as the value");
}

/* Like md_read_digits, quicker for the few digits that most indices have. */
static inline const char *read_index(const char *p, const char *end, uint64_t *index)
{
    unsigned digits = 8;
    if (end - p >= MD_READABLE)
        *index = md_read_short_digits(p, &digits);
    if (digits < 8)
        return p + digits;
    *index = 0;
    return md_read_digits(p, index);
}

/* The features of a line up to its end or comment. This is the hot loop. */
static medley_status read_features(svmlight_reader *reader)
{
    const char *p = reader->p;
    const char *item;
    int32_t *indices = reader->matrix.index;
    float *values = reader->matrix.value;
    size_t entries = reader->entries;
    int64_t last = -1;
    for (;;) {
        while (is_space(*p))
            p++;
        item = p;
        if (*p == '\n' || *p == '#')
            break;
        uint64_t index = 0;
        p = read_index(p, reader->end, &index);
        /* 10 digits do not overflow; `index > last` as unsigned would fail for -1 */
        if (p == item || p - item > 10 || *p != ':' || (int64_t)index <= last ||
            index > LARGEST_INDEX)
            return explain(reader, item, last);
        p++;
        float value;
        if (!md_read_float(&p, reader->end, &value) || !ends_item(*p) || !isfinite(value))
            return explain(reader, item, last);
        last = (int64_t)index;
        indices[entries] = (int32_t)index - 1;
        values[entries++] = value;
        reader->from_zero |= index == 0;
    }
    if (last > reader->largest)
        reader->largest = last;
    reader->entries = entries;
    reader->p = p;
    return MEDLEY_OK;
}

/* `12:` or `qid:` begins a line whose label is missing. */
static bool is_pair(const char *item)
{
    if (strncmp(item, "qid:", 4) == 0)
        return true;
    uint64_t index = 0;
    const char *end = md_read_digits(item, &index);
    return end > item && *end == ':';
}

static medley_status read_label(svmlight_reader *reader)
{
    const char *item = reader->p;
    const bool missing = is_pair(item);
    if (!reader->options->ignore_labels && missing)
        return fail_item(reader, item,
                         "a label at the beginning of the line; put 0 there if it is not known");
    if (missing)
        return MEDLEY_OK;
    reader->p += item_length(item);
    if (reader->options->ignore_labels)
        return MEDLEY_OK;
    return md_labels_add(&reader->labels, item, (size_t)(reader->p - item), reader->error);
}

static medley_status read_query(svmlight_reader *reader)
{
    const char *item = reader->p;
    int32_t id;
    if (strncmp(item, "qid:", 4) != 0) {
        if (reader->queries.count == 0)
            return MEDLEY_OK;
        return md_fail_at(reader->error, MEDLEY_BAD_INPUT, reader->input->path,
                          md_input_line(reader->input, item),
                          "this row has no qid, expected one as in the rows before");
    }
    const char *number = item + 4;
    uint64_t ignored = 0;
    const char *end = md_read_digits(number, &ignored);
    if (end == number || !ends_item(*end))
        return fail_item(reader, item, "qid: with a whole number");
    if (reader->queries.count == 0 && reader->rows > 0)
        return fail_item(reader, item, "no qid here, as the rows before have none");
    reader->p = end;
    const size_t known = reader->queries.count;
    MEDLEY_TRY(
        md_strings_put(&reader->queries, number, (size_t)(end - number), &id, reader->error));
    MEDLEY_TRY(md_grow(&reader->sequence_start, &reader->sequence_capacity,
                       reader->queries.count + 1, sizeof(size_t), reader->error));
    if ((size_t)id == known)
        reader->sequence_start[known] = reader->rows;
    else if ((size_t)id + 1 < known)
        return fail_item(reader, item,
                         "the rows of a qid to stand together, and this one was used before; sort "
                         "the rows by qid");
    return MEDLEY_OK;
}

static medley_status read_lines(svmlight_reader *reader)
{
    while (reader->p < reader->end) {
        while (is_space(*reader->p))
            reader->p++;
        if (*reader->p != '\n' && *reader->p != '#') {
            MEDLEY_TRY(read_label(reader));
            while (is_space(*reader->p))
                reader->p++;
            MEDLEY_TRY(read_query(reader));
            MEDLEY_TRY(read_features(reader));
            reader->matrix.start[++reader->rows] = reader->entries;
        }
        if (*reader->p == '#')
            reader->p = memchr(reader->p, '\n', (size_t)(reader->end - reader->p) + 1);
        reader->p++;
    }
    return MEDLEY_OK;
}

/* Counts two characters in pieces whose counts fit a byte, which compilers turn into vector code.
 */
static void count_two(size_t counts[2], const char *text, size_t length, const char wanted[2])
{
    counts[0] = counts[1] = 0;
    while (length > 0) {
        const size_t piece = length < 255 ? length : 255;
        unsigned char first = 0;
        unsigned char second = 0;
        for (size_t i = 0; i < piece; i++) {
            first = (unsigned char)(first + (text[i] == wanted[0]));
            second = (unsigned char)(second + (text[i] == wanted[1]));
        }
        counts[0] += first;
        counts[1] += second;
        text += piece;
        length -= piece;
    }
}

static medley_status reserve_matrix(svmlight_reader *reader)
{
    size_t counts[2]; /* colons, line ends */
    count_two(counts, reader->p, (size_t)(reader->end - reader->p), ":\n");
    md_matrix *matrix = &reader->matrix;
    matrix->index = malloc((counts[0] + 1) * sizeof *matrix->index);
    matrix->value = malloc((counts[0] + 1) * sizeof *matrix->value);
    if (matrix->index == NULL || matrix->value == NULL)
        return md_fail_memory(reader->error, counts[0] * 8);
    MEDLEY_TRY(md_new(&matrix->start, counts[1] + 2, sizeof *matrix->start, reader->error));
    md_expect_large(matrix->index, counts[0] * sizeof *matrix->index);
    md_expect_large(matrix->value, counts[0] * sizeof *matrix->value);
    return MEDLEY_OK;
}

/* Gives back what the counts overestimated. */
static void trim(void **array, size_t bytes)
{
    void *trimmed = realloc(*array, bytes > 0 ? bytes : 1);
    if (trimmed != NULL)
        *array = trimmed;
}

static medley_status finish_matrix(svmlight_reader *reader)
{
    md_matrix *matrix = &reader->matrix;
    const size_t expected = reader->options->feature_count;
    if (reader->options->first_index == 1 && reader->from_zero)
        return md_fail_at(reader->error, MEDLEY_BAD_INPUT, reader->input->path, 0,
                          "the file has features with the index 0, and the training data had none, "
                          "so their indices were taken to begin with 1; number both files in the "
                          "same way, or write feature 0 once in the training data (0:0)");
    reader->from_zero |= reader->options->first_index == 0;
    if (reader->from_zero)
        for (size_t e = 0; e < reader->entries; e++)
            matrix->index[e]++;
    matrix->rows = reader->rows;
    matrix->columns = (size_t)(reader->largest + reader->from_zero);
    if (matrix->columns < expected) /* features that no row here has */
        matrix->columns = expected;
    if (matrix->columns == 0)
        return md_fail_at(reader->error, MEDLEY_BAD_INPUT, reader->input->path, 0,
                          "no row has a feature, expected index:value after the labels");
    if (matrix->columns < DENSE_BELOW_COLUMNS &&
        reader->entries > matrix->rows * matrix->columns / 2) {
        md_matrix dense;
        MEDLEY_TRY(md_matrix_to_dense(&dense, matrix, matrix->columns, reader->error));
        md_matrix_clear(matrix);
        *matrix = dense;
        return MEDLEY_OK;
    }
    trim((void **)&matrix->index, reader->entries * sizeof *matrix->index);
    trim((void **)&matrix->value, reader->entries * sizeof *matrix->value);
    trim((void **)&matrix->start, (reader->rows + 1) * sizeof *matrix->start);
    return MEDLEY_OK;
}

static void clear_reader(svmlight_reader *reader)
{
    md_matrix_clear(&reader->matrix);
    md_labels_clear(&reader->labels);
    md_strings_clear(&reader->queries);
    free(reader->sequence_start);
}

/* NOLINTBEGIN(clang-analyzer-unix.Malloc): the analyser does not follow cleanup */
static medley_status read_svmlight(medley_dataset *dataset, const md_input *input,
                                   const medley_read_options *options, medley_error *error)
{
    MD_CLEARED(clear_reader)
    svmlight_reader reader = {
        .input = input, .options = options, .error = error, .end = input->data + input->length};
    md_table *table;
    MEDLEY_TRY(md_input_text(&reader.p, input, error));
    MEDLEY_TRY(reserve_matrix(&reader));
    MEDLEY_TRY(read_lines(&reader));
    if (reader.rows == 0)
        return MEDLEY_OK; /* the caller says that there are no rows */
    MEDLEY_TRY(finish_matrix(&reader));
    MEDLEY_TRY(md_dataset_new_table(&table, dataset, "", input->path, error));
    table->features = md_take(&reader.matrix);
    table->first = reader.from_zero ? MD_FROM_ZERO : MD_FROM_ONE;
    dataset->rows = reader.rows;
    if (!options->ignore_labels)
        MEDLEY_TRY(md_labels_finish(&reader.labels, dataset, error));
    if (reader.queries.count > 0) {
        dataset->sequence_count = reader.queries.count;
        dataset->sequence_start = md_take(&reader.sequence_start);
        dataset->sequence_start[dataset->sequence_count] = reader.rows;
    }
    return MEDLEY_OK;
}
/* NOLINTEND(clang-analyzer-unix.Malloc) */

/* ---- recognising ---- */

/* `digits:something` or `qid:something` */
static bool is_whole_pair(const char *item, size_t length)
{
    size_t i = 0;
    if (length > 4 && memcmp(item, "qid:", 4) == 0)
        return true;
    while (i < length && item[i] >= '0' && item[i] <= '9')
        i++;
    return i > 0 && i + 1 < length && item[i] == ':';
}

/* 1: label and pairs, 0: something else, -1: nothing that decides. */
static int judge_line(const char *line, const char *end)
{
    size_t items = 0;
    while (line < end && *line != '#') {
        size_t length = 0;
        while (line + length < end && strchr(" \t\r#", line[length]) == NULL)
            length++;
        if (length > 0) {
            if (!is_whole_pair(line, length) && items > 0)
                return 0;
            items += is_whole_pair(line, length) ? 2 : 1;
        }
        line += length;
        while (line < end && strchr(" \t\r", *line) != NULL)
            line++;
    }
    return items >= 2 ? 1 : -1;
}

static bool sniff(const char *head, size_t length)
{
    const char *end = head + length;
    int verdict = -1;
    while (head < end && verdict < 0) {
        const char *stop = memchr(head, '\n', (size_t)(end - head));
        if (stop == NULL)
            stop = end;
        if (memchr(head, '\0', (size_t)(stop - head)) != NULL)
            return false;
        verdict = judge_line(head, stop);
        head = stop + 1;
    }
    return verdict == 1;
}

/* ---- writing ---- */

/* A label must be one word that does not look like a feature. */
static medley_status check_labels(const medley_dataset *dataset, medley_error *error)
{
    for (size_t i = 0; i < dataset->label_names.count; i++) {
        const char *name = dataset->label_names.items[i];
        if (name[0] == '\0' || strpbrk(name, " \t\r\n#") != NULL || is_pair(name))
            return md_fail(error, MEDLEY_USAGE,
                           "the label '%.60s' cannot be written as svmlight, whose labels are "
                           "single words; use csv",
                           name);
    }
    return MEDLEY_OK;
}

static void add_feature(md_text *text, size_t column, float value)
{
    char number[32];
    md_text_addf(text, " %zu:", column + 1);
    md_float_text(number, value);
    md_text_add(text, number, strlen(number));
}

/* Zeros are left out, except that the first row names the last column so that the number of columns
 * comes back. */
static void add_features(md_text *text, const md_matrix *features, size_t row)
{
    const size_t columns = features->columns;
    const md_row entries = md_matrix_row(features, row);
    bool has_last_column = false;
    for (size_t e = 0; e < entries.count; e++) {
        if (entries.value[e] == 0)
            continue;
        add_feature(text, md_row_column(entries, e), entries.value[e]);
        has_last_column = md_row_column(entries, e) + 1 == columns;
    }
    if (row == 0 && columns > 0 && !has_last_column)
        add_feature(text, columns - 1, 0);
}

static medley_status write_svmlight(md_output *output, const medley_dataset *dataset,
                                    medley_error *error)
{
    MD_CLEARED(md_text_clear) md_text text = {0};
    size_t sequence = 0;
    MEDLEY_TRY(md_format_needs_one_table("svmlight", dataset, error));
    MEDLEY_TRY(check_labels(dataset, error));
    for (size_t row = 0; row < dataset->rows; row++) {
        char number[32];
        const char *name = md_dataset_label_text(dataset, row, number);
        md_text_addf(&text, "%s", name != NULL ? name : "0");
        if (dataset->sequence_count > 0) {
            sequence += row == dataset->sequence_start[sequence + 1];
            md_text_addf(&text, " qid:%zu", sequence + 1);
        }
        add_features(&text, &dataset->tables[0].features, row);
        md_text_add(&text, "\n", 1);
        MEDLEY_TRY(md_output_text(output, &text, row + 1 == dataset->rows, error));
    }
    return MEDLEY_OK;
}

const md_format md_format_svmlight = {
    .name = "svmlight",
    .summary = "label index:value ..., sparse; also called libsvm",
    .extensions = (const char *const[]){".svm", ".svmlight", ".libsvm", NULL},
    .sniff = sniff,
    .read = read_svmlight,
    .write = write_svmlight,
};
