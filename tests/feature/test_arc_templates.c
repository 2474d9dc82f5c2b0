/* SPDX-License-Identifier: BSD-3-Clause */
/* Arc templates: what lines become, braces, the built-in sets, every kind of malformed line,
 * subsets and model files. */
#include "feature/feature_case.h"

#include "feature/arc.h"
#include <sys/stat.h>
#include <unistd.h>

static md_arc_templates *parse(const char *text)
{
    md_arc_templates *templates = NULL;
    medley_error error = {0};
    if (md_arc_templates_parse(&templates, text, "file", &error) < 0)
        fail_msg("line %ld: %s", error.line, error.message);
    return templates;
}

static void assert_names(const md_arc_templates *templates, const char *const *names)
{
    size_t count = 0;
    for (; names[count] != NULL; count++) {
        assert_true(count < md_arc_templates_count(templates));
        assert_string_equal(md_arc_templates_name(templates, count), names[count]);
    }
    assert_int_equal(md_arc_templates_count(templates), count);
}

static void lines_become_templates(void **state)
{
    static const char *const names[] = {"h.form",
                                        "m-3.suffix dist h+1.upos",
                                        "dir set.upos crossed between.upos",
                                        "bias",
                                        "bias crossed",
                                        "m.feats",
                                        NULL};
    (void)state;
    md_arc_templates *templates = parse("\xef\xbb\xbf# a comment\r\n"
                                        "\r\n"
                                        "h.form\r\n"
                                        " \t m-3.suffix\tdist   h+1.upos  # behind\n"
                                        "   # another\n"
                                        "dir set.upos crossed between.upos#\n"
                                        "bias\nbias crossed\n"
                                        "m.feats");
    assert_names(templates, names);
    md_arc_templates_free(templates);
}

static void braces_stand_for_each_of_their_items(void **state)
{
    static const char *const names[] = {"h.form m.form",
                                        "h.form m.form dist",
                                        "h.upos h-1.upos m.form",
                                        "h.upos h-1.upos m.form dist",
                                        "m.form",
                                        "m.form dist",
                                        "h-1.lower",
                                        "h.lower",
                                        "h+1.lower",
                                        "m-1.lower",
                                        "m.lower",
                                        "m+1.lower",
                                        "h.xpos",
                                        NULL};
    (void)state;
    md_arc_templates *templates = parse("{h.form, h.upos h-1.upos ,} m.form {,dist}\n"
                                        "{h,m}{-1,,+1}.lower\n"
                                        "{h.xpos}\n");
    assert_names(templates, names);
    md_arc_templates_free(templates);
}

/* What braces repeat is dropped: templates in whatever order of fields, and fields. */
static void repeats_by_braces_are_dropped(void **state)
{
    static const char *const names[] = {"h.form m.form", "h.form",      "m.form",
                                        "dist m.form",   "crossed dir", NULL};
    (void)state;
    md_arc_templates *templates = parse("h.form m.form\n"
                                        "{h.form,m.form} {h.form,m.form}\n"
                                        "dist m.form\n"
                                        "m.form {dist,dist dir}\n"
                                        "crossed dir\n"
                                        "{,bias} dir crossed\n"
                                        "{m.form}\n"
                                        "m.form\n");
    assert_names(templates, names);
    md_arc_templates_free(templates);
}

