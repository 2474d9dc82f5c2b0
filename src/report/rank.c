/* SPDX-License-Identifier: BSD-3-Clause */
#include "report/rank.h"

#include "base/memory.h"
#include <math.h>
#include <stdlib.h>

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

medley_status md_rank(size_t **order, const double *values, size_t count, medley_error *error)
{
    struct ranked *ranked = md_calloc(count, sizeof *ranked);
    *order = md_calloc(count, sizeof **order);
    if (ranked == NULL || *order == NULL) {
        free(ranked);
        free(*order);
        *order = NULL;
        return md_fail_memory(error, count * sizeof *ranked);
    }
    for (size_t i = 0; i < count; i++)
        ranked[i] = (struct ranked){isnan(values[i]) ? (double)-INFINITY : values[i], i};
    qsort(ranked, count, sizeof *ranked, compare);
    for (size_t i = 0; i < count; i++)
        (*order)[i] = ranked[i].index;
    free(ranked);
    return MEDLEY_OK;
}
