/* SPDX-License-Identifier: BSD-3-Clause */
/* medley predict: label new data. */
#include "cli.h"

/* What the printers look at. */
struct table {
    const medley_model *model;
    const medley_dataset *dataset;
    const medley_prediction *prediction;
    bool scores; /* in JSON, where labels need none */
};

static const char *label_text(const medley_model *model, int32_t label)
{
    return medley_model_label_name(model, (size_t)label);
}

static void print_values(FILE *file, const void *context)
{
    const medley_prediction *prediction = ((const struct table *)context)->prediction;
    char text[CLI_NUMBER_BYTES];
    fprintf(file, "value\n");
    for (size_t r = 0; r < prediction->rows; r++)
        fprintf(file, "%s\n", cli_number(text, prediction->value[r]));
}

/* The rows of a sequence: rows that stand alone are sequences of one. */
static size_t first_row(const medley_dataset *dataset, size_t sequence)
{
    return medley_dataset_sequences(dataset) > 0 ? medley_dataset_sequence_row(dataset, sequence)
                                                 : sequence;
}

/* A line for each output: number of the sequence, rank, score, labels between blanks. */
static void print_best(FILE *file, const void *context)
{
    const struct table *table = context;
    const medley_prediction *prediction = table->prediction;
    for (size_t s = 0; s < prediction->sequences; s++)
        for (size_t k = 0; k < prediction->best; k++) {
            const int32_t *label = prediction->best_label + k * prediction->rows;
            const size_t first = first_row(table->dataset, s);
            if (label[first] < 0)
                break;
            fprintf(file, "%zu\t%zu\t%.6g\t", s + 1, k + 1,
                    prediction->best_score[s * prediction->best + k]);
            for (size_t r = first; r < first_row(table->dataset, s + 1); r++)
                fprintf(file, "%s%s", r > first ? " " : "", label_text(table->model, label[r]));
            fprintf(file, "\n");
        }
}

/* Labels stand between blanks in these lines. */
static medley_status check_labels(const medley_model *model, medley_error *error)
{
    for (size_t l = 0; l < medley_model_label_count(model); l++) {
        const char *label = medley_model_label_name(model, l);
        const size_t length = strcspn(label, " \t\r\n");
        if (label[length] != '\0')
            return cli_error(error, MEDLEY_BAD_INPUT,
                             "the label that begins with '%.*s' has a blank or a line end in it "
                             "and cannot be written between others; use --json",
                             (int)length, label);
    }
    return MEDLEY_OK;
}

/* Rows first .. end-1 of one of the best outputs, which is k of its sequence. */
static void print_json_output(FILE *file, const struct table *table, size_t sequence, size_t k)
{
    const medley_prediction *p = table->prediction;
    const size_t first = k * p->rows + first_row(table->dataset, sequence);
    const size_t end = k * p->rows + first_row(table->dataset, sequence + 1);
    json_open(file, NULL, '{');
    json_number(file, "score", p->best_score[sequence * p->best + k]);
    if (p->best_probability != NULL)
        json_number(file, "probability", p->best_probability[sequence * p->best + k]);
    if (p->best_head != NULL) {
        json_open(file, "heads", '[');
        for (size_t i = first; i < end; i++)
            json_count(file, NULL, (size_t)p->best_head[i]);
        json_close(file, ']');
    }
    json_open(file, "labels", '[');
    for (size_t i = first; i < end && p->best_label != NULL; i++)
        json_string(file, NULL, label_text(table->model, p->best_label[i]));
    json_close(file, ']');
    json_close(file, '}');
}

static void print_json_best(FILE *file, const struct table *table)
{
    const medley_prediction *prediction = table->prediction;
    const int32_t *best = prediction->best_head ? prediction->best_head : prediction->best_label;
    json_open(file, "best", '[');
    for (size_t s = 0; s < prediction->sequences; s++) {
        const size_t first = first_row(table->dataset, s);
        json_open(file, NULL, '[');
        for (size_t k = 0; k < prediction->best && best[k * prediction->rows + first] >= 0; k++)
            print_json_output(file, table, s, k);
        json_close(file, ']');
    }
    json_close(file, ']');
}

static void print_json_scores(FILE *file, const medley_prediction *prediction)
{
    json_open(file, "scores", '[');
    for (size_t r = 0; r < prediction->rows; r++) {
        json_open(file, NULL, '[');
        for (size_t l = 0; l < prediction->labels; l++)
            json_number(file, NULL, (double)prediction->score[r * prediction->labels + l]);
        json_close(file, ']');
    }
    json_close(file, ']');
}

/* Of every word the probability of its head, and that of its relation. */
static void print_json_trust(FILE *file, const medley_prediction *p)
{
    json_open(file, "head_probabilities", '[');
    for (size_t r = 0; r < p->rows; r++)
        json_number(file, NULL, (double)p->head_probability[r]);
    json_close(file, ']');
    if (p->label == NULL)
        return;
    json_open(file, "relation_probabilities", '[');
    for (size_t r = 0; r < p->rows; r++)
        json_number(file, NULL, (double)p->score[r * p->labels + (size_t)p->label[r]]);
    json_close(file, ']');
}

