/* SPDX-License-Identifier: BSD-3-Clause */
#include "select/share.h"

#include "gram/tile.h"

void md_share_clear(md_share *share)
{
    for (size_t g = 0; share->grams != NULL && g < share->computed; g++)
        md_precomputed_clear(&share->grams[g]);
    md_pool_clear(&share->pool);
    md_texts_free(share->weights);
    *share = (md_share){0};
}

/* ---- what is shared ---- */

static bool has_values(const md_kernel *kernel)
{
    return kernel->class != NULL && !md_kernel_has_weights(kernel);
}

/* Unit diagonals are made at once; traces and means are those of training rows. The values come
 * later. */
static medley_status begin_gram(md_precomputed *gram, md_kernel *kernel, medley_error *error)
{
    const md_norm later = kernel->norm == MD_NORM_DIAG ? MD_NORM_NONE : kernel->norm;
    if (kernel->norm != MD_NORM_DIAG)
        kernel->norm = MD_NORM_NONE;
    gram->norm = 1 + (int)later;
    gram->sound = kernel->class->positive_definite;
    return md_new_text(&gram->name, kernel->name, strlen(kernel->name), error);
}

/* K(x,x) of held-out rows stands in columns that they lose. */
static medley_status keep_diagonal(md_share *share, size_t g, int normalize, medley_error *error)
{
    md_precomputed *gram = &share->grams[g];
    const size_t rows = share->data.rows;
    const int norm = gram->norm > 0 ? gram->norm - 1 : normalize;
    if (norm != MD_NORM_DIAG || gram->diagonal != NULL || gram->values.columns != rows)
        return MEDLEY_OK;
    MEDLEY_TRY(md_pool_new(&share->pool, &gram->diagonal, rows, sizeof(double), error));
    for (size_t r = 0; r < rows; r++)
        gram->diagonal[r] = gram->wide != NULL ? gram->wide[r * rows + r]
                                               : (double)gram->values.dense[r * rows + r];
    return MEDLEY_OK;
}

static medley_status make_room(md_share *share, size_t grams, medley_error *error)
{
    MEDLEY_TRY(md_pool_new(&share->pool, &share->grams, grams, sizeof *share->grams, error));
    share->data.grams = share->grams;
    share->data.gram_count = 0;
    return MEDLEY_OK;
}

/* The kernels that came ready made, and nothing else: the folds make their own. */
static medley_status share_given(md_share *share, const medley_dataset *dataset,
                                 const medley_options *options, medley_error *error)
{
    MEDLEY_TRY(make_room(share, dataset->gram_count, error));
    for (size_t g = 0; g < dataset->gram_count; g++) {
        share->grams[g] = dataset->grams[g];
        share->data.gram_count++;
        MEDLEY_TRY(keep_diagonal(share, g, options->normalize, error));
    }
    return MEDLEY_OK;
}

/* The kernels of the bank as those of a data set: first the ones whose values are to be computed,
 * then those that came ready made. */
static medley_status list_kernels(md_share *share, md_kernel_set *set, medley_error *error)
{
    md_bank *bank = &set->bank;
    bool weights = false;
    MEDLEY_TRY(make_room(share, bank->count, error));
    for (size_t m = 0; m < bank->count; m++) {
        weights = weights || md_kernel_has_weights(&bank->kernels[m]);
        if (!has_values(&bank->kernels[m]))
            continue;
        share->computed++;
        MEDLEY_TRY(begin_gram(&share->grams[share->data.gram_count++], &bank->kernels[m], error));
    }
    for (size_t m = 0; m < bank->count; m++) {
        if (bank->kernels[m].class != NULL)
            continue;
        const size_t g = share->data.gram_count++;
        share->grams[g] = set->data->grams[bank->kernels[m].view];
        share->grams[g].norm = 1 + (int)bank->kernels[m].norm;
        MEDLEY_TRY(keep_diagonal(share, g, MD_NORM_NONE, error));
    }
    share->replaces = true;
    if (!weights) {
        share->data.tables = NULL;
        share->data.table_count = 0;
    }
    return MEDLEY_OK;
}

