/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows on the fake card, and the values of their kernels. */
#include "fake_card.h"

/* ---- rows ---- */

static const float **copy_arrays(const float *const *from, size_t count, size_t rows,
                                 const size_t *columns)
{
    const float **made = fake_array(count, sizeof *made);
    for (size_t i = 0; i < count; i++)
        made[i] = fake_copy(from[i], rows * (columns != NULL ? columns[i] : 1), sizeof **made);
    return made;
}

static void free_arrays(const float *const *arrays, size_t count)
{
    for (size_t i = 0; arrays != NULL && i < count; i++)
        free((void *)(uintptr_t)arrays[i]);
    free((void *)(uintptr_t)arrays);
}

static md_device_rows copy_rows(const fake_bank *bank, const md_device_rows *rows)
{
    const size_t n = rows->rows;
    return (md_device_rows){.rows = n,
                            .is_unit = rows->is_unit,
                            .view = copy_arrays(rows->view, bank->views, n, bank->columns),
                            .norm2 = copy_arrays(rows->norm2, bank->views, n, NULL),
                            .lift = copy_arrays(rows->lift, bank->views, n, NULL),
                            .factor = copy_arrays(rows->factor, bank->kernels, n, NULL),
                            .shift = copy_arrays(rows->shift, bank->kernels, n, NULL),
                            .root = copy_arrays(rows->root, bank->kernels, n, NULL)};
}

static void free_rows(const fake_bank *bank)
{
    free_arrays(bank->own.view, bank->views);
    free_arrays(bank->own.norm2, bank->views);
    free_arrays(bank->own.lift, bank->views);
    free_arrays(bank->own.factor, bank->kernels);
    free_arrays(bank->own.shift, bank->kernels);
    free_arrays(bank->own.root, bank->kernels);
}

static void check_alike(const float *const *own, const float *const *others, size_t count,
                        const char *what)
{
    for (size_t i = 0; i < count; i++)
        fake_demand((own[i] == NULL) == (others[i] == NULL), what);
}

/* Rows that come later have what the bank's rows have: a card has made room for it. */
void fake_check_others(const fake_bank *bank, const md_device_rows *others)
{
    for (size_t v = 0; v < bank->views; v++)
        fake_demand(others->norm2[v] != NULL && (others->view[v] != NULL || bank->columns[v] == 0),
                    "rows without values");
    check_alike(bank->own.lift, others->lift, bank->views, "lifts are not those of the bank");
    check_alike(bank->own.factor, others->factor, bank->kernels, "factors are not the bank's");
    check_alike(bank->own.shift, others->shift, bank->kernels, "shifts are not the bank's");
    check_alike(bank->own.root, others->root, bank->kernels, "roots are not the bank's");
}

/* ---- values ---- */

/* The nearest number of half precision, even where two are: 11 bits from 2^-14 on, and steps of
 * 2^-24 below it. */
static float to_half(float value)
{
    static const float LARGEST = 65504;
    int exponent = 0;
    (void)frexpf(value, &exponent);
    const int step = (exponent > -13 ? exponent : -13) - 11;
    const float rounded = ldexpf(nearbyintf(ldexpf(value, -step)), step);
    return fabsf(rounded) <= LARGEST ? rounded : copysignf(INFINITY, value);
}

static double sum_along(md_device_quantity quantity, const float *x, const float *z, size_t columns)
{
    double sum = 0;
    for (size_t c = 0; c < columns; c++) {
        const double a = (double)x[c];
        const double b = (double)z[c];
        if (quantity == MD_ON_L1)
            sum += fabs(a - b);
        else if (quantity == MD_ON_CHI2)
            sum += (a - b) * ((a - b) / (a + b + 1e-30));
        else if (quantity == MD_ON_MINIMA)
            sum += fmin(a, b);
        else
            sum += a * b;
    }
    return sum;
}

static double map_of(const md_device_form *form, double q)
{
    if (form->map == MD_MAP_EXP)
        return exp((double)form->scale * q);
    if (form->map == MD_MAP_HAT)
        return fmax(0, 1 - (double)form->scale * sqrt(q));
    fake_demand(form->map == MD_MAP_POWER && form->degree >= 1, "a map that is none");
    return pow((double)form->scale * q + (double)form->offset, form->degree);
}

