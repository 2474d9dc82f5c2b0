/* SPDX-License-Identifier: BSD-3-Clause */
/* Reading penalties from text, and composites of several terms. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "penalty/penalty.h"
#include <float.h>
#include <math.h>
#include <string.h>

static md_penalty *make(const char *text)
{
    md_penalty *penalty = NULL;
    medley_error error = {0};
    if (md_penalty_create(&penalty, text, &error) != MEDLEY_OK)
        fail_msg("'%s': %s", text, error.message);
    return penalty;
}

static void text_is_canonical(void **state)
{
    (void)state;
    static const char *const texts[][2] = {
        {"mkl", "mkl"},
        {" l2 + mkl ", "l2+mkl"},
        {"mkl+l2", "mkl+l2"}, /* the order matters and stays */
        {"0.50 * l2+mkl", "0.5*l2+mkl"},
        {"1*l2", "l2"},
        {"1e+2*l2+1e-1*group-lasso", "100*l2+0.1*group-lasso"},
        {"elastic", "elastic"},
        {"elastic()", "elastic"},
        {"elastic(t=0.5)", "elastic"},
        {"elastic(t=3e-1)+2*block( q = 1.25e+0 )", "elastic(t=0.3)+2*block(q=1.25)"},
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        md_penalty *penalty = make(texts[i][0]);
        assert_string_equal(md_penalty_text(penalty), texts[i][1]);
        md_penalty *again = make(md_penalty_text(penalty));
        assert_string_equal(md_penalty_text(again), texts[i][1]);
        md_penalty_free(again);
        md_penalty_free(penalty);
    }
}

static void every_penalty_is_made_by_its_name(void **state)
{
    (void)state;
    for (size_t i = 0; md_penalties[i] != NULL; i++) {
        md_penalty *penalty = make(md_penalties[i]->name);
        assert_string_equal(md_penalty_text(penalty), md_penalties[i]->name);
        md_penalty_free(penalty);
    }
}

static void bad_texts_are_refused_with_a_reason(void **state)
{
    (void)state;
    static const char *const texts[][2] = {
        {"mlk", "did you mean 'mkl'"},
        {"group-laso+l2", "did you mean 'group-lasso'"},
        {"somethingelse", "known: mkl, group-lasso, l2"},
        {"l2+somethingelse", "there is no penalty 'somethingelse'"},
        {"block(q=0.5)", "out of range"},
        {"block(q=1)", "out of range"},
        {"block(q=11)", "out of range"},
        {"squared-block(q=0.9)", "out of range"},
        {"elastic(t=1.5)", "out of range"},
        {"elastic-mkl(s=-1)", "out of range"},
        {"sparse-group(s=two)", "not a number"},
        {"elastic(s=0.5)", "no option 's'"},
        {"l2(t=1)", "no option 't'"},
        {"", "empty term"},
        {"  ", "empty term"},
        {"l2+", "empty term"},
        {"+l2", "empty term"},
        {"l2++mkl", "empty term"},
        {"l2+ +3*mkl", "empty term"},
        {"0*l2", "above 0"},
        {"-1*l2", "above 0"},
        {"inf*l2", "above 0"},
        {"0.5*", "name"},
        {"elastic(t=0.5", "never closed"},
        {"l2@left", "all blocks"},
        {"l2 mkl", "not expected"},
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        md_penalty *penalty = NULL;
        medley_error error = {0};
        assert_int_equal(md_penalty_create(&penalty, texts[i][0], &error), MEDLEY_USAGE);
        assert_null(penalty);
        if (strstr(error.message, texts[i][1]) == NULL)
            fail_msg("'%s' gives '%s', not '%s'", texts[i][0], error.message, texts[i][1]);
    }
    md_penalty *penalty = NULL;
    assert_int_equal(md_penalty_create(&penalty, "mlk", NULL), MEDLEY_USAGE);
    md_penalty_free(NULL);
}

static void composites_run_their_terms_in_sequence(void **state)
{
    (void)state;
    enum { COUNT = 4 };
    const double weight[COUNT] = {1, 2, 0, 0.5};
    const double b[COUNT] = {2, 3, 1, 0.1};
    double left[COUNT];
    double right[COUNT];
    double scratch[3 * COUNT];
    md_penalty *both = make("0.5*l2+3*mkl");
    md_penalty *first = make("l2");
    md_penalty *second = make("mkl");
    md_penalty *all[] = {both, first, second};
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(md_penalty_set_weights(all[i], weight, COUNT, NULL), MEDLEY_OK);
    memcpy(left, b, sizeof left);
    memcpy(right, b, sizeof right);
    md_penalty_prox(both, 0.2, left, COUNT, scratch);
    md_penalty_prox(first, 0.2 * 0.5, right, COUNT, scratch);
    md_penalty_prox(second, 0.2 * 3, right, COUNT, scratch);
    assert_memory_equal(left, right, sizeof left);
    assert_true(left[3] < b[3] && left[2] == b[2]); /* it did something; no weight, no change */
    const double sum =
        0.5 * md_penalty_value(first, b, COUNT) + 3 * md_penalty_value(second, b, COUNT);
    assert_true(fabs(md_penalty_value(both, b, COUNT) - sum) <= 4 * DBL_EPSILON * sum);
    for (size_t i = 0; i < 3; i++)
        md_penalty_free(all[i]);
}

