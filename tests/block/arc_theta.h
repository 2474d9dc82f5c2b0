/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the tests of blocks of arc templates: small sentences, a block over one template, and
 * the same theta as a plain list of weights by slot, on which every operation is a line. */
#ifndef TESTS_BLOCK_ARC_THETA_H
#define TESTS_BLOCK_ARC_THETA_H

#include "feature/arc_case.h"

#include "block/block.h"
#include "loss/loss.h"
#include <math.h>

enum { SENTENCES = 8, LONGEST = 16, PARTS_MOST = LONGEST * (LONGEST + 1) };
enum { SEEDS = 3, STEPS = 120, BATCH_MOST = 3, SLOTS_MOST = 512, GUARD = 8 };
static const double GAIN = 0.75;
static const double TOLERANCE = 3e-4; /* relative: a few hundred single-precision updates */
static const float GUARD_VALUE = 12345;

/* Fewer slots than features, so that they share some, and more. */
static const size_t table_bits[] = {5, 9};

/* One with a sum of four numbers, some with several features an arc, one with few features. */
static const char template_lines[] = "h.form m.form\n"
                                     "h.upos m-1.upos set.upos dist\n"
                                     "h.upos m.upos between.upos\n"
                                     "between.upos\n"
                                     "m.suffix between.upos crossed dir\n"
                                     "dir\n";

/* ---- sentences ---- */

struct sentences {
    medley_dataset *dataset;
    md_arc_templates *templates;
    md_arcs *arcs;
    uint32_t *of_row;
};

static inline void sentences_make(struct sentences *made, uint64_t seed)
{
    md_random random;
    md_random_seed(&random, seed);
    made->dataset = arc_dataset(&random, SENTENCES, LONGEST);
    assert_int_equal(md_arc_templates_parse(&made->templates, template_lines, "lines", NULL),
                     MEDLEY_OK);
    const md_arc_source source = {
        .dataset = made->dataset, .count = SENTENCES, .tags = MD_ARC_UPOS};
    made->arcs = arc_create(made->templates, &source, 1);
    made->of_row = md_calloc(made->dataset->rows, sizeof *made->of_row);
    assert_non_null(made->of_row);
    for (size_t s = 0; s < SENTENCES; s++)
        for (size_t r = made->dataset->sequence_start[s]; r < made->dataset->sequence_start[s + 1];
             r++)
            made->of_row[r] = (uint32_t)s;
}

static inline void sentences_clear(struct sentences *made)
{
    md_arcs_free(made->arcs);
    md_arc_templates_free(made->templates);
    medley_dataset_free(made->dataset);
    free(made->of_row);
}

static inline md_example example_of(const struct sentences *given, size_t sentence)
{
    const size_t *start = given->dataset->sequence_start;
    return (md_example){start[sentence], start[sentence + 1] - start[sentence]};
}

static inline md_example draw_example(const struct sentences *given, md_random *random)
{
    md_example example = {0};
    while (example.length == 0)
        example = example_of(given, md_random_below(random, SENTENCES));
    return example;
}

/* ---- a block over one of the templates ---- */

struct usage {
    bool averaging, thresholds;
};

/* Weights as the learner keeps them: averages lie behind the weights of other blocks, which nobody
 * may touch. */
struct tested {
    const struct sentences *given;
    md_block *block;
    size_t t, bits, slots;
    float *memory;
    size_t floats;
};

static inline bool is_guarded(const struct tested *tested, size_t i)
{
    const size_t weight = GUARD;
    const size_t aside = tested->slots + (size_t)3 * GUARD;
    return !(i >= weight && i < weight + tested->slots) &&
           !(i >= aside && i < aside + tested->slots);
}

static inline void tested_make(struct tested *tested, const struct sentences *given, size_t t,
                               size_t bits, struct usage usage)
{
    medley_error error = {0};
    *tested = (struct tested){.given = given, .t = t, .bits = bits, .slots = (size_t)1 << bits};
    tested->floats = 2 * tested->slots + (size_t)4 * GUARD;
    tested->memory = md_calloc(tested->floats, sizeof *tested->memory);
    assert_non_null(tested->memory);
    for (size_t i = 0; i < tested->floats; i++)
        if (is_guarded(tested, i))
            tested->memory[i] = GUARD_VALUE;
    const md_arc_explicit what = {
        .name = md_arc_templates_name(given->templates, t),
        .arcs = &given->arcs,
        .sentence = given->of_row,
        .t = t,
        .bits = bits,
        .bag = md_arc_templates_is_bag(given->templates, t),
        .weight = tested->memory + GUARD,
        .correction = usage.averaging ? tested->memory + tested->slots + (size_t)3 * GUARD : NULL,
        .gain = GAIN,
        .thresholds = usage.thresholds};
    assert_int_equal(md_arc_block_create(&tested->block, &what, &error), MEDLEY_OK);
}

