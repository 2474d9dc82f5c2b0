/* SPDX-License-Identifier: BSD-3-Clause */
/* Kernel values by tiles: a block of threads has some left rows and 128 right ones, goes along
 * their columns once for each quantity of a view, in registers, and makes the values of all kernels
 * of that quantity of what it has there. So sums of products never cross memory, and values once.
 *
 * Flops and bytes of c left rows, n right ones, f kernels of a view of d columns: 2 c n d and c n f
 * maps; reads 4 d n (c / 64 + 1), c / 32 where there are few, and 4 d c n / 128, mostly from
 * caches, and writes 2 c n f (half precision). */
#include "cuda/tile_sums.h"

/* ---- values ---- */

/* In place, of values that stand side by side. */
template <int MAP>
static __device__ __forceinline__ void map_four(const md_device_form &form, float *q)
{
    float base[4];
#pragma unroll
    for (int j = 0; j < 4; j++) {
        if (MAP == MD_MAP_EXP)
            q[j] = expf(fminf(form.scale * q[j], 88.0f));
        else if (MAP == MD_MAP_HAT)
            q[j] = fmaxf(0.0f, 1.0f - form.scale * sqrtf(q[j]));
        else
            q[j] = base[j] = fmaf(form.scale, q[j], form.offset);
    }
#pragma unroll 1
    for (int i = 1; MAP == MD_MAP_POWER && i < form.degree; i++)
#pragma unroll
        for (int j = 0; j < 4; j++)
            q[j] *= base[j];
}

static __device__ __forceinline__ float value_at(const float *const *arrays, unsigned at,
                                                 unsigned row, float fallback)
{
    const float *array = arrays[at];
    return array != NULL ? array[row] : fallback;
}

/* What a kernel needs to know of the rows of a tile: the right ones, then the left ones. */
template <int TALL> struct alignas(16) tile_facts {
    unsigned row[WIDE + TALL];
    float addend[WIDE + TALL]; /* to a quantity that is made of a product */
    float factor[WIDE + TALL], shift[WIDE + TALL], root[WIDE + TALL];
};

struct row_facts {
    unsigned row;
    float addend, factor, shift, root;
};

static __device__ __forceinline__ row_facts facts_of(const card_rows &rows, unsigned place,
                                                     const md_device_kernel &kernel, unsigned m)
{
    const unsigned row = row_at(rows, place);
    const unsigned view = (unsigned)kernel.view;
    row_facts facts = {row, 0, value_at(rows.factor, m, row, 1), value_at(rows.shift, m, row, 0),
                       value_at(rows.root, m, row, 1)};
    if (kernel.form.quantity == MD_ON_DISTANCE2)
        facts.addend = rows.norm2[view][row];
    else if (kernel.form.quantity == MD_ON_PRODUCT)
        facts.addend = value_at(rows.lift, view, row, 0);
    return facts;
}

/* Of this thread's row. */
template <int TALL>
static __device__ __forceinline__ row_facts find_facts(const tile_job &job, unsigned m)
{
    if (threadIdx.x < WIDE)
        return facts_of(job.right, blockIdx.x * WIDE + threadIdx.x, job.kernel[m], m);
    if (threadIdx.x < WIDE + TALL)
        return facts_of(job.left, blockIdx.y * TALL + threadIdx.x - WIDE, job.kernel[m], m);
    return {0, 0, 0, 0, 0};
}

template <int TALL>
static __device__ __forceinline__ void tell(tile_facts<TALL> *facts, const row_facts &own)
{
    if (threadIdx.x >= WIDE + TALL)
        return;
    facts->row[threadIdx.x] = own.row;
    facts->addend[threadIdx.x] = own.addend;
    facts->factor[threadIdx.x] = own.factor;
    facts->shift[threadIdx.x] = own.shift;
    facts->root[threadIdx.x] = own.root;
}

/* Facts of rows that stand side by side, in registers. */
template <int COUNT> struct some_facts {
    alignas(16) float addend[COUNT];
    alignas(16) float factor[COUNT];
    alignas(16) float shift[COUNT];
};

/* Where bits say so. */
static __device__ __forceinline__ void put_at(float *four, unsigned bits, float value)
{
#pragma unroll
    for (int j = 0; j < 4; j++)
        if ((bits >> j & 1) != 0)
            four[j] = value;
}

