/* SPDX-License-Identifier: BSD-3-Clause */
/* Block-coordinate Frank-Wolfe with pairwise steps (Lacoste-Julien et al., ICML 2013; Osokin et
 * al., ICML 2016) for any penalty with a conjugate. It maximises the dual of
 *
 *     lambda Omega(w) + mean loss(w; x, y),
 *
 * which has a distribution over the outputs of each example for its variables (docs/math.md):
 *
 *     D = mean E[cost or entropy] - lambda Omega*(v / lambda),     v = mean E[phi(gold) - phi(y)].
 *
 * theta is v, and the dual scales make the weights w of it that belong to v (penalty/link.h). A
 * visit asks the loss for the best output under w, or for marginals, and moves weight to it: from
 * the worst of the outputs that have some, or, with marginals, from the distribution as a whole.
 * How much follows from an exact line search, since squared norms of blocks are quadratic in it.
 * For log losses the entropy of a mixture is taken for the mean of the entropies that went into it,
 * which is less: a Frank-Wolfe step in one dimension more, for any structure.
 *
 * What is left to gain at all examples is the gap between objective and dual. Penalties whose
 * conjugate is not smooth get a term mu/2 sum b^2 that vanishes; their gap is that of the objective
 * as it is. */
#include "online/dual.h"

#include "online/duals.h"
#include "online/gather.h"
#include "online/run.h"
#include "penalty/bound.h"
#include "penalty/link.h"

/* Examples are left alone whose gap is less than these shares of the one that is asked for or was
 * the mean of the last epoch, and of the mean in this one so far; a pass to measure it is worth
 * while from this multiple on. */
static const double LEAST_SHARE = 0.3;
static const double LEAST_OF_MEAN = 0.2;
static const double WORTH_MEASURING = 1.5;

/* Of smoothing, over the gap that is asked for. */
static const double LEAST_BIAS = 0.125;

/* Of a round on kernels: their values for each other are at hand, so its examples are visited again
 * until they lack no more than this share of what they did, or so many times. */
static const double ENOUGH = 0.3;
enum { PASSES = 30 };

struct frank_wolfe {
    double offset;     /* sum over examples of E[cost or entropy] */
    double met;        /* sum of the gaps of this epoch's examples, each when it was met */
    double visits;     /* how many these are */
    double least;      /* smaller ones are left alone */
    double gap;        /* relative, after the last epoch; infinite: there was none */
    double smoothing;  /* mu */
    uint64_t surveyed; /* it is known what each example lacks */
};

static struct frank_wolfe *state_of(const md_online *online)
{
    return online->state;
}

static void set_scales(md_online *online)
{
    const md_online_problem *p = &online->problem;
    double *scale = online->scratch;
    for (size_t m = 0; m < p->block_count; m++)
        online->norm[m] = p->blocks[m]->norm;
    md_penalty_link(p->penalty, online->settings.lambda, state_of(online)->smoothing, online->norm,
                    p->block_count, online->shrunk, scale);
    for (size_t m = 0; m < p->block_count; m++)
        p->blocks[m]->dual_scale = online->shrunk[m];
}

static medley_status check(const md_problem *problem, medley_error *error)
{
    if (md_penalty_link_kind(problem->penalty) != MD_NO_LINK)
        return MEDLEY_OK;
    return md_fail(error, MEDLEY_USAGE,
                   "`method=%s` goes from dual vectors to weights by the penalty, and "
                   "`penalty=%s` does not tell the way; use squared-block, l2, mkl, "
                   "group-lasso, block, elastic or elastic-mkl alone",
                   md_rule_frank_wolfe.about.name, md_penalty_text(problem->penalty));
}

