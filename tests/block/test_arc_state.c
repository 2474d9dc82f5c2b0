/* SPDX-License-Identifier: BSD-3-Clause */
/* The block of an arc template against a list of weights by slot: soft thresholds, which are put
 * off until a weight is looked at, and copies of weights and of the whole state. */
#include "block/arc_theta.h"

/* ---- thresholds ---- */

/* Norms are asked to be positive where there are weights, no more: thresholds are late. */
static void step_blindly(const struct tested *tested, struct theta *theta, md_random *random)
{
    struct step step;
    md_block *block = tested->block;
    draw_step(&step, tested->given, random);
    list_step(tested, theta, &step.step);
    block->norm = block->class->step(block, &step.step);
    md_block_finish(block, &step.step);
    if (block->norm < 1e-30) {
        block->class->clear(block);
        list_clear(theta);
    }
    clear_step(&step);
}

static void threshold_both(const struct tested *tested, struct theta *theta, double tau)
{
    tested->block->class->soft_threshold(tested->block, tau);
    list_threshold(theta, tau);
}

/* Each of these looks at all weights. */
static void look(const struct tested *tested, struct theta *theta, md_random *random)
{
    md_block *block = tested->block;
    switch (md_random_below(random, 3)) {
    case 0:
        assert_close(block, block->class->sum_abs(block), list_sum_abs(theta->w),
                     10 * theta->reach);
        break;
    case 1:
        assert_close(block, sqrt(block->class->norm2(block)), list_length(theta->w), theta->reach);
        break;
    default:
        refresh(tested, theta);
        assert_close(block, block->norm, list_length(theta->w), theta->reach);
    }
}

/* A step, maybe a threshold, and something else now and then. */
static void go_on(const struct tested *tested, struct theta *theta, md_random *random)
{
    const size_t choice = md_random_below(random, 40);
    if (choice % 3 != 0)
        step_blindly(tested, theta, random);
    if (choice % 4 != 0)
        threshold_both(tested, theta, 0.1 * theta->reach * md_random_uniform(random));
    if (choice < 10) {
        const double factor = choice == 0 ? 1e-4 : 0.9;
        md_block_rescale(tested->block, factor);
        list_scale(theta, factor);
    } else if (choice == 10) {
        tested->block->class->clear(tested->block);
        list_clear(theta);
    }
}

static void put_off(struct tested *tested, md_random *random)
{
    struct theta theta = {0};
    for (size_t t = 0; t < 2 * STEPS; t++) {
        go_on(tested, &theta, random);
        if (md_random_below(random, 8) == 0)
            look(tested, &theta, random);
        check_scores(tested, &theta, draw_example(tested->given, random));
    }
    check_weights(tested, theta.w, theta.reach);
}

static void thresholds_put_off_are_not_forgotten(void **state)
{
    (void)state;
    for_every_block(THRESHOLDED, put_off);
    for_every_block(THRESHOLDED_AVERAGE, put_off);
}

/* The average is that of the iterates as they were, also of weights that nobody looked at. */
static void average_thresholded(struct tested *tested, md_random *random)
{
    struct theta theta = {0};
    medley_error error = {0};
    double reach = 0;
    for (size_t t = 0; t < STEPS; t++) {
        go_on(tested, &theta, random);
        md_block_count_iterate(tested->block);
        list_count(&theta, 1);
        reach = fmax(reach, theta.reach);
    }
    assert_int_equal(tested->block->class->take_average(tested->block, &error), MEDLEY_OK);
    for (size_t i = 0; i < SLOTS_MOST; i++)
        theta.w[i] = theta.sum[i] / theta.counted;
    check_weights(tested, theta.w, 0.1 * reach);
}

static void averages_have_every_threshold_in_its_time(void **state)
{
    (void)state;
    for_every_block(THRESHOLDED_AVERAGE, average_thresholded);
}

/* A threshold above the largest weight leaves nothing, and what comes later is not shrunk by it. */
static void empty(struct tested *tested, md_random *random)
{
    struct theta theta = {0};
    for (size_t t = 0; t < 20; t++) {
        step_blindly(tested, &theta, random);
        threshold_both(tested, &theta, 1 + theta.reach);
        list_clear(&theta);
        check_scores(tested, &theta, draw_example(tested->given, random));
        if (t % 2 == 0)
            continue;
        md_block_refresh_norm(tested->block);
        assert_true(tested->block->norm == 0);
    }
    step_blindly(tested, &theta, random);
    check_weights(tested, theta.w, theta.reach);
}

static void what_is_thresholded_away_leaves_no_debt(void **state)
{
    (void)state;
    for_every_block(THRESHOLDED, empty);
}

/* ---- copies of weights ---- */

