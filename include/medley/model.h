/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Models: training, saving, loading, predicting, evaluating. A model owns everything it needs.
 */
#ifndef MEDLEY_MODEL_H
#define MEDLEY_MODEL_H

#include "medley/comm.h"
#include "medley/dataset.h"
#include "medley/observer.h"
#include "medley/options.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A trained model. */
typedef struct medley_model medley_model;

/**
 * Trains a model on labelled data. dev: held-out data for early stopping; NULL: none. options and
 * observer may be NULL. MEDLEY_STOPPED if the observer stopped it: the model is valid. Free with
 * medley_model_free.
 */
MEDLEY_API MEDLEY_CHECKED medley_status
medley_fit(medley_model **model, const medley_dataset *train, const medley_dataset *dev,
           const medley_options *options, const medley_observer *observer, medley_error *error);
/**
 * What speaks against learning from these data with these options (NULL: defaults), which works all
 * the same: one sentence with a remedy, options in backquotes. Today it tells of a column
 * that numbers the rows, and of columns of a view with kernels of histograms (chi2, intersection)
 * whose deviations differ by a factor of 1000 or more while no `scale` is given. Writes at most
 * size bytes, the final 0 included, and returns the length of the sentence; 0: nothing to say.
 */
MEDLEY_API size_t medley_fit_warning(char *text, size_t size, const medley_dataset *train,
                                     const medley_options *options);

/** Frees a model; NULL is allowed. */
MEDLEY_API void medley_model_free(medley_model *model);

/* ---- paths ---- */

/** Strengths of the penalty, from strong to weak. Start with MEDLEY_PATH_OPTIONS_INIT. */
typedef struct medley_path_options {
    size_t struct_size;
    size_t count;         /**< number of strengths */
    const double *lambda; /**< [count], decreasing; NULL: evenly spaced in logarithm, from the
                               smallest that makes all blocks zero (a strong one for penalties that
                               never do) down to ratio times it */
    double ratio;         /**< of the last strength to the first, if lambda is NULL */
} medley_path_options;

/** The defaults: 20 strengths down to 0.01 times the first. */
#define MEDLEY_PATH_OPTIONS_INIT                                                                   \
    {                                                                                              \
        sizeof(medley_path_options), 20, NULL, 0.01                                                \
    }

/**
 * Receives the model of each lambda, in order, and owns it (medley_model_free); the model's summary
 * has lambda, objective, gap and the norms of all blocks. Returning false ends the path.
 */
typedef bool (*medley_path_taker)(void *context, medley_model *model);

/**
 * Trains a model for each lambda on the same kernels and features, each started from the one
 * before, and hands it to take. For every penalty, and for every method but average, best, svm and
 * lp-beta. The options lambda, C and spicy-C are ignored; path NULL: defaults. MEDLEY_STOPPED if
 * the observer stopped it.
 */
MEDLEY_API MEDLEY_CHECKED medley_status medley_fit_path(
    const medley_dataset *train, const medley_options *options, const medley_path_options *path,
    medley_path_taker take, void *context, const medley_observer *observer, medley_error *error);

/* ---- files ---- */

/** Writes a model to a file, whole or not at all. */
MEDLEY_API MEDLEY_CHECKED medley_status medley_model_save(const medley_model *model,
                                                          const char *path, medley_error *error);
/** Reads a model from a file. Free with medley_model_free. */
MEDLEY_API MEDLEY_CHECKED medley_status medley_model_load(medley_model **model, const char *path,
                                                          medley_error *error);

/** The bytes of the model's file, in memory. Free with medley_bytes_free. */
MEDLEY_API MEDLEY_CHECKED medley_status medley_model_write(void **bytes, size_t *size,
                                                           const medley_model *model,
                                                           medley_error *error);
/** A model from such bytes, which need not outlive the call. name: what messages call them. */
MEDLEY_API MEDLEY_CHECKED medley_status medley_model_read(medley_model **model, const void *bytes,
                                                          size_t size, const char *name,
                                                          medley_error *error);
/** Frees the bytes of medley_model_write; NULL is allowed. */
MEDLEY_API void medley_bytes_free(void *bytes);

