/* SPDX-License-Identifier: BSD-3-Clause */
/* The small pattern language of Wapiti's %t and %m: characters, classes, repeats of one character
 * and two anchors. Time is at most text length times pattern length, whatever both are. */
#ifndef MD_PATTERN_H
#define MD_PATTERN_H

#include "base/base.h"

enum { MD_PATTERN_MOST = 128 }; /* characters of a pattern */

typedef enum md_repeat { MD_ONCE, MD_AT_MOST_ONCE, MD_ANY_NUMBER } md_repeat;

/* One character of the pattern: which characters of a text it takes, and how many. */
typedef struct md_pattern_item {
    uint64_t ascii[2];           /* a bit for each ASCII character it takes */
    bool takes_other;            /* every character beyond ASCII */
    unsigned char literal[4];    /* a character beyond ASCII that it takes */
    unsigned char literal_bytes; /* 0: none */
    md_repeat repeat;
} md_pattern_item;

typedef struct md_pattern {
    bool at_start, at_end; /* ^ and $ */
    size_t count;
    md_pattern_item item[MD_PATTERN_MOST];
} md_pattern;

/* text: the pattern between its quotes, \" still escaped. NULL on success, else what is wrong with
 * it, in words that follow "the pattern"; nothing is known of files here. */
const char *md_pattern_compile(md_pattern *pattern, const char *text, size_t length);

/* The leftmost match, of those the longest: text[*start .. *start + *size - 1]. */
bool md_pattern_find(const md_pattern *pattern, const char *text, size_t length, size_t *start,
                     size_t *size);

#endif
