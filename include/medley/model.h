/* SPDX-License-Identifier: BSD-3-Clause */
/* Models: learning, saving, loading, predicting, measuring. A model owns all it needs. */
#ifndef MEDLEY_MODEL_H
#define MEDLEY_MODEL_H

#include "medley/dataset.h"
#include "medley/observer.h"
#include "medley/options.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct medley_model medley_model;

/* Learns a model from labelled data. dev (may be NULL): held-out data for early stopping. options
 * and observer may be NULL. The data are borrowed for the call. Returns MEDLEY_STOPPED if the
 * observer stopped it: the model is valid. */
MEDLEY_API MEDLEY_CHECKED medley_status
medley_fit(medley_model **model, const medley_dataset *train, const medley_dataset *dev,
           const medley_options *options, const medley_observer *observer, medley_error *error);
MEDLEY_API void medley_model_free(medley_model *model);

/* ---- paths ---- */

/* Strengths of the penalty, from strong to weak. */
typedef struct medley_path_options {
    size_t struct_size;
    size_t count;
    const double *lambda; /* [count], falling; or NULL: evenly in logarithm from the least that
                             leaves out all blocks, or of penalties that never do from a strong one,
                             down to ratio times it */
    double ratio;
} medley_path_options;

#define MEDLEY_PATH_OPTIONS_INIT                                                                   \
    {                                                                                              \
        sizeof(medley_path_options), 20, NULL, 0.01                                                \
    }

/* Gets the model of each lambda, in order, to keep and to free; its summary tells lambda,
 * objective, gap and the norms of all blocks. false: enough. */
typedef bool (*medley_path_taker)(void *context, medley_model *model);

/* Learns a model for each lambda on the same kernels and features, each started from the one
 * before; every penalty, and every method but those that learn nothing along it (average, best,
 * svm, lp-beta). The options' own lambda, C or spicy-C is not looked at; path NULL: defaults.
 * MEDLEY_STOPPED if the observer stopped it. */
MEDLEY_API MEDLEY_CHECKED medley_status medley_fit_path(
    const medley_dataset *train, const medley_options *options, const medley_path_options *path,
    medley_path_taker take, void *context, const medley_observer *observer, medley_error *error);

/* The file is written whole or not at all. */
MEDLEY_API MEDLEY_CHECKED medley_status medley_model_save(const medley_model *model,
                                                          const char *path, medley_error *error);
MEDLEY_API MEDLEY_CHECKED medley_status medley_model_load(medley_model **model, const char *path,
                                                          medley_error *error);

/* The bytes of the model's file, in memory: free with medley_bytes_free. */
MEDLEY_API MEDLEY_CHECKED medley_status medley_model_write(const medley_model *model, void **bytes,
                                                           size_t *size, medley_error *error);
/* A model from such bytes, which need not outlive the call. name: what messages call them. */
MEDLEY_API MEDLEY_CHECKED medley_status medley_model_read(medley_model **model, const void *bytes,
                                                          size_t size, const char *name,
                                                          medley_error *error);
MEDLEY_API void medley_bytes_free(void *bytes);

MEDLEY_API size_t medley_model_label_count(const medley_model *model);
MEDLEY_API const char *medley_model_label_name(const medley_model *model, size_t label);

/* Does the model predict numbers? Then it has no labels. */
MEDLEY_API bool medley_model_is_regression(const medley_model *model);

/* Does the model predict dependency trees? Its labels are the relations of arcs, if it has any. */
MEDLEY_API bool medley_model_is_parser(const medley_model *model);

/* What there is to say of a task, for who shows models of any. LABELS stands for "3 labels". */
typedef struct medley_task_info {
    const char *title;              /* how one begins: "Telling LABELS apart" */
    const char *does;               /* what a model does: "tells LABELS apart" */
    const char *does_unlabelled;    /* the same without labels; NULL: there always are some */
    const char *example, *examples; /* what it is learnt from: "sentence", "sentences" */
    const char *parts;              /* and what these are made of: "words" */
    const char *block, *blocks;     /* what blocks are called; NULL: by what they are */
    const char *no_features;        /* why there are none to show; NULL: there may be some */
    const char *no_scores;          /* why labels have none; NULL: they have, or are none */
    bool has_labels, has_probabilities;
    bool has_heads;       /* of words, in predictions */
    bool has_certificate; /* method auto takes one with a certificate, where options allow */
} medley_task_info;

/* Of the task called name, as summaries have it; NULL: there is none. */
MEDLEY_API const medley_task_info *medley_task_about(const char *name);

