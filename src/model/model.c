/* SPDX-License-Identifier: BSD-3-Clause */
#include "model/model.h"

void medley_model_free(medley_model *model)
{
    if (model == NULL)
        return;
    md_strings_clear(&model->labels);
    free(model->format);
    md_bank_clear(&model->bank);
    md_prepared_clear(&model->prepared);
    free(model->support_row);
    free(model->terms);
    for (size_t b = 0; model->bodies != NULL && b < model->body_count; b++) {
        free(model->bodies[b].values);
        free(model->bodies[b].float64);
    }
    free(model->bodies);
    free(model->bias);
    md_calibration_clear(&model->calibration);
    for (size_t w = 0; model->weights != NULL && w < model->weights_count; w++)
        free(model->weights[w].values);
    free(model->weights);
    md_features_free(model->features);
    if (model->own != NULL)
        model->free_own(model->own);
    medley_model_free(model->companion);
    free(model->method);
    free(model->loss);
    free(model->penalty);
    free(model->scale);
    free(model->device);
    free(model->device_use);
    free(model->device_reason);
    for (size_t m = 0; model->names != NULL && m < model->summary.block_count; m++)
        free(model->names[m]);
    free(model->names);
    free(model->blocks);
    free(model->epochs);
    md_preselection_clear(&model->preselection);
    free(model);
}

medley_status md_model_tell_scale(medley_model *model, medley_error *error)
{
    MD_CLEARED(md_text_clear) md_text text = {0};
    md_views_tell_scale(&text, model->bank.views, model->bank.view_count);
    MEDLEY_TRY(md_text_check(&text, error));
    return md_new_text(&model->scale, text.data ? text.data : "", text.length, error);
}

void md_preselection_clear(md_preselection *preselection)
{
    for (size_t m = 0; m < preselection->count; m++)
        free(preselection->names[m]);
    free(preselection->names);
    free(preselection->kernels);
    *preselection = (md_preselection){0};
}

medley_status md_preselection_init(md_preselection *preselection, size_t most, size_t rows,
                                   medley_error *error)
{
    *preselection = (md_preselection){.rows = rows};
    MEDLEY_TRY(md_new(&preselection->names, most, sizeof *preselection->names, error));
    return md_new(&preselection->kernels, most, sizeof *preselection->kernels, error);
}

medley_status md_preselection_add(md_preselection *preselection, const medley_preselected *kernel,
                                  medley_error *error)
{
    const size_t m = preselection->count;
    MEDLEY_TRY(md_new_text(&preselection->names[m], kernel->name, strlen(kernel->name), error));
    preselection->kernels[m] = *kernel;
    preselection->kernels[m].name = preselection->names[m];
    preselection->count++;
    return MEDLEY_OK;
}

medley_status md_preselection_copy(md_preselection *copy, const md_preselection *preselection,
                                   medley_error *error)
{
    *copy = (md_preselection){0};
    if (preselection->count == 0)
        return MEDLEY_OK;
    MEDLEY_TRY(md_preselection_init(copy, preselection->count, preselection->rows, error));
    for (size_t m = 0; m < preselection->count; m++)
        MEDLEY_TRY(md_preselection_add(copy, &preselection->kernels[m], error));
    return MEDLEY_OK;
}

static bool has_weights(const medley_model *model)
{
    for (size_t m = 0; m < model->bank.count; m++)
        if (md_kernel_has_weights(&model->bank.kernels[m]))
            return true;
    return model->weights_count > 0;
}

void md_model_bind_summary(medley_model *model)
{
    medley_summary *summary = &model->summary;
    summary->method = model->method;
    summary->loss = model->loss;
    summary->penalty = model->penalty;
    summary->scale = model->scale;
    summary->device = model->device != NULL ? model->device : "";
    summary->device_use = model->device_use != NULL ? model->device_use : "";
    summary->device_reason = model->device_reason != NULL ? model->device_reason : "";
    for (size_t m = 0; m < summary->block_count; m++)
        model->blocks[m].name = model->names[m];
    summary->blocks = model->blocks;
    summary->epochs = model->epochs;
    summary->preselected = model->preselection.kernels;
    summary->preselected_count = model->preselection.count;
    summary->preselected_rows = model->preselection.rows;
    summary->support_rows = model->support_count;
    summary->has_weights = has_weights(model);
    summary->bias = model->bias != NULL ? model->bias[0] : NAN;
    summary->temperature = model->calibration.factor > 0 ? 1 / model->calibration.factor : NAN;
    summary->offsets = model->calibration.offset;
}

int md_body_round(md_body *body, size_t outputs)
{
    body->values = md_calloc(body->rows * outputs, sizeof *body->values);
    if (body->values == NULL)
        return -1;
    for (size_t i = 0; i < body->rows * outputs; i++)
        body->values[i] = (float)body->float64[i];
    return 0;
}

size_t medley_model_label_count(const medley_model *model)
{
    return model->labels.count;
}

const char *medley_model_label_name(const medley_model *model, size_t label)
{
    return label < model->labels.count ? model->labels.items[label] : NULL;
}

const medley_summary *medley_model_summary(const medley_model *model)
{
    return &model->summary;
}

double medley_model_gamma(const medley_model *model, size_t block)
{
    const md_bank *bank = &model->bank;
    for (size_t m = 0; block < model->summary.block_count && m < bank->count; m++)
        if (bank->kernels[m].is_distance &&
            strcmp(bank->kernels[m].name, model->summary.blocks[block].name) == 0)
            return bank->kernels[m].gamma;
    return NAN;
}

size_t medley_model_columns(const medley_model *model, const char *name)
{
    if (model->token_columns > 0 && name[0] == '\0')
        return model->token_columns;
    for (size_t v = 0; v < model->bank.view_count; v++) /* sparse ones may have grown */
        if (strcmp(model->bank.views[v].table, name) == 0)
            return model->bank.views[v].table_columns;
    const md_known_table *table = md_known_tables_find(&model->bank.tables, name);
    return table != NULL ? table->columns : 0;
}

const char *medley_model_column_name(const medley_model *model, const char *name, size_t column)
{
    const md_known_table *table = md_known_tables_find(&model->bank.tables, name);
    return table != NULL && column < table->names.count ? table->names.items[column] : NULL;
}

bool medley_model_reads_words(const medley_model *model)
{
    return model->token_columns > 0;
}

size_t medley_model_label_column(const medley_model *model)
{
    return model->label_column;
}
