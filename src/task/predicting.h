/* SPDX-License-Identifier: BSD-3-Clause */
/* The predicting side of the tasks: what fills the rows of task.h, and what they share. */
#ifndef MD_PREDICTING_H
#define MD_PREDICTING_H

#include "metrics/chunk.h"
#include "metrics/reliability.h"
#include "task/task.h"

/* binary, multiclass, chain */
medley_status md_labels_predict(medley_prediction *prediction, const md_request *request,
                                medley_error *error);
medley_status md_labels_check_truth(const medley_dataset *dataset, medley_error *error);
medley_status md_labels_compare(medley_evaluation *evaluation, const md_request *request,
                                const medley_prediction *prediction, medley_error *error);

medley_status md_regression_check_request(const medley_predict_options *options,
                                          medley_error *error);
medley_status md_regression_predict(medley_prediction *prediction, const md_request *request,
                                    medley_error *error);
medley_status md_regression_check_truth(const medley_dataset *dataset, medley_error *error);
medley_status md_regression_compare(medley_evaluation *evaluation, const md_request *request,
                                    const medley_prediction *prediction, medley_error *error);

medley_status md_tree_check_request(const medley_predict_options *options, medley_error *error);
medley_status md_tree_predict(medley_prediction *prediction, const md_request *request,
                              medley_error *error);
medley_status md_tree_check_truth(const medley_dataset *dataset, medley_error *error);
medley_status md_tree_compare(medley_evaluation *evaluation, const md_request *request,
                              const medley_prediction *prediction, medley_error *error);

/* ---- shared ---- */

/* What a prediction runs on; it tells which card that was. */
static inline md_machine md_machine_of(const medley_predict_options *options,
                                       medley_prediction *prediction)
{
    return (md_machine){
        .threads = options->threads, .device = options->device, .device_name = prediction->device};
}

/* Only parsers look at a column of tags. */
medley_status md_refuse_tags(const medley_predict_options *options, medley_error *error);

medley_status md_fail_no_labels(const medley_dataset *dataset, medley_error *error);

/* The labels as numbers, for the caller to free whatever comes back: a selection of rows may have
 * no others although the file has. */
medley_status md_read_targets(double **targets, const medley_dataset *dataset, medley_error *error);

/* Examples, and how many of them are without an error; right and predicted are [rows]. */
void md_compare_sequences(medley_evaluation *evaluation, const medley_dataset *dataset,
                          const int32_t *right, const int32_t *predicted);

/* counts[sequences] of the chunks in each sequence of labelled data, of all types; the caller frees
 * them. NULL: the labels are not those of chunks. Types that the model does not know count, too. */
medley_status md_count_chunks(md_chunk_counts **counts, const medley_model *model,
                              const medley_dataset *dataset, const int32_t *predicted,
                              medley_error *error);

/* Of models that have probabilities: can they be had of these data? Those of long sentences, and of
 * some structures, cannot. */
bool md_has_probabilities(const medley_model *model, const medley_dataset *dataset);

void md_tell_reliability(medley_evaluation *evaluation, const md_reliability *reliability);

#endif
