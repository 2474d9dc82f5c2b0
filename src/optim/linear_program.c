/* SPDX-License-Identifier: BSD-3-Clause */
/* Linear programs by Clp of COIN-OR: its dual simplex method goes on from the old basis when rows
 * are added. All that is known of Clp is in this file. */
#include "optim/linear_program.h"

#ifdef MEDLEY_WITH_CLP

#include <coin/Clp_C_Interface.h>
#include <float.h>

struct md_linear_program {
    Clp_Simplex *model;
    size_t columns, rows, elements;
    int *index;      /* [columns] scratch */
    double *element; /* [columns] scratch */
};

const char *md_linear_program_missing(void)
{
    return NULL;
}

/* Clp's infinity is the largest number. */
static double bound_of(double x)
{
    return isinf(x) ? copysign(DBL_MAX, x) : x;
}

/* Clp does not survive a lack of memory: as much as it may take for the matrix, its copies by rows
 * and by scale and its factors must be there before it begins. */
static medley_status check_memory(const md_linear_program *program, size_t of_an_element,
                                  medley_error *error)
{
    enum { OF_A_LINE = 2048, SLACK = 4 << 20 };
    MD_OWNED(free) char *as_much = NULL;
    const size_t lines = program->columns + program->rows;
    return md_new_aligned(&as_much, of_an_element * program->elements + OF_A_LINE * lines + SLACK,
                          1, error);
}

medley_status md_linear_program_create(md_linear_program **result, const double *cost,
                                       const double *low, const double *high, size_t columns,
                                       medley_error *error)
{
    MD_OWNED(md_linear_program_free) md_linear_program *program = NULL;
    MEDLEY_TRY(md_new(&program, 1, sizeof *program, error));
    MEDLEY_TRY(md_new(&program->index, columns, sizeof *program->index, error));
    MEDLEY_TRY(md_new(&program->element, columns, sizeof *program->element, error));
    program->columns = columns;
    MEDLEY_TRY(check_memory(program, 0, error));
    program->model = Clp_newModel();
    if (program->model == NULL)
        return md_fail_memory(error, columns * sizeof *program->element);
    Clp_setLogLevel(program->model, 0);
    Clp_resize(program->model, 0, (int)columns);
    for (size_t c = 0; c < columns; c++) {
        Clp_objective(program->model)[c] = cost[c];
        Clp_columnLower(program->model)[c] = bound_of(low[c]);
        Clp_columnUpper(program->model)[c] = bound_of(high[c]);
    }
    *result = md_take(&program);
    return MEDLEY_OK;
}

void md_linear_program_free(md_linear_program *program)
{
    if (program == NULL)
        return;
    if (program->model != NULL)
        Clp_deleteModel(program->model);
    free(program->index);
    free(program->element);
    free(program);
}

medley_status md_linear_program_add(md_linear_program *program, const double *row, double low,
                                    double high, medley_error *error)
{
    const double least = bound_of(low);
    const double most = bound_of(high);
    int count = 0;
    for (size_t c = 0; c < program->columns; c++)
        if (row[c] != 0) {
            program->index[count] = (int)c;
            program->element[count++] = row[c];
        }
    const CoinBigIndex starts[2] = {0, count};
    program->elements += (size_t)count;
    program->rows++;
    MEDLEY_TRY(check_memory(program, 48, error));
    Clp_addRows(program->model, 1, &least, &most, starts, program->index, program->element);
    return MEDLEY_OK;
}

void md_linear_program_limit(md_linear_program *program, size_t column, double low, double high)
{
    Clp_columnLower(program->model)[column] = bound_of(low);
    Clp_columnUpper(program->model)[column] = bound_of(high);
}

medley_status md_linear_program_solve(md_linear_program *program, double *x, medley_error *error)
{
    enum { OPTIMAL, NO_POINT, NO_END };
    MEDLEY_TRY(check_memory(program, 128, error));
    /* The dual method gives free variables bounds of its own, far away: where the least points have
     * no end these cost digits. The primal method, which has little or nothing left to do, brings
     * them back, and takes over where the dual one has failed. */
    Clp_dual(program->model, 0);
    Clp_primal(program->model, 0);
    const int status = Clp_status(program->model);
    if (status == NO_POINT || status == NO_END)
        return md_fail(error, MEDLEY_BAD_INPUT, "the linear program %s",
                       status == NO_POINT ? "has bounds that no point meets"
                                          : "has no least value: its cost falls without end");
    if (status != OPTIMAL)
        return md_fail(error, MEDLEY_FAILED, "the linear program could not be solved (Clp: %d)",
                       status);
    memcpy(x, Clp_primalColumnSolution(program->model), program->columns * sizeof *x);
    return MEDLEY_OK;
}

void md_linear_program_prices(const md_linear_program *program, double *price)
{
    for (size_t r = 0; r < program->rows; r++)
        price[r] = fabs(Clp_dualRowSolution(program->model)[r]);
}

#else

#pragma GCC diagnostic ignored "-Wunused-parameter" /* what follows only refuses */

const char *md_linear_program_missing(void)
{
    return "coinor-libclp-dev";
}

static medley_status refuse(medley_error *error)
{
    return md_fail(error, MEDLEY_NOT_SUPPORTED,
                   "Medley was built without a library for linear programs (%s)",
                   md_linear_program_missing());
}

medley_status md_linear_program_create(md_linear_program **program, const double *cost,
                                       const double *low, const double *high, size_t columns,
                                       medley_error *error)
{
    return refuse(error);
}

void md_linear_program_free(md_linear_program *program)
{
}

medley_status md_linear_program_add(md_linear_program *program, const double *row, double low,
                                    double high, medley_error *error)
{
    return refuse(error);
}

void md_linear_program_limit(md_linear_program *program, size_t column, double low, double high)
{
}

medley_status md_linear_program_solve(md_linear_program *program, double *x, medley_error *error)
{
    return refuse(error);
}

void md_linear_program_prices(const md_linear_program *program, double *price)
{
}

#endif
