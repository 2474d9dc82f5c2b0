/* SPDX-License-Identifier: BSD-3-Clause */
/* An online run from first rate to final model: choice of eta0, epochs, early stopping on held-out
 * data, averaging. */
#include "online/run.h"

#include "online/gather.h"
#include "penalty/bound.h"

enum { MOST_EPOCHS = 1000000 };     /* that --epochs accepts */
static const double SETTLED = 1e-3; /* relative change of the objective in the last epoch */

struct run {
    md_problem *problem;
    md_online online;
    const md_run_plan *plan;
    const md_run_blocks *blocks;
    md_run_result *result;
    double start;
    md_gather gather;
    md_theta_copy best; /* theta that does best */
    double best_score;  /* its held-out accuracy; or less its objective */
    size_t best_epoch;
    md_checkpoint_keys keys;
    double written, cost; /* when the last checkpoint was written, and how long that took */
    medley_error *error;
};

/* ---- epochs ---- */

/* theta itself, whatever the dual scales, which stay as they are and go to scale[count]. */
static medley_status copy_theta(md_theta_copy *copy, const md_run_blocks *blocks, double *scale,
                                medley_error *error)
{
    for (size_t m = 0; m < blocks->count; m++) {
        scale[m] = blocks->blocks[m]->dual_scale;
        blocks->blocks[m]->dual_scale = 1;
    }
    const medley_status status = md_theta_copy_take(copy, blocks, error);
    for (size_t m = 0; m < blocks->count; m++)
        blocks->blocks[m]->dual_scale = scale[m];
    return status;
}

static medley_status restore_theta(const struct run *run, const md_theta_copy *copy)
{
    return md_theta_copy_restore(copy, run->blocks, run->problem->online->deferred, run->error);
}

/* Builds the model as it would be returned now and lets it predict: what is measured is what the
 * user gets. */
static medley_status dev_accuracy(double *accuracy, const struct run *run)
{
    const md_problem *problem = run->problem;
    MD_OWNED(medley_model_free) medley_model *model = NULL;
    MD_OWNED(medley_prediction_free) medley_prediction *prediction = NULL;
    size_t right = 0;
    MEDLEY_TRY(md_model_of_blocks(&model, problem, run->blocks, run->result, run->error));
    medley_predict_options how = MEDLEY_PREDICT_OPTIONS_INIT;
    how.threads = problem->threads;
    how.device = "cpu"; /* a card is full of kernel values, and its choice is the run's */
    MEDLEY_TRY(medley_predict_with(&prediction, model, problem->dev, &how, run->error));
    const int32_t *predicted = problem->task->outputs(prediction);
    for (size_t r = 0; r < problem->dev->rows; r++)
        right += problem->dev_gold[r] == predicted[r];
    *accuracy = (double)right / (double)problem->dev->rows;
    return MEDLEY_OK;
}

static medley_status keep_if_best(struct run *run, double score, size_t e)
{
    if (!(score > run->best_score))
        return MEDLEY_OK;
    run->best_score = score;
    run->best_epoch = e;
    return md_theta_copy_take(&run->best, run->blocks, run->error);
}

/* Held-out accuracy of what would be returned now: the average of the iterates if that is wanted,
 * else theta. The best so far is kept. */
static medley_status measure_dev(struct run *run, size_t e)
{
    const bool average = run->online.settings.average;
    MD_CLEARED(md_theta_copy_clear) md_theta_copy current = {0};
    MD_OWNED(free) double *scale = NULL;
    double *accuracy = &run->result->epochs[e].dev_accuracy;
    if (average) {
        MEDLEY_TRY(md_new(&scale, run->blocks->count, sizeof *scale, run->error));
        MEDLEY_TRY(copy_theta(&current, run->blocks, scale, run->error));
        MEDLEY_TRY(md_online_take_average(&run->online, run->error));
    }
    MEDLEY_TRY(dev_accuracy(accuracy, run));
    MEDLEY_TRY(keep_if_best(run, *accuracy, e));
    if (average) {
        MEDLEY_TRY(restore_theta(run, &current));
        for (size_t m = 0; m < run->blocks->count; m++)
            run->blocks->blocks[m]->dual_scale = scale[m];
    }
    return MEDLEY_OK;
}

/* May theta be the one to return, although others follow? The average is the last one. */
static bool is_candidate(const md_online *online)
{
    const md_rule *rule = online->settings.rule;
    return rule->is_candidate != NULL && !online->settings.average && rule->is_candidate(online);
}