static medley_status init(md_online *online, medley_error *error)
{
    const md_online_problem *p = &online->problem;
    MEDLEY_TRY(md_pool_new(&online->pool, &online->duals, 1, sizeof *online->duals, error));
    MEDLEY_TRY(md_pool_new(&online->pool, &online->own, 2 * p->block_count, sizeof(double), error));
    MEDLEY_TRY(md_pool_new(&online->pool, &online->gather, 1, sizeof *online->gather, error));
    MEDLEY_TRY(md_gather_init(online->gather, p, online->settings.batch, online->longest, error));
    return md_duals_init(online->duals, p->space, p->loss->by_marginals, p->examples,
                         p->example_count, error);
}

static void restart(md_online *online)
{
    const md_online_problem *p = &online->problem;
    const bool smooth = md_penalty_link_kind(p->penalty) == MD_SMOOTH_LINK;
    *state_of(online) = (struct frank_wolfe){.gap = INFINITY, .smoothing = smooth ? 0 : 1};
    md_duals_restart(online->duals, p->examples, p->gold);
    md_gather_restart(online->gather);
    for (size_t m = 0; m < p->block_count; m++)
        p->blocks[m]->class->restart(p->blocks[m]);
    set_scales(online);
}

/* ---- line search ---- */

/* n_m^2 = norm_m^2 + 2 gamma inner_m + gamma^2 square_m for v + gamma dv. */
struct line {
    md_online *online;
    const double *inner, *square; /* [blocks] */
    double offset;                /* change of E[cost or entropy] / N */
};

/* dD / dgamma */
static double slope_at(const struct line *line, double gamma)
{
    md_online *online = line->online;
    const md_online_problem *p = &online->problem;
    for (size_t m = 0; m < p->block_count; m++) {
        const double norm = p->blocks[m]->norm;
        const double square = norm * norm + gamma * (2 * line->inner[m] + gamma * line->square[m]);
        online->norm[m] = sqrt(fmax(0, square));
    }
    md_penalty_link(p->penalty, online->settings.lambda, state_of(online)->smoothing, online->norm,
                    p->block_count, online->shrunk, online->scratch);
    double slope = line->offset;
    for (size_t m = 0; m < p->block_count; m++)
        slope -= online->shrunk[m] * (line->inner[m] + gamma * line->square[m]);
    return slope;
}

/* The root of the falling slope between 0 and most, by false position with halving (Illinois). */
static double find_step(const struct line *line, double most)
{
    enum { STEPS = 40 };
    static const double NEAR = 1e-3;
    const double first = slope_at(line, 0);
    double low = 0;
    double high = most;
    double at_low = first;
    double at_high = slope_at(line, most);
    double gamma = 0;
    if (!(first > 0))
        return 0;
    if (at_high >= 0)
        return most;
    for (int step = 0; step < STEPS; step++) {
        gamma = low + (high - low) * at_low / (at_low - at_high);
        const double slope = slope_at(line, gamma);
        if (fabs(slope) <= NEAR * first)
            break;
        if (slope > 0) {
            low = gamma;
            at_low = slope;
            at_high /= 2;
        } else {
            high = gamma;
            at_high = slope;
            at_low /= 2;
        }
    }
    return gamma;
}

/* ---- visits ---- */

/* Moves weight along the direction, a part of it; false: nothing is gained that way. */
static bool take_step(md_online *online, const md_found *found, const md_move *move)
{
    const md_online_problem *p = &online->problem;
    const double share = 1 / (double)p->visit_count;
    const md_gradient direction = {.example = found->where, .delta = &online->duals->scratch.delta};
    double *inner = online->own;
    double *square = inner + p->block_count;
    for (size_t m = 0; m < p->block_count; m++) {
        md_block *block = p->blocks[m];
        inner[m] = -share * block->class->slope(block, &direction);
        square[m] = share * share * block->class->gradient_norm2(block, &direction);
    }
    const struct line line = {
        .online = online, .inner = inner, .square = square, .offset = share * move->offset};
    const double weight = find_step(&line, move->most);
    if (!(weight > 0))
        return false;
    const md_gradient met = online->gradients[0];
    online->gradients[0] = direction;
    md_online_step(online, 1, weight * share);
    if (!md_online_norms_are_finite(online)) {
        online->diverged = true;
    } else {
        memcpy(online->shrunk, online->norm, p->block_count * sizeof *online->norm);
        md_online_finish(online, 1, weight * share, 1);
        set_scales(online);
        md_duals_take(online->duals, found, move, weight);
        state_of(online)->offset += weight * move->offset;
    }
    online->gradients[0] = met;
    return true;
}

