/* SPDX-License-Identifier: BSD-3-Clause */
/* Transposing 4 x 4 values: four loads, eight shuffles and four stores where single values would
 * take sixteen loads and sixteen stores. */
#ifndef MD_TRANSPOSE_H
#define MD_TRANSPOSE_H

#include "base/base.h"

enum { MD_SQUARE = 4 };

/* to[c][r] = rows[r][column + c] for r, c < MD_SQUARE; to: `stride` floats from row to row. */
static inline void md_transpose_square(float *to, size_t stride, const float *const *rows,
                                       size_t column)
{
#if defined(__clang__) || __GNUC__ >= 12
    typedef float quad __attribute__((vector_size(MD_SQUARE * sizeof(float))));
    quad in[MD_SQUARE];
    for (size_t r = 0; r < MD_SQUARE; r++)
        memcpy(&in[r], rows[r] + column, sizeof in[r]);
    const quad low_ab = __builtin_shufflevector(in[0], in[1], 0, 4, 1, 5);
    const quad low_cd = __builtin_shufflevector(in[2], in[3], 0, 4, 1, 5);
    const quad high_ab = __builtin_shufflevector(in[0], in[1], 2, 6, 3, 7);
    const quad high_cd = __builtin_shufflevector(in[2], in[3], 2, 6, 3, 7);
    const quad out[MD_SQUARE] = {__builtin_shufflevector(low_ab, low_cd, 0, 1, 4, 5),
                                 __builtin_shufflevector(low_ab, low_cd, 2, 3, 6, 7),
                                 __builtin_shufflevector(high_ab, high_cd, 0, 1, 4, 5),
                                 __builtin_shufflevector(high_ab, high_cd, 2, 3, 6, 7)};
    for (size_t c = 0; c < MD_SQUARE; c++)
        memcpy(to + c * stride, &out[c], sizeof out[c]);
#else
    for (size_t c = 0; c < MD_SQUARE; c++)
        for (size_t r = 0; r < MD_SQUARE; r++)
            to[c * stride + r] = rows[r][column + c];
#endif
}

#endif
