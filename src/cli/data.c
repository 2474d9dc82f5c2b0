/* SPDX-License-Identifier: BSD-3-Clause */
/* What the commands that read data share: DATA, --view, --gram, --labels, --folds, --sample. */
#include "cli.h"

#include <stdlib.h>
#include <string.h>
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
    if (text == NULL)
        return MEDLEY_OK;
    char *end;
    const unsigned long long count = strtoull(text, &end, 10);
    if (text[0] >= '0' && text[0] <= '9' && *end == '\0' && count <= MOST_THREADS)
        return MEDLEY_OK;
    return cli_error(error, MEDLEY_USAGE, "--threads='%s' is not a whole number from 0 to 4096",
                     text);
}

size_t cli_threads(const cli_arguments *arguments)
{
    const char *text = cli_value(arguments, "threads");
    return text ? (size_t)strtoull(text, NULL, 10) : 0;
}

medley_status cli_training_options(const cli_arguments *arguments, medley_options **options,
                                   medley_error *error)
{
    medley_status status = medley_options_create(options, error);
    for (size_t g = 0; status >= 0 && g < arguments->given_count; g++) {
        const struct cli_given *given = &arguments->given[g];
        medley_option_info info = MEDLEY_OPTION_INFO_INIT;
        for (size_t i = 0; medley_option_describe(&info, i); i++)
            if (strcmp(info.name, given->name) == 0)
                status = medley_options_set(*options, given->name, given->value, error);
    }
    return status;
}

static medley_status read_options(const cli_arguments *arguments, const medley_model *model,
                                  medley_read_options *options, medley_error *error)
{
    static const char *const answers[] = {"no", "yes", "auto"};
    *options = (medley_read_options)MEDLEY_READ_OPTIONS_INIT;
    options->format = cli_value(arguments, "format");
    options->label = cli_value(arguments, "label");
    const char *header = cli_value(arguments, "header");
    if (header == NULL)
        header = "auto";
    for (int i = 0; i < 3; i++)
        if (strcmp(header, answers[i]) == 0) {
            options->header = i == 2 ? -1 : i;
            options->ignore_labels = model != NULL &&
                                     strcmp(arguments->command->name, "predict") == 0 &&
                                     !cli_flag(arguments, "constrain");
            return MEDLEY_OK;
        }
    return cli_error(error, MEDLEY_USAGE, "--header='%s' is not yes, no or auto", header);
}

/* --view NAME=FILE[:COLUMNS]. A colon belongs to the file's name if such a file exists. */
static medley_status add_view(medley_dataset *dataset, const char *text, const medley_model *model,
                              medley_read_options options, medley_error *error)
{
    const char *equals = strchr(text, '=');
    if (equals == NULL || equals == text || equals[1] == '\0')
        return cli_error(error, MEDLEY_USAGE, "--view '%s': write NAME=FILE or NAME=FILE:COLUMNS",
                         text);
    char *copy = strdup(text);
    if (copy == NULL)
        return cli_error(error, MEDLEY_USAGE, "--view '%s': out of memory", text);
    char *path = copy + (equals - text);
    *path++ = '\0';
    char *colon = strrchr(path, ':');
    if (colon != NULL && access(path, F_OK) != 0) {
        *colon = '\0';
        options.columns = colon + 1;
    }
    if (model != NULL)
        options.feature_count = medley_model_columns(model, copy);
    const medley_status status = medley_dataset_add_table(dataset, copy, path, &options, error);
    free(copy);
    return status;
}

/* --gram [NAME=]FILE. */
static medley_status add_gram(medley_dataset *dataset, const char *text, medley_error *error)
{
    const char *equals = strchr(text, '=');
    if (equals == NULL || access(text, F_OK) == 0)
        return medley_dataset_add_gram(dataset, NULL, text, error);
    char name[128];
    snprintf(name, sizeof name, "%.*s", (int)(equals - text), text);
    return medley_dataset_add_gram(dataset, name, equals + 1, error);
}

/* Replaces *dataset by a selection of its rows. */
static medley_status select_rows(const cli_arguments *arguments, medley_dataset **dataset,
                                 medley_error *error)
{
    const char *folds = cli_value(arguments, "folds");
    const char *sample = cli_value(arguments, "sample");
    const char *seed = cli_value(arguments, "seed");
    medley_dataset *selected = NULL;
    medley_status status = MEDLEY_OK;
    if (folds != NULL) {
        status = medley_dataset_folds(&selected, *dataset, folds, error);
        if (status < 0)
            return status;
        medley_dataset_free(*dataset);
        *dataset = selected;
    }
    if (sample == NULL)
        return status;
    char *end;
    const unsigned long long count = strtoull(sample, &end, 10);
    if (end == sample || *end != '\0' || sample[0] == '-' || count == 0)
        return cli_error(error, MEDLEY_USAGE, "--sample='%s' is not a positive whole number",
                         sample);
    status = medley_dataset_sample(&selected, *dataset, (size_t)count,
                                   seed ? strtoull(seed, NULL, 10) : 1, error);
    if (status < 0)
        return status;
    medley_dataset_free(*dataset);
    *dataset = selected;
    return status;
}

