/* SPDX-License-Identifier: BSD-3-Clause */
/* Parsing: the arcs of a sentence are scored by all templates, the best tree is found, and its arcs
 * are labelled. */
#include "task/parser.h"
#include "task/predicting.h"
#include "task/tree_answers.h"

#include "base/parallel.h"
#include "block/arc_weights.h"
#include "data/tree_columns.h"

struct chunk {
    md_chunk sentences;
    medley_status status;
    medley_error error;
};

struct parsing {
    const medley_model *model;
    const md_parser *parser; /* of the model */
    const medley_dataset *dataset;
    size_t tags; /* column */
    md_tree_answers answers;
    struct chunk *chunks;
    size_t chunk_count;
};

static medley_status make_chunks(struct parsing *parsing, md_pool *pool, medley_error *error)
{
    const md_shape *shape = &parsing->model->space.shape;
    const md_chunk all = {.dataset = parsing->dataset,
                          .count = parsing->dataset->sequence_count,
                          .tags = parsing->tags,
                          .many_roots = shape->many_roots,
                          .second = shape->order == 2};
    const size_t count = md_chunks_cut(&all, NULL);
    md_chunk *cut;
    MEDLEY_TRY(md_pool_new(pool, &cut, count, sizeof *cut, error));
    MEDLEY_TRY(md_pool_new(pool, &parsing->chunks, count, sizeof *parsing->chunks, error));
    md_chunks_cut(&all, cut);
    for (size_t c = 0; c < count; c++)
        parsing->chunks[c].sentences = cut[c];
    parsing->chunk_count = count;
    return MEDLEY_OK;
}

/* Scores of the parts of a chunk's sentences. */
struct parts {
    md_shape shape; /* its heads are those of the chunk */
    md_heads *heads;
    float *score;  /* one sentence after the other */
    size_t *start; /* [sentences + 1] of score */
};

static void clear_parts(struct parts *parts)
{
    md_heads_free(parts->heads);
    free(parts->score);
    free(parts->start);
}

static size_t row_of(const md_chunk *chunk, size_t sentence)
{
    const size_t *start = chunk->dataset->sequence_start + chunk->first;
    return start[sentence] - start[0];
}

static medley_status make_parts(struct parts *parts, const md_chunk *chunk,
                                const struct parsing *parsing, medley_error *error)
{
    const md_space *space = &parsing->model->space;
    MD_CLEARED(md_head_lists_clear) md_head_lists lists = {0};
    parts->shape = space->shape;
    if (parsing->parser->pruner != NULL) {
        MEDLEY_TRY(md_prune_chunk(&lists, chunk, parsing->parser->pruner, error));
        MEDLEY_TRY(md_heads_create(&parts->heads, chunk->dataset->sequence_start + chunk->first,
                                   chunk->count, lists.first, lists.head, chunk->second, error));
        parts->shape.heads = parts->heads;
    }
    MEDLEY_TRY(md_new(&parts->start, chunk->count + 1, sizeof *parts->start, error));
    for (size_t s = 0; s < chunk->count; s++)
        parts->start[s + 1] = parts->start[s] + space->structure->part_count(
                                                    md_shape_at(parts->shape, row_of(chunk, s)),
                                                    md_chunk_length(chunk, s));
    return md_new(&parts->score, parts->start[chunk->count], sizeof *parts->score, error);
}

/* Adds what one template says of a sentence. */
static void add_template(float *score, const md_arc_key *key, const md_heads *heads, size_t row,
                         md_arc_parts kind, const md_arc_table *table)
{
    if (heads == NULL) {
        md_arc_add_halves(score, key, table->half, table->bits);
        return;
    }
    const md_sentence sentence = md_heads_sentence(heads, row, key->length);
    float *second = score + key->length * (key->length + 1);
    if (kind == MD_ARC_ARCS)
        md_arc_add_heads(score, key, md_arc_all_words(key), &sentence, table);
    else if (kind == MD_ARC_SIBLINGS)
        md_arc_add_triples(second, key, sentence.sibling, sentence.siblings, kind, table);
    else
        md_arc_add_triples(second + sentence.siblings, key, sentence.grand, sentence.grands, kind,
                           table);
}

/* Some sentences at a time, template by template: the part of a table that they look up is then in
 * the cache for most of them. */
