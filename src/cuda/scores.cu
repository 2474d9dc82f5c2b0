/* SPDX-License-Identifier: BSD-3-Clause */
/* The life of scores on the card, and what is done to them as a whole. */
#include "cuda/scores.h"

#ifndef CARD_SCRATCH /* tests have less */
#define CARD_SCRATCH ((size_t)1 << 30)
#endif
static const size_t SCRATCH = CARD_SCRATCH; /* bytes for values that are not kept */

bool card_scores_turn(const card_scores *s, char *message)
{
    return card_failed(cudaSetDevice(s->bank->on->number), "turning to it", message);
}

static bool card_nothing_to_add(const card_scores *s, size_t count)
{
    return count == 0 || s->bank->rows == 0 || s->bank->kernels == 0 || s->slots == 0 ||
           s->labels == 0;
}

static int add(void *context, const size_t *rows, size_t count, const float *change, bool precisely,
               char *message)
{
    card_scores *s = (card_scores *)context;
    return !card_nothing_to_add(s, count) &&
           (card_scores_turn(s, message) ||
            card_send(s, rows, count, change, s->bank->own.rows, precisely || s->bank->precise,
                      message) ||
            (s->most_open == 0 &&
             card_settle(s, message))); /* else those that are opened come first */
}

static int add_others(void *context, const md_device_rows *rows, const float *change, char *message)
{
    card_scores *s = (card_scores *)context;
    if (card_nothing_to_add(s, rows->rows))
        return 0;
    if (card_scores_turn(s, message))
        return 1;
    if (!s->has_others && card_room_make(&s->others, s->bank, &s->pool, s->most, message)) {
        card_room_free(&s->others);
        return 1;
    }
    s->has_others = true;
    return card_room_fill(&s->others, s->bank, rows, message) ||
           card_send(s, NULL, rows->rows, change, s->others.rows, s->bank->precise, message) ||
           card_settle(s, message);
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
    if (card_scores_turn(s, message) || card_settle(s, message))
        return 1;
    if (width > 0 && s->labels > 0 &&
        card_failed(cudaMemcpy2DAsync(out, width, scores_of(s, slot),
                                      s->bank->stride * sizeof(float), width, s->labels,
                                      cudaMemcpyDeviceToHost, stream),
                    "copying scores from it", message))
        return 1;
    return card_failed(cudaStreamSynchronize(stream), "waiting for it", message);
}

/* What is copied may be pinned, and change as soon as this returns. */
static int write_scores(void *context, size_t slot, const float *in, char *message)
{
    card_scores *s = (card_scores *)context;
    const size_t width = s->bank->rows * sizeof(float);
    cudaStream_t stream = s->bank->on->stream;
    return width > 0 && s->labels > 0 &&
           (card_scores_turn(s, message) || card_settle(s, message) ||
            card_failed(cudaMemcpy2DAsync(scores_of(s, slot), s->bank->stride * sizeof(float), in,
                                          width, width, s->labels, cudaMemcpyHostToDevice, stream),
                        "copying scores to it", message) ||
            card_failed(cudaStreamSynchronize(stream), "copying scores to it", message));
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
    if (card_scores_turn(s, message) || card_settle(s, message))
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
    char message[MD_DEVICE_MESSAGE];
    if (s == NULL)
        return;
    if (s->changes.rows > 0) /* rows that the bank keeps are not there before */
        (void)(card_scores_turn(s, message) || card_settle(s, message));
    (void)cudaStreamSynchronize(s->bank->on->ahead);
    (void)cudaStreamSynchronize(s->bank->on->stream);
    cudaEvent_t events[] = {s->was_sent[0], s->was_sent[1], s->open[0].done, s->open[1].done,
                            s->opened};
    for (cudaEvent_t event : events)
        if (event != NULL)
            (void)cudaEventDestroy(event);
    card_room_free(&s->others);
    card_pool_free(&s->pool);
    pthread_mutex_destroy(&s->settling);
    free(s->portions);
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
    s->plain_weights = true;
    for (size_t m = 0; m < kernels; m++) {
        s->plain_weights = s->plain_weights && slots->weight[m] == 1;
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
    const bool failed = card_put_new(on, &s->pool, &s->slot_of, of, kernels, message) ||
                        card_put_new(on, &s->pool, &s->slot_kernel, list, kernels, message) ||
                        card_put_new(on, &s->pool, &s->slot_start, start, s->slots + 1, message) ||
                        card_put_new(on, &s->pool, &s->weight, slots->weight, kernels, message);
    free(lists);
    return failed;
}

static bool make_scratch(card_scores *s, char *message)
{
    const size_t bytes = card_scratch_bytes(s->bank);
    const size_t rows = card_least(bytes > 0 ? SCRATCH / bytes : 1, s->most);
    s->scratch_rows = (unsigned)(rows > 0 ? rows : 1);
    return card_allocate(&s->pool, &s->scratch, s->scratch_rows * bytes, message);
}

static bool make_scores(card_scores *s, const md_device_slots *slots, char *message)
{
    const size_t size = (size_t)s->slots * s->labels * s->bank->stride;
    const size_t bytes = card_parcel_bytes(s, s->most);
    cudaStream_t stream = s->bank->on->stream;
    for (unsigned t = 0; t < CARD_SENT; t++)
        if (card_pin(&s->pool, &s->sent[t], bytes, message) || make_event(&s->was_sent[t], message))
            return true;
    return make_slots(s, slots, message) || card_allocate(&s->pool, &s->received, bytes, message) ||
           card_allocate(&s->pool, &s->scores, size, message) || make_scratch(s, message) ||
           (s->most_open > 0 && card_open_make(s, message)) ||
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
    pthread_mutex_init(&s->settling, NULL);
    s->portions = (card_portion *)calloc(slots->most + 1, sizeof *s->portions);
    if (s->portions == NULL)
        snprintf(message, MD_DEVICE_MESSAGE, "out of memory");
    if (s->portions == NULL || card_scores_turn(s, message) || make_scores(s, slots, message)) {
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
    functions->expect = card_expect;
    functions->open = card_open;
    functions->read = read_scores;
    functions->write = write_scores;
    functions->scale = scale;
}
