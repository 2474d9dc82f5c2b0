/* SPDX-License-Identifier: BSD-3-Clause */
/* Making a feature space from training data and finding the features of data. A dictionary is built
 * by one thread from the first row to the last, so numbers do not depend on the number of threads;
 * finished dictionaries are looked up by many. */
#include "feature/space.h"

#include "base/parallel.h"
#include "feature/values.h"

enum { ROWS_AT_A_TIME = 1 << 15 };

typedef struct feature_job {
    md_features *making; /* NULL: features are only looked up */
    const md_features *features;
    const md_values *values;
    md_feature_ids *ids;
    size_t min_count;
    size_t parts; /* of ROWS_AT_A_TIME rows */
    bool *failed; /* [blocks] out of memory */
} feature_job;

medley_status md_features_new(md_features **features, md_templates **templates, size_t hash_bits,
                              medley_error *error)
{
    const size_t functions = (*templates)->function_count;
    const size_t blocks = (*templates)->block_count;
    MD_OWNED(md_features_free) md_features *made = NULL;
    MEDLEY_TRY(md_new(&made, 1, sizeof *made, error));
    *made = (md_features){.templates = md_take(templates), .hash_bits = hash_bits};
    if (hash_bits == 0) {
        MEDLEY_TRY(md_new(&made->vocabulary, functions, sizeof *made->vocabulary, error));
        MEDLEY_TRY(md_new(&made->tuples, blocks, sizeof *made->tuples, error));
    }
    *features = md_take(&made);
    return MEDLEY_OK;
}

void md_features_free(md_features *features)
{
    if (features == NULL)
        return;
    for (size_t f = 0; features->vocabulary != NULL && f < features->templates->function_count; f++)
        md_strings_clear(&features->vocabulary[f]);
    for (size_t b = 0; features->tuples != NULL && b < features->templates->block_count; b++)
        md_tuples_clear(&features->tuples[b]);
    free(features->vocabulary);
    free(features->tuples);
    md_templates_free(features->templates);
    free(features);
}

bool md_features_start_block(md_features *features, size_t block)
{
    const md_templates *templates = features->templates;
    const md_template *template = &templates->blocks[block];
    size_t values = 0;
    if (template->macro_count == 1)
        values = features->vocabulary[templates->macros[template->macro[0]].function].count;
    return md_tuples_start(&features->tuples[block], template->macro_count, values);
}

/* ---- rows to features ---- */

static void hash_features(const feature_job *job, const md_template *block, uint64_t seed,
                          int32_t (*column)[MD_BATCH], size_t count, int32_t *ids)
{
    uint64_t mixed[MD_BATCH];
    int32_t worst[MD_BATCH] = {0};
    for (size_t i = 0; i < count; i++)
        mixed[i] = seed;
    for (size_t m = 0; m < block->macro_count; m++) {
        const md_macro *macro = &job->features->templates->macros[block->macro[m]];
        const uint64_t *hash = job->values->column[macro->function].hash;
        for (size_t i = 0; i < count; i++) {
            const int32_t value = column[m][i];
            worst[i] |= value;
            mixed[i] = (mixed[i] ^ hash[value >= 0 ? value : 0]) * UINT64_C(0x9e3779b97f4a7c15);
            mixed[i] ^= mixed[i] >> 32;
        }
    }
    for (size_t i = 0; i < count; i++) {
        const uint64_t slot =
            (mixed[i] * UINT64_C(0xbf58476d1ce4e5b9)) >> (64 - job->features->hash_bits);
        ids[i] = worst[i] < 0 ? -1 : block->macro_count > 0 ? (int32_t)slot : 0;
    }
}

/* The features of a block at rows first .. stop-1; false: no memory. */
static bool run_rows(const feature_job *job, size_t b, size_t first, size_t stop)
{
    const md_template *block = &job->features->templates->blocks[b];
    const uint64_t seed = md_value_hash(block->name, strlen(block->name), false);
    int32_t column[MD_MACROS_MOST][MD_BATCH];
    int32_t *ids = job->ids->ids[b];
    const medley_dataset *dataset = job->values->dataset;
    size_t sequence = first < stop ? md_dataset_unit_of(dataset, first) : 0;
    for (size_t row = first; row < stop; row += MD_BATCH) {
        const size_t count = stop - row < MD_BATCH ? stop - row : MD_BATCH;
        while (md_dataset_unit_start(dataset, sequence + 1) <= row)
            sequence++;
        for (size_t m = 0; m < block->macro_count; m++)
            md_values_fill(job->values, &job->features->templates->macros[block->macro[m]],
                           sequence, row, count, column[m]);
        if (job->features->hash_bits > 0)
            hash_features(job, block, seed, column, count, ids + row);
        else if (job->making == NULL)
            md_tuples_find(&job->features->tuples[b], column, count, ids + row);
        else if (!md_tuples_number(&job->making->tuples[b], column, count, ids + row))
            return false;
    }
    return true;
}

