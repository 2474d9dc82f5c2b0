/* SPDX-License-Identifier: BSD-3-Clause */
/* A new dataset with some rows of another. Everything that belongs to a row or to its sequence goes
 * with it; tables of names (labels, token texts) are kept whole, so that numbers stay valid. */
#include "base/memory.h"
#include "data/dataset.h"
#include <assert.h>
#include <stdlib.h>
#include <string.h>

typedef struct selection {
    const medley_dataset *source;
    medley_dataset *target;
    const size_t *rows;
    size_t count;
    const md_columns *columns;
} selection;

static medley_status copy_strings(md_strings *target, const md_strings *source, medley_error *error)
{
    for (size_t i = 0; i < source->count; i++)
        if (md_strings_add(target, source->items[i], strlen(source->items[i])) < 0)
            return md_fail_memory(error, strlen(source->items[i]));
    return MEDLEY_OK;
}

static medley_status select_tables(const selection *chosen, medley_error *error)
{
    for (size_t i = 0; i < chosen->source->table_count; i++) {
        const md_table *from = &chosen->source->tables[i];
        md_table *to = md_dataset_new_table(chosen->target, from->name, from->source);
        if (to == NULL)
            return md_fail_memory(error, sizeof *to);
        to->height = from->height;
        to->width = from->width;
        medley_status status = copy_strings(&to->column_names, &from->column_names, error);
        if (status == MEDLEY_OK)
            status = md_matrix_gather(&to->features, &from->features, chosen->rows, chosen->count,
                                      NULL, 0, error);
        if (status < 0)
            return status;
    }
    return MEDLEY_OK;
}

/* The items of the chosen rows, `width` of `size` bytes a row, or NULL for lack of memory. */
static void *gather_items(const selection *chosen, const void *items, size_t width, size_t size)
{
    const size_t bytes = width * size;
    char *gathered = md_calloc(chosen->count, bytes > 0 ? bytes : 1);
    for (size_t i = 0; gathered != NULL && i < chosen->count; i++)
        memcpy(gathered + i * bytes, (const char *)items + chosen->rows[i] * bytes, bytes);
    return gathered;
}

/* The chosen rows of a kernel's unrounded values, and with cut only the chosen columns. */
static double *gather_wide(const selection *chosen, const md_precomputed *gram, bool cut)
{
    const size_t columns = gram->values.columns;
    if (!cut)
        return gather_items(chosen, gram->wide, columns, sizeof *gram->wide);
    const size_t kept = chosen->columns->count;
    size_t total;
    double *gathered = __builtin_mul_overflow(chosen->count, kept, &total)
                           ? NULL
                           : md_alloc_aligned(total, sizeof *gathered);
    for (size_t i = 0; gathered != NULL && i < chosen->count; i++) {
        const double *from = gram->wide + chosen->rows[i] * columns;
        for (size_t j = 0; j < kept; j++)
            gathered[i * kept + j] = from[chosen->columns->rows[j]];
    }
    return gathered;
}

static medley_status select_grams(const selection *chosen, medley_error *error)
{
    for (size_t i = 0; i < chosen->source->gram_count; i++) {
        const md_precomputed *from = &chosen->source->grams[i];
        md_precomputed *to = md_dataset_new_gram(chosen->target, from->name);
        if (to == NULL)
            return md_fail_memory(error, sizeof *to);
        to->norm = from->norm;
        to->sound = from->sound;
        const bool cut = chosen->columns != NULL && from->values.columns == chosen->source->rows;
        const medley_status status = md_matrix_gather(
            &to->values, &from->values, chosen->rows, chosen->count,
            cut ? chosen->columns->rows : NULL, cut ? chosen->columns->count : 0, error);
        if (status < 0)
            return status;
        if (from->wide != NULL && (to->wide = gather_wide(chosen, from, cut)) == NULL)
            return md_fail_memory(error, chosen->count * from->values.columns * sizeof *to->wide);
        if (from->diagonal == NULL)
            continue;
        to->diagonal = gather_items(chosen, from->diagonal, 1, sizeof *from->diagonal);
        if (to->diagonal == NULL)
            return md_fail_memory(error, chosen->count * sizeof *to->diagonal);
    }
    return MEDLEY_OK;
}

