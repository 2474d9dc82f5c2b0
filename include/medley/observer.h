/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Watching long work. The library never prints: it reports to the observer, whose answer may stop
 * the work.
 */
#ifndef MEDLEY_OBSERVER_H
#define MEDLEY_OBSERVER_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/** How far the work has come. Allocated by the library only. */
typedef struct medley_progress {
    const char *stage;   /**< "reading", "kernels", "rate 0.1", "training" */
    size_t done, total;  /**< units of work in this stage; total 0: not known beforehand */
    double objective;    /**< NaN: not known */
    double dev_accuracy; /**< accuracy on held-out data; NaN: there are none */
    double seconds;      /**< since the work began */
    double gap;          /**< relative duality gap so far; 0: not known */
} medley_progress;

/** Who is told about progress. Start with MEDLEY_OBSERVER_INIT. */
typedef struct medley_observer {
    size_t struct_size;
    void *context; /**< handed to progress */
    /** Called between steps, never from two threads at once. Returning false asks to stop: the
     *  current step is finished, and what has been learnt so far is returned. NULL: nobody
     *  watches. */
    bool (*progress)(void *context, const medley_progress *progress);
} medley_observer;

/** No observer yet. */
#define MEDLEY_OBSERVER_INIT                                                                       \
    {                                                                                              \
        sizeof(medley_observer), NULL, NULL                                                        \
    }

#ifdef __cplusplus
}
#endif
#endif
