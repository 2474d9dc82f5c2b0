/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows as a bank sees them: extracted, shifted, measured, normalised, checked and gathered. */
#include "gram/prepared_rows.h"

#include "base/parallel.h"

void md_prepared_clear(md_prepared *prepared)
{
    for (size_t v = 0; v < prepared->view_count; v++) {
        if (prepared->views != NULL)
            md_matrix_clear(&prepared->views[v]);
        if (prepared->transposed != NULL)
            md_matrix_clear(&prepared->transposed[v]);
        if (prepared->norm2 != NULL)
            free(prepared->norm2[v]);
        if (prepared->lift != NULL)
            free(prepared->lift[v]);
    }
    for (size_t m = 0; prepared->inverse_root != NULL && m < prepared->kernel_count; m++)
        free(prepared->inverse_root[m]);
    md_pool_clear(&prepared->pool);
    *prepared = (md_prepared){0};
}

medley_status md_prepared_init(md_prepared *prepared, size_t rows, size_t view_count,
                               size_t kernel_count, medley_error *error)
{
    MD_CLEARED(md_prepared_clear)
    md_prepared made = {.rows = rows, .view_count = view_count, .kernel_count = kernel_count};
    md_pool *pool = &made.pool;
    *prepared = (md_prepared){0};
    MEDLEY_TRY(md_pool_new(pool, &made.views, view_count, sizeof *made.views, error));
    MEDLEY_TRY(md_pool_new(pool, &made.transposed, view_count, sizeof *made.transposed, error));
    MEDLEY_TRY(md_pool_new(pool, &made.norm2, view_count, sizeof(float *), error));
    MEDLEY_TRY(md_pool_new(pool, &made.lift, view_count, sizeof(float *), error));
    MEDLEY_TRY(md_pool_new(pool, &made.inverse_root, kernel_count, sizeof(float *), error));
    MEDLEY_TRY(md_pool_new(pool, &made.precomputed, kernel_count, sizeof(md_matrix *), error));
    MEDLEY_TRY(md_pool_new(pool, &made.precomputed_float64, kernel_count, sizeof(double *), error));
    MEDLEY_TRY(md_pool_new(pool, &made.used, view_count, sizeof *made.used, error));
    *prepared = md_take(&made);
    return MEDLEY_OK;
}

medley_status md_prepared_index(md_prepared *prepared, medley_error *error)
{
    for (size_t v = 0; v < prepared->view_count; v++)
        if (prepared->used[v] && md_matrix_is_sparse(&prepared->views[v]))
            MEDLEY_TRY(md_matrix_transpose_occurring(&prepared->transposed[v], &prepared->views[v],
                                                     error));
    return MEDLEY_OK;
}

/* Subtracts the origin o from dense rows and notes lift(x) = <x - o, o> + ||o||^2 / 2, from which
 * products of the original rows come back: <x,z> = <x-o,z-o> + lift(x) + lift(z). Distances are
 * then taken between small numbers even if the data sit far from zero. */
static medley_status shift_view(md_prepared *prepared, size_t v, const float *origin,
                                medley_error *error)
{
    md_matrix *matrix = &prepared->views[v];
    MEDLEY_TRY(md_new(&prepared->lift[v], prepared->rows, sizeof(float), error));
    double half_square = 0;
    for (size_t c = 0; c < matrix->columns; c++)
        half_square += 0.5 * (double)origin[c] * (double)origin[c];
    for (size_t r = 0; r < prepared->rows; r++) {
        float *row = matrix->dense + r * matrix->columns;
        double product = 0;
        for (size_t c = 0; c < matrix->columns; c++) {
            row[c] -= origin[c];
            product += (double)row[c] * (double)origin[c];
        }
        prepared->lift[v][r] = (float)(product + half_square);
    }
    return MEDLEY_OK;
}

/* Squared distances up to four times the longest row's square must stay finite. */
static medley_status check_size(const md_bank *bank, size_t v, const double *norms2, size_t rows,
                                medley_error *error)
{
    for (size_t r = 0; r < rows; r++)
        if (!(norms2[r] <= (double)FLT_MAX / 4))
            return md_fail(
                error, MEDLEY_BAD_INPUT,
                "view '%s': the values of row %zu are too large for kernels (their "
                "squares add up to %.3g); use `scale=standard` in training, or check them",
                bank->views[v].name, r + 1, norms2[r]);
    return MEDLEY_OK;
}