static medley_status select_labels(const selection *chosen, medley_error *error)
{
    const medley_dataset *from = chosen->source;
    medley_dataset *to = chosen->target;
    const medley_status status = copy_strings(&to->label_names, &from->label_names, error);
    if (status < 0)
        return status;
    if (from->label != NULL)
        to->label = gather_items(chosen, from->label, 1, sizeof *from->label);
    if (from->target != NULL)
        to->target = gather_items(chosen, from->target, 1, sizeof *from->target);
    if (from->fold != NULL)
        to->fold = gather_items(chosen, from->fold, 1, sizeof *from->fold);
    if ((from->label != NULL && to->label == NULL) ||
        (from->target != NULL && to->target == NULL) || (from->fold != NULL && to->fold == NULL))
        return md_fail_memory(error, chosen->count * sizeof *from->target);
    return MEDLEY_OK;
}

static medley_status select_tokens(const selection *chosen, medley_error *error)
{
    const medley_dataset *from = chosen->source;
    medley_dataset *to = chosen->target;
    if (from->token_columns == 0)
        return MEDLEY_OK;
    to->token_values = md_calloc(from->token_columns, sizeof *to->token_values);
    to->token = gather_items(chosen, from->token, from->token_columns, sizeof *from->token);
    if (to->token_values == NULL || to->token == NULL)
        return md_fail_memory(error, chosen->count * from->token_columns * sizeof *to->token);
    to->token_columns = from->token_columns;
    for (size_t i = 0; i < from->token_columns; i++) {
        const medley_status status =
            copy_strings(&to->token_values[i], &from->token_values[i], error);
        if (status < 0)
            return status;
    }
    return MEDLEY_OK;
}

static medley_status select_words(const selection *chosen, medley_error *error)
{
    const medley_dataset *from = chosen->source;
    medley_dataset *to = chosen->target;
    if (from->head != NULL)
        to->head = gather_items(chosen, from->head, 1, sizeof *from->head);
    if (from->line != NULL)
        to->line = gather_items(chosen, from->line, 1, sizeof *from->line);
    if ((from->head != NULL && to->head == NULL) || (from->line != NULL && to->line == NULL))
        return md_fail_memory(error, chosen->count * sizeof *from->head);
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
    if (from->label_text == NULL)
        return MEDLEY_OK;
    to->label_text = gather_items(chosen, from->label_text, 1, sizeof *from->label_text);
    if (to->label_text == NULL)
        return md_fail_memory(error, chosen->count * sizeof *to->label_text);
    return copy_strings(&to->label_texts, &from->label_texts, error);
}

/* ---- sequences and the lines that go with them ---- */

/* The place of value in increasing starts[count + 1]: starts[place] <= value < starts[place + 1].
 */
