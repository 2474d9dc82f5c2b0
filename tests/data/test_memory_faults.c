/* SPDX-License-Identifier: BSD-3-Clause */
/* Every allocation of taking data from memory and of drawing sentences fails once, one after the
 * other: each time the call says so, and nothing is left behind. Where the allocator cannot be
 * replaced (sanitizers bring their own) there is nothing to test. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "data/dataset.h"
#include "failing_allocations.h"
#include "medley/generate.h"
#include <string.h>

#if CAN_FAIL

enum { ROWS = 4, COLUMNS = 3 };

static medley_status put_tables(medley_dataset *dataset, medley_error *error)
{
    static const double dense[ROWS * COLUMNS] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
    static const double square[ROWS * ROWS] = {1};
    static const double diagonal[ROWS] = {1, 2, 3, 4};
    static const int64_t start[ROWS + 1] = {0, 3, 3, 4, 6};
    static const int32_t index[] = {2, 0, 2, 1, 1, 0};
    medley_table table = MEDLEY_TABLE_INIT;
    table.rows = ROWS;
    table.columns = COLUMNS;
    table.values = dense;
    MEDLEY_TRY(medley_dataset_put_table(dataset, &table, error));
    table.name = "sparse";
    table.start = start;
    table.index = index;
    MEDLEY_TRY(medley_dataset_put_table(dataset, &table, error));
    table = (medley_table)MEDLEY_TABLE_INIT;
    table.rows = table.columns = ROWS;
    table.values = square;
    medley_dataset_keep_wide(dataset);
    return medley_dataset_put_gram(dataset, &table, diagonal, error);
}

/* Everything that data in memory can have. */
static medley_status make_data(medley_dataset **made, medley_error *error)
{
    static const char *const names[] = {"2", "1"};
    static const int32_t label[ROWS] = {0, 1, 1, -1};
    static const double target[ROWS] = {1, 1, 2, 2};
    static const size_t length[] = {1, 3};
    static const size_t chosen[] = {1, 2, 3, 0};
    MD_OWNED(medley_dataset_free) medley_dataset *dataset = NULL;
    MD_OWNED(medley_dataset_free) medley_dataset *part = NULL;
    MEDLEY_TRY(medley_dataset_create(&dataset, error));
    MEDLEY_TRY(put_tables(dataset, error));
    MEDLEY_TRY(medley_dataset_put_targets(dataset, target, ROWS, error));
    MEDLEY_TRY(medley_dataset_folds(&part, dataset, "0/2", error));
    medley_dataset_free(part);
    part = NULL;
    MEDLEY_TRY(medley_dataset_put_labels(dataset, label, ROWS, names, 2, error));
    MEDLEY_TRY(medley_dataset_put_sequences(dataset, length, 2, error));
    MEDLEY_TRY(medley_dataset_rows_of(&part, dataset, chosen, ROWS, error));
    *made = part;
    part = NULL;
    return MEDLEY_OK;
}

static medley_status parse(medley_dataset **made, medley_error *error)
{
    static const char text[] = "He PRP B\nran VB I\n\nNo UH B\n";
    return medley_dataset_parse(made, text, strlen(text), "a.conll", NULL, error);
}

static medley_status draw(medley_dataset **made, const char *name, medley_error *error)
{
    medley_generate_options options = MEDLEY_GENERATE_OPTIONS_INIT;
    options.rows = 3;
    return medley_generate(made, name, &options, error);
}

static medley_status draw_tagged(medley_dataset **made, medley_error *error)
{
    return draw(made, "tagged", error);
}

static medley_status draw_treebank(medley_dataset **made, medley_error *error)
{
    return draw(made, "treebank", error);
}

/* Allocation 1, 2, 3 ... until the call gets by without reaching it. */
static void lack_of_memory_is_reported_and_leaves_nothing_behind(void **state)
{
    (void)state;
    medley_status (*const calls[])(medley_dataset **,
                                   medley_error *) = {make_data, parse, draw_tagged, draw_treebank};
    for (size_t c = 0; c < sizeof calls / sizeof *calls; c++) {
        for (size_t turn = 1;; turn++) {
            medley_dataset *made = NULL;
            medley_error error = {0};
            const long before = live;
            has_failed = false;
            countdown = turn;
            const medley_status status = calls[c](&made, &error);
            countdown = 0;
            if (!has_failed) {
                assert_int_equal(status, MEDLEY_OK);
                assert_true(turn > 20);
                medley_dataset_free(made);
                assert_int_equal(live, before);
                break;
            }
            assert_int_equal(status, MEDLEY_FAILED);
            assert_non_null(strstr(error.message, "memory"));
            assert_null(made);
            assert_int_equal(live, before);
        }
    }
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
