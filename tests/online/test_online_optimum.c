/* SPDX-License-Identifier: BSD-3-Clause */
/* Where the online loop goes: long runs come close to the optimum, found here by batch proximal
 * gradients on dense arrays or certified elsewhere, and every optimum lies inside the ball that the
 * projection uses. */
#include "online/small_problem.h"

#include "io/io.h"
#include <stdio.h>

/* ---- the optimum by batch proximal gradients (FISTA with restarts) ---- */

static void loss_gradient(const struct small_problem *p, dense_theta theta, dense_theta gradient)
{
    memset(gradient, 0, sizeof(dense_theta));
    for (size_t r = 0; r < ROWS; r++) {
        double score[LABELS];
        double slope[LABELS];
        plain_scores(p, theta, r, score);
        plain_loss("logistic", score, p->gold[r], slope);
        plain_step(p, gradient, r, slope, -1.0 / ROWS);
    }
}

/* How a term is minimised makes no difference to where: what the loss absorbs is shrunk here. */
static struct plain_penalty shrunk_penalty(const char *text, size_t own_terms)
{
    struct plain_penalty penalty = plain_penalty_of(text);
    penalty.half_square += penalty.absorbed;
    penalty.absorbed = 0;
    penalty.own_terms = own_terms;
    return penalty;
}

static double batch_optimum(const struct small_problem *p, struct plain_penalty penalty,
                            double lambda, dense_theta theta)
{
    dense_theta ahead = {{{0}}};
    dense_theta gradient;
    double momentum = 1;
    double best = INFINITY;
    const double step = 0.2; /* below 1/L: the mean of ||x||^2 over all blocks is about 5 */
    memset(theta, 0, sizeof(dense_theta));
    for (size_t t = 0; t < 3000; t++) {
        dense_theta next;
        loss_gradient(p, ahead, gradient);
        for (size_t i = 0; i < BLOCKS * COLUMNS * LABELS; i++)
            (&next[0][0][0])[i] = (&ahead[0][0][0])[i] - step * (&gradient[0][0][0])[i];
        plain_prox(penalty, next, step * lambda);
        const double value = plain_objective(p, "logistic", penalty, lambda, next);
        const double grown = value > best ? 1 : (1 + sqrt(1 + 4 * momentum * momentum)) / 2;
        for (size_t i = 0; i < BLOCKS * COLUMNS * LABELS; i++)
            (&ahead[0][0][0])[i] =
                (&next[0][0][0])[i] + (value > best ? 0 : (momentum - 1) / grown) *
                                          ((&next[0][0][0])[i] - (&theta[0][0][0])[i]);
        momentum = grown;
        best = fmin(best, value);
        memcpy(theta, next, sizeof next);
    }
    return best;
}

/* From here on: the first half of a run only finds the way and is not averaged. */
static void forget_iterates(md_block **blocks, size_t count)
{
    medley_error error = {0};
    for (size_t m = 0; m < count; m++) {
        md_block *block = blocks[m];
        float *body = calloc(block->class->body_size(block), sizeof *body);
        assert_non_null(body);
        block->class->export_body(block, body);
        block->class->restart(block);
        assert_int_equal(block->class->import_body(block, body, &error), MEDLEY_OK);
        md_block_refresh_norm(block);
        free(body);
    }
}

static double train_long(md_online *online, size_t epochs)
{
    medley_error error = {0};
    double objective;
    for (size_t e = 0; e < epochs; e++) {
        if (e == epochs / 2)
            forget_iterates(online->problem.blocks, online->problem.block_count);
        assert_int_equal(md_online_epoch(online, e, &error), MEDLEY_OK);
    }
    assert_int_equal(md_online_take_average(online, &error), MEDLEY_OK);
    assert_int_equal(md_online_objective(online, &objective, NULL, &error), MEDLEY_OK);
    return objective;
}

static const struct {
    const char *penalty;
    double lambda;
    bool explicit_weights;
    size_t own_terms;
} cases[] = {
    {"mkl", 0.02, false, 0},
    {"mkl", 0.2, true, 0},
    {"l2", 0.05, false, 0},
    {"group-lasso", 0.03, false, 0},
    {"elastic(t=0.3)", 0.05, true, 0},
    {"sparse-group(s=0.4)", 0.02, true, 0},
    {"l1", 0.01, true, 0},
    {"mkl", 0.05, false, 1},
    {"group-lasso", 0.05, true, 2},
    {"absorbed-l2", 0.05, false, 0},
    {"absorbed-l2", 0.05, true, 1},
    {"group-lasso+0.5*absorbed-l2", 0.03, false, 0},
    {"l1+0.5*absorbed-l2", 0.02, true, 1},
};
enum { CASES = sizeof cases / sizeof *cases };

