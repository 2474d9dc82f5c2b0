/* SPDX-License-Identifier: BSD-3-Clause */
/* Structured log loss: log sum_y' exp f(y') - f(y). Its gradient in the part scores is the expected
 * count of each part minus its count in the right output (softmax; conditional random field). */
#include "loss/loss.h"

double md_log_loss(md_inference *inference, size_t length, const int32_t *gold, bool wants_gradient)
{
    const md_structure *structure = inference->space.structure;
    const md_shape shape = inference->space.shape;
    const float *score = inference->score;
    md_delta *delta = &inference->delta;
    const size_t parts = structure->part_count(shape, length);
    for (size_t i = 0; i < delta->count; i++) /* of a longer example */
        delta->dense[delta->part[i]] = 0;
    double loss =
        structure->log_partition(shape, length, score, delta->dense, &inference->workspace);
    const size_t count = structure->parts_of(shape, length, gold, inference->parts);
    for (size_t i = 0; i < count; i++) {
        loss -= (double)score[inference->parts[i]];
        delta->dense[inference->parts[i]] -= 1;
    }
    delta->count = 0;
    if (wants_gradient)
        md_delta_list(delta, parts, inference->whole ? 0 : MD_NEGLIGIBLE_PART);
    else
        memset(delta->dense, 0, parts * sizeof *delta->dense);
    return loss < 0 ? 0 : loss; /* rounding; NaN stays and is noticed */
}

static double at_zero(md_space space, size_t length)
{
    return space.structure->log_outputs(space.shape, length);
}

const md_loss md_loss_logistic = {
    .name = "logistic",
    .summary = "structured log loss: logistic regression, conditional random field",
    .formula = "log sum_y' exp f(y') - f(y)",
    .by_marginals = true,
    .evaluate = md_log_loss,
    .at_zero = at_zero,
};
