/* SPDX-License-Identifier: BSD-3-Clause */
/* Watching long work. The library never prints: it tells the observer, whose answer may stop it. */
#ifndef MEDLEY_OBSERVER_H
#define MEDLEY_OBSERVER_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct medley_progress {
    const char *stage;   /* "reading", "kernels", "rate 0.1", "training" */
    size_t done, total;  /* units of work in this stage; total 0: not known beforehand */
    double objective;    /* NaN where it is not known */
    double dev_accuracy; /* accuracy on held-out data, NaN where there is none */
    double seconds;      /* since the work began */
    double gap;          /* relative duality gap so far; 0 where it is not known */
} medley_progress;

typedef struct medley_observer {
    void *context;
    /* Called between steps, never from two threads at once. Returning false asks to stop: the
     * current step is finished and what has been learnt so far is returned. */
    bool (*progress)(void *context, const medley_progress *progress);
} medley_observer;

#ifdef __cplusplus
}
#endif
#endif
