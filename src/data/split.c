/* SPDX-License-Identifier: BSD-3-Clause */
/* Dividing data: by a fold column, into stratified random parts, by sampling. The unit that is
 * drawn is a whole sequence where there are sequences, else a row.
 *
 * Stratified: the units are shuffled, brought stably into the order of their labels, and dealt out
 * in turn, so that the parts differ by at most one in size and in the count of every label. */
#include "base/random.h"
#include "data/dataset.h"

/* "LIST/K" must mean the same parts in every run, so that training on some and testing on the
 * others never overlap. */
static const uint64_t FOLDS_SEED = 20120;

/* The rows of the units with taken[unit] == wanted, in their order; returns how many there are. */
static size_t rows_of(size_t *rows, const medley_dataset *dataset, const bool *taken, bool wanted)
{
    size_t count = 0;
    for (size_t unit = 0; unit < md_dataset_units(dataset); unit++)
        for (size_t row = md_dataset_unit_start(dataset, unit);
             taken[unit] == wanted && row < md_dataset_unit_start(dataset, unit + 1); row++)
            rows[count++] = row;
    return count;
}

/* The dataset of the units with taken[unit] == wanted, in their order. Square precomputed kernels
 * keep the columns of the units with taken[unit] == learnt: those that are learnt from. */
static medley_status select_units(medley_dataset **selected, const medley_dataset *dataset,
                                  const bool *taken, bool wanted, bool learnt, medley_error *error)
{
    MD_OWNED(free) size_t *rows = NULL;
    MD_OWNED(free) size_t *column_rows = NULL;
    MEDLEY_TRY(md_new(&rows, dataset->rows, sizeof *rows, error));
    MEDLEY_TRY(md_new(&column_rows, dataset->rows, sizeof *column_rows, error));
    const size_t count = rows_of(rows, dataset, taken, wanted);
    const md_columns columns = {column_rows, rows_of(column_rows, dataset, taken, learnt)};
    return md_dataset_select(selected, dataset, rows, count, &columns, error);
}

static int compare_targets(const void *left, const void *right)
{
    const double a = *(const double *)left;
    const double b = *(const double *)right;
    return a < b ? -1 : a > b;
}

/* What rows are sorted by: their labels, or the ranks of the numbers to be predicted, which are
 * what the labels of a file with these numbers would be. *label stays NULL where there are neither.
 */
static medley_status find_strata(int32_t **label, size_t *count, const medley_dataset *dataset,
                                 medley_error *error)
{
    const size_t rows = dataset->rows;
    MD_OWNED(free) double *sorted = NULL;
    *count = dataset->label_names.count;
    if (dataset->label != NULL)
        return md_new_copy(label, dataset->label, rows * sizeof **label, error);
    if (dataset->target == NULL)
        return MEDLEY_OK;
    MEDLEY_TRY(md_new_copy(&sorted, dataset->target, rows * sizeof *sorted, error));
    MEDLEY_TRY(md_new(label, rows, sizeof **label, error));
    qsort(sorted, rows, sizeof *sorted, compare_targets);
    for (size_t r = 0; r < rows; r++)
        if (*count == 0 || sorted[r] != sorted[*count - 1])
            sorted[(*count)++] = sorted[r];
    for (size_t r = 0; r < rows; r++) {
        const double *place =
            bsearch(&dataset->target[r], sorted, *count, sizeof *sorted, compare_targets);
        (*label)[r] = (int32_t)(place - sorted);
    }
    return MEDLEY_OK;
}

/* Labels that no row has are no strata. place[strata + 1] is zero and stays so. */
static size_t count_used(size_t *place, const int32_t *label, size_t rows, size_t strata)
{
    size_t used = 0;
    for (size_t r = 0; r < rows; r++)
        used += label[r] >= 0 && place[label[r]]++ == 0;
    memset(place, 0, strata * sizeof *place);
    return used;
}

static medley_status shuffled_units(size_t **order, const medley_dataset *dataset, uint64_t seed,
                                    medley_error *error)
{
    const size_t units = md_dataset_units(dataset);
    md_random random;
    MEDLEY_TRY(md_new(order, units, sizeof **order, error));
    for (size_t i = 0; i < units; i++)
        (*order)[i] = i;
    md_random_seed(&random, seed);
    md_random_shuffle(&random, *order, units);
    return MEDLEY_OK;
}

/* All units, shuffled, then stably sorted by label (a counting sort). Sequences have many labels,
 * and numbers that hardly repeat are no classes: both stay shuffled. */
