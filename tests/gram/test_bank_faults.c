/* SPDX-License-Identifier: BSD-3-Clause */
/* Every allocation of making a bank of random views, its prepared rows and a subset of it, and of
 * reading and selecting wide kernel values, and of matching columns by name, fails once: each time
 * the call says so and leaves nothing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "failing_allocations.h"
#include "gram/prepared_rows.h"
#include "io/io.h"
#include "io/reading.h"
#include "naive.h"

#if CAN_FAIL

struct subject {
    const medley_dataset *data;
    const char *path; /* of a stack of two kernels */
};

typedef medley_status operation(const struct subject *subject, medley_error *error);

static medley_status make_bank(const struct subject *subject, medley_error *error)
{
    static const size_t keep[] = {7, 0, 3};
    static char *kernels[] = {"rbf(sigma={1,2})@random", "linear(norm=diag)@random2",
                              "laplace(auto)", NULL};
    static char *scale[] = {"random=standard", NULL};
    const md_bank_options options = {
        .kernels = kernels, .views = "all+random:4:3", .scale = scale, .seed = 1};
    md_bank bank = {0};
    md_bank subset = {0};
    md_prepared prepared = {0};
    medley_status status = md_bank_make(&bank, subject->data, &options, error);
    if (status == MEDLEY_OK)
        status = md_prepared_make(&prepared, &bank, subject->data, true, error);
    if (status == MEDLEY_OK)
        status = md_bank_subset(&subset, &bank, keep, 3, error);
    md_prepared_clear(&prepared);
    md_bank_clear(&subset);
    md_bank_clear(&bank);
    return status;
}

static medley_status read_and_select(const struct subject *subject, medley_error *error)
{
    static const size_t rows[] = {3, 1};
    const md_columns columns = {rows, 2};
    medley_dataset *dataset = NULL;
    medley_dataset *selected = NULL;
    medley_status status = medley_dataset_create(&dataset, error);
    if (status == MEDLEY_OK) {
        medley_dataset_keep_wide(dataset);
        status = medley_dataset_add_gram(dataset, "k", subject->path, error);
        assert_int_equal(dataset->gram_count, status == MEDLEY_OK ? 2 : 0);
    }
    if (status == MEDLEY_OK)
        status = md_dataset_select(&selected, dataset, rows, 2, &columns, error);
    medley_dataset_free(selected);
    medley_dataset_free(dataset);
    return status;
}

/* A file is read by the names of training, kept in two ways, and its columns put into order. */
static medley_status match_columns(const struct subject *subject, medley_error *error)
{
    static const char train[] = "a,b,c,kind\n1,2,3,x\n4,5,6,y\n";
    static const char moved[] = "c,kind,a,b\n3,x,1,2\n6,y,4,5\n";
    static const char *const names[] = {"a", "b", "c"};
    medley_read_options options = MEDLEY_READ_OPTIONS_INIT;
    medley_dataset *first = NULL;
    medley_dataset *second = NULL;
    md_known_tables known = {0};
    md_known_tables copy = {0};
    md_aligned aligned = {0};
    (void)subject;
    medley_status status = medley_dataset_parse(&first, train, strlen(train), "t.csv", NULL, error);
    if (status == MEDLEY_OK)
        status = md_known_tables_make(&known, first, error);
    if (status == MEDLEY_OK)
        status = md_known_tables_copy(&copy, &known, error);
    options.feature_count = 3;
    options.feature_names = names;
    options.label_name = "kind";
    if (status == MEDLEY_OK)
        status = medley_dataset_parse(&second, moved, strlen(moved), "m.csv", &options, error);
    if (status == MEDLEY_OK)
        status = md_align_tables(&aligned, &copy, second, error);
    if (status == MEDLEY_OK)
        assert_memory_equal(aligned.dataset.tables[0].features.dense,
                            first->tables[0].features.dense, 6 * sizeof(float));
    md_aligned_clear(&aligned);
    md_known_tables_clear(&copy);
    md_known_tables_clear(&known);
    medley_dataset_free(first);
    medley_dataset_free(second);
    return status;
}

/* Fails allocation 1, 2, 3 ... until the operation needs no more of them. */
static void fail_one_by_one(const struct subject *subject, operation *operate)
{
    medley_error error = {0};
    assert_int_equal(operate(subject, &error), MEDLEY_OK); /* and warms up what is made once */
    for (size_t k = 1;; k++) {
        error = (medley_error){0};
        has_failed = false;
        const long before = live;
        countdown = k;
        const medley_status status = operate(subject, &error);
        countdown = 0;
        if (live != before)
            fail_msg("allocation %zu: %ld blocks are left", k, live - before);
        if (!has_failed) {
            assert_int_equal(status, MEDLEY_OK);
            assert_true(k > 10);
            return;
        }
        if (status != MEDLEY_FAILED || error.message[0] == '\0')
            fail_msg("allocation %zu: status %d, '%s'", k, (int)status, error.message);
    }
}

static void failing_allocations_are_reported(void **state)
{
    (void)state;
    const data_kind kind = {.rows = 8, .columns = 5, .center = 10, .spread = 1};
    char path[READING_PATH_SIZE];
    float values[2 * 4 * 4];
    md_output output = {0};
    medley_dataset *data = make_data(&kind, 2);
    for (size_t i = 0; i < 32; i++)
        values[i] = (float)i;
    close(reading_temporary(path, ".npy"));
    assert_int_equal(md_output_open(&output, path, NULL), MEDLEY_OK);
    assert_int_equal(md_npy_write(&output, values, (const size_t[]){2, 4, 4}, 3, NULL), MEDLEY_OK);
    assert_int_equal(md_output_commit(&output, NULL), MEDLEY_OK);
    const struct subject subject = {data, path};
    fail_one_by_one(&subject, make_bank);
    fail_one_by_one(&subject, read_and_select);
    fail_one_by_one(&subject, match_columns);
    unlink(path);
    medley_dataset_free(data);
}

#else

static void failing_allocations_are_reported(void **state)
{
    (void)state;
    print_message("the allocator cannot be replaced here\n");
    skip();
}

#endif

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(failing_allocations_are_reported)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
