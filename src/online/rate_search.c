/* SPDX-License-Identifier: BSD-3-Clause */
/* eta0 = auto, or paper, which is the rule of SPOM's table 1. auto: the first learning rate that
 * does best after some epochs on a part of the data. Best is the lowest objective (the paper's
 * rule); where enough examples are left over, a share of their excess loss is added: data that can
 * be separated reach a small objective at any rate, but large ones with a small margin.
 *
 * What carries over from N' examples to N is the rate per epoch: an example's coefficient grows by
 * eta0/sqrt(t) each time it is updated, and t is N/N' times larger in the same epoch. So the part
 * is learnt for as many epochs with the same C (lambda N), and its best rate is multiplied by
 * sqrt(N/N'). */
#include "online/run.h"

#include "base/random.h"

/* Epochs of a trial. Explicit features are scored anew each time, and few epochs tell enough (five,
 * as in the paper). */
enum { KERNEL_TRIAL = 20, EXPLICIT_TRIAL = 5 };
enum { FEWEST_OTHERS = 500, MOST_OTHERS = 5000 };

/* Examples of the part: fewer where there are many blocks, so that the search stays cheap. */
enum { MOST_EXAMPLES = 1000, FEWEST_EXAMPLES = 250, EXAMPLES_TIMES_BLOCKS = 100000 };
enum { MOST_ROWS = 12000 }; /* of the part and of what it is judged by, where examples are long */
static const double FARTHEST = 1e9; /* of the search from where it starts */

/* Weight of the excess loss on left-over examples. All of it would favour rates that hardly learn
 * the part, none of it rates that fit the part with a small margin. */
static const double CAUTION = 0.5;

struct rate_search {
    md_problem *problem;
    md_online *online;
    size_t epochs, tried;
    const size_t *others; /* [other_count] examples to judge by; none: the objective judges */
    size_t other_count;
    double start, best_rate, best_value;
};

/* The rate at which one step changes a score by about 1: the inverse of the largest kernel's mean
 * K(x,x), to a power of ten. Kernels may be of any size (raw pixels cubed, unit trace). */
static double natural_rate(const md_online *online)
{
    enum { LOOKED_AT = 100 };
    double most = 0;
    for (size_t m = 0; m < online->problem.block_count; m++) {
        const md_block *block = online->problem.blocks[m];
        double sum = 0;
        size_t i = 0;
        for (; i < online->problem.visit_count && i < LOOKED_AT; i++)
            sum += block->class->self(block, online->problem.examples[online->order[i]].row);
        most = fmax(most, sum / (double)i);
    }
    return most > 0 && isfinite(most) ? pow(10, round(-log10(most))) : 1;
}

/* The value after some epochs at this rate, kept if it is the lowest so far. */
static medley_status try_rate(struct rate_search *search, double rate, medley_error *error)
{
    double value;
    double loss;
    double other_loss;
    char stage[48];
    md_print(stage, sizeof stage, "trying eta0 %.3g", rate);
    md_online_restart(search->online, rate);
    for (size_t e = 0; e < search->epochs; e++)
        MEDLEY_TRY(md_online_epoch(search->online, e, error));
    MEDLEY_TRY(md_online_objective(search->online, &value, &loss, error));
    if (search->other_count > 0) {
        MEDLEY_TRY(md_online_mean_loss(search->online, search->others, search->other_count,
                                       &other_loss, error));
        value += CAUTION * (other_loss - loss);
    }
    search->tried++;
    if (value < search->best_value) { /* never, if it is no number */
        search->best_value = value;
        search->best_rate = rate;
    }
    const bool goes_on = md_problem_report(search->problem, (medley_progress){.stage = stage,
                                                                              .done = search->tried,
                                                                              .objective = value,
                                                                              .dev_accuracy = NAN});
    return goes_on ? MEDLEY_OK : MEDLEY_STOPPED;
}

/* The paper's rule, the best of four rates a factor of ten apart, around the natural rate instead
 * of 1: kernels of another scale (unit trace) would break fixed ones. As long as the best is one of
 * the ends the next one is tried too; then half a factor to both sides. All four are tried since
 * the value is not always falling towards the best: data that can be separated are fitted well by
 * large rates too, with a small margin. */
