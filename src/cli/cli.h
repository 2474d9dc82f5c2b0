/* SPDX-License-Identifier: BSD-3-Clause */
/* The command line: one table row and one file per command. Parsing, --help, manual pages and
 * completion all read the same tables. */
#ifndef CLI_H
#define CLI_H

#include <medley/medley.h>

enum { CLI_OK = 0, CLI_FAILED = 1, CLI_USAGE = 2, CLI_BAD_INPUT = 3, CLI_INTERRUPTED = 130 };

typedef struct cli_option {
    const char *name;     /* without dashes */
    const char *argument; /* placeholder; "" for a flag */
    const char *fallback; /* default as text, "" if none */
    const char *help;
    bool repeatable;
    const char *group; /* one of cli_groups */
    const char *brief; /* a few words, of options of everyday work; else NULL */
} cli_option;

/* Options that stand together in help and manual. */
typedef struct cli_group {
    const char *name, *title; /* what --help=NAME is given, and what it is about */
} cli_group;
extern const cli_group cli_groups[]; /* ends with a NULL name */

/* Groups of options that several commands share. */
enum {
    CLI_TRAINING = 1,
    CLI_DATA = 2,
    CLI_ROWS = 4,
    CLI_RUN = 8,
    CLI_KERNELS = 16,
    CLI_PREDICTION = 32
};

typedef struct cli_arguments cli_arguments;

/* Models may be named as words, too. */
typedef enum cli_model_use { CLI_NO_MODEL, CLI_READS_MODEL, CLI_WRITES_MODEL } cli_model_use;

typedef struct cli_command {
    const char *name, *usage, *summary;
    const char *description;   /* paragraphs for --help and the manual */
    const cli_option *options; /* its own, ends with a NULL name; may be NULL */
    unsigned groups;
    cli_model_use model;
    bool together;               /* its work is divided among ranks; else rank 0 does it */
    const char *const *examples; /* "what it does", "command line", ..., NULL */
    /* Prints results; what goes wrong is printed by the caller. */
    medley_status (*run)(cli_arguments *arguments, medley_error *error);
} cli_command;

#define CLI_COMMAND(name) extern const cli_command cli_command_##name;
#include "commands.def"
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#undef CLI_COMMAND

extern const cli_command *const cli_commands[]; /* NULL-terminated */

int cli_main(int count, char **words);

/* Option number `index` of a command, shared groups included; false after the last. */
bool cli_option_at(const cli_command *command, size_t index, cli_option *option);
bool cli_training_option(const char *name, medley_option_info *info); /* is it one? */
char cli_letter(const char *name); /* of an option, for -m; 0: it has none */

/* ---- help (help.c) ---- */

/* Of a command, or of all of them where it is NULL. */
void cli_print_help(const cli_command *command, FILE *file);
/* Its options of one group, or of all, and then all examples; false: there is no such group. */
bool cli_print_options(const cli_command *command, const char *group, FILE *file);
bool cli_has_group(const cli_command *command, const char *group); /* any option of it? */
extern const char cli_exit_codes[];

/* ---- parsed arguments ---- */

struct cli_arguments {
    const cli_command *command;
    struct cli_given {
        const char *name, *value;
    } * given;
    size_t given_count;
    const char **words; /* positional */
    size_t word_count;
    char *const *typed; /* [typed_count] the command line after the command's name */
    size_t typed_count;
    bool json, quiet;
    bool interrupted; /* set by the command: Ctrl-C cut its work short */

    medley_comm *comm; /* the processes that mpirun has started; NULL: it has not */
    bool alone;        /* this one has failed while the others go on */
    bool silent;       /* another one says what went wrong */
    char **kept;       /* [kept_count] values that are not words of the command line */
    size_t kept_count;
};

const char *cli_value(const cli_arguments *arguments, const char *name); /* NULL: not given */
/* The i-th value of a repeatable option, or NULL. */
const char *cli_nth(const cli_arguments *arguments, const char *name, size_t i);
bool cli_flag(const cli_arguments *arguments, const char *name);
/* A whole number; *value stays what it is where the option is not given. */
medley_status cli_count(const cli_arguments *arguments, const char *name, size_t *value,
                        medley_error *error);
