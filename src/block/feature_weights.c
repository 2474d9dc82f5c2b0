/* SPDX-License-Identifier: BSD-3-Clause */
#include "block/feature_weights.h"

#include "base/vector.h"

enum { AHEAD = 8 }; /* rows whose weights are asked for before they are needed */
enum { LINE = 16 }; /* floats that memory gives at a time */

void md_add_thresholded(float *out, const float *weight, float factor, float threshold,
                        size_t width)
{
    for (size_t p = 0; p < width; p++) {
        const float magnitude = fabsf(weight[p]) - threshold;
        if (magnitude > 0)
            out[p] += factor * copysignf(magnitude, weight[p]);
    }
}

MD_VECTOR_VOID(add_rows, (float *restrict out, const md_lookup *lookup, size_t count, float factor),
               (out, lookup, count, factor))
{
    const size_t width = lookup->width;
    const int32_t *id = lookup->id;
    for (size_t i = 0; i < count; i++, out += width, id += lookup->step) {
        if (i + AHEAD < count && id[AHEAD * lookup->step] >= 0)
            __builtin_prefetch(lookup->weight + (size_t)id[AHEAD * lookup->step] * lookup->stride);
        if (*id < 0)
            continue;
        const float *restrict row = lookup->weight + (size_t)*id * lookup->stride;
#pragma omp simd
        for (size_t p = 0; p < width; p++)
            out[p] += factor * row[p];
    }
}

void md_add_weights_of_ids(float *out, const md_lookup *lookup, size_t count, float factor)
{
    add_rows(out, lookup, count, factor);
}

MD_VECTOR_VOID(add_columns,
               (float *restrict out, const md_lookup *lookup, const int32_t *column,
                const float *value, size_t count, float factor),
               (out, lookup, column, value, count, factor))
{
    const size_t width = lookup->width;
    for (size_t e = 0; e < count; e++) {
        const size_t c = column ? (size_t)column[e] : e;
        const float x = value ? factor * value[e] : factor;
        const float *restrict row = lookup->weight + c * lookup->stride;
#pragma omp simd
        for (size_t p = 0; p < width; p++)
            out[p] += x * row[p];
    }
}

void md_add_weights_of_row(float *out, const md_lookup *lookup, const int32_t *column,
                           const float *value, size_t count, float factor)
{
    add_columns(out, lookup, column, value, count, factor);
}

void md_prefetch_weights(const md_lookup *lookup, size_t count)
{
    const int32_t *id = lookup->id;
    for (size_t i = 0; i < count; i++, id += lookup->step) {
        if (*id < 0)
            continue;
        const float *row = lookup->weight + (size_t)*id * lookup->stride;
        for (size_t p = 0; p < lookup->stride; p += LINE)
            __builtin_prefetch(row + p);
    }
}

MD_VECTOR(double, step_row,
          (float *restrict weight, const float *restrict delta, float factor, size_t width),
          (weight, delta, factor, width))
{
    float growth = 0;
#pragma omp simd reduction(+ : growth)
    for (size_t p = 0; p < width; p++) {
        const float change = factor * delta[p];
        growth += change * (2 * weight[p] + change);
        weight[p] += change;
    }
    return (double)growth;
}

/* What counts for the sum is what rounding leaves of a change. */
MD_VECTOR(double, step_row_and_correction,
          (float *restrict weight, float *restrict correction, const float *restrict delta,
           float factor, float sum, size_t width),
          (weight, correction, delta, factor, sum, width))
{
    float growth = 0;
#pragma omp simd reduction(+ : growth)
    for (size_t p = 0; p < width; p++) {
        const float change = factor * delta[p];
        const float old = weight[p];
        growth += change * (2 * old + change);
        weight[p] = old + change;
        correction[p] -= sum * (weight[p] - old);
    }
    return (double)growth;
}

double md_step_weights(float *weight, float *correction, const float *delta, float factor,
                       float sum, size_t width)
{
    if (correction != NULL)
        return step_row_and_correction(weight, correction, delta, factor, sum, width);
    return step_row(weight, delta, factor, width);
}

MD_VECTOR(double, sum_squares, (const float *values, size_t count), (values, count))
{
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (size_t i = 0; i < count; i++)
        sum += (double)values[i] * (double)values[i];
    return sum;
}

double md_sum_squares(const float *values, size_t count)
{
    return sum_squares(values, count);
}
