/* SPDX-License-Identifier: BSD-3-Clause */
/* One piece: blocks over its rows set out from theta as it is, one pass in order, and the rows that
 * led to steps join the support. The earlier support enters once, as scores that it gives the rows
 * of the piece: rows of the piece times support, never support times support. The learner is
 * changed only when nothing can fail any more. */
#include "incremental/incremental.h"
#include "online/run.h"

struct piece {
    medley_learner *learner;
    md_problem *problem;
    md_knowledge known;   /* theta before the piece, over the labels of now */
    bool grown;           /* that is no longer the learner's own */
    int32_t *gold;        /* [rows] */
    md_run_blocks blocks; /* of the candidates */
    md_theta_copy after;  /* theta after the piece: of its rows, or of all features */
    size_t *rows;         /* [row_count] that have coefficients now */
    size_t row_count;
    md_prepared joining; /* these rows */
    double eta;
    size_t updates;
    double loss_sum;
};

static void clear_piece(struct piece *piece)
{
    if (piece->grown)
        md_knowledge_clear(&piece->known);
    md_theta_copy_clear(&piece->after);
    md_run_blocks_clear(&piece->blocks);
    free(piece->gold);
    free(piece->rows);
    md_prepared_clear(&piece->joining);
}

/* ---- before ---- */

static medley_status know_labels(struct piece *piece, const md_label_union *both,
                                 medley_error *error)
{
    const md_problem *problem = piece->problem;
    const medley_dataset *data = problem->train;
    const medley_learner *learner = piece->learner;
    MEDLEY_TRY(md_new(&piece->gold, data->rows, sizeof *piece->gold, error));
    for (size_t r = 0; r < data->rows; r++)
        piece->gold[r] = both->all->label[both->known + (size_t)data->label[r]];
    piece->known = learner->known;
    if (learner->begun && both->all->label_names.count == both->known)
        return MEDLEY_OK;
    piece->grown = true;
    return md_knowledge_relabel(&piece->known, &learner->known, both, problem, error);
}

/* What the earlier support scores the rows of the piece. */
static medley_status recall_kernels(struct piece *piece, medley_error *error)
{
    MD_CLEARED(md_support_scores_clear) md_support_scores support = {0};
    MEDLEY_TRY(md_support_scores_make(&support, piece->learner, &piece->known,
                                      &piece->problem->prepared, error));
    for (size_t t = 0; t < support.count; t++)
        md_kernel_block_continue(piece->blocks.blocks[support.which[t]], support.scores[t],
                                 piece->known.theta[support.which[t]].norm);
    return MEDLEY_OK;
}

/* There may be more features by now, about which nothing is known. */
static medley_status recall_weights(struct piece *piece, size_t c, medley_error *error)
{
    const md_theta *theta = &piece->known.theta[c];
    md_block *block = piece->blocks.blocks[c];
    MD_OWNED(free) float *body = NULL;
    if (!(theta->norm > 0))
        return MEDLEY_OK;
    MEDLEY_TRY(md_new(&body, block->class->body_size(block), sizeof *body, error));
    memcpy(body, theta->body, theta->rows * theta->width * sizeof *body);
    MEDLEY_TRY(block->class->import_body(block, body, error));
    md_block_refresh_norm(block);
    return MEDLEY_OK;
}

static medley_status recall(struct piece *piece, medley_error *error)
{
    MEDLEY_TRY(recall_kernels(piece, error));
    for (size_t c = 0; c < piece->blocks.count; c++)
        if (!md_candidate_has_rows(piece->problem, c))
            MEDLEY_TRY(recall_weights(piece, c, error));
    return MEDLEY_OK;
}

/* ---- the pass ---- */

static medley_status choose_eta(struct piece *piece, medley_error *error)
{
    const md_problem *problem = piece->problem;
    const md_online_problem loop = md_problem_for_loop(problem, &piece->blocks);
    piece->eta = piece->learner->begun ? piece->learner->eta : problem->online->eta;
    if (!isnan(piece->eta))
        return MEDLEY_OK;
    piece->eta = problem->method->rule->first_rate(&loop, &(md_online_settings){.dual.eta = NAN});
    if (md_online_largest(&loop).row > 0)
        return MEDLEY_OK;
    return md_fail_at(error, MEDLEY_BAD_INPUT, problem->train->source, 0,
                      "all values K(x,x) of the first piece are 0, so that no eta can be chosen by "
                      "them; give `eta`, or begin with another piece");
}

