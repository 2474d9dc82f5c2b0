/* SPDX-License-Identifier: BSD-3-Clause */
/* medley_fit_warning: numbers taken for classes; a column that numbers the rows, or whose values
 * single precision cannot tell apart; sparse columns of very different size; columns of one view
 * that differ so much in spread that kernels see only the widest of them, and that `scale=auto`
 * leaves alone since kernels of histograms need their values. */
#include "fit/fit.h"

#include "setup/setup.h"
#include <ctype.h>
#include <strings.h>

static const double MOST_RATIO = 1e3; /* of deviations */

/* The deviations of some columns: of which they are largest and least, constants left out. */
struct spread {
    double largest, least;
    size_t widest, narrowest;
};

/* values[rows][columns]; from the first row, so that a large mean costs no digits. */
static double column_deviation(const md_matrix *matrix, size_t column)
{
    double sum = 0;
    double square = 0;
    const double rows = (double)matrix->rows;
    for (size_t r = 0; r < matrix->rows; r++) {
        const double d =
            (double)matrix->dense[r * matrix->columns + column] - (double)matrix->dense[column];
        sum += d;
        square += d * d;
    }
    return sqrt(fmax(0, square / rows - sum / rows * (sum / rows)));
}

/* columns[count] of a dense matrix; NULL: all. */
static bool is_uneven(struct spread *spread, const md_matrix *matrix, const size_t *columns,
                      size_t count)
{
    *spread = (struct spread){.least = INFINITY};
    for (size_t i = 0; i < count; i++) {
        const size_t c = columns != NULL ? columns[i] : i;
        const double deviation = column_deviation(matrix, c);
        if (deviation > spread->largest) {
            spread->largest = deviation;
            spread->widest = c;
        }
        if (deviation > 0 && deviation < spread->least) {
            spread->least = deviation;
            spread->narrowest = c;
        }
    }
    return spread->largest >= MOST_RATIO * spread->least;
}

/* Plain columns: sparse and named attributes are counts, and pixels have one unit. */
static bool is_plain(const md_table *table)
{
    return !md_matrix_is_sparse(&table->features) && table->features.rows > 0 && table->height == 0;
}

static bool may_be_uneven(const medley_dataset *dataset)
{
    struct spread spread;
    for (size_t t = 0; t < dataset->table_count; t++) {
        const md_table *table = &dataset->tables[t];
        if (is_plain(table) && is_uneven(&spread, &table->features, NULL, table->features.columns))
            return true;
    }
    return false;
}

static const char *column_name(char text[96], const md_table *table, size_t column)
{
    if (column < table->column_names.count)
        snprintf(text, 96, "'%.80s'", table->column_names.items[column]);
    else
        snprintf(text, 96, "%zu", column + 1);
    return text;
}

/* 1, 2, 3 ... from any number on. */
static bool numbers_rows(const md_matrix *matrix, size_t column)
{
    const double first = (double)matrix->dense[column];
    for (size_t r = 0; r < matrix->rows; r++)
        if ((double)matrix->dense[r * matrix->columns + column] != first + (double)r)
            return false;
    return true;
}

static int compare_floats(const void *a, const void *b)
{
    const float x = *(const float *)a;
    const float y = *(const float *)b;
    return (x > y) - (x < y);
}

/* "id", "patient_id", "ID": a name for something that identifies rows. */
static bool is_called_id(const char *name)
{
    const size_t length = strlen(name);
    return length >= 2 && strcasecmp(name + length - 2, "id") == 0 &&
           (length == 2 || strchr("_-. ", name[length - 3]) != NULL ||
            (name[length - 2] == 'I' && islower((unsigned char)name[length - 3])));
}

/* Whole numbers, all of them different, in a column that is called so. */
static bool identifies_rows(const md_table *table, size_t column)
{
    const md_matrix *matrix = &table->features;
    medley_error error = {0};
    MD_OWNED(free) float *sorted = NULL;
    if (column >= table->column_names.count || !is_called_id(table->column_names.items[column]) ||
        md_new(&sorted, matrix->rows, sizeof *sorted, &error) < 0)
        return false;
    for (size_t r = 0; r < matrix->rows; r++) {
        sorted[r] = matrix->dense[r * matrix->columns + column];
        if (sorted[r] != floorf(sorted[r]))
            return false;
    }
    qsort(sorted, matrix->rows, sizeof *sorted, compare_floats);
    for (size_t r = 1; r < matrix->rows; r++)
        if (sorted[r] == sorted[r - 1])
            return false;
    return true;
}

