/* SPDX-License-Identifier: BSD-3-Clause */
/* Views in model files. Nothing that is read is believed before it was checked against the bytes
 * that are left and against the rest of the view. */
#include "view/view_internal.h"

void md_view_pack(md_text *out, const md_view *view)
{
    md_pack_text(out, view->name);
    md_pack_text(out, view->group);
    md_pack_text(out, view->table);
    md_pack_u64(out, view->table_columns);
    md_pack_u64(out, view->sparse);
    md_pack_u64(out, view->column_count);
    md_pack_u64(out, view->columns != NULL);
    if (view->columns != NULL)
        md_pack_sizes(out, view->columns, view->column_count);
    md_pack_u64(out, view->factor != NULL);
    if (view->factor != NULL) {
        md_pack_floats(out, view->shift, view->column_count);
        md_pack_floats(out, view->factor, view->column_count);
    }
    md_pack_u64(out, view->steps != NULL);
    if (view->steps != NULL) {
        md_pack_text(out, view->steps);
        md_pack_u64(out, view->height);
        md_pack_u64(out, view->width);
    }
    md_pack_strings(out, &view->names);
    md_pack_u64(out, view->scale);
}

static bool unpack_flag(md_unpack *in)
{
    const uint64_t flag = md_unpack_u64(in);
    in->bad = in->bad || flag > 1;
    return flag == 1;
}

static void unpack_columns(md_view *view, md_unpack *in)
{
    if (!unpack_flag(in))
        return;
    view->columns = md_unpack_sizes(in, view->column_count);
    for (size_t c = 0; view->columns != NULL && c < view->column_count; c++)
        if (view->columns[c] >= view->table_columns ||
            (c > 0 && view->columns[c] <= view->columns[c - 1]))
            in->bad = true;
}

static void unpack_steps(md_view *view, md_unpack *in)
{
    if (!unpack_flag(in))
        return;
    view->steps = md_unpack_text(in);
    view->height = md_unpack_u64(in);
    view->width = md_unpack_u64(in);
    size_t pixels;
    if (__builtin_mul_overflow(view->height, view->width, &pixels) ||
        (pixels != view->table_columns && (view->height > 0 || view->width > 0)))
        in->bad = true;
}

static void unpack_scale(md_view *view, md_unpack *in, bool tells_scale)
{
    const bool scaled = view->factor != NULL;
    const uint64_t scale = tells_scale ? md_unpack_u64(in) : scaled ? MD_SCALE_AUTO : MD_SCALE_NONE;
    in->bad = in->bad || scale >= MD_SCALES || (scale == MD_SCALE_NONE) == scaled;
    view->scale = in->bad ? MD_SCALE_AUTO : (md_scale)scale;
}

/* Do the parts fit together? */
static bool is_whole(const md_view *view)
{
    if (view->names.count > 0 && view->names.count != md_view_input_columns(view))
        return false;
    if (view->steps == NULL)
        return view->columns != NULL || view->column_count == view->table_columns;
    md_steps steps;
    size_t columns;
    return view->columns == NULL && !view->sparse &&
           md_view_parse_steps(&steps, &columns, view, NULL) == MEDLEY_OK &&
           steps.step[0].input_columns == view->table_columns && columns == view->column_count;
}

medley_status md_view_unpack(md_view *view, md_unpack *in, bool tells_scale)
{
    *view = (md_view){0};
    view->name = md_unpack_text(in);
    view->group = md_unpack_text(in);
    view->table = md_unpack_text(in);
    view->table_columns = md_unpack_u64(in);
    view->sparse = unpack_flag(in);
    view->column_count = md_unpack_u64(in);
    if (view->table_columns > INT32_MAX || view->column_count > INT32_MAX)
        in->bad = true;
    unpack_columns(view, in);
    if (unpack_flag(in)) {
        view->shift = md_unpack_floats(in, view->column_count);
        view->factor = md_unpack_floats(in, view->column_count);
    }
    unpack_steps(view, in);
    md_unpack_strings(in, &view->names);
    unpack_scale(view, in, tells_scale);
    in->bad = in->bad || !is_whole(view);
    if (!in->bad)
        return MEDLEY_OK;
    md_view_clear(view);
    return in->no_memory ? MEDLEY_FAILED : MEDLEY_BAD_INPUT;
}
