/* SPDX-License-Identifier: BSD-3-Clause */
/* Batch methods: the certified optimum of each output on the same kernels, by the solver of the
 * method. Two labels or numbers are one problem; more labels are one-vs-rest, each with a
 * certificate of its own, and the objective, dual and gap are those of their sum. */
#include "batch/batch.h"

#include "batch/certificate.h"
#include "model/model.h"
#include "setup/setup.h"

static const double SAME = 1e-7; /* relative difference of objectives that does not matter */
/* Default strengths, as shares of the least one that leaves out all kernels: of labels, whatever
 * the rows; of numbers at most that, and over the root of the rows, since noise adds up like that
 * root where what there is to learn adds up like the rows. */
static const double DEFAULT_SHARE = 0.1;
static const double SHARE_OF_ROOT = 0.3;

struct run {
    md_pool pool; /* of the arrays with an entry for each row, kernel or output */
    md_problem *problem;
    md_batch_problem batch;
    double *y;    /* [rows] */
    double *zero; /* [rows] scores of the empty model */
    size_t outputs;
    size_t strengths;       /* of the penalty that are asked for */
    double **body;          /* [kernels] each [rows][outputs], or NULL */
    double *norm;           /* [kernels] over all outputs */
    double *bias;           /* [outputs] */
    md_penalty_parts parts; /* of a penalty of several terms */
    double factor;          /* of the penalty: strength = lambda N factor */
    double measure;         /* the norm of a block, over that of what it scores */
    double primal, loss, dual;
    size_t output;     /* that is solved */
    double watched;    /* its least value so far */
    double difference; /* sums over the outputs that are done: their values, and their gaps */
    size_t newton_steps, passes;
    md_batch_solution *previous; /* [outputs] of another strength, along a path; or NULL */
    md_run_result result;
    size_t epoch_capacity; /* of result.epochs */
    medley_epoch finished; /* sums of the last steps of the outputs that are done */
};

/* What belongs to one strength of the penalty. */
static void forget(struct run *run)
{
    for (size_t m = 0; run->body != NULL && m < run->problem->bank.count; m++) {
        free(run->body[m]);
        run->body[m] = NULL;
        if (run->norm != NULL)
            run->norm[m] = 0;
    }
    run->primal = run->loss = run->dual = run->difference = 0;
    run->newton_steps = run->passes = 0;
    md_run_result_clear(&run->result);
    run->result = (md_run_result){.radius = NAN, .bound = NAN, .converged = true};
    run->epoch_capacity = 0;
    run->finished = (medley_epoch){0};
}

static void clear_run(struct run *run)
{
    forget(run);
    for (size_t output = 0; run->previous != NULL && output < run->outputs; output++)
        md_batch_solution_clear(&run->previous[output]);
    md_pool_clear(&run->pool);
}

static bool watch(void *context, const md_batch_step *step)
{
    struct run *run = context;
    const double n = (double)run->problem->example_count;
    const bool several = run->outputs > 1; /* the objective is known once all are done */
    run->watched = fmin(run->watched, step->primal);
    return md_problem_report(run->problem,
                             (medley_progress){.stage = "training",
                                               .done = several ? run->output : 0,
                                               .total = several ? run->outputs : 0,
                                               .objective = several ? NAN : run->watched / n,
                                               .gap = step->gap,
                                               .dev_accuracy = NAN});
}

/* Kernels that have to be computed anew for every look at them are written as factors, where their
 * rank is low and the factors fit the budget: bounds from these spare most looks. It takes as long
 * as some looks, so there must be many problems to solve. */
static medley_status find_factors(const struct run *run, medley_error *error)
{
    static const double tolerance = 1e-6;
    static const size_t many = 8;
    const md_problem *problem = run->problem;
    const size_t n = md_packed_rows(problem->batch->packed);
    const size_t most_rank = n / 8 + 1;
    const double bytes =
        (double)md_packed_count(problem->batch->packed) * (double)(n * most_rank) * sizeof(float);
    if (run->outputs * run->strengths < many || md_packed_is_resident(problem->batch->packed) ||
        problem->options->memory == 0 || bytes > (double)problem->options->memory)
        return MEDLEY_OK;
    return md_packed_factor(problem->batch->packed, tolerance, most_rank, error);
}

/* Over all outputs: the least strength that leaves out all kernels, or, where none does, a scale
 * like it; and that scale for any penalty. */
