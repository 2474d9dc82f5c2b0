/* SPDX-License-Identifier: BSD-3-Clause */
/* What is told of sentences with random scores, against all trees there are: the best ones in their
 * order, their probabilities, and those of heads; in all four shapes. */
#include "structure/tree_case.h"

#include "task/predicting.h"
#include "task/tree_answers.h"

enum { SENTENCES = 3, LONGEST = 4, BEST = 20 };

/* A data set of two other sentences around the one with these scores, and what is predicted. */
struct asked {
    struct input inputs[SENTENCES];
    size_t start[SENTENCES + 1];
    medley_dataset dataset;
    medley_model model;
    md_structure structure;
    medley_prediction *prediction;
    md_request request;
};

static void ask(struct asked *asked, size_t shape, double factor, size_t best, bool probabilities)
{
    memset(asked, 0, sizeof *asked);
    for (size_t s = 0; s < SENTENCES; s++) {
        asked->inputs[s] = sentence(shape, s + 2, 17 * shape + s, 0.7);
        asked->start[s + 1] = asked->start[s] + s + 2;
    }
    asked->structure = *md_structure_find("tree");
    asked->dataset.rows = asked->start[SENTENCES];
    asked->dataset.sequence_start = asked->start;
    asked->dataset.sequence_count = SENTENCES;
    asked->model.space = (md_space){&asked->structure, tree_shape(shape)};
    asked->model.calibration.factor = factor;
    asked->model.task = md_task_find("tree");
    asked->request = (md_request){.model = &asked->model, .dataset = &asked->dataset};
    asked->prediction = md_calloc(1, sizeof *asked->prediction);
    assert_non_null(asked->prediction);
    asked->prediction->rows = asked->dataset.rows;
    asked->prediction->sequences = SENTENCES;
    asked->prediction->best = best;
    asked->prediction->probabilities = probabilities;
}

static void answer_all(struct asked *asked)
{
    md_tree_answers answers = {0};
    md_tree_scratch scratch = {0};
    medley_error error = {0};
    assert_int_equal(md_tree_answers_make(&answers, asked->prediction, &asked->request, &error),
                     MEDLEY_OK);
    assert_int_equal(md_tree_scratch_make(&scratch, &answers, asked->request.model->space.shape,
                                          LONGEST, &error),
                     MEDLEY_OK);
    for (size_t s = SENTENCES; s-- > 0;) /* in any order */
        md_tree_answer(&answers, asked->request.model->space.shape, s, asked->inputs[s].score,
                       &scratch);
    md_tree_scratch_clear(&scratch);
    md_tree_answers_clear(&answers);
}

static void forget(struct asked *asked)
{
    for (size_t s = 0; s < SENTENCES; s++)
        input_clear(&asked->inputs[s]);
    medley_prediction_free(asked->prediction);
}

/* Scores of all trees, and how many of them are above. */
static size_t rank_of(struct input *in, double value)
{
    size_t above = 0;
    for (size_t o = 0; o < in->outputs; o++)
        above += score_of(in, output_of(in, o)) > value + 1e-6;
    return above;
}

