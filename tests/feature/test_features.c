/* SPDX-License-Identifier: BSD-3-Clause */
/* Features against expansion by putting strings together: two rows share a feature if and only if
 * their strings are equal, and numbers follow first appearance. */
#include "feature/feature_case.h"

enum { ROUNDS = 150, TEST_HASH_BITS = 24 };

/* What the exact dictionary of one block must be. */
typedef struct plain_dictionary {
    md_strings all; /* every string, by first appearance */
    size_t *seen;
    int32_t *number; /* after the cut-off; -1: too rare */
    size_t count;
} plain_dictionary;

static void plain_build(plain_dictionary *made, const medley_dataset *dataset,
                        const case_block *block, size_t min_count)
{
    md_text text = {0};
    *made = (plain_dictionary){.seen = md_calloc(dataset->rows, sizeof *made->seen),
                               .number = md_calloc(dataset->rows, sizeof *made->number)};
    assert_true(made->seen != NULL && made->number != NULL);
    for (size_t row = 0; row < dataset->rows; row++) {
        plain_expand(dataset, block, row, '\1', &text);
        made->seen[md_strings_add(&made->all, text.data, text.length)]++;
    }
    for (size_t i = 0; i < made->all.count; i++)
        made->number[i] = made->seen[i] >= min_count ? (int32_t)made->count++ : -1;
    md_text_clear(&text);
}

static int32_t plain_id(const plain_dictionary *dictionary, const medley_dataset *dataset,
                        const case_block *block, size_t row)
{
    md_text text = {0};
    plain_expand(dataset, block, row, '\1', &text);
    const int32_t id = md_strings_find(&dictionary->all, text.data, text.length);
    md_text_clear(&text);
    return id >= 0 ? dictionary->number[id] : -1;
}

static void plain_clear(plain_dictionary *dictionary)
{
    md_strings_clear(&dictionary->all);
    free(dictionary->seen);
    free(dictionary->number);
}

static void assert_texts(const md_features *features, const medley_dataset *dataset,
                         const case_templates *templates, const md_feature_ids *ids)
{
    md_text found = {0}, expected = {0};
    for (size_t b = 0; b < templates->count; b++)
        for (size_t row = 0; row < dataset->rows; row += 3) {
            if (ids->ids[b][row] < 0)
                continue;
            const char *name = md_templates_name(templates->parsed, b);
            plain_expand(dataset, &templates->block[b], row, '/', &expected);
            found.length = 0;
            md_feature_text(features, b, (size_t)ids->ids[b][row], &found);
            assert_true(strncmp(found.data, name, 3) == 0 && found.data[3] == ':');
            assert_string_equal(found.data + 3 + 1, expected.data);
        }
    md_text_clear(&found);
    md_text_clear(&expected);
}

static void random_templates_equal_plain_expansion(void **state)
{
    md_random random;
    size_t unknown = 0, known = 0;
    (void)state;
    md_random_seed(&random, 5);
    for (int round = 0; round < ROUNDS; round++) {
        const size_t columns = 1 + md_random_below(&random, 3);
        const size_t min_count = md_random_below(&random, 4);
        const size_t longest = md_random_below(&random, 9);
        medley_dataset *train = case_dataset(&random, md_random_below(&random, 300), columns,
                                             longest, 0, 1 + md_random_below(&random, 18));
        medley_dataset *fresh = case_dataset(&random, 140, columns, longest, 4, 20);
        case_templates templates;
        md_features *features = NULL;
        md_feature_ids ids = {0}, again = {0}, other = {0};
        case_draw_templates(&templates, &random, columns);
        case_create(&features, &ids, templates.parsed, train,
                    (md_features_options){.min_count = min_count, .threads = 1});
        case_apply(features, &again, train, 1);
        case_apply(features, &other, fresh, 1);
        assert_same_ids(&ids, &again);
        for (size_t b = 0; b < templates.count; b++) {
            plain_dictionary dictionary;
            plain_build(&dictionary, train, &templates.block[b], min_count);
            assert_int_equal(md_features_count(features, b), dictionary.count);
            for (size_t row = 0; row < train->rows; row++)
                assert_int_equal(ids.ids[b][row],
                                 plain_id(&dictionary, train, &templates.block[b], row));
            for (size_t row = 0; row < fresh->rows; row++) {
                const int32_t id = plain_id(&dictionary, fresh, &templates.block[b], row);
                assert_int_equal(other.ids[b][row], id);
                unknown += id < 0;
                known += id >= 0;
            }
            plain_clear(&dictionary);
        }
        assert_texts(features, train, &templates, &ids);
        md_feature_ids_free(&ids);
        md_feature_ids_free(&again);
        md_feature_ids_free(&other);
        md_features_free(features);
        md_templates_free(templates.parsed);
        medley_dataset_free(train);
        medley_dataset_free(fresh);
    }
    assert_true(unknown > 5000 && known > 5000);
}

