/* SPDX-License-Identifier: BSD-3-Clause */
/* medley_fit_path: what holds for the paths of all methods. */
#include "fit/fit.h"

#include "base/struct_size.h"
#include "setup/path.h"

#include <math.h>
#include <string.h>

double md_path_lambda(const medley_path_options *path, double largest, size_t step)
{
    if (path->lambda != NULL)
        return path->lambda[step];
    const double share = path->count > 1 ? (double)step / (double)(path->count - 1) : 0;
    return largest * pow(path->ratio, share);
}

static medley_status check_lambdas(const medley_path_options *path, medley_error *error)
{
    if (path->count == 0)
        return md_fail(error, MEDLEY_USAGE, "a path needs a count of lambdas above 0");
    if (path->lambda == NULL && !(path->ratio > 0 && path->ratio < 1))
        return md_fail(
            error, MEDLEY_USAGE,
            "the ratio of a path's last lambda to its first is %g; it must lie between 0 "
            "and 1",
            path->ratio);
    for (size_t i = 0; path->lambda != NULL && i < path->count; i++) {
        if (!(path->lambda[i] > 0 && path->lambda[i] < 1e300))
            return md_fail(error, MEDLEY_USAGE, "lambda %zu of the path is %g; it must be positive",
                           i + 1, path->lambda[i]);
        if (i > 0 && path->lambda[i] > path->lambda[i - 1])
            return md_fail(error, MEDLEY_USAGE,
                           "lambda %zu of the path, %g, is above the one before, %g; give them "
                           "from strong to weak",
                           i + 1, path->lambda[i], path->lambda[i - 1]);
    }
    return MEDLEY_OK;
}

/* Models along a path are neither calibrated nor written down on the way. */
static const md_about along_a_path = {
    .name = "a path", .takes = ~(unsigned)(MD_TAKES_PROBABILITIES | MD_TAKES_CHECKPOINTS)};

static medley_status check_path(const medley_path_options *path, const medley_options *options,
                                const md_method *method, medley_error *error)
{
    if (method->fit_path == NULL)
        return md_fail(error, MEDLEY_NOT_SUPPORTED,
                       "--method %s has no path: the weights of its kernels do not come from a "
                       "penalty; use --method spicy for two labels or numbers, else spom",
                       method->about->name);
    if ((method->about->takes & MD_TAKES_STAGES) && options->epochs2 == 0)
        return md_fail(
            error, MEDLEY_USAGE,
            "the first stage of --method %s, which is all that --epochs2 0 leaves, knows "
            "no lambda; give --epochs2 a number above 0",
            method->about->name);
    const medley_status status = md_check_options(options, NULL, NULL, &along_a_path, error);
    return status == MEDLEY_OK ? check_lambdas(path, error) : status;
}

/* ---- a companion is the same for every model ---- */

struct joining {
    medley_path_taker take;
    void *context;
    const md_task *task;
    void *bytes; /* of the companion, as a file would have it */
    size_t size;
    medley_status status;
    medley_error *error;
};

static bool join_and_take(void *context, medley_model *model)
{
    struct joining *joining = context;
    medley_model *companion = NULL;
    joining->status = medley_model_read(&companion, joining->bytes, joining->size,
                                        joining->task->companion, joining->error);
    if (joining->status == MEDLEY_OK)
        joining->status = joining->task->join(model, companion, joining->error);
    if (joining->status == MEDLEY_OK)
        return joining->take(joining->context, model);
    medley_model_free(companion);
    medley_model_free(model);
    return false;
}

static medley_status walk(md_problem *problem, const medley_path_options *path,
                          struct joining *joining, medley_error *error)
{
    medley_status status = MEDLEY_OK;
    medley_model *companion = NULL;
    medley_path_taker take = joining->take;
    void *context = joining->context;
    MEDLEY_TRY_DONE(md_fit_companion(&companion, problem, error));
    if (problem->progress.stopped) {
        status = MEDLEY_STOPPED;
        goto done;
    }
    if (companion != NULL) {
        MEDLEY_TRY_DONE(medley_model_write(&joining->bytes, &joining->size, companion, error));
        take = join_and_take;
        context = joining;
    }
    status = problem->method->fit_path(problem, path, take, context, error);
    if (joining->status < 0)
        status = joining->status;
done:
    medley_model_free(companion);
    medley_bytes_free(joining->bytes);
    return status;
}

medley_status medley_fit_path(const medley_dataset *train, const medley_options *options,
                              const medley_path_options *given, medley_path_taker take,
                              void *context, const medley_observer *observer, medley_error *error)
{
    md_begin(error);
    medley_path_options path = MEDLEY_PATH_OPTIONS_INIT;
    medley_observer watch = MEDLEY_OBSERVER_INIT;
    medley_status status = MEDLEY_OK;
    medley_options *defaults = NULL;
    md_problem problem = {0};
    MEDLEY_TRY_DONE(MD_TAKE_STRUCT(&path, given, MEDLEY_PATH_OPTIONS_INIT, error));
    MEDLEY_TRY_DONE(MD_TAKE_STRUCT(&watch, observer, MEDLEY_OBSERVER_INIT, error));
    if (options == NULL) {
        MEDLEY_TRY_DONE(medley_options_create(&defaults, error));
        options = defaults;
    }
    const md_method *method = NULL;
    MEDLEY_TRY_DONE(md_method_choose(&method, options, train, NULL, error));
    MEDLEY_TRY_DONE(check_path(&path, options, method, error));
    MEDLEY_TRY_DONE(md_problem_init(&problem, train, NULL, options, &watch, method, error));
    struct joining joining = {
        .take = take, .context = context, .task = problem.task, .error = error};
    status = walk(&problem, &path, &joining, error);
done:
    md_problem_clear(&problem);
    medley_options_free(defaults);
    return status;
}
