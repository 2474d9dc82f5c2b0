/* SPDX-License-Identifier: BSD-3-Clause */
/* What the laws of structures are too small for: many labels, long sequences, huge scores, and the
 * two ways to sum over all outputs of a chain, which must agree wherever both claim to be right. */
#include "base/exp.h"
#include "structure/chain.h"
#include "structure/structure_case.h"

#ifdef MEDLEY_SANITIZED
enum { LONG = 10000 }; /* sanitizers are slow */
#else
enum { LONG = 100000 };
#endif

static struct input chain(md_shape shape, size_t length, uint64_t seed, double scale)
{
    md_random random;
    md_random_seed(&random, seed);
    struct input in = input_make(md_structure_find("chain"), shape, length);
    input_draw(&in, &random, false, scale);
    return in;
}

static float *floats(size_t count)
{
    float *memory = md_calloc(count, sizeof *memory);
    assert_non_null(memory);
    return memory;
}

/* ---- the exponential ---- */

static void exponentials_are_right_to_two_units_in_the_last_place(void **state)
{
    (void)state;
    for (float x = -87; x <= 88; x += 0.00173f) {
        const double right = exp((double)x);
        assert_true(fabs((double)md_exp_float(x) - right) <= 2.5e-7 * right);
    }
    assert_true(md_exp_float(0) == 1);
    assert_true(md_exp_float(-88) == 0);
    assert_true(md_exp_float(-INFINITY) == 0);
    assert_true(isnan(md_exp_float(NAN)));
    for (double x = -707; x <= 709; x += 0.00731)
        assert_true(fabs(md_exp_double(x) - exp(x)) <= 4e-16 * exp(x));
    assert_true(md_exp_double(0) == 1 && md_exp_double(-709) == 0);
    assert_true(md_exp_double(-INFINITY) == 0 && isnan(md_exp_double(NAN)));
}

/* ---- both ways to sum ---- */

struct sums {
    bool trusted;
    double scaled, logarithms;
    float *fast, *slow; /* marginals */
};

/* Runs both ways on memory full of what is not a number. */
static struct sums sum_both_ways(const struct input *in)
{
    const md_chain problem = md_chain_of(in->shape, in->length, in->score);
    const md_chain_layout layout = md_chain_layout_of(in->shape, in->length);
    struct sums sums = {.fast = floats(in->parts), .slow = floats(in->parts)};
    const md_chain_counts fast = {sums.fast, sums.fast + layout.pair, sums.fast + layout.triple,
                                  sums.fast + layout.end};
    const md_chain_counts slow = {sums.slow, sums.slow + layout.pair, sums.slow + layout.triple,
                                  sums.slow + layout.end};
    float *scratch = md_chain_align(in->workspace.values);
    for (size_t i = 0; i < in->workspace.capacity; i++)
        in->workspace.values[i] = NAN;
    sums.trusted = md_chain_scaled_sum(&problem, &fast, scratch, &sums.scaled);
    for (size_t i = 0; i < in->workspace.capacity; i++)
        in->workspace.values[i] = NAN;
    sums.logarithms = md_chain_log_sum(&problem, &slow, scratch);
    return sums;
}

static void sums_clear(struct sums *sums)
{
    free(sums->fast);
    free(sums->slow);
}

/* Marginals of rows to 3e-6; counts may be off by so much in each row they come from. */
static void assert_same(const struct input *in, const struct sums *sums)
{
    const double rows = (double)in->length;
    assert_true(fabs(sums->scaled - sums->logarithms) <=
                rows * (1e-6 + 1e-7 * (double)in->largest));
    for (size_t p = 0; p < in->parts; p++) {
        const double slack = p < in->length * in->shape.labels ? 0 : 3e-6 * (double)sums->slow[p];
        assert_true(fabs((double)sums->fast[p] - (double)sums->slow[p]) <= 3e-6 + slack);
    }
}

static md_shape some_shape(md_random *random, size_t labels_most)
{
    return (md_shape){.labels = 1 + md_random_below(random, labels_most),
                      .order = md_random_below(random, 3),
                      .local_pairs = md_random_below(random, 2) == 1,
                      .ends = md_random_below(random, 2) == 1};
}

static void scaled_probabilities_and_logarithms_agree(void **state)
{
    (void)state;
    md_random random;
    md_random_seed(&random, 1);
    for (uint64_t seed = 1; seed <= 60; seed++) {
        const md_shape shape = some_shape(&random, seed % 4 == 0 ? 40 : 12);
        struct input in = chain(shape, 1 + md_random_below(&random, 40), seed, 1);
        struct sums sums = sum_both_ways(&in);
        assert_true(sums.trusted);
        assert_same(&in, &sums);
        sums_clear(&sums);
        input_clear(&in);
    }
}

