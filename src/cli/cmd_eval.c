/* SPDX-License-Identifier: BSD-3-Clause */
/* medley eval: measure a model on labelled data. */
#include "cli.h"

static void print_json_probabilities(const medley_evaluation *e)
{
    if (isnan(e->log_loss)) /* not measured */
        return;
    json_number(stdout, "log_loss", e->log_loss);
    json_number(stdout, "brier", e->brier);
    json_number(stdout, "calibration_error", e->calibration_error);
}

static void print_json_trees(const medley_evaluation *e)
{
    json_number(stdout, "accuracy", e->accuracy);
    json_number(stdout, "exact_match", e->exact_match);
    json_number(stdout, "uas", e->uas);
    json_number(stdout, "uas_no_punct", e->uas_no_punct);
    json_open(stdout, "nonprojective", '{');
    json_number(stdout, "precision", e->nonprojective_precision);
    json_number(stdout, "recall", e->nonprojective_recall);
    json_count(stdout, "gold", e->nonprojective_gold);
    json_count(stdout, "predicted", e->nonprojective_predicted);
    json_close(stdout, '}');
    print_json_probabilities(e);
    if (isnan(e->las))
        return;
    json_number(stdout, "las", e->las);
    json_number(stdout, "las_no_punct", e->las_no_punct);
    json_count(stdout, "unknown_labels", e->unknown_labels);
}

static void print_json_labels(const medley_model *model, const medley_evaluation *e)
{
    json_number(stdout, "accuracy", e->accuracy);
    if (!isnan(e->exact_match))
        json_number(stdout, "exact_match", e->exact_match);
    if (e->has_chunks) {
        json_open(stdout, "chunk", '{');
        json_number(stdout, "precision", e->chunk_precision);
        json_number(stdout, "recall", e->chunk_recall);
        json_number(stdout, "f1", e->chunk_f1);
        json_close(stdout, '}');
    }
    print_json_probabilities(e);
    json_count(stdout, "unknown_labels", e->unknown_labels);
    cli_json_labels(stdout, model, e->labels);
    json_open(stdout, "confusion", '[');
    for (size_t l = 0; l < e->labels; l++) {
        json_open(stdout, NULL, '[');
        for (size_t k = 0; k < e->labels; k++)
            json_count(stdout, NULL, e->confusion[l * e->labels + k]);
        json_close(stdout, ']');
    }
    json_close(stdout, ']');
}

static void print_json(const medley_model *model, const medley_evaluation *e)
{
    json_open(stdout, NULL, '{');
    json_string(stdout, "task", medley_model_summary(model)->task);
    json_count(stdout, "examples", e->examples);
    json_count(stdout, "parts", e->parts);
    if (isnan(e->accuracy)) { /* regression */
        json_number(stdout, "rmse", e->rmse);
        json_number(stdout, "r2", e->r2);
    } else if (!isnan(e->uas)) {
        print_json_trees(e);
    } else {
        print_json_labels(model, e);
    }
    json_open(stdout, "seconds", '{');
    json_number(stdout, "score", e->seconds_score);
    json_number(stdout, "decode", e->seconds_decode);
    json_number(stdout, "total", e->seconds_total);
    json_close(stdout, '}');
    json_number(stdout, "per_second", (double)e->parts / fmax(e->seconds_total, 1e-9));
    json_string(stdout, "device", e->device[0] != '\0' ? e->device : "cpu");
    json_string(stdout, "blas", medley_blas());
    json_end(stdout);
}

/* The most common confusions say more than a large matrix. */
static void print_confusions(const medley_model *model, const medley_evaluation *e)
{
    enum { SHOWN = 5 };
    size_t below = SIZE_MAX; /* counts already shown are at least this */
    for (int shown = 0; shown < SHOWN;) {
        size_t most = 0;
        for (size_t l = 0; l < e->labels; l++)
            for (size_t k = 0; k < e->labels; k++)
                if (k != l && e->confusion[l * e->labels + k] < below &&
                    e->confusion[l * e->labels + k] > most)
                    most = e->confusion[l * e->labels + k];
        if (most == 0)
            return;
        if (shown == 0)
            printf("most common confusions:\n");
        for (size_t l = 0; l < e->labels; l++)
            for (size_t k = 0; k < e->labels && shown < SHOWN; k++)
                if (k != l && e->confusion[l * e->labels + k] == most) {
                    printf("  %s taken for %s: %zu times\n", medley_model_label_name(model, l),
                           medley_model_label_name(model, k), most);
                    shown++;
                }
        below = most;
    }
}

static void print_probabilities(const char *what, const medley_evaluation *e)
{
    if (!isnan(e->log_loss))
        printf("%s: log loss %.4f, Brier score %.4f, calibration error %.4f\n", what, e->log_loss,
               e->brier, e->calibration_error);
}

/* "precision 81.25 % of 16 predicted" */
static void print_share(const char *name, double share, size_t of, const char *which)
{
    if (isnan(share))
        printf("none %s", which);
    else
        printf("%s %.2f %% of %zu %s", name, 100 * share, of, which);
}

static void print_nonprojective(const medley_evaluation *e)
{
    printf("non-projective arcs: ");
    print_share("precision", e->nonprojective_precision, e->nonprojective_predicted, "predicted");
    printf(", ");
    print_share("recall", e->nonprojective_recall, e->nonprojective_gold, "in the data");
    printf("\n");
}

