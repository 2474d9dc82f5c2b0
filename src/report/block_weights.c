/* SPDX-License-Identifier: BSD-3-Clause */
/* Which blocks matter: bars by falling weight, and a table of all of them. */
#include "report/report.h"

#include "model/model.h"

static bool present(const md_report *report)
{
    return report->summary != NULL && report->summary->block_count > 0;
}

static void draw_bar(md_html *html, double share, double value)
{
    md_svg_open_cell(html);
    md_html_open_class(html, "rect", "bar");
    md_html_attribute(html, "data-value", md_figure_exact(value).text);
    md_html_attribute(html, "height", "70%");
    md_html_attribute(html, "y", "15%");
    md_html_percent(html, "width", share);
    md_html_close_all(html, 2);
}

static void bar_row(md_report *report, size_t block, double largest, double cumulative)
{
    md_html *html = &report->html;
    const double value = md_report_block_value(report, block);
    md_html_open(html, "tr");
    md_html_open(html, "th");
    md_html_attribute(html, "scope", "row");
    md_html_name(html, md_report_block_name(report, block));
    md_html_close(html);
    md_html_open(html, "td");
    draw_bar(html, largest > 0 ? value / largest : 0, value);
    md_html_close(html);
    if (report->uniform) {
        md_cell_number(html, md_figure_number(value).text);
    } else {
        md_cell_number(html, md_figure_percent(value).text);
        md_html_element(html, "td", "n extra", md_figure_percent(fmin(cumulative, 1)).text);
    }
    md_html_close(html);
}

static void bars_head(md_html *html, bool uniform)
{
    static const char *const weights[][2] = {
        {"what", "block"}, {NULL, "weight"}, {"n", "share"}, {"n extra", "cumulative"}};
    static const char *const norms[][2] = {{"what", "block"}, {NULL, ""}, {"n", "norm"}};
    md_table_begin(html, "bars", "weight-bars");
    for (size_t i = 0; i < (uniform ? 3 : 4); i++) {
        md_html_open_class(html, "th", uniform ? norms[i][0] : weights[i][0]);
        md_html_attribute(html, "scope", "col");
        md_html_text(html, uniform ? norms[i][1] : weights[i][1]);
        md_html_close(html);
    }
    md_table_body(html);
}

/* The largest, down to the last that is not zero; `top` of them at most. */
static size_t write_bars(md_report *report)
{
    md_html *html = &report->html;
    const medley_summary *s = report->summary;
    const double largest = md_report_block_value(report, report->by_weight[0]);
    size_t shown = 0;
    double cumulative = 0;
    if (report->options.top == 0)
        return 0;
    md_figure_open(html, report->uniform ? "Norms, largest first" : "Weights, largest first", NULL);
    bars_head(html, report->uniform);
    for (; shown < s->block_count && shown < report->options.top; shown++) {
        const medley_block_info *block = &s->blocks[report->by_weight[shown]];
        if (shown > 0 && !(block->weight > 0))
            break;
        cumulative += isfinite(block->weight) ? block->weight : 0;
        bar_row(report, report->by_weight[shown], largest, cumulative);
    }
    md_html_close_all(html, 3);
    return shown;
}

static void title_table(const md_report *report, size_t shown, char *title, size_t size)
{
    const size_t count = report->summary->block_count;
    const char *word = md_report_block_word(report, count);
    if (count == 1)
        snprintf(title, size, "The %s as a table", word);
    else if (shown == count)
        snprintf(title, size, "All %s %s as a table", md_figure_count(count).text, word);
    else
        snprintf(title, size, "The first %s of %s %s as a table", md_figure_count(shown).text,
                 md_figure_count(count).text, word);
}

/* Of kernels support rows are counted, of all others weights. */
static const char *count_title(const md_report *report)
{
    if (report->summary->support_rows == 0)
        return "#features";
    return report->summary->has_weights ? "#rows/features" : "#support rows";
}

static void write_table(md_report *report)
{
    enum { MOST_ROWS = 10000 };
    const bool named = report->options.block_names != NULL; /* then their own names, too */
    const char *const heads[] = {
        "block", "#weight", "#norm", count_title(report), named ? "kernel" : NULL, NULL};
    md_html *html = &report->html;
    const medley_summary *s = report->summary;
    const size_t shown = s->block_count < MOST_ROWS ? s->block_count : MOST_ROWS;
    char title[128];
    title_table(report, shown, title, sizeof title);
    md_details_open(html, title);
    md_table_open(html, "numbers", heads);
    for (size_t i = 0; i < shown; i++) {
        const medley_block_info *block = &s->blocks[report->by_weight[i]];
        md_html_open(html, "tr");
        md_html_open(html, "td");
        md_html_name(html, md_report_block_name(report, report->by_weight[i]));
        md_html_close(html);
        md_cell_number(html, md_figure_number(block->weight).text);
        md_cell_number(html, md_figure_number(block->norm).text);
        md_cell_number(html, md_figure_count(block->features).text);
        if (named) {
            md_html_open(html, "td");
            md_html_name(html, block->name);
            md_html_close(html);
        }
        md_html_close(html);
    }
    md_html_close_all(html, 2);
    if (s->block_count > shown)
        md_html_textf(html, "… and %s more", md_figure_count(s->block_count - shown).text);
    md_html_close_all(html, 2);
}

