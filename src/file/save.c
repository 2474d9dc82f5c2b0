/* SPDX-License-Identifier: BSD-3-Clause */
/* Writing model files. Nothing here depends on time, threads or the machine, so one seed gives the
 * same bytes. */
#include "file/file.h"

#include "base/output.h"

const char *const md_section_names[MD_SECTION_OWN] = {"story",   "kernels", "points", "bodies",
                                                      "weights", "input",   "proba"};

static void pack_summary(md_text *out, const medley_model *model)
{
    const medley_summary *s = &model->summary;
    const md_shape *shape = &model->space.shape;
    md_pack_text(out, md_space_name(model->space));
    md_pack_u64(out, shape->order);
    md_pack_u64(out, shape->local_pairs);
    md_pack_u64(out, shape->ends);
    md_pack_u64(out, shape->many_roots);
    md_pack_u64(out, shape->projective);
    md_pack_u64(out, shape->pruned);
    md_pack_text(out, model->task->about.name);
    md_pack_text(out, model->method);
    md_pack_text(out, model->loss);
    md_pack_text(out, model->penalty);
    const double numbers[] = {s->lambda, s->C, s->spicy_C, s->eta0, s->objective, s->dual, s->gap};
    md_pack_doubles(out, numbers, sizeof numbers / sizeof *numbers);
    const uint64_t counts[] = {s->examples, s->parts,     s->active_blocks, s->iterations,
                               s->seed,     s->converged, s->newton_steps,  s->passes};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        md_pack_u64(out, counts[i]);
    md_pack_strings(out, &model->labels);
    md_pack_u64(out, s->epoch_count);
    for (size_t e = 0; e < s->epoch_count; e++) {
        md_pack_f64(out, s->epochs[e].objective);
        md_pack_f64(out, s->epochs[e].loss);
        md_pack_f64(out, s->epochs[e].dev_accuracy);
        md_pack_f64(out, s->epochs[e].dual);
        md_pack_f64(out, s->epochs[e].gap);
        md_pack_u64(out, s->epochs[e].active);
    }
    md_pack_u64(out, s->block_count);
    for (size_t m = 0; m < s->block_count; m++) {
        md_pack_text(out, s->blocks[m].name);
        md_pack_f64(out, s->blocks[m].weight);
        md_pack_f64(out, s->blocks[m].norm);
        md_pack_u64(out, s->blocks[m].features);
    }
}

static void pack_kernels(md_text *out, const medley_model *model)
{
    const md_bank *bank = &model->bank;
    md_pack_u64(out, bank->training_rows);
    md_pack_u64(out, bank->view_count);
    for (size_t v = 0; v < bank->view_count; v++) {
        const float *origin = bank->origin ? bank->origin[v] : NULL;
        md_view_pack(out, &bank->views[v]);
        md_pack_u64(out, origin != NULL);
        if (origin != NULL)
            md_pack_floats(out, origin, bank->views[v].column_count);
    }
    md_pack_u64(out, bank->count);
    for (size_t m = 0; m < bank->count; m++) {
        const md_kernel *kernel = &bank->kernels[m];
        md_pack_text(out, kernel->name);
        md_pack_u64(out, kernel->class == NULL ? 1U + kernel->is_distance : 0U);
        if (kernel->is_distance)
            md_pack_f64(out, kernel->gamma);
        md_pack_u64(out, kernel->view);
        md_pack_u64(out, kernel->norm);
        md_pack_u64(out, kernel->primal);
        md_pack_f64(out, kernel->factor);
        md_pack_f64(out, kernel->grand_mean);
        md_pack_u64(out, kernel->column_mean != NULL);
        if (kernel->column_mean != NULL)
            md_pack_floats(out, kernel->column_mean, bank->training_rows);
    }
}

