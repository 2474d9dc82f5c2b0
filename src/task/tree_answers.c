/* SPDX-License-Identifier: BSD-3-Clause */
/* Trees have probabilities proportional to exp(a f(tree)), a being the factor of the model's
 * calibration, or 1. That of a head is the sum of those of all trees with this arc, the marginal
 * that the log-partition comes with. */
#include "task/tree_answers.h"

#include "task/predicting.h"

bool md_has_probabilities(const medley_model *model, const medley_dataset *dataset)
{
    if (!model->task->info.has_heads)
        return model->task->info.has_probabilities;
    return model->space.structure->log_partition != NULL &&
           md_dataset_longest(dataset) <= MD_LONGEST_SUMMED;
}

/* ---- room ---- */

static medley_status make_room(medley_prediction *p, size_t arcs, medley_error *error)
{
    const size_t rows = p->rows;
    MEDLEY_TRY(md_new(&p->head, rows, sizeof *p->head, error));
    if (p->labels > 0)
        MEDLEY_TRY(md_new(&p->label, rows, sizeof *p->label, error));
    if (p->probabilities) {
        MEDLEY_TRY(md_new(&p->head_probability, rows, sizeof *p->head_probability, error));
        MEDLEY_TRY(md_new(&p->arc_probability, arcs, sizeof *p->arc_probability, error));
    }
    if (p->best == 0)
        return MEDLEY_OK;
    MEDLEY_TRY(md_new(&p->best_head, p->best * rows, sizeof *p->best_head, error));
    MEDLEY_TRY(md_new(&p->best_score, p->best * p->sequences, sizeof *p->best_score, error));
    if (p->labels > 0)
        MEDLEY_TRY(md_new(&p->best_label, p->best * rows, sizeof *p->best_label, error));
    if (p->probabilities)
        MEDLEY_TRY(md_new(&p->best_probability, p->best * p->sequences, sizeof *p->best_probability,
                          error));
    if (p->probabilities && p->labels > 0)
        MEDLEY_TRY(md_new(&p->best_label_probability, p->best * rows,
                          sizeof *p->best_label_probability, error));
    return MEDLEY_OK;
}

/* A log loss whose sums were approximated has learnt scores that only the same sums make sense of:
 * the best tree by these scores is worse by points than the one whose arcs are likeliest. */
static bool goes_by_marginals(const medley_model *model)
{
    const md_structure *structure = model->space.structure;
    const md_loss *loss = model->summary.loss != NULL ? md_loss_find(model->summary.loss) : NULL;
    return loss != NULL && loss->by_marginals && structure->approximates != NULL &&
           structure->approximates(model->space.shape);
}

medley_status md_tree_answers_make(md_tree_answers *answers, medley_prediction *prediction,
                                   const md_request *request, medley_error *error)
{
    const medley_dataset *dataset = request->dataset;
    const md_structure *structure = request->model->space.structure;
    const bool finds_best = prediction->best == 0 || structure->decode_best != NULL;
    const bool sums = !prediction->probabilities || structure->log_partition != NULL;
    *answers = (md_tree_answers){.structure = structure,
                                 .calibration = request->model->calibration,
                                 .dataset = dataset,
                                 .prediction = prediction};
    answers->by_marginals = goes_by_marginals(request->model);
    if (answers->by_marginals && prediction->best > 0)
        return md_fail(error, MEDLEY_NOT_SUPPORTED,
                       "parsers of `order=2` and a log loss know how likely arcs are, and no best "
                       "trees; leave out `best`, or train with `loss=hinge` or `order=1`");
    if (!finds_best || !sums)
        return md_fail(error, MEDLEY_NOT_SUPPORTED,
                       "the model finds the best tree of each sentence and knows nothing of "
                       "others; leave out `%s`",
                       finds_best ? "proba" : "best");
    size_t arcs = 0;
    if (prediction->probabilities) {
        MEDLEY_TRY(md_new(&answers->arc_start, dataset->sequence_count, sizeof *answers->arc_start,
                          error));
        for (size_t s = 0; s < dataset->sequence_count; s++) {
            const size_t n = dataset->sequence_start[s + 1] - dataset->sequence_start[s];
            answers->arc_start[s] = arcs;
            arcs += n * (n + 1);
        }
    }
    return make_room(prediction, arcs, error);
}

void md_tree_answers_clear(md_tree_answers *answers)
{
    free(answers->arc_start);
}

