/* SPDX-License-Identifier: BSD-3-Clause */
/* The generators of sentences, as datasets of words: tagged and treebank. */
#include "generate/gen_sentences.h"

enum { TAGGED_COLUMNS = 2, LABEL_BYTES = 16, TREE_COLUMNS = 10, UPOS = 3 };

/* Collects words as the readers of tagged text leave them. */
typedef struct word_rows {
    medley_dataset *dataset;
    size_t token_capacity, head_capacity;
    md_label_builder *labels;
} word_rows;

/* Gives one word of a sentence to add_row. */
typedef medley_status word_adder(word_rows *rows, const md_sentence *sentence, size_t word,
                                 medley_error *error);

/* fields[columns]; head: within the sentence, from 1, -1: the data have no trees. */
static medley_status add_row(word_rows *rows, const char *const *fields, const char *label,
                             int32_t head, medley_error *error)
{
    medley_dataset *dataset = rows->dataset;
    const size_t columns = dataset->token_columns;
    const size_t row = dataset->rows;
    MEDLEY_TRY(md_grow(&dataset->token, &rows->token_capacity, (row + 1) * columns,
                       sizeof *dataset->token, error));
    for (size_t c = 0; c < columns; c++)
        MEDLEY_TRY(md_strings_put(&dataset->token_values[c], fields[c], strlen(fields[c]),
                                  &dataset->token[row * columns + c], error));
    if (head >= 0) {
        MEDLEY_TRY(
            md_grow(&dataset->head, &rows->head_capacity, row + 1, sizeof *dataset->head, error));
        dataset->head[row] = head;
    }
    dataset->rows++;
    return md_labels_add(rows->labels, label, strlen(label), error);
}

/* Room for that many sentences. */
static medley_status begin(medley_dataset *dataset, size_t columns, size_t sentences,
                           medley_error *error)
{
    if (sentences == SIZE_MAX) /* one more would be none */
        return md_fail_memory(error, sentences);
    MEDLEY_TRY(md_new(&dataset->token_values, columns, sizeof *dataset->token_values, error));
    dataset->token_columns = columns;
    return md_new(&dataset->sequence_start, sentences + 1, sizeof(size_t), error);
}

static medley_status check_options(const medley_generate_options *options, medley_error *error)
{
    MEDLEY_TRY(md_generate_refuse_views(options, error));
    if (options->dimension == 0)
        return MEDLEY_OK;
    return md_fail(error, MEDLEY_USAGE,
                   "dimension is %zu but sentences have words and no features; leave it out",
                   options->dimension);
}

/* Fills dataset with options->rows sentences. Options that sentences do not have are refused. */
static medley_status generate_sentences(medley_dataset *dataset,
                                        const medley_generate_options *options, md_random *random,
                                        size_t columns, word_adder *add, medley_error *error)
{
    MD_CLEARED(md_labels_clear) md_label_builder labels = {0};
    word_rows rows = {.dataset = dataset, .labels = &labels};
    md_sentence sentence;
    MEDLEY_TRY(begin(dataset, columns, options->rows, error));
    MEDLEY_TRY(check_options(options, error));
    for (size_t s = 0; s < options->rows; s++) {
        MEDLEY_TRY(md_sentence_draw(&sentence, options->noise, random, error));
        for (size_t w = 0; w < sentence.count; w++)
            MEDLEY_TRY(add(&rows, &sentence, w, error));
        dataset->sequence_start[++dataset->sequence_count] = dataset->rows;
    }
    return md_labels_finish(&labels, dataset, error);
}

/* ---- tagged: chunking as in the CoNLL-2000 task, with word, part of speech, and as label the
 * phrase that the word begins or continues ---- */

static medley_status add_tagged_word(word_rows *rows, const md_sentence *sentence, size_t w,
                                     medley_error *error)
{
    const md_word *word = &sentence->words[w];
    const char *const fields[TAGGED_COLUMNS] = {word->form, word->xpos};
    char label[LABEL_BYTES];
    md_sentence_chunk(label, sentence, w);
    return add_row(rows, fields, label, -1, error);
}

/* The labels stand in the last column of a file of these data, so that predictions are written
 * beside them. */
static medley_status generate_tagged(medley_dataset *dataset,
                                     const medley_generate_options *options, md_random *random,
                                     medley_error *error)
{
    MEDLEY_TRY(
        generate_sentences(dataset, options, random, TAGGED_COLUMNS, add_tagged_word, error));
    dataset->format = "columns";
    dataset->separator = ' ';
    dataset->label_column = TAGGED_COLUMNS;
    MEDLEY_TRY(md_new_copy(&dataset->label_text, dataset->label,
                           dataset->rows * sizeof *dataset->label, error));
    return md_strings_copy(&dataset->label_texts, &dataset->label_names, error);
}

const md_generator md_generator_tagged = {
    .name = "tagged",
    .summary = "English sentences with parts of speech and phrases, for chunking; rows: sentences",
    .format = "columns",
    .default_rows = 500,
    .generate = generate_tagged,
};

/* ---- treebank: dependency trees in the ten columns of CoNLL-U, with one root and the relations of
 * Universal Dependencies. Trees are projective but where noise turned two words around ---- */

static medley_status add_tree_word(word_rows *rows, const md_sentence *sentence, size_t w,
                                   medley_error *error)
{
    const md_word *word = &sentence->words[w];
    char id[24];
    char head[24];
    snprintf(id, sizeof id, "%zu", w + 1);
    snprintf(head, sizeof head, "%d", word->head + 1);
    const char *const fields[TREE_COLUMNS] = {id,         word->form,  word->lemma, word->upos,
                                              word->xpos, word->feats, head,        word->relation,
                                              "_",        "_"};
    return add_row(rows, fields, word->upos, word->head + 1, error);
}

static medley_status generate_treebank(medley_dataset *dataset,
                                       const medley_generate_options *options, md_random *random,
                                       medley_error *error)
{
    dataset->format = "conllu";
    dataset->label_column = UPOS;
    return generate_sentences(dataset, options, random, TREE_COLUMNS, add_tree_word, error);
}

const md_generator md_generator_treebank = {
    .name = "treebank",
    .summary = "English sentences with dependency trees (CoNLL-U), for parsing; rows: sentences",
    .format = "conllu",
    .default_rows = 300,
    .generate = generate_treebank,
};