/* From a block with a scale and a dual scale of its own into another. */
static void hand_over(struct tested *tested, md_random *random)
{
    struct theta theta = {0};
    struct tested other;
    medley_error error = {0};
    float body[SLOTS_MOST];
    tested_make(&other, tested->given, tested->t, tested->bits, PLAIN);
    for (size_t trial = 0; trial < 10; trial++) {
        struct theta forgotten = {0};
        for (size_t t = 0; t < 5; t++)
            operate(tested, &theta, random);
        other.block->class->restart(other.block);
        for (size_t t = 0; t < 5; t++)
            operate(&other, &forgotten, random);
        tested->block->dual_scale = 0.25;
        check_weights(tested, theta.w, theta.reach);
        tested->block->class->export_body(tested->block, body);
        tested->block->dual_scale = 1;
        assert_int_equal(other.block->class->import_body(other.block, body, &error), MEDLEY_OK);
        struct theta quarter = theta;
        list_scale(&quarter, 0.25);
        refresh(&other, &quarter);
        check_norm2(&other, &quarter, other.block->norm * other.block->norm);
        for (size_t t = 0; t < 5; t++) /* and it goes on from there */
            operate(&other, &quarter, random);
        check_weights(&other, quarter.w, quarter.reach);
    }
    tested_clear(&other);
}

static void weights_go_out_and_in_again(void **state)
{
    (void)state;
    for_every_block(PLAIN, hand_over);
    for_every_block(AVERAGED, hand_over);
    for_every_block(THRESHOLDED, hand_over);
}

/* ---- copies of the state ---- */

struct copy {
    char *bytes;
    size_t length, position;
    bool back;
};

static void visit(void *context, void *data, size_t bytes)
{
    struct copy *copy = context;
    if (copy->back) {
        assert_true(copy->position + bytes <= copy->length);
        memcpy(data, copy->bytes + copy->position, bytes);
        copy->position += bytes;
        return;
    }
    copy->bytes = realloc(copy->bytes, copy->length + bytes + 1);
    assert_non_null(copy->bytes);
    memcpy(copy->bytes + copy->length, data, bytes);
    copy->length += bytes;
}

/* All that can be seen of a block after some operations that depend on the seed only, the average
 * included. */
struct seen {
    double norm, iterates;
    float body[2][SLOTS_MOST];
};

static void see(const struct tested *tested, const struct theta *start, struct seen *seen)
{
    struct theta theta = *start;
    md_random random;
    medley_error error = {0};
    md_random_seed(&random, 77);
    memset(seen, 0, sizeof *seen);
    for (size_t t = 0; t < 10; t++) {
        go_on(tested, &theta, &random);
        md_block_count_iterate(tested->block);
    }
    seen->norm = tested->block->norm;
    seen->iterates = tested->block->iterates;
    tested->block->class->export_body(tested->block, seen->body[0]);
    assert_int_equal(tested->block->class->take_average(tested->block, &error), MEDLEY_OK);
    tested->block->class->export_body(tested->block, seen->body[1]);
}

static void go_back(struct tested *tested, md_random *random)
{
    struct theta theta = {0};
    struct copy copy = {0};
    struct seen seen[3];
    struct tested other;
    tested_make(&other, tested->given, tested->t, tested->bits, THRESHOLDED_AVERAGE);
    for (size_t t = md_random_below(random, 25); t > 0; t--) {
        go_on(tested, &theta, random);
        md_block_count_iterate(tested->block);
    }
    md_block_visit(tested->block, visit, &copy);
    see(tested, &theta, &seen[0]);
    copy.back = true;
    md_block_visit(tested->block, visit, &copy);
    assert_int_equal(copy.position, copy.length);
    see(tested, &theta, &seen[1]);
    copy.position = 0;
    md_block_visit(other.block, visit, &copy); /* how a run is resumed */
    see(&other, &theta, &seen[2]);
    assert_memory_equal(&seen[0], &seen[1], sizeof seen[0]);
    assert_memory_equal(&seen[0], &seen[2], sizeof seen[0]);
    copy.position = 0;
    md_block_visit(other.block, visit, &copy);
    other.block->class->clear(other.block); /* finds all weights that came back */
    assert_true(other.block->class->norm2(other.block) == 0);
    tested_clear(&other);
    free(copy.bytes);
}

static void a_copied_state_goes_on_as_if_nothing_had_happened(void **state)
{
    (void)state;
    for_every_block(THRESHOLDED_AVERAGE, go_back);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(thresholds_put_off_are_not_forgotten),
        cmocka_unit_test(averages_have_every_threshold_in_its_time),
        cmocka_unit_test(what_is_thresholded_away_leaves_no_debt),
        cmocka_unit_test(weights_go_out_and_in_again),
        cmocka_unit_test(a_copied_state_goes_on_as_if_nothing_had_happened),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
