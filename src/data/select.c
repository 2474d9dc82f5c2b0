/* SPDX-License-Identifier: BSD-3-Clause */
/* A new dataset with some rows of another. Everything that belongs to a row or to its sequence goes
 * with it; tables of names (labels, token texts) are kept whole, so that numbers stay valid. */
#include "data/dataset.h"
#include <assert.h>

typedef struct selection {
    const medley_dataset *source;
    medley_dataset *target;
    const size_t *rows;
    size_t count;
    const md_columns *columns;
} selection;

static medley_status select_tables(const selection *chosen, medley_error *error)
{
    for (size_t i = 0; i < chosen->source->table_count; i++) {
        const md_table *from = &chosen->source->tables[i];
        md_table *to;
        MEDLEY_TRY(md_dataset_new_table(&to, chosen->target, from->name, from->source, error));
        to->height = from->height;
        to->width = from->width;
        MEDLEY_TRY(md_strings_copy(&to->column_names, &from->column_names, error));
        to->first = from->first;
        if (from->label_name != NULL)
            MEDLEY_TRY(
                md_new_text(&to->label_name, from->label_name, strlen(from->label_name), error));
        MEDLEY_TRY(md_matrix_gather(&to->features, &from->features, chosen->rows, chosen->count,
                                    NULL, 0, error));
    }
    return MEDLEY_OK;
}

/* *(T **)gathered gets the items of the chosen rows, `bytes` a row; nothing where items is NULL. */
static medley_status gather_items(void *gathered, const selection *chosen, const void *items,
                                  size_t bytes, medley_error *error)
{
    if (items == NULL)
        return MEDLEY_OK;
    char *made = NULL;
    MEDLEY_TRY(md_new(&made, chosen->count, bytes > 0 ? bytes : 1, error));
    for (size_t i = 0; i < chosen->count; i++)
        memcpy(made + i * bytes, (const char *)items + chosen->rows[i] * bytes, bytes);
    memcpy(gathered, &made, sizeof made);
    return MEDLEY_OK;
}

/* The chosen rows of a kernel's unrounded values, and with cut only the chosen columns. */
static medley_status gather_wide(double **gathered, const selection *chosen,
                                 const md_precomputed *gram, bool cut, medley_error *error)
{
    const size_t columns = gram->values.columns;
    if (!cut || gram->wide == NULL)
        return gather_items(gathered, chosen, gram->wide, columns * sizeof *gram->wide, error);
    const size_t kept = chosen->columns->count;
    MEDLEY_TRY(md_new_aligned(gathered, chosen->count, kept * sizeof **gathered, error));
    for (size_t i = 0; i < chosen->count; i++) {
        const double *from = gram->wide + chosen->rows[i] * columns;
        for (size_t j = 0; j < kept; j++)
            (*gathered)[i * kept + j] = from[chosen->columns->rows[j]];
    }
    return MEDLEY_OK;
}

static medley_status select_grams(const selection *chosen, medley_error *error)
{
    for (size_t i = 0; i < chosen->source->gram_count; i++) {
        const md_precomputed *from = &chosen->source->grams[i];
        md_precomputed *to;
        MEDLEY_TRY(md_dataset_new_gram(&to, chosen->target, from->name, error));
        to->norm = from->norm;
        to->sound = from->sound;
        to->is_distance = from->is_distance;
        to->family = from->family;
        const bool cut = chosen->columns != NULL && from->values.columns == chosen->source->rows;
        MEDLEY_TRY(md_matrix_gather(&to->values, &from->values, chosen->rows, chosen->count,
                                    cut ? chosen->columns->rows : NULL,
                                    cut ? chosen->columns->count : 0, error));
        MEDLEY_TRY(gather_wide(&to->wide, chosen, from, cut, error));
        MEDLEY_TRY(
            gather_items(&to->diagonal, chosen, from->diagonal, sizeof *from->diagonal, error));
    }
    return MEDLEY_OK;
}

