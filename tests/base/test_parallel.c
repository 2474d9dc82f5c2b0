/* SPDX-License-Identifier: BSD-3-Clause */
/* Every item is done exactly once, by a worker with a valid number, whatever the thread count. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/parallel.h"
#include <stdatomic.h>
#include <stdbool.h>

enum { MOST_ITEMS = 5000, MOST_THREADS = 5 };

struct work {
    atomic_int done[MOST_ITEMS];
    atomic_bool busy[MOST_THREADS]; /* a worker's scratch is its own while it runs */
    atomic_int bad_workers, clashes;
    size_t threads;
};

static void do_item(void *context, size_t item, size_t worker)
{
    struct work *work = context;
    if (worker >= (work->threads ? work->threads : 1)) {
        atomic_fetch_add(&work->bad_workers, 1);
        return;
    }
    if (atomic_exchange(&work->busy[worker], true))
        atomic_fetch_add(&work->clashes, 1);
    atomic_fetch_add(&work->done[item], 1);
    atomic_store(&work->busy[worker], false);
}

static void every_item_is_done_exactly_once(void **state)
{
    (void)state;
    static const size_t threads[] = {0, 1, 2, 5};
    static const size_t counts[] = {0, 1, 2, 3, 100, MOST_ITEMS};
    static struct work work;
    for (size_t t = 0; t < sizeof threads / sizeof *threads; t++) {
        for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
            for (size_t i = 0; i < MOST_ITEMS; i++)
                atomic_store(&work.done[i], 0);
            work.threads = threads[t];
            md_parallel_for(threads[t], counts[c], do_item, &work);
            for (size_t i = 0; i < MOST_ITEMS; i++)
                assert_int_equal(atomic_load(&work.done[i]), i < counts[c]);
        }
    }
    assert_int_equal(atomic_load(&work.bad_workers), 0);
    assert_int_equal(atomic_load(&work.clashes), 0);
}

static void nest(void *context, size_t item, size_t worker)
{
    (void)item;
    (void)worker;
    struct work inner = {.threads = 2};
    md_parallel_for(2, 10, do_item, &inner);
    for (size_t i = 0; i < 10; i++)
        atomic_fetch_add((atomic_int *)context, atomic_load(&inner.done[i]));
}

static void work_inside_work_is_done_too(void **state)
{
    (void)state;
    atomic_int done = 0;
    md_parallel_for(2, 20, nest, &done);
    assert_int_equal(atomic_load(&done), 200);
}

static void there_is_at_least_one_processor(void **state)
{
    (void)state;
    assert_true(md_processor_count() >= 1);
    assert_true(md_processor_count() < 100000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_item_is_done_exactly_once),
        cmocka_unit_test(work_inside_work_is_done_too),
        cmocka_unit_test(there_is_at_least_one_processor),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