/* ---- what a model is for ---- */

/** Number of labels; of parsers: relations. */
MEDLEY_API size_t medley_model_label_count(const medley_model *model);
/** Name of a label. */
MEDLEY_API const char *medley_model_label_name(const medley_model *model, size_t label);

/** Whether the model predicts numbers; it then has no labels. */
MEDLEY_API bool medley_model_is_regression(const medley_model *model);

/** Whether the model predicts dependency trees. Its labels are the relations of arcs, if any. */
MEDLEY_API bool medley_model_is_parser(const medley_model *model);

/**
 * Words to describe models of a task with. "LABELS" in a text stands for "3 labels". Allocated by
 * the library only.
 */
typedef struct medley_task_info {
    const char *title;              /**< headline: "Telling LABELS apart" */
    const char *does;               /**< what a model does: "tells LABELS apart" */
    const char *does_unlabelled;    /**< the same without labels; NULL: there always are some */
    const char *example, *examples; /**< what models learn from: "sentence", "sentences" */
    const char *parts;              /**< what examples consist of: "words" */
    const char *block, *blocks;     /**< what blocks are called; NULL: by what they are */
    const char *no_features; /**< why there are no features to show; NULL: there may be some */
    const char *no_scores;   /**< why labels have no scores; NULL: they have */
    bool has_labels, has_probabilities;
    bool has_heads;       /**< predictions have heads of words */
    bool has_certificate; /**< method auto takes one with a certificate if options allow it */
    bool has_context;     /**< models may have blocks of neighbouring labels beside kernels */
} medley_task_info;

/** The description of a task, by its name in summaries; NULL: there is none. Never freed. */
MEDLEY_API const medley_task_info *medley_task_about(const char *name);

/**
 * Feature columns that the model expects of the table called name ("": the main one); 0: training
 * had no such table. medley_dataset_read_for and medley_dataset_add_table_for look at it.
 */
MEDLEY_API size_t medley_model_columns(const medley_model *model, const char *name);

/**
 * The name of a column of that table, from 0, by which it is found in data whose columns have
 * names; NULL: the columns have no names and are found by their places.
 */
MEDLEY_API const char *medley_model_column_name(const medley_model *model, const char *name,
                                                size_t column);

/**
 * Whether the model looks at tagged words (templates). Columns of numbers are then words as well:
 * set text_columns of medley_read_options.
 */
MEDLEY_API bool medley_model_reads_words(const medley_model *model);

/** Column of tagged words that held the labels in training, from 1; 0: not known. */
MEDLEY_API size_t medley_model_label_column(const medley_model *model);

/* ---- what was learnt ---- */

/** A block: a kernel, a feature template or the context of labels. Frozen. */
typedef struct medley_block_info {
    const char *name;
    double weight;   /**< beta_m; weights sum to 1 */
    double norm;     /**< ||theta_m|| */
    size_t features; /**< support vectors of a kernel, nonzero weights of explicit features */
} medley_block_info;

/** One pass over the training data. Frozen. */
typedef struct medley_epoch {
    double objective;    /**< NaN: not computed */
    double loss;         /**< mean loss of the examples, each when it was met in this epoch */
    double dev_accuracy; /**< NaN: there are no held-out data */
    double seconds;      /**< since training began; 0 in a loaded model */
    double dual, gap;    /**< NaN: the method has none */
    size_t active;       /**< nonzero blocks; 0: not counted */
    size_t updates;      /**< examples of this epoch that caused a step (online methods) */
} medley_epoch;

/**
 * What SPOM's proposition 3 says of a run with rates eta0/sqrt(t), one example and one prox in a
 * round, and no step left out: the regret of T rounds, which is what they lost, each before its
 * step and with the penalty at the end of its epoch, less T times the objective of the model, is
 * not above the bound. All 0: it says nothing of this run, or the model was loaded. Frozen.
 */
typedef struct medley_regret {
    double gradient; /**< G: no gradient of a loss is longer */
    double diameter; /**< F: of the ball that weights are kept in */
    double bound;    /**< (F^2 / (2 eta0) + G^2 eta0) sqrt(T) */
    double measured;
} medley_regret;

