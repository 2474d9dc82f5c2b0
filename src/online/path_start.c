/* SPDX-License-Identifier: BSD-3-Clause */
/* Where a path begins: the least lambda that leaves out all blocks, from the gradient of the mean
 * loss at theta = 0. theta = 0 is the optimum if and only if minus that gradient is in lambda times
 * the penalty's subdifferential at 0, and that is so if a small step along the gradient is taken
 * back by the prox. Where the gradient is not unique (the hinge of three or more labels) one of
 * them is looked at, and the true value may be smaller.
 *
 * Powers of norms (mkl, l2, block, squared-block) have no such lambda. For them a path begins where
 * about a quarter of the loss at 0 can be gained, half of which the penalty takes: along the
 * gradient's direction u, r is the step at which the linearised loss has fallen by a quarter, and
 * lambda Omega(r u) is half of that, as at the optimum of a square. */
#include "online/run.h"

static const double SMALL_STEP = 1e-9; /* terms that are flat at 0 do not count in it */
static const double GAIN = 0.25;       /* of the loss, where nothing leaves out all blocks */
static const double FARTHEST = 1e6;    /* of the largest gradient: powers near 1 vanish beyond */
enum { HALVINGS = 40 };

struct gradient {
    const md_run_blocks *blocks; /* which hold it */
    const md_penalty *penalty;
    double *norm;   /* [penalised] */
    double *shrunk; /* [penalised] */
    double *scratch;
    float *body; /* of the largest block, for penalties that look inside */
    double most; /* of the norms */
};

/* With dual scales of 0 the blocks add up gradients and score nothing: all of them are taken at 0.
 */
static medley_status find_gradient(md_problem *problem, const md_run_blocks *blocks, double *loss,
                                   medley_error *error)
{
    MD_CLEARED(md_online_clear) md_online online = {0};
    const md_online_problem loop = md_problem_for_loop(problem, blocks);
    md_online_settings settings = md_problem_settings(problem);
    settings.rule = &md_rule_spom; /* which without lambda only steps */
    settings.rates = (md_rate_settings){
        .schedule = MD_RATE_CONSTANT, .radius = INFINITY, .prox_every = SIZE_MAX};
    settings.lambda = 0;
    settings.average = false;
    settings.skip_threshold = 0;
    settings.least_part = 0;
    MEDLEY_TRY(md_online_init(&online, &loop, &settings, error));
    md_online_restart(&online, 1 / (double)problem->example_count);
    for (size_t m = 0; m < blocks->count; m++)
        blocks->blocks[m]->dual_scale = 0;
    const medley_status status = md_online_epoch(&online, 0, error);
    for (size_t m = 0; m < blocks->count; m++)
        blocks->blocks[m]->dual_scale = 1;
    *loss = online.loss_sum / (double)problem->example_count;
    if (status == MEDLEY_OK && (online.diverged || !isfinite(*loss)))
        return md_fail(error, MEDLEY_FAILED,
                       "the gradient at the start of the path is not a number; use `normalize="
                       "diag` or `scale=standard`");
    return status;
}

/* Length of a block's gradient after a soft threshold of its coordinates. */
static double thresholded(const struct gradient *gradient, size_t m, double threshold)
{
    md_block *block = gradient->blocks->blocks[m];
    if (threshold <= 0 || block->class->soft_threshold == NULL || !(block->norm > 0))
        return block->norm;
    const size_t size = block->class->body_size(block);
    block->class->export_body(block, gradient->body); /* theta times the block's gain */
    double square = 0;
    for (size_t i = 0; i < size; i++)
        square += (double)gradient->body[i] * (double)gradient->body[i];
    const double unit = block->norm / sqrt(square);
    double sum = 0;
    for (size_t i = 0; i < size; i++) {
        const double excess = fabs((double)gradient->body[i]) * unit - threshold;
        sum += excess > 0 ? excess * excess : 0;
    }
    return sqrt(sum);
}

