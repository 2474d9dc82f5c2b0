/* SPDX-License-Identifier: BSD-3-Clause */
/* An online run from first rate to final model: choice of eta0, epochs, early stopping on held-out
 * data, averaging. */
#include "learner/checkpoint.h"
#include "learner/theta_copy.h"

#include "base/clock.h"
#include "base/memory.h"
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

enum { MOST_EPOCHS = 1000000 };     /* that --epochs accepts */
static const double SETTLED = 1e-3; /* relative change of the objective in the last epoch */

struct run {
    md_problem *problem;
    md_online online;
    md_trained *trained;
    const char *stage;
    double start;
    float **best; /* [block_count] theta with the best held-out accuracy, NULL: none yet */
    double best_accuracy;
    size_t best_epoch;
    uint64_t key;         /* of the checkpoint */
    double written, cost; /* when the last checkpoint was written, and how long that took */
    medley_error *error;
};

/* ---- epochs ---- */

/* theta itself, whatever the links, which stay as they are. */
static medley_status copy_unlinked(float ***copy, const md_trained *trained, double *link,
                                   medley_error *error)
{
    for (size_t m = 0; m < trained->block_count; m++) {
        link[m] = trained->blocks[m]->link;
        trained->blocks[m]->link = 1;
    }
    const medley_status status = md_theta_copy(copy, trained, error);
    for (size_t m = 0; m < trained->block_count; m++)
        trained->blocks[m]->link = link[m];
    return status;
}

static void put_links_back(md_trained *trained, const double *link)
{
    for (size_t m = 0; m < trained->block_count; m++)
        trained->blocks[m]->link = link[m];
}

/* Held-out accuracy of what would be returned now: the average of the iterates if that is wanted,
 * else theta. The best so far is kept. */
static medley_status measure_dev(struct run *run, size_t e)
{
    medley_status status = MEDLEY_OK;
    const bool average = run->online.settings.average;
    float **current = NULL;
    double *link = NULL;
    double *accuracy = &run->trained->epochs[e].dev_accuracy;
    if (average) {
        link = md_calloc(run->trained->block_count, sizeof *link);
        if (link == NULL)
            return md_fail_memory(run->error, run->trained->block_count * sizeof *link);
        MEDLEY_TRY(copy_unlinked(&current, run->trained, link, run->error));
        MEDLEY_TRY(md_online_take_average(&run->online, run->error));
    }
    MEDLEY_TRY(md_problem_dev_accuracy(accuracy, run->problem, run->trained, run->error));
    if (*accuracy > run->best_accuracy) {
        run->best_accuracy = *accuracy;
        run->best_epoch = e;
        MEDLEY_TRY(md_theta_copy(&run->best, run->trained, run->error));
    }
    if (average) {
        MEDLEY_TRY(md_theta_restore(run->trained, current, run->problem->ledger, run->error));
        put_links_back(run->trained, link);
    }
done:
    md_theta_free(current, run->trained->block_count);
    free(link);
    return status;
}

static medley_status one_epoch(struct run *run, size_t e)
{
    medley_status status = MEDLEY_OK;
    medley_epoch *epoch = &run->trained->epochs[e];
    *epoch = (medley_epoch){.dev_accuracy = NAN};
    run->trained->epoch_count = e + 1;
    const size_t updates = run->online.updates;
    MEDLEY_TRY(md_online_epoch(&run->online, e, run->error));
    epoch->updates = run->online.updates - updates;
    epoch->objective = md_online_progress(&run->online, &epoch->loss);
    if (!isfinite(epoch->objective))
        return md_fail(run->error, MEDLEY_FAILED,
                       "training diverged in epoch %zu (the objective is not a number); use a "
                       "smaller --%s, --normalize diag or --scale standard",
                       e + 1,
                       run->problem->method->rule == MD_RULE_PROX ? "eta0"
                       : run->online.mirror.descends              ? "C"
                                                                  : "eta");
    if (run->problem->dev != NULL)
        MEDLEY_TRY(measure_dev(run, e));
    epoch->seconds = md_clock_seconds() - run->start;
done:
    return status;
}

