/* SPDX-License-Identifier: BSD-3-Clause */
/* Structures that a program brings: sequence labelling brought from outside equals that of the
 * library; models know the structure they need; what functions get wrong is told and never relied
 * on. */
#include "fit/fitting.h"
#include "structure/custom_chain.h"

static medley_model *fit_own(const medley_dataset *train, const medley_structure *structure,
                             const char *text, medley_status expected, medley_error *error)
{
    medley_model *model = NULL;
    medley_options *options = make_options(text);
    *error = (medley_error){0};
    assert_int_equal(medley_options_set_structure(options, structure, error), MEDLEY_OK);
    const medley_status status = medley_fit(&model, train, NULL, options, NULL, error);
    if (status != expected)
        fail_msg("%s: %d %s", text, status, error->message);
    medley_options_free(options);
    return model;
}

static void assert_same_labels(const medley_model *a, const medley_model *b,
                               const medley_dataset *data)
{
    medley_prediction *first = predict(a, data);
    medley_prediction *second = predict(b, data);
    assert_memory_equal(first->label, second->label, first->rows * sizeof *first->label);
    medley_prediction_free(first);
    medley_prediction_free(second);
}

static void check_against_library(const medley_structure *structure, const char *common)
{
    char text[512];
    medley_error error;
    medley_dataset *train = make_data("handwriting", 40, 1);
    medley_dataset *fresh = make_data("handwriting", 20, 2);
    snprintf(text, sizeof text, "task=chain bigram=learned %s", common);
    medley_model *library = fit(train, NULL, text);
    snprintf(text, sizeof text, "bigram=learned %s", common);
    medley_model *own = fit_own(train, structure, text, MEDLEY_OK, &error);
    const double right = medley_model_summary(library)->objective;
    const double found = medley_model_summary(own)->objective;
    if (!(fabs(found - right) <= 1e-9 * fabs(right)))
        fail_msg("%s: objective %.15g, and that of the library is %.15g", common, found, right);
    assert_same_labels(library, own, fresh);
    assert_string_equal(medley_model_summary(own)->task, "custom");
    medley_model_free(library);
    medley_model_free(own);
    medley_dataset_free(train);
    medley_dataset_free(fresh);
}

static void chains_from_outside_equal_those_of_the_library(void **state)
{
    (void)state;
    static const char *const runs[] = {
        "eta0=1 epochs=4 kernel=linear(norm=diag) kernel=rbf(sigma2=5)",
        "eta0=1 epochs=4 kernel=linear(norm=diag) penalty=group-lasso batch=8",
        "method=obscure kernel=linear(norm=diag) kernel=rbf(sigma2=5)",
        "method=pegasos epochs=3 kernel=rbf(sigma2=5)",
        "eta0=1 epochs=3 kernel=linear(explicit=yes) penalty=l2 threads=2 batch=16",
    };
    const medley_structure one = chain_structure();
    const medley_structure many = chain_structure_of_many();
    for (size_t r = 0; r < sizeof runs / sizeof *runs; r++) {
        check_against_library(&one, runs[r]);
        check_against_library(&many, runs[r]);
    }
}

/* Marginals are computed in another way, so that rounding differs in every step. */
static void log_losses_come_near_those_of_the_library(void **state)
{
    (void)state;
    medley_error error;
    const medley_structure structures[] = {chain_structure(), chain_structure_of_many()};
    medley_dataset *train = make_data("handwriting", 30, 1);
    for (size_t s = 0; s < 2; s++)
        for (size_t softmax = 0; softmax < 2; softmax++) {
            const char *rest = softmax ? "bigram=learned loss=softmax-margin penalty=l2 eta0=0.3 "
                                         "epochs=3 kernel=linear(norm=diag) average=true"
                                       : "bigram=learned loss=logistic penalty=mkl eta0=0.3 "
                                         "epochs=3 kernel=linear(norm=diag) kernel=rbf(sigma2=5)";
            char text[512];
            snprintf(text, sizeof text, "task=chain %s", rest);
            medley_model *library = fit(train, NULL, text);
            medley_model *own = fit_own(train, &structures[s], rest, MEDLEY_OK, &error);
            const double right = medley_model_summary(library)->objective;
            assert_true(fabs(medley_model_summary(own)->objective - right) < 1e-5 * right);
            medley_predict_options options = MEDLEY_PREDICT_OPTIONS_INIT;
            medley_prediction *a = NULL;
            medley_prediction *b = NULL;
            options.probabilities = true;
            assert_int_equal(medley_predict_with(&a, library, train, &options, &error), MEDLEY_OK);
            assert_int_equal(medley_predict_with(&b, own, train, &options, &error), MEDLEY_OK);
            for (size_t i = 0; i < a->rows * a->labels; i++)
                assert_true(fabsf(a->score[i] - b->score[i]) < 1e-3f);
            medley_prediction_free(a);
            medley_prediction_free(b);
            medley_model_free(library);
            medley_model_free(own);
        }
    medley_dataset_free(train);
}

/* ---- files ---- */