static medley_status read_all(const cli_arguments *arguments, const medley_model *model,
                              medley_dataset **dataset, medley_error *error)
{
    medley_read_options options;
    medley_status status = read_options(arguments, model, &options, error);
    if (status < 0)
        return status;
    const char *path = arguments->word_count > 0 ? arguments->words[0] : NULL;
    if (path != NULL) {
        medley_read_options first = options;
        first.text_columns = model == NULL && cli_value(arguments, "template") != NULL;
        status = model != NULL ? medley_dataset_read_for(dataset, model, path, &first, error)
                               : medley_dataset_read(dataset, path, &first, error);
    } else if (cli_nth(arguments, "view", 0) != NULL || cli_nth(arguments, "gram", 0) != NULL) {
        status = medley_dataset_create(dataset, error);
    } else {
        return cli_error(error, MEDLEY_USAGE,
                         "no data given: name a file, - for standard input, --view or --gram");
    }
    const char *text = cli_value(arguments, "storage");
    if (status >= 0 && text != NULL && strcmp(text, "float64") == 0)
        medley_dataset_keep_wide(*dataset); /* of --gram: the rest has no more digits to keep */
    options.format = NULL;                  /* --format is about DATA */
    for (size_t i = 0; status >= 0 && (text = cli_nth(arguments, "view", i)) != NULL; i++)
        status = add_view(*dataset, text, model, options, error);
    for (size_t i = 0; status >= 0 && (text = cli_nth(arguments, "gram", i)) != NULL; i++)
        status = add_gram(*dataset, text, error);
    if (status >= 0 && (text = cli_value(arguments, "gram-diagonal")) != NULL)
        status = medley_dataset_add_gram_diagonal(*dataset, text, error);
    if (status >= 0 && (text = cli_value(arguments, "labels")) != NULL)
        status = medley_dataset_read_labels(*dataset, text, error);
    if (status >= 0)
        status = select_rows(arguments, dataset, error);
    return status;
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

medley_status cli_load_data(const cli_arguments *arguments, const medley_model *model,
                            medley_dataset **dataset, medley_error *error)
{
    *dataset = NULL;
    if (arguments->word_count > 1)
        return cli_error(error, MEDLEY_USAGE,
                         "'%s' is one file too many; give one DATA file and others by --view",
                         arguments->words[1]);
    medley_status status = check_threads(arguments, error);
    if (status >= 0)
        status = read_all(arguments, model, dataset, error);
    if (status < 0) {
        medley_dataset_free(*dataset);
        *dataset = NULL;
        return status;
    }
    cli_warn_of_slow_blas(arguments); /* who reads data computes next */
    return status;
}

static medley_status load_dev(const cli_arguments *arguments, const char *path,
                              medley_dataset **dataset, medley_error *error)
{
    medley_read_options options;
    if (cli_nth(arguments, "view", 0) != NULL || cli_nth(arguments, "gram", 0) != NULL)
        return cli_error(
            error, MEDLEY_USAGE,
            "--dev %s is one file and cannot stand for --view or --gram; leave --dev out", path);
    const medley_status status = read_options(arguments, NULL, &options, error);
    return status < 0 ? status : medley_dataset_read(dataset, path, &options, error);
}

static medley_status hold_out(const cli_arguments *arguments, medley_dataset **train,
                              medley_dataset **held_out, medley_error *error)
{
    const char *text = cli_value(arguments, "holdout");
    const char *seed = cli_value(arguments, "seed");
    if (text == NULL)
        return MEDLEY_OK;
    char *end;
    const double share = strtod(text, &end);
    if (end == text || *end != '\0' || !(share > 0 && share < 1))
        return cli_error(error, MEDLEY_USAGE,
                         "--holdout='%s' is not a share between 0 and 1, such as 0.2", text);
    medley_dataset *kept = NULL;
    const medley_status status = medley_dataset_split(&kept, held_out, *train, share,
                                                      seed ? strtoull(seed, NULL, 10) : 1, error);
    if (status >= 0) {
        medley_dataset_free(*train);
        *train = kept;
    }
    return status;
}

medley_status cli_load_training(const cli_arguments *arguments, medley_options **options,
                                medley_dataset **train, medley_dataset **dev,
                                medley_dataset **held_out, double *seconds, medley_error *error)
{
    const double start = cli_clock();
    const char *path = cli_value(arguments, "dev");
    medley_status status = cli_training_options(arguments, options, error);
    if (status >= 0)
        status = cli_load_data(arguments, NULL, train, error);
    if (status >= 0 && path != NULL)
        status = load_dev(arguments, path, dev, error);
    if (status >= 0)
        status = hold_out(arguments, train, held_out, error);
    *seconds = cli_clock() - start;
    return status;
}

size_t cli_file_bytes(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 ? (size_t)info.st_size : 0;
}

int cli_end_writing(const cli_arguments *arguments, medley_status status, medley_dataset *dataset,
                    const char *output, const medley_error *error)
{
    const int code = status < 0 ? cli_fail(arguments, error) : CLI_OK;
    if (status >= 0 && arguments->json && output != NULL && strcmp(output, "-") != 0) {
        json_open(stdout, NULL, '{');
        json_string(stdout, "output", output);
        json_count(stdout, "examples", medley_dataset_rows(dataset));
        json_count(stdout, "sequences", medley_dataset_sequences(dataset));
        json_count(stdout, "columns", medley_dataset_columns(dataset));
        json_count(stdout, "labels", medley_dataset_label_count(dataset));
        json_end(stdout);
    }
    medley_dataset_free(dataset);
    return code;
}
