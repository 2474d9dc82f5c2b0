/* SPDX-License-Identifier: BSD-3-Clause */
/* Kernel rows times changes, added to scores. Values of changed rows are kept, or computed and
 * written down for once; then every thread goes down four columns of them and has the sums of all
 * labels in registers. Sums are made in one order, so a run has one result.
 *
 * Bytes and flops of c changed rows, n columns, f kernels, L labels: reads 2 c n f (half precision)
 * and reads and writes 8 n f L; 2 c n f L flops to add up. */
#include "cuda/scores.h"

enum { WIDTH = 128, FOUR = 4, DOWN = 64 }; /* threads, columns of each, rows at a time */

/* ---- adding up ---- */

struct adding {
    const void *const *place; /* [rows] values: [kernels][stride] */
    const unsigned *index;    /* [rows] of the roots on the left */
    const float *const *left_root, *const *right_root;
    const unsigned *slot_start, *slot_kernel;
    const float *weight;
    const float *change;    /* [slots][labels][change_stride] */
    float *scores;          /* [slots][labels][stride] */
    const unsigned *column; /* [columns] rows that the columns are; NULL: the same numbers */
    unsigned columns;
    unsigned rows, labels, first_change, change_stride;
    size_t stride;
};

static __device__ __forceinline__ float4 load_four(const float *from)
{
    return *(const float4 *)from;
}

static __device__ __forceinline__ float4 load_four(const __half *from)
{
    const uint2 bits = *(const uint2 *)from;
    const float2 low = __half22float2(*(const __half2 *)&bits.x);
    const float2 high = __half22float2(*(const __half2 *)&bits.y);
    return make_float4(low.x, low.y, high.x, high.y);
}

static __device__ __forceinline__ float root_of(const float *const *roots, unsigned m, size_t row)
{
    return roots[m] != NULL ? roots[m][row] : 1.0f;
}

static __device__ __forceinline__ float root_at(const adding &a, unsigned m, size_t column)
{
    return a.right_root[m][a.column[column < a.columns ? column : a.columns - 1]];
}

static __device__ __forceinline__ float4 roots_of(const adding &a, unsigned m, size_t column)
{
    if (a.right_root[m] == NULL)
        return make_float4(1, 1, 1, 1);
    if (a.column == NULL)
        return load_four(a.right_root[m] + column);
    return make_float4(root_at(a, m, column), root_at(a, m, column + 1), root_at(a, m, column + 2),
                       root_at(a, m, column + 3));
}

/* The changes of some rows, with the roots on the left. */
template <int LABELS>
static __device__ void take_changes(const adding &a, unsigned first, unsigned rows, unsigned m,
                                    unsigned first_label, float (*change)[LABELS],
                                    const void **place)
{
    const unsigned slot = blockIdx.y;
    for (unsigned e = threadIdx.x; e < rows * LABELS; e += WIDTH) {
        const unsigned i = e % rows;
        const unsigned l = e / rows;
        const unsigned row = a.first_change + first + i;
        const float own =
            first_label + l < a.labels
                ? a.change[((size_t)slot * a.labels + first_label + l) * a.change_stride + row]
                : 0;
        change[i][l] = own * a.weight[m] * root_of(a.left_root, m, a.index[first + i]);
    }
    for (unsigned i = threadIdx.x; i < rows; i += WIDTH)
        place[i] = a.place[first + i];
}

template <typename T, int LABELS>
static __global__ void __launch_bounds__(WIDTH) add_rows(const adding a)
{
    __shared__ float change[DOWN][LABELS];
    __shared__ const void *place[DOWN];
    const size_t column = ((size_t)blockIdx.x * WIDTH + threadIdx.x) * FOUR;
    const bool is_there = column < (a.column != NULL ? a.columns : a.stride);
    const unsigned first_label = blockIdx.z * LABELS;
    for (unsigned k = a.slot_start[blockIdx.y]; k < a.slot_start[blockIdx.y + 1]; k++) {
        const unsigned m = a.slot_kernel[k];
        const size_t at = m * a.stride + column;
        float4 sum[LABELS];
        for (int l = 0; l < LABELS; l++)
            sum[l] = make_float4(0, 0, 0, 0);
        for (unsigned first = 0; first < a.rows; first += DOWN) {
            const unsigned rows = a.rows - first < DOWN ? a.rows - first : (unsigned)DOWN;
            __syncthreads();
            take_changes<LABELS>(a, first, rows, m, first_label, change, place);
            __syncthreads();
#pragma unroll 4
            for (unsigned i = 0; is_there && i < rows; i++) {
                const float4 value = load_four((const T *)place[i] + at);
#pragma unroll
                for (int l = 0; l < LABELS; l++) {
                    sum[l].x = fmaf(change[i][l], value.x, sum[l].x);
                    sum[l].y = fmaf(change[i][l], value.y, sum[l].y);
                    sum[l].z = fmaf(change[i][l], value.z, sum[l].z);
                    sum[l].w = fmaf(change[i][l], value.w, sum[l].w);
                }
            }
        }
        if (!is_there)
            continue;
        const float4 root = roots_of(a, m, column);
#pragma unroll
        for (int l = 0; l < LABELS; l++) {
            if (first_label + l >= a.labels)
                continue;
            float4 *score =
                (float4 *)(a.scores + ((size_t)blockIdx.y * a.labels + first_label + l) * a.stride +
                           column);
            float4 now = *score;
            now.x += sum[l].x * root.x;
            now.y += sum[l].y * root.y;
            now.z += sum[l].z * root.z;
            now.w += sum[l].w * root.w;
            *score = now;
        }
    }
}

