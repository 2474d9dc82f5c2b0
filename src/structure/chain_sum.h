/* SPDX-License-Identifier: BSD-3-Clause */
/* What scaled forward-backward of order 1 (chain_sum.c) and order 2 (chain_sum_triples.c) share.
 * See chain_sum.c for the method. */
#ifndef MD_CHAIN_SUM_H
#define MD_CHAIN_SUM_H

#include "structure/chain.h"

/* Exponentials of the table that all steps go through are made larger by this power of 2: most
 * steps are far from the best one, and single precision has more room above 1 than is needed. */
enum { MD_CHAIN_LIFT = 35 };
#define MD_CHAIN_LIFTED ((float)((uint64_t)1 << MD_CHAIN_LIFT))
/* The smallest sum of a row that is trusted, times 2^MD_CHAIN_LIFT: below, probabilities that
 * matter have gone through scores so far apart that rounding these shows. */
#define MD_CHAIN_SMALLEST 1e-18f
/* The largest backward value that is trusted: below, what was lost because single precision ends at
 * 1e-38 is worth less than 1e-12. */
#define MD_CHAIN_LARGEST 1e26f

/* Counts of so many rows are added up before they are added to those of all rows, or in long
 * sequences small numbers would vanish in large ones. */
enum { MD_CHAIN_ROWS_KEPT = 256 };

/* Replaces rows by 2^lift exp(value - largest of the row); returns the logarithm of what
 * they were divided by, all together. */
double md_chain_exp(float *rows, size_t count, size_t stride, int lift);

/* exp of the row scores, ends included, into rows[length][stride]; returns as md_chain_exp. */
double md_chain_exp_rows(const md_chain *chain, float *rows);

/* exp of the pairs of row t into pair[labels][stride], and to local where that is not NULL: where
 * the marginals of local pairs go. Returns as md_chain_exp. */
double md_chain_exp_pairs(const md_chain *chain, size_t t, int lift, float *pair, float *local);

/* A product of many numbers as a logarithm. */
typedef struct md_chain_product {
    double log, rest;
} md_chain_product;

void md_chain_multiply(md_chain_product *product, double factor);

size_t md_chain_triples_floats(md_shape shape, size_t length);
bool md_chain_triples_sum(const md_chain *chain, const md_chain_counts *counts, float *scratch,
                          double *log_sum);

#endif
