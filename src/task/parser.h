/* SPDX-License-Identifier: BSD-3-Clause */
/* What a model of trees keeps for itself: the templates that score the arcs of a sentence. The
 * model's companion labels the arcs, by the columns of data/tree_columns.h. */
#ifndef MD_PARSER_H
#define MD_PARSER_H

#include "base/pack.h"
#include "feature/arc.h"
#include "model/model.h"

typedef struct md_parser {
    md_arc_templates *templates; /* active ones */
    size_t bits;
    uint16_t *weights; /* [templates][2^bits], the upper halves of floats */
    size_t *info;      /* [templates] of the summary's blocks */
    size_t tags;       /* column that the templates call upos */
} md_parser;

/* Gives the model an empty parser. */
medley_status md_parser_create(medley_model *model, medley_error *error);

/* Room for the weights and infos of the parser's templates. */
medley_status md_parser_allocate(md_parser *parser, medley_error *error);
void md_parser_free(void *own);

void md_parser_pack(md_text *out, const void *own);
medley_status md_parser_unpack(medley_model *model, md_unpack *in, medley_error *error);

/* Has the model of relations the model's labels, and are there none without it? */
bool md_labeller_fits(const medley_model *model);

#endif
