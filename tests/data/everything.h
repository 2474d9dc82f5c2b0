/* SPDX-License-Identifier: BSD-3-Clause */
/* A dataset with everything, in which each item says which row it belongs to. */
#ifndef EVERYTHING_H
#define EVERYTHING_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/memory.h"
#include "base/random.h"
#include "data/dataset.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COLUMNS = 3, TOKENS = 2 };

static void add_sparse_table(medley_dataset *dataset)
{
    md_table *table = NULL;
    assert_int_equal(md_dataset_new_table(&table, dataset, "sparse", "file", NULL), MEDLEY_OK);
    const size_t rows = dataset->rows;
    assert_int_equal(md_matrix_init_sparse(&table->features, rows, rows + 1, rows, NULL),
                     MEDLEY_OK);
    for (size_t row = 0; row < rows; row++) {
        table->features.start[row + 1] = row + 1;
        table->features.index[row] = (int32_t)row;
        table->features.value[row] = (float)row + 0.5f;
    }
}

static void add_gram(medley_dataset *dataset, const char *name, size_t columns)
{
    md_precomputed *gram = NULL;
    assert_int_equal(md_dataset_new_gram(&gram, dataset, name, NULL), MEDLEY_OK);
    const size_t rows = dataset->rows;
    assert_int_equal(md_matrix_init_dense(&gram->values, rows, columns, NULL), MEDLEY_OK);
    gram->diagonal = md_calloc(rows, sizeof *gram->diagonal);
    for (size_t row = 0; row < rows; row++) {
        gram->diagonal[row] = (double)row;
        for (size_t c = 0; c < columns; c++)
            gram->values.dense[row * columns + c] = (float)(1000 * row + c);
    }
}

static void add_tokens(medley_dataset *dataset)
{
    dataset->token_columns = TOKENS;
    dataset->token_values = md_calloc(TOKENS, sizeof *dataset->token_values);
    dataset->token = md_calloc(dataset->rows * TOKENS, sizeof *dataset->token);
    for (size_t i = 0; i < dataset->rows * TOKENS; i++) {
        char word[32];
        snprintf(word, sizeof word, "word%zu", i / TOKENS);
        dataset->token[i] = md_strings_add(&dataset->token_values[i % TOKENS], word, strlen(word));
    }
}

/* kind "": a blank line. */
static void add_line(medley_dataset *dataset, size_t row, const char *kind, size_t number)
{
    char text[64] = "";
    if (*kind != '\0')
        snprintf(text, sizeof text, "%s %zu", kind, number);
    assert_int_equal(md_reserve((void **)&dataset->verbatim, &dataset->verbatim_capacity,
                                dataset->verbatim_count + 1, sizeof *dataset->verbatim),
                     0);
    dataset->verbatim[dataset->verbatim_count++] =
        (md_verbatim){row, md_copy_text(text, strlen(text))};
}

/* Each sequence has two lines before it, a line before its second row and one at its end, which a
 * blank line tells from those of the next. */
static void add_sequences(medley_dataset *dataset, md_random *random)
{
    dataset->sequence_start = md_calloc(dataset->rows + 1, sizeof *dataset->sequence_start);
    for (size_t row = 1; row <= dataset->rows; row++)
        if (row == dataset->rows || md_random_below(random, 3) == 0)
            dataset->sequence_start[++dataset->sequence_count] = row;
    for (size_t s = 0; s < dataset->sequence_count; s++) {
        const size_t start = dataset->sequence_start[s];
        const size_t end = dataset->sequence_start[s + 1];
        add_line(dataset, start, "# comment of row", start);
        add_line(dataset, start, "before row", start);
        if (end > start + 1)
            add_line(dataset, start + 1, "before row", start + 1);
        add_line(dataset, end, "behind row", end - 1);
        add_line(dataset, end, "", 0);
    }
}

