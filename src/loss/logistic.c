/* SPDX-License-Identifier: BSD-3-Clause */
/* Structured log loss: log sum_y' exp f(y') - f(y). Its gradient in the part scores is the marginal
 * of each part minus 1 on the parts of the right output (softmax; conditional random field). */
#include "loss/loss.h"

#include <math.h>

static const float NEGLIGIBLE = 1e-6f; /* marginals below this change no score that matters */

static double evaluate(md_inference *inference, size_t length, const float *score,
                       const int32_t *gold, bool wants_gradient)
{
    const md_structure *structure = inference->structure;
    const md_shape shape = inference->shape;
    double loss =
        structure->log_partition(shape, length, score, inference->marginal, &inference->workspace);
    const size_t count = structure->parts_of(shape, length, gold, inference->parts);
    for (size_t i = 0; i < count; i++) {
        loss -= (double)score[inference->parts[i]];
        inference->marginal[inference->parts[i]] -= 1;
    }
    inference->delta.count = 0;
    const size_t parts = wants_gradient ? structure->part_count(shape, length) : 0;
    for (size_t p = 0; p < parts; p++) {
        if (fabsf(inference->marginal[p]) < NEGLIGIBLE)
            continue;
        inference->delta.part[inference->delta.count] = (uint32_t)p;
        inference->delta.coefficient[inference->delta.count++] = inference->marginal[p];
    }
    return loss < 0 ? 0 : loss; /* rounding; NaN stays and is noticed */
}

static double at_zero(const md_structure *structure, md_shape shape, size_t length)
{
    return structure->log_outputs(shape, length);
}

extern const md_loss md_loss_logistic;
const md_loss md_loss_logistic = {
    .name = "logistic",
    .summary = "structured log loss: logistic regression, conditional random field",
    .formula = "log sum_y' exp f(y') - f(y)",
    .evaluate = evaluate,
    .at_zero = at_zero,
};