static medley_status measure_view(md_prepared *prepared, const md_bank *bank, size_t v,
                                  medley_error *error)
{
    MD_OWNED(free) double *norms = NULL;
    if (bank->origin != NULL && bank->origin[v] != NULL)
        MEDLEY_TRY(shift_view(prepared, v, bank->origin[v], error));
    MEDLEY_TRY(md_new(&norms, prepared->rows, sizeof *norms, error));
    MEDLEY_TRY(md_new(&prepared->norm2[v], prepared->rows, sizeof(float), error));
    md_matrix_row_norms2(&prepared->views[v], norms);
    if (prepared->used[v])
        MEDLEY_TRY(check_size(bank, v, norms, prepared->rows, error));
    for (size_t r = 0; r < prepared->rows; r++)
        prepared->norm2[v][r] = (float)norms[r];
    return MEDLEY_OK;
}

/* ||x||^2 of a row that was shifted by the origin. From norm2 and lift it would be a difference of
 * large numbers, and no longer 0 for a row of zeros. */
static double unshifted_norm2(const float *row, const float *origin, size_t columns)
{
    double sum = 0;
    for (size_t c = 0; c < columns; c++) {
        const double value = (double)row[c] + (double)origin[c];
        sum += value * value;
    }
    return sum;
}

/* The dot product or pair sum of row r with itself. */
static float self_quantity(const md_prepared *prepared, const md_kernel *kernel,
                           const float *origin, size_t r)
{
    const md_matrix *matrix = &prepared->views[kernel->view];
    if (kernel->class->quantity == MD_DOT)
        return origin != NULL ? (float)unshifted_norm2(matrix->dense + r * matrix->columns, origin,
                                                       matrix->columns)
                              : prepared->norm2[kernel->view][r];
    const md_row row = md_matrix_row(matrix, r);
    return kernel->class->pair_sum(row.value, row.value, row.count);
}

void md_prepared_self(const md_prepared *prepared, const md_bank *bank, size_t m, double *self)
{
    enum { PIECE = 256 };
    const md_kernel *kernel = &bank->kernels[m];
    const float *origin = bank->origin != NULL ? bank->origin[kernel->view] : NULL;
    float values[PIECE] = {0};
    if (kernel->class->quantity == MD_DISTANCE2) { /* every row is at distance 0 from itself */
        kernel->class->map(kernel->state, values, values, 1);
        for (size_t r = 0; r < prepared->rows; r++)
            self[r] = (double)values[0];
        return;
    }
    for (size_t first = 0; first < prepared->rows; first += PIECE) {
        const size_t count = md_min(prepared->rows - first, PIECE);
        for (size_t i = 0; i < count; i++)
            values[i] = self_quantity(prepared, kernel, origin, first + i);
        kernel->class->map(kernel->state, values, values, count);
        for (size_t i = 0; i < count; i++)
            self[first + i] = (double)values[i];
    }
}

/* ---- normalisation ---- */

/* The values of a kernel: by its name, or as it was numbered in training. */
static const md_precomputed *find_values(const md_kernel *kernel, const medley_dataset *dataset,
                                         bool training)
{
    for (size_t g = 0; !training && g < dataset->gram_count; g++)
        if (strcmp(dataset->grams[g].name, kernel->name) == 0)
            return &dataset->grams[g];
    return kernel->view < dataset->gram_count ? &dataset->grams[kernel->view] : NULL;
}

static medley_status precomputed_self(double *self, const md_prepared *prepared,
                                      const md_kernel *kernel, const medley_dataset *dataset,
                                      bool training, medley_error *error)
{
    const md_precomputed *gram = find_values(kernel, dataset, training);
    for (size_t r = 0; r < prepared->rows; r++) {
        const size_t place = r * gram->values.columns + r;
        if (gram->is_distance)
            self[r] = 1;
        else if (gram->diagonal != NULL)
            self[r] = gram->diagonal[r];
        else if (training)
            self[r] = gram->wide != NULL ? gram->wide[place] : (double)gram->values.dense[place];
        else
            return md_fail(error, MEDLEY_USAGE,
                           "kernel '%s' was normalised to unit diagonal, so K(x,x) of the new "
                           "points is needed; give `gram-diagonal=FILE`",
                           kernel->name);
    }
    return MEDLEY_OK;
}

