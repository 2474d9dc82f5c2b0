/* SPDX-License-Identifier: BSD-3-Clause */
/* Columns made of trees: every one of them on sentences made by hand, labels,
 * refusals, and the templates that are made for them. */
#include "tree_case.h"

#include "base/random.h"
#include "feature/feature.h"
#include <stdio.h>
#include <stdlib.h>

static void check_column(const medley_dataset *derived, enum md_tree_column column,
                         const char *const *expected)
{
    for (size_t row = 0; row < derived->rows; row++)
        check_text(derived, row, (size_t)column, expected[row]);
}

/* ---- made by hand ---- */

static const case_word SLEPT[] = {
    {"In", "in", "ADP", "IN", "_", 3, "case"},
    {"such", "such", "ADJ", "JJ", "Degree=Pos", 3, "amod"},
    {"towns", "town", "NOUN", "NNS", "Number=Plur", 5, "obl"},
    {"he", "he", "PRON", "PRP", "Case=Nom", 5, "nsubj"},
    {"slept", "sleep", "VERB", "VBD", "Tense=Past", 0, "root"},
    {"to", "to", "PART", "TO", "_", 7, "mark"},
    {"rest", "rest", "VERB", "VB", "VerbForm=Inf", 5, "advcl"},
    {".", ".", "PUNCT", ".", "_", 5, "punct"},
    END,
};

