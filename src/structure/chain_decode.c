/* SPDX-License-Identifier: BSD-3-Clause */
/* Viterbi for chains. best[t][c] is the highest score of the first t+1 rows when the last label is
 * c; with order 2, best[t][b][c] when the last two are b and c. The inner loops run over c in
 * blocks of MD_LANES whose maxima stay in registers. There are no back pointers: on the way back
 * only the labels of the best path are searched for.
 *
 * Scores of long sequences outgrow single precision, so each row is counted from the score of some
 * state of the row before; states of one row differ only by what a few parts can change. */
#include "base/vector.h"
#include "structure/chain_lanes.h"

struct table {
    size_t labels, stride;
    float *row;    /* [length][stride]: row scores, ends and costs; -inf: against what is given */
    float *best;   /* [length][stride], or [length][labels][stride] */
    float *pair;   /* [labels][stride] */
    float *triple; /* [labels: previous][labels: one before][stride] */
};

size_t md_chain_decode_floats(md_shape shape, size_t length)
{
    const size_t stride = md_chain_slice(shape.labels);
    const size_t states = (shape.order >= 2 ? shape.labels : 1) * stride;
    return length * (stride + states) + shape.labels * stride +
           (shape.order >= 2 ? shape.labels * shape.labels * stride : 0);
}

static struct table make_table(const md_chain *chain, float *scratch)
{
    const size_t labels = chain->labels;
    const size_t stride = chain->stride;
    const size_t states = (chain->order >= 2 ? labels : 1) * stride;
    struct table table = {.labels = labels, .stride = stride};
    table.row = md_chain_take(&scratch, chain->length * stride);
    table.best = md_chain_take(&scratch, chain->length * states);
    table.pair = md_chain_take(&scratch, labels * stride);
    if (chain->order >= 1 && chain->pair_step == 0)
        md_chain_pad(chain, chain->pair, labels, labels, 0, table.pair);
    if (chain->order < 2)
        return table;
    table.triple = md_chain_take(&scratch, labels * labels * stride);
    for (size_t b = 0; b < labels; b++)
        md_chain_pad(chain, chain->triple + b * labels, labels, labels * labels, 0,
                     table.triple + b * labels * stride);
    return table;
}

/* ---- scores of rows ---- */

static void copy_rows(const md_chain *chain, float *rows)
{
    const size_t labels = chain->labels;
    const size_t last = chain->length - 1;
    md_chain_pad(chain, chain->row, chain->length, labels, 0, rows);
    for (size_t c = 0; c < labels && chain->end != NULL; c++) {
        rows[c] = (float)((double)rows[c] + (double)chain->end[c]);
        rows[last * chain->stride + c] += chain->end[labels + c];
    }
}

MD_VECTOR_VOID(add_costs, (float *rows, size_t length, size_t stride, const int32_t *gold),
               (rows, length, stride, gold))
{
    for (size_t t = 0; t < length; t++) {
        float *row = rows + t * stride;
        const float right = row[gold[t]];
#pragma omp simd
        for (size_t c = 0; c < stride; c++)
            row[c] += 1;
        row[gold[t]] = right;
    }
}

static void exclude_all_but(const int32_t *given, float *rows, const md_chain *chain)
{
    for (size_t t = 0; t < chain->length; t++)
        for (size_t c = 0; c < chain->labels && given[t] >= 0; c++)
            if (c != (size_t)given[t])
                rows[t * chain->stride + c] = -INFINITY;
}

/* A label of row t that is not excluded. */
static size_t some_label(const int32_t *given, size_t t)
{
    return given != NULL && given[t] >= 0 ? (size_t)given[t] : 0;
}

static size_t top_of(const float *values, size_t count)
{
    size_t top = 0;
    for (size_t c = 1; c < count; c++)
        if (values[c] > values[top])
            top = c;
    return top;
}

/* ---- order 1 ---- */

/* best[c] = row[c] - base + max_p before[p] + pair[p][c]; that maximum replaces row[c]. */
MD_CHAIN_INLINE void step_pair_lanes(const struct table *table, const float *before, float base,
                                     float *row, float *best, size_t first, size_t lanes)
{
    float most[MD_WIDE];
    md_lanes_most(most, before, 1, table->pair + first, table->stride, table->labels, lanes);
#pragma omp simd
    for (size_t i = 0; i < lanes; i++) {
        best[first + i] = (row[first + i] - base) + most[i];
        row[first + i] = most[i];
    }
}

MD_VECTOR_VOID(step_pairs,
               (const struct table *table, const float *before, float base, float *row,
                float *best),
               (table, before, base, row, best))
{
    size_t first = 0;
    for (; first + MD_WIDE <= table->stride; first += MD_WIDE)
        step_pair_lanes(table, before, base, row, best, first, MD_WIDE);
    if (first < table->stride)
        step_pair_lanes(table, before, base, row, best, first, MD_LANES);
}

