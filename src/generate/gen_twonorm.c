/* SPDX-License-Identifier: BSD-3-Clause */
/* Twonorm (Breiman 1996, "Bias, variance, and arcing classifiers"): the classes 1 and -1 are
 * N((a, ..., a), I) and N((-a, ..., -a), I) with a = 2/sqrt(d), so the best rule is a plane and
 * its error is Phi(-2) = 2.3 % in any dimension. */
#include "generate/generate.h"

#include <math.h>

static void draw(float *values, size_t dimension, size_t class_index, double noise,
                 md_random *random)
{
    const double mean = (class_index == 1 ? 2 : -2) / sqrt((double)dimension);
    for (size_t d = 0; d < dimension; d++)
        values[d] = (float)(mean + noise * md_random_normal(random));
}

static const md_row_source source = {20, true, 2, {"-1", "1"}, draw};

extern const md_generator md_generator_twonorm;
const md_generator md_generator_twonorm = {
    .name = "twonorm",
    .summary = "two Gaussians side by side, 2 classes",
    .format = "csv",
    .default_rows = 7400,
    .rows = &source,
};
