/* SPDX-License-Identifier: BSD-3-Clause */
/* Squared norms: SPOM's sparse multiple kernel learning and OBSCURE's lp-norm, of two classes.
 *
 *     minimise  P(a, b) = sum_i l(y_i, f_i) + S/2 F^2,   F = (sum_m ||a_m||^q)^(1/q)
 *
 * The slope of S/2 F^2 in a norm x is S F^(2-q) x^(q-1), that of c x^q / q is c x^(q-1): the
 * minimum of the sum of powers with strength c, which is called the root here, is the minimum of P
 * if
 *
 *     c = S F(c)^(2-q)
 *
 * (SpicyMKL eq. 6 for q = 1). F(c) falls as c grows, so there is one such c; in logarithms the
 * difference of both sides has a slope of at least 1 for q <= 2, and between 1/(q-1) and 1 beyond.
 * Secants find it, and each root begins with the solution of the one before. None has to be very
 * exact: with a relative error of d in c, P is within about d^2 S/2 F^2 of its minimum.
 *
 * Roots that are not exact may mislead secants. For q <= 2 any model says that the optimum of the
 * root is at most its loss + c F^q / q, and the right c is where that optimum, less the conjugate
 * of S/2 F^2 as a function of F^q / q, is largest: two models on either side give another c that
 * holds whatever the roots' gaps (cutting planes). Beyond q = 2, c = S F^(2-q) itself comes nearer.
 *
 * Where the loss is straight F may fall at once from one value to another: then the minimum of P is
 * between two models, of a smaller and of a larger c, and found there (segment.c). The empty model
 * is that of a very large c.
 *
 * The certificate is that of P itself: with N = (sum_m ||rho||_m^r)^(1/r), 1/q + 1/r = 1,
 *
 *     D(rho) = -sum_i l*(-rho_i) - N^2 / (2 S),   1'rho = 0.
 *
 * Sums of a square and of functions of single norms, S (F^2 / 2 + sum_m g(||a_m||)), q <= 2: the
 * root has S sum g beside the powers, and all of the above holds with loss + S sum g in place of
 * the loss. The conjugate of the sum has no formula, but for every c and F
 *
 *     S/2 F^2 >= c F^q / q - h*(c),   h*(c) = S E^2 (1/q - 1/2),  E = (c/S)^(1/(2-q))
 *
 * so that the dual value of the root, less h*(c), is one of P; at the right c it is the best. */
#include "batch/certificate.h"

enum { MOST_ROUNDS = 60, MOST_FAILURES = 2 };
/* Gaps of roots: a share of the wanted one, since P may be half as large as theirs; the first one;
 * and a share of the gap that P has. */
static const double SHARE = 0.25, FIRST_GAP = 0.01, GAP_SHARE = 0.1;
static const double NEXT_TO_NOTHING = 1e-9;
static const double BELOW = 0.9; /* the first c over the least one that leaves out all kernels */

struct search {
    const md_batch_problem *problem;
    md_batch_problem root;     /* the sum of powers */
    md_scalar_sum sum;         /* and the rest of the penalty, if there is one */
    md_batch_solution current; /* of the root; the primal value is that of the problem */
    md_batch_solution end[2];  /* models whose c was too small, and too large */
    md_batch_solution joined;  /* the best between the current one and the other end */
    md_batch_solution record;  /* nothing but steps and counts */
    const md_batch_solution *start;
    double *h;             /* [kernels] */
    double *rho;           /* [rows] the best dual point */
    double dual;           /* its value */
    double norm;           /* F of the current solution */
    md_batch_step last;    /* what is known of the problem */
    double least;          /* gap that the root is asked for at last */
    double gap_before;     /* of the round before */
    double low, high;      /* log c of the ends */
    double x, y;           /* log c of the round before, and the difference there */
    size_t slow;           /* rounds that did not halve what is in between */
    size_t used, failures; /* outer iterations of roots, and roots that missed their gap */
    bool coarse;
    double began;
};

static void clear_search(struct search *search)
{
    md_batch_solution_clear(&search->current);
    md_batch_solution_clear(&search->end[0]);
    md_batch_solution_clear(&search->end[1]);
    md_batch_solution_clear(&search->joined);
    md_batch_solution_clear(&search->record);
    free(search->h);
    free(search->rho);
}

/* c for which F is the norm of the solution. */
static double strength_for(const md_batch_problem *problem, double norm)
{
    return problem->strength * pow(norm, 2 - problem->square);
}

static void set_strength(struct search *search, double c)
{
    search->root.strength = c;
    search->sum.terms[1].factor = search->problem->strength / c;
}

