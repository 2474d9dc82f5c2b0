/* SPDX-License-Identifier: BSD-3-Clause */
/* The pen strokes of the 26 lower-case letters, for the handwriting generator. */
#ifndef MD_GEN_STROKES_H
#define MD_GEN_STROKES_H

#include "base/base.h"

enum { MD_STROKES_MOST = 3, MD_PREPARED_MOST = 9 };

/* In hundredths of the letter's box: x from the left edge, y from the top. */
typedef struct md_stroke_point {
    signed char x, y;
} md_stroke_point;

/* A quadratic B-spline: it starts at the first point, ends at the last and is drawn towards those
 * between. A point given twice is a corner; two points make a straight line. */
typedef struct md_stroke {
    size_t count;
    md_stroke_point points[MD_PREPARED_MOST];
} md_stroke;

typedef struct md_letter_shape {
    size_t stroke_count;
    md_stroke strokes[MD_STROKES_MOST];
} md_letter_shape;

extern const md_letter_shape md_letter_shapes[26]; /* a .. z */

#endif
