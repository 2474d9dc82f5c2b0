/* SPDX-License-Identifier: BSD-3-Clause */
/* The online loop on sequences, with blocks of every kind at once: step by step what a dense
 * implementation does that looks at every output; the same bits for any number of threads; and a
 * state that can be copied. */
#include "online/chain_problem.h"
#include "online/state_copy.h"

static const double TOLERANCE = 2e-4;

/* ---- the reference: theta[block][feature][part], outputs by enumeration ---- */

enum {
    FEATURES_MOST = IDS,
    WIDTH_MOST = 27,
    PARTS_MOST = 160,
    SMALL_BLOCKS = 5,
    OUTPUTS_MOST = 81
};

typedef double chain_theta[SMALL_BLOCKS][FEATURES_MOST][WIDTH_MOST];

struct reference {
    const struct chain_problem *problem;
    const char *loss;
    md_online_settings settings;
    chain_theta theta;
    size_t round;
};

static double feature_at(const struct chain_problem *p, size_t b, size_t row, size_t feature)
{
    const md_explicit what = chain_explicit(p, b);
    if (what.features.matrix != NULL)
        return (double)p->columns.dense[row * COLUMNS + feature];
    if (what.features.id != NULL)
        return what.features.id[row * what.features.id_step] == (int32_t)feature;
    return 1;
}

/* Calls with every part of an example that a block scores, or steps on. */
static void each_part(const struct chain_problem *p, md_example example, chain_theta theta,
                      double *score, const double *delta, double factor)
{
    for (size_t b = 0; b < SMALL_BLOCKS; b++) {
        const md_explicit what = chain_explicit(p, b);
        const md_groups groups =
            p->space.structure->groups(p->space.shape, example.length, what.kind);
        for (size_t i = 0; i < groups.count * groups.width; i++) {
            const size_t row = example.row + groups.row + i / groups.width;
            const size_t part = groups.first + i;
            for (size_t f = 0; f < what.features.count; f++) {
                double *w = &theta[b][f][i % groups.width];
                const double x = feature_at(p, b, row, f);
                if (score != NULL)
                    score[part] += x * *w;
                else
                    *w += factor * delta[part] * x;
            }
        }
    }
}

/* Gradient of the loss in the parts, by looking at all outputs. */
static void find_delta(const struct reference *ref, md_example example, const double *score,
                       double *delta)
{
    const struct chain_problem *p = ref->problem;
    const md_structure *structure = p->space.structure;
    const int32_t *gold = p->gold + example.row;
    const bool hinge = strcmp(ref->loss, "hinge") == 0;
    uint32_t parts[OUTPUTS_MOST + 1][16];
    double value[OUTPUTS_MOST];
    size_t outputs = 1;
    size_t best = 0;
    double sum = 0;
    for (size_t i = 0; i < example.length; i++)
        outputs *= p->size.labels;
    const size_t count =
        structure->parts_of(p->space.shape, example.length, gold, parts[OUTPUTS_MOST]);
    for (size_t o = 0; o < outputs; o++) {
        int32_t y[8];
        size_t rest = o;
        for (size_t i = 0; i < example.length; i++, rest /= p->size.labels)
            y[i] = (int32_t)(rest % p->size.labels);
        structure->parts_of(p->space.shape, example.length, y, parts[o]);
        value[o] = hinge ? structure->cost(p->space.shape, example.length, y, gold) : 0;
        for (size_t i = 0; i < count; i++)
            value[o] += score[parts[o][i]];
        best = value[o] > value[best] ? o : best;
        sum += exp(value[o]);
    }
    for (size_t o = 0; o < outputs; o++)
        for (size_t i = 0; i < count; i++)
            delta[parts[o][i]] += hinge ? (double)(o == best) : exp(value[o]) / sum;
    for (size_t i = 0; i < count; i++)
        delta[parts[OUTPUTS_MOST][i]] -= 1;
}

static double block_norm(chain_theta theta, size_t b)
{
    double sum = 0;
    for (size_t i = 0; i < FEATURES_MOST * WIDTH_MOST; i++)
        sum += (&theta[b][0][0])[i] * (&theta[b][0][0])[i];
    return sqrt(sum);
}

/* A group lasso on all but the last two blocks, which have l2 terms. */
static void shrink(struct reference *ref, double tau)
{
    for (size_t b = 0; b < SMALL_BLOCKS; b++) {
        const double norm = block_norm(ref->theta, b);
        const double factor = b >= SMALL_BLOCKS - 2 ? 1 / (1 + tau)
                              : norm > tau          ? (norm - tau) / norm
                                                    : 0;
        for (size_t i = 0; i < FEATURES_MOST * WIDTH_MOST; i++)
            (&ref->theta[b][0][0])[i] *= factor;
    }
}

