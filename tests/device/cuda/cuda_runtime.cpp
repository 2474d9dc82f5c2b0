/* SPDX-License-Identifier: BSD-3-Clause */
/* Streams, events and memory of CUDA's runtime on the processor. */
#include "cuda_runtime.h"

#include "cuda_threads.h"
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>
#include <set>
#include <vector>

struct card_stream {
    std::deque<std::function<void()>> waiting;
    size_t done;
};

struct card_event {
    card_stream *stream; /* NULL: never recorded */
    size_t place;        /* so much of it is done when the event happens */
};

static const size_t TOTAL = (size_t)1
                            << 33; /* bytes of a card, which are taken when they are used */
static const size_t POISONED = (size_t)1 << 22; /* of an allocation */
enum { POISON = 0xff };

static std::recursive_mutex one_at_a_time;
typedef std::lock_guard<std::recursive_mutex> turn;
static std::set<card_stream *> streams;
static std::map<char *, size_t> allocated, pinned;
static size_t used;
static long calls;

/* ---- what goes wrong ---- */

static bool is_lost()
{
    const char *fault = getenv("MEDLEY_CARD_LOST");
    calls++;
    return fault != NULL && fault[0] != '\0' && calls >= atol(fault);
}

/* A call that can fail: it does, or goes on. */
#define FALLIBLE                                                                                   \
    const turn own_turn(one_at_a_time);                                                            \
    if (is_lost())                                                                                 \
        return cudaErrorLaunchFailure;

cudaError_t cudaGetLastError()
{
    const turn own_turn(one_at_a_time);
    return is_lost() ? cudaErrorLaunchFailure : cudaSuccess;
}

const char *cudaGetErrorString(cudaError_t status)
{
    return status == cudaErrorLaunchFailure ? "unspecified launch failure" : "out of memory";
}

/* ---- the card ---- */

static size_t total_bytes()
{
    const char *megabytes = getenv("MEDLEY_CARD_MEMORY");
    return megabytes != NULL ? (size_t)(atof(megabytes) * 1e6) : TOTAL;
}

static bool reads_pages()
{
    const char *reads = getenv("MEDLEY_CARD_PAGES");
    return reads != NULL && atoi(reads) != 0;
}

cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr /*attribute*/, int /*number*/)
{
    FALLIBLE
    *value = reads_pages();
    return cudaSuccess;
}

cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest)
{
    FALLIBLE
    *least = 0;
    *greatest = -5;
    return cudaSuccess;
}

cudaError_t cudaGetDeviceCount(int *count)
{
    calls = 0; /* counted from the opening of a card */
    *count = 1;
    return cudaSuccess;
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp *properties, int /*number*/)
{
    snprintf(properties->name, sizeof properties->name, "card on the processor");
    properties->major = 9;
    properties->minor = 0;
    return cudaSuccess;
}

cudaError_t cudaSetDevice(int number)
{
    FALLIBLE
    return number == 0 ? cudaSuccess : cudaErrorInvalidValue;
}

/* ---- streams ---- */

static void run_until(card_stream *stream, size_t place)
{
    while (stream->done < place && !stream->waiting.empty()) {
        const std::function<void()> next = std::move(stream->waiting.front());
        stream->waiting.pop_front();
        stream->done++;
        next();
    }
}

static void finish(card_stream *stream)
{
    run_until(stream, SIZE_MAX);
}

static void finish_all()
{
    for (card_stream *stream : streams)
        finish(stream);
}

static void put(card_stream *stream, std::function<void()> what)
{
    if (streams.count(stream) == 0)
        card_end("a stream is not there");
    stream->waiting.push_back(std::move(what));
}

void card_enqueue(dim3 grid, dim3 threads, cudaStream_t stream, std::function<void()> body)
{
    const turn own_turn(one_at_a_time);
    put(stream, [grid, threads, body]() { card_run(grid, threads, body); });
}

cudaError_t cudaStreamCreateWithPriority(cudaStream_t *stream, unsigned /*flags*/, int /*priority*/)
{
    FALLIBLE
    *stream = new card_stream();
    streams.insert(*stream);
    return cudaSuccess;
}

cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
    const turn own_turn(one_at_a_time);
    finish(stream);
    streams.erase(stream);
    delete stream;
    return cudaSuccess;
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream)
{
    FALLIBLE
    finish(stream);
    return cudaSuccess;
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned /*flags*/)
{
    FALLIBLE
    *event = new card_event();
    return cudaSuccess;
}

cudaError_t cudaEventDestroy(cudaEvent_t event)
{
    delete event;
    return cudaSuccess;
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
    FALLIBLE
    event->stream = stream;
    event->place = stream->done + stream->waiting.size();
    return cudaSuccess;
}

cudaError_t cudaEventSynchronize(cudaEvent_t event)
{
    FALLIBLE
    if (event->stream != NULL)
        run_until(event->stream, event->place);
    return cudaSuccess;
}

