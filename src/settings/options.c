/* SPDX-License-Identifier: BSD-3-Clause */
/* The one table of training options: names, defaults, ranges and help for the command line, the
 * manual, completion and bindings. */
#include "settings/options.h"

#include "base/struct_size.h"
#include "gram/bank.h"
#include "settings/about.h"

static const char *const roots_names[] = {"one", "many", NULL};
static const char *const storage_names[] = {"float32", "float64", NULL};
static const char *const device_storage_names[] = {"auto", "float16", "float32", NULL};
static const char *const mix_names[] = {"round", "epoch", NULL};
static const char *const bigram_names[] = {"auto", "fixed", "learned", "none", NULL};
static const char *const schedule_names[] = {"auto", "sqrt", "epoch", "inverse", "constant", NULL};

#define RANGE(low, high) .least = (low), .most = (high)
#define MD_OPTION(variable, kind, text, value, placeholder, ...)                                   \
    {.name = (text),                                                                               \
     .type = MD_##kind,                                                                            \
     .offset = offsetof(struct medley_options, variable),                                          \
     .fallback = (value),                                                                          \
     .argument = (placeholder),                                                                    \
     __VA_ARGS__},

const md_param md_option_table[] = {
#include "settings/options.def"
    {0}};

medley_status medley_options_create(medley_options **result, medley_error *error)
{
    md_begin(error);
    MD_OWNED(medley_options_free) medley_options *options = NULL;
    MEDLEY_TRY(md_new(&options, 1, sizeof *options, error));
    MEDLEY_TRY(md_params_defaults(md_option_table, options, error));
    *result = md_take(&options);
    return MEDLEY_OK;
}

void medley_options_free(medley_options *options)
{
    if (options == NULL)
        return;
    md_params_clear(md_option_table, options);
    free(options->structure);
    free(options);
}

medley_status md_options_copy(medley_options **result, const medley_options *options,
                              medley_error *error)
{
    MD_OWNED(medley_options_free) medley_options *copy = NULL;
    MEDLEY_TRY(medley_options_create(&copy, error));
    if (options != NULL)
        MEDLEY_TRY(md_params_copy(md_option_table, copy, options, error));
    if (options != NULL) {
        copy->comm = options->comm;
        copy->along_path = options->along_path;
    }
    if (options != NULL && options->structure != NULL)
        MEDLEY_TRY(
            md_new_copy(&copy->structure, options->structure, sizeof *copy->structure, error));
    *result = md_take(&copy);
    return MEDLEY_OK;
}

void medley_options_set_comm(medley_options *options, medley_comm *comm)
{
    options->comm = comm;
}

medley_status md_options_reset(medley_options *options, unsigned concerns, medley_error *error)
{
    for (const md_param *p = md_option_table; p->name != NULL; p++) {
        const md_param row[] = {*p, {0}};
        if ((p->concerns & concerns) == 0)
            continue;
        md_params_clear(row, options);
        MEDLEY_TRY(md_params_defaults(row, options, error));
    }
    return MEDLEY_OK;
}

medley_status medley_options_set(medley_options *options, const char *name, const char *value,
                                 medley_error *error)
{
    md_begin(error);
    return md_params_set(md_option_table, options, NULL, name, value, error);
}

size_t medley_option_count(void)
{
    size_t count = 0;
    while (md_option_table[count].name != NULL)
        count++;
    return count;
}

bool medley_option_describe(medley_option_info *info, size_t index)
{
    if (index >= medley_option_count())
        return false;
    const md_param *p = &md_option_table[index];
    const medley_option_info found = {.struct_size = sizeof found,
                                      .name = p->name,
                                      .argument = p->argument,
                                      .fallback = p->fallback,
                                      .help = p->help,
                                      .repeatable = p->type == MD_LIST,
                                      .group = p->group,
                                      .brief = p->brief};
    md_fill_struct(info, &found, sizeof found);
    return md_check_struct(info, "", NULL) == MEDLEY_OK;
}

/* ---- reading the values ---- */

medley_status md_options_number(double *value, const char *name, const char *text, bool allow_none,
                                medley_error *error)
{
    *value = NAN;
    if (strcmp(text, "auto") == 0)
        return MEDLEY_OK;
    if (allow_none && strcmp(text, "none") == 0) {
        *value = INFINITY;
        return MEDLEY_OK;
    }
    if (md_parse_double(text, value) && isfinite(*value) && *value > 0)
        return MEDLEY_OK;
    return md_fail(error, MEDLEY_USAGE, "`%s='%s'` is neither %sauto nor a positive number", name,
                   text, allow_none ? "none nor " : "");
}

bool md_options_has_strength(const medley_options *options)
{
    return !isnan(options->lambda) || !isnan(options->C) || !isnan(options->spicy_C);
}

medley_status md_options_lambda(double *lambda, const medley_options *options, double default_C,
                                size_t examples, medley_error *error)
{
    const double n = (double)examples;
    const int given = !isnan(options->lambda) + !isnan(options->C) + !isnan(options->spicy_C);
    if (given > 1)
        return md_fail(error, MEDLEY_USAGE,
                       "give one of `lambda`, `C` and `spicy-C`: they say the same thing");
    if (!isnan(options->lambda))
        *lambda = options->lambda;
    else if (!isnan(options->spicy_C))
        *lambda = options->spicy_C / n;
    else
        *lambda = 1 / ((isnan(options->C) ? default_C : options->C) * n);
    if (!isnormal(*lambda))
        return md_fail(error, MEDLEY_USAGE, "lambda = %g is out of range", *lambda);
    return MEDLEY_OK;
}
