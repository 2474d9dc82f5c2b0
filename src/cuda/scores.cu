/* SPDX-License-Identifier: BSD-3-Clause */
/* Scores: kernel rows times changes, added up. Values of changed rows are kept, or computed and
 * written down for once; then every thread goes down four columns of them and has the sums of all
 * labels in registers. Sums are made in one order, so a run has one result.
 *
 * Bytes and flops of c changed rows, n columns, f kernels, L labels: reads 2 c n f (half precision)
 * and reads and writes 8 n f L; 2 c n f L flops to add up. */
#include "cuda/bank.h"

enum { SENT = 2 };                                /* buffers that take turns */
enum { WIDTH = 128, FOUR = 4, DOWN = 64 };        /* threads, columns of each, rows at a time */
static const size_t SCRATCH = (size_t)1 << 30;    /* bytes for values that are not kept */

struct open_rows {
    unsigned *index, *sent_index; /* [most_open] on the card, pinned */
    float *values, *sent_values;  /* [slots][most_open][most_open] on the card, pinned */
    unsigned count;
    cudaEvent_t done;
};

struct card_scores {
    card_bank *bank;
    card_pool pool;
    unsigned slots, labels, most, most_open;
    bool mixed;
    unsigned *slot_of;     /* [kernels] */
    unsigned *slot_start;  /* [slots + 1] of each slot's kernels: */
    unsigned *slot_kernel; /* [kernels] */
    float *weight;         /* [kernels] */
    float *scores;         /* [slots][labels][stride of the bank] */
    char *scratch;         /* values that are not kept */
    unsigned scratch_rows;
    card_room others;
    bool has_others;

    /* what goes with a call: pointers, indices, changes, side by side */
    char *received;
    char *sent[SENT];
    cudaEvent_t was_sent[SENT];
    unsigned turn;

    open_rows open[2];
    unsigned now;         /* of these: what is open; the other one is expected */
    bool expects;
    unsigned *open_index; /* [most_open] pinned, of the rows whose scores are asked for */
    float *open_scores;   /* [slots][labels][most_open] pinned; the card writes there */
    cudaEvent_t opened;
};

/* ---- adding up ---- */

