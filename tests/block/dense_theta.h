/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the tests of blocks: a plain dense theta, on which every operation is a line. The
 * kernel is linear over random rows, so the theta of a kernel block can be written down too, and
 * all kinds of block must do what the dense theta does. */
#ifndef TESTS_BLOCK_DENSE_THETA_H
#define TESTS_BLOCK_DENSE_THETA_H

#include "block/block_data.h"
#include "loss/loss.h"

enum { SEEDS = 4, STEPS = 250, BATCH_MOST = 3 };
static const double TOLERANCE = 3e-4; /* relative: a few hundred single-precision updates */

/* ---- the dense theta ---- */

typedef double weights[FEATURES_MOST][WIDTH_MOST]; /* on the features times GAIN */

struct theta {
    weights w, sum;
    double counted;
    double reach; /* the largest ||theta||^2 since it was zero, on the way through the parts of
                   * steps too: these may cancel, their rounding does not */
};

static inline double dense_norm2(weights w)
{
    double sum = 0;
    for (size_t c = 0; c < FEATURES_MOST; c++)
        for (size_t p = 0; p < WIDTH_MOST; p++)
            sum += w[c][p] * w[c][p];
    return sum;
}

static inline double dense_largest(weights w)
{
    double largest = 0;
    for (size_t c = 0; c < FEATURES_MOST; c++)
        for (size_t p = 0; p < WIDTH_MOST; p++)
            largest = fmax(largest, fabs(w[c][p]));
    return largest;
}

static inline void dense_scale(struct theta *theta, double factor)
{
    for (size_t c = 0; c < FEATURES_MOST; c++)
        for (size_t p = 0; p < WIDTH_MOST; p++)
            theta->w[c][p] *= factor;
    theta->reach *= factor * factor;
}

static inline void dense_clear(struct theta *theta)
{
    memset(theta->w, 0, sizeof theta->w);
    theta->reach = 0;
}

static inline void dense_threshold(weights w, double tau)
{
    for (size_t c = 0; c < FEATURES_MOST; c++)
        for (size_t p = 0; p < WIDTH_MOST; p++)
            w[c][p] = copysign(fmax(0, fabs(w[c][p]) - tau), w[c][p]);
}

/* Which parts of an example are the block's: its row and the place among the weights of a feature.
 */
struct place {
    bool mine;
    size_t row, column;
};

static inline struct place place_of(const struct variant *variant, md_example example, size_t part)
{
    const md_space space = space_of(variant);
    const md_groups groups = space.structure->groups(space.shape, example.length, variant->kind);
    if (part < groups.first || part >= groups.first + groups.count * groups.width)
        return (struct place){.mine = false};
    const size_t g = (part - groups.first) / groups.width;
    return (struct place){true, example.row + groups.row + g,
                          part - groups.first - g * groups.width};
}

/* w += factor * d, d the direction that the gradients describe. */
static inline void dense_add(const struct data *data, const struct variant *variant, weights w,
                             const md_step *step, double factor)
{
    for (size_t g = 0; g < step->count; g++) {
        const md_gradient *gradient = &step->gradients[g];
        const md_delta *delta = gradient->delta;
        for (size_t i = 0; i < delta->count; i++) {
            const struct place place = place_of(variant, gradient->example, delta->part[i]);
            for (size_t c = 0; place.mine && c < features_of(variant); c++)
                w[c][place.column] += factor * (double)delta->coefficient[i] *
                                      feature_at(data, variant, place.row, c);
        }
    }
}

/* Length of the way that a step takes through its parts. */
static inline double dense_travel(const struct data *data, const struct variant *variant,
                                  const md_step *step)
{
    double length = 0;
    for (size_t g = 0; g < step->count; g++) {
        const md_gradient *gradient = &step->gradients[g];
        for (size_t i = 0; i < gradient->delta->count; i++) {
            const struct place place =
                place_of(variant, gradient->example, gradient->delta->part[i]);
            double square = 0;
            for (size_t c = 0; place.mine && c < features_of(variant); c++)
                square += pow(feature_at(data, variant, place.row, c), 2);
            length += step->eta * fabs((double)gradient->delta->coefficient[i]) * sqrt(square);
        }
    }
    return length;
}

