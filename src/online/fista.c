/* SPDX-License-Identifier: BSD-3-Clause */
/* FISTA, the batch form of SPOM by accelerated proximal gradients (Beck and Teboulle, SIAM J.
 * Imaging Sciences 2009; SPOM's footnotes 1 and 9). It minimises SPOM's objective
 *
 *     F = f + lambda Omega,     f = mean loss(theta; x, y), smooth,
 *
 * with the gradient of all examples in every step:
 *
 *     x_k = prox of lambda/L Omega at y_k - 1/L grad f(y_k),
 *     y_k+1 = x_k + (t_k - 1)/t_k+1 (x_k - x_k-1),     t_k+1 = (1 + sqrt(1 + 4 t_k^2)) / 2.
 *
 * F(x_k) - F* <= 2 L ||x_0 - x*||^2 / (k+1)^2 where L bounds the curvature of f. L begins at a
 * value that f cannot have less of, and doubles until f(x) <= f(y) + <grad f(y), x - y> + L/2 ||x -
 * y||^2 (section 4, with backtracking).
 *
 * What differs from the paper: momentum starts anew (t = 1, y = x) where it points uphill, and
 * where F would rise, which is not accepted (O'Donoghue and Candes 2015). Each start is a FISTA of
 * its own, and L may be smaller where it begins.
 *
 * An epoch is one step. Its examples are scored by y and their gradients gathered (gather.h): they
 * are also distributions over outputs, and so a lower bound of F (bound.c) comes with each step.
 * Sums of theta are those of copies of the blocks, so this works for whatever blocks are made of.
 */
#include "online/gather.h"
#include "online/run.h"
#include "penalty/bound.h"
#include <float.h>

static const double GAIN = 1e-13;   /* of F: what a step must promise at least */
static const double STEP = 0x1p-22; /* of the length of x: what single precision can still show */
static const double MOST_SHRINK = 1e300;
static const double TELLING = 16; /* times the rounding of f */
enum { MOST_TRIALS = 100 };

/* Beside the blocks, which hold x after an epoch, and y while it lasts. */
typedef struct md_iterates {
    md_theta_copy x, before; /* x_k, x_k-1 */
    md_theta_copy next;      /* what may become x_k+1 */
    md_theta_copy descent;   /* minus the gradient of f */
    double *scratch;         /* of the penalty's prox */
} md_iterates;

struct fista {
    double lipschitz; /* L; 0: not known yet */
    double momentum;  /* t_k */
    double push;      /* y = x + push (x - before) */
    double objective; /* F(x) */
    double lowest;    /* F so far */
    double gap;       /* NaN: the penalty's conjugate is not known */
    double left;      /* an estimate of it */
    uint64_t begun;   /* x is that of the blocks */
    uint64_t settled; /* single precision shows no more gain */
};

/* What came of a step from y. */
struct trial {
    double loss, objective; /* f(x), F(x) */
    double square;          /* ||x - y||^2 */
    double slope;           /* <grad f(y), x - y> */
    double uphill;          /* <y - x, x - x_k> */
    double length;          /* ||x|| */
};

static struct fista *state_of(const md_online *online)
{
    return online->state;
}

/* ---- making and keeping ---- */

static md_run_blocks blocks_of(const md_online *online)
{
    return (md_run_blocks){.blocks = online->problem.blocks, .count = online->problem.block_count};
}

static medley_status take(md_online *online, md_theta_copy *copy, medley_error *error)
{
    const md_run_blocks blocks = blocks_of(online);
    return md_theta_copy_take(copy, &blocks, error);
}