template <typename T, int LABELS>
static void launch_adding(const adding &a, unsigned slots, cudaStream_t stream)
{
    const dim3 grid((unsigned)card_pieces(a.stride, WIDTH * FOUR), slots,
                    (unsigned)card_pieces(a.labels, LABELS));
    add_rows<T, LABELS><<<grid, WIDTH, 0, stream>>>(a);
}

template <typename T> static void add_labels(const adding &a, unsigned slots, cudaStream_t stream)
{
    if (a.labels <= 1)
        launch_adding<T, 1>(a, slots, stream);
    else if (a.labels <= 2)
        launch_adding<T, 2>(a, slots, stream);
    else if (a.labels <= 4)
        launch_adding<T, 4>(a, slots, stream);
    else if (a.labels <= 8)
        launch_adding<T, 8>(a, slots, stream);
    else if (a.labels <= 10)
        launch_adding<T, 10>(a, slots, stream);
    else
        launch_adding<T, 16>(a, slots, stream);
}

/* ---- what goes with a call ---- */

/* Where its parts are in a buffer. */
struct parcel {
    void **place, **fresh_place;
    unsigned *index, *fresh_index;
    float *change;
    size_t bytes;
};

static size_t bytes_of(size_t rows, size_t changes)
{
    return rows * 2 * (sizeof(void *) + sizeof(unsigned)) + changes * sizeof(float);
}

static parcel open_parcel(char *buffer, size_t rows, size_t changes)
{
    parcel p;
    p.place = (void **)buffer;
    p.fresh_place = p.place + rows;
    p.index = (unsigned *)(p.fresh_place + rows);
    p.fresh_index = p.index + rows;
    p.change = (float *)(p.fresh_index + rows);
    p.bytes = bytes_of(rows, changes);
    return p;
}

/* The next buffer, once what was sent from it has arrived. */
static bool take_turn(card_scores *s, char *message)
{
    s->turn = (s->turn + 1) % CARD_SENT;
    return card_failed(cudaEventSynchronize(s->was_sent[s->turn]), "waiting for it", message);
}

static bool send(card_scores *s, const parcel *p, char *message)
{
    cudaStream_t stream = s->bank->on->stream;
    return card_failed(cudaMemcpyAsync(s->received, s->sent[s->turn], p->bytes,
                                       cudaMemcpyHostToDevice, stream),
                       "copying changes to it", message) ||
           card_failed(cudaEventRecord(s->was_sent[s->turn], stream), "copying changes to it",
                       message);
}

size_t card_parcel_bytes(const card_scores *s, size_t rows)
{
    return bytes_of(rows, (size_t)s->slots * s->labels * rows);
}

static char *scratch_row(const card_scores *s, size_t i)
{
    return s->scratch + i * card_scratch_bytes(s->bank);
}

static parcel received(const card_scores *s, size_t rows)
{
    return open_parcel(s->received, rows, (size_t)s->slots * s->labels * rows);
}

/* Adds the changes of a portion, whose values are at place. */
static bool add_values(card_scores *s, adding a, const card_waiting *w, const card_portion *p,
                       char *message)
{
    const parcel there = received(s, w->rows);
    cudaStream_t stream = s->bank->on->stream;
    a.index = there.index + p->first;
    a.left_root = w->left.root;
    a.right_root = s->bank->own.rows.root;
    a.slot_start = s->slot_start;
    a.slot_kernel = s->slot_kernel;
    a.weight = s->weight;
    a.change = there.change;
    a.rows = p->count;
    a.labels = s->labels;
    a.first_change = p->first;
    a.change_stride = (unsigned)w->rows;
    if (w->precise)
        add_labels<float>(a, s->slots, stream);
    else
        add_labels<__half>(a, s->slots, stream);
    return card_failed(cudaGetLastError(), "adding kernel values", message);
}

