/* SPDX-License-Identifier: BSD-3-Clause */
/* The path of an online method. The first model is learnt from nothing; each of the others sets out
 * from the blocks of the one before. It leaves out the first rates, which would throw away what is
 * known, and takes half the epochs. All runs cool down, so that steps may be larger before: that
 * saves more than it costs, and a model is no worse than that of medley_fit. Any example that needs
 * it brings a block in again. What the noise of single steps has left of blocks that nothing needs
 * is taken out at the end. */
#include "learner/path.h"

#include <math.h>
#include <stdlib.h>

static const double EPOCHS = 0.5;     /* share that models take that set out from another */
static const double LEFT_OUT = 0.05;  /* share of the rounds of a whole run that they leave out */
static const double FASTER = 10;       /* their rates, if nobody has said what they should be */
static const double AGAIN = 4;        /* the rate is searched anew when lambda has fallen so far */
static const double ROUNDING = 1e-5;  /* of the lambda that leaves out all blocks */

struct walk {
    md_problem *problem;
    md_trained trained;
    md_path_start start;
    size_t epochs;   /* of a whole run */
    bool given_rate; /* by the options */
    double searched; /* the lambda that the rate was searched for; NaN: none */
};

static bool starts_empty(const struct walk *walk)
{
    return walk->start.is_zero && walk->problem->lambda >= walk->start.lambda * (1 - ROUNDING);
}

static size_t count_active(const md_trained *trained)
{
    size_t count = 0;
    for (size_t m = 0; m < trained->block_count; m++)
        count += trained->blocks[m]->norm > 0;
    return count;
}

static medley_status learn(struct walk *walk, medley_error *error)
{
    md_problem *problem = walk->problem;
    md_trained *trained = &walk->trained;
    const double all = (double)walk->epochs;
    const bool anew = !walk->given_rate && !(problem->lambda * AGAIN > walk->searched);
    trained->continues = count_active(trained) > 0;
    trained->rounds = (size_t)(LEFT_OUT * all * (double)problem->example_count) + 1;
    problem->epochs = trained->continues ? (size_t)ceil(EPOCHS * all) : walk->epochs;
    if (anew) {
        problem->eta0 = NAN;
        walk->searched = problem->lambda;
    }
    const medley_status status = md_run_online(problem, trained, NULL, 0, "training", error);
    problem->eta0 = trained->eta0;
    return status;
}

/* ---- blocks that nothing needs ---- */

/* Without the blocks shorter than this, which are put aside by their links. */
static bool put_aside(md_trained *trained, double shortest)
{
    bool any = false;
    for (size_t m = 0; m < trained->penalised; m++) {
        md_block *block = trained->blocks[m];
        const bool goes = block->norm > 0 && block->norm < shortest;
        any = any || (goes && block->link > 0);
        block->link = !goes;
    }
    return any;
}

static void clear_aside(md_trained *trained, double shortest)
{
    put_aside(trained, shortest);
    for (size_t m = 0; m < trained->penalised; m++) {
        md_block *block = trained->blocks[m];
        if (block->link == 0)
            block->class->clear(block);
        block->link = 1;
    }
}

/* Those go that are short beside the longest and without which the objective is no higher. */
static medley_status drop_short(struct walk *walk, medley_error *error)
{
    static const double shares[] = {1e-3, 1e-2, 3e-2};
    md_trained *trained = &walk->trained;
    const md_online_problem loop = md_problem_for_loop(walk->problem, trained->blocks,
                                                       trained->block_count, trained->penalised);
    const md_online_settings settings = md_problem_settings(walk->problem, &loop);
    md_online online = {0};
    double longest = 0;
    double shortest = 0;
    for (size_t m = 0; m < trained->penalised; m++)
        longest = fmax(longest, trained->blocks[m]->norm);
    medley_status status = md_online_init(&online, &loop, &settings, error);
    for (size_t i = 0; i < sizeof shares / sizeof *shares && status == MEDLEY_OK; i++) {
        double objective;
        if (!put_aside(trained, shares[i] * longest))
            continue;
        status = md_online_objective(&online, &objective, NULL, error);
        if (status < 0 || objective > trained->objective)
            break;
        shortest = shares[i] * longest;
        trained->objective = objective;
    }
    clear_aside(trained, shortest);
    md_online_clear(&online);
    return status;
}

/* Penalties that shrink all blocks alike leave none out. */
static medley_status drop_idle(struct walk *walk, medley_error *error)
{
    md_trained *trained = &walk->trained;
    const md_penalty *penalty = walk->problem->penalty;
    if (walk->problem->method->rule == MD_RULE_MIRROR ||
        (md_penalty_is_uniform(penalty) && md_penalty_inner_threshold(penalty) == 0))
        return MEDLEY_OK;
    if (trained->penalised == trained->block_count &&
        trained->objective >= walk->start.objective * (1 - ROUNDING)) {
        clear_aside(trained, INFINITY);
        trained->objective = walk->start.objective;
        walk->searched = NAN; /* rates that learn nothing are as good as any here */
        return MEDLEY_OK;
    }
    return drop_short(walk, error);
}

/* ---- the walk ---- */

static medley_status one_model(medley_model **model, struct walk *walk, medley_error *error)
{
    md_trained *trained = &walk->trained;
    free(trained->epochs);
    trained->epochs = NULL;
    trained->epoch_count = trained->iterations = trained->updates = 0;
    medley_status status = MEDLEY_OK;
    medley_status stopped = MEDLEY_OK;
    if (starts_empty(walk)) {
        trained->eta0 = trained->radius = trained->bound = NAN;
        trained->objective = walk->start.objective;
        trained->converged = true;
    } else {
        MEDLEY_TRY(stopped = learn(walk, error));
        MEDLEY_TRY(drop_idle(walk, error));
    }
    MEDLEY_TRY(md_model_build(model, walk->problem, trained, error));
    status = stopped;
done:
    return status;
}

medley_status md_fit_online_path(md_problem *problem, const medley_path_options *path,
                                 medley_path_taker take, void *context, medley_error *error)
{
    medley_status status = MEDLEY_OK;
    struct walk walk = {.problem = problem,
                        .epochs = problem->epochs,
                        .given_rate = !isnan(problem->eta0),
                        .searched = NAN};
    MEDLEY_TRY(md_trained_make(&walk.trained, problem, error));
    MEDLEY_TRY(md_path_find_start(&walk.start, problem, &walk.trained, error));
    walk.trained.cools = true;
    walk.trained.faster = walk.given_rate ? 1 : FASTER;
    bool wanted = true;
    for (size_t step = 0; step < path->count && wanted && status == MEDLEY_OK; step++) {
        medley_model *model = NULL;
        problem->lambda = md_path_lambda(path, walk.start.lambda, step);
        status = one_model(&model, &walk, error);
        if (model != NULL)
            wanted = take(context, model);
    }
done:
    md_trained_clear(&walk.trained);
    return status;
}
