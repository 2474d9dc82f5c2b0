/* SPDX-License-Identifier: BSD-3-Clause */
/* Packed triangles of float and of double values. */
#include "packed/triangle_loops.h"

#include "base/vector.h"

enum { ROWS = 4 };                              /* taken at once: they share the loads of x and y */
#define LINE_VALUES      (64 / sizeof(VALUE))   /* of a cache line */
#define AHEAD_VALUES     (4096 / sizeof(VALUE)) /* fetched ahead, at least */
#define SUM_AHEAD_VALUES (1024 / sizeof(VALUE)) /* the same in each of several triangles */
#define PACKED_INLINE    static inline __attribute__((always_inline))

#define VALUE        float
#define PACKED(name) name##_float
#include "packed/triangle_bodies.h"

#define VALUE        double
#define PACKED(name) name##_double
#include "packed/triangle_bodies.h"
