/* SPDX-License-Identifier: BSD-3-Clause */
/* Gradients as an explicit block sees them: the parts of its kind, group by group, and their
 * length. */
#include "block/explicit_internal.h"

/* Labels of rows: the gradient has them row by row. */
static void for_every_row(const explicit_block *x, const md_gradient *gradient,
                          void (*use)(void *context, size_t row, const struct slice *slice),
                          void *context)
{
    const md_delta *delta = gradient->delta;
    for (size_t r = 0; r < delta->row_count; r++) {
        const size_t first_part = delta->row[r] * x->width;
        const size_t start = delta->start[r];
        const struct slice slice = {.dense = delta->dense + first_part,
                                    .part = delta->part + start,
                                    .coefficient = delta->coefficient + start,
                                    .count = delta->start[r + 1] - start,
                                    .first_part = first_part};
        use(context, gradient->example.row + delta->row[r], &slice);
    }
}

/* Parts of other kinds: those of a group stand together in the list. */
void md_for_every_slice(const explicit_block *x, const md_gradient *gradient,
                        void (*use)(void *context, size_t row, const struct slice *slice),
                        void *context)
{
    if (x->what.kind == MD_ROW_PARTS) {
        for_every_row(x, gradient, use, context);
        return;
    }
    const md_delta *delta = gradient->delta;
    const md_space *space = &x->what.space;
    const md_groups groups =
        space->structure->groups(space->shape, gradient->example.length, x->what.kind);
    const size_t end = groups.first + groups.count * groups.width;
    for (size_t i = delta->start[delta->row_count]; i < delta->count;) {
        if (delta->part[i] < groups.first || delta->part[i] >= end) {
            i++;
            continue;
        }
        const size_t g = (delta->part[i] - groups.first) / groups.width;
        const size_t first_part = groups.first + g * groups.width;
        struct slice slice = {.dense = delta->dense + first_part,
                              .part = delta->part + i,
                              .coefficient = delta->coefficient + i,
                              .first_part = first_part};
        for (; i < delta->count && delta->part[i] >= first_part &&
               delta->part[i] < first_part + groups.width;
             i++)
            slice.count++;
        use(context, gradient->example.row + groups.row + g, &slice);
    }
}

/* <phi, phi'> of the features of two rows. */
static double row_product(const md_row_features *features, size_t one, size_t other)
{
    const struct feature_row a = row_of(features, one);
    const struct feature_row b = row_of(features, other);
    double sum = 0;
    for (size_t i = 0, j = 0; i < a.count && j < b.count;) {
        const size_t left = column_at(&a, i);
        const size_t right = column_at(&b, j);
        if (left == right)
            sum += value_at(&a, i) * value_at(&b, j);
        i += left <= right;
        j += right <= left;
    }
    return sum;
}

/* ||d||^2 = sum over pairs of groups of <delta, delta'> <phi, phi'>. */
struct pairing {
    const explicit_block *x;
    const md_gradient *gradient;
    size_t row;
    const struct slice *slice; /* what is paired with all groups up to it */
    double sum;
};

static void pair_with(void *context, size_t row, const struct slice *slice)
{
    struct pairing *pairing = context;
    const struct slice *one = pairing->slice;
    const md_row_features *features = &pairing->x->what.features;
    double product = 0;
    if (slice->first_part > one->first_part)
        return;
    if (features->id != NULL &&
        features->id[row * features->id_step] != features->id[pairing->row * features->id_step])
        return; /* most rows have nothing in common */
    for (size_t i = 0; i < slice->count; i++)
        product +=
            (double)slice->coefficient[i] * (double)one->dense[slice->part[i] - slice->first_part];
    if (product != 0)
        pairing->sum += (slice->first_part < one->first_part ? 2 : 1) * product *
                        row_product(features, pairing->row, row);
}

static void pair_with_all(void *context, size_t row, const struct slice *slice)
{
    struct pairing *pairing = context;
    pairing->row = row;
    pairing->slice = slice;
    md_for_every_slice(pairing->x, pairing->gradient, pair_with, pairing);
    pairing->slice = NULL; /* it goes when this returns */
}

double md_explicit_gradient_norm2(md_block *block, const md_gradient *gradient)
{
    struct pairing pairing = {.x = (const explicit_block *)block, .gradient = gradient};
    md_for_every_slice(pairing.x, gradient, pair_with_all, &pairing);
    return pairing.x->what.gain * pairing.x->what.gain * pairing.sum;
}