static void value_matches_the_formula_by_hand(void **state)
{
    (void)state;
    const double weight[3] = {1, 0.5, 2};
    const double b[3] = {4, 1, 0.25};
    static const struct {
        const char *text;
        double value;
    } cases[] = {
        {"mkl", 12.5},                /* (4 + 0.5 + 0.5)^2 / 2 */
        {"group-lasso", 5},           /* 4 + 0.5 + 0.5 */
        {"l2", 8.25},                 /* (16 + 0.25 + 0.25) / 2 */
        {"block", 5.804737854124365}, /* (8 + 2 / sqrt(8)) / 1.5 */
        {"squared-block(q=1)", 12.5}, /* as mkl */
        {"squared-block(q=2)", 8.25}, /* as l2 */
        {"elastic", 6.625},           /* (5 + 8.25) / 2 */
        {"elastic-mkl", 10.375},      /* (8.25 + 12.5) / 2 */
        {"l1", 0},
        {"sparse-group", 2.5},
        {"none", 0},
        {"2*l2+none", 16.5},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        md_penalty *penalty = make(cases[i].text);
        assert_int_equal(md_penalty_set_weights(penalty, weight, 3, NULL), MEDLEY_OK);
        const double value = md_penalty_value(penalty, b, 3);
        if (!(fabs(value - cases[i].value) <= 8 * DBL_EPSILON * cases[i].value))
            fail_msg("%s is %.17g, not %.17g", cases[i].text, value, cases[i].value);
        md_penalty_free(penalty);
    }
}

static void properties_of_terms_add_up(void **state)
{
    (void)state;
    const double weight[2] = {0.5, 2};
    md_penalty *penalty = make("0.5*l1+2*sparse-group(s=0.25)+elastic(t=0.5)+3*l2");
    assert_true(fabs(md_penalty_inner_threshold(penalty) - 2) < 1e-15);
    assert_true(fabs(md_penalty_strong_convexity(penalty) - 3.5) < 1e-15);
    assert_int_equal(md_penalty_set_weights(penalty, weight, 2, NULL), MEDLEY_OK);
    assert_true(fabs(md_penalty_strong_convexity(penalty) - 0.875) < 1e-15);
    assert_int_equal(md_penalty_set_weights(penalty, NULL, 0, NULL), MEDLEY_OK);
    assert_true(fabs(md_penalty_strong_convexity(penalty) - 3.5) < 1e-15);
    md_penalty_free(penalty);
    penalty = make("mkl");
    assert_true(md_penalty_inner_threshold(penalty) == 0);
    assert_true(md_penalty_strong_convexity(penalty) == 0);
    md_penalty_free(penalty);
}

/* group-lasso + l2 is an elastic net, so its kernel weights are too. */
static void kernel_weights_of_composites_follow_the_sum(void **state)
{
    (void)state;
    const double b[3] = {0.5, 2, 4};
    double left[3];
    double right[3];
    md_penalty *sum = make("0.75*group-lasso+0.25*l2");
    md_penalty *elastic = make("elastic(t=0.25)");
    md_penalty_weights(sum, b, 3, left);
    md_penalty_weights(elastic, b, 3, right);
    for (size_t m = 0; m < 3; m++)
        assert_true(fabs(left[m] - right[m]) < 1e-15);
    assert_true(fabs(left[0] / left[1] - (0.5 / 0.875) / (2 / 1.25)) < 1e-15);
    md_penalty_free(sum);
    md_penalty_free(elastic);
}

static void bad_weights_are_refused_and_change_nothing(void **state)
{
    (void)state;
    const double good[2] = {1, 3};
    const double bad[] = {-1, NAN, INFINITY, 1e200};
    const double b[2] = {1, 1};
    md_penalty *penalty = make("group-lasso");
    assert_int_equal(md_penalty_set_weights(penalty, good, 2, NULL), MEDLEY_OK);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const double weight[2] = {1, bad[i]};
        medley_error error = {0};
        assert_int_equal(md_penalty_set_weights(penalty, weight, 2, &error), MEDLEY_USAGE);
        assert_non_null(strstr(error.message, "block 2"));
        assert_true(md_penalty_value(penalty, b, 2) == 4);
    }
    assert_int_equal(md_penalty_set_weights(penalty, NULL, 0, NULL), MEDLEY_OK);
    assert_true(md_penalty_value(penalty, b, 2) == 2);
    md_penalty_free(penalty);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_is_canonical),
        cmocka_unit_test(every_penalty_is_made_by_its_name),
        cmocka_unit_test(bad_texts_are_refused_with_a_reason),
        cmocka_unit_test(composites_run_their_terms_in_sequence),
        cmocka_unit_test(value_matches_the_formula_by_hand),
        cmocka_unit_test(properties_of_terms_add_up),
        cmocka_unit_test(kernel_weights_of_composites_follow_the_sum),
        cmocka_unit_test(bad_weights_are_refused_and_change_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
