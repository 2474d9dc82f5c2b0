/* SPDX-License-Identifier: BSD-3-Clause */
/* Relations of arcs: the second problem of a parser. Its model is that of a chain over the words of
 * a sentence, whose columns tell of the word, of its head and of what else is near it in the tree
 * (data/tree_columns.h). It is learnt from the right trees, with settings of its own. */
#include "task/problem.h"

#include "data/tree_columns.h"

enum { FEW_WORDS = 5000 }; /* features that occur once matter where there are not more */
enum { DEPREL = 7 };       /* column of CoNLL-U */

static medley_status make_options(medley_options **options, const md_problem *problem,
                                  medley_error *error)
{
    char threads[32];
    char seed[32];
    const char *const settings[][2] = {
        {"task", "chain"},
        {"template", "built-in:relation"},
        {"loss", "hinge"},
        {"penalty", "l2"},
        {"C", "1"},
        {"average", "true"},
        {"min-count", problem->train->rows < FEW_WORDS ? "1" : "2"},
        {"threads", threads},
        {"seed", seed},
    };
    snprintf(threads, sizeof threads, "%zu", problem->threads);
    snprintf(seed, sizeof seed, "%lld", problem->options->seed);
    MEDLEY_TRY(medley_options_create(options, error));
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        MEDLEY_TRY(medley_options_set(*options, settings[i][0], settings[i][1], error));
    return MEDLEY_OK;
}

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
                      "train with `unlabelled`");
}

medley_status md_relations_derive(medley_dataset **data, medley_options **options,
                                  const md_problem *problem, medley_error *error)
{
    const medley_dataset *train = problem->train;
    bool any = false;
    if (!problem->options->unlabelled)
        MEDLEY_TRY(check_relations(train, &any, error));
    if (!any)
        return MEDLEY_OK;
    MEDLEY_TRY(make_options(options, problem, error));
    return md_tree_columns(data, train, train->head, md_arcs_tags(problem->source), error);
}

medley_status md_relations_join(medley_model *model, medley_model *relations, medley_error *error)
{
    MEDLEY_TRY(md_strings_copy(&model->labels, &relations->labels, error));
    model->space.shape.labels = relations->labels.count;
    model->companion = relations;
    return MEDLEY_OK;
}