/* |K(x,z)|^2 <= K(x,x) K(z,z): if these are finite, so is everything. */
static medley_status check_self(const md_kernel *kernel, const double *self, size_t rows,
                                medley_error *error)
{
    const bool divides = kernel->norm == MD_NORM_DIAG || kernel->norm == MD_NORM_TRACE;
    for (size_t r = 0; r < rows; r++) {
        if (!isfinite(self[r]))
            return md_fail(error, MEDLEY_BAD_INPUT,
                           "kernel '%s': K(x,x) is not finite in row %zu; the values are too large "
                           "for it; use `scale=standard` or minmax in training, or check them",
                           kernel->name, r + 1);
        if (divides && self[r] < 0)
            return md_fail(error, MEDLEY_BAD_INPUT,
                           "kernel '%s': K(x,x) = %g in row %zu cannot be normalised; it must not "
                           "be negative",
                           kernel->name, self[r], r + 1);
    }
    return MEDLEY_OK;
}

static medley_status learn_norm(md_prepared *prepared, md_kernel *kernel, size_t m,
                                const double *self, bool training, medley_error *error)
{
    double trace = 0;
    for (size_t r = 0; r < prepared->rows; r++)
        trace += self[r];
    /* below the least float with all its digits, values are as good as 0 and stay what they are */
    if (kernel->norm == MD_NORM_TRACE && training)
        kernel->factor = trace >= (double)FLT_MIN ? 1 / trace : 1;
    if (kernel->norm != MD_NORM_DIAG)
        return MEDLEY_OK;
    MEDLEY_TRY(md_new(&prepared->inverse_root[m], prepared->rows, sizeof(float), error));
    for (size_t r = 0; r < prepared->rows; r++) /* a row with K(x,x) = 0 is the zero vector */
        prepared->inverse_root[m][r] = self[r] >= MD_LEAST_SELF ? (float)(1 / sqrt(self[r])) : 0;
    return MEDLEY_OK;
}

static medley_status normalise(md_prepared *prepared, md_bank *bank, const medley_dataset *dataset,
                               bool training, medley_error *error)
{
    MD_OWNED(free) double *self = NULL;
    MEDLEY_TRY(md_new(&self, prepared->rows, sizeof *self, error));
    for (size_t m = 0; m < bank->count; m++) {
        md_kernel *kernel = &bank->kernels[m];
        const bool needs_self = training || kernel->norm == MD_NORM_DIAG;
        if (kernel->class != NULL)
            md_prepared_self(prepared, bank, m, self);
        else if (needs_self)
            MEDLEY_TRY(precomputed_self(self, prepared, kernel, dataset, training, error));
        else
            continue;
        MEDLEY_TRY(check_self(kernel, self, prepared->rows, error));
        MEDLEY_TRY(learn_norm(prepared, kernel, m, self, training, error));
    }
    return MEDLEY_OK;
}

/* ---- checks ---- */

/* New rows that were scaled may fall below the least training value: they count as 0. Other
 * negative values do not belong to such data. */
static medley_status check_nonnegative(md_prepared *prepared, const md_bank *bank, size_t m,
                                       const medley_dataset *dataset, bool training,
                                       medley_error *error)
{
    const md_kernel *kernel = &bank->kernels[m];
    const bool clips = !training && bank->views[kernel->view].factor != NULL;
    for (size_t r = 0; r < prepared->rows; r++) {
        const md_row row = md_matrix_row(&prepared->views[kernel->view], r);
        for (size_t e = 0; e < row.count; e++) {
            if (row.value[e] < 0 && !clips)
                return md_fail_at(error, MEDLEY_BAD_INPUT, dataset->source, 0,
                                  "kernel %s needs values that are not negative, found %g in view "
                                  "'%s'; use `scale=minmax` or another kernel",
                                  kernel->class->name, (double)row.value[e],
                                  bank->views[kernel->view].name);
            if (row.value[e] < 0)
                row.value[e] = 0;
        }
    }
    return MEDLEY_OK;
}

