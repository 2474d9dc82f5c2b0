/* SPDX-License-Identifier: BSD-3-Clause */
/* What tests of whole reports share: small models, reports as text, and a reader of markup that
 * knows nothing of the writer. */
#ifndef REPORT_CASE_H
#define REPORT_CASE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <ctype.h>
#include <medley/medley.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The bytes of a file, terminated; the caller frees it. */
static inline char *file_text(const char *path)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    const long size = ftell(file);
    rewind(file);
    char *text = malloc((size_t)size + 1);
    assert_non_null(text);
    assert_int_equal(fread(text, 1, (size_t)size, file), (size_t)size);
    text[size] = '\0';
    fclose(file);
    return text;
}

static inline void temporary_path(char path[64], const char *ending)
{
    snprintf(path, 64, "/tmp/medley-report-%ld%s", (long)getpid(), ending);
}

static inline medley_dataset *read_text(const char *text, const char *ending,
                                        const medley_read_options *options)
{
    char path[64];
    temporary_path(path, ending);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
    medley_dataset *dataset = NULL;
    medley_error error = {0};
    const medley_status status = medley_dataset_read(&dataset, path, options, &error);
    assert_string_equal(error.message, "");
    assert_int_equal(status, MEDLEY_OK);
    unlink(path);
    return dataset;
}

static inline medley_dataset *generated(const char *generator, size_t rows, uint64_t seed)
{
    medley_generate_options options = MEDLEY_GENERATE_OPTIONS_INIT;
    medley_dataset *data = NULL;
    medley_error error = {0};
    options.rows = rows;
    options.seed = seed;
    assert_int_equal(medley_generate(&data, generator, &options, &error), MEDLEY_OK);
    return data;
}

/* A label of its own for each row: "label0", "label1" ... */
static inline medley_dataset *rows_of_many_labels(const double *values, size_t rows, size_t columns)
{
    char(*names)[16] = calloc(rows, sizeof *names);
    const char **labels = calloc(rows, sizeof *labels);
    medley_dataset *data = NULL;
    medley_error error = {0};
    assert_non_null(names);
    assert_non_null(labels);
    for (size_t i = 0; i < rows; i++) {
        snprintf(names[i], sizeof *names, "label%zu", i % 1000000);
        labels[i] = names[i];
    }
    assert_int_equal(medley_dataset_from_dense(&data, values, rows, columns, labels, &error),
                     MEDLEY_OK);
    free(names);
    free(labels);
    return data;
}

/* settings: name, value, ..., NULL */
static inline medley_model *fit(const medley_dataset *data, const char *const *settings)
{
    medley_options *options = NULL;
    medley_model *model = NULL;
    medley_error error = {0};
    assert_int_equal(medley_options_create(&options, &error), MEDLEY_OK);
    for (; *settings != NULL; settings += 2)
        assert_int_equal(medley_options_set(options, settings[0], settings[1], &error), MEDLEY_OK);
    const medley_status status = medley_fit(&model, data, NULL, options, NULL, &error);
    assert_string_equal(error.message, "");
    assert_true(status >= 0);
    medley_options_free(options);
    return model;
}

/* The report as text; the caller frees it. */
static inline char *report_text(const medley_model *model, const medley_report_options *options)
{
    char path[64];
    medley_error error = {0};
    temporary_path(path, ".html");
    const medley_status status = medley_report_write(model, path, options, &error);
    assert_string_equal(error.message, "");
    assert_int_equal(status, MEDLEY_OK);
    char *text = file_text(path);
    unlink(path);
    return text;
}

/* ---- markup ---- */

static inline bool has_word(const char *text, size_t length, const char *word)
{
    const size_t size = strlen(word);
    for (size_t i = 0; i + size <= length; i++)
        if (strncasecmp(text + i, word, size) == 0 &&
            (i == 0 || !isalnum((unsigned char)text[i - 1])) &&
            (i + size == length || !isalnum((unsigned char)text[i + size])))
            return true;
    return false;
}

/* Every element that is opened is closed in order; only known harmless things are there; and no
 * text between tags or in attributes reads nan or inf. */
static inline void check_markup(const char *html)
{
    char open[64][16];
    size_t depth = 0;
    const char *p = strstr(html, "</style>");
    assert_non_null(p); /* what stands before is the head, and the style sheet has no markup */
    p += strlen("</style>");
    snprintf(open[depth++], 16, "html");
    snprintf(open[depth++], 16, "head");
    while (*p != '\0') {
        const char *tag = strchr(p, '<');
        const size_t text = tag != NULL ? (size_t)(tag - p) : strlen(p);
        assert_false(has_word(p, text, "nan") || has_word(p, text, "inf"));
        assert_null(memchr(p, '>', text));
        if (tag == NULL)
            break;
        const char *end = strchr(tag, '>');
        assert_non_null(end);
        assert_false(has_word(tag, (size_t)(end - tag), "nan"));
        assert_false(has_word(tag, (size_t)(end - tag), "inf"));
        char name[16];
        const bool closing = tag[1] == '/';
        const char *first = tag + 1 + closing;
        const size_t length = strspn(first, "abcdefghijklmnopqrstuvwxyz123");
        assert_in_range(length, 1, 15);
        snprintf(name, sizeof name, "%.*s", (int)length, first);
        assert_true(strcmp(name, "script") != 0 && strcmp(name, "img") != 0 &&
                    strcmp(name, "style") != 0 && strcmp(name, "iframe") != 0);
        if (closing) {
            assert_true(depth > 0);
            assert_string_equal(open[--depth], name);
        } else if (strcmp(name, "br") != 0 && strcmp(name, "wbr") != 0 &&
                   strcmp(name, "meta") != 0) {
            assert_true(depth < 64);
            snprintf(open[depth++], 16, "%s", name);
        }
        p = end + 1;
    }
    assert_int_equal(depth, 0);
}

static inline void check_has(const char *html, const char *words)
{
    if (strstr(html, words) == NULL)
        fail_msg("the report does not say '%s'", words);
}

static inline void check_has_not(const char *html, const char *words)
{
    if (strstr(html, words) != NULL)
        fail_msg("the report says '%s'", words);
}

#endif
