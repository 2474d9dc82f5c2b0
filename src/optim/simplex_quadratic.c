/* SPDX-License-Identifier: BSD-3-Clause */
/* An active set method: from the best corner on, the variable along which the function falls
 * fastest joins, the least point of those that have joined is found without their bounds, and on
 * the way there variables that would become negative leave. Each set is visited once at most, since
 * the function falls. The matrix of those that have joined is kept; it is small where the rank
 * is. */
#include "linalg/vectors.h"
#include "optim/optim.h"
#include "optim/simplex.h"

static const double SAME = 1e-11; /* of the largest slope: as good as level */

struct active {
    const md_simplex_quadratic *q;
    double *x, *image;              /* [count], [rank] factor'x */
    size_t *member, members, most;  /* [most] those that have joined */
    double *gram;                   /* [most][most] upper triangle, of members, without the ridge */
    double *chol, *target, *direct; /* [most][most], [most], [most] scratch */
};

static const double *row_of(const md_simplex_quadratic *q, size_t m)
{
    return q->factor + m * q->rank;
}

static double slope_at(const struct active *a, size_t m)
{
    const md_simplex_quadratic *q = a->q;
    return q->slope[m] + md_dot(row_of(q, m), a->image, q->rank) + q->ridge * a->x[m];
}

/* ---- joining and leaving ---- */

static void join(struct active *a, size_t m)
{
    const md_simplex_quadratic *q = a->q;
    a->member[a->members] = m;
    for (size_t i = 0; i <= a->members; i++)
        a->gram[i * a->most + a->members] = md_dot(row_of(q, a->member[i]), row_of(q, m), q->rank);
    a->members++;
}

/* All members with x = 0. */
static void leave(struct active *a)
{
    size_t kept = 0;
    for (size_t i = 0; i < a->members; i++) {
        if (!(a->x[a->member[i]] > 0))
            continue;
        for (size_t j = i, to = kept; j < a->members; j++)
            if (a->x[a->member[j]] > 0)
                a->gram[kept * a->most + to++] = a->gram[i * a->most + j];
        kept++;
    }
    kept = 0;
    for (size_t i = 0; i < a->members; i++)
        if (a->x[a->member[i]] > 0)
            a->member[kept++] = a->member[i];
    a->members = kept;
}

static void find_image(struct active *a)
{
    memset(a->image, 0, a->q->rank * sizeof *a->image);
    for (size_t i = 0; i < a->members; i++)
        md_add_scaled(a->image, a->x[a->member[i]], row_of(a->q, a->member[i]), a->q->rank);
}

/* ---- the least point of the members ---- */

/* target: it, with sum 1, whatever the signs. False if rounding hides it. */
static bool find_target(struct active *a)
{
    const size_t n = a->members;
    double ones = 0;
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        memcpy(a->chol + i * n + i, a->gram + i * a->most + i, (n - i) * sizeof *a->chol);
        a->chol[i * n + i] += a->q->ridge;
        a->target[i] = -a->q->slope[a->member[i]];
        a->direct[i] = 1;
    }
    if (!md_cholesky(a->chol, n, 1))
        return false;
    md_cholesky_solve(a->chol, n, a->target);
    md_cholesky_solve(a->chol, n, a->direct);
    for (size_t i = 0; i < n; i++) {
        sum += a->target[i];
        ones += a->direct[i];
    }
    for (size_t i = 0; i < n; i++)
        a->target[i] += (1 - sum) / ones * a->direct[i];
    return isfinite((1 - sum) / ones);
}

/* As far towards the target as bounds allow. Was it reached? */
static bool approach(struct active *a)
{
    double step = 1;
    size_t first = a->members;
    for (size_t i = 0; i < a->members; i++) {
        const double x = a->x[a->member[i]];
        if (a->target[i] <= 0 && x <= step * (x - a->target[i])) {
            step = x / (x - a->target[i]);
            first = i;
        }
    }
    for (size_t i = 0; i < a->members; i++) {
        double *x = &a->x[a->member[i]];
        *x = i == first ? 0 : fmax(0, *x + step * (a->target[i] - *x));
    }
    return first == a->members;
}

static void settle(struct active *a)
{
    while (a->members > 1 && find_target(a) && !approach(a))
        leave(a);
    if (a->members == 1)
        a->x[a->member[0]] = 1;
    leave(a);
    find_image(a);
}

/* ---- the method ---- */

static double value_of(const struct active *a)
{
    double value = md_dot(a->image, a->image, a->q->rank) / 2;
    for (size_t i = 0; i < a->members; i++) {
        const double x = a->x[a->member[i]];
        value += x * (a->q->slope[a->member[i]] + a->q->ridge / 2 * x);
    }
    return value;
}

static size_t best_corner(const md_simplex_quadratic *q)
{
    size_t best = 0;
    double least = INFINITY;
    for (size_t m = 0; m < q->count; m++) {
        const double value = q->slope[m] + md_dot(row_of(q, m), row_of(q, m), q->rank) / 2;
        if (value < least) {
            least = value;
            best = m;
        }
    }
    return best;
}

/* The variable that is to join; false: none, x is the least point. */
static bool find_next(const struct active *a, size_t *next)
{
    double level = 0; /* the slope of the members, which is the same for all */
    double steepest = INFINITY;
    double largest = 0;
    for (size_t i = 0; i < a->members; i++)
        level += a->x[a->member[i]] * slope_at(a, a->member[i]);
    for (size_t m = 0; m < a->q->count; m++) {
        const double slope = slope_at(a, m);
        largest = fmax(largest, fabs(slope));
        if (!(a->x[m] > 0) && slope < steepest) {
            steepest = slope;
            *next = m;
        }
    }
    return steepest < level - SAME * largest;
}

medley_status md_simplex_minimise(const md_simplex_quadratic *q, double *x, medley_error *error)
{
    MD_CLEARED(md_pool_clear) md_pool pool = {0};
    /* A set of more rows than the rank and one has a least point on its edge, but for the ridge. */
    const size_t most = (q->rank + 16 < q->count ? q->rank + 16 : q->count) + 1;
    struct active a = {.q = q, .x = x, .most = most};
    size_t next = 0;
    MEDLEY_TRY(md_pool_new(&pool, &a.image, q->rank, sizeof(double), error));
    MEDLEY_TRY(md_pool_new(&pool, &a.member, most, sizeof(size_t), error));
    MEDLEY_TRY(md_pool_new(&pool, &a.gram, most * most, sizeof(double), error));
    MEDLEY_TRY(md_pool_new(&pool, &a.chol, most * most, sizeof(double), error));
    MEDLEY_TRY(md_pool_new(&pool, &a.target, most, sizeof(double), error));
    MEDLEY_TRY(md_pool_new(&pool, &a.direct, most, sizeof(double), error));
    memset(x, 0, q->count * sizeof *x);
    join(&a, best_corner(q));
    x[a.member[0]] = 1;
    find_image(&a);
    double before = INFINITY;
    while (value_of(&a) < before && find_next(&a, &next) && a.members < most) {
        before = value_of(&a);
        join(&a, next);
        settle(&a);
    }
    return MEDLEY_OK;
}
