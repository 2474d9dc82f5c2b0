/* SPDX-License-Identifier: BSD-3-Clause */
/* What the tasks share that predict labels: binary, multiclass and chain. */
#include "task/problem.h"

const char *const md_label_measures[] = {"f1", "accuracy", "log-loss", "exact-match", NULL};

bool md_dataset_has_only_targets(const medley_dataset *data)
{
    return data->label == NULL && data->target != NULL;
}

medley_status md_labels_check(const md_problem *problem, medley_error *error)
{
    const medley_dataset *train = problem->train;
    bool differ = false;
    if (train->rows == 0)
        return md_fail_at(error, MEDLEY_BAD_INPUT, train->source, 0,
                          "there are no rows to learn from");
    if (md_dataset_has_only_targets(train))
        return md_fail_at(error, MEDLEY_USAGE, train->source, 0,
                          "the data have numbers to be predicted and no labels; use `task="
                          "regression`, or give labels");
    if (train->label == NULL)
        return md_fail_at(error, MEDLEY_USAGE, train->source, 0,
                          "there are no labels to learn from; use `label` or `labels`");
    for (size_t r = 0; r < train->rows; r++) {
        if (train->label[r] < 0)
            return md_fail_at(error, MEDLEY_BAD_INPUT, train->source, 0,
                              "row %zu has no label; every training row needs one", r + 1);
        differ = differ || train->label[r] != train->label[0];
    }
    if (differ)
        return MEDLEY_OK;
    if (train->rows == 1)
        return md_fail_at(error, MEDLEY_BAD_INPUT, train->source, 0,
                          "there is a single row; a classifier needs at least two, with labels "
                          "that differ");
    return md_fail_at(error, MEDLEY_BAD_INPUT, train->source, 0,
                      "all %zu rows have the label '%s'; a classifier needs at least two labels",
                      train->rows, train->label_names.items[train->label[0]]);
}

void md_labels_describe(md_problem *problem)
{
    problem->space.shape.labels = problem->train->label_names.count;
    problem->gold = problem->train->label;
}

bool md_labels_can_number(md_shape shape, size_t longest)
{
    const double labels = (double)shape.labels;
    return (double)longest * labels * (shape.local_pairs ? labels : 1) +
               pow(labels, (double)shape.order + 1) <
           (double)INT32_MAX;
}

medley_status md_labels_check_size(const md_problem *problem, medley_error *error)
{
    const md_shape shape = problem->space.shape;
    if (md_labels_can_number(shape, problem->longest))
        return MEDLEY_OK;
    return md_fail_at(error, MEDLEY_BAD_INPUT, problem->train->source, 0,
                      "a sequence of %zu rows with %zu labels is too large for this model; cut it "
                      "into shorter ones, use `order=1` or templates without macros in B lines",
                      problem->longest, shape.labels);
}

medley_status md_labels_prepare_dev(md_problem *problem, medley_error *error)
{
    if (problem->dev->label == NULL || problem->dev->rows == 0)
        return md_fail_at(error, MEDLEY_USAGE, problem->dev->source, 0,
                          "held-out data need rows with labels");
    MEDLEY_TRY(md_dataset_map_labels(&problem->dev_gold, problem->dev, &problem->train->label_names,
                                     error));
    /* data that do not fit are found out now, not after the first epoch */
    MD_CLEARED(md_prepared_clear) md_prepared prepared = {0};
    if (problem->bank.count == 0)
        return MEDLEY_OK;
    return md_prepared_make(&prepared, &problem->bank, problem->dev, false, error);
}

medley_status md_labels_build(medley_model *model, const md_draft *draft, medley_error *error)
{
    model->space = draft->problem->space;
    MEDLEY_TRY(md_strings_copy(&model->labels, draft->labels, error));
    return md_words_build(model, draft, error);
}

const int32_t *md_labels_of(const medley_prediction *prediction)
{
    return prediction->label;
}
