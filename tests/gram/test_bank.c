/* SPDX-License-Identifier: BSD-3-Clause */
/* Banks: from specs to kernels on views, in an order that shares products; names, normalisation,
 * scaling, errors, and subsets that treat data as the whole bank does. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "gram/prepared_rows.h"
#include "naive.h"

enum { MOST = 12 };

/* Texts as the options want them. */
struct texts {
    char text[MOST][80];
    char *list[MOST + 1];
};

static char *const *texts_of(struct texts *texts, const char *const *source)
{
    size_t count = 0;
    if (source == NULL)
        return NULL;
    for (; source[count] != NULL; count++) {
        snprintf(texts->text[count], sizeof texts->text[count], "%s", source[count]);
        texts->list[count] = texts->text[count];
    }
    texts->list[count] = NULL;
    return texts->list;
}

struct request {
    const char *const *kernels, *const *scale;
    const char *views;
    md_norm normalize;
};

static struct request ask(const char *const *kernels, const char *const *scale, const char *views)
{
    return (struct request){.kernels = kernels, .scale = scale, .views = views};
}

static medley_status make(md_bank *bank, const medley_dataset *data, struct request request,
                          medley_error *error)
{
    struct texts kernels;
    struct texts scale;
    const md_bank_options options = {.kernels = texts_of(&kernels, request.kernels),
                                     .views = request.views,
                                     .scale = texts_of(&scale, request.scale),
                                     .normalize = request.normalize,
                                     .seed = 1};
    return md_bank_make(bank, data, &options, error);
}

static void check_names(const medley_dataset *data, struct request request,
                        const char *const *expected)
{
    md_bank bank = {0};
    medley_error error = {0};
    if (make(&bank, data, request, &error) < 0)
        fail_msg("%s", error.message);
    size_t seen = 0;
    for (; expected[seen] != NULL; seen++) {
        assert_true(seen < bank.count);
        assert_string_equal(bank.kernels[seen].name, expected[seen]);
    }
    assert_int_equal(seen, bank.count);
    md_bank_clear(&bank);
}

static void check_refused(const medley_dataset *data, struct request request, const char *expected)
{
    md_bank bank;
    medley_error error = {0};
    assert_int_equal(make(&bank, data, request, &error), MEDLEY_USAGE);
    if (strstr(error.message, expected) == NULL)
        fail_msg("'%s' is not in: %s", expected, error.message);
    assert_int_equal(bank.count, 0);
    assert_null(bank.kernels);
}

static const data_kind three_columns = {.rows = 10, .columns = 3, .center = 1, .spread = 1};
static const data_kind two_columns = {.rows = 10, .columns = 2, .center = 1, .spread = 1};

#define LIST(...)                                                                                  \
    (const char *const[])                                                                          \
    {                                                                                              \
        __VA_ARGS__, NULL                                                                          \
    }

static void specs_expand_over_values_and_views(void **state)
{
    (void)state;
    medley_dataset *data = add_data(NULL, "", &two_columns, 1);
    check_names(data, ask(LIST("rbf(sigma2={1,5})", "poly(degree=1..2)"), NULL, "all"),
                LIST("rbf(sigma2=1)@all", "rbf(sigma2=5)@all", "poly(degree=1)@all", "poly@all"));
    check_names(data,
                ask(LIST("linear@all", "rbf(gamma=2)@each", "poly(offset=0)@x2"), NULL, "all+each"),
                LIST("linear@all", "rbf(gamma=2)@x1", "rbf(gamma=2)@x2", "poly(offset=0)@x2"));
    check_names(data, ask(LIST("linear"), NULL, "each+all"),
                LIST("linear@x1", "linear@x2", "linear@all"));
    check_names(data, ask(LIST("linear@each", "bias"), NULL, "each"), /* one constant is enough */
                LIST("linear@x1", "bias", "linear@x2"));
    medley_dataset_free(data);
}

/* By view, within a view kernels of products and distances first, then those of each pair sum;
 * otherwise as given. */
static void kernels_that_share_products_stand_together(void **state)
{
    (void)state;
    medley_dataset *data = add_data(NULL, "", &two_columns, 1);
    add_data(data, "more", &three_columns, 2);
    check_names(
        data,
        ask(LIST("laplace(gamma=1)", "rbf(gamma=1)", "chi2(gamma=1)", "linear", "laplace(gamma=2)"),
            NULL, "all"),
        LIST("rbf(gamma=1)@all", "linear@all", "laplace(gamma=1)@all", "laplace(gamma=2)@all",
             "chi2(gamma=1)@all", "rbf(gamma=1)@more", "linear@more", "laplace(gamma=1)@more",
             "laplace(gamma=2)@more", "chi2(gamma=1)@more"));
    medley_dataset_free(data);
}

