/* SPDX-License-Identifier: BSD-3-Clause */
#include "baseline/inner_pegasos.h"

enum { FIRST_EPOCHS = 20, WARM_EPOCHS = 3 };

/* Of the longest block, so that a kernel can come back; and in time, where a run sets out from
 * another one's model. */
static const double LEAST_SHARE = 1e-20;
static const double LEAST_FIRST_SHARE = 1e-3;

medley_status md_inner_check(const md_penalty *penalty, const char *method, double most_q,
                             medley_error *error)
{
    const void *state;
    double q = 0;
    double factor;
    if (md_penalty_root(penalty, &state, &q, &factor) != NULL && q <= most_q)
        return MEDLEY_OK;
    return md_fail(error, MEDLEY_NOT_SUPPORTED,
                   "`method=%s` learns with the penalt%s only, and this is %s; use `penalty=mkl`, "
                   "or `method=spom`",
                   method, most_q > 1 ? "ies mkl and squared-block(q=1.5), q up to 2," : "y mkl",
                   md_penalty_text(penalty));
}

medley_status md_inner_init(md_online *online, size_t arrays, medley_error *error)
{
    return md_pool_new(&online->pool, &online->own, arrays * online->problem.block_count,
                       sizeof(double), error);
}

/* ---- weights ---- */

void md_inner_use_weights(md_online *online)
{
    for (size_t m = 0; m < online->problem.block_count; m++)
        online->problem.blocks[m]->dual_scale = online->own[m];
}

/* The best d for blocks of the lengths in online->norm, none of which counts as less than a share
 * of the largest; left alone if all are 0. Omega, half of a square, is 1/2 sum b_m^2 / d_m for it.
 */
static void find_weights(md_online *online, double least_share)
{
    const md_online_problem *p = &online->problem;
    double *length = online->norm;
    double *share = online->scratch;
    double largest = 0;
    double sum = 0;
    for (size_t m = 0; m < p->penalised; m++)
        largest = fmax(largest, length[m]);
    if (!(largest > 0))
        return;
    for (size_t m = 0; m < p->penalised; m++)
        length[m] = fmax(length[m], least_share * largest);
    md_penalty_weights(p->penalty, length, p->penalised, share);
    for (size_t m = 0; m < p->penalised; m++)
        sum += length[m] * length[m] / share[m];
    const double total = sum / (2 * md_penalty_value(p->penalty, length, p->penalised));
    for (size_t m = 0; m < p->penalised; m++)
        online->own[m] = total * share[m];
}

void md_inner_best_weights(md_online *online)
{
    for (size_t m = 0; m < online->problem.block_count; m++)
        online->norm[m] = md_block_length(online->problem.blocks[m]);
    find_weights(online, LEAST_SHARE);
    md_inner_use_weights(online);
}

/* ---- calls ---- */

bool md_inner_ends_call(const md_online *online)
{
    const md_inner *inner = online->state;
    return inner->epochs == (inner->calls == 0 ? FIRST_EPOCHS : WARM_EPOCHS);
}

bool md_inner_begins_call(md_online *online)
{
    md_inner *inner = online->state;
    const bool over = md_inner_ends_call(online);
    inner->calls += over;
    inner->epochs = over ? 1 : inner->epochs + 1;
    return over;
}

static bool has_theta(const md_online_problem *p)
{
    for (size_t m = 0; m < p->penalised; m++)
        if (p->blocks[m]->norm > 0)
            return true;
    return false;
}

/* With theta the weights are those of from_weights, and the first call is a warm one. */
void md_inner_restart(md_online *online)
{
    const md_online_problem *p = &online->problem;
    const double limit = md_online_loss_at_zero(p) / online->settings.lambda;
    const bool warm = has_theta(p);
    memset(online->state, 0, online->settings.rule->state_size);
    *(md_inner *)online->state = (md_inner){.radius = sqrt(2 * limit), .calls = warm};
    for (size_t m = 0; !warm && m < p->block_count; m++)
        online->norm[m] = online->own[m] = 1;
    if (!warm)
        find_weights(online, LEAST_SHARE);
    md_inner_use_weights(online);
}

void md_inner_from_weights(md_online *online)
{
    const md_online_problem *p = &online->problem;
    for (size_t m = 0; m < p->block_count; m++) {
        online->norm[m] = p->blocks[m]->norm;
        online->own[m] = 1;
    }
    find_weights(online, LEAST_FIRST_SHARE);
    for (size_t m = 0; m < p->block_count; m++)
        md_block_rescale(p->blocks[m], 1 / online->own[m]);
}

medley_status md_inner_begin(md_online *online, medley_error *error)
{
    (void)error;
    ((md_inner *)online->state)->rounds = (double)online->skipped;
    return MEDLEY_OK;
}

/* ---- rounds ---- */

/* The optimum is in the ball, as lambda/2 ||theta||^2 is no more than the objective at 0. */
static double projection(const md_online *online)
{
    double square = 0;
    for (size_t m = 0; m < online->problem.block_count; m++)
        square += online->own[m] * online->shrunk[m] * online->shrunk[m];
    const double radius = ((const md_inner *)online->state)->radius;
    return square > radius * radius ? radius / sqrt(square) : 1;
}

/* Pegasos (Shalev-Shwartz et al. 2007): eta = 1 / (lambda t). */
void md_inner_round(md_online *online, md_round *round)
{
    md_inner *inner = online->state;
    const md_online_problem *p = &online->problem;
    const double lambda = online->settings.lambda;
    if (!md_online_find_gradients(online, round))
        return;
    inner->rounds += 1;
    const double eta = 1 / (lambda * inner->rounds) * md_online_cooling(online);
    const double share = eta / (double)round->size;
    md_online_rescale(online, p->block_count, 1 - lambda * eta);
    md_online_step(online, round->gradients, share);
    if (!md_online_norms_are_finite(online)) {
        online->diverged = true;
        return;
    }
    memcpy(online->shrunk, online->norm, p->block_count * sizeof *online->norm);
    md_online_finish(online, round->gradients, share, projection(online));
}
