/* SPDX-License-Identifier: BSD-3-Clause */
/* What is predicted, and by which loss and penalty: the options read against the data. */
#include "learner/problem.h"

#include "base/memory.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the task ---- */

/* Numbers to be predicted that came from memory: there are no labels beside them. */
static bool has_only_targets(const medley_dataset *data)
{
    return data->label == NULL && data->target != NULL;
}

static medley_status check_labels(const medley_dataset *train, const md_task *task,
                                  medley_error *error)
{
    if (train->rows == 0)
        return md_fail_at(error, MEDLEY_BAD_INPUT, train->source, 0,
                          "there are no rows to learn from");
    if (has_only_targets(train) && task == &md_task_regression)
        return MEDLEY_OK;
    if (has_only_targets(train))
        return md_fail_at(error, MEDLEY_USAGE, train->source, 0,
                          "the data have numbers to be predicted and no labels; use --task "
                          "regression, or give labels");
    if (train->label == NULL)
        return md_fail_at(error, MEDLEY_USAGE, train->source, 0,
                          "there are no labels to learn from; use --label COLUMN or --labels FILE");
    for (size_t r = 0; r < train->rows; r++)
        if (train->label[r] < 0)
            return md_fail_at(error, MEDLEY_BAD_INPUT, train->source, 0,
                              "row %zu has no label; every training row needs one", r + 1);
    return MEDLEY_OK;
}

static medley_status check_classes(const medley_dataset *train, medley_error *error)
{
    for (size_t r = 1; r < train->rows; r++)
        if (train->label[r] != train->label[0])
            return MEDLEY_OK;
    return md_fail_at(error, MEDLEY_BAD_INPUT, train->source, 0,
                      "all %zu rows have the label '%s'; a classifier needs at least two labels",
                      train->rows, train->label_names.items[train->label[0]]);
}

/* The first label that is no number names the row. */
static medley_status check_numbers(const medley_dataset *train, medley_error *error)
{
    for (size_t r = 0; !has_only_targets(train) && r < train->rows; r++) {
        const char *text = train->label_names.items[train->label[r]];
        char *end;
        const double number = strtod(text, &end);
        if (*text == '\0' || *end != '\0' || !isfinite(number))
            return md_fail_at(error, MEDLEY_BAD_INPUT, train->source, 0,
                              "row %zu has the label '%s'; --task regression predicts numbers, so "
                              "every label must be one",
                              r + 1, text);
    }
    if (train->target == NULL)
        return md_fail_at(error, MEDLEY_BAD_INPUT, train->source, 0,
                          "the labels are not numbers; --task regression predicts numbers");
    return MEDLEY_OK;
}

/* Fractions among the labels, or nearly as many numbers as rows: no classes. */
static bool look_like_numbers(const medley_dataset *train)
{
    if (train->target == NULL)
        return false;
    for (size_t r = 0; r < train->rows; r++)
        if (train->target[r] != floor(train->target[r]))
            return true;
    return train->label_names.count > train->rows / 2 && train->label_names.count > 50;
}

static medley_status check_task(const md_problem *problem, const md_task *task, medley_error *error)
{
    const medley_dataset *train = problem->train;
    const size_t labels = train->label_names.count;
    if (task == &md_task_binary && labels != 2)
        return md_fail_at(error, MEDLEY_BAD_INPUT, train->source, 0,
                          "%zu different labels found, --task binary expects two; use --task "
                          "multiclass, or --label if this is not the label column",
                          labels);
    if (task == &md_task_chain && train->sequence_count == 0)
        return md_fail_at(error, MEDLEY_BAD_INPUT, train->source, 0,
                          "--task chain expects sequences and these rows stand alone; use a format "
                          "that has them (columns, conllu, letter, attributes)");
    if (problem->options->task == 0 && task == &md_task_multiclass && look_like_numbers(train))
        return md_fail_at(error, MEDLEY_BAD_INPUT, train->source, 0,
                          "%zu different numeric labels in %zu rows look like numbers to be "
                          "predicted, not classes; say --task regression, check --label, or say "
                          "--task multiclass",
                          labels, train->rows);
    if (task == &md_task_regression && (!problem->method->batch || problem->method->labels_only))
        return md_fail(error, MEDLEY_NOT_SUPPORTED,
                       "--method %s learns labels, not numbers; use --method spicy for --task "
                       "regression",
                       problem->method->name);
    if (task == &md_task_tree && problem->method->batch)
        return md_fail(error, MEDLEY_NOT_SUPPORTED,
                       "--method %s is for rows that stand alone; use --method spom or obscure for "
                       "trees",
                       problem->method->name);
    if (task == &md_task_chain && problem->method->batch)
        return md_fail(error, MEDLEY_NOT_SUPPORTED,
                       "--method %s is for rows that stand alone; use --method spom for sequences, "
                       "or --task multiclass to look at each row by itself",
                       problem->method->name);
    return MEDLEY_OK;
}

