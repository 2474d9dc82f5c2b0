/* SPDX-License-Identifier: BSD-3-Clause */
#include "select/measure.h"

#include "learner/problem.h"
#include "metrics/chunk.h"
#include <math.h>
#include <string.h>

enum { ACCURACY, F1, LOG_LOSS, EXACT_MATCH, RMSE, UAS, LAS, MEASURES };
#define AT(field) offsetof(medley_evaluation, field)
static const md_measure measures[MEASURES] = {
    [ACCURACY] = {"accuracy", true, false, AT(accuracy)},
    [F1] = {"f1", true, false, AT(chunk_f1)},
    [LOG_LOSS] = {"log-loss", false, true, AT(log_loss)},
    [EXACT_MATCH] = {"exact-match", true, false, AT(exact_match)},
    [RMSE] = {"rmse", false, false, AT(rmse)},
    [UAS] = {"uas", true, false, AT(uas)},
    [LAS] = {"las", true, false, AT(las)},
};

/* What there is to be measured. */
struct facts {
    bool numbers, trees, relations, sequences, chunks;
};

static struct facts find_facts(const medley_dataset *dataset, const medley_options *options)
{
    enum { DEPREL = 7 }; /* column of CoNLL-U */
    const md_task *task = md_task_of(options, dataset);
    struct facts facts = {.numbers = task->measures == MD_MEASURES_NUMBERS,
                          .trees = task->measures == MD_MEASURES_TREES,
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
    const bool chunks = evaluation.has_chunks || measure != &measures[F1];
    memcpy(value, (const char *)&evaluation + measure->place, sizeof *value);
    medley_evaluation_clear(&evaluation);
    if (isnan(*value) || !chunks)
        return md_fail(error, MEDLEY_BAD_INPUT, "measure %s is not defined on the held-out part",
                       measure->name);
    return MEDLEY_OK;
}
