/* SPDX-License-Identifier: BSD-3-Clause */
/* Options that would do nothing, or that contradict each other, are a misunderstanding and refused.
 */
#include "setup/setup.h"

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
