/* SPDX-License-Identifier: BSD-3-Clause */
/* medley tune: choose options by cross-validation, then learn the model. */
#include "cli.h"

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
    bool saved; /* the model */
    cli_sentence warning;
};

static void clear(struct run *run)
{
    medley_dataset_free(run->data);
    medley_options_free(run->options);
    free(run->choices);
    medley_tuning_free(run->tuning);
    medley_model_free(run->model);
}

/* ---- which options are lists ---- */

/* Of an option that is given twice the last one counts, unless it is added to. */
static bool is_overruled(const cli_arguments *arguments, size_t place, bool repeatable)
{
    for (size_t g = place + 1; g < arguments->given_count && !repeatable; g++)
        if (strcmp(arguments->given[g].name, arguments->given[place].name) == 0)
            return true;
    return false;
}

/* Kernels are learnt in the order they are given in, so those after a list stay after it. */
static bool is_varied(const struct run *run, const char *option)
{
    for (size_t c = 0; c < run->choice_count; c++) {
        const char *varied = run->choices[c].option;
        if (varied != NULL && strcmp(varied, option) == 0)
            return true;
    }
    return false;
}

/* A range of one value, 1..1, is one that only choices understand. */
static medley_status set_option(struct run *run, const medley_choice *choice, medley_error *error)
{
    const medley_status status =
        medley_options_set(run->options, choice->option, choice->values, error);
    if (status >= 0 || strstr(choice->values, "..") == NULL)
        return status;
    *error = (medley_error){0};
    run->choices[run->choice_count++] = *choice;
    return MEDLEY_OK;
}

static medley_status sort_options(const cli_arguments *arguments, struct run *run,
                                  medley_error *error)
{
    CLI_TRY(medley_options_create(&run->options, error));
    medley_options_set_comm(run->options, arguments->comm);
    run->choices = calloc(arguments->given_count + 1, sizeof *run->choices);
    if (run->choices == NULL)
        return cli_error(error, MEDLEY_FAILED, "out of memory");
    for (size_t g = 0; g < arguments->given_count; g++) {
        const medley_choice choice = {arguments->given[g].name, arguments->given[g].value};
        medley_option_info info = MEDLEY_OPTION_INFO_INIT;
        if (!cli_training_option(choice.option, &info) ||
            is_overruled(arguments, g, info.repeatable))
            continue;
        size_t values = 1;
        if (info.argument[0] != '\0')
            CLI_TRY(medley_choice_count(&values, &choice, error));
        if (values > 1 || (info.repeatable && is_varied(run, choice.option)))
            run->choices[run->choice_count++] = choice;
        else
            CLI_TRY(set_option(run, &choice, error));
    }
    return MEDLEY_OK;
}

/* ---- steps ---- */

static void tell_default(const cli_arguments *arguments)
{
    const bool given = cli_value(arguments, "C") != NULL ||
                       cli_value(arguments, "lambda") != NULL ||
                       cli_value(arguments, "spicy-C") != NULL;
    fprintf(stderr,
            "no option is given as a list: the strength of the penalty is varied around %s; "
            "--C 0.1,1,10 would say which values\n",
            given ? "the value given" : "its default");
}

static medley_status tune(cli_arguments *arguments, struct run *run, size_t folds,
                          medley_error *error)
{
    medley_tune_options how = MEDLEY_TUNE_OPTIONS_INIT;
    how.folds = folds;
    how.measure = cli_value(arguments, "measure");
    if (run->choice_count == 0 && !arguments->quiet)
        tell_default(arguments);
    cli_progress progress;
    const medley_observer observer = cli_observe(&progress, arguments);
    const medley_status status = medley_tune(&run->tuning, run->data, run->options, run->choices,
                                             run->choice_count, &how, &observer, error);
    cli_progress_end(&progress);
    arguments->interrupted = status == MEDLEY_STOPPED;
    if (arguments->interrupted && run->tuning == NULL)
        return cli_error(
            error, MEDLEY_FAILED,
            "interrupted before a combination was learnt and measured; there is no result");
    CLI_TRY(status);
    const char *rule = cli_value(arguments, "choose");
    run->chosen =
        rule != NULL && strcmp(rule, "one-error") == 0 ? run->tuning->one_error : run->tuning->best;
    return MEDLEY_OK;
}

static medley_status fit(cli_arguments *arguments, struct run *run, const char *path,
                         medley_error *error)
{
    CLI_OWNED(medley_options_free) medley_options *options = NULL;
    CLI_TRY(medley_tuning_options(&options, run->tuning, run->chosen, run->options, error));
    medley_options_set_comm(options, arguments->comm);
    CLI_TRY(cli_fit(arguments, &run->model, run->data, NULL, options, path, error));
    run->saved = true;
    run->model_bytes = cli_file_bytes(path);
    return MEDLEY_OK;
}

