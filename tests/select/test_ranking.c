/* SPDX-License-Identifier: BSD-3-Clause */
/* The best trial and the simplest one within one standard error of it, against rules that are
 * applied one after the other to all trials. */
#include "select/ranking.h"

#include "base/random.h"
#include "fit/fitting.h"

enum { FOLDS = 4, MOST = 12 };

struct table {
    double fold[MOST][FOLDS], strength[MOST];
    medley_trial trials[MOST];
    md_ranking ranking;
};

/* Few different values, so that there are ties of every kind. */
static void fill(struct table *table, md_random *random)
{
    const size_t count = 1 + md_random_below(random, MOST);
    const bool varied = md_random_below(random, 4) > 0;
    table->ranking = (md_ranking){.trials = table->trials,
                                  .strength = table->strength,
                                  .count = count,
                                  .higher_is_better = md_random_below(random, 2) == 0};
    for (size_t t = 0; t < count; t++) {
        for (size_t f = 0; f < FOLDS; f++)
            table->fold[t][f] = 0.7 + 0.05 * (double)md_random_below(random, 3);
        if (t > 0 && md_random_below(random, 6) == 0)
            table->fold[t][1] = NAN;
        table->strength[t] = varied ? pow(10, (double)md_random_below(random, 3)) : (double)NAN;
        table->trials[t] = (medley_trial){.fold = table->fold[t],
                                          .active = (double)(1 + md_random_below(random, 3))};
        md_trial_summarise(&table->trials[t], FOLDS);
    }
}

/* Keeps of the trials in[count] those for which no other has a higher rank. */
static void keep_highest(bool *in, const double *rank, size_t count)
{
    double highest = -INFINITY;
    for (size_t t = 0; t < count; t++)
        if (in[t] && rank[t] > highest)
            highest = rank[t];
    for (size_t t = 0; t < count; t++)
        in[t] = in[t] && rank[t] >= highest - 1e-9;
}

static size_t first_of(const bool *in)
{
    size_t t = 0;
    while (!in[t])
        t++;
    return t;
}

static void choices_follow_the_rules(void **state)
{
    (void)state;
    md_random random;
    md_random_seed(&random, 5);
    for (int round = 0; round < 20000; round++) {
        struct table table;
        fill(&table, &random);
        const size_t count = table.ranking.count;
        bool in[MOST] = {false};
        double gain[MOST];
        double strength[MOST];
        double few[MOST];
        for (size_t t = 0; t < count; t++) {
            in[t] = !isnan(table.trials[t].mean);
            gain[t] = table.ranking.higher_is_better ? table.trials[t].mean : -table.trials[t].mean;
            strength[t] = isnan(table.strength[t]) ? 0 : table.strength[t];
            few[t] = -table.trials[t].active;
        }
        bool best[MOST];
        memcpy(best, in, sizeof best);
        keep_highest(best, gain, count);
        keep_highest(best, strength, count);
        assert_int_equal(md_ranking_best(&table.ranking), first_of(best));
        const size_t chosen = first_of(best);
        for (size_t t = 0; t < count; t++)
            in[t] = in[t] && gain[t] >= gain[chosen] - table.trials[chosen].standard_error - 1e-9;
        keep_highest(in, strength, count);
        keep_highest(in, few, count);
        keep_highest(in, gain, count);
        assert_int_equal(md_ranking_one_error(&table.ranking, chosen), first_of(in));
    }
}

static void means_and_errors_are_as_in_books(void **state)
{
    (void)state;
    static const double fold[FOLDS] = {0.9, 0.8, 1.0, 0.7};
    medley_trial trial = {.fold = fold};
    md_trial_summarise(&trial, FOLDS);
    assert_true(fabs(trial.mean - 0.85) < 1e-15);
    assert_true(fabs(trial.deviation - sqrt(0.05 / 3)) < 1e-15);
    assert_true(fabs(trial.standard_error - sqrt(0.05 / 12)) < 1e-15);
}

static void nothing_is_best_where_all_failed(void **state)
{
    (void)state;
    const medley_trial trials[] = {{.mean = NAN}, {.mean = NAN}};
    const double strength[] = {1, 2};
    const md_ranking ranking = {
        .trials = trials, .strength = strength, .count = 2, .higher_is_better = true};
    assert_int_equal(md_ranking_best(&ranking), 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(choices_follow_the_rules),
        cmocka_unit_test(means_and_errors_are_as_in_books),
        cmocka_unit_test(nothing_is_best_where_all_failed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
