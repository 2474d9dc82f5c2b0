/* SPDX-License-Identifier: BSD-3-Clause */
/* Forward-backward with scaled probabilities in single precision, for chains of order 0 and 1.
 *
 * R[t][c] = exp(row score - largest of the row), E[p][c] = exp(pair score - largest pair score).
 *   forward[t][c] = R[t][c] sum_p forward[t-1][p] E[p][c] / sum(forward[t-1])
 *   backward[t-1][p] = sum_c E[p][c] G[t][c],  G[t][c] = R[t][c] backward[t][c] / sum(forward[t-1])
 * so that forward[t][c] backward[t][c] are the marginals of row t, forward[t-1][p] E[p][c] G[t][c]
 * those of its pairs, and the product of the sums is the partition function. Expected counts of
 * shared pairs are a matrix product over all rows, times E at the end.
 *
 * When is this good enough? What falls below the smallest float is taken for 0. A forward value
 * that was lost matters only as far as the backward value beside it is large, and so does an R or
 * E: if no backward value is beyond MD_CHAIN_LARGEST, all is well. If one is, or a row's sum is
 * tiny, chain_log.c must do the work. */
#include "structure/chain_sum.h"
#include "base/exp.h"
#include "base/vector.h"
#include "structure/chain_lanes.h"

enum { PAIRS_AT_ONCE = 4 };
static const double LOG_2 = 0.69314718055994530942;

struct scaled {
    size_t labels, stride;
    float *row;      /* [length][stride] R, later G */
    float *forward;  /* [length][stride] */
    float *inverse;  /* [length] 1 / sum of forward */
    float *pair;     /* [labels: previous][stride] E */
    float *turned;   /* [labels][stride: previous] E, for the way back */
    float *count;    /* [stride][stride] */
    float *backward; /* [stride] */
    float *largest;  /* [stride] largest backward values seen */
};

size_t md_chain_scaled_floats(md_shape shape, size_t length)
{
    const size_t stride = md_chain_slice(shape.labels);
    const size_t pairs = 2 * length * stride + md_chain_slice(length) + 2 * shape.labels * stride +
                         stride * stride + 2 * stride;
    const size_t triples = shape.order >= 2 ? md_chain_triples_floats(shape, length) : 0;
    return pairs > triples ? pairs : triples;
}

/* ---- exponentials ---- */

MD_VECTOR(double, exp_of_rows, (float *rows, size_t count, size_t stride, int lift),
          (rows, count, stride, lift))
{
    double total = 0;
    for (size_t t = 0; t < count; t++) {
        float *row = rows + t * stride;
        float highest[MD_LANES];
#pragma omp simd
        for (size_t i = 0; i < MD_LANES; i++)
            highest[i] = row[i];
        for (size_t first = MD_LANES; first < stride; first += MD_LANES) {
#pragma omp simd
            for (size_t i = 0; i < MD_LANES; i++)
                highest[i] = row[first + i] > highest[i] ? row[first + i] : highest[i];
        }
        const float most = md_lanes_highest(highest);
        for (size_t first = 0; first < stride; first += MD_LANES) {
#pragma omp simd
            for (size_t i = 0; i < MD_LANES; i++)
                row[first + i] = md_exp_lifted(row[first + i] - most, lift);
        }
        total += (double)most - lift * LOG_2;
    }
    return total;
}

double md_chain_exp(float *rows, size_t count, size_t stride, int lift)
{
    return exp_of_rows(rows, count, stride, lift);
}

/* Row and end scores are added in double precision, or large ones would blur small differences. */
static double add_ends(const md_chain *chain, size_t t, float *row)
{
    double most = -INFINITY;
    for (size_t c = 0; c < chain->labels; c++)
        most = md_larger(most, md_chain_row_score(chain, t, c));
    for (size_t c = 0; c < chain->labels; c++)
        row[c] = (float)(md_chain_row_score(chain, t, c) - most);
    return most;
}