/* What belongs to single rows. */
static medley_status select_rows(const selection *chosen, medley_error *error)
{
    const medley_dataset *from = chosen->source;
    medley_dataset *to = chosen->target;
    MEDLEY_TRY(md_strings_copy(&to->label_names, &from->label_names, error));
    MEDLEY_TRY(gather_items(&to->label, chosen, from->label, sizeof *from->label, error));
    MEDLEY_TRY(gather_items(&to->target, chosen, from->target, sizeof *from->target, error));
    MEDLEY_TRY(gather_items(&to->fold, chosen, from->fold, sizeof *from->fold, error));
    MEDLEY_TRY(gather_items(&to->head, chosen, from->head, sizeof *from->head, error));
    to->info_width = from->info_width;
    MEDLEY_TRY(
        gather_items(&to->info, chosen, from->info, from->info_width * sizeof *from->info, error));
    return gather_items(&to->line, chosen, from->line, sizeof *from->line, error);
}

static medley_status select_tokens(const selection *chosen, medley_error *error)
{
    const medley_dataset *from = chosen->source;
    medley_dataset *to = chosen->target;
    const size_t columns = from->token_columns;
    if (columns == 0)
        return MEDLEY_OK;
    MEDLEY_TRY(md_new(&to->token_values, columns, sizeof *to->token_values, error));
    to->token_columns = columns;
    MEDLEY_TRY(gather_items(&to->token, chosen, from->token, columns * sizeof *to->token, error));
    for (size_t i = 0; i < columns; i++)
        MEDLEY_TRY(md_strings_copy(&to->token_values[i], &from->token_values[i], error));
    return MEDLEY_OK;
}

/* What writing predictions in the format of the input needs. */
static medley_status select_layout(const selection *chosen, medley_error *error)
{
    const medley_dataset *from = chosen->source;
    medley_dataset *to = chosen->target;
    to->format = from->format;
    to->separator = from->separator;
    to->label_column = from->label_column;
    MEDLEY_TRY(gather_items(&to->label_text, chosen, from->label_text, sizeof(int32_t), error));
    return md_strings_copy(&to->label_texts, &from->label_texts, error);
}

/* ---- sequences and the lines that go with them ---- */

size_t md_dataset_longest(const medley_dataset *dataset)
{
    size_t longest = dataset->sequence_count == 0 && dataset->rows > 0 ? 1 : 0;
    for (size_t s = 0; s < dataset->sequence_count; s++) {
        const size_t length = dataset->sequence_start[s + 1] - dataset->sequence_start[s];
        longest = length > longest ? length : longest;
    }
    return longest;
}

