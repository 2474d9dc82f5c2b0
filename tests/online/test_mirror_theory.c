/* SPDX-License-Identifier: BSD-3-Clause */
/* What is proved of OBSCURE holds: the number of updates of stage 1 and the radius it finds on
 * separable data (Theorem 2), a bound on the objective (Theorem 1), steps along subgradients; and
 * kernels of any size give the same, without a power running out of range. */
#include "online/small_problem.h"
#include <stdio.h>

static const double norms[] = {1.01, 1.05, 1.25, 1.5, 2};
enum { NORMS = sizeof norms / sizeof *norms };

/* ---- problems ---- */

/* Every row of a block of length `length`; labels are those of a random linear model, with room. */
static void separable_make(struct small_problem *p, uint64_t seed, double length)
{
    md_random random;
    dense_theta teacher;
    memset(p, 0, sizeof *p);
    md_random_seed(&random, seed);
    for (size_t i = 0; i < (size_t)BLOCKS * COLUMNS * LABELS; i++)
        (&teacher[0][0][0])[i] = md_random_normal(&random);
    for (size_t r = 0; r < ROWS;) {
        double score[LABELS];
        for (size_t m = 0; m < BLOCKS; m++) {
            double square = 0;
            for (size_t c = 0; c < COLUMNS; c++) {
                p->x[m][r][c] = (float)md_random_normal(&random);
                square += (double)p->x[m][r][c] * (double)p->x[m][r][c];
            }
            for (size_t c = 0; c < COLUMNS; c++)
                p->x[m][r][c] = (float)(length * (double)p->x[m][r][c] / sqrt(square));
        }
        plain_scores(p, teacher, r, score);
        int32_t best = 0;
        for (int32_t l = 0; l < LABELS; l++)
            best = score[l] > score[best] ? l : best;
        bool clear = true;
        for (int32_t l = 0; l < LABELS; l++)
            clear = clear && (l == best || score[best] - score[l] > 0.3 * length);
        p->gold[r] = best;
        p->examples[r] = (md_example){.row = r, .length = 1};
        r += clear;
    }
    for (size_t m = 0; m < BLOCKS; m++) {
        assert_int_equal(md_matrix_init_dense(&p->features[m], ROWS, COLUMNS, NULL), MEDLEY_OK);
        memcpy(p->features[m].dense, p->x[m], sizeof p->x[m]);
    }
    small_problem_grams(p);
}

static const md_dual *dual_of(const struct learner *learner)
{
    return learner->online.state;
}

struct mirror_choice {
    double p, eta, lambda;
    bool explicit_weights;
    uint64_t seed;
};

static void mirror_make(struct learner *learner, const struct small_problem *problem,
                        const struct mirror_choice *mirror)
{
    char penalty[64];
    snprintf(penalty, sizeof penalty, "squared-block(q=%.17g)", mirror->p);
    const struct choice choice = {.loss = "hinge",
                                  .penalty = penalty,
                                  .explicit_weights = mirror->explicit_weights,
                                  .settings = {.rule = &md_rule_obscure,
                                               .dual = {.p = mirror->p, .eta = mirror->eta},
                                               .lambda = mirror->lambda,
                                               .batch = 1,
                                               .seed = mirror->seed,
                                               .threads = 1}};
    learner_make(learner, problem, &choice);
    md_online_restart(&learner->online, mirror->eta);
}

/* Epochs of stage 1 until one has no update. Returns the updates. */
static size_t run_until_quiet(struct learner *learner)
{
    medley_error error = {0};
    size_t before;
    size_t e = 0;
    do {
        before = learner->online.updates;
        assert_int_equal(md_online_epoch(&learner->online, e, &error), MEDLEY_OK);
        assert_false(learner->online.diverged);
        assert_true(++e < 20000);
    } while (learner->online.updates > before);
    return before;
}

static double group_norm(dense_theta w, double a)
{
    double sum = 0;
    double largest = 0;
    for (size_t m = 0; m < BLOCKS; m++)
        largest = fmax(largest, plain_norm(w[m]));
    for (size_t m = 0; m < BLOCKS; m++)
        sum += pow(plain_norm(w[m]) / largest, a);
    return largest * pow(sum, 1 / a);
}