/**
 * The online stage of method obscure: no more examples caused a step than the bound says, which
 * follows from the norm of the model's weights and from what they would have lost in its rounds
 * (docs/math.md). All 0: there was none, or the model was loaded. Frozen.
 */
typedef struct medley_mistakes {
    size_t rounds;
    size_t updates; /**< examples that caused a step */
    size_t
        mistakes; /**< examples that lost 1 or more: of labels, those that were predicted wrong */
    double bound; /**< on updates, and so on mistakes */
    double loss;  /**< of the model's weights in as many rounds */
} medley_mistakes;

/** A kernel that option `preselect` has looked at. Frozen. */
typedef struct medley_preselected {
    const char *name;
    double error; /**< leave-one-out: share of rows that get another label, or of numbers the root
                     of the mean square; NaN: a constant, which stays in any case */
    bool kept;
} medley_preselected;

/** Everything there is to say about a model. Allocated by the library only. */
typedef struct medley_summary {
    const char *task, *method, *loss, *penalty;
    double lambda, C, spicy_C, eta0; /**< lambda 0: the method has no penalty, and `penalty` is the
                                          norm that it works with; the objective is the mean loss */
    size_t examples, parts; /**< of the training data: sentences and words, or rows and rows */
    const medley_block_info *blocks; /**< [block_count] */
    size_t block_count, active_blocks;
    double objective;
    double dual, gap; /**< a certificate: no model has a lower objective than dual; gap is
                           (objective - dual) / objective; NaN: the method has none, and
                           none was asked for (option certify) */
    double bias;      /**< of the first output; NaN: the model has none */
    size_t iterations;
    size_t newton_steps, passes; /**< of batch methods, passes over all kernels; else 0 */
    const medley_epoch *epochs;  /**< [epoch_count] */
    size_t epoch_count;
    double seconds_kernels, seconds_train; /**< 0 in a loaded model */
    double peak_rss_mb;                    /**< 0 in a loaded model */
    size_t support_rows;
    unsigned long long seed;
    size_t threads; /**< 0 in a loaded model */
    bool converged; /**< of methods that end at a gap it is no larger than was asked for; of others
                         the objective had settled, or early stopping ended the run */
    size_t updates; /**< examples that caused a step (online methods); 0 in a loaded model */
    double radius;  /**< of method obscure: R, the ball of stage 2; NaN: none, or a loaded model */
    double bound; /**< theorem 1: with probability 0.95 the objective exceeds the optimum by no more
                       than this; NaN: none, or a loaded model */
    double temperature; /**< of calibrated probabilities: what scores are divided by; NaN: not
                             calibrated */
    const double
        *offsets;      /**< [labels] what is then added to them; NULL: nothing, as for sequences */
    const char *scale; /**< how columns are scaled, as the option `scale` says it: "standard", or
                            "fou=standard, pix=none" where views differ, the first ones of many;
                            "": the model has no columns of numbers */
    size_t steps_skipped; /**< of log losses: steps that were left out, since the row was nearly
                               certain (option skip-certain), and of trees also arcs of other words
                               that were nearly impossible; 0 in a loaded model */
    medley_regret regret;
    medley_mistakes mistakes;
    const medley_preselected *preselected; /**< [preselected_count]; NULL: none were looked at, or
                                                the model was loaded */
    size_t preselected_count;
    size_t preselected_rows; /**< that they were judged by */
    double wanted_gap;  /**< of online methods that end at a gap (option gap): which; NaN: others,
                             or a loaded model */
    const char *device; /**< "cpu", or the name of a card; a loaded model: "" */
    const char *device_use;    /**< what ran there, if it is a card: "values and scores of 8
                                    kernels"; else "" */
    const char *device_reason; /**< why no card was used, where one would expect it; else "" */
    bool has_weights; /**< `features` of some blocks counts weights of columns, templates or pairs
                         of labels; else it counts support rows of all */
} medley_summary;

