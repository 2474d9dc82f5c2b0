/* SPDX-License-Identifier: BSD-3-Clause */
/* Tables and kernel values that the caller has in memory. They are copied, checked and brought into
 * the form that readers of files give them: floats, dense or with increasing columns in each row.
 * Dense floats that outlive the dataset can be borrowed instead: they are only looked at. */
#include "base/struct_size.h"
#include "base/vector.h"
#include "data/dataset.h"
#include <stdalign.h>

static medley_status take_table(medley_table *table, const medley_table *given, medley_error *error)
{
    *table = (medley_table)MEDLEY_TABLE_INIT;
    MEDLEY_TRY(MD_TAKE_STRUCT(table, given, MEDLEY_TABLE_INIT, error));
    if (table->name == NULL)
        table->name = "";
    if (table->stride == 0)
        table->stride = table->columns;
    return MEDLEY_OK;
}

/* ---- numbers ---- */

static size_t number_bytes(const medley_table *table)
{
    return table->type == MEDLEY_FLOAT32 ? sizeof(float) : sizeof(double);
}

/* The number with that index, wherever in memory it lies. */
static double number_at(const medley_table *table, size_t index)
{
    const char *place = (const char *)table->values + index * number_bytes(table);
    if (table->type == MEDLEY_FLOAT32) {
        float value;
        memcpy(&value, place, sizeof value);
        return (double)value;
    }
    double value;
    memcpy(&value, place, sizeof value);
    return value;
}

/* A sum of zeros is zero, and NaN as soon as one of the factors is not finite. */
MD_VECTOR(bool, round_doubles, (float *to, const char *from, size_t count), (to, from, count))
{
    float sum = 0;
#pragma omp simd reduction(+ : sum)
    for (size_t i = 0; i < count; i++) {
        double value;
        memcpy(&value, from + i * sizeof value, sizeof value);
        to[i] = (float)value;
        sum += to[i] * 0.0f;
    }
    return sum == 0;
}

bool md_round_doubles(float *to, const double *from, size_t count)
{
    return round_doubles(to, (const char *)from, count);
}

MD_VECTOR(bool, floats_are_finite, (const char *from, size_t count), (from, count))
{
    float sum = 0;
#pragma omp simd reduction(+ : sum)
    for (size_t i = 0; i < count; i++) {
        float value;
        memcpy(&value, from + i * sizeof value, sizeof value);
        sum += value * 0.0f;
    }
    return sum == 0;
}

/* Copies a run of numbers that begins at index `first`; false if one is not finite. */
static bool copy_run(float *to, const medley_table *table, size_t first, size_t count)
{
    const char *from = (const char *)table->values + first * number_bytes(table);
    if (count == 0)
        return true;
    if (table->type == MEDLEY_FLOAT64)
        return round_doubles(to, from, count);
    memcpy(to, from, count * sizeof *to);
    return floats_are_finite(from, count);
}

/* row and column from 0. */
static medley_status fail_number(const medley_table *table, size_t row, size_t column, double value,
                                 medley_error *error)
{
    const bool named = table->name[0] != '\0';
    return md_fail(error, MEDLEY_BAD_INPUT,
                   "%s%.100s%srow %zu, column %zu is %g; finite numbers within the range of float "
                   "are needed: fill in or remove such values",
                   named ? "view '" : "", table->name, named ? "': " : "", row + 1, column + 1,
                   value);
}

/* ---- dense rows ---- */

static medley_status fail_dense_row(const medley_table *table, size_t row, medley_error *error)
{
    size_t column = 0;
    while (column + 1 < table->columns &&
           isfinite((float)number_at(table, row * table->stride + column)))
        column++;
    return fail_number(table, row, column, number_at(table, row * table->stride + column), error);
}

/* Can the values be used as they are? */
static bool can_borrow(const medley_table *table)
{
    return table->borrow && table->type == MEDLEY_FLOAT32 && table->stride == table->columns &&
           (uintptr_t)table->values % alignof(float) == 0;
}

static medley_status borrow_dense(md_matrix *matrix, const medley_table *table, medley_error *error)
{
    for (size_t r = 0; r < table->rows; r++)
        if (!floats_are_finite((const char *)table->values + r * table->columns * sizeof(float),
                               table->columns))
            return fail_dense_row(table, r, error);
    *matrix = (md_matrix){.rows = table->rows,
                          .columns = table->columns,
                          .dense = (float *)table->values, /* only looked at: see borrowed */
                          .borrowed = true};
    return MEDLEY_OK;
}

