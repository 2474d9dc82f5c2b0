/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows that are images, in four levels of ink: each level is one path of the runs of its pixels.
 * Large images are made smaller first, so that a report of many stays small. */
#include "report/report.h"

enum { SIDE = 32, LEVELS = 4, MOST_LETTERS = 60, MOST_NAME = 40 };

struct image {
    size_t height, width;
    float *ink; /* [height][width], 0 to 1 */
};

/* Means of squares of pixels; the largest value becomes black. */
static void shrink(struct image *image, const float *pixels, size_t height, size_t width)
{
    const size_t longer = height > width ? height : width;
    const size_t step = (longer + SIDE - 1) / SIDE;
    image->height = (height + step - 1) / step;
    image->width = (width + step - 1) / step;
    float low = 0;
    float high = 0;
    for (size_t y = 0; y < image->height; y++)
        for (size_t x = 0; x < image->width; x++) {
            float sum = 0;
            float count = 0;
            for (size_t i = y * step; i < height && i < (y + 1) * step; i++)
                for (size_t j = x * step; j < width && j < (x + 1) * step; j++, count++)
                    sum += pixels[i * width + j];
            const float mean = sum / count;
            image->ink[y * image->width + x] = mean;
            low = mean < low ? mean : low;
            high = mean > high ? mean : high;
        }
    for (size_t i = 0; i < image->height * image->width; i++)
        image->ink[i] = high > low ? (image->ink[i] - low) / (high - low) : 0;
}

static int level_of(float ink)
{
    return ink < 0.1F ? 0 : 1 + (int)fminf(LEVELS - 1, floorf(ink * LEVELS));
}

static void add_runs(md_text *path, const struct image *image, int level)
{
    for (size_t y = 0; y < image->height; y++) {
        const float *row = image->ink + y * image->width;
        for (size_t x = 0; x < image->width;) {
            const size_t start = x;
            while (x < image->width && level_of(row[x]) == level)
                x++;
            if (x > start)
                md_text_addf(path, "M%zu %zuh%zuv1H%zuz", start, y, x - start, start);
            x += x == start;
        }
    }
}

static void draw(md_html *html, const struct image *image, const char *label)
{
    md_svg_open(html, "picture", (double)image->width, (double)image->height, label);
    for (int level = 1; level <= LEVELS; level++) {
        md_text path = {0};
        char class[16];
        add_runs(&path, image, level);
        snprintf(class, sizeof class, "ink%d", level);
        md_svg_take_path(html, class, &path);
    }
    md_html_close(html);
}

static medley_status draw_row(md_report *report, size_t row, medley_error *error)
{
    const medley_dataset *data = report->options.data;
    const size_t columns = medley_dataset_columns(data);
    size_t height;
    size_t width;
    if (!medley_dataset_image_shape(&height, &width, data) || height * width > columns)
        return MEDLEY_OK;
    MD_OWNED(free) float *pixels = NULL;
    MD_CLEARED(md_text_clear) md_text label = {0};
    MEDLEY_TRY(md_new(&pixels, columns + (size_t)SIDE * SIDE, sizeof *pixels, error));
    struct image image = {.ink = pixels + columns};
    medley_dataset_row(pixels, data, row);
    shrink(&image, pixels, height, width);
    md_text_addf(&label, "Image of '");
    md_html_shorten(&label, md_report_gold_name(report, row), MOST_NAME);
    md_text_addf(&label, "'");
    report->html.text.failed = report->html.text.failed || label.failed;
    draw(&report->html, &image, label.data != NULL ? label.data : "Image");
    return MEDLEY_OK;
}

/* "a", or with a sign where it is wrong "✗ o, not a". */
static void write_answer(md_report *report, size_t row)
{
    md_html *html = &report->html;
    const bool wrong = md_report_is_wrong(report, row);
    md_html_open_class(html, "span", wrong ? "wrong" : "right");
    md_html_text(html, wrong ? "✗ " : "");
    md_html_data(html, md_report_predicted_name(report, row));
    md_html_close(html);
    if (!wrong)
        return;
    md_html_text(html, ", not ");
    md_html_data(html, md_report_gold_name(report, row));
}

medley_status md_draw_picture(md_report *report, size_t row, size_t end, medley_error *error)
{
    (void)end; /* images stand alone */
    md_html *html = &report->html;
    MEDLEY_TRY(draw_row(report, row, error));
    md_html_open_class(html, "p", "answer");
    write_answer(report, row);
    const double confidence = md_report_confidence(report, row);
    if (isfinite(confidence)) {
        md_html_open(html, "br");
        md_html_close(html);
        md_html_elementf(html, "span", "note", "confidence %s%s", md_figure_rough(confidence).text,
                         md_report_is_calibrated(report) ? "" : ", uncalibrated");
    }
    md_html_close(html);
    return MEDLEY_OK;
}

static void write_letter_answer(md_report *report, size_t row)
{
    md_html *html = &report->html;
    if (!md_report_is_wrong(report, row)) {
        md_html_data(html, md_report_predicted_name(report, row));
        return;
    }
    md_html_open_class(html, "span", "wrong");
    md_html_text(html, "✗");
    md_html_data(html, md_report_predicted_name(report, row));
    md_html_close(html);
    md_html_text(html, "/");
    md_html_data(html, md_report_gold_name(report, row));
}

medley_status md_draw_letters(md_report *report, size_t first, size_t end, medley_error *error)
{
    md_html *html = &report->html;
    const size_t shown = end - first > MOST_LETTERS ? first + MOST_LETTERS : end;
    md_html_open_class(html, "div", "letters");
    for (size_t r = first; r < shown; r++) {
        md_html_open_class(html, "div", md_report_is_wrong(report, r) ? "letter bad" : "letter");
        MEDLEY_TRY(draw_row(report, r, error));
        write_letter_answer(report, r);
        md_html_close(html);
    }
    md_html_close(html);
    if (shown < end)
        md_html_elementf(html, "p", "note", "… and %s more", md_figure_count(end - shown).text);
    return MEDLEY_OK;
}
