/* SPDX-License-Identifier: BSD-3-Clause */
/* Features of arcs: two arcs have the same feature exactly where texts put together in the plain
 * way are the same. Sentences, subsets of templates and threads change nothing. */
#include "feature/arc_case.h"

/* Which feature each text has. */
typedef struct text_features {
    md_strings texts;
    uint32_t *feature; /* [texts] */
    size_t capacity;
} text_features;

static void note(text_features *known, const md_text *text, uint32_t feature)
{
    const size_t before = known->texts.count;
    const int32_t number = md_strings_add(&known->texts, text->data, text->length);
    assert_true(number >= 0);
    assert_int_equal(
        md_reserve((void **)&known->feature, &known->capacity, before + 1, sizeof *known->feature),
        0);
    if ((size_t)number == before)
        known->feature[number] = feature;
    if (known->feature[number] != feature)
        fail_msg("'%s' has two features", text->data);
}

static int compare_u32(const void *left, const void *right)
{
    const uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    return (a > b) - (a < b);
}

static void assert_distinct_and_clear(text_features *known, const char *name)
{
    qsort(known->feature, known->texts.count, sizeof *known->feature, compare_u32);
    for (size_t i = 1; i < known->texts.count; i++)
        if (known->feature[i] == known->feature[i - 1])
            fail_msg("'%s': two texts have the same feature", name);
    md_strings_clear(&known->texts);
    free(known->feature);
    *known = (text_features){0};
}

static void note_arc(text_features *known, const plain_arc *arc, const char *name,
                     const md_arc_key *key, md_text *text)
{
    uint32_t features[ARC_FEATURES_MOST];
    size_t tag[ARC_FEATURES_MOST];
    const size_t count = plain_features(arc, name, text, tag);
    const size_t found = arc_features(key, (size_t)arc->head, (size_t)arc->modifier, features);
    assert_int_equal(found, count);
    if (key->bag == MD_ARC_NO_BAG) {
        note(known, text, features[0]);
        return;
    }
    const size_t length = text->length;
    for (size_t i = 0; i < count; i++) {
        text->length = length;
        md_text_addf(text, "%s", arc_tags[tag[i]]);
        note(known, text, features[i]);
    }
}

/* For sentences first .. first + count - 1 of the data set. */
static void check_template(const md_arcs *arcs, const md_arc_source *source, const char *name,
                           size_t t)
{
    text_features known = {0};
    md_text text = {0};
    const size_t *start = source->dataset->sequence_start + source->first;
    for (size_t s = 0; s < source->count; s++) {
        const md_arc_key key = md_arcs_key(arcs, s, t);
        plain_arc arc = {.dataset = source->dataset,
                         .first = start[s],
                         .words = start[s + 1] - start[s],
                         .tags = source->tags};
        assert_int_equal(key.length, arc.words);
        assert_int_equal(key.tags != NULL, strstr(name, "between.upos") != NULL);
        for (arc.modifier = 1; arc.modifier <= (long)arc.words; arc.modifier++)
            for (arc.head = 0; arc.head <= (long)arc.words; arc.head++)
                if (arc.head != arc.modifier)
                    note_arc(&known, &arc, name, &key, &text);
    }
    md_text_clear(&text);
    assert_distinct_and_clear(&known, name);
}

static void features_are_the_same_where_texts_are(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 3; seed++) {
        md_random random;
        md_random_seed(&random, seed);
        medley_dataset *dataset = arc_dataset(&random, 8, 8);
        md_arc_templates *templates = arc_templates(&random, seed % 2, 60);
        const md_arc_source source = {.dataset = dataset,
                                      .first = seed == 2,
                                      .count = dataset->sequence_count - (seed == 2),
                                      .tags = MD_ARC_UPOS};
        md_arcs *arcs = arc_create(templates, &source, 1);
        for (size_t t = 0; t < md_arc_templates_count(templates); t++)
            check_template(arcs, &source, md_arc_templates_name(templates, t), t);
        md_arcs_free(arcs);
        md_arc_templates_free(templates);
        medley_dataset_free(dataset);
    }
}

