/* SPDX-License-Identifier: BSD-3-Clause */
/* Sentences drawn from the grammar: trees that are trees, phrases that are phrases, words that
 * agree, and as much noise as was asked for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "data/dataset.h"
#include "data/projective.h"
#include "generate/gen_grammar.h"
#include "generate/gen_sentences.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static medley_dataset *generate(const char *name, size_t rows, uint64_t seed, double noise)
{
    medley_generate_options options = MEDLEY_GENERATE_OPTIONS_INIT;
    medley_dataset *dataset = NULL;
    medley_error error = {0};
    options.rows = rows;
    options.seed = seed;
    options.noise = noise;
    if (medley_generate(&dataset, name, &options, &error) != MEDLEY_OK)
        fail_msg("%s", error.message);
    return dataset;
}

static bool is(const char *text, const char *other)
{
    return strcmp(text, other) == 0;
}

/* ---- the grammar ---- */

/* Every name in the rules is a symbol or a class of words, every word fits where it is kept, and
 * every rule has one head: else drawing would fail, now or for another seed. */
static void the_grammar_has_no_loose_ends(void **state)
{
    (void)state;
    md_random random;
    md_random_seed(&random, 1);
    medley_error error = {0};
    md_sentence sentence;
    bool seen[64] = {false};
    assert_true(md_word_class_count <= 64);
    for (size_t s = 0; s < 1500; s++) {
        if (md_sentence_draw(&sentence, 0, &random, &error) != MEDLEY_OK)
            fail_msg("%s", error.message);
        assert_true(sentence.count >= 3 && sentence.count <= MD_SENTENCE_MOST);
        for (size_t w = 0; w < sentence.count; w++) {
            const md_word *word = &sentence.words[w];
            assert_true(word->form[0] != '\0' && strchr(word->form, ' ') == NULL);
            assert_non_null(word->upos);
            assert_non_null(word->xpos);
            assert_non_null(word->feats);
            assert_non_null(word->relation);
            for (size_t c = 0; c < md_word_class_count; c++)
                for (size_t i = 0; i < md_word_classes[c].count; i++)
                    seen[c] = seen[c] || (is(word->upos, md_word_classes[c].upos) &&
                                          strncmp(md_word_classes[c].words[i], word->lemma,
                                                  strlen(word->lemma)) == 0);
        }
    }
    for (size_t c = 0; c < md_word_class_count; c++)
        if (!seen[c])
            fail_msg("no sentence has a word of the class %s", md_word_classes[c].name);
    for (size_t r = 0; r < md_grammar_rule_count; r++) {
        const char *head = strchr(md_grammar_rules[r].parts, '!');
        assert_non_null(head);
        assert_null(strchr(head + 1, '!'));
    }
}

static size_t count_forms(const char *forms)
{
    size_t count = 1;
    for (; *forms != '\0'; forms++)
        count += *forms == ' ';
    return count;
}

static void every_word_has_its_forms(void **state)
{
    (void)state;
    md_strings distinct = {0};
    for (size_t c = 0; c < md_word_class_count; c++) {
        const md_word_class *class = &md_word_classes[c];
        for (size_t i = 0; i < class->count; i++) {
            const size_t forms = count_forms(class->words[i]);
            if (class->inflection == MD_WORD_NOUN)
                assert_int_equal(forms, 2);
            else if (class->inflection == MD_WORD_VERB)
                assert_true(forms == 5 || forms == 7);
            else
                assert_int_equal(forms, 1);
            assert_true(strlen(class->words[i]) < 80);
            for (const char *form = class->words[i]; form != NULL; form = strchr(form, ' ')) {
                form += *form == ' ';
                assert_true(strcspn(form, " ") < MD_WORD_BYTES - 1);
            }
            assert_true(md_strings_add(&distinct, class->words[i], strcspn(class->words[i], " ")) >=
                        0);
        }
    }
    assert_in_range(distinct.count, 200, 400);
    md_strings_clear(&distinct);
}

/* ---- agreement ---- */

static bool has_conjunct(const md_sentence *sentence, int word)
{
    bool found = false;
    for (size_t w = 0; w < sentence->count; w++)
        found =
            found || (sentence->words[w].head == word && is(sentence->words[w].relation, "conj"));
    return found;
}