/* ---- checkpoints ---- */

/* The state of the run. Epochs that do not fit those asked for are not looked at: too many are told
 * of by resume. */
static void walk_run(void *state, md_state_visitor visit, void *context)
{
    struct run *run = state;
    md_trained *trained = run->trained;
    uint64_t has_best = run->best != NULL;
    visit(context, &trained->eta0, sizeof trained->eta0);
    visit(context, &trained->epoch_count, sizeof trained->epoch_count);
    if (trained->epoch_count > run->problem->epochs)
        return;
    visit(context, trained->epochs, trained->epoch_count * sizeof *trained->epochs);
    md_online_visit_state(&run->online, visit, context);
    visit(context, &run->best_accuracy, sizeof run->best_accuracy);
    visit(context, &run->best_epoch, sizeof run->best_epoch);
    visit(context, &has_best, sizeof has_best);
    if (has_best == 0 || (run->best == NULL && md_theta_copy(&run->best, trained, run->error) < 0))
        return;
    for (size_t m = 0; m < trained->block_count; m++)
        visit(context, run->best[m],
              trained->blocks[m]->class->body_size(trained->blocks[m]) * sizeof(float));
}

/* Epochs of the batch stage; of methods without stages all of them. */
static size_t second_epochs(const struct run *run)
{
    return run->problem->epochs - run->problem->first_epochs;
}

/* Epochs of the run as far as it is known: the online stage may end early. */
static size_t epochs_of(const struct run *run)
{
    const md_mirror *mirror = &run->online.mirror;
    return mirror->descends ? mirror->began + second_epochs(run) : run->problem->epochs;
}

/* No epoch of this stage was better on held-out data than one long ago. */
static bool has_lost_patience(const struct run *run)
{
    const size_t done = run->trained->epoch_count;
    const size_t began = run->online.mirror.descends ? run->online.mirror.began : 0;
    const size_t since = run->best_epoch > began ? run->best_epoch : began;
    return run->problem->dev != NULL && done > since &&
           done - 1 - since >= (size_t)run->problem->options->patience;
}

/* The online stage is followed by the other one all the same. */
static bool is_out_of_patience(const struct run *run)
{
    const bool first = run->problem->method->two_stages && !run->online.mirror.descends;
    return has_lost_patience(run) && (!first || second_epochs(run) == 0);
}

/* Not more than a tenth of the time goes into checkpoints. */
static medley_status save_checkpoint(struct run *run)
{
    static const double SHARE = 0.1;
    const char *path = run->problem->options->checkpoint;
    const double now = md_clock_seconds();
    const bool last = run->trained->epoch_count == epochs_of(run) || is_out_of_patience(run);
    if (path == NULL || (!last && run->written > 0 && SHARE * (now - run->written) < run->cost))
        return MEDLEY_OK;
    const medley_status status = md_checkpoint_save(path, run->key, walk_run, run, run->error);
    run->written = md_clock_seconds();
    run->cost = run->written - now;
    return status;
}

/* *resumed: the state is that of the checkpoint. */
static medley_status resume(struct run *run, bool *resumed)
{
    const medley_options *options = run->problem->options;
    medley_error inner = {0};
    *resumed = false;
    if (options->checkpoint == NULL)
        return MEDLEY_OK;
    run->key = md_checkpoint_key(run->problem);
    if (!options->resume)
        return MEDLEY_OK;
    const medley_status status =
        md_checkpoint_load(options->checkpoint, run->key, walk_run, run, resumed, &inner);
    if (*resumed && run->trained->epoch_count > epochs_of(run) &&
        run->trained->epoch_count <= MOST_EPOCHS)
        return md_fail_at(run->error, MEDLEY_USAGE, options->checkpoint, 0,
                          "the checkpoint has seen %zu epochs and --epochs asks for %zu; ask for "
                          "more, or leave out --resume to start anew",
                          run->trained->epoch_count, epochs_of(run));
    if (status < 0)
        return md_fail_at(run->error, status, inner.file, (size_t)inner.line, "%s", inner.message);
    run->online.settings.eta0 = run->trained->eta0;
    return MEDLEY_OK;
}

