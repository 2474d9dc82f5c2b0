/* SPDX-License-Identifier: BSD-3-Clause */
/* Option tables: every type, ranges, defaults, messages, and printing that reads back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/random.h"
#include "param/param.h"
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct options {
    double rate, width, offset;
    long long degree, rounds;
    size_t memory, budget;
    bool average, verbose;
    int norm, order;
    char *name, *title;
    char **views;
};

static const char *const norms[] = {"none", "diag", "trace", NULL};
static const char *const orders[] = {"first", "second", NULL};

#define AT(field) offsetof(struct options, field)
static const md_param table[] = {
    {"rate", MD_DOUBLE, AT(rate), "0.50", DBL_MIN, INFINITY, NULL, "X", .help = "Step size."},
    {"width", MD_DOUBLE, AT(width), "", 0, 10, NULL, "X", .help = "Width; measured if not given."},
    {"offset", MD_DOUBLE, AT(offset), "1", -INFINITY, 5, NULL, "X", .help = "Added to products."},
    {"degree", MD_INT, AT(degree), "2", 1, 100, NULL, "N", .help = "Degree."},
    {"rounds", MD_INT, AT(rounds), "", 0, 0, NULL, "N", .help = "Rounds, any number."},
    {"memory", MD_SIZE, AT(memory), "2G", 0, 0, NULL, "SIZE", .help = "Memory."},
    {"budget", MD_SIZE, AT(budget), "", 0, 0, NULL, "SIZE", .help = "Memory if given."},
    {"average", MD_FLAG, AT(average), "true", 0, 0, NULL, NULL, .help = "Average."},
    {"verbose", MD_FLAG, AT(verbose), "", 0, 0, NULL, NULL, .help = "Say more."},
    {"norm", MD_CHOICE, AT(norm), "diag", 0, 0, norms, "NAME", .help = "Normalisation."},
    {"order", MD_CHOICE, AT(order), "", 0, 0, orders, "NAME", .help = "Order."},
    {"name", MD_STRING, AT(name), "anon", 0, 0, NULL, "NAME", .help = "Name.", .roles = 1},
    {"title", MD_STRING, AT(title), "", 0, 0, NULL, "TEXT", .help = "Title."},
    {"views", MD_LIST, AT(views), "", 0, 0, NULL, "NAME", .help = "Views.", .roles = 3},
    {0},
};

static int start(void **state)
{
    struct options *options = malloc(sizeof *options);
    if (options == NULL)
        return -1;
    memset(options, 0x5a, sizeof *options); /* defaults must not rely on zeroed memory */
    *state = options;
    return md_params_defaults(table, options, NULL) == MEDLEY_OK ? 0 : -1;
}

static int stop(void **state)
{
    md_params_clear(table, *state);
    free(*state);
    return 0;
}

static void set(void *state, const char *name, const char *value)
{
    medley_error error = {0};
    const medley_status status = md_params_set(table, state, "kernel rbf", name, value, &error);
    if (status != MEDLEY_OK)
        fail_msg("%s=%s: %s", name, value, error.message);
}

/* The value is refused with this text in the message, and nothing changes. */
static void refuse(void *state, const char *name, const char *value, const char *message)
{
    struct options before;
    medley_error error = {0};
    memcpy(&before, state, sizeof before);
    const medley_status status = md_params_set(table, state, "kernel rbf", name, value, &error);
    assert_int_equal(status, MEDLEY_USAGE);
    assert_int_equal(error.code, MEDLEY_USAGE);
    if (strstr(error.message, message) == NULL)
        fail_msg("'%s' does not say '%s'", error.message, message);
    assert_non_null(strstr(error.message, "kernel rbf"));
    assert_memory_equal(&before, state, sizeof before);
}

static void defaults_come_from_the_table(void **state)
{
    const struct options *options = *state;
    assert_true(options->rate == 0.5 && isnan(options->width) && options->offset == 1);
    assert_true(options->degree == 2 && options->rounds == 0);
    assert_true(options->memory == (size_t)2 << 30 && options->budget == 0);
    assert_true(options->average && !options->verbose);
    assert_true(options->norm == 1 && options->order == 0);
    assert_string_equal(options->name, "anon");
    assert_null(options->title);
    assert_null(options->views);
}

