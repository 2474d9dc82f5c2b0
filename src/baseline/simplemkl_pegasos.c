/* SPDX-License-Identifier: BSD-3-Clause */
/* SimpleMKL (Rakotomamonjy et al. 2008) around structured Pegasos, with which SPOM is compared
 * (Martins et al. 2011, section 4.1): descent on J(d), the objective that a call of the machine
 * leaves for kernel weights d of sum 1, along the reduced gradient
 *
 *     dJ/dd_m = -lambda/2 ||theta_m||^2,
 *
 * (where blocks have weights c, those of kernels are d_m / c_m^2, and theta_m is over c_m here),
 * the largest weight giving or taking what the others want. As in simplemkl.c, steps go as far as
 * the next weight that becomes 0, and on from there while J falls; then a golden section divides
 * the last stretch. Every look at J is a call of the machine, which goes on with the theta of the
 * one before, and J is as near to the truth as the epochs of a call come. */
#include "baseline/inner_pegasos.h"
#include "baseline/reduced_gradient.h"
#include "optim/optim.h"
#include "penalty/block_weight.h"

static const double PRECISION = 0.1; /* of the golden section, as in the paper */
static const double SHORTEST = 1e-3; /* share of a stretch that it looks at while nothing helps */

enum { ARRAYS = 3 }; /* kernel weights; d where a stretch begins, and where it leads */

/* What the call that is about to end was for. */
enum purpose { FOR_GRADIENT, FOR_STRETCH, FOR_SECTION };

struct simplemkl {
    md_inner inner;
    uint64_t purpose;
    size_t mu;      /* whose weight makes up for the others */
    size_t which;   /* weight that is 0 at the end of the stretch */
    double length;  /* of the stretch */
    md_golden line; /* steps on it */
    double step;    /* of the weights in use */
    double best_step, best_total;
};

static double *base_of(const md_online *online)
{
    return online->own + online->problem.block_count;
}

static double *slope_of(const md_online *online)
{
    return online->own + 2 * online->problem.block_count;
}

/* c_m */
static double weight_of(const md_online *online, size_t m)
{
    return md_block_weight(md_penalty_block_weights(online->problem.penalty), m);
}

static medley_status check(const md_problem *problem, medley_error *error)
{
    return md_inner_check(problem->penalty, md_rule_simplemkl_pegasos.about.name, 1, error);
}

static medley_status init(md_online *online, medley_error *error)
{
    return md_inner_init(online, ARRAYS, error);
}

/* J of the weights and the theta that there is for them. */
static medley_status find_total(md_online *online, double *total, medley_error *error)
{
    const md_online_problem *p = &online->problem;
    double square = 0;
    md_online_fill_order(online);
    MEDLEY_TRY(md_online_mean_loss(online, online->order, p->visit_count, total, error));
    for (size_t m = 0; m < p->block_count; m++)
        square += online->own[m] * p->blocks[m]->norm * p->blocks[m]->norm;
    *total += online->settings.lambda / 2 * square;
    return MEDLEY_OK;
}

static void try_step(md_online *online, enum purpose purpose, double step)
{
    struct simplemkl *s = online->state;
    s->purpose = purpose;
    s->step = step;
    for (size_t m = 0; m < online->problem.penalised; m++)
        online->own[m] = fmax(0, base_of(online)[m] + step * slope_of(online)[m]) /
                         (weight_of(online, m) * weight_of(online, m));
    if (purpose == FOR_STRETCH)
        online->own[s->which] = 0; /* whatever rounding has left */
    md_inner_use_weights(online);
}

/* The end of the stretch, if there is one, is where J is looked at next; otherwise another call for
 * the same weights follows. */
static void try_stretch(md_online *online)
{
    struct simplemkl *s = online->state;
    s->length =
        md_reduced_stretch(slope_of(online), base_of(online), online->problem.penalised, &s->which);
    if (isfinite(s->length) && s->length > 0)
        try_step(online, FOR_STRETCH, s->length);
    else
        try_step(online, FOR_GRADIENT, 0);
}

/* The weights in use are where the next stretch begins. */
static void take_weights(md_online *online, double total)
{
    struct simplemkl *s = online->state;
    for (size_t m = 0; m < online->problem.penalised; m++)
        base_of(online)[m] = online->own[m] * weight_of(online, m) * weight_of(online, m);
    s->best_step = 0;
    s->best_total = total;
}

