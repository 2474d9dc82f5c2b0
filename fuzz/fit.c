/* SPDX-License-Identifier: BSD-3-Clause */
/* The whole way: data are read, learnt from with options that the input names, saved, loaded, used
 * and reported on. A byte for the format, lines of options, an empty one, the data. */
#include "fuzz.h"

/* Small data, or NULL. */
static medley_dataset *take_data(fuzz_input input, unsigned how)
{
    static const char *const names[] = {"d.csv",    "d.svmlight", "d.txt", "d.crfsuite",
                                        "d.conllu", "d.data",     "d.npy", "d"};
    enum { MOST_BYTES = 4096, MOST_ROWS = 48 };
    medley_dataset *data = NULL;
    medley_error error;
    if (input.size > MOST_BYTES)
        return NULL;
    if (!fuzz_worked(medley_dataset_parse(&data, (const char *)input.data, input.size,
                                          names[how % 8], NULL, &error),
                     &error))
        return NULL;
    if (medley_dataset_rows(data) <= MOST_ROWS)
        return data;
    medley_dataset_free(data);
    return NULL;
}

static void check_equal(const medley_model *one, const medley_model *other,
                        const medley_dataset *data)
{
    medley_prediction *first = NULL;
    medley_prediction *second = NULL;
    medley_error error;
    if (fuzz_worked(medley_predict(&first, one, data, 1, &error), &error) &&
        fuzz_must(medley_predict(&second, other, data, 1, &error), &error)) {
        const size_t scores = first->rows * first->labels;
        FUZZ_REQUIRE(first->rows == second->rows && first->labels == second->labels);
        FUZZ_REQUIRE(first->score == NULL ||
                     memcmp(first->score, second->score, scores * sizeof *first->score) == 0);
        FUZZ_REQUIRE(first->value == NULL ||
                     memcmp(first->value, second->value, first->rows * sizeof *first->value) == 0);
        FUZZ_REQUIRE(first->head == NULL ||
                     memcmp(first->head, second->head, first->rows * sizeof *first->head) == 0);
    }
    medley_prediction_free(first);
    medley_prediction_free(second);
}

static void report(const medley_model *model, const medley_path *path, const medley_tuning *tuning,
                   const medley_dataset *data)
{
    medley_report_options options = MEDLEY_REPORT_OPTIONS_INIT;
    medley_error error;
    options.data = data;
    options.path = path;
    options.tuning = tuning;
    options.threads = 1;
    (void)fuzz_worked(medley_report_write(model, "/dev/null", &options, &error), &error);
}

/* Saves and loads, compares what both predict, and looks at everything else. */
static void use(const medley_model *model, const medley_dataset *data)
{
    void *bytes = NULL;
    size_t size = 0;
    medley_model *loaded = NULL;
    medley_error error;
    fuzz_predict(model, data);
    if (fuzz_must(medley_model_write(&bytes, &size, model, &error), &error) &&
        fuzz_must(medley_model_read(&loaded, bytes, size, "saved", &error), &error))
        check_equal(model, loaded, data);
    medley_bytes_free(bytes);
    medley_model_free(loaded);
}

/* One seed, one model. */
static void fit_again(const medley_model *model, const medley_dataset *data,
                      const medley_dataset *dev, const medley_options *options)
{
    medley_error error;
    fuzz_watch watch;
    medley_model *again = NULL;
    void *bytes[2] = {NULL, NULL};
    size_t size[2];
    fuzz_watch_start(&watch);
    if (fuzz_must(medley_fit(&again, data, dev, options, &watch.observer, &error), &error) &&
        fuzz_must(medley_model_write(&bytes[0], &size[0], model, &error), &error) &&
        fuzz_must(medley_model_write(&bytes[1], &size[1], again, &error), &error))
        FUZZ_REQUIRE(size[0] == size[1] && memcmp(bytes[0], bytes[1], size[0]) == 0);
    medley_model_free(again);
    medley_bytes_free(bytes[0]);
    medley_bytes_free(bytes[1]);
}

