/* SPDX-License-Identifier: BSD-3-Clause */
/* The strongest features of the blocks that have explicit ones (templates, pairs of labels). */
#include "report/report.h"

#include "model/model.h"

enum { MOST_BLOCKS = 12, MOST_FEATURES = 10 };

static bool present(const md_report *report)
{
    return report->model != NULL && report->model->weights_count > 0;
}

static void write_block(md_html *html, const char *name, const medley_feature *features,
                        size_t count)
{
    static const char *const heads[] = {"feature", "#adds to the score", NULL};
    md_html_open(html, "details");
    md_html_open(html, "summary");
    md_html_name(html, name);
    md_html_close(html);
    md_frame_open(html, "Strongest features");
    md_table_open(html, "numbers", heads);
    for (size_t f = 0; f < count; f++) {
        md_html_open(html, "tr");
        md_html_data_element(html, "td", NULL, features[f].text);
        md_cell_number(html, md_figure_number(features[f].value).text);
        md_html_close(html);
    }
    md_html_close_all(html, 4);
}

static medley_status write_section(md_report *report, medley_error *error)
{
    const medley_summary *s = report->summary;
    size_t shown = 0;
    md_html_element(&report->html, "p", NULL,
                    "What speaks most strongly for a label or against it, block by block.");
    for (size_t i = 0; i < s->block_count && shown < MOST_BLOCKS; i++) {
        const size_t block = report->by_weight[i];
        medley_feature *features;
        size_t count;
        MEDLEY_TRY(
            medley_model_features(&features, &count, report->model, block, MOST_FEATURES, error));
        if (count > 0) {
            write_block(&report->html, md_report_block_name(report, block), features, count);
            shown++;
        }
        medley_features_free(features, count);
    }
    if (shown == MOST_BLOCKS)
        md_html_element(&report->html, "p", "note",
                        "No more than twelve blocks and ten features of each are listed; medley "
                        "inspect has all of them.");
    return MEDLEY_OK;
}

const md_section md_section_features = {"features", "Strongest features", present, write_section};