/* What was begun stays in matrix on failure. */
static medley_status take_dense(md_matrix *matrix, const medley_table *table, medley_error *error)
{
    if (can_borrow(table))
        return borrow_dense(matrix, table, error);
    MEDLEY_TRY(md_matrix_init_unfilled(matrix, table->rows, table->columns, error));
    for (size_t r = 0; r < table->rows; r++)
        if (!copy_run(matrix->dense + r * table->columns, table, r * table->stride, table->columns))
            return fail_dense_row(table, r, error);
    return MEDLEY_OK;
}

/* ---- sparse rows ---- */

static medley_status check_starts(const medley_table *table, medley_error *error)
{
    if (table->columns > INT32_MAX)
        return md_fail(error, MEDLEY_BAD_INPUT,
                       "the sparse rows have %zu columns, and at most %ld can be numbered",
                       table->columns, (long)INT32_MAX);
    if (table->start[0] != 0)
        return md_fail(error, MEDLEY_BAD_INPUT,
                       "the first sparse row begins at %lld, expected 0: give the whole arrays of "
                       "the table",
                       (long long)table->start[0]);
    for (size_t r = 0; r < table->rows; r++)
        if (table->start[r + 1] < table->start[r])
            return md_fail(error, MEDLEY_BAD_INPUT,
                           "sparse row %zu begins at %lld and ends at %lld; a row cannot end "
                           "before it begins",
                           r + 1, (long long)table->start[r], (long long)table->start[r + 1]);
    if (table->start[table->rows] > 0 && (table->values == NULL || table->index == NULL))
        return md_fail(
            error, MEDLEY_USAGE, "the sparse rows have %lld entries, but their %s are NULL",
            (long long)table->start[table->rows], table->values == NULL ? "values" : "columns");
    return MEDLEY_OK;
}

typedef struct entry {
    int32_t column;
    size_t place; /* entries of one column are added up in the order they were given */
} entry;

static int compare_entries(const void *left, const void *right)
{
    const entry *a = left;
    const entry *b = right;
    if (a->column != b->column)
        return a->column < b->column ? -1 : 1;
    return a->place < b->place ? -1 : a->place > b->place;
}

/* The columns of a row are checked; *increasing tells whether it can be copied as it is. */
static medley_status check_row(bool *increasing, const medley_table *table, size_t row,
                               medley_error *error)
{
    const size_t first = (size_t)table->start[row];
    const size_t last = (size_t)table->start[row + 1];
    *increasing = true;
    for (size_t e = first; e < last; e++) {
        const int32_t column = table->index[e];
        if (column < 0 || (size_t)column >= table->columns)
            return md_fail(error, MEDLEY_BAD_INPUT,
                           "sparse row %zu has an entry in column %ld (counted from 0), and the "
                           "table has %zu columns",
                           row + 1, (long)column, table->columns);
        *increasing = *increasing && (e == first || column > table->index[e - 1]);
    }
    return MEDLEY_OK;
}

/* Appends the entries of a row at matrix->start[row]. entries: scratch for the row. */
static medley_status sort_row(md_matrix *matrix, entry *entries, const medley_table *table,
                              size_t row, medley_error *error)
{
    const size_t first = (size_t)table->start[row];
    const size_t count = (size_t)table->start[row + 1] - first;
    size_t used = matrix->start[row];
    for (size_t i = 0; i < count; i++)
        entries[i] = (entry){table->index[first + i], first + i};
    qsort(entries, count, sizeof *entries, compare_entries);
    for (size_t i = 0; i < count; used++) {
        const int32_t column = entries[i].column;
        double sum = 0;
        for (; i < count && entries[i].column == column; i++)
            sum += number_at(table, entries[i].place);
        matrix->index[used] = column;
        matrix->value[used] = (float)sum;
        if (!isfinite(matrix->value[used]))
            return fail_number(table, row, (size_t)column, sum, error);
    }
    matrix->start[row + 1] = used;
    return MEDLEY_OK;
}

static medley_status copy_row(md_matrix *matrix, const medley_table *table, size_t row,
                              medley_error *error)
{
    const size_t first = (size_t)table->start[row];
    const size_t count = (size_t)table->start[row + 1] - first;
    const size_t used = matrix->start[row];
    if (!copy_run(matrix->value + used, table, first, count)) {
        size_t e = first;
        while (e + 1 < first + count && isfinite((float)number_at(table, e)))
            e++;
        return fail_number(table, row, (size_t)table->index[e], number_at(table, e), error);
    }
    if (count > 0)
        memcpy(matrix->index + used, table->index + first, count * sizeof *matrix->index);
    matrix->start[row + 1] = used + count;
    return MEDLEY_OK;
}

