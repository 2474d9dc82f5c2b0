/* SPDX-License-Identifier: BSD-3-Clause */
/* What reports say must be true of the model at hand: of its penalty, its certificate, the data it
 * was measured on, and of what is left out of a table. */
#include "report_case.h"

#include "model/model.h"
#include <math.h>

static medley_dataset *waves(size_t rows)
{
    return generated("waveform", rows, 1);
}

static medley_dataset *other_waves(size_t rows)
{
    return generated("waveform", rows, 2);
}

static medley_model *learnt(const medley_dataset *data, const char *penalty)
{
    const char *const settings[] = {"epochs",  "3",     "eta0",   "1",
                                    "kernel",  "rbf",   "kernel", "linear(norm=diag)",
                                    "penalty", penalty, NULL};
    return fit(data, settings);
}

/* ---- weights ---- */

static void a_weight_is_what_the_penalty_makes_it(void **state)
{
    (void)state;
    static const struct {
        const char *penalty, *says, *not ;
    } cases[] = {
        {"mkl", "the share of its norm in the sum of all norms", "to the power"},
        {"group-lasso", "the share of its norm in the sum of all norms", "to the power"},
        {"block(q=1.5)", "under the penalty block(q=1.5)", "the share of its norm in the sum"},
        {"squared-block(q=1.2)", "under the penalty squared-block(q=1.2)",
         "the share of its norm in the sum"},
        {"elastic(t=0.5)", "divided by 1", "the share of its norm in the sum"},
        {"elastic-mkl(s=0.5)", "the slope of the penalty elastic-mkl ",
         "the share of its norm in the sum"},
        {"l2", "all blocks have the same weight", "the share of its norm in the sum"},
    };
    medley_dataset *data = waves(60);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        medley_model *model = learnt(data, cases[i].penalty);
        char *html = report_text(model, NULL);
        check_markup(html);
        check_has(html, cases[i].says);
        check_has_not(html, cases[i].not );
        check_has_not(html, "A block without weight is not part");
        free(html);
        medley_model_free(model);
    }
    medley_dataset_free(data);
}

static void equal_weights_are_ranked_by_norm(void **state)
{
    (void)state;
    medley_dataset *data = waves(60);
    medley_model *model = learnt(data, "l2");
    medley_block_info blocks[3] = {{"small", 0.5, 1, 1}, {"none", 0, 0, 0}, {"large", 0.5, 4, 1}};
    const medley_summary before = model->summary;
    model->summary.blocks = blocks;
    model->summary.block_count = 3;
    model->summary.active_blocks = 2;
    char *html = report_text(model, NULL);
    check_has_not(html, "carry");
    check_has(html, "Norms, largest first");
    check_has(html, "data-value=\"4\"");
    const char *bars = strstr(html, "id=\"weight-bars\"");
    assert_non_null(bars);
    assert_true(strstr(bars, "large") < strstr(bars, "small"));
    free(html);
    medley_report_options options = MEDLEY_REPORT_OPTIONS_INIT;
    options.top = 0;
    html = report_text(model, &options);
    check_has_not(html, "weight-bars");
    check_has(html, "2 have a weight: see the table");
    free(html);
    model->summary = before;
    medley_model_free(model);
    medley_dataset_free(data);
}

/* ---- certificate ---- */

static void certificates_are_no_better_than_they_are(void **state)
{
    (void)state;
    medley_dataset *data = waves(60);
    medley_model *model = learnt(data, "mkl");
    const medley_summary before = model->summary;
    model->summary.objective = 1;
    model->summary.gap = 0.00121;
    model->summary.converged = true;
    char *html = report_text(model, NULL);
    check_has(html, "lower by more than 0.13\xC2\xA0%");
    free(html);
    model->summary.converged = false;
    html = report_text(model, NULL);
    check_has_not(html, "certificate");
    check_has(html, "may have an objective that is lower by up to 0.13\xC2\xA0%");
    free(html);
    model->summary.converged = true;
    model->summary.objective = (double)INFINITY;
    html = report_text(model, NULL);
    check_has_not(html, "certificate");
    check_has_not(html, "lower by");
    free(html);
    model->summary = before;
    medley_model_free(model);
    medley_dataset_free(data);
}

