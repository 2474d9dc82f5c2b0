/* SPDX-License-Identifier: BSD-3-Clause */
/* File: magic, u64 version, u64 key, the pieces of the state one after the other, u64 checksum of
 * all that, CHUNK bytes at a time. It is read by the machine that wrote it, so numbers stand as
 * they do in memory. Nothing of it is used before the checksum was compared. */
#include "online/run.h"

#include "base/output.h"
#include "setup/checkpoint_head.h"
#include <errno.h>
#include <sys/stat.h>

enum { VERSION = 5, CHUNK = 1 << 16 };
enum { HEAD_BYTES = sizeof(md_checkpoint_head), SUM_BYTES = sizeof(uint64_t) };
enum { LONGEST_TRIAL = 20 }; /* epochs of a trial of eta0 = auto at most */

static uint64_t mix(uint64_t sum, const void *data, size_t bytes)
{
    return (sum ^ md_hash_bytes(data, bytes)) * 0x9e3779b97f4a7c15u;
}

/* ---- whose it is ---- */

static uint64_t mix_strings(uint64_t key, const md_strings *strings)
{
    for (size_t i = 0; i < strings->count; i++)
        key = mix(key, strings->items[i], strlen(strings->items[i]) + 1);
    return key;
}

static uint64_t mix_matrix(uint64_t key, const md_matrix *matrix)
{
    const size_t shape[] = {matrix->rows, matrix->columns};
    key = mix(key, shape, sizeof shape);
    if (!md_matrix_is_sparse(matrix))
        return mix(key, matrix->dense, matrix->rows * matrix->columns * sizeof *matrix->dense);
    const size_t entries = matrix->start[matrix->rows];
    key = mix(key, matrix->start, (matrix->rows + 1) * sizeof *matrix->start);
    key = mix(key, matrix->index, entries * sizeof *matrix->index);
    return mix(key, matrix->value, entries * sizeof *matrix->value);
}

static uint64_t mix_data(uint64_t key, const medley_dataset *data)
{
    key = mix(key, &data->rows, sizeof data->rows);
    key = mix_strings(key, &data->label_names);
    if (data->label != NULL)
        key = mix(key, data->label, data->rows * sizeof *data->label);
    else if (data->target != NULL)
        key = mix(key, data->target, data->rows * sizeof *data->target);
    if (data->info != NULL)
        key = mix(key, data->info, data->rows * data->info_width * sizeof *data->info);
    if (data->sequence_count > 0)
        key = mix(key, data->sequence_start,
                  (data->sequence_count + 1) * sizeof *data->sequence_start);
    for (size_t c = 0; c < data->token_columns; c++)
        key = mix_strings(key, &data->token_values[c]);
    if (data->token_columns > 0)
        key = mix(key, data->token, data->rows * data->token_columns * sizeof *data->token);
    for (size_t t = 0; t < data->table_count; t++)
        key = mix_matrix(key, &data->tables[t].features);
    for (size_t g = 0; g < data->gram_count; g++)
        key = mix_matrix(key, &data->grams[g].values);
    return key;
}

medley_status md_checkpoint_key(md_checkpoint_keys *result, const md_problem *problem,
                                medley_error *error)
{
    const medley_options *options = problem->options;
    MD_CLEARED(md_text_clear) md_text text = {0};
    md_params_describe(md_option_table, options, MD_ROLE_KEYLESS, 0, &text);
    MEDLEY_TRY(md_text_check(&text, error));
    uint64_t key = mix(0, text.data ? text.data : "", text.length);
    if (options->structure != NULL)
        key = mix(key, options->structure->name, strlen(options->structure->name) + 1);
    for (size_t c = 0; c < problem->candidate_count; c++) /* kernel and template files */
        key = mix(key, problem->candidates[c].name, strlen(problem->candidates[c].name) + 1);
    const bool searched =
        isnan(problem->online->eta0) && (problem->method->about->takes & MD_TAKES_RATES) &&
        (problem->task->defaults.rate == NULL || problem->online->rate_rule == MD_RATE_OF_PAPER);
    /* where averaging starts and how long rates are tried depends on the number of epochs */
    const size_t by_epochs[] = {
        options->average ? (size_t)(options->average_from * (double)(problem->online->epochs -
                                                                     problem->online->first_epochs))
                         : 0,
        searched && problem->online->epochs < LONGEST_TRIAL ? problem->online->epochs
                                                            : LONGEST_TRIAL};
    for (size_t v = 0; v < problem->bank.view_count; v++) /* auto may have become another choice */
        key = mix(key, &problem->bank.views[v].scale, sizeof problem->bank.views[v].scale);
    key = mix(key, by_epochs, sizeof by_epochs);
    key = mix_data(key, problem->train);
    key = problem->dev ? mix_data(key, problem->dev) : key;
    const md_gram *gram = problem->online->gram;
    const bool streamed = gram != NULL && md_gram_is_streamed(gram);
    const size_t window =
        problem->online->deferred ? md_deferred_open_most(problem->online->deferred) : 0;
    /* of a run on a card, which the processor may take over */
    result->anywhere = key | MD_KEY_OF_CARD;
    key = mix(key, &streamed, sizeof streamed); /* rounding differs */
    key = mix(key, &window, sizeof window);     /* as it does here */
    result->here =
        problem->online->without_weights ? result->anywhere : key & ~(uint64_t)MD_KEY_OF_CARD;
    return MEDLEY_OK;
}

