/* SPDX-License-Identifier: BSD-3-Clause */
#include "learner/problem.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/parallel.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    KERNEL_EPOCHS = 100,
    EXPLICIT_EPOCHS = 12,
    TREE_EPOCHS = 10
};                                 /* unless --epochs says otherwise */
enum { MOST_VALUES = 1000000000 }; /* bytes */

void md_problem_drop_rows(md_problem *problem)
{
    free(problem->examples);
    md_ledger_free(problem->ledger);
    md_gram_free(problem->gram);
    md_points_clear(&problem->points);
    for (size_t m = 0; problem->primal != NULL && m < problem->bank.count; m++)
        md_matrix_clear(&problem->primal[m]);
    free(problem->primal);
    problem->examples = NULL;
    problem->example_count = 0;
    problem->ledger = NULL;
    problem->gram = NULL;
    problem->primal = NULL;
    problem->train = NULL;
}

void md_problem_clear(md_problem *problem)
{
    md_problem_drop_rows(problem);
    md_penalty_free(problem->penalty);
    free(problem->margin_state);
    md_store_free(problem->store);
    free(problem->dev_gold);
    md_bank_clear(&problem->bank);
    md_templates_free(problem->templates);
    md_arcs_free(problem->arcs);
    md_arc_templates_free(problem->arc_templates);
    free(problem->sentence);
    free(problem->arc_weights);
    md_features_free(problem->features);
    free(problem->feature_ids);
    free(problem->candidates);
    *problem = (md_problem){0};
}

static bool forward(void *context, const medley_progress *progress)
{
    md_problem *problem = context;
    const medley_observer *observer = problem->observer;
    if (observer != NULL && observer->progress != NULL &&
        !observer->progress(observer->context, progress))
        problem->stopped = true;
    return !problem->stopped;
}

bool md_problem_report(md_problem *problem, const char *stage, size_t done, size_t total,
                       double objective, double dev_accuracy)
{
    const medley_progress progress = {.stage = stage,
                                      .done = done,
                                      .total = total,
                                      .objective = objective,
                                      .dev_accuracy = dev_accuracy,
                                      .seconds = md_clock_seconds() - problem->began};
    return forward(problem, &progress);
}

/* ---- assembly ---- */

medley_status md_problem_make_examples(md_problem *problem, medley_error *error)
{
    const medley_dataset *train = problem->train;
    const bool sequences = problem->sequences || problem->trees;
    problem->example_count = sequences ? train->sequence_count : train->rows;
    problem->examples = md_calloc(problem->example_count, sizeof *problem->examples);
    if (problem->examples == NULL)
        return md_fail_memory(error, problem->example_count * sizeof *problem->examples);
    for (size_t e = 0; e < problem->example_count; e++) {
        const size_t first = sequences ? train->sequence_start[e] : e;
        problem->examples[e] = (md_example){
            .row = first, .length = sequences ? train->sequence_start[e + 1] - first : 1};
    }
    return MEDLEY_OK;
}

/* Columns that are names, not places: every name, or what stands before its '=', is a feature. */
static bool has_attributes(const medley_dataset *dataset)
{
    const md_table *table = dataset->table_count > 0 ? &dataset->tables[0] : NULL;
    return table != NULL && md_matrix_is_sparse(&table->features) && table->column_names.count > 0;
}

medley_status md_problem_make_bank(md_problem *problem, medley_error *error)
{
    static char *const explicit_kernels[] = {"linear(explicit)", NULL};
    static char *const linear_kernels[] = {"linear", NULL};
    char *const *attribute_kernels = problem->method->batch ? linear_kernels : explicit_kernels;
    const medley_dataset *train = problem->train;
    const medley_options *options = problem->options;
    const bool attributes = has_attributes(train);
    const char *views = options->views;
    char **specs = NULL;
    medley_status status = md_options_kernels(&specs, options, error);
    if (status < 0)
        return status;
    if (specs == NULL && (options->template != NULL || problem->trees) && train->table_count == 0 &&
        train->gram_count == 0)
        return MEDLEY_OK; /* the templates are all there is */
    if (train->token_columns > 0 && train->table_count == 0 && train->gram_count == 0) {
        md_texts_free(specs);
        return md_fail_at(error, MEDLEY_USAGE, train->source, 0,
                          "tagged words need feature templates to learn from: give --template FILE "
                          "(CRF++ or Wapiti), or --template chunk");
    }
    if (strcmp(views, "auto") == 0)
        views = attributes ? "prefix" : NULL;
    const md_bank_options bank_options = {.kernels = specs == NULL && attributes ? attribute_kernels
                                                                                 : specs,
                                          .views = views,
                                          .scale = options->scale,
                                          .normalize = (md_norm)options->normalize,
                                          .seed = (uint64_t)options->seed,
                                          .primal = !problem->method->needs_kernels};
    status = md_bank_make(&problem->bank, train, &bank_options, error);
    md_texts_free(specs);
    return status;
}

