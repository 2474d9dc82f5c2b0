/* SPDX-License-Identifier: BSD-3-Clause */
/* Reading the sections of kernels with their views, and of support rows. */
#include "file/file.h"

enum { WITH_SCALE = 6 }; /* the first version whose views say what kind their scaling is of */

static medley_status read_view(md_loader *loader, md_unpack *in, size_t v)
{
    md_bank *bank = &loader->model->bank;
    md_view *view = &bank->views[v];
    bank->view_count = v + 1;
    if (md_view_unpack(view, in, loader->version >= WITH_SCALE) < 0 || in->bad)
        return md_fail_damaged(loader, "views");
    if (md_unpack_u64(in) != 0)
        bank->origin[v] = md_unpack_floats(in, view->column_count);
    return in->bad || (view->sparse && bank->origin[v] != NULL) ? md_fail_damaged(loader, "views")
                                                                : MEDLEY_OK;
}

static medley_status read_kernel(md_loader *loader, md_unpack *in, size_t m)
{
    md_bank *bank = &loader->model->bank;
    md_kernel *kernel = &bank->kernels[m];
    char *name = md_unpack_text(in);
    const uint64_t origin =
        md_unpack_u64(in); /* 0: a kernel by its name, 1: values, 2: distances */
    const bool precomputed = origin > 0;
    const double gamma = origin == 2 ? md_unpack_f64(in) : 1;
    if (name == NULL || origin > 2 || !(gamma > 0) || !isfinite(gamma)) {
        free(name);
        return md_fail_damaged(loader, "kernels");
    }
    bank->count = m + 1;
    if (precomputed) {
        *kernel = (md_kernel){.name = name, .is_distance = origin == 2, .gamma = gamma};
    } else {
        medley_error inner = {0};
        const medley_status status = md_kernel_from_name(kernel, name, &inner);
        free(name);
        if (status < 0)
            return md_fail_at(loader->error,
                              status == MEDLEY_FAILED ? status : MEDLEY_NOT_SUPPORTED, loader->path,
                              0, "the model's kernel cannot be used: %s", inner.message);
    }
    kernel->view = md_unpack_u64(in);
    const uint64_t norm = md_unpack_u64(in);
    const bool primal = md_unpack_u64(in) != 0;
    kernel->factor = md_unpack_f64(in);
    kernel->grand_mean = md_unpack_f64(in);
    if (md_unpack_u64(in) != 0)
        kernel->column_mean = md_unpack_floats(in, bank->training_rows);
    if (in->bad || norm > MD_NORM_CENTER || (!precomputed && kernel->view >= bank->view_count) ||
        (norm == MD_NORM_CENTER) != (kernel->column_mean != NULL) || !isfinite(kernel->factor) ||
        !isfinite(kernel->grand_mean))
        return md_fail_damaged(loader, "kernels");
    kernel->norm = (md_norm)norm;
    kernel->primal = primal;
    if (primal && (precomputed || bank->views[kernel->view].sparse || norm == MD_NORM_CENTER ||
                   !kernel->class->has_primal_form))
        return md_fail_damaged(loader, "kernels");
    return MEDLEY_OK;
}

medley_status md_load_kernels(md_loader *loader)
{
    md_unpack *in = &loader->sections[MD_SECTION_KERNELS];
    md_bank *bank = &loader->model->bank;
    bank->training_rows = md_unpack_u64(in);
    const size_t views = md_unpack_count(in, 64);
    MEDLEY_TRY(md_new(&bank->views, views, sizeof *bank->views, loader->error));
    MEDLEY_TRY(md_new(&bank->origin, views, sizeof(float *), loader->error));
    for (size_t v = 0; v < views; v++)
        MEDLEY_TRY(read_view(loader, in, v));
    const size_t count = md_unpack_count(in, 56);
    MEDLEY_TRY(md_new(&bank->kernels, count, sizeof *bank->kernels, loader->error));
    for (size_t m = 0; m < count; m++)
        MEDLEY_TRY(read_kernel(loader, in, m));
    return md_unpack_done(in) ? MEDLEY_OK : md_fail_damaged(loader, "kernels");
}