/* What counts as the loss of a model: with the rest of the penalty. */
static double fixed_part(const struct search *search, const md_batch_solution *model)
{
    const md_batch_problem *p = search->problem;
    return model->loss + p->strength * md_batch_rest(p, model->norm, model->active);
}

/* ---- the dual value ---- */

/* h*(c): how much the powers may be above the square. */
static double most_above(const md_batch_problem *problem, double c)
{
    const double q = problem->square;
    const double place = q < 2 ? pow(c / problem->strength, 1 / (2 - q)) : 0;
    return problem->strength * place * place * (1 / q - 0.5);
}

/* Of the best multiple of a point whose norms are h; *scale: which. Is it the best so far? */
static void try_dual(struct search *search, const double *rho, double *scale)
{
    const md_batch_problem *p = search->problem;
    const size_t count = md_packed_count(p->packed);
    const double value = p->rest != NULL
                             ? md_dual_value(&search->root, rho, search->h, count, scale) -
                                   most_above(p, search->root.strength)
                             : md_dual_value(p, rho, search->h, count, scale);
    if (!(value > search->dual))
        return;
    search->dual = value;
    for (size_t i = 0; i < md_packed_rows(p->packed); i++)
        search->rho[i] = *scale * rho[i];
}

/* ---- the empty model ---- */

/* Its value, its dual point rho[rows], and the point's norms h[kernels] as kernels are stored. */
static medley_status look_at_empty(const md_batch_problem *problem, double *rho, double *h,
                                   double *primal, medley_error *error)
{
    const size_t kernels = md_packed_count(problem->packed);
    const size_t n = md_packed_rows(problem->packed);
    MD_OWNED(free) double *zero = NULL;
    double bias;
    MEDLEY_TRY(md_new(&zero, n, sizeof *zero, error));
    *primal = md_batch_loss(problem, zero, &bias);
    md_empty_dual(problem->loss, problem->loss_state, problem->y, rho, n);
    MEDLEY_TRY(md_packed_norms2(problem->packed, (md_chosen){.count = kernels}, rho, h, error));
    for (size_t m = 0; m < kernels; m++)
        h[m] = sqrt(h[m]);
    return MEDLEY_OK;
}

medley_status md_batch_large_square(const md_batch_problem *problem, double *large,
                                    medley_error *error)
{
    const size_t kernels = md_packed_count(problem->packed);
    MD_OWNED(free) double *rho = NULL;
    MD_OWNED(free) double *h = NULL;
    double primal;
    MEDLEY_TRY(md_new(&rho, md_packed_rows(problem->packed), sizeof *rho, error));
    MEDLEY_TRY(md_new(&h, kernels, sizeof *h, error));
    MEDLEY_TRY(look_at_empty(problem, rho, h, &primal, error));
    const double norm = md_dual_norm_of(problem->square, h, kernels);
    /* of a loss that falls along rho without a bend, N^2 / (2 S): a quarter of it */
    *large = primal > 0 ? 2 * norm * norm / primal : 0;
    return MEDLEY_OK;
}

/* The first c: that of the start; or the best multiple of the empty model's dual point has a norm
 * N, which is S F at the optimum. */
static medley_status begin(struct search *search, medley_error *error)
{
    const md_batch_problem *p = search->problem;
    const md_batch_solution *start = search->start;
    const size_t n = md_packed_rows(p->packed);
    const size_t kernels = md_packed_count(p->packed);
    const double slope = p->penalty->slope_at_zero(p->penalty_state);
    MD_OWNED(free) double *rho = NULL;
    double primal;
    double scale = 0;
    MEDLEY_TRY(md_new(&rho, n, sizeof *rho, error));
    MEDLEY_TRY(look_at_empty(p, rho, search->h, &primal, error));
    const double largest = md_norm_of(INFINITY, search->h, kernels);
    const double taken =
        p->rest != NULL ? p->strength * md_sum_of_scalars.slope_at_zero(p->rest) : 0;
    /* where the rest alone leaves out all kernels, any c does */
    const double most =
        slope > 0 ? fmax(largest - taken, NEXT_TO_NOTHING * largest) / slope : INFINITY;
    const double norm = md_dual_norm_of(p->square, search->h, kernels);
    md_dual_value(p, rho, search->h, kernels, &scale);
    if (isfinite(most)) { /* few norms matter, and are soon found in double precision */
        set_strength(search, most);
        MEDLEY_TRY(md_batch_dual_norms(search->h, &search->root, rho, search->h, error));
        try_dual(search, rho, &scale);
    }
    MEDLEY_TRY(md_batch_allocate(&search->end[1], n, 0, rho, error));
    search->end[1].loss = primal;
    search->last = (md_batch_step){.primal = primal,
                                   .loss = primal,
                                   .dual = search->dual,
                                   .gap = md_relative_gap(primal, search->dual)};
    double length = scale * norm / p->strength;
    if (start != NULL && start->active > 0)
        length = md_norm_of(p->square, start->norm, start->active);
    set_strength(search, length > 0 ? strength_for(p, length) : p->strength);
    if (most > 0) {
        set_strength(search, fmin(search->root.strength, BELOW * most));
        search->high = log(most); /* there, or above, the empty model is the optimum */
    }
    return MEDLEY_OK;
}

