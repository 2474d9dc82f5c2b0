/* SPDX-License-Identifier: BSD-3-Clause */
/* Only some of the blocks: the best of an earlier model, or those that are named. */
#include "setup/setup.h"

void md_selection_clear(md_selection *selection)
{
    md_strings_clear(&selection->names);
}

/* Names are separated by commas, but not by those in brackets: rbf(sigma=1,norm=diag),U05. */
static medley_status add_list(md_selection *selection, const char *list, medley_error *error)
{
    const char *start = list;
    int depth = 0;
    for (const char *p = list;; p++) {
        depth += (*p == '(' || *p == '[') - (*p == ')' || *p == ']');
        if (*p != '\0' && (*p != ',' || depth > 0))
            continue;
        while (start < p && *start == ' ')
            start++;
        const char *end = p;
        while (end > start && end[-1] == ' ')
            end--;
        if (end > start)
            MEDLEY_TRY(
                md_strings_put(&selection->names, start, (size_t)(end - start), NULL, error));
        start = p + 1;
        if (*p == '\0')
            return MEDLEY_OK;
    }
}

static int by_weight(const void *a, const void *b)
{
    const medley_block_info *const *first = a;
    const medley_block_info *const *second = b;
    if ((*first)->weight != (*second)->weight)
        return (*first)->weight < (*second)->weight ? 1 : -1;
    if ((*first)->norm != (*second)->norm) /* of l2 all weights are alike */
        return (*first)->norm < (*second)->norm ? 1 : -1;
    return *first < *second ? -1 : *first > *second; /* as they stand in the model */
}

/* The `keep` blocks with the largest weights. Those with a term of their own, which have a norm and
 * no share in the weights, stay beside them. */
static medley_status add_best(md_selection *selection, const medley_model *model, size_t keep,
                              medley_error *error)
{
    const medley_summary *summary = &model->summary;
    MD_OWNED(free) const medley_block_info **sorted = NULL;
    size_t taken = 0;
    MEDLEY_TRY(md_new(&sorted, summary->block_count, sizeof(medley_block_info *), error));
    for (size_t m = 0; m < summary->block_count; m++)
        sorted[m] = &summary->blocks[m];
    qsort(sorted, summary->block_count, sizeof(const medley_block_info *), by_weight);
    for (size_t m = 0; m < summary->block_count; m++) {
        const medley_block_info *block = sorted[m];
        if (md_text_index(block->name, md_context_names) >= 0)
            continue; /* label context is not chosen: --bigram says whether it is there */
        const bool counts = block->weight > 0;
        if (counts ? taken < keep : block->norm > 0)
            MEDLEY_TRY(
                md_strings_put(&selection->names, block->name, strlen(block->name), NULL, error));
        taken += counts;
    }
    return MEDLEY_OK;
}

medley_status md_selection_make(md_selection *selection, const medley_options *options,
                                medley_error *error)
{
    MD_OWNED(medley_model_free) medley_model *model = NULL;
    *selection = (md_selection){.all = options->keep == 0 && options->blocks == NULL,
                                .by_name = options->blocks != NULL};
    if (options->keep > 0 && options->blocks != NULL)
        return md_fail(error, MEDLEY_USAGE,
                       "give `keep` or `blocks`: both say which blocks are used");
    if (options->blocks != NULL)
        MEDLEY_TRY(add_list(selection, options->blocks, error));
    if (options->from == NULL)
        return MEDLEY_OK;
    MEDLEY_TRY(medley_model_load(&model, options->from, error));
    return add_best(selection, model, (size_t)options->keep, error);
}

bool md_selection_matches(const char *written, size_t length, const char *name, bool is_template)
{
    if (length > 0 && written[length - 1] == '*')
        return strncmp(written, name, length - 1) == 0;
    return strncmp(written, name, length) == 0 &&
           (name[length] == '\0' || (is_template && name[length] == ':'));
}

/* What a model calls its blocks is taken at its word. */
bool md_selection_has(const md_selection *selection, const char *name, bool is_template)
{
    bool found = selection->all || md_strings_find(&selection->names, name, strlen(name)) >= 0;
    for (size_t i = 0; selection->by_name && !found && i < selection->names.count; i++)
        found = md_selection_matches(selection->names.items[i], strlen(selection->names.items[i]),
                                     name, is_template);
    return found;
}

medley_status md_selection_check(const md_selection *selection, const md_problem *problem,
                                 medley_error *error)
{
    const md_bank *bank = &problem->bank;
    const md_source *source = problem->source;
    for (size_t i = 0; selection->by_name && i < selection->names.count; i++) {
        const char *name = selection->names.items[i];
        const size_t length = strlen(name);
        bool found = md_text_index(name, md_context_names) >= 0; /* it stays in any case */
        for (size_t m = 0; !found && m < bank->count; m++)
            found = md_selection_matches(name, length, bank->kernels[m].name, false);
        for (size_t t = 0; !found && t < md_source_count(source); t++)
            found = md_selection_matches(name, length, source->class->name(source, t), true);
        if (!found)
            return md_fail(error, MEDLEY_USAGE,
                           "`blocks`: there is no block '%s' in this run; write the name of a "
                           "kernel, or of a template what stands before its ':'",
                           name);
    }
    return MEDLEY_OK;
}

medley_status md_selection_of_bank(const md_selection *selection, md_bank *bank,
                                   medley_error *error)
{
    md_bank subset = {0};
    MD_OWNED(free) size_t *kept = NULL;
    size_t count = 0;
    if (selection->all || bank->count == 0)
        return MEDLEY_OK;
    MEDLEY_TRY(md_new(&kept, bank->count, sizeof *kept, error));
    for (size_t m = 0; m < bank->count; m++)
        if (md_selection_has(selection, bank->kernels[m].name, false))
            kept[count++] = m;
    MEDLEY_TRY(md_bank_subset(&subset, bank, kept, count, error));
    md_bank_clear(bank);
    *bank = subset;
    return MEDLEY_OK;
}

medley_status md_selection_of_templates(const md_selection *selection, md_source *source,
                                        medley_error *error)
{
    const size_t count = md_source_count(source);
    MD_OWNED(free) bool *keep = NULL;
    if (selection->all || count == 0)
        return MEDLEY_OK;
    MEDLEY_TRY(md_new(&keep, count, sizeof *keep, error));
    for (size_t t = 0; t < count; t++)
        keep[t] = md_selection_has(selection, source->class->name(source, t), true);
    return source->class->keep(source, keep, error);
}
