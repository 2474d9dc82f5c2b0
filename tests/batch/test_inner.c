/* SPDX-License-Identifier: BSD-3-Clause */
/* The inner problem of the batch solver. phi(rho) is written down here as what it is, a sum of
 * suprema; the solver's gradient must be its derivative, the solver's Newton step must solve the
 * system whose matrix is the derivative of that gradient, and the point it stops at must be the
 * least one. */
#include "batch/batch_case.h"

#include "batch/spicy.h"
#include "golden.h"

enum { ROWS = 11, KERNELS = 5, SEEDS = 5 };

struct inner {
    batch_case c;
    md_spicy b;
};

/* ---- phi ---- */

struct score_term {
    const struct inner *inner;
    size_t row;
    double rho;
};

/* l(z) + (z - z_t)^2 / (2 gamma_z) + rho z; without the square where the conjugate is smooth. */
static double score_objective(void *context, double z)
{
    const struct score_term *term = context;
    const md_spicy *b = &term->inner->b;
    const double from = z - b->z[term->row];
    return plain_loss_value(&term->inner->c.choice.loss, term->inner->c.y[term->row], z) +
           term->rho * z + (b->smooth_loss ? 0 : from * from / (2 * b->gamma_z));
}

struct length_term {
    const struct inner *inner;
    double norm; /* ||a_t + gamma rho||, or ||rho|| */
};

/* C g(x) - x ||rho||, or C g(x) + x^2 / (2 gamma) - x ||a_t + gamma rho|| / gamma: the least over
 * all directions of a is along a_t + gamma rho. */
static double length_objective(void *context, double x)
{
    const struct length_term *term = context;
    const md_spicy *b = &term->inner->b;
    const double penalty = b->problem->strength * plain_g(term->inner->c.choice.penalty, x);
    return b->smooth_penalty ? penalty - x * term->norm
                             : penalty + (x * x / 2 - x * term->norm) / b->gamma;
}

/* -min over a of C g(||a||) + ||a - a_t||^2 / (2 gamma) - rho'K a, and without the square. */
static double kernel_part(const struct inner *inner, size_t i, const double *rho)
{
    const md_spicy *b = &inner->b;
    const size_t m = b->members[i].kernel;
    double v[ROWS];
    for (size_t r = 0; r < ROWS; r++)
        v[r] = b->smooth_penalty ? rho[r] : b->a[i * ROWS + r] + b->gamma * rho[r];
    struct length_term term = {.inner = inner, .norm = plain_norm(&inner->c, m, v)};
    const double x = golden_least(length_objective, &term, 0, 1000);
    const double anchor = b->smooth_penalty ? 0 : plain_norm(&inner->c, m, b->a + i * ROWS);
    return -length_objective(&term, x) - anchor * anchor / (2 * b->gamma);
}

static double phi(const struct inner *inner, const double *rho)
{
    double sum = 0;
    for (size_t r = 0; r < ROWS; r++) {
        struct score_term term = {.inner = inner, .row = r, .rho = rho[r]};
        const double z = golden_least(score_objective, &term, -1000, 1000);
        sum -= score_objective(&term, z);
    }
    for (size_t i = 0; i < inner->b.count; i++)
        sum += kernel_part(inner, i, rho);
    return sum;
}

/* ---- the solver's state ---- */

/* A point inside of the loss's domain, or anywhere where the domain does not matter. */
static double draw_rho(struct inner *inner, size_t row)
{
    const double u = md_random_uniform(&inner->c.random);
    if (inner->c.choice.loss.kind == LOGISTIC && inner->b.smooth_loss)
        return inner->c.y[row] * (0.05 + 0.9 * u);
    return 3 * u - 1.5;
}

static void look_at(struct inner *inner, const double *rho)
{
    medley_error error = {0};
    memcpy(inner->b.rho, rho, ROWS * sizeof *rho);
    check_ok(md_packed_multiply(inner->b.packed, md_spicy_members(&inner->b, false), inner->b.rho,
                                inner->b.Kr, &error),
             &error);
    inner->b.sum_ready = inner->b.factor_ready = false;
    md_spicy_evaluate(&inner->b);
}

/* All kernels but the last are members, in another order. direct: conjugates that are smooth are
 * used as they are; tie: proximity is to coefficients and scores that are not 0. */