static void pack_matrix(md_text *out, const md_matrix *matrix)
{
    md_pack_u64(out, matrix->columns);
    if (!md_matrix_is_sparse(matrix)) {
        md_pack_floats(out, matrix->dense, matrix->rows * matrix->columns);
        return;
    }
    const size_t entries = matrix->start[matrix->rows];
    md_pack_u64(out, entries);
    md_pack_sizes(out, matrix->start, matrix->rows + 1);
    md_pack_u32s(out, (const uint32_t *)matrix->index, entries); /* never negative */
    md_pack_floats(out, matrix->value, entries);
}

static void pack_prepared(md_text *out, const medley_model *model)
{
    const md_prepared *prepared = &model->prepared;
    md_pack_u64(out, model->support_count);
    md_pack_sizes(out, model->support_row, model->support_count);
    for (size_t v = 0; v < model->bank.view_count; v++) {
        md_pack_u64(out, prepared->used[v]);
        if (!prepared->used[v])
            continue; /* explicit weights need no rows */
        pack_matrix(out, &prepared->views[v]);
        md_pack_floats(out, prepared->norm2[v], prepared->rows);
        md_pack_u64(out, prepared->lift[v] != NULL);
        if (prepared->lift[v] != NULL)
            md_pack_floats(out, prepared->lift[v], prepared->rows);
    }
    for (size_t m = 0; m < model->bank.count; m++) {
        md_pack_u64(out, prepared->inverse_root[m] != NULL);
        if (prepared->inverse_root[m] != NULL)
            md_pack_floats(out, prepared->inverse_root[m], prepared->rows);
    }
}

static void pack_input(md_text *out, const medley_model *model)
{
    md_pack_text(out, model->format != NULL ? model->format : "");
    md_known_tables_pack(out, &model->bank.tables);
}

static void pack_calibration(md_text *out, const medley_model *model)
{
    const md_calibration *calibration = &model->calibration;
    const size_t offsets = calibration->offset != NULL ? model->labels.count : 0;
    md_pack_f64(out, calibration->factor);
    md_pack_u64(out, offsets);
    md_pack_doubles(out, calibration->offset, offsets);
}

static medley_status pack_model(md_text *out, const medley_model *model, medley_error *error);

/* What the task keeps, then the bytes of the companion's file. */
static medley_status pack_own(md_text *out, const medley_model *model, medley_error *error)
{
    MD_CLEARED(md_text_clear) md_text companion = {0};
    if (model->companion != NULL)
        MEDLEY_TRY(pack_model(&companion, model->companion, error));
    model->task->pack(out, model->own);
    md_pack_u64(out, companion.length);
    md_text_add(out, companion.data, companion.length);
    return MEDLEY_OK;
}

/* ---- the container ---- */

static void (*const packers[MD_SECTION_OWN])(md_text *out, const medley_model *model) = {
    pack_summary,    pack_kernels, pack_prepared,   md_bodies_pack,
    md_weights_pack, pack_input,   pack_calibration};

static bool has_section(const medley_model *model, size_t i)
{
    return i <= MD_SECTION_INPUT || (i == MD_SECTION_PROBA && model->calibration.factor > 0) ||
           (i == MD_SECTION_OWN && model->task->section != NULL);
}

/* Zeros up to a multiple of MD_SECTION_ALIGN, of `least` bytes or more. */
static void pad(md_text *out, size_t least)
{
    static const char zeros[MD_SECTION_ALIGN];
    while (out->length < least && !out->failed)
        md_text_add(out, zeros, sizeof zeros);
    md_text_add(out, zeros, -out->length % sizeof zeros);
}

static size_t count_sections(const medley_model *model)
{
    size_t count = 0;
    for (size_t i = 0; i < MD_SECTIONS_KNOWN; i++)
        count += has_section(model, i);
    return count;
}

