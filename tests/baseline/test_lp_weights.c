/* SPDX-License-Identifier: BSD-3-Clause */
/* The second layer of LP-beta on random scores: against a fine grid of weights and the definition
 * of its objective, against the whole linear program with every constraint written down, and where
 * the answer is known. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/random.h"
#include "baseline/lp_beta.h"
#include "optim/linear_program.h"
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_KERNELS = 8, MOST_ROWS = 40, MOST_LABELS = 4 };

struct scores {
    double value[MOST_KERNELS][MOST_ROWS * MOST_LABELS];
    const double *pointer[MOST_KERNELS];
    int32_t label[MOST_ROWS];
    size_t rows[MOST_ROWS]; /* those that count */
    size_t count;
    md_lp_beta beta;
};

/* Kernel m says something of the label if m is even; the second half of the rows are often left
 * out. */
static void draw(struct scores *s, size_t kernels, size_t rows, size_t labels, uint64_t seed)
{
    md_random random;
    md_random_seed(&random, seed);
    memset(s, 0, sizeof *s);
    const size_t outputs = labels == 2 ? 1 : labels;
    for (size_t r = 0; r < rows; r++) {
        s->label[r] = (int32_t)md_random_below(&random, labels);
        if (r < rows / 2 || md_random_below(&random, 3) > 0)
            s->rows[s->count++] = r;
        for (size_t m = 0; m < kernels; m++)
            for (size_t o = 0; o < outputs; o++) {
                const bool own = s->label[r] == (int32_t)(outputs == 1 ? 1 : o);
                s->value[m][r * outputs + o] =
                    (m % 2 == 0 ? 0.7 : 0.1) * (own ? 1 : -1) + md_random_normal(&random);
            }
    }
    for (size_t m = 0; m < kernels; m++)
        s->pointer[m] = s->value[m];
    s->beta = (md_lp_beta){
        .kernels = kernels, .outputs = outputs, .score = s->pointer, .label = s->label};
}

static double score_of(const struct scores *s, size_t m, size_t row, size_t label)
{
    if (s->beta.outputs == 1)
        return label == 1 ? s->value[m][row] : 0;
    return s->value[m][row * s->beta.outputs + label];
}

static size_t labels_of(const struct scores *s)
{
    return s->beta.outputs == 1 ? 2 : s->beta.outputs;
}

/* The objective as it is defined: the best rho is one of the least margins. */
static double objective(const struct scores *s, const double *beta, double nu)
{
    double least[MOST_ROWS];
    double best = -INFINITY;
    for (size_t i = 0; i < s->count; i++) {
        const size_t row = s->rows[i];
        const size_t label = (size_t)s->label[row];
        least[i] = INFINITY;
        for (size_t y = 0; y < labels_of(s); y++) {
            double margin = 0;
            for (size_t m = 0; m < s->beta.kernels; m++)
                margin += beta[m] * (score_of(s, m, row, label) - score_of(s, m, row, y));
            if (y != label)
                least[i] = fmin(least[i], margin);
        }
    }
    for (size_t k = 0; k < s->count; k++) {
        double slack = 0;
        for (size_t i = 0; i < s->count; i++)
            slack += fmax(0, least[k] - least[i]);
        best = fmax(best, least[k] - slack / (nu * (double)s->count));
    }
    return best;
}

static bool missing(void)
{
    if (md_linear_program_missing() == NULL)
        return false;
    print_message("this build has no library for linear programs\n");
    return true;
}

static double solve(const struct scores *s, double nu, double *beta)
{
    md_lp_weights weights = {.beta = beta};
    medley_error error = {0};
    if (md_lp_beta_solve(&weights, &s->beta, s->rows, s->count, nu, &error) != MEDLEY_OK)
        fail_msg("%s", error.message);
    double sum = 0;
    for (size_t m = 0; m < s->beta.kernels; m++) {
        assert_true(beta[m] >= 0);
        sum += beta[m];
    }
    assert_true(fabs(sum - 1) <= 1e-12);
    assert_true(weights.bound - weights.value <= 1e-6 && weights.bound >= weights.value - 1e-9);
    assert_true(fabs(weights.value - objective(s, beta, nu)) <= 1e-9);
    return weights.value;
}

static const double nus[] = {0.01, 0.05, 0.3, 0.7, 1};

static double accuracy_of(const struct scores *s, const double *beta, const size_t *rows,
                          size_t count)
{
    medley_error error = {0};
    double accuracy = NAN;
    assert_int_equal(md_lp_beta_accuracy(&accuracy, &s->beta, beta, rows, count, &error),
                     MEDLEY_OK);
    return accuracy;
}

static void no_weights_of_a_grid_are_better(void **state)
{
    (void)state;
    enum { STEPS = 60 };
    if (missing())
        skip();
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct scores s;
        double beta[MOST_KERNELS];
        draw(&s, 2 + seed % 2, 12 + seed, 2 + seed % 3, seed);
        const double nu = nus[seed % 5];
        const double found = solve(&s, nu, beta);
        double best = -INFINITY;
        for (size_t i = 0; i <= STEPS; i++)
            for (size_t j = 0; j <= STEPS - i; j++) {
                double point[3] = {(double)i / STEPS, (double)j / STEPS,
                                   (double)(STEPS - i - j) / STEPS};
                if (s.beta.kernels == 2)
                    point[1] = 1 - point[0];
                best = fmax(best, objective(&s, point, nu));
            }
        if (!(best <= found + 1e-9) || !(best >= found - 0.2))
            fail_msg("seed %d: found %.10g, on the grid %.10g", (int)seed, found, best);
    }
}