/* ---- writing ---- */

struct writer {
    md_output output;
    char *chunk; /* [CHUNK] */
    size_t filled;
    uint64_t sum;
    medley_status status;
    medley_error *error;
};

static void clear_writer(struct writer *writer)
{
    md_output_abandon(&writer->output);
    free(writer->chunk);
}

static void write_chunk(struct writer *writer)
{
    writer->sum = mix(writer->sum, writer->chunk, writer->filled);
    writer->status = md_output_write(&writer->output, writer->chunk, writer->filled, writer->error);
    writer->filled = 0;
}

static void write_piece(void *context, void *data, size_t bytes)
{
    struct writer *writer = context;
    for (const char *p = data; bytes > 0 && writer->status == MEDLEY_OK;) {
        const size_t room = CHUNK - writer->filled;
        const size_t piece = bytes < room ? bytes : room;
        memcpy(writer->chunk + writer->filled, p, piece);
        writer->filled += piece;
        p += piece;
        bytes -= piece;
        if (writer->filled == CHUNK)
            write_chunk(writer);
    }
}

medley_status md_checkpoint_save(const char *path, uint64_t key, md_state_walk walk, void *state,
                                 medley_error *error)
{
    MD_CLEARED(clear_writer) struct writer writer = {.error = error};
    uint64_t version = VERSION;
    MEDLEY_TRY(md_new(&writer.chunk, CHUNK, 1, error));
    MEDLEY_TRY(md_output_open(&writer.output, path, error));
    write_piece(&writer, (char[]){MD_CHECKPOINT_MAGIC}, sizeof MD_CHECKPOINT_MAGIC - 1);
    write_piece(&writer, &version, sizeof version);
    write_piece(&writer, &key, sizeof key);
    walk(state, write_piece, &writer);
    if (writer.status == MEDLEY_OK && writer.filled > 0)
        write_chunk(&writer);
    MEDLEY_TRY(writer.status);
    MEDLEY_TRY(md_output_write(&writer.output, &writer.sum, sizeof writer.sum, error));
    return md_output_commit(&writer.output, error);
}

static void see_piece(void *context, void *data, size_t bytes)
{
    (void)context;
    (void)data;
    (void)bytes;
}

medley_status md_checkpoint_save_together(const char *path, uint64_t key, md_state_walk walk,
                                          void *state, medley_comm *comm, medley_error *error)
{
    int32_t written = MEDLEY_OK;
    medley_error first = {0};
    if (medley_comm_rank(comm) == 0)
        written = md_checkpoint_save(path, key, walk, state, &first);
    else
        walk(state, see_piece, NULL); /* which may leave its marks: states stay alike */
    MEDLEY_TRY(md_comm_broadcast(comm, &written, sizeof written, error));
    MEDLEY_TRY(md_comm_broadcast(comm, &first, sizeof first, error));
    return written < 0
               ? md_fail_at(error, (medley_status)written, first.file, 0, "%s", first.message)
               : MEDLEY_OK;
}

/* ---- reading ---- */

struct reader {
    FILE *file;
    uint64_t left; /* bytes before the checksum that were not read yet */
    bool short_of;
};

static void close_reader(struct reader *reader)
{
    if (reader->file != NULL)
        fclose(reader->file);
}

static void read_piece(void *context, void *data, size_t bytes)
{
    struct reader *reader = context;
    if (reader->short_of || bytes > reader->left || fread(data, 1, bytes, reader->file) != bytes)
        reader->short_of = true;
    else
        reader->left -= bytes;
}

static medley_status fail_reading(const char *path, medley_error *error)
{
    return md_fail_at(error, MEDLEY_FAILED, path, 0, "the checkpoint cannot be read: %s",
                      strerror(errno));
}

