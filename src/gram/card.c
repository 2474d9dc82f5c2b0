/* SPDX-License-Identifier: BSD-3-Clause */
#include "gram/card.h"

#include "base/parallel.h"
#include "gram/gram_internal.h"

enum { MOST_KERNELS = 65535 };               /* blocks of threads side by side */
enum { MOST_ROWS = 1024 };                   /* changed rows at a time */
static const double MOST_CHANGES = 64 << 20; /* bytes of theirs */
static const double MOST_DENSE = 8e9;        /* bytes of sparse views, written out, */
static const double DENSE_SHARE = 0.25;      /* and of the processor's memory */
static const size_t MOST_FLOATS = 1 << 28;   /* of all columns of rows from elsewhere, at a time */

struct md_card {
    md_pool pool;
    const md_bank *bank;
    md_device_bank *rows;
    size_t row_count;
    size_t views, kernels;
    size_t *view_of; /* [views] of the bank */
    size_t *columns; /* [views] */
    size_t *place;   /* [kernels of the bank] among those of the card; SIZE_MAX: not there */
    size_t *kernel;  /* [kernels] of the bank */
    bool raw;
};

/* ---- what a card can do ---- */

static medley_status check_kernel(const md_card_wish *wish, const md_kernel *kernel, double *dense,
                                  medley_error *error)
{
    if (kernel->class == NULL)
        return md_fail(error, MEDLEY_NOT_SUPPORTED,
                       "kernel '%s' has values from outside, which stay in the memory of the "
                       "processor",
                       kernel->name);
    if (kernel->class->form == NULL)
        return md_fail(error, MEDLEY_NOT_SUPPORTED, "cards have no kernel '%s'",
                       kernel->class->name);
    const md_matrix *view = &wish->rows->views[kernel->view];
    const double most =
        wish->memory > 0 ? fmin(MOST_DENSE, DENSE_SHARE * wish->memory) : MOST_DENSE;
    if (md_matrix_is_sparse(view))
        *dense += (double)view->rows * (double)view->columns * sizeof(float);
    if (*dense > most)
        return md_fail(error, MEDLEY_NOT_SUPPORTED,
                       "sparse views as far as that of kernel '%s' would take %.1f MB, written out "
                       "for a card, and may take %.1f",
                       kernel->name, *dense / 1e6, most / 1e6);
    return MEDLEY_OK;
}

medley_status md_card_check(const md_card_wish *wish, medley_error *error)
{
    if (wish->bank->count > MOST_KERNELS)
        return md_fail(error, MEDLEY_NOT_SUPPORTED, "cards take at most %d kernels", MOST_KERNELS);
    if (wish->rows->rows > INT32_MAX)
        return md_fail(error, MEDLEY_NOT_SUPPORTED, "cards take at most %d rows", INT32_MAX);
    double dense = 0;
    size_t last = SIZE_MAX; /* view: kernels of one stand together */
    for (size_t m = 0; m < wish->bank->count; m++) {
        const md_kernel *kernel = &wish->bank->kernels[m];
        double again = 0;
        if (!wish->wanted[m])
            continue;
        MEDLEY_TRY(check_kernel(wish, kernel, kernel->view == last ? &again : &dense, error));
        last = kernel->view;
    }
    return MEDLEY_OK;
}

double md_card_work(const md_bank *bank, const bool *wanted, size_t rows, size_t other_rows)
{
    double work = 0;
    size_t last = SIZE_MAX;
    for (size_t m = 0; m < bank->count; m++) {
        const size_t view = bank->kernels[m].view;
        if (!wanted[m])
            continue;
        if (bank->kernels[m].class != NULL && view != last)
            work += (double)bank->views[view].column_count;
        work += MD_TERMS;
        last = view;
    }
    return work * (double)rows * (double)other_rows;
}

/* ---- rows in the form of cards ---- */

/* What rows are described by, and memory for what is made of them. */
struct description {
    md_pool pool;
    md_device_rows rows;
    const float **view, **norm2, **lift, **factor, **shift, **root;
    float **written; /* [views] rows that are written out; NULL: those of the view */
};

