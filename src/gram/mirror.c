/* SPDX-License-Identifier: BSD-3-Clause */
/* Transposing a tile across the diagonal of a matrix, in squares of 4 x 4 values: four loads, eight
 * shuffles and four stores where single values would take sixteen loads and sixteen stores. The
 * squares follow one another along the rows that are written. */
#include "gram/tile.h"

#include "base/size.h"
#include <string.h>

enum { SQUARE = 4 };

#if defined(__clang__) || __GNUC__ >= 12
typedef float quad __attribute__((vector_size(16)));

static quad load(const float *from)
{
    quad value;
    memcpy(&value, from, sizeof value);
    return value;
}

static void transpose_square(float *to, size_t to_stride, const float *from, size_t from_stride)
{
    const quad a = load(from);
    const quad b = load(from + from_stride);
    const quad c = load(from + 2 * from_stride);
    const quad d = load(from + 3 * from_stride);
    const quad low_ab = __builtin_shufflevector(a, b, 0, 4, 1, 5);
    const quad high_ab = __builtin_shufflevector(a, b, 2, 6, 3, 7);
    const quad low_cd = __builtin_shufflevector(c, d, 0, 4, 1, 5);
    const quad high_cd = __builtin_shufflevector(c, d, 2, 6, 3, 7);
    const quad rows[SQUARE] = {__builtin_shufflevector(low_ab, low_cd, 0, 1, 4, 5),
                               __builtin_shufflevector(low_ab, low_cd, 2, 3, 6, 7),
                               __builtin_shufflevector(high_ab, high_cd, 0, 1, 4, 5),
                               __builtin_shufflevector(high_ab, high_cd, 2, 3, 6, 7)};
    for (size_t r = 0; r < SQUARE; r++)
        memcpy(to + r * to_stride, &rows[r], sizeof rows[r]);
}
#else
static void transpose_square(float *to, size_t to_stride, const float *from, size_t from_stride)
{
    for (size_t r = 0; r < SQUARE; r++)
        for (size_t c = 0; c < SQUARE; c++)
            to[r * to_stride + c] = from[c * from_stride + r];
}
#endif

/* At most SQUARE columns become rows. */
static void transpose_columns(float *to, size_t to_stride, const float *from, size_t from_stride,
                              size_t rows, size_t columns)
{
    size_t i = 0;
    for (; columns == SQUARE && i + SQUARE <= rows; i += SQUARE)
        transpose_square(to + i, to_stride, from + i * from_stride, from_stride);
    for (; i < rows; i++)
        for (size_t c = 0; c < columns; c++)
            to[c * to_stride + i] = from[i * from_stride + c];
}

void md_tile_mirror(float *values, size_t n, const md_tile_values *tile)
{
    if (tile->row == tile->column) {
        for (size_t i = 1; i < tile->rows; i++)
            for (size_t j = 0; j < i; j++)
                values[(tile->row + i) * n + tile->row + j] = tile->values[j * tile->stride + i];
        return;
    }
    for (size_t j = 0; j < tile->columns; j += SQUARE)
        transpose_columns(values + (tile->column + j) * n + tile->row, n, tile->values + j,
                          tile->stride, tile->rows, md_min(tile->columns - j, SQUARE));
}
