/* SPDX-License-Identifier: BSD-3-Clause */
/* Models of coefficients without blocks, as batch methods make them: f(x) = sum_m K_m(x, .) a_m +
 * bias for numbers, for the second of two labels, and for each label against the rest. */
#include "model/model_cases.h"

enum { TRAINING = 25, NEW = 9, SEEDS = 3 };

static const case_origin origins[] = {NUMBERS, TWO_LABELS, EACH_LABEL};
enum { ORIGINS = sizeof origins / sizeof *origins };

static const char KERNELS[] = "kernel=linear kernel=rbf(sigma2=2) kernel=poly(degree=2)";

/* The third kernel is left out by plain_fill. */
static double kernel_value(size_t m, const double *x, const double *z)
{
    double product = 0;
    double distance2 = 0;
    for (size_t c = 0; c < CASE_COLUMNS; c++) {
        product += x[c] * z[c];
        distance2 += (x[c] - z[c]) * (x[c] - z[c]);
    }
    return m == 0 ? product : exp(-distance2 / 4);
}

static double output_of(const struct plain *plain, const double *x, size_t o)
{
    const size_t outputs = plain->coefficients.outputs;
    double f = plain->bias[o];
    for (size_t m = 0; m < 2; m++)
        for (size_t r = 0; r < TRAINING; r++) {
            double z[CASE_COLUMNS];
            char label[2];
            case_row(r, z, label);
            f += plain->body[m][r * outputs + o] * kernel_value(m, x, z);
        }
    return f;
}

static double logistic(double f)
{
    return 1 / (1 + exp(-f));
}

static void make(struct plain *plain, case_origin origin, uint64_t seed)
{
    const struct model_case given = {DENSE, KERNELS, origin};
    plain_start(plain, &given, TRAINING);
    plain_fill(plain, origin, seed);
}

static medley_prediction *predict_how(const medley_model *model, const medley_dataset *dataset,
                                      bool probabilities, bool keep_labels)
{
    medley_prediction *prediction = NULL;
    medley_error error = {0};
    medley_predict_options options = MEDLEY_PREDICT_OPTIONS_INIT;
    options.threads = 1;
    options.probabilities = probabilities;
    options.keep_labels = keep_labels;
    if (medley_predict_with(&prediction, model, dataset, &options, &error) != MEDLEY_OK)
        fail_msg("%s", error.message);
    return prediction;
}

/* ---- predictions ---- */

static void check_row(const struct plain *plain, case_origin origin,
                      const medley_prediction *prediction, size_t r)
{
    double x[CASE_COLUMNS];
    double f[3];
    char label[2];
    const size_t outputs = plain->coefficients.outputs;
    case_row(TRAINING + r, x, label);
    for (size_t o = 0; o < outputs; o++)
        f[o] = output_of(plain, x, o);
    if (origin == NUMBERS) {
        assert_true(fabs(prediction->value[r] - f[0]) < 2e-5);
        return;
    }
    const float *score = prediction->score + r * prediction->labels;
    if (origin == TWO_LABELS) {
        assert_true(score[0] == 0 && fabs((double)score[1] - f[0]) < 2e-5);
        assert_int_equal(prediction->label[r], score[1] > 0);
        return;
    }
    for (size_t l = 0; l < 3; l++) {
        assert_true(fabs((double)score[l] - f[l]) < 2e-5);
        assert_true(score[prediction->label[r]] >= score[l]);
    }
}

static void outputs_are_the_expansion_and_the_bias(void **state)
{
    (void)state;
    medley_dataset *fresh = case_dense(TRAINING, NEW);
    for (size_t i = 0; i < ORIGINS * SEEDS; i++) {
        struct plain plain;
        const case_origin origin = origins[i % ORIGINS];
        make(&plain, origin, i);
        medley_model *model = plain_build(&plain);
        medley_prediction *prediction = predict(model, fresh);
        assert_int_equal(medley_model_is_regression(model), origin == NUMBERS);
        assert_int_equal(prediction->labels, origin == NUMBERS ? 0 : origin == TWO_LABELS ? 2 : 3);
        assert_int_equal(prediction->value != NULL, origin == NUMBERS);
        assert_int_equal(prediction->label != NULL, origin != NUMBERS);
        for (size_t r = 0; r < NEW; r++)
            check_row(&plain, origin, prediction, r);
        medley_prediction_free(prediction);
        medley_model_free(model);
        plain_clear(&plain);
    }
    medley_dataset_free(fresh);
}

