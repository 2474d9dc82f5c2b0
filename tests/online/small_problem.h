/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the tests of the online loop: a small problem of a few blocks, as kernel blocks or as
 * explicit ones, and a plain implementation of everything the loop does on dense arrays. */
#ifndef TESTS_ONLINE_SMALL_PROBLEM_H
#define TESTS_ONLINE_SMALL_PROBLEM_H

#include "base/random.h"
#include "online/dual.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { ROWS = 36, BLOCKS = 4, COLUMNS = 5, LABELS = 3 };

/* theta[m][c][l] */
typedef double dense_theta[BLOCKS][COLUMNS][LABELS];

struct small_problem {
    float x[BLOCKS][ROWS][COLUMNS];
    int32_t gold[ROWS];
    md_example examples[ROWS];
    md_matrix features[BLOCKS];
    medley_dataset *dataset;
    md_bank bank;
    md_prepared prepared;
    md_gram *gram;
};

/* Labels depend on the first two blocks; the others are noise. */
static inline void small_problem_draw(struct small_problem *p, uint64_t seed)
{
    md_random random;
    md_random_seed(&random, seed);
    for (size_t r = 0; r < ROWS; r++) {
        p->gold[r] = (int32_t)md_random_below(&random, LABELS);
        p->examples[r] = (md_example){.row = r, .length = 1};
        for (size_t m = 0; m < BLOCKS; m++)
            for (size_t c = 0; c < COLUMNS; c++)
                p->x[m][r][c] = (float)(0.5 * md_random_normal(&random) +
                                        (m < 2 && (int32_t)c == p->gold[r] ? 0.6 : 0));
    }
}

/* One ready-made Gram matrix per block, so that nothing depends on how kernels are computed. */
static inline void small_problem_grams(struct small_problem *p)
{
    medley_error error = {0};
    assert_int_equal(medley_dataset_create(&p->dataset, &error), MEDLEY_OK);
    p->dataset->rows = ROWS;
    for (size_t m = 0; m < BLOCKS; m++) {
        md_precomputed *given = NULL;
        assert_int_equal(md_dataset_new_gram(&given, p->dataset, "given", NULL), MEDLEY_OK);
        assert_int_equal(md_matrix_init_dense(&given->values, ROWS, ROWS, &error), MEDLEY_OK);
        for (size_t i = 0; i < ROWS; i++)
            for (size_t j = 0; j < ROWS; j++) {
                double sum = 0;
                for (size_t c = 0; c < COLUMNS; c++)
                    sum += (double)p->x[m][i][c] * (double)p->x[m][j][c];
                given->values.dense[i * ROWS + j] = (float)sum;
            }
    }
    const md_bank_options bank_options = {.views = "all"};
    const md_gram_options gram_options = {.threads = 1};
    assert_int_equal(md_bank_make(&p->bank, p->dataset, &bank_options, &error), MEDLEY_OK);
    assert_int_equal(md_prepared_make(&p->prepared, &p->bank, p->dataset, true, &error), MEDLEY_OK);
    assert_int_equal(md_gram_create(&p->gram, &p->bank, &p->prepared, &gram_options, &error),
                     MEDLEY_OK);
}

static inline void small_problem_make(struct small_problem *p, uint64_t seed)
{
    medley_error error = {0};
    memset(p, 0, sizeof *p);
    small_problem_draw(p, seed);
    for (size_t m = 0; m < BLOCKS; m++) {
        assert_int_equal(md_matrix_init_dense(&p->features[m], ROWS, COLUMNS, &error), MEDLEY_OK);
        memcpy(p->features[m].dense, p->x[m], sizeof p->x[m]);
    }
    small_problem_grams(p);
}

static inline void small_problem_clear(struct small_problem *p)
{
    for (size_t m = 0; m < BLOCKS; m++)
        md_matrix_clear(&p->features[m]);
    md_gram_free(p->gram);
    md_prepared_clear(&p->prepared);
    md_bank_clear(&p->bank);
    medley_dataset_free(p->dataset);
}

/* ---- the loop under test ---- */

struct learner {
    md_block *blocks[BLOCKS];
    md_penalty *penalty;
    md_online online;
};

struct choice {
    const char *loss, *penalty;
    md_online_settings settings;
    bool explicit_weights;
    size_t own_terms; /* blocks, the last, that are not under the penalty */
};

