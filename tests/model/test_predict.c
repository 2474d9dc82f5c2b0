/* SPDX-License-Identifier: BSD-3-Clause */
/* Prediction and evaluation: scores as the expansion defines them, labels the model has never seen,
 * data that do not fit, probabilities, empty models. */
#include "model/model_cases.h"

#include "model/model.h"

enum { TRAINING = 30, NEW = 17 };

/* ---- scores ---- */

/* f(x)_l = sum over support rows of K(x, z) a_l, by hand for one kernel, (<x,z> + 1)^2. */
static double expansion_of(const medley_model *model, const double x[CASE_COLUMNS], size_t l)
{
    double sum = 0;
    for (size_t s = 0; s < model->support_count; s++) {
        double z[CASE_COLUMNS];
        double product = 1;
        char label[2];
        case_row(model->support_row[s], z, label);
        for (size_t c = 0; c < CASE_COLUMNS; c++)
            product += x[c] * z[c];
        sum += product * product * (double)model->bodies[0].values[s * 3 + l];
    }
    return sum;
}

/* A linear kernel of few columns is kept as weights. */
static double weighted_sum_of(const medley_model *model, const double x[CASE_COLUMNS], size_t l)
{
    double sum = 0;
    for (size_t c = 0; c < CASE_COLUMNS; c++)
        sum += x[c] * (double)model->bodies[0].values[c * 3 + l];
    return sum;
}

static void scores_are_the_kernel_expansion(void **state)
{
    (void)state;
    static const struct model_case cases[] = {
        {DENSE, "kernel=poly(degree=2) loss=logistic", FITTED},
        {DENSE, "kernel=linear loss=logistic", FITTED}};
    for (size_t i = 0; i < 2; i++) {
        medley_model *model = case_model(&cases[i], TRAINING);
        medley_dataset *fresh = case_dense(TRAINING, NEW);
        medley_prediction *prediction = predict(model, fresh);
        assert_int_equal(prediction->rows, NEW);
        assert_int_equal(prediction->labels, 3);
        assert_int_equal(model->body_count, 1);
        for (size_t r = 0; r < NEW; r++) {
            double x[CASE_COLUMNS];
            double best = -INFINITY;
            char label[2];
            case_row(TRAINING + r, x, label);
            for (size_t l = 0; l < 3; l++) {
                const double found = (double)prediction->score[r * 3 + l];
                const double sum =
                    i == 0 ? expansion_of(model, x, l) : weighted_sum_of(model, x, l);
                assert_true(fabs(sum - found) < 1e-4);
                best = fmax(best, found);
            }
            assert_true((double)prediction->score[r * 3 + (size_t)prediction->label[r]] == best);
        }
        medley_prediction_free(prediction);
        medley_dataset_free(fresh);
        medley_model_free(model);
    }
}

/* Explicit weights, the linear kernel and the kernel expansion of it are ways to write one
 * function. */