static void threads_do_not_change_numbers(void **state)
{
    (void)state;
    medley_dataset *fresh = case_dense(TRAINING, CASE_ROWS_MOST);
    struct plain plain;
    make(&plain, NUMBERS, 5);
    medley_model *model = plain_build(&plain);
    medley_prediction *one = predict(model, fresh);
    for (size_t threads = 2; threads < 6; threads++) {
        medley_prediction *many = NULL;
        medley_error error = {0};
        assert_int_equal(medley_predict(&many, model, fresh, threads, &error), MEDLEY_OK);
        assert_true(same_predictions(one, many));
        medley_prediction_free(many);
    }
    medley_prediction_free(one);
    medley_model_free(model);
    plain_clear(&plain);
    medley_dataset_free(fresh);
}

/* Two labels: the logistic function of f. Each against the rest: that of each, divided by their
 * sum; also where exponentials are no numbers. */
static void probabilities_are_logistic(void **state)
{
    (void)state;
    medley_dataset *fresh = case_dense(TRAINING, NEW);
    for (size_t i = 0; i < 4; i++) {
        struct plain plain;
        make(&plain, origins[1 + i % 2], i);
        medley_model *model = plain_build(&plain);
        for (size_t t = 0; i >= 2 && t < model->term_count; t++)
            model->terms[t].factor = 1e4;
        medley_prediction *scores = predict(model, fresh);
        medley_prediction *found = predict_how(model, fresh, true, false);
        const size_t labels = found->labels;
        for (size_t r = 0; r < NEW; r++) {
            double total = 0;
            double sum = 0;
            for (size_t l = 0; l < labels; l++)
                total += logistic((double)scores->score[r * labels + l]);
            for (size_t l = 0; l < labels; l++) {
                const double p = (double)found->score[r * labels + l];
                const double f = (double)scores->score[r * labels + l];
                const double expected = labels == 2
                                            ? logistic(l ? f : -(double)scores->score[2 * r + 1])
                                            : logistic(f) / total;
                assert_true(p >= 0 && p <= 1);
                assert_true(total < 1e-100 || fabs(p - expected) < 1e-5);
                sum += p;
            }
            assert_true(fabs(sum - 1) < 1e-5);
            assert_int_equal(found->label[r], scores->label[r]);
        }
        medley_prediction_free(scores);
        medley_prediction_free(found);
        medley_model_free(model);
        plain_clear(&plain);
    }
    medley_dataset_free(fresh);
}

static void labels_that_are_given_stay(void **state)
{
    (void)state;
    medley_dataset *fresh = case_dense(TRAINING, NEW);
    for (size_t i = 1; i < ORIGINS; i++) {
        struct plain plain;
        make(&plain, origins[i], 3);
        if (origins[i] == TWO_LABELS)
            keep_two_labels(fresh);
        medley_model *model = plain_build(&plain);
        medley_prediction *found = predict_how(model, fresh, true, true);
        for (size_t r = 0; r < NEW; r++) {
            assert_int_equal(found->label[r], fresh->label[r]);
            assert_true(found->score[r * found->labels + (size_t)fresh->label[r]] > 0.9999f);
        }
        medley_prediction_free(found);
        medley_model_free(model);
        plain_clear(&plain);
        medley_dataset_free(fresh);
        fresh = case_dense(TRAINING, NEW);
    }
    medley_dataset_free(fresh);
}

/* ---- what is kept ---- */

