/* SPDX-License-Identifier: BSD-3-Clause */
/* Packed triangles of double values. */
#include "gram/packed.h"

#include "base/vector.h"
#include <string.h>

#define PACKED_INLINE static inline __attribute__((always_inline))
#define VALUE         double
#define PACKED(name)  name##_double
#include "gram/packed_loops.h"
