/* SPDX-License-Identifier: BSD-3-Clause */
/* Scaled forward-backward (chain_sum.c) for chains of order 2, whose states are the last two labels
 * b, c; a is the label before them. With E for exponentials of pairs, H of triples:
 *   forward[t][b][c] = R[t][c] E[b][c] sum_a forward[t-1][a][b] H[a][b][c] / sum(forward[t-1])
 *   backward[t-1][a][b] = sum_c H[a][b][c] G[t][b][c],
 *   G[t][b][c] = R[t][c] E[b][c] backward[t][b][c] / sum(forward[t-1])
 * H is stored twice, with c and with a as the last index, so that both sums run over whole vectors.
 * Expected counts of triples are forward[t-1][a][b] G[t][b][c], summed over a few rows at a time
 * and then over all, times H at the end. */
#include "base/vector.h"
#include "structure/chain_lanes.h"
#include "structure/chain_sum.h"

enum { ROWS_AT_ONCE = 16, TRIPLES_AT_ONCE = 4 };

struct scaled {
    size_t labels, stride;
    size_t states;   /* labels * stride */
    float *row;      /* [length][stride] R */
    float *forward;  /* [length][labels: b][stride: c] */
    float *inverse;  /* [length] 1 / sum of forward */
    float *pair;     /* [labels: b][stride: c] E */
    float *triple;   /* [labels: b][labels: a][stride: c] H */
    float *turned;   /* [labels: b][labels: c][stride: a] H */
    float *count;    /* [labels: b][labels: a][stride: c] */
    float *pairs;    /* [labels: b][stride: c] expected pairs, where rows share them */
    float *backward; /* [labels: b][stride: c] */
    float *after;    /* [ROWS_AT_ONCE][labels: b][stride: c] G */
    float *largest;  /* [stride] largest backward values seen */
    float *marginal; /* [stride] */
};

size_t md_chain_triples_floats(md_shape shape, size_t length)
{
    const size_t stride = md_chain_slice(shape.labels);
    const size_t states = shape.labels * stride;
    return length * (stride + states) + md_chain_slice(length) +
           states * (3 + 3 * shape.labels + ROWS_AT_ONCE) + 2 * stride;
}

static struct scaled make_work(const md_chain *chain, float *scratch)
{
    const size_t labels = chain->labels;
    const size_t states = labels * chain->stride;
    struct scaled work = {.labels = labels, .stride = chain->stride, .states = states};
    work.row = md_chain_take(&scratch, chain->length * chain->stride);
    work.forward = md_chain_take(&scratch, chain->length * states);
    work.inverse = md_chain_take(&scratch, chain->length);
    work.pair = md_chain_take(&scratch, states);
    work.triple = md_chain_take(&scratch, labels * states);
    work.turned = md_chain_take(&scratch, labels * states);
    work.count = md_chain_take(&scratch, labels * states);
    work.pairs = md_chain_take(&scratch, states);
    work.backward = md_chain_take(&scratch, states);
    work.after = md_chain_take(&scratch, ROWS_AT_ONCE * states);
    work.largest = md_chain_take(&scratch, chain->stride);
    work.marginal = md_chain_take(&scratch, chain->stride);
    memset(work.turned, 0, labels * states * sizeof *work.turned);
    memset(work.count, 0, labels * states * sizeof *work.count);
    memset(work.pairs, 0, states * sizeof *work.pairs);
    memset(work.backward, 0, states * sizeof *work.backward);
    memset(work.largest, 0, chain->stride * sizeof *work.largest);
    return work;
}

/* ---- tables ---- */

static double exp_triples(const md_chain *chain, const struct scaled *work)
{
    const size_t labels = work->labels;
    for (size_t b = 0; b < labels; b++)
        md_chain_pad(chain, chain->triple + b * labels, labels, labels * labels, -INFINITY,
                     work->triple + b * work->states);
    const double subtracted = md_chain_exp(work->triple, 1, labels * work->states, MD_CHAIN_LIFT);
    for (size_t b = 0; b < labels; b++)
        md_chain_turn(chain, work->triple + b * work->states, work->turned + b * work->states);
    return subtracted;
}

