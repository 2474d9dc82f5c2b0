/* SPDX-License-Identifier: BSD-3-Clause */
/* Linear programs in two and three variables against the list of all their vertices, growing row by
 * row; programs without a point or without an end; and builds without the library. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/random.h"
#include "optim/linear_program.h"
#include <math.h>
#include <stdbool.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { MOST_VARIABLES = 3, MOST_ROWS = 12, MOST_PLANES = 2 * MOST_VARIABLES + MOST_ROWS };

struct plane {
    double row[MOST_VARIABLES];
    double least; /* row'x >= least */
};

struct program {
    size_t variables, count;
    double cost[MOST_VARIABLES];
    struct plane planes[MOST_PLANES];
};

static bool missing(void)
{
    if (md_linear_program_missing() == NULL)
        return false;
    print_message("this build has no library for linear programs\n");
    return true;
}

/* ---- all vertices ---- */

static double determinant(const double a[MOST_VARIABLES][MOST_VARIABLES], size_t n)
{
    if (n == 2)
        return a[0][0] * a[1][1] - a[0][1] * a[1][0];
    return a[0][0] * (a[1][1] * a[2][2] - a[1][2] * a[2][1]) -
           a[0][1] * (a[1][0] * a[2][2] - a[1][2] * a[2][0]) +
           a[0][2] * (a[1][0] * a[2][1] - a[1][1] * a[2][0]);
}

static bool meets_all(const struct program *p, const double *x)
{
    for (size_t k = 0; k < p->count; k++) {
        double value = 0;
        for (size_t v = 0; v < p->variables; v++)
            value += p->planes[k].row[v] * x[v];
        if (value < p->planes[k].least - 1e-9)
            return false;
    }
    return true;
}

/* Where the chosen planes meet, by Cramer's rule. */
static bool meeting_point(const struct program *p, const size_t *chosen, double *x)
{
    double a[MOST_VARIABLES][MOST_VARIABLES] = {{0}};
    const size_t n = p->variables;
    for (size_t i = 0; i < n; i++)
        memcpy(a[i], p->planes[chosen[i]].row, sizeof a[i]);
    const double all = determinant(a, n);
    if (fabs(all) < 1e-9)
        return false;
    for (size_t v = 0; v < n; v++) {
        double b[MOST_VARIABLES][MOST_VARIABLES];
        memcpy(b, a, sizeof b);
        for (size_t i = 0; i < n; i++)
            b[i][v] = p->planes[chosen[i]].least;
        x[v] = determinant(b, n) / all;
    }
    return true;
}

/* Infinite: there is no point. */
static double least_cost(const struct program *p)
{
    double least = INFINITY;
    size_t chosen[MOST_VARIABLES];
    const size_t last = p->variables == 3 ? p->count : 1;
    for (chosen[0] = 0; chosen[0] < p->count; chosen[0]++)
        for (chosen[1] = chosen[0] + 1; chosen[1] < p->count; chosen[1]++)
            for (size_t k = 0; k < last; k++) {
                double x[MOST_VARIABLES] = {0};
                double cost = 0;
                chosen[2] = k;
                if ((p->variables == 3 && k <= chosen[1]) || !meeting_point(p, chosen, x) ||
                    !meets_all(p, x))
                    continue;
                for (size_t v = 0; v < p->variables; v++)
                    cost += p->cost[v] * x[v];
                least = fmin(least, cost);
            }
    return least;
}

/* ---- random programs ---- */

static void draw_box(struct program *p, md_random *random, double *low, double *high)
{
    for (size_t v = 0; v < p->variables; v++) {
        low[v] = -2 * md_random_uniform(random);
        high[v] = 1 + md_random_uniform(random);
        p->cost[v] = md_random_normal(random);
        p->planes[p->count] = (struct plane){.least = low[v]};
        p->planes[p->count++].row[v] = 1;
        p->planes[p->count] = (struct plane){.least = -high[v]};
        p->planes[p->count++].row[v] = -1;
    }
}

