/* SPDX-License-Identifier: BSD-3-Clause */
/* The numbers that features of arcs are sums of, for all sentences at once. All of a sentence lies
 * together, for scoring goes sentence by sentence over all templates:
 *
 *     sides   [side_count][n + 2]       the root, the words, and what comes after them
 *     pairs   [pair_count][n][n + 1]    those of the three below and of tags that templates need
 *     feats   [n + 2][MD_ARC_FEATS]     if a template needs them
 */
#include "feature/arc_values.h"

#include "base/parallel.h"
#include "base/vector.h"

enum { NO_DISTANCE, DIRECTION, BINNED, DISTANCES };

/* Numbers that belong to a pair of words. */
enum { SET, CROSSED, SET_AND_CROSSED, TAGS, PAIRS };

enum { PIECE = 16 /* sentences at a time */ };

/* Which of the numbers a template is made of. */
typedef struct route {
    size_t head, modifier, third, distance, far;
    size_t pair; /* PAIRS: none */
    md_arc_bag bag;
} route;

/* Where the numbers of pairs lie. */
typedef struct pair_layout {
    bool is_used[PAIRS];
    size_t place[PAIRS]; /* among those used */
    size_t count;
    bool has_feats; /* after all pairs */
} pair_layout;

struct md_arcs {
    route *routes;  /* [templates] */
    size_t *start;  /* [sentences + 1] first number of each */
    size_t *length; /* [sentences] words */
    size_t sentences, longest;
    size_t side_count;
    pair_layout pairs;
    uint32_t *numbers;
    uint32_t *distances; /* [DISTANCES][distances_width] */
    uint32_t tag_hash[MD_ARC_TAG_BITS];
};

typedef struct arc_job {
    md_arcs *arcs;
    const md_arc_templates *templates;
    const md_arc_source *source;
    md_arc_values values;
    uint32_t *scratch; /* [workers][MD_ARC_VALUES][stride] */
    size_t stride;
} arc_job;

/* ---- sizes and places ---- */

static size_t number_of(const md_arc_source *source, size_t sentence)
{
    return source->which != NULL ? source->which[sentence] : source->first + sentence;
}

static size_t words_of(const md_arc_source *source, size_t sentence)
{
    const size_t number = number_of(source, sentence);
    return md_dataset_unit_start(source->dataset, number + 1) -
           md_dataset_unit_start(source->dataset, number);
}

static size_t pair_of(const md_arc_template *item)
{
    if (item->has[MD_ARC_SET])
        return item->has[MD_ARC_CROSSED] ? SET_AND_CROSSED : SET;
    return item->has[MD_ARC_CROSSED] ? CROSSED : PAIRS;
}

static pair_layout lay_out_pairs(const md_arc_templates *templates)
{
    pair_layout pairs = {0};
    for (size_t t = 0; t < templates->count; t++) {
        const md_arc_template *item = &templates->items[t];
        const size_t pair = pair_of(item);
        if (pair != PAIRS)
            pairs.is_used[pair] = true;
        if (item->bag == MD_ARC_TAG_BAG)
            pairs.is_used[TAGS] = true;
        else if (item->bag != MD_ARC_NO_BAG)
            pairs.has_feats = true;
    }
    for (size_t p = 0; p < PAIRS; p++)
        if (pairs.is_used[p])
            pairs.place[p] = pairs.count++;
    return pairs;
}

static size_t numbers_of(size_t side_count, const pair_layout *pairs, size_t words)
{
    return side_count * (words + 2) + pairs->count * words * (words + 1) +
           (pairs->has_feats ? (words + 2) * MD_ARC_FEATS : 0);
}

static route make_route(const md_arc_template *item)
{
    return (route){.head = item->head,
                   .modifier = item->modifier,
                   .third = item->third,
                   .far = item->has[MD_ARC_SIBLING_DIST] || item->has[MD_ARC_GRAND_DIST]
                              ? BINNED
                              : NO_DISTANCE,
                   .distance = item->has[MD_ARC_DIST]  ? BINNED
                               : item->has[MD_ARC_DIR] ? DIRECTION
                                                       : NO_DISTANCE,
                   .pair = pair_of(item),
                   .bag = item->bag};
}

/* Places of two words differ by so much at most, the one after all words included. */
static size_t distances_width(size_t longest)
{
    return 2 * (longest + 1) + 1;
}