static void every_column_of_a_sentence(void **state)
{
    (void)state;
    static const struct {
        enum md_tree_column column;
        const char *text[8];
    } cases[] = {
        {MD_TREE_FORM, {"In", "such", "towns", "he", "slept", "to", "rest", "."}},
        {MD_TREE_LEMMA, {"in", "such", "town", "he", "sleep", "to", "rest", "."}},
        {MD_TREE_TAG, {"ADP", "ADJ", "NOUN", "PRON", "VERB", "PART", "VERB", "PUNCT"}},
        {MD_TREE_XPOS, {"IN", "JJ", "NNS", "PRP", "VBD", "TO", "VB", "."}},
        {MD_TREE_FEATS,
         {"_", "Degree=Pos", "Number=Plur", "Case=Nom", "Tense=Past", "_", "VerbForm=Inf", "_"}},
        {MD_TREE_DISTANCE, {"L2", "L1", "L2", "L1", "<root>", "L1", "R2", "R3"}},
        {MD_TREE_PLACE, {"Ff", "Ll", "Ff", "l", "FLfl", "FLfl", "f", "Ll"}},
        {MD_TREE_HEAD_FORM,
         {"towns", "towns", "slept", "slept", "<root>", "rest", "slept", "slept"}},
        {MD_TREE_HEAD_LEMMA,
         {"town", "town", "sleep", "sleep", "<root>", "rest", "sleep", "sleep"}},
        {MD_TREE_HEAD_TAG, {"NOUN", "NOUN", "VERB", "VERB", "<root>", "VERB", "VERB", "VERB"}},
        {MD_TREE_HEAD_XPOS, {"NNS", "NNS", "VBD", "VBD", "<root>", "VB", "VBD", "VBD"}},
        {MD_TREE_HEAD_FEATS,
         {"Number=Plur", "Number=Plur", "Tense=Past", "Tense=Past", "<root>", "VerbForm=Inf",
          "Tense=Past", "Tense=Past"}},
        {MD_TREE_BEFORE_HEAD_TAG, {"ADJ", "ADJ", "PRON", "PRON", "<none>", "PART", "PRON", "PRON"}},
        {MD_TREE_BEHIND_HEAD_TAG,
         {"PRON", "PRON", "PART", "PART", "<none>", "PUNCT", "PART", "PART"}},
        {MD_TREE_GRAND_TAG,
         {"VERB", "VERB", "<root>", "<root>", "<none>", "VERB", "<root>", "<root>"}},
        {MD_TREE_LEFT_TAG, {"<none>", "ADP", "<none>", "NOUN", "<none>", "<none>", "PRON", "VERB"}},
        {MD_TREE_RIGHT_TAG,
         {"ADJ", "<none>", "PRON", "VERB", "<none>", "<none>", "PUNCT", "<none>"}},
        {MD_TREE_FIRST_TAG,
         {"<none>", "<none>", "ADP", "<none>", "NOUN", "<none>", "PART", "<none>"}},
        {MD_TREE_FIRST_LEMMA,
         {"<none>", "<none>", "in", "<none>", "town", "<none>", "to", "<none>"}},
        {MD_TREE_LAST_TAG,
         {"<none>", "<none>", "ADJ", "<none>", "PUNCT", "<none>", "PART", "<none>"}},
        {MD_TREE_LAST_LEMMA, {"<none>", "<none>", "such", "<none>", ".", "<none>", "to", "<none>"}},
        {MD_TREE_CHILD_TAGS,
         {"<none>", "<none>", "ADJ+ADP", "<none>", "NOUN+PRON+PUNCT+VERB", "<none>", "PART",
          "<none>"}},
        {MD_TREE_MARKER_LEMMA,
         {"<none>", "<none>", "in", "<none>", "<none>", "<none>", "to", "<none>"}},
        {MD_TREE_HEAD_MARKER_LEMMA,
         {"in", "in", "<none>", "<none>", "<none>", "to", "<none>", "<none>"}},
        {MD_TREE_BEFORE_TAG, {"<none>", "ADP", "ADJ", "NOUN", "PRON", "VERB", "PART", "VERB"}},
        {MD_TREE_BEHIND_TAG, {"ADJ", "NOUN", "PRON", "VERB", "PART", "VERB", "PUNCT", "<none>"}},
        {MD_TREE_BEFORE_LEMMA, {"<none>", "in", "such", "town", "he", "sleep", "to", "rest"}},
        {MD_TREE_BEHIND_LEMMA, {"such", "town", "he", "sleep", "to", "rest", ".", "<none>"}},
        {MD_TREE_END_FORM, {".", ".", ".", ".", ".", ".", ".", "."}},
        {MD_TREE_BETWEEN_TAGS,
         {"ADJ", "<none>", "PRON", "<none>", "<root>", "<none>", "PART", "PART+VERB"}},
        {MD_TREE_FENCES,
         {"<none>", "<none>", "<none>", "<none>", "<root>", "<none>", "<none>", "VERB"}},
        {MD_TREE_LAST_MARKER_LEMMA,
         {"<none>", "<none>", "in", "<none>", "<none>", "<none>", "to", "<none>"}},
        {MD_TREE_HEAD_LAST_MARKER_LEMMA,
         {"in", "in", "<none>", "<none>", "<none>", "to", "<none>", "<none>"}},
    };
    assert_int_equal(LENGTH(cases), MD_TREE_COLUMNS);
    medley_dataset *derived = derive_words(SLEPT, LENGTH(SLEPT), CASE_UPOS);
    assert_int_equal(derived->rows, 8);
    assert_int_equal(derived->token_columns, MD_TREE_COLUMNS);
    assert_int_equal(derived->label_column, MD_TREE_COLUMNS);
    assert_string_equal(derived->source, "trees");
    for (size_t i = 0; i < LENGTH(cases); i++) {
        assert_int_equal(cases[i].column, i);
        check_column(derived, cases[i].column, cases[i].text);
    }
    medley_dataset_free(derived);
}

