/* SPDX-License-Identifier: BSD-3-Clause */
/* Features of siblings, grandparents and single items of FEATS: two parts have the same one exactly
 * where texts put together in the plain way are the same; and weights of some heads or parts are
 * those of all, looked up one by one. */
#include "feature/arc_case.h"

#include "block/arc_weights.h"

enum { SENTENCES = 12, LONGEST = 7, BITS = 9 };

static const char *const feats[] = {"_",
                                    "Case=Dat",
                                    "Case=Acc|Number=Sing",
                                    "Number=Sing|Case=Acc",
                                    "Number=Plur",
                                    "Abbr|Case=Dat|Gender=Fem",
                                    "Case=DatNumber=Sing"};

struct given {
    md_random random;
    medley_dataset *dataset;
    md_arc_templates *templates;
    md_arcs *arcs;
    md_heads *heads;
};

static struct given make_given(const char *text, uint64_t seed)
{
    struct given given = {0};
    size_t *first;
    uint16_t *head;
    size_t used = 0;
    md_random_seed(&given.random, seed);
    given.dataset = arc_dataset(&given.random, SENTENCES, LONGEST);
    const medley_dataset *data = given.dataset;
    for (size_t row = 0; row < data->rows; row++)
        case_set(given.dataset, row, ARC_FEATS,
                 feats[md_random_below(&given.random, sizeof feats / sizeof *feats)]);
    assert_int_equal(md_arc_templates_parse(&given.templates, text, "test", NULL), MEDLEY_OK);
    const md_arc_source source = {.dataset = data, .count = SENTENCES, .tags = MD_ARC_UPOS};
    assert_int_equal(md_arcs_create(&given.arcs, given.templates, &source, 1, NULL), MEDLEY_OK);
    first = md_calloc(data->rows + 1, sizeof *first);
    head = md_calloc(data->rows * (LONGEST + 1), sizeof *head);
    assert_true(first != NULL && head != NULL);
    for (size_t s = 0; s < SENTENCES; s++) {
        const size_t row = data->sequence_start[s];
        const size_t words = data->sequence_start[s + 1] - row;
        for (size_t m = 1; m <= words; m++) {
            for (size_t h = 0; h <= words; h++)
                if (h != m && md_random_below(&given.random, 3) > 0)
                    head[used++] = (uint16_t)h;
            first[row + m] = used;
        }
    }
    assert_int_equal(
        md_heads_create(&given.heads, data->sequence_start, SENTENCES, first, head, true, NULL),
        MEDLEY_OK);
    free(first);
    free(head);
    return given;
}

static void clear_given(struct given *given)
{
    md_heads_free(given->heads);
    md_arcs_free(given->arcs);
    md_arc_templates_free(given->templates);
    medley_dataset_free(given->dataset);
}

/* ---- texts and features ---- */

struct pairs {
    char text[4000][120];
    uint32_t feature[4000];
    size_t count;
};

static void note(struct pairs *pairs, const char *text, uint32_t feature)
{
    for (size_t i = 0; i < pairs->count; i++)
        if ((strcmp(pairs->text[i], text) == 0) != (pairs->feature[i] == feature))
            fail_msg("'%s' and '%s'", pairs->text[i], text);
    if (pairs->count < sizeof pairs->feature / sizeof *pairs->feature) {
        snprintf(pairs->text[pairs->count], sizeof pairs->text[0], "%s", text);
        pairs->feature[pairs->count++] = feature;
    }
}

/* A field of a place: a word, the root, or what stands behind. */
static const char *word_text(const struct given *given, size_t s, size_t place, size_t column)
{
    const size_t *start = given->dataset->sequence_start + s;
    if (place == 0)
        return "<root>";
    return place > start[1] - start[0] ? "<end>"
                                       : arc_text(given->dataset, start[0] + place - 1, column);
}

static int side(size_t one, size_t other)
{
    return one < other;
}