/* Sentences long enough for every bin of distances, and for all tags between. The templates have
 * few enough features that none share one by chance. */
static void features_of_long_sentences_are_the_same_where_texts_are(void **state)
{
    static const char text[] =
        "bias\ndir\ndist\nset.upos\ncrossed\nbetween.upos\nset.upos crossed\n"
        "between.upos crossed dist\nh.upos m.upos dist\n";
    md_random random;
    md_arc_templates *templates = NULL;
    (void)state;
    md_random_seed(&random, 15);
    assert_int_equal(md_arc_templates_parse(&templates, text, "text", NULL), MEDLEY_OK);
    medley_dataset *dataset = arc_dataset(&random, 6, 45);
    const md_arc_source source = {.dataset = dataset, .count = 6, .tags = MD_ARC_UPOS};
    assert_true(dataset->rows > 100);
    md_arcs *arcs = arc_create(templates, &source, 2);
    for (size_t t = 0; t < md_arc_templates_count(templates); t++)
        check_template(arcs, &source, md_arc_templates_name(templates, t), t);
    md_arcs_free(arcs);
    md_arc_templates_free(templates);
    medley_dataset_free(dataset);
}

/* upos means another column, its tags are none of the universal ones but for some. */
static void tags_can_come_from_another_column(void **state)
{
    md_random random;
    (void)state;
    md_random_seed(&random, 6);
    medley_dataset *dataset = arc_dataset(&random, 8, 7);
    for (size_t row = 0; row < dataset->rows; row++)
        case_set(dataset, row, 9, arc_tags[10 + md_random_below(&random, 8)]);
    md_arc_templates *templates = arc_templates(&random, 1, 20);
    const md_arc_source source = {.dataset = dataset, .count = 8, .tags = 9};
    md_arcs *arcs = arc_create(templates, &source, 1);
    for (size_t t = 0; t < md_arc_templates_count(templates); t++)
        check_template(arcs, &source, md_arc_templates_name(templates, t), t);
    md_arcs_free(arcs);
    md_arc_templates_free(templates);
    medley_dataset_free(dataset);
}

/* ---- what changes nothing ---- */

static void assert_same_key(const md_arc_key *a, const md_arc_key *b)
{
    assert_int_equal(a->length, b->length);
    for (size_t m = 1; m <= a->length; m++)
        for (size_t h = 0; h <= a->length; h++) {
            uint32_t left[ARC_FEATURES_MOST], right[ARC_FEATURES_MOST];
            const size_t count = arc_features(a, h, m, left);
            assert_int_equal(arc_features(b, h, m, right), count);
            assert_memory_equal(left, right, count * sizeof *left);
        }
}

static void subsets_of_templates_keep_their_features(void **state)
{
    md_random random;
    (void)state;
    md_random_seed(&random, 7);
    medley_dataset *dataset = arc_dataset(&random, 6, 9);
    md_arc_templates *all = arc_templates(&random, 0, 40), *some = NULL, *back = NULL;
    const md_arc_source source = {.dataset = dataset, .count = 6, .tags = MD_ARC_UPOS};
    const size_t count = md_arc_templates_count(all);
    bool *keep = md_calloc(count, sizeof *keep);
    assert_non_null(keep);
    for (size_t t = 0; t < count; t++)
        keep[t] = md_random_below(&random, 5) == 0;
    assert_int_equal(md_arc_templates_subset(&some, all, keep, NULL), MEDLEY_OK);
    md_text bytes = {0};
    md_arc_templates_pack(&bytes, some);
    md_unpack in = {.data = bytes.data, .length = bytes.length};
    assert_int_equal(md_arc_templates_unpack(&back, &in, NULL), MEDLEY_OK);
    md_arcs *whole = arc_create(all, &source, 1), *part = arc_create(back, &source, 1);
    for (size_t t = 0, kept = 0; t < count; t++)
        for (size_t s = 0; keep[t] && s < 6; s++) {
            const md_arc_key a = md_arcs_key(whole, s, t), b = md_arcs_key(part, s, kept);
            assert_same_key(&a, &b);
            kept += s == 5;
        }
    assert_true(md_arcs_bytes(back, &source) < md_arcs_bytes(all, &source));
    md_arcs_free(whole);
    md_arcs_free(part);
    md_text_clear(&bytes);
    free(keep);
    md_arc_templates_free(all);
    md_arc_templates_free(some);
    md_arc_templates_free(back);
    medley_dataset_free(dataset);
}