static void models_name_the_structure_they_need(void **state)
{
    (void)state;
    medley_error error = {0};
    medley_structure structure = chain_structure();
    medley_dataset *train = make_data("handwriting", 30, 1);
    medley_model *model = fit_own(train, &structure, "epochs=2 eta0=1", MEDLEY_OK, &error);
    medley_model *again = NULL;
    void *bytes = NULL;
    size_t size = 0;
    assert_string_equal(medley_model_structure(model), "own-chain");
    assert_int_equal(medley_model_write(&bytes, &size, model, &error), MEDLEY_OK);
    assert_int_equal(medley_model_read(&again, bytes, size, "m", &error), MEDLEY_NOT_SUPPORTED);
    assert_non_null(strstr(error.message, "needs the structure 'own-chain'"));
    medley_structure other = structure;
    other.name = "another";
    error = (medley_error){0};
    assert_int_equal(medley_model_read_with(&again, bytes, size, "m", &other, &error),
                     MEDLEY_NOT_SUPPORTED);
    assert_non_null(strstr(error.message, "'another' was given"));
    assert_null(again);
    assert_int_equal(medley_model_read_with(&again, bytes, size, "m", &structure, &error),
                     MEDLEY_OK);
    assert_same_labels(model, again, train);
    medley_feature *features = NULL;
    size_t count = 0;
    const medley_summary *summary = medley_model_summary(again);
    for (size_t b = 0; b < summary->block_count; b++)
        if (strcmp(summary->blocks[b].name, "shared") == 0)
            assert_int_equal(medley_model_features(&features, &count, again, b, 3, &error),
                             MEDLEY_OK);
    assert_int_equal(count, 3);
    assert_memory_equal(features[0].text, "part ", 5);
    medley_features_free(features, count);
    medley_bytes_free(bytes);
    medley_model_free(model);
    medley_model_free(again);
    medley_dataset_free(train);
}

/* ---- numbers beside the rows ---- */

/* Every label that the information beside a row allows: an output is right where it says so. */
static int decode_by_info(void *context, const medley_example *x, const float *score, int32_t *y,
                          void *workspace)
{
    (void)context;
    (void)score;
    (void)workspace;
    if (x->info == NULL || x->info_width != 2)
        return 1;
    for (size_t i = 0; i < x->length; i++) {
        if (x->info[2 * i + 1] != (int32_t)(x->row + i) % 7)
            return 1;
        y[i] = x->info[2 * i];
    }
    return 0;
}

static void information_stays_with_its_rows(void **state)
{
    (void)state;
    medley_error error = {0};
    medley_structure structure = MEDLEY_STRUCTURE_INIT;
    structure.name = "told";
    structure.decode = decode_by_info;
    medley_dataset *train = make_data("handwriting", 20, 1);
    const size_t rows = medley_dataset_rows(train);
    int32_t *info = calloc(2 * rows, sizeof *info);
    assert_non_null(info);
    medley_error none;
    fit_own(train, &structure, "epochs=2 eta0=1", MEDLEY_FAILED, &none);
    assert_non_null(strstr(none.message, "the structure 'told' cannot be used"));
    for (size_t r = 0; r < rows; r++) {
        info[2 * r] = medley_dataset_label(train, r);
        info[2 * r + 1] = (int32_t)r % 7;
    }
    assert_int_equal(medley_dataset_put_info(train, info, rows, 2, &error), MEDLEY_OK);
    medley_model *model = fit_own(train, &structure, "epochs=2 eta0=1", MEDLEY_OK, &error);
    assert_true(accuracy_of(model, train) == 1);
    medley_dataset *untold = make_data("handwriting", 5, 2);
    medley_dataset *alone = make_data("waveform", 5, 2);
    medley_prediction *nothing = NULL;
    void *bytes = NULL;
    size_t size = 0;
    medley_model *again = NULL;
    assert_int_equal(medley_model_write(&bytes, &size, model, &error), MEDLEY_OK);
    assert_int_equal(medley_model_read_with(&again, bytes, size, "m", &structure, &error),
                     MEDLEY_OK);
    assert_int_equal(medley_predict(&nothing, again, untold, 1, &error), MEDLEY_BAD_INPUT);
    assert_non_null(strstr(error.message, "trained with 2 whole numbers beside each row"));
    assert_int_equal(medley_predict(&nothing, again, alone, 1, &error), MEDLEY_BAD_INPUT);
    assert_non_null(strstr(error.message, "stand alone"));
    assert_true(accuracy_of(again, train) == 1);
    medley_bytes_free(bytes);
    medley_model_free(again);
    medley_dataset_free(untold);
    medley_dataset_free(alone);
    assert_int_equal(medley_dataset_put_info(train, info, rows - 1, 2, &error), MEDLEY_BAD_INPUT);
    medley_model_free(model);
    medley_dataset_free(train);
    free(info);
}

/* ---- misuse ---- */

static int decode_nonsense(void *context, const medley_example *x, const float *score, int32_t *y,
                           void *workspace)
{
    (void)score;
    (void)workspace;
    for (size_t i = 0; i < x->length; i++)
        y[i] = *(const int32_t *)context;
    return 0;
}

