/* SPDX-License-Identifier: BSD-3-Clause */
/* Every allocation of reading templates, making, applying, cutting down, packing and unpacking a
 * feature space fails once, one after the other: each time the call says so and leaves nothing
 * behind. The allocator is replaced in this program by one that counts and fails on request; where
 * that cannot be done (sanitizers bring their own) there is nothing to test. */
#include "failing_allocations.h"
#include "feature/feature_case.h"

#if CAN_FAIL

/* ---- what is tried ---- */

typedef struct subject {
    medley_dataset *train, *fresh;
    md_templates *templates;
    md_features *features;
    md_text bytes;
    md_features_options options;
} subject;

typedef medley_status operation(const subject *given, medley_error *error);

static const char lines[] =
    "U0:%x[-1,0]\nU1:%X[0,0]/%x[1,1]\n*2:%m[0,0,\"^.?\"]/%t[@1,1,\"a\"]\nB\n";

static medley_status parse(const subject *given, medley_error *error)
{
    md_templates *templates = NULL;
    (void)given;
    const medley_status status =
        md_templates_parse(&templates, lines, sizeof lines - 1, "file", error);
    md_templates_free(templates);
    return status;
}

static medley_status find_none(const subject *given, medley_error *error)
{
    md_templates *templates = NULL;
    (void)given;
    const medley_status status = md_templates_read(&templates, "chunk", error);
    md_templates_free(templates);
    return status;
}

static medley_status create(const subject *given, medley_error *error)
{
    md_features *features = NULL;
    md_feature_ids ids = {0};
    const medley_status status =
        md_features_create(&features, &ids, given->templates, given->train, &given->options, error);
    md_feature_ids_free(&ids);
    md_features_free(features);
    return status;
}

static medley_status apply(const subject *given, medley_error *error)
{
    md_feature_ids ids = {0};
    const medley_status status = md_features_apply(given->features, &ids, given->fresh, 1, error);
    md_feature_ids_free(&ids);
    return status;
}

static medley_status cut(const subject *given, medley_error *error)
{
    static const bool all[512] = {[0] = true, [3] = true, [4] = true};
    const bool *const keep[] = {all, NULL, all, all, all};
    md_features *subset = NULL;
    const medley_status status = md_features_subset(&subset, given->features, keep, error);
    md_features_free(subset);
    return status;
}

static medley_status pack(const subject *given, medley_error *error)
{
    md_text bytes = {0};
    md_features_pack(&bytes, given->features);
    const medley_status status = bytes.failed ? md_fail_memory(error, 1) : MEDLEY_OK;
    md_text_clear(&bytes);
    return status;
}

static medley_status unpack(const subject *given, medley_error *error)
{
    md_unpack in = {.data = given->bytes.data, .length = given->bytes.length};
    md_features *features = NULL;
    const medley_status status = md_features_unpack(&features, &in, error);
    assert_true(in.bad || status != MEDLEY_BAD_INPUT);
    md_features_free(features);
    return status;
}

/* Fails allocation 1, 2, 3 ... until the operation gets by without reaching it. */
static void fail_each(const subject *given, operation *run)
{
    for (size_t turn = 1;; turn++) {
        medley_error error = {0};
        const long before = live;
        has_failed = false;
        countdown = turn;
        const medley_status status = run(given, &error);
        countdown = 0;
        assert_int_equal(live, before);
        if (!has_failed) {
            assert_int_equal(status, MEDLEY_OK);
            assert_true(turn > 1);
            return;
        }
        assert_int_equal(status, MEDLEY_FAILED);
        assert_non_null(strstr(error.message, "memory"));
    }
}

static void lack_of_memory_is_reported_and_leaves_nothing_behind(void **state)
{
    static const md_features_options modes[] = {{.threads = 1}, {.min_count = 2}, {.hash_bits = 9}};
    static operation *const operations[] = {parse, find_none, create, apply, cut, pack, unpack};
    md_random random;
    (void)state;
    md_random_seed(&random, 2);
    for (size_t m = 0; m < sizeof modes / sizeof *modes; m++) {
        subject given = {.train = case_dataset(&random, 140, 2, 5, 0, 12),
                         .fresh = case_dataset(&random, 50, 2, 5, 4, 12),
                         .options = modes[m]};
        md_feature_ids ids = {0};
        assert_int_equal(
            md_templates_parse(&given.templates, lines, sizeof lines - 1, "file", NULL), MEDLEY_OK);
        case_create(&given.features, &ids, given.templates, given.train, given.options);
        md_features_pack(&given.bytes, given.features);
        for (size_t i = 0; i < sizeof operations / sizeof *operations; i++)
            fail_each(&given, operations[i]);
        md_feature_ids_free(&ids);
        md_text_clear(&given.bytes);
        md_features_free(given.features);
        md_templates_free(given.templates);
        medley_dataset_free(given.train);
        medley_dataset_free(given.fresh);
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