/* The smallest lead of a right label. */
static double margin_of(const struct small_problem *p, dense_theta w)
{
    double margin = INFINITY;
    for (size_t r = 0; r < ROWS; r++) {
        double score[LABELS];
        plain_scores(p, w, r, score);
        for (int32_t l = 0; l < LABELS; l++)
            if (l != p->gold[r])
                margin = fmin(margin, score[p->gold[r]] - score[l]);
    }
    return margin;
}

/* ---- Theorem 2 ---- */

/* u, p, eta: 2 q (1/eta + F^(2/q)) ||u||^2 updates at most, and R < 2 (1 + eta F^(2/q)) ||u||. */
static void check_theorem(const struct small_problem *problem, dense_theta separator,
                          const struct mirror_choice *mirror)
{
    struct learner learner;
    medley_error error = {0};
    const double q = mirror->p / (mirror->p - 1);
    const double blocks = pow(BLOCKS, 2 / q);
    const double length = group_norm(separator, mirror->p);
    const double most = 2 * q * (1 / mirror->eta + blocks) * length * length;
    mirror_make(&learner, problem, mirror);
    const double updates = (double)run_until_quiet(&learner);
    assert_int_equal(md_online_begin_stage(&learner.online, 1, 1, &error), MEDLEY_OK);
    const double radius = dual_of(&learner)->radius;
    if (!(updates > 0 && updates <= most &&
          radius < 2 * (1 + mirror->eta * blocks) * length * (1 + 1e-5)))
        fail_msg("p %g, eta %g: %g updates, at most %g; R %g, ||u|| %g", mirror->p, mirror->eta,
                 updates, most, radius, length);
    /* no loss is left: R is the norm of what was found */
    assert_true(fabs(radius - dual_of(&learner)->length / q) <= 1e-5 * radius);
    learner_clear(&learner);
}

static void updates_are_as_few_as_proved(void **state)
{
    (void)state;
    static const double etas[] = {0.3, 1, 2, 20};
    for (uint64_t seed = 1; seed <= 3; seed++) {
        struct small_problem problem;
        separable_make(&problem, seed, 1);
        for (size_t k = 0; k < NORMS; k++) {
            dense_theta separator;
            struct learner learner;
            const struct mirror_choice finder = {.p = norms[k], .eta = 0.5, .lambda = 0.01};
            mirror_make(&learner, &problem, &finder);
            run_until_quiet(&learner);
            learner_theta(&learner, &problem, separator);
            learner_clear(&learner);
            const double margin = margin_of(&problem, separator);
            assert_true(margin > 0.99); /* no loss is left */
            for (size_t m = 0; m < BLOCKS; m++)
                plain_scale(separator[m], 1 / margin);
            for (size_t i = 0; i < 8; i++) {
                const struct mirror_choice mirror = {.p = norms[(k + i / 4) % NORMS],
                                                     .eta = etas[i % 4],
                                                     .lambda = 0.01,
                                                     .explicit_weights = i % 2,
                                                     .seed = seed * 10 + i};
                check_theorem(&problem, separator, &mirror);
            }
        }
        small_problem_clear(&problem);
    }
}

/* ---- Theorem 1 ---- */

static double bound_by_hand(double p, double lambda, double radius, double rounds, double self)
{
    const double q = p / (p - 1);
    const double delta = 0.1;
    const double c = sqrt(2 * self) * pow(BLOCKS, 1 / q) + lambda * radius;
    const double first = c * sqrt(q) * sqrt(1 + log(rounds));
    return first / delta * fmin(first / (lambda * rounds), 4 * radius / sqrt(rounds));
}

