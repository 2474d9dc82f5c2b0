/* SPDX-License-Identifier: BSD-3-Clause */
/* What a bank learns from its training data before any kernel value is computed: the origin of each
 * dense view, and kernel parameters left to the data (widths by mean distance, quantiles). */
#include "base/parallel.h"
#include "gram/prepared_rows.h"

#include "base/random.h"

enum { MAX_PAIRS = 200000 }; /* of rows looked at: a quantile is then known to about 0.1 % */

/* Means of columns; of sparse rows those that occur: there may be far fewer. */
typedef struct column_means {
    double *values;
    size_t count;
} column_means;

static void clear_means(column_means *means)
{
    free(means->values);
}

static medley_status find_sparse_means(column_means *means, const md_matrix *matrix,
                                       medley_error *error)
{
    MD_CLEARED(md_matrix_clear) md_matrix across = {0};
    MEDLEY_TRY(md_matrix_transpose_occurring(&across, matrix, error));
    MEDLEY_TRY(md_new(&means->values, across.rows, sizeof(double), error));
    means->count = across.rows;
    for (size_t c = 0; c < across.rows; c++) {
        for (size_t e = across.start[c]; e < across.start[c + 1]; e++)
            means->values[c] += (double)across.value[e];
        means->values[c] /= (double)matrix->rows;
    }
    return MEDLEY_OK;
}

static medley_status find_means(column_means *means, const md_matrix *matrix, medley_error *error)
{
    if (md_matrix_is_sparse(matrix))
        return find_sparse_means(means, matrix, error);
    MEDLEY_TRY(md_new(&means->values, matrix->columns, sizeof(double), error));
    means->count = matrix->columns;
    for (size_t r = 0; r < matrix->rows; r++)
        for (size_t c = 0; c < matrix->columns; c++)
            means->values[c] += (double)matrix->dense[r * matrix->columns + c];
    for (size_t c = 0; c < matrix->columns; c++)
        means->values[c] /= (double)matrix->rows;
    return MEDLEY_OK;
}

/* ---- the quantity q of a pair of rows, one pair at a time ---- */

/* The union of two sparse rows' columns as two short dense rows; returns its length. */
static size_t merge_rows(const md_matrix *x, size_t i, size_t j, float *left, float *right)
{
    size_t length = 0;
    size_t a = x->start[i];
    size_t b = x->start[j];
    while (a < x->start[i + 1] || b < x->start[j + 1]) {
        const int32_t p = a < x->start[i + 1] ? x->index[a] : INT32_MAX;
        const int32_t q = b < x->start[j + 1] ? x->index[b] : INT32_MAX;
        left[length] = p <= q ? x->value[a++] : 0;
        right[length++] = q <= p ? x->value[b++] : 0;
    }
    return length;
}

/* Room for the longest union of two sparse rows. */
static size_t longest_pair(const md_matrix *x)
{
    size_t longest = 0;
    for (size_t r = 0; md_matrix_is_sparse(x) && r < x->rows; r++)
        longest = md_max(longest, x->start[r + 1] - x->start[r]);
    return 2 * longest;
}

/* scratch: [2][longest_pair] */
static float pair_quantity(const md_kernel_class *class, const md_matrix *x, size_t i, size_t j,
                           float *scratch)
{
    const bool sparse = md_matrix_is_sparse(x);
    float *other = scratch;
    if (sparse)
        other += x->start[i + 1] - x->start[i] + x->start[j + 1] - x->start[j];
    const float *u = sparse ? scratch : x->dense + i * x->columns;
    const float *v = sparse ? other : x->dense + j * x->columns;
    const size_t length = sparse ? merge_rows(x, i, j, scratch, other) : x->columns;
    if (class->quantity == MD_PAIRED)
        return class->pair_sum(u, v, length);
    double sum = 0;
    for (size_t c = 0; c < length; c++) {
        const double difference = (double)u[c] - (double)v[c];
        sum += difference * difference;
    }
    return (float)sum;
}

static int compare_floats(const void *a, const void *b)
{
    const float x = *(const float *)a;
    const float y = *(const float *)b;
    return (x > y) - (x < y);
}

