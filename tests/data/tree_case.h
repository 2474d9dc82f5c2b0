/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the tests of columns made of trees: sentences in memory, as a reader would make them.
 */
#ifndef TESTS_DATA_TREE_CASE_H
#define TESTS_DATA_TREE_CASE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/memory.h"
#include "data/tree_columns.h"
#include <string.h>

#define LENGTH(array) (sizeof(array) / sizeof *(array))
#define END                                                                                        \
    {                                                                                              \
        .form = NULL                                                                               \
    }

enum { CASE_COLUMNS = 10, CASE_UPOS = 3 };

/* A word; END behind the last one of a sentence. */
typedef struct case_word {
    const char *form, *lemma, *upos, *xpos, *feats;
    int32_t head;
    const char *relation;
} case_word;

static inline void case_add(medley_dataset *dataset, size_t row, const case_word *word)
{
    const char *const fields[CASE_COLUMNS] = {"1",        word->form,  word->lemma, word->upos,
                                              word->xpos, word->feats, "0",         word->relation,
                                              "_",        "_"};
    for (size_t c = 0; c < CASE_COLUMNS; c++) {
        const int32_t id = md_strings_add(&dataset->token_values[c], fields[c], strlen(fields[c]));
        assert_true(id >= 0);
        dataset->token[row * CASE_COLUMNS + c] = id;
    }
    dataset->head[row] = word->head;
}

/* words[count]: END behind every sentence. */
static inline medley_dataset *case_trees(const case_word *words, size_t count)
{
    medley_dataset *dataset = NULL;
    assert_int_equal(medley_dataset_create(&dataset, NULL), MEDLEY_OK);
    dataset->source = md_copy_text("trees", 5);
    dataset->token_columns = CASE_COLUMNS;
    dataset->token_values = md_calloc(CASE_COLUMNS, sizeof *dataset->token_values);
    dataset->token = md_calloc(count * CASE_COLUMNS, sizeof *dataset->token);
    dataset->head = md_calloc(count, sizeof *dataset->head);
    dataset->sequence_start = md_calloc(count + 1, sizeof *dataset->sequence_start);
    for (size_t i = 0; i < count; i++) {
        if (words[i].form != NULL)
            case_add(dataset, dataset->rows++, &words[i]);
        else
            dataset->sequence_start[++dataset->sequence_count] = dataset->rows;
    }
    return dataset;
}

static inline medley_dataset *derive(const medley_dataset *dataset, size_t tags)
{
    medley_dataset *derived = NULL;
    medley_error error = {0};
    if (md_tree_columns(&derived, dataset, dataset->head, tags, &error) != MEDLEY_OK)
        fail_msg("%s", error.message);
    return derived;
}

static inline medley_dataset *derive_words(const case_word *words, size_t count, size_t tags)
{
    medley_dataset *dataset = case_trees(words, count);
    medley_dataset *derived = derive(dataset, tags);
    medley_dataset_free(dataset);
    return derived;
}

static inline const char *text_of(const medley_dataset *derived, size_t row,
                                  enum md_tree_column column)
{
    const int32_t id = derived->token[row * MD_TREE_COLUMNS + (size_t)column];
    assert_in_range(id, 0, derived->token_values[column].count - 1);
    return derived->token_values[column].items[id];
}

static inline void check_text(const medley_dataset *derived, size_t row, size_t column,
                              const char *expected)
{
    const char *found = text_of(derived, row, (enum md_tree_column)column);
    if (strcmp(found, expected) != 0)
        fail_msg("row %zu, column %zu: '%s', expected '%s'", row, column, found, expected);
}

#endif
