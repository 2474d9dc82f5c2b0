/* SPDX-License-Identifier: BSD-3-Clause */
/* Sentences with their dependency trees, in the ten columns of CoNLL-U: one root, the relations of
 * Universal Dependencies. Trees are projective but where noise turned two words around. */
#include "data/gen_sentences.h"

#include <stdio.h>

enum { COLUMNS = 10, UPOS = 3 };

static medley_status take(void *context, const md_sentence *sentence, medley_error *error)
{
    md_word_rows *rows = context;
    medley_status status = MEDLEY_OK;
    for (size_t w = 0; w < sentence->count && status == MEDLEY_OK; w++) {
        const md_word *word = &sentence->words[w];
        char id[24];
        char head[24];
        snprintf(id, sizeof id, "%zu", w + 1);
        snprintf(head, sizeof head, "%d", word->head + 1);
        const char *const fields[COLUMNS] = {id,         word->form,  word->lemma, word->upos,
                                             word->xpos, word->feats, head,        word->relation,
                                             "_",        "_"};
        status = md_word_rows_add(rows, fields, word->upos, word->head + 1, error);
    }
    md_word_rows_end_sentence(rows);
    return status;
}

static medley_status generate(medley_dataset *dataset, const medley_generate_options *options,
                              md_random *random, medley_error *error)
{
    medley_status status = MEDLEY_OK;
    md_word_rows rows = {0};
    MEDLEY_TRY(md_word_rows_begin(&rows, dataset, COLUMNS, options->rows, error));
    MEDLEY_TRY(md_sentences_draw(options, random, take, &rows, error));
    MEDLEY_TRY(md_word_rows_finish(&rows, error));
    dataset->format = "conllu";
    dataset->label_column = UPOS;
done:
    md_word_rows_clear(&rows);
    return status;
}

extern const md_generator md_generator_treebank;
const md_generator md_generator_treebank = {
    .name = "treebank",
    .summary = "English sentences with dependency trees (CoNLL-U), for parsing; rows: sentences",
    .format = "conllu",
    .default_rows = 300,
    .generate = generate,
};
