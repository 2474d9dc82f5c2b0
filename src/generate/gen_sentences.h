/* SPDX-License-Identifier: BSD-3-Clause */
/* Sentences drawn from the grammar in gen_grammar.c, with all that is known about their words. */
#ifndef MD_GEN_SENTENCES_H
#define MD_GEN_SENTENCES_H

#include "generate/generate.h"

enum { MD_WORD_BYTES = 24, MD_SENTENCE_MOST = 40 };

typedef struct md_word {
    char form[MD_WORD_BYTES], lemma[MD_WORD_BYTES];
    const char *upos, *xpos, *feats;
    const char *relation; /* to its head */
    int head;             /* place of its head in the sentence, from 0; -1: the root */
    const char *chunk;    /* kind; NULL: none */
    int chunk_number;     /* words of one chunk have the same */
} md_word;

typedef struct md_sentence {
    size_t count;
    md_word words[MD_SENTENCE_MOST];
} md_sentence;

/* At noise 1 a share of 3 % of the words of four letters and more is misspelt, 2 % of all words
 * have the tag of one that could be taken for them, and in 6 % of the sentences two neighbours
 * change places. */
medley_status md_sentence_draw(md_sentence *sentence, double noise, md_random *random,
                               medley_error *error);

/* The label of a word for chunking: "B-NP", "I-NP" or "O". */
void md_sentence_chunk(char label[16], const md_sentence *sentence, size_t word);

#endif
