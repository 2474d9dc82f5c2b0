/* SPDX-License-Identifier: BSD-3-Clause */
/* Models along a path of penalties, from strong to weak, on kernels and features that are made
 * once. */
#ifndef MD_PATH_H
#define MD_PATH_H

#include "setup/setup.h"

/* The step-th lambda of a path: the caller's, or evenly in logarithm down from the largest. */
double md_path_lambda(const medley_path_options *path, double largest, size_t step);

#endif