/* Blocks that the bars do not show: too many of them, or without a share because a penalty of their
 * own keeps them apart from the others (pairs of labels). */
static void write_notes(md_report *report, size_t shown)
{
    md_html *html = &report->html;
    const medley_summary *s = report->summary;
    size_t more = 0;
    size_t apart = 0;
    for (size_t i = shown; i < s->block_count; i++) {
        const medley_block_info *block = &s->blocks[report->by_weight[i]];
        more += block->weight > 0;
        apart += !(block->weight > 0) && block->norm > 0;
    }
    if (more > 0)
        md_html_elementf(html, "p", "note", "%s%s %s a weight: see the table.",
                         md_figure_count(more).text, shown > 0 ? " more" : "",
                         more == 1 ? "has" : "have");
    if (apart > 0)
        md_html_elementf(
            html, "p", "note",
            "%s %s part of the model under a penalty of %s own, and %s no share: see the "
            "table.",
            md_figure_count(apart).text, apart == 1 ? "is" : "are", apart == 1 ? "its" : "their",
            apart == 1 ? "has" : "have");
}

/* Is each weight the share of a norm in the sum of norms? */
static bool are_shares_of_norms(const medley_summary *s)
{
    double total = 0;
    for (size_t m = 0; m < s->block_count; m++)
        total += s->blocks[m].weight > 0 ? s->blocks[m].norm : 0;
    for (size_t m = 0; m < s->block_count; m++)
        if (s->blocks[m].weight > 0 && !(fabs(s->blocks[m].weight * total - s->blocks[m].norm) <=
                                         1e-6 * fmax(total, s->blocks[m].norm)))
            return false;
    return true;
}

static bool find_listing(medley_listing *listing, const char *kind, const char *name, size_t length)
{
    for (size_t i = 0; medley_list(listing, kind, i); i++)
        if (strlen(listing->name) == length && strncmp(listing->name, name, length) == 0)
            return true;
    return false;
}

/* The penalty of a text such as "0.5*block(q=1.5)"; false: there are several terms. */
static bool find_penalty(medley_listing *listing, const char *text)
{
    const char *factor = strchr(text, '*');
    const char *name = factor != NULL ? factor + 1 : text;
    return strchr(text, '+') == NULL &&
           find_listing(listing, "penalties", name, strcspn(name, "("));
}

/* Weights follow from norms in the way of the penalty: norm / slope of the penalty there. */
static void tell_meaning(md_report *report)
{
    md_html *html = &report->html;
    const medley_summary *s = report->summary;
    medley_listing method = MEDLEY_LISTING_INIT;
    medley_listing penalty = MEDLEY_LISTING_INIT;
    const bool known = find_penalty(&penalty, s->penalty);
    const bool bare = strchr(s->penalty, '(') == NULL; /* with the defaults of its parameters */
    if (find_listing(&method, "methods", s->method, strlen(s->method)) && method.weights != NULL)
        md_html_textf(html, "Each block has a weight%s. ", method.weights);
    else if (report->uniform)
        md_html_textf(html,
                      "Under the penalty %s all blocks have the same weight; what each of them "
                      "adds shows in its norm. ",
                      s->penalty);
    else if (are_shares_of_norms(s))
        md_html_text(html,
                     "Each block has a weight, the share of its norm in the sum of all norms. ");
    else if (known && penalty.weights != NULL)
        md_html_textf(html, "Each block has a weight%s %s%s%s%s. ", penalty.weights, s->penalty,
                      bare ? "(" : "", bare ? penalty.parameters : "", bare ? ")" : "");
    else
        md_html_textf(html,
                      "Each block has a weight: its norm, divided by the slope of the penalty %s "
                      "there, as a share of the sum of all these. ",
                      s->penalty);
    md_html_text(html, "A block whose norm is 0 is not part of the model and is not computed at "
                       "prediction time.");
}

static medley_status write_section(md_report *report, medley_error *error)
{
    (void)error;
    md_html_open(&report->html, "p");
    tell_meaning(report);
    md_html_close(&report->html);
    const size_t shown = write_bars(report);
    write_notes(report, shown);
    write_table(report);
    return MEDLEY_OK;
}

const md_section md_section_weights = {"weights", "What matters", present, write_section};
