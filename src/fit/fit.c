/* SPDX-License-Identifier: BSD-3-Clause */
/* The front door: medley_fit finds the method and runs it; medley_write_kernels stops after the
 * kernels. */
#include "fit/fit.h"

#include "base/parallel.h"
#include "base/struct_size.h"
#include "io/io.h"
#include "online/run.h"

/* The model of the method; one without blocks, which scores nothing, if the observer has stopped
 * before anything was learnt. */
static medley_status fit_problem(medley_model **model, md_problem *problem, medley_error *error)
{
    if (!problem->progress.stopped)
        return problem->method->fit(model, problem, error);
    const md_run_blocks none = {0};
    const md_run_result nothing = {.eta0 = NAN, .objective = NAN, .radius = NAN, .bound = NAN};
    MEDLEY_TRY(md_model_of_blocks(model, problem, &none, &nothing, error));
    return MEDLEY_STOPPED;
}

/* ---- other problems, before this one ---- */

medley_status md_fit_scout(md_problem *problem, medley_error *error)
{
    const md_task *task = problem->task;
    MD_OWNED(medley_options_free) medley_options *options = NULL;
    MD_OWNED(medley_model_free) medley_model *scout = NULL;
    MD_CLEARED(md_problem_clear) md_problem first = {0};
    md_renaming renaming = {.observer = &problem->progress.watch, .to = task->scouting};
    const medley_observer observer = {sizeof observer, .context = &renaming,
                                      .progress = md_rename_stage};
    const md_method *method = NULL;
    if (task->scout == NULL)
        return MEDLEY_OK;
    MEDLEY_TRY(task->scout(&options, problem, error));
    if (options == NULL)
        return MEDLEY_OK;
    medley_options_set_comm(options, problem->options->comm);
    MEDLEY_TRY(md_method_choose(&method, options, problem->train, NULL, error));
    MEDLEY_TRY(md_problem_init(&first, problem->train, NULL, options, &observer, method, error));
    MEDLEY_TRY(fit_problem(&scout, &first, error));
    return problem->progress.stopped ? MEDLEY_OK : task->follow(problem, scout, error);
}

medley_status md_fit_companion(medley_model **companion, md_problem *problem, medley_error *error)
{
    MD_OWNED(medley_dataset_free) medley_dataset *data = NULL;
    MD_OWNED(medley_options_free) medley_options *options = NULL;
    MD_CLEARED(md_problem_clear) md_problem second = {0};
    md_renaming renaming = {.observer = &problem->progress.watch, .to = problem->task->companion};
    const medley_observer observer = {sizeof observer, .context = &renaming,
                                      .progress = md_rename_stage};
    const md_method *method = NULL;
    if (problem->task->derive == NULL)
        return MEDLEY_OK;
    MEDLEY_TRY(problem->task->derive(&data, &options, problem, error));
    if (data == NULL)
        return MEDLEY_OK;
    medley_options_set_comm(options, problem->options->comm);
    if (problem->options->calibrate)
        MEDLEY_TRY(medley_options_set(options, "calibrate", "true", error));
    MEDLEY_TRY(md_method_choose(&method, options, data, NULL, error));
    MEDLEY_TRY(md_problem_init(&second, data, NULL, options, &observer, method, error));
    MEDLEY_TRY(fit_problem(companion, &second, error));
    return MEDLEY_OK; /* stopped: problem->progress.stopped tells, and the model is valid */
}

/* ---- the front door ---- */

/* The companion first: an interrupted run still has it. */
static medley_status fit_with_companion(medley_model **result, md_problem *problem,
                                        medley_error *error)
{
    MD_OWNED(medley_model_free) medley_model *companion = NULL;
    MD_OWNED(medley_model_free) medley_model *model = NULL;
    medley_status stopped;
    MEDLEY_TRY(md_fit_scout(problem, error));
    MEDLEY_TRY(md_fit_companion(&companion, problem, error));
    MEDLEY_TRY(stopped = fit_problem(&model, problem, error));
    if (companion != NULL)
        MEDLEY_TRY(problem->task->join(model, companion, error));
    *result = model;
    companion = model = NULL;
    return stopped;
}

static medley_status fit_all(medley_model **model, md_problem *problem, const medley_dataset *train,
                             const medley_dataset *dev, const medley_options *options,
                             const medley_observer *watch, medley_error *error)
{
    const md_method *method = NULL;
    medley_status stopped;
    MEDLEY_TRY(md_method_choose(&method, options, train, dev, error));
    MEDLEY_TRY(md_problem_init(problem, train, dev, options, watch, method, error));
    MEDLEY_TRY(md_calibrate_check(problem, error));
    MEDLEY_TRY(md_run_check(problem, error));
    MEDLEY_TRY(stopped = fit_with_companion(model, problem, error));
    if (stopped != MEDLEY_OK || !method->kind->batch || !options->calibrate)
        return stopped;
    md_problem_clear(problem); /* the kernel values make room for others */
    return md_calibrate_batch(model, train, options, watch, error);
}

medley_status medley_fit(medley_model **model, const medley_dataset *train,
                         const medley_dataset *dev, const medley_options *options,
                         const medley_observer *observer, medley_error *error)
{
    md_begin(error);
    MD_OWNED(medley_options_free) medley_options *defaults = NULL;
    MD_CLEARED(md_problem_clear) md_problem problem = {0};
    medley_observer watch = MEDLEY_OBSERVER_INIT;
    MEDLEY_TRY(MD_TAKE_STRUCT(&watch, observer, MEDLEY_OBSERVER_INIT, error));
    if (options == NULL) {
        MEDLEY_TRY(medley_options_create(&defaults, error));
        options = defaults;
    }
    return fit_all(model, &problem, train, dev, options, &watch, error);
}