static medley_status init(md_online *online, medley_error *error)
{
    const md_online_problem *p = &online->problem;
    md_pool *pool = &online->pool;
    online->settings.seed = 0; /* the order of sums */
    MEDLEY_TRY(md_pool_new(pool, &online->iterates, 1, sizeof *online->iterates, error));
    MEDLEY_TRY(md_pool_new(pool, &online->iterates->scratch,
                           md_penalty_exact_scratch(p->penalty, p->penalised), sizeof(double),
                           error));
    MEDLEY_TRY(take(online, &online->iterates->x, error));
    MEDLEY_TRY(take(online, &online->iterates->before, error));
    MEDLEY_TRY(md_pool_new(pool, &online->gather, 1, sizeof *online->gather, error));
    return md_gather_init(online->gather, p, online->settings.batch, online->longest, error);
}

static void clear(md_online *online)
{
    md_iterates *iterates = online->iterates;
    if (iterates != NULL) {
        md_theta_copy_clear(&iterates->x);
        md_theta_copy_clear(&iterates->before);
        md_theta_copy_clear(&iterates->next);
        md_theta_copy_clear(&iterates->descent);
    }
    if (online->gather != NULL)
        md_gather_clear(online->gather);
}

static void restart(md_online *online)
{
    *state_of(online) = (struct fista){
        .momentum = 1, .objective = INFINITY, .lowest = INFINITY, .gap = NAN, .left = INFINITY};
    md_gather_restart(online->gather);
}

static void visit_state(md_online *online, md_state_visitor visit, void *context)
{
    const md_online_problem *p = &online->problem;
    md_theta_copy *const kept[] = {&online->iterates->x, &online->iterates->before};
    for (size_t k = 0; k < 2; k++)
        for (size_t m = 0; m < p->block_count; m++)
            visit(context, kept[k]->body[m],
                  p->blocks[m]->class->body_size(p->blocks[m]) * sizeof(float));
}

/* Numbers that lead nowhere are found by the objective, which is no number then. */
static bool is_sound(md_online *online)
{
    const struct fista *fista = state_of(online);
    return fista->lipschitz >= 0 && fista->momentum >= 1 && fista->push >= 0 && fista->push < 1;
}

/* ---- sums of copies ---- */

/* The blocks hold x (share) + y (share) + descent (share) + next (share). */
struct sum {
    double x, y, descent, next;
};

static medley_status load(md_online *online, struct sum sum, medley_error *error)
{
    const md_iterates *i = online->iterates;
    const double push = state_of(online)->push;
    const md_run_blocks blocks = blocks_of(online);
    const md_theta_term all[] = {{&i->x, sum.x + sum.y * (1 + push)},
                                 {&i->before, -sum.y * push},
                                 {&i->descent, sum.descent},
                                 {&i->next, sum.next}};
    md_theta_term terms[4];
    size_t count = 0;
    for (size_t t = 0; t < 4; t++)
        if (all[t].factor != 0)
            terms[count++] = all[t];
    return md_theta_restore_sum(terms, count, &blocks, online->problem.deferred, error);
}

/* <what the blocks hold, copy> */
static double inner(const md_online *online, const md_theta_copy *copy)
{
    double sum = 0;
    for (size_t m = 0; m < online->problem.block_count; m++) {
        md_block *block = online->problem.blocks[m];
        if (block->norm > 0)
            sum += block->class->inner(block, copy->body[m]);
    }
    return sum;
}

static double square_of(const md_online *online)
{
    double sum = 0;
    for (size_t m = 0; m < online->problem.block_count; m++)
        sum += online->problem.blocks[m]->norm * online->problem.blocks[m]->norm;
    return sum;
}

/* ---- a step ---- */

/* The blocks hold y, and all examples are looked at. */
static medley_status begin_epoch(md_online *online, size_t *count, medley_error *error)
{
    struct fista *fista = state_of(online);
    if (!fista->begun) {
        MEDLEY_TRY(take(online, &online->iterates->x, error));
        fista->begun = 1;
    }
    if (fista->push > 0)
        MEDLEY_TRY(load(online, (struct sum){.y = 1}, error));
    md_gather_forget(online->gather);
    (void)count; /* all of them */
    return MEDLEY_OK;
}

