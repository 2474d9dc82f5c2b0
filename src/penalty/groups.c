/* SPDX-License-Identifier: BSD-3-Clause */
#include "penalty/groups.h"

#include "penalty/penalty_internal.h"
#include <assert.h>

enum { MOST_ROUNDS = 2000 };
static const double ENOUGH = 1e-13; /* change of a norm, relative to the largest */

/* ---- making ---- */

struct sized {
    size_t group, size;
};

static int by_size(const void *a, const void *b)
{
    const struct sized *x = a;
    const struct sized *y = b;
    if (x->size != y->size)
        return x->size < y->size ? -1 : 1;
    return (x->group > y->group) - (x->group < y->group);
}

/* Do all of the smaller group's blocks lie in the larger one, or none? */
static bool fits(const bool *smaller, const bool *larger, size_t blocks)
{
    size_t inside = 0;
    size_t outside = 0;
    for (size_t m = 0; m < blocks; m++) {
        inside += smaller[m] && larger[m];
        outside += smaller[m] && !larger[m];
    }
    return inside == 0 || outside == 0;
}

medley_status md_block_groups_create(md_block_groups **groups, const md_group *list, size_t count,
                                     size_t blocks, medley_error *error)
{
    MD_OWNED(free) struct sized *order = NULL;
    size_t total = 0;
    MEDLEY_TRY(md_new(&order, count, sizeof *order, error));
    for (size_t g = 0; g < count; g++) {
        order[g].group = g;
        for (size_t m = 0; m < blocks; m++)
            order[g].size += list[g].member[m];
        total += order[g].size;
    }
    qsort(order, count, sizeof *order, by_size);
    md_block_groups *made = NULL;
    const size_t bytes =
        sizeof *made + count * sizeof *made->weight + (count + 1 + total) * sizeof *made->start;
    MEDLEY_TRY(md_new(&made, 1, bytes, error));
    made->count = count;
    made->blocks = blocks;
    made->nested = true;
    made->weight = (double *)(made + 1);
    made->start = (size_t *)(made->weight + count);
    made->block = made->start + count + 1;
    for (size_t i = 0; i < count; i++) {
        const md_group *group = &list[order[i].group];
        made->weight[i] = group->weight;
        made->start[i + 1] = made->start[i];
        for (size_t m = 0; m < blocks; m++)
            if (group->member[m])
                made->block[made->start[i + 1]++] = m;
        for (size_t j = i + 1; j < count; j++)
            made->nested = made->nested && fits(group->member, list[order[j].group].member, blocks);
    }
    *groups = made;
    return MEDLEY_OK;
}

/* ---- the penalty ---- */

static double groups_value(const void *state, const double *b, const double *weight, size_t count)
{
    const md_block_groups *groups = state;
    double value = 0;
    assert(weight == NULL && count == groups->blocks);
    (void)weight;
    (void)count;
    for (size_t g = 0; g < groups->count; g++) {
        double norm = 0;
        for (size_t i = groups->start[g]; i < groups->start[g + 1]; i++)
            norm = hypot(norm, b[groups->block[i]]);
        value += groups->weight[g] * norm;
    }
    return value;
}

/* One group's turn: with x + xi_g, what its blocks would be without it, xi_g is the projection of
 * that onto the ball of radius `cut`, and x what is left. Returns the largest change of x. */
static double shrink_group(const md_block_groups *groups, size_t g, double cut, double *x,
                           double *xi)
{
    double norm = 0;
    double change = 0;
    for (size_t i = groups->start[g]; i < groups->start[g + 1]; i++)
        norm = hypot(norm, x[groups->block[i]] + xi[i]);
    const double scale = norm > cut ? 1 - cut / norm : 0;
    for (size_t i = groups->start[g]; i < groups->start[g + 1]; i++) {
        const double before = x[groups->block[i]];
        const double without = before + xi[i];
        const double after = scale * without;
        xi[i] = without - after;
        x[groups->block[i]] = after;
        change = fmax(change, fabs(after - before));
    }
    return change;
}

void md_block_groups_prox(const md_block_groups *groups, double tau, double *b, double *scratch)
{
    double largest = 0;
    for (size_t m = 0; m < groups->blocks; m++)
        largest = fmax(largest, b[m]);
    memset(scratch, 0, groups->start[groups->count] * sizeof *scratch);
    for (int round = 0; round < MOST_ROUNDS && largest > 0; round++) {
        double change = 0;
        for (size_t g = 0; g < groups->count; g++)
            change = fmax(change, shrink_group(groups, g, tau * groups->weight[g], b, scratch));
        if (groups->nested || !(change > ENOUGH * largest))
            return;
    }
}

static void groups_prox(const void *state, double tau, const double *b, const double *weight,
                        size_t count, double *shrunk, double *scratch)
{
    (void)weight;
    if (shrunk != b)
        memcpy(shrunk, b, count * sizeof *b);
    md_block_groups_prox(state, tau, shrunk, scratch);
}

static size_t groups_scratch(const void *state)
{
    const md_block_groups *groups = state;
    return groups->start[groups->count];
}

const md_penalty_class md_penalty_groups = {
    .name = "groups",
    .summary = "norms of groups of blocks, from a file",
    .formula = "sum w ||b_g||",
    .asymmetric = true,
    .scratch = groups_scratch,
    .value = groups_value,
    .prox = groups_prox,
};

/* It was named only because there is always a term. */
static bool does_nothing(const md_penalty_term *term)
{
    const double one = 1;
    return term->class->inner_threshold == NULL && term->class->absorbed == NULL &&
           term->class->value(term->state, &one, NULL, 1) == 0;
}

medley_status md_penalty_add_groups(md_penalty *penalty, md_block_groups *groups,
                                    medley_error *error)
{
    const bool alone = penalty->count == 1 && does_nothing(&penalty->terms[0]);
    if (alone)
        free(penalty->terms[--penalty->count].state);
    const medley_status status = md_grow(&penalty->terms, &penalty->capacity, penalty->count + 1,
                                         sizeof *penalty->terms, error);
    if (status != MEDLEY_OK) {
        free(groups);
        return status;
    }
    penalty->terms[penalty->count++] =
        (md_penalty_term){.factor = 1, .class = &md_penalty_groups, .state = groups};
    if (alone)
        md_text_clear(&penalty->text);
    md_text_addf(&penalty->text, alone ? "groups" : "+groups");
    return md_text_check(&penalty->text, error);
}