size_t md_arcs_bytes(const md_arc_templates *templates, const md_arc_source *source)
{
    const pair_layout pairs = lay_out_pairs(templates);
    size_t numbers = 0, longest = 0;
    for (size_t s = 0; s < source->count; s++) {
        const size_t words = words_of(source, s);
        numbers += numbers_of(templates->side_count, &pairs, words);
        longest = words > longest ? words : longest;
    }
    numbers += DISTANCES * distances_width(longest);
    return sizeof(md_arcs) + templates->count * sizeof(route) +
           (2 * source->count + 1) * sizeof(size_t) + numbers * sizeof(uint32_t);
}

/* ---- sides ---- */

/* Heads, modifiers and others with the same strings must differ, so their seeds do. */
static uint32_t seed_of(const md_arc_side *side)
{
    if (side->count == 0)
        return 0;
    static const uint32_t seeds[] = {[MD_ARC_HEAD] = 0x6a09e667u,
                                     [MD_ARC_MODIFIER] = 0xbb67ae85u,
                                     [MD_ARC_SIBLING] = 0x510e527fu,
                                     [MD_ARC_GRAND] = 0x9b05688cu};
    return seeds[side->field[0].kind];
}

MD_VECTOR_VOID(fold_arc_values,
               (uint32_t *restrict sums, const uint32_t *restrict values, size_t count),
               (sums, values, count))
{
#pragma omp simd
    for (size_t i = 0; i < count; i++) {
        uint32_t x = (sums[i] ^ values[i]) * 0x9e3779b1u;
        x = (x ^ x >> 15) * 0x85ebca6bu;
        sums[i] = x ^ x >> 13;
    }
}

static void fill_side(const md_arc_side *side, const uint32_t *const values[MD_ARC_VALUES],
                      size_t positions, uint32_t *out)
{
    const uint32_t seed = seed_of(side);
    for (size_t i = 0; i < positions; i++)
        out[i] = seed;
    for (size_t f = 0; f < side->count; f++)
        fold_arc_values(out, values[side->field[f].word] + side->field[f].offset, positions);
}

/* ---- pairs ---- */

/* What stands between two words, while one of them moves away from the other. */
typedef struct passed {
    uint32_t tags; /* a set of bits */
    uint32_t verbs, marks, conjunctions;
} passed;

static void pass(passed *between, uint32_t bit)
{
    between->tags |= UINT32_C(1) << bit;
    between->verbs += bit == MD_ARC_TAG_VERB && between->verbs < 2;
    between->marks += bit == MD_ARC_TAG_PUNCT && between->marks < 2;
    between->conjunctions |= bit == MD_ARC_TAG_CCONJ || bit == MD_ARC_TAG_SCONJ;
}

/* Apart from each other and from 0, the value where there is no such field. */
static uint32_t set_hash(const passed *between)
{
    return md_arc_spread(between->tags ^ 0x71374491u);
}

static uint32_t crossed_hash(const passed *between)
{
    return md_arc_spread(0xe9b5dba5u + between->verbs * 6 + between->marks * 2 +
                         between->conjunctions);
}

static uint32_t pair_number(size_t pair, const passed *between)
{
    switch (pair) {
    case SET:
        return set_hash(between);
    case CROSSED:
        return crossed_hash(between);
    case SET_AND_CROSSED:
        return md_arc_spread(set_hash(between) + crossed_hash(between) * 0x2545f491u);
    default:
        return between->tags;
    }
}

/* out[n][n + 1]; the same for both directions. */
static void fill_pair(size_t pair, const uint32_t *bits, size_t words, uint32_t *out)
{
    const size_t width = words + 1;
    for (size_t left = 0; left <= words; left++) {
        passed between = {0};
        if (left > 0)
            out[(left - 1) * width + left] = 0; /* no arc */
        for (size_t right = left + 1; right <= words; right++) {
            const uint32_t number = pair_number(pair, &between);
            out[(right - 1) * width + left] = number;
            if (left > 0)
                out[(left - 1) * width + right] = number;
            pass(&between, bits[right]);
        }
    }
}

/* ---- sentences ---- */

