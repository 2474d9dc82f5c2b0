/* SPDX-License-Identifier: BSD-3-Clause */
/* Kernel blocks and explicit blocks against a dense theta: scores, steps and the norms they tell,
 * shrinking, clearing, copies. */
#include "block/dense_theta.h"

static void walk(const struct data *data, md_block *block, const struct variant *variant,
                 md_random *random)
{
    struct theta theta = {0};
    for (size_t t = 0; t < STEPS; t++) {
        operate(data, block, variant, &theta, random);
        /* deferred scores must not depend on being closed */
        if (!is_computed(variant) || md_random_below(random, 10) == 0)
            check_norms(block, &theta);
    }
    check_theta(data, block, variant, theta.w, sqrt(dense_norm2(theta.w)));
}

static void blocks_do_what_a_dense_theta_does(void **state)
{
    (void)state;
    for_every_block(PLAIN, walk);
    for_every_block(AVERAGED, walk);
}

static void shrink_far(const struct data *data, md_block *block, const struct variant *variant,
                       md_random *random)
{
    struct theta theta = {0};
    struct step step;
    draw_step(&step, variant, random);
    for (size_t t = 0; t < 4; t++) {
        take_step(data, block, variant, &theta, &step, false);
        check_norms(block, &theta);
        for (size_t i = 0; i < 8; i++) { /* no step in between: nothing is folded yet */
            md_block_rescale(block, 1e-3);
            dense_scale(&theta, 1e-3);
        }
        check_norms(block, &theta);
    }
    take_step(data, block, variant, &theta, &step, false);
    check_norms(block, &theta);
    check_scores(data, block, variant, &theta, step.gradients[0].example);
    clear_step(&step);
}

static void a_block_shrunk_to_nearly_nothing_grows_again(void **state)
{
    (void)state;
    for_every_block(PLAIN, shrink_far);
    for_every_block(AVERAGED, shrink_far);
}

static void measure_self(const struct data *data, md_block *block, const struct variant *variant,
                         md_random *random)
{
    (void)random;
    for (size_t r = 0; r < ROWS; r++) {
        double square = 0;
        for (size_t c = 0; c < features_of(variant); c++)
            square += feature_at(data, variant, r, c) * feature_at(data, variant, r, c);
        assert_close(block, block->class->self(block, r), square, square);
    }
}

static void blocks_tell_the_size_of_their_features(void **state)
{
    (void)state;
    for_every_block(PLAIN, measure_self);
}

/* ---- copies ---- */

static void export_and_import(const struct data *data, md_block *block,
                              const struct variant *variant, md_random *random)
{
    struct theta theta = {0};
    struct theta scrap = {0};
    float body[FEATURES_MOST * WIDTH_MOST];
    float again[FEATURES_MOST * WIDTH_MOST] = {0};
    for (size_t t = 0; t < 40; t++)
        operate(data, block, variant, &theta, random);
    block->class->export_body(block, body);
    md_block *other = make_block(data, variant, PLAIN);
    for (size_t t = 0; t < 10; t++)
        operate(data, other, variant, &scrap, random);
    import_body(other, body);
    check_norms(other, &theta);
    check_scores(data, other, variant, &theta, (md_example){.row = 5, .length = 2});
    other->class->export_body(other, again);
    for (size_t i = 0; i < other->class->body_size(other); i++)
        assert_true(fabsf(body[i] - again[i]) <= 1e-6f * fabsf(body[i]));
    for (size_t t = 0; t < 10; t++) { /* and it can be trained further */
        operate(data, other, variant, &theta, random);
        check_norms(other, &theta);
    }
    free_block(other);
}

static void an_exported_theta_can_be_imported(void **state)
{
    (void)state;
    for_every_block(PLAIN, export_and_import);
}

/* A cleared block exports zeros whatever it held before; again and again, since what is cleared is
 * kept in a log of what was touched. */
static void clear_and_export(const struct data *data, md_block *block,
                             const struct variant *variant, md_random *random)
{
    struct theta theta = {0};
    float body[FEATURES_MOST * WIDTH_MOST];
    for (size_t t = 0; t < 60; t++) {
        for (size_t i = md_random_below(random, 12); i > 0; i--)
            operate(data, block, variant, &theta, random);
        check_norms(block, &theta);
        block->class->clear(block);
        dense_clear(&theta);
        block->class->export_body(block, body);
        for (size_t i = 0; i < block->class->body_size(block); i++)
            assert_true(body[i] == 0);
        assert_true(block->class->norm2(block) == 0);
        refresh_norm(block);
        assert_true(block->norm == 0);
    }
}

static void a_cleared_block_is_zero(void **state)
{
    (void)state;
    for_every_block(PLAIN, clear_and_export);
    for_every_block(AVERAGED, clear_and_export);
}

/* ---- two ways to one theta ---- */

/* Rows of kernels that are kept in full are multiplied all at once where a gradient names most of
 * an example's parts; deferred scores adds one by one, and multiplies later. */
