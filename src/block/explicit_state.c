/* SPDX-License-Identifier: BSD-3-Clause */
/* Weights of features, theta = scale * W: what is the same whatever the features belong to. Soft
 * thresholds are put off: two in a row are one with their sum, so a feature remembers how much was
 * applied to it and gets the rest when it is next looked at. */
#include "block/explicit_internal.h"

#include "block/feature_weights.h"

static const double SMALLEST_SCALE = 1e-6;                 /* below: fold the scale into the body */
static const double SMALLEST_SCALE_OF_AVERAGES = 1.0 / 32; /* weight_sum * body must not cancel */
enum { LOG_SHARE = 8 }; /* a log of more than this part of the features is no faster than none */

/* ---- keeping count ---- */

void md_explicit_catch_up(explicit_block *x, size_t column)
{
    if (x->applied == NULL || x->applied[column] == x->threshold)
        return;
    const float late = (float)(x->threshold - x->applied[column]);
    float *weight = md_explicit_weights(x, column);
    float *correction = md_explicit_correction(x, column);
    for (size_t p = 0; p < x->width; p++) {
        const float old = weight[p];
        const float magnitude = fabsf(old) - late;
        weight[p] = magnitude > 0 ? copysignf(magnitude, old) : 0;
        x->norm2 += (double)weight[p] * (double)weight[p] - (double)old * (double)old;
        if (correction != NULL)
            correction[p] -= (float)(x->base.weight_sum * (double)(weight[p] - old));
    }
    x->applied[column] = x->threshold;
}

static void catch_up_all(explicit_block *x)
{
    for (size_t c = 0; x->applied != NULL && c < x->features; c++)
        md_explicit_catch_up(x, c);
}

/* Moves weight_sum * W of a feature to its correction. */
static void settle_feature(explicit_block *x, size_t feature)
{
    const double sum = x->base.weight_sum;
    const float *weight = md_explicit_weights(x, feature);
    float *correction = md_explicit_correction(x, feature);
    for (size_t p = 0; correction != NULL && sum != 0 && p < x->width; p++)
        correction[p] += (float)(sum * (double)weight[p]);
}

/* Moves the whole sum of iterates to the correction, so that W may change in any way. */
static void settle(explicit_block *x)
{
    catch_up_all(x);
    for (size_t f = 0; x->what.averaging && f < x->features; f++)
        settle_feature(x, f);
    x->base.weight_sum = 0;
}

/* Brings scale back to 1. */
static void fold_scale(explicit_block *x)
{
    settle(x);
    for (size_t f = 0; f < x->features; f++)
        for (size_t p = 0; p < x->width; p++)
            md_explicit_weights(x, f)[p] =
                (float)(x->base.scale * (double)md_explicit_weights(x, f)[p]);
    x->norm2 *= x->base.scale * x->base.scale;
    x->base.scale = 1;
}

void md_explicit_mend_scale(explicit_block *x)
{
    if (x->base.scale < (x->what.averaging ? SMALLEST_SCALE_OF_AVERAGES : SMALLEST_SCALE))
        fold_scale(x);
}

/* ---- steps ---- */

double md_explicit_step_norm(explicit_block *x)
{
    if (!isfinite(
            x->norm2)) /* squares that are too large for single precision: weights may not be */
        md_explicit_norm2(&x->base);
    return x->norm2 <= 0 ? 0 : x->base.scale * sqrt(x->norm2);
}

/* ---- the rest ---- */

static void clear_feature(explicit_block *x, size_t column)
{
    md_explicit_catch_up(x, column);
    settle_feature(x, column);
    memset(md_explicit_weights(x, column), 0, x->width * sizeof *x->weight);
}

void md_explicit_clear(md_block *block)
{
    explicit_block *x = (explicit_block *)block;
    for (size_t f = 0; x->log_is_full && f < x->features; f++)
        clear_feature(x, f);
    for (size_t i = 0; !x->log_is_full && i < x->log_count; i++)
        clear_feature(x, x->log[i]); /* one that comes again is zero by then */
    x->log_count = 0;
    x->log_is_full = false;
    x->norm2 = 0;
    block->weight_sum = 0;
    block->scale = 1;
    block->norm = 0;
}

