/* SPDX-License-Identifier: BSD-3-Clause */
/* Templates of tagged words: the features of the rows of a run, and the weights of templates and
 * label context on their way into a model. */
#include "task/problem.h"

#include "feature/feature.h"

typedef struct word_source {
    md_source base;
    const md_problem *problem;
    md_templates *templates;
    md_features *features;
    int32_t *ids; /* [rows][templates]: those of an example stand together */
} word_source;

static void free_source(md_source *source)
{
    word_source *words = (word_source *)source;
    if (words == NULL)
        return;
    md_templates_free(words->templates);
    md_features_free(words->features);
    free(words->ids);
    free(words);
}
MD_OWNER(free_source, md_source)

static medley_status create(md_source **source, const char *path, const md_problem *problem,
                            medley_error *error)
{
    MD_OWNED(free_source) md_source *made = NULL;
    MEDLEY_TRY(md_new(&made, 1, sizeof(word_source), error));
    word_source *words = (word_source *)made;
    *words = (word_source){.base.class = &md_word_templates, .problem = problem};
    MEDLEY_TRY(md_templates_read(&words->templates, path, error));
    *source = md_take(&made);
    return MEDLEY_OK;
}

static size_t count_templates(const md_source *source)
{
    return md_templates_count(((const word_source *)source)->templates);
}

static const char *name_of(const md_source *source, size_t t)
{
    return md_templates_name(((const word_source *)source)->templates, t);
}

static md_template_facts facts_of(const md_source *source, size_t t)
{
    const md_templates *templates = ((const word_source *)source)->templates;
    return (md_template_facts){.pair = md_templates_is_pair(templates, t),
                               .constant = md_templates_is_constant(templates, t)};
}

static medley_status keep_some(md_source *source, const bool *keep, medley_error *error)
{
    word_source *words = (word_source *)source;
    md_templates *subset = NULL;
    MEDLEY_TRY(md_templates_subset(&subset, words->templates, keep, error));
    md_templates_free(words->templates);
    words->templates = subset;
    return MEDLEY_OK;
}

/* A cut-off that leaves no feature leaves nothing to learn with. */
static medley_status check_features(const word_source *words, medley_error *error)
{
    size_t count = 0;
    size_t templates = 0;
    for (size_t b = 0; b < md_templates_count(words->templates); b++) {
        if (md_templates_is_constant(words->templates, b))
            continue;
        count += md_features_count(words->features, b);
        templates++;
    }
    if (count > 0 || templates == 0)
        return MEDLEY_OK;
    return md_fail(error, MEDLEY_USAGE,
                   "no feature of the templates occurs %lld times; use a smaller `min-count`",
                   words->problem->options->min_count);
}

static medley_status find_features(md_source *source, medley_error *error)
{
    word_source *words = (word_source *)source;
    const md_problem *problem = words->problem;
    const md_features_options options = {.min_count = (size_t)problem->options->min_count,
                                         .hash_bits = (size_t)problem->options->hash_bits,
                                         .threads = problem->threads};
    MD_CLEARED(md_feature_ids_free) md_feature_ids ids = {0};
    MEDLEY_TRY(md_features_create(&words->features, &ids, words->templates, problem->train,
                                  &options, error));
    MEDLEY_TRY(md_new(&words->ids, ids.rows * ids.block_count, sizeof *words->ids, error));
    for (size_t r = 0; r < ids.rows; r++)
        for (size_t b = 0; b < ids.block_count; b++)
            words->ids[r * ids.block_count + b] = ids.ids[b][r];
    return check_features(words, error);
}

static size_t count_features(const md_source *source, size_t t)
{
    const word_source *words = (const word_source *)source;
    return md_templates_is_constant(words->templates, t) ? 1
                                                         : md_features_count(words->features, t);
}

static medley_status make_block(md_block **block, md_source *source, size_t t, md_explicit *what,
                                medley_error *error)
{
    const word_source *words = (const word_source *)source;
    if (!md_templates_is_constant(words->templates, t))
        what->features = (md_row_features){.id = words->ids + t,
                                           .id_step = md_templates_count(words->templates),
                                           .count = md_features_count(words->features, t)};
    return md_explicit_block_create(block, what, error);
}

