/* SPDX-License-Identifier: BSD-3-Clause */
/* Calibrated models: what they predict, how they are measured, and their files. */
#include "model/damage.h"

static const double OFFSETS[] = {0.75, -0.5, -0.25};

static void calibrate(medley_model *model, double factor, bool offsets)
{
    model->calibration.factor = factor;
    if (offsets) {
        const size_t labels = model->labels.count;
        model->calibration.offset = malloc(labels * sizeof(double));
        assert_non_null(model->calibration.offset);
        memcpy(model->calibration.offset, OFFSETS, labels * sizeof(double));
    }
    md_model_bind_summary(model);
}

static medley_prediction *probabilities_of(const medley_model *model, const medley_dataset *dataset,
                                           bool keep_labels)
{
    medley_prediction *prediction = NULL;
    medley_error error = {0};
    medley_predict_options wanted = MEDLEY_PREDICT_OPTIONS_INIT;
    wanted.threads = 1;
    wanted.probabilities = true;
    wanted.keep_labels = keep_labels;
    if (medley_predict_with(&prediction, model, dataset, &wanted, &error) != MEDLEY_OK)
        fail_msg("%s", error.message);
    return prediction;
}

/* ---- prediction ---- */

static double linked(const medley_model *model, double score)
{
    return model->link == MD_LINK_LOGISTIC ? -log(1 + exp(-score)) : score;
}

static void probabilities_are_the_softmax_of_calibrated_scores(void **state)
{
    (void)state;
    static const struct model_case cases[] = {{DENSE, "kernel=rbf(auto) kernel=linear", FITTED},
                                              {DENSE, "kernel=rbf(auto)", EACH_LABEL},
                                              {DENSE, "kernel=rbf(auto)", TWO_LABELS}};
    for (size_t i = 0; i < 3; i++) {
        medley_model *model = case_model(&cases[i], 20);
        medley_dataset *fresh = case_dense(20, 10);
        medley_prediction *scores = predict(model, fresh);
        calibrate(model, 2.5, true);
        medley_prediction *found = probabilities_of(model, fresh, false);
        const size_t labels = scores->labels;
        for (size_t r = 0; r < 10; r++) {
            double sum = 0;
            for (size_t l = 0; l < labels; l++)
                sum += exp(2.5 * linked(model, (double)scores->score[r * labels + l]) + OFFSETS[l]);
            for (size_t l = 0; l < labels; l++) {
                const double score = (double)scores->score[r * labels + l];
                const double expected = exp(2.5 * linked(model, score) + OFFSETS[l]) / sum;
                assert_true(fabs((double)found->score[r * labels + l] - expected) < 1e-5);
            }
            assert_int_equal(found->label[r], scores->label[r]); /* offsets do not change it */
        }
        medley_prediction_free(scores);
        medley_prediction_free(found);
        medley_dataset_free(fresh);
        medley_model_free(model);
    }
}

/* Everything that scores, multiplied by the factor. */
static void multiply_scores(medley_model *model, double factor)
{
    for (size_t t = 0; t < model->term_count; t++)
        model->terms[t].factor *= factor;
    for (size_t w = 0; w < model->weights_count; w++)
        for (size_t i = 0; i < model->weights[w].rows * model->weights[w].width; i++)
            model->weights[w].values[i] = (float)(factor * (double)model->weights[w].values[i]);
}

static void sequences_are_calibrated_as_if_their_weights_were_larger(void **state)
{
    (void)state;
    static const struct model_case cases[] = {
        {SEQUENCES, "kernel=rbf(auto) order=2 bigram=learned bigram-ends=yes", FITTED},
        {TAGGED, "template=chunk penalty=l2", FITTED}};
    for (size_t i = 0; i < 2; i++) {
        medley_model *model = case_model(&cases[i], 30);
        medley_dataset *fresh = case_dataset(cases[i].kind, 30, 20, 30);
        calibrate(model, 1.75, false);
        medley_prediction *calibrated = probabilities_of(model, fresh, false);
        md_calibration_clear(&model->calibration);
        medley_prediction *plain = probabilities_of(model, fresh, false);
        multiply_scores(model, 1.75);
        medley_prediction *multiplied = probabilities_of(model, fresh, false);
        float most = 0;
        for (size_t k = 0; k < (size_t)20 * 3; k++) {
            assert_true(fabsf(calibrated->score[k] - multiplied->score[k]) < 1e-4f);
            most = fmaxf(most, fabsf(calibrated->score[k] - plain->score[k]));
        }
        assert_true(most > 0.01f);
        medley_prediction_free(calibrated);
        medley_prediction_free(plain);
        medley_prediction_free(multiplied);
        medley_dataset_free(fresh);
        medley_model_free(model);
    }
}

