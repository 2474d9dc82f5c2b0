/* SPDX-License-Identifier: BSD-3-Clause */
/* The block of an arc template against a list of weights by slot: scores, steps, lengths, averages
 * and what a restart leaves. */
#include "block/arc_theta.h"

/* ---- scores, steps and lengths ---- */

static void run_through(struct tested *tested, md_random *random)
{
    struct theta theta = {0};
    md_block *block = tested->block;
    for (size_t t = 0; t < STEPS; t++) {
        operate(tested, &theta, random);
        block->dual_scale = t % 3 == 0 ? 0.5 : 1;
        check_scores(tested, &theta, draw_example(tested->given, random));
        block->dual_scale = 1;
        if (t % 10 == 0) {
            check_norm2(tested, &theta, block->norm * block->norm);
            check_norm2(tested, &theta, block->class->norm2(block));
        }
    }
    check_weights(tested, theta.w, theta.reach);
}

static void blocks_do_what_a_list_of_weights_does(void **state)
{
    (void)state;
    for_every_block(PLAIN, run_through);
    for_every_block(AVERAGED, run_through);
    for_every_block(THRESHOLDED, run_through);
}

/* Gradients of one sentence name the same slots again and again. */
static void measure_gradients(struct tested *tested, md_random *random)
{
    size_t measured = 0;
    for (size_t t = 0; t < 40; t++) {
        struct step step;
        draw_step(&step, tested->given, random);
        for (size_t g = 0; g < step.step.count; g++) {
            double d[SLOTS_MOST] = {0};
            const double way = list_add(tested, d, &step.gradients[g], 1);
            const double exact = pow(list_length(d), 2);
            const double found =
                tested->block->class->gradient_norm2(tested->block, &step.gradients[g]);
            assert_close(tested->block, found, exact, exact + 1e-3 * way * way);
            measured += exact > 0;
        }
        md_delta *delta = &step.inference[0].delta;
        delta->count = delta->row_count = 0;
        delta->start[0] = 0;
        assert_true(tested->block->class->gradient_norm2(tested->block, &step.gradients[0]) == 0);
        clear_step(&step);
    }
    if (tested->t < 3)
        assert_true(measured > 10);
}

static void blocks_tell_the_length_of_a_gradient(void **state)
{
    (void)state;
    for_every_block(PLAIN, measure_gradients);
}

/* A bound on the squared length of features, for all but arcs over very many different tags. */
static void compare_self(struct tested *tested, md_random *random)
{
    enum { TAGS_MOST = 12 };
    const medley_dataset *dataset = tested->given->dataset;
    const bool bag = md_arc_templates_is_bag(tested->given->templates, tested->t);
    (void)random;
    for (size_t row = 0; row < dataset->rows; row++) {
        const md_example example = example_of(tested->given, tested->given->of_row[row]);
        const size_t modifier = row - example.row + 1;
        const double self = tested->block->class->self(tested->block, row) / (GAIN * GAIN);
        assert_true(bag || fabs(self - 1) < 1e-6);
        for (size_t head = 0; head <= example.length; head++) {
            uint32_t slots[ARC_FEATURES_MOST];
            const size_t count = slots_of(tested, example, head, modifier, slots);
            assert_true(bag || count == 1);
            assert_true((double)count < self + 1e-6 || count > TAGS_MOST);
        }
    }
}

static void the_length_of_features_has_a_bound(void **state)
{
    (void)state;
    for_every_block(PLAIN, compare_self);
}

/* ---- averages ---- */

static void average(struct tested *tested, md_random *random)
{
    static const double scales[] = {1, 0.5, 2};
    struct theta theta = {0};
    medley_error error = {0};
    md_block *block = tested->block;
    double reach = 0;
    for (size_t t = 0; t < STEPS; t++) {
        operate(tested, &theta, random);
        block->dual_scale = scales[md_random_below(random, 3)];
        md_block_count_iterate(block);
        list_count(&theta, block->dual_scale);
        reach = fmax(reach, 2 * theta.reach);
        if (t == STEPS / 2) { /* taken midway, and all goes on as before */
            float body[SLOTS_MOST];
            block->dual_scale = 1;
            block->class->export_body(block, body);
            assert_int_equal(block->class->take_average(block, &error), MEDLEY_OK);
            assert_int_equal(block->class->import_body(block, body, &error), MEDLEY_OK);
            refresh(tested, &theta);
        }
        block->dual_scale = 1;
    }
    assert_int_equal(block->class->take_average(block, &error), MEDLEY_OK);
    for (size_t i = 0; i < SLOTS_MOST; i++)
        theta.w[i] = theta.sum[i] / theta.counted;
    theta.reach = reach;
    refresh(tested, &theta);
    check_weights(tested, theta.w, 0.1 * reach);
    check_norm2(tested, &theta, block->norm * block->norm);
    check_scores(tested, &theta, draw_example(tested->given, random));
}

static void averages_are_the_mean_of_all_iterates(void **state)
{
    (void)state;
    for_every_block(AVERAGED, average);
}

static void restart_and_average(struct tested *tested, md_random *random)
{
    struct theta theta = {0};
    for (size_t t = 0; t < 30; t++) {
        operate(tested, &theta, random);
        md_block_count_iterate(tested->block);
    }
    tested->block->class->restart(tested->block);
    assert_true(tested->block->norm == 0 && tested->block->scale == 1);
    assert_true(tested->block->iterates == 0 && tested->block->weight_sum == 0);
    for (size_t i = 0; i < tested->floats; i++)
        assert_true(tested->memory[i] == (is_guarded(tested, i) ? GUARD_VALUE : 0));
    average(tested, random);
}

static void a_restart_forgets_weights_and_iterates(void **state)
{
    (void)state;
    for_every_block(AVERAGED, restart_and_average);
    for_every_block(THRESHOLDED_AVERAGE, restart_and_average);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_do_what_a_list_of_weights_does),
        cmocka_unit_test(blocks_tell_the_length_of_a_gradient),
        cmocka_unit_test(the_length_of_features_has_a_bound),
        cmocka_unit_test(averages_are_the_mean_of_all_iterates),
        cmocka_unit_test(a_restart_forgets_weights_and_iterates),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
