/* SPDX-License-Identifier: BSD-3-Clause */
/* Columns that are the same in every row, or nearly nothing: their kernels are constant or zero,
 * and never a failure or something that is no number. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "gram/gram.h"
#include "naive.h"

enum { ROWS = 37, COLUMNS = 6 };

/* A column of noise, then constants, then one too small for squares in single precision. */
static const double constants[COLUMNS] = {NAN, 0, 0.3, 1e4, 1, NAN};

static medley_dataset *make_columns(void)
{
    double values[ROWS * COLUMNS];
    medley_dataset *dataset = NULL;
    md_random random;
    md_random_seed(&random, 6);
    for (size_t r = 0; r < ROWS; r++) {
        for (size_t c = 0; c < COLUMNS; c++)
            values[r * COLUMNS + c] = constants[c];
        values[r * COLUMNS] = md_random_uniform(&random);
        values[r * COLUMNS + COLUMNS - 1] = 1e-22 * md_random_uniform(&random);
    }
    assert_int_equal(medley_dataset_from_dense(&dataset, values, ROWS, COLUMNS, NULL, NULL),
                     MEDLEY_OK);
    return dataset;
}

/* Constant columns: every value is the same, 0 once centred, and of linear kernels what follows
 * from the column. */
static void check_kernel(md_gram *gram, const md_bank *bank, size_t m, const char *scale)
{
    const md_kernel *kernel = &bank->kernels[m];
    const size_t column = bank->views[kernel->view].columns[0];
    const double first = (double)md_gram_entry(gram, m, 0, 0);
    for (size_t i = 0; i < ROWS; i++)
        for (size_t j = 0; j < ROWS; j++) {
            const double value = (double)md_gram_entry(gram, m, i, j);
            if (!isfinite(value))
                fail_msg("%s: %g at %zu, %zu", kernel->name, value, i, j);
            if (isnan(constants[column]))
                continue;
            if (kernel->norm == MD_NORM_CENTER)
                assert_true(fabs(value) <= 1e-6 * fmax(1, constants[column] * constants[column]));
            else if (fabs(value - first) > (kernel->norm == MD_NORM_DIAG ? 1e-6 : 0))
                fail_msg("%s: %g at %zu, %zu, but %g at 0, 0", kernel->name, value, i, j, first);
        }
    if (isnan(constants[column]) || kernel->norm == MD_NORM_CENTER ||
        strcmp(kernel->class->name, "linear") != 0)
        return;
    const md_scale used = bank->views[kernel->view].scale;
    assert_true(strcmp(scale, "auto") == 0 || strcmp(scale, md_scale_names[used]) == 0);
    const double square = used == MD_SCALE_NONE ? constants[column] * constants[column]
                          : used == MD_SCALE_MAXABS && constants[column] != 0 ? 1
                                                                              : 0;
    const double expected = kernel->norm == MD_NORM_NONE || square == 0 ? square
                            : kernel->norm == MD_NORM_DIAG              ? 1
                                                                        : 1.0 / ROWS;
    assert_true(fabs(first - expected) <= 1e-6 * expected);
}

static void check_bank(const medley_dataset *data, const char *kernel, md_norm norm,
                       const char *scale)
{
    char spec[32];
    char kind[16];
    snprintf(spec, sizeof spec, "%s", kernel);
    snprintf(kind, sizeof kind, "%s", scale);
    const md_bank_options options = {.kernels = (char *[]){spec, NULL},
                                     .views = "each",
                                     .scale = (char *[]){kind, NULL},
                                     .normalize = norm,
                                     .seed = 1};
    const md_gram_options how = {.threads = 1};
    medley_error error = {0};
    md_bank bank = {0};
    md_prepared prepared = {0};
    md_gram *gram = NULL;
    if (md_bank_make(&bank, data, &options, &error) < 0 ||
        md_prepared_make(&prepared, &bank, data, true, &error) < 0 ||
        md_gram_create(&gram, &bank, &prepared, &how, &error) < 0)
        fail_msg("%s, norm=%s, scale %s: %s", kernel, md_norm_names[norm], scale, error.message);
    assert_int_equal(bank.count, strcmp(kernel, "bias") == 0 ? 1 : COLUMNS);
    for (size_t m = 0; bank.count > 1 && m < bank.count; m++)
        check_kernel(gram, &bank, m, scale);
    md_gram_free(gram);
    md_prepared_clear(&prepared);
    md_bank_clear(&bank);
}

static void every_kernel_and_norm_is_harmless(void **state)
{
    (void)state;
    medley_dataset *data = make_columns();
    for (size_t k = 0; md_kernels[k] != NULL; k++)
        for (md_norm norm = MD_NORM_NONE; norm <= MD_NORM_CENTER; norm++)
            for (size_t s = 0; md_scale_names[s] != NULL; s++)
                if (!md_kernels[k]->nonnegative_data ||
                    (s != MD_SCALE_STANDARD && s != MD_SCALE_CENTER))
                    check_bank(data, md_kernels[k]->name, norm, md_scale_names[s]);
    check_bank(data, "poly(degree=3,offset=0)", MD_NORM_TRACE, "none");
    check_bank(data, "rbf(sigma=1)", MD_NORM_DIAG, "none");
    medley_dataset_free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_kernel_and_norm_is_harmless)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
