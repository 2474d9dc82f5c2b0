/* SPDX-License-Identifier: BSD-3-Clause */
/* q is 101 for p = 1.01: powers are taken of ratios, which are at most 1, in logarithms.
 *
 * Where blocks have weights d, the norm is that of d_j w_j. The formulas hold for d_j w_j and
 * theta_j / d_j in place of w_j and theta_j, so w_j has the factor of theta_j / d_j, over d_j^2. */
#include "online/dual.h"

#include "penalty/block_weight.h"

static double largest_of(const double *b, size_t count)
{
    double largest = 0;
    for (size_t m = 0; m < count; m++)
        largest = fmax(largest, b[m]);
    return largest;
}

static bool can_be_compared(double largest)
{
    return largest > 0 && isfinite(largest);
}

double md_dual_norm(const double *b, size_t count, double q)
{
    const double largest = largest_of(b, count);
    if (!can_be_compared(largest))
        return largest;
    double sum = 0;
    for (size_t m = 0; m < count; m++)
        if (b[m] == largest) /* all of them, for gradients of kernels with K(x,x) = 1 */
            sum += 1;
        else if (b[m] > 0)
            sum += exp(q * log(b[m] / largest));
    return largest * exp(log(sum) / q);
}

/* A logarithm of each ratio serves the norm and the scale. */
double md_dual_scales(double *scale, const double *norm, const double *weight, size_t count,
                      double p)
{
    const double q = p / (p - 1);
    for (size_t m = 0; m < count; m++)
        scale[m] = md_over_weight(norm, weight, m);
    const double largest = largest_of(scale, count);
    const bool some = can_be_compared(largest);
    double sum = 0;
    for (size_t m = 0; m < count; m++) {
        const double ratio = some ? scale[m] / largest : 0;
        scale[m] = ratio > 0 ? log(ratio) : -INFINITY;
        sum += exp(q * scale[m]);
    }
    const double rest = some ? log(sum) / q : 0; /* of the norm, over the largest */
    for (size_t m = 0; m < count; m++) {
        const double d = md_block_weight(weight, m);
        scale[m] = isfinite(scale[m]) ? exp((q - 2) * (scale[m] - rest)) / (q * d * d) : 0;
    }
    return largest * exp(rest);
}

void md_dual_set_scales(md_online *online)
{
    const md_online_problem *p = &online->problem;
    double *scale = online->scratch;
    for (size_t m = 0; m < p->block_count; m++)
        online->norm[m] = p->blocks[m]->norm;
    ((md_dual *)online->state)->length =
        md_dual_scales(scale, online->norm, md_penalty_block_weights(p->penalty), p->block_count,
                       online->settings.dual.p);
    for (size_t m = 0; m < p->block_count; m++)
        p->blocks[m]->dual_scale = scale[m];
}

void md_dual_restart(md_online *online)
{
    const double p = online->settings.dual.p;
    memset(online->state, 0, online->settings.rule->state_size);
    ((md_dual *)online->state)->q = p / (p - 1);
    md_dual_set_scales(online);
}

double md_dual_weights_norm(md_online *online)
{
    const md_online_problem *problem = &online->problem;
    const double *weight = md_penalty_block_weights(problem->penalty);
    for (size_t m = 0; m < problem->block_count; m++)
        online->norm[m] = md_block_weight(weight, m) * problem->blocks[m]->norm;
    return md_dual_norm(online->norm, problem->block_count, online->settings.dual.p);
}

/* theta_j = q (||w_j|| / ||w||_{2,p})^(p-2) w_j, the inverse of the dual scales. */
void md_dual_from_weights(md_online *online)
{
    const md_online_problem *problem = &online->problem;
    const double p = online->settings.dual.p;
    const double *weight = md_penalty_block_weights(problem->penalty);
    const double length = md_dual_weights_norm(online); /* and online->norm */
    for (size_t m = 0; m < problem->block_count; m++) {
        const double d = md_block_weight(weight, m);
        if (online->norm[m] > 0)
            md_block_rescale(problem->blocks[m],
                             p / (p - 1) * exp((p - 2) * log(online->norm[m] / length)) * d * d);
    }
}

void md_dual_penalty(char *text, size_t size, const medley_options *options)
{
    md_print(text, size, "squared-block(q=%.17g)", options->p);
}

double md_dual_block_gradient(const md_online *online, size_t m, size_t count)
{
    md_block *block = online->problem.blocks[m];
    double length = 0; /* of a sum of gradients: no more than this */
    for (size_t g = 0; g < count; g++)
        length += sqrt(fmax(0, block->class->gradient_norm2(block, &online->gradients[g])));
    return length;
}

double md_dual_gradient_length(md_online *online, size_t count)
{
    const double *weight = md_penalty_block_weights(online->problem.penalty);
    for (size_t m = 0; m < online->problem.block_count; m++)
        online->norm[m] = md_dual_block_gradient(online, m, count) / md_block_weight(weight, m);
    return md_dual_norm(online->norm, online->problem.block_count, ((md_dual *)online->state)->q);
}

void md_dual_rescale(md_online *online, double factor)
{
    md_online_rescale(online, online->problem.block_count, factor);
    ((md_dual *)online->state)->length *= factor;
}

bool md_dual_step(md_online *online, size_t count, double eta)
{
    md_online_step(online, count, eta);
    if (!md_online_norms_are_finite(online)) {
        online->diverged = true;
        return false;
    }
    memcpy(online->shrunk, online->norm, online->problem.block_count * sizeof *online->norm);
    md_online_finish(online, count, eta, 1);
    return true;
}

void md_dual_add(md_online *online, size_t count, double eta)
{
    if (md_dual_step(online, count, eta))
        md_dual_set_scales(online);
}

medley_status md_dual_begin_descent(md_online *online, medley_error *error)
{
    md_dual *dual = online->state;
    double loss;
    md_online_fill_order(online); /* sums do not depend on the last epoch's */
    MEDLEY_TRY(
        md_online_mean_loss(online, online->order, online->problem.visit_count, &loss, error));
    const double length = dual->length / dual->q;
    dual->radius = sqrt(length * length + 2 * loss / online->settings.lambda);
    dual->rounds = (double)online->skipped;
    dual->s = 0;
    return MEDLEY_OK;
}

void md_dual_project(md_online *online)
{
    const md_dual *dual = online->state;
    const double most = dual->q * dual->radius;
    if (!online->diverged && dual->length > most)
        md_dual_rescale(online, most / dual->length);
}

double md_dual_distance(const md_online *online, double largest_self, double delta, bool weak)
{
    const md_dual *dual = online->state;
    const double lambda = online->settings.lambda;
    const double count = (double)online->problem.block_count;
    const double t = dual->rounds;
    if (t < 1)
        return NAN;
    const double c = sqrt(2 * largest_self) * pow(count, 1 / dual->q) + lambda * dual->radius;
    const double first = c * sqrt(dual->q * (1 + log(t)));
    const double strong = first / (lambda * t);
    return first / delta * fmin(strong, weak ? 4 * dual->radius / sqrt(t) : INFINITY);
}

md_bound md_dual_bound(const md_online *online, bool weak)
{
    static const double DELTA = 0.05;
    const double self = md_online_largest(&online->problem).example;
    return (md_bound){.radius = ((const md_dual *)online->state)->radius,
                      .distance = md_dual_distance(online, self, DELTA, weak)};
}
