/* SPDX-License-Identifier: BSD-3-Clause */
/* Prediction and evaluation: scores as the expansion defines them, labels the model has never seen,
 * data that do not fit, probabilities, empty models. */
#include "model/model_cases.h"

#include "model/model.h"

enum { TRAINING = 30, NEW = 17 };

/* ---- scores ---- */

/* f(x)_l = sum over support rows of K(x, z) a_l, by hand for one linear kernel. */
static void scores_are_the_kernel_expansion(void **state)
{
    (void)state;
    const struct model_case linear = {DENSE, "kernel=linear loss=logistic"};
    medley_model *model = case_model(&linear, TRAINING);
    medley_dataset *fresh = case_dense(TRAINING, NEW);
    medley_prediction *prediction = predict(model, fresh);
    assert_int_equal(prediction->rows, NEW);
    assert_int_equal(prediction->labels, 3);
    for (size_t r = 0; r < NEW; r++) {
        double x[CASE_COLUMNS];
        double best = -INFINITY;
        char label[2];
        case_row(TRAINING + r, x, label);
        for (size_t l = 0; l < 3; l++) {
            double sum = 0;
            for (size_t s = 0; s < model->support_count; s++) {
                double z[CASE_COLUMNS];
                double product = 0;
                case_row(model->support_row[s], z, label);
                for (size_t c = 0; c < CASE_COLUMNS; c++)
                    product += x[c] * z[c];
                sum += product * (double)model->bodies[0].values[s * 3 + l];
            }
            assert_true(fabs(sum - (double)prediction->score[r * 3 + l]) < 1e-4);
            best = fmax(best, (double)prediction->score[r * 3 + l]);
        }
        assert_true((double)prediction->score[r * 3 + (size_t)prediction->label[r]] == best);
    }
    medley_prediction_free(prediction);
    medley_dataset_free(fresh);
    medley_model_free(model);
}

/* Explicit weights and the linear kernel are two ways to write one function. */
static void explicit_weights_score_like_the_linear_kernel(void **state)
{
    (void)state;
    for (int kind = DENSE; kind <= SPARSE; kind++) {
        const struct model_case cases[2] = {
            {(case_data)kind, "kernel=linear penalty=l2"},
            {(case_data)kind, "kernel=linear(explicit) penalty=l2"}};
        medley_dataset *fresh = case_dataset((case_data)kind, TRAINING, NEW, TRAINING);
        medley_prediction *predictions[2];
        for (size_t i = 0; i < 2; i++) {
            medley_model *model = case_model(&cases[i], TRAINING);
            predictions[i] = predict(model, fresh);
            medley_model_free(model);
        }
        for (size_t i = 0; i < (size_t)NEW * 3; i++)
            assert_true(fabsf(predictions[0]->score[i] - predictions[1]->score[i]) < 1e-3f);
        medley_prediction_free(predictions[0]);
        medley_prediction_free(predictions[1]);
        medley_dataset_free(fresh);
    }
}

static void threads_do_not_change_scores(void **state)
{
    (void)state;
    medley_dataset *train = make_data("waveform", 80, 1);
    medley_dataset *test = make_data("waveform", 700, 2);
    medley_model *model = fit(train, NULL, "epochs=3 eta0=1");
    medley_prediction *one = predict(model, test);
    for (size_t threads = 0; threads < 6; threads += 2) {
        medley_prediction *many = NULL;
        medley_error error = {0};
        assert_int_equal(medley_predict(&many, model, test, threads, &error), MEDLEY_OK);
        assert_memory_equal(one->score, many->score, (size_t)700 * 3 * sizeof *one->score);
        medley_prediction_free(many);
    }
    medley_prediction_free(one);
    medley_model_free(model);
    medley_dataset_free(train);
    medley_dataset_free(test);
}

/* The rows of a prediction do not depend on which other rows stand beside them. */
static void a_row_scores_alike_alone_and_in_company(void **state)
{
    (void)state;
    for (size_t i = 0; i < MODEL_CASES; i++) {
        medley_model *model = case_model(&model_cases[i], TRAINING);
        medley_dataset *all = case_dataset(model_cases[i].kind, TRAINING, NEW, TRAINING);
        medley_dataset *last = case_dataset(model_cases[i].kind, TRAINING + NEW - 1, 1, TRAINING);
        medley_prediction *together = predict(model, all);
        medley_prediction *alone = predict(model, last);
        for (size_t l = 0; l < 3; l++)
            assert_true(fabsf(together->score[(NEW - 1) * 3 + l] - alone->score[l]) < 1e-4f);
        medley_prediction_free(together);
        medley_prediction_free(alone);
        medley_dataset_free(all);
        medley_dataset_free(last);
        medley_model_free(model);
    }
}

