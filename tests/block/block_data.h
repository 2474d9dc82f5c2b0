/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the tests of blocks: the same random rows as a dense matrix, a sparse one, ids, a Gram
 * matrix and a kernel whose values deferred scores computes, and every kind of block over them. */
#ifndef TESTS_BLOCK_BLOCK_DATA_H
#define TESTS_BLOCK_BLOCK_DATA_H

#include "base/random.h"
#include "block/block.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { ROWS = 23, COLUMNS = 7, IDS = 60, LABELS = 3, LONGEST = 4 };
enum { FEATURES_MOST = IDS, WIDTH_MOST = LABELS * LABELS * LABELS };
static const double GAIN = 1.5; /* of explicit blocks; kernels are GAIN^2 <x,z> */

/* ---- data ---- */

struct source_data {
    medley_dataset *dataset;
    md_bank bank;
    md_prepared prepared;
    md_gram *gram;
};

struct data {
    float x[ROWS][COLUMNS]; /* many zeros */
    int32_t id[ROWS][2];    /* some -1; those of two templates side by side */
    md_matrix dense, sparse;
    struct source_data full, computed;
};

static inline void fill_sparse(md_matrix *sparse, float x[ROWS][COLUMNS])
{
    medley_error error = {0};
    size_t used = 0;
    assert_int_equal(md_matrix_init_sparse(sparse, ROWS, COLUMNS, (size_t)ROWS * COLUMNS, &error),
                     MEDLEY_OK);
    for (size_t r = 0; r < ROWS; r++) {
        for (size_t c = 0; c < COLUMNS; c++)
            if (x[r][c] != 0) {
                sparse->index[used] = (int32_t)c;
                sparse->value[used++] = x[r][c];
            }
        sparse->start[r + 1] = used;
    }
}

static inline void make_source(struct source_data *source, char *const *kernels, size_t memory)
{
    medley_error error = {0};
    const md_bank_options bank_options = {.kernels = kernels, .views = "all"};
    const md_gram_options gram_options = {.threads = 1, .memory = memory};
    assert_int_equal(md_bank_make(&source->bank, source->dataset, &bank_options, &error),
                     MEDLEY_OK);
    assert_int_equal(
        md_prepared_make(&source->prepared, &source->bank, source->dataset, true, &error),
        MEDLEY_OK);
    assert_int_equal(
        md_gram_create(&source->gram, &source->bank, &source->prepared, &gram_options, &error),
        MEDLEY_OK);
}

/* The Gram matrix goes in ready made, so that nothing of it depends on how kernels are computed. */
static inline void make_full(struct data *data)
{
    medley_error error = {0};
    struct source_data *full = &data->full;
    assert_int_equal(medley_dataset_create(&full->dataset, &error), MEDLEY_OK);
    full->dataset->rows = ROWS;
    md_precomputed *given = NULL;
    assert_int_equal(md_dataset_new_gram(&given, full->dataset, "linear", NULL), MEDLEY_OK);
    assert_int_equal(md_matrix_init_dense(&given->values, ROWS, ROWS, &error), MEDLEY_OK);
    for (size_t i = 0; i < ROWS; i++)
        for (size_t j = 0; j < ROWS; j++) {
            double product = 0;
            for (size_t c = 0; c < COLUMNS; c++)
                product += (double)data->x[i][c] * (double)data->x[j][c];
            given->values.dense[i * ROWS + j] = (float)(GAIN * GAIN * product);
        }
    make_source(full, NULL, 0);
}

/* No room for a matrix. */
static inline void make_computed(struct data *data)
{
    medley_error error = {0};
    double values[ROWS * COLUMNS];
    char spec[] = "poly(degree=1,offset=0)";
    char *const kernels[] = {spec, NULL};
    for (size_t r = 0; r < ROWS; r++)
        for (size_t c = 0; c < COLUMNS; c++)
            values[r * COLUMNS + c] = GAIN * (double)data->x[r][c];
    assert_int_equal(
        medley_dataset_from_dense(&data->computed.dataset, values, ROWS, COLUMNS, NULL, &error),
        MEDLEY_OK);
    make_source(&data->computed, kernels, 1);
    assert_true(md_gram_is_streamed(data->computed.gram));
    assert_false(md_gram_is_kept(data->computed.gram, 0));
}

