/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Training options, set by name: names, defaults and help are those of the command line. Also lists
 * of everything that can be chosen by name, and what this library is.
 */
#ifndef MEDLEY_OPTIONS_H
#define MEDLEY_OPTIONS_H

#include "medley/error.h"
#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Training options. Wherever options are optional, NULL means the defaults. */
typedef struct medley_options medley_options;

/** Creates options with their defaults. Free with medley_options_free. */
MEDLEY_API MEDLEY_CHECKED medley_status medley_options_create(medley_options **options,
                                                              medley_error *error);
/** Frees options; NULL is allowed. */
MEDLEY_API void medley_options_free(medley_options *options);

/**
 * Sets one option, as in `medley_options_set(options, "kernel", "rbf(auto)", &error)`. A repeatable
 * option ("kernel", "scale") is added to. MEDLEY_USAGE for an unknown name or an unsuitable value.
 */
MEDLEY_API MEDLEY_CHECKED medley_status medley_options_set(medley_options *options,
                                                           const char *name, const char *value,
                                                           medley_error *error);

/** Description of an option. Start with MEDLEY_OPTION_INFO_INIT. */
typedef struct medley_option_info {
    size_t struct_size;
    const char *name;     /**< "epochs" */
    const char *argument; /**< "N"; "" for a flag */
    const char *fallback; /**< the default as text; "": none */
    const char *help;     /**< one sentence */
    bool repeatable;      /**< setting it again adds a value */
    const char *group;    /**< "objective": options that stand together in help */
    const char *brief;    /**< a few words, of options of everyday work; NULL: it is none */
} medley_option_info;

/** An empty medley_option_info. */
#define MEDLEY_OPTION_INFO_INIT                                                                    \
    {                                                                                              \
        sizeof(medley_option_info), NULL, NULL, NULL, NULL, false, NULL, NULL                      \
    }

/** Number of options. */
MEDLEY_API size_t medley_option_count(void);
/** Describes the option with this index, from 0; false: there is none. */
MEDLEY_API bool medley_option_describe(medley_option_info *info, size_t index);

/** Something that can be chosen by name. Start with MEDLEY_LISTING_INIT. */
typedef struct medley_listing {
    size_t struct_size;
    const char *name, *summary; /**< "rbf", and what it is */
    const char *formula;        /**< NULL: none */
    char parameters[512];       /**< "degree=2, offset=1"; "": none */
    const char *weights; /**< of penalties and methods: how the weight of a block is defined, to
                              follow "Each block has a weight"; NULL: by the slope of the penalty */
    const char *format;  /**< of generators: the format to write to standard output */
} medley_listing;

/** An empty medley_listing. */
#define MEDLEY_LISTING_INIT                                                                        \
    {                                                                                              \
        sizeof(medley_listing), NULL, NULL, NULL, "", NULL, NULL                                   \
    }

/**
 * Describes one of the things of a kind, by its index from 0; false: there is none. Kinds:
 * "kernels", "penalties", "losses", "methods", "formats", "generators", "structures", "templates",
 * "tasks".
 */
MEDLEY_API bool medley_list(medley_listing *listing, const char *kind, size_t index);
/** The kinds that medley_list knows, ending with NULL. */
MEDLEY_API const char *const *medley_list_kinds(void);

/** "Did you mean": the name in a NULL-terminated list for what other programs call text ("rbf" for
 * "gaussian"), or else the one nearest in spelling; NULL if there is none. */
MEDLEY_API const char *medley_nearest_name(const char *text, const char *const *names);

/** The version of the library: "0.1.0". */
MEDLEY_API const char *medley_version(void);

/**
 * The BLAS in use, found at run time: "OpenBLAS 0.3.21 (SkylakeX)", "MKL", "BLIS", "ATLAS",
 * "unknown", or "reference", which is many times slower. Do not call it while another thread
 * computes. The text belongs to the calling thread.
 */
MEDLEY_API const char *medley_blas(void);

/** Which variant of its vector loops the library runs: "avx512", "avx2" or "baseline"; the widest
 * that the processor has, or less if the environment variable MEDLEY_VECTORS says so when the
 * program starts. */
MEDLEY_API const char *medley_vectors(void);

/** A card that is being started. */
typedef struct medley_device_starting medley_device_starting;

/**
 * Begins to start the card that option `device` means ("auto", "cuda", "cuda:1") in a thread of its
 * own, so that it is ready when data have been read: the first use of a card in a process takes a
 * fraction of a second. Nothing depends on it, and nothing is told if there is no such card. NULL:
 * there is nothing to wait for. To be handed to medley_device_started before the process ends.
 */
MEDLEY_API medley_device_starting *medley_device_start(const char *device);
/** Waits for it, and frees it; NULL is allowed. */
MEDLEY_API void medley_device_started(medley_device_starting *starting);

/**
 * The declarations of the public headers that this library was built from: C without comments and
 * preprocessor lines, one declaration per line, each after those it needs. Bindings can generate
 * their own declarations from it, and so always match the library they have loaded.
 */
MEDLEY_API const char *medley_declarations(void);

#ifdef __cplusplus
}
#endif
#endif
