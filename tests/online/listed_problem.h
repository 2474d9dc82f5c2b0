/* SPDX-License-Identifier: BSD-3-Clause */
/* Tiny problems of any structure whose outputs can be listed: every part of every example has
 * random features, in blocks that are plain vectors of doubles, so that the objective and its
 * optimum can be found without any of the library's inference, blocks or rules. */
#ifndef TESTS_ONLINE_LISTED_PROBLEM_H
#define TESTS_ONLINE_LISTED_PROBLEM_H

#include "online/gather.h"
#include "online/rule.h"
#include "structure/structure_case.h"

enum { EXAMPLES = 6, LONGEST = 3, LABELS = 3, BLOCKS = 4, FEATURES = 3, MOST_PARTS = 64 };
enum { WEIGHTS = BLOCKS * FEATURES, MOST_OUTPUTS = 64 };

/* theta, features of a part or of an output: block after block */
typedef double vector[WEIGHTS];

struct listed {
    md_space space;
    md_example examples[EXAMPLES];
    int32_t gold[EXAMPLES * LONGEST];
    vector part[EXAMPLES][MOST_PARTS];
    struct {
        size_t count;
        double cost[MOST_OUTPUTS];
        vector psi[MOST_OUTPUTS]; /* phi(y) - phi(gold) */
    } outputs[EXAMPLES];
    size_t visit[EXAMPLES], visit_count;
};

/* ---- blocks ---- */

struct plain_block {
    md_block base;
    const struct listed *listed;
    size_t m;
    double theta[FEATURES];
};

static inline const double *features_of(const struct plain_block *b, md_example example, size_t p)
{
    size_t e = 0;
    while (b->listed->examples[e].row != example.row)
        e++;
    return b->listed->part[e][p] + b->m * FEATURES;
}

static inline void plain_score(const md_block *block, md_example example, float *score)
{
    const struct plain_block *b = (const struct plain_block *)block;
    const md_space space = b->listed->space;
    const size_t parts = space.structure->part_count(space.shape, example.length);
    for (size_t p = 0; p < parts; p++) {
        double sum = 0;
        for (size_t f = 0; f < FEATURES; f++)
            sum += b->theta[f] * features_of(b, example, p)[f];
        score[p] += (float)(block->scale * block->dual_scale * sum);
    }
}

static inline double plain_norm2(md_block *block)
{
    const struct plain_block *b = (const struct plain_block *)block;
    double sum = 0;
    for (size_t f = 0; f < FEATURES; f++)
        sum += b->theta[f] * b->theta[f];
    return block->scale * block->scale * sum;
}

static inline void add_gradient(const struct plain_block *b, const md_gradient *gradient,
                                double factor, double *sum)
{
    for (size_t i = 0; i < gradient->delta->count; i++)
        for (size_t f = 0; f < FEATURES; f++)
            sum[f] += factor * (double)gradient->delta->coefficient[i] *
                      features_of(b, gradient->example, gradient->delta->part[i])[f];
}

static inline double plain_step(md_block *block, const md_step *step)
{
    struct plain_block *b = (struct plain_block *)block;
    for (size_t f = 0; f < FEATURES; f++)
        b->theta[f] *= block->scale;
    block->scale = 1;
    for (size_t g = 0; g < step->count; g++)
        add_gradient(b, &step->gradients[g], -step->eta, b->theta);
    return sqrt(plain_norm2(block));
}

static inline void plain_finish(md_block *block, const md_step *step)
{
    (void)block;
    (void)step;
}

static inline double plain_self(const md_block *block, size_t row)
{
    (void)block;
    (void)row;
    return 1;
}

static inline double plain_gradient_norm2(md_block *block, const md_gradient *gradient)
{
    double sum[FEATURES] = {0};
    double square = 0;
    add_gradient((const struct plain_block *)block, gradient, 1, sum);
    for (size_t f = 0; f < FEATURES; f++)
        square += sum[f] * sum[f];
    return square;
}

static inline double plain_slope(md_block *block, const md_gradient *gradient)
{
    const struct plain_block *b = (const struct plain_block *)block;
    double sum[FEATURES] = {0};
    double product = 0;
    add_gradient(b, gradient, 1, sum);
    for (size_t f = 0; f < FEATURES; f++)
        product += sum[f] * b->theta[f];
    return block->scale * product;
}

static inline void plain_clear(md_block *block)
{
    struct plain_block *b = (struct plain_block *)block;
    memset(b->theta, 0, sizeof b->theta);
    block->scale = 1;
    block->norm = 0;
}

static inline size_t plain_body_size(const md_block *block)
{
    (void)block;
    return FEATURES;
}

static inline void plain_export_body(md_block *block, float *body)
{
    const struct plain_block *b = (const struct plain_block *)block;
    for (size_t f = 0; f < FEATURES; f++)
        body[f] = (float)(block->scale * block->dual_scale * b->theta[f]);
}

