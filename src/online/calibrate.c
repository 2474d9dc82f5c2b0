/* SPDX-License-Identifier: BSD-3-Clause */
#include "online/run.h"

#include "base/parallel.h"

enum { FEWEST_EXAMPLES = 10 };

/* The third of each five: labels that are held out have two examples or more to learn from. Method
 * best chooses by the fifth ones, so these have had no say in anything. */
enum { HELD = 3 };

md_division_rule md_calibrate_rule(bool sequences)
{
    return (md_division_rule){.sequences = sequences, .by_label = !sequences, .which = HELD};
}

/* ---- what can be calibrated ---- */

/* Of rows that stand alone: something must be known of two labels. */
static medley_status check_labels(const medley_dataset *train, medley_error *error)
{
    MD_CLEARED(md_division_clear) md_division division = {0};
    const md_division_rule rule = md_calibrate_rule(false);
    MEDLEY_TRY(md_division_make(&division, train, &rule, error));
    bool several = false;
    for (size_t h = 1; h < division.held_count; h++)
        several = several || train->label[division.held[h]] != train->label[division.held[0]];
    if (several)
        return MEDLEY_OK;
    return md_fail_at(error, MEDLEY_BAD_INPUT, train->source, 0,
                      "`calibrate` holds out every fifth row of each label and needs at least two "
                      "labels with %d rows or more; give more rows or leave out `calibrate`",
                      HELD);
}

medley_status md_calibrate_check(const md_problem *problem, medley_error *error)
{
    const medley_dataset *train = problem->train;
    if (!problem->options->calibrate)
        return MEDLEY_OK;
    if (problem->method->kind->batch && train->sequence_count > 0)
        return md_fail(error, MEDLEY_NOT_SUPPORTED,
                       "`method=%s` calibrates rows that stand alone, and these data have "
                       "sequences; use `method=spom` or leave out `calibrate`",
                       problem->method->about->name);
    if (problem->example_count < FEWEST_EXAMPLES)
        return md_fail_at(error, MEDLEY_BAD_INPUT, train->source, 0,
                          "`calibrate` holds out a fifth of the %s, and %zu are too few for that; "
                          "give at least %d or leave out `calibrate`",
                          problem->task->by_sequence ? "sequences" : "rows", problem->example_count,
                          FEWEST_EXAMPLES);
    return problem->task->by_sequence ? MEDLEY_OK : check_labels(train, error);
}

/* ---- online methods ---- */

struct held_out {
    const md_problem *problem;
    md_space space;         /* of what the model predicts: trees without crossing arcs, if so */
    md_online_problem loop; /* with the blocks that score */
    const md_division *division;
    float *kept;   /* scores of all parts of all held-out sequences; NULL: they are scored anew */
    size_t *start; /* [held_count] of each in kept */
    size_t opened, window; /* the held-out sequences whose features are there: from, how many */
};

static void clear_held_out(struct held_out *held)
{
    free(held->kept);
    free(held->start);
}

static size_t parts_of_example(const struct held_out *held, md_example example)
{
    return held->space.structure->part_count(md_shape_at(held->space.shape, example.row),
                                             example.length);
}

static md_sequence score_sequence(void *context, size_t i, float *score)
{
    const struct held_out *held = context;
    const md_example example = held->problem->examples[held->division->held[i]];
    if (held->kept == NULL)
        md_online_score(&held->loop, example, score);
    else
        memcpy(score, held->kept + held->start[i], parts_of_example(held, example) * sizeof *score);
    return (md_sequence){
        .row = example.row, .length = example.length, .label = held->problem->gold + example.row};
}

static void keep_scores(void *context, size_t item, size_t worker)
{
    (void)worker;
    struct held_out *held = context;
    const size_t i = held->opened + item;
    md_online_score(&held->loop, held->problem->examples[held->division->held[i]],
                    held->kept + held->start[i]);
}

/* Features of arcs are not all there at once, and hundreds of templates take longer to score a
 * sentence than its marginals do: its scores are kept, which take less room than its features. */
