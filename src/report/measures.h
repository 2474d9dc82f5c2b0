/* SPDX-License-Identifier: BSD-3-Clause */
/* How measures of tuning and paths are written: errors, where low is better, are numbers of any
 * size; all others are shares. */
#ifndef MD_MEASURES_H
#define MD_MEASURES_H

#include "report/figures.h"
#include <stdbool.h>

typedef md_figure (*md_figure_writer)(double value);

static inline md_figure_writer md_measure_text(bool higher_is_better)
{
    return higher_is_better ? md_figure_percent : md_figure_number;
}

static inline md_figure_writer md_measure_tick(bool higher_is_better)
{
    return higher_is_better ? md_figure_tick_percent : md_figure_tick;
}

#endif