static void the_default_bank_has_four_kernels(void **state)
{
    (void)state;
    medley_dataset *data = add_data(NULL, "", &two_columns, 1);
    md_bank bank;
    assert_int_equal(make(&bank, data, (struct request){.views = "all"}, NULL), MEDLEY_OK);
    assert_int_equal(bank.count, 4);
    assert_string_equal(bank.kernels[0].name, "linear(norm=diag)@all");
    assert_string_equal(bank.kernels[1].name, "poly(norm=diag)@all");
    assert_memory_equal(bank.kernels[2].name, "rbf(sigma2=", 11);
    assert_string_equal(bank.kernels[3].name, "bias");
    assert_int_equal(bank.training_rows, 10);
    md_bank_clear(&bank);
    medley_dataset_free(data);
}

static void normalisation_comes_from_the_spec_or_the_option(void **state)
{
    (void)state;
    medley_dataset *data = add_data(NULL, "", &two_columns, 1);
    struct request request =
        ask(LIST("linear", "poly(norm=none)", "rbf(gamma=1,norm=center)", "linear(explicit)"), NULL,
            "all");
    check_names(
        data, request,
        LIST("linear@all", "poly@all", "rbf(gamma=1,norm=center)@all", "linear(explicit)@all"));
    request.normalize = MD_NORM_TRACE;
    check_names(data, request,
                LIST("linear(norm=trace)@all", "poly@all", "rbf(gamma=1,norm=center)@all",
                     "linear(norm=trace,explicit)@all"));
    md_bank bank;
    assert_int_equal(make(&bank, data, request, NULL), MEDLEY_OK);
    assert_true(bank.kernels[3].explicit_weights && !bank.kernels[0].explicit_weights);
    assert_int_equal(bank.kernels[0].norm, MD_NORM_TRACE);
    assert_int_equal(bank.kernels[1].norm, MD_NORM_NONE);
    assert_int_equal(bank.kernels[2].norm, MD_NORM_CENTER);
    md_bank_clear(&bank);
    request.normalize = MD_NORM_DIAG;
    check_refused(data, request, "linear(explicit) cannot have norm=diag");
    check_names(data, ask(LIST("linear(explicit=no,norm=diag)"), NULL, "all"),
                LIST("linear(norm=diag)@all"));
    medley_dataset_free(data);
}

