/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of losses, and what needs all rows at once: the bias, the projection onto the dual's
 * domain, the dual of the model without kernels. Each is a search along one number. */
#include "loss/margin_loss.h"

#include "optim/optim.h"
#include <float.h>

const md_margin_loss *const md_margin_losses[] = {
#define MD_MARGIN_LOSS(name) &md_margin_##name,
#include "loss/margin_losses.def"
#undef MD_MARGIN_LOSS
    NULL};

const md_margin_loss *md_margin_loss_find(const char *name)
{
    for (size_t i = 0; md_margin_losses[i] != NULL; i++)
        if (strcmp(md_margin_losses[i]->name, name) == 0)
            return md_margin_losses[i];
    return NULL;
}

md_interval md_label_domain(const void *state, double y)
{
    (void)state;
    return y > 0 ? (md_interval){0, 1} : (md_interval){-1, 0};
}

/* ---- softened losses ---- */

double md_softplus_slope(double x, double softness, double *curvature)
{
    const double small = exp(-fabs(x) / softness);
    *curvature = small / ((1 + small) * (1 + small) * softness);
    return (x > 0 ? 1 : small) / (1 + small);
}

/* The root of z - u + gamma slope(z), which grows in z. It is near that of the loss with its kinks,
 * between the ends that the slope allows; Newton's method is kept there by halving. */
double md_soft_prox(const md_margin_loss *loss, const void *state, double y, double gamma,
                    double softness, double u, double *derivative)
{
    const md_interval domain = loss->domain(state, y);
    double low = u + gamma * domain.low;
    double high = u + gamma * domain.high;
    double z = loss->prox(state, y, gamma, u, derivative);
    double curvature = 0;
    for (int step = 0; step < 100; step++) {
        const double excess = z - u + gamma * loss->soft_slope(state, y, softness, z, &curvature);
        if (excess > 0)
            high = z;
        else
            low = z;
        double next = z - excess / (1 + gamma * curvature);
        if (!(next >= low && next <= high))
            next = low + (high - low) / 2;
        const double change = fabs(next - z);
        z = next;
        if (change <= DBL_EPSILON * fabs(z) || high - low <= DBL_EPSILON * fabs(z))
            break;
    }
    *derivative = 1 / (1 + gamma * curvature);
    return z;
}

struct rows {
    const md_margin_loss *loss;
    const void *state;
    const double *y, *value; /* value: the scores f or the dual point rho */
    size_t n;
};

/* ---- the bias ---- */

static double bias_slope(void *context, double bias)
{
    const struct rows *rows = context;
    double sum = 0;
    for (size_t i = 0; i < rows->n; i++)
        sum += rows->loss->slope(rows->state, rows->y[i], rows->value[i] + bias);
    return sum;
}

/* Losses of numbers are least at f = y, so the bias lies among the residuals. Where labels are -1
 * and +1, a margin of `enough` leaves a row with less than exp(-40)/n of the slope of one on the
 * wrong side: no bias needs to go further, and none does if all labels are the same. */
double md_best_bias(const md_margin_loss *loss, const void *state, const double *y, const double *f,
                    size_t n)
{
    struct rows rows = {loss, state, y, f, n};
    double low = INFINITY;
    double high = -INFINITY;
    if (n == 0)
        return 0;
    for (size_t i = 0; i < n; i++) {
        const double residual = loss->classifies ? -f[i] : y[i] - f[i];
        low = fmin(low, residual);
        high = fmax(high, residual);
    }
    const double enough = loss->classifies ? 40 + log((double)n) : 0;
    return md_least_point(bias_slope, &rows, low - enough, high + enough);
}

/* ---- the nearest dual point ---- */

static double clip(const struct rows *rows, size_t i, double rho)
{
    const md_interval domain = rows->loss->domain(rows->state, rows->y[i]);
    return rho < domain.low ? domain.low : rho > domain.high ? domain.high : rho;
}

static double negative_clipped_sum(void *context, double shift)
{
    const struct rows *rows = context;
    double sum = 0;
    for (size_t i = 0; i < rows->n; i++)
        sum += clip(rows, i, rows->value[i] - shift);
    return -sum;
}

static bool is_inside(const struct rows *rows, size_t i, double rho)
{
    const md_interval domain = rows->loss->domain(rows->state, rows->y[i]);
    return rho > domain.low && rho < domain.high;
}

/* What rounding has left of the sum goes to the rows that are not at an end of their domain. */
static void balance(const struct rows *rows, double *rho)
{
    double sum = 0;
    size_t inside = 0;
    for (size_t i = 0; i < rows->n; i++) {
        sum += rho[i];
        inside += is_inside(rows, i, rho[i]);
    }
    if (sum == 0 || inside == 0)
        return;
    const double share = sum / (double)inside;
    for (size_t i = 0; i < rows->n; i++)
        if (is_inside(rows, i, rho[i]))
            rho[i] = clip(rows, i, rho[i] - share);
}

/* Domains contain 0, so the clipped sum is not negative at the least rho and not positive at the
 * largest. */
void md_project_dual(const md_margin_loss *loss, const void *state, const double *y, double *rho,
                     size_t n)
{
    struct rows rows = {loss, state, y, rho, n};
    double low = INFINITY;
    double high = -INFINITY;
    if (n == 0)
        return;
    for (size_t i = 0; i < n; i++) {
        low = fmin(low, rho[i]);
        high = fmax(high, rho[i]);
    }
    const double shift = md_least_point(negative_clipped_sum, &rows, low, high);
    for (size_t i = 0; i < n; i++)
        rho[i] = clip(&rows, i, rho[i] - shift);
    balance(&rows, rho);
    balance(&rows, rho);
}

/* ---- without kernels ---- */

/* At the best bias each row allows an interval of rho, a point but for rows at a kink: what -slope
 * is just above and just below. All go the same part of the way through theirs, so that the sum
 * is 0. */
void md_empty_dual(const md_margin_loss *loss, const void *state, const double *y, double *rho,
                   size_t n)
{
    memset(rho, 0, n * sizeof *rho);
    const double bias = md_best_bias(loss, state, y, rho, n);
    double largest = fabs(bias);
    for (size_t i = 0; i < n; i++)
        largest = fmax(largest, fabs(y[i]));
    const double margin = 16 * DBL_EPSILON * largest;
    double least_sum = 0;
    double most_sum = 0;
    for (size_t i = 0; i < n; i++) {
        least_sum -= loss->slope(state, y[i], bias + margin);
        most_sum -= loss->slope(state, y[i], bias - margin);
    }
    double part = 0.5;
    if (least_sum < most_sum)
        part = fmin(1, fmax(0, -least_sum / (most_sum - least_sum)));
    for (size_t i = 0; i < n; i++) {
        const double least = -loss->slope(state, y[i], bias + margin);
        const double most = -loss->slope(state, y[i], bias - margin);
        rho[i] = least + part * (most - least);
    }
    md_project_dual(loss, state, y, rho, n);
}
