/* SPDX-License-Identifier: BSD-3-Clause */
/* medley tune: choose options by cross-validation, then learn the model. */
#include "cli.h"
#include "summary.h"
#include "tune_table.h"
#include "writable.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct run {
    medley_dataset *data;
    medley_options *options;
    medley_choice *choices; /* [choice_count] */
    size_t choice_count;
    medley_tuning *tuning;
    size_t chosen; /* trial */
    medley_model *model;
    double seconds_read, seconds_total;
    size_t model_bytes;
    bool interrupted; /* while the model was learnt */
};

static void clear(struct run *run)
{
    medley_dataset_free(run->data);
    medley_options_free(run->options);
    free(run->choices);
    medley_tuning_free(run->tuning);
    medley_model_free(run->model);
}

static medley_status fail(medley_error *error, const char *message)
{
    error->code = MEDLEY_FAILED;
    snprintf(error->message, sizeof error->message, "%s", message);
    return MEDLEY_FAILED;
}

/* ---- which options are lists ---- */

static bool is_training_option(const char *name, medley_option_info *info)
{
    for (size_t i = 0; i < medley_option_count(); i++) {
        *info = medley_option_describe(i);
        if (strcmp(info->name, name) == 0)
            return true;
    }
    return false;
}

/* Of an option that is given twice the last one counts, unless it is added to. */
static bool is_overruled(const cli_arguments *arguments, size_t place, bool repeatable)
{
    for (size_t g = place + 1; g < arguments->given_count && !repeatable; g++)
        if (strcmp(arguments->given[g].name, arguments->given[place].name) == 0)
            return true;
    return false;
}

static medley_status sort_options(const cli_arguments *arguments, struct run *run,
                                  medley_error *error)
{
    medley_status status = medley_options_create(&run->options, error);
    run->choices = calloc(arguments->given_count + 1, sizeof *run->choices);
    if (status >= 0 && run->choices == NULL)
        return fail(error, "out of memory");
    for (size_t g = 0; status >= 0 && g < arguments->given_count; g++) {
        const medley_choice choice = {arguments->given[g].name, arguments->given[g].value};
        medley_option_info info;
        if (!is_training_option(choice.option, &info) ||
            is_overruled(arguments, g, info.repeatable))
            continue;
        size_t values = 1;
        if (info.argument[0] != '\0')
            status = medley_choice_count(&values, &choice, error);
        if (status >= 0 && values > 1)
            run->choices[run->choice_count++] = choice;
        else if (status >= 0)
            status = medley_options_set(run->options, choice.option, choice.values, error);
    }
    return status;
}

/* ---- steps ---- */

static medley_status tune(const cli_arguments *arguments, struct run *run, size_t folds,
                          medley_error *error)
{
    medley_tune_options how = MEDLEY_TUNE_OPTIONS_INIT;
    how.folds = folds;
    how.measure = cli_value(arguments, "measure");
    if (run->choice_count == 0 && !arguments->quiet)
        fprintf(stderr, "no option is given as a list: the strength of the penalty is varied "
                        "around its default; --C 0.1,1,10 would say which values\n");
    cli_progress progress;
    const medley_observer observer = cli_observe(&progress, arguments);
    const medley_status status = medley_tune(&run->tuning, run->data, run->options, run->choices,
                                             run->choice_count, &how, &observer, error);
    cli_progress_end(&progress);
    if (status < 0)
        return status;
    const char *rule = cli_value(arguments, "choose");
    if (status == MEDLEY_OK)
        run->chosen = rule != NULL && strcmp(rule, "one-error") == 0 ? run->tuning->one_error
                                                                     : run->tuning->best;
    return status;
}

static medley_status fit(const cli_arguments *arguments, struct run *run, const char *path,
                         medley_error *error)
{
    medley_options *options = NULL;
    cli_progress progress;
    medley_status status =
        medley_tuning_options(&options, run->tuning, run->chosen, run->options, error);
    const medley_observer observer = cli_observe(&progress, arguments);
    if (status >= 0)
        status = medley_fit(&run->model, run->data, NULL, options, &observer, error);
    cli_progress_end(&progress);
    medley_options_free(options);
    run->interrupted = status == MEDLEY_STOPPED;
    if (run->interrupted && medley_model_summary(run->model)->epoch_count == 0)
        return fail(error, "interrupted before the first epoch of the model was complete; no model "
                           "was written");
    if (status >= 0)
        status = medley_model_save(run->model, path, error);
    struct stat info;
    run->model_bytes = status >= 0 && stat(path, &info) == 0 ? (size_t)info.st_size : 0;
    return status;
}