static medley_status one_epoch(struct run *run, size_t e)
{
    medley_epoch *epoch = &run->result->epochs[e];
    *epoch = (medley_epoch){.dev_accuracy = NAN, .dual = NAN, .gap = NAN};
    run->result->epoch_count = e + 1;
    const size_t updates = run->online.updates;
    MEDLEY_TRY(md_online_epoch(&run->online, e, run->error));
    epoch->updates = run->online.updates - updates;
    epoch->objective = md_online_progress(&run->online, &epoch->loss);
    if (!isfinite(epoch->objective))
        return md_fail(run->error, MEDLEY_FAILED,
                       "training diverged in epoch %zu (the objective is not a number); use a "
                       "smaller `%s`, `normalize=diag` or `scale=standard`",
                       e + 1, run->online.settings.rule->smaller[run->online.stage]);
    if (run->online.settings.rule->measure != NULL) {
        MEDLEY_TRY(run->online.settings.rule->measure(&run->online, &epoch->objective, run->error));
        epoch->gap = run->online.settings.rule->gap(&run->online);
    }
    if (run->problem->dev != NULL) {
        MEDLEY_TRY(measure_dev(run, e));
    } else if (is_candidate(&run->online)) {
        MEDLEY_TRY(md_online_objective(&run->online, &epoch->objective, &epoch->loss, run->error));
        MEDLEY_TRY(keep_if_best(run, -epoch->objective, e));
    }
    epoch->seconds = md_clock_seconds() - run->start;
    return MEDLEY_OK;
}

/* ---- checkpoints ---- */

/* The state of the run. Epochs that do not fit those asked for are not looked at: too many are told
 * of by resume. */
static void walk_run(void *state, md_state_visitor visit, void *context)
{
    struct run *run = state;
    md_run_result *result = run->result;
    uint64_t has_best = run->best.body != NULL;
    visit(context, &result->eta0, sizeof result->eta0);
    visit(context, &result->epoch_count, sizeof result->epoch_count);
    if (result->epoch_count > run->problem->online->epochs)
        return;
    visit(context, result->epochs, result->epoch_count * sizeof *result->epochs);
    md_online_visit_state(&run->online, visit, context);
    visit(context, &run->best_score, sizeof run->best_score);
    visit(context, &run->best_epoch, sizeof run->best_epoch);
    visit(context, &has_best, sizeof has_best);
    if (has_best == 0 ||
        (run->best.body == NULL && md_theta_copy_take(&run->best, run->blocks, run->error) < 0))
        return;
    for (size_t m = 0; m < run->blocks->count; m++) {
        const md_block *block = run->blocks->blocks[m];
        visit(context, run->best.body[m], block->class->body_size(block) * sizeof(float));
    }
}

/* Epochs of the last stage; of rules without stages all of them. */
static size_t last_epochs(const struct run *run)
{
    return run->problem->online->epochs - run->problem->online->first_epochs;
}

/* Is another stage to come? */
static bool has_next_stage(const struct run *run)
{
    return run->online.settings.rule->is_over != NULL && run->online.stage == 0 &&
           last_epochs(run) > 0;
}

/* Epochs of this stage, which is the last. */
static size_t stage_epochs(const struct run *run)
{
    return run->online.stage > 0 ? last_epochs(run) : run->problem->online->epochs;
}

/* Epochs of the run as far as it is known: the first stage may end early. */
static size_t epochs_of(const struct run *run)
{
    return has_next_stage(run) ? run->problem->online->epochs
                               : run->online.stage_began + stage_epochs(run);
}

/* No epoch of this stage was better on held-out data than one long ago. */
static bool has_lost_patience(const struct run *run)
{
    const size_t done = run->result->epoch_count;
    const size_t began = run->online.stage_began;
    const size_t since = run->best_epoch > began ? run->best_epoch : began;
    return run->problem->dev != NULL && done > since &&
           done - 1 - since >= (size_t)run->problem->options->patience;
}

/* After `done` epochs: has the rule nothing left to do in this stage? */
static bool is_over(const struct run *run, size_t done)
{
    const md_rule *rule = run->online.settings.rule;
    return done > 0 && rule->is_over != NULL &&
           rule->is_over(&run->online, run->result->epochs[done - 1].updates == 0);
}

/* To the optimum, as it was asked for? */
static bool is_near(const struct run *run)
{
    const md_rule *rule = run->online.settings.rule;
    return (rule->gap != NULL && rule->gap(&run->online) <= run->online.settings.gap) ||
           (rule->is_settled != NULL && rule->is_settled(&run->online));
}

