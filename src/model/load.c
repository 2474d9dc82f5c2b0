/* SPDX-License-Identifier: BSD-3-Clause */
/* Reading model files. Checksums tell damage from accident; every count and index is checked as
 * well, so that a forged file can be refused but never reaches outside its arrays. */
#include "model/file.h"

#include "base/memory.h"
#include "structure/structure.h"
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct loader {
    medley_model *model;
    const char *path;
    uint64_t version;
    md_unpack sections[MD_SECTIONS_KNOWN]; /* no data: not there */
    medley_error *error;
};

static medley_status fail_damaged(const struct loader *loader, const char *what)
{
    for (size_t i = 0; i < MD_SECTIONS_KNOWN; i++)
        if (loader->sections[i].no_memory)
            return md_fail_memory(loader->error, loader->sections[i].length);
    return md_fail_at(loader->error, MEDLEY_BAD_INPUT, loader->path, 0,
                      "the model file is damaged (%s); train again or restore a copy", what);
}

/* ---- the container ---- */

/* The section of this name, 8 bytes filled up with zeros; MD_SECTIONS_KNOWN: there is none. */
static size_t section_of(const char *name)
{
    size_t i = 0;
    while (i < MD_SECTIONS_KNOWN && strncmp(md_section_names[i], name, 8) != 0)
        i++;
    return i;
}

static medley_status find_sections(struct loader *loader, md_unpack *header, size_t count)
{
    const char *data = header->data;
    const size_t length = header->length;
    size_t next = 0;
    for (size_t s = 0; s < count; s++, next++) {
        const size_t i = section_of(data + header->position);
        if (i == MD_SECTIONS_KNOWN || i < next || (next < MD_SECTION_COUNT && i != next))
            return fail_damaged(loader, "unknown section");
        next = i;
        header->position += 8;
        const uint64_t offset = md_unpack_u64(header);
        const uint64_t size = md_unpack_u64(header);
        const uint64_t crc = md_unpack_u64(header);
        if (offset > length || size > length - offset)
            return fail_damaged(loader, "a section lies outside the file");
        if (md_crc32(data + offset, size) != crc)
            return fail_damaged(loader, md_section_names[i]);
        loader->sections[i] = (md_unpack){.data = data + offset, .length = size};
    }
    return next < MD_SECTION_COUNT ? fail_damaged(loader, "a section is missing") : MEDLEY_OK;
}

static medley_status read_container(struct loader *loader, const char *data, size_t length)
{
    if (length < 8 || memcmp(data, MD_FILE_MAGIC, 8) != 0)
        return md_fail_at(loader->error, MEDLEY_BAD_INPUT, loader->path, 0,
                          "this is not a Medley model; give a file written by 'medley train'");
    md_unpack header = {.data = data, .length = length, .position = 8};
    const uint64_t version = md_unpack_u64(&header);
    const uint64_t stated = md_unpack_u64(&header);
    const uint64_t sections = md_unpack_u64(&header);
    if (header.bad || sections > MD_SECTIONS_MOST || length < MD_HEADER_BYTES(sections))
        return fail_damaged(loader, "it ends inside its header");
    md_unpack sum = {
        .data = data, .length = length, .position = MD_HEADER_BYTES(sections) - sizeof(uint64_t)};
    if (md_unpack_u64(&sum) != md_crc32(data, MD_HEADER_BYTES(sections) - sizeof(uint64_t)))
        return fail_damaged(loader, "its header's checksum does not match");
    if (version > MD_FILE_VERSION)
        return md_fail_at(loader->error, MEDLEY_BAD_INPUT, loader->path, 0,
                          "the model has format version %llu, this program reads versions %d to "
                          "%d; use a newer medley",
                          (unsigned long long)version, MD_FILE_OLDEST, MD_FILE_VERSION);
    if (stated != length)
        return fail_damaged(loader, length < stated ? "it is cut short" : "it is too long");
    if (version < MD_FILE_OLDEST)
        return md_fail_at(loader->error, MEDLEY_BAD_INPUT, loader->path, 0,
                          "the model has format version %llu, this program reads versions %d to "
                          "%d; train it again",
                          (unsigned long long)version, MD_FILE_OLDEST, MD_FILE_VERSION);
    /* probabilities came with version 3, trees with version 4 */
    if (sections < MD_SECTION_COUNT || sections > MD_SECTION_COUNT + version - MD_FILE_OLDEST)
        return fail_damaged(loader, "unknown version");
    loader->version = version;
    return find_sections(loader, &header, sections);
}

