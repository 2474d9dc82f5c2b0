/* SPDX-License-Identifier: BSD-3-Clause */
/* A training run, assembled: data, kernels, templates, candidates for blocks, loss, penalty. Tasks
 * have their say in it (task.h), methods learn from it and do not change it. */
#ifndef MD_PROBLEM_H
#define MD_PROBLEM_H

#include "block/block.h"
#include "device/open_device.h"
#include "loss/loss.h"
#include "penalty/penalty.h"
#include "task/task.h"

typedef enum md_origin { MD_FROM_KERNEL, MD_FROM_TEMPLATE, MD_FROM_LABELS } md_origin;

/* A block that may be learnt. */
typedef struct md_candidate {
    md_origin origin;
    size_t index; /* kernel of the bank, or template */
    md_part_kind kind;
    const char *name; /* borrowed */
    bool own_term;    /* an l2 term of its own instead of the penalty */
} md_candidate;

/* ---- templates ---- */

/* The templates of a run and the features that they make of its rows: of words (words.c), or of
 * arcs (arcs.c). */
typedef struct md_source {
    const struct md_source_class *class;
    const md_window *window; /* NULL: the features of all examples are there at once */
} md_source;

typedef struct md_template_facts {
    bool pair;     /* features of a pair of labels, not of one */
    bool constant; /* the same feature at every row */
} md_template_facts;

struct md_source_class {
    /* Tables are large and hardly stay in the cache: examples of a round are scored block by block,
     * parts that are unlikely are not stepped for, and no scores are kept. */
    bool large_tables;

    /* Reads the templates of a file or built-in set. */
    medley_status (*create)(md_source **source, const char *path, const md_problem *problem,
                            medley_error *error);
    size_t (*count)(const md_source *source);
    const char *(*name)(const md_source *source, size_t t);
    md_template_facts (*facts)(const md_source *source, size_t t);

    /* Only those with keep[t] stay. */
    medley_status (*keep)(md_source *source, const bool *keep, medley_error *error);

    /* Makes the features of the problem's rows. */
    medley_status (*find_features)(md_source *source, medley_error *error);

    /* Features of template t, which have been found. */
    size_t (*features)(const md_source *source, size_t t);

    /* A block of template t; what: all but its features. */
    medley_status (*block)(md_block **block, md_source *source, size_t t, md_explicit *what,
                           medley_error *error);
    void (*free)(md_source *source);
};

extern const md_source_class md_word_templates, md_arc_sources;

static inline size_t md_source_count(const md_source *source)
{
    return source != NULL ? source->class->count(source) : 0;
}

/* ---- the problem ---- */

/* What runs on a card. */
typedef struct md_device_use {
    char name[MD_DEVICE_NAME];      /* "NVIDIA H200" */
    char what[MD_DEVICE_NAME];      /* "values and scores of 8 kernels"; "": nothing */
    char reason[MD_DEVICE_MESSAGE]; /* why it is not used, where one would expect it; "": none */
} md_device_use;

typedef struct md_progress {
    const medley_observer *observer;
    medley_observer watch; /* passes progress on to observer and remembers its wish to stop */
    bool stopped;          /* it asked to stop, maybe before there were any kernel values */
    double began, seconds_kernels;
} md_progress;

struct md_problem {
    const medley_dataset *train, *dev; /* dev may be NULL */
    const medley_options *options;
    const md_task *task;
    const struct md_method *method;
    size_t threads;
    size_t memory;     /* bytes for kernel values and features, of this process */
    md_device *device; /* NULL: none was looked for, or there is none */
    md_device_use device_use;

    /* what is predicted */
    md_space space;
    const int32_t *gold; /* [rows] labels or heads; NULL for numbers */
    int32_t *dev_gold;   /* [dev rows] the same of held-out data, in the same numbering; or NULL */
    md_example *examples;
    size_t example_count, longest;

    const char *loss;   /* its name, for the model's summary */
    const char *format; /* of training data with words or names; never freed; NULL: of none */
    md_penalty *penalty;
    double lambda;

    /* what it is learnt from */
    md_bank bank;
    md_prepared prepared;
    md_matrix *primal; /* [bank.count] rows of linear kernels that are kept as weights */
    md_source *source; /* of templates; NULL: there are none */
    md_preselection preselection;
    bool is_definite; /* the kernels are: it was found out */
    bool has_kernels; /* bank, rows and values are there already, from a fit with other settings */

    md_candidate
        *candidates; /* kernels, templates, label context; with own_term after the others */
    size_t candidate_count;

    /* What methods of one kind have beside all this (setup/setup.h); the other one is NULL. */
    struct md_online_side *online;
    struct md_batch_side *batch;

