/* SPDX-License-Identifier: BSD-3-Clause */
/* Subsets of feature spaces, and spaces as bytes: round trips, every truncation, changed bytes. */
#include "feature/feature_case.h"

enum { ROUNDS = 60, DAMAGED = 15, CHANGES = 300 };

typedef struct space_case {
    medley_dataset *train, *fresh;
    case_templates templates;
    md_features *features;
    md_feature_ids ids;
} space_case;

static void space_make(space_case *made, md_random *random, size_t rows, size_t hash_bits)
{
    *made = (space_case){.train = case_dataset(random, rows, 2, 6, 0, 14),
                         .fresh = case_dataset(random, 100, 2, 6, 5, CASE_TEXTS)};
    case_draw_templates(&made->templates, random, 2);
    case_create(&made->features, &made->ids, made->templates.parsed, made->train,
                (md_features_options){.hash_bits = hash_bits});
}

static void space_clear(space_case *made)
{
    md_feature_ids_free(&made->ids);
    md_features_free(made->features);
    md_templates_free(made->templates.parsed);
    medley_dataset_free(made->train);
    medley_dataset_free(made->fresh);
}

static void assert_same_text(const md_features *a, size_t block_a, size_t id_a,
                             const md_features *b, size_t block_b, size_t id_b)
{
    md_text text_a = {0}, text_b = {0};
    md_feature_text(a, block_a, id_a, &text_a);
    md_feature_text(b, block_b, id_b, &text_b);
    assert_string_equal(text_a.data, text_b.data);
    md_text_clear(&text_a);
    md_text_clear(&text_b);
}

static size_t packed_bytes(const md_features *features)
{
    md_text bytes = {0};
    md_features_pack(&bytes, features);
    const size_t length = bytes.length;
    assert_false(bytes.failed);
    md_text_clear(&bytes);
    return length;
}

/* ---- subsets ---- */

static void draw_keep(const space_case *given, md_random *random, bool **keep)
{
    for (size_t b = 0; b < given->templates.count; b++) {
        const size_t count = md_features_count(given->features, b);
        keep[b] = md_random_below(random, 3) > 0 ? md_calloc(count, 1) : NULL;
        for (size_t i = 0; keep[b] != NULL && i < count; i++)
            keep[b][i] = md_random_below(random, 2) > 0;
    }
}

/* number[i]: the place of feature i among the kept ones, -1 if it is dropped. */
static void check_kept_block(const space_case *given, size_t from, const md_features *subset,
                             size_t to, const bool *keep)
{
    const size_t count = md_features_count(given->features, from);
    int32_t *number = md_calloc(count, sizeof *number), kept = 0;
    assert_non_null(number);
    for (size_t i = 0; i < count; i++)
        number[i] = keep[i] ? kept++ : -1;
    assert_int_equal(md_features_count(subset, to), kept);
    assert_string_equal(md_templates_name(md_features_templates(subset), to),
                        md_templates_name(given->templates.parsed, from));
    for (size_t i = 0; i < count; i++)
        if (number[i] >= 0)
            assert_same_text(given->features, from, i, subset, to, (size_t)number[i]);
    for (size_t d = 0; d < 2; d++) {
        const medley_dataset *dataset = d ? given->fresh : given->train;
        md_feature_ids all = {0}, some = {0};
        case_apply(given->features, &all, dataset, 1);
        case_apply(subset, &some, dataset, 1);
        for (size_t row = 0; row < dataset->rows; row++) {
            const int32_t id = all.ids[from][row];
            assert_int_equal(some.ids[to][row], id >= 0 ? number[id] : -1);
        }
        md_feature_ids_free(&all);
        md_feature_ids_free(&some);
    }
    free(number);
}

static void subsets_keep_order_and_meaning(void **state)
{
    md_random random;
    (void)state;
    md_random_seed(&random, 31);
    for (int round = 0; round < ROUNDS; round++) {
        space_case given;
        bool *keep[CASE_BLOCKS] = {NULL};
        md_features *subset = NULL;
        size_t kept = 0;
        space_make(&given, &random, 150, 0);
        draw_keep(&given, &random, keep);
        assert_int_equal(
            md_features_subset(&subset, given.features, (const bool *const *)keep, NULL),
            MEDLEY_OK);
        for (size_t b = 0; b < given.templates.count; b++)
            if (keep[b] != NULL)
                check_kept_block(&given, b, subset, kept++, keep[b]);
        assert_int_equal(md_templates_count(md_features_templates(subset)), kept);
        assert_true(packed_bytes(subset) <= packed_bytes(given.features));
        for (size_t b = 0; b < CASE_BLOCKS; b++)
            free(keep[b]);
        md_features_free(subset);
        space_clear(&given);
    }
}

