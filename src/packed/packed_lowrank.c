/* SPDX-License-Identifier: BSD-3-Clause */
/* Kernels of low rank as factors in double precision, K = F'F + ridge I with F[rank][n], in place
 * of their values. Rounded values of such a kernel have eigenvalues of either sign where it has
 * none, about 1e-8 of the largest, and a weak penalty fits them: objective and dual bound would be
 * those of another kernel. With a factor ||x||^2 = ||Fx||^2 has a small error relative to itself,
 * and everything costs n rank instead of n^2 / 2.
 *
 * Linear kernels of few columns are their own factor, a constant is one row; other kernels of few
 * columns are tried by Cholesky's method with diagonal pivoting on values in double precision. */
#include "gram/exact.h"
#include "gram/gram_internal.h"
#include "packed/packed_internal.h"

#include "base/parallel.h"
#include "linalg/blas.h"
#include "linalg/vectors.h"

enum {
    SHARE = 8,         /* rank at most a part of the rows: then all is cheaper than with values */
    MOST_FOUND = 1024, /* rank that Cholesky's method looks for: it costs n rank^2 */
    FEW_COLUMNS = 8,   /* of a view: kernels of more have no low rank */
    SAMPLE = 4,        /* rows, to guess the rank */
    ITEM_VALUES = 1 << 15 /* factors are put together to items of so many values */
};

static const double RESIDUAL = 1e-12; /* trace that Cholesky's method may leave, relative */

struct search {
    md_packed *packed;
    md_between between;
    size_t most_rank;  /* of factors that are known */
    size_t most_found; /* of others */
    double *scratch;   /* [threads][length] */
    size_t length;
    bool *no_memory; /* [count] */
};

/* ---- factors that are known ---- */

/* Row r of F is column c of the view, as it was before the origin was subtracted. */
static void take_columns(const struct search *search, const md_kernel *kernel, double *factor)
{
    const md_packed *packed = search->packed;
    const md_matrix *view = &packed->prepared.views[kernel->view];
    const float *origin = packed->bank->origin != NULL ? packed->bank->origin[kernel->view] : NULL;
    const bool dense = !md_matrix_is_sparse(view);
    for (size_t i = 0; i < packed->n; i++) {
        const md_row row = md_matrix_row(view, i);
        for (size_t e = 0; e < row.count; e++) {
            const size_t c = md_row_column(row, e);
            factor[c * packed->n + i] =
                (double)row.value[e] + (dense && origin != NULL ? (double)origin[c] : 0);
        }
    }
}

/* Normalised as the values would be; centring means subtracting the mean of each feature. */
static void normalise(const struct search *search, size_t m, bool scaled, double *factor,
                      size_t rank)
{
    const size_t n = search->packed->n;
    const md_kernel *kernel = &search->packed->bank->kernels[m];
    const float *root = search->packed->prepared.inverse_root[m];
    for (size_t l = 0; l < rank; l++) {
        double *row = factor + l * n;
        for (size_t i = 0; i < n && !scaled; i++)
            row[i] *= kernel->norm == MD_NORM_DIAG ? (double)root[i] : sqrt(kernel->factor);
        double mean = 0;
        for (size_t i = 0; i < n; i++)
            mean += row[i] / (double)n;
        for (size_t i = 0; i < n && kernel->norm == MD_NORM_CENTER; i++)
            row[i] -= mean;
        for (size_t i = 0; i < n && search->packed->weight != NULL; i++)
            row[i] /= search->packed->weight[m];
    }
}

static size_t known_rank(const md_packed *packed, const md_kernel *kernel)
{
    if (kernel->class == NULL)
        return SIZE_MAX;
    if (kernel->class->constant)
        return 1;
    return kernel->class->has_primal_form ? packed->prepared.views[kernel->view].columns : SIZE_MAX;
}

/* ---- factors that are found ---- */

/* trace^2 / norm^2, which is at most the rank, guessed from some rows of values. */
static double guess_rank(const struct search *search, size_t m, double *row, double *scratch)
{
    const size_t n = search->packed->n;
    double diagonal = 0;
    double squares = 0;
    for (size_t s = 0; s < SAMPLE; s++) {
        const size_t i = s * (n - 1) / (SAMPLE - 1);
        md_exact_row(&search->between, m, i, row, scratch);
        diagonal += row[i];
        for (size_t j = 0; j < n; j++)
            squares += row[j] * row[j];
    }
    return squares > 0 ? (double)n * diagonal * diagonal / (SAMPLE * squares) : 0;
}

/* Row `rank` of F from the values of the row with the largest remaining diagonal; returns the trace
 * of what is left. */
