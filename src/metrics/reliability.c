/* SPDX-License-Identifier: BSD-3-Clause */
#include "metrics/reliability.h"

static const double LEAST_PROBABILITY = 1e-15;

/* Squared distance of a row's probabilities to the right answer. */
static double row_distance(const float *p, size_t count, int32_t right)
{
    double sum = right < 0 ? 1 : 0;
    for (size_t l = 0; l < count; l++) {
        const double distance = (double)p[l] - ((int32_t)l == right ? 1 : 0);
        sum += distance * distance;
    }
    return sum;
}

void md_reliability_put(md_reliability *reliability, double probability, bool right)
{
    const double place = fmax(probability, 0) * MD_RELIABILITY_BINS;
    md_reliability_bin *bin =
        &reliability->bins[place < MD_RELIABILITY_BINS ? (size_t)place : MD_RELIABILITY_BINS - 1];
    bin->rows++;
    bin->probability += probability;
    bin->right += right;
}

void md_reliability_add(md_reliability *reliability, const float *p, size_t count, int32_t right,
                        size_t said)
{
    const double of_right = right < 0 ? 0 : (double)p[right];
    reliability->brier += row_distance(p, count, right) / reliability->rows;
    reliability->log_loss -= log(fmax(of_right, LEAST_PROBABILITY)) / reliability->rows;
    md_reliability_put(reliability, (double)p[said], (int32_t)said == right);
}

double md_reliability_error(const md_reliability *reliability)
{
    double error = 0;
    for (size_t b = 0; b < MD_RELIABILITY_BINS; b++)
        error +=
            fabs(reliability->bins[b].probability - reliability->bins[b].right) / reliability->rows;
    return error;
}