static size_t shared_nonsense(void *context, const medley_example *x, const int32_t *y,
                              uint32_t *parts)
{
    (void)y;
    (void)context;
    parts[0] = (uint32_t)(x->labels * x->labels);
    return 1;
}

static void expect(const medley_structure *structure, const char *options, medley_status code,
                   const char *sentence)
{
    medley_error error;
    medley_dataset *train = make_data("handwriting", 12, 1);
    assert_null(fit_own(train, structure, options, code, &error));
    if (strstr(error.message, sentence) == NULL)
        fail_msg("expected '%s', got '%s'", sentence, error.message);
    medley_dataset_free(train);
}

static void what_functions_get_wrong_is_told(void **state)
{
    (void)state;
    static int32_t wrong[] = {-1, 1000};
    for (size_t i = 0; i < 2; i++) {
        medley_structure structure = MEDLEY_STRUCTURE_INIT;
        structure.name = "wrong";
        structure.context = &wrong[i];
        structure.decode = decode_nonsense;
        expect(&structure, "epochs=2 eta0=1", MEDLEY_FAILED, "a label that does not exist");
        expect(&structure, "epochs=2", MEDLEY_FAILED, "a label that does not exist");
        expect(&structure, "method=obscure", MEDLEY_FAILED, "a label that does not exist");
    }
    medley_structure structure = chain_structure();
    structure.shared_of = shared_nonsense;
    expect(&structure, "epochs=2 eta0=1", MEDLEY_BAD_INPUT, "a shared part that does not exist");
    structure = chain_structure();
    structure.marginals = NULL;
    expect(&structure, "loss=logistic", MEDLEY_NOT_SUPPORTED, "needs marginals");
    expect(&structure, "task=chain", MEDLEY_USAGE, "leave out `task`");
    expect(&structure, "task=multiclass", MEDLEY_USAGE, "leave out `task`");
    expect(&structure, "order=2", MEDLEY_USAGE, "`order` is about tasks chain and tree");
}

static void pieces_and_other_structures_checkpoints_are_refused(void **state)
{
    (void)state;
    medley_error error = {0};
    char path[PATH_SIZE];
    char text[PATH_SIZE + 64];
    medley_structure structure = chain_structure();
    medley_options *options = make_options("");
    medley_learner *learner = NULL;
    assert_int_equal(medley_options_set_structure(options, &structure, &error), MEDLEY_OK);
    assert_int_equal(medley_learner_create(&learner, options, &error), MEDLEY_NOT_SUPPORTED);
    medley_options_free(options);
    temporary_path(path);
    medley_dataset *train = make_data("handwriting", 12, 1);
    snprintf(text, sizeof text, "epochs=2 eta0=1 checkpoint=%s", path);
    medley_model_free(fit_own(train, &structure, text, MEDLEY_OK, &error));
    structure.name = "another";
    snprintf(text, sizeof text, "epochs=3 eta0=1 resume=yes checkpoint=%s", path);
    assert_null(fit_own(train, &structure, text, MEDLEY_USAGE, &error));
    medley_dataset_free(train);
    unlink(path);
}

static void incomplete_structures_are_refused(void **state)
{
    (void)state;
    medley_error error = {0};
    medley_model *model = NULL;
    medley_options *options = make_options("");
    medley_dataset *rows = make_data("waveform", 30, 1);
    medley_structure structure = MEDLEY_STRUCTURE_INIT;
    assert_int_equal(medley_options_set_structure(options, &structure, &error), MEDLEY_USAGE);
    structure.name = "empty";
    error = (medley_error){0};
    assert_int_equal(medley_options_set_structure(options, &structure, &error), MEDLEY_USAGE);
    assert_non_null(strstr(error.message, "decode or infer"));
    structure = chain_structure();
    structure.shared_of = NULL;
    assert_int_equal(medley_options_set_structure(options, &structure, NULL), MEDLEY_USAGE);
    structure = chain_structure();
    assert_int_equal(medley_options_set_structure(options, &structure, NULL), MEDLEY_OK);
    error = (medley_error){0};
    assert_int_equal(medley_fit(&model, rows, NULL, options, NULL, &error), MEDLEY_BAD_INPUT);
    assert_non_null(strstr(error.message, "stand alone"));
    medley_options_free(options);
    options = make_options("task=custom");
    error = (medley_error){0};
    assert_int_equal(medley_fit(&model, rows, NULL, options, NULL, &error), MEDLEY_USAGE);
    assert_non_null(strstr(error.message, "programs that bring a structure"));
    medley_options_free(options);
    medley_dataset_free(rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chains_from_outside_equal_those_of_the_library),
        cmocka_unit_test(log_losses_come_near_those_of_the_library),
        cmocka_unit_test(models_name_the_structure_they_need),
        cmocka_unit_test(information_stays_with_its_rows),
        cmocka_unit_test(what_functions_get_wrong_is_told),
        cmocka_unit_test(pieces_and_other_structures_checkpoints_are_refused),
        cmocka_unit_test(incomplete_structures_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
