/* SPDX-License-Identifier: BSD-3-Clause */
/* medley generate: seeded synthetic data. */
#include "cli.h"

#include <unistd.h>

static medley_status read_options(const cli_arguments *arguments, medley_generate_options *options,
                                  medley_error *error)
{
    const char *noise = cli_value(arguments, "noise");
    size_t seed = 1;
    CLI_TRY(cli_count(arguments, "rows", &options->rows, error));
    if (cli_value(arguments, "rows") != NULL && options->rows == 0)
        return cli_refuse(error, "--rows must be at least 1");
    CLI_TRY(cli_count(arguments, "seed", &seed, error));
    CLI_TRY(cli_count(arguments, "dimension", &options->dimension, error));
    CLI_TRY(cli_count(arguments, "views", &options->views, error));
    CLI_TRY(cli_count(arguments, "classes", &options->classes, error));
    options->seed = seed;
    if (noise != NULL && !cli_read_number(noise, &options->noise))
        return cli_refuse(error, "--noise='%s' is not a number", noise);
    return MEDLEY_OK;
}

/* Several views go to several files: out.csv becomes out-view1.csv, out-view2.csv ... */
static medley_status write_tables(const medley_dataset *dataset, const char *output,
                                  const char *format, medley_error *error)
{
    const size_t count = medley_dataset_table_count(dataset);
    if (count <= 1) /* words have no table */
        return medley_dataset_write(dataset, output, format, error);
    if (strcmp(output, "-") == 0)
        return cli_refuse(error, "these data have %zu views, one file each; give --output NAME.csv",
                          count);
    const char *slash = strrchr(output, '/');
    const char *dot = strchr(slash ? slash : output, '.');
    for (size_t t = 0; t < count; t++) {
        char path[4096];
        CLI_OWNED(medley_dataset_free) medley_dataset *table = NULL;
        snprintf(path, sizeof path, "%.*s-%s%s",
                 (int)(dot ? (size_t)(dot - output) : strlen(output)), output,
                 medley_dataset_table_name(dataset, t), dot ? dot : "");
        CLI_TRY(medley_dataset_keep_table(&table, dataset, t, error));
        CLI_TRY(medley_dataset_write(table, path, format, error));
    }
    return MEDLEY_OK;
}

/* All that is in a file, with a 0 at its end; NULL: it cannot be read. The caller frees it. */
static char *read_text(const char *path, size_t size)
{
    char *text = calloc(size + 1, 1);
    FILE *file = fopen(path, "rb");
    const bool fine = text != NULL && file != NULL && fread(text, 1, size, file) == size;
    if (file != NULL)
        fclose(file);
    if (fine)
        return text;
    free(text);
    return NULL;
}

/* The data as a text of that format, in an object. */
static medley_status print_json(const medley_dataset *dataset, const char *format,
                                medley_error *error)
{
    const char *folder = getenv("TMPDIR");
    char path[4096];
    CLI_OWNED(free) char *text = NULL;
    if (medley_dataset_table_count(dataset) > 1)
        return write_tables(dataset, "-", format, error); /* says that there are several */
    snprintf(path, sizeof path, "%s/medley-XXXXXX", folder != NULL ? folder : "/tmp");
    const int made = mkstemp(path);
    if (made < 0)
        return cli_error(error, MEDLEY_FAILED, "%s: cannot be written", path);
    close(made);
    const medley_status status = medley_dataset_write(dataset, path, format, error);
    const size_t size = cli_file_bytes(path);
    if (status >= 0)
        text = read_text(path, size);
    unlink(path);
    CLI_TRY(status);
    if (text == NULL)
        return cli_error(error, MEDLEY_FAILED, "%s: cannot be read", path);
    if (strlen(text) != size)
        return cli_refuse(
            error, "data of format %s are no text; give --output FILE, or another --to", format);
    json_open(stdout, NULL, '{');
    json_string(stdout, "format", format);
    cli_json_dataset(dataset);
    json_string(stdout, "text", text);
    json_end(stdout);
    return MEDLEY_OK;
}

static medley_status run_generate(cli_arguments *arguments, medley_error *error)
{
    CLI_OWNED(medley_dataset_free) medley_dataset *dataset = NULL;
    medley_generate_options options = MEDLEY_GENERATE_OPTIONS_INIT;
    CLI_TRY(read_options(arguments, &options, error));
    if (arguments->word_count != 1)
        return cli_refuse(error, "give the name of one generator (medley list generators)");
    const char *name = arguments->words[0];
    const char *output = cli_value(arguments, "output");
    const char *format = cli_value(arguments, "to");
    CLI_TRY(medley_generate(&dataset, name, &options, error));
    medley_listing generator = MEDLEY_LISTING_INIT;
    for (size_t i = 0; medley_list(&generator, "generators", i); i++)
        if (format == NULL && (output == NULL || strcmp(output, "-") == 0) &&
            strcmp(generator.name, name) == 0)
            format = generator.format;
    if (arguments->json && (output == NULL || strcmp(output, "-") == 0))
        return print_json(dataset, format, error);
    CLI_TRY(write_tables(dataset, output ? output : "-", format, error));
    cli_tell_written(arguments, dataset, output);
    return MEDLEY_OK;
}

static const cli_option options[] = {
    {"rows", "N", "", "rows; for handwriting, words; for tagged and treebank, sentences",
     .group = "output"},
    {"seed", "N", "1", "one seed gives one data set", .group = "output"},
    {"dimension", "N", "", "features, where that is free", .group = "output"},
    {"views", "N", "", "views of multi-view data", .group = "output"},
    {"classes", "N", "", "classes of multi-view data", .group = "output"},
    {"noise", "X", "1", "amount of noise, 1 is the generator's own", .group = "output"},
    {"output", "FILE", "-", "where to write; .gz compresses", .group = "output"},
    {"to", "FORMAT", "",
     "format; default: by the extension of FILE; csv (letter for handwriting) on "
     "standard output; columns for tagged, conllu for treebank",
     .group = "output"},
    {0}};

static const char *const examples[] = {
    "handwritten words as 16x8 images, in the format of Taskar's letter.data",
    "medley generate handwriting --rows 500 --seed 7 --output words.data.gz --to letter",
    "four classes seen through three views: blobs-view1.csv, blobs-view2.csv, blobs-view3.csv",
    "medley generate blobs --output blobs.csv",
    "English sentences with dependency trees to learn a parser from",
    "medley generate treebank --rows 300 --output train.conllu",
    NULL};

const cli_command cli_command_generate = {
    .name = "generate",
    .usage = "NAME [options]",
    .summary = "make synthetic data: handwriting, sentences, ringnorm, twonorm, waveform, blobs",
    .description =
        "Makes seeded synthetic data: handwritten words, Breiman's ringnorm, twonorm and "
        "waveform, blobs seen through several views, and English sentences with their phrases "
        "(tagged) or dependency trees (treebank).",
    .options = options,
    .groups = CLI_RUN,
    .examples = examples,
    .run = run_generate,
};
