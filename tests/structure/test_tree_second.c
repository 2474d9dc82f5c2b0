/* SPDX-License-Identifier: BSD-3-Clause */
/* Trees of some heads only, and of second order: parts by their definition, trees and sums against
 * the list of all trees. */
#include "structure/tree_case.h"

enum { LONGEST = 5, TRIES = 12 };

/* Some heads for each word, so that there is a tree: word 1 hangs from the root and the others from
 * a word to their left in one of them, whatever else is drawn. */
static md_heads *draw_heads(size_t length, bool all, bool second, md_random *random)
{
    const size_t start[] = {0, length};
    size_t first[LONGEST * 2 + 1] = {0};
    uint16_t head[LONGEST * 2 * (LONGEST * 2 + 1)];
    md_heads *heads = NULL;
    for (size_t m = 1; m <= length; m++) {
        const size_t sure = m == 1 ? 0 : 1 + md_random_below(random, m - 1);
        first[m] = first[m - 1];
        for (size_t h = 0; h <= length; h++)
            if (h != m && (all || h == sure || md_random_below(random, 2) == 0))
                head[first[m]++] = (uint16_t)h;
    }
    assert_int_equal(md_heads_create(&heads, start, 1, first, head, second, NULL), MEDLEY_OK);
    return heads;
}

static bool has_head(const md_heads *heads, size_t m, size_t h)
{
    const md_sentence sentence = md_heads_sentence(heads, 0, heads->rows);
    return md_sentence_arc(&sentence, m, h) != SIZE_MAX;
}

/* Only trees of the heads stay in the list. */
static void keep_possible(struct input *in)
{
    size_t kept = 0;
    for (size_t o = 0; o < in->outputs; o++) {
        const int32_t *y = output_of(in, o);
        bool possible = true;
        for (size_t i = 0; i < in->length; i++)
            possible = possible && has_head(in->shape.heads, i + 1, (size_t)y[i]);
        if (possible)
            memmove(in->output + kept++ * in->length, y, in->length * sizeof *y);
    }
    in->outputs = kept;
}

struct draw {
    struct input in;
    md_heads *heads;
    md_random random;
};

static struct draw make_draw(size_t shape, size_t length, bool all, bool second, uint64_t seed)
{
    struct draw draw = {0};
    md_random_seed(&draw.random, 1000 * seed + 10 * length + shape);
    draw.heads = draw_heads(length, all, second, &draw.random);
    md_shape with = tree_shape(shape);
    with.heads = draw.heads;
    with.order = second ? 2 : 0;
    with.pruned = true;
    draw.in = input_make(md_structure_find("tree"), with, length);
    input_draw(&draw.in, &draw.random, false, 0.5);
    input_list_outputs(&draw.in);
    keep_possible(&draw.in);
    return draw;
}

static void clear_draw(struct draw *draw)
{
    input_clear(&draw->in);
    md_heads_free(draw->heads);
}

static double best_of_list(struct input *in)
{
    double most = -INFINITY;
    for (size_t o = 0; o < in->outputs; o++)
        most = fmax(most, score_of(in, output_of(in, o)));
    return most;
}

static bool is_possible(const struct input *in, const int32_t *y)
{
    bool possible = is_tree(in->shape, in->length, y);
    for (size_t i = 0; possible && i < in->length; i++)
        possible = has_head(in->shape.heads, i + 1, (size_t)y[i]);
    return possible;
}

/* ---- parts ---- */

/* Does the tree have this part, by the definition of heads.h? */
static bool has_triple(const int32_t *y, size_t length, md_triple part, bool grand)
{
    const size_t h = part.head;
    const size_t m = part.word;
    const size_t t = part.third;
    if ((size_t)y[m - 1] != h)
        return false;
    if (grand)
        return h > 0 && (size_t)y[h - 1] == t && t != m;
    const bool right = h < m;
    if (t != MD_NO_SIBLING && t <= length && ((size_t)y[t - 1] != h || (h < t) != right))
        return false;
    for (size_t i = 1; i <= length; i++) {
        if (i == m || (size_t)y[i - 1] != h || (h < i) != right)
            continue;
        const bool nearer = right ? i < m : i > m;
        if (t == length + 1 && !nearer)
            return false; /* m is not the last */
        if (t == MD_NO_SIBLING && nearer)
            return false; /* nor the first */
        if (t != MD_NO_SIBLING && t <= length && nearer && (right ? i > t : i < t))
            return false; /* one between them */
    }
    return t == MD_NO_SIBLING || t == length + 1 || (right ? t < m : t > m);
}

