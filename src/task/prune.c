/* SPDX-License-Identifier: BSD-3-Clause */
/* Pruning: a small parser of arcs alone tells how likely each head of a word is, and the others
 * look at those that are not hopeless. The heads of its best tree stay in any case, so that there
 * is a tree of what is left, and in training the right ones do.
 *
 * Sentences are scored some at a time, template by template: the part of a table that they look up
 * is then in the cache for most of them. */
#include "task/parser.h"

#include "base/parallel.h"
#include "block/arc_weights.h"

static const float LEAST = 1e-4F; /* of the likeliest head's probability */
enum { MOST_HEADS = 10 };         /* of a word */
enum { MOST_PARTS = 1 << 18 };    /* of second order, of a sentence: long ones get fewer heads */

/* ---- scores of arcs ---- */

size_t md_chunk_length(const md_chunk *chunk, size_t sentence)
{
    const size_t *start = chunk->dataset->sequence_start + chunk->first + sentence;
    return start[1] - start[0];
}

size_t md_chunk_arcs(const md_chunk *chunk)
{
    size_t arcs = 0;
    for (size_t s = 0; s < chunk->count; s++)
        arcs += md_chunk_length(chunk, s) * (md_chunk_length(chunk, s) + 1);
    return arcs;
}

static md_arc_source source_of(const md_chunk *chunk)
{
    return (md_arc_source){.dataset = chunk->dataset,
                           .first = chunk->first,
                           .count = chunk->count,
                           .tags = chunk->tags};
}

medley_status md_chunk_features(md_arcs **arcs, const md_chunk *chunk,
                                const md_arc_templates *templates, medley_error *error)
{
    const md_arc_source source = source_of(chunk);
    return md_arcs_create(arcs, templates, &source, 1, error);
}

static medley_status score_arcs(float *score, const md_chunk *chunk, const md_parser *parser,
                                medley_error *error)
{
    MD_OWNED(md_arcs_free) md_arcs *arcs = NULL;
    MEDLEY_TRY(md_chunk_features(&arcs, chunk, parser->templates, error));
    for (size_t t = 0; t < md_arc_templates_count(parser->templates); t++) {
        float *of_sentence = score;
        for (size_t s = 0; s < chunk->count; s++) {
            const md_arc_key key = md_arcs_key(arcs, s, t);
            md_arc_add_halves(of_sentence, &key, parser->weights + (t << parser->bits),
                              parser->bits);
            of_sentence += key.length * (key.length + 1);
        }
    }
    return MEDLEY_OK;
}

/* ---- which heads stay ---- */

struct choice {
    size_t words;
    const float *marginal; /* [words][words + 1] */
    const int32_t *best;   /* [words] */
    const int32_t *gold;   /* [words] or NULL */
    bool second;
    uint32_t *count; /* [2 * (words + 1)] */
};

static bool is_needed(const struct choice *choice, size_t m, size_t h)
{
    return (size_t)choice->best[m - 1] == h ||
           (choice->gold != NULL && (size_t)choice->gold[m - 1] == h);
}

/* The likeliest heads of word m, at most `most` and in the order of the sentence, into head;
 * returns how many. */
static size_t choose_heads(const struct choice *choice, size_t m, size_t most, uint16_t *head)
{
    const size_t width = choice->words + 1;
    const float *p = choice->marginal + (m - 1) * width;
    float top[MOST_HEADS] = {0};
    size_t count = 0;
    for (size_t h = 0; h < width; h++) {
        if (h == m)
            continue;
        size_t place = most;
        for (; place > 0 && p[h] > top[place - 1]; place--)
            if (place < most)
                top[place] = top[place - 1];
        if (place < most)
            top[place] = p[h];
    }
    const float least = fmaxf(top[most - 1], LEAST * top[0]);
    size_t likely = 0;
    for (size_t h = 0; h < width; h++) {
        const bool likely_one = h != m && p[h] > 0 && p[h] >= least && likely < most;
        likely += likely_one;
        if (likely_one || (h != m && is_needed(choice, m, h)))
            head[count++] = (uint16_t)h;
    }
    return count;
}

/* Heads of one sentence, after those that are there. */
static medley_status choose(md_head_lists *lists, const struct choice *choice, medley_error *error)
{
    const size_t row = lists->rows;
    MEDLEY_TRY(md_grow(&lists->first, &lists->row_capacity, row + choice->words + 1,
                       sizeof *lists->first, error));
    lists->first[0] = 0;
    for (size_t most = MOST_HEADS; most > 0; most /= 2) {
        for (size_t m = 1; m <= choice->words; m++) {
            const size_t used = lists->first[row + m - 1];
            MEDLEY_TRY(md_grow(&lists->head, &lists->head_capacity, used + MOST_HEADS + 2,
                               sizeof *lists->head, error));
            lists->first[row + m] = used + choose_heads(choice, m, most, lists->head + used);
        }
        if (!choice->second || most == 1 ||
            md_heads_count_parts(choice->words, lists->first + row, lists->head, choice->count) <=
                MOST_PARTS)
            break;
    }
    lists->rows += choice->words;
    return MEDLEY_OK;
}

void md_head_lists_clear(md_head_lists *lists)
{
    free(lists->first);
    free(lists->head);
    *lists = (md_head_lists){0};
}

