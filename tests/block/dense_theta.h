/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the tests of blocks: a plain dense theta, on which every operation is a line. The
 * kernel is linear over random rows, so the theta of a kernel block can be written down too, and
 * all kinds of block must do what the dense theta does. */
#ifndef TESTS_BLOCK_DENSE_THETA_H
#define TESTS_BLOCK_DENSE_THETA_H

#include "base/random.h"
#include "block/block.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { ROWS = 23, COLUMNS = 7, LABELS = 3, LONGEST = 4, SEEDS = 12, STEPS = 250 };
static const double GAIN = 1.5;       /* of the explicit block; the kernel is GAIN^2 <x,z> */
static const double TOLERANCE = 3e-4; /* relative: a few hundred single-precision updates */

/* ---- data: the same rows as a dense matrix, a sparse one and a Gram matrix ---- */

struct data {
    float x[ROWS][COLUMNS]; /* many zeros */
    md_matrix dense, sparse;
    medley_dataset *dataset;
    md_bank bank;
    md_points points;
    md_gram *gram;
};

static inline void fill_sparse(md_matrix *sparse, float x[ROWS][COLUMNS])
{
    medley_error error = {0};
    size_t used = 0;
    assert_int_equal(md_matrix_init_sparse(sparse, ROWS, COLUMNS, (size_t)ROWS * COLUMNS, &error),
                     MEDLEY_OK);
    for (size_t r = 0; r < ROWS; r++) {
        for (size_t c = 0; c < COLUMNS; c++)
            if (x[r][c] != 0) {
                sparse->index[used] = (int32_t)c;
                sparse->value[used++] = x[r][c];
            }
        sparse->start[r + 1] = used;
    }
}

/* The Gram matrix goes in ready made, so that nothing of it depends on how kernels are computed. */
static inline void make_gram(struct data *data)
{
    medley_error error = {0};
    assert_int_equal(medley_dataset_create(&data->dataset, &error), MEDLEY_OK);
    data->dataset->rows = ROWS;
    md_precomputed *given = md_dataset_new_gram(data->dataset, "linear");
    assert_non_null(given);
    assert_int_equal(md_matrix_init_dense(&given->values, ROWS, ROWS, &error), MEDLEY_OK);
    for (size_t i = 0; i < ROWS; i++)
        for (size_t j = 0; j < ROWS; j++) {
            double product = 0;
            for (size_t c = 0; c < COLUMNS; c++)
                product += (double)data->x[i][c] * (double)data->x[j][c];
            given->values.dense[i * ROWS + j] = (float)(GAIN * GAIN * product);
        }
    const md_bank_options bank_options = {.views = "all"};
    const md_gram_options gram_options = {.threads = 1};
    assert_int_equal(md_bank_make(&data->bank, data->dataset, &bank_options, &error), MEDLEY_OK);
    assert_int_equal(md_points_make(&data->points, &data->bank, data->dataset, true, &error),
                     MEDLEY_OK);
    assert_int_equal(md_gram_create(&data->gram, &data->bank, &data->points, &gram_options, &error),
                     MEDLEY_OK);
}

static inline void make_data(struct data *data, uint64_t seed)
{
    md_random random;
    medley_error error = {0};
    md_random_seed(&random, seed);
    *data = (struct data){0};
    for (size_t r = 0; r < ROWS; r++)
        for (size_t c = 0; c < COLUMNS; c++)
            if (md_random_below(&random, 2) == 0)
                data->x[r][c] = (float)md_random_normal(&random);
    assert_int_equal(md_matrix_init_dense(&data->dense, ROWS, COLUMNS, &error), MEDLEY_OK);
    memcpy(data->dense.dense, data->x, sizeof data->x);
    fill_sparse(&data->sparse, data->x);
    make_gram(data);
}

static inline void clear_data(struct data *data)
{
    md_gram_free(data->gram);
    md_points_clear(&data->points);
    md_bank_clear(&data->bank);
    medley_dataset_free(data->dataset);
    md_matrix_clear(&data->dense);
    md_matrix_clear(&data->sparse);
}

typedef enum kind { KERNEL, EXPLICIT_DENSE, EXPLICIT_SPARSE, KINDS } kind;