/* What comes next in the stream waits for the event as it is now. */
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned /*flags*/)
{
    FALLIBLE
    card_stream *other = event->stream;
    const size_t place = event->place;
    if (other != NULL && other != stream)
        put(stream, [other, place]() { run_until(other, place); });
    return cudaSuccess;
}

/* ---- memory ---- */

/* Whether a range lies in an allocation. */
static bool lies_in(const std::map<char *, size_t> &there, const void *place, size_t bytes)
{
    char *first = (char *)place;
    auto after = there.upper_bound(first);
    if (after == there.begin())
        return false;
    const auto &item = *--after;
    return first + bytes <= item.first + item.second;
}

static void *allocate(std::map<char *, size_t> *there, size_t bytes)
{
    char *made = (char *)aligned_alloc(256, (bytes + 255) / 256 * 256);
    if (made == NULL)
        return NULL;
    memset(made, POISON, bytes < POISONED ? bytes : POISONED);
    (*there)[made] = bytes;
    return made;
}

/* Who frees waits for all that is under way. */
static cudaError_t give_back(std::map<char *, size_t> *there, void *place)
{
    finish_all();
    if (there->erase((char *)place) == 0)
        card_end("memory is freed that was not allocated so");
    free(place);
    return cudaSuccess;
}

cudaError_t cudaMemGetInfo(size_t *available, size_t *total)
{
    FALLIBLE
    *total = total_bytes();
    *available = *total > used ? *total - used : 0;
    return cudaSuccess;
}

cudaError_t cudaMalloc(void **place, size_t bytes)
{
    FALLIBLE
    if (used + bytes > total_bytes() || (*place = allocate(&allocated, bytes)) == NULL)
        return cudaErrorMemoryAllocation;
    used += bytes;
    return cudaSuccess;
}

cudaError_t cudaFree(void *place)
{
    const turn own_turn(one_at_a_time);
    used -= allocated.count((char *)place) > 0 ? allocated[(char *)place] : 0;
    return give_back(&allocated, place);
}

cudaError_t cudaMallocHost(void **place, size_t bytes)
{
    FALLIBLE
    *place = allocate(&pinned, bytes);
    return *place != NULL ? cudaSuccess : cudaErrorMemoryAllocation;
}

/* Copies from and to such memory are as late as those of what was allocated so. */
cudaError_t cudaHostRegister(void *memory, size_t bytes, unsigned flags)
{
    FALLIBLE(void) flags;
    if (memory == NULL || bytes == 0 || !pinned.insert({(char *)memory, bytes}).second)
        return cudaErrorInvalidValue;
    return cudaSuccess;
}

cudaError_t cudaHostUnregister(void *memory)
{
    const turn own_turn(one_at_a_time);
    return pinned.erase((char *)memory) == 1 ? cudaSuccess : cudaErrorInvalidValue;
}

cudaError_t cudaFreeHost(void *place)
{
    const turn own_turn(one_at_a_time);
    return give_back(&pinned, place);
}

/* ---- copies ---- */

static void demand_on_card(const void *place, size_t bytes)
{
    if (!lies_in(allocated, place, bytes))
        card_end("a copy goes beyond what was allocated on the card");
}

/* What is not pinned is read before the call returns, unless the card reads pages by itself, and
 * has been written when it does. */
cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                              size_t width, size_t height, cudaMemcpyKind kind, cudaStream_t stream)
{
    FALLIBLE
    const size_t to_size = height > 0 ? (height - 1) * to_pitch + width : 0;
    const size_t from_size = height > 0 ? (height - 1) * from_pitch + width : 0;
    const bool is_sent = kind == cudaMemcpyHostToDevice;
    const bool is_pinned =
        is_sent ? reads_pages() || lies_in(pinned, from, from_size) : lies_in(pinned, to, to_size);
    if (width > to_pitch || width > from_pitch)
        return cudaErrorInvalidValue;
    demand_on_card(is_sent ? to : from, is_sent ? to_size : from_size);
    std::vector<char> kept;
    if (is_sent && !is_pinned)
        kept.assign((const char *)from, (const char *)from + from_size);
    put(stream, [=, kept = std::move(kept)]() {
        const char *source = is_sent && !is_pinned ? kept.data() : (const char *)from;
        for (size_t i = 0; i < height; i++)
            memcpy((char *)to + i * to_pitch, source + i * from_pitch, width);
    });
    if (!is_sent && !is_pinned)
        finish(stream);
    return cudaSuccess;
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream)
{
    return cudaMemcpy2DAsync(to, bytes, from, bytes, bytes, 1, kind, stream);
}

cudaError_t cudaMemsetAsync(void *to, int byte, size_t bytes, cudaStream_t stream)
{
    FALLIBLE
    demand_on_card(to, bytes);
    put(stream, [=]() { memset(to, byte, bytes); });
    return cudaSuccess;
}
