/* SPDX-License-Identifier: BSD-3-Clause */
/* What is varied: the values of options, all combinations of them, and the options of one. */
#ifndef MD_CHOICE_H
#define MD_CHOICE_H

#include "medley/select.h"
#include "settings/options.h"

/* The values of a choice, as a NULL-terminated list for md_texts_free: pieces between commas (of
 * kernels between '|') outside of brackets; a..b and a..b:count of numbers are evenly spaced in
 * logarithm, one a decade or `count` of them. Options whose values may have commas are one value,
 * and so is the name of a file that exists. */
medley_status md_choice_values(char ***values, const medley_choice *choice, medley_error *error);

/* 10^exponent with this number of digits, as options are written whatever the locale. */
const char *md_choice_power(char text[32], double exponent, int digits);

/* All combinations; the first option varies slowest. */
typedef struct md_grid {
    size_t option_count, trial_count;
    const char **options; /* [option_count] names in the table of options */
    char ***values;       /* [option_count], NULL-terminated lists */
    size_t *sizes;        /* [option_count] */
} md_grid;

medley_status md_grid_make(md_grid *grid, const medley_choice *choices, size_t count,
                           medley_error *error);
void md_grid_clear(md_grid *grid);
const char *md_grid_value(const md_grid *grid, size_t trial, size_t option);

/* Do two trials differ in nothing but the strength of the penalty? */
bool md_grid_same_but_strength(const md_grid *grid, size_t a, size_t b);

/* Where nothing is varied: values for the strength of the penalty, some decades around what is
 * given or else would be. choice->values is text. */
enum { MD_CHOICE_TEXT = 256 };
medley_status md_choice_of_strength(medley_choice *choice, char text[MD_CHOICE_TEXT],
                                    const medley_dataset *dataset, const medley_options *options,
                                    const medley_observer *observer, medley_error *error);

/* A copy of options (NULL: defaults) with values[count] set on top of it. */
medley_status md_options_with(medley_options **copy, const medley_options *options,
                              const char *const *names, const char *const *values, size_t count,
                              medley_error *error);

/* Larger is stronger: lambda, 1/C or spicy-C; NaN: none of them is given. */
double md_options_strength(const medley_options *options);

#endif
