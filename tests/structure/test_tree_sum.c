/* SPDX-License-Identifier: BSD-3-Clause */
/* Sums over trees that the laws of structures are too small for: against the list of all trees of
 * six words, by finite differences, where formulas are known, and the two ways to compute them,
 * which must agree wherever both claim to be right. */
#include "structure/tree_case.h"

#ifdef MEDLEY_SANITIZED
enum { LONG = 150 }; /* sanitizers are slow */
#else
enum { LONG = 500 };
#endif

/* ---- against the list ---- */

/* Probabilities of arcs, from the list; returns the log-partition. */
static double expect(struct input *in, double *expected)
{
    double most = -INFINITY;
    double sum = 0;
    memset(expected, 0, in->parts * sizeof *expected);
    for (size_t o = 0; o < in->outputs; o++)
        most = fmax(most, score_of(in, output_of(in, o)));
    for (size_t o = 0; o < in->outputs; o++) {
        const double weight = exp(score_of(in, output_of(in, o)) - most);
        sum += weight;
        for (size_t i = 0; i < in->length; i++) /* the parts of this output, from score_of */
            expected[in->chosen[i]] += weight;
    }
    for (size_t p = 0; p < in->parts; p++)
        expected[p] /= sum;
    return most + log(sum);
}

static void compare_with_list(struct input *in, double *expected, float *marginal)
{
    const double right = expect(in, expected);
    const double value = log_partition(in, marginal);
    assert_true(fabs(value - right) <= 1e-9 * (1 + fabs(right)));
    for (size_t p = 0; p < in->parts; p++)
        assert_true(fabs((double)marginal[p] - expected[p]) < 1e-6);
}

/* Words that hang together so tightly that the root is far, in two groups. */
static void bind(struct input *in, float strength)
{
    for (size_t d = 1; d <= in->length; d++)
        for (size_t h = 1; h <= in->length; h++)
            if ((h > 2) == (d > 2))
                *arc(in, h, d) += strength;
    in->largest += strength;
}

static void sums_are_those_of_the_list(void **state)
{
    (void)state;
    static const double scales[] = {1, 8, 40, 1000};
    for (size_t shape = 0; shape < SHAPES; shape++)
        for (size_t length = 5; length <= 6; length++) {
            struct input in = sentence(shape, length, 1, 1);
            float *marginal = floats(in.parts);
            double *expected = md_calloc(in.parts, sizeof *expected);
            assert_non_null(expected);
            input_list_outputs(&in);
            for (size_t i = 0; i < 16; i++) {
                md_random random;
                md_random_seed(&random, i + 1);
                input_draw(&in, &random, i % 8 == 7, scales[i % 4]);
                if (i % 3 == 0)
                    bind(&in, i % 2 == 0 ? 25 : 150);
                compare_with_list(&in, expected, marginal);
            }
            free(marginal);
            free(expected);
            input_clear(&in);
        }
}

/* ---- long sentences ---- */

static void check_rows(const struct input *in, const float *marginal)
{
    for (size_t d = 1; d <= in->length; d++) {
        const float *row = marginal + (d - 1) * in->width;
        double sum = 0;
        for (size_t h = 0; h <= in->length; h++) {
            assert_true(row[h] >= 0 && row[h] <= 1);
            sum += (double)row[h];
        }
        assert_true(row[d] == 0);
        assert_true(fabs(sum - 1) < 1e-5);
    }
}