/* A word alone, three roots in one sentence, a word alone again: nothing comes from next door. */
static void short_sentences_and_several_roots(void **state)
{
    (void)state;
    static const case_word words[] = {
        {"Yes", "yes", "INTJ", "UH", "_", 0, "root"}, END,
        {"On", "on", "ADP", "IN", "_", 0, "root"},    {"no", "no", "DET", "DT", "_", 0, "list"},
        {"day", "day", "NOUN", "NN", "_", 0, "list"}, END,
        {"No", "no", "INTJ", "UH", "_", 0, "root"},   END,
    };
    static const char *const nowhere[] = {"<none>", "<none>", "<none>", "<none>", "<none>"};
    static const char *const ends[] = {"Yes", "day", "day", "day", "No"};
    static const char *const places[] = {"FLfl", "Ff", "-", "Ll", "FLfl"};
    static const char *const left[] = {"<none>", "<none>", "ADP", "DET", "<none>"};
    static const char *const right[] = {"<none>", "DET", "NOUN", "<none>", "<none>"};
    medley_dataset *derived = derive_words(words, LENGTH(words), CASE_UPOS);
    assert_int_equal(derived->sequence_count, 3);
    assert_int_equal(derived->sequence_start[1], 1);
    assert_int_equal(derived->sequence_start[2], 4);
    assert_int_equal(derived->sequence_start[3], 5);
    for (size_t c = MD_TREE_HEAD_FORM; c <= MD_TREE_HEAD_FEATS; c++)
        for (size_t row = 0; row < derived->rows; row++)
            check_text(derived, row, c, "<root>");
    for (size_t c = MD_TREE_FIRST_TAG; c <= MD_TREE_HEAD_MARKER_LEMMA; c++)
        check_column(derived, (enum md_tree_column)c, nowhere);
    check_column(derived, MD_TREE_BEFORE_TAG, left); /* all have the root for their head */
    check_column(derived, MD_TREE_BEHIND_TAG, right);
    check_column(derived, MD_TREE_END_FORM, ends);
    check_column(derived, MD_TREE_LAST_MARKER_LEMMA, nowhere);
    check_column(derived, MD_TREE_HEAD_LAST_MARKER_LEMMA, nowhere);
    check_column(derived, MD_TREE_GRAND_TAG, nowhere);
    check_column(derived, MD_TREE_BEFORE_HEAD_TAG, nowhere);
    check_column(derived, MD_TREE_BEHIND_HEAD_TAG, nowhere);
    check_column(derived, MD_TREE_PLACE, places);
    check_column(derived, MD_TREE_LEFT_TAG, left);
    check_column(derived, MD_TREE_RIGHT_TAG, right);
    medley_dataset_free(derived);
}

/* "issue" belongs to "hearing", across the root. */
static void arcs_may_cross(void **state)
{
    (void)state;
    static const case_word words[] = {
        {"hearing", "hearing", "NOUN", "_", "_", 3, "nsubj"},
        {"is", "be", "AUX", "_", "_", 3, "aux"},
        {"set", "set", "VERB", "_", "_", 0, "root"},
        {"on", "on", "ADP", "_", "_", 5, "case"},
        {"issue", "issue", "NOUN", "_", "_", 1, "nmod"},
        {"today", "today", "ADV", "_", "_", 3, "advmod"},
        END,
    };
    static const char *const distance[] = {"L2", "L1", "<root>", "L1", "R4", "R3"};
    static const char *const place[] = {"Ff", "l", "FLfl", "FLfl", "FLfl", "Lfl"};
    static const char *const marker[] = {"<none>", "<none>", "be", "<none>", "on", "<none>"};
    static const char *const above[] = {"be", "be", "<none>", "on", "<none>", "be"};
    medley_dataset *derived = derive_words(words, LENGTH(words), CASE_UPOS);
    check_column(derived, MD_TREE_DISTANCE, distance);
    check_column(derived, MD_TREE_PLACE, place);
    check_column(derived, MD_TREE_MARKER_LEMMA, marker);
    check_column(derived, MD_TREE_HEAD_MARKER_LEMMA, above);
    check_text(derived, 0, MD_TREE_FIRST_LEMMA, "issue");
    check_text(derived, 0, MD_TREE_LAST_LEMMA, "issue");
    medley_dataset_free(derived);
}

/* ---- at random, against what the columns are said to be ---- */

