/* SPDX-License-Identifier: BSD-3-Clause */
/* Sizes of pieces. */
#ifndef MD_SIZE_H
#define MD_SIZE_H

#include "base/base.h"

static inline size_t md_min(size_t a, size_t b)
{
    return a < b ? a : b;
}

static inline size_t md_max(size_t a, size_t b)
{
    return a > b ? a : b;
}

/* Pieces of `size` that `count` items are cut into; the last one may be smaller. */
static inline size_t md_pieces(size_t count, size_t size)
{
    return (count + size - 1) / size;
}

#endif