static void decode_pairs(const md_chain *chain, struct table *table, const int32_t *given,
                         int32_t *labels)
{
    const size_t stride = table->stride;
    memcpy(table->best, table->row, stride * sizeof *table->best);
    for (size_t t = 1; t < chain->length; t++) {
        const float *before = table->best + (t - 1) * stride;
        if (chain->pair_step > 0)
            md_chain_pad(chain, md_chain_pairs(chain, t), table->labels, table->labels, 0,
                         table->pair);
        step_pairs(table, before, before[some_label(given, t - 1)], table->row + t * stride,
                   table->best + t * stride);
    }
    size_t label = top_of(table->best + (chain->length - 1) * stride, table->labels);
    labels[chain->length - 1] = (int32_t)label;
    for (size_t t = chain->length - 1; t > 0; t--) {
        const float *before = table->best + (t - 1) * stride;
        const float *pair = md_chain_pairs(chain, t) + label;
        const float most = table->row[t * stride + label];
        size_t p = 0; /* the first that gave the maximum: the same sum, so the same bits */
        while (p + 1 < table->labels && before[p] + pair[p * table->labels] != most)
            p++;
        label = p;
        labels[t - 1] = (int32_t)label;
    }
}

/* ---- order 2 ---- */

/* best[b][c] = row[c] - base + pair[b][c] + max_a before[a][b] + triple[a][b][c] */
MD_CHAIN_INLINE void step_triple_lanes(const struct table *table, const float *before, float base,
                                       const float *row, float *best, size_t b, size_t first,
                                       size_t lanes)
{
    const size_t stride = table->stride;
    const float *pair = table->pair + b * stride + first;
    float *out = best + b * stride + first;
    float most[MD_WIDE];
    md_lanes_most(most, before + b, stride, table->triple + b * table->labels * stride + first,
                  stride, table->labels, lanes);
#pragma omp simd
    for (size_t i = 0; i < lanes; i++)
        out[i] = (row[first + i] - base) + (pair[i] + most[i]);
}

MD_VECTOR_VOID(step_triples,
               (const struct table *table, const float *before, float base, const float *row,
                float *best),
               (table, before, base, row, best))
{
    for (size_t b = 0; b < table->labels; b++) {
        size_t first = 0;
        for (; first + MD_WIDE <= table->stride; first += MD_WIDE)
            step_triple_lanes(table, before, base, row, best, b, first, MD_WIDE);
        if (first < table->stride)
            step_triple_lanes(table, before, base, row, best, b, first, MD_LANES);
    }
}

/* The states of row 1: both labels. */
static void start_triples(const struct table *table, float *best)
{
    const size_t stride = table->stride;
    for (size_t b = 0; b < table->labels; b++)
        for (size_t c = 0; c < stride; c++)
            best[b * stride + c] =
                table->row[b] + table->row[stride + c] + table->pair[b * stride + c];
}

static void trace_triples(const md_chain *chain, const struct table *table, int32_t *labels)
{
    const size_t count = table->labels;
    const size_t stride = table->stride;
    const float *best = table->best + (chain->length - 1) * count * stride;
    size_t b = 0;
    size_t c = 0;
    for (size_t last = 0; last < count; last++)
        for (size_t previous = 0; previous < count; previous++)
            if (best[previous * stride + last] > best[b * stride + c]) {
                b = previous;
                c = last;
            }
    labels[chain->length - 1] = (int32_t)c;
    labels[chain->length - 2] = (int32_t)b;
    for (size_t t = chain->length - 1; t > 1; t--) {
        const float *before = table->best + (t - 1) * count * stride + b;
        const float *triple = chain->triple + b * count + c;
        size_t top = 0;
        float most = before[0] + triple[0];
        for (size_t a = 1; a < count; a++) {
            const float value = before[a * stride] + triple[a * count * count];
            if (value > most) {
                most = value;
                top = a;
            }
        }
        c = b;
        b = top;
        labels[t - 2] = (int32_t)top;
    }
}

static void decode_triples(const md_chain *chain, struct table *table, const int32_t *given,
                           int32_t *labels)
{
    const size_t stride = table->stride;
    const size_t states = table->labels * stride;
    for (size_t t = 1; t < chain->length; t++) {
        const float *before = table->best + (t - 1) * states;
        if (chain->pair_step > 0)
            md_chain_pad(chain, md_chain_pairs(chain, t), table->labels, table->labels, 0,
                         table->pair);
        if (t == 1)
            start_triples(table, table->best + states);
        else
            step_triples(table, before,
                         before[some_label(given, t - 2) * stride + some_label(given, t - 1)],
                         table->row + t * stride, table->best + t * states);
    }
    trace_triples(chain, table, labels);
}

void md_chain_decode(const md_chain *chain, const int32_t *given, const int32_t *gold,
                     int32_t *best, float *scratch)
{
    struct table table = make_table(chain, scratch);
    copy_rows(chain, table.row);
    if (gold != NULL)
        add_costs(table.row, chain->length, chain->stride, gold);
    if (given != NULL)
        exclude_all_but(given, table.row, chain);
    if (chain->order == 2)
        decode_triples(chain, &table, given, best);
    else if (chain->order == 1)
        decode_pairs(chain, &table, given, best);
    else
        for (size_t t = 0; t < chain->length; t++)
            best[t] = (int32_t)top_of(table.row + t * chain->stride, chain->labels);
}
