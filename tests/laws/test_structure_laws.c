/* SPDX-License-Identifier: BSD-3-Clause */
/* Laws of every structure in the registry: on inputs so small that all outputs can be listed,
 * decoding, cost-augmented decoding, log-partition and marginals equal what the list says. The
 * score of an output is the sum of its parts' scores, as the header defines it, so nothing here
 * knows what the parts of a structure are. */
#include "base/memory.h"
#include "base/random.h"
#include "structure/structure.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { LONGEST = 3, LABELS_MOST = 4, SEEDS = 20 };
static const double EXACT = 1e-9;    /* sums of a few doubles */
static const double MARGINAL = 3e-6; /* marginals are single precision */

/* An input with its scores, and every output of it. */
struct input {
    const md_structure *structure;
    md_shape shape;
    size_t length, parts, outputs;
    float *score;    /* [parts] */
    int32_t *output; /* [outputs][length] */
    uint32_t *chosen;
    md_workspace workspace;
};

/* One whole number per row, 0 .. labels-1: counting with `length` digits lists all outputs. */
static void list_outputs(struct input *in)
{
    in->outputs = 1;
    for (size_t i = 0; i < in->length; i++)
        in->outputs *= in->shape.labels;
    in->output = md_calloc(in->outputs * in->length, sizeof *in->output);
    assert_non_null(in->output);
    for (size_t o = 0; o < in->outputs; o++) {
        size_t rest = o;
        for (size_t i = in->length; i-- > 0; rest /= in->shape.labels)
            in->output[o * in->length + i] = (int32_t)(rest % in->shape.labels);
    }
}

static struct input make(const md_structure *structure, size_t labels, size_t length)
{
    struct input in = {.structure = structure, .shape = {.labels = labels}, .length = length};
    in.parts = structure->part_count(in.shape, length);
    in.score = md_calloc(in.parts, sizeof *in.score);
    in.chosen = md_calloc(structure->parts_per_output(in.shape, length) + 1, sizeof *in.chosen);
    assert_non_null(in.score);
    assert_non_null(in.chosen);
    assert_int_equal(
        md_workspace_reserve(&in.workspace, structure->workspace_size(in.shape, length)), 0);
    list_outputs(&in);
    return in;
}

static void clear(struct input *in)
{
    free(in->score);
    free(in->output);
    free(in->chosen);
    md_workspace_clear(&in->workspace);
}

/* Whole numbers give many ties, normal ones none. */
static void draw_scores(struct input *in, md_random *random, bool ties)
{
    for (size_t p = 0; p < in->parts; p++)
        in->score[p] =
            ties ? (float)md_random_below(random, 3) - 1 : (float)(2 * md_random_normal(random));
}

static const int32_t *output_of(const struct input *in, size_t o)
{
    return in->output + o * in->length;
}

static double score_of(struct input *in, const int32_t *y)
{
    const size_t count = in->structure->parts_of(in->shape, in->length, y, in->chosen);
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += (double)in->score[in->chosen[i]];
    return sum;
}

static double cost_of(const struct input *in, const int32_t *y, const int32_t *gold)
{
    return in->structure->cost(in->shape, in->length, y, gold);
}

typedef void law(struct input *in, md_random *random);

static void for_every_input(law *check)
{
    for (size_t s = 0; md_structures[s] != NULL; s++)
        for (size_t labels = 1; labels <= LABELS_MOST; labels++)
            for (size_t length = 1; length <= LONGEST; length++) {
                struct input in = make(md_structures[s], labels, length);
                for (uint64_t seed = 1; seed <= SEEDS; seed++) {
                    md_random random;
                    md_random_seed(&random, seed);
                    draw_scores(&in, &random, seed % 2 == 0);
                    check(&in, &random);
                }
                clear(&in);
            }
}

/* ---- parts and costs ---- */

