/* SPDX-License-Identifier: BSD-3-Clause */
/* A data set as the templates see it: for each function of a column's text, the number of its value
 * at every row and for every place outside a sequence. Each distinct text is looked at once. */
#ifndef MD_VALUES_H
#define MD_VALUES_H

#include "feature/templates.h"
#include "feature/tuples.h"

/* The values of one function; -1: none, or one that training did not have. */
typedef struct md_value_column {
    int32_t *at;             /* [rows] */
    int32_t *before, *after; /* by distance from the sequence, 1 the nearest; [0] is not used */
    uint64_t *hash; /* hashed spaces: of each value's text, whichever number it has; else NULL */
} md_value_column;

typedef struct md_values {
    const medley_dataset *dataset; /* borrowed: for its sequences */
    size_t count;
    md_value_column *column; /* [count], one for each function */
} md_values;

/* How values get their numbers: in a vocabulary for each function that grows (training), in one
 * that does not (known), or, if both are NULL, by the data set's own numbers with hashes beside
 * them. */
typedef struct md_vocabularies {
    md_strings *growing;
    const md_strings *known;
} md_vocabularies;

/* What was made is cleared by the caller in any case. */
medley_status md_values_make(md_values *values, const md_templates *templates,
                             const medley_dataset *dataset, md_vocabularies vocabularies,
                             size_t threads, medley_error *error);
void md_values_clear(md_values *values);

/* The values of a macro at rows first .. first + count - 1 (at most MD_BATCH) into out; sequence:
 * that of the first row (a unit of the data set). */
void md_values_fill(const md_values *values, const md_macro *macro, size_t sequence, size_t first,
                    size_t count, int32_t out[MD_BATCH]);

/* Not md_hash_bytes: models store slots found by this hash, so it is the same on every machine and
 * may never change. folds_case: capitals A to Z count as small letters. */
uint64_t md_value_hash(const char *text, size_t length, bool folds_case);

#endif
