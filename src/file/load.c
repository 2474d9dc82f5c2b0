/* SPDX-License-Identifier: BSD-3-Clause */
/* Reading model files. Checksums tell damage from accident; every count and index is checked as
 * well, so that a forged file can be refused but never reaches outside its arrays. The file is read
 * into memory, not mapped: whoever shortened a mapped file would end the program. */
#include "file/file.h"

#include "io/io.h"

medley_status md_fail_damaged(const md_loader *loader, const char *what)
{
    for (size_t i = 0; i < MD_SECTIONS_KNOWN; i++)
        if (loader->sections[i].no_memory)
            return md_fail_memory(loader->error, loader->sections[i].length);
    return md_fail_at(loader->error, MEDLEY_BAD_INPUT, loader->path, 0,
                      "the model file is damaged (%s); train again or restore a copy", what);
}

/* ---- the container ---- */

/* The number of the section of this name, 8 bytes filled up with zeros; MD_SECTIONS_KNOWN: there is
 * none. */
static size_t find_section(md_loader *loader, const char *name)
{
    size_t i = 0;
    while (i < MD_SECTION_OWN && strncmp(md_section_names[i], name, 8) != 0)
        i++;
    for (size_t t = 0; i == MD_SECTION_OWN && md_tasks[t] != NULL; t++)
        if (md_tasks[t]->section != NULL && strncmp(md_tasks[t]->section, name, 8) == 0)
            loader->own = md_tasks[t]->section;
    return i < MD_SECTION_OWN || loader->own != NULL ? i : MD_SECTIONS_KNOWN;
}

enum { WITH_INPUT = 5 };       /* the first version with that section, */
enum { WITH_FIRST_INDEX = 8 }; /* and with all that it has */

static medley_status find_sections(md_loader *loader, md_unpack *header, size_t count)
{
    const char *data = header->data;
    const size_t length = header->length;
    size_t next = 0;
    for (size_t s = 0; s < count; s++, next++) {
        const size_t i = find_section(loader, data + header->position);
        if (i == MD_SECTIONS_KNOWN || i < next || (next < MD_SECTION_COUNT && i != next))
            return md_fail_damaged(loader, "unknown section");
        next = i;
        header->position += 8;
        const uint64_t offset = md_unpack_u64(header);
        const uint64_t size = md_unpack_u64(header);
        const uint64_t crc = md_unpack_u64(header);
        if (offset > length || size > length - offset)
            return md_fail_damaged(loader, "a section lies outside the file");
        if (md_crc32(data + offset, size) != crc)
            return md_fail_damaged(loader, i < MD_SECTION_OWN ? md_section_names[i] : loader->own);
        loader->sections[i] = (md_unpack){.data = data + offset, .length = size};
    }
    const bool has_input = loader->sections[MD_SECTION_INPUT].data != NULL;
    return next < MD_SECTION_COUNT || has_input != (loader->version >= WITH_INPUT)
               ? md_fail_damaged(loader, "a section is missing")
               : MEDLEY_OK;
}

