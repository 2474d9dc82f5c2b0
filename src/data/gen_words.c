/* SPDX-License-Identifier: BSD-3-Clause */
/* Words that a generator makes, collected into a dataset as the readers of tagged text do. */
#include "base/memory.h"
#include "data/gen_sentences.h"
#include <stdint.h>
#include <string.h>

medley_status md_word_rows_begin(md_word_rows *rows, medley_dataset *dataset, size_t columns,
                                 size_t sentences, medley_error *error)
{
    *rows = (md_word_rows){.dataset = dataset};
    if (sentences == SIZE_MAX) /* one more would be none */
        return md_fail_memory(error, sentences);
    dataset->token_values = md_calloc(columns, sizeof *dataset->token_values);
    dataset->sequence_start = md_calloc(sentences + 1, sizeof *dataset->sequence_start);
    if (dataset->token_values == NULL || dataset->sequence_start == NULL)
        return md_fail_memory(error, sentences * sizeof *dataset->sequence_start);
    dataset->token_columns = columns;
    return MEDLEY_OK;
}

medley_status md_word_rows_add(md_word_rows *rows, const char *const *fields, const char *label,
                               int32_t head, medley_error *error)
{
    medley_dataset *dataset = rows->dataset;
    const size_t columns = dataset->token_columns;
    const size_t row = dataset->rows;
    if (md_reserve((void **)&dataset->token, &rows->token_capacity, (row + 1) * columns,
                   sizeof *dataset->token) != 0 ||
        (head >= 0 && md_reserve((void **)&dataset->head, &rows->head_capacity, row + 1,
                                 sizeof *dataset->head) != 0))
        return md_fail_memory(error, (row + 1) * columns * sizeof *dataset->token);
    for (size_t c = 0; c < columns; c++) {
        const int32_t id = md_strings_add(&dataset->token_values[c], fields[c], strlen(fields[c]));
        if (id < 0)
            return md_fail_memory(error, strlen(fields[c]));
        dataset->token[row * columns + c] = id;
    }
    if (head >= 0)
        dataset->head[row] = head;
    dataset->rows++;
    return md_labels_add(&rows->labels, label, strlen(label), error);
}

void md_word_rows_end_sentence(md_word_rows *rows)
{
    medley_dataset *dataset = rows->dataset;
    dataset->sequence_start[++dataset->sequence_count] = dataset->rows;
}

medley_status md_word_rows_finish(md_word_rows *rows, medley_error *error)
{
    return md_labels_finish(&rows->labels, rows->dataset, error);
}

void md_word_rows_clear(md_word_rows *rows)
{
    md_labels_clear(&rows->labels);
}
