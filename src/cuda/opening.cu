/* SPDX-License-Identifier: BSD-3-Clause */
/* Open rows: those that are looked at and changed next. Their values with each other are computed
 * while others are looked at, if they are expected; their scores get the changes that have just
 * been sent before all other rows do, so that nobody waits for those. */
#include "cuda/scores.h"

static __global__ void gather_scores(const float *scores, size_t stride, const unsigned *index,
                                     unsigned count, unsigned lines, unsigned most, float *out)
{
    const size_t e = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    const size_t line = e / count;
    const unsigned i = (unsigned)(e % count);
    if (line < lines)
        out[line * most + i] = scores[line * stride + index[i]];
}

static size_t bytes_of_values(const card_scores *s)
{
    const size_t values = (size_t)s->slots * s->most_open * s->most_open;
    return values * (s->halves ? sizeof(__half) : sizeof(float));
}

/* Values of these rows with each other are on their way. */
static bool begin_values(card_scores *s, card_open_rows *open, const size_t *rows, size_t count,
                         char *message)
{
    cudaStream_t ahead = s->bank->on->ahead;
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
    square.values = s->halves ? NULL : (float *)open->values;
    square.halves = s->halves ? (__half *)open->values : NULL;
    return card_failed(cudaMemcpyAsync(open->index, open->sent_index, count * sizeof(unsigned),
                                       cudaMemcpyHostToDevice, ahead),
                       "copying rows to it", message) ||
           card_square_values(s->bank, open->index, (unsigned)count, &square, ahead, message) ||
           card_failed(cudaMemcpyAsync(open->sent_values, open->values, bytes_of_values(s),
                                       cudaMemcpyDeviceToHost, ahead),
                       "copying values from it", message) ||
           card_failed(cudaEventRecord(open->done, ahead), "copying values from it", message);
}

int card_expect(void *context, const size_t *rows, size_t count, char *message)
{
    card_scores *s = (card_scores *)context;
    if (count == 0 || count > s->most_open)
        return 0;
    if (card_scores_turn(s, message))
        return 1;
    s->expects = !begin_values(s, &s->open[1 - s->now], rows, count, message);
    return !s->expects;
}

static bool is_expected(const card_scores *s, const size_t *rows, size_t count)
{
    const card_open_rows *open = &s->open[1 - s->now];
    bool same = s->expects && open->count == count;
    for (size_t i = 0; same && i < count; i++)
        same = open->sent_index[i] == rows[i];
    return same;
}

/* The scores of the open rows, whose numbers came with their values, are on their way; then those
 * of all others. */
static bool gather(card_scores *s, unsigned count, char *message)
{
    const unsigned lines = s->slots * s->labels;
    cudaStream_t stream = s->bank->on->stream;
    const size_t bytes = (size_t)lines * s->most_open * sizeof(float);
    const bool enters = card_can_enter(s);
    if (!enters && card_settle(s, message))
        return true;
    const card_open_rows *open = &s->open[1 - s->now];
    s->entered_index = open->index;
    if (card_failed(cudaStreamWaitEvent(stream, open->done, 0), "waiting for rows", message))
        return true;
    gather_scores<<<(unsigned)card_pieces((size_t)lines * count, 256), 256, 0, stream>>>(
        s->scores, s->bank->stride, s->entered_index, count, lines, s->most_open,
        s->entered_scores);
    return card_failed(cudaGetLastError(), "reading scores", message) ||
           (enters && card_enter(s, count, message)) ||
           card_failed(cudaMemcpyAsync(s->open_scores, s->entered_scores, bytes,
                                       cudaMemcpyDeviceToHost, stream),
                       "reading scores", message) ||
           card_failed(cudaEventRecord(s->opened, stream), "reading scores", message) ||
           card_settle(s, message);
}

int card_open(void *context, const size_t *rows, size_t count, md_device_opened *opened,
              char *message)
{
    card_scores *s = (card_scores *)context;
    const bool known = is_expected(s, rows, count);
    opened->scores = s->open_scores;
    const void *values = s->open[1 - s->now].sent_values;
    opened->values = s->halves ? NULL : (const float *)values;
    opened->halves = s->halves ? (const uint16_t *)values : NULL;
    if (count == 0 || s->slots * s->labels == 0)
        return 0;
    if (card_scores_turn(s, message))
        return 1;
    if ((!known && begin_values(s, &s->open[1 - s->now], rows, count, message)) ||
        gather(s, (unsigned)count, message) ||
        card_failed(cudaEventSynchronize(s->open[1 - s->now].done), "waiting for it", message) ||
        card_failed(cudaEventSynchronize(s->opened), "waiting for it", message))
        return 1;
    s->now = 1 - s->now;
    s->expects = false;
    return 0;
}

/* ---- creation ---- */

static bool put_places(card_scores *s, size_t bytes, char *message)
{
    void *place[CARD_ENTERED];
    for (size_t i = 0; i < CARD_ENTERED; i++)
        place[i] = s->entered_values + i * bytes;
    return card_put_new(s->bank->on, &s->pool, &s->entered_place, place, CARD_ENTERED, message);
}

static bool make_event(cudaEvent_t *event, char *message)
{
    return card_failed(cudaEventCreateWithFlags(event, cudaEventDisableTiming), "starting it",
                       message);
}

/* Of fewer rows than there may be, copies take along what comes after them. */
static bool clear(const card_scores *s, void *memory, size_t bytes, char *message)
{
    return card_failed(cudaMemsetAsync(memory, 0, bytes, s->bank->on->stream), "clearing values",
                       message);
}

bool card_open_make(card_scores *s, char *message)
{
    const size_t most = s->most_open;
    const size_t lines = (size_t)s->slots * s->labels;
    const size_t bytes = s->bank->kernels * most * card_value_size(s->bank);
    s->halves = !s->mixed && s->plain_weights && most % 4 == 0 && card_bank_has_halves(s->bank);
    for (card_open_rows *open = s->open; open < s->open + 2; open++)
        if (card_allocate(&s->pool, &open->index, most, message) ||
            card_pin(&s->pool, &open->sent_index, most, message) ||
            card_allocate_bytes(&s->pool, &open->values, bytes_of_values(s), message) ||
            card_allocate_pinned(&s->pool, &open->sent_values, bytes_of_values(s), message) ||
            clear(s, open->values, bytes_of_values(s), message) || make_event(&open->done, message))
            return true;
    return card_pin(&s->pool, &s->open_scores, lines * most, message) ||
           card_allocate(&s->pool, &s->entered_scores, lines * most, message) ||
           card_allocate(&s->pool, &s->entered_values, CARD_ENTERED * bytes, message) ||
           clear(s, s->entered_scores, lines * most * sizeof(float), message) ||
           put_places(s, bytes, message) || make_event(&s->opened, message);
}