static double norm_of(dense_theta theta)
{
    double square = 0;
    for (size_t m = 0; m < BLOCKS; m++)
        square += plain_norm(theta[m]) * plain_norm(theta[m]);
    return sqrt(square);
}

static double radius_of(const char *text, double lambda, double at_zero, size_t blocks,
                        size_t own_terms)
{
    md_penalty *penalty = NULL;
    medley_error error = {0};
    assert_int_equal(md_penalty_create(&penalty, text, &error), MEDLEY_OK);
    const md_online_problem problem = {
        .penalty = penalty, .block_count = blocks, .penalised = blocks - own_terms};
    const double radius = md_online_radius(&problem, lambda, at_zero);
    md_penalty_free(penalty);
    return radius;
}

static void long_runs_come_close_to_the_optimum(void **state)
{
    (void)state;
    for (size_t k = 0; k < CASES; k++) {
        struct small_problem problem;
        struct learner learner;
        dense_theta optimum;
        small_problem_make(&problem, 20 + k);
        const struct plain_penalty penalty = shrunk_penalty(cases[k].penalty, cases[k].own_terms);
        const double best = batch_optimum(&problem, penalty, cases[k].lambda, optimum);
        const double radius = radius_of(cases[k].penalty, cases[k].lambda, log((double)LABELS),
                                        BLOCKS, cases[k].own_terms);
        assert_true(norm_of(optimum) <= radius);
        const struct choice choice = {.loss = "logistic",
                                      .penalty = cases[k].penalty,
                                      .explicit_weights = cases[k].explicit_weights,
                                      .own_terms = cases[k].own_terms,
                                      .settings = {.lambda = cases[k].lambda,
                                                   .rates.eta0 = 1,
                                                   .rates.schedule = MD_RATE_SQRT,
                                                   .rates.radius = radius,
                                                   .average = true,
                                                   .batch = 1,
                                                   .seed = 1,
                                                   .threads = 1}};
        learner_make(&learner, &problem, &choice);
        const double objective = train_long(&learner.online, 400);
        if (!(objective >= best - 1e-5 && objective <= 1.02 * best))
            fail_msg("%s: objective %g, optimum %g", cases[k].penalty, objective, best);
        learner_clear(&learner);
        small_problem_clear(&problem);
    }
}

/* ---- the ball ---- */

/* For the penalties with a formula of their own, the radius = sqrt(2 Lambda / lambda). */
static void the_radius_is_the_papers_for_squared_norms(void **state)
{
    (void)state;
    for (size_t m = 1; m < 6; m++) {
        const double expected = sqrt(2 * 0.7 / 0.01);
        assert_true(fabs(radius_of("l2", 0.01, 0.7, m, 0) - expected) < 1e-9 * expected);
        assert_true(fabs(radius_of("mkl", 0.01, 0.7, m, 0) - expected) < 1e-9 * expected);
        assert_true(fabs(radius_of("absorbed-l2", 0.01, 0.7, m, 0) - expected) < 1e-9 * expected);
        assert_true(fabs(radius_of("none", 0.01, 0.7, m, m) - expected) < 1e-9 * expected);
        assert_true(fabs(radius_of("group-lasso", 0.01, 0.7, m, 0) - 70) < 1e-7);
        assert_true(fabs(radius_of("mkl", 0.01, 0.7, m, m / 2) - expected) < 1e-9 * expected);

        /* proposition 9.3: sqrt(2 Lambda / (lambda + sigma)), whoever has the quadratic term */
        const double less = sqrt(2 * 0.7 / (0.01 + 0.03));
        assert_true(fabs(radius_of("mkl+3*l2", 0.01, 0.7, m, 0) - less) < 1e-9 * less);
        assert_true(fabs(radius_of("mkl+3*absorbed-l2", 0.01, 0.7, m, 0) - less) < 1e-9 * less);
    }
    assert_true(isinf(radius_of("none", 0.01, 0.7, 3, 0)));
    assert_true(isinf(radius_of("l1", 0.01, 0.7, 3, 0)));
    assert_true(isinf(radius_of("none", 0.01, 0.7, 3, 2)));
}

/* Norms in a random direction, also with few or equal entries; the sum of their squares. */
static double draw_direction(md_random *random, size_t kind, double *b, size_t count)
{
    double square = 0;
    for (size_t m = 0; m < count; m++) {
        b[m] = kind == 0 ? (double)md_random_below(random, 2) : fabs(md_random_normal(random));
        b[m] = kind == 1 ? b[m] : b[m] * b[m] * b[m];
        square += b[m] * b[m];
    }
    return square;
}