static inline md_block *make_block(const struct data *data, kind which, bool averaging)
{
    md_block *block = NULL;
    medley_error error = {0};
    const medley_status status =
        which == KERNEL
            ? md_kernel_block_create(&block, data->gram, 0, "k", LABELS, averaging, &error)
            : md_explicit_block_create(&block,
                                       which == EXPLICIT_DENSE ? &data->dense : &data->sparse, GAIN,
                                       "x", LABELS, averaging, &error);
    assert_int_equal(status, MEDLEY_OK);
    return block;
}

/* ---- the dense theta ---- */

struct theta {
    double w[COLUMNS][LABELS]; /* on the features times GAIN */
    double sum[COLUMNS][LABELS];
    double counted;
};

static inline double dense_norm2(double w[COLUMNS][LABELS])
{
    double sum = 0;
    for (size_t c = 0; c < COLUMNS; c++)
        for (size_t l = 0; l < LABELS; l++)
            sum += w[c][l] * w[c][l];
    return sum;
}

static inline double dense_score(const struct data *data, double w[COLUMNS][LABELS], size_t row,
                                 size_t label)
{
    double sum = 0;
    for (size_t c = 0; c < COLUMNS; c++)
        sum += GAIN * (double)data->x[row][c] * w[c][label];
    return sum;
}

/* w += factor * d, d the direction that delta describes at the example. */
static inline void dense_add(const struct data *data, double w[COLUMNS][LABELS], md_example example,
                             const md_delta *delta, double factor)
{
    for (size_t i = 0; i < delta->count; i++) {
        const size_t place = delta->part[i] / LABELS;
        const size_t label = delta->part[i] % LABELS;
        if (place >= example.length)
            continue; /* parts of no row, such as transitions, are not the block's */
        for (size_t c = 0; c < COLUMNS; c++)
            w[c][label] += factor * (double)delta->coefficient[i] * GAIN *
                           (double)data->x[example.row + place][c];
    }
}

static inline void dense_count(struct theta *theta)
{
    for (size_t c = 0; c < COLUMNS; c++)
        for (size_t l = 0; l < LABELS; l++)
            theta->sum[c][l] += theta->w[c][l];
    theta->counted += 1;
}

/* What a block's exported body says about theta. */
static inline void body_as_theta(const struct data *data, const md_block *block, kind which,
                                 double w[COLUMNS][LABELS])
{
    float body[(ROWS > COLUMNS ? ROWS : COLUMNS) * LABELS];
    assert_int_equal(block->class->body_size(block), (which == KERNEL ? ROWS : COLUMNS) * LABELS);
    block->class->export_body(block, body);
    memset(w, 0, sizeof(double) * COLUMNS * LABELS);
    for (size_t c = 0; c < COLUMNS; c++)
        for (size_t l = 0; l < LABELS; l++) {
            if (which != KERNEL) {
                w[c][l] = (double)body[c * LABELS + l] / GAIN;
                continue;
            }
            for (size_t r = 0; r < ROWS; r++)
                w[c][l] += GAIN * (double)data->x[r][c] * (double)body[r * LABELS + l];
        }
}

/* ---- examples ---- */

struct step {
    md_example example;
    md_delta delta;
    uint32_t part[LONGEST * LABELS + 1];
    float coefficient[LONGEST * LABELS + 1];
    double size;
};

/* A few parts of an example of one or several rows, often with the same label in several rows, and
 * sometimes a part behind the (row, label) pairs that blocks must not look at. */
static inline void draw_step(struct step *step, md_random *random)
{
    step->example.length = 1 + md_random_below(random, LONGEST);
    step->example.row = md_random_below(random, ROWS - step->example.length + 1);
    step->size = md_random_uniform(random);
    step->delta = (md_delta){.part = step->part, .coefficient = step->coefficient};
    const size_t parts = step->example.length * LABELS;
    for (size_t p = 0; p < parts + 1; p++) {
        if (p == parts ? md_random_below(random, 3) > 0 : md_random_below(random, 2) > 0)
            continue;
        step->part[step->delta.count] = (uint32_t)p;
        step->coefficient[step->delta.count++] = (float)md_random_normal(random);
    }
}

