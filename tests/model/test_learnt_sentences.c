/* SPDX-License-Identifier: BSD-3-Clause */
/* Generated sentences go to files and come back, and what is learnt from one seed reads the
 * sentences of another one well, but not all of them. */
#include "fit/fitting.h"

#include "data/dataset.h"
#include "io/reading.h"

static medley_dataset *sentences(const char *name, size_t rows, uint64_t seed)
{
    return make_data(name, rows, seed);
}

static void assert_strings_equal(const md_strings *a, const md_strings *b)
{
    assert_int_equal(a->count, b->count);
    for (size_t i = 0; i < a->count; i++)
        assert_string_equal(a->items[i], b->items[i]);
}

static medley_dataset *written_and_read(const medley_dataset *dataset, const char *ending)
{
    char path[READING_PATH_SIZE];
    medley_error error = {0};
    medley_dataset *back = NULL;
    reading_write(path, ending, "", 0);
    if (medley_dataset_write(dataset, path, NULL, &error) != MEDLEY_OK ||
        medley_dataset_read(&back, path, NULL, &error) != MEDLEY_OK)
        fail_msg("%s", error.message);
    unlink(path);
    return back;
}

/* Without a format and with a name that tells none they are written in their own. */
static void generated_sentences_come_back_from_files(void **state)
{
    (void)state;
    static const char *const names[] = {"tagged", "tagged", "treebank", "treebank"};
    static const char *const endings[] = {".txt", ".conll.gz", ".conllu", ".txt.gz"};
    for (size_t i = 0; i < 4; i++) {
        medley_dataset *made = sentences(names[i], 40, 4);
        medley_dataset *back = written_and_read(made, endings[i]);
        assert_string_equal(made->format, back->format);
        assert_int_equal(made->rows, back->rows);
        assert_int_equal(made->sequence_count, back->sequence_count);
        assert_memory_equal(made->sequence_start, back->sequence_start,
                            (made->sequence_count + 1) * sizeof *made->sequence_start);
        assert_int_equal(made->token_columns, back->token_columns);
        for (size_t c = 0; c < made->token_columns; c++)
            assert_strings_equal(&made->token_values[c], &back->token_values[c]);
        assert_memory_equal(made->token, back->token,
                            made->rows * made->token_columns * sizeof *made->token);
        assert_strings_equal(&made->label_names, &back->label_names);
        assert_memory_equal(made->label, back->label, made->rows * sizeof *made->label);
        assert_int_equal(made->label_column, back->label_column);
        assert_int_equal(made->head != NULL, back->head != NULL);
        if (made->head != NULL)
            assert_memory_equal(made->head, back->head, made->rows * sizeof *made->head);
        medley_dataset_free(made);
        medley_dataset_free(back);
    }
}

static void tagged_words_are_no_treebank(void **state)
{
    (void)state;
    char path[READING_PATH_SIZE];
    medley_error error = {0};
    medley_dataset *tagged = sentences("tagged", 5, 1);
    reading_write(path, ".conllu", "", 0);
    assert_int_equal(medley_dataset_write(tagged, path, NULL, &error), MEDLEY_USAGE);
    error = (medley_error){0};
    assert_int_equal(medley_dataset_write(tagged, path, "csv", &error), MEDLEY_USAGE);
    unlink(path);
    medley_dataset_free(tagged);
}

/* What is predicted of generated data is written as of data that were read. */
static void predictions_are_written_as_of_files(void **state)
{
    (void)state;
    medley_dataset *train = sentences("tagged", 60, 1);
    medley_dataset *made = sentences("tagged", 10, 2);
    medley_dataset *back = written_and_read(made, ".txt");
    medley_model *model = fit(train, NULL, "template=chunk epochs=2");
    medley_dataset *both[2] = {made, back};
    char *bytes[2];
    size_t lengths[2];
    for (size_t i = 0; i < 2; i++) {
        char path[READING_PATH_SIZE];
        medley_error error = {0};
        medley_prediction *prediction = predict(model, both[i]);
        reading_write(path, "", "", 0);
        assert_int_equal(medley_prediction_write(prediction, model, both[i], path, &error),
                         MEDLEY_OK);
        bytes[i] = read_bytes(path, &lengths[i]);
        unlink(path);
        medley_prediction_free(prediction);
    }
    assert_int_equal(lengths[0], lengths[1]);
    assert_memory_equal(bytes[0], bytes[1], lengths[0]);
    free(bytes[0]);
    free(bytes[1]);
    medley_model_free(model);
    medley_dataset_free(train);
    medley_dataset_free(made);
    medley_dataset_free(back);
}

static void phrases_of_new_sentences_are_found_but_not_all(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 2; seed++) {
        medley_dataset *train = sentences("tagged", 200, seed);
        medley_dataset *test = sentences("tagged", 200, 100 + seed);
        medley_model *model = fit(train, NULL, "template=chunk");
        const double accuracy = accuracy_of(model, test);
        if (!(accuracy > 0.95 && accuracy < 0.995))
            fail_msg("accuracy %g", accuracy);
        medley_model_free(model);
        medley_dataset_free(train);
        medley_dataset_free(test);
    }
}

static void trees_of_new_sentences_are_found_but_not_all(void **state)
{
    (void)state;
    medley_dataset *train = sentences("treebank", 60, 1);
    medley_dataset *test = sentences("treebank", 60, 2);
    medley_model *model = fit(train, NULL, "epochs=3 hash-bits=14");
    medley_evaluation evaluation = MEDLEY_EVALUATION_INIT;
    medley_error error = {0};
    assert_true(medley_model_is_parser(model));
    assert_int_equal(medley_evaluate(&evaluation, model, test, 1, &error), MEDLEY_OK);
    if (!(evaluation.uas > 0.8 && evaluation.uas < 0.97 && evaluation.las > 0.75 &&
          evaluation.las < evaluation.uas))
        fail_msg("UAS %g, LAS %g", evaluation.uas, evaluation.las);
    medley_evaluation_clear(&evaluation);
    medley_model_free(model);
    medley_dataset_free(train);
    medley_dataset_free(test);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(generated_sentences_come_back_from_files),
        cmocka_unit_test(tagged_words_are_no_treebank),
        cmocka_unit_test(predictions_are_written_as_of_files),
        cmocka_unit_test(phrases_of_new_sentences_are_found_but_not_all),
        cmocka_unit_test(trees_of_new_sentences_are_found_but_not_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
