/* SPDX-License-Identifier: BSD-3-Clause */
/* Choosing: penalties compared by cross-validation, a final model with the best of them, the path
 * of all strengths, and a report of everything in one HTML file. */
#include <medley/medley.h>
#include <stdio.h>

#define TRY(call)                                                                                  \
    do {                                                                                           \
        if ((call) < 0)                                                                            \
            goto done;                                                                             \
    } while (0)

static void print_trials(const medley_tuning *tuning)
{
    for (size_t t = 0; t < tuning->trial_count; t++) {
        const medley_trial *trial = &tuning->trials[t];
        for (size_t o = 0; o < tuning->option_count; o++)
            printf("%s %-14s ", tuning->options[o], trial->values[o]);
        if (trial->problem)
            printf("failed: %s\n", trial->problem);
        else
            printf("%s %.3f +- %.3f, %.1f kernels%s\n", tuning->measure, trial->mean,
                   trial->standard_error, trial->active, t == tuning->best ? " (best)" : "");
    }
}

int main(void)
{
    medley_error error = {0};
    medley_generate_options how = MEDLEY_GENERATE_OPTIONS_INIT;
    medley_tune_options tuning_how = MEDLEY_TUNE_OPTIONS_INIT;
    medley_path_options path_how = MEDLEY_PATH_OPTIONS_INIT;
    medley_report_options report = MEDLEY_REPORT_OPTIONS_INIT;
    medley_dataset *train = NULL, *test = NULL;
    medley_options *options = NULL, *chosen = NULL;
    medley_tuning *tuning = NULL;
    medley_model *model = NULL;
    medley_path *path = NULL;

    how.rows = 200;
    TRY(medley_generate(&train, "ringnorm", &how, &error));
    how.seed = 2;
    TRY(medley_generate(&test, "ringnorm", &how, &error));
    TRY(medley_options_create(&options, &error)); /* three widths on all columns and on each */
    TRY(medley_options_set(options, "views", "all+each", &error));
    TRY(medley_options_set(options, "kernel", "rbf(sigma={1,2,4})", &error));
    TRY(medley_options_set(options, "normalize", "trace", &error));
    TRY(medley_options_set(options, "loss", "logistic", &error));

    const medley_choice choices[] = {{"penalty", "group-lasso,elastic(t=0.5)"},
                                     {"spicy-C", "0.1,1"}};
    tuning_how.folds = 4;
    TRY(medley_tune(&tuning, train, options, choices, 2, &tuning_how, NULL, &error));
    print_trials(tuning);
    TRY(medley_tuning_options(&chosen, tuning, tuning->best, options, &error));
    TRY(medley_fit(&model, train, NULL, chosen, NULL, &error));

    path_how.count = 10;
    TRY(medley_trace_path(&path, train, test, chosen, &path_how, NULL, NULL, NULL, &error));
    for (size_t p = 0; p < path->point_count; p += 3)
        printf("lambda %.5f: %zu kernels, %s %.3f\n", path->points[p].lambda,
               path->points[p].active, path->measure, path->points[p].score);

    report.title = "Ringnorm, 63 kernels";
    report.data = test;
    report.tuning = tuning;
    report.path = path;
    TRY(medley_report_write(model, "choose.html", &report, &error));
    printf("everything to look at is in choose.html\n");

done:
    if (error.code < 0) {
        char text[1024];
        medley_error_format(text, sizeof text, &error);
        fprintf(stderr, "choose: %s\n", text);
    }
    medley_path_free(path);
    medley_model_free(model);
    medley_tuning_free(tuning);
    medley_options_free(chosen);
    medley_options_free(options);
    medley_dataset_free(test);
    medley_dataset_free(train);
    return error.code < 0;
}