static const char *const TAGS[] = {"ADP", "AUX", "CCONJ", "NOUN", "PUNCT", "SCONJ", "VERB"};
enum { RANDOM_WORDS = 9 };

static bool is_one_of(const char *tag, const char *list)
{
    return strstr(list, tag) != NULL;
}

/* The last marker whose head is the word of that number, from 1. */
static const char *last_marker(const case_word *words, int32_t number)
{
    for (size_t i = RANDOM_WORDS; number > 0 && i-- > 0;)
        if (words[i].head == number && is_one_of(words[i].upos, "ADP AUX PART SCONJ"))
            return words[i].lemma;
    return "<none>";
}

/* TAGS between the word and its head that are in the list, joined. */
static void join_between(char *text, const case_word *words, size_t row, const char *list)
{
    const size_t head = (size_t)words[row].head - 1;
    const size_t first = head < row ? head : row;
    const size_t last = head < row ? row : head;
    text[0] = '\0';
    for (size_t t = 0; t < LENGTH(TAGS); t++) {
        bool found = false;
        for (size_t i = first + 1; i < last; i++)
            found = found || strcmp(words[i].upos, TAGS[t]) == 0;
        if (!found || !is_one_of(TAGS[t], list))
            continue;
        strcat(text, text[0] != '\0' ? "+" : "");
        strcat(text, TAGS[t]);
    }
    if (text[0] == '\0')
        strcpy(text, "<none>");
}

static void check_random_sentence(const case_word *words)
{
    medley_dataset *derived = derive_words(words, RANDOM_WORDS + 1, CASE_UPOS);
    for (size_t row = 0; row < RANDOM_WORDS; row++) {
        char tags[64] = "<root>";
        char fences[64] = "<root>";
        if (words[row].head != 0) {
            join_between(tags, words, row, "ADP AUX CCONJ NOUN PUNCT SCONJ VERB");
            join_between(fences, words, row, "AUX CCONJ PUNCT VERB");
        }
        check_text(derived, row, MD_TREE_BETWEEN_TAGS, tags);
        check_text(derived, row, MD_TREE_FENCES, fences);
        check_text(derived, row, MD_TREE_LAST_MARKER_LEMMA, last_marker(words, (int32_t)row + 1));
        check_text(derived, row, MD_TREE_HEAD_LAST_MARKER_LEMMA,
                   last_marker(words, words[row].head));
        check_text(derived, row, MD_TREE_END_FORM, words[RANDOM_WORDS - 1].form);
        check_text(derived, row, MD_TREE_BEFORE_LEMMA, row > 0 ? words[row - 1].lemma : "<none>");
        check_text(derived, row, MD_TREE_BEHIND_LEMMA,
                   row + 1 < RANDOM_WORDS ? words[row + 1].lemma : "<none>");
    }
    medley_dataset_free(derived);
}

static void columns_of_random_trees_are_what_they_are_said_to_be(void **state)
{
    (void)state;
    static const char *const lemmas[] = {"a", "b", "c", "d", "e"};
    md_random random;
    md_random_seed(&random, 7);
    for (size_t turn = 0; turn < 200; turn++) {
        case_word words[RANDOM_WORDS + 1];
        for (size_t i = 0; i < RANDOM_WORDS; i++) {
            const char *lemma = lemmas[md_random_below(&random, LENGTH(lemmas))];
            const char *tag = TAGS[md_random_below(&random, LENGTH(TAGS))];
            words[i] = (case_word){lemma, lemma, tag, "_", "_", (int32_t)(i + 1), "x"};
            while (words[i].head == (int32_t)(i + 1))
                words[i].head = (int32_t)md_random_below(&random, RANDOM_WORDS + 1);
        }
        words[RANDOM_WORDS] = (case_word)END;
        check_random_sentence(words);
    }
}

