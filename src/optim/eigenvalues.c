/* SPDX-License-Identifier: BSD-3-Clause */
/* The ends of a symmetric matrix's spectrum by Lanczos' method from a random vector, with all
 * directions kept and made orthogonal twice, so that no eigenvalue comes back as a ghost. An end
 * is done when the residual of its vector, which bounds the error, is small; where the matrix has
 * few distinct eigenvalues the directions run out before, and the ends are then exact. */
#include "optim/optim.h"

#include "base/random.h"
#include "linalg/blas.h"
#include <float.h>

/* Residuals and directions below these parts of the largest magnitude. */
static const double DONE = 5e-11;
static const double RUN_OUT = 1e-14;

struct lanczos {
    const double *a;
    size_t n, k, capacity;
    double *basis;           /* [k + 1][n] */
    double *diagonal, *side; /* [n] of the tridiagonal matrix; side[i] couples i and i + 1 */
    double *product;         /* [n] coordinates of a vector in the basis */
    double *vector;          /* [n] */
};

/* ---- tridiagonal matrices; sign -1 turns the matrix round, so that only the least is needed ----
 */

/* No eigenvalue is below t: the pivots of T - t I = L D L' are all positive (Sylvester's law of
 * inertia). */
static bool is_below_all(const struct lanczos *l, double sign, double t)
{
    double pivot = sign * l->diagonal[0] - t;
    for (size_t i = 1; pivot > 0 && i < l->k; i++)
        pivot = sign * l->diagonal[i] - t - l->side[i - 1] * (l->side[i - 1] / pivot);
    return pivot > 0;
}

static double largest_magnitude(const struct lanczos *l)
{
    double most = 0;
    for (size_t i = 0; i < l->k; i++) {
        const double left = i > 0 ? l->side[i - 1] : 0;
        const double right = i + 1 < l->k ? l->side[i] : 0;
        most = fmax(most, fabs(l->diagonal[i]) + left + right);
    }
    return most;
}

/* A number below the least eigenvalue and nearer to it than can be told apart. */
static double least_eigenvalue(const struct lanczos *l, double sign, double magnitude)
{
    double low = -magnitude * (1 + 4 * DBL_EPSILON);
    double high = magnitude;
    while (high - low > 2 * DBL_EPSILON * magnitude) {
        const double t = low + (high - low) / 2;
        if (t <= low || t >= high)
            break;
        if (is_below_all(l, sign, t))
            low = t;
        else
            high = t;
    }
    return low;
}

/* The last coordinate of the unit eigenvector of `least`, by inverse iteration: T - least is
 * positive definite, if only just, so that elimination without exchanges is stable. */
static double last_coordinate(struct lanczos *l, double sign, double least, double magnitude)
{
    double *x = l->vector;
    double *pivot = l->product;
    const double smallest = DBL_EPSILON * magnitude + DBL_MIN;
    pivot[0] = fmax(smallest, sign * l->diagonal[0] - least);
    for (size_t i = 1; i < l->k; i++)
        pivot[i] = fmax(smallest, sign * l->diagonal[i] - least -
                                      l->side[i - 1] * (l->side[i - 1] / pivot[i - 1]));
    for (size_t i = 0; i < l->k; i++)
        x[i] = 1 + (double)(i % 7) / 10; /* orthogonal to no eigenvector that comes up */
    for (int round = 0; round < 3; round++) {
        double square = 0;
        for (size_t i = 1; i < l->k; i++)
            x[i] -= sign * l->side[i - 1] / pivot[i - 1] * x[i - 1];
        for (size_t i = l->k; i-- > 0;) {
            const double after = i + 1 < l->k ? sign * l->side[i] * x[i + 1] : 0;
            x[i] = (x[i] - after) / pivot[i];
            square += x[i] * x[i];
        }
        const double length = sqrt(square);
        for (size_t i = 0; i < l->k; i++)
            x[i] /= length;
    }
    return x[l->k - 1];
}

/* ---- growing the basis ---- */

static double norm(const double *x, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += x[i] * x[i];
    return sqrt(sum);
}

/* Makes x orthogonal to the first count directions, twice: once leaves rounding errors that count
 * where much cancels. */
static void make_orthogonal(const struct lanczos *l, double *x, size_t count)
{
    for (int round = 0; round < 2; round++) {
        md_dgemv(count, l->n, 1, l->basis, l->n, false, x, 0, l->product);
        md_dgemv(count, l->n, -1, l->basis, l->n, true, l->product, 1, x);
    }
}

