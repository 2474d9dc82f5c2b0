/* SPDX-License-Identifier: BSD-3-Clause */
/* Best trees that the laws of structures are too small for: long sentences against a plain version
 * of the algorithm, many roots that attract, heads that are given and cannot be, scores that are
 * huge, equal or no numbers. */
#include "structure/tree_plain.h"

static bool agrees(const int32_t *given, const int32_t *y, size_t length)
{
    for (size_t i = 0; i < length && given != NULL; i++)
        if (given[i] >= 0 && given[i] != y[i])
            return false;
    return true;
}

static void draw_whole(struct input *in, md_random *random, size_t most)
{
    for (size_t p = 0; p < in->parts; p++)
        in->score[p] = (float)md_random_below(random, 2 * most + 1) - (float)most;
}

static void compare_with_plain(struct input *in, const int32_t *given)
{
    int32_t *best = numbers(in->length);
    const double value = decode(in, given, best);
    assert_true(is_tree(in->shape, in->length, best));
    assert_true(agrees(given, best, in->length));
    assert_true(value == score_of(in, best));
    assert_true(value == plain_best(in, given, 1e9));
    free(best);
}

static void long_sentences_have_the_tree_of_the_plain_algorithm(void **state)
{
    (void)state;
    md_random random;
    md_random_seed(&random, 1);
    for (size_t i = 0; i < 200; i++) {
        const size_t length = 8 + md_random_below(&random, 33);
        struct input in = sentence(i % 2, length, i, 1);
        draw_whole(&in, &random, i % 3 == 0 ? 2 : 100000);
        compare_with_plain(&in, NULL);
        int32_t *given = numbers(length);
        const double value = decode(&in, NULL, given); /* a tree of other scores, in part */
        draw_whole(&in, &random, 1000);
        for (size_t k = 0; k < length; k++)
            given[k] = md_random_below(&random, 2) == 0 ? -1 : given[k];
        compare_with_plain(&in, given);
        assert_true(isfinite(value));
        free(given);
        input_clear(&in);
    }
}

/* Neighbours that hang from each other, in pairs, pairs of pairs and so on, each more loosely. */
static void cycles_within_cycles_are_opened(void **state)
{
    (void)state;
    for (size_t shape = 0; shape < 2; shape++)
        for (size_t length = 2; length <= 130; length += 16) {
            md_random random;
            md_random_seed(&random, length);
            struct input in = sentence(shape, length, length, 1);
            draw_whole(&in, &random, 10);
            for (size_t h = 1; h <= length; h++)
                for (size_t d = 1; d <= length; d++) {
                    size_t level = 0;
                    while ((h - 1) >> level != (d - 1) >> level)
                        level++;
                    *arc(&in, h, d) += 1000.0f - 100.0f * (float)level;
                }
            compare_with_plain(&in, NULL);
            for (size_t h = 1; h <= length; h++) /* one word after the other joins the cycle */
                for (size_t d = 1; d <= length; d++)
                    *arc(&in, h, d) = -(float)(h > d ? h : d) * 3 + (h > d ? 1.0f : 0.0f);
            compare_with_plain(&in, NULL);
            input_clear(&in);
        }
}

static void sentences_of_500_words_have_best_trees(void **state)
{
    (void)state;
    md_random random;
    md_random_seed(&random, 5);
    for (size_t shape = 0; shape < SHAPES; shape++) {
        struct input in = sentence(shape, shape < 2 ? 500 : 200, 1, 1);
        int32_t *best = numbers(in.length);
        draw_whole(&in, &random, 1000);
        if (shape < 2)
            compare_with_plain(&in, NULL);
        const double value = decode(&in, NULL, best);
        assert_true(is_tree(in.shape, in.length, best));
        assert_true(value == score_of(&in, best));
        free(best);
        input_clear(&in);
    }
}

/* ---- against the list of all trees ---- */

static double best_of_list(struct input *in, const int32_t *given, size_t *broken)
{
    double most = -INFINITY;
    *broken = in->length + 1;
    for (size_t o = 0; o < in->outputs; o++) {
        const int32_t *y = output_of(in, o);
        size_t wrong = 0;
        for (size_t i = 0; i < in->length && given != NULL; i++)
            wrong += given[i] >= 0 && given[i] != y[i];
        if (wrong > *broken)
            continue;
        most = wrong < *broken ? score_of(in, y) : fmax(most, score_of(in, y));
        *broken = wrong;
    }
    return most;
}

