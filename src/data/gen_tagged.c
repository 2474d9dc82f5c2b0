/* SPDX-License-Identifier: BSD-3-Clause */
/* Sentences for chunking, as in the CoNLL-2000 task: word, part of speech, and as label the phrase
 * that the word begins or continues. */
#include "base/memory.h"
#include "data/gen_sentences.h"
#include <string.h>

enum { COLUMNS = 2, LABEL_BYTES = 16 };

static medley_status take(void *context, const md_sentence *sentence, medley_error *error)
{
    md_word_rows *rows = context;
    medley_status status = MEDLEY_OK;
    for (size_t w = 0; w < sentence->count && status == MEDLEY_OK; w++) {
        const md_word *word = &sentence->words[w];
        const char *const fields[COLUMNS] = {word->form, word->xpos};
        char label[LABEL_BYTES];
        md_sentence_chunk(label, sentence, w);
        status = md_word_rows_add(rows, fields, label, -1, error);
    }
    md_word_rows_end_sentence(rows);
    return status;
}

/* The labels stand in the last column of a file of these data, so that predictions are written
 * beside them. */
static medley_status keep_layout(medley_dataset *dataset, medley_error *error)
{
    dataset->format = "columns";
    dataset->separator = ' ';
    dataset->label_column = COLUMNS;
    dataset->label_text = md_copy(dataset->label, dataset->rows * sizeof *dataset->label);
    if (dataset->label_text == NULL)
        return md_fail_memory(error, dataset->rows * sizeof *dataset->label);
    for (size_t i = 0; i < dataset->label_names.count; i++) {
        const char *name = dataset->label_names.items[i];
        if (md_strings_add(&dataset->label_texts, name, strlen(name)) < 0)
            return md_fail_memory(error, strlen(name));
    }
    return MEDLEY_OK;
}

static medley_status generate(medley_dataset *dataset, const medley_generate_options *options,
                              md_random *random, medley_error *error)
{
    medley_status status = MEDLEY_OK;
    md_word_rows rows = {0};
    MEDLEY_TRY(md_word_rows_begin(&rows, dataset, COLUMNS, options->rows, error));
    MEDLEY_TRY(md_sentences_draw(options, random, take, &rows, error));
    MEDLEY_TRY(md_word_rows_finish(&rows, error));
    MEDLEY_TRY(keep_layout(dataset, error));
done:
    md_word_rows_clear(&rows);
    return status;
}

extern const md_generator md_generator_tagged;
const md_generator md_generator_tagged = {
    .name = "tagged",
    .summary = "English sentences with parts of speech and phrases, for chunking; rows: sentences",
    .format = "columns",
    .default_rows = 500,
    .generate = generate,
};
