/* SPDX-License-Identifier: BSD-3-Clause */
/* A kernel block: theta = scale * sum_i sum_l A[l][i] phi(x_i, l). It keeps the coefficients A and
 * the scores S = K A of all training rows, so scoring a training example is a read and an update at
 * a row is one multiple of a kernel row per label (docs/math.md).
 *
 * Bytes per update: one kernel row (4 n) and, per label touched, one row of S read and written
 * (8 n); flops 2 n per label. Labels never touched since the last clear stay untouched. Where
 * kernel values are not kept, deferred scores keep S: it is true for the rows of their window that
 * are still to be visited, and for all rows once they are closed. */
#include "block/block.h"

#include "base/vector.h"

static const double SMALLEST_SCALE = 1e-6;                 /* below: fold the scale into the body */
static const double SMALLEST_SCALE_OF_AVERAGES = 1.0 / 32; /* weight_sum * body must not cancel */

enum { FEW = 8 };                /* targets of a kernel row at a time */
enum { DENSE = 4 };              /* one part in four is enough for a matrix product */
enum { MOST_PENDING_ROWS = 64 }; /* the norm of a longer gradient takes longer than the step */

typedef struct kernel_block {
    md_block base;
    md_gram *gram;
    md_deferred *deferred; /* NULL: the values are kept */
    size_t m, n;
    double gain2;       /* the kernel is gain2 * K; the body that is exported goes with K itself */
    float *coefficient; /* [labels][n] A */
    float *score;       /* [labels][n] S = K A */
    double *correction; /* [labels][n] of the average (block.h); NULL: none is kept */
    bool *touched;      /* [labels] rows of A and S that may be nonzero; others hold rubbish */
    bool pending;       /* the step has not been taken yet */
    bool continues;     /* S holds what rows bring in that are not here */
} kernel_block;

/* S of a row: *stride floats from label to label. */
static const float *scores_of(const kernel_block *k, size_t row, size_t *stride)
{
    if (k->deferred != NULL)
        return md_deferred_scores(k->deferred, k->m, row, stride);
    *stride = k->n;
    return k->score + row;
}

static void score(const md_block *block, md_example example, float *scores)
{
    const kernel_block *k = (const kernel_block *)block;
    const float scale = (float)md_block_factor(block);
    if (scale == 0)
        return;
    size_t stride;
    const float *first = scores_of(k, example.row, &stride);
    for (size_t l = 0; l < block->labels; l++) {
        const float *column = first + l * stride; /* rows of an example stand side by side */
        for (size_t i = 0; k->touched[l] && i < example.length; i++)
            scores[i * block->labels + l] += scale * column[i];
    }
}

static double self(const md_block *block, size_t row)
{
    const kernel_block *k = (const kernel_block *)block;
    return k->gain2 * md_gram_diagonal(k->gram, k->m, row);
}

static double slope(md_block *block, const md_gradient *gradient)
{
    const kernel_block *k = (const kernel_block *)block;
    const md_delta *delta = gradient->delta;
    const size_t labels = k->base.labels;
    double sum = 0;
    for (size_t r = 0; r < delta->row_count; r++) {
        size_t stride;
        const float *scores = scores_of(k, gradient->example.row + delta->row[r], &stride);
        for (size_t e = delta->start[r]; e < delta->start[r + 1]; e++) {
            const size_t label = delta->part[e] - delta->row[r] * labels;
            if (k->touched[label])
                sum += (double)delta->coefficient[e] * (double)scores[label * stride];
        }
    }
    return k->base.scale * sum;
}

static double entry(const kernel_block *k, size_t row, size_t other)
{
    return (double)(k->deferred ? md_deferred_entry(k->deferred, k->m, row, other)
                                : md_gram_entry(k->gram, k->m, row, other));
}

/* sum over pairs of rows of <delta, delta'> K(row, row'). */
static double gradient_norm2(md_block *block, const md_gradient *gradient)
{
    kernel_block *k = (kernel_block *)block;
    const md_delta *delta = gradient->delta;
    const size_t labels = k->base.labels;
    const size_t first = gradient->example.row;
    double sum = 0;
    for (size_t r = 0; r < delta->row_count; r++) {
        double square = 0;
        for (size_t e = delta->start[r]; e < delta->start[r + 1]; e++)
            square += (double)delta->coefficient[e] * (double)delta->coefficient[e];
        sum += square * md_gram_diagonal(k->gram, k->m, first + delta->row[r]);
        for (size_t s = 0; s < r; s++) {
            const float *other = delta->dense + delta->row[s] * labels;
            double product = 0;
            for (size_t e = delta->start[r]; e < delta->start[r + 1]; e++)
                product += (double)delta->coefficient[e] *
                           (double)other[delta->part[e] - delta->row[r] * labels];
            if (product != 0)
                sum += 2 * product * entry(k, first + delta->row[r], first + delta->row[s]);
        }
    }
    return k->gain2 * sum;
}

