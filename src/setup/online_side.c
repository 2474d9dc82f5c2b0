/* SPDX-License-Identifier: BSD-3-Clause */
/* What online methods have beside the problem: a loss of structures, rates and epochs, rows of
 * kernel values, and the blocks of candidates. */
#include "setup/setup.h"

enum { KERNEL_EPOCHS = 100, EXPLICIT_EPOCHS = 12 }; /* unless --epochs or the task say otherwise */
enum { MOST_VALUES = 1000000000 };                  /* bytes */
static const double MOST_OF_A_ROUND = 2.5e8; /* bytes for values of its rows for each other */

/* A number, or how to find one. */
static medley_status read_rate(md_online_side *side, const char *text, medley_error *error)
{
    side->eta0 = NAN;
    side->rate_rule = strcmp(text, "paper") == 0    ? MD_RATE_OF_PAPER
                      : strcmp(text, "theory") == 0 ? MD_RATE_OF_THEORY
                                                    : MD_RATE_SEARCHED;
    if (side->rate_rule != MD_RATE_SEARCHED || strcmp(text, "auto") == 0 ||
        (md_parse_double(text, &side->eta0) && isfinite(side->eta0) && side->eta0 > 0))
        return MEDLEY_OK;
    return md_fail(error, MEDLEY_USAGE,
                   "`eta0='%s'` is neither auto, paper nor theory, nor a positive number", text);
}

static medley_status begin(md_problem *problem, const char *loss, medley_error *error)
{
    const medley_options *options = problem->options;
    if (problem->online == NULL)
        MEDLEY_TRY(md_new(&problem->online, 1, sizeof *problem->online, error));
    md_online_side *side = problem->online;
    side->loss = md_loss_find(loss);
    if (side->loss == NULL)
        return md_margin_loss_find(loss) != NULL
                   ? md_fail(error, MEDLEY_USAGE,
                             "`loss=%s` is for numbers: use it with `task=regression`", loss)
                   : md_fail_unlisted("loss", "losses", loss, error);
    problem->loss = side->loss->name;
    MEDLEY_TRY(read_rate(side, options->eta0, error));
    MEDLEY_TRY(md_options_number(&side->radius, "radius", options->radius, true, error));
    return md_options_number(&side->eta, "eta", options->eta, false, error);
}

bool md_problem_is_explicit(const md_problem *problem)
{
    bool all = true;
    for (size_t m = 0; m < problem->bank.count; m++)
        all = all && problem->bank.kernels[m].explicit_weights &&
              problem->bank.views[problem->bank.kernels[m].view].sparse;
    return all;
}

/* As many as the method has a use for, and fewer where there are many kernels. */
static size_t rows_of_a_round(const md_problem *problem)
{
    enum { FEWEST = 64 };
    const md_method_traits *traits = problem->method->traits;
    const double room = fmin(MOST_OF_A_ROUND, (double)md_problem_memory(problem) / 8);
    size_t rows = traits != NULL ? traits->rows : 0;
    while (rows > FEWEST && (double)(rows * rows * problem->bank.count) * sizeof(float) > room)
        rows /= 2;
    return rows;
}

/* Kernels learn best one by one, while scoring explicit features pays for waking a second thread
 * only if there are some sequences to score. Losses by marginals, which have no kinks, take more at
 * a time without harm if there are many. */
size_t md_problem_batch(const md_problem *problem)
{
    enum { BATCH = 8, MOST_BATCH = 32, SHARE = 256 };
    const md_task_defaults *defaults = &problem->task->defaults;
    const md_method_traits *traits = problem->method->traits;
    if (problem->options->batch > 0)
        return (size_t)problem->options->batch;
    if (defaults->most_batch == 0 && !md_problem_is_explicit(problem)) {
        const size_t rows = rows_of_a_round(problem);
        const size_t examples = problem->longest > 0 ? rows / problem->longest : 0;
        return md_max(md_min(examples, problem->example_count), 1);
    }
    if (traits != NULL && traits->examples > 0)
        return md_min(traits->examples, problem->example_count);
    if (defaults->most_batch == 0)
        return problem->online->loss->by_marginals
                   ? md_max(md_min(problem->example_count / SHARE, MOST_BATCH), BATCH)
                   : BATCH;
    const size_t share = problem->example_count / defaults->batch_share + 1;
    return share < defaults->most_batch ? share : defaults->most_batch;
}

