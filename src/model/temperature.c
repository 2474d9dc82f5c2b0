/* SPDX-License-Identifier: BSD-3-Clause */
/* The calibration of sequences: one factor a, which minimises
 *
 *     F(a) = sum_i ( log sum_y exp(a f_i(y)) - a t_i ),   t_i = (1 - e) f_i(y_i) + e E_0 f_i,
 *
 * E_a being the mean under exp(a f). F is convex and F'(a) = sum_i (E_a f_i - t_i): the score of
 * each sequence that its marginals expect. So F' is looked at, about ten times: the scores of
 * all parts of all sequences would be too much to keep. */
#include "model/calibration.h"

#include "base/parallel.h"

enum { CHUNK = 16 }; /* sequences of a piece of the sum */

/* Of the factor, on scores of unit size. */
static const double LEAST = 1e-3;
static const double MOST = 1e6;
static const double PRECISION = 1e-5; /* of the factor */

/* Of one thread. */
struct looker {
    float *score, *scaled, *marginal; /* [parts of the longest] */
    uint32_t *parts;                  /* of an output */
    md_workspace workspace;
};

struct search {
    const md_held_sequences *held;
    struct looker *lookers; /* [threads] */
    double factor;
    double *sum; /* [chunks] of E_a f, added up in order: the same for any number of threads */
    double *right, *chance, *distance; /* [chunks] of f(y_i), E_0 f and |f(y_i) - E_0 f| */
    double *rows;                      /* [chunks] */
    bool first;                        /* these are wanted */
    double target;                     /* sum of t_i */
};

static double expected(const struct search *search, struct looker *looker, md_sequence sequence,
                       double factor)
{
    const md_space *space = &search->held->space;
    const md_shape shape = md_shape_at(space->shape, sequence.row);
    const size_t parts = space->structure->part_count(shape, sequence.length);
    double sum = 0;
    for (size_t p = 0; p < parts; p++)
        looker->scaled[p] = (float)(factor * (double)looker->score[p]);
    space->structure->log_partition(shape, sequence.length, looker->scaled, looker->marginal,
                                    &looker->workspace);
    for (size_t p = 0; p < parts; p++)
        sum += (double)looker->marginal[p] * (double)looker->score[p];
    return sum;
}

static double score_of(const struct search *search, struct looker *looker, md_sequence sequence)
{
    const md_space *space = &search->held->space;
    const size_t count = space->structure->parts_of(md_shape_at(space->shape, sequence.row),
                                                    sequence.length, sequence.label, looker->parts);
    double sum = 0;
    for (size_t p = 0; p < count; p++)
        sum += (double)looker->score[looker->parts[p]];
    return sum;
}

static void look_at_chunk(void *context, size_t chunk, size_t worker)
{
    struct search *search = context;
    struct looker *looker = &search->lookers[worker];
    const md_held_sequences *held = search->held;
    const size_t begin = chunk * CHUNK;
    const size_t end = held->count - begin < CHUNK ? held->count : begin + CHUNK;
    search->sum[chunk] = 0;
    for (size_t i = begin; i < end; i++) {
        const md_sequence sequence = held->scores(held->context, i, looker->score);
        if (!search->first) {
            search->sum[chunk] += expected(search, looker, sequence, search->factor);
            continue;
        }
        const double right = score_of(search, looker, sequence);
        const double chance = expected(search, looker, sequence, 0);
        search->right[chunk] += right;
        search->chance[chunk] += chance;
        search->distance[chunk] += fabs(right - chance);
        search->rows[chunk] += (double)sequence.length;
    }
}

static double add_up(const double *pieces, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += pieces[i];
    return sum;
}

static double slope_at(struct search *search, double factor)
{
    const size_t chunks = md_pieces(search->held->count, CHUNK);
    search->factor = factor;
    md_parallel_for(search->held->threads, chunks, look_at_chunk, search);
    return add_up(search->sum, chunks) - search->target;
}

/* Where the slope changes its sign between low and high, by secants of which an end that stays is
 * moved (the Illinois rule), in the logarithm: factors may be of any size. */