static double largest_of(const double *values, size_t count)
{
    double largest = 0;
    for (size_t i = 0; i < count; i++)
        largest = fmax(largest, values[i]);
    return largest;
}

/* Rows that are all the same carry nothing, whatever becomes of them. */
static bool has_different_rows(const md_matrix *matrix)
{
    const md_row first = md_matrix_row(matrix, 0);
    for (size_t r = 1; r < matrix->rows; r++) {
        const md_row row = md_matrix_row(matrix, r);
        if (row.count != first.count)
            return true;
        for (size_t e = 0; e < row.count; e++)
            if (row.value[e] != first.value[e] || md_row_column(row, e) != md_row_column(first, e))
                return true;
    }
    return false;
}

/* Squared norms below FLT_MIN / FLT_EPSILON lose digits in single precision, and products far below
 * it are all 0; so are powers of small numbers. Sums over columns bear values down to some 1e-28.
 */
static bool is_lost(const md_prepared *prepared, const md_bank *bank, size_t m, double *scratch)
{
    const md_kernel *kernel = &bank->kernels[m];
    const bool sums = kernel->class->quantity == MD_PAIRED;
    const double least = sums ? 1e-56 : (double)FLT_MIN / (double)FLT_EPSILON;
    md_matrix_row_norms2(&prepared->views[kernel->view], scratch);
    if (largest_of(scratch, prepared->rows) < least)
        return true;
    md_prepared_self(prepared, bank, m, scratch);
    return largest_of(scratch, prepared->rows) < (double)FLT_MIN;
}

/* A kernel may vanish in single precision, but not all of those that have something to tell. */
static medley_status check_smallness(const md_prepared *prepared, const md_bank *bank,
                                     medley_error *error)
{
    const md_kernel *lost = NULL;
    MD_OWNED(free) double *scratch = NULL;
    MEDLEY_TRY(md_new(&scratch, prepared->rows, sizeof *scratch, error));
    for (size_t m = 0; m < bank->count; m++) {
        const md_kernel *kernel = &bank->kernels[m];
        if (kernel->class == NULL)
            return MEDLEY_OK;
        if (kernel->class->constant || !has_different_rows(&prepared->views[kernel->view]))
            continue;
        if (!is_lost(prepared, bank, m, scratch))
            return MEDLEY_OK;
        lost = lost != NULL ? lost : kernel;
    }
    if (lost == NULL)
        return MEDLEY_OK;
    md_matrix_row_norms2(&prepared->views[lost->view], scratch);
    return md_fail(error, MEDLEY_BAD_INPUT,
                   "view '%s': the values are too small for kernel '%s', or differ by too little "
                   "(their squares add up to %.3g at most in a row); use `scale=standard`",
                   bank->views[lost->view].name, lost->name, largest_of(scratch, prepared->rows));
}

/* Values that the user calls by another name than in training; "gram2" is what they are called
 * without a name. */
static bool is_another(const md_precomputed *gram, const md_kernel *kernel)
{
    char number[32];
    snprintf(number, sizeof number, "%s%zu", kernel->is_distance ? "distance" : "gram",
             kernel->view + 1);
    return gram->is_named && strcmp(kernel->name, gram->name) != 0 &&
           strcmp(kernel->name, number) != 0;
}

