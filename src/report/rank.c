/* SPDX-License-Identifier: BSD-3-Clause */
#include "report/report.h"

struct ranked {
    double value;
    size_t index;
};

static int compare(const void *a, const void *b)
{
    const struct ranked *x = a;
    const struct ranked *y = b;
    if (x->value != y->value)
        return x->value > y->value ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

medley_status md_rank(size_t **order, size_t count, md_rank_value value, const void *context,
                      medley_error *error)
{
    MD_OWNED(free) struct ranked *ranked = NULL;
    *order = NULL;
    MEDLEY_TRY(md_new(&ranked, count, sizeof *ranked, error));
    MEDLEY_TRY(md_new(order, count, sizeof **order, error));
    for (size_t i = 0; i < count; i++) {
        const double x = value(context, i);
        ranked[i] = (struct ranked){isnan(x) ? (double)-INFINITY : x, i};
    }
    qsort(ranked, count, sizeof *ranked, compare);
    for (size_t i = 0; i < count; i++)
        (*order)[i] = ranked[i].index;
    return MEDLEY_OK;
}

size_t md_keep_largest(void *items, size_t count, size_t most, size_t size, const void *item)
{
    char *first = items;
    size_t at = count;
    while (at > 0 && *(const double *)(void *)(first + (at - 1) * size) < *(const double *)item)
        at--;
    if (at == most)
        return count;
    const size_t end = count < most ? count : most - 1;
    memmove(first + (at + 1) * size, first + at * size, (end - at) * size);
    memcpy(first + at * size, item, size);
    return end + 1;
}
