/* SPDX-License-Identifier: BSD-3-Clause */
/* One piece: blocks over its rows set out from theta as it is, one pass in order, and the rows that
 * led to steps join the support. The earlier support enters once, as scores that it gives the rows
 * of the piece: rows of the piece times support, never support times support. The learner is
 * changed only when nothing can fail any more. */
#include "learner/partial.h"

#include "base/memory.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct piece {
    medley_learner *learner;
    md_problem *problem;
    md_knowledge known; /* theta before the piece, over the labels of now */
    bool grown;         /* that is no longer the learner's own */
    int32_t *gold;      /* [rows] */
    md_block **blocks;  /* [count] of the candidates */
    size_t count;
    float **body; /* [count] theta behind the piece: of its rows, or of all features */
    size_t *rows; /* [row_count] that have coefficients now */
    size_t row_count;
    md_points joining; /* these rows */
    double eta;
    size_t updates;
    double loss_sum;
};

static void clear_piece(struct piece *piece)
{
    if (piece->grown)
        md_knowledge_clear(&piece->known);
    for (size_t c = 0; c < piece->count; c++) {
        if (piece->blocks != NULL)
            md_block_free(piece->blocks[c]);
        if (piece->body != NULL)
            free(piece->body[c]);
    }
    free(piece->blocks);
    free(piece->body);
    free(piece->gold);
    free(piece->rows);
    md_points_clear(&piece->joining);
}

/* ---- before ---- */

static medley_status know_labels(struct piece *piece, const md_label_union *both,
                                 medley_error *error)
{
    const md_problem *problem = piece->problem;
    const medley_dataset *data = problem->train;
    const medley_learner *learner = piece->learner;
    piece->gold = md_calloc(data->rows, sizeof *piece->gold);
    if (piece->gold == NULL)
        return md_fail_memory(error, data->rows * sizeof *piece->gold);
    for (size_t r = 0; r < data->rows; r++)
        piece->gold[r] = both->all->label[both->known + (size_t)data->label[r]];
    piece->known = learner->known;
    if (learner->begun && both->all->label_names.count == both->known)
        return MEDLEY_OK;
    const medley_status status =
        md_knowledge_relabel(&piece->known, &learner->known, both, problem, error);
    piece->grown = status == MEDLEY_OK;
    return status;
}

static medley_status make_blocks(struct piece *piece, medley_error *error)
{
    medley_status status = MEDLEY_OK;
    const size_t count = piece->problem->candidate_count;
    piece->blocks = md_calloc(count, sizeof(md_block *));
    piece->body = md_calloc(count, sizeof(float *));
    if (piece->blocks == NULL || piece->body == NULL)
        return md_fail_memory(error, count * sizeof(md_block *));
    piece->count = count;
    for (size_t c = 0; c < count && status == MEDLEY_OK; c++)
        status = md_problem_block(&piece->blocks[c], piece->problem, c, error);
    return status;
}

/* The kernels that have learnt something, as terms; which: their candidates. Returns how many. */
static size_t find_terms(const struct piece *piece, md_expansion *terms, size_t *which)
{
    size_t count = 0;
    for (size_t c = 0; c < piece->count; c++) {
        const md_theta *theta = &piece->known.theta[c];
        if (!md_candidate_has_rows(piece->problem, c) || !(theta->norm > 0))
            continue;
        which[count] = c;
        terms[count++] = (md_expansion){.kernel = piece->problem->candidates[c].index,
                                        .coefficient = theta->body};
    }
    return count;
}

static medley_status recall_kernels(struct piece *piece, medley_error *error)
{
    medley_status status = MEDLEY_OK;
    md_problem *problem = piece->problem;
    const size_t labels = piece->known.labels.count;
    const size_t size = problem->points.rows * labels;
    md_expansion *terms = md_calloc(piece->count, sizeof *terms);
    size_t *which = md_calloc(piece->count, sizeof *which);
    float **scores = md_calloc(piece->count, sizeof(float *));
    float *values = NULL;
    if (terms == NULL || which == NULL || scores == NULL) {
        status = md_fail_memory(error, piece->count * sizeof *terms);
        goto done;
    }
    const size_t count = find_terms(piece, terms, which);
    MEDLEY_TRY(md_new(&values, count * size, sizeof *values, error));
    for (size_t t = 0; t < count; t++)
        scores[t] = values + t * size;
    const md_cross cross = {.bank = &problem->bank,
                            .left = &problem->points,
                            .right = &piece->learner->support,
                            .threads = problem->threads};
    if (count > 0)
        MEDLEY_TRY(md_cross_scores_apart(&cross, terms, count, labels, scores, error));
    for (size_t t = 0; t < count; t++)
        md_kernel_block_continue(piece->blocks[which[t]], scores[t],
                                 piece->known.theta[which[t]].norm);
done:
    free(terms);
    free(which);
    free(scores);
    free(values);
    return status;
}

