/* SPDX-License-Identifier: BSD-3-Clause */
/* OBSCURE on sequences, with blocks of every kind at once, against Algorithms 1 and 2 with
 * losses that look at every output; kernels whose values are kept and kernels on the fly. */
#include "online/chain_problem.h"
#include "online/mirror_reference.h"
#include <stdio.h>

enum {
    CHAIN_BLOCKS = 5,
    FEATURES_MOST = IDS,
    WIDTH_MOST = 27,
    PARTS_MOST = 160,
    OUTPUTS_MOST = 81
};
enum { SIZE = FEATURES_MOST * WIDTH_MOST };

/* ---- losses ---- */

struct subject {
    const struct chain_problem *problem;
    const char *loss;
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

/* score += w's scores of the parts of an example; or z -= the features of the parts times delta. */
static void each_part(const struct chain_problem *p, md_example example, const double *w,
                      double *score, double *z, const double *delta)
{
    for (size_t b = 0; b < CHAIN_BLOCKS; b++) {
        const md_explicit what = chain_explicit(p, b);
        const md_groups groups =
            p->space.structure->groups(p->space.shape, example.length, what.kind);
        for (size_t i = 0; i < groups.count * groups.width; i++)
            for (size_t f = 0; f < what.features.count; f++) {
                const size_t at = b * SIZE + f * WIDTH_MOST + i % groups.width;
                const double x = feature_at(p, b, example.row + groups.row + i / groups.width, f);
                if (z == NULL)
                    score[groups.first + i] += x * w[at];
                else
                    z[at] -= x * delta[groups.first + i];
            }
    }
}

struct outputs {
    uint32_t parts[OUTPUTS_MOST + 1][16]; /* the last are those of the right output */
    size_t count, parts_each, right;
    double value[OUTPUTS_MOST]; /* with costs, for the hinge */
};

static void list_outputs(struct outputs *o, const struct subject *s, md_example example,
                         const double *score)
{
    const struct chain_problem *p = s->problem;
    const md_structure *structure = p->space.structure;
    const int32_t *gold = p->gold + example.row;
    const bool hinge = strcmp(s->loss, "hinge") == 0;
    o->count = 1;
    for (size_t i = 0; i < example.length; i++)
        o->count *= p->size.labels;
    o->parts_each =
        structure->parts_of(p->space.shape, example.length, gold, o->parts[OUTPUTS_MOST]);
    for (size_t k = 0; k < o->count; k++) {
        int32_t y[8];
        size_t rest = k;
        for (size_t i = 0; i < example.length; i++, rest /= p->size.labels)
            y[i] = (int32_t)(rest % p->size.labels);
        structure->parts_of(p->space.shape, example.length, y, o->parts[k]);
        o->value[k] = hinge ? structure->cost(p->space.shape, example.length, y, gold) : 0;
        for (size_t i = 0; i < o->parts_each; i++)
            o->value[k] += score[o->parts[k][i]];
        if (memcmp(y, gold, example.length * sizeof *y) == 0)
            o->right = k;
    }
}

static double loss_of_sequence(const void *context, size_t e, const double *w, double *z,
                               double *gap)
{
    const struct subject *s = context;
    const md_example example = s->problem->examples[e];
    struct outputs o;
    double score[PARTS_MOST] = {0};
    double delta[PARTS_MOST] = {0};
    double share[OUTPUTS_MOST] = {0};
    double loss;
    each_part(s->problem, example, w, score, NULL, NULL);
    list_outputs(&o, s, example, score);
    if (strcmp(s->loss, "hinge") == 0) {
        size_t best = 0;
        for (size_t k = 0; k < o.count; k++)
            best = o.value[k] > o.value[best] ? k : best;
        for (size_t k = 0; k < o.count; k++)
            if (k != best)
                *gap = fmin(*gap, o.value[best] - o.value[k]);
        share[best] = 1;
        loss = o.value[best] - o.value[o.right];
    } else {
        double sum = 0;
        for (size_t k = 0; k < o.count; k++)
            sum += exp(o.value[k]);
        for (size_t k = 0; k < o.count; k++)
            share[k] = exp(o.value[k]) / sum;
        loss = log(sum) - o.value[o.right];
    }
    share[o.right] -= 1;
    for (size_t k = 0; k < o.count; k++)
        for (size_t i = 0; i < o.parts_each; i++)
            delta[o.parts[k][i]] += share[k];
    each_part(s->problem, example, NULL, NULL, z, delta);
    return loss;
}

/* ---- comparison ---- */

static void assert_about(const char *what, double p, double found, double expected, double scale)
{
    if (!(fabs(found - expected) <= (1e-4 + 5e-6 * p / (p - 1)) * scale))
        fail_msg("p %g, %s: %.9g, expected %.9g", p, what, found, expected);
}

static void compare(const struct chain_learner *learner, const struct chain_problem *p,
                    const struct mirror_reference *ref, double norm_p)
{
    const md_dual *mirror = learner->online.state;
    const double length = group_norm(ref, ref->theta, ref->q);
    assert_int_equal(learner->online.updates, ref->updates);
    assert_about("length", norm_p, mirror->length, length, length);
    for (size_t b = 0; b < CHAIN_BLOCKS; b++) {
        md_block *block = learner->blocks[b];
        const md_explicit what = chain_explicit(p, b);
        const size_t width = p->space.structure->groups(p->space.shape, 3, what.kind).width;
        const size_t rows = block->class->body_size(block) / width;
        const bool kernel = block->class->soft_threshold == NULL;
        float *body = calloc(rows * width, sizeof *body);
        assert_non_null(body);
        block->class->export_body(block, body);
        for (size_t f = 0; f < what.features.count; f++)
            for (size_t l = 0; l < width; l++) {
                double found = kernel ? 0 : (double)body[f * width + l];
                for (size_t r = 0; kernel && r < rows; r++)
                    found += feature_at(p, b, r, f) * (double)body[r * width + l];
                assert_about("w", norm_p, found, ref->w[b * SIZE + f * WIDTH_MOST + l],
                             length / ref->q);
            }
        assert_about("norm", norm_p, block->norm, block_length(ref, ref->theta, b), length);
        free(body);
    }
    if (!ref->descends)
        return;
    assert_about("R", norm_p, mirror->radius, ref->radius, ref->radius);
    assert_about("s", norm_p, mirror->s, ref->s, ref->s);
}

/* Returns the number of epochs that could be compared. */
static size_t follow(const char *loss, size_t labels, columns_as as, double p)
{
    medley_error error = {0};
    struct chain_problem problem;
    struct chain_learner learner;
    struct mirror_reference ref;
    const struct chain_size size = {
        .labels = labels, .examples = 14, .longest = 4, .id_blocks = CHAIN_BLOCKS - 3};
    const md_online_settings settings = {.rule = &md_rule_obscure,
                                         .dual = {.p = p, .eta = 0.4},
                                         .lambda = 0.03,
                                         .batch = 1,
                                         .seed = 5,
                                         .threads = 1};
    chain_problem_make(&problem, size, as, 11);
    chain_learner_make(&learner, &problem, loss, "l2", &settings);
    mirror_reference_make(&ref, CHAIN_BLOCKS, SIZE, p);
    const struct subject subject = {&problem, loss};
    ref.lambda = settings.lambda;
    ref.eta = settings.dual.eta;
    ref.loss = loss_of_sequence;
    ref.context = &subject;
    md_online_restart(&learner.online, settings.dual.eta);
    size_t e = 0;
    for (; e < 5; e++) {
        if (e == 2) {
            assert_int_equal(md_online_begin_stage(&learner.online, 1, 1, &error), MEDLEY_OK);
            reference_begin_descent(&ref, size.examples, true);
        }
        assert_int_equal(md_online_epoch(&learner.online, e, &error), MEDLEY_OK);
        for (size_t i = 0; i < size.examples; i++)
            reference_visit(&ref, learner.online.order[i]);
        if (ref.closest < 2e-5 + 5e-6 * p / (p - 1))
            break;
        compare(&learner, &problem, &ref, p);
    }
    mirror_reference_clear(&ref);
    chain_learner_clear(&learner);
    chain_problem_clear(&problem);
    return e;
}

/* Two labels for the hinge: with more of them an empty model's worst output is not the only one. */
static void sequences_coincide_with_the_direct_algorithm(void **state)
{
    (void)state;
    static const double norms[] = {1.01, 1.05, 1.25, 1.5, 2};
    size_t compared = 0;
    for (size_t k = 0; k < sizeof norms / sizeof *norms; k++)
        for (int as = AS_KERNEL; as <= AS_WEIGHTS; as++) {
            assert_int_equal(follow("logistic", 3, (columns_as)as, norms[k]), 5);
            compared += follow("hinge", 2, (columns_as)as, norms[k]);
        }
    if (compared < 40)
        fail_msg("only %zu epochs of the hinge could be compared", compared);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sequences_coincide_with_the_direct_algorithm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
