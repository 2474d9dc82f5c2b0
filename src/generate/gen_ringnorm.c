/* SPDX-License-Identifier: BSD-3-Clause */
/* Ringnorm (Breiman 1996, "Bias, variance, and arcing classifiers"): class 1 is N(0, 4 I), class
 * -1 is N((a, ..., a), I). With a = 2/sqrt(d) the centres are 2 apart; that is the value behind
 * the IDA benchmark files and DELVE (the paper prints 1/sqrt(d)). */
#include "generate/generate.h"

#include <math.h>

static void draw(float *values, size_t dimension, size_t class_index, double noise,
                 md_random *random)
{
    const bool is_wide = class_index == 1;
    const double mean = is_wide ? 0 : 2 / sqrt((double)dimension);
    const double deviation = (is_wide ? 2 : 1) * noise;
    for (size_t d = 0; d < dimension; d++)
        values[d] = (float)(mean + deviation * md_random_normal(random));
}

static const md_row_source source = {20, true, 2, {"-1", "1"}, draw};

extern const md_generator md_generator_ringnorm;
const md_generator md_generator_ringnorm = {
    .name = "ringnorm",
    .summary = "a narrow Gaussian inside a wide one, 2 classes",
    .format = "csv",
    .default_rows = 7400,
    .rows = &source,
};