/* Without a name it is known by its number in the file, which the label's place may change. */
static void tell_how_to_leave_out(char text[160], const md_table *table, size_t column)
{
    enum { LONGEST = 60 };
    const char *name =
        column < table->column_names.count ? table->column_names.items[column] : NULL;
    const bool is_word = name != NULL && md_text_is_word(name, LONGEST);
    if (table->name[0] != '\0')
        snprintf(text, 160, " of view '%.80s'", table->name);
    else
        snprintf(text, 160, " by `ignore%s%s`", is_word ? "=" : "", is_word ? name : "");
}

/* Columns that number the rows of the file, of which the row's label may be a function: of rows
 * that are in the order of their labels, say. */
static size_t describe_numbers(char *text, size_t size, const medley_dataset *dataset)
{
    enum { LEAST_ROWS = 10 }; /* by chance, it would be a column of fewer */
    char name[96];
    for (size_t t = 0; t < dataset->table_count; t++) {
        const md_table *table = &dataset->tables[t];
        for (size_t c = 0; is_plain(table) && c < table->features.columns; c++) {
            if (dataset->rows < LEAST_ROWS)
                continue;
            const bool counts = numbers_rows(&table->features, c);
            if (!counts && !identifies_rows(table, c))
                continue;
            char remedy[160];
            tell_how_to_leave_out(remedy, table, c);
            const int length = snprintf(
                text, size,
                "column %s %s, which says nothing about new ones; leave it out%s, unless "
                "it is a measurement",
                column_name(name, table, c),
                counts ? "only counts the rows" : "has a different whole number in each row",
                remedy);
            return length > 0 ? (size_t)length : 0;
        }
    }
    return 0;
}

/* Columns of which single precision shows little: large numbers that are nearly the same, such as
 * times. Constants below 2^24 are what they seem. */
static size_t describe_coarse(char *text, size_t size, const medley_dataset *dataset)
{
    static const double STEPS = 64; /* of rounding, in a deviation that can still be learnt from */
    char name[96];
    for (size_t t = 0; t < dataset->table_count; t++) {
        const md_table *table = &dataset->tables[t];
        for (size_t c = 0; is_plain(table) && c < table->features.columns; c++) {
            const double value = fabs((double)table->features.dense[c]);
            const double step = ldexp(value, -23);
            const double deviation = column_deviation(&table->features, c);
            if (deviation >= STEPS * step || (deviation == 0 && step < 2))
                continue;
            const int length =
                snprintf(text, size,
                         "column %s has values about %.3g, which single precision rounds to steps "
                         "of %.2g, and their deviation is %.2g; subtract a number near them first, "
                         "such as their minimum",
                         column_name(name, table, c), value, step, deviation);
            return length > 0 ? (size_t)length : 0;
        }
    }
    return 0;
}

/* Codes of classes begin with 0 or 1, leave out no number, and have some rows each. */
static bool look_like_codes(const medley_dataset *dataset)
{
    enum { LEAST_ROWS_OF_A_LABEL = 5 };
    const size_t labels = dataset->label_names.count;
    double low = INFINITY;
    double high = -INFINITY;
    for (size_t r = 0; r < dataset->rows; r++) {
        low = fmin(low, dataset->target[r]);
        high = fmax(high, dataset->target[r]);
    }
    return (low == 0 || low == 1) && high - low + 1 == (double)labels &&
           dataset->rows >= LEAST_ROWS_OF_A_LABEL * labels;
}

/* The largest magnitude of every column of sparse rows: of [columns], 0 where nothing is. */
static void find_largest(float *largest, const md_matrix *matrix)
{
    for (size_t i = 0; i < matrix->start[matrix->rows]; i++)
        largest[matrix->index[i]] = fmaxf(largest[matrix->index[i]], fabsf(matrix->value[i]));
}

/* Sparse rows are not scaled by themselves, since centring would fill them. */
static size_t describe_sparse(char *text, size_t size, const medley_dataset *dataset)
{
    enum { MOST_COLUMNS = 1 << 20 };
    medley_error error = {0};
    char wide[96];
    char narrow[96];
    for (size_t t = 0; t < dataset->table_count; t++) {
        const md_table *table = &dataset->tables[t];
        const size_t columns = table->features.columns;
        MD_OWNED(free) float *largest = NULL;
        if (!md_matrix_is_sparse(&table->features) || table->features.rows == 0 ||
            columns > MOST_COLUMNS || md_new(&largest, columns, sizeof *largest, &error) < 0)
            continue;
        find_largest(largest, &table->features);
        size_t most = 0;
        size_t least = 0;
        for (size_t c = 0; c < columns; c++) {
            most = largest[c] > largest[most] ? c : most;
            least =
                largest[c] > 0 && (largest[least] == 0 || largest[c] < largest[least]) ? c : least;
        }
        if (columns == 0 || (double)largest[most] <= MOST_RATIO * (double)largest[least])
            continue;
        const int length = snprintf(
            text, size,
            "sparse columns differ greatly in magnitude (column %s goes up to %.3g, column %s to "
            "%.3g) and are not scaled; kernels see the largest of them only, so use "
            "`scale=maxabs`, or `scale=none` if that is intended",
            column_name(wide, table, most), (double)largest[most],
            column_name(narrow, table, least), (double)largest[least]);
        return length > 0 ? (size_t)length : 0;
    }
    return 0;
}

