/* SPDX-License-Identifier: BSD-3-Clause */
/* Whether a card is used. Option `device` decides: cpu never looks for one; cuda takes it or fails;
 * auto takes it where there is enough to do, and stays with the processor where a card, or what
 * would be asked of it, is not to be had. The choice does not depend on threads or on the
 * processor, so that one machine has one model. */
#include "setup/setup.h"

/* Multiplications for all pairs of rows, from which on starting a card pays: a second of 16 cores
 * or so. */
static const double WORTH_A_CARD = 5e11;
/* Over all values, or what takes as long: a guess of what a solver on whole matrices does. */
static const double PASSES = 10;

static medley_status refuse(md_problem *problem, const medley_error *why, medley_error *error)
{
    if (!md_device_is_auto(problem->options->device))
        return md_fail(error, why->code, "device %s: %s; leave out `device`",
                       problem->options->device, why->message);
    snprintf(problem->device_use.reason, sizeof problem->device_use.reason, "%.*s",
             (int)sizeof problem->device_use.reason - 1, why->message);
    return MEDLEY_OK;
}

/* Opened once for a problem. */
static medley_status open_device(md_problem *problem, medley_error *error)
{
    if (problem->device != NULL)
        return MEDLEY_OK;
    return md_device_open(&problem->device, problem->options->device, problem->device_use.reason,
                          error);
}

/* Why the card that there is cannot be asked, if so. */
static medley_status check(const md_card_wish *wish, const medley_error *refusal, medley_error *why)
{
    if (refusal->code != MEDLEY_OK)
        return md_fail(why, refusal->code, "%s", refusal->message);
    return md_card_check(wish, why);
}

bool md_is_worth_a_card(const md_bank *bank, const bool *wanted, size_t rows,
                        const md_method *method)
{
    const double work = md_card_work(bank, wanted, rows, rows);
    return (method->kind->batch ? PASSES : 1) * work >= WORTH_A_CARD;
}

medley_status md_problem_find_device(const md_device **device, md_problem *problem,
                                     const md_card_wish *wish, const medley_error *refusal,
                                     medley_error *error)
{
    const char *description = problem->options->device;
    medley_error why = {0};
    *device = NULL;
    if (md_device_is_cpu(description) ||
        (md_device_is_auto(description) &&
         !md_is_worth_a_card(wish->bank, wish->wanted, wish->rows->rows, problem->method)))
        return MEDLEY_OK;
    if (medley_comm_size(problem->options->comm) > 1) { /* each would start the card */
        (void)md_fail(&why, MEDLEY_NOT_SUPPORTED, "ranks learn on their processors");
        return refuse(problem, &why, error);
    }
    MEDLEY_TRY(open_device(problem, error));
    if (problem->device == NULL)
        return MEDLEY_OK;
    if (check(wish, refusal, &why) != MEDLEY_OK)
        return refuse(problem, &why, error);
    *device = problem->device;
    return MEDLEY_OK;
}

medley_status md_problem_without_device(md_problem *problem, const medley_error *why,
                                        medley_error *error)
{
    problem->device_use.what[0] = '\0';
    return refuse(problem, why, error);
}

medley_status md_problem_check_device(const md_problem *problem, medley_error *error)
{
    const char *description = problem->options->device;
    if (md_device_is_cpu(description) || md_device_is_auto(description) ||
        problem->device_use.what[0] != '\0' || problem->progress.stopped)
        return MEDLEY_OK;
    return md_fail(error, MEDLEY_USAGE,
                   "device %s: there is nothing for a card to do: templates, linear kernels of few "
                   "columns and constants are learnt as weights; leave out `device`",
                   description);
}

void md_problem_note_device(md_problem *problem, const char *what)
{
    snprintf(problem->device_use.name, sizeof problem->device_use.name, "%s",
             md_device_name(problem->device));
    snprintf(problem->device_use.what, sizeof problem->device_use.what, "%s", what);
}
