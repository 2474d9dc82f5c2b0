/* SPDX-License-Identifier: BSD-3-Clause */
/* Values to bytes and back for model files: little-endian, every count checked against the bytes
 * that are left. docs/formats/model.md describes the result. */
#ifndef MD_PACK_H
#define MD_PACK_H

#include "base/text.h"
#include <stdint.h>

/* Writing: a growing buffer; a failed allocation is remembered. */
void md_pack_u64(md_text *out, uint64_t value);
void md_pack_f64(md_text *out, double value);
void md_pack_text(md_text *out, const char *text);
void md_pack_floats(md_text *out, const float *values, size_t count); /* aligned to 4 bytes */

/* Reading: after the first thing that does not fit, everything reads as zero and `bad` is set. */
typedef struct md_unpack {
    const char *data;
    size_t length, position;
    bool bad;
} md_unpack;

uint64_t md_unpack_u64(md_unpack *in);
double md_unpack_f64(md_unpack *in);
/* A count of items of at least `bytes` bytes each: bad if so many cannot follow. */
size_t md_unpack_count(md_unpack *in, size_t bytes);
char *md_unpack_text(md_unpack *in);                     /* owned; NULL if bad */
float *md_unpack_floats(md_unpack *in, size_t count);    /* owned; NULL if bad */

#endif