/* ---- one row ---- */

/* The states of row 1: both labels. Returns the sum. */
static float start(const struct scaled *work, float *forward)
{
    const float *second = work->row + work->stride;
    float sum = 0;
    for (size_t b = 0; b < work->labels; b++)
        for (size_t c = 0; c < work->stride; c++) {
            const size_t state = b * work->stride + c;
            forward[state] = work->row[b] * second[c] * work->pair[state];
            sum += forward[state];
        }
    return sum;
}

/* Some columns of a row of forward, also added to total. */
MD_CHAIN_INLINE void forward_lanes(const struct scaled *work, const float *before, float scale,
                                   const float *row, float *forward, float *restrict total,
                                   size_t b, size_t first, size_t lanes)
{
    const size_t stride = work->stride;
    const float *pair = work->pair + b * stride + first;
    float *out = forward + b * stride + first;
    float sum[MD_WIDE];
    md_lanes_sum(sum, before + b, stride, work->triple + b * work->states + first, stride,
                 work->labels, lanes);
#pragma omp simd
    for (size_t i = 0; i < lanes; i++) {
        const float value = row[first + i] * pair[i] * (sum[i] * scale);
        out[i] = value;
        total[i] += value;
    }
}

/* One row of forward; returns its sum. */
MD_VECTOR(float, forward_triples,
          (const struct scaled *work, const float *before, float scale, const float *row,
           float *forward),
          (work, before, scale, row, forward))
{
    float total[MD_WIDE] = {0};
    for (size_t b = 0; b < work->labels; b++) {
        size_t first = 0;
        for (; first + MD_WIDE <= work->stride; first += MD_WIDE)
            forward_lanes(work, before, scale, row, forward, total, b, first, MD_WIDE);
        if (first < work->stride)
            forward_lanes(work, before, scale, row, forward, total, b, first, MD_LANES);
    }
    return md_lanes_total(total);
}

/* Probabilities of the states of a row, not yet divided by their sum, which is returned: into
 * marginal those of its labels. */
MD_VECTOR(float, sum_states, (const struct scaled *work, const float *forward), (work, forward))
{
    const size_t stride = work->stride;
    float total[MD_WIDE] = {0};
    for (size_t first = 0; first < stride; first += MD_LANES) {
        float sum[MD_LANES] = {0};
        float most[MD_LANES];
        float *largest = work->largest + first;
#pragma omp simd
        for (size_t i = 0; i < MD_LANES; i++)
            most[i] = largest[i];
        for (size_t b = 0; b < work->labels; b++) {
            const float *left = forward + b * stride + first;
            const float *right = work->backward + b * stride + first;
#pragma omp simd
            for (size_t i = 0; i < MD_LANES; i++) {
                sum[i] += left[i] * right[i];
                most[i] = right[i] > most[i] ? right[i] : most[i];
            }
        }
#pragma omp simd
        for (size_t i = 0; i < MD_LANES; i++) {
            largest[i] = most[i];
            work->marginal[first + i] = sum[i];
            total[i] += sum[i];
        }
    }
    return md_lanes_total(total);
}

/* pairs += forward backward scale */
MD_VECTOR_VOID(add_pairs, (const struct scaled *work, const float *forward, float scale),
               (work, forward, scale))
{
    const float *backward = work->backward;
    float *pairs = work->pairs;
#pragma omp simd
    for (size_t s = 0; s < work->states; s++)
        pairs[s] += forward[s] * backward[s] * scale;
}

/* backward[a][b] = sum_c turned[b][c][a] after[b][c] for some a */
MD_CHAIN_INLINE void back_lanes(const struct scaled *work, const float *after, size_t b,
                                size_t first, size_t lanes)
{
    const size_t stride = work->stride;
    const size_t rest = work->labels - first;
    float *out = work->backward + first * stride + b;
    float sum[MD_WIDE];
    md_lanes_sum(sum, after + b * stride, 1, work->turned + b * work->states + first, stride,
                 work->labels, lanes);
    for (size_t i = 0; i < (rest < lanes ? rest : lanes); i++)
        out[i * stride] = sum[i];
}

