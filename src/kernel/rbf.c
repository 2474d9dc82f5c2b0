/* SPDX-License-Identifier: BSD-3-Clause */
/* Gaussian kernel exp(-||x-z||^2 / (2 sigma2)). auto: 2 sigma2 = the mean squared distance between
 * different training rows, so that the exponent is -1 for two rows as far apart as rows are. */
#include "kernel/kernel.h"

#include <math.h>

struct rbf {
    md_width width;
    double factor; /* of the squared distance in the exponent: -gamma */
};

static const md_param rbf_params[] = {MD_WIDTH_PARAMS(struct rbf), {0}};

static medley_status prepare_rbf(void *state, bool *needs_data, medley_error *error)
{
    struct rbf *rbf = state;
    double gamma;
    const medley_status status = md_width_gamma(&rbf->width, "rbf", &gamma, error);
    rbf->factor = -gamma;
    *needs_data = isnan(gamma);
    return status;
}

static medley_status choose_rbf(void *state, const md_pair_statistics *statistics,
                                medley_error *error)
{
    (void)error;
    struct rbf *rbf = state;
    /* identical rows only: any width gives the same kernel */
    rbf->width.sigma2 = statistics->mean > 0 ? md_round_choice(statistics->mean / 2) : 1;
    rbf->width.automatic = false;
    rbf->factor = -1 / (2 * rbf->width.sigma2);
    return MEDLEY_OK;
}

static void map_rbf(const void *state, const float *q, float *out, size_t count)
{
    const struct rbf *rbf = state;
    md_exp_scaled(q, out, count, rbf->factor);
}

extern const md_kernel_class md_kernel_rbf;
const md_kernel_class md_kernel_rbf = {
    .name = "rbf",
    .summary = "Gaussian",
    .formula = "exp(-||x-z||^2 / (2 sigma2))",
    .quantity = MD_DISTANCE2,
    .params = rbf_params,
    .state_size = sizeof(struct rbf),
    .positive_definite = true,
    .map = map_rbf,
    .prepare = prepare_rbf,
    .choose = choose_rbf,
};