static const struct plane *draw_plane(struct program *p, md_random *random)
{
    struct plane *plane = &p->planes[p->count++];
    *plane = (struct plane){.least = -1 + 0.6 * md_random_normal(random)};
    for (size_t v = 0; v < p->variables; v++)
        plane->row[v] = md_random_normal(random);
    return plane;
}

static void check_point(const struct program *p, const double *x, double least, size_t seed)
{
    double cost = 0;
    for (size_t v = 0; v < p->variables; v++)
        cost += p->cost[v] * x[v];
    if (!(fabs(cost - least) <= 1e-6 * (1 + fabs(least))))
        fail_msg("seed %zu, %zu planes: cost %.10g, least one %.10g", seed, p->count, cost, least);
}

static void the_least_vertex_is_found(void **state)
{
    (void)state;
    size_t solved = 0;
    size_t refused = 0;
    if (missing())
        skip();
    for (size_t seed = 1; seed <= 60; seed++) {
        struct program p = {.variables = 2 + seed % 2};
        double low[MOST_VARIABLES];
        double high[MOST_VARIABLES];
        double x[MOST_VARIABLES];
        md_linear_program *program = NULL;
        md_random random;
        md_random_seed(&random, seed);
        draw_box(&p, &random, low, high);
        assert_int_equal(md_linear_program_create(&program, p.cost, low, high, p.variables, NULL),
                         MEDLEY_OK);
        for (size_t r = 0; r < MOST_ROWS; r++) {
            const struct plane *plane = draw_plane(&p, &random);
            const double least = least_cost(&p);
            medley_error error = {0};
            assert_int_equal(md_linear_program_add(program, plane->row, plane->least,
                                                   r % 3 ? INFINITY : 1e6, NULL),
                             MEDLEY_OK);
            const medley_status status = md_linear_program_solve(program, x, &error);
            if (isinf(least)) {
                assert_int_equal(status, MEDLEY_BAD_INPUT);
                assert_non_null(strstr(error.message, "no point"));
                refused++;
                break;
            }
            assert_int_equal(status, MEDLEY_OK);
            check_point(&p, x, least, seed);
            solved++;
        }
        md_linear_program_free(program);
    }
    assert_true(solved > 200 && refused > 0);
}

/* The list of vertices tells what a row is worth. */
static void prices_are_what_moving_a_row_gains(void **state)
{
    (void)state;
    static const double distance = 1e-6;
    size_t held = 0;
    if (missing())
        skip();
    for (size_t seed = 1; seed <= 40; seed++) {
        struct program p = {.variables = 2 + seed % 2};
        double low[MOST_VARIABLES];
        double high[MOST_VARIABLES];
        double x[MOST_VARIABLES];
        double price[4];
        md_linear_program *program = NULL;
        md_random random;
        md_random_seed(&random, seed);
        draw_box(&p, &random, low, high);
        const size_t box = p.count;
        assert_int_equal(md_linear_program_create(&program, p.cost, low, high, p.variables, NULL),
                         MEDLEY_OK);
        for (size_t r = 0; r < 4; r++) {
            const struct plane *plane = draw_plane(&p, &random);
            assert_int_equal(
                md_linear_program_add(program, plane->row, plane->least, INFINITY, NULL),
                MEDLEY_OK);
        }
        const double least = least_cost(&p);
        if (isfinite(least)) {
            assert_int_equal(md_linear_program_solve(program, x, NULL), MEDLEY_OK);
            md_linear_program_prices(program, price);
        }
        for (size_t r = 0; r < 4 && isfinite(least); r++) {
            p.planes[box + r].least -= distance;
            const double gain = (least - least_cost(&p)) / distance;
            p.planes[box + r].least += distance;
            assert_true(fabs(gain - price[r]) <= 0.02 * (1 + gain));
            held += price[r] > 0;
        }
        md_linear_program_free(program);
    }
    assert_true(held > 10);
}