template <int COUNT, int TALL>
static __device__ __forceinline__ some_facts<COUNT> facts_at(const tile_facts<TALL> &facts,
                                                             unsigned at)
{
    some_facts<COUNT> some;
    load<COUNT>(some.addend, &facts.addend[at]);
    load<COUNT>(some.factor, &facts.factor[at]);
    load<COUNT>(some.shift, &facts.shift[at]);
    return some;
}

/* How a kernel's quantity is made of a sum of terms: with addends and a lower bound. */
struct tile_quantity {
    float slope, least;
    unsigned zero; /* bits of pairs for which it is known to be 0 */
};

static __device__ __forceinline__ tile_quantity quantity_of(const md_device_form &form,
                                                            unsigned same)
{
    if (form.quantity == MD_ON_DISTANCE2)
        return {-2, 0, same};
    return {1, NAN, 0}; /* the greater one of NaN and a number is the number */
}

/* Before the roots, of left row i and four right ones, of which sum has the sums. */
template <int MAP, int ROWS>
static __device__ __forceinline__ void four_values(const md_device_form &form,
                                                   const tile_quantity &quantity,
                                                   const some_facts<ROWS> &x, int i,
                                                   const some_facts<4> &z, const float *sum,
                                                   unsigned zero, float *value)
{
#pragma unroll
    for (int j = 0; j < 4; j++)
        value[j] = fmaxf(quantity.least, fmaf(quantity.slope, sum[j], x.addend[i] + z.addend[j]));
    if (zero != 0)
        put_at(value, zero, 0);
    map_four<MAP>(form, value);
#pragma unroll
    for (int j = 0; j < 4; j++)
        value[j] = (value[j] + (x.shift[i] + z.shift[j])) * (x.factor[i] * z.factor[j]);
}

/* A bit for each of this thread's rows and columns: whether they are of the same row. */
template <int ROWS>
static __device__ __forceinline__ unsigned same_rows(const tile_facts<ROWS * ACROSS> &facts)
{
    alignas(16) unsigned left[ROWS];
    alignas(16) unsigned right[COLUMNS];
    load<ROWS>(left, &facts.row[WIDE + threadIdx.x / ACROSS * ROWS]);
    load<4>(right, &facts.row[across_at(0)]);
    load<4>(right + 4, &facts.row[across_at(4)]);
    unsigned same = 0;
#pragma unroll
    for (int i = 0; i < ROWS; i++)
#pragma unroll
        for (int j = 0; j < COLUMNS; j++)
            if (left[i] == right[j])
                same |= 1U << (i * COLUMNS + j);
    return same;
}

static __device__ __forceinline__ void round_four(float *, const float *)
{
}

/* At most 1 but for rounding, which is large against diagonals of nothing. */
static __device__ __forceinline__ float bounded(float value)
{
    return isfinite(value) ? fminf(fmaxf(value, -2.0f), 2.0f) : value;
}

/* Nearly always there is nothing to do: one test for four values. */
static __device__ __forceinline__ void bound_four(float *four)
{
    if (fabsf(four[0]) <= 2 && fabsf(four[1]) <= 2 && fabsf(four[2]) <= 2 && fabsf(four[3]) <= 2)
        return;
    for (int j = 0; j < 4; j++)
        four[j] = bounded(four[j]);
}

static __device__ __forceinline__ void round_four(float *four, const __half *)
{
    bound_four(four);
    for (int j = 0; j < 4; j++)
        four[j] = __half2float(__float2half_rn(four[j]));
}

static __device__ __forceinline__ void store_four(float *to, float *four)
{
    *(float4 *)to = *(const float4 *)four;
}

static __device__ __forceinline__ void store_four(__half *to, float *four)
{
    bound_four(four);
    __half2 pair[2] = {__floats2half2_rn(four[0], four[1]), __floats2half2_rn(four[2], four[3])};
    *(uint2 *)to = *(const uint2 *)pair;
}

/* Adds left row i's values with right rows j to j + 3, with the roots and rounded like kept ones.
 */
