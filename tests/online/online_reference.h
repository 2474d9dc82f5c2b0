/* SPDX-License-Identifier: BSD-3-Clause */
/* The online loop written down on dense arrays (SPOM Alg. 1 and 3), and the loop under test run
 * beside it: theta and the objective are the same after every round and after every epoch. Where a
 * decision is a matter of rounding the two may part, both in the right, and a comparison ends
 * there.
 */
#ifndef TESTS_ONLINE_ONLINE_REFERENCE_H
#define TESTS_ONLINE_ONLINE_REFERENCE_H

#include "online/small_problem.h"

static const double TOLERANCE = 2e-4; /* single precision through a few hundred rounds */
static const double UNDECIDED = 2e-5; /* scores nearer than that may be in another order */
enum { EPOCHS = 5 };

/* ---- the reference ---- */

struct reference {
    const struct small_problem *problem;
    const struct choice *choice;
    struct plain_penalty penalty;
    dense_theta theta, sum;
    size_t round;   /* examples */
    size_t visited; /* examples of an epoch */
    bool counting;
    size_t iterates; /* counted */
    double met;      /* sum of the losses of this epoch, each when it was met */
    bool undecided;  /* rounding has decided which step was taken */
};

static inline struct reference reference_of(const struct small_problem *problem,
                                            const struct choice *choice)
{
    struct reference ref = {
        .problem = problem, .choice = choice, .penalty = plain_penalty_of(choice->penalty)};
    ref.penalty.own_terms = choice->own_terms;
    return ref;
}

static inline double rate_of(const struct reference *ref)
{
    const double eta0 = ref->choice->settings.rates.eta0;
    const double t = (double)ref->round;
    /* strong convexity in theta of lambda times the penalty */
    const double sigma =
        ref->choice->settings.lambda * (ref->penalty.half_square + ref->penalty.absorbed);
    if (ref->choice->settings.rates.schedule == MD_RATE_SQRT)
        return eta0 / sqrt(t);
    if (ref->choice->settings.rates.schedule == MD_RATE_EPOCH)
        return eta0 / sqrt(1 + t / (double)ref->visited);
    if (ref->choice->settings.rates.schedule == MD_RATE_INVERSE)
        return eta0 / ((sigma > 0 ? sigma : 1) * t);
    return eta0;
}

/* Is it a matter of rounding which output the hinge finds worst, or whether a row is learnt? Scores
 * of a theta of zeros are zeros in any case, and the first wins. */
static inline bool is_undecided(const struct choice *choice, const double score[LABELS],
                                int32_t gold, double slope)
{
    double best = -INFINITY;
    double second = -INFINITY;
    double size = 0;
    for (int32_t l = 0; l < LABELS; l++) {
        const double value = score[l] + (l != gold);
        second = fmax(second, fmin(best, value));
        best = fmax(best, value);
        size = fmax(size, fabs(score[l]));
    }
    if (strcmp(choice->loss, "hinge") == 0)
        return size > 0 && best - second < UNDECIDED * (1 + size);
    const double learnt = choice->settings.skip_threshold;
    return learnt > 0 && fabs(fabs(slope) - learnt) < UNDECIDED;
}

/* All examples of a round are scored by the same theta; each brings its step and its share of the
 * penalty. */
static inline void reference_round(struct reference *ref, const size_t *rows, size_t count)
{
    dense_theta step = {{{0}}};
    ref->round += count;
    const double eta = rate_of(ref);
    const double tau = eta * ref->choice->settings.lambda * (double)count;
    for (size_t i = 0; i < count; i++) {
        double score[LABELS];
        double gradient[LABELS];
        plain_scores(ref->problem, ref->theta, rows[i], score);
        ref->met += plain_loss(ref->choice->loss, score, ref->problem->gold[rows[i]], gradient);
        const double slope = gradient[ref->problem->gold[rows[i]]];
        ref->undecided =
            ref->undecided || is_undecided(ref->choice, score, ref->problem->gold[rows[i]], slope);
        if (fabs(slope) < ref->choice->settings.skip_threshold)
            continue;
        plain_step(ref->problem, step, rows[i], gradient, eta);
    }
    for (size_t m = 0; m < BLOCKS; m++) {
        if (m < BLOCKS - ref->penalty.own_terms)
            plain_scale(ref->theta[m], fmax(0, 1 - tau * ref->penalty.absorbed));
        for (size_t i = 0; i < COLUMNS * LABELS; i++)
            (&ref->theta[m][0][0])[i] += (&step[m][0][0])[i];
    }
    plain_prox(ref->penalty, ref->theta, tau);
    plain_project(ref->theta, ref->choice->settings.rates.radius);
    for (size_t i = 0; ref->counting && i < BLOCKS * COLUMNS * LABELS; i++)
        (&ref->sum[0][0][0])[i] += (&ref->theta[0][0][0])[i];
    ref->iterates += ref->counting;
}