/* The whole of Omega, of blocks beside the penalty too. */
static double omega_of(const md_online_problem *problem, const double *b)
{
    double omega = md_penalty_value(problem->penalty, b, problem->penalised);
    for (size_t m = 0; m < problem->block_count; m++)
        omega +=
            (m < problem->penalised ? md_penalty_absorbed(problem->penalty) : 1) * b[m] * b[m] / 2;
    return omega;
}

/* All b with lambda Omega(b) <= loss at zero are inside, for every penalty and for composites that
 * want different things. */
static void the_ball_holds_every_theta_that_is_no_worse_than_zero(void **state)
{
    (void)state;
    static const char *const composites[] = {"group-lasso+block(q=4)",
                                             "mkl+block(q=3)",
                                             "0.01*group-lasso+squared-block(q=6)",
                                             "group-lasso+l2",
                                             "group-lasso+2*absorbed-l2",
                                             "l1+0.5*absorbed-l2"};
    enum { COMPOSITES = sizeof composites / sizeof *composites };
    const double at_zero = 1.1;
    md_random random;
    md_random_seed(&random, 77);
    for (size_t k = 0; k < COMPOSITES || md_penalties[k - COMPOSITES] != NULL; k++) {
        const char *text = k < COMPOSITES ? composites[k] : md_penalties[k - COMPOSITES]->name;
        md_penalty *penalty = NULL;
        medley_error error = {0};
        assert_int_equal(md_penalty_create(&penalty, text, &error), MEDLEY_OK);
        for (size_t trial = 0; trial < 3000; trial++) {
            double b[9];
            const size_t count = 1 + md_random_below(&random, 9);
            const double lambda = pow(10, 4 * md_random_uniform(&random) - 2);
            const md_online_problem problem = {
                .penalty = penalty,
                .block_count = count,
                .penalised = trial % 4 == 0 ? md_random_below(&random, count + 1) : count};
            const double radius = md_online_radius(&problem, lambda, at_zero);
            const double square = draw_direction(&random, trial % 3, b, count);
            if (isinf(radius) || square == 0)
                continue;
            for (size_t m = 0; m < count; m++)
                b[m] *= 1.000001 * radius / sqrt(square);
            if (!(lambda * omega_of(&problem, b) > at_zero))
                fail_msg("%s: a point outside radius %g is no worse than zero", text, radius);
        }
        md_penalty_free(penalty);
    }
}

/* ---- certified optima ---- */

/* A member of a zip archive that is stored as it is (npz): starts behind its local header. */
static bool find_member(md_input *member, const md_input *archive, const char *name)
{
    const size_t length = strlen(name);
    for (size_t i = 0; i + 30 + length < archive->length; i++) {
        const unsigned char *h = (const unsigned char *)archive->data + i;
        if (memcmp(h, "PK\3\4", 4) != 0 || (size_t)(h[26] | h[27] << 8) != length ||
            memcmp(h + 30, name, length) != 0)
            continue;
        assert_int_equal(h[8] | h[9] << 8, 0); /* not compressed */
        const size_t start = i + 30 + length + (size_t)(h[28] | h[29] << 8);
        *member = (md_input){
            .path = name, .data = archive->data + start, .length = archive->length - start};
        return true;
    }
    return false;
}

/* The npy at the beginning of input, whatever follows it in the archive. */
static void read_array(md_npy *array, const md_input *archive, const char *name, size_t values)
{
    md_input member = {0};
    medley_error error = {0};
    if (!find_member(&member, archive, name)) {
        fail_msg("%s: no %s", archive->path, name);
        return;
    }
    const unsigned char *head = (const unsigned char *)member.data;
    member.length = 10 + (size_t)(head[8] | head[9] << 8) + 8 * values;
    if (md_npy_read(array, &member, &error) != MEDLEY_OK)
        fail_msg("%s: %s", name, error.message);
}

enum { CERTIFIED_ROWS = 60, CERTIFIED_KERNELS = 5 };

struct certified {
    medley_dataset *dataset;
    md_bank bank;
    md_prepared prepared;
    md_gram *gram;
    md_example examples[CERTIFIED_ROWS];
    int32_t gold[CERTIFIED_ROWS];
};

