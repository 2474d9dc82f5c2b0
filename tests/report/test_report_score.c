/* SPDX-License-Identifier: BSD-3-Clause */
/* How good a score is, and of what: intervals against hand-computed ones, baselines, data that the
 * model was trained on, and what a report says of how it came about. */
#include "report_case.h"

#include "model/model.h"
#include "report/report.h"
#include <math.h>

static const char *const QUICK[] = {"epochs", "3", "eta0", "1", "kernel", "rbf(sigma2=5)", NULL};

/* ---- intervals ---- */

static void the_interval_of_independent_rows_is_wilsons(void **state)
{
    (void)state;
    medley_dataset *data = generated("waveform", 100, 1);
    medley_prediction prediction = {.rows = 100};
    md_report report = {.measured = true,
                        .prediction = &prediction,
                        .evaluation = {.accuracy = 0.88, .las = NAN, .uas = NAN}};
    report.options.data = data;
    md_confidence_interval interval = md_report_interval(&report);
    assert_true(fabs(interval.low - 0.80188) < 1e-5 && fabs(interval.high - 0.93001) < 1e-5);
    report.evaluation.accuracy = 1;
    interval = md_report_interval(&report);
    assert_true(fabs(interval.low - 0.96301) < 2e-5 && interval.high == 1);
    report.options.data_chose = true;
    assert_true(isnan(md_report_interval(&report).low));
    report.options.data_chose = false;
    report.from_training = MD_SOME_TRAINING_ROWS;
    assert_true(isnan(md_report_interval(&report).low));
    medley_dataset_free(data);
}

/* Four sequences of two rows each, two wholly right and two wholly wrong: as good as three
 * independent rows (variance 4/64 * 4/3 = 1/12 of a share of 1/2). */
static void rows_of_a_sequence_are_not_independent(void **state)
{
    (void)state;
    medley_dataset *data =
        read_text("a x\nb x\n\na x\nb x\n\na x\nb x\n\na x\nb x\n\n", ".txt", NULL);
    int32_t label[8] = {0, 0, 0, 0, 1, 1, 1, 1};
    int32_t gold[8] = {0};
    medley_prediction prediction = {.rows = 8, .label = label};
    md_report report = {.measured = true,
                        .prediction = &prediction,
                        .gold = gold,
                        .evaluation = {.accuracy = 0.5, .las = NAN, .uas = NAN}};
    report.options.data = data;
    const md_confidence_interval interval = md_report_interval(&report);
    assert_true(fabs(interval.low - 0.1253) < 1e-4 && fabs(interval.high - 0.8747) < 1e-4);
    medley_dataset_free(data);
}

/* ---- baselines ---- */

static void the_commonest_label_is_the_baseline(void **state)
{
    (void)state;
    medley_dataset *data =
        read_text("a,b,label\n0,0,x\n9,9,<y>\n9,8,<y>\n1,0,x\n8,9,<y>\n", ".csv", NULL);
    medley_model *model = fit(data, QUICK);
    medley_report_options options = MEDLEY_REPORT_OPTIONS_INIT;
    options.data = data;
    char *html = report_text(model, &options);
    check_markup(html);
    check_has(html, "majority-class baseline</dt><dd class=\"big\">60.00\xC2\xA0%</dd>"
                    "<dd class=\"small\">always &lt;y&gt;</dd>");
    check_has_not(html, "<dt>objective</dt>");
    check_has(html, "objective</th><td>"); /* among the settings */
    free(html);
    medley_model_free(model);
    medley_dataset_free(data);
}

