/* SPDX-License-Identifier: BSD-3-Clause */
/* What is learnt on a card is what is learnt without one, up to the rounding of kernel values. */
#include "select/tuning_case.h"

#include "device/test_device.h"
#include "incremental/pieces.h"

/* Rows of the test that two models may put down to different labels, of 300. */
enum { TEST_ROWS = 300, FEW_ROWS = 4 };

static medley_prediction *predict_on(const medley_model *model, const medley_dataset *data,
                                     const char *device)
{
    medley_prediction *prediction = NULL;
    medley_error error = {0};
    medley_predict_options how = MEDLEY_PREDICT_OPTIONS_INIT;
    how.threads = 2;
    how.device = device;
    if (medley_predict_with(&prediction, model, data, &how, &error) != MEDLEY_OK)
        fail_msg("%s", error.message);
    return prediction;
}

static size_t count_differences(const medley_prediction *one, const medley_prediction *two)
{
    size_t count = 0;
    assert_int_equal(one->rows, two->rows);
    for (size_t r = 0; r < one->rows; r++)
        count += one->label[r] != two->label[r];
    return count;
}

/* The same options on the processor and on the card. */
struct pair {
    medley_dataset *train, *test;
    medley_model *here, *there;
};

static void open_pair(struct pair *pair, const char *generator, const char *options,
                      const char *storage)
{
    char text[512];
    pair->train = make_data(generator, 120, 1);
    pair->test = make_data(generator, TEST_ROWS, 2);
    snprintf(text, sizeof text, "%s device=cpu", options);
    pair->here = fit(pair->train, NULL, text);
    snprintf(text, sizeof text, "%s device=cuda device-storage=%s", options, storage);
    pair->there = fit(pair->train, NULL, text);
}

static void close_pair(struct pair *pair)
{
    medley_model_free(pair->here);
    medley_model_free(pair->there);
    medley_dataset_free(pair->train);
    medley_dataset_free(pair->test);
}

static void compare_pair(const struct pair *pair, const char *options, double tolerance)
{
    const double here = medley_model_summary(pair->here)->objective;
    const double there = medley_model_summary(pair->there)->objective;
    if (!(fabs(here - there) <= tolerance * fabs(here)))
        fail_msg("%s: objective %.9g, and %.9g on a card", options, here, there);
    medley_prediction *one = predict_on(pair->here, pair->test, "cpu");
    medley_prediction *two = predict_on(pair->there, pair->test, "cuda");
    assert_string_equal(one->device, "");
    assert_true(two->device[0] != '\0');
    if (count_differences(one, two) > FEW_ROWS)
        fail_msg("%s: %zu rows have other labels", options, count_differences(one, two));
    medley_prediction_free(one);
    medley_prediction_free(two);
}

/* Objectives of losses without kinks hardly depend on how values are rounded; with the hinge loss
 * that decides who is in error, and another way leads to about the same place. */
static void models_of_all_methods_are_alike(void **state)
{
    static const struct {
        const char *generator, *options;
        double half, single;
    } runs[] = {
        {"waveform", "method=obscure loss=logistic", 1e-3, 1e-4},
        {"waveform", "method=obscure epochs2=300", 2e-3, 1e-4},
        {"waveform", "method=spom loss=logistic", 1e-3, 1e-4},
        {"waveform", "method=spom loss=logistic average=yes normalize=center", 1e-3, 1e-4},
        {"waveform", "method=frank-wolfe gap=0.001 normalize=trace", 2e-3, 2e-3},
        {"waveform", "method=frank-wolfe gap=0.002 loss=logistic", 2e-3, 2e-3},
        {"waveform", "method=fista loss=logistic", 1e-3, 1e-4},
        {"ringnorm", "method=pegasos", 2e-3, 1e-4},
        {"waveform", "method=spicy gap=0.001", 1e-4, 1e-4},
        {"waveform", "method=spicy loss=logistic normalize=center ridge=0.01", 1e-4, 1e-4},
        {"waveform", "method=spicy penalty=elastic normalize=trace views=each C=3", 1e-4, 1e-4},
        {"ringnorm", "method=simplemkl gap=0.001", 2e-3, 2e-3},
        {"ringnorm", "method=svm", 1e-3, 1e-3},
        {"ringnorm", "method=average loss=logistic", 1e-3, 1e-4},
        {"ringnorm", "method=best loss=logistic", 1e-3, 1e-4},
        {"twonorm", "method=spom loss=logistic normalize=center views=each", 1e-3, 1e-4},
        {"waveform",
         "method=spom loss=logistic kernel=laplace kernel=bspline(h=6) kernel=bias kernel=linear "
         "kernel=poly(degree=3,norm=diag) kernel=intersection scale=minmax kernel=chi2",
         5e-3, 5e-4},
    };
    use_card(state);
    for (size_t i = 0; i < 2 * sizeof runs / sizeof *runs; i++) {
        const size_t run = i / 2;
        const bool half = i % 2 == 0;
        struct pair pair;
        if (is_slow(*state) && i % 5 != 2) /* some of each kind of methods */
            continue;
        if (*state == &fake_kind && half != (run % 2 == 0)) /* which differ in rounding alone */
            continue;
        open_pair(&pair, runs[run].generator, runs[run].options, half ? "float16" : "float32");
        compare_pair(&pair, runs[run].options, half ? runs[run].half : runs[run].single);
        close_pair(&pair);
    }
}