/* Of an output: its cost, where the structure counts wrong labels as it does by default; what
 * scores tell otherwise, and then no more than that. */
static double cost_of(const md_online *online, size_t item, md_example example,
                      const int32_t *output)
{
    const md_online_problem *p = &online->problem;
    const md_gather *gather = online->gather;
    const double margin = MD_ROUNDING * gather->item_rounding[item];
    const double cost = p->space.structure->cost(online->inference[item].space.shape,
                                                 example.length, output, p->gold + example.row);
    const double told = gather->item_offset[item];
    return fabs(told - cost) <= margin ? cost : told - margin;
}

static md_found found_for(const md_online *online, size_t which, size_t item)
{
    const md_online_problem *p = &online->problem;
    const md_inference *inference = &online->inference[item];
    const md_gather *gather = online->gather;
    const md_example example = p->examples[which];
    const int32_t *gold = p->gold + example.row;
    const int32_t *output = inference->delta.count > 0 ? inference->output : gold;
    const bool single = !p->loss->by_marginals; /* outputs, whose costs are known exactly */
    return (md_found){.example = which,
                      .where = example,
                      .gold = gold,
                      .score = gather->score + item * gather->parts,
                      .delta = &inference->delta,
                      .output = single ? output : NULL,
                      .loss = online->loss[item],
                      .offset = single ? cost_of(online, item, example, output)
                                       : gather->item_offset[item],
                      .rounding = single ? 0 : gather->item_rounding[item]};
}

/* True: with a step. */
static bool visit(md_online *online, size_t which, size_t item, double least)
{
    struct frank_wolfe *fw = state_of(online);
    const md_found found = found_for(online, which, item);
    const md_move move = md_duals_choose(online->duals, &found);
    fw->met += fmax(0, move.gap);
    fw->visits += 1;
    return move.gap > fmax(least, LEAST_OF_MEAN * fw->met / fw->visits) && move.most > 0 &&
           take_step(online, &found, &move);
}

/* ---- rounds ---- */

/* One after the other, each by the weights as they are then: what they lacked in all. */
static double visit_in_turn(md_online *online, md_round *round)
{
    struct frank_wolfe *fw = state_of(online);
    fw->met = fw->visits = 0;
    for (size_t i = 0; i < round->size && !online->diverged; i++) {
        md_online_find_gradient(round, i);
        online->updates += visit(online, round->which[i], i, 0);
    }
    return fw->met;
}

/* Kernel values of the examples of a round for each other are at hand. The first time it is all new
 * to them, and what one window would learn by heart the next ones had to correct. */
static void take_round_of_kernels(md_online *online, md_round *round)
{
    const double enough = (state_of(online)->surveyed ? ENOUGH : 1) * visit_in_turn(online, round);
    for (int pass = 1; pass < PASSES && visit_in_turn(online, round) > enough; pass++)
        ;
}

static void take_round(md_online *online, md_round *round)
{
    size_t updates = online->updates;
    if (online->problem.gram != NULL) {
        take_round_of_kernels(online, round);
        return;
    }
    if (!md_online_find_gradients(online, round))
        return;
    for (size_t i = 0; i < round->size && !online->diverged; i++)
        updates += visit(online, round->which[i], i, state_of(online)->least);
    online->updates = updates;
}