void md_explicit_restart(md_block *block)
{
    explicit_block *x = (explicit_block *)block;
    md_explicit_clear(block);
    block->iterates = 0;
    memset(x->weight, 0, x->features * x->stride * sizeof *x->weight);
    if (x->borrowed && x->what.averaging)
        memset(x->weight + x->correction, 0, x->features * sizeof *x->weight);
}

double md_explicit_norm2(md_block *block)
{
    explicit_block *x = (explicit_block *)block;
    catch_up_all(x);
    double sum = 0;
    if (x->stride == x->width)
        sum = md_sum_squares(x->weight, x->features * x->width);
    for (size_t f = 0; x->stride != x->width && f < x->features; f++)
        sum += md_sum_squares(md_explicit_weights(x, f), x->width);
    x->norm2 = sum;
    return block->scale * block->scale * sum;
}

double md_explicit_inner(md_block *block, const float *body)
{
    explicit_block *x = (explicit_block *)block;
    catch_up_all(x);
    double sum = 0;
    for (size_t f = 0; f < x->features; f++)
        for (size_t p = 0; p < x->width; p++)
            sum += (double)md_explicit_weights(x, f)[p] * (double)body[f * x->width + p];
    return block->scale * sum / x->what.gain;
}

void md_explicit_soft_threshold(md_block *block, double tau)
{
    explicit_block *x = (explicit_block *)block;
    if (block->norm > 0)
        x->threshold += tau / block->scale;
    if (x->what.averaging) /* it must be applied to the iterate that is counted next */
        catch_up_all(x);
}

double md_explicit_sum_abs(md_block *block)
{
    explicit_block *x = (explicit_block *)block;
    catch_up_all(x);
    double sum = 0;
    for (size_t f = 0; f < x->features; f++)
        for (size_t p = 0; p < x->width; p++)
            sum += fabs((double)md_explicit_weights(x, f)[p]);
    return block->scale * sum;
}

/* W has been filled anew. */
static void adopt(explicit_block *x)
{
    x->base.scale = 1;
    x->base.norm = 1; /* until it is refreshed: not 0 */
    x->log_is_full = true;
}

medley_status md_explicit_take_average(md_block *block, medley_error *error)
{
    explicit_block *x = (explicit_block *)block;
    (void)error;
    settle(x);
    for (size_t f = 0; f < x->features; f++)
        for (size_t p = 0; p < x->width; p++)
            md_explicit_weights(x, f)[p] =
                (float)((double)md_explicit_correction(x, f)[p] / block->iterates);
    adopt(x);
    return MEDLEY_OK;
}

size_t md_explicit_body_size(const md_block *block)
{
    const explicit_block *x = (const explicit_block *)block;
    return x->features * x->width;
}

/* The gain belongs to the body here, so that W applies to the features themselves. */
void md_explicit_export_body(md_block *block, float *body)
{
    explicit_block *x = (explicit_block *)block;
    catch_up_all(x);
    const float factor =
        block->norm > 0 ? (float)(block->scale * block->dual_scale * x->what.gain) : 0;
    for (size_t f = 0; f < x->features; f++)
        for (size_t p = 0; p < x->width; p++)
            body[f * x->width + p] = factor * md_explicit_weights(x, f)[p];
}

medley_status md_explicit_import_body(md_block *block, const float *body, medley_error *error)
{
    explicit_block *x = (explicit_block *)block;
    (void)error;
    settle(x);
    for (size_t f = 0; f < x->features; f++)
        for (size_t p = 0; p < x->width; p++)
            md_explicit_weights(x, f)[p] = (float)((double)body[f * x->width + p] / x->what.gain);
    adopt(x);
    return MEDLEY_OK;
}

