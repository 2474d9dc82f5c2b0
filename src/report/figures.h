/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers for readers. What is not finite is a dash: neither nan nor inf is ever printed. */
#ifndef MD_FIGURES_H
#define MD_FIGURES_H

#include "base/base.h"

/* By value, so that it can be named in a call: md_figure_count(n).text. */
typedef struct md_figure {
    char text[40];
} md_figure;

md_figure md_figure_count(size_t value);                                 /* 1,647 */
md_figure md_figure_of(size_t count, const char *one, const char *many); /* 1 row, 1,647 rows */
md_figure md_figure_number(double value);       /* four digits: 0.1630, 1,647, 8.462 × 10⁻⁵ */
md_figure md_figure_exact(double value);        /* the fewest digits that read back as value */
md_figure md_figure_percent(double share);      /* 92.35 %; 100 only if it is all */
md_figure md_figure_rough(double share);        /* 92 %; 0.3 % below 1, 99.6 % above 99 */
md_figure md_figure_at_most(double share);      /* 0.13 % of 0.00121: rounded up, two digits */
md_figure md_figure_seconds(double seconds);    /* 0.14 s, 3 min 20 s */
md_figure md_figure_tick(double value);         /* as short as can be: 0.1, 10, 1e-5 as 10⁻⁵ */
md_figure md_figure_tick_percent(double share); /* 92.5 % without zeros at the end */

/* Ticks that are a step apart, with as many digits as tell them apart: 1,000.0, 1,000.5. */
md_figure md_figure_tick_of(double value, double step);
md_figure md_figure_tick_percent_of(double share, double step);

/* Measures of tuning and paths: errors, where low is better, are numbers of any size; all others
 * are shares. For a value, and for a tick. */
typedef md_figure (*md_figure_writer)(double value);
md_figure_writer md_measure_text(bool higher_is_better);
md_figure_writer md_measure_tick(bool higher_is_better);

#endif
