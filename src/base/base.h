/* SPDX-License-Identifier: BSD-3-Clause */
/* What every file needs: standard headers, failing (status.h), memory and ownership (memory.h),
 * sizes of pieces, the clock. All headers of the library include it, so that nobody else has to. */
#ifndef MD_BASE_H
#define MD_BASE_H

#include "base/memory.h"
#include "base/status.h"
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static inline size_t md_min(size_t a, size_t b)
{
    return a < b ? a : b;
}

static inline size_t md_max(size_t a, size_t b)
{
    return a > b ? a : b;
}

/* fmax, for loops in which that makes the vectorizer of gcc 12.2 for arm64 break down. */
static inline double md_larger(double most, double value)
{
    return value > most ? value : most;
}

/* Pieces of `size` that `count` items are cut into; the last one may be smaller. */
static inline size_t md_pieces(size_t count, size_t size)
{
    return (count + size - 1) / size;
}

double md_clock_seconds(void); /* monotonic */
double md_peak_rss_mb(void);   /* largest resident size of this process so far */

#endif
