/* SPDX-License-Identifier: BSD-3-Clause */
/* How measures of tuning and paths are written and compared. */
#ifndef MD_MEASURES_H
#define MD_MEASURES_H

#include "report/figures.h"
#include <stdbool.h>
#include <string.h>

/* Errors are numbers of any size and small ones are good; all others are shares. */
static inline bool md_measure_is_error(const char *measure)
{
    return strcmp(measure, "rmse") == 0 || strcmp(measure, "log-loss") == 0;
}

typedef md_figure (*md_figure_writer)(double value);

static inline md_figure_writer md_measure_text(const char *measure)
{
    return md_measure_is_error(measure) ? md_figure_number : md_figure_percent;
}

static inline md_figure_writer md_measure_tick(const char *measure)
{
    return md_measure_is_error(measure) ? md_figure_tick : md_figure_tick_percent;
}

#endif
