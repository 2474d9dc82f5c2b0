/* SPDX-License-Identifier: BSD-3-Clause */
/* Lists and ranges of values, and all their combinations. */
#include "select/choice.h"

#include "fit/fitting.h"
#include <locale.h>
#include <stdio.h>

/* The values, joined by '#'. */
static void joined(char *text, size_t size, const char *option, const char *list)
{
    char **values = NULL;
    medley_error error = {0};
    const medley_choice choice = {option, list};
    if (md_choice_values(&values, &choice, &error) != MEDLEY_OK)
        fail_msg("%s=%s: %s", option, list, error.message);
    size_t used = 0;
    for (size_t i = 0; values[i] != NULL; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%s", i ? "#" : "", values[i]);
    size_t count;
    assert_int_equal(medley_choice_count(&count, &choice, &error), MEDLEY_OK);
    assert_int_equal(count, md_texts_count(values));
    md_texts_free(values);
}

static void lists_are_cut_outside_of_brackets(void **state)
{
    (void)state;
    static const char *const cases[][3] = {
        {"C", "1", "1"},
        {"C", "0.1, 1 ,10", "0.1#1#10"},
        {"epochs", "5,10", "5#10"},
        {"penalty", "mkl,block(q=1.5),elastic(t=0.5)", "mkl#block(q=1.5)#elastic(t=0.5)"},
        {"loss", "squared,epsilon(0.1)", "squared#epsilon(0.1)"},
        {"views", "all,shift(1,2)+each", "all#shift(1,2)+each"},
        {"kernel", "rbf(sigma={1,2}),bias", "rbf(sigma={1,2}),bias"},
        {"kernel", "rbf(sigma2=1,norm=diag)|poly(degree=1..3) | bias",
         "rbf(sigma2=1,norm=diag)#poly(degree=1..3)#bias"},
        {"normalize", "none,trace", "none#trace"},
        {"average", "yes,no", "yes#no"},
        {"eta0", "auto,0.1", "auto#0.1"},
        {"blocks", "U01,U02", "U01,U02"},
        {"checkpoint", "a,b", "a,b"},
        {"template", "../a.txt,b/../c.txt", "../a.txt#b/../c.txt"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[256];
        joined(text, sizeof text, cases[i][0], cases[i][1]);
        assert_string_equal(text, cases[i][2]);
    }
}

static void ranges_are_even_in_logarithm(void **state)
{
    (void)state;
    static const char *const cases[][3] = {
        {"C", "0.01..100", "0.01#0.1#1#10#100"},
        {"C", "100..0.01", "100#10#1#0.1#0.01"},
        {"C", "0.01..100:9", "0.01#0.03162#0.1#0.3162#1#3.162#10#31.62#100"},
        {"lambda", "1e-3..1e-1", "1e-3#0.01#1e-1"},
        {"C", "1..50", "1#7.071#50"},
        {"C", "1..2", "1#2"},
        {"C", "1..2:3", "1#1.414#2"},
        {"C", "3..3", "3"},
        {"C", "0.5,1..100", "0.5#1#10#100"},
        {"eta0", "auto,0.1..10", "auto#0.1#1#10"},
        {"radius", "1..10,none", "1#10#none"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[256];
        joined(text, sizeof text, cases[i][0], cases[i][1]);
        assert_string_equal(text, cases[i][2]);
    }
}

/* The ratio of these ends is beyond all numbers. */
static void ranges_may_be_as_wide_as_numbers_are(void **state)
{
    (void)state;
    char text[128];
    joined(text, sizeof text, "C", "1e-300..1e300:3");
    assert_string_equal(text, "1e-300#1#1e300");
    joined(text, sizeof text, "C", "1e300..1e-300:5,2");
    assert_string_equal(text, "1e300#1e+150#1#1e-150#1e-300#2");
    char **values = NULL;
    medley_error error = {0};
    const medley_choice choice = {"C", "1e-300..1e300"};
    assert_int_equal(md_choice_values(&values, &choice, &error), MEDLEY_OK);
    assert_int_equal(md_texts_count(values), 601);
    assert_string_equal(values[301], "10");
    md_texts_free(values);
}

/* Numbers are written with a point even where people write a comma. */
static void locales_change_nothing(void **state)
{
    (void)state;
    static const char *const names[] = {"de_DE.UTF-8", "de_DE", "fr_FR.UTF-8", "pl_PL.UTF-8", NULL};
    const char *found = NULL;
    for (size_t i = 0; names[i] != NULL && found == NULL; i++)
        found = setlocale(LC_NUMERIC, names[i]);
    if (found == NULL)
        skip();
    char text[128];
    joined(text, sizeof text, "C", "0.01..100:9");
    medley_choice choice;
    char strengths[MD_CHOICE_TEXT];
    medley_error error = {0};
    medley_dataset *data = make_data("ringnorm", 30, 2);
    medley_options *options = make_options("C=0.25");
    const medley_status status =
        md_choice_of_strength(&choice, strengths, data, options, NULL, &error);
    setlocale(LC_NUMERIC, "C");
    assert_string_equal(text, "0.01#0.03162#0.1#0.3162#1#3.162#10#31.62#100");
    assert_int_equal(status, MEDLEY_OK);
    assert_string_equal(strengths, "0.0025,0.025,0.25,2.5,25");
    medley_options_free(options);
    medley_dataset_free(data);
}

static void strengths_stand_around_the_value_given(void **state)
{
    (void)state;
    static const char *const cases[][3] = {
        {"C=0.25", "C", "0.0025,0.025,0.25,2.5,25"},
        {"lambda=1.234e-7", "lambda", "1.234e-09,1.234e-08,1.234e-07,1.234e-06,1.234e-05"},
        {"spicy-C=7", "spicy-C", "0.07,0.7,7,70,700"},
        {"C=1e299", "C", "1e+297,1e+298,1e+299,1e+300"},
        {"lambda=1e-300", "lambda", "1e-300,1e-299,1e-298"},
        {"method=spom", "C", "0.1,1,10,100,1000"},
    };
    medley_dataset *data = make_data("ringnorm", 30, 2);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        medley_choice choice;
        char text[MD_CHOICE_TEXT];
        medley_error error = {0};
        medley_options *options = make_options(cases[i][0]);
        assert_int_equal(md_choice_of_strength(&choice, text, data, options, NULL, &error),
                         MEDLEY_OK);
        assert_string_equal(choice.option, cases[i][1]);
        assert_string_equal(choice.values, cases[i][2]);
        medley_options_free(options);
    }
    medley_dataset_free(data);
}

static void names_of_files_may_have_commas(void **state)
{
    (void)state;
    static const char *const options[] = {"kernels", "template"};
    char folder[] = "/tmp/medley-choice-XXXXXX";
    char path[64];
    char text[128];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/a,b", folder);
    for (size_t i = 0; i < 2; i++) {
        joined(text, sizeof text, options[i], path);
        assert_non_null(strchr(text, '#'));
    }
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fclose(file);
    for (size_t i = 0; i < 2; i++) {
        joined(text, sizeof text, options[i], path);
        assert_string_equal(text, path);
    }
    remove(path);
    remove(folder);
}

static void missing_pointers_are_refused(void **state)
{
    (void)state;
    static const medley_choice choices[] = {{"C", NULL}, {NULL, "1,2"}};
    static const char *const says[] = {"no values", "no option"};
    size_t count;
    medley_error error = {0};
    medley_dataset *data = make_data("ringnorm", 30, 2);
    medley_tuning *tuning = NULL;
    for (size_t i = 0; i < 2; i++) {
        error = (medley_error){0};
        assert_int_equal(medley_choice_count(&count, &choices[i], &error), MEDLEY_USAGE);
        assert_non_null(strstr(error.message, says[i]));
        assert_int_equal(medley_tune(&tuning, data, NULL, &choices[i], 1, NULL, NULL, &error),
                         MEDLEY_USAGE);
    }
    assert_int_equal(medley_choice_count(&count, NULL, &error), MEDLEY_USAGE);
    assert_int_equal(medley_tune(&tuning, data, NULL, NULL, 1, NULL, NULL, &error), MEDLEY_USAGE);
    assert_null(tuning);
    medley_dataset_free(data);
}

static void ratios_of_a_range_are_the_same(void **state)
{
    (void)state;
    for (int count = 2; count < 40; count++) {
        char list[64];
        char **values = NULL;
        medley_error error = {0};
        snprintf(list, sizeof list, "0.003..7e4:%d", count);
        const medley_choice choice = {"C", list};
        assert_int_equal(md_choice_values(&values, &choice, &error), MEDLEY_OK);
        assert_int_equal(md_texts_count(values), count);
        const double ratio = pow(7e4 / 0.003, 1.0 / (count - 1));
        for (int i = 1; i < count; i++)
            assert_true(fabs(strtod(values[i], NULL) / strtod(values[i - 1], NULL) / ratio - 1) <
                        2e-3);
        md_texts_free(values);
    }
}

static void bad_lists_are_refused(void **state)
{
    (void)state;
    static const char *const cases[][3] = {
        {"C", "", "empty"},          {"C", "1,,2", "empty"},        {"C", "1,", "empty"},
        {"kernel", "a||b", "empty"}, {"C", "0..1", "above 0"},      {"C", "-1..1", "above 0"},
        {"C", "1..10:x", "colon"},   {"C", "1..10:1", "colon"},     {"C", "1..10:100000", "colon"},
        {"C", "1..inf", "above 0"},  {"epochs", "5..10", "commas"}, {"sea", "1,2", "option 'sea'"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const medley_choice choice = {cases[i][0], cases[i][1]};
        char **values = NULL;
        size_t count = 7;
        medley_error error = {0};
        assert_int_equal(md_choice_values(&values, &choice, &error), MEDLEY_USAGE);
        if (strstr(error.message, cases[i][2]) == NULL)
            fail_msg("%s=%s: %s", cases[i][0], cases[i][1], error.message);
        assert_null(values);
        assert_int_equal(medley_choice_count(&count, &choice, NULL), MEDLEY_USAGE);
        assert_int_equal(count, 7);
    }
}

static void every_combination_is_there_once(void **state)
{
    (void)state;
    static const medley_choice choices[] = {
        {"penalty", "mkl,l2"},
        {"C", "1,2,3"},
        {"epochs", "4,5"},
        {"kernel", "bias|linear"},
        {"kernel", "rbf(sigma2=1)|rbf(sigma2=2)|rbf(sigma2=3)"}};
    md_grid grid;
    medley_error error = {0};
    assert_int_equal(md_grid_make(&grid, choices, 5, &error), MEDLEY_OK);
    assert_int_equal(grid.trial_count, 2 * 3 * 2 * 2 * 3);
    size_t t = 0; /* the first varies slowest */
    for (size_t a = 0; a < 2; a++)
        for (size_t b = 0; b < 3; b++)
            for (size_t c = 0; c < 2; c++)
                for (size_t d = 0; d < 2; d++)
                    for (size_t e = 0; e < 3; e++, t++) {
                        const size_t place[] = {a, b, c, d, e};
                        for (size_t o = 0; o < 5; o++)
                            assert_string_equal(md_grid_value(&grid, t, o),
                                                grid.values[o][place[o]]);
                    }
    for (size_t u = 0; u < grid.trial_count; u++) { /* 12 from one C to the next */
        const bool same = u % 12 == 5 && u / 36 == 0;
        assert_true(md_grid_same_but_strength(&grid, 5, u) == same);
    }
    md_grid_clear(&grid);
}

static void too_much_or_twice_is_refused(void **state)
{
    (void)state;
    static const medley_choice twice[] = {{"C", "1,2"}, {"C", "3,4"}};
    static const medley_choice many[] = {{"C", "1..2:1000"}, {"p", "1.1..2:1000"}};
    md_grid grid;
    medley_error error = {0};
    assert_int_equal(md_grid_make(&grid, twice, 2, &error), MEDLEY_USAGE);
    assert_non_null(strstr(error.message, "twice"));
    error = (medley_error){0};
    assert_int_equal(md_grid_make(&grid, many, 2, &error), MEDLEY_USAGE);
    assert_non_null(strstr(error.message, "combinations"));
}

static void options_are_copied_with_all_they_own(void **state)
{
    (void)state;
    medley_error error = {0};
    medley_options *options =
        make_options("C=3 kernel=bias kernel=linear penalty=l2 scale=standard average=yes seed=9");
    medley_options *copy = NULL;
    static const char *const names[] = {"penalty", "kernel"};
    static const char *const values[] = {"mkl", "rbf(sigma2=1)"};
    assert_int_equal(md_options_with(&copy, options, names, values, 2, &error), MEDLEY_OK);
    assert_true(copy->C == 3 && copy->seed == 9 && copy->average && isnan(copy->lambda));
    assert_string_equal(copy->penalty, "mkl");
    assert_string_equal(options->penalty, "l2");
    assert_int_equal(md_texts_count(copy->kernels), 3);
    assert_int_equal(md_texts_count(options->kernels), 2);
    assert_string_equal(copy->kernels[2], "rbf(sigma2=1)");
    assert_true(copy->scale != options->scale && copy->views != options->views);
    medley_options_free(options);
    medley_options_free(copy);
    copy = NULL;
    assert_int_equal(
        md_options_with(&copy, NULL, names, (const char *const[]){"mkl", "bias"}, 2, &error),
        MEDLEY_OK);
    assert_string_equal(copy->method, "auto");
    medley_options_free(copy);
    copy = NULL;
    static const char *const wrong[] = {"C"};
    assert_int_equal(md_options_with(&copy, NULL, wrong, (const char *const[]){"much"}, 1, &error),
                     MEDLEY_USAGE);
    assert_null(copy);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_are_cut_outside_of_brackets),
        cmocka_unit_test(ranges_are_even_in_logarithm),
        cmocka_unit_test(ranges_may_be_as_wide_as_numbers_are),
        cmocka_unit_test(locales_change_nothing),
        cmocka_unit_test(strengths_stand_around_the_value_given),
        cmocka_unit_test(names_of_files_may_have_commas),
        cmocka_unit_test(missing_pointers_are_refused),
        cmocka_unit_test(ratios_of_a_range_are_the_same),
        cmocka_unit_test(bad_lists_are_refused),
        cmocka_unit_test(every_combination_is_there_once),
        cmocka_unit_test(too_much_or_twice_is_refused),
        cmocka_unit_test(options_are_copied_with_all_they_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
