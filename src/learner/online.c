/* SPDX-License-Identifier: BSD-3-Clause */
#include "learner/online.h"

#include "base/memory.h"
#include "base/parallel.h"
#include "base/random.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LOOKAHEAD = 4 };                  /* windows of examples */
enum { CHUNK = 256 };                    /* examples per piece of the objective's sum */
static const double PARALLEL_WORK = 1e6; /* values touched by an update worth two threads */
enum { SHARES = 8 }; /* of the blocks for each thread: few, since a block alone may be tiny */
static const double VANISHED = 1e-30;    /* no length that single precision could show */
static const double MOST_SHRINK = 1e300; /* of tau = eta lambda, which must stay finite */

static void fill_order(md_online *online)
{
    for (size_t i = 0; i < online->visited; i++)
        online->order[i] = online->visit ? online->visit[i] : i;
}

medley_status md_online_init(md_online *online, const md_online_problem *problem,
                             const md_online_settings *settings, medley_error *error)
{
    *online = (md_online){.settings = *settings,
                          .blocks = problem->blocks,
                          .block_count = problem->block_count,
                          .gram = problem->gram,
                          .structure = problem->structure,
                          .shape = problem->shape,
                          .loss = problem->loss,
                          .penalty = problem->penalty,
                          .examples = problem->examples,
                          .example_count = problem->example_count,
                          .gold = problem->gold,
                          .visit = problem->visit};
    online->visited = problem->visit ? problem->visit_count : problem->example_count;
    for (size_t e = 0; e < problem->example_count; e++)
        if (problem->examples[e].length > online->longest)
            online->longest = problem->examples[e].length;
    const size_t parts = problem->structure->part_count(problem->shape, online->longest);
    const size_t m = problem->block_count;
    online->order = md_calloc(online->visited, sizeof *online->order);
    online->rows = md_calloc(online->visited * online->longest, sizeof *online->rows);
    online->stepped = md_calloc(problem->example_count, sizeof *online->stepped);
    online->norm = md_calloc(m, sizeof *online->norm);
    online->shrunk = md_calloc(m, sizeof *online->shrunk);
    online->scratch = md_calloc(3 * m, sizeof *online->scratch);
    online->score = md_calloc(parts, sizeof *online->score);
    if (!online->order || !online->rows || !online->stepped || !online->norm || !online->shrunk ||
        !online->scratch || !online->score) {
        md_online_clear(online);
        return md_fail_memory(error, (online->visited * online->longest + 5 * m) * 8);
    }
    fill_order(online);
    const medley_status status = md_inference_init(&online->inference, problem->structure,
                                                   problem->shape, online->longest, error);
    if (status < 0)
        md_online_clear(online);
    return status;
}

void md_online_clear(md_online *online)
{
    free(online->order);
    free(online->rows);
    free(online->stepped);
    free(online->norm);
    free(online->shrunk);
    free(online->scratch);
    free(online->score);
    md_inference_clear(&online->inference);
    *online = (md_online){0};
}

void md_online_restart(md_online *online, double eta0)
{
    online->round = 0;
    online->diverged = false;
    online->settings.eta0 = eta0;
    for (size_t m = 0; m < online->block_count; m++)
        online->blocks[m]->class->restart(online->blocks[m]);
    memset(online->stepped, 0, online->example_count * sizeof *online->stepped);
}

/* inverse: 1/(sigma t) with sigma the strong convexity of lambda Omega; eta0/t if it has none. */
static double rate(const md_online *online)
{
    const md_online_settings *s = &online->settings;
    const double t = (double)online->round;
    if (s->schedule == MD_RATE_CONSTANT)
        return s->eta0;
    if (s->schedule == MD_RATE_SQRT)
        return s->eta0 / sqrt(t);
    const double sigma = s->lambda * md_penalty_strong_convexity(online->penalty);
    return s->eta0 / ((sigma > 0 ? sigma : 1) * t);
}

/* ---- one round ---- */

struct step {
    md_online *online;
    md_example example;
    double eta;
    double shrink_all; /* by the projection */
    size_t share;      /* blocks that one thread takes at a time */
};

/* Gradient step, prox and projection of one block, in one go: norm[m] is ||theta~_m||, shrunk[m]
 * its length after the prox. A block that ends at zero needs no kernel row. */
