/* SPDX-License-Identifier: BSD-3-Clause */
/* Is the model measured on what it was trained on? A model file has neither the name of its data
 * nor all of their rows, but it has its support rows, which are rows of the training data, as its
 * views see them: those are looked for among the rows of the data. Models of templates have no
 * support rows; of them the numbers of sentences and words are compared. Of rows with explicit
 * weights alone (linear kernels of few columns) nothing can be said. */
#include "report/report.h"

#include "model/model.h"

static bool has_support(const medley_model *model)
{
    for (size_t v = 0; v < model->prepared.view_count; v++)
        if (model->prepared.used[v])
            return model->support_count > 0;
    return false;
}

/* Of all views of a row whose values are kept in the model. */
static uint64_t hash_row(const md_prepared *prepared, const bool *used, size_t r)
{
    uint64_t hash[3] = {0}; /* what came before, columns, values */
    for (size_t v = 0; v < prepared->view_count; v++) {
        if (!used[v])
            continue;
        const md_row row = md_matrix_row(&prepared->views[v], r);
        hash[1] = row.index != NULL ? md_hash_bytes(row.index, row.count * sizeof *row.index) : 0;
        hash[2] = md_hash_bytes(row.value, row.count * sizeof *row.value);
        hash[0] = md_hash_bytes(hash, sizeof hash);
    }
    return hash[0];
}

static int compare(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a;
    const uint64_t y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* How many of wanted[count] are among the sorted[all]. */
static size_t count_found(const uint64_t *wanted, size_t count, const uint64_t *sorted, size_t all)
{
    size_t found = 0;
    for (size_t i = 0; i < count; i++)
        found += bsearch(&wanted[i], sorted, all, sizeof *sorted, compare) != NULL;
    return found;
}

/* Data of few values have equal rows by chance, which says nothing. No rows do not, either. */
static bool are_alike(const uint64_t *sorted, size_t count)
{
    size_t distinct = 0;
    for (size_t i = 0; i < count; i++)
        distinct += i == 0 || sorted[i] != sorted[i - 1];
    return count == 0 || 10 * distinct < 9 * count;
}

static medley_status compare_rows(md_report *report, medley_error *error)
{
    const medley_model *model = report->model;
    const bool *used = model->prepared.used;
    const size_t support = model->support_count;
    MD_CLEARED(md_prepared_clear) md_prepared rows = {0};
    MD_OWNED(free) uint64_t *hash = NULL;
    md_bank bank = model->bank; /* borrows all of it: making prepared rows of new rows only reads */
    MEDLEY_TRY(md_prepared_make(&rows, &bank, report->options.data, false, error));
    MEDLEY_TRY(md_new(&hash, rows.rows + support, sizeof *hash, error));
    uint64_t *known = hash + rows.rows;
    for (size_t r = 0; r < rows.rows; r++)
        hash[r] = hash_row(&rows, used, r);
    for (size_t r = 0; r < support; r++)
        known[r] = hash_row(&model->prepared, used, r);
    qsort(hash, rows.rows, sizeof *hash, compare);
    qsort(known, support, sizeof *known, compare);
    report->known_rows = count_found(hash, rows.rows, known, support);
    if (are_alike(hash, rows.rows))
        return MEDLEY_OK;
    if (count_found(known, support, hash, rows.rows) == support &&
        rows.rows >= report->summary->parts)
        report->from_training = MD_ALL_TRAINING_ROWS;
    else if (2 * report->known_rows >= rows.rows)
        report->from_training = MD_SOME_TRAINING_ROWS;
    return MEDLEY_OK;
}

medley_status md_report_find_training_rows(md_report *report, medley_error *error)
{
    const medley_summary *s = report->summary;
    const medley_evaluation *e = &report->evaluation;
    if (has_support(report->model))
        return compare_rows(report, error);
    if (s->parts > s->examples && e->examples == s->examples && e->parts == s->parts)
        report->from_training = MD_AS_MANY_ROWS;
    return MEDLEY_OK;
}
