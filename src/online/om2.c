/* SPDX-License-Identifier: BSD-3-Clause */
/* OM-2: online multi-class multi-kernel learning (Jie, Orabona, Fornoni, Caputo, Cesa-Bianchi,
 * CVPR workshops 2010), which SPOM's section 5 compares itself with: a perceptron by p-norm mirror
 * descent (dual.h). Every example with a loss is added to theta with
 *
 *     eta = min(1, 1 - 2 <w, z> / ||z||_{2,q}^2),     z = phi(x, y) - phi(x, y^):
 *
 * wholly after a mistake, and the less the larger its margin is. There is no penalty to weigh
 * against the loss, only p.
 *
 * What differs from the paper:
 * - ||z||_{2,q} is that of the example; the paper has its bound 2 F^(2/q) for F kernels with
 *   K(x,x) <= 1, which is the same for K(x,x) = 1;
 * - a round may have several examples, and is then one of their mean;
 * - losses and structures are any: z is minus the gradient of the loss. */
#include "online/dual.h"

/* <w, z> of the sum of a round's gradients. */
static double margin(md_online *online, size_t count)
{
    double sum = 0;
    for (size_t m = 0; m < online->problem.block_count; m++) {
        md_block *block = online->problem.blocks[m];
        for (size_t g = 0; g < count && block->dual_scale > 0; g++)
            sum -= block->dual_scale * block->class->slope(block, &online->gradients[g]);
    }
    return sum;
}

static void take_round(md_online *online, md_round *round)
{
    if (!md_online_find_gradients(online, round) || round->gradients == 0)
        return;
    const double share = 1 / (double)round->size;
    const double z = share * md_dual_gradient_length(online, round->gradients);
    const double eta = 1 - 2 * share * margin(online, round->gradients) / (z * z);
    if (z > 0 && eta > 0)
        md_dual_add(online, round->gradients, share * fmin(1, eta) * md_online_cooling(online));
}

const md_rule md_rule_om2 = {
    .about = {.name = "om2",
              .summary = "p-norm perceptron with margins (OM-2): online, without a penalty",
              .takes = MD_TAKES_ROUNDS | MD_TAKES_PATIENCE | MD_ALL_BLOCKS | MD_TAKES_EPOCHS |
                       MD_TAKES_NORM},
    .traits = {.default_C = 1, .few_changes = true, .penalty = md_dual_penalty},
    .smaller = {"block-scale"},
    .state_size = sizeof(md_dual),
    .restart = md_dual_restart,
    .from_weights = md_dual_from_weights,
    .end_epoch = md_dual_set_scales,
    .round = take_round,
};
