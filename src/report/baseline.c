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

/* Rows of one sequence are not independent. A share is a ratio of sums over sequences u,
 * sum y_u / sum x_u, with the variance sum_u (y_u - share x_u)^2 / (sum x_u)^2 U/(U - 1)
 * (linearised; Cochran, Sampling Techniques, section 6.3). The interval is that of as many
 * independent rows as have the same variance. */
typedef struct ratio {
    double share;
    double x;       /* their sum */
    double squares; /* of y_u - share x_u, their sum */
    double units;   /* with an x > 0 */
} ratio;

static void add_unit(ratio *r, double y, double x)
{
    r->units += x > 0;
    r->squares += (y - r->share * x) * (y - r->share * x);
}

static md_confidence_interval interval_of(const ratio *r, double most_rows)
{
    const double variance = r->squares / (r->x * r->x) * r->units / fmax(r->units - 1, 1);
    return wilson(r->share,
                  variance > 0 ? fmin(r->share * (1 - r->share) / variance, most_rows) : r->units);
}

static md_confidence_interval interval_of_rows(const md_report *report, double share)
{
    const medley_dataset *data = report->options.data;
    ratio r = {.share = share, .x = (double)report->prediction->rows};
    if ((double)md_dataset_units(data) == r.x)
        return wilson(share, r.x);
    for (size_t u = 0; u < md_dataset_units(data); u++) {
        const size_t first = md_dataset_unit_start(data, u);
        const size_t end = md_dataset_unit_start(data, u + 1);
        size_t right = 0;
        for (size_t i = first; i < end; i++)
            right += !md_report_is_wrong(report, i);
        add_unit(&r, (double)right, (double)(end - first));
    }
    return interval_of(&r, r.x);
}

/* Is an interval honest: are the data new to the model? */
static bool may_have_interval(const md_report *report)
{
    return report->measured && report->prediction->rows > 0 && !report->options.data_chose &&
           report->from_training == MD_NO_TRAINING_ROWS;
}

/* 1 - R^2 is such a ratio, of squared errors to squared distances from the mean. It is not bounded
 * as shares are: the interval is that of a normal distribution, from so many rows on. */
md_confidence_interval md_report_fit_interval(const md_report *report)
{
    enum { FEWEST_ROWS = 30 };
    const double z = 1.959964;
    const double *target = report->target;
    double mean = 0;
    if (target == NULL || !may_have_interval(report) || report->prediction->rows < FEWEST_ROWS ||
        !isfinite(report->evaluation.r2))
        return (md_confidence_interval){NAN, NAN};
    const size_t rows = report->prediction->rows;
    for (size_t i = 0; i < rows; i++)
        mean += target[i] / (double)rows;
    ratio r = {.share = 1 - report->evaluation.r2};
    for (size_t i = 0; i < rows; i++) {
        const double error = report->prediction->value[i] - target[i];
        const double distance2 = (target[i] - mean) * (target[i] - mean);
        add_unit(&r, error * error, distance2);
        r.x += distance2;
    }
    const double half = z * sqrt(r.squares * (double)rows / (double)(rows - 1)) / r.x;
    return (md_confidence_interval){report->evaluation.r2 - half,
                                    fmin(report->evaluation.r2 + half, 1)};
}

md_confidence_interval md_report_interval(const md_report *report)
{
    const medley_evaluation *e = &report->evaluation;
    const double share = isfinite(e->las) ? e->las : isfinite(e->uas) ? e->uas : e->accuracy;
    return may_have_interval(report) && report->target == NULL && isfinite(share)
               ? interval_of_rows(report, share)
               : (md_confidence_interval){NAN, NAN};
}

/* F1 = 2 correct / (given + found) is such a ratio. If every correct chunk, every missed one and
 * every wrong one came by itself, its variance would be F1 (1 - F1) (2 - F1) / (given + found):
 * what looks better than that, in a few sentences, is luck. */
md_confidence_interval md_report_chunk_interval(const md_report *report)
{
    if (!may_have_interval(report) || report->chunks == NULL)
        return (md_confidence_interval){NAN, NAN};
    const size_t units = md_dataset_units(report->options.data);
    const md_chunk_counts total = md_chunk_total(report->chunks, units);
    ratio r = {.share = md_chunk_f1(total), .x = (double)(total.given + total.found)};
    if (r.x == 0) /* there is nothing to find, and nothing was found */
        return (md_confidence_interval){NAN, NAN};
    for (size_t u = 0; u < units; u++)
        add_unit(&r, 2 * (double)report->chunks[u].correct,
                 (double)(report->chunks[u].given + report->chunks[u].found));
    return interval_of(&r, r.x / (2 - r.share));
}

/* ---- without learning ---- */

static md_baseline most_common_label(const md_report *report, size_t *count)
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
        report->baseline = most_common_label(report, count);
    }
    return MEDLEY_OK;
}