static medley_status largest_strength(struct run *run, double *largest, double *scale,
                                      medley_error *error)
{
    md_strength_finder find = run->problem->method->largest_strength;
    if (find == NULL)
        find = md_batch_largest_strength;
    *largest = *scale = 0;
    for (size_t output = 0; output < run->outputs; output++) {
        double with_slope;
        double without_slope;
        md_batch_targets(run->y, run->problem, output);
        MEDLEY_TRY(find(&run->batch, &with_slope, &without_slope, error));
        *scale = fmax(*scale, without_slope);
        *largest = fmax(*largest, isfinite(with_slope) ? with_slope : without_slope);
    }
    return MEDLEY_OK;
}

/* Without a word about the strength: a share of that which leaves nothing in. */
static medley_status choose_strength(struct run *run, medley_error *error)
{
    md_problem *problem = run->problem;
    const double rows = (double)problem->example_count;
    const double share = run->batch.loss->classifies
                             ? DEFAULT_SHARE
                             : fmin(DEFAULT_SHARE, SHARE_OF_ROOT / sqrt(rows));
    double largest;
    double scale;
    if (md_options_has_strength(problem->options) || run->batch.square > 0)
        return MEDLEY_OK; /* no strength of a square leaves out all: the default of online methods
                           */
    MEDLEY_TRY(largest_strength(run, &largest, &scale, error));
    if (scale > 0)
        problem->lambda = share * scale / (run->factor * rows);
    return MEDLEY_OK;
}

/* A penalty of several terms: functions of single norms, and maybe half a squared norm. */
static void take_parts(struct run *run)
{
    md_penalty_parts *parts = &run->parts;
    md_batch_problem *batch = &run->batch;
    if (!md_penalty_split(parts, run->problem->penalty))
        return;
    if (parts->root == NULL) {
        batch->penalty = &md_sum_of_scalars;
        batch->penalty_state = &parts->sum;
        run->factor = 1;
    } else if (run->problem->method->squares && parts->q <= 2) {
        batch->penalty = parts->root;
        batch->penalty_state = parts->root_state;
        batch->square = parts->q;
        run->factor = parts->factor;
    }
}

/* The rest of a penalty with a square is of the same norms, and has the strength of the square as
 * its own. */
static void take_rest(struct run *run)
{
    md_scalar_sum *sum = &run->parts.sum;
    if (sum->count == 0 || run->batch.square == 0)
        return;
    sum->unit = run->measure;
    for (size_t t = 0; t < sum->count; t++)
        sum->terms[t].factor /= run->factor;
    run->batch.rest = sum;
}

/* A sum over kernels, or half a squared norm. The latter are the penalties of methods that keep
 * vectors w and -w for two labels, whose scores differ by 2 <w, x>: the same prediction by one
 * vector 2 w. Its length is sqrt(2) times that of both, and the objective is to be the same. */
static medley_status take_penalty(struct run *run, medley_error *error)
{
    const md_problem *problem = run->problem;
    const md_method *method = problem->method;
    md_batch_problem *batch = &run->batch;
    run->measure = 1;
    batch->penalty = md_penalty_scalar(problem->penalty, &batch->penalty_state, &run->factor);
    if (batch->penalty != NULL)
        return MEDLEY_OK;
    if (method->squares)
        batch->penalty =
            md_penalty_root(problem->penalty, &batch->penalty_state, &batch->square, &run->factor);
    if (batch->penalty == NULL)
        take_parts(run);
    if (batch->penalty == NULL)
        return md_fail(error, MEDLEY_NOT_SUPPORTED,
                       "`method=%s` needs a penalty that is a sum over kernels%s, and %s is none; "
                       "use group-lasso, elastic(t=0.5)%s or block(q=1.5), or `method=spom`",
                       method->about->name,
                       method->squares ? " and at most one squared norm of theirs" : "",
                       md_penalty_text(problem->penalty), method->squares ? ", mkl" : "");
    if (batch->loss->classifies && batch->square > 0) {
        run->measure = M_SQRT1_2;
        run->factor /= 2;
    }
    take_rest(run);
    return MEDLEY_OK;
}