struct adding {
    const void *const *place; /* [rows] values: [kernels][stride] */
    const unsigned *index;    /* [rows] of the roots on the left */
    const float *const *left_root, *const *right_root;
    const unsigned *slot_start, *slot_kernel;
    const float *weight;
    const float *change; /* [slots][labels][change_stride] */
    float *scores;       /* [slots][labels][stride] */
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

static __device__ __forceinline__ float root_of(const float *const *roots, unsigned m,
                                                size_t row)
{
    return roots[m] != NULL ? roots[m][row] : 1.0f;
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
        const float own = first_label + l < a.labels
                              ? a.change[((size_t)slot * a.labels + first_label + l) *
                                             a.change_stride +
                                         row]
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
    const bool is_there = column < a.stride;
    const unsigned first_label = blockIdx.z * LABELS;
    for (unsigned k = a.slot_start[blockIdx.y]; k < a.slot_start[blockIdx.y + 1]; k++) {
        const unsigned m = a.slot_kernel[k];
        const size_t at = m * a.stride + column;
        float4 sum[LABELS];
        for (int l = 0; l < LABELS; l++)
            sum[l] = make_float4(0, 0, 0, 0);
        for (unsigned first = 0; first < a.rows; first += DOWN) {
            const unsigned rows = a.rows - first < DOWN ? a.rows - first : DOWN;
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
        const float4 root = a.right_root[m] != NULL ? load_four(a.right_root[m] + column)
                                                    : make_float4(1, 1, 1, 1);
#pragma unroll
        for (int l = 0; l < LABELS; l++) {
            if (first_label + l >= a.labels)
                continue;
            float4 *score = (float4 *)(a.scores +
                                       ((size_t)blockIdx.y * a.labels + first_label + l) *
                                           a.stride +
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

static parcel open_parcel(char *buffer, size_t rows, size_t changes)
{
    parcel p;
    p.place = (void **)buffer;
    p.fresh_place = p.place + rows;
    p.index = (unsigned *)(p.fresh_place + rows);
    p.fresh_index = p.index + rows;
    p.change = (float *)(p.fresh_index + rows);
    p.bytes = rows * 2 * (sizeof(void *) + sizeof(unsigned)) + changes * sizeof(float);
    return p;
}

/* The next buffer, once what was sent from it has arrived. */
static bool take_turn(card_scores *s, char *message)
{
    s->turn = (s->turn + 1) % SENT;
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

static char *scratch_row(const card_scores *s, size_t i)
{
    return s->scratch + i * card_row_bytes(s->bank);
}

/* Rows first .. first + count - 1 of a call, whose fresh ones come first among those of them. */
struct portion {
    unsigned first, count, fresh_first, fresh;
};

static bool add_portion(card_scores *s, const parcel *there, portion p, card_rows left, bool own,
                        size_t rows, char *message)
{
    const card_bank *bank = s->bank;
    cudaStream_t stream = bank->on->stream;
    adding a;
    memset(&a, 0, sizeof a);
    left.index = there->fresh_index + p.fresh_first;
    left.rows = p.fresh;
    if (card_values(bank, left, own, (void *const *)(there->fresh_place + p.fresh_first), stream,
                    message))
        return true;
    a.place = there->place + p.first;
    a.index = there->index + p.first;
    a.left_root = left.root;
    a.right_root = bank->own.rows.root;
    a.slot_start = s->slot_start;
    a.slot_kernel = s->slot_kernel;
    a.weight = s->weight;
    a.change = there->change;
    a.scores = s->scores;
    a.rows = p.count;
    a.labels = s->labels;
    a.first_change = p.first;
    a.change_stride = (unsigned)rows;
    a.stride = bank->stride;
    if (bank->precise)
        add_labels<float>(a, s->slots, stream);
    else
        add_labels<__half>(a, s->slots, stream);
    return card_failed(cudaGetLastError(), "adding kernel values", message);
}

/* The card is a thread's own choice, and threads that take steps side by side scale scores. */
static bool turn_to_card(const card_scores *s, char *message)
{
    return card_failed(cudaSetDevice(s->bank->on->number), "turning to it", message);
}

static bool is_nothing(const card_scores *s, size_t count)
{
    return count == 0 || s->bank->rows == 0 || s->slots == 0 || s->labels == 0;
}

/* Where values of the rows are, or where they go: portion by portion, as many as scratch memory can
 * take. rows: of the bank, NULL: others. */
static bool add_some(card_scores *s, const size_t *rows, size_t count, const float *change,
                     card_rows left, char *message)
{
    card_bank *bank = s->bank;
    const size_t changes = (size_t)s->slots * s->labels * count;
    if (take_turn(s, message))
        return true;
    const parcel here = open_parcel(s->sent[s->turn], count, changes);
    const parcel there = open_parcel(s->received, count, changes);
    portion portions[64];
    size_t used = 0;
    size_t in_scratch = 0;
    unsigned fresh = 0;
    memcpy(here.change, change, changes * sizeof(float));
    memset(portions, 0, sizeof portions);
    for (size_t i = 0; i < count; i++) {
        const size_t row = rows != NULL ? rows[i] : i;
        void *values = rows != NULL ? bank->kept[row] : NULL;
        const bool known = values != NULL;
        if (!known && rows != NULL)
            values = card_bank_keep(bank, row);
        if (values == NULL) {
            if (in_scratch == s->scratch_rows) { /* what it holds must be added up first */
                in_scratch = 0;
                used++;
                portions[used].first = (unsigned)i;
                portions[used].fresh_first = fresh;
            }
            values = scratch_row(s, in_scratch++);
        }
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
    if (send(s, &here, message))
        return true;
    for (size_t p = 0; p <= used; p++)
        if (add_portion(s, &there, portions[p], left, rows != NULL, count, message))
            return true;
    return false;
}

static int add(void *context, const size_t *rows, size_t count, const float *change, char *message)
{
    card_scores *s = (card_scores *)context;
    return !is_nothing(s, count) &&
           (turn_to_card(s, message) ||
            add_some(s, rows, count, change, s->bank->own.rows, message));
}

static int add_others(void *context, const md_device_rows *rows, const float *change,
                      char *message)
{
    card_scores *s = (card_scores *)context;
    if (is_nothing(s, rows->rows))
        return 0;
    if (turn_to_card(s, message))
        return 1;
    if (!s->has_others && card_room_make(&s->others, s->bank, &s->pool, s->most, message))
        return 1;
    s->has_others = true;
    return card_room_fill(&s->others, s->bank, rows, message) ||
           add_some(s, NULL, rows->rows, change, s->others.rows, message);
}

/* ---- open rows ---- */

static __global__ void gather_scores(const float *scores, size_t stride, const unsigned *index,
                                     unsigned count, unsigned lines, unsigned most, float *out)
{
    const unsigned e = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned line = e / count;
    const unsigned i = e % count;
    if (line < lines)
        out[(size_t)line * most + i] = scores[line * stride + index[i]];
}

/* Values of these rows with each other are on their way. */
static bool begin_values(card_scores *s, open_rows *open, const size_t *rows, size_t count,
                         char *message)
{
    cudaStream_t ahead = s->bank->on->ahead;
    const size_t all = (size_t)s->slots * s->most_open * s->most_open;
    card_square square;
    memset(&square, 0, sizeof square);
    open->count = (unsigned)count;
    for (size_t i = 0; i < count; i++)
        open->sent_index[i] = (unsigned)rows[i];
    square.slot_of = s->slot_of;
    square.weight = s->weight;
    square.slots = s->slots;
    square.most = s->most_open;
    square.mixed = s->mixed;
    square.values = open->values;
    return card_failed(cudaMemcpyAsync(open->index, open->sent_index, count * sizeof(unsigned),
                                       cudaMemcpyHostToDevice, ahead),
                       "copying rows to it", message) ||
           card_square_values(s->bank, open->index, (unsigned)count, &square, ahead, message) ||
           card_failed(cudaMemcpyAsync(open->sent_values, open->values, all * sizeof(float),
                                       cudaMemcpyDeviceToHost, ahead),
                       "copying values from it", message) ||
           card_failed(cudaEventRecord(open->done, ahead), "copying values from it", message);
}

static int expect(void *context, const size_t *rows, size_t count, char *message)
{
    card_scores *s = (card_scores *)context;
    if (count == 0 || count > s->most_open)
        return 0;
    if (turn_to_card(s, message))
        return 1;
    s->expects = !begin_values(s, &s->open[1 - s->now], rows, count, message);
    return !s->expects;
}

static bool is_expected(const card_scores *s, const size_t *rows, size_t count)
{
    const open_rows *open = &s->open[1 - s->now];
    bool same = s->expects && open->count == count;
    for (size_t i = 0; same && i < count; i++)
        same = open->sent_index[i] == rows[i];
    return same;
}

static int open_these(void *context, const size_t *rows, size_t count, md_device_opened *opened,
                      char *message)
{
    card_scores *s = (card_scores *)context;
    cudaStream_t stream = s->bank->on->stream;
    const unsigned lines = s->slots * s->labels;
    const bool known = is_expected(s, rows, count);
    opened->scores = s->open_scores;
    opened->values = s->open[1 - s->now].sent_values;
    if (count == 0 || lines == 0)
        return 0;
    if (turn_to_card(s, message))
        return 1;
    for (size_t i = 0; i < count; i++)
        s->open_index[i] = (unsigned)rows[i];
    gather_scores<<<(unsigned)card_pieces(lines * count, 256), 256, 0, stream>>>(
        s->scores, s->bank->stride, s->open_index, (unsigned)count, lines, s->most_open,
        s->open_scores);
    if (card_failed(cudaGetLastError(), "reading scores", message) ||
        card_failed(cudaEventRecord(s->opened, stream), "reading scores", message) ||
        (!known && begin_values(s, &s->open[1 - s->now], rows, count, message)) ||
        card_failed(cudaEventSynchronize(s->open[1 - s->now].done), "waiting for it", message) ||
        card_failed(cudaEventSynchronize(s->opened), "waiting for it", message))
        return 1;
    s->now = 1 - s->now;
    s->expects = false;
    return 0;
}

/* ---- whole scores ---- */

static float *scores_of(const card_scores *s, size_t slot)
{
    return s->scores + slot * s->labels * s->bank->stride;
}

static int read_scores(void *context, size_t slot, float *out, char *message)
{
    card_scores *s = (card_scores *)context;
    const size_t width = s->bank->rows * sizeof(float);
    cudaStream_t stream = s->bank->on->stream;
    if (turn_to_card(s, message))
        return 1;
    if (width > 0 && s->labels > 0 &&
        card_failed(cudaMemcpy2DAsync(out, width, scores_of(s, slot),
                                      s->bank->stride * sizeof(float), width, s->labels,
                                      cudaMemcpyDeviceToHost, stream),
                    "copying scores from it", message))
        return 1;
    return card_failed(cudaStreamSynchronize(stream), "waiting for it", message);
}

static int write_scores(void *context, size_t slot, const float *in, char *message)
{
    card_scores *s = (card_scores *)context;
    const size_t width = s->bank->rows * sizeof(float);
    return width > 0 && s->labels > 0 &&
           (turn_to_card(s, message) ||
            card_failed(cudaMemcpy2DAsync(scores_of(s, slot), s->bank->stride * sizeof(float), in,
                                          width, width, s->labels, cudaMemcpyHostToDevice,
                                          s->bank->on->stream),
                        "copying scores to it", message));
}

static __global__ void scale_scores(float *scores, size_t count, float factor)
{
    const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        scores[i] *= factor;
}

static int scale(void *context, size_t slot, size_t first, size_t count, float factor,
                 char *message)
{
    card_scores *s = (card_scores *)context;
    const size_t values = count * s->bank->stride;
    float *scores = scores_of(s, slot) + first * s->bank->stride;
    cudaStream_t stream = s->bank->on->stream;
    if (values == 0 || factor == 1)
        return 0;
    if (turn_to_card(s, message))
        return 1;
    if (factor == 0)
        return card_failed(cudaMemsetAsync(scores, 0, values * sizeof(float), stream),
                           "clearing scores", message);
    scale_scores<<<(unsigned)card_pieces(values, 256), 256, 0, stream>>>(scores, values, factor);
    return card_failed(cudaGetLastError(), "scaling scores", message);
}

/* ---- creation ---- */

static void free_scores(void *context)
{
    card_scores *s = (card_scores *)context;
    if (s == NULL)
        return;
    (void)cudaStreamSynchronize(s->bank->on->ahead);
    (void)cudaStreamSynchronize(s->bank->on->stream);
    cudaEvent_t events[] = {s->was_sent[0], s->was_sent[1], s->open[0].done, s->open[1].done,
                            s->opened};
    for (cudaEvent_t event : events)
        if (event != NULL)
            (void)cudaEventDestroy(event);
    card_room_free(&s->others);
    card_pool_free(&s->pool);
    free(s);
}

static bool make_event(cudaEvent_t *event, char *message)
{
    return card_failed(cudaEventCreateWithFlags(event, cudaEventDisableTiming), "starting it",
                       message);
}

/* The kernels of each slot, one after the other. */
static bool make_slots(card_scores *s, const md_device_slots *slots, char *message)
{
    const size_t kernels = s->bank->kernels;
    card *on = s->bank->on;
    unsigned *lists = (unsigned *)calloc(2 * kernels + s->slots + 2, sizeof *lists);
    if (lists == NULL) {
        snprintf(message, MD_DEVICE_MESSAGE, "out of memory");
        return true;
    }
    unsigned *of = lists;
    unsigned *list = of + kernels;
    unsigned *start = list + kernels;
    size_t placed = 0;
    for (size_t m = 0; m < kernels; m++) {
        of[m] = (unsigned)slots->slot_of[m];
        start[of[m] + 1]++;
    }
    for (size_t slot = 0; slot < s->slots; slot++) {
        s->mixed = s->mixed || start[slot + 1] > 1;
        start[slot + 1] += start[slot];
    }
    for (size_t slot = 0; s->mixed && slot < s->slots; slot++)
        for (size_t m = 0; m < kernels; m++)
            if (of[m] == slot)
                list[placed++] = (unsigned)m;
    for (size_t m = 0; !s->mixed && m < kernels; m++)
        list[start[of[m]]] = (unsigned)m;
    const bool failed =
        card_put_new(on, &s->pool, &s->slot_of, of, kernels, message) ||
        card_put_new(on, &s->pool, &s->slot_kernel, list, kernels, message) ||
        card_put_new(on, &s->pool, &s->slot_start, start, s->slots + 1, message) ||
        card_put_new(on, &s->pool, &s->weight, slots->weight, kernels, message);
    free(lists);
    return failed;
}

static bool make_open(card_scores *s, char *message)
{
    const size_t most = s->most_open;
    const size_t values = s->slots * most * most;
    for (open_rows *open = s->open; open < s->open + 2; open++)
        if (card_allocate(&s->pool, &open->index, most, message) ||
            card_pin(&s->pool, &open->sent_index, most, message) ||
            card_allocate(&s->pool, &open->values, values, message) ||
            card_pin(&s->pool, &open->sent_values, values, message) ||
            make_event(&open->done, message))
            return true;
    return card_pin(&s->pool, &s->open_index, most, message) ||
           card_pin(&s->pool, &s->open_scores, s->slots * s->labels * most, message) ||
           make_event(&s->opened, message);
}

static bool make_scratch(card_scores *s, char *message)
{
    const size_t bytes = card_row_bytes(s->bank);
    const size_t fits = bytes > 0 ? SCRATCH / bytes : 1;
    const size_t fewest = card_pieces(s->most, 60); /* portions of a call */
    size_t rows = card_least(fits > fewest ? fits : fewest, s->most);
    s->scratch_rows = (unsigned)(rows > 0 ? rows : 1);
    return card_allocate(&s->pool, &s->scratch, s->scratch_rows * bytes, message);
}

static bool make_scores(card_scores *s, const md_device_slots *slots, char *message)
{
    const size_t size = (size_t)s->slots * s->labels * s->bank->stride;
    const size_t bytes =
        open_parcel(NULL, s->most, (size_t)s->slots * s->labels * s->most).bytes;
    cudaStream_t stream = s->bank->on->stream;
    for (unsigned t = 0; t < SENT; t++)
        if (card_pin(&s->pool, &s->sent[t], bytes, message) || make_event(&s->was_sent[t], message))
            return true;
    return make_slots(s, slots, message) ||
           card_allocate(&s->pool, &s->received, bytes, message) ||
           card_allocate(&s->pool, &s->scores, size, message) || make_scratch(s, message) ||
           (s->most_open > 0 && make_open(s, message)) ||
           card_failed(cudaMemsetAsync(s->scores, 0, size * sizeof(float), stream),
                       "clearing scores", message) ||
           /* the bank is there for the other stream as well */
           card_failed(cudaStreamSynchronize(stream), "waiting for it", message);
}

static int create_scores(void *context, void **result, const md_device_slots *slots, char *message)
{
    card_bank *bank = (card_bank *)context;
    card_scores *s = (card_scores *)calloc(1, sizeof *s);
    *result = NULL;
    if (s == NULL) {
        snprintf(message, MD_DEVICE_MESSAGE, "out of memory");
        return 1;
    }
    s->bank = bank;
    s->slots = (unsigned)slots->slots;
    s->labels = (unsigned)slots->labels;
    s->most = (unsigned)slots->most;
    s->most_open = (unsigned)slots->most_open;
    if (turn_to_card(s, message) || make_scores(s, slots, message)) {
        free_scores(s);
        return 1;
    }
    *result = s;
    return 0;
}

void card_scores_functions(md_device_functions *functions)
{
    functions->scores_create = create_scores;
    functions->scores_free = free_scores;
    functions->add = add;
    functions->add_others = add_others;
    functions->expect = expect;
    functions->open = open_these;
    functions->read = read_scores;
    functions->write = write_scores;
    functions->scale = scale;
}