static void every_type_is_set_from_text(void **state)
{
    struct options *options = *state;
    set(options, "rate", "1e-3");
    assert_true(options->rate == 1e-3);
    set(options, "degree", "7");
    set(options, "rounds", "-9000000000");
    assert_true(options->degree == 7 && options->rounds == -9000000000LL);
    set(options, "memory", "512M");
    assert_true(options->memory == (size_t)512 << 20);
    set(options, "norm", "trace");
    assert_int_equal(options->norm, 2);
    set(options, "name", "first");
    set(options, "name", "second");
    assert_string_equal(options->name, "second");
    set(options, "views", "left");
    set(options, "views", "right");
    assert_int_equal(md_texts_count(options->views), 2);
    assert_string_equal(options->views[0], "left");
    assert_string_equal(options->views[1], "right");
}

static void flags_take_yes_and_no_in_their_usual_spellings(void **state)
{
    struct options *options = *state;
    static const char *const yes[] = {"", "yes", "true", "1"};
    static const char *const no[] = {"no", "false", "0"};
    for (size_t i = 0; i < 4; i++) {
        options->verbose = false;
        set(options, "verbose", yes[i]);
        assert_true(options->verbose);
    }
    for (size_t i = 0; i < 3; i++) {
        options->verbose = true;
        set(options, "verbose", no[i]);
        assert_false(options->verbose);
    }
    refuse(options, "verbose", "maybe", "yes or no");
}

static void values_of_the_wrong_type_are_refused(void **state)
{
    refuse(*state, "rate", "fast", "rate='fast' is not a number");
    refuse(*state, "rate", "", "a number");
    refuse(*state, "rate", "1x", "a number");
    refuse(*state, "rate", "nan", "a number");
    refuse(*state, "width", "inf", "a number");
    refuse(*state, "degree", "2.5", "a whole number");
    refuse(*state, "degree", "99999999999999999999", "a whole number");
    refuse(*state, "memory", "much", "a size such as");
    refuse(*state, "norm", "diagonal", "one of none, diag, trace");
}

static void ranges_are_inclusive_and_named(void **state)
{
    set(*state, "width", "0");
    set(*state, "width", "10");
    refuse(*state, "width", "10.000001", "give 0 to 10");
    refuse(*state, "width", "-1e-300", "give 0 to 10");
    set(*state, "degree", "1");
    set(*state, "degree", "100");
    refuse(*state, "degree", "0", "give 1 to 100");
    refuse(*state, "degree", "101", "degree=101 is out of range");
    refuse(*state, "rate", "0", "give more than 0");
    refuse(*state, "rate", "-1", "give more than 0");
    set(*state, "offset", "-1e300");
    refuse(*state, "offset", "5.5", "give 5 or less");
}

static void unknown_names_are_refused_with_the_nearest_one(void **state)
{
    refuse(*state, "degre", "2", "did you mean 'degree'?");
    refuse(*state, "with", "2", "did you mean 'width'?");
    refuse(*state, "bandwidth-factor", "2", "known: rate, width, offset");
    static const md_param none[] = {{0}};
    medley_error error = {0};
    assert_int_equal(md_params_set(none, *state, "kernel linear", "a", "1", &error), MEDLEY_USAGE);
    assert_non_null(strstr(error.message, "takes none"));
}

static void a_missing_error_is_no_reason_to_crash(void **state)
{
    assert_int_equal(md_params_set(table, *state, "x", "degree", "no", NULL), MEDLEY_USAGE);
    assert_int_equal(md_params_set(table, *state, "x", "nothing", "", NULL), MEDLEY_USAGE);
}

static void a_wrong_default_is_told(void **state)
{
    static const md_param wrong[] = {
        {"degree", MD_INT, AT(degree), "two", 0, 0, NULL, "N", .help = "Degree."}, {0}};
    medley_error error = {0};
    assert_int_equal(md_params_defaults(wrong, *state, &error), MEDLEY_USAGE);
    assert_non_null(strstr(error.message, "degree"));
}

static void clearing_twice_is_harmless(void **state)
{
    set(*state, "title", "text");
    set(*state, "views", "left");
    md_params_clear(table, *state);
    assert_null(((struct options *)*state)->views);
    md_params_clear(table, *state);
}

static void values_at_their_defaults_are_not_printed(void **state)
{
    md_text text = {0};
    md_params_print(table, *state, &text);
    assert_int_equal(text.length, 0);
    set(*state, "memory", "2048M"); /* the same, written otherwise */
    set(*state, "rate", "5e-1");
    md_params_print(table, *state, &text);
    assert_int_equal(text.length, 0);
    set(*state, "average", "no");
    set(*state, "norm", "none");
    set(*state, "width", "0.1");
    md_params_print(table, *state, &text);
    assert_string_equal(text.data, "width=0.1,average=no,norm=none");
    md_text_clear(&text);
}