/* ---- two values of one thing ---- */

static void curves_say_what_they_are_of(void **state)
{
    (void)state;
    medley_dataset *data = waves(60);
    medley_model *model = learnt(data, "mkl");
    const medley_summary before = model->summary;
    assert_true(before.epoch_count > 1);
    model->summary.objective = 1.75 * before.epochs[before.epoch_count - 1].objective;
    model->summary.seconds_train = 61;
    char *html = report_text(model, NULL);
    check_has(html, "objectives while the model was learning");
    check_has(html, "final model is ");
    check_has(html, "the training time of 61.0\xC2\xA0s includes");
    free(html);
    model->summary.objective = before.epochs[before.epoch_count - 1].objective;
    html = report_text(model, NULL);
    check_has_not(html, "final model is ");
    free(html);
    model->summary = before;
    medley_model_free(model);
    medley_dataset_free(data);
}

/* ---- data ---- */

static void data_that_chose_the_model_are_told(void **state)
{
    (void)state;
    medley_dataset *data = waves(60);
    medley_dataset *others = other_waves(40);
    medley_model *model = learnt(data, "mkl");
    medley_report_options options = MEDLEY_REPORT_OPTIONS_INIT;
    options.data = others;
    char *html = report_text(model, &options);
    check_has(html, "95 % confidence");
    check_has_not(html, "These data chose");
    free(html);
    options.data_chose = true;
    html = report_text(model, &options);
    check_has_not(html, "95 % confidence");
    check_has(html, "These data chose the epoch");
    check_has(html, "on data that chose the epoch");
    free(html);
    medley_model_free(model);
    medley_dataset_free(others);
    medley_dataset_free(data);
}

static const char KNOWN[] = "a,b,label\n0,0,x\n0,1,x\n9,9,y\n9,8,y\n1,0,x\n8,9,y\n";
static const char UNKNOWN[] = "a,b,label\n0,0,x\n9,9,y\n5,5,<ghost>\n5,4,<ghost>\n2,7,spirit\n";

static void labels_that_training_did_not_see_are_listed(void **state)
{
    (void)state;
    medley_dataset *data = read_text(KNOWN, ".csv", NULL);
    medley_dataset *other = read_text(UNKNOWN, ".csv", NULL);
    medley_model *model = learnt(data, "mkl");
    medley_report_options options = MEDLEY_REPORT_OPTIONS_INIT;
    options.data = other;
    char *html = report_text(model, &options);
    check_markup(html);
    check_has_not(html, "No label was confused with another one");
    check_has(html, "3 rows have labels that training did not see");
    check_has(html, "<bdi>&lt;ghost&gt;</bdi> (2), <bdi>spirit</bdi> (1).");
    check_has(html,
              "3 of the rows have a label that never occurred in training, which counts as wrong");
    free(html);
    options.data = data;
    html = report_text(model, &options);
    check_has(html, "No label was confused with another one");
    check_has_not(html, "training did not see");
    check_has(html, "all of them right");
    check_has(html, "farthest from the mean of their column");
    check_has(html, "numbered among those looked at");
    check_has_not(html, "most certain of a wrong answer");
    free(html);
    medley_model_free(model);
    medley_dataset_free(other);
    medley_dataset_free(data);
}

static void sparse_rows_show_their_largest_values(void **state)
{
    (void)state;
    medley_dataset *data = read_text("1 1:3 4:1\n-1 2:5\n1 1:2\n-1 2:4 3:1\n", ".svm", NULL);
    medley_model *model = learnt(data, "mkl");
    medley_report_options options = MEDLEY_REPORT_OPTIONS_INIT;
    options.data = data;
    char *html = report_text(model, &options);
    check_has(html, "their largest values");
    check_has_not(html, "the mean of their column");
    free(html);
    medley_model_free(model);
    medley_dataset_free(data);
}

/* ---- trees ---- */

static const char TREES[] =
    "1\tThe\tthe\tDET\tDT\t_\t2\tdet\t_\t_\n2\tdog\tdog\tNOUN\tNN\t_\t3\tnsubj"
    "\t_\t_\n3\truns\trun\tVERB\tVB\t_\t0\troot\t_\t_\n\n";

/* The same words, other heads and relations: the model is right in some cells and wrong in others.
 */
