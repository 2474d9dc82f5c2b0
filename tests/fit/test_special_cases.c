/* SPDX-License-Identifier: BSD-3-Clause */
/* What SPOM is with special options: projected subgradients (Zinkevich), structured Pegasos,
 * truncated gradient and FOBOS, each written down directly in a few lines, on chains and on rows
 * that stand alone. The loop must take the same steps: theta is compared after every round of
 * blocks made by hand, and after every epoch of medley_fit with options by name. */
#include "baseline/direct_methods.h"
#include "fit/fitting.h"
#include "fit/tiny_model.h"

/* The linear kernel under a name that is never turned into weights. */
#define EXPANSION "kernel=poly(degree=1,offset=0)"

static const double TOLERANCE = 1e-5; /* single precision through a few dozen rounds */

static void assert_same_theta(const struct direct *d, const struct algorithm *algorithm,
                              const double *expected, const double *found)
{
    const double size = length_between(expected, 0, d->data->weights);
    for (size_t j = 0; j < d->data->weights; j++)
        if (!(fabs(found[j] - expected[j]) <= TOLERANCE * size + 1e-7))
            fail_msg("%s, %s, %s, schedule %s, radius %g, round %g: weight %zu is %.8g, not %.8g",
                     d->data->kind.chain ? "chains" : "rows", d->loss, algorithm->penalty,
                     schedule_name(d->schedule), d->radius, d->t, j, found[j], expected[j]);
}

/* ---- round by round: blocks made by hand ---- */

struct by_hand {
    md_matrix features[TABLES];
    md_block *blocks[MOST_GROUPS];
    md_example examples[MOST_EXAMPLES];
    md_penalty *penalty;
    md_online online;
};

static void make_blocks(struct by_hand *hand, const struct tiny_data *data, md_space space,
                        bool thresholds)
{
    static const md_part_kind context[] = {MD_PAIR_PARTS, MD_TRIPLE_PARTS, MD_END_PARTS};
    medley_error error = {0};
    size_t kind = 0;
    for (size_t g = 0; g < data->group_count; g++) {
        md_explicit what = {.name = "x", .gain = 1, .space = space, .thresholds = thresholds};
        if (g < TABLES) {
            fill_table(data, g, &hand->features[g]);
            what.features = (md_row_features){.matrix = &hand->features[g], .count = COLUMNS};
        } else {
            kind += g > TABLES;
            kind += context[kind] == MD_TRIPLE_PARTS && data->kind.order < 2;
            what.kind = context[kind];
            what.features.count = 1;
            what.gain = data->kind.bigram_scale;
        }
        assert_int_equal(md_explicit_block_create(&hand->blocks[g], &what, &error), MEDLEY_OK);
    }
}

/* At theta = 0 outputs tie, so the weights start elsewhere, the same for both. */
static void start_anywhere(struct by_hand *hand, struct direct *d)
{
    medley_error error = {0};
    md_random random;
    md_random_seed(&random, 77);
    for (size_t g = 0; g < d->data->group_count; g++) {
        float body[MOST_WEIGHTS];
        const double gain = g < TABLES ? 1 : d->data->kind.bigram_scale;
        for (size_t j = d->data->group[g]; j < d->data->group[g + 1]; j++) {
            body[j - d->data->group[g]] = (float)(0.3 * md_random_normal(&random));
            d->theta[j] = (double)body[j - d->data->group[g]] / gain;
        }
        assert_int_equal(hand->blocks[g]->class->import_body(hand->blocks[g], body, &error),
                         MEDLEY_OK);
        md_block_refresh_norm(hand->blocks[g]);
    }
}

static void read_blocks(const struct by_hand *hand, const struct tiny_data *data, double *theta)
{
    for (size_t g = 0; g < data->group_count; g++) {
        float body[MOST_WEIGHTS];
        const double gain = g < TABLES ? 1 : data->kind.bigram_scale;
        assert_int_equal(hand->blocks[g]->class->body_size(hand->blocks[g]),
                         data->group[g + 1] - data->group[g]);
        hand->blocks[g]->class->export_body(hand->blocks[g], body);
        for (size_t j = data->group[g]; j < data->group[g + 1]; j++)
            theta[j] = (double)body[j - data->group[g]] / gain;
    }
}