static void finish_block(const struct step *step, size_t m)
{
    md_online *online = step->online;
    md_block *block = online->blocks[m];
    const double length = online->shrunk[m] * step->shrink_all;
    if (length < VANISHED) {
        if (block->norm > 0)
            block->class->clear(block);
        return;
    }
    if (online->inference.delta.count > 0)
        block->class->update(block, step->example, &online->inference.delta, step->eta);
    block->norm = online->norm[m];
    md_block_rescale(block, length / online->norm[m]);
}

static void finish_share(void *context, size_t item, size_t worker)
{
    (void)worker;
    const struct step *step = context;
    const size_t count = step->online->block_count;
    const size_t first = item * step->share;
    const size_t last = count - first < step->share ? count : first + step->share;
    for (size_t m = first; m < last; m++)
        finish_block(step, m);
}

/* Lines 7 and 10: every block by itself. */
static void finish_blocks(struct step *step, size_t threads)
{
    const size_t count = step->online->block_count;
    step->share = count / (threads * SHARES) + 1;
    md_parallel_for(threads, (count + step->share - 1) / step->share, finish_share, step);
}

/* The same where coordinates are soft-thresholded first: then the norms are those behind it. */
static void step_and_threshold(md_online *online, const struct step *step, double threshold)
{
    for (size_t m = 0; m < online->block_count; m++) {
        md_block *block = online->blocks[m];
        if (online->inference.delta.count > 0)
            block->class->update(block, step->example, &online->inference.delta, step->eta);
        if (block->class->soft_threshold != NULL)
            block->class->soft_threshold(block, threshold);
        md_block_refresh_norm(block);
        online->norm[m] = block->norm;
    }
}

static bool norms_are_finite(const md_online *online)
{
    for (size_t m = 0; m < online->block_count; m++)
        if (!isfinite(online->norm[m]))
            return false;
    return true;
}

static double projection(const md_online *online)
{
    double square = 0;
    for (size_t m = 0; m < online->block_count; m++)
        square += online->shrunk[m] * online->shrunk[m];
    const double norm = sqrt(square);
    return norm > online->settings.radius ? online->settings.radius / norm : 1;
}

/* A row that the Gram source has not announced is computed when it is asked for, by one thread. */
static size_t update_threads(const md_online *online, md_example example)
{
    const size_t rows = online->gram ? md_gram_rows(online->gram) : 0;
    const double work =
        (double)online->inference.delta.count * (double)online->block_count * (double)rows;
    bool announced = true;
    for (size_t i = 0; rows > 0 && i < example.length; i++)
        announced = announced && md_gram_has_row(online->gram, example.row + i);
    return work > PARALLEL_WORK && announced ? online->settings.threads : 1;
}

/* Alg. 3, lines 5 and 6: scores of the example and the gradient of its loss, in inference.delta. */
static void find_gradient(md_online *online, md_example example)
{
    const size_t parts = online->structure->part_count(online->shape, example.length);
    memset(online->score, 0, parts * sizeof *online->score);
    for (size_t m = 0; m < online->block_count; m++)
        online->blocks[m]->class->score(online->blocks[m], example, online->score);
    online->loss->evaluate(&online->inference, example.length, online->score,
                           online->gold + example.row, true);
}

/* Returns whether the example had a loss to step against. */
static bool round_of_spom(md_online *online, md_example example)
{
    online->round++;
    struct step step = {.online = online, .example = example, .eta = rate(online)};
    const size_t m_count = online->block_count;
    md_delta *delta = &online->inference.delta;

    find_gradient(online, example);
    const bool stepped = delta->count > 0;

    const double tau = fmin(step.eta * online->settings.lambda, MOST_SHRINK);
    const double threshold = tau * md_penalty_inner_threshold(online->penalty);
    if (threshold > 0) {
        step_and_threshold(online, &step, threshold);
        delta->count = 0; /* the step is done */
    } else {
        for (size_t m = 0; m < m_count; m++) /* line 7, without touching theta */
            online->norm[m] = md_block_norm_after(online->blocks[m], example, delta, step.eta);
    }
    if (!norms_are_finite(online)) {
        online->diverged = true;
        return stepped;
    }
    memcpy(online->shrunk, online->norm, m_count * sizeof *online->norm);
    md_penalty_prox(online->penalty, tau, online->shrunk, m_count, online->scratch); /* 8-9 */
    step.shrink_all = projection(online);                                            /* 11 */

    finish_blocks(&step, update_threads(online, example)); /* 7 and 10 */
    if (online->settings.average)
        for (size_t m = 0; m < m_count; m++)
            md_block_count_iterate(online->blocks[m]);
    return stepped;
}

