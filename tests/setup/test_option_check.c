/* SPDX-License-Identifier: BSD-3-Clause */
/* Every option against every task and method: it is taken or refused, never silently ignored. */
#include "fit/fitting.h"
#include "setup/setup.h"

/* A value other than the default. */
static const char *other_value(const md_param *param)
{
    static char number[32];
    if (param->type == MD_CHOICE)
        return param->choices[strcmp(param->choices[0], param->fallback) == 0 ? 1 : 0];
    if (param->type == MD_FLAG)
        return "yes";
    if (param->type != MD_DOUBLE && param->type != MD_INT)
        return "7";
    snprintf(number, sizeof number, "%g", param->least + (param->type == MD_INT ? 1 : 0.25));
    return strcmp(number, param->fallback) == 0 ? "2" : number;
}

/* With the option and all that it needs. */
static medley_options *with_option(const md_param *param)
{
    medley_options *options = make_options("");
    for (size_t i = 0; param != NULL && i < 2; i++) {
        assert_int_equal(medley_options_set(options, param->name, other_value(param), NULL),
                         MEDLEY_OK);
        assert_false(md_param_is_default(param, options));
        param = param->needs ? md_params_find(md_option_table, param->needs) : NULL;
    }
    return options;
}

static bool is_accepted(const md_param *param, const md_task *task, const md_method *method)
{
    medley_error error = {0};
    char name[64];
    medley_options *options = with_option(param);
    const medley_status status = md_check_options(options, task, method, NULL, &error);
    medley_options_free(options);
    if (status == MEDLEY_OK)
        return true;
    assert_int_equal(status, MEDLEY_USAGE);
    snprintf(name, sizeof name, "`%s` ", param->name);
    if (strstr(error.message, name) == NULL)
        snprintf(name, sizeof name, "`%s` ", param->needs ? param->needs : "?");
    if (strncmp(error.message, name, strlen(name)) != 0 ||
        strstr(error.message, "no place in `") == NULL)
        fail_msg("%s, %s: '%s'", task->about.name, method->about->name, error.message);
    return false;
}

static void an_option_is_taken_by_those_it_concerns_and_refused_by_others(void **state)
{
    (void)state;
    for (const md_param *p = md_option_table; p->name != NULL; p++) {
        const md_param *needed = p->needs ? md_params_find(md_option_table, p->needs) : NULL;
        for (size_t t = 0; md_tasks[t] != NULL; t++)
            for (size_t m = 0; md_methods[m] != NULL; m++) {
                const unsigned takes = md_tasks[t]->about.takes | md_methods[m]->about->takes;
                const bool expected =
                    (p->concerns == 0 || (p->concerns & takes) != 0) &&
                    (needed == NULL || needed->concerns == 0 || (needed->concerns & takes) != 0);
                if (is_accepted(p, md_tasks[t], md_methods[m]) != expected)
                    fail_msg("`%s` in %s, %s", p->name, md_tasks[t]->about.name,
                             md_methods[m]->about->name);
            }
    }
}

static void defaults_concern_nobody(void **state)
{
    (void)state;
    medley_options *options = make_options("");
    for (size_t t = 0; md_tasks[t] != NULL; t++)
        for (size_t m = 0; md_methods[m] != NULL; m++)
            assert_int_equal(md_check_options(options, md_tasks[t], md_methods[m], NULL, NULL),
                             MEDLEY_OK);
    medley_options_free(options);
}

static void the_table_is_sound(void **state)
{
    (void)state;
    unsigned taken = 0;
    for (size_t t = 0; md_tasks[t] != NULL; t++)
        taken |= md_tasks[t]->about.takes;
    for (size_t m = 0; md_methods[m] != NULL; m++)
        taken |= md_methods[m]->about->takes;
    for (const md_param *p = md_option_table; p->name != NULL; p++) {
        if ((p->concerns & ~taken) != 0)
            fail_msg("`%s` concerns nobody", p->name);
        if (p->needs != NULL)
            assert_non_null(md_params_find(md_option_table, p->needs));
    }
}

