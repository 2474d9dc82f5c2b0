/* SPDX-License-Identifier: BSD-3-Clause */
/* Problems of the batch solver on random kernels that are given as matrices, and products with
 * those matrices by plain loops. For cmocka tests. */
#ifndef TESTS_BATCH_BATCH_CASE_H
#define TESTS_BATCH_BATCH_CASE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "base/random.h"
#include "batch/batch.h"
#include "batch/plain_formulas.h"

typedef struct batch_choice {
    size_t rows, kernels;
    struct plain_loss loss;
    const struct plain_penalty *penalty;
    bool wide;
    size_t threads; /* 0: one */
    size_t memory;  /* budget of the store; 0: none */
    uint64_t seed;
    size_t most_rank; /* of kernels; 0: full */
    bool by_rows;     /* the store, and Newton steps are by products */
    size_t mixture;   /* bytes for those */
} batch_choice;

typedef struct batch_case {
    batch_choice choice;
    size_t n, count;
    md_random random;
    double *y; /* [n] */
    double *K; /* [count][n][n]; once the case is open, as the store has them */
    medley_dataset *data;
    md_bank bank;
    md_prepared prepared;
    md_packed *packed;
    md_penalty *penalty;
    md_batch_problem problem;
} batch_case;

static inline double *case_matrix(const batch_case *c, size_t m)
{
    return c->K + m * c->n * c->n;
}

/* ---- plain algebra ---- */

static inline double plain_dot(const double *x, const double *y, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += x[i] * y[i];
    return sum;
}

static inline void plain_multiply(const batch_case *c, size_t m, const double *x, double *y)
{
    for (size_t i = 0; i < c->n; i++)
        y[i] = plain_dot(case_matrix(c, m) + i * c->n, x, c->n);
}

/* sqrt(x' K_m x) */
static inline double plain_norm(const batch_case *c, size_t m, const double *x)
{
    double sum = 0;
    for (size_t i = 0; i < c->n; i++)
        sum += x[i] * plain_dot(case_matrix(c, m) + i * c->n, x, c->n);
    return sum > 0 ? sqrt(sum) : 0;
}

static inline double plain_trace(const batch_case *c, size_t m)
{
    double trace = 0;
    for (size_t i = 0; i < c->n; i++)
        trace += case_matrix(c, m)[i * c->n + i];
    return trace;
}

/* ---- drawing ---- */

/* Labels of both kinds, as soon as there are two rows; numbers far from zero. */
static inline void draw_targets(batch_case *c, const double *signal)
{
    for (size_t i = 0; i < c->n; i++) {
        const double value = signal[i] + 0.3 * md_random_normal(&c->random);
        c->y[i] = c->choice.loss.kind >= SQUARED ? 5 + value : value > 0.2 ? 1 : -1;
    }
    if (c->choice.loss.kind < SQUARED) {
        c->y[0] = 1;
        c->y[c->n - 1] = -1;
    }
}

/* Rounding to float may make a matrix of low rank indefinite, and then dual values can be above
 * primal ones: a little more on the diagonal is enough to keep it from that. */
static inline void add_ridge(batch_case *c, size_t m)
{
    const double trace = plain_trace(c, m);
    for (size_t i = 0; i < c->n; i++)
        case_matrix(c, m)[i * c->n + i] += 1e-6 * trace / (double)c->n;
}

/* Kernels X X' of random rank and size; the first one knows something of the targets. A case that
 * is drawn but not open may be changed: K must stay positive semi-definite. */
static inline void draw_case(batch_case *c, const batch_choice *choice)
{
    *c = (batch_case){.choice = *choice, .n = choice->rows, .count = choice->kernels};
    md_random_seed(&c->random, choice->seed);
    c->y = md_calloc(c->n, sizeof *c->y);
    c->K = md_calloc(c->count * c->n * c->n, sizeof *c->K);
    const size_t most_rank = choice->most_rank ? choice->most_rank : c->n + 1;
    double *x = md_calloc(c->n * most_rank, sizeof *x);
    assert_non_null(c->y);
    assert_non_null(c->K);
    assert_non_null(x);
    for (size_t m = 0; m < c->count; m++) {
        const size_t rank = 1 + md_random_below(&c->random, most_rank);
        const double scale = exp(1.5 * md_random_normal(&c->random)) / (double)rank;
        for (size_t i = 0; i < c->n * rank; i++)
            x[i] = md_random_normal(&c->random);
        for (size_t i = 0; m == 0 && i < c->n; i++)
            c->y[i] = x[i * rank];
        for (size_t i = 0; i < c->n; i++)
            for (size_t j = 0; j <= i; j++)
                case_matrix(c, m)[i * c->n + j] = case_matrix(c, m)[j * c->n + i] =
                    scale * plain_dot(x + i * rank, x + j * rank, rank);
        if (!choice->wide)
            add_ridge(c, m);
    }
    memcpy(x, c->y, c->n * sizeof *x);
    draw_targets(c, x);
    free(x);
}