/* ---- one thing at a time ---- */

/* Two sequences "A b" and "C". */
static medley_dataset *three_words(void)
{
    static const size_t lengths[] = {2, 1};
    medley_dataset *dataset = case_empty(3, 1);
    case_set(dataset, 0, 0, "A");
    case_set(dataset, 1, 0, "b");
    case_set(dataset, 2, 0, "C");
    case_sequences(dataset, lengths, 2);
    return dataset;
}

static void macros_see_what_they_should(void **state)
{
    static const struct {
        const char *line, *text[3];
    } cases[] = {{"U1:%x[0,0]", {"U1:A", "U1:b", "U1:C"}},
                 {"U1:%X[0,0].", {"U1:a.", "U1:b.", "U1:c."}},
                 {"U1:%x[-1,0]", {"U1:_B-1", "U1:A", "U1:_B-1"}},
                 {"U1:%x[-3,0]", {"U1:_B-3", "U1:_B-2", "U1:_B-3"}},
                 {"U1:%x[1,0]", {"U1:b", "U1:_B+1", "U1:_B+1"}},
                 {"U1:%x[+1000,0]", {"U1:_B+999", "U1:_B+1000", "U1:_B+1000"}},
                 {"B%X[1,0]z", {"Bbz", "B_b+1z", "B_b+1z"}},
                 {"U:%x[@1,0]", {"U:A", "U:A", "U:C"}},
                 {"U:%x[@2,0]", {"U:b", "U:b", "U:_B+1"}},
                 {"U:%x[@-1,0]", {"U:b", "U:b", "U:C"}},
                 {"U:%x[@-2,0]", {"U:A", "U:A", "U:_B-1"}},
                 {"U:%x[@-4,0]", {"U:_B-2", "U:_B-2", "U:_B-3"}},
                 {"U:%t[0,0,\"\\u\"]", {"U:true", "U:false", "U:true"}},
                 {"U:%T[0,0,\"^b$\"]", {"U:false", "U:true", "U:false"}},
                 {"U:%m[0,0,\"\\u\"]", {"U:A", "U:", "U:C"}},
                 {"U:%M[0,0,\"\\u\"]-", {"U:a-", "U:-", "U:c-"}},
                 {"U:%m[-1,0,\"^..\"]", {"U:_B", "U:", "U:_B"}},
                 {"U:%x[0,0]%x[0,0]|%x[1,0]", {"U:AA|b", "U:bb|_B+1", "U:CC|_B+1"}},
                 {"B", {"B", "B", "B"}}};
    medley_dataset *dataset = three_words();
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        md_templates *templates = NULL;
        md_features *features = NULL;
        md_feature_ids ids = {0};
        assert_int_equal(
            md_templates_parse(&templates, cases[i].line, strlen(cases[i].line), "x", NULL),
            MEDLEY_OK);
        case_create(&features, &ids, templates, dataset, (md_features_options){0});
        md_templates_free(templates); /* features keep a copy */
        for (size_t row = 0; row < 3; row++) {
            md_text text = {0};
            md_feature_text(features, 0, (size_t)ids.ids[0][row], &text);
            assert_string_equal(text.data, cases[i].text[row]);
            md_text_clear(&text);
        }
        md_feature_ids_free(&ids);
        md_features_free(features);
    }
    medley_dataset_free(dataset);
}

static md_templates *chunk_templates(void)
{
    md_templates *templates = NULL;
    assert_int_equal(md_templates_read(&templates, "chunk", NULL), MEDLEY_OK);
    return templates;
}

/* More rows than one thread takes at a time. */
static void threads_make_no_difference(void **state)
{
    md_random random;
    (void)state;
    md_random_seed(&random, 8);
    medley_dataset *train = case_dataset(&random, 70000, 2, 20, 0, CASE_TEXTS);
    md_templates *templates = chunk_templates();
    for (size_t mode = 0; mode < 3; mode++) {
        md_features *one = NULL, *two = NULL;
        md_feature_ids ids[4] = {{0}};
        md_features_options options = {
            .min_count = mode == 1 ? 3 : 0, .hash_bits = mode == 2 ? 10 : 0, .threads = 1};
        case_create(&one, &ids[0], templates, train, options);
        options.threads = 2;
        case_create(&two, &ids[1], templates, train, options);
        case_apply(one, &ids[2], train, 2);
        case_apply(two, &ids[3], train, 1);
        for (size_t i = 1; i < 4; i++)
            assert_same_ids(&ids[0], &ids[i]);
        for (size_t i = 0; i < 4; i++)
            md_feature_ids_free(&ids[i]);
        md_features_free(one);
        md_features_free(two);
    }
    md_templates_free(templates);
    medley_dataset_free(train);
}