static void open_inner(struct inner *inner, const batch_choice *choice, bool direct, bool tie)
{
    static const size_t members[KERNELS - 1] = {2, 0, 3, 1};
    medley_error error = {0};
    draw_case(&inner->c, choice);
    open_case(&inner->c);
    set_strength(&inner->c, 0.1 + 0.5 * md_random_uniform(&inner->c.random));
    md_spicy *b = &inner->b;
    check_ok(md_spicy_init(b, &inner->c.problem, direct, &error), &error);
    b->softness = 0; /* phi of the loss as it is; soft losses have their own laws */
    check_ok(md_spicy_set(b, members, KERNELS - 1, &error), &error);
    assert_int_equal(b->count, KERNELS - 1);
    b->gamma *= b->smooth_penalty ? 1 : exp(md_random_normal(&inner->c.random) - 2);
    b->gamma_z *= exp(md_random_normal(&inner->c.random) - 2);
    for (size_t r = 0; tie && r < ROWS; r++)
        b->z[r] = 2 * md_random_normal(&inner->c.random);
    for (size_t i = 0; tie && !b->smooth_penalty && i < 3; i++) {
        double *a = b->a + i * ROWS;
        for (size_t r = 0; r < ROWS; r++)
            a[r] = md_random_normal(&inner->c.random);
        plain_multiply(&inner->c, b->members[i].kernel, a, b->Ka + i * ROWS);
        b->members[i].aKa = plain_dot(a, b->Ka + i * ROWS, ROWS);
    }
}

static void close_inner(struct inner *inner)
{
    md_spicy_clear(&inner->b);
    close_case(&inner->c);
}

static void for_all_problems(void (*law)(struct inner *inner))
{
    for (size_t l = 0; l < LOSSES; l++)
        for (size_t p = 0; p < PENALTIES; p++)
            for (uint64_t seed = 0; seed < SEEDS; seed++) {
                const batch_choice choice = {.rows = ROWS,
                                             .kernels = KERNELS,
                                             .loss = {.kind = l, .epsilon = 0.3},
                                             .penalty = &plain_penalties[p],
                                             .wide = seed % 2,
                                             .seed = 1 + seed};
                struct inner inner;
                open_inner(&inner, &choice, seed % 4 < 3, seed > 0);
                law(&inner);
                close_inner(&inner);
            }
}

static void say_where(const struct inner *inner)
{
    print_message("%s, %s, seed %d: ", plain_loss_names[inner->c.choice.loss.kind],
                  inner->c.choice.penalty->text, (int)inner->c.choice.seed);
}

/* ---- laws ---- */

static void check_gradient(struct inner *inner)
{
    const double h = 1e-5;
    double rho[ROWS];
    for (size_t r = 0; r < ROWS; r++)
        rho[r] = draw_rho(inner, r);
    look_at(inner, rho);
    for (size_t r = 0; r < ROWS; r++) {
        const double at = rho[r];
        rho[r] = at + h;
        const double above = phi(inner, rho);
        rho[r] = at - h;
        const double below = phi(inner, rho);
        rho[r] = at;
        const double expected = (above - below) / (2 * h);
        const double size = 1 + fabs(expected) + fabs(above) / 100;
        if (!(fabs(inner->b.gradient[r] - expected) <= 1e-5 * size)) {
            say_where(inner);
            fail_msg("gradient %.10g at row %zu, expected %.10g", inner->b.gradient[r], r,
                     expected);
        }
    }
}

static void the_gradient_is_the_derivative_of_phi(void **state)
{
    (void)state;
    for_all_problems(check_gradient);
}

/* H[r] = d gradient / d rho_r, by differences. */
static void differences(struct inner *inner, double *rho, double H[ROWS][ROWS])
{
    const double h = 1e-6;
    for (size_t r = 0; r < ROWS; r++) {
        const double at = rho[r];
        for (int side = 1; side >= -1; side -= 2) {
            rho[r] = at + side * h;
            look_at(inner, rho);
            for (size_t i = 0; i < ROWS; i++)
                H[r][i] =
                    side > 0 ? inner->b.gradient[i] : (H[r][i] - inner->b.gradient[i]) / (2 * h);
        }
        rho[r] = at;
    }
}

/* The Newton step of any gradient g has sum 0 and solves H d = -g + mu 1. */
static void check_step(struct inner *inner, double H[ROWS][ROWS])
{
    md_spicy *b = &inner->b;
    medley_error error = {0};
    double decrement;
    double residual[ROWS];
    double mean = 0;
    double size = 0;
    check_ok(md_spicy_direction(b, &decrement, &error), &error);
    for (size_t r = 0; r < ROWS; r++) {
        residual[r] = b->gradient[r];
        for (size_t i = 0; i < ROWS; i++) {
            residual[r] += H[r][i] * b->direction[i];
            size = fmax(size, fabs(H[r][i] * b->direction[i]));
        }
        mean += residual[r] / ROWS;
        size = fmax(size, fabs(b->gradient[r]));
    }
    double sum = 0;
    for (size_t r = 0; r < ROWS; r++) {
        sum += b->direction[r];
        if (!(fabs(residual[r] - mean) <= 1e-5 * size)) {
            say_where(inner);
            fail_msg("residual %g of the Newton step, terms up to %g", residual[r] - mean, size);
        }
    }
    assert_true(fabs(sum) <= 1e-8 * (1 + sqrt(plain_dot(b->direction, b->direction, ROWS))));
    const double product = -plain_dot(b->gradient, b->direction, ROWS);
    assert_true(fabs(decrement - product) <= 1e-9 * fabs(product));
    assert_true(fabs(md_spicy_old_decrement(b) - product) <= 1e-6 * fabs(product));
}