static void check_parts(struct draw *draw)
{
    struct input *in = &draw->in;
    const md_sentence sentence = md_heads_sentence(draw->heads, 0, in->length);
    const size_t arcs = in->length * (in->length + 1);
    assert_int_equal(in->parts, arcs + sentence.siblings + sentence.grands);
    for (size_t o = 0; o < in->outputs; o++) {
        const int32_t *y = output_of(in, o);
        const size_t count = in->structure->parts_of(in->shape, in->length, y, in->chosen);
        size_t expected = in->length;
        for (size_t p = arcs; p < in->parts; p++) {
            const bool grand = p >= arcs + sentence.siblings;
            const md_triple part =
                grand ? sentence.grand[p - arcs - sentence.siblings] : sentence.sibling[p - arcs];
            size_t found = 0;
            for (size_t i = 0; i < count; i++)
                found += in->chosen[i] == p;
            assert_int_equal(found, has_triple(y, in->length, part, grand));
            expected += found;
        }
        assert_int_equal(count, expected);
    }
}

static void trees_have_the_siblings_and_grandparents_of_their_words(void **state)
{
    (void)state;
    for (size_t i = 0; i < 2 * LONGEST * TRIES; i++) {
        struct draw draw = make_draw(i % 2, i / 2 % LONGEST + 1, i % 3 == 0, true, i);
        check_parts(&draw);
        clear_draw(&draw);
    }
}

static void parts_are_counted_before_they_are_made(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= TRIES; seed++) {
        struct draw draw = make_draw(0, LONGEST, false, true, seed);
        uint32_t scratch[2 * (LONGEST + 1)];
        assert_int_equal(
            md_heads_count_parts(LONGEST, draw.heads->first, draw.heads->head, scratch),
            draw.heads->most_siblings + draw.heads->most_grands);
        assert_int_equal(
            draw.in.structure->part_count(md_shape_at(draw.in.shape, MD_ANY_ROW), LONGEST),
            draw.in.parts);
        clear_draw(&draw);
    }
}

/* ---- best trees ---- */

static void arcs_that_words_cannot_have_are_in_no_tree(void **state)
{
    (void)state;
    for (size_t i = 0; i < SHAPES * LONGEST * TRIES; i++) {
        struct draw draw = make_draw(i % SHAPES, i / SHAPES % LONGEST + 1, false, false, i);
        struct input *in = &draw.in;
        int32_t best[LONGEST];
        if (in->outputs > 0) {
            const double value = decode(in, NULL, best);
            assert_true(is_possible(in, best));
            assert_true(fabs(value - best_of_list(in)) <= 1e-6);
        }
        clear_draw(&draw);
    }
}

/* Climbing is no proof, but on sentences as short as these it hardly misses. */
static void climbing_finds_nearly_always_the_best_tree(void **state)
{
    (void)state;
    size_t tried = 0;
    size_t found = 0;
    for (size_t i = 0; i < SHAPES * LONGEST * TRIES; i++) {
        struct draw draw = make_draw(i % SHAPES, i / SHAPES % LONGEST + 1, i % 3 == 0, true, i);
        struct input *in = &draw.in;
        int32_t best[LONGEST];
        if (in->outputs > 0) {
            const double value = decode(in, NULL, best);
            const double most = best_of_list(in);
            assert_true(is_possible(in, best));
            assert_true(fabs(value - score_of(in, best)) <= 1e-6);
            assert_true(value <= most + 1e-6);
            tried++;
            found += value >= most - 1e-6;
        }
        clear_draw(&draw);
    }
    assert_true(tried > SHAPES * LONGEST * TRIES / 2);
    assert_true((double)found >= 0.98 * (double)tried);
}

static void costs_make_no_tree_worse_than_the_right_one(void **state)
{
    (void)state;
    size_t missed = 0;
    for (size_t i = 0; i < 2 * LONGEST * TRIES; i++) {
        struct draw draw = make_draw(i % 2, i / 2 % LONGEST + 1, false, true, i + 500);
        struct input *in = &draw.in;
        int32_t worst[LONGEST];
        const int32_t *gold = output_of(in, md_random_below(&draw.random, in->outputs));
        double most = -INFINITY;
        const double value = in->structure->decode_with_cost(in->shape, in->length, in->score, gold,
                                                             worst, &in->workspace);
        for (size_t o = 0; o < in->outputs; o++)
            most =
                fmax(most, score_of(in, output_of(in, o)) +
                               in->structure->cost(in->shape, in->length, output_of(in, o), gold));
        assert_true(is_possible(in, worst));
        assert_true(value >= score_of(in, gold) - 1e-6);
        assert_true(value <= most + 1e-5);
        missed += value < most - 1e-5;
        clear_draw(&draw);
    }
    assert_true(missed <= 2);
}