/* values[count] become their means over the ranks. */
static medley_status take_means(float *values, size_t count, medley_comm *comm, medley_error *error)
{
    enum { MANY = 1 << 20 }; /* at a time */
    MD_OWNED(free) double *sums = NULL;
    MEDLEY_TRY(md_new(&sums, md_min(count, MANY), sizeof *sums, error));
    for (size_t done = 0; done < count; done += MANY) {
        const size_t some = md_min(count - done, MANY);
        for (size_t i = 0; i < some; i++)
            sums[i] = (double)values[done + i];
        MEDLEY_TRY(md_comm_sum(comm, sums, some, error));
        for (size_t i = 0; i < some; i++)
            values[done + i] = (float)(sums[i] / (double)medley_comm_size(comm));
    }
    return MEDLEY_OK;
}

medley_status md_explicit_mix(md_block *block, medley_comm *comm, medley_error *error)
{
    explicit_block *x = (explicit_block *)block;
    fold_scale(x);
    MEDLEY_TRY(take_means(x->weight, x->features * x->stride, comm, error));
    if (x->borrowed && x->what.averaging)
        MEDLEY_TRY(take_means(x->weight + x->correction, x->features, comm, error));
    MEDLEY_TRY(md_comm_sum(comm, &block->iterates, 1, error));
    block->iterates /= (double)medley_comm_size(comm);
    x->threshold = 0;
    if (x->applied != NULL)
        memset(x->applied, 0, x->features * sizeof *x->applied);
    adopt(x);
    return MEDLEY_OK;
}

/* A log that came from a file and makes no sense is as good as none: any feature may have weights.
 */
static void check_log(explicit_block *x)
{
    bool sound = x->log_count <= x->log_capacity;
    for (size_t i = 0; sound && i < x->log_count; i++)
        sound = x->log[i] < x->features;
    if (!sound) {
        x->log_count = 0;
        x->log_is_full = true;
    }
}

void md_explicit_visit_state(md_block *block, md_state_visitor visit, void *context)
{
    explicit_block *x = (explicit_block *)block;
    visit(context, x->weight, x->features * x->stride * sizeof *x->weight);
    if (x->borrowed && x->what.averaging)
        visit(context, x->weight + x->correction, x->features * sizeof *x->weight);
    visit(context, &x->norm2, sizeof x->norm2);
    visit(context, x->log, x->log_capacity * sizeof *x->log);
    visit(context, &x->log_count, sizeof x->log_count);
    md_visit_bools(&x->log_is_full, 1, visit, context);
    check_log(x);
    visit(context, &x->threshold, sizeof x->threshold);
    if (x->applied != NULL)
        visit(context, x->applied, x->features * sizeof *x->applied);
}

void md_explicit_free(md_block *block)
{
    explicit_block *x = (explicit_block *)block;
    if (!x->borrowed)
        free(x->weight);
    free(x->log);
    free(x->applied);
    free(x);
}

medley_status md_explicit_finish_create(md_block **result, explicit_block *x, medley_error *error)
{
    MD_OWNED(md_block_free) md_block *block = &x->base;
    const size_t floats = x->features * x->stride;
    x->base.scale = x->base.dual_scale = 1;
    x->log_capacity = x->features / LOG_SHARE + 1;
    x->borrowed = x->weight != NULL;
    if (!x->borrowed) {
        /* rows are looked up at random: large pages spare the processor many look-ups of its own */
        MEDLEY_TRY(md_new_aligned(&x->weight, floats, sizeof *x->weight, error));
        memset(x->weight, 0, floats * sizeof *x->weight);
        x->correction = x->width;
    }
    MEDLEY_TRY(md_new(&x->log, x->log_capacity, sizeof *x->log, error));
    if (x->what.thresholds)
        MEDLEY_TRY(md_new(&x->applied, x->features, sizeof *x->applied, error));
    *result = md_take(&block);
    return MEDLEY_OK;
}