static medley_status score_parts(const struct parts *parts, const md_chunk *chunk,
                                 const md_parser *parser, medley_error *error)
{
    MD_OWNED(md_arcs_free) md_arcs *arcs = NULL;
    MEDLEY_TRY(md_chunk_features(&arcs, chunk, parser->templates, error));
    for (size_t t = 0; t < md_arc_templates_count(parser->templates); t++) {
        const md_arc_table table = {.half = parser->weights + (t << parser->bits),
                                    .bits = parser->bits};
        for (size_t s = 0; s < chunk->count; s++) {
            const md_arc_key key = md_arcs_key(arcs, s, t);
            add_template(parts->score + parts->start[s], &key, parts->heads, row_of(chunk, s),
                         md_arc_templates_parts(parser->templates, t), &table);
        }
    }
    return MEDLEY_OK;
}

static medley_status parse_sentences(const struct parsing *parsing, const md_chunk *chunk,
                                     medley_error *error)
{
    MD_CLEARED(clear_parts) struct parts parts = {0};
    MD_CLEARED(md_tree_scratch_clear) md_tree_scratch scratch = {0};
    size_t longest = 1;
    for (size_t s = 0; s < chunk->count; s++)
        longest = md_max(longest, md_chunk_length(chunk, s));
    MEDLEY_TRY(make_parts(&parts, chunk, parsing, error));
    MEDLEY_TRY(md_tree_scratch_make(&scratch, &parsing->answers,
                                    md_shape_at(parts.shape, MD_ANY_ROW), longest, error));
    MEDLEY_TRY(score_parts(&parts, chunk, parsing->parser, error));
    for (size_t s = 0; s < chunk->count; s++)
        md_tree_answer(&parsing->answers, md_shape_at(parts.shape, row_of(chunk, s)),
                       chunk->first + s, parts.score + parts.start[s], &scratch);
    return MEDLEY_OK;
}

static void parse_chunk(void *context, size_t item, size_t worker)
{
    (void)worker;
    const struct parsing *parsing = context;
    struct chunk *chunk = &parsing->chunks[item];
    chunk->status = parse_sentences(parsing, &chunk->sentences, &chunk->error);
}

static medley_status find_heads(struct parsing *parsing, md_pool *pool, size_t threads,
                                medley_error *error)
{
    MEDLEY_TRY(make_chunks(parsing, pool, error));
    md_parallel_for(threads, parsing->chunk_count, parse_chunk, parsing);
    for (size_t c = 0; c < parsing->chunk_count; c++) {
        const struct chunk *chunk = &parsing->chunks[c];
        if (chunk->status < 0)
            return md_fail_at(error, chunk->status, chunk->error.file, (size_t)chunk->error.line,
                              "%s", chunk->error.message);
    }
    return MEDLEY_OK;
}

static size_t length_of(const medley_dataset *dataset, size_t sentence)
{
    return dataset->sequence_start[sentence + 1] - dataset->sequence_start[sentence];
}

/* Scores take memory by the square of the words, and the chart of projective trees, marginals
 * (which prune, too) and the best trees take time by their cube: a file without blank lines is none
 * to parse. */
static medley_status check_lengths(const md_request *request, medley_error *error)
{
    const medley_dataset *dataset = request->dataset;
    const char *why = request->model->space.shape.projective ? " by a model of projective trees"
                      : request->model->space.shape.pruned   ? " by a model of `prune` or `order=2`"
                      : request->options.probabilities       ? " with `proba`"
                      : request->options.best > 0            ? " with `best`"
                                                             : "";
    const size_t longest = why[0] != '\0' ? MD_LONGEST_SUMMED : 10000;
    for (size_t s = 0; s < dataset->sequence_count; s++)
        if (length_of(dataset, s) > longest)
            return md_fail_at(error, MEDLEY_BAD_INPUT, dataset->source,
                              dataset->line ? dataset->line[dataset->sequence_start[s]] : 0,
                              "a sentence of %zu words, at most %zu can be parsed%s; end sentences "
                              "with blank lines",
                              length_of(dataset, s), longest, why);
    return MEDLEY_OK;
}

/* ---- relations ---- */

