/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the tests of arc features: small random sentences, random templates, and the plain way
 * to features, by putting texts together. It reads the names of templates itself. */
#ifndef TESTS_ARC_CASE_H
#define TESTS_ARC_CASE_H

#include "feature/feature_case.h"

#include "feature/arc.h"

enum { ARC_FORM = 1, ARC_LEMMA, ARC_UPOS, ARC_XPOS, ARC_FEATS, ARC_FEATURES_MOST = 32 };

/* In the order of their bits, which model files depend on; the last is no universal tag. */
static const char *const arc_tags[] = {"ADJ",   "ADP",   "ADV", "AUX",  "CCONJ", "DET",
                                       "INTJ",  "NOUN",  "NUM", "PART", "PRON",  "PROPN",
                                       "PUNCT", "SCONJ", "SYM", "VERB", "X",     "verb"};
enum { ARC_TAGS = sizeof arc_tags / sizeof *arc_tags, ARC_TAGS_KNOWN = 17 };

static const char *const arc_forms[] = {"a",
                                        "A",
                                        "ab",
                                        "aB",
                                        "Abc",
                                        "abc",
                                        "abcd",
                                        "ABCE",
                                        "xabc",
                                        "yABC",
                                        "_",
                                        "stra\xc3\x9f"
                                        "e",
                                        "\xc3\xa9t\xc3\xa9",
                                        "\xc3\x89t\xc3\xa9",
                                        "\xc3\xa9t\xc3\xa9s",
                                        "\xe6\xbc\xa2\xe5\xad\x97",
                                        "\xe6\xbc\xa2\xe5\xad\x97\xe6\xbc\xa2\xe5\xad\x97",
                                        "\xf0\x9f\x99\x82",
                                        "\xf0\x9f\x99\x82\xc3\xa9"
                                        "a\xe6\xbc\xa2"};
enum { ARC_FORMS = sizeof arc_forms / sizeof *arc_forms };

static inline const char *arc_text(const medley_dataset *dataset, size_t row, size_t column)
{
    return dataset->token_values[column].items[dataset->token[row * MD_ARC_COLUMNS + column]];
}

/* Sentences of 0 to longest words, the first of one word. */
static inline medley_dataset *arc_dataset(md_random *random, size_t sentences, size_t longest)
{
    size_t *lengths = md_calloc(sentences, sizeof *lengths), rows = 0;
    assert_non_null(lengths);
    for (size_t s = 0; s < sentences; s++)
        rows += lengths[s] = s == 0 ? 1 : md_random_below(random, longest + 1);
    medley_dataset *dataset = case_empty(rows, MD_ARC_COLUMNS);
    for (size_t row = 0; row < rows; row++) {
        for (size_t c = 0; c < MD_ARC_COLUMNS; c++)
            case_set(dataset, row, c, case_texts[md_random_below(random, 6)]);
        case_set(dataset, row, ARC_FORM, arc_forms[md_random_below(random, ARC_FORMS)]);
        /* now and then a few tags, so that they come again between two words */
        case_set(dataset, row, ARC_UPOS,
                 md_random_below(random, 2) ? arc_tags[md_random_below(random, ARC_TAGS)]
                                            : arc_tags[4 + md_random_below(random, 3) * 4]);
    }
    case_sequences(dataset, lengths, sentences);
    free(lengths);
    return dataset;
}

