/* SPDX-License-Identifier: BSD-3-Clause */
/* The average of all iterates that a block keeps without touching all of theta, against the naive
 * sum: through updates, shrinks, folds and clears. */
#include "block/dense_theta.h"

/* Every operation is followed by a count, as every round of the learner is. */
static void average(const struct data *data, md_block *block, kind which, md_random *random)
{
    struct theta theta = {0};
    medley_error error = {0};
    for (size_t t = 0; t < STEPS; t++) {
        operate(data, block, &theta, random);
        md_block_count_iterate(block);
        dense_count(&theta);
    }
    double largest = 0;
    for (size_t c = 0; c < COLUMNS; c++)
        for (size_t l = 0; l < LABELS; l++) {
            theta.w[c][l] = theta.sum[c][l] / theta.counted;
            largest = fmax(largest, fabs(theta.w[c][l]));
        }
    assert_int_equal(block->class->take_average(block, &error), MEDLEY_OK);
    double w[COLUMNS][LABELS];
    body_as_theta(data, block, which, w);
    for (size_t c = 0; c < COLUMNS; c++)
        for (size_t l = 0; l < LABELS; l++)
            assert_close(w[c][l], theta.w[c][l], largest);
    check_norms(block, &theta);
    check_scores(data, block, &theta, (md_example){.row = 2, .length = 3});
}

static void averages_are_the_mean_of_all_iterates(void **state)
{
    (void)state;
    for_every_block(true, average);
}

/* A long quiet run after strong shrinking: the average must not be lost in rounding. */
static void average_after_shrinking(const struct data *data, md_block *block, kind which,
                                    md_random *random)
{
    struct theta theta = {0};
    medley_error error = {0};
    for (size_t t = 0; t < 2000; t++) {
        struct step step;
        draw_step(&step, random);
        take_step(block, &step);
        dense_add(data, theta.w, step.example, &step.delta, -step.size);
        md_block_rescale(block, 0.7);
        for (size_t c = 0; c < COLUMNS; c++)
            for (size_t l = 0; l < LABELS; l++)
                theta.w[c][l] *= 0.7;
        md_block_count_iterate(block);
        dense_count(&theta);
    }
    const double size = sqrt(dense_norm2(theta.w));
    assert_int_equal(block->class->take_average(block, &error), MEDLEY_OK);
    double w[COLUMNS][LABELS];
    body_as_theta(data, block, which, w);
    for (size_t c = 0; c < COLUMNS; c++)
        for (size_t l = 0; l < LABELS; l++)
            assert_true(fabs(w[c][l] - theta.sum[c][l] / theta.counted) < 1e-4 * size);
}

static void averages_survive_thousands_of_shrinks(void **state)
{
    (void)state;
    for_every_block(true, average_after_shrinking);
}

/* The average can be looked at in the middle of a run, which then goes on. */
static void average_twice(const struct data *data, md_block *block, kind which, md_random *random)
{
    struct theta theta = {0};
    medley_error error = {0};
    float current[ROWS * LABELS];
    for (size_t t = 0; t < 60; t++) {
        operate(data, block, &theta, random);
        md_block_count_iterate(block);
        dense_count(&theta);
        if (t == 20) {
            block->class->export_body(block, current);
            assert_int_equal(block->class->take_average(block, &error), MEDLEY_OK);
            assert_int_equal(block->class->import_body(block, current, &error), MEDLEY_OK);
        }
    }
    assert_int_equal(block->class->take_average(block, &error), MEDLEY_OK);
    double w[COLUMNS][LABELS];
    body_as_theta(data, block, which, w);
    double largest = 0;
    for (size_t c = 0; c < COLUMNS; c++)
        for (size_t l = 0; l < LABELS; l++)
            largest = fmax(largest, fabs(theta.sum[c][l] / theta.counted));
    for (size_t c = 0; c < COLUMNS; c++)
        for (size_t l = 0; l < LABELS; l++)
            assert_close(w[c][l], theta.sum[c][l] / theta.counted, largest);
}

static void an_average_taken_midway_does_not_disturb_the_run(void **state)
{
    (void)state;
    for_every_block(true, average_twice);
}

static void restart_in_between(const struct data *data, md_block *block, kind which,
                               md_random *random)
{
    struct theta theta = {0};
    for (size_t t = 0; t < 30; t++) {
        operate(data, block, &theta, random);
        md_block_count_iterate(block);
    }
    block->class->restart(block);
    assert_true(block->norm == 0 && block->scale == 1 && block->iterates == 0);
    average(data, block, which, random);
}

static void a_restart_forgets_all_iterates(void **state)
{
    (void)state;
    for_every_block(true, restart_in_between);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(averages_are_the_mean_of_all_iterates),
        cmocka_unit_test(averages_survive_thousands_of_shrinks),
        cmocka_unit_test(an_average_taken_midway_does_not_disturb_the_run),
        cmocka_unit_test(a_restart_forgets_all_iterates),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
