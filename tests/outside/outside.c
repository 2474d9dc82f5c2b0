/* SPDX-License-Identifier: BSD-3-Clause */
/* The proof that these are plug-ins: a task, a structure, a rule, a penalty and an option that are
 * not in the tree, each one file (an option: none) and one line in a table, are used as if they
 * were. CMakeLists.txt has the lines; the same law tests run over them. */
#include "fit/fitting.h"

/* Two labels that a row's first column tells from each other, and noise. */
static medley_dataset *make_sequences(void)
{
    medley_dataset *data = NULL;
    medley_error error = {0};
    char text[8192];
    size_t used = 0;
    for (int s = 0; s < 40; s++) {
        for (int i = 0; i < 4; i++) {
            const int label = (s * 7 + i * 3) % 2;
            used += (size_t)snprintf(text + used, sizeof text - used, "%s\tx=%d\tnoise=%d\n",
                                     label ? "yes" : "no", label, (s + i) % 5);
        }
        used += (size_t)snprintf(text + used, sizeof text - used, "\n");
    }
    medley_read_options options = MEDLEY_READ_OPTIONS_INIT;
    options.format = "attributes";
    if (medley_dataset_parse(&data, text, used, "sequences", &options, &error) != MEDLEY_OK)
        fail_msg("%s", error.message);
    return data;
}

static void check_model(const char *options)
{
    medley_error error = {0};
    void *bytes = NULL;
    size_t size = 0;
    medley_model *again = NULL;
    medley_dataset *data = make_sequences();
    medley_model *model = fit(data, NULL, options);
    assert_true(accuracy_of(model, data) > 0.95);
    assert_int_equal(medley_model_write(&bytes, &size, model, &error), MEDLEY_OK);
    assert_int_equal(medley_model_read(&again, bytes, size, "model", &error), MEDLEY_OK);
    assert_string_equal(medley_model_summary(again)->task, medley_model_summary(model)->task);
    assert_true(accuracy_of(again, data) == accuracy_of(model, data));
    medley_bytes_free(bytes);
    medley_model_free(again);
    medley_model_free(model);
    medley_dataset_free(data);
}

static void a_task_with_a_structure_learns_saves_and_predicts(void **state)
{
    (void)state;
    check_model("task=lead");
    check_model("task=lead loss=logistic penalty=l2");
    check_model("task=lead method=obscure");
}

static void a_rule_is_a_method(void **state)
{
    (void)state;
    check_model("method=stepwise C=10 epochs=20");
    check_model("task=lead method=stepwise C=10 epochs=20");
}

static void a_penalty_is_one_of_many(void **state)
{
    (void)state;
    check_model("penalty=firm eta0=0.1 epochs=20");
    check_model("task=lead penalty=firm+l2 eta0=0.1 epochs=20");
}

static void an_option_is_read_by_those_it_concerns(void **state)
{
    (void)state;
    medley_error error = {0};
    medley_model *model = NULL;
    medley_dataset *data = make_sequences();
    medley_options *options = make_options("task=lead least-rows=5");
    assert_int_equal(medley_fit(&model, data, NULL, options, NULL, &error), MEDLEY_USAGE);
    assert_non_null(strstr(error.message, "`least-rows=5`"));
    medley_options_free(options);
    medley_dataset_free(data);
    check_model("task=lead least-rows=4");
}

static bool is_listed(const char *kind, const char *name)
{
    medley_listing listing = MEDLEY_LISTING_INIT;
    for (size_t i = 0; medley_list(&listing, kind, i); i++)
        if (strcmp(listing.name, name) == 0)
            return true;
    return false;
}

static void all_of_them_are_listed(void **state)
{
    (void)state;
    assert_true(is_listed("tasks", "lead"));
    assert_true(is_listed("structures", "lead"));
    assert_true(is_listed("methods", "stepwise"));
    assert_true(is_listed("penalties", "firm"));
    bool found = false;
    medley_option_info info = MEDLEY_OPTION_INFO_INIT;
    for (size_t i = 0; medley_option_describe(&info, i); i++)
        found = found || strcmp(info.name, "least-rows") == 0;
    assert_true(found);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_task_with_a_structure_learns_saves_and_predicts),
        cmocka_unit_test(a_rule_is_a_method),
        cmocka_unit_test(a_penalty_is_one_of_many),
        cmocka_unit_test(an_option_is_read_by_those_it_concerns),
        cmocka_unit_test(all_of_them_are_listed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