static inline void dense_step(const struct data *data, const struct variant *variant,
                              struct theta *theta, const md_step *step)
{
    const double farthest = sqrt(dense_norm2(theta->w)) + dense_travel(data, variant, step);
    theta->reach = fmax(theta->reach, farthest * farthest);
    dense_add(data, variant, theta->w, step, -step->eta);
}

static inline void dense_count(struct theta *theta)
{
    for (size_t c = 0; c < FEATURES_MOST; c++)
        for (size_t p = 0; p < WIDTH_MOST; p++)
            theta->sum[c][p] += theta->w[c][p];
    theta->counted += 1;
}

/* What a block's exported body says about theta. */
static inline void body_as_theta(const struct data *data, md_block *block,
                                 const struct variant *variant, weights w)
{
    const size_t rows = is_kernel(variant) ? ROWS : features_of(variant);
    const size_t width = width_of(variant);
    float body[FEATURES_MOST * WIDTH_MOST];
    assert_int_equal(block->class->body_size(block), rows * width);
    block->class->export_body(block, body);
    memset(w, 0, sizeof(weights));
    for (size_t r = 0; r < rows; r++)
        for (size_t p = 0; p < width; p++) {
            const double value = (double)body[r * width + p];
            if (!is_kernel(variant))
                w[r][p] = value / GAIN;
            for (size_t c = 0; is_kernel(variant) && c < COLUMNS; c++)
                w[c][p] += feature_at(data, variant, r, c) * value;
        }
}

/* ---- steps ---- */

/* A "loss" whose gradient is what was drawn as scores: a part that comes out positive. */
static inline double draw_gradient(md_inference *inference, size_t length, const int32_t *gold,
                                   bool wants_gradient)
{
    md_delta *delta = &inference->delta;
    const md_space *space = &inference->space;
    const size_t parts = space->structure->part_count(space->shape, length);
    (void)gold;
    (void)wants_gradient;
    memset(delta->dense, 0, space->structure->part_count(space->shape, LONGEST) * sizeof(float));
    delta->count = 0;
    for (size_t p = 0; p < parts; p++) {
        if (inference->score[p] <= 0)
            continue;
        delta->part[delta->count] = (uint32_t)p;
        delta->coefficient[delta->count++] = delta->dense[p] = inference->score[p] - 0.7f;
    }
    return 1;
}

static const md_loss drawn_loss = {.name = "drawn", .evaluate = draw_gradient};

struct step {
    md_inference inference[BATCH_MOST];
    md_gradient gradients[BATCH_MOST];
    md_step step;
};

/* The gradients of a hinge loss, which name a few parts, of a log loss, which name nearly all, and
 * anything in between, at examples of one or several rows that may overlap. */
static inline void draw_step(struct step *step, const struct variant *variant, md_random *random)
{
    const md_loss *losses[] = {md_loss_find("hinge"), md_loss_find("logistic"), &drawn_loss};
    const md_space space = space_of(variant);
    medley_error error = {0};
    step->step = (md_step){.gradients = step->gradients,
                           .count = 1 + md_random_below(random, 2) * md_random_below(random, 3),
                           .eta = md_random_uniform(random)};
    for (size_t g = 0; g < step->step.count; g++) {
        md_inference *inference = &step->inference[g];
        md_example *example = &step->gradients[g].example;
        int32_t gold[LONGEST];
        example->length = 1 + md_random_below(random, LONGEST);
        example->row = md_random_below(random, ROWS - example->length + 1);
        assert_int_equal(md_inference_init(inference, space, LONGEST, &error), MEDLEY_OK);
        for (size_t i = 0; i < LONGEST; i++)
            gold[i] = (int32_t)md_random_below(random, LABELS);
        const size_t parts = space.structure->part_count(space.shape, example->length);
        for (size_t p = 0; p < parts; p++)
            inference->score[p] = (float)md_random_normal(random);
        md_loss_gradient(losses[md_random_below(random, 3)], inference, example->length, gold);
        step->gradients[g].delta = &inference->delta;
    }
}

static inline void clear_step(struct step *step)
{
    for (size_t g = 0; g < step->step.count; g++)
        md_inference_clear(&step->inference[g]);
}

/* ---- checks ---- */

static inline void assert_close(const md_block *block, double found, double expected, double scale)
{
    if (!(fabs(found - expected) <= TOLERANCE * scale + 1e-30))
        fail_msg("%s: %.9g found, %.9g expected (scale %g)", block->name, found, expected, scale);
}

