/* SPDX-License-Identifier: BSD-3-Clause */
/* Dictionaries of tuples large enough that different tuples share a whole hash: they must still be
 * told apart. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "feature/tuples.h"
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 3, SIDE = 800, COUNT = SIDE * SIDE };

static void make_tuple(int32_t *tuple, size_t i)
{
    tuple[0] = (int32_t)(i % SIDE);
    tuple[1] = (int32_t)(i / SIDE);
    tuple[2] = (int32_t)(i * i % 7);
}

static int compare(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static size_t shared_hashes(const md_tuples *tuples)
{
    uint32_t *hash = malloc(COUNT * sizeof *hash);
    size_t count = 0, shared = 0;
    assert_non_null(hash);
    for (size_t i = 0; i < tuples->slot_count; i++)
        if (tuples->slots[i].id != 0)
            hash[count++] = tuples->slots[i].hash;
    assert_int_equal(count, COUNT);
    qsort(hash, count, sizeof *hash, compare);
    for (size_t i = 1; i < count; i++)
        shared += hash[i] == hash[i - 1];
    free(hash);
    return shared;
}

/* Looks up count tuples from first on; shift makes them ones that are not there. */
static void find_batch(const md_tuples *tuples, size_t first, size_t count, int32_t shift,
                       int32_t ids[MD_BATCH])
{
    int32_t column[WIDTH][MD_BATCH] = {{0}};
    for (size_t i = 0; i < count; i++) {
        int32_t tuple[WIDTH];
        make_tuple(tuple, first + i);
        for (size_t m = 0; m < WIDTH; m++)
            column[m][i] = tuple[m];
        column[WIDTH - 1][i] += shift;
    }
    md_tuples_find(tuples, (const int32_t(*)[MD_BATCH])column, count, ids);
}

static void tuples_that_share_a_hash_are_told_apart(void **state)
{
    md_tuples tuples;
    int32_t ids[MD_BATCH];
    (void)state;
    assert_true(md_tuples_start(&tuples, WIDTH, 0));
    for (int turn = 0; turn < 2; turn++) /* the second turn finds them all */
        for (size_t i = 0; i < COUNT; i++) {
            int32_t tuple[WIDTH];
            make_tuple(tuple, i);
            assert_int_equal(md_tuples_add(&tuples, tuple), i);
        }
    assert_in_range(shared_hashes(&tuples), 10, 200); /* 48 are expected of an even hash */
    for (size_t first = 0; first < COUNT; first += MD_BATCH) {
        const size_t count = COUNT - first < MD_BATCH ? COUNT - first : MD_BATCH;
        find_batch(&tuples, first, count, 0, ids);
        for (size_t i = 0; i < count; i++)
            assert_int_equal(ids[i], first + i);
        find_batch(&tuples, first, count, 7, ids);
        for (size_t i = 0; i < count; i++)
            assert_int_equal(ids[i], -1);
    }
    md_tuples_clear(&tuples);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tuples_that_share_a_hash_are_told_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
