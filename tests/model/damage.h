/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the tests of damaged model files: files in memory, changed and tried. */
#ifndef TESTS_MODEL_DAMAGE_H
#define TESTS_MODEL_DAMAGE_H

#include "file/file.h"
#include "model/model_cases.h"
#include <fcntl.h>
#include <sys/stat.h>

enum { TRAINING = 7, NEW = 5 };

/* A model file in memory, new data for it and what it scores them. */
struct sample {
    char path[PATH_SIZE];
    int descriptor;
    char *bytes;
    size_t length;
    medley_dataset *fresh;
    medley_prediction *right;
};

static inline void sample_open(struct sample *sample)
{
    temporary_path(sample->path);
    sample->descriptor = open(sample->path, O_RDWR);
    assert_true(sample->descriptor >= 0);
}

static inline void sample_make(struct sample *sample, const struct model_case *given)
{
    medley_model *model = case_model(given, TRAINING);
    sample_open(sample);
    sample->fresh = case_dataset(given->kind, TRAINING, NEW, TRAINING);
    sample->bytes = model_bytes(model, &sample->length);
    sample->right = predict(model, sample->fresh);
    medley_model_free(model);
}

static inline void sample_clear(struct sample *sample)
{
    close(sample->descriptor);
    unlink(sample->path);
    free(sample->bytes);
    medley_dataset_free(sample->fresh);
    medley_prediction_free(sample->right);
}

/* In place: thousands of new files would take long. */
static inline void set_file(const struct sample *sample, const char *bytes, size_t length)
{
    struct stat info;
    assert_int_equal(pwrite(sample->descriptor, bytes, length, 0), length);
    assert_int_equal(fstat(sample->descriptor, &info), 0);
    if ((size_t)info.st_size != length)
        assert_int_equal(ftruncate(sample->descriptor, (off_t)length), 0);
}

typedef enum outcome { REFUSED, SAME, DIFFERENT } outcome;

/* Loads these bytes and predicts with whatever comes out. */
static inline outcome try_bytes(const struct sample *sample, const char *bytes, size_t length)
{
    medley_model *model = NULL;
    medley_error error = {0};
    set_file(sample, bytes, length);
    const medley_status status = medley_model_load(&model, sample->path, &error);
    if (status < 0) {
        assert_null(model);
        assert_true(error.code == status && error.message[0] != '\0');
        if (strcmp(error.file, sample->path) != 0)
            fail_msg("'%s' does not name the file", error.message);
        return REFUSED;
    }
    medley_prediction *prediction = NULL;
    outcome result = REFUSED;
    if (medley_predict(&prediction, model, sample->fresh, 1, &error) == MEDLEY_OK) {
        result = same_predictions(prediction, sample->right) ? SAME : DIFFERENT;
        medley_prediction_free(prediction);
    }
    const medley_summary *summary = medley_model_summary(model);
    for (size_t m = 0; m < summary->block_count; m++)
        assert_non_null(summary->blocks[m].name);
    for (size_t l = 0; l < medley_model_label_count(model); l++)
        assert_non_null(medley_model_label_name(model, l));
    medley_model_free(model);
    return result;
}

static inline uint64_t get(const char *bytes, size_t at)
{
    uint64_t value;
    memcpy(&value, bytes + at, sizeof value);
    return value; /* tests run on the machines that write the files */
}

static inline void put(char *bytes, size_t at, uint64_t value)
{
    memcpy(bytes + at, &value, sizeof value);
}

/* Of as many sections as the file says it has. */
static inline void renew_checksums(char *bytes)
{
    const size_t sections = get(bytes, 24);
    for (size_t i = 0; i < sections; i++) {
        const size_t entry = 32 + 32 * i;
        put(bytes, entry + 24, md_crc32(bytes + get(bytes, entry + 8), get(bytes, entry + 16)));
    }
    const size_t end = MD_HEADER_BYTES(sections) - 8;
    put(bytes, end, md_crc32(bytes, end));
}

static inline void refuse(const struct sample *sample, const char *bytes, const char *phrase)
{
    medley_model *model = NULL;
    medley_error error = {0};
    set_file(sample, bytes, sample->length);
    assert_int_equal(medley_model_load(&model, sample->path, &error), MEDLEY_BAD_INPUT);
    if (strstr(error.message, phrase) == NULL)
        fail_msg("'%s' does not say '%s'", error.message, phrase);
}

#endif
