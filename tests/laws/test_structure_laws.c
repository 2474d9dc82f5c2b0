/* SPDX-License-Identifier: BSD-3-Clause */
/* Laws of every structure in the registry, for every shape of its outputs: on inputs so small that
 * all outputs can be listed, decoding (also with labels that are given, with costs, and of the best
 * few), log-partition and marginals equal what the list says. */
#include "structure/structure_case.h"

enum { LONGEST = 4, LABELS_MOST = 4, SEEDS = 6, WANTED_MOST = 20 };
static const double EXACT = 1e-9;    /* sums of a few doubles, relative to the scores */
static const double ROUNDED = 2e-6;  /* sums of a few floats, relative to the scores */
static const double MARGINAL = 3e-6; /* marginals are single precision */

static double cost_of(const struct input *in, const int32_t *y, const int32_t *gold)
{
    return in->structure->cost(in->shape, in->length, y, gold);
}

typedef void law(struct input *in, md_random *random);

static void for_every_score(struct input *in, law *check)
{
    static const double scales[] = {1, 1, 50, 1000};
    for (size_t scale = 0; scale < sizeof scales / sizeof *scales; scale++)
        for (uint64_t seed = 1; seed <= SEEDS; seed++) {
            md_random random;
            md_random_seed(&random, seed + 100 * scale);
            input_draw(in, &random, seed % 2 == 0, scales[scale]);
            check(in, &random);
        }
}

static void check_input(const md_structure *structure, md_shape shape, size_t length, law *check)
{
    struct input in = input_make(structure, shape, length);
    input_list_outputs(&in);
    for_every_score(&in, check);
    input_clear(&in);
}

static void for_every_input(law *check)
{
    for (size_t s = 0; md_structures[s] != NULL; s++) {
        const bool trees = of_trees(md_structures[s]);
        for (size_t i = 0; i < (size_t)4 * LONGEST && trees; i++) {
            const md_shape shape = {.many_roots = i % 2 == 1, .projective = i / 2 % 2 == 1};
            check_input(md_structures[s], shape, i / 4 + 1, check);
        }
        for (size_t i = 0; i < (size_t)3 * 4 * LABELS_MOST * LONGEST && !trees; i++) {
            const md_shape shape = {.labels = i / 12 % LABELS_MOST + 1,
                                    .order = i % 3,
                                    .local_pairs = i / 3 % 2 == 1,
                                    .ends = i / 6 % 2 == 1};
            check_input(md_structures[s], shape, i / 12 / LABELS_MOST + 1, check);
        }
    }
}

/* ---- parts and costs ---- */

static void check_parts(struct input *in, md_random *random)
{
    (void)random;
    const size_t most = in->structure->parts_per_output(in->shape, in->length);
    size_t same = 0;
    assert_true(in->parts >= in->length * in->width);
    for (size_t o = 0; o < in->outputs; o++) {
        const int32_t *y = output_of(in, o);
        in->chosen[most] = 12345; /* must stay */
        const size_t count = in->structure->parts_of(in->shape, in->length, y, in->chosen);
        assert_true(count <= most);
        assert_true(o == 0 || count == same);
        same = count;
        assert_int_equal(in->chosen[most], 12345);
        for (size_t i = 0; i < count; i++)
            assert_true(in->chosen[i] < in->parts);
        /* the (row, label) parts are those of y and no others, each once */
        for (size_t row = 0; row < in->length; row++)
            for (size_t l = 0; l < in->width; l++) {
                size_t found = 0;
                for (size_t i = 0; i < count; i++)
                    found += in->chosen[i] == row * in->width + l;
                assert_int_equal(found, (size_t)y[row] == l);
            }
    }
}

static void an_output_has_the_label_parts_of_its_rows(void **state)
{
    (void)state;
    for_every_input(check_parts);
}

/* What a part of output y must be, by its kind, the row of its group and its place in the group. */
static void check_part(const struct input *in, const int32_t *y, md_part_kind kind, size_t row,
                       size_t place)
{
    const size_t labels = in->width;
    const int32_t label = (int32_t)(place % labels);
    if (kind == MD_ROW_PARTS)
        assert_int_equal(y[row], label);
    if (kind == MD_PAIR_PARTS && in->shape.local_pairs) {
        assert_int_equal(y[row], label);
        assert_int_equal(y[row - 1], (int32_t)(place / labels));
    }
    if (kind == MD_END_PARTS)
        assert_int_equal(y[place < labels ? 0 : in->length - 1], label);
}