static medley_status read_container(md_loader *loader, const char *data, size_t length)
{
    if (length < 8 || memcmp(data, MD_FILE_MAGIC, 8) != 0)
        return md_fail_at(loader->error, MEDLEY_BAD_INPUT, loader->path, 0,
                          "this is not a Medley model; give a file written by 'medley train'");
    md_unpack header = {.data = data, .length = length, .position = 8};
    const uint64_t version = md_unpack_u64(&header);
    const uint64_t stated = md_unpack_u64(&header);
    const uint64_t sections = md_unpack_u64(&header);
    if (header.bad || sections > MD_SECTIONS_MOST || length < MD_HEADER_BYTES(sections))
        return md_fail_damaged(loader, "it ends inside its header");
    md_unpack sum = {
        .data = data, .length = length, .position = MD_HEADER_BYTES(sections) - sizeof(uint64_t)};
    if (md_unpack_u64(&sum) != md_crc32(data, MD_HEADER_BYTES(sections) - sizeof(uint64_t)))
        return md_fail_damaged(loader, "its header's checksum does not match");
    if (version > MD_FILE_VERSION)
        return md_fail_at(loader->error, MEDLEY_BAD_INPUT, loader->path, 0,
                          "the model has format version %llu, this program reads versions %d to "
                          "%d; use a newer medley",
                          (unsigned long long)version, MD_FILE_OLDEST, MD_FILE_VERSION);
    if (stated != length)
        return md_fail_damaged(loader, length < stated ? "it is cut short" : "it is too long");
    if (version < MD_FILE_OLDEST)
        return md_fail_at(loader->error, MEDLEY_BAD_INPUT, loader->path, 0,
                          "the model has format version %llu, this program reads versions %d to "
                          "%d; train it again",
                          (unsigned long long)version, MD_FILE_OLDEST, MD_FILE_VERSION);
    /* probabilities came with version 3, trees with version 4, the input with version 5 */
    const uint64_t with_sections = version < WITH_INPUT ? version : WITH_INPUT;
    if (sections < MD_SECTION_COUNT || sections > MD_SECTION_COUNT + with_sections - MD_FILE_OLDEST)
        return md_fail_damaged(loader, "unknown version");
    loader->version = version;
    return find_sections(loader, &header, sections);
}

/* ---- coefficients, weights, probabilities ---- */

static medley_status read_bodies(md_loader *loader)
{
    md_unpack *in = &loader->sections[MD_SECTION_BODIES];
    MEDLEY_TRY(md_bodies_unpack(loader->model, in, loader->version, loader->error));
    return md_unpack_done(in) ? MEDLEY_OK : md_fail_damaged(loader, "coefficients");
}

/* Weights are of labels, and of nothing else. */
static medley_status read_weights(md_loader *loader)
{
    md_unpack *in = &loader->sections[MD_SECTION_WEIGHTS];
    const medley_model *model = loader->model;
    MEDLEY_TRY(md_weights_unpack(loader->model, in, loader->error));
    if (!md_unpack_done(in) || (model->weights_count > 0 && model->outputs != model->labels.count))
        return md_fail_damaged(loader, "weights");
    return MEDLEY_OK;
}

/* A table that views were made from has as many columns as they say; a model that came from an
 * older file knows none. */
static bool tables_fit(const md_bank *bank)
{
    for (size_t v = 0; v < bank->view_count; v++) {
        const md_view *view = &bank->views[v];
        const md_known_table *table = md_known_tables_find(&bank->tables, view->table);
        if (table != NULL && table->names.count > 0 && table->columns != view->table_columns)
            return false;
    }
    return true;
}

static medley_status read_input(md_loader *loader)
{
    medley_model *model = loader->model;
    md_unpack *in = &loader->sections[MD_SECTION_INPUT];
    if (in->data == NULL)
        return MEDLEY_OK;
    char *format = md_unpack_text(in);
    if (format != NULL && format[0] != '\0')
        model->format = format;
    else
        free(format);
    if (!md_known_tables_unpack(&model->bank.tables, in, loader->version >= WITH_FIRST_INDEX) ||
        !md_unpack_done(in) || !tables_fit(&model->bank))
        return md_fail_damaged(loader, "input");
    return MEDLEY_OK;
}

/* A positive factor, and for each label an offset or for none. */
static medley_status read_calibration(md_loader *loader)
{
    medley_model *model = loader->model;
    md_calibration *calibration = &model->calibration;
    md_unpack *in = &loader->sections[MD_SECTION_PROBA];
    if (in->data == NULL)
        return MEDLEY_OK;
    const double factor = md_unpack_f64(in);
    const size_t count = md_unpack_count(in, sizeof(double));
    if (in->bad || model->labels.count == 0 || !(factor > 0 && isfinite(factor)) ||
        (count != 0 && count != model->labels.count))
        return md_fail_damaged(loader, "probabilities");
    calibration->factor = factor;
    if (count > 0)
        calibration->offset = md_unpack_doubles(in, count);
    return md_unpack_done(in) ? MEDLEY_OK : md_fail_damaged(loader, "probabilities");
}