static void descriptions_have_lists_and_go_by_roles(void **state)
{
    md_text text = {0};
    set(*state, "rate", "2");
    set(*state, "name", "one");
    set(*state, "views", "left");
    set(*state, "views", "right");
    md_params_describe(table, *state, 1, 1, &text);
    assert_string_equal(text.data, "name=one\nviews=left\nviews=right\n");
    md_text_clear(&text);
    md_params_describe(table, *state, 2, 0, &text);
    assert_string_equal(text.data, "rate=2\nname=one\n");
    md_text_clear(&text);
}

static void a_value_is_known_from_its_default(void **state)
{
    for (const md_param *p = table; p->name != NULL; p++)
        assert_true(md_param_is_default(p, *state));
    set(*state, "views", "left");
    set(*state, "norm", "trace");
    set(*state, "rate", "0.5");
    for (const md_param *p = table; p->name != NULL; p++)
        assert_int_equal(md_param_is_default(p, *state),
                         strcmp(p->name, "views") != 0 && strcmp(p->name, "norm") != 0);
    assert_true(md_param_has_value(md_params_find(table, "norm"), *state, "trace"));
    assert_true(md_param_has_value(md_params_find(table, "rate"), *state, "0.5"));
    assert_false(md_param_has_value(md_params_find(table, "rate"), *state, "1"));
    assert_false(md_param_has_value(md_params_find(table, "views"), *state, "left"));
}

static void copies_are_the_same_and_apart(void **state)
{
    struct options copy = {0};
    md_text texts[2] = {{0}};
    assert_int_equal(md_params_defaults(table, &copy, NULL), MEDLEY_OK);
    assert_int_equal(md_params_set(table, &copy, NULL, "views", "gone", NULL), MEDLEY_OK);
    set(*state, "width", "3");
    set(*state, "rounds", "-7");
    set(*state, "budget", "3k");
    set(*state, "verbose", "yes");
    set(*state, "order", "second");
    set(*state, "title", "text");
    set(*state, "views", "left");
    set(*state, "views", "right");
    assert_int_equal(md_params_copy(table, &copy, *state, NULL), MEDLEY_OK);
    md_params_describe(table, *state, 0, 0, &texts[0]);
    md_params_clear(table, *state);
    md_params_describe(table, &copy, 0, 0, &texts[1]);
    assert_string_equal(texts[0].data, texts[1].data);
    md_params_clear(table, &copy);
    md_text_clear(&texts[0]);
    md_text_clear(&texts[1]);
}

static void set_at_random(struct options *options, md_random *random)
{
    char buffer[64];
    snprintf(buffer, sizeof buffer, "%.17g", md_random_uniform(random) * 10);
    if (md_random_below(random, 2))
        set(options, "width", buffer);
    snprintf(buffer, sizeof buffer, "%.9g", exp(md_random_normal(random) * 20));
    set(options, "rate", buffer);
    snprintf(buffer, sizeof buffer, "%zu", 1 + md_random_below(random, 100));
    set(options, "degree", buffer);
    snprintf(buffer, sizeof buffer, "-%zu", md_random_below(random, 3));
    set(options, "rounds", buffer);
    snprintf(buffer, sizeof buffer, "%zuk", md_random_below(random, 5) * 524288);
    set(options, "memory", buffer);
    set(options, "average", md_random_below(random, 2) ? "yes" : "no");
    set(options, "verbose", md_random_below(random, 2) ? "yes" : "no");
    set(options, "norm", norms[md_random_below(random, 3)]);
    set(options, "order", orders[md_random_below(random, 2)]);
    set(options, "name", md_random_below(random, 2) ? "anon" : "someone");
}

/* print -> parse as a spec -> set on fresh defaults -> print: the same values, the same text. */
static void printed_options_read_back_the_same(void **state)
{
    (void)state;
    md_random random;
    md_random_seed(&random, 1);
    for (int round = 0; round < 300; round++) {
        struct options first;
        struct options second;
        assert_int_equal(md_params_defaults(table, &first, NULL), MEDLEY_OK);
        assert_int_equal(md_params_defaults(table, &second, NULL), MEDLEY_OK);
        set_at_random(&first, &random);
        md_text text = {0};
        md_text_add(&text, "x(", 2);
        md_params_print(table, &first, &text);
        md_text_add(&text, ")", 1);
        md_spec spec;
        assert_int_equal(md_spec_parse(&spec, text.data, NULL), MEDLEY_OK);
        for (size_t i = 0; i < spec.count; i++)
            set(&second, spec.keys[i], spec.values[i]);
        assert_memory_equal(&first.rate, &second.rate, sizeof first.rate);
        assert_true(isnan(first.width) ? isnan(second.width) : first.width == second.width);
        assert_true(first.degree == second.degree && first.rounds == second.rounds);
        assert_true(first.memory == second.memory && first.average == second.average);
        assert_true(first.verbose == second.verbose && first.norm == second.norm);
        assert_true(first.order == second.order);
        assert_string_equal(first.name, second.name);
        md_text again = {0};
        md_text_add(&again, "x(", 2);
        md_params_print(table, &second, &again);
        md_text_add(&again, ")", 1);
        assert_string_equal(text.data, again.data);
        md_spec_clear(&spec);
        md_text_clear(&text);
        md_text_clear(&again);
        md_params_clear(table, &first);
        md_params_clear(table, &second);
    }
}

