/* SPDX-License-Identifier: BSD-3-Clause */
/* medley train: learn a model. */
#include "cli.h"

struct run {
    cli_training given;
    medley_model *model;
    medley_evaluation evaluation; /* on the held-out rows */
    double seconds_total;
    size_t model_bytes;
    const char *report; /* where it was written; NULL: nowhere */
    const medley_comm *comm;
};

static void clear(struct run *run)
{
    cli_training_clear(&run->given);
    medley_model_free(run->model);
    medley_evaluation_clear(&run->evaluation);
}

static void print_json(const struct run *run, bool interrupted)
{
    const medley_summary *s = medley_model_summary(run->model);
    const cli_device device = cli_device_of(run->model);
    json_open(stdout, NULL, '{');
    cli_json_model(run->model);
    json_open(stdout, "seconds", '{');
    json_number(stdout, "read", run->given.seconds_read);
    json_number(stdout, "kernels", s->seconds_kernels);
    json_number(stdout, "train", s->seconds_train);
    json_number(stdout, "total", run->seconds_total);
    json_close(stdout, '}');
    json_number(stdout, "peak_rss_mb", s->peak_rss_mb);
    json_count(stdout, "model_bytes", run->model_bytes);
    json_count(stdout, "support_rows", s->support_rows);
    json_count(stdout, "seed", (size_t)s->seed);
    json_count(stdout, "threads", s->threads);
    cli_json_ranks(run->comm);
    cli_json_device(stdout, &device);
    json_string(stdout, "blas", medley_blas());
    json_bool(stdout, "converged", s->converged);
    json_bool(stdout, "interrupted", interrupted);
    cli_json_warning(stdout, run->given.warning);
    if (run->report != NULL)
        json_string(stdout, "report", run->report);
    const medley_evaluation *e = run->given.held_out != NULL ? &run->evaluation : NULL;
    if (e != NULL && isnan(e->accuracy)) { /* regression */
        json_number(stdout, "holdout_rmse", e->rmse);
        json_number(stdout, "holdout_r2", e->r2);
    } else if (e != NULL) {
        json_number(stdout, "holdout_accuracy", e->accuracy);
        if (!isnan(e->las))
            json_number(stdout, "holdout_las", e->las);
    }
    json_end(stdout);
}

static void print_held_out(const struct run *run)
{
    const medley_evaluation *e = &run->evaluation;
    if (!isnan(e->accuracy)) { /* NaN for regression */
        printf("\naccuracy on the %zu held-out rows: %.2f %%", e->parts, 100 * e->accuracy);
        if (!isnan(e->las))
            printf(" (right heads), LAS %.2f %%", 100 * e->las);
        printf("\n");
        return;
    }
    printf("\non the %zu held-out rows: ", e->parts);
    cli_print_fit(stdout, e);
    printf("\n");
}

static void print_text(const struct run *run, const char *path, bool interrupted)
{
    const medley_summary *s = medley_model_summary(run->model);
    const cli_device device = cli_device_of(run->model);
    cli_print_model(stdout, run->model);
    if (run->given.held_out != NULL)
        print_held_out(run);
    printf("\nread %.2f s, kernels %.2f s, training %.2f s, total %.2f s; peak memory %.0f MB\n",
           run->given.seconds_read, s->seconds_kernels, s->seconds_train, run->seconds_total,
           s->peak_rss_mb);
    cli_print_ranks(run->comm);
    cli_print_device(&device);
    cli_print_saved(stdout, s, path, run->model_bytes, interrupted);
    if (run->report != NULL)
        printf("report written to %s\n", run->report);
}

/* Did --dev choose the epoch whose model was kept? */
static bool dev_chose(const medley_summary *s)
{
    for (size_t e = 0; e < s->epoch_count; e++)
        if (!isnan(s->epochs[e].dev_accuracy))
            return true;
    return false;
}

/* What was learnt, measured on data that were held out, if there are any. */
static medley_status write_report(const cli_arguments *arguments, struct run *run,
                                  medley_error *error)
{
    const char *path = cli_value(arguments, "report");
    const cli_training *given = &run->given;
    char title[CLI_NAME_BYTES];
    char name[CLI_NAME_BYTES];
    medley_report_options options = MEDLEY_REPORT_OPTIONS_INIT;
    CLI_CLEARED(cli_provenance_clear) cli_provenance provenance = {0};
    options.title = cli_report_name(title, cli_value(arguments, "model"));
    options.data = given->held_out != NULL ? given->held_out : given->dev;
    options.data_name = given->held_out != NULL ? cli_held_out_name(name, arguments)
                        : given->dev != NULL    ? cli_report_name(name, cli_value(arguments, "dev"))
                                                : cli_data_name(name, arguments);
    options.data_chose = given->held_out == NULL && given->dev != NULL &&
                         dev_chose(medley_model_summary(run->model));
    options.threads = cli_threads(arguments);
    CLI_TRY(cli_tell_provenance(&options, &provenance, arguments, NULL, error));
    CLI_TRY(medley_report_write(run->model, path, &options, error));
    run->report = path;
    return MEDLEY_OK;
}

