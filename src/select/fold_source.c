/* SPDX-License-Identifier: BSD-3-Clause */
#include "select/choice.h"
#include "select/folds.h"

void md_fold_source_clear(md_fold_source *source)
{
    md_pool_clear(&source->pool);
    *source = (md_fold_source){0};
}

/* ---- kernels that came ready made ---- */

/* K(x,x) of held-out rows stands in columns that they lose. */
static medley_status keep_diagonal(md_fold_source *source, md_precomputed *gram, int normalize,
                                   medley_error *error)
{
    const size_t rows = source->data.rows;
    const int norm = gram->norm > 0 ? gram->norm - 1 : normalize;
    if (norm != MD_NORM_DIAG || gram->diagonal != NULL || gram->values.columns != rows)
        return MEDLEY_OK;
    MEDLEY_TRY(md_pool_new(&source->pool, &gram->diagonal, rows, sizeof(double), error));
    for (size_t r = 0; r < rows; r++)
        gram->diagonal[r] = gram->wide != NULL ? gram->wide[r * rows + r]
                                               : (double)gram->values.dense[r * rows + r];
    return MEDLEY_OK;
}

static medley_status take_grams(md_fold_source *source, const medley_dataset *dataset,
                                const medley_options *options, medley_error *error)
{
    md_precomputed *grams = NULL;
    MEDLEY_TRY(md_pool_new(&source->pool, &grams, dataset->gram_count, sizeof *grams, error));
    for (size_t g = 0; g < dataset->gram_count; g++) {
        grams[g] = dataset->grams[g];
        MEDLEY_TRY(keep_diagonal(source, &grams[g], options->normalize, error));
    }
    source->data.grams = grams;
    return MEDLEY_OK;
}

/* ---- how much ---- */

static double table_bytes(const medley_dataset *dataset)
{
    double bytes = 0;
    for (size_t t = 0; t < dataset->table_count; t++) {
        const md_matrix *features = &dataset->tables[t].features;
        bytes += (double)(md_matrix_is_sparse(features) ? features->start[features->rows] * 8
                                                        : features->rows * features->columns * 4);
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

/* The kernels whose values a learner keeps, and whether there is enough to do for a card. The bank
 * is made to be counted; one that cannot be made cannot be made in a fold either. */
static medley_status count_kernels(size_t *count, bool *is_for_card, const medley_dataset *dataset,
                                   const medley_options *options, const md_task *task,
                                   const md_method *method, medley_error *error)
{
    MD_CLEARED(md_bank_clear) md_bank bank = {0};
    MD_CLEARED(md_selection_clear) md_selection selection = {0};
    MD_OWNED(free) bool *wanted = NULL;
    MEDLEY_TRY(md_make_bank(&bank, dataset, options, task, method, error));
    MEDLEY_TRY(md_selection_make(&selection, options, error));
    MEDLEY_TRY(md_selection_of_bank(&selection, &bank, error));
    MEDLEY_TRY(md_new(&wanted, bank.count, sizeof *wanted, error));
    for (size_t m = 0; m < bank.count; m++) {
        wanted[m] = !md_kernel_has_weights(&bank.kernels[m]);
        *count += wanted[m];
    }
    *is_for_card = md_is_worth_a_card(&bank, wanted, dataset->rows, method);
    return MEDLEY_OK;
}

/* Folds side by side would take the memory of a card from each other, and what each of them gets
 * would depend on which is the first. */
static medley_status finds_card(bool *finds, const medley_options *options, bool is_for_card,
                                medley_error *error)
{
    char reason[MD_DEVICE_MESSAGE];
    MD_OWNED(md_device_close) md_device *device = NULL;
    *finds = !md_device_is_cpu(options->device);
    if (!md_device_is_auto(options->device))
        return MEDLEY_OK;
    if (is_for_card)
        MEDLEY_TRY(md_device_open(&device, options->device, reason, error));
    *finds = device != NULL;
    return MEDLEY_OK;
}

/* As many folds side by side as fit: memory / (data and kernel values of one fold). Held-out rows
 * keep the columns of learnt rows. */
static void count_workers(md_fold_source *source, const md_fold_limits *limits, size_t kernels)
{
    const double rows = (double)source->data.rows;
    const double learnt = rows - rows / (double)limits->folds;
    const double cut = (double)source->data.gram_count * rows * learnt * sizeof(float) +
                       table_bytes(&source->data) + template_bytes(&source->data);
    const double fold = 1 + cut + (double)kernels * learnt * learnt * sizeof(float);
    const double memory = (double)limits->memory;
    source->workers = limits->threads;
    if (limits->memory == 0)
        return;
    if (memory < fold * (double)limits->threads)
        source->workers = memory > fold ? (size_t)(memory / fold) : 1;
    const double least = memory / 8; /* learners do with little */
    source->budget = (size_t)fmax(memory / (double)source->workers - cut, least);
}

medley_status md_fold_source_make(md_fold_source *source, const medley_dataset *dataset,
                                  const medley_options *options, const md_method *method,
                                  const md_fold_limits *limits, medley_error *error)
{
    const md_task *task = md_task_of(options, dataset);
    MD_CLEARED(md_fold_source_clear)
    md_fold_source made = {.data = *dataset, .workers = 1, .ranks = limits->ranks};
    size_t kernels = 0;
    bool is_for_card = false;
    bool finds = false;
    MEDLEY_TRY(take_grams(&made, dataset, options, error));
    if ((task->about.takes & MD_TAKES_KERNELS) != 0) { /* else a fold is better with all threads */
        MEDLEY_TRY(count_kernels(&kernels, &is_for_card, dataset, options, task, method, error));
        count_workers(&made, limits, kernels);
        MEDLEY_TRY(finds_card(&finds, options, is_for_card && limits->ranks <= 1, error));
        if (finds)
            made.workers = 1;
    }
    *source = md_take(&made);
    return MEDLEY_OK;
}

medley_status md_fold_adapt(const md_fold_source *source, medley_options *options,
                            const md_method *method, size_t threads, medley_error *error)
{
    options->threads = (long long)threads;
    if (source->ranks > 1 && !md_device_is_cpu(options->device)) {
        if (!md_device_is_auto(options->device))
            return md_fail(error, MEDLEY_NOT_SUPPORTED,
                           "device %s: ranks learn on their processors; leave out `device`",
                           options->device);
        MEDLEY_TRY(medley_options_set(options, "device", "cpu", error));
    }
    options->comm = NULL;                          /* a fold is learnt by one rank */
    if (options->memory > 0 && source->budget > 0) /* defaults mean more than a number */
        options->memory = source->budget;
    MEDLEY_TRY(md_options_reset(options, MD_TAKES_CHECKPOINTS, error));
    if (strcmp(options->method, "auto") == 0) /* a fold has fewer rows, and may suit another */
        MEDLEY_TRY(medley_options_set(options, "method", method->about->name, error));
    return MEDLEY_OK;
}
