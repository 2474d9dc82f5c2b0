/* SPDX-License-Identifier: BSD-3-Clause */
/* The calibration of rows: derivatives by finite differences, the optimum by a search that knows
 * only the formula, what is fitted to data with a known answer, and cases where there is little or
 * nothing to go by. */
#include "model/calibration.h"

#include "base/random.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { ROWS_MOST = 4000, LABELS_MOST = 8 };

struct rows {
    float score[ROWS_MOST * LABELS_MOST];
    int32_t label[ROWS_MOST];
    md_held_rows held;
};

static size_t draw_label(md_random *random, const double *logit, size_t labels)
{
    double sum = 0;
    for (size_t l = 0; l < labels; l++)
        sum += exp(logit[l]);
    double rest = md_random_uniform(random) * sum;
    for (size_t l = 0; l < labels; l++) {
        rest -= exp(logit[l]);
        if (rest <= 0)
            return l;
    }
    return labels - 1;
}

/* Scores of the given size, labels from softmax(factor s + offset). */
static struct rows *draw_rows(size_t rows, size_t labels, double size, double factor,
                              const double *offset, uint64_t seed)
{
    struct rows *r = calloc(1, sizeof *r);
    md_random random;
    assert_non_null(r);
    md_random_seed(&random, seed);
    for (size_t i = 0; i < rows; i++) {
        double logit[LABELS_MOST];
        for (size_t l = 0; l < labels; l++) {
            const double score = size * md_random_normal(&random);
            r->score[i * labels + l] = (float)score;
            logit[l] = factor * score + (offset != NULL ? offset[l] : 0);
        }
        r->label[i] = (int32_t)draw_label(&random, logit, labels);
    }
    r->held = (md_held_rows){.score = r->score, .label = r->label, .rows = rows, .labels = labels};
    return r;
}

static md_calibration fit_of(const md_held_rows *held)
{
    md_calibration calibration = {0};
    medley_error error = {0};
    if (md_calibration_fit(&calibration, held, &error) != MEDLEY_OK)
        fail_msg("%s", error.message);
    assert_true(calibration.factor > 0 && isfinite(calibration.factor));
    double sum = 0;
    for (size_t l = 0; l < held->labels; l++) {
        assert_true(isfinite(calibration.offset[l]));
        sum += calibration.offset[l];
    }
    assert_true(fabs(sum) < 1e-9);
    return calibration;
}

/* ---- derivatives ---- */

struct derivatives {
    struct rows *rows;
    md_softmax_fit fit;
    float share[ROWS_MOST * LABELS_MOST];
    double scratch[LABELS_MOST];
};

static struct derivatives *derivatives_make(size_t labels, uint64_t seed)
{
    struct derivatives *d = calloc(1, sizeof *d);
    assert_non_null(d);
    d->rows = draw_rows(50, labels, 1, 1.5, NULL, seed);
    d->fit = (md_softmax_fit){.rows = 50,
                              .labels = labels,
                              .label = d->rows->label,
                              .score = d->rows->score,
                              .share = d->share,
                              .scratch = d->scratch,
                              .smoothing = 0.02};
    return d;
}

static void derivatives_free(struct derivatives *d)
{
    free(d->rows);
    free(d);
}

static void draw_point(double *x, size_t labels, md_random *random)
{
    for (size_t k = 0; k <= labels; k++)
        x[k] = md_random_normal(random);
}

static void the_gradient_is_that_of_the_value(void **state)
{
    (void)state;
    static const double STEP = 1e-5;
    for (uint64_t seed = 0; seed < 12; seed++) {
        const size_t labels = 2 + seed % 5;
        struct derivatives *d = derivatives_make(labels, seed);
        md_random random;
        double x[1 + LABELS_MOST];
        double gradient[1 + LABELS_MOST];
        md_random_seed(&random, seed + 100);
        draw_point(x, labels, &random);
        md_softmax_value(&d->fit, x, gradient);
        for (size_t k = 0; k <= labels; k++) {
            const double at = x[k];
            x[k] = at + STEP;
            const double above = md_softmax_value(&d->fit, x, NULL);
            x[k] = at - STEP;
            const double below = md_softmax_value(&d->fit, x, NULL);
            x[k] = at;
            const double slope = (above - below) / (2 * STEP);
            if (fabs(slope - gradient[k]) > 1e-6 * (1 + fabs(slope)))
                fail_msg("seed %d, %zu: %g, not %g", (int)seed, k, gradient[k], slope);
        }
        derivatives_free(d);
    }
}

