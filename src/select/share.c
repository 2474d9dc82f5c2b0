/* SPDX-License-Identifier: BSD-3-Clause */
#include "select/share.h"

#include "base/clock.h"
#include "base/memory.h"
#include "select/choice.h"
#include <stdlib.h>
#include <string.h>

void md_share_clear(md_share *share)
{
    for (size_t g = 0; share->grams != NULL && g < share->computed; g++)
        md_precomputed_clear(&share->grams[g]);
    for (size_t g = 0; share->diagonals != NULL && g < share->data.gram_count; g++)
        free(share->diagonals[g]);
    free(share->grams);
    free(share->diagonals);
    md_texts_free(share->weights);
    *share = (md_share){0};
}

/* ---- what is shared ---- */

static bool has_values(const md_kernel *kernel)
{
    return kernel->class != NULL && !md_kernel_has_weights(kernel);
}

/* Unit diagonals are made at once; traces and means are those of training rows. */
static medley_status begin_gram(md_precomputed *gram, md_kernel *kernel, size_t rows,
                                medley_error *error)
{
    const md_norm later = kernel->norm == MD_NORM_DIAG ? MD_NORM_NONE : kernel->norm;
    if (kernel->norm != MD_NORM_DIAG)
        kernel->norm = MD_NORM_NONE;
    gram->norm = 1 + (int)later;
    gram->sound = kernel->class->positive_definite;
    gram->name = md_copy_text(kernel->name, strlen(kernel->name));
    if (gram->name == NULL)
        return md_fail_memory(error, strlen(kernel->name));
    return md_matrix_init_dense(&gram->values, rows, rows, error);
}

/* K(x,x) of held-out rows stands in columns that they lose. */
static medley_status keep_diagonal(md_share *share, size_t g, int normalize, medley_error *error)
{
    md_precomputed *gram = &share->grams[g];
    const size_t rows = share->data.rows;
    const int norm = gram->norm > 0 ? gram->norm - 1 : normalize;
    if (norm != MD_NORM_DIAG || gram->diagonal != NULL || gram->values.columns != rows)
        return MEDLEY_OK;
    double *diagonal = md_calloc(rows, sizeof *diagonal);
    if (diagonal == NULL)
        return md_fail_memory(error, rows * sizeof *diagonal);
    for (size_t r = 0; r < rows; r++)
        diagonal[r] = gram->wide != NULL ? gram->wide[r * rows + r]
                                         : (double)gram->values.dense[r * rows + r];
    share->diagonals[g] = gram->diagonal = diagonal;
    return MEDLEY_OK;
}

static medley_status make_room(md_share *share, size_t grams, medley_error *error)
{
    share->grams = md_calloc(grams, sizeof *share->grams);
    share->diagonals = md_calloc(grams, sizeof *share->diagonals);
    if (share->grams == NULL || share->diagonals == NULL)
        return md_fail_memory(error, grams * sizeof *share->grams);
    share->data.grams = share->grams;
    share->data.gram_count = 0;
    return MEDLEY_OK;
}

/* The kernels that came ready made, and nothing else: the folds make their own. */
static medley_status share_given(md_share *share, const medley_dataset *dataset,
                                 const medley_options *options, medley_error *error)
{
    medley_status status = make_room(share, dataset->gram_count, error);
    for (size_t g = 0; g < dataset->gram_count && status == MEDLEY_OK; g++) {
        share->grams[g] = dataset->grams[g];
        share->data.gram_count++;
        status = keep_diagonal(share, g, options->normalize, error);
    }
    return status;
}

/* The kernels of the bank: values that are computed now, those that came ready made, and the names
 * of those with weights. */
