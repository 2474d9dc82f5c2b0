/* SPDX-License-Identifier: BSD-3-Clause */
#include "online/duals.h"

enum { MOST_OUTPUTS = 12 }; /* kept of an example */

/* ---- making ---- */

medley_status md_duals_init(md_duals *duals, md_space space, bool by_marginals,
                            const md_example *examples, size_t count, medley_error *error)
{
    *duals = (md_duals){.space = space, .most = by_marginals ? 0 : MOST_OUTPUTS, .examples = count};
    md_pool *pool = &duals->pool;
    size_t longest = 0;
    MEDLEY_TRY(md_pool_new(pool, &duals->start, count, sizeof *duals->start, error));
    for (size_t e = 0; e < count; e++) {
        duals->start[e] = duals->size;
        duals->size += space.structure->part_count(space.shape, examples[e].length);
        duals->rows = md_max(duals->rows, examples[e].row + examples[e].length);
        longest = md_max(longest, examples[e].length);
    }
    const size_t most = duals->most;
    MEDLEY_TRY(md_pool_new(pool, &duals->mixture, duals->size, sizeof *duals->mixture, error));
    MEDLEY_TRY(md_pool_new(pool, &duals->mixture_weight, 4 * count, sizeof(double), error));
    duals->mixture_offset = duals->mixture_weight + count;
    duals->mixture_rounding = duals->mixture_offset + count;
    duals->gap = duals->mixture_rounding + count;
    MEDLEY_TRY(md_pool_new(pool, &duals->count, count, sizeof *duals->count, error));
    MEDLEY_TRY(md_pool_new(pool, &duals->weight, count * most, sizeof(double), error));
    MEDLEY_TRY(md_pool_new(pool, &duals->offset, count * most, sizeof(double), error));
    MEDLEY_TRY(md_pool_new(pool, &duals->output, duals->rows * most, sizeof(int32_t), error));
    return md_inference_init(&duals->scratch, space, longest, error);
}

void md_duals_clear(md_duals *duals)
{
    md_pool_clear(&duals->pool);
    md_inference_clear(&duals->scratch);
    *duals = (md_duals){0};
}

static int32_t *output_of(const md_duals *duals, md_example where, size_t k)
{
    return duals->output + where.row * duals->most + k * where.length;
}

void md_duals_restart(md_duals *duals, const md_example *examples, const int32_t *gold)
{
    memset(duals->mixture, 0, duals->size * sizeof *duals->mixture);
    for (size_t e = 0; e < duals->examples; e++) {
        duals->mixture_offset[e] = duals->mixture_rounding[e] = 0;
        duals->mixture_weight[e] = duals->most == 0;
        duals->count[e] = duals->most > 0;
        if (duals->most == 0)
            continue;
        duals->weight[e * duals->most] = 1;
        duals->offset[e * duals->most] = 0;
        memcpy(output_of(duals, examples[e], 0), gold + examples[e].row,
               examples[e].length * sizeof *gold);
    }
}

/* ---- parts ---- */

static size_t part_count(const md_duals *duals, size_t length)
{
    return duals->space.structure->part_count(duals->scratch.space.shape, length);
}

/* dense += factor (parts of y). */
static void add_parts(md_duals *duals, size_t length, const int32_t *y, float factor)
{
    md_inference *scratch = &duals->scratch;
    const size_t count =
        duals->space.structure->parts_of(scratch->space.shape, length, y, scratch->parts);
    for (size_t i = 0; i < count; i++)
        scratch->delta.dense[scratch->parts[i]] += factor;
}

static double score_of(md_duals *duals, const md_found *found, const int32_t *y)
{
    md_inference *scratch = &duals->scratch;
    const size_t count = duals->space.structure->parts_of(scratch->space.shape, found->where.length,
                                                          y, scratch->parts);
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += (double)found->score[scratch->parts[i]];
    return sum;
}

static void begin_delta(md_duals *duals, md_example where)
{
    md_delta *delta = &duals->scratch.delta;
    duals->scratch.space.shape.row = where.row;
    for (size_t i = 0; i < delta->count; i++)
        delta->dense[delta->part[i]] = 0;
    delta->count = 0;
}

static void end_delta(md_duals *duals, size_t length)
{
    md_delta_list(&duals->scratch.delta, part_count(duals, length), 0);
    md_delta_group_rows(&duals->scratch.delta, length, md_row_width(duals->space, length));
}

static void add_mixture(md_duals *duals, size_t example, size_t length, float factor)
{
    const float *mixture = duals->mixture + duals->start[example];
    const size_t parts = part_count(duals, length);
    for (size_t p = 0; p < parts; p++)
        duals->scratch.delta.dense[p] += factor * mixture[p];
}

