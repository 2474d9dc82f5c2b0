/* SPDX-License-Identifier: BSD-3-Clause */
/* Dependency trees: words in a row, the right arcs above them, and below them, dashed, the arcs
 * that the model drew instead. Arcs are flat-topped; one that spans another lies above it. Those
 * that the model is not sure of are paler and have their probability behind the relation. */
#include "report/report.h"

enum { MOST_WORDS = 60, FORM = 1, MOST_LETTERS = 24 };

static const double STEP = 21;        /* between levels of arcs */
static const double LETTER = 8.2;     /* width of a letter of a word */
static const double SMALL = 6.2;      /* of a relation's name */
static const double ROUND = 6;        /* of an arc's corners */
static const double SIDE_BY_SIDE = 4; /* of the ends of arcs at one word */
static const double NARROW = 290;     /* what a phone can show of a tree */
static const double SURE = 0.9;       /* probabilities that go without saying */
static const double WEAK = 0.5;

struct arc {
    size_t word;  /* 0 ... */
    int32_t head; /* from 1; 0: the root */
    size_t level; /* 1 ...; of the root 0 until the others are placed */
    bool wrong;   /* the other side has another one */
    const char *relation;
    double probability; /* of the head; NaN: not known, or not to be trusted */
};

struct tree {
    md_report *report;
    size_t first, count;
    double *x;        /* [count] middles of the words */
    struct arc *gold; /* [count] */
    struct arc *said; /* [said_count] those that are wrong */
    size_t said_count, above, below;
    const float *probability; /* [count][count + 1] of all heads; NULL: not known */
};

static const char *form(const struct tree *tree, size_t word)
{
    const char *text = medley_dataset_word(tree->report->options.data, tree->first + word, FORM);
    return text != NULL ? text : "";
}

static const char *head_name(const struct tree *tree, int32_t head)
{
    if (head <= 0 || (size_t)head > tree->count)
        return head == 0 ? "root" : "–";
    return form(tree, (size_t)head - 1);
}

/* ---- places ---- */

static double text_width(const char *text, double letter)
{
    return letter * md_html_width(text, MOST_LETTERS);
}

static bool shows_probability(const struct arc *arc)
{
    return arc->probability < SURE; /* not where it is NaN */
}

static double relation_width(const struct arc *arc)
{
    enum { LETTERS = 5 }; /* " 62 %" */
    return text_width(arc->relation, SMALL) + (shows_probability(arc) ? LETTERS * SMALL : 0);
}

/* Neighbours that are joined by an arc need room for its name. */
static double needed_between(const struct tree *tree, size_t left)
{
    double room = 0;
    const struct arc *sides[] = {tree->gold, tree->said};
    const size_t counts[] = {tree->count, tree->said_count};
    for (size_t s = 0; s < 2; s++)
        for (size_t i = 0; i < counts[s]; i++) {
            const struct arc *arc = &sides[s][i];
            const size_t head = (size_t)arc->head - 1;
            if (arc->head > 0 && ((arc->word == left && head == left + 1) ||
                                  (arc->word == left + 1 && head == left)))
                room = fmax(room, relation_width(arc) + (s == 0 ? 22 : 38));
        }
    return room;
}

static void place_words(struct tree *tree)
{
    double end = 12; /* of the word before */
    for (size_t w = 0; w < tree->count; w++) {
        const double half = fmax(text_width(form(tree, w), LETTER) / 2, 12);
        tree->x[w] = end + half;
        if (w > 0)
            tree->x[w] = fmax(tree->x[w], tree->x[w - 1] + needed_between(tree, w - 1));
        end = tree->x[w] + half + 8;
    }
}

static void span(const struct arc *arc, size_t *low, size_t *high)
{
    const size_t head = (size_t)arc->head - 1;
    *low = arc->word < head ? arc->word : head;
    *high = arc->word < head ? head : arc->word;
}