/* What the table does not say of itself: written down a second time, for some. */
static void sentences_name_the_option_and_who_takes_it(void **state)
{
    (void)state;
    static const struct {
        const char *options;
        const md_task *task;
        const char *method, *message;
    } cases[] = {
        {"p=1.5", &md_task_binary, "spom",
         "`p` is about methods obscure, pegasos, om2 and frank-wolfe and has no place in "
         "`method=spom`; "
         "`penalty="
         "'squared-block(Q)'` is the same for `method=spom`"},
        {"epochs1=5", &md_task_chain, "spom",
         "`epochs1` is about method obscure and has no place in `method=spom`; leave out "
         "`epochs1`"},
        {"epochs=5", &md_task_chain, "obscure",
         "`epochs` is about methods spom, pegasos, om2, frank-wolfe, fista, gauss-seidel-pegasos, "
         "simplemkl-pegasos, average and best and has no place in `method=obscure`; method obscure "
         "has `epochs1` and `epochs2`, methods with a certificate stop by `gap` and `max-iter`"},
        {"tags=XPOS", &md_task_chain, "spom",
         "`tags` is about task tree and has no place in `task=chain`; give a CoNLL-U file and "
         "`task=tree`"},
        {"C=1 penalty=l2", &md_task_chain, "pegasos",
         "`penalty` has no place in `method=pegasos`; method pegasos has "
         "squared-block(q=P) with the P of `p`"},
        {"order=2", &md_task_binary, "spicy",
         "`order` is about tasks chain and tree and has no place in `task=binary`; leave out "
         "`order`"},
        {"min-count=2 template=chunk", &md_task_tree, "spom",
         "`min-count` is about tasks binary, multiclass, chain and custom and has no place in "
         "`task=tree`; "
         "leave out `min-count`"},
        {"hash-bits=9", &md_task_chain, "spom",
         "`hash-bits` needs `template=FILE|NAME`; give both, or leave out `hash-bits`"},
        {"average-from=0.5", &md_task_chain, "spom",
         "`average-from` needs `average`; give both, or leave out `average-from`"},
        {"resume=yes", &md_task_chain, "spom",
         "`resume` needs `checkpoint=FILE`; give both, or leave out `resume`"},
        {"hash-bits=9", &md_task_tree, "spom", ""}, /* which has templates of its own */
        {"bigram=none", &md_task_tree, "spom", ""}, /* as it is anyway */
        {"bigram=none", &md_task_regression, "spicy", ""},
        {"patience=3", &md_task_binary, "spicy", ""},
        {"p=1.25 epochs1=3 gap=0.01", &md_task_binary, "spom", ""}, /* the defaults */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        medley_error error = {0};
        const md_method *method = NULL;
        medley_options *options = make_options(cases[i].options);
        for (size_t m = 0; md_methods[m] != NULL; m++)
            if (strcmp(md_methods[m]->about->name, cases[i].method) == 0)
                method = md_methods[m];
        md_check_options(options, cases[i].task, method, NULL, &error);
        assert_string_equal(error.message, cases[i].message);
        medley_options_free(options);
    }
}

static void check_choice(const medley_dataset *data, const char *text, const char *expected)
{
    const md_method *method = NULL;
    medley_options *options = make_options(text);
    assert_int_equal(md_method_choose(&method, options, data, NULL, NULL), MEDLEY_OK);
    if (strcmp(method->about->name, expected) != 0)
        fail_msg("'%s' on %zu rows: method %s", text, data->rows, method->about->name);
    medley_options_free(options);
}