/* What was begun stays in matrix on failure. */
static medley_status take_sparse(md_matrix *matrix, const medley_table *table, medley_error *error)
{
    MD_OWNED(free) entry *entries = NULL;
    size_t longest = 0;
    MEDLEY_TRY(check_starts(table, error));
    for (size_t r = 0; r < table->rows; r++) {
        const size_t length = (size_t)(table->start[r + 1] - table->start[r]);
        longest = length > longest ? length : longest;
    }
    MEDLEY_TRY(md_new(&entries, longest, sizeof *entries, error));
    MEDLEY_TRY(md_matrix_init_sparse(matrix, table->rows, table->columns,
                                     (size_t)table->start[table->rows], error));
    for (size_t r = 0; r < table->rows; r++) {
        bool increasing;
        MEDLEY_TRY(check_row(&increasing, table, r, error));
        MEDLEY_TRY(increasing ? copy_row(matrix, table, r, error)
                              : sort_row(matrix, entries, table, r, error));
    }
    return MEDLEY_OK;
}

/* ---- what fits ---- */

static medley_status check_size(const medley_table *table, const medley_dataset *dataset,
                                const char *kind, medley_error *error)
{
    if (table->rows == 0 || table->columns == 0)
        return md_fail(error, MEDLEY_BAD_INPUT,
                       "%zu rows of %zu columns were given; at least one of each is needed",
                       table->rows, table->columns);
    if (dataset->rows > 0 && table->rows != dataset->rows)
        return md_fail(error, MEDLEY_BAD_INPUT, "%s '%.100s' has %zu rows, expected %zu as in %s",
                       kind, table->name, table->rows, dataset->rows,
                       dataset->source != NULL ? dataset->source : "the other input");
    if (table->type != MEDLEY_FLOAT32 && table->type != MEDLEY_FLOAT64)
        return md_fail(error, MEDLEY_USAGE,
                       "the numbers of %s '%.100s' have the type %d; float32 and float64 are known",
                       kind, table->name, (int)table->type);
    if (table->start == NULL && table->values == NULL)
        return md_fail(error, MEDLEY_USAGE, "the values of %s '%.100s' are NULL", kind,
                       table->name);
    if (table->start == NULL && table->stride < table->columns)
        return md_fail(error, MEDLEY_USAGE,
                       "the rows of %s '%.100s' are %zu numbers apart and have %zu columns; they "
                       "must not overlap",
                       kind, table->name, table->stride, table->columns);
    return MEDLEY_OK;
}

static medley_status check_image(const medley_table *table, medley_error *error)
{
    size_t pixels;
    if (table->height == 0 && table->width == 0)
        return MEDLEY_OK;
    if (!__builtin_mul_overflow(table->height, table->width, &pixels) && pixels == table->columns)
        return MEDLEY_OK;
    return md_fail(error, MEDLEY_BAD_INPUT, "images of %zux%zu do not have %zu columns",
                   table->height, table->width, table->columns);
}

/* The names of the columns, all different. */
static medley_status take_names(md_strings *names, const medley_table *table, medley_error *error)
{
    if (table->column_names == NULL)
        return MEDLEY_OK;
    if (table->start != NULL)
        return md_fail(error, MEDLEY_USAGE,
                       "the columns of the sparse view '%.100s' have names; only those of dense "
                       "rows may have some",
                       table->name);
    for (size_t c = 0; c < table->columns; c++) {
        const char *name = table->column_names[c];
        if (name == NULL)
            return md_fail(error, MEDLEY_USAGE, "column %zu has no name while others have", c + 1);
        MEDLEY_TRY(md_strings_put(names, name, strlen(name), NULL, error));
        if (names->count != c + 1)
            return md_fail(error, MEDLEY_BAD_INPUT,
                           "two columns are called '%.100s'; rename one, or give no names", name);
    }
    return MEDLEY_OK;
}

