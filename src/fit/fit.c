/* SPDX-License-Identifier: BSD-3-Clause */
/* The front door: medley_fit finds the method and runs it; medley_write_kernels stops after the
 * kernels. */
#include "fit/fit.h"

#include "base/memory.h"
#include "base/parallel.h"
#include "base/struct_size.h"
#include "io/io.h"
#include "online/calibrate.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Stopped before anything was learnt: a model without blocks, which scores nothing. */
static medley_status build_empty(medley_model **model, md_problem *problem, medley_error *error)
{
    const md_trained nothing = {.eta0 = NAN, .objective = NAN, .radius = NAN, .bound = NAN};
    const medley_status status = md_model_build(model, problem, &nothing, error);
    return status < 0 ? status : MEDLEY_STOPPED;
}

/* ---- a second problem ---- */

medley_status md_fit_companion(medley_model **companion, md_problem *problem, medley_error *error)
{
    medley_status status = MEDLEY_OK;
    medley_dataset *data = NULL;
    medley_options *options = NULL;
    md_problem second = {0};
    md_renaming renaming = {.observer = &problem->progress.watch, .to = problem->task->companion};
    const medley_observer observer = {sizeof observer, .context = &renaming,
                                      .progress = md_rename_stage};
    const md_method *method = NULL;
    if (problem->task->derive == NULL)
        return MEDLEY_OK;
    MEDLEY_TRY_DONE(problem->task->derive(&data, &options, problem, error));
    if (data == NULL)
        goto done;
    MEDLEY_TRY_DONE(md_method_choose(&method, options, data, NULL, error));
    MEDLEY_TRY_DONE(md_problem_init(&second, data, NULL, options, &observer, method, error));
    MEDLEY_TRY_DONE(second.progress.stopped ? build_empty(companion, &second, error)
                                            : method->fit(companion, &second, error));
    status = MEDLEY_OK; /* stopped: problem->progress.stopped tells, and the model is valid */
done:
    md_problem_clear(&second);
    medley_dataset_free(data);
    medley_options_free(options);
    return status;
}

/* ---- the front door ---- */

/* The companion first: an interrupted run still has it. */
static medley_status fit_with_companion(medley_model **model, md_problem *problem,
                                        medley_error *error)
{
    medley_model *companion = NULL;
    medley_status status = md_fit_companion(&companion, problem, error);
    if (status < 0)
        return status;
    status = problem->progress.stopped ? build_empty(model, problem, error)
                                       : problem->method->fit(model, problem, error);
    if (status < 0 || companion == NULL) {
        medley_model_free(companion);
        return status;
    }
    const medley_status joined = problem->task->join(*model, companion, error);
    if (joined == MEDLEY_OK)
        return status;
    medley_model_free(companion);
    medley_model_free(*model);
    *model = NULL;
    return joined;
}

medley_status medley_fit(medley_model **model, const medley_dataset *train,
                         const medley_dataset *dev, const medley_options *options,
                         const medley_observer *observer, medley_error *error)
{
    md_begin(error);
    medley_status status = MEDLEY_OK;
    medley_options *defaults = NULL;
    md_problem problem = {0};
    medley_observer watch = MEDLEY_OBSERVER_INIT;
    MEDLEY_TRY_DONE(MD_TAKE_STRUCT(&watch, observer, MEDLEY_OBSERVER_INIT, error));
    if (options == NULL) {
        MEDLEY_TRY_DONE(medley_options_create(&defaults, error));
        options = defaults;
    }
    const md_method *method = NULL;
    MEDLEY_TRY_DONE(md_method_choose(&method, options, train, dev, error));
    MEDLEY_TRY_DONE(md_problem_init(&problem, train, dev, options, &watch, method, error));
    MEDLEY_TRY_DONE(md_calibrate_check(&problem, error));
    status = fit_with_companion(model, &problem, error);
    if (status == MEDLEY_OK && method->kind->batch) {
        md_problem_clear(&problem); /* the kernel values make room for others */
        status = md_calibrate_batch(model, train, options, &watch, error);
    }
done:
    md_problem_clear(&problem);
    medley_options_free(defaults);
    return status;
}

/* ---- kernels alone ---- */

static medley_status write_values(const md_between *between, const size_t *shape, size_t dimensions,
                                  const char *path, medley_error *error)
{
    medley_status status = MEDLEY_OK;
    const size_t n = between->left->rows;
    md_output output = {0};
    float *values = NULL;
    MEDLEY_TRY_DONE(md_new_aligned(&values, n * n, sizeof *values, error));
    MEDLEY_TRY_DONE(md_output_open(&output, path, error));
    MEDLEY_TRY_DONE(md_npy_write_header(&output, shape, dimensions, error));
    for (size_t m = 0; m < between->bank->count; m++) {
        MEDLEY_TRY_DONE(md_between_values(between, m, values, error));
        MEDLEY_TRY_DONE(md_output_write(&output, values, n * n * sizeof *values, error));
    }
    status = md_output_commit(&output, error);
done:
    md_output_abandon(&output);
    free(values);
    return status;
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
    md_gram *gram = NULL;
    const md_gram_options options = {.threads = threads, .memory = md_memory_available() / 2};
    const medley_status status = md_gram_create(&gram, bank, prepared, &options, error);
    md_gram_free(gram);
    return status;
}

medley_status medley_write_kernels(size_t *count, const medley_dataset *dataset,
                                   const medley_options *options, const char *path,
                                   medley_error *error)
{
    md_begin(error);
    medley_status status = MEDLEY_OK;
    md_bank bank = {0};
    md_prepared prepared = {0};
    char **specs = NULL;
    MEDLEY_TRY_DONE(md_options_kernels(&specs, options, error));
    const md_bank_options bank_options = {
        .kernels = specs,
        .views = strcmp(options->views, "auto") == 0 ? NULL : options->views,
        .scale = options->scale,
        .normalize = (md_norm)options->normalize,
        .seed = (uint64_t)options->seed};
    const size_t threads = options->threads > 0 ? (size_t)options->threads : md_processor_count();
    MEDLEY_TRY_DONE(md_bank_make(&bank, dataset, &bank_options, error));
    for (size_t m = 0; m < bank.count; m++)
        bank.kernels[m].explicit_weights = false; /* the matrix is the same */
    MEDLEY_TRY_DONE(md_prepared_make(&prepared, &bank, dataset, true, error));
    MEDLEY_TRY_DONE(learn_means(&bank, &prepared, threads, error));
    const md_between between = {
        .bank = &bank, .left = &prepared, .right = &prepared, .threads = threads};
    const size_t shape[3] = {bank.count, prepared.rows, prepared.rows};
    const bool single = bank.count == 1;
    MEDLEY_TRY_DONE(
        write_values(&between, single ? shape + 1 : shape, single ? 2 : 3, path, error));
    *count = bank.count;
done:
    md_texts_free(specs);
    md_prepared_clear(&prepared);
    md_bank_clear(&bank);
    return status;
}
