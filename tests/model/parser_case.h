/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the tests of parsing models: small treebanks, written with blanks, and models of them.
 */
#ifndef TESTS_MODEL_PARSER_CASE_H
#define TESTS_MODEL_PARSER_CASE_H

#include "base/text.h"
#include "data/dataset.h"
#include "fit/fitting.h"
#include "io/reading.h"

/* Number, form, UPOS, XPOS, head and relation of each word; a point is an empty line. The fourth
 * tree is not projective. */
static const char small_treebank[] =
    "1 the DET DT 2 det/2 dog NOUN NN 3 nsubj/3 barks VERB VB 0 root/"
    "4 . PUNCT . 3 punct/./"
    "1 a DET DT 3 det/2 big ADJ JJ 3 amod/3 cat NOUN NN 4 nsubj/"
    "4 sees VERB VB 0 root/5 the DET DT 6 det/6 dog NOUN NN 4 obj/"
    "7 . PUNCT . 4 punct/./"
    "1 cats NOUN NN 2 nsubj/2 sleep VERB VB 0 root/./"
    "1 dogs NOUN NN 2 nsubj/2 see VERB VB 0 root/"
    "3 cats NOUN NN 2 obj/4 alone PRON PRP 1 nmod/"
    "5 . PUNCT . 2 punct/./"
    "1 the DET DT 3 det/2 old ADJ JJ 3 amod/3 boy NOUN NN 4 nsubj/"
    "4 sleeps VERB VB 0 root/5 in ADP IN 7 case/6 a DET DT 7 det/"
    "7 house NOUN NN 4 obl/8 . PUNCT . 4 punct/./"
    "1 sleep VERB VB 0 root/./";

/* Sentences that are not among them. */
static const char other_treebank[] = "1 a DET DT 2 det/2 boy NOUN NN 3 nsubj/3 sees VERB VB 0 root/"
                                     "4 the DET DT 6 det/5 old ADJ JJ 6 amod/6 house NOUN NN 3 obj/"
                                     "7 . PUNCT . 3 punct/./"
                                     "1 dogs NOUN NN 2 nsubj/2 bark VERB VB 0 root/"
                                     "3 in ADP IN 4 case/4 houses NOUN NN 2 obl/"
                                     "5 . PUNCT . 2 punct/./";

static const char small_templates[] = "{h,m}.upos dir\nh.upos m.upos {,dist}\nh.form m.upos\n"
                                      "h.upos m.upos between.upos\nh.xpos m.xpos crossed\n";

static inline medley_dataset *treebank(const char *lines)
{
    medley_dataset *dataset = NULL;
    medley_error error = {0};
    medley_read_options options = MEDLEY_READ_OPTIONS_INIT;
    md_text text = {0};
    char copy[2048];
    char *rest = NULL;
    assert_true(strlen(lines) < sizeof copy);
    snprintf(copy, sizeof copy, "%s", lines);
    for (char *line = strtok_r(copy, "/", &rest); line; line = strtok_r(NULL, "/", &rest)) {
        char word[6][16];
        if (strcmp(line, ".") == 0) {
            md_text_addf(&text, "\n");
            continue;
        }
        assert_int_equal(sscanf(line, "%15s %15s %15s %15s %15s %15s", word[0], word[1], word[2],
                                word[3], word[4], word[5]),
                         6);
        md_text_addf(&text, "%s\t%s\t_\t%s\t%s\t_\t%s\t%s\t_\t_\n", word[0], word[1], word[2],
                     word[3], word[4], word[5]);
    }
    options.format = "conllu";
    if (read_text(&dataset, text.data, text.length, &options, &error) != MEDLEY_OK)
        fail_msg("line %ld: %s", error.line, error.message);
    md_text_clear(&text);
    return dataset;
}

/* The file of templates: one, since models remember its name. */
static char templates_path[PATH_SIZE];

static inline void remove_templates(void)
{
    unlink(templates_path);
}

/* What is small enough for tests, and then these. */
static inline medley_options *parser_options(const char *given)
{
    char text[512];
    medley_error error = {0};
    if (templates_path[0] == '\0') {
        temporary_path(templates_path);
        write_bytes(templates_path, small_templates, strlen(small_templates));
        atexit(remove_templates);
    }
    snprintf(text, sizeof text, "task=tree hash-bits=6 eta0=0.3 epochs=4 threads=1 %s", given);
    medley_options *options = make_options(text);
    assert_int_equal(medley_options_set(options, "template", templates_path, &error), MEDLEY_OK);
    return options;
}

static inline medley_model *fit_parser(const medley_dataset *train, const medley_dataset *dev,
                                       const char *given)
{
    medley_model *model = NULL;
    medley_error error = {0};
    medley_options *options = parser_options(given);
    if (medley_fit(&model, train, dev, options, NULL, &error) != MEDLEY_OK)
        fail_msg("%s: %s", given, error.message);
    medley_options_free(options);
    return model;
}

/* Every sentence a tree, with one word at the root unless many are allowed. */
static inline void assert_trees(const medley_dataset *dataset, const int32_t *head, bool many_roots)
{
    for (size_t s = 0; s < dataset->sequence_count; s++) {
        const size_t first = dataset->sequence_start[s];
        const size_t words = dataset->sequence_start[s + 1] - first;
        size_t roots = 0;
        for (size_t w = 1; w <= words; w++) {
            size_t at = w;
            size_t steps = 0;
            roots += head[first + w - 1] == 0;
            for (; at != 0 && steps <= words; steps++) {
                assert_in_range(head[first + at - 1], 0, words);
                at = (size_t)head[first + at - 1];
            }
            assert_int_equal(at, 0); /* else there is a cycle */
        }
        assert_true(words == 0 || (many_roots ? roots >= 1 : roots == 1));
    }
}

static inline bool same_trees(const medley_prediction *a, const medley_prediction *b)
{
    return a->rows == b->rows && !a->label == !b->label &&
           memcmp(a->head, b->head, a->rows * sizeof *a->head) == 0 &&
           (a->label == NULL || memcmp(a->label, b->label, a->rows * sizeof *a->label) == 0);
}

#endif