static medley_status share_bank(md_share *share, md_problem *problem, const md_share_limits *limits,
                                double began, medley_error *error)
{
    medley_status status = MEDLEY_OK;
    md_bank *bank = &problem->bank;
    const medley_dataset *dataset = problem->train;
    float **full = md_calloc(bank->count, sizeof *full);
    if (full == NULL)
        return md_fail_memory(error, bank->count * sizeof *full);
    MEDLEY_TRY(make_room(share, bank->count, error));
    for (size_t m = 0; m < bank->count; m++) {
        md_kernel *kernel = &bank->kernels[m];
        if (has_values(kernel)) {
            const size_t g = share->data.gram_count++;
            share->computed++;
            MEDLEY_TRY(begin_gram(&share->grams[g], kernel, dataset->rows, error));
            full[m] = share->grams[g].values.dense;
        } else if (kernel->class != NULL) {
            MEDLEY_TRY(md_texts_add(&share->weights, kernel->name, error));
        }
    }
    for (size_t m = 0; m < bank->count; m++) {
        if (bank->kernels[m].class != NULL)
            continue;
        const size_t g = share->data.gram_count++;
        share->grams[g] = dataset->grams[bank->kernels[m].view];
        share->grams[g].norm = 1 + (int)bank->kernels[m].norm;
        MEDLEY_TRY(keep_diagonal(share, g, MD_NORM_NONE, error));
    }
    MEDLEY_TRY(md_points_make(&problem->points, bank, dataset, true, error));
    MEDLEY_TRY(md_share_values(problem, full, limits, began, error));
    share->replaces = true;
    if (share->weights == NULL) {
        share->data.tables = NULL;
        share->data.table_count = 0;
    }
done:
    free(full);
    return status;
}

/* ---- how much ---- */

static size_t table_bytes(const medley_dataset *dataset)
{
    size_t bytes = 0;
    for (size_t t = 0; t < dataset->table_count; t++) {
        const md_matrix *features = &dataset->tables[t].features;
        bytes += md_matrix_is_sparse(features) ? features->start[features->rows] * 8
                                               : features->rows * features->columns * 4;
    }
    return bytes;
}

/* Features of templates: of each row and template a new one, at worst. */
static double template_bytes(const medley_dataset *dataset)
{
    enum { TEMPLATES = 32, BYTES = 8 };
    return dataset->token_columns == 0 ? 0
                                       : (double)dataset->rows * TEMPLATES * BYTES *
                                             (double)(dataset->label_names.count + 1);
}

/* A fold has its own copy of kernel values, and the learner another; trees fill tables of hashed
 * weights and are better off with all threads. */
static void count_workers(md_share *share, const medley_dataset *dataset, size_t kernels,
                          const md_share_limits *limits)
{
    const double square = (double)dataset->rows * (double)dataset->rows * sizeof(float);
    const double shared = (double)share->computed * square;
    const double fold = 2 * (double)kernels * square + (double)table_bytes(&share->data) +
                        template_bytes(dataset) + 1;
    const double left = (double)limits->memory - shared;
    share->fold_bytes = (size_t)fold;
    share->workers = limits->threads;
    if (limits->memory > 0 && left < fold * (double)limits->threads)
        share->workers = left > fold ? (size_t)(left / fold) : 1;
    if (share->trees)
        share->workers = 1;
}

/* Only the kernels that the options leave in. */
static medley_status make_bank(md_problem *problem, medley_error *error)
{
    md_selection selection = {0};
    medley_status status = md_problem_make_bank(problem, error);
    if (status == MEDLEY_OK)
        status = md_selection_make(&selection, problem->options, error);
    if (status == MEDLEY_OK)
        status = md_selection_of_bank(&selection, &problem->bank, error);
    md_selection_clear(&selection);
    return status;
}

