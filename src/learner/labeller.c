/* SPDX-License-Identifier: BSD-3-Clause */
/* Relations of arcs: an ordinary chain model over the words of a sentence, whose columns tell of
 * the word, of its head and of what else is near it in the tree. It is learnt from the right trees,
 * with settings of its own. */
#include "learner/problem.h"

#include "data/tree_columns.h"
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static bool forward(void *context, const medley_progress *progress)
{
    md_problem *problem = context;
    medley_progress relations = *progress;
    relations.stage = "relations";
    return problem->watch.progress(problem->watch.context, &relations);
}

enum { FEW_WORDS = 5000 }; /* features that occur once matter where there are not more */

static medley_status make_options(medley_options **options, const md_problem *problem,
                                  medley_error *error)
{
    static const struct {
        const char *name, *value;
    } settings[] = {
        {"task", "chain"}, {"template", "built-in:relation"},
        {"loss", "hinge"}, {"penalty", "l2"},
        {"C", "1"},        {"average", "true"},
    };
    const char *least = problem->train->rows < FEW_WORDS ? "1" : "2";
    char number[32];
    medley_status status = medley_options_create(options, error);
    for (size_t i = 0; i < sizeof settings / sizeof *settings && status == MEDLEY_OK; i++)
        status = medley_options_set(*options, settings[i].name, settings[i].value, error);
    if (status == MEDLEY_OK)
        status = medley_options_set(*options, "min-count", least, error);
    snprintf(number, sizeof number, "%zu", problem->threads);
    if (status == MEDLEY_OK)
        status = medley_options_set(*options, "threads", number, error);
    snprintf(number, sizeof number, "%lld", problem->options->seed);
    if (status == MEDLEY_OK)
        status = medley_options_set(*options, "seed", number, error);
    return status;
}

enum { DEPREL = 7 }; /* column of CoNLL-U */

/* Every word has a relation, or none has; any: there are two or more. */
static medley_status check_relations(const medley_dataset *train, bool *any, medley_error *error)
{
    const int32_t unknown = md_strings_find(&train->token_values[DEPREL], "_", 1);
    size_t first = SIZE_MAX;
    size_t count = 0;
    *any = false;
    for (size_t r = 0; r < train->rows; r++) {
        const int32_t relation = train->token[r * train->token_columns + DEPREL];
        const bool given = relation != unknown;
        count += given;
        *any = *any || relation != train->token[DEPREL];
        if (!given && first == SIZE_MAX)
            first = r;
    }
    if (count == 0 || count == train->rows)
        return MEDLEY_OK;
    return md_fail_at(error, MEDLEY_BAD_INPUT, train->source, train->line ? train->line[first] : 0,
                      "the DEPREL is not given although other words have one; give all of them, or "
                      "train with --unlabelled");
}

medley_status md_labeller_fit(medley_model **labeller, md_problem *problem, medley_error *error)
{
    medley_status status = MEDLEY_OK;
    medley_dataset *derived = NULL;
    medley_options *options = NULL;
    const medley_observer observer = {.context = problem, .progress = forward};
    bool any;
    MEDLEY_TRY(check_relations(problem->train, &any, error));
    if (!any)
        return MEDLEY_OK;
    MEDLEY_TRY(make_options(&options, problem, error));
    MEDLEY_TRY(
        md_tree_columns(&derived, problem->train, problem->train->head, problem->tags, error));
    MEDLEY_TRY(medley_fit(labeller, derived, NULL, options, &observer, error));
    status = MEDLEY_OK; /* stopped: problem->stopped tells, and the model is valid */
done:
    medley_dataset_free(derived);
    medley_options_free(options);
    return status;
}

medley_status md_labeller_join(medley_model *model, medley_model **labeller, medley_error *error)
{
    const md_strings *labels = &(*labeller)->labels;
    for (size_t l = 0; l < labels->count; l++)
        if (md_strings_add(&model->labels, labels->items[l], strlen(labels->items[l])) < 0)
            return md_fail_memory(error, strlen(labels->items[l]));
    model->space.shape.labels = labels->count;
    model->companion = *labeller;
    *labeller = NULL;
    return MEDLEY_OK;
}