/* Models that were made when there were fewer columns take the data of today. */
static void columns_that_a_model_does_not_know_are_no_error(void **state)
{
    (void)state;
    enum { ONCE = MD_TREE_HEAD_MARKER_LEMMA + 1 };
    medley_dataset *derived = derive_words(SLEPT, LENGTH(SLEPT), CASE_UPOS);
    const md_word_layout once = {NULL, ONCE, ONCE + 1};
    const md_word_layout later = {NULL, MD_TREE_COLUMNS + 1, MD_TREE_COLUMNS + 2};
    assert_int_equal(md_check_words(&once, derived, NULL), MEDLEY_OK);
    assert_int_equal(md_check_words(&later, derived, NULL), MEDLEY_BAD_INPUT);
    derived->more_tokens = false;
    assert_int_equal(md_check_words(&once, derived, NULL), MEDLEY_BAD_INPUT);
    medley_dataset_free(derived);
}

static void distances_come_in_classes(void **state)
{
    (void)state;
    static const char *const classes[] = {"1", "2", "3", "4", "5",  "5",
                                          "7", "7", "7", "7", "11", "11"};
    enum { HEAD_PLACE = LENGTH(classes), WORDS = 2 * HEAD_PLACE + 1 };
    case_word words[WORDS + 1];
    for (size_t i = 0; i < WORDS; i++)
        words[i] = (case_word){"a", "a", "X", "_", "_", i == HEAD_PLACE ? 0 : HEAD_PLACE + 1, "x"};
    words[WORDS] = (case_word)END;
    medley_dataset *derived = derive_words(words, WORDS + 1, CASE_UPOS);
    for (size_t i = 1; i <= HEAD_PLACE; i++) {
        char text[8];
        snprintf(text, sizeof text, "L%s", classes[i - 1]);
        check_text(derived, HEAD_PLACE - i, MD_TREE_DISTANCE, text);
        snprintf(text, sizeof text, "R%s", classes[i - 1]);
        check_text(derived, HEAD_PLACE + i, MD_TREE_DISTANCE, text);
    }
    medley_dataset_free(derived);
}

static void forms_stand_in_for_lemmas(void **state)
{
    (void)state;
    static const case_word words[] = {
        {"Dogs", "_", "NOUN", "_", "_", 2, "nsubj"},
        {"bark", "howl", "VERB", "_", "_", 0, "root"},
        {"Dogs", "_", "NOUN", "_", "_", 2, "obj"},
        {"howl", "_", "NOUN", "_", "_", 3, "obj"},
        END,
    };
    static const char *const lemma[] = {"Dogs", "howl", "Dogs", "howl"};
    static const char *const head[] = {"howl", "<root>", "howl", "Dogs"};
    medley_dataset *derived = derive_words(words, LENGTH(words), CASE_UPOS);
    check_column(derived, MD_TREE_LEMMA, lemma);
    check_column(derived, MD_TREE_HEAD_LEMMA, head);
    medley_dataset_free(derived);
}

/* With other tags there are no markers, and sets do not depend on what else is in the data. */
static void tags_can_come_from_another_column(void **state)
{
    (void)state;
    enum { XPOS = 4 };
    medley_dataset *whole = derive_words(SLEPT, LENGTH(SLEPT), XPOS);
    check_text(whole, 0, MD_TREE_TAG, "IN");
    check_text(whole, 0, MD_TREE_HEAD_TAG, "NNS");
    check_text(whole, 0, MD_TREE_RIGHT_TAG, "JJ");
    for (size_t row = 0; row < whole->rows; row++)
        check_text(whole, row, MD_TREE_MARKER_LEMMA, "<none>");
    static const case_word part[] = {
        {"a", "a", "_", "JJ", "_", 2, "x"},
        {"b", "b", "_", "IN", "_", 0, "x"},
        {"c", "c", "_", "IN", "_", 2, "x"},
        {"d", "d", "_", "IN", "_", 2, "x"},
        END,
    };
    medley_dataset *other = derive_words(part, LENGTH(part), XPOS);
    const char *set = text_of(whole, 2, MD_TREE_CHILD_TAGS);
    assert_int_equal(set[0], '#');
    assert_non_null(strchr(set, '+'));
    check_text(other, 1, MD_TREE_CHILD_TAGS, set);
    medley_dataset_free(whole);
    medley_dataset_free(other);
}

