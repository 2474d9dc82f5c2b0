/* SPDX-License-Identifier: BSD-3-Clause */
/* Specs `name(key=value,...)@view`: reading, refusing malformed ones, and expanding lists and
 * ranges into every combination. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/random.h"
#include "param/param.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void assert_refused(medley_status status, const medley_error *error, const char *message)
{
    assert_int_equal(status, MEDLEY_USAGE);
    assert_int_equal(error->code, MEDLEY_USAGE);
    if (strstr(error->message, message) == NULL)
        fail_msg("'%s' does not say '%s'", error->message, message);
}

static void a_spec_is_taken_apart(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "poly(degree=3,auto,norm=diag)@left",
        "  poly ( degree = 3 , auto,norm = diag ) @ left ",
    };
    for (size_t i = 0; i < 2; i++) {
        md_spec spec;
        assert_int_equal(md_spec_parse(&spec, texts[i], NULL), MEDLEY_OK);
        assert_string_equal(spec.name, "poly");
        assert_int_equal(spec.count, 3);
        assert_string_equal(spec.keys[0], "degree");
        assert_string_equal(spec.values[0], "3");
        assert_string_equal(spec.keys[1], "auto");
        assert_string_equal(spec.values[1], "");
        assert_string_equal(spec.keys[2], "norm");
        assert_string_equal(spec.values[2], "diag");
        assert_string_equal(spec.view, "left");
        md_spec_clear(&spec);
        md_spec_clear(&spec); /* harmless */
    }
}

static void options_and_view_may_be_absent(void **state)
{
    (void)state;
    static const char *const texts[] = {"group-lasso", "group-lasso()", "group-lasso( )",
                                        "group-lasso@v"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        md_spec spec;
        assert_int_equal(md_spec_parse(&spec, texts[i], NULL), MEDLEY_OK);
        assert_string_equal(spec.name, "group-lasso");
        assert_int_equal(spec.count, 0);
        assert_true((spec.view != NULL) == (i == 3));
        md_spec_clear(&spec);
    }
}

static void many_options_are_kept_in_order(void **state)
{
    (void)state;
    md_text text = {0};
    md_text_add(&text, "x(", 2);
    for (int i = 0; i < 100; i++)
        md_text_addf(&text, "%sk%d=v%d", i ? "," : "", i, i);
    md_text_add(&text, ")", 1);
    md_spec spec;
    assert_int_equal(md_spec_parse(&spec, text.data, NULL), MEDLEY_OK);
    assert_int_equal(spec.count, 100);
    for (int i = 0; i < 100; i++) {
        char expected[16];
        snprintf(expected, sizeof expected, "k%d", i);
        assert_string_equal(spec.keys[i], expected);
        expected[0] = 'v';
        assert_string_equal(spec.values[i], expected);
    }
    md_spec_clear(&spec);
    md_text_clear(&text);
}

static void malformed_specs_are_refused_with_a_reason(void **state)
{
    (void)state;
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"", "does not start with a name"},
        {"(a=1)", "does not start with a name"},
        {"@left", "does not start with a name"},
        {"rbf(sigma=1", "never closed"},
        {"rbf(", "never closed"},
        {"rbf sigma=1", "'sigma=1' was not expected"},
        {"rbf(a=1)b", "'b' was not expected"},
        {"rbf(a=1))", "was not expected"},
        {"rbf)", "was not expected"},
        {"rbf(,a=1)", "an option is empty"},
        {"rbf(a=1,)", "an option is empty"},
        {"rbf(a=1,,b=2)", "an option is empty"},
        {"rbf(a=)", "an option is empty"},
        {"rbf(=1)", "an option is empty"},
        {"rbf(a=1)@", "must follow the '@'"},
        {"rbf@  ", "must follow the '@'"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        md_spec spec;
        medley_error error = {0};
        assert_refused(md_spec_parse(&spec, cases[i].text, &error), &error, cases[i].message);
        assert_null(spec.name);
        assert_null(spec.keys);
    }
}

/* Random bytes of the alphabet specs are made of: either a clean refusal or a consistent spec. */
static void noise_never_breaks_the_parser(void **state)
{
    (void)state;
    static const char alphabet[] = "ab1(),=@ {}.-";
    md_random random;
    md_random_seed(&random, 1);
    for (int round = 0; round < 20000; round++) {
        char text[16];
        const size_t length = md_random_below(&random, sizeof text);
        for (size_t i = 0; i < length; i++)
            text[i] = alphabet[md_random_below(&random, sizeof alphabet - 1)];
        text[length] = '\0';
        md_spec spec;
        medley_error error = {0};
        const medley_status status = md_spec_parse(&spec, text, &error);
        assert_int_equal(status, error.code);
        if (status == MEDLEY_OK) {
            assert_true(spec.name[0] != '\0');
            assert_int_equal(spec.count, md_texts_count(spec.keys));
            assert_int_equal(spec.count, md_texts_count(spec.values));
        }
        md_spec_clear(&spec);
        char **texts = NULL;
        if (md_spec_expand(&texts, text, NULL) == MEDLEY_OK)
            assert_true(md_texts_count(texts) > 0);
        md_texts_free(texts);
    }
}

/* expected: the texts one after another, separated by ';'. */
static void assert_expands(const char *text, const char *expected)
{
    char **texts = NULL;
    medley_error error = {0};
    if (md_spec_expand(&texts, text, &error) != MEDLEY_OK)
        fail_msg("'%s' was refused: %s", text, error.message);
    md_text joined = {0};
    for (size_t i = 0; texts[i] != NULL; i++)
        md_text_addf(&joined, "%s%s", i ? ";" : "", texts[i]);
    assert_string_equal(joined.data, expected);
    md_text_clear(&joined);
    md_texts_free(texts);
}