/** The summary of a model, borrowed from it. */
MEDLEY_API const medley_summary *medley_model_summary(const medley_model *model);

/**
 * Of one of the summary's blocks whose kernel is exp(-d/gamma) of distances d (option distance):
 * gamma. NaN: it has another kernel, or no part in the model.
 */
MEDLEY_API double medley_model_gamma(const medley_model *model, size_t block);

/** A weight of a feature of a template, or of neighbouring labels. Frozen. */
typedef struct medley_feature {
    char *text;   /**< "U02:the -> B-NP", "B-NP I-NP" */
    double value; /**< what it adds to the score */
} medley_feature;

/**
 * The weights of largest magnitude of one of the summary's blocks, at most `most`, largest first;
 * *count: how many (0 for kernels, which have support rows instead). Free with
 * medley_features_free.
 */
MEDLEY_API MEDLEY_CHECKED medley_status medley_model_features(medley_feature **features,
                                                              size_t *count,
                                                              const medley_model *model,
                                                              size_t block, size_t most,
                                                              medley_error *error);
/** Frees features; NULL is allowed. */
MEDLEY_API void medley_features_free(medley_feature *features, size_t count);

/* ---- prediction ---- */

/**
 * Reads a file to predict on, as medley_dataset_read does, with what the model knows about the data
 * it was trained on: the names of features and label, by which they are found in CSV files with a
 * header, in any order; the number of columns, so that files without labels are recognised; whether
 * columns are words, and which of them is the label. What options set explicitly holds; NULL:
 * defaults.
 */
MEDLEY_API MEDLEY_CHECKED medley_status medley_dataset_read_for(medley_dataset **dataset,
                                                                const medley_model *model,
                                                                const char *path,
                                                                const medley_read_options *options,
                                                                medley_error *error);

/** The same of a further table (medley_dataset_add_table), by the name that it had in training. */
MEDLEY_API MEDLEY_CHECKED medley_status medley_dataset_add_table_for(
    medley_dataset *dataset, const medley_model *model, const char *name, const char *path,
    const medley_read_options *options, medley_error *error);

/** What a model predicts for a data set. Allocated by the library only. */
typedef struct medley_prediction {
    size_t rows;
    size_t labels;    /**< 0 for regression */
    double *value;    /**< [rows] of regression: the predicted numbers, and then there are no label,
                           score and best outputs; else NULL */
    int32_t *label;   /**< [rows] index into the model's labels; NULL: it has none */
    float *score;     /**< [rows][labels] scores, or probabilities if they were asked for; NULL:
                           none */
    size_t sequences; /**< or rows, if they are independent */
    size_t best;      /**< outputs of each sequence that were asked for, beyond label */
    int32_t *best_label; /**< [best][rows], -1 where a sequence has fewer outputs */
    double
        *best_score; /**< [sequences][best], decreasing; NaN where a sequence has fewer outputs */
    double seconds_score, seconds_decode;
    int32_t *head; /**< [rows] of trees: the head of each word within its sentence, from 1; 0: the
                        root; NULL for other tasks */
    bool probabilities;      /**< score has probabilities */
    float *head_probability; /**< [rows] of trees, if probabilities were asked for: of each head,
                                the sum of those of all trees with this arc; score then has those of
                                  relations in the predicted tree; else NULL */
    float *arc_probability;  /**< the same of all heads that words may have: of each sentence of n
                                  words [n][n + 1], the root first; one sentence behind the other */
    int32_t *best_head; /**< [best][rows] of trees: heads of the best ones, -1 where a sentence has
                             fewer; best_label has their relations; NULL for other tasks */
    double *best_probability;      /**< [sequences][best] of the best trees, if probabilities were
                                        asked for, NaN where a sentence has fewer; else NULL */
    float *best_label_probability; /**< [best][rows] of their relations, in the same way */
    char device[128]; /**< the card that has computed kernel values; "": the processor has */
} medley_prediction;

