/* SPDX-License-Identifier: BSD-3-Clause */
/* The rules obscure, pegasos and om2 against their algorithms written down directly: norms, what
 * scores, R and s after every epoch, on rows of three classes and on chains. Where a decision is a
 * matter of rounding the two may part, and a comparison ends there. */
#include "online/mirror_reference.h"
#include "online/small_problem.h"
#include <stdio.h>

/* Scores are single precision, and a power of q - 2 multiplies relative errors by as much. */
static double rounding(double p)
{
    return 2e-5 + 3e-6 * p / (p - 1);
}

/* ---- rows of three classes ---- */

static double loss_of_row(const void *context, size_t row, const double *w, double *z, double *gap)
{
    const struct small_problem *p = context;
    double score[LABELS] = {0};
    const size_t gold = (size_t)p->gold[row];
    for (size_t m = 0; m < BLOCKS; m++)
        for (size_t c = 0; c < COLUMNS; c++)
            for (size_t l = 0; l < LABELS; l++)
                score[l] += (double)p->x[m][row][c] * w[(m * COLUMNS + c) * LABELS + l];
    size_t worst = gold == 0 ? 1 : 0;
    for (size_t l = 0; l < LABELS; l++)
        if (l != gold && score[l] > score[worst])
            worst = l;
    const double loss = fmax(0, 1 + score[worst] - score[gold]);
    *gap = fabs(1 + score[worst] - score[gold]);
    for (size_t l = 0; l < LABELS; l++)
        if (l != gold && l != worst && (score[l] != 0 || score[worst] != 0)) /* the first wins */
            *gap = fmin(*gap, score[worst] - score[l]);
    for (size_t m = 0; loss > 0 && m < BLOCKS; m++)
        for (size_t c = 0; c < COLUMNS; c++) {
            z[(m * COLUMNS + c) * LABELS + gold] += (double)p->x[m][row][c];
            z[(m * COLUMNS + c) * LABELS + worst] -= (double)p->x[m][row][c];
        }
    return loss;
}

struct way {
    double p, lambda;
    double eta; /* 0: that of OM-2 */
    bool explicit_weights, adaptive;
    size_t first_epochs; /* of stage 1 */
    size_t average_from;
    uint64_t seed;
};

static md_online_settings settings_of(const struct way *way)
{
    return (md_online_settings){.rule = way->eta == 0   ? &md_rule_om2
                                        : way->adaptive ? &md_rule_obscure
                                                        : &md_rule_pegasos,
                                .dual = {.p = way->p, .eta = way->eta},
                                .lambda = way->lambda,
                                .average = true,
                                .average_from = way->average_from,
                                .batch = 1,
                                .seed = way->seed,
                                .threads = 1};
}

static void assert_about(const struct way *way, size_t epoch, const char *what, double found,
                         double expected, double scale)
{
    if (!(fabs(found - expected) <= rounding(way->p) * scale))
        fail_msg("p %g, seed %d, epoch %zu, %s: %.9g, expected %.9g", way->p, (int)way->seed, epoch,
                 what, found, expected);
}

static void compare(const struct learner *learner, const struct small_problem *problem,
                    const struct mirror_reference *ref, const struct way *way, size_t epoch)
{
    const md_dual *mirror = learner->online.state;
    const double length = group_norm(ref, ref->theta, ref->q);
    const double p = way->p;
    double square = 0;
    dense_theta w;
    learner_theta(learner, problem, w);
    assert_int_equal(learner->online.updates, ref->updates);
    assert_about(way, epoch, "length", mirror->length, length, length);
    for (size_t m = 0; m < BLOCKS; m++) {
        assert_about(way, epoch, "norm", learner->blocks[m]->norm, block_length(ref, ref->theta, m),
                     length);
        square += pow(plain_norm(w[m]), p);
    }
    /* duality: ||w||_{2,p} = ||theta||_{2,q} / q */
    assert_about(way, epoch, "norm of w", pow(square, 1 / p), length / ref->q, length / ref->q);
    for (size_t i = 0; i < (size_t)BLOCKS * COLUMNS * LABELS; i++)
        assert_about(way, epoch, "w", (&w[0][0][0])[i], ref->w[i], length / ref->q);
    if (!ref->descends)
        return;
    assert_about(way, epoch, "R", mirror->radius, ref->radius, ref->radius);
    assert_about(way, epoch, "s", mirror->s, ref->s, ref->s + way->lambda);
    assert_true(mirror->rounds == ref->rounds);
}

