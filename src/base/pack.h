/* SPDX-License-Identifier: BSD-3-Clause */
/* Values to bytes and back for model files: little-endian, every count checked against the bytes
 * that are left. docs/formats/model.md describes the result. */
#ifndef MD_PACK_H
#define MD_PACK_H

#include "base/text.h"

/* Writing: a growing buffer; a failed allocation is remembered. */
void md_pack_u64(md_text *out, uint64_t value);
void md_pack_f64(md_text *out, double value);
void md_pack_text(md_text *out, const char *text);
void md_pack_strings(md_text *out, const md_strings *strings);        /* their number, and them */
void md_pack_sizes(md_text *out, const size_t *values, size_t count); /* 8 bytes each */
/* 4 bytes each, filled up to a multiple of 8 */
void md_pack_u32s(md_text *out, const uint32_t *values, size_t count);
void md_pack_floats(md_text *out, const float *values, size_t count);

/* Reading: after the first thing that does not fit, everything reads as zero and `bad` is set;
 * no_memory tells that it was not the data's fault. */
typedef struct md_unpack {
    const char *data;
    size_t length, position;
    bool bad, no_memory;
} md_unpack;

uint64_t md_unpack_u64(md_unpack *in);
double md_unpack_f64(md_unpack *in);
/* A count of items of at least `bytes` bytes each: bad if fewer can follow. */
size_t md_unpack_count(md_unpack *in, size_t bytes);
/* Into an empty table; one that holds a string twice is bad. */
void md_unpack_strings(md_unpack *in, md_strings *strings);
/* These are owned by the caller, and NULL if bad. */
char *md_unpack_text(md_unpack *in);
size_t *md_unpack_sizes(md_unpack *in, size_t count);
uint32_t *md_unpack_u32s(md_unpack *in, size_t count);
float *md_unpack_floats(md_unpack *in, size_t count); /* one that is not finite is bad */

/* Everything was read well and nothing is left. */
bool md_unpack_done(const md_unpack *in);

#endif
