/* SPDX-License-Identifier: BSD-3-Clause */
/* Kernel blocks and explicit blocks against a dense theta: scores, slopes, norms, updates,
 * shrinking, clearing, soft thresholds, copies. */
#include "block/dense_theta.h"

static void walk(const struct data *data, md_block *block, kind which, md_random *random)
{
    struct theta theta = {0};
    for (size_t t = 0; t < STEPS; t++) {
        operate(data, block, &theta, random);
        check_norms(block, &theta);
    }
    double w[COLUMNS][LABELS];
    body_as_theta(data, block, which, w);
    for (size_t c = 0; c < COLUMNS; c++)
        for (size_t l = 0; l < LABELS; l++)
            assert_close(w[c][l], theta.w[c][l], sqrt(dense_norm2(theta.w)));
}

static void blocks_do_what_a_dense_theta_does(void **state)
{
    (void)state;
    for_every_block(false, walk);
    for_every_block(true, walk);
}

static void shrink_far(const struct data *data, md_block *block, kind which, md_random *random)
{
    (void)which;
    struct theta theta = {0};
    struct step step;
    draw_step(&step, random);
    for (size_t t = 0; t < 4; t++) {
        take_step(block, &step);
        dense_add(data, theta.w, step.example, &step.delta, -step.size);
        check_norms(block, &theta);
        for (size_t i = 0; i < 8; i++) { /* no update in between: nothing is folded yet */
            md_block_rescale(block, 1e-3);
            for (size_t c = 0; c < COLUMNS; c++)
                for (size_t l = 0; l < LABELS; l++)
                    theta.w[c][l] *= 1e-3;
        }
        check_norms(block, &theta);
    }
    take_step(block, &step);
    dense_add(data, theta.w, step.example, &step.delta, -step.size);
    check_norms(block, &theta);
    check_scores(data, block, &theta, step.example);
}

static void a_block_shrunk_to_nearly_nothing_grows_again(void **state)
{
    (void)state;
    for_every_block(false, shrink_far);
    for_every_block(true, shrink_far);
}

static void threshold(const struct data *data, md_block *block, kind which, md_random *random)
{
    (void)which;
    struct theta theta = {0};
    medley_error error = {0};
    if (block->class->soft_threshold == NULL) {
        assert_int_equal(which, KERNEL);
        return;
    }
    for (size_t t = 0; t < STEPS; t++) {
        operate(data, block, &theta, random);
        const double size = sqrt(dense_norm2(theta.w));
        const double tau = t % 3 == 0 ? 0 : 0.1 * size * md_random_uniform(random);
        double sum = 0;
        for (size_t c = 0; c < COLUMNS; c++)
            for (size_t l = 0; l < LABELS; l++) {
                theta.w[c][l] = copysign(fmax(0, fabs(theta.w[c][l]) - tau), theta.w[c][l]);
                sum += fabs(theta.w[c][l]);
            }
        assert_close(block->class->soft_threshold(block, tau), sum, 10 * size);
        md_block_refresh_norm(block);
        assert_close(block->norm, sqrt(dense_norm2(theta.w)), size);
        md_block_count_iterate(block);
        dense_count(&theta);
    }
    assert_int_equal(block->class->take_average(block, &error), MEDLEY_OK);
    double w[COLUMNS][LABELS];
    body_as_theta(data, block, which, w);
    for (size_t c = 0; c < COLUMNS; c++)
        for (size_t l = 0; l < LABELS; l++)
            assert_true(fabs(w[c][l] - theta.sum[c][l] / theta.counted) < 1e-3);
}

static void soft_thresholds_act_on_every_weight(void **state)
{
    (void)state;
    for_every_block(true, threshold);
}

static void export_and_import(const struct data *data, md_block *block, kind which,
                              md_random *random)
{
    struct theta theta = {0};
    medley_error error = {0};
    float body[ROWS * LABELS];
    float again[ROWS * LABELS] = {0};
    for (size_t t = 0; t < 40; t++)
        operate(data, block, &theta, random);
    block->class->export_body(block, body);
    md_block *other = make_block(data, which, false);
    struct theta scrap = {0};
    for (size_t t = 0; t < 10; t++)
        operate(data, other, &scrap, random);
    assert_int_equal(other->class->import_body(other, body, &error), MEDLEY_OK);
    check_norms(other, &theta);
    check_scores(data, other, &theta, (md_example){.row = 5, .length = 2});
    other->class->export_body(other, again);
    for (size_t i = 0; i < other->class->body_size(other); i++)
        assert_true(fabsf(body[i] - again[i]) <= 1e-6f * fabsf(body[i]));
    operate(data, other, &theta, random); /* and it can be trained further */
    check_norms(other, &theta);
    md_block_free(other);
}

static void an_exported_theta_can_be_imported(void **state)
{
    (void)state;
    for_every_block(false, export_and_import);
}

/* A cleared block exports zeros whatever it held before. */
static void clear_and_export(const struct data *data, md_block *block, kind which,
                             md_random *random)
{
    (void)which;
    struct theta theta = {0};
    float body[ROWS * LABELS];
    for (size_t t = 0; t < 20; t++)
        operate(data, block, &theta, random);
    block->class->clear(block);
    block->class->export_body(block, body);
    for (size_t i = 0; i < block->class->body_size(block); i++)
        assert_true(body[i] == 0);
    md_block_refresh_norm(block);
    assert_true(block->norm == 0);
}

static void a_cleared_block_is_zero(void **state)
{
    (void)state;
    for_every_block(false, clear_and_export);
    for_every_block(true, clear_and_export);
}

static void overflow(const struct data *data, md_block *block, kind which, md_random *random)
{
    (void)data;
    (void)which;
    struct step step;
    do
        draw_step(&step, random);
    while (step.delta.count < 2);
    step.coefficient[0] = NAN;
    assert_true(isnan(md_block_norm_after(block, step.example, &step.delta, 0.1)));
    block->class->update(block, step.example, &step.delta, 0.1);
    md_block_refresh_norm(block);
    assert_false(block->norm == 0);
}

static void a_norm_that_is_no_number_does_not_pass_for_zero(void **state)
{
    (void)state;
    for_every_block(false, overflow);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_do_what_a_dense_theta_does),
        cmocka_unit_test(a_block_shrunk_to_nearly_nothing_grows_again),
        cmocka_unit_test(soft_thresholds_act_on_every_weight),
        cmocka_unit_test(an_exported_theta_can_be_imported),
        cmocka_unit_test(a_cleared_block_is_zero),
        cmocka_unit_test(a_norm_that_is_no_number_does_not_pass_for_zero),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