/* A label that is given is certain, however little the scores count. */
static void given_labels_are_certain(void **state)
{
    (void)state;
    static const struct model_case given = {SEQUENCES, "kernel=linear", FITTED};
    medley_model *model = case_model(&given, 30);
    medley_dataset *fresh = case_sequences(30, 12);
    int32_t *right = NULL;
    assert_int_equal(md_dataset_map_labels(&right, fresh, &model->labels, NULL), MEDLEY_OK);
    for (size_t r = 1; r < 12; r += 2)
        fresh->label[r] = -1;
    calibrate(model, 1e-7, false);
    medley_prediction *found = probabilities_of(model, fresh, true);
    for (size_t r = 0; r < 12; r += 2)
        assert_true(found->score[r * 3 + (size_t)right[r]] > 0.999f);
    for (size_t r = 1; r < 12; r += 2)
        for (size_t l = 0; l < 3; l++)
            assert_true(fabsf(found->score[r * 3 + l] - 1.0f / 3) < 0.01f);
    medley_prediction_free(found);
    free(right);
    medley_dataset_free(fresh);
    medley_model_free(model);
}

/* ---- evaluation ---- */

static medley_evaluation measure(const medley_model *model, const medley_dataset *dataset)
{
    medley_evaluation evaluation = MEDLEY_EVALUATION_INIT;
    medley_error error = {0};
    medley_evaluate_options wanted = MEDLEY_EVALUATE_OPTIONS_INIT;
    wanted.probabilities = true;
    if (medley_evaluate_with(&evaluation, model, dataset, &wanted, &error) != MEDLEY_OK)
        fail_msg("%s", error.message);
    return evaluation;
}

/* Bin by bin, each with a look at all rows. */
static double error_by_bins(const medley_prediction *p, const int32_t *right)
{
    double sum = 0;
    for (size_t bin = 0; bin < 15; bin++) {
        double confidence = 0;
        double correct = 0;
        for (size_t r = 0; r < p->rows; r++) {
            const float *row = p->score + r * p->labels;
            size_t top = 0;
            for (size_t l = 1; l < p->labels; l++)
                top = row[l] > row[top] ? l : top;
            const double most = (double)row[top];
            if (most < (double)bin / 15 || (bin < 14 && most >= (double)(bin + 1) / 15))
                continue;
            confidence += most;
            correct += right[r] == (int32_t)top;
        }
        sum += fabs(confidence - correct);
    }
    return sum / (double)p->rows;
}

