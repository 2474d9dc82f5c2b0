/* SPDX-License-Identifier: BSD-3-Clause */
/* The inner loops of inference in chains, to be built into MD_VECTOR functions. They take `lanes`
 * neighbouring columns of a table at once, a constant where they are called, so that running sums
 * and maxima stay in registers; two of each, since one would have to wait for itself. */
#ifndef MD_CHAIN_LANES_H
#define MD_CHAIN_LANES_H

#include "structure/chain.h"

#define MD_CHAIN_INLINE static inline __attribute__((always_inline))

enum { MD_WIDE = 2 * MD_LANES }; /* the most lanes that are taken at once */

/* most[i] = max_k value[k * step] + table[k][i], k = 0 .. count-1 */
MD_CHAIN_INLINE void md_lanes_most(float *restrict most, const float *restrict value, size_t step,
                                   const float *restrict table, size_t stride, size_t count,
                                   size_t lanes)
{
    float other[MD_WIDE];
    size_t k = 1;
#pragma omp simd
    for (size_t i = 0; i < lanes; i++)
        other[i] = most[i] = value[0] + table[i];
    for (; k + 1 < count; k += 2) {
        const float *row = table + k * stride;
#pragma omp simd
        for (size_t i = 0; i < lanes; i++) {
            const float sum = value[k * step] + row[i];
            most[i] = sum > most[i] ? sum : most[i];
        }
        row += stride;
#pragma omp simd
        for (size_t i = 0; i < lanes; i++) {
            const float sum = value[(k + 1) * step] + row[i];
            other[i] = sum > other[i] ? sum : other[i];
        }
    }
    if (k < count) {
#pragma omp simd
        for (size_t i = 0; i < lanes; i++) {
            const float sum = value[k * step] + table[k * stride + i];
            other[i] = sum > other[i] ? sum : other[i];
        }
    }
#pragma omp simd
    for (size_t i = 0; i < lanes; i++)
        most[i] = other[i] > most[i] ? other[i] : most[i];
}

/* sum[i] = sum_k factor[k * step] table[k][i], k = 0 .. count-1 */
MD_CHAIN_INLINE void md_lanes_sum(float *restrict sum, const float *restrict factor, size_t step,
                                  const float *restrict table, size_t stride, size_t count,
                                  size_t lanes)
{
    float other[MD_WIDE];
    size_t k = 1;
#pragma omp simd
    for (size_t i = 0; i < lanes; i++) {
        sum[i] = factor[0] * table[i];
        other[i] = 0;
    }
    for (; k + 1 < count; k += 2) {
        const float *row = table + k * stride;
#pragma omp simd
        for (size_t i = 0; i < lanes; i++)
            sum[i] += factor[k * step] * row[i];
        row += stride;
#pragma omp simd
        for (size_t i = 0; i < lanes; i++)
            other[i] += factor[(k + 1) * step] * row[i];
    }
    if (k < count) {
#pragma omp simd
        for (size_t i = 0; i < lanes; i++)
            other[i] += factor[k * step] * table[k * stride + i];
    }
#pragma omp simd
    for (size_t i = 0; i < lanes; i++)
        sum[i] += other[i];
}

/* Sum of MD_WIDE values, by halves: a single running sum would wait for itself. */
MD_CHAIN_INLINE float md_lanes_total(const float *restrict values)
{
    float whole[MD_LANES];
    float half[MD_LANES / 2];
    float quarter[MD_LANES / 4];
#pragma omp simd
    for (size_t i = 0; i < MD_LANES; i++)
        whole[i] = values[i] + values[i + MD_LANES];
#pragma omp simd
    for (size_t i = 0; i < MD_LANES / 2; i++)
        half[i] = whole[i] + whole[i + MD_LANES / 2];
#pragma omp simd
    for (size_t i = 0; i < MD_LANES / 4; i++)
        quarter[i] = half[i] + half[i + MD_LANES / 4];
    return (quarter[0] + quarter[2]) + (quarter[1] + quarter[3]);
}

/* The largest of MD_LANES values. */
MD_CHAIN_INLINE float md_lanes_highest(const float *restrict values)
{
    float half[MD_LANES / 2];
    float quarter[MD_LANES / 4];
#pragma omp simd
    for (size_t i = 0; i < MD_LANES / 2; i++)
        half[i] = values[i] > values[i + MD_LANES / 2] ? values[i] : values[i + MD_LANES / 2];
#pragma omp simd
    for (size_t i = 0; i < MD_LANES / 4; i++)
        quarter[i] = half[i] > half[i + MD_LANES / 4] ? half[i] : half[i + MD_LANES / 4];
    const float even = quarter[0] > quarter[2] ? quarter[0] : quarter[2];
    const float odd = quarter[1] > quarter[3] ? quarter[1] : quarter[3];
    return even > odd ? even : odd;
}

/* out[i] = left[i] right[i] scale, i = 0 .. count-1, where there is no room for more. The lanes too
 * many are switched off by a mask, where the machine has that. */
MD_CHAIN_INLINE void md_lanes_multiply(float *restrict out, const float *restrict left,
                                       const float *restrict right, float scale, size_t count)
{
    for (size_t first = 0; first < count; first += MD_LANES) {
        const uint32_t rest = (uint32_t)(count - first < MD_LANES ? count - first : MD_LANES);
#pragma omp simd
        for (uint32_t i = 0; i < MD_LANES; i++)
            if (i < rest)
                out[first + i] = left[first + i] * right[first + i] * scale;
    }
}

/* out[i] += left[i] right[i], i = 0 .. count-1, likewise */
MD_CHAIN_INLINE void md_lanes_add_product(float *restrict out, const float *restrict left,
                                          const float *restrict right, size_t count)
{
    for (size_t first = 0; first < count; first += MD_LANES) {
        const uint32_t rest = (uint32_t)(count - first < MD_LANES ? count - first : MD_LANES);
#pragma omp simd
        for (uint32_t i = 0; i < MD_LANES; i++)
            if (i < rest)
                out[first + i] += left[first + i] * right[first + i];
    }
}

/* Copies `count` values, at most MD_LANES of them, and fills the other lanes up. */
MD_CHAIN_INLINE void md_lanes_fill(float *restrict out, const float *restrict values, size_t count,
                                   float filler)
{
    const uint32_t rest = (uint32_t)(count < MD_LANES ? count : MD_LANES);
#pragma omp simd
    for (uint32_t i = 0; i < MD_LANES; i++)
        out[i] = i < rest ? values[i] : filler;
}

#endif
