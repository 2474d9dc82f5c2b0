/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows that are gathered again and again, other ones each time: what is asked for once is used for
 * all of them, since the system takes longer to hand out memory than it takes to copy some rows.
 * Sparse rows, which have any length, are gathered anew. */
#include "gram/prepared_rows.h"

#include "base/parallel.h"

enum { SOME = 8 };                        /* rows that a thread copies at a time */
static const double WORTH_A_THREAD = 4e3; /* values */

static medley_status make_floats(float **made, const float *from, size_t most, medley_error *error)
{
    return from != NULL ? md_new(made, most, sizeof **made, error) : MEDLEY_OK;
}

static medley_status make_room(md_prepared *made, const md_prepared *prepared, size_t most,
                               medley_error *error)
{
    const size_t kernels = prepared->kernel_count;
    MEDLEY_TRY(md_prepared_init(made, most, prepared->view_count, kernels, error));
    for (size_t v = 0; v < prepared->view_count; v++) {
        const md_matrix *view = &prepared->views[v];
        if (view->dense != NULL)
            MEDLEY_TRY(md_matrix_init_dense(&made->views[v], most, view->columns, error));
        made->used[v] = prepared->used[v];
        MEDLEY_TRY(make_floats(&made->norm2[v], prepared->norm2[v], most, error));
        MEDLEY_TRY(make_floats(&made->lift[v], prepared->lift[v], most, error));
    }
    for (size_t m = 0; m < kernels; m++) {
        MEDLEY_TRY(make_floats(&made->inverse_root[m], prepared->inverse_root[m], most, error));
        made->precomputed[m] = prepared->precomputed[m];
        made->precomputed_float64[m] = prepared->precomputed_float64[m];
    }
    return MEDLEY_OK;
}

struct copying {
    md_prepared *to;
    const md_prepared *from;
    const size_t *rows;
};

static void copy_floats(float *to, const float *from, const struct copying *copying, size_t first,
                        size_t end)
{
    for (size_t r = first; from != NULL && r < end; r++)
        to[r] = from[copying->rows[r]];
}

static void copy_some(void *context, size_t item, size_t worker)
{
    (void)worker;
    const struct copying *copying = context;
    const md_prepared *from = copying->from;
    const size_t first = item * SOME;
    const size_t end = md_min(first + SOME, copying->to->rows);
    for (size_t v = 0; v < from->view_count; v++) {
        const float *dense = from->views[v].dense;
        const size_t columns = from->views[v].columns;
        for (size_t r = first; dense != NULL && r < end; r++)
            memcpy(copying->to->views[v].dense + r * columns, dense + copying->rows[r] * columns,
                   columns * sizeof *dense);
        copy_floats(copying->to->norm2[v], from->norm2[v], copying, first, end);
        copy_floats(copying->to->lift[v], from->lift[v], copying, first, end);
    }
    for (size_t m = 0; m < from->kernel_count; m++)
        copy_floats(copying->to->inverse_root[m], from->inverse_root[m], copying, first, end);
}

static medley_status gather_sparse(md_prepared *subset, const md_prepared *prepared,
                                   const size_t *rows, size_t count, medley_error *error)
{
    for (size_t v = 0; v < prepared->view_count; v++) {
        const md_matrix *view = &prepared->views[v];
        if (!md_matrix_is_sparse(view))
            continue;
        md_matrix_clear(&subset->views[v]);
        md_matrix_clear(&subset->transposed[v]);
        MEDLEY_TRY(md_matrix_gather_sparse(&subset->views[v], view, rows, count, NULL,
                                           view->columns, error));
    }
    return MEDLEY_OK;
}

static size_t values_of_a_row(const md_prepared *prepared)
{
    size_t values = 0;
    for (size_t v = 0; v < prepared->view_count; v++)
        values += prepared->views[v].dense != NULL ? prepared->views[v].columns : 0;
    return values;
}

medley_status md_prepared_gather_again(md_prepared *subset, const md_prepared *prepared,
                                       const md_some_rows *some, medley_error *error)
{
    if (subset->inverse_root == NULL) {
        MD_CLEARED(md_prepared_clear) md_prepared made = {0};
        MEDLEY_TRY(make_room(&made, prepared, some->most, error));
        *subset = md_take(&made);
    }
    subset->rows = some->count;
    for (size_t v = 0; v < prepared->view_count; v++)
        subset->views[v].rows = some->count;
    subset->precomputed_row = some->rows;
    struct copying copying = {.to = subset, .from = prepared, .rows = some->rows};
    const double work = (double)some->count * (double)values_of_a_row(prepared);
    md_parallel_for(md_threads_for(some->threads, work, WORTH_A_THREAD),
                    md_pieces(some->count, SOME), copy_some, &copying);
    return gather_sparse(subset, prepared, some->rows, some->count, error);
}
