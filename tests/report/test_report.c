/* SPDX-License-Identifier: BSD-3-Clause */
/* Whole reports: for each kind of model they are well formed, say what they should and stay small;
 * wrong use is refused and nothing is left behind. */
#include "report_case.h"

#include "model/model.h"
#include "task/task.h"
#include <math.h>
#include <sys/stat.h>

static medley_error no_error;

static const char *const QUICK[] = {
    "epochs", "3", "eta0", "1", "kernel", "linear(norm=diag)", "kernel", "rbf(sigma2=5)", NULL};

static void classes_are_reported(void **state)
{
    (void)state;
    medley_dataset *data = generated("waveform", 90, 1);
    medley_model *model = fit(data, QUICK);
    medley_report_options options = MEDLEY_REPORT_OPTIONS_INIT;
    options.data = data;
    options.data_name = "<b>&.csv";
    options.title = "\"Waves\" <script>alert(1)</script>";
    const medley_contender others[] = {{"one & only", 0.5, 1.5, false},
                                       {"broken", (double)NAN, (double)INFINITY, false},
                                       {"mixture", 0.75, 2, true}};
    options.contenders = others;
    options.contender_count = 3;
    char *html = report_text(model, &options);
    check_markup(html);
    check_has(html, "&quot;Waves&quot; &lt;script&gt;alert(1)&lt;/script&gt;");
    check_has(html, "&lt;b&gt;&amp;.csv");
    check_has(html, "default-src &#39;none&#39;; style-src &#39;unsafe-inline&#39;");
    check_has(html, "This model tells 3 labels apart. It was learnt from 90 examples");
    check_has(html, "ahead of all others by 25.0 points");
    check_has(html, "id=\"confusion-matrix\"");
    check_has(html, "id=\"weight-bars\"");
    check_has(html, "data-value=\"0.75\"");
    free(html);
    options = (medley_report_options)MEDLEY_REPORT_OPTIONS_INIT; /* the model alone */
    html = report_text(model, &options);
    check_markup(html);
    check_has_not(html, "confusion-matrix");
    check_has_not(html, "contender-dots");
    free(html);
    html = report_text(model, NULL);
    check_markup(html);
    free(html);
    medley_model_free(model);
    medley_dataset_free(data);
}

/* A task that counts how often it is asked to predict. */
static const md_task *counted;
static size_t predictions;

static medley_status predict_counted(medley_prediction *prediction, const md_request *request,
                                     medley_error *error)
{
    predictions++;
    return counted->predict(prediction, request, error);
}

static void data_are_predicted_once(void **state)
{
    (void)state;
    medley_dataset *data = generated("waveform", 60, 1);
    medley_model *model = fit(data, QUICK);
    counted = model->task;
    md_task task = *counted;
    task.predict = predict_counted;
    model->task = &task;
    medley_report_options options = MEDLEY_REPORT_OPTIONS_INIT;
    options.data = data;
    free(report_text(model, &options));
    assert_int_equal(predictions, 1);
    model->task = counted;
    medley_model_free(model);
    medley_dataset_free(data);
}

static void words_of_letters_are_drawn(void **state)
{
    (void)state;
    medley_dataset *data = generated("handwriting", 30, 1);
    medley_model *model = fit(data, QUICK);
    medley_report_options options = MEDLEY_REPORT_OPTIONS_INIT;
    options.data = data;
    options.examples = 5;
    char *html = report_text(model, &options);
    check_markup(html);
    check_has(html, "class=\"letters\"");
    check_has(html, "class=\"picture\" viewBox=\"0 0 8 16\"");
    check_has(html, "sequences are without an error");
    size_t cards = 0;
    for (const char *p = html; (p = strstr(p, "<li class=\"card ")) != NULL; p++)
        cards++;
    assert_int_equal(cards, 5);
    free(html);
    medley_model_free(model);
    medley_dataset_free(data);
}

static const char TAGGED[] =
    "He PRP B-NP\nsees VB B-VP\nthe DT B-NP\nbig JJ I-NP\ndog NN I-NP\n. . O\n"
    "\nShe PRP B-NP\nruns VB B-VP\n\n"
    "A DT B-NP\n<b>cat</b> NN I-NP\n\xFF\xE2\x80\xAEz VB B-VP\n\n";