/* ---- choosing ---- */

/* The kept output that was found; most: none. */
static size_t find_output(const md_duals *duals, const md_found *found)
{
    const size_t length = found->where.length;
    if (found->output == NULL)
        return MD_MIXTURE;
    for (size_t k = 0; k < duals->count[found->example]; k++)
        if (memcmp(output_of(duals, found->where, k), found->output,
                   length * sizeof *found->output) == 0)
            return k;
    return duals->most;
}

struct worst {
    double value, mean; /* of offset + score, less those of the right output */
    size_t which;
};

static struct worst find_worst(md_duals *duals, const md_found *found)
{
    const size_t e = found->example;
    const double right = found->output ? score_of(duals, found, found->gold) : 0;
    struct worst worst = {.value = INFINITY, .which = MD_MIXTURE};
    if (duals->mixture_weight[e] > 0) {
        const float *mixture = duals->mixture + duals->start[e];
        const size_t parts = part_count(duals, found->where.length);
        double sum = duals->mixture_offset[e];
        for (size_t p = 0; p < parts; p++)
            sum += (double)mixture[p] * (double)found->score[p];
        worst.mean = sum;
        worst.value = sum / duals->mixture_weight[e];
    }
    for (size_t k = 0; k < duals->count[e]; k++) {
        const double value = duals->offset[e * duals->most + k] +
                             score_of(duals, found, output_of(duals, found->where, k)) - right;
        worst.mean += duals->weight[e * duals->most + k] * value;
        if (value < worst.value) {
            worst.value = value;
            worst.which = k;
        }
    }
    return worst;
}

double md_duals_measure(md_duals *duals, const md_found *found)
{
    duals->scratch.space.shape.row = found->where.row;
    duals->gap[found->example] = found->loss - find_worst(duals, found).mean;
    return duals->gap[found->example];
}

md_move md_duals_choose(md_duals *duals, const md_found *found)
{
    const size_t e = found->example;
    const size_t length = found->where.length;
    begin_delta(duals, found->where);
    const struct worst worst = find_worst(duals, found);
    md_move move = {.to = find_output(duals, found), .from = worst.which};
    move.gap = found->loss - worst.mean;
    if (move.to == move.from && found->output != NULL)
        return move;
    float *dense = duals->scratch.delta.dense;
    for (size_t i = 0; i < found->delta->count; i++)
        dense[found->delta->part[i]] = found->delta->coefficient[i];
    if (worst.which == MD_MIXTURE) {
        move.most = duals->mixture_weight[e];
        move.offset = found->offset - duals->mixture_offset[e] / move.most;
        add_mixture(duals, e, length, (float)(-1 / move.most));
    } else {
        move.most = duals->weight[e * duals->most + worst.which];
        move.offset = found->offset - duals->offset[e * duals->most + worst.which];
        add_parts(duals, length, output_of(duals, found->where, worst.which), -1);
        add_parts(duals, length, found->gold, 1);
    }
    end_delta(duals, length);
    return move;
}

/* ---- moving ---- */

static void scale_mixture(md_duals *duals, size_t e, size_t length, double factor)
{
    float *mixture = duals->mixture + duals->start[e];
    const size_t parts = part_count(duals, length);
    for (size_t p = 0; p < parts; p++)
        mixture[p] *= (float)factor;
    duals->mixture_weight[e] *= factor;
    duals->mixture_offset[e] *= factor;
    duals->mixture_rounding[e] *= factor;
}

static void forget_output(md_duals *duals, const md_found *found, size_t k)
{
    const size_t e = found->example;
    const size_t last = --duals->count[e];
    double *weight = duals->weight + e * duals->most;
    double *offset = duals->offset + e * duals->most;
    weight[k] = weight[last];
    offset[k] = offset[last];
    if (k != last)
        memcpy(output_of(duals, found->where, k), output_of(duals, found->where, last),
               found->where.length * sizeof(int32_t));
}

/* The kept output with the least weight becomes a part of the mixture. */
static void fold_least(md_duals *duals, const md_found *found)
{
    const size_t e = found->example;
    const size_t length = found->where.length;
    const double *weight = duals->weight + e * duals->most;
    float *mixture = duals->mixture + duals->start[e];
    size_t least = 0;
    for (size_t k = 1; k < duals->count[e]; k++)
        least = weight[k] < weight[least] ? k : least;
    const struct {
        const int32_t *y;
        float factor;
    } both[] = {{output_of(duals, found->where, least), (float)weight[least]},
                {found->gold, -(float)weight[least]}};
    for (size_t b = 0; b < 2; b++) {
        const size_t count = duals->space.structure->parts_of(duals->scratch.space.shape, length,
                                                              both[b].y, duals->scratch.parts);
        for (size_t i = 0; i < count; i++)
            mixture[duals->scratch.parts[i]] += both[b].factor;
    }
    duals->mixture_weight[e] += weight[least];
    duals->mixture_offset[e] += weight[least] * duals->offset[e * duals->most + least];
    forget_output(duals, found, least);
}

