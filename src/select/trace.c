/* SPDX-License-Identifier: BSD-3-Clause */
/* A path of penalties to look at: what each model along medley_fit_path tells of itself, and how
 * well it does on held-out data. */
#include "select/measure.h"

MD_OWNER(medley_path_free, medley_path)

struct trace {
    medley_path path;          /* first: what callers see */
    medley_path_point *points; /* [capacity] */
    size_t capacity;
    char **blocks;  /* [path.block_count] */
    char *names[4]; /* task, method, loss, penalty */

    const md_measure *measure; /* NULL: nothing is held out */
    const medley_dataset *held_out;
    size_t threads;
    double began;
    medley_path_taker take; /* the caller's, or NULL */
    void *context;
    medley_status status; /* of what goes on while a model is taken */
    medley_error *error;
};

void medley_path_free(medley_path *path)
{
    struct trace *trace = (struct trace *)path;
    if (path == NULL)
        return;
    for (size_t p = 0; p < path->point_count; p++)
        free((void *)trace->points[p].weights); /* norms follow them */
    for (size_t m = 0; trace->blocks != NULL && m < path->block_count; m++)
        free(trace->blocks[m]);
    for (size_t i = 0; i < sizeof trace->names / sizeof *trace->names; i++)
        free(trace->names[i]);
    free(trace->points);
    free(trace->blocks);
    free(trace);
}

/* What all models of the path have in common, from the first of them. */
static medley_status describe(struct trace *trace, const medley_summary *summary)
{
    const char *const strings[] = {summary->task, summary->method, summary->loss, summary->penalty};
    const size_t blocks = summary->block_count;
    for (size_t i = 0; i < sizeof strings / sizeof *strings; i++) {
        free(trace->names[i]);
        MEDLEY_TRY(md_new_text(&trace->names[i], strings[i], strlen(strings[i]), trace->error));
    }
    trace->path.task = trace->names[0];
    trace->path.method = trace->names[1];
    trace->path.loss = trace->names[2];
    trace->path.penalty = trace->names[3];
    MEDLEY_TRY(md_new(&trace->blocks, blocks, sizeof(char *), trace->error));
    trace->path.blocks = (const char *const *)trace->blocks;
    trace->path.block_count = blocks;
    for (size_t m = 0; m < blocks; m++) {
        const char *name = summary->blocks[m].name;
        MEDLEY_TRY(md_new_text(&trace->blocks[m], name, strlen(name), trace->error));
    }
    return MEDLEY_OK;
}

static medley_status add_point(struct trace *trace, const medley_model *model)
{
    const medley_summary *summary = medley_model_summary(model);
    const size_t blocks = summary->block_count;
    const size_t at = trace->path.point_count;
    double *weights = NULL;
    if (at == 0)
        MEDLEY_TRY(describe(trace, summary));
    MEDLEY_TRY(
        md_grow(&trace->points, &trace->capacity, at + 1, sizeof *trace->points, trace->error));
    MEDLEY_TRY(md_new(&weights, 2 * blocks, sizeof *weights, trace->error));
    for (size_t m = 0; m < blocks; m++) {
        weights[m] = summary->blocks[m].weight;
        weights[blocks + m] = summary->blocks[m].norm;
    }
    medley_path_point *point = &trace->points[at];
    *point = (medley_path_point){.lambda = summary->lambda,
                                 .C = summary->C,
                                 .objective = summary->objective,
                                 .dual = summary->dual,
                                 .gap = summary->gap,
                                 .score = NAN,
                                 .active = summary->active_blocks,
                                 .seconds = md_clock_seconds() - trace->began,
                                 .weights = weights,
                                 .norms = weights + blocks};
    trace->path.points = trace->points;
    trace->path.point_count++;
    return trace->measure == NULL ? MEDLEY_OK
                                  : md_measure_model(&point->score, trace->measure, model,
                                                     trace->held_out, trace->threads, trace->error);
}

static bool note(void *context, medley_model *model)
{
    struct trace *trace = context;
    trace->status = add_point(trace, model);
    if (trace->status == MEDLEY_OK && trace->take != NULL)
        return trace->take(trace->context, model);
    medley_model_free(model);
    return trace->status == MEDLEY_OK;
}

/* Until there is a model the strings are empty. */
static medley_status init_trace(struct trace *trace, medley_error *error)
{
    for (size_t i = 0; i < sizeof trace->names / sizeof *trace->names; i++)
        MEDLEY_TRY(md_new_text(&trace->names[i], "", 0, error));
    trace->path.task = trace->path.method = trace->path.loss = trace->path.penalty =
        trace->names[0];
    return MEDLEY_OK;
}

medley_status medley_trace_path(medley_path **path, const medley_dataset *train,
                                const medley_dataset *held_out, const medley_options *options,
                                const medley_path_options *how, medley_path_taker take,
                                void *context, const medley_observer *observer, medley_error *error)
{
    md_begin(error);
    MD_OWNED(medley_options_free) medley_options *defaults = NULL;
    MD_OWNED(medley_path_free) medley_path *made = NULL;
    struct trace *trace;
    *path = NULL;
    MEDLEY_TRY(md_new(&trace, 1, sizeof *trace, error));
    made = &trace->path;
    if (options == NULL) {
        MEDLEY_TRY(medley_options_create(&defaults, error));
        options = defaults;
    }
    trace->take = take;
    trace->context = context;
    trace->held_out = held_out;
    trace->threads = (size_t)options->threads;
    trace->error = error;
    trace->began = md_clock_seconds();
    MEDLEY_TRY(init_trace(trace, error));
    if (held_out != NULL) {
        MEDLEY_TRY(md_measure_find(&trace->measure, NULL, train, options, error));
        made->measure = trace->measure->name;
        made->higher_is_better = trace->measure->higher_is_better;
    }
    *path = made; /* for take to look at */
    medley_status status = medley_fit_path(train, options, how, note, trace, observer, error);
    if (status >= 0 && trace->status < 0)
        status = trace->status;
    if (status < 0)
        *path = NULL;
    else
        made = NULL;
    return status;
}