static medley_status prune(md_head_lists *lists, const md_chunk *chunk, const float *score,
                           medley_error *error)
{
    size_t longest = 1;
    for (size_t s = 0; s < chunk->count; s++)
        longest = md_max(longest, md_chunk_length(chunk, s));
    const md_space space = {.structure = &md_structure_tree,
                            .shape = {.labels = 1, .many_roots = chunk->many_roots}};
    MD_CLEARED(md_workspace_clear) md_workspace workspace = {0};
    MD_CLEARED(md_pool_clear) md_pool pool = {0};
    float *marginal;
    int32_t *best;
    uint32_t *count;
    MEDLEY_TRY(md_pool_new(&pool, &marginal, longest * (longest + 1), sizeof *marginal, error));
    MEDLEY_TRY(md_pool_new(&pool, &best, longest, sizeof *best, error));
    MEDLEY_TRY(md_pool_new(&pool, &count, 2 * (longest + 1), sizeof *count, error));
    const size_t floats = space.structure->workspace_size(space.shape, longest);
    if (md_workspace_reserve(&workspace, floats) != 0)
        return md_fail_memory(error, floats * sizeof(float));
    for (size_t s = 0; s < chunk->count; s++) {
        const size_t words = md_chunk_length(chunk, s);
        const size_t row = chunk->dataset->sequence_start[chunk->first + s];
        space.structure->log_partition(space.shape, words, score, marginal, &workspace);
        space.structure->decode(space.shape, words, score, NULL, best, &workspace);
        const struct choice choice = {.words = words,
                                      .marginal = marginal,
                                      .best = best,
                                      .gold = chunk->gold != NULL ? chunk->gold + row : NULL,
                                      .second = chunk->second,
                                      .count = count};
        MEDLEY_TRY(choose(lists, &choice, error));
        score += words * (words + 1);
    }
    return MEDLEY_OK;
}

medley_status md_prune_chunk(md_head_lists *lists, const md_chunk *chunk, const md_parser *pruner,
                             medley_error *error)
{
    MD_OWNED(free) float *score = NULL;
    MEDLEY_TRY(md_new(&score, md_chunk_arcs(chunk), sizeof *score, error));
    MEDLEY_TRY(score_arcs(score, chunk, pruner, error));
    return prune(lists, chunk, score, error);
}

/* ---- all sentences of a data set ---- */

typedef struct pruned_chunk {
    md_chunk chunk;
    md_head_lists lists;
    medley_status status;
    medley_error error;
} pruned_chunk;

typedef struct pruning {
    const md_parser *pruner;
    pruned_chunk *chunks;
    size_t count;
} pruning;

static void clear_pruning(pruning *work)
{
    for (size_t c = 0; work->chunks != NULL && c < work->count; c++)
        md_head_lists_clear(&work->chunks[c].lists);
    free(work->chunks);
}

static void prune_one(void *context, size_t item, size_t worker)
{
    (void)worker;
    const pruning *work = context;
    pruned_chunk *chunk = &work->chunks[item];
    chunk->status = md_prune_chunk(&chunk->lists, &chunk->chunk, work->pruner, &chunk->error);
}

size_t md_chunks_cut(const md_chunk *all, md_chunk *chunks)
{
    size_t count = 0;
    size_t arcs = MD_CHUNK_ARCS;
    for (size_t s = 0; s < all->count; s++) {
        const size_t words = md_chunk_length(all, s);
        if (arcs >= MD_CHUNK_ARCS) {
            if (chunks != NULL) {
                chunks[count] = *all;
                chunks[count].first = all->first + s;
                chunks[count].count = 0;
            }
            count++;
            arcs = 0;
        }
        if (chunks != NULL)
            chunks[count - 1].count++;
        arcs += words * (words + 1);
    }
    return count;
}

static medley_status join_lists(md_head_lists *all, const pruning *work, medley_error *error)
{
    size_t arcs = 0;
    size_t rows = 0;
    for (size_t c = 0; c < work->count; c++) {
        const md_head_lists *lists = &work->chunks[c].lists;
        arcs += lists->first[lists->rows];
        rows += lists->rows;
    }
    MEDLEY_TRY(md_new(&all->first, rows + 1, sizeof *all->first, error));
    MEDLEY_TRY(md_new(&all->head, arcs, sizeof *all->head, error));
    for (size_t c = 0; c < work->count; c++) {
        const md_head_lists *lists = &work->chunks[c].lists;
        const size_t before = all->first[all->rows];
        for (size_t r = 1; r <= lists->rows; r++)
            all->first[all->rows + r] = before + lists->first[r];
        memcpy(all->head + before, lists->head, lists->first[lists->rows] * sizeof *all->head);
        all->rows += lists->rows;
    }
    return MEDLEY_OK;
}

medley_status md_prune(md_heads **heads, const md_chunk *all, const md_parser *pruner,
                       size_t threads, medley_error *error)
{
    MD_CLEARED(clear_pruning) pruning work = {.pruner = pruner};
    MD_CLEARED(md_head_lists_clear) md_head_lists lists = {0};
    MD_OWNED(free) md_chunk *chunks = NULL;
    const size_t count = md_chunks_cut(all, NULL);
    MEDLEY_TRY(md_new(&chunks, count, sizeof *chunks, error));
    MEDLEY_TRY(md_new(&work.chunks, count, sizeof *work.chunks, error));
    md_chunks_cut(all, chunks);
    work.count = count;
    for (size_t c = 0; c < count; c++)
        work.chunks[c].chunk = chunks[c];
    md_parallel_for(threads, count, prune_one, &work);
    for (size_t c = 0; c < count; c++)
        if (work.chunks[c].status < 0)
            return md_fail(error, work.chunks[c].status, "%s", work.chunks[c].error.message);
    MEDLEY_TRY(join_lists(&lists, &work, error));
    return md_heads_create(heads, all->dataset->sequence_start + all->first, all->count,
                           lists.first, lists.head, all->second, error);
}