static medley_status write_report(const cli_arguments *arguments, const struct run *run,
                                  const char *path, medley_error *error)
{
    medley_report_options options = MEDLEY_REPORT_OPTIONS_INIT;
    CLI_CLEARED(cli_provenance_clear) cli_provenance provenance = {0};
    char name[CLI_NAME_BYTES];
    options.tuning = run->tuning;
    options.data_name = cli_data_name(name, arguments);
    options.threads = cli_threads(arguments);
    CLI_TRY(cli_tell_provenance(&options, &provenance, arguments, NULL, error));
    return medley_report_write(run->model, path, &options, error);
}

/* ---- results ---- */

/* error: the one that came after the tuning; NULL: none did. */
static void print_json(const cli_arguments *arguments, const struct run *run,
                       const medley_error *error)
{
    json_open(stdout, NULL, '{');
    cli_json_tuning(run->tuning);
    json_count(stdout, "chosen", run->chosen);
    json_bool(stdout, "interrupted", arguments->interrupted);
    cli_json_warning(stdout, run->warning);
    json_open(stdout, "seconds", '{');
    json_number(stdout, "read", run->seconds_read);
    json_number(stdout, "kernels", run->tuning->seconds_kernels);
    json_number(stdout, "tune", run->tuning->seconds_total);
    json_number(stdout, "total", run->seconds_total);
    json_close(stdout, '}');
    if (run->saved) {
        const cli_device device = cli_device_of(run->model);
        json_open(stdout, "model", '{');
        json_string(stdout, "file", cli_value(arguments, "model"));
        cli_json_model(run->model);
        cli_json_device(stdout, &device);
        json_count(stdout, "model_bytes", run->model_bytes);
        json_bool(stdout, "interrupted", arguments->interrupted);
        json_close(stdout, '}');
    }
    if (error != NULL)
        cli_json_error(error); /* within the one object that there is */
    json_end(stdout);
}

static void print_choice(const struct run *run, const char *what, size_t trial)
{
    char mean[CLI_MEASURE_BYTES];
    printf("%s", what);
    cli_print_trial(stdout, run->tuning, trial);
    printf(" (%s %s)\n", run->tuning->measure,
           cli_measure(mean, run->tuning->higher_is_better, run->tuning->trials[trial].mean));
}

static void print_model(const struct run *run, const char *path, bool interrupted)
{
    const medley_summary *s = medley_model_summary(run->model);
    const cli_device device = cli_device_of(run->model);
    printf("\nthe model, learnt from all of the data with ");
    cli_print_trial(stdout, run->tuning, run->chosen);
    printf(":\n");
    cli_print_model(stdout, run->model);
    printf("\nkernels %.2f s, training %.2f s\n", s->seconds_kernels, s->seconds_train);
    cli_print_device(&device);
    cli_print_saved(stdout, s, path, run->model_bytes, interrupted);
}

static void print_tuning(const struct run *run)
{
    const medley_tuning *tuning = run->tuning;
    const size_t sequences = medley_dataset_sequences(run->data);
    const size_t units = sequences > 0 ? sequences : medley_dataset_rows(run->data);
    printf("%zu combinations, %zu folds, %zu %s\n\n", tuning->trial_count, tuning->fold_count,
           units, sequences > 0 ? "sequences" : "rows");
    cli_print_tuning(stdout, tuning);
    printf("\n");
    print_choice(run, "best: ", tuning->best);
    if (tuning->one_error != tuning->best)
        print_choice(run, "simplest within one standard error: ", tuning->one_error);
    printf("read %.2f s, tuning %.2f s, %zu threads\n", run->seconds_read, tuning->seconds_total,
           tuning->threads);
    fflush(stdout);
}

/* ---- the command ---- */

static medley_status check_arguments(const cli_arguments *arguments, size_t *folds,
                                     medley_error *error)
{
    const char *rule = cli_value(arguments, "choose");
    CLI_TRY(cli_count(arguments, "cv", folds, error));
    if (rule != NULL && strcmp(rule, "best") != 0 && strcmp(rule, "one-error") != 0)
        return cli_refuse(error, "--choose='%s' is not best or one-error", rule);
    return cli_check_writable(arguments, error);
}

/* Where no table tells what went wrong. */
static void print_failures(const struct run *run)
{
    cli_sentence sentence;
    for (size_t t = 0; t < run->tuning->trial_count; t++) {
        if (run->tuning->trials[t].problem == NULL)
            continue;
        fprintf(stderr, "medley tune: ");
        cli_print_trial(stderr, run->tuning, t);
        fprintf(stderr, " failed: %s\n", cli_spoken(sentence, run->tuning->trials[t].problem));
    }
}

/* What follows the tuning, whose table is printed at once: this may take long, or fail. */
static medley_status use_result(cli_arguments *arguments, struct run *run, size_t folds,
                                medley_error *error)
{
    const bool stopped = arguments->interrupted; /* then the table is all there is */
    const char *model = stopped ? NULL : cli_value(arguments, "model");
    const char *table = cli_value(arguments, "output");
    const char *report = cli_value(arguments, "report");
    const bool silent = arguments->json || cli_is_silent(arguments);
    if (!silent)
        print_tuning(run);
    else if (!arguments->json)
        print_failures(run);
    if (stopped && !arguments->json)
        printf("interrupted: this is what was finished, in %zu of %zu folds; no model is learnt\n",
               run->tuning->fold_count, folds);
    if (table != NULL)
        CLI_TRY(cli_write_text(table, cli_csv_tuning, run->tuning, error));
    if (model != NULL)
        CLI_TRY(fit(arguments, run, model, error));
    if (model != NULL && !silent)
        print_model(run, model, arguments->interrupted);
    return report != NULL ? write_report(arguments, run, report, error) : MEDLEY_OK;
}

