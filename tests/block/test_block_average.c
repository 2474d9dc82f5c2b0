/* SPDX-License-Identifier: BSD-3-Clause */
/* The average of all iterates that a block keeps without touching all of theta, against the naive
 * sum: through steps, shrinks, folds and clears. */
#include "block/dense_theta.h"

/* Replaces theta by the average of what was counted. */
static void dense_average(struct theta *theta)
{
    for (size_t c = 0; c < FEATURES_MOST; c++)
        for (size_t p = 0; p < WIDTH_MOST; p++)
            theta->w[c][p] = theta->sum[c][p] / theta->counted;
    theta->reach = dense_norm2(theta->w);
}

/* Every operation is followed by a count, as every round of the learner is. */
static void average(const struct data *data, md_block *block, const struct variant *variant,
                    md_random *random)
{
    struct theta theta = {0};
    double largest = 0;
    for (size_t t = 0; t < STEPS; t++) {
        operate(data, block, variant, &theta, random);
        md_block_count_iterate(block);
        dense_count(&theta);
        largest = fmax(largest, dense_largest(theta.w));
    }
    take_average(block);
    dense_average(&theta);
    check_theta(data, block, variant, theta.w, dense_largest(theta.w) + 1e-2 * largest);
    check_norms(block, &theta);
    check_scores(data, block, variant, &theta, (md_example){.row = 2, .length = 3});
}

static void averages_are_the_mean_of_all_iterates(void **state)
{
    (void)state;
    for_every_block(AVERAGED, average);
}

/* A long quiet run after strong shrinking: the average must not be lost in rounding. */
static void average_after_shrinking(const struct data *data, md_block *block,
                                    const struct variant *variant, md_random *random)
{
    struct theta theta = {0};
    for (size_t t = 0; t < 800; t++) {
        struct step step;
        draw_step(&step, variant, random);
        take_step(data, block, variant, &theta, &step, false);
        clear_step(&step);
        md_block_rescale(block, 0.7);
        dense_scale(&theta, 0.7);
        md_block_count_iterate(block);
        dense_count(&theta);
    }
    const double size = sqrt(theta.reach);
    take_average(block);
    dense_average(&theta);
    weights w;
    body_as_theta(data, block, variant, w);
    for (size_t c = 0; c < FEATURES_MOST; c++)
        for (size_t p = 0; p < WIDTH_MOST; p++)
            assert_true(fabs(w[c][p] - theta.w[c][p]) < 1e-4 * size);
}

static void averages_survive_hundreds_of_shrinks(void **state)
{
    (void)state;
    for_every_block(AVERAGED, average_after_shrinking);
}

/* Steps at a rate that has become small are rounded, or lost in the last digit of a weight: the
 * average is that of the weights as they were, however long that goes on. */
static void average_of_tiny_steps(const struct data *data, md_block *block,
                                  const struct variant *variant, md_random *random)
{
    enum { ROUNDS = 10000, LOOKS = 100 };
    struct theta theta = {0};
    struct step step;
    weights mean = {{0}};
    weights w;
    draw_step(&step, variant, random);
    step.step.eta = 1;
    take_step(data, block, variant, &theta, &step, false);
    const md_step tiny = {.gradients = step.gradients, .count = 1, .eta = 2e-8};
    for (size_t t = 0; t < ROUNDS && block->norm > 0; t++) {
        block->class->step(block, &tiny);
        md_block_finish(block, &tiny);
        md_block_count_iterate(block);
        if (t % (ROUNDS / LOOKS) != ROUNDS / LOOKS / 2)
            continue;
        body_as_theta(data, block, variant, w);
        for (size_t i = 0; i < (size_t)FEATURES_MOST * WIDTH_MOST; i++)
            (&mean[0][0])[i] += (&w[0][0])[i] / LOOKS;
    }
    if (block->norm > 0) {
        take_average(block);
        body_as_theta(data, block, variant, w);
        for (size_t c = 0; c < FEATURES_MOST; c++)
            for (size_t p = 0; p < WIDTH_MOST; p++)
                assert_close(block, w[c][p], mean[c][p], 0.1 * dense_largest(mean));
    }
    clear_step(&step);
}

static void averages_of_tiny_steps_do_not_wander(void **state)
{
    (void)state;
    for_every_block(AVERAGED, average_of_tiny_steps);
}

/* The average can be looked at in the middle of a run, which then goes on. */
static void average_twice(const struct data *data, md_block *block, const struct variant *variant,
                          md_random *random)
{
    struct theta theta = {0};
    float current[FEATURES_MOST * WIDTH_MOST];
    double largest = 0;
    for (size_t t = 0; t < 60; t++) {
        operate(data, block, variant, &theta, random);
        md_block_count_iterate(block);
        dense_count(&theta);
        largest = fmax(largest, dense_largest(theta.w));
        if (t == 20) {
            block->class->export_body(block, current);
            take_average(block);
            import_body(block, current);
        }
    }
    take_average(block);
    dense_average(&theta);
    check_theta(data, block, variant, theta.w, dense_largest(theta.w) + 1e-2 * largest);
}

static void an_average_taken_midway_does_not_disturb_the_run(void **state)
{
    (void)state;
    for_every_block(AVERAGED, average_twice);
}

static void restart_in_between(const struct data *data, md_block *block,
                               const struct variant *variant, md_random *random)
{
    struct theta theta = {0};
    for (size_t t = 0; t < 30; t++) {
        operate(data, block, variant, &theta, random);
        md_block_count_iterate(block);
    }
    block->class->restart(block);
    assert_true(block->norm == 0 && block->scale == 1 && block->iterates == 0);
    average(data, block, variant, random);
}

static void a_restart_forgets_all_iterates(void **state)
{
    (void)state;
    for_every_block(AVERAGED, restart_in_between);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(averages_are_the_mean_of_all_iterates),
        cmocka_unit_test(averages_survive_hundreds_of_shrinks),
        cmocka_unit_test(averages_of_tiny_steps_do_not_wander),
        cmocka_unit_test(an_average_taken_midway_does_not_disturb_the_run),
        cmocka_unit_test(a_restart_forgets_all_iterates),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
