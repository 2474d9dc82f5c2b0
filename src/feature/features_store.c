/* SPDX-License-Identifier: BSD-3-Clause */
/* Feature spaces cut down to what a model needs, and to and from bytes. Stored are the templates as
 * text, the vocabulary of each function and the tuples of each block, in the order of their
 * numbers; tables are made anew. */
#include "feature/space.h"

/* ---- subsets ---- */

typedef struct value_cut {
    const md_features *from;
    md_features *to;
    const bool *const *keep;
    size_t *block;    /* [to's blocks] their number in from */
    size_t *function; /* [to's functions] likewise */
    int32_t **value;  /* [to's functions][from's values] the new number; -1: not needed */
} value_cut;

static size_t function_of(const md_features *features, size_t block, size_t place)
{
    const md_templates *templates = features->templates;
    return templates->macros[templates->blocks[block].macro[place]].function;
}

static void clear_cut(value_cut *cut)
{
    for (size_t f = 0; cut->value != NULL && f < cut->to->templates->function_count; f++)
        free(cut->value[f]);
    free(cut->block);
    free(cut->function);
    free(cut->value);
}

/* Finds blocks and functions again and marks the values that kept features have (0 instead of -1).
 */
static medley_status mark_values(value_cut *cut, medley_error *error)
{
    for (size_t b = 0; b < cut->to->templates->block_count; b++) {
        const md_tuples *tuples = &cut->from->tuples[cut->block[b]];
        for (size_t m = 0; m < tuples->width; m++) {
            const size_t f = function_of(cut->to, b, m);
            cut->function[f] = function_of(cut->from, cut->block[b], m);
            const size_t values = cut->from->vocabulary[cut->function[f]].count;
            if (cut->value[f] == NULL) {
                MEDLEY_TRY(md_new(&cut->value[f], values, sizeof **cut->value, error));
                memset(cut->value[f], -1, values * sizeof **cut->value);
            }
            for (size_t i = 0; i < tuples->count; i++)
                if (cut->keep[cut->block[b]][i])
                    cut->value[f][tuples->value[i * tuples->width + m]] = 0;
        }
    }
    return MEDLEY_OK;
}

static medley_status copy_values(value_cut *cut, medley_error *error)
{
    for (size_t f = 0; f < cut->to->templates->function_count; f++) {
        const md_strings *from = &cut->from->vocabulary[cut->function[f]];
        for (size_t v = 0; v < from->count; v++)
            if (cut->value[f][v] >= 0)
                MEDLEY_TRY(md_strings_put(&cut->to->vocabulary[f], from->items[v],
                                          strlen(from->items[v]), &cut->value[f][v], error));
    }
    return MEDLEY_OK;
}

static medley_status copy_tuples(value_cut *cut, size_t b, medley_error *error)
{
    const md_tuples *from = &cut->from->tuples[cut->block[b]];
    if (!md_features_start_block(cut->to, b))
        return md_fail_memory(error, sizeof *from);
    for (size_t i = 0; i < from->count; i++) {
        int32_t tuple[MD_MACROS_MOST];
        if (!cut->keep[cut->block[b]][i])
            continue;
        for (size_t m = 0; m < from->width; m++)
            tuple[m] = cut->value[function_of(cut->to, b, m)][from->value[i * from->width + m]];
        if (md_tuples_add(&cut->to->tuples[b], tuple) < 0)
            return md_fail_memory(error, i * sizeof tuple);
    }
    return MEDLEY_OK;
}

static medley_status copy_features(md_features *to, const md_features *from,
                                   const bool *const *keep, medley_error *error)
{
    const size_t blocks = to->templates->block_count;
    const size_t functions = to->templates->function_count;
    MD_CLEARED(clear_cut) value_cut cut = {.from = from, .to = to, .keep = keep};
    MEDLEY_TRY(md_new(&cut.block, blocks, sizeof *cut.block, error));
    MEDLEY_TRY(md_new(&cut.function, functions, sizeof *cut.function, error));
    MEDLEY_TRY(md_new(&cut.value, functions, sizeof *cut.value, error));
    for (size_t b = 0, old = 0; b < blocks; old++)
        if (keep[old] != NULL)
            cut.block[b++] = old;
    MEDLEY_TRY(mark_values(&cut, error));
    MEDLEY_TRY(copy_values(&cut, error));
    for (size_t b = 0; b < blocks; b++)
        MEDLEY_TRY(copy_tuples(&cut, b, error));
    return MEDLEY_OK;
}

medley_status md_features_subset(md_features **subset, const md_features *features,
                                 const bool *const *keep, medley_error *error)
{
    const size_t blocks = features->templates->block_count;
    MD_OWNED(md_templates_free) md_templates *templates = NULL;
    MD_OWNED(md_features_free) md_features *made = NULL;
    MD_OWNED(free) bool *is_kept = NULL;
    MEDLEY_TRY(md_new(&is_kept, blocks, sizeof *is_kept, error));
    for (size_t b = 0; b < blocks; b++)
        is_kept[b] = keep[b] != NULL;
    MEDLEY_TRY(md_templates_subset(&templates, features->templates, is_kept, error));
    MEDLEY_TRY(md_features_new(&made, &templates, features->hash_bits, error));
    if (features->hash_bits == 0)
        MEDLEY_TRY(copy_features(made, features, keep, error));
    *subset = md_take(&made);
    return MEDLEY_OK;
}