/* ---- sections ---- */

static medley_status read_labels(struct loader *loader, md_unpack *in)
{
    const size_t count = md_unpack_count(in, 8);
    for (size_t l = 0; l < count; l++) {
        char *name = md_unpack_text(in);
        const int32_t id = name ? md_strings_add(&loader->model->labels, name, strlen(name)) : -1;
        free(name);
        if (id < 0 && !in->bad)
            return md_fail_memory(loader->error, in->length);
        if (id != (int32_t)l)
            return fail_damaged(loader, "labels");
    }
    return MEDLEY_OK;
}

static medley_status read_epochs(struct loader *loader, md_unpack *in)
{
    medley_model *model = loader->model;
    const bool certified = loader->version > 2;
    const size_t count = md_unpack_count(in, certified ? 48 : 24);
    model->epochs = md_calloc(count, sizeof *model->epochs);
    if (model->epochs == NULL)
        return md_fail_memory(loader->error, count * sizeof *model->epochs);
    for (size_t e = 0; e < count; e++) {
        medley_epoch *epoch = &model->epochs[e];
        epoch->objective = md_unpack_f64(in);
        epoch->loss = md_unpack_f64(in);
        epoch->dev_accuracy = md_unpack_f64(in);
        epoch->dual = certified ? md_unpack_f64(in) : NAN;
        epoch->gap = certified ? md_unpack_f64(in) : NAN;
        epoch->active = certified ? md_unpack_u64(in) : 0;
    }
    model->summary.epoch_count = count;
    return MEDLEY_OK;
}

static medley_status read_blocks(struct loader *loader, md_unpack *in)
{
    medley_model *model = loader->model;
    const size_t count = md_unpack_count(in, 32);
    model->names = md_calloc(count, sizeof *model->names);
    model->blocks = md_calloc(count, sizeof *model->blocks);
    if (model->names == NULL || model->blocks == NULL)
        return md_fail_memory(loader->error, count * sizeof *model->blocks);
    for (size_t m = 0; m < count; m++) {
        model->names[m] = md_unpack_text(in);
        model->summary.block_count = m + 1;
        model->blocks[m].weight = md_unpack_f64(in);
        model->blocks[m].norm = md_unpack_f64(in);
        model->blocks[m].features = md_unpack_u64(in);
        if (in->bad)
            return fail_damaged(loader, "blocks");
    }
    if (!md_unpack_done(in) || model->summary.active_blocks > count)
        return fail_damaged(loader, "blocks");
    return MEDLEY_OK;
}

/* Numbers have no structure; labels have one that this program knows. */
static medley_status find_structure(struct loader *loader, const char *name)
{
    md_space *space = &loader->model->space;
    const size_t labels = loader->model->labels.count;
    const bool regression = strcmp(loader->model->task, "regression") == 0;
    space->shape.labels = labels;
    const bool trees = strcmp(name, "tree") == 0; /* which may have no labels */
    if (labels > MD_MOST_LABELS || (!trees && regression != (labels == 0)) ||
        regression != (*name == '\0') || trees != (loader->sections[6].data != NULL))
        return fail_damaged(loader, "labels");
    space->structure = md_structure_find(name);
    if (space->structure == NULL && !regression)
        return md_fail_at(loader->error, MEDLEY_NOT_SUPPORTED, loader->path, 0,
                          "the model predicts the structure '%s', which this program does not "
                          "know; use a newer medley",
                          name);
    return MEDLEY_OK;
}

static void read_summary(struct loader *loader, md_unpack *in)
{
    medley_model *model = loader->model;
    medley_summary *s = &model->summary;
    model->task = md_unpack_text(in);
    model->method = md_unpack_text(in);
    model->loss = md_unpack_text(in);
    model->penalty = md_unpack_text(in);
    double *numbers[] = {&s->lambda,    &s->C,    &s->spicy_C, &s->eta0,
                         &s->objective, &s->dual, &s->gap};
    s->radius = s->bound = NAN;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        *numbers[i] = md_unpack_f64(in);
    s->examples = md_unpack_u64(in);
    s->parts = md_unpack_u64(in);
    s->active_blocks = md_unpack_u64(in);
    s->iterations = md_unpack_u64(in);
    s->seed = md_unpack_u64(in);
    s->converged = md_unpack_u64(in) != 0;
    s->newton_steps = loader->version > 2 ? md_unpack_u64(in) : 0;
    s->passes = loader->version > 2 ? md_unpack_u64(in) : 0;
}