/* With any number of threads. */
static void one_seed_makes_one_model(void **state)
{
    static const char *const runs[] = {"method=obscure", "method=spom normalize=center average=yes",
                                       "method=average", "method=pegasos",
                                       "method=frank-wolfe device-storage=float32"};
    use_card(state);
    medley_dataset *train = make_data("waveform", is_slow(*state) ? 60 : 150, 3);
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
        char *bytes[2];
        size_t length[2];
        for (size_t r = 0; r < 2; r++) {
            char text[512];
            snprintf(text, sizeof text, "%s device=cuda threads=%zu", runs[i], 1 + 2 * r);
            medley_model *model = fit(train, NULL, text);
            bytes[r] = model_bytes(model, &length[r]);
            medley_model_free(model);
        }
        assert_int_equal(length[0], length[1]);
        if (memcmp(bytes[0], bytes[1], length[0]) != 0)
            fail_msg("%s: another model", runs[i]);
        free(bytes[0]);
        free(bytes[1]);
    }
    medley_dataset_free(train);
}

static void check_told(const char *text, const char *device, const char *use)
{
    medley_dataset *train = make_data("waveform", 60, 3);
    medley_model *model = fit(train, NULL, text);
    const medley_summary *summary = medley_model_summary(model);
    assert_string_equal(summary->device, device);
    assert_string_equal(summary->device_use, use);
    assert_string_equal(summary->device_reason, "");
    medley_model_free(model);
    medley_dataset_free(train);
}

static void summaries_tell_what_a_card_has_done(void **state)
{
    MD_OWNED(md_device_close) md_device *device = open_card(state);
    const char *name = md_device_name(device);
    check_told("method=spom epochs=3 device=cpu", "cpu", "");
    check_told("method=spom epochs=3", "cpu", ""); /* too little to do */
    check_told("method=spom epochs=3 device=cuda kernel=rbf", name,
               "values and scores of 1 kernel");
    check_told("method=average epochs=3 device=cuda:0 kernel=rbf kernel=laplace kernel=bias", name,
               "values and scores of 2 kernels");
    check_told("method=spicy device=cuda kernel=rbf kernel=laplace kernel=linear", name,
               "matrices of 2 kernels, products and sums");
}

/* Held-out data, another objective, intervals, probabilities: what is beside the path. */
static void what_else_there_is_works_on_a_card(void **state)
{
    static const char *const runs[] = {
        "method=spom loss=logistic epochs=20 patience=3 device=cuda",
        "method=spom loss=logistic epochs=20 average=yes device=cuda",
        "method=obscure epochs1=10 epochs2=10 device=cuda batch=7",
    };
    use_card(state);
    medley_dataset *train = make_data("waveform", 150, 3);
    medley_dataset *dev = make_data("waveform", 100, 4);
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
        medley_model *model = fit(train, i < 2 ? dev : NULL, runs[i]);
        assert_true(accuracy_of(model, dev) >= 0.75);
        medley_model_free(model);
    }
    medley_model *model = fit(train, NULL, "method=spom loss=logistic calibrate=yes device=cuda");
    assert_true(accuracy_of(model, dev) >= 0.75);
    medley_model_free(model);
    medley_learner *learner = open_learner("device=cuda loss=logistic");
    feed_part(learner, train, 0, 75);
    feed_part(learner, train, 75, 75);
    model = model_of(learner);
    assert_true(accuracy_of(model, dev) >= 0.75);
    medley_model_free(model);
    medley_learner_free(learner);
    medley_dataset_free(train);
    medley_dataset_free(dev);
}

