/* SPDX-License-Identifier: BSD-3-Clause */
/* The options of a learner that is fed piece by piece: a copy, and which of them have no place. */
#include "learner/partial.h"

#include "base/memory.h"
#include <math.h>
#include <string.h>

/* ---- the copy ---- */

static const void *field(const medley_options *options, const md_param *param)
{
    return (const char *)options + param->offset;
}

static medley_status copy_texts(medley_options *copy, const medley_options *options,
                                medley_error *error)
{
    medley_status status = MEDLEY_OK;
    for (const md_param *p = md_option_table; p->name != NULL && status == MEDLEY_OK; p++) {
        if (p->type == MD_STRING) {
            const char *text = *(char *const *)field(options, p);
            char **target = (char **)((char *)copy + p->offset);
            *target = text != NULL ? md_copy_text(text, strlen(text)) : NULL;
            if (text != NULL && *target == NULL)
                status = md_fail_memory(error, strlen(text));
        }
        char **const list = p->type == MD_LIST ? *(char **const *)field(options, p) : NULL;
        for (size_t i = 0; list != NULL && list[i] != NULL && status == MEDLEY_OK; i++)
            status = md_texts_add((char ***)((char *)copy + p->offset), list[i], error);
    }
    return status;
}

static medley_status copy_options(medley_options **result, const medley_options *options,
                                  medley_error *error)
{
    medley_options *copy = md_copy(options, sizeof *options);
    if (copy == NULL)
        return md_fail_memory(error, sizeof *options);
    for (const md_param *p = md_option_table; p->name != NULL; p++)
        if (p->type == MD_STRING || p->type == MD_LIST)
            memset((char *)copy + p->offset, 0, sizeof(void *)); /* not ours */
    const medley_status status = copy_texts(copy, options, error);
    if (status < 0)
        medley_options_free(copy);
    else
        *result = copy;
    return status;
}

/* ---- what has no place ---- */

static bool same_text(const char *one, const char *other)
{
    return one == other || (one != NULL && other != NULL && strcmp(one, other) == 0);
}

/* Lists count as the same if both are empty. */
static bool same_value(const md_param *p, const medley_options *one, const medley_options *other)
{
    const void *a = field(one, p);
    const void *b = field(other, p);
    const double *x = a;
    const double *y = b;
    switch (p->type) {
    case MD_DOUBLE:
        return *x == *y || (isnan(*x) && isnan(*y));
    case MD_INT:
        return *(const long long *)a == *(const long long *)b;
    case MD_SIZE:
        return *(const size_t *)a == *(const size_t *)b;
    case MD_FLAG:
        return *(const bool *)a == *(const bool *)b;
    case MD_CHOICE:
        return *(const int *)a == *(const int *)b;
    case MD_STRING:
        return same_text(*(char *const *)a, *(char *const *)b);
    default:
        return *(char **const *)a == NULL && *(char **const *)b == NULL;
    }
}

/* Options that are to be left at their defaults, or may be said to be what they are here anyway. */
struct idle {
    const char *name, *fixed; /* NULL: nothing may be said */
    const char *reason;
};

static const char once[] = "every example is learnt from once, when it comes";
static const char rates[] = "its steps have the length eta";
static const char no_strength[] = "its steps do not look at a penalty";
static const char no_certificate[] = "there is no certificate";
static const char no_templates[] = "it has no feature templates";
static const char no_trees[] = "it predicts labels, not trees";

static const struct idle idle_options[] = {
    {"method", "obscure", "it is the first stage of method obscure"},
    {"epochs", NULL, once},
    {"epochs1", "1", once},
    {"epochs2", "0", once},
    {"batch", "1", once},
    {"checkpoint", NULL, "a model can be had at any time"},
    {"resume", NULL, "a model can be had at any time"},
    {"eta0", NULL, rates},
    {"schedule", NULL, rates},
    {"radius", NULL, rates},
    {"average", NULL, "what it has learnt last is what counts"},
    {"average-from", NULL, "what it has learnt last is what counts"},
    {"patience", NULL, "there are no held-out data"},
    {"calibrate", NULL, "there are no held-out data"},
    {"penalty", NULL, no_strength},
    {"lambda", NULL, no_strength},
    {"C", NULL, no_strength},
    {"spicy-C", NULL, no_strength},
    {"gap", NULL, no_certificate},
    {"max-iter", NULL, no_certificate},
    {"storage", NULL, no_certificate},
    {"ridge", NULL, no_certificate},
    {"template", NULL, no_templates},
    {"min-count", NULL, no_templates},
    {"hash-bits", NULL, no_templates},
    {"prox-every", NULL, no_strength},
    {"tags", NULL, no_trees},
    {"roots", NULL, no_trees},
    {"projective", NULL, no_trees},
    {"unlabelled", NULL, no_trees},
};

static medley_status check_idle(const medley_options *options, const medley_options *defaults,
                                const medley_options *fixed, medley_error *error)
{
    for (size_t i = 0; i < sizeof idle_options / sizeof *idle_options; i++) {
        const struct idle *idle = &idle_options[i];
        const md_param *param = md_params_find(md_option_table, idle->name);
        if (same_value(param, options, defaults) ||
            (idle->fixed != NULL && same_value(param, options, fixed)))
            continue;
        return md_fail(error, MEDLEY_USAGE,
                       "--%s has no place in learning piece by piece: %s; leave it out%s%s",
                       idle->name, idle->reason, idle->fixed ? ", or say " : "",
                       idle->fixed ? idle->fixed : "");
    }
    return MEDLEY_OK;
}

static medley_status check_values(const medley_options *options, medley_error *error)
{
    const md_task *task = options->task > 0 ? md_tasks[options->task - 1] : NULL;
    if (task != NULL && (task->about.takes & MD_TAKES_PROBABILITIES) == 0)
        return md_fail(error, MEDLEY_USAGE,
                       "learning piece by piece is for labels, and --task %s has none; use "
                       "medley_fit",
                       task->about.name);
    if (options->normalize == MD_NORM_CENTER)
        return md_fail(error, MEDLEY_USAGE,
                       "--normalize center needs all rows at once; pieces come one by one, so use "
                       "diag or trace");
    return MEDLEY_OK;
}

static medley_status fix_values(medley_options *options, medley_error *error)
{
    medley_status status = MEDLEY_OK;
    for (size_t i = 0; i < sizeof idle_options / sizeof *idle_options && status == MEDLEY_OK; i++)
        if (idle_options[i].fixed != NULL)
            status =
                medley_options_set(options, idle_options[i].name, idle_options[i].fixed, error);
    return status;
}

medley_status md_partial_options(medley_options **result, const medley_options *options,
                                 medley_error *error)
{
    medley_status status = MEDLEY_OK;
    medley_options *defaults = NULL;
    medley_options *copy = NULL;
    MEDLEY_TRY(medley_options_create(&defaults, error));
    MEDLEY_TRY(copy_options(&copy, options != NULL ? options : defaults, error));
    MEDLEY_TRY(fix_values(copy, error));
    if (options != NULL) {
        MEDLEY_TRY(check_idle(options, defaults, copy, error));
        MEDLEY_TRY(check_values(options, error));
    }
    *result = copy;
    copy = NULL;
done:
    medley_options_free(defaults);
    medley_options_free(copy);
    return status;
}
