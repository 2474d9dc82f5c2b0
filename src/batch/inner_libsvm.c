/* SPDX-License-Identifier: BSD-3-Clause */
/* One kernel by libsvm, the solver that the papers on multiple kernel learning wrap: C_SVC for the
 * hinge loss, EPSILON_SVR for the epsilon-insensitive one. Its constant is 1/C here, and its
 * coefficients times C are rho. All that is known of libsvm is in this file. */
#include "batch/inner.h"

#ifdef MEDLEY_WITH_LIBSVM

#include "base/memory.h"
#include <libsvm/svm.h>
#include <stdlib.h>
#include <string.h>

static void say_nothing(const char *text)
{
    (void)text;
}

/* Rows as libsvm wants ready-made kernels: the number of the row, from 1, and then its values. */
static void fill_nodes(const md_inner *inner, struct svm_node *nodes, struct svm_node **rows)
{
    const size_t n = inner->n;
    for (size_t i = 0; i < n; i++) {
        rows[i] = nodes + i * (n + 2);
        rows[i][0] = (struct svm_node){.index = 0, .value = (double)(i + 1)};
        rows[i][n + 1] = (struct svm_node){.index = -1};
    }
    for (size_t i = 0; i < n; i++)
        for (size_t j = i; j < n; j++) {
            const double value = inner->kernel[i * n + j];
            rows[i][j + 1] = (struct svm_node){.index = (int)j + 1, .value = value};
            rows[j][i + 1] = (struct svm_node){.index = (int)i + 1, .value = value};
        }
}

/* libsvm stops where no pair of rows has slopes that differ by more than eps; the objective is then
 * within n eps of the least one, by experience far nearer. */
static double stopping_rule(const md_inner *inner)
{
    const double eps = inner->gap * inner->level / (double)inner->n;
    return eps < 1e-12 ? 1e-12 : eps < 0.1 ? eps : 0.1;
}

static void take_rho(const struct svm_model *model, const md_inner *inner, double *rho)
{
    const bool turned = inner->problem->loss->classifies && model->label[0] < 0;
    memset(rho, 0, inner->n * sizeof *rho);
    for (int s = 0; s < model->l; s++) {
        const double a = inner->problem->C * model->sv_coef[0][s];
        rho[model->sv_indices[s] - 1] = turned ? -a : a;
    }
}

/* It has no use for a place to begin with. */
static medley_status solve_by_libsvm(const md_inner *inner, double *rho, double *point,
                                     medley_error *error)
{
    const md_batch_problem *p = inner->problem;
    const size_t n = inner->n;
    medley_status status = MEDLEY_OK;
    struct svm_node *nodes = md_alloc_aligned(n * (n + 2), sizeof *nodes);
    struct svm_node **rows = md_calloc(n, sizeof(struct svm_node *));
    double *y = md_copy(p->y, n * sizeof *y);
    if (nodes == NULL || rows == NULL || y == NULL) {
        status = md_fail_memory(error, n * (n + 2) * sizeof *nodes);
        goto done;
    }
    fill_nodes(inner, nodes, rows);
    const bool classifies = p->loss->classifies;
    const struct svm_parameter parameter = {
        .svm_type = classifies ? C_SVC : EPSILON_SVR,
        .kernel_type = PRECOMPUTED,
        .cache_size = 16 + 4e-6 * (double)n * (double)n, /* all of it */
        .eps = stopping_rule(inner),
        .C = 1 / p->C,
        .p = classifies ? 0 : p->loss->conjugate(p->loss_state, 0, 1), /* l*(1) at y = 0 */
        .shrinking = n > 1000};
    const struct svm_problem problem = {.l = (int)n, .y = y, .x = rows};
    svm_set_print_string_function(say_nothing);
    struct svm_model *model = svm_train(&problem, &parameter);
    take_rho(model, inner, rho);
    memcpy(point, rho, n * sizeof *rho);
    svm_free_and_destroy_model(&model);
done:
    free(nodes);
    free(rows);
    free(y);
    return status;
}

/* It wants both labels, and numbers rows by int. */
md_inner_solver md_inner_libsvm(const md_batch_problem *problem)
{
    const size_t n = md_store_rows(problem->store);
    const char *loss = problem->loss->name;
    bool both = strcmp(loss, "epsilon") == 0;
    for (size_t i = 1; i < n && strcmp(loss, "hinge") == 0; i++)
        both = both || problem->y[i] != problem->y[0];
    return both && n < 30000 ? solve_by_libsvm : NULL;
}

#else

md_inner_solver md_inner_libsvm(const md_batch_problem *problem)
{
    (void)problem;
    return NULL;
}

#endif