static void assert_refused(const char *text, const char *words, long line)
{
    md_arc_templates *templates = NULL;
    medley_error error = {0};
    if (md_arc_templates_parse(&templates, text, "some.file", &error) >= 0)
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
                 {"# only\n\n \t \r\n", "no templates", 0},
                 {"h.form\nh.frm", "did you mean 'h.form'?", 2},
                 {"m+2.upsos", "did you mean 'm+2.upos'?", 1},
                 {"h.quite_other", "expected one of form, lower", 1},
                 {"h.", "expected one of form, lower", 1},
                 {"h.FORM", "unknown field 'h.FORM'", 1},
                 {"h.formh.form", "unknown field", 1},
                 {"hform", "did you mean 'h.form'?", 1},
                 {"form", "unknown field 'form'", 1},
                 {"distance", "unknown field 'distance'", 1},
                 {"dists", "did you mean 'dist'?", 1},
                 {"set.xpos", "did you mean 'set.upos'?", 1},
                 {"between", "unknown field 'between'", 1},
                 {"h", "unknown field 'h'", 1},
                 {"x.form", "unknown field 'x.form'", 1},
                 {"h.head", "what is to be found", 1},
                 {"m-1.deprel", "what is to be found", 1},
                 {"m.deps", "what is to be found", 1},
                 {"h+0.form", "1, 2 or 3", 1},
                 {"h-4.form", "1, 2 or 3", 1},
                 {"h+12.form", "1, 2 or 3", 1},
                 {"m-.form", "1, 2 or 3", 1},
                 {"m+1form", "1, 2 or 3", 1},
                 {"m+", "1, 2 or 3", 1},
                 {"h.form,m.form", "comma outside braces", 1},
                 {"h.{form,{lower}}", "cannot be nested", 1},
                 {"h.{form,lower", "no } behind it", 1},
                 {"h.form} dist", "without a {", 1},
                 {"{}", "empty item", 1},
                 {"{h.form,} {m.form,}", "empty item", 1},
                 {"bias h.form", "bias stands beside", 1},
                 {"m.form {,bias}", "bias stands beside", 1},
                 {"h.form dist h.form", "in places 1 and 3", 1},
                 {"h.form\n\nh.form\n", "that of line 1", 3},
                 {"dist\nh.form m.form dist\ndist m.form h.form\n", "that of line 2", 3},
                 {"dist\nbias dist\n", "that of line 1", 2},
                 {"dist\ndir dist\n", "that of line 1", 2}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_refused(cases[i].text, cases[i].words, cases[i].line);
}

static void add_times(md_text *text, const char *piece, size_t times)
{
    for (size_t i = 0; i < times; i++)
        md_text_addf(text, "%s", piece);
    assert_false(text->failed);
}

/* 4096 of them are possible and one more is not, in one line or in several. */
static void too_much_is_refused(void **state)
{
    md_text text = {0};
    (void)state;
    add_times(&text, "{,} ", 16);
    add_times(&text, "{,}", 1);
    assert_refused(text.data, "more than 4096 templates", 1);
    md_text_clear(&text);
    add_times(&text, "{h.form}", 17);
    assert_refused(text.data, "more than 16 braces", 1);
    md_text_clear(&text);
    add_times(&text, "h.{form,upos,xpos,lower,lemma,feats,prefix,suffix} ", 3);
    md_text_addf(&text, "m.{form,upos,xpos,lower,lemma,feats,prefix,suffix} {,dist,dir}");
    assert_refused(text.data, "more than 4096 templates", 1);
    md_text_clear(&text);

    static const char most[] = "h.{form,upos,xpos,lower,lemma,feats,prefix,suffix} "
                               "m.{form,upos,xpos,lower,lemma,feats,prefix,suffix} "
                               "h-1.{form,upos,xpos,lower,lemma,feats,prefix,suffix} "
                               "m-1.{form,upos,xpos,lower,lemma,feats,prefix,suffix}\n";
    md_text_addf(&text, "%s", most);
    md_arc_templates *templates = parse(text.data);
    assert_int_equal(md_arc_templates_count(templates), 4096);
    md_arc_templates_free(templates);
    add_times(&text, most, 1); /* nothing new */
    templates = parse(text.data);
    assert_int_equal(md_arc_templates_count(templates), 4096);
    md_arc_templates_free(templates);
    md_text_addf(&text, "dist\n");
    assert_refused(text.data, "more than 4096 templates", 3);
    md_text_clear(&text);

    md_text_addf(&text, "bias\n");
    add_times(&text, " dist ", 600);
    assert_refused(text.data, "more than 16 fields", 2);
    md_text_clear(&text);
    md_text_addf(&text, "bias\n");
    add_times(&text, "h.form ", 1 << 16);
    assert_refused(text.data, "at most 4096", 2);
    md_text_clear(&text);
    md_text_addf(&text, "h.");
    add_times(&text, "a\x01", 2000);
    assert_refused(text.data, "unknown field 'h.a?a?", 1);
    md_text_clear(&text);
}

static size_t count_fields(const char *name)
{
    size_t count = 1;
    for (; *name != '\0'; name++)
        count += *name == ' ';
    return count;
}

