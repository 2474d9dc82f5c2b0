/* SPDX-License-Identifier: BSD-3-Clause */
/* Datasets in memory: selecting rows, folds, samples and splits. */
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

/* ---- a dataset with everything, in which each item says which row it belongs to ---- */

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

static void selecting_rows_carries_everything(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        md_random random;
        md_random_seed(&random, seed);
        const bool sequences = seed % 2 == 0;
        medley_dataset *dataset = everything(30, sequences, seed);
        medley_dataset *selected = NULL;
        size_t rows[60];
        size_t count = 0;
        const size_t units = sequences ? dataset->sequence_count : 30;
        for (size_t draw = 0; draw < 12 && count < 30; draw++) { /* any order, with repeats */
            const size_t unit = md_random_below(&random, units);
            const size_t end = sequences ? dataset->sequence_start[unit + 1] : unit + 1;
            for (size_t row = sequences ? dataset->sequence_start[unit] : unit;
                 row < end && count < 60; row++)
                rows[count++] = row;
        }
        const bool square = seed % 3 == 0;
        const md_columns columns = {rows, count};
        assert_int_equal(
            md_dataset_select(&selected, dataset, rows, count, square ? &columns : NULL, NULL),
            MEDLEY_OK);
        assert_int_equal(selected->rows, count);
        for (size_t i = 0; i < count; i++)
            assert_int_equal(original(selected, i), rows[i]);
        check_selected(selected, dataset, square ? selected : NULL);
        medley_dataset_free(selected);
        medley_dataset_free(dataset);
    }
}

/* ---- folds ---- */

static void folds_follow_the_fold_column(void **state)
{
    (void)state;
    for (int sequences = 0; sequences < 2; sequences++) {
        medley_dataset *dataset = everything(40, sequences, 3);
        medley_dataset *selected = NULL;
        assert_int_equal(medley_dataset_folds(&selected, dataset, "0,2-3", NULL), MEDLEY_OK);
        check_selected(selected, dataset, selected);
        size_t expected = 0;
        for (size_t row = 0; row < 40; row++) {
            if (dataset->fold[row] == 1)
                continue;
            assert_int_equal(original(selected, expected), row);
            expected++;
        }
        assert_int_equal(selected->rows, expected);
        medley_dataset_free(selected);
        medley_dataset_free(dataset);
    }
}

static void parts_of_a_division_are_stratified_and_always_the_same(void **state)
{
    (void)state;
    medley_dataset *dataset = everything(100, false, 4);
    size_t seen[100] = {0};
    for (int part = 0; part < 5; part++) {
        char folds[16];
        medley_dataset *first = NULL;
        medley_dataset *second = NULL;
        snprintf(folds, sizeof folds, "%d/5", part);
        assert_int_equal(medley_dataset_folds(&first, dataset, folds, NULL), MEDLEY_OK);
        assert_int_equal(medley_dataset_folds(&second, dataset, folds, NULL), MEDLEY_OK);
        check_selected(first, dataset, first);
        assert_int_equal(first->rows, 20);
        size_t counts[3] = {0};
        for (size_t row = 0; row < first->rows; row++) {
            assert_int_equal(original(first, row), original(second, row));
            seen[original(first, row)]++;
            counts[first->label[row]]++;
        }
        for (int label = 0; label < 3; label++) {
            size_t total = 0;
            for (size_t row = 0; row < 100; row++)
                total += dataset->label[row] == label;
            assert_true(counts[label] == total / 5 || counts[label] == (total + 4) / 5);
        }
        medley_dataset_free(first);
        medley_dataset_free(second);
    }
    for (size_t row = 0; row < 100; row++)
        assert_int_equal(seen[row], 1);
    medley_dataset_free(dataset);
}

static void parts_of_a_division_keep_sequences_whole(void **state)
{
    (void)state;
    medley_dataset *dataset = everything(100, true, 5);
    medley_dataset *some = NULL;
    medley_dataset *others = NULL;
    assert_int_equal(medley_dataset_folds(&some, dataset, "0/3", NULL), MEDLEY_OK);
    assert_int_equal(medley_dataset_folds(&others, dataset, "1-2/3", NULL), MEDLEY_OK);
    assert_int_equal(some->sequence_count + others->sequence_count, dataset->sequence_count);
    assert_int_equal(some->rows + others->rows, 100);
    check_selected(some, dataset, some); /* the lines kept show whole sequences */
    check_selected(others, dataset, others);
    medley_dataset_free(some);
    medley_dataset_free(others);
    medley_dataset_free(dataset);
}