/* ---- an epoch ---- */

/* Tells the Gram source the rows of the next examples that look as if they will need a step, as
 * many as fit its window; returns how many examples were looked at. Late in training few need one,
 * so most rows are never computed; a wrong guess costs a row computed alone. */
static medley_status announce(md_online *online, size_t from, size_t *count, medley_error *error)
{
    const size_t window = online->gram ? md_gram_window(online->gram) : SIZE_MAX;
    *count = online->visited - from;
    if (window == SIZE_MAX)
        return MEDLEY_OK;
    size_t rows = 0;
    size_t taken = 0;
    while (from + taken < online->visited && taken < LOOKAHEAD * window) {
        const md_example *example = &online->examples[online->order[from + taken]];
        if (rows + example->length > window && taken > 0)
            break;
        find_gradient(online, *example);
        const bool needed =
            online->inference.delta.count > 0 || online->stepped[online->order[from + taken]];
        for (size_t i = 0; needed && i < example->length; i++)
            online->rows[rows++] = example->row + i;
        taken++;
    }
    *count = taken;
    return md_gram_prefetch(online->gram, online->rows, rows, error);
}

medley_status md_online_epoch(md_online *online, size_t epoch, medley_error *error)
{
    md_random random;
    fill_order(online);
    md_random_seed(&random, online->settings.seed * 1000003u + epoch);
    md_random_shuffle(&random, online->order, online->visited);
    for (size_t i = 0; i < online->visited;) {
        size_t count;
        const medley_status status = announce(online, i, &count, error);
        if (status < 0)
            return status;
        for (size_t last = i + count; i < last && !online->diverged; i++)
            online->stepped[online->order[i]] =
                round_of_spom(online, online->examples[online->order[i]]);
        if (online->diverged)
            return MEDLEY_OK;
    }
    for (size_t m = 0; m < online->block_count; m++)
        md_block_refresh_norm(online->blocks[m]);
    return MEDLEY_OK;
}

medley_status md_online_take_average(md_online *online, medley_error *error)
{
    medley_status status = MEDLEY_OK;
    for (size_t m = 0; m < online->block_count && status == MEDLEY_OK; m++)
        status = online->blocks[m]->class->take_average(online->blocks[m], error);
    return status;
}

/* ---- the objective ---- */

struct measure {
    md_online *online;
    md_inference *inference; /* [threads] */
    float *score;            /* [threads][parts] */
    size_t parts;
    const size_t *which; /* [count] examples */
    size_t count;
    double *sum; /* [chunks], added up in order: the same for any number of threads */
};

static void measure_chunk(void *context, size_t chunk, size_t worker)
{
    struct measure *measure = context;
    md_online *online = measure->online;
    float *score = measure->score + worker * measure->parts;
    const size_t first = chunk * CHUNK;
    const size_t last = first + CHUNK < measure->count ? first + CHUNK : measure->count;
    double sum = 0;
    for (size_t i = first; i < last; i++) {
        const md_example example = online->examples[measure->which[i]];
        memset(score, 0, measure->parts * sizeof *score);
        for (size_t m = 0; m < online->block_count; m++)
            online->blocks[m]->class->score(online->blocks[m], example, score);
        sum += online->loss->evaluate(&measure->inference[worker], example.length, score,
                                      online->gold + example.row, false);
    }
    measure->sum[chunk] = sum;
}

static double penalty_now(md_online *online)
{
    for (size_t m = 0; m < online->block_count; m++)
        online->norm[m] = online->blocks[m]->norm;
    double value = md_penalty_value(online->penalty, online->norm, online->block_count);
    const double inner = md_penalty_inner_threshold(online->penalty);
    for (size_t m = 0; inner > 0 && m < online->block_count; m++)
        if (online->blocks[m]->class->soft_threshold != NULL)
            value += inner * online->blocks[m]->class->soft_threshold(online->blocks[m], 0);
    return value;
}