/* ---- probabilities ---- */

static void probabilities_sum_to_one(void **state)
{
    (void)state;
    medley_model *model = case_model(&model_cases[0], TRAINING);
    medley_dataset *fresh = case_dense(TRAINING, NEW);
    medley_prediction *scores = predict(model, fresh);
    medley_prediction *probabilities = predict(model, fresh);
    probabilities->score[0] = 1e6f; /* no overflow */
    scores->score[0] = 1e6f;
    medley_prediction_probabilities(probabilities);
    for (size_t r = 0; r < NEW; r++) {
        double sum = 0;
        for (size_t l = 0; l < 3; l++) {
            const float p = probabilities->score[r * 3 + l];
            assert_true(p >= 0 && p <= 1);
            sum += (double)p;
            for (size_t k = 0; k < 3; k++) /* the order stays */
                assert_true(scores->score[r * 3 + l] < scores->score[r * 3 + k] ||
                            p >= probabilities->score[r * 3 + k]);
        }
        assert_true(fabs(sum - 1) < 1e-6);
    }
    medley_prediction_free(scores);
    medley_prediction_free(probabilities);
    medley_dataset_free(fresh);
    medley_model_free(model);
}

/* ---- evaluation ---- */

static medley_dataset *labelled(const char *const *labels, size_t rows, size_t columns)
{
    medley_dataset *dataset = NULL;
    medley_error error = {0};
    double values[64];
    for (size_t i = 0; i < rows * columns; i++)
        values[i] = cos((double)i);
    assert_int_equal(medley_dataset_from_dense(&dataset, values, rows, columns, labels, &error),
                     MEDLEY_OK);
    return dataset;
}

static void labels_never_seen_count_as_wrong(void **state)
{
    (void)state;
    static const char *const labels[] = {"a", "zebra", "b", "zebra", "c", "yak"};
    medley_model *model = case_model(&model_cases[0], TRAINING);
    medley_dataset *dataset = labelled(labels, 6, CASE_COLUMNS);
    medley_evaluation evaluation;
    medley_error error = {0};
    assert_int_equal(medley_evaluate(&evaluation, model, dataset, 1, &error), MEDLEY_OK);
    assert_int_equal(evaluation.unknown_labels, 3);
    assert_int_equal(evaluation.examples, 6);
    assert_int_equal(evaluation.labels, 3);
    size_t counted = 0;
    size_t diagonal = 0;
    for (size_t i = 0; i < 9; i++) {
        counted += evaluation.confusion[i];
        diagonal += i % 4 == 0 ? evaluation.confusion[i] : 0;
    }
    assert_int_equal(counted, 3);
    assert_int_equal(diagonal, evaluation.correct);
    assert_true(evaluation.accuracy == (double)evaluation.correct / 6);
    assert_true(isnan(evaluation.exact_match));
    medley_evaluation_clear(&evaluation);
    medley_dataset_free(dataset);
    medley_model_free(model);
}