static void texts_that_no_feature_needs_are_dropped(void **state)
{
    static const char lines[] = "U0:%x[0,0]\nU1:%x[0,0]/%x[-1,0]\nU2:%x[0,1]\n";
    md_templates *templates = NULL;
    md_features *features = NULL, *subset = NULL;
    md_feature_ids ids = {0};
    medley_dataset *dataset = case_empty(2, 2);
    (void)state;
    case_set(dataset, 0, 0, "keptword");
    case_set(dataset, 1, 0, "lostword");
    case_set(dataset, 0, 1, "losttag");
    case_set(dataset, 1, 1, "losttag");
    assert_int_equal(md_templates_parse(&templates, lines, strlen(lines), "x", NULL), MEDLEY_OK);
    case_create(&features, &ids, templates, dataset, (md_features_options){0});
    const bool first[] = {true, false}, none[] = {false, false};
    const bool *const keep[] = {first, none, NULL};
    assert_int_equal(md_features_subset(&subset, features, keep, NULL), MEDLEY_OK);
    md_text bytes = {0};
    md_features_pack(&bytes, subset);
    assert_non_null(memmem(bytes.data, bytes.length, "keptword", 8));
    assert_null(memmem(bytes.data, bytes.length, "lost", 4));
    assert_null(memmem(bytes.data, bytes.length, "_B-1", 4));
    md_text_clear(&bytes);
    md_feature_ids_free(&ids);
    md_features_free(features);
    md_features_free(subset);
    md_templates_free(templates);
    medley_dataset_free(dataset);
}

static void hashed_subsets_keep_all_slots(void **state)
{
    md_random random;
    (void)state;
    md_random_seed(&random, 14);
    for (int round = 0; round < 20; round++) {
        space_case given;
        md_features *subset = NULL;
        md_feature_ids ids = {0};
        const bool any = false;
        const bool *keep[CASE_BLOCKS] = {NULL};
        space_make(&given, &random, 100, 12);
        const size_t last = given.templates.count - 1;
        keep[last] = &any;
        assert_int_equal(md_features_subset(&subset, given.features, keep, NULL), MEDLEY_OK);
        assert_int_equal(md_features_count(subset, 0), md_features_count(given.features, last));
        case_apply(subset, &ids, given.train, 1);
        assert_int_equal(ids.block_count, 1);
        assert_memory_equal(ids.ids[0], given.ids.ids[last], ids.rows * sizeof **ids.ids);
        md_feature_ids_free(&ids);
        md_features_free(subset);
        space_clear(&given);
    }
}

/* ---- bytes ---- */

static void spaces_survive_packing(void **state)
{
    md_random random;
    (void)state;
    md_random_seed(&random, 77);
    for (int round = 0; round < ROUNDS; round++) {
        space_case given;
        md_features *loaded = NULL;
        md_feature_ids before = {0}, after = {0};
        md_text bytes = {0}, again = {0};
        space_make(&given, &random, 150, round % 3 == 0 ? 9 : 0);
        md_pack_u64(&bytes, 5); /* others' bytes in front and behind */
        md_features_pack(&bytes, given.features);
        const size_t stop = bytes.length;
        md_pack_u64(&bytes, 6);
        md_unpack in = {.data = bytes.data, .length = bytes.length, .position = 8};
        assert_int_equal(md_features_unpack(&loaded, &in, NULL), MEDLEY_OK);
        assert_int_equal(in.position, stop);
        case_apply(given.features, &before, given.fresh, 1);
        case_apply(loaded, &after, given.fresh, 1);
        assert_same_ids(&before, &after);
        for (size_t b = 0; b < given.templates.count; b++) {
            assert_int_equal(md_features_count(loaded, b), md_features_count(given.features, b));
            assert_int_equal(md_templates_is_pair(md_features_templates(loaded), b),
                             md_templates_is_pair(given.templates.parsed, b));
            assert_same_text(given.features, b, 0, loaded, b, 0);
        }
        md_features_pack(&again, loaded);
        assert_int_equal(again.length, stop - 8);
        assert_memory_equal(again.data, bytes.data + 8, again.length);
        md_text_clear(&bytes);
        md_text_clear(&again);
        md_feature_ids_free(&before);
        md_feature_ids_free(&after);
        md_features_free(loaded);
        space_clear(&given);
    }
}

