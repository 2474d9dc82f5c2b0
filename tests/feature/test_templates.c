/* SPDX-License-Identifier: BSD-3-Clause */
/* Template files: what lines become, the built-in sets, and every kind of malformed line. */
#include "feature/feature_case.h"

#include <sys/stat.h>
#include <unistd.h>

static md_templates *parse(const char *text)
{
    md_templates *templates = NULL;
    medley_error error = {0};
    if (md_templates_parse(&templates, text, strlen(text), "file", &error) < 0)
        fail_msg("%s", error.message);
    return templates;
}

static void lines_become_blocks(void **state)
{
    (void)state;
    md_templates *templates = parse("\xef\xbb\xbf# a comment\r\n"
                                    "\r\n"
                                    "  U01:%x[-1,0]/%x[ 0 , 1 ]  \r\n"
                                    "   # another\n"
                                    "u:%X[+2,0] # behind a line\n"
                                    "*:%t[@-1,0,\"a # \\\" ]\"] x\n"
                                    "U#:#a#b\n"
                                    "B");
    static const char *const names[] = {
        "U01:%x[-1,0]/%x[ 0 , 1 ]",     "u:%X[+2,0]", "U:%t[@-1,0,\"a # \\\" ]\"] x",
        "B:%t[@-1,0,\"a # \\\" ]\"] x", "U#:#a#b",    "B"};
    static const bool is_pair[] = {false, false, false, true, false, true};
    static const bool is_constant[] = {false, false, false, false, true, true};
    const size_t count = sizeof names / sizeof *names;
    assert_int_equal(md_templates_count(templates), count);
    for (size_t b = 0; b < count; b++) {
        assert_string_equal(md_templates_name(templates, b), names[b]);
        assert_int_equal(md_templates_is_pair(templates, b), is_pair[b]);
        assert_int_equal(md_templates_is_constant(templates, b), is_constant[b]);
    }
    const bool keep[] = {false, true, false, true, true, false};
    md_templates *subset = NULL;
    assert_int_equal(md_templates_subset(&subset, templates, keep, NULL), MEDLEY_OK);
    md_templates_free(templates);
    assert_int_equal(md_templates_count(subset), 3);
    assert_string_equal(md_templates_name(subset, 0), names[1]);
    assert_string_equal(md_templates_name(subset, 1), names[3]);
    assert_string_equal(md_templates_name(subset, 2), names[4]);
    assert_true(md_templates_is_pair(subset, 1));
    md_templates_free(subset);
}

static void assert_refused(const char *text, size_t length, const char *words, long line)
{
    md_templates *templates = NULL;
    medley_error error = {0};
    if (md_templates_parse(&templates, text, length, "some.file", &error) >= 0)
        fail_msg("'%.60s' was accepted", text);
    assert_null(templates);
    assert_int_equal(error.code, MEDLEY_BAD_INPUT);
    assert_string_equal(error.file, "some.file");
    if (error.line != line || strstr(error.message, words) == NULL)
        fail_msg("'%.60s' gives line %ld: %s", text, error.line, error.message);
}

