/* SPDX-License-Identifier: BSD-3-Clause */
/* The container of a model file: a header, a table of named sections, the sections. */
#ifndef MD_FILE_H
#define MD_FILE_H

#include "model/model.h"
#include "model/pack.h"

enum { MD_FILE_VERSION = 1, MD_SECTION_COUNT = 4 };

#define MD_FILE_MAGIC "MEDLEY\r\n" /* 8 bytes; \r\n shows a transfer in text mode */

/* Header: magic, u64 version, u64 file length, u64 section count, then per section name[8],
 * u64 offset, u64 length, u64 crc32; then u64 crc32 of everything before. */
enum { MD_HEADER_BYTES = 32 + 32 * MD_SECTION_COUNT + 8, MD_SECTION_ALIGN = 64 };

extern const char *const md_section_names[MD_SECTION_COUNT]; /* "story" "kernels" "points" "bodies" */

#endif
