/* SPDX-License-Identifier: BSD-3-Clause */
/* Allocation with overflow-checked sizes, aligned for vector code. All memory is released with
 * free(). */
#ifndef MD_MEMORY_H
#define MD_MEMORY_H

#include "base/status.h"
#include <stddef.h>
#include <stdlib.h>

/* Zeroed memory for count items, or NULL (also when count * size overflows). Never NULL for 0. */
void *md_calloc(size_t count, size_t size);

/* The same, not zeroed and aligned to 64 bytes: large arrays that are filled at once. */
void *md_alloc_aligned(size_t count, size_t size);

/* Tells the system that fresh memory is going to be filled whole, so that it may come in large
 * pages: touching it page by page costs as much as parsing. A hint only, and none for an array that
 * goes on growing: it could not be moved any more without a copy. */
void md_expect_large(void *memory, size_t bytes);

/* Grows *array (items of `size` bytes) so that it holds at least `needed`; doubles. Returns 0 on
 * success; on failure *array is untouched. */
int md_reserve(void **array, size_t *capacity, size_t needed, size_t size);

/* A copy of `bytes` bytes, or NULL. */
void *md_copy(const void *source, size_t bytes);

/* A copy of the first length characters of text, terminated, or NULL. */
char *md_copy_text(const char *text, size_t length);

/* The same with a status, for MEDLEY_TRY: *(T **)pointer gets count zeroed items, aligned ones that
 * are not zeroed, or a copy. pointer is the address of a pointer of any type; it is NULL after a
 * failure. */
medley_status md_new(void *pointer, size_t count, size_t size, medley_error *error);
medley_status md_new_aligned(void *pointer, size_t count, size_t size, medley_error *error);
medley_status md_new_copy(void *pointer, const void *source, size_t bytes, medley_error *error);
medley_status md_new_text(char **pointer, const char *text, size_t length, medley_error *error);

/* md_reserve with a status; array is the address of a pointer of any type. */
medley_status md_grow(void *array, size_t *capacity, size_t needed, size_t size,
                      medley_error *error);

/* Arrays that go together: what md_pool_new and md_pool_new_aligned make, which are md_new and
 * md_new_aligned otherwise, is freed by one md_pool_clear. A pool of zeros is empty. */
typedef struct md_pool {
    struct md_pooled *last; /* each knows the one before */
} md_pool;

medley_status md_pool_new(md_pool *pool, void *pointer, size_t count, size_t size,
                          medley_error *error);
medley_status md_pool_new_aligned(md_pool *pool, void *pointer, size_t count, size_t size,
                                  medley_error *error);
void md_pool_clear(md_pool *pool);

/* ---- what a function owns ----
 *
 *     MD_OWNED(free) float *score = NULL;                    a pointer, released by free(score)
 *     MD_CLEARED(md_division_clear) md_division parts = {0}; a struct, by md_division_clear(&parts)
 *
 * however the function is left, the last one first. What is handed on is taken: *out =
 * md_take(&score) leaves NULL, or {0}, behind. (An attribute and an expression that gcc and clang
 * have.) */
#define MD_OWNED(function)   __attribute__((cleanup(function##_owned)))
#define MD_CLEARED(function) __attribute__((cleanup(function)))

#define md_take(address)                                                                           \
    (__extension__({                                                                               \
        __typeof__(*(address)) taken_ = *(address);                                                \
        *(address) = (__typeof__(taken_)){0};                                                      \
        taken_;                                                                                    \
    }))

#define md_swap(one, other)                                                                        \
    do {                                                                                           \
        __typeof__(*(one)) kept_ = *(one);                                                         \
        *(one) = *(other);                                                                         \
        *(other) = kept_;                                                                          \
    } while (0)

/* Makes a function that frees a pointer fit for MD_OWNED; stands beside its declaration. */
/* NOLINTBEGIN(bugprone-macro-parentheses): a type */
#define MD_OWNER(function, type)                                                                   \
    static inline void function##_owned(type **owned)                                              \
    {                                                                                              \
        function(*owned);                                                                          \
    }
/* NOLINTEND(bugprone-macro-parentheses) */

static inline void free_owned(void *owned) /* the address of a pointer of any type */
{
    free(*(void **)owned);
}

/* Bytes of memory the system could still give out now; 0 where that is not known. */
size_t md_memory_available(void);

#endif
