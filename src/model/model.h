/* SPDX-License-Identifier: BSD-3-Clause */
/* A trained model: fitted kernels, the support rows they are evaluated against, coefficients, label
 * names, and the summary of the training run. Two models of the same bytes score alike, bit by bit:
 * a model that was just learnt is already in the form in which it is saved. */
#ifndef MD_MODEL_H
#define MD_MODEL_H

#include "feature/feature.h"
#include "gram/gram.h"
#include "medley/model.h"
#include "model/calibration.h"
#include "structure/structure.h"

/* One active block. */
typedef struct md_term {
    size_t kernel; /* of the model's bank */
    size_t body;   /* index into bodies: kernels of an average share one */
    double factor; /* multiplies the body */
} md_term;

/* What was certified is kept as it was certified. */
typedef struct md_body {
    float *values;   /* [rows][outputs] */
    double *float64; /* the same before they were rounded; NULL: values are all there is */
    bool exact;      /* scores are computed in double precision, from float64: the coefficients
                        cancel so much that single precision would spoil them */
    size_t rows;     /* support rows, or columns of the view for explicit weights */
} md_body;

/* How scores become probabilities. */
typedef enum md_probability_link {
    MD_LINK_SOFTMAX,
    MD_LINK_LOGISTIC, /* 1/(1 + exp(-score)) of each label, divided by their sum */
    MD_LINKS
} md_probability_link;

/* Explicit weights of an active block that is no kernel: of a template's features, or one constant
 * feature's (label context). */
typedef struct md_weights {
    md_part_kind kind;
    size_t info;   /* of the summary's blocks */
    size_t block;  /* of the model's features; MD_CONSTANT: none */
    float *values; /* [rows][width] */
    size_t rows, width;
} md_weights;

#define MD_CONSTANT SIZE_MAX

MD_OWNER(medley_model_free, medley_model)
MD_OWNER(medley_prediction_free, medley_prediction)

struct md_task;

/* The kernels that were looked at by option `preselect`, and those rows. */
typedef struct md_preselection {
    medley_preselected *kernels; /* [count] */
    char **names;                /* [count] theirs */
    size_t count, rows;
} md_preselection;

/* Room for so many; to be cleared whatever comes back. The name of what is added is copied. */
medley_status md_preselection_init(md_preselection *preselection, size_t most, size_t rows,
                                   medley_error *error);
medley_status md_preselection_add(md_preselection *preselection, const medley_preselected *kernel,
                                  medley_error *error);
void md_preselection_clear(md_preselection *preselection);
medley_status md_preselection_copy(md_preselection *copy, const md_preselection *preselection,
                                   medley_error *error);

struct medley_model {
    const struct md_task *task;
    md_space space;    /* what decodes, and how many labels look back on how many; structure NULL:
                          nothing is decoded */
    md_strings labels; /* may be none */
    size_t outputs; /* columns of the bodies: one for each label; or 1, which is the number that is
                       predicted, or of two labels the score of the second, the first having 0 */
    double *bias;   /* [outputs] or NULL: 0 */
    md_probability_link link;
    md_calibration calibration; /* of what the link makes of scores */
    size_t token_columns;       /* of tagged words that the templates were made for */
    size_t label_column;        /* of them: where the label stood, from 1; 0: not known */
    md_features *features;      /* of the active templates, or NULL */
    char *format;               /* of training data with words or names; NULL: of none */
    md_weights *weights;        /* [weights_count] */
    size_t weights_count;
    md_bank bank;         /* active kernels and their views */
    md_prepared prepared; /* support rows */
    size_t support_count;
    size_t *support_row; /* [support_count] training row of each */
    md_term *terms;
    size_t term_count;
    md_body *bodies;
    size_t body_count;
    void *own; /* what only the task understands, or NULL; free_own frees it */
    void (*free_own)(void *own);
    medley_model *companion; /* another model that this one needs (of trees: the relations of arcs),
                                or NULL */

    /* the summary */
    char *method, *loss, *penalty;
    char *scale;                               /* of its views, as the option says it */
    char *device, *device_use, *device_reason; /* of a run; NULL in a loaded model */
    char **names;                              /* [block_count] */
    medley_block_info *blocks;                 /* [block_count] */
    medley_epoch *epochs;
    md_preselection preselection;
    medley_summary summary; /* pointers into the above, and the task's name */
};

/* Finds scale, once the bank is there. */
medley_status md_model_tell_scale(medley_model *model, medley_error *error);

/* Points summary's pointers to the model's own arrays; the name of the task is set with it. */
void md_model_bind_summary(medley_model *model);

/* Rounds float64 into new values. Returns 0, or -1 for lack of memory. */
int md_body_round(md_body *body, size_t outputs);

/* What computes: processors, and a card perhaps. */
typedef struct md_machine {
    size_t threads;
    const char *device; /* as option `device` says; NULL: the processor */
    char *device_name;  /* [MD_DEVICE_NAME] the card that was used, if any; NULL: nobody asks */
} md_machine;

/* ---- what prediction is made of: the outputs of rows, before bias and decoding (score.c) ---- */

/* scores[rows][outputs] of new data, that is of their row parts, without the bias; zeroed here. */
medley_status md_model_score(const medley_model *model, const medley_dataset *dataset,
                             const md_feature_ids *ids, const md_machine *machine, float *scores,
                             medley_error *error);

/* The same in double precision as far as bodies are exact; left: the rows as the model's bank sees
 * them, without templates. */
medley_status md_model_score_rows(const medley_model *model, const md_prepared *left,
                                  const md_machine *machine, double *scores, medley_error *error);
medley_status md_model_score_exactly(const medley_model *model, const medley_dataset *dataset,
                                     const md_machine *machine, double *scores,
                                     medley_error *error);

/* What came out for a row is no finite number. */
medley_status md_fail_overflow(size_t row, medley_error *error);

/* Adds a block's weights to groups of parts that belong to rows first, first + 1, ... */
void md_weights_score(const md_weights *weights, const md_feature_ids *ids, size_t first,
                      size_t groups, float *out);

#endif
