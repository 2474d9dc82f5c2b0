/* SPDX-License-Identifier: BSD-3-Clause */
/* Items are handed out one by one (OpenMP's dynamic schedule), so that uneven ones balance. Without
 * OpenMP everything runs on the calling thread, as worker 0. */
#include "base/parallel.h"

#include <sched.h>
#ifdef _OPENMP
#include <omp.h>
#endif

void md_parallel_for(size_t threads, size_t count, md_parallel_body body, void *context)
{
#ifdef _OPENMP
    if (threads > 1 && count > 1) {
#pragma omp parallel for num_threads((int)threads) schedule(dynamic, 1)
        for (size_t item = 0; item < count; item++)
            body(context, item, (size_t)omp_get_thread_num());
        return;
    }
#else
    (void)threads;
#endif
    for (size_t item = 0; item < count; item++)
        body(context, item, 0);
}

size_t md_processor_count(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) != 0)
        return 1;
    const int count = CPU_COUNT(&set);
    return count > 0 ? (size_t)count : 1;
}