static void the_mean_is_the_baseline_of_regression(void **state)
{
    (void)state;
    medley_dataset *data = read_text("x,y\n0,1\n1,3\n2,1\n3,3\n", ".csv", NULL);
    const char *const settings[] = {"task", "regression", "kernel", "rbf(sigma2=1)", NULL};
    medley_model *model = fit(data, settings);
    medley_report_options options = MEDLEY_REPORT_OPTIONS_INIT;
    options.data = data;
    char *html = report_text(model, &options);
    check_has(html, "mean baseline</dt><dd class=\"big\">1</dd>");
    check_has(html, "predicted value</text>");
    check_has(html, "true value</text>");
    double x1;
    double y1;
    double x2;
    double y2;
    const char *line = strstr(html, "<path class=\"line guide\"");
    assert_non_null(line);
    assert_int_equal(
        sscanf(line, "<path class=\"line guide\" d=\"M%lf %lfL%lf %lf", &x1, &y1, &x2, &y2), 4);
    assert_true(fabs((x2 - x1) - (y1 - y2)) < 0.3); /* 45 degrees */
    free(html);
    medley_model_free(model);
    medley_dataset_free(data);
}

static void a_neighbour_is_the_baseline_of_trees(void **state)
{
    (void)state;
    medley_dataset *data = read_text("1\tThe\t_\tDET\tDT\t_\t2\tdet\t_\t_\n"
                                     "2\tdog\t_\tNOUN\tNN\t_\t3\tnsubj\t_\t_\n"
                                     "3\truns\t_\tVERB\tVB\t_\t0\troot\t_\t_\n"
                                     "4\tfast\t_\tADV\tRB\t_\t3\tadvmod\t_\t_\n\n",
                                     ".conllu", NULL);
    const char *const settings[] = {"task",      "tree", "template", "arc-form-upos", "epochs", "1",
                                    "hash-bits", "10",   NULL};
    medley_model *model = fit(data, settings);
    medley_report_options options = MEDLEY_REPORT_OPTIONS_INIT;
    options.data = data;
    char *html = report_text(model, &options);
    check_has(html, "neighbour baseline (UAS)</dt><dd class=\"big\">50.00\xC2\xA0%</dd>"
                    "<dd class=\"small\">head: the next word</dd>");
    check_has(html, "was probably trained on these data");
    free(html);
    medley_model_free(model);
    medley_dataset_free(data);
}

/* ---- training data ---- */

static void training_data_are_known_in_any_order(void **state)
{
    (void)state;
    static const char ALL[] = "was trained on these data: all of its support rows are among them";
    medley_dataset *data = generated("waveform", 80, 1);
    medley_dataset *others = generated("waveform", 80, 2);
    medley_dataset *shuffled = NULL;
    medley_dataset *half = NULL;
    medley_error error = {0};
    assert_int_equal(medley_dataset_sample(&shuffled, data, 80, 3, &error), MEDLEY_OK);
    assert_int_equal(medley_dataset_sample(&half, data, 40, 3, &error), MEDLEY_OK);
    medley_model *model = fit(data, QUICK);
    medley_report_options options = MEDLEY_REPORT_OPTIONS_INIT;
    const medley_dataset *const known[] = {data, shuffled};
    for (size_t i = 0; i < 2; i++) {
        options.data = known[i];
        char *html = report_text(model, &options);
        check_markup(html);
        check_has(html, ALL);
        check_has(html, "on the training data");
        check_has_not(html, "95 % confidence");
        free(html);
    }
    options.data = half;
    char *html = report_text(model, &options);
    check_has(html, "rows are among those that the model was trained on");
    check_has_not(html, ALL);
    free(html);
    options.data = others;
    html = report_text(model, &options);
    check_has_not(html, "Warning");
    check_has(html, "95 % confidence");
    check_has(html, "95 % CI: ");
    check_has(html, "Confidence is uncalibrated");
    free(html);
    medley_model_free(model);
    medley_dataset_free(half);
    medley_dataset_free(shuffled);
    medley_dataset_free(others);
    medley_dataset_free(data);
}

/* ---- names, curves, provenance ---- */

