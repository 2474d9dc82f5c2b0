/* SPDX-License-Identifier: BSD-3-Clause */
/* Laws of every loss in the registry over every structure: the sparse gradient it gives is the
 * slope of its value, the value is convex and not negative, huge scores do no harm, and one
 * inference serves call after call, whatever was computed with it before. */
#include "base/random.h"
#include "loss/loss.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { LABELS = 4, LONGEST = 3, SEEDS = 30, PARTS_MOST = 64 };
static const md_shape SHAPE = {.labels = LABELS};

struct sample {
    const md_loss *loss;
    md_inference *inference;
    md_random random;
    size_t length, parts;
    float score[PARTS_MOST];
    int32_t gold[LONGEST];
};

typedef void law(struct sample *sample);

static void for_every_loss(law *check)
{
    for (size_t s = 0; md_structures[s] != NULL; s++)
        for (size_t k = 0; md_losses[k] != NULL; k++) {
            md_inference inference;
            medley_error error = {0};
            assert_int_equal(
                md_inference_init(&inference, md_structures[s], SHAPE, LONGEST, &error), MEDLEY_OK);
            for (uint64_t seed = 1; seed <= SEEDS; seed++) {
                struct sample sample = {.loss = md_losses[k], .inference = &inference};
                md_random_seed(&sample.random, seed);
                sample.length = 1 + md_random_below(&sample.random, LONGEST);
                sample.parts = md_structures[s]->part_count(SHAPE, sample.length);
                assert_true(sample.parts <= PARTS_MOST);
                for (size_t p = 0; p < sample.parts; p++)
                    sample.score[p] = (float)md_random_normal(&sample.random);
                for (size_t i = 0; i < sample.length; i++)
                    sample.gold[i] = (int32_t)md_random_below(&sample.random, LABELS);
                check(&sample);
            }
            md_inference_clear(&inference);
        }
}

static double value_at(struct sample *sample, const float *score)
{
    return sample->loss->evaluate(sample->inference, sample->length, score, sample->gold, false);
}

/* The gradient as a dense vector; parts must not come twice. */
static double gradient_at(struct sample *sample, const float *score, double *gradient)
{
    const double value =
        sample->loss->evaluate(sample->inference, sample->length, score, sample->gold, true);
    const md_delta *delta = &sample->inference->delta;
    memset(gradient, 0, sample->parts * sizeof *gradient);
    for (size_t i = 0; i < delta->count; i++) {
        assert_true(delta->part[i] < sample->parts);
        assert_true(gradient[delta->part[i]] == 0);
        assert_true(delta->coefficient[i] != 0);
        gradient[delta->part[i]] = (double)delta->coefficient[i];
    }
    return value;
}

/* ---- value and gradient ---- */

static void check_slope(struct sample *sample)
{
    double gradient[PARTS_MOST];
    gradient_at(sample, sample->score, gradient);
    for (size_t p = 0; p < sample->parts; p++) {
        const float old = sample->score[p];
        const float up = old + 1e-3f;
        const float down = old - 1e-3f;
        double far[PARTS_MOST];
        sample->score[p] = up;
        const double above = gradient_at(sample, sample->score, far);
        const double change_up = fabs(far[p] - gradient[p]);
        sample->score[p] = down;
        const double below = gradient_at(sample, sample->score, far);
        const double change_down = fabs(far[p] - gradient[p]);
        sample->score[p] = old;
        if (fmax(change_up, change_down) > 0.5)
            continue; /* a kink lies between */
        const double slope = (above - below) / ((double)up - (double)down);
        assert_true(fabs(slope - gradient[p]) < 1e-4);
    }
}

static void the_gradient_is_the_slope_of_the_value(void **state)
{
    (void)state;
    for_every_loss(check_slope);
}