/* Would the folds, which see other data, be learnt by another method? */
static medley_status keeps_method(bool *same, const md_share *share, const medley_options *options,
                                  const md_method *method, medley_error *error)
{
    const md_method *chosen = NULL;
    medley_options *adapted = NULL;
    medley_status status = md_options_with(&adapted, options, NULL, NULL, 0, error);
    if (status == MEDLEY_OK)
        status = md_share_adapt(share, adapted, method, 1, error);
    if (status == MEDLEY_OK)
        status = md_method_choose(&chosen, adapted, &share->data, NULL, error);
    *same = chosen == method;
    medley_options_free(adapted);
    return status;
}

static medley_status share_kernels(md_share *share, md_problem *problem,
                                   const md_share_limits *limits, double began, medley_error *error)
{
    const medley_dataset *dataset = problem->train;
    const double square = (double)dataset->rows * (double)dataset->rows * sizeof(float);
    size_t values = 0;
    size_t kernels = 0;
    bool same = true;
    medley_status status = MEDLEY_OK;
    for (size_t m = 0; m < problem->bank.count; m++) {
        values += has_values(&problem->bank.kernels[m]);
        kernels += !md_kernel_has_weights(&problem->bank.kernels[m]);
    }
    const bool fits = limits->memory == 0 || (double)values * square <= (double)limits->memory;
    if (values > 0 && fits) {
        status = share_bank(share, problem, limits, began, error);
        if (status == MEDLEY_OK)
            status = keeps_method(&same, share, problem->options, problem->method, error);
        if (status != MEDLEY_OK || same)
            goto done;
        md_share_clear(share);
        share->data = *dataset;
    }
    status = share_given(share, dataset, problem->options, error);
done:
    if (status == MEDLEY_OK)
        count_workers(share, dataset, kernels, limits);
    return status;
}

medley_status md_share_make(md_share *share, const medley_dataset *dataset,
                            const medley_options *options, const md_method *method,
                            const md_share_limits *limits, medley_error *error)
{
    const double began = md_clock_seconds();
    md_problem problem = {
        .train = dataset,
        .options = options,
        .method = method,
        .threads = limits->threads,
        .trees = md_task_of(options, dataset) == MD_TASK_TREE,
    };
    *share = (md_share){.data = *dataset, .trees = problem.trees};
    medley_status status = MEDLEY_OK;
    if (!problem.trees)
        status = make_bank(&problem, error);
    if (status == MEDLEY_OK)
        status = share_kernels(share, &problem, limits, began, error);
    share->seconds = share->replaces ? md_clock_seconds() - began : 0;
    md_problem_clear(&problem);
    if (status != MEDLEY_OK)
        md_share_clear(share);
    return status;
}

/* ---- the options of a fold ---- */

static medley_status set_text(char **target, const char *text, medley_error *error)
{
    char *copy = text ? md_copy_text(text, strlen(text)) : NULL;
    if (text != NULL && copy == NULL)
        return md_fail_memory(error, strlen(text));
    free(*target);
    *target = copy;
    return MEDLEY_OK;
}

medley_status md_share_adapt(const md_share *share, medley_options *options,
                             const md_method *method, size_t threads, medley_error *error)
{
    medley_status status = MEDLEY_OK;
    options->threads = (long long)threads;
    options->resume = false;
    MEDLEY_TRY(set_text(&options->checkpoint, NULL, error));
    if (strcmp(options->method, "auto") == 0) /* a fold has fewer rows, and may suit another */
        MEDLEY_TRY(set_text(&options->method, method->name, error));
    if (!share->replaces)
        goto done;
    md_texts_free(options->kernels);
    md_texts_free(options->kernel_files);
    options->kernels = NULL;
    options->kernel_files = NULL;
    options->normalize = MD_NORM_NONE; /* each kernel says its own */
    for (size_t k = 0; share->weights != NULL && share->weights[k] != NULL; k++)
        MEDLEY_TRY(md_texts_add(&options->kernels, share->weights[k], error));
    if (share->weights != NULL)
        goto done;
    md_texts_free(options->scale);
    options->scale = NULL;
    MEDLEY_TRY(set_text(&options->views, "auto", error));
done:
    return status;
}
