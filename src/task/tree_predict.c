/* SPDX-License-Identifier: BSD-3-Clause */
/* Parsing: the arcs of a sentence are scored by all templates, the best tree is found, and its arcs
 * are labelled.
 *
 * Sentences are scored some at a time, template by template: the part of a table that they look up
 * is then in the cache for most of them. */
#include "task/parser.h"
#include "task/predicting.h"
#include "task/tree_answers.h"

#include "base/parallel.h"
#include "block/arc_weights.h"
#include "data/tree_columns.h"

enum { CHUNK_ARCS = 60000 }; /* scored at a time: some hundred sentences */

struct chunk {
    size_t first, count; /* sentences */
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

static size_t length_of(const medley_dataset *dataset, size_t sentence)
{
    return dataset->sequence_start[sentence + 1] - dataset->sequence_start[sentence];
}

static size_t arcs_of(const medley_dataset *dataset, size_t sentence)
{
    const size_t n = length_of(dataset, sentence);
    return n * (n + 1);
}

static medley_status make_chunks(struct parsing *parsing, md_pool *pool, medley_error *error)
{
    const medley_dataset *dataset = parsing->dataset;
    size_t all = 0;
    for (size_t s = 0; s < dataset->sequence_count; s++)
        all += arcs_of(dataset, s);
    const size_t most = all / CHUNK_ARCS + 1; /* each but the last has so many */
    MEDLEY_TRY(md_pool_new(pool, &parsing->chunks, most, sizeof *parsing->chunks, error));
    size_t arcs = CHUNK_ARCS;
    for (size_t s = 0; s < dataset->sequence_count; s++) {
        if (arcs >= CHUNK_ARCS) {
            parsing->chunks[parsing->chunk_count++].first = s;
            arcs = 0;
        }
        parsing->chunks[parsing->chunk_count - 1].count++;
        arcs += arcs_of(dataset, s);
    }
    return MEDLEY_OK;
}

/* Scores of all arcs of the chunk's sentences, one sentence behind the other. */
static void score_arcs(float *score, const md_parser *parser, const md_arcs *arcs, size_t sentences)
{
    for (size_t t = 0; t < md_arc_templates_count(parser->templates); t++) {
        float *of_sentence = score;
        for (size_t s = 0; s < sentences; s++) {
            const md_arc_key key = md_arcs_key(arcs, s, t);
            md_arc_add_halves(of_sentence, &key, parser->weights + (t << parser->bits),
                              parser->bits);
            of_sentence += key.length * (key.length + 1);
        }
    }
}

static medley_status parse_sentences(const struct parsing *parsing, const struct chunk *chunk,
                                     medley_error *error)
{
    const medley_dataset *dataset = parsing->dataset;
    const md_parser *parser = parsing->parser;
    const md_arc_source source = {
        .dataset = dataset, .first = chunk->first, .count = chunk->count, .tags = parsing->tags};
    MD_OWNED(md_arcs_free) md_arcs *arcs = NULL;
    MD_CLEARED(md_tree_scratch_clear) md_tree_scratch scratch = {0};
    MD_OWNED(free) float *score = NULL;
    size_t parts = 0;
    size_t longest = 1;
    for (size_t s = chunk->first; s < chunk->first + chunk->count; s++) {
        parts += arcs_of(dataset, s);
        longest = length_of(dataset, s) > longest ? length_of(dataset, s) : longest;
    }
    MEDLEY_TRY(md_new(&score, parts, sizeof *score, error));
    MEDLEY_TRY(md_tree_scratch_make(&scratch, &parsing->answers, longest, error));
    MEDLEY_TRY(md_arcs_create(&arcs, parser->templates, &source, 1, error));
    score_arcs(score, parser, arcs, chunk->count);
    const float *of_sentence = score;
    for (size_t s = chunk->first; s < chunk->first + chunk->count; s++) {
        md_tree_answer(&parsing->answers, s, of_sentence, &scratch);
        of_sentence += arcs_of(dataset, s);
    }
    return MEDLEY_OK;
}

static void parse_chunk(void *context, size_t item, size_t worker)
{
    (void)worker;
    const struct parsing *parsing = context;
    struct chunk *chunk = &parsing->chunks[item];
    chunk->status = parse_sentences(parsing, chunk, &chunk->error);
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

/* Scores take memory by the square of the words, and the chart of projective trees, marginals and
 * the best trees take time by their cube: a file without blank lines is none to parse. */
static medley_status check_lengths(const md_request *request, medley_error *error)
{
    const medley_dataset *dataset = request->dataset;
    const char *why = request->model->space.shape.projective ? " by a model of projective trees"
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
