/* SPDX-License-Identifier: BSD-3-Clause */
/* Time and memory used, for progress and reports. */
#include "base/base.h"

#include <sys/resource.h>
#include <time.h>

double md_clock_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

double md_peak_rss_mb(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)usage.ru_maxrss / 1024; /* kilobytes on Linux */
}