static inline medley_status plain_import_body(md_block *block, const float *body,
                                              medley_error *error)
{
    struct plain_block *b = (struct plain_block *)block;
    (void)error;
    for (size_t f = 0; f < FEATURES; f++)
        b->theta[f] = (double)body[f];
    block->scale = block->norm = 1;
    return MEDLEY_OK;
}

static inline double plain_inner(md_block *block, const float *body)
{
    const struct plain_block *b = (const struct plain_block *)block;
    double sum = 0;
    for (size_t f = 0; f < FEATURES; f++)
        sum += b->theta[f] * (double)body[f];
    return block->scale * sum;
}

static inline void plain_visit(md_block *block, md_state_visitor visit, void *context)
{
    struct plain_block *b = (struct plain_block *)block;
    visit(context, b->theta, sizeof b->theta);
}

static const md_block_class plain_class = {.name = "plain",
                                           .score = plain_score,
                                           .step = plain_step,
                                           .finish = plain_finish,
                                           .self = plain_self,
                                           .slope = plain_slope,
                                           .gradient_norm2 = plain_gradient_norm2,
                                           .clear = plain_clear,
                                           .restart = plain_clear,
                                           .norm2 = plain_norm2,
                                           .inner = plain_inner,
                                           .body_size = plain_body_size,
                                           .export_body = plain_export_body,
                                           .import_body = plain_import_body,
                                           .visit_state = plain_visit};

/* ---- the problem ---- */

static inline void draw_gold(struct listed *listed, md_random *random)
{
    const bool trees = of_trees(listed->space.structure);
    for (size_t e = 0; e < EXAMPLES; e++)
        for (size_t i = 0; i < listed->examples[e].length; i++) { /* heads: a chain of words */
            int32_t *gold = &listed->gold[listed->examples[e].row + i];
            *gold = trees ? (int32_t)i : (int32_t)md_random_below(random, LABELS);
        }
}

/* Parts that all examples share have the same features everywhere. */
static inline void draw_features(struct listed *listed, md_random *random)
{
    const md_space space = listed->space;
    vector shared[MD_PART_KINDS][MOST_PARTS];
    for (size_t i = 0; i < sizeof shared / sizeof(double); i++)
        ((double *)shared)[i] = md_random_normal(random) / sqrt(WEIGHTS);
    for (size_t e = 0; e < EXAMPLES; e++) {
        const size_t length = listed->examples[e].length;
        assert_true(space.structure->part_count(space.shape, length) <= MOST_PARTS);
        for (size_t p = 0; p < MOST_PARTS; p++)
            for (size_t j = 0; j < WEIGHTS; j++)
                listed->part[e][p][j] = md_random_normal(random) / sqrt(WEIGHTS);
        for (int kind = 1; kind < MD_PART_KINDS; kind++) {
            const md_groups groups =
                space.structure->groups(space.shape, length, (md_part_kind)kind);
            for (size_t p = 0; groups.count == 1 && groups.row == 0 && p < groups.width; p++)
                memcpy(listed->part[e][groups.first + p], shared[kind][p], sizeof(vector));
        }
    }
}

static inline void list_outputs(struct listed *listed, size_t e)
{
    const md_example example = listed->examples[e];
    const int32_t *gold = listed->gold + example.row;
    md_shape shape = listed->space.shape;
    shape.row = example.row;
    struct input in = input_make(listed->space.structure, shape, example.length);
    input_list_outputs(&in);
    assert_true(in.outputs <= MOST_OUTPUTS);
    listed->outputs[e].count = in.outputs;
    for (size_t o = 0; o < in.outputs; o++) {
        double *psi = listed->outputs[e].psi[o];
        const int32_t *const sides[] = {output_of(&in, o), gold};
        for (int s = 0; s < 2; s++) {
            const size_t count = in.structure->parts_of(shape, example.length, sides[s], in.chosen);
            for (size_t i = 0; i < count; i++)
                for (size_t j = 0; j < WEIGHTS; j++)
                    psi[j] += (s == 0 ? 1 : -1) * listed->part[e][in.chosen[i]][j];
        }
        for (size_t i = 0; i < example.length; i++)
            listed->outputs[e].cost[o] += sides[0][i] != gold[i];
    }
    input_clear(&in);
}

static inline void listed_make(struct listed *listed, md_space space, bool rows, uint64_t seed)
{
    md_random random;
    md_random_seed(&random, seed);
    memset(listed, 0, sizeof *listed);
    listed->space = space;
    for (size_t e = 0; e < EXAMPLES; e++)
        listed->examples[e] =
            (md_example){.row = e * LONGEST, .length = rows ? 1 : 1 + (e + 1) % LONGEST};
    draw_gold(listed, &random);
    draw_features(listed, &random);
    for (size_t e = 0; e < EXAMPLES; e++)
        list_outputs(listed, e);
    for (size_t e = 0; e < EXAMPLES; e++)
        if (seed % 3 > 0 || e % 3 > 0) /* some are only there */
            listed->visit[listed->visit_count++] = e;
}

/* ---- its objective ---- */

struct objective {
    const struct listed *listed;
    const md_loss *loss;
    const md_penalty *penalty;
    double lambda;
    size_t penalised;
};