double md_chain_exp_rows(const md_chain *chain, float *rows)
{
    const size_t last = chain->length - 1;
    double subtracted = 0;
    md_chain_pad(chain, chain->row, chain->length, chain->labels, -INFINITY, rows);
    if (chain->end != NULL)
        subtracted += add_ends(chain, 0, rows);
    if (chain->end != NULL && last > 0)
        subtracted += add_ends(chain, last, rows + last * chain->stride);
    return subtracted + exp_of_rows(rows, chain->length, chain->stride, 0);
}

double md_chain_exp_pairs(const md_chain *chain, size_t t, int lift, float *pair, float *local)
{
    const size_t labels = chain->labels;
    md_chain_pad(chain, md_chain_pairs(chain, t), labels, labels, -INFINITY, pair);
    const double subtracted = exp_of_rows(pair, 1, labels * chain->stride, lift);
    for (size_t p = 0; p < labels && local != NULL; p++)
        memcpy(local + p * labels, pair + p * chain->stride, labels * sizeof *local);
    return subtracted;
}

void md_chain_multiply(md_chain_product *product, double factor)
{
    product->rest *= factor;
    if (product->rest > 1e-200 && product->rest < 1e200)
        return;
    product->log += log(product->rest);
    product->rest = 1;
}

/* ---- rows ---- */

MD_VECTOR(float, sum_of_row, (const float *values, size_t stride), (values, stride))
{
    float sum[MD_WIDE] = {0};
    for (size_t first = 0; first < stride; first += MD_LANES) {
#pragma omp simd
        for (size_t i = 0; i < MD_LANES; i++)
            sum[i] += values[first + i];
    }
    return md_lanes_total(sum);
}

/* forward[c] = row[c] scale sum_p before[p] pair[p][c] for some columns, also added to total. */
MD_CHAIN_INLINE void forward_lanes(const struct scaled *work, const float *before, float scale,
                                   const float *row, float *forward, float *restrict total,
                                   size_t first, size_t lanes)
{
    float sum[MD_WIDE];
    md_lanes_sum(sum, before, 1, work->pair + first, work->stride, work->labels, lanes);
#pragma omp simd
    for (size_t i = 0; i < lanes; i++) {
        const float value = row[first + i] * (sum[i] * scale);
        forward[first + i] = value;
        total[i] += value;
    }
}

/* One row of forward; returns its sum. */
MD_VECTOR(float, forward_pairs,
          (const struct scaled *work, const float *before, float scale, const float *row,
           float *forward),
          (work, before, scale, row, forward))
{
    float total[MD_WIDE] = {0};
    size_t first = 0;
    for (; first + MD_WIDE <= work->stride; first += MD_WIDE)
        forward_lanes(work, before, scale, row, forward, total, first, MD_WIDE);
    if (first < work->stride)
        forward_lanes(work, before, scale, row, forward, total, first, MD_LANES);
    return md_lanes_total(total);
}

/* Marginals of a row whose backward values are there; returns their sum before they were made to
 * sum to 1, which would be 1 but for rounding. */
MD_VECTOR(float, finish_row_of_pairs,
          (const struct scaled *work, const float *forward, float *marginal),
          (work, forward, marginal))
{
    float sum[MD_WIDE] = {0};
    for (size_t first = 0; first < work->stride; first += MD_LANES) {
        const float *left = forward + first;
        const float *right = work->backward + first;
        float *largest = work->largest + first;
#pragma omp simd
        for (size_t i = 0; i < MD_LANES; i++) {
            sum[i] += left[i] * right[i];
            largest[i] = right[i] > largest[i] ? right[i] : largest[i];
        }
    }
    const float total = md_lanes_total(sum);
    md_lanes_multiply(marginal, forward, work->backward, 1 / total, work->labels);
    return total;
}

MD_CHAIN_INLINE void scale_row(float *row, const float *backward, float scale, size_t stride)
{
    for (size_t first = 0; first < stride; first += MD_LANES) {
#pragma omp simd
        for (size_t i = first; i < first + MD_LANES; i++)
            row[i] *= backward[i] * scale;
    }
}

MD_CHAIN_INLINE void back_lanes(const struct scaled *work, const float *row, size_t first,
                                size_t lanes)
{
    float sum[MD_WIDE];
    md_lanes_sum(sum, row, 1, work->turned + first, work->stride, work->labels, lanes);
#pragma omp simd
    for (size_t i = 0; i < lanes; i++)
        work->backward[first + i] = sum[i];
}

