/* SPDX-License-Identifier: BSD-3-Clause */
/* Options that would do nothing, or that contradict each other, are a misunderstanding and refused.
 */
#include "setup/setup.h"

medley_status md_problem_check_scales(const md_problem *problem, medley_error *error)
{
    char **list = problem->options->block_scale;
    for (size_t i = 0; list != NULL && list[i] != NULL; i++) {
        const char *equals = strrchr(list[i], '=');
        double scale;
        if (equals == NULL || equals == list[i] || !md_parse_double(equals + 1, &scale) ||
            !(scale > 0 && scale <= 1e6))
            return md_fail(error, MEDLEY_USAGE,
                           "`block-scale='%s'`: write NAME=X with a number X above 0, such as "
                           "U02=2",
                           list[i]);
        bool used = false;
        for (size_t c = 0; c < problem->candidate_count; c++)
            used = used || md_selection_matches(list[i], (size_t)(equals - list[i]),
                                                problem->candidates[c].name,
                                                problem->candidates[c].origin != MD_FROM_KERNEL);
        if (!used)
            return md_fail(error, MEDLEY_USAGE,
                           "`block-scale='%s'`: there is no block of that name; the first is '%s'",
                           list[i], problem->candidates[0].name);
    }
    return MEDLEY_OK;
}

static md_about task_about(size_t i)
{
    return md_tasks[i] != NULL ? md_tasks[i]->about : (md_about){0};
}

static md_about method_about(size_t i)
{
    return md_methods[i] != NULL ? *md_methods[i]->about : (md_about){0};
}

medley_status md_check_options(const medley_options *options, const md_task *task,
                               const md_method *method, const md_about *place, medley_error *error)
{
    const md_party parties[] = {
        {.kind = "task", .list = task_about, .about = task ? task->about : (md_about){0}},
        {.kind = "method", .list = method_about, .about = method ? *method->about : (md_about){0}},
        {.about = place ? *place : (md_about){0}}};
    return md_options_check(options, parties, sizeof parties / sizeof *parties, error);
}

/* Values that contradict others. */
static medley_status check_stages(const medley_options *options, medley_error *error)
{
    if (options->epochs1 + options->epochs2 == 0)
        return md_fail(error, MEDLEY_USAGE,
                       "`epochs1=0` `epochs2=0` learns nothing; one of them must be above 0");
    if (options->epochs1 == 0 && strcmp(options->eta, "auto") != 0)
        return md_fail(error, MEDLEY_USAGE,
                       "`eta` is about the first stage, and `epochs1=0` leaves it out");
    return MEDLEY_OK;
}

medley_status md_problem_check_options(const md_problem *problem, medley_error *error)
{
    const medley_options *options = problem->options;
    const md_method *method = problem->method;
    MEDLEY_TRY(md_check_options(options, problem->task, method, NULL, error));
    if (problem->dev != NULL && (method->about->takes & MD_TAKES_ROUNDS) == 0)
        return md_fail(error, MEDLEY_USAGE,
                       "`dev` is about online learning and has no place in `method=%s`; leave it "
                       "out",
                       method->about->name);
    return (method->about->takes & MD_TAKES_STAGES) != 0 ? check_stages(options, error) : MEDLEY_OK;
}
