/* SPDX-License-Identifier: BSD-3-Clause */
/* What prediction on sequences offers beyond labels: probabilities, the best few outputs, labels
 * that are given; held against the scores of all outputs, listed one by one. */
#include "fit/tagging.h"
#include "fit/tiny_model.h"

static const double TOLERANCE = 1e-4; /* scores are single precision */

static medley_prediction *predict_with(const medley_model *model, const medley_dataset *dataset,
                                       medley_predict_options options)
{
    medley_prediction *prediction = NULL;
    medley_error error = {0};
    options.struct_size = sizeof options;
    if (medley_predict_with(&prediction, model, dataset, &options, &error) != MEDLEY_OK)
        fail_msg("%s", error.message);
    return prediction;
}

/* ---- against all outputs ---- */

struct case_of {
    struct tiny_kind kind;
    const char *options;
};

static void check_marginals(const struct tiny_data *data, const double *theta, size_t e,
                            const medley_prediction *prediction)
{
    double expected[LONGEST][MOST_LABELS] = {{0}};
    double total = 0;
    int32_t y[LONGEST] = {0};
    for (size_t n = 0; output_at(data, e, n, y); n++) {
        const double mass = exp(score_of(data, theta, e, y));
        total += mass;
        for (size_t i = 0; i < length_of(data, e); i++)
            expected[i][y[i]] += mass;
    }
    for (size_t i = 0; i < length_of(data, e); i++)
        for (size_t l = 0; l < data->kind.labels; l++) {
            const size_t at = (data->start[e] + i) * data->kind.labels + l;
            assert_true(fabs((double)prediction->score[at] - expected[i][l] / total) < TOLERANCE);
        }
}

/* The score of the k-th best output, counted from 0. */
static double kth_score(const struct tiny_data *data, const double *theta, size_t e, size_t k,
                        size_t *count)
{
    double scores[MOST_LABELS * MOST_LABELS * MOST_LABELS * MOST_LABELS];
    int32_t y[LONGEST] = {0};
    *count = 0;
    for (size_t n = 0; output_at(data, e, n, y); n++) {
        const double score = score_of(data, theta, e, y);
        size_t place = (*count)++;
        for (; place > 0 && scores[place - 1] < score; place--)
            scores[place] = scores[place - 1];
        scores[place] = score;
    }
    return k < *count ? scores[k] : NAN;
}

static void check_best(const struct tiny_data *data, const double *theta, size_t e,
                       const medley_prediction *prediction)
{
    for (size_t k = 0; k < prediction->best; k++) {
        size_t count;
        const double expected = kth_score(data, theta, e, k, &count);
        const double found = prediction->best_score[e * prediction->best + k];
        const int32_t *y = prediction->best_label + k * prediction->rows + data->start[e];
        if (k >= count) {
            assert_true(isnan(found));
            assert_int_equal(y[0], -1);
            continue;
        }
        assert_true(fabs(found - expected) < TOLERANCE * (1 + fabs(expected)));
        assert_true(fabs(score_of(data, theta, e, y) - found) < TOLERANCE * (1 + fabs(found)));
        if (k == 0)
            assert_memory_equal(y, prediction->label + data->start[e],
                                length_of(data, e) * sizeof *y);
        else
            assert_true(found <= prediction->best_score[e * prediction->best + k - 1]);
    }
}

/* With the labels of every other row given, the best of the outputs that agree with them. */
static void check_given(const struct tiny_data *data, const double *theta, size_t e,
                        const medley_dataset *dataset, const medley_prediction *prediction)
{
    double most = -INFINITY;
    int32_t y[LONGEST] = {0};
    const int32_t *found = prediction->label + data->start[e];
    for (size_t n = 0; output_at(data, e, n, y); n++) {
        bool agrees = true;
        for (size_t i = 0; i < length_of(data, e); i++) {
            const int32_t given = dataset->label[data->start[e] + i];
            agrees = agrees && (given < 0 || given == y[i]);
        }
        most = agrees ? fmax(most, score_of(data, theta, e, y)) : most;
    }
    for (size_t i = 0; i < length_of(data, e); i++) {
        const size_t row = data->start[e] + i;
        const int32_t given = dataset->label[row];
        assert_true(given < 0 || given == found[i]);
        assert_true(given < 0 ||
                    prediction->score[row * prediction->labels + (size_t)given] > 0.999f);
        for (size_t k = 0; k < prediction->best; k++) {
            const int32_t other = prediction->best_label[k * prediction->rows + row];
            assert_true(given < 0 || other < 0 || given == other);
            assert_true(k > 0 || other == found[i]);
        }
    }
    assert_true(fabs(score_of(data, theta, e, found) - most) < TOLERANCE * (1 + fabs(most)));
}

