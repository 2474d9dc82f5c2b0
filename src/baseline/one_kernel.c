/* SPDX-License-Identifier: BSD-3-Clause */
/* The problem of one kernel, by two solvers.
 *
 * SpicyMKL itself is for losses that libsvm does not know and gaps that it cannot reach. The
 * penalty is 1/2 ||f||^2: its dual is smooth and the outer loop short.
 *
 * libsvm is what the papers on multiple kernel learning wrap: C_SVC for the hinge loss, EPSILON_SVR
 * for the epsilon-insensitive one. Its constant is 1 / strength here, and its coefficients times
 * the strength are rho. All that is known of libsvm is in this file. */
#include "baseline/one_kernel.h"

#ifdef MEDLEY_WITH_LIBSVM
#include <libsvm/svm.h>
#endif

/* ---- SpicyMKL ---- */

enum { MOST_ITERATIONS = 200 };

medley_status md_one_kernel_solve(md_batch_solution *solution, const md_one_kernel *one,
                                  const md_batch_solution *start, medley_error *error)
{
    md_batch_problem problem = *one->problem;
    MD_OWNED(md_packed_free) md_packed *packed = NULL;
    MEDLEY_TRY(md_packed_of_matrix(&packed, one->kernel, one->n, problem.threads, error));
    problem.packed = packed;
    problem.penalty = md_penalty_l2.scalar;
    problem.penalty_state = md_penalty_l2.fixed;
    problem.square = 0;
    problem.gap = one->gap;
    problem.max_iterations = MOST_ITERATIONS;
    problem.watch = NULL;
    return md_batch_solve(solution, &problem, start, error);
}

medley_status md_one_kernel_newton(const md_one_kernel *one, double *rho, double *point,
                                   medley_error *error)
{
    const md_batch_solution start = {.rows = one->n, .rho = point};
    MD_CLEARED(md_batch_solution_clear) md_batch_solution solution = {0};
    MEDLEY_TRY(md_one_kernel_solve(&solution, one, &start, error));
    for (size_t i = 0; i < one->n; i++) {
        point[i] = solution.rho[i];
        rho[i] = solution.active > 0 ? one->problem->strength * solution.coefficient[i] : point[i];
    }
    return MEDLEY_OK;
}

/* ---- libsvm ---- */

#ifdef MEDLEY_WITH_LIBSVM

enum { MOST_ROWS = 30000, TILE = 32 };

static void say_nothing(const char *text)
{
    (void)text;
}

bool md_libsvm_takes(size_t rows)
{
    return rows < MOST_ROWS;
}

/* ---- a matrix ---- */

/* Rows as libsvm wants ready-made kernels: the number of the row, from 1, and then its values. */
struct md_libsvm {
    size_t n;
    struct svm_node *nodes; /* [n][n + 2] */
};

static struct svm_node *row_of(const md_libsvm *matrix, size_t i)
{
    return matrix->nodes + i * (matrix->n + 2);
}

static void fill_tile(const md_libsvm *matrix, const double *kernel, size_t first_row,
                      size_t first_column)
{
    const size_t n = matrix->n;
    for (size_t i = first_row; i < n && i < first_row + TILE; i++)
        for (size_t j = first_column > i ? first_column : i; j < n && j < first_column + TILE;
             j++) {
            const double value = kernel[i * n + j];
            row_of(matrix, i)[j + 1] = (struct svm_node){.index = (int)j + 1, .value = value};
            row_of(matrix, j)[i + 1] = (struct svm_node){.index = (int)i + 1, .value = value};
        }
}

medley_status md_libsvm_create(md_libsvm **result, const double *kernel, size_t n,
                               medley_error *error)
{
    MD_OWNED(md_libsvm_free) md_libsvm *matrix = NULL;
    MEDLEY_TRY(md_new(&matrix, 1, sizeof *matrix, error));
    MEDLEY_TRY(md_new_aligned(&matrix->nodes, n * (n + 2), sizeof *matrix->nodes, error));
    matrix->n = n;
    for (size_t i = 0; i < n; i++) {
        row_of(matrix, i)[0] = (struct svm_node){.index = 0, .value = (double)(i + 1)};
        row_of(matrix, i)[n + 1] = (struct svm_node){.index = -1};
    }
    for (size_t i = 0; i < n; i += TILE)
        for (size_t j = i; j < n; j += TILE)
            fill_tile(matrix, kernel, i, j);
    svm_set_print_string_function(say_nothing); /* here, before there are threads */
    *result = md_take(&matrix);
    return MEDLEY_OK;
}

void md_libsvm_free(md_libsvm *matrix)
{
    if (matrix == NULL)
        return;
    free(matrix->nodes);
    free(matrix);
}

/* ---- a machine ---- */