/* Where no method is named. */
static void an_option_that_only_one_has_a_use_for_decides(void **state)
{
    (void)state;
    static const struct {
        const char *options, *method;
    } cases[] = {{"", "spicy"},
                 {"epochs=3", "spom"},
                 {"gap=0.1", "spicy"},
                 {"penalty=l2", "spom"},
                 {"penalty=elastic(0.3)", "spicy"},
                 {"penalty=elastic-mkl", "spom"},
                 {"loss=softmax-margin", "spom"},
                 {"loss=logistic", "spicy"},
                 {"kernel=linear(explicit)", "spom"},
                 {"task=multiclass", "spicy"},
                 {"task=multiclass loss=logistic", "spom"},
                 {"task=multiclass penalty=group-lasso", "spom"},
                 {"average=yes", "spom"},
                 {"checkpoint=file", "spom"},
                 {"task=regression epochs=3", "spicy"},
                 {"task=regression p=1.5", "spicy"}, /* and then it is refused */
                 {"p=1.5", "obscure"},
                 {"epochs2=7", "obscure"},
                 {"p=1.5 epochs=7", "spom"}}; /* and then it is refused */
    medley_dataset *data = make_data("ringnorm", 30, 1);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check_choice(data, cases[i].options, cases[i].method);
    medley_dataset_free(data);
}

/* The optimum where it takes little time: rows times outputs, two labels being one. */
static void the_number_of_rows_and_labels_decides(void **state)
{
    (void)state;
    static const struct {
        const char *generator;
        size_t rows;
        const char *options, *method;
    } cases[] = {{"ringnorm", 1000, "", "spicy"},
                 {"ringnorm", 1001, "", "obscure"},
                 {"ringnorm", 1001, "C=3 kernel=rbf", "obscure"},
                 {"ringnorm", 1001, "loss=logistic", "spicy"},
                 {"ringnorm", 1001, "penalty=group-lasso", "spicy"},
                 {"ringnorm", 1001, "penalty=l2", "spom"},
                 {"ringnorm", 1001, "eta0=1", "spom"},
                 {"ringnorm", 1001, "gap=0.1", "spicy"},
                 {"ringnorm", 5001, "gap=0.1", "obscure"}, /* and then it is refused */
                 {"ringnorm", 1001, "kernel=linear(explicit)", "spom"},
                 {"waveform", 333, "", "spicy"},
                 {"waveform", 334, "", "obscure"},
                 {"waveform", 334, "batch=4", "spom"},
                 {"waveform", 334, "gap=0.1", "spicy"},
                 {"waveform", 334, "loss=logistic", "spom"},
                 {"waveform", 334, "penalty=mkl", "spom"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        medley_dataset *data = make_data(cases[i].generator, cases[i].rows, 1);
        check_choice(data, cases[i].options, cases[i].method);
        medley_dataset_free(data);
    }
}

/* Blocks come in along a path, which they do not under a squared norm. */
static void paths_are_of_penalties_that_leave_blocks_out(void **state)
{
    (void)state;
    medley_dataset *two = make_data("ringnorm", 1500, 1);
    medley_dataset *three = make_data("waveform", 60, 1);
    medley_options *options = make_options("");
    const md_method *method = NULL;
    assert_int_equal(md_method_choose_for_path(&method, options, two, NULL), MEDLEY_OK);
    assert_string_equal(method->about->name, "spicy");
    assert_int_equal(md_method_choose_for_path(&method, options, three, NULL), MEDLEY_OK);
    assert_string_equal(method->about->name, "spom");
    medley_options_free(options);
    medley_dataset_free(two);
    medley_dataset_free(three);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_option_is_taken_by_those_it_concerns_and_refused_by_others),
        cmocka_unit_test(defaults_concern_nobody),
        cmocka_unit_test(the_table_is_sound),
        cmocka_unit_test(sentences_name_the_option_and_who_takes_it),
        cmocka_unit_test(an_option_that_only_one_has_a_use_for_decides),
        cmocka_unit_test(the_number_of_rows_and_labels_decides),
        cmocka_unit_test(paths_are_of_penalties_that_leave_blocks_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