static medley_status pass(struct piece *piece, medley_error *error)
{
    md_problem *problem = piece->problem;
    MD_CLEARED(md_online_clear) md_online online = {0};
    md_online_problem online_problem = md_problem_for_loop(problem, &piece->blocks);
    online_problem.gold = piece->gold;
    const md_online_settings settings = {.rule = problem->method->rule,
                                         .dual = {.p = problem->options->p, .eta = piece->eta},
                                         .lambda = problem->lambda,
                                         .batch = 1,
                                         .skip_threshold = problem->options->skip_certain,
                                         .in_order = true,
                                         .threads = problem->threads};
    MEDLEY_TRY(md_online_init(&online, &online_problem, &settings, error));
    md_online_continue(&online, false);
    MEDLEY_TRY(md_online_epoch(&online, 0, error));
    if (online.diverged)
        return md_fail_at(error, MEDLEY_FAILED, problem->train->source, 0,
                          "learning diverged in this piece (a norm or a loss is not a number); "
                          "use a smaller `eta`, `normalize=diag` or `scale=standard`");
    piece->updates = online.updates;
    piece->loss_sum = online.loss_sum;
    return MEDLEY_OK;
}

/* ---- after ---- */

static medley_status export_bodies(struct piece *piece, medley_error *error)
{
    for (size_t c = 0; c < piece->blocks.count; c++) {
        md_block *block = piece->blocks.blocks[c];
        if (!md_candidate_has_rows(piece->problem, c))
            md_block_refresh_norm(block);
        block->dual_scale = 1;
    }
    return md_theta_copy_take(&piece->after, &piece->blocks, error);
}

static bool has_coefficients(const struct piece *piece, size_t row)
{
    const size_t labels = piece->known.labels.count;
    for (size_t c = 0; c < piece->blocks.count; c++)
        for (size_t l = 0; md_candidate_has_rows(piece->problem, c) && l < labels; l++)
            if (piece->after.body[c][row * labels + l] != 0)
                return true;
    return false;
}

static medley_status find_joining(struct piece *piece, medley_error *error)
{
    const size_t n = piece->problem->train->rows;
    MEDLEY_TRY(md_new(&piece->rows, n, sizeof *piece->rows, error));
    for (size_t r = 0; r < n; r++)
        if (has_coefficients(piece, r))
            piece->rows[piece->row_count++] = r;
    return md_prepared_gather(&piece->joining, &piece->problem->prepared, piece->rows,
                              piece->row_count, error);
}

/* Sparse views without names may have come to more columns, which are not scaled. */
static medley_status make_room_for_columns(md_bank *bank, const md_prepared *prepared,
                                           medley_error *error)
{
    for (size_t v = 0; v < bank->view_count; v++) {
        md_view *view = &bank->views[v];
        const size_t columns = prepared->views[v].columns;
        if (columns <= view->column_count || view->factor == NULL)
            continue;
        size_t shifts = view->column_count;
        size_t factors = view->column_count;
        MEDLEY_TRY(md_grow(&view->shift, &shifts, columns, sizeof *view->shift, error));
        MEDLEY_TRY(md_grow(&view->factor, &factors, columns, sizeof *view->factor, error));
        for (size_t c = view->column_count; c < columns; c++) {
            view->shift[c] = 0;
            view->factor[c] = 1;
        }
    }
    return MEDLEY_OK;
}

static medley_status make_room(struct piece *piece, medley_error *error)
{
    medley_learner *learner = piece->learner;
    const size_t rows = learner->support.rows + piece->row_count;
    for (size_t c = 0; c < piece->blocks.count; c++) {
        md_theta *theta = &piece->known.theta[c];
        if (md_candidate_has_rows(piece->problem, c))
            MEDLEY_TRY(md_grow(&theta->body, &theta->capacity, rows * theta->width,
                               sizeof *theta->body, error));
    }
    MEDLEY_TRY(md_grow(&learner->support_row, &learner->support_capacity, rows,
                       sizeof *learner->support_row, error));
    return make_room_for_columns(&piece->problem->bank, &piece->problem->prepared, error);
}