static medley_status search_rate(struct rate_search *search, medley_error *error)
{
    static const double first[] = {1, 10, 0.1, 0.01};
    double high = search->start;
    double low = search->start;
    medley_status status = MEDLEY_OK; /* MEDLEY_STOPPED ends the search, too */
    for (size_t i = 0; i < sizeof first / sizeof *first && status == MEDLEY_OK; i++) {
        const double rate = search->start * first[i];
        high = fmax(high, rate);
        low = fmin(low, rate);
        status = try_rate(search, rate, error);
    }
    while (status == MEDLEY_OK && search->best_rate == high && high < FARTHEST * search->start)
        status = try_rate(search, high *= 10, error);
    while (status == MEDLEY_OK && low * FARTHEST > search->start &&
           (search->best_rate == low || isinf(search->best_value))) /* diverged */
        status = try_rate(search, low /= 10, error);
    const double centre = search->best_rate;
    if (status == MEDLEY_OK)
        status = try_rate(search, centre * sqrt(10), error);
    if (status == MEDLEY_OK && search->best_rate == centre)
        status = try_rate(search, centre * sqrt(0.1), error);
    return status;
}

/* SPOM's table 1: all examples, five epochs, four rates. */
static medley_status search_as_published(struct rate_search *search, medley_error *error)
{
    static const double rates[] = {0.01, 0.1, 1, 10};
    medley_status status = MEDLEY_OK;
    for (size_t i = 0; i < sizeof rates / sizeof *rates && status == MEDLEY_OK; i++)
        status = try_rate(search, rates[i], error);
    return status;
}

static size_t examples_of_part(size_t blocks)
{
    const size_t count = EXAMPLES_TIMES_BLOCKS / blocks;
    return count > MOST_EXAMPLES     ? MOST_EXAMPLES
           : count < FEWEST_EXAMPLES ? FEWEST_EXAMPLES
                                     : count;
}

/* The first of these examples, `most` or as many as have MOST_ROWS rows. */
static size_t few_rows(const md_example *examples, const size_t *which, size_t most)
{
    size_t rows = 0;
    size_t count = 0;
    while (count < most && rows < MOST_ROWS)
        rows += examples[which[count++]].length;
    return count;
}

/* A schedule that does not fall with sqrt(t) keeps the rate as it is. */
static double carry_over(const md_online_settings *settings, double ratio)
{
    return settings->rates.schedule == MD_RATE_SQRT ? sqrt(ratio) : 1;
}

medley_status md_choose_rate(md_problem *problem, const md_online_problem *whole,
                             const md_online_settings *settings, double *rate, medley_error *error)
{
    MD_CLEARED(md_online_clear) md_online online = {0};
    MD_OWNED(free) size_t *visit = NULL;
    md_online_problem part = *whole;
    MEDLEY_TRY(md_new(&visit, whole->example_count, sizeof *visit, error));
    part.visit_count = whole->visit ? whole->visit_count : whole->example_count;
    for (size_t i = 0; i < part.visit_count; i++)
        visit[i] = whole->visit ? whole->visit[i] : i;
    md_random random;
    md_random_seed(&random, settings->seed);
    md_random_shuffle(&random, visit, part.visit_count);
    const double all = (double)part.visit_count;
    const bool published = problem->online->rate_rule == MD_RATE_OF_PAPER;
    part.visit = visit;
    if (!published) {
        const size_t enough = examples_of_part(whole->block_count);
        part.visit_count = part.visit_count < enough ? part.visit_count : enough;
        part.visit_count = few_rows(whole->examples, visit, part.visit_count);
    }
    const double ratio = all / (double)part.visit_count;
    size_t others = (size_t)all - part.visit_count;
    others = others < MOST_OTHERS ? others : MOST_OTHERS;
    others = few_rows(whole->examples, visit + part.visit_count, others);
    md_online_settings part_settings = *settings;
    part_settings.lambda *= ratio;
    const size_t trial =
        published || md_problem_is_explicit(problem) ? EXPLICIT_TRIAL : KERNEL_TRIAL;
    MEDLEY_TRY(md_online_init(&online, &part, &part_settings, error));
    struct rate_search search = {.problem = problem,
                                 .online = &online,
                                 .epochs = problem->online->epochs < trial ? problem->online->epochs
                                                                           : trial,
                                 .start = natural_rate(&online),
                                 .others = visit + part.visit_count,
                                 .other_count = others >= FEWEST_OTHERS ? others : 0,
                                 .best_value = INFINITY};
    search.best_rate = search.start;
    const medley_status status =
        published ? search_as_published(&search, error) : search_rate(&search, error);
    *rate = search.best_rate * carry_over(settings, ratio);
    if (online.diverged) /* a theta that is no number is worse than none */
        md_online_restart(&online, *rate);
    return status;
}