static size_t find_sequence(const size_t *starts, size_t count, size_t value)
{
    size_t low = 0;
    size_t high = count;
    while (high - low > 1) {
        const size_t middle = low + (high - low) / 2;
        if (starts[middle] <= value)
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

static bool is_blank(const md_verbatim *line)
{
    return line->text[0] == '\0';
}

/* Where two sequences meet, the lines up to the first blank one end the sequence before (an empty
 * node behind its last word) and the others begin the next (comments, a multiword token). Where no
 * blank line was kept it stood in front of all of them. Returns the first line that begins, of
 * those from first on that stand before `row`. */
static size_t first_of_next(const medley_dataset *dataset, size_t first, size_t row)
{
    for (size_t i = first; i < dataset->verbatim_count && dataset->verbatim[i].row == row; i++)
        if (is_blank(&dataset->verbatim[i]))
            return i + 1;
    return first;
}

static medley_status add_line(medley_dataset *target, size_t row, const char *line,
                              medley_error *error)
{
    char *text = md_copy_text(line, strlen(line));
    if (text == NULL || md_reserve((void **)&target->verbatim, &target->verbatim_capacity,
                                   target->verbatim_count + 1, sizeof *target->verbatim) != 0) {
        free(text);
        return md_fail_memory(error, strlen(line));
    }
    target->verbatim[target->verbatim_count++] = (md_verbatim){row, text};
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
    return add_line(target, new_start, "", error);
}

/* Copies the lines of the sequence in rows start..end-1, which is at new_start in the target. What
 * stands behind the end of the last sequence comes along where that is the last again. */
static medley_status copy_verbatim(medley_dataset *target, const medley_dataset *source,
                                   size_t start, size_t end, size_t new_start, medley_error *error)
{
    medley_status status = MEDLEY_OK;
    size_t first = first_verbatim_from(source, start);
    if (start > 0)
        first = first_of_next(source, first, start);
    const size_t behind = first_verbatim_from(source, end);
    const bool stays_last = end == source->rows && new_start + (end - start) == target->rows;
    const size_t last = stays_last ? source->verbatim_count : first_of_next(source, behind, end);
    MEDLEY_TRY(end_previous(target, source, first, start, new_start, error));
    for (size_t i = first; i < last; i++)
        MEDLEY_TRY(add_line(target, new_start + (source->verbatim[i].row - start),
                            source->verbatim[i].text, error));
done:
    return status;
}

/* Rows that stand alone are treated as sequences of one row, which are not recorded. */
static medley_status select_sequences(const selection *chosen, medley_error *error)
{
    const medley_dataset *from = chosen->source;
    medley_dataset *to = chosen->target;
    if (from->sequence_count == 0 && from->verbatim_count == 0)
        return MEDLEY_OK;
    if (from->sequence_count > 0) {
        to->sequence_start = md_calloc(chosen->count + 1, sizeof *to->sequence_start);
        if (to->sequence_start == NULL)
            return md_fail_memory(error, chosen->count * sizeof *to->sequence_start);
    }
    for (size_t i = 0; i < chosen->count;) {
        size_t start = chosen->rows[i];
        size_t end = start + 1;
        if (from->sequence_count > 0) {
            const size_t sequence =
                find_sequence(from->sequence_start, from->sequence_count, start);
            assert(start == from->sequence_start[sequence]);
            end = from->sequence_start[sequence + 1];
            assert(chosen->rows[i + (end - start) - 1] == end - 1);
            to->sequence_start[++to->sequence_count] = i + (end - start);
        }
        const medley_status status = copy_verbatim(to, from, start, end, i, error);
        if (status < 0)
            return status;
        i += end - start;
    }
    return MEDLEY_OK;
}

medley_status md_dataset_select(medley_dataset **selected, const medley_dataset *dataset,
                                const size_t *rows, size_t count, const md_columns *columns,
                                medley_error *error)
{
    medley_status status = MEDLEY_OK;
    medley_dataset *target = NULL;
    MEDLEY_TRY(medley_dataset_create(&target, error));
    const selection chosen = {dataset, target, rows, count, columns};
    target->rows = count;
    target->keeps_wide = dataset->keeps_wide;
    if (dataset->source != NULL &&
        (target->source = md_copy_text(dataset->source, strlen(dataset->source))) == NULL) {
        status = md_fail_memory(error, strlen(dataset->source));
        goto done;
    }
    MEDLEY_TRY(select_tables(&chosen, error));
    MEDLEY_TRY(select_grams(&chosen, error));
    MEDLEY_TRY(select_labels(&chosen, error));
    MEDLEY_TRY(select_tokens(&chosen, error));
    MEDLEY_TRY(select_words(&chosen, error));
    MEDLEY_TRY(select_layout(&chosen, error));
    MEDLEY_TRY(select_sequences(&chosen, error));
    *selected = target;
    target = NULL;
done:
    medley_dataset_free(target);
    return status;
}
