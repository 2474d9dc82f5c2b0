/* SPDX-License-Identifier: BSD-3-Clause */
/* Which method a run uses: the named one, or the one that suits the data and the other options. */
#include "learner/problem.h"

#include <string.h>

enum { MOST_BATCH_ROWS = 5000 };

static const md_method *find_method(const char *name)
{
    for (size_t i = 0; md_methods[i] != NULL; i++)
        if (strcmp(md_methods[i]->about->name, name) == 0)
            return md_methods[i];
    return NULL;
}

/* Options that only an online method has a use for. */
bool md_options_speak_of_online(const medley_options *o)
{
    return o->epochs > 0 || strcmp(o->eta0, "auto") != 0 || o->schedule != MD_RATE_AUTO ||
           o->average || strcmp(o->radius, "auto") != 0 || o->batch > 0 || o->prox_every > 0 ||
           o->checkpoint != NULL || o->resume || o->block_scale != NULL;
}

/* Is the penalty a sum over kernels that has few of them, or is bounded to? l2 is one too, but as a
 * wish for all kernels it means the online learner where no method is named. */
static bool is_separable(const char *penalty, bool named)
{
    return strcmp(penalty, "auto") == 0 || strncmp(penalty, "group-lasso", 11) == 0 ||
           strncmp(penalty, "elastic(", 8) == 0 || strcmp(penalty, "elastic") == 0 ||
           strncmp(penalty, "block", 5) == 0 || (named && strcmp(penalty, "l2") == 0);
}

/* Can the batch solver do what is asked for? */
static bool suits_batch(const medley_options *options, const medley_dataset *train, bool named)
{
    const char *penalty = options->penalty;
    const bool loss = strcmp(options->loss, "softmax-margin") != 0;
    bool words = train->token_columns > 0;
    for (size_t t = 0; t < train->table_count; t++)
        words = words || md_matrix_is_sparse(&train->tables[t].features);
    for (size_t k = 0; options->kernels != NULL && options->kernels[k] != NULL; k++)
        words = words || strstr(options->kernels[k], "explicit") != NULL;
    return loss && is_separable(penalty, named) && strchr(penalty, '+') == NULL && !words &&
           train->rows <= MOST_BATCH_ROWS;
}

medley_status md_method_choose(const md_method **method, const medley_options *options,
                               const medley_dataset *train, const medley_dataset *dev,
                               medley_error *error)
{
    const char *name = options->method;
    const bool named = strcmp(name, "auto") != 0;
    const md_task *task = md_task_of(options, train);
    const bool batch = task->structure == NULL ||
                       (task->one_score && dev == NULL && !md_options_speak_of_online(options) &&
                        options->template == NULL && suits_batch(options, train, named));
    if (!named)
        name = batch ? "spicy" : "spom";
    *method = find_method(name);
    if (*method == NULL)
        return md_fail_unlisted("method", "methods", name, error);
    if (batch && (*method)->batch_form != NULL)
        *method = (*method)->batch_form;
    return MEDLEY_OK;
}