template <typename T>
static __device__ __forceinline__ void add_four(const tile_job &job, unsigned m, unsigned i,
                                                unsigned j, float root, const float *roots,
                                                float *four)
{
    const card_square &square = job.square;
    const float weight = square.weight[m];
    const size_t at = ((size_t)square.slot_of[m] * square.most + i) * square.most + j;
    round_four(four, (const T *)NULL);
#pragma unroll
    for (int c = 0; c < 4; c++) /* the same for both orders of the rows */
        four[c] *= weight * (root * roots[c]);
    if (square.halves != NULL) { /* places beyond the last row are there, and nobody looks */
        store_four(square.halves + at, four);
        return;
    }
    float *out = square.values + at;
#pragma unroll
    for (int c = 0; c < 4; c++)
        if (j + c < job.right.rows)
            out[c] = square.mixed ? out[c] + four[c] : four[c];
}

template <typename T, bool SQUARE, int MAP, int ROWS>
static __device__ __forceinline__ void finish(const tile_job &job,
                                              const tile_facts<ROWS * ACROSS> &facts,
                                              const md_device_form &form, unsigned m, unsigned same,
                                              const float sum[ROWS][COLUMNS])
{
    const unsigned down = threadIdx.x / ACROSS * ROWS;
    const unsigned place = blockIdx.y * ROWS * ACROSS + down;
    const unsigned unit = job.is_unit ? same : 0;
    const tile_quantity quantity = quantity_of(form, same);
    const some_facts<ROWS> x = facts_at<ROWS>(facts, WIDE + down);
    T *row[ROWS];
    for (int i = 0; i < ROWS; i++)
        row[i] = !SQUARE && place + i < job.left.rows ? (T *)job.place[place + i] + m * job.stride
                                                      : NULL;
#pragma unroll
    for (int h = 0; h < COLUMNS; h += 4) {
        const unsigned at = across_at(h);
        const unsigned column = blockIdx.x * WIDE + at;
        const some_facts<4> z = facts_at<4>(facts, at);
        if (column >= (SQUARE ? job.right.rows : job.stride))
            continue;
#pragma unroll
        for (int i = 0; i < ROWS; i++) {
            const unsigned bits = 15U << (i * COLUMNS + h);
            const float *root = &facts.root[WIDE + down + i];
            alignas(16) float value[4];
            if (place + i >= job.left.rows)
                continue;
            four_values<MAP, ROWS>(form, quantity, x, i, z, sum[i] + h,
                                   (quantity.zero & bits) >> (i * COLUMNS + h), value);
            if ((unit & bits) != 0) /* without rounding */
                put_at(value, unit >> (i * COLUMNS + h), *root > 0 ? 1 : 0);
            if (SQUARE)
                add_four<T>(job, m, place + i, column, *root, &facts.root[at], value);
            else
                store_four(row[i] + column, value);
        }
    }
}

template <int ROWS> struct tile_memory {
    tile_piece<ROWS * ACROSS> piece[2];
    tile_facts<ROWS * ACROSS> facts[2]; /* of even and odd kernels */
};

/* Pieces and facts alternate between two places: one barrier a step is enough, since every thread
 * that passes it has read the place that is written next. */
template <typename T, bool SQUARE, int ROWS>
static __device__ void tile_of_group(const tile_job &job, const card_group group,
                                     tile_memory<ROWS> &memory)
{
    enum { TALL = ROWS * ACROSS };
    float sum[ROWS][COLUMNS];
    tell(&memory.facts[group.first % 2], find_facts<TALL>(job, group.first));
    switch (group.sum) {
    case SUM_PRODUCTS:
        add_up<SUM_PRODUCTS, ROWS>(job, group, memory.piece, sum);
        break;
    case SUM_L1:
        add_up<SUM_L1, ROWS>(job, group, memory.piece, sum);
        break;
    case SUM_CHI2:
        add_up<SUM_CHI2, ROWS>(job, group, memory.piece, sum);
        break;
    default:
        add_up<SUM_MINIMA, ROWS>(job, group, memory.piece, sum);
        break;
    }
    __syncthreads();
    const unsigned same = job.own ? same_rows<ROWS>(memory.facts[group.first % 2]) : 0;
    for (unsigned m = group.first; m < group.end; m++) {
        const tile_facts<TALL> &facts = memory.facts[m % 2];
        const md_device_form form = job.kernel[m].form;
        row_facts next = {0, 0, 0, 0, 0};
        if (m + 1 < group.end)
            next = find_facts<TALL>(job, m + 1);
        if (form.map == MD_MAP_EXP)
            finish<T, SQUARE, MD_MAP_EXP, ROWS>(job, facts, form, m, same, sum);
        else if (form.map == MD_MAP_HAT)
            finish<T, SQUARE, MD_MAP_HAT, ROWS>(job, facts, form, m, same, sum);
        else
            finish<T, SQUARE, MD_MAP_POWER, ROWS>(job, facts, form, m, same, sum);
        if (m + 1 < group.end)
            tell(&memory.facts[(m + 1) % 2], next);
        __syncthreads();
    }
}