/* Groups of all kinds cover all parts, each once; how often they occur is as it must be. */
static void check_groups(struct input *in, md_random *random)
{
    const size_t rows = in->length;
    size_t parts = 0;
    size_t listed = 0;
    const int32_t *y = output_of(in, md_random_below(random, in->outputs));
    const size_t count = in->structure->parts_of(in->shape, rows, y, in->chosen);
    for (md_part_kind kind = MD_ROW_PARTS; kind < MD_PART_KINDS; kind++) {
        const md_groups groups = in->structure->groups(in->shape, rows, kind);
        size_t found = 0;
        parts += groups.count * groups.width;
        for (size_t i = 0; i < count; i++) {
            const size_t place = in->chosen[i] - groups.first;
            if (groups.count == 0 || in->chosen[i] < groups.first ||
                place >= groups.count * groups.width)
                continue;
            found++;
            check_part(in, y, kind, groups.row + place / groups.width, place % groups.width);
        }
        listed += found;
        if (groups.count > 1)
            assert_int_equal(groups.row + groups.count, rows);
        if (groups.count == 0)
            continue;
        if (kind == MD_ROW_PARTS)
            assert_true(groups.first == 0 && groups.width == in->width && found == rows);
        if (kind == MD_PAIR_PARTS)
            assert_true(found == rows - 1);
        if (kind == MD_TRIPLE_PARTS)
            assert_true(found == (rows < 2 ? 0 : rows - 2));
        if (kind == MD_END_PARTS)
            assert_true(found == 2 && groups.width == 2 * in->shape.labels);
    }
    assert_int_equal(parts, in->parts);
    assert_int_equal(listed, count);
}

static void groups_tell_where_the_parts_of_outputs_lie(void **state)
{
    (void)state;
    for_every_input(check_groups);
}

/* The largest cost of any output where this one is right. */
static double most_cost_at(struct input *in, size_t g)
{
    double most = 0;
    for (size_t o = 0; o < in->outputs; o++) {
        const double cost = cost_of(in, output_of(in, o), output_of(in, g));
        if (o == g)
            assert_true(cost == 0);
        else
            assert_true(cost > 0);
        most = fmax(most, cost);
    }
    return most;
}

/* Words that all hang from the root are never all wrong: some outputs are wrong by less. */
static void check_costs(struct input *in, md_random *random)
{
    const size_t first = md_random_below(random, in->outputs);
    const double bound = in->structure->most_cost(in->shape, in->length);
    double most = 0;
    for (size_t i = 0; i < in->outputs && (i == 0 || most < bound); i++)
        most = fmax(most, most_cost_at(in, (first + i) % in->outputs));
    assert_true(most == bound);
    assert_true(fabs(log((double)in->outputs) - in->structure->log_outputs(in->shape, in->length)) <
                EXACT);
}

static void costs_and_counts_are_those_of_the_list(void **state)
{
    (void)state;
    for_every_input(check_costs);
}

/* ---- decoding ---- */

static bool agrees(const struct input *in, const int32_t *y, const int32_t *given)
{
    for (size_t i = 0; i < in->length && given != NULL; i++)
        if (given[i] >= 0 && given[i] != y[i])
            return false;
    return true;
}

static bool is_listed(const struct input *in, const int32_t *y)
{
    for (size_t o = 0; o < in->outputs; o++)
        if (memcmp(output_of(in, o), y, in->length * sizeof *y) == 0)
            return true;
    return false;
}

static void compare_decode(struct input *in, const int32_t *given)
{
    int32_t best[LONGEST] = {-1, -1, -1, -1};
    const double value =
        in->structure->decode(in->shape, in->length, in->score, given, best, &in->workspace);
    double most = -INFINITY;
    for (size_t o = 0; o < in->outputs; o++)
        if (agrees(in, output_of(in, o), given))
            most = fmax(most, score_of(in, output_of(in, o)));
    assert_true(agrees(in, best, given));
    assert_true(is_listed(in, best));
    assert_true(fabs(value - score_of(in, best)) <= EXACT * (double)in->largest);
    assert_true(fabs(value - most) <= ROUNDED * (double)in->largest);
}

static void check_decode(struct input *in, md_random *random)
{
    int32_t given[LONGEST];
    compare_decode(in, NULL);
    for (int some = 0; some < 4; some++) {
        const int32_t *y = output_of(in, md_random_below(random, in->outputs));
        for (size_t i = 0; i < in->length; i++)
            given[i] = md_random_below(random, 2) == 0 ? -1 : y[i];
        compare_decode(in, given);
    }
}

static void decoding_finds_an_output_of_the_highest_score(void **state)
{
    (void)state;
    for_every_input(check_decode);
}

static void check_equal_scores(struct input *in, md_random *random)
{
    (void)random;
    int32_t best[LONGEST] = {-1, -1, -1, -1};
    if (of_trees(in->structure)) /* where that would seldom be a tree */
        return;
    memset(in->score, 0, in->parts * sizeof *in->score);
    in->structure->decode(in->shape, in->length, in->score, NULL, best, &in->workspace);
    for (size_t i = 0; i < in->length; i++)
        assert_int_equal(best[i], 0);
}

static void ties_go_to_the_smaller_label(void **state)
{
    (void)state;
    for_every_input(check_equal_scores);
}

static int falling(const void *a, const void *b)
{
    const double x = *(const double *)a;
    const double y = *(const double *)b;
    return (x < y) - (x > y);
}

