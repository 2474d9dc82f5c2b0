/* SPDX-License-Identifier: BSD-3-Clause */
/* Preconditioned conjugate gradients. In the centred case all directions have sum 0: the
 * preconditioned residual is z = M (r - nu 1) with nu such that 1'z = 0, the minimiser in that
 * plane of the preconditioner's quadratic (projected conjugate gradients). */
#include "optim/optim.h"

#include "linalg/vectors.h"

static double mean(const double *x, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += x[i];
    return sum / (double)n;
}

static void centre(const md_linear_system *system, double *x)
{
    if (!system->centred)
        return;
    const double middle = mean(x, system->n);
    for (size_t i = 0; i < system->n; i++)
        x[i] -= middle;
}

static double sum_of(const double *x, size_t n)
{
    return mean(x, n) * (double)n;
}

/* flat: M 1, of systems with a precondition function that are centred. */
static void precondition(const md_linear_system *system, const double *flat, const double *r,
                         double *z)
{
    const size_t n = system->n;
    const double *inverse = system->inverse_diagonal;
    double nu = 0;
    if (system->precondition != NULL) {
        memcpy(z, r, n * sizeof *z);
        system->precondition(system->context, z);
        if (system->centred)
            md_add_scaled(z, -sum_of(z, n) / sum_of(flat, n), flat, n);
        return;
    }
    if (inverse == NULL) {
        memcpy(z, r, n * sizeof *z);
        centre(system, z);
        return;
    }
    if (system->centred) {
        double whole = 0;
        for (size_t i = 0; i < n; i++)
            whole += inverse[i];
        nu = md_dot(inverse, r, n) / whole;
    }
    for (size_t i = 0; i < n; i++)
        z[i] = inverse[i] * (r[i] - nu);
}

/* The residual of the start. A start that is uphill from 0, 1/2 x'Ax - b'x = -x'(b + r)/2 > 0, is
 * replaced by 0. */
static void begin(const md_linear_system *system, const double *b, double *x, double *r)
{
    const size_t n = system->n;
    centre(system, x);
    system->multiply(system->context, x, r);
    for (size_t i = 0; i < n; i++)
        r[i] = b[i] - r[i];
    if (!(md_dot(x, b, n) + md_dot(x, r, n) >= 0)) {
        memset(x, 0, n * sizeof *x);
        memcpy(r, b, n * sizeof *r);
    }
    centre(system, r);
}

size_t md_conjugate_gradient(const md_linear_system *system, const double *b, double *x,
                             double tolerance, size_t most_steps, double *scratch)
{
    const size_t n = system->n;
    double *r = scratch;
    double *z = scratch + n;
    double *direction = scratch + 2 * n;
    double *image = scratch + 3 * n;
    double *flat = scratch + 4 * n;
    size_t step = 0;
    if (n == 0)
        return 0;
    for (size_t i = 0; i < n; i++)
        flat[i] = 1;
    if (system->precondition != NULL && system->centred)
        system->precondition(system->context, flat);
    memcpy(z, b, n * sizeof *z);
    centre(system, z);
    const double enough = tolerance * sqrt(md_dot(z, z, n));
    begin(system, b, x, r);
    precondition(system, flat, r, z);
    memcpy(direction, z, n * sizeof *z);
    double descent = md_dot(r, z, n);
    for (; step < most_steps && sqrt(md_dot(r, r, n)) > enough; step++) {
        system->multiply(system->context, direction, image);
        const double curvature = md_dot(direction, image, n);
        if (!(curvature > 0 && descent > 0))
            break;
        const double length = descent / curvature;
        md_add_scaled(x, length, direction, n);
        md_add_scaled(r, -length, image, n);
        centre(system, r);
        precondition(system, flat, r, z);
        const double next = md_dot(r, z, n);
        const double keep = next / descent;
        descent = next;
        for (size_t i = 0; i < n; i++)
            direction[i] = z[i] + keep * direction[i];
    }
    centre(system, x); /* what rounding has added up to */
    return step;
}
