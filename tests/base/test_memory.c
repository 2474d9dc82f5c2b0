/* SPDX-License-Identifier: BSD-3-Clause */
/* Allocation: sizes that would wrap around are refused, alignment, growth, copies. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/base.h"
#include <stdlib.h>
#include <string.h>

static void sizes_that_wrap_around_are_refused(void **state)
{
    (void)state;
    volatile size_t huge = SIZE_MAX / 2; /* volatile: compilers warn of constants this large */
    assert_null(md_calloc(huge, 4));
    assert_null(md_alloc_aligned(huge, 4));
    assert_null(md_alloc_aligned(huge + 2, 2)); /* the product wraps to 2 */
    assert_null(md_alloc_aligned(SIZE_MAX - huge % 2, 1));
}

static void what_cannot_be_had_is_told_with_a_status(void **state)
{
    (void)state;
    volatile size_t huge = SIZE_MAX / 2;
    medley_error error = {0};
    double *numbers = NULL;
    char *text = NULL;
    size_t capacity = 0;
    assert_int_equal(md_new(&numbers, 3, sizeof *numbers, &error), MEDLEY_OK);
    assert_true(numbers[0] == 0 && numbers[2] == 0);
    free(numbers);
    assert_int_equal(md_new_aligned(&numbers, 3, sizeof *numbers, &error), MEDLEY_OK);
    assert_int_equal((uintptr_t)numbers % 64, 0);
    free(numbers);
    assert_int_equal(md_new_text(&text, "medley", 3, &error), MEDLEY_OK);
    assert_string_equal(text, "med");
    free(text);
    assert_int_equal(md_new_copy(&text, "ab", 2, &error), MEDLEY_OK);
    assert_memory_equal(text, "ab", 2);
    assert_int_equal(md_new(&numbers, huge, sizeof *numbers, &error), MEDLEY_FAILED);
    assert_null(numbers);
    assert_true(error.message[0] != '\0');
    assert_int_equal(md_grow(&numbers, &capacity, 20, sizeof *numbers, &error), MEDLEY_OK);
    assert_true(capacity >= 20);
    numbers[19] = 1;
    assert_int_equal(md_grow(&numbers, &capacity, huge, sizeof *numbers, &error), MEDLEY_FAILED);
    assert_true(numbers[19] == 1); /* untouched */
    free(numbers);
    free(text);
}

static void a_pool_frees_what_it_has_made(void **state)
{
    (void)state;
    volatile size_t huge = SIZE_MAX / 2;
    md_pool pool = {0};
    double *zeros = NULL;
    float *aligned = NULL;
    char *none = (char *)&pool;
    md_pool_clear(&pool);
    assert_int_equal(md_pool_new(&pool, &zeros, 3, sizeof *zeros, NULL), MEDLEY_OK);
    assert_int_equal(md_pool_new_aligned(&pool, &aligned, 5, sizeof *aligned, NULL), MEDLEY_OK);
    assert_true(zeros[0] == 0 && zeros[2] == 0);
    assert_int_equal((uintptr_t)aligned % 64, 0);
    assert_int_equal(md_pool_new(&pool, &none, huge + 1, 2, NULL), MEDLEY_FAILED);
    assert_null(none);
    none = (char *)&pool;
    assert_int_equal(md_pool_new_aligned(&pool, &none, SIZE_MAX - huge % 2, 1, NULL),
                     MEDLEY_FAILED);
    assert_null(none);
    memset(aligned, 1, 5 * sizeof *aligned);
    assert_true(zeros[0] == 0 && zeros[2] == 0);
    md_pool_clear(&pool);
    assert_null(pool.last);
}

static void nothing_asked_for_is_still_memory(void **state)
{
    (void)state;
    void *zeroed = md_calloc(0, 8);
    void *aligned = md_alloc_aligned(0, 8);
    void *copy = md_copy(NULL, 0);
    assert_non_null(zeroed);
    assert_non_null(aligned);
    assert_non_null(copy);
    free(zeroed);
    free(aligned);
    free(copy);
}

