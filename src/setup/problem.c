/* SPDX-License-Identifier: BSD-3-Clause */
#include "setup/setup.h"

#include "base/parallel.h"
#include "penalty/link.h"

void md_problem_drop_rows(md_problem *problem)
{
    free(problem->examples);
    md_online_kind.drop_values(problem);
    md_batch_kind.drop_values(problem);
    md_prepared_clear(&problem->prepared);
    for (size_t m = 0; problem->primal != NULL && m < problem->bank.count; m++)
        md_matrix_clear(&problem->primal[m]);
    free(problem->primal);
    problem->examples = NULL;
    problem->example_count = 0;
    problem->primal = NULL;
    problem->train = NULL;
}

void md_problem_clear(md_problem *problem)
{
    md_problem_drop_rows(problem);
    md_penalty_free(problem->penalty);
    if (problem->online != NULL)
        free(problem->online->were_weights);
    free(problem->online);
    free(problem->batch);
    free(problem->dev_gold);
    md_device_close(problem->device);
    md_bank_clear(&problem->bank);
    md_preselection_clear(&problem->preselection);
    if (problem->source != NULL)
        problem->source->class->free(problem->source);
    free(problem->candidates);
    *problem = (md_problem){0};
}

void md_problem_keep_kernels(md_problem *problem)
{
    md_online_side *side = problem->online;
    md_problem kept = {.bank = problem->bank,
                       .prepared = problem->prepared,
                       .primal = problem->primal,
                       .preselection = problem->preselection,
                       .is_definite = problem->is_definite,
                       .has_kernels = true};
    if (problem->bank.count == 0 || problem->source != NULL || problem->progress.stopped) {
        md_problem_clear(problem);
        return;
    }
    if (side != NULL && !side->mixed && side->gram != NULL && md_gram_is_on_card(side->gram)) {
        md_deferred_free(side->deferred); /* what a card keeps of values does not change them */
        side->deferred = NULL;
    }
    if (side != NULL && !side->mixed && side->deferred == NULL) {
        kept.online = md_take(&problem->online);
        kept.device = md_take(&problem->device);
        kept.device_use = problem->device_use;
    }
    problem->bank = (md_bank){0};
    problem->prepared = (md_prepared){0};
    problem->primal = NULL;
    problem->preselection = (md_preselection){0};
    md_problem_clear(problem);
    *problem = kept;
}

static bool tell(const medley_observer *observer, const medley_progress *progress)
{
    return observer == NULL || observer->progress == NULL ||
           observer->progress(observer->context, progress);
}

bool md_rename_stage(void *context, const medley_progress *progress)
{
    const md_renaming *renaming = context;
    medley_progress renamed = *progress;
    if (renaming->from == NULL || strcmp(renamed.stage, renaming->from) == 0)
        renamed.stage = renaming->to;
    return tell(renaming->observer, &renamed);
}

static bool forward(void *context, const medley_progress *progress)
{
    md_problem *problem = context;
    bool stops = !tell(problem->progress.observer, progress);
    if (md_comm_any(problem->options->comm, &stops, NULL) < 0)
        stops = true; /* what comes next fails, and says why */
    if (stops)
        problem->progress.stopped = true;
    return !problem->progress.stopped;
}

bool md_problem_report(md_problem *problem, medley_progress progress)
{
    progress.seconds = md_clock_seconds() - problem->progress.began;
    return forward(problem, &progress);
}

/* ---- assembly ---- */

medley_status md_problem_make_examples(md_problem *problem, medley_error *error)
{
    const medley_dataset *train = problem->train;
    const bool sequences = problem->task->by_sequence;
    problem->example_count = sequences ? train->sequence_count : train->rows;
    problem->longest = 1;
    MEDLEY_TRY(
        md_new(&problem->examples, problem->example_count, sizeof *problem->examples, error));
    for (size_t e = 0; e < problem->example_count; e++) {
        const size_t first = sequences ? train->sequence_start[e] : e;
        const size_t length = sequences ? train->sequence_start[e + 1] - first : 1;
        problem->examples[e] = (md_example){.row = first, .length = length};
        problem->longest = length > problem->longest ? length : problem->longest;
    }
    return MEDLEY_OK;
}

/* Columns that are names, not places: every name, or what stands before its '=', is a feature. */
static bool has_attributes(const medley_dataset *dataset)
{
    const md_table *table = dataset->table_count > 0 ? &dataset->tables[0] : NULL;
    return table != NULL && md_matrix_is_sparse(&table->features) && table->column_names.count > 0;
}

static const char *template_path(const medley_options *options, const md_task *task)
{
    return options->template != NULL ? options->template : task->defaults.templates;
}

