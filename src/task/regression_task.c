/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers. They have no structure: one score is the prediction. */
#include "task/predicting.h"
#include "task/problem.h"

static bool fits(const medley_options *options, const medley_dataset *data)
{
    (void)options;
    return md_dataset_has_only_targets(data);
}

/* The first label that is no number names the row. */
static medley_status check_row(const medley_dataset *train, size_t r, medley_error *error)
{
    if (train->label[r] < 0)
        return md_fail_at(error, MEDLEY_BAD_INPUT, train->source, 0,
                          "row %zu has no label; every training row needs one", r + 1);
    const char *text = train->label_names.items[train->label[r]];
    double number;
    if (md_parse_double(text, &number) && isfinite(number))
        return MEDLEY_OK;
    return md_fail_at(error, MEDLEY_BAD_INPUT, train->source, 0,
                      "row %zu has the label '%s'; `task=regression` predicts numbers, so every "
                      "label must be one",
                      r + 1, text);
}

/* Squares of numbers must be finite, and so must their sum. */
static medley_status check_targets(const medley_dataset *train, medley_error *error)
{
    static const double LARGEST = 1e100;
    for (size_t r = 0; r < train->rows; r++)
        if (fabs(train->target[r]) > LARGEST)
            return md_fail_at(error, MEDLEY_BAD_INPUT, train->source, 0,
                              "row %zu has the number %.3g to predict, and numbers beyond %.0e "
                              "cannot be squared; divide all of them by a constant",
                              r + 1, train->target[r], LARGEST);
    return MEDLEY_OK;
}

static medley_status check(const md_problem *problem, medley_error *error)
{
    const medley_dataset *train = problem->train;
    if (train->rows == 0)
        return md_fail_at(error, MEDLEY_BAD_INPUT, train->source, 0,
                          "there are no rows to learn from");
    if (md_dataset_has_only_targets(train))
        return check_targets(train, error);
    if (train->label == NULL)
        return md_fail_at(error, MEDLEY_USAGE, train->source, 0,
                          "there are no labels to learn from; use `label` or `labels`");
    for (size_t r = 0; r < train->rows; r++)
        MEDLEY_TRY(check_row(train, r, error));
    if (train->target != NULL)
        return check_targets(train, error);
    return md_fail_at(error, MEDLEY_BAD_INPUT, train->source, 0,
                      "the labels are not numbers; `task=regression` predicts numbers");
}

static void describe(md_problem *problem)
{
    problem->space.shape.labels = 1;
}

static const char *const measures[] = {"rmse", NULL};

const md_task md_task_regression = {
    .about = {.name = "regression", .summary = "a number for each row", .takes = MD_TAKES_KERNELS},
    .defaults = {.loss = "squared"},
    .one_score = true,
    .measures = measures,
    .fits = fits,
    .check = check,
    .describe = describe,
    .templates = &md_word_templates,
    .info = {.title = "Predicting numbers",
             .does = "predicts numbers",
             .example = "example",
             .examples = "examples",
             .parts = "rows",
             .has_certificate = true},
    .check_request = md_regression_check_request,
    .predict = md_regression_predict,
    .check_truth = md_regression_check_truth,
    .compare = md_regression_compare,
};