static void aligned_memory_is_aligned_and_calloc_zeroes(void **state)
{
    (void)state;
    for (size_t count = 1; count < 300; count += 7) {
        char *aligned = md_alloc_aligned(count, 3);
        unsigned char *zeroed = md_calloc(count, 3);
        assert_non_null(aligned);
        assert_non_null(zeroed);
        assert_int_equal((uintptr_t)aligned % 64, 0);
        memset(aligned, 1, 3 * count); /* all of it may be written */
        for (size_t i = 0; i < 3 * count; i++)
            assert_int_equal(zeroed[i], 0);
        free(aligned);
        free(zeroed);
    }
}

static void reserve_keeps_the_items_and_grows_by_doubling(void **state)
{
    (void)state;
    uint32_t *items = NULL;
    size_t capacity = 0;
    size_t moves = 0;
    for (uint32_t i = 0; i < 100000; i++) {
        const size_t before = capacity;
        assert_int_equal(md_reserve((void **)&items, &capacity, i + 1, sizeof *items), 0);
        assert_true(capacity > i);
        moves += capacity != before;
        items[i] = i;
    }
    assert_true(moves <= 14); /* 16 * 2^13 > 100000 */
    for (uint32_t i = 0; i < 100000; i++)
        assert_int_equal(items[i], i);
    free(items);
}

static void reserve_leaves_the_array_when_it_cannot_grow(void **state)
{
    (void)state;
    uint64_t *items = NULL;
    size_t capacity = 0;
    assert_int_equal(md_reserve((void **)&items, &capacity, 5, sizeof *items), 0);
    uint64_t *const place = items;
    const size_t room = capacity;
    items[4] = 42;
    volatile size_t huge = SIZE_MAX / 4;
    assert_int_not_equal(md_reserve((void **)&items, &capacity, huge, sizeof *items), 0);
    assert_ptr_equal(items, place);
    assert_int_equal(capacity, room);
    assert_int_equal(items[4], 42);
    assert_int_equal(md_reserve((void **)&items, &capacity, 3, sizeof *items), 0);
    assert_ptr_equal(items, place);
    free(items);
}

static void copies_are_equal_and_separate(void **state)
{
    (void)state;
    char source[] = "some bytes";
    char *copy = md_copy(source, sizeof source);
    char *text = md_copy_text(source, 4);
    assert_non_null(copy);
    assert_non_null(text);
    source[0] = 'X';
    assert_string_equal(copy, "some bytes");
    assert_string_equal(text, "some");
    free(copy);
    free(text);
    text = md_copy_text(NULL, 0);
    assert_string_equal(text, "");
    free(text);
    assert_null(md_copy_text("x", SIZE_MAX));
}

static void the_clock_runs_forward_and_memory_is_counted(void **state)
{
    (void)state;
    const double start = md_clock_seconds();
    double now = start;
    for (int i = 0; i < 1000; i++) {
        const double next = md_clock_seconds();
        assert_true(next >= now);
        now = next;
    }
    assert_true(now > start && now < start + 60);
    assert_true(md_peak_rss_mb() > 0.5);
    assert_true(md_memory_available() < (size_t)1 << 50); /* 0 where it is not known */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_that_wrap_around_are_refused),
        cmocka_unit_test(what_cannot_be_had_is_told_with_a_status),
        cmocka_unit_test(a_pool_frees_what_it_has_made),
        cmocka_unit_test(nothing_asked_for_is_still_memory),
        cmocka_unit_test(aligned_memory_is_aligned_and_calloc_zeroes),
        cmocka_unit_test(reserve_keeps_the_items_and_grows_by_doubling),
        cmocka_unit_test(reserve_leaves_the_array_when_it_cannot_grow),
        cmocka_unit_test(copies_are_equal_and_separate),
        cmocka_unit_test(the_clock_runs_forward_and_memory_is_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