static inline double block_norm(const double *theta, size_t m)
{
    double sum = 0;
    for (size_t f = 0; f < FEATURES; f++)
        sum += theta[m * FEATURES + f] * theta[m * FEATURES + f];
    return sqrt(sum);
}

/* temperature * log sum exp ((score + cost) / temperature), or the largest where it is 0; the
 * gradient is added. */
static inline double loss_of(const struct objective *o, size_t e, const double *theta,
                             double temperature, double factor, double *gradient)
{
    const size_t count = o->listed->outputs[e].count;
    double value[MOST_OUTPUTS];
    double most = -INFINITY;
    double sum = 0;
    for (size_t y = 0; y < count; y++) {
        value[y] = o->loss->adds_costs ? o->listed->outputs[e].cost[y] : 0;
        for (size_t j = 0; j < WEIGHTS; j++)
            value[y] += theta[j] * o->listed->outputs[e].psi[y][j];
        most = fmax(most, value[y]);
    }
    for (size_t y = 0; y < count && temperature > 0; y++)
        sum += exp((value[y] - most) / temperature);
    for (size_t y = 0; gradient != NULL && y < count; y++)
        for (size_t j = 0; j < WEIGHTS; j++)
            gradient[j] += factor * exp((value[y] - most) / temperature) / sum *
                           o->listed->outputs[e].psi[y][j];
    return temperature > 0 ? most + temperature * log(sum) : most;
}

static inline double mean_loss(const struct objective *o, const double *theta, double temperature,
                               double *gradient)
{
    const double share = 1 / (double)o->listed->visit_count;
    double sum = 0;
    for (size_t i = 0; i < o->listed->visit_count; i++)
        sum += share * loss_of(o, o->listed->visit[i], theta, temperature, share, gradient);
    return sum;
}

static inline double objective_at(const struct objective *o, const double *theta)
{
    double norm[BLOCKS];
    double own = 0;
    double absorbed = 0;
    for (size_t m = 0; m < BLOCKS; m++) {
        norm[m] = block_norm(theta, m);
        own += m < o->penalised ? 0 : norm[m] * norm[m] / 2;
        absorbed += m < o->penalised ? norm[m] * norm[m] / 2 : 0;
    }
    return mean_loss(o, theta, o->loss->by_marginals ? 1 : 0, NULL) +
           o->lambda * (md_penalty_value(o->penalty, norm, o->penalised) + own +
                        md_penalty_absorbed(o->penalty) * absorbed);
}

/* The prox of tau times the penalty; exact for all that are no sums. */
static inline void shrink(const struct objective *o, double tau, double *theta)
{
    double norm[BLOCKS], shrunk[BLOCKS], scratch[3 * BLOCKS];
    for (size_t m = 0; m < BLOCKS; m++)
        shrunk[m] = norm[m] = block_norm(theta, m);
    md_penalty_prox(o->penalty, tau, shrunk, o->penalised, scratch);
    for (size_t m = 0; m < BLOCKS; m++) {
        const double square = m < o->penalised ? md_penalty_absorbed(o->penalty) : 1;
        for (size_t f = 0; f < FEATURES; f++)
            theta[m * FEATURES + f] *= (norm[m] > 0 ? shrunk[m] / norm[m] : 0) / (1 + tau * square);
    }
}

/* The least objective found by accelerated proximal gradients; hinges are smoothed less and less,
 * and what counts is the true objective. */
static inline double least_objective(const struct objective *o)
{
    enum { STEPS = 400, OFTEN = 8 };
    const double last = o->loss->by_marginals ? 1 : 1e-3;
    vector theta = {0}, best;
    double least = objective_at(o, theta);
    memcpy(best, theta, sizeof theta);
    for (double temperature = 1; temperature > 0.9 * last; temperature /= 10) {
        const double step = temperature / 30; /* ||psi||^2 is some 12 at most */
        vector ahead, next;
        double momentum = 1;
        memcpy(theta, best, sizeof theta);
        memcpy(ahead, theta, sizeof theta);
        for (int t = 0; t < STEPS; t++) {
            vector gradient = {0};
            double away = 0;
            mean_loss(o, ahead, temperature, gradient);
            for (size_t j = 0; j < WEIGHTS; j++)
                next[j] = ahead[j] - step * gradient[j];
            shrink(o, step * o->lambda, next);
            for (size_t j = 0; j < WEIGHTS; j++)
                away += (ahead[j] - next[j]) * (next[j] - theta[j]);
            momentum = away > 0 ? 1 : momentum;
            const double grown = (1 + sqrt(1 + 4 * momentum * momentum)) / 2;
            for (size_t j = 0; j < WEIGHTS; j++)
                ahead[j] = next[j] + (momentum - 1) / grown * (next[j] - theta[j]);
            momentum = grown;
            memcpy(theta, next, sizeof theta);
            const double value = t % OFTEN == 0 ? objective_at(o, theta) : INFINITY;
            if (value < least)
                memcpy(best, theta, sizeof theta);
            least = fmin(least, value);
        }
    }
    return least;
}

#endif