/* For as many gradients as there are rows: these say all about H among steps that sum to 0. */
static void check_hessian(struct inner *inner)
{
    double rho[ROWS];
    double H[ROWS][ROWS];
    for (size_t r = 0; r < ROWS; r++)
        rho[r] = draw_rho(inner, r);
    differences(inner, rho, H);
    look_at(inner, rho);
    size_t active = 0;
    for (size_t i = 0; i < inner->b.count; i++)
        active += inner->b.members[i].ratio > 0;
    for (size_t trial = 0; active > 0 && trial < ROWS; trial++) {
        for (size_t r = 0; trial > 0 && r < ROWS; r++)
            inner->b.gradient[r] = md_random_normal(&inner->c.random);
        check_step(inner, H);
    }
}

static void the_newton_step_solves_with_the_derivative_of_the_gradient(void **state)
{
    (void)state;
    for_all_problems(check_hessian);
}

/* ---- the minimum ---- */

/* What the solver says of its rho is what is true of it: nothing it carries along has drifted. */
static void check_carried(struct inner *inner, double *rho)
{
    md_spicy *b = &inner->b;
    double carried[ROWS];
    memcpy(carried, b->gradient, sizeof carried);
    memcpy(rho, b->rho, sizeof carried);
    look_at(inner, rho);
    double sum = 0;
    for (size_t r = 0; r < ROWS; r++) {
        sum += rho[r];
        assert_true(fabs(carried[r] - b->gradient[r]) <= 1e-8 * (1 + fabs(carried[r])));
    }
    assert_true(fabs(sum) <= 1e-12 * (1 + sqrt(plain_dot(rho, rho, ROWS))));
}

/* How far the proximal step goes from here, which is what accuracy is measured by. */
static double distance(struct inner *inner, const double *rho)
{
    const md_spicy *b = &inner->b;
    double sum = 0;
    for (size_t i = 0; !b->smooth_penalty && i < b->count; i++) {
        double change[ROWS];
        for (size_t r = 0; r < ROWS; r++) {
            const double a = b->a[i * ROWS + r];
            change[r] = b->members[i].ratio * (a + b->gamma * rho[r]) - a;
        }
        sum += pow(plain_norm(&inner->c, b->members[i].kernel, change), 2) / b->gamma;
    }
    for (size_t r = 0; !b->smooth_loss && r < ROWS; r++)
        sum += pow(b->new_z[r] - b->z[r], 2) / b->gamma_z;
    return sum;
}

/* No point that sums to 0 has a smaller phi. */
static void check_least(struct inner *inner, const double *rho, double least)
{
    const md_batch_problem *p = inner->b.problem;
    for (size_t trial = 0; trial < 40; trial++) {
        double other[ROWS];
        double mean = 0;
        const double far = pow(10, -(double)(trial % 5));
        for (size_t r = 0; r < ROWS; r++) {
            other[r] = far * md_random_normal(&inner->c.random);
            mean += other[r] / ROWS;
        }
        for (size_t r = 0; r < ROWS; r++)
            other[r] += rho[r] - mean;
        if (inner->b.smooth_loss) /* phi is infinite outside */
            md_project_dual(p->loss, p->loss_state, p->y, other, ROWS);
        const double there = phi(inner, other);
        if (!(there >= least - 1e-9 * (1 + fabs(least)))) {
            say_where(inner);
            fail_msg("phi is %.12g at the minimum and %.12g at another point", least, there);
        }
    }
}

/* One call stops at a good part of the way, by design; every further call goes on from there. */
static void check_minimum(struct inner *inner)
{
    md_spicy *b = &inner->b;
    medley_error error = {0};
    double rho[ROWS];
    const md_batch_problem *p = b->problem;
    md_empty_dual(p->loss, p->loss_state, p->y, rho, ROWS);
    look_at(inner, rho);
    check_ok(md_spicy_minimise(b, &error), &error);
    check_carried(inner, rho);
    const double first = phi(inner, rho);
    const double allowed = 0.1 * distance(inner, rho) + 1e-8 * (1 + fabs(first));
    for (int call = 0; call < 30; call++)
        check_ok(md_spicy_minimise(b, &error), &error);
    check_carried(inner, rho);
    const double least = phi(inner, rho);
    if (!(first >= least - 1e-9 * (1 + fabs(least)) && first - least <= allowed)) {
        say_where(inner);
        fail_msg("phi is %.12g after one call and %.12g at its minimum; %g is allowed", first,
                 least, allowed);
    }
    check_least(inner, rho, least);
}

static void the_inner_minimum_is_one(void **state)
{
    (void)state;
    for_all_problems(check_minimum);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_gradient_is_the_derivative_of_phi),
        cmocka_unit_test(the_newton_step_solves_with_the_derivative_of_the_gradient),
        cmocka_unit_test(the_inner_minimum_is_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