static medley_status select_blocks(md_problem *problem, medley_error *error)
{
    medley_status status = MEDLEY_OK;
    md_selection selection = {0};
    MEDLEY_TRY(md_selection_make(&selection, problem->options, error));
    MEDLEY_TRY(md_selection_check(&selection, problem, error));
    MEDLEY_TRY(md_selection_of_bank(&selection, &problem->bank, error));
    MEDLEY_TRY(md_selection_of_templates(&selection, problem, error));
    if (problem->bank.count == 0 &&
        (problem->templates == NULL || md_templates_count(problem->templates) == 0) &&
        (problem->arc_templates == NULL || md_arc_templates_count(problem->arc_templates) == 0))
        status = md_fail(error, MEDLEY_USAGE,
                         "none of the blocks that were asked for is among those of this run; "
                         "medley inspect MODEL shows the names");
done:
    md_selection_clear(&selection);
    return status;
}

static medley_status check_batch(const md_problem *problem, medley_error *error)
{
    const char *method = problem->method->name;
    if (!problem->method->batch)
        return MEDLEY_OK;
    if (problem->templates != NULL)
        return md_fail(error, MEDLEY_NOT_SUPPORTED,
                       "--method %s works on kernels; leave out --template or use --method spom",
                       method);
    for (size_t m = 0; m < problem->bank.count; m++)
        if (md_kernel_has_weights(&problem->bank.kernels[m]))
            return md_fail(error, MEDLEY_NOT_SUPPORTED,
                           "--method %s learns coefficients of rows, not weights of columns as "
                           "kernel '%s' has them; leave out 'explicit', or use --method spom",
                           method, problem->bank.kernels[m].name);
    return MEDLEY_OK;
}

static medley_status check_blocks(const md_problem *problem, medley_error *error)
{
    if (md_penalty_inner_threshold(problem->penalty) == 0)
        return MEDLEY_OK;
    for (size_t m = 0; m < problem->bank.count; m++)
        if (!problem->bank.kernels[m].explicit_weights)
            return md_fail(error, MEDLEY_USAGE,
                           "penalty %s looks at single weights, which the kernel '%s' does not "
                           "have; use linear(explicit) or another penalty",
                           md_penalty_text(problem->penalty), problem->bank.kernels[m].name);
    return MEDLEY_OK;
}

/* Parts are numbered by 32 bits. */
static medley_status check_size(const md_problem *problem, medley_error *error)
{
    const md_shape shape = problem->space.shape;
    if (problem->trees)
        return MEDLEY_OK; /* looked at already */
    size_t longest = 0;
    for (size_t e = 0; e < problem->example_count; e++)
        longest = problem->examples[e].length > longest ? problem->examples[e].length : longest;
    if ((double)longest * (double)shape.labels * (shape.local_pairs ? (double)shape.labels : 1) +
            pow((double)shape.labels, (double)shape.order + 1) <
        (double)INT32_MAX)
        return MEDLEY_OK;
    return md_fail_at(error, MEDLEY_BAD_INPUT, problem->train->source, 0,
                      "a sequence of %zu rows with %zu labels is too large for this model; cut it "
                      "into shorter ones, use --order 1 or templates without macros in B lines",
                      longest, shape.labels);
}