medley_status md_tree_scratch_make(md_tree_scratch *scratch, const md_tree_answers *answers,
                                   md_shape shape, size_t longest, medley_error *error)
{
    const md_structure *structure = answers->structure;
    const medley_prediction *p = answers->prediction;
    const size_t parts =
        p->probabilities || answers->by_marginals ? structure->part_count(shape, longest) : 0;
    size_t floats = structure->workspace_size(shape, longest);
    if (p->best > 0) {
        const size_t more = structure->best_workspace_size(shape, longest, p->best);
        floats = more > floats ? more : floats;
    }
    MEDLEY_TRY(md_new(&scratch->score, parts, sizeof *scratch->score, error));
    MEDLEY_TRY(md_new(&scratch->marginal, parts, sizeof *scratch->marginal, error));
    MEDLEY_TRY(md_new(&scratch->best, p->best * longest, sizeof *scratch->best, error));
    MEDLEY_TRY(md_new(&scratch->parts, structure->parts_per_output(shape, longest),
                      sizeof *scratch->parts, error));
    if (md_workspace_reserve(&scratch->workspace, floats) != 0)
        return md_fail_memory(error, floats * sizeof(float));
    return MEDLEY_OK;
}

void md_tree_scratch_clear(md_tree_scratch *scratch)
{
    free(scratch->score);
    free(scratch->marginal);
    free(scratch->best);
    free(scratch->parts);
    md_workspace_clear(&scratch->workspace);
}

/* ---- a sentence ---- */

struct sentence {
    md_shape shape;
    size_t number, first, length;
    const float *score;
};

static void find_best(const md_tree_answers *answers, struct sentence s, md_tree_scratch *scratch)
{
    const md_structure *structure = answers->structure;
    const medley_prediction *p = answers->prediction;
    double *values = p->best_score + s.number * p->best;
    const size_t found = structure->decode_best(s.shape, s.length, s.score, p->best, scratch->best,
                                                values, &scratch->workspace);
    for (size_t k = 0; k < p->best; k++) {
        int32_t *to = p->best_head + k * p->rows + s.first;
        if (k < found) {
            memcpy(to, scratch->best + k * s.length, s.length * sizeof *to);
            continue;
        }
        values[k] = NAN;
        for (size_t i = 0; i < s.length; i++)
            to[i] = -1;
    }
}

/* Rounding may lead out of 0 to 1; what is no number stays none. */
static float as_probability(double p)
{
    return (float)(p < 0 ? 0 : p > 1 ? 1 : p);
}

/* By the scores that were summed, which are rounded once more than those of the sentence. */
static double scaled_score(const md_structure *structure, struct sentence s, const int32_t *heads,
                           const md_tree_scratch *scratch)
{
    const size_t count = structure->parts_of(s.shape, s.length, heads, scratch->parts);
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += (double)scratch->score[scratch->parts[i]];
    return sum;
}

static void find_probabilities(const md_tree_answers *answers, struct sentence s,
                               md_tree_scratch *scratch)
{
    const md_structure *structure = answers->structure;
    const medley_prediction *p = answers->prediction;
    const double factor = answers->calibration.factor > 0 ? answers->calibration.factor : 1;
    const size_t parts = structure->part_count(s.shape, s.length);
    const size_t width = s.length + 1;
    float *arcs = p->arc_probability + answers->arc_start[s.number];
    for (size_t i = 0; i < parts; i++)
        scratch->score[i] = (float)(factor * (double)s.score[i]);
    const double log_sum = structure->log_partition(s.shape, s.length, scratch->score,
                                                    scratch->marginal, &scratch->workspace);
    for (size_t i = 0; i < s.length * width; i++)
        arcs[i] = as_probability((double)scratch->marginal[i]);
    for (size_t i = 0; i < s.length; i++)
        p->head_probability[s.first + i] = arcs[i * width + (size_t)p->head[s.first + i]];
    for (size_t k = 0; k < p->best; k++) {
        const int32_t *heads = p->best_head + k * p->rows + s.first;
        double *to = p->best_probability + s.number * p->best + k;
        *to = heads[0] >= 0 ? fmin(exp(scaled_score(structure, s, heads, scratch) - log_sum), 1)
                            : NAN;
    }
}

/* Scores of heads are their probabilities: the arcs of the tree are as many right ones as can be
 * expected. */
static void find_likeliest(const md_tree_answers *answers, struct sentence s,
                           md_tree_scratch *scratch)
{
    md_shape arcs = s.shape;
    arcs.order = 0;
    arcs.heads = NULL; /* the probability of others is 0 */
    answers->structure->log_partition(s.shape, s.length, s.score, scratch->marginal,
                                      &scratch->workspace);
    answers->structure->decode(arcs, s.length, scratch->marginal, NULL,
                               answers->prediction->head + s.first, &scratch->workspace);
}

void md_tree_answer(const md_tree_answers *answers, md_shape shape, size_t sentence,
                    const float *score, md_tree_scratch *scratch)
{
    const md_structure *structure = answers->structure;
    const medley_prediction *p = answers->prediction;
    const size_t *start = answers->dataset->sequence_start + sentence;
    const struct sentence s = {shape, sentence, start[0], start[1] - start[0], score};
    if (answers->by_marginals)
        find_likeliest(answers, s, scratch);
    else
        structure->decode(s.shape, s.length, score, NULL, p->head + s.first, &scratch->workspace);
    if (p->best > 0)
        find_best(answers, s, scratch);
    if (p->probabilities)
        find_probabilities(answers, s, scratch);
}
