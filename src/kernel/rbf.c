/* SPDX-License-Identifier: BSD-3-Clause */
/* Gaussian kernel exp(-||x-z||^2 / (2 sigma2)). auto: 2 sigma2 = the mean squared distance between
 * different training rows, so that the exponent is -1 for two rows as far apart as rows are. */
#include "kernel/kernel.h"

static medley_status prepare_rbf(void *state, bool *needs_data, medley_error *error)
{
    return md_exponential_prepare(state, "rbf", needs_data, error);
}

static medley_status choose_rbf(void *state, const md_pair_statistics *statistics,
                                medley_error *error)
{
    (void)error;
    md_exponential *rbf = state;
    /* identical rows only: any width gives the same kernel */
    rbf->sigma2 = statistics->mean > 0 ? md_round_choice(statistics->mean / 2) : 1;
    rbf->automatic = false;
    rbf->factor = -1 / (2 * rbf->sigma2);
    return MEDLEY_OK;
}

const md_kernel_class md_kernel_rbf = {
    .name = "rbf",
    .summary = "Gaussian",
    .formula = "exp(-||x-z||^2 / (2 sigma2)), sigma2 = sigma^2, gamma = 1/(2 sigma2)",
    .quantity = MD_DISTANCE2,
    .params = md_exponential_params,
    .state_size = sizeof(md_exponential),
    .positive_definite = true,
    .map = md_exponential_map,
    .exact = md_exponential_exact,
    .form = md_exponential_form,
    .prepare = prepare_rbf,
    .choose = choose_rbf,
};
