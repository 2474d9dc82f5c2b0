/* SPDX-License-Identifier: BSD-3-Clause */
/* What a model of trees keeps for itself: the templates that score the arcs of a sentence, and a
 * smaller parser that tells which of them to look at. The model's companion labels the arcs, by the
 * columns of data/tree_columns.h. */
#ifndef MD_PARSER_H
#define MD_PARSER_H

#include "base/pack.h"
#include "feature/arc.h"
#include "model/model.h"
#include "structure/heads.h"

typedef struct md_parser {
    md_arc_templates *templates; /* active ones */
    size_t bits;
    uint16_t *weights;        /* [templates][2^bits], the upper halves of floats */
    size_t *info;             /* [templates] of the summary's blocks */
    size_t tags;              /* column that the templates call upos */
    struct md_parser *pruner; /* whose arcs are looked at; NULL: all are */
} md_parser;

medley_status md_parser_copy(md_parser **copy, const md_parser *parser, medley_error *error);

/* ---- prune.c ---- */

enum { MD_CHUNK_ARCS = 60000 }; /* scored at a time: some hundred sentences */

/* Sentences that are worked on together. */
typedef struct md_chunk {
    const medley_dataset *dataset;
    size_t first, count; /* sentences */
    size_t tags;         /* column */
    bool many_roots;
    bool second;         /* siblings and grandparents are asked for */
    const int32_t *gold; /* [rows] heads that are kept; NULL: none are known */
} md_chunk;

size_t md_chunk_length(const md_chunk *chunk, size_t sentence);
size_t md_chunk_arcs(const md_chunk *chunk);

/* Cuts sentences into chunks (NULL: they are only counted); returns how many. */
size_t md_chunks_cut(const md_chunk *all, md_chunk *chunks);

medley_status md_chunk_features(md_arcs **arcs, const md_chunk *chunk,
                                const md_arc_templates *templates, medley_error *error);

/* Heads of words: head[first[row]] .. head[first[row + 1] - 1]. */
typedef struct md_head_lists {
    size_t rows;
    size_t *first;
    uint16_t *head;
    size_t row_capacity, head_capacity;
} md_head_lists;

void md_head_lists_clear(md_head_lists *lists);

/* The heads that are left to the words of a chunk; of all sentences, in parallel. */
medley_status md_prune_chunk(md_head_lists *lists, const md_chunk *chunk, const md_parser *pruner,
                             medley_error *error);
medley_status md_prune(md_heads **heads, const md_chunk *all, const md_parser *pruner,
                       size_t threads, medley_error *error);

/* Gives the model an empty parser. */
medley_status md_parser_create(medley_model *model, medley_error *error);

/* Room for the weights and infos of the parser's templates. */
medley_status md_parser_allocate(md_parser *parser, medley_error *error);
void md_parser_free(void *own);
MD_OWNER(md_parser_free, void)

void md_parser_pack(md_text *out, const void *own);
medley_status md_parser_unpack(medley_model *model, md_unpack *in, medley_error *error);

/* Has the model of relations the model's labels, and are there none without it? */
bool md_labeller_fits(const medley_model *model);

#endif