static inline void tested_clear(struct tested *tested)
{
    for (size_t i = 0; i < tested->floats; i++)
        if (is_guarded(tested, i) && tested->memory[i] != GUARD_VALUE)
            fail_msg("%s wrote outside of its weights", tested->block->name);
    md_block_free(tested->block);
    free(tested->memory);
}

typedef void check_block(struct tested *tested, md_random *random);

static inline void for_every_block(struct usage usage, check_block *check)
{
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct sentences given = {0};
        sentences_make(&given, seed);
        for (size_t t = 0; t < md_arc_templates_count(given.templates); t++)
            for (size_t b = 0; b < sizeof table_bits / sizeof *table_bits; b++) {
                struct tested tested;
                md_random random;
                md_random_seed(&random, 100 * seed + 10 * t + b);
                tested_make(&tested, &given, t, table_bits[b], usage);
                check(&tested, &random);
                tested_clear(&tested);
            }
        sentences_clear(&given);
    }
}

/* ---- theta by slot ---- */

struct theta {
    double w[SLOTS_MOST]; /* of the features times GAIN */
    double sum[SLOTS_MOST];
    double counted;
    double reach; /* the largest ||theta|| since it was zero, on the way through the parts of steps
                   * too: these may cancel, their rounding does not */
};

static inline double list_length(const double *w)
{
    double square = 0;
    for (size_t i = 0; i < SLOTS_MOST; i++)
        square += w[i] * w[i];
    return sqrt(square);
}

static inline double list_sum_abs(const double *w)
{
    double sum = 0;
    for (size_t i = 0; i < SLOTS_MOST; i++)
        sum += fabs(w[i]);
    return sum;
}

static inline void list_scale(struct theta *theta, double factor)
{
    for (size_t i = 0; i < SLOTS_MOST; i++)
        theta->w[i] *= factor;
    theta->reach *= factor;
}

static inline void list_clear(struct theta *theta)
{
    memset(theta->w, 0, sizeof theta->w);
    theta->reach = 0;
}

static inline void list_threshold(struct theta *theta, double tau)
{
    for (size_t i = 0; i < SLOTS_MOST; i++)
        theta->w[i] = copysign(fmax(0, fabs(theta->w[i]) - tau), theta->w[i]);
}

static inline void list_count(struct theta *theta, double dual_scale)
{
    for (size_t i = 0; i < SLOTS_MOST; i++)
        theta->sum[i] += dual_scale * theta->w[i];
    theta->counted += 1;
}

/* Slots of the features of an arc of an example's sentence. */
static inline size_t slots_of(const struct tested *tested, md_example example, size_t head,
                              size_t modifier, uint32_t slots[ARC_FEATURES_MOST])
{
    const md_arc_key key =
        md_arcs_key(tested->given->arcs, tested->given->of_row[example.row], tested->t);
    const size_t count = arc_features(&key, head, modifier, slots);
    for (size_t i = 0; i < count; i++)
        slots[i] >>= 32 - tested->bits;
    return count;
}

/* w += factor * d for a gradient d; returns the length of the way through its parts. */
static inline double list_add(const struct tested *tested, double *w, const md_gradient *gradient,
                              double factor)
{
    const md_delta *delta = gradient->delta;
    const size_t heads = gradient->example.length + 1;
    double way = 0;
    for (size_t i = 0; i < delta->count; i++) {
        uint32_t slots[ARC_FEATURES_MOST];
        const size_t count = slots_of(tested, gradient->example, delta->part[i] % heads,
                                      delta->part[i] / heads + 1, slots);
        const double change = factor * (double)delta->coefficient[i] * GAIN;
        for (size_t k = 0; k < count; k++)
            w[slots[k]] += change;
        way += fabs(change) * (double)count;
    }
    return way;
}

static inline void list_step(const struct tested *tested, struct theta *theta, const md_step *step)
{
    double farthest = list_length(theta->w);
    for (size_t g = 0; g < step->count; g++)
        farthest += list_add(tested, theta->w, &step->gradients[g], -step->eta);
    theta->reach = fmax(theta->reach, farthest);
}

/* ---- steps ---- */

struct step {
    md_inference inference[BATCH_MOST];
    md_gradient gradients[BATCH_MOST];
    md_step step;
};

static inline void draw_tree(int32_t *head, size_t words, md_random *random)
{
    size_t order[LONGEST];
    for (size_t i = 0; i < words; i++)
        order[i] = i;
    md_random_shuffle(random, order, words);
    for (size_t i = 0; i < words; i++)
        head[order[i]] = i == 0 ? 0 : (int32_t)order[md_random_below(random, i)] + 1;
}

/* Gradients of a hinge loss, which name a few arcs, and of a log loss, which name all; of one to
 * three sentences, maybe the same one again. */
