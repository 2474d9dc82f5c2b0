/* SPDX-License-Identifier: BSD-3-Clause */
/* Every allocation of making columns of trees fails once, one after the other: each time the call
 * says so and leaves nothing behind. Where the allocator cannot be replaced (sanitizers bring their
 * own) there is nothing to test. */
#include "failing_allocations.h"
#include "tree_case.h"

#if CAN_FAIL

static const case_word WORDS[] = {
    {"In", "in", "ADP", "IN", "_", 2, "case"},
    {"towns", "_", "NOUN", "NNS", "Number=Plur", 3, "obl"},
    {"slept", "sleep", "VERB", "VBD", "Tense=Past", 0, "root"},
    END,
    {"Yes", "_", "INTJ", "UH", "_", 0, "_"},
    END,
};

/* Allocation 1, 2, 3 ... until the call gets by without reaching it. */
static void lack_of_memory_is_reported_and_leaves_nothing_behind(void **state)
{
    (void)state;
    medley_dataset *dataset = case_trees(WORDS, LENGTH(WORDS));
    for (size_t turn = 1;; turn++) {
        medley_dataset *derived = NULL;
        medley_error error = {0};
        const long before = live;
        has_failed = false;
        countdown = turn;
        const medley_status status =
            md_tree_columns(&derived, dataset, dataset->head, CASE_UPOS, &error);
        countdown = 0;
        if (!has_failed) {
            assert_int_equal(status, MEDLEY_OK);
            assert_true(turn > 50);
            medley_dataset_free(derived);
            assert_int_equal(live, before);
            break;
        }
        assert_int_equal(status, MEDLEY_FAILED);
        assert_non_null(strstr(error.message, "memory"));
        assert_null(derived);
        assert_int_equal(live, before);
    }
    medley_dataset_free(dataset);
}

#else

static void lack_of_memory_is_reported_and_leaves_nothing_behind(void **state)
{
    (void)state;
    skip();
}

#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lack_of_memory_is_reported_and_leaves_nothing_behind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
