/* SPDX-License-Identifier: BSD-3-Clause */
/* Every allocation of reading, cutting down, packing and unpacking arc templates and of making
 * features of arcs fails once, one after the other: each time the call says so and leaves nothing
 * behind. */
#include "failing_allocations.h"
#include "feature/arc_case.h"

#if CAN_FAIL

typedef struct subject {
    medley_dataset *dataset;
    md_arc_templates *templates;
    md_text bytes;
    size_t count; /* sentences */
} subject;

typedef medley_status operation(const subject *given, medley_error *error);

static const char lines[] = "{h,m}.form {,dist}\nh-1.upos m.suffix crossed set.upos\n"
                            "between.upos set.upos\nbias\n";

static medley_status parse(const subject *given, medley_error *error)
{
    md_arc_templates *templates = NULL;
    (void)given;
    const medley_status status = md_arc_templates_parse(&templates, lines, "file", error);
    md_arc_templates_free(templates);
    return status;
}

static medley_status cut(const subject *given, medley_error *error)
{
    static const bool keep[16] = {true, false, true, true};
    md_arc_templates *subset = NULL;
    const medley_status status = md_arc_templates_subset(&subset, given->templates, keep, error);
    md_arc_templates_free(subset);
    return status;
}

static medley_status pack(const subject *given, medley_error *error)
{
    md_text bytes = {0};
    md_arc_templates_pack(&bytes, given->templates);
    const medley_status status = bytes.failed ? md_fail_memory(error, 1) : MEDLEY_OK;
    md_text_clear(&bytes);
    return status;
}

static medley_status unpack(const subject *given, medley_error *error)
{
    md_unpack in = {.data = given->bytes.data, .length = given->bytes.length};
    md_arc_templates *templates = NULL;
    const medley_status status = md_arc_templates_unpack(&templates, &in, error);
    md_arc_templates_free(templates);
    return status;
}

static medley_status create(const subject *given, medley_error *error)
{
    const md_arc_source source = {.dataset = given->dataset, .count = given->count, .tags = 3};
    md_arcs *arcs = NULL;
    const medley_status status = md_arcs_create(&arcs, given->templates, &source, 1, error);
    md_arcs_free(arcs);
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
    static operation *const operations[] = {parse, cut, pack, unpack, create};
    md_random random;
    (void)state;
    md_random_seed(&random, 2);
    for (size_t count = 1; count <= 40; count += 39) {
        subject given = {.dataset = arc_dataset(&random, 40, 6), .count = count};
        assert_int_equal(md_arc_templates_parse(&given.templates, lines, "file", NULL), MEDLEY_OK);
        md_arc_templates_pack(&given.bytes, given.templates);
        for (size_t i = 0; i < sizeof operations / sizeof *operations; i++)
            fail_each(&given, operations[i]);
        md_text_clear(&given.bytes);
        md_arc_templates_free(given.templates);
        medley_dataset_free(given.dataset);
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