static bool leaves_out_all(const struct gradient *gradient, double lambda)
{
    const size_t count = gradient->blocks->penalised;
    const double inner = md_penalty_inner_threshold(gradient->penalty);
    for (size_t m = 0; m < count; m++)
        gradient->shrunk[m] =
            SMALL_STEP / lambda *
            (inner > 0 ? thresholded(gradient, m, inner * lambda) : gradient->norm[m]);
    md_penalty_prox(gradient->penalty, SMALL_STEP, gradient->shrunk, count, gradient->scratch);
    for (size_t m = 0; m < count; m++)
        if (gradient->shrunk[m] > 0)
            return false;
    return true;
}

/* Infinite: none leaves out all blocks. */
static double least_lambda(const struct gradient *gradient)
{
    double high = gradient->most;
    while (high < FARTHEST * gradient->most && !leaves_out_all(gradient, high))
        high *= 2;
    if (!(high < FARTHEST * gradient->most))
        return INFINITY;
    double low = high / 2;
    while (low * FARTHEST > gradient->most && leaves_out_all(gradient, low)) {
        high = low;
        low /= 2;
    }
    for (int i = 0; i < HALVINGS && low < high * (1 - 1e-12); i++) {
        const double middle = sqrt(low * high);
        if (leaves_out_all(gradient, middle))
            high = middle;
        else
            low = middle;
    }
    return high;
}

static double strong_lambda(const struct gradient *gradient, double loss)
{
    const size_t count = gradient->blocks->penalised;
    double square = 0;
    for (size_t m = 0; m < count; m++)
        square += gradient->norm[m] * gradient->norm[m];
    const double step = GAIN * loss / square; /* times the gradient */
    for (size_t m = 0; m < count; m++)
        gradient->shrunk[m] = step * gradient->norm[m];
    const double value = md_penalty_value(gradient->penalty, gradient->shrunk, count) +
                         md_penalty_absorbed(gradient->penalty) * step * step * square / 2;
    return GAIN * loss / (2 * value);
}

static medley_status init_gradient(struct gradient *gradient, md_pool *pool, medley_error *error)
{
    const md_run_blocks *blocks = gradient->blocks;
    const size_t count = blocks->penalised;
    size_t largest = 0;
    const bool inside = md_penalty_inner_threshold(gradient->penalty) > 0;
    for (size_t m = 0; inside && m < count; m++) {
        const size_t size = blocks->blocks[m]->class->body_size(blocks->blocks[m]);
        largest = size > largest ? size : largest;
    }
    MEDLEY_TRY(md_pool_new(pool, &gradient->norm, count, sizeof(double), error));
    MEDLEY_TRY(md_pool_new(pool, &gradient->shrunk, count, sizeof(double), error));
    const size_t scratch = md_penalty_scratch(gradient->penalty, count);
    MEDLEY_TRY(md_pool_new(pool, &gradient->scratch, scratch, sizeof(double), error));
    MEDLEY_TRY(md_pool_new(pool, &gradient->body, largest, sizeof(float), error));
    for (size_t m = 0; m < count; m++) {
        gradient->norm[m] = blocks->blocks[m]->norm;
        gradient->most = fmax(gradient->most, gradient->norm[m]);
    }
    return MEDLEY_OK;
}

medley_status md_path_find_start(md_path_start *start, md_problem *problem,
                                 const md_run_blocks *blocks, medley_error *error)
{
    MD_CLEARED(md_pool_clear) md_pool pool = {0};
    struct gradient gradient = {.blocks = blocks, .penalty = problem->penalty};
    MEDLEY_TRY(find_gradient(problem, blocks, &start->objective, error));
    MEDLEY_TRY(init_gradient(&gradient, &pool, error));
    const double least = gradient.most > 0 ? least_lambda(&gradient) : 1;
    start->is_zero = isfinite(least) && blocks->penalised == blocks->count;
    start->lambda = isfinite(least) ? least : strong_lambda(&gradient, start->objective);
    if (!isnormal(start->lambda))
        return md_fail(error, MEDLEY_USAGE,
                       "penalty %s has no strength to vary along a path; use another one",
                       md_penalty_text(problem->penalty));
    for (size_t m = 0; m < blocks->count; m++)
        blocks->blocks[m]->class->restart(blocks->blocks[m]);
    return MEDLEY_OK;
}