/* Whole matrices for batch methods, rows for the others. */
static medley_status create_values(md_problem *problem, size_t memory, medley_error *error)
{
    medley_error inner = {0};
    const md_gram_options options = {
        .threads = problem->threads, .memory = memory, .observer = &problem->watch};
    const md_store_options store_options = {.threads = problem->threads,
                                            .memory = memory,
                                            .wide = problem->options->storage == MD_STORE_WIDE,
                                            .ridge = problem->options->ridge,
                                            .observer = &problem->watch};
    const medley_status status =
        problem->method->batch
            ? md_store_create(&problem->store, &problem->bank, &problem->points, &store_options,
                              &inner)
            : md_gram_create(&problem->gram, &problem->bank, &problem->points, &options, &inner);
    if (status == MEDLEY_OK || problem->stopped)
        return MEDLEY_OK; /* who wanted to stop is not told of a failure */
    return md_fail_at(error, status, inner.file, (size_t)inner.line, "%s", inner.message);
}

/* A cut-off that leaves no feature leaves nothing to learn with. */
static medley_status check_features(const md_problem *problem, medley_error *error)
{
    size_t count = 0;
    size_t templates = 0;
    for (size_t b = 0; b < md_templates_count(problem->templates); b++) {
        if (md_templates_is_constant(problem->templates, b))
            continue;
        count += md_features_count(problem->features, b);
        templates++;
    }
    if (count > 0 || templates == 0)
        return MEDLEY_OK;
    return md_fail(error, MEDLEY_USAGE,
                   "no feature of the templates occurs %lld times; use a smaller --min-count",
                   problem->options->min_count);
}

static medley_status find_features(md_problem *problem, medley_error *error)
{
    if (problem->templates == NULL)
        return MEDLEY_OK;
    const md_features_options options = {.min_count = (size_t)problem->options->min_count,
                                         .hash_bits = (size_t)problem->options->hash_bits,
                                         .threads = problem->threads};
    md_feature_ids ids = {0};
    const medley_status status = md_features_create(&problem->features, &ids, problem->templates,
                                                    problem->train, &options, error);
    if (status < 0)
        return status;
    problem->feature_ids = md_calloc(ids.rows * ids.block_count, sizeof *problem->feature_ids);
    for (size_t r = 0; problem->feature_ids != NULL && r < ids.rows; r++)
        for (size_t b = 0; b < ids.block_count; b++)
            problem->feature_ids[r * ids.block_count + b] = ids.ids[b][r];
    const size_t bytes = ids.rows * ids.block_count * sizeof *problem->feature_ids;
    md_feature_ids_free(&ids);
    return problem->feature_ids != NULL ? check_features(problem, error)
                                        : md_fail_memory(error, bytes);
}

medley_status md_problem_find_primal(md_problem *problem, medley_error *error)
{
    medley_status status = MEDLEY_OK;
    const md_bank *bank = &problem->bank;
    problem->primal = md_calloc(bank->count, sizeof *problem->primal);
    if (problem->primal == NULL)
        return md_fail_memory(error, bank->count * sizeof *problem->primal);
    for (size_t m = 0; m < bank->count && status == MEDLEY_OK; m++)
        if (bank->kernels[m].primal)
            status = md_points_features(&problem->primal[m], &problem->points, bank, m, error);
    return status;
}

size_t md_problem_memory(const md_problem *problem)
{
    const size_t given = problem->options->memory;
    return given > 0 ? given : md_memory_available() / 2;
}

/* For kernel values. A method that changes few rows a few times needs few kernel rows, and computes
 * them on the fly sooner than it could fill large matrices. */
static size_t memory_for_values(const md_problem *problem)
{
    const size_t memory = md_problem_memory(problem);
    const bool few = problem->method->rule == MD_RULE_MIRROR &&
                     strcmp(problem->loss->name, "hinge") == 0 && problem->options->memory == 0;
    return few && memory > MOST_VALUES ? MOST_VALUES : memory;
}

static medley_status compute_kernels(md_problem *problem, medley_error *error)
{
    const double start = md_clock_seconds();
    const size_t memory = memory_for_values(problem);
    bool any = false;
    for (size_t m = 0; m < problem->bank.count; m++)
        any = any || !md_kernel_has_weights(&problem->bank.kernels[m]);
    medley_status status =
        problem->trees ? md_trees_find_features(problem, error) : find_features(problem, error);
    if (status == MEDLEY_OK && problem->bank.count > 0)
        status = md_points_make(&problem->points, &problem->bank, problem->train, true, error);
    if (status == MEDLEY_OK)
        status = md_problem_find_primal(problem, error);
    if (status == MEDLEY_OK && any)
        status = create_values(problem, memory, error);
    problem->seconds_kernels = md_clock_seconds() - start;
    return status;
}