static void bounds_of_a_variable_can_be_moved(void **state)
{
    (void)state;
    static const double cost[] = {2, 1};
    static const double low[] = {0, 0};
    static const double high[] = {1, 1};
    static const double sum[] = {1, 1};
    md_linear_program *program = NULL;
    double x[2];
    if (missing())
        skip();
    assert_int_equal(md_linear_program_create(&program, cost, low, high, 2, NULL), MEDLEY_OK);
    assert_int_equal(md_linear_program_add(program, sum, 1, 1, NULL), MEDLEY_OK);
    assert_int_equal(md_linear_program_solve(program, x, NULL), MEDLEY_OK);
    assert_true(fabs(x[0]) < 1e-9 && fabs(x[1] - 1) < 1e-9);
    md_linear_program_limit(program, 0, 0.25, 1);
    assert_int_equal(md_linear_program_solve(program, x, NULL), MEDLEY_OK);
    assert_true(fabs(x[0] - 0.25) < 1e-9 && fabs(x[1] - 0.75) < 1e-9);
    md_linear_program_limit(program, 1, 0, 0.5);
    assert_int_equal(md_linear_program_solve(program, x, NULL), MEDLEY_OK);
    assert_true(fabs(x[0] - 0.5) < 1e-9 && fabs(x[1] - 0.5) < 1e-9);
    md_linear_program_free(program);
}

/* x + y = 1 with both bounds of a row the same, x and y free of bounds above. */
static void rows_may_be_equations(void **state)
{
    (void)state;
    static const double cost[] = {2, 1};
    static const double low[] = {0.25, 0};
    static const double high[] = {INFINITY, INFINITY};
    static const double sum[] = {1, 1};
    static const double only_x[] = {1, 0};
    md_linear_program *program = NULL;
    double x[2];
    if (missing())
        skip();
    assert_int_equal(md_linear_program_create(&program, cost, low, high, 2, NULL), MEDLEY_OK);
    assert_int_equal(md_linear_program_add(program, sum, 1, 1, NULL), MEDLEY_OK);
    assert_int_equal(md_linear_program_solve(program, x, NULL), MEDLEY_OK);
    assert_true(fabs(x[0] - 0.25) < 1e-9 && fabs(x[1] - 0.75) < 1e-9);
    assert_int_equal(md_linear_program_add(program, only_x, 0.5, INFINITY, NULL), MEDLEY_OK);
    assert_int_equal(md_linear_program_solve(program, x, NULL), MEDLEY_OK);
    assert_true(fabs(x[0] - 0.5) < 1e-9 && fabs(x[1] - 0.5) < 1e-9);
    md_linear_program_free(program);
}

static void a_cost_without_end_is_told(void **state)
{
    (void)state;
    static const double cost[] = {-1, 0};
    static const double low[] = {-INFINITY, 0};
    static const double high[] = {INFINITY, 1};
    static const double row[] = {1, -1};
    md_linear_program *program = NULL;
    medley_error error = {0};
    double x[2];
    if (missing())
        skip();
    assert_int_equal(md_linear_program_create(&program, cost, low, high, 2, NULL), MEDLEY_OK);
    assert_int_equal(md_linear_program_add(program, row, 0, INFINITY, NULL), MEDLEY_OK);
    assert_int_equal(md_linear_program_solve(program, x, &error), MEDLEY_BAD_INPUT);
    assert_non_null(strstr(error.message, "without end"));
    assert_int_equal(md_linear_program_add(program, row, -INFINITY, 3, NULL), MEDLEY_OK);
    assert_int_equal(md_linear_program_solve(program, x, NULL), MEDLEY_OK);
    assert_true(fabs(x[0] - 4) < 1e-9 && fabs(x[1] - 1) < 1e-9);
    md_linear_program_free(program);
}