static bool has_settled(const md_trained *trained)
{
    const size_t last = trained->epoch_count;
    if (last < 2)
        return false;
    const double now = trained->epochs[last - 1].objective;
    return fabs(trained->epochs[last - 2].objective - now) <= SETTLED * fabs(now);
}

/* Before epoch e: from the mirror rule's online stage, once it has had its epochs or nothing is
 * left for it to do, to the batch stage, which has all of its epochs even so. *epochs: of the run.
 */
static medley_status choose_stage(struct run *run, size_t e, size_t *epochs)
{
    const md_problem *problem = run->problem;
    const md_trained *trained = run->trained;
    md_mirror *mirror = &run->online.mirror;
    const size_t second = second_epochs(run);
    if (problem->method->rule != MD_RULE_MIRROR || second == 0)
        return MEDLEY_OK;
    const bool idle = e > 0 && trained->epochs[e - 1].updates == 0;
    if (!mirror->descends && (e >= problem->first_epochs || idle || has_lost_patience(run))) {
        const medley_status status =
            md_mirror_descend(&run->online, problem->method->two_stages, run->error);
        if (status < 0)
            return status;
        mirror->began = e;
        if (run->trained->continues)
            md_mirror_skip(&run->online, (double)run->trained->rounds);
    }
    *epochs = epochs_of(run);
    run->online.settings.average_from = /* iterates of the batch stage only */
        mirror->descends ? mirror->began + (size_t)(problem->options->average_from * (double)second)
                         : SIZE_MAX;
    return MEDLEY_OK;
}

/* The first stage alone is done when nothing is left to update. */
static bool is_learnt(const struct run *run, size_t e)
{
    const md_problem *problem = run->problem;
    return problem->method->two_stages && problem->epochs == problem->first_epochs &&
           run->trained->epochs[e].updates == 0;
}

static medley_status run_epochs(struct run *run)
{
    size_t epochs = run->problem->epochs;
    md_trained *trained = run->trained;
    run->start = md_clock_seconds();
    size_t e = trained->epoch_count;
    trained->converged = is_out_of_patience(run) || (e > 0 && is_learnt(run, e - 1));
    for (; !trained->converged; e++) {
        medley_status status = choose_stage(run, e, &epochs);
        if (status == MEDLEY_OK && e >= epochs) /* also of a run that had ended before */
            break;
        if (status == MEDLEY_OK)
            status = one_epoch(run, e);
        if (status == MEDLEY_OK)
            status = save_checkpoint(run);
        if (status < 0)
            return status;
        const medley_epoch *epoch = &trained->epochs[e];
        if (!md_problem_report(run->problem, run->stage, e + 1, epochs, epoch->objective,
                               epoch->dev_accuracy))
            return MEDLEY_STOPPED;
        trained->converged = is_out_of_patience(run) || is_learnt(run, e);
    }
    trained->converged = trained->converged || has_settled(trained);
    return MEDLEY_OK;
}

/* ---- the run ---- */

/* Radius of the projection: as given, or of a ball that contains the optimum. None where the norms
 * of blocks are not followed (l1): the ball is a safeguard only. */
static double choose_radius(const md_problem *problem, const md_online_problem *online_problem)
{
    if (!isnan(problem->radius))
        return problem->radius;
    if (md_penalty_inner_threshold(problem->penalty) > 0 && md_penalty_is_uniform(problem->penalty))
        return INFINITY;
    double at_zero = 0;
    for (size_t e = 0; e < problem->example_count; e++)
        at_zero += problem->loss->at_zero(problem->space, problem->examples[e].length);
    return md_online_radius(online_problem, problem->lambda,
                            at_zero / (double)problem->example_count);
}

/* The score caches of kernels are happy with large first steps (the paper's rate); where there are
 * sparse features, of which some are seen for the first time late, the rate must not fall so soon.
 */