/* A model without a block looks like any other until it predicts. */
static void warn_of_nothing(struct run *run, const cli_arguments *arguments)
{
    static const char nothing[] = "every block was left out: the model predicts the same for every "
                                  "row; a weaker penalty (larger "
                                  "--C) or other kernels may help, if neither the columns nor the "
                                  "labels are constant";
    const medley_summary *s = medley_model_summary(run->model);
    if (s->block_count == 0 || s->active_blocks > 0 || arguments->interrupted)
        return;
    if (!arguments->quiet)
        fprintf(stderr, "medley train: warning: %s\n", nothing);
    if (run->given.warning[0] == '\0')
        snprintf(run->given.warning, sizeof run->given.warning, "%s", nothing);
}

static medley_status run_train(cli_arguments *arguments, medley_error *error)
{
    const char *path = cli_value(arguments, "model");
    CLI_CLEARED(clear)
    struct run run = {.evaluation = MEDLEY_EVALUATION_INIT, .comm = arguments->comm};
    const cli_training *given = &run.given;
    const double start = cli_clock();
    if (path == NULL && arguments->word_count > 1)
        return cli_refuse(
            error,
            "--model FILE is missing: where to write the model ('%s' is not taken for "
            "it, since its name does not end in .medley)",
            arguments->words[arguments->word_count - 1]);
    if (path == NULL)
        return cli_refuse(error, "--model FILE is missing: where to write the model");
    CLI_TRY(cli_check_writable(arguments, error));
    cli_catch_interrupt(arguments);
    CLI_TRY(cli_load_training(arguments, &run.given, error));
    CLI_TRY(cli_fit(arguments, &run.model, given->train, given->dev, given->options, path, error));
    warn_of_nothing(&run, arguments);
    if (given->held_out != NULL)
        CLI_TRY(medley_evaluate(&run.evaluation, run.model, given->held_out, cli_threads(arguments),
                                error));
    if (cli_value(arguments, "report") != NULL)
        CLI_TRY(write_report(arguments, &run, error));
    run.model_bytes = cli_file_bytes(path);
    run.seconds_total = cli_clock() - start;
    if (arguments->json)
        print_json(&run, arguments->interrupted);
    else if (!arguments->quiet)
        print_text(&run, path, arguments->interrupted);
    return MEDLEY_OK;
}

static const cli_option options[] = {
    {"model", "FILE", "", "where the model is written", .group = "output"},
    {"dev", "FILE", "", "held-out data for early stopping: the best epoch's model is kept",
     .group = "data", .brief = "held-out data for early stopping"},
    {"holdout", "SHARE", "", "keep this share of the rows apart and report the accuracy on them",
     .group = "data", .brief = "keep this share of the rows apart to measure on"},
    {"report", "FILE.html", "",
     "also write a report to look at: weights, training, and on held-out data errors and examples",
     .group = "output", .brief = "also write a report to look at in a browser"},
    {0}};

static const char *const examples[] = {
    "linear, quadratic and Gaussian kernels and a bias, learnt together",
    "medley train --model sonar.medley --scale standard sonar.csv.gz",
    "one Gaussian per view of the same objects, accuracy on a held-out fifth",
    "medley train --model m.medley --view a=a.csv --view b=b.csv --kernel rbf --holdout 0.2",
    "with a report to look at in a browser",
    "medley train --model m.medley --holdout 0.2 --report m.html data.csv",
    "a bank of kernels on every variable, sparse mixing",
    "medley train --model m.medley --views all+each --kernel 'rbf(sigma={0.5,1,2..5})' data.csv",
    "a regression, the optimum certified within a millionth",
    "medley train --model m.medley --task regression --gap 1e-6 --kernel rbf data.csv",
    "probabilities that can be trusted, for predict --proba",
    "medley train --model m.medley --calibrate data.csv",
    "tagged words with CRF++'s or Wapiti's templates, as a CRF",
    "medley train --model chunk.medley --template my.template --loss logistic train.txt",
    "again with the ten templates that mattered most in a first model",
    "medley train --model ten.medley --template my.template --from all.medley --keep 10 train.txt",
    "handwritten words: kernels on sequences, labels that look back on two others",
    "medley train --model w.medley --views 'center/blur(0.5)/orient' --order 2 letter.data.gz",
    "precomputed kernels, no data file",
    "medley train --model m.medley --gram K.npy --labels y.npy",
    NULL};

const cli_command cli_command_train = {
    .name = "train",
    .usage = "[options] [DATA] MODEL.medley",
    .summary = "learn a model: a predictor and the weights of its kernels",
    .description =
        "Learns a predictor from labelled data (rows, or sequences of them) and many kernels or "
        "feature templates at once, and how much weight each of them deserves. DATA is a file in "
        "any known format (gzip too), - is standard input. "
        "Ctrl-C finishes the current epoch or iteration and saves the model; a second one quits. "
        "Started by mpirun, several processes learn one model together.",
    .options = options,
    .groups = CLI_TRAINING | CLI_DATA | CLI_ROWS | CLI_RUN,
    .model = CLI_WRITES_MODEL,
    .together = true,
    .examples = examples,
    .run = run_train,
};
