/* SPDX-License-Identifier: BSD-3-Clause */
/* Model files with correct checksums whose outputs, biases, coefficients and labels do not fit
 * together: each is refused. */
#include "model/damage.h"

/* One field of the section of coefficients is another. */
struct falsehood {
    case_origin origin;
    size_t field; /* of 8 bytes from the section's start */
    uint64_t value;
};

static const uint64_t NOT_A_NUMBER = 0x7ff8000000000000;
static const uint64_t INFINITE = 0x7ff0000000000000;

/* The section begins with outputs, link, number of biases, biases, number of bodies, rows of the
 * first, wide, its coefficients. */
static const struct falsehood falsehoods[] = {
    {NUMBERS, 0, 0},
    {NUMBERS, 0, 2},
    {NUMBERS, 0, UINT64_MAX},
    {NUMBERS, 1, 1},
    {NUMBERS, 1, MD_LINKS},
    {NUMBERS, 2, 0},
    {NUMBERS, 2, 2},
    {NUMBERS, 2, UINT64_MAX},
    {NUMBERS, 3, NOT_A_NUMBER},
    {NUMBERS, 3, INFINITE},
    {NUMBERS, 4, UINT64_MAX / 8},
    {NUMBERS, 5, 0},
    {NUMBERS, 5, UINT64_MAX / 8 + 2},
    {NUMBERS, 6, 0},
    {NUMBERS, 7, NOT_A_NUMBER},
    {NUMBERS, 8, INFINITE},
    {TWO_LABELS, 0, 2},
    {TWO_LABELS, 1, 1},
    {TWO_LABELS, 2, 2},
    {TWO_LABELS, 3, NOT_A_NUMBER},
    {EACH_LABEL, 0, 1},
    {EACH_LABEL, 0, 2},
    {EACH_LABEL, 0, 4},
    {EACH_LABEL, 1, 2},
    {EACH_LABEL, 2, 1},
    {EACH_LABEL, 5, INFINITE},
    {EACH_LABEL, 9, NOT_A_NUMBER},
};

static void false_outputs_and_biases_are_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof falsehoods / sizeof *falsehoods; i++) {
        const struct falsehood *told = &falsehoods[i];
        const struct model_case given = {DENSE, "kernel=linear kernel=rbf(auto)", told->origin};
        struct sample sample;
        sample_make(&sample, &given);
        const size_t section = get(sample.bytes, 32 + 32 * 3 + 8);
        put(sample.bytes, section + 8 * told->field, told->value);
        renew_checksums(sample.bytes);
        if (try_bytes(&sample, sample.bytes, sample.length) != REFUSED)
            fail_msg("falsehood %zu is believed", i);
        sample_clear(&sample);
    }
}

/* A regression has neither labels nor a structure, and only a regression has none. */
static void regressions_and_labels_exclude_each_other(void **state)
{
    (void)state;
    static const case_origin origins[] = {NUMBERS, TWO_LABELS};
    for (size_t i = 0; i < 2; i++) {
        const struct model_case given = {DENSE, "kernel=linear", origins[i]};
        struct sample sample;
        sample_make(&sample, &given);
        char *task = sample.bytes + get(sample.bytes, 32 + 8) + (i == 0 ? 56 : 72);
        assert_memory_equal(task + 8, i == 0 ? "regression" : "multiclass", 10);
        memcpy(task + 8, i == 0 ? "multiclass" : "regression", 10);
        renew_checksums(sample.bytes);
        refuse(&sample, sample.bytes, "damaged (labels)");
        sample_clear(&sample);
    }
}

/* Models that no method makes, written as they are. */
static void give_labels(medley_model *model)
{
    assert_int_equal(md_strings_add(&model->labels, "a", 1), 0);
    assert_int_equal(md_strings_add(&model->labels, "b", 1), 1);
}

static void take_labels(medley_model *model)
{
    md_strings_clear(&model->labels);
}

static void give_weights(medley_model *model)
{
    free(model->weights);
    model->weights = calloc(1, sizeof *model->weights);
    assert_non_null(model->weights);
    model->weights_count = 1;
    *model->weights =
        (md_weights){.kind = MD_ROW_PARTS, .block = MD_CONSTANT, .rows = 1, .width = 2};
    model->weights->values = calloc(2, sizeof(float));
    assert_non_null(model->weights->values);
}

