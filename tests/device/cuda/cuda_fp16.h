/* SPDX-License-Identifier: BSD-3-Clause */
/* Half precision for the plug-in's code on the processor (cuda_runtime.h): rounded to the nearest,
 * ties to even. */
#ifndef TESTS_DEVICE_CUDA_FP16_H
#define TESTS_DEVICE_CUDA_FP16_H

#include "cuda_runtime.h"

struct __half {
    uint16_t bits;
};

struct alignas(4) __half2 {
    __half x, y;
};

__half __float2half_rn(float value);
float __half2float(__half half);

static inline __half2 __floats2half2_rn(float x, float y)
{
    return {__float2half_rn(x), __float2half_rn(y)};
}

static inline float2 __half22float2(__half2 pair)
{
    return {__half2float(pair.x), __half2float(pair.y)};
}

#endif