/* One sentence has fewer words than there are texts, so texts are looked at as they come. */
static void threads_and_other_sentences_change_nothing(void **state)
{
    enum { SENTENCES = 100 };
    md_random random;
    (void)state;
    md_random_seed(&random, 8);
    medley_dataset *dataset = arc_dataset(&random, SENTENCES, 6);
    md_arc_templates *templates = arc_templates(&random, 0, 0);
    const md_arc_source source = {.dataset = dataset, .count = SENTENCES, .tags = MD_ARC_UPOS};
    md_arcs *one = arc_create(templates, &source, 1), *four = arc_create(templates, &source, 4);
    for (size_t s = 0; s < SENTENCES; s += 7) {
        const md_arc_source single = {.dataset = dataset, .first = s, .count = 1, .tags = 3};
        md_arcs *alone = arc_create(templates, &single, 2);
        for (size_t t = 0; t < md_arc_templates_count(templates); t++) {
            const md_arc_key a = md_arcs_key(one, s, t), b = md_arcs_key(four, s, t),
                             c = md_arcs_key(alone, 0, t);
            assert_same_key(&a, &b);
            assert_same_key(&a, &c);
        }
        md_arcs_free(alone);
    }
    md_arcs_free(one);
    md_arcs_free(four);
    md_arc_templates_free(templates);
    medley_dataset_free(dataset);
}

/* One sentence with all tags and forms. */
static medley_dataset *fixed_sentence(void)
{
    const size_t words = 2 * ARC_TAGS;
    medley_dataset *dataset = case_empty(words, MD_ARC_COLUMNS);
    for (size_t row = 0; row < words; row++) {
        for (size_t c = 0; c < MD_ARC_COLUMNS; c++)
            case_set(dataset, row, c, case_texts[(row + c) % 5]);
        case_set(dataset, row, ARC_FORM, arc_forms[row % ARC_FORMS]);
        case_set(dataset, row, ARC_UPOS, arc_tags[row * 7 % ARC_TAGS]);
    }
    case_sequences(dataset, &words, 1);
    return dataset;
}

static uint32_t sum_features(const md_arc_key *key)
{
    uint32_t sum = 0;
    for (size_t m = 1; m <= key->length; m++)
        for (size_t h = 0; h <= key->length; h++) {
            uint32_t features[ARC_FEATURES_MOST];
            const size_t count = h != m ? arc_features(key, h, m, features) : 0;
            for (size_t i = 0; i < count; i++)
                sum = sum * 31 + features[i];
        }
    return sum;
}