static medley_status read_story(struct loader *loader)
{
    medley_status status = MEDLEY_OK;
    md_unpack *in = &loader->sections[0];
    md_shape *shape = &loader->model->space.shape;
    char *structure = md_unpack_text(in);
    shape->order = md_unpack_u64(in);
    shape->local_pairs = md_unpack_u64(in) != 0;
    shape->ends = md_unpack_u64(in) != 0;
    shape->many_roots = loader->version > 3 && md_unpack_u64(in) != 0;
    shape->projective = loader->version > 3 && md_unpack_u64(in) != 0;
    read_summary(loader, in);
    if (in->bad || shape->order > MD_MOST_ORDER) {
        status = fail_damaged(loader, "story");
        goto done;
    }
    MEDLEY_TRY(read_labels(loader, in));
    MEDLEY_TRY(find_structure(loader, structure));
    MEDLEY_TRY(read_epochs(loader, in));
    MEDLEY_TRY(read_blocks(loader, in));
done:
    free(structure);
    return status;
}

static medley_status read_view(struct loader *loader, md_unpack *in, size_t v)
{
    md_bank *bank = &loader->model->bank;
    md_view *view = &bank->views[v];
    bank->view_count = v + 1;
    const medley_status status = md_view_unpack(view, in);
    if (status < 0 || in->bad)
        return fail_damaged(loader, "views");
    if (md_unpack_u64(in) != 0)
        bank->origin[v] = md_unpack_floats(in, view->column_count);
    return in->bad || (view->sparse && bank->origin[v] != NULL) ? fail_damaged(loader, "views")
                                                                : MEDLEY_OK;
}

static medley_status read_kernel(struct loader *loader, md_unpack *in, size_t m)
{
    md_bank *bank = &loader->model->bank;
    md_kernel *kernel = &bank->kernels[m];
    char *name = md_unpack_text(in);
    const bool precomputed = md_unpack_u64(in) != 0;
    if (name == NULL)
        return fail_damaged(loader, "kernels");
    bank->count = m + 1;
    if (precomputed) {
        *kernel = (md_kernel){.name = name};
    } else {
        medley_error inner = {0};
        const medley_status status = md_kernel_from_name(kernel, name, &inner);
        free(name);
        if (status < 0)
            return md_fail_at(loader->error,
                              status == MEDLEY_FAILED ? status : MEDLEY_NOT_SUPPORTED, loader->path,
                              0, "the model's kernel cannot be used: %s", inner.message);
    }
    kernel->view = md_unpack_u64(in);
    const uint64_t norm = md_unpack_u64(in);
    const bool primal = md_unpack_u64(in) != 0;
    kernel->factor = md_unpack_f64(in);
    kernel->grand_mean = md_unpack_f64(in);
    if (md_unpack_u64(in) != 0)
        kernel->column_mean = md_unpack_floats(in, bank->training_rows);
    if (in->bad || norm > MD_NORM_CENTER || (!precomputed && kernel->view >= bank->view_count) ||
        (norm == MD_NORM_CENTER) != (kernel->column_mean != NULL))
        return fail_damaged(loader, "kernels");
    kernel->norm = (md_norm)norm;
    kernel->primal = primal;
    if (primal && (precomputed || bank->views[kernel->view].sparse || norm == MD_NORM_CENTER ||
                   strcmp(kernel->class->name, "linear") != 0))
        return fail_damaged(loader, "kernels");
    return MEDLEY_OK;
}

static medley_status read_kernels(struct loader *loader)
{
    medley_status status = MEDLEY_OK;
    md_unpack *in = &loader->sections[1];
    md_bank *bank = &loader->model->bank;
    bank->training_rows = md_unpack_u64(in);
    const size_t views = md_unpack_count(in, 64);
    bank->views = md_calloc(views, sizeof *bank->views);
    bank->origin = md_calloc(views, sizeof *bank->origin);
    if (bank->views == NULL || bank->origin == NULL)
        return md_fail_memory(loader->error, views * sizeof *bank->views);
    for (size_t v = 0; v < views && status == MEDLEY_OK; v++)
        status = read_view(loader, in, v);
    if (status < 0)
        return status;
    const size_t count = md_unpack_count(in, 56);
    bank->kernels = md_calloc(count, sizeof *bank->kernels);
    if (bank->kernels == NULL)
        return md_fail_memory(loader->error, count * sizeof *bank->kernels);
    for (size_t m = 0; m < count && status == MEDLEY_OK; m++)
        status = read_kernel(loader, in, m);
    if (status == MEDLEY_OK && !md_unpack_done(in))
        status = fail_damaged(loader, "kernels");
    return status;
}