/* Drops the features seen less often than min_count; the others keep their order. False: no
 * memory. */
static bool cut_rare(const feature_job *job, size_t b)
{
    md_tuples *all = &job->making->tuples[b];
    MD_CLEARED(md_tuples_clear) md_tuples kept = {0};
    const size_t rows = job->ids->rows;
    int32_t *ids = job->ids->ids[b];
    MD_OWNED(free) size_t *seen = md_calloc(all->count, sizeof *seen);
    MD_OWNED(free) int32_t *number = md_calloc(all->count, sizeof *number);
    if (seen == NULL || number == NULL || !md_tuples_start(&kept, all->width, all->direct_count))
        return false;
    for (size_t row = 0; row < rows; row++)
        if (ids[row] >= 0)
            seen[ids[row]]++;
    for (size_t i = 0; i < all->count; i++) {
        number[i] = -1;
        if (seen[i] < job->min_count)
            continue;
        number[i] = md_tuples_add(&kept, all->value + i * all->width);
        if (number[i] < 0)
            return false;
    }
    for (size_t row = 0; row < rows; row++)
        if (ids[row] >= 0)
            ids[row] = number[ids[row]];
    md_tuples_clear(all);
    *all = md_take(&kept);
    return true;
}

static void make_block(void *context, size_t b, size_t worker)
{
    const feature_job *job = context;
    (void)worker;
    job->failed[b] = !md_features_start_block(job->making, b) ||
                     !run_rows(job, b, 0, job->ids->rows) ||
                     (job->min_count > 1 && !md_templates_is_constant(job->making->templates, b) &&
                      !cut_rare(job, b));
}

/* Blocks go one after the other, so that a block's dictionary stays in the cache. */
static void find_part(void *context, size_t item, size_t worker)
{
    const feature_job *job = context;
    const size_t first = item % job->parts * ROWS_AT_A_TIME;
    const size_t left = job->ids->rows - first;
    (void)worker;
    run_rows(job, item / job->parts, first,
             first + (left < ROWS_AT_A_TIME ? left : ROWS_AT_A_TIME));
}

/* ---- the interface ---- */

void md_feature_ids_free(md_feature_ids *ids)
{
    for (size_t b = 0; ids->ids != NULL && b < ids->block_count; b++)
        free(ids->ids[b]);
    free(ids->ids);
    *ids = (md_feature_ids){0};
}

static medley_status start_ids(md_feature_ids *ids, size_t blocks, size_t rows, medley_error *error)
{
    *ids = (md_feature_ids){.block_count = blocks, .rows = rows};
    MEDLEY_TRY(md_new(&ids->ids, blocks, sizeof *ids->ids, error));
    for (size_t b = 0; b < blocks; b++)
        MEDLEY_TRY(md_new_aligned(&ids->ids[b], rows, sizeof **ids->ids, error));
    return MEDLEY_OK;
}

/* Where training names a missing column the template is at fault, and the error tells its line;
 * later on the data are. */
static medley_status check_columns(const md_templates *templates, const medley_dataset *dataset,
                                   bool is_training, medley_error *error)
{
    const char *source = dataset->source != NULL ? dataset->source : "";
    if (dataset->token_columns == 0)
        return md_fail_at(error, MEDLEY_BAD_INPUT, source, 0,
                          "templates need columns of text, these data have none; give words and "
                          "their columns (formats columns and conllu)");
    if (dataset->rows > INT32_MAX)
        return md_fail_at(error, MEDLEY_BAD_INPUT, source, 0,
                          "the data have %zu rows; templates work for at most %d", dataset->rows,
                          INT32_MAX);
    for (size_t f = 0; f < templates->function_count; f++) {
        const md_function *function = &templates->functions[f];
        const md_template *block = &templates->blocks[function->block];
        const md_span span = block->span[function->place];
        if (function->column < dataset->token_columns)
            continue;
        return md_fail_at(error, MEDLEY_BAD_INPUT, is_training ? templates->source : source,
                          is_training ? block->line : 0,
                          "%.*s%s%s names column %zu, but the data have %zu column%s of text "
                          "(numbered from 0, label not counted); %s",
                          (int)(span.end - span.start), block->name + span.start,
                          is_training ? "" : " of the template ", is_training ? "" : block->name,
                          function->column, dataset->token_columns,
                          dataset->token_columns == 1 ? "" : "s",
                          is_training ? "name another column or give data that have it"
                                      : "give data with the columns that training had");
    }
    return MEDLEY_OK;
}

