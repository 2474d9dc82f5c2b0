/* SPDX-License-Identifier: BSD-3-Clause */
/* Kernels on a card: it has the whole matrices, in single precision, as the triangles here are, and
 * is asked for products and weighted sums. Weights of blocks and the ridge, which change a matrix
 * K to s K + r I, are put to the results here. Kernels of low rank stay factors of the processor's.
 */
#include "packed/packed_internal.h"

#include "base/parallel.h"
#include "linalg/vectors.h"

struct md_packed_card {
    md_pool pool;
    md_card *card;
    md_device_matrices *matrices;
    size_t *kernels, *place; /* [count] scratch: kernels of a call, by the card's numbers, and where
                              * they are in it */
    double *norm2;           /* [count] scratch */
    double *y;               /* [count][n] scratch, as far as it was needed */
    size_t y_count;
    double *sum; /* [n][n] scratch, NULL until it is needed */
};

void md_packed_card_free(md_packed_card *card)
{
    if (card == NULL)
        return;
    free(card->y);
    free(card->sum);
    md_device_matrices_free(card->matrices);
    md_card_free(card->card);
    md_pool_clear(&card->pool);
    free(card);
}

/* ---- creation ---- */

static double self_of(const md_packed *packed, size_t m, size_t i, const double *self)
{
    const md_kernel *kernel = &packed->bank->kernels[m];
    if (kernel->norm == MD_NORM_DIAG)
        return self[i] >= MD_LEAST_SELF ? 1 : 0;
    if (kernel->norm == MD_NORM_CENTER)
        return self[i] + kernel->grand_mean - 2 * (double)kernel->column_mean[i];
    return self[i] * kernel->factor;
}

/* What is learnt of some kernels, side by side. */
struct learning {
    md_packed *packed;
    const size_t *kernel; /* of the bank */
    const double *square;
    double *sums; /* [kernels][n] of the rows of K */
    double *self; /* [threads][n] scratch */
};

/* Trace, norm and spread of s K + r I from those of K. */
static void learn(void *context, size_t k, size_t worker)
{
    const struct learning *learning = context;
    md_packed *packed = learning->packed;
    const size_t n = packed->n;
    const size_t m = learning->kernel[k];
    double *sums = learning->sums + k * n;
    double *self = learning->self + worker * n;
    const double scale = md_packed_scale(packed, m);
    double trace = 0;
    md_prepared_self(&packed->prepared, packed->bank, m, self);
    for (size_t i = 0; i < n; i++)
        trace += self_of(packed, m, i, self);
    const double ridge = packed->ridge * scale * trace / (double)n;
    for (size_t i = 0; i < n; i++)
        sums[i] = scale * sums[i] + ridge;
    packed->diagonal[m] = ridge;
    packed->frobenius2[m] =
        scale * scale * learning->square[k] + 2 * scale * ridge * trace + ridge * ridge * (double)n;
    packed->trace[m] = scale * trace + ridge * (double)n;
    md_packed_learn_spread(packed, m, sums);
}

static medley_status learn_all(md_packed *packed, medley_error *error)
{
    enum { TOGETHER = 512 };
    const size_t n = packed->n;
    const size_t kernels = md_card_kernels(packed->card->card);
    const size_t together = md_min(kernels, TOGETHER);
    MD_CLEARED(md_pool_clear) md_pool pool = {0};
    double *square, *ones, *sums, *self;
    size_t *list, *bank_kernel;
    MEDLEY_TRY(md_pool_new(&pool, &square, kernels, sizeof(double), error));
    MEDLEY_TRY(md_pool_new(&pool, &ones, n, sizeof(double), error));
    MEDLEY_TRY(md_pool_new_aligned(&pool, &sums, together * n, sizeof(double), error));
    MEDLEY_TRY(md_pool_new(&pool, &self, packed->threads * n, sizeof(double), error));
    MEDLEY_TRY(md_pool_new(&pool, &list, kernels, sizeof(size_t), error));
    MEDLEY_TRY(md_pool_new(&pool, &bank_kernel, kernels, sizeof(size_t), error));
    for (size_t i = 0; i < n; i++)
        ones[i] = 1;
    for (size_t m = 0; m < packed->count; m++)
        if (md_card_place(packed->card->card, m) != SIZE_MAX)
            bank_kernel[md_card_place(packed->card->card, m)] = m;
    for (size_t k = 0; k < kernels; k++)
        list[k] = k;
    MEDLEY_TRY(md_device_squares(packed->card->matrices, square, error));
    for (size_t first = 0; first < kernels; first += together) {
        const size_t count = md_min(kernels - first, together);
        struct learning learning = {packed, bank_kernel + first, square + first, sums, self};
        MEDLEY_TRY(md_device_multiply(packed->card->matrices, list + first, count, ones, 0, NULL,
                                      sums, error));
        md_parallel_for(packed->threads, count, learn, &learning);
    }
    return MEDLEY_OK;
}

