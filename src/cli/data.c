/* SPDX-License-Identifier: BSD-3-Clause */
/* Steps that commands share: reading data (DATA, --view, --gram, --labels, --folds, --sample,
 * --dev,
 * --holdout) and learning a model. */
#include "cli.h"

#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

double cli_clock(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Of predict and eval: train checks its own options. */
static medley_status check_threads(const cli_arguments *arguments, medley_error *error)
{
    enum { MOST_THREADS = 4096 };
    const char *text = cli_value(arguments, "threads");
    size_t count;
    if (text == NULL || (cli_read_count(text, &count) && count <= MOST_THREADS))
        return MEDLEY_OK;
    return cli_refuse(error, "--threads='%s' is not a whole number from 0 to 4096", text);
}

size_t cli_threads(const cli_arguments *arguments)
{
    const char *text = cli_value(arguments, "threads");
    return text ? (size_t)strtoull(text, NULL, 10) : 0;
}

static unsigned long long seed_of(const cli_arguments *arguments)
{
    const char *text = cli_value(arguments, "seed");
    return text ? strtoull(text, NULL, 10) : 1;
}

static bool has_tables_or_grams(const cli_arguments *arguments)
{
    return cli_value(arguments, "view") != NULL || cli_value(arguments, "gram") != NULL ||
           cli_value(arguments, "distance") != NULL;
}

medley_status cli_training_options(const cli_arguments *arguments, medley_options **options,
                                   medley_error *error)
{
    medley_option_info info = MEDLEY_OPTION_INFO_INIT;
    CLI_TRY(medley_options_create(options, error));
    medley_options_set_comm(*options, arguments->comm);
    for (size_t g = 0; g < arguments->given_count; g++)
        if (cli_training_option(arguments->given[g].name, &info))
            CLI_TRY(medley_options_set(*options, arguments->given[g].name,
                                       arguments->given[g].value, error));
    return MEDLEY_OK;
}

static medley_status read_options(const cli_arguments *arguments, const medley_model *model,
                                  medley_read_options *options, medley_error *error)
{
    static const char *const answers[] = {"no", "yes", "auto"};
    *options = (medley_read_options)MEDLEY_READ_OPTIONS_INIT;
    options->format = cli_value(arguments, "format");
    options->label = cli_value(arguments, "label");
    options->ignore_labels = model != NULL && strcmp(arguments->command->name, "predict") == 0 &&
                             !cli_flag(arguments, "constrain");
    options->label_is_optional = /* other tables may have them */
        cli_value(arguments, options->label == NULL ? "labels" : "view") != NULL;
    const char *header = cli_value(arguments, "header");
    if (header == NULL)
        return MEDLEY_OK;
    for (int i = 0; i < 3; i++)
        if (strcmp(header, answers[i]) == 0) {
            options->header = i == 2 ? -1 : i;
            return MEDLEY_OK;
        }
    return cli_refuse(error, "--header='%s' is not yes, no or auto", header);
}

/* --view NAME=FILE[:COLUMNS]. A colon belongs to the file's name if such a file exists. */
/* NOLINTBEGIN(clang-analyzer-unix.Malloc): the analyser does not follow cleanup */
static medley_status add_view(medley_dataset *dataset, const char *text, const medley_model *model,
                              medley_read_options options, medley_error *error)
{
    const char *equals = strchr(text, '=');
    if (equals == NULL || equals == text || equals[1] == '\0')
        return cli_refuse(error, "--view '%s': write NAME=FILE or NAME=FILE:COLUMNS", text);
    CLI_OWNED(free) char *copy = strdup(text);
    if (copy == NULL)
        return cli_error(error, MEDLEY_FAILED, "--view '%s': out of memory", text);
    char *path = copy + (equals - text);
    *path++ = '\0';
    char *colon = strrchr(path, ':');
    if (colon != NULL && access(path, F_OK) != 0) {
        *colon = '\0';
        options.columns = colon + 1;
    }
    return model != NULL ? medley_dataset_add_table_for(dataset, model, copy, path, &options, error)
                         : medley_dataset_add_table(dataset, copy, path, &options, error);
}
/* NOLINTEND(clang-analyzer-unix.Malloc) */

/* [NAME=]FILE of --gram and --distance: medley_dataset_add_gram and its like. */
typedef medley_status adder(medley_dataset *dataset, const char *name, const char *path,
                            medley_error *error);

static medley_status add_matrix(medley_dataset *dataset, adder *add, const char *text,
                                medley_error *error)
{
    const char *equals = strchr(text, '=');
    if (equals == NULL || access(text, F_OK) == 0)
        return add(dataset, NULL, text, error);
    char name[128];
    snprintf(name, sizeof name, "%.*s", (int)(equals - text), text);
    return add(dataset, name, equals + 1, error);
}

static void replace(medley_dataset **dataset, medley_dataset *by)
{
    medley_dataset_free(*dataset);
    *dataset = by;
}

/* Replaces *dataset by a selection of its rows. A model is shown other rows than those that were
 * drawn to train it. */
static medley_status select_rows(const cli_arguments *arguments, const medley_model *model,
                                 medley_dataset **dataset, medley_error *error)
{
    static const unsigned long long APART = 0x6d65646c6579;
    const char *folds = cli_value(arguments, "folds");
    const char *sample = cli_value(arguments, "sample");
    medley_dataset *selected = NULL;
    size_t count = 0;
    if (folds != NULL) {
        CLI_TRY(medley_dataset_folds(&selected, *dataset, folds, error));
        replace(dataset, selected);
    }
    if (sample == NULL)
        return MEDLEY_OK;
    if (!cli_read_count(sample, &count) || count == 0)
        return cli_refuse(error, "--sample='%s' is not a positive whole number", sample);
    CLI_TRY(medley_dataset_sample(&selected, *dataset, count,
                                  seed_of(arguments) + (model != NULL ? APART : 0), error));
    replace(dataset, selected);
    return MEDLEY_OK;
}

/* The file DATA, or held-out data that are like it; without a model numbers are words if templates
 * look at them. */
static medley_status read_file(const cli_arguments *arguments, const medley_model *model,
                               const medley_dataset *like, const char *path,
                               medley_dataset **dataset, medley_error *error)
{
    const char *ignored = cli_value(arguments, "ignore");
    CLI_OWNED(free) char *columns = NULL;
    medley_read_options options;
    CLI_TRY(read_options(arguments, model, &options, error));
    if (ignored != NULL && asprintf(&columns, "!%s", ignored) < 0)
        return cli_error(error, MEDLEY_FAILED, "out of memory");
    options.columns = columns;
    if (model != NULL)
        return medley_dataset_read_for(dataset, model, path, &options, error);
    options.text_columns = cli_value(arguments, "template") != NULL;
    return like != NULL ? medley_dataset_read_like(dataset, like, path, &options, error)
                        : medley_dataset_read(dataset, path, &options, error);
}

static medley_status read_all(const cli_arguments *arguments, const medley_model *model,
                              medley_dataset **dataset, medley_error *error)
{
    medley_read_options options;
    CLI_TRY(read_options(arguments, model, &options, error));
    if (arguments->word_count == 0 && cli_value(arguments, "ignore") != NULL)
        return cli_refuse(error, "--ignore is about columns of DATA, and there is none; leave "
                                 "columns of a view out by --view NAME=FILE:!COLUMNS");
    if (arguments->word_count > 0)
        CLI_TRY(read_file(arguments, model, NULL, arguments->words[0], dataset, error));
    else if (has_tables_or_grams(arguments))
        CLI_TRY(medley_dataset_create(dataset, error));
    else
        return cli_refuse(
            error,
            "no data given: name a file, - for standard input, --view, --gram or --distance");
    const char *text = cli_value(arguments, "storage");
    if (text != NULL && strcmp(text, "float64") == 0)
        medley_dataset_keep_wide(*dataset); /* of --gram: the rest has no more digits to keep */
    options.format = NULL;                  /* --format is about DATA */
    for (size_t i = 0; (text = cli_nth(arguments, "view", i)) != NULL; i++)
        CLI_TRY(add_view(*dataset, text, model, options, error));
    for (size_t i = 0; (text = cli_nth(arguments, "gram", i)) != NULL; i++)
        CLI_TRY(add_matrix(*dataset, medley_dataset_add_gram, text, error));
    for (size_t i = 0; (text = cli_nth(arguments, "distance", i)) != NULL; i++)
        CLI_TRY(add_matrix(*dataset, medley_dataset_add_distances, text, error));
    if ((text = cli_value(arguments, "gram-diagonal")) != NULL)
        CLI_TRY(medley_dataset_add_gram_diagonal(*dataset, text, error));
    if ((text = cli_value(arguments, "labels")) != NULL)
        CLI_TRY(medley_dataset_read_labels(*dataset, text, error));
    if (model == NULL && options.label != NULL && strcmp(options.label, "none") != 0 &&
        medley_dataset_label_count(*dataset) == 0 && text == NULL)
        return cli_refuse(error, "--label %s: no file has a column of that name or number",
                          options.label);
    return select_rows(arguments, model, dataset, error);
}

void cli_warn_of_slow_blas(const cli_arguments *arguments)
{
    if (!arguments->quiet && strcmp(medley_blas(), "reference") == 0)
        fprintf(stderr,
                "medley %s: slow: matrix products come from the reference BLAS; install "
                "OpenBLAS ('apt-get install libopenblas-dev') and build again, or choose it "
                "by update-alternatives\n",
                arguments->command->name);
}

void cli_warn_of_data(cli_sentence warning, const cli_arguments *arguments,
                      const medley_dataset *dataset, const medley_options *options)
{
    cli_sentence sentence;
    medley_fit_warning(sentence, sizeof sentence, dataset, options);
    cli_spoken(warning, sentence);
    if (!arguments->quiet && warning[0] != '\0')
        fprintf(stderr, "medley %s: warning: %s\n", arguments->command->name, warning);
}

/* Many labels that training does not have are most often those of another column. Numbers to be
 * predicted are labels, too, and seldom the same. */
static void warn_of_held_out(cli_sentence warning, const cli_arguments *arguments,
                             const medley_dataset *train, const medley_dataset *dev)
{
    enum { ONE_IN = 20, LEAST_ROWS_OF_A_LABEL = 5, MOST_LABELS = 2000 };
    const size_t labels = medley_dataset_label_count(train);
    const size_t rows = medley_dataset_rows(dev);
    size_t unknown = 0;
    const char *first = NULL;
    if (labels == 0 || labels > MOST_LABELS || medley_dataset_label_count(dev) > MOST_LABELS ||
        labels * LEAST_ROWS_OF_A_LABEL > medley_dataset_rows(train))
        return;
    for (size_t d = 0; d < medley_dataset_label_count(dev); d++) {
        const char *name = medley_dataset_label_name(dev, d);
        size_t l = 0;
        while (l < labels && strcmp(medley_dataset_label_name(train, l), name) != 0)
            l++;
        for (size_t r = 0; l == labels && r < rows; r++)
            unknown += medley_dataset_label(dev, r) == (int32_t)d;
        first = l == labels && first == NULL ? name : first;
    }
    if (warning[0] != '\0' || first == NULL || unknown * ONE_IN <= rows)
        return;
    snprintf(warning, sizeof(cli_sentence),
             "%zu of %zu held-out rows have labels that training does not have, such as '%.60s', "
             "and count as wrong; are the labels in the same column?",
             unknown, rows, first);
    if (!arguments->quiet)
        fprintf(stderr, "medley %s: warning: %s\n", arguments->command->name, warning);
}

void cli_json_warning(FILE *file, const char *warning)
{
    json_strings(file, "warnings", &warning, warning[0] != '\0' ? 1 : 0);
}

medley_status cli_load_data(const cli_arguments *arguments, const medley_model *model,
                            medley_dataset **dataset, medley_error *error)
{
    CLI_OWNED(medley_dataset_free) medley_dataset *read = NULL;
    if (arguments->word_count > 1)
        return cli_refuse(error,
                          "'%s' is one file too many; give one DATA file and others by --view",
                          arguments->words[1]);
    CLI_TRY(check_threads(arguments, error));
    CLI_TRY(read_all(arguments, model, &read, error));
    cli_warn_of_slow_blas(arguments); /* the next step computes */
    *dataset = read;
    read = NULL;
    return MEDLEY_OK;
}

medley_status cli_load_model_and_data(const cli_arguments *arguments, const char *purpose,
                                      medley_model **model, medley_dataset **dataset,
                                      medley_error *error)
{
    const char *path = cli_value(arguments, "model");
    if (path == NULL)
        return cli_refuse(error, "--model FILE is missing: which model %s", purpose);
    CLI_TRY(medley_model_load(model, path, error));
    return cli_load_data(arguments, *model, dataset, error);
}

static medley_status hold_out(const cli_arguments *arguments, cli_training *training,
                              medley_error *error)
{
    const char *text = cli_value(arguments, "holdout");
    medley_dataset *kept = NULL;
    double share;
    if (text == NULL)
        return MEDLEY_OK;
    if (!cli_read_number(text, &share) || !(share > 0 && share < 1))
        return cli_refuse(error, "--holdout='%s' is not a share between 0 and 1, such as 0.2",
                          text);
    CLI_TRY(medley_dataset_split(&kept, &training->held_out, training->train, share,
                                 seed_of(arguments), error));
    replace(&training->train, kept);
    return MEDLEY_OK;
}

medley_status cli_load_training(const cli_arguments *arguments, cli_training *training,
                                medley_error *error)
{
    const double start = cli_clock();
    const char *dev = cli_value(arguments, "dev");
    CLI_TRY(cli_training_options(arguments, &training->options, error));
    CLI_TRY(cli_load_data(arguments, NULL, &training->train, error));
    if (dev != NULL && has_tables_or_grams(arguments))
        return cli_refuse(
            error, "--dev %s is one file and cannot stand for --view or --gram; leave --dev out",
            dev);
    if (dev != NULL)
        CLI_TRY(read_file(arguments, NULL, training->train, dev, &training->dev, error));
    CLI_TRY(hold_out(arguments, training, error));
    training->seconds_read = cli_clock() - start;
    cli_warn_of_data(training->warning, arguments, training->train, training->options);
    if (training->dev != NULL)
        warn_of_held_out(training->warning, arguments, training->train, training->dev);
    return MEDLEY_OK;
}

void cli_training_clear(cli_training *training)
{
    medley_options_free(training->options);
    medley_dataset_free(training->train);
    medley_dataset_free(training->dev);
    medley_dataset_free(training->held_out);
}

medley_status cli_fit(cli_arguments *arguments, medley_model **model, const medley_dataset *train,
                      const medley_dataset *dev, const medley_options *options, const char *path,
                      medley_error *error)
{
    cli_progress progress;
    const medley_observer observer = cli_observe(&progress, arguments);
    const medley_status status = medley_fit(model, train, dev, options, &observer, error);
    cli_progress_end(&progress);
    arguments->interrupted = status == MEDLEY_STOPPED;
    if (arguments->interrupted && medley_model_summary(*model)->epoch_count == 0)
        return cli_error(error, MEDLEY_FAILED,
                         "interrupted before the first epoch was complete; no model was written");
    return status < 0 ? status : medley_model_save(*model, path, error);
}

size_t cli_file_bytes(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 ? (size_t)info.st_size : 0;
}

void cli_json_dataset(const medley_dataset *dataset)
{
    json_count(stdout, "examples", medley_dataset_rows(dataset));
    json_count(stdout, "sequences", medley_dataset_sequences(dataset));
    json_count(stdout, "columns", medley_dataset_columns(dataset));
    json_count(stdout, "labels", medley_dataset_label_count(dataset));
}

void cli_tell_written(const cli_arguments *arguments, const medley_dataset *dataset,
                      const char *output)
{
    if (!arguments->json || output == NULL || strcmp(output, "-") == 0)
        return;
    json_open(stdout, NULL, '{');
    json_string(stdout, "output", output);
    cli_json_dataset(dataset);
    json_end(stdout);
}