/* One more row of the tridiagonal matrix, and the direction after it if one is left:
 * A q_k = side_{k-1} q_{k-1} + diagonal_k q_k + side_k q_{k+1}. */
static medley_status extend(struct lanczos *l, medley_error *error)
{
    MEDLEY_TRY(md_grow(&l->basis, &l->capacity, l->k + 2, l->n * sizeof *l->basis, error));
    const double *direction = l->basis + l->k * l->n;
    double *next = l->basis + (l->k + 1) * l->n;
    md_dsymv(l->n, l->a, l->n, direction, next);
    double along = 0;
    for (size_t i = 0; i < l->n; i++)
        along += direction[i] * next[i];
    l->diagonal[l->k] = along;
    make_orthogonal(l, next, l->k + 1);
    const double rest = norm(next, l->n);
    l->side[l->k] = rest;
    for (size_t i = 0; rest > 0 && i < l->n; i++)
        next[i] /= rest;
    l->k++;
    return MEDLEY_OK;
}

/* No direction is left. */
static bool is_complete(const struct lanczos *l)
{
    return l->k == l->n || l->side[l->k - 1] <= RUN_OUT * largest_magnitude(l);
}

/* The ends of what is known so far; true if they will not change. */
static bool find_ends(struct lanczos *l, double *least, double *most)
{
    const double magnitude = largest_magnitude(l);
    const double rest = l->side[l->k - 1];
    *least = least_eigenvalue(l, 1, magnitude);
    *most = -least_eigenvalue(l, -1, magnitude);
    if (is_complete(l))
        return true;
    const double scale = fmax(fabs(*least), fabs(*most));
    return rest * fabs(last_coordinate(l, 1, *least, magnitude)) <= DONE * scale &&
           rest * fabs(last_coordinate(l, -1, -*most, magnitude)) <= DONE * scale;
}

static void clear_lanczos(struct lanczos *l)
{
    free(l->basis);
    free(l->diagonal);
}

static medley_status start(struct lanczos *l, medley_error *error)
{
    const size_t n = l->n;
    MEDLEY_TRY(md_new(&l->diagonal, 4 * n, sizeof *l->diagonal, error));
    MEDLEY_TRY(md_grow(&l->basis, &l->capacity, 16, n * sizeof *l->basis, error));
    l->side = l->diagonal + n;
    l->product = l->diagonal + 2 * n;
    l->vector = l->diagonal + 3 * n;
    md_random random;
    md_random_seed(&random, 1);
    for (size_t i = 0; i < n; i++)
        l->basis[i] = md_random_normal(&random);
    const double length = norm(l->basis, n);
    for (size_t i = 0; i < n; i++)
        l->basis[i] /= length;
    return MEDLEY_OK;
}

/* Divides the upper triangle by the power of two that brings its largest element to about 1, so
 * that no square overflows or vanishes. Returns that power; 0 if all is 0, NAN if something is not
 * finite. */
static double scale_down(double *a, size_t n)
{
    double largest = 0;
    for (size_t i = 0; i < n; i++)
        for (size_t j = i; j < n; j++) {
            const double size = fabs(a[i * n + j]);
            largest = size <= largest ? largest : size;
            if (!(size < INFINITY))
                return NAN;
        }
    if (largest == 0)
        return 0;
    int exponent;
    frexp(largest, &exponent);
    for (size_t i = 0; i < n; i++)
        for (size_t j = i; j < n; j++)
            a[i * n + j] = ldexp(a[i * n + j], 1 - exponent);
    return ldexp(1, exponent - 1);
}

medley_status md_extreme_eigenvalues(double *a, size_t n, double *least, double *most,
                                     medley_error *error)
{
    MD_CLEARED(clear_lanczos) struct lanczos l = {.a = a, .n = n};
    if (n == 0)
        return md_fail(error, MEDLEY_BAD_INPUT, "a matrix without rows has no eigenvalues");
    const double scale = scale_down(a, n);
    if (isnan(scale))
        return md_fail(error, MEDLEY_BAD_INPUT, "the matrix has values that are not finite");
    double low = 0;
    double high = 0;
    MEDLEY_TRY(start(&l, error));
    size_t look = 4; /* at the ends, after more and more steps: looking costs as well */
    for (bool finished = scale == 0; !finished;) {
        MEDLEY_TRY(extend(&l, error));
        if (l.k < look && !is_complete(&l))
            continue;
        look = l.k + l.k / 8 + 1;
        finished = find_ends(&l, &low, &high);
    }
    *least = scale * low;
    *most = scale * high;
    return MEDLEY_OK;
}