/* ---- a round ---- */

/* While a root is solved there is nothing new to tell, but the run may be stopped. */
static bool watch_root(void *context, const md_batch_step *step)
{
    const struct search *search = context;
    const md_batch_problem *p = search->problem;
    (void)step;
    return p->watch == NULL || p->watch(p->context, &search->last);
}

static medley_status solve_root(struct search *search, medley_error *error)
{
    const md_batch_problem *p = search->problem;
    md_batch_solution *current = &search->current;
    double scale;
    search->root.max_iterations = p->max_iterations - search->used;
    MEDLEY_TRY(md_batch_solve(current, &search->root, search->start, error));
    const bool reached =
        current->step_count > 0 && current->steps[current->step_count - 1].gap <= search->root.gap;
    search->coarse = reached && !current->converged;
    search->failures += !current->converged;
    search->used += current->step_count;
    search->record.newton_steps += current->newton_steps;
    search->record.passes += current->passes;
    search->record.stopped = current->stopped;
    search->norm = md_norm_of(p->square, current->norm, current->active);
    current->primal =
        current->loss + p->strength * md_batch_penalty(p, current->norm, current->active);
    MEDLEY_TRY(md_batch_dual_norms(search->h, &search->root, current->rho, NULL, error));
    try_dual(search, current->rho, &scale);
    return MEDLEY_OK;
}

/* The best model of this round: the current one if that will do. */
static medley_status find_best(struct search *search, md_batch_solution **best, medley_error *error)
{
    const md_batch_problem *p = search->problem;
    const bool large = search->root.strength > strength_for(p, search->norm);
    *best = &search->current;
    if (md_relative_gap((*best)->primal, search->dual) > p->gap) {
        const md_batch_solution *other = &search->end[!large];
        if (other->rho != NULL)
            MEDLEY_TRY(md_batch_join(&search->joined, p, other, &search->current, error));
        if (other->rho != NULL && search->joined.primal < search->current.primal)
            *best = &search->joined;
    }
    search->last = (md_batch_step){.primal = (*best)->primal,
                                   .loss = (*best)->loss,
                                   .dual = search->dual,
                                   .gap = md_relative_gap((*best)->primal, search->dual),
                                   .active = (*best)->active,
                                   .seconds = md_clock_seconds() - search->began};
    return md_batch_record(&search->record, p, &search->last, error);
}

/* ---- the search ---- */

/* What a model says of every c: that the root's optimum is at most loss + c power. */
static double power_of(const struct search *search, const md_batch_solution *model)
{
    const double q = search->problem->square;
    return pow(md_norm_of(q, model->norm, model->active), q) / q;
}

/* Where the least of what both ends say, less the conjugate of the square, is largest: at the best
 * c of one of them, or where they meet. */
static double where_ends_meet(const struct search *search)
{
    const md_batch_solution *small = &search->end[0];
    const md_batch_solution *large = &search->end[1];
    const double q = search->problem->square;
    const double of_small =
        strength_for(search->problem, md_norm_of(q, small->norm, small->active));
    const double of_large =
        strength_for(search->problem, md_norm_of(q, large->norm, large->active));
    const double both = (fixed_part(search, large) - fixed_part(search, small)) /
                        (power_of(search, small) - power_of(search, large));
    return fmin(both > 0 ? fmax(both, of_large) : fmax(of_small / 4, of_large), of_small);
}

/* A step in logarithms with the slope of a secant, as far as that can be. */
static double by_secant(const struct search *search, double x, double y)
{
    const double q = search->problem->square;
    const double least = q <= 2 ? 1 : 1 / (q - 1);
    double slope = q <= 2 ? 2 - q / 2 : 1;
    if (isfinite(search->y) && x != search->x)
        slope = fmax(least, (y - search->y) / (x - search->x));
    return x - y / slope;
}