static md_schedule choose_schedule(const md_problem *problem)
{
    if (problem->options->schedule != MD_RATE_AUTO)
        return (md_schedule)problem->options->schedule;
    return md_problem_is_explicit(problem) ? MD_RATE_EPOCH : MD_RATE_SQRT;
}

static void tell_of_mirror(struct run *run)
{
    static const double DELTA = 0.05; /* of theorem 1 */
    md_trained *trained = run->trained;
    const bool descends = run->online.mirror.descends;
    trained->radius = descends ? run->online.mirror.radius : NAN;
    trained->bound =
        descends
            ? md_mirror_bound(&run->online, md_mirror_largest(&run->online.problem).example, DELTA)
            : (double)NAN;
}

/* The theta that is returned, and its objective. Scores drift by rounding: those of the last theta
 * are renewed too, unless that takes another pass over kernels that are not kept. */
static medley_status finish(struct run *run)
{
    medley_status status = MEDLEY_OK;
    const bool streamed = run->problem->gram != NULL && md_gram_is_streamed(run->problem->gram);
    float **last = NULL;
    if (run->problem->method->rule == MD_RULE_MIRROR)
        tell_of_mirror(run);
    if (run->best != NULL) {
        MEDLEY_TRY(md_theta_restore(run->trained, run->best, run->problem->ledger, run->error));
    } else if (run->online.settings.average && run->online.round > 0) {
        MEDLEY_TRY(md_online_take_average(&run->online, run->error));
    } else if (!streamed && !run->problem->trees) { /* whose scores are not kept */
        MEDLEY_TRY(md_theta_copy(&last, run->trained, run->error));
        MEDLEY_TRY(md_theta_restore(run->trained, last, run->problem->ledger, run->error));
    }
    md_online_take_links(&run->online);
    MEDLEY_TRY(md_online_objective(&run->online, &run->trained->objective, NULL, run->error));
done:
    md_theta_free(last, run->trained->block_count);
    return status;
}

md_online_problem md_problem_for_loop(const md_problem *problem, md_block **blocks,
                                      size_t block_count, size_t penalised)
{
    return (md_online_problem){.blocks = blocks,
                               .block_count = block_count,
                               .penalised = penalised,
                               .gram = problem->gram,
                               .ledger = problem->ledger,
                               .window = problem->window.open ? &problem->window : NULL,
                               .space = problem->space,
                               .loss = problem->loss,
                               .penalty = problem->penalty,
                               .examples = problem->examples,
                               .example_count = problem->example_count,
                               .gold = problem->gold};
}

/* Rounds before a prox. There are hundreds of templates for trees, and each of them gets some step
 * in every round: only the end of an epoch tells those that nothing needs from the others. */
static size_t choose_prox_every(const md_problem *problem)
{
    const size_t given = (size_t)problem->options->prox_every;
    return given > 0 ? given : problem->trees ? SIZE_MAX : 1;
}

md_online_settings md_problem_settings(const md_problem *problem, const md_online_problem *loop)
{
    const medley_options *options = problem->options;
    const bool mirror = problem->method->rule == MD_RULE_MIRROR;
    return (md_online_settings){
        .rule = problem->method->rule,
        .p = options->p,
        .eta = isnan(problem->eta) && mirror ? md_mirror_eta(loop) : problem->eta,
        .lambda = problem->lambda,
        .eta0 = problem->eta0,
        .schedule = choose_schedule(problem),
        .average = options->average,
        .average_from = (size_t)(options->average_from * (double)problem->epochs),
        .radius = choose_radius(problem, loop),
        .batch = md_problem_batch(problem),
        .prox_every = choose_prox_every(problem),
        .learnt = MD_LEARNT,
        .by_block = problem->trees, /* whose tables are large, and hardly stay in the cache */
        .least_part = problem->trees ? MD_LEARNT : 0, /* a word has dozens of unlikely heads */
        .seed = (uint64_t)options->seed,
        .threads = problem->threads};
}

