/* SPDX-License-Identifier: BSD-3-Clause */
/* Options that would do nothing, or that contradict each other, are a misunderstanding and refused.
 */
#include "learner/problem.h"

#include <string.h>

medley_status md_problem_check_scales(const md_problem *problem, medley_error *error)
{
    char **list = problem->options->block_scale;
    if (list != NULL && list[0] != NULL && problem->method->needs_kernels)
        return md_fail(error, MEDLEY_USAGE, "--block-scale has no place in --method %s",
                       problem->method->about->name);
    for (size_t i = 0; list != NULL && list[i] != NULL; i++) {
        const char *equals = strrchr(list[i], '=');
        double scale;
        if (equals == NULL || equals == list[i] || !md_parse_double(equals + 1, &scale) ||
            !(scale > 0 && scale <= 1e6))
            return md_fail(error, MEDLEY_USAGE,
                           "--block-scale '%s': write NAME=X with a number X above 0, such as "
                           "U02=2",
                           list[i]);
        bool used = false;
        for (size_t c = 0; c < problem->candidate_count; c++)
            used = used || md_selection_matches(list[i], (size_t)(equals - list[i]),
                                                problem->candidates[c].name,
                                                problem->candidates[c].origin != MD_FROM_KERNEL);
        if (!used)
            return md_fail(error, MEDLEY_USAGE,
                           "--block-scale '%s': there is no block of that name; the first is '%s'",
                           list[i], problem->candidates[0].name);
    }
    return MEDLEY_OK;
}

static medley_status check_mirror_options(const md_problem *problem, medley_error *error)
{
    const medley_options *options = problem->options;
    const md_method *method = problem->method;
    const unsigned takes = method->about->takes;
    const bool stages = takes & MD_TAKES_STAGES;
    if (!(takes & MD_TAKES_RATES) &&
        (strcmp(options->eta0, "auto") != 0 || options->schedule != MD_RATE_AUTO ||
         strcmp(options->radius, "auto") != 0))
        return md_fail(error, MEDLEY_USAGE,
                       "--method %s has its own rates and radius: --eta0, --schedule and --radius "
                       "have no place in it",
                       method->about->name);
    if (!(takes & MD_TAKES_RATES) && options->prox_every > 0)
        return md_fail(error, MEDLEY_USAGE,
                       "--prox-every is about the steps of --method spom and has no place in "
                       "--method %s",
                       method->about->name);
    if (stages && options->epochs > 0)
        return md_fail(error, MEDLEY_USAGE,
                       "--method %s has two stages: say --epochs1 and --epochs2 in place of "
                       "--epochs",
                       method->about->name);
    if (stages && options->epochs1 + options->epochs2 == 0)
        return md_fail(error, MEDLEY_USAGE,
                       "--epochs1 0 --epochs2 0 learns nothing; one of them must be above 0");
    if (stages && options->epochs1 == 0 && strcmp(options->eta, "auto") != 0)
        return md_fail(error, MEDLEY_USAGE,
                       "--eta is about the first stage, and --epochs1 0 leaves it out");
    if (!stages && (strcmp(options->eta, "auto") != 0 || options->epochs1 != MD_DEFAULT_EPOCHS1 ||
                    options->epochs2 != MD_DEFAULT_EPOCHS2))
        return md_fail(error, MEDLEY_USAGE,
                       "--eta, --epochs1 and --epochs2 are about --method obscure and have no "
                       "place in --method %s",
                       method->about->name);
    if (!(takes & MD_TAKES_NORM) && options->p != MD_DEFAULT_P)
        return md_fail(error, MEDLEY_USAGE,
                       "--p is the norm of methods obscure and pegasos and has no place in "
                       "--method %s; --penalty 'squared-block(Q)' is the same for spom",
                       method->about->name);
    return MEDLEY_OK;
}

/* Options that would do nothing are a misunderstanding. */
medley_status md_problem_check_options(const md_problem *problem, medley_error *error)
{
    const medley_options *options = problem->options;
    const char *method = problem->method->about->name;
    if (problem->method->batch && (problem->dev != NULL || md_options_speak_of_online(options)))
        return md_fail(
            error, MEDLEY_USAGE,
            "--dev, --epochs, --eta0, --schedule, --radius, --batch, --prox-every, --average, "
            "--checkpoint and --block-scale are about online learning and have no place "
            "in --method %s",
            method);
    if (!problem->method->batch && (options->gap != 0.01 || options->max_iterations != 500 ||
                                    options->ridge != 0 || options->storage != MD_STORE_SINGLE))
        return md_fail(error, MEDLEY_USAGE,
                       "--gap, --max-iter, --storage and --ridge are for methods with a "
                       "certificate, and --method %s has none; use --method spicy",
                       method);
    const medley_status status = check_mirror_options(problem, error);
    if (status < 0)
        return status;
    const bool trees = (problem->task->about.takes & MD_TAKES_ARCS) != 0;
    if (!trees && (options->tags != NULL || options->roots != MD_ROOTS_ONE || options->projective ||
                   options->unlabelled))
        return md_fail(error, MEDLEY_USAGE,
                       "--tags, --roots, --projective and --unlabelled are about dependency trees; "
                       "give a CoNLL-U file and --task tree");
    if (trees && options->min_count > 1)
        return md_fail(error, MEDLEY_USAGE,
                       "--min-count has no place in --task tree, whose features are hashed; leave "
                       "it out");
    if (!trees && options->template == NULL && (options->min_count > 1 || options->hash_bits > 0))
        return md_fail(error, MEDLEY_USAGE,
                       "--min-count and --hash-bits are about the features of templates; give "
                       "--template too");
    if (!options->average && options->average_from > 0)
        return md_fail(error, MEDLEY_USAGE,
                       "--average-from says where averaging starts; give --average too");
    return MEDLEY_OK;
}