/* Without noise subjects agree with their verbs, "a" with the next word, and numbers with nouns. */
static void words_agree(void **state)
{
    (void)state;
    md_random random;
    md_random_seed(&random, 2);
    medley_error error = {0};
    md_sentence sentence;
    size_t looked_at = 0;
    for (size_t s = 0; s < 1000; s++) {
        assert_int_equal(md_sentence_draw(&sentence, 0, &random, &error), MEDLEY_OK);
        assert_true(sentence.words[0].form[0] < 'a'); /* a capital, or a digit */
        for (size_t w = 0; w < sentence.count; w++) {
            const md_word *word = &sentence.words[w];
            const md_word *head = word->head >= 0 ? &sentence.words[word->head] : NULL;
            if (head != NULL && is(word->relation, "nsubj") && is(word->xpos, "NN")) {
                assert_false(is(head->xpos, "VBZ") && has_conjunct(&sentence, (int)w));
                assert_false(is(head->xpos, "VBP") && !has_conjunct(&sentence, (int)w));
                looked_at += is(head->xpos, "VBZ");
            }
            if (head != NULL && is(word->relation, "nsubj") && is(word->xpos, "NNS"))
                assert_false(is(head->xpos, "VBZ"));
            if (head != NULL && is(word->relation, "nummod"))
                assert_string_equal(head->xpos, "NNS");
            if (is(word->form, "a") || is(word->form, "an"))
                assert_int_equal(is(word->form, "an"), strchr("aeiou", word[1].form[0]) != NULL);
        }
    }
    assert_true(looked_at > 50);
}

/* ---- trees ---- */

static void trees_have_one_root_and_no_cycle(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed < 4; seed++) {
        for (double noise = 0; noise < 20; noise = noise * 4 + 1) {
            medley_dataset *dataset = generate("treebank", 200, seed, noise);
            medley_error error = {0};
            if (md_dataset_check_trees(dataset, false, &error) != MEDLEY_OK)
                fail_msg("%s", error.message);
            size_t crossed = 0;
            for (size_t s = 0; s < dataset->sequence_count; s++) {
                const size_t first = dataset->sequence_start[s];
                crossed += !tree_is_projective(dataset->head + first,
                                               dataset->sequence_start[s + 1] - first);
            }
            if (noise == 0)
                assert_int_equal(crossed, 0);
            if (noise > 10)
                assert_true(crossed > 20);
            for (size_t r = 0; r < dataset->rows; r++) {
                char head[16];
                snprintf(head, sizeof head, "%d", (int)dataset->head[r]);
                assert_string_equal(medley_dataset_word(dataset, r, 6), head);
                assert_int_equal(dataset->head[r] == 0,
                                 is(medley_dataset_word(dataset, r, 7), "root"));
                assert_string_equal(
                    medley_dataset_word(dataset, r, 3),
                    medley_dataset_label_name(dataset, (size_t)medley_dataset_label(dataset, r)));
            }
            medley_dataset_free(dataset);
        }
    }
}

/* ---- phrases ---- */

static void phrases_begin_before_they_continue(void **state)
{
    (void)state;
    static const char *const kinds[] = {"NP", "VP", "PP", "ADJP", "ADVP", "SBAR", "PRT"};
    for (double noise = 0; noise < 20; noise = noise * 4 + 1) {
        medley_dataset *dataset = generate("tagged", 600, 3, noise);
        bool seen[7] = {false};
        for (size_t s = 0; s < dataset->sequence_count; s++) {
            const char *before = "O";
            for (size_t r = dataset->sequence_start[s]; r < dataset->sequence_start[s + 1]; r++) {
                const char *label = dataset->label_names.items[dataset->label[r]];
                if (label[0] == 'I')
                    assert_true(before[0] != 'O' && is(before + 2, label + 2));
                for (size_t k = 0; k < 7 && label[0] == 'B'; k++)
                    seen[k] = seen[k] || is(kinds[k], label + 2);
                assert_true(is(label, "O") || strncmp(label, "B-", 2) == 0 ||
                            strncmp(label, "I-", 2) == 0);
                before = label;
            }
        }
        for (size_t k = 0; k < 7; k++)
            assert_true(seen[k]);
        assert_int_equal(dataset->token_columns, 2);
        assert_null(dataset->head);
        medley_dataset_free(dataset);
    }
}