/* ---- hashing ---- */

typedef struct hashed_case {
    medley_dataset *data[2]; /* training data; new data with other texts and another numbering */
    md_feature_ids ids[2];
    md_features *features;
    case_templates templates;
} hashed_case;

static void hashed_make(hashed_case *made, md_random *random)
{
    *made = (hashed_case){.data = {case_dataset(random, 200, 2, 6, 0, 10),
                                   case_dataset(random, 200, 2, 6, 3, CASE_TEXTS)}};
    case_draw_templates(&made->templates, random, 2);
    case_create(&made->features, &made->ids[0], made->templates.parsed, made->data[0],
                (md_features_options){.hash_bits = TEST_HASH_BITS});
    case_apply(made->features, &made->ids[1], made->data[1], 1);
}

static void hashed_clear(hashed_case *made)
{
    for (size_t d = 0; d < 2; d++) {
        md_feature_ids_free(&made->ids[d]);
        medley_dataset_free(made->data[d]);
    }
    md_features_free(made->features);
    md_templates_free(made->templates.parsed);
}

/* Equal strings have equal slots in both data sets; counts distinct strings and distinct slots. */
static void check_hashed_block(const hashed_case *made, size_t b, size_t *strings, size_t *slots)
{
    const case_block *block = &made->templates.block[b];
    const size_t count = md_features_count(made->features, b);
    md_strings names = {0}, distinct = {0};
    md_text text = {0};
    int32_t slot[400] = {0};
    assert_int_equal(count, block->count > 0 ? 1 << TEST_HASH_BITS : 1);
    for (size_t d = 0; d < 2; d++)
        for (size_t row = 0; row < made->data[d]->rows; row++) {
            const int32_t id = made->ids[d].ids[b][row];
            const size_t known = names.count;
            plain_expand(made->data[d], block, row, '\1', &text);
            const int32_t name = md_strings_add(&names, text.data, text.length);
            assert_true(id >= 0 && (size_t)id < count);
            if (names.count > known)
                slot[name] = id;
            assert_int_equal(id, slot[name]);
            text.length = 0;
            md_text_addf(&text, "%d", id);
            md_strings_add(&distinct, text.data, text.length);
        }
    *strings += names.count;
    *slots += distinct.count;
    md_text_clear(&text);
    md_strings_clear(&names);
    md_strings_clear(&distinct);
}

static void hashed_features_depend_on_texts_only(void **state)
{
    md_random random;
    size_t strings = 0, slots = 0;
    (void)state;
    md_random_seed(&random, 21);
    for (int round = 0; round < ROUNDS / 3; round++) {
        hashed_case made;
        hashed_make(&made, &random);
        for (size_t b = 0; b < made.templates.count; b++)
            check_hashed_block(&made, b, &strings, &slots);
        hashed_clear(&made);
    }
    assert_true(strings > 5000);
    assert_true(slots + 5 >= strings); /* a collision in 2^24 slots is rare */
}

/* Models store slots: a change of the hash would break them without a word. */
static void hashes_never_change(void **state)
{
    medley_dataset *dataset = three_words();
    md_templates *templates = NULL;
    md_features *features = NULL;
    md_feature_ids ids = {0};
    md_text text = {0};
    static const char line[] = "U1:w=%x[0,0]|%x[1,0]";
    (void)state;
    assert_int_equal(md_templates_parse(&templates, line, strlen(line), "x", NULL), MEDLEY_OK);
    case_create(&features, &ids, templates, dataset, (md_features_options){.hash_bits = 20});
    md_feature_text(features, 0, (size_t)ids.ids[0][0], &text);
    assert_string_equal(text.data, "U1:w=#284587");
    md_text_clear(&text);
    md_feature_ids_free(&ids);
    md_features_free(features);
    md_templates_free(templates);
    medley_dataset_free(dataset);
}

/* ---- misuse ---- */