static medley_status prepare_dev(md_problem *problem, medley_error *error)
{
    if (problem->dev == NULL)
        return MEDLEY_OK;
    if (problem->trees)
        return md_trees_prepare_dev(problem, error);
    if (problem->dev->label == NULL || problem->dev->rows == 0)
        return md_fail_at(error, MEDLEY_USAGE, problem->dev->source, 0,
                          "held-out data need rows with labels");
    problem->dev_gold = md_dataset_map_labels(problem->dev, &problem->train->label_names);
    if (problem->dev_gold == NULL)
        return md_fail_memory(error, problem->dev->rows * sizeof *problem->dev_gold);
    /* data that do not fit are found out now, not after the first epoch */
    md_points points = {0};
    medley_status status = MEDLEY_OK;
    if (problem->bank.count > 0)
        status = md_points_make(&points, &problem->bank, problem->dev, false, error);
    md_points_clear(&points);
    return status;
}

bool md_problem_is_explicit(const md_problem *problem)
{
    bool all = true;
    for (size_t m = 0; m < problem->bank.count; m++)
        all = all && problem->bank.kernels[m].explicit_weights &&
              problem->bank.views[problem->bank.kernels[m].view].sparse;
    return all;
}

/* Kernels learn best one by one, while scoring explicit features pays for waking a second thread
 * only if there are some sequences to score; and sentences share what they look up of tables. */
size_t md_problem_batch(const md_problem *problem)
{
    enum { BATCH = 8, TREE_BATCH = 32, TREES = 100 }; /* sentences for each of a round */
    const size_t given = (size_t)problem->options->batch;
    if (given > 0)
        return given;
    const size_t few = problem->example_count / TREES + 1;
    if (problem->trees)
        return few < TREE_BATCH ? few : TREE_BATCH;
    return md_problem_is_explicit(problem) ? BATCH : 1;
}

/* A candidate's factor by --block-scale; the last one that fits counts. */
static double block_scale(const md_problem *problem, const md_candidate *candidate)
{
    char **list = problem->options->block_scale;
    double scale = 1;
    for (size_t i = 0; list != NULL && list[i] != NULL; i++) {
        const char *equals = strrchr(list[i], '=');
        if (md_selection_matches(list[i], (size_t)(equals - list[i]), candidate->name,
                                 candidate->source != MD_FROM_KERNEL))
            md_parse_double(equals + 1, &scale);
    }
    return scale;
}

static void count_epochs(md_problem *problem)
{
    const medley_options *options = problem->options;
    const bool stages = problem->method->two_stages;
    problem->first_epochs = stages ? (size_t)options->epochs1 : 0;
    if (stages)
        problem->epochs = problem->first_epochs + (size_t)options->epochs2;
    else if (options->epochs > 0)
        problem->epochs = (size_t)options->epochs;
    else if (problem->trees)
        problem->epochs = TREE_EPOCHS;
    else
        problem->epochs = md_problem_is_explicit(problem) ? EXPLICIT_EPOCHS : KERNEL_EPOCHS;
}

medley_status md_problem_init(md_problem *problem, const medley_dataset *train,
                              const medley_dataset *dev, const medley_options *options,
                              const medley_observer *observer, const md_method *method,
                              medley_error *error)
{
    medley_status status = MEDLEY_OK;
    *problem = (md_problem){.train = train,
                            .dev = dev,
                            .options = options,
                            .method = method,
                            .observer = observer,
                            .watch = {.context = problem, .progress = forward},
                            .began = md_clock_seconds()};
    problem->threads = options->threads > 0 ? (size_t)options->threads : md_processor_count();
    MEDLEY_TRY(md_problem_check_options(problem, error));
    MEDLEY_TRY(md_problem_find_task(problem, error));
    MEDLEY_TRY(md_problem_find_loss(problem, error));
    MEDLEY_TRY(md_problem_find_penalty(problem, error));
    MEDLEY_TRY(md_problem_make_examples(problem, error));
    MEDLEY_TRY(md_options_number(&problem->eta0, "eta0", options->eta0, false, error));
    MEDLEY_TRY(md_options_number(&problem->radius, "radius", options->radius, true, error));
    MEDLEY_TRY(md_options_number(&problem->eta, "eta", options->eta, false, error));
    MEDLEY_TRY(md_options_lambda(&problem->lambda, options, md_default_C(method, problem->trees),
                                 problem->example_count, error));
    MEDLEY_TRY(md_problem_make_bank(problem, error));
    MEDLEY_TRY(md_problem_find_templates(problem, error));
    MEDLEY_TRY(select_blocks(problem, error));
    MEDLEY_TRY(md_problem_list_candidates(problem, error));
    MEDLEY_TRY(md_problem_check_scales(problem, error));
    count_epochs(problem);
    MEDLEY_TRY(check_batch(problem, error));
    MEDLEY_TRY(check_blocks(problem, error));
    MEDLEY_TRY(check_size(problem, error));
    MEDLEY_TRY(prepare_dev(problem, error));
    MEDLEY_TRY(compute_kernels(problem, error));
done:
    if (status < 0)
        md_problem_clear(problem);
    return status;
}