static void clear_description(struct description *d)
{
    md_pool_clear(&d->pool);
}

/* Rows of a view that is as it has to be are borrowed; those of others are written out, as many as
 * are wanted at a time. */
static medley_status describe_view(struct description *d, const md_card *card,
                                   const md_prepared *rows, size_t v, size_t at_a_time,
                                   medley_error *error)
{
    const size_t of = card->view_of[v];
    const md_matrix *view = &rows->views[of];
    d->view[v] = view->dense;
    d->norm2[v] = rows->norm2[of];
    d->lift[v] = rows->lift[of];
    if (!md_matrix_is_sparse(view) && view->columns == card->columns[v])
        return MEDLEY_OK;
    MEDLEY_TRY(
        md_pool_new(&d->pool, &d->written[v], at_a_time * card->columns[v], sizeof(float), error));
    d->view[v] = d->written[v];
    return MEDLEY_OK;
}

static void write_rows(const struct description *d, const md_card *card, const md_prepared *rows,
                       size_t first, size_t count)
{
    for (size_t v = 0; v < card->views; v++) {
        const size_t columns = card->columns[v];
        float *out = d->written[v];
        if (out == NULL)
            continue;
        memset(out, 0, count * columns * sizeof *out);
        for (size_t r = 0; r < count; r++) {
            const md_row row = md_matrix_row(&rows->views[card->view_of[v]], first + r);
            for (size_t e = 0; e < row.count; e++)
                if (md_row_column(row, e) < columns)
                    out[r * columns + md_row_column(row, e)] = row.value[e];
        }
    }
}

/* 1 / sqrt(K(x,x)) makes values of any kernel fit half precision, and its inverse brings them back.
 * Where K(x,x) has not all digits of a float, the row counts as 0: its inverse is beyond numbers.
 */
static medley_status describe_diagonal(struct description *d, const md_card *card, size_t k,
                                       const double *diagonal, medley_error *error)
{
    const md_kernel *kernel = &card->bank->kernels[card->kernel[k]];
    const size_t rows = d->rows.rows;
    const double factor = kernel->factor > 0 ? sqrt(kernel->factor) : 1;
    bool ones = true;
    float *own;
    float *root;
    for (size_t i = 0; i < rows; i++)
        ones = ones && diagonal[i] == 1;
    if (ones && (factor == 1 || d->factor[k] != NULL))
        return MEDLEY_OK;
    MEDLEY_TRY(md_pool_new(&d->pool, &root, rows, sizeof *root, error));
    MEDLEY_TRY(md_pool_new(&d->pool, &own, rows, sizeof *own, error));
    for (size_t i = 0; i < rows; i++) {
        const double length = diagonal[i] >= MD_LEAST_SELF ? sqrt(diagonal[i]) : 0;
        const double before = d->factor[k] != NULL ? (double)d->factor[k][i] : factor;
        root[i] = (float)length;
        own[i] = length > 0 ? (float)(before / length) : 0;
    }
    d->factor[k] = own;
    d->root[k] = root;
    return MEDLEY_OK;
}

static medley_status describe_kernel(struct description *d, const md_card *card,
                                     const md_prepared *rows, size_t k, const double *diagonal,
                                     medley_error *error)
{
    const size_t m = card->kernel[k];
    const md_kernel *kernel = &card->bank->kernels[m];
    float *own;
    d->factor[k] = rows->inverse_root[m];
    if (kernel->norm == MD_NORM_CENTER && !card->raw) {
        MEDLEY_TRY(md_pool_new(&d->pool, &own, d->rows.rows, sizeof *own, error));
        for (size_t i = 0; i < d->rows.rows; i++)
            own[i] = (float)(kernel->grand_mean / 2 - (double)kernel->column_mean[i]);
        d->shift[k] = own;
    }
    if (diagonal != NULL)
        return describe_diagonal(d, card, k, diagonal, error);
    if (kernel->factor != 1 && d->factor[k] == NULL) {
        MEDLEY_TRY(md_pool_new(&d->pool, &own, d->rows.rows, sizeof *own, error));
        for (size_t i = 0; i < d->rows.rows; i++)
            own[i] = (float)sqrt(kernel->factor);
        d->factor[k] = own;
    }
    return MEDLEY_OK;
}