/* As the learner does it: the norm comes from the recurrence. */
static inline void take_step(md_block *block, const struct step *step)
{
    const double norm = md_block_norm_after(block, step->example, &step->delta, step->size);
    block->class->update(block, step->example, &step->delta, step->size);
    block->norm = norm;
}

/* ---- checks ---- */

static inline void assert_close(double found, double expected, double scale)
{
    if (!(fabs(found - expected) <= TOLERANCE * scale + 1e-30))
        fail_msg("%.9g found, %.9g expected (scale %g)", found, expected, scale);
}

static inline void check_scores(const struct data *data, const md_block *block, struct theta *theta,
                                md_example example)
{
    float score[LONGEST * LABELS];
    for (size_t i = 0; i < LONGEST * LABELS; i++)
        score[i] = 7; /* scores are added */
    block->class->score(block, example, score);
    const double norm = sqrt(dense_norm2(theta->w));
    for (size_t i = 0; i < LONGEST; i++)
        for (size_t l = 0; l < LABELS; l++) {
            const double expected =
                i < example.length ? dense_score(data, theta->w, example.row + i, l) : 0;
            assert_close((double)score[i * LABELS + l], 7 + expected, 7e-3 + norm * 5);
        }
}

static inline void check_step(const struct data *data, md_block *block, struct theta *theta,
                              const struct step *step)
{
    double d[COLUMNS][LABELS] = {{0}};
    double moved[COLUMNS][LABELS];
    dense_add(data, d, step->example, &step->delta, 1);
    memcpy(moved, theta->w, sizeof moved);
    dense_add(data, moved, step->example, &step->delta, -step->size);
    double slope = 0;
    for (size_t c = 0; c < COLUMNS; c++)
        for (size_t l = 0; l < LABELS; l++)
            slope += theta->w[c][l] * d[c][l];
    const double length = sqrt(dense_norm2(d));
    const double norm = sqrt(dense_norm2(theta->w));
    assert_close(block->class->slope(block, step->example, &step->delta), slope,
                 length * norm + 1e-12);
    assert_close(block->class->delta_norm2(block, step->example, &step->delta), length * length,
                 length * length + 1e-12);
    const double after = md_block_norm_after(block, step->example, &step->delta, step->size);
    assert_close(after * after, dense_norm2(moved), norm * norm + length * length);
}

static inline void check_norms(md_block *block, struct theta *theta)
{
    const double exact = dense_norm2(theta->w);
    assert_close(block->class->norm2(block), exact, exact);
    assert_close(block->norm * block->norm, exact, exact);
}

/* One random operation on the block and on theta. */
static inline void operate(const struct data *data, md_block *block, struct theta *theta,
                           md_random *random)
{
    struct step step;
    static const double factors[] = {0.95, 0.5, 1e-3};
    const size_t choice = md_random_below(random, 20);
    if (choice < 13) {
        draw_step(&step, random);
        check_step(data, block, theta, &step);
        take_step(block, &step);
        dense_add(data, theta->w, step.example, &step.delta, -step.size);
        check_scores(data, block, theta, step.example);
    } else if (choice < 18) {
        const double factor = factors[md_random_below(random, 3)];
        md_block_rescale(block, factor);
        for (size_t c = 0; c < COLUMNS; c++)
            for (size_t l = 0; l < LABELS; l++)
                theta->w[c][l] *= factor;
    } else if (choice == 18) {
        md_block_refresh_norm(block);
    } else {
        block->class->clear(block);
        memset(theta->w, 0, sizeof theta->w);
        assert_true(block->norm == 0);
    }
}

typedef void check_block(const struct data *data, md_block *block, kind which, md_random *random);

static inline void for_every_block(bool averaging, check_block *check)
{
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct data data;
        make_data(&data, seed);
        for (int which = 0; which < KINDS; which++) {
            md_block *block = make_block(&data, (kind)which, averaging);
            md_random random;
            md_random_seed(&random, seed + 1000);
            check(&data, block, (kind)which, &random);
            md_block_free(block);
        }
        clear_data(&data);
    }
}

#endif