static void touch(kernel_block *k, size_t label)
{
    if (k->touched[label])
        return;
    memset(k->coefficient + label * k->n, 0, k->n * sizeof(float));
    memset(k->score + label * k->n, 0, k->n * sizeof(float));
    if (k->deferred != NULL)
        md_deferred_forget_label(k->deferred, k->m, label);
    k->touched[label] = true;
}

/* Moves the whole sum of iterates to the correction, so that A may change in any way. */
static void settle(kernel_block *k)
{
    for (size_t l = 0; k->correction != NULL && l < k->base.labels; l++)
        for (size_t i = 0; k->touched[l] && i < k->n; i++)
            k->correction[l * k->n + i] +=
                k->base.weight_sum * (double)k->coefficient[l * k->n + i];
    k->base.weight_sum = 0;
}

/* Brings scale back to 1. */
static void fold_scale(kernel_block *k)
{
    const double factor = k->base.scale;
    settle(k);
    for (size_t l = 0; l < k->base.labels; l++)
        for (size_t i = 0; k->touched[l] && i < k->n; i++) {
            k->coefficient[l * k->n + i] = (float)(factor * (double)k->coefficient[l * k->n + i]);
            k->score[l * k->n + i] = (float)(factor * (double)k->score[l * k->n + i]);
        }
    if (k->deferred != NULL)
        md_deferred_rescale(k->deferred, k->m, (float)factor);
    k->base.scale = 1;
}

/* A += change. Small changes are rounded, and the sum of iterates is of A as it is: what counts is
 * what has become of them. */
static void add_coefficient(kernel_block *k, size_t at, float change)
{
    const float old = k->coefficient[at];
    k->coefficient[at] = old + change;
    if (k->correction != NULL)
        k->correction[at] -= k->base.weight_sum * ((double)k->coefficient[at] - (double)old);
}

/* A few labels at a row: a multiple of the kernel row for each. */
static void add_few(kernel_block *k, const md_gradient *gradient, size_t r, double step)
{
    const md_delta *delta = gradient->delta;
    const size_t row = gradient->example.row + delta->row[r];
    float alpha[FEW];
    float *y[FEW];
    md_label_change changes[FEW];
    md_targets targets = {.alpha = alpha, .y = y};
    for (size_t e = delta->start[r]; e < delta->start[r + 1]; e++) {
        const size_t label = delta->part[e] - delta->row[r] * k->base.labels;
        const float change = (float)(-step * (double)delta->coefficient[e]);
        add_coefficient(k, label * k->n + row, change);
        alpha[targets.count] = (float)k->gain2 * change;
        changes[targets.count] = (md_label_change){label, alpha[targets.count]};
        y[targets.count++] = k->score + label * k->n;
        if (targets.count < FEW && e + 1 < delta->start[r + 1])
            continue;
        if (k->deferred != NULL)
            md_deferred_add(k->deferred, k->m, row, changes, targets.count);
        else
            md_gram_add_row(k->gram, k->m, row, &targets);
        targets.count = 0;
    }
}

/* Most labels at most rows, as the log loss has them: one small matrix product. */
static bool add_all(kernel_block *k, const md_gradient *gradient, double step)
{
    const md_delta *delta = gradient->delta;
    const size_t labels = k->base.labels;
    const md_example example = gradient->example;
    if (k->deferred != NULL ||
        DENSE * (size_t)delta->start[delta->row_count] < example.length * labels)
        return false;
    for (size_t l = 0; l < labels; l++)
        touch(k, l);
    if (!md_gram_add_rows(k->gram, k->m, example.row, example.length, (float)(-k->gain2 * step),
                          delta->dense, labels, k->score))
        return false;
    for (size_t i = 0; i < example.length * labels; i++) {
        const size_t at = i % labels * k->n + example.row + i / labels;
        const float change = (float)-step * delta->dense[i];
        add_coefficient(k, at, change);
    }
    return true;
}