/* Is all of text a number? */
bool cli_read_count(const char *text, size_t *value);
bool cli_read_number(const char *text, double *value);
bool cli_is_any(const char *word, const char *const *names); /* one of them; NULL ends them */

/* ---- errors and ownership ----
 *
 * As in the library: a function that fails fills error and returns its code, and what it owns is
 * released however it is left:
 *
 *     CLI_OWNED(medley_model_free) medley_model *model = NULL;
 *     CLI_CLEARED(clear) struct run run = {0}; */

#define CLI_TRY(call)                                                                              \
    do {                                                                                           \
        const medley_status tried_ = (call);                                                       \
        if (tried_ < 0)                                                                            \
            return tried_;                                                                         \
    } while (0)

#define CLI_OWNED(function)   __attribute__((cleanup(cli_##function)))
#define CLI_CLEARED(function) __attribute__((cleanup(function)))
/* NOLINTBEGIN(bugprone-macro-parentheses): a type */
#define CLI_OWNER(function, type)                                                                  \
    static inline void cli_##function(type **owned)                                                \
    {                                                                                              \
        function(*owned);                                                                          \
    }
/* NOLINTEND(bugprone-macro-parentheses) */
CLI_OWNER(medley_dataset_free, medley_dataset)
CLI_OWNER(medley_model_free, medley_model)
CLI_OWNER(medley_options_free, medley_options)
CLI_OWNER(medley_prediction_free, medley_prediction)
static inline void cli_free(void *owned) /* the address of a pointer of any type */
{
    free(*(void **)owned);
}

