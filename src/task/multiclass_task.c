/* SPDX-License-Identifier: BSD-3-Clause */
/* Any number of labels. */
#include "task/predicting.h"
#include "task/problem.h"

static bool fits(const medley_options *options, const medley_dataset *data)
{
    (void)options;
    return data->label_names.count != 2 && !md_dataset_has_only_targets(data);
}

bool md_labels_look_like_numbers(const medley_dataset *train)
{
    if (train->target == NULL)
        return false;
    for (size_t r = 0; r < train->rows; r++)
        if (train->target[r] != floor(train->target[r]))
            return true;
    return train->label_names.count > train->rows / 2 && train->label_names.count > 50;
}

/* A word among labels that are numbers, with fractions or nearly as many as rows: it is a mistake
 * in a column of numbers. NULL: there is none. */
static const char *word_among_numbers(const medley_dataset *train)
{
    enum { LEAST_LABELS = 20 };
    const size_t labels = train->label_names.count;
    const char *word = NULL;
    size_t numbers = 0;
    const bool many = labels > train->rows / 2;
    bool fractions = false;
    if (train->target != NULL || labels < LEAST_LABELS)
        return NULL;
    for (size_t l = 0; l < labels; l++) {
        const char *name = train->label_names.items[l];
        double value;
        if (!md_parse_double(name, &value) || !isfinite(value)) {
            word = word != NULL ? word : name;
            continue;
        }
        numbers++;
        fractions = fractions || value != floor(value);
    }
    return (many || (fractions && labels > train->rows / 4)) && 10 * numbers >= 9 * labels ? word
                                                                                           : NULL;
}

static medley_status fail_word(const medley_dataset *train, const char *word, medley_error *error)
{
    size_t row = 0;
    while (row < train->rows && (train->label[row] < 0 ||
                                 strcmp(train->label_names.items[train->label[row]], word) != 0))
        row++;
    return md_fail_at(error, MEDLEY_BAD_INPUT, train->source, 0,
                      "the label of row %zu is '%.40s', and nearly all others are numbers; correct "
                      "it or remove the row, or say `task=multiclass` if these are classes",
                      row + 1, word);
}

static medley_status check(const md_problem *problem, medley_error *error)
{
    const medley_dataset *train = problem->train;
    const medley_status status = md_labels_check(problem, error);
    const bool chosen = problem->options->task > 0;
    if (status < 0 || chosen)
        return status;
    const char *word = word_among_numbers(train);
    if (word != NULL)
        return fail_word(train, word, error);
    if (!md_labels_look_like_numbers(train))
        return status;
    const md_table *table = md_dataset_table(train, "");
    const char *column = table != NULL ? table->label_name : NULL;
    return md_fail_at(
        error, MEDLEY_BAD_INPUT, train->source, 0,
        "%zu different numeric labels in %zu rows%s%s%s look like numbers to be "
        "predicted, not classes; say `task=regression`, or `task=multiclass`, or which "
        "column has the labels by `label`",
        train->label_names.count, train->rows, column ? " (column '" : "", column ? column : "",
        column ? "')" : "");
}

const md_task md_task_multiclass = {
    .about = {.name = "multiclass",
              .summary = "one of several labels for each row",
              .takes = MD_TAKES_KERNELS | MD_TAKES_WORDS | MD_TAKES_PROBABILITIES},
    MD_OF_SINGLE_ROWS,
    .fits = fits,
    .check = check,
    .most_labels = MD_MOST_LABELS,
};
