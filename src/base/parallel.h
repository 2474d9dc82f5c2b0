/* SPDX-License-Identifier: BSD-3-Clause */
/* The only place that starts threads. Work is cut into items whose results do not depend on the
 * thread that computes them, so any thread count gives the same bits. */
#ifndef MD_PARALLEL_H
#define MD_PARALLEL_H

#include "base/base.h"

/* Calls body(context, item, worker) for every item in 0..count-1; worker is in 0..threads-1 and
 * lets the body pick its own scratch memory. Returns when all are done. */
typedef void (*md_parallel_body)(void *context, size_t item, size_t worker);
void md_parallel_for(size_t threads, size_t count, md_parallel_body body, void *context);

/* The same where items may fail; all are tried, and the failure of the first one that did is told.
 */
typedef medley_status (*md_parallel_attempt)(void *context, size_t item, medley_error *error);
medley_status md_parallel_try(size_t threads, size_t count, md_parallel_attempt attempt,
                              void *context, medley_error *error);

/* Of the threads that are at hand, as many as have enough to do: work divided by what makes up for
 * waking one more. */
static inline size_t md_threads_for(size_t threads, double work, double each)
{
    const double most = work / each;
    return most < 2 ? 1 : most < (double)threads ? (size_t)most : threads;
}

/* Processors this process may use. */
size_t md_processor_count(void);

#endif