/* A subgradient of a convex function: its tangent lies below it everywhere. */
static void check_tangent(struct sample *sample)
{
    double gradient[PARTS_MOST];
    float other[PARTS_MOST];
    const double here = gradient_at(sample, sample->score, gradient);
    double tangent = here;
    for (size_t p = 0; p < sample->parts; p++) {
        other[p] = (float)(3 * md_random_normal(&sample->random));
        tangent += gradient[p] * ((double)other[p] - (double)sample->score[p]);
    }
    assert_true(value_at(sample, other) >= tangent - 1e-4);
}

static void the_tangent_lies_below_the_loss(void **state)
{
    (void)state;
    for_every_loss(check_tangent);
}

static void check_convexity(struct sample *sample)
{
    float other[PARTS_MOST];
    float between[PARTS_MOST];
    const double t = md_random_uniform(&sample->random);
    for (size_t p = 0; p < sample->parts; p++) {
        other[p] = (float)(3 * md_random_normal(&sample->random));
        between[p] = (float)((1 - t) * (double)sample->score[p] + t * (double)other[p]);
    }
    const double chord = (1 - t) * value_at(sample, sample->score) + t * value_at(sample, other);
    assert_true(value_at(sample, between) <= chord + 1e-5);
}

static void losses_are_convex_along_segments(void **state)
{
    (void)state;
    for_every_loss(check_convexity);
}

static void check_range(struct sample *sample)
{
    assert_true(value_at(sample, sample->score) >= 0);
    const float zero[PARTS_MOST] = {0};
    const double bound = sample->loss->at_zero(sample->inference->structure, SHAPE, sample->length);
    assert_true(value_at(sample, zero) <= bound + 1e-9);
}

static void losses_are_not_negative_and_bounded_at_zero(void **state)
{
    (void)state;
    for_every_loss(check_range);
}

/* Scores that put the right output far ahead make every loss vanish, and its gradient. */
static void check_far_ahead(struct sample *sample)
{
    uint32_t right[PARTS_MOST];
    const size_t count =
        sample->inference->structure->parts_of(SHAPE, sample->length, sample->gold, right);
    for (size_t i = 0; i < count; i++)
        sample->score[right[i]] += 100;
    double gradient[PARTS_MOST];
    assert_true(gradient_at(sample, sample->score, gradient) < 1e-9);
    for (size_t p = 0; p < sample->parts; p++)
        assert_true(gradient[p] == 0);
}

static void losses_vanish_where_the_right_output_is_far_ahead(void **state)
{
    (void)state;
    for_every_loss(check_far_ahead);
}

/* ---- hinge and logistic by hand ---- */

static void hinge_is_zero_from_a_margin_of_one_on(void **state)
{
    (void)state;
    md_inference inference;
    medley_error error = {0};
    const md_loss *hinge = md_loss_find("hinge");
    assert_int_equal(
        md_inference_init(&inference, md_structure_find("multiclass"), SHAPE, 1, &error),
        MEDLEY_OK);
    const int32_t gold = 2;
    const float ahead[LABELS] = {0, -1, 1, 0};
    assert_true(hinge->evaluate(&inference, 1, ahead, &gold, true) == 0);
    assert_int_equal(inference.delta.count, 0);
    const float short_of_it[LABELS] = {0.25f, -1, 1, 0};
    assert_true(hinge->evaluate(&inference, 1, short_of_it, &gold, true) == 0.25);
    assert_int_equal(inference.delta.count, 2);
    assert_int_equal(inference.delta.part[0], 2);
    assert_true(inference.delta.coefficient[0] == -1);
    assert_int_equal(inference.delta.part[1], 0);
    assert_true(inference.delta.coefficient[1] == 1);
    md_inference_clear(&inference);
}