/* The bound is the theorem's and holds, as seen from a much longer run. */
static void the_objective_is_within_the_bound(void **state)
{
    (void)state;
    for (size_t k = 0; k < NORMS; k++) {
        struct small_problem problem;
        struct learner learner;
        medley_error error = {0};
        double objective[3];
        double bound[2] = {0};
        const struct mirror_choice mirror = {.p = norms[k], .eta = 1, .lambda = 0.05, .seed = k};
        small_problem_make(&problem, 30 + k);
        mirror_make(&learner, &problem, &mirror);
        assert_true(isnan(md_dual_distance(&learner.online, 1, 0.1, true)));
        for (size_t e = 0; e < 300; e++) {
            if (e == 2)
                assert_int_equal(md_online_begin_stage(&learner.online, 1, 1, &error), MEDLEY_OK);
            assert_int_equal(md_online_epoch(&learner.online, e, &error), MEDLEY_OK);
            if (e != 9 && e != 29 && e != 299)
                continue;
            const size_t i = e == 9 ? 0 : e == 29 ? 1 : 2;
            assert_int_equal(md_online_objective(&learner.online, &objective[i], NULL, &error),
                             MEDLEY_OK);
            if (i == 2)
                continue;
            bound[i] = md_dual_distance(&learner.online, 3, 0.1, true);
            const double expected = bound_by_hand(
                mirror.p, mirror.lambda, dual_of(&learner)->radius, (double)((e - 1) * ROWS), 3);
            assert_true(fabs(bound[i] - expected) <= 1e-9 * expected);
        }
        assert_true(bound[1] < bound[0]);
        for (size_t i = 0; i < 2; i++)
            assert_true(objective[i] - objective[2] <= bound[i]);
        learner_clear(&learner);
        small_problem_clear(&problem);
    }
}

/* ---- subgradients ---- */

/* lambda/2 ||w||_{2,p}^2 + the loss of one row. */
static double objective_at(const struct small_problem *problem, size_t row, dense_theta w, double p,
                           double lambda)
{
    double score[LABELS];
    double gradient[LABELS];
    const double norm = group_norm(w, p);
    plain_scores(problem, w, row, score);
    return lambda / 2 * norm * norm + plain_loss("hinge", score, problem->gold[row], gradient);
}

/* theta of the blocks: what scores, without the links. */
static void dual_theta(const struct learner *learner, const struct small_problem *problem,
                       dense_theta theta)
{
    learner_theta(learner, problem, theta);
    for (size_t m = 0; m < BLOCKS; m++)
        plain_scale(theta[m], 1 / learner->blocks[m]->dual_scale);
}

/* A round at one row moves theta by -rate d. d is a subgradient of the row's objective in w: no
 * less is gained along any way than it says, and for small ways it is what is gained. */
static void check_direction(const struct small_problem *problem, dense_theta w, dense_theta d,
                            size_t row, const struct mirror_choice *mirror, md_random *random)
{
    const double here = objective_at(problem, row, w, mirror->p, mirror->lambda);
    const double size = group_norm(w, 2);
    const double slope = group_norm(d, 2);
    size_t smooth = 0;
    for (size_t trial = 0; trial < 40; trial++) {
        const double far = trial % 2 ? 1e-4 * size : size * md_random_uniform(random);
        dense_theta ahead;
        dense_theta behind;
        double product = 0;
        for (size_t i = 0; i < (size_t)BLOCKS * COLUMNS * LABELS; i++) {
            const double way = far * md_random_normal(random) / 8;
            (&ahead[0][0][0])[i] = (&w[0][0][0])[i] + way;
            (&behind[0][0][0])[i] = (&w[0][0][0])[i] - way;
            product += way * (&d[0][0][0])[i];
        }
        const double rise = objective_at(problem, row, ahead, mirror->p, mirror->lambda) - here;
        const double fall = here - objective_at(problem, row, behind, mirror->p, mirror->lambda);
        const double tolerance = 2e-3 * slope * far;
        assert_true(rise >= product - tolerance && fall <= product + tolerance);
        if (trial % 2 && fabs(rise - fall) < 0.01 * slope * far) {
            assert_true(fabs((rise + fall) / 2 - product) <= tolerance + 0.01 * slope * far);
            smooth++;
        }
    }
    assert_true(smooth > 5);
}

