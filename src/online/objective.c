/* SPDX-License-Identifier: BSD-3-Clause */
/* The objective of an online run and the ball that contains its optimum. */
#include "online/rule.h"

#include "base/parallel.h"

enum { CHUNK = 256 }; /* examples per piece of the objective's sum */
enum { SOME = 16 };   /* that a thread takes at a time: CHUNK and MD_AHEAD are multiples of it */

struct measure {
    md_online *online;
    md_inference *inference; /* [inferences], `ahead` for each thread */
    size_t inferences;
    size_t ahead;        /* examples that are scored before the first one is looked at */
    const size_t *which; /* [count] examples */
    size_t count;
    size_t some;  /* examples of an item */
    double *loss; /* [count] of each example, borrowed */
};

static void clear_measure(struct measure *measure)
{
    for (size_t t = 0; measure->inference != NULL && t < measure->inferences; t++)
        md_inference_clear(&measure->inference[t]);
    free(measure->inference);
}

static void measure_some(void *context, size_t item, size_t worker)
{
    struct measure *measure = context;
    const md_online_problem *p = &measure->online->problem;
    md_inference *inference = &measure->inference[worker * measure->ahead];
    const size_t first = item * measure->some;
    const size_t last = md_min(first + measure->some, measure->count);
    for (size_t i = first; i < last; i += measure->ahead) {
        const size_t *which = measure->which + i;
        const size_t count = md_min(last - i, measure->ahead);
        for (size_t j = 0; j < count; j++)
            md_online_score(p, p->examples[which[j]], inference[j].score);
        if (measure->ahead > 1)
            md_online_look_ahead(p, inference, which, count);
        for (size_t j = 0; j < count; j++) {
            const md_example example = p->examples[which[j]];
            inference[j].space.shape.row = example.row;
            measure->loss[i + j] =
                p->loss->evaluate(&inference[j], example.length, p->gold + example.row, false);
        }
    }
}

/* In chunks: sums of many small numbers are the better for it. */
static double add_up(const double *loss, size_t count)
{
    double sum = 0;
    for (size_t first = 0; first < count; first += CHUNK) {
        double part = 0;
        for (size_t i = first; i < md_min(first + CHUNK, count); i++)
            part += loss[i];
        sum += part;
    }
    return sum;
}

/* Omega as SPOM has it: the penalty of the lengths b_m = ||w_m||, b_m^2 / 2 for blocks with a term
 * of their own, the quadratic part that the loss absorbs, and the l1 norm inside of blocks. */
static double penalty_now(md_online *online)
{
    const md_online_problem *p = &online->problem;
    for (size_t m = 0; m < p->block_count; m++)
        online->norm[m] = md_block_length(p->blocks[m]);
    double value = md_penalty_value(p->penalty, online->norm, p->penalised);
    for (size_t m = p->penalised; m < p->block_count; m++)
        value += online->norm[m] * online->norm[m] / 2;
    const double absorbed = md_penalty_absorbed(p->penalty);
    for (size_t m = 0; m < p->penalised; m++)
        value += absorbed * online->norm[m] * online->norm[m] / 2;
    const double inner = md_penalty_inner_threshold(p->penalty);
    for (size_t m = 0; inner > 0 && m < p->penalised; m++)
        if (p->blocks[m]->class->sum_abs != NULL)
            value += inner * p->blocks[m]->class->sum_abs(p->blocks[m]);
    return value;
}

/* A structure that a program has brought may fail, on any rank. */
static medley_status check_structures(const struct measure *measure, medley_error *error)
{
    const md_online *online = measure->online;
    const char *failure = NULL;
    for (size_t t = 0; t < measure->inferences && failure == NULL; t++)
        failure = measure->inference[t].workspace.failure;
    bool any = failure != NULL;
    MEDLEY_TRY(md_comm_any(online->settings.comm, &any, error));
    if (!any)
        return MEDLEY_OK;
    return md_fail_structure(online->problem.space,
                             failure != NULL ? failure : "it failed on another rank", error);
}

static void note_work(const md_online *online, const size_t *which, size_t count)
{
    const md_online_problem *p = &online->problem;
    double parts = 0;
    for (size_t i = 0; online->settings.comm != NULL && i < count; i++) {
        const size_t length = p->examples[which[i]].length;
        parts += (double)(length * md_row_width(p->space, length));
    }
    md_comm_note_work(online->settings.comm, parts * (double)p->block_count);
}

medley_status md_online_mean_loss(md_online *online, const size_t *which, size_t count,
                                  double *mean_loss, medley_error *error)
{
    const bool looks_ahead = md_looks_ahead(online->problem.space); /* from one thread at a time */
    const size_t threads = looks_ahead ? 1 : online->settings.threads;
    const md_window *window = online->problem.window;
    MD_OWNED(free) double *losses = NULL;
    MD_CLEARED(clear_measure)
    struct measure measure = {.online = online,
                              .ahead = looks_ahead ? MD_AHEAD : 1,
                              .some = looks_ahead ? MD_AHEAD : SOME};
    measure.inferences = threads * measure.ahead;
    MEDLEY_TRY(md_new(&measure.inference, measure.inferences, sizeof *measure.inference, error));
    MEDLEY_TRY(md_new(&losses, count, sizeof *losses, error));
    for (size_t t = 0; t < measure.inferences; t++)
        MEDLEY_TRY(md_inference_init(&measure.inference[t], online->problem.space, online->longest,
                                     error));
    const md_span own = md_comm_share(online->settings.comm, count, CHUNK);
    for (size_t done = own.first; done < own.end; done += measure.count) {
        measure.which = which + done;
        measure.loss = losses + done;
        measure.count = own.end - done;
        if (window != NULL)
            MEDLEY_TRY(window->open(window->context, measure.which, measure.count, CHUNK,
                                    &measure.count, error));
        md_parallel_for(threads, md_pieces(measure.count, measure.some), measure_some, &measure);
    }
    note_work(online, which + own.first, own.end - own.first);
    MEDLEY_TRY(check_structures(&measure, error));
    MEDLEY_TRY(md_comm_gather(online->settings.comm, losses, count, CHUNK, sizeof *losses, error));
    *mean_loss = online->diverged ? INFINITY : add_up(losses, count) / (double)count;
    return MEDLEY_OK;
}

