/* SPDX-License-Identifier: BSD-3-Clause */
/* Arc templates of a run: the features of all sentences, or of some at a time where they do not fit
 * the memory, and hashed tables of weights. */
#include "task/problem.h"

#include "base/parallel.h"
#include "block/arc_weights.h"
#include "task/parser.h"

enum { DEFAULT_BITS = 18 }; /* as good as 20 on treebanks of 200,000 words, and a quarter of it */

typedef struct arc_source {
    md_source base;
    md_window window;
    const md_problem *problem;
    md_arc_templates *templates;
    md_arcs *arcs;      /* of all sentences, or of some at a time */
    uint32_t *sentence; /* [rows] of arcs */
    size_t bits;        /* slots of a template: 2^bits */
    float *weights;     /* [templates][slots], and as much again for averages */
    size_t tags;        /* column that the templates call upos */
    md_parser *pruner;  /* NULL: all arcs are looked at */
    md_heads *heads;    /* that it has left */
} arc_source;

static void free_source(md_source *source)
{
    arc_source *arcs = (arc_source *)source;
    if (arcs == NULL)
        return;
    md_arcs_free(arcs->arcs);
    md_arc_templates_free(arcs->templates);
    md_heads_free(arcs->heads);
    md_parser_free(arcs->pruner);
    free(arcs->sentence);
    free(arcs->weights);
    free(arcs);
}
MD_OWNER(free_source, md_source)

/* Templates of siblings and grandparents are there where they are wanted, and only there. chosen:
 * some of the templates were. */
static medley_status check_parts(const arc_source *arcs, bool chosen, medley_error *error)
{
    const bool wanted = arcs->problem->options->order == 2;
    const size_t count = md_arc_templates_count(arcs->templates);
    size_t t = 0;
    while (t < count && md_arc_templates_parts(arcs->templates, t) == MD_ARC_ARCS)
        t++;
    if (wanted == (t < count))
        return MEDLEY_OK;
    if (!wanted)
        return md_fail(error, MEDLEY_USAGE,
                       "the template '%s' is about siblings or grandparents, which `order=1` does "
                       "not look at; use `order=2`, or leave such templates out",
                       md_arc_templates_name(arcs->templates, t));
    return md_fail(error, MEDLEY_USAGE, "%s",
                   chosen ? "none of the blocks that are kept is about siblings or grandparents, "
                            "which `order=2` looks at; choose from a model of `order=2`, or use "
                            "`order=1`"
                          : "no template is about siblings or grandparents, which `order=2` looks "
                            "at; add lines such as h.upos m.upos s.upos and g.upos h.upos m.upos, "
                            "or use `order=1`");
}

static medley_status create(md_source **source, const char *path, const md_problem *problem,
                            medley_error *error)
{
    const medley_options *options = problem->options;
    MD_OWNED(free_source) md_source *made = NULL;
    MEDLEY_TRY(md_new(&made, 1, sizeof(arc_source), error));
    arc_source *arcs = (arc_source *)made;
    *arcs = (arc_source){
        .base.class = &md_arc_sources,
        .problem = problem,
        .bits = options->hash_bits > 0 ? (size_t)options->hash_bits : DEFAULT_BITS,
        .tags = MD_ARC_UPOS,
    };
    if (options->tags != NULL)
        MEDLEY_TRY(md_arc_column(&arcs->tags, options->tags, error));
    MEDLEY_TRY(md_arc_templates_read(&arcs->templates, path, options->order == 2, error));
    MEDLEY_TRY(check_parts(arcs, false, error));
    *source = md_take(&made);
    return MEDLEY_OK;
}

static size_t count_templates(const md_source *source)
{
    return md_arc_templates_count(((const arc_source *)source)->templates);
}

static const char *name_of(const md_source *source, size_t t)
{
    return md_arc_templates_name(((const arc_source *)source)->templates, t);
}

static md_template_facts facts_of(const md_source *source, size_t t)
{
    (void)source;
    (void)t;
    return (md_template_facts){0};
}

static medley_status keep_some(md_source *source, const bool *keep, medley_error *error)
{
    arc_source *arcs = (arc_source *)source;
    md_arc_templates *subset = NULL;
    MEDLEY_TRY(md_arc_templates_subset(&subset, arcs->templates, keep, error));
    md_arc_templates_free(arcs->templates);
    arcs->templates = subset;
    return check_parts(arcs, true, error);
}

size_t md_arcs_tags(const md_source *source)
{
    return ((const arc_source *)source)->tags;
}

/* ---- features ---- */

