/* SPDX-License-Identifier: BSD-3-Clause */
/* What mirror descent asks of blocks, against a dense theta: the length of a gradient, and a dual
 * scale, by which what scores, is exported and is averaged differs from theta. */
#include "block/dense_theta.h"

/* ---- the length of a gradient ---- */

static void measure_gradients(const struct data *data, md_block *block,
                              const struct variant *variant, md_random *random)
{
    struct theta theta = {0};
    size_t measured = 0;
    for (size_t t = 0; t < 60; t++) {
        struct step step;
        draw_step(&step, variant, random);
        announce(block, step.gradients, step.step.count);
        for (size_t g = 0; g < step.step.count; g++) {
            const md_step alone = {.gradients = &step.gradients[g], .count = 1, .eta = 1};
            weights d = {{0}};
            dense_add(data, variant, d, &alone, 1);
            const double exact = dense_norm2(d);
            const double travel = dense_travel(data, variant, &alone);
            const double found = block->class->gradient_norm2(block, &step.gradients[g]);
            assert_close(block, found, exact, 1e-2 * (exact + travel * travel));
            measured += exact > 0;
        }
        take_step(data, block, variant, &theta, &step, false); /* theta does not matter */
        clear_step(&step);
    }
    assert_true(measured > 10);
}

static void blocks_tell_the_length_of_a_gradient(void **state)
{
    (void)state;
    for_every_block(PLAIN, measure_gradients);
    for_every_block(AVERAGED, measure_gradients);
}

/* Of a gradient that has nothing for the block. */
static void measure_nothing(const struct data *data, md_block *block, const struct variant *variant,
                            md_random *random)
{
    struct step step;
    (void)data;
    draw_step(&step, variant, random);
    announce(block, step.gradients, step.step.count);
    md_delta *delta = &step.inference[0].delta;
    delta->count = delta->row_count = 0;
    delta->start[0] = 0;
    assert_true(block->class->gradient_norm2(block, &step.gradients[0]) == 0);
    clear_step(&step);
}

static void an_empty_gradient_has_no_length(void **state)
{
    (void)state;
    for_every_block(PLAIN, measure_nothing);
}

/* A kernel's features times a gain: its square is a factor of all lengths. */
static void the_gain_of_a_kernel_counts(void **state)
{
    (void)state;
    for (size_t v = 0; v < VARIANTS; v++) {
        struct data data;
        md_random random;
        if (!is_kernel(&variants[v]))
            continue;
        make_data(&data, 3);
        md_random_seed(&random, v);
        md_block *plain = make_block(&data, &variants[v], PLAIN);
        md_block *large = make_block(&data, &variants[v], PLAIN);
        md_kernel_block_set_gain(large, 3);
        for (size_t t = 0; t < 20; t++) {
            struct step step;
            draw_step(&step, &variants[v], &random);
            announce(plain, step.gradients, step.step.count);
            announce(large, step.gradients, step.step.count);
            const double one = plain->class->gradient_norm2(plain, &step.gradients[0]);
            const double nine = large->class->gradient_norm2(large, &step.gradients[0]);
            assert_close(large, nine, 9 * one, one);
            clear_step(&step);
        }
        free_block(plain);
        free_block(large);
        clear_data(&data);
    }
}

/* ---- the dual scale ---- */

static double draw_scale(md_random *random)
{
    return md_random_below(random, 6) == 0 ? 0 : 2 * md_random_uniform(random);
}

/* w = dual_scale * theta */
static void check_scaled(const struct data *data, md_block *block, const struct variant *variant,
                         const struct theta *theta, md_random *random)
{
    struct theta scaled = *theta;
    const size_t length = 1 + md_random_below(random, LONGEST);
    const md_example example = {md_random_below(random, ROWS - length + 1), length};
    dense_scale(&scaled, block->dual_scale);
    check_scores(data, block, variant, &scaled, example);
    check_theta(data, block, variant, scaled.w, sqrt(fmax(scaled.reach, dense_norm2(scaled.w))));
    const double exact = sqrt(dense_norm2(scaled.w));
    assert_close(block, md_block_length(block), exact, exact + 1e-1 * sqrt(scaled.reach));
}