static void data_that_do_not_fit_are_refused(void **state)
{
    (void)state;
    static const char *const labels[] = {"a", "b", "c"};
    medley_model *model = case_model(&model_cases[0], TRAINING);
    medley_model *on_grams = case_model(&model_cases[15], TRAINING);
    medley_dataset *narrow = labelled(labels, 3, 2);
    medley_dataset *unlabelled = labelled(NULL, 3, CASE_COLUMNS);
    medley_dataset *wrong_size = case_grams(TRAINING, NEW, TRAINING - 1);
    medley_dataset *no_diagonal = case_grams(TRAINING, NEW, TRAINING);
    for (size_t k = 0; k < 2; k++) {
        free(no_diagonal->grams[k].diagonal);
        no_diagonal->grams[k].diagonal = NULL;
    }
    const struct {
        const medley_model *model;
        const medley_dataset *dataset;
        medley_status code;
        const char *phrase;
    } cases[] = {
        {model, narrow, MEDLEY_BAD_INPUT, "2 feature columns found, the model expects 4"},
        {model, wrong_size, MEDLEY_USAGE, "give DATA as well"},
        {model, unlabelled, MEDLEY_USAGE, "there are no labels to compare with"},
        {on_grams, narrow, MEDLEY_USAGE, "give --gram"},
        {on_grams, wrong_size, MEDLEY_BAD_INPUT, "29 columns, expected one for each of the 30"},
        {on_grams, no_diagonal, MEDLEY_USAGE, "--gram-diagonal"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        medley_evaluation evaluation;
        medley_error error = {0};
        assert_int_equal(medley_evaluate(&evaluation, cases[i].model, cases[i].dataset, 1, &error),
                         cases[i].code);
        if (strstr(error.message, cases[i].phrase) == NULL)
            fail_msg("'%s' does not say '%s'", error.message, cases[i].phrase);
        assert_null(evaluation.confusion);
    }
    medley_dataset_free(narrow);
    medley_dataset_free(unlabelled);
    medley_dataset_free(wrong_size);
    medley_dataset_free(no_diagonal);
    medley_model_free(model);
    medley_model_free(on_grams);
}

/* Words of letters, each letter predicted by itself: a word is right if all its letters are. */
static void words_count_as_right_without_an_error(void **state)
{
    (void)state;
    medley_dataset *words = make_data("handwriting", 12, 3);
    medley_model *model = fit(words, NULL, "epochs=1 eta0=1 kernel=linear");
    medley_prediction *prediction = predict(model, words);
    medley_evaluation evaluation;
    medley_error error = {0};
    assert_int_equal(medley_evaluate(&evaluation, model, words, 1, &error), MEDLEY_OK);
    size_t right = 0;
    size_t letters = 0;
    for (size_t s = 0; s < words->sequence_count; s++) {
        size_t wrong = 0;
        for (size_t r = words->sequence_start[s]; r < words->sequence_start[s + 1]; r++)
            wrong += prediction->label[r] != words->label[r];
        right += wrong == 0;
        letters += words->sequence_start[s + 1] - words->sequence_start[s] - wrong;
    }
    assert_int_equal(evaluation.examples, 12);
    assert_int_equal(evaluation.parts, words->rows);
    assert_int_equal(evaluation.correct, letters);
    assert_true(evaluation.exact_match == (double)right / 12);
    medley_evaluation_clear(&evaluation);
    medley_prediction_free(prediction);
    medley_model_free(model);
    medley_dataset_free(words);
}

/* ---- empty models ---- */

/* A penalty so strong that every block is zero. */
static void an_empty_model_predicts_and_travels(void **state)
{
    (void)state;
    static const case_data kinds[] = {DENSE, SPARSE, GRAMS};
    for (size_t i = 0; i < 3; i++) {
        const struct model_case strong = {kinds[i], "penalty=group-lasso lambda=1e6"};
        char path[PATH_SIZE];
        medley_error error = {0};
        medley_model *loaded = NULL;
        medley_model *model = case_model(&strong, TRAINING);
        medley_dataset *fresh = case_dataset(kinds[i], TRAINING, NEW, TRAINING);
        assert_int_equal(medley_model_summary(model)->active_blocks, 0);
        assert_int_equal(medley_model_summary(model)->support_rows, 0);
        temporary_path(path);
        assert_int_equal(medley_model_save(model, path, &error), MEDLEY_OK);
        assert_int_equal(medley_model_load(&loaded, path, &error), MEDLEY_OK);
        unlink(path);
        medley_prediction *prediction = predict(loaded, fresh);
        for (size_t j = 0; j < (size_t)NEW * 3; j++)
            assert_true(prediction->score[j] == 0);
        for (size_t r = 0; r < NEW; r++)
            assert_int_equal(prediction->label[r], 0);
        medley_prediction_probabilities(prediction);
        assert_true(fabsf(prediction->score[0] - 1.0f / 3) < 1e-6f);
        accuracy_of(model, fresh);
        medley_prediction_free(prediction);
        medley_dataset_free(fresh);
        medley_model_free(model);
        medley_model_free(loaded);
    }
}

static void models_tell_what_they_expect(void **state)
{
    (void)state;
    medley_model *model = case_model(&model_cases[0], TRAINING);
    assert_int_equal(medley_model_columns(model, ""), CASE_COLUMNS);
    assert_int_equal(medley_model_columns(model, "no such view"), 0);
    assert_int_equal(medley_model_label_count(model), 3);
    assert_string_equal(medley_model_label_name(model, 2), "c");
    assert_null(medley_model_label_name(model, 3));
    medley_model_free(model);
    medley_model_free(NULL);
    medley_prediction_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scores_are_the_kernel_expansion),
        cmocka_unit_test(explicit_weights_score_like_the_linear_kernel),
        cmocka_unit_test(threads_do_not_change_scores),
        cmocka_unit_test(a_row_scores_alike_alone_and_in_company),
        cmocka_unit_test(probabilities_sum_to_one),
        cmocka_unit_test(labels_never_seen_count_as_wrong),
        cmocka_unit_test(words_count_as_right_without_an_error),
        cmocka_unit_test(data_that_do_not_fit_are_refused),
        cmocka_unit_test(an_empty_model_predicts_and_travels),
        cmocka_unit_test(models_tell_what_they_expect),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