static void number_rows(const arc_source *arcs, size_t sequence, size_t sentence)
{
    const size_t *start = arcs->problem->train->sequence_start;
    for (size_t r = start[sequence]; r < start[sequence + 1]; r++)
        arcs->sentence[r] = (uint32_t)sentence;
}

/* Features of the next sentences that fit the memory, and in any case of a round. */
static medley_status open_window(void *context, const size_t *examples, size_t count, size_t batch,
                                 size_t *opened, medley_error *error)
{
    arc_source *arcs = context;
    const md_problem *problem = arcs->problem;
    md_arc_source source = {
        .dataset = problem->train, .which = examples, .count = 1, .tags = arcs->tags};
    const size_t memory = md_problem_memory(problem);
    size_t bytes = 0;
    size_t taken = 0;
    for (; taken < count; taken++) {
        source.which = examples + taken;
        bytes += md_arcs_bytes(arcs->templates, &source);
        if (bytes > memory && taken >= batch)
            break;
    }
    if (taken < count && batch > 0)
        taken -= taken % batch;
    source.which = examples;
    source.count = *opened = taken;
    md_arcs_free(arcs->arcs);
    arcs->arcs = NULL;
    for (size_t s = 0; s < taken; s++)
        number_rows(arcs, examples[s], s);
    return md_arcs_create(&arcs->arcs, arcs->templates, &source, problem->threads, error);
}

static medley_status find_features(md_source *source, medley_error *error)
{
    arc_source *arcs = (arc_source *)source;
    const medley_dataset *train = arcs->problem->train;
    const md_arc_source all = {
        .dataset = train, .count = train->sequence_count, .tags = arcs->tags};
    MEDLEY_TRY(md_new(&arcs->sentence, train->rows, sizeof *arcs->sentence, error));
    if (md_arcs_bytes(arcs->templates, &all) > md_problem_memory(arcs->problem)) {
        arcs->window = (md_window){.context = arcs, .open = open_window};
        arcs->base.window = &arcs->window;
        return MEDLEY_OK;
    }
    for (size_t s = 0; s < train->sequence_count; s++)
        number_rows(arcs, s, s);
    return md_arcs_create(&arcs->arcs, arcs->templates, &all, arcs->problem->threads, error);
}

/* ---- pruning ---- */

medley_status md_arcs_prune(md_problem *problem, const medley_model *scout, medley_error *error)
{
    arc_source *arcs = (arc_source *)problem->source;
    const medley_dataset *train = problem->train;
    const md_chunk all = {.dataset = train,
                          .count = train->sequence_count,
                          .tags = arcs->tags,
                          .many_roots = problem->space.shape.many_roots,
                          .second = problem->space.shape.order == 2,
                          .gold = train->head};
    MEDLEY_TRY(md_parser_copy(&arcs->pruner, scout->own, error));
    MEDLEY_TRY(md_prune(&arcs->heads, &all, arcs->pruner, problem->threads, error));
    problem->space.shape.heads = arcs->heads;
    problem->space.shape.row = MD_ANY_ROW;
    return MEDLEY_OK;
}

/* ---- blocks ---- */

/* The system hands out memory when it is first written to, and takes its time: threads do that
 * together, and where memory is near to some processors each of these has a part of it. */
enum { PIECE = 1 << 20, PAGE = 1024 }; /* floats */

struct touching {
    float *memory;
    size_t floats;
};

static void touch_piece(void *context, size_t piece, size_t worker)
{
    (void)worker;
    const struct touching *touching = context;
    const size_t end = md_min((piece + 1) * PIECE, touching->floats);
    for (size_t i = piece * PIECE; i < end; i += PAGE)
        touching->memory[i] = 0;
}

/* Weights of all templates; those of averages stand after all of them. */
static medley_status find_weights(arc_source *arcs, medley_error *error)
{
    const size_t count = md_arc_templates_count(arcs->templates);
    const size_t floats = (count << arcs->bits) * (arcs->problem->options->average ? 2 : 1);
    const size_t available = md_memory_available();
    if (available > 0 && floats > available / sizeof(float))
        return md_fail(error, MEDLEY_FAILED,
                       "the weights of %zu templates take %zu MB, and %zu MB are free; use a "
                       "smaller `hash-bits` (now %zu), fewer templates or no `average`",
                       count, (floats * 4) >> 20, available >> 20, arcs->bits);
    MEDLEY_TRY(md_new_aligned(&arcs->weights, floats, sizeof *arcs->weights, error));
    struct touching touching = {arcs->weights, floats};
    md_parallel_for(arcs->problem->threads, md_pieces(floats, PIECE), touch_piece, &touching);
    return MEDLEY_OK;
}