static void compare_rounds(const struct tiny_data *data, const struct algorithm *algorithm,
                           const struct direct *settings)
{
    struct by_hand hand = {0};
    struct direct d = *settings;
    medley_error error = {0};
    const md_space space = {
        .structure = md_structure_find(data->kind.chain ? "chain" : "multiclass"),
        .shape = {.labels = data->kind.labels, .order = data->kind.order, .ends = data->kind.ends}};
    make_blocks(&hand, data, space, strcmp(algorithm->penalty, "l1") == 0);
    start_anywhere(&hand, &d);
    d.epoch_size = 1;
    assert_int_equal(md_penalty_create(&hand.penalty, algorithm->penalty, &error), MEDLEY_OK);
    for (size_t e = 0; e < data->kind.examples; e++)
        hand.examples[e] = (md_example){.row = data->start[e], .length = length_of(data, e)};
    const md_online_problem problem = {.blocks = hand.blocks,
                                       .block_count = data->group_count,
                                       .penalised = data->group_count,
                                       .space = space,
                                       .loss = md_loss_find(d.loss),
                                       .penalty = hand.penalty,
                                       .examples = hand.examples,
                                       .example_count = data->kind.examples,
                                       .gold = data->gold};
    const md_online_settings online_settings = {
        .rule = &md_rule_spom,
        .lambda = d.lambda,
        .rates = {.eta0 = d.eta0, .schedule = d.schedule, .radius = d.radius},
        .batch = 1,
        .threads = 1};
    assert_int_equal(md_online_init(&hand.online, &problem, &online_settings, &error), MEDLEY_OK);
    for (size_t t = 0; t < 40; t++) { /* epochs of a single example */
        const size_t e = 5 * t % data->kind.examples;
        double found[MOST_WEIGHTS] = {0};
        hand.online.problem.visit = &e;
        hand.online.problem.visit_count = 1;
        assert_int_equal(md_online_epoch(&hand.online, t, &error), MEDLEY_OK);
        one_round(&d, algorithm, &(struct batch){&e, 1});
        read_blocks(&hand, data, found);
        assert_same_theta(&d, algorithm, d.theta, found);
    }
    md_online_clear(&hand.online);
    md_penalty_free(hand.penalty);
    for (size_t g = 0; g < data->group_count; g++)
        md_block_free(hand.blocks[g]);
    for (size_t b = 0; b < TABLES; b++)
        md_matrix_clear(&hand.features[b]);
}

/* ---- epoch by epoch: options by name ---- */

static void compare_epochs(const struct tiny_data *data, const struct algorithm *algorithm,
                           const struct direct *settings, const char *more)
{
    enum { EPOCHS = 4, SEED = 6 };
    const bool averaged = strstr(more, "average=yes") != NULL;
    medley_dataset *dataset = tiny_dataset(data);
    struct direct d = *settings;
    d.epoch_size = data->kind.examples;
    for (size_t epoch = 0; epoch < EPOCHS; epoch++) {
        char text[512];
        char radius[32] = "none";
        double found[MOST_WEIGHTS] = {0};
        double expected[MOST_WEIGHTS] = {0};
        if (isfinite(d.radius))
            snprintf(radius, sizeof radius, "%.17g", d.radius);
        snprintf(text, sizeof text,
                 "penalty=%s loss=%s lambda=%.17g eta0=%.17g schedule=%s radius=%s "
                 "bigram=%s order=%d bigram-ends=%s bigram-scale=%g epochs=%zu seed=%d batch=%zu "
                 "threads=1 %s",
                 algorithm->penalty, d.loss, d.lambda, d.eta0, schedule_name(d.schedule), radius,
                 data->kind.order > 0 ? "learned" : "none", data->kind.order == 2 ? 2 : 1,
                 data->kind.ends ? "yes" : "no", data->kind.bigram_scale, epoch + 1, SEED, d.batch,
                 more);
        medley_model *model = fit(dataset, NULL, text);
        one_epoch(&d, algorithm, SEED, epoch);
        for (size_t j = 0; j < data->weights; j++)
            expected[j] = averaged ? d.sum[j] / d.rounds : d.theta[j];
        read_model(model, data, found);
        assert_same_theta(&d, algorithm, expected, found);
        medley_model_free(model);
    }
    medley_dataset_free(dataset);
}

/* ---- all of them ---- */

/* Chains with pairs, with everything, and rows that stand alone. From theta = 0 only two labels
 * leave the hinge no choice of steps. */
enum { KINDS = 4, SCHEDULES = 4 };

static struct tiny_kind kind_of(size_t which, size_t labels)
{
    static const struct tiny_kind kinds[KINDS] = {
        {.examples = 9, .chain = true, .order = 1, .bigram_scale = 1},
        {.examples = 9, .chain = true, .order = 2, .ends = true, .bigram_scale = 0.5},
        {.examples = 10, .chain = true, .order = 0, .bigram_scale = 1},
        {.examples = 11, .bigram_scale = 1}};
    struct tiny_kind kind = kinds[which];
    kind.labels = labels;
    return kind;
}