static inline void draw_step(struct step *step, const struct sentences *given, md_random *random)
{
    const md_loss *losses[] = {md_loss_find("hinge"), md_loss_find("logistic")};
    const md_space space = {.structure = md_structure_find("tree"), .shape = {.labels = 1}};
    medley_error error = {0};
    step->step = (md_step){.gradients = step->gradients,
                           .count = 1 + md_random_below(random, 2) * md_random_below(random, 3),
                           .eta = md_random_uniform(random)};
    for (size_t g = 0; g < step->step.count; g++) {
        md_inference *inference = &step->inference[g];
        const md_example example = draw_example(given, random);
        int32_t gold[LONGEST];
        assert_int_equal(md_inference_init(inference, space, LONGEST, &error), MEDLEY_OK);
        draw_tree(gold, example.length, random);
        for (size_t p = 0; p < example.length * (example.length + 1); p++)
            inference->score[p] = (float)md_random_normal(random);
        md_loss_gradient(losses[md_random_below(random, 2)], inference, example.length, gold);
        step->gradients[g] = (md_gradient){.example = example, .delta = &inference->delta};
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

/* Scores of all arcs of a sentence are added to what is there, and nothing behind them. */
static inline void check_scores(const struct tested *tested, const struct theta *theta,
                                md_example example)
{
    const md_block *block = tested->block;
    const size_t heads = example.length + 1;
    const size_t parts = example.length * heads;
    float score[PARTS_MOST + GUARD];
    for (size_t p = 0; p < PARTS_MOST + GUARD; p++)
        score[p] = 7;
    block->class->score(block, example, score);
    for (size_t p = 0; p < PARTS_MOST + GUARD; p++) {
        uint32_t slots[ARC_FEATURES_MOST];
        if (p >= parts)
            assert_true(score[p] == 7);
        if (p >= parts || p % heads == p / heads + 1)
            continue; /* no arc */
        double expected = 7;
        const size_t count = slots_of(tested, example, p % heads, p / heads + 1, slots);
        for (size_t i = 0; i < count; i++)
            expected += block->dual_scale * GAIN * theta->w[slots[i]];
        assert_close(block, (double)score[p], expected, 7e-3 + 5 * theta->reach);
    }
}

/* What is exported are the weights of the features themselves. */
static inline void check_weights(const struct tested *tested, const double *expected, double scale)
{
    float body[SLOTS_MOST];
    md_block *block = tested->block;
    assert_int_equal(block->class->body_size(block), tested->slots);
    block->class->export_body(block, body);
    for (size_t i = 0; i < tested->slots; i++)
        assert_close(block, (double)body[i], block->dual_scale * GAIN * expected[i], scale);
}

static inline void check_norm2(const struct tested *tested, const struct theta *theta, double found)
{
    const double exact = pow(list_length(theta->w), 2);
    assert_close(tested->block, found, exact, exact + 1e-2 * theta->reach * theta->reach);
}

/* As the learner does it: a block that is about to vanish is cleared instead of finished. */
static inline void take_step(const struct tested *tested, struct theta *theta,
                             const struct step *step, bool vanishes)
{
    md_block *block = tested->block;
    list_step(tested, theta, &step->step);
    const double norm = block->class->step(block, &step->step);
    check_norm2(tested, theta, norm * norm);
    if (vanishes || norm < 1e-30) {
        block->class->clear(block);
        list_clear(theta);
        return;
    }
    md_block_finish(block, &step->step);
    block->norm = norm;
}

static inline void refresh(const struct tested *tested, struct theta *theta)
{
    md_block_refresh_norm(tested->block);
    if (tested->block->norm == 0)
        list_clear(theta);
}

/* One random operation on the block and on theta. */
static inline void operate(const struct tested *tested, struct theta *theta, md_random *random)
{
    static const double factors[] = {0.95, 0.5, 1e-3};
    const size_t choice = md_random_below(random, 20);
    if (choice < 13) {
        struct step step;
        draw_step(&step, tested->given, random);
        take_step(tested, theta, &step, md_random_below(random, 12) == 0);
        check_scores(tested, theta, step.gradients[0].example);
        clear_step(&step);
    } else if (choice < 18) {
        const double factor = factors[md_random_below(random, 3)];
        md_block_rescale(tested->block, factor);
        list_scale(theta, factor);
    } else if (choice == 18) {
        refresh(tested, theta);
    } else {
        tested->block->class->clear(tested->block);
        list_clear(theta);
        assert_true(tested->block->norm == 0 && tested->block->scale == 1);
    }
}

static const struct usage PLAIN = {0};
static const struct usage AVERAGED = {.averaging = true};
static const struct usage THRESHOLDED = {.thresholds = true};
static const struct usage THRESHOLDED_AVERAGE = {.averaging = true, .thresholds = true};

#endif