static inline void make_data(struct data *data, uint64_t seed)
{
    md_random random;
    medley_error error = {0};
    md_random_seed(&random, seed);
    *data = (struct data){0};
    for (size_t r = 0; r < ROWS; r++) {
        data->id[r][0] = (int32_t)md_random_below(&random, IDS);
        data->id[r][1] = (int32_t)md_random_below(&random, IDS);
        if (r > 0 && md_random_below(&random, 3) == 0)
            data->id[r][1] = data->id[r - 1][1]; /* twice in one example */
        else if (md_random_below(&random, 4) == 0)
            data->id[r][1] = -1;
        for (size_t c = 0; c < COLUMNS; c++)
            if (md_random_below(&random, 2) == 0)
                data->x[r][c] = (float)md_random_normal(&random);
    }
    assert_int_equal(md_matrix_init_dense(&data->dense, ROWS, COLUMNS, &error), MEDLEY_OK);
    memcpy(data->dense.dense, data->x, sizeof data->x);
    fill_sparse(&data->sparse, data->x);
    make_full(data);
    make_computed(data);
}

static inline void clear_source(struct source_data *source)
{
    md_gram_free(source->gram);
    md_prepared_clear(&source->prepared);
    md_bank_clear(&source->bank);
    medley_dataset_free(source->dataset);
}

static inline void clear_data(struct data *data)
{
    clear_source(&data->full);
    clear_source(&data->computed);
    md_matrix_clear(&data->dense);
    md_matrix_clear(&data->sparse);
}

/* ---- kinds of block ---- */

typedef enum source {
    KERNEL,
    COMPUTED_KERNEL,   /* by deferred scores that keeps no rows */
    COMPUTED_AND_KEPT, /* by one that keeps a few */
    DENSE_MATRIX,
    SPARSE_MATRIX,
    IDS_OF_ROWS,
    CONSTANT
} source;

struct variant {
    const char *name;
    source source;
    md_part_kind kind;
    bool local_pairs;
    const char *structure;
};

static const struct variant variants[] = {
    {"kernel", KERNEL, MD_ROW_PARTS, false, "chain"},
    {"computed kernel", COMPUTED_KERNEL, MD_ROW_PARTS, false, "chain"},
    {"computed kernel, some rows kept", COMPUTED_AND_KEPT, MD_ROW_PARTS, false, "chain"},
    {"kernel without pairs", KERNEL, MD_ROW_PARTS, false, "multiclass"},
    {"dense", DENSE_MATRIX, MD_ROW_PARTS, false, "chain"},
    {"dense without pairs", DENSE_MATRIX, MD_ROW_PARTS, false, "multiclass"},
    {"sparse", SPARSE_MATRIX, MD_ROW_PARTS, true, "chain"},
    {"ids", IDS_OF_ROWS, MD_ROW_PARTS, false, "chain"},
    {"constant", CONSTANT, MD_ROW_PARTS, false, "chain"},
    {"ids of pairs", IDS_OF_ROWS, MD_PAIR_PARTS, true, "chain"},
    {"sparse pairs", SPARSE_MATRIX, MD_PAIR_PARTS, true, "chain"},
    {"constant pairs of each row", CONSTANT, MD_PAIR_PARTS, true, "chain"},
    {"constant pairs", CONSTANT, MD_PAIR_PARTS, false, "chain"},
    {"constant triples", CONSTANT, MD_TRIPLE_PARTS, true, "chain"},
    {"constant ends", CONSTANT, MD_END_PARTS, false, "chain"},
};
enum { VARIANTS = sizeof variants / sizeof *variants };

static inline bool is_computed(const struct variant *variant)
{
    return variant->source == COMPUTED_KERNEL || variant->source == COMPUTED_AND_KEPT;
}

static inline bool is_kernel(const struct variant *variant)
{
    return variant->source == KERNEL || is_computed(variant);
}

static inline md_space space_of(const struct variant *variant)
{
    return (md_space){
        .structure = md_structure_find(variant->structure),
        .shape = {.labels = LABELS, .order = 2, .local_pairs = variant->local_pairs, .ends = true}};
}

/* Features that theta has weights for: of a kernel, those of the linear map. */
static inline size_t features_of(const struct variant *variant)
{
    return variant->source == IDS_OF_ROWS ? IDS : variant->source == CONSTANT ? 1 : COLUMNS;
}

static inline size_t width_of(const struct variant *variant)
{
    const md_space space = space_of(variant);
    return space.structure->groups(space.shape, LONGEST, variant->kind).width;
}

static inline double feature_at(const struct data *data, const struct variant *variant, size_t row,
                                size_t feature)
{
    if (variant->source == CONSTANT)
        return GAIN;
    if (variant->source == IDS_OF_ROWS)
        return data->id[row][1] == (int32_t)feature ? GAIN : 0;
    return GAIN * (double)data->x[row][feature];
}

