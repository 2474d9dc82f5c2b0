/* SPDX-License-Identifier: BSD-3-Clause */
/* The option tables that commands share. */
#include "cli.h"

static const cli_option data_options[] = {
    {"format", "NAME", "",
     "format of DATA (medley list formats); default: by extension and content", .group = "data"},
    {"label", "COLUMN", "",
     "label column by name, number from 1, last, or none; default: with a model the column of "
     "that name in training, else one called label, class, target or y, else the last; views "
     "without a column of that name have no labels",
     .group = "data", .brief = "by name or number; default: label, class, target, y or last"},
    {"ignore", "COLUMNS", "",
     "leave these columns of DATA out, by name or number, between commas: --ignore id,5-7",
     .group = "data"},
    {"labels", "FILE", "",
     "labels from a file of their own (npy, idx or one a line); a table has a label column "
     "then only if it is called label, class, target or y",
     .group = "data"},
    {"header", "yes|no|auto", "auto", "whether the CSV file starts with a line of names",
     .group = "data"},
    {"view", "NAME=FILE[:COLUMNS]", "",
     "another file with the same rows in the same order, or some of its columns; with views DATA "
     "may be absent",
     .repeatable = true, .group = "data", .brief = "another file with the same rows"},
    {"gram", "[NAME=]FILE", "",
     "precomputed kernel values, npy (N,N) or (M,N,N); for new data (M, new rows, training rows)",
     .repeatable = true, .group = "data"},
    {"distance", "[NAME=]FILE", "",
     "distances in the same form; the kernel is exp(-d/gamma), gamma the mean over training rows",
     .repeatable = true, .group = "data"},
    {"gram-diagonal", "FILE", "",
     "K(x,x) of new rows, npy (M,rows): for precomputed kernels with unit diagonal",
     .group = "data"},
    {0}};

static const cli_option prediction_options[] = {
    {"tags", "COLUMN", "",
     "parsers: the column of CoNLL-U that has the tags; default that of training",
     .group = "trees"},
    {"threads", "N", "0", "0: all processors", .group = "scale"},
    {"device", "auto|cpu|cuda[:N]", "auto",
     "where kernels are computed: auto uses an NVIDIA card if there is one and the problem is "
     "large enough, cuda fails if no card can be used",
     .group = "scale"},
    {0}};

static const cli_option rows_options[] = {
    {"folds", "LIST[/K]", "",
     "use only these folds: 0, 1-9, 0,3 of the file's fold column; 1-4/5: parts of a fixed "
     "division into 5",
     .group = "data"},
    {"sample", "N", "", "use only N rows (sequences), drawn at random", .group = "data"},
    {0}};

static const cli_option run_options[] = {
    {"quiet", "", "",
     "no progress, no warning; train, tune, path and report print nothing at all if they write a "
     "file",
     .group = "output", .brief = "print nothing but what goes wrong"},
    {"json", "", "", "print one JSON object instead of text", .group = "output"},
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
        *option = (cli_option){info.name,       info.argument, info.fallback, info.help,
                               info.repeatable, info.group,    info.brief};
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

char cli_letter(const char *name)
{
    static const char *const letters[] = {"model", "output", "quiet", NULL};
    if (strcmp(name, "threads") == 0)
        return 'j'; /* as make has it */
    return cli_is_any(name, letters) ? name[0] : '\0';
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