static medley_status make_room(struct description *d, const md_card *card, size_t rows,
                               medley_error *error)
{
    MEDLEY_TRY(md_pool_new(&d->pool, &d->view, card->views, sizeof *d->view, error));
    MEDLEY_TRY(md_pool_new(&d->pool, &d->norm2, card->views, sizeof *d->norm2, error));
    MEDLEY_TRY(md_pool_new(&d->pool, &d->lift, card->views, sizeof *d->lift, error));
    MEDLEY_TRY(md_pool_new(&d->pool, &d->factor, card->kernels, sizeof *d->factor, error));
    MEDLEY_TRY(md_pool_new(&d->pool, &d->shift, card->kernels, sizeof *d->shift, error));
    MEDLEY_TRY(md_pool_new(&d->pool, &d->root, card->kernels, sizeof *d->root, error));
    MEDLEY_TRY(md_pool_new(&d->pool, &d->written, card->views, sizeof *d->written, error));
    d->rows = (md_device_rows){.rows = rows,
                               .view = d->view,
                               .norm2 = d->norm2,
                               .lift = d->lift,
                               .factor = d->factor,
                               .shift = d->shift,
                               .root = d->root};
    return MEDLEY_OK;
}

static medley_status describe(struct description *d, const md_card *card, const md_prepared *rows,
                              const double *const *diagonal, size_t at_a_time, medley_error *error)
{
    MEDLEY_TRY(make_room(d, card, rows->rows, error));
    for (size_t v = 0; v < card->views; v++)
        MEDLEY_TRY(describe_view(d, card, rows, v, at_a_time, error));
    for (size_t k = 0; k < card->kernels; k++)
        MEDLEY_TRY(describe_kernel(d, card, rows, k,
                                   diagonal != NULL ? diagonal[card->kernel[k]] : NULL, error));
    return MEDLEY_OK;
}

/* ---- creation ---- */

void md_card_free(md_card *card)
{
    if (card == NULL)
        return;
    md_device_bank_free(card->rows);
    md_pool_clear(&card->pool);
    free(card);
}

/* Lists kernels and views; layout is borrowed from the card, but for the kernels' forms. */
static medley_status list_kernels(md_card *card, const md_card_wish *wish,
                                  md_device_kernel **kernels, medley_error *error)
{
    const md_bank *bank = wish->bank;
    MEDLEY_TRY(md_pool_new(&card->pool, &card->view_of, bank->count, sizeof(size_t), error));
    MEDLEY_TRY(md_pool_new(&card->pool, &card->columns, bank->count, sizeof(size_t), error));
    MEDLEY_TRY(md_pool_new(&card->pool, &card->place, bank->count, sizeof(size_t), error));
    MEDLEY_TRY(md_pool_new(&card->pool, &card->kernel, bank->count, sizeof(size_t), error));
    MEDLEY_TRY(md_pool_new(&card->pool, kernels, bank->count, sizeof **kernels, error));
    for (size_t m = 0; m < bank->count; m++) {
        const md_kernel *kernel = &bank->kernels[m];
        card->place[m] = SIZE_MAX;
        if (!wish->wanted[m])
            continue;
        if (card->views == 0 || card->view_of[card->views - 1] != kernel->view) {
            card->columns[card->views] = wish->rows->views[kernel->view].columns;
            card->view_of[card->views++] = kernel->view;
        }
        card->place[m] = card->kernels;
        card->kernel[card->kernels] = m;
        (*kernels)[card->kernels].view = card->views - 1;
        kernel->class->form(kernel->state, &(*kernels)[card->kernels].form);
        card->kernels++;
    }
    return MEDLEY_OK;
}

