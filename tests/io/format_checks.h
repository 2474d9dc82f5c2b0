/* SPDX-License-Identifier: BSD-3-Clause */
/* What every format's test does: corpora of bad files, cut-off files, round trips, real data. */
#ifndef TESTS_IO_FORMAT_CHECKS_H
#define TESTS_IO_FORMAT_CHECKS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "io/io.h"
#include "reading.h"

static inline medley_status read_as(medley_dataset **dataset, const char *format, const char *text,
                                    size_t length, medley_error *error)
{
    medley_read_options options = MEDLEY_READ_OPTIONS_INIT;
    options.format = format;
    return read_text(dataset, text, length, &options, error);
}

/* Reads text that must be good. */
static inline medley_dataset *read_good(const char *text, size_t length,
                                        const medley_read_options *options)
{
    medley_dataset *dataset = NULL;
    medley_error error = {0};
    const medley_status status = read_text(&dataset, text, length, options, &error);
    assert_string_equal(error.message, "");
    assert_int_equal(status, MEDLEY_OK);
    assert_non_null(dataset);
    return dataset;
}

typedef struct bad_file {
    const char *text;
    long line;
    const char *phrase; /* part of the message */
} bad_file;

static inline void check_refused(const char *format, const char *text, size_t length, long line,
                                 const char *phrase)
{
    medley_dataset *dataset = NULL;
    medley_error error = {0};
    assert_int_equal(read_as(&dataset, format, text, length, &error), MEDLEY_BAD_INPUT);
    assert_null(dataset);
    if (strstr(error.message, phrase) == NULL)
        print_error("expected '%s' in: %s\n", phrase, error.message);
    assert_non_null(strstr(error.message, phrase));
    assert_int_equal(error.line, line);
    assert_true(error.file[0] != '\0');
}

static inline void check_all_refused(const char *format, const bad_file *files, size_t count)
{
    for (size_t i = 0; i < count; i++)
        check_refused(format, files[i].text, strlen(files[i].text), files[i].line, files[i].phrase);
}

/* Every beginning of a good file is read or refused with a message, but never crashes. */
static inline void check_truncations(const char *format, const char *text, size_t length)
{
    for (size_t cut = 0; cut < length; cut++) {
        medley_dataset *dataset = NULL;
        medley_error error = {0};
        const medley_status status = read_as(&dataset, format, text, cut, &error);
        if (status == MEDLEY_OK) {
            assert_true(medley_dataset_rows(dataset) > 0);
        } else {
            assert_int_equal(status, MEDLEY_BAD_INPUT);
            assert_true(error.message[0] != '\0');
            assert_null(dataset);
        }
        medley_dataset_free(dataset);
    }
}

/* Writes the dataset and returns the file's bytes, terminated; the caller frees them. */
static inline char *written(const medley_dataset *dataset, const char *format, size_t *length)
{
    char path[READING_PATH_SIZE];
    medley_error error = {0};
    md_input input = {0};
    reading_write(path, "", "", 0);
    const medley_status status = medley_dataset_write(dataset, path, format, &error);
    assert_string_equal(error.message, "");
    assert_int_equal(status, MEDLEY_OK);
    assert_int_equal(md_input_read(&input, path, &error), MEDLEY_OK);
    unlink(path);
    input.data[input.length] = '\0'; /* in the sentinel's place */
    *length = input.length;
    return input.data;
}

/* What is written is what was read. */
static inline void check_round_trip(const medley_dataset *dataset, const char *format,
                                    const char *text, size_t length)
{
    size_t found = 0;
    char *bytes = written(dataset, format, &found);
    assert_int_equal(found, length);
    assert_memory_equal(bytes, text, length);
    free(bytes);
}

/* The path of a real data set, or false if it is not there. */
static inline bool real_data(char path[READING_PATH_SIZE], const char *name)
{
    const char *folder = getenv("MEDLEY_DATA");
    snprintf(path, READING_PATH_SIZE, "%s/%s", folder ? folder : "../shared/data", name);
    if (access(path, R_OK) == 0)
        return true;
    print_message("skipped: there is no %s (set MEDLEY_DATA)\n", path);
    return false;
}

/* Reads real data by its content and extension alone. */
static inline medley_dataset *read_real(const char *path)
{
    medley_dataset *dataset = NULL;
    medley_error error = {0};
    const medley_status status = medley_dataset_read(&dataset, path, NULL, &error);
    assert_string_equal(error.message, "");
    assert_int_equal(status, MEDLEY_OK);
    return dataset;
}

#endif