static void the_hessian_is_that_of_the_gradient(void **state)
{
    (void)state;
    static const double STEP = 1e-5;
    for (uint64_t seed = 0; seed < 12; seed++) {
        const size_t labels = 2 + seed % 5;
        struct derivatives *d = derivatives_make(labels, seed);
        md_random random;
        double x[1 + LABELS_MOST];
        double v[1 + LABELS_MOST];
        double product[1 + LABELS_MOST];
        double above[1 + LABELS_MOST];
        double below[1 + LABELS_MOST];
        d->fit.holds_factor = seed % 4 == 3;
        md_random_seed(&random, seed + 200);
        draw_point(x, labels, &random);
        draw_point(v, labels, &random);
        v[0] = d->fit.holds_factor ? 0 : v[0];
        for (size_t k = 0; k <= labels; k++)
            x[k] += STEP * v[k];
        md_softmax_value(&d->fit, x, above);
        for (size_t k = 0; k <= labels; k++)
            x[k] -= 2 * STEP * v[k];
        md_softmax_value(&d->fit, x, below);
        for (size_t k = 0; k <= labels; k++)
            x[k] += STEP * v[k];
        md_softmax_value(&d->fit, x, product);
        md_softmax_multiply(&d->fit, v, product);
        for (size_t k = 0; k <= labels; k++) {
            const double slope = (above[k] - below[k]) / (2 * STEP);
            if (fabs(slope - product[k]) > 1e-5 * (1 + fabs(slope)))
                fail_msg("seed %d, %zu: %g, not %g", (int)seed, k, product[k], slope);
        }
        derivatives_free(d);
    }
}

/* ---- the optimum ---- */

/* The formula of calibration.c, of the scores as they are, the ridge apart. */
static double value_of(const md_held_rows *held, double factor, const double *offset, double ridge)
{
    const double smoothing = 1 / (1 + (double)held->rows);
    double value = 0;
    for (size_t i = 0; i < held->rows; i++) {
        double sum = 0;
        double mean = 0;
        double right = 0;
        for (size_t l = 0; l < held->labels; l++) {
            const double logit = factor * (double)held->score[i * held->labels + l] + offset[l];
            sum += exp(logit);
            mean += logit / (double)held->labels;
            right = l == (size_t)held->label[i] ? logit : right;
        }
        value += log(sum) - (1 - smoothing) * right - smoothing * mean;
    }
    for (size_t l = 0; l < held->labels; l++)
        value += ridge / 2 * offset[l] * offset[l];
    return value;
}

/* Steps along the axes that become smaller where none helps. */
static double search(const md_held_rows *held, double *x, double ridge)
{
    const size_t n = 1 + held->labels;
    double best = value_of(held, x[0], x + 1, ridge);
    for (double step = 1; step > 1e-7;) {
        bool moved = false;
        for (size_t k = 0; k < n; k++)
            for (int sign = -1; sign <= 1; sign += 2) {
                const double at = x[k];
                x[k] = at + sign * step;
                const double value = value_of(held, x[0], x + 1, ridge);
                if (value < best) {
                    best = value;
                    moved = true;
                } else {
                    x[k] = at;
                }
            }
        step = moved ? step : step / 2;
    }
    return best;
}

static void the_optimum_is_that_of_a_search(void **state)
{
    (void)state;
    static const double RIDGE = 10;
    static const double offset[] = {1, -1, 0.5};
    for (uint64_t seed = 0; seed < 8; seed++) {
        const size_t labels = 2 + seed % 2;
        const size_t rows = seed < 4 ? 15 : 60;
        struct rows *r = draw_rows(rows, labels, 1, 1.5, offset, seed);
        const md_calibration found = fit_of(&r->held);
        double x[1 + LABELS_MOST] = {1};
        const double best = search(&r->held, x, RIDGE);
        const double value = value_of(&r->held, found.factor, found.offset, RIDGE);
        if (value > best + 1e-8 * best)
            fail_msg("seed %d: %.12g, not %.12g", (int)seed, value, best);
        assert_true(fabs(found.factor - x[0]) < 1e-3);
        for (size_t l = 0; l < labels; l++)
            assert_true(fabs(found.offset[l] - x[1 + l]) < 1e-3);
        free(found.offset);
        free(r);
    }
}

/* With many rows, smoothing and ridge have next to no say. */
static void what_the_labels_were_drawn_from_is_found(void **state)
{
    (void)state;
    static const double offset[] = {0.8, -0.5, 0.3, -0.6};
    for (uint64_t seed = 0; seed < 3; seed++) {
        struct rows *r = draw_rows(ROWS_MOST, 4, 2, 1.25, offset, seed);
        const md_calibration found = fit_of(&r->held);
        assert_true(fabs(found.factor - 1.25) < 0.1);
        for (size_t l = 0; l < 4; l++)
            assert_true(fabs(found.offset[l] - offset[l]) < 0.2);
        free(found.offset);
        free(r);
    }
}