/* Model files hold weights by feature: if this fails, old models are worthless. */
static void features_stay_what_they_were(void **state)
{
    static const struct {
        const char *name;
        uint32_t sum;
    } known[] = {{"bias", 0},
                 {"h.form m-1.upos dist", 1109173561u},
                 {"h.lower m.suffix h+1.prefix dir crossed", 4167702840u},
                 {"h.upos m.xpos set.upos", 4209306001u},
                 {"m.feats h.lemma between.upos", 103961132u},
                 {"m+3.form set.upos crossed", 1581720967u}};
    (void)state;
    medley_dataset *dataset = fixed_sentence();
    const md_arc_source source = {.dataset = dataset, .count = 1, .tags = MD_ARC_UPOS};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        md_arc_templates *templates = NULL;
        assert_int_equal(md_arc_templates_parse(&templates, known[i].name, "text", NULL),
                         MEDLEY_OK);
        md_arcs *arcs = arc_create(templates, &source, 1);
        const md_arc_key key = md_arcs_key(arcs, 0, 0);
        assert_int_equal(sum_features(&key), known[i].sum);
        md_arcs_free(arcs);
        md_arc_templates_free(templates);
    }
    medley_dataset_free(dataset);
}

/* ---- misuse ---- */

static void assert_no_arcs(const md_arc_source *source, medley_status code, const char *words)
{
    md_arc_templates *templates = NULL;
    md_arcs *arcs = NULL;
    medley_error error = {0};
    assert_int_equal(md_arc_templates_parse(&templates, "h.form", "text", NULL), MEDLEY_OK);
    assert_int_equal(md_arcs_create(&arcs, templates, source, 1, &error), code);
    assert_null(arcs);
    if (strstr(error.message, words) == NULL)
        fail_msg("%s", error.message);
    md_arc_templates_free(templates);
}

static void data_that_do_not_fit_are_refused(void **state)
{
    md_random random;
    (void)state;
    md_random_seed(&random, 10);
    medley_dataset *words = case_dataset(&random, 9, 2, 3, 0, 5);
    medley_dataset *dataset = arc_dataset(&random, 3, 3);
    const md_arc_source narrow = {.dataset = words, .count = 1, .tags = 1},
                        column = {.dataset = dataset, .count = 1, .tags = 10},
                        beyond = {.dataset = dataset, .first = 1, .count = 3, .tags = 3},
                        behind = {.dataset = dataset, .first = 4, .tags = 3};
    assert_no_arcs(&narrow, MEDLEY_BAD_INPUT, "here are 2 columns");
    assert_no_arcs(&column, MEDLEY_USAGE, "no column 10");
    assert_no_arcs(&beyond, MEDLEY_USAGE, "there are 3");
    assert_no_arcs(&behind, MEDLEY_USAGE, "there are 3");
    medley_dataset_free(words);
    medley_dataset_free(dataset);
}

static void no_sentences_and_no_templates_are_possible(void **state)
{
    md_random random;
    md_arc_templates *templates = NULL, *none = NULL;
    const bool keep[] = {false};
    (void)state;
    md_random_seed(&random, 11);
    medley_dataset *dataset = arc_dataset(&random, 3, 3);
    const md_arc_source empty = {.dataset = dataset, .first = 3, .tags = MD_ARC_UPOS},
                        whole = {.dataset = dataset, .count = 3, .tags = MD_ARC_UPOS};
    assert_int_equal(md_arc_templates_parse(&templates, "h.form dist", "text", NULL), MEDLEY_OK);
    assert_int_equal(md_arc_templates_subset(&none, templates, keep, NULL), MEDLEY_OK);
    md_arcs *without_sentences = arc_create(templates, &empty, 2);
    md_arcs *without_templates = arc_create(none, &whole, 2);
    md_arcs_free(without_sentences);
    md_arcs_free(without_templates);
    md_arc_templates_free(templates);
    md_arc_templates_free(none);
    medley_dataset_free(dataset);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(features_are_the_same_where_texts_are),
        cmocka_unit_test(features_of_long_sentences_are_the_same_where_texts_are),
        cmocka_unit_test(tags_can_come_from_another_column),
        cmocka_unit_test(subsets_of_templates_keep_their_features),
        cmocka_unit_test(threads_and_other_sentences_change_nothing),
        cmocka_unit_test(features_stay_what_they_were),
        cmocka_unit_test(data_that_do_not_fit_are_refused),
        cmocka_unit_test(no_sentences_and_no_templates_are_possible),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
