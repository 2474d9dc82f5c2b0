/* SPDX-License-Identifier: BSD-3-Clause */
/* Solvers of problems of one kernel: what they find is certified here by plain formulas, primal and
 * dual value side by side. */
#include "batch/batch_case.h"

#include "baseline/one_kernel.h"
#include <math.h>
#include <sys/resource.h>
#include <unistd.h>

struct found {
    double primal, dual, sum;
    double *rho, *point;
};

static void add_upper_only(double *matrix, size_t n)
{
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < i; j++)
            matrix[i * n + j] = NAN; /* nobody may look there */
}

static void evaluate(const batch_case *c, struct found *found)
{
    const double strength = c->problem.strength;
    double *f = md_calloc(c->n, sizeof *f);
    assert_non_null(f);
    plain_multiply(c, 0, found->rho, f);
    found->primal = plain_dot(found->rho, f, c->n) / (2 * strength);
    for (size_t i = 0; i < c->n; i++)
        f[i] /= strength;
    const double bias = md_best_bias(c->problem.loss, c->problem.loss_state, c->y, f, c->n);
    found->sum = found->dual = 0;
    for (size_t i = 0; i < c->n; i++) {
        found->primal += plain_loss_value(&c->choice.loss, c->y[i], f[i] + bias);
        found->dual -= plain_loss_conjugate(&c->choice.loss, c->y[i], found->point[i]);
        found->sum += found->point[i];
    }
    const double norm = plain_norm(c, 0, found->point);
    found->dual -= norm * norm / (2 * strength);
    free(f);
}

static struct found solve_case(const batch_case *c, md_one_kernel_solver solver, double gap,
                               double level, const double *start)
{
    struct found found = {.rho = md_calloc(c->n, sizeof(double)),
                          .point = md_calloc(c->n, sizeof(double))};
    double *upper = md_copy(case_matrix(c, 0), c->n * c->n * sizeof(double));
    assert_true(found.rho != NULL && found.point != NULL && upper != NULL);
    add_upper_only(upper, c->n);
    if (start != NULL)
        memcpy(found.point, start, c->n * sizeof *start);
    medley_error error = {0};
    const md_one_kernel inner = {
        .problem = &c->problem, .kernel = upper, .n = c->n, .gap = gap, .level = level};
    check_ok(solver(&inner, found.rho, found.point, &error), &error);
    free(upper);
    evaluate(c, &found);
    return found;
}

static void check_found(const batch_case *c, const struct found *found, double gap)
{
    if (!(found->primal - found->dual <= gap * found->primal + 1e-9))
        fail_msg("%s, C %g: primal %.12g, dual %.12g", plain_loss_names[c->choice.loss.kind],
                 c->problem.strength, found->primal, found->dual);
    assert_true(found->dual <= found->primal * (1 + 1e-12) + 1e-12);
    assert_true(fabs(found->sum) <= 1e-9 * (double)c->n);
}

static void open_random(batch_case *c, size_t kind, uint64_t seed)
{
    const batch_choice choice = {.rows = 12 + 5 * seed,
                                 .kernels = 1,
                                 .loss = {(enum plain_loss_kind)kind, 0.1},
                                 .penalty = &plain_penalties[0],
                                 .wide = true,
                                 .seed = seed};
    draw_case(c, &choice);
    open_case(c);
    c->problem.strength = exp(2 * md_random_normal(&c->random));
}

static void newton_solves_every_loss(void **state)
{
    (void)state;
    for (size_t kind = 0; kind < LOSSES; kind++)
        for (uint64_t seed = 0; seed < 6; seed++) {
            batch_case c;
            open_random(&c, kind, seed);
            const double gap = seed % 2 ? 1e-3 : 1e-8;
            struct found found = solve_case(&c, md_one_kernel_newton, gap, INFINITY, NULL);
            check_found(&c, &found, gap);
            /* from there it goes nowhere else */
            struct found again = solve_case(&c, md_one_kernel_newton, 1e-8, INFINITY, found.point);
            check_found(&c, &again, 1e-8);
            assert_true(fabs(again.primal - found.primal) <= 1.1 * gap * found.primal + 1e-9);
            free(found.rho);
            free(found.point);
            free(again.rho);
            free(again.point);
            close_case(&c);
        }
}