/* Feature columns the model expects of the table called name ("": DATA); 0 if it does not use it.
 * Pass it to medley_read_options so that files without labels are recognised. */
MEDLEY_API size_t medley_model_columns(const medley_model *model, const char *name);

/* Does the model look at tagged words (templates)? Then columns of numbers are words as well: set
 * text_columns of medley_read_options. */
MEDLEY_API bool medley_model_reads_words(const medley_model *model);

/* Column of tagged words that the labels were taken from in training, from 1; 0: not known. */
MEDLEY_API size_t medley_model_label_column(const medley_model *model);

/* ---- what was learnt ---- */

typedef struct medley_block_info {
    const char *name;
    double weight;   /* beta_m, summing to 1 */
    double norm;     /* ||theta_m|| */
    size_t features; /* support vectors of a kernel, nonzero weights of explicit features */
} medley_block_info;

typedef struct medley_epoch {
    double objective, loss; /* mean loss of the examples, each when it was met in this epoch */
    double dev_accuracy;    /* NaN without held-out data */
    double seconds;         /* since training began; 0 in a loaded model */
    double dual, gap;       /* NaN where the method has none */
    size_t active;          /* blocks that were not zero; 0 where it was not counted */
    size_t updates;         /* examples of this epoch that led to a step (online methods) */
} medley_epoch;

typedef struct medley_summary {
    const char *task, *method, *loss, *penalty;
    double lambda, C, spicy_C, eta0;
    size_t examples, parts;
    const medley_block_info *blocks;
    size_t block_count, active_blocks;
    double objective;
    double dual, gap; /* a certificate: no model has a lower objective than dual, gap is
                         (objective - dual) / objective; NaN where the method has none */
    double bias;      /* of the first output; NaN: the model has none */
    size_t iterations;
    size_t newton_steps, passes; /* of batch methods: passes over all kernels; else 0 */
    const medley_epoch *epochs;
    size_t epoch_count;
    double seconds_kernels, seconds_train; /* 0 in a loaded model */
    double peak_rss_mb;                    /* 0 in a loaded model */
    size_t support_rows;
    unsigned long long seed;
    size_t threads; /* 0 in a loaded model */
    bool converged; /* the objective had settled, or early stopping ended the run */
    size_t updates; /* examples that led to a step (online methods); 0 in a loaded model */
    double radius;  /* of method obscure: R, the ball of stage 2; NaN: none, or a loaded model */
    double bound;   /* theorem 1: with probability 0.95 the objective is no farther above the
                       optimum; NaN: none, or a loaded model */
    double temperature;    /* of calibrated probabilities: what scores are divided by; NaN: they are
                              not calibrated */
    const double *offsets; /* [labels] what is then added to them; NULL: nothing, as of sequences */
} medley_summary;

/* Borrowed from the model. */
MEDLEY_API const medley_summary *medley_model_summary(const medley_model *model);

/* A weight of a template's feature, or of neighbouring labels. */
typedef struct medley_feature {
    char *text;   /* "U02:the -> B-NP", "B-NP I-NP" */
    double value; /* what it adds to the score */
} medley_feature;

/* The `most` weights of largest magnitude of one of the summary's blocks, largest first; *count
 * says how many there are (0 for kernels, which have support rows instead). Free with
 * medley_features_free. */
MEDLEY_API MEDLEY_CHECKED medley_status medley_model_features(const medley_model *model,
                                                              size_t block, size_t most,
                                                              medley_feature **features,
                                                              size_t *count, medley_error *error);
MEDLEY_API void medley_features_free(medley_feature *features, size_t count);

/* ---- prediction ---- */

typedef struct medley_prediction {
    size_t rows, labels; /* labels: 0 for regression */
    double *value;    /* [rows] predicted numbers; NULL unless the model is a regression, and then
                         there are no label, score and best outputs */
    int32_t *label;   /* [rows] index into the model's labels; NULL if it has none */
    float *score;     /* [rows][labels], or probabilities if they were asked for */
    size_t sequences; /* or rows, if they stand alone */
    size_t best;      /* outputs of each sequence that were asked for, beyond label */
    int32_t *best_label; /* [best][rows], -1 where a sequence has fewer outputs */
    double *best_score;  /* [sequences][best], falling; NaN where a sequence has fewer outputs */
    double seconds_score, seconds_decode;
    int32_t *head; /* [rows] of trees: the head of each word within its sentence, from 1, 0 root;
                      else NULL, and scores are there */
} medley_prediction;