static void logistic_is_minus_the_log_of_the_softmax(void **state)
{
    (void)state;
    md_inference inference;
    medley_error error = {0};
    assert_int_equal(
        md_inference_init(&inference, md_structure_find("multiclass"), SHAPE, 1, &error),
        MEDLEY_OK);
    const int32_t gold = 1;
    const float score[LABELS] = {0, logf(3), 0, 0};
    const double loss = md_loss_find("logistic")->evaluate(&inference, 1, score, &gold, true);
    assert_true(fabs(loss - log(2)) < 1e-6); /* p(gold) = 3/6 */
    assert_int_equal(inference.delta.count, LABELS);
    assert_true(fabsf(inference.delta.coefficient[1] + 0.5f) < 1e-6f);
    md_inference_clear(&inference);
}

/* ---- robustness ---- */

static void check_huge(struct sample *sample)
{
    double gradient[PARTS_MOST];
    for (size_t p = 0; p < sample->parts; p++)
        sample->score[p] *= 1e4f;
    const double value = gradient_at(sample, sample->score, gradient);
    assert_true(isfinite(value) && value >= 0);
    for (size_t p = 0; p < sample->parts; p++)
        assert_true(isfinite(gradient[p]) && fabs(gradient[p]) <= LONGEST);
}

static void huge_scores_give_finite_losses(void **state)
{
    (void)state;
    for_every_loss(check_huge);
}

static void check_not_a_number(struct sample *sample)
{
    uint32_t right[PARTS_MOST];
    sample->inference->structure->parts_of(SHAPE, sample->length, sample->gold, right);
    sample->score[right[0]] = NAN;
    assert_true(isnan(value_at(sample, sample->score)));
}

static void a_score_that_is_no_number_does_not_pass_for_no_loss(void **state)
{
    (void)state;
    for_every_loss(check_not_a_number);
}

/* The same question asked again, after others of other losses and lengths, has the same answer. */
static void check_scratch(struct sample *sample)
{
    double first[PARTS_MOST];
    double again[PARTS_MOST];
    const double value = gradient_at(sample, sample->score, first);
    assert_true(value_at(sample, sample->score) == value);
    const int32_t other_gold[LONGEST] = {3, 0, 1};
    float other_score[PARTS_MOST];
    for (size_t round = 0; round < 10; round++) {
        for (size_t p = 0; p < PARTS_MOST; p++)
            other_score[p] = (float)md_random_normal(&sample->random);
        for (size_t k = 0; md_losses[k] != NULL; k++)
            md_losses[k]->evaluate(sample->inference, 1 + round % LONGEST, other_score, other_gold,
                                   round % 2 == 0);
    }
    assert_true(gradient_at(sample, sample->score, again) == value);
    assert_memory_equal(first, again, sample->parts * sizeof *first);
}

static void earlier_calls_leave_no_trace(void **state)
{
    (void)state;
    for_every_loss(check_scratch);
}

static void losses_are_found_by_name(void **state)
{
    (void)state;
    for (size_t k = 0; md_losses[k] != NULL; k++) {
        assert_ptr_equal(md_loss_find(md_losses[k]->name), md_losses[k]);
        assert_true(strlen(md_losses[k]->summary) > 0 && strlen(md_losses[k]->formula) > 0);
    }
    assert_null(md_loss_find("no such loss"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_gradient_is_the_slope_of_the_value),
        cmocka_unit_test(the_tangent_lies_below_the_loss),
        cmocka_unit_test(losses_are_convex_along_segments),
        cmocka_unit_test(losses_are_not_negative_and_bounded_at_zero),
        cmocka_unit_test(losses_vanish_where_the_right_output_is_far_ahead),
        cmocka_unit_test(hinge_is_zero_from_a_margin_of_one_on),
        cmocka_unit_test(logistic_is_minus_the_log_of_the_softmax),
        cmocka_unit_test(huge_scores_give_finite_losses),
        cmocka_unit_test(a_score_that_is_no_number_does_not_pass_for_no_loss),
        cmocka_unit_test(earlier_calls_leave_no_trace),
        cmocka_unit_test(losses_are_found_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
