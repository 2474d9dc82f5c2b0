/* SPDX-License-Identifier: BSD-3-Clause */
/* Views found by name or group: what a scan over all of them finds, in the same order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/random.h"
#include "gram/view_index.h"
#include <stdio.h>
#include <string.h>

enum { MOST = 60, NAMES = 12 };

static void an_index_finds_what_a_scan_finds(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 60; seed++) {
        char names[NAMES][8];
        md_view views[MOST] = {{0}};
        md_random random;
        md_random_seed(&random, seed);
        for (size_t n = 0; n < NAMES; n++)
            snprintf(names[n], sizeof names[n], "v%zu", n);
        const size_t count = md_random_below(&random, MOST + 1);
        for (size_t v = 0; v < count; v++) { /* names that return, and groups called as views */
            views[v].name = names[md_random_below(&random, NAMES)];
            views[v].group = names[md_random_below(&random, NAMES / 3)];
        }
        md_view_index index;
        assert_int_equal(md_view_index_make(&index, views, count, NULL), MEDLEY_OK);
        for (size_t n = 0; n <= NAMES; n++) {
            const char *name = n < NAMES ? names[n] : NULL;
            const md_view_list found = md_view_index_find(&index, name);
            size_t seen = 0;
            for (size_t v = 0; v < count; v++) {
                if (name != NULL && strcmp(views[v].name, name) != 0 &&
                    strcmp(views[v].group, name) != 0)
                    continue;
                assert_true(seen < found.count);
                assert_int_equal(found.views[seen++], v);
            }
            assert_int_equal(seen, found.count);
        }
        assert_int_equal(md_view_index_find(&index, "v").count, 0);
        assert_int_equal(md_view_index_find(&index, "").count, 0);
        md_view_index_clear(&index);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(an_index_finds_what_a_scan_finds)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