/* ---- opening ---- */

static inline void check_ok(medley_status status, const medley_error *error)
{
    if (status != MEDLEY_OK)
        fail_msg("status %d: %s", (int)status, error->message);
}

static inline void give_matrices(batch_case *c)
{
    assert_int_equal(medley_dataset_create(&c->data, NULL), MEDLEY_OK);
    c->data->rows = c->n;
    for (size_t m = 0; m < c->count; m++) {
        md_precomputed *gram = NULL;
        assert_int_equal(md_dataset_new_gram(&gram, c->data, "given", NULL), MEDLEY_OK);
        assert_int_equal(md_matrix_init_dense(&gram->values, c->n, c->n, NULL), MEDLEY_OK);
        for (size_t i = 0; i < c->n * c->n; i++)
            gram->values.dense[i] = (float)case_matrix(c, m)[i];
        if (c->choice.wide) {
            gram->wide = md_copy(case_matrix(c, m), c->n * c->n * sizeof(double));
            assert_non_null(gram->wide);
        }
    }
}

/* K as the store has it: rounded, unless it is wide. */
static inline void read_back(batch_case *c)
{
    for (size_t m = 0; m < c->count; m++) {
        const double one = 1;
        const md_chosen chosen = {.kernels = &m, .count = 1};
        double *matrix = case_matrix(c, m);
        check_ok(md_packed_sum(c->packed, chosen, &one, matrix, NULL), NULL);
        for (size_t i = 0; i < c->n; i++)
            for (size_t j = 0; j < i; j++)
                matrix[i * c->n + j] = matrix[j * c->n + i];
    }
}

static inline void make_store(batch_case *c, size_t threads, size_t memory)
{
    medley_error error = {0};
    const md_packed_options options = {
        .threads = threads,
        .memory = memory,
        .float64 = c->choice.wide,
        .by_rows = c->choice.by_rows,
    };
    md_packed_free(c->packed);
    c->packed = NULL;
    check_ok(md_packed_create(&c->packed, &c->bank, &c->prepared, &options, &error), &error);
    c->problem.packed = c->packed;
    c->problem.threads = threads;
    c->problem.products_only = c->choice.by_rows;
    c->problem.mixture = c->choice.mixture;
}

static inline void open_case(batch_case *c)
{
    const md_bank_options bank_options = {.views = "all"};
    const size_t threads = c->choice.threads ? c->choice.threads : 1;
    medley_error error = {0};
    double factor;
    give_matrices(c);
    check_ok(md_bank_make(&c->bank, c->data, &bank_options, &error), &error);
    check_ok(md_prepared_make(&c->prepared, &c->bank, c->data, true, &error), &error);
    check_ok(md_penalty_create(&c->penalty, c->choice.penalty->text, &error), &error);
    c->problem =
        (md_batch_problem){.loss = md_margin_loss_find(plain_loss_names[c->choice.loss.kind]),
                           .loss_state = &c->choice.loss.epsilon,
                           .y = c->y,
                           .strength = 1,
                           .gap = 1e-6,
                           .max_iterations = 1000};
    assert_non_null(c->problem.loss);
    c->problem.penalty = md_penalty_scalar(c->penalty, &c->problem.penalty_state, &factor);
    assert_non_null(c->problem.penalty);
    assert_true(factor == 1);
    make_store(c, threads, c->choice.memory);
    read_back(c);
}

static inline void close_case(batch_case *c)
{
    md_penalty_free(c->penalty);
    md_packed_free(c->packed);
    md_prepared_clear(&c->prepared);
    md_bank_clear(&c->bank);
    medley_dataset_free(c->data);
    free(c->y);
    free(c->K);
}

/* C as a share of the one that leaves all kernels out, or of what stands for it. */
static inline void set_strength(batch_case *c, double share)
{
    double largest;
    double without_slope;
    medley_error error = {0};
    check_ok(md_batch_largest_strength(&c->problem, &largest, &without_slope, &error), &error);
    const double scale = isfinite(largest) ? largest : without_slope;
    c->problem.strength = share * (scale > 0 ? scale : 1);
}

#endif
