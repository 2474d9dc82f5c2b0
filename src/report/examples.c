/* SPDX-License-Identifier: BSD-3-Clause */
/* Examples to look at, in the way that suits the data: images, words of letters, tagged sentences,
 * trees, or rows of numbers. Wrong ones come first, those with the highest confidence at the head.
 */
#include "report/report.h"

enum { LONG_SENTENCE = 40 };

enum kind { TREES, LETTERS, IMAGES, TAGS, ROWS };

static bool present(const md_report *report)
{
    return report->measured && report->target == NULL && report->options.examples > 0 &&
           report->prediction->rows > 0;
}

static enum kind kind_of(const md_report *report)
{
    const medley_dataset *data = report->options.data;
    size_t height;
    size_t width;
    if (report->prediction->head != NULL)
        return TREES;
    const bool sequences = medley_dataset_sequences(data) > 0;
    if (medley_dataset_image_shape(&height, &width, data))
        return sequences ? LETTERS : IMAGES;
    return sequences && medley_dataset_word_columns(data) > 0 ? TAGS : ROWS;
}

/* ---- which ones ---- */

/* What is too long to be taken in at a glance, or too short to be of interest, comes later. */
static double inconvenience(const md_report *report, size_t length)
{
    enum { LONG_TREE = 18, SHORT_TREE = 6 };
    if (report->prediction->head != NULL)
        return length > LONG_TREE    ? (double)(length - LONG_TREE)
               : length < SHORT_TREE ? (double)(SHORT_TREE - length)
                                     : 0;
    return length > LONG_SENTENCE ? 1 : 0;
}

/* How much a wrong example is worth looking at; NaN: it is right. */
static double interest(const md_report *report, size_t first, size_t end)
{
    double highest = 0;
    bool wrong = false;
    for (size_t r = first; r < end; r++) {
        if (!md_report_is_wrong(report, r))
            continue;
        const double confidence = md_report_confidence(report, r);
        wrong = true;
        highest = isfinite(confidence) ? fmax(highest, confidence) : highest;
    }
    return wrong ? highest - inconvenience(report, end - first) : (double)NAN;
}

/* Right ones from all over the data, after the wrong ones in chosen. */
static size_t add_right(size_t *chosen, size_t count, size_t most, const double *values, size_t all)
{
    size_t right = 0;
    for (size_t u = 0; u < all; u++)
        right += isnan(values[u]) ? 1 : 0;
    const size_t wanted = most - count < right ? most - count : right;
    size_t seen = 0;
    for (size_t u = 0; u < all && wanted > 0; u++) {
        if (!isnan(values[u]))
            continue;
        if (seen * wanted / right != (seen + 1) * wanted / right)
            chosen[count++] = u;
        seen++;
    }
    return count;
}

static double value_of(const void *values, size_t unit)
{
    return ((const double *)values)[unit];
}

/* Which examples (or rows) to draw: *wrong ones first (those with the highest confidence), then
 * right ones from all over the data: chosen[*count], for the caller to free. */
static medley_status choose(const md_report *report, bool by_row, size_t **chosen, size_t *wrong,
                            size_t *count, medley_error *error)
{
    const medley_dataset *data = report->options.data;
    const size_t all = by_row ? report->prediction->rows : md_dataset_units(data);
    const size_t most = report->options.examples < all ? report->options.examples : all;
    MD_OWNED(free) double *values = NULL;
    MD_OWNED(free) size_t *order = NULL;
    size_t all_wrong = 0;
    MEDLEY_TRY(md_new(&values, all, sizeof *values, error));
    for (size_t u = 0; u < all; u++) {
        values[u] = by_row ? interest(report, u, u + 1)
                           : interest(report, md_dataset_unit_start(data, u),
                                      md_dataset_unit_start(data, u + 1));
        all_wrong += isnan(values[u]) ? 0 : 1;
    }
    MEDLEY_TRY(md_rank(&order, all, value_of, values, error));
    MEDLEY_TRY(md_new(chosen, most, sizeof **chosen, error));
    /* a quarter is for right ones, if there are enough */
    const size_t right = md_min(all - all_wrong, most / 4);
    *wrong = md_min(all_wrong, most - right);
    for (size_t i = 0; i < *wrong; i++)
        (*chosen)[i] = order[i];
    *count = add_right(*chosen, *wrong, most, values, all);
    return MEDLEY_OK;
}