/* The next c, from the difference y at x = log c: a secant while that halves what is in between, or
 * what cannot go wrong. */
static double next_place(struct search *search, double x, double y)
{
    const double before = search->high - search->low;
    if (y > 0)
        search->high = x;
    else
        search->low = x;
    search->slow = search->high - search->low > before / 2 ? search->slow + 1 : 0;
    const double next = by_secant(search, x, y);
    if (next > search->low && next < search->high && search->slow < 2)
        return next;
    if (search->problem->square <= 2)
        return search->end[0].rho == NULL ? x - 2 * M_LN2 : log(where_ends_meet(search));
    search->low = -INFINITY;
    search->high = INFINITY;
    return x - y;
}

/* The solution becomes an end, and the start of the next root. */
static void move(struct search *search)
{
    const double q = search->problem->square;
    const double x = log(search->root.strength);
    const bool empty = search->norm == 0;
    const double y = empty ? INFINITY : x - log(strength_for(search->problem, search->norm));
    md_swap(&search->end[y > 0], &search->current);
    search->start = &search->end[y > 0];
    if (q == 2 || (empty && q > 2)) /* c is right, or it cannot be told */
        return;
    set_strength(search, exp(next_place(search, x, y)));
    search->x = x;
    search->y = y;
}

/* Another c, and a gap for it that is small beside what is still wanting. */
static void prepare_next(struct search *search)
{
    const double share = search->last.gap < search->gap_before / 2 ? 1 : 0.5;
    if (search->root.gap <= search->least)
        search->least *= SHARE;
    search->root.gap =
        fmax(search->least, fmin(share * search->root.gap, GAP_SHARE * search->last.gap));
    search->gap_before = search->last.gap;
    move(search);
}

static bool is_over(const struct search *search)
{
    return search->last.gap <= search->problem->gap || search->record.stopped ||
           search->failures >= MOST_FAILURES || search->used >= search->problem->max_iterations ||
           search->record.step_count >= MOST_ROUNDS;
}

/* The best model, and the best dual point. */
static void finish(struct search *search, md_batch_solution *solution, md_batch_solution *best)
{
    const md_batch_solution *record = &search->record;
    md_swap(solution, best);
    free(solution->steps);
    solution->steps = record->steps;
    solution->step_count = record->step_count;
    solution->step_capacity = record->step_capacity;
    solution->newton_steps = record->newton_steps;
    solution->passes = record->passes;
    solution->stopped = record->stopped;
    solution->coarse = search->coarse;
    solution->dual = search->dual;
    memcpy(solution->rho, search->rho, solution->rows * sizeof *solution->rho);
    md_batch_conclude(solution, search->problem->gap);
    search->record = (md_batch_solution){0};
}

medley_status md_batch_solve_squared(md_batch_solution *solution, const md_batch_problem *problem,
                                     const md_batch_solution *start, medley_error *error)
{
    MD_CLEARED(clear_search)
    struct search search = {.problem = problem,
                            .root = *problem,
                            .start = start,
                            .least = SHARE * problem->gap,
                            .low = -INFINITY,
                            .high = INFINITY,
                            .y = NAN,
                            .gap_before = INFINITY,
                            .began = md_clock_seconds()};
    md_batch_solution *best = NULL;
    *solution = (md_batch_solution){0};
    search.root.square = 0;
    search.root.rest = NULL;
    search.sum = (md_scalar_sum){.terms = {{problem->penalty, problem->penalty_state, 1},
                                           {&md_sum_of_scalars, problem->rest, 1}},
                                 .count = 2,
                                 .unit = 1};
    if (problem->rest != NULL) {
        search.root.penalty = &md_sum_of_scalars;
        search.root.penalty_state = &search.sum;
    }
    search.root.gap = problem->square == 2 ? search.least : fmax(search.least, FIRST_GAP);
    search.root.watch = watch_root;
    search.root.context = &search;
    MEDLEY_TRY(md_new(&search.h, md_packed_count(problem->packed), sizeof *search.h, error));
    MEDLEY_TRY(md_new(&search.rho, md_packed_rows(problem->packed), sizeof *search.rho, error));
    MEDLEY_TRY(begin(&search, error));
    for (;;) {
        md_batch_solution_clear(&search.current);
        MEDLEY_TRY(solve_root(&search, error));
        MEDLEY_TRY(find_best(&search, &best, error));
        if (is_over(&search))
            break;
        prepare_next(&search);
    }
    finish(&search, solution, best);
    return MEDLEY_OK;
}