static void take_coefficients(const struct svm_model *model, const md_libsvm_task *task,
                              double *coefficient)
{
    const bool turned = task->classifies && model->label[0] < 0;
    memset(coefficient, 0, task->count * sizeof *coefficient);
    for (int s = 0; s < model->l; s++) {
        const double a = model->sv_coef[0][s];
        coefficient[model->sv_indices[s] - 1] = turned ? -a : a;
    }
}

/* libsvm does not survive a lack of memory: as much as it may take, its cache (in MB) and some
 * arrays for every row, must be there before it begins. */
static medley_status check_memory(double cache, size_t count, medley_error *error)
{
    enum { OF_A_ROW = 1024, SLACK = 1 << 20 };
    MD_OWNED(free) char *as_much = NULL;
    const size_t bytes = (size_t)((cache + 1) * (1 << 20)) + OF_A_ROW * count + SLACK;
    return md_new_aligned(&as_much, bytes, 1, error);
}

medley_status md_libsvm_solve(const md_libsvm *matrix, const md_libsvm_task *task,
                              double *coefficient, medley_error *error)
{
    const size_t count = task->count;
    MD_OWNED(free) struct svm_node **rows = NULL;
    MD_OWNED(free) double *y = NULL;
    MEDLEY_TRY(md_new(&rows, count, sizeof(struct svm_node *), error));
    MEDLEY_TRY(md_new_copy(&y, task->y, count * sizeof *y, error));
    for (size_t i = 0; i < count; i++)
        rows[i] = row_of(matrix, task->rows != NULL ? task->rows[i] : i);
    const double all = 16 + 4e-6 * (double)count * (double)count;
    const struct svm_parameter parameter = {.svm_type = task->classifies ? C_SVC : EPSILON_SVR,
                                            .kernel_type = PRECOMPUTED,
                                            .cache_size = fmin(all, task->cache),
                                            .eps = task->eps,
                                            .C = task->C,
                                            .p = task->tolerance,
                                            .shrinking = count > 1000};
    MEDLEY_TRY(check_memory(parameter.cache_size, count, error));
    const struct svm_problem problem = {.l = (int)count, .y = y, .x = rows};
    struct svm_model *model = svm_train(&problem, &parameter);
    take_coefficients(model, task, coefficient);
    svm_free_and_destroy_model(&model);
    return MEDLEY_OK;
}

/* ---- the problem of one kernel ---- */

/* libsvm stops where no pair of rows has slopes that differ by more than eps; the objective is then
 * within n eps of the least one, by experience far nearer. */
static double stopping_rule(const md_one_kernel *one)
{
    const double eps = one->gap * one->level / (double)one->n;
    return eps < 1e-12 ? 1e-12 : eps < 0.1 ? eps : 0.1;
}

/* It has no use for a place to begin with. */
static medley_status solve_by_libsvm(const md_one_kernel *one, double *rho, double *point,
                                     medley_error *error)
{
    const md_batch_problem *p = one->problem;
    const bool classifies = p->loss->classifies;
    MD_OWNED(md_libsvm_free) md_libsvm *matrix = NULL;
    MEDLEY_TRY(md_libsvm_create(&matrix, one->kernel, one->n, error));
    const md_libsvm_task task = {
        .count = one->n,
        .y = p->y,
        .classifies = classifies,
        .tolerance = classifies ? 0 : p->loss->conjugate(p->loss_state, 0, 1), /* l*(1) at y = 0 */
        .C = 1 / p->strength,
        .eps = stopping_rule(one),
        .cache = INFINITY};
    MEDLEY_TRY(md_libsvm_solve(matrix, &task, rho, error));
    for (size_t i = 0; i < one->n; i++)
        rho[i] *= p->strength;
    memcpy(point, rho, one->n * sizeof *rho);
    return MEDLEY_OK;
}

/* It wants both labels, and numbers rows by int. */
md_one_kernel_solver md_one_kernel_libsvm(const md_batch_problem *problem)
{
    const size_t n = md_packed_rows(problem->packed);
    bool both = !problem->loss->classifies;
    for (size_t i = 1; i < n && !both; i++)
        both = problem->y[i] != problem->y[0];
    return problem->loss->svm && both && md_libsvm_takes(n) ? solve_by_libsvm : NULL;
}

#else

#pragma GCC diagnostic ignored "-Wunused-parameter" /* what follows only refuses */

bool md_libsvm_takes(size_t rows)
{
    return false;
}

medley_status md_libsvm_create(md_libsvm **matrix, const double *kernel, size_t n,
                               medley_error *error)
{
    return md_fail(error, MEDLEY_NOT_SUPPORTED, "Medley was built without libsvm");
}

void md_libsvm_free(md_libsvm *matrix)
{
}

medley_status md_libsvm_solve(const md_libsvm *matrix, const md_libsvm_task *task,
                              double *coefficient, medley_error *error)
{
    return md_fail(error, MEDLEY_NOT_SUPPORTED, "Medley was built without libsvm");
}

md_one_kernel_solver md_one_kernel_libsvm(const md_batch_problem *problem)
{
    return NULL;
}

#endif