static medley_status check_options(const md_features_options *options, medley_error *error)
{
    if (options->hash_bits > MD_HASH_BITS_MOST)
        return md_fail(error, MEDLEY_USAGE,
                       "%zu hash bits are too many; use at most %d (18 to 24 are usual)",
                       options->hash_bits, MD_HASH_BITS_MOST);
    if (options->hash_bits > 0 && options->min_count > 1)
        return md_fail(error, MEDLEY_USAGE,
                       "hashed features are not counted, so a smallest count of %zu cannot be "
                       "obeyed; leave out one of the two options",
                       options->min_count);
    return MEDLEY_OK;
}

static medley_status make_blocks(feature_job *job, size_t threads, medley_error *error)
{
    const size_t blocks = job->ids->block_count;
    MD_OWNED(free) bool *failed = NULL;
    MEDLEY_TRY(md_new(&failed, blocks, sizeof *failed, error));
    job->failed = failed;
    md_parallel_for(threads, blocks, make_block, job);
    if (memchr(failed, 1, blocks) != NULL)
        return md_fail_memory(error, blocks * job->ids->rows * sizeof(md_tuple_slot));
    return MEDLEY_OK;
}

static void find_features(feature_job *job, size_t threads)
{
    job->parts = (job->ids->rows + ROWS_AT_A_TIME - 1) / ROWS_AT_A_TIME;
    md_parallel_for(threads, job->ids->block_count * job->parts, find_part, job);
}

medley_status md_features_create(md_features **features, md_feature_ids *ids,
                                 const md_templates *templates, const medley_dataset *train,
                                 const md_features_options *options, medley_error *error)
{
    MD_OWNED(md_templates_free) md_templates *copy = NULL;
    MD_OWNED(md_features_free) md_features *made = NULL;
    MD_CLEARED(md_values_clear) md_values values = {0};
    MD_CLEARED(md_feature_ids_free) md_feature_ids found = {0};
    MEDLEY_TRY(check_options(options, error));
    MEDLEY_TRY(check_columns(templates, train, true, error));
    MEDLEY_TRY(md_templates_subset(&copy, templates, NULL, error));
    MEDLEY_TRY(md_features_new(&made, &copy, options->hash_bits, error));
    MEDLEY_TRY(md_values_make(&values, made->templates, train,
                              (md_vocabularies){.growing = made->vocabulary}, options->threads,
                              error));
    MEDLEY_TRY(start_ids(&found, templates->block_count, train->rows, error));
    feature_job job = {.making = made,
                       .features = made,
                       .values = &values,
                       .ids = &found,
                       .min_count = options->min_count};
    if (options->hash_bits > 0)
        find_features(&job, options->threads);
    else
        MEDLEY_TRY(make_blocks(&job, options->threads, error));
    *features = md_take(&made);
    *ids = md_take(&found);
    return MEDLEY_OK;
}

medley_status md_features_apply(const md_features *features, md_feature_ids *ids,
                                const medley_dataset *dataset, size_t threads, medley_error *error)
{
    MD_CLEARED(md_values_clear) md_values values = {0};
    MD_CLEARED(md_feature_ids_free) md_feature_ids found = {0};
    MEDLEY_TRY(check_columns(features->templates, dataset, false, error));
    MEDLEY_TRY(md_values_make(&values, features->templates, dataset,
                              (md_vocabularies){.known = features->vocabulary}, threads, error));
    MEDLEY_TRY(start_ids(&found, features->templates->block_count, dataset->rows, error));
    feature_job job = {.features = features, .values = &values, .ids = &found};
    find_features(&job, threads);
    *ids = md_take(&found);
    return MEDLEY_OK;
}

const md_templates *md_features_templates(const md_features *features)
{
    return features->templates;
}

size_t md_features_count(const md_features *features, size_t block)
{
    if (features->hash_bits == 0)
        return features->tuples[block].count;
    return features->templates->blocks[block].macro_count > 0 ? (size_t)1 << features->hash_bits
                                                              : 1;
}

void md_feature_text(const md_features *features, size_t block, size_t id, md_text *text)
{
    const md_templates *templates = features->templates;
    const md_template *template = &templates->blocks[block];
    size_t at = 0;
    for (size_t m = 0; m < template->macro_count; m++) {
        const size_t function = templates->macros[template->macro[m]].function;
        md_text_add(text, template->name + at, template->span[m].start - at);
        if (features->hash_bits > 0) {
            md_text_addf(text, "#%zu", id);
            return;
        }
        const md_tuples *tuples = &features->tuples[block];
        md_text_addf(text, "%s",
                     features->vocabulary[function].items[tuples->value[id * tuples->width + m]]);
        at = template->span[m].end;
    }
    md_text_add(text, template->name + at, strlen(template->name + at));
}