static double take_step(const struct search *search, size_t m, double *factor, size_t rank,
                        double *diagonal, double *scratch)
{
    const size_t n = search->packed->n;
    const size_t pivot = md_packed_pivot(diagonal, n);
    double *row = factor + rank * n;
    md_exact_row(&search->between, m, pivot, row, scratch);
    for (size_t l = 0; l < rank; l++)
        md_add_scaled(row, -factor[l * n + pivot], factor + l * n, n);
    return md_packed_eliminate(row, diagonal, pivot, n);
}

/* The rank, and 0 where there is none so low. */
static size_t find_rank(const struct search *search, size_t m, double *factor, double *diagonal,
                        double *scratch)
{
    double trace = 0;
    md_exact_selves(&search->between, m, diagonal);
    for (size_t i = 0; i < search->packed->n; i++)
        trace += diagonal[i];
    double left = trace;
    for (size_t rank = 0; rank < search->most_found; rank++) {
        if (!(left > RESIDUAL * trace))
            return rank;
        left = take_step(search, m, factor, rank, diagonal, scratch);
    }
    return 0;
}

/* Kernels that are known to be positive semi-definite, of few columns, and of precomputed ones
 * those whose values were never rounded. */
static bool may_have_rank(const md_packed *packed, size_t m)
{
    const md_kernel *kernel = &packed->bank->kernels[m];
    if (kernel->class == NULL)
        return kernel->sound && packed->prepared.precomputed_float64[m] != NULL;
    return kernel->class->positive_definite &&
           packed->prepared.views[kernel->view].columns <= FEW_COLUMNS;
}

/* ---- all kernels ---- */

/* The same values in an array of their own size; NULL: there is no memory for it. */
static double *trim(double *factor, size_t values)
{
    double *kept = md_alloc_aligned(values, sizeof *kept);
    if (kept != NULL)
        memcpy(kept, factor, values * sizeof *kept);
    free(factor);
    return kept;
}

static double *find_factor(const struct search *search, size_t m, size_t *rank, double *scratch,
                           bool *no_memory)
{
    const md_packed *packed = search->packed;
    const size_t n = packed->n;
    const md_kernel *kernel = &packed->bank->kernels[m];
    const size_t known = known_rank(packed, kernel);
    const bool is_known = known <= search->most_rank;
    if (!is_known && (packed->only_known || !may_have_rank(packed, m) ||
                      guess_rank(search, m, scratch, scratch + n) > (double)search->most_found / 4))
        return NULL;
    double *factor = md_alloc_aligned((is_known ? known : search->most_found) * n, sizeof *factor);
    *no_memory = factor == NULL;
    if (factor == NULL)
        return NULL;
    *rank = is_known ? known : find_rank(search, m, factor, scratch, scratch + n);
    if (is_known)
        memset(factor, 0, known * n * sizeof *factor);
    if (is_known && !kernel->class->constant)
        take_columns(search, kernel, factor);
    for (size_t i = 0; is_known && kernel->class->constant && i < n; i++)
        factor[i] = 1;
    normalise(search, m, !is_known, factor, *rank);
    if (!is_known && *rank > 0) {
        factor = trim(factor, *rank * n);
        *no_memory = factor == NULL;
    }
    return factor;
}

/* ||HKH|| is the norm of the products of the centred rows of F: the sum of all their squares. The
 * ridge adds r H to it. */
static void measure(md_packed *packed, size_t m, double *centred)
{
    const size_t n = packed->n;
    const md_lowrank *lowrank = &packed->lowrank[m];
    double spread2 = 0;
    double centred_trace = 0;
    for (size_t l = 0; l < lowrank->rank; l++) {
        const double *row = lowrank->values + l * n;
        double mean = 0;
        for (size_t i = 0; i < n; i++)
            mean += row[i] / (double)n;
        for (size_t i = 0; i < n; i++)
            centred[i] = row[i] - mean;
        for (size_t o = 0; o <= l; o++) {
            const double product = md_dot(row, lowrank->values + o * n, n);
            const double apart = md_dot(centred, lowrank->values + o * n, n);
            packed->frobenius2[m] += (o < l ? 2 : 1) * product * product;
            spread2 += (o < l ? 2 : 1) * apart * apart;
            packed->trace[m] += o == l ? product : 0;
            centred_trace += o == l ? apart : 0;
        }
    }
    const double ridge = packed->ridge * packed->trace[m] / (double)n;
    packed->lowrank[m].ridge = ridge;
    spread2 += ridge * (2 * centred_trace + ridge * (double)(n - 1));
    packed->frobenius2[m] += ridge * (2 * packed->trace[m] + (double)n * ridge);
    packed->trace[m] += (double)n * ridge;
    packed->spread[m] = sqrt(spread2) + 1e-6 * sqrt(packed->frobenius2[m]);
}