static void compare_with_list(struct input *in, const int32_t *given)
{
    int32_t best[6];
    size_t least;
    size_t broken = 0;
    const double value = decode(in, given, best);
    const double most = best_of_list(in, given, &least);
    for (size_t i = 0; i < in->length && given != NULL; i++)
        broken += given[i] >= 0 && given[i] != best[i];
    assert_true(is_tree(in->shape, in->length, best));
    assert_int_equal(broken, least);
    assert_true(fabs(value - most) <= 1e-9 * (double)in->largest);
}

/* All words want to hang from the root, or none; heads that are given may make no tree. */
static void one_root_is_the_best_one(void **state)
{
    (void)state;
    static const float pulls[] = {0, 3, 30, 1000, -1000};
    for (size_t shape = 0; shape < SHAPES; shape++)
        for (size_t length = 1; length <= 6; length++) {
            struct input in = sentence(shape, length, 1, 1);
            input_list_outputs(&in);
            for (uint64_t seed = 1; seed <= 20; seed++) {
                md_random random;
                int32_t given[6];
                md_random_seed(&random, seed);
                input_draw(&in, &random, seed % 4 == 0, 1);
                for (size_t d = 1; d <= length; d++)
                    *arc(&in, 0, d) += pulls[seed % 5];
                in.largest += fabsf(pulls[seed % 5]);
                compare_with_list(&in, NULL);
                for (size_t i = 0; i < length; i++)
                    given[i] = (int32_t)md_random_below(&random, length + 3) - 2;
                for (size_t i = 0; i < length; i++)
                    given[i] = given[i] < 0 ? -1 : given[i];
                compare_with_list(&in, given);
                for (size_t i = 0; i < length; i++)
                    given[i] = md_random_below(&random, 2) == 0 ? 0 : given[i];
                compare_with_list(&in, given);
            }
            input_clear(&in);
        }
}

static int falling(const void *a, const void *b)
{
    const double x = *(const double *)a;
    const double y = *(const double *)b;
    return (x < y) - (x > y);
}

static void all_trees_come_in_order(void **state)
{
    (void)state;
    for (size_t shape = 0; shape < SHAPES; shape++) {
        struct input in = sentence(shape, 5, shape + 1, 1);
        input_list_outputs(&in);
        const size_t wanted = in.outputs + 10;
        int32_t *outputs = numbers(wanted * in.length);
        double *values = md_calloc(2 * wanted, sizeof *values);
        assert_non_null(values);
        double *sorted = values + wanted;
        assert_int_equal(md_workspace_reserve(&in.workspace, in.structure->best_workspace_size(
                                                                 in.shape, in.length, wanted)),
                         0);
        assert_int_equal(in.structure->decode_best(in.shape, in.length, in.score, wanted, outputs,
                                                   values, &in.workspace),
                         in.outputs);
        for (size_t o = 0; o < in.outputs; o++)
            sorted[o] = score_of(&in, output_of(&in, o));
        qsort(sorted, in.outputs, sizeof *sorted, falling);
        for (size_t o = 0; o < in.outputs; o++) {
            assert_true(is_tree(in.shape, in.length, outputs + o * in.length));
            assert_true(fabs(values[o] - sorted[o]) < 1e-9);
        }
        free(outputs);
        free(values);
        input_clear(&in);
    }
}

