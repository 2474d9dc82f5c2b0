/* SPDX-License-Identifier: BSD-3-Clause */
/* Laws of every method in the registry, on the data of every task that it takes: one seed gives one
 * model, byte by byte, for any number of threads; the model is finite, says which method learnt it,
 * and does better than nothing. */
#include "fit/fitting.h"

#ifdef MEDLEY_SANITIZED
enum { MOST_THREADS = 2, SENTENCES = 3 };
#else
enum { MOST_THREADS = 3, SENTENCES = 6 };
#endif

struct data_case {
    const char *generator, *options;
    size_t rows;
};

static const struct data_case cases[] = {
    {"twonorm", "task=binary", 60},
    {"waveform", "task=multiclass", 60},
    {"handwriting", "task=chain", 8},
    {"tagged", "task=chain template=chunk", 6},
    {"treebank", "task=tree hash-bits=8 template=arc-form-upos C=0.3", SENTENCES},
};

/* NULL: the method does not take such data, and says so. */
static medley_model *learn(const struct data_case *given, const medley_dataset *data,
                           const char *method, size_t threads)
{
    char text[256];
    medley_error error = {0};
    medley_model *model = NULL;
    snprintf(text, sizeof text, "%s method=%s seed=5 threads=%zu", given->options, method, threads);
    medley_options *options = make_options(text);
    const medley_status status = medley_fit(&model, data, NULL, options, NULL, &error);
    medley_options_free(options);
    if (status < 0) {
        assert_null(model);
        assert_true(error.message[0] != '\0');
        if (status != MEDLEY_NOT_SUPPORTED && status != MEDLEY_USAGE)
            fail_msg("%s: %s", text, error.message);
    }
    return model;
}

static void check_same_bytes(const medley_model *model, const medley_model *other)
{
    medley_error error = {0};
    void *bytes[2] = {NULL, NULL};
    size_t size[2];
    assert_int_equal(medley_model_write(&bytes[0], &size[0], model, &error), MEDLEY_OK);
    assert_int_equal(medley_model_write(&bytes[1], &size[1], other, &error), MEDLEY_OK);
    assert_int_equal(size[0], size[1]);
    assert_memory_equal(bytes[0], bytes[1], size[0]);
    medley_bytes_free(bytes[0]);
    medley_bytes_free(bytes[1]);
}

static bool check_method(const struct data_case *given, const char *method)
{
    medley_dataset *data = make_data(given->generator, given->rows, 2);
    medley_model *model = learn(given, data, method, 1);
    for (size_t threads = 1; model != NULL && threads <= MOST_THREADS; threads++) {
        medley_model *again = learn(given, data, method, threads);
        assert_non_null(again);
        check_same_bytes(model, again);
        medley_model_free(again);
    }
    if (model != NULL) {
        assert_string_equal(medley_model_summary(model)->method, method);
        assert_true(isfinite(medley_model_summary(model)->objective));
        assert_true(accuracy_of(model, data) > 0.5);
    }
    const bool taken = model != NULL;
    medley_model_free(model);
    medley_dataset_free(data);
    return taken;
}

static void one_seed_gives_one_model_for_any_number_of_threads(void **state)
{
    (void)state;
    medley_listing method = MEDLEY_LISTING_INIT;
    for (size_t m = 0; medley_list(&method, "methods", m); m++) {
        size_t taken = 0;
        for (size_t c = 0; c < sizeof cases / sizeof *cases; c++)
            taken += check_method(&cases[c], method.name);
        if (taken == 0)
            print_message("%s learns from no case here: a library may be missing\n", method.name);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_seed_gives_one_model_for_any_number_of_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