/* What every example lacks, by scores that are exact for all of them. */
static void survey(md_online *online)
{
    const md_online_problem *p = &online->problem;
    struct frank_wolfe *fw = state_of(online);
    const size_t updates = online->updates;
    fw->met = online->loss_sum = 0;
    md_online_fill_order(online);
    for (size_t i = 0; i < p->visit_count; i += online->settings.batch) {
        md_round round = {.online = online,
                          .which = online->order + i,
                          .size = md_min(online->settings.batch, p->visit_count - i)};
        if (!md_online_find_gradients(online, &round))
            return;
        for (size_t j = 0; j < round.size; j++) {
            const md_found found = found_for(online, round.which[j], j);
            fw->met += fmax(0, md_duals_measure(online->duals, &found));
        }
    }
    online->updates = updates;
    fw->surveyed = 1;
}

/* Those that lack much come first, and those that others will disturb. */
static medley_status choose(md_online *online, size_t *chosen, medley_error *error)
{
    (void)error;
    const md_online_problem *p = &online->problem;
    const struct frank_wolfe *fw = state_of(online);
    size_t count = 0;
    if (!fw->surveyed)
        return MEDLEY_OK;
    for (size_t i = 0; i < p->visit_count; i++) {
        const size_t which = online->order[i];
        if (online->duals->gap[which] <= fw->least && online->duals->count[which] <= 1)
            continue;
        online->order[i] = online->order[count];
        online->order[count++] = which;
    }
    *chosen = count;
    return MEDLEY_OK;
}

/* ---- the gap ---- */

/* D of the distributions as they are, without smoothing, and without what may be rounding. */
static double dual_now(md_online *online)
{
    const md_online_problem *p = &online->problem;
    double rounding = 0;
    for (size_t m = 0; m < p->block_count; m++)
        online->norm[m] = p->blocks[m]->norm;
    for (size_t e = 0; e < p->example_count; e++)
        rounding += online->duals->mixture_rounding[e];
    const double offset = state_of(online)->offset - MD_ROUNDING * rounding;
    return md_penalty_bound(p->penalty, online->settings.lambda, offset / (double)p->visit_count,
                            online->norm, p->block_count, p->block_count, NULL, online->scratch);
}

/* The objective by what the examples lacked: they add up to the gap of the smoothed problem, whose
 * dual is mean E[cost or entropy] - <v, w> + lambda (Omega(w) + mu/2 sum b^2). */
static double objective_met(md_online *online)
{
    const md_online_problem *p = &online->problem;
    const struct frank_wolfe *fw = state_of(online);
    double product = 0;
    for (size_t m = 0; m < p->block_count; m++) {
        online->norm[m] = md_block_length(p->blocks[m]);
        product += p->blocks[m]->norm * online->norm[m];
    }
    return (fw->offset + fw->met) / (double)p->visit_count - product +
           online->settings.lambda * md_penalty_value(p->penalty, online->norm, p->block_count);
}

/* Of the weights as they are. */
static medley_status find_gap(md_online *online, double *objective, medley_error *error)
{
    const double dual = dual_now(online);
    if (online->problem.gram != NULL) {
        double loss;
        survey(online);
        *objective = md_online_progress(online, &loss);
    } else {
        MEDLEY_TRY(md_online_objective(online, objective, NULL, error));
    }
    state_of(online)->gap = *objective > 0 ? 1 - dual / *objective : 0;
    return MEDLEY_OK;
}

/* The distribution of visited example i, into duals->scratch.delta; which example that is. */
static size_t fill_distribution(md_online *online, size_t i, double *offset, double *rounding)
{
    const md_online_problem *p = &online->problem;
    const size_t which = p->visit ? p->visit[i] : i;
    const md_example example = p->examples[which];
    md_duals_fill(online->duals, which, example, p->gold + example.row, offset, rounding);
    return which;
}

static void drop_rounding(md_online *online)
{
    const md_online_problem *p = &online->problem;
    for (size_t i = 0; i < p->visit_count; i++) {
        double offset;
        double rounding;
        const md_example example = p->examples[fill_distribution(online, i, &offset, &rounding)];
        for (size_t m = 0; m < p->block_count; m++)
            if (p->blocks[m]->class->drop_others != NULL)
                p->blocks[m]->class->drop_others(p->blocks[m], example,
                                                 &online->duals->scratch.delta);
    }
}