size_t md_dataset_unit_of(const medley_dataset *dataset, size_t row)
{
    if (dataset->sequence_count == 0)
        return row;
    size_t low = 0;
    size_t high = dataset->sequence_count; /* start[low] <= row < start[high] */
    while (high - low > 1) {
        const size_t middle = low + (high - low) / 2;
        if (dataset->sequence_start[middle] <= row)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static size_t first_verbatim_from(const medley_dataset *dataset, size_t row)
{
    size_t low = 0;
    size_t high = dataset->verbatim_count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (dataset->verbatim[middle].row < row)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Where two sequences meet, the lines up to the first blank one end the sequence before (an empty
 * node after its last word) and the others begin the next (comments, a multiword token). Where no
 * blank line was kept it stood in front of all of them. Returns the first line that begins, of
 * those from first on that stand before `row`. */
static size_t first_of_next(const medley_dataset *dataset, size_t first, size_t row)
{
    for (size_t i = first; i < dataset->verbatim_count && dataset->verbatim[i].row == row; i++)
        if (dataset->verbatim[i].text[0] == '\0')
            return i + 1;
    return first;
}

medley_status md_dataset_add_verbatim(medley_dataset *dataset, size_t row, const char *text,
                                      size_t length, medley_error *error)
{
    MEDLEY_TRY(md_grow(&dataset->verbatim, &dataset->verbatim_capacity, dataset->verbatim_count + 1,
                       sizeof *dataset->verbatim, error));
    md_verbatim *added = &dataset->verbatim[dataset->verbatim_count];
    added->row = row;
    MEDLEY_TRY(md_new_text(&added->text, text, length, error));
    dataset->verbatim_count++;
    return MEDLEY_OK;
}

/* A blank line among those that begin a sequence would be taken for the end of the one before,
 * which then needs one of its own. `first` is the first of those lines, `start` the row they stand
 * before, new_start their place in the target. */
static medley_status end_previous(medley_dataset *target, const medley_dataset *source,
                                  size_t first, size_t start, size_t new_start, medley_error *error)
{
    const size_t count = target->verbatim_count;
    const bool has_end = count > 0 && target->verbatim[count - 1].row == new_start;
    if (new_start == 0 || has_end || first_of_next(source, first, start) == first)
        return MEDLEY_OK;
    return md_dataset_add_verbatim(target, new_start, "", 0, error);
}

/* Copies the lines of the sequence in rows start..end-1, which is at new_start in the target. What
 * follows the end of the last sequence comes along where that is the last again. */
static medley_status copy_verbatim(medley_dataset *target, const medley_dataset *source,
                                   size_t start, size_t end, size_t new_start, medley_error *error)
{
    size_t first = first_verbatim_from(source, start);
    if (start > 0)
        first = first_of_next(source, first, start);
    const size_t after = first_verbatim_from(source, end);
    const bool stays_last = end == source->rows && new_start + (end - start) == target->rows;
    const size_t last = stays_last ? source->verbatim_count : first_of_next(source, after, end);
    MEDLEY_TRY(end_previous(target, source, first, start, new_start, error));
    for (size_t i = first; i < last; i++) {
        const md_verbatim *line = &source->verbatim[i];
        MEDLEY_TRY(md_dataset_add_verbatim(target, new_start + (line->row - start), line->text,
                                           strlen(line->text), error));
    }
    return MEDLEY_OK;
}

/* Rows that stand alone are treated as sequences of one row, which are not recorded. */
static medley_status select_sequences(const selection *chosen, medley_error *error)
{
    const medley_dataset *from = chosen->source;
    medley_dataset *to = chosen->target;
    if (from->sequence_count == 0 && from->verbatim_count == 0)
        return MEDLEY_OK;
    if (from->sequence_count > 0)
        MEDLEY_TRY(md_new(&to->sequence_start, chosen->count + 1, sizeof(size_t), error));
    for (size_t i = 0; i < chosen->count;) {
        size_t start = chosen->rows[i];
        size_t end = start + 1;
        if (from->sequence_count > 0) {
            const size_t sequence = md_dataset_unit_of(from, start);
            assert(start == from->sequence_start[sequence]);
            end = from->sequence_start[sequence + 1];
            assert(chosen->rows[i + (end - start) - 1] == end - 1);
            to->sequence_start[++to->sequence_count] = i + (end - start);
        }
        MEDLEY_TRY(copy_verbatim(to, from, start, end, i, error));
        i += end - start;
    }
    return MEDLEY_OK;
}

medley_status md_dataset_select(medley_dataset **selected, const medley_dataset *dataset,
                                const size_t *rows, size_t count, const md_columns *columns,
                                medley_error *error)
{
    MD_OWNED(medley_dataset_free) medley_dataset *target = NULL;
    MEDLEY_TRY(medley_dataset_create(&target, error));
    const selection chosen = {dataset, target, rows, count, columns};
    target->rows = count;
    target->keeps_wide = dataset->keeps_wide;
    if (dataset->source != NULL)
        MEDLEY_TRY(md_new_text(&target->source, dataset->source, strlen(dataset->source), error));
    MEDLEY_TRY(select_tables(&chosen, error));
    MEDLEY_TRY(select_grams(&chosen, error));
    MEDLEY_TRY(select_rows(&chosen, error));
    MEDLEY_TRY(select_tokens(&chosen, error));
    MEDLEY_TRY(select_layout(&chosen, error));
    MEDLEY_TRY(select_sequences(&chosen, error));
    *selected = md_take(&target);
    return MEDLEY_OK;
}
