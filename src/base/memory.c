/* SPDX-License-Identifier: BSD-3-Clause */
/* Allocation that never lets count * size wrap around, and what the system has left to give. */
#include "base/base.h"

#include <sys/mman.h>

void *md_calloc(size_t count, size_t size)
{
    return calloc(count ? count : 1, size); /* calloc checks the product */
}

enum { HUGE_PAGE = 2 << 20, LARGE_ARRAY = 2 * HUGE_PAGE };

/* Large arrays ask for pages of 2 MB: touching fresh memory 4 KB at a time costs more than filling
 * it. Where the system knows no such pages the request is ignored. */
void *md_alloc_aligned(size_t count, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes) || bytes > SIZE_MAX - HUGE_PAGE)
        return NULL;
    if (bytes >= LARGE_ARRAY) {
        bytes = (bytes + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
        void *memory = aligned_alloc(HUGE_PAGE, bytes);
        if (memory != NULL)
            (void)madvise(memory, bytes, MADV_HUGEPAGE);
        return memory;
    }
    bytes = (bytes + 63) / 64 * 64;
    return aligned_alloc(64, bytes ? bytes : 64);
}

void md_expect_large(void *memory, size_t bytes)
{
    const size_t skipped = (HUGE_PAGE - (uintptr_t)memory % HUGE_PAGE) % HUGE_PAGE;
    if (bytes < skipped + HUGE_PAGE)
        return;
    const size_t whole = (bytes - skipped) / HUGE_PAGE * HUGE_PAGE;
    (void)madvise((char *)memory + skipped, whole, MADV_HUGEPAGE);
}

int md_reserve(void **array, size_t *capacity, size_t needed, size_t size)
{
    size_t bytes;
    if (needed <= *capacity)
        return 0;
    size_t grown = *capacity < SIZE_MAX / 2 ? *capacity * 2 : needed;
    if (grown < needed)
        grown = needed;
    if (grown < 16)
        grown = 16;
    if (__builtin_mul_overflow(grown, size, &bytes))
        return -1;
    void *moved = realloc(*array, bytes);
    if (moved == NULL)
        return -1;
    *array = moved;
    *capacity = grown;
    return 0;
}

void *md_copy(const void *source, size_t bytes)
{
    void *copy = bytes < LARGE_ARRAY ? malloc(bytes ? bytes : 1) : md_alloc_aligned(bytes, 1);
    if (copy != NULL && bytes > 0)
        memcpy(copy, source, bytes);
    return copy;
}

char *md_copy_text(const char *text, size_t length)
{
    char *copy = length < SIZE_MAX ? malloc(length + 1) : NULL;
    if (copy == NULL)
        return NULL;
    if (length > 0)
        memcpy(copy, text, length);
    copy[length] = '\0';
    return copy;
}

/* The number in a one-line file of the kernel; 0 if there is none ("max", no such file). */
static size_t read_count(const char *path)
{
    FILE *file = fopen(path, "r");
    unsigned long long count = 0;
    if (file == NULL)
        return 0;
    if (fscanf(file, "%llu", &count) != 1)
        count = 0;
    fclose(file);
    return (size_t)count;
}

/* What a container may still take; SIZE_MAX if it has no limit of its own. */
static size_t container_memory(void)
{
    const size_t limit = read_count("/sys/fs/cgroup/memory.max");
    const size_t used = read_count("/sys/fs/cgroup/memory.current");
    if (limit == 0)
        return SIZE_MAX;
    return limit > used ? limit - used : 1;
}

static medley_status take(void *pointer, void *memory, size_t count, size_t size,
                          medley_error *error)
{
    memcpy(pointer, &memory, sizeof memory);
    return memory != NULL ? MEDLEY_OK : md_fail_memory(error, count * size);
}

medley_status md_new(void *pointer, size_t count, size_t size, medley_error *error)
{
    return take(pointer, md_calloc(count, size), count, size, error);
}

medley_status md_new_aligned(void *pointer, size_t count, size_t size, medley_error *error)
{
    return take(pointer, md_alloc_aligned(count, size), count, size, error);
}

medley_status md_new_copy(void *pointer, const void *source, size_t bytes, medley_error *error)
{
    return take(pointer, md_copy(source, bytes), bytes, 1, error);
}

medley_status md_new_text(char **pointer, const char *text, size_t length, medley_error *error)
{
    return take(pointer, md_copy_text(text, length), length, 1, error);
}

medley_status md_grow(void *array, size_t *capacity, size_t needed, size_t size,
                      medley_error *error)
{
    void *memory;
    memcpy(&memory, array, sizeof memory);
    if (md_reserve(&memory, capacity, needed, size) != 0)
        return md_fail_memory(error, needed * size);
    memcpy(array, &memory, sizeof memory);
    return MEDLEY_OK;
}

/* ---- pools ---- */

/* Stands before every array of a pool; 64 bytes, so that the array is aligned as it was. */
struct md_pooled {
    struct md_pooled *before;
    char rest[64 - sizeof(void *)];
};

static medley_status take_pooled(md_pool *pool, void *pointer, size_t count, size_t size,
                                 void *(*allocate)(size_t, size_t), medley_error *error)
{
    const size_t head = sizeof(struct md_pooled);
    size_t bytes;
    struct md_pooled *made = NULL;
    if (!__builtin_mul_overflow(count, size, &bytes) && bytes < SIZE_MAX - head)
        made = allocate(1, head + bytes);
    if (made != NULL) {
        made->before = pool->last;
        pool->last = made;
    }
    return take(pointer, made != NULL ? made + 1 : NULL, count, size, error);
}

medley_status md_pool_new(md_pool *pool, void *pointer, size_t count, size_t size,
                          medley_error *error)
{
    return take_pooled(pool, pointer, count, size, md_calloc, error);
}

medley_status md_pool_new_aligned(md_pool *pool, void *pointer, size_t count, size_t size,
                                  medley_error *error)
{
    return take_pooled(pool, pointer, count, size, md_alloc_aligned, error);
}

void md_pool_clear(md_pool *pool)
{
    while (pool->last != NULL) {
        struct md_pooled *last = pool->last;
        pool->last = last->before;
        free(last);
    }
}

size_t md_memory_available(void)
{
    FILE *file = fopen("/proc/meminfo", "r");
    if (file == NULL)
        return 0;
    char line[256];
    unsigned long long kilobytes = 0;
    while (fgets(line, sizeof line, file) != NULL)
        if (strncmp(line, "MemAvailable:", 13) == 0)
            kilobytes = strtoull(line + 13, NULL, 10);
    fclose(file);
    const size_t container = container_memory();
    const size_t available = (size_t)kilobytes * 1024;
    return available < container ? available : container;
}
