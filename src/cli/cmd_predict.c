/* SPDX-License-Identifier: BSD-3-Clause */
/* medley predict: label new data. */
#include "cli.h"
#include "print_number.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The output file appears under its own name only once it is complete. */
struct target {
    FILE *file;
    char path[PATH_MAX];           /* "": standard output */
    char temporary[PATH_MAX + 32]; /* "": written directly */
};

/* Devices and pipes cannot be renamed into place; neither should what /dev/stdout leads to. */
static bool is_special(const char *path)
{
    struct stat info;
    return strncmp(path, "/dev/", 5) == 0 || (stat(path, &info) == 0 && !S_ISREG(info.st_mode));
}

static bool open_target(struct target *target, const char *path)
{
    *target = (struct target){.file = stdout};
    if (path == NULL || strcmp(path, "-") == 0)
        return true;
    /* behind a link is the file itself, so that the link stays */
    if (strlen(path) >= sizeof target->path ||
        (realpath(path, target->path) == NULL && errno != ENOENT))
        return false;
    if (is_special(path)) {
        target->file = fopen(path, "w");
        return target->file != NULL;
    }
    if (access(path, F_OK) != 0)
        snprintf(target->path, sizeof target->path, "%s", path);
    snprintf(target->temporary, sizeof target->temporary, "%s.%ld.tmp", target->path,
             (long)getpid());
    target->file = fopen(target->temporary, "wx");
    return target->file != NULL;
}

static bool close_target(struct target *target)
{
    if (target->path[0] == '\0')
        return fflush(stdout) == 0 && !ferror(stdout);
    bool fine = fflush(target->file) == 0 && !ferror(target->file);
    fine = fclose(target->file) == 0 && fine;
    if (target->temporary[0] == '\0')
        return fine;
    fine = fine && rename(target->temporary, target->path) == 0;
    if (!fine)
        unlink(target->temporary);
    return fine;
}

static const char *label_text(const medley_model *model, int32_t label)
{
    return medley_model_label_name(model, (size_t)label);
}

static void print_values(FILE *file, const medley_prediction *prediction)
{
    char text[CLI_NUMBER_BYTES];
    fprintf(file, "value\n");
    for (size_t r = 0; r < prediction->rows; r++)
        fprintf(file, "%s\n", cli_number(text, prediction->value[r]));
}

static void print_scores(FILE *file, const medley_model *model, const medley_prediction *prediction)
{
    fprintf(file, "label");
    for (size_t l = 0; l < prediction->labels; l++)
        fprintf(file, "\t%s", medley_model_label_name(model, l));
    fprintf(file, "\n");
    for (size_t r = 0; r < prediction->rows; r++) {
        fprintf(file, "%s", label_text(model, prediction->label[r]));
        for (size_t l = 0; l < prediction->labels; l++)
            fprintf(file, "\t%.6g", (double)prediction->score[r * prediction->labels + l]);
        fprintf(file, "\n");
    }
}

/* The rows of a sequence: rows that stand alone are sequences of one. */
static size_t first_row(const medley_dataset *dataset, size_t sequence)
{
    return medley_dataset_sequences(dataset) > 0 ? medley_dataset_sequence_row(dataset, sequence)
                                                 : sequence;
}

/* A line for each output: number of the sequence, rank, score, labels between blanks. */
static void print_best(FILE *file, const medley_model *model, const medley_dataset *dataset,
                       const medley_prediction *prediction)
{
    for (size_t s = 0; s < prediction->sequences; s++)
        for (size_t k = 0; k < prediction->best; k++) {
            const int32_t *label = prediction->best_label + k * prediction->rows;
            const size_t first = first_row(dataset, s);
            if (label[first] < 0)
                break;
            fprintf(file, "%zu\t%zu\t%.6g\t", s + 1, k + 1,
                    prediction->best_score[s * prediction->best + k]);
            for (size_t r = first; r < first_row(dataset, s + 1); r++)
                fprintf(file, "%s%s", r > first ? " " : "", label_text(model, label[r]));
            fprintf(file, "\n");
        }
}

static void print_json_best(FILE *file, const medley_model *model, const medley_dataset *dataset,
                            const medley_prediction *prediction)
{
    json_open(file, "best", '[');
    for (size_t s = 0; s < prediction->sequences; s++) {
        json_open(file, NULL, '[');
        for (size_t k = 0; k < prediction->best; k++) {
            const int32_t *label = prediction->best_label + k * prediction->rows;
            if (label[first_row(dataset, s)] < 0)
                break;
            json_open(file, NULL, '{');
            json_number(file, "score", prediction->best_score[s * prediction->best + k]);
            json_open(file, "labels", '[');
            for (size_t r = first_row(dataset, s); r < first_row(dataset, s + 1); r++)
                json_string(file, NULL, label_text(model, label[r]));
            json_close(file, ']');
            json_close(file, '}');
        }
        json_close(file, ']');
    }
    json_close(file, ']');
}

static void print_json(FILE *file, const medley_model *model, const medley_dataset *dataset,
                       const medley_prediction *prediction, bool with_scores)
{
    json_open(file, NULL, '{');
    json_count(file, "examples", prediction->rows);
    if (prediction->value == NULL)
        cli_json_labels(file, model, prediction->labels);
    if (prediction->head != NULL) {
        json_open(file, "heads", '[');
        for (size_t r = 0; r < prediction->rows; r++)
            json_count(file, NULL, (size_t)prediction->head[r]);
        json_close(file, ']');
    }
    json_open(file, "predictions", '[');
    for (size_t r = 0; r < prediction->rows; r++)
        if (prediction->value != NULL)
            json_number(file, NULL, prediction->value[r]);
        else if (prediction->label != NULL)
            json_string(file, NULL, label_text(model, prediction->label[r]));
    json_close(file, ']');
    if (with_scores && prediction->score != NULL) {
        json_open(file, "scores", '[');
        for (size_t r = 0; r < prediction->rows; r++) {
            json_open(file, NULL, '[');
            for (size_t l = 0; l < prediction->labels; l++)
                json_number(file, NULL, (double)prediction->score[r * prediction->labels + l]);
            json_close(file, ']');
        }
        json_close(file, ']');
    }
    if (prediction->best > 0)
        print_json_best(file, model, dataset, prediction);
    json_end(file);
}

