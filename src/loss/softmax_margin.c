/* SPDX-License-Identifier: BSD-3-Clause */
/* Softmax-margin: log sum_y' exp(f(y') + cost(y', y)) - f(y), the log loss of scores to which the
 * costs were added. Between the hinge, which it bounds, and the log loss: smooth, and outputs that
 * are far off are pushed farther down. */
#include "loss/loss.h"

static double evaluate(md_inference *inference, size_t length, const int32_t *gold,
                       bool wants_gradient)
{
    const md_space *space = &inference->space;
    space->structure->add_cost(space->shape, length, gold, inference->score);
    return md_log_loss(inference, length, gold, wants_gradient);
}

/* log sum_y' exp(cost(y', 0)) at most: all outputs at the largest cost. */
static double at_zero(md_space space, size_t length)
{
    return space.structure->log_outputs(space.shape, length) +
           space.structure->most_cost(space.shape, length);
}

const md_loss md_loss_softmax_margin = {
    .name = "softmax-margin",
    .summary = "log loss with costs: conditional random field with a margin",
    .formula = "log sum_y' exp [f(y') + cost(y',y)] - f(y)",
    .by_marginals = true,
    .adds_costs = true,
    .evaluate = evaluate,
    .at_zero = at_zero,
};