static void tagged_sentences_are_drawn(void **state)
{
    (void)state;
    medley_dataset *data = read_text(TAGGED, ".txt", NULL);
    const char *const settings[] = {"template", "chunk", "epochs", "1", "eta0", "0.01", NULL};
    medley_model *model = fit(data, settings);
    medley_report_options options = MEDLEY_REPORT_OPTIONS_INIT;
    options.data = data;
    char *html = report_text(model, &options);
    check_markup(html);
    check_has(html, "F1 of chunks");
    check_has(html, "class=\"chunk");
    check_has(html, "&lt;b&gt;cat&lt;/b&gt;");
    check_has(html, "\xEF\xBF\xBD\xEF\xBF\xBDz");
    check_has(html, "Strongest features");
    free(html);
    medley_model_free(model);
    medley_dataset_free(data);
}

static const char TREES[] =
    "1\tThe\tthe\tDET\tDT\t_\t2\tdet\t_\t_\n2\tdog\tdog\tNOUN\tNN\t_\t3\tnsubj"
    "\t_\t_\n3\truns\trun\tVERB\tVB\t_\t0\troot\t_\t_\n\n"
    "1\tIt\tit\tPRON\tPRP\t_\t2\tnsubj\t_\t_\n2\tsees\tsee\tVERB\tVB\t_\t0\t"
    "root\t_\t_\n3\t<i>\t<i>\tNOUN\tNN\t_\t2\tobj&amp;\t_\t_\n\n";

static void trees_are_drawn(void **state)
{
    (void)state;
    medley_dataset *data = read_text(TREES, ".conllu", NULL);
    const char *const settings[] = {"task",      "tree", "template", "arc-form-upos", "epochs", "1",
                                    "hash-bits", "10",   NULL};
    medley_model *model = fit(data, settings);
    medley_report_options options = MEDLEY_REPORT_OPTIONS_INIT;
    options.data = data;
    options.tags = "XPOS";
    char *html = report_text(model, &options);
    check_markup(html);
    check_has(html, "class=\"tree\"");
    check_has(html, "got the right head");
    check_has(html, "&lt;i&gt;");
    check_has(html, "obj&amp;amp;");
    free(html);
    medley_model_free(model);
    medley_dataset_free(data);
}

/* Twelve times the sentences above, with markup among their words, and one that is long. */
static void probabilities_of_arcs_are_drawn_where_they_can_be_trusted(void **state)
{
    (void)state;
    md_text text = {0};
    for (int i = 0; i < 12; i++)
        md_text_addf(&text, "%s", TREES);
    medley_dataset *data = read_text(text.data, ".conllu", NULL);
    const char *const settings[] = {"task",      "tree", "template",  "arc-form-upos",
                                    "epochs",    "9",    "hash-bits", "10",
                                    "calibrate", "yes",  NULL};
    medley_model *sure = fit(data, settings);
    medley_model *plain =
        fit(data, (const char *const[]){"task", "tree", "template", "arc-form-upos", "epochs", "9",
                                        "hash-bits", "10", NULL});
    medley_report_options options = MEDLEY_REPORT_OPTIONS_INIT;
    options.data = data;
    char *html = report_text(sure, &options);
    check_markup(html);
    check_has(html, "id=\"confidence\"");
    check_has(html, "<title>sees → &lt;i&gt;: ");
    check_has_not(html, "were not calibrated");
    free(html);
    html = report_text(plain, &options);
    check_has(html, "The scores were not calibrated: train with --calibrate.");
    check_has_not(html, "<title>sees → ");
    free(html);
    for (int w = 1; w <= 1001; w++)
        md_text_addf(&text, "%d\tword\t_\tNOUN\tNN\t_\t%d\tdep\t_\t_\n", w, w - 1);
    medley_dataset *longer = read_text(text.data, ".conllu", NULL);
    options.data = longer;
    html = report_text(sure, &options);
    check_has(html, "class=\"tree\"");
    check_has_not(html, "id=\"confidence\"");
    free(html);
    md_text_clear(&text);
    medley_dataset_free(longer);
    medley_dataset_free(data);
    medley_model_free(plain);
    medley_model_free(sure);
}

static void numbers_are_drawn(void **state)
{
    (void)state;
    double values[40];
    char names[40][16];
    const char *labels[40];
    medley_dataset *data = NULL;
    for (size_t i = 0; i < 40; i++) {
        values[i] = (double)i / 10;
        snprintf(names[i], 16, "%.3f", sin(values[i]));
        labels[i] = names[i];
    }
    assert_int_equal(medley_dataset_from_dense(&data, values, 40, 1, labels, &no_error), MEDLEY_OK);
    const char *const settings[] = {"task", "regression", "kernel", "rbf(sigma2=1)", NULL};
    medley_model *model = fit(data, settings);
    medley_report_options options = MEDLEY_REPORT_OPTIONS_INIT;
    options.data = data;
    char *html = report_text(model, &options);
    check_markup(html);
    check_has(html, "This model predicts numbers");
    check_has(html, "class=\"cloud\"");
    check_has(html, "Training ended with a certificate");
    free(html);
    medley_model_free(model);
    medley_dataset_free(data);
}