/* There may be more features by now, about which nothing is known. */
static medley_status recall_weights(struct piece *piece, size_t c, medley_error *error)
{
    const md_theta *theta = &piece->known.theta[c];
    md_block *block = piece->blocks[c];
    const size_t size = block->class->body_size(block);
    if (!(theta->norm > 0))
        return MEDLEY_OK;
    float *body = md_calloc(size, sizeof *body);
    if (body == NULL)
        return md_fail_memory(error, size * sizeof *body);
    memcpy(body, theta->body, theta->rows * theta->width * sizeof *body);
    const medley_status status = block->class->import_body(block, body, error);
    free(body);
    if (status == MEDLEY_OK)
        md_block_refresh_norm(block);
    return status;
}

static medley_status recall(struct piece *piece, medley_error *error)
{
    medley_status status = recall_kernels(piece, error);
    for (size_t c = 0; c < piece->count && status == MEDLEY_OK; c++)
        if (!md_candidate_has_rows(piece->problem, c))
            status = recall_weights(piece, c, error);
    return status;
}

/* ---- the pass ---- */

static medley_status choose_eta(struct piece *piece, medley_error *error)
{
    const md_problem *problem = piece->problem;
    const md_online_problem loop =
        md_problem_for_loop(problem, piece->blocks, piece->count, piece->count);
    piece->eta = piece->learner->begun ? piece->learner->eta : problem->online->eta;
    if (!isnan(piece->eta))
        return MEDLEY_OK;
    piece->eta = problem->method->rule->first_rate(&loop, &(md_online_settings){.dual.eta = NAN});
    if (md_online_largest(&loop).row > 0)
        return MEDLEY_OK;
    return md_fail_at(error, MEDLEY_BAD_INPUT, problem->train->source, 0,
                      "all values K(x,x) of the first piece are 0, so that no eta can be chosen by "
                      "them; give --eta, or begin with another piece");
}

static medley_status pass(struct piece *piece, medley_error *error)
{
    medley_status status = MEDLEY_OK;
    md_problem *problem = piece->problem;
    md_online online = {0};
    md_online_problem online_problem =
        md_problem_for_loop(problem, piece->blocks, piece->count, piece->count);
    online_problem.gold = piece->gold;
    const md_online_settings settings = {.rule = problem->method->rule,
                                         .dual = {.p = problem->options->p, .eta = piece->eta},
                                         .lambda = problem->lambda,
                                         .batch = 1,
                                         .learnt = MD_LEARNT,
                                         .in_order = true,
                                         .threads = problem->threads};
    MEDLEY_TRY(md_online_init(&online, &online_problem, &settings, error));
    md_online_continue(&online, false);
    MEDLEY_TRY(md_online_epoch(&online, 0, error));
    if (online.diverged) {
        status = md_fail_at(error, MEDLEY_FAILED, problem->train->source, 0,
                            "learning diverged in this piece (a norm or a loss is not a number); "
                            "use a smaller --eta, --normalize diag or --scale standard");
        goto done;
    }
    piece->updates = online.updates;
    piece->loss_sum = online.loss_sum;
done:
    md_online_clear(&online);
    return status;
}

/* ---- behind ---- */

static medley_status export_bodies(struct piece *piece, medley_error *error)
{
    for (size_t c = 0; c < piece->count; c++) {
        md_block *block = piece->blocks[c];
        const size_t size = block->class->body_size(block);
        piece->body[c] = md_calloc(size, sizeof(float));
        if (piece->body[c] == NULL)
            return md_fail_memory(error, size * sizeof(float));
        if (!md_candidate_has_rows(piece->problem, c))
            md_block_refresh_norm(block);
        block->dual_scale = 1;
        block->class->export_body(block, piece->body[c]);
    }
    return MEDLEY_OK;
}

static bool has_coefficients(const struct piece *piece, size_t row)
{
    const size_t labels = piece->known.labels.count;
    for (size_t c = 0; c < piece->count; c++)
        for (size_t l = 0; md_candidate_has_rows(piece->problem, c) && l < labels; l++)
            if (piece->body[c][row * labels + l] != 0)
                return true;
    return false;
}

static medley_status find_joining(struct piece *piece, medley_error *error)
{
    const size_t n = piece->problem->train->rows;
    piece->rows = md_calloc(n, sizeof *piece->rows);
    if (piece->rows == NULL)
        return md_fail_memory(error, n * sizeof *piece->rows);
    for (size_t r = 0; r < n; r++)
        if (has_coefficients(piece, r))
            piece->rows[piece->row_count++] = r;
    return md_points_gather(&piece->joining, &piece->problem->points, piece->rows, piece->row_count,
                            error);
}