medley_status medley_dataset_put_table(medley_dataset *dataset, const medley_table *given,
                                       medley_error *error)
{
    md_begin(error);
    medley_table table;
    MD_CLEARED(md_matrix_clear) md_matrix features = {0};
    MD_CLEARED(md_strings_clear) md_strings names = {0};
    MEDLEY_TRY(take_table(&table, given, error));
    MEDLEY_TRY(check_size(&table, dataset, "view", error));
    MEDLEY_TRY(check_image(&table, error));
    MEDLEY_TRY(take_names(&names, &table, error));
    if (md_dataset_table(dataset, table.name) != NULL)
        return md_fail(error, MEDLEY_USAGE, "there are two views called '%.100s'; rename one",
                       table.name);
    MEDLEY_TRY(table.start != NULL ? take_sparse(&features, &table, error)
                                   : take_dense(&features, &table, error));
    md_table *place;
    MEDLEY_TRY(md_dataset_new_table(&place, dataset, table.name, "", error));
    place->features = md_take(&features);
    place->column_names = md_take(&names);
    place->height = table.height;
    place->width = table.width;
    dataset->rows = table.rows;
    return MEDLEY_OK;
}

/* ---- kernel values ---- */

/* The values before rounding. */
static medley_status keep_wide(md_precomputed *gram, const medley_table *table, medley_error *error)
{
    const size_t bytes = table->columns * sizeof *gram->wide;
    MEDLEY_TRY(md_new_aligned(&gram->wide, table->rows, bytes, error));
    for (size_t r = 0; r < table->rows; r++)
        memcpy(gram->wide + r * table->columns,
               (const char *)table->values + r * table->stride * sizeof *gram->wide, bytes);
    return MEDLEY_OK;
}

static medley_status keep_diagonal(md_precomputed *gram, const double *diagonal, size_t rows,
                                   medley_error *error)
{
    for (size_t r = 0; r < rows; r++)
        if (!isfinite(diagonal[r]))
            return md_fail(error, MEDLEY_BAD_INPUT,
                           "kernel '%.100s': the diagonal's value %zu is %g; a finite number is "
                           "needed",
                           gram->name, r + 1, diagonal[r]);
    return md_new_copy(&gram->diagonal, diagonal, rows * sizeof *diagonal, error);
}

/* "gram1", "gram2" ... where there is no name, as of files: the next that is free. */
static medley_status name_gram(md_precomputed *gram, const medley_dataset *dataset,
                               const char *name, medley_error *error)
{
    const char *kind = gram->is_distance ? "distance" : "gram";
    char numbered[32];
    if (name[0] == '\0') {
        size_t number = dataset->gram_count + 1;
        do
            snprintf(numbered, sizeof numbered, "%s%zu", kind, number++);
        while (md_dataset_has_gram(dataset, numbered));
        name = numbered;
    }
    if (md_dataset_has_gram(dataset, name))
        return md_fail(error, MEDLEY_USAGE,
                       "there are two precomputed kernels called '%.100s'; rename one", name);
    return md_new_text(&gram->name, name, strlen(name), error);
}

static medley_status put_values(medley_dataset *dataset, const medley_table *given,
                                const double *diagonal, bool are_distances, medley_error *error)
{
    medley_table table;
    MD_CLEARED(md_precomputed_clear)
    md_precomputed made = {.is_distance = are_distances, .family = dataset->gram_count};
    MEDLEY_TRY(take_table(&table, given, error));
    MEDLEY_TRY(check_size(&table, dataset, "kernel", error));
    if (table.start != NULL)
        return md_fail(error, MEDLEY_USAGE,
                       "the values of kernel '%.100s' are sparse; give them as dense rows",
                       table.name);
    MEDLEY_TRY(name_gram(&made, dataset, table.name, error));
    MEDLEY_TRY(take_dense(&made.values, &table, error));
    if (dataset->keeps_wide && table.type == MEDLEY_FLOAT64)
        MEDLEY_TRY(keep_wide(&made, &table, error));
    if (diagonal != NULL)
        MEDLEY_TRY(keep_diagonal(&made, diagonal, table.rows, error));
    MEDLEY_TRY(md_grow(&dataset->grams, &dataset->gram_capacity, dataset->gram_count + 1,
                       sizeof *dataset->grams, error));
    dataset->grams[dataset->gram_count++] = md_take(&made);
    dataset->rows = table.rows;
    return MEDLEY_OK;
}

medley_status medley_dataset_put_gram(medley_dataset *dataset, const medley_table *given,
                                      const double *diagonal, medley_error *error)
{
    md_begin(error);
    return put_values(dataset, given, diagonal, false, error);
}

medley_status medley_dataset_put_distances(medley_dataset *dataset, const medley_table *given,
                                           medley_error *error)
{
    md_begin(error);
    return put_values(dataset, given, NULL, true, error);
}