static void measures_are_what_their_names_say(void **state)
{
    (void)state;
    static const struct model_case cases[] = {{DENSE, "kernel=rbf(auto)", FITTED},
                                              {SEQUENCES, "kernel=linear", FITTED}};
    for (size_t i = 0; i < 4; i++) {
        medley_model *model = case_model(&cases[i % 2], 30);
        medley_dataset *fresh = case_dataset(cases[i % 2].kind, 30, 40, 30);
        int32_t *right = NULL;
        assert_int_equal(md_dataset_map_labels(&right, fresh, &model->labels, NULL), MEDLEY_OK);
        if (i >= 2) { /* as labels that the model has never seen */
            fresh->label[3] = fresh->label[8] = -1;
            right[3] = right[8] = -1;
        }
        calibrate(model, i % 2 ? 3 : 20, i % 2 == 0);
        medley_prediction *p = probabilities_of(model, fresh, false);
        medley_evaluation found = measure(model, fresh);
        double log_loss = 0;
        double brier = 0;
        for (size_t r = 0; r < 40; r++) {
            const double probability =
                right[r] < 0 ? 0 : (double)p->score[r * 3 + (size_t)right[r]];
            log_loss -= log(probability < 1e-15 ? 1e-15 : probability) / 40;
            brier += right[r] < 0 ? 1.0 / 40 : 0;
            for (size_t l = 0; l < 3; l++)
                brier +=
                    pow((double)p->score[r * 3 + l] - (right[r] == (int32_t)l ? 1 : 0), 2) / 40;
        }
        assert_true(fabs(found.log_loss - log_loss) < 1e-9 * (1 + log_loss));
        assert_true(fabs(found.brier - brier) < 1e-9);
        assert_true(fabs(found.calibration_error - error_by_bins(p, right)) < 1e-9);
        assert_true(found.log_loss > 0 && found.calibration_error > 0);
        medley_evaluation_clear(&found);
        medley_prediction_free(p);
        free(right);
        medley_dataset_free(fresh);
        medley_model_free(model);
    }
}

/* Of scores that are all 0 everything is known beforehand. */
static void a_model_that_knows_nothing_is_measured_so(void **state)
{
    (void)state;
    static const struct model_case given = {DENSE, "kernel=rbf(auto)", FITTED};
    medley_model *model = case_model(&given, 30);
    medley_dataset *fresh = case_dense(30, 30);
    multiply_scores(model, 0);
    medley_evaluation found = measure(model, fresh);
    assert_true(fabs(found.log_loss - log(3)) < 1e-6);
    assert_true(fabs(found.brier - 2.0 / 3) < 1e-6);
    assert_true(fabs(found.calibration_error) < 1e-6); /* a third of the rows has the first label */
    medley_evaluation_clear(&found);
    medley_dataset_free(fresh);
    medley_model_free(model);
}

static void measures_are_left_out_unless_they_are_asked_for(void **state)
{
    (void)state;
    static const struct model_case numbers = {DENSE, "kernel=linear", NUMBERS};
    static const struct model_case given = {DENSE, "kernel=linear", FITTED};
    medley_error error = {0};
    medley_evaluation found = MEDLEY_EVALUATION_INIT;
    medley_evaluate_options wanted = MEDLEY_EVALUATE_OPTIONS_INIT;
    medley_model *model = case_model(&given, 20);
    medley_dataset *fresh = case_dense(20, 10);
    assert_int_equal(medley_evaluate_with(&found, model, fresh, NULL, &error), MEDLEY_OK);
    assert_true(isnan(found.log_loss) && isnan(found.brier) && isnan(found.calibration_error));
    medley_evaluation_clear(&found);
    medley_model_free(model);
    model = case_model(&numbers, 20);
    medley_dataset *sparse = case_sparse(20, 10); /* whose labels are numbers */
    wanted.probabilities = true;
    assert_int_equal(medley_evaluate_with(&found, model, sparse, &wanted, &error), MEDLEY_USAGE);
    assert_non_null(strstr(error.message, "leave out `proba`"));
    medley_dataset_free(sparse);
    medley_dataset_free(fresh);
    medley_model_free(model);
}

/* ---- files ---- */

static void calibrated_models_come_back_as_they_were(void **state)
{
    (void)state;
    static const struct model_case cases[] = {{DENSE, "kernel=rbf(auto)", FITTED},
                                              {DENSE, "kernel=rbf(auto)", TWO_LABELS},
                                              {TAGGED, "template=chunk", FITTED}};
    for (size_t i = 0; i < 3; i++) {
        char path[PATH_SIZE];
        medley_error error = {0};
        medley_model *loaded = NULL;
        medley_model *model = case_model(&cases[i], 20);
        medley_dataset *fresh = case_dataset(cases[i].kind, 20, 10, 20);
        calibrate(model, 1.0 / 3, i < 2);
        temporary_path(path);
        assert_int_equal(medley_model_save(model, path, &error), MEDLEY_OK);
        assert_int_equal(medley_model_load(&loaded, path, &error), MEDLEY_OK);
        const medley_summary *summary = medley_model_summary(loaded);
        assert_true(summary->temperature == 1 / (1.0 / 3));
        assert_int_equal(summary->offsets != NULL, i < 2);
        if (i < 2)
            assert_memory_equal(summary->offsets, OFFSETS, loaded->labels.count * sizeof(double));
        medley_prediction *before = probabilities_of(model, fresh, false);
        medley_prediction *after = probabilities_of(loaded, fresh, false);
        assert_true(same_predictions(before, after));
        unlink(path);
        medley_prediction_free(before);
        medley_prediction_free(after);
        medley_dataset_free(fresh);
        medley_model_free(model);
        medley_model_free(loaded);
    }
}