static void certificates_hold_on_a_card(void **state)
{
    static const char *const runs[] = {"method=spom loss=logistic certify=yes epochs=60",
                                       "method=obscure certify=yes", "method=frank-wolfe"};
    use_card(state);
    medley_dataset *train = make_data("waveform", 150, 5);
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
        double best = INFINITY;
        for (size_t on_card = 0; on_card < 2; on_card++) {
            char text[512];
            snprintf(text, sizeof text, "%s device=%s", runs[i], on_card ? "cuda" : "cpu");
            medley_model *model = fit(train, NULL, text);
            const medley_summary *summary = medley_model_summary(model);
            best = fmin(best, summary->objective);
            if (!(summary->dual > 0 && summary->dual <= summary->objective &&
                  summary->dual <= best * (1 + 1e-3)))
                fail_msg("%s: dual %.9g, objective %.9g", text, summary->dual, summary->objective);
            medley_model_free(model);
        }
    }
    medley_dataset_free(train);
}

/* Folds side by side, each with kernels that several trials share. */
static void tables_of_tuning_are_alike(void **state)
{
    static const medley_choice choices[] = {{"C", "0.1,1,10"}, {"method", "spom,average"}};
    use_card(state);
    medley_dataset *data = make_data("waveform", 120, 6);
    const char *base = is_slow(*state) ? "loss=logistic threads=2 normalize=center epochs=6"
                                       : "loss=logistic threads=2 normalize=center epochs=30";
    char text[512];
    snprintf(text, sizeof text, "%s device=cpu", base);
    medley_tuning *here = tune_text(data, text, choices, 2, 3, NULL);
    snprintf(text, sizeof text, "%s device=cuda", base);
    medley_tuning *there = tune_text(data, text, choices, 2, 3, NULL);
    assert_int_equal(here->trial_count, there->trial_count);
    for (size_t t = 0; t < here->trial_count; t++) {
        assert_null(there->trials[t].problem);
        if (!(fabs(here->trials[t].mean - there->trials[t].mean) <= 0.017)) /* two rows of 120 */
            fail_msg("trial %zu: %.9g, and %.9g on a card", t, here->trials[t].mean,
                     there->trials[t].mean);
    }
    medley_tuning_free(here);
    medley_tuning_free(there);
    medley_dataset_free(data);
}

/* ---- what goes wrong ---- */

static void check_fails(const medley_dataset *train, const char *text, const char *says)
{
    medley_model *model = NULL;
    medley_error error = {0};
    medley_options *options = make_options(text);
    assert_true(medley_fit(&model, train, NULL, options, NULL, &error) < 0);
    assert_null(model);
    if (strstr(error.message, says) == NULL || strstr(error.message, "device") == NULL)
        fail_msg("%s: %s", text, error.message);
    medley_options_free(options);
}

static void faults_are_errors_where_the_card_was_asked_for(void **state)
{
    (void)state;
    static const struct {
        const char *fault, *says;
    } faults[] = {
        {"version", "device cuda: libmedley-cuda.so belongs to Medley"},
        {"none", "device cuda: there is no card that CUDA can use"},
        {"old", "device cuda: fake card is too old"},
        {"memory", "MB of its memory are needed"},
        {"lost:1", "unspecified launch failure"},
        {"lost:2", "unspecified launch failure"},
        {"lost:5", "unspecified launch failure"},
        {"lost:12", "unspecified launch failure"},
    };
    medley_dataset *train = make_data("waveform", 60, 3);
    for (size_t f = 0; f < sizeof faults / sizeof *faults; f++) {
        use_fake_card(faults[f].fault);
        check_fails(train, "method=spom normalize=center device=cuda", faults[f].says);
        check_fails(train, "method=spicy normalize=center device=cuda", faults[f].says);
        check_told("method=spom epochs=2 device=cpu", "cpu", "");
        check_told("method=spom epochs=2", "cpu", "");
        check_told("method=spicy", "cpu", "");
    }
    medley_dataset_free(train);
}

