/* SPDX-License-Identifier: BSD-3-Clause */
/* Packed triangles of float values. */
#include "packed/triangle_loops.h"

#include "base/vector.h"
#include <string.h>

#define PACKED_INLINE static inline __attribute__((always_inline))
#define VALUE         float
#define PACKED(name)  name##_float
#include "packed/triangle_bodies.h"