static medley_status prepare(struct run *run, medley_error *error)
{
    md_problem *problem = run->problem;
    const size_t n = problem->train->rows;
    const size_t kernels = problem->bank.count;
    run->outputs = md_batch_outputs(problem);
    forget(run);
    MEDLEY_TRY(md_pool_new(&run->pool, &run->y, n, sizeof *run->y, error));
    MEDLEY_TRY(md_pool_new(&run->pool, &run->zero, n, sizeof *run->zero, error));
    MEDLEY_TRY(md_pool_new(&run->pool, &run->body, kernels, sizeof *run->body, error));
    MEDLEY_TRY(md_pool_new(&run->pool, &run->norm, kernels, sizeof *run->norm, error));
    MEDLEY_TRY(md_pool_new(&run->pool, &run->bias, run->outputs, sizeof *run->bias, error));
    run->batch = (md_batch_problem){.packed = problem->batch->packed,
                                    .loss = problem->batch->loss,
                                    .loss_state = problem->batch->loss_state,
                                    .y = run->y,
                                    .gap = problem->options->gap,
                                    .max_iterations = (size_t)problem->options->max_iterations,
                                    .first_gamma = problem->options->spicy_gamma,
                                    .growth = problem->options->spicy_growth,
                                    .threads = problem->threads,
                                    .products_only = problem->batch->products_only,
                                    .mixture = problem->batch->mixture,
                                    .watch = watch,
                                    .context = run};
    MEDLEY_TRY(take_penalty(run, error));
    MEDLEY_TRY(md_batch_check_kernels(problem, NULL, error));
    MEDLEY_TRY(find_factors(run, error));
    MEDLEY_TRY(choose_strength(run, error));
    run->batch.strength = problem->lambda * (double)n * run->factor;
    return MEDLEY_OK;
}

/* ---- what was learnt ---- */

static medley_status take_coefficients(struct run *run, size_t output,
                                       const md_batch_solution *solution, medley_error *error)
{
    const size_t n = solution->rows;
    const double *weight = md_penalty_block_weights(run->problem->penalty);
    for (size_t i = 0; i < solution->active; i++) {
        const size_t m = solution->kernel[i];
        const double d = weight != NULL ? weight[m] : 1; /* kernels were K / d^2 (packed.h) */
        if (!(solution->norm[i] > 0))
            continue;
        if (run->body[m] == NULL)
            MEDLEY_TRY(md_new(&run->body[m], n * run->outputs, sizeof(double), error));
        for (size_t r = 0; r < n; r++)
            run->body[m][r * run->outputs + output] = solution->coefficient[i * n + r] / (d * d);
        run->norm[m] = hypot(run->norm[m], run->measure * solution->norm[i] / d);
    }
    run->bias[output] = solution->bias;
    return MEDLEY_OK;
}

/* Adds what an output was after a step of its own. */
static void add_step(medley_epoch *epoch, const md_batch_step *step, double n)
{
    epoch->objective += step->primal / n;
    epoch->loss += step->loss / n;
    epoch->dual += step->dual / n;
    epoch->seconds += step->seconds;
}

/* Epoch i is the model whose outputs have all taken i of their outer iterations, or all they took.
 * How many kernels it has is known of a single output only. */
static medley_status take_steps(struct run *run, const md_batch_solution *solution,
                                medley_error *error)
{
    md_run_result *result = &run->result;
    const double n = (double)run->problem->example_count;
    const size_t taken = solution->step_count;
    const size_t before = result->epoch_count;
    const size_t count = taken > before ? taken : before;
    if (taken == 0)
        return MEDLEY_OK;
    MEDLEY_TRY(
        md_grow(&result->epochs, &run->epoch_capacity, count, sizeof *result->epochs, error));
    result->epoch_count = count;
    for (size_t i = before; i < count; i++)
        result->epochs[i] = run->finished;
    for (size_t i = 0; i < count; i++) {
        medley_epoch *epoch = &result->epochs[i];
        const md_batch_step *step = &solution->steps[i < taken ? i : taken - 1];
        add_step(epoch, step, n);
        epoch->gap = run->outputs == 1 ? step->gap : md_relative_gap(epoch->objective, epoch->dual);
        epoch->active = run->outputs == 1 ? step->active : 0;
        epoch->dev_accuracy = NAN;
    }
    add_step(&run->finished, &solution->steps[taken - 1], n);
    result->iterations += taken;
    return MEDLEY_OK;
}

/* A label that no row has, or all rows: there is nothing to learn but the bias. */
static bool is_constant(const struct run *run)
{
    for (size_t r = 1; r < run->problem->train->rows; r++)
        if (run->y[r] != run->y[0])
            return false;
    return run->problem->gold != NULL;
}

static medley_status use_float64(struct run *run, medley_error *error)
{
    const md_batch_side *side = run->problem->batch;
    MEDLEY_TRY(md_batch_use_float64(run->problem, error));
    run->batch.packed = side->packed;
    run->batch.products_only = side->products_only; /* which may be otherwise without a card */
    run->batch.mixture = side->mixture;
    return MEDLEY_OK;
}

