/* SPDX-License-Identifier: BSD-3-Clause */
/* A card of NVIDIA's, and memory on it: shared by the files of the plug-in. */
#ifndef MD_CUDA_CARD_H
#define MD_CUDA_CARD_H

#include "device/device.h"
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>

struct card {
    int number;
    cudaStream_t stream; /* everything but what is computed beforehand */
    cudaStream_t ahead;  /* which is computed on this one, first: it is little and waited for */
    bool shares_pages;   /* with the processor */
};

/* What is wrong becomes the message; true: something is. */
bool card_failed(cudaError_t status, const char *during, char *message);

/* ---- memory ---- */

/* Allocations that are freed together. */
struct card_pool {
    void **items; /* on the card */
    void **host;  /* pinned memory of the processor */
    size_t count, room, host_count, host_room;
    char *slab; /* small arrays lie side by side: there may be thousands of them */
    size_t slab_left;
};

void card_pool_free(card_pool *pool);

/* Memory on the card; the message says how much was wanted. true: it is not to be had. */
bool card_allocate_bytes(card_pool *pool, void **place, size_t bytes, char *message);
/* Memory of the processor that the card reads and writes by itself. */
bool card_allocate_pinned(card_pool *pool, void **place, size_t bytes, char *message);

template <typename T>
static inline bool card_allocate(card_pool *pool, T **place, size_t count, char *message)
{
    return card_allocate_bytes(pool, (void **)place, count * sizeof(T), message);
}

template <typename T>
static inline bool card_pin(card_pool *pool, T **place, size_t count, char *message)
{
    return card_allocate_pinned(pool, (void **)place, count * sizeof(T), message);
}

/* Copies to the card; what is copied may change when this returns. */
bool card_put(card *on, void *to, const void *from, size_t bytes, char *message);
/* After another copy from memory that is not pinned: the same holds then. */
bool card_wait_for_reading(const card *on, char *message);

/* Where a copy of an array of the processor is on the card; *to stays NULL where there is none. */
template <typename T>
static inline bool card_put_new(card *on, card_pool *pool, T **to, const T *from, size_t count,
                                char *message)
{
    if (from == NULL)
        return false;
    return card_allocate(pool, to, count, message) ||
           card_put(on, *to, from, count * sizeof(T), message);
}

static inline size_t card_pieces(size_t count, size_t size)
{
    return (count + size - 1) / size;
}

static inline size_t card_least(size_t a, size_t b)
{
    return a < b ? a : b;
}

#endif