/* After `done` epochs: has the run ended early? A stage that ends early is followed by the next.
 */
static bool has_ended(const struct run *run, size_t done)
{
    return !has_next_stage(run) &&
           (has_lost_patience(run) || is_over(run, done) || (done > 0 && is_near(run)));
}

/* A run on a part of the examples has none: the file is that of the model. */
static const char *checkpoint_of(const struct run *run)
{
    return run->plan->visit == NULL ? run->problem->options->checkpoint : NULL;
}

/* Not more than a tenth of the time goes into checkpoints. */
static medley_status save_checkpoint(struct run *run)
{
    static const double SHARE = 0.1;
    const char *path = checkpoint_of(run);
    const double now = md_clock_seconds();
    const bool last = run->result->epoch_count == epochs_of(run) ||
                      (has_lost_patience(run) && !has_next_stage(run));
    bool due = last || run->written <= 0 || SHARE * (now - run->written) >= run->cost;
    if (path == NULL)
        return MEDLEY_OK;
    MEDLEY_TRY(md_comm_broadcast(run->problem->options->comm, &due, sizeof due, run->error));
    if (!due)
        return MEDLEY_OK;
    MEDLEY_TRY(md_checkpoint_save_together(path, run->keys.here, walk_run, run,
                                           run->problem->options->comm, run->error));
    run->written = md_clock_seconds();
    run->cost = run->written - now;
    return MEDLEY_OK;
}

/* Does what was read fit together? Stages and epochs say where the run goes on, and how far. */
static bool is_sound(const struct run *run)
{
    const md_online *online = &run->online;
    const size_t done = run->result->epoch_count;
    const bool has_stages = online->settings.rule->is_over != NULL;
    const size_t latest = online->stage == 1 ? run->problem->online->first_epochs : 0;
    return done <= run->problem->online->epochs && online->stage <= has_stages &&
           online->stage_began <= latest && online->stage_began <= done &&
           run->best_epoch <= done && (online->gather == NULL || online->gather->epochs == done);
}

/* *resumed: the state is that of the checkpoint. */
static medley_status resume(struct run *run, bool *resumed)
{
    const medley_options *options = run->problem->options;
    medley_error inner = {0};
    *resumed = false;
    if (checkpoint_of(run) == NULL)
        return MEDLEY_OK;
    MEDLEY_TRY(md_checkpoint_key(&run->keys, run->problem, run->error));
    if (!options->resume)
        return md_checkpoint_check(options->checkpoint, run->error);
    const medley_status status =
        md_checkpoint_load(options->checkpoint, &run->keys, walk_run, run, resumed, &inner);
    if (*resumed && run->result->epoch_count > epochs_of(run) &&
        run->result->epoch_count <= MOST_EPOCHS)
        return md_fail_at(run->error, MEDLEY_USAGE, options->checkpoint, 0,
                          "the checkpoint has seen %zu epochs and `epochs` asks for %zu; ask for "
                          "more, or leave out `resume` to start anew",
                          run->result->epoch_count, epochs_of(run));
    if (status < 0)
        return md_fail_at(run->error, status, inner.file, (size_t)inner.line, "%s", inner.message);
    const md_rule *rule = run->online.settings.rule;
    if (*resumed && (!is_sound(run) || (rule->is_sound != NULL && !rule->is_sound(&run->online))))
        return md_checkpoint_fail_damaged(options->checkpoint, run->error);
    run->online.rate = run->result->eta0;
    return md_comm_check_same(options->comm, &run->result->epoch_count,
                              sizeof run->result->epoch_count, "epochs in its checkpoint",
                              run->error);
}

static bool has_settled(const md_run_result *result)
{
    const size_t last = result->epoch_count;
    if (last < 2)
        return false;
    const double now = result->epochs[last - 1].objective;
    return fabs(result->epochs[last - 2].objective - now) <= SETTLED * fabs(now);
}

/* Before epoch e: the first stage begins, or the next one, which has all of its epochs even if this
 * one has ended early. */
static medley_status choose_stage(struct run *run, size_t e)
{
    const md_problem *problem = run->problem;
    md_online *online = &run->online;
    if (e == 0)
        MEDLEY_TRY(md_online_begin_stage(online, 0, 0, run->error));
    if (has_next_stage(run) &&
        (e >= problem->online->first_epochs || is_over(run, e) || has_lost_patience(run)))
        MEDLEY_TRY(md_online_begin_stage(online, online->stage + 1, e, run->error));
    online->settings.average_from = /* iterates of the last stage only */
        has_next_stage(run) ? SIZE_MAX
                            : online->stage_began + (size_t)(problem->options->average_from *
                                                             (double)stage_epochs(run));
    return MEDLEY_OK;
}