/* after = G, then backward of the row before */
MD_VECTOR_VOID(back_triples,
               (const struct scaled *work, float scale, const float *row, float *after),
               (work, scale, row, after))
{
    const size_t stride = work->stride;
    for (size_t b = 0; b < work->labels; b++) {
        const float *pair = work->pair + b * stride;
        const float *backward = work->backward + b * stride;
        float *g = after + b * stride;
        for (size_t first = 0; first < stride; first += MD_LANES) {
#pragma omp simd
            for (size_t c = first; c < first + MD_LANES; c++)
                g[c] = row[c] * pair[c] * (backward[c] * scale);
        }
    }
    for (size_t b = 0; b < work->labels; b++) {
        size_t first = 0;
        for (; first + MD_WIDE <= stride; first += MD_WIDE)
            back_lanes(work, after, b, first, MD_WIDE);
        if (first < stride)
            back_lanes(work, after, b, first, MD_LANES);
    }
}

/* count[b][a][c] += sum_t forward[t][a][b] after[t][b][c] for a few a and rows t at once. */
MD_VECTOR_VOID(add_triples,
               (const struct scaled *work, const float *forward, const float *after, size_t rows,
                size_t b),
               (work, forward, after, rows, b))
{
    const size_t stride = work->stride;
    const size_t states = work->states;
    for (size_t a = 0; a < work->labels; a += TRIPLES_AT_ONCE)
        for (size_t first = 0; first < stride; first += MD_LANES) {
            float sum[TRIPLES_AT_ONCE][MD_LANES] = {{0}};
            size_t from[TRIPLES_AT_ONCE]; /* the last ones may be there for nothing */
            for (size_t k = 0; k < TRIPLES_AT_ONCE; k++)
                from[k] = (a + k < work->labels ? a + k : a) * stride + b;
            for (size_t t = 0; t < rows; t++) {
                const float *right = after + t * states + b * stride + first;
                for (size_t k = 0; k < TRIPLES_AT_ONCE; k++) {
                    const float left = forward[t * states + from[k]];
#pragma omp simd
                    for (size_t i = 0; i < MD_LANES; i++)
                        sum[k][i] += left * right[i];
                }
            }
            for (size_t k = 0; k < TRIPLES_AT_ONCE && a + k < work->labels; k++) {
                float *count = work->count + b * states + (a + k) * stride + first;
#pragma omp simd
                for (size_t i = 0; i < MD_LANES; i++)
                    count[i] += sum[k][i];
            }
        }
}

/* Moves the counts that were added up to those of all rows, times H. */
MD_VECTOR_VOID(collect_triples, (const struct scaled *work, float *triple, float *pair),
               (work, triple, pair))
{
    const size_t labels = work->labels;
    for (size_t a = 0; a < labels; a++)
        for (size_t b = 0; b < labels; b++) {
            const size_t from = b * work->states + a * work->stride;
            md_lanes_add_product(triple + (a * labels + b) * labels, work->count + from,
                                 work->triple + from, labels);
        }
    memset(work->count, 0, labels * work->states * sizeof *work->count);
    for (size_t b = 0; b < labels && pair != NULL; b++)
        for (size_t c = 0; c < labels; c++)
            pair[b * labels + c] += work->pairs[b * work->stride + c];
    memset(work->pairs, 0, work->states * sizeof *work->pairs);
}

/* ---- both ways ---- */