static medley_status stratified_order(size_t **order, const medley_dataset *dataset, uint64_t seed,
                                      medley_error *error)
{
    const size_t units = md_dataset_units(dataset);
    size_t strata;
    MD_OWNED(free) int32_t *label = NULL;
    MD_OWNED(free) size_t *shuffled = NULL;
    MD_OWNED(free) size_t *place = NULL;
    MEDLEY_TRY(find_strata(&label, &strata, dataset, error));
    strata++; /* unlabelled rows come first */
    MEDLEY_TRY(shuffled_units(&shuffled, dataset, seed, error));
    MEDLEY_TRY(md_new(&place, strata + 1, sizeof *place, error));
    if (label == NULL || dataset->sequence_count > 0 ||
        count_used(place, label, units, strata) > units / 2) {
        *order = md_take(&shuffled);
        return MEDLEY_OK;
    }
    MEDLEY_TRY(md_new(order, units, sizeof **order, error));
    for (size_t i = 0; i < units; i++)
        place[label[i] + 2]++;
    for (size_t s = 0; s < strata; s++)
        place[s + 1] += place[s];
    for (size_t i = 0; i < units; i++)
        (*order)[place[label[shuffled[i]] + 1]++] = shuffled[i];
    return MEDLEY_OK;
}

/* ---- fold lists ---- */

typedef struct fold_list {
    long long (*ranges)[2]; /* [count] first and last, inclusive */
    size_t count, capacity;
    long long parts; /* after the '/', 0 if there is none */
} fold_list;

static void clear_folds(fold_list *list)
{
    free(list->ranges);
}

/* Digits at *cursor as a number below 2^31, or -1. */
static long long read_whole(const char **cursor)
{
    long long value = 0;
    const char *first = *cursor;
    while (**cursor >= '0' && **cursor <= '9' && *cursor - first < 10)
        value = value * 10 + (*(*cursor)++ - '0');
    return *cursor > first && value <= INT32_MAX ? value : -1;
}

static medley_status parse_folds(fold_list *list, const char *text, medley_error *error)
{
    const char *cursor = text;
    bool more = true;
    while (more) {
        const long long first = read_whole(&cursor);
        long long last = first;
        if (*cursor == '-') {
            cursor++;
            last = read_whole(&cursor);
        }
        if (first < 0 || last < first)
            break;
        MEDLEY_TRY(
            md_grow(&list->ranges, &list->capacity, list->count + 1, sizeof *list->ranges, error));
        list->ranges[list->count][0] = first;
        list->ranges[list->count++][1] = last;
        more = *cursor == ',';
        cursor += more;
    }
    if (!more && *cursor == '/') {
        cursor++;
        list->parts = read_whole(&cursor);
        more = list->parts < 2;
    }
    if (more || *cursor != '\0')
        return md_fail(error, MEDLEY_USAGE,
                       "cannot read the folds '%s'; write numbers and ranges such as 0, 1-9 or 0,3 "
                       "and for parts of a random division add how many there are: 0/5, 1-4/5",
                       text);
    return MEDLEY_OK;
}

static bool is_listed(const fold_list *list, long long fold)
{
    for (size_t i = 0; i < list->count; i++)
        if (fold >= list->ranges[i][0] && fold <= list->ranges[i][1])
            return true;
    return false;
}

medley_status md_dataset_divide(int32_t *part, const medley_dataset *dataset, size_t parts,
                                uint64_t variant, medley_error *error)
{
    const size_t units = md_dataset_units(dataset);
    if (parts > units)
        return md_fail(error, MEDLEY_USAGE,
                       "cannot divide %zu %s into %zu parts; there can be at most %zu", units,
                       dataset->sequence_count > 0 ? "sequences" : "rows", parts, units);
    MD_OWNED(free) size_t *order = NULL;
    MEDLEY_TRY(stratified_order(&order, dataset, FOLDS_SEED + variant, error));
    for (size_t i = 0; i < units; i++)
        part[order[i]] = (int32_t)(i % parts);
    return MEDLEY_OK;
}

/* Every fold in the list must be the part of some unit. */
static medley_status check_present(const fold_list *list, const int32_t *part, size_t units,
                                   medley_error *error)
{
    MD_OWNED(free) bool *present = NULL;
    int32_t largest = 0;
    for (size_t unit = 0; unit < units; unit++)
        largest = part[unit] > largest ? part[unit] : largest;
    MEDLEY_TRY(md_new(&present, (size_t)largest + 1, sizeof *present, error));
    for (size_t unit = 0; unit < units; unit++)
        if (part[unit] >= 0)
            present[part[unit]] = true;
    for (size_t i = 0; i < list->count; i++)
        for (long long fold = list->ranges[i][0]; fold <= list->ranges[i][1]; fold++)
            if (fold > largest || !present[fold])
                return md_fail(error, MEDLEY_USAGE,
                               "fold %lld has no rows; folds are numbered from 0, here to %d", fold,
                               (int)largest);
    return MEDLEY_OK;
}