/* Whichever of the plug-in's own calls it is that fails first. */
static void a_card_may_be_lost_at_any_call(void **state)
{
    static card_kind *kind = &processor_kind;
    static const char *const runs[] = {"method=spom epochs=2 normalize=center device=cuda",
                                       "method=spicy normalize=center device=cuda"};
    (void)state;
    md_device_close(open_card((void **)&kind));
    medley_dataset *train = make_data("waveform", 40, 3);
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
        medley_model *model = NULL;
        size_t lost = 0;
        for (size_t call = 1; model == NULL; call += 1 + call / 6) {
            char text[32];
            medley_error error = {0};
            medley_options *options = make_options(runs[i]);
            snprintf(text, sizeof text, "%zu", call);
            setenv("MEDLEY_CARD_LOST", text, 1);
            if (medley_fit(&model, train, NULL, options, NULL, &error) < 0) {
                lost++;
                assert_null(model);
                if (strstr(error.message, "unspecified launch failure") == NULL)
                    fail_msg("%s: %s", runs[i], error.message);
            }
            medley_options_free(options);
        }
        assert_true(lost > 10);
        medley_model_free(model);
    }
    unsetenv("MEDLEY_CARD_LOST");
    medley_dataset_free(train);
}

static void cards_that_have_nothing_to_do_are_refused(void **state)
{
    (void)state;
    static const char *const runs[] = {"method=spom kernel=linear(explicit) device=cuda",
                                       "method=spom kernel=bias device=cuda:0",
                                       "method=spicy kernel=linear device=cuda"};
    medley_dataset *train = make_data("waveform", 60, 3);
    use_fake_card("");
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++)
        check_fails(train, runs[i], "there is nothing for a card to do");
    check_fails(train, "device=cuda:1", "there is no card 1: the last one is 0");
    medley_dataset_free(train);
}

/* mean loss + lambda Omega of hinge losses under squared-block(q=1.25), by what the processor
 * predicts. */
static double objective_of(const medley_model *model, const medley_dataset *data)
{
    const medley_summary *s = medley_model_summary(model);
    const int32_t *gold = data->label;
    const double q = 1.25;
    double loss = 0;
    double norm = 0;
    medley_prediction *p = predict_on(model, data, "cpu");
    for (size_t r = 0; r < p->rows; r++) {
        const float *score = p->score + r * p->labels;
        double worst = 0;
        for (size_t l = 0; l < p->labels; l++)
            if ((int32_t)l != gold[r])
                worst = fmax(worst, 1 + (double)score[l] - (double)score[gold[r]]);
        loss += worst / (double)p->rows;
    }
    for (size_t m = 0; m < s->block_count; m++)
        norm += pow(s->blocks[m].norm, q);
    medley_prediction_free(p);
    return loss + s->lambda / 2 * pow(norm, 2 / q);
}

/* It was learnt by values in half precision; what is told of it is not about these. */
static void objectives_and_certificates_are_of_the_model_as_saved(void **state)
{
    static const char *const runs[] = {"method=frank-wolfe gap=0.01 device=cuda",
                                       "method=obscure p=1.25 certify=yes device=cuda",
                                       "method=frank-wolfe gap=0.01 normalize=trace device=cuda"};
    use_card(state);
    medley_dataset *train = make_data("waveform", 150, 5);
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
        medley_model *model = fit(train, NULL, runs[i]);
        const medley_summary *s = medley_model_summary(model);
        const double objective = objective_of(model, train);
        if (!(fabs(s->objective - objective) <= 2e-5 * objective))
            fail_msg("%s: objective %.9g, and %.9g of the model", runs[i], s->objective, objective);
        assert_true(s->dual <= objective);
        medley_model_free(model);
    }
    medley_dataset_free(train);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON_EVERY_CARD(models_of_all_methods_are_alike),
        ON_EVERY_CARD(one_seed_makes_one_model),
        ON_EVERY_CARD(summaries_tell_what_a_card_has_done),
        ON_EVERY_CARD(what_else_there_is_works_on_a_card),
        ON_EVERY_CARD(certificates_hold_on_a_card),
        ON_EVERY_CARD(objectives_and_certificates_are_of_the_model_as_saved),
        ON_EVERY_CARD(tables_of_tuning_are_alike),
        cmocka_unit_test(faults_are_errors_where_the_card_was_asked_for),
        cmocka_unit_test(a_card_may_be_lost_at_any_call),
        cmocka_unit_test(cards_that_have_nothing_to_do_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
