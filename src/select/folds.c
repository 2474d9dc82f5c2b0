/* SPDX-License-Identifier: BSD-3-Clause */
/* Which fold a row is in, and a fold cut out of all rows. */
#include "select/folds.h"

/* Seed 1, the default, gives the parts of "LIST/K", so that a fold can be looked at by hand. */
medley_status md_folds_make(int32_t **part, const medley_dataset *dataset, size_t folds,
                            uint64_t seed, medley_error *error)
{
    const size_t sequences = dataset->sequence_count;
    MD_OWNED(free) int32_t *units = NULL;
    MD_OWNED(free) int32_t *rows = NULL;
    if (folds < 2)
        return md_fail(error, MEDLEY_USAGE, "cross-validation needs at least 2 folds, not %zu",
                       folds);
    MEDLEY_TRY(md_new(&units, sequences > 0 ? sequences : dataset->rows, sizeof *units, error));
    MEDLEY_TRY(md_new(&rows, dataset->rows, sizeof *rows, error));
    MEDLEY_TRY(md_dataset_divide(units, dataset, folds, seed - 1, error));
    for (size_t unit = 0; unit < sequences; unit++)
        for (size_t r = dataset->sequence_start[unit]; r < dataset->sequence_start[unit + 1]; r++)
            rows[r] = units[unit];
    for (size_t r = 0; sequences == 0 && r < dataset->rows; r++)
        rows[r] = units[r];
    *part = md_take(&rows);
    return MEDLEY_OK;
}

medley_status md_fold_cut(medley_dataset **train, medley_dataset **held,
                          const medley_dataset *dataset, const int32_t *part, int32_t fold,
                          medley_error *error)
{
    MD_OWNED(medley_dataset_free) medley_dataset *learnt = NULL;
    MD_OWNED(free) size_t *rows = NULL;
    MEDLEY_TRY(md_new(&rows, 2 * dataset->rows, sizeof *rows, error));
    size_t *others = rows + dataset->rows;
    size_t count = 0;
    size_t other_count = 0;
    for (size_t r = 0; r < dataset->rows; r++)
        if (part[r] == fold)
            others[other_count++] = r;
        else
            rows[count++] = r;
    const md_columns columns = {rows, count};
    MEDLEY_TRY(md_dataset_select(&learnt, dataset, rows, count, &columns, error));
    MEDLEY_TRY(md_dataset_select(held, dataset, others, other_count, &columns, error));
    *train = md_take(&learnt);
    return MEDLEY_OK;
}