/* Distinct as names in whatever order of fields: sorted texts are compared. */
static void sort_fields(const char *name, char sorted[256])
{
    char copy[256], *field[16], *rest = NULL;
    size_t count = 0;
    snprintf(copy, sizeof copy, "%s", name);
    for (char *at = strtok_r(copy, " ", &rest); at != NULL; at = strtok_r(NULL, " ", &rest)) {
        size_t to = count++;
        for (; to > 0 && strcmp(field[to - 1], at) > 0; to--)
            field[to] = field[to - 1];
        field[to] = at;
    }
    sorted[0] = '\0';
    for (size_t i = 0; i < count; i++)
        snprintf(sorted + strlen(sorted), 256 - strlen(sorted), "%s ", field[i]);
}

static void built_in_sets_have_as_many_templates_as_they_say(void **state)
{
    static const struct {
        const char *name;
        size_t count;
    } sets[] = {{"arc-507", 507}, {"arc-form-upos", 154}, {"arc-prune", 61}};
    (void)state;
    for (size_t i = 0; md_arc_sets[i].name != NULL; i++) {
        md_arc_templates *templates = NULL;
        medley_error error = {0};
        md_strings seen = {0};
        assert_string_equal(md_arc_sets[i].name, sets[i].name);
        if (md_arc_templates_read(&templates, sets[i].name, false, &error) < 0)
            fail_msg("%s:%ld: %s", error.file, error.line, error.message);
        assert_int_equal(md_arc_templates_count(templates), sets[i].count);
        for (size_t t = 0; t < sets[i].count; t++) {
            char sorted[256];
            const char *name = md_arc_templates_name(templates, t);
            assert_true(count_fields(name) <= 7);
            sort_fields(name, sorted);
            assert_int_equal(md_strings_add(&seen, sorted, strlen(sorted)), t);
            if (i == 1 && (strstr(name, "lemma") || strstr(name, "xpos") || strstr(name, "feats")))
                fail_msg("%s", name);
        }
        md_strings_clear(&seen);
        md_arc_templates_free(templates);
    }
}

/* ---- files ---- */

static void write_file(const char *path, const char *bytes, size_t length)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, length, file), length);
    fclose(file);
}

static void assert_unreadable(const char *path, medley_status code, const char *words)
{
    md_arc_templates *templates = NULL;
    medley_error error = {0};
    assert_int_equal(md_arc_templates_read(&templates, path, false, &error), code);
    assert_null(templates);
    assert_string_equal(error.file, path);
    if (strstr(error.message, words) == NULL)
        fail_msg("%s", error.message);
}

static void files_are_read_and_built_in_sets_found_by_name(void **state)
{
    char folder[] = "/tmp/arc-templates-XXXXXX", path[64];
    md_arc_templates *templates = NULL;
    (void)state;
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/arc-507", folder);
    assert_unreadable(path, MEDLEY_FAILED, "arc-form-upos (154");
    assert_unreadable(folder, MEDLEY_FAILED, "directory");
    write_file(path, "h.form\nm.form\n", 14);
    assert_int_equal(md_arc_templates_read(&templates, path, false, NULL), MEDLEY_OK);
    assert_int_equal(md_arc_templates_count(templates), 2);
    md_arc_templates_free(templates);
    write_file(path, "h.form\0m.form\n", 14);
    assert_unreadable(path, MEDLEY_BAD_INPUT, "zero byte");
    write_file(path, "", 0);
    assert_unreadable(path, MEDLEY_BAD_INPUT, "no templates");
    unlink(path);

    /* a folder of that name does not hide a built-in set */
    char *here = getcwd(NULL, 0);
    assert_non_null(here);
    assert_int_equal(chdir(folder), 0);
    assert_int_equal(mkdir("arc-507", 0700), 0);
    templates = NULL;
    assert_int_equal(md_arc_templates_read(&templates, "arc-507", false, NULL), MEDLEY_OK);
    assert_int_equal(md_arc_templates_count(templates), 507);
    md_arc_templates_free(templates);
    rmdir("arc-507");
    assert_int_equal(chdir(here), 0);
    free(here);
    rmdir(folder);
}

/* ---- subsets and model files ---- */

