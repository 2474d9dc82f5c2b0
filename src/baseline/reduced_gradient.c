/* SPDX-License-Identifier: BSD-3-Clause */
#include "baseline/reduced_gradient.h"

double md_reduced_direction(double *slope, const double *weight, size_t count)
{
    double sum = 0;
    for (size_t m = 0; m < count; m++) {
        if (!(weight[m] > 0) && slope[m] < 0)
            slope[m] = 0;
        sum += slope[m];
    }
    return sum;
}

double md_reduced_stretch(const double *slope, const double *weight, size_t count, size_t *which)
{
    double length = INFINITY;
    *which = count;
    for (size_t m = 0; m < count; m++)
        if (slope[m] < 0 && weight[m] < -slope[m] * length) {
            length = weight[m] / -slope[m];
            *which = m;
        }
    return length;
}