/* Fills error and returns status, which is its code. */
medley_status cli_error(medley_error *error, medley_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
#define cli_refuse(error, ...) cli_error((error), MEDLEY_USAGE, __VA_ARGS__)
typedef char cli_sentence[1200];

/* A sentence of the library with its options as one types them: `C=-1` becomes --C=-1,
 * `scale=standard` becomes --scale standard. Returns text. */
const char *cli_spoken(cli_sentence text, const char *message);

/* The key "error" of an object: its exit code, message and place. */
void cli_json_error(const medley_error *error);

/* ---- shared steps (data.c) ---- */

/* Reads DATA, views, grams, labels; applies --folds and --sample; warns of a slow BLAS. model: NULL
 * when training. */
medley_status cli_load_data(const cli_arguments *arguments, const medley_model *model,
                            medley_dataset **dataset, medley_error *error);
/* The same, after the model in the file of --model; purpose: "to measure", for the message. */
medley_status cli_load_model_and_data(const cli_arguments *arguments, const char *purpose,
                                      medley_model **model, medley_dataset **dataset,
                                      medley_error *error);

typedef struct cli_training {
    medley_options *options;
    medley_dataset *train, *dev, *held_out; /* dev: of --dev; held_out: of --holdout; else NULL */
    double seconds_read;
    cli_sentence warning; /* what speaks against learning from these data so; "": nothing */
} cli_training;

/* Reads what is learnt from, and warns (cli_warn_of_data). */
medley_status cli_load_training(const cli_arguments *arguments, cli_training *training,
                                medley_error *error);
void cli_training_clear(cli_training *training);
medley_status cli_training_options(const cli_arguments *arguments, medley_options **options,
                                   medley_error *error);
/* Learns with progress on stderr and saves the model under path. */
medley_status cli_fit(cli_arguments *arguments, medley_model **model, const medley_dataset *train,
                      const medley_dataset *dev, const medley_options *options, const char *path,
                      medley_error *error);
/* The end of commands that write data: with --json, tells what went into the file (not if that is
 * stdout, where the data are). */
void cli_tell_written(const cli_arguments *arguments, const medley_dataset *dataset,
                      const char *output);
/* The keys of what they have in common: "examples", "sequences", "columns", "labels". */
void cli_json_dataset(const medley_dataset *dataset);
/* Bytes of a file; 0 if there is none. */
size_t cli_file_bytes(const char *path);
/* On stderr, unless --quiet: that the BLAS in use is the reference one, and what to do about it. */
void cli_warn_of_slow_blas(const cli_arguments *arguments);
/* On stderr, unless --quiet, and in warning: what speaks against learning from the data with these
 * options; "": nothing. */
void cli_warn_of_data(cli_sentence warning, const cli_arguments *arguments,
                      const medley_dataset *dataset, const medley_options *options);
/* The key "warnings": a list of that sentence, or an empty one. */
void cli_json_warning(FILE *file, const char *warning);
size_t cli_threads(const cli_arguments *arguments);
double cli_clock(void);

/* ---- ranks that mpirun has started (ranks.c) ---- */

/* Finds the others, if there are any. */
medley_status cli_find_ranks(cli_arguments *arguments, medley_error *error);
/* Options are known: files of rank 0 become those of all ranks, and only rank 0 writes and prints.
 */
medley_status cli_join_ranks(cli_arguments *arguments, medley_error *error);
/* The command has ended like this: is this the rank that tells what went wrong? */
bool cli_settle_ranks(cli_arguments *arguments, medley_status status);
/* The keys "ranks" and, where there are several, "comm": what rank 0 has exchanged so far. The same
 * as a line of text. */
void cli_json_ranks(const medley_comm *comm);
void cli_print_ranks(const medley_comm *comm);
/* The end; a rank that has failed alone ends the others. */
void cli_leave_ranks(cli_arguments *arguments, int code);

/* ---- progress and interruption (progress.c) ---- */

typedef struct cli_progress {
    bool quiet, terminal, shown;
    double last;
    char stage[64];
} cli_progress;

/* From here on the first Ctrl-C asks the observed work to end. */
medley_observer cli_observe(cli_progress *progress, const cli_arguments *arguments);
void cli_progress_end(cli_progress *progress);
void cli_catch_interrupt(const cli_arguments *arguments);

/* ---- values in files (json.c) ---- */

/* JSON: commas, quotes and escapes are taken care of; NaN prints as null. */
void json_open(FILE *file, const char *key, char bracket); /* '{' or '[' */
void json_close(FILE *file, char bracket);
void json_string(FILE *file, const char *key, const char *value);
void json_number(FILE *file, const char *key, double value);
void json_count(FILE *file, const char *key, size_t value);
void json_bool(FILE *file, const char *key, bool value);
void json_numbers(FILE *file, const char *key, const double *values, size_t count);
void json_strings(FILE *file, const char *key, const char *const *values, size_t count);
void json_end(FILE *file); /* of the whole object: closes it and ends the line */

enum { CLI_NUMBER_BYTES = 32 };
/* The fewest digits that read back as value. */
const char *cli_number(char text[CLI_NUMBER_BYTES], double value);
/* In CSV: numbers with a comma before each, empty if NaN; a string in quotes. */
void csv_numbers(FILE *file, const double *values, size_t count);
void csv_quoted(FILE *file, const char *text);

/* ---- what several commands tell of a run (summary.c) ---- */

/* Where kernels were computed; text: only where that was a card, or should have been. */

/* What a model tells of the device that it was learnt on. */
typedef struct cli_device {
    char name[128], use[128], reason[512];
} cli_device;
cli_device cli_device_of(const medley_model *model);
void cli_json_device(FILE *file, const cli_device *device);
void cli_print_device(const cli_device *device);
void cli_json_settings(const medley_summary *summary); /* task ... spicy_C */
/* The key "blocks"; order: indices, or NULL for that of the summary. */
void cli_json_blocks(const medley_model *model, const size_t *order);
void cli_json_labels(FILE *file, const medley_model *model, size_t count); /* the key "labels" */

/* objective, dual, gap, iterations; of models with a bias also bias, newton_steps, passes;
 * calibration, epochs. */
void cli_json_result(const medley_model *model);

/* Did the method measure its gap on the way? Others may have one from the end (--certify). */
bool cli_aims_at_gap(const medley_summary *summary);

/* A line for models that come with a certificate, nothing for others. */
void cli_print_certificate(FILE *file, const medley_summary *summary);

/* What was learnt: task ... spicy_C, eta0, examples, blocks, the result, calibration, epochs. */
void cli_json_model(const medley_model *model);

/* The same as text: settings, examples, certificate, the blocks with the largest weights. */
void cli_print_model(FILE *file, const medley_model *model);

/* Where it was written and how large it is. */
void cli_print_saved(FILE *file, const medley_summary *summary, const char *path, size_t bytes,
                     bool interrupted);

/* gamma of kernels from distances; nothing of others. */
void cli_print_gammas(FILE *file, const medley_model *model);

/* "calibrated probabilities: temperature 0.52, offsets -0.2 to 0.3"; false: there are none. */
bool cli_print_calibration(FILE *file, const medley_model *model);

/* "rmse 0.2134, R2 0.9312". */
void cli_print_fit(FILE *file, const medley_evaluation *evaluation);

/* ---- a path of penalties (path_table.c), a cross-validation (tune_table.c): text, JSON, CSV ----
 */

enum { CLI_MEASURE_BYTES = 32 };

/* A mean, deviation or score for people: shares, which are better high, in percent; errors, which
 * have no upper end, as they are. */
const char *cli_measure(char text[CLI_MEASURE_BYTES], bool higher_is_better, double value);

/* The point that does best on held-out data, of equal ones the strongest penalty; without such data
 * the last. There is one. */
size_t cli_path_best(const medley_path *path);

/* A line for each lambda, and below it which blocks come in first. best: marked, if there are
 * held-out data. */
void cli_print_path(FILE *file, const medley_path *path, size_t best);

/* Members of a JSON object: task, method, loss, penalty, measure, blocks, path. */
void cli_json_path(FILE *file, const medley_path *path);
void cli_csv_path(FILE *file, const void *path);

void cli_print_tuning(FILE *file, const medley_tuning *tuning);
/* "C 10, penalty mkl". */
void cli_print_trial(FILE *file, const medley_tuning *tuning, size_t trial);
/* The keys measure ... one_error of an object. */
void cli_json_tuning(const medley_tuning *tuning);
void cli_csv_tuning(FILE *file, const void *tuning); /* one line a trial */

/* ---- what commands write (outputs.c): not onto what they read, not between their own results, and
 * whole or not at all ---- */

/* "-" or one of the names that systems have for it. */
bool cli_is_standard_output(const char *path);

/* Is what an option writes (path is its value, or the default) none of the files that the command
 * reads or writes otherwise? */
medley_status cli_check_output(const cli_arguments *arguments, const char *option, const char *path,
                               medley_error *error);

/* The same of all that the options given write; asked of every command before it runs. --report
 * must not go to standard output, where the results go. */
medley_status cli_check_outputs(const cli_arguments *arguments, medley_error *error);

/* With --quiet nothing is printed beside what goes to a file, but for what was interrupted. */
bool cli_is_silent(const cli_arguments *arguments);

/* And can they be written? It is better to know before an hour of work than after it. */
medley_status cli_check_writable(const cli_arguments *arguments, medley_error *error);

/* Prints to standard output (path NULL or "-") or into a file. */
typedef void (*cli_printer)(FILE *file, const void *context);
medley_status cli_write_text(const char *path, cli_printer print, const void *context,
                             medley_error *error);

enum { CLI_NAME_BYTES = 256 };

/* What reports call a file: its name without folder and ending .medley; a very long one is cut
 * between two characters. */
const char *cli_report_name(char name[CLI_NAME_BYTES], const char *path);

/* ---- how a report came about (provenance.c) ---- */

enum { CLI_DATE_BYTES = 40 };

typedef struct cli_provenance {
    char *command;
    char date[CLI_DATE_BYTES];
} cli_provenance;

/* Fills command and date of the options, without the option left_out (NULL: none). provenance must
 * outlive them, and is cleared whatever comes back. */
medley_status cli_tell_provenance(medley_report_options *options, cli_provenance *provenance,
                                  const cli_arguments *arguments, const char *left_out,
                                  medley_error *error);
void cli_provenance_clear(cli_provenance *provenance);

/* The name of the file of DATA; NULL: they come from elsewhere. With words before it: "the held-out
 * rows of wave.csv", or without a name "the held-out rows". */
const char *cli_data_name(char name[CLI_NAME_BYTES], const cli_arguments *arguments);
const char *cli_held_out_name(char name[CLI_NAME_BYTES], const cli_arguments *arguments);

/* ---- drawing (bars.c) ---- */

/* A bar of at most `width` columns for share in 0..1, into text (at least 3 * width + 1 bytes). */
const char *cli_bar(char *text, double share, int width);
/* Blocks by falling weight: indices into summary->blocks; the caller frees it. */
size_t *cli_blocks_by_weight(const medley_summary *summary);
void cli_print_blocks(FILE *file, const medley_summary *summary, size_t top);

#endif
