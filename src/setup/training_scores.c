/* SPDX-License-Identifier: BSD-3-Clause */
/* What a model predicts of the rows that it was learnt from, on its own way of computing. */
#include "setup/setup.h"

#include "model/model.h"

/* The training rows as the model's bank sees them. */
static medley_status prepare_rows(md_prepared *rows, const medley_model *model,
                                  const md_problem *problem, const md_coefficients *plain,
                                  medley_error *error)
{
    const size_t n = problem->train->rows;
    MD_CLEARED(md_pool_clear) md_pool pool = {0};
    md_prepared_choice choice = {.bank = &problem->bank, .subset = &model->bank, .row_count = n};
    size_t *keep = NULL;
    size_t *all = NULL;
    MEDLEY_TRY(md_pool_new(&pool, &keep, problem->bank.count, sizeof *keep, error));
    MEDLEY_TRY(md_pool_new(&pool, &all, n, sizeof *all, error));
    for (size_t m = 0, next = 0; m < problem->bank.count; m++)
        if (plain->body[m] != NULL && plain->norm[m] > 0)
            keep[next++] = m;
    for (size_t r = 0; r < n; r++)
        all[r] = r;
    choice.keep = keep;
    choice.rows = all;
    MEDLEY_TRY(md_prepared_subset(rows, &problem->prepared, &choice, error));
    for (size_t k = 0; k < model->bank.count; k++) {
        rows->precomputed[k] = problem->prepared.precomputed[keep[k]];
        rows->precomputed_float64[k] = problem->prepared.precomputed_float64[keep[k]];
    }
    return MEDLEY_OK;
}

medley_status md_model_score_training(double *scores, const medley_model *model,
                                      const md_problem *problem, const md_coefficients *plain,
                                      medley_error *error)
{
    MD_CLEARED(md_prepared_clear) md_prepared rows = {0};
    MEDLEY_TRY(prepare_rows(&rows, model, problem, plain, error));
    const md_machine machine = {.threads = problem->threads};
    return md_model_score_rows(model, &rows, &machine, scores, error);
}
