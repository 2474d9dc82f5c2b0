/* SPDX-License-Identifier: BSD-3-Clause */
/* A small grammar of English and its lexicon, for the generators of sentences. */
#ifndef MD_GEN_GRAMMAR_H
#define MD_GEN_GRAMMAR_H

#include "base/base.h"

/* One way to write a symbol. `symbol` may end in .s or .p: then it is for singular or plural only.
 * A name that ends in @ stands for all names that begin like it, and @ in the parts for what
 * follows there: "VG@" writes VGi as well as VGt.
 *
 * Parts are separated by blanks: NAME[/FORM][.NUMBER][:RELATION][!]. NAME is a symbol or a class of
 * words, FORM that of a verb (base, pres, past, part, ing). NUMBER n is the number of the whole, m
 * one that the parts of this rule share, s and p are given; without it the number is drawn. The
 * part with ! is the head, on which the others depend by their RELATIONs. */
typedef struct md_grammar_rule {
    const char *symbol;
    int weight;        /* against the other ways */
    const char *chunk; /* its words are one chunk of this kind; NULL: each part says itself */
    const char *parts;
} md_grammar_rule;

/* How the forms of a word are listed, with a blank between two of them. */
typedef enum md_inflection {
    MD_WORD_PLAIN,  /* one form */
    MD_WORD_NOUN,   /* singular, plural */
    MD_WORD_VERB,   /* base, third person, past, participle, -ing; of be: base, is, are, was, were,
                       participle, -ing */
    MD_WORD_NAME,   /* one form, or one that is made up */
    MD_WORD_NUMBER, /* one form, or digits */
} md_inflection;

typedef struct md_word_class {
    const char *name, *upos, *xpos; /* xpos NULL: it follows from the form */
    const char *chunk;              /* of a word that is in no larger one; NULL: none */
    const char *feats;              /* NULL: they follow from the form */
    md_inflection inflection;
    const char *const *words; /* [count], the frequent ones first */
    size_t count;
} md_word_class;

extern const md_grammar_rule md_grammar_rules[];
extern const size_t md_grammar_rule_count;
extern const md_word_class md_word_classes[];
extern const size_t md_word_class_count;

#endif