/* A step, perhaps a shrink or a clear, then a dual scale: the steps are those of theta. */
static void move(const struct data *data, md_block *block, const struct variant *variant,
                 struct theta *theta, md_random *random)
{
    struct step step;
    draw_step(&step, variant, random);
    if (md_random_below(random, 3) > 0)
        take_step(data, block, variant, theta, &step, md_random_below(random, 12) == 0);
    clear_step(&step);
    if (md_random_below(random, 3) == 0) {
        const double factor = md_random_below(random, 8) == 0 ? 1e-3 : 0.8;
        md_block_rescale(block, factor);
        dense_scale(theta, factor);
    }
    if (md_random_below(random, 25) == 0) {
        refresh_norm(block);
        if (block->norm == 0)
            dense_clear(theta);
    }
    block->dual_scale = draw_scale(random);
}

static void walk_scaled(const struct data *data, md_block *block, const struct variant *variant,
                        md_random *random)
{
    struct theta theta = {0};
    for (size_t t = 0; t < STEPS; t++) {
        move(data, block, variant, &theta, random);
        check_scaled(data, block, variant, &theta, random);
        if (t % 10 == 0)
            check_norms(block, &theta); /* theta's own */
    }
}

static void a_dual_scale_is_a_factor_of_what_is_seen(void **state)
{
    (void)state;
    for_every_block(PLAIN, walk_scaled);
    for_every_block(AVERAGED, walk_scaled);
}

/* The average is that of what scored, each iterate with its own dual scale. */
static void average_scaled(const struct data *data, md_block *block, const struct variant *variant,
                           md_random *random)
{
    struct theta theta = {0};
    double largest = 0;
    for (size_t t = 0; t < STEPS; t++) {
        move(data, block, variant, &theta, random);
        md_block_count_iterate(block);
        for (size_t c = 0; c < FEATURES_MOST; c++)
            for (size_t p = 0; p < WIDTH_MOST; p++)
                theta.sum[c][p] += block->dual_scale * theta.w[c][p];
        theta.counted += 1;
        largest = fmax(largest, 2 * dense_largest(theta.w));
    }
    take_average(block);
    for (size_t c = 0; c < FEATURES_MOST; c++)
        for (size_t p = 0; p < WIDTH_MOST; p++)
            theta.w[c][p] = theta.sum[c][p] / theta.counted;
    theta.reach = dense_norm2(theta.w);
    check_theta(data, block, variant, theta.w, dense_largest(theta.w) + 1e-2 * largest);
    check_norms(block, &theta);
    check_scores(data, block, variant, &theta, (md_example){.row = 4, .length = 3});
}

static void averages_are_of_what_scored(void **state)
{
    (void)state;
    for_every_block(AVERAGED, average_scaled);
}

/* What was exported with a dual scale is what scores when it is imported without one. */
static void import_scaled(const struct data *data, md_block *block, const struct variant *variant,
                          md_random *random)
{
    struct theta theta = {0};
    float body[FEATURES_MOST * WIDTH_MOST];
    for (size_t t = 0; t < 40; t++)
        move(data, block, variant, &theta, random);
    block->dual_scale = 0.3;
    dense_scale(&theta, 0.3);
    block->class->export_body(block, body);
    md_block *other = make_block(data, variant, PLAIN);
    import_body(other, body);
    check_norms(other, &theta);
    check_scores(data, other, variant, &theta, (md_example){.row = 7, .length = 4});
    free_block(other);
}

static void a_scaled_theta_can_be_imported(void **state)
{
    (void)state;
    for_every_block(PLAIN, import_scaled);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_tell_the_length_of_a_gradient),
        cmocka_unit_test(an_empty_gradient_has_no_length),
        cmocka_unit_test(the_gain_of_a_kernel_counts),
        cmocka_unit_test(a_dual_scale_is_a_factor_of_what_is_seen),
        cmocka_unit_test(averages_are_of_what_scored),
        cmocka_unit_test(a_scaled_theta_can_be_imported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