/* The gap was reached with kernel values in single precision and is not with true ones: the rest of
 * the way takes double precision. */
static bool is_coarse(const struct run *run, const md_batch_solution *solution)
{
    return (md_batch_reached_rounded(&run->batch, solution) ||
            (solution->coarse && md_packed_has_rounded(run->batch.packed))) &&
           !solution->converged && !solution->stopped;
}

static medley_status solve(md_batch_solution *solution, struct run *run,
                           const md_batch_solution *start, medley_error *error)
{
    MD_CLEARED(md_batch_solution_clear) md_batch_solution again = {0};
    MEDLEY_TRY(run->problem->method->solve(solution, &run->batch, start, error));
    if (!is_coarse(run, solution))
        return MEDLEY_OK;
    MEDLEY_TRY(use_float64(run, error));
    MEDLEY_TRY(run->problem->method->solve(&again, &run->batch, solution, error));
    md_batch_keep_better(solution, &again);
    return MEDLEY_OK;
}

static medley_status solve_output(struct run *run, size_t output, medley_error *error)
{
    MD_CLEARED(md_batch_solution_clear) md_batch_solution solution = {0};
    md_batch_solution *previous = run->previous != NULL ? &run->previous[output] : NULL;
    const md_batch_solution *start = previous != NULL && previous->rho != NULL ? previous : NULL;
    md_batch_targets(run->y, run->problem, output);
    run->output = output;
    run->watched = INFINITY;
    if (is_constant(run)) {
        run->bias[output] = md_best_bias(run->batch.loss, run->batch.loss_state, run->y, run->zero,
                                         run->problem->train->rows);
        return MEDLEY_OK;
    }
    MEDLEY_TRY(solve(&solution, run, start, error));
    MEDLEY_TRY(take_coefficients(run, output, &solution, error));
    MEDLEY_TRY(take_steps(run, &solution, error));
    run->primal += solution.primal;
    run->loss += solution.loss;
    run->dual += solution.dual;
    run->difference += solution.gap * solution.primal;
    run->newton_steps += solution.newton_steps;
    run->passes += solution.passes;
    run->result.converged = run->result.converged && solution.converged;
    if (previous != NULL)
        md_swap(previous, &solution);
    return MEDLEY_OK;
}

/* ---- the certificate of the model as it predicts ---- */

/* The loss of all outputs by the scores of the model, with the best bias for them. f: scratch */
static double loss_of_scores(struct run *run, const double *scores, double *f, double *bias)
{
    const size_t n = run->problem->train->rows;
    double loss = 0;
    for (size_t output = 0; output < run->outputs; output++) {
        md_batch_targets(run->y, run->problem, output);
        if (is_constant(run))
            continue;
        for (size_t r = 0; r < n; r++)
            f[r] = scores[r * run->outputs + output];
        loss += md_batch_loss(&run->batch, f, &bias[output]);
    }
    return loss;
}

/* The objective is that of the model's own predictions: in single precision if that makes no
 * difference; with a weak penalty coefficients are large and cancel, and then the model computes in
 * double precision. A ridge is part of the kernels that were learnt with, not of those of new rows:
 * then there is nothing to compare with. */
static medley_status verify(medley_model *model, struct run *run, const md_coefficients *plain,
                            medley_error *error)
{
    const md_problem *problem = run->problem;
    const size_t n = problem->train->rows;
    MD_CLEARED(md_pool_clear) md_pool pool = {0};
    double *scores = NULL;
    double *f = NULL;
    double *bias = NULL;
    const double same = fmax(SAME, run->batch.gap / 100) * run->primal;
    if (problem->options->ridge != 0 || model->body_count == 0)
        return MEDLEY_OK;
    MEDLEY_TRY(md_pool_new(&pool, &scores, n * run->outputs, sizeof *scores, error));
    MEDLEY_TRY(md_pool_new(&pool, &f, n, sizeof *f, error));
    MEDLEY_TRY(md_pool_new(&pool, &bias, run->outputs, sizeof *bias, error));
    MEDLEY_TRY(md_model_score_training(scores, model, problem, plain, error));
    if (fabs(loss_of_scores(run, scores, f, bias) - run->loss) <= same)
        return MEDLEY_OK;
    for (size_t b = 0; b < model->body_count; b++)
        model->bodies[b].exact = true;
    MEDLEY_TRY(md_model_score_training(scores, model, problem, plain, error));
    run->primal += loss_of_scores(run, scores, f, model->bias) - run->loss;
    model->summary.bias = model->bias[0];
    model->summary.objective = run->primal / (double)problem->example_count;
    model->summary.gap = md_certified_gap(run->primal, run->dual);
    /* a dual value above the objective belongs to rounded kernels: it bounds nothing */
    const bool bounds = run->dual <= run->primal || model->summary.gap == 0;
    model->summary.converged =
        run->result.converged && bounds && model->summary.gap <= run->batch.gap;
    return MEDLEY_OK;
}