static void apply(kernel_block *k, const md_gradient *gradient, double eta)
{
    const md_delta *delta = gradient->delta;
    if (k->base.scale < (k->correction ? SMALLEST_SCALE_OF_AVERAGES : SMALLEST_SCALE))
        fold_scale(k);
    const double step = eta / k->base.scale;
    for (size_t e = 0; e < delta->start[delta->row_count]; e++)
        touch(k, delta->part[e] % k->base.labels);
    if (add_all(k, gradient, step))
        return;
    for (size_t r = 0; r < delta->row_count; r++)
        add_few(k, gradient, r, step);
}

/* Of its first row: longer ones look at what they change for a while. */
static void prefetch_change(const md_block *block, md_example example)
{
    const kernel_block *k = (const kernel_block *)block;
    if (k->deferred != NULL)
        md_deferred_prefetch(k->deferred, k->m, example.row);
}

/* Coefficients are far apart, and where there are many rows in no near cache. */
static void prefetch_step(const md_block *block, const md_gradient *gradient)
{
    const kernel_block *k = (const kernel_block *)block;
    const md_delta *delta = gradient->delta;
    for (size_t r = 0; r < delta->row_count; r++) {
        if (k->deferred != NULL)
            md_deferred_prefetch(k->deferred, k->m, gradient->example.row + delta->row[r]);
        for (size_t e = delta->start[r]; e < delta->start[r + 1]; e++) {
            const size_t label = delta->part[e] - delta->row[r] * block->labels;
            __builtin_prefetch(
                k->coefficient + label * k->n + gradient->example.row + delta->row[r], 1);
        }
    }
}

/* Rounding may leave less than nothing; what is not a number, or not finite, stays so and is
 * noticed. */
static double root(double square)
{
    return square <= 0 && isfinite(square) ? 0 : sqrt(square);
}

/* Steps at once where theta is not zero: ||theta - eta d||^2 = b^2 - eta (<theta, d> + <theta - eta
 * d, d>), and both slopes are read from the score caches. From zero it is eta ||d||, and the kernel
 * rows are left alone until it is known that the block will stay. */
static double step(md_block *block, const md_step *step)
{
    kernel_block *k = (kernel_block *)block;
    k->pending = false;
    double square = block->norm * block->norm;
    for (size_t g = 0; g < step->count; g++) {
        const md_gradient *gradient = &step->gradients[g];
        if (gradient->delta->row_count == 0)
            continue;
        if (square <= 0 && step->count == 1 && gradient->delta->row_count <= MOST_PENDING_ROWS) {
            k->pending = true;
            return step->eta * root(gradient_norm2(block, gradient));
        }
        const double before = square > 0 ? slope(block, gradient) : 0;
        apply(k, gradient, step->eta);
        square -= step->eta * (before + slope(block, gradient));
    }
    return root(square);
}

static void finish(md_block *block, const md_step *step)
{
    kernel_block *k = (kernel_block *)block;
    if (k->pending)
        apply(k, &step->gradients[0], step->eta);
    k->pending = false;
}

/* A row without coefficients is no support row, and the model does not keep it. */
static void drop_others(md_block *block, md_example example, const md_delta *delta)
{
    kernel_block *k = (kernel_block *)block;
    for (size_t l = 0; l < block->labels; l++)
        for (size_t i = 0; k->touched[l] && i < example.length; i++) {
            const size_t at = l * k->n + example.row + i;
            if (delta->dense[i * block->labels + l] == 0)
                add_coefficient(k, at, -k->coefficient[at]);
        }
}

static void clear(md_block *block)
{
    kernel_block *k = (kernel_block *)block;
    settle(k);
    memset(k->touched, 0, block->labels * sizeof *k->touched);
    k->continues = false;
    if (k->deferred != NULL)
        md_deferred_forget(k->deferred, k->m);
    block->scale = 1;
    block->norm = 0;
}

static void restart(md_block *block)
{
    kernel_block *k = (kernel_block *)block;
    clear(block);
    block->iterates = 0;
    if (k->correction != NULL)
        memset(k->correction, 0, block->labels * k->n * sizeof *k->correction);
}

/* ||theta||^2 = scale^2 sum A S. */
static double norm2(md_block *block)
{
    const kernel_block *k = (const kernel_block *)block;
    double sum = 0;
    for (size_t l = 0; l < block->labels; l++)
        for (size_t i = 0; k->touched[l] && i < k->n; i++)
            sum += (double)k->coefficient[l * k->n + i] * (double)k->score[l * k->n + i];
    return block->scale * block->scale * sum;
}