/* Scores are added to what is there, parts of other kinds are left alone. */
static inline void check_scores(const struct data *data, const md_block *block,
                                const struct variant *variant, struct theta *theta,
                                md_example example)
{
    enum { PARTS_MOST = 160 };
    float score[PARTS_MOST];
    const md_space space = space_of(variant);
    const size_t parts = space.structure->part_count(space.shape, example.length);
    assert_true(parts < PARTS_MOST);
    for (size_t p = 0; p < PARTS_MOST; p++)
        score[p] = 7;
    announce(block, &(md_gradient){.example = example}, 1);
    block->class->score(block, example, score);
    const double norm = sqrt(fmax(theta->reach, dense_norm2(theta->w)));
    for (size_t p = 0; p < PARTS_MOST; p++) {
        const struct place place = place_of(variant, example, p);
        double expected = 7;
        for (size_t c = 0; place.mine && c < features_of(variant); c++)
            expected += feature_at(data, variant, place.row, c) * theta->w[c][place.column];
        if (!place.mine)
            assert_true(score[p] == 7);
        assert_close(block, (double)score[p], expected, 7e-3 + norm * 5);
    }
}

static inline void check_norms(md_block *block, struct theta *theta)
{
    settle(block);
    const double exact = dense_norm2(theta->w);
    const double scale = exact + 1e-2 * theta->reach;
    assert_close(block, block->class->norm2(block), exact, scale);
    assert_close(block, block->norm * block->norm, exact, scale);
}

static inline void check_theta(const struct data *data, md_block *block,
                               const struct variant *variant, weights expected, double scale)
{
    weights w;
    body_as_theta(data, block, variant, w);
    for (size_t c = 0; c < FEATURES_MOST; c++)
        for (size_t p = 0; p < WIDTH_MOST; p++)
            assert_close(block, w[c][p], expected[c][p], scale);
}

/* As the learner does it: a block that the prox would leave nothing of is cleared instead of
 * finished. Returns whether theta was kept. */
static inline bool take_step(const struct data *data, md_block *block,
                             const struct variant *variant, struct theta *theta,
                             const struct step *step, bool vanishes)
{
    dense_step(data, variant, theta, &step->step);
    announce(block, step->gradients, step->step.count);
    const double norm = block->class->step(block, &step->step);
    const double exact = dense_norm2(theta->w);
    assert_close(block, norm * norm, exact, exact + 1e-2 * theta->reach);
    if (vanishes || norm < 1e-30) {
        block->class->clear(block);
        assert_true(block->norm == 0 && block->scale == 1);
        dense_clear(theta);
        return false;
    }
    md_block_finish(block, &step->step);
    block->norm = norm;
    return true;
}

/* One random operation on the block and on theta. */
static inline void operate(const struct data *data, md_block *block, const struct variant *variant,
                           struct theta *theta, md_random *random)
{
    struct step step;
    static const double factors[] = {0.95, 0.5, 1e-3};
    const size_t choice = md_random_below(random, 20);
    if (choice < 13) {
        draw_step(&step, variant, random);
        take_step(data, block, variant, theta, &step, md_random_below(random, 10) == 0);
        check_scores(data, block, variant, theta, step.gradients[0].example);
        clear_step(&step);
    } else if (choice < 18) {
        const double factor = factors[md_random_below(random, 3)];
        md_block_rescale(block, factor);
        dense_scale(theta, factor);
    } else if (choice == 18) {
        refresh_norm(block);
        if (block->norm == 0)
            dense_clear(theta);
    } else {
        block->class->clear(block);
        dense_clear(theta);
        assert_true(block->norm == 0);
    }
}

typedef void check_block(const struct data *data, md_block *block, const struct variant *variant,
                         md_random *random);

static inline void for_every_block(struct usage usage, check_block *check)
{
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct data data;
        make_data(&data, seed);
        for (size_t v = 0; v < VARIANTS; v++) {
            if (usage.thresholds && is_kernel(&variants[v]))
                continue; /* has no coordinates */
            md_block *block = make_block(&data, &variants[v], usage);
            md_random random;
            md_random_seed(&random, seed * 100 + v);
            check(&data, block, &variants[v], &random);
            free_block(block);
        }
        clear_data(&data);
    }
}

static const struct usage PLAIN = {0};
static const struct usage AVERAGED = {.averaging = true};

#endif