medley_status md_online_mean_loss(md_online *online, const size_t *which, size_t count,
                                  double *mean_loss, medley_error *error)
{
    medley_status status = MEDLEY_OK;
    const size_t threads = online->settings.threads;
    const size_t chunks = (count + CHUNK - 1) / CHUNK;
    struct measure measure = {.online = online,
                              .parts =
                                  online->structure->part_count(online->shape, online->longest),
                              .which = which,
                              .count = count};
    measure.inference = md_calloc(threads, sizeof *measure.inference);
    measure.score = md_calloc(threads * measure.parts, sizeof *measure.score);
    measure.sum = md_calloc(chunks, sizeof *measure.sum);
    if (!measure.inference || !measure.score || !measure.sum) {
        status = md_fail_memory(error, threads * measure.parts * sizeof *measure.score);
        goto done;
    }
    for (size_t t = 0; t < threads; t++)
        MEDLEY_TRY(md_inference_init(&measure.inference[t], online->structure, online->shape,
                                     online->longest, error));
    md_parallel_for(threads, chunks, measure_chunk, &measure);
    double sum = 0;
    for (size_t c = 0; c < chunks; c++)
        sum += measure.sum[c];
    *mean_loss = online->diverged ? INFINITY : sum / (double)count;
done:
    for (size_t t = 0; measure.inference != NULL && t < threads; t++)
        md_inference_clear(&measure.inference[t]);
    free(measure.inference);
    free(measure.score);
    free(measure.sum);
    return status;
}

medley_status md_online_objective(md_online *online, double *objective, double *mean_loss,
                                  medley_error *error)
{
    double loss;
    const medley_status status =
        md_online_mean_loss(online, online->order, online->visited, &loss, error);
    if (status < 0)
        return status;
    *objective = loss + online->settings.lambda * penalty_now(online);
    if (mean_loss != NULL)
        *mean_loss = loss;
    return status;
}

/* ---- the ball ---- */

static const double LARGEST_RADIUS = 1e100; /* as good as none, and its square is finite */

/* Omega(r u), u the direction with equal entries on the first k blocks. */
static double value_along(const md_penalty *penalty, double r, size_t k, double *b, size_t count)
{
    for (size_t m = 0; m < count; m++)
        b[m] = m < k ? r / sqrt((double)k) : 0;
    return md_penalty_value(penalty, b, count);
}

/* Largest r with Omega(r u) <= limit: brackets by doubling, then halves the bracket. */
static double reach(const md_penalty *penalty, double limit, size_t k, double *b, size_t count)
{
    double high = 1;
    while (high < LARGEST_RADIUS && value_along(penalty, high, k, b, count) <= limit)
        high *= 2;
    double low = 0;
    for (int i = 0; i < 60; i++) {
        const double middle = 0.5 * (low + high);
        if (value_along(penalty, middle, k, b, count) <= limit)
            low = middle;
        else
            high = middle;
    }
    return high;
}

/* Omega is convex, symmetric in the blocks and does not fall as they grow. For the single terms
 * there are, it is least along a sphere either on one block or on all alike. A sum of terms may
 * prefer some number of blocks in between; then what holds is b_m <= one and, by averaging over
 * permutations, sum b <= sqrt(M) all, so that ||b||^2 <= one sqrt(M) all. */
double md_online_radius(const md_penalty *penalty, double lambda, double loss_at_zero,
                        size_t block_count)
{
    double *b = md_calloc(block_count, sizeof *b);
    if (b == NULL)
        return INFINITY; /* the projection is a safeguard: do without */
    for (size_t m = 0; m < block_count; m++)
        b[m] = 1;
    double radius = INFINITY;
    if (md_penalty_value(penalty, b, block_count) > 0) {
        const double limit = loss_at_zero / lambda;
        const double one = reach(penalty, limit, 1, b, block_count);
        const double all = reach(penalty, limit, block_count, b, block_count);
        const bool composite = strchr(md_penalty_text(penalty), '+') != NULL;
        radius = composite ? sqrt(one * sqrt((double)block_count) * all) : fmax(one, all);
    }
    free(b);
    return radius > LARGEST_RADIUS ? INFINITY : radius;
}