/* From scores that scaled probabilities cope with to some where they must give up. */
static void scaled_probabilities_know_when_they_fail(void **state)
{
    (void)state;
    md_random random;
    md_random_seed(&random, 2);
    size_t trusted = 0;
    size_t refused = 0;
    for (uint64_t seed = 1; seed <= 600; seed++) {
        const md_shape shape = some_shape(&random, 5);
        const double scale = exp(5 * md_random_uniform(&random));
        struct input in = chain(shape, 2 + md_random_below(&random, 20), seed, scale);
        struct sums sums = sum_both_ways(&in);
        trusted += sums.trusted;
        refused += !sums.trusted;
        if (sums.trusted)
            assert_same(&in, &sums);
        assert_true(isfinite(sums.logarithms));
        sums_clear(&sums);
        input_clear(&in);
    }
    assert_true(trusted > 100 && refused > 100);
}

/* Rows prefer label 0 by 150, which floats cannot tell from never; but the only way to the last
 * label, worth 1000, leads through label 1. */
static void what_looked_impossible_may_decide(void **state)
{
    (void)state;
    const md_shape shape = {.labels = 2, .order = 1, .ends = true};
    struct input in = chain(shape, 4, 1, 0);
    float *marginal = floats(in.parts);
    for (size_t t = 0; t < 4; t++)
        in.score[t * 2] = 150;
    float *pair = in.score + 8;
    pair[0 * 2 + 1] = pair[1 * 2 + 0] = -5000;
    in.score[8 + 4 + 2 + 1] = 1000; /* last label 1 */
    const double value = in.structure->log_partition(shape, 4, in.score, marginal, &in.workspace);
    assert_true(fabs(value - 1000) < 1e-9);
    for (size_t t = 0; t < 4; t++)
        assert_true(marginal[t * 2] == 0 && marginal[t * 2 + 1] == 1);
    assert_true(marginal[8 + 3] == 3); /* the pair 1 1, three times */
    free(marginal);
    input_clear(&in);
}

static void what_is_not_a_number_is_noticed(void **state)
{
    (void)state;
    md_random random;
    md_random_seed(&random, 3);
    for (uint64_t seed = 1; seed <= 50; seed++) {
        const md_shape shape = some_shape(&random, 20);
        struct input in = chain(shape, 3 + md_random_below(&random, 5), seed, 1);
        float *marginal = floats(in.parts);
        int32_t best[8];
        double values[3];
        int32_t outputs[3 * 8];
        in.score[md_random_below(&random, in.parts)] = NAN;
        in.structure->decode(shape, in.length, in.score, NULL, best, &in.workspace);
        for (size_t t = 0; t < in.length; t++)
            assert_true(best[t] >= 0 && (size_t)best[t] < shape.labels);
        assert_true(isnan(
            in.structure->log_partition(shape, in.length, in.score, marginal, &in.workspace)));
        assert_int_equal(md_workspace_reserve(
                             &in.workspace, in.structure->best_workspace_size(shape, in.length, 3)),
                         0);
        assert_true(in.structure->decode_best(shape, in.length, in.score, 3, outputs, values,
                                              &in.workspace) <= 3);
        free(marginal);
        input_clear(&in);
    }
}

/* ---- long sequences ---- */

/* Viterbi of order 1 in double precision with all choices kept. */
static double plain_viterbi(const struct input *in, int32_t *best)
{
    const size_t labels = in->shape.labels;
    const md_chain problem = md_chain_of(in->shape, in->length, in->score);
    double *value = md_calloc(2 * labels, sizeof *value);
    int32_t *from = md_calloc(in->length * labels, sizeof *from);
    assert_non_null(value);
    assert_non_null(from);
    for (size_t c = 0; c < labels; c++)
        value[c] = md_chain_row_score(&problem, 0, c);
    for (size_t t = 1; t < in->length; t++) {
        const double *before = value + (t - 1) % 2 * labels;
        for (size_t c = 0; c < labels; c++) {
            double most = -INFINITY;
            for (size_t p = 0; p < labels; p++) {
                const double sum = before[p] + md_chain_step(&problem, t, c, p);
                if (sum > most) {
                    most = sum;
                    from[t * labels + c] = (int32_t)p;
                }
            }
            value[t % 2 * labels + c] = most + md_chain_row_score(&problem, t, c);
        }
    }
    const double *last = value + (in->length - 1) % 2 * labels;
    size_t top = 0;
    for (size_t c = 1; c < labels; c++)
        if (last[c] > last[top])
            top = c;
    const double most = last[top];
    for (size_t t = in->length; t-- > 0; top = (size_t)from[t * labels + top])
        best[t] = (int32_t)top;
    free(value);
    free(from);
    return most;
}

