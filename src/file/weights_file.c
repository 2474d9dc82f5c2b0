/* SPDX-License-Identifier: BSD-3-Clause */
/* The section of templates and explicit weights. Weights are kept in full, or as places and values
 * where most of them are zero. */
#include "file/file.h"

static size_t count_nonzero(const md_weights *weights)
{
    size_t count = 0;
    for (size_t i = 0; i < weights->rows * weights->width; i++)
        count += weights->values[i] != 0;
    return count;
}

static void pack_sparse(md_text *out, const md_weights *weights, size_t count)
{
    MD_OWNED(free) uint32_t *place = md_calloc(count, sizeof *place);
    MD_OWNED(free) float *value = md_calloc(count, sizeof *value);
    size_t used = 0;
    out->failed = out->failed || place == NULL || value == NULL;
    for (size_t i = 0; !out->failed && i < weights->rows * weights->width; i++)
        if (weights->values[i] != 0) {
            place[used] = (uint32_t)i;
            value[used++] = weights->values[i];
        }
    if (out->failed)
        return;
    md_pack_u32s(out, place, count);
    md_pack_floats(out, value, count);
}

void md_weights_pack(md_text *out, const medley_model *model)
{
    md_pack_u64(out, model->token_columns);
    md_pack_u64(out, model->label_column);
    md_pack_u64(out, model->features != NULL);
    if (model->features != NULL)
        md_features_pack(out, model->features);
    md_pack_u64(out, model->weights_count);
    for (size_t w = 0; w < model->weights_count; w++) {
        const md_weights *weights = &model->weights[w];
        const size_t size = weights->rows * weights->width;
        const size_t count = count_nonzero(weights);
        const bool sparse = count < size / 2 && size < UINT32_MAX;
        md_pack_u64(out, weights->kind);
        md_pack_u64(out, weights->info);
        md_pack_u64(out, weights->block);
        md_pack_u64(out, weights->rows);
        md_pack_u64(out, sparse ? count : SIZE_MAX);
        if (sparse)
            pack_sparse(out, weights, count);
        else
            md_pack_floats(out, weights->values, size);
    }
}

/* Places rise, so that each comes once. */
static medley_status unpack_sparse(md_weights *weights, md_unpack *in, size_t count,
                                   medley_error *error)
{
    const size_t size = weights->rows * weights->width;
    MD_OWNED(free) uint32_t *place = md_unpack_u32s(in, count);
    MD_OWNED(free) float *value = md_unpack_floats(in, count);
    MEDLEY_TRY(md_new(&weights->values, size, sizeof(float), error));
    for (size_t i = 0; !in->bad && i < count; i++) {
        if (place[i] >= size || (i > 0 && place[i] <= place[i - 1]))
            in->bad = true;
        else
            weights->values[place[i]] = value[i];
    }
    return MEDLEY_OK;
}

/* The shape tells how wide weights are, the features how many rows there are. */
static bool fits(const medley_model *model, const md_weights *weights)
{
    if (weights->block == MD_CONSTANT)
        return weights->rows == 1;
    return model->features != NULL &&
           weights->block < md_templates_count(md_features_templates(model->features)) &&
           weights->rows == md_features_count(model->features, weights->block);
}

static medley_status unpack_one(medley_model *model, md_weights *weights, md_unpack *in,
                                medley_error *error)
{
    const md_space *space = &model->space;
    const uint64_t kind = md_unpack_u64(in);
    weights->info = md_unpack_u64(in);
    weights->block = md_unpack_u64(in);
    weights->rows = md_unpack_u64(in);
    const uint64_t count = md_unpack_u64(in);
    if (in->bad || space->structure == NULL || kind >= MD_PART_KINDS ||
        weights->info >= model->summary.block_count || !fits(model, weights)) {
        in->bad = true;
        return MEDLEY_OK;
    }
    weights->kind = (md_part_kind)kind;
    const md_groups groups = space->structure->groups(space->shape, 3, weights->kind);
    weights->width = groups.width;
    if (groups.count == 0 || groups.width > SIZE_MAX / sizeof(float) / (weights->rows + 1)) {
        in->bad = true;
        return MEDLEY_OK;
    }
    if (count != SIZE_MAX)
        return unpack_sparse(weights, in, count, error);
    weights->values = md_unpack_floats(in, weights->rows * weights->width);
    return MEDLEY_OK;
}

medley_status md_weights_unpack(medley_model *model, md_unpack *in, medley_error *error)
{
    medley_error inner = {0}; /* the caller tells of damage, and where */
    model->token_columns = md_unpack_u64(in);
    model->label_column = md_unpack_u64(in);
    const bool has_features = md_unpack_u64(in) != 0;
    const medley_status status =
        has_features ? md_features_unpack(&model->features, in, &inner) : MEDLEY_OK;
    if (status < 0)
        return in->bad ? MEDLEY_OK : md_fail(error, status, "%s", inner.message);
    const size_t count = md_unpack_count(in, 40);
    MEDLEY_TRY(md_new(&model->weights, count, sizeof *model->weights, error));
    model->weights_count = count;
    for (size_t w = 0; w < count && !in->bad; w++)
        MEDLEY_TRY(unpack_one(model, &model->weights[w], in, error));
    return MEDLEY_OK;
}
