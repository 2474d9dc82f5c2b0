/* SPDX-License-Identifier: BSD-3-Clause */
/* Reporting failures: first error wins, the position comes from the layer that knows it. */
#ifndef MD_STATUS_H
#define MD_STATUS_H

#include "medley/error.h"
#include <stddef.h>

/* The one control-flow macro: on failure leaves the function with the status of the call. What the
 * function owns by then is released by MD_OWNED and MD_CLEARED (base/memory.h). */
#define MEDLEY_TRY(call)                                                                           \
    do {                                                                                           \
        const medley_status tried_ = (call);                                                       \
        if (tried_ < 0)                                                                            \
            return tried_;                                                                         \
    } while (0)

/* The first statement of every public function that takes an error: whatever it holds, from an
 * earlier call or because nobody has set it, is gone. From then on the first error wins. */
void md_begin(medley_error *error);

/* Fills error (if it holds none yet) and returns code. Messages name options as no front end would
 * but all can find them: `scale=standard` or `scale`, in backquotes; the command says --scale. */
#define md_fail(error, code, ...) md_fail_at(error, code, NULL, 0, __VA_ARGS__)

/* The same with the input's position. line 0: only the file is known; file NULL: neither is. */
medley_status md_fail_at(medley_error *error, medley_status code, const char *file, size_t line,
                         const char *format, ...) __attribute__((format(printf, 5, 6)));

/* Out of memory; bytes is what was asked for. */
medley_status md_fail_memory(medley_error *error, size_t bytes);

/* The static analyser sees one file at a time and would follow paths on which failing succeeds. */
#ifdef __clang_analyzer__
#define md_fail_at(error, code, ...)                                                               \
    (__extension__({                                                                               \
        md_fail_at(error, code, __VA_ARGS__);                                                      \
        (code);                                                                                    \
    }))
#define md_fail_memory(error, bytes)                                                               \
    (__extension__({                                                                               \
        md_fail_memory(error, bytes);                                                              \
        MEDLEY_FAILED;                                                                             \
    }))
#endif

#endif
