/* SPDX-License-Identifier: BSD-3-Clause */
/* What the sections look at: predictions beside what is right, and blocks by weight. */
#include "report/report.h"

#include "fit/fit.h"
#include "task/predicting.h"

enum { DEPREL = 7 }; /* column of CoNLL-U */

/* ---- blocks by weight ---- */

/* As under l2: then norms tell more. */
static bool has_uniform_weights(const medley_summary *s)
{
    const medley_block_info *first = NULL;
    bool norms_differ = false;
    for (size_t m = 0; m < s->block_count; m++) {
        const medley_block_info *block = &s->blocks[m];
        if (!(block->weight > 0))
            continue;
        first = first == NULL ? block : first;
        if (fabs(block->weight - first->weight) > 1e-9 * first->weight)
            return false;
        norms_differ = norms_differ || block->norm != first->norm;
    }
    return norms_differ;
}

double md_report_block_value(const void *context, size_t m)
{
    const md_report *report = context;
    const medley_block_info *block = &report->summary->blocks[m];
    return report->uniform && block->weight > 0 ? block->norm : block->weight;
}

const char *md_report_block_word(const md_report *report, size_t count)
{
    const medley_model *model = report->model;
    if (model != NULL && report->task->block != NULL)
        return count == 1 ? report->task->block : report->task->blocks;
    if (model != NULL && model->features == NULL && model->weights_count == 0)
        return count == 1 ? "kernel" : "kernels";
    return count == 1 ? "block" : "blocks";
}

const char *md_report_block_name(const md_report *report, size_t block)
{
    const char *const *names = report->options.block_names;
    return names != NULL && names[block] != NULL ? names[block]
                                                 : report->summary->blocks[block].name;
}

/* ---- predictions ---- */

static medley_status map_gold(md_report *report, medley_error *error)
{
    const medley_dataset *data = report->options.data;
    const md_strings *labels = &report->model->labels;
    if (report->prediction->head == NULL)
        return md_dataset_map_labels(&report->gold, data, labels, error);
    if (labels->count == 0 || isnan(report->evaluation.las))
        return MEDLEY_OK; /* heads only */
    MEDLEY_TRY(md_new(&report->gold, data->rows, sizeof *report->gold, error));
    for (size_t r = 0; r < data->rows; r++) {
        const char *text = medley_dataset_word(data, r, DEPREL);
        report->gold[r] = text != NULL ? md_strings_find(labels, text, strlen(text)) : -1;
    }
    return MEDLEY_OK;
}

/* Predicts the data once; the measures and all sections look at the same prediction. */
static medley_status predict(md_report *report, medley_error *error)
{
    medley_evaluate_options options = MEDLEY_EVALUATE_OPTIONS_INIT;
    options.threads = report->options.threads;
    options.device = report->options.device;
    const medley_dataset *data = report->options.data;
    options.probabilities = md_has_probabilities(report->model, data);
    options.tags = report->options.tags;
    MEDLEY_TRY(md_evaluate(&report->evaluation, &report->prediction, report->model, data, &options,
                           error));
    MEDLEY_TRY(report->prediction->value != NULL ? md_read_targets(&report->target, data, error)
                                                 : map_gold(report, error));
    if (report->evaluation.has_chunks)
        MEDLEY_TRY(md_count_chunks(&report->chunks, report->model, data, report->prediction->label,
                                   error));
    report->measured = true;
    MEDLEY_TRY(md_report_find_baseline(report, error));
    return md_report_find_training_rows(report, error);
}

medley_status md_report_measure(md_report *report, medley_error *error)
{
    if (report->model == NULL)
        return MEDLEY_OK;
    report->uniform = has_uniform_weights(report->summary);
    MEDLEY_TRY(md_rank(&report->by_weight, report->summary->block_count, md_report_block_value,
                       report, error));
    return report->options.data != NULL ? predict(report, error) : MEDLEY_OK;
}

void md_report_clear(md_report *report)
{
    md_html_clear(&report->html);
    medley_evaluation_clear(&report->evaluation);
    medley_prediction_free(report->prediction);
    free(report->by_weight);
    free(report->gold);
    free(report->target);
    free(report->chunks);
    *report = (md_report){0};
}

/* ---- rows ---- */

bool md_report_is_wrong(const md_report *report, size_t row)
{
    const medley_prediction *p = report->prediction;
    if (p->head != NULL && p->head[row] != medley_dataset_head(report->options.data, row))
        return true;
    return report->gold != NULL && p->label != NULL && p->label[row] != report->gold[row];
}

double md_report_confidence(const md_report *report, size_t row)
{
    const medley_prediction *p = report->prediction;
    if (p->head_probability != NULL)
        return (double)p->head_probability[row];
    if (p->score == NULL || p->label == NULL || p->head != NULL)
        return NAN;
    return (double)p->score[row * p->labels + (size_t)p->label[row]];
}

bool md_report_is_calibrated(const md_report *report)
{
    return isfinite(report->summary->temperature);
}

const char *md_report_gold_name(const md_report *report, size_t row)
{
    const medley_dataset *data = report->options.data;
    if (report->prediction->head != NULL) {
        const char *text = medley_dataset_word(data, row, DEPREL);
        return text != NULL ? text : "";
    }
    const int32_t label = medley_dataset_label(data, row);
    return label >= 0 ? medley_dataset_label_name(data, (size_t)label) : "";
}

const char *md_report_predicted_name(const md_report *report, size_t row)
{
    const medley_prediction *p = report->prediction;
    return p->label != NULL ? medley_model_label_name(report->model, (size_t)p->label[row]) : "";
}
