/* SPDX-License-Identifier: BSD-3-Clause */
/* A block's state copied out and in again: what follows is the same to the last bit, whatever
 * happened in between. */
#include "block/dense_theta.h"

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
        if (bytes > 0)
            memcpy(data, copy->bytes + copy->position, bytes);
        copy->position += bytes;
        return;
    }
    copy->bytes = realloc(copy->bytes, copy->length + bytes + 1);
    assert_non_null(copy->bytes);
    if (bytes > 0)
        memcpy(copy->bytes + copy->length, data, bytes);
    copy->length += bytes;
}

/* Out, or in again, as learners do it: between epochs, when nothing is left to be booked. */
static void copy_state(md_block *block, struct copy *copy)
{
    settle(block);
    md_block_visit(block, visit, copy);
}

/* What can be seen of a block. */
struct seen {
    double scale, dual_scale, norm, weight_sum, iterates, square;
    float body[FEATURES_MOST * WIDTH_MOST];
};

static const struct usage THRESHOLDED = {.averaging = true, .thresholds = true};

/* Some operations that depend on the seed only; theta: where they start from. */
static void go_on(const struct data *data, md_block *block, const struct variant *variant,
                  struct theta *theta, uint64_t seed, bool thresholds)
{
    md_random random;
    md_random_seed(&random, seed);
    for (size_t t = 0; t < 40; t++) {
        operate(data, block, variant, theta, &random);
        if (thresholds && t % 4 == 0) {
            const double tau = 0.02 * sqrt(theta->reach);
            block->class->soft_threshold(block, tau);
            dense_threshold(theta->w, tau);
            refresh_norm(block);
            if (block->norm == 0)
                dense_clear(theta);
        }
        md_block_count_iterate(block);
        dense_count(theta);
    }
}

static void look(md_block *block, struct seen *seen)
{
    memset(seen, 0, sizeof *seen);
    seen->scale = block->scale;
    seen->dual_scale = block->dual_scale;
    seen->norm = block->norm;
    seen->weight_sum = block->weight_sum;
    seen->iterates = block->iterates;
    settle(block);
    seen->square = block->class->norm2(block);
    block->class->export_body(block, seen->body);
}

static void go_back_and_again(const struct data *data, md_block *block,
                              const struct variant *variant, bool thresholds)
{
    struct theta theta = {0};
    struct copy copy = {0};
    struct seen seen[2];
    struct seen average[2];
    go_on(data, block, variant, &theta, 1, thresholds);
    copy_state(block, &copy);
    const struct theta start = theta;
    for (size_t k = 0; k < 2; k++) {
        theta = start;
        go_on(data, block, variant, &theta, 2, thresholds);
        look(block, &seen[k]);
        take_average(block);
        look(block, &average[k]);
        if (k == 1)
            break;
        block->class->restart(block);
        go_on(data, block, variant, &(struct theta){0}, 3, thresholds); /* something else */
        copy.back = true;
        copy_state(block, &copy);
        assert_int_equal(copy.position, copy.length);
    }
    assert_memory_equal(&seen[0], &seen[1], sizeof seen[0]);
    assert_memory_equal(&average[0], &average[1], sizeof average[0]);
    free(copy.bytes);
}

static void plain(const struct data *data, md_block *block, const struct variant *variant,
                  md_random *random)
{
    (void)random;
    go_back_and_again(data, block, variant, false);
}

static void thresholded(const struct data *data, md_block *block, const struct variant *variant,
                        md_random *random)
{
    (void)random;
    go_back_and_again(data, block, variant, true);
}

static void a_copied_state_goes_on_as_if_nothing_had_happened(void **state)
{
    (void)state;
    for_every_block(AVERAGED, plain);
    for_every_block(THRESHOLDED, thresholded);
}

/* Few steps since the last clear, and other ones in between: a clear finds the weights again. */
static void clear_what_was_copied(const struct data *data, md_block *block,
                                  const struct variant *variant, md_random *random)
{
    for (size_t trial = 0; trial < 30; trial++) {
        struct copy copy = {0};
        struct seen seen;
        struct theta theta = {0};
        block->class->restart(block);
        for (size_t t = md_random_below(random, 6); t > 0; t--)
            operate(data, block, variant, &theta, random);
        copy_state(block, &copy);
        block->class->restart(block);
        struct theta other = {0};
        for (size_t t = md_random_below(random, 6); t > 0; t--)
            operate(data, block, variant, &other, random);
        copy.back = true;
        copy_state(block, &copy);
        check_norms(block, &theta);
        block->class->clear(block);
        look(block, &seen);
        assert_true(seen.square == 0);
        for (size_t i = 0; i < block->class->body_size(block); i++)
            assert_true(seen.body[i] == 0);
        free(copy.bytes);
    }
}

static void a_copied_state_can_be_cleared(void **state)
{
    (void)state;
    for_every_block(PLAIN, clear_what_was_copied);
    for_every_block(AVERAGED, clear_what_was_copied);
}

/* Into another block made alike: how a run is resumed. */
static void resume_elsewhere(const struct data *data, md_block *block,
                             const struct variant *variant, md_random *random)
{
    (void)random;
    struct theta theta = {0};
    struct copy copy = {0};
    struct seen seen[2];
    md_block *other = make_block(data, variant, PLAIN);
    go_on(data, block, variant, &theta, 4, false);
    block->dual_scale = 0.25;
    copy_state(block, &copy);
    copy.back = true;
    copy_state(other, &copy);
    assert_int_equal(copy.position, copy.length);
    assert_true(other->dual_scale == 0.25);
    block->dual_scale = other->dual_scale = 1;
    struct theta twin = theta;
    go_on(data, block, variant, &theta, 5, false);
    go_on(data, other, variant, &twin, 5, false);
    look(block, &seen[0]);
    look(other, &seen[1]);
    assert_memory_equal(&seen[0], &seen[1], sizeof seen[0]);
    free_block(other);
    free(copy.bytes);
}

static void a_state_fits_another_block_made_alike(void **state)
{
    (void)state;
    for_every_block(PLAIN, resume_elsewhere);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_copied_state_goes_on_as_if_nothing_had_happened),
        cmocka_unit_test(a_copied_state_can_be_cleared),
        cmocka_unit_test(a_state_fits_another_block_made_alike),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