static void search_kernel(void *context, size_t m, size_t worker)
{
    const struct search *search = context;
    md_packed *packed = search->packed;
    double *scratch = search->scratch + worker * search->length;
    size_t rank = 0;
    if (!md_packed_is_own(packed, m))
        return;
    double *factor = find_factor(search, m, &rank, scratch, &search->no_memory[m]);
    if (rank == 0 || factor == NULL) {
        free(factor);
        return;
    }
    packed->lowrank[m] = (md_lowrank){.values = factor, .rank = rank};
    measure(packed, m, scratch);
}

/* Centred kernels have the means of their rows in the bank, for new rows. */
static medley_status learn_means(const struct search *search, size_t m, medley_error *error)
{
    const size_t n = search->packed->n;
    md_kernel *kernel = &search->packed->bank->kernels[m];
    MD_CLEARED(md_pool_clear) md_pool pool = {0};
    double *ones = NULL;
    double *sums = NULL;
    if (kernel->norm != MD_NORM_CENTER || !md_packed_is_lowrank(search->packed, m) ||
        !md_packed_is_own(search->packed, m))
        return MEDLEY_OK;
    MEDLEY_TRY(md_pool_new(&pool, &ones, n, sizeof *ones, error));
    MEDLEY_TRY(md_pool_new(&pool, &sums, n, sizeof *sums, error));
    for (size_t i = 0; i < n; i++)
        ones[i] = 1;
    MEDLEY_TRY(md_exact_multiply(&search->between, m, ones, 1, sums, error));
    return md_gram_learn_means(kernel, sums, n, error);
}

static medley_status begin_search(struct search *search, md_pool *pool, md_packed *packed,
                                  medley_error *error)
{
    const size_t n = packed->n;
    *search = (struct search){
        .packed = packed,
        .between = {.bank = packed->bank, .left = &packed->prepared, .right = &packed->prepared},
        .most_rank = md_min(n / SHARE, md_max(packed->most_rank, MOST_FOUND)),
        .most_found = md_min(n / SHARE, MOST_FOUND),
        .length = n + md_max(n, md_exact_scratch(&packed->prepared))};
    MEDLEY_TRY(md_pool_new(pool, &search->scratch, packed->threads * search->length, sizeof(double),
                           error));
    return md_pool_new(pool, &search->no_memory, packed->count, sizeof(bool), error);
}

static medley_status end_search(const struct search *search, medley_error *error)
{
    for (size_t m = 0; m < search->packed->count; m++)
        if (search->no_memory[m])
            return md_fail_memory(error, search->most_rank * search->packed->n * sizeof(double));
    return MEDLEY_OK;
}

medley_status md_packed_find_lowrank(md_packed *packed, size_t memory, medley_error *error)
{
    MD_CLEARED(md_pool_clear) md_pool pool = {0};
    struct search search;
    if (packed->n < SAMPLE)
        return MEDLEY_OK;
    packed->most_rank = memory > 0 ? memory / 4 / (packed->n * sizeof(double)) : SIZE_MAX;
    MEDLEY_TRY(begin_search(&search, &pool, packed, error));
    md_parallel_for(packed->threads, packed->count, search_kernel, &search);
    MEDLEY_TRY(end_search(&search, error));
    for (size_t m = 0; m < packed->count; m++) {
        md_lowrank *lowrank = &packed->lowrank[m];
        const size_t bytes = lowrank->rank * packed->n * sizeof(double);
        MEDLEY_TRY(learn_means(&search, m, error));
        if (memory == 0 || packed->lowrank_bytes + bytes <= memory / 2) {
            packed->lowrank_bytes += bytes;
            continue;
        }
        free(lowrank->values);
        lowrank->values = NULL;
    }
    return MEDLEY_OK;
}

struct holding {
    struct search search;
    const size_t *kernels;
};

static void hold_kernel(void *context, size_t item, size_t worker)
{
    const struct holding *holding = context;
    const struct search *search = &holding->search;
    const size_t m = holding->kernels[item];
    size_t rank = 0;
    search->packed->lowrank[m].values = find_factor(
        search, m, &rank, search->scratch + worker * search->length, &search->no_memory[m]);
}

medley_status md_packed_load_lowrank(md_packed *packed, const size_t *kernels, size_t count,
                                     medley_error *error)
{
    MD_CLEARED(md_pool_clear) md_pool pool = {0};
    struct holding holding = {.kernels = kernels};
    if (count == 0)
        return MEDLEY_OK;
    MEDLEY_TRY(begin_search(&holding.search, &pool, packed, error));
    md_parallel_for(packed->threads, count, hold_kernel, &holding);
    return end_search(&holding.search, error);
}

/* ---- products ---- */

struct product {
    struct search search;
    md_chosen chosen;
    const double *x;
    size_t stride; /* from one kernel's x to the next; 0: all have the same */
    double *norm2; /* these may be NULL */
    double *y;
    size_t each; /* kernels of an item */
};