static bool load_certified(struct certified *problem)
{
    medley_error error = {0};
    md_input archive = {0};
    md_npy kernels = {0};
    md_npy labels = {0};
    char path[512];
    const char *folder = getenv("MEDLEY_DATA");
    const size_t n = CERTIFIED_ROWS;
    snprintf(path, sizeof path, "%s/../ref/multiclass/iris60.npz",
             folder ? folder : "../shared/data");
    *problem = (struct certified){0};
    if (md_input_read(&archive, path, &error) != MEDLEY_OK) {
        print_message("no %s: certified optima are not compared with\n", path);
        return false;
    }
    read_array(&kernels, &archive, "K.npy", CERTIFIED_KERNELS * n * n);
    read_array(&labels, &archive, "y.npy", n);
    if (kernels.values == NULL || labels.values == NULL)
        return false;
    assert_int_equal(medley_dataset_create(&problem->dataset, &error), MEDLEY_OK);
    problem->dataset->rows = n;
    for (size_t m = 0; m < CERTIFIED_KERNELS; m++) {
        md_precomputed *given = NULL;
        assert_int_equal(md_dataset_new_gram(&given, problem->dataset, "k", NULL), MEDLEY_OK);
        assert_int_equal(md_matrix_init_dense(&given->values, n, n, &error), MEDLEY_OK);
        for (size_t i = 0; i < n * n; i++)
            given->values.dense[i] = (float)kernels.values[m * n * n + i];
    }
    for (size_t i = 0; i < n; i++) {
        problem->gold[i] = (int32_t)labels.values[i];
        problem->examples[i] = (md_example){.row = i, .length = 1};
    }
    md_npy_clear(&kernels);
    md_npy_clear(&labels);
    md_input_clear(&archive);
    return true;
}

static double train_certified(struct certified *problem, double lambda)
{
    medley_error error = {0};
    md_block *blocks[CERTIFIED_KERNELS] = {NULL};
    md_penalty *penalty = NULL;
    md_online online;
    for (size_t m = 0; m < CERTIFIED_KERNELS; m++) {
        const md_kernel_source from = {
            .gram = problem->gram, .m = m, .name = "k", .labels = 3, .averaging = true};
        assert_int_equal(md_kernel_block_create(&blocks[m], &from, &error), MEDLEY_OK);
    }
    assert_int_equal(md_penalty_create(&penalty, "l2", &error), MEDLEY_OK);
    const md_online_problem given = {
        .blocks = blocks,
        .block_count = CERTIFIED_KERNELS,
        .penalised = CERTIFIED_KERNELS,
        .gram = problem->gram,
        .space = {.structure = md_structure_find("multiclass"), .shape = {.labels = 3}},
        .loss = md_loss_find("hinge"),
        .penalty = penalty,
        .examples = problem->examples,
        .example_count = CERTIFIED_ROWS,
        .gold = problem->gold};
    const md_online_settings settings = {.rule = &md_rule_spom,
                                         .lambda = lambda,
                                         .rates.eta0 = 1,
                                         .rates.schedule = MD_RATE_INVERSE,
                                         .rates.radius = md_online_radius(&given, lambda, 1),
                                         .average = true,
                                         .batch = 1,
                                         .threads = 1};
    assert_int_equal(md_online_init(&online, &given, &settings, &error), MEDLEY_OK);
    const double objective = train_long(&online, 3000);
    md_online_clear(&online);
    md_penalty_free(penalty);
    for (size_t m = 0; m < CERTIFIED_KERNELS; m++)
        md_block_free(blocks[m]);
    return objective;
}

static void certified_multiclass_optima_are_reached(void **state)
{
    (void)state;
    /* p = 2: lambda/2 sum b^2 plus the mean hinge loss, lambda = 1/(N C); weak penalties take long
     */
    static const struct {
        double C, objective, reached;
    } optima[] = {{1, 0.08274192916661738, 1.003}, {10, 0.02274941132717381, 1.03}};
    struct certified problem;
    medley_error error = {0};
    if (!load_certified(&problem)) {
        skip();
        return;
    }
    const md_bank_options bank_options = {.views = "all"};
    const md_gram_options gram_options = {.threads = 1};
    assert_int_equal(md_bank_make(&problem.bank, problem.dataset, &bank_options, &error),
                     MEDLEY_OK);
    assert_int_equal(
        md_prepared_make(&problem.prepared, &problem.bank, problem.dataset, true, &error),
        MEDLEY_OK);
    assert_int_equal(
        md_gram_create(&problem.gram, &problem.bank, &problem.prepared, &gram_options, &error),
        MEDLEY_OK);
    for (size_t i = 0; i < sizeof optima / sizeof *optima; i++) {
        const double objective = train_certified(&problem, 1 / (CERTIFIED_ROWS * optima[i].C));
        if (!(objective >= optima[i].objective - 1e-6 &&
              objective <= optima[i].reached * optima[i].objective))
            fail_msg("C = %g: objective %g, optimum %g", optima[i].C, objective,
                     optima[i].objective);
    }
    md_gram_free(problem.gram);
    md_prepared_clear(&problem.prepared);
    md_bank_clear(&problem.bank);
    medley_dataset_free(problem.dataset);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(long_runs_come_close_to_the_optimum),
        cmocka_unit_test(the_radius_is_the_papers_for_squared_norms),
        cmocka_unit_test(the_ball_holds_every_theta_that_is_no_worse_than_zero),
        cmocka_unit_test(certified_multiclass_optima_are_reached),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