static medley_status keep_all_scores(struct held_out *held, medley_error *error)
{
    const md_division *division = held->division;
    const md_window *window = held->loop.window;
    size_t parts = 0;
    MEDLEY_TRY(md_new(&held->start, division->held_count, sizeof *held->start, error));
    for (size_t i = 0; i < division->held_count; i++) {
        held->start[i] = parts;
        parts += parts_of_example(held, held->problem->examples[division->held[i]]);
    }
    MEDLEY_TRY(md_new(&held->kept, parts, sizeof *held->kept, error));
    for (; held->opened < division->held_count; held->opened += held->window) {
        held->window = division->held_count - held->opened;
        if (window != NULL)
            MEDLEY_TRY(window->open(window->context, division->held + held->opened, held->window, 1,
                                    &held->window, error));
        md_parallel_for(held->problem->threads, held->window, keep_scores, held);
    }
    return MEDLEY_OK;
}

static medley_status fit_sequences(md_calibration *calibration, struct held_out *held,
                                   medley_error *error)
{
    const md_source *source = held->problem->source;
    if (source != NULL && source->class->large_tables)
        MEDLEY_TRY(keep_all_scores(held, error));
    const md_held_sequences sequences = {.space = held->space,
                                         .count = held->division->held_count,
                                         .longest = held->problem->longest,
                                         .scores = score_sequence,
                                         .context = held,
                                         .threads = held->problem->threads};
    return md_temperature_fit(calibration, &sequences, error);
}

static medley_status fit_rows(md_calibration *calibration, const struct held_out *held,
                              medley_error *error)
{
    const md_division *division = held->division;
    const size_t labels = held->problem->space.shape.labels;
    MD_OWNED(free) float *score = NULL;
    MD_OWNED(free) int32_t *label = NULL;
    MEDLEY_TRY(md_new(&score, division->held_count * labels, sizeof *score, error));
    MEDLEY_TRY(md_new(&label, division->held_count, sizeof *label, error));
    for (size_t h = 0; h < division->held_count; h++) {
        const md_example example = held->problem->examples[division->held[h]];
        md_online_score(&held->loop, example, score + h * labels);
        label[h] = held->problem->train->label[example.row];
    }
    const md_held_rows rows = {
        .score = score, .label = label, .rows = division->held_count, .labels = labels};
    return md_calibration_fit(calibration, &rows, error);
}

void md_calibrate_finish(medley_model **model, double start, medley_status status)
{
    if (status < 0) {
        medley_model_free(*model);
        *model = NULL;
        return;
    }
    (*model)->summary.seconds_train += md_clock_seconds() - start;
    (*model)->summary.peak_rss_mb = md_peak_rss_mb();
    md_model_bind_summary(*model);
}

static medley_status calibrate(medley_model *model, md_problem *problem,
                               const md_run_blocks *blocks, double eta0, medley_error *error)
{
    const bool sequences = problem->task->by_sequence;
    const md_division_rule rule = md_calibrate_rule(sequences);
    MD_CLEARED(md_division_clear) md_division division = {0};
    MD_CLEARED(md_run_result_clear) md_run_result result = {0};
    MEDLEY_TRY(md_division_make(&division, problem->train, &rule, error));
    const md_run_plan plan = {.stage = "calibration",
                              .visit = division.visit,
                              .visit_count = division.visit_count,
                              .eta0 = eta0};
    medley_status stopped;
    MEDLEY_TRY(stopped = md_run_online(problem, &plan, blocks, &result, error));
    if (stopped != MEDLEY_OK)
        return stopped;
    MD_CLEARED(clear_held_out)
    struct held_out held = {.problem = problem,
                            .space = problem->space,
                            .loop = md_problem_for_loop(problem, blocks),
                            .division = &division};
    held.space.shape.projective = model->space.shape.projective;
    return sequences ? fit_sequences(&model->calibration, &held, error)
                     : fit_rows(&model->calibration, &held, error);
}

medley_status md_calibrate(medley_model **model, md_problem *problem, const md_run_blocks *blocks,
                           double eta0, medley_error *error)
{
    const double start = md_clock_seconds();
    if (!problem->options->calibrate)
        return MEDLEY_OK;
    const medley_status status = calibrate(*model, problem, blocks, eta0, error);
    md_calibrate_finish(model, start, status);
    return status;
}