/* The rule by which libsvm stops is no gap: some slack. */
static void libsvm_solves_hinge_and_epsilon(void **state)
{
    (void)state;
    size_t solved = 0;
    for (size_t kind = 0; kind < LOSSES; kind++)
        for (uint64_t seed = 0; seed < 6; seed++) {
            batch_case c;
            open_random(&c, kind, seed);
            const md_one_kernel_solver solver = md_one_kernel_libsvm(&c.problem);
            assert_true(solver == NULL || kind == HINGE || kind == EPSILON);
            if (solver != NULL) {
                const double gap = seed % 2 ? 1e-3 : 1e-5; /* single precision */
                struct found known = solve_case(&c, md_one_kernel_newton, 0.1, INFINITY, NULL);
                struct found found = solve_case(&c, solver, gap, known.primal, NULL);
                check_found(&c, &found, 2 * gap);
                free(known.rho);
                free(known.point);
                free(found.rho);
                free(found.point);
                solved++;
            }
            close_case(&c);
        }
    if (solved > 0)
        return;
    print_message("this build is without libsvm\n");
    skip();
}

/* libsvm would make no model of a single label. */
static void one_label_is_for_newton(void **state)
{
    (void)state;
    batch_case c;
    open_random(&c, HINGE, 2);
    for (size_t i = 0; i < c.n; i++)
        c.y[i] = -1;
    assert_null(md_one_kernel_libsvm(&c.problem));
    struct found found = solve_case(&c, md_one_kernel_newton, 1e-6, INFINITY, NULL);
    assert_true(found.primal <= 1e-9 && found.dual >= -1e-9);
    free(found.rho);
    free(found.point);
    close_case(&c);
}

/* A kernel of zeros says nothing: the bias alone is left. */
static void no_kernel_leaves_the_bias(void **state)
{
    (void)state;
    for (size_t kind = 0; kind < LOSSES; kind++) {
        batch_case c;
        open_random(&c, kind, 3);
        memset(c.K, 0, c.n * c.n * sizeof *c.K);
        const md_one_kernel_solver libsvm = md_one_kernel_libsvm(&c.problem);
        for (int way = 0; way < (libsvm != NULL ? 2 : 1); way++) {
            struct found found = solve_case(&c, way ? libsvm : md_one_kernel_newton, 1e-6, 1, NULL);
            check_found(&c, &found, 2e-6);
            free(found.rho);
            free(found.point);
        }
        close_case(&c);
    }
}

/* libsvm itself would end the program. */
static void a_lack_of_memory_is_told_before_libsvm_begins(void **state)
{
    (void)state;
    enum { N = 900, ROOM = 8 << 20 };
#ifdef MEDLEY_SANITIZED
    print_message("sanitizers need memory without limits\n");
    skip();
#endif
    if (!md_libsvm_takes(N)) {
        print_message("built without libsvm\n");
        skip();
    }
    md_libsvm *matrix = NULL;
    medley_error error = {0};
    double *kernel = md_calloc((size_t)N * N, sizeof *kernel);
    double *y = md_calloc(N, sizeof *y);
    double *coefficient = md_calloc(N, sizeof *coefficient);
    assert_true(kernel != NULL && y != NULL && coefficient != NULL);
    for (size_t i = 0; i < N; i++) {
        kernel[i * N + i] = 1;
        y[i] = i % 2 ? 1 : -1;
    }
    assert_int_equal(md_libsvm_create(&matrix, kernel, N, &error), MEDLEY_OK);
    const md_libsvm_task task = {
        .count = N, .y = y, .classifies = true, .C = 1, .eps = 0.1, .cache = INFINITY};
    struct rlimit before;
    long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file == NULL || fscanf(file, "%ld", &pages) != 1)
        skip();
    fclose(file);
    assert_int_equal(getrlimit(RLIMIT_AS, &before), 0);
    const rlim_t most = (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE) + ROOM;
    assert_int_equal(setrlimit(RLIMIT_AS, &(struct rlimit){most, before.rlim_max}), 0);
    const medley_status status = md_libsvm_solve(matrix, &task, coefficient, &error);
    assert_int_equal(setrlimit(RLIMIT_AS, &before), 0);
    assert_int_equal(status, MEDLEY_FAILED);
    assert_non_null(strstr(error.message, "out of memory"));
    assert_int_equal(md_libsvm_solve(matrix, &task, coefficient, NULL), MEDLEY_OK);
    md_libsvm_free(matrix);
    free(coefficient);
    free(y);
    free(kernel);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(newton_solves_every_loss),
        cmocka_unit_test(libsvm_solves_hinge_and_epsilon),
        cmocka_unit_test(one_label_is_for_newton),
        cmocka_unit_test(no_kernel_leaves_the_bias),
        cmocka_unit_test(a_lack_of_memory_is_told_before_libsvm_begins),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
