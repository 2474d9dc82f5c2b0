/* SPDX-License-Identifier: BSD-3-Clause */
/* The entry of one target, FUZZ_NAME, and what stands in for malloc in the one whose allocations
 * fail. */
#include "fuzz.h"

#define JOIN(a, b)   a##b
#define TARGET(name) JOIN(fuzz_, name)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    TARGET(FUZZ_NAME)((fuzz_input){data, size});
    return 0;
}

#ifdef FUZZ_WRAPS
/* NOLINTBEGIN(bugprone-reserved-identifier): the linker's names */
void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);

/* Called by the sanitizers before they tell, which needs memory. */
void __asan_on_error(void);
void __ubsan_on_report(void);

void __asan_on_error(void)
{
    fuzz_pause();
}

void __ubsan_on_report(void)
{
    fuzz_pause();
}

void *__wrap_malloc(size_t size)
{
    return fuzz_allocation_fails() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
    return fuzz_allocation_fails() ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *old, size_t size)
{
    return fuzz_allocation_fails() ? NULL : __real_realloc(old, size);
}

void *__wrap_aligned_alloc(size_t alignment, size_t size)
{
    return fuzz_allocation_fails() ? NULL : __real_aligned_alloc(alignment, size);
}
/* NOLINTEND(bugprone-reserved-identifier) */
#endif
