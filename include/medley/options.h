/* SPDX-License-Identifier: BSD-3-Clause */
/* Training options, set by name: the names, defaults and help of the command line's. */
#ifndef MEDLEY_OPTIONS_H
#define MEDLEY_OPTIONS_H

#include "medley/error.h"
#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct medley_options medley_options;

MEDLEY_API MEDLEY_CHECKED medley_status medley_options_create(medley_options **options,
                                                              medley_error *error);
MEDLEY_API void medley_options_free(medley_options *options);

/* Sets one option; a repeatable one ("kernel", "scale") is added to. Codes: MEDLEY_USAGE for an
 * unknown name or a value that does not fit. */
MEDLEY_API MEDLEY_CHECKED medley_status medley_options_set(medley_options *options,
                                                           const char *name, const char *value,
                                                           medley_error *error);

typedef struct medley_option_info {
    const char *name;     /* "epochs" */
    const char *argument; /* "N"; "" for a flag */
    const char *fallback; /* default as text, "" if none */
    const char *help;
    bool repeatable;
} medley_option_info;

/* The table of options; index 0 .. count-1. */
MEDLEY_API size_t medley_option_count(void);
MEDLEY_API medley_option_info medley_option_describe(size_t index);

/* Everything that can be chosen by name. kind: "kernels", "penalties", "losses", "methods",
 * "formats", "generators", "structures", "templates", "tasks". Returns false behind the last one.
 */
typedef struct medley_listing {
    const char *name, *summary, *formula; /* formula may be NULL */
    char parameters[512];                 /* "degree=2, offset=1" or "" */
    const char *weights; /* of penalties and methods: how the weight of a block follows, behind
                            "Each block has a weight"; NULL: by the slope of the penalty */
    const char *format;  /* of generators: the one to write to standard output */
} medley_listing;

MEDLEY_API bool medley_list(medley_listing *listing, const char *kind, size_t index);
MEDLEY_API const char *const *medley_list_kinds(void); /* NULL-terminated */

/* The name in a NULL-terminated list nearest to text, for "did you mean"; NULL if none is near. */
MEDLEY_API const char *medley_nearest_name(const char *text, const char *const *names);

MEDLEY_API const char *medley_version(void);

/* The declarations of the public headers that this library was built from, as C without comments or
 * preprocessor lines, one to a line and each after those it needs: bindings can make their own from
 * it, and never drift away from the library they have loaded. */
MEDLEY_API const char *medley_declarations(void);

/* The BLAS in use, found at run time: "OpenBLAS 0.3.21 (SkylakeX)", "MKL", "BLIS", "ATLAS",
 * "unknown", or "reference", which is many times slower. Not while another thread computes; the
 * text is the calling thread's. */
MEDLEY_API const char *medley_blas(void);

#ifdef __cplusplus
}
#endif
#endif