/* Levels by greedy interval colouring, the shortest arcs first: each goes one level above all that
 * are placed already and overlap it. O(words count^2); returns the highest level. */
static size_t place_arcs(struct arc *arcs, size_t count, size_t words)
{
    size_t highest = 0;
    for (size_t length = 1; length < words; length++)
        for (size_t i = 0; i < count; i++) {
            size_t low;
            size_t high;
            if (arcs[i].head <= 0)
                continue;
            span(&arcs[i], &low, &high);
            if (high - low != length)
                continue;
            size_t level = 0;
            for (size_t j = 0; j < count; j++) {
                size_t from;
                size_t to;
                if (arcs[j].head <= 0 || arcs[j].level == 0)
                    continue;
                span(&arcs[j], &from, &to);
                if (from < high && to > low && arcs[j].level > level)
                    level = arcs[j].level;
            }
            arcs[i].level = level + 1;
            highest = arcs[i].level > highest ? arcs[i].level : highest;
        }
    bool root = false;
    for (size_t i = 0; i < count; i++)
        if (arcs[i].head <= 0) {
            arcs[i].level = highest + 1;
            root = true;
        }
    return highest + root;
}

/* ---- drawing ---- */

/* The first letters of a text, after a sign and before what else is to be said. */
static void short_text(md_html *html, const char *class, double x, double y, const char *sign,
                       const char *text, const char *more)
{
    MD_CLEARED(md_text_clear) md_text shown = {0};
    md_text_addf(&shown, "%s", sign);
    md_html_shorten(&shown, text, MOST_LETTERS);
    md_text_addf(&shown, "%s", more);
    html->text.failed = html->text.failed || shown.failed;
    md_svg_text(html, class, x, y, "middle", shown.data != NULL ? shown.data : "");
}

static void relation_text(md_html *html, const struct arc *arc, double x, double y,
                          const char *class, bool sign)
{
    char more[48] = "";
    if (shows_probability(arc))
        snprintf(more, sizeof more, " %s", md_figure_rough(arc->probability).text);
    short_text(html, md_class_of("relation", class).text, x, y, sign ? "✗ " : "", arc->relation,
               more);
}

/* What a pointer on the arc is told. */
static void write_tooltip(const struct tree *tree, const struct arc *arc)
{
    MD_CLEARED(md_text_clear) md_text text = {0};
    md_html *html = &tree->report->html;
    if (isnan(arc->probability))
        return;
    md_html_shorten(&text, head_name(tree, arc->head), MOST_LETTERS);
    md_text_addf(&text, " \xE2\x86\x92 ");
    md_html_shorten(&text, form(tree, arc->word), MOST_LETTERS);
    md_text_addf(&text, ": %s", md_figure_percent(arc->probability).text);
    html->text.failed = html->text.failed || text.failed;
    md_html_element(html, "title", NULL, text.data != NULL ? text.data : "");
}

/* base: where arcs start; up: -1 above the words, 1 below them. */
static void draw_arc(const struct tree *tree, const struct arc *arc, double base, double up,
                     const char *class)
{
    md_html *html = &tree->report->html;
    const double end = tree->x[arc->word];
    const double y = base + up * (double)arc->level * STEP;
    const bool below = up > 0;
    const char *faint = arc->probability < WEAK ? "weak" : shows_probability(arc) ? "unsure" : "";
    char path[160];
    md_html_open_class(html, "g", faint[0] != '\0' ? faint : NULL);
    write_tooltip(tree, arc);
    if (arc->head <= 0) {
        snprintf(path, sizeof path, "M%.1f %.1fV%.1f", end, y, base);
        relation_text(html, arc, end, below ? y + 10 : y - 4, class, below);
    } else {
        const double start =
            tree->x[arc->head - 1] + (end < tree->x[arc->head - 1] ? -SIDE_BY_SIDE : SIDE_BY_SIDE);
        const double toward = end < start ? -ROUND : ROUND;
        snprintf(path, sizeof path,
                 "M%.1f %.1fV%.1fQ%.1f %.1f %.1f %.1fH%.1fQ%.1f %.1f %.1f %.1fV%.1f", start, base,
                 y - up * ROUND, start, y, start + toward, y, end - toward, end, y, end,
                 y - up * ROUND, base);
        relation_text(html, arc, (start + end) / 2, below ? y + 11 : y - 4, class, below);
    }
    md_svg_path(html, md_class_of("arc", class).text, path);
    snprintf(path, sizeof path, "M%.1f %.1fl-3.5 %.1fh7z", end, base - up * 0.5, up * 6.5);
    md_svg_path(html, md_class_of("head", class).text, path);
    md_html_close(html);
}

