/* SPDX-License-Identifier: BSD-3-Clause */
/* Is a dependency tree projective? For tests of what is generated, read and predicted. */
#ifndef TEST_PROJECTIVE_H
#define TEST_PROJECTIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct span {
    int64_t left, right;
} span;

static inline span arc_span(const int32_t *head, size_t word)
{
    const int64_t end = (int64_t)word;
    const int64_t other = head[word - 1];
    return other < end ? (span){other, end} : (span){end, other};
}

static inline bool cross(span a, span b)
{
    return (a.left < b.left && b.left < a.right && a.right < b.right) ||
           (b.left < a.left && a.left < b.right && b.right < a.right);
}

/* No two arcs cross, those from the root (left of the first word) included. Heads that are not
 * given
 * (-1) have no arcs. head[length]; time quadratic in length. */
static inline bool tree_is_projective(const int32_t *head, size_t length)
{
    for (size_t word = 2; word <= length; word++) {
        if (head[word - 1] < 0)
            continue;
        const span arc = arc_span(head, word);
        for (size_t before = 1; before < word; before++)
            if (head[before - 1] >= 0 && cross(arc, arc_span(head, before)))
                return false;
    }
    return true;
}

#endif