static medley_status run_epochs(struct run *run)
{
    md_run_result *result = run->result;
    run->start = md_clock_seconds();
    size_t e = result->epoch_count;
    result->converged = has_ended(run, e);
    for (; !result->converged; e++) {
        MEDLEY_TRY(choose_stage(run, e));
        if (e >= epochs_of(run)) /* also of a run that had ended before */
            break;
        MEDLEY_TRY(one_epoch(run, e));
        MEDLEY_TRY(save_checkpoint(run));
        const medley_progress progress = {
            .stage = run->plan->stage,
            .done = e + 1,
            .total = epochs_of(run),
            .objective = result->epochs[e].objective,
            .gap = isnan(result->epochs[e].gap) ? 0 : result->epochs[e].gap,
            .dev_accuracy = result->epochs[e].dev_accuracy};
        if (!md_problem_report(run->problem, progress))
            return MEDLEY_STOPPED;
        result->converged = has_ended(run, e + 1);
    }
    if (run->online.settings.rule->gap == NULL) /* else by what it knows */
        result->converged = result->converged || has_settled(result);
    return MEDLEY_OK;
}

/* ---- the run ---- */

/* The blocks hold the weights that are returned; they hold them again afterwards, and what is kept
 * beside them is exact. */
static medley_status find_dual(struct run *run)
{
    MD_CLEARED(md_theta_copy_clear) md_theta_copy weights = {0};
    MEDLEY_TRY(md_theta_copy_take(&weights, run->blocks, run->error));
    MEDLEY_TRY(md_online_bound(&run->online, &run->result->dual, run->error));
    return restore_theta(run, &weights);
}

/* The theta that is returned, and its objective. Scores drift by rounding: those of the last theta
 * are renewed too, unless that takes the processor another pass over kernels that are not kept. A
 * card has learnt by rounded values, and renews by exact ones: what is told of a model, and what is
 * certified, are of the model as it is saved. */
static medley_status finish(struct run *run)
{
    const md_gram *gram = run->problem->online->gram;
    const bool streamed = gram != NULL && md_gram_is_streamed(gram);
    MD_CLEARED(md_theta_copy_clear) md_theta_copy last = {0};
    if (run->online.settings.rule->bound != NULL) {
        const md_bound bound = run->online.settings.rule->bound(&run->online);
        run->result->radius = bound.radius;
        run->result->bound = bound.distance;
    }
    if (run->best.body != NULL) {
        MEDLEY_TRY(restore_theta(run, &run->best));
    } else if (run->online.settings.average && run->online.round > 0) {
        MEDLEY_TRY(md_online_take_average(&run->online, run->error));
    } else if (gram != NULL && md_gram_is_on_card(gram)) {
        MEDLEY_TRY(md_online_renew_all(&run->online, run->error));
        md_online_refresh_norms(&run->online);
    } else if (!streamed && !run->online.settings.by_block) {
        MEDLEY_TRY(md_theta_copy_take(&last, run->blocks, run->error));
        MEDLEY_TRY(restore_theta(run, &last));
    }
    md_online_take_weights(&run->online);
    md_run_result *result = run->result;
    result->certified =
        run->online.gather != NULL && md_penalty_has_conjugate(run->problem->penalty);
    if (result->certified && run->online.settings.rule->distributions != NULL)
        run->online.settings.rule->distributions(&run->online);
    if (result->certified)
        MEDLEY_TRY(find_dual(run));
    double loss;
    MEDLEY_TRY(md_online_objective(&run->online, &result->objective, &loss, run->error));
    md_certify_result(result);
    if (result->certified && run->online.settings.rule->gap != NULL)
        result->converged = result->gap <= run->problem->options->gap;
    result->regret = md_run_regret(&run->online, result);
    if (run->problem->options->structure == NULL) /* whose costs may be of any size */
        result->mistakes = md_run_mistakes(&run->online, result, loss);
    return MEDLEY_OK;
}

/* Theta as it is survives the search, and the average of iterates does not. */
static medley_status try_rates(struct run *run)
{
    const bool keep = run->plan->continues;
    MD_CLEARED(md_theta_copy_clear) md_theta_copy theta = {0};
    medley_status stopped;
    if (keep)
        MEDLEY_TRY(md_theta_copy_take(&theta, run->blocks, run->error));
    MEDLEY_TRY(stopped = md_choose_rate(run->problem, &run->online.problem, &run->online.settings,
                                        &run->result->eta0, run->error));
    if (keep)
        MEDLEY_TRY(restore_theta(run, &theta));
    return stopped;
}

