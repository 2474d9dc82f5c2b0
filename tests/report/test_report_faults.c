/* SPDX-License-Identifier: BSD-3-Clause */
/* Allocations of a report fail, one after the other: each time it says so, leaves no file and no
 * memory behind. Where the allocator cannot be replaced there is nothing to test. */
#include "failing_allocations.h"
#include "report_case.h"

#if CAN_FAIL

#include <sys/stat.h>

static void fail_one_by_one(const medley_model *model, const medley_dataset *data)
{
    char path[64];
    struct stat info;
    temporary_path(path, ".html");
    medley_report_options options = MEDLEY_REPORT_OPTIONS_INIT;
    options.data = data;
    options.threads = 1;
    options.examples = 4;
    medley_error error = {0};
    assert_int_equal(medley_report_write(model, path, &options, &error), MEDLEY_OK);
    unlink(path);
    for (size_t k = 1;; k += 1 + k / 40) {
        error = (medley_error){0};
        has_failed = false;
        const long before = live;
        countdown = k;
        const medley_status status = medley_report_write(model, path, &options, &error);
        countdown = 0;
        if (live != before)
            fail_msg("allocation %zu: %ld blocks are left", k, live - before);
        if (!has_failed) {
            assert_int_equal(status, MEDLEY_OK);
            assert_true(k > 20);
            unlink(path);
            return;
        }
        /* some can be done without (standard streams and locales have what they need) */
        if (status == MEDLEY_OK)
            unlink(path);
        else if (status != MEDLEY_FAILED || error.message[0] == '\0')
            fail_msg("allocation %zu: status %d, '%s'", k, (int)status, error.message);
        assert_true(stat(path, &info) != 0);
    }
}

static void failing_allocations_are_told(void **state)
{
    (void)state;
    medley_generate_options rows = MEDLEY_GENERATE_OPTIONS_INIT;
    rows.rows = 12;
    static const char *const names[] = {"waveform", "tagged", "treebank"};
    static const char *const settings[][9] = {
        {"epochs", "2", "eta0", "1", "kernel", "linear", NULL},
        {"epochs", "2", "eta0", "1", "template", "chunk", NULL},
        {"epochs", "1", "hash-bits", "10", "template", "arc-form-upos", "unlabelled", "true"}};
    for (size_t i = 0; i < 3; i++) {
        medley_dataset *data = NULL;
        medley_error error = {0};
        assert_int_equal(medley_generate(&data, names[i], &rows, &error), MEDLEY_OK);
        medley_model *model = fit(data, settings[i]);
        fail_one_by_one(model, data);
        medley_model_free(model);
        medley_dataset_free(data);
    }
}

#else

static void failing_allocations_are_told(void **state)
{
    (void)state;
    print_message("the allocator of this build cannot be replaced\n");
    skip();
}

#endif

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(failing_allocations_are_told)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