/* What a kernel is a function of; same: a row of the bank and itself. */
static double quantity_of(const fake_bank *bank, size_t m, const md_device_rows *left, size_t i,
                          size_t j, bool same)
{
    const size_t v = bank->kernel[m].view;
    const md_device_quantity quantity = bank->kernel[m].form.quantity;
    const size_t columns = bank->columns[v];
    const double sum = columns == 0 ? 0
                                    : sum_along(quantity, left->view[v] + i * columns,
                                                bank->own.view[v] + j * columns, columns);
    if (quantity == MD_ON_PRODUCT)
        return sum + fake_value_at(left->lift, v, i, 0) + fake_value_at(bank->own.lift, v, j, 0);
    if (quantity != MD_ON_DISTANCE2)
        return sum;
    const double norms = (double)left->norm2[v][i] + (double)bank->own.norm2[v][j];
    return same ? 0 : fmax(0, norms - 2 * sum);
}

/* K before the roots, rounded as it is kept. own: left rows are the bank's. */
static float value_of(const fake_bank *bank, size_t m, const md_device_rows *left, size_t i,
                      size_t j, bool own)
{
    const md_device_rows *right = &bank->own;
    const bool same = own && i == j;
    if (same && bank->own.is_unit)
        return fake_value_at(right->root, m, j, 1) > 0;
    const double value =
        (map_of(&bank->kernel[m].form, quantity_of(bank, m, left, i, j, same)) +
         fake_value_at(left->shift, m, i, 0) + fake_value_at(right->shift, m, j, 0)) *
        fake_value_at(left->factor, m, i, 1) * fake_value_at(right->factor, m, j, 1);
    return bank->precise ? (float)value : to_half((float)value);
}

/* [kernels][rows] of row i. */
void fake_fill_values(const fake_bank *bank, const md_device_rows *left, size_t i, bool own,
                      float *out)
{
    for (size_t m = 0; m < bank->kernels; m++)
        for (size_t j = 0; j < bank->own.rows; j++)
            out[m * bank->own.rows + j] = value_of(bank, m, left, i, j, own);
}

const float *fake_kept_row(const fake_bank *bank, size_t row)
{
    if (bank->kept[row] == NULL) {
        bank->kept[row] = fake_array(bank->kernels * bank->own.rows, sizeof **bank->kept);
        fake_fill_values(bank, &bank->own, row, true, bank->kept[row]);
    }
    return bank->kept[row];
}

/* ---- banks ---- */

static void free_bank(void *context)
{
    fake_bank *bank = context;
    if (bank == NULL)
        return;
    for (size_t i = 0; i < bank->own.rows; i++)
        free(bank->kept[i]);
    free(bank->kept);
    free_rows(bank);
    free(bank->columns);
    free(bank->kernel);
    free(bank);
}

static void check_layout(const md_device_layout *layout)
{
    for (size_t m = 0; m < layout->kernels; m++) {
        const size_t view = layout->kernel[m].view;
        const size_t before = m > 0 ? layout->kernel[m - 1].view : 0;
        fake_demand(view < layout->views, "a view that is none");
        fake_demand(view == before || view == before + 1, "kernels of a view stand apart");
    }
}

static int create_bank(void *context, void **result, const md_device_layout *layout,
                       const md_device_rows *rows, bool precise, char *message)
{
    fake_card *card = context;
    *result = NULL;
    if (card->lacks_memory)
        return fake_needs_memory(message);
    check_layout(layout);
    fake_bank *bank = fake_array(1, sizeof *bank);
    bank->card = card;
    bank->thread = pthread_self();
    bank->precise = precise;
    bank->views = layout->views;
    bank->kernels = layout->kernels;
    bank->columns = fake_copy(layout->columns, layout->views, sizeof *bank->columns);
    bank->kernel = fake_copy(layout->kernel, layout->kernels, sizeof *bank->kernel);
    bank->own = copy_rows(bank, rows);
    bank->kept = fake_array(rows->rows, sizeof *bank->kept);
    fake_check_others(bank, &bank->own);
    *result = bank;
    return 0;
}

static void count_rows(const void *context, size_t *computed, size_t *found)
{
    const fake_bank *bank = context;
    *computed = bank->computed;
    *found = bank->found;
}

void fake_bank_functions(md_device_functions *functions)
{
    functions->bank_create = create_bank;
    functions->bank_free = free_bank;
    functions->count = count_rows;
}
