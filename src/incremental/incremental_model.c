/* SPDX-License-Identifier: BSD-3-Clause */
/* From what a learner knows to a model: norms computed exactly, dual scales by them, and then the
 * way of all models. */
#include "incremental/incremental.h"

#include "online/dual.h"

/* ---- norms ---- */

void md_support_scores_clear(md_support_scores *support)
{
    free(support->which);
    free(support->scores);
    free(support->values);
}

medley_status md_support_scores_make(md_support_scores *support, medley_learner *learner,
                                     const md_knowledge *known, const md_prepared *rows,
                                     medley_error *error)
{
    md_problem *problem = &learner->problem;
    const size_t size = rows->rows * known->labels.count;
    const md_between between = {.bank = &problem->bank,
                                .left = rows,
                                .right = &learner->support,
                                .threads = problem->threads};
    MD_OWNED(free) md_expansion *terms = NULL;
    MEDLEY_TRY(md_new(&terms, known->count, sizeof *terms, error));
    MEDLEY_TRY(md_new(&support->which, known->count, sizeof *support->which, error));
    MEDLEY_TRY(md_new(&support->scores, known->count, sizeof *support->scores, error));
    for (size_t c = 0; c < known->count; c++) {
        if (!md_candidate_has_rows(problem, c) || !(known->theta[c].norm > 0))
            continue;
        support->which[support->count] = c;
        terms[support->count++] = (md_expansion){.kernel = problem->candidates[c].index,
                                                 .coefficient = known->theta[c].body};
    }
    MEDLEY_TRY(md_new(&support->values, support->count * size, sizeof(float), error));
    for (size_t t = 0; t < support->count; t++)
        support->scores[t] = support->values + t * size;
    if (support->count > 0)
        MEDLEY_TRY(md_between_scores_apart(&between, terms, support->count, known->labels.count,
                                           support->scores, error));
    return MEDLEY_OK;
}

/* ||theta||^2 = sum of body * scores / gain2 */
static double norm_by_scores(const md_theta *theta, const float *scores)
{
    double sum = 0;
    for (size_t i = 0; i < theta->rows * theta->width; i++)
        sum += (double)theta->body[i] * (double)scores[i];
    return sum > 0 ? sqrt(sum / theta->gain2) : 0;
}

/* Of kernels, the support against itself; weights have had theirs computed. */
static medley_status find_norms(double *norm, medley_learner *learner, medley_error *error)
{
    const md_knowledge *known = &learner->known;
    MD_CLEARED(md_support_scores_clear) md_support_scores support = {0};
    MEDLEY_TRY(md_support_scores_make(&support, learner, known, &learner->support, error));
    for (size_t c = 0; c < known->count; c++)
        norm[c] = known->theta[c].norm;
    for (size_t t = 0; t < support.count; t++)
        norm[support.which[t]] = norm_by_scores(&known->theta[support.which[t]], support.scores[t]);
    return MEDLEY_OK;
}

/* ---- the model ---- */

/* The weights that theta is dual to, as coefficients of the support or of features. */
static medley_status scale_theta(md_draft *draft, const medley_learner *learner, const double *norm,
                                 const double *scale, medley_error *error)
{
    for (size_t c = 0; c < learner->known.count; c++) {
        const md_theta *theta = &learner->known.theta[c];
        md_exported *learnt = &draft->exported[c];
        *learnt = (md_exported){.size = theta->rows * theta->width,
                                .weights = !md_candidate_has_rows(&learner->problem, c),
                                .candidate = c,
                                .norm = norm[c] * scale[c]};
        if (!(learnt->norm > 0))
            continue;
        MEDLEY_TRY(md_new(&learnt->values, learnt->size, sizeof *learnt->values, error));
        for (size_t i = 0; i < learnt->size; i++)
            learnt->values[i] = (float)scale[c] * theta->body[i];
    }
    return MEDLEY_OK;
}

/* Mean loss of the examples, each when it was met, and the penalty as it is now. */
static medley_epoch tell_epoch(const medley_learner *learner, const md_draft *draft, double *norm)
{
    const double loss = learner->loss_sum / (double)learner->examples;
    for (size_t c = 0; c < draft->exported_count; c++)
        norm[c] = draft->exported[c].norm;
    return (medley_epoch){.dual = NAN,
                          .gap = NAN,
                          .objective =
                              loss + draft->lambda * md_penalty_value(learner->problem.penalty,
                                                                      norm, draft->exported_count),
                          .loss = loss,
                          .dev_accuracy = NAN,
                          .seconds = learner->seconds,
                          .updates = learner->updates};
}

/* Two labels so far are a task of their own, unless the user has named one. */
static const md_task *task_of(const medley_learner *learner)
{
    const md_task *named = learner->problem.task;
    const size_t labels = learner->known.labels.count;
    if (learner->options->task > 0 || named->by_sequence)
        return named;
    for (size_t i = 0; md_tasks[i] != NULL; i++)
        if (md_tasks[i]->structure == named->structure && md_tasks[i]->least_labels <= labels &&
            labels <= md_tasks[i]->most_labels && md_tasks[i]->one_score == (labels == 2))
            return md_tasks[i];
    return named;
}

static medley_status build(medley_model **model, const medley_learner *learner, md_draft *draft,
                           double *norm, medley_error *error)
{
    medley_epoch epoch = tell_epoch(learner, draft, norm);
    const md_run_result result = {.eta0 = learner->eta,
                                  .objective = epoch.objective,
                                  .radius = NAN,
                                  .bound = NAN,
                                  .epochs = &epoch,
                                  .epoch_count = 1,
                                  .iterations = learner->examples,
                                  .updates = learner->updates};
    MEDLEY_TRY(md_draft_build(model, draft, &result, error));
    for (size_t i = 0; i < (*model)->support_count; i++)
        (*model)->support_row[i] = learner->support_row[(*model)->support_row[i]];
    return MEDLEY_OK;
}

medley_status medley_learner_model(medley_model **model, medley_learner *learner,
                                   medley_error *error)
{
    md_begin(error);
    const size_t count = learner->known.count;
    MD_OWNED(free) double *norm = NULL; /* [count] and, after them, dual scales */
    MD_CLEARED(md_draft_clear)
    md_draft draft = {.problem = &learner->problem,
                      .labels = &learner->known.labels,
                      .prepared = &learner->support,
                      .rows = learner->support.rows,
                      .training_rows = learner->rows,
                      .examples = learner->examples,
                      .lambda = learner->strength / (double)learner->examples,
                      .began = md_clock_seconds() - learner->seconds,
                      .seconds_kernels = learner->seconds_kernels,
                      .exported_count = count};
    if (!learner->begun)
        return md_fail(error, MEDLEY_USAGE,
                       "this learner has seen no examples, so there is no model yet; call "
                       "medley_learner_partial_fit first");
    draft.task = task_of(learner);
    MEDLEY_TRY(md_new(&norm, 2 * count, sizeof *norm, error));
    MEDLEY_TRY(md_new(&draft.exported, count, sizeof *draft.exported, error));
    MEDLEY_TRY(find_norms(norm, learner, error));
    md_dual_scales(norm + count, norm, NULL, count, learner->options->p);
    MEDLEY_TRY(scale_theta(&draft, learner, norm, norm + count, error));
    return build(model, learner, &draft, norm, error);
}