/* ---- bytes ---- */

void md_features_pack(md_text *out, const md_features *features)
{
    const md_templates *templates = features->templates;
    md_pack_u64(out, features->hash_bits);
    const char *slash = strrchr(templates->source, '/'); /* a model must not reveal folders */
    md_pack_text(out, slash != NULL ? slash + 1 : templates->source);
    md_pack_u64(out, templates->block_count);
    for (size_t b = 0; b < templates->block_count; b++) {
        md_pack_u64(out, templates->blocks[b].line);
        md_pack_text(out, templates->blocks[b].name);
    }
    if (features->hash_bits > 0)
        return;
    for (size_t f = 0; f < templates->function_count; f++)
        md_pack_strings(out, &features->vocabulary[f]);
    for (size_t b = 0; b < templates->block_count; b++) {
        const md_tuples *tuples = &features->tuples[b];
        md_pack_u64(out, tuples->count);
        md_pack_u32s(out, (const uint32_t *)tuples->value, tuples->count * tuples->width);
    }
}

/* One template, which must come out of the parser as it went in. */
static void unpack_block(md_unpack *in, md_templates *templates)
{
    const size_t line = md_unpack_u64(in);
    MD_OWNED(free) char *name = md_unpack_text(in);
    const size_t before = templates->block_count;
    if (name == NULL)
        return;
    const medley_status status = md_templates_add_line(templates, name, strlen(name), line, NULL);
    in->no_memory = in->no_memory || status == MEDLEY_FAILED;
    in->bad = in->bad || status < 0 || templates->block_count != before + 1 ||
              strcmp(templates->blocks[before].name, name) != 0;
}

static void unpack_tuples(md_unpack *in, md_features *features, size_t b)
{
    md_tuples *tuples = &features->tuples[b];
    if (!md_features_start_block(features, b)) {
        in->bad = in->no_memory = true;
        return;
    }
    const size_t width = tuples->width;
    const size_t count = width > 0 ? md_unpack_count(in, width * 4) : (size_t)md_unpack_u64(in);
    in->bad = in->bad || (width == 0 && count > 1);
    MD_OWNED(free) uint32_t *values = in->bad ? NULL : md_unpack_u32s(in, count * width);
    if (values != NULL && !md_tuples_reserve(tuples, count))
        in->bad = in->no_memory = true;
    for (size_t i = 0; i < count && values != NULL && !in->bad; i++) {
        int32_t tuple[MD_MACROS_MOST] = {0};
        for (size_t m = 0; m < width; m++) {
            const uint32_t value = values[i * width + m];
            in->bad = in->bad || value >= features->vocabulary[function_of(features, b, m)].count;
            tuple[m] = (int32_t)value;
        }
        const int32_t id = in->bad ? 0 : md_tuples_add(tuples, tuple);
        in->no_memory = in->no_memory || id < 0;
        in->bad = in->bad || id != (int32_t)i; /* one that was there before, or no memory */
    }
}

static medley_status fail_damaged(md_unpack *in, medley_error *error)
{
    return md_template_damaged(in, "feature templates or the texts of their features", error);
}

static medley_status unpack_templates(md_templates **templates, md_unpack *in, medley_error *error)
{
    MD_OWNED(free) char *source = md_unpack_text(in);
    const size_t blocks = md_unpack_count(in, 16);
    if (source == NULL)
        return fail_damaged(in, error);
    MEDLEY_TRY(md_templates_new(templates, source, error));
    for (size_t b = 0; b < blocks && !in->bad; b++)
        unpack_block(in, *templates);
    return in->bad ? fail_damaged(in, error) : MEDLEY_OK;
}

medley_status md_features_unpack(md_features **features, md_unpack *in, medley_error *error)
{
    MD_OWNED(md_templates_free) md_templates *templates = NULL;
    MD_OWNED(md_features_free) md_features *made = NULL;
    const uint64_t hash_bits = md_unpack_u64(in);
    if (hash_bits > MD_HASH_BITS_MOST)
        return fail_damaged(in, error);
    MEDLEY_TRY(unpack_templates(&templates, in, error));
    if (templates == NULL)
        return fail_damaged(in, error);
    const size_t functions = hash_bits == 0 ? templates->function_count : 0;
    const size_t blocks = hash_bits == 0 ? templates->block_count : 0;
    MEDLEY_TRY(md_features_new(&made, &templates, hash_bits, error));
    for (size_t f = 0; f < functions && !in->bad; f++)
        md_unpack_strings(in, &made->vocabulary[f]);
    for (size_t b = 0; b < blocks && !in->bad; b++)
        unpack_tuples(in, made, b);
    if (in->bad)
        return fail_damaged(in, error);
    *features = md_take(&made);
    return MEDLEY_OK;
}