/* Slots that are hashed into. */
static size_t count_features(const md_source *source, size_t t)
{
    (void)t;
    return (size_t)1 << ((const arc_source *)source)->bits;
}

static medley_status make_block(md_block **block, md_source *source, size_t t, md_explicit *what,
                                medley_error *error)
{
    arc_source *arcs = (arc_source *)source;
    const size_t slots = (size_t)1 << arcs->bits;
    const size_t count = md_arc_templates_count(arcs->templates);
    if (arcs->weights == NULL)
        MEDLEY_TRY(find_weights(arcs, error));
    float *weight = arcs->weights + t * slots;
    const md_arc_explicit table = {.name = what->name,
                                   .arcs = &arcs->arcs,
                                   .bag = md_arc_templates_is_bag(arcs->templates, t),
                                   .sentence = arcs->sentence,
                                   .heads = arcs->heads,
                                   .parts = md_arc_templates_parts(arcs->templates, t),
                                   .t = t,
                                   .bits = arcs->bits,
                                   .weight = weight,
                                   .correction = what->averaging ? weight + count * slots : NULL,
                                   .gain = what->gain,
                                   .thresholds = what->thresholds};
    memset(weight, 0, slots * sizeof *weight);
    if (table.correction != NULL)
        memset(table.correction, 0, slots * sizeof *weight);
    return md_arc_block_create(block, &table, error);
}

const md_source_class md_arc_sources = {
    .large_tables = true,
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

static medley_status copy_templates(md_parser *parser, const arc_source *arcs,
                                    const md_draft *draft, medley_error *error)
{
    MD_OWNED(free) bool *keep = NULL;
    MEDLEY_TRY(md_new(&keep, md_arc_templates_count(arcs->templates), sizeof *keep, error));
    for (size_t i = 0; i < draft->exported_count; i++)
        if (md_exported_is_active(&draft->exported[i]))
            keep[draft->problem->candidates[draft->exported[i].candidate].index] = true;
    MEDLEY_TRY(md_arc_templates_subset(&parser->templates, arcs->templates, keep, error));
    return md_parser_allocate(parser, error);
}

/* Weights so small that all of an arc's together change its score by about this, if their signs are
 * random, are left out: they are most of them. A loss of one, or a margin, is the unit of scores;
 * where weights are small, since little was learnt, it is four times the largest of them. */
static const double LEAST_CHANGE = 0.02;

static float find_least(const md_draft *draft, size_t templates)
{
    float largest = 0;
    const md_exported *learnt = draft->exported;
    for (size_t i = 0; i < draft->exported_count; i++)
        for (size_t k = 0; md_exported_is_active(&learnt[i]) && k < learnt[i].size; k++)
            largest = fmaxf(largest, fabsf(learnt[i].values[k]));
    return (float)(LEAST_CHANGE / sqrt((double)templates) * fmin(1, 4 * (double)largest));
}

/* Blocks are in the order of their templates. */
medley_status md_arcs_build(medley_model *model, const md_draft *draft, medley_error *error)
{
    const md_problem *problem = draft->problem;
    const md_exported *learnt = draft->exported;
    const arc_source *arcs = (const arc_source *)problem->source;
    MEDLEY_TRY(md_parser_create(model, error));
    md_parser *parser = model->own;
    parser->tags = arcs->tags;
    parser->bits = arcs->bits;
    if (arcs->pruner != NULL)
        MEDLEY_TRY(md_parser_copy(&parser->pruner, arcs->pruner, error));
    else
        model->space.shape.order = model->space.shape.pruned = 0; /* maybe stopped before */
    model->space.shape.heads = NULL;                              /* of the training data */
    model->space.shape.row = 0;
    model->token_columns = problem->train->token_columns;
    MEDLEY_TRY(copy_templates(parser, arcs, draft, error));
    const float least = find_least(draft, md_arc_templates_count(parser->templates));
    uint16_t *to = parser->weights;
    size_t used = 0;
    for (size_t i = 0; i < draft->exported_count; i++) {
        if (!md_exported_is_active(&learnt[i]))
            continue;
        parser->info[used++] = learnt[i].candidate;
        for (size_t k = 0; k < learnt[i].size; k++)
            to[k] = fabsf(learnt[i].values[k]) < least ? 0 : md_half_of_float(learnt[i].values[k]);
        to += learnt[i].size;
    }
    return MEDLEY_OK;
}