/* Of a run that is to come as near to the optimum as its rounds allow. */
static void cool_down(struct run *run)
{
    md_online *online = &run->online;
    const double first = (double)online->round;
    const double rounds =
        (double)run->problem->online->epochs * (double)online->problem.visit_count;
    online->settings.cool_from = first + (run->plan->continues ? 0 : rounds / 2);
    online->settings.cool_to = first + rounds;
}

/* From theta = 0, or from what the blocks hold. */
static medley_status set_out(struct run *run)
{
    const md_run_plan *plan = run->plan;
    md_online *online = &run->online;
    const bool average = online->settings.average;
    MD_CLEARED(md_theta_copy_clear) md_theta_copy theta = {0};
    if (plan->continues && average) /* iterates before this run do not count */
        MEDLEY_TRY(md_theta_copy_take(&theta, run->blocks, run->error));
    if (!plan->continues || average)
        md_online_restart(online, run->result->eta0);
    if (plan->continues && average)
        MEDLEY_TRY(restore_theta(run, &theta));
    if (plan->continues) {
        online->rate = plan->faster * run->result->eta0;
        online->round = online->skipped = plan->rounds;
        md_online_continue(online, true);
    }
    if (plan->cools)
        cool_down(run);
    return MEDLEY_OK;
}

/* The first rate: as given, of the rule's or the task's own choice, or searched. */
static medley_status find_rate(struct run *run)
{
    double *eta0 = &run->result->eta0;
    const bool open = isnan(*eta0) && (run->problem->method->about->takes & MD_TAKES_RATES);
    const md_rate_rule rule = run->problem->online->rate_rule;
    if (open && rule == MD_RATE_OF_THEORY)
        return md_theory_rate(&run->online, eta0, run->error);
    if (open && rule == MD_RATE_SEARCHED && run->problem->task->defaults.rate != NULL)
        *eta0 = run->problem->task->defaults.rate(run->problem, run->problem->online->loss);
    else if (open)
        return try_rates(run);
    return MEDLEY_OK;
}

static void clear_run(struct run *run)
{
    md_theta_copy_clear(&run->best);
    md_gather_clear(&run->gather);
    md_online_clear(&run->online);
}

static medley_status begin_gathering(struct run *run)
{
    md_online *online = &run->online;
    const bool certifies = run->plan->certifies && run->problem->options->certify;
    if (!certifies || online->gather != NULL)
        return MEDLEY_OK;
    online->gather = &run->gather;
    return md_gather_init(&run->gather, &online->problem, online->settings.batch, online->longest,
                          run->error);
}

medley_status md_run_online(md_problem *problem, const md_run_plan *plan,
                            const md_run_blocks *blocks, md_run_result *result, medley_error *error)
{
    MD_CLEARED(clear_run)
    struct run run = {.problem = problem,
                      .plan = plan,
                      .blocks = blocks,
                      .result = result,
                      .best_score = -INFINITY,
                      .error = error};
    md_online_problem online_problem = md_problem_for_loop(problem, blocks);
    online_problem.visit = plan->visit;
    online_problem.visit_count = plan->visit_count;
    md_online_settings settings = md_problem_settings(problem);
    if (plan->eta0 > 0)
        settings.rates.eta0 = plan->eta0;
    md_run_result_clear(result);
    MEDLEY_TRY(md_online_init(&run.online, &online_problem, &settings, error));
    MEDLEY_TRY(begin_gathering(&run));
    result->eta0 = run.online.rate;
    result->radius = result->bound = NAN;
    MEDLEY_TRY(md_new(&result->epochs, problem->online->epochs, sizeof *result->epochs, error));
    medley_status stopped = MEDLEY_OK;
    bool resumed;
    MEDLEY_TRY(resume(&run, &resumed));
    if (!resumed) /* stopped there: what the last trial has learnt is returned */
        MEDLEY_TRY(stopped = find_rate(&run));
    if (stopped == MEDLEY_OK) {
        if (!resumed)
            MEDLEY_TRY(set_out(&run));
        MEDLEY_TRY(stopped = run_epochs(&run));
    }
    result->iterations = run.online.round - run.online.skipped;
    result->updates = run.online.updates;
    result->left_out = run.online.left_out;
    MEDLEY_TRY(finish(&run));
    return stopped;
}