/* False where a row's sum is not to be trusted. */
static bool go_forward(const md_chain *chain, const struct scaled *work,
                       const md_chain_counts *counts, double *log_sum)
{
    md_chain_product product = {.log = md_chain_exp_rows(chain, work->row), .rest = 1};
    product.log += (double)(chain->length - 2) * exp_triples(chain, work);
    if (chain->pair_step == 0)
        product.log +=
            (double)(chain->length - 1) * md_chain_exp_pairs(chain, 1, 0, work->pair, NULL);
    for (size_t t = 1; t < chain->length; t++) {
        float *forward = work->forward + t * work->states;
        if (chain->pair_step > 0)
            product.log += md_chain_exp_pairs(chain, t, 0, work->pair,
                                              counts->pair + (t - 1) * chain->pair_step);
        const float sum = t == 1
                              ? start(work, forward)
                              : forward_triples(work, forward - work->states, work->inverse[t - 1],
                                                work->row + t * work->stride, forward);
        if (!(sum >= MD_CHAIN_SMALLEST * (t == 1 ? 1 : MD_CHAIN_LIFTED)))
            return false;
        work->inverse[t] = 1 / sum;
        md_chain_multiply(&product, (double)sum);
    }
    *log_sum = product.log + log(product.rest);
    return true;
}

/* Marginals of row t, and of its pairs if they are its own; sum is that of sum_states. */
static void finish_row(const md_chain *chain, const struct scaled *work, size_t t, float sum,
                       const md_chain_counts *counts)
{
    const size_t labels = work->labels;
    const float *forward = work->forward + t * work->states;
    for (size_t c = 0; c < labels; c++)
        counts->row[t * labels + c] = work->marginal[c] / sum;
    if (chain->pair_step == 0)
        add_pairs(work, forward, 1 / sum);
    for (size_t b = 0; b < labels && (chain->pair_step > 0 || t == 1); b++) {
        float *pair = counts->pair + (t - 1) * chain->pair_step + b * labels;
        float first = 0;
        for (size_t c = 0; c < labels; c++) {
            const size_t state = b * work->stride + c;
            const float probability = forward[state] * work->backward[state] / sum;
            first += probability;
            if (chain->pair_step > 0)
                pair[c] = probability;
        }
        if (t == 1)
            counts->row[b] = first;
    }
}

/* False where probabilities that matter may have been lost. */
static bool go_back(const md_chain *chain, const struct scaled *work, const md_chain_counts *counts)
{
    const size_t labels = work->labels;
    const size_t stride = work->stride;
    size_t held = 0;      /* rows in `after`, at its end */
    float correction = 1; /* of rounding, taken from the row after: nothing need wait for it */
    for (size_t b = 0; b < labels; b++) /* the lanes that fill rows up stay 0 */
        for (size_t c = 0; c < labels; c++)
            work->backward[b * stride + c] = work->inverse[chain->length - 1];
    for (size_t t = chain->length - 1;; t--) {
        if (chain->pair_step > 0)
            md_chain_pad(chain, counts->pair + (t - 1) * chain->pair_step, labels, labels, 0,
                         work->pair);
        const float sum = sum_states(work, work->forward + t * work->states);
        if (!(sum > 0.5f && sum < 2.0f))
            return false;
        finish_row(chain, work, t, sum, counts);
        if (t == 1 || (chain->length - t) % MD_CHAIN_ROWS_KEPT == 0)
            collect_triples(work, counts->triple, chain->pair_step == 0 ? counts->pair : NULL);
        if (t == 1)
            break;
        float *after = work->after + (ROWS_AT_ONCE - ++held) * work->states;
        back_triples(work, correction * work->inverse[t - 1], work->row + t * stride, after);
        correction = 1 / sum;
        if (held < ROWS_AT_ONCE && t > 2)
            continue;
        for (size_t b = 0; b < labels; b++)
            add_triples(work, work->forward + (t - 1) * work->states, after, held, b);
        held = 0;
    }
    for (size_t c = 0; c < labels; c++)
        if (work->largest[c] > MD_CHAIN_LARGEST)
            return false;
    return true;
}

bool md_chain_triples_sum(const md_chain *chain, const md_chain_counts *counts, float *scratch,
                          double *log_sum)
{
    const struct scaled work = make_work(chain, scratch);
    const size_t labels = work.labels;
    if (!go_forward(chain, &work, counts, log_sum))
        return false;
    memset(counts->triple, 0, labels * labels * labels * sizeof *counts->triple);
    if (chain->pair_step == 0)
        memset(counts->pair, 0, labels * labels * sizeof *counts->pair);
    return go_back(chain, &work, counts);
}