/** Start with MEDLEY_PREDICT_OPTIONS_INIT. */
typedef struct medley_predict_options {
    size_t struct_size;
    size_t threads;     /**< 0: all processors */
    bool probabilities; /**< of each row's labels (marginals, in a sequence) in place of scores; of
                             trees: of heads and relations */
    bool keep_labels;  /**< labels in the data that the model knows are fixed: find the best rest */
    size_t best;       /**< also the best outputs of each sequence, this many, at most 20 */
    const char *tags;  /**< of parsers: the column of tags; NULL: the one used in training */
    medley_comm *comm; /**< rows are divided among its ranks; NULL: the process is alone */
    const char *device; /**< "auto", "cpu", "cuda" or "cuda:N"; NULL: auto */
} medley_predict_options;

/** The defaults: labels and scores, on all processors. */
#define MEDLEY_PREDICT_OPTIONS_INIT                                                                \
    {                                                                                              \
        sizeof(medley_predict_options), 0, false, false, 0, NULL, NULL, NULL                       \
    }

/**
 * Predicts. options NULL: defaults. MEDLEY_BAD_INPUT, with the row, where a number that is
 * predicted is beyond the range of numbers. Free with medley_prediction_free.
 */
MEDLEY_API MEDLEY_CHECKED medley_status medley_predict_with(medley_prediction **prediction,
                                                            const medley_model *model,
                                                            const medley_dataset *dataset,
                                                            const medley_predict_options *options,
                                                            medley_error *error);

/** Predicts with defaults; threads 0: all processors. */
MEDLEY_API MEDLEY_CHECKED medley_status medley_predict(medley_prediction **prediction,
                                                       const medley_model *model,
                                                       const medley_dataset *dataset,
                                                       size_t threads, medley_error *error);
/** Frees a prediction; NULL is allowed. */
MEDLEY_API void medley_prediction_free(medley_prediction *prediction);

/**
 * Writes the predicted labels, trees or numbers in the format that the data were read in, as
 * medley_dataset_write_labels does; numbers with the fewest digits that read back as the same.
 */
MEDLEY_API MEDLEY_CHECKED medley_status medley_prediction_write(const medley_prediction *prediction,
                                                                const medley_model *model,
                                                                const medley_dataset *dataset,
                                                                const char *path,
                                                                medley_error *error);

/**
 * The same with the scores or probabilities of all labels, so that lines can be put beside those of
 * the data: tagged text comes back with LABEL/NUMBER in further columns, CoNLL-U with
 * Proba[LABEL]=NUMBER (or Score) in MISC, attributes with proba=LABEL:NUMBER (or score); other
 * formats have a table between tabs with a header. Trees come back with HeadProb=NUMBER and
 * RelProb=NUMBER in MISC, the probabilities of HEAD and DEPREL. MEDLEY_USAGE where there are no
 * such numbers.
 */
MEDLEY_API MEDLEY_CHECKED medley_status medley_prediction_write_scores(
    const medley_prediction *prediction, const medley_model *model, const medley_dataset *dataset,
    const char *path, medley_error *error);

/**
 * Writes the best trees of every sentence as CoNLL-U, one behind the other, each with the comments
 * of the sentence and further ones: `# tree = 1`, `# score = NUMBER` and, if probabilities were
 * asked for, `# probability = NUMBER`; words then have HeadProb and RelProb, too. MEDLEY_USAGE
 * where there are no such trees.
 */
MEDLEY_API MEDLEY_CHECKED medley_status
medley_prediction_write_best(const medley_prediction *prediction, const medley_model *model,
                             const medley_dataset *dataset, const char *path, medley_error *error);

