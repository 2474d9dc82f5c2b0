/* SPDX-License-Identifier: BSD-3-Clause */
/* Parsers, and their section of model files: templates and tables of weights. Of a table are kept a
 * bit for each slot that is not zero, and these slots' values. */
#include "task/parser.h"

medley_status md_parser_create(medley_model *model, medley_error *error)
{
    model->free_own = md_parser_free;
    return md_new(&model->own, 1, sizeof(md_parser), error);
}

medley_status md_parser_allocate(md_parser *parser, medley_error *error)
{
    const size_t count = md_arc_templates_count(parser->templates);
    const size_t weights = count << parser->bits;
    MEDLEY_TRY(md_new_aligned(&parser->weights, weights, sizeof *parser->weights, error));
    MEDLEY_TRY(md_new(&parser->info, count, sizeof *parser->info, error));
    memset(parser->weights, 0, weights * sizeof *parser->weights);
    return MEDLEY_OK;
}

void md_parser_free(void *own)
{
    md_parser *parser = own;
    if (parser == NULL)
        return;
    md_parser_free(parser->pruner);
    free(parser->weights);
    free(parser->info);
    md_arc_templates_free(parser->templates);
    free(parser);
}

medley_status md_parser_copy(md_parser **copy, const md_parser *parser, medley_error *error)
{
    MD_OWNED(md_parser_free) void *made = NULL;
    const size_t count = md_arc_templates_count(parser->templates);
    MD_OWNED(free) bool *all = NULL;
    MEDLEY_TRY(md_new(&made, 1, sizeof(md_parser), error));
    MEDLEY_TRY(md_new(&all, count, sizeof *all, error));
    memset(all, true, count);
    md_parser *to = made;
    to->bits = parser->bits;
    to->tags = parser->tags;
    MEDLEY_TRY(md_arc_templates_subset(&to->templates, parser->templates, all, error));
    MEDLEY_TRY(md_parser_allocate(to, error));
    memcpy(to->weights, parser->weights, (count << parser->bits) * sizeof *to->weights);
    *copy = md_take(&made);
    return MEDLEY_OK;
}

/* ---- the section ---- */

enum { WORD_BITS = 32, MOST_BITS = 30, LEAST_BITS = 5 };

/* Values come in pairs: two halves of 16 bits make a word. */
static void pack_table(md_text *out, const uint16_t *table, size_t slots)
{
    uint32_t *used = md_calloc(slots / WORD_BITS, sizeof *used);
    uint32_t *values = md_calloc(slots / 2 + 1, sizeof *values);
    size_t count = 0;
    out->failed = out->failed || used == NULL || values == NULL;
    for (size_t i = 0; !out->failed && i < slots; i++) {
        if (table[i] == 0)
            continue;
        used[i / WORD_BITS] |= UINT32_C(1) << i % WORD_BITS;
        values[count / 2] |= (uint32_t)table[i] << (count % 2 * 16);
        count++;
    }
    if (!out->failed) {
        md_pack_u64(out, count);
        md_pack_u32s(out, used, slots / WORD_BITS);
        md_pack_u32s(out, values, (count + 1) / 2);
    }
    free(used);
    free(values);
}

static void pack_parser(md_text *out, const md_parser *parser)
{
    md_pack_u64(out, parser->tags);
    md_pack_u64(out, parser->bits);
    md_arc_templates_pack(out, parser->templates);
    for (size_t t = 0; t < md_arc_templates_count(parser->templates); t++) {
        md_pack_u64(out, parser->info[t]);
        pack_table(out, parser->weights + (t << parser->bits), (size_t)1 << parser->bits);
    }
}

/* A pruner follows where the model says that it has one. */
void md_parser_pack(md_text *out, const void *own)
{
    const md_parser *parser = own;
    pack_parser(out, parser);
    if (parser->pruner != NULL)
        pack_parser(out, parser->pruner);
}

static size_t count_bits(const uint32_t *words, size_t count)
{
    size_t bits = 0;
    for (size_t i = 0; i < count; i++)
        bits += (size_t)__builtin_popcount(words[i]);
    return bits;
}