static void stage_two_steps_along_subgradients(void **state)
{
    (void)state;
    static const double smooth_norms[] = {1.25, 1.5, 2}; /* nearer to 1 single precision shows */
    size_t checked = 0;
    for (size_t k = 0; k < 3; k++)
        for (uint64_t seed = 1; seed <= 4; seed++) {
            struct small_problem problem;
            struct learner learner;
            medley_error error = {0};
            md_random random;
            const struct mirror_choice mirror = {
                .p = smooth_norms[k], .eta = 0.5, .lambda = 1, .explicit_weights = seed % 2};
            const double q = mirror.p / (mirror.p - 1);
            md_random_seed(&random, seed);
            small_problem_make(&problem, 40 + seed);
            mirror_make(&learner, &problem, &mirror);
            assert_int_equal(md_online_epoch(&learner.online, 0, &error), MEDLEY_OK);
            assert_int_equal(md_online_begin_stage(&learner.online, 1, 1, &error), MEDLEY_OK);
            for (size_t row = 0; row < 12; row++) {
                dense_theta w;
                dense_theta before;
                dense_theta d;
                learner_theta(&learner, &problem, w);
                dual_theta(&learner, &problem, before);
                learner.online.problem.visit = &row;
                learner.online.problem.visit_count = 1;
                assert_int_equal(md_online_epoch(&learner.online, 1 + row, &error), MEDLEY_OK);
                const md_dual *m = learner.online.state;
                const double rate = q / (mirror.lambda * m->rounds + m->s);
                if (m->length > 0.999 * q * m->radius)
                    continue; /* projected */
                dual_theta(&learner, &problem, d);
                for (size_t i = 0; i < (size_t)BLOCKS * COLUMNS * LABELS; i++)
                    (&d[0][0][0])[i] = ((&before[0][0][0])[i] - (&d[0][0][0])[i]) / rate;
                check_direction(&problem, w, d, row, &mirror, &random);
                checked++;
            }
            learner_clear(&learner);
            small_problem_clear(&problem);
        }
    assert_true(checked > 60);
}

/* ---- kernels of any size ---- */

struct outcome {
    double objective, updates;
};

/* Some epochs of both stages, in the units of a kernel that is `length` squared times another. */
static struct outcome learn_scaled(double p, bool explicit_weights, double length)
{
    const double square = length * length;
    struct small_problem problem;
    struct learner learner;
    medley_error error = {0};
    struct outcome outcome = {0};
    const struct mirror_choice mirror = {.p = p,
                                         .eta = 2 / square,
                                         .lambda = 0.01 * square,
                                         .explicit_weights = explicit_weights,
                                         .seed = 4};
    separable_make(&problem, 7, length);
    mirror_make(&learner, &problem, &mirror);
    for (size_t e = 0; e < 40; e++) {
        if (e == 3)
            assert_int_equal(md_online_begin_stage(&learner.online, 1, 1, &error), MEDLEY_OK);
        assert_int_equal(md_online_epoch(&learner.online, e, &error), MEDLEY_OK);
    }
    assert_false(learner.online.diverged);
    assert_true(isfinite(dual_of(&learner)->s) && isfinite(dual_of(&learner)->length));
    assert_int_equal(md_online_objective(&learner.online, &outcome.objective, NULL, &error),
                     MEDLEY_OK);
    assert_true(outcome.objective > 0 && outcome.objective < 1);
    outcome.updates = (double)learner.online.updates;
    learner_clear(&learner);
    small_problem_clear(&problem);
    return outcome;
}

/* K times c, with eta/c and c lambda, is the same problem in other units; to the bit if c is a
 * power of two, and otherwise up to decisions that are a matter of rounding. */
static void kernels_of_any_size_are_learnt_alike(void **state)
{
    (void)state;
    static const double lengths[] = {1.0 / 1024, 1024, 1e-3, 1e3}; /* K about 1e-6, 1e6 */
    static const double near_one[] = {1.01, 1.001, 1.05, 2};
    for (size_t k = 0; k < 4; k++)
        for (size_t way = 0; way < 2; way++) {
            const struct outcome plain = learn_scaled(near_one[k], way == 1, 1);
            for (size_t i = 0; i < 4; i++) {
                const struct outcome other = learn_scaled(near_one[k], way == 1, lengths[i]);
                const double rounding = i < 2 ? 1e-9 : 0.3;
                assert_true(fabs(other.objective - plain.objective) <= rounding * plain.objective);
                assert_true(fabs(other.updates - plain.updates) <= rounding * plain.updates);
            }
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(updates_are_as_few_as_proved),
        cmocka_unit_test(the_objective_is_within_the_bound),
        cmocka_unit_test(stage_two_steps_along_subgradients),
        cmocka_unit_test(kernels_of_any_size_are_learnt_alike),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