/* ---- paths and tunings, made up ---- */

enum { POINTS = 6, BLOCKS = 40 };

static void paths_and_tunings_need_no_model(void **state)
{
    (void)state;
    double weights[POINTS][BLOCKS] = {{0}};
    medley_path_point points[POINTS];
    const char *names[BLOCKS];
    char texts[BLOCKS][32];
    for (size_t m = 0; m < BLOCKS; m++) {
        snprintf(texts[m], 32, "kernel<%zu>", m);
        names[m] = texts[m];
    }
    for (size_t p = 0; p < POINTS; p++) {
        for (size_t m = 0; m < BLOCKS; m++)
            weights[p][m] = m <= 6 * p ? 1.0 / (double)(6 * p + 1) : 0;
        points[p] = (medley_path_point){.lambda = pow(10, -(double)p),
                                        .C = pow(10, (double)p),
                                        .objective = 1,
                                        .dual = NAN,
                                        .gap = p == 2 ? (double)INFINITY : (double)NAN,
                                        .score = 0.5 + 0.1 * (double)(p < 4 ? p : 6 - p),
                                        .active = p,
                                        .weights = weights[p],
                                        .norms = weights[p]};
    }
    const medley_path path = {"binary", "spicy", "logistic", "mkl",  "accuracy",
                              true,     names,   BLOCKS,     points, POINTS};
    const char *const first[] = {"0.1", "<mkl>"};
    const char *const second[] = {"10", "<mkl>"};
    const double folds[] = {0.5, 0.7};
    const medley_trial trials[] = {{first, 0.6, 0.1, 0.05, 2.5, 0.1, folds, NULL},
                                   {second, NAN, NAN, NAN, NAN, NAN, folds, "it <broke>"}};
    const char *const varied[] = {"C", "penalty"};
    const medley_tuning tuning = {"accuracy", true, varied, 2,   trials, 2, 2,
                                  0,          0,    true,   0.1, 1.5,    2, 2};
    medley_report_options options = MEDLEY_REPORT_OPTIONS_INIT;
    options.path = &path;
    options.tuning = &tuning;
    char *html = report_text(NULL, &options);
    check_markup(html);
    check_has(html, "Best on held-out data is lambda 0.0010");
    check_has(html, "kernel&lt;0&gt;");
    check_has(html, "it &lt;broke&gt;");
    check_has(html, "id=\"trial-dots\"");
    check_has(html, "\xE2\x98\x85 best");
    free(html);
}

/* ---- sizes ---- */

static void many_blocks_make_no_large_file(void **state)
{
    (void)state;
    enum { MANY = 10000 };
    medley_dataset *data = generated("waveform", 30, 1);
    medley_model *model = fit(data, QUICK);
    medley_block_info *blocks = calloc(MANY, sizeof *blocks);
    const medley_summary before = model->summary;
    assert_non_null(blocks);
    for (size_t m = 0; m < MANY; m++)
        blocks[m] = (medley_block_info){"rbf(sigma2=12.345678,norm=trace)@a_long_column_name",
                                        m < 50 ? 0.02 : 0, 1, 3};
    model->summary.blocks = blocks;
    model->summary.block_count = MANY;
    model->summary.active_blocks = 50;
    model->summary.objective = NAN;
    char *html = report_text(model, NULL);
    check_markup(html);
    assert_in_range(strlen(html), 100000, 3000000);
    check_has(html, "45 of 10,000 kernels carry 90");
    check_has(html, "9,950 are left out");
    check_has(html, "20 more have a weight");
    free(html);
    model->summary = before;
    free(blocks);
    medley_model_free(model);
    medley_dataset_free(data);
}