static medley_status check_head(struct reader *reader, const char *path,
                                const md_checkpoint_keys *keys, medley_error *error)
{
    char magic[sizeof MD_CHECKPOINT_MAGIC - 1] = {0};
    uint64_t version = 0;
    uint64_t owner = 0;
    read_piece(reader, magic, sizeof magic);
    read_piece(reader, &version, sizeof version);
    read_piece(reader, &owner, sizeof owner);
    if (ferror(reader->file))
        return fail_reading(path, error);
    if (memcmp(magic, MD_CHECKPOINT_MAGIC, sizeof magic) != 0 || version != VERSION)
        return md_fail_at(error, MEDLEY_BAD_INPUT, path, 0,
                          "this is not a checkpoint of this version of Medley; leave out `resume` "
                          "to start anew");
    if (owner != keys->here && owner != keys->anywhere)
        return md_fail_at(error, MEDLEY_USAGE, path, 0,
                          "the checkpoint belongs to a run with other data or options; give those "
                          "again, or leave out `resume` to start anew");
    return MEDLEY_OK;
}

medley_status md_checkpoint_fail_damaged(const char *path, medley_error *error)
{
    return md_fail_at(error, MEDLEY_BAD_INPUT, path, 0,
                      "the checkpoint is damaged; leave out `resume` to start anew");
}

/* Compares the checksum of the first `bytes` bytes with the one that follows them; the file is read
 * from its beginning afterwards. */
static medley_status check_sum(FILE *file, uint64_t bytes, const char *path, medley_error *error)
{
    MD_OWNED(free) char *chunk = NULL;
    uint64_t sum = 0;
    uint64_t expected = 0;
    MEDLEY_TRY(md_new(&chunk, CHUNK, 1, error));
    rewind(file);
    while (bytes > 0) {
        const size_t piece = bytes < CHUNK ? (size_t)bytes : CHUNK;
        if (fread(chunk, 1, piece, file) != piece)
            return ferror(file) ? fail_reading(path, error)
                                : md_checkpoint_fail_damaged(path, error);
        sum = mix(sum, chunk, piece);
        bytes -= piece;
    }
    const bool whole = fread(&expected, 1, sizeof expected, file) == sizeof expected;
    if (ferror(file))
        return fail_reading(path, error);
    if (!whole || sum != expected)
        return md_checkpoint_fail_damaged(path, error);
    rewind(file);
    return MEDLEY_OK;
}

medley_status md_checkpoint_load(const char *path, const md_checkpoint_keys *keys,
                                 md_state_walk walk, void *state, bool *found, medley_error *error)
{
    struct stat info;
    MD_CLEARED(close_reader) struct reader reader = {.file = fopen(path, "rb")};
    *found = false;
    if (reader.file == NULL && errno == ENOENT)
        return MEDLEY_OK;
    if (reader.file == NULL || fstat(fileno(reader.file), &info) != 0)
        return fail_reading(path, error);
    if (!S_ISREG(info.st_mode))
        return md_fail_at(error, MEDLEY_FAILED, path, 0,
                          "the checkpoint cannot be read: it is not a plain file");
    const uint64_t size = (uint64_t)info.st_size;
    reader.left = size;
    MEDLEY_TRY(check_head(&reader, path, keys, error));
    if (size < HEAD_BYTES + SUM_BYTES)
        return md_checkpoint_fail_damaged(path, error);
    MEDLEY_TRY(check_sum(reader.file, size - SUM_BYTES, path, error));
    reader.left = size - SUM_BYTES;
    MEDLEY_TRY(check_head(&reader, path, keys, error));
    *found = true;
    walk(state, read_piece, &reader);
    if (ferror(reader.file))
        return fail_reading(path, error);
    return reader.short_of || reader.left > 0 ? md_checkpoint_fail_damaged(path, error) : MEDLEY_OK;
}

/* ---- before a run ---- */

medley_status md_checkpoint_check(const char *path, medley_error *error)
{
    MD_CLEARED(close_reader) struct reader reader = {.file = fopen(path, "rb")};
    char magic[sizeof MD_CHECKPOINT_MAGIC - 1];
    struct stat info;
    if (reader.file == NULL && errno == ENOENT)
        return MEDLEY_OK;
    if (reader.file == NULL || fstat(fileno(reader.file), &info) != 0)
        return fail_reading(path, error); /* so nobody knows what would be lost */
    if (!S_ISREG(info.st_mode) || info.st_size == 0)
        return MEDLEY_OK; /* nothing to lose */
    const bool whole = fread(magic, 1, sizeof magic, reader.file) == sizeof magic;
    if (ferror(reader.file))
        return fail_reading(path, error);
    if (whole && memcmp(magic, MD_CHECKPOINT_MAGIC, sizeof magic) == 0)
        return MEDLEY_OK;
    return md_fail_at(error, MEDLEY_USAGE, path, 0,
                      "`checkpoint` would overwrite this file, which is no checkpoint; name "
                      "another, or remove it");
}
