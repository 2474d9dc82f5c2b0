/* SPDX-License-Identifier: BSD-3-Clause */
/* Is a solution what it says? Primal value, norms and bias from the returned coefficients, dual
 * value from the returned dual point over all kernels, and the conditions of optimality: all by
 * plain loops over the kernel values. For cmocka tests. */
#ifndef TESTS_BATCH_CHECK_SOLUTION_H
#define TESTS_BATCH_CHECK_SOLUTION_H

#include "batch/batch_case.h"
#include "golden.h"
#ifdef __GLIBC__
#include <malloc.h>
#endif

/* Sums of a few thousand roundings, relative to the largest terms. */
#define SUM_TOLERANCE 1e-10

static inline void fail_solution(const batch_case *c, const md_batch_solution *s, const char *what,
                                 double found, double expected)
{
    fail_msg("%s, %s, %zu rows, %zu kernels, C %g, seed %d (primal %.12g, dual %.12g, %zu active): "
             "%s is %.12g, expected %.12g",
             plain_loss_names[c->choice.loss.kind], c->choice.penalty->text, c->n, c->count,
             c->problem.strength, (int)c->choice.seed, s->primal, s->dual, s->active, what, found,
             expected);
}

static inline void check_close(const batch_case *c, const md_batch_solution *s, const char *what,
                               double found, double expected, double tolerance)
{
    if (!(fabs(found - expected) <= tolerance))
        fail_solution(c, s, what, found, expected);
}

/* For main: memory that nobody has written to holds large numbers from now on, not zeros. */
static inline void dirty_memory(void)
{
#ifdef __GLIBC__
    mallopt(M_PERTURB, 0xBE); /* bytes 0x41: as a double 2.3 million */
#endif
}

/* ---- the model ---- */

struct scored {
    const batch_case *c;
    const double *f;
};

static inline double loss_with_bias(void *context, double bias)
{
    const struct scored *scored = context;
    const batch_case *c = scored->c;
    double sum = 0;
    for (size_t i = 0; i < c->n; i++)
        sum += plain_loss_value(&c->choice.loss, c->y[i], scored->f[i] + bias);
    return sum;
}

/* Scores without bias; the caller frees them. */
static inline double *solution_scores(const batch_case *c, const md_batch_solution *s)
{
    double *f = md_calloc(2 * c->n, sizeof *f);
    assert_non_null(f);
    for (size_t i = 0; i < s->active; i++) {
        plain_multiply(c, s->kernel[i], s->coefficient + i * c->n, f + c->n);
        for (size_t r = 0; r < c->n; r++)
            f[r] += f[c->n + r];
    }
    return f;
}

static inline void check_primal(const batch_case *c, const md_batch_solution *s, const double *f)
{
    struct scored scored = {c, f};
    const double loss = loss_with_bias(&scored, s->bias);
    double penalty = 0;
    assert_int_equal(s->rows, c->n);
    for (size_t i = 0; i < s->active; i++) {
        assert_true(s->kernel[i] < c->count && (i == 0 || s->kernel[i] > s->kernel[i - 1]));
        const double *a = s->coefficient + i * c->n;
        const double norm = plain_norm(c, s->kernel[i], a);
        /* a'Ka of an a that the kernel does not see is nothing but rounding */
        const double rounding = sqrt(1e-14 * plain_dot(a, a, c->n) * plain_trace(c, s->kernel[i]));
        check_close(c, s, "a norm", s->norm[i], norm, 1e-7 * norm + rounding);
        penalty += plain_g(c->choice.penalty, norm);
    }
    const double size = loss + c->problem.strength * penalty;
    check_close(c, s, "the loss", s->loss, loss, SUM_TOLERANCE * size + 1e-13);
    check_close(c, s, "the primal value", s->primal, loss + c->problem.strength * penalty,
                1e-8 * size + 1e-13);
    /* least as a function of the bias: values of order |y| are squared or added up */
    const double best = golden_least(loss_with_bias, &scored, s->bias - 100, s->bias + 100);
    const double least = loss_with_bias(&scored, best);
    if (!(loss <= least + 1e-9 * size + 1e-12))
        fail_solution(c, s, "the loss with the bias", loss, least);
}

/* ---- the dual point ---- */

