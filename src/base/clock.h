/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MD_CLOCK_H
#define MD_CLOCK_H

#include "base/base.h"

double md_clock_seconds(void); /* monotonic */
double md_peak_rss_mb(void);   /* largest resident size of this process so far */

#endif