static size_t threads_of(const medley_options *options)
{
    return options->threads > 0 ? (size_t)options->threads : md_comm_processors(options->comm);
}

medley_status md_make_bank(md_bank *bank, const medley_dataset *data, const medley_options *options,
                           const md_task *task, const md_method *method, medley_error *error)
{
    const bool attributes = has_attributes(data);
    const bool words_only = data->table_count == 0 && data->gram_count == 0;
    const char *views = options->views;
    MD_OWNED(md_texts_free) char **specs = NULL;
    MEDLEY_TRY(md_options_kernels(&specs, options, error));
    if (specs == NULL && template_path(options, task) != NULL && words_only)
        return MEDLEY_OK;
    if (data->token_columns > 0 && words_only)
        MEDLEY_TRY(md_fail_at(error, MEDLEY_USAGE, data->source, 0,
                              "tagged words need feature templates to learn from: give `template="
                              "FILE` (CRF++ or Wapiti), or `template=chunk`"));
    if (strcmp(views, "auto") == 0)
        views = attributes ? "prefix" : NULL;
    if (specs == NULL && attributes)
        MEDLEY_TRY(md_texts_add(&specs, method->kind->attribute_kernel, error));
    const md_bank_options bank_options = {.kernels = specs,
                                          .views = views,
                                          .scale = options->scale,
                                          .usual_scale = MD_SCALE_AUTO,
                                          .normalize = (md_norm)options->normalize,
                                          .seed = (uint64_t)options->seed,
                                          .threads = threads_of(options),
                                          .primal = !method->needs_kernels};
    return md_bank_make(bank, data, &bank_options, error);
}