static void the_best_few_of_a_long_sentence_are_different_trees(void **state)
{
    (void)state;
    enum { WANTED = 12 };
    for (size_t shape = 0; shape < SHAPES; shape++) {
        struct input in = sentence(shape, 30, shape + 1, 1);
        const size_t row = in.length * sizeof(int32_t);
        int32_t *outputs = numbers((WANTED + 1) * in.length);
        double values[WANTED];
        assert_int_equal(md_workspace_reserve(&in.workspace, in.structure->best_workspace_size(
                                                                 in.shape, in.length, WANTED)),
                         0);
        const size_t found = in.structure->decode_best(in.shape, in.length, in.score, WANTED,
                                                       outputs, values, &in.workspace);
        assert_int_equal(found, WANTED);
        decode(&in, NULL, outputs + WANTED * in.length);
        assert_memory_equal(outputs, outputs + WANTED * in.length, row);
        for (size_t i = 0; i < WANTED; i++) {
            assert_true(is_tree(in.shape, in.length, outputs + i * in.length));
            assert_true(values[i] == score_of(&in, outputs + i * in.length));
            assert_true(i == 0 || values[i] <= values[i - 1]);
            for (size_t k = 0; k < i; k++)
                assert_true(memcmp(outputs + i * in.length, outputs + k * in.length, row) != 0);
        }
        free(outputs);
        input_clear(&in);
    }
}

/* ---- projective and other trees ---- */

static void projective_trees_are_among_all_trees(void **state)
{
    (void)state;
    size_t same = 0;
    for (uint64_t seed = 1; seed <= 60; seed++)
        for (size_t roots = 0; roots < 2; roots++) {
            const size_t length = 2 + seed % 30;
            struct input all = sentence(roots, length, seed, 1);
            struct input flat = sentence(2 + roots, length, seed, 1);
            int32_t *best = numbers(2 * length);
            for (size_t d = 1; d <= length && seed % 2 == 0; d++) /* near heads are better */
                for (size_t h = 0; h <= length; h++) {
                    const float less = 4 * fabsf((float)h - (float)d);
                    *arc(&all, h, d) -= less;
                    *arc(&flat, h, d) -= less;
                }
            const double bound = decode(&all, NULL, best);
            const double value = decode(&flat, NULL, best + length);
            assert_true(is_tree(flat.shape, length, best + length));
            assert_true(value <= bound + 1e-9 * (1 + fabs(bound)));
            if (is_tree(flat.shape, length, best)) {
                assert_true(fabs(value - bound) <= 1e-9 * (1 + fabs(bound)));
                same++;
            }
            free(best);
            input_clear(&all);
            input_clear(&flat);
        }
    assert_true(same > 20);
}

/* ---- robustness ---- */

static void huge_scores_are_compared_as_they_are(void **state)
{
    (void)state;
    for (size_t shape = 0; shape < SHAPES; shape++)
        for (uint64_t seed = 1; seed <= 10; seed++) {
            struct input in = sentence(shape, 5, seed, 1e30);
            input_list_outputs(&in);
            compare_with_list(&in, NULL);
            input_clear(&in);
        }
}

static void trees_come_of_scores_that_are_no_numbers(void **state)
{
    (void)state;
    static const float odd[] = {NAN, INFINITY, -INFINITY};
    md_random random;
    md_random_seed(&random, 1);
    for (size_t i = 0; i < 400; i++) {
        const size_t length = 1 + md_random_below(&random, 12);
        struct input in = sentence(i % SHAPES, length, i, 1);
        int32_t *best = numbers(2 * length);
        for (size_t p = 0; p < in.parts; p++)
            if (i % 20 < 4 || md_random_below(&random, 3) == 0)
                in.score[p] = odd[i % 5 == 0 ? md_random_below(&random, 3) : i / SHAPES % 3];
        decode(&in, NULL, best);
        assert_true(is_tree(in.shape, length, best));
        decode(&in, best, best + length);
        assert_true(is_tree(in.shape, length, best + length));
        free(best);
        input_clear(&in);
    }
}

/* With equal scores there is a tree, and always the same one. */
static void ties_are_broken_in_one_way(void **state)
{
    (void)state;
    for (size_t shape = 0; shape < SHAPES; shape++)
        for (size_t length = 1; length <= 40; length += 3) {
            struct input in = sentence(shape, length, 1, 0);
            int32_t *best = numbers(2 * length);
            assert_true(decode(&in, NULL, best) == 0);
            assert_true(is_tree(in.shape, length, best));
            for (size_t i = 0; i < in.workspace.capacity; i++)
                in.workspace.values[i] = NAN; /* what was there must not matter */
            decode(&in, NULL, best + length);
            assert_memory_equal(best, best + length, length * sizeof *best);
            free(best);
            input_clear(&in);
        }
}