/* Tables of numbers, which have no format of their own. */
static medley_status print_table(const cli_arguments *arguments, const medley_model *model,
                                 const medley_dataset *dataset, const medley_prediction *prediction,
                                 medley_error *error)
{
    struct target target;
    const char *output = cli_value(arguments, "output");
    const bool scores = cli_flag(arguments, "proba") || cli_flag(arguments, "scores");
    const bool opened = open_target(&target, output);
    if (opened && arguments->json)
        print_json(target.file, model, dataset, prediction, scores);
    else if (opened && prediction->best > 0)
        print_best(target.file, model, dataset, prediction);
    else if (opened && prediction->value != NULL)
        print_values(target.file, prediction);
    else if (opened)
        print_scores(target.file, model, prediction);
    if (opened && close_target(&target))
        return MEDLEY_OK;
    snprintf(error->file, sizeof error->file, "%s", output ? output : "standard output");
    return cli_error(error, MEDLEY_FAILED,
                     "the predictions could not be written; check the folder and the space left");
}

static int run_predict(cli_arguments *arguments)
{
    medley_error error = {0};
    medley_model *model = NULL;
    medley_dataset *dataset = NULL;
    medley_prediction *prediction = NULL;
    medley_predict_options wanted = MEDLEY_PREDICT_OPTIONS_INIT;
    const char *path = cli_value(arguments, "model");
    if (path == NULL)
        return cli_usage_error(arguments, "--model FILE is missing: which model to predict with");
    if (!cli_count(arguments, "best", 0, &wanted.best))
        return CLI_USAGE;
    if (wanted.best > 0 && !arguments->json &&
        (cli_flag(arguments, "proba") || cli_flag(arguments, "scores")))
        return cli_usage_error(
            arguments, "--best and --%s print different tables: give one of them, or --json",
            cli_flag(arguments, "proba") ? "proba" : "scores");
    medley_status status = medley_model_load(&model, path, &error);
    if (status >= 0)
        status = cli_load_data(arguments, model, &dataset, &error);
    wanted.threads = cli_threads(arguments);
    wanted.probabilities = cli_flag(arguments, "proba");
    wanted.keep_labels = cli_flag(arguments, "constrain");
    wanted.tags = cli_value(arguments, "tags");
    const bool table = wanted.probabilities || cli_flag(arguments, "scores") || wanted.best > 0;
    if (status >= 0 && cli_flag(arguments, "scores")) {
        const char *none = medley_task_about(medley_model_summary(model)->task)->no_scores;
        if (none != NULL)
            status = cli_error(&error, MEDLEY_NOT_SUPPORTED, "%s; leave out --scores", none);
    }
    if (status >= 0)
        status = medley_predict_with(&prediction, model, dataset, &wanted, &error);
    if (status >= 0)
        status = table || arguments->json
                     ? print_table(arguments, model, dataset, prediction, &error)
                     : medley_prediction_write(prediction, model, dataset,
                                               cli_value(arguments, "output"), &error);
    const int code = status < 0 ? cli_fail(arguments, &error) : CLI_OK;
    medley_prediction_free(prediction);
    medley_dataset_free(dataset);
    medley_model_free(model);
    return code;
}

static const cli_option options[] = {
    {"model", "FILE", "", "the model to predict with", false},
    {"output", "FILE", "-", "where the predictions go", false},
    {"proba", "", "",
     "print probabilities of all labels too (of sequences: marginals); to be trusted after "
     "training with --calibrate, or --loss logistic; not of a regression",
     false},
    {"scores", "", "", "print the scores of all labels too; of a regression a table of the numbers",
     false},
    {"tags", "COLUMN", "",
     "parsers: the column of CoNLL-U that has the tags; default that of training", false},
    {"best", "N", "0",
     "print the N best outputs of every sequence (at most 20), one a line: sequence, rank, score, "
     "labels",
     false},
    {"constrain", "", "",
     "labels in DATA that the model knows are right: find the best labels of the other rows",
     false},
    {"threads", "N", "0", "0: all processors", false},
    {0}};

static const char *const examples[] = {
    "one label a line",
    "medley predict --model sonar.medley new.csv",
    "with probabilities, from standard input",
    "zcat new.svmlight.gz | medley predict --model m.medley --proba --format svmlight -",
    "tagged words come back with the predicted label as last column",
    "medley predict --model chunk.medley test.txt --output tagged.txt",
    "views by the names they had in training",
    "medley predict --model digits.medley --view fou=new-fou.csv --view kar=new-kar.csv",
    NULL};

extern const cli_command cli_command_predict;
const cli_command cli_command_predict = {
    .name = "predict",
    .usage = "--model FILE [options] [DATA]",
    .summary = "label new data",
    .description = "Writes the predicted label of every row: tagged text in its own format "
                   "(columns: one more column; conllu: in the label's place), all else one label a "
                   "line, as in the training data (numbers in plain form: +1 and 1.0 are 1). A "
                   "regression writes numbers in the same way. A label column in DATA is "
                   "recognised by the number of columns and not looked at.",
    .options = options,
    .groups = CLI_DATA | CLI_ROWS | CLI_RUN,
    .examples = examples,
    .run = run_predict,
};