static medley_status set_spec(struct options *options, const md_param *params, const char *text,
                              medley_error *error)
{
    md_spec spec;
    assert_int_equal(md_spec_parse(&spec, text, NULL), MEDLEY_OK);
    const medley_status status = md_params_set_spec(params, options, "kernel rbf", &spec, error);
    md_spec_clear(&spec);
    return status;
}

static void a_number_in_front_belongs_to_the_first_option(void **state)
{
    struct options *options = *state;
    assert_int_equal(set_spec(options, table, "x(0.125)", NULL), MEDLEY_OK);
    assert_true(options->rate == 0.125);
    assert_int_equal(set_spec(options, table, "x( 3e-2 , degree=5,verbose)", NULL), MEDLEY_OK);
    assert_true(options->rate == 3e-2 && options->degree == 5 && options->verbose);
    assert_int_equal(set_spec(options, table, "x(degree=6,rate=2)", NULL), MEDLEY_OK);
    assert_true(options->rate == 2 && options->degree == 6);
    assert_int_equal(set_spec(options, table, "x", NULL), MEDLEY_OK);
    assert_int_equal(set_spec(options, table + 3, "x(7)", NULL), MEDLEY_OK); /* an MD_INT first */
    assert_true(options->degree == 7);
}

static void bare_numbers_elsewhere_are_refused(void **state)
{
    static const md_param nothing[] = {{0}};
    static const struct {
        const md_param *params;
        const char *text, *message;
    } cases[] = {
        {table, "x(0.5,rate=1)", "kernel rbf: 'rate' is given twice, as 0.5 and as 1"},
        {table, "x(0.5,0.25)", "kernel rbf has no option '0.25'"},
        {table, "x(degree=3,0.5)", "kernel rbf has no option '0.5'"},
        {table, "x(-1)", "rate=-1 is out of range; give more than 0"},
        {table, "x(inf)", "rate='inf' is not a number"},
        {table, "x(fast)", "kernel rbf has no option 'fast'"},
        {table + 3, "x(2.5)", "degree='2.5' is not a whole number"},
        {table + 7, "x(1)", "kernel rbf has no option '1'"}, /* a flag first */
        {nothing, "x(1)", "it takes none"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        medley_error error = {0};
        const medley_status status = set_spec(*state, cases[i].params, cases[i].text, &error);
        assert_int_equal(status, MEDLEY_USAGE);
        if (strstr(error.message, cases[i].message) == NULL)
            fail_msg("%s: '%s' does not say '%s'", cases[i].text, error.message, cases[i].message);
    }
}

#define WITH_DEFAULTS(test) cmocka_unit_test_setup_teardown(test, start, stop)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_DEFAULTS(defaults_come_from_the_table),
        WITH_DEFAULTS(every_type_is_set_from_text),
        WITH_DEFAULTS(flags_take_yes_and_no_in_their_usual_spellings),
        WITH_DEFAULTS(values_of_the_wrong_type_are_refused),
        WITH_DEFAULTS(ranges_are_inclusive_and_named),
        WITH_DEFAULTS(unknown_names_are_refused_with_the_nearest_one),
        WITH_DEFAULTS(a_missing_error_is_no_reason_to_crash),
        WITH_DEFAULTS(a_wrong_default_is_told),
        WITH_DEFAULTS(clearing_twice_is_harmless),
        WITH_DEFAULTS(values_at_their_defaults_are_not_printed),
        WITH_DEFAULTS(descriptions_have_lists_and_go_by_roles),
        WITH_DEFAULTS(a_value_is_known_from_its_default),
        WITH_DEFAULTS(copies_are_the_same_and_apart),
        WITH_DEFAULTS(a_number_in_front_belongs_to_the_first_option),
        WITH_DEFAULTS(bare_numbers_elsewhere_are_refused),
        cmocka_unit_test(printed_options_read_back_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
