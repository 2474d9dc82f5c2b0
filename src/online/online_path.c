/* SPDX-License-Identifier: BSD-3-Clause */
/* The path of an online method. The first model is learnt from nothing; each of the others sets out
 * from the blocks of the one before. It leaves out the first rates, which would throw away what is
 * known, and takes half the epochs. All runs cool down, so that steps may be larger before: that
 * saves more than it costs, and a model is no worse than that of medley_fit. Any example that needs
 * it brings a block in again. What the noise of single steps has left of blocks that nothing needs
 * is taken out at the end. */
#include "online/run.h"

static const double EPOCHS = 0.5;    /* share that models take that set out from another */
static const double LEFT_OUT = 0.05; /* share of the rounds of a whole run that they leave out */
/* Their rates, if nobody has said what they should be. Explicit features have few epochs. */
static const double FASTER = 10, FASTER_EXPLICIT = 2;
static const double SLOWER = 3;       /* if that was too fast */
static const double FAR = 0.9;        /* of the objective at the start of a run */
static const double AGAIN = 4;        /* the rate is searched anew when lambda has fallen so far */
static const double TOLERANCE = 1e-4; /* of the objective, for blocks that go out */
static const double ROUNDING = 1e-5;  /* of the lambda that leaves out all blocks */

struct walk {
    md_problem *problem;
    md_run_blocks blocks;
    md_run_result result; /* of the last run */
    md_run_plan plan;
    md_path_start start;
    size_t epochs; /* of a whole run */
    size_t first_epochs;
    bool given_rate; /* by the options */
    double faster;
    double searched; /* the lambda that the rate was searched for; NaN: none */
    char stage[48];  /* what the observer is told */
};

static bool starts_empty(const struct walk *walk)
{
    return walk->start.is_zero && walk->problem->lambda >= walk->start.lambda * (1 - ROUNDING);
}

/* Has any block under the penalty learnt something? */
static bool is_empty(const md_run_blocks *blocks)
{
    for (size_t m = 0; m < blocks->penalised; m++)
        if (blocks->blocks[m]->norm > 0)
            return false;
    return true;
}

/* One run at this lambda. */
static medley_status learn(struct walk *walk, medley_error *error)
{
    md_problem *problem = walk->problem;
    const double all = (double)walk->epochs;
    const bool anew = !walk->given_rate && !(problem->lambda * AGAIN > walk->searched);
    md_run_plan *plan = &walk->plan;
    plan->rounds = (size_t)(LEFT_OUT * all * (double)problem->example_count) + 1;
    problem->online->epochs = plan->continues ? (size_t)ceil(EPOCHS * all) : walk->epochs;
    problem->online->first_epochs =
        plan->continues ? 0 : walk->first_epochs; /* they find a start */
    if (anew) {
        problem->online->eta0 = NAN;
        plan->faster = walk->faster;
        walk->searched = problem->lambda;
    }
    const medley_status status = md_run_online(problem, plan, &walk->blocks, &walk->result, error);
    problem->online->eta0 = walk->result.eta0;
    return status;
}

/* The objective of what the blocks hold. */
static medley_status measure(double *objective, const struct walk *walk, medley_error *error)
{
    MD_CLEARED(md_online_clear) md_online online = {0};
    const md_online_problem loop = md_problem_for_loop(walk->problem, &walk->blocks);
    const md_online_settings settings = md_problem_settings(walk->problem);
    MEDLEY_TRY(md_online_init(&online, &loop, &settings, error));
    return md_online_objective(&online, objective, NULL, error);
}

/* A run that ends above where it has set out from was too fast: it is taken back. *before: the
 * objective there. */
static medley_status learn_with_care(struct walk *walk, double *before, medley_error *error)
{
    md_deferred *deferred = walk->problem->online->deferred;
    MD_CLEARED(md_theta_copy_clear) md_theta_copy start = {0};
    MEDLEY_TRY(md_theta_copy_take(&start, &walk->blocks, error));
    MEDLEY_TRY(measure(before, walk, error));
    for (;;) {
        medley_status stopped;
        MEDLEY_TRY(stopped = learn(walk, error));
        if (stopped != MEDLEY_OK || walk->result.objective <= *before || walk->plan.faster <= 1)
            return stopped;
        walk->plan.faster = fmax(1, walk->plan.faster / SLOWER);
        MEDLEY_TRY(md_theta_copy_restore(&start, &walk->blocks, deferred, error));
    }
}

/* A second run for models that are far from the one before. The tables of trees are too large for
 * copies, and their rates are not searched. */
static medley_status learn_next(struct walk *walk, medley_error *error)
{
    walk->plan.continues = !is_empty(&walk->blocks);
    if (!walk->plan.continues || walk->given_rate || walk->problem->task->defaults.rate != NULL)
        return learn(walk, error);
    double before = INFINITY;
    medley_status stopped;
    MEDLEY_TRY(stopped = learn_with_care(walk, &before, error));
    const bool far = stopped == MEDLEY_OK && walk->result.objective < FAR * before;
    return far ? learn_with_care(walk, &before, error) : stopped;
}

/* ---- blocks that nothing needs ---- */