static void reference_round(struct reference *ref, const size_t *which, size_t count)
{
    const struct chain_problem *p = ref->problem;
    double delta[OUTPUTS_MOST][PARTS_MOST] = {{0}};
    ref->round += count;
    const double eta = ref->settings.rates.eta0 / sqrt((double)ref->round);
    for (size_t i = 0; i < count; i++) {
        double score[PARTS_MOST] = {0};
        each_part(p, p->examples[which[i]], ref->theta, score, NULL, 0);
        find_delta(ref, p->examples[which[i]], score, delta[i]);
    }
    for (size_t i = 0; i < count; i++)
        each_part(p, p->examples[which[i]], ref->theta, NULL, delta[i], -eta);
    shrink(ref, eta * ref->settings.lambda * (double)count);
}

/* ---- comparison ---- */

static void assert_same_theta(struct chain_learner *learner, const struct reference *ref)
{
    const struct chain_problem *p = ref->problem;
    for (size_t b = 0; b < SMALL_BLOCKS; b++) {
        md_block *block = learner->blocks[b];
        const md_explicit what = chain_explicit(p, b);
        const size_t width = p->space.structure->groups(p->space.shape, 3, what.kind).width;
        const size_t rows = block->class->body_size(block) / width;
        const bool kernel = block->class->soft_threshold == NULL;
        float *body = calloc(rows * width, sizeof *body);
        assert_non_null(body);
        block->class->export_body(block, body);
        for (size_t f = 0; f < what.features.count; f++)
            for (size_t w = 0; w < width; w++) {
                double found = kernel ? 0 : (double)body[f * width + w];
                for (size_t r = 0; kernel && r < rows; r++)
                    found += feature_at(p, b, r, f) * (double)body[r * width + w];
                if (!(fabs(found - ref->theta[b][f][w]) <= TOLERANCE))
                    fail_msg("%s, round %zu: theta[%zu][%zu][%zu] = %g, expected %g", ref->loss,
                             ref->round, b, f, w, found, ref->theta[b][f][w]);
            }
        free(body);
    }
}

static md_online_settings settings_of(size_t batch, size_t threads)
{
    return (md_online_settings){.lambda = 0.05,
                                .rates.eta0 = 0.3,
                                .rates.schedule = MD_RATE_SQRT,
                                .rates.radius = INFINITY,
                                .batch = batch,
                                .seed = 7,
                                .threads = threads};
}

static void follow(const char *loss, size_t labels, columns_as as, size_t batch)
{
    struct chain_problem problem;
    struct chain_learner learner;
    medley_error error = {0};
    const struct chain_size size = {
        .labels = labels, .examples = 14, .longest = 4, .id_blocks = SMALL_BLOCKS - 3};
    chain_problem_make(&problem, size, as, 3);
    struct reference ref = {.problem = &problem, .loss = loss, .settings = settings_of(batch, 2)};
    chain_learner_make(&learner, &problem, loss, "group-lasso", &ref.settings);
    for (size_t t = 0; t < 30; t++) {
        size_t which[14];
        const size_t count = 1 + t % batch;
        for (size_t i = 0; i < count; i++)
            which[i] = (t * 5 + i) % size.examples;
        learner.online.problem.visit = which;
        learner.online.problem.visit_count = count;
        assert_int_equal(md_online_epoch(&learner.online, t, &error), MEDLEY_OK);
        reference_round(&ref, which, count);
        assert_same_theta(&learner, &ref);
    }
    chain_learner_clear(&learner);
    chain_problem_clear(&problem);
}

/* Two labels for the hinge: with more of them the worst output of an empty model is not one. */
static void sequences_coincide_with_the_direct_algorithm(void **state)
{
    (void)state;
    static const size_t batches[] = {1, 3, 14};
    for (size_t i = 0; i < 3; i++) {
        follow("logistic", 3, AS_KERNEL, batches[i]);
        follow("logistic", 3, AS_WEIGHTS, batches[i]);
        follow("hinge", 2, AS_KERNEL, batches[i]);
        follow("hinge", 2, AS_WEIGHTS, batches[i]);
        follow("logistic", 3, AS_COMPUTED_KERNEL, batches[i]);
        follow("hinge", 2, AS_COMPUTED_KERNEL, batches[i]);
    }
}

/* Epochs of all examples, as many of which are announced at a time as fit a window: less than a
 * quarter of the rows here. */