medley_status md_fit_again(medley_model **model, md_problem *problem, const medley_dataset *train,
                           const medley_options *options, const medley_observer *observer,
                           medley_error *error)
{
    md_begin(error);
    const medley_status status = fit_all(model, problem, train, NULL, options, observer, error);
    if (status == MEDLEY_OK)
        md_problem_keep_kernels(problem);
    else
        md_problem_clear(problem);
    return status;
}

/* ---- kernels alone ---- */

/* The values of kernel m. Ranks compute one of the next kernels each, all at the same time, and
 * show them to the others one after the other. */
static medley_status find_values(const md_between *between, size_t m, medley_comm *comm, float *own,
                                 float *values, medley_error *error)
{
    const size_t ranks = medley_comm_size(comm);
    const size_t size = between->left->rows * between->left->rows;
    const size_t owner = m % ranks;
    const size_t mine = m + medley_comm_rank(comm);
    MD_OWNED(free) size_t *offset = NULL;
    if (ranks == 1)
        return md_between_values(between, m, values, error);
    if (owner == 0 && mine < between->bank->count)
        MEDLEY_TRY(md_between_values(between, mine, own, error));
    if (owner == medley_comm_rank(comm))
        memcpy(values, own, size * sizeof *values);
    MEDLEY_TRY(md_new(&offset, ranks + 1, sizeof *offset, error));
    for (size_t r = owner + 1; r <= ranks; r++)
        offset[r] = size;
    return md_comm_gather_spans(comm, values, offset, sizeof *values, error);
}

static medley_status write_values(const md_between *between, const size_t *shape, size_t dimensions,
                                  medley_comm *comm, const char *path, medley_error *error)
{
    const size_t size = between->left->rows * between->left->rows;
    const size_t ranks = medley_comm_size(comm);
    const bool writes = medley_comm_rank(comm) == 0;
    MD_CLEARED(md_output_abandon) md_output output = {0};
    MD_OWNED(free) float *values = NULL;
    MD_OWNED(free) float *own = NULL;
    MEDLEY_TRY(md_new_aligned(&values, size, sizeof *values, error));
    MEDLEY_TRY(md_new_aligned(&own, ranks > 1 ? size : 0, sizeof *own, error));
    if (writes) {
        MEDLEY_TRY(md_output_open(&output, path, error));
        MEDLEY_TRY(md_npy_write_header(&output, shape, dimensions, error));
    }
    for (size_t m = 0; m < between->bank->count; m++) {
        MEDLEY_TRY(find_values(between, m, comm, own, values, error));
        if (writes)
            MEDLEY_TRY(md_output_write(&output, values, size * sizeof *values, error));
    }
    return writes ? md_output_commit(&output, error) : MEDLEY_OK;
}

/* Centred kernels need their means: one pass through a Gram source learns them. */
static medley_status learn_means(md_bank *bank, const md_prepared *prepared, size_t threads,
                                 medley_error *error)
{
    bool centred = false;
    for (size_t m = 0; m < bank->count; m++)
        centred = centred || bank->kernels[m].norm == MD_NORM_CENTER;
    if (!centred)
        return MEDLEY_OK;
    MD_OWNED(md_gram_free) md_gram *gram = NULL;
    const md_gram_options options = {.threads = threads, .memory = md_memory_available() / 2};
    return md_gram_create(&gram, bank, prepared, &options, error);
}

medley_status medley_write_kernels(size_t *count, const medley_dataset *dataset,
                                   const medley_options *options, const char *path,
                                   medley_error *error)
{
    md_begin(error);
    MD_CLEARED(md_bank_clear) md_bank bank = {0};
    MD_CLEARED(md_prepared_clear) md_prepared prepared = {0};
    MD_OWNED(md_texts_free) char **specs = NULL;
    MEDLEY_TRY(md_options_kernels(&specs, options, error));
    const md_bank_options bank_options = {
        .kernels = specs,
        .views = strcmp(options->views, "auto") == 0 ? NULL : options->views,
        .scale = options->scale,
        .usual_scale = MD_SCALE_AUTO,
        .normalize = (md_norm)options->normalize,
        .seed = (uint64_t)options->seed};
    const size_t threads =
        options->threads > 0 ? (size_t)options->threads : md_comm_processors(options->comm);
    MEDLEY_TRY(md_bank_make(&bank, dataset, &bank_options, error));
    for (size_t m = 0; m < bank.count; m++)
        bank.kernels[m].explicit_weights = false; /* the matrix is the same */
    MEDLEY_TRY(md_prepared_make(&prepared, &bank, dataset, true, error));
    MEDLEY_TRY(learn_means(&bank, &prepared, threads, error));
    const md_between between = {
        .bank = &bank, .left = &prepared, .right = &prepared, .threads = threads};
    const size_t shape[3] = {bank.count, prepared.rows, prepared.rows};
    const bool single = bank.count == 1;
    MEDLEY_TRY(write_values(&between, single ? shape + 1 : shape, single ? 2 : 3, options->comm,
                            path, error));
    *count = bank.count;
    return MEDLEY_OK;
}
