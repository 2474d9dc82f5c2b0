/* SPDX-License-Identifier: BSD-3-Clause */
/* The options of a fold, and whether they mean the kernels that all rows have. Kernels with weights
 * go by their specs, and a spec may mean more than it did: @all is the view of DATA and every other
 * table's. So the bank that a fold would make is made, and its names are compared. */
#include "select/share.h"

#include "select/choice.h"

medley_status md_share_adapt(const md_share *share, medley_options *options,
                             const md_method *method, size_t threads, medley_error *error)
{
    options->threads = (long long)threads;
    if (options->memory > 0 && share->budget > 0) /* defaults mean more than a number */
        options->memory = share->budget;
    MEDLEY_TRY(md_options_reset(options, MD_TAKES_CHECKPOINTS, error));
    if (strcmp(options->method, "auto") == 0) /* a fold has fewer rows, and may suit another */
        MEDLEY_TRY(medley_options_set(options, "method", method->about->name, error));
    if (!share->replaces)
        return MEDLEY_OK;
    if (share->weights == NULL)
        return md_options_reset(options, MD_TAKES_KERNELS, error);
    md_texts_free(options->kernels);
    md_texts_free(options->kernel_files);
    options->kernels = NULL;
    options->kernel_files = NULL;
    options->normalize = MD_NORM_NONE; /* each kernel says its own */
    for (size_t k = 0; share->weights[k] != NULL; k++)
        MEDLEY_TRY(md_texts_add(&options->kernels, share->weights[k], error));
    return MEDLEY_OK;
}

medley_status md_share_make_bank(md_kernel_set *set, medley_error *error)
{
    MD_CLEARED(md_selection_clear) md_selection selection = {0};
    MEDLEY_TRY(md_make_bank(&set->bank, set->data, set->options, set->task, set->method, error));
    MEDLEY_TRY(md_selection_make(&selection, set->options, error));
    return md_selection_of_bank(&selection, &set->bank, error);
}

void md_kernel_set_clear(md_kernel_set *set)
{
    md_prepared_clear(&set->prepared);
    md_bank_clear(&set->bank);
}

/* ---- is it the same? ---- */

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static medley_status sort_names(const char ***names, const md_bank *bank, medley_error *error)
{
    MEDLEY_TRY(md_new(names, bank->count, sizeof(char *), error));
    for (size_t m = 0; m < bank->count; m++)
        (*names)[m] = bank->kernels[m].name;
    qsort(*names, bank->count, sizeof(char *), compare_names);
    return MEDLEY_OK;
}

static medley_status compare_banks(bool *same, const md_bank *a, const md_bank *b,
                                   medley_error *error)
{
    MD_OWNED(free) const char **left = NULL;
    MD_OWNED(free) const char **right = NULL;
    MEDLEY_TRY(sort_names(&left, a, error));
    MEDLEY_TRY(sort_names(&right, b, error));
    *same = a->count == b->count;
    for (size_t m = 0; *same && m < a->count; m++)
        *same = strcmp(left[m], right[m]) == 0;
    return MEDLEY_OK;
}

/* With share->weights as they are. Specs that cannot be read back are no failure. */
static medley_status check_weights(bool *same, const md_share *share, const md_kernel_set *set,
                                   medley_error *error)
{
    const md_method *chosen = NULL;
    MD_OWNED(medley_options_free) medley_options *adapted = NULL;
    medley_error unread = {0};
    MD_CLEARED(md_kernel_set_clear)
    md_kernel_set fold = {.data = &share->data, .method = set->method, .task = set->task};
    *same = false;
    MEDLEY_TRY(md_options_with(&adapted, set->options, NULL, NULL, 0, error));
    MEDLEY_TRY(md_share_adapt(share, adapted, set->method, 1, error));
    MEDLEY_TRY(md_method_choose(&chosen, adapted, &share->data, NULL, error));
    fold.options = adapted;
    if (chosen != set->method || md_share_make_bank(&fold, &unread) != MEDLEY_OK)
        return MEDLEY_OK;
    return compare_banks(same, &fold.bank, &set->bank, error);
}

/* The specs of kernels with weights: each with its view, or each once for all views. */
static medley_status list_weights(md_share *share, const md_bank *bank, bool of_all_views,
                                  medley_error *error)
{
    MD_CLEARED(md_strings_clear) md_strings specs = {0};
    for (size_t m = 0; m < bank->count; m++) {
        const md_kernel *kernel = &bank->kernels[m];
        if (!md_kernel_has_weights(kernel))
            continue;
        const size_t tail = 1 + strlen(bank->views[kernel->view].name); /* "@view" */
        const size_t length = strlen(kernel->name) - (of_all_views ? tail : 0);
        MEDLEY_TRY(md_strings_put(&specs, kernel->name, length, NULL, error));
    }
    md_texts_free(share->weights);
    share->weights = NULL;
    for (size_t i = 0; i < specs.count; i++)
        MEDLEY_TRY(md_texts_add(&share->weights, specs.items[i], error));
    return MEDLEY_OK;
}

medley_status md_share_check(bool *same, md_share *share, const md_kernel_set *set,
                             medley_error *error)
{
    MEDLEY_TRY(list_weights(share, &set->bank, false, error));
    MEDLEY_TRY(check_weights(same, share, set, error));
    if (*same || share->weights == NULL)
        return MEDLEY_OK;
    MEDLEY_TRY(list_weights(share, &set->bank, true, error));
    return check_weights(same, share, set, error);
}
