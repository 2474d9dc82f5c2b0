/* SPDX-License-Identifier: BSD-3-Clause */
/* What is done with the values of options: copies, defaults again, numbers from strings. */
#include "settings/options.h"

#include <math.h>
#include <string.h>

medley_status md_options_copy(medley_options **result, const medley_options *options,
                              medley_error *error)
{
    medley_options *copy = NULL;
    medley_status status = medley_options_create(&copy, error);
    if (status == MEDLEY_OK && options != NULL)
        status = md_params_copy(md_option_table, copy, options, error);
    if (status < 0)
        medley_options_free(copy);
    else
        *result = copy;
    return status;
}

medley_status md_options_reset(medley_options *options, unsigned concerns, medley_error *error)
{
    medley_status status = MEDLEY_OK;
    for (const md_param *p = md_option_table; p->name != NULL && status == MEDLEY_OK; p++) {
        const md_param row[] = {*p, {0}};
        if ((p->concerns & concerns) == 0)
            continue;
        md_params_clear(row, options);
        status = md_params_defaults(row, options, error);
    }
    return status;
}

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
    return md_fail(error, MEDLEY_USAGE, "--%s='%s' is neither %sauto nor a positive number", name,
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
                       "give one of --lambda, --C and --spicy-C: they say the same thing");
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