/* The visiting order is part of what one seed promises. */
static inline void reference_epoch(struct reference *ref, size_t epoch)
{
    size_t order[ROWS];
    md_random random;
    const size_t batch = ref->choice->settings.batch;
    for (size_t r = 0; r < ROWS; r++)
        order[r] = r;
    md_random_seed(&random, ref->choice->settings.seed * 1000003u + epoch);
    md_random_shuffle(&random, order, ROWS);
    ref->met = 0;
    ref->counting = epoch >= ref->choice->settings.average_from;
    ref->visited = ROWS;
    for (size_t r = 0; r < ROWS; r += batch)
        reference_round(ref, order + r, ROWS - r < batch ? ROWS - r : batch);
}

/* ---- comparison ---- */

static inline void assert_same_theta(const struct learner *learner, const struct reference *ref,
                                     dense_theta expected)
{
    dense_theta found;
    double size = 0;
    learner_theta(learner, ref->problem, found);
    for (size_t m = 0; m < BLOCKS; m++)
        size = fmax(size, plain_norm(expected[m]));
    for (size_t m = 0; m < BLOCKS; m++)
        for (size_t c = 0; c < COLUMNS; c++)
            for (size_t l = 0; l < LABELS; l++)
                if (!(fabs(found[m][c][l] - expected[m][c][l]) <= TOLERANCE * size + 1e-9))
                    fail_msg("%s, %s, round %zu: theta[%zu][%zu][%zu] = %g, expected %g",
                             ref->choice->loss, ref->choice->penalty, ref->round, m, c, l,
                             found[m][c][l], expected[m][c][l]);
}

static inline void assert_same_objective(struct learner *learner, const struct reference *ref,
                                         dense_theta theta)
{
    double objective;
    double loss;
    medley_error error = {0};
    assert_int_equal(md_online_objective(&learner->online, &objective, &loss, &error), MEDLEY_OK);
    const double expected = plain_objective(ref->problem, ref->choice->loss, ref->penalty,
                                            ref->choice->settings.lambda, theta);
    assert_true(fabs(objective - expected) <= 5 * TOLERANCE * (1 + expected));
    assert_true(loss <= objective + 1e-12 && loss >= 0);
}

/* What is told along the way: losses as they were met, the penalty as it is. */
static inline void assert_same_progress(struct learner *learner, const struct reference *ref)
{
    double loss;
    const double objective = md_online_progress(&learner->online, &loss);
    const double expected =
        ref->met / ROWS + ref->choice->settings.lambda *
                              plain_omega(ref->penalty, (double(*)[COLUMNS][LABELS])ref->theta);
    assert_true(fabs(loss - ref->met / ROWS) <= 5 * TOLERANCE * (1 + expected));
    assert_true(fabs(objective - expected) <= 5 * TOLERANCE * (1 + expected));
}

/* Epochs of a single round. */
static inline void visit_rows(struct learner *learner, const size_t *rows, size_t count)
{
    medley_error error = {0};
    learner->online.problem.visit = rows;
    learner->online.problem.visit_count = count;
    assert_int_equal(md_online_epoch(&learner->online, 0, &error), MEDLEY_OK);
}

/* Returns whether the comparison went on to the end. */
static inline bool run_rounds(const struct small_problem *problem, const struct choice *choice)
{
    struct learner learner;
    struct reference ref = reference_of(problem, choice);
    learner_make(&learner, problem, choice);
    for (size_t t = 0; t < 60; t++) {
        size_t rows[ROWS];
        const size_t count = 1 + t % choice->settings.batch;
        for (size_t i = 0; i < count; i++)
            rows[i] = (t * 7 + i) % ROWS;
        visit_rows(&learner, rows, count);
        ref.visited = count;
        reference_round(&ref, rows, count);
        if (ref.undecided)
            break;
        assert_same_theta(&learner, &ref, ref.theta);
    }
    learner_clear(&learner);
    return !ref.undecided;
}

static inline bool run_epochs(const struct small_problem *problem, const struct choice *choice)
{
    struct learner learner;
    struct reference ref = reference_of(problem, choice);
    medley_error error = {0};
    learner_make(&learner, problem, choice);
    for (size_t e = 0; e < EPOCHS; e++) {
        assert_int_equal(md_online_epoch(&learner.online, e, &error), MEDLEY_OK);
        reference_epoch(&ref, e);
        if (ref.undecided)
            goto done;
        assert_same_theta(&learner, &ref, ref.theta);
        assert_same_progress(&learner, &ref);
        assert_same_objective(&learner, &ref, ref.theta);
    }
    assert_false(learner.online.diverged);
    assert_int_equal(learner.online.round, ref.round);
    if (choice->settings.average) {
        assert_int_equal(md_online_take_average(&learner.online, &error), MEDLEY_OK);
        for (size_t m = 0; m < BLOCKS; m++)
            plain_scale(ref.sum[m], 1 / (double)ref.iterates);
        assert_same_theta(&learner, &ref, ref.sum);
        assert_same_objective(&learner, &ref, ref.sum);
    }
done:
    learner_clear(&learner);
    return !ref.undecided;
}

#endif
