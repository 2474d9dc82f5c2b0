/* SPDX-License-Identifier: BSD-3-Clause */
/* The container of a model file: a header, a table of named sections, the sections. */
#ifndef MD_FILE_H
#define MD_FILE_H

#include "medley/structure.h"
#include "task/task.h"

/* The version that is written, and the oldest one that is read. */
enum { MD_FILE_VERSION = 8, MD_FILE_OLDEST = 2 };

/* In this order: those of every file, then (from version 5 on) what the training data looked like,
 * then those of calibrated models, of tasks that keep something. */
enum {
    MD_SECTION_STORY,
    MD_SECTION_KERNELS,
    MD_SECTION_POINTS,
    MD_SECTION_BODIES,
    MD_SECTION_WEIGHTS,
    MD_SECTION_COUNT,
    MD_SECTION_INPUT = MD_SECTION_COUNT,
    MD_SECTION_PROBA,
    MD_SECTION_OWN,
    MD_SECTIONS_KNOWN
};
extern const char *const md_section_names[MD_SECTION_OWN]; /* the last one is the task's */

#define MD_FILE_MAGIC "MEDLEY\r\n" /* 8 bytes; \r\n shows a transfer in text mode */

/* Header: magic, u64 version, u64 file length, u64 section count, then per section name[8],
 * u64 offset, u64 length, u64 crc32; then u64 crc32 of everything before. It stays like this in
 * all versions, so that an old program can tell a newer file from a damaged one. */
#define MD_HEADER_BYTES(sections) (32 + 32 * (size_t)(sections) + 8)
enum { MD_MOST_ORDER = 2 }; /* a larger number in a file is damage */

enum { MD_SECTIONS_MOST = 64, MD_SECTION_ALIGN = 64 };

void md_pack_doubles(md_text *out, const double *values, size_t count);
/* count finite numbers, which are known to follow; NULL if bad. */
double *md_unpack_doubles(md_unpack *in, size_t count);

/* The sections of coefficients, and of templates and explicit weights. Reading sets in->bad where
 * bytes make no sense and returns a failure only for lack of memory. */
void md_bodies_pack(md_text *out, const medley_model *model);
medley_status md_bodies_unpack(medley_model *model, md_unpack *in, uint64_t version,
                               medley_error *error);
void md_weights_pack(md_text *out, const medley_model *model);
medley_status md_weights_unpack(medley_model *model, md_unpack *in, medley_error *error);

/* ---- a model file that is being read ---- */

typedef struct md_loader {
    medley_model *model;
    const char *path;                  /* NULL: within another model's file */
    const medley_structure *structure; /* that the program has brought, or NULL */
    uint64_t version;
    md_unpack sections[MD_SECTIONS_KNOWN]; /* no data: not there */
    const char *own;                       /* the name of the task's section; NULL: not there */
    medley_error *error;
} md_loader;

medley_status md_fail_damaged(const md_loader *loader, const char *what);

medley_status md_load_summary(md_loader *loader);
medley_status md_load_kernels(md_loader *loader);
medley_status md_load_prepared(md_loader *loader);

#endif