static void every_word_has_one_head(void **state)
{
    (void)state;
    for (size_t i = 0; i < (size_t)SHAPES * 3; i++) {
        static const double scales[] = {1, 30, 500};
        const size_t shape = i % SHAPES;
        const double scale = scales[i / SHAPES];
        const size_t length = shape < 2 ? (scale < 10 ? LONG : 40) : 125;
        struct input in = sentence(shape, length, 7, scale);
        float *marginal = floats(in.parts);
        int32_t *best = numbers(length);
        const double value = log_partition(&in, marginal);
        const double most = decode(&in, NULL, best);
        double roots = 0;
        assert_true(value >= most - 1e-9 * fabs(most));
        assert_true(value <= most + in.structure->log_outputs(in.shape, length));
        check_rows(&in, marginal);
        for (size_t d = 1; d <= length; d++)
            roots += (double)marginal[(d - 1) * in.width];
        assert_true(in.shape.many_roots ? roots > 1 - 1e-5 : fabs(roots - 1) < 1e-5);
        free(marginal);
        free(best);
        input_clear(&in);
    }
}

/* The slope along a random direction, which all marginals have a say in. */
static void marginals_are_slopes(void **state)
{
    (void)state;
    static const size_t lengths[] = {1, 2, 7, 8, 9, 16, 30, 125};
    for (size_t i = 0; i < (size_t)SHAPES * 8 * 2; i++) {
        const bool far = i >= 32; /* by logarithms, which takes its time */
        const size_t longest = far && i % SHAPES < 2 ? 40 : 125;
        const size_t length = lengths[i / SHAPES % 8] < longest ? lengths[i / SHAPES % 8] : longest;
        struct input in = sentence(i % SHAPES, length, i + 1, far ? 90 : 1);
        float *marginal = floats(2 * in.parts);
        float *direction = floats(in.parts);
        float *middle = md_copy(in.score, in.parts * sizeof *middle);
        assert_non_null(middle);
        md_random random;
        md_random_seed(&random, i);
        double slope = 0;
        double values[2];
        log_partition(&in, marginal);
        for (size_t turn = 0; turn < 2; turn++) {
            for (size_t p = 0; p < in.parts; p++) {
                if (turn == 0)
                    direction[p] = (float)md_random_below(&random, 3) - 1;
                in.score[p] = middle[p] + (turn == 0 ? 1.0f : -1.0f) * 0x1p-8f * direction[p];
                const double exact = ((double)in.score[p] - (double)middle[p]) * 0x1p7;
                slope += (turn == 0 ? exact : -exact) * (double)marginal[p];
            }
            values[turn] = log_partition(&in, marginal + in.parts);
        }
        const double found = (values[0] - values[1]) * 0x1p7;
        assert_true(fabs(found - slope) < 1e-3 * (1 + (double)in.length / 30));
        free(marginal);
        free(direction);
        free(middle);
        input_clear(&in);
    }
}

/* Equal scores: as many trees as formulas say, and heads are equally probable but for the root, to
 * which by Cayley's formula 2n / (n+1) of n words are tied. */
static void equal_scores_count_trees(void **state)
{
    (void)state;
    static const size_t lengths[] = {1, 2, 3, 17, 100, 130, LONG};
    for (size_t shape = 0; shape < SHAPES; shape++)
        for (size_t k = 0; k < 7; k++) {
            const size_t length = shape >= 2 && lengths[k] > 150 ? 150 : lengths[k];
            const double n = (double)length;
            struct input in = sentence(shape, length, 1, 0);
            float *marginal = floats(in.parts);
            for (size_t p = 0; p < in.parts; p++)
                in.score[p] = 3;
            const double count = log_partition(&in, marginal) - 3 * n;
            const double right = in.structure->log_outputs(in.shape, length);
            assert_true(fabs(count - right) <= 1e-9 * (1 + right));
            check_rows(&in, marginal);
            for (size_t p = 0; p < in.parts && !in.shape.projective; p++) {
                const size_t word = p / in.width + 1;
                const size_t head = p % in.width;
                const double from_root = in.shape.many_roots ? 2 / (n + 1) : 1 / n;
                const double from_word = in.shape.many_roots ? 1 / (n + 1) : 1 / n;
                if (head != word)
                    assert_true(fabs((double)marginal[p] - (head == 0 ? from_root : from_word)) <
                                1e-6);
            }
            free(marginal);
            input_clear(&in);
        }
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
    const md_tree tree = md_tree_of(in->shape, in->length, in->score);
    struct sums sums = {.fast = floats(in->parts), .slow = floats(in->parts)};
    float *scratch = md_chain_align(in->workspace.values);
    for (size_t i = 0; i < in->workspace.capacity; i++)
        in->workspace.values[i] = NAN;
    sums.trusted = md_tree_scaled_sum(&tree, sums.fast, scratch, &sums.scaled);
    for (size_t i = 0; i < in->workspace.capacity; i++)
        in->workspace.values[i] = NAN;
    assert_true(md_tree_log_sum(&tree, sums.slow, scratch, &sums.logarithms));
    return sums;
}