/* A program with a full matrix. */
static md_linear_program *make_full(size_t columns, size_t rows)
{
    md_linear_program *program = NULL;
    md_random random;
    md_random_seed(&random, 5);
    double *numbers = md_calloc(4 * columns, sizeof *numbers);
    assert_non_null(numbers);
    for (size_t c = 0; c < columns; c++) {
        numbers[c] = 1;
        numbers[2 * columns + c] = 1;
    }
    assert_int_equal(md_linear_program_create(&program, numbers, numbers + columns,
                                              numbers + 2 * columns, columns, NULL),
                     MEDLEY_OK);
    for (size_t r = 0; r < rows; r++) {
        double *row = numbers + 3 * columns;
        for (size_t c = 0; c < columns; c++)
            row[c] = md_random_uniform(&random);
        assert_int_equal(md_linear_program_add(program, row, 0.1 * (double)columns, INFINITY, NULL),
                         MEDLEY_OK);
    }
    free(numbers);
    return program;
}

/* Memory that is free already serves Clp as well: it is taken away first. */
static void *take_free_memory(void)
{
    void *taken = NULL;
    for (size_t size = (size_t)64 << 20; size >= 64; size /= 2)
        for (void **more = malloc(size); more != NULL; more = malloc(size)) {
            *more = taken;
            taken = more;
        }
    return taken;
}

static void give_back(void *taken)
{
    while (taken != NULL) {
        void *next = *(void **)taken;
        free(taken);
        taken = next;
    }
}

/* Clp itself would end the program. */
static void a_lack_of_memory_is_told_before_clp_begins(void **state)
{
    (void)state;
    enum { COLUMNS = 120, ROWS = 400 };
#ifdef MEDLEY_SANITIZED
    print_message("sanitizers need memory without limits\n");
    skip();
#endif
    if (missing())
        skip();
    medley_error errors[3] = {{0}};
    medley_status status[3];
    md_linear_program *second = NULL;
    md_linear_program *program = make_full(COLUMNS, ROWS);
    struct rlimit before;
    long pages = 0;
    double x[COLUMNS];
    double row[COLUMNS] = {1};
    FILE *file = fopen("/proc/self/statm", "r");
    if (file == NULL || fscanf(file, "%ld", &pages) != 1)
        skip();
    fclose(file);
    assert_int_equal(getrlimit(RLIMIT_AS, &before), 0);
    const rlim_t most = (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE);
    assert_int_equal(setrlimit(RLIMIT_AS, &(struct rlimit){most, before.rlim_max}), 0);
    void *taken = take_free_memory();
    status[0] = md_linear_program_solve(program, x, &errors[0]);
    status[1] = md_linear_program_add(program, row, 0, 1, &errors[1]);
    status[2] = md_linear_program_create(&second, x, x, x, COLUMNS, &errors[2]);
    give_back(taken);
    assert_int_equal(setrlimit(RLIMIT_AS, &before), 0);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(status[i], MEDLEY_FAILED);
        assert_non_null(strstr(errors[i].message, "out of memory"));
    }
    assert_null(second);
    assert_int_equal(md_linear_program_solve(program, x, NULL), MEDLEY_OK);
    md_linear_program_free(program);
}

static void without_a_library_nothing_is_created(void **state)
{
    (void)state;
    static const double nothing[] = {0};
    md_linear_program *program = NULL;
    medley_error error = {0};
    if (md_linear_program_missing() == NULL)
        return; /* there is one, and the tests above have used it */
    assert_int_equal(md_linear_program_create(&program, nothing, nothing, nothing, 1, &error),
                     MEDLEY_NOT_SUPPORTED);
    assert_null(program);
    assert_non_null(strstr(error.message, md_linear_program_missing()));
    md_linear_program_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_least_vertex_is_found),
        cmocka_unit_test(prices_are_what_moving_a_row_gains),
        cmocka_unit_test(bounds_of_a_variable_can_be_moved),
        cmocka_unit_test(rows_may_be_equations),
        cmocka_unit_test(a_cost_without_end_is_told),
        cmocka_unit_test(a_lack_of_memory_is_told_before_clp_begins),
        cmocka_unit_test(without_a_library_nothing_is_created),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