/* Row starts that never fall and columns that rise within each row. */
static bool is_well_formed(const md_matrix *matrix, size_t entries)
{
    if (matrix->start[0] != 0 || matrix->start[matrix->rows] != entries)
        return false;
    for (size_t r = 0; r < matrix->rows; r++)
        if (matrix->start[r] > matrix->start[r + 1])
            return false;
    for (size_t r = 0; r < matrix->rows; r++)
        for (size_t e = matrix->start[r]; e < matrix->start[r + 1]; e++)
            if (matrix->index[e] < 0 || (size_t)matrix->index[e] >= matrix->columns ||
                (e > matrix->start[r] && matrix->index[e] <= matrix->index[e - 1]))
                return false;
    return true;
}

static bool read_sparse(md_matrix *matrix, md_unpack *in)
{
    const size_t entries = md_unpack_count(in, 8);
    matrix->start = md_unpack_sizes(in, matrix->rows + 1);
    matrix->index = (int32_t *)md_unpack_u32s(in, entries);
    matrix->value = md_unpack_floats(in, entries);
    return !in->bad && is_well_formed(matrix, entries);
}

static bool read_matrix(md_matrix *matrix, const md_view *view, size_t rows, md_unpack *in)
{
    const uint64_t columns = md_unpack_u64(in);
    *matrix = (md_matrix){.rows = rows, .columns = columns};
    if (in->bad || columns != view->column_count)
        return false;
    if (view->sparse)
        return read_sparse(matrix, in);
    if (columns > 0 && rows > SIZE_MAX / 4 / columns)
        return false;
    matrix->dense = md_unpack_floats(in, rows * columns);
    return !in->bad;
}

static medley_status read_points(struct loader *loader)
{
    md_unpack *in = &loader->sections[2];
    medley_model *model = loader->model;
    const md_bank *bank = &model->bank;
    model->support_count = md_unpack_count(in, 8);
    model->support_row = md_unpack_sizes(in, model->support_count);
    for (size_t r = 0; r < model->support_count; r++)
        if (in->bad || model->support_row[r] >= bank->training_rows)
            return fail_damaged(loader, "support rows");
    medley_status status = md_points_init(&model->points, model->support_count, bank->view_count,
                                          bank->count, loader->error);
    if (status < 0)
        return status;
    md_points *points = &model->points;
    for (size_t v = 0; v < bank->view_count; v++) {
        points->used[v] = md_unpack_u64(in) != 0;
        if (!points->used[v])
            continue;
        if (!read_matrix(&points->views[v], &bank->views[v], points->rows, in))
            return fail_damaged(loader, "points");
        points->norm2[v] = md_unpack_floats(in, points->rows);
        if (md_unpack_u64(in) != 0)
            points->lift[v] = md_unpack_floats(in, points->rows);
        if (in->bad || (points->lift[v] != NULL) != (bank->origin[v] != NULL))
            return fail_damaged(loader, "points");
    }
    for (size_t m = 0; m < bank->count; m++) {
        const md_kernel *kernel = &bank->kernels[m];
        if (md_unpack_u64(in) != 0)
            points->inverse_root[m] = md_unpack_floats(in, points->rows);
        if (in->bad || (kernel->norm == MD_NORM_DIAG) != (points->inverse_root[m] != NULL) ||
            (kernel->class != NULL && !md_kernel_has_weights(kernel) &&
             !points->used[kernel->view]) ||
            (kernel->norm == MD_NORM_CENTER && points->rows != bank->training_rows))
            return fail_damaged(loader, "points");
    }
    return md_unpack_done(in) ? md_points_index(points, loader->error)
                              : fail_damaged(loader, "points");
}

static medley_status read_bodies(struct loader *loader)
{
    md_unpack *in = &loader->sections[3];
    const medley_status status =
        md_bodies_unpack(loader->model, in, loader->version, loader->error);
    if (status < 0)
        return status;
    return md_unpack_done(in) ? MEDLEY_OK : fail_damaged(loader, "coefficients");
}

