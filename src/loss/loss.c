/* SPDX-License-Identifier: BSD-3-Clause */
#include "loss/loss.h"

const md_loss *const md_losses[] = {
#define MD_LOSS(name) &md_loss_##name,
#include "loss/losses.def"
#undef MD_LOSS
    NULL};

const md_loss *md_loss_find(const char *name)
{
    for (size_t i = 0; md_losses[i] != NULL; i++)
        if (strcmp(md_losses[i]->name, name) == 0)
            return md_losses[i];
    return NULL;
}

medley_status md_inference_init(md_inference *inference, md_space space, size_t longest,
                                medley_error *error)
{
    const size_t parts = space.structure->part_count(space.shape, longest);
    const size_t chosen = space.structure->parts_per_output(space.shape, longest);
    md_delta *delta = &inference->delta;
    md_pool *pool = &inference->pool;
    *inference = (md_inference){.space = space};
    MEDLEY_TRY(md_pool_new(pool, &inference->score, parts, sizeof *inference->score, error));
    MEDLEY_TRY(md_pool_new(pool, &inference->output, longest, sizeof *inference->output, error));
    MEDLEY_TRY(md_pool_new(pool, &inference->parts, 2 * chosen, sizeof *inference->parts, error));
    MEDLEY_TRY(md_pool_new(pool, &delta->part, parts, sizeof *delta->part, error));
    MEDLEY_TRY(md_pool_new(pool, &delta->coefficient, parts, sizeof *delta->coefficient, error));
    MEDLEY_TRY(md_pool_new(pool, &delta->row, longest, sizeof *delta->row, error));
    MEDLEY_TRY(md_pool_new(pool, &delta->start, longest + 1, sizeof *delta->start, error));
    MEDLEY_TRY(md_pool_new(pool, &delta->dense, parts, sizeof *delta->dense, error));
    const size_t floats = space.structure->workspace_size(space.shape, longest);
    return md_workspace_reserve(&inference->workspace, floats) != 0
               ? md_fail_memory(error, floats * sizeof(float))
               : MEDLEY_OK;
}

void md_inference_clear(md_inference *inference)
{
    md_pool_clear(&inference->pool);
    md_workspace_clear(&inference->workspace);
    *inference = (md_inference){0};
}

void md_delta_list(md_delta *delta, size_t parts, float least)
{
    delta->count = 0;
    for (size_t p = 0; p < parts; p++) {
        if (fabsf(delta->dense[p]) < least || delta->dense[p] == 0) {
            delta->dense[p] = 0; /* list and full vector are the same */
            continue;
        }
        delta->part[delta->count] = (uint32_t)p;
        delta->coefficient[delta->count++] = delta->dense[p];
    }
}

void md_delta_group_rows(md_delta *delta, size_t length, size_t width)
{
    const size_t row_parts = length * width;
    size_t i = 0;
    delta->row_count = 0;
    while (i < delta->count && delta->part[i] < row_parts) {
        const size_t row = delta->part[i] / width;
        const size_t end = (row + 1) * width;
        delta->row[delta->row_count] = (uint32_t)row;
        delta->start[delta->row_count++] = (uint32_t)i;
        while (i < delta->count && delta->part[i] < end)
            i++;
    }
    delta->start[delta->row_count] = (uint32_t)i;
}

double md_loss_gradient(const md_loss *loss, md_inference *inference, size_t length,
                        const int32_t *gold)
{
    const double value = loss->evaluate(inference, length, gold, true);
    if (inference->delta.count == 0)
        inference->delta.row_count = inference->delta.start[0] = 0;
    else
        md_delta_group_rows(&inference->delta, length, md_row_width(inference->space, length));
    return value;
}

double md_loss_offset(md_inference *inference, size_t length, const int32_t *gold,
                      const float *score, double value, double *rounding)
{
    const md_structure *structure = inference->space.structure;
    const md_shape shape = inference->space.shape;
    const md_delta *delta = &inference->delta;
    *rounding = 0;
    if (value == 0 && delta->count == 0)
        return 0;
    const size_t count = structure->parts_of(shape, length, gold, inference->parts);
    double product = 0;
    *rounding = fabs(value);
    for (size_t i = 0; i < count; i++)
        *rounding += fabs((double)score[inference->parts[i]]);
    for (size_t i = 0; i < delta->count; i++) {
        const double x = (double)delta->coefficient[i] * (double)score[delta->part[i]];
        product += x;
        *rounding += fabs(x);
    }
    return value - product;
}

/* Moves the parts of a row, those from first to end, to `used`, without those below least_part, and
 * returns where they end. The parts of a row add up to 0, and do so afterwards: what the small ones
 * had is taken from the right one. Else each step would lift the right part by more than it lowers
 * the others, by up to a thousandth for each head that a word could have, again and again. The
 * largest of the others stays, however small it is: a row of many heads, none of which is
 * likely, has all to learn. */
static size_t keep_parts(md_delta *delta, size_t first, size_t end, size_t used, size_t right,
                         float least_part)
{
    float most = 0;
    for (size_t i = first; i < end; i++)
        if (delta->part[i] != right)
            most = fmaxf(most, fabsf(delta->coefficient[i]));
    const float least = fminf(least_part, most);
    float small = 0;
    size_t of_right = SIZE_MAX;
    for (size_t i = first; i < end; i++) {
        const uint32_t part = delta->part[i];
        if (part == right) {
            of_right = used;
        } else if (fabsf(delta->coefficient[i]) < least) {
            small += delta->coefficient[i];
            delta->dense[part] = 0;
            continue;
        }
        delta->part[used] = part;
        delta->coefficient[used++] = delta->coefficient[i];
    }
    if (of_right != SIZE_MAX)
        delta->dense[right] = delta->coefficient[of_right] += small;
    return used;
}

size_t md_delta_drop_rows(md_delta *delta, size_t width, const int32_t *gold, float least,
                          float least_part)
{
    const size_t before = delta->row_count;
    size_t rows = 0;
    size_t parts = 0; /* left out of rows that stay */
    size_t used = 0;
    for (size_t r = 0; r < delta->row_count; r++) {
        const size_t row = delta->row[r];
        const size_t first = delta->start[r];
        const size_t end = delta->start[r + 1];
        if (fabsf(delta->dense[row * width + (size_t)gold[row]]) < least) {
            memset(delta->dense + row * width, 0, width * sizeof *delta->dense);
            continue;
        }
        delta->row[rows] = (uint32_t)row;
        delta->start[rows++] = (uint32_t)used;
        const size_t before_row = used;
        used = keep_parts(delta, first, end, used, row * width + (size_t)gold[row], least_part);
        parts += end - first - (used - before_row);
    }
    const size_t rest = delta->start[delta->row_count];
    memmove(delta->part + used, delta->part + rest, (delta->count - rest) * sizeof(uint32_t));
    memmove(delta->coefficient + used, delta->coefficient + rest,
            (delta->count - rest) * sizeof(float));
    delta->count -= rest - used;
    delta->row_count = rows;
    delta->start[rows] = (uint32_t)used;
    return before - rows + parts;
}
