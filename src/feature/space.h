/* SPDX-License-Identifier: BSD-3-Clause */
/* Inside of md_features, for this module's files. */
#ifndef MD_SPACE_H
#define MD_SPACE_H

#include "feature/templates.h"
#include "feature/tuples.h"

enum { MD_HASH_BITS_MOST = 30 };

struct md_features {
    md_templates *templates;
    size_t hash_bits;       /* 0: exact; else vocabulary and tuples are NULL */
    md_strings *vocabulary; /* [functions] */
    md_tuples *tuples;      /* [blocks] */
};

/* A space without vocabulary or features yet; takes *templates over and sets it to NULL. */
medley_status md_features_new(md_features **features, md_templates **templates, size_t hash_bits,
                              medley_error *error);

/* Makes the empty dictionary of a block once the vocabulary is complete. */
bool md_features_start_block(md_features *features, size_t block);

#endif