/* One line of random fields without repeats; maybe the same as another's. */
static inline void arc_random_line(md_random *random, md_text *text)
{
    static const char *const words[] = {"form", "lower", "lemma",  "upos",
                                        "xpos", "feats", "prefix", "suffix"};
    static const char *const arcs[] = {"dir", "dist", "set.upos", "crossed", "between.upos"};
    bool used[2][7][8] = {{{false}}};
    md_text_addf(text, "{}"); /* so that repeats are dropped */
    for (size_t i = 1 + md_random_below(random, 4); i > 0; i--) {
        const size_t side = md_random_below(random, 2), word = md_random_below(random, 8);
        const int offset = md_random_below(random, 2) ? 0 : (int)md_random_below(random, 7) - 3;
        if (!used[side][offset + 3][word])
            md_text_addf(text, " %c", "hm"[side]);
        if (!used[side][offset + 3][word] && offset != 0)
            md_text_addf(text, "%+d", offset);
        if (!used[side][offset + 3][word])
            md_text_addf(text, ".%s", words[word]);
        used[side][offset + 3][word] = true;
    }
    for (size_t a = 0; a < sizeof arcs / sizeof *arcs; a++)
        if (md_random_below(random, 3) == 0)
            md_text_addf(text, " %s", arcs[a]);
    md_text_addf(text, "\n");
}

/* A built-in set and random lines behind it. */
static inline md_arc_templates *arc_templates(md_random *random, size_t set, size_t lines)
{
    md_text text = {0};
    md_arc_templates *templates = NULL;
    medley_error error = {0};
    md_text_addf(&text, "%s", md_arc_sets[set].text);
    while (lines-- > 0)
        arc_random_line(random, &text);
    if (md_arc_templates_parse(&templates, text.data, "random", &error) < 0)
        fail_msg("line %ld: %s", error.line, error.message);
    md_text_clear(&text);
    return templates;
}

/* ---- the plain way ---- */

typedef struct plain_arc {
    const medley_dataset *dataset;
    size_t first, words; /* rows of the sentence */
    size_t tags;         /* column */
    long head, modifier; /* 0: the root */
} plain_arc;

static inline size_t plain_character(char first)
{
    const unsigned char c = (unsigned char)first;
    return c < 0x80 ? 1 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4;
}

/* The first or the last three characters. */
static inline void plain_affix(md_text *out, const char *text, bool is_prefix)
{
    size_t start[64], count = 0, at = 0;
    for (; text[at] != '\0'; at += plain_character(text[at]))
        start[count++] = at;
    start[count] = at;
    const size_t from = is_prefix || count < 3 ? 0 : count - 3;
    const size_t to = !is_prefix || count < 3 ? count : 3;
    md_text_add(out, text + start[from], start[to] - start[from]);
}

/* Control characters cannot be in texts. */
static inline void plain_word(md_text *out, const plain_arc *arc, const char *field)
{
    long place = field[0] == 'h' ? arc->head : arc->modifier;
    const char *name = strchr(field, '.') + 1;
    if (field[1] != '.')
        place += strtol(field + 1, NULL, 10);
    if (place <= 0 || place > (long)arc->words) {
        md_text_addf(out, "%s", place < 0 ? "\1before" : place == 0 ? "\1root" : "\1behind");
        return;
    }
    const size_t column = strcmp(name, "lemma") == 0   ? ARC_LEMMA
                          : strcmp(name, "upos") == 0  ? arc->tags
                          : strcmp(name, "xpos") == 0  ? ARC_XPOS
                          : strcmp(name, "feats") == 0 ? ARC_FEATS
                                                       : ARC_FORM;
    const char *text = arc_text(arc->dataset, arc->first + (size_t)place - 1, column);
    const size_t from = out->length;
    const bool is_affix = strcmp(name, "prefix") == 0 || strcmp(name, "suffix") == 0;
    if (is_affix)
        plain_affix(out, text, name[0] == 'p');
    else
        md_text_addf(out, "%s", text);
    for (size_t i = from; (is_affix || strcmp(name, "lower") == 0) && i < out->length; i++)
        if (out->data[i] >= 'A' && out->data[i] <= 'Z')
            out->data[i] = (char)tolower(out->data[i]);
}

/* How many words between the ends have that tag. */
static inline int plain_between(const plain_arc *arc, const char *tag)
{
    const long left = arc->head < arc->modifier ? arc->head : arc->modifier;
    const long right = arc->head + arc->modifier - left;
    int count = 0;
    for (long i = left + 1; i < right; i++)
        count += strcmp(arc_text(arc->dataset, arc->first + (size_t)i - 1, arc->tags), tag) == 0;
    return count;
}