/* Unpacks, and uses whatever comes out. */
static bool try_bytes(const char *bytes, size_t length, const medley_dataset *dataset)
{
    char *exact = md_copy(bytes, length); /* so that a read behind the end is noticed */
    md_unpack in = {.data = exact, .length = length};
    md_features *features = NULL;
    md_feature_ids ids = {0};
    medley_error error = {0};
    const medley_status status = md_features_unpack(&features, &in, &error);
    assert_true(status == MEDLEY_OK || (in.bad && error.code == MEDLEY_BAD_INPUT));
    assert_true((status == MEDLEY_OK) == (features != NULL));
    if (features != NULL && md_features_apply(features, &ids, dataset, 1, &error) == MEDLEY_OK)
        for (size_t b = 0; b < ids.block_count; b++)
            for (size_t i = 0; i < md_features_count(features, b) && i < 5; i++) {
                md_text text = {0};
                md_feature_text(features, b, i, &text);
                md_text_clear(&text);
            }
    md_feature_ids_free(&ids);
    md_features_free(features);
    free(exact);
    return status == MEDLEY_OK;
}

static void damaged_bytes_are_refused_or_harmless(void **state)
{
    md_random random;
    size_t refused = 0;
    (void)state;
    md_random_seed(&random, 4);
    for (int round = 0; round < DAMAGED; round++) {
        space_case given;
        md_text bytes = {0};
        space_make(&given, &random, 12, round % 5 == 0 ? 9 : 0);
        md_features_pack(&bytes, given.features);
        for (size_t length = 0; length < bytes.length; length++)
            assert_false(try_bytes(bytes.data, length, given.fresh));
        assert_true(try_bytes(bytes.data, bytes.length, given.fresh));
        for (int change = 0; change < CHANGES; change++) {
            char *changed = md_copy(bytes.data, bytes.length);
            assert_non_null(changed);
            for (size_t left = 1 + md_random_below(&random, 3); left > 0; left--)
                changed[md_random_below(&random, bytes.length)] =
                    (char)(change % 2 ? md_random_bits(&random) : md_random_below(&random, 4));
            refused += !try_bytes(changed, bytes.length, given.fresh);
            free(changed);
        }
        md_text_clear(&bytes);
        space_clear(&given);
    }
    assert_in_range(refused, DAMAGED * CHANGES / 6, DAMAGED * CHANGES - 1);
}

/* Two texts, or two features, that are the same. */
static void repetitions_are_refused(void **state)
{
    static const char line[] = "U:%x[0,0]/%X[0,0]";
    md_templates *templates = NULL;
    md_features *features = NULL;
    md_feature_ids ids = {0};
    md_text bytes = {0};
    medley_dataset *dataset = case_empty(2, 1);
    (void)state;
    case_set(dataset, 0, 0, "wordaaaa");
    case_set(dataset, 1, 0, "wordbbbb");
    /* so that the features' numbers would fit a vocabulary that is shorter by one */
    assert_int_equal(md_strings_add(dataset->token_values, "unused", 6), 2);
    assert_int_equal(md_templates_parse(&templates, line, strlen(line), "x", NULL), MEDLEY_OK);
    case_create(&features, &ids, templates, dataset, (md_features_options){0});
    md_features_pack(&bytes, features);
    assert_true(try_bytes(bytes.data, bytes.length, dataset));
    char *repeated = md_copy(bytes.data, bytes.length);
    assert_non_null(repeated);
    char *text = memmem(repeated, bytes.length, "bbbb", 4);
    assert_non_null(text);
    memset(text, 'a', 4);
    assert_false(try_bytes(repeated, bytes.length, dataset));
    memcpy(repeated, bytes.data, bytes.length);
    memset(repeated + bytes.length - 8, 0, 8); /* the values of the second feature */
    assert_false(try_bytes(repeated, bytes.length, dataset));
    free(repeated);
    md_text_clear(&bytes);
    md_feature_ids_free(&ids);
    md_features_free(features);
    md_templates_free(templates);
    medley_dataset_free(dataset);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(subsets_keep_order_and_meaning),
        cmocka_unit_test(texts_that_no_feature_needs_are_dropped),
        cmocka_unit_test(hashed_subsets_keep_all_slots),
        cmocka_unit_test(spaces_survive_packing),
        cmocka_unit_test(damaged_bytes_are_refused_or_harmless),
        cmocka_unit_test(repetitions_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