static void check_decode_best(struct input *in, md_random *random)
{
    int32_t outputs[WANTED_MOST * LONGEST];
    double values[WANTED_MOST];
    const size_t wanted = 1 + md_random_below(random, WANTED_MOST);
    double *sorted = md_calloc(in->outputs, sizeof *sorted);
    assert_non_null(sorted);
    assert_int_equal(md_workspace_reserve(&in->workspace, in->structure->best_workspace_size(
                                                              in->shape, in->length, wanted)),
                     0);
    const size_t count = in->structure->decode_best(in->shape, in->length, in->score, wanted,
                                                    outputs, values, &in->workspace);
    for (size_t o = 0; o < in->outputs; o++)
        sorted[o] = score_of(in, output_of(in, o));
    qsort(sorted, in->outputs, sizeof *sorted, falling);
    assert_int_equal(count, wanted < in->outputs ? wanted : in->outputs);
    for (size_t i = 0; i < count; i++) {
        const int32_t *y = outputs + i * in->length;
        assert_true(fabs(values[i] - sorted[i]) <= EXACT * (double)in->largest);
        assert_true(fabs(values[i] - score_of(in, y)) <= EXACT * (double)in->largest);
        assert_true(is_listed(in, y));
        for (size_t j = 0; j < i; j++)
            assert_true(memcmp(y, outputs + j * in->length, in->length * sizeof *y) != 0);
    }
    free(sorted);
}

static void the_best_few_are_those_of_the_list(void **state)
{
    (void)state;
    for_every_input(check_decode_best);
}

static void check_decode_with_cost(struct input *in, md_random *random)
{
    int32_t worst[LONGEST] = {-1, -1, -1, -1};
    const int32_t *gold = output_of(in, md_random_below(random, in->outputs));
    const double value = in->structure->decode_with_cost(in->shape, in->length, in->score, gold,
                                                         worst, &in->workspace);
    const double slack = fmax((double)in->largest, 1);
    double most = -INFINITY;
    for (size_t o = 0; o < in->outputs; o++)
        most = fmax(most, score_of(in, output_of(in, o)) + cost_of(in, output_of(in, o), gold));
    assert_true(is_listed(in, worst));
    assert_true(fabs(value - most) <= ROUNDED * slack);
    assert_true(fabs(score_of(in, worst) + cost_of(in, worst, gold) - value) <= EXACT * slack);
}

static void decoding_with_cost_finds_the_worst_violation(void **state)
{
    (void)state;
    for_every_input(check_decode_with_cost);
}

/* ---- sums over all outputs ---- */

/* How often each part is expected, from the list; returns the log-partition. */
static double expect(struct input *in, double *expected)
{
    double most = -INFINITY;
    double sum = 0;
    for (size_t o = 0; o < in->outputs; o++)
        most = fmax(most, score_of(in, output_of(in, o)));
    for (size_t o = 0; o < in->outputs; o++)
        sum += exp(score_of(in, output_of(in, o)) - most);
    for (size_t o = 0; o < in->outputs; o++) {
        const double probability = exp(score_of(in, output_of(in, o)) - most) / sum;
        const size_t count =
            in->structure->parts_of(in->shape, in->length, output_of(in, o), in->chosen);
        for (size_t i = 0; i < count; i++)
            expected[in->chosen[i]] += probability;
    }
    return most + log(sum);
}

static void check_log_partition(struct input *in, md_random *random)
{
    (void)random;
    float *marginal = md_calloc(in->parts, sizeof *marginal);
    double *expected = md_calloc(in->parts, sizeof *expected);
    assert_non_null(marginal);
    assert_non_null(expected);
    for (size_t p = 0; p < in->parts; p++)
        marginal[p] = 99; /* what was there must not matter */
    const double value =
        in->structure->log_partition(in->shape, in->length, in->score, marginal, &in->workspace);
    assert_true(fabs(value - expect(in, expected)) < 1e-6 + 1e-7 * (double)in->largest);
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
    if (in->largest > 20) /* there the slopes are steps */
        return;
    float *marginal = md_calloc(2 * in->parts, sizeof *marginal);
    assert_non_null(marginal);
    in->structure->log_partition(in->shape, in->length, in->score, marginal, &in->workspace);
    for (int some = 0; some < 10; some++) {
        const size_t p = md_random_below(random, in->parts);
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
        assert_true(fabs(slope - (double)marginal[p]) < 2e-4); /* 0.01^2 times curvature */
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
        in->structure->decode(in->shape, in->length, in->score, NULL, best, &in->workspace);
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
        cmocka_unit_test(groups_tell_where_the_parts_of_outputs_lie),
        cmocka_unit_test(costs_and_counts_are_those_of_the_list),
        cmocka_unit_test(decoding_finds_an_output_of_the_highest_score),
        cmocka_unit_test(ties_go_to_the_smaller_label),
        cmocka_unit_test(the_best_few_are_those_of_the_list),
        cmocka_unit_test(decoding_with_cost_finds_the_worst_violation),
        cmocka_unit_test(log_partition_and_marginals_are_those_of_the_list),
        cmocka_unit_test(marginals_are_the_gradient_of_the_log_partition),
        cmocka_unit_test(huge_scores_do_not_overflow),
        cmocka_unit_test(structures_are_found_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