medley_status md_packed_card_create(md_packed *packed, const md_device *device, medley_error *error)
{
    const size_t count = packed->count;
    MD_OWNED(free) bool *wanted = NULL;
    MEDLEY_TRY(md_new(&packed->card, 1, sizeof *packed->card, error));
    md_packed_card *card = packed->card;
    packed->by_rows = true; /* there are no triangles */
    MEDLEY_TRY(md_pool_new(&packed->pool, &packed->diagonal, count, sizeof(double), error));
    MEDLEY_TRY(md_pool_new(&card->pool, &card->kernels, count, sizeof(size_t), error));
    MEDLEY_TRY(md_pool_new(&card->pool, &card->place, count, sizeof(size_t), error));
    MEDLEY_TRY(md_pool_new(&card->pool, &card->norm2, count, sizeof(double), error));
    MEDLEY_TRY(md_new(&wanted, count, sizeof *wanted, error));
    for (size_t m = 0; m < count; m++) {
        wanted[m] = !md_packed_is_lowrank(packed, m);
        packed->permanent[m] = true;
    }
    MEDLEY_TRY(md_card_learn_means(packed->bank, device, &packed->prepared, wanted, error));
    const md_card_wish wish = {
        .bank = packed->bank, .rows = &packed->prepared, .wanted = wanted, .precise = true};
    MEDLEY_TRY(md_card_create(&card->card, device, &wish, error));
    MEDLEY_TRY(md_card_matrices(&card->matrices, card->card, error));
    MEDLEY_TRY(md_packed_report(packed, count, error));
    return learn_all(packed, error);
}

/* ---- products ---- */

/* Those of the chosen kernels that are on the card, with some weight (NULL: all of them). */
static size_t list_kernels(const md_packed *packed, md_chosen chosen, const double *weight)
{
    md_packed_card *card = packed->card;
    size_t count = 0;
    for (size_t i = 0; i < chosen.count; i++) {
        const size_t m = md_chosen_kernel(chosen, i);
        if (md_packed_is_lowrank(packed, m) || (weight != NULL && weight[i] == 0))
            continue;
        card->kernels[count] = md_card_place(card->card, m);
        card->place[count++] = i;
    }
    return count;
}

static medley_status make_room(md_packed_card *card, size_t count, size_t n, medley_error *error)
{
    if (count <= card->y_count)
        return MEDLEY_OK;
    free(card->y);
    card->y = NULL;
    card->y_count = 0;
    MEDLEY_TRY(md_new_aligned(&card->y, count * n, sizeof *card->y, error));
    card->y_count = count;
    return MEDLEY_OK;
}

/* Kernel k of a call has place[k] in it. */
static void put_results(const md_packed *packed, md_chosen chosen, size_t count, const double *x,
                        size_t stride, double *norm2, double *y)
{
    const md_packed_card *card = packed->card;
    const size_t n = packed->n;
    for (size_t k = 0; k < count; k++) {
        const size_t place = card->place[k];
        const size_t m = md_chosen_kernel(chosen, place);
        const double scale = md_packed_scale(packed, m);
        const double ridge = packed->diagonal[m];
        const double *own = x + place * stride;
        if (norm2 != NULL) {
            const double value =
                scale * card->norm2[k] + (ridge != 0 ? ridge * md_dot(own, own, n) : 0);
            norm2[place] = value > 0 ? value : 0;
        }
        for (size_t i = 0; y != NULL && i < n; i++)
            y[place * n + i] = scale * card->y[k * n + i] + (ridge != 0 ? ridge * own[i] : 0);
    }
}

