/* SPDX-License-Identifier: BSD-3-Clause */
/* Tables of weights that arcs look up: whole numbers and halves of them against a look-up of each
 * feature, in sentences long enough to be cut into pieces, and the rounding of halves. */
#include "feature/arc_case.h"

#include "block/arc_weights.h"
#include <float.h>
#include <math.h>

enum { WORDS_MOST = 140, BEHIND = 8 };

/* What is beside an arc's own score in the order of parts. */
static double naive_score(const md_arc_key *key, size_t part, const float *weight, size_t bits)
{
    uint32_t features[ARC_FEATURES_MOST];
    uint32_t slots[MD_ARC_MOST];
    const size_t modifier = part / (key->length + 1) + 1;
    const size_t head = part % (key->length + 1);
    const size_t count = arc_features(key, head, modifier, features);
    double sum = 0;
    assert_int_equal(md_arc_slots(slots, key, modifier, head, bits), count);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(slots[i], features[i] >> (32 - bits));
        sum += (double)weight[features[i] >> (32 - bits)];
    }
    return sum;
}

static void compare_tables(const md_arc_key *key, size_t bits, md_random *random)
{
    const size_t slots = (size_t)1 << bits;
    const size_t parts = key->length * (key->length + 1);
    float *weight = md_calloc(2 * slots, sizeof *weight);
    float *rounded = weight + slots;
    uint16_t *half = md_calloc(slots, sizeof *half);
    float *score = md_calloc(2 * (parts + BEHIND), sizeof *score);
    float *half_score = score + parts + BEHIND;
    assert_true(weight != NULL && half != NULL && score != NULL);
    for (size_t i = 0; i < slots; i++) {
        weight[i] = (float)md_random_normal(random);
        half[i] = md_half_of_float(weight[i]);
        rounded[i] = md_float_of_half(half[i]);
    }
    for (size_t p = 0; p < 2 * (parts + BEHIND); p++)
        score[p] = 3;
    md_arc_add_weights(score, key, md_arc_all_words(key), weight, bits, -2.5f);
    md_arc_add_halves(half_score, key, half, bits);
    for (size_t p = 0; p < parts; p++) {
        const bool is_arc = p % (key->length + 1) != p / (key->length + 1) + 1;
        if (!is_arc)
            continue;
        assert_true(fabs((double)score[p] - (3 - 2.5 * naive_score(key, p, weight, bits))) < 1e-4);
        assert_true(fabs((double)half_score[p] - (3 + naive_score(key, p, rounded, bits))) < 1e-4);
    }
    for (size_t p = parts; p < parts + BEHIND; p++)
        assert_true(score[p] == 3 && half_score[p] == 3);
    free(weight);
    free(half);
    free(score);
}

static void every_arc_gets_the_weights_of_its_features(void **state)
{
    (void)state;
    static const size_t lengths[] = {1, 2, 13, 31, 32, 63, 64, WORDS_MOST};
    enum { SENTENCES = sizeof lengths / sizeof *lengths };
    md_random random;
    md_random_seed(&random, 5);
    size_t rows = 0;
    for (size_t s = 0; s < SENTENCES; s++)
        rows += lengths[s];
    medley_dataset *dataset = case_empty(rows, MD_ARC_COLUMNS);
    for (size_t row = 0; row < rows; row++)
        for (size_t c = 0; c < MD_ARC_COLUMNS; c++)
            case_set(dataset, row, c,
                     c == ARC_UPOS ? arc_tags[md_random_below(&random, ARC_TAGS)]
                                   : arc_forms[md_random_below(&random, ARC_FORMS)]);
    case_sequences(dataset, lengths, SENTENCES);
    md_arc_templates *templates = NULL;
    assert_int_equal(md_arc_templates_parse(&templates,
                                            "h.form m.form\nh.upos m.upos set.upos dist\n"
                                            "h-1.upos m.upos crossed between.upos\nbias\n",
                                            "lines", NULL),
                     MEDLEY_OK);
    const md_arc_source source = {.dataset = dataset, .count = SENTENCES, .tags = MD_ARC_UPOS};
    md_arcs *arcs = arc_create(templates, &source, 1);
    for (size_t s = 0; s < SENTENCES; s++)
        for (size_t t = 0; t < md_arc_templates_count(templates); t++)
            for (size_t bits = 1; bits <= 11; bits += 5) {
                const md_arc_key key = md_arcs_key(arcs, s, t);
                assert_int_equal(key.length, lengths[s]);
                compare_tables(&key, bits, &random);
            }
    md_arcs_free(arcs);
    md_arc_templates_free(templates);
    medley_dataset_free(dataset);
}

/* ---- halves ---- */

static float float_of_bits(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static void every_half_comes_back(void **state)
{
    (void)state;
    for (uint32_t half = 0; half <= UINT16_MAX; half++) {
        const float value = md_float_of_half((uint16_t)half);
        if (!isnan(value))
            assert_int_equal(md_half_of_float(value), half);
        else
            assert_true(isnan(md_float_of_half(md_half_of_float(value))));
    }
}

/* No half is nearer; between two that are as near the even one is taken. */
static void check_rounding(uint32_t bits)
{
    const double value = (double)float_of_bits(bits);
    const uint16_t down = (uint16_t)(bits >> 16); /* towards zero */
    const uint16_t found = md_half_of_float(float_of_bits(bits));
    const double below = (double)md_float_of_half(down);
    const double above = (double)md_float_of_half((uint16_t)(down + 1));
    const double distance = fabs(value - below) - fabs(above - value);
    const bool is_even = down % 2 == 0;
    if (isinf(above) || distance < 0 || (distance == 0 && is_even))
        assert_int_equal(found, down); /* finite numbers stay finite */
    else
        assert_int_equal(found, down + 1);
}

static void floats_are_rounded_to_the_nearest_half(void **state)
{
    (void)state;
    static const uint32_t ends[] = {0x0000, 0x0001, 0x7fff, 0x8000, 0x8001, 0xffff};
    md_random random;
    md_random_seed(&random, 6);
    for (uint32_t upper = 0; upper <= UINT16_MAX; upper++) {
        if ((upper & 0x7f80) == 0x7f80)
            continue; /* infinite or no number */
        for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
            check_rounding(upper << 16 | ends[i]);
        check_rounding(upper << 16 | (uint32_t)md_random_below(&random, 1 << 16));
    }
    assert_true(isfinite(md_float_of_half(md_half_of_float(FLT_MAX))));
    assert_true(isfinite(md_float_of_half(md_half_of_float(-FLT_MAX))));
    assert_true(isinf(md_float_of_half(md_half_of_float(INFINITY))));
    assert_int_equal(md_half_of_float(-0.0f), 0x8000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_arc_gets_the_weights_of_its_features),
        cmocka_unit_test(every_half_comes_back),
        cmocka_unit_test(floats_are_rounded_to_the_nearest_half),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