/* Mean of ||x_i - x_j||^2 over i != j, exactly: 2/(N-1) sum_i ||x_i - mean||^2. Dense rows are
 * measured from their mean so that nothing cancels; of sparse rows sum ||x||^2 - N ||mean||^2. */
static double mean_distance2(const md_matrix *matrix, const column_means *means)
{
    const bool sparse = md_matrix_is_sparse(matrix);
    double total = 0;
    for (size_t r = 0; r < matrix->rows; r++) {
        const md_row row = md_matrix_row(matrix, r);
        for (size_t e = 0; e < row.count; e++) {
            const double d = (double)row.value[e] - (sparse ? 0 : means->values[e]);
            total += d * d;
        }
    }
    for (size_t c = 0; sparse && c < means->count; c++)
        total -= (double)matrix->rows * means->values[c] * means->values[c];
    return matrix->rows > 1 ? 2 * fmax(0, total) / (double)(matrix->rows - 1) : 0;
}

/* A sample of q over pairs of different rows: all pairs if they are few. */
static size_t sample_pairs(float *sample, const md_kernel_class *class, const md_matrix *matrix,
                           uint64_t seed, float *scratch)
{
    const size_t n = matrix->rows;
    size_t count = 0;
    if (n * (n - 1) / 2 <= MAX_PAIRS) {
        for (size_t i = 1; i < n; i++)
            for (size_t j = 0; j < i; j++)
                sample[count++] = pair_quantity(class, matrix, i, j, scratch);
        return count;
    }
    md_random random;
    md_random_seed(&random, seed);
    while (count < MAX_PAIRS) {
        const size_t i = md_random_below(&random, n);
        const size_t j = md_random_below(&random, n);
        if (i != j)
            sample[count++] = pair_quantity(class, matrix, i, j, scratch);
    }
    return count;
}

/* Statistics of q over pairs that are looked at one by one. */
static medley_status choose_by_pairs(md_kernel *kernel, const md_matrix *matrix, double exact_mean,
                                     uint64_t seed, medley_error *error)
{
    MD_OWNED(free) float *sample = NULL;
    MD_OWNED(free) float *scratch = NULL;
    const size_t length = 2 * longest_pair(matrix) + 1;
    MEDLEY_TRY(md_new(&sample, MAX_PAIRS, sizeof *sample, error));
    MEDLEY_TRY(md_new(&scratch, length, sizeof *scratch, error));
    md_pair_statistics statistics = {.sorted = sample};
    statistics.count = sample_pairs(sample, kernel->class, matrix, seed, scratch);
    double sum = 0;
    for (size_t i = 0; i < statistics.count; i++)
        sum += (double)sample[i];
    statistics.mean = statistics.count ? sum / (double)statistics.count : 0;
    if (!isnan(exact_mean))
        statistics.mean = exact_mean;
    if (statistics.count == 0)
        statistics.count = 1; /* a single row: the one sample value is 0 */
    if (kernel->class->needs_quantiles)
        qsort(sample, statistics.count, sizeof *sample, compare_floats);
    return kernel->class->choose(kernel->state, &statistics, error);
}

static medley_status choose_kernel(md_kernel *kernel, const md_matrix *matrix,
                                   const column_means *means, uint64_t seed, medley_error *error)
{
    double exact_mean = NAN;
    if (kernel->class->quantity == MD_DISTANCE2)
        exact_mean = mean_distance2(matrix, means);
    if (isnan(exact_mean) || kernel->class->needs_quantiles)
        return choose_by_pairs(kernel, matrix, exact_mean, seed, error);
    const md_pair_statistics statistics = {.mean = exact_mean};
    return kernel->class->choose(kernel->state, &statistics, error);
}

/* ---- origins ---- */

/* Is a distance between rows small against their lengths, so that ||x||^2 + ||z||^2 - 2 <x,z>
 * would lose digits? Two bits may go. */
static bool is_far(const md_matrix *matrix, const column_means *means)
{
    double square = 0;
    for (size_t c = 0; c < means->count; c++)
        square += means->values[c] * means->values[c];
    return 2 * square > 3 * mean_distance2(matrix, means); /* twice the variance */
}