static void relations_become_labels(void **state)
{
    (void)state;
    case_word words[LENGTH(SLEPT)];
    memcpy(words, SLEPT, sizeof words);
    words[3].relation = "_";
    medley_dataset *derived = derive_words(words, LENGTH(words), CASE_UPOS);
    assert_int_equal(medley_dataset_label_count(derived), 7);
    assert_string_equal(medley_dataset_label_name(derived, 0), "advcl");
    for (size_t row = 0; row < derived->rows; row++) {
        const int32_t label = medley_dataset_label(derived, row);
        assert_int_equal(label < 0, row == 3);
        if (label >= 0)
            assert_string_equal(medley_dataset_label_name(derived, (size_t)label),
                                words[row].relation);
    }
    medley_dataset_free(derived);
    for (size_t i = 0; i < LENGTH(words); i++)
        words[i].relation = "_";
    derived = derive_words(words, LENGTH(words), CASE_UPOS);
    assert_int_equal(medley_dataset_label_count(derived), 0);
    assert_null(derived->label);
    medley_dataset_free(derived);
}

/* ---- refusals ---- */

static void check_refused(const medley_dataset *dataset, const int32_t *head, size_t tag_column,
                          medley_status code, const char *message)
{
    medley_dataset *derived = NULL;
    medley_error error = {0};
    assert_int_equal(md_tree_columns(&derived, dataset, head, tag_column, &error), code);
    if (strstr(error.message, message) == NULL)
        fail_msg("'%s' does not say '%s'", error.message, message);
    assert_null(derived);
}

static void what_is_no_tree_is_refused(void **state)
{
    (void)state;
    static const int32_t bad[] = {-1, 9, 3, INT32_MAX, INT32_MIN};
    medley_dataset *dataset = case_trees(SLEPT, LENGTH(SLEPT));
    check_refused(dataset, dataset->head, CASE_COLUMNS, MEDLEY_USAGE, "no column 11");
    check_refused(dataset, NULL, CASE_UPOS, MEDLEY_USAGE, "heads");
    for (size_t i = 0; i < LENGTH(bad); i++) {
        char message[64];
        dataset->head[2] = bad[i];
        snprintf(message, sizeof message, "word 3 in sentence 1 is %d,", (int)bad[i]);
        check_refused(dataset, dataset->head, CASE_UPOS, MEDLEY_BAD_INPUT, message);
    }
    dataset->head[2] = 8;
    medley_dataset_free(derive(dataset, CASE_UPOS));
    dataset->token_columns = CASE_COLUMNS - 1;
    check_refused(dataset, dataset->head, CASE_UPOS, MEDLEY_USAGE, "9 columns");
    dataset->token_columns = CASE_COLUMNS;
    dataset->sequence_count = 0;
    check_refused(dataset, dataset->head, CASE_UPOS, MEDLEY_USAGE, "sentences");
    medley_dataset_free(dataset);
}

static void the_line_of_a_bad_head_is_named(void **state)
{
    (void)state;
    medley_dataset *dataset = case_trees(SLEPT, LENGTH(SLEPT));
    medley_dataset *derived = NULL;
    medley_error error = {0};
    dataset->line = md_calloc(dataset->rows, sizeof *dataset->line);
    dataset->line[6] = 17;
    dataset->head[6] = 9;
    assert_int_equal(md_tree_columns(&derived, dataset, dataset->head, CASE_UPOS, &error),
                     MEDLEY_BAD_INPUT);
    assert_int_equal(error.line, 17);
    medley_dataset_free(dataset);
}