/* max rho - 1/(nu N) sum xi with a row for every wrong label of every row. */
static double whole_program(const struct scores *s, double nu)
{
    const size_t kernels = s->beta.kernels;
    const size_t columns = kernels + 1 + s->count;
    enum { MOST = MOST_KERNELS + 1 + MOST_ROWS };
    double cost[MOST] = {0};
    double low[MOST] = {0};
    double high[MOST];
    double row[MOST] = {0};
    double x[MOST];
    md_linear_program *program = NULL;
    for (size_t c = 0; c < columns; c++) {
        high[c] = INFINITY;
        cost[c] = c > kernels ? 1 / (nu * (double)s->count) : 0;
        row[c] = c < kernels;
    }
    cost[kernels] = -1;
    low[kernels] = -INFINITY;
    assert_int_equal(md_linear_program_create(&program, cost, low, high, columns, NULL), MEDLEY_OK);
    assert_int_equal(md_linear_program_add(program, row, 1, 1, NULL), MEDLEY_OK);
    for (size_t i = 0; i < s->count; i++)
        for (size_t y = 0; y < labels_of(s); y++) {
            const size_t label = (size_t)s->label[s->rows[i]];
            if (y == label)
                continue;
            memset(row, 0, sizeof row);
            for (size_t m = 0; m < kernels; m++)
                row[m] = score_of(s, m, s->rows[i], label) - score_of(s, m, s->rows[i], y);
            row[kernels] = -1;
            row[kernels + 1 + i] = 1;
            assert_int_equal(md_linear_program_add(program, row, 0, INFINITY, NULL), MEDLEY_OK);
        }
    assert_int_equal(md_linear_program_solve(program, x, NULL), MEDLEY_OK);
    md_linear_program_free(program);
    double value = x[kernels];
    for (size_t i = 0; i < s->count; i++)
        value -= x[kernels + 1 + i] / (nu * (double)s->count);
    return value;
}

static void it_is_the_optimum_of_the_whole_program(void **state)
{
    (void)state;
    if (missing())
        skip();
    for (uint64_t seed = 1; seed <= 40; seed++) {
        struct scores s;
        double beta[MOST_KERNELS];
        draw(&s, 1 + seed % MOST_KERNELS, 10 + seed % 31, 2 + seed % 3, 100 + seed);
        const double nu = nus[seed % 5];
        const double found = solve(&s, nu, beta);
        const double known = whole_program(&s, nu);
        if (!(fabs(found - known) <= 1e-6))
            fail_msg("seed %d: found %.10g, the whole program %.10g", (int)seed, found, known);
    }
}

/* Scores of any size are the same problem. */
static void the_scale_does_not_matter(void **state)
{
    (void)state;
    if (missing())
        skip();
    struct scores s;
    double beta[MOST_KERNELS];
    double scaled[MOST_KERNELS];
    draw(&s, 5, 30, 3, 7);
    solve(&s, 0.3, beta);
    for (int power = -12; power <= 12; power += 8) {
        struct scores other = s;
        md_lp_weights weights = {.beta = scaled};
        for (size_t m = 0; m < 5; m++) {
            other.pointer[m] = other.value[m];
            for (size_t i = 0; i < (size_t)30 * 3; i++)
                other.value[m][i] = s.value[m][i] * pow(10, power);
        }
        other.beta.score = other.pointer;
        assert_int_equal(
            md_lp_beta_solve(&weights, &other.beta, other.rows, other.count, 0.3, NULL), MEDLEY_OK);
        for (size_t m = 0; m < 5; m++)
            assert_true(fabs(beta[m] - scaled[m]) <= 1e-5);
    }
}

/* One kernel that is always right by far has all the weight; scores that say nothing leave equal
 * weights. */
static void clear_cases_are_clear(void **state)
{
    (void)state;
    if (missing())
        skip();
    struct scores s;
    double beta[MOST_KERNELS];
    draw(&s, 4, 20, 3, 3);
    for (size_t r = 0; r < 20; r++)
        for (size_t o = 0; o < 3; o++)
            s.value[2][r * 3 + o] = s.label[r] == (int32_t)o ? 50 : -50;
    solve(&s, 0.05, beta);
    assert_true(beta[2] == 1);
    assert_true(accuracy_of(&s, beta, s.rows, s.count) == 1);
    memset(s.value, 0, sizeof s.value);
    assert_true(solve(&s, 0.05, beta) == 0);
    for (size_t m = 0; m < 4; m++)
        assert_true(fabs(beta[m] - 0.25) <= 1e-12);
}

static void accuracy_is_counted(void **state)
{
    (void)state;
    struct scores s;
    const double beta[] = {0.5, 0.5};
    draw(&s, 2, 4, 2, 1);
    static const double first[] = {1, 1, -1, 0};
    static const double second[] = {1, -3, -1, 0};
    memcpy(s.value[0], first, sizeof first);
    memcpy(s.value[1], second, sizeof second);
    static const int32_t labels[] = {1, 1, 0, 0};
    static const size_t rows[] = {0, 1, 2, 3};
    memcpy(s.label, labels, sizeof labels);
    assert_true(accuracy_of(&s, beta, rows, 4) == 0.75);
    s.label[3] = 1; /* of equals the first wins */
    assert_true(accuracy_of(&s, beta, rows, 4) == 0.5);
    assert_true(accuracy_of(&s, beta, rows + 1, 1) == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_weights_of_a_grid_are_better),
        cmocka_unit_test(it_is_the_optimum_of_the_whole_program),
        cmocka_unit_test(the_scale_does_not_matter),
        cmocka_unit_test(clear_cases_are_clear),
        cmocka_unit_test(accuracy_is_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