static void one_sentence_has_one_tree(void **state)
{
    (void)state;
    enum { WORDS = 2 * LONGEST };
    for (size_t shape = 0; shape < 2; shape++) {
        md_random random;
        md_random_seed(&random, 77 + shape);
        md_heads *heads = draw_heads(WORDS, false, true, &random);
        md_shape with = tree_shape(shape);
        with.heads = heads;
        struct input in = input_make(md_structure_find("tree"), with, WORDS);
        int32_t best[2][WORDS];
        input_draw(&in, &random, false, 1);
        const double value = decode(&in, NULL, best[0]);
        assert_true(decode(&in, NULL, best[1]) == value);
        assert_memory_equal(best[0], best[1], sizeof best[0]);
        assert_true(is_possible(&in, best[0]));
        input_clear(&in);
        md_heads_free(heads);
    }
}

static void the_best_few_are_different_trees(void **state)
{
    (void)state;
    enum { WANTED = 6 };
    for (uint64_t seed = 1; seed <= TRIES; seed++) {
        struct draw draw = make_draw(0, LONGEST, true, true, seed);
        struct input *in = &draw.in;
        int32_t outputs[WANTED * LONGEST];
        double values[WANTED];
        assert_int_equal(md_workspace_reserve(&in->workspace, in->structure->best_workspace_size(
                                                                  in->shape, in->length, WANTED)),
                         0);
        const size_t count = in->structure->decode_best(in->shape, in->length, in->score, WANTED,
                                                        outputs, values, &in->workspace);
        assert_int_equal(count, WANTED);
        for (size_t i = 0; i < count; i++) {
            const int32_t *y = outputs + i * in->length;
            assert_true(is_possible(in, y));
            assert_true(fabs(values[i] - score_of(in, y)) <= 1e-6);
            for (size_t j = 0; j < i; j++)
                assert_true(memcmp(y, outputs + j * in->length, in->length * sizeof *y) != 0);
        }
        clear_draw(&draw);
    }
}

/* ---- sums ---- */

static double log_sum_of_list(struct input *in)
{
    const double most = best_of_list(in);
    double sum = 0;
    for (size_t o = 0; o < in->outputs; o++)
        sum += exp(score_of(in, output_of(in, o)) - most);
    return most + log(sum);
}

static void sums_of_arcs_are_exact(void **state)
{
    (void)state;
    for (size_t i = 0; i < 2 * LONGEST * TRIES; i++) {
        struct draw draw = make_draw(i % 2, i / 2 % LONGEST + 1, false, i % 4 == 3, i);
        struct input *in = &draw.in;
        float *marginal = floats(in->parts);
        for (size_t p = in->length * (in->length + 1); p < in->parts; p++)
            in->score[p] = 0; /* of second order */
        assert_true(fabs(log_partition(in, marginal) - log_sum_of_list(in)) <= 1e-5);
        free(marginal);
        clear_draw(&draw);
    }
}

/* What is told as the sum has the marginals as its slopes, exact or not. */
static void marginals_are_the_slopes_of_the_sum(void **state)
{
    (void)state;
    const float step = 0.01F;
    for (uint64_t seed = 1; seed <= TRIES; seed++) {
        struct draw draw = make_draw(seed % 2, LONGEST, seed % 3 == 0, true, seed);
        struct input *in = &draw.in;
        float *marginal = floats(in->parts);
        float *other = floats(in->parts);
        log_partition(in, marginal);
        for (size_t p = 0; p < in->parts; p++) {
            const float score = in->score[p];
            in->score[p] = score + step;
            const double above = log_partition(in, other);
            in->score[p] = score - step;
            const double below = log_partition(in, other);
            in->score[p] = score;
            assert_true(fabs((above - below) / (2 * (double)step) - (double)marginal[p]) <= 6e-3);
        }
        free(marginal);
        free(other);
        clear_draw(&draw);
    }
}

/* Near the true sum where scores of second order are small. */
static void a_weak_field_is_nearly_exact(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= TRIES; seed++) {
        struct draw draw = make_draw(seed % 2, LONGEST, false, true, seed);
        struct input *in = &draw.in;
        float *marginal = floats(in->parts);
        for (size_t p = in->length * (in->length + 1); p < in->parts; p++)
            in->score[p] *= 0.1F;
        assert_true(fabs(log_partition(in, marginal) - log_sum_of_list(in)) <= 0.08);
        free(marginal);
        clear_draw(&draw);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(trees_have_the_siblings_and_grandparents_of_their_words),
        cmocka_unit_test(parts_are_counted_before_they_are_made),
        cmocka_unit_test(arcs_that_words_cannot_have_are_in_no_tree),
        cmocka_unit_test(climbing_finds_nearly_always_the_best_tree),
        cmocka_unit_test(costs_make_no_tree_worse_than_the_right_one),
        cmocka_unit_test(one_sentence_has_one_tree),
        cmocka_unit_test(the_best_few_are_different_trees),
        cmocka_unit_test(sums_of_arcs_are_exact),
        cmocka_unit_test(marginals_are_the_slopes_of_the_sum),
        cmocka_unit_test(a_weak_field_is_nearly_exact),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