static void fill_sentence(const arc_job *job, size_t sentence, size_t worker)
{
    const md_arcs *arcs = job->arcs;
    const size_t words = arcs->length[sentence];
    const size_t first =
        md_dataset_unit_start(job->source->dataset, number_of(job->source, sentence));
    const uint32_t *values[MD_ARC_VALUES] = {0};
    for (size_t v = 0; v < MD_ARC_VALUES; v++) {
        uint32_t *out =
            job->scratch + (worker * MD_ARC_VALUES + v) * job->stride + MD_ARC_OFFSET_MOST;
        if (job->values.is_used[v])
            md_arc_values_fill(&job->values, v, first, words, out);
        values[v] = out;
    }
    uint32_t *out = arcs->numbers + arcs->start[sentence];
    for (size_t i = 0; i < arcs->side_count; i++, out += words + 2)
        fill_side(&job->templates->sides[i], values, words + 2, out);
    for (size_t p = 0; p < PAIRS; p++)
        if (arcs->pairs.is_used[p])
            fill_pair(p, values[MD_ARC_TAG_BIT], words,
                      out + arcs->pairs.place[p] * words * (words + 1));
    if (arcs->pairs.has_feats)
        md_arc_values_fill_feats(&job->values, first, words,
                                 out + arcs->pairs.count * words * (words + 1));
}

static void fill_piece(void *context, size_t piece, size_t worker)
{
    const arc_job *job = context;
    for (size_t s = piece * PIECE; s < job->arcs->sentences && s < (piece + 1) * PIECE; s++)
        fill_sentence(job, s, worker);
}

/* 1, 2, 3, 4, 5-6, 7-10, 11-20 and more words away. */
static uint32_t bin_of(size_t distance)
{
    static const size_t last[] = {1, 2, 3, 4, 6, 10, 20};
    uint32_t bin = 0;
    while (bin < sizeof last / sizeof *last && distance > last[bin])
        bin++;
    return bin;
}

static void fill_distances(md_arcs *arcs)
{
    const size_t most = arcs->longest + 1, width = distances_width(arcs->longest);
    for (size_t i = 0; i < width; i++) {
        const bool is_before = i < most; /* the head stands before the modifier */
        const size_t distance = is_before ? most - i : i - most;
        arcs->distances[NO_DISTANCE * width + i] = 0;
        arcs->distances[DIRECTION * width + i] = md_arc_spread(is_before ? 7 : 9);
        arcs->distances[BINNED * width + i] =
            md_arc_spread((is_before ? 100 : 200) + bin_of(distance));
    }
}

/* ---- making them ---- */

static medley_status check_source(const md_arc_source *source, medley_error *error)
{
    const medley_dataset *dataset = source->dataset;
    const char *name = dataset->source != NULL ? dataset->source : "the data";
    if (dataset->token_columns != MD_ARC_COLUMNS)
        return md_fail_at(error, MEDLEY_BAD_INPUT, name, 0,
                          "arc templates need the ten columns of CoNLL-U, but here are %zu columns "
                          "of text; give a file of that format (`format=conllu`)",
                          dataset->token_columns);
    if (source->tags >= MD_ARC_COLUMNS)
        return md_fail(error, MEDLEY_USAGE,
                       "there is no column %zu to take tags from; CoNLL-U has columns 0 to %d",
                       source->tags, MD_ARC_COLUMNS - 1);
    const size_t count = md_dataset_units(dataset);
    for (size_t s = 0; source->which != NULL && s < source->count; s++)
        if (source->which[s] >= count)
            return md_fail_at(error, MEDLEY_USAGE, name, 0,
                              "sentence %zu is asked for, but there are %zu", source->which[s],
                              count);
    if (source->which == NULL && (source->first > count || source->count > count - source->first))
        return md_fail_at(error, MEDLEY_USAGE, name, 0,
                          "sentences %zu to %zu are asked for, but there are %zu", source->first,
                          source->first + source->count, count);
    return MEDLEY_OK;
}

