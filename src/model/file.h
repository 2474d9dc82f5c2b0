/* SPDX-License-Identifier: BSD-3-Clause */
/* The container of a model file: a header, a table of named sections, the sections. */
#ifndef MD_FILE_H
#define MD_FILE_H

#include "base/pack.h"
#include "model/model.h"

/* The version that is written, and the oldest one that is read. */
enum { MD_FILE_VERSION = 4, MD_FILE_OLDEST = 2 };

/* Sections of every file, and all that a file may have. */
enum { MD_SECTION_COUNT = 5, MD_SECTIONS_KNOWN = 7 };

#define MD_FILE_MAGIC "MEDLEY\r\n" /* 8 bytes; \r\n shows a transfer in text mode */

/* Header: magic, u64 version, u64 file length, u64 section count, then per section name[8],
 * u64 offset, u64 length, u64 crc32; then u64 crc32 of everything before. It stays like this in
 * all versions, so that an old program can tell a newer file from a damaged one. */
#define MD_HEADER_BYTES(sections) (32 + 32 * (size_t)(sections) + 8)
/* Larger numbers in a file are damage. */
enum { MD_MOST_ORDER = 2, MD_MOST_LABELS = 1 << 20 };

enum { MD_SECTIONS_MOST = 64, MD_SECTION_ALIGN = 64 };

/* "story" "kernels" "points" "bodies" "weights", of calibrated models "proba", of parsers "trees";
 * in this order. */
extern const char *const md_section_names[MD_SECTIONS_KNOWN];

/* The sections of coefficients, and of templates and explicit weights. Reading sets in->bad where
 * bytes make no sense and returns a failure only for lack of memory. */
void md_bodies_pack(md_text *out, const medley_model *model);
medley_status md_bodies_unpack(medley_model *model, md_unpack *in, uint64_t version,
                               medley_error *error);
void md_weights_pack(md_text *out, const medley_model *model);
medley_status md_weights_unpack(medley_model *model, md_unpack *in, medley_error *error);
medley_status md_parser_pack(md_text *out, const md_parser *parser, medley_error *error);
medley_status md_parser_unpack(medley_model *model, md_unpack *in, medley_error *error);

/* A model within another one's section: the bytes of a file of its own. */
medley_status md_model_pack(md_text *out, const medley_model *model, medley_error *error);
medley_status md_model_unpack(medley_model **model, const char *data, size_t length,
                              medley_error *error);

#endif