static void mistakes_are_explained(void **state)
{
    (void)state;
    medley_dataset *data = add_data(NULL, "", &two_columns, 1);
    const struct {
        const char *kernel, *expected;
    } wrong[] = {{"gauss", "there is no kernel 'gauss'"},
                 {"linaer", "did you mean 'linear'"},
                 {"linear@left", "there is no view 'left'; the views are: x1, x2, all"},
                 {"linear(norm=big)", "norm='big'"},
                 {"rbf(sigma=1,sigma2=1)", "not several"},
                 {"rbf(sigma=1", "never closed"},
                 {"rbf(sigma={1,2)", "never closed"},
                 {"rbf(explicit)", "cannot be explicit"}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        check_refused(data, ask(LIST(wrong[i].kernel), NULL, "each+all"), wrong[i].expected);
    check_refused(data, ask(LIST("linear"), LIST("big"), "all"),
                  "there is no scale 'big'; known: none, center, standard, minmax, maxabs, auto");
    check_refused(data, ask(LIST("linear"), LIST("left=minmax"), "all"), "there is no view 'left'");
    check_refused(data, ask(LIST("linear"), NULL, "some"), "'some' are not known");
    medley_dataset_free(data);
    assert_int_equal(medley_dataset_create(&data, NULL), MEDLEY_OK);
    data->rows = 4;
    check_refused(data, (struct request){.views = "all"}, "there are no kernels");
    check_refused(data, ask(LIST("linear"), NULL, "all"), "there is no view 'all'");
    medley_dataset_free(data);
}

static void scaling_is_for_all_views_or_those_named(void **state)
{
    (void)state;
    medley_dataset *data = add_data(NULL, "", &two_columns, 1);
    add_data(data, "more", &three_columns, 2);
    md_bank bank;
    const struct request request =
        ask(LIST("linear"), LIST("standard", "each=none", "more=minmax"), "all+each");
    assert_int_equal(make(&bank, data, request, NULL), MEDLEY_OK);
    assert_int_equal(bank.view_count, 4);
    assert_non_null(bank.views[0].factor);
    assert_null(bank.views[1].factor);
    assert_null(bank.views[2].factor);
    assert_non_null(bank.views[3].factor);
    assert_true(bank.views[3].shift[0] < 0.5f); /* the least value, not the mean */
    assert_true(bank.views[0].shift[0] > 0.5f);
    md_bank_clear(&bank);
    medley_dataset_free(data);
}

static void precomputed_kernels_come_last(void **state)
{
    (void)state;
    medley_dataset *data = add_data(NULL, "", &two_columns, 1);
    assert_int_equal(md_dataset_new_gram(&(md_precomputed *){NULL}, data, "first", NULL),
                     MEDLEY_OK);
    assert_int_equal(md_dataset_new_gram(&(md_precomputed *){NULL}, data, "second", NULL),
                     MEDLEY_OK);
    check_names(data, ask(LIST("linear"), NULL, "all"), LIST("linear@all", "first", "second"));
    md_bank bank;
    const struct request request = {.views = "all", .normalize = MD_NORM_TRACE};
    assert_int_equal(make(&bank, data, request, NULL), MEDLEY_OK);
    assert_int_equal(bank.count, 6);
    assert_null(bank.kernels[5].class);
    assert_int_equal(bank.kernels[5].view, 1);
    assert_int_equal(bank.kernels[5].norm, MD_NORM_TRACE);
    md_bank_clear(&bank);
    medley_dataset_free(data);
    assert_int_equal(medley_dataset_create(&data, NULL), MEDLEY_OK); /* kernels without data */
    data->rows = 4;
    assert_int_equal(md_dataset_new_gram(&(md_precomputed *){NULL}, data, "alone", NULL),
                     MEDLEY_OK);
    check_names(data, (struct request){.views = "all"}, LIST("alone"));
    medley_dataset_free(data);
}

static void origins_are_for_distances_of_far_data(void **state)
{
    (void)state;
    static const data_kind far = {.rows = 10, .columns = 2, .center = 50, .spread = 1};
    static const data_kind far_sparse = {
        .rows = 10, .columns = 2, .center = 50, .spread = 1, .sparse = true};
    static const data_kind near = {.rows = 10, .columns = 2, .spread = 1};
    const struct {
        const data_kind *kind;
        const char *const *kernels;
        bool expected;
    } cases[] = {{&far, LIST("rbf", "linear"), true},
                 {&far, LIST("linear", "laplace"), false},
                 {&far, LIST("rbf", "chi2"), false}, /* needs the values themselves */
                 {&far, LIST("rbf", "linear(explicit)"), false},
                 {&far_sparse, LIST("rbf"), false},
                 {&near, LIST("rbf"), false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        medley_dataset *data = add_data(NULL, "", cases[i].kind, 1);
        md_bank bank;
        const struct request request = ask(cases[i].kernels, NULL, "all");
        assert_int_equal(make(&bank, data, request, NULL), MEDLEY_OK);
        assert_int_equal(bank.origin[0] != NULL, cases[i].expected);
        md_bank_clear(&bank);
        medley_dataset_free(data);
    }
}

static void subsets_keep_what_their_kernels_need(void **state)
{
    (void)state;
    static const data_kind far = {.rows = 10, .columns = 2, .center = 50, .spread = 1};
    medley_dataset *data = add_data(NULL, "", &far, 1);
    add_data(data, "more", &three_columns, 2);
    assert_int_equal(md_dataset_new_gram(&(md_precomputed *){NULL}, data, "given", NULL),
                     MEDLEY_OK);
    md_bank bank;
    md_bank subset;
    const struct request request =
        ask(LIST("rbf(norm=center)", "linear(norm=trace)"), LIST("minmax"), "all+each");
    assert_int_equal(make(&bank, data, request, NULL), MEDLEY_OK);
    assert_int_equal(bank.count, 9); /* rbf and linear on all, x1, x2, more; given */
    bank.kernels[6].column_mean = md_calloc(10, sizeof(float));
    bank.kernels[6].column_mean[9] = 0.75f;
    bank.kernels[6].grand_mean = 0.5;
    bank.kernels[3].factor = 0.25;
    const size_t keep[] = {8, 6, 3, 7};
    assert_int_equal(md_bank_subset(&subset, &bank, keep, 4, NULL), MEDLEY_OK);
    assert_int_equal(subset.count, 4);
    assert_int_equal(subset.view_count, 2);
    assert_string_equal(subset.views[0].name, "more");
    assert_string_equal(subset.views[1].name, "x1");
    assert_int_equal(subset.training_rows, 10);
    static const size_t views[] = {0 /* of grams */, 0, 1, 0};
    for (size_t k = 0; k < 4; k++) {
        const md_kernel *kernel = &subset.kernels[k];
        const md_kernel *original = &bank.kernels[keep[k]];
        assert_string_equal(kernel->name, original->name);
        assert_ptr_equal(kernel->class, original->class);
        assert_int_equal(kernel->norm, original->norm);
        assert_int_equal(kernel->view, views[k]);
        assert_true(kernel->factor == original->factor);
    }
    assert_true(subset.kernels[1].column_mean[9] == 0.75f && subset.kernels[1].grand_mean == 0.5);
    assert_ptr_not_equal(subset.kernels[1].column_mean, bank.kernels[6].column_mean);
    for (size_t v = 0; v < 2; v++) {
        const md_view *original = &bank.views[v == 0 ? 3 : 1];
        assert_memory_equal(subset.views[v].shift, original->shift,
                            original->column_count * sizeof(float));
        assert_int_equal(subset.views[v].columns != NULL, original->columns != NULL);
    }
    md_bank_clear(&bank); /* the subset stands alone */
    float q[] = {1};
    subset.kernels[1].class->map(subset.kernels[1].state, q, q, 1);
    assert_true(q[0] > 0 && q[0] < 1);
    md_bank_clear(&subset);
    medley_dataset_free(data);
}

/* What is learnt for a view among many is what is learnt for it alone: widths and origins. */
static void many_views_are_each_as_if_alone(void **state)
{
    (void)state;
    enum { VIEWS = 40, KERNELS = 3 };
    const data_kind kind = {.rows = 12, .columns = 7, .center = 30, .spread = 1};
    const char *const kernels[KERNELS] = {"rbf(auto)", "laplace(auto)", "bspline"};
    medley_dataset *data = add_data(NULL, "", &kind, 5);
    md_bank bank;
    assert_int_equal(make(&bank, data,
                          ask(LIST("rbf(auto)@random", "laplace(auto)", "bspline"),
                              LIST("random7=standard"), "random:40"),
                          NULL),
                     MEDLEY_OK);
    assert_int_equal(bank.count, KERNELS * VIEWS);
    size_t shifted = 0;
    for (size_t v = 0; v < VIEWS; v++) {
        for (size_t k = 0; k < KERNELS; k++) {
            char spec[64];
            md_bank alone;
            snprintf(spec, sizeof spec, "%s@random%zu", kernels[k], v + 1);
            assert_int_equal(
                make(&alone, data, ask(LIST(spec), LIST("random7=standard"), "random:40"), NULL),
                MEDLEY_OK);
            size_t found = 0; /* bspline before laplace, which sums over pairs */
            for (size_t m = KERNELS * v; m < KERNELS * (v + 1); m++)
                found += strcmp(bank.kernels[m].name, alone.kernels[0].name) == 0;
            assert_int_equal(alone.count, 1);
            assert_int_equal(found, 1);
            assert_int_equal(alone.kernels[0].view, v);
            if (alone.origin[v] != NULL) { /* kernels of pairs alone need none */
                assert_memory_equal(alone.origin[v], bank.origin[v],
                                    bank.views[v].column_count * sizeof(float));
                shifted++;
            }
            md_bank_clear(&alone);
        }
    }
    assert_int_equal(shifted, 2 * (VIEWS - 1)); /* all but the scaled one, rbf and bspline */
    md_bank_clear(&bank);
    medley_dataset_free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(specs_expand_over_values_and_views),
        cmocka_unit_test(kernels_that_share_products_stand_together),
        cmocka_unit_test(the_default_bank_has_four_kernels),
        cmocka_unit_test(normalisation_comes_from_the_spec_or_the_option),
        cmocka_unit_test(mistakes_are_explained),
        cmocka_unit_test(scaling_is_for_all_views_or_those_named),
        cmocka_unit_test(precomputed_kernels_come_last),
        cmocka_unit_test(origins_are_for_distances_of_far_data),
        cmocka_unit_test(subsets_keep_what_their_kernels_need),
        cmocka_unit_test(many_views_are_each_as_if_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