static void take_round(md_online *online, md_round *round)
{
    md_online_find_gradients(online, round); /* to online->gather */
}

/* Minus the gradient from what was gathered: its norms give a lower bound of F. *square: of its
 * length. */
static medley_status find_descent(md_online *online, double *dual, double *square,
                                  medley_error *error)
{
    const md_online_problem *p = &online->problem;
    const md_gather *gather = online->gather;
    const double share = 1 / (double)p->visit_count;
    MEDLEY_TRY(md_online_take_gathered(online, error));
    md_online_rescale(online, p->block_count, share);
    MEDLEY_TRY(take(online, &online->iterates->descent, error));
    *square = square_of(online);
    *dual = NAN;
    if (!md_penalty_has_conjugate(p->penalty))
        return MEDLEY_OK;
    for (size_t m = 0; m < p->block_count; m++)
        online->norm[m] = p->blocks[m]->norm;
    *dual = md_penalty_bound(p->penalty, online->settings.lambda,
                             share * (gather->offset - MD_ROUNDING * gather->rounding),
                             online->norm, p->penalised, p->block_count, NULL, online->scratch);
    return MEDLEY_OK;
}

/* theta becomes the prox of tau times the whole penalty: with a quadratic term a/2 ||theta||^2 it
 * is that of the rest, all of it over 1 + tau a. */
static void shrink(md_online *online, double tau)
{
    const md_online_problem *p = &online->problem;
    const double rest = 1 / (1 + tau * md_penalty_absorbed(p->penalty));
    const double threshold = rest * tau * md_penalty_inner_threshold(p->penalty);
    md_online_rescale(online, p->penalised, rest);
    for (size_t m = 0; m < p->block_count; m++)
        online->norm[m] = p->blocks[m]->norm;
    if (threshold > 0)
        md_online_threshold(online, 0, 0, threshold);
    memcpy(online->shrunk, online->norm, p->block_count * sizeof *online->norm);
    md_penalty_exact_prox(p->penalty, rest * tau, online->shrunk, p->penalised,
                          online->iterates->scratch);
    for (size_t m = p->penalised; m < p->block_count; m++)
        online->shrunk[m] /= 1 + tau;
    md_online_finish(online, 0, 0, 1);
}

/* From y by 1/L; the blocks hold what comes of it. */
static medley_status try_step(md_online *online, struct trial *trial, medley_error *error)
{
    md_iterates *iterates = online->iterates;
    const double eta = 1 / state_of(online)->lipschitz;
    MEDLEY_TRY(load(online, (struct sum){.y = 1, .descent = eta}, error));
    shrink(online, fmin(eta * online->settings.lambda, MOST_SHRINK));
    MEDLEY_TRY(take(online, &iterates->next, error));
    MEDLEY_TRY(load(online, (struct sum){.y = -1, .next = 1}, error));
    trial->square = square_of(online);
    trial->slope = -inner(online, &iterates->descent);
    trial->uphill = inner(online, &iterates->x) - inner(online, &iterates->next);
    MEDLEY_TRY(load(online, (struct sum){.next = 1}, error));
    trial->length = sqrt(square_of(online));
    return md_online_objective(online, &trial->objective, &trial->loss, error);
}

/* Of f, a mean of differences of numbers in single precision. */
static double rounding_of(const md_online *online)
{
    const double count = (double)online->problem.visit_count;
    return 4 * FLT_EPSILON / 2 * online->gather->rounding / (count * sqrt(count));
}

/* With L doubled until it is large enough. value: f(y). */
static medley_status find_step(md_online *online, double value, struct trial *trial,
                               medley_error *error)
{
    struct fista *fista = state_of(online);
    for (int i = 0; i < MOST_TRIALS; i++) {
        MEDLEY_TRY(try_step(online, trial, error));
        if (trial->loss <=
            value + trial->slope + fista->lipschitz / 2 * trial->square + rounding_of(online))
            break;
        fista->lipschitz *= 2;
    }
    return MEDLEY_OK;
}

