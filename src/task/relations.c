/* SPDX-License-Identifier: BSD-3-Clause */
/* Relations of arcs: the second problem of a parser. Its model is that of a chain over the words of
 * a sentence, whose columns tell of the word, of its head and of what else is near it in the tree
 * (data/tree_columns.h), with settings of its own.
 *
 * It is learnt from the right trees and then labels arcs of trees that a parser has found: words
 * near a right arc may hang from wrong heads, and its columns are not what they were in training.
 * So words come again as they are in trees found by parsers (found_trees.c), if their own head is
 * right there and their columns are others. */
#include "task/problem.h"

#include "data/tree_columns.h"

enum { FEW_WORDS = 5000 };   /* features that occur once matter where there are not more */
enum { FEW_SENTENCES = 20 }; /* parsers of less find nothing to learn from */
enum { DEPREL = 7 };         /* column of CoNLL-U */

static medley_status make_options(medley_options **options, const md_problem *problem,
                                  medley_error *error)
{
    char threads[32];
    char seed[32];
    const char *const settings[][2] = {
        {"task", "chain"},
        {"template", "built-in:relation"},
        {"loss", "hinge"},
        {"penalty", "l2"},
        {"C", "1"},
        {"average", "true"},
        {"average-from", "0.3"},
        {"min-count", problem->train->rows < FEW_WORDS ? "1" : "2"},
        {"threads", threads},
        {"seed", seed},
    };
    snprintf(threads, sizeof threads, "%zu", problem->threads);
    snprintf(seed, sizeof seed, "%lld", problem->options->seed);
    MEDLEY_TRY(medley_options_create(options, error));
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        MEDLEY_TRY(medley_options_set(*options, settings[i][0], settings[i][1], error));
    return MEDLEY_OK;
}

/* Every word has a relation, or none has; any: there are two or more. */
static medley_status check_relations(const medley_dataset *train, bool *any, medley_error *error)
{
    const int32_t unknown = md_strings_find(&train->token_values[DEPREL], "_", 1);
    size_t first = SIZE_MAX;
    size_t count = 0;
    *any = false;
    for (size_t r = 0; r < train->rows; r++) {
        const int32_t relation = train->token[r * train->token_columns + DEPREL];
        const bool given = relation != unknown;
        count += given;
        *any = *any || relation != train->token[DEPREL];
        if (!given && first == SIZE_MAX)
            first = r;
    }
    if (count == 0 || count == train->rows)
        return MEDLEY_OK;
    return md_fail_at(error, MEDLEY_BAD_INPUT, train->source, train->line ? train->line[first] : 0,
                      "the DEPREL is not given although other words have one; give all of them, or "
                      "train with `unlabelled`");
}

/* ---- right trees, and others ---- */

/* Leaves, of the rows behind the first `right`, those whose arc is right and whose columns are not
 * those of the same word in the right tree. head[rows]: right heads, then found ones. */
static void keep_others(medley_dataset *data, size_t right, const int32_t *head)
{
    const size_t width = data->token_columns;
    size_t sequences = 0;
    size_t to = 0;
    for (size_t s = 0; s < data->sequence_count; s++) {
        const size_t end = data->sequence_start[s + 1];
        for (size_t row = data->sequence_start[s]; row < end; row++) {
            const int32_t *token = data->token + row * width;
            const bool is_other = row >= right && head[row] == head[row - right] &&
                                  memcmp(token, token - right * width, width * sizeof *token) != 0;
            if (row >= right && !is_other)
                continue;
            memmove(data->token + to * width, token, width * sizeof *token);
            data->label[to] = data->label[row];
            if (data->target != NULL)
                data->target[to] = data->target[row];
            to++;
        }
        if (to > data->sequence_start[sequences])
            data->sequence_start[++sequences] = to;
    }
    data->sequence_count = sequences;
    data->rows = to;
}

/* Columns of all words in the right trees, and of some in those that were found. */
static medley_status derive_twice(medley_dataset **data, const md_problem *problem,
                                  medley_error *error)
{
    const medley_dataset *train = problem->train;
    const size_t rows = train->rows;
    MD_OWNED(medley_dataset_free) medley_dataset *twice = NULL;
    MD_OWNED(medley_dataset_free) medley_dataset *derived = NULL;
    MD_OWNED(free) size_t *row = NULL;
    MD_OWNED(free) int32_t *head = NULL;
    MEDLEY_TRY(md_new(&row, rows, 2 * sizeof *row, error));
    MEDLEY_TRY(md_new(&head, rows, 2 * sizeof *head, error));
    for (size_t r = 0; r < rows; r++) {
        row[r] = row[rows + r] = r;
        head[r] = train->head[r];
    }
    MEDLEY_TRY(md_find_trees(head + rows, problem, error));
    MEDLEY_TRY(md_dataset_select(&twice, train, row, 2 * rows, NULL, error));
    MEDLEY_TRY(md_tree_columns(&derived, twice, head, md_arcs_tags(problem->source), error));
    keep_others(derived, rows, head);
    *data = md_take(&derived);
    return MEDLEY_OK;
}

medley_status md_relations_derive(medley_dataset **data, medley_options **options,
                                  const md_problem *problem, medley_error *error)
{
    const medley_dataset *train = problem->train;
    bool any = false;
    if (!problem->options->unlabelled)
        MEDLEY_TRY(check_relations(train, &any, error));
    if (!any)
        return MEDLEY_OK;
    MEDLEY_TRY(make_options(options, problem, error));
    return train->sequence_count < FEW_SENTENCES
               ? md_tree_columns(data, train, train->head, md_arcs_tags(problem->source), error)
               : derive_twice(data, problem, error);
}

medley_status md_relations_join(medley_model *model, medley_model *relations, medley_error *error)
{
    MEDLEY_TRY(md_strings_copy(&model->labels, &relations->labels, error));
    model->space.shape.labels = relations->labels.count;
    model->companion = relations;
    return MEDLEY_OK;
}
