/* SPDX-License-Identifier: BSD-3-Clause */
/* The report: a head that summarises the model in words, then sections, each of which says by
 * itself whether it has something to show. A new section is a file with an md_section and a line in
 * sections.def. */
#ifndef MD_REPORT_H
#define MD_REPORT_H

#include "data/dataset.h"
#include "medley/report.h"
#include "metrics/chunk.h"
#include "report/chart.h"
#include "report/html.h"

/* What one gets without learning: the most common label of the data always, their mean always, of
 * trees the better one of two neighbours as head. value NaN: there is none. */
typedef struct md_baseline {
    double value;      /* accuracy, root mean squared error, UAS */
    const char *label; /* the most common one; else NULL */
    bool is_next;      /* of trees: the next word is the head, not the one before */
} md_baseline;

/* How much of options.data the model was trained on, as far as it knows (training_rows.c). */
typedef enum md_training_rows {
    MD_NO_TRAINING_ROWS,   /* or nothing can be said */
    MD_SOME_TRAINING_ROWS, /* half of the rows or more are support rows */
    MD_AS_MANY_ROWS,       /* as many sentences and words as in training */
    MD_ALL_TRAINING_ROWS
} md_training_rows;

typedef struct md_report {
    md_html html;
    const medley_model *model;     /* NULL: none, and no summary */
    const medley_summary *summary; /* of the model */
    const medley_task_info *task;  /* of the model */
    medley_report_options options;
    size_t *by_weight; /* [block_count] blocks by falling weight, or by norm if that is uniform */
    bool uniform;      /* all blocks with a weight have the same one, whatever their norms are */

    /* the model on options.data */
    bool measured;
    medley_evaluation evaluation;
    medley_prediction *prediction; /* with probabilities, if the task has any */
    int32_t *gold;  /* [rows] right labels (of parsers: relations) in the model's numbering, -1: not
                       known to it; NULL: there are none */
    double *target; /* [rows] of a regression, else NULL */
    md_chunk_counts *chunks; /* [sequences] of labels of chunks, else NULL */
    md_baseline baseline;
    md_training_rows from_training;
    size_t known_rows; /* rows that are support rows of the model */
} md_report;

typedef struct md_section {
    const char *id, *title;
    bool (*present)(const md_report *report);
    medley_status (*write)(md_report *report, medley_error *error);
} md_section;

#define MD_SECTION(name) extern const md_section md_section_##name;
#include "report/sections.def"
#undef MD_SECTION

/* Predicts options.data and sorts the blocks. */
medley_status md_report_measure(md_report *report, medley_error *error);
void md_report_clear(md_report *report);

/* Title, summary and large numbers, and where to find the sections. */
void md_report_title(const md_report *report, md_text *title);
void md_report_overview(md_report *report);
void md_report_tiles(md_report *report); /* of a model */

/* With options.data_chose: "the epoch", "the penalty". */
const char *md_report_what_data_chose(const md_report *report);

/* What readers call `count` blocks: "kernel", "kernels", "templates", "blocks" ... */
const char *md_report_block_word(const md_report *report, size_t count);

/* The name of a block: that of options.block_names, or its own. */
const char *md_report_block_name(const md_report *report, size_t block);

/* What a block (of the report that is the context) is ranked and drawn by: its weight, or of
 * weights that are all the same its norm. */
double md_report_block_value(const void *context, size_t block);

/* Is the output for a row (label, or head and relation) another than the right one? */
bool md_report_is_wrong(const md_report *report, size_t row);

/* The probability of what was predicted for a row, of trees that of its head; NaN where there is
 * none. */
double md_report_confidence(const md_report *report, size_t row);

/* Were the probabilities of the model calibrated (`calibrate`)? */
bool md_report_is_calibrated(const md_report *report);

/* Finds from_training. */
medley_status md_report_find_training_rows(md_report *report, medley_error *error);

/* ---- how good a score is (baseline.c) ---- */

/* 95 % confidence; NaN: there is none. */
typedef struct md_confidence_interval {
    double low, high;
} md_confidence_interval;

/* Of the accuracy, or of trees of the headline (LAS or UAS). */
md_confidence_interval md_report_interval(const md_report *report);
/* Of R^2, of regressions. */
md_confidence_interval md_report_fit_interval(const md_report *report);

/* Of the F1 of chunks. */
md_confidence_interval md_report_chunk_interval(const md_report *report);

/* Finds the baseline. */
medley_status md_report_find_baseline(md_report *report, medley_error *error);

/* Are probabilities of heads calibrated, or near enough to what is right, to be drawn
 * (confidence.c)? */
bool md_report_is_reliable(const md_report *report);

/* The name of the right label of a row, as the data have it; of parsers the relation. */
const char *md_report_gold_name(const md_report *report, size_t row);
const char *md_report_predicted_name(const md_report *report, size_t row);

/* ---- ranking (rank.c) ---- */

/* What item i of a context is ranked by. */
typedef double (*md_rank_value)(const void *context, size_t i);

/* order[count] of items by falling value, equal ones in their order, those that are NaN last. The
 * caller frees it. */
medley_status md_rank(size_t **order, size_t count, md_rank_value value, const void *context,
                      medley_error *error);

/* Puts item among items[count], structs of `size` bytes that begin with the double they fall by;
 * the largest `most` stay, of equal ones the first. Returns how many there are. */
size_t md_keep_largest(void *items, size_t count, size_t most, size_t size, const void *item);

/* ---- examples ---- */

/* Drawings of single examples, of their rows first .. end-1, and a table of rows. */
medley_status md_draw_picture(md_report *report, size_t first, size_t end, medley_error *error);
medley_status md_draw_letters(md_report *report, size_t first, size_t end, medley_error *error);
medley_status md_draw_tags(md_report *report, size_t first, size_t end, medley_error *error);
medley_status md_draw_tree(md_report *report, size_t first, size_t end, medley_error *error);
medley_status md_draw_rows(md_report *report, const size_t *rows, size_t count,
                           medley_error *error);
bool md_rows_are_sparse(const md_report *report); /* there are tables, and all of them are */

#endif
