/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Status codes, error messages, and the conventions of the whole interface.
 *
 * **Errors.** Every function that can fail returns a medley_status and takes a medley_error last
 * (NULL if the message is not wanted). The error need not be initialised: every call clears it
 * first, so afterwards it describes this call. The library never prints, exits or installs signal
 * handlers.
 *
 * **Arguments.** Outputs come first, then what the function works on, then what is wanted of it,
 * then options, observer and error. Outputs are written on success only.
 *
 * **Ownership.** What a function creates is freed with the matching `_free` function, which accepts
 * NULL. Pointers that a function returns directly are borrowed from the object they were asked of
 * and are valid until it changes or is freed. Data given to a function are only used during the
 * call, unless the function says otherwise.
 *
 * **Structs.** A struct that begins with `struct_size` is started with its `_INIT` macro, which
 * sets the size and the defaults. Such a struct may grow at its end in later versions without a
 * change of the library's SONAME: a program and a library of different versions use what both know.
 * Fields that only the library knows have their defaults; fields that only the program knows must
 * be zero, or the call returns MEDLEY_NOT_SUPPORTED; a size that cannot be one is MEDLEY_USAGE.
 * Structs that only the library allocates may grow at their end, too: never copy or embed them by
 * value. Structs that are passed in arrays or embedded in others are marked "frozen" and do not
 * change.
 *
 * **Strings** are UTF-8 and end with NUL. Names of files are bytes, as the system has them.
 *
 * **Threads.** Different objects may be used by different threads at the same time, and so may one
 * object, as long as none of the threads changes it.
 */
#ifndef MEDLEY_ERROR_H
#define MEDLEY_ERROR_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Marks what the shared library exports. */
#if defined(MEDLEY_BUILDING)
#define MEDLEY_API __attribute__((visibility("default")))
#else
#define MEDLEY_API
#endif
/** Marks functions whose result must not be ignored. */
#define MEDLEY_CHECKED __attribute__((warn_unused_result))

/** 0: success; negative: error; positive: success with information. */
typedef enum medley_status {
    MEDLEY_OK = 0,
    MEDLEY_STOPPED = 1,       /**< the observer asked to stop; the result so far is valid */
    MEDLEY_FAILED = -1,       /**< the system refused: memory, disk, file */
    MEDLEY_USAGE = -2,        /**< options that do not exist or contradict each other */
    MEDLEY_BAD_INPUT = -3,    /**< data that cannot be used as they are */
    MEDLEY_NOT_SUPPORTED = -4 /**< a feature that this build or method does not have */
} medley_status;

/** What went wrong in a call that returned a negative status. Frozen; needs no initialisation. */
typedef struct medley_error {
    medley_status code; /**< the status that was returned; MEDLEY_OK after a success */
    char message[640];  /**< one sentence: what was found, what was expected, the remedy;
                             options are named in backquotes: `C=-1`, `scale` */
    char file[256];     /**< the input at fault, or "" */
    long line;          /**< line (or record) in it, counted from 1; 0: not known */
} medley_error;

/**
 * Writes the message with its position in front ("file:line: message"), as people want it printed,
 * into text: at most size bytes, always terminated.
 */
MEDLEY_API void medley_error_format(char *text, size_t size, const medley_error *error);

#ifdef __cplusplus
}
#endif
#endif