/* place: where the sections lie in out, offset and length. */
static void pack_header(md_text *header, const md_text *out, const medley_model *model,
                        size_t (*place)[2])
{
    md_text_add(header, MD_FILE_MAGIC, 8);
    md_pack_u64(header, MD_FILE_VERSION);
    md_pack_u64(header, out->length);
    md_pack_u64(header, count_sections(model));
    for (size_t i = 0; i < MD_SECTIONS_KNOWN; i++) {
        if (!has_section(model, i))
            continue;
        char name[8] = {0};
        const char *full = i < MD_SECTION_OWN ? md_section_names[i] : model->task->section;
        snprintf(name, sizeof name, "%s", full);
        md_text_add(header, name, sizeof name);
        md_pack_u64(header, place[i][0]);
        md_pack_u64(header, place[i][1]);
        md_pack_u64(header, md_crc32(out->data + place[i][0], place[i][1]));
    }
    if (!header->failed)
        md_pack_u64(header, md_crc32(header->data, header->length));
}

/* About the bytes of a file's large parts: rows of views and coefficients. */
static size_t expected_bytes(const medley_model *model)
{
    const md_prepared *prepared = &model->prepared;
    size_t words = 0;
    for (size_t v = 0; v < model->bank.view_count; v++) {
        const md_matrix *matrix = &prepared->views[v];
        if (!prepared->used[v])
            continue;
        words += md_matrix_is_sparse(matrix) ? 2 * matrix->start[matrix->rows]
                                             : matrix->rows * matrix->columns;
    }
    for (size_t b = 0; b < model->body_count; b++)
        words +=
            model->bodies[b].rows * model->outputs * (model->bodies[b].float64 != NULL ? 2 : 1);
    for (size_t v = 0; v < model->bank.view_count; v++)
        for (int lift = 0; lift < 2; lift++)
            words += (lift ? prepared->lift : prepared->norm2)[v] != NULL ? prepared->rows : 0;
    for (size_t m = 0; m < model->bank.count; m++)
        words += prepared->inverse_root[m] != NULL ? prepared->rows : 0;
    return words * sizeof(float);
}

/* out: empty. The header comes last, into the room before the first section. */
static medley_status pack_model(md_text *out, const medley_model *model, medley_error *error)
{
    size_t place[MD_SECTIONS_KNOWN][2] = {{0}}; /* offset and length */
    MD_CLEARED(md_text_clear) md_text header = {0};
    const size_t expected = expected_bytes(model);
    md_text_expect(out, expected + expected / 16);
    pad(out, MD_HEADER_BYTES(count_sections(model)));
    for (size_t i = 0; i < MD_SECTIONS_KNOWN; i++) {
        if (!has_section(model, i))
            continue;
        pad(out, 0);
        place[i][0] = out->length;
        if (i == MD_SECTION_OWN)
            MEDLEY_TRY(pack_own(out, model, error));
        else
            packers[i](out, model);
        place[i][1] = out->length - place[i][0];
    }
    if (!out->failed)
        pack_header(&header, out, model, place);
    if (out->failed || header.failed)
        return md_fail_memory(error, out->length);
    memcpy(out->data, header.data, header.length);
    return MEDLEY_OK;
}

medley_status medley_model_write(void **bytes, size_t *size, const medley_model *model,
                                 medley_error *error)
{
    md_begin(error);
    MD_CLEARED(md_text_clear) md_text out = {0};
    MEDLEY_TRY(pack_model(&out, model, error));
    *size = out.length;
    *bytes = md_take(&out.data);
    return MEDLEY_OK;
}

void medley_bytes_free(void *bytes)
{
    free(bytes);
}

medley_status medley_model_save(const medley_model *model, const char *path, medley_error *error)
{
    md_begin(error);
    MD_CLEARED(md_output_abandon) md_output output = {0};
    MD_CLEARED(md_text_clear) md_text out = {0};
    MEDLEY_TRY(pack_model(&out, model, error));
    MEDLEY_TRY(md_output_open(&output, path, error));
    MEDLEY_TRY(md_output_write(&output, out.data, out.length, error));
    return md_output_commit(&output, error);
}
