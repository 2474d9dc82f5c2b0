/* SPDX-License-Identifier: BSD-3-Clause */
/* medley_fit_path: what holds for the paths of all methods. */
#include "fit/fit.h"

#include "online/run.h"
#include "setup/setup.h"

#include "base/struct_size.h"

enum { MOST_POINTS = 10000 }; /* more is a mistake that would take days to show */

static medley_status check_lambdas(const medley_path_options *path, medley_error *error)
{
    if (path->count == 0)
        return md_fail(error, MEDLEY_USAGE, "a path needs a count of lambdas above 0");
    if (path->count > MOST_POINTS)
        return md_fail(error, MEDLEY_USAGE,
                       "a path of %zu lambdas was asked for and at most %d are possible; 20 to 100 "
                       "show its course",
                       path->count, MOST_POINTS);
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
    if (method->fit_path == NULL || !(method->about->takes & MD_TAKES_STRENGTH))
        return md_fail(error, MEDLEY_NOT_SUPPORTED,
                       "`method=%s` has no path: the weights of its kernels do not come from a "
                       "penalty; use `method=spicy` for two labels or numbers, else spom",
                       method->about->name);
    if ((method->about->takes & MD_TAKES_STAGES) && options->epochs2 == 0)
        return md_fail(
            error, MEDLEY_USAGE,
            "the first stage of `method=%s`, which is all that `epochs2=0` leaves, knows "
            "no lambda; give `epochs2` a number above 0",
            method->about->name);
    MEDLEY_TRY(md_check_options(options, NULL, NULL, &along_a_path, error));
    return check_lambdas(path, error);
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

static medley_status join(struct joining *joining, medley_model *model)
{
    MD_OWNED(medley_model_free) medley_model *companion = NULL;
    MEDLEY_TRY(medley_model_read(&companion, joining->bytes, joining->size,
                                 joining->task->companion, joining->error));
    MEDLEY_TRY(joining->task->join(model, companion, joining->error));
    companion = NULL;
    return MEDLEY_OK;
}

static bool join_and_take(void *context, medley_model *model)
{
    struct joining *joining = context;
    joining->status = join(joining, model);
    if (joining->status == MEDLEY_OK)
        return joining->take(joining->context, model);
    medley_model_free(model);
    return false;
}

static void clear_joining(struct joining *joining)
{
    medley_bytes_free(joining->bytes);
}

static medley_status walk(md_problem *problem, const medley_path_options *path,
                          struct joining *joining, medley_error *error)
{
    MD_OWNED(medley_model_free) medley_model *companion = NULL;
    medley_path_taker take = joining->take;
    void *context = joining->context;
    MEDLEY_TRY(md_fit_scout(problem, error));
    MEDLEY_TRY(md_fit_companion(&companion, problem, error));
    if (problem->progress.stopped)
        return MEDLEY_STOPPED;
    if (companion != NULL) {
        MEDLEY_TRY(medley_model_write(&joining->bytes, &joining->size, companion, error));
        take = join_and_take;
        context = joining;
    }
    const medley_status status = problem->method->fit_path(problem, path, take, context, error);
    return joining->status < 0 ? joining->status : status;
}

static medley_status fit_path(md_problem *problem, const medley_dataset *train,
                              const medley_options *options, const medley_path_options *path,
                              const struct joining *taker, const medley_observer *watch,
                              medley_error *error)
{
    const md_method *method = NULL;
    MD_CLEARED(clear_joining) struct joining joining = *taker;
    MEDLEY_TRY(md_method_choose_for_path(&method, options, train, error));
    MEDLEY_TRY(check_path(path, options, method, error));
    MEDLEY_TRY(md_problem_init(problem, train, NULL, options, watch, method, error));
    MEDLEY_TRY(md_run_check(problem, error));
    joining.task = problem->task;
    return walk(problem, path, &joining, error);
}

static medley_status take_options(medley_options **own, const medley_options *options,
                                  medley_error *error)
{
    if (options == NULL)
        MEDLEY_TRY(medley_options_create(own, error));
    else
        MEDLEY_TRY(md_options_copy(own, options, error));
    (*own)->along_path = true;
    return MEDLEY_OK;
}

medley_status medley_fit_path(const medley_dataset *train, const medley_options *options,
                              const medley_path_options *given, medley_path_taker take,
                              void *context, const medley_observer *observer, medley_error *error)
{
    md_begin(error);
    medley_path_options path = MEDLEY_PATH_OPTIONS_INIT;
    medley_observer watch = MEDLEY_OBSERVER_INIT;
    MD_OWNED(medley_options_free) medley_options *own = NULL;
    MD_CLEARED(md_problem_clear) md_problem problem = {0};
    MEDLEY_TRY(MD_TAKE_STRUCT(&path, given, MEDLEY_PATH_OPTIONS_INIT, error));
    MEDLEY_TRY(MD_TAKE_STRUCT(&watch, observer, MEDLEY_OBSERVER_INIT, error));
    MEDLEY_TRY(take_options(&own, options, error));
    const struct joining joining = {.take = take, .context = context, .error = error};
    return fit_path(&problem, train, own, &path, &joining, &watch, error);
}

medley_status md_fit_path_again(md_problem *problem, const medley_dataset *train,
                                const medley_options *options, const medley_path_options *path,
                                medley_path_taker take, void *context,
                                const medley_observer *observer, medley_error *error)
{
    md_begin(error);
    MD_OWNED(medley_options_free) medley_options *own = NULL;
    MEDLEY_TRY(take_options(&own, options, error));
    const struct joining joining = {.take = take, .context = context, .error = error};
    const medley_status status = fit_path(problem, train, own, path, &joining, observer, error);
    if (status == MEDLEY_OK)
        md_problem_keep_kernels(problem);
    else
        md_problem_clear(problem);
    return status;
}
