/* SPDX-License-Identifier: BSD-3-Clause */
/* Structs of the public headers that callers allocate begin with their size, so that a program and
 * a library of different versions understand each other: what both know is copied, what only the
 * library knows has its default, and what only the caller knows must be zero. */
#ifndef MD_STRUCT_SIZE_H
#define MD_STRUCT_SIZE_H

#include "base/base.h"

/* Copies the caller's struct (NULL: nothing) over whole, which holds the defaults. Codes:
 * MEDLEY_USAGE for a size that cannot be one, MEDLEY_NOT_SUPPORTED for fields set that this library
 * does not know. init: the macro that the caller should have started with. */
MEDLEY_CHECKED medley_status md_take_struct(void *whole, size_t size, const void *given,
                                            const char *init, medley_error *error);

/* For structs to be filled: whether the size can be one, before any work is done. */
MEDLEY_CHECKED medley_status md_check_struct(const void *given, const char *init,
                                             medley_error *error);

/* Fills the caller's struct as far as it goes; its size stays, fields that only it knows are 0. */
void md_fill_struct(void *given, const void *whole, size_t size);

/* Whether the caller's struct has this field. */
#define MD_STRUCT_HAS(given, field)                                                                \
    ((given)->struct_size >= (size_t)((const char *)(&(given)->field + 1) - (const char *)(given)))

#define MD_TAKE_STRUCT(whole, given, init, error)                                                  \
    md_take_struct(whole, sizeof *(whole), given, #init, error)

#endif
