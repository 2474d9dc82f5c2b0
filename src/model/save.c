/* SPDX-License-Identifier: BSD-3-Clause */
/* Writing model files. Nothing here depends on time, threads or the machine, so one seed gives the
 * same bytes. */
#include "model/file.h"

#include "base/output.h"
#include <string.h>

const char *const md_section_names[MD_SECTIONS_KNOWN] = {"story",  "kernels", "points",
                                                         "bodies", "weights", "proba"};

static void pack_story(md_text *out, const medley_model *model)
{
    const medley_summary *s = &model->summary;
    const md_shape *shape = &model->space.shape;
    md_pack_text(out, model->space.structure ? model->space.structure->name : "");
    md_pack_u64(out, shape->order);
    md_pack_u64(out, shape->local_pairs);
    md_pack_u64(out, shape->ends);
    md_pack_text(out, model->task);
    md_pack_text(out, model->method);
    md_pack_text(out, model->loss);
    md_pack_text(out, model->penalty);
    const double numbers[] = {s->lambda, s->C, s->spicy_C, s->eta0, s->objective, s->dual, s->gap};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        md_pack_f64(out, numbers[i]);
    const uint64_t counts[] = {s->examples, s->parts,     s->active_blocks, s->iterations,
                               s->seed,     s->converged, s->newton_steps,  s->passes};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        md_pack_u64(out, counts[i]);
    md_pack_u64(out, model->labels.count);
    for (size_t l = 0; l < model->labels.count; l++)
        md_pack_text(out, model->labels.items[l]);
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

static void pack_kernels(md_text *out, const md_bank *bank)
{
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
        md_pack_u64(out, kernel->class == NULL);
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

static void pack_points(md_text *out, const medley_model *model)
{
    const md_points *points = &model->points;
    md_pack_u64(out, model->support_count);
    md_pack_sizes(out, model->support_row, model->support_count);
    for (size_t v = 0; v < model->bank.view_count; v++) {
        md_pack_u64(out, points->used[v]);
        if (!points->used[v])
            continue; /* explicit weights need no rows */
        pack_matrix(out, &points->views[v]);
        md_pack_floats(out, points->norm2[v], points->rows);
        md_pack_u64(out, points->lift[v] != NULL);
        if (points->lift[v] != NULL)
            md_pack_floats(out, points->lift[v], points->rows);
    }
    for (size_t m = 0; m < model->bank.count; m++) {
        md_pack_u64(out, points->inverse_root[m] != NULL);
        if (points->inverse_root[m] != NULL)
            md_pack_floats(out, points->inverse_root[m], points->rows);
    }
}

static void pack_calibration(md_text *out, const medley_model *model)
{
    const md_calibration *calibration = &model->calibration;
    const size_t offsets = calibration->offset != NULL ? model->labels.count : 0;
    md_pack_f64(out, calibration->factor);
    md_pack_u64(out, offsets);
    for (size_t l = 0; l < offsets; l++)
        md_pack_f64(out, calibration->offset[l]);
}

static size_t aligned(size_t offset)
{
    return (offset + MD_SECTION_ALIGN - 1) / MD_SECTION_ALIGN * MD_SECTION_ALIGN;
}

static void pack_header(md_text *out, const md_text *sections, size_t count)
{
    size_t offset = aligned(MD_HEADER_BYTES(count));
    size_t length = offset;
    for (size_t i = 0; i < count; i++)
        length = aligned(length) + sections[i].length;
    md_text_add(out, MD_FILE_MAGIC, 8);
    md_pack_u64(out, MD_FILE_VERSION);
    md_pack_u64(out, length);
    md_pack_u64(out, count);
    for (size_t i = 0; i < count; i++) {
        char name[8] = {0};
        memcpy(name, md_section_names[i], strlen(md_section_names[i]));
        md_text_add(out, name, sizeof name);
        md_pack_u64(out, offset);
        md_pack_u64(out, sections[i].length);
        md_pack_u64(out, md_crc32(sections[i].data, sections[i].length));
        offset = aligned(offset + sections[i].length);
    }
    if (!out->failed)
        md_pack_u64(out, md_crc32(out->data, out->length));
}

static medley_status write_file(md_output *output, const md_text *header, const md_text *sections,
                                size_t count, medley_error *error)
{
    static const char zeros[MD_SECTION_ALIGN];
    medley_status status = md_output_write(output, header->data, header->length, error);
    size_t position = header->length;
    for (size_t i = 0; i < count && status == MEDLEY_OK; i++) {
        status = md_output_write(output, zeros, aligned(position) - position, error);
        if (status == MEDLEY_OK)
            status = md_output_write(output, sections[i].data, sections[i].length, error);
        position = aligned(position) + sections[i].length;
    }
    return status;
}

medley_status medley_model_save(const medley_model *model, const char *path, medley_error *error)
{
    medley_status status = MEDLEY_OK;
    md_output output = {0};
    md_text header = {0};
    md_text sections[MD_SECTIONS_KNOWN] = {{0}};
    const bool calibrated = model->calibration.factor > 0;
    const size_t count = calibrated ? MD_SECTIONS_KNOWN : MD_SECTION_COUNT;
    pack_story(&sections[0], model);
    pack_kernels(&sections[1], &model->bank);
    pack_points(&sections[2], model);
    md_bodies_pack(&sections[3], model);
    md_weights_pack(&sections[4], model);
    if (calibrated)
        pack_calibration(&sections[5], model);
    bool failed = false;
    for (size_t i = 0; i < count; i++)
        failed = failed || sections[i].failed;
    if (!failed)
        pack_header(&header, sections, count);
    if (failed || header.failed) {
        status = md_fail_memory(error, sections[2].length);
        goto done;
    }
    MEDLEY_TRY(md_output_open(&output, path, error));
    MEDLEY_TRY(write_file(&output, &header, sections, count, error));
    status = md_output_commit(&output, error);
done:
    md_output_abandon(&output);
    md_text_clear(&header);
    for (size_t i = 0; i < count; i++)
        md_text_clear(&sections[i]);
    return status;
}