static medley_status write_table(const struct run *run, const char *path, medley_error *error)
{
    FILE *file = fopen(path, "w");
    const bool written = file != NULL && cli_csv_tuning(file, run->tuning);
    if (file != NULL && fclose(file) == 0 && written)
        return MEDLEY_OK;
    snprintf(error->file, sizeof error->file, "%s", path);
    return fail(error, "the table cannot be written; is the disk full?");
}

static medley_status write_report(const cli_arguments *arguments, const struct run *run,
                                  const char *path, medley_error *error)
{
    medley_report_options options = MEDLEY_REPORT_OPTIONS_INIT;
    options.tuning = run->tuning;
    options.threads = cli_threads(arguments);
    return medley_report_write(path, run->model, &options, error);
}

/* ---- what is said ---- */

static void print_json(const struct run *run, const char *path)
{
    json_open(stdout, NULL, '{');
    cli_json_tuning(run->tuning);
    json_count(stdout, "chosen", run->chosen);
    json_open(stdout, "seconds", '{');
    json_number(stdout, "read", run->seconds_read);
    json_number(stdout, "kernels", run->tuning->seconds_kernels);
    json_number(stdout, "tune", run->tuning->seconds_total);
    json_number(stdout, "total", run->seconds_total);
    json_close(stdout, '}');
    if (run->model != NULL) {
        json_open(stdout, "model", '{');
        json_string(stdout, "file", path);
        cli_json_model(run->model);
        json_count(stdout, "model_bytes", run->model_bytes);
        json_bool(stdout, "interrupted", run->interrupted);
        json_close(stdout, '}');
    }
    json_close(stdout, '}');
    printf("\n");
}

static void print_choice(const struct run *run, const char *what, size_t trial)
{
    printf("%s", what);
    cli_print_trial(stdout, run->tuning, trial);
    printf(" (%s ", run->tuning->measure);
    cli_print_measure(stdout, run->tuning, run->tuning->trials[trial].mean);
    printf(")\n");
}

static void print_model(const struct run *run, const char *path)
{
    const medley_summary *s = medley_model_summary(run->model);
    const double kilobytes = (double)run->model_bytes / 1e3;
    printf("\nthe model, learnt from all of the data with ");
    cli_print_trial(stdout, run->tuning, run->chosen);
    printf(":\n");
    cli_print_model(stdout, run->model);
    printf("\nkernels %.2f s, training %.2f s\nmodel with %zu support rows written to %s (%.4g "
           "%s)%s\n",
           s->seconds_kernels, s->seconds_train, s->support_rows, path,
           kilobytes < 1000 ? kilobytes : kilobytes / 1000, kilobytes < 1000 ? "kB" : "MB",
           run->interrupted ? "; training was interrupted" : "");
}

static void print_text(const struct run *run, const char *path)
{
    const medley_tuning *tuning = run->tuning;
    const size_t sequences = medley_dataset_sequences(run->data);
    const size_t units = sequences > 0 ? sequences : medley_dataset_rows(run->data);
    printf("%zu combinations in %zu folds of %zu %s\n\n", tuning->trial_count, tuning->fold_count,
           units, sequences > 0 ? "sequences" : "rows");
    cli_print_tuning(stdout, tuning);
    printf("\n");
    print_choice(run, "best: ", tuning->best);
    if (tuning->one_error != tuning->best)
        print_choice(run, "simplest within one standard error: ", tuning->one_error);
    printf("read %.2f s, tuning %.2f s", run->seconds_read, tuning->seconds_total);
    if (tuning->kernels_shared)
        printf(" (of that kernels %.2f s, once for all folds)", tuning->seconds_kernels);
    else
        printf(" (no kernel values to share: each fold made its own)");
    printf(", %zu threads\n", tuning->threads);
    if (run->model != NULL)
        print_model(run, path);
}

/* ---- the command ---- */

static bool check_arguments(const cli_arguments *arguments, size_t *folds, int *code)
{
    static const char *const files[][2] = {
        {"model", "the model"}, {"output", "the table"}, {"report", "the report"}};
    medley_error error = {0};
    const char *rule = cli_value(arguments, "choose");
    *code = CLI_USAGE;
    if (!cli_count(arguments, "cv", 5, folds))
        return false;
    if (rule != NULL && strcmp(rule, "best") != 0 && strcmp(rule, "one-error") != 0) {
        cli_usage_error(arguments, "--choose='%s' is not best or one-error", rule);
        return false;
    }
    for (size_t f = 0; f < sizeof files / sizeof *files; f++) {
        const char *path = cli_value(arguments, files[f][0]);
        if (path != NULL && !cli_can_write(path, files[f][1], &error)) {
            *code = cli_fail(arguments, &error);
            return false;
        }
    }
    return true;
}

