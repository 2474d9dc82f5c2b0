/* SPDX-License-Identifier: BSD-3-Clause */
/* Sentences with their dependency trees, in the ten columns of CoNLL-U: one root, the relations of
 * Universal Dependencies. Trees are projective but where noise turned two words around. */
#include "generate/gen_sentences.h"

#include <stdio.h>

enum { COLUMNS = 10, UPOS = 3 };

static medley_status add_word(md_word_rows *rows, const md_sentence *sentence, size_t w,
                              medley_error *error)
{
    const md_word *word = &sentence->words[w];
    char id[24];
    char head[24];
    snprintf(id, sizeof id, "%zu", w + 1);
    snprintf(head, sizeof head, "%d", word->head + 1);
    const char *const fields[COLUMNS] = {id,         word->form,  word->lemma, word->upos,
                                         word->xpos, word->feats, head,        word->relation,
                                         "_",        "_"};
    return md_word_rows_add(rows, fields, word->upos, word->head + 1, error);
}

static medley_status generate(medley_dataset *dataset, const medley_generate_options *options,
                              md_random *random, medley_error *error)
{
    dataset->format = "conllu";
    dataset->label_column = UPOS;
    return md_sentences_generate(dataset, options, random, COLUMNS, add_word, error);
}

extern const md_generator md_generator_treebank;
const md_generator md_generator_treebank = {
    .name = "treebank",
    .summary = "English sentences with dependency trees (CoNLL-U), for parsing; rows: sentences",
    .format = "conllu",
    .default_rows = 300,
    .generate = generate,
};
