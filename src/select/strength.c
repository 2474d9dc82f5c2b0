/* SPDX-License-Identifier: BSD-3-Clause */
/* Which strengths of the penalty are tried where no option says what to vary: those around the
 * default of the method. Batch methods have none but a share of the least that leaves out all
 * kernels, which is the start of their path. */
#include "select/choice.h"
#include "setup/setup.h"

static const double BATCH_FACTOR = 10; /* weaker than what leaves out everything */

static bool note_C(void *context, medley_model *model)
{
    *(double *)context = medley_model_summary(model)->C;
    medley_model_free(model);
    return false;
}

/* Of batch methods the C where the first kernel comes in, times BATCH_FACTOR: a path of one point
 * starts there. */
static medley_status find_default_C(double *C, const medley_dataset *dataset,
                                    const medley_options *options, const md_method *method,
                                    const medley_observer *observer, medley_error *error)
{
    *C = md_default_C(method, md_task_of(options, dataset), options);
    if (!method->kind->batch || method->fit_path == NULL)
        return MEDLEY_OK;
    MD_OWNED(medley_options_free) medley_options *plain = NULL;
    medley_path_options path = MEDLEY_PATH_OPTIONS_INIT;
    path.count = 1;
    double start = NAN;
    MEDLEY_TRY(md_options_with(&plain, options, (const char *const[]){"calibrate"},
                               (const char *const[]){"no"}, 1, error));
    const medley_status status =
        medley_fit_path(dataset, plain, &path, note_C, &start, observer, error);
    if (status >= 0 && isfinite(start) && start > 0)
        *C = BATCH_FACTOR * start;
    return status;
}

/* value times 10^decades with the digits that value has: 0.25, 2.5, 25. */
static double shift(double value, int decades)
{
    char number[32];
    char shifted[48];
    md_format_double(number, value);
    char *letter = strchr(number, 'e');
    const long exponent = letter != NULL ? strtol(letter + 1, NULL, 10) : 0;
    if (letter != NULL)
        *letter = '\0';
    snprintf(shifted, sizeof shifted, "%se%ld", number, exponent + decades);
    return md_parse_double(shifted, &value) ? value : (double)NAN;
}

/* Appends a value as far as the option's range goes; twice the same end of it is once. */
static void add_strength(char text[MD_CHOICE_TEXT], const md_param *param, double value)
{
    char number[32];
    const size_t used = strlen(text);
    const char *last = strrchr(text, ',');
    value = fmin(fmax(value, param->least), param->most);
    md_format_double(number, value);
    if (used > 0 && strcmp(last != NULL ? last + 1 : text, number) == 0)
        return;
    snprintf(text + used, MD_CHOICE_TEXT - used, "%s%s", used > 0 ? "," : "", number);
}

static void list_decades(char text[MD_CHOICE_TEXT], const md_param *param, double middle)
{
    for (int decade = -2; decade <= 2; decade++)
        add_strength(text, param, shift(middle, decade));
}

/* One digit each: where a path begins has many of its own. */
static void list_half_decades(char text[MD_CHOICE_TEXT], const md_param *param, double middle)
{
    static const double factors[] = {0.3, 1, 3, 10, 30, 100, 0};
    for (size_t i = 0; factors[i] > 0; i++) {
        char number[32];
        double value;
        if (md_parse_double(md_choice_power(number, log10(factors[i]) + log10(middle), 1), &value))
            add_strength(text, param, value);
    }
}

medley_status md_choice_of_strength(medley_choice *choice, char text[MD_CHOICE_TEXT],
                                    const medley_dataset *dataset, const medley_options *options,
                                    const medley_observer *observer, medley_error *error)
{
    const md_method *method = NULL;
    double middle = options->C;
    bool half = false;
    MEDLEY_TRY(md_method_choose(&method, options, dataset, NULL, error));
    choice->option = "C";
    if (!isnan(options->lambda)) {
        choice->option = "lambda";
        middle = options->lambda;
    } else if (!isnan(options->spicy_C)) {
        choice->option = "spicy-C";
        middle = options->spicy_C;
    } else if (isnan(middle)) {
        const medley_status status =
            find_default_C(&middle, dataset, options, method, observer, error);
        if (status != MEDLEY_OK)
            return status;
        half = method->kind->batch && method->fit_path != NULL;
    }
    const md_param *param = md_params_find(md_option_table, choice->option);
    text[0] = '\0';
    if (half)
        list_half_decades(text, param, middle);
    else
        list_decades(text, param, middle);
    choice->values = text;
    return MEDLEY_OK;
}
