/* SPDX-License-Identifier: BSD-3-Clause */
/* Chunks in sequences of labels such as B-NP I-NP O, scored as the CoNLL-2000 shared task does: a
 * chunk that was found is correct if a given one has the same first and last item and the same
 * type. */
#ifndef MD_CHUNK_H
#define MD_CHUNK_H

#include "base/text.h"

/* What a label says. Prefixes: B begins, I is inside, E or L ends, S or U is a chunk alone. */
typedef struct md_chunk_label {
    char prefix;  /* B, I, E or S; 'O' outside (L and U are E and S under other names) */
    int32_t type; /* index into types; -1 outside */
} md_chunk_label;

/* A set of labels, taken apart once. */
typedef struct md_chunk_scheme {
    md_chunk_label *labels; /* [label_count] */
    size_t label_count;
    md_strings types; /* "NP", "VP" ... in order of the labels */
} md_chunk_scheme;

typedef struct md_chunk_counts {
    size_t given, found, correct;
} md_chunk_counts;

/* Are these the labels of chunks: each one O or prefix-type, and not only O? */
bool md_chunk_labels(const md_strings *names);

/* Labels that are neither O nor prefix-type are outside. */
medley_status md_chunk_scheme_init(md_chunk_scheme *scheme, const md_strings *names,
                                   medley_error *error);
void md_chunk_scheme_clear(md_chunk_scheme *scheme);

/* Adds the chunks of one sequence to counts[types.count]. given and found hold label numbers; -1
 * (a label that the scheme does not know) is outside. */
void md_chunk_count(const md_chunk_scheme *scheme, const int32_t *given, const int32_t *found,
                    size_t length, md_chunk_counts *counts);

md_chunk_counts md_chunk_total(const md_chunk_counts *counts, size_t count);

/* Between 0 and 1; 0 where there is nothing to divide by. */
double md_chunk_precision(md_chunk_counts counts);
double md_chunk_recall(md_chunk_counts counts);
double md_chunk_f1(md_chunk_counts counts); /* their harmonic mean */

#endif
