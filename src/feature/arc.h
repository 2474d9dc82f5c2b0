/* SPDX-License-Identifier: BSD-3-Clause */
/* Arc templates: feature templates of a dependency arc, and the features of sentences.
 *
 * A template is a conjunction of fields: of the head (h.upos), of the modifier (m.form), of their
 * neighbours (h-1.upos, m+2.xpos), of the arc itself (dir, dist, set.upos, crossed) and, as those
 * with several features at once, between.upos, one feature for each tag that stands between, and
 * h.feats[], m.feats[] and both.feats[], one for each feature of a word or of both. One line is one
 * template, or several: {a,b,c} stands for each of its items, and an empty item for nothing.
 * docs/arc-templates.md describes the language.
 *
 * Features have no dictionary. Texts become numbers once, by hashing; the fields of one side
 * of an arc become one number per word and side, and the feature of an arc is the sum of at most
 * four such numbers, mixed: a few instructions, the same for all heads of a word. A table of
 * weights with 2^bits slots is looked up by the upper bits of it. */
#ifndef MD_ARC_H
#define MD_ARC_H

#include "data/dataset.h"
#include "feature/template_source.h"

/* ---- templates ---- */

typedef struct md_arc_templates md_arc_templates;

/* path: a file, or the name of a built-in set ("arc-507"), second: with what that has for siblings
 * and grandparents. Errors name the file and the line. */
medley_status md_arc_templates_read(md_arc_templates **templates, const char *path, bool second,
                                    medley_error *error);
/* source: the name for messages. */
medley_status md_arc_templates_parse(md_arc_templates **templates, const char *text,
                                     const char *source, medley_error *error);
void md_arc_templates_free(md_arc_templates *templates);
MD_OWNER(md_arc_templates_free, md_arc_templates)

size_t md_arc_templates_count(const md_arc_templates *templates);
/* The template as text, its fields in the order written: "h.form m.upos dist". */
const char *md_arc_templates_name(const md_arc_templates *templates, size_t t);

/* What a template is about: arcs alone, or arcs with the next sibling (s.upos) or the grandparent
 * (g.upos). */
typedef enum md_arc_parts { MD_ARC_ARCS, MD_ARC_SIBLINGS, MD_ARC_GRANDS } md_arc_parts;
md_arc_parts md_arc_templates_parts(const md_arc_templates *templates, size_t t);

/* May an arc have several features of it (between.upos, m.feats[])? */
bool md_arc_templates_is_bag(const md_arc_templates *templates, size_t t);

/* Only those with keep[t]; features of the others stay the same. */
medley_status md_arc_templates_subset(md_arc_templates **subset, const md_arc_templates *templates,
                                      const bool *keep, medley_error *error);

/* Names of the built-in sets, NULL-terminated, and what they are. */
extern const md_template_set md_arc_sets[]; /* name NULL: the end */
extern const char *const md_arc_second[];   /* what order 2 adds to each; NULL: nothing */

/* To and from the bytes of a model file: the templates as text. A damaged input gives in->bad and a
 * failure. */
void md_arc_templates_pack(md_text *out, const md_arc_templates *templates);
medley_status md_arc_templates_unpack(md_arc_templates **templates, md_unpack *in,
                                      medley_error *error);

/* ---- features of sentences ---- */

/* Some sentences of a data set of tagged words with the ten columns of CoNLL-U. */
typedef struct md_arc_source {
    const medley_dataset *dataset;
    size_t first, count; /* sequences */
    const size_t *which; /* [count] these, in place of those from first on; NULL: none are named */
    size_t tags;         /* column that `upos` means; MD_ARC_UPOS unless the user says otherwise */
} md_arc_source;

enum { MD_ARC_COLUMNS = 10, MD_ARC_UPOS = 3 };

/* The column of CoNLL-U with this name or 1-based number. */
medley_status md_arc_column(size_t *column, const char *text, medley_error *error);

typedef struct md_arcs md_arcs;

medley_status md_arcs_create(md_arcs **arcs, const md_arc_templates *templates,
                             const md_arc_source *source, size_t threads, medley_error *error);
void md_arcs_free(md_arcs *arcs);
MD_OWNER(md_arcs_free, md_arcs)

/* Bytes that md_arcs_create would take. */
size_t md_arcs_bytes(const md_arc_templates *templates, const md_arc_source *source);

/* What a template has several features of. */
typedef enum md_arc_bag {
    MD_ARC_NO_BAG,
    MD_ARC_TAG_BAG,
    MD_ARC_HEAD_BAG,
    MD_ARC_MODIFIER_BAG,
    MD_ARC_BOTH_BAG
} md_arc_bag;

enum {
    MD_ARC_MOST = 32,       /* features of one template that an arc can have */
    MD_ARC_FEATS_MOST = 12, /* of a word; further ones are not looked at */
    MD_ARC_FEATS = 1 + 2 * MD_ARC_FEATS_MOST
};

/* What makes the features of one template in one sentence of n words; the head h = 0 is the root,
 * words are 1 .. n. The key of the arc h -> m is
 *     head[h] + modifier[m] + distance[h - m] + arc[(m - 1) * (n + 1) + h]
 * without the last where arc is NULL, and its only feature is md_arc_mix(key). Where there is a
 * bag, there is one feature for each of md_arc_bag_of, perhaps none: md_arc_mix(key + hash). The
 * part h == m is no arc, but may be read. Where there is a third word t, its key is that of the arc
 * with third[t], far and md_arc_turn added. */
typedef struct md_arc_key {
    size_t length;            /* n */
    const uint32_t *head;     /* [n + 2] */
    const uint32_t *modifier; /* [n + 2] */
    const uint32_t *third;    /* [n + 2] of siblings or grandparents; n + 1 is after all words */
    const uint32_t *far;      /* [-n .. n] of the places of a word and its sibling, or of the
                                 grandparent and the head */
    const uint32_t *distance; /* [-n .. n] */
    const uint32_t *arc;      /* [n][n + 1] or NULL */
    md_arc_bag bag;
    const uint32_t *tags;     /* [n][n + 1] sets of bits, of a bag of tags */
    const uint32_t *tag_hash; /* [32] */
    const uint32_t *feats;    /* [n + 2][MD_ARC_FEATS] of words: how many, then names and values */
} md_arc_key;

/* What the features of h -> m differ by; returns how many. */
size_t md_arc_bag_of(const md_arc_key *key, size_t m, size_t h, uint32_t hash[MD_ARC_MOST]);

/* sentence: counted from source.first. */
md_arc_key md_arcs_key(const md_arcs *arcs, size_t sentence, size_t t);

/* What turns of three words (structure/heads.h) add to the key of a part of second order. */
static inline uint32_t md_arc_turn(uint32_t turn)
{
    return turn * 0x3c6ef35fu;
}

static inline uint32_t md_arc_mix(uint32_t key)
{
    key ^= key >> 15;
    key *= 0x2c1b3c6du;
    key ^= key >> 12;
    key *= 0x297a2d39u;
    return key;
}

#endif