static const char OTHERS[] =
    "1\tThe\tthe\tDET\tDT\t_\t2\tamod\t_\t_\n2\tdog\tdog\tNOUN\tNN\t_\t3\tnsubj"
    "\t_\t_\n3\truns\trun\tVERB\tVB\t_\t0\troot\t_\t_\n\n";

static void the_table_of_a_tree_marks_the_cell_that_differs(void **state)
{
    (void)state;
    medley_dataset *data = read_text(TREES, ".conllu", NULL);
    medley_dataset *other = read_text(OTHERS, ".conllu", NULL);
    const char *const settings[] = {
        "task", "tree", "template", "arc-form-upos", "epochs", "20", "hash-bits", "10", NULL};
    medley_model *model = fit(data, settings);
    medley_report_options options = MEDLEY_REPORT_OPTIONS_INIT;
    options.data = other;
    char *html = report_text(model, &options);
    check_markup(html);
    check_has(html, "<td><bdi>amod</bdi></td><td><bdi>dog</bdi></td>"
                    "<td class=\"wrong\">✗ <bdi>det</bdi></td>");
    free(html);
    medley_model_free(model);
    const char *const bare[] = {"task",      "tree", "template",   "arc-form-upos", "epochs", "20",
                                "hash-bits", "10",   "unlabelled", "yes",           NULL};
    model = fit(data, bare);
    html = report_text(model, &options);
    check_has(html, "predicted head</th><th class=\"n\" scope=\"col\">probability of the head, "
                    "uncalibrated</th></tr>");
    check_has_not(html, "predicted relation");
    check_has(html, "whole sentences");
    free(html);
    medley_model_free(model);
    medley_dataset_free(other);
    medley_dataset_free(data);
}

/* ---- tables that are cut ---- */

static void tables_say_what_they_leave_out(void **state)
{
    (void)state;
    enum { MANY = 10025 };
    medley_dataset *data = waves(30);
    medley_model *model = learnt(data, "mkl");
    medley_block_info *blocks = calloc(MANY, sizeof *blocks);
    const medley_summary before = model->summary;
    assert_non_null(blocks);
    for (size_t m = 0; m < MANY; m++)
        blocks[m] = (medley_block_info){"k", 1.0 / MANY, 1, 3};
    model->summary.blocks = blocks;
    model->summary.block_count = model->summary.active_blocks = MANY;
    char *html = report_text(model, NULL);
    check_has_not(html, "All 10,025 kernels as a table");
    check_has(html, "The first 10,000 of 10,025 kernels as a table");
    check_has(html, "and 25 more");
    free(html);
    model->summary.block_count = model->summary.active_blocks = 1;
    html = report_text(model, NULL);
    check_has(html, "The kernel as a table");
    check_has(html, "active kernel<");
    check_has_not(html, "1 kernels");
    free(html);
    model->summary = before;
    free(blocks);
    medley_model_free(model);
    medley_dataset_free(data);
}

static void many_labels_are_counted(void **state)
{
    (void)state;
    enum { MANY = 2040 };
    double values[MANY];
    for (size_t i = 0; i < MANY; i++)
        values[i] = (double)i / MANY;
    medley_dataset *data = rows_of_many_labels(values, MANY, 1);
    const char *const settings[] = {"epochs", "1", "eta0", "1", "kernel", "linear", NULL};
    medley_model *model = fit(data, settings);
    medley_report_options options = MEDLEY_REPORT_OPTIONS_INIT;
    options.data = data;
    char *html = report_text(model, &options);
    check_has(html, "<summary>2,010 more</summary>");
    check_has(html, "and 40 more");
    free(html);
    medley_model_free(model);
    medley_dataset_free(data);
}

/* ---- numbers ---- */

