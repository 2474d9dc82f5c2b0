/* SPDX-License-Identifier: BSD-3-Clause */
/* medley report: what a model has learnt, as one HTML file. */
#include "cli.h"

#include <stdarg.h>

enum { PATH_BYTES = 4096 };

/* The model's file with another ending: wave.medley, wave.html. */
static const char *default_output(char output[PATH_BYTES], const char *model)
{
    static const char ending[] = ".medley";
    const size_t length = strlen(model);
    const size_t kept = length > strlen(ending) ? length - strlen(ending) : length;
    const bool known = strcmp(model + kept, ending) == 0;
    snprintf(output, PATH_BYTES, "%.*s.html", (int)(known ? kept : length), model);
    return output;
}

static medley_status load_data(const cli_arguments *arguments, const medley_model *model,
                               medley_dataset **data, medley_error *error)
{
    if (arguments->word_count == 0 && cli_value(arguments, "view") == NULL &&
        cli_value(arguments, "gram") == NULL && cli_value(arguments, "distance") == NULL)
        return MEDLEY_OK;
    return cli_load_data(arguments, model, data, error);
}

/* File number i of the data: DATA, then those of --view, --gram and --distance; NULL after the
 * last. */
static const char *data_file(const cli_arguments *arguments, size_t i)
{
    static const char *const options[] = {"view", "gram", "distance"};
    const char *text = NULL;
    if (arguments->word_count > 0 && i-- == 0)
        return arguments->words[0];
    for (size_t o = 0; text == NULL && o < sizeof options / sizeof *options; o++) {
        size_t count = 0;
        while (count <= i && cli_nth(arguments, options[o], count) != NULL)
            count++;
        text = count > i ? cli_nth(arguments, options[o], i) : NULL;
        i -= text == NULL ? count : 0;
    }
    const char *equals = text != NULL ? strchr(text, '=') : NULL;
    return equals != NULL ? equals + 1 : text;
}

/* What has no room is left out. */
static void __attribute__((format(printf, 3, 4)))
add(char *text, size_t size, const char *format, ...)
{
    const size_t length = strlen(text);
    va_list list;
    va_start(list, format);
    vsnprintf(text + length, size - length, format, list);
    va_end(list);
}

/* "letter.data.gz (folds 1-9)", "a.csv, b.csv". */
static void name_data(const cli_arguments *arguments, char *text, size_t size)
{
    enum { MOST_NAMED = 4 };
    char name[CLI_NAME_BYTES];
    const char *path;
    const char *folds = cli_value(arguments, "folds");
    const char *sample = cli_value(arguments, "sample");
    size_t count = 0;
    text[0] = '\0';
    for (; (path = data_file(arguments, count)) != NULL; count++)
        if (count < MOST_NAMED)
            add(text, size, "%s%s", count > 0 ? ", " : "",
                strcmp(path, "-") == 0 ? "standard input" : cli_report_name(name, path));
    if (count > MOST_NAMED)
        add(text, size, " and %zu more", count - MOST_NAMED);
    if (folds != NULL || sample != NULL)
        add(text, size, " (%s%s%s%s%s)", folds ? "folds " : "", folds ? folds : "",
            folds && sample ? ", " : "", sample ? sample : "", sample ? " drawn at random" : "");
}

static void tell(const cli_arguments *arguments, const char *output)
{
    const size_t bytes = cli_file_bytes(output);
    if (strcmp(output, "-") == 0 || (arguments->quiet && !arguments->json))
        return;
    if (cli_is_standard_output(output)) { /* where the report is */
        fprintf(stderr, "report written to %s\n", output);
        return;
    }
    if (!arguments->json) {
        printf("report written to %s (%.4g kB)\n", output, (double)bytes / 1e3);
        return;
    }
    json_open(stdout, NULL, '{');
    json_string(stdout, "output", output);
    json_count(stdout, "bytes", bytes);
    json_end(stdout);
}

static medley_status run_report(cli_arguments *arguments, medley_error *error)
{
    CLI_OWNED(medley_model_free) medley_model *model = NULL;
    CLI_OWNED(medley_dataset_free) medley_dataset *data = NULL;
    medley_report_options options = MEDLEY_REPORT_OPTIONS_INIT;
    CLI_CLEARED(cli_provenance_clear) cli_provenance provenance = {0};
    char own[PATH_BYTES];
    char title[CLI_NAME_BYTES];
    char name[6 * CLI_NAME_BYTES] = "the data";
    const char *path = cli_value(arguments, "model");
    if (path == NULL)
        return cli_refuse(error, "give a model file: medley report MODEL [DATA]");
    CLI_TRY(cli_count(arguments, "examples", &options.examples, error));
    CLI_TRY(cli_count(arguments, "top", &options.top, error));
    const char *output = cli_value(arguments, "output");
    if (output == NULL)
        output = default_output(own, path);
    CLI_TRY(cli_check_output(arguments, "output", output, error));
    CLI_TRY(medley_model_load(&model, path, error));
    CLI_TRY(load_data(arguments, model, &data, error));
    name_data(arguments, name, sizeof name);
    options.title = cli_value(arguments, "title");
    if (options.title == NULL)
        options.title = cli_report_name(title, path);
    options.data = data;
    options.data_name = data != NULL ? name : NULL;
    options.threads = cli_threads(arguments);
    options.device = cli_value(arguments, "device");
    options.tags = cli_value(arguments, "tags");
    /* where it is written changes nothing in it */
    CLI_TRY(cli_tell_provenance(&options, &provenance, arguments, "output", error));
    CLI_TRY(medley_report_write(model, output, &options, error));
    tell(arguments, output);
    return MEDLEY_OK;
}

static const cli_option options[] = {
    {"model", "FILE", "", "the model, where it is not the first word", .group = "output"},
    {"output", "FILE.html", "", "where to write; default: the model's name with .html",
     .group = "output"},
    {"title", "TEXT", "", "headline of the report; default: the model's name", .group = "output"},
    {"examples", "N", "24", "most examples that are drawn, wrong ones first", .group = "output"},
    {"top", "N", "30", "most blocks that are drawn; a table has all of them", .group = "output"},
    {0}};

static const char *const examples[] = {
    "what was learnt: wave.html",
    "medley report wave.medley",
    "and how well it does on labelled data, with examples",
    "medley report wave.medley test.csv --output wave.html",
    "on the folds that training did not see",
    "medley report words.medley letter.data.gz --folds 1-9 --title 'Handwritten words'",
    NULL};

const cli_command cli_command_report = {
    .name = "report",
    .usage = "[options] MODEL [DATA]",
    .summary = "what a model has learnt, as one HTML file to look at",
    .description =
        "Writes an HTML file that needs nothing else (no network, no script): a summary in plain "
        "words, the blocks by weight, the course of training, the settings, the command line and "
        "the "
        "date (that of SOURCE_DATE_EPOCH where it is set). With labelled DATA also how good the "
        "model is beside a baseline that learns nothing, and its errors: confusion matrix, images, "
        "tagged sentences, trees. A warning says if DATA are those that the model was trained on.",
    .options = options,
    .groups = CLI_PREDICTION | CLI_DATA | CLI_ROWS | CLI_RUN,
    .model = CLI_READS_MODEL,
    .examples = examples,
    .run = run_report,
};
