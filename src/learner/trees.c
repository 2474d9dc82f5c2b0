/* SPDX-License-Identifier: BSD-3-Clause */
/* What is particular to trees in a training run: which data they can be learnt from, and the
 * features of their arcs. */
#include "learner/problem.h"

#include "base/memory.h"
#include "data/trees.h"
#include <string.h>

/* Scores and marginals of a sentence take memory and time by the square and the cube of its words.
 */
enum { LONGEST_SENTENCE = 1000 };
enum { DEFAULT_BITS = 18 }; /* as good as 20 on treebanks of 200,000 words, and a quarter of it */

/* ---- data ---- */

static medley_status find_tags(md_problem *problem, medley_error *error)
{
    problem->tags = MD_ARC_UPOS;
    if (problem->options->tags == NULL)
        return MEDLEY_OK;
    return md_arc_column(&problem->tags, problem->options->tags, error);
}

static medley_status check_lengths(const medley_dataset *train, medley_error *error)
{
    for (size_t s = 0; s < train->sequence_count; s++) {
        const size_t first = train->sequence_start[s];
        const size_t length = train->sequence_start[s + 1] - first;
        if (length > LONGEST_SENTENCE)
            return md_fail_at(error, MEDLEY_BAD_INPUT, train->source,
                              train->line ? train->line[first] : 0,
                              "a sentence of %zu words; trees are learnt from sentences of at most "
                              "%d; cut it with a blank line, or leave it out",
                              length, LONGEST_SENTENCE);
    }
    return MEDLEY_OK;
}

medley_status md_trees_check(md_problem *problem, medley_error *error)
{
    const medley_dataset *train = problem->train;
    if (train->rows == 0)
        return md_fail_at(error, MEDLEY_BAD_INPUT, train->source, 0,
                          "there are no sentences to learn from");
    if (train->head == NULL || train->token_columns != MD_ARC_COLUMNS)
        return md_fail_at(
            error, MEDLEY_BAD_INPUT, train->source, 0,
            "--task tree learns from words and their heads, and these data have none; "
            "give a CoNLL-U file");
    if (problem->options->kernels != NULL || problem->options->kernel_files != NULL ||
        train->table_count > 0 || train->gram_count > 0)
        return md_fail(error, MEDLEY_NOT_SUPPORTED,
                       "--task tree learns from arc templates, not from kernels; leave out "
                       "--kernel, --kernels, --view and --gram");
    medley_status status = find_tags(problem, error);
    if (status == MEDLEY_OK)
        status = check_lengths(train, error);
    if (status == MEDLEY_OK)
        status = md_dataset_check_trees(train, problem->options->roots == MD_ROOTS_MANY, error);
    return status;
}

medley_status md_trees_prepare_dev(md_problem *problem, medley_error *error)
{
    const size_t bytes = problem->dev->rows * sizeof *problem->dev_gold;
    const medley_status status =
        md_dataset_check_trees(problem->dev, problem->space.shape.many_roots, error);
    if (status < 0)
        return status;
    problem->dev_gold = md_copy(problem->dev->head, bytes);
    return problem->dev_gold ? MEDLEY_OK : md_fail_memory(error, bytes);
}

/* ---- features ---- */

static void number_rows(md_problem *problem, size_t sequence, size_t sentence)
{
    const size_t *start = problem->train->sequence_start;
    for (size_t r = start[sequence]; r < start[sequence + 1]; r++)
        problem->sentence[r] = (uint32_t)sentence;
}

/* Features of the next sentences that fit the memory, and in any case of a round. */
static medley_status open_window(void *context, const size_t *examples, size_t count, size_t batch,
                                 size_t *opened, medley_error *error)
{
    md_problem *problem = context;
    md_arc_source source = {
        .dataset = problem->train, .which = examples, .count = 1, .tags = problem->tags};
    const size_t memory = md_problem_memory(problem);
    size_t bytes = 0;
    size_t taken = 0;
    for (; taken < count; taken++) {
        source.which = examples + taken;
        bytes += md_arcs_bytes(problem->arc_templates, &source);
        if (bytes > memory && taken >= batch)
            break;
    }
    if (taken < count && batch > 0)
        taken -= taken % batch;
    source.which = examples;
    source.count = *opened = taken;
    md_arcs_free(problem->arcs);
    problem->arcs = NULL;
    for (size_t s = 0; s < taken; s++)
        number_rows(problem, examples[s], s);
    return md_arcs_create(&problem->arcs, problem->arc_templates, &source, problem->threads, error);
}