double md_online_progress(md_online *online, double *mean_loss)
{
    *mean_loss =
        online->diverged ? INFINITY : online->loss_sum / (double)online->problem.visit_count;
    return *mean_loss + online->settings.lambda * penalty_now(online);
}

medley_status md_online_objective(md_online *online, double *objective, double *mean_loss,
                                  medley_error *error)
{
    double loss = 0;
    md_online_fill_order(online);
    MEDLEY_TRY(
        md_online_mean_loss(online, online->order, online->problem.visit_count, &loss, error));
    *objective = loss + online->settings.lambda * penalty_now(online);
    if (mean_loss != NULL)
        *mean_loss = loss;
    return MEDLEY_OK;
}

/* ---- the size of kernels ---- */

md_largest md_online_largest(const md_online_problem *problem)
{
    md_largest largest = {0};
    const double *weight = md_penalty_block_weights(problem->penalty);
    for (size_t m = 0; m < problem->block_count; m++) {
        const md_block *block = problem->blocks[m];
        const double d = weight != NULL && m < problem->penalised ? weight[m] : 1;
        for (size_t e = 0; e < problem->example_count; e++) {
            const md_example example = problem->examples[e];
            double sum = 0;
            for (size_t i = 0; i < example.length; i++) {
                const double self = fmax(0, block->class->self(block, example.row + i)) / (d * d);
                largest.row = fmax(largest.row, self);
                sum += sqrt(self);
            }
            largest.example = fmax(largest.example, sum * sum);
        }
    }
    return largest;
}

/* ---- the ball ---- */

static const double LARGEST_RADIUS = 1e100; /* as good as none, and its square is finite */

static double least_weight(const md_penalty *penalty, size_t count)
{
    const double *weight = md_penalty_block_weights(penalty);
    double least = weight != NULL && count > 0 ? weight[0] : 1;
    for (size_t m = 0; weight != NULL && m < count; m++)
        least = fmin(least, weight[m]);
    return least;
}

/* No more than Omega anywhere on the sphere of radius r, with what the loss absorbs. Weighted norms
 * are no shorter than norms times the least weight. */
static double least_on_sphere(const md_online_problem *p, double r, double *scratch)
{
    return md_penalty_least(p->penalty, r * least_weight(p->penalty, p->penalised), p->penalised,
                            scratch) +
           md_penalty_absorbed(p->penalty) / 2 * r * r;
}

/* The largest r with that within limit: brackets by doubling, then halves the bracket. For mkl and
 * a quadratic term it is SPOM's sqrt(2 Lambda / (lambda + sigma)) (proposition 9, 1 and 3). */
static double penalty_radius(const md_online_problem *p, double limit)
{
    MD_OWNED(free) double *scratch = md_calloc(p->penalised, sizeof *scratch);
    if (scratch == NULL)
        return NAN;
    double high = 1;
    while (high < LARGEST_RADIUS && least_on_sphere(p, high, scratch) <= limit)
        high *= 2;
    double low = 0;
    for (int i = 0; i < 60; i++) {
        const double middle = 0.5 * (low + high);
        if (least_on_sphere(p, middle, scratch) <= limit)
            low = middle;
        else
            high = middle;
    }
    return high;
}

/* Does Omega grow no faster than squares? Its terms are powers, or sums of them. */
static bool grows_as_squares(const md_online_problem *p)
{
    static const double FAR = 1e20;
    double b;
    const double near = md_penalty_least(p->penalty, FAR, 1, &b);
    return md_penalty_least(p->penalty, 2 * FAR, 1, &b) <= 4.0001 * near;
}

double md_online_loss_at_zero(const md_online_problem *problem)
{
    double sum = 0;
    for (size_t e = 0; e < problem->example_count; e++)
        sum += problem->loss->at_zero(problem->space, problem->examples[e].length);
    return sum / (double)problem->example_count;
}

/* Other blocks have half of their squares. With f(r) the least of Omega on a sphere, what is
 * farthest out has r^2 + 2 (limit - f(r)), which is largest at an end if f(r) / r^2 does not rise:
 * either the ones or the others have all of it. */
double md_online_radius(const md_online_problem *problem, double lambda, double loss_at_zero)
{
    const double limit = loss_at_zero / lambda;
    const double others = sqrt(2 * limit);
    double radius = problem->penalised > 0 ? penalty_radius(problem, limit) : 0;
    if (problem->penalised < problem->block_count)
        radius = problem->penalised == 0 || grows_as_squares(problem) ? fmax(radius, others)
                                                                      : hypot(radius, others);
    return radius > LARGEST_RADIUS ? INFINITY : radius;
}
