/* SPDX-License-Identifier: BSD-3-Clause */
/* An allocator that counts and fails on request, for a test program of its own: it replaces malloc
 * and its kin in the whole program. CAN_FAIL is 0 where that cannot be done (sanitizers bring their
 * own); then there is nothing to test. */
#ifndef FAILING_ALLOCATIONS_H
#define FAILING_ALLOCATIONS_H

#include <features.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

#if defined(__GLIBC__) && !defined(MEDLEY_SANITIZED)
#define CAN_FAIL 1
#else
#define CAN_FAIL 0
#endif

#if CAN_FAIL

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *old, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);
extern void __libc_free(void *memory);

static size_t countdown; /* the allocation that reaches 0 fails; 0: none does */
static bool has_failed;
static long live; /* blocks allocated and not freed */

static bool must_fail(void)
{
    const bool now = countdown == 1;
    countdown -= countdown > 0;
    has_failed = has_failed || now;
    return now;
}

static void *counted(void *memory)
{
    live += memory != NULL;
    return memory;
}

void *malloc(size_t size)
{
    return must_fail() ? NULL : counted(__libc_malloc(size));
}

void *calloc(size_t count, size_t size)
{
    return must_fail() ? NULL : counted(__libc_calloc(count, size));
}

void *realloc(void *old, size_t size)
{
    if (must_fail())
        return NULL;
    void *memory = __libc_realloc(old, size);
    return old == NULL ? counted(memory) : memory;
}

void *aligned_alloc(size_t alignment, size_t size)
{
    return must_fail() ? NULL : counted(__libc_memalign(alignment, size));
}

void free(void *memory)
{
    live -= memory != NULL;
    __libc_free(memory);
}

#endif
#endif
