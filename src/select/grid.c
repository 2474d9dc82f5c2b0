/* SPDX-License-Identifier: BSD-3-Clause */
/* Every combination of values, and options with one of them. */
#include "select/choice.h"

#include "settings/about.h"

enum { MOST_TRIALS = 100000 };

void md_grid_clear(md_grid *grid)
{
    for (size_t o = 0; grid->values != NULL && o < grid->option_count; o++)
        md_texts_free(grid->values[o]);
    free(grid->values);
    free(grid->options);
    free(grid->sizes);
    *grid = (md_grid){0};
}

static medley_status add_option(md_grid *grid, const medley_choice *choice, medley_error *error)
{
    const size_t o = grid->option_count;
    MEDLEY_TRY(md_choice_values(&grid->values[o], choice, error));
    const md_param *param = md_params_find(md_option_table, choice->option);
    grid->option_count++;
    grid->options[o] = param->name;
    grid->sizes[o] = md_texts_count(grid->values[o]);
    if (grid->sizes[o] == 0)
        return md_fail(error, MEDLEY_USAGE, "`%s`: the list has no values", param->name);
    for (size_t before = 0; before < o; before++)
        if (grid->options[before] == param->name && param->type != MD_LIST)
            return md_fail(error, MEDLEY_USAGE, "`%s` is varied twice; give one list", param->name);
    if (__builtin_mul_overflow(grid->trial_count, grid->sizes[o], &grid->trial_count) ||
        grid->trial_count > MOST_TRIALS)
        return md_fail(error, MEDLEY_USAGE,
                       "there are more than %d combinations of these values; give shorter lists",
                       MOST_TRIALS);
    return MEDLEY_OK;
}

medley_status md_grid_make(md_grid *grid, const medley_choice *choices, size_t count,
                           medley_error *error)
{
    MD_CLEARED(md_grid_clear) md_grid made = {.trial_count = 1};
    MEDLEY_TRY(md_new(&made.options, count, sizeof(char *), error));
    MEDLEY_TRY(md_new(&made.values, count, sizeof(char **), error));
    MEDLEY_TRY(md_new(&made.sizes, count, sizeof *made.sizes, error));
    for (size_t c = 0; c < count; c++)
        MEDLEY_TRY(add_option(&made, &choices[c], error));
    *grid = md_take(&made);
    return MEDLEY_OK;
}

static size_t place_of(const md_grid *grid, size_t trial, size_t option)
{
    for (size_t o = grid->option_count - 1; o > option; o--)
        trial /= grid->sizes[o];
    return trial % grid->sizes[option];
}

const char *md_grid_value(const md_grid *grid, size_t trial, size_t option)
{
    return grid->values[option][place_of(grid, trial, option)];
}

bool md_grid_same_but_strength(const md_grid *grid, size_t a, size_t b)
{
    for (size_t o = 0; o < grid->option_count; o++)
        if (place_of(grid, a, o) != place_of(grid, b, o) &&
            md_params_find(md_option_table, grid->options[o])->concerns != MD_TAKES_STRENGTH)
            return false;
    return true;
}

/* ---- options ---- */

medley_status md_options_with(medley_options **result, const medley_options *options,
                              const char *const *names, const char *const *values, size_t count,
                              medley_error *error)
{
    MD_OWNED(medley_options_free) medley_options *copy = NULL;
    MEDLEY_TRY(md_options_copy(&copy, options, error));
    for (size_t i = 0; i < count; i++)
        MEDLEY_TRY(medley_options_set(copy, names[i], values[i], error));
    *result = md_take(&copy);
    return MEDLEY_OK;
}

double md_options_strength(const medley_options *options)
{
    if (!isnan(options->lambda))
        return options->lambda;
    return !isnan(options->spicy_C) ? options->spicy_C : 1 / options->C;
}
