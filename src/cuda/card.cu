/* SPDX-License-Identifier: BSD-3-Clause */
/* The plug-in for NVIDIA's cards: finding one, starting it, what goes wrong, memory. */
#include "cuda/card.h"

#include "cuda/bank.h"

enum { OLDEST = 8 }; /* compute capability */

/* ---- what goes wrong ---- */

bool card_failed(cudaError_t status, const char *during, char *message)
{
    if (status == cudaSuccess)
        return false;
    (void)cudaGetLastError(); /* it is told here, and not again by what follows */
    snprintf(message, MD_DEVICE_MESSAGE, "%s while %s", cudaGetErrorString(status), during);
    return true;
}

/* ---- memory ---- */

static bool add_item(void ***items, size_t *count, size_t *room, void *item)
{
    if (*count == *room) {
        const size_t more = 2 * *room + 16;
        void **larger = (void **)realloc(*items, more * sizeof(void *));
        if (larger == NULL)
            return false;
        *items = larger;
        *room = more;
    }
    (*items)[(*count)++] = item;
    return true;
}

void card_pool_free(card_pool *pool)
{
    for (size_t i = pool->count; i > 0; i--)
        (void)cudaFree(pool->items[i - 1]);
    for (size_t i = pool->host_count; i > 0; i--)
        (void)cudaFreeHost(pool->host[i - 1]);
    free(pool->items);
    free(pool->host);
    memset(pool, 0, sizeof *pool);
}

static bool out_of_memory(char *message)
{
    snprintf(message, MD_DEVICE_MESSAGE, "out of memory");
    return true;
}

static bool allocate_alone(card_pool *pool, void **place, size_t bytes, char *message)
{
    size_t available = 0;
    size_t total = 0;
    void *made = NULL;
    const cudaError_t status = cudaMalloc(&made, bytes);
    if (status == cudaErrorMemoryAllocation && cudaMemGetInfo(&available, &total) == cudaSuccess) {
        (void)cudaGetLastError();
        snprintf(message, MD_DEVICE_MESSAGE,
                 "%.1f MB of its memory are needed, and %.1f of %.1f are free", (double)bytes / 1e6,
                 (double)available / 1e6, (double)total / 1e6);
        return true;
    }
    if (card_failed(status, "allocating memory", message))
        return true;
    if (!add_item(&pool->items, &pool->count, &pool->room, made)) {
        (void)cudaFree(made);
        return out_of_memory(message);
    }
    *place = made;
    return false;
}

bool card_allocate_bytes(card_pool *pool, void **place, size_t bytes, char *message)
{
#ifndef CARD_SMALL /* in tests each is alone, so that a place outside of it is found */
#define CARD_SMALL ((size_t)1 << 20)
#endif
    static const size_t SMALL = CARD_SMALL;
    static const size_t SLAB = 1 << 24;
    static const size_t ALIGNED = 256;
    const size_t taken = card_pieces(bytes > 0 ? bytes : 1, ALIGNED) * ALIGNED;
    if (taken > SMALL)
        return allocate_alone(pool, place, bytes, message);
    if (taken > pool->slab_left) {
        void *slab = NULL;
        if (allocate_alone(pool, &slab, SLAB, message))
            return true;
        pool->slab = (char *)slab;
        pool->slab_left = SLAB;
    }
    *place = pool->slab;
    pool->slab += taken;
    pool->slab_left -= taken;
    return false;
}

bool card_allocate_pinned(card_pool *pool, void **place, size_t bytes, char *message)
{
    void *made = NULL;
    if (card_failed(cudaMallocHost(&made, bytes > 0 ? bytes : 1), "allocating memory to copy from",
                    message))
        return true;
    if (!add_item(&pool->host, &pool->host_count, &pool->host_room, made)) {
        (void)cudaFreeHost(made);
        return out_of_memory(message);
    }
    *place = made;
    return false;
}

bool card_put(card *on, void *to, const void *from, size_t bytes, char *message)
{
    if (bytes == 0)
        return false;
    return card_failed(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, on->stream),
                       "copying to it", message) ||
           card_wait_for_reading(on, message);
}

/* From memory that is not pinned the driver copies before the call returns, unless the card reads
 * the processor's pages by itself. */