typedef struct medley_predict_options {
    size_t struct_size;
    size_t threads;     /* 0: all processors */
    bool probabilities; /* of each row's labels (marginals of a sequence) in place of scores */
    bool keep_labels;   /* labels in the data that the model knows are given: find the best rest */
    size_t best;        /* also the so many best outputs of each sequence, at most 20 */
    const char *tags;   /* of parsers: the column of tags; NULL: that of training */
} medley_predict_options;

#define MEDLEY_PREDICT_OPTIONS_INIT                                                                \
    {                                                                                              \
        sizeof(medley_predict_options), 0, false, false, 0, NULL                                   \
    }

/* options NULL: defaults. Free with medley_prediction_free. */
MEDLEY_API MEDLEY_CHECKED medley_status medley_predict_with(medley_prediction **prediction,
                                                            const medley_model *model,
                                                            const medley_dataset *dataset,
                                                            const medley_predict_options *options,
                                                            medley_error *error);

/* The same with defaults; threads 0: all processors. */
MEDLEY_API MEDLEY_CHECKED medley_status medley_predict(medley_prediction **prediction,
                                                       const medley_model *model,
                                                       const medley_dataset *dataset,
                                                       size_t threads, medley_error *error);
MEDLEY_API void medley_prediction_free(medley_prediction *prediction);

/* Writes the predicted labels or numbers in the format that the data were read in, as
 * medley_dataset_write_labels does; numbers with the fewest digits that read back as the same. */
MEDLEY_API MEDLEY_CHECKED medley_status medley_prediction_write(const medley_prediction *prediction,
                                                                const medley_model *model,
                                                                const medley_dataset *dataset,
                                                                const char *path,
                                                                medley_error *error);

typedef struct medley_evaluation {
    size_t examples, parts, labels, correct;
    double accuracy;    /* NaN for regression */
    double rmse, r2;    /* of regression, else NaN: root of the mean squared error, and 1 minus its
                           ratio to the variance of the targets (NaN if they are all equal) */
    double exact_match; /* share of sequences without an error; NaN if rows stand alone */
    size_t *confusion;  /* [labels][labels] rows: right label, columns: predicted; or NULL */
    size_t unknown_labels; /* rows whose label the model has never seen: counted as wrong */
    bool has_chunks;       /* the labels are those of chunks: B-NP, I-NP, O */
    double chunk_precision, chunk_recall, chunk_f1;
    /* Of the probabilities of a row's labels, if they were asked for, else NaN. A label that the
     * model has never seen has probability 0. */
    double log_loss;          /* mean of -log P(right label), P at least 1e-15 */
    double brier;             /* mean of the squared distance to the right answer, 0 to 2 */
    double calibration_error; /* expected: rows in 15 bins by their highest probability, distance
                                 between its mean and the share of rows where it is right */
    double seconds_score, seconds_decode, seconds_total;
    /* Of trees, else NaN: share of words with the right head, and with the right head and relation
     * (subtypes count); the same without words whose UPOS is PUNCT. */
    double uas, las, uas_no_punct, las_no_punct;
} medley_evaluation;

typedef struct medley_evaluate_options {
    size_t struct_size;
    size_t threads;     /* 0: all processors */
    bool probabilities; /* measure those too; not of a regression */
    const char *tags;   /* of parsers: the column of tags; NULL: that of training */
} medley_evaluate_options;

#define MEDLEY_EVALUATE_OPTIONS_INIT                                                               \
    {                                                                                              \
        sizeof(medley_evaluate_options), 0, false, NULL                                            \
    }

/* Predicts and compares with the labels of dataset; errors if it has none, or if a regression finds
 * one that is no number. options NULL: defaults. */
MEDLEY_API MEDLEY_CHECKED medley_status medley_evaluate_with(medley_evaluation *evaluation,
                                                             const medley_model *model,
                                                             const medley_dataset *dataset,
                                                             const medley_evaluate_options *options,
                                                             medley_error *error);

/* The same with defaults; threads 0: all processors. */
MEDLEY_API MEDLEY_CHECKED medley_status medley_evaluate(medley_evaluation *evaluation,
                                                        const medley_model *model,
                                                        const medley_dataset *dataset,
                                                        size_t threads, medley_error *error);
MEDLEY_API void medley_evaluation_clear(medley_evaluation *evaluation);

/* ---- kernel matrices ---- */

/* Computes the kernels that options name on dataset and writes them as npy: (M, N, N), or (N, N)
 * if there is one. */
MEDLEY_API MEDLEY_CHECKED medley_status medley_write_kernels(const medley_dataset *dataset,
                                                             const medley_options *options,
                                                             const char *path, size_t *count,
                                                             medley_error *error);

#ifdef __cplusplus
}
#endif
#endif
