/* SPDX-License-Identifier: BSD-3-Clause */
#include "select/measure.h"

#include "metrics/chunk.h"
#include "setup/setup.h"

/* ---- what data must have to be measured; NULL: they have it ---- */

static const char *without_sequences(const medley_dataset *data, const medley_options *options)
{
    (void)options;
    return data->sequence_count > 0
               ? NULL
               : "it is for sequences, and these rows stand alone; use accuracy";
}

static const char *without_chunks(const medley_dataset *data, const medley_options *options)
{
    (void)options;
    return data->sequence_count > 0 && md_chunk_labels(&data->label_names)
               ? NULL
               : "it is for sequences with labels of chunks such as B-NP, I-NP, O; use accuracy";
}

static const char *without_relations(const medley_dataset *data, const medley_options *options)
{
    enum { DEPREL = 7 }; /* column of CoNLL-U */
    const md_strings *relations = data->token_columns > DEPREL ? &data->token_values[DEPREL] : NULL;
    return relations != NULL && !options->unlabelled &&
                   (relations->count > 1 ||
                    (relations->count == 1 && strcmp(relations->items[0], "_") != 0))
               ? NULL
               : "the trees have no relations, or `unlabelled` leaves them out; use uas";
}

#define AT(field) offsetof(medley_evaluation, field)
static const md_measure measures[] = {
    {"accuracy", true, false, AT(accuracy), NULL},
    {"f1", true, false, AT(chunk_f1), without_chunks},
    {"log-loss", false, true, AT(log_loss), NULL},
    {"exact-match", true, false, AT(exact_match), without_sequences},
    {"rmse", false, false, AT(rmse), NULL},
    {"uas", true, false, AT(uas), NULL},
    {"las", true, false, AT(las), without_relations},
};
enum { MEASURES = sizeof measures / sizeof *measures };

static medley_status fail_task(const char *name, const md_task *task, medley_error *error)
{
    size_t i = 0;
    while (md_tasks[i + 1] != NULL && md_text_index(name, md_tasks[i]->measures) < 0)
        i++;
    MD_CLEARED(md_text_clear) md_text usual = {0};
    for (size_t k = 0; task->measures[k] != NULL; k++)
        md_text_addf(&usual, "%s%s", k > 0 ? ", " : "", task->measures[k]);
    return md_fail(error, MEDLEY_USAGE, "measure %s is for `task=%s`; `task=%s` is judged by %s",
                   name, md_tasks[i]->about.name, task->about.name,
                   usual.data ? usual.data : "others");
}

medley_status md_measure_find(const md_measure **measure, const char *name,
                              const medley_dataset *dataset, const medley_options *options,
                              medley_error *error)
{
    const char *names[MEASURES + 1] = {NULL};
    const md_task *task = md_task_of(options, dataset);
    for (size_t i = 0; i < MEASURES; i++)
        names[i] = measures[i].name;
    if (name != NULL && md_text_index(name, names) < 0)
        return md_fail_unknown("measure", name, names, error);
    if (name != NULL && md_text_index(name, task->measures) < 0)
        return fail_task(name, task, error);
    const char *objection = NULL;
    for (size_t i = 0; task->measures[i] != NULL; i++) { /* the first that suits the data */
        const md_measure *found =
            &measures[md_text_index(name != NULL ? name : task->measures[i], names)];
        objection = found->objection != NULL ? found->objection(dataset, options) : NULL;
        *measure = found;
        if (name != NULL || objection == NULL)
            break;
    }
    return objection == NULL ? MEDLEY_OK
                             : md_fail(error, MEDLEY_USAGE, "measure %s has no place here: %s",
                                       (*measure)->name, objection);
}

medley_status md_measure_model(double *value, const md_measure *measure, const medley_model *model,
                               const medley_dataset *held, size_t threads, medley_error *error)
{
    MD_CLEARED(medley_evaluation_clear) medley_evaluation evaluation = MEDLEY_EVALUATION_INIT;
    medley_evaluate_options options = MEDLEY_EVALUATE_OPTIONS_INIT;
    options.threads = threads;
    options.device = "cpu"; /* whatever else a card does: the table does not depend on it */
    options.probabilities = measure->probabilities;
    MEDLEY_TRY(medley_evaluate_with(&evaluation, model, held, &options, error));
    memcpy(value, (const char *)&evaluation + measure->place, sizeof *value);
    if (isnan(*value))
        return md_fail(error, MEDLEY_BAD_INPUT, "measure %s is not defined on the held-out part",
                       measure->name);
    return MEDLEY_OK;
}