bool card_wait_for_reading(const card *on, char *message)
{
    return on->shares_pages &&
           card_failed(cudaStreamSynchronize(on->stream), "copying to it", message);
}

/* ---- the card ---- */

static void close_card(void *context)
{
    card *on = (card *)context;
    if (on == NULL)
        return;
    if (on->ahead != NULL)
        (void)cudaStreamDestroy(on->ahead);
    if (on->stream != NULL)
        (void)cudaStreamDestroy(on->stream);
    free(on);
}

static bool pin(void *context, void *memory, size_t bytes)
{
    const card *on = (const card *)context;
    if (bytes > 0 && cudaSetDevice(on->number) == cudaSuccess &&
        cudaHostRegister(memory, bytes, cudaHostRegisterDefault) == cudaSuccess)
        return true;
    (void)cudaGetLastError();
    return false;
}

static void unpin(void *context, void *memory)
{
    const card *on = (const card *)context;
    if (cudaSetDevice(on->number) != cudaSuccess || cudaHostUnregister(memory) != cudaSuccess)
        (void)cudaGetLastError();
}

/* Is there such a card, and can it be used? Its name then. */
static bool look_at_card(int number, char *name, size_t size, char *message)
{
    int count = 0;
    cudaDeviceProp properties;
    const cudaError_t status = cudaGetDeviceCount(&count);
    if (status != cudaSuccess || count == 0) {
        (void)cudaGetLastError();
        snprintf(message, MD_DEVICE_MESSAGE, "there is no card that CUDA can use (%s)",
                 status != cudaSuccess ? cudaGetErrorString(status) : "none is installed");
        return false;
    }
    if (number >= count) {
        snprintf(message, MD_DEVICE_MESSAGE, "there is no card %d: the last one is %d", number,
                 count - 1);
        return false;
    }
    if (card_failed(cudaGetDeviceProperties(&properties, number), "looking at it", message))
        return false;
    if (properties.major < OLDEST) {
        snprintf(message, MD_DEVICE_MESSAGE,
                 "%.100s is too old: it has compute capability %d.%d, and %d.0 is needed",
                 properties.name, properties.major, properties.minor, (int)OLDEST);
        return false;
    }
    snprintf(name, size, "%.*s", (int)size - 1, properties.name);
    return true;
}

static bool start_card(card *on, char *message)
{
    int last = 0;
    int first = 0;
    int shares = 0;
    if (card_failed(cudaSetDevice(on->number), "turning to it", message) ||
        card_failed(cudaDeviceGetStreamPriorityRange(&last, &first), "starting it", message) ||
        card_failed(cudaDeviceGetAttribute(
                        &shares, cudaDevAttrPageableMemoryAccessUsesHostPageTables, on->number),
                    "looking at it", message) ||
        card_failed(cudaStreamCreateWithPriority(&on->stream, cudaStreamNonBlocking, last),
                    "starting it", message) ||
        card_failed(cudaStreamCreateWithPriority(&on->ahead, cudaStreamNonBlocking, first),
                    "starting it", message))
        return true;
    on->shares_pages = shares != 0;
    return false;
}

extern "C" __attribute__((visibility("default"))) int medley_cuda_open(
    md_device_functions *functions, int number, const char *version, char *message)
{
    if (strcmp(version, MD_DEVICE_VERSION(MEDLEY_VERSION)) != 0) {
        snprintf(message, MD_DEVICE_MESSAGE,
                 "libmedley-cuda.so belongs to Medley %s and this is %.60s; install both anew",
                 MD_DEVICE_VERSION(MEDLEY_VERSION), version);
        return 1;
    }
    if (!look_at_card(number, functions->name, sizeof functions->name, message))
        return 1;
    card *on = (card *)calloc(1, sizeof *on);
    if (on == NULL)
        return out_of_memory(message);
    on->number = number;
    if (start_card(on, message)) {
        close_card(on);
        return 1;
    }
    functions->context = on;
    functions->close = close_card;
    functions->pin = pin;
    functions->unpin = unpin;
    card_bank_functions(functions);
    card_scores_functions(functions);
    card_matrices_functions(functions);
    return 0;
}