static void sample_of(struct sample *sample, const medley_model *model)
{
    *sample = (struct sample){0};
    sample->bytes = model_bytes(model, &sample->length);
    sample_open(sample);
}

static uint64_t bits_of(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static void false_calibrations_are_refused(void **state)
{
    (void)state;
    static const struct model_case given = {DENSE, "kernel=linear", FITTED};
    const struct {
        size_t field;
        uint64_t value;
    } falsehoods[] = {{0, bits_of(0)},
                      {0, bits_of(-1)},
                      {0, bits_of(NAN)},
                      {0, bits_of(INFINITY)},
                      {1, 0},
                      {1, 2},
                      {1, 4},
                      {1, UINT64_MAX},
                      {2, bits_of(NAN)},
                      {4, bits_of(INFINITY)},
                      {1, UINT64_MAX / 8}};
    medley_model *model = case_model(&given, 20);
    calibrate(model, 2, true);
    for (size_t i = 0; i < sizeof falsehoods / sizeof *falsehoods; i++) {
        struct sample sample;
        sample_of(&sample, model);
        assert_int_equal(get(sample.bytes, 24), MD_SECTION_PROBA + 1);
        const size_t section = get(sample.bytes, 32 + 32 * MD_SECTION_PROBA + 8);
        put(sample.bytes, section + 8 * falsehoods[i].field, falsehoods[i].value);
        refuse(&sample, sample.bytes, "damaged (proba)"); /* by its checksum */
        renew_checksums(sample.bytes);
        refuse(&sample, sample.bytes, "damaged (probabilities)");
        sample_clear(&sample);
    }
    medley_model_free(model);
}

static void sections_that_do_not_belong_are_refused(void **state)
{
    (void)state;
    static const struct model_case numbers = {DENSE, "kernel=linear", NUMBERS};
    static const struct model_case given = {DENSE, "kernel=linear", FITTED};
    struct sample sample;
    medley_model *model = case_model(&numbers, 20);
    calibrate(model, 2, false); /* of numbers */
    sample_of(&sample, model);
    refuse(&sample, sample.bytes, "damaged (probabilities)");
    sample_clear(&sample);
    medley_model_free(model);
    model = case_model(&given, 20);
    calibrate(model, 2, true);
    sample_of(&sample, model);
    put(sample.bytes, 8, 2); /* a version that has no such section */
    renew_checksums(sample.bytes);
    refuse(&sample, sample.bytes, "unknown version");
    for (size_t length = 0; length < sample.length; length += 3)
        assert_int_equal(try_bytes(&sample, sample.bytes, length), REFUSED);
    sample_clear(&sample);
    medley_model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(probabilities_are_the_softmax_of_calibrated_scores),
        cmocka_unit_test(sequences_are_calibrated_as_if_their_weights_were_larger),
        cmocka_unit_test(given_labels_are_certain),
        cmocka_unit_test(measures_are_what_their_names_say),
        cmocka_unit_test(a_model_that_knows_nothing_is_measured_so),
        cmocka_unit_test(measures_are_left_out_unless_they_are_asked_for),
        cmocka_unit_test(calibrated_models_come_back_as_they_were),
        cmocka_unit_test(false_calibrations_are_refused),
        cmocka_unit_test(sections_that_do_not_belong_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