/* ---- drawing them ---- */

static medley_status draw_group(md_report *report, enum kind kind, const size_t *examples,
                                size_t count, bool bad, medley_error *error)
{
    static medley_status (*const draw[])(md_report *, size_t, size_t, medley_error *) = {
        md_draw_tree, md_draw_letters, md_draw_picture, md_draw_tags}; /* by kind */
    const medley_dataset *data = report->options.data;
    md_html *html = &report->html;
    if (count == 0)
        return MEDLEY_OK;
    md_html_element(html, "h3", NULL, bad ? "✗ Wrong" : "✓ Right");
    md_html_open_class(html, "ul", "cards");
    for (size_t i = 0; i < count; i++) {
        char class[48];
        snprintf(class, sizeof class, "card %s%s", bad ? "bad" : "good",
                 kind == TREES || kind == TAGS ? " sentence" : "");
        md_html_open_class(html, "li", class);
        MEDLEY_TRY(draw[kind](report, md_dataset_unit_start(data, examples[i]),
                              md_dataset_unit_start(data, examples[i] + 1), error));
        md_html_close(html);
    }
    md_html_close(html);
    return MEDLEY_OK;
}

/* wrong: how many of those that are shown are wrong. */
static void tell(md_report *report, enum kind kind, size_t wrong, size_t count)
{
    static const char *const some[] = {
        "Above the words the right tree; below them, dashed, what the model said instead where it "
        "was wrong.",
        "Words as they were written. Under each letter what was read; where that is wrong, what "
        "would have been right follows.",
        "Images with the predicted labels.",
        "Sentences with their labels; where the model was wrong, both answers are shown."};
    static const char *const none[] = {
        "Sentences with their trees, all of them as the model drew them.",
        "Words as they were written, and under each letter what was read, rightly.",
        "Images, all of them recognised.",
        "Sentences with their labels, all of them as the model gave them."};
    md_html *html = &report->html;
    if (kind != ROWS) {
        md_html_open(html, "p");
        md_html_text(html, wrong > 0 ? some[kind] : none[kind]);
        if (kind == TREES && md_report_is_reliable(report))
            md_html_text(html, " Arcs that the model is not sure of are paler and have the "
                               "probability that it gives them behind their relation.");
        md_html_close(html);
        return;
    }
    const bool sparse = md_rows_are_sparse(report);
    md_html_open(html, "p");
    md_html_text(html, wrong == 0      ? "Rows from all over the data, all of them right"
                       : wrong < count ? "First the wrong rows with the highest confidence, then "
                                         "some that are right"
                                       : "The wrong rows with the highest confidence");
    md_html_text(html, report->options.data->table_count == 0 ? ""
                       : sparse ? "; what stands out are their largest values"
                                : "; what stands out are the values farthest from the mean of "
                                  "their column");
    md_html_text(html, ". Rows are numbered among those looked at.");
    if (report->prediction->score != NULL && !md_report_is_calibrated(report))
        md_html_text(html, " Confidence is uncalibrated: train with --calibrate for "
                           "probabilities.");
    md_html_close(html);
}

static medley_status write_section(md_report *report, medley_error *error)
{
    const enum kind kind = kind_of(report);
    MD_OWNED(free) size_t *chosen = NULL;
    size_t wrong;
    size_t count;
    MEDLEY_TRY(choose(report, kind == ROWS, &chosen, &wrong, &count, error));
    tell(report, kind, wrong, count);
    if (kind == ROWS)
        return md_draw_rows(report, chosen, count, error);
    MEDLEY_TRY(draw_group(report, kind, chosen, wrong, true, error));
    return draw_group(report, kind, chosen + wrong, count - wrong, false, error);
}

const md_section md_section_examples = {"examples", "Examples", present, write_section};
