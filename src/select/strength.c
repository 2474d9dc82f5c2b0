/* SPDX-License-Identifier: BSD-3-Clause */
/* Which strengths of the penalty are tried where nobody says what to vary: those around the default
 * of the method. Batch methods have none but a share of the least that leaves out all kernels,
 * which is the start of their path. */
#include "learner/problem.h"
#include "select/choice.h"

#include <math.h>
#include <stdio.h>

static const double DEFAULT_C = 10, TREE_C = 3; /* as the help of --C tells */
static const double BATCH_FACTOR = 10;          /* weaker than what leaves out everything */

static bool note_C(void *context, medley_model *model)
{
    *(double *)context = medley_model_summary(model)->C;
    medley_model_free(model);
    return false;
}

static medley_status find_default_C(double *C, const medley_dataset *dataset,
                                    const medley_options *options, const md_method *method,
                                    const medley_observer *observer, medley_error *error)
{
    const bool trees = md_task_of(options, dataset) == MD_TASK_TREE;
    *C = method->default_C > 0 ? method->default_C : trees ? TREE_C : DEFAULT_C;
    if (!method->batch || method->fit_path == NULL)
        return MEDLEY_OK;
    medley_options *plain = NULL;
    medley_path_options path = MEDLEY_PATH_OPTIONS_INIT;
    path.count = 1;
    double start = NAN;
    medley_status status = md_options_with(&plain, options, (const char *const[]){"calibrate"},
                                           (const char *const[]){"no"}, 1, error);
    if (status == MEDLEY_OK)
        status = medley_fit_path(dataset, plain, &path, note_C, &start, observer, error);
    medley_options_free(plain);
    if (status >= 0 && isfinite(start))
        *C = BATCH_FACTOR * start;
    return status;
}

medley_status md_choice_of_strength(medley_choice *choice, char text[MD_CHOICE_TEXT],
                                    const medley_dataset *dataset, const medley_options *options,
                                    const medley_observer *observer, medley_error *error)
{
    static const double decades[] = {0.01, 0.1, 1, 10, 100, 0};
    static const double half_decades[] = {0.3, 1, 3, 10, 30, 100, 0};
    const md_method *method = NULL;
    double middle;
    medley_status status = md_method_choose(&method, options, dataset, NULL, error);
    if (status < 0)
        return status;
    const double *factors = decades;
    choice->option = "C";
    if (!isnan(options->lambda)) {
        choice->option = "lambda";
        middle = options->lambda;
    } else if (!isnan(options->spicy_C)) {
        choice->option = "spicy-C";
        middle = options->spicy_C;
    } else if (!isnan(options->C)) {
        middle = options->C;
    } else {
        status = find_default_C(&middle, dataset, options, method, observer, error);
        if (status != MEDLEY_OK)
            return status;
        factors = method->batch && method->fit_path != NULL ? half_decades : decades;
    }
    int used = 0;
    for (size_t i = 0; factors[i] > 0; i++) {
        char rounded[32];
        char number[32];
        double value;
        snprintf(rounded, sizeof rounded, "%.1g", factors[i] * middle);
        md_parse_double(rounded, &value);
        used += snprintf(text + used, (size_t)(MD_CHOICE_TEXT - used), "%s%s", i ? "," : "",
                         md_format_double(number, value));
    }
    choice->values = text;
    return MEDLEY_OK;
}
