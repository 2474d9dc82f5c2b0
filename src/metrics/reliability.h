/* SPDX-License-Identifier: BSD-3-Clause */
/* How far probabilities can be trusted: log loss, Brier score, and rows in bins of equal width by
 * how sure of them a model is, beside the share of them that are right. */
#ifndef MD_RELIABILITY_H
#define MD_RELIABILITY_H

#include "base/base.h"

enum { MD_RELIABILITY_BINS = 15 };

typedef struct md_reliability_bin {
    size_t rows;
    double probability; /* sum of those of what was said */
    double right;       /* how many of these were right */
} md_reliability_bin;

typedef struct md_reliability {
    double rows;            /* that there will be; set before the first one is added */
    double log_loss, brier; /* means: -log P(right), P at least 1e-15; squared distance to it */
    md_reliability_bin bins[MD_RELIABILITY_BINS];
} md_reliability;

/* A row: p[count] of its possible outputs, the right one of them (-1: it is none of them), and the
 * one that was said. */
void md_reliability_add(md_reliability *reliability, const float *p, size_t count, int32_t right,
                        size_t said);

/* Only the bins: the probability of what was said. */
void md_reliability_put(md_reliability *reliability, double probability, bool right);

/* The expected calibration error: mean distance between probability and share of right ones. */
double md_reliability_error(const md_reliability *reliability);

#endif