static void blocks_have_the_names_that_are_given(void **state)
{
    (void)state;
    medley_dataset *data = generated("waveform", 60, 1);
    medley_model *model =
        fit(data, (const char *const[]){"epochs", "2", "eta0", "1", "kernel", "rbf(sigma2=5)",
                                        "kernel", "linear(norm=diag)", NULL});
    assert_int_equal(model->summary.block_count, 2);
    const char *const names[] = {"near <all>", NULL};
    medley_report_options options = MEDLEY_REPORT_OPTIONS_INIT;
    options.block_names = names;
    char *html = report_text(model, &options);
    check_markup(html);
    check_has(html, "<th scope=\"row\"><bdi>near &lt;all&gt;</bdi>");
    check_has(html, "<bdi>linear(norm=diag)<wbr>@all</bdi>");
    check_has(html, "<td><bdi>rbf(sigma2=5)<wbr>@all</bdi></td>"); /* its own, in the table */
    check_has_not(html, "class=\"chart\"");                        /* of two epochs */
    check_has(html, " after epoch 1, ");
    free(html);
    medley_model_free(model);
    medley_dataset_free(data);
}

static void what_is_needed_to_repeat_it_is_told(void **state)
{
    (void)state;
    medley_dataset *data = generated("waveform", 60, 1);
    medley_model *model = fit(data, QUICK);
    medley_report_options options = MEDLEY_REPORT_OPTIONS_INIT;
    char *html = report_text(model, &options);
    check_has_not(html, "id=\"reproduction\"");
    free(html);
    options.command = "medley report '<b>'";
    options.date = "2020-02-03";
    options.data = data;
    options.data_name = "wave.csv";
    html = report_text(model, &options);
    check_markup(html);
    check_has(html, "<code class=\"command\">medley report &#39;&lt;b&gt;&#39;</code>");
    check_has(html, "date</th><td><bdi>2020-02-03</bdi>");
    check_has(html, "data</th><td><bdi>wave.csv</bdi>");
    check_has(html, "version</th><td><bdi>Medley ");
    free(html);
    medley_model_free(model);
    medley_dataset_free(data);
}

static void a_tuning_comes_first(void **state)
{
    (void)state;
    medley_dataset *data = generated("waveform", 60, 1);
    medley_model *model = fit(data, QUICK);
    const char *const values[][2] = {{"1", "mkl"}, {"10", "l2"}};
    const double folds[] = {0.5, 0.7};
    const medley_trial trials[] = {{values[0], 0.6, 0.1, 0.05, 2.5, 0.1, folds, NULL},
                                   {values[1], 0.5, 0.1, 0.05, 2.5, 0.1, folds, NULL}};
    const char *const varied[] = {"C", "penalty"};
    const medley_tuning tuning = {"accuracy", true, varied, 2,   trials, 2, 2,
                                  0,          0,    true,   0.1, 1.5,    2, 2};
    medley_report_options options = MEDLEY_REPORT_OPTIONS_INIT;
    options.tuning = &tuning;
    char *html = report_text(model, &options);
    check_markup(html);
    check_has(html, "<title>Tuning of C and penalty</title>");
    const char *section = strstr(html, "<section id=");
    assert_non_null(section);
    assert_int_equal(strncmp(section, "<section id=\"tuning\"", 20), 0);
    const char *best = strstr(html, "Best: C <bdi>1</bdi>, penalty <bdi>mkl</bdi>");
    const char *rest = strstr(html, "The final model ");
    assert_true(best != NULL && rest != NULL && best < rest);
    check_has(html, "cross-validated accuracy</dt><dd class=\"big\">60.00");
    free(html);
    medley_model_free(model);
    medley_dataset_free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_interval_of_independent_rows_is_wilsons),
        cmocka_unit_test(rows_of_a_sequence_are_not_independent),
        cmocka_unit_test(the_commonest_label_is_the_baseline),
        cmocka_unit_test(the_mean_is_the_baseline_of_regression),
        cmocka_unit_test(a_neighbour_is_the_baseline_of_trees),
        cmocka_unit_test(training_data_are_known_in_any_order),
        cmocka_unit_test(blocks_have_the_names_that_are_given),
        cmocka_unit_test(what_is_needed_to_repeat_it_is_told),
        cmocka_unit_test(a_tuning_comes_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