void fuzz_fit(fuzz_input input)
{
    medley_error error;
    fuzz_watch watch;
    const unsigned how = fuzz_byte(&input);
    medley_options *options = fuzz_options(&input);
    medley_dataset *data = options != NULL ? take_data(input, how) : NULL;
    if (data != NULL) {
        medley_model *model = NULL;
        const medley_dataset *dev = how & 8 ? data : NULL;
        fuzz_watch_start(&watch);
        if (fuzz_worked(medley_fit(&model, data, dev, options, &watch.observer, &error), &error)) {
            use(model, data);
            if (how & 16)
                fit_again(model, data, dev, options);
            report(model, NULL, NULL, data);
        }
        medley_model_free(model);
    }
    medley_dataset_free(data);
    medley_options_free(options);
}

void fuzz_path(fuzz_input input)
{
    medley_error error;
    fuzz_watch watch;
    medley_path_options how_far = MEDLEY_PATH_OPTIONS_INIT;
    const unsigned how = fuzz_byte(&input);
    medley_options *options = fuzz_options(&input);
    medley_dataset *data = options != NULL ? take_data(input, how) : NULL;
    how_far.count = 3;
    if (data != NULL) {
        medley_path *path = NULL;
        fuzz_watch_start(&watch);
        if (fuzz_worked(medley_trace_path(&path, data, how & 8 ? data : NULL, options, &how_far,
                                          NULL, NULL, &watch.observer, &error),
                        &error))
            report(NULL, path, NULL, NULL);
        medley_path_free(path);
    }
    medley_dataset_free(data);
    medley_options_free(options);
}

/* The first line has an option and its values. */
void fuzz_tune(fuzz_input input)
{
    enum { MOST_VALUES = 3 };
    medley_error error;
    medley_choice choice = {NULL, NULL};
    size_t count = MOST_VALUES + 1;
    const unsigned how = fuzz_byte(&input);
    char *line = fuzz_line(&input);
    char *equals = line != NULL ? strchr(line, '=') : NULL;
    if (equals != NULL) {
        *equals = '\0';
        choice = (medley_choice){line, equals + 1};
        if (!fuzz_worked(medley_choice_count(&count, &choice, &error), &error))
            count = MOST_VALUES + 1;
    }
    medley_options *options = count <= MOST_VALUES ? fuzz_options(&input) : NULL;
    medley_dataset *data = options != NULL ? take_data(input, how) : NULL;
    if (data != NULL && fuzz_allows(choice.option, choice.values)) {
        medley_tuning *tuning = NULL;
        fuzz_watch watch;
        medley_tune_options folds = MEDLEY_TUNE_OPTIONS_INIT;
        folds.folds = 2;
        fuzz_watch_start(&watch);
        if (fuzz_worked(
                medley_tune(&tuning, data, options, &choice, 1, &folds, &watch.observer, &error),
                &error) &&
            tuning != NULL)
            report(NULL, NULL, tuning, NULL);
        medley_tuning_free(tuning);
    }
    free(line);
    medley_dataset_free(data);
    medley_options_free(options);
}

/* The same data come in two pieces. */
static void learn(medley_learner *learner, const medley_dataset *data)
{
    medley_error error;
    medley_model *model = NULL;
    medley_dataset *first = NULL;
    medley_dataset *second = NULL;
    if (fuzz_worked(medley_dataset_split(&first, &second, data, 0.4, 1, &error), &error) &&
        fuzz_worked(medley_learner_partial_fit(learner, first, &error), &error)) {
        (void)fuzz_worked(medley_learner_partial_fit(learner, second, &error), &error);
        if (fuzz_worked(medley_learner_model(&model, learner, &error), &error))
            use(model, data);
    }
    medley_model_free(model);
    medley_dataset_free(first);
    medley_dataset_free(second);
}

void fuzz_learner(fuzz_input input)
{
    medley_error error;
    medley_learner *learner = NULL;
    const unsigned how = fuzz_byte(&input);
    medley_options *options = fuzz_options(&input);
    medley_dataset *data = options != NULL ? take_data(input, how) : NULL;
    if (data != NULL && fuzz_worked(medley_learner_create(&learner, options, &error), &error))
        learn(learner, data);
    medley_learner_free(learner);
    medley_dataset_free(data);
    medley_options_free(options);
}