static void siblings_and_grandparents_have_the_features_of_their_words(void **state)
{
    (void)state;
    struct given given = make_given("h.upos m.lemma s.form s.dist\ng.form h.upos m.xpos\n", 3);
    struct pairs *pairs = md_calloc(2, sizeof *pairs);
    assert_non_null(pairs);
    for (size_t s = 0; s < SENTENCES; s++) {
        const size_t row = given.dataset->sequence_start[s];
        const size_t words = given.dataset->sequence_start[s + 1] - row;
        const md_sentence sentence = md_heads_sentence(given.heads, row, words);
        for (size_t t = 0; t < 2; t++) {
            const md_arc_key key = md_arcs_key(given.arcs, s, t);
            const bool grand = t == 1;
            assert_int_equal(md_arc_templates_parts(given.templates, t),
                             grand ? MD_ARC_GRANDS : MD_ARC_SIBLINGS);
            for (size_t i = 0; i < (grand ? sentence.grands : sentence.siblings); i++) {
                const md_triple part = grand ? sentence.grand[i] : sentence.sibling[i];
                const size_t h = part.head, m = part.word, x = part.third;
                const size_t away = x == 0 || x > words ? 0 : x < m ? m - x : x - m;
                char text[400];
                if (t == 0)
                    snprintf(text, sizeof text, "%s %s %s %zu %d",
                             word_text(&given, s, h, ARC_UPOS), word_text(&given, s, m, ARC_LEMMA),
                             word_text(&given, s, x, ARC_FORM),
                             away > 4 ? (size_t)(away > 6 ? 7 : 5) : away, side(h, m));
                else
                    snprintf(text, sizeof text, "%s %s %s %d%d%d",
                             word_text(&given, s, x, ARC_FORM), word_text(&given, s, h, ARC_UPOS),
                             word_text(&given, s, m, ARC_XPOS), side(h, m), side(x, h), side(x, m));
                note(&pairs[t], text,
                     md_arc_triple_slot(&key, part, grand ? MD_ARC_GRANDS : MD_ARC_SIBLINGS, 0));
            }
        }
    }
    assert_true(pairs[0].count > 100 && pairs[1].count > 100);
    free(pairs);
    clear_given(&given);
}

/* ---- single features ---- */

static const char *value_of(const char *list, const char *name, char value[32])
{
    char copy[64];
    snprintf(copy, sizeof copy, "%s", list);
    for (char *item = strtok(copy, "|"); item != NULL; item = strtok(NULL, "|")) {
        const size_t length = strcspn(item, "=");
        if (length == strlen(name) && strncmp(item, name, length) == 0) {
            snprintf(value, 32, "%s", item + length);
            return value;
        }
    }
    return NULL;
}

static void items_of_feats_are_features_each(void **state)
{
    (void)state;
    static const char *const names[] = {"Case", "Number", "Gender", "Abbr"};
    struct given given = make_given("h.upos m.feats[]\nboth.feats[] dir\n", 5);
    struct pairs *pairs = md_calloc(2, sizeof *pairs);
    assert_non_null(pairs);
    assert_true(md_arc_templates_is_bag(given.templates, 0));
    for (size_t s = 0; s < SENTENCES; s++) {
        const size_t row = given.dataset->sequence_start[s];
        const size_t words = given.dataset->sequence_start[s + 1] - row;
        for (size_t m = 1; m <= words; m++)
            for (size_t h = 0; h <= words; h++) {
                const char *of_head = h > 0 ? word_text(&given, s, h, ARC_FEATS) : "_";
                const char *of_word = word_text(&given, s, m, ARC_FEATS);
                uint32_t slots[2][MD_ARC_MOST];
                size_t count[2];
                size_t expected[2] = {0};
                if (h == m)
                    continue;
                for (size_t t = 0; t < 2; t++) {
                    const md_arc_key key = md_arcs_key(given.arcs, s, t);
                    count[t] = md_arc_slots(slots[t], &key, m, h, 32);
                }
                for (size_t n = 0; n < 4; n++) {
                    char left[32], right[32];
                    const char *a = value_of(of_head, names[n], left);
                    const char *b = value_of(of_word, names[n], right);
                    expected[0] += b != NULL;
                    expected[1] += a != NULL || b != NULL;
                }
                assert_int_equal(count[0], expected[0]);
                assert_int_equal(count[1], expected[1]);
                if (count[0] == 1) /* which one it is can be told */
                    for (size_t n = 0; n < 4; n++) {
                        char text[200], right[32];
                        const char *b = value_of(of_word, names[n], right);
                        if (b == NULL)
                            continue;
                        snprintf(text, sizeof text, "%s %s%s", word_text(&given, s, h, ARC_UPOS),
                                 names[n], b);
                        note(&pairs[0], text, slots[0][0]);
                    }
                if (count[1] == 1)
                    for (size_t n = 0; n < 4; n++) {
                        char text[200], left[32], right[32];
                        const char *a = value_of(of_head, names[n], left);
                        const char *b = value_of(of_word, names[n], right);
                        if (a == NULL && b == NULL)
                            continue;
                        snprintf(text, sizeof text, "%s %s %s %d", names[n], a ? a : "no",
                                 b ? b : "no", side(h, m));
                        note(&pairs[1], text, slots[1][0]);
                    }
            }
    }
    assert_true(pairs[0].count > 20 && pairs[1].count > 20);
    free(pairs);
    clear_given(&given);
}

