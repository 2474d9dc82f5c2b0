/* SPDX-License-Identifier: BSD-3-Clause */
/* Breiman's artificial data: rows drawn one by one from classes of equal probability. */
#include "generate/generate.h"

/* Ringnorm (Breiman 1996, "Bias, variance, and arcing classifiers"): class 1 is N(0, 4 I), class
 * -1 is N((a, ..., a), I). With a = 2/sqrt(d) the centres are 2 apart; that is the value in
 * the IDA benchmark files and DELVE (the paper prints 1/sqrt(d)). */
static void draw_ringnorm(float *values, size_t dimension, size_t class_index, double noise,
                          md_random *random)
{
    const bool is_wide = class_index == 1;
    const double mean = is_wide ? 0 : 2 / sqrt((double)dimension);
    const double deviation = (is_wide ? 2 : 1) * noise;
    for (size_t d = 0; d < dimension; d++)
        values[d] = (float)(mean + deviation * md_random_normal(random));
}

const md_generator md_generator_ringnorm = {
    .name = "ringnorm",
    .summary = "a narrow Gaussian inside a wide one, 2 classes",
    .format = "csv",
    .default_rows = 7400,
    .rows = &(const md_row_source){20, true, 2, {"-1", "1"}, draw_ringnorm},
};

/* Twonorm (Breiman 1996, "Bias, variance, and arcing classifiers"): the classes 1 and -1 are
 * N((a, ..., a), I) and N((-a, ..., -a), I) with a = 2/sqrt(d), so the best rule is a plane and
 * its error is Phi(-2) = 2.3 % in any dimension. */
static void draw_twonorm(float *values, size_t dimension, size_t class_index, double noise,
                         md_random *random)
{
    const double mean = (class_index == 1 ? 2 : -2) / sqrt((double)dimension);
    for (size_t d = 0; d < dimension; d++)
        values[d] = (float)(mean + noise * md_random_normal(random));
}

const md_generator md_generator_twonorm = {
    .name = "twonorm",
    .summary = "two Gaussians side by side, 2 classes",
    .format = "csv",
    .default_rows = 7400,
    .rows = &(const md_row_source){20, true, 2, {"-1", "1"}, draw_twonorm},
};

/* Waveform (Breiman, Friedman, Olshen, Stone 1984, section 2.6.2): each class mixes two of three
 * triangular waves h_c(i) = max(6 - |i - c|, 0), i = 1..21, with peaks at c = 11, 15 and 7:
 *     x_i = u h_a(i) + (1 - u) h_b(i) + e_i,   u uniform on [0, 1], e_i ~ N(0, 1). */
enum { FEATURES = 21 };

static double wave(size_t i, double peak)
{
    return fmax(6 - fabs((double)(i + 1) - peak), 0);
}

static void draw_waveform(float *values, size_t dimension, size_t class_index, double noise,
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

const md_generator md_generator_waveform = {
    .name = "waveform",
    .summary = "random mixtures of triangular waves with noise, 3 classes",
    .format = "csv",
    .default_rows = 5000,
    .rows = &(const md_row_source){FEATURES, false, 3, {"0", "1", "2"}, draw_waveform},
};