/* Blocks shorter than `shortest` score nothing for now, by dual scales of 0; false: there are none
 * but those shorter than `known`. */
static bool mute_short(const md_run_blocks *blocks, double known, double shortest)
{
    bool any = false;
    for (size_t m = 0; m < blocks->penalised; m++) {
        md_block *block = blocks->blocks[m];
        const bool goes = block->norm > 0 && block->norm < shortest;
        any = any || (goes && block->norm >= known);
        block->dual_scale = !goes;
    }
    return any;
}

static void clear_short(const md_run_blocks *blocks, double shortest)
{
    mute_short(blocks, 0, shortest);
    for (size_t m = 0; m < blocks->penalised; m++) {
        md_block *block = blocks->blocks[m];
        if (block->dual_scale == 0)
            block->class->clear(block);
        block->dual_scale = 1;
    }
}

/* *dropped becomes shortest, if the objective is no higher than limit without such blocks. */
static medley_status try_without(struct walk *walk, double shortest, double limit, double *dropped,
                                 medley_error *error)
{
    double objective = walk->result.objective;
    if (mute_short(&walk->blocks, *dropped, shortest))
        MEDLEY_TRY(measure(&objective, walk, error));
    if (objective <= limit) {
        walk->result.objective = objective;
        *dropped = shortest;
    }
    return MEDLEY_OK;
}

/* All of them, where the model is not much better than none; else as many as are short beside the
 * longest. Penalties that shrink all blocks alike leave none out. */
static medley_status drop_idle(struct walk *walk, medley_error *error)
{
    static const double first = 1e-3, last = 0.05, much = 0.95;
    const md_penalty *penalty = walk->problem->penalty;
    const md_run_blocks *blocks = &walk->blocks;
    const double limit = walk->result.objective * (1 + TOLERANCE);
    double longest = 0;
    double dropped = 0;
    if (!walk->problem->method->rule->leaves_out_blocks ||
        (md_penalty_is_uniform(penalty) && md_penalty_inner_threshold(penalty) == 0))
        return MEDLEY_OK;
    for (size_t m = 0; m < blocks->penalised; m++)
        longest = fmax(longest, blocks->blocks[m]->norm);
    if (walk->result.objective > much * walk->start.objective)
        MEDLEY_TRY(try_without(walk, INFINITY, limit, &dropped, error));
    double share = isinf(dropped) ? last : first;
    while (share < last) {
        MEDLEY_TRY(try_without(walk, share * longest, limit, &dropped, error));
        if (dropped < share * longest)
            break;
        share *= 2;
    }
    clear_short(blocks, dropped);
    if (is_empty(blocks))
        walk->searched = NAN; /* where nothing is learnt, any rate does */
    return MEDLEY_OK;
}

/* ---- the walk ---- */

static medley_status one_model(medley_model **model, struct walk *walk, medley_error *error)
{
    md_run_result *result = &walk->result;
    medley_status stopped = MEDLEY_OK;
    if (starts_empty(walk)) {
        result->eta0 = result->radius = result->bound = NAN;
        result->objective = walk->start.objective;
        result->converged = true;
        result->certified = walk->problem->options->certify; /* by the gradient at 0 */
        result->dual = (1 - MD_ROUNDING) * result->objective;
    } else {
        MEDLEY_TRY(stopped = learn_next(walk, error));
        MEDLEY_TRY(drop_idle(walk, error));
    }
    md_certify_result(result);
    MEDLEY_TRY(md_model_of_blocks(model, walk->problem, &walk->blocks, result, error));
    return stopped;
}

static void clear_walk(struct walk *walk)
{
    md_run_blocks_clear(&walk->blocks);
    md_run_result_clear(&walk->result);
}

medley_status md_fit_online_path(md_problem *problem, const medley_path_options *path,
                                 medley_path_taker take, void *context, medley_error *error)
{
    MD_CLEARED(clear_walk)
    struct walk walk = {.problem = problem,
                        .epochs = problem->online->epochs,
                        .first_epochs = problem->online->first_epochs,
                        .given_rate = !isnan(problem->online->eta0),
                        .searched = NAN};
    MEDLEY_TRY(md_run_blocks_make(&walk.blocks, problem, MD_ALL_KERNELS, error));
    MEDLEY_TRY(md_path_find_start(&walk.start, problem, &walk.blocks, error));
    walk.plan = (md_run_plan){.stage = walk.stage, .cools = true, .certifies = true};
    walk.faster = md_problem_is_explicit(problem) ? FASTER_EXPLICIT : FASTER;
    walk.plan.faster = walk.given_rate ? 1 : walk.faster;
    medley_status stopped = MEDLEY_OK;
    bool wanted = true;
    for (size_t step = 0; step < path->count && wanted && stopped == MEDLEY_OK; step++) {
        medley_model *model = NULL;
        problem->lambda = md_path_lambda(path, walk.start.lambda, step);
        snprintf(walk.stage, sizeof walk.stage, "lambda %zu of %zu", step + 1, path->count);
        MEDLEY_TRY(stopped = one_model(&model, &walk, error));
        wanted = take(context, model);
    }
    return stopped;
}