static void products_and_single_rows_agree(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct data data;
        md_random random;
        make_data(&data, seed);
        md_random_seed(&random, seed);
        md_block *blocks[2] = {make_block(&data, &variants[0], AVERAGED),
                               make_block(&data, &variants[1], AVERAGED)};
        float body[2][ROWS * LABELS];
        for (size_t t = 0; t < 100; t++) {
            struct step step;
            draw_step(&step, &variants[0], &random);
            announce(blocks[1], step.gradients, step.step.count);
            double norm[2];
            for (size_t b = 0; b < 2; b++) {
                norm[b] = blocks[b]->class->step(blocks[b], &step.step);
                md_block_finish(blocks[b], &step.step);
                blocks[b]->norm = norm[b];
                md_block_rescale(blocks[b], 0.9);
                md_block_count_iterate(blocks[b]);
            }
            assert_close(blocks[0], norm[1], norm[0], norm[0]);
            clear_step(&step);
        }
        for (size_t last = 0; last < 2; last++) {
            for (size_t b = 0; b < 2; b++)
                blocks[b]->class->export_body(blocks[b], body[b]);
            for (size_t i = 0; i < ROWS * LABELS; i++)
                assert_true(fabsf(body[0][i] - body[1][i]) < 1e-5f);
            for (size_t b = 0; b < 2; b++)
                take_average(blocks[b]);
        }
        free_block(blocks[0]);
        free_block(blocks[1]);
        clear_data(&data);
    }
}

/* ---- no numbers ---- */

/* Puts a coefficient to a part that the block has features for; false if the step has none. */
static bool spoil(const struct data *data, const struct variant *variant, struct step *step,
                  float coefficient)
{
    md_delta *delta = &step->inference[0].delta;
    for (size_t i = 0; i < delta->count; i++) {
        const struct place place = place_of(variant, step->gradients[0].example, delta->part[i]);
        double size = 0;
        for (size_t c = 0; place.mine && c < features_of(variant); c++)
            size += fabs(feature_at(data, variant, place.row, c));
        if (size > 0.5) {
            delta->coefficient[i] = delta->dense[delta->part[i]] = coefficient;
            return true;
        }
    }
    return false;
}

/* From zero, and from something. */
static void overflow(const struct data *data, md_block *block, const struct variant *variant,
                     md_random *random)
{
    static const float coefficients[] = {NAN, INFINITY, -INFINITY, 3e38f};
    for (size_t k = 0; k < 8; k++) {
        struct step step = {0};
        struct theta theta = {0};
        block->class->restart(block);
        for (int i = 0; i < 3 && k >= 4; i++) {
            draw_step(&step, variant, random);
            take_step(data, block, variant, &theta, &step, false);
            clear_step(&step);
        }
        draw_step(&step, variant, random);
        step.step.eta = 1e3;
        announce(block, step.gradients, step.step.count);
        if (spoil(data, variant, &step, coefficients[k % 4])) {
            const double norm = block->class->step(block, &step.step);
            assert_false(norm == 0);
            assert_true(k % 4 == 3 || !isfinite(norm));
            md_block_finish(block, &step.step);
            refresh_norm(block);
            assert_false(block->norm == 0);
        }
        clear_step(&step);
    }
}

/* A step too large for single precision whose norm is a number all the same, then a step back. */
static void overflow_and_return(const struct data *data, md_block *block,
                                const struct variant *variant, md_random *random)
{
    (void)data;
    for (size_t trial = 0; trial < 20; trial++) {
        struct step step = {0};
        block->class->restart(block);
        draw_step(&step, variant, random);
        step.step.eta = 1e200;
        announce(block, step.gradients, step.step.count);
        block->norm = block->class->step(block, &step.step);
        if (block->norm > 0) {
            md_block_finish(block, &step.step);
            md_block_rescale(block, 1e-197);
            for (size_t g = 0; g < step.step.count; g++) {
                md_delta *delta = &step.inference[g].delta;
                for (size_t i = 0; i < delta->count; i++) {
                    delta->coefficient[i] *= -1;
                    delta->dense[delta->part[i]] *= -1;
                }
            }
            step.step.eta = 1;
            assert_false(block->class->step(block, &step.step) == 0);
        }
        clear_step(&step);
    }
}

static void a_norm_that_is_no_number_does_not_pass_for_zero(void **state)
{
    (void)state;
    for_every_block(PLAIN, overflow);
    for_every_block(PLAIN, overflow_and_return);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_do_what_a_dense_theta_does),
        cmocka_unit_test(a_block_shrunk_to_nearly_nothing_grows_again),
        cmocka_unit_test(blocks_tell_the_size_of_their_features),
        cmocka_unit_test(an_exported_theta_can_be_imported),
        cmocka_unit_test(a_cleared_block_is_zero),
        cmocka_unit_test(products_and_single_rows_agree),
        cmocka_unit_test(a_norm_that_is_no_number_does_not_pass_for_zero),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