static void compare_objective(struct learner *learner, struct mirror_reference *ref,
                              const struct way *way, size_t epoch)
{
    medley_error error = {0};
    double objective;
    assert_int_equal(md_online_objective(&learner->online, &objective, NULL, &error), MEDLEY_OK);
    const double expected = reference_objective(ref, ROWS);
    assert_about(way, epoch, "objective", objective, expected, expected + 1);
}

/* Averages are of what scored. */
static void compare_average(struct learner *learner, const struct small_problem *problem,
                            const struct mirror_reference *ref, const struct way *way)
{
    medley_error error = {0};
    dense_theta w;
    assert_int_equal(md_online_take_average(&learner->online, &error), MEDLEY_OK);
    learner_theta(learner, problem, w);
    const double length = group_norm(ref, ref->sum, 2) / (double)ref->counted;
    for (size_t i = 0; i < (size_t)BLOCKS * COLUMNS * LABELS; i++)
        assert_about(way, 99, "average", (&w[0][0][0])[i], ref->sum[i] / (double)ref->counted,
                     length);
}

/* Returns the number of epochs that could be compared. */
static size_t follow(const struct small_problem *problem, const struct way *way, size_t epochs)
{
    medley_error error = {0};
    struct learner learner;
    struct mirror_reference ref;
    char penalty[64];
    snprintf(penalty, sizeof penalty, "squared-block(q=%.17g)", way->p);
    const struct choice choice = {.loss = "hinge",
                                  .penalty = penalty,
                                  .settings = settings_of(way),
                                  .explicit_weights = way->explicit_weights};
    learner_make(&learner, problem, &choice);
    mirror_reference_make(&ref, BLOCKS, (size_t)COLUMNS * LABELS, way->p);
    ref.lambda = way->lambda;
    ref.eta = way->eta;
    ref.loss = loss_of_row;
    ref.context = problem;
    md_online_restart(&learner.online, way->eta);
    size_t e = 0;
    for (; e < epochs; e++) {
        if (e == way->first_epochs) {
            assert_int_equal(md_online_begin_stage(&learner.online, way->adaptive, e, &error),
                             MEDLEY_OK);
            reference_begin_descent(&ref, ROWS, way->adaptive);
        }
        assert_int_equal(md_online_epoch(&learner.online, e, &error), MEDLEY_OK);
        for (size_t i = 0; i < ROWS; i++) {
            reference_visit(&ref, learner.online.order[i]);
            if (e >= way->average_from)
                reference_count(&ref);
        }
        if (ref.closest < rounding(way->p))
            break;
        compare(&learner, problem, &ref, way, e);
        compare_objective(&learner, &ref, way, e);
    }
    if (e == epochs)
        compare_average(&learner, problem, &ref, way);
    mirror_reference_clear(&ref);
    learner_clear(&learner);
    return e;
}

static const double norms[] = {1.01, 1.05, 1.25, 1.5, 2};

static void rows_coincide_with_the_direct_algorithm(void **state)
{
    (void)state;
    enum { EPOCHS = 6, SEEDS = 6 };
    for (size_t k = 0; k < sizeof norms / sizeof *norms; k++) {
        size_t compared = 0;
        for (uint64_t seed = 1; seed <= SEEDS; seed++) {
            struct small_problem problem;
            small_problem_make(&problem, seed);
            const struct way way = {.p = norms[k],
                                    .eta = seed % 2 ? 2 : 0.3,
                                    .lambda = seed % 3 ? 0.02 : 0.0005,
                                    .explicit_weights = seed % 2,
                                    .adaptive = true,
                                    .first_epochs = seed % 4, /* also none */
                                    .average_from = seed % 3,
                                    .seed = seed};
            compared += follow(&problem, &way, EPOCHS);
            small_problem_clear(&problem);
        }
        if (compared < 2 * SEEDS)
            fail_msg("p %g: only %zu epochs could be compared", norms[k], compared);
    }
}

