/* SPDX-License-Identifier: BSD-3-Clause */
/* The calibration of sequences, against a log loss that lists all outputs. */
#include "model/calibration.h"
#include "structure/structure_case.h"

enum { SEQUENCES_MOST = 64 };

struct sequences {
    md_space space;
    size_t count;
    struct input input[SEQUENCES_MOST];
    int32_t label[SEQUENCES_MOST][8];
    md_held_sequences held;
};

static md_sequence look_at(void *context, size_t i, float *score)
{
    const struct sequences *s = context;
    memcpy(score, s->input[i].score, s->input[i].parts * sizeof *score);
    return (md_sequence){.length = s->input[i].length, .label = s->label[i]};
}

/* An output drawn from exp(factor f). */
static void draw_output(struct input *in, double factor, md_random *random, int32_t *label)
{
    double sum = 0;
    for (size_t o = 0; o < in->outputs; o++)
        sum += exp(factor * score_of(in, output_of(in, o)));
    double rest = md_random_uniform(random) * sum;
    size_t chosen = 0;
    for (; chosen + 1 < in->outputs; chosen++) {
        rest -= exp(factor * score_of(in, output_of(in, chosen)));
        if (rest <= 0)
            break;
    }
    memcpy(label, output_of(in, chosen), in->length * sizeof *label);
}

static struct sequences *sequences_make(const char *structure, md_shape shape, size_t count,
                                        double size, double factor, uint64_t seed)
{
    struct sequences *s = calloc(1, sizeof *s);
    md_random random;
    assert_non_null(s);
    assert_true(count <= SEQUENCES_MOST);
    md_random_seed(&random, seed);
    s->space = (md_space){.structure = md_structure_find(structure), .shape = shape};
    s->count = count;
    for (size_t i = 0; i < count; i++) {
        s->input[i] = input_make(s->space.structure, shape, 1 + md_random_below(&random, 4));
        input_list_outputs(&s->input[i]);
        input_draw(&s->input[i], &random, false, size);
        draw_output(&s->input[i], factor, &random, s->label[i]);
    }
    s->held = (md_held_sequences){.space = s->space,
                                  .count = count,
                                  .longest = 4,
                                  .scores = look_at,
                                  .context = s,
                                  .threads = 1};
    return s;
}

static void sequences_free(struct sequences *s)
{
    for (size_t i = 0; i < s->count; i++)
        input_clear(&s->input[i]);
    free(s);
}

static double fit_of(const struct sequences *s, size_t threads)
{
    md_calibration calibration = {0};
    medley_error error = {0};
    md_held_sequences held = s->held;
    held.threads = threads;
    assert_int_equal(md_temperature_fit(&calibration, &held, &error), MEDLEY_OK);
    assert_null(calibration.offset);
    assert_true(calibration.factor > 0 && isfinite(calibration.factor));
    return calibration.factor;
}

/* The smoothed log loss. */
static double value_of(struct sequences *s, double factor)
{
    const double smoothing = 1 / (1 + (double)s->count);
    double value = 0;
    for (size_t i = 0; i < s->count; i++) {
        struct input *in = &s->input[i];
        double sum = 0;
        double mean = 0;
        double most = -INFINITY;
        for (size_t o = 0; o < in->outputs; o++)
            most = fmax(most, factor * score_of(in, output_of(in, o)));
        for (size_t o = 0; o < in->outputs; o++) {
            const double score = factor * score_of(in, output_of(in, o));
            sum += exp(score - most);
            mean += score / (double)in->outputs;
        }
        value += most + log(sum) - (1 - smoothing) * factor * score_of(in, s->label[i]) -
                 smoothing * mean;
    }
    return value;
}

/* A golden section in the logarithm. */
static double search(struct sequences *s, double low, double high)
{
    static const double GOLDEN = 0.6180339887498949;
    low = log(low);
    high = log(high);
    for (int i = 0; i < 60; i++) {
        const double a = high - GOLDEN * (high - low);
        const double b = low + GOLDEN * (high - low);
        if (value_of(s, exp(a)) < value_of(s, exp(b)))
            high = b;
        else
            low = a;
    }
    return exp((low + high) / 2);
}

