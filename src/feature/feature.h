/* SPDX-License-Identifier: BSD-3-Clause */
/* Feature templates for tagged words: CRF++ and Wapiti template files read as they are. Every line
 * is one template and, later, one block: at each row of a data set it has one feature, named by the
 * texts its macros find around that row. A feature space is made once from training data and then
 * gives features of any data set.
 *
 * Texts are looked at once per distinct text: a macro is a derived column (a number for each
 * distinct text of a column), and a feature is a tuple of such numbers, found by hashing numbers.
 */
#ifndef MD_FEATURE_H
#define MD_FEATURE_H

#include "base/pack.h"
#include "data/dataset.h"
#include "feature/template_source.h"

/* ---- template files ---- */

typedef struct md_templates md_templates;

/* Built-in sets, found by name; the last one's name is NULL. */
extern const md_template_set md_template_sets[];

/* Of a file, or of a built-in set if there is no such file. A line starts with U (features of a
 * label), B (of a pair of labels) or * (both, Wapiti), in either case. Macros: %x[row,column],
 * %m[row,column,"pattern"] (the part that matches), %t[...] (true or false); capitals (%X, %M, %T)
 * fold letter case; row may be @1 or @-1 (from the start or the end of the sequence, Wapiti). #
 * starts a comment line; blank lines are skipped. */
medley_status md_templates_read(md_templates **templates, const char *path_or_name,
                                medley_error *error);

/* The same from memory; source: named in messages. */
medley_status md_templates_parse(md_templates **templates, const char *text, size_t length,
                                 const char *source, medley_error *error);
void md_templates_free(md_templates *templates);
MD_OWNER(md_templates_free, md_templates)

/* Blocks: one for each line, two for a line with * (unary first). */
size_t md_templates_count(const md_templates *templates);
const char *md_templates_name(const md_templates *templates, size_t block); /* the line; "*..." in
                                                                              its U or B form */
bool md_templates_is_pair(const md_templates *templates, size_t block);
/* Has no macros: the same feature at every row. */
bool md_templates_is_constant(const md_templates *templates, size_t block);

/* Only the blocks with keep[block] (NULL: all of them); the original is untouched. */
medley_status md_templates_subset(md_templates **subset, const md_templates *templates,
                                  const bool *keep, medley_error *error);

/* ---- feature spaces ---- */

typedef struct md_features md_features;

typedef struct md_features_options {
    size_t min_count; /* features seen less often in training do not count; 0 and 1: all do */
    size_t hash_bits; /* 0: an exact dictionary; else no dictionary and 2^bits slots in each block
                         (1 in a constant one); at most 30, and not together with min_count */
    size_t threads;
} md_features_options;

/* ids[block][rows]: the feature of each block at each row of a data set, -1 where it has none.
 * Freed by md_feature_ids_free. */
typedef struct md_feature_ids {
    int32_t **ids;
    size_t block_count, rows;
} md_feature_ids;

void md_feature_ids_free(md_feature_ids *ids);

/* Makes the space from training data, and their features. Numbering: by first appearance, row by
 * row, the same for any number of threads. templates is copied. Fails with the template's file and
 * line where a macro names a column that the data do not have, or if there are no token columns. */
medley_status md_features_create(md_features **features, md_feature_ids *ids,
                                 const md_templates *templates, const medley_dataset *train,
                                 const md_features_options *options, medley_error *error);
void md_features_free(md_features *features);
MD_OWNER(md_features_free, md_features)

/* Features of new data. Texts never seen in training are unknown: a feature that needs one is not
 * there (-1), unless features are hashed. Fails if the data have too few token columns. */
medley_status md_features_apply(const md_features *features, md_feature_ids *ids,
                                const medley_dataset *dataset, size_t threads, medley_error *error);

const md_templates *md_features_templates(const md_features *features);
size_t md_features_count(const md_features *features, size_t block); /* features of a block */

/* The feature as text, such as "U05:the/dog"; hashed features: "U05:#123". Appended. */
void md_feature_text(const md_features *features, size_t block, size_t id, md_text *text);

/* Only some blocks and features: keep[block] NULL drops a block, else keep[block][id] tells which
 * features stay; they keep their order and are numbered anew. Texts that no feature needs any more
 * are dropped too (hashed spaces keep all slots of the kept blocks: keep[block] is only tested for
 * NULL). What a model stores. */
medley_status md_features_subset(md_features **subset, const md_features *features,
                                 const bool *const *keep, medley_error *error);

/* To and from the bytes of a model file. A damaged input gives in->bad and a failure. */
void md_features_pack(md_text *out, const md_features *features);
medley_status md_features_unpack(md_features **features, md_unpack *in, medley_error *error);

#endif
