/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers of blocks that options give by name: scales of features and weights of norms. */
#include "setup/setup.h"

static const char *const SIZE = "size"; /* as a weight: the square root of the number of features */
static const double LEAST = 1e-6, MOST = 1e6;

/* Does NAME=X name the candidate? */
static bool names(const char *written, const md_candidate *candidate)
{
    const char *equals = strrchr(written, '=');
    return md_selection_matches(written, (size_t)(equals - written), candidate->name,
                                candidate->origin != MD_FROM_KERNEL);
}

/* The value that a list of NAME=X, which was checked, has for a candidate: that of the last name
 * that fits. */
static const char *written_for(char *const *list, const md_candidate *candidate)
{
    const char *value = NULL;
    for (size_t i = 0; list != NULL && list[i] != NULL; i++)
        if (names(list[i], candidate))
            value = strrchr(list[i], '=') + 1;
    return value;
}

double md_block_scale(const md_problem *problem, const md_candidate *candidate)
{
    double scale = 1;
    const char *written = written_for(problem->options->block_scale, candidate);
    if (written != NULL)
        md_parse_double(written, &scale);
    return scale;
}

/* ---- checks ---- */

static medley_status check_value(const char *option, const char *written, bool may_be_size,
                                 medley_error *error)
{
    const char *equals = strrchr(written, '=');
    double value;
    if (equals == NULL || equals == written)
        return md_fail(error, MEDLEY_USAGE,
                       "`%s='%s'`: write NAME=X with a number X above 0, such as U02=2", option,
                       written);
    if (may_be_size && strcmp(equals + 1, SIZE) == 0)
        return MEDLEY_OK;
    if (!md_parse_double(equals + 1, &value) || !(value >= LEAST && value <= MOST))
        return md_fail(error, MEDLEY_USAGE,
                       "`%s='%s'`: in NAME=X, X must be a number from %g to %g%s, not '%s'", option,
                       written, LEAST, MOST, may_be_size ? " or the word size" : "", equals + 1);
    return MEDLEY_OK;
}

/* Some block must have the name, under the penalty where that matters. */
static medley_status check_name(const md_problem *problem, const char *option, const char *written,
                                bool penalised, medley_error *error)
{
    const md_candidate *other = NULL;
    for (size_t c = 0; c < problem->candidate_count; c++) {
        const md_candidate *candidate = &problem->candidates[c];
        if (names(written, candidate) && !(penalised && candidate->own_term))
            return MEDLEY_OK;
        if (names(written, candidate))
            other = candidate;
    }
    if (other != NULL)
        return md_fail(error, MEDLEY_USAGE,
                       "`%s='%s'`: block '%s' has an l2 term of its own and no part in the "
                       "penalty; use `bigram=learned`",
                       option, written, other->name);
    return md_fail(error, MEDLEY_USAGE,
                   "`%s='%s'`: there is no block of that name; the first is '%s'", option, written,
                   problem->candidates[0].name);
}

static medley_status check_list(const md_problem *problem, const char *option, char *const *list,
                                bool weights, medley_error *error)
{
    for (size_t i = 0; list != NULL && list[i] != NULL; i++) {
        MEDLEY_TRY(check_value(option, list[i], weights, error));
        MEDLEY_TRY(check_name(problem, option, list[i], weights, error));
    }
    return MEDLEY_OK;
}

medley_status md_problem_check_block_values(const md_problem *problem, medley_error *error)
{
    const medley_options *options = problem->options;
    if (options->groups != NULL && options->block_weight != NULL &&
        options->block_weight[0] != NULL)
        return md_fail(error, MEDLEY_USAGE,
                       "`groups` has weights of its own and no place for `block-weight`; leave out "
                       "one of them");
    if (options->block_weight != NULL && options->block_weight[0] != NULL &&
        !md_penalty_has_weights(problem->penalty))
        return md_fail(
            error, MEDLEY_USAGE,
            "`block-weight` is about penalties of the norms of blocks, and %s has a term "
            "that is none; use mkl, group-lasso or l2",
            md_penalty_text(problem->penalty));
    MEDLEY_TRY(check_list(problem, "block-scale", options->block_scale, false, error));
    return check_list(problem, "block-weight", options->block_weight, true, error);
}

/* ---- weights ---- */

/* 0: it has no number of features of its own. */
static size_t count_features(const md_problem *problem, const md_candidate *candidate)
{
    if (candidate->origin == MD_FROM_TEMPLATE)
        return problem->source->class->features(problem->source, candidate->index);
    if (candidate->origin == MD_FROM_LABELS)
        return 1;
    const md_kernel *kernel = &problem->bank.kernels[candidate->index];
    if (kernel->class == NULL || !(kernel->class->constant || kernel->class->has_primal_form))
        return 0;
    return kernel->class->constant ? 1 : problem->prepared.views[kernel->view].columns;
}

static medley_status find_weight(double *weight, const md_problem *problem,
                                 const md_candidate *candidate, medley_error *error)
{
    const char *written = written_for(problem->options->block_weight, candidate);
    *weight = 1;
    if (written == NULL)
        return MEDLEY_OK;
    if (strcmp(written, SIZE) != 0) {
        md_parse_double(written, weight);
        return MEDLEY_OK;
    }
    const size_t features = count_features(problem, candidate);
    if (features == 0)
        return md_fail(error, MEDLEY_USAGE,
                       "`block-weight='%s=size'`: the kernel has no features that could be "
                       "counted; give a number, or use linear",
                       candidate->name);
    *weight = sqrt((double)features);
    return MEDLEY_OK;
}

medley_status md_problem_find_weights(md_problem *problem, medley_error *error)
{
    MD_OWNED(free) double *weight = NULL;
    size_t count = 0;
    if (problem->options->block_weight == NULL || problem->options->block_weight[0] == NULL)
        return MEDLEY_OK;
    MEDLEY_TRY(md_new(&weight, problem->candidate_count, sizeof *weight, error));
    for (size_t c = 0; c < problem->candidate_count; c++)
        if (!problem->candidates[c].own_term)
            MEDLEY_TRY(find_weight(&weight[count++], problem, &problem->candidates[c], error));
    return md_penalty_set_weights(problem->penalty, weight, count, error);
}
