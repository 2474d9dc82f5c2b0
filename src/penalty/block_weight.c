/* SPDX-License-Identifier: BSD-3-Clause */
/* Operations of the weighted l1 norm sum d b that several penalties are made of. */
#include "penalty/block_weight.h"

#include "param/param.h"

double md_largest_norm(const double *b, size_t count)
{
    double largest = 0;
    for (size_t m = 0; m < count; m++)
        largest = b[m] > largest ? b[m] : largest;
    return largest;
}

double md_weighted_sum(const double *b, const double *weight, size_t count)
{
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (size_t m = 0; m < count; m++)
        sum += md_block_weight(weight, m) * b[m];
    return sum;
}

void md_soft_threshold(double threshold, const double *b, const double *weight, size_t count,
                       double *shrunk)
{
#pragma omp simd
    for (size_t m = 0; m < count; m++) {
        const double x = b[m] - threshold * md_block_weight(weight, m);
        shrunk[m] = x > 0 ? x : 0;
    }
}

double md_largest_ratio(const double *n, const double *weight, size_t count)
{
    double largest = 0;
    for (size_t m = 0; m < count; m++)
        largest = fmax(largest, md_over_weight(n, weight, m));
    return largest;
}

double md_half_squares(const double *n, const double *weight, size_t count)
{
    double sum = 0;
    for (size_t m = 0; m < count; m++) {
        const double x = md_over_weight(n, weight, m);
        sum += x * x;
    }
    return sum / 2;
}

double md_zero(const void *state)
{
    (void)state;
    return 0;
}

double md_one(const void *state)
{
    (void)state;
    return 1;
}

double md_number_of(const void *state)
{
    return md_number(state);
}

double md_same_weight(const void *state, double b, double total)
{
    (void)state;
    (void)b;
    (void)total;
    return 1;
}
