/* SPDX-License-Identifier: BSD-3-Clause */
/* The command line: one table row and one file per command. Parsing, --help, manual pages and
 * completion all read the same tables. */
#ifndef CLI_H
#define CLI_H

#include <medley/medley.h>
#include <stdio.h>

enum { CLI_OK = 0, CLI_FAILED = 1, CLI_USAGE = 2, CLI_BAD_INPUT = 3, CLI_INTERRUPTED = 130 };

typedef struct cli_option {
    const char *name;     /* without dashes */
    const char *argument; /* placeholder; "" for a flag */
    const char *fallback; /* default as text, "" if none */
    const char *help;
    bool repeatable;
} cli_option;

/* Groups of options that several commands share. */
enum { CLI_TRAINING = 1, CLI_DATA = 2, CLI_ROWS = 4, CLI_RUN = 8, CLI_KERNELS = 16 };

typedef struct cli_arguments cli_arguments;

typedef struct cli_command {
    const char *name, *usage, *summary;
    const char *description;   /* paragraphs for --help and the manual */
    const cli_option *options; /* its own, ends with a NULL name; may be NULL */
    unsigned groups;
    const char *const *examples; /* "what it does", "command line", ..., NULL */
    int (*run)(cli_arguments *arguments);
} cli_command;

extern const cli_command *const cli_commands[]; /* NULL-terminated */

int cli_main(int count, char **words);

/* Option number `index` of a command, shared groups included; false behind the last. */
bool cli_option_at(const cli_command *command, size_t index, cli_option *option);
void cli_print_help(const cli_command *command, FILE *file);

/* ---- parsed arguments ---- */

struct cli_arguments {
    const cli_command *command;
    struct cli_given {
        const char *name, *value;
    } * given;
    size_t given_count;
    const char **words; /* positional */
    size_t word_count;
    bool json, quiet;
};

const char *cli_value(const cli_arguments *arguments, const char *name); /* NULL: not given */
/* The i-th value of a repeatable option, or NULL. */
const char *cli_nth(const cli_arguments *arguments, const char *name, size_t i);
bool cli_flag(const cli_arguments *arguments, const char *name);
/* A whole number; says what is wrong and returns false. */
bool cli_count(const cli_arguments *arguments, const char *name, size_t fallback, size_t *value);

/* ---- saying what went wrong ---- */

/* Prints the error (JSON on stdout with --json) and returns the exit code. */
int cli_fail(const cli_arguments *arguments, const medley_error *error);
int cli_usage_error(const cli_arguments *arguments, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* The same, and false: for functions that say whether arguments are fine. */
#define cli_refuse(...) (cli_usage_error(__VA_ARGS__), false)
/* The key "error" of an object: its exit code, message and place. */
void cli_json_error(const medley_error *error);
/* Fills error and returns status, which is its code. */
medley_status cli_error(medley_error *error, medley_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* ---- shared steps (data.c) ---- */

/* Reads DATA, views, grams, labels; applies --folds and --sample; warns of a slow BLAS. model: NULL
 * when training. */
medley_status cli_load_data(const cli_arguments *arguments, const medley_model *model,
                            medley_dataset **dataset, medley_error *error);
/* Training options and DATA; the file of --dev, read as DATA is, goes to *dev, and with --holdout
 * that share of DATA to *held_out (else both are left alone). seconds: the time it took. */
medley_status cli_load_training(const cli_arguments *arguments, medley_options **options,
                                medley_dataset **train, medley_dataset **dev,
                                medley_dataset **held_out, double *seconds, medley_error *error);
medley_status cli_training_options(const cli_arguments *arguments, medley_options **options,
                                   medley_error *error);
/* The end of commands that write data: with --json, tells what went into the file (not if that is
 * stdout, where the data are), or what went wrong. Frees the data and returns the exit code. */
int cli_end_writing(const cli_arguments *arguments, medley_status status, medley_dataset *dataset,
                    const char *output, const medley_error *error);
/* Bytes of a file; 0 if there is none. */
size_t cli_file_bytes(const char *path);
/* On stderr, unless --quiet: that the BLAS in use is the reference one, and what to do about it. */
void cli_warn_of_slow_blas(const cli_arguments *arguments);
size_t cli_threads(const cli_arguments *arguments);
double cli_clock(void);

/* ---- progress and interruption (progress.c) ---- */

typedef struct cli_progress {
    bool quiet, terminal, shown;
    double last;
    char stage[64];
} cli_progress;

medley_observer cli_observe(cli_progress *progress, const cli_arguments *arguments);
void cli_progress_end(cli_progress *progress);
void cli_catch_interrupt(void);

/* ---- JSON (json.c): commas, quotes and escapes are taken care of; NaN prints as null ---- */

void json_open(FILE *file, const char *key, char bracket); /* '{' or '[' */
void json_close(FILE *file, char bracket);
void json_string(FILE *file, const char *key, const char *value);
void json_number(FILE *file, const char *key, double value);
void json_count(FILE *file, const char *key, size_t value);
void json_bool(FILE *file, const char *key, bool value);
void json_numbers(FILE *file, const char *key, const double *values, size_t count);
void json_end(FILE *file); /* of the whole object: closes it and ends the line */

/* ---- models in JSON (summary.c) ---- */

void cli_json_settings(const medley_summary *summary); /* task ... spicy_C */
/* The key "blocks"; order: indices, or NULL for that of the summary. */
void cli_json_blocks(const medley_summary *summary, const size_t *order);
void cli_json_labels(FILE *file, const medley_model *model, size_t count); /* the key "labels" */

/* ---- drawing (bars.c) ---- */

/* A bar of at most `width` columns for share in 0..1, into text (at least 3 * width + 1 bytes). */
const char *cli_bar(char *text, double share, int width);
/* Blocks by falling weight: indices into summary->blocks; the caller frees it. */
size_t *cli_blocks_by_weight(const medley_summary *summary);
void cli_print_blocks(FILE *file, const medley_summary *summary, size_t top);

#endif