static void missing_tokens_have_no_features(void **state)
{
    static const char lines[] = "U0:%x[0,0]\nU1:%x[1,0]\nU2:%x[0,0]/%x[1,0]\nB\n";
    static const int32_t expected[4][3] = {{0, -1, 1}, {-1, 0, 0}, {-1, -1, 0}, {0, 0, 0}};
    (void)state;
    for (size_t hash_bits = 0; hash_bits <= 8; hash_bits += 8) {
        medley_dataset *dataset = three_words();
        md_templates *templates = NULL;
        md_features *features = NULL;
        md_feature_ids ids = {0};
        dataset->token[1] = hash_bits ? -1 : 77;
        assert_int_equal(md_templates_parse(&templates, lines, strlen(lines), "x", NULL),
                         MEDLEY_OK);
        case_create(&features, &ids, templates, dataset,
                    (md_features_options){.hash_bits = hash_bits});
        for (size_t b = 0; b < 4; b++)
            for (size_t row = 0; row < 3; row++)
                assert_int_equal(hash_bits ? ids.ids[b][row] < 0 : ids.ids[b][row],
                                 hash_bits ? expected[b][row] < 0 : expected[b][row]);
        md_feature_ids_free(&ids);
        md_features_free(features);
        md_templates_free(templates);
        medley_dataset_free(dataset);
    }
}

static void data_with_too_few_columns_are_refused(void **state)
{
    static const char lines[] = "U0:%x[0,0]\n\nU1:%x[0,1]/%x[ -1,5]\n";
    md_random random;
    md_templates *templates = NULL;
    md_features *features = NULL;
    md_feature_ids ids = {0};
    medley_error error = {0};
    const md_features_options options = {.threads = 1};
    (void)state;
    md_random_seed(&random, 1);
    medley_dataset *two = case_dataset(&random, 9, 2, 3, 0, 3);
    medley_dataset *six = case_dataset(&random, 9, 6, 3, 0, 3);
    medley_dataset *none = NULL;
    assert_int_equal(medley_dataset_create(&none, NULL), MEDLEY_OK);
    assert_int_equal(md_templates_parse(&templates, lines, strlen(lines), "tagger.txt", NULL),
                     MEDLEY_OK);
    assert_int_equal(md_features_create(&features, &ids, templates, two, &options, &error),
                     MEDLEY_BAD_INPUT);
    assert_string_equal(error.file, "tagger.txt");
    assert_int_equal(error.line, 3);
    assert_non_null(strstr(error.message, "%x[ -1,5] names column 5"));
    assert_non_null(strstr(error.message, "2 columns"));
    error = (medley_error){0};
    assert_int_equal(md_features_create(&features, &ids, templates, none, &options, &error),
                     MEDLEY_BAD_INPUT);
    assert_non_null(strstr(error.message, "these data have none"));
    error = (medley_error){0};
    case_create(&features, &ids, templates, six, options);
    md_feature_ids_free(&ids);
    assert_int_equal(md_features_apply(features, &ids, two, 1, &error), MEDLEY_BAD_INPUT);
    assert_non_null(strstr(error.message, "%x[ -1,5] of the template U1:"));
    assert_non_null(strstr(error.message, "columns that training had"));
    assert_null(ids.ids);
    md_features_free(features);
    md_templates_free(templates);
    medley_dataset_free(two);
    medley_dataset_free(six);
    medley_dataset_free(none);
}

static void options_that_do_not_fit_are_refused(void **state)
{
    static const md_features_options bad[] = {{.hash_bits = 31}, {.hash_bits = 8, .min_count = 2}};
    medley_dataset *dataset = three_words();
    md_templates *templates = NULL;
    (void)state;
    assert_int_equal(md_templates_parse(&templates, "B", 1, "x", NULL), MEDLEY_OK);
    for (size_t i = 0; i < 2; i++) {
        md_features *features = NULL;
        md_feature_ids ids = {0};
        medley_error error = {0};
        assert_int_equal(md_features_create(&features, &ids, templates, dataset, &bad[i], &error),
                         MEDLEY_USAGE);
        assert_null(features);
    }
    md_templates_free(templates);
    medley_dataset_free(dataset);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_templates_equal_plain_expansion),
        cmocka_unit_test(macros_see_what_they_should),
        cmocka_unit_test(threads_make_no_difference),
        cmocka_unit_test(hashed_features_depend_on_texts_only),
        cmocka_unit_test(hashes_never_change),
        cmocka_unit_test(missing_tokens_have_no_features),
        cmocka_unit_test(data_with_too_few_columns_are_refused),
        cmocka_unit_test(options_that_do_not_fit_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
