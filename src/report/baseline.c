/* SPDX-License-Identifier: BSD-3-Clause */
/* How good a score is: its confidence interval, and what one gets without learning. */
#include "report/report.h"

/* Wilson's interval of a share of n independent rows. */
static md_confidence_interval wilson(double share, double n)
{
    const double z = 1.959964;
    const double middle = (share + z * z / (2 * n)) / (1 + z * z / n);
    const double half = z * sqrt(share * (1 - share) / n + z * z / (4 * n * n)) / (1 + z * z / n);
    return (md_confidence_interval){fmax(middle - half, 0), fmin(middle + half, 1)};
}

/* Rows of one sequence are not independent: as many independent rows as have the same variance of
 * the share, which is sum_s (right_s - share n_s)^2 / N^2 S/(S - 1) over sequences s. */
static double independent_rows(const md_report *report, double share)
{
    const medley_dataset *data = report->options.data;
    const double rows = (double)report->prediction->rows;
    const double units = (double)md_dataset_units(data);
    double sum = 0;
    if (units == rows)
        return rows;
    for (size_t u = 0; u < md_dataset_units(data); u++) {
        const size_t end = md_dataset_unit_start(data, u + 1);
        double excess = 0;
        for (size_t r = md_dataset_unit_start(data, u); r < end; r++)
            excess += (md_report_is_wrong(report, r) ? 0 : 1) - share;
        sum += excess * excess;
    }
    const double variance = sum / (rows * rows) * units / fmax(units - 1, 1);
    return variance > 0 ? fmin(share * (1 - share) / variance, rows) : units;
}

md_confidence_interval md_report_interval(const md_report *report)
{
    const medley_evaluation *e = &report->evaluation;
    const md_confidence_interval none = {NAN, NAN};
    if (!report->measured || report->target != NULL || report->prediction->rows == 0 ||
        report->options.data_chose || report->from_training != MD_NO_TRAINING_ROWS)
        return none;
    const double share = isfinite(e->las) ? e->las : isfinite(e->uas) ? e->uas : e->accuracy;
    return isfinite(share) ? wilson(share, independent_rows(report, share)) : none;
}

/* ---- without learning ---- */

static md_baseline commonest_label(const md_report *report, size_t *count)
{
    const medley_dataset *data = report->options.data;
    const size_t labels = medley_dataset_label_count(data);
    size_t most = 0;
    for (size_t r = 0; r < medley_dataset_rows(data); r++)
        if (medley_dataset_label(data, r) >= 0)
            count[medley_dataset_label(data, r)]++;
    for (size_t l = 1; l < labels; l++)
        most = count[l] > count[most] ? l : most;
    return (md_baseline){.value = (double)count[most] / (double)medley_dataset_rows(data),
                         .label = medley_dataset_label_name(data, most)};
}

/* The deviation of the targets: the error of their mean. */
static double error_of_mean(const double *target, size_t rows)
{
    double mean = 0;
    double squares = 0;
    for (size_t r = 0; r < rows; r++)
        mean += target[r] / (double)rows;
    for (size_t r = 0; r < rows; r++)
        squares += (target[r] - mean) * (target[r] - mean) / (double)rows;
    return sqrt(squares);
}

static md_baseline neighbour_as_head(const md_report *report)
{
    const medley_dataset *data = report->options.data;
    size_t before = 0;
    size_t next = 0;
    for (size_t u = 0; u < md_dataset_units(data); u++) {
        const size_t first = md_dataset_unit_start(data, u);
        const size_t length = md_dataset_unit_start(data, u + 1) - first;
        for (size_t w = 0; w < length; w++) {
            const size_t head = (size_t)medley_dataset_head(data, first + w); /* from 1; 0: root */
            before += head == w;
            next += head == (w + 2) % (length + 1); /* of the last word the root */
        }
    }
    return (md_baseline){.value = (double)(before > next ? before : next) /
                                  (double)report->prediction->rows,
                         .is_next = next > before};
}

medley_status md_report_find_baseline(md_report *report, medley_error *error)
{
    const size_t rows = report->prediction->rows;
    const size_t labels = medley_dataset_label_count(report->options.data);
    MD_OWNED(free) size_t *count = NULL;
    report->baseline = (md_baseline){.value = NAN};
    if (rows == 0)
        return MEDLEY_OK;
    if (report->target != NULL) {
        if (isfinite(report->evaluation.r2)) /* else the mean is all there is */
            report->baseline.value = error_of_mean(report->target, rows);
    } else if (report->prediction->head != NULL) {
        report->baseline = neighbour_as_head(report);
    } else if (labels > 0) {
        MEDLEY_TRY(md_new(&count, labels, sizeof *count, error));
        report->baseline = commonest_label(report, count);
    }
    return MEDLEY_OK;
}
