/* SPDX-License-Identifier: BSD-3-Clause */
/* Trees as a parser finds them, for what is learnt from trees and used on those of a parser: each
 * half of the sentences is parsed by a small, quick parser that was trained on the other half, so
 * that no sentence is parsed by one that has seen it. */
#include "task/problem.h"

#include "medley/model.h"

/* Both parsers together take a tenth of the time of one by the defaults; on UD English EWT they are
 * right for 85 % of the words, that one for 88 %. More slots do not help relations. */
static medley_status make_options(medley_options **options, const md_problem *problem,
                                  medley_error *error)
{
    char threads[32];
    char seed[32];
    const char *const settings[][2] = {
        {"task", "tree"},  {"template", "built-in:arc-form-upos"},
        {"epochs", "3"},   {"hash-bits", "14"},
        {"loss", "hinge"}, {"unlabelled", "true"},
        {"seed", seed},    {"threads", threads},
    };
    snprintf(threads, sizeof threads, "%zu", problem->threads);
    snprintf(seed, sizeof seed, "%lld", problem->options->seed);
    MEDLEY_TRY(medley_options_create(options, error));
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        MEDLEY_TRY(medley_options_set(*options, settings[i][0], settings[i][1], error));
    if (problem->options->tags != NULL)
        MEDLEY_TRY(medley_options_set(*options, "tags", problem->options->tags, error));
    (*options)->roots = problem->options->roots;
    (*options)->memory = problem->options->memory;
    return MEDLEY_OK;
}

/* Every second sentence, and the rows that these are. */
static medley_status take_half(medley_dataset **half, size_t *rows, const medley_dataset *train,
                               size_t which, medley_error *error)
{
    size_t count = 0;
    for (size_t s = which; s < train->sequence_count; s += 2)
        for (size_t row = train->sequence_start[s]; row < train->sequence_start[s + 1]; row++)
            rows[count++] = row;
    return md_dataset_select(half, train, rows, count, NULL, error);
}

static bool tell(void *context, const medley_progress *progress)
{
    const medley_observer *watch = context;
    medley_progress renamed = *progress;
    renamed.stage = "trees for relations";
    return watch->progress(watch->context, &renamed);
}

medley_status md_find_trees(int32_t *head, const md_problem *problem, medley_error *error)
{
    MD_OWNED(medley_options_free) medley_options *options = NULL;
    MD_OWNED(free) size_t *rows = NULL;
    medley_observer watch = problem->progress.watch;
    const medley_observer observer = {sizeof observer, .context = &watch, .progress = tell};
    MEDLEY_TRY(make_options(&options, problem, error));
    MEDLEY_TRY(md_new(&rows, problem->train->rows, sizeof *rows, error));
    for (size_t which = 0; which < 2; which++) {
        MD_OWNED(medley_dataset_free) medley_dataset *seen = NULL;
        MD_OWNED(medley_dataset_free) medley_dataset *unseen = NULL;
        MD_OWNED(medley_model_free) medley_model *model = NULL;
        MD_OWNED(medley_prediction_free) medley_prediction *found = NULL;
        MEDLEY_TRY(take_half(&seen, rows, problem->train, 1 - which, error));
        MEDLEY_TRY(take_half(&unseen, rows, problem->train, which, error));
        MEDLEY_TRY(medley_fit(&model, seen, NULL, options, &observer, error));
        MEDLEY_TRY(medley_predict(&found, model, unseen, problem->threads, error));
        for (size_t i = 0; i < unseen->rows; i++)
            head[rows[i]] = found->head[i];
    }
    return MEDLEY_OK;
}
