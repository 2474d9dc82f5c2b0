/* SPDX-License-Identifier: BSD-3-Clause */
/* Words that a generator makes, collected into a dataset as the readers of tagged text do. */
#include "base/memory.h"
#include "generate/gen_sentences.h"
#include <stdint.h>
#include <string.h>

medley_status md_word_rows_add(md_word_rows *rows, const char *const *fields, const char *label,
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

medley_status md_sentences_generate(medley_dataset *dataset, const medley_generate_options *options,
                                    md_random *random, size_t columns, md_word_adder *add,
                                    medley_error *error)
{
    MD_CLEARED(md_labels_clear) md_label_builder labels = {0};
    md_word_rows rows = {.dataset = dataset, .labels = &labels};
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