/* row = G; backward[p] = sum_c turned[c][p] row[c] */
MD_VECTOR_VOID(back_pairs, (const struct scaled *work, float scale, float *row), (work, scale, row))
{
    size_t first = 0;
    scale_row(row, work->backward, scale, work->stride);
    for (; first + MD_WIDE <= work->stride; first += MD_WIDE)
        back_lanes(work, row, first, MD_WIDE);
    if (first < work->stride)
        back_lanes(work, row, first, MD_LANES);
}

/* The same for a row with pairs of its own, whose E is where their marginals go. */
MD_VECTOR_VOID(back_local_pairs,
               (const struct scaled *work, float scale, float *row, const float *before,
                float *pair),
               (work, scale, row, before, pair))
{
    float *backward = work->backward;
    scale_row(row, backward, scale, work->stride);
    for (size_t p = 0; p < work->labels; p++, pair += work->labels) {
        const float weight = before[p];
        float sum = 0;
#pragma omp simd reduction(+ : sum)
        for (size_t c = 0; c < work->labels; c++) {
            const float term = pair[c] * row[c];
            sum += term;
            pair[c] = weight * term;
        }
        backward[p] = sum;
    }
}

/* count[p][c] = sum_t forward[t][p] row[t+1][c] for a few p and rows t at once. */
MD_VECTOR_VOID(count_steps, (const struct scaled *work, size_t from, size_t rows),
               (work, from, rows))
{
    const size_t stride = work->stride;
    const float *forward = work->forward + from * stride;
    const float *after = work->row + (from + 1) * stride;
    for (size_t p = 0; p < work->labels; p += PAIRS_AT_ONCE)
        for (size_t first = 0; first < stride; first += MD_LANES) {
            float sum[PAIRS_AT_ONCE][MD_LANES] = {{0}};
            for (size_t t = 0; t < rows; t++)
                for (size_t k = 0; k < PAIRS_AT_ONCE; k++) {
#pragma omp simd
                    for (size_t i = 0; i < MD_LANES; i++)
                        sum[k][i] += forward[t * stride + p + k] * after[t * stride + first + i];
                }
            for (size_t k = 0; k < PAIRS_AT_ONCE; k++) {
                float *count = work->count + (p + k) * stride + first;
#pragma omp simd
                for (size_t i = 0; i < MD_LANES; i++)
                    count[i] = sum[k][i];
            }
        }
}

/* pair[p][c] += count[p][c] E[p][c] */
MD_VECTOR_VOID(collect_pairs, (const struct scaled *work, float *pair), (work, pair))
{
    for (size_t p = 0; p < work->labels; p++)
        md_lanes_add_product(pair + p * work->labels, work->count + p * work->stride,
                             work->pair + p * work->stride, work->labels);
}

/* ---- both ways ---- */

static struct scaled make_work(const md_chain *chain, float *scratch)
{
    const size_t rows = chain->length * chain->stride;
    struct scaled work = {.labels = chain->labels, .stride = chain->stride};
    work.row = md_chain_take(&scratch, rows);
    work.forward = md_chain_take(&scratch, rows);
    work.inverse = md_chain_take(&scratch, chain->length);
    work.pair = md_chain_take(&scratch, chain->labels * chain->stride);
    work.turned = md_chain_take(&scratch, chain->labels * chain->stride);
    work.count = md_chain_take(&scratch, chain->stride * chain->stride);
    work.backward = md_chain_take(&scratch, chain->stride);
    work.largest = md_chain_take(&scratch, chain->stride);
    memset(work.turned, 0, chain->labels * chain->stride * sizeof *work.turned);
    memset(work.backward, 0, 2 * chain->stride * sizeof *work.backward);
    return work;
}