static inline void learner_make(struct learner *learner, const struct small_problem *p,
                                const struct choice *choice)
{
    medley_error error = {0};
    const md_space space = {.structure = md_structure_find("multiclass"),
                            .shape = {.labels = LABELS}};
    memset(learner, 0, sizeof *learner);
    assert_int_equal(md_penalty_create(&learner->penalty, choice->penalty, &error), MEDLEY_OK);
    for (size_t m = 0; m < BLOCKS; m++) {
        const bool average = choice->settings.average;
        const md_explicit what = {.name = "x",
                                  .features = {.matrix = &p->features[m], .count = COLUMNS},
                                  .gain = 1,
                                  .space = space,
                                  .averaging = average,
                                  .thresholds = md_penalty_inner_threshold(learner->penalty) > 0};
        const md_kernel_source from = {
            .gram = p->gram, .m = m, .name = "k", .labels = LABELS, .averaging = average};
        const medley_status status =
            choice->explicit_weights ? md_explicit_block_create(&learner->blocks[m], &what, &error)
                                     : md_kernel_block_create(&learner->blocks[m], &from, &error);
        assert_int_equal(status, MEDLEY_OK);
    }
    const md_online_problem problem = {.blocks = learner->blocks,
                                       .block_count = BLOCKS,
                                       .penalised = BLOCKS - choice->own_terms,
                                       .gram = choice->explicit_weights ? NULL : p->gram,
                                       .space = space,
                                       .loss = md_loss_find(choice->loss),
                                       .penalty = learner->penalty,
                                       .examples = p->examples,
                                       .example_count = ROWS,
                                       .gold = p->gold};
    md_online_settings settings = choice->settings;
    settings.rule = settings.rule ? settings.rule : &md_rule_spom;
    assert_int_equal(md_online_init(&learner->online, &problem, &settings, &error), MEDLEY_OK);
}

static inline void learner_clear(struct learner *learner)
{
    md_online_clear(&learner->online);
    for (size_t m = 0; m < BLOCKS; m++)
        md_block_free(learner->blocks[m]);
    md_penalty_free(learner->penalty);
}

/* The theta of the blocks, written down: kernel blocks are sums of training rows. */
static inline void learner_theta(const struct learner *learner, const struct small_problem *p,
                                 dense_theta theta)
{
    float body[ROWS * LABELS];
    memset(theta, 0, sizeof(dense_theta));
    for (size_t m = 0; m < BLOCKS; m++) {
        md_block *block = learner->blocks[m];
        const bool weights = block->class->soft_threshold != NULL;
        block->class->export_body(block, body);
        for (size_t c = 0; c < COLUMNS; c++)
            for (size_t l = 0; l < LABELS; l++)
                for (size_t r = 0; r < (weights ? 1 : ROWS); r++)
                    theta[m][c][l] += weights
                                          ? (double)body[c * LABELS + l]
                                          : (double)p->x[m][r][c] * (double)body[r * LABELS + l];
    }
}

/* ---- the same by hand ---- */

static inline double plain_norm(double theta[COLUMNS][LABELS])
{
    double sum = 0;
    for (size_t c = 0; c < COLUMNS; c++)
        for (size_t l = 0; l < LABELS; l++)
            sum += theta[c][l] * theta[c][l];
    return sqrt(sum);
}

static inline void plain_scale(double theta[COLUMNS][LABELS], double factor)
{
    for (size_t c = 0; c < COLUMNS; c++)
        for (size_t l = 0; l < LABELS; l++)
            theta[c][l] *= factor;
}

static inline void plain_scores(const struct small_problem *p, dense_theta theta, size_t row,
                                double score[LABELS])
{
    for (size_t l = 0; l < LABELS; l++) {
        score[l] = 0;
        for (size_t m = 0; m < BLOCKS; m++)
            for (size_t c = 0; c < COLUMNS; c++)
                score[l] += (double)p->x[m][row][c] * theta[m][c][l];
    }
}

/* Loss of one row and its gradient in the scores. */
static inline double plain_loss(const char *loss, const double score[LABELS], int32_t gold,
                                double gradient[LABELS])
{
    memset(gradient, 0, LABELS * sizeof *gradient);
    if (strcmp(loss, "hinge") == 0) {
        int32_t worst = gold;
        double most = score[gold];
        for (int32_t l = 0; l < LABELS; l++)
            if (l != gold && score[l] + 1 > most) {
                most = score[l] + 1;
                worst = l;
            }
        if (worst != gold) {
            gradient[worst] = 1;
            gradient[gold] = -1;
        }
        return most - score[gold];
    }
    double sum = 0;
    for (size_t l = 0; l < LABELS; l++)
        sum += exp(score[l]);
    for (size_t l = 0; l < LABELS; l++)
        gradient[l] = exp(score[l]) / sum - ((int32_t)l == gold);
    return log(sum) - score[gold];
}

/* Penalties of the tests, with the parameters written out. */
struct plain_penalty {
    double l1, group, half_square, half_square_of_sum; /* factors of the kinds of term */
    double absorbed;                                   /* half a square too, by gradient */
    size_t own_terms;                                  /* blocks, the last, with l2 instead */
};