static inline const char *plain_distance(const plain_arc *arc)
{
    const long distance = labs(arc->head - arc->modifier);
    if (distance < 5)
        return &"4\0"
                "3\0"
                "2\0"
                "1"[2 * (4 - distance)];
    return distance < 7 ? "5-6" : distance < 11 ? "7-10" : distance < 21 ? "11-20" : ">20";
}

static inline int at_most(int x, int most)
{
    return x < most ? x : most;
}

static inline void plain_field(md_text *out, const plain_arc *arc, const char *field)
{
    const char *dir = arc->head < arc->modifier ? "right" : "left";
    if (strcmp(field, "dir") == 0)
        md_text_addf(out, "%s", dir);
    else if (strcmp(field, "dist") == 0)
        md_text_addf(out, "%s %s", dir, plain_distance(arc));
    else if (strcmp(field, "crossed") == 0)
        md_text_addf(out, "%d %d %d", at_most(plain_between(arc, "VERB"), 2),
                     at_most(plain_between(arc, "PUNCT"), 2),
                     at_most(plain_between(arc, "CCONJ") + plain_between(arc, "SCONJ"), 1));
    else if (strcmp(field, "set.upos") == 0)
        for (size_t t = 0; t < ARC_TAGS; t++)
            md_text_addf(out, "%s ", plain_between(arc, arc_tags[t]) > 0 ? arc_tags[t] : "");
    else if (strcmp(field, "between.upos") != 0 && strcmp(field, "bias") != 0)
        plain_word(out, arc, field);
}

/* Features of a template, as many as are returned: texts without and with one of the tags between,
 * and the places of those tags in arc_tags. */
static inline size_t plain_features(const plain_arc *arc, const char *name, md_text *base,
                                    size_t tag[ARC_FEATURES_MOST])
{
    char copy[256], *rest = NULL;
    size_t count = 0;
    base->length = 0;
    md_text_add(base, "", 0);
    snprintf(copy, sizeof copy, "%s", name);
    for (char *at = strtok_r(copy, " ", &rest); at != NULL; at = strtok_r(NULL, " ", &rest)) {
        plain_field(base, arc, at);
        md_text_add(base, "\2", 1);
    }
    if (strstr(name, "between.upos") == NULL)
        return 1;
    for (size_t t = 0; t < ARC_TAGS; t++)
        if (plain_between(arc, arc_tags[t]) > 0)
            tag[count++] = t;
    return count;
}

/* ---- the features that are to be checked ---- */

static inline uint32_t arc_key_sum(const md_arc_key *key, size_t head, size_t modifier)
{
    const size_t place = (modifier - 1) * (key->length + 1) + head;
    return key->head[head] + key->modifier[modifier] +
           key->distance[(ptrdiff_t)head - (ptrdiff_t)modifier] +
           (key->arc != NULL ? key->arc[place] : 0);
}

/* In the order of bits. */
static inline size_t arc_features(const md_arc_key *key, size_t head, size_t modifier,
                                  uint32_t features[ARC_FEATURES_MOST])
{
    const uint32_t sum = arc_key_sum(key, head, modifier);
    size_t count = 0;
    if (key->bag == MD_ARC_NO_BAG) {
        features[0] = md_arc_mix(sum);
        return 1;
    }
    const uint32_t tags = key->tags[(modifier - 1) * (key->length + 1) + head];
    for (size_t b = 0; b < 32; b++)
        if ((tags >> b & 1) != 0)
            features[count++] = md_arc_mix(sum + key->tag_hash[b]);
    return count;
}

static inline md_arcs *arc_create(const md_arc_templates *templates, const md_arc_source *source,
                                  size_t threads)
{
    md_arcs *arcs = NULL;
    medley_error error = {0};
    if (md_arcs_create(&arcs, templates, source, threads, &error) < 0)
        fail_msg("%s", error.message);
    return arcs;
}

#endif
