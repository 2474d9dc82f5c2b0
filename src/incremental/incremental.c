/* SPDX-License-Identifier: BSD-3-Clause */
/* The life of a learner that is fed piece by piece. The first piece makes the problem (kernels,
 * widths, scalings, loss); later ones are seen through it. What a piece does: incremental_piece.c.
 */
#include "incremental/incremental.h"

medley_status medley_learner_create(medley_learner **result, const medley_options *options,
                                    medley_error *error)
{
    md_begin(error);
    MD_OWNED(medley_learner_free) medley_learner *learner = NULL;
    MEDLEY_TRY(md_new(&learner, 1, sizeof *learner, error));
    MEDLEY_TRY(md_partial_options(&learner->options, options, error));
    learner->memory = learner->options->memory;
    learner->scale_given = learner->options->scale != NULL;
    *result = md_take(&learner);
    return MEDLEY_OK;
}

void medley_learner_free(medley_learner *learner)
{
    if (learner == NULL)
        return;
    md_problem_clear(&learner->problem);
    md_knowledge_clear(&learner->known);
    md_prepared_clear(&learner->support);
    free(learner->support_row);
    medley_options_free(learner->options);
    free(learner);
}

/* ---- can this piece be learnt from? ---- */

static medley_status check_labels(const medley_dataset *piece, bool first, medley_error *error)
{
    if (piece->rows == 0)
        return md_fail_at(error, MEDLEY_BAD_INPUT, piece->source, 0,
                          "there are no rows to learn from");
    if (piece->label == NULL)
        return md_fail_at(error, MEDLEY_USAGE, piece->source, 0,
                          "there are no labels to learn from; every row of a piece needs one");
    bool differ = false;
    for (size_t r = 0; r < piece->rows; r++) {
        if (piece->label[r] < 0)
            return md_fail_at(error, MEDLEY_BAD_INPUT, piece->source, 0,
                              "row %zu has no label; every row of a piece needs one", r + 1);
        differ = differ || piece->label[r] != piece->label[0];
    }
    if (first && !differ)
        return md_fail_at(error, MEDLEY_BAD_INPUT, piece->source, 0,
                          "all rows of the first piece have the label '%s'; begin with a piece "
                          "that has two labels",
                          piece->label_names.items[piece->label[0]]);
    return MEDLEY_OK;
}

static medley_status check_kind(const medley_learner *learner, const medley_dataset *piece,
                                medley_error *error)
{
    if (piece->gram_count > 0)
        return md_fail_at(error, MEDLEY_USAGE, piece->source, 0,
                          "precomputed kernels are of rows that are known beforehand and have no "
                          "place in learning piece by piece; give the features");
    if (learner->begun && learner->problem.task->by_sequence && piece->sequence_count == 0)
        return md_fail_at(error, MEDLEY_BAD_INPUT, piece->source, 0,
                          "earlier pieces had sequences and the rows of this one stand alone");
    if (learner->begun && !learner->problem.task->by_sequence && piece->sequence_count > 0 &&
        learner->options->task == 0)
        return md_fail_at(error, MEDLEY_BAD_INPUT, piece->source, 0,
                          "this piece has sequences and the rows of earlier ones stood alone; say "
                          "`task=multiclass` to look at each row by itself");
    return MEDLEY_OK;
}

/* Kernels that need all rows at once. */
static medley_status check_bank(const md_bank *bank, medley_error *error)
{
    for (size_t m = 0; m < bank->count; m++)
        if (bank->kernels[m].norm == MD_NORM_CENTER)
            return md_fail(error, MEDLEY_USAGE,
                           "kernel '%s' is centred, which needs all rows at once; pieces come one "
                           "by one, so use norm=diag or norm=trace",
                           bank->kernels[m].name);
    return MEDLEY_OK;
}

static medley_status check_size(const md_problem *problem, const md_label_union *both,
                                medley_error *error)
{
    const md_strings *names = &both->all->label_names;
    if (problem->options->task > 0 && problem->task->one_score && names->count > 2)
        return md_fail_at(error, MEDLEY_BAD_INPUT, problem->train->source, 0,
                          "%zu different labels so far, `task=binary` expects two; use `task="
                          "multiclass`",
                          names->count);
    md_shape shape = problem->space.shape;
    shape.labels = names->count;
    if (md_labels_can_number(shape, problem->longest))
        return MEDLEY_OK;
    return md_fail_at(error, MEDLEY_BAD_INPUT, problem->train->source, 0,
                      "a sequence of %zu rows with %zu labels is too large; cut it into shorter "
                      "ones, or use `order=1`",
                      problem->longest, names->count);
}