/* The last thing that can fail. */
static medley_status extend_support(struct piece *piece, medley_error *error)
{
    medley_learner *learner = piece->learner;
    if (learner->begun)
        return piece->row_count > 0 ? md_prepared_append(&learner->support, &piece->joining, error)
                                    : MEDLEY_OK;
    MEDLEY_TRY(md_prepared_index(&piece->joining, error));
    learner->support = piece->joining;
    learner->support.precomputed_row = NULL; /* borrowed, and of no use */
    piece->joining = (md_prepared){0};
    return MEDLEY_OK;
}

/* What rows that are no longer here had brought in is gone if the block was cleared on the way. */
static void keep_rows(const struct piece *piece, size_t c)
{
    md_theta *theta = &piece->known.theta[c];
    if (!md_kernel_block_continues(piece->blocks.blocks[c]))
        memset(theta->body, 0, theta->rows * theta->width * sizeof *theta->body);
    for (size_t i = 0; i < piece->row_count; i++)
        memcpy(theta->body + (theta->rows + i) * theta->width,
               piece->after.body[c] + piece->rows[i] * theta->width,
               theta->width * sizeof *theta->body);
    theta->rows += piece->row_count;
    theta->gain2 = md_kernel_block_gain2(piece->blocks.blocks[c]);
}

static void keep_weights(struct piece *piece, size_t c)
{
    md_theta *theta = &piece->known.theta[c];
    const md_block *block = piece->blocks.blocks[c];
    const size_t size = block->class->body_size(block);
    free(theta->body);
    theta->body = piece->after.body[c];
    theta->capacity = size;
    theta->rows = size / theta->width;
    piece->after.body[c] = NULL;
}

static void keep_columns(md_bank *bank, md_prepared *support, const md_prepared *prepared)
{
    for (size_t v = 0; v < bank->view_count; v++) {
        md_view *view = &bank->views[v];
        const size_t columns = prepared->views[v].columns;
        if (columns > view->column_count)
            view->column_count = columns;
        if (view->columns == NULL && view->sparse && columns > view->table_columns)
            view->table_columns = columns;
        if (md_matrix_is_sparse(&support->views[v]))
            support->views[v].columns = view->column_count;
    }
}

static void keep(struct piece *piece)
{
    medley_learner *learner = piece->learner;
    const size_t before = learner->support.rows - piece->row_count;
    for (size_t c = 0; c < piece->blocks.count; c++) {
        if (md_candidate_has_rows(piece->problem, c))
            keep_rows(piece, c);
        else
            keep_weights(piece, c);
        piece->known.theta[c].norm = piece->blocks.blocks[c]->norm;
    }
    if (piece->grown) {
        md_knowledge_clear(&learner->known);
        learner->known = piece->known;
        piece->grown = false;
    }
    for (size_t i = 0; i < piece->row_count; i++)
        learner->support_row[before + i] = learner->rows + piece->rows[i];
    keep_columns(&piece->problem->bank, &learner->support, &piece->problem->prepared);
    learner->eta = piece->eta;
    if (!learner->begun)
        learner->strength = piece->problem->lambda * (double)piece->problem->example_count;
    learner->rows += piece->problem->train->rows;
    learner->examples += piece->problem->example_count;
    learner->updates += piece->updates;
    learner->loss_sum += piece->loss_sum;
    learner->begun = true;
}

medley_status md_piece_learn(medley_learner *learner, const md_label_union *both,
                             medley_error *error)
{
    MD_CLEARED(clear_piece) struct piece piece = {.learner = learner, .problem = &learner->problem};
    MEDLEY_TRY(know_labels(&piece, both, error));
    MEDLEY_TRY(md_run_blocks_make(&piece.blocks, piece.problem, MD_ALL_KERNELS, error));
    MEDLEY_TRY(recall(&piece, error));
    MEDLEY_TRY(choose_eta(&piece, error));
    MEDLEY_TRY(pass(&piece, error));
    MEDLEY_TRY(export_bodies(&piece, error));
    MEDLEY_TRY(find_joining(&piece, error));
    MEDLEY_TRY(make_room(&piece, error));
    MEDLEY_TRY(extend_support(&piece, error));
    keep(&piece);
    return MEDLEY_OK;
}