static void malformed_templates_are_refused(void **state)
{
    static const struct {
        const char *text, *words;
        long line;
    } cases[] = {{"", "no templates", 0},
                 {"# only\n\n   \n", "no templates", 0},
                 {"U\nX:%x[0,0]\n", "starts with none of", 2},
                 {"%x[0,0]", "starts with none of", 1},
                 {"U:%", "unknown macro", 1},
                 {"U:%y[0,0]", "unknown macro", 1},
                 {"U:100%", "unknown macro", 1},
                 {"U:%x", "expected a [", 1},
                 {"U:%x(0,0)", "expected a [", 1},
                 {"U:%x[", "row number", 1},
                 {"U:%x[]", "row number", 1},
                 {"U:%x[a,0]", "row number", 1},
                 {"U:%x[--1,0]", "row number", 1},
                 {"U:%x[@,0]", "row number", 1},
                 {"U:%x[@0,0]", "@1 is the first", 1},
                 {"U:%x[1001,0]", "farther away than 1000", 1},
                 {"U:%x[-1001,0]", "farther away than 1000", 1},
                 {"U:%x[99999999999999999999999,0]", "farther away than 1000", 1},
                 {"U:%x[0]", "comma", 1},
                 {"U:%x[0 0]", "comma", 1},
                 {"U:%x[0,]", "column number", 1},
                 {"U:%x[0,-1]", "column number", 1},
                 {"U:%x[0,word]", "column number", 1},
                 {"U:%x[0,10000]", "larger than 9999", 1},
                 {"U:%x[0,18446744073709551616]", "larger than 9999", 1},
                 {"U:%x[0,0", "closing ]", 1},
                 {"U:%x[0,0/%x[0,1]", "closing ]", 1},
                 {"U:%x[0,0.5]", "closing ]", 1},
                 {"U:%x[0,0,\"a\"]", "takes no pattern", 1},
                 {"U:%t[0,0]", "pattern is missing", 1},
                 {"U:%M[0,0]", "pattern is missing", 1},
                 {"U:%t[0,0,]", "double quotes", 1},
                 {"U:%t[0,0,a]", "double quotes", 1},
                 {"U:%t[0,0,\"a]", "closing quote", 1},
                 {"U:%t[0,0,\"a\\\"]", "closing quote", 1},
                 {"U:%t[0,0,\"a\"", "closing ]", 1},
                 {"U:%t[0,0,\"\"]", "is empty", 1},
                 {"U:%t[0,0,\"\\q\"]", "unknown class", 1},
                 {"\n\nU:%m[0,0,\"*a\"]", "repeats nothing", 3}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_refused(cases[i].text, strlen(cases[i].text), cases[i].words, cases[i].line);
    assert_refused("U:\0%x[0,0]", 10, "zero byte", 1);
}

static void long_lines_are_refused(void **state)
{
    enum { LONG = 1 << 20 };
    md_text text = {0};
    (void)state;
    md_text_addf(&text, "B\nU:");
    for (int i = 0; i < LONG; i++)
        md_text_add(&text, "x", 1);
    assert_refused(text.data, text.length, "at most 4096", 2);
    text.length = 0;
    md_text_addf(&text, "U:");
    for (int i = 0; i < 33; i++)
        md_text_addf(&text, "%%x[%d,0]", i);
    assert_refused(text.data, text.length, "more than 32 macros", 1);
    md_text_clear(&text);
}

/* Bytes at random, and templates with changed bytes: refused or not, but never a crash. */
static void rubbish_does_no_harm(void **state)
{
    static const char good[] = "U00:%x[-2,0]/%m[0,1,\"^\\u?.*\"]\n*1:%T[@-1,0,\"\\\"\"]\nB\n";
    md_random random;
    size_t refused = 0;
    (void)state;
    md_random_seed(&random, 3);
    for (int round = 0; round < 20000; round++) {
        char text[sizeof good];
        memcpy(text, good, sizeof good);
        size_t length = sizeof good - 1;
        if (round % 4 == 0)
            for (size_t i = 0; i < length; i++)
                text[i] = (char)md_random_bits(&random);
        for (size_t changes = 1 + md_random_below(&random, 3); changes > 0; changes--)
            text[md_random_below(&random, length)] =
                round % 2 ? (char)md_random_bits(&random)
                          : "U%x[]\"\\,*?\n#@-9"[md_random_below(&random, 15)];
        length -= md_random_below(&random, length + 1);
        md_templates *templates = NULL;
        medley_error error = {0};
        const medley_status status = md_templates_parse(&templates, text, length, "x", &error);
        assert_true(status == MEDLEY_OK || error.code == MEDLEY_BAD_INPUT);
        refused += status < 0;
        md_templates_free(templates);
    }
    assert_in_range(refused, 10000, 19999);
}

static void built_in_sets_are_found_unless_a_file_has_their_name(void **state)
{
    const char *parent = getenv("TMPDIR");
    char folder[512], before[4096];
    md_templates *templates = NULL;
    medley_error error = {0};
    (void)state;
    assert_non_null(getcwd(before, sizeof before));
    snprintf(folder, sizeof folder, "%s/medley-test-XXXXXX",
             parent != NULL && *parent != '\0' ? parent : "/tmp");
    assert_non_null(mkdtemp(folder));
    assert_int_equal(chdir(folder), 0);
    for (size_t i = 0; md_template_sets[i].name != NULL; i++) {
        assert_int_equal(md_templates_read(&templates, md_template_sets[i].name, &error),
                         MEDLEY_OK);
        md_templates_free(templates);
    }
    assert_int_equal(md_templates_read(&templates, "chunk", &error), MEDLEY_OK);
    assert_int_equal(md_templates_count(templates), 20);
    assert_string_equal(md_templates_name(templates, 18), "U22:%x[0,1]/%x[1,1]/%x[2,1]");
    md_templates_free(templates);

    assert_int_equal(mkdir("chunk", 0700), 0); /* a folder is no template */
    assert_int_equal(md_templates_read(&templates, "chunk", &error), MEDLEY_OK);
    md_templates_free(templates);
    assert_int_equal(rmdir("chunk"), 0);

    FILE *file = fopen("chunk", "w");
    assert_non_null(file);
    fputs("U:%x[0,0]\nU:%x[0\n", file);
    fclose(file);
    templates = NULL;
    assert_int_equal(md_templates_read(&templates, "chunk", &error), MEDLEY_BAD_INPUT);
    assert_string_equal(error.file, "chunk");
    assert_int_equal(error.line, 2);
    assert_int_equal(truncate("chunk", 10), 0);
    assert_int_equal(md_templates_read(&templates, "chunk", &error), MEDLEY_OK);
    assert_int_equal(md_templates_count(templates), 1);
    md_templates_free(templates);
    assert_int_equal(unlink("chunk"), 0);

    error = (medley_error){0};
    assert_int_equal(md_templates_read(&templates, "no-such", &error), MEDLEY_FAILED);
    assert_string_equal(error.file, "no-such");
    assert_non_null(strstr(error.message, "chunk (CRF++"));
    error = (medley_error){0};
    assert_int_equal(md_templates_read(&templates, ".", &error), MEDLEY_FAILED);
    assert_non_null(strstr(error.message, "directory"));
    assert_int_equal(chdir(before), 0);
    assert_int_equal(rmdir(folder), 0);
}

static void every_built_in_set_can_be_read(void **state)
{
    (void)state;
    for (const md_template_set *set = md_template_sets; set->name != NULL; set++) {
        md_templates *templates = NULL;
        medley_error error = {0};
        if (md_templates_read(&templates, set->name, &error) < 0)
            fail_msg("%s: line %ld: %s", set->name, error.line, error.message);
        assert_true(md_templates_count(templates) > 1);
        assert_true(set->summary[0] != '\0');
        md_templates_free(templates);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_built_in_set_can_be_read),
        cmocka_unit_test(lines_become_blocks),
        cmocka_unit_test(malformed_templates_are_refused),
        cmocka_unit_test(long_lines_are_refused),
        cmocka_unit_test(rubbish_does_no_harm),
        cmocka_unit_test(built_in_sets_are_found_unless_a_file_has_their_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