const md_source_class md_word_templates = {
    .create = create,
    .count = count_templates,
    .name = name_of,
    .facts = facts_of,
    .keep = keep_some,
    .find_features = find_features,
    .features = count_features,
    .block = make_block,
    .free = free_source,
};

/* ---- into a model ---- */

struct building {
    medley_model *model;
    const md_problem *problem;
    const word_source *words; /* NULL: there is label context only */
    bool **kept;              /* [templates] features with weights; NULL: of none */
    md_pool *pool;            /* of kept */
    medley_error *error;
};

/* Which features of a template have any weight. Hashed ones are where they are. */
static medley_status find_kept(struct building *b, const md_exported *learnt, size_t t,
                               size_t *count)
{
    const size_t features = md_features_count(b->words->features, t);
    const bool hashed = b->problem->options->hash_bits > 0;
    const size_t width = learnt->size / features;
    MEDLEY_TRY(md_pool_new(b->pool, &b->kept[t], features, sizeof **b->kept, b->error));
    bool *kept = b->kept[t];
    *count = 0;
    for (size_t f = 0; f < features; f++) {
        kept[f] = hashed || md_exported_has_some(learnt, f * width, width);
        *count += kept[f];
    }
    return MEDLEY_OK;
}

/* The features that stay move together; their order stays. */
static medley_status copy_weights(struct building *b, const md_exported *learnt,
                                  md_weights *weights)
{
    const md_candidate *candidate = &b->problem->candidates[learnt->candidate];
    const md_space *space = &b->problem->space;
    const bool templated = candidate->origin == MD_FROM_TEMPLATE;
    *weights =
        (md_weights){.kind = candidate->kind,
                     .info = learnt->candidate,
                     .block = templated ? candidate->index : MD_CONSTANT,
                     .width = space->structure->groups(space->shape, 3, candidate->kind).width,
                     .rows = 1};
    if (templated)
        MEDLEY_TRY(find_kept(b, learnt, candidate->index, &weights->rows));
    MEDLEY_TRY(md_new(&weights->values, weights->rows * weights->width, sizeof *weights->values,
                      b->error));
    const size_t rows = learnt->size / weights->width;
    float *to = weights->values;
    for (size_t f = 0; f < rows; f++) {
        if (templated && !b->kept[candidate->index][f])
            continue;
        memcpy(to, learnt->values + f * weights->width, weights->width * sizeof *to);
        to += weights->width;
    }
    return MEDLEY_OK;
}

/* Templates without weights are left out, so those after them move up. */
static void renumber_templates(const struct building *b)
{
    for (size_t w = 0; w < b->model->weights_count; w++) {
        md_weights *weights = &b->model->weights[w];
        size_t place = 0;
        for (size_t t = 0; weights->block != MD_CONSTANT && t < weights->block; t++)
            place += b->kept[t] != NULL;
        if (weights->block != MD_CONSTANT)
            weights->block = place;
    }
}

medley_status md_words_build(medley_model *model, const md_draft *draft, medley_error *error)
{
    const md_problem *problem = draft->problem;
    const size_t count = draft->exported_count;
    MD_CLEARED(md_pool_clear) md_pool pool = {0};
    struct building b = {.model = model,
                         .problem = problem,
                         .words = (const word_source *)problem->source,
                         .pool = &pool,
                         .error = error};
    bool templated = false;
    MEDLEY_TRY(
        md_pool_new(&pool, &b.kept, md_source_count(problem->source), sizeof *b.kept, error));
    MEDLEY_TRY(md_new(&model->weights, count, sizeof *model->weights, error));
    for (size_t i = 0; i < count; i++) {
        const md_exported *learnt = &draft->exported[i];
        const md_origin origin = problem->candidates[learnt->candidate].origin;
        if (!md_exported_is_active(learnt) || origin == MD_FROM_KERNEL)
            continue;
        templated = templated || origin == MD_FROM_TEMPLATE;
        MEDLEY_TRY(copy_weights(&b, learnt, &model->weights[model->weights_count++]));
    }
    if (b.words != NULL) {
        model->token_columns = problem->train->token_columns;
        model->label_column = problem->train->label_column + 1;
    }
    if (!templated || b.words == NULL)
        return MEDLEY_OK;
    renumber_templates(&b);
    return md_features_subset(&model->features, b.words->features, (const bool *const *)b.kept,
                              error);
}
