/* SPDX-License-Identifier: BSD-3-Clause */
/* B1-spline kernel max(0, 1 - ||x-z||/h): compact support, so most of K is zero (SPOM section 4.1).
 * zeros=F chooses h so that a share F of the values between different rows is zero. Not positive
 * definite in more than one dimension. */
#include "kernel/kernel.h"

#include "base/vector.h"

struct bspline {
    double h, zeros;
    double inverse; /* 1/h */
};

static const md_param bspline_params[] = {
    {MD_NUMBER(struct bspline, h, "", 1e-150, 1e150, "X", "radius beyond which the kernel is 0")},
    {MD_NUMBER(struct bspline, zeros, "0.95", 0, 1, "F", "without h: the share of zeros wanted")},
    {0}};

static medley_status prepare_bspline(void *state, bool *needs_data, medley_error *error)
{
    (void)error;
    struct bspline *bspline = state;
    *needs_data = isnan(bspline->h);
    bspline->inverse = 1 / bspline->h;
    return MEDLEY_OK;
}

static medley_status choose_bspline(void *state, const md_pair_statistics *statistics,
                                    medley_error *error)
{
    (void)error;
    struct bspline *bspline = state;
    const double rank = (1 - bspline->zeros) * (double)statistics->count;
    size_t place = (size_t)rank;
    place = place < statistics->count ? place : statistics->count - 1;
    bspline->h = sqrt((double)statistics->sorted[place]);
    /* as many identical rows as that: the nearest pair that differs bounds the support */
    while (bspline->h == 0 && ++place < statistics->count)
        bspline->h = sqrt((double)statistics->sorted[place]);
    if (bspline->h == 0)
        bspline->h = 1;
    bspline->inverse = 1 / bspline->h;
    return MEDLEY_OK;
}

MD_VECTOR_VOID(hat, (const float *q, float *out, size_t count, float inverse),
               (q, out, count, inverse))
{
#pragma omp simd
    for (size_t j = 0; j < count; j++) {
        const float value = 1.0f - sqrtf(q[j]) * inverse;
        out[j] = value > 0.0f ? value : 0.0f;
    }
}

static void map_bspline(const void *state, const float *q, float *out, size_t count)
{
    const struct bspline *bspline = state;
    hat(q, out, count, md_float_factor(bspline->inverse));
}

MD_VECTOR_VOID(exact_hat, (const double *q, double *out, size_t count, double inverse),
               (q, out, count, inverse))
{
#pragma omp simd
    for (size_t j = 0; j < count; j++) {
        const double value = 1 - sqrt(q[j]) * inverse;
        out[j] = value > 0 ? value : 0;
    }
}

static void exact_bspline(const void *state, const double *q, double *out, size_t count)
{
    exact_hat(q, out, count, ((const struct bspline *)state)->inverse);
}

static void form_of_bspline(const void *state, md_device_form *form)
{
    const struct bspline *bspline = state;
    *form = (md_device_form){
        .quantity = MD_ON_DISTANCE2, .map = MD_MAP_HAT, .scale = md_float_factor(bspline->inverse)};
}

const md_kernel_class md_kernel_bspline = {
    .name = "bspline",
    .summary = "B1-spline with compact support",
    .formula = "max(0, 1 - ||x-z||/h)",
    .quantity = MD_DISTANCE2,
    .params = bspline_params,
    .state_size = sizeof(struct bspline),
    .often_zero = true,
    .needs_quantiles = true,
    .map = map_bspline,
    .exact = exact_bspline,
    .form = form_of_bspline,
    .prepare = prepare_bspline,
    .choose = choose_bspline,
};