static medley_status build(medley_model **model, struct run *run, medley_error *error)
{
    md_problem *problem = run->problem;
    const double n = (double)problem->example_count;
    const md_coefficients plain = {.outputs = run->outputs,
                                   .body = (const double *const *)run->body,
                                   .norm = run->norm,
                                   .bias = run->bias,
                                   .dual = run->dual / n,
                                   .gap = run->difference > 0 ? run->difference / run->primal : 0,
                                   .newton_steps = run->newton_steps,
                                   .passes = run->passes,
                                   .logistic_link =
                                       run->outputs > 1 && problem->batch->loss->logistic_link};
    run->result.eta0 = NAN;
    run->result.objective = run->primal / n;
    MD_OWNED(medley_model_free) medley_model *made = NULL;
    const medley_status status =
        md_model_of_coefficients(&made, problem, &plain, &run->result, error);
    MEDLEY_TRY(status);
    MEDLEY_TRY(verify(made, run, &plain, error));
    *model = md_take(&made);
    return status; /* which may be that the run was stopped */
}

/* Once more in double precision, if what was found differs from what the model predicts. */
static medley_status fit_one(medley_model **model, struct run *run, medley_error *error)
{
    medley_status status = MEDLEY_OK;
    for (int attempt = 0; attempt < 2; attempt++) {
        MD_OWNED(medley_model_free) medley_model *made = NULL;
        for (size_t output = 0; output < run->outputs; output++)
            MEDLEY_TRY(solve_output(run, output, error));
        MEDLEY_TRY(status = build(&made, run, error));
        const bool spoilt = run->result.converged && !made->summary.converged;
        if (attempt == 1 || !spoilt || status != MEDLEY_OK ||
            !md_packed_has_rounded(run->batch.packed)) {
            *model = md_take(&made);
            break;
        }
        MEDLEY_TRY(use_float64(run, error));
        forget(run);
    }
    return status;
}

medley_status md_fit_batch(medley_model **model, md_problem *problem, medley_error *error)
{
    MD_CLEARED(clear_run) struct run run = {.problem = problem, .strengths = 1};
    MEDLEY_TRY(prepare(&run, error));
    return fit_one(model, &run, error);
}

/* ---- paths ---- */

medley_status md_fit_batch_path(md_problem *problem, const medley_path_options *path,
                                medley_path_taker take, void *context, medley_error *error)
{
    MD_CLEARED(clear_run) struct run run = {.problem = problem, .strengths = path->count};
    const double n = (double)problem->example_count;
    double largest = 0;
    double scale = 0;
    medley_status stopped = MEDLEY_OK;
    bool wanted = true;
    MEDLEY_TRY(prepare(&run, error));
    MEDLEY_TRY(largest_strength(&run, &largest, &scale, error));
    MEDLEY_TRY(md_pool_new(&run.pool, &run.previous, run.outputs, sizeof *run.previous, error));
    for (size_t step = 0; step < path->count && wanted && stopped == MEDLEY_OK; step++) {
        medley_model *model = NULL;
        forget(&run);
        problem->lambda =
            md_path_lambda(path, (largest > 0 ? largest : 1) / (run.factor * n), step);
        run.batch.strength = problem->lambda * n * run.factor;
        MEDLEY_TRY(stopped = fit_one(&model, &run, error));
        wanted = take(context, model);
    }
    return stopped;
}

/* ---- the method ---- */

extern const md_method md_method_spicy;
const md_method md_method_spicy = {
    MD_CERTIFIED_METHOD,
    .about = &(const md_about){.name = "spicy",
                               .summary = "the optimum with a certificate, for thousands "
                                          "of kernels or tens of thousands of rows",
                               .takes = MD_BATCH_TAKES | MD_TAKES_WEIGHTS | MD_TAKES_PROXIMAL},
    .suits = md_sparse_batch_suits,
    .fit_path = md_fit_batch_path,
    .solve = md_batch_solve,
    .squares = true,
    .products = true,
};