static inline double plain_dual(const batch_case *c, const md_batch_solution *s)
{
    double value = 0;
    double sum = 0;
    for (size_t i = 0; i < c->n; i++) {
        sum += s->rho[i];
        value -= plain_loss_conjugate(&c->choice.loss, c->y[i], s->rho[i]);
    }
    check_close(c, s, "the sum of rho", sum, 0, 1e-9 * (1 + sqrt(plain_dot(s->rho, s->rho, c->n))));
    for (size_t m = 0; m < c->count; m++) {
        const double norm = plain_norm(c, m, s->rho);
        value -= plain_g_conjugate(c->choice.penalty, c->problem.strength, norm * (1 - 1e-9));
    }
    return value;
}

/* ---- conditions of optimality ---- */

/* l(f) + l*(-rho) + rho f >= 0 is 0 where rho is a slope of the loss at f: so is each term, up to
 * the gap. */
static inline void check_rows(const batch_case *c, const md_batch_solution *s, const double *f,
                              double slack)
{
    for (size_t i = 0; i < c->n; i++) {
        const double score = f[i] + s->bias;
        const double value = plain_loss_value(&c->choice.loss, c->y[i], score);
        const double off =
            value + plain_loss_conjugate(&c->choice.loss, c->y[i], s->rho[i]) + s->rho[i] * score;
        const double rounding = 1e-9 * (1 + fabs(s->primal) + fabs(s->rho[i] * score));
        if (!(off >= -rounding && off <= slack + rounding))
            fail_solution(c, s, "complementary slackness of a row", off, slack);
        /* where the loss is smooth, rho is its slope */
        const double slope = plain_loss_slope(&c->choice.loss, c->y[i], score);
        if (c->choice.loss.kind == LOGISTIC || c->choice.loss.kind == SQUARED)
            check_close(c, s, "rho of a row", s->rho[i], -slope, sqrt(2 * (slack + rounding)));
    }
}

/* C g'(||a||) a / ||a|| and rho are the same function of the kernel, where the gap says that much;
 * kernels that have no weight would not pay for one. */
static inline void check_kernels(const batch_case *c, const md_batch_solution *s, double slack)
{
    double *difference = md_calloc(c->n, sizeof *difference);
    assert_non_null(difference);
    for (size_t m = 0, i = 0; m < c->count; m++) {
        if (i == s->active || s->kernel[i] != m) {
            const double worth = plain_g_conjugate(c->choice.penalty, c->problem.strength,
                                                   plain_norm(c, m, s->rho) * (1 - 1e-9));
            if (!(worth <= slack + 1e-9 * fabs(s->primal)))
                fail_solution(c, s, "what a kernel without weight is worth", worth, 0);
            continue;
        }
        const double *a = s->coefficient + i * c->n;
        const double norm = s->norm[i++];
        const double slope = c->problem.strength * plain_g_slope(c->choice.penalty, norm);
        if (!(slack <= 1e-6 * norm * slope))
            continue;
        for (size_t r = 0; r < c->n; r++)
            difference[r] = a[r] * slope / norm - s->rho[r];
        check_close(c, s, "distance of an active kernel from its condition",
                    plain_norm(c, m, difference), 0, 3e-3 * slope);
    }
    free(difference);
}

/* The whole certificate, whatever the gap is. */
static inline void check_certificate(const batch_case *c, const md_batch_solution *s)
{
    double *f = solution_scores(c, s);
    check_primal(c, s, f);
    const double rounding = 1e-8 * (fabs(s->primal) + fabs(s->dual)) + 1e-12;
    check_close(c, s, "the dual value", s->dual, plain_dual(c, s), rounding);
    if (!(s->dual <= s->primal + rounding))
        fail_solution(c, s, "the dual value", s->dual, s->primal);
    const double gap = s->primal > s->dual ? (s->primal - s->dual) / s->primal : 0;
    check_close(c, s, "the gap", s->gap, gap, 1e-12 * gap);
    assert_int_equal(s->converged, s->gap <= c->problem.gap);
    const double slack = fmax(0, s->primal - s->dual) + rounding;
    check_rows(c, s, f, slack);
    check_kernels(c, s, slack);
    free(f);
}

/* Solves to the wanted gap, and that is true. */
static inline void solve_and_check(batch_case *c, const md_batch_solution *start,
                                   md_batch_solution *s)
{
    medley_error error = {0};
    check_ok(md_batch_solve(s, &c->problem, start, &error), &error);
    check_certificate(c, s);
    if (!s->converged)
        fail_solution(c, s, "the gap", s->gap, c->problem.gap);
}

#endif
