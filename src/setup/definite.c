/* SPDX-License-Identifier: BSD-3-Clause */
/* Certificates of online methods are true of kernels that are positive semi-definite: the squared
 * norm of a block may be negative otherwise, and no objective is bounded from below. Most kernels
 * are known to be; of the others the eigenvalues are looked at. */
#include "setup/setup.h"

#include "packed/packed.h"

enum { MOST_ROWS = 20000 }; /* of which eigenvalues are found in reasonable time */

/* keep[count]: kernels that may be something else. */
static size_t list_doubtful(size_t *keep, const md_bank *bank)
{
    size_t count = 0;
    for (size_t m = 0; m < bank->count; m++) {
        const md_kernel *kernel = &bank->kernels[m];
        if (kernel->class != NULL ? !kernel->class->positive_definite : !kernel->sound)
            keep[count++] = m;
    }
    return count;
}

/* All training rows as those of the doubtful kernels alone. rows[] outlives them. */
static medley_status prepare(md_prepared *prepared, const md_problem *problem,
                             md_prepared_choice *choice, size_t *rows, medley_error *error)
{
    for (size_t r = 0; r < choice->row_count; r++)
        rows[r] = r;
    choice->rows = rows;
    MEDLEY_TRY(md_prepared_subset(prepared, &problem->prepared, choice, error));
    for (size_t k = 0; k < choice->subset->count; k++) {
        prepared->precomputed[k] = problem->prepared.precomputed[choice->keep[k]];
        prepared->precomputed_float64[k] = problem->prepared.precomputed_float64[choice->keep[k]];
    }
    return MEDLEY_OK;
}

static medley_status check(const md_problem *problem, const size_t *keep, size_t count,
                           const char *remedy, medley_error *error)
{
    const md_bank *bank = &problem->bank;
    const size_t n = problem->prepared.rows;
    MD_CLEARED(md_bank_clear) md_bank subset = {0};
    MD_CLEARED(md_prepared_clear) md_prepared prepared = {0};
    MD_OWNED(md_packed_free) md_packed *packed = NULL;
    MD_OWNED(free) size_t *rows = NULL;
    md_packed_defect defect;
    const md_packed_options options = {.threads = problem->threads,
                                       .memory = md_problem_memory(problem)};
    MEDLEY_TRY(md_new(&rows, n, sizeof *rows, error));
    MEDLEY_TRY(md_bank_subset(&subset, bank, keep, count, error));
    md_prepared_choice choice = {.bank = bank, .subset = &subset, .keep = keep, .row_count = n};
    MEDLEY_TRY(prepare(&prepared, problem, &choice, rows, error));
    MEDLEY_TRY(md_packed_create(&packed, &subset, &prepared, &options, error));
    MEDLEY_TRY(md_packed_find_defect(packed, &defect, error));
    if (defect.kernel == count)
        return MEDLEY_OK;
    return md_fail_at(error, MEDLEY_BAD_INPUT, problem->train->source, 0,
                      "kernel '%s' is not positive semi-definite: its eigenvalues go from %.3g to "
                      "%.3g, and nothing bounds the objective; %s",
                      subset.kernels[defect.kernel].name, defect.least, defect.most, remedy);
}

medley_status md_check_definite(md_problem *problem, const char *remedy, medley_error *error)
{
    MD_OWNED(free) size_t *keep = NULL;
    MEDLEY_TRY(md_new(&keep, problem->bank.count, sizeof *keep, error));
    const size_t count = list_doubtful(keep, &problem->bank);
    if (count == 0 || problem->is_definite)
        return MEDLEY_OK;
    if (problem->prepared.rows > MOST_ROWS)
        return md_fail(error, MEDLEY_NOT_SUPPORTED,
                       "kernel '%s' may not be positive semi-definite, which certificates need, "
                       "and with more than %d rows that is not checked; %s",
                       problem->bank.kernels[keep[0]].name, MOST_ROWS, remedy);
    MEDLEY_TRY(check(problem, keep, count, remedy, error));
    problem->is_definite = true;
    return MEDLEY_OK;
}