/* False where a row's sum is not to be trusted. */
static bool go_forward(const md_chain *chain, const struct scaled *work,
                       const md_chain_counts *counts, double *log_sum)
{
    const size_t stride = work->stride;
    const size_t step = chain->pair_step;
    md_chain_product product = {.log = md_chain_exp_rows(chain, work->row), .rest = 1};
    if (step == 0) {
        product.log += (double)(chain->length - 1) *
                       md_chain_exp_pairs(chain, 1, MD_CHAIN_LIFT, work->pair, NULL);
        md_chain_turn(chain, work->pair, work->turned);
    }
    memcpy(work->forward, work->row, stride * sizeof *work->forward);
    float sum = sum_of_row(work->forward, stride);
    for (size_t t = 0;;) {
        work->inverse[t] = 1 / sum;
        md_chain_multiply(&product, (double)sum);
        if (!(sum >= (t == 0 ? 1 : MD_CHAIN_SMALLEST * MD_CHAIN_LIFTED)))
            return false;
        if (++t == chain->length)
            break;
        if (step > 0)
            product.log += md_chain_exp_pairs(chain, t, MD_CHAIN_LIFT, work->pair,
                                              counts->pair + (t - 1) * step);
        float *forward = work->forward + t * stride;
        sum = forward_pairs(work, forward - stride, work->inverse[t - 1], work->row + t * stride,
                            forward);
    }
    *log_sum = product.log + log(product.rest);
    return true;
}

/* False where probabilities that matter may have been lost. */
static bool go_back(const md_chain *chain, const struct scaled *work, const md_chain_counts *counts)
{
    const size_t stride = work->stride;
    float correction = 1; /* of rounding, taken from the row after: nothing need wait for it */
    for (size_t c = 0; c < work->labels; c++)
        work->backward[c] = work->inverse[chain->length - 1];
    for (size_t t = chain->length; t-- > 0;) {
        const float *forward = work->forward + t * stride;
        const float sum = finish_row_of_pairs(work, forward, counts->row + t * work->labels);
        if (!(sum > 0.5f && sum < 2.0f))
            return false;
        if (t == 0)
            break;
        const float scale = correction * work->inverse[t - 1];
        if (chain->pair_step == 0)
            back_pairs(work, scale, work->row + t * stride);
        else
            back_local_pairs(work, scale, work->row + t * stride, forward - stride,
                             counts->pair + (t - 1) * chain->pair_step);
        correction = 1 / sum;
    }
    for (size_t c = 0; c < work->labels; c++)
        if (work->largest[c] > MD_CHAIN_LARGEST)
            return false;
    return true;
}

static void count_pairs(const md_chain *chain, const struct scaled *work, float *pair)
{
    const size_t steps = chain->length - 1;
    memset(pair, 0, work->labels * work->labels * sizeof *pair);
    for (size_t from = 0; from < steps; from += MD_CHAIN_ROWS_KEPT) {
        const size_t rest = steps - from;
        count_steps(work, from, rest < MD_CHAIN_ROWS_KEPT ? rest : MD_CHAIN_ROWS_KEPT);
        collect_pairs(work, pair);
    }
}

/* Without pairs each row is by itself. */
static double sum_rows(const md_chain *chain, const struct scaled *work, float *marginal)
{
    md_chain_product product = {.log = md_chain_exp_rows(chain, work->row), .rest = 1};
    for (size_t t = 0; t < chain->length; t++) {
        const float *row = work->row + t * chain->stride;
        const float sum = sum_of_row(row, chain->stride);
        md_chain_multiply(&product, (double)sum);
        for (size_t c = 0; c < chain->labels; c++)
            marginal[t * chain->labels + c] = row[c] / sum;
    }
    return product.log + log(product.rest);
}

bool md_chain_scaled_sum(const md_chain *chain, const md_chain_counts *counts, float *scratch,
                         double *log_sum)
{
    if (chain->order == 2)
        return md_chain_triples_sum(chain, counts, scratch, log_sum);
    const struct scaled work = make_work(chain, scratch);
    if (chain->order == 0) {
        *log_sum = sum_rows(chain, &work, counts->row);
        return true;
    }
    if (!go_forward(chain, &work, counts, log_sum) || !go_back(chain, &work, counts))
        return false;
    if (chain->pair_step == 0)
        count_pairs(chain, &work, counts->pair);
    return true;
}