/* Scores in another unit, and with a number added to all of a row, say the same. */
static void units_of_scores_do_not_matter(void **state)
{
    (void)state;
    static const double units[] = {1e-12, 1e-3, 1e3, 1e12};
    for (size_t u = 0; u < 4; u++) {
        struct rows *r = draw_rows(80, 3, 1, 2, NULL, 5);
        const md_calibration plain = fit_of(&r->held);
        for (size_t i = 0; i < (size_t)80 * 3; i++)
            r->score[i] = (float)(units[u] * ((double)r->score[i] + (double)(i / 3 % 7)));
        const md_calibration scaled = fit_of(&r->held);
        assert_true(fabs(scaled.factor * units[u] / plain.factor - 1) < 1e-5);
        for (size_t l = 0; l < 3; l++)
            assert_true(fabs(scaled.offset[l] - plain.offset[l]) < 1e-5);
        free(plain.offset);
        free(scaled.offset);
        free(r);
    }
}

/* ---- little to go by ---- */

/* All held-out rows are right: how sure one can be grows with their number, and is never more than
 * Laplace's rule of succession allows. */
static void rows_that_are_all_right_have_a_finite_factor(void **state)
{
    (void)state;
    double previous = 0;
    for (size_t rows = 4; rows <= 1024; rows *= 4) {
        struct rows *r = draw_rows(rows, 2, 1, 1, NULL, 1);
        for (size_t i = 0; i < rows; i++) {
            r->label[i] = (int32_t)(i % 2);
            r->score[2 * i] = i % 2 == 0 ? 1 : 0;
            r->score[2 * i + 1] = i % 2 == 0 ? 0 : 1;
        }
        const md_calibration found = fit_of(&r->held);
        const double wrong = 1 / (1 + exp(found.factor));
        const double expected = 0.5 / (1 + (double)rows);
        assert_true(found.factor > previous);
        assert_true(fabs(wrong / expected - 1) < 1e-3);
        assert_true(fabs(found.offset[0]) < 1e-6);
        previous = found.factor;
        free(found.offset);
        free(r);
    }
}

static void scores_that_mislead_get_no_weight(void **state)
{
    (void)state;
    struct rows *r = draw_rows(200, 3, 1, -3, NULL, 2);
    const md_calibration found = fit_of(&r->held);
    assert_true(found.factor < 0.01);
    free(found.offset);
    free(r);
}

/* Equal scores: the offsets are all there is, and they lean to the commoner label. */
static void equal_scores_leave_the_offsets(void **state)
{
    (void)state;
    struct rows *r = draw_rows(300, 2, 0, 0, NULL, 3);
    for (size_t i = 0; i < 300; i++)
        r->label[i] = i % 4 == 0;
    const md_calibration found = fit_of(&r->held);
    const double share = 1 / (1 + exp(found.offset[0] - found.offset[1]));
    assert_true(found.factor == 1);
    assert_true(fabs(share - 0.25) < 0.05);
    free(found.offset);
    free(r);
}

/* A label without held-out rows, and one with a single row: nothing runs away. */
static void rare_labels_do_no_harm(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 5; seed++) {
        struct rows *r = draw_rows(100, 4, 1, 2, NULL, seed);
        for (size_t i = 0; i < 100; i++)
            r->label[i] %= 2;
        r->label[7] = 2;
        const md_calibration found = fit_of(&r->held);
        for (size_t l = 0; l < 4; l++)
            assert_true(fabs(found.offset[l]) < 3);
        assert_true(found.offset[3] < found.offset[0]);
        free(found.offset);
        free(r);
    }
    struct rows *r = draw_rows(1, 2, 1, 1, NULL, 1);
    const md_calibration found = fit_of(&r->held);
    assert_true(found.factor > 0);
    free(found.offset);
    free(r);
}

static void scores_that_are_not_finite_are_refused(void **state)
{
    (void)state;
    struct rows *r = draw_rows(20, 2, 1, 1, NULL, 1);
    md_calibration calibration = {0};
    medley_error error = {0};
    r->score[5] = NAN;
    assert_int_equal(md_calibration_fit(&calibration, &r->held, &error), MEDLEY_FAILED);
    assert_non_null(strstr(error.message, "not finite"));
    assert_null(calibration.offset);
    free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_gradient_is_that_of_the_value),
        cmocka_unit_test(the_hessian_is_that_of_the_gradient),
        cmocka_unit_test(the_optimum_is_that_of_a_search),
        cmocka_unit_test(what_the_labels_were_drawn_from_is_found),
        cmocka_unit_test(units_of_scores_do_not_matter),
        cmocka_unit_test(rows_that_are_all_right_have_a_finite_factor),
        cmocka_unit_test(scores_that_mislead_get_no_weight),
        cmocka_unit_test(equal_scores_leave_the_offsets),
        cmocka_unit_test(rare_labels_do_no_harm),
        cmocka_unit_test(scores_that_are_not_finite_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