/* From where the next stretch begins. */
static void find_direction(md_online *online)
{
    const md_online_problem *p = &online->problem;
    struct simplemkl *s = online->state;
    const double *base = base_of(online);
    double *slope = slope_of(online);
    s->mu = 0;
    for (size_t m = 0; m < p->penalised; m++)
        s->mu = base[m] > base[s->mu] ? m : s->mu;
    for (size_t m = 0; m < p->penalised; m++) {
        const double norm = p->blocks[m]->norm / weight_of(online, m);
        const double of_mu = p->blocks[s->mu]->norm / weight_of(online, s->mu);
        slope[m] = online->settings.lambda / 2 * (norm - of_mu) * (norm + of_mu);
    }
    const double sum = md_reduced_direction(slope, base, p->penalised);
    if (p->penalised > 0)
        slope[s->mu] -= sum;
}

/* J has fallen all the way to where a weight is 0, and it stays there. */
static void go_on(md_online *online, double total)
{
    struct simplemkl *s = online->state;
    double *slope = slope_of(online);
    take_weights(online, total);
    if (s->which == s->mu) { /* all others would have to fall */
        find_direction(online);
    } else {
        slope[s->mu] += slope[s->which];
        slope[s->which] = 0;
    }
    try_stretch(online);
}

static void divide(md_online *online, double total)
{
    struct simplemkl *s = online->state;
    if (s->purpose == FOR_SECTION)
        md_golden_tell(&s->line, total);
    else
        s->line = md_golden_over(s->length);
    if (s->purpose == FOR_SECTION && total < s->best_total) {
        s->best_step = s->step;
        s->best_total = total;
    }
    if (s->line.high - s->line.low > (s->best_step > 0 ? PRECISION : SHORTEST) * s->length)
        try_step(online, FOR_SECTION, md_golden_ask(&s->line));
    else
        try_step(online, FOR_GRADIENT, s->best_step);
}

static medley_status descend(md_online *online, medley_error *error)
{
    struct simplemkl *s = online->state;
    double total;
    if (!md_inner_begins_call(online))
        return MEDLEY_OK;
    MEDLEY_TRY(find_total(online, &total, error));
    if (s->purpose == FOR_GRADIENT) {
        take_weights(online, total);
        find_direction(online);
        try_stretch(online);
    } else if (s->purpose == FOR_STRETCH && total < s->best_total) {
        go_on(online, total);
    } else {
        divide(online, total);
    }
    return MEDLEY_OK;
}

static void restart(md_online *online)
{
    md_inner_restart(online);
    memset(base_of(online), 0, 2 * online->problem.block_count * sizeof *online->own);
}

static void visit_state(md_online *online, md_state_visitor visit, void *context)
{
    visit(context, online->own, ARRAYS * online->problem.block_count * sizeof *online->own);
}

/* Numbers of blocks and of points that were read are within bounds. */
static bool is_sound(md_online *online)
{
    const struct simplemkl *s = online->state;
    const size_t count = online->problem.penalised;
    return s->purpose <= FOR_SECTION && s->mu < md_max(count, 1) &&
           (s->purpose != FOR_STRETCH || s->which < count) && s->line.asked < 2 &&
           (s->purpose != FOR_SECTION || s->line.known < 2);
}

const md_rule md_rule_simplemkl_pegasos = {
    .about = {.name = "simplemkl-pegasos",
              .summary = "for comparison: as spom, by reduced gradients on kernel weights around "
                         "Pegasos",
              .takes = MD_LOOP_TAKES | MD_ALL_BLOCKS | MD_TAKES_BOUND | MD_TAKES_PENALTY |
                       MD_TAKES_EPOCHS},
    .traits = {.own_terms = true, .epochs = 100},
    .smaller = {"C"},
    .state_size = sizeof(struct simplemkl),
    .check = check,
    .init = init,
    .restart = restart,
    .from_weights = md_inner_from_weights,
    .begin = md_inner_begin,
    .before_epoch = descend,
    .is_candidate = md_inner_ends_call, /* weights on trial may be far from good */
    .visit_state = visit_state,
    .is_sound = is_sound,
    .round = md_inner_round,
};