/* From x, and with a smaller L, as long as f tells whether that is too small. */
static void start_anew(md_online *online, const struct trial *trial)
{
    struct fista *fista = state_of(online);
    fista->momentum = 1;
    fista->push = 0;
    if (fista->lipschitz / 2 * trial->square > TELLING * rounding_of(online))
        fista->lipschitz /= 2;
}

/* x_k+1 is what was tried. */
static void accept(md_online *online, const struct trial *trial)
{
    struct fista *fista = state_of(online);
    md_iterates *i = online->iterates;
    const md_theta_copy free_copy = i->before;
    i->before = i->x;
    i->x = i->next;
    i->next = free_copy;
    fista->objective = trial->objective;
    fista->lowest = fmin(fista->lowest, fista->objective);
    const double momentum = (1 + sqrt(1 + 4 * fista->momentum * fista->momentum)) / 2;
    fista->push = (fista->momentum - 1) / momentum;
    fista->momentum = momentum;
    if (trial->uphill > 0)
        start_anew(online, trial);
}

/* x stays. Without momentum a step lowers F unless L is too small. */
static medley_status refuse(md_online *online, const struct trial *trial, medley_error *error)
{
    struct fista *fista = state_of(online);
    if (fista->push == 0)
        fista->lipschitz *= 2;
    else
        start_anew(online, trial);
    return load(online, (struct sum){.x = 1}, error);
}

static medley_status measure(md_online *online, double *objective, medley_error *error)
{
    struct fista *fista = state_of(online);
    const double value = online->loss_sum / (double)online->problem.visit_count;
    double dual;
    double square;
    struct trial trial;
    MEDLEY_TRY(find_descent(online, &dual, &square, error));
    if (!(fista->lipschitz > 0)) /* a step 1/L along the gradient would take f below 0 */
        fista->lipschitz = square > 0 ? square / (2 * value) : 1;
    MEDLEY_TRY(find_step(online, value, &trial, error));
    fista->settled = fista->lipschitz / 2 * trial.square <= GAIN * trial.objective ||
                     sqrt(trial.square) <= STEP * trial.length;
    if (trial.objective <= fista->lowest + rounding_of(online))
        accept(online, &trial);
    else
        MEDLEY_TRY(refuse(online, &trial, error));
    *objective = fista->objective;
    fista->gap = *objective > 0 ? 1 - dual / *objective : 0;
    /* of lemma 2.3, if the optimum is no farther from x than x is long */
    fista->left =
        fista->lipschitz * (trial.square / 2 + sqrt(trial.square) * trial.length) / *objective;
    return MEDLEY_OK;
}

static double gap(const md_online *online)
{
    return state_of(online)->gap;
}

static bool is_settled(const md_online *online)
{
    const struct fista *fista = state_of(online);
    return fista->settled || (isnan(fista->gap) && fista->left <= online->settings.gap);
}

const md_rule md_rule_fista = {
    .about = {.name = "fista",
              .summary = "SPOM's objective to its optimum, by gradients of all examples (FISTA)",
              .takes = MD_TAKES_STRENGTH | MD_TAKES_PATIENCE | MD_ALL_BLOCKS | MD_TAKES_PENALTY |
                       MD_TAKES_EPOCHS | MD_TAKES_GAP | MD_TAKES_GROUPS},
    .traits =
        {.own_terms = true, .loss = "logistic", .epochs = 10000, .examples = 64, .rows = 1024},
    .leaves_out_blocks = true,
    .is_smooth = true,
    .in_order = true,
    .smaller = {"C"},
    .state_size = sizeof(struct fista),
    .init = init,
    .restart = restart,
    .choose = begin_epoch,
    .measure = measure,
    .gap = gap,
    .is_settled = is_settled,
    .visit_state = visit_state,
    .is_sound = is_sound,
    .clear = clear,
    .round = take_round,
};
