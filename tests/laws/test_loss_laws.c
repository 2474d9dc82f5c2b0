/* SPDX-License-Identifier: BSD-3-Clause */
/* Laws of every loss in the registry over every structure: the sparse gradient it gives is the
 * slope of its value, the value is convex and not negative, huge scores do no harm, and one
 * inference serves call after call, whatever was computed with it before. */
#include "laws/loss_case.h"

/* ---- value and gradient ---- */

static void check_slope(struct sample *sample)
{
    double gradient[PARTS_MOST];
    gradient_at(sample, sample->score, gradient);
    for (size_t p = 0; p < sample->parts; p++) {
        const float old = sample->score[p];
        const float up = old + 1e-2f; /* values of chains are good to single precision */
        const float down = old - 1e-2f;
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
    const double bound = sample->loss->at_zero(sample->space, sample->length);
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
    const size_t count = gold_parts(sample, right);
    for (size_t i = 0; i < count; i++)
        sample->score[right[i]] += 100;
    double gradient[PARTS_MOST];
    /* sums over chains are in single precision, scaled */
    const bool plain = strcmp(sample->space.structure->name, "multiclass") == 0;
    assert_true(gradient_at(sample, sample->score, gradient) < (plain ? 1e-9 : 1e-6));
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
    const md_space space = {.structure = md_structure_find("multiclass"),
                            .shape = {.labels = LABELS}};
    assert_int_equal(md_inference_init(&inference, space, 1, &error), MEDLEY_OK);
    const int32_t gold = 2;
    const float ahead[LABELS] = {0, -1, 1, 0};
    memcpy(inference.score, ahead, sizeof ahead);
    assert_true(hinge->evaluate(&inference, 1, &gold, true) == 0);
    assert_int_equal(inference.delta.count, 0);
    const float short_of_it[LABELS] = {0.25f, -1, 1, 0};
    memcpy(inference.score, short_of_it, sizeof short_of_it);
    assert_true(hinge->evaluate(&inference, 1, &gold, true) == 0.25);
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
    const md_space space = {.structure = md_structure_find("multiclass"),
                            .shape = {.labels = LABELS}};
    assert_int_equal(md_inference_init(&inference, space, 1, &error), MEDLEY_OK);
    const int32_t gold = 1;
    const float score[LABELS] = {0, logf(3), 0, 0};
    memcpy(inference.score, score, sizeof score);
    const double loss = md_loss_find("logistic")->evaluate(&inference, 1, &gold, true);
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
    gold_parts(sample, right);
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
    const int32_t other_gold[LONGEST] = {0, 1, 2, 3};
    float other_score[PARTS_MOST];
    for (size_t round = 0; round < 10; round++) {
        for (size_t p = 0; p < PARTS_MOST; p++)
            other_score[p] = (float)(10 * md_random_normal(&sample->random));
        for (size_t k = 0; md_losses[k] != NULL; k++) {
            memcpy(sample->inference->score, other_score, sample->most_parts * sizeof(float));
            md_losses[k]->evaluate(sample->inference, 1 + round % LONGEST, other_gold,
                                   round % 2 == 0);
        }
    }
    assert_true(gradient_at(sample, sample->score, again) == value);
    assert_memory_equal(first, again, sample->parts * sizeof *first);
    check_delta(sample);
}

static void earlier_calls_leave_no_trace(void **state)
{
    (void)state;
    for_every_loss(check_scratch);
}

/* ---- the gradient as blocks read it ---- */

static void check_grouping(struct sample *sample)
{
    memcpy(sample->inference->score, sample->score, sample->parts * sizeof(float));
    md_loss_gradient(sample->loss, sample->inference, sample->length, sample->gold);
    check_delta(sample);
    check_groups(sample);
}

static void gradients_are_grouped_by_rows(void **state)
{
    (void)state;
    for_every_loss(check_grouping);
}

/* The whole gradient and the offset are a tangent: below the loss of any other scores, and equal to
 * it at their own. */
static void check_offset(struct sample *sample)
{
    md_inference *inference = sample->inference;
    float other[PARTS_MOST];
    double gradient[PARTS_MOST];
    double rounding;
    inference->whole = true;
    const double value = gradient_at(sample, sample->score, gradient);
    const double offset =
        md_loss_offset(inference, sample->length, sample->gold, sample->score, value, &rounding);
    inference->whole = false;
    assert_true(rounding >= 0 && offset >= -1e-5);
    for (int round = 0; round <= 10; round++) {
        double tangent = offset;
        for (size_t p = 0; p < sample->parts; p++) {
            const double away = round * 0.3 * md_random_normal(&sample->random);
            other[p] = (float)((double)sample->score[p] + away);
            tangent += gradient[p] * (double)other[p];
        }
        const double there = value_at(sample, other);
        if (!(there >= tangent - 1e-5 && (round > 0 || there <= tangent + 1e-5)))
            fail_msg("%s, %s: loss %.9g, tangent %.9g, %d", sample->loss->name,
                     sample->space.structure->name, there, tangent, round);
    }
}

static void offsets_complete_tangents(void **state)
{
    (void)state;
    for_every_loss(check_offset);
}

/* Rows that are left out count once, and so does each part that is left out of another. */
static void check_count(const struct sample *sample, const double *before, float least,
                        size_t left_out)
{
    const md_delta *delta = &sample->inference->delta;
    size_t rows = 0;
    size_t parts = 0;
    for (size_t row = 0; row < sample->length; row++) {
        const double *of_row = before + row * sample->width;
        size_t count = 0;
        for (size_t p = 0; p < sample->width; p++)
            count += of_row[p] != 0;
        if (fabs(of_row[sample->gold[row]]) < (double)least)
            rows += count > 0;
        else
            parts += count;
    }
    assert_int_equal(left_out, rows + parts - delta->start[delta->row_count]);
}

/* What is left is the gradient as it was, but for the rows that have little to learn, and for what
 * is little in the others: their right label bears it, so that a row adds up to what it did. The
 * largest wrong one always stays. */
static void check_drop(struct sample *sample)
{
    double before[PARTS_MOST];
    double after[PARTS_MOST] = {0};
    md_delta *delta = &sample->inference->delta;
    const float least = (float)md_random_uniform(&sample->random);
    const float least_part = least * (float)md_random_below(&sample->random, 3) / 2;
    gradient_at(sample, sample->score, before);
    memcpy(sample->inference->score, sample->score, sample->parts * sizeof(float));
    md_loss_gradient(sample->loss, sample->inference, sample->length, sample->gold);
    const size_t left_out =
        md_delta_drop_rows(delta, sample->width, sample->gold, least, least_part);
    check_delta(sample);
    check_groups(sample);
    for (size_t i = 0; i < delta->count; i++)
        after[delta->part[i]] = (double)delta->coefficient[i];
    for (size_t row = 0; row < sample->length; row++) {
        const size_t first = row * sample->width;
        const size_t right = first + (size_t)sample->gold[row];
        const bool stays = fabs(before[right]) >= (double)least;
        double small = 0;
        double most = 0;
        for (size_t p = first; p < first + sample->width; p++)
            most = p == right ? most : fmax(most, fabs(before[p]));
        for (size_t p = first; p < first + sample->width; p++) {
            const bool is_small = p != right && fabs(before[p]) < fmin(most, (double)least_part);
            small += is_small ? before[p] : 0;
            if (p != right)
                assert_true(after[p] == (stays && !is_small ? before[p] : 0));
        }
        assert_true(fabs(after[right] - (stays ? before[right] + small : 0)) <= 1e-6);
    }
    check_count(sample, before, least, left_out);
    for (size_t p = sample->length * sample->width; p < sample->parts; p++)
        assert_true(after[p] == before[p]);
}

static void rows_with_little_to_learn_can_be_left_out(void **state)
{
    (void)state;
    for_every_loss(check_drop);
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
        cmocka_unit_test(gradients_are_grouped_by_rows),
        cmocka_unit_test(offsets_complete_tangents),
        cmocka_unit_test(rows_with_little_to_learn_can_be_left_out),
        cmocka_unit_test(losses_are_found_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