static void check_sentence(struct asked *asked, size_t s, double factor)
{
    struct input *in = &asked->inputs[s];
    const medley_prediction *p = asked->prediction;
    const size_t first = asked->start[s];
    const float *arcs = p->arc_probability;
    double sum = 0;
    for (size_t before = 0; before < s; before++)
        arcs += asked->inputs[before].parts;
    input_list_outputs(in);
    for (size_t o = 0; o < in->outputs; o++)
        sum += exp(factor * score_of(in, output_of(in, o)));
    for (size_t part = 0; part < in->parts; part++) {
        double share = 0;
        for (size_t o = 0; o < in->outputs; o++) {
            const int32_t *y = output_of(in, o);
            if ((size_t)y[part / in->width] == part % in->width)
                share += exp(factor * score_of(in, y)) / sum;
        }
        assert_true(fabs((double)arcs[part] - share) < 1e-4);
    }
    for (size_t i = 0; i < in->length; i++)
        assert_true(p->head_probability[first + i] ==
                    arcs[i * in->width + (size_t)p->head[first + i]]);
    for (size_t k = 0; k < BEST; k++) {
        const int32_t *heads = p->best_head + k * p->rows + first;
        const double score = p->best_score[s * BEST + k];
        if (k >= in->outputs) {
            assert_true(heads[0] == -1 && isnan(score));
            assert_true(isnan(p->best_probability[s * BEST + k]));
            continue;
        }
        assert_true(is_tree(in->shape, in->length, heads));
        assert_true(fabs(score_of(in, heads) - score) < 1e-5);
        assert_int_equal(rank_of(in, score), k);
        assert_true(fabs(p->best_probability[s * BEST + k] - exp(factor * score) / sum) < 1e-4);
    }
    assert_memory_equal(p->best_head + first, p->head + first, in->length * sizeof *p->head);
}

static void answers_equal_enumeration(void **state)
{
    (void)state;
    static const double factors[] = {0, 0.4, 2.5}; /* 0: not calibrated */
    for (size_t shape = 0; shape < SHAPES; shape++)
        for (size_t f = 0; f < 3; f++) {
            struct asked asked;
            ask(&asked, shape, factors[f], BEST, true);
            answer_all(&asked);
            for (size_t s = 0; s < SENTENCES; s++)
                check_sentence(&asked, s, factors[f] > 0 ? factors[f] : 1);
            forget(&asked);
        }
}

static void what_is_not_asked_for_is_not_there(void **state)
{
    (void)state;
    struct asked asked;
    ask(&asked, 0, 0, 0, false);
    answer_all(&asked);
    const medley_prediction *p = asked.prediction;
    assert_non_null(p->head);
    assert_true(p->head_probability == NULL && p->arc_probability == NULL);
    assert_true(p->best_head == NULL && p->best_score == NULL && p->best_probability == NULL);
    assert_true(p->label == NULL && p->best_label == NULL && p->best_label_probability == NULL);
    forget(&asked);
}

/* Scores too far apart for sums: one tree has all. */
static void scores_far_apart_have_probabilities(void **state)
{
    (void)state;
    struct asked asked;
    ask(&asked, 0, 1e6, 2, true);
    answer_all(&asked);
    for (size_t r = 0; r < asked.prediction->rows; r++)
        assert_true(asked.prediction->head_probability[r] == 1);
    for (size_t s = 0; s < SENTENCES; s++) {
        assert_true(asked.prediction->best_probability[2 * s] >= 0.99);
        assert_true(asked.prediction->best_probability[2 * s + 1] <= 0.01);
    }
    forget(&asked);
}

static void structures_that_find_one_tree_are_not_asked_for_more(void **state)
{
    (void)state;
    for (int sums = 0; sums < 2; sums++) {
        struct asked asked;
        md_tree_answers answers = {0};
        medley_error error = {0};
        ask(&asked, 0, 0, sums ? 0 : 2, sums);
        assert_true(md_has_probabilities(&asked.model, &asked.dataset));
        asked.structure.decode_best = NULL;
        if (sums)
            asked.structure.log_partition = NULL;
        assert_int_equal(md_tree_answers_make(&answers, asked.prediction, &asked.request, &error),
                         MEDLEY_NOT_SUPPORTED);
        assert_non_null(strstr(error.message, sums ? "leave out `proba`" : "leave out `best`"));
        assert_true(md_has_probabilities(&asked.model, &asked.dataset) == !sums);
        md_tree_answers_clear(&answers);
        forget(&asked);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_equal_enumeration),
        cmocka_unit_test(what_is_not_asked_for_is_not_there),
        cmocka_unit_test(scores_far_apart_have_probabilities),
        cmocka_unit_test(structures_that_find_one_tree_are_not_asked_for_more),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
