/* SPDX-License-Identifier: BSD-3-Clause */
/* The option tables that commands share, and --help, which prints them. */
#include "cli.h"

static const cli_option data_options[] = {
    {"format", "NAME", "",
     "format of DATA (medley list formats); default: by extension and content", false},
    {"label", "COLUMN", "",
     "label column by name, number from 1, last, or none; default: with a model the column of "
     "that name in training, else one called label, class, target or y, else the last",
     false},
    {"labels", "FILE", "", "labels from a file of their own (npy, idx or one a line)", false},
    {"header", "yes|no|auto", "auto", "does the CSV file start with a line of names?", false},
    {"view", "NAME=FILE[:COLUMNS]", "",
     "another file with the same rows, or some of its columns; with views DATA may be absent",
     true},
    {"gram", "[NAME=]FILE", "",
     "precomputed kernel values, npy (N,N) or (M,N,N); for new data (M, new rows, training rows)",
     true},
    {"distance", "[NAME=]FILE", "",
     "distances in the same form; the kernel is exp(-d/gamma), gamma the mean over training rows",
     true},
    {"gram-diagonal", "FILE", "",
     "K(x,x) of new rows, npy (M,rows): for precomputed kernels with unit diagonal", false},
    {0}};

static const cli_option prediction_options[] = {
    {"tags", "COLUMN", "",
     "parsers: the column of CoNLL-U that has the tags; default that of training", false},
    {"threads", "N", "0", "0: all processors", false},
    {0}};

static const cli_option rows_options[] = {
    {"folds", "LIST[/K]", "",
     "use only these folds: 0, 1-9, 0,3 of the file's fold column; 1-4/5: parts of a fixed "
     "division into 5",
     false},
    {"sample", "N", "", "use only N rows (sequences), drawn at random", false},
    {0}};

static const cli_option run_options[] = {
    {"quiet", "", "", "no progress, no warning", false},
    {"json", "", "", "print one JSON object instead of text", false},
    {0}};

/* Of the training options, those that describe kernels. */
static const char *const kernel_options[] = {"kernel",    "kernels", "views",   "scale",
                                             "normalize", "seed",    "threads", NULL};

/* Takes option `*index` of a table, or lowers *index by the table's length. */
static bool take(const cli_option *table, size_t *index, cli_option *option)
{
    for (; table != NULL && table->name != NULL; table++) {
        *option = *table;
        if ((*index)-- == 0)
            return true;
    }
    return false;
}

static bool take_training(bool kernels_only, size_t *index, cli_option *option)
{
    medley_option_info info = MEDLEY_OPTION_INFO_INIT;
    for (size_t i = 0; medley_option_describe(&info, i); i++) {
        if (kernels_only && !cli_is_any(info.name, kernel_options))
            continue;
        *option = (cli_option){info.name, info.argument, info.fallback, info.help, info.repeatable};
        if ((*index)-- == 0)
            return true;
    }
    return false;
}

bool cli_training_option(const char *name, medley_option_info *info)
{
    for (size_t i = 0; medley_option_describe(info, i); i++)
        if (strcmp(info->name, name) == 0)
            return true;
    return false;
}

bool cli_option_at(const cli_command *command, size_t index, cli_option *option)
{
    return take(command->options, &index, option) ||
           ((command->groups & CLI_TRAINING) && take_training(false, &index, option)) ||
           ((command->groups & CLI_KERNELS) && take_training(true, &index, option)) ||
           ((command->groups & CLI_PREDICTION) && take(prediction_options, &index, option)) ||
           ((command->groups & CLI_DATA) && take(data_options, &index, option)) ||
           ((command->groups & CLI_ROWS) && take(rows_options, &index, option)) ||
           ((command->groups & CLI_RUN) && take(run_options, &index, option));
}

/* Prints text from column `indent` on, broken at column 80; the first line starts at `column`. */
static void print_wrapped(FILE *file, const char *text, int column, int indent)
{
    while (*text != '\0') {
        const size_t word = strcspn(text, " ");
        if (column > indent && column + (int)word + 1 > 80) {
            fprintf(file, "\n%*s", indent, "");
            column = indent;
        } else if (column > indent) {
            fputc(' ', file);
            column++;
        }
        fprintf(file, "%.*s", (int)word, text);
        column += (int)word;
        text += word;
        text += strspn(text, " ");
    }
    fputc('\n', file);
}

static void print_option(FILE *file, const cli_option *option)
{
    enum { INDENT = 30 };
    int column =
        fprintf(file, "  --%s%s%s", option->name, option->argument[0] ? " " : "", option->argument);
    if (column >= INDENT - 1) {
        fputc('\n', file);
        column = 0;
    }
    fprintf(file, "%*s", INDENT - column, "");
    char text[1024];
    snprintf(text, sizeof text, "%s%s%s%s%s", option->help, option->fallback[0] ? " (default " : "",
             option->fallback, option->fallback[0] ? ")" : "",
             option->repeatable ? "; repeatable" : "");
    print_wrapped(file, text, INDENT, INDENT);
}

static void print_overview(FILE *file)
{
    fprintf(file,
            "Medley %s: multiple kernel learning. Bring many kernels or views of your data;\n"
            "it learns the predictor and which of them matter.\n\nusage: medley COMMAND "
            "[options]\n\n",
            medley_version());
    for (size_t i = 0; cli_commands[i] != NULL; i++)
        fprintf(file, "  %-10s %s\n", cli_commands[i]->name, cli_commands[i]->summary);
    fprintf(file, "\nStart with 'medley demo'. 'medley COMMAND --help' explains each with "
                  "examples.\n");
}

void cli_print_help(const cli_command *command, FILE *file)
{
    if (command == NULL) {
        print_overview(file);
        return;
    }
    fprintf(file, "usage: medley %s %s\n\n", command->name, command->usage);
    print_wrapped(file, command->description, 0, 0);
    cli_option option;
    for (size_t i = 0; cli_option_at(command, i, &option); i++) {
        if (i == 0)
            fprintf(file, "\noptions:\n");
        print_option(file, &option);
    }
    if (command->examples != NULL)
        fprintf(file, "\nexamples:\n");
    for (size_t i = 0; command->examples != NULL && command->examples[i] != NULL; i += 2)
        fprintf(file, "  # %s\n  %s\n", command->examples[i], command->examples[i + 1]);
}