static const md_shape shapes[] = {
    {.labels = 3, .order = 1},
    {.labels = 2, .order = 2, .ends = true},
    {.labels = 3, .order = 1, .local_pairs = true, .ends = true},
};

static void the_factor_is_that_of_a_search(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 9; seed++) {
        const double factor = seed % 2 ? 0.3 : 2;
        struct sequences *s = sequences_make("chain", shapes[seed % 3], 12, 1, factor, seed);
        const double found = fit_of(s, 1);
        const double best = search(s, 1e-3, 1e3);
        if (fabs(found / best - 1) > 1e-3)
            fail_msg("seed %d: %g, not %g", (int)seed, found, best);
        assert_true(value_of(s, found) <= value_of(s, best) * (1 + 1e-7));
        sequences_free(s);
    }
}

/* Rows that stand alone are chains of one row. */
static void single_rows_are_sequences_too(void **state)
{
    (void)state;
    const md_shape shape = {.labels = 4};
    struct sequences *s = sequences_make("multiclass", shape, SEQUENCES_MOST, 1, 1.5, 3);
    assert_true(fabs(fit_of(s, 1) / search(s, 1e-3, 1e3) - 1) < 1e-3);
    sequences_free(s);
}

static void threads_do_not_change_the_factor(void **state)
{
    (void)state;
    struct sequences *s = sequences_make("chain", shapes[0], SEQUENCES_MOST, 1, 1, 4);
    const double one = fit_of(s, 1);
    for (size_t threads = 2; threads < 6; threads++)
        assert_true(fit_of(s, threads) == one);
    sequences_free(s);
}

static void units_of_scores_do_not_matter(void **state)
{
    (void)state;
    static const double units[] = {1e-9, 1e-3, 1e3, 1e9};
    for (size_t u = 0; u < 4; u++) {
        struct sequences *s = sequences_make("chain", shapes[0], 30, 1, 1, 5);
        const double plain = fit_of(s, 1);
        for (size_t i = 0; i < s->count; i++)
            for (size_t p = 0; p < s->input[i].parts; p++)
                s->input[i].score[p] = (float)(units[u] * (double)s->input[i].score[p]);
        assert_true(fabs(fit_of(s, 1) * units[u] / plain - 1) < 1e-3);
        sequences_free(s);
    }
}

/* Every sequence is decoded right, or wrong, or all scores are 0. */
static void extremes_have_a_finite_factor(void **state)
{
    (void)state;
    struct sequences *s = sequences_make("chain", shapes[0], 20, 1, 1, 6);
    for (size_t i = 0; i < s->count; i++)
        s->space.structure->decode(s->space.shape, s->input[i].length, s->input[i].score, NULL,
                                   s->label[i], &s->input[i].workspace);
    const double right = fit_of(s, 1);
    assert_true(fabs(right / search(s, 1e-3, 1e4) - 1) < 1e-3);
    for (size_t i = 0; i < s->count; i++)
        for (size_t p = 0; p < s->input[i].parts; p++)
            s->input[i].score[p] = -s->input[i].score[p];
    assert_true(fit_of(s, 1) < 0.01 * right);
    for (size_t i = 0; i < s->count; i++)
        memset(s->input[i].score, 0, s->input[i].parts * sizeof(float));
    assert_true(fit_of(s, 1) == 1);
    s->input[3].score[0] = NAN;
    md_calibration calibration = {0};
    medley_error error = {0};
    assert_int_equal(md_temperature_fit(&calibration, &s->held, &error), MEDLEY_FAILED);
    assert_non_null(strstr(error.message, "not finite"));
    sequences_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_factor_is_that_of_a_search),
        cmocka_unit_test(single_rows_are_sequences_too),
        cmocka_unit_test(threads_do_not_change_the_factor),
        cmocka_unit_test(units_of_scores_do_not_matter),
        cmocka_unit_test(extremes_have_a_finite_factor),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