/* Row starts that never fall and columns that rise within each row. */
static bool is_well_formed(const md_matrix *matrix, size_t entries)
{
    if (matrix->start[0] != 0 || matrix->start[matrix->rows] != entries)
        return false;
    for (size_t r = 0; r < matrix->rows; r++)
        if (matrix->start[r] > matrix->start[r + 1])
            return false;
    for (size_t r = 0; r < matrix->rows; r++)
        for (size_t e = matrix->start[r]; e < matrix->start[r + 1]; e++)
            if (matrix->index[e] < 0 || (size_t)matrix->index[e] >= matrix->columns ||
                (e > matrix->start[r] && matrix->index[e] <= matrix->index[e - 1]))
                return false;
    return true;
}

static bool read_sparse(md_matrix *matrix, md_unpack *in)
{
    const size_t entries = md_unpack_count(in, 8);
    matrix->start = md_unpack_sizes(in, matrix->rows + 1);
    matrix->index = (int32_t *)md_unpack_u32s(in, entries);
    matrix->value = md_unpack_floats(in, entries);
    return !in->bad && is_well_formed(matrix, entries);
}

static bool read_matrix(md_matrix *matrix, const md_view *view, size_t rows, md_unpack *in)
{
    const uint64_t columns = md_unpack_u64(in);
    *matrix = (md_matrix){.rows = rows, .columns = columns};
    if (in->bad || columns != view->column_count)
        return false;
    if (view->sparse)
        return read_sparse(matrix, in);
    if (columns > 0 && rows > SIZE_MAX / 4 / columns)
        return false;
    matrix->dense = md_unpack_floats(in, rows * columns);
    return !in->bad;
}

medley_status md_load_prepared(md_loader *loader)
{
    md_unpack *in = &loader->sections[MD_SECTION_POINTS];
    medley_model *model = loader->model;
    const md_bank *bank = &model->bank;
    model->support_count = md_unpack_count(in, 8);
    model->support_row = md_unpack_sizes(in, model->support_count);
    for (size_t r = 0; r < model->support_count; r++)
        if (in->bad || model->support_row[r] >= bank->training_rows)
            return md_fail_damaged(loader, "support rows");
    MEDLEY_TRY(md_prepared_init(&model->prepared, model->support_count, bank->view_count,
                                bank->count, loader->error));
    md_prepared *prepared = &model->prepared;
    for (size_t v = 0; v < bank->view_count; v++) {
        prepared->used[v] = md_unpack_u64(in) != 0;
        if (!prepared->used[v])
            continue;
        if (!read_matrix(&prepared->views[v], &bank->views[v], prepared->rows, in))
            return md_fail_damaged(loader, "points");
        prepared->norm2[v] = md_unpack_floats(in, prepared->rows);
        if (md_unpack_u64(in) != 0)
            prepared->lift[v] = md_unpack_floats(in, prepared->rows);
        if (in->bad || (prepared->lift[v] != NULL) != (bank->origin[v] != NULL))
            return md_fail_damaged(loader, "points");
    }
    for (size_t m = 0; m < bank->count; m++) {
        const md_kernel *kernel = &bank->kernels[m];
        if (md_unpack_u64(in) != 0)
            prepared->inverse_root[m] = md_unpack_floats(in, prepared->rows);
        if (in->bad || (kernel->norm == MD_NORM_DIAG) != (prepared->inverse_root[m] != NULL) ||
            (kernel->class != NULL && !md_kernel_has_weights(kernel) &&
             !prepared->used[kernel->view]) ||
            (kernel->norm == MD_NORM_CENTER && prepared->rows != bank->training_rows))
            return md_fail_damaged(loader, "points");
    }
    return md_unpack_done(in) ? md_prepared_index(prepared, loader->error)
                              : md_fail_damaged(loader, "points");
}