static void words_are_not_asked_for_arcs_to_themselves(void **state)
{
    (void)state;
    static const float odd[] = {NAN, INFINITY, -INFINITY, 1e30f};
    for (size_t shape = 0; shape < SHAPES; shape++)
        for (size_t k = 0; k < 4; k++) {
            struct input in = sentence(shape, 9, k + 1, 1);
            int32_t best[18];
            int32_t worst[18];
            float *marginal = floats(2 * in.parts);
            const int32_t gold[9] = {0, 1, 2, 3, 4, 5, 6, 7, 8};
            double values[6];
            for (size_t turn = 0; turn < 2; turn++) {
                values[turn] = decode(&in, NULL, best + 9 * turn);
                values[2 + turn] = in.structure->decode_with_cost(
                    in.shape, in.length, in.score, gold, worst + 9 * turn, &in.workspace);
                values[4 + turn] = log_partition(&in, marginal + turn * in.parts);
                for (size_t d = 1; d <= in.length; d++)
                    *arc(&in, d, d) = odd[k];
            }
            for (size_t i = 0; i < 3; i++)
                assert_true(values[2 * i] == values[2 * i + 1]);
            assert_memory_equal(best, best + 9, 9 * sizeof *best);
            assert_memory_equal(worst, worst + 9, 9 * sizeof *worst);
            assert_memory_equal(marginal, marginal + in.parts, in.parts * sizeof *marginal);
            for (size_t d = 1; d <= in.length; d++)
                assert_true(marginal[(d - 1) * (in.length + 1) + d] == 0);
            free(marginal);
            input_clear(&in);
        }
}

/* Exactly as many floats as were asked for, wherever they begin. */
static void the_workspace_is_as_large_as_said(void **state)
{
    (void)state;
    for (size_t i = 0; i < (size_t)SHAPES * 20 * 3; i++) {
        struct input in = sentence(i % SHAPES, 1 + i / SHAPES % 20, i + 1, i % 5 == 0 ? 1e9 : 1);
        const size_t wanted = 3;
        const size_t offset = i / SHAPES / 20;
        const size_t size = in.structure->workspace_size(in.shape, in.length);
        const size_t best_size = in.structure->best_workspace_size(in.shape, in.length, wanted);
        float *memory = malloc((size + offset) * sizeof *memory);
        float *best_memory = malloc((best_size + offset) * sizeof *best_memory);
        float *marginal = floats(in.parts);
        int32_t *outputs = numbers(wanted * in.length);
        double values[3];
        assert_non_null(memory);
        assert_non_null(best_memory);
        md_workspace exact = {.values = memory + offset, .capacity = size};
        md_workspace best_exact = {.values = best_memory + offset, .capacity = best_size};
        in.structure->decode(in.shape, in.length, in.score, NULL, outputs, &exact);
        in.structure->decode(in.shape, in.length, in.score, outputs, outputs + in.length, &exact);
        assert_memory_equal(outputs, outputs + in.length, in.length * sizeof *outputs);
        in.structure->log_partition(in.shape, in.length, in.score, marginal, &exact);
        for (size_t p = 0; p < in.parts; p++) /* logarithms */
            in.score[p] *= 1000;
        in.structure->log_partition(in.shape, in.length, in.score, marginal, &exact);
        in.structure->decode_best(in.shape, in.length, in.score, wanted, outputs, values,
                                  &best_exact);
        free(memory);
        free(best_memory);
        free(marginal);
        free(outputs);
        input_clear(&in);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(long_sentences_have_the_tree_of_the_plain_algorithm),
        cmocka_unit_test(cycles_within_cycles_are_opened),
        cmocka_unit_test(sentences_of_500_words_have_best_trees),
        cmocka_unit_test(one_root_is_the_best_one),
        cmocka_unit_test(all_trees_come_in_order),
        cmocka_unit_test(the_best_few_of_a_long_sentence_are_different_trees),
        cmocka_unit_test(projective_trees_are_among_all_trees),
        cmocka_unit_test(huge_scores_are_compared_as_they_are),
        cmocka_unit_test(trees_come_of_scores_that_are_no_numbers),
        cmocka_unit_test(ties_are_broken_in_one_way),
        cmocka_unit_test(words_are_not_asked_for_arcs_to_themselves),
        cmocka_unit_test(the_workspace_is_as_large_as_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
