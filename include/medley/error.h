/* SPDX-License-Identifier: BSD-3-Clause */
/* Status codes and error messages. Every function that can fail returns a medley_status and takes
 * a caller-owned medley_error last (NULL if the text is not wanted). */
#ifndef MEDLEY_ERROR_H
#define MEDLEY_ERROR_H

#ifdef __cplusplus
extern "C" {
#endif

#if defined(MEDLEY_BUILDING)
#define MEDLEY_API __attribute__((visibility("default")))
#else
#define MEDLEY_API
#endif
#define MEDLEY_CHECKED __attribute__((warn_unused_result))

/* 0 success, negative error, positive success with information. */
typedef enum medley_status {
    MEDLEY_OK = 0,
    MEDLEY_STOPPED = 1,       /* the observer asked to stop; the result so far is valid */
    MEDLEY_FAILED = -1,       /* the system refused: memory, disk, file */
    MEDLEY_USAGE = -2,        /* options that do not exist or do not fit together */
    MEDLEY_BAD_INPUT = -3,    /* data that cannot be used as they are */
    MEDLEY_NOT_SUPPORTED = -4 /* a feature this build or method does not have */
} medley_status;

typedef struct medley_error {
    medley_status code;
    char message[640]; /* one sentence: what was found, what was expected, the remedy */
    char file[256];    /* the input at fault, or "" */
    long line;         /* 1-based line (or record) in it, 0 if none */
} medley_error;

/* The message with its position in front ("file:line: message"), as people want it printed.
 * Writes at most size bytes, always terminated. */
MEDLEY_API void medley_error_format(const medley_error *error, char *text, unsigned long size);

#ifdef __cplusplus
}
#endif
#endif
