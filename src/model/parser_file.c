/* SPDX-License-Identifier: BSD-3-Clause */
/* The section of a parser: templates, tables of weights and the model that labels arcs. Of a table
 * are kept a bit for each slot that is not zero, and these slots' values. */
#include "model/file.h"

#include "base/memory.h"
#include <stdlib.h>
#include <string.h>

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

medley_status md_parser_pack(md_text *out, const md_parser *parser, medley_error *error)
{
    md_text labeller = {0};
    medley_status status = MEDLEY_OK;
    md_pack_u64(out, parser->tags);
    md_pack_u64(out, parser->bits);
    md_arc_templates_pack(out, parser->templates);
    for (size_t t = 0; t < md_arc_templates_count(parser->templates); t++) {
        md_pack_u64(out, parser->info[t]);
        pack_table(out, parser->weights + (t << parser->bits), (size_t)1 << parser->bits);
    }
    if (parser->labeller != NULL)
        status = md_model_pack(&labeller, parser->labeller, error);
    md_pack_u64(out, labeller.length);
    md_text_add(out, labeller.data, labeller.length);
    md_text_clear(&labeller);
    return status;
}

/* table: zeros */
static void unpack_table(md_unpack *in, uint16_t *table, size_t slots)
{
    const uint64_t count = md_unpack_u64(in);
    uint32_t *used = md_unpack_u32s(in, slots / WORD_BITS);
    uint32_t *values = count <= slots ? md_unpack_u32s(in, (count + 1) / 2) : NULL;
    in->bad = in->bad || used == NULL || values == NULL;
    size_t next = 0;
    for (size_t i = 0; !in->bad && i < slots; i++) {
        if ((used[i / WORD_BITS] >> i % WORD_BITS & 1) == 0)
            continue;
        if (next < count)
            table[i] = (uint16_t)(values[next / 2] >> (next % 2 * 16));
        in->bad = next >= count || (table[i] & 0x7f80) == 0x7f80; /* infinite or no number */
        next++;
    }
    in->bad = in->bad || next != count;
    free(used);
    free(values);
}

static medley_status unpack_labeller(medley_model *model, md_unpack *in, medley_error *error)
{
    const size_t length = md_unpack_count(in, 1);
    medley_model **labeller = &model->parser->labeller;
    if (in->bad || length == 0) {
        in->bad = in->bad || model->labels.count > 0;
        return MEDLEY_OK;
    }
    medley_error inner = {0}; /* the caller tells of damage, and where */
    const medley_status status = md_model_unpack(labeller, in->data + in->position, length, &inner);
    if (status < 0) {
        in->bad = status != MEDLEY_FAILED; /* which is for lack of memory */
        return in->bad ? MEDLEY_OK : md_fail(error, status, "%s", inner.message);
    }
    in->position += length;
    in->bad = (*labeller)->parser != NULL || (*labeller)->labels.count != model->labels.count ||
              (*labeller)->space.structure == NULL || (*labeller)->features == NULL;
    for (size_t l = 0; !in->bad && l < model->labels.count; l++)
        in->bad = strcmp((*labeller)->labels.items[l], model->labels.items[l]) != 0;
    return MEDLEY_OK;
}

medley_status md_parser_unpack(medley_model *model, md_unpack *in, medley_error *error)
{
    medley_error inner = {0}; /* the caller tells of damage, and where */
    md_parser *parser = model->parser = md_calloc(1, sizeof *parser);
    if (parser == NULL)
        return md_fail_memory(error, sizeof *parser);
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
    const medley_status allocated = md_parser_allocate(parser, error);
    if (allocated < 0)
        return allocated;
    for (size_t t = 0; t < count && !in->bad; t++) {
        parser->info[t] = md_unpack_u64(in);
        in->bad = in->bad || parser->info[t] >= model->summary.block_count;
        if (!in->bad)
            unpack_table(in, parser->weights + t * slots, slots);
    }
    return in->bad ? MEDLEY_OK : unpack_labeller(model, in, error);
}
