/* SPDX-License-Identifier: BSD-3-Clause */
/* The working set: of thousands of kernels few have weight at the optimum, and the others enter the
 * primal not at all and the dual only through their norms. So iterations run on the kernels with
 * the largest norms, and after each round screen.c tells which of the others should join. */
#include "batch/certificate.h"
#include "batch/spicy.h"

enum { FIRST_MEMBERS = 400, MORE_MEMBERS = 100 };
static const double NEAR = 0.95;     /* share of the threshold that keeps a member without weight */
static const double SET_SHARE = 0.5; /* of the wanted gap, to be reached on a working set */
static const double ROUND_SHARE = 0.03; /* of the gap over all kernels, in early rounds */
static const double PROGRESS = 0.9;     /* a gap that fell by this factor */

md_chosen md_spicy_members(md_spicy *s, bool active_only)
{
    size_t count = 0;
    for (size_t i = 0; i < s->count; i++)
        if (!active_only || s->members[i].ratio > 0)
            s->chosen[count++] = s->members[i].kernel;
    return (md_chosen){.kernels = s->chosen, .count = count};
}

/* ---- members come and go ---- */

static medley_status grow(md_spicy *s, size_t count, medley_error *error)
{
    if (count <= s->capacity)
        return MEDLEY_OK;
    const size_t room = count + count / 4;
    double **tables[] = {&s->Kr, &s->Kx, &s->a, &s->Ka};
    for (size_t t = 0; t < (s->smooth_penalty ? 2 : 4); t++) {
        double *table = NULL;
        MEDLEY_TRY(md_new_aligned(&table, room * s->n, sizeof *table, error));
        if (s->count > 0)
            memcpy(table, *tables[t], s->count * s->n * sizeof *table);
        free(*tables[t]);
        *tables[t] = table;
    }
    size_t members = s->capacity;
    size_t ratios = s->capacity;
    MEDLEY_TRY(md_grow(&s->members, &members, room, sizeof *s->members, error));
    MEDLEY_TRY(md_grow(&s->best_ratio, &ratios, room, sizeof *s->best_ratio, error));
    free(s->norm2);
    free(s->chosen);
    s->chosen = NULL;
    MEDLEY_TRY(md_new(&s->norm2, 2 * room, sizeof *s->norm2, error));
    MEDLEY_TRY(md_new(&s->chosen, room, sizeof *s->chosen, error));
    s->weight = s->norm2 + room;
    s->capacity = room;
    return MEDLEY_OK;
}

static void move_member(md_spicy *s, size_t to, size_t from)
{
    if (to == from)
        return;
    const size_t bytes = s->n * sizeof(double);
    s->members[to] = s->members[from];
    memcpy(s->Kr + to * s->n, s->Kr + from * s->n, bytes);
    if (s->smooth_penalty)
        return;
    memcpy(s->a + to * s->n, s->a + from * s->n, bytes);
    memcpy(s->Ka + to * s->n, s->Ka + from * s->n, bytes);
}

/* Members that are not wanted any more go; the order of the others stays. */
static void drop_members(md_spicy *s)
{
    size_t left = 0;
    for (size_t i = 0; i < s->count; i++)
        if (s->in_set[s->members[i].kernel])
            move_member(s, left++, i);
    s->count = left;
}

static void add_member(md_spicy *s, size_t kernel)
{
    s->members[s->count] = (md_member){.kernel = kernel};
    if (!s->smooth_penalty) {
        memset(s->a + s->count * s->n, 0, s->n * sizeof *s->a);
        memset(s->Ka + s->count * s->n, 0, s->n * sizeof *s->Ka);
    }
    s->count++;
}

medley_status md_spicy_set(md_spicy *s, const size_t *kernels, size_t count, medley_error *error)
{
    memset(s->in_set, 0, s->kernels * sizeof *s->in_set);
    for (size_t i = 0; i < count; i++)
        s->in_set[kernels[i]] = true;
    drop_members(s);
    MEDLEY_TRY(grow(s, count, error));
    const size_t before = s->count;
    for (size_t i = 0; i < before; i++)
        s->in_set[s->members[i].kernel] = false; /* for now: only new kernels are marked */
    for (size_t i = 0; i < count; i++)
        if (s->in_set[kernels[i]])
            add_member(s, kernels[i]);
    for (size_t i = 0; i < before; i++)
        s->in_set[s->members[i].kernel] = true;
    md_chosen fresh = md_spicy_members(s, false);
    MEDLEY_TRY(md_packed_hold(s->packed, fresh, error));
    s->least_gap = INFINITY;
    s->sum_ready = false;
    s->factor_ready = false;
    fresh.kernels += before;
    fresh.count -= before;
    return md_packed_multiply(s->packed, fresh, s->rho, s->Kr + before * s->n, error);
}

