/* SPDX-License-Identifier: BSD-3-Clause */
/* Tagged sentences: chunks (labels B-NP, I-NP ...) as spans with their type, other labels as small
 * tags under the words. */
#include "report/report.h"

enum { MOST_WORDS = 60, FORM = 1, NO_CHUNK = -1 };

/* ---- words ---- */

static const char *word_of(const md_report *report, size_t row)
{
    const medley_dataset *data = report->options.data;
    const char *word = medley_dataset_word(data, row, data->head != NULL ? FORM : 0); /* CoNLL-U */
    return word != NULL ? word : "";
}

/* Of a long sentence the part around the first error. */
static void cut(const md_report *report, size_t *first, size_t *end)
{
    size_t error = *first;
    while (error < *end && !md_report_is_wrong(report, error))
        error++;
    if (*end - *first <= MOST_WORDS)
        return;
    error = error == *end ? *first : error;
    if (error > *first + MOST_WORDS / 2)
        *first = error - MOST_WORDS / 2;
    if (*end - *first > MOST_WORDS)
        *end = *first + MOST_WORDS;
}

/* ---- chunks ---- */

struct chunk {
    const char *type; /* into a label's name */
    bool begins;
};

/* What a label says of its word; type NULL: outside. before: of the word before. */
static struct chunk read_label(const char *label, const char *before)
{
    if (label[0] == '\0' || label[1] != '-')
        return (struct chunk){NULL, false};
    const char *type = label + 2;
    const bool inside = before != NULL && before[0] != '\0' && before[1] == '-' &&
                        strcmp(before + 2, type) == 0 && strchr("ELSU", before[0]) == NULL;
    return (struct chunk){type, !inside || strchr("BSU", label[0]) != NULL};
}

typedef const char *(*namer)(const md_report *report, size_t row);

static struct chunk chunk_at(const md_report *report, namer name, size_t first, size_t row)
{
    return read_label(name(report, row), row > first ? name(report, row - 1) : NULL);
}

/* The row after the chunk that begins at row. */
static size_t chunk_end(const md_report *report, namer name, size_t first, size_t end, size_t row)
{
    size_t next = row + 1;
    while (next < end) {
        const struct chunk chunk = chunk_at(report, name, first, next);
        if (chunk.type == NULL || chunk.begins)
            break;
        next++;
    }
    return next;
}

/* Does the other side have the same chunk? */
static bool agrees(const md_report *report, namer other, size_t first, size_t end, size_t row,
                   size_t after, const char *type)
{
    const struct chunk chunk = chunk_at(report, other, first, row);
    return chunk.type != NULL && chunk.begins && strcmp(chunk.type, type) == 0 &&
           chunk_end(report, other, first, end, row) == after;
}

/* One hue for each type, by its place among the model's labels. */
static size_t hue_of(const md_report *report, const char *type)
{
    const size_t labels = medley_model_label_count(report->model);
    size_t hue = 0;
    for (size_t l = 0; l < labels; l++) {
        const char *name = medley_model_label_name(report->model, l);
        if (name[0] != '\0' && name[1] == '-' && strcmp(name + 2, type) == 0)
            return hue;
        hue += name[0] == 'B' || name[0] == 'S';
    }
    return hue;
}

static void write_words(md_report *report, size_t first, size_t end)
{
    for (size_t r = first; r < end; r++)
        md_html_data_element(&report->html, "span", NULL, word_of(report, r));
}

static void write_chunks(md_report *report, const char *title, size_t first, size_t end, bool gold)
{
    md_html *html = &report->html;
    const namer name = gold ? md_report_gold_name : md_report_predicted_name;
    const namer other = gold ? md_report_predicted_name : md_report_gold_name;
    md_html_open_class(html, "div", "row");
    md_html_element(html, "span", "note", title);
    md_html_open_class(html, "div", "tokens");
    for (size_t r = first; r < end;) {
        const struct chunk chunk = chunk_at(report, name, first, r);
        if (chunk.type == NULL) {
            write_words(report, r, r + 1);
            r++;
            continue;
        }
        const size_t after = chunk_end(report, name, first, end, r);
        const bool same = agrees(report, other, first, end, r, after, chunk.type);
        const char *class = same ? "chunk" : gold ? "chunk missed" : "chunk bad";
        md_html_open_class(html, "span", md_class_hue(class, hue_of(report, chunk.type)).text);
        write_words(report, r, after);
        md_html_open_class(html, "span", "type");
        if (!same && !gold)
            md_html_text(html, "✗ ");
        md_html_data(html, chunk.type);
        md_html_close_all(html, 2);
        r = after;
    }
    md_html_close_all(html, 2);
}

/* ---- other labels ---- */

static void write_tags(md_report *report, size_t first, size_t end)
{
    md_html *html = &report->html;
    md_html_open_class(html, "div", "tokens");
    for (size_t r = first; r < end; r++) {
        const bool wrong = md_report_is_wrong(report, r);
        md_html_open_class(html, "span", wrong ? "word bad" : "word");
        md_html_data(html, word_of(report, r));
        md_html_open_class(html, "span", wrong ? "tag wrong" : "tag");
        md_html_text(html, wrong ? "✗ " : "");
        md_html_data(html, md_report_predicted_name(report, r));
        md_html_close(html);
        if (wrong) {
            md_html_open_class(html, "span", "tag");
            md_html_text(html, "✓ ");
            md_html_data(html, md_report_gold_name(report, r));
            md_html_close(html);
        }
        md_html_close(html);
    }
    md_html_close(html);
}

medley_status md_draw_tags(md_report *report, size_t first, size_t end, medley_error *error)
{
    (void)error;
    const size_t all_first = first;
    const size_t all_end = end;
    bool wrong = false;
    for (size_t r = first; r < end; r++)
        wrong = wrong || md_report_is_wrong(report, r);
    cut(report, &first, &end);
    if (!report->evaluation.has_chunks) {
        write_tags(report, first, end);
    } else {
        write_chunks(report, wrong ? "✓ right" : "✓ both", first, end, true);
        if (wrong)
            write_chunks(report, "✗ predicted", first, end, false);
    }
    if (first != all_first || end != all_end)
        md_html_element(&report->html, "p", "note", "A part of a longer sentence.");
    return MEDLEY_OK;
}