medley_status md_trees_find_features(md_problem *problem, medley_error *error)
{
    const medley_dataset *train = problem->train;
    const size_t bits = (size_t)problem->options->hash_bits;
    const md_arc_source source = {
        .dataset = train, .count = train->sequence_count, .tags = problem->tags};
    problem->arc_bits = bits > 0 ? bits : DEFAULT_BITS;
    problem->sentence = md_calloc(train->rows, sizeof *problem->sentence);
    if (problem->sentence == NULL)
        return md_fail_memory(error, train->rows * sizeof *problem->sentence);
    if (md_arcs_bytes(problem->arc_templates, &source) > md_problem_memory(problem)) {
        problem->window = (md_window){.context = problem, .open = open_window};
        return MEDLEY_OK;
    }
    for (size_t s = 0; s < train->sequence_count; s++)
        number_rows(problem, s, s);
    return md_arcs_create(&problem->arcs, problem->arc_templates, &source, problem->threads, error);
}

/* Weights of all templates; those of averages stand behind all of them. */
static medley_status find_weights(md_problem *problem, medley_error *error)
{
    const size_t slots = (size_t)1 << problem->arc_bits;
    const size_t floats = md_arc_templates_count(problem->arc_templates) * slots *
                          (problem->options->average ? 2 : 1);
    const size_t available = md_memory_available();
    if (available > 0 && floats > available / sizeof(float))
        return md_fail(error, MEDLEY_FAILED,
                       "the weights of %zu templates take %zu MB, and %zu MB are free; use a "
                       "smaller --hash-bits (now %zu), fewer templates or no --average",
                       md_arc_templates_count(problem->arc_templates), (floats * 4) >> 20,
                       available >> 20, problem->arc_bits);
    problem->arc_weights = md_alloc_aligned(floats, sizeof *problem->arc_weights);
    return problem->arc_weights ? MEDLEY_OK : md_fail_memory(error, floats * sizeof(float));
}

medley_status md_trees_block(md_block **block, md_problem *problem, const md_explicit *what,
                             size_t t, medley_error *error)
{
    medley_status status = MEDLEY_OK;
    const size_t slots = (size_t)1 << problem->arc_bits;
    const size_t count = md_arc_templates_count(problem->arc_templates);
    if (problem->arc_weights == NULL)
        MEDLEY_TRY(find_weights(problem, error));
    float *weight = problem->arc_weights + t * slots;
    const md_arc_explicit arcs = {.name = what->name,
                                  .arcs = &problem->arcs,
                                  .bag = md_arc_templates_is_bag(problem->arc_templates, t),
                                  .sentence = problem->sentence,
                                  .t = t,
                                  .bits = problem->arc_bits,
                                  .weight = weight,
                                  .aside = what->averaging ? weight + count * slots : NULL,
                                  .gain = what->gain,
                                  .thresholds = what->thresholds};
    memset(weight, 0, slots * sizeof *weight);
    if (arcs.aside != NULL)
        memset(arcs.aside, 0, slots * sizeof *weight);
    MEDLEY_TRY(md_arc_block_create(block, &arcs, error));
done:
    return status;
}

/* Templates step together: what they add to a score in one step is so many times the rate. A margin
 * of one wants half of that in all, a log loss, whose gradients are smaller, ten times as much.
 * Five epochs on some sentences, as other rates are chosen, favour rates that are too small here.
 */
double md_trees_rate(const md_problem *problem)
{
    const bool hinge = strcmp(problem->loss->name, "hinge") == 0;
    return (hinge ? 0.5 : 5) / (double)problem->candidate_count;
}
