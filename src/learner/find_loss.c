/* SPDX-License-Identifier: BSD-3-Clause */
/* By which loss and penalty a task is learnt. */
#include "learner/problem.h"

#include "base/memory.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static medley_status find_margin_loss(md_problem *problem, const char *text, medley_error *error)
{
    medley_status status = MEDLEY_OK;
    md_spec spec = {0};
    MEDLEY_TRY(md_spec_parse(&spec, text, error));
    const md_margin_loss *loss = md_margin_loss_find(spec.name);
    if (loss == NULL && md_loss_find(spec.name) == NULL) {
        status = md_fail_unlisted("loss", "losses", spec.name, error);
        goto done;
    }
    const bool numbers = problem->task->structure == NULL;
    if (loss == NULL || loss->classifies == numbers) {
        status = md_fail(error, MEDLEY_USAGE,
                         "--loss %s has no place in --task %s of --method %s; use %s", spec.name,
                         problem->task->about.name, problem->method->about->name,
                         numbers ? "squared or epsilon" : "hinge or logistic");
        goto done;
    }
    problem->margin_state = md_calloc(1, loss->state_size + 1);
    if (problem->margin_state == NULL) {
        status = md_fail_memory(error, loss->state_size);
        goto done;
    }
    char what[64];
    snprintf(what, sizeof what, "loss %s", loss->name);
    if (loss->params != NULL)
        MEDLEY_TRY(md_params_defaults(loss->params, problem->margin_state, error));
    MEDLEY_TRY(md_params_set_spec(loss->params, problem->margin_state, what, &spec, error));
    problem->margin_loss = loss;
    problem->loss_name = text;
done:
    md_spec_clear(&spec);
    return status;
}

medley_status md_problem_find_loss(md_problem *problem, medley_error *error)
{
    const char *name = problem->options->loss;
    if (strcmp(name, "auto") == 0)
        name = problem->task->defaults.loss ? problem->task->defaults.loss : "hinge";
    if (problem->method->batch)
        return find_margin_loss(problem, name, error);
    problem->loss = md_loss_find(name);
    if (problem->loss != NULL)
        return MEDLEY_OK;
    if (md_margin_loss_find(name) != NULL)
        return md_fail(error, MEDLEY_USAGE,
                       "--loss %s is for numbers: use it with --task regression", name);
    return md_fail_unlisted("loss", "losses", name, error);
}

medley_status md_problem_find_penalty(md_problem *problem, medley_error *error)
{
    const char *name = problem->options->penalty;
    char own[48];
    const md_rule *rule = problem->method->rule;
    if (rule != NULL && rule->penalty != NULL) {
        rule->penalty(own, sizeof own, problem->options);
        name = own;
    }
    if (strcmp(name, "auto") == 0)
        name = problem->method->penalty ? problem->method->penalty
               : problem->method->batch ? "group-lasso"
                                        : "mkl";
    return md_penalty_create(&problem->penalty, name, error);
}

double md_default_C(const md_method *method, const md_task *task)
{
    static const double most = 10; /* as the help of --C tells */
    const double own = method->rule ? method->rule->default_C : 0;
    return own > 0 ? own : task->defaults.C > 0 ? task->defaults.C : most;
}