/* Many whole numbers that are taken for classes, and could be meant as numbers. */
static size_t describe_classes(char *text, size_t size, const medley_dataset *dataset)
{
    enum { MOST_LABELS = 20 };
    const size_t labels = dataset->label_names.count;
    const md_table *table = md_dataset_table(dataset, "");
    const char *column = table != NULL ? table->label_name : NULL;
    if (dataset->target == NULL || labels <= MOST_LABELS || md_labels_look_like_numbers(dataset) ||
        look_like_codes(dataset))
        return 0;
    const int length = snprintf(text, size,
                                "%zu different whole numbers in %zu rows%s%.80s%s are taken for "
                                "classes; use `task=regression` to predict numbers, or "
                                "`task=multiclass` if they are classes",
                                labels, dataset->rows, column != NULL ? " (column '" : "",
                                column != NULL ? column : "", column != NULL ? "')" : "");
    return length > 0 ? (size_t)length : 0;
}

/* The first view of the bank that has such columns, in words. */
static size_t describe(char *text, size_t size, const md_bank *bank, const medley_dataset *dataset)
{
    struct spread spread;
    char widest[96];
    char narrowest[96];
    for (size_t m = 0; m < bank->count && bank->kernels[m].class != NULL; m++) {
        const md_view *view = &bank->views[bank->kernels[m].view];
        const md_table *table = md_dataset_table(dataset, view->table);
        if (!bank->kernels[m].class->nonnegative_data || view->steps != NULL || table == NULL ||
            view->scale != MD_SCALE_NONE || !is_plain(table) ||
            !is_uneven(&spread, &table->features, view->columns, view->column_count))
            continue;
        const int length = snprintf(
            text, size,
            "columns of view '%s' differ greatly in spread (column %s has deviation %.3g, column "
            "%s "
            "%.3g), and kernels see the widest of them only; kernel %s needs values that are not "
            "negative, so use `scale=minmax`, or `scale=none` if that is intended",
            view->name, column_name(widest, table, spread.widest), spread.largest,
            column_name(narrowest, table, spread.narrowest), spread.least,
            bank->kernels[m].class->name);
        return length > 0 ? (size_t)length : 0;
    }
    return 0;
}

size_t medley_fit_warning(char *text, size_t size, const medley_dataset *train,
                          const medley_options *options)
{
    medley_error error = {0};
    const md_method *method = NULL;
    MD_CLEARED(md_bank_clear) md_bank bank = {0};
    MD_OWNED(medley_options_free) medley_options *plain = NULL;
    if (size > 0)
        text[0] = '\0';
    if (options == NULL && medley_options_create(&plain, &error) < 0)
        return 0;
    const medley_options *asked = options != NULL ? options : plain;
    const md_task *task = md_task_of(asked, train);
    size_t length = 0;
    if (asked->task == 0 && task->structure != NULL)
        length = describe_classes(text, size, train);
    if (length > 0)
        return length;
    if ((task->about.takes & MD_TAKES_KERNELS) != 0)
        length = describe_numbers(text, size, train);
    if ((task->about.takes & MD_TAKES_KERNELS) != 0 && length == 0)
        length = describe_coarse(text, size, train);
    if ((task->about.takes & MD_TAKES_KERNELS) != 0 && length == 0 && asked->scale == NULL)
        length = describe_sparse(text, size, train);
    if (length > 0)
        return length;
    if (asked->scale != NULL || (task->about.takes & MD_TAKES_KERNELS) == 0 ||
        !may_be_uneven(train))
        return 0;
    if (md_method_choose(&method, asked, train, NULL, &error) < 0 ||
        md_make_bank(&bank, train, asked, task, method, &error) < 0)
        return 0; /* what is wrong is told by the fit */
    return describe(text, size, &bank, train);
}