/* What smoothing adds to the objective that is minimised: lambda mu/2 sum b^2. */
static double bias_of(const md_online *online)
{
    double squares = 0;
    for (size_t m = 0; m < online->problem.block_count; m++) {
        const double length = md_block_length(online->problem.blocks[m]);
        squares += length * length;
    }
    return online->settings.lambda * state_of(online)->smoothing / 2 * squares;
}

/* Less smoothing follows where it is most of what is still to be gained; on kernels, whose norms
 * are rounded, not without end: weights are differences of norms over mu, and so is their rounding.
 */
static medley_status measure(md_online *online, double *objective, medley_error *error)
{
    struct frank_wolfe *fw = state_of(online);
    const double asked = online->settings.gap;
    const double dual = dual_now(online);
    const bool kernels = online->problem.gram != NULL;
    if (kernels)
        MEDLEY_TRY(find_gap(online, objective, error));
    else
        *objective = fmax(objective_met(online), dual);
    const double met = fw->met / (double)online->problem.visit_count;
    const double bias = *objective - dual - met;
    fw->gap = *objective > 0 ? 1 - dual / *objective : 0; /* more than was asked for, or measured */
    if (!kernels && *objective - dual <= WORTH_MEASURING * asked * *objective)
        MEDLEY_TRY(find_gap(online, objective, error));
    if (fw->gap <= asked) { /* and not by rounding alone */
        drop_rounding(online);
        MEDLEY_TRY(md_online_make_exact(online, error));
        set_scales(online);
        MEDLEY_TRY(find_gap(online, objective, error));
    }
    if (fw->gap > asked && bias > fmax(met, asked * *objective / 2) &&
        (!kernels || bias_of(online) > LEAST_BIAS * asked * *objective))
        fw->smoothing /= 2;
    fw->least = LEAST_SHARE * fmax(asked * *objective, met);
    fw->met = fw->visits = 0;
    set_scales(online);
    return MEDLEY_OK;
}

static double gap(const md_online *online)
{
    return state_of(online)->gap;
}

static void distributions(md_online *online)
{
    const md_online_problem *p = &online->problem;
    md_gather_restart(online->gather);
    for (size_t i = 0; i < p->visit_count; i++) {
        double offset;
        double rounding;
        const size_t which = fill_distribution(online, i, &offset, &rounding);
        md_gather_add(online->gather, which, p->examples[which].length,
                      &online->duals->scratch.delta);
        online->gather->offset += offset;
        online->gather->rounding += rounding;
    }
}

static void clear(md_online *online)
{
    if (online->duals != NULL)
        md_duals_clear(online->duals);
    if (online->gather != NULL)
        md_gather_clear(online->gather);
}

static void visit_state(md_online *online, md_state_visitor visitor, void *context)
{
    md_duals_visit_state(online->duals, visitor, context);
}

static bool is_sound(md_online *online)
{
    return md_duals_are_sound(online->duals, online->problem.examples);
}

const md_rule md_rule_frank_wolfe = {
    .about = {.name = "frank-wolfe",
              .summary = "the joint optimum of any structure, with a proof (dual ascent)",
              .takes = MD_TAKES_STRENGTH | MD_TAKES_PATIENCE | MD_ALL_BLOCKS | MD_TAKES_PENALTY |
                       MD_TAKES_NORM | MD_TAKES_EPOCHS | MD_TAKES_GAP},
    .traits = {.default_C = 1,
               .few_changes = true,
               .epochs = 10000,
               .rows = 1024,
               .any_penalty = true,
               .penalty = md_dual_penalty},
    .smaller = {"C"},
    .state_size = sizeof(struct frank_wolfe),
    .check = check,
    .init = init,
    .restart = restart,
    .choose = choose,
    .end_epoch = set_scales,
    .measure = measure,
    .gap = gap,
    .distributions = distributions,
    .visit_state = visit_state,
    .is_sound = is_sound,
    .clear = clear,
    .round = take_round,
};
