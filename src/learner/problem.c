/* SPDX-License-Identifier: BSD-3-Clause */
#include "learner/problem.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/parallel.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

void md_problem_clear(md_problem *problem)
{
    md_penalty_free(problem->penalty);
    free(problem->examples);
    md_gram_free(problem->gram);
    md_points_clear(&problem->points);
    free(problem->dev_gold);
    md_bank_clear(&problem->bank);
    *problem = (md_problem){0};
}

static bool forward(void *context, const medley_progress *progress)
{
    md_problem *problem = context;
    const medley_observer *observer = problem->observer;
    if (observer != NULL && observer->progress != NULL &&
        !observer->progress(observer->context, progress))
        problem->stopped = true;
    return !problem->stopped;
}

bool md_problem_report(md_problem *problem, const char *stage, size_t done, size_t total,
                       double objective, double dev_accuracy)
{
    const medley_progress progress = {.stage = stage,
                                      .done = done,
                                      .total = total,
                                      .objective = objective,
                                      .dev_accuracy = dev_accuracy,
                                      .seconds = md_clock_seconds() - problem->began};
    return forward(problem, &progress);
}

/* ---- checks ---- */

static medley_status check_labels(const medley_dataset *train, medley_error *error)
{
    if (train->rows == 0)
        return md_fail_at(error, MEDLEY_BAD_INPUT, train->source, 0,
                          "there are no rows to learn from");
    if (train->label == NULL)
        return md_fail_at(error, MEDLEY_USAGE, train->source, 0,
                          "there are no labels to learn from; use --label COLUMN or --labels FILE");
    for (size_t r = 0; r < train->rows; r++)
        if (train->label[r] < 0)
            return md_fail_at(error, MEDLEY_BAD_INPUT, train->source, 0,
                              "row %zu has no label; every training row needs one", r + 1);
    for (size_t r = 1; r < train->rows; r++)
        if (train->label[r] != train->label[0])
            return MEDLEY_OK;
    return md_fail_at(error, MEDLEY_BAD_INPUT, train->source, 0,
                      "all %zu rows have the label '%s'; a classifier needs at least two labels",
                      train->rows, train->label_names.items[train->label[0]]);
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

static medley_status check_task(md_problem *problem, medley_error *error)
{
    const size_t labels = problem->train->label_names.count;
    const int task = problem->options->task;
    if (task == MD_TASK_BINARY && labels != 2)
        return md_fail_at(error, MEDLEY_BAD_INPUT, problem->train->source, 0,
                          "%zu different labels found, --task binary expects two; use --task "
                          "multiclass, or --label if this is not the label column",
                          labels);
    if (task == MD_TASK_AUTO && look_like_numbers(problem->train))
        return md_fail_at(error, MEDLEY_BAD_INPUT, problem->train->source, 0,
                          "%zu different numeric labels in %zu rows look like numbers to be "
                          "predicted, not classes; check --label, or say --task multiclass",
                          labels, problem->train->rows);
    problem->task = task == MD_TASK_BINARY ? "binary" : "multiclass";
    problem->structure = md_structure_find("multiclass");
    return MEDLEY_OK;
}

static medley_status find_loss(md_problem *problem, medley_error *error)
{
    const char *name = problem->options->loss;
    problem->loss = md_loss_find(name);
    if (problem->loss != NULL)
        return MEDLEY_OK;
    return md_fail_unlisted("loss", "losses", name, error);
}

/* ---- assembly ---- */

static medley_status make_examples(md_problem *problem, medley_error *error)
{
    problem->example_count = problem->train->rows;
    problem->examples = md_calloc(problem->example_count, sizeof *problem->examples);
    if (problem->examples == NULL)
        return md_fail_memory(error, problem->example_count * sizeof *problem->examples);
    for (size_t e = 0; e < problem->example_count; e++)
        problem->examples[e] = (md_example){.row = e, .length = 1};
    return MEDLEY_OK;
}

static medley_status make_bank(md_problem *problem, medley_error *error)
{
    char **specs = NULL;
    medley_status status = md_options_kernels(&specs, problem->options, error);
    if (status < 0)
        return status;
    const md_bank_options bank_options = {.kernels = specs,
                                          .views = problem->options->views,
                                          .scale = problem->options->scale,
                                          .normalize = (md_norm)problem->options->normalize,
                                          .seed = (uint64_t)problem->options->seed};
    status = md_bank_make(&problem->bank, problem->train, &bank_options, error);
    md_texts_free(specs);
    return status;
}

static medley_status check_blocks(const md_problem *problem, medley_error *error)
{
    if (md_penalty_inner_threshold(problem->penalty) == 0)
        return MEDLEY_OK;
    for (size_t m = 0; m < problem->bank.count; m++)
        if (!problem->bank.kernels[m].explicit_weights)
            return md_fail(error, MEDLEY_USAGE,
                           "penalty %s looks at single weights, which the kernel '%s' does not "
                           "have; use linear(explicit) or another penalty",
                           md_penalty_text(problem->penalty), problem->bank.kernels[m].name);
    return MEDLEY_OK;
}

static medley_status create_gram(md_problem *problem, size_t memory, medley_error *error)
{
    medley_error inner = {0};
    const md_gram_options options = {
        .threads = problem->threads, .memory = memory, .observer = &problem->watch};
    const medley_status status =
        md_gram_create(&problem->gram, &problem->bank, &problem->points, &options, &inner);
    if (status == MEDLEY_OK || problem->stopped)
        return MEDLEY_OK; /* who wanted to stop is not told of a failure */
    return md_fail_at(error, status, inner.file, (size_t)inner.line, "%s", inner.message);
}

static medley_status compute_kernels(md_problem *problem, medley_error *error)
{
    const double start = md_clock_seconds();
    size_t memory = problem->options->memory;
    if (memory == 0)
        memory = md_memory_available() / 2;
    medley_status status =
        md_points_make(&problem->points, &problem->bank, problem->train, true, error);
    bool any = false;
    for (size_t m = 0; m < problem->bank.count; m++)
        any = any || !problem->bank.kernels[m].explicit_weights;
    if (status == MEDLEY_OK && any)
        status = create_gram(problem, memory, error);
    problem->seconds_kernels = md_clock_seconds() - start;
    return status;
}

static medley_status prepare_dev(md_problem *problem, medley_error *error)
{
    if (problem->dev == NULL)
        return MEDLEY_OK;
    if (problem->dev->label == NULL || problem->dev->rows == 0)
        return md_fail_at(error, MEDLEY_USAGE, problem->dev->source, 0,
                          "held-out data need rows with labels");
    problem->dev_gold = md_dataset_map_labels(problem->dev, &problem->train->label_names);
    if (problem->dev_gold == NULL)
        return md_fail_memory(error, problem->dev->rows * sizeof *problem->dev_gold);
    /* data that do not fit are found out now, not after the first epoch */
    md_points points = {0};
    const medley_status status =
        md_points_make(&points, &problem->bank, problem->dev, false, error);
    md_points_clear(&points);
    return status;
}

medley_status md_problem_init(md_problem *problem, const medley_dataset *train,
                              const medley_dataset *dev, const medley_options *options,
                              const medley_observer *observer, medley_error *error)
{
    medley_status status = MEDLEY_OK;
    *problem = (md_problem){.train = train,
                            .dev = dev,
                            .options = options,
                            .observer = observer,
                            .watch = {.context = problem, .progress = forward},
                            .began = md_clock_seconds()};
    problem->threads = options->threads > 0 ? (size_t)options->threads : md_processor_count();
    MEDLEY_TRY(find_loss(problem, error));
    MEDLEY_TRY(md_penalty_create(&problem->penalty, options->penalty, error));
    MEDLEY_TRY(check_labels(train, error));
    MEDLEY_TRY(check_task(problem, error));
    MEDLEY_TRY(make_examples(problem, error));
    MEDLEY_TRY(md_options_number(&problem->eta0, "eta0", options->eta0, false, error));
    MEDLEY_TRY(md_options_number(&problem->radius, "radius", options->radius, true, error));
    MEDLEY_TRY(md_options_lambda(&problem->lambda, options, problem->example_count, error));
    MEDLEY_TRY(make_bank(problem, error));
    MEDLEY_TRY(check_blocks(problem, error));
    MEDLEY_TRY(prepare_dev(problem, error));
    MEDLEY_TRY(compute_kernels(problem, error));
done:
    if (status < 0)
        md_problem_clear(problem);
    return status;
}

medley_status md_problem_block(md_block **block, md_problem *problem, size_t m, medley_error *error)
{
    const md_kernel *kernel = &problem->bank.kernels[m];
    const size_t labels = problem->train->label_names.count;
    const bool averaging = problem->options->average;
    if (kernel->explicit_weights)
        return md_explicit_block_create(block, &problem->points.views[kernel->view],
                                        sqrt(kernel->factor), kernel->name, labels, averaging,
                                        error);
    return md_kernel_block_create(block, problem->gram, m, kernel->name, labels, averaging, error);
}
