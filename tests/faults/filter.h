/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FILTER_H
#define FILTER_H

#include "faults.h"
#include <signal.h>

/* A call of the kernel that the filter lets pass. */
__attribute__((visibility("hidden"))) long faults_call(long number, long a, long b, long c, long d,
                                                       long e, long f);

/* From now on calls with these numbers end in the handler of SIGSYS, but for those that come from
 * faults_call or from a sanitizer. */
__attribute__((visibility("hidden"))) void faults_filter(const int *numbers, int count,
                                                         const struct faults_page *page,
                                                         void (*handler)(int, siginfo_t *, void *));

#endif
