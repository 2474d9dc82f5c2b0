/* SPDX-License-Identifier: BSD-3-Clause */
/* Several fits on the same rows with the same kernels: each gives the same bytes as by itself, and
 * kernel values are computed once where they may be. */
#include "fit/fitting.h"

#include "fit/fit.h"

static char *bytes_again(md_problem *problem, const medley_dataset *train, const char *text,
                         size_t *size)
{
    medley_model *model = NULL;
    medley_error error = {0};
    medley_options *options = make_options(text);
    if (md_fit_again(&model, problem, train, options, NULL, &error) != MEDLEY_OK)
        fail_msg("%s: %s", text, error.message);
    char *bytes = model_bytes(model, size);
    medley_options_free(options);
    medley_model_free(model);
    return bytes;
}

static void check_runs(const medley_dataset *train, const char *kernels, const char *const *runs)
{
    md_problem problem = {0};
    for (size_t r = 0; runs[r] != NULL; r++) {
        char text[300];
        size_t size[2];
        snprintf(text, sizeof text, "%s %s threads=1", kernels, runs[r]);
        medley_model *alone = fit(train, NULL, text);
        char *expected = model_bytes(alone, &size[0]);
        char *found = bytes_again(&problem, train, text, &size[1]);
        assert_int_equal(size[0], size[1]);
        if (memcmp(expected, found, size[0]) != 0)
            fail_msg("another model after other fits: %s", text);
        free(expected);
        free(found);
        medley_model_free(alone);
    }
    md_problem_clear(&problem);
}

static const char *const banks[] = {
    "kernel=rbf(auto) kernel=linear", "kernel=laplace kernel=poly(degree=2,norm=center)",
    "kernel=rbf(auto) kernel=linear(explicit) scale=standard normalize=trace", "kernel=linear"};
enum { BANKS = sizeof banks / sizeof *banks };

static void fits_do_not_depend_on_those_before(void **state)
{
    (void)state;
    static const char *const online[] = {"method=spom epochs=3 eta0=1 penalty=l2",
                                         "method=spom epochs=3 eta0=1 penalty=mkl C=0.1",
                                         "method=obscure epochs1=2 epochs2=2 p=1.5",
                                         "method=spom epochs=3 loss=logistic",
                                         "method=pegasos epochs=3",
                                         "method=spom epochs=2 eta0=1 calibrate=yes",
                                         "method=spom epochs=3 eta0=1 memory=10K",
                                         "method=pegasos epochs=3 memory=10K",
                                         "method=spom epochs=3 eta0=1 penalty=l2",
                                         NULL};
    medley_dataset *train = make_data("waveform", 60, 1);
    for (size_t b = 0; b < BANKS; b++)
        check_runs(train, banks[b], online);
    medley_dataset_free(train);
}

static void nor_do_those_of_mixtures_and_whole_matrices(void **state)
{
    (void)state;
    static const char *const mixed[] = {"method=average epochs=3 eta0=1",
                                        "method=average epochs=2 eta0=1",
                                        "method=average epochs=3 eta0=1 C=0.1", NULL};
    static const char *const batch[] = {"method=spicy penalty=group-lasso",
                                        "method=spicy penalty=elastic gap=1e-8 C=100",
                                        "method=spicy loss=logistic calibrate=yes",
                                        "method=svm C=2",
                                        "method=simplemkl",
                                        "method=hessianmkl",
                                        "method=spicy penalty=group-lasso ridge=0.1",
                                        "method=average",
                                        "method=spicy penalty=group-lasso",
                                        NULL};
    medley_dataset *train = make_data("ringnorm", 60, 1);
    for (size_t b = 0; b < BANKS; b++) {
        if (strstr(banks[b], "explicit") != NULL)
            continue;
        check_runs(train, banks[b], mixed);
        check_runs(train, banks[b], batch);
    }
    medley_dataset_free(train);
}

static void kernel_values_are_computed_once(void **state)
{
    (void)state;
    md_problem problem = {0};
    size_t size;
    medley_dataset *train = make_data("waveform", 60, 1);
    free(bytes_again(&problem, train, "method=spom epochs=2 kernel=laplace penalty=l2", &size));
    const md_gram *gram = problem.online->gram;
    const md_kernel *kernels = problem.bank.kernels;
    assert_non_null(gram);
    free(bytes_again(&problem, train, "method=spom epochs=2 kernel=laplace penalty=mkl", &size));
    assert_ptr_equal(problem.online->gram, gram);
    assert_ptr_equal(problem.bank.kernels, kernels);
    assert_true(problem.progress.seconds_kernels == 0);
    md_problem_clear(&problem);
    medley_dataset_free(train);
}

static void after_a_failure_all_begins_anew(void **state)
{
    (void)state;
    md_problem problem = {0};
    size_t size;
    medley_error error = {0};
    medley_model *model = NULL;
    medley_dataset *train = make_data("waveform", 60, 1);
    free(bytes_again(&problem, train, "method=spom epochs=2 kernel=laplace", &size));
    medley_options *options = make_options("method=spom kernel=laplace penalty=l1");
    assert_true(md_fit_again(&model, &problem, train, options, NULL, &error) < 0);
    assert_null(problem.online);
    assert_int_equal(problem.bank.count, 0);
    medley_options_free(options);
    free(bytes_again(&problem, train, "method=spom epochs=2 kernel=laplace", &size));
    md_problem_clear(&problem);
    medley_dataset_free(train);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fits_do_not_depend_on_those_before),
        cmocka_unit_test(nor_do_those_of_mixtures_and_whole_matrices),
        cmocka_unit_test(kernel_values_are_computed_once),
        cmocka_unit_test(after_a_failure_all_begins_anew),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