/* scale sum A' S, where the body is gain2 A'. */
static double inner(md_block *block, const float *body)
{
    const kernel_block *k = (const kernel_block *)block;
    double sum = 0;
    for (size_t l = 0; l < block->labels; l++)
        for (size_t i = 0; k->touched[l] && i < k->n; i++)
            sum += (double)body[i * block->labels + l] * (double)k->score[l * k->n + i];
    return block->scale * sum / k->gain2;
}

/* S = K A, needed after A was replaced: the product works on rows, so A goes in transposed. */
static medley_status recompute_scores(kernel_block *k, medley_error *error)
{
    const size_t labels = k->base.labels;
    if (k->deferred != NULL) {
        md_deferred_replace(k->deferred, k->m, k->coefficient, (float)k->gain2);
        return MEDLEY_OK;
    }
    MD_OWNED(free) float *by_row = NULL;
    MD_OWNED(free) float *scores = NULL;
    MEDLEY_TRY(md_new(&by_row, k->n * labels, sizeof *by_row, error));
    MEDLEY_TRY(md_new(&scores, k->n * labels, sizeof *scores, error));
    for (size_t l = 0; l < labels; l++)
        for (size_t i = 0; i < k->n; i++)
            by_row[i * labels + l] = k->coefficient[l * k->n + i];
    md_gram_multiply(k->gram, k->m, by_row, labels, scores);
    for (size_t l = 0; l < labels; l++)
        for (size_t i = 0; i < k->n; i++)
            k->score[l * k->n + i] = (float)k->gain2 * scores[i * labels + l];
    return MEDLEY_OK;
}

/* Labels that were never touched have no coefficients. */
static medley_status renew(md_block *block, medley_error *error)
{
    kernel_block *k = (kernel_block *)block;
    if (block->norm == 0)
        return MEDLEY_OK;
    for (size_t l = 0; l < block->labels; l++)
        touch(k, l);
    return recompute_scores(k, error);
}

/* A has been filled anew. */
static medley_status adopt(kernel_block *k, medley_error *error)
{
    k->base.scale = 1;
    k->base.norm = 1; /* until it is refreshed: not 0 */
    return recompute_scores(k, error);
}

static medley_status take_average(md_block *block, medley_error *error)
{
    kernel_block *k = (kernel_block *)block;
    settle(k);
    for (size_t l = 0; l < block->labels; l++) {
        touch(k, l);
        for (size_t i = 0; i < k->n; i++)
            k->coefficient[l * k->n + i] = (float)(k->correction[l * k->n + i] / block->iterates);
    }
    return adopt(k, error);
}

static size_t body_size(const md_block *block)
{
    return ((const kernel_block *)block)->n * block->labels;
}

/* [n][labels] */
static void export_body(md_block *block, float *body)
{
    const kernel_block *k = (const kernel_block *)block;
    const float scale = (float)(block->scale * block->dual_scale * k->gain2);
    for (size_t l = 0; l < block->labels; l++)
        for (size_t i = 0; i < k->n; i++)
            body[i * block->labels + l] =
                k->touched[l] && block->norm > 0 ? scale * k->coefficient[l * k->n + i] : 0;
}

static medley_status import_body(md_block *block, const float *body, medley_error *error)
{
    kernel_block *k = (kernel_block *)block;
    settle(k);
    for (size_t l = 0; l < block->labels; l++) {
        touch(k, l);
        for (size_t i = 0; i < k->n; i++)
            k->coefficient[l * k->n + i] = (float)((double)body[i * block->labels + l] / k->gain2);
    }
    return adopt(k, error);
}

static void visit_state(md_block *block, md_state_visitor visit, void *context)
{
    kernel_block *k = (kernel_block *)block;
    const size_t bytes = k->n * block->labels * sizeof(float);
    visit(context, k->coefficient, bytes);
    visit(context, k->score, bytes);
    md_visit_bools(k->touched, block->labels, visit, context);
    if (k->deferred != NULL) /* these may be the scores of another run */
        md_deferred_continue(k->deferred, k->m);
    if (k->correction != NULL)
        visit(context, k->correction, k->n * block->labels * sizeof *k->correction);
}

