/* SPDX-License-Identifier: BSD-3-Clause */
/* medley convert: from one file format to another. */
#include "cli.h"

static medley_status run_convert(cli_arguments *arguments, medley_error *error)
{
    CLI_OWNED(medley_dataset_free) medley_dataset *dataset = NULL;
    medley_read_options options = MEDLEY_READ_OPTIONS_INIT;
    const char *output = cli_value(arguments, "output");
    const char *to = cli_value(arguments, "to");
    if (arguments->word_count != 1)
        return cli_refuse(error,
                          "give one file to convert: medley convert --to FORMAT [--output OUT] IN");
    if (to == NULL && output == NULL)
        return cli_refuse(error, "--to FORMAT is missing (medley list formats)");
    options.format = cli_value(arguments, "format");
    options.label = cli_value(arguments, "label");
    CLI_TRY(medley_dataset_read(&dataset, arguments->words[0], &options, error));
    CLI_TRY(medley_dataset_write(dataset, output ? output : "-", to, error));
    cli_tell_written(arguments, dataset, output);
    return MEDLEY_OK;
}

static const cli_option options[] = {
    {"format", "FORMAT", "", "format of IN; default: by extension and content", .group = "output"},
    {"to", "FORMAT", "", "format to write; default: by the extension of OUT", .group = "output"},
    {"output", "OUT", "-", "where to write; .gz compresses", .group = "output"},
    {"label", "COLUMN", "", "label column by name, number from 1, last, or none",
     .group = "output"},
    {0}};

static const char *const examples[] = {
    "CSV to svmlight", "medley convert --to svmlight --output data.svmlight data.csv",
    "the first column is the label", "medley convert --label 1 --to svmlight data.csv", NULL};

const cli_command cli_command_convert = {
    .name = "convert",
    .usage = "[--format FORMAT] --to FORMAT [--output OUT] IN",
    .summary = "turn one file format into another",
    .description = "Reads IN (- is standard input) and writes it in another format. npy holds "
                   "numbers only: labels are left out.",
    .options = options,
    .groups = CLI_RUN,
    .examples = examples,
    .run = run_convert,
};