medley_status md_packed_card_product(md_packed *packed, md_chosen chosen, const double *x,
                                     size_t stride, double *norm2, double *y, medley_error *error)
{
    md_packed_card *card = packed->card;
    const size_t n = packed->n;
    const size_t count = list_kernels(packed, chosen, NULL);
    MD_OWNED(free) double *own = NULL; /* vectors of these kernels alone */
    const double *vectors = x;
    const bool as_it_is = count == chosen.count && packed->weight == NULL && packed->ridge == 0;
    if (y != NULL && !as_it_is)
        MEDLEY_TRY(make_room(card, count, n, error));
    if (as_it_is) {
        MEDLEY_TRY(
            md_device_multiply(card->matrices, card->kernels, count, x, stride, norm2, y, error));
        for (size_t k = 0; norm2 != NULL && k < count; k++)
            norm2[k] = norm2[k] > 0 ? norm2[k] : 0;
        return MEDLEY_OK;
    }
    if (stride > 0 && count < chosen.count) {
        MEDLEY_TRY(md_new(&own, count * n, sizeof *own, error));
        for (size_t k = 0; k < count; k++)
            memcpy(own + k * n, x + card->place[k] * stride, n * sizeof *own);
        vectors = own;
    }
    MEDLEY_TRY(md_device_multiply(card->matrices, card->kernels, count, vectors,
                                  own != NULL ? n : stride, norm2 != NULL ? card->norm2 : NULL,
                                  y != NULL ? card->y : NULL, error));
    put_results(packed, chosen, count, x, stride, norm2, y);
    return MEDLEY_OK;
}

/* ---- sums ---- */

/* The weighted sum on the card, without the ridges; those go to *diagonal. sum: [n][n] gets it, or
 * NULL. */
static medley_status sum_there(md_packed *packed, md_chosen chosen, const double *weight,
                               double *sum, double *diagonal, medley_error *error)
{
    md_packed_card *card = packed->card;
    const size_t count = list_kernels(packed, chosen, weight);
    *diagonal = 0;
    for (size_t k = 0; k < count; k++) {
        const size_t m = md_chosen_kernel(chosen, card->place[k]);
        card->norm2[k] = weight[card->place[k]] * md_packed_scale(packed, m);
        *diagonal += weight[card->place[k]] * packed->diagonal[m];
    }
    return md_device_sum(card->matrices, card->kernels, count, card->norm2, sum, error);
}

medley_status md_packed_card_add(md_packed *packed, md_chosen chosen, const double *weight,
                                 double *sum, medley_error *error)
{
    md_packed_card *card = packed->card;
    const size_t n = packed->n;
    double diagonal;
    if (card->sum == NULL)
        MEDLEY_TRY(md_new_aligned(&card->sum, n * n, sizeof *card->sum, error));
    MEDLEY_TRY(sum_there(packed, chosen, weight, card->sum, &diagonal, error));
    for (size_t i = 0; i < n; i++) {
        md_add_scaled(sum + i * n + i, 1, card->sum + i * n + i, n - i);
        sum[i * n + i] += diagonal;
    }
    return MEDLEY_OK;
}

medley_status md_packed_card_set(md_packed *packed, md_chosen chosen, const double *weight,
                                 double *diagonal, medley_error *error)
{
    return sum_there(packed, chosen, weight, NULL, diagonal, error);
}

medley_status md_packed_card_multiply(md_packed *packed, const double *x, double *y,
                                      medley_error *error)
{
    return md_device_multiply_sum(packed->card->matrices, x, y, error);
}

medley_status md_packed_card_column(const md_packed *packed, size_t row, double *column,
                                    medley_error *error)
{
    return md_device_column(packed->card->matrices, row, column, error);
}