static void lists_and_ranges_expand_in_order(void **state)
{
    (void)state;
    assert_expands("linear", "linear");
    assert_expands("rbf(sigma={0.5,1,2})", "rbf(sigma=0.5);rbf(sigma=1);rbf(sigma=2)");
    assert_expands("poly(degree=1..3)", "poly(degree=1);poly(degree=2);poly(degree=3)");
    assert_expands("poly(degree=-1..1)", "poly(degree=-1);poly(degree=0);poly(degree=1)");
    assert_expands("poly(degree=4..4)", "poly(degree=4)");
    assert_expands("{rbf,laplace}(auto)", "rbf(auto);laplace(auto)");
    assert_expands("rbf@{a,b}", "rbf@a;rbf@b");
    assert_expands("x(a={1})", "x(a=1)");
}

static void several_lists_give_every_combination(void **state)
{
    (void)state;
    assert_expands("p(a={1,2},b={x,y})", "p(a=1,b=x);p(a=1,b=y);p(a=2,b=x);p(a=2,b=y)");
    assert_expands("p(a=1..2,b=3..4)", "p(a=1,b=3);p(a=1,b=4);p(a=2,b=3);p(a=2,b=4)");
    assert_expands("p(a={0.1,7..8},b=1..2)", "p(a=0.1,b=1);p(a=0.1,b=2);p(a=7,b=1);p(a=7,b=2);"
                                             "p(a=8,b=1);p(a=8,b=2)");
}

static void what_is_no_range_stays(void **state)
{
    (void)state;
    assert_expands("k(file=../x.npy)", "k(file=../x.npy)");
    assert_expands("k(file=a/../x,d=1..2)", "k(file=a/../x,d=1);k(file=a/../x,d=2)");
    assert_expands("rbf@1..3", "rbf@1..3");
    assert_expands("rbf(sigma=0.5)", "rbf(sigma=0.5)");
}

static void counts_multiply(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t count;
    } cases[] = {
        {"rbf(sigma={0.1,0.25,0.5,0.75,1,2..20})", 24}, /* the SpicyMKL experiment's kernels */
        {"p(a=1..10,b=1..10,c=1..10)", 1000},
        {"p(a={1..10,20..29},b={x,y,z})", 60},
        {"p(a=1..20000)", 20000},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char **texts = NULL;
        assert_int_equal(md_spec_expand(&texts, cases[i].text, NULL), MEDLEY_OK);
        assert_int_equal(md_texts_count(texts), cases[i].count);
        md_texts_free(texts);
    }
    assert_int_equal(md_texts_count(NULL), 0);
}

static void malformed_lists_and_ranges_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"rbf(a={1,2)", "never closed"},
        {"rbf(a=1,2})", "without its '{'"},
        {"rbf(a={1,{2,3}})", "inside braces"},
        {"rbf(a=3..1)", "'3..1' is not a range"},
        {"rbf(a=0.1..0.5)", "not a range of whole numbers"},
        {"rbf(a=1..)", "not a range"},
        {"rbf(a=..5)", "not a range"},
        {"rbf(a=1...5)", "not a range"},
        {"rbf(a=1..2..3)", "not a range"},
        {"rbf(a=1..1000001)", "not a range"},
        {"rbf(a=-9223372036854775808..9223372036854775807)", "not a range"},
        {"rbf(a=1..10000,b=1..10000)", "more than 1000000"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char **texts = NULL;
        medley_error error = {0};
        assert_refused(md_spec_expand(&texts, cases[i].text, &error), &error, cases[i].message);
        assert_null(texts);
    }
}

static void too_many_lists_are_refused_before_the_stack_is_gone(void **state)
{
    (void)state;
    md_text text = {0};
    for (int i = 0; i < 5000; i++)
        md_text_add(&text, "{a}", 3);
    char **texts = NULL;
    medley_error error = {0};
    assert_int_equal(md_spec_expand(&texts, text.data, &error), MEDLEY_USAGE);
    assert_null(texts);
    md_text_clear(&text);
}

static void lists_of_texts_grow_and_keep_order(void **state)
{
    (void)state;
    char **texts = NULL;
    char expected[32];
    for (int i = 0; i < 300; i++) {
        snprintf(expected, sizeof expected, "text %d", i);
        assert_int_equal(md_texts_add(&texts, expected, NULL), MEDLEY_OK);
        assert_int_equal(md_texts_count(texts), i + 1);
    }
    for (int i = 0; i < 300; i++) {
        snprintf(expected, sizeof expected, "text %d", i);
        assert_string_equal(texts[i], expected);
    }
    md_texts_free(texts);
    md_texts_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_spec_is_taken_apart),
        cmocka_unit_test(options_and_view_may_be_absent),
        cmocka_unit_test(many_options_are_kept_in_order),
        cmocka_unit_test(malformed_specs_are_refused_with_a_reason),
        cmocka_unit_test(noise_never_breaks_the_parser),
        cmocka_unit_test(lists_and_ranges_expand_in_order),
        cmocka_unit_test(several_lists_give_every_combination),
        cmocka_unit_test(what_is_no_range_stays),
        cmocka_unit_test(counts_multiply),
        cmocka_unit_test(malformed_lists_and_ranges_are_refused),
        cmocka_unit_test(too_many_lists_are_refused_before_the_stack_is_gone),
        cmocka_unit_test(lists_of_texts_grow_and_keep_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