/* table: zeros */
static void unpack_table(md_unpack *in, uint16_t *table, size_t slots)
{
    const uint64_t count = md_unpack_u64(in);
    MD_OWNED(free) uint32_t *used = md_unpack_u32s(in, slots / WORD_BITS);
    MD_OWNED(free) uint32_t *values = count <= slots ? md_unpack_u32s(in, (count + 1) / 2) : NULL;
    in->bad =
        in->bad || used == NULL || values == NULL || count_bits(used, slots / WORD_BITS) != count;
    size_t next = 0;
    for (size_t w = 0; !in->bad && w < slots / WORD_BITS; w++)
        for (uint32_t bits = used[w]; bits != 0; bits &= bits - 1, next++) {
            const uint16_t value = (uint16_t)(values[next / 2] >> (next % 2 * 16));
            table[w * WORD_BITS + (size_t)__builtin_ctz(bits)] = value;
            in->bad |= (value & 0x7f80) == 0x7f80; /* infinite or no number */
        }
}

/* blocks: what infos are numbers of. */
static medley_status unpack_parser(md_parser *parser, md_unpack *in, size_t blocks,
                                   medley_error *error)
{
    medley_error inner = {0}; /* the caller tells of damage, and where */
    parser->tags = md_unpack_u64(in);
    parser->bits = md_unpack_u64(in);
    in->bad = in->bad || parser->tags >= MD_ARC_COLUMNS || parser->bits < LEAST_BITS ||
              parser->bits > MOST_BITS;
    if (in->bad)
        return MEDLEY_OK;
    const medley_status status = md_arc_templates_unpack(&parser->templates, in, &inner);
    if (status < 0)
        return in->bad ? MEDLEY_OK : md_fail(error, status, "%s", inner.message);
    const size_t count = md_arc_templates_count(parser->templates);
    const size_t slots = (size_t)1 << parser->bits;
    if (count > (in->length - in->position) / (slots / 8)) { /* a bit for each slot */
        in->bad = true;
        return MEDLEY_OK;
    }
    MEDLEY_TRY(md_parser_allocate(parser, error));
    for (size_t t = 0; t < count && !in->bad; t++) {
        parser->info[t] = md_unpack_u64(in);
        in->bad = in->bad || parser->info[t] >= blocks;
        if (!in->bad)
            unpack_table(in, parser->weights + t * slots, slots);
    }
    return MEDLEY_OK;
}

static bool has_second(const md_parser *parser)
{
    bool found = false;
    for (size_t t = 0; !found && t < md_arc_templates_count(parser->templates); t++)
        found = md_arc_templates_parts(parser->templates, t) != MD_ARC_ARCS;
    return found;
}

medley_status md_parser_unpack(medley_model *model, md_unpack *in, medley_error *error)
{
    const md_shape *shape = &model->space.shape;
    MEDLEY_TRY(md_parser_create(model, error));
    md_parser *parser = model->own;
    MEDLEY_TRY(unpack_parser(parser, in, model->summary.block_count, error));
    in->bad = in->bad || (has_second(parser) && shape->order != 2) ||
              (shape->order == 2 && !shape->pruned);
    if (in->bad || !shape->pruned)
        return MEDLEY_OK;
    MEDLEY_TRY(md_new(&parser->pruner, 1, sizeof *parser->pruner, error));
    MEDLEY_TRY(unpack_parser(parser->pruner, in, 1, error));
    in->bad = in->bad || has_second(parser->pruner);
    return MEDLEY_OK;
}

bool md_labeller_fits(const medley_model *model)
{
    const medley_model *labeller = model->companion;
    if (labeller == NULL)
        return model->labels.count == 0;
    bool same = labeller->labels.count == model->labels.count;
    for (size_t l = 0; same && l < model->labels.count; l++)
        same = strcmp(labeller->labels.items[l], model->labels.items[l]) == 0;
    return same && labeller->space.structure != NULL && labeller->features != NULL;
}