struct usage {
    bool averaging, thresholds;
};

/* Ledgers of the blocks that have one: a kernel has one slot in each. */
enum { MOST_DEFERRED = 4 };
static struct {
    const md_block *block;
    md_deferred *deferred;
} deferred_of_blocks[MOST_DEFERRED];

/* NULL: the block needs none. */
static inline md_deferred *deferred_of(const md_block *block)
{
    for (size_t i = 0; i < MOST_DEFERRED; i++)
        if (deferred_of_blocks[i].block == block)
            return deferred_of_blocks[i].deferred;
    return NULL;
}

static inline md_block *make_kernel_block(const struct data *data, const struct variant *variant,
                                          struct usage usage)
{
    md_block *block = NULL;
    medley_error error = {0};
    size_t place = 0;
    md_kernel_source from = {.gram = data->full.gram,
                             .name = variant->name,
                             .labels = LABELS,
                             .averaging = usage.averaging};
    if (is_computed(variant)) {
        const size_t rows = variant->source == COMPUTED_AND_KEPT ? 5 : 0;
        const md_deferred_options options = {
            .labels = LABELS, .longest = LONGEST, .memory = rows * ROWS * sizeof(float) + 1};
        from.gram = data->computed.gram;
        assert_int_equal(md_deferred_create(&from.deferred, from.gram, &options, &error),
                         MEDLEY_OK);
        while (place < MOST_DEFERRED && deferred_of_blocks[place].block != NULL)
            place++;
        assert_true(place < MOST_DEFERRED);
    }
    assert_int_equal(md_kernel_block_create(&block, &from, &error), MEDLEY_OK);
    if (is_computed(variant)) {
        deferred_of_blocks[place].block = block;
        deferred_of_blocks[place].deferred = from.deferred;
    }
    return block;
}

static inline md_block *make_block(const struct data *data, const struct variant *variant,
                                   struct usage usage)
{
    md_block *block = NULL;
    medley_error error = {0};
    const md_explicit what = {
        .name = variant->name,
        .features = {.matrix = variant->source == DENSE_MATRIX    ? &data->dense
                               : variant->source == SPARSE_MATRIX ? &data->sparse
                                                                  : NULL,
                     .id = variant->source == IDS_OF_ROWS ? &data->id[0][1] : NULL,
                     .id_step = 2,
                     .count = features_of(variant)},
        .gain = GAIN,
        .space = space_of(variant),
        .kind = variant->kind,
        .averaging = usage.averaging,
        .thresholds = usage.thresholds};
    if (is_kernel(variant))
        return make_kernel_block(data, variant, usage);
    assert_int_equal(md_explicit_block_create(&block, &what, &error), MEDLEY_OK);
    return block;
}

static inline void free_block(md_block *block)
{
    md_deferred *deferred = deferred_of(block);
    for (size_t i = 0; i < MOST_DEFERRED; i++)
        if (deferred_of_blocks[i].block == block)
            deferred_of_blocks[i].block = NULL;
    md_block_free(block);
    md_deferred_free(deferred);
}

/* ---- what comes next, for the blocks that need to know ---- */

/* The rows of some examples are looked at and changed next. In order, so that those of an example
 * stand side by side also where examples overlap. */
static inline void announce(const md_block *block, const md_gradient *gradients, size_t count)
{
    medley_error error = {0};
    size_t rows[ROWS];
    size_t used = 0;
    if (deferred_of(block) == NULL)
        return;
    for (size_t r = 0; r < ROWS; r++)
        for (size_t g = 0; g < count; g++)
            if (r >= gradients[g].example.row &&
                r < gradients[g].example.row + gradients[g].example.length) {
                rows[used++] = r;
                break;
            }
    assert_int_equal(md_deferred_open(deferred_of(block), rows, used, &error), MEDLEY_OK);
}

/* What the block is made of is true for all rows afterwards. */
static inline void settle(const md_block *block)
{
    medley_error error = {0};
    if (deferred_of(block) != NULL)
        assert_int_equal(md_deferred_close(deferred_of(block), &error), MEDLEY_OK);
}

static inline void refresh_norm(md_block *block)
{
    settle(block);
    md_block_refresh_norm(block);
}

static inline void take_average(md_block *block)
{
    medley_error error = {0};
    assert_int_equal(block->class->take_average(block, &error), MEDLEY_OK);
    block->dual_scale = 1;
    refresh_norm(block);
}

static inline void import_body(md_block *block, const float *body)
{
    medley_error error = {0};
    assert_int_equal(block->class->import_body(block, body, &error), MEDLEY_OK);
    refresh_norm(block);
}

#endif