static void check_parts(struct input *in, md_random *random)
{
    (void)random;
    const size_t most = in->structure->parts_per_output(in->shape, in->length);
    assert_true(in->parts >= in->length * in->shape.labels);
    for (size_t o = 0; o < in->outputs; o++) {
        const int32_t *y = output_of(in, o);
        in->chosen[most] = 12345; /* must stay */
        const size_t count = in->structure->parts_of(in->shape, in->length, y, in->chosen);
        assert_true(count <= most);
        assert_int_equal(in->chosen[most], 12345);
        for (size_t i = 0; i < count; i++)
            assert_true(in->chosen[i] < in->parts);
        /* the (row, label) parts are those of y and no others, each once */
        for (size_t row = 0; row < in->length; row++)
            for (size_t l = 0; l < in->shape.labels; l++) {
                size_t found = 0;
                for (size_t i = 0; i < count; i++)
                    found += in->chosen[i] == row * in->shape.labels + l;
                assert_int_equal(found, (size_t)y[row] == l);
            }
    }
}

static void an_output_has_the_label_parts_of_its_rows(void **state)
{
    (void)state;
    for_every_input(check_parts);
}

static void check_costs(struct input *in, md_random *random)
{
    (void)random;
    double most = 0;
    for (size_t g = 0; g < in->outputs; g++)
        for (size_t o = 0; o < in->outputs; o++) {
            const double cost = cost_of(in, output_of(in, o), output_of(in, g));
            if (o == g)
                assert_true(cost == 0);
            else
                assert_true(cost > 0);
            most = fmax(most, cost);
        }
    assert_true(most == in->structure->most_cost(in->shape, in->length));
    assert_true(fabs(log((double)in->outputs) - in->structure->log_outputs(in->shape, in->length)) <
                EXACT);
}

static void costs_and_counts_are_those_of_the_list(void **state)
{
    (void)state;
    for_every_input(check_costs);
}

/* ---- decoding ---- */

static void check_decode(struct input *in, md_random *random)
{
    (void)random;
    int32_t best[LONGEST] = {-1, -1, -1};
    const double value =
        in->structure->decode(in->shape, in->length, in->score, best, &in->workspace);
    double most = -INFINITY;
    for (size_t o = 0; o < in->outputs; o++)
        most = fmax(most, score_of(in, output_of(in, o)));
    assert_true(fabs(value - most) < EXACT);
    assert_true(fabs(score_of(in, best) - most) < EXACT);
}

static void decoding_finds_an_output_of_the_highest_score(void **state)
{
    (void)state;
    for_every_input(check_decode);
}

static void check_equal_scores(struct input *in, md_random *random)
{
    (void)random;
    int32_t best[LONGEST] = {-1, -1, -1};
    memset(in->score, 0, in->parts * sizeof *in->score);
    in->structure->decode(in->shape, in->length, in->score, best, &in->workspace);
    for (size_t i = 0; i < in->length; i++)
        assert_int_equal(best[i], 0);
}

static void ties_go_to_the_smaller_label(void **state)
{
    (void)state;
    for_every_input(check_equal_scores);
}

static void check_decode_with_cost(struct input *in, md_random *random)
{
    int32_t worst[LONGEST] = {-1, -1, -1};
    const int32_t *gold = output_of(in, md_random_below(random, in->outputs));
    const double value = in->structure->decode_with_cost(in->shape, in->length, in->score, gold,
                                                         worst, &in->workspace);
    double most = -INFINITY;
    for (size_t o = 0; o < in->outputs; o++)
        most = fmax(most, score_of(in, output_of(in, o)) + cost_of(in, output_of(in, o), gold));
    assert_true(fabs(value - most) < EXACT);
    assert_true(fabs(score_of(in, worst) + cost_of(in, worst, gold) - most) < EXACT);
}

static void decoding_with_cost_finds_the_worst_violation(void **state)
{
    (void)state;
    for_every_input(check_decode_with_cost);
}

/* ---- sums over all outputs ---- */

