/* SPDX-License-Identifier: BSD-3-Clause */
#include "select/measure.h"

#include "learner/problem.h"
#include "metrics/chunk.h"
#include <math.h>
#include <string.h>

static double accuracy_of(const medley_evaluation *e)
{
    return e->accuracy;
}

static double f1_of(const medley_evaluation *e)
{
    return e->has_chunks ? e->chunk_f1 : NAN;
}

static double log_loss_of(const medley_evaluation *e)
{
    return e->log_loss;
}

static double exact_match_of(const medley_evaluation *e)
{
    return e->exact_match;
}

static double rmse_of(const medley_evaluation *e)
{
    return e->rmse;
}

static double uas_of(const medley_evaluation *e)
{
    return e->uas;
}

static double las_of(const medley_evaluation *e)
{
    return e->las;
}

enum { ACCURACY, F1, LOG_LOSS, EXACT_MATCH, RMSE, UAS, LAS, MEASURES };
static const md_measure measures[MEASURES] = {
    [ACCURACY] = {"accuracy", true, false, accuracy_of},
    [F1] = {"f1", true, false, f1_of},
    [LOG_LOSS] = {"log-loss", false, true, log_loss_of},
    [EXACT_MATCH] = {"exact-match", true, false, exact_match_of},
    [RMSE] = {"rmse", false, false, rmse_of},
    [UAS] = {"uas", true, false, uas_of},
    [LAS] = {"las", true, false, las_of},
};

/* What there is to be measured. */
struct facts {
    bool numbers, trees, relations, sequences, chunks;
};

static struct facts find_facts(const medley_dataset *dataset, const medley_options *options)
{
    enum { DEPREL = 7 }; /* column of CoNLL-U */
    const md_task *task = md_task_of(options, dataset);
    struct facts facts = {.numbers = task == &md_task_regression,
                          .trees = task == &md_task_tree,
                          .sequences = dataset->sequence_count > 0};
    facts.chunks = facts.sequences && !facts.trees && md_chunk_labels(&dataset->label_names);
    if (facts.trees && dataset->token_columns > DEPREL) {
        const md_strings *texts = &dataset->token_values[DEPREL];
        facts.relations =
            !options->unlabelled &&
            (texts->count > 1 || (texts->count == 1 && strcmp(texts->items[0], "_") != 0));
    }
    return facts;
}

/* Why a measure cannot be; NULL: it can. */
static const char *objection(int measure, struct facts facts)
{
    if (facts.numbers != (measure == RMSE))
        return facts.numbers ? "numbers are predicted, whose measure is rmse"
                             : "it is for numbers; use --task regression";
    if ((measure == UAS || measure == LAS) && !facts.trees)
        return "it is for dependency trees; use accuracy";
    if (measure == LAS && !facts.relations)
        return "the trees have no relations, or --unlabelled leaves them out; use uas";
    if (measure == LOG_LOSS && facts.trees)
        return "trees have no probabilities; use uas or las";
    if (measure == F1 && !facts.chunks)
        return "it is for sequences with labels of chunks such as B-NP, I-NP, O; use accuracy";
    if (measure == EXACT_MATCH && !facts.sequences)
        return "it is for sequences, and these rows stand alone; use accuracy";
    return NULL;
}

medley_status md_measure_find(const md_measure **measure, const char *name,
                              const medley_dataset *dataset, const medley_options *options,
                              medley_error *error)
{
    const char *names[MEASURES + 1] = {NULL};
    const struct facts facts = find_facts(dataset, options);
    for (int i = 0; i < MEASURES; i++)
        names[i] = measures[i].name;
    int chosen = facts.numbers                    ? RMSE
                 : facts.trees && facts.relations ? LAS
                 : facts.trees                    ? UAS
                 : facts.chunks                   ? F1
                                                  : ACCURACY;
    if (name != NULL)
        chosen = md_text_index(name, names);
    if (chosen < 0)
        return md_fail_unknown("measure", name, names, error);
    const char *problem = objection(chosen, facts);
    if (problem != NULL)
        return md_fail(error, MEDLEY_USAGE, "measure %s has no place here: %s", name, problem);
    *measure = &measures[chosen];
    return MEDLEY_OK;
}

medley_status md_measure_model(double *value, const md_measure *measure, const medley_model *model,
                               const medley_dataset *held, size_t threads, medley_error *error)
{
    medley_evaluation evaluation = {0};
    medley_evaluate_options options = MEDLEY_EVALUATE_OPTIONS_INIT;
    options.threads = threads;
    options.probabilities = measure->probabilities;
    const medley_status status = medley_evaluate_with(&evaluation, model, held, &options, error);
    if (status < 0)
        return status;
    *value = measure->of(&evaluation);
    medley_evaluation_clear(&evaluation);
    if (isnan(*value))
        return md_fail(error, MEDLEY_BAD_INPUT, "measure %s is not defined on the held-out part",
                       measure->name);
    return MEDLEY_OK;
}