static void check_support(const struct plain *plain, const medley_model *model, bool all)
{
    const size_t outputs = plain->coefficients.outputs;
    size_t place = 0;
    for (size_t r = 0; r < TRAINING; r++) {
        if (!all && r % 4 == 1)
            continue;
        assert_true(place < model->support_count);
        assert_int_equal(model->support_row[place], r);
        for (size_t m = 0; m < 2; m++)
            assert_memory_equal(model->bodies[m].float64 + place * outputs,
                                plain->body[m] + r * outputs, outputs * sizeof(double));
        place++;
    }
    assert_int_equal(model->support_count, place);
}

/* Nothing of them is lost on the way through a file, and all rows are kept only where a mean is
 * over all of them. */
static void coefficients_are_kept_to_the_last_bit(void **state)
{
    (void)state;
    for (size_t i = 0; i < 2 * ORIGINS; i++) {
        struct plain plain;
        char options[128];
        char path[PATH_SIZE];
        medley_error error = {0};
        medley_model *loaded = NULL;
        snprintf(options, sizeof options, "%s normalize=%s", KERNELS,
                 i < ORIGINS ? "diag" : "center");
        const struct model_case given = {DENSE, options, origins[i % ORIGINS]};
        plain_start(&plain, &given, TRAINING);
        plain_fill(&plain, given.origin, i);
        medley_model *model = plain_build(&plain);
        check_support(&plain, model, i >= ORIGINS);
        temporary_path(path);
        assert_int_equal(medley_model_save(model, path, &error), MEDLEY_OK);
        assert_int_equal(medley_model_load(&loaded, path, &error), MEDLEY_OK);
        check_support(&plain, loaded, i >= ORIGINS);
        assert_memory_equal(loaded->bias, plain.bias, plain.coefficients.outputs * sizeof(double));
        unlink(path);
        medley_model_free(model);
        medley_model_free(loaded);
        plain_clear(&plain);
    }
}

static void every_kernel_and_the_certificate_are_described(void **state)
{
    (void)state;
    struct plain plain;
    make(&plain, NUMBERS, 4);
    medley_model *model = plain_build(&plain);
    const medley_summary *s = medley_model_summary(model);
    double beta[3];
    md_penalty_weights(plain.problem.penalty, plain.norm, 3, beta);
    assert_int_equal(s->block_count, 3);
    assert_int_equal(s->active_blocks, 2);
    for (size_t m = 0; m < 3; m++) {
        assert_string_equal(s->blocks[m].name, plain.problem.bank.kernels[m].name);
        assert_true(s->blocks[m].norm == plain.norm[m] && s->blocks[m].weight == beta[m]);
        assert_int_equal(s->blocks[m].features, m == 2 ? 0 : TRAINING - 6);
    }
    assert_string_equal(s->task, "regression");
    assert_string_equal(s->loss, "squared");
    assert_true(s->objective == 0.25 && s->dual == 0.2 && s->gap == 0.2 && s->converged);
    assert_true(s->bias == plain.bias[0]);
    assert_int_equal(s->iterations, 7);
    assert_int_equal(s->newton_steps, 11);
    assert_int_equal(s->passes, 3);
    assert_true(isnan(s->epochs[0].gap) && s->epochs[1].gap == 0.2 && s->epochs[1].dual == 0.2);
    assert_int_equal(s->epochs[1].active, 2);
    assert_int_equal(medley_model_label_count(model), 0);
    assert_null(medley_model_label_name(model, 0));
    medley_model_free(model);
    plain_clear(&plain);
}

/* A kernel with coefficients and no length, or the other way round, is not there. */
static void kernels_without_length_or_coefficients_are_left_out(void **state)
{
    (void)state;
    struct plain plain;
    make(&plain, NUMBERS, 4);
    plain.norm[0] = 0;
    plain.norm[2] = 1;
    medley_model *model = plain_build(&plain);
    assert_int_equal(model->term_count, 1);
    assert_int_equal(medley_model_summary(model)->active_blocks, 1);
    assert_true(medley_model_summary(model)->blocks[1].weight == 1);
    medley_model_free(model);
    plain_clear(&plain);
}