static void wrong_folds_are_refused_with_a_remedy(void **state)
{
    (void)state;
    static const struct {
        const char *folds, *phrase;
    } cases[] = {{"", "cannot read the folds"},
                 {"a", "cannot read the folds"},
                 {"1,", "cannot read the folds"},
                 {"3-1", "cannot read the folds"},
                 {"1/", "cannot read the folds"},
                 {"0/1", "cannot read the folds"},
                 {"0/5x", "cannot read the folds"},
                 {"-1", "cannot read the folds"},
                 {"9999999999", "cannot read the folds"},
                 {"7", "fold 7 has no rows"},
                 {"0-9", "fold 4 has no rows"},
                 {"5/5", "fold 5 has no rows"},
                 {"0/50", "cannot divide 40 rows into 50 parts"}};
    medley_dataset *dataset = everything(40, false, 6);
    medley_dataset *selected = NULL;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        medley_error error = {0};
        assert_int_equal(medley_dataset_folds(&selected, dataset, cases[i].folds, &error),
                         MEDLEY_USAGE);
        assert_null(selected);
        if (strstr(error.message, cases[i].phrase) == NULL)
            fail_msg("'%s': '%s'", cases[i].folds, error.message);
    }
    free(dataset->fold);
    dataset->fold = NULL;
    medley_error error = {0};
    assert_int_equal(medley_dataset_folds(&selected, dataset, "1-4", &error), MEDLEY_USAGE);
    assert_non_null(strstr(error.message, "use LIST/K"));
    assert_non_null(strstr(error.message, "1-4/5"));
    medley_dataset_free(dataset);
}

/* ---- samples and splits ---- */

static void samples_keep_the_order_and_depend_on_the_seed(void **state)
{
    (void)state;
    for (int sequences = 0; sequences < 2; sequences++) {
        medley_dataset *dataset = everything(60, sequences, 7);
        const size_t units = sequences ? dataset->sequence_count : 60;
        medley_dataset *samples[3];
        for (size_t i = 0; i < 3; i++) {
            assert_int_equal(medley_dataset_sample(&samples[i], dataset, 8, i / 2, NULL),
                             MEDLEY_OK);
            assert_int_equal(sequences ? samples[i]->sequence_count : samples[i]->rows, 8);
            check_selected(samples[i], dataset, samples[i]);
            for (size_t row = 1; row < samples[i]->rows; row++)
                assert_true(original(samples[i], row) > original(samples[i], row - 1));
        }
        bool different = samples[0]->rows != samples[2]->rows;
        assert_int_equal(samples[0]->rows, samples[1]->rows);
        for (size_t row = 0; row < samples[0]->rows; row++) {
            assert_int_equal(original(samples[0], row), original(samples[1], row));
            different = different || original(samples[0], row) != original(samples[2], row);
        }
        assert_true(different);
        for (size_t i = 0; i < 3; i++)
            medley_dataset_free(samples[i]);
        assert_int_equal(medley_dataset_sample(&samples[0], dataset, units + 5, 1, NULL),
                         MEDLEY_OK);
        assert_int_equal(samples[0]->rows, 60);
        medley_dataset_free(samples[0]);
        medley_error error = {0};
        assert_int_equal(medley_dataset_sample(&samples[0], dataset, 0, 1, &error), MEDLEY_USAGE);
        medley_dataset_free(dataset);
    }
}

