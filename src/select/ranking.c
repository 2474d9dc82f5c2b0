/* SPDX-License-Identifier: BSD-3-Clause */
/* The rule of one standard error (Breiman, Friedman, Olshen and Stone, Classification and
 * Regression Trees, 1984, section 3.4.3): means that differ by less than the standard error of the
 * best one cannot be told apart by these folds, so the simplest of them is taken. */
#include "select/ranking.h"

/* mean = sum f_k / K, deviation = sqrt(sum (f_k - mean)^2 / (K - 1)), and that of the mean, if
 * folds were independent, deviation / sqrt(K). */
void md_trial_summarise(medley_trial *trial, size_t folds)
{
    double sum = 0;
    double squares = 0;
    for (size_t f = 0; f < folds; f++)
        sum += trial->fold[f];
    trial->mean = sum / (double)folds;
    for (size_t f = 0; f < folds; f++)
        squares += (trial->fold[f] - trial->mean) * (trial->fold[f] - trial->mean);
    trial->deviation = folds > 1 ? sqrt(squares / (double)(folds - 1)) : (double)NAN;
    trial->standard_error = trial->deviation / sqrt((double)folds);
}

/* Sums of the same terms in another order are the same mean. */
static double advantage(const md_ranking *ranking, size_t a, size_t b)
{
    const double left = ranking->trials[a].mean;
    const double right = ranking->trials[b].mean;
    if (fabs(left - right) <= 1e-12 * fmax(fabs(left), fabs(right)))
        return 0;
    return ranking->higher_is_better ? left - right : right - left;
}

static bool is_stronger(const md_ranking *ranking, size_t a, size_t b)
{
    return ranking->strength[a] > ranking->strength[b];
}

size_t md_ranking_best(const md_ranking *ranking)
{
    size_t best = ranking->count;
    for (size_t t = 0; t < ranking->count; t++) {
        if (isnan(ranking->trials[t].mean))
            continue;
        const double gain = best < ranking->count ? advantage(ranking, t, best) : 1;
        if (gain > 0 || (gain == 0 && is_stronger(ranking, t, best)))
            best = t;
    }
    return best;
}

static bool is_simpler(const md_ranking *ranking, size_t a, size_t b)
{
    if (is_stronger(ranking, a, b) || is_stronger(ranking, b, a))
        return is_stronger(ranking, a, b);
    if (ranking->trials[a].active != ranking->trials[b].active)
        return ranking->trials[a].active < ranking->trials[b].active;
    return advantage(ranking, a, b) > 0;
}

size_t md_ranking_one_error(const md_ranking *ranking, size_t best)
{
    const double reach = ranking->trials[best].standard_error * (1 + 1e-12);
    size_t chosen = best;
    for (size_t t = 0; t < ranking->count; t++)
        if (!isnan(ranking->trials[t].mean) && advantage(ranking, t, best) >= -reach &&
            (is_simpler(ranking, t, chosen) || (t < chosen && !is_simpler(ranking, chosen, t))))
            chosen = t;
    return chosen;
}
