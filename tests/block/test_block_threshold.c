/* SPDX-License-Identifier: BSD-3-Clause */
/* Soft thresholds of explicit blocks, which are put off until a weight is looked at: at every
 * moment theta is what it would be with all of them taken at once, through steps, changes of scale,
 * clears and averages. */
#include "block/dense_theta.h"

static const struct usage THRESHOLDED = {.thresholds = true};
static const struct usage THRESHOLDED_AVERAGE = {.thresholds = true, .averaging = true};

static double dense_sum_abs(weights w)
{
    double sum = 0;
    for (size_t c = 0; c < FEATURES_MOST; c++)
        for (size_t p = 0; p < WIDTH_MOST; p++)
            sum += fabs(w[c][p]);
    return sum;
}

/* Steps as the learner takes them where thresholds are late: norms are only asked to be positive
 * where there are weights. */
static void step_blindly(const struct data *data, md_block *block, const struct variant *variant,
                         struct theta *theta, md_random *random)
{
    struct step step;
    draw_step(&step, variant, random);
    dense_step(data, variant, theta, &step.step);
    const double norm = block->class->step(block, &step.step);
    md_block_finish(block, &step.step);
    block->norm = norm;
    if (norm < 1e-30) {
        block->class->clear(block);
        dense_clear(theta);
    }
    clear_step(&step);
}

static void threshold_both(md_block *block, struct theta *theta, md_random *random)
{
    const double tau = 0.1 * sqrt(theta->reach) * md_random_uniform(random);
    if (md_random_below(random, 4) == 0)
        return;
    block->class->soft_threshold(block, tau);
    dense_threshold(theta->w, tau);
}

/* Each of these looks at all weights. */
static void look(md_block *block, struct theta *theta, md_random *random)
{
    const double size = sqrt(theta->reach);
    switch (md_random_below(random, 3)) {
    case 0:
        assert_close(block, block->class->sum_abs(block), dense_sum_abs(theta->w), 10 * size);
        break;
    case 1:
        assert_close(block, sqrt(block->class->norm2(block)), sqrt(dense_norm2(theta->w)), size);
        break;
    default:
        md_block_refresh_norm(block);
        assert_close(block, block->norm, sqrt(dense_norm2(theta->w)), size);
        if (block->norm == 0)
            dense_clear(theta);
    }
}

static void put_off(const struct data *data, md_block *block, const struct variant *variant,
                    md_random *random)
{
    struct theta theta = {0};
    for (size_t t = 0; t < 2 * STEPS; t++) {
        const size_t choice = md_random_below(random, 40);
        step_blindly(data, block, variant, &theta, random);
        threshold_both(block, &theta, random);
        if (choice < 20) {
            const double factor = choice == 0 ? 1e-4 : 0.9;
            md_block_rescale(block, factor);
            dense_scale(&theta, factor);
        } else if (choice == 20) {
            block->class->clear(block);
            dense_clear(&theta);
        } else if (choice < 26) {
            look(block, &theta, random);
        }
        const size_t length = 1 + md_random_below(random, LONGEST);
        const md_example example = {md_random_below(random, ROWS - length + 1), length};
        check_scores(data, block, variant, &theta, example);
    }
    check_theta(data, block, variant, theta.w, sqrt(theta.reach));
}

static void thresholds_put_off_are_not_forgotten(void **state)
{
    (void)state;
    for_every_block(THRESHOLDED, put_off);
    for_every_block(THRESHOLDED_AVERAGE, put_off);
}

/* The average is that of the iterates as they were, also of weights that nobody looked at. */
static void average_thresholded(const struct data *data, md_block *block,
                                const struct variant *variant, md_random *random)
{
    struct theta theta = {0};
    double size = 0;
    for (size_t t = 0; t < STEPS; t++) {
        if (t % 3 == 0)
            step_blindly(data, block, variant, &theta, random);
        threshold_both(block, &theta, random);
        if (t % 5 == 0) {
            md_block_rescale(block, 0.8);
            dense_scale(&theta, 0.8);
        }
        if (t % 50 == 49) {
            block->class->clear(block);
            dense_clear(&theta);
        }
        md_block_count_iterate(block);
        dense_count(&theta);
        size = fmax(size, theta.reach);
    }
    take_average(block);
    for (size_t c = 0; c < FEATURES_MOST; c++)
        for (size_t p = 0; p < WIDTH_MOST; p++)
            theta.w[c][p] = theta.sum[c][p] / theta.counted;
    check_theta(data, block, variant, theta.w, sqrt(size));
    check_scores(data, block, variant, &theta, (md_example){.row = 1, .length = 4});
}

static void averages_have_every_threshold_in_its_time(void **state)
{
    (void)state;
    for_every_block(THRESHOLDED_AVERAGE, average_thresholded);
}

/* Taken after every step with norms recomputed, as penalties need it that look at both. */
static void threshold_at_once(const struct data *data, md_block *block,
                              const struct variant *variant, md_random *random)
{
    struct theta theta = {0};
    for (size_t t = 0; t < STEPS; t++) {
        operate(data, block, variant, &theta, random);
        const double size = sqrt(dense_norm2(theta.w));
        const double tau = t % 3 == 0 ? 0 : 0.1 * size * md_random_uniform(random);
        dense_threshold(theta.w, tau);
        block->class->soft_threshold(block, tau);
        assert_close(block, block->class->sum_abs(block), dense_sum_abs(theta.w),
                     10 * size + 1e-2 * sqrt(theta.reach));
        md_block_refresh_norm(block);
        assert_close(block, block->norm, sqrt(dense_norm2(theta.w)),
                     size + 1e-2 * sqrt(theta.reach));
        if (block->norm == 0)
            dense_clear(&theta);
    }
    check_theta(data, block, variant, theta.w, sqrt(theta.reach));
}

static void soft_thresholds_act_on_every_weight(void **state)
{
    (void)state;
    for_every_block(THRESHOLDED, threshold_at_once);
    for_every_block(THRESHOLDED_AVERAGE, threshold_at_once);
}

/* A threshold above the largest weight leaves nothing, and what comes later is not shrunk by it. */
static void empty(const struct data *data, md_block *block, const struct variant *variant,
                  md_random *random)
{
    struct theta theta = {0};
    for (size_t t = 0; t < 50; t++) {
        step_blindly(data, block, variant, &theta, random);
        block->class->soft_threshold(block, 1 + dense_largest(theta.w));
        dense_clear(&theta);
        check_scores(data, block, variant, &theta, (md_example){.row = 3, .length = 3});
        if (t % 2 == 0)
            continue;
        md_block_refresh_norm(block);
        assert_true(block->norm == 0);
    }
    step_blindly(data, block, variant, &theta, random);
    check_theta(data, block, variant, theta.w, sqrt(theta.reach));
}

static void what_is_thresholded_away_leaves_no_debt(void **state)
{
    (void)state;
    for_every_block(THRESHOLDED, empty);
}

static void kernels_have_no_coordinates(void **state)
{
    (void)state;
    struct data data;
    make_data(&data, 1);
    md_block *block = make_block(&data, &variants[0], (struct usage){0});
    assert_null(block->class->soft_threshold);
    assert_null(block->class->sum_abs);
    free_block(block);
    clear_data(&data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(thresholds_put_off_are_not_forgotten),
        cmocka_unit_test(averages_have_every_threshold_in_its_time),
        cmocka_unit_test(soft_thresholds_act_on_every_weight),
        cmocka_unit_test(what_is_thresholded_away_leaves_no_debt),
        cmocka_unit_test(kernels_have_no_coordinates),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