static bool has_weight(const md_member *member)
{
    return member->ratio > 0 || member->aKa > 0;
}

medley_status md_spicy_prune(md_spicy *s, medley_error *error)
{
    const double limit = NEAR * md_penalty_threshold(s->problem);
    const size_t before = s->count;
    for (size_t i = 0; i < s->count; i++)
        if (s->norm2[i] < limit && !has_weight(&s->members[i]))
            s->in_set[s->members[i].kernel] = false;
    drop_members(s);
    if (s->count == before)
        return MEDLEY_OK;
    s->factor_ready = false;
    return md_packed_hold(s->packed, md_spicy_members(s, false), error);
}

/* ---- which kernels ---- */

struct ranked {
    size_t kernel;
    double bound;
};

static int by_falling_bound(const void *x, const void *y)
{
    const struct ranked *left = x;
    const struct ranked *right = y;
    if (left->bound != right->bound)
        return left->bound < right->bound ? 1 : -1;
    return (left->kernel > right->kernel) - (left->kernel < right->kernel);
}

/* Members stay while they have weight or come near the threshold; others join by their norms, the
 * largest first: for penalties with a smooth dual all that would have weight. Into list. */
static medley_status choose(md_spicy *s, size_t *chosen, medley_error *error)
{
    const double limit = md_penalty_threshold(s->problem);
    size_t count = 0;
    size_t candidates = 0;
    MD_OWNED(free) struct ranked *ranked = NULL;
    MEDLEY_TRY(md_new(&ranked, s->kernels, sizeof *ranked, error));
    for (size_t i = 0; i < s->count; i++) {
        const size_t m = s->members[i].kernel;
        if (!s->screened[m] && (has_weight(&s->members[i]) || s->bound[m] > NEAR * limit))
            s->list[count++] = m;
    }
    for (size_t m = 0; m < s->kernels; m++)
        if (!s->screened[m] && !s->in_set[m] && s->bound[m] >= limit && s->bound[m] > 0)
            ranked[candidates++] = (struct ranked){.kernel = m, .bound = s->bound[m]};
    const size_t first = FIRST_MEMBERS > s->kernels / 8 ? FIRST_MEMBERS : s->kernels / 8;
    size_t most = s->count == 0 ? FIRST_MEMBERS : MORE_MEMBERS + count;
    if (s->finite_conjugate)
        most = s->count == 0 && limit > 0 ? first : s->kernels;
    qsort(ranked, candidates, sizeof *ranked, by_falling_bound);
    for (size_t i = 0; i < candidates && i < most; i++)
        s->list[count++] = ranked[i].kernel;
    *chosen = count;
    return MEDLEY_OK;
}

medley_status md_spicy_next_set(md_spicy *s, const md_batch_solution *start, medley_error *error)
{
    size_t count = 0;
    MEDLEY_TRY(choose(s, &count, error));
    const size_t chosen = count;
    for (size_t k = 0; start != NULL && k < start->active; k++) {
        bool known = s->screened[start->kernel[k]];
        for (size_t i = 0; i < chosen && !known; i++)
            known = s->list[i] == start->kernel[k];
        if (!known)
            s->list[count++] = start->kernel[k];
    }
    return md_spicy_set(s, s->list, count, error);
}

/* ---- how far to go on a set ---- */

double md_spicy_set_target(const md_spicy *s, double wanted)
{
    const double full_gap = md_spicy_gap(s);
    bool all = true;
    for (size_t m = 0; m < s->kernels && all; m++)
        all = s->screened[m] || s->in_set[m];
    const double least = all ? 0.99 * wanted : SET_SHARE * wanted;
    const double share = ROUND_SHARE * (full_gap < 1 ? full_gap : 1);
    return share > least && !all ? share : least;
}

medley_status md_spicy_set_gap(md_spicy *s, double *gap, medley_error *error)
{
    const md_batch_problem *p = s->problem;
    double scale;
    memcpy(s->candidate, s->rho, s->n * sizeof *s->rho);
    md_project_dual(p->loss, p->loss_state, p->y, s->candidate, s->n);
    MEDLEY_TRY(
        md_packed_norms2(s->packed, md_spicy_members(s, false), s->candidate, s->norm2, error));
    for (size_t i = 0; i < s->count; i++)
        s->norm2[i] = sqrt(s->norm2[i]);
    *gap =
        md_relative_gap(s->best_primal, md_dual_value(p, s->candidate, s->norm2, s->count, &scale));
    s->set_gap = *gap;
    s->stalled++;
    if (*gap < PROGRESS * s->least_gap) {
        s->least_gap = *gap;
        s->stalled = 0;
    }
    return MEDLEY_OK;
}