static void print_text_trees(const medley_evaluation *e)
{
    printf("UAS %.2f %% (right heads: %zu of %zu; %.2f %% without punctuation)\n", 100 * e->uas,
           e->correct, e->parts, 100 * e->uas_no_punct);
    if (!isnan(e->las))
        printf("LAS %.2f %% (right heads and relations; %.2f %% without punctuation)\n",
               100 * e->las, 100 * e->las_no_punct);
    if (e->nonprojective_gold + e->nonprojective_predicted > 0)
        print_nonprojective(e);
    print_probabilities("probabilities of heads", e);
    printf("sentences without a wrong head %.2f %% of %zu\n", 100 * e->exact_match, e->examples);
    printf("%.0f sentences a second\n", (double)e->examples / fmax(e->seconds_total, 1e-9));
}

static void print_text_labels(const medley_model *model, const medley_evaluation *e)
{
    printf("accuracy %.2f %% (%zu of %zu)\n", 100 * e->accuracy, e->correct, e->parts);
    if (!isnan(e->exact_match))
        printf("sequences without an error %.2f %% of %zu\n", 100 * e->exact_match, e->examples);
    if (e->has_chunks)
        printf("chunks: precision %.2f %%, recall %.2f %%, F1 %.2f %%\n", 100 * e->chunk_precision,
               100 * e->chunk_recall, 100 * e->chunk_f1);
    print_probabilities("probabilities", e);
    if (e->unknown_labels > 0)
        printf("%zu rows have labels that the model has never seen; they count as wrong\n",
               e->unknown_labels);
    print_confusions(model, e);
}

static void print_text(const medley_model *model, const medley_evaluation *e)
{
    if (isnan(e->accuracy)) { /* regression */
        cli_print_fit(stdout, e);
        printf(" (%zu rows)\n", e->parts);
    } else if (!isnan(e->uas)) {
        print_text_trees(e);
    } else {
        print_text_labels(model, e);
    }
    printf("%.0f rows a second\n", (double)e->parts / fmax(e->seconds_total, 1e-9));
}

static bool is_known(const medley_model *model, const char *name)
{
    for (size_t l = 0; l < medley_model_label_count(model); l++)
        if (strcmp(medley_model_label_name(model, l), name) == 0)
            return true;
    return false;
}

/* Many are most often the wrong column or the wrong file, and an accuracy would hide it; one here
 * or there is what new text is like. */
static bool has_many_unseen(const medley_evaluation *e)
{
    static const double MANY = 0.01;
    return (double)e->unknown_labels > MANY * (double)e->parts;
}

static medley_status refuse_unseen(const medley_model *model, const medley_dataset *dataset,
                                   const medley_evaluation *e, medley_error *error)
{
    size_t row = 0;
    int32_t label = -1;
    for (; row < medley_dataset_rows(dataset); row++) {
        label = medley_dataset_label(dataset, row);
        if (label < 0 || !is_known(model, medley_dataset_label_name(dataset, (size_t)label)))
            break;
    }
    return cli_error(
        error, MEDLEY_BAD_INPUT,
        "row %zu has the label '%.100s', which the model has never seen (%zu such rows); check "
        "--label, or count them as wrong with --allow-unseen",
        row + 1, label < 0 ? "" : medley_dataset_label_name(dataset, (size_t)label),
        e->unknown_labels);
}

static medley_status run_eval(cli_arguments *arguments, medley_error *error)
{
    CLI_OWNED(medley_model_free) medley_model *model = NULL;
    CLI_OWNED(medley_dataset_free) medley_dataset *dataset = NULL;
    CLI_CLEARED(medley_evaluation_clear) medley_evaluation evaluation = MEDLEY_EVALUATION_INIT;
    medley_evaluate_options wanted = MEDLEY_EVALUATE_OPTIONS_INIT;
    CLI_TRY(cli_load_model_and_data(arguments, "to measure", &model, &dataset, error));
    wanted.threads = cli_threads(arguments);
    wanted.device = cli_value(arguments, "device");
    wanted.probabilities = cli_flag(arguments, "proba");
    wanted.tags = cli_value(arguments, "tags");
    wanted.comm = arguments->comm;
    CLI_TRY(medley_evaluate_with(&evaluation, model, dataset, &wanted, error));
    if (isnan(evaluation.uas) && has_many_unseen(&evaluation) &&
        !cli_flag(arguments, "allow-unseen"))
        return refuse_unseen(model, dataset, &evaluation, error);
    if (arguments->json)
        print_json(model, &evaluation);
    else
        print_text(model, &evaluation);
    return MEDLEY_OK;
}

static const cli_option options[] = {
    {"model", "FILE", "", "the model, unless it is the first argument", .group = "output"},
    {"proba", "", "",
     "measure probabilities too: log loss, Brier score, expected "
     "calibration error (15 bins), of trees those of heads; not "
     "of a regression",
     .group = "output"},
    {"allow-unseen", "", "",
     "count labels that the model has never seen as wrong even if "
     "more than one row in a hundred has one",
     .group = "output"},
    {0}};

static const char *const examples[] = {
    "accuracy on labelled data",
    "medley eval --model sonar.medley test.csv",
    "on the folds that training did not see",
    "medley eval --model letters.medley --folds 1-9 letter.data.gz",
    "probabilities, after training with --calibrate",
    "medley eval --model m.medley --proba test.csv",
    NULL};

const cli_command cli_command_eval = {
    .name = "eval",
    .usage = "[options] MODEL [DATA]",
    .summary = "score a model on labelled data",
    .description = "Predicts labelled data and compares: accuracy, chunks where the labels are "
                   "B-X, I-X and O, confusions, speed. A regression: root mean squared error and "
                   "R2. A parser: UAS and LAS, the shares of right heads, and of right heads and "
                   "relations; precision and recall of arcs that are not projective, which are "
                   "those over a word that does not hang from their head.",
    .options = options,
    .groups = CLI_PREDICTION | CLI_DATA | CLI_ROWS | CLI_RUN,
    .model = CLI_READS_MODEL,
    .together = true,
    .examples = examples,
    .run = run_eval,
};