static bool add_portion(card_scores *s, const card_waiting *w, const card_portion *p, char *message)
{
    const card_bank *bank = s->bank;
    const parcel there = received(s, w->rows);
    card_rows left = w->left;
    adding a;
    memset(&a, 0, sizeof a);
    left.index = there.fresh_index + p->fresh_first;
    left.rows = p->fresh;
    a.place = there.place + p->first;
    a.scores = s->scores;
    a.stride = bank->stride;
    return card_values(bank, left, w->own, w->precise,
                       (void *const *)(there.fresh_place + p->fresh_first), bank->on->stream,
                       message) ||
           add_values(s, a, w, p, message);
}

/* What was sent is added; everything else that is done to scores comes after it. */
bool card_settle(card_scores *s, char *message)
{
    bool failed = false;
    pthread_mutex_lock(&s->settling);
    const card_waiting w = s->changes;
    for (size_t p = 0; !failed && w.rows > 0 && p < w.count; p++)
        failed = add_portion(s, &w, &s->portions[p], message);
    if (failed)
        card_bank_forget(s->bank);
    if (w.rows > 0) {
        s->changes.rows = 0;
        s->bank->waiting = NULL;
    }
    pthread_mutex_unlock(&s->settling);
    return failed;
}

/* Rows that are to be kept are there before other scores of the bank take them for kept. */
static bool settle_others(const card_scores *s, char *message)
{
    card_scores *waiting = s->bank->waiting;
    return waiting != NULL && waiting != s && card_settle(waiting, message);
}

/* Sends changes, and where values of their rows are, or where they go. rows: of the bank, NULL:
 * others. A portion is added up by itself: it ends at a place that does not depend on how many rows
 * are kept, or scores would depend on the memory that is free. Of what is added once and for all,
 * as row sums are, nothing is kept. */
bool card_send(card_scores *s, const size_t *rows, size_t count, const float *change,
               card_rows left, bool precise, char *message)
{
    card_bank *bank = s->bank;
    const size_t changes = (size_t)s->slots * s->labels * count;
    const bool keeps = rows != NULL && s->most_open > 0 && precise == bank->precise;
    if (settle_others(s, message) || card_settle(s, message) || take_turn(s, message))
        return true;
    const parcel here = open_parcel(s->sent[s->turn], count, changes);
    card_portion *portions = s->portions;
    size_t used = 0;
    size_t in_scratch = 0;
    unsigned fresh = 0;
    memcpy(here.change, change, changes * sizeof(float));
    memset(portions, 0, sizeof *portions);
    for (size_t i = 0; i < count; i++) {
        if (i > 0 && i % s->scratch_rows == 0) { /* what is not kept must be added up first */
            in_scratch = 0;
            portions[++used] = {(unsigned)i, 0, fresh, 0};
        }
        const size_t row = rows != NULL ? rows[i] : i;
        void *values = keeps ? bank->kept[row] : NULL;
        const bool known = values != NULL;
        if (!known && keeps)
            values = card_bank_keep(bank, row);
        if (values == NULL)
            values = scratch_row(s, in_scratch++);
        here.place[i] = values;
        here.index[i] = (unsigned)row;
        portions[used].count++;
        if (!known) {
            here.fresh_place[fresh] = values;
            here.fresh_index[fresh++] = (unsigned)row;
            portions[used].fresh++;
        }
    }
    bank->computed += fresh;
    bank->found += count - fresh;
    if (send(s, &here, message)) {
        card_bank_forget(bank);
        return true;
    }
    bank->waiting = s;
    s->changes.rows = count;
    s->changes.left = left;
    s->changes.own = rows != NULL;
    s->changes.precise = precise;
    s->changes.count = used + 1;
    return false;
}

/* ---- open rows ---- */

/* The scores of open rows with the changes that are on their way, which all other rows get while
 * nobody waits for them. */
bool card_enter(card_scores *s, unsigned count, char *message)
{
    const card_waiting *w = &s->changes;
    card_rows left = w->left;
    card_rows right = s->bank->own.rows;
    card_portion all;
    adding a;
    memset(&a, 0, sizeof a);
    memset(&all, 0, sizeof all);
    left.index = received(s, w->rows).index;
    left.rows = (unsigned)w->rows;
    right.index = s->entered_index;
    right.rows = count;
    all.count = (unsigned)w->rows;
    a.place = s->entered_place;
    a.scores = s->entered_scores;
    a.stride = s->most_open;
    a.column = s->entered_index;
    a.columns = count;
    return card_values_of(s->bank, left, right, s->most_open, s->entered_place, s->bank->on->stream,
                          message) ||
           add_values(s, a, w, &all, message);
}

bool card_can_enter(const card_scores *s)
{
    return s->changes.rows > 0 && s->changes.rows <= CARD_ENTERED &&
           s->changes.precise == s->bank->precise && s->most_open % FOUR == 0;
}