template <typename T, bool SQUARE, int ROWS>
static __global__ void __launch_bounds__(THREADS, 2) tile_of_values(const tile_job job)
{
    __shared__ tile_memory<ROWS> memory;
    const unsigned end = SQUARE && job.square.mixed ? job.groups : blockIdx.z + 1;
    for (unsigned g = blockIdx.z; g < end; g++)
        tile_of_group<T, SQUARE, ROWS>(job, job.group[g], memory);
}

template <typename T, bool SQUARE, int ROWS>
static void launch(const tile_job &job, cudaStream_t stream)
{
    const dim3 grid((unsigned)card_pieces(job.right.rows, WIDE),
                    (unsigned)card_pieces(job.left.rows, ROWS * ACROSS),
                    job.square.mixed ? 1 : job.groups);
    tile_of_values<T, SQUARE, ROWS><<<grid, THREADS, 0, stream>>>(job);
}

/* Where there would be few tiles they are low, so that there are more of them; squares have few.
 * Higher ones than these would keep too few threads busy, since each has its sums in registers. */
template <typename T> static void launch_fitting(const tile_job &job, cudaStream_t stream)
{
#ifndef CARD_FEW_TILES /* tests have fewer */
#define CARD_FEW_TILES 512
#endif
    enum { HIGH = 4, LOW = 2 };
    const size_t tiles =
        card_pieces(job.right.rows, WIDE) * card_pieces(job.left.rows, HIGH * ACROSS) * job.groups;
    if (job.place == NULL)
        launch<T, true, LOW>(job, stream);
    else if (job.left.rows <= LOW * ACROSS || tiles <= CARD_FEW_TILES)
        launch<T, false, LOW>(job, stream);
    else
        launch<T, false, HIGH>(job, stream);
}

static bool compute(const card_bank *bank, tile_job job, bool precise, cudaStream_t stream,
                    char *message)
{
    job.group = bank->group;
    job.kernel = bank->card_kernel;
    job.groups = bank->groups;
    job.is_unit = bank->is_unit;
    if (job.left.rows == 0 || job.right.rows == 0 || bank->groups == 0)
        return false;
    if (precise)
        launch_fitting<float>(job, stream);
    else
        launch_fitting<__half>(job, stream);
    return card_failed(cudaGetLastError(), "computing kernel values", message);
}

bool card_values(const card_bank *bank, card_rows left, bool own, bool precise, void *const *place,
                 cudaStream_t stream, char *message)
{
    tile_job job;
    memset(&job, 0, sizeof job);
    job.left = left;
    job.right = bank->own.rows;
    job.own = own;
    job.place = place;
    job.stride = bank->stride;
    return compute(bank, job, precise, stream, message);
}

bool card_values_of(const card_bank *bank, card_rows left, card_rows right, size_t stride,
                    void *const *place, cudaStream_t stream, char *message)
{
    tile_job job;
    memset(&job, 0, sizeof job);
    job.left = left;
    job.right = right;
    job.own = true;
    job.place = place;
    job.stride = stride;
    return compute(bank, job, bank->precise, stream, message);
}

bool card_square_values(const card_bank *bank, const unsigned *index, unsigned rows,
                        const card_square *square, cudaStream_t stream, char *message)
{
    tile_job job;
    memset(&job, 0, sizeof job);
    job.left = bank->own.rows;
    job.left.index = index;
    job.left.rows = rows;
    job.right = job.left;
    job.own = true;
    job.square = *square;
    if (square->mixed && card_failed(cudaMemsetAsync(square->values, 0,
                                                     (size_t)square->slots * square->most *
                                                         square->most * sizeof(float),
                                                     stream),
                                     "clearing values", message))
        return true;
    return compute(bank, job, bank->precise, stream, message);
}