static void draw(const struct tree *tree)
{
    md_html *html = &tree->report->html;
    const double base = 16 + (double)tree->above * STEP;
    const double under = base + 24;
    const double height = under + (tree->said_count > 0 ? (double)tree->below * STEP + 16 : 6);
    const double width = tree->x[tree->count - 1] +
                         fmax(text_width(form(tree, tree->count - 1), LETTER) / 2, 24) + 12;
    char label[128];
    snprintf(label, sizeof label,
             "Dependency tree of %zu words, %zu of them wrong; the table below "
             "has every head",
             tree->count, tree->said_count);
    if (width > NARROW)
        md_html_element(html, "p", "note scrolls", "\xE2\x86\x94 scroll sideways");
    md_frame_open(html, "Dependency tree");
    md_html_open_class(html, "svg", "tree");
    md_html_coordinate(html, "width", width);
    md_html_coordinate(html, "height", height);
    md_html_attribute(html, "role", "img");
    md_html_attribute(html, "aria-label", label);
    for (size_t i = 0; i < tree->count; i++)
        if (!tree->gold[i].wrong)
            draw_arc(tree, &tree->gold[i], base, -1, "");
    for (size_t i = 0; i < tree->count; i++)
        if (tree->gold[i].wrong)
            draw_arc(tree, &tree->gold[i], base, -1, "missed");
    for (size_t i = 0; i < tree->said_count; i++)
        draw_arc(tree, &tree->said[i], under, 1, "false");
    for (size_t w = 0; w < tree->count; w++)
        short_text(html, "form", tree->x[w], base + 17, "", form(tree, w), "");
    md_html_close_all(html, 2);
}

/* ---- the same as a table ---- */

/* wrong: with a sign. */
static void write_cell(md_html *html, const char *text, bool wrong)
{
    md_html_open_class(html, "td", wrong ? "wrong" : NULL);
    md_html_text(html, wrong ? "✗ " : "");
    md_html_data(html, text);
    md_html_close(html);
}

static void write_row(const struct tree *tree, size_t word, bool relations)
{
    const md_report *report = tree->report;
    md_html *html = &tree->report->html;
    const size_t row = tree->first + word;
    const int32_t head = medley_dataset_head(report->options.data, row);
    const int32_t said = report->prediction->head[row];
    md_html_open(html, "tr");
    md_cell_number(html, md_figure_count(word + 1).text);
    write_cell(html, form(tree, word), false);
    write_cell(html, head_name(tree, head), false);
    if (relations)
        write_cell(html, md_report_gold_name(report, row), false);
    write_cell(html, head_name(tree, said), said != head);
    if (relations)
        write_cell(html, md_report_predicted_name(report, row),
                   report->prediction->label[row] != report->gold[row]);
    if (tree->probability != NULL)
        md_cell_number(html, md_figure_percent(md_report_confidence(report, row)).text);
    md_html_close(html);
}