static inline struct plain_penalty plain_penalty_of(const char *text)
{
    if (strcmp(text, "mkl") == 0)
        return (struct plain_penalty){.half_square_of_sum = 1};
    if (strcmp(text, "l2") == 0)
        return (struct plain_penalty){.half_square = 1};
    if (strcmp(text, "group-lasso") == 0)
        return (struct plain_penalty){.group = 1};
    if (strcmp(text, "elastic(t=0.3)") == 0)
        return (struct plain_penalty){.group = 0.7, .half_square = 0.3};
    if (strcmp(text, "l1") == 0)
        return (struct plain_penalty){.l1 = 1};
    if (strcmp(text, "sparse-group(s=0.4)") == 0)
        return (struct plain_penalty){.group = 0.4, .l1 = 0.6};
    if (strcmp(text, "l1+0.5*l2") == 0)
        return (struct plain_penalty){.l1 = 1, .half_square = 0.5};
    if (strcmp(text, "l1+0.5*absorbed-l2") == 0)
        return (struct plain_penalty){.l1 = 1, .absorbed = 0.5};
    if (strcmp(text, "absorbed-l2") == 0)
        return (struct plain_penalty){.absorbed = 1};
    if (strcmp(text, "group-lasso+0.5*absorbed-l2") == 0)
        return (struct plain_penalty){.group = 1, .absorbed = 0.5};
    assert_string_equal(text, "none");
    return (struct plain_penalty){0};
}

static inline double plain_omega(struct plain_penalty penalty, dense_theta theta)
{
    double value = 0;
    double sum = 0;
    for (size_t m = 0; m < BLOCKS; m++) {
        const double b = plain_norm(theta[m]);
        if (m >= BLOCKS - penalty.own_terms) {
            value += b * b / 2;
            continue;
        }
        value += penalty.group * b + (penalty.half_square + penalty.absorbed) * b * b / 2;
        sum += b;
        for (size_t c = 0; c < COLUMNS; c++)
            for (size_t l = 0; l < LABELS; l++)
                value += penalty.l1 * fabs(theta[m][c][l]);
    }
    return value + penalty.half_square_of_sum * sum * sum / 2;
}

/* The t with t = tau sum_m max(0, b_m - t), found by halving: b' = max(0, b - t). */
static inline double plain_mkl_threshold(const double *b, size_t count, double tau)
{
    double low = 0;
    double high = 0;
    for (size_t m = 0; m < count; m++)
        high = fmax(high, b[m]);
    for (int i = 0; i < 200; i++) {
        const double t = (low + high) / 2;
        double sum = 0;
        for (size_t m = 0; m < count; m++)
            sum += fmax(0, b[m] - t);
        if (tau * sum > t)
            low = t;
        else
            high = t;
    }
    return high;
}

static inline void plain_prox(struct plain_penalty penalty, dense_theta theta, double tau)
{
    double b[BLOCKS];
    const size_t penalised = BLOCKS - penalty.own_terms;
    for (size_t m = 0; m < penalised; m++) {
        for (size_t c = 0; c < COLUMNS; c++)
            for (size_t l = 0; l < LABELS; l++)
                theta[m][c][l] =
                    copysign(fmax(0, fabs(theta[m][c][l]) - tau * penalty.l1), theta[m][c][l]);
        b[m] = plain_norm(theta[m]);
    }
    const double threshold = plain_mkl_threshold(b, penalised, tau * penalty.half_square_of_sum);
    for (size_t m = 0; m < penalised; m++) {
        const double shrunk =
            fmax(0, b[m] - tau * penalty.group - threshold) / (1 + tau * penalty.half_square);
        plain_scale(theta[m], b[m] > 0 ? shrunk / b[m] : 0);
    }
    for (size_t m = penalised; m < BLOCKS; m++)
        plain_scale(theta[m], 1 / (1 + tau));
}

static inline void plain_project(dense_theta theta, double radius)
{
    double square = 0;
    for (size_t m = 0; m < BLOCKS; m++)
        square += plain_norm(theta[m]) * plain_norm(theta[m]);
    for (size_t m = 0; m < BLOCKS && sqrt(square) > radius; m++)
        plain_scale(theta[m], radius / sqrt(square));
}

static inline double plain_mean_loss(const struct small_problem *p, const char *loss,
                                     dense_theta theta)
{
    double sum = 0;
    for (size_t r = 0; r < ROWS; r++) {
        double score[LABELS];
        double gradient[LABELS];
        plain_scores(p, theta, r, score);
        sum += plain_loss(loss, score, p->gold[r], gradient);
    }
    return sum / ROWS;
}

static inline double plain_objective(const struct small_problem *p, const char *loss,
                                     struct plain_penalty penalty, double lambda, dense_theta theta)
{
    return plain_mean_loss(p, loss, theta) + lambda * plain_omega(penalty, theta);
}

static inline void plain_step(const struct small_problem *p, dense_theta theta, size_t row,
                              const double gradient[LABELS], double eta)
{
    for (size_t m = 0; m < BLOCKS; m++)
        for (size_t c = 0; c < COLUMNS; c++)
            for (size_t l = 0; l < LABELS; l++)
                theta[m][c][l] -= eta * gradient[l] * (double)p->x[m][row][c];
}

#endif