/** How well a model predicts. Start with MEDLEY_EVALUATION_INIT. */
typedef struct medley_evaluation {
    size_t struct_size;
    size_t examples, parts, labels, correct;
    double accuracy; /**< NaN for regression */
    double rmse, r2; /**< of regression, else NaN: root of the mean squared error, and 1 minus its
                          ratio to the variance of the targets (NaN if they are all equal) */
    double exact_match;    /**< share of sequences without an error; NaN if rows are independent */
    size_t *confusion;     /**< [labels][labels] rows: right label, columns: predicted; or NULL */
    size_t unknown_labels; /**< rows whose label the model has never seen: counted as wrong */
    bool has_chunks;       /**< the labels are those of chunks: B-NP, I-NP, O */
    double chunk_precision, chunk_recall, chunk_f1; /**< if has_chunks */
    double log_loss;          /**< mean of -log P(right label), P at least 1e-15; this and the next
                                   two are NaN unless probabilities were asked for. A label that the
                                   model has never seen has probability 0. Of trees all three are
                                   those of heads */
    double brier;             /**< mean of the squared distance to the right answer, 0 to 2 */
    double calibration_error; /**< expected calibration error: rows in 15 bins by their highest
                                   probability (of trees: that of the predicted head), distance
                                   between its mean and the share of rows where it is right */
    double seconds_score, seconds_decode, seconds_total;
    double uas, las; /**< of trees, else NaN: share of words with the right head, and with the right
                          head and relation (subtypes count) */
    double uas_no_punct, las_no_punct; /**< the same without words whose UPOS is PUNCT */
    size_t nonprojective_gold, nonprojective_predicted; /**< arcs of trees over a word that does not
                                                             hang, directly or by way of others,
                                                             from their head */
    double nonprojective_precision; /**< share of those predicted that have the right head; NaN:
                                         there are none */
    double nonprojective_recall;    /**< share of those of the data whose head was found; NaN: there
                                         are none */
    char device[128]; /**< the card that has computed kernel values; "": the processor has */
} medley_evaluation;

/** Nothing evaluated yet. */
#define MEDLEY_EVALUATION_INIT                                                                     \
    {                                                                                              \
        sizeof(medley_evaluation), 0, 0, 0, 0, 0, 0, 0, 0, NULL, 0, false, 0, 0, 0, 0, 0, 0, 0, 0, \
            0, 0, 0, 0, 0, 0, 0, 0, 0,                                                             \
        {                                                                                          \
            0                                                                                      \
        }                                                                                          \
    }

/** Start with MEDLEY_EVALUATE_OPTIONS_INIT. */
typedef struct medley_evaluate_options {
    size_t struct_size;
    size_t threads;     /**< 0: all processors */
    bool probabilities; /**< evaluate them, too; not for regression */
    const char *tags;   /**< of parsers: the column of tags; NULL: the one used in training */
    medley_comm *comm;  /**< rows are divided among its ranks; NULL: the process is alone */
    const char *device; /**< "auto", "cpu", "cuda" or "cuda:N"; NULL: auto */
} medley_evaluate_options;

/** The defaults: no probabilities, all processors. */
#define MEDLEY_EVALUATE_OPTIONS_INIT                                                               \
    {                                                                                              \
        sizeof(medley_evaluate_options), 0, false, NULL, NULL, NULL                                \
    }

/**
 * Predicts and compares with the labels of the data, which must be there, and numbers if the model
 * is a regression. options NULL: defaults. Release with medley_evaluation_clear.
 */
MEDLEY_API MEDLEY_CHECKED medley_status medley_evaluate_with(medley_evaluation *evaluation,
                                                             const medley_model *model,
                                                             const medley_dataset *dataset,
                                                             const medley_evaluate_options *options,
                                                             medley_error *error);

/** Evaluates with defaults; threads 0: all processors. */
MEDLEY_API MEDLEY_CHECKED medley_status medley_evaluate(medley_evaluation *evaluation,
                                                        const medley_model *model,
                                                        const medley_dataset *dataset,
                                                        size_t threads, medley_error *error);
/** Releases what an evaluation holds; it is then as MEDLEY_EVALUATION_INIT made it. */
MEDLEY_API void medley_evaluation_clear(medley_evaluation *evaluation);

/* ---- kernel matrices ---- */

/**
 * Computes the kernels that options name and writes them as npy: (count, rows, rows), or (rows,
 * rows) if there is one.
 */
MEDLEY_API MEDLEY_CHECKED medley_status medley_write_kernels(size_t *count,
                                                             const medley_dataset *dataset,
                                                             const medley_options *options,
                                                             const char *path, medley_error *error);

#ifdef __cplusplus
}
#endif
#endif