/* Both generators draw the same sentences from one seed: one set of words, two things to learn. */
static void one_seed_gives_the_same_sentences_to_both(void **state)
{
    (void)state;
    medley_dataset *tagged = generate("tagged", 50, 9, 1);
    medley_dataset *trees = generate("treebank", 50, 9, 1);
    medley_dataset *other = generate("tagged", 50, 10, 1);
    assert_int_equal(tagged->rows, trees->rows);
    size_t differ = tagged->rows != other->rows;
    for (size_t r = 0; r < tagged->rows; r++) {
        assert_string_equal(medley_dataset_word(tagged, r, 0), medley_dataset_word(trees, r, 1));
        assert_string_equal(medley_dataset_word(tagged, r, 1), medley_dataset_word(trees, r, 4));
        differ += r < other->rows &&
                  !is(medley_dataset_word(tagged, r, 0), medley_dataset_word(other, r, 0));
    }
    assert_true(differ > 10);
    medley_dataset_free(tagged);
    medley_dataset_free(trees);
    medley_dataset_free(other);
}

/* ---- noise and novelty ---- */

/* The share of words of `tested` that are not among those of `known`. */
static double unseen(const medley_dataset *known, const medley_dataset *tested)
{
    size_t count = 0;
    for (size_t r = 0; r < tested->rows; r++) {
        const char *form = medley_dataset_word(tested, r, 0);
        count += md_strings_find(&known->token_values[0], form, strlen(form)) < 0;
    }
    return (double)count / (double)tested->rows;
}

static void some_words_are_new_and_noise_makes_more(void **state)
{
    (void)state;
    medley_dataset *known = generate("tagged", 2000, 1, 0);
    double share[3];
    for (size_t i = 0; i < 3; i++) {
        medley_dataset *tested = generate("tagged", 1000, 2, (double)(2 * i));
        share[i] = unseen(known, tested);
        medley_dataset_free(tested);
    }
    medley_dataset_free(known);
    assert_true(share[0] > 0.002 && share[0] < 0.04);
    assert_true(share[1] > share[0] + 0.02 && share[1] < share[0] + 0.06);
    assert_true(share[2] > share[1] + 0.02);
}

/* One place more than sentences is needed, and there is no such number. */
static void too_many_sentences_are_refused(void **state)
{
    (void)state;
    static const char *const names[] = {"tagged", "treebank"};
    for (size_t i = 0; i < 2; i++) {
        medley_generate_options options = MEDLEY_GENERATE_OPTIONS_INIT;
        medley_dataset *dataset = NULL;
        medley_error error = {0};
        options.rows = SIZE_MAX;
        assert_int_equal(medley_generate(&dataset, names[i], &options, &error), MEDLEY_FAILED);
        assert_null(dataset);
    }
}

static void options_of_other_generators_are_refused(void **state)
{
    (void)state;
    static const char *const names[] = {"tagged", "treebank"};
    for (size_t i = 0; i < 2; i++) {
        medley_generate_options wrong[3] = {MEDLEY_GENERATE_OPTIONS_INIT,
                                            MEDLEY_GENERATE_OPTIONS_INIT,
                                            MEDLEY_GENERATE_OPTIONS_INIT};
        wrong[0].dimension = 3;
        wrong[1].views = 2;
        wrong[2].classes = 2;
        for (size_t w = 0; w < 3; w++) {
            medley_dataset *dataset = NULL;
            medley_error error = {0};
            assert_int_equal(medley_generate(&dataset, names[i], &wrong[w], &error), MEDLEY_USAGE);
            assert_non_null(strstr(error.message, "leave"));
            assert_null(dataset);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_grammar_has_no_loose_ends),
        cmocka_unit_test(every_word_has_its_forms),
        cmocka_unit_test(words_agree),
        cmocka_unit_test(trees_have_one_root_and_no_cycle),
        cmocka_unit_test(phrases_begin_before_they_continue),
        cmocka_unit_test(one_seed_gives_the_same_sentences_to_both),
        cmocka_unit_test(some_words_are_new_and_noise_makes_more),
        cmocka_unit_test(too_many_sentences_are_refused),
        cmocka_unit_test(options_of_other_generators_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