/* Sparse views without names may have come to more columns, which are not scaled. */
static medley_status make_room_for_columns(md_bank *bank, const md_points *points,
                                           medley_error *error)
{
    for (size_t v = 0; v < bank->view_count; v++) {
        md_view *view = &bank->views[v];
        const size_t columns = points->views[v].columns;
        if (columns <= view->column_count || view->factor == NULL)
            continue;
        size_t shifts = view->column_count;
        size_t factors = view->column_count;
        if (md_reserve((void **)&view->shift, &shifts, columns, sizeof *view->shift) != 0 ||
            md_reserve((void **)&view->factor, &factors, columns, sizeof *view->factor) != 0)
            return md_fail_memory(error, columns * sizeof *view->factor);
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
    for (size_t c = 0; c < piece->count; c++) {
        md_theta *theta = &piece->known.theta[c];
        if (md_candidate_has_rows(piece->problem, c) &&
            md_reserve((void **)&theta->body, &theta->capacity, rows * theta->width,
                       sizeof *theta->body) != 0)
            return md_fail_memory(error, rows * theta->width * sizeof *theta->body);
    }
    if (md_reserve((void **)&learner->support_row, &learner->support_capacity, rows,
                   sizeof *learner->support_row) != 0)
        return md_fail_memory(error, rows * sizeof *learner->support_row);
    return make_room_for_columns(&piece->problem->bank, &piece->problem->points, error);
}

/* The last thing that can fail. */
static medley_status extend_support(struct piece *piece, medley_error *error)
{
    medley_learner *learner = piece->learner;
    if (learner->begun)
        return piece->row_count > 0 ? md_points_append(&learner->support, &piece->joining, error)
                                    : MEDLEY_OK;
    const medley_status status = md_points_index(&piece->joining, error);
    if (status < 0)
        return status;
    learner->support = piece->joining;
    learner->support.precomputed_row = NULL; /* borrowed, and of no use */
    piece->joining = (md_points){0};
    return MEDLEY_OK;
}

/* What rows that are no longer here had brought in is gone if the block was cleared on the way. */
static void keep_rows(const struct piece *piece, size_t c)
{
    md_theta *theta = &piece->known.theta[c];
    if (!md_kernel_block_continues(piece->blocks[c]))
        memset(theta->body, 0, theta->rows * theta->width * sizeof *theta->body);
    for (size_t i = 0; i < piece->row_count; i++)
        memcpy(theta->body + (theta->rows + i) * theta->width,
               piece->body[c] + piece->rows[i] * theta->width, theta->width * sizeof *theta->body);
    theta->rows += piece->row_count;
    theta->gain2 = md_kernel_block_gain2(piece->blocks[c]);
}

static void keep_weights(struct piece *piece, size_t c)
{
    md_theta *theta = &piece->known.theta[c];
    const size_t size = piece->blocks[c]->class->body_size(piece->blocks[c]);
    free(theta->body);
    theta->body = piece->body[c];
    theta->capacity = size;
    theta->rows = size / theta->width;
    piece->body[c] = NULL;
}

static void keep_columns(md_bank *bank, md_points *support, const md_points *points)
{
    for (size_t v = 0; v < bank->view_count; v++) {
        md_view *view = &bank->views[v];
        const size_t columns = points->views[v].columns;
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
    for (size_t c = 0; c < piece->count; c++) {
        if (md_candidate_has_rows(piece->problem, c))
            keep_rows(piece, c);
        else
            keep_weights(piece, c);
        piece->known.theta[c].norm = piece->blocks[c]->norm;
    }
    if (piece->grown) {
        md_knowledge_clear(&learner->known);
        learner->known = piece->known;
        piece->grown = false;
    }
    for (size_t i = 0; i < piece->row_count; i++)
        learner->support_row[before + i] = learner->rows + piece->rows[i];
    keep_columns(&piece->problem->bank, &learner->support, &piece->problem->points);
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
    medley_status status = MEDLEY_OK;
    struct piece piece = {.learner = learner, .problem = &learner->problem};
    MEDLEY_TRY(know_labels(&piece, both, error));
    MEDLEY_TRY(make_blocks(&piece, error));
    MEDLEY_TRY(recall(&piece, error));
    MEDLEY_TRY(choose_eta(&piece, error));
    MEDLEY_TRY(pass(&piece, error));
    MEDLEY_TRY(export_bodies(&piece, error));
    MEDLEY_TRY(find_joining(&piece, error));
    MEDLEY_TRY(make_room(&piece, error));
    MEDLEY_TRY(extend_support(&piece, error));
    keep(&piece);
done:
    clear_piece(&piece);
    return status;
}
