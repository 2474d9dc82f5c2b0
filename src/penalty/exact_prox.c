/* SPDX-License-Identifier: BSD-3-Clause */
/* The prox of a sum of terms from the proxes of the terms, by Dykstra's method (Bauschke and
 * Combettes, A Dykstra-like algorithm for two monotone operators, 2008; for any number of terms
 * Combettes and Pesquet 2011): what a term has taken off is given back before its next turn. The
 * first sweep is the sequence of SPOM's Alg. 1, which is exact for some sums and then the last. */
#include "penalty/penalty_internal.h"

enum { MOST_SWEEPS = 2000 };
static const double NEAR = 1e-14; /* change of a turn, of the largest norm */

size_t md_penalty_exact_scratch(const md_penalty *penalty, size_t count)
{
    return md_penalty_scratch(penalty, count) + (penalty->count + 1) * count;
}

/* One term: b + taken goes in, and what is taken off it is kept. By how much b has changed. */
static double take_turn(const md_penalty *penalty, const md_penalty_term *term, double tau,
                        double *b, size_t count, double *taken, double *scratch)
{
    double *before = scratch;
    double change = 0;
    memcpy(before, b, count * sizeof *b);
    for (size_t m = 0; m < count; m++)
        taken[m] = b[m] += taken[m];
    term->class->prox(term->state, tau * term->factor, b, penalty->weight, count, b,
                      scratch + count);
    for (size_t m = 0; m < count; m++) {
        taken[m] -= b[m];
        change = fmax(change, fabs(b[m] - before[m]));
    }
    return change;
}

/* At the prox, what a term gives back is what it takes: no turn changes b. Less than that does not
 * do, b may rest for some sweeps on the way. */
void md_penalty_exact_prox(const md_penalty *penalty, double tau, double *b, size_t count,
                           double *scratch)
{
    double *taken = scratch; /* [terms][count] */
    double largest = 0;
    double change = INFINITY;
    memset(taken, 0, penalty->count * count * sizeof *taken);
    for (size_t m = 0; m < count; m++)
        largest = fmax(largest, b[m]);
    for (int sweep = 0; sweep < MOST_SWEEPS && change > NEAR * largest; sweep++) {
        change = 0;
        for (size_t t = 0; t < penalty->count; t++)
            change = fmax(change, take_turn(penalty, &penalty->terms[t], tau, b, count,
                                            taken + t * count, taken + penalty->count * count));
        if (penalty->count == 1)
            return;
    }
}
