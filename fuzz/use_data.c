/* SPDX-License-Identifier: BSD-3-Clause */
/* What may be done with any data set, and what must then hold. */
#include "fuzz.h"

#include "io/io.h"

static void check_rows(const medley_dataset *dataset)
{
    const size_t rows = medley_dataset_rows(dataset);
    const size_t words = medley_dataset_word_columns(dataset);
    const size_t labels = medley_dataset_label_count(dataset);
    for (size_t row = 0; row < rows; row++) {
        const int32_t label = medley_dataset_label(dataset, row);
        FUZZ_REQUIRE(label >= -1 && (label < 0 || (size_t)label < labels));
        for (size_t c = 0; c < words; c++) {
            const char *word = medley_dataset_word(dataset, row, c);
            FUZZ_REQUIRE(word == NULL || strlen(word) < SIZE_MAX);
        }
    }
    for (size_t l = 0; l < labels; l++)
        FUZZ_REQUIRE(medley_dataset_label_name(dataset, l) != NULL);
}

static void check_values(const medley_dataset *dataset)
{
    enum { MOST = 1 << 14 };
    const size_t columns = medley_dataset_columns(dataset);
    if (medley_dataset_table_count(dataset) == 0 || columns > MOST)
        return;
    float *values = fuzz_allocate(columns * sizeof *values);
    for (size_t row = 0; row < medley_dataset_rows(dataset); row++) {
        medley_dataset_row(values, dataset, row);
        for (size_t c = 0; c < columns; c++)
            FUZZ_REQUIRE(isfinite(values[c]));
    }
    free(values);
}

static void check_sequences(const medley_dataset *dataset)
{
    const size_t count = medley_dataset_sequences(dataset);
    for (size_t s = 0; s < count; s++) {
        const size_t first = medley_dataset_sequence_row(dataset, s);
        const size_t end = medley_dataset_sequence_row(dataset, s + 1);
        FUZZ_REQUIRE(first < end && end <= medley_dataset_rows(dataset));
        for (size_t row = first; row < end; row++) {
            const int32_t head = medley_dataset_head(dataset, row);
            FUZZ_REQUIRE(head >= -1 && head <= (int32_t)(end - first));
        }
    }
}

/* ---- writing ---- */

/* What a format writes, in memory; NULL: it does not write these data. The caller frees. */
static char *write_as(const md_format *format, const medley_dataset *dataset, bool labelled,
                      size_t *size)
{
    char *bytes = NULL;
    medley_error error;
    md_output output = {.file = open_memstream(&bytes, size)};
    FUZZ_REQUIRE(output.file != NULL);
    memset(&error, 0, sizeof error);
    const char **labels = fuzz_allocate(medley_dataset_rows(dataset) * sizeof *labels);
    for (size_t row = 0; row < medley_dataset_rows(dataset); row++)
        labels[row] = "label";
    const md_predicted predicted = {.labels = labels};
    const bool good =
        fuzz_worked(labelled ? format->write_labelled(&output, dataset, &predicted, &error)
                             : format->write(&output, dataset, &error),
                    &error);
    free(labels);
    fclose(output.file);
    if (good)
        return bytes;
    free(bytes);
    return NULL;
}

/* Rows, words and heads are the same; and labels, where nothing else can be meant by them. */
static void check_equal(const medley_dataset *one, const medley_dataset *other, bool by_label)
{
    const size_t words = medley_dataset_word_columns(one);
    FUZZ_REQUIRE(medley_dataset_rows(one) == medley_dataset_rows(other));
    FUZZ_REQUIRE(medley_dataset_sequences(one) == medley_dataset_sequences(other));
    FUZZ_REQUIRE(medley_dataset_word_columns(other) == words);
    for (size_t row = 0; row < medley_dataset_rows(one); row++) {
        const int32_t first = by_label ? medley_dataset_label(one, row) : -1;
        const int32_t second = by_label ? medley_dataset_label(other, row) : -1;
        FUZZ_REQUIRE((first < 0) == (second < 0));
        FUZZ_REQUIRE(first < 0 || strcmp(medley_dataset_label_name(one, (size_t)first),
                                         medley_dataset_label_name(other, (size_t)second)) == 0);
        FUZZ_REQUIRE(medley_dataset_head(one, row) == medley_dataset_head(other, row));
        for (size_t c = 0; c < words; c++)
            FUZZ_REQUIRE(
                strcmp(medley_dataset_word(one, row, c), medley_dataset_word(other, row, c)) == 0);
    }
}

/* What was written reads back as the same. */
static void write_and_read(const medley_dataset *dataset)
{
    medley_dataset *again = NULL;
    medley_error error;
    medley_read_options options = MEDLEY_READ_OPTIONS_INIT;
    const md_format *format = md_format_find(dataset->format);
    size_t size = 0;
    options.format = dataset->format;
    options.text_columns = dataset->token_columns > 0;
    options.label = dataset->label == NULL ? "none" : NULL;
    if (format->chooses_columns) { /* csv: nothing is left to guess */
        options.header = 1;
        options.label = dataset->label == NULL ? "none" : "last";
    }
    if (format->write_labelled != NULL)
        free(write_as(format, dataset, true, &size));
    char *bytes = format->write != NULL ? write_as(format, dataset, false, &size) : NULL;
    const bool marked = bytes != NULL && strncmp(bytes, "\xef\xbb\xbf", 3) == 0;
    if (bytes != NULL && !marked && /* a word that looks like a byte order mark is lost */
        fuzz_must(medley_dataset_parse(&again, bytes, size, "again", &options, &error), &error))
        check_equal(dataset, again, format->chooses_columns);
    medley_dataset_free(again);
    free(bytes);
}

/* ---- parts ---- */

static void take_parts(const medley_dataset *dataset)
{
    medley_dataset *kept = NULL;
    medley_dataset *held = NULL;
    medley_error error;
    if (fuzz_worked(medley_dataset_split(&kept, &held, dataset, 0.3, 1, &error), &error)) {
        FUZZ_REQUIRE(medley_dataset_rows(kept) + medley_dataset_rows(held) ==
                     medley_dataset_rows(dataset));
        check_rows(kept);
        check_rows(held);
    }
    medley_dataset_free(kept);
    medley_dataset_free(held);
    medley_dataset *fold = NULL;
    if (fuzz_worked(medley_dataset_folds(&fold, dataset, "0/2", &error), &error))
        check_values(fold);
    medley_dataset_free(fold);
}

void fuzz_use_dataset(const medley_dataset *dataset)
{
    FUZZ_REQUIRE(medley_dataset_rows(dataset) > 0);
    check_rows(dataset);
    check_values(dataset);
    check_sequences(dataset);
    take_parts(dataset);
    write_and_read(dataset);
}
