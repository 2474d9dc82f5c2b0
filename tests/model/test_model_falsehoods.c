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
        char *task = sample.bytes + get(sample.bytes, 32 + 8) + (i == 0 ? 48 : 64);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(false_outputs_and_biases_are_refused),
        cmocka_unit_test(regressions_and_labels_exclude_each_other),
        cmocka_unit_test(parts_that_do_not_belong_together_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