static medley_status label_arcs(medley_prediction **labels, const struct parsing *parsing,
                                const int32_t *head, const medley_predict_options *options,
                                medley_error *error)
{
    MD_OWNED(medley_dataset_free) medley_dataset *derived = NULL;
    medley_predict_options own = MEDLEY_PREDICT_OPTIONS_INIT;
    own.threads = options->threads;
    own.device = "cpu"; /* features, no kernels */
    own.probabilities = options->probabilities;
    MEDLEY_TRY(md_tree_columns(&derived, parsing->dataset, head, parsing->tags, error));
    return medley_predict_with(labels, parsing->model->companion, derived, &own, error);
}

static medley_status label_tree(medley_prediction *prediction, const struct parsing *parsing,
                                const medley_predict_options *options, medley_error *error)
{
    MD_OWNED(medley_prediction_free) medley_prediction *labels = NULL;
    MEDLEY_TRY(label_arcs(&labels, parsing, prediction->head, options, error));
    memcpy(prediction->label, labels->label, prediction->rows * sizeof *prediction->label);
    if (options->probabilities)
        prediction->score = md_take(&labels->score);
    return MEDLEY_OK;
}

/* The trees of rank k; sentences that have none keep their best one, whose labels are dropped. */
static medley_status label_best(medley_prediction *p, const struct parsing *parsing, size_t k,
                                const medley_predict_options *options, medley_error *error)
{
    MD_OWNED(medley_prediction_free) medley_prediction *labels = NULL;
    MD_OWNED(free) int32_t *head = NULL;
    const int32_t *ranked = p->best_head + k * p->rows;
    int32_t *to = p->best_label + k * p->rows;
    MEDLEY_TRY(md_new(&head, p->rows, sizeof *head, error));
    for (size_t r = 0; r < p->rows; r++)
        head[r] = ranked[r] >= 0 ? ranked[r] : p->head[r];
    MEDLEY_TRY(label_arcs(&labels, parsing, head, options, error));
    for (size_t r = 0; r < p->rows; r++)
        to[r] = ranked[r] >= 0 ? labels->label[r] : -1;
    for (size_t r = 0; options->probabilities && r < p->rows; r++)
        p->best_label_probability[k * p->rows + r] =
            to[r] >= 0 ? labels->score[r * p->labels + (size_t)to[r]] : NAN;
    return MEDLEY_OK;
}

/* ---- the request ---- */

medley_status md_tree_check_request(const medley_predict_options *options, medley_error *error)
{
    if (!options->keep_labels)
        return MEDLEY_OK;
    return md_fail(error, MEDLEY_NOT_SUPPORTED,
                   "the model parses: heads and relations cannot be given; leave out `constrain`");
}

static void clear_parsing(struct parsing *parsing)
{
    md_tree_answers_clear(&parsing->answers);
}

medley_status md_tree_predict(medley_prediction *prediction, const md_request *request,
                              medley_error *error)
{
    const double start = md_clock_seconds();
    const medley_dataset *dataset = request->dataset;
    const medley_predict_options *options = &request->options;
    const md_parser *parser = request->model->own;
    MD_CLEARED(md_pool_clear) md_pool pool = {0};
    MD_CLEARED(clear_parsing)
    struct parsing parsing = {
        .model = request->model, .parser = parser, .dataset = dataset, .tags = parser->tags};
    if (dataset->token_columns != MD_ARC_COLUMNS ||
        (dataset->sequence_count == 0 && dataset->rows > 0))
        return md_fail_at(error, MEDLEY_BAD_INPUT, dataset->source, 0,
                          "the model parses sentences of CoNLL-U, and these data are none; check "
                          "`format`");
    MEDLEY_TRY(check_lengths(request, error));
    if (options->tags != NULL)
        MEDLEY_TRY(md_arc_column(&parsing.tags, options->tags, error));
    MEDLEY_TRY(md_tree_answers_make(&parsing.answers, prediction, request, error));
    MEDLEY_TRY(find_heads(&parsing, &pool, options->threads, error));
    prediction->seconds_score = md_clock_seconds() - start;
    if (prediction->label != NULL)
        MEDLEY_TRY(label_tree(prediction, &parsing, options, error));
    for (size_t k = 0; prediction->best_label != NULL && k < prediction->best; k++)
        MEDLEY_TRY(label_best(prediction, &parsing, k, options, error));
    return MEDLEY_OK;
}
