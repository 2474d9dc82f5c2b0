/* SPDX-License-Identifier: BSD-3-Clause */
/* Waveform (Breiman, Friedman, Olshen, Stone 1984, section 2.6.2): each class mixes two of three
 * triangular waves h_c(i) = max(6 - |i - c|, 0), i = 1..21, with peaks at c = 11, 15 and 7:
 *     x_i = u h_a(i) + (1 - u) h_b(i) + e_i,   u uniform on [0, 1], e_i ~ N(0, 1). */
#include "generate/generate.h"

#include <math.h>

enum { FEATURES = 21 };

static double wave(size_t i, double peak)
{
    return fmax(6 - fabs((double)(i + 1) - peak), 0);
}

static void draw(float *values, size_t dimension, size_t class_index, double noise,
                 md_random *random)
{
    static const double peaks[3][2] = {{11, 15}, {11, 7}, {15, 7}};
    const double *peak = peaks[class_index];
    const double u = md_random_uniform(random);
    for (size_t i = 0; i < dimension; i++) {
        const double clean = u * wave(i, peak[0]) + (1 - u) * wave(i, peak[1]);
        values[i] = (float)(clean + noise * md_random_normal(random));
    }
}

static const md_row_source source = {FEATURES, false, 3, {"0", "1", "2"}, draw};

extern const md_generator md_generator_waveform;
const md_generator md_generator_waveform = {
    .name = "waveform",
    .summary = "random mixtures of triangular waves with noise, 3 classes",
    .format = "csv",
    .default_rows = 5000,
    .rows = &source,
};