static void print_json(FILE *file, const void *context)
{
    const struct table *table = context;
    const medley_prediction *prediction = table->prediction;
    json_open(file, NULL, '{');
    json_count(file, "examples", prediction->rows);
    if (prediction->value == NULL)
        cli_json_labels(file, table->model, prediction->labels);
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
            json_string(file, NULL, label_text(table->model, prediction->label[r]));
    json_close(file, ']');
    if (prediction->head_probability != NULL)
        print_json_trust(file, prediction);
    else if (table->scores && prediction->score != NULL)
        print_json_scores(file, prediction);
    if (prediction->best > 0)
        print_json_best(file, table);
    json_end(file);
}

static medley_status run_predict(cli_arguments *arguments, medley_error *error)
{
    CLI_OWNED(medley_model_free) medley_model *model = NULL;
    CLI_OWNED(medley_dataset_free) medley_dataset *dataset = NULL;
    CLI_OWNED(medley_prediction_free) medley_prediction *prediction = NULL;
    medley_predict_options wanted = MEDLEY_PREDICT_OPTIONS_INIT;
    const char *output = cli_value(arguments, "output");
    const bool scores = cli_flag(arguments, "scores");
    wanted.probabilities = cli_flag(arguments, "proba");
    CLI_TRY(cli_count(arguments, "best", &wanted.best, error));
    CLI_TRY(cli_load_model_and_data(arguments, "to predict with", &model, &dataset, error));
    const medley_task_info *task = medley_task_about(medley_model_summary(model)->task);
    if (wanted.best > 0 && !arguments->json && !task->has_heads && (wanted.probabilities || scores))
        return cli_refuse(error,
                          "--best and --%s print different tables: give one of them, or --json",
                          wanted.probabilities ? "proba" : "scores");
    wanted.threads = cli_threads(arguments);
    wanted.device = cli_value(arguments, "device");
    wanted.keep_labels = cli_flag(arguments, "constrain");
    wanted.tags = cli_value(arguments, "tags");
    wanted.comm = arguments->comm;
    if (scores && task->no_scores != NULL)
        return cli_error(error, MEDLEY_NOT_SUPPORTED, "%s; leave out --scores", task->no_scores);
    CLI_TRY(medley_predict_with(&prediction, model, dataset, &wanted, error));
    const bool shows_scores = wanted.probabilities || scores;
    if (!arguments->json && !shows_scores && wanted.best == 0)
        return medley_prediction_write(prediction, model, dataset, output, error);
    if (!arguments->json && prediction->best_head != NULL)
        return medley_prediction_write_best(prediction, model, dataset, output, error);
    if (!arguments->json && wanted.best == 0 &&
        (prediction->score != NULL || prediction->head_probability != NULL))
        return medley_prediction_write_scores(prediction, model, dataset, output, error);
    if (!arguments->json && wanted.best > 0)
        CLI_TRY(check_labels(model, error));
    const struct table table = {model, dataset, prediction, shows_scores};
    return cli_write_text(output,
                          arguments->json        ? print_json
                          : prediction->best > 0 ? print_best
                                                 : print_values,
                          &table, error);
}

static const cli_option options[] = {
    {"model", "FILE", "", "the model, unless it is the first argument", .group = "output"},
    {"output", "FILE", "-", "where the predictions go", .group = "output"},
    {"proba", "", "",
     "print probabilities of all labels too (of sequences: marginals), in further columns of "
     "tagged text (LABEL/NUMBER; conllu: Proba[LABEL]=NUMBER in MISC), else as a table; of trees "
     "those of HEAD and DEPREL (HeadProb=NUMBER and RelProb=NUMBER in MISC); to be trusted after "
     "training with --calibrate (of --loss logistic often without it); not of a regression",
     .group = "output"},
    {"scores", "", "", "print the scores of all labels too; of a regression a table of the numbers",
     .group = "output"},
    {"best", "N", "0",
     "print the N best outputs of every sequence (at most 20), one a line: sequence, rank, score, "
     "labels; of trees: every sentence as often, with comments # tree, # score and, with --proba, "
     "# probability",
     .group = "output"},
    {"constrain", "", "",
     "labels in DATA that the model knows are right: find the best labels of the other rows",
     .group = "output"},
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

const cli_command cli_command_predict = {
    .name = "predict",
    .usage = "[options] MODEL [DATA]",
    .summary = "label new data",
    .description = "Writes the predicted label of every row: tagged text in its own format "
                   "(columns: one more column; conllu: in the label's place), all else one label a "
                   "line, as in the training data (numbers in plain form: +1 and 1.0 are 1). A "
                   "regression writes numbers in the same way. In CSV files with a "
                   "header the columns are found by the names they had in training, in any order, "
                   "and other columns are left out. A file without names has the same columns in "
                   "the same order; if it has a label column as well, say so by --header no. The "
                   "labels of DATA are not looked at.",
    .options = options,
    .groups = CLI_PREDICTION | CLI_DATA | CLI_ROWS | CLI_RUN,
    .model = CLI_READS_MODEL,
    .together = true,
    .examples = examples,
    .run = run_predict,
};