static void splits_are_stratified_and_lose_nothing(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 10; seed++) {
        medley_dataset *dataset = everything(90, seed % 5 == 0, seed);
        medley_dataset *kept = NULL;
        medley_dataset *held_out = NULL;
        assert_int_equal(medley_dataset_split(&kept, &held_out, dataset, 0.3, seed, NULL),
                         MEDLEY_OK);
        check_selected(kept, dataset, kept);
        check_selected(held_out, dataset, kept);
        size_t seen[90] = {0};
        for (size_t row = 0; row < kept->rows; row++)
            seen[original(kept, row)]++;
        for (size_t row = 0; row < held_out->rows; row++)
            seen[original(held_out, row)]++;
        for (size_t row = 0; row < 90; row++)
            assert_int_equal(seen[row], 1);
        for (int label = 0; seed % 5 != 0 && label < 3; label++) {
            double total = 0;
            double held = 0;
            for (size_t row = 0; row < 90; row++)
                total += dataset->label[row] == label;
            for (size_t row = 0; row < held_out->rows; row++)
                held += held_out->label[row] == label;
            assert_true(fabs(held - 0.3 * total) <= 1.0);
        }
        if (seed % 5 != 0)
            assert_int_equal(held_out->rows, 27);
        medley_dataset_free(kept);
        medley_dataset_free(held_out);
        medley_dataset_free(dataset);
    }
}

static void splits_of_numbers_that_do_not_repeat_depend_on_the_seed(void **state)
{
    (void)state;
    double values[40];
    char texts[40][8];
    const char *labels[40];
    for (size_t i = 0; i < 40; i++) {
        values[i] = (double)i;
        snprintf(texts[i], sizeof texts[i], "%zu", i * 3);
        labels[i] = texts[i];
    }
    medley_dataset *dataset;
    assert_int_equal(medley_dataset_from_dense(&dataset, values, 40, 1, labels, NULL), MEDLEY_OK);
    bool different = false;
    medley_dataset *kept[2];
    medley_dataset *held_out[2];
    for (uint64_t seed = 0; seed < 2; seed++)
        assert_int_equal(
            medley_dataset_split(&kept[seed], &held_out[seed], dataset, 0.5, seed, NULL),
            MEDLEY_OK);
    for (size_t row = 0; row < 20; row++)
        different = different || held_out[0]->target[row] != held_out[1]->target[row];
    assert_true(different);
    for (size_t i = 0; i < 2; i++) {
        medley_dataset_free(kept[i]);
        medley_dataset_free(held_out[i]);
    }
    medley_dataset_free(dataset);
}

static void splits_that_leave_a_side_empty_are_refused(void **state)
{
    (void)state;
    medley_dataset *dataset = everything(5, false, 1);
    medley_dataset *kept = NULL;
    medley_dataset *held_out = NULL;
    static const double fractions[] = {0, 1, -0.5, 0.01, 0.99, (double)NAN};
    for (size_t i = 0; i < sizeof fractions / sizeof *fractions; i++) {
        medley_error error = {0};
        assert_int_equal(medley_dataset_split(&kept, &held_out, dataset, fractions[i], 1, &error),
                         MEDLEY_USAGE);
        assert_true(error.message[0] != '\0' && kept == NULL && held_out == NULL);
    }
    medley_dataset_free(dataset);
}

static void rows_of_sparse_tables_come_out_dense(void **state)
{
    (void)state;
    medley_dataset *dataset;
    assert_int_equal(medley_dataset_create(&dataset, NULL), MEDLEY_OK);
    dataset->rows = 4;
    add_sparse_table(dataset);
    float values[5];
    medley_dataset_row(values, dataset, 2);
    assert_true(values[2] == 2.5f && values[0] == 0 && values[4] == 0);
    size_t height = 9;
    size_t width = 9;
    assert_false(medley_dataset_image_shape(&height, &width, dataset));
    dataset->tables[0].height = 1;
    dataset->tables[0].width = 5;
    assert_true(medley_dataset_image_shape(&height, &width, dataset));
    assert_int_equal(height, 1);
    assert_int_equal(width, 5);
    medley_dataset_free(dataset);
    medley_dataset_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(selecting_rows_carries_everything),
        cmocka_unit_test(folds_follow_the_fold_column),
        cmocka_unit_test(parts_of_a_division_are_stratified_and_always_the_same),
        cmocka_unit_test(parts_of_a_division_keep_sequences_whole),
        cmocka_unit_test(wrong_folds_are_refused_with_a_remedy),
        cmocka_unit_test(samples_keep_the_order_and_depend_on_the_seed),
        cmocka_unit_test(splits_are_stratified_and_lose_nothing),
        cmocka_unit_test(splits_of_numbers_that_do_not_repeat_depend_on_the_seed),
        cmocka_unit_test(splits_that_leave_a_side_empty_are_refused),
        cmocka_unit_test(rows_of_sparse_tables_come_out_dense),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