static void many_labels_make_no_large_file(void **state)
{
    (void)state;
    enum { MANY = 1000 };
    double values[2 * MANY];
    for (size_t i = 0; i < MANY; i++) {
        values[2 * i] = (double)(i % 40);
        values[2 * i + 1] = floor((double)i / 40);
    }
    medley_dataset *data = rows_of_many_labels(values, MANY, 2);
    const char *const settings[] = {"epochs", "1", "eta0", "1", "kernel", "linear", NULL};
    medley_model *model = fit(data, settings);
    medley_report_options options = MEDLEY_REPORT_OPTIONS_INIT;
    options.data = data;
    char *html = report_text(model, &options);
    check_markup(html);
    assert_in_range(strlen(html), 50000, 3000000);
    check_has(html, "each cell is 16 by 16 labels");
    free(html);
    medley_model_free(model);
    medley_dataset_free(data);
}

static void long_sentences_make_no_large_file(void **state)
{
    (void)state;
    md_text trees = {0};
    md_text tags = {0};
    for (int s = 0; s < 2; s++) {
        for (int w = 1; w <= 500; w++) {
            md_text_addf(&trees, "%d\tword\t_\tNOUN\tNN\t_\t%d\tdep%d\t_\t_\n", w, w - 1, w % 3);
            md_text_addf(&tags, "word%d NN %s\n", w % 7, w % 5 ? "I-NP" : "B-NP");
        }
        md_text_addf(&trees, "\n");
        md_text_addf(&tags, "\n");
    }
    const char *const parser[] = {"task",      "tree", "template", "arc-form-upos", "epochs", "1",
                                  "hash-bits", "10",   NULL};
    const char *const tagger[] = {"template", "chunk", "epochs", "1", "eta0", "0.01", NULL};
    medley_dataset *sets[] = {read_text(trees.data, ".conllu", NULL),
                              read_text(tags.data, ".txt", NULL)};
    for (size_t i = 0; i < 2; i++) {
        medley_model *model = fit(sets[i], i == 0 ? parser : tagger);
        medley_report_options options = MEDLEY_REPORT_OPTIONS_INIT;
        options.data = sets[i];
        char *html = report_text(model, &options);
        check_markup(html);
        assert_in_range(strlen(html), 10000, 1000000);
        free(html);
        medley_model_free(model);
        medley_dataset_free(sets[i]);
    }
    md_text_clear(&trees);
    md_text_clear(&tags);
}

/* ---- wrong use ---- */

static void wrong_use_is_refused_and_leaves_nothing(void **state)
{
    (void)state;
    medley_error error = {0};
    char path[64];
    struct stat info;
    temporary_path(path, ".html");
    medley_report_options options = MEDLEY_REPORT_OPTIONS_INIT;
    assert_int_equal(medley_report_write(NULL, path, NULL, &error), MEDLEY_USAGE);
    medley_dataset *data = generated("waveform", 30, 1);
    medley_model *model = fit(data, QUICK);
    const double rows[42] = {0};
    medley_dataset *bare = NULL;
    assert_int_equal(medley_dataset_from_dense(&bare, rows, 2, 21, NULL, &no_error), MEDLEY_OK);
    options.data = bare;
    error = (medley_error){0};
    assert_int_equal(medley_report_write(model, path, &options, &error), MEDLEY_USAGE);
    assert_true(stat(path, &info) != 0);
    error = (medley_error){0};
    assert_int_equal(medley_report_write(model, "/no/such/folder/r.html", NULL, &error),
                     MEDLEY_FAILED);
    if (stat("/dev/full", &info) == 0) { /* a disk without room */
        error = (medley_error){0};
        assert_int_equal(medley_report_write(model, "/dev/full", NULL, &error), MEDLEY_FAILED);
        assert_true(error.message[0] != '\0');
    }
    /* a caller that was compiled when there were fewer options */
    options.data = data;
    options.examples = 0; /* not looked at: the default is */
    options.struct_size = offsetof(medley_report_options, examples);
    char *html = report_text(model, &options);
    check_has(html, "id=\"examples\"");
    free(html);
    medley_dataset_free(bare);
    medley_dataset_free(data);
    medley_model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(classes_are_reported),
        cmocka_unit_test(data_are_predicted_once),
        cmocka_unit_test(words_of_letters_are_drawn),
        cmocka_unit_test(tagged_sentences_are_drawn),
        cmocka_unit_test(trees_are_drawn),
        cmocka_unit_test(probabilities_of_arcs_are_drawn_where_they_can_be_trusted),
        cmocka_unit_test(numbers_are_drawn),
        cmocka_unit_test(paths_and_tunings_need_no_model),
        cmocka_unit_test(many_blocks_make_no_large_file),
        cmocka_unit_test(many_labels_make_no_large_file),
        cmocka_unit_test(long_sentences_make_no_large_file),
        cmocka_unit_test(wrong_use_is_refused_and_leaves_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