static void a_model_without_kernels_predicts_its_bias(void **state)
{
    (void)state;
    medley_dataset *fresh = case_dense(TRAINING, NEW);
    for (size_t i = 0; i < ORIGINS; i++) {
        struct plain plain;
        size_t length;
        make(&plain, origins[i], 6);
        memset(plain.norm, 0, sizeof plain.norm);
        medley_model *model = plain_build(&plain);
        medley_prediction *prediction = predict(model, fresh);
        assert_int_equal(medley_model_summary(model)->active_blocks, 0);
        assert_int_equal(medley_model_summary(model)->support_rows, 0);
        for (size_t r = 0; r < NEW; r++)
            if (origins[i] == NUMBERS)
                assert_true(prediction->value[r] == plain.bias[0]);
            else
                assert_true(prediction->score[(r + 1) * prediction->labels - 1] ==
                            (float)plain.bias[plain.coefficients.outputs - 1]);
        char *bytes = model_bytes(model, &length);
        char path[PATH_SIZE];
        medley_error error = {0};
        medley_model *loaded = NULL;
        temporary_path(path);
        write_bytes(path, bytes, length);
        assert_int_equal(medley_model_load(&loaded, path, &error), MEDLEY_OK);
        unlink(path);
        medley_prediction *again = predict(loaded, fresh);
        assert_true(same_predictions(prediction, again));
        free(bytes);
        medley_prediction_free(prediction);
        medley_prediction_free(again);
        medley_model_free(model);
        medley_model_free(loaded);
        plain_clear(&plain);
    }
    medley_dataset_free(fresh);
}

/* A run that was stopped before anything was learnt. */
static void a_regression_of_nothing_predicts_zero(void **state)
{
    (void)state;
    medley_dataset *fresh = case_dense(TRAINING, NEW);
    struct plain plain;
    make(&plain, NUMBERS, 6);
    medley_model *model = NULL;
    medley_error error = {0};
    assert_int_equal(md_model_of_blocks(&model, &plain.problem, &(md_run_blocks){0},
                                        &(md_run_result){.eta0 = NAN, .objective = NAN}, &error),
                     MEDLEY_OK);
    medley_prediction *prediction = predict(model, fresh);
    for (size_t r = 0; r < NEW; r++)
        assert_true(prediction->value[r] == 0);
    medley_prediction_free(prediction);
    medley_model_free(model);
    plain_clear(&plain);
    medley_dataset_free(fresh);
}

static void explicit_weights_are_refused(void **state)
{
    (void)state;
    const struct model_case given = {DENSE, "kernel=rbf(auto) kernel=linear(explicit)", NUMBERS};
    struct plain plain;
    medley_model *model = NULL;
    medley_error error = {0};
    plain_start(&plain, &given, TRAINING);
    plain_fill(&plain, NUMBERS, 1);
    assert_int_equal(md_model_of_coefficients(&model, &plain.problem, &plain.coefficients,
                                              &plain.result, &error),
                     MEDLEY_NOT_SUPPORTED);
    assert_non_null(strstr(error.message, "linear(explicit)"));
    assert_null(model);
    plain_clear(&plain);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(outputs_are_the_expansion_and_the_bias),
        cmocka_unit_test(threads_do_not_change_numbers),
        cmocka_unit_test(probabilities_are_logistic),
        cmocka_unit_test(labels_that_are_given_stay),
        cmocka_unit_test(coefficients_are_kept_to_the_last_bit),
        cmocka_unit_test(every_kernel_and_the_certificate_are_described),
        cmocka_unit_test(kernels_without_length_or_coefficients_are_left_out),
        cmocka_unit_test(a_model_without_kernels_predicts_its_bias),
        cmocka_unit_test(a_regression_of_nothing_predicts_zero),
        cmocka_unit_test(explicit_weights_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