static void parts_that_do_not_belong_together_are_refused(void **state)
{
    (void)state;
    static const struct {
        case_origin origin;
        void (*change)(medley_model *model);
        const char *phrase;
    } cases[] = {{NUMBERS, give_labels, "damaged (labels)"},
                 {TWO_LABELS, take_labels, "damaged (labels)"},
                 {NUMBERS, give_weights, "damaged (weights)"},
                 {TWO_LABELS, give_weights, "damaged (weights)"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct model_case given = {DENSE, "kernel=linear", cases[i].origin};
        struct sample sample = {0};
        medley_model *model = case_model(&given, TRAINING);
        cases[i].change(model);
        sample.bytes = model_bytes(model, &sample.length);
        sample_open(&sample);
        refuse(&sample, sample.bytes, cases[i].phrase);
        sample_clear(&sample);
        medley_model_free(model);
    }
}

/* What predictions are computed from. */
static float *coefficient(medley_model *model)
{
    return &model->bodies[0].values[0];
}

static float *weight(medley_model *model)
{
    for (size_t w = 0; w < model->weights_count; w++)
        if (model->weights[w].rows > 0)
            return &model->weights[w].values[0];
    return NULL;
}

static float *shift(medley_model *model)
{
    return &model->bank.views[0].shift[0];
}

static float *scale(medley_model *model)
{
    return &model->bank.views[0].factor[0];
}

static float *point(medley_model *model)
{
    return &model->prepared.views[0].dense[0];
}

static float *squared_norm(medley_model *model)
{
    return &model->prepared.norm2[0][0];
}

static float *entry(medley_model *model)
{
    return &model->prepared.views[0].value[0];
}

static void refuse_changed(const medley_model *model, const char *what)
{
    struct sample sample = {0};
    sample.bytes = model_bytes(model, &sample.length);
    sample_open(&sample);
    print_message("%s\n", what);
    refuse(&sample, sample.bytes, "damaged");
    sample_clear(&sample);
}

static void values_that_are_no_numbers_are_refused(void **state)
{
    (void)state;
    static const float bad[] = {NAN, INFINITY, -INFINITY};
    static const struct {
        const char *what, *options;
        case_data kind;
        case_origin origin;
        float *(*place)(medley_model *model);
    } cases[] = {
        {"coefficient", "kernel=rbf(auto) method=spom", DENSE, FITTED, coefficient},
        {"weight", "template=chunk penalty=group-lasso lambda=0.001", TAGGED, FITTED, weight},
        {"shift", "kernel=rbf(auto) scale=standard method=spom", DENSE, FITTED, shift},
        {"scale", "kernel=rbf(auto) scale=standard method=spom", DENSE, FITTED, scale},
        {"point", "kernel=rbf(auto) method=spom", DENSE, FITTED, point},
        {"squared norm", "kernel=rbf(auto) method=spom", DENSE, FITTED, squared_norm},
        {"entry", "kernel=rbf(auto) method=spom", SPARSE, FITTED, entry},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct model_case given = {cases[i].kind, cases[i].options, cases[i].origin};
        medley_model *model = case_model(&given, TRAINING);
        float *place = cases[i].place(model);
        assert_non_null(place);
        for (size_t b = 0; b < sizeof bad / sizeof *bad; b++) {
            *place = bad[b];
            refuse_changed(model, cases[i].what);
        }
        medley_model_free(model);
    }
}

static void factors_that_are_no_numbers_are_refused(void **state)
{
    (void)state;
    const struct model_case given = {DENSE, "kernel=rbf(auto) method=spom", FITTED};
    medley_model *model = case_model(&given, TRAINING);
    double *places[] = {&model->terms[0].factor, &model->bank.kernels[0].factor,
                        &model->bank.kernels[0].grand_mean};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        const double kept = *places[i];
        *places[i] = NAN;
        refuse_changed(model, "factor");
        *places[i] = INFINITY;
        refuse_changed(model, "factor");
        *places[i] = kept;
    }
    medley_model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(false_outputs_and_biases_are_refused),
        cmocka_unit_test(regressions_and_labels_exclude_each_other),
        cmocka_unit_test(values_that_are_no_numbers_are_refused),
        cmocka_unit_test(factors_that_are_no_numbers_are_refused),
        cmocka_unit_test(parts_that_do_not_belong_together_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
