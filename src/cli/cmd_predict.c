/* SPDX-License-Identifier: BSD-3-Clause */
/* medley predict: label new data. */
#include "cli.h"

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

static void print_rows(FILE *file, const medley_model *model, const medley_prediction *prediction,
                       bool with_scores)
{
    if (with_scores) {
        fprintf(file, "label");
        for (size_t l = 0; l < prediction->labels; l++)
            fprintf(file, "\t%s", medley_model_label_name(model, l));
        fprintf(file, "\n");
    }
    for (size_t r = 0; r < prediction->rows; r++) {
        fprintf(file, "%s", medley_model_label_name(model, (size_t)prediction->label[r]));
        for (size_t l = 0; with_scores && l < prediction->labels; l++)
            fprintf(file, "\t%.6g", (double)prediction->score[r * prediction->labels + l]);
        fprintf(file, "\n");
    }
}

static void print_json(FILE *file, const medley_model *model, const medley_prediction *prediction,
                       bool with_scores)
{
    json_open(file, NULL, '{');
    json_count(file, "examples", prediction->rows);
    json_open(file, "labels", '[');
    for (size_t l = 0; l < prediction->labels; l++)
        json_string(file, NULL, medley_model_label_name(model, l));
    json_close(file, ']');
    json_open(file, "predictions", '[');
    for (size_t r = 0; r < prediction->rows; r++)
        json_string(file, NULL, medley_model_label_name(model, (size_t)prediction->label[r]));
    json_close(file, ']');
    if (with_scores)
        json_open(file, "scores", '[');
    for (size_t r = 0; with_scores && r < prediction->rows; r++) {
        json_open(file, NULL, '[');
        for (size_t l = 0; l < prediction->labels; l++)
            json_number(file, NULL, (double)prediction->score[r * prediction->labels + l]);
        json_close(file, ']');
    }
    if (with_scores)
        json_close(file, ']');
    json_close(file, '}');
    fprintf(file, "\n");
}

static int run_predict(cli_arguments *arguments)
{
    medley_error error = {0};
    medley_model *model = NULL;
    medley_dataset *dataset = NULL;
    medley_prediction *prediction = NULL;
    const char *path = cli_value(arguments, "model");
    const bool probabilities = cli_flag(arguments, "proba");
    const bool scores = probabilities || cli_flag(arguments, "scores");
    if (path == NULL)
        return cli_usage_error(arguments, "--model FILE is missing: which model to predict with");
    medley_status status = medley_model_load(&model, path, &error);
    if (status >= 0)
        status = cli_load_data(arguments, model, &dataset, &error);
    if (status >= 0)
        status = medley_predict(&prediction, model, dataset, cli_threads(arguments), &error);
    int code = CLI_OK;
    if (status < 0) {
        code = cli_fail(arguments, &error);
    } else {
        struct target target;
        const char *output = cli_value(arguments, "output");
        if (probabilities)
            medley_prediction_probabilities(prediction);
        const bool opened = open_target(&target, output);
        if (opened && arguments->json)
            print_json(target.file, model, prediction, scores);
        else if (opened)
            print_rows(target.file, model, prediction, scores);
        if (!opened || !close_target(&target)) {
            error = (medley_error){.code = MEDLEY_FAILED};
            snprintf(error.message, sizeof error.message,
                     "the predictions could not be written; check the folder and the space left");
            snprintf(error.file, sizeof error.file, "%s", output ? output : "standard output");
            code = cli_fail(arguments, &error);
        }
    }
    medley_prediction_free(prediction);
    medley_dataset_free(dataset);
    medley_model_free(model);
    return code;
}

static const cli_option options[] = {
    {"model", "FILE", "", "the model to predict with", false},
    {"output", "FILE", "-", "where the predictions go", false},
    {"proba", "", "",
     "print probabilities of all labels too: softmax of the scores, which is calibrated only after "
     "training with --loss logistic",
     false},
    {"scores", "", "", "print the scores of all labels too", false},
    {"threads", "N", "0", "0: all processors", false},
    {0}};

static const char *const examples[] = {
    "one label a line",
    "medley predict --model sonar.medley new.csv",
    "with probabilities, from standard input",
    "zcat new.svmlight.gz | medley predict --model m.medley --proba --format svmlight -",
    "views by the names they had in training",
    "medley predict --model digits.medley --view fou=new-fou.csv --view kar=new-kar.csv",
    NULL};

extern const cli_command cli_command_predict;
const cli_command cli_command_predict = {
    .name = "predict",
    .usage = "--model FILE [options] [DATA]",
    .summary = "label new data",
    .description = "Prints the predicted label of every row, as in the training "
                   "data (numbers in plain form: +1 and 1.0 are 1). A label column in DATA is "
                   "recognised by the number of columns and not "
                   "looked at.",
    .options = options,
    .groups = CLI_DATA | CLI_ROWS | CLI_RUN,
    .examples = examples,
    .run = run_predict,
};