static void scaled_weights_and_logarithms_agree(void **state)
{
    (void)state;
    static const double scales[] = {1, 5, 15, 40, 200};
    size_t trusted[5] = {0};
    md_random random;
    md_random_seed(&random, 1);
    for (size_t i = 0; i < 200; i++) {
        const size_t length = 1 + md_random_below(&random, i % 10 == 0 ? 60 : 15);
        struct input in = sentence(i % 2, length, i, scales[i % 5]);
        for (size_t d = 1; d <= length && i % 3 == 0; d++) /* roots as good as lost, or sure */
            *arc(&in, 0, d) += i % 2 == 0 ? 1000.0f : -120.0f;
        struct sums sums = sum_both_ways(&in);
        trusted[i % 5] += sums.trusted;
        if (sums.trusted) {
            assert_true(fabs(sums.scaled - sums.logarithms) <= 1e-9 * (1 + fabs(sums.logarithms)));
            for (size_t p = 0; p < in.parts; p++)
                assert_true(fabsf(sums.fast[p] - sums.slow[p]) < 1e-6f);
        }
        check_rows(&in, sums.slow);
        free(sums.fast);
        free(sums.slow);
        input_clear(&in);
    }
    assert_true(trusted[0] == 40 && trusted[1] > 35 && trusted[4] < 20);
}

/* ---- robustness ---- */

static void scores_out_of_all_proportion_leave_one_tree(void **state)
{
    (void)state;
    for (size_t shape = 0; shape < SHAPES; shape++)
        for (uint64_t seed = 1; seed <= 20; seed++) {
            struct input in = sentence(shape, 30, seed, seed % 2 == 0 ? 1e30 : 1e12);
            float *marginal = floats(in.parts);
            int32_t best[30];
            const double most = decode(&in, NULL, best);
            assert_true(fabs(log_partition(&in, marginal) - most) <= 1e-9 * fabs(most));
            for (size_t d = 1; d <= in.length; d++)
                for (size_t h = 0; h <= in.length; h++)
                    assert_true(marginal[(d - 1) * in.width + h] ==
                                ((size_t)best[d - 1] == h ? 1.0f : 0.0f));
            free(marginal);
            input_clear(&in);
        }
}

static void what_is_not_a_number_is_noticed(void **state)
{
    (void)state;
    for (size_t i = 0; i < (size_t)SHAPES * 10; i++) {
        struct input in = sentence(i % SHAPES, 1 + i / SHAPES, i + 1, 1);
        float *marginal = floats(in.parts);
        for (size_t d = 1; d <= in.length; d++)
            *arc(&in, 0, d) = NAN;
        assert_true(isnan(log_partition(&in, marginal)));
        if (in.length > 1) {
            *arc(&in, 1, 2) = NAN;
            assert_true(isnan(log_partition(&in, marginal)));
        }
        free(marginal);
        input_clear(&in);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_are_those_of_the_list),
        cmocka_unit_test(every_word_has_one_head),
        cmocka_unit_test(marginals_are_slopes),
        cmocka_unit_test(equal_scores_count_trees),
        cmocka_unit_test(scaled_weights_and_logarithms_agree),
        cmocka_unit_test(scores_out_of_all_proportion_leave_one_tree),
        cmocka_unit_test(what_is_not_a_number_is_noticed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
