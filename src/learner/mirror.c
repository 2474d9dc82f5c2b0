/* SPDX-License-Identifier: BSD-3-Clause */
/* p-norm mirror descent (OBSCURE): theta is dual to what scores,
 *
 *     w_j = 1/q (||theta_j|| / ||theta||_{2,q})^(q-2) theta_j,     1/p + 1/q = 1,
 *
 * so that ||w||_{2,p} = ||theta||_{2,q} / q. Stage 1 (Alg. 1) adds eta z for every example with a
 * loss; stage 2 (Alg. 2) descends lambda/2 ||w||_{2,p}^2 + loss inside the ball of radius R that
 * stage 1 has found. Pegasos is stage 2 with s = 0 from theta = 0. The gradient of the loss is -z,
 * whatever the structure.
 *
 * q is 101 for p = 1.01: powers are taken of ratios, which are at most 1, in logarithms. */
#include "learner/online_internal.h"

#include <math.h>
#include <string.h>

/* ||b||_q */
static double norm_q(const double *b, size_t count, double q)
{
    double largest = 0;
    for (size_t m = 0; m < count; m++)
        largest = fmax(largest, b[m]);
    if (!(largest > 0) || !isfinite(largest))
        return largest;
    double sum = 0;
    for (size_t m = 0; m < count; m++)
        sum += b[m] > 0 ? exp(q * log(b[m] / largest)) : 0;
    return largest * exp(log(sum) / q);
}

void md_mirror_relink(md_online *online)
{
    md_mirror *mirror = &online->mirror;
    const size_t count = online->problem.block_count;
    for (size_t m = 0; m < count; m++)
        online->norm[m] = online->problem.blocks[m]->norm;
    mirror->length = norm_q(online->norm, count, mirror->q);
    for (size_t m = 0; m < count; m++) {
        const double ratio = mirror->length > 0 ? online->norm[m] / mirror->length : 0;
        online->problem.blocks[m]->dual_scale =
            ratio > 0 ? exp((mirror->q - 2) * log(ratio)) / mirror->q : 0;
    }
}

void md_mirror_restart(md_online *online)
{
    md_mirror *mirror = &online->mirror;
    mirror->q = online->settings.p / (online->settings.p - 1);
    mirror->rounds = mirror->s = 0;
    md_mirror_relink(online);
}

/* ||z||_{2,q}; the norms of blocks are overwritten. */
static double gradient_length(md_online *online, size_t count)
{
    for (size_t m = 0; m < online->problem.block_count; m++) {
        md_block *block = online->problem.blocks[m];
        double length = 0; /* of a sum of gradients: no more than this */
        for (size_t g = 0; g < count; g++)
            length += sqrt(fmax(0, block->class->gradient_norm2(block, &online->gradients[g])));
        online->norm[m] = length;
    }
    return norm_q(online->norm, online->problem.block_count, online->mirror.q);
}

static void rescale_all(md_online *online, double factor)
{
    for (size_t m = 0; m < online->problem.block_count; m++) {
        md_block *block = online->problem.blocks[m];
        if (factor > 0)
            md_block_rescale(block, factor);
        else
            block->class->clear(block);
    }
    online->mirror.length *= factor;
}

/* theta += eta z. False: a norm is not finite. */
static bool add_gradients(md_online *online, size_t count, double eta)
{
    md_online_step(online, count, eta);
    if (!md_online_norms_are_finite(online))
        return false;
    memcpy(online->shrunk, online->norm, online->problem.block_count * sizeof *online->norm);
    md_online_finish(online, count, eta, 1);
    md_mirror_relink(online);
    return true;
}

/* Lines 8 to 10 of Alg. 2; z: ||z_t||_{2,q}. */
static double next_rate(md_online *online, double z)
{
    md_mirror *mirror = &online->mirror;
    const double lambda = online->settings.lambda;
    mirror->rounds += 1;
    if (mirror->adaptive) {
        const double d = lambda * mirror->rounds + mirror->s;
        const double slope = (lambda / mirror->q * mirror->length + z) / mirror->radius;
        const double root = sqrt(mirror->q) * slope;
        if (mirror->skipped > 0 && z > 0) { /* s^2 grows by about root^2 / 2 in a round */
            mirror->s = root * sqrt(mirror->skipped / 2);
            mirror->skipped = 0;
        }
        /* 0.5 (sqrt(d^2 + root^2) - d), without the difference */
        mirror->s += 0.5 * root * root / (hypot(d, root) + d);
    }
    return mirror->q / (lambda * mirror->rounds + mirror->s);
}