/* part[unit]: of the random division that the list asks for, or the fold column. */
static medley_status find_parts(int32_t *part, const medley_dataset *dataset, const fold_list *list,
                                const char *text, medley_error *error)
{
    if (list->parts > 0)
        return md_dataset_divide(part, dataset, (size_t)list->parts, 0, error);
    if (dataset->fold == NULL)
        return md_fail(error, MEDLEY_USAGE,
                       "these data have no fold column; use LIST/K for parts of a random "
                       "division, for example %s/5 or %s/10",
                       text, text);
    for (size_t unit = 0; unit < md_dataset_units(dataset); unit++)
        part[unit] = dataset->fold[md_dataset_unit_start(dataset, unit)];
    return MEDLEY_OK;
}

medley_status medley_dataset_folds(medley_dataset **selected, const medley_dataset *dataset,
                                   const char *folds, medley_error *error)
{
    md_begin(error);
    const size_t units = md_dataset_units(dataset);
    MD_CLEARED(clear_folds) fold_list list = {0};
    MD_OWNED(free) int32_t *part = NULL;
    MD_OWNED(free) bool *taken = NULL;
    MEDLEY_TRY(md_new(&part, units, sizeof *part, error));
    MEDLEY_TRY(md_new(&taken, units, sizeof *taken, error));
    MEDLEY_TRY(parse_folds(&list, folds, error));
    MEDLEY_TRY(find_parts(part, dataset, &list, folds, error));
    MEDLEY_TRY(check_present(&list, part, units, error));
    for (size_t unit = 0; unit < units; unit++)
        taken[unit] = is_listed(&list, part[unit]);
    return select_units(selected, dataset, taken, true, true, error);
}

medley_status medley_dataset_sample(medley_dataset **selected, const medley_dataset *dataset,
                                    size_t count, uint64_t seed, medley_error *error)
{
    md_begin(error);
    const size_t units = md_dataset_units(dataset);
    MD_OWNED(free) size_t *order = NULL;
    MD_OWNED(free) bool *taken = NULL;
    if (count == 0)
        return md_fail(error, MEDLEY_USAGE, "a sample of 0 was asked for; ask for at least 1");
    MEDLEY_TRY(shuffled_units(&order, dataset, seed, error));
    MEDLEY_TRY(md_new(&taken, units, sizeof *taken, error));
    for (size_t i = 0; i < units && i < count; i++)
        taken[order[i]] = true;
    return select_units(selected, dataset, taken, true, true, error);
}

/* How many of the first i units of the stratified order are held out: i * fraction, rounded. */
static size_t held_out_before(size_t i, double fraction)
{
    return (size_t)((double)i * fraction + 0.5);
}

medley_status medley_dataset_split(medley_dataset **kept, medley_dataset **held_out,
                                   const medley_dataset *dataset, double fraction, uint64_t seed,
                                   medley_error *error)
{
    md_begin(error);
    const size_t units = md_dataset_units(dataset);
    MD_OWNED(medley_dataset_free) medley_dataset *first = NULL;
    MD_OWNED(free) size_t *order = NULL;
    MD_OWNED(free) bool *taken = NULL;
    if (!(fraction > 0 && fraction < 1))
        return md_fail(error, MEDLEY_USAGE,
                       "cannot hold out a fraction of %g; it must lie between 0 and 1", fraction);
    const size_t held = held_out_before(units, fraction);
    if (held == 0 || held == units)
        return md_fail(error, MEDLEY_USAGE,
                       "holding out %g of %zu %s leaves one side empty; use more data or another "
                       "fraction",
                       fraction, units, dataset->sequence_count > 0 ? "sequences" : "rows");
    MEDLEY_TRY(md_new(&taken, units, sizeof *taken, error));
    MEDLEY_TRY(stratified_order(&order, dataset, seed, error));
    for (size_t i = 0; i < units; i++)
        taken[order[i]] = held_out_before(i + 1, fraction) > held_out_before(i, fraction);
    MEDLEY_TRY(select_units(&first, dataset, taken, false, false, error));
    MEDLEY_TRY(select_units(held_out, dataset, taken, true, false, error));
    *kept = md_take(&first);
    return MEDLEY_OK;
}