medley_status md_card_create(md_card **result, const md_device *device, const md_card_wish *wish,
                             medley_error *error)
{
    md_device_kernel *kernels;
    MD_CLEARED(clear_description) struct description description = {0};
    MD_OWNED(md_card_free) md_card *card = NULL;
    MEDLEY_TRY(md_card_check(wish, error));
    MEDLEY_TRY(md_new(&card, 1, sizeof *card, error));
    card->bank = wish->bank;
    card->raw = wish->raw;
    card->row_count = wish->rows->rows;
    MEDLEY_TRY(list_kernels(card, wish, &kernels, error));
    MEDLEY_TRY(describe(&description, card, wish->rows, wish->diagonal, card->row_count, error));
    write_rows(&description, card, wish->rows, 0, card->row_count);
    description.rows.is_unit = wish->diagonal != NULL;
    const md_device_layout layout = {.views = card->views,
                                     .columns = card->columns,
                                     .kernels = card->kernels,
                                     .kernel = kernels,
                                     .each = md_parallel_for,
                                     .threads = md_max(wish->bank->threads, 1)};
    MEDLEY_TRY(md_device_bank_create(&card->rows, device, &layout, &description.rows,
                                     wish->precise || wish->diagonal == NULL, error));
    *result = md_take(&card);
    return MEDLEY_OK;
}

size_t md_card_kernels(const md_card *card)
{
    return card->kernels;
}

size_t md_card_place(const md_card *card, size_t kernel)
{
    return card->place[kernel];
}

void md_card_count(const md_card *card, size_t *computed, size_t *found)
{
    md_device_bank_count(card->rows, computed, found);
}

/* ---- scores ---- */

medley_status md_card_scores(md_device_scores **scores, const md_card *card, size_t labels,
                             const double *weight, size_t most_open, size_t *most,
                             medley_error *error)
{
    MD_CLEARED(md_pool_clear) md_pool pool = {0};
    size_t *slot_of;
    float *weights;
    const size_t slots = weight != NULL ? 1 : card->kernels;
    const double each = (double)(slots * labels + 1) * sizeof(float);
    size_t columns = 0;
    for (size_t v = 0; v < card->views; v++)
        columns += card->columns[v];
    MEDLEY_TRY(md_pool_new(&pool, &slot_of, card->kernels, sizeof *slot_of, error));
    MEDLEY_TRY(md_pool_new(&pool, &weights, card->kernels, sizeof *weights, error));
    for (size_t k = 0; k < card->kernels; k++) {
        slot_of[k] = weight != NULL ? 0 : k;
        weights[k] = weight != NULL ? (float)weight[card->kernel[k]] : 1;
    }
    *most = (size_t)fmax(32, fmin(MOST_ROWS, MOST_CHANGES / each));
    *most = md_min(*most, MOST_FLOATS / md_max(columns, 1) + 1);
    const md_device_slots layout = {.slots = slots,
                                    .labels = labels,
                                    .slot_of = slot_of,
                                    .weight = weights,
                                    .most = *most,
                                    .most_open = most_open};
    return md_device_scores_create(scores, card->rows, &layout, error);
}

medley_status md_card_row_sums(const md_card *card, float *sum, medley_error *error)
{
    MD_CLEARED(md_pool_clear) md_pool pool = {0};
    MD_OWNED(md_device_scores_free) md_device_scores *scores = NULL;
    size_t most;
    size_t *rows;
    float *ones;
    MEDLEY_TRY(md_card_scores(&scores, card, 1, NULL, 0, &most, error));
    MEDLEY_TRY(md_pool_new(&pool, &rows, most, sizeof *rows, error));
    MEDLEY_TRY(md_pool_new(&pool, &ones, card->kernels * most, sizeof *ones, error));
    for (size_t i = 0; i < card->kernels * most; i++)
        ones[i] = 1;
    for (size_t first = 0; first < card->row_count; first += most) {
        const size_t count = md_min(card->row_count - first, most);
        for (size_t i = 0; i < count; i++)
            rows[i] = first + i;
        MEDLEY_TRY(md_device_add(scores, rows, count, ones, true, error));
    }
    for (size_t k = 0; k < card->kernels; k++)
        MEDLEY_TRY(md_device_read(scores, k, sum + k * card->row_count, error));
    return MEDLEY_OK;
}