/* ---- weights ---- */

static void weights_of_some_parts_are_those_of_all(void **state)
{
    (void)state;
    struct given given = make_given("h.upos m.form dist\nh.upos m.feats[]\nm.upos between.upos\n"
                                    "m.upos s.upos crossed\ng.lemma h.lemma m.lemma\n",
                                    7);
    float weight[1 << BITS];
    for (size_t i = 0; i < sizeof weight / sizeof *weight; i++)
        weight[i] = (float)md_random_normal(&given.random);
    const md_arc_table table = {.weight = weight, .bits = BITS, .factor = 0.5F};
    for (size_t s = 0; s < SENTENCES; s++) {
        const size_t row = given.dataset->sequence_start[s];
        const size_t words = given.dataset->sequence_start[s + 1] - row;
        const md_sentence sentence = md_heads_sentence(given.heads, row, words);
        float *all = md_calloc(words * (words + 1), sizeof *all);
        float *some =
            md_calloc(words * (words + 1) + sentence.siblings + sentence.grands, sizeof *some);
        assert_true(all != NULL && some != NULL);
        for (size_t t = 0; t < 3; t++) {
            const md_arc_key key = md_arcs_key(given.arcs, s, t);
            md_arc_add_weights(all, &key, md_arc_all_words(&key), weight, BITS, 0.5F);
            md_arc_add_heads(some, &key, md_arc_all_words(&key), &sentence, &table);
        }
        for (size_t m = 1; m <= words; m++)
            for (size_t h = 0; h <= words; h++) {
                const size_t place = (m - 1) * (words + 1) + h;
                const bool has = h != m && md_sentence_arc(&sentence, m, h) != SIZE_MAX;
                assert_true(fabsf(some[place] - (has ? all[place] : 0)) <= 1e-5F);
            }
        for (size_t t = 3; t < 5; t++) {
            const md_arc_parts kind = t == 3 ? MD_ARC_SIBLINGS : MD_ARC_GRANDS;
            const md_triple *parts = t == 3 ? sentence.sibling : sentence.grand;
            const size_t count = t == 3 ? sentence.siblings : sentence.grands;
            const md_arc_key key = md_arcs_key(given.arcs, s, t);
            memset(some, 0, count * sizeof *some);
            md_arc_add_triples(some, &key, parts, count, kind, &table);
            for (size_t i = 0; i < count; i++)
                assert_true(some[i] ==
                            0.5F * weight[md_arc_triple_slot(&key, parts[i], kind, 32 - BITS)]);
        }
        free(all);
        free(some);
    }
    clear_given(&given);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(siblings_and_grandparents_have_the_features_of_their_words),
        cmocka_unit_test(items_of_feats_are_features_each),
        cmocka_unit_test(weights_of_some_parts_are_those_of_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