/* NOLINTBEGIN(clang-analyzer-unix.Malloc): the analyser does not follow cleanup */
static medley_status run_tune(cli_arguments *arguments, medley_error *error)
{
    CLI_CLEARED(clear) struct run run = {0};
    size_t folds = 5;
    CLI_TRY(check_arguments(arguments, &folds, error));
    cli_catch_interrupt(arguments);
    const double start = cli_clock();
    CLI_TRY(sort_options(arguments, &run, error));
    CLI_TRY(cli_load_data(arguments, NULL, &run.data, error));
    run.seconds_read = cli_clock() - start;
    if (!is_varied(&run, "scale"))
        cli_warn_of_data(run.warning, arguments, run.data, run.options);
    CLI_TRY(tune(arguments, &run, folds, error));
    const medley_status status = use_result(arguments, &run, folds, error);
    run.seconds_total = cli_clock() - start;
    if (arguments->json)
        print_json(arguments, &run, status < 0 ? error : NULL);
    arguments->json = false; /* an error stands in that object already */
    return status;
}
/* NOLINTEND(clang-analyzer-unix.Malloc) */

static const cli_option options[] = {
    {"cv", "K", "5", "folds: each part is predicted by a model of the others", .group = "tuning"},
    {"measure", "NAME", "",
     "what is best: accuracy, f1 (of chunks), log-loss, exact-match (of sequences), rmse, uas, "
     "las; default: rmse of a regression, f1 where labels are those of chunks, las or uas of "
     "trees, else accuracy",
     .group = "tuning"},
    {"choose", "best|one-error", "best",
     "values of the model: those of the best mean, or of the strongest penalty (else the fewest "
     "blocks) within one standard error of it",
     .group = "tuning"},
    {"model", "FILE", "", "learn a model from all of the data with the chosen values",
     .group = "output"},
    {"output", "FILE.csv", "", "write the table, with the measure of every fold",
     .group = "output"},
    {"report", "FILE.html", "", "write a report with the table and the model", .group = "output"},
    {0}};

static const char *const examples[] = {
    "how strong should the penalty be? one value per decade",
    "medley tune --C 0.01..100 sonar.csv.gz",
    "the same in ten folds; keep the model of the strongest penalty that does as well",
    "medley tune --cv 10 --C 0.01..100:9 --choose one-error --model m.medley sonar.csv.gz",
    "two options at once: every combination of three penalties and four strengths",
    "medley tune --penalty 'group-lasso,elastic(t=0.5),block(q=1.5)' --C 0.1,1,10,100 data.csv",
    "banks of kernels against each other: alternatives stand between bars",
    "medley tune --views all+each --kernel 'rbf(auto) | poly(degree={1,2},norm=diag)' data.csv",
    "a regression, by its root mean squared error",
    "medley tune --task regression --loss 'squared,epsilon(0.1)' --C 1..1000 data.csv",
    "probabilities: which loss predicts them best?",
    "medley tune --measure log-loss --loss hinge,logistic --calibrate data.csv",
    "tagged words: epochs and strength of a CRF by the F1 of chunks, the table as a file",
    "medley tune --template chunk --loss logistic --epochs 5,10 --C 1,10 --output t.csv train.txt",
    NULL};

const cli_command cli_command_tune = {
    .name = "tune",
    .usage = "[--cv K] [options, any as a list] DATA [MODEL.medley]",
    .summary = "choose options by cross-validation",
    .description =
        "Tries every combination of the training options that are given as lists, each in K folds, "
        "and shows how well the held-out parts are predicted. Values stand between commas (those "
        "in brackets do not count), kernels between bars; A..B gives one value per decade "
        "and A..B:N gives N values, evenly spaced in the logarithm. Without a list the strength of "
        "the penalty "
        "is varied around its default, or around the value given. Folds are the same for all "
        "combinations, stratified by "
        "label, drawn by --seed (with seed 1 those of --folds LIST/K); sequences and sentences "
        "stay whole. A fold is what train makes of its training rows alone: widths, scalings and "
        "means come from them, so the table does not depend on --memory or --threads. C means "
        "1/(lambda N) "
        "with the N of a fold. Batch methods such as spicy walk from strong to weak penalties, "
        "each optimum, certified as ever, the start of the next: fold scores are those of optima "
        "within --gap, and can move a little with the other values of a list. Online methods "
        "learn each one anew, as the final model is learnt. A combination that cannot be learnt is "
        "a line with its reason. Ctrl-C shows what was finished.",
    .options = options,
    .groups = CLI_TRAINING | CLI_DATA | CLI_ROWS | CLI_RUN,
    .model = CLI_WRITES_MODEL,
    .together = true,
    .examples = examples,
    .run = run_tune,
};