/* ---- what the task keeps, and the companion ---- */

/* path NULL: not a file of its own. */
static medley_status load_from(medley_model **model, const char *path, const char *data,
                               size_t length, const medley_structure *structure,
                               medley_error *error);

static medley_status read_companion(md_loader *loader, md_unpack *in)
{
    const size_t length = md_unpack_count(in, 1);
    if (in->bad || length == 0)
        return MEDLEY_OK;
    medley_error inner = {0}; /* damage is told of the whole file */
    const medley_status status =
        load_from(&loader->model->companion, NULL, in->data + in->position, length, NULL, &inner);
    if (status == MEDLEY_FAILED) /* for lack of memory */
        return md_fail(loader->error, status, "%s", inner.message);
    in->position += length;
    in->bad = status < 0;
    return MEDLEY_OK;
}

static medley_status read_own(md_loader *loader)
{
    medley_model *model = loader->model;
    md_unpack *in = &loader->sections[MD_SECTION_OWN];
    if (in->data == NULL)
        return MEDLEY_OK;
    if (loader->path == NULL) /* or forged files could nest without end */
        return md_fail_damaged(loader, "a companion with a section of its own");
    MEDLEY_TRY(model->task->unpack(model, in, loader->error));
    if (!in->bad)
        MEDLEY_TRY(read_companion(loader, in));
    if (!md_unpack_done(in) || !model->task->companion_fits(model))
        return md_fail_damaged(loader, model->task->section);
    return MEDLEY_OK;
}

/* ---- the file ---- */

static medley_status load_from(medley_model **model, const char *path, const char *data,
                               size_t length, const medley_structure *structure,
                               medley_error *error)
{
    MD_OWNED(medley_model_free) medley_model *made = NULL;
    MEDLEY_TRY(md_new(&made, 1, sizeof *made, error));
    md_loader loader = {.model = made, .path = path, .structure = structure, .error = error};
    MEDLEY_TRY(read_container(&loader, data, length));
    MEDLEY_TRY(md_load_summary(&loader));
    MEDLEY_TRY(md_load_kernels(&loader));
    MEDLEY_TRY(md_load_prepared(&loader));
    MEDLEY_TRY(read_bodies(&loader));
    MEDLEY_TRY(read_weights(&loader));
    MEDLEY_TRY(read_input(&loader));
    MEDLEY_TRY(read_calibration(&loader));
    MEDLEY_TRY(read_own(&loader));
    MEDLEY_TRY(md_model_tell_scale(made, loader.error));
    md_model_bind_summary(made);
    *model = md_take(&made);
    return MEDLEY_OK;
}

medley_status medley_model_read_with(medley_model **model, const void *bytes, size_t size,
                                     const char *name, const medley_structure *structure,
                                     medley_error *error)
{
    md_begin(error);
    return load_from(model, name != NULL ? name : "bytes", bytes, size, structure, error);
}

medley_status medley_model_read(medley_model **model, const void *bytes, size_t size,
                                const char *name, medley_error *error)
{
    md_begin(error);
    return medley_model_read_with(model, bytes, size, name, NULL, error);
}

medley_status medley_model_load(medley_model **model, const char *path, medley_error *error)
{
    md_begin(error);
    return medley_model_load_with(model, path, NULL, error);
}

medley_status medley_model_load_with(medley_model **model, const char *path,
                                     const medley_structure *structure, medley_error *error)
{
    md_begin(error);
    MD_CLEARED(md_input_clear) md_input input = {0};
    MEDLEY_TRY(md_input_read(&input, path, error));
    return load_from(model, path, input.data, input.length, structure, error);
}