/* Before anything that depends on training rows. The observer may stop it. */
static medley_status compute_values(md_share *share, md_kernel_set *set,
                                    const md_share_limits *limits, double began,
                                    medley_error *error)
{
    md_bank *bank = &set->bank;
    const size_t rows = set->data->rows;
    size_t g = 0;
    float **full = NULL;
    MD_CLEARED(md_pool_clear) md_pool pool = {0};
    MEDLEY_TRY(md_pool_new(&pool, &full, bank->count, sizeof(float *), error));
    for (size_t m = 0; m < bank->count; m++) {
        if (!has_values(&bank->kernels[m]))
            continue;
        MEDLEY_TRY(md_matrix_init_dense(&share->grams[g].values, rows, rows, error));
        full[m] = share->grams[g++].values.dense;
    }
    MEDLEY_TRY(md_prepared_make(&set->prepared, bank, set->data, true, error));
    md_full_job job = {.bank = bank,
                       .prepared = &set->prepared,
                       .full = full,
                       .threads = limits->threads,
                       .observer = limits->observer,
                       .began = began};
    MEDLEY_TRY(md_tile_scratch_make(&pool, &job.scratch, job.threads, job.prepared, error));
    return md_full_compute(&job, error);
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

/* What a fold takes beside the shared values: its own copy of them, cut, and what the learner makes
 * of that. Held-out rows keep the columns of learnt rows. */
static void count_fold(md_share *share, const md_bank *bank, const md_share_limits *limits)
{
    const double rows = (double)share->data.rows;
    const double learnt = rows - rows / (double)limits->folds;
    size_t kernels = 0;
    for (size_t m = 0; m < bank->count; m++)
        kernels += !md_kernel_has_weights(&bank->kernels[m]);
    share->cut_bytes = (double)share->data.gram_count * rows * learnt * sizeof(float) +
                       (double)table_bytes(&share->data) + template_bytes(&share->data);
    share->learner_bytes = (double)kernels * learnt * learnt * sizeof(float);
    share->shared_bytes = (double)share->computed * rows * rows * sizeof(float);
}

static bool fits(const md_share *share, const md_share_limits *limits)
{
    return limits->memory == 0 ||
           share->shared_bytes + share->cut_bytes + share->learner_bytes <= (double)limits->memory;
}

/* As many folds side by side as fit: (memory - shared) / (cut + learner of one fold). */
static void count_workers(md_share *share, const md_share_limits *limits)
{
    const double fold = share->cut_bytes + share->learner_bytes + 1;
    const double left = (double)limits->memory - share->shared_bytes;
    share->workers = limits->threads;
    if (limits->memory > 0 && left < fold * (double)limits->threads)
        share->workers = left > fold ? (size_t)(left / fold) : 1;
    if (share->alone)
        share->workers = 1;
    if (limits->memory == 0 || share->alone)
        return;
    const double least = (double)limits->memory / 8; /* learners do with little */
    share->budget = (size_t)fmax(left / (double)share->workers - share->cut_bytes, least);
}

static medley_status share_kernels(md_share *share, md_kernel_set *set,
                                   const md_share_limits *limits, double began, medley_error *error)
{
    medley_status status = MEDLEY_OK;
    bool same = false;
    size_t values = 0;
    for (size_t m = 0; m < set->bank.count; m++)
        values += has_values(&set->bank.kernels[m]);
    if (values > 0) {
        MEDLEY_TRY(list_kernels(share, set, error));
        MEDLEY_TRY(md_share_check(&same, share, set, error));
        count_fold(share, &set->bank, limits);
    }
    if (same && fits(share, limits)) {
        MEDLEY_TRY(status = compute_values(share, set, limits, began, error));
    } else {
        const bool alone = share->alone;
        md_share_clear(share);
        *share = (md_share){.data = *set->data, .alone = alone, .too_large = same};
        MEDLEY_TRY(share_given(share, set->data, set->options, error));
        count_fold(share, &set->bank, limits);
    }
    count_workers(share, limits);
    return status;
}

medley_status md_share_make(md_share *share, const medley_dataset *dataset,
                            const medley_options *options, const md_method *method,
                            const md_share_limits *limits, medley_error *error)
{
    const double began = md_clock_seconds();
    MD_CLEARED(md_kernel_set_clear)
    md_kernel_set set = {.data = dataset,
                         .options = options,
                         .task = md_task_of(options, dataset),
                         .method = method};
    const bool alone = (set.task->about.takes & MD_TAKES_KERNELS) == 0;
    MD_CLEARED(md_share_clear) md_share made = {.data = *dataset, .alone = alone};
    if (!alone)
        MEDLEY_TRY(md_share_make_bank(&set, error));
    const medley_status status = share_kernels(&made, &set, limits, began, error);
    if (status != MEDLEY_OK)
        return status;
    made.seconds = made.replaces ? md_clock_seconds() - began : 0;
    *share = md_take(&made);
    return MEDLEY_OK;
}
