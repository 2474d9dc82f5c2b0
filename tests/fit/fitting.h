/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the tests of training runs: options from pairs of texts, data, fitting, file bytes. */
#ifndef TESTS_LEARNER_FITTING_H
#define TESTS_LEARNER_FITTING_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <medley/medley.h>

/* Options from a text "name=value name=value"; values hold no spaces. */
static inline medley_options *make_options(const char *text)
{
    medley_options *options = NULL;
    medley_error error = {0};
    char copy[512];
    char *rest = NULL;
    assert_int_equal(medley_options_create(&options, &error), MEDLEY_OK);
    snprintf(copy, sizeof copy, "%s", text);
    for (char *word = strtok_r(copy, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
        char *equals = strchr(word, '=');
        assert_non_null(equals);
        *equals = '\0';
        if (medley_options_set(options, word, equals + 1, &error) != MEDLEY_OK)
            fail_msg("%s", error.message);
    }
    return options;
}

static inline medley_dataset *make_data(const char *generator, size_t rows, uint64_t seed)
{
    medley_dataset *dataset = NULL;
    medley_error error = {0};
    medley_generate_options options = MEDLEY_GENERATE_OPTIONS_INIT;
    options.rows = rows;
    options.seed = seed;
    assert_int_equal(medley_generate(&dataset, generator, &options, &error), MEDLEY_OK);
    return dataset;
}

static inline medley_model *fit(const medley_dataset *train, const medley_dataset *dev,
                                const char *text)
{
    medley_model *model = NULL;
    medley_error error = {0};
    medley_options *options = make_options(text);
    if (medley_fit(&model, train, dev, options, NULL, &error) != MEDLEY_OK)
        fail_msg("%s: %s", text, error.message);
    medley_options_free(options);
    assert_non_null(model);
    return model;
}

static inline double accuracy_of(const medley_model *model, const medley_dataset *dataset)
{
    medley_evaluation evaluation = MEDLEY_EVALUATION_INIT;
    medley_error error = {0};
    if (medley_evaluate(&evaluation, model, dataset, 1, &error) != MEDLEY_OK)
        fail_msg("%s", error.message);
    const double accuracy = evaluation.accuracy;
    medley_evaluation_clear(&evaluation);
    return accuracy;
}

static inline medley_prediction *predict(const medley_model *model, const medley_dataset *dataset)
{
    medley_prediction *prediction = NULL;
    medley_error error = {0};
    if (medley_predict(&prediction, model, dataset, 1, &error) != MEDLEY_OK)
        fail_msg("%s", error.message);
    return prediction;
}

/* ---- temporary files ---- */

enum { PATH_SIZE = 256 };

static inline void temporary_path(char path[PATH_SIZE])
{
    const char *folder = getenv("TMPDIR");
    snprintf(path, PATH_SIZE, "%s/medley-test-XXXXXX",
             folder != NULL && *folder != '\0' ? folder : "/tmp");
    const int descriptor = mkstemp(path);
    assert_true(descriptor >= 0);
    close(descriptor);
}

/* The whole file; the caller frees it. */
static inline char *read_bytes(const char *path, size_t *length)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    const long size = ftell(file);
    assert_true(size >= 0);
    rewind(file);
    char *bytes = malloc((size_t)size + 1);
    assert_non_null(bytes);
    *length = fread(bytes, 1, (size_t)size, file);
    assert_int_equal(*length, size);
    fclose(file);
    return bytes;
}

static inline void write_bytes(const char *path, const char *bytes, size_t length)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, length, file), length);
    assert_int_equal(fclose(file), 0);
}

/* What a model looks like in a file. */
static inline char *model_bytes(const medley_model *model, size_t *length)
{
    char path[PATH_SIZE];
    medley_error error = {0};
    temporary_path(path);
    if (medley_model_save(model, path, &error) != MEDLEY_OK)
        fail_msg("%s", error.message);
    char *bytes = read_bytes(path, length);
    unlink(path);
    return bytes;
}

#endif
