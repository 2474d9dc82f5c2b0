/* SPDX-License-Identifier: BSD-3-Clause */
/* Dependency trees: every word of a sentence has a head, found by the features of arcs (arcs.c),
 * and the relation to it by a second model (relations.c). */
#include "task/parser.h"
#include "task/predicting.h"
#include "task/problem.h"

#include "data/dataset.h"

/* Scores and marginals of a sentence take memory and time by the square and the cube of its words.
 */
enum { LONGEST_SENTENCE = 1000 };
enum { LEAST_BITS = 5 }; /* model files count slots by 32 */

/* No templates, or built-in ones of arcs: heads are wanted, not tags. */
static bool speaks_of_arcs(const medley_options *options)
{
    bool found =
        options->template == NULL && options->kernels == NULL && options->kernel_files == NULL;
    for (size_t i = 0; !found && options->template != NULL && md_arc_sets[i].name != NULL; i++)
        found = strcmp(options->template, md_arc_sets[i].name) == 0;
    return found;
}

static bool fits(const medley_options *options, const medley_dataset *data)
{
    const bool words_only = data->table_count == 0 && data->gram_count == 0;
    const bool as_usual = data->label_column == MD_ARC_UPOS; /* no other label was asked for */
    return data->head != NULL && words_only && as_usual && speaks_of_arcs(options);
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

static medley_status check(const md_problem *problem, medley_error *error)
{
    const medley_dataset *train = problem->train;
    const medley_options *options = problem->options;
    if (options->hash_bits > 0 && options->hash_bits < LEAST_BITS)
        return md_fail(error, MEDLEY_USAGE,
                       "`hash-bits=%lld` is too few for `task=tree`; give %d to 28",
                       options->hash_bits, LEAST_BITS);
    if (train->rows == 0)
        return md_fail_at(error, MEDLEY_BAD_INPUT, train->source, 0,
                          "there are no sentences to learn from");
    if (train->head == NULL || train->token_columns != MD_ARC_COLUMNS)
        return md_fail_at(
            error, MEDLEY_BAD_INPUT, train->source, 0,
            "`task=tree` learns from words and their heads, and these data have none; "
            "give a CoNLL-U file");
    if (options->kernels != NULL || options->kernel_files != NULL || train->table_count > 0 ||
        train->gram_count > 0)
        return md_fail(error, MEDLEY_NOT_SUPPORTED,
                       "`task=tree` learns from arc templates, not from kernels; leave out "
                       "`kernel`, `kernels`, `view` and `gram`");
    MEDLEY_TRY(check_lengths(train, error));
    return md_dataset_check_trees(train, options->roots == MD_ROOTS_MANY, error);
}

static bool is_pruned(const medley_options *options)
{
    return options->prune || options->order == 2;
}

static void describe(md_problem *problem)
{
    problem->space.shape = (md_shape){.labels = 1,
                                      .order = problem->options->order == 2 ? 2 : 0,
                                      .pruned = is_pruned(problem->options),
                                      .many_roots = problem->options->roots == MD_ROOTS_MANY};
    problem->gold = problem->train->head;
}

static medley_status prepare_dev(md_problem *problem, medley_error *error)
{
    const size_t bytes = problem->dev->rows * sizeof *problem->dev_gold;
    MEDLEY_TRY(md_dataset_check_trees(problem->dev, problem->space.shape.many_roots, error));
    return md_new_copy(&problem->dev_gold, problem->dev->head, bytes, error);
}

/* Templates step together: what they add to a score in one step is so many times the rate. A margin
 * of one wants half of that in all, a log loss, under which a word is learnt when its head has all
 * but a thousandth of the probability, ten times as much. Less is too slow for ten epochs; twice as
 * much is good with few sentences, but rounds of 32 take it too far.
 * Five epochs on some sentences, as other rates are chosen, favour rates that are too small here.
 */
static double first_rate(const md_problem *problem, const md_loss *loss)
{
    return (loss->has_margin ? 0.5 : 5) / (double)problem->candidate_count;
}

/* ---- the scout ---- */

/* A few passes with few templates, for probabilities of arcs. */
static medley_status scout(medley_options **options, const md_problem *problem, medley_error *error)
{
    enum { MOST_BITS = 18 }; /* of the scout's few templates */
    const long long bits = problem->options->hash_bits;
    char threads[32];
    char seed[32];
    char slots[32];
    const char *const settings[][2] = {
        {"task", "tree"},
        {"method", "spom"},
        {"hash-bits", slots},
        {"template", "built-in:arc-prune"},
        {"loss", "logistic"},
        {"penalty", "l2"},
        {"epochs", "3"},
        {"unlabelled", "true"},
        {"tags", problem->options->tags},
        {"roots", problem->options->roots == MD_ROOTS_MANY ? "many" : "one"},
        {"threads", threads},
        {"seed", seed},
    };
    if (!is_pruned(problem->options))
        return MEDLEY_OK;
    snprintf(threads, sizeof threads, "%zu", problem->threads);
    snprintf(seed, sizeof seed, "%lld", problem->options->seed);
    snprintf(slots, sizeof slots, "%lld", bits > 0 && bits < MOST_BITS ? bits : MOST_BITS);
    MEDLEY_TRY(medley_options_create(options, error));
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        if (settings[i][1] != NULL)
            MEDLEY_TRY(medley_options_set(*options, settings[i][0], settings[i][1], error));
    return MEDLEY_OK;
}

static medley_status build(medley_model *model, const md_draft *draft, medley_error *error)
{
    model->space = draft->problem->space;
    model->space.shape.projective = draft->problem->options->projective;
    return md_arcs_build(model, draft, error);
}

static const int32_t *heads_of(const medley_prediction *prediction)
{
    return prediction->head;
}

static const char *const measures[] = {"las", "uas", "accuracy", "exact-match", NULL};
static const md_held held[] = {{"template", "arc-507"}, {0}};

const md_task md_task_tree = {
    .about = {.name = "tree",
              .summary = "a dependency tree for each sentence, and the relations of its arcs",
              .takes = MD_TAKES_ARCS | MD_TAKES_PROBABILITIES,
              .holds = held},
    /* There are hundreds of templates, and each of them gets some step in every round: only the end
     * of an epoch tells those that nothing needs from the others. Sentences of a round share what
     * they look up of tables. Weights of log losses are some ten times those of the hinge (see
     * first_rate), and penalties are squares: with the C of the hinge the penalty would be most of
     * the objective, and would hold weights where it is, not where the trees are. */
    .defaults = {.templates = "built-in:arc-507",
                 .C = 3,
                 .soft_C = 300,
                 .epochs = 10,
                 .prox_every = SIZE_MAX,
                 .most_batch = 32,
                 .batch_share = 100,
                 .rate = first_rate},
    .structure = &md_structure_tree,
    .by_sequence = true,
    .measures = measures,
    .fits = fits,
    .check = check,
    .describe = describe,
    .templates = &md_arc_sources,
    .prepare_dev = prepare_dev,
    .scout = scout,
    .follow = md_arcs_prune,
    .scouting = "pruning",
    .derive = md_relations_derive,
    .join = md_relations_join,
    .companion = "relations",
    .build = build,
    .outputs = heads_of,
    .info = {.title = "Parsing",
             .does = "finds the head and the relation of every word",
             .does_unlabelled = "finds the head of every word",
             .example = "sentence",
             .examples = "sentences",
             .parts = "words",
             .block = "template",
             .blocks = "templates",
             .no_features =
                 "features of arcs are hashed and have no texts; their templates are above",
             .no_scores = "the model parses: its scores are of arcs, not of labels",
             .has_labels = true,
             .has_probabilities = true,
             .has_heads = true},
    .check_request = md_tree_check_request,
    .predict = md_tree_predict,
    .check_truth = md_tree_check_truth,
    .compare = md_tree_compare,
    .most_labels = MD_MOST_LABELS,
    .section = "trees",
    .pack = md_parser_pack,
    .unpack = md_parser_unpack,
    .companion_fits = md_labeller_fits,
};
