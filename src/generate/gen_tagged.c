/* SPDX-License-Identifier: BSD-3-Clause */
/* Sentences for chunking, as in the CoNLL-2000 task: word, part of speech, and as label the phrase
 * that the word begins or continues. */
#include "base/memory.h"
#include "generate/gen_sentences.h"

enum { COLUMNS = 2, LABEL_BYTES = 16 };

static medley_status add_word(md_word_rows *rows, const md_sentence *sentence, size_t w,
                              medley_error *error)
{
    const md_word *word = &sentence->words[w];
    const char *const fields[COLUMNS] = {word->form, word->xpos};
    char label[LABEL_BYTES];
    md_sentence_chunk(label, sentence, w);
    return md_word_rows_add(rows, fields, label, -1, error);
}

/* The labels stand in the last column of a file of these data, so that predictions are written
 * beside them. */
static medley_status generate(medley_dataset *dataset, const medley_generate_options *options,
                              md_random *random, medley_error *error)
{
    MEDLEY_TRY(md_sentences_generate(dataset, options, random, COLUMNS, add_word, error));
    dataset->format = "columns";
    dataset->separator = ' ';
    dataset->label_column = COLUMNS;
    MEDLEY_TRY(md_new_copy(&dataset->label_text, dataset->label,
                           dataset->rows * sizeof *dataset->label, error));
    return md_strings_copy(&dataset->label_texts, &dataset->label_names, error);
}

extern const md_generator md_generator_tagged;
const md_generator md_generator_tagged = {
    .name = "tagged",
    .summary = "English sentences with parts of speech and phrases, for chunking; rows: sentences",
    .format = "columns",
    .default_rows = 500,
    .generate = generate,
};