/* Made when it is first needed: kernels have been mixed by then, if they are. */
static medley_status find_ledger(md_ledger **ledger, md_problem *problem, medley_error *error)
{
    md_ledger_options options = {
        .labels = problem->space.shape.labels, .longest = 1, .memory = md_problem_memory(problem)};
    for (size_t e = 0; e < problem->example_count; e++)
        if (problem->examples[e].length > options.longest)
            options.longest = problem->examples[e].length;
    options.longest *= md_problem_batch(problem);
    if (options.longest > problem->train->rows)
        options.longest = problem->train->rows;
    const size_t taken = md_gram_bytes(problem->gram);
    options.memory = options.memory > taken ? options.memory - taken : 1;
    const medley_status status =
        problem->ledger == NULL ? md_ledger_create(&problem->ledger, problem->gram, &options, error)
                                : MEDLEY_OK;
    *ledger = problem->ledger;
    return status;
}

/* Kernel 0 stands for all of them where they are mixed. */
static medley_status kernel_block(md_block **block, md_problem *problem,
                                  const md_candidate *candidate, md_explicit *what,
                                  medley_error *error)
{
    const md_kernel *kernel = &problem->bank.kernels[candidate->index];
    if (!md_kernel_has_weights(kernel)) {
        md_kernel_source source = {.gram = problem->gram,
                                   .m = candidate->index,
                                   .name = candidate->name,
                                   .labels = problem->space.shape.labels,
                                   .averaging = what->averaging};
        medley_status status = MEDLEY_OK;
        if (!md_gram_is_kept(problem->gram, source.m))
            status = find_ledger(&source.ledger, problem, error);
        if (status == MEDLEY_OK)
            status = md_kernel_block_create(block, &source, error);
        if (status == MEDLEY_OK)
            md_kernel_block_set_gain(*block, what->gain);
        return status;
    }
    const md_matrix *columns =
        kernel->primal ? &problem->primal[candidate->index] : &problem->points.views[kernel->view];
    what->features = (md_row_features){.matrix = columns, .count = columns->columns};
    what->gain *= sqrt(kernel->factor);
    return md_explicit_block_create(block, what, error);
}

medley_status md_problem_block(md_block **block, md_problem *problem, size_t index,
                               medley_error *error)
{
    const md_candidate *candidate = &problem->candidates[index];
    md_explicit what = {.name = candidate->name,
                        .features = {.count = 1},
                        .gain = block_scale(problem, candidate),
                        .space = problem->space,
                        .kind = candidate->kind,
                        .averaging = problem->options->average,
                        .thresholds = !candidate->own_term &&
                                      md_penalty_inner_threshold(problem->penalty) > 0};
    if (candidate->source == MD_FROM_KERNEL)
        return kernel_block(block, problem, candidate, &what, error);
    if (candidate->source == MD_FROM_ARCS)
        return md_trees_block(block, problem, &what, candidate->index, error);
    const bool constant = candidate->source == MD_FROM_LABELS ||
                          md_templates_is_constant(problem->templates, candidate->index);
    if (!constant)
        what.features =
            (md_row_features){.id = problem->feature_ids + candidate->index,
                              .id_step = md_templates_count(problem->templates),
                              .count = md_features_count(problem->features, candidate->index)};
    if (candidate->kind != MD_ROW_PARTS)
        what.gain *= problem->options->bigram_scale;
    return md_explicit_block_create(block, &what, error);
}