static void put_weight(md_duals *duals, const md_found *found, size_t to, double by)
{
    const size_t e = found->example;
    if (to == MD_MIXTURE) {
        float *mixture = duals->mixture + duals->start[e];
        for (size_t i = 0; i < found->delta->count; i++)
            mixture[found->delta->part[i]] += (float)by * found->delta->coefficient[i];
        duals->mixture_weight[e] += by;
        duals->mixture_offset[e] += by * found->offset;
        duals->mixture_rounding[e] += by * found->rounding;
        return;
    }
    if (to == duals->most) {
        if (duals->count[e] == duals->most)
            fold_least(duals, found);
        to = duals->count[e]++;
        duals->weight[e * duals->most + to] = 0;
        duals->offset[e * duals->most + to] = found->offset;
        memcpy(output_of(duals, found->where, to), found->output,
               found->where.length * sizeof(int32_t));
    }
    duals->weight[e * duals->most + to] += by;
}

void md_duals_take(md_duals *duals, const md_found *found, const md_move *move, double by)
{
    const size_t e = found->example;
    const bool all = by >= move->most;
    if (move->from == MD_MIXTURE)
        scale_mixture(duals, e, found->where.length, all ? 0 : 1 - by / move->most);
    else
        duals->weight[e * duals->most + move->from] = all ? 0 : move->most - by;
    put_weight(duals, found, move->to, by);
    for (size_t k = duals->count[e]; k-- > 0;)
        if (duals->weight[e * duals->most + k] == 0)
            forget_output(duals, found, k);
}

/* ---- all of it ---- */

void md_duals_fill(md_duals *duals, size_t example, md_example where, const int32_t *gold,
                   double *offset, double *rounding)
{
    begin_delta(duals, where);
    add_mixture(duals, example, where.length, 1);
    *offset = duals->mixture_offset[example];
    *rounding = duals->mixture_rounding[example];
    for (size_t k = 0; k < duals->count[example]; k++) {
        const double weight = duals->weight[example * duals->most + k];
        *offset += weight * duals->offset[example * duals->most + k];
        add_parts(duals, where.length, output_of(duals, where, k), (float)weight);
        add_parts(duals, where.length, gold, -(float)weight);
    }
    end_delta(duals, where.length);
}

void md_duals_visit_state(md_duals *duals, md_state_visitor visit, void *context)
{
    const size_t most = duals->most;
    visit(context, duals->mixture, duals->size * sizeof *duals->mixture);
    visit(context, duals->mixture_weight, 4 * duals->examples * sizeof(double));
    visit(context, duals->count, duals->examples * sizeof *duals->count);
    visit(context, duals->weight, duals->examples * most * sizeof(double));
    visit(context, duals->offset, duals->examples * most * sizeof(double));
    visit(context, duals->output, duals->rows * most * sizeof(int32_t));
}

static bool is_sound(md_duals *duals, size_t e, md_example where)
{
    const double *weight = duals->weight + e * duals->most;
    const int32_t width = (int32_t)md_row_width(duals->space, where.length);
    double sum = duals->mixture_weight[e];
    bool sound = duals->count[e] <= duals->most && sum >= 0;
    for (size_t k = 0; sound && k < duals->count[e]; k++) {
        const int32_t *y = output_of(duals, where, k);
        sum += weight[k];
        sound = weight[k] >= 0 && isfinite(duals->offset[e * duals->most + k]);
        for (size_t i = 0; sound && i < where.length; i++)
            sound = y[i] >= 0 && y[i] < width;
        duals->scratch.space.shape.row = where.row;
        if (sound && duals->space.structure->check_output != NULL)
            sound = duals->space.structure->check_output(duals->scratch.space.shape, where.length,
                                                         y, duals->scratch.parts) == NULL;
    }
    return sound && fabs(sum - 1) < 1e-6;
}

bool md_duals_are_sound(md_duals *duals, const md_example *examples)
{
    bool sound = true;
    for (size_t e = 0; sound && e < duals->examples; e++)
        sound = is_sound(duals, e, examples[e]);
    for (size_t i = 0; sound && i < duals->size; i++)
        sound = isfinite(duals->mixture[i]);
    return sound;
}