medley_status md_problem_find_task(md_problem *problem, medley_error *error)
{
    const medley_dataset *train = problem->train;
    const md_task *task = md_task_of(problem->options, train);
    const bool trees = problem->trees = task == &md_task_tree;
    medley_status status =
        trees ? md_trees_check(problem, error) : check_labels(train, task, error);
    if (status == MEDLEY_OK && !trees)
        status =
            task == &md_task_regression ? check_numbers(train, error) : check_classes(train, error);
    if (status == MEDLEY_OK)
        status = check_task(problem, task, error);
    if (status < 0)
        return status;
    problem->sequences = task == &md_task_chain;
    problem->regression = task == &md_task_regression;
    problem->task = task->about.name;
    problem->gold = trees ? train->head : train->label;
    problem->space =
        (md_space){.structure = task->structure ? task->structure : &md_structure_multiclass,
                   .shape = {.labels = problem->regression || trees ? 1 : train->label_names.count,
                             .many_roots = problem->options->roots == MD_ROOTS_MANY}};
    return MEDLEY_OK;
}

/* ---- the loss ---- */

static medley_status find_margin_loss(md_problem *problem, const char *text, medley_error *error)
{
    medley_status status = MEDLEY_OK;
    md_spec spec = {0};
    MEDLEY_TRY(md_spec_parse(&spec, text, error));
    const md_margin_loss *loss = md_margin_loss_find(spec.name);
    if (loss == NULL && md_loss_find(spec.name) == NULL) {
        status = md_fail_unlisted("loss", "losses", spec.name, error);
        goto done;
    }
    if (loss == NULL || loss->classifies == problem->regression) {
        status = md_fail(error, MEDLEY_USAGE,
                         "--loss %s has no place in --task %s of --method %s; use %s", spec.name,
                         problem->task, problem->method->name,
                         problem->regression ? "squared or epsilon" : "hinge or logistic");
        goto done;
    }
    problem->margin_state = md_calloc(1, loss->state_size + 1);
    if (problem->margin_state == NULL) {
        status = md_fail_memory(error, loss->state_size);
        goto done;
    }
    char what[64];
    snprintf(what, sizeof what, "loss %s", loss->name);
    if (loss->params != NULL)
        MEDLEY_TRY(md_params_defaults(loss->params, problem->margin_state, error));
    MEDLEY_TRY(md_params_set_spec(loss->params, problem->margin_state, what, &spec, error));
    problem->margin_loss = loss;
    problem->loss_name = text;
done:
    md_spec_clear(&spec);
    return status;
}

medley_status md_problem_find_loss(md_problem *problem, medley_error *error)
{
    const char *name = problem->options->loss;
    if (strcmp(name, "auto") == 0)
        name = problem->regression ? "squared" : "hinge";
    if (problem->method->batch)
        return find_margin_loss(problem, name, error);
    problem->loss = md_loss_find(name);
    if (problem->loss != NULL)
        return MEDLEY_OK;
    if (md_margin_loss_find(name) != NULL)
        return md_fail(error, MEDLEY_USAGE,
                       "--loss %s is for numbers: use it with --task regression", name);
    return md_fail_unlisted("loss", "losses", name, error);
}

medley_status md_problem_find_penalty(md_problem *problem, medley_error *error)
{
    const char *name = problem->options->penalty;
    char norm[48];
    if (problem->method->rule == MD_RULE_MIRROR) {
        snprintf(norm, sizeof norm, "squared-block(q=%.17g)", problem->options->p);
        name = norm;
    }
    if (strcmp(name, "auto") == 0)
        name = problem->method->penalty ? problem->method->penalty
               : problem->method->batch ? "group-lasso"
                                        : "mkl";
    return md_penalty_create(&problem->penalty, name, error);
}

double md_default_C(const md_method *method, bool trees)
{
    static const double most = 10, of_trees = 3; /* as the help of --C tells */
    return method->default_C > 0 ? method->default_C : trees ? of_trees : most;
}