static void subsets_have_the_templates_that_are_kept(void **state)
{
    static const char *const names[] = {"dist h.upos", "m.form dist", NULL};
    static const char *const none[] = {NULL};
    const bool keep[] = {false, true, false, true, false}, nothing[5] = {false};
    (void)state;
    md_arc_templates *subset = NULL;
    md_arc_templates *templates = parse("h.form\ndist h.upos\nm.form {,dist}\nbias");
    assert_int_equal(md_arc_templates_subset(&subset, templates, keep, NULL), MEDLEY_OK);
    assert_names(subset, names);
    md_arc_templates_free(subset);
    assert_int_equal(md_arc_templates_subset(&subset, templates, nothing, NULL), MEDLEY_OK);
    assert_names(subset, none);
    md_arc_templates_free(templates);

    md_text bytes = {0};
    md_arc_templates_pack(&bytes, subset);
    md_arc_templates_free(subset);
    md_unpack in = {.data = bytes.data, .length = bytes.length};
    assert_int_equal(md_arc_templates_unpack(&templates, &in, NULL), MEDLEY_OK);
    assert_true(md_unpack_done(&in));
    assert_names(templates, none);
    md_arc_templates_free(templates);
    md_text_clear(&bytes);
}

static void packed_templates_come_back(void **state)
{
    md_arc_templates *templates = NULL, *back = NULL;
    md_text bytes = {0}, again = {0};
    (void)state;
    assert_int_equal(md_arc_templates_read(&templates, "arc-507", false, NULL), MEDLEY_OK);
    md_arc_templates_pack(&bytes, templates);
    md_unpack in = {.data = bytes.data, .length = bytes.length};
    assert_int_equal(md_arc_templates_unpack(&back, &in, NULL), MEDLEY_OK);
    assert_true(md_unpack_done(&in));
    assert_int_equal(md_arc_templates_count(back), 507);
    for (size_t t = 0; t < 507; t++)
        assert_string_equal(md_arc_templates_name(back, t), md_arc_templates_name(templates, t));
    md_arc_templates_pack(&again, back);
    assert_int_equal(again.length, bytes.length);
    assert_memory_equal(again.data, bytes.data, bytes.length);
    md_text_clear(&bytes);
    md_text_clear(&again);
    md_arc_templates_free(templates);
    md_arc_templates_free(back);
}

static void assert_damaged(const char *data, size_t length)
{
    md_arc_templates *templates = NULL;
    medley_error error = {0};
    md_unpack in = {.data = data, .length = length};
    assert_int_equal(md_arc_templates_unpack(&templates, &in, &error), MEDLEY_BAD_INPUT);
    assert_true(in.bad);
    assert_null(templates);
    assert_non_null(strstr(error.message, "damaged"));
}

static void damaged_templates_are_refused(void **state)
{
    static const char *const lies[] = {"h.form", /* no end */
                                       "h.form\nh.form\n",
                                       "h.form m.form\nm.form h.form\n",
                                       "h.frm\n",
                                       "{h,m}.form\n",
                                       "{h.form}\n",
                                       "h.form  dist\n",
                                       " h.form\n",
                                       "\nh.form\n",
                                       "# x\n",
                                       "h.form\r\n",
                                       "h.form #\n"};
    (void)state;
    md_arc_templates *templates = parse("h.form m-1.upos dist\nm.form\nbias");
    md_text bytes = {0};
    md_arc_templates_pack(&bytes, templates);
    md_arc_templates_free(templates);
    for (size_t length = 0; length < bytes.length; length++) {
        char *copy = md_copy(bytes.data, length); /* so that reading behind the end is noticed */
        assert_damaged(copy, length);
        free(copy);
    }
    for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
        bytes.length = 0;
        md_pack_text(&bytes, "source");
        md_pack_text(&bytes, lies[i]);
        assert_damaged(bytes.data, bytes.length);
    }
    md_text_clear(&bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_become_templates),
        cmocka_unit_test(braces_stand_for_each_of_their_items),
        cmocka_unit_test(repeats_by_braces_are_dropped),
        cmocka_unit_test(malformed_templates_are_refused),
        cmocka_unit_test(too_much_is_refused),
        cmocka_unit_test(built_in_sets_have_as_many_templates_as_they_say),
        cmocka_unit_test(files_are_read_and_built_in_sets_found_by_name),
        cmocka_unit_test(subsets_have_the_templates_that_are_kept),
        cmocka_unit_test(packed_templates_come_back),
        cmocka_unit_test(damaged_templates_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