/* ---- templates ---- */

/* The numbers in the built-in set mean the columns they should: each of them is looked at. */
static void the_built_in_templates_fit(void **state)
{
    (void)state;
    static const struct {
        size_t row;
        const char *text;
    } expected[] = {
        {0, "U00:In"},
        {0, "U01:in"},
        {2, "U02:NOUN"},
        {2, "U03:NNS"},
        {2, "U04:Number=Plur"},
        {2, "U05:sleep"},
        {2, "U06:VERB"},
        {2, "U07:Tense=Past"},
        {2, "U08:NOUN/L2"},
        {2, "U11:NNS/VBD"},
        {2, "U20:wns/L2"},
        {2, "U22:NOUN/VERB/pt"},
        {2, "U23:NOUN/VERB/ept"},
        {2, "U24:NOUN/VERB/ADJ"},
        {2, "U25:NOUN/VERB/PRON"},
        {2, "U27:NOUN/such"},
        {2, "U28:NOUN/he"},
        {2, "U29:NOUN/VERB/PRON"},
        {2, "U30:NOUN/VERB/PART"},
        {2, "U31:NOUN/VERB/<root>"},
        {3, "U34:PRON/NOUN/VERB/L1"},
        {2, "U35:NOUN/VERB/Ff"},
        {2, "U36:NOUN/VERB/ADP"},
        {2, "U37:NOUN/VERB/ADJ"},
        {2, "U38:NOUN/VERB/in"},
        {2, "U39:NOUN/VERB/such"},
        {2, "U42:NOUN/ADJ+ADP"},
        {2, "U45:VERB/in"},
        {2, "U50:NNS/Number=Plur/VERB/in"},
        {1, "U52:ADJ/NOUN/in"},
        {7, "U53:PUNCT/VERB/PART+VERB"},
        {7, "U54:PUNCT/VERB/VERB"},
        {2, "U56:NOUN/VERB/<none>/ADP/such"},
        {3, "U57:PRON/VERB/./L1"},
        {3, "U60:PRON/VERB/sleep"},
        {2, "U61:NOUN/VERB/in/in"},
        {5, "U64:PART/VERB/to"},
    };
    medley_dataset *derived = derive_words(SLEPT, LENGTH(SLEPT), CASE_UPOS);
    md_templates *templates = NULL;
    md_features *features = NULL;
    md_feature_ids ids = {0};
    const md_features_options options = {.threads = 1};
    assert_int_equal(md_templates_read(&templates, "relation", NULL), MEDLEY_OK);
    assert_int_equal(md_features_create(&features, &ids, templates, derived, &options, NULL),
                     MEDLEY_OK);
    for (size_t i = 0; i < LENGTH(expected); i++) {
        const size_t block = (size_t)atoi(expected[i].text + 1);
        md_text text = {0};
        assert_true(block < md_templates_count(templates));
        md_feature_text(features, block, (size_t)ids.ids[block][expected[i].row], &text);
        assert_string_equal(text.data, expected[i].text);
        md_text_clear(&text);
    }
    md_feature_ids_free(&ids);
    md_features_free(features);
    md_templates_free(templates);
    medley_dataset_free(derived);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_column_of_a_sentence),
        cmocka_unit_test(short_sentences_and_several_roots),
        cmocka_unit_test(arcs_may_cross),
        cmocka_unit_test(columns_of_random_trees_are_what_they_are_said_to_be),
        cmocka_unit_test(columns_that_a_model_does_not_know_are_no_error),
        cmocka_unit_test(distances_come_in_classes),
        cmocka_unit_test(forms_stand_in_for_lemmas),
        cmocka_unit_test(tags_can_come_from_another_column),
        cmocka_unit_test(relations_become_labels),
        cmocka_unit_test(what_is_no_tree_is_refused),
        cmocka_unit_test(the_line_of_a_bad_head_is_named),
        cmocka_unit_test(the_built_in_templates_fit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