static void write_table(const struct tree *tree, const char *title, bool wrong_only)
{
    /* the last one where there are probabilities */
    const char *last = tree->probability == NULL ? NULL
                       : md_report_is_calibrated(tree->report)
                           ? "#probability of the head"
                           : "#probability of the head, uncalibrated";
    const char *const heads[] = {
        "#", "word", "head", "relation", "predicted head", "predicted relation", last, NULL};
    const char *const heads_only[] = {"#", "word", "head", "predicted head", last, NULL};
    const md_report *report = tree->report;
    md_html *html = &tree->report->html;
    const bool relations = report->gold != NULL && report->prediction->label != NULL;
    size_t found = 0;
    md_details_open(html, title);
    md_table_open(html, "numbers", relations ? heads : heads_only);
    for (size_t w = 0; w < tree->count; w++) {
        if (wrong_only && !md_report_is_wrong(report, tree->first + w))
            continue;
        if (found++ < MOST_WORDS)
            write_row(tree, w, relations);
    }
    md_html_close_all(html, 2);
    if (found > MOST_WORDS)
        md_html_textf(html, "… and %s more", md_figure_count(found - MOST_WORDS).text);
    md_html_close_all(html, 2);
}

/* ---- a sentence ---- */

/* Those of the sentence among the probabilities of all arcs. */
static const float *find_probabilities(const md_report *report, size_t first)
{
    const medley_dataset *data = report->options.data;
    const float *at = report->prediction->arc_probability;
    for (size_t s = 0; at != NULL && medley_dataset_sequence_row(data, s) < first; s++) {
        const size_t words =
            medley_dataset_sequence_row(data, s + 1) - medley_dataset_sequence_row(data, s);
        at += words * (words + 1);
    }
    return at;
}

static double probability_of(const struct tree *tree, size_t word, int32_t head)
{
    if (tree->probability == NULL || !md_report_is_reliable(tree->report))
        return NAN;
    return (double)tree->probability[word * (tree->count + 1) + (size_t)head];
}

static void collect(struct tree *tree)
{
    const md_report *report = tree->report;
    for (size_t w = 0; w < tree->count; w++) {
        const size_t row = tree->first + w;
        const bool wrong = md_report_is_wrong(report, row);
        const int32_t head = medley_dataset_head(report->options.data, row);
        const bool inside = head >= 0 && (size_t)head <= tree->count && (size_t)head != w + 1;
        const int32_t said = report->prediction->head[row];
        tree->gold[w] = (struct arc){.word = w,
                                     .head = inside ? head : 0,
                                     .wrong = wrong,
                                     .relation = md_report_gold_name(report, row),
                                     .probability = inside ? probability_of(tree, w, head) : NAN};
        if (wrong)
            tree->said[tree->said_count++] =
                (struct arc){.word = w,
                             .head = said,
                             .wrong = true,
                             .relation = md_report_predicted_name(report, row),
                             .probability = probability_of(tree, w, said)};
    }
    tree->above = place_arcs(tree->gold, tree->count, tree->count);
    tree->below = place_arcs(tree->said, tree->said_count, tree->count);
    place_words(tree);
}

medley_status md_draw_tree(md_report *report, size_t first, size_t end, medley_error *error)
{
    struct tree tree = {.report = report,
                        .first = first,
                        .count = end - first,
                        .probability = find_probabilities(report, first)};
    if (tree.count > MOST_WORDS) {
        md_html_elementf(&report->html, "p", NULL, "A sentence of %s words, too long to draw.",
                         md_figure_count(tree.count).text);
        write_table(&tree, "Its wrong words as a table", true);
        return MEDLEY_OK;
    }
    if (tree.count == 0)
        return MEDLEY_OK;
    MD_OWNED(free) double *x = NULL;
    MD_OWNED(free) struct arc *arcs = NULL;
    MEDLEY_TRY(md_new(&x, tree.count, sizeof *x, error));
    MEDLEY_TRY(md_new(&arcs, 2 * tree.count, sizeof *arcs, error));
    tree.x = x;
    tree.gold = arcs;
    tree.said = arcs + tree.count;
    collect(&tree);
    draw(&tree);
    write_table(&tree, "The tree as a table", false);
    return MEDLEY_OK;
}
