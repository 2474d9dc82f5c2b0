/* SPDX-License-Identifier: BSD-3-Clause */
/* Writing model files. Nothing here depends on time, threads or the machine, so one seed gives the
 * same bytes. */
#include "file/file.h"

#include "base/output.h"
#include <stdlib.h>
#include <string.h>

const char *const md_section_names[MD_SECTION_OWN] = {"story",  "kernels", "points",
                                                      "bodies", "weights", "proba"};

static void pack_story(md_text *out, const medley_model *model)
{
    const medley_summary *s = &model->summary;
    const md_shape *shape = &model->space.shape;
    md_pack_text(out, model->space.structure ? model->space.structure->name : "");
    md_pack_u64(out, shape->order);
    md_pack_u64(out, shape->local_pairs);
    md_pack_u64(out, shape->ends);
    if (model->task->section != NULL) { /* version 4 */
        md_pack_u64(out, shape->many_roots);
        md_pack_u64(out, shape->projective);
    }
    md_pack_text(out, model->task->about.name);
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

/* The sections of a file; those that are empty are not there. */
struct file {
    const char *own; /* name of the task's section */
    md_text sections[MD_SECTIONS_KNOWN];
    md_text header;
};

/* Older programs read what has no section of the task's own. */
static void pack_header(struct file *file)
{
    md_text *out = &file->header;
    size_t count = 0;
    for (size_t i = 0; i < MD_SECTIONS_KNOWN; i++)
        count += file->sections[i].length > 0;
    size_t offset = aligned(MD_HEADER_BYTES(count));
    size_t length = offset;
    for (size_t i = 0; i < MD_SECTIONS_KNOWN; i++)
        if (file->sections[i].length > 0)
            length = aligned(length) + file->sections[i].length;
    md_text_add(out, MD_FILE_MAGIC, 8);
    md_pack_u64(out,
                file->sections[MD_SECTION_OWN].length > 0 ? MD_FILE_VERSION : MD_FILE_VERSION - 1);
    md_pack_u64(out, length);
    md_pack_u64(out, count);
    for (size_t i = 0; i < MD_SECTIONS_KNOWN; i++) {
        const md_text *section = &file->sections[i];
        if (section->length == 0)
            continue;
        char name[8] = {0};
        const char *of_table = i < MD_SECTION_OWN ? md_section_names[i] : file->own;
        memcpy(name, of_table, strlen(of_table));
        md_text_add(out, name, sizeof name);
        md_pack_u64(out, offset);
        md_pack_u64(out, section->length);
        md_pack_u64(out, md_crc32(section->data, section->length));
        offset = aligned(offset + section->length);
    }
    if (!out->failed)
        md_pack_u64(out, md_crc32(out->data, out->length));
}

static void file_clear(struct file *file)
{
    for (size_t i = 0; i < MD_SECTIONS_KNOWN; i++)
        md_text_clear(&file->sections[i]);
    md_text_clear(&file->header);
}

static medley_status pack_model(md_text *out, const medley_model *model, medley_error *error);

/* What the task keeps, then the bytes of the companion's file. */
static medley_status pack_own(md_text *out, const medley_model *model, medley_error *error)
{
    md_text companion = {0};
    const medley_status status =
        model->companion != NULL ? pack_model(&companion, model->companion, error) : MEDLEY_OK;
    model->task->pack(out, model->own);
    md_pack_u64(out, companion.length);
    md_text_add(out, companion.data, companion.length);
    md_text_clear(&companion);
    return status;
}

static medley_status file_make(struct file *file, const medley_model *model, medley_error *error)
{
    md_text *sections = file->sections;
    file->own = model->task->section;
    pack_story(&sections[MD_SECTION_STORY], model);
    pack_kernels(&sections[MD_SECTION_KERNELS], &model->bank);
    pack_points(&sections[MD_SECTION_POINTS], model);
    md_bodies_pack(&sections[MD_SECTION_BODIES], model);
    md_weights_pack(&sections[MD_SECTION_WEIGHTS], model);
    if (model->calibration.factor > 0)
        pack_calibration(&sections[MD_SECTION_PROBA], model);
    const medley_status status =
        model->own ? pack_own(&sections[MD_SECTION_OWN], model, error) : MEDLEY_OK;
    if (status < 0)
        return status;
    bool failed = false;
    for (size_t i = 0; i < MD_SECTIONS_KNOWN; i++)
        failed = failed || sections[i].failed;
    if (!failed)
        pack_header(file);
    return failed || file->header.failed ? md_fail_memory(error, sections[MD_SECTION_POINTS].length)
                                         : MEDLEY_OK;
}

/* To a file, or to the end of a text. */
struct sink {
    md_output *output;
    md_text *text;
    size_t position;
};

static medley_status put(struct sink *sink, const char *bytes, size_t count, medley_error *error)
{
    sink->position += count;
    if (sink->output != NULL)
        return md_output_write(sink->output, bytes, count, error);
    md_text_add(sink->text, bytes, count);
    return sink->text->failed ? md_fail_memory(error, count) : MEDLEY_OK;
}

static medley_status file_put(const struct file *file, struct sink *sink, medley_error *error)
{
    static const char zeros[MD_SECTION_ALIGN];
    medley_status status = put(sink, file->header.data, file->header.length, error);
    for (size_t i = 0; i < MD_SECTIONS_KNOWN && status == MEDLEY_OK; i++) {
        const md_text *section = &file->sections[i];
        if (section->length == 0)
            continue;
        status = put(sink, zeros, aligned(sink->position) - sink->position, error);
        if (status == MEDLEY_OK)
            status = put(sink, section->data, section->length, error);
    }
    return status;
}

static medley_status pack_model(md_text *out, const medley_model *model, medley_error *error)
{
    struct file file = {0};
    struct sink sink = {.text = out};
    medley_status status = file_make(&file, model, error);
    if (status == MEDLEY_OK)
        status = file_put(&file, &sink, error);
    file_clear(&file);
    return status;
}

medley_status medley_model_write(const medley_model *model, void **bytes, size_t *size,
                                 medley_error *error)
{
    md_text out = {0};
    const medley_status status = pack_model(&out, model, error);
    if (status < 0) {
        md_text_clear(&out);
        return status;
    }
    *bytes = out.data;
    *size = out.length;
    return MEDLEY_OK;
}

void medley_bytes_free(void *bytes)
{
    free(bytes);
}

medley_status medley_model_save(const medley_model *model, const char *path, medley_error *error)
{
    medley_status status = MEDLEY_OK;
    md_output output = {0};
    struct file file = {0};
    struct sink sink = {.output = &output};
    MEDLEY_TRY(file_make(&file, model, error));
    MEDLEY_TRY(md_output_open(&output, path, error));
    MEDLEY_TRY(file_put(&file, &sink, error));
    status = md_output_commit(&output, error);
done:
    md_output_abandon(&output);
    file_clear(&file);
    return status;
}