static void free_block(md_block *block)
{
    kernel_block *k = (kernel_block *)block;
    if (k->deferred != NULL)
        md_deferred_detach(k->deferred, k->m);
    free(k->coefficient);
    free(k->score);
    free(k->correction);
    free(k->touched);
    free(k);
}

static const md_block_class kernel_block_class = {
    .name = "kernel",
    .score = score,
    .prefetch_change = prefetch_change,
    .prefetch_step = prefetch_step,
    .step = step,
    .finish = finish,
    .self = self,
    .slope = slope,
    .gradient_norm2 = gradient_norm2,
    .drop_others = drop_others,
    .clear = clear,
    .restart = restart,
    .norm2 = norm2,
    .inner = inner,
    .take_average = take_average,
    .renew = renew,
    .body_size = body_size,
    .export_body = export_body,
    .import_body = import_body,
    .visit_state = visit_state,
    .free = free_block,
};

/* A vector for each label; all of it but at the end of a window. */
MD_VECTOR_VOID(add_side_by_side,
               (float *restrict sum, float scale, const float *restrict column, size_t stride,
                const bool *touched, size_t labels, size_t count),
               (sum, scale, column, stride, touched, labels, count))
{
    for (size_t l = 0; l < labels; l++) {
        float *to = sum + l * MD_SIDE_BY_SIDE;
        const float *from = column + l * stride;
        if (!touched[l])
            continue;
        if (count < MD_SIDE_BY_SIDE) {
            for (size_t i = 0; i < count; i++)
                to[i] += scale * from[i];
            continue;
        }
#pragma omp simd
        for (size_t i = 0; i < MD_SIDE_BY_SIDE; i++)
            to[i] += scale * from[i];
    }
}

void md_kernel_block_score_open(const md_block *block, size_t first, size_t count, float *sum)
{
    const kernel_block *k = (const kernel_block *)block;
    const float scale = (float)md_block_factor(block);
    size_t stride;
    if (scale == 0)
        return;
    const float *column = md_deferred_open_scores(k->deferred, k->m, first, &stride);
    add_side_by_side(sum, scale, column, stride, k->touched, block->labels, count);
}

bool md_kernel_block_is_deferred(const md_block *block)
{
    return block->class == &kernel_block_class && ((const kernel_block *)block)->deferred != NULL;
}

void md_kernel_block_set_gain(md_block *block, double gain)
{
    ((kernel_block *)block)->gain2 = gain * gain;
}

double md_kernel_block_gain2(const md_block *block)
{
    return ((const kernel_block *)block)->gain2;
}

void md_kernel_block_continue(md_block *block, const float *scores, double norm)
{
    kernel_block *k = (kernel_block *)block;
    for (size_t l = 0; l < block->labels; l++) {
        touch(k, l);
        for (size_t i = 0; i < k->n; i++)
            k->score[l * k->n + i] = scores[i * block->labels + l];
    }
    if (k->deferred != NULL)
        md_deferred_continue(k->deferred, k->m);
    block->norm = norm;
    k->continues = true;
}

bool md_kernel_block_continues(const md_block *block)
{
    return ((const kernel_block *)block)->continues;
}

medley_status md_kernel_block_create(md_block **result, const md_kernel_source *source,
                                     medley_error *error)
{
    const size_t labels = source->labels;
    MD_OWNED(md_block_free) md_block *block = NULL;
    MEDLEY_TRY(md_new(&block, 1, sizeof(kernel_block), error));
    kernel_block *k = (kernel_block *)block;
    k->base = (md_block){.class = &kernel_block_class,
                         .name = source->name,
                         .labels = labels,
                         .scale = 1,
                         .dual_scale = 1};
    k->gram = source->gram;
    k->m = source->m;
    k->n = md_gram_rows(source->gram);
    k->gain2 = 1;
    MEDLEY_TRY(md_new(&k->coefficient, k->n * labels, sizeof(float), error));
    MEDLEY_TRY(md_new(&k->score, k->n * labels, sizeof(float), error));
    MEDLEY_TRY(md_new(&k->touched, labels, sizeof(bool), error));
    if (source->averaging)
        MEDLEY_TRY(md_new(&k->correction, k->n * labels, sizeof *k->correction, error));
    if (source->deferred != NULL)
        MEDLEY_TRY(md_deferred_attach(source->deferred, k->m, k->score, error));
    k->deferred = source->deferred;
    *result = md_take(&block);
    return MEDLEY_OK;
}