static void check_case(const struct case_of *c)
{
    struct tiny_data data;
    double theta[MOST_WEIGHTS];
    draw_tiny_data(&data, &c->kind, 31);
    medley_dataset *dataset = tiny_dataset(&data);
    medley_model *model = fit(dataset, NULL, c->options);
    read_model(model, &data, theta);
    for (size_t r = 0; r < data.rows; r++) /* wrong on purpose, or not there */
        dataset->label[r] = r % 2 ? -1 : (data.gold[r] + (int32_t)(r / 2 % 2)) % 3;
    medley_prediction *few =
        predict_with(model, dataset, (medley_predict_options){.best = 20, .threads = 1});
    medley_prediction *probable = predict_with(
        model, dataset, (medley_predict_options){.probabilities = true, .threads = 2, .best = 2});
    medley_prediction *given =
        predict_with(model, dataset,
                     (medley_predict_options){
                         .keep_labels = true, .threads = 1, .best = 5, .probabilities = true});
    assert_int_equal(few->sequences, c->kind.examples);
    assert_memory_equal(few->label, probable->label, data.rows * sizeof *few->label);
    for (size_t e = 0; e < c->kind.examples; e++) {
        check_best(&data, theta, e, few);
        check_best(&data, theta, e, probable);
        check_marginals(&data, theta, e, probable);
        check_given(&data, theta, e, dataset, given);
    }
    medley_prediction_free(few);
    medley_prediction_free(probable);
    medley_prediction_free(given);
    medley_model_free(model);
    medley_dataset_free(dataset);
}

static void predictions_are_those_of_all_outputs(void **state)
{
    (void)state;
    static const struct case_of cases[] = {
        {{.labels = 3, .examples = 9, .chain = true, .order = 1, .bigram_scale = 1},
         "epochs=20 eta0=1 kernel=poly(degree=1,offset=0)"},
        {{.labels = 3, .examples = 9, .chain = true, .order = 1, .bigram_scale = 1},
         "epochs=20 eta0=1 kernel=linear(explicit) bigram=learned loss=logistic C=100"},
        {{.labels = 3, .examples = 9, .chain = true, .ends = true, .order = 2, .bigram_scale = 2},
         "epochs=20 eta0=1 kernel=linear order=2 bigram-ends=yes bigram-scale=2"},
        {{.labels = 3, .examples = 9, .chain = true, .order = 0, .bigram_scale = 1},
         "epochs=20 eta0=1 kernel=linear bigram=none"},
        {{.labels = 3, .examples = 9, .order = 0, .bigram_scale = 1},
         "epochs=20 eta0=1 kernel=linear loss=logistic"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check_case(&cases[i]);
}

/* ---- larger ones ---- */

static void check_sound(const medley_prediction *prediction, const medley_prediction *plain)
{
    for (size_t r = 0; r < prediction->rows; r++) {
        double sum = 0;
        for (size_t l = 0; l < prediction->labels; l++) {
            const double p = (double)prediction->score[r * prediction->labels + l];
            assert_true(p >= 0 && p <= 1 + 1e-6);
            sum += p;
        }
        assert_true(fabs(sum - 1) < 1e-4);
        assert_int_equal(prediction->best_label[r], prediction->label[r]);
        assert_int_equal(prediction->label[r], plain->label[r]);
    }
    for (size_t i = 0; i < prediction->sequences * prediction->best; i++)
        if (i % prediction->best > 0 && !isnan(prediction->best_score[i]))
            assert_true(prediction->best_score[i] <= prediction->best_score[i - 1]);
}

static void probabilities_and_lists_are_sound_on_words_and_tags(void **state)
{
    (void)state;
    static const char *const orders[] = {"order=1", "order=2 loss=logistic"};
    medley_dataset *words = make_data("handwriting", 40, 9);
    medley_dataset *tags = switching_tags(60, 9);
    const medley_predict_options all = {.probabilities = true, .best = 5, .threads = 2};
    for (size_t i = 0; i < 2; i++) {
        char options[128];
        snprintf(options, sizeof options, "%s epochs=3 eta0=1 kernel=rbf(sigma2=5)", orders[i]);
        medley_model *models[] = {
            fit(words, NULL, options),
            fit_tagged(tags, "U00:%x[0,0]\nB00:%x[0,0]\n",
                       strstr(orders[i], "loss") ? "epochs=3 order=2" : "epochs=3")};
        for (size_t m = 0; m < 2; m++) {
            const medley_dataset *data = m == 0 ? words : tags;
            medley_prediction *prediction = predict_with(models[m], data, all);
            medley_prediction *plain = predict(models[m], data);
            check_sound(prediction, plain);
            medley_prediction_free(prediction);
            medley_prediction_free(plain);
            medley_model_free(models[m]);
        }
    }
    medley_dataset_free(words);
    medley_dataset_free(tags);
}

static void more_than_twenty_outputs_are_refused(void **state)
{
    (void)state;
    medley_dataset *tags = alternating_tags(20, 3);
    medley_model *model = fit_tagged(tags, "U00:%x[0,0]\nB\n", "epochs=2 eta0=1");
    medley_prediction *prediction = NULL;
    medley_error error = {0};
    medley_predict_options options = MEDLEY_PREDICT_OPTIONS_INIT;
    options.best = 21;
    assert_int_equal(medley_predict_with(&prediction, model, tags, &options, &error), MEDLEY_USAGE);
    assert_non_null(strstr(error.message, "20"));
    assert_null(prediction);
    medley_model_free(model);
    medley_dataset_free(tags);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(predictions_are_those_of_all_outputs),
        cmocka_unit_test(probabilities_and_lists_are_sound_on_words_and_tags),
        cmocka_unit_test(more_than_twenty_outputs_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