static void check_long_decode(double scale)
{
    const md_shape shape = {.labels = 22, .order = 1, .ends = true};
    struct input in = chain(shape, LONG, 4, scale);
    int32_t *best = md_calloc(2 * (size_t)LONG, sizeof *best);
    assert_non_null(best);
    const double right = plain_viterbi(&in, best + LONG);
    const double value = in.structure->decode(shape, LONG, in.score, NULL, best, &in.workspace);
    assert_true(fabs(value - score_of(&in, best)) <= 1e-9 * right);
    assert_true(fabs(value - right) <= 1e-9 * right);
    size_t different = 0;
    for (size_t t = 0; t < LONG; t++)
        different += best[t] != best[LONG + t];
    assert_true(different <= LONG / 10000); /* where two ways differ by rounding only */
    free(best);
    input_clear(&in);
}

static void long_sequences_are_decoded_as_in_double_precision(void **state)
{
    (void)state;
    check_long_decode(1);
    check_long_decode(5000);
}

/* Marginals of every row sum to 1, and those of neighbouring rows and of pairs tell the same. */
static void check_long_sums(md_shape shape, double scale)
{
    struct input in = chain(shape, LONG, 5, scale);
    const size_t labels = shape.labels;
    float *marginal = floats(in.parts);
    double *count = md_calloc(labels, sizeof *count);
    int32_t *best = md_calloc(LONG, sizeof *best);
    assert_non_null(count);
    assert_non_null(best);
    const double most = in.structure->decode(shape, LONG, in.score, NULL, best, &in.workspace);
    const double value =
        in.structure->log_partition(shape, LONG, in.score, marginal, &in.workspace);
    assert_true(value >= most * (1 - 1e-9) && value <= most + LONG * log((double)labels));
    for (size_t t = 0; t < LONG; t++) {
        double sum = 0;
        for (size_t c = 0; c < labels; c++) {
            assert_true(marginal[t * labels + c] >= 0);
            sum += (double)marginal[t * labels + c];
            count[c] += t > 0 ? (double)marginal[t * labels + c] : 0;
        }
        assert_true(fabs(sum - 1) < 3e-6);
    }
    const size_t pair = in.structure->groups(shape, LONG, MD_PAIR_PARTS).first;
    for (size_t c = 0; c < labels; c++) {
        double sum = 0;
        for (size_t p = 0; p < labels; p++)
            sum += (double)marginal[pair + p * labels + c];
        assert_true(fabs(sum - count[c]) <= 3e-6 * LONG);
    }
    free(marginal);
    free(count);
    free(best);
    input_clear(&in);
}

static void long_sequences_are_summed_without_drift(void **state)
{
    (void)state;
    check_long_sums((md_shape){.labels = 22, .order = 1}, 1);
    check_long_sums((md_shape){.labels = 4, .order = 1, .ends = true}, 5000);
    check_long_sums((md_shape){.labels = 5, .order = 2}, 1);
    check_long_sums((md_shape){.labels = 2, .order = 2, .ends = true}, 5000);
}

/* ---- the best few ---- */

static void the_best_few_of_many_are_different_and_fall(void **state)
{
    (void)state;
    enum { WANTED = 20, LENGTH = 24 };
    for (size_t order = 1; order <= 2; order++) {
        const md_shape shape = {.labels = 22, .order = order, .ends = true};
        struct input in = chain(shape, LENGTH, order, 1);
        int32_t best[LENGTH];
        int32_t outputs[WANTED * LENGTH];
        double values[WANTED];
        in.structure->decode(shape, LENGTH, in.score, NULL, best, &in.workspace);
        assert_int_equal(md_workspace_reserve(&in.workspace, in.structure->best_workspace_size(
                                                                 shape, LENGTH, WANTED)),
                         0);
        assert_int_equal(in.structure->decode_best(shape, LENGTH, in.score, WANTED, outputs, values,
                                                   &in.workspace),
                         WANTED);
        assert_memory_equal(outputs, best, sizeof best);
        for (size_t i = 0; i < WANTED; i++) {
            const int32_t *y = outputs + i * LENGTH;
            assert_true(i == 0 || values[i] <= values[i - 1]);
            assert_true(fabs(values[i] - score_of(&in, y)) < 1e-9);
            for (size_t j = 0; j < i; j++)
                assert_memory_not_equal(y, outputs + j * LENGTH, sizeof best);
        }
        input_clear(&in);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exponentials_are_right_to_two_units_in_the_last_place),
        cmocka_unit_test(scaled_probabilities_and_logarithms_agree),
        cmocka_unit_test(scaled_probabilities_know_when_they_fail),
        cmocka_unit_test(what_looked_impossible_may_decide),
        cmocka_unit_test(what_is_not_a_number_is_noticed),
        cmocka_unit_test(long_sequences_are_decoded_as_in_double_precision),
        cmocka_unit_test(long_sequences_are_summed_without_drift),
        cmocka_unit_test(the_best_few_of_many_are_different_and_fall),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
