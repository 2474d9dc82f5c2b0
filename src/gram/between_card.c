/* SPDX-License-Identifier: BSD-3-Clause */
/* Scores of new rows on a card: they stay there, and support rows pass by. Values are in single
 * precision. */
#include "gram/between_card.h"

#include "gram/gram_internal.h"

/* Multiplications from which on starting a card pays. */
static const double WORTH_A_CARD = 2e11;
/* Of the processor, for sparse views that are written out, unless a card was asked for. */
static const double SPARE_MEMORY = 4e9;

/* What a score is made of. An extra label adds up the rows themselves, which centred kernels need.
 */
struct sums {
    md_pool pool;
    size_t lines;       /* labels, and that one */
    float *coefficient; /* [kernels of the card][lines][right rows] */
    float *score;       /* [lines][left rows] of a kernel */
    float *total;       /* [left rows][labels] of all terms, or of each by itself: nothing goes to
                         * the caller before a card has done all of it */
};

static void clear_sums(struct sums *sums)
{
    md_pool_clear(&sums->pool);
}

static bool is_centred(const md_between *between, const md_expansion *terms, size_t count)
{
    bool any = false;
    for (size_t t = 0; t < count; t++)
        any = any || between->bank->kernels[terms[t].kernel].norm == MD_NORM_CENTER;
    return any;
}

/* Rows of coefficients become columns. */
static void take_terms(struct sums *sums, const md_card *card, const md_between *between,
                       const md_expansion *terms, size_t count, size_t labels)
{
    const size_t rows = between->right->rows;
    for (size_t t = 0; t < count; t++) {
        float *out = sums->coefficient + md_card_place(card, terms[t].kernel) * sums->lines * rows;
        for (size_t j = 0; j < rows; j++)
            for (size_t l = 0; l < labels; l++)
                out[l * rows + j] = terms[t].coefficient[j * labels + l];
        for (size_t l = labels; l < sums->lines; l++)
            for (size_t j = 0; j < rows; j++)
                out[l * rows + j] = 1;
    }
}

/* sum_j (K_ij - mean_j - mean_i + grand) a_j, as in kernel_between.c. */
static void center(const struct sums *sums, const md_between *between, const md_expansion *term,
                   size_t labels)
{
    const md_kernel *kernel = &between->bank->kernels[term->kernel];
    const size_t rows = between->left->rows;
    const size_t support = between->right->rows;
    const float *row_sum = sums->score + labels * rows;
    for (size_t l = 0; l < labels; l++) {
        double sum = 0;
        double mean = 0;
        for (size_t j = 0; j < support; j++) {
            const double a = (double)term->coefficient[j * labels + l];
            sum += a;
            mean += a * (double)kernel->column_mean[j];
        }
        for (size_t i = 0; i < rows; i++)
            sums->score[l * rows + i] -=
                (float)(mean + ((double)row_sum[i] / (double)support - kernel->grand_mean) * sum);
    }
}

/* Scores of a kernel, lines of rows, become rows of labels. */
static void take_scores(const struct sums *sums, float *total, size_t rows, size_t labels)
{
    for (size_t i = 0; i < rows; i++)
        for (size_t l = 0; l < labels; l++)
            total[i * labels + l] += sums->score[l * rows + i];
}

static medley_status score_on(const md_device *device, const md_card_wish *wish,
                              const md_between *between, const md_expansion *terms, size_t count,
                              size_t labels, float *scores, float *const *apart,
                              medley_error *error)
{
    const size_t rows = between->left->rows;
    const size_t each = rows * labels;
    const size_t totals = scores != NULL ? 1 : count;
    size_t most;
    MD_CLEARED(clear_sums) struct sums sums = {.lines = labels};
    MD_OWNED(md_card_free) md_card *card = NULL;
    MD_OWNED(md_device_scores_free) md_device_scores *on_card = NULL;
    sums.lines += is_centred(between, terms, count);
    MEDLEY_TRY(md_card_create(&card, device, wish, error));
    MEDLEY_TRY(md_pool_new(&sums.pool, &sums.coefficient,
                           md_card_kernels(card) * sums.lines * between->right->rows, sizeof(float),
                           error));
    MEDLEY_TRY(md_pool_new(&sums.pool, &sums.score, sums.lines * rows, sizeof(float), error));
    MEDLEY_TRY(md_pool_new(&sums.pool, &sums.total, totals * each, sizeof(float), error));
    take_terms(&sums, card, between, terms, count, labels);
    MEDLEY_TRY(md_card_scores(&on_card, card, sums.lines, NULL, 0, &most, error));
    MEDLEY_TRY(md_card_add_others(card, on_card, most, between->right, sums.coefficient, sums.lines,
                                  error));
    for (size_t t = 0; t < count; t++) {
        MEDLEY_TRY(
            md_device_read(on_card, md_card_place(card, terms[t].kernel), sums.score, error));
        if (between->bank->kernels[terms[t].kernel].norm == MD_NORM_CENTER)
            center(&sums, between, &terms[t], labels);
        take_scores(&sums, sums.total + (scores != NULL ? 0 : t * each), rows, labels);
    }
    for (size_t t = 0; t < totals; t++)
        md_add_multiple(scores != NULL ? scores : apart[t], 1, sums.total + t * each, each);
    if (between->device_name != NULL)
        snprintf(between->device_name, MD_DEVICE_NAME, "%s", md_device_name(device));
    return MEDLEY_OK;
}

medley_status md_between_card(bool *done, const md_between *between, const md_expansion *terms,
                              size_t count, size_t labels, float *scores, float *const *apart,
                              medley_error *error)
{
    char reason[MD_DEVICE_MESSAGE];
    medley_error why = {0};
    MD_OWNED(free) bool *wanted = NULL;
    MD_OWNED(md_device_close) md_device *device = NULL;
    *done = false;
    if (between->device == NULL || md_device_is_cpu(between->device))
        return MEDLEY_OK;
    const bool automatic = md_device_is_auto(between->device);
    MEDLEY_TRY(md_new(&wanted, between->bank->count, sizeof *wanted, error));
    for (size_t t = 0; t < count; t++)
        wanted[terms[t].kernel] = true;
    const md_card_wish wish = {.bank = between->bank,
                               .rows = between->left,
                               .wanted = wanted,
                               .raw = true,
                               .memory = automatic ? SPARE_MEMORY : 0};
    if (automatic && md_card_work(between->bank, wanted, between->left->rows,
                                  between->right->rows) < WORTH_A_CARD)
        return MEDLEY_OK;
    medley_status status = md_card_check(&wish, &why);
    if (status == MEDLEY_OK)
        MEDLEY_TRY(md_device_open(&device, between->device, reason, error));
    if (status == MEDLEY_OK && device == NULL)
        return MEDLEY_OK;
    if (status == MEDLEY_OK)
        status = score_on(device, &wish, between, terms, count, labels, scores, apart, &why);
    *done = status == MEDLEY_OK;
    if (status == MEDLEY_OK || automatic)
        return MEDLEY_OK;
    return md_fail(error, status, "device %s: %s; leave out `device`", between->device,
                   why.message);
}