medley_status md_card_learn_means(md_bank *bank, const md_device *device, const md_prepared *rows,
                                  const bool *wanted, medley_error *error)
{
    bool any = false;
    bool *centred;
    float *sum;
    double *row_sums;
    MD_CLEARED(md_pool_clear) md_pool pool = {0};
    MD_OWNED(md_card_free) md_card *card = NULL;
    MEDLEY_TRY(md_pool_new(&pool, &centred, bank->count, sizeof *centred, error));
    for (size_t m = 0; m < bank->count; m++) {
        centred[m] = wanted[m] && bank->kernels[m].norm == MD_NORM_CENTER;
        any = any || centred[m];
    }
    if (!any)
        return MEDLEY_OK;
    const md_card_wish wish = {.bank = bank, .rows = rows, .wanted = centred, .raw = true};
    MEDLEY_TRY(md_card_create(&card, device, &wish, error));
    MEDLEY_TRY(md_pool_new(&pool, &sum, card->kernels * rows->rows, sizeof *sum, error));
    MEDLEY_TRY(md_pool_new(&pool, &row_sums, rows->rows, sizeof *row_sums, error));
    MEDLEY_TRY(md_card_row_sums(card, sum, error));
    for (size_t k = 0; k < card->kernels; k++) {
        for (size_t i = 0; i < rows->rows; i++)
            row_sums[i] = (double)sum[k * rows->rows + i];
        MEDLEY_TRY(
            md_gram_learn_means(&bank->kernels[card->kernel[k]], row_sums, rows->rows, error));
    }
    return MEDLEY_OK;
}

medley_status md_card_matrices(md_device_matrices **matrices, const md_card *card,
                               medley_error *error)
{
    return md_device_matrices_create(matrices, card->rows, error);
}

/* Rows first .. first + count - 1 of a description. */
static void cut_arrays(const float **to, const float *const *from, size_t count, size_t offset)
{
    for (size_t i = 0; i < count; i++)
        to[i] = from[i] != NULL ? from[i] + offset : NULL;
}

static void cut(struct description *piece, const struct description *whole, const md_card *card,
                size_t first, size_t count)
{
    piece->rows.rows = count;
    for (size_t v = 0; v < card->views; v++)
        piece->view[v] = whole->written[v] != NULL ? whole->written[v]
                                                   : whole->view[v] + first * card->columns[v];
    cut_arrays(piece->norm2, whole->norm2, card->views, first);
    cut_arrays(piece->lift, whole->lift, card->views, first);
    cut_arrays(piece->factor, whole->factor, card->kernels, first);
    cut_arrays(piece->shift, whole->shift, card->kernels, first);
    cut_arrays(piece->root, whole->root, card->kernels, first);
}

medley_status md_card_add_others(const md_card *card, md_device_scores *scores, size_t most,
                                 const md_prepared *others, const float *coefficient, size_t labels,
                                 medley_error *error)
{
    MD_CLEARED(clear_description) struct description whole = {0};
    MD_CLEARED(clear_description) struct description piece = {0};
    float *change;
    const size_t lines = card->kernels * labels;
    MEDLEY_TRY(describe(&whole, card, others, NULL, md_min(most, others->rows), error));
    MEDLEY_TRY(make_room(&piece, card, others->rows, error));
    MEDLEY_TRY(md_pool_new(&piece.pool, &change, lines * most, sizeof *change, error));
    for (size_t first = 0; first < others->rows; first += most) {
        const size_t count = md_min(others->rows - first, most);
        write_rows(&whole, card, others, first, count);
        cut(&piece, &whole, card, first, count);
        for (size_t l = 0; l < lines; l++)
            memcpy(change + l * count, coefficient + l * others->rows + first,
                   count * sizeof *change);
        MEDLEY_TRY(md_device_add_others(scores, &piece.rows, change, error));
    }
    return MEDLEY_OK;
}