static medley_status work(const cli_arguments *arguments, struct run *run, size_t folds,
                          medley_error *error)
{
    const char *model = cli_value(arguments, "model");
    const char *table = cli_value(arguments, "output");
    const char *report = cli_value(arguments, "report");
    const double start = cli_clock();
    medley_status status = sort_options(arguments, run, error);
    if (status >= 0)
        status = cli_load_data(arguments, NULL, &run->data, error);
    run->seconds_read = cli_clock() - start;
    if (status >= 0)
        status = tune(arguments, run, folds, error);
    if (status == MEDLEY_STOPPED) {
        run->interrupted = true;
        return fail(error, "interrupted before every combination was tried; there is no result");
    }
    if (status >= 0 && table != NULL)
        status = write_table(run, table, error);
    if (status >= 0 && model != NULL)
        status = fit(arguments, run, model, error);
    if (status >= 0 && report != NULL)
        status = write_report(arguments, run, report, error);
    run->seconds_total = cli_clock() - start;
    return status;
}

static int run_tune(cli_arguments *arguments)
{
    medley_error error = {0};
    struct run run = {0};
    size_t folds;
    int code;
    if (!check_arguments(arguments, &folds, &code))
        return code;
    cli_catch_interrupt();
    const medley_status status = work(arguments, &run, folds, &error);
    code = CLI_OK;
    if (status < 0)
        code = cli_fail(arguments, &error);
    else if (arguments->json)
        print_json(&run, cli_value(arguments, "model"));
    else
        print_text(&run, cli_value(arguments, "model"));
    code = run.interrupted ? CLI_INTERRUPTED : code;
    clear(&run);
    return code;
}

static const cli_option options[] = {
    {"cv", "K", "5", "folds: each part is predicted by a model of the others", false},
    {"measure", "NAME", "",
     "what is best: accuracy, f1 (of chunks), log-loss, exact-match (of sequences), rmse, uas, "
     "las; default: rmse of numbers, f1 where labels are those of chunks, las or uas of trees, "
     "else "
     "accuracy",
     false},
    {"choose", "best|one-error", "best",
     "values of the model: those of the best mean, or of the strongest penalty (else the fewest "
     "blocks) within one standard error of it",
     false},
    {"model", "FILE", "", "learn a model from all of the data with the chosen values", false},
    {"output", "FILE.csv", "", "write the table, with the measure of every fold", false},
    {"report", "FILE.html", "", "write a report with the table and the model", false},
    {0}};

static const char *const examples[] = {
    "how strong should the penalty be? one value a decade",
    "medley tune --C 0.01..100 sonar.csv.gz",
    "the same in ten folds; keep the model of the strongest penalty that does as well",
    "medley tune --cv 10 --C 0.01..100:9 --choose one-error --model m.medley sonar.csv.gz",
    "two options at once: every combination of three penalties and four strengths",
    "medley tune --penalty 'group-lasso,elastic(t=0.5),block(q=1.5)' --C 0.1,1,10,100 data.csv",
    "banks of kernels against each other: alternatives stand between bars",
    "medley tune --views all+each --kernel 'rbf(auto) | poly(degree={1,2},norm=diag)' data.csv",
    "numbers instead of labels, by their root mean squared error",
    "medley tune --task regression --loss 'squared,epsilon(0.1)' --C 1..1000 data.csv",
    "probabilities: which loss predicts them best?",
    "medley tune --measure log-loss --loss hinge,logistic --calibrate data.csv",
    "tagged words: epochs and strength of a CRF by the F1 of chunks, the table as a file",
    "medley tune --template chunk --loss logistic --epochs 5,10 --C 1,10 --output t.csv train.txt",
    NULL};

extern const cli_command cli_command_tune;
const cli_command cli_command_tune = {
    .name = "tune",
    .usage = "[--cv K] [--model FILE] [options, any as a list] DATA",
    .summary = "choose options by cross-validation",
    .description =
        "Tries every combination of the training options that are given as lists, each in K folds, "
        "and shows how well the held-out parts are predicted. Values stand between commas (those "
        "in brackets do not count), kernels between bars; of numbers A..B is one value a decade "
        "and A..B:N are N values, evenly in logarithm. Without a list the strength of the penalty "
        "is varied around its default. Folds are the same for all combinations, stratified by "
        "label, drawn by --seed (with seed 1 those of --folds LIST/K); sequences and sentences "
        "stay whole. Kernel values are computed once for all folds if they fit --memory: widths "
        "and scalings are then chosen on all rows, without a look at labels. C means 1/(lambda N) "
        "with the N of a fold. Batch methods such as spicy walk from strong to weak penalties, "
        "each optimum, certified as ever, the start of the next; online methods learn each one "
        "anew, as the final model is learnt. A combination that cannot be learnt is a line with "
        "its reason. Ctrl-C during the tuning ends it without a result.",
    .options = options,
    .groups = CLI_TRAINING | CLI_DATA | CLI_ROWS | CLI_RUN,
    .examples = examples,
    .run = run_tune,
};