/* The kernels of one view: they stand together in the bank. */
struct view_kernels {
    size_t view, first, end;
};

/* The point that the rows of a view are measured from. Sparse rows would become dense; kernels of
 * histograms and explicit weights need the values themselves; products alone lose nothing. */
static medley_status choose_origin(md_bank *bank, struct view_kernels of, const md_matrix *matrix,
                                   const column_means *means, medley_error *error)
{
    bool has_distances = false;
    float **origin = &bank->origin[of.view];
    if (md_matrix_is_sparse(matrix))
        return MEDLEY_OK;
    for (size_t m = of.first; m < of.end; m++) {
        const md_kernel *kernel = &bank->kernels[m];
        if (kernel->class->nonnegative_data || kernel->explicit_weights)
            return MEDLEY_OK;
        has_distances = has_distances || kernel->class->quantity == MD_DISTANCE2;
    }
    if (!has_distances || !is_far(matrix, means))
        return MEDLEY_OK;
    MEDLEY_TRY(md_new(origin, matrix->columns, sizeof **origin, error));
    for (size_t c = 0; c < matrix->columns; c++)
        (*origin)[c] = (float)means->values[c];
    return MEDLEY_OK;
}

/* Everything that one view's kernels need; extracts the view once. */
static medley_status choose_view(md_bank *bank, struct view_kernels of, const bool *needs_data,
                                 const medley_dataset *dataset, uint64_t seed, medley_error *error)
{
    MD_CLEARED(md_matrix_clear) md_matrix matrix = {0};
    MD_CLEARED(clear_means) column_means means = {0};
    MEDLEY_TRY(md_view_extract(&matrix, &bank->views[of.view], dataset, error));
    MEDLEY_TRY(find_means(&means, &matrix, error));
    for (size_t m = of.first; m < of.end; m++)
        if (needs_data[m])
            MEDLEY_TRY(choose_kernel(&bank->kernels[m], &matrix, &means, seed, error));
    return choose_origin(bank, of, &matrix, &means, error);
}

struct choosing {
    md_bank *bank;
    const bool *needs_data;
    struct view_kernels *views; /* that are looked at */
    const medley_dataset *dataset;
    uint64_t seed;
};

static medley_status choose_one(void *context, size_t item, medley_error *error)
{
    const struct choosing *c = context;
    return choose_view(c->bank, c->views[item], c->needs_data, c->dataset, c->seed, error);
}

medley_status md_bank_choose(md_bank *bank, const medley_dataset *dataset, uint64_t seed,
                             medley_error *error)
{
    MD_OWNED(free) bool *needs_data = NULL;
    MD_OWNED(free) struct view_kernels *views = NULL;
    size_t count = 0;
    MEDLEY_TRY(md_new(&views, bank->count, sizeof *views, error));
    MEDLEY_TRY(md_new(&needs_data, bank->count, sizeof *needs_data, error));
    MEDLEY_TRY(md_new(&bank->origin, bank->view_count, sizeof(float *), error));
    for (size_t m = 0; m < bank->count; m++) {
        md_kernel *kernel = &bank->kernels[m];
        if (kernel->class != NULL && kernel->class->prepare != NULL)
            MEDLEY_TRY(kernel->class->prepare(kernel->state, &needs_data[m], error));
    }
    struct view_kernels of = {0};
    for (; of.first < bank->count && bank->kernels[of.first].class != NULL; of.first = of.end) {
        bool looks = false; /* at the data of this view */
        of.view = bank->kernels[of.first].view;
        for (of.end = of.first; of.end < bank->count && bank->kernels[of.end].class != NULL &&
                                bank->kernels[of.end].view == of.view;
             of.end++)
            looks = looks || needs_data[of.end] ||
                    bank->kernels[of.end].class->quantity == MD_DISTANCE2;
        if (looks)
            views[count++] = of;
    }
    struct choosing choosing = {bank, needs_data, views, dataset, seed};
    return md_parallel_try(bank->threads, count, choose_one, &choosing, error);
}