static void numbers_worse_than_the_mean_are_told(void **state)
{
    (void)state;
    medley_dataset *data = read_text("x,y\n0,1\n1,2\n2,3\n3,4\n4,5\n", ".csv", NULL);
    medley_dataset *other = read_text("x,y\n0,5\n1,4\n2,3\n3,2\n4,1\n", ".csv", NULL);
    medley_dataset *one = read_text("x,y\n0,5\n", ".csv", NULL);
    const char *const settings[] = {"task", "regression", "kernel", "linear", NULL};
    medley_model *model = fit(data, settings);
    medley_report_options options = MEDLEY_REPORT_OPTIONS_INIT;
    options.data = other;
    options.examples = 0;
    char *html = report_text(model, &options);
    check_has(html, "of always predicting the mean of these rows");
    check_has_not(html, "unexplained");
    check_has_not(html, "farthest off");
    free(html);
    options.data = one;
    html = report_text(model, &options);
    check_has(html, "(1 row)");
    check_has_not(html, ">rmse ");
    free(html);
    medley_model_free(model);
    medley_dataset_free(one);
    medley_dataset_free(other);
    medley_dataset_free(data);
}

/* ---- paths ---- */

enum { POINTS = 5, LINES = 9 };

/* y of the number of each line, in the chart of weights. */
static void read_labels(const char *html, double y[LINES])
{
    for (size_t i = 0; i < LINES; i++) {
        char end[16];
        y[i] = (double)NAN;
        snprintf(end, sizeof end, ">%zu</text>", i + 1);
        for (const char *p = html; (p = strstr(p, "<text class=\"label")) != NULL; p++) {
            const char *close = strchr(p, '>');
            const char *at = strstr(p, " y=\"");
            if (strncmp(close, end, strlen(end)) == 0 && at != NULL && at < close)
                y[i] = strtod(at + 4, NULL);
        }
        assert_true(y[i] > 0);
    }
}

static void numbers_of_lines_stay_near_them(void **state)
{
    (void)state;
    double weights[POINTS][LINES];
    medley_path_point points[POINTS];
    const char *names[LINES] = {"a", "b", "c", "d", "e", "f", "g", "h", "i"};
    for (size_t p = 0; p < POINTS; p++) {
        for (size_t m = 0; m < LINES; m++) /* one far above, the others close together */
            weights[p][m] = m == 0 ? 0.6 : 0.05 - 0.0005 * (double)m;
        points[p] = (medley_path_point){.lambda = pow(10, -(double)p),
                                        .C = 1,
                                        .objective = 1,
                                        .dual = NAN,
                                        .gap = NAN,
                                        .score = NAN,
                                        .active = LINES,
                                        .weights = weights[p],
                                        .norms = weights[p]};
    }
    medley_path path = {"binary", "spicy", "logistic", "group-lasso", NULL,
                        false,    names,   LINES,      points,        POINTS};
    medley_report_options options = MEDLEY_REPORT_OPTIONS_INIT;
    options.path = &path;
    char *html = report_text(NULL, &options);
    check_has(html, "The penalty group-lasso in 5 strengths");
    double y[LINES];
    read_labels(html, y);
    for (size_t i = 1; i < LINES; i++) /* in the order of the lines, and none over another */
        assert_true(y[i] - y[i - 1] > 10.9);
    assert_true(y[LINES - 1] < 280);
    /* eight numbers of 11 units around their lines: no farther than half of that and some */
    assert_true(y[LINES - 1] - y[1] < 8 * 11);
    free(html);
    for (size_t p = 0; p < POINTS; p++)
        memset(weights[p], 0, sizeof weights[p]);
    path.point_count = 1;
    html = report_text(NULL, &options);
    check_has(html, "in 1 strength. ");
    check_has(html, "No block has a weight anywhere on the path");
    check_has_not(html, "100\xC2\xA0%");
    free(html);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_weight_is_what_the_penalty_makes_it),
        cmocka_unit_test(equal_weights_are_ranked_by_norm),
        cmocka_unit_test(certificates_are_no_better_than_they_are),
        cmocka_unit_test(curves_say_what_they_are_of),
        cmocka_unit_test(data_that_chose_the_model_are_told),
        cmocka_unit_test(labels_that_training_did_not_see_are_listed),
        cmocka_unit_test(sparse_rows_show_their_largest_values),
        cmocka_unit_test(the_table_of_a_tree_marks_the_cell_that_differs),
        cmocka_unit_test(tables_say_what_they_leave_out),
        cmocka_unit_test(many_labels_are_counted),
        cmocka_unit_test(numbers_worse_than_the_mean_are_told),
        cmocka_unit_test(numbers_of_lines_stay_near_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