static medley_status select_blocks(md_problem *problem, medley_error *error)
{
    MD_CLEARED(md_selection_clear) md_selection selection = {0};
    MEDLEY_TRY(md_selection_make(&selection, problem->options, error));
    MEDLEY_TRY(md_selection_check(&selection, problem, error));
    if (!problem->has_kernels)
        MEDLEY_TRY(md_selection_of_bank(&selection, &problem->bank, error));
    MEDLEY_TRY(md_selection_of_templates(&selection, problem->source, error));
    if (!problem->has_kernels)
        MEDLEY_TRY(md_preselect(problem, error));
    if (problem->bank.count == 0 && md_source_count(problem->source) == 0)
        return md_fail(error, MEDLEY_USAGE,
                       "none of the blocks that were asked for is among those of this run; "
                       "medley inspect MODEL shows the names");
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

medley_status md_problem_find_primal(md_problem *problem, medley_error *error)
{
    const md_bank *bank = &problem->bank;
    MEDLEY_TRY(md_new(&problem->primal, bank->count, sizeof *problem->primal, error));
    for (size_t m = 0; m < bank->count; m++)
        if (bank->kernels[m].primal)
            MEDLEY_TRY(
                md_prepared_features(&problem->primal[m], &problem->prepared, bank, m, error));
    return MEDLEY_OK;
}

size_t md_problem_memory(const md_problem *problem)
{
    return problem->memory;
}

bool md_problem_has_values(const md_problem *problem)
{
    bool any = false;
    for (size_t m = 0; m < problem->bank.count; m++)
        any = any || !md_kernel_has_weights(&problem->bank.kernels[m]);
    return any;
}

static medley_status compute_kernels(md_problem *problem, medley_error *error)
{
    const double start = md_clock_seconds();
    if (problem->source != NULL)
        MEDLEY_TRY(problem->source->class->find_features(problem->source, error));
    if (problem->bank.count > 0 && !problem->has_kernels)
        MEDLEY_TRY(
            md_prepared_make(&problem->prepared, &problem->bank, problem->train, true, error));
    if (problem->bank.count > 0 && problem->method->kind->choose_device != NULL)
        MEDLEY_TRY(problem->method->kind->choose_device(problem, error));
    if (!problem->has_kernels)
        MEDLEY_TRY(md_problem_find_primal(problem, error));
    MEDLEY_TRY(md_problem_find_weights(problem, error));
    if (md_problem_has_values(problem)) {
        medley_error inner = {0};
        const medley_status status = problem->method->kind->find_values(problem, &inner);
        if (status != MEDLEY_OK && !problem->progress.stopped) /* stopping is no failure */
            return md_fail_at(error, status, inner.file, (size_t)inner.line, "%s", inner.message);
    }
    MEDLEY_TRY(md_problem_check_device(problem, error));
    problem->progress.seconds_kernels += md_clock_seconds() - start;
    return MEDLEY_OK;
}

static const char *find_loss(const md_method *method, const md_task *task,
                             const medley_options *options)
{
    const char *usual = task->defaults.loss;
    if (strcmp(options->loss, "auto") != 0)
        return options->loss;
    if (method->traits != NULL && method->traits->loss != NULL)
        return method->traits->loss;
    return usual != NULL ? usual : "hinge";
}

static medley_status find_penalty(md_problem *problem, medley_error *error)
{
    const char *name = problem->options->penalty;
    char own[48];
    const md_method_traits *traits = problem->method->traits;
    if (traits != NULL && traits->any_penalty && strcmp(name, "auto") != 0 &&
        !md_param_is_default(md_params_find(md_option_table, "p"), problem->options))
        return md_fail(error, MEDLEY_USAGE,
                       "`p` is the norm of squared-block, and `penalty=%s` is another penalty; "
                       "leave out one of them",
                       name);
    if (traits != NULL && traits->penalty != NULL &&
        (!traits->any_penalty || strcmp(name, "auto") == 0)) {
        traits->penalty(own, sizeof own, problem->options);
        name = own;
    }
    if (strcmp(name, "auto") == 0 && problem->options->groups != NULL)
        name = "none"; /* beside the groups */
    if (strcmp(name, "auto") == 0)
        name = problem->method->penalty ? problem->method->penalty : problem->method->kind->penalty;
    MEDLEY_TRY(md_penalty_create(&problem->penalty, name, error));
    if (traits != NULL && traits->strongly_convex &&
        (md_penalty_strong_convexity(problem->penalty) <= 0 ||
         md_penalty_link_kind(problem->penalty) == MD_NO_LINK))
        return md_fail(error, MEDLEY_USAGE,
                       "`method=%s` needs a single penalty that is strongly convex, and "
                       "`penalty=%s` is not; use elastic, elastic-mkl or l2, leave out `penalty`, "
                       "or use `method=spom`",
                       problem->method->about->name, name);
    return MEDLEY_OK;
}

double md_default_C(const md_method *method, const md_task *task, const medley_options *options)
{
    static const double most = 10; /* as the help of --C tells */
    const double own = method->traits ? method->traits->default_C : 0;
    const md_loss *loss = md_loss_find(find_loss(method, task, options));
    const bool soft = loss != NULL && !loss->has_margin && task->defaults.soft_C > 0;
    const double usual = soft ? task->defaults.soft_C : task->defaults.C;
    return own > 0 ? own : usual > 0 ? usual : most;
}

double md_path_lambda(const medley_path_options *path, double largest, size_t step)
{
    if (path->lambda != NULL)
        return path->lambda[step];
    const double share = path->count > 1 ? (double)step / (double)(path->count - 1) : 0;
    return largest * pow(path->ratio, share);
}

/* Is the method one for this task? */
static medley_status check_method(const md_problem *problem, medley_error *error)
{
    const md_task *task = problem->task;
    const md_method *method = problem->method;
    if (problem->options->structure != NULL && task->bind == NULL)
        return md_fail(error, MEDLEY_USAGE,
                       "the structure '%s' was brought and `task=%s` has one of its own; leave out "
                       "`task`",
                       problem->options->structure->name, task->about.name);
    if (task->structure == NULL && (!method->kind->batch || method->labels_only))
        return md_fail(error, MEDLEY_NOT_SUPPORTED,
                       "`method=%s` learns labels, not numbers; use `method=spicy` for `task=%s`",
                       method->about->name, task->about.name);
    if (task->by_sequence && method->kind->batch)
        return md_fail(error, MEDLEY_NOT_SUPPORTED,
                       "`method=%s` is for rows that stand alone, and `task=%s` is about whole "
                       "sequences of them; use `method=%s`",
                       method->about->name, task->about.name,
                       method->structured != NULL ? method->structured : "spom");
    return MEDLEY_OK;
}

static medley_status find_task(md_problem *problem, medley_error *error)
{
    const md_task *task = problem->task;
    MEDLEY_TRY(task->check(problem, error));
    MEDLEY_TRY(check_method(problem, error));
    problem->space.structure = task->structure;
    task->describe(problem);
    return md_problem_make_examples(problem, error);
}

static medley_status find_templates(md_problem *problem, medley_error *error)
{
    const char *path = template_path(problem->options, problem->task);
    if (path == NULL)
        return MEDLEY_OK;
    return problem->task->templates->create(&problem->source, path, problem, error);
}

static medley_status take_dev(md_problem *problem, medley_error *error)
{
    const medley_dataset *train = problem->train;
    const md_word_layout words = {train->format, train->token_columns, train->label_column + 1};
    MEDLEY_TRY(md_check_words(&words, problem->dev, error));
    return problem->task->prepare_dev(problem, error);
}

/* Of files of numbers only the names of columns matter, in whatever format they came. */
static const char *format_of(const medley_dataset *train)
{
    bool named = train->token_columns > 0;
    for (size_t t = 0; t < train->table_count; t++)
        named = named || train->tables[t].column_names.count > 0;
    return named ? train->format : NULL;
}

/* Threads, which may differ between ranks, and memory, which decides what is kept and must not. */
static medley_status find_resources(md_problem *problem, medley_error *error)
{
    const medley_options *options = problem->options;
    medley_comm *comm = options->comm;
    problem->threads = threads_of(options);
    double memory = (double)options->memory;
    MEDLEY_TRY(md_device_check(options->device, error));
    if (options->memory == 0)
        memory = (double)md_memory_available() / 2 / (double)md_comm_local_size(comm);
    MEDLEY_TRY(md_comm_least(comm, &memory, error));
    problem->memory = (size_t)memory;
    return MEDLEY_OK;
}

medley_status md_problem_init(md_problem *problem, const medley_dataset *train,
                              const medley_dataset *dev, const medley_options *options,
                              const medley_observer *observer, const md_method *method,
                              medley_error *error)
{
    const md_task *task = md_task_of(options, train);
    const md_problem kept = problem->has_kernels ? *problem : (md_problem){0};
    *problem = (md_problem){.train = train,
                            .bank = kept.bank,
                            .prepared = kept.prepared,
                            .primal = kept.primal,
                            .preselection = kept.preselection,
                            .is_definite = kept.is_definite,
                            .has_kernels = kept.has_kernels,
                            .online = kept.online,
                            .device = kept.device,
                            .device_use = kept.device_use,
                            .dev = dev,
                            .options = options,
                            .task = task,
                            .method = method,
                            .format = format_of(train),
                            .progress = {.observer = observer,
                                         .watch = {.context = problem, .progress = forward},
                                         .began = md_clock_seconds()}};
    MEDLEY_TRY(find_resources(problem, error));
    MEDLEY_TRY(md_problem_check_options(problem, error));
    MEDLEY_TRY(find_task(problem, error));
    MEDLEY_TRY(method->kind->begin(problem, find_loss(method, task, options), error));
    MEDLEY_TRY(find_penalty(problem, error));
    if (method->about->takes & MD_TAKES_STRENGTH) /* else there is no penalty */
        MEDLEY_TRY(md_options_lambda(&problem->lambda, options, md_default_C(method, task, options),
                                     problem->example_count, error));
    if (!problem->has_kernels)
        MEDLEY_TRY(md_make_bank(&problem->bank, train, options, task, method, error));
    MEDLEY_TRY(find_templates(problem, error));
    MEDLEY_TRY(select_blocks(problem, error));
    MEDLEY_TRY(md_problem_list_candidates(problem, error));
    MEDLEY_TRY(md_problem_check_block_values(problem, error));
    MEDLEY_TRY(md_problem_find_groups(problem, error));
    MEDLEY_TRY(method->kind->know_blocks(problem, error));
    MEDLEY_TRY(check_blocks(problem, error));
    if (task->check_size != NULL)
        MEDLEY_TRY(task->check_size(problem, error));
    if (dev != NULL)
        MEDLEY_TRY(take_dev(problem, error));
    return compute_kernels(problem, error);
}

/* ---- held-out examples ---- */

enum { PARTS = 5 };

void md_division_clear(md_division *division)
{
    free(division->visit);
    free(division->held);
    *division = (md_division){0};
}

medley_status md_division_make(md_division *division, const medley_dataset *train,
                               const md_division_rule *rule, medley_error *error)
{
    const size_t count = rule->sequences ? train->sequence_count : train->rows;
    MD_OWNED(free) size_t *seen = NULL;
    *division = (md_division){0};
    MEDLEY_TRY(md_new(&seen, train->label_names.count + 1, sizeof *seen, error));
    MEDLEY_TRY(md_new(&division->visit, count, sizeof *division->visit, error));
    MEDLEY_TRY(md_new(&division->held, count, sizeof *division->held, error));
    for (size_t e = 0; e < count; e++) {
        const size_t row = rule->sequences ? train->sequence_start[e] : e;
        const size_t label = rule->by_label ? (size_t)train->label[row] : 0;
        if (++seen[label] % PARTS == rule->which % PARTS)
            division->held[division->held_count++] = e;
        else
            division->visit[division->visit_count++] = e;
    }
    return MEDLEY_OK;
}