static medley_dataset *everything(size_t rows, bool sequences, uint64_t seed)
{
    static const char *const names[] = {"-1", "1", "2"};
    md_random random;
    medley_dataset *dataset;
    double *values = md_calloc(rows * COLUMNS, sizeof *values);
    const char **labels = md_calloc(rows, sizeof *labels);
    md_random_seed(&random, seed);
    for (size_t i = 0; i < rows; i++) {
        values[i * COLUMNS] = (double)i;
        labels[i] = names[md_random_below(&random, 3)];
    }
    assert_int_equal(medley_dataset_from_dense(&dataset, values, rows, COLUMNS, labels, NULL),
                     MEDLEY_OK);
    free(values);
    free(labels);
    for (const char *p = "abc"; *p != '\0'; p++)
        md_strings_add(&dataset->tables[0].column_names, p, 1);
    dataset->source = md_copy_text("file", 4);
    dataset->fold = md_calloc(rows, sizeof *dataset->fold);
    dataset->head = md_calloc(rows, sizeof *dataset->head);
    dataset->line = md_calloc(rows, sizeof *dataset->line);
    if (sequences)
        add_sequences(dataset, &random);
    for (size_t row = 0, s = 0; row < rows; row++) {
        dataset->head[row] = (int32_t)row - 1;
        dataset->line[row] = (uint32_t)(7 * row);
        s += sequences && row == dataset->sequence_start[s + 1];
        dataset->fold[row] = (int32_t)((sequences ? s : row) % 4);
    }
    add_sparse_table(dataset);
    add_gram(dataset, "square", rows);
    add_gram(dataset, "wide", rows + 2);
    add_tokens(dataset);
    return dataset;
}

/* The number of the original row, which is in the first column. */
static size_t original(const medley_dataset *selected, size_t row)
{
    return (size_t)selected->tables[0].features.dense[row * COLUMNS];
}

static void check_lines(const medley_dataset *selected)
{
    size_t lines = 0;
    for (size_t s = 0; s < selected->sequence_count; s++) {
        const size_t start = selected->sequence_start[s];
        const size_t end = selected->sequence_start[s + 1];
        char expected[5][64] = {0};
        const size_t places[5] = {start, start, start + 1, end, end};
        snprintf(expected[0], 64, "# comment of row %zu", original(selected, start));
        snprintf(expected[1], 64, "before row %zu", original(selected, start));
        snprintf(expected[2], 64, "before row %zu", original(selected, start) + 1);
        snprintf(expected[3], 64, "behind row %zu", original(selected, end - 1));
        for (size_t k = 0; k < 5; k++) {
            if (k == 2 && end == start + 1)
                continue;
            assert_true(lines < selected->verbatim_count);
            assert_string_equal(selected->verbatim[lines].text, expected[k]);
            assert_int_equal(selected->verbatim[lines++].row, places[k]);
        }
    }
    assert_int_equal(selected->verbatim_count, lines);
}

/* Every part of every row agrees with the row it came from. learnt: whose rows are the columns of
 * the square kernel; NULL: it has kept all. */
static void check_selected(const medley_dataset *selected, const medley_dataset *from,
                           const medley_dataset *learnt)
{
    assert_int_equal(selected->table_count, from->table_count);
    assert_int_equal(selected->label_names.count, from->label_names.count);
    assert_string_equal(selected->source, "file");
    assert_string_equal(selected->tables[1].name, "sparse");
    assert_string_equal(selected->tables[0].column_names.items[2], "c");
    assert_int_equal(selected->grams[0].values.columns, learnt ? learnt->rows : from->rows);
    assert_int_equal(selected->grams[1].values.columns, from->rows + 2);
    for (size_t row = 0; row < selected->rows; row++) {
        const size_t old = original(selected, row);
        assert_int_equal(selected->label[row], from->label[old]);
        assert_true(selected->target[row] == from->target[old]);
        assert_int_equal(selected->fold[row], from->fold[old]);
        assert_true(selected->head[row] == (int32_t)old - 1 && selected->line[row] == 7 * old);
        const md_matrix *sparse = &selected->tables[1].features;
        assert_int_equal(sparse->start[row], row);
        assert_int_equal(sparse->index[row], old);
        assert_true(sparse->value[row] == (float)old + 0.5f);
        for (size_t g = 0; g < 2; g++) {
            const md_matrix *gram = &selected->grams[g].values;
            for (size_t c = 0; c < gram->columns; c++) {
                const size_t column = g == 0 && learnt ? original(learnt, c) : c;
                assert_true(gram->dense[row * gram->columns + c] == (float)(1000 * old + column));
            }
            assert_true(selected->grams[g].diagonal[row] == (double)old);
        }
        for (size_t t = 0; t < TOKENS; t++) {
            char word[32];
            snprintf(word, sizeof word, "word%zu", old);
            assert_string_equal(selected->token_values[t].items[selected->token[row * TOKENS + t]],
                                word);
        }
    }
    if (from->sequence_count > 0) {
        assert_int_equal(selected->sequence_start[selected->sequence_count], selected->rows);
        check_lines(selected);
    }
}

#endif
