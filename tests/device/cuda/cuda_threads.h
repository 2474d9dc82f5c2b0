/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the files of CUDA's runtime on the processor. */
#ifndef TESTS_DEVICE_CUDA_THREADS_H
#define TESTS_DEVICE_CUDA_THREADS_H

#include "cuda_runtime.h"

/* Every thread of a grid does this. */
void card_run(dim3 grid, dim3 threads, const std::function<void()> &body);

/* Who uses CUDA in a way that it does not allow is told so, and that is the end. */
[[noreturn]] void card_end(const char *why);

#endif