static void pegasos_coincides_with_the_direct_algorithm(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof norms / sizeof *norms; k++) {
        size_t compared = 0;
        for (uint64_t seed = 1; seed <= 4; seed++) {
            struct small_problem problem;
            small_problem_make(&problem, 10 + seed);
            const struct way way = {.p = norms[k],
                                    .eta = 1,
                                    .lambda = seed % 2 ? 0.3 : 0.02,
                                    .explicit_weights = seed > 2,
                                    .seed = seed};
            compared += follow(&problem, &way, 5);
            small_problem_clear(&problem);
        }
        if (compared < 4)
            fail_msg("p %g: only %zu epochs could be compared", norms[k], compared);
    }
}

static void om2_coincides_with_the_direct_algorithm(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof norms / sizeof *norms; k++) {
        size_t compared = 0;
        for (uint64_t seed = 1; seed <= 4; seed++) {
            struct small_problem problem;
            small_problem_make(&problem, 20 + seed);
            const struct way way = {.p = norms[k],
                                    .lambda = 0.1,
                                    .explicit_weights = seed > 2,
                                    .first_epochs = SIZE_MAX, /* it has one stage */
                                    .seed = seed};
            compared += follow(&problem, &way, 5);
            small_problem_clear(&problem);
        }
        if (compared < 4)
            fail_msg("p %g: only %zu epochs could be compared", norms[k], compared);
    }
}

/* ---- weights are taken up ---- */

/* Afterwards theta is what scored, and it scores the same. */
static void weights_can_be_taken_up(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof norms / sizeof *norms; k++) {
        struct small_problem problem;
        struct learner learner;
        medley_error error = {0};
        const struct way way = {
            .p = norms[k], .eta = 1, .lambda = 0.01, .adaptive = true, .seed = 3};
        const struct choice choice = {.loss = "hinge",
                                      .penalty = "l2",
                                      .settings = settings_of(&way),
                                      .explicit_weights = k % 2};
        dense_theta before;
        dense_theta after;
        double loss[2];
        small_problem_make(&problem, 4);
        learner_make(&learner, &problem, &choice);
        md_online_restart(&learner.online, way.eta);
        assert_int_equal(md_online_epoch(&learner.online, 0, &error), MEDLEY_OK);
        for (size_t i = 0; i < 2; i++) {
            learner_theta(&learner, &problem, i == 0 ? before : after);
            assert_int_equal(
                md_online_mean_loss(&learner.online, learner.online.order, ROWS, &loss[i], &error),
                MEDLEY_OK);
            if (i == 0)
                md_online_take_weights(&learner.online);
        }
        assert_true(fabs(loss[0] - loss[1]) <= 1e-6 * loss[0]);
        for (size_t m = 0; m < BLOCKS; m++) {
            assert_true(learner.blocks[m]->dual_scale == 1);
            assert_true(fabs(learner.blocks[m]->norm - plain_norm(before[m])) <=
                        1e-4 * plain_norm(before[m]) + 1e-25);
            for (size_t i = 0; i < (size_t)COLUMNS * LABELS; i++)
                assert_true(fabs((&before[m][0][0])[i] - (&after[m][0][0])[i]) <=
                            1e-5 * fabs((&before[m][0][0])[i]) + 1e-25);
        }
        learner_clear(&learner);
        small_problem_clear(&problem);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_coincide_with_the_direct_algorithm),
        cmocka_unit_test(pegasos_coincides_with_the_direct_algorithm),
        cmocka_unit_test(om2_coincides_with_the_direct_algorithm),
        cmocka_unit_test(weights_can_be_taken_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