/* Weights can be averaged; coefficients of kernels, and what certificates are made of, are not. */
static medley_status check_mix(const md_problem *problem, medley_error *error)
{
    const medley_options *options = problem->options;
    if (options->mix != MD_MIX_EPOCH || (md_problem_is_explicit(problem) && !options->certify))
        return MEDLEY_OK;
    return md_fail(error, MEDLEY_USAGE,
                   "`mix=epoch` is for templates and other explicit features, and without "
                   "`certify`; leave it out");
}

static medley_status know_blocks(md_problem *problem, medley_error *error)
{
    md_online_side *side = problem->online;
    const medley_options *options = problem->options;
    MEDLEY_TRY(check_mix(problem, error));
    const bool stages = problem->method->about->takes & MD_TAKES_STAGES;
    side->first_epochs = stages ? (size_t)options->epochs1 : 0;
    if (stages)
        side->epochs = side->first_epochs + (size_t)options->epochs2;
    else if (options->epochs > 0)
        side->epochs = (size_t)options->epochs;
    else if (problem->method->traits != NULL && problem->method->traits->epochs > 0)
        side->epochs = problem->method->traits->epochs;
    else if (problem->task->defaults.epochs > 0)
        side->epochs = problem->task->defaults.epochs;
    else
        side->epochs = md_problem_is_explicit(problem) ? EXPLICIT_EPOCHS : KERNEL_EPOCHS;
    return MEDLEY_OK;
}

/* For kernel values; 0: what there is. A method that changes few rows a few times needs few kernel
 * rows, and computes them on the fly sooner than it could fill large matrices; the more so if it
 * works on a part of the rows for long. Ranks compute their shares of rows as they are needed. */
static size_t limit_of_values(const md_problem *problem)
{
    const md_method_traits *traits = problem->method->traits;
    if (medley_comm_size(problem->options->comm) > 1)
        return 1;
    const bool few = traits != NULL && traits->few_changes && problem->online->loss->has_margin &&
                     problem->options->memory == 0;
    if (few && traits->rows > 0 && problem->train->rows > traits->rows)
        return 1;
    return few ? MOST_VALUES : problem->options->memory;
}

static medley_status find_values(md_problem *problem, medley_error *error)
{
    md_online_side *side = problem->online;
    const size_t limit = limit_of_values(problem);
    const size_t memory = md_problem_memory(problem);
    const bool is_as_rounded =
        side->gram != NULL &&
        (!md_gram_is_on_card(side->gram) ||
         md_gram_is_rounded_for(side->gram, md_online_device_rounds(problem)));
    if (is_as_rounded && side->limit == limit)
        return MEDLEY_OK;
    md_gram_free(md_take(&side->gram));
    side->limit = limit;
    const md_gram_options options = {.threads = problem->threads,
                                     .memory = limit > 0 && limit < memory ? limit : memory,
                                     .observer = &problem->progress.watch,
                                     .comm = problem->options->comm};
    MEDLEY_TRY(md_online_find_values_on_card(problem, options, error));
    if (side->gram != NULL)
        return MEDLEY_OK;
    return md_gram_create(&side->gram, &problem->bank, &problem->prepared, &options, error);
}

static void drop_values(md_problem *problem)
{
    if (problem->online == NULL)
        return;
    md_deferred_free(md_take(&problem->online->deferred));
    md_gram_free(md_take(&problem->online->gram));
}

medley_status md_problem_mix_kernels(md_problem *problem, const double *weight, medley_error *error)
{
    md_online_side *side = problem->online;
    side->mixed = true;
    md_deferred_free(md_take(&side->deferred)); /* those of every kernel */
    return md_gram_mix(side->gram, weight, error);
}

const md_kind md_online_kind = {
    .penalty = "mkl",
    .attribute_kernel = "linear(explicit)",
    .begin = begin,
    .know_blocks = know_blocks,
    .choose_device = md_online_choose_device,
    .find_values = find_values,
    .drop_values = drop_values,
};

/* ---- blocks ---- */

/* Made when it is first needed, or when kernels are mixed; on a card at once, so that it is known
 * early whether it has the memory. */
