/* SPDX-License-Identifier: BSD-3-Clause */
/* What the fuzz targets share. A target is a function fuzz_NAME that is given bytes and does with
 * them what a program may do; it ends the program where the library breaks a promise, and the
 * sanitizers do so where it breaks a rule of the language. CMakeLists.txt lists the targets. */
#ifndef FUZZ_H
#define FUZZ_H

#include "medley/medley.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* libFuzzer's, which calls them from C++. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t room, unsigned int seed);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t room);

/* Ends the program unless the library has kept its promise. */
#define FUZZ_REQUIRE(promise) ((promise) ? (void)0 : fuzz_broken(__FILE__, __LINE__, #promise))
_Noreturn void fuzz_broken(const char *file, int line, const char *promise);

/* ---- what is left of the input ---- */

typedef struct fuzz_input {
    const uint8_t *data;
    size_t size;
} fuzz_input;

typedef void fuzz_target(fuzz_input input);
#define FUZZ_TARGET(name) fuzz_target fuzz_##name;
#include "targets.def"
#undef FUZZ_TARGET

/* The next byte, 0 at the end. */
uint8_t fuzz_byte(fuzz_input *input);
/* The next line without its end, or the rest of the input; NULL at the end. The caller frees. */
char *fuzz_line(fuzz_input *input);
/* The rest as a string. The caller frees. */
char *fuzz_text(fuzz_input input);

/* Memory of the targets' own, which is never made to fail. Free it with free. */
void *fuzz_allocate(size_t bytes);

/* The name of a file in memory with these bytes; there are as many as slots. */
enum { FUZZ_SLOTS = 2 };
const char *fuzz_file(size_t slot, const void *bytes, size_t size);

/* The bytes as gzip writes them, uncompressed, in one member or two. The caller frees. */
uint8_t *fuzz_gzip(fuzz_input bytes, size_t members, size_t *size);

/* Has a call succeeded? If not, it has said why. */
bool fuzz_worked(medley_status status, const medley_error *error);
/* The same of one that must succeed, unless allocations fail. */
bool fuzz_must(medley_status status, const medley_error *error);

/* ---- allocations that fail ---- */

typedef struct fuzz_failing {
    size_t countdown; /* the allocation that reaches 0 fails; 0: none does */
    bool forever;     /* so do all that come after it */
    bool happened;
} fuzz_failing;
extern fuzz_failing fuzz_failures;

/* Work that is done once for all inputs must not fail: it stands between these two. */
fuzz_failing fuzz_pause(void);
void fuzz_resume(fuzz_failing before);

/* Called by what stands in for malloc: is this one that fails? */
bool fuzz_allocation_fails(void);

/* ---- data and models (data.c, use_data.c, use_model.c) ---- */

/* Small data to use models with, made once. */
typedef enum fuzz_kind {
    FUZZ_DENSE,   /* three named columns of numbers */
    FUZZ_SPARSE,  /* the same, sparse, without names */
    FUZZ_IMAGES,  /* of 4 x 4 pixels */
    FUZZ_NAMED,   /* named attributes in sequences */
    FUZZ_WORDS,   /* two columns of words in sequences */
    FUZZ_TREES,   /* sentences of CoNLL-U */
    FUZZ_GRAM,    /* precomputed values of two kernels with eight training rows */
    FUZZ_NUMBERS, /* those of FUZZ_DENSE with numbers to be predicted */
    FUZZ_KINDS
} fuzz_kind;
const medley_dataset *fuzz_data(fuzz_kind kind);

/* Options from lines "name=value", up to an empty one, none of which reads or writes a file. NULL:
 * the library has refused one. The caller frees. */
medley_options *fuzz_options(fuzz_input *input);

/* Not an option that names files or is the harness's, nor a value that asks for much memory. */
bool fuzz_allows(const char *name, const char *value);

/* Stops training after a number of steps that is the same for every input. */
typedef struct fuzz_watch {
    medley_observer observer;
    size_t left;
} fuzz_watch;
void fuzz_watch_start(fuzz_watch *watch);

/* Looks at everything in a data set, and at parts of it. */
void fuzz_use_dataset(const medley_dataset *dataset);

/* Predictions are numbers, for every kind of data or these alone; a written model reads back. */
void fuzz_use_model(const medley_model *model);
void fuzz_predict(const medley_model *model, const medley_dataset *dataset);

#endif