static medley_status lay_out(md_arcs *arcs, const md_arc_templates *templates,
                             const md_arc_source *source, medley_error *error)
{
    arcs->sentences = source->count;
    arcs->side_count = templates->side_count;
    arcs->pairs = lay_out_pairs(templates);
    MEDLEY_TRY(md_new(&arcs->routes, templates->count, sizeof *arcs->routes, error));
    MEDLEY_TRY(md_new(&arcs->start, source->count + 1, sizeof *arcs->start, error));
    MEDLEY_TRY(md_new(&arcs->length, source->count, sizeof *arcs->length, error));
    for (size_t t = 0; t < templates->count; t++)
        arcs->routes[t] = make_route(&templates->items[t]);
    for (size_t s = 0; s < source->count; s++) {
        const size_t words = words_of(source, s);
        arcs->length[s] = words;
        arcs->start[s + 1] = arcs->start[s] + numbers_of(arcs->side_count, &arcs->pairs, words);
        arcs->longest = words > arcs->longest ? words : arcs->longest;
    }
    for (uint32_t b = 0; b < MD_ARC_TAG_BITS; b++)
        arcs->tag_hash[b] = md_arc_spread(0x1f83d9abu + b);
    MEDLEY_TRY(
        md_new_aligned(&arcs->numbers, arcs->start[source->count], sizeof *arcs->numbers, error));
    MEDLEY_TRY(md_new_aligned(&arcs->distances, DISTANCES * distances_width(arcs->longest),
                              sizeof *arcs->distances, error));
    fill_distances(arcs);
    return MEDLEY_OK;
}

static void note_used(arc_job *job)
{
    for (size_t i = 0; i < job->templates->side_count; i++)
        for (size_t f = 0; f < job->templates->sides[i].count; f++)
            job->values.is_used[job->templates->sides[i].field[f].word] = true;
    job->values.is_used[MD_ARC_TAG_BIT] = job->arcs->pairs.count > 0;
    job->values.lists_feats = job->arcs->pairs.has_feats;
}

static void clear_job(arc_job *job)
{
    md_arc_values_clear(&job->values);
    free(job->scratch);
    md_arcs_free(job->arcs);
}

medley_status md_arcs_create(md_arcs **arcs, const md_arc_templates *templates,
                             const md_arc_source *source, size_t threads, medley_error *error)
{
    MD_CLEARED(clear_job)
    arc_job job = {.templates = templates, .source = source, .values.dataset = source->dataset};
    threads = threads > 0 ? threads : 1;
    MEDLEY_TRY(check_source(source, error));
    MEDLEY_TRY(md_new(&job.arcs, 1, sizeof *job.arcs, error));
    MEDLEY_TRY(lay_out(job.arcs, templates, source, error));
    note_used(&job);
    job.stride = job.arcs->longest + 1 + MD_ARC_OUTSIDE;
    MEDLEY_TRY(md_new_aligned(&job.scratch, threads * MD_ARC_VALUES * job.stride,
                              sizeof *job.scratch, error));
    size_t words = 0;
    for (size_t s = 0; s < source->count; s++)
        words += words_of(source, s);
    MEDLEY_TRY(md_arc_values_make(&job.values, source->tags, words, threads, error));
    md_parallel_for(threads, (source->count + PIECE - 1) / PIECE, fill_piece, &job);
    *arcs = md_take(&job.arcs);
    return MEDLEY_OK;
}

void md_arcs_free(md_arcs *arcs)
{
    if (arcs == NULL)
        return;
    free(arcs->routes);
    free(arcs->start);
    free(arcs->length);
    free(arcs->numbers);
    free(arcs->distances);
    free(arcs);
}

md_arc_key md_arcs_key(const md_arcs *arcs, size_t sentence, size_t t)
{
    const route *item = &arcs->routes[t];
    const size_t words = arcs->length[sentence], side = words + 2, width = words + 1;
    const uint32_t *sides = arcs->numbers + arcs->start[sentence];
    const uint32_t *pairs = sides + arcs->side_count * side;
    const uint32_t *distances = arcs->distances + arcs->longest + 1;
    const size_t row = distances_width(arcs->longest);
    const pair_layout *layout = &arcs->pairs;
    return (md_arc_key){
        .length = words,
        .head = sides + item->head * side,
        .modifier = sides + item->modifier * side,
        .third = sides + item->third * side,
        .distance = distances + item->distance * row,
        .far = distances + item->far * row,
        .arc = item->pair != PAIRS ? pairs + layout->place[item->pair] * words * width : NULL,
        .bag = item->bag,
        .tags = item->bag == MD_ARC_TAG_BAG ? pairs + layout->place[TAGS] * words * width : NULL,
        .tag_hash = arcs->tag_hash,
        .feats = pairs + layout->count * words * width};
}