/* A round of several examples is one of their mean loss. */
void md_mirror_update(md_online *online, size_t count, size_t examples)
{
    md_mirror *mirror = &online->mirror;
    const double share = 1 / (double)examples;
    if (!mirror->descends) {
        if (count > 0 && !add_gradients(online, count, share * online->settings.eta))
            online->diverged = true;
        return;
    }
    const double z = count > 0 && mirror->adaptive ? share * gradient_length(online, count) : 0;
    const double eta = next_rate(online, z) * md_online_cooling(online);
    rescale_all(online, 1 - online->settings.lambda * eta / mirror->q);
    if (count > 0 && !add_gradients(online, count, share * eta)) {
        online->diverged = true;
        return;
    }
    const double most = mirror->q * mirror->radius;
    if (mirror->length > most)
        rescale_all(online, most / mirror->length);
}

/* ---- between the stages ---- */

md_largest md_mirror_largest(const md_online_problem *problem)
{
    md_largest largest = {0};
    for (size_t m = 0; m < problem->block_count; m++) {
        const md_block *block = problem->blocks[m];
        for (size_t e = 0; e < problem->example_count; e++) {
            const md_example example = problem->examples[e];
            double sum = 0;
            for (size_t i = 0; i < example.length; i++) {
                const double self = fmax(0, block->class->self(block, example.row + i));
                largest.row = fmax(largest.row, self);
                sum += sqrt(self);
            }
            largest.example = fmax(largest.example, sum * sum);
        }
    }
    return largest;
}

double md_mirror_eta(const md_online_problem *problem)
{
    const double largest = md_mirror_largest(problem).row;
    return largest > 0 && isfinite(largest) ? 2 / largest : 2;
}

medley_status md_mirror_descend(md_online *online, bool adaptive, medley_error *error)
{
    md_mirror *mirror = &online->mirror;
    double loss;
    md_online_fill_order(online); /* sums do not depend on the last epoch's */
    const medley_status status =
        md_online_mean_loss(online, online->order, online->problem.visit_count, &loss, error);
    if (status < 0)
        return status;
    const double length = mirror->length / mirror->q;
    mirror->radius = sqrt(length * length + 2 * loss / online->settings.lambda);
    mirror->descends = true;
    mirror->adaptive = adaptive;
    mirror->rounds = mirror->s = 0;
    return MEDLEY_OK;
}

void md_mirror_skip(md_online *online, double rounds)
{
    online->mirror.rounds = online->mirror.skipped = rounds;
}

/* theta_j = q (||w_j|| / ||w||_{2,p})^(p-2) w_j, the inverse of the link. */
void md_online_return_links(md_online *online)
{
    const md_online_problem *problem = &online->problem;
    const double p = online->settings.p;
    for (size_t m = 0; m < problem->block_count; m++)
        online->norm[m] = problem->blocks[m]->norm;
    const double length = norm_q(online->norm, problem->block_count, p);
    for (size_t m = 0; m < problem->block_count; m++)
        if (online->norm[m] > 0)
            md_block_rescale(problem->blocks[m],
                             p / (p - 1) * exp((p - 2) * log(online->norm[m] / length)));
}

double md_mirror_bound(md_online *online, double largest_self, double delta)
{
    const md_mirror *mirror = &online->mirror;
    const double lambda = online->settings.lambda;
    const double count = (double)online->problem.block_count;
    const double t = mirror->rounds;
    if (!mirror->descends || t < 1)
        return NAN;
    const double c = sqrt(2 * largest_self) * pow(count, 1 / mirror->q) + lambda * mirror->radius;
    const double first = c * sqrt(mirror->q * (1 + log(t)));
    const double strong = first / (lambda * t);
    const double weak = mirror->adaptive ? 4 * mirror->radius / sqrt(t) : INFINITY; /* needs s */
    return first / delta * fmin(strong, weak);
}