static void computed_kernels_learn_the_same(void **state)
{
    (void)state;
    static const struct chain_size size = {
        .labels = 3, .examples = 25, .longest = 5, .id_blocks = SMALL_BLOCKS - 3};
    static const char *const losses[] = {"logistic", "hinge"};
    for (size_t k = 0; k < 2; k++) {
        double norm[2][SMALL_BLOCKS];
        double objective[2];
        for (int as = AS_KERNEL; as <= AS_COMPUTED_KERNEL; as++) {
            struct chain_problem problem;
            struct chain_learner learner;
            medley_error error = {0};
            const md_online_settings settings = settings_of(1 + 3 * k, 2);
            chain_problem_make(&problem, size, (columns_as)as, 9);
            chain_learner_make(&learner, &problem, losses[k], "mkl", &settings);
            for (size_t e = 0; e < 4; e++)
                assert_int_equal(md_online_epoch(&learner.online, e, &error), MEDLEY_OK);
            assert_int_equal(md_online_objective(&learner.online, &objective[as], NULL, &error),
                             MEDLEY_OK);
            for (size_t b = 0; b < SMALL_BLOCKS; b++)
                norm[as][b] = learner.blocks[b]->norm;
            chain_learner_clear(&learner);
            chain_problem_clear(&problem);
        }
        for (size_t b = 0; b < SMALL_BLOCKS; b++)
            assert_true(fabs(norm[0][b] - norm[1][b]) < 1e-4 * (1 + norm[0][b]));
        assert_true(norm[0][0] > 0 && fabs(objective[0] - objective[1]) < 1e-4 * objective[0]);
    }
}

/* ---- states ---- */

static struct copy state_after(struct chain_learner *learner, size_t first, size_t epochs)
{
    struct copy copy = {0};
    medley_error error = {0};
    for (size_t e = first; e < first + epochs; e++)
        assert_int_equal(md_online_epoch(&learner->online, e, &error), MEDLEY_OK);
    assert_false(learner->online.diverged);
    md_online_visit_state(&learner->online, copy_visit, &copy);
    return copy;
}

/* Enough blocks, labels and rows that scores and steps are shared out. */
static const struct chain_size large = {
    .labels = 27, .examples = 30, .longest = 12, .id_blocks = 44};

static void threads_do_not_change_a_bit(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"logistic", "group-lasso"}, {"hinge", "mkl"}, {"logistic", "l1"}};
    for (size_t k = 0; k < 3; k++)
        for (int as = AS_KERNEL; as <= AS_WEIGHTS; as += AS_WEIGHTS - AS_KERNEL) {
            struct chain_problem problem;
            struct copy copies[2];
            if (as == AS_KERNEL && k == 2)
                continue;
            chain_problem_make(&problem, large, (columns_as)as, 5);
            for (size_t i = 0; i < 2; i++) {
                struct chain_learner learner;
                md_online_settings settings = settings_of(8, i + 1);
                settings.average = as == AS_KERNEL;
                settings.lambda = 1e-4;
                chain_learner_make(&learner, &problem, cases[k][0], cases[k][1], &settings);
                copies[i] = state_after(&learner, 0, 2);
                chain_learner_clear(&learner);
            }
            assert_same_copy(&copies[0], &copies[1]);
            free(copies[0].bytes);
            free(copies[1].bytes);
            chain_problem_clear(&problem);
        }
}

static void a_copied_state_goes_on_as_if_nothing_had_happened(void **state)
{
    (void)state;
    static const struct chain_size size = {
        .labels = 3, .examples = 20, .longest = 6, .id_blocks = 4};
    for (int as = AS_KERNEL; as <= AS_WEIGHTS; as++) {
        struct chain_problem problem;
        struct chain_learner learner;
        md_online_settings settings = settings_of(2, 1);
        settings.average = true;
        chain_problem_make(&problem, size, (columns_as)as, 6);
        chain_learner_make(&learner, &problem, "logistic", "mkl", &settings);
        struct copy start = state_after(&learner, 0, 2);
        struct copy first = state_after(&learner, 2, 2);
        md_online_restart(&learner.online, 2);
        struct copy other = state_after(&learner, 0, 1);
        md_online_restart(&learner.online, settings.rates.eta0);
        start.back = true;
        md_online_visit_state(&learner.online, copy_visit, &start);
        assert_int_equal(start.position, start.length);
        struct copy again = state_after(&learner, 2, 2);
        assert_same_copy(&first, &again);
        assert_memory_not_equal(first.bytes, other.bytes, first.length);
        free(start.bytes);
        free(first.bytes);
        free(other.bytes);
        free(again.bytes);
        chain_learner_clear(&learner);
        chain_problem_clear(&problem);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sequences_coincide_with_the_direct_algorithm),
        cmocka_unit_test(computed_kernels_learn_the_same),
        cmocka_unit_test(threads_do_not_change_a_bit),
        cmocka_unit_test(a_copied_state_goes_on_as_if_nothing_had_happened),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