static void multiply_factor(const struct product *product, size_t i, const double *factor)
{
    const size_t n = product->search.packed->n;
    const md_lowrank *lowrank =
        &product->search.packed->lowrank[md_chosen_kernel(product->chosen, i)];
    const double *x = product->x + i * product->stride;
    double *y = product->y != NULL ? product->y + i * n : NULL;
    double norm2 = lowrank->ridge > 0 ? lowrank->ridge * md_dot(x, x, n) : 0;
    for (size_t j = 0; y != NULL && j < n; j++)
        y[j] = lowrank->ridge * x[j];
    for (size_t l = 0; l < lowrank->rank; l++) {
        const double *row = factor + l * n;
        const double along = md_dot(row, x, n);
        norm2 += along * along;
        if (y != NULL)
            md_add_scaled(y, along, row, n);
    }
    if (product->norm2 != NULL)
        product->norm2[i] = norm2;
}

/* The factor of kernel m, computed anew if it is not in memory: then it is *fresh, to be freed. */
static const double *factor_of(const struct search *search, size_t m, size_t worker, double **fresh)
{
    size_t rank = 0;
    *fresh = NULL;
    if (search->packed->lowrank[m].values == NULL)
        *fresh = find_factor(search, m, &rank, search->scratch + worker * search->length,
                             &search->no_memory[m]);
    return *fresh != NULL ? *fresh : search->packed->lowrank[m].values;
}

static void multiply_item(void *context, size_t item, size_t worker)
{
    const struct product *product = context;
    const size_t end = md_min((item + 1) * product->each, product->chosen.count);
    for (size_t i = item * product->each; i < end; i++) {
        const size_t m = md_chosen_kernel(product->chosen, i);
        double *fresh;
        if (!md_packed_is_lowrank(product->search.packed, m) ||
            !md_packed_is_own(product->search.packed, m))
            continue;
        const double *factor = factor_of(&product->search, m, worker, &fresh);
        if (factor != NULL)
            multiply_factor(product, i, factor);
        free(fresh);
    }
}

medley_status md_packed_lowrank_product(md_packed *packed, md_chosen chosen, const double *x,
                                        size_t stride, double *norm2, double *y,
                                        medley_error *error)
{
    MD_CLEARED(md_pool_clear) md_pool pool = {0};
    struct product product = {.chosen = chosen, .x = x, .stride = stride, .norm2 = norm2, .y = y};
    size_t values = 0;
    for (size_t i = 0; i < chosen.count; i++) {
        const size_t m = md_chosen_kernel(chosen, i);
        values += md_packed_is_own(packed, m) ? packed->lowrank[m].rank * packed->n : 0;
    }
    if (values == 0)
        return MEDLEY_OK;
    md_comm_note_work(packed->comm, (double)values);
    MEDLEY_TRY(begin_search(&product.search, &pool, packed, error));
    product.each = ITEM_VALUES * chosen.count / values + 1;
    md_parallel_for(md_packed_threads(packed, values), md_pieces(chosen.count, product.each),
                    multiply_item, &product);
    return end_search(&product.search, error);
}

medley_status md_packed_lowrank_add(md_packed *packed, md_chosen chosen, const double *weight,
                                    double *sum, medley_error *error)
{
    const size_t n = packed->n;
    MD_CLEARED(md_pool_clear) md_pool pool = {0};
    struct search search;
    MEDLEY_TRY(begin_search(&search, &pool, packed, error));
    for (size_t i = 0; i < chosen.count; i++) {
        const size_t m = md_chosen_kernel(chosen, i);
        const md_lowrank *lowrank = &packed->lowrank[m];
        double *fresh;
        if (lowrank->rank == 0 || weight[i] == 0 || !md_packed_is_own(packed, m))
            continue;
        const double *factor = factor_of(&search, m, 0, &fresh);
        if (factor != NULL)
            md_dsyrk_columns(n, lowrank->rank, weight[i], factor, n, 1, sum, n);
        for (size_t j = 0; j < n; j++)
            sum[j * n + j] += weight[i] * lowrank->ridge;
        free(fresh);
    }
    return end_search(&search, error);
}

medley_status md_packed_copy_factor(md_packed *packed, size_t m, double *values,
                                    medley_error *error)
{
    MD_CLEARED(md_pool_clear) md_pool pool = {0};
    struct search search;
    double *fresh;
    MEDLEY_TRY(begin_search(&search, &pool, packed, error));
    const double *factor = factor_of(&search, m, 0, &fresh);
    if (factor != NULL)
        memcpy(values, factor, packed->lowrank[m].rank * packed->n * sizeof *values);
    free(fresh);
    return end_search(&search, error);
}