/* Weights are of labels, and of nothing else. */
static medley_status read_weights(struct loader *loader)
{
    md_unpack *in = &loader->sections[4];
    const medley_model *model = loader->model;
    const medley_status status = md_weights_unpack(loader->model, in, loader->error);
    if (status < 0)
        return status;
    if (!md_unpack_done(in) || (model->weights_count > 0 && model->outputs != model->labels.count))
        return fail_damaged(loader, "weights");
    return MEDLEY_OK;
}

/* A positive factor, and for each label an offset or for none. */
static medley_status read_calibration(struct loader *loader)
{
    medley_model *model = loader->model;
    md_calibration *calibration = &model->calibration;
    md_unpack *in = &loader->sections[5];
    if (in->data == NULL)
        return MEDLEY_OK;
    const double factor = md_unpack_f64(in);
    const size_t count = md_unpack_count(in, sizeof(double));
    if (in->bad || model->labels.count == 0 || !(factor > 0 && isfinite(factor)) ||
        (count != 0 && count != model->labels.count))
        return fail_damaged(loader, "probabilities");
    if (count > 0)
        calibration->offset = md_calloc(count, sizeof *calibration->offset);
    if (count > 0 && calibration->offset == NULL)
        return md_fail_memory(loader->error, count * sizeof *calibration->offset);
    calibration->factor = factor;
    bool finite = true;
    for (size_t l = 0; l < count; l++) {
        calibration->offset[l] = md_unpack_f64(in);
        finite = finite && isfinite(calibration->offset[l]);
    }
    return finite && md_unpack_done(in) ? MEDLEY_OK : fail_damaged(loader, "probabilities");
}

static medley_status read_parser(struct loader *loader)
{
    md_unpack *in = &loader->sections[6];
    if (in->data == NULL)
        return MEDLEY_OK;
    if (loader->path == NULL) /* or forged files could nest without end */
        return fail_damaged(loader, "a parser within a parser");
    const medley_status status = md_parser_unpack(loader->model, in, loader->error);
    if (status < 0)
        return status;
    return md_unpack_done(in) ? MEDLEY_OK : fail_damaged(loader, "trees");
}

/* ---- the file ---- */

/* path NULL: not a file of its own. */
static medley_status load_from(medley_model **model, const char *path, const char *data,
                               size_t length, medley_error *error)
{
    medley_status status = MEDLEY_OK;
    struct loader loader = {.path = path, .error = error};
    loader.model = md_calloc(1, sizeof *loader.model);
    if (loader.model == NULL)
        return md_fail_memory(error, sizeof *loader.model);
    MEDLEY_TRY(read_container(&loader, data, length));
    MEDLEY_TRY(read_story(&loader));
    MEDLEY_TRY(read_kernels(&loader));
    MEDLEY_TRY(read_points(&loader));
    MEDLEY_TRY(read_bodies(&loader));
    MEDLEY_TRY(read_weights(&loader));
    MEDLEY_TRY(read_calibration(&loader));
    MEDLEY_TRY(read_parser(&loader));
    md_model_link_summary(loader.model);
    *model = loader.model;
    loader.model = NULL;
done:
    medley_model_free(loader.model);
    return status;
}

medley_status md_model_unpack(medley_model **model, const char *data, size_t length,
                              medley_error *error)
{
    return load_from(model, NULL, data, length, error);
}

medley_status medley_model_read(medley_model **model, const void *bytes, size_t size,
                                const char *name, medley_error *error)
{
    return load_from(model, name != NULL ? name : "bytes", bytes, size, error);
}

medley_status medley_model_load(medley_model **model, const char *path, medley_error *error)
{
    struct stat info;
    const int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0 || fstat(descriptor, &info) != 0 || !S_ISREG(info.st_mode)) {
        const char *reason = descriptor < 0 ? strerror(errno) : "it is not a plain file";
        if (descriptor >= 0)
            close(descriptor);
        return md_fail_at(error, MEDLEY_FAILED, path, 0, "the model cannot be read: %s", reason);
    }
    const size_t length = (size_t)info.st_size;
    if (length == 0) {
        close(descriptor);
        return md_fail_at(error, MEDLEY_BAD_INPUT, path, 0, "the model file is empty");
    }
    char *data = mmap(NULL, length, PROT_READ, MAP_PRIVATE, descriptor, 0);
    close(descriptor);
    if (data == MAP_FAILED)
        return md_fail_at(error, MEDLEY_FAILED, path, 0, "the model cannot be read: %s",
                          strerror(errno));
    const medley_status status = load_from(model, path, data, length, error);
    munmap(data, length);
    return status;
}