static medley_status attach_precomputed(md_prepared *prepared, const md_bank *bank, size_t m,
                                        const medley_dataset *dataset, bool training,
                                        medley_error *error)
{
    const md_kernel *kernel = &bank->kernels[m];
    const md_precomputed *gram = find_values(kernel, dataset, training);
    if (gram == NULL)
        return md_fail(error, MEDLEY_USAGE,
                       "the model uses the precomputed kernel '%s' (number %zu) but %zu are given; "
                       "give `gram` with a matrix of new rows by training rows for each",
                       kernel->name, kernel->view + 1, dataset->gram_count);
    if (is_another(gram, kernel))
        return md_fail(
            error, MEDLEY_USAGE,
            "the model was learnt from a %s '%s', and none of those given is called that ('%s' "
            "stands in its place); use the names of training, or its order without names",
            kernel->is_distance ? "matrix of distances" : "kernel", kernel->name, gram->name);
    if (gram->is_distance != kernel->is_distance)
        return md_fail(error, MEDLEY_USAGE,
                       kernel->is_distance ? "the model was learnt from the distances '%s', and "
                                             "kernel values are given; use `distance`, not `gram`"
                                           : "the model was learnt from the kernel '%s', and "
                                             "distances are given; use `gram`, not `distance`",
                       kernel->name);
    prepared->precomputed[m] = &gram->values;
    prepared->precomputed_float64[m] = gram->wide;
    if (kernel->is_distance) {
        MEDLEY_TRY(md_distance_check(gram, training, error));
        MEDLEY_TRY(md_distance_attach(prepared, m, gram, kernel->gamma, error));
    }
    if (training && !(gram->sound && gram->values.columns == prepared->rows))
        return md_precomputed_check(gram, prepared->rows, error);
    if (!training && gram->values.columns != bank->training_rows)
        return md_fail(error, MEDLEY_BAD_INPUT,
                       "%s '%s' has %zu columns, expected one for each of the %zu training rows; "
                       "give a matrix of new rows by those (of a square one, a selection such as "
                       "`folds` takes columns with the rows)",
                       gram->is_distance ? "matrix of distances" : "kernel", gram->name,
                       gram->values.columns, bank->training_rows);
    return MEDLEY_OK;
}

/* Views one by one, each by one thread. */
struct viewing {
    md_prepared *prepared;
    const md_bank *bank;
    const medley_dataset *dataset;
};

static medley_status extract_one(void *context, size_t v, medley_error *error)
{
    const struct viewing *viewing = context;
    return md_view_extract(&viewing->prepared->views[v], &viewing->bank->views[v], viewing->dataset,
                           error);
}

static medley_status extract_views(md_prepared *prepared, const md_bank *bank,
                                   const medley_dataset *dataset, medley_error *error)
{
    struct viewing viewing = {prepared, bank, dataset};
    return md_parallel_try(bank->threads, bank->view_count, extract_one, &viewing, error);
}

static medley_status measure_one(void *context, size_t v, medley_error *error)
{
    const struct viewing *viewing = context;
    return measure_view(viewing->prepared, viewing->bank, v, error);
}

/* The same of other data than those of training, whose columns may have another order. */
static medley_status extract_aligned(md_prepared *prepared, const md_bank *bank,
                                     const medley_dataset *dataset, medley_error *error)
{
    MD_CLEARED(md_aligned_clear) md_aligned aligned = {0};
    MEDLEY_TRY(md_align_tables(&aligned, &bank->tables, dataset, error));
    return extract_views(prepared, bank, &aligned.dataset, error);
}

medley_status md_prepared_make(md_prepared *prepared, md_bank *bank, const medley_dataset *dataset,
                               bool training, medley_error *error)
{
    MD_CLEARED(md_prepared_clear) md_prepared made = {0};
    *prepared = made;
    MEDLEY_TRY(md_prepared_init(&made, dataset->rows, bank->view_count, bank->count, error));
    for (size_t m = 0; m < bank->count; m++)
        if (bank->kernels[m].class != NULL && !md_kernel_has_weights(&bank->kernels[m]))
            made.used[bank->kernels[m].view] = true;
    if (training)
        MEDLEY_TRY(extract_views(&made, bank, dataset, error));
    else
        MEDLEY_TRY(extract_aligned(&made, bank, dataset, error));
    for (size_t m = 0; m < bank->count; m++) {
        if (bank->kernels[m].class == NULL)
            MEDLEY_TRY(attach_precomputed(&made, bank, m, dataset, training, error));
        else if (bank->kernels[m].class->nonnegative_data)
            MEDLEY_TRY(check_nonnegative(&made, bank, m, dataset, training, error));
    }
    struct viewing viewing = {&made, bank, dataset};
    MEDLEY_TRY(md_parallel_try(bank->threads, bank->view_count, measure_one, &viewing, error));
    if (training)
        MEDLEY_TRY(check_smallness(&made, bank, error));
    MEDLEY_TRY(normalise(&made, bank, dataset, training, error));
    MEDLEY_TRY(md_prepared_index(&made, error));
    *prepared = md_take(&made);
    return MEDLEY_OK;
}