static double find_root(struct search *search, double low, double low_slope, double high,
                        double high_slope)
{
    enum { MOST_STEPS = 60 };
    int stays = 0; /* > 0: low has stayed, < 0: high */
    for (int i = 0; i < MOST_STEPS && high > low * (1 + PRECISION); i++) {
        const double width = log(high / low);
        const double share = low_slope / (low_slope - high_slope);
        const double factor = low * exp(width * fmin(fmax(share, 0.01), 0.99));
        const double slope = slope_at(search, factor);
        if (slope == 0)
            return factor;
        if (slope < 0) {
            stays = stays < 0 ? stays - 1 : -1;
            high_slope /= stays < -1 ? 2 : 1;
            low = factor;
            low_slope = slope;
        } else {
            stays = stays > 0 ? stays + 1 : 1;
            low_slope /= stays > 1 ? 2 : 1;
            high = factor;
            high_slope = slope;
        }
    }
    return sqrt(low * high);
}

/* size: what a factor of 1/size makes of the scores is of the order of 1 a row. */
static double find_factor(struct search *search, double size)
{
    static const double STRIDE = 4;
    double low = LEAST / size;
    double low_slope = slope_at(search, low);
    if (low_slope >= 0)
        return low; /* scores that are worse than none */
    double high = 1 / size;
    double high_slope = slope_at(search, high);
    while (high_slope < 0 && high < MOST / size) {
        low = high;
        low_slope = high_slope;
        high *= STRIDE;
        high_slope = slope_at(search, high);
    }
    return high_slope > 0 ? find_root(search, low, low_slope, high, high_slope) : high;
}

static medley_status make_lookers(struct search *search, medley_error *error)
{
    const md_held_sequences *held = search->held;
    const md_space *space = &held->space;
    const size_t parts = space->structure->part_count(space->shape, held->longest);
    const size_t chosen = space->structure->parts_per_output(space->shape, held->longest);
    const size_t floats = space->structure->workspace_size(space->shape, held->longest);
    const size_t chunks = md_pieces(held->count, CHUNK);
    MEDLEY_TRY(md_new(&search->lookers, held->threads, sizeof *search->lookers, error));
    MEDLEY_TRY(md_new(&search->sum, 5 * chunks, sizeof *search->sum, error));
    for (size_t t = 0; t < held->threads; t++) {
        struct looker *looker = &search->lookers[t];
        MEDLEY_TRY(md_new(&looker->score, parts, sizeof *looker->score, error));
        MEDLEY_TRY(md_new(&looker->scaled, parts, sizeof *looker->scaled, error));
        MEDLEY_TRY(md_new(&looker->marginal, parts, sizeof *looker->marginal, error));
        MEDLEY_TRY(md_new(&looker->parts, chosen, sizeof *looker->parts, error));
        if (md_workspace_reserve(&looker->workspace, floats) != 0)
            return md_fail_memory(error, floats * sizeof(float));
    }
    search->right = search->sum + chunks;
    search->chance = search->sum + 2 * chunks;
    search->distance = search->sum + 3 * chunks;
    search->rows = search->sum + 4 * chunks;
    return MEDLEY_OK;
}

static void free_lookers(struct search *search)
{
    for (size_t t = 0; search->lookers != NULL && t < search->held->threads; t++) {
        free(search->lookers[t].score);
        free(search->lookers[t].scaled);
        free(search->lookers[t].marginal);
        free(search->lookers[t].parts);
        md_workspace_clear(&search->lookers[t].workspace);
    }
    free(search->lookers);
    free(search->sum);
}

medley_status md_temperature_fit(md_calibration *calibration, const md_held_sequences *held,
                                 medley_error *error)
{
    MD_CLEARED(free_lookers) struct search search = {.held = held, .first = true};
    const size_t chunks = md_pieces(held->count, CHUNK);
    MEDLEY_TRY(make_lookers(&search, error));
    md_parallel_for(held->threads, chunks, look_at_chunk, &search);
    const double smoothing = 1 / (1 + (double)held->count);
    const double size = add_up(search.distance, chunks) / add_up(search.rows, chunks);
    if (!isfinite(size))
        return md_fail(error, MEDLEY_FAILED,
                       "the scores of held-out sequences are not finite numbers: they cannot be "
                       "calibrated; use `scale=standard` or `normalize=diag`");
    search.target =
        (1 - smoothing) * add_up(search.right, chunks) + smoothing * add_up(search.chance, chunks);
    search.first = false;
    *calibration = (md_calibration){.factor = size > 0 ? find_factor(&search, size) : 1};
    return MEDLEY_OK;
}
