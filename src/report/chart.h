/* SPDX-License-Identifier: BSD-3-Clause */
/* Line charts: axes with round ticks, linear or logarithmic, lines that stop where there is no
 * number. A chart is drawn 400 units wide and may be shown from phone to desk without its text
 * growing too small or too large. */
#ifndef MD_CHART_H
#define MD_CHART_H

#include "report/figures.h"
#include "report/html.h"

typedef struct md_axis {
    double low, high;                /* low > high: nothing was included yet */
    bool logarithmic, falling;       /* falling: from high to low */
    md_figure (*text)(double value); /* of a tick */
    const char *title;
    bool whole; /* of counts: no tick lies between two numbers */
} md_axis;

#define MD_AXIS_INIT(write, name)                                                                  \
    {                                                                                              \
        1, 0, false, false, (write), (name), false                                                 \
    }

/* Widens the axis; what is not finite (or not positive on a logarithmic one) is not looked at. */
void md_axis_include(md_axis *axis, double value);
void md_axis_include_all(md_axis *axis, const double *values, size_t count);

/* Ends at ticks, and is never empty: call it before drawing. */
void md_axis_round(md_axis *axis, size_t wanted_ticks);

/* Round values from low to high, about `wanted` of them, at most `most`; returns how many. */
size_t md_axis_ticks(const md_axis *axis, size_t wanted, double *ticks, size_t most);

/* 0 at the beginning, 1 at the end; NaN where a value has no place. */
double md_axis_share(const md_axis *axis, double value);

typedef struct md_chart {
    md_axis x, y;
    double height;     /* of 400 units width; found by md_chart_open if square */
    bool square;       /* a unit of x is as long as one of y if their ranges are the same */
    const char *label; /* for screen readers */
    double right;      /* room for labels at the end of lines */
    double above;      /* room for words above the lines (md_chart_head) */
    double left;       /* room for the ticks of y: found by md_chart_open */
} md_chart;

enum { MD_CHART_WIDTH = 400 };

double md_chart_x(const md_chart *chart, double value);
double md_chart_y(const md_chart *chart, double value);

/* Ends the axes at ticks, and opens a figure with a chart in it: two elements. */
void md_chart_figure(md_html *html, md_chart *chart, const char *caption, const char *note);
/* svg, grid and axes. Charts, figures and frames are elements: md_html_close ends them. */
void md_chart_open(md_html *html, md_chart *chart);
/* Many points are thinned out to some hundred. */
void md_chart_line(md_html *html, const md_chart *chart, const double *x, const double *y,
                   size_t count, const char *class);
void md_chart_dot(md_html *html, const md_chart *chart, double x, double y, const char *class);
/* A word above a point, kept inside of the chart. */
void md_chart_mark(md_html *html, const md_chart *chart, double x, double y, const char *text);
/* A word above all lines, where it covers nothing; chart->above must have room for it. */
void md_chart_head(md_html *html, const md_chart *chart, double x, const char *text);

/* The figure around: caption (with a note after it, or NULL) and frame. */
void md_figure_open(md_html *html, const char *caption, const char *note);

/* Details for readers who want them: folded, in a frame of its own. Two elements. */
void md_details_open(md_html *html, const char *summary);
void md_frame_open(md_html *html, const char *name); /* scrolls sideways, also by keyboard */

/* Tables are two elements. heads: NULL after the last; those that begin with '#' are of numbers. */
void md_table_open(md_html *html, const char *class, const char *const *heads);
void md_table_begin(md_html *html, const char *class, const char *id); /* heads of its own; NULL */
void md_table_body(md_html *html);                                     /* after those heads */
void md_cell_number(md_html *html, const char *text);
void md_cell_head(md_html *html, const char *scope, const char *text); /* words of the data */

/* Pieces of drawings. label: for screen readers; class may be NULL. */
void md_svg_open(md_html *html, const char *class, double width, double height, const char *label);
void md_svg_path(md_html *html, const char *class, const char *d);
void md_svg_take_path(md_html *html, const char *class, md_text *d); /* if any; clears d */
void md_svg_text(md_html *html, const char *class, double x, double y, const char *anchor,
                 const char *text);
/* A dot on a line that is an axis; nothing where the value has no place. */
void md_svg_dot(md_html *html, const md_axis *axis, double value, const char *class,
                const char *radius);

/* The picture in a cell of a table, whose numbers stand beside it: an svg that is not read out. */
void md_svg_open_cell(md_html *html);
/* A grey line to compare with; a line between two values of an axis, if both have a place. */
void md_svg_track(md_html *html, const char *y, const char *height);
void md_svg_between(md_html *html, const md_axis *axis, double from, double to, const char *class);

/* "hue3", "heat7" ... */
typedef struct md_class {
    char text[32];
} md_class;
md_class md_class_of(const char *before, const char *name); /* both, if before is not "" */
md_class md_class_hue(const char *before, size_t index);
md_class md_class_heat(const char *before, double share);

#endif