static void check_log_partition(struct input *in, md_random *random)
{
    (void)random;
    float *marginal = md_calloc(in->parts, sizeof *marginal);
    double *expected = md_calloc(in->parts, sizeof *expected);
    assert_non_null(marginal);
    assert_non_null(expected);
    const double value =
        in->structure->log_partition(in->shape, in->length, in->score, marginal, &in->workspace);
    double sum = 0;
    for (size_t o = 0; o < in->outputs; o++)
        sum += exp(score_of(in, output_of(in, o)));
    for (size_t o = 0; o < in->outputs; o++) {
        const double probability = exp(score_of(in, output_of(in, o))) / sum;
        const size_t count =
            in->structure->parts_of(in->shape, in->length, output_of(in, o), in->chosen);
        for (size_t i = 0; i < count; i++)
            expected[in->chosen[i]] += probability;
    }
    assert_true(fabs(value - log(sum)) < 1e-6);
    for (size_t p = 0; p < in->parts; p++)
        assert_true(fabs((double)marginal[p] - expected[p]) < MARGINAL);
    free(marginal);
    free(expected);
}

static void log_partition_and_marginals_are_those_of_the_list(void **state)
{
    (void)state;
    for_every_input(check_log_partition);
}

static void check_gradient(struct input *in, md_random *random)
{
    (void)random;
    float *marginal = md_calloc(2 * in->parts, sizeof *marginal);
    assert_non_null(marginal);
    in->structure->log_partition(in->shape, in->length, in->score, marginal, &in->workspace);
    for (size_t p = 0; p < in->parts; p++) {
        const float old = in->score[p];
        const float up = old + 0.01f;
        const float down = old - 0.01f;
        in->score[p] = up;
        const double above = in->structure->log_partition(in->shape, in->length, in->score,
                                                          marginal + in->parts, &in->workspace);
        in->score[p] = down;
        const double below = in->structure->log_partition(in->shape, in->length, in->score,
                                                          marginal + in->parts, &in->workspace);
        in->score[p] = old;
        const double slope = (above - below) / ((double)up - (double)down);
        assert_true(fabs(slope - (double)marginal[p]) < 1e-4); /* 0.01^2 times curvature */
    }
    free(marginal);
}

static void marginals_are_the_gradient_of_the_log_partition(void **state)
{
    (void)state;
    for_every_input(check_gradient);
}

static void check_huge_scores(struct input *in, md_random *random)
{
    float *marginal = md_calloc(in->parts, sizeof *marginal);
    assert_non_null(marginal);
    for (size_t p = 0; p < in->parts; p++)
        in->score[p] = (float)(1e4 * md_random_normal(random));
    int32_t best[LONGEST];
    const double most =
        in->structure->decode(in->shape, in->length, in->score, best, &in->workspace);
    const double value =
        in->structure->log_partition(in->shape, in->length, in->score, marginal, &in->workspace);
    assert_true(value >= most - 1e-2);
    assert_true(value <= most + log((double)in->outputs) + 1e-2);
    for (size_t p = 0; p < in->parts; p++)
        assert_true(marginal[p] >= 0 && (double)marginal[p] <= (double)in->length + 1e-4);
    free(marginal);
}

static void huge_scores_do_not_overflow(void **state)
{
    (void)state;
    for_every_input(check_huge_scores);
}

/* ---- the registry ---- */

static void structures_are_found_by_name(void **state)
{
    (void)state;
    for (size_t s = 0; md_structures[s] != NULL; s++) {
        assert_ptr_equal(md_structure_find(md_structures[s]->name), md_structures[s]);
        assert_true(strlen(md_structures[s]->summary) > 0);
    }
    assert_null(md_structure_find("no such structure"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_output_has_the_label_parts_of_its_rows),
        cmocka_unit_test(costs_and_counts_are_those_of_the_list),
        cmocka_unit_test(decoding_finds_an_output_of_the_highest_score),
        cmocka_unit_test(ties_go_to_the_smaller_label),
        cmocka_unit_test(decoding_with_cost_finds_the_worst_violation),
        cmocka_unit_test(log_partition_and_marginals_are_those_of_the_list),
        cmocka_unit_test(marginals_are_the_gradient_of_the_log_partition),
        cmocka_unit_test(huge_scores_do_not_overflow),
        cmocka_unit_test(structures_are_found_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