static void explicit_weights_score_like_the_linear_kernel(void **state)
{
    (void)state;
    static const char *const ways[] = {"linear", "poly(degree=1,offset=0)", "linear(explicit)"};
    for (int kind = DENSE; kind <= SPARSE; kind++) {
        medley_dataset *fresh = case_dataset((case_data)kind, TRAINING, NEW, TRAINING);
        medley_prediction *predictions[3];
        for (size_t i = 0; i < 3; i++) {
            char options[96]; /* rates and rounds are chosen by the kind of features */
            snprintf(options, sizeof options, "kernel=%s penalty=l2 schedule=sqrt batch=1",
                     ways[i]);
            const struct model_case given = {(case_data)kind, options, FITTED};
            medley_model *model = case_model(&given, TRAINING);
            predictions[i] = predict(model, fresh);
            medley_model_free(model);
        }
        for (size_t i = 0; i < (size_t)NEW * 3; i++)
            for (size_t k = 1; k < 3; k++)
                assert_true(fabsf(predictions[0]->score[i] - predictions[k]->score[i]) < 1e-3f);
        for (size_t k = 0; k < 3; k++)
            medley_prediction_free(predictions[k]);
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

/* The rows of a prediction do not depend on which other rows stand beside them, unless in one
 * sequence. */
static void a_row_scores_alike_alone_and_in_company(void **state)
{
    (void)state;
    for (size_t i = 0; i < MODEL_CASES; i++) {
        if (has_sequences(model_cases[i].kind))
            continue;
        medley_model *model = case_model(&model_cases[i], TRAINING);
        medley_dataset *all = case_dataset(model_cases[i].kind, TRAINING, NEW, TRAINING);
        medley_dataset *last = case_dataset(model_cases[i].kind, TRAINING + NEW - 1, 1, TRAINING);
        medley_prediction *together = predict(model, all);
        medley_prediction *alone = predict(model, last);
        if (alone->score != NULL)
            assert_memory_equal(together->score + (NEW - 1) * alone->labels, alone->score,
                                alone->labels * sizeof *alone->score);
        if (alone->value != NULL)
            assert_true(together->value[NEW - 1] == alone->value[0]);
        medley_prediction_free(together);
        medley_prediction_free(alone);
        medley_dataset_free(all);
        medley_dataset_free(last);
        medley_model_free(model);
    }
}

/* ---- probabilities ---- */

static medley_prediction *predict_probabilities(const medley_model *model,
                                                const medley_dataset *dataset)
{
    medley_prediction *prediction = NULL;
    medley_error error = {0};
    medley_predict_options options = MEDLEY_PREDICT_OPTIONS_INIT;
    options.threads = 1;
    options.probabilities = true;
    if (medley_predict_with(&prediction, model, dataset, &options, &error) != MEDLEY_OK)
        fail_msg("%s", error.message);
    return prediction;
}

static void check_probabilities(const medley_prediction *scores,
                                const medley_prediction *probabilities)
{
    for (size_t r = 0; r < NEW; r++) {
        double sum = 0;
        double partition = 0;
        for (size_t l = 0; l < 3; l++)
            partition += exp((double)scores->score[r * 3 + l] -
                             (double)scores->score[r * 3 + (size_t)scores->label[r]]);
        for (size_t l = 0; l < 3; l++) {
            const float p = probabilities->score[r * 3 + l];
            assert_true(p >= 0 && p <= 1);
            sum += (double)p;
            for (size_t k = 0; k < 3; k++) /* the order stays */
                assert_true(scores->score[r * 3 + l] < scores->score[r * 3 + k] ||
                            p >= probabilities->score[r * 3 + k]);
        }
        assert_true(fabs(sum - 1) < 1e-6);
        const size_t best = (size_t)scores->label[r];
        assert_true(fabs((double)probabilities->score[r * 3 + best] - 1 / partition) < 1e-5);
        assert_int_equal(probabilities->label[r], scores->label[r]);
    }
}

/* Also where scores are so large that their exponentials are not numbers. */
static void probabilities_sum_to_one(void **state)
{
    (void)state;
    medley_model *model = case_model(&model_cases[0], TRAINING);
    medley_dataset *fresh = case_dense(TRAINING, NEW);
    for (int huge = 0; huge < 2; huge++) {
        for (size_t t = 0; huge && t < model->term_count; t++)
            model->terms[t].factor *= 1e6;
        medley_prediction *scores = predict(model, fresh);
        medley_prediction *probabilities = predict_probabilities(model, fresh);
        float largest = 0;
        for (size_t i = 0; i < (size_t)NEW * 3; i++)
            largest = fmaxf(largest, scores->score[i]);
        assert_int_equal(largest > 1e4f, huge);
        check_probabilities(scores, probabilities);
        medley_prediction_free(scores);
        medley_prediction_free(probabilities);
    }
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
    medley_evaluation evaluation = MEDLEY_EVALUATION_INIT;
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
        {model, wrong_size, MEDLEY_USAGE, "besides others (view 'all'); name that, too"},
        {model, unlabelled, MEDLEY_USAGE, "there are no labels to compare with"},
        {on_grams, narrow, MEDLEY_USAGE, "give `gram`"},
        {on_grams, wrong_size, MEDLEY_BAD_INPUT, "29 columns, expected one for each of the 30"},
        {on_grams, no_diagonal, MEDLEY_USAGE, "`gram-diagonal=FILE`"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        medley_evaluation evaluation = MEDLEY_EVALUATION_INIT;
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
    medley_evaluation evaluation = MEDLEY_EVALUATION_INIT;
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
    for (int i = 0; i < CASE_KINDS; i++) {
        const case_data kind = (case_data)i;
        const struct model_case strong = {
            kind,
            kind == TAGGED      ? "penalty=group-lasso lambda=1e6 template=chunk bigram=none"
            : kind == SEQUENCES ? "penalty=group-lasso lambda=1e6 bigram=learned"
                                : "penalty=group-lasso lambda=1e6",
            FITTED};
        char path[PATH_SIZE];
        medley_error error = {0};
        medley_model *loaded = NULL;
        medley_model *model = case_model(&strong, TRAINING);
        medley_dataset *fresh = case_dataset(kind, TRAINING, NEW, TRAINING);
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
        medley_prediction *probabilities = predict_probabilities(loaded, fresh);
        assert_true(fabsf(probabilities->score[0] - 1.0f / 3) < 1e-6f);
        accuracy_of(model, fresh);
        medley_prediction_free(prediction);
        medley_prediction_free(probabilities);
        medley_dataset_free(fresh);
        medley_model_free(model);
        medley_model_free(loaded);
    }
}

static void numbers_that_overflow_are_refused(void **state)
{
    (void)state;
    static const struct model_case given = {DENSE, "kernel=linear", FITTED};
    medley_model *model = case_model(&given, TRAINING);
    medley_dataset *fresh = NULL;
    medley_prediction *prediction = NULL;
    medley_error error = {0};
    const double values[2][CASE_COLUMNS] = {{0}, {100}};
    for (size_t l = 0; l < 3; l++)
        model->bodies[0].values[l] = 1e37F;
    assert_int_equal(medley_dataset_from_dense(&fresh, values[0], 2, CASE_COLUMNS, NULL, &error),
                     MEDLEY_OK);
    assert_int_equal(medley_predict(&prediction, model, fresh, 1, &error), MEDLEY_BAD_INPUT);
    assert_non_null(strstr(error.message, "row 2 is beyond the range of numbers"));
    assert_null(prediction);
    medley_dataset_free(fresh);
    medley_model_free(model);
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
        cmocka_unit_test(numbers_that_overflow_are_refused),
        cmocka_unit_test(models_tell_what_they_expect),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