/* Theta as it is survives the search, and the average of iterates does not. */
static medley_status try_rates(struct run *run, bool keep)
{
    medley_status status = MEDLEY_OK;
    medley_status stopped = MEDLEY_OK;
    md_trained *trained = run->trained;
    float **theta = NULL;
    if (keep)
        MEDLEY_TRY(md_theta_copy(&theta, trained, run->error));
    MEDLEY_TRY(stopped = md_choose_rate(run->problem, &run->online.problem, &run->online.settings,
                                        &trained->eta0, run->error));
    if (keep)
        MEDLEY_TRY(md_theta_restore(trained, theta, run->problem->ledger, run->error));
    status = stopped;
done:
    md_theta_free(theta, trained->block_count);
    return status;
}

/* Of a run that is to come as near to the optimum as its rounds allow. */
static void cool_down(md_online *online, const md_trained *trained, size_t epochs)
{
    const double first = (double)online->round;
    const double rounds = (double)epochs * (double)online->problem.visit_count;
    online->settings.cool_from = first + (trained->continues ? 0 : rounds / 2);
    online->settings.cool_to = first + rounds;
}

/* From theta = 0, or from what the blocks hold. */
static medley_status set_out(struct run *run)
{
    medley_status status = MEDLEY_OK;
    md_trained *trained = run->trained;
    md_online *online = &run->online;
    float **theta = NULL;
    if (trained->continues && online->settings.average) /* iterates before this run do not count */
        MEDLEY_TRY(md_theta_copy(&theta, trained, run->error));
    if (!trained->continues || online->settings.average)
        md_online_restart(online, trained->eta0);
    if (theta != NULL)
        MEDLEY_TRY(md_theta_restore(trained, theta, run->problem->ledger, run->error));
    if (trained->continues) {
        online->settings.eta0 = trained->faster * trained->eta0;
        online->round = trained->rounds;
        if (online->settings.rule == MD_RULE_MIRROR)
            md_online_return_links(online);
        md_online_continue(online);
    }
    if (trained->cools)
        cool_down(online, trained, run->problem->epochs);
done:
    md_theta_free(theta, trained->block_count);
    return status;
}

medley_status md_run_online(md_problem *problem, md_trained *trained, const size_t *visit,
                            size_t visit_count, const char *stage, medley_error *error)
{
    medley_status status = MEDLEY_OK;
    struct run run = {.problem = problem,
                      .trained = trained,
                      .stage = stage,
                      .best_accuracy = -1,
                      .error = error};
    md_online_problem online_problem =
        md_problem_for_loop(problem, trained->blocks, trained->block_count, trained->penalised);
    online_problem.visit = visit;
    online_problem.visit_count = visit_count;
    const bool mirror = problem->method->rule == MD_RULE_MIRROR;
    const md_online_settings settings = md_problem_settings(problem, &online_problem);
    MEDLEY_TRY(md_online_init(&run.online, &online_problem, &settings, error));
    trained->eta0 = problem->method->two_stages ? settings.eta : settings.eta0;
    trained->radius = trained->bound = NAN;
    trained->epochs = md_calloc(problem->epochs, sizeof *trained->epochs);
    if (trained->epochs == NULL) {
        status = md_fail_memory(error, problem->epochs * sizeof(medley_epoch));
        goto done;
    }
    medley_status stopped = MEDLEY_OK;
    bool resumed;
    MEDLEY_TRY(resume(&run, &resumed));
    if (problem->trees && !mirror && isnan(trained->eta0))
        trained->eta0 = md_trees_rate(problem);
    if (!resumed && !mirror &&
        isnan(trained->eta0)) /* stopped there: what the last trial has learnt is returned */
        MEDLEY_TRY(stopped = try_rates(&run, trained->continues));
    if (stopped == MEDLEY_OK) {
        if (!resumed)
            MEDLEY_TRY(set_out(&run));
        MEDLEY_TRY(stopped = run_epochs(&run));
    }
    trained->iterations = run.online.round - (trained->continues ? trained->rounds : 0);
    trained->updates = run.online.updates;
    MEDLEY_TRY(finish(&run));
    status = stopped;
done:
    md_theta_free(run.best, trained->block_count);
    md_online_clear(&run.online);
    return status;
}