/* Settings number i of all there are; false where they make no sense. */
static bool choose_settings(struct direct *settings, const struct algorithm *algorithm, size_t i)
{
    static const char *const losses[] = {"hinge", "logistic"};
    static const md_schedule schedules[SCHEDULES] = {MD_RATE_SQRT, MD_RATE_INVERSE,
                                                     MD_RATE_CONSTANT, MD_RATE_EPOCH};
    const md_schedule schedule = schedules[i / KINDS % SCHEDULES];
    const bool tight = i / (KINDS * SCHEDULES * 2) % 2 == 0;
    *settings = (struct direct){.loss = losses[i / (KINDS * SCHEDULES) % 2],
                                .lambda = algorithm->lambda,
                                .eta0 = schedule == MD_RATE_INVERSE ? 1 : 0.3,
                                .schedule = schedule,
                                .batch = 1,
                                .radius = INFINITY};
    if (tight) /* the ball of Pegasos */
        settings->radius = algorithm->inverse_only ? 1 / sqrt(algorithm->lambda) : 0.9;
    return !algorithm->inverse_only || schedule == MD_RATE_INVERSE;
}

static void compare_with(const struct algorithm *algorithm)
{
    for (size_t i = 0; i < KINDS * SCHEDULES * 2 * 2; i++) {
        struct tiny_data data;
        struct direct settings;
        if (!choose_settings(&settings, algorithm, i))
            continue;
        settings.data = &data;
        struct tiny_kind kind = kind_of(i % KINDS, 3);
        draw_tiny_data(&data, &kind, 3);
        compare_rounds(&data, algorithm, &settings);
        kind = kind_of(i % KINDS, strcmp(settings.loss, "hinge") == 0 ? 2 : 3);
        draw_tiny_data(&data, &kind, 4);
        compare_epochs(&data, algorithm, &settings, "kernel=linear(explicit)");
        if (strcmp(algorithm->penalty, "l1") != 0) /* which kernel expansions cannot have */
            compare_epochs(&data, algorithm, &settings, EXPANSION);
        settings.batch = 3;
        compare_epochs(&data, algorithm, &settings, "kernel=linear(explicit)");
        if (strcmp(algorithm->penalty, "l1") != 0)
            compare_epochs(&data, algorithm, &settings, EXPANSION);
    }
}

static void no_penalty_is_zinkevich_s_projected_subgradients(void **state)
{
    (void)state;
    compare_with(&zinkevich_s);
}

static void an_absorbed_l2_term_with_inverse_rates_is_pegasos(void **state)
{
    (void)state;
    compare_with(&pegasos_s);
}

static void l1_is_truncated_gradient(void **state)
{
    (void)state;
    compare_with(&truncated_gradients);
}

static void l2_is_fobos(void **state)
{
    (void)state;
    compare_with(&fobos_with_l2);
}

static void group_lasso_is_fobos(void **state)
{
    (void)state;
    compare_with(&fobos_with_group_lasso);
}

/* What average=yes returns is the mean of theta behind every round. */
static void averages_are_those_of_all_rounds(void **state)
{
    (void)state;
    enum { ALGORITHMS = 5 };
    static const struct algorithm *const algorithms[ALGORITHMS] = {
        &zinkevich_s, &pegasos_s, &fobos_with_l2, &fobos_with_group_lasso, &truncated_gradients};
    for (size_t a = 0; a < ALGORITHMS; a++)
        for (size_t i = 0; i < KINDS * SCHEDULES * 2 * 2; i++) {
            struct tiny_data data;
            struct direct settings;
            if (!choose_settings(&settings, algorithms[a], i))
                continue;
            settings.data = &data;
            settings.batch = 1 + i % 2;
            const struct tiny_kind kind =
                kind_of(i % KINDS, strcmp(settings.loss, "hinge") == 0 ? 2 : 3);
            draw_tiny_data(&data, &kind, 4);
            compare_epochs(&data, algorithms[a], &settings, "kernel=linear(explicit) average=yes");
            if (algorithms[a] != &truncated_gradients)
                compare_epochs(&data, algorithms[a], &settings, EXPANSION " average=yes");
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_penalty_is_zinkevich_s_projected_subgradients),
        cmocka_unit_test(an_absorbed_l2_term_with_inverse_rates_is_pegasos),
        cmocka_unit_test(l1_is_truncated_gradient),
        cmocka_unit_test(l2_is_fobos),
        cmocka_unit_test(group_lasso_is_fobos),
        cmocka_unit_test(averages_are_those_of_all_rounds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