/* ---- the rows of a piece as the problem's ---- */

/* Bytes for kernel values. A pass changes a row once at most, and many rows never: what deferred
 * scores compute on the fly, as rows change, is less than a matrix. So matrices are for short
 * pieces, and the rest is what deferred scores need for windows of full length. */
enum { FIRST_VALUES = 16 << 20, VALUES_OF_A_KERNEL = 128 << 10 };

static void set_memory(medley_learner *learner, size_t enough)
{
    learner->options->memory =
        learner->memory > 0 && learner->memory < enough ? learner->memory : enough;
}

/* Rows seen by the bank as it is: nothing is learnt from them here. */
static medley_status take_kernels(md_problem *problem, medley_error *error)
{
    md_bank *bank = &problem->bank;
    const md_gram_options options = {.threads = problem->threads,
                                     .memory = problem->options->memory};
    MEDLEY_TRY(md_prepared_make(&problem->prepared, bank, problem->train, false, error));
    MEDLEY_TRY(md_problem_find_primal(problem, error));
    if (md_problem_has_values(problem))
        MEDLEY_TRY(
            md_gram_create(&problem->online->gram, bank, &problem->prepared, &options, error));
    return MEDLEY_OK;
}

/* The first piece stands for all that will come: a handful of rows says nothing about deviations,
 * and a column that happens to be constant in them would be lost. */
enum { FEWEST_TO_SCALE = 50 };

static medley_status choose_scale(medley_learner *learner, const medley_dataset *piece,
                                  medley_error *error)
{
    medley_options *options = learner->options;
    if (learner->scale_given)
        return MEDLEY_OK;
    md_texts_free(options->scale); /* of a piece that could not be learnt from */
    options->scale = NULL;
    return piece->rows < FEWEST_TO_SCALE ? medley_options_set(options, "scale", "none", error)
                                         : MEDLEY_OK;
}

static medley_status take_rows(medley_learner *learner, const medley_dataset *piece,
                               medley_error *error)
{
    md_problem *problem = &learner->problem;
    if (!learner->begun) {
        const md_method *method = NULL;
        set_memory(learner, FIRST_VALUES);
        MEDLEY_TRY(choose_scale(learner, piece, error));
        MEDLEY_TRY(md_method_choose(&method, learner->options, piece, NULL, error));
        MEDLEY_TRY(md_problem_init(problem, piece, NULL, learner->options, NULL, method, error));
        return check_bank(&problem->bank, error);
    }
    const double start = md_clock_seconds();
    set_memory(learner, problem->bank.count * VALUES_OF_A_KERNEL);
    problem->train = piece;
    MEDLEY_TRY(md_problem_make_examples(problem, error));
    MEDLEY_TRY(take_kernels(problem, error));
    problem->progress.seconds_kernels = md_clock_seconds() - start;
    return MEDLEY_OK;
}

static medley_status learn_piece(medley_learner *learner, const medley_dataset *piece,
                                 medley_error *error)
{
    const double start = md_clock_seconds();
    md_problem *problem = &learner->problem;
    MD_CLEARED(md_label_union_clear) md_label_union both = {0};
    MEDLEY_TRY(check_labels(piece, !learner->begun, error));
    MEDLEY_TRY(check_kind(learner, piece, error));
    MEDLEY_TRY(md_label_union_make(&both, &learner->known.labels, &piece->label_names, error));
    MEDLEY_TRY(take_rows(learner, piece, error));
    MEDLEY_TRY(check_size(problem, &both, error));
    problem->space.shape.labels = both.all->label_names.count;
    MEDLEY_TRY(md_piece_learn(learner, &both, error));
    learner->seconds_kernels += problem->progress.seconds_kernels;
    learner->seconds += md_clock_seconds() - start;
    return MEDLEY_OK;
}

medley_status medley_learner_partial_fit(medley_learner *learner, const medley_dataset *piece,
                                         medley_error *error)
{
    md_begin(error);
    md_problem *problem = &learner->problem;
    const medley_status status = learn_piece(learner, piece, error);
    if (learner->begun) {
        md_problem_drop_rows(problem);
        problem->space.shape.labels = learner->known.labels.count;
    } else {
        md_problem_clear(problem); /* what it has chosen is forgotten too */
    }
    return status;
}
