/* SPDX-License-Identifier: BSD-3-Clause */
/* A model file that is being read. */
#ifndef MD_LOAD_H
#define MD_LOAD_H

#include "file/file.h"
#include "medley/structure.h"

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
