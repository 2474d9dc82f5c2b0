/* SPDX-License-Identifier: BSD-3-Clause */
/* Tiles of rows, and what they go through first: sums along the columns, of products or of other
 * terms, in the registers of a block of threads. Columns come in pieces by way of memory that the
 * block shares. */
#ifndef MD_CUDA_TILE_SUMS_H
#define MD_CUDA_TILE_SUMS_H

#include "cuda/bank.h"

enum { THREADS = 256, ACROSS = 16, WIDE = 128, DEEP = 16, PAD = 4 };
enum { FOLDED = 256 }; /* columns whose sum is rounded by itself, as the processor does */
enum { COLUMNS = WIDE / ACROSS }; /* of a thread: two times four that stand side by side */

struct tile_job {
    const card_group *group;
    const md_device_kernel *kernel;
    card_rows left, right;
    bool own;     /* left rows are among the right ones */
    bool is_unit; /* a row's value with itself is known */
    unsigned groups;

    /* to keep them */
    void *const *place; /* [left rows] */
    size_t stride;

    /* or as squares */
    card_square square;
};

template <int SUM> static __device__ __forceinline__ void add_term(float *sum, float x, float z)
{
    if (SUM == SUM_PRODUCTS) {
        *sum = fmaf(x, z, *sum);
    } else if (SUM == SUM_L1) {
        *sum += fabsf(x - z);
    } else if (SUM == SUM_MINIMA) {
        *sum += fminf(x, z);
    } else {
        const float difference = x - z; /* the tiny number keeps 0 / 0 defined */
        *sum += difference * (difference / (x + z + 1e-30f));
    }
}

/* The j-th column of this thread, in the tile. */
static __device__ __forceinline__ unsigned across_at(int j)
{
    return j / 4 * (WIDE / 2) + threadIdx.x % ACROSS * 4 + j % 4;
}

static __device__ __forceinline__ unsigned row_at(const card_rows &rows, unsigned place)
{
    const unsigned last = place < rows.rows ? place : rows.rows - 1;
    return rows.index != NULL ? rows.index[last] : last;
}

/* Four columns of a row, or zeros after its end. */
static __device__ __forceinline__ float4 four_of(const float *row, unsigned column, unsigned stride)
{
    if (column < stride)
        return *(const float4 *)(row + column);
    return make_float4(0, 0, 0, 0);
}

static __device__ __forceinline__ void turn(float *to, unsigned stride, float4 four)
{
    to[0] = four.x;
    to[stride] = four.y;
    to[2 * stride] = four.z;
    to[3 * stride] = four.w;
}

/* Values that stand side by side, from an address that is a multiple of their size. */
template <int COUNT, typename T> static __device__ __forceinline__ void load(T *to, const T *from)
{
    if constexpr (COUNT == 2) {
        *(float2 *)to = *(const float2 *)from;
    } else {
#pragma unroll
        for (int i = 0; i < COUNT; i += 4)
            *(float4 *)(to + i) = *(const float4 *)(from + i);
    }
}

/* Sixteen columns of the left and the right rows, turned so that what is multiplied stands side by
 * side. */
template <int TALL> struct alignas(16) tile_piece {
    float left[DEEP][TALL + PAD];
    float right[DEEP][WIDE + PAD];
};

/* What one thread brings of every piece: four columns of a left row and of two right ones. Half a
 * warp has neighbouring rows, the other half their next columns: with these PADs, that is all banks
 * of the shared memory. */
struct tile_share {
    const float *left, *right[2];
    float4 next_left, next_right[2];
    unsigned place, depth; /* of its columns in the piece */
};

template <int TALL>
static __device__ __forceinline__ tile_share share_of(const tile_job &job, const card_group &group)
{
    tile_share share;
    share.place = threadIdx.x % 128 / 2;
    share.depth = threadIdx.x / 128 * 8 + threadIdx.x % 2 * 4;
    share.left = job.left.view[group.view] +
                 (size_t)row_at(job.left, blockIdx.y * TALL + share.place) * group.stride;
    for (int h = 0; h < 2; h++)
        share.right[h] =
            job.right.view[group.view] +
            (size_t)row_at(job.right, blockIdx.x * WIDE + h * (WIDE / 2) + share.place) *
                group.stride;
    return share;
}

static __device__ __forceinline__ void fetch(tile_share *share, unsigned column, unsigned stride)
{
    share->next_left = four_of(share->left, column + share->depth, stride);
    for (int h = 0; h < 2; h++)
        share->next_right[h] = four_of(share->right[h], column + share->depth, stride);
}

template <int TALL>
static __device__ __forceinline__ void put(tile_piece<TALL> *piece, const tile_share &share)
{
    const unsigned place = share.place;
    if (place < TALL)
        turn(&piece->left[share.depth][place], TALL + PAD, share.next_left);
    for (int h = 0; h < 2; h++)
        turn(&piece->right[share.depth][h * (WIDE / 2) + place], WIDE + PAD, share.next_right[h]);
}

/* Sums of many columns are sums of sums, which lose fewer digits: the finished ones wait in memory,
 * out of the way. */
template <int ROWS>
static __device__ __forceinline__ void fold(float whole[ROWS][COLUMNS], float sum[ROWS][COLUMNS])
{
#pragma unroll
    for (int i = 0; i < ROWS; i++)
#pragma unroll
        for (int j = 0; j < COLUMNS; j++) {
            whole[i][j] += sum[i][j];
            sum[i][j] = 0;
        }
}

template <int SUM, int ROWS, int COUNT>
static __device__ __forceinline__ void add_columns(const tile_piece<ROWS * ACROSS> &piece,
                                                   unsigned first, float sum[ROWS][COLUMNS])
{
#pragma unroll
    for (int d = 0; d < COUNT; d++) {
        alignas(16) float x[ROWS];
        alignas(16) float z[COLUMNS];
        load<ROWS>(x, &piece.left[first + d][threadIdx.x / ACROSS * ROWS]);
        load<4>(z, &piece.right[first + d][across_at(0)]);
        load<4>(z + 4, &piece.right[first + d][across_at(4)]);
#pragma unroll
        for (int i = 0; i < ROWS; i++)
#pragma unroll
            for (int j = 0; j < COLUMNS; j++)
                add_term<SUM>(&sum[i][j], x[i], z[j]);
    }
}

/* While a piece is added up, the next one is on its way to the other place. */
template <int SUM, int ROWS>
static __device__ void add_up(const tile_job &job, const card_group &group,
                              tile_piece<ROWS * ACROSS> *pieces, float sum[ROWS][COLUMNS])
{
    tile_share share = share_of<ROWS * ACROSS>(job, group);
    float whole[ROWS][COLUMNS];
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLUMNS; j++)
            whole[i][j] = sum[i][j] = 0;
    fetch(&share, 0, group.stride);
    for (unsigned k = 0; k < group.stride; k += DEEP) {
        tile_piece<ROWS *ACROSS> *piece = pieces + k / DEEP % 2;
        if (k % FOLDED == 0)
            fold<ROWS>(whole, sum);
        put(piece, share);
        __syncthreads(); /* the piece before has been read: its place is free */
        fetch(&share, k + DEEP, group.stride);
        if (SUM != SUM_CHI2 && k + DEEP <= group.stride) /* a division is much code */
            add_columns<SUM, ROWS, DEEP>(*piece, 0, sum);
        else /* rows end with a multiple of four columns, not of DEEP */
            for (unsigned d = 0; d < DEEP && k + d < group.stride; d += 4)
                add_columns<SUM, ROWS, 4>(*piece, d, sum);
    }
    fold<ROWS>(sum, whole);
}

#endif