/* One float of each row, where there are any. */
static medley_status gather_floats(float **target, const float *source, const size_t *rows,
                                   size_t count, medley_error *error)
{
    if (source == NULL)
        return MEDLEY_OK;
    MEDLEY_TRY(md_new(target, count, sizeof **target, error));
    for (size_t r = 0; r < count; r++)
        (*target)[r] = source[rows[r]];
    return MEDLEY_OK;
}

/* View `from` of prepared rows becomes view `to` of subset. */
static medley_status gather_view(md_prepared *subset, size_t to, const md_prepared *prepared,
                                 size_t from, const size_t *rows, medley_error *error)
{
    const size_t count = subset->rows;
    MEDLEY_TRY(
        md_matrix_gather(&subset->views[to], &prepared->views[from], rows, count, NULL, 0, error));
    subset->used[to] = prepared->used[from];
    MEDLEY_TRY(gather_floats(&subset->norm2[to], prepared->norm2[from], rows, count, error));
    return gather_floats(&subset->lift[to], prepared->lift[from], rows, count, error);
}

medley_status md_prepared_gather(md_prepared *subset, const md_prepared *prepared,
                                 const size_t *rows, size_t count, medley_error *error)
{
    const size_t kernels = prepared->kernel_count;
    MD_CLEARED(md_prepared_clear) md_prepared made = {0};
    *subset = made;
    MEDLEY_TRY(md_prepared_init(&made, count, prepared->view_count, kernels, error));
    for (size_t v = 0; v < prepared->view_count; v++)
        MEDLEY_TRY(gather_view(&made, v, prepared, v, rows, error));
    for (size_t m = 0; m < kernels; m++) {
        MEDLEY_TRY(
            gather_floats(&made.inverse_root[m], prepared->inverse_root[m], rows, count, error));
        made.precomputed[m] = prepared->precomputed[m];
        made.precomputed_float64[m] = prepared->precomputed_float64[m];
    }
    made.precomputed_row = rows;
    *subset = md_take(&made);
    return MEDLEY_OK;
}

medley_status md_prepared_subset(md_prepared *support, const md_prepared *prepared,
                                 const md_prepared_choice *choice, medley_error *error)
{
    const md_bank *subset = choice->subset;
    const size_t rows = choice->row_count;
    MD_CLEARED(md_prepared_clear) md_prepared made = {0};
    *support = made;
    MEDLEY_TRY(md_prepared_init(&made, rows, subset->view_count, subset->count, error));
    for (size_t k = 0; k < subset->count; k++) {
        const md_kernel *kernel = &subset->kernels[k];
        const size_t from = choice->bank->kernels[choice->keep[k]].view;
        if (kernel->class != NULL && made.norm2[kernel->view] == NULL)
            MEDLEY_TRY(gather_view(&made, kernel->view, prepared, from, choice->rows, error));
        MEDLEY_TRY(gather_floats(&made.inverse_root[k], prepared->inverse_root[choice->keep[k]],
                                 choice->rows, rows, error));
    }
    MEDLEY_TRY(md_prepared_index(&made, error));
    *support = md_take(&made);
    return MEDLEY_OK;
}

medley_status md_prepared_features(md_matrix *features, const md_prepared *prepared,
                                   const md_bank *bank, size_t m, medley_error *error)
{
    const md_kernel *kernel = &bank->kernels[m];
    const md_matrix *view = &prepared->views[kernel->view];
    const float *origin = bank->origin != NULL ? bank->origin[kernel->view] : NULL;
    const float *inverse_root = prepared->inverse_root[m];
    MD_CLEARED(md_matrix_clear) md_matrix dense = {0};
    MEDLEY_TRY(md_matrix_init_dense(&dense, prepared->rows, view->columns, error));
    size_t entries = 0;
    for (size_t r = 0; r < prepared->rows; r++) /* (x + origin) / ||x|| */
        for (size_t c = 0; c < view->columns; c++) {
            const size_t place = r * view->columns + c;
            const float value = view->dense[place] + (origin ? origin[c] : 0);
            dense.dense[place] = inverse_root ? inverse_root[r] * value : value;
            entries += dense.dense[place] != 0;
        }
    if (2 * entries < prepared->rows * view->columns)
        return md_matrix_to_sparse(features, &dense, error);
    *features = md_take(&dense);
    return MEDLEY_OK;
}