    md_progress progress; /* all that changes while it is learnt */
};

/* Bytes for kernel values and features. */
size_t md_problem_memory(const md_problem *problem);

/* ---- what was learnt, on its way into a model ---- */

/* The coefficients of a block, or of a kernel where a method has no blocks. Neither values nor
 * float64: it is not active. */
typedef struct md_exported {
    float *values;         /* [size] of a block */
    const double *float64; /* [size] of a kernel, borrowed */
    size_t size;
    bool weights;     /* of features, each for itself; else of rows, one for each output */
    size_t candidate; /* of the problem */
    double norm;
} md_exported;

/* What a model is made from: a problem, and the rows, labels and coefficients that it has come to,
 * which are not those of the problem where learning goes piece by piece. */
struct md_draft {
    const md_problem *problem;
    const md_task *task;
    const md_strings *labels;
    const md_prepared *prepared; /* of the rows that coefficients belong to */
    size_t rows;                 /* of prepared rows */
    size_t training_rows;        /* that the bank has seen */
    size_t examples;
    double lambda;
    double began, seconds_kernels;
    md_exported *exported; /* [exported_count] */
    size_t exported_count;
};

static inline bool md_exported_is_active(const md_exported *exported)
{
    return exported->values != NULL || exported->float64 != NULL;
}

/* Is there anything but zeros? */
static inline bool md_exported_has_some(const md_exported *exported, size_t first, size_t count)
{
    for (size_t i = first; i < first + count; i++)
        if (exported->float64 != NULL ? exported->float64[i] != 0 : exported->values[i] != 0)
            return true;
    return false;
}

/* ---- labels.c: what tasks share that predict labels ---- */

extern const char *const md_label_measures[];

/* Every row has one, and there are two or more. */
medley_status md_labels_check(const md_problem *problem, medley_error *error);
void md_labels_describe(md_problem *problem);
medley_status md_labels_prepare_dev(md_problem *problem, medley_error *error);
medley_status md_labels_check_size(const md_problem *problem, medley_error *error);
/* The parts of the longest example, with 32 bits? */
bool md_labels_can_number(md_shape shape, size_t longest);

/* Label names, and the weights of templates and label context. */
medley_status md_labels_build(medley_model *model, const md_draft *draft, medley_error *error);

const int32_t *md_labels_of(const medley_prediction *prediction);

/* Fields of a task's row that are the same for all of them (with predicting.h), and for all that
 * have a structure of our own. */
#define MD_WITH_LABELS                                                                             \
    .measures = md_label_measures, .templates = &md_word_templates,                                \
    .prepare_dev = md_labels_prepare_dev, .outputs = md_labels_of,                                 \
    .check_truth = md_labels_check_truth, .compare = md_labels_compare, .least_labels = 1,         \
    .check_size = md_labels_check_size, .info.title = "Telling LABELS apart",                      \
    .info.has_labels = true, .info.has_probabilities = true
#define MD_OF_LABELS                                                                               \
    MD_WITH_LABELS, .describe = md_labels_describe, .build = md_labels_build,                      \
                    .check_request = md_refuse_tags, .predict = md_labels_predict

/* Those of tasks whose examples are rows that stand alone. */
#define MD_OF_SINGLE_ROWS                                                                          \
    MD_OF_LABELS, .structure = &md_structure_multiclass, .info.does = "tells LABELS apart",        \
                  .info.example = "example", .info.examples = "examples", .info.parts = "rows"

/* Numbers to be predicted that came from memory: there are no labels beside them. */
bool md_dataset_has_only_targets(const medley_dataset *data);

/* ---- words.c ---- */

/* The weights of templates and of label context among what was learnt; features without any are
 * left behind. */
medley_status md_words_build(medley_model *model, const md_draft *draft, medley_error *error);

/* ---- arcs.c, found_trees.c, relations.c ---- */

/* The tables of arc templates that have weights. */
medley_status md_arcs_build(medley_model *model, const md_draft *draft, medley_error *error);
size_t md_arcs_tags(const md_source *source); /* the column that arc templates call upos */
/* Only arcs that this model, a parser of arcs alone, finds possible are looked at. */
medley_status md_arcs_prune(md_problem *problem, const medley_model *scout, medley_error *error);

/* head[rows] of the training data, each sentence parsed by a parser that has not seen it. The
 * problem has two sentences or more. */
medley_status md_find_trees(int32_t *head, const md_problem *problem, medley_error *error);

medley_status md_relations_derive(medley_dataset **data, medley_options **options,
                                  const md_problem *problem, medley_error *error);
medley_status md_relations_join(medley_model *model, medley_model *relations, medley_error *error);

#endif
