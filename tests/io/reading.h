/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the tests of readers: text goes to a temporary file and is read from there. */
#ifndef TESTS_IO_READING_H
#define TESTS_IO_READING_H

#include "medley/dataset.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#define READING_PATH_SIZE 512

/* Makes an empty temporary file whose name ends in suffix ("" for none); path gets its name. */
static inline int reading_temporary(char path[READING_PATH_SIZE], const char *suffix)
{
    const char *folder = getenv("TMPDIR");
    snprintf(path, READING_PATH_SIZE, "%s/medley-test-XXXXXX%s",
             folder != NULL && *folder != '\0' ? folder : "/tmp", suffix);
    int descriptor = mkstemps(path, (int)strlen(suffix));
    if (descriptor < 0) {
        perror(path);
        exit(1);
    }
    return descriptor;
}

/* Writes length bytes to a new temporary file; the caller unlinks it. */
static inline void reading_write(char path[READING_PATH_SIZE], const char *suffix,
                                 const void *bytes, size_t length)
{
    int descriptor = reading_temporary(path, suffix);
    FILE *file = fdopen(descriptor, "wb");
    if (file == NULL || fwrite(bytes, 1, length, file) != length || fclose(file) != 0) {
        perror(path);
        exit(1);
    }
}

/* Writes text to a temporary file without extension, reads it and removes the file. *dataset is
 * NULL on failure; *error is cleared first. */
static inline medley_status read_text(medley_dataset **dataset, const char *text, size_t length,
                                      const medley_read_options *options, medley_error *error)
{
    char path[READING_PATH_SIZE];
    reading_write(path, "", text, length);
    *dataset = NULL;
    memset(error, 0, sizeof *error);
    medley_status status = medley_dataset_read(dataset, path, options, error);
    unlink(path);
    return status;
}

/* Compresses into a new buffer of *packed_length bytes that the caller frees. */
static inline char *reading_gzip(const char *bytes, size_t length, size_t *packed_length)
{
    z_stream stream = {0};
    char *packed = malloc(length + 1024);
    if (packed == NULL ||
        deflateInit2(&stream, 9, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK)
        abort();
    stream.next_in = (Bytef *)bytes;
    stream.avail_in = (uInt)length;
    stream.next_out = (Bytef *)packed;
    stream.avail_out = (uInt)length + 1024;
    if (deflate(&stream, Z_FINISH) != Z_STREAM_END)
        abort();
    *packed_length = stream.total_out;
    deflateEnd(&stream);
    return packed;
}

/* Reads every beginning of a file, plain and compressed. True if the whole file is read and each
 * beginning is either read or refused as bad input; what is wrong is printed. */
static inline bool reading_survives_truncation(const char *bytes, size_t length,
                                               const medley_read_options *options)
{
    bool good = true;
    for (int compressed = 0; compressed < 2; compressed++) {
        size_t size = length;
        char *packed = compressed ? reading_gzip(bytes, length, &size) : NULL;
        for (size_t cut = 0; cut <= size; cut++) {
            medley_dataset *dataset;
            medley_error error;
            const medley_status status =
                read_text(&dataset, compressed ? packed : bytes, cut, options, &error);
            const bool refused = (status == MEDLEY_BAD_INPUT || status == MEDLEY_USAGE) &&
                                 dataset == NULL && error.code == status &&
                                 error.message[0] != '\0';
            const bool read = status == MEDLEY_OK && dataset != NULL;
            if ((!read && !refused) || (cut == size && !read) ||
                (compressed && cut < size && read)) {
                fprintf(stderr, "cut at %zu of %zu%s: status %d, %s\n", cut, size,
                        compressed ? " (gzip)" : "", (int)status, error.message);
                good = false;
            }
            medley_dataset_free(dataset);
        }
        free(packed);
    }
    return good;
}

/* A malformed text, the line it is wrong in and a phrase of the message. */
typedef struct reading_fault {
    const char *text;
    long line;
    const char *phrase;
} reading_fault;

/* True if every text is refused as bad input at its line and with its phrase. */
static inline bool reading_finds_faults(const reading_fault *faults, size_t count,
                                        const medley_read_options *options)
{
    bool good = true;
    for (size_t i = 0; i < count; i++) {
        medley_dataset *dataset;
        medley_error error;
        const medley_status status =
            read_text(&dataset, faults[i].text, strlen(faults[i].text), options, &error);
        if (status != MEDLEY_BAD_INPUT || dataset != NULL || error.line != faults[i].line ||
            strstr(error.message, faults[i].phrase) == NULL) {
            fprintf(stderr, "fault %zu: status %d, line %ld (expected %ld), %s (expected '%s')\n",
                    i, (int)status, error.line, faults[i].line, error.message, faults[i].phrase);
            good = false;
        }
        medley_dataset_free(dataset);
    }
    return good;
}

#endif
