/* SPDX-License-Identifier: BSD-3-Clause */
/* The container of a model file: a header, a table of named sections, the sections. */
#ifndef MD_FILE_H
#define MD_FILE_H

#include "model/model.h"
#include "model/pack.h"

enum { MD_FILE_VERSION = 1, MD_SECTION_COUNT = 4 };

#define MD_FILE_MAGIC "MEDLEY\r\n" /* 8 bytes; \r\n shows a transfer in text mode */

/* Header: magic, u64 version, u64 file length, u64 section count, then per section name[8],
 * u64 offset, u64 length, u64 crc32; then u64 crc32 of everything before. It stays like this in
 * all versions, so that an old program can tell a newer file from a damaged one. */
#define MD_HEADER_BYTES(sections) (32 + 32 * (size_t)(sections) + 8)
enum { MD_SECTIONS_MOST = 64, MD_SECTION_ALIGN = 64 };

extern const char
    *const md_section_names[MD_SECTION_COUNT]; /* "story" "kernels" "points" "bodies" */

#endif