medley_status md_online_find_deferred(md_deferred **deferred, md_problem *problem,
                                      medley_error *error)
{
    *deferred = problem->online->deferred;
    if (*deferred != NULL)
        return MEDLEY_OK;
    md_deferred_options options = {.labels = problem->space.shape.labels,
                                   .longest = problem->longest * md_problem_batch(problem),
                                   .memory = md_problem_memory(problem)};
    if (options.longest > problem->train->rows)
        options.longest = problem->train->rows;
    const size_t taken = md_gram_bytes(problem->online->gram);
    options.memory = options.memory > taken ? options.memory - taken : 1;
    MEDLEY_TRY(md_deferred_create(deferred, problem->online->gram, &options, error));
    problem->online->deferred = *deferred;
    return MEDLEY_OK;
}

/* Kernel 0 stands for all of them where they are mixed. */
static medley_status kernel_block(md_block **block, md_problem *problem,
                                  const md_candidate *candidate, md_explicit *what,
                                  medley_error *error)
{
    const md_kernel *kernel = &problem->bank.kernels[candidate->index];
    if (!md_kernel_has_weights(kernel)) {
        md_kernel_source source = {.gram = problem->online->gram,
                                   .m = candidate->index,
                                   .name = candidate->name,
                                   .labels = problem->space.shape.labels,
                                   .averaging = what->averaging};
        if (!md_gram_is_kept(problem->online->gram, source.m))
            MEDLEY_TRY(md_online_find_deferred(&source.deferred, problem, error));
        MEDLEY_TRY(md_kernel_block_create(block, &source, error));
        md_kernel_block_set_gain(*block, what->gain);
        return MEDLEY_OK;
    }
    const md_matrix *columns = kernel->primal ? &problem->primal[candidate->index]
                                              : &problem->prepared.views[kernel->view];
    what->features = (md_row_features){.matrix = columns, .count = columns->columns};
    what->gain *= sqrt(kernel->factor);
    return md_explicit_block_create(block, what, error);
}

static medley_status create_block(md_block **block, md_problem *problem, size_t index,
                                  medley_error *error)
{
    const md_candidate *candidate = &problem->candidates[index];
    md_explicit what = {.name = candidate->name,
                        .features = {.count = 1},
                        .gain = md_block_scale(problem, candidate),
                        .space = problem->space,
                        .kind = candidate->kind,
                        .averaging = problem->options->average,
                        .thresholds = !candidate->own_term &&
                                      md_penalty_inner_threshold(problem->penalty) > 0};
    if (candidate->kind != MD_ROW_PARTS)
        what.gain *= problem->options->bigram_scale;
    if (candidate->origin == MD_FROM_KERNEL)
        return kernel_block(block, problem, candidate, &what, error);
    if (candidate->origin == MD_FROM_TEMPLATE)
        return problem->source->class->block(block, problem->source, candidate->index, &what,
                                             error);
    return md_explicit_block_create(block, &what, error);
}

void md_run_blocks_clear(md_run_blocks *run)
{
    for (size_t b = 0; b < run->count; b++)
        md_block_free(run->blocks[b]);
    free(run->blocks);
    free(run->candidate);
    *run = (md_run_blocks){0};
}

medley_status md_run_blocks_make(md_run_blocks *run, md_problem *problem, long kernel,
                                 medley_error *error)
{
    const size_t most = problem->candidate_count;
    *run = (md_run_blocks){0};
    MEDLEY_TRY(md_new(&run->blocks, most, sizeof(md_block *), error));
    MEDLEY_TRY(md_new(&run->candidate, most, sizeof *run->candidate, error));
    for (size_t c = 0; c < most; c++) {
        const md_candidate *candidate = &problem->candidates[c];
        if (candidate->origin == MD_FROM_KERNEL && kernel != MD_ALL_KERNELS &&
            candidate->index != (size_t)kernel)
            continue;
        MEDLEY_TRY(create_block(&run->blocks[run->count], problem, c, error));
        run->candidate[run->count++] = c;
        run->penalised += !candidate->own_term;
    }
    return MEDLEY_OK;
}

void md_run_result_clear(md_run_result *result)
{
    free(result->epochs);
    *result = (md_run_result){0};
}
