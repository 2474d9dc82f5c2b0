/* SPDX-License-Identifier: BSD-3-Clause */
/* Kernel values by tiles: a block of threads has some left rows and 128 right ones, goes along
 * their columns once for each quantity of a view, in registers, and makes the values of all kernels
 * of that quantity of what it has there. So sums of products never cross memory, and values once.
 *
 * Flops and bytes of c left rows, n right ones, f kernels of a view of d columns: 2 c n d and c n f
 * maps; reads 4 d n (c / 64 + 1) and 4 d c n / 128, mostly from caches, and writes 2 c n f (half
 * precision). */
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

/* ---- sums along the columns ---- */

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

static __device__ __forceinline__ unsigned row_at(const card_rows &rows, unsigned place)
{
    const unsigned last = place < rows.rows ? place : rows.rows - 1;
    return rows.index != NULL ? rows.index[last] : last;
}

/* Four columns of a row, or zeros behind its end. */
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
template <int COUNT> static __device__ __forceinline__ void load(float *to, const float *from)
{
    if constexpr (COUNT == 2) {
        *(float2 *)to = *(const float2 *)from;
    } else {
#pragma unroll
        for (int i = 0; i < COUNT; i += 4)
            *(float4 *)(to + i) = *(const float4 *)(from + i);
    }
}

/* Pieces of the left and the right rows, turned so that what is multiplied stands side by side. */
template <int TALL> struct alignas(16) tile_memory {
    float left[DEEP][TALL + PAD];
    float right[DEEP][WIDE + PAD];
};

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

template <int SUM, int ROWS>
static __device__ void add_up(const tile_job &job, const card_group &group,
                              tile_memory<ROWS * ACROSS> &memory, float sum[ROWS][COLUMNS])
{
    enum { TALL = ROWS * ACROSS, QUARTER = THREADS / 4, ABOVE = TALL > QUARTER ? 2 : 1 };
    const unsigned thread = threadIdx.x;
    const unsigned down = thread / ACROSS * ROWS;
    const unsigned across = thread % ACROSS * 4;
    const unsigned place = thread / 4;
    const unsigned depth = thread % 4 * 4;
    const unsigned stride = group.stride;
    const float *left[ABOVE];
    const float *right[2];
    for (int h = 0; h < ABOVE; h++)
        left[h] = job.left.view[group.view] +
                  (size_t)row_at(job.left, blockIdx.y * TALL + h * QUARTER + place) * stride;
    for (int h = 0; h < 2; h++)
        right[h] = job.right.view[group.view] +
                   (size_t)row_at(job.right, blockIdx.x * WIDE + h * QUARTER + place) * stride;
    const bool loads_left = ABOVE == 2 || place < TALL;
    float4 next_left[ABOVE];
    float4 next_right[2];
    for (int h = 0; h < ABOVE; h++)
        next_left[h] = four_of(left[h], depth, stride);
    for (int h = 0; h < 2; h++)
        next_right[h] = four_of(right[h], depth, stride);
    float whole[ROWS][COLUMNS];
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLUMNS; j++)
            whole[i][j] = 0;
    for (unsigned k = 0; k < stride; k += DEEP) {
        if (k % FOLDED == 0)
            fold<ROWS>(whole, sum);
        __syncthreads(); /* the piece before has been read */
        for (int h = 0; loads_left && h < ABOVE; h++)
            turn(&memory.left[depth][h * QUARTER + place], TALL + PAD, next_left[h]);
        for (int h = 0; h < 2; h++)
            turn(&memory.right[depth][h * QUARTER + place], WIDE + PAD, next_right[h]);
        __syncthreads();
        for (int h = 0; h < ABOVE; h++)
            next_left[h] = four_of(left[h], k + DEEP + depth, stride);
        for (int h = 0; h < 2; h++)
            next_right[h] = four_of(right[h], k + DEEP + depth, stride);
#pragma unroll
        for (int d = 0; d < DEEP; d++) {
            alignas(16) float x[ROWS];
            alignas(16) float z[COLUMNS];
            load<ROWS>(x, &memory.left[d][down]);
            load<4>(z, &memory.right[d][across]);
            load<4>(z + 4, &memory.right[d][WIDE / 2 + across]);
#pragma unroll
            for (int i = 0; i < ROWS; i++)
#pragma unroll
                for (int j = 0; j < COLUMNS; j++)
                    add_term<SUM>(&sum[i][j], x[i], z[j]);
        }
    }
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLUMNS; j++)
            sum[i][j] += whole[i][j];
}

/* ---- values ---- */

static __device__ __forceinline__ float map_of(const md_device_form &form, float q)
{
    if (form.map == MD_MAP_EXP)
        return expf(fminf(form.scale * q, 88.0f));
    if (form.map == MD_MAP_HAT)
        return fmaxf(0.0f, 1.0f - form.scale * sqrtf(q));
    const float base = fmaf(form.scale, q, form.offset);
    float power = base;
    for (int i = 1; i < form.degree; i++)
        power *= base;
    return power;
}

static __device__ __forceinline__ float value_at(const float *const *arrays, unsigned at,
                                                 unsigned row, float fallback)
{
    const float *array = arrays[at];
    return array != NULL ? array[row] : fallback;
}

/* What kernels need to know of the rows of a tile. */
struct tile_facts {
    unsigned row[WIDE];
    float norm2[WIDE], lift[WIDE];               /* of the group's view */
    float factor[WIDE], shift[WIDE], root[WIDE]; /* of one kernel */
};

static __device__ void know_rows(tile_facts *facts, const card_rows &rows, unsigned view,
                                 unsigned first, unsigned count)
{
    for (unsigned i = threadIdx.x; i < count; i += THREADS) {
        const unsigned row = row_at(rows, first + i);
        facts->row[i] = row;
        facts->norm2[i] = rows.norm2[view][row];
        facts->lift[i] = value_at(rows.lift, view, row, 0);
    }
}

static __device__ void know_kernel(tile_facts *facts, const card_rows &rows, unsigned m,
                                   unsigned count)
{
    for (unsigned i = threadIdx.x; i < count; i += THREADS) {
        facts->factor[i] = value_at(rows.factor, m, facts->row[i], 1);
        facts->shift[i] = value_at(rows.shift, m, facts->row[i], 0);
        facts->root[i] = value_at(rows.root, m, facts->row[i], 1);
    }
}

/* Before the roots, of left row i and right row j of the tile. */
static __device__ __forceinline__ float value_of(const md_device_form &form, const tile_facts &x,
                                                 unsigned i, const tile_facts &z, unsigned j,
                                                 float sum, bool same)
{
    float q = sum;
    if (form.quantity == MD_ON_DISTANCE2)
        q = same ? 0.0f : fmaxf(0.0f, x.norm2[i] + z.norm2[j] - 2.0f * sum);
    else if (form.quantity == MD_ON_PRODUCT)
        q = sum + (x.lift[i] + z.lift[j]);
    return (map_of(form, q) + (x.shift[i] + z.shift[j])) * (x.factor[i] * z.factor[j]);
}

static __device__ __forceinline__ float rounded(float value, const float *)
{
    return value;
}

/* At most 1 but for rounding, which is large against diagonals of nothing. */
static __device__ __forceinline__ float bounded(float value)
{
    return isfinite(value) ? fminf(fmaxf(value, -2.0f), 2.0f) : value;
}

static __device__ __forceinline__ float rounded(float value, const __half *)
{
    return __half2float(__float2half_rn(bounded(value)));
}

static __device__ __forceinline__ void store_four(float *to, const float *four)
{
    *(float4 *)to = *(const float4 *)four;
}

static __device__ __forceinline__ void store_four(__half *to, const float *four)
{
    __half2 pair[2] = {__floats2half2_rn(bounded(four[0]), bounded(four[1])),
                       __floats2half2_rn(bounded(four[2]), bounded(four[3]))};
    *(uint2 *)to = *(const uint2 *)pair;
}

/* The j-th column of this thread, in the tile. */
static __device__ __forceinline__ unsigned across_at(int j)
{
    return j / 4 * (WIDE / 2) + threadIdx.x % ACROSS * 4 + j % 4;
}

struct tile_sides {
    tile_facts left, right;
};

/* A row of the tile, of one kernel. */
template <typename T>
static __device__ __forceinline__ void finish_row(const tile_job &job, const tile_sides &sides,
                                                  const md_device_form &form, unsigned m,
                                                  unsigned i, unsigned place, const float *sum)
{
    const unsigned first = blockIdx.x * WIDE;
    const card_square &square = job.square;
    float *out =
        job.place != NULL
            ? NULL
            : square.values + ((size_t)square.slot_of[m] * square.most + place) * square.most;
    T *row = job.place != NULL ? (T *)job.place[place] + m * job.stride : NULL;
#pragma unroll
    for (int h = 0; h < COLUMNS; h += 4) {
        float value[4];
#pragma unroll
        for (int j = 0; j < 4; j++) {
            const unsigned at = across_at(h + j);
            const bool same = job.own && sides.left.row[i] == sides.right.row[at];
            value[j] = value_of(form, sides.left, i, sides.right, at, sum[h + j], same);
            if (same && job.is_unit) /* without rounding */
                value[j] = sides.left.root[i] > 0 ? 1 : 0;
        }
        if (row != NULL && first + across_at(h) < job.stride)
            store_four(row + first + across_at(h), value);
        for (int j = 0; row == NULL && j < 4; j++) {
            const unsigned at = across_at(h + j);
            /* the same for both orders of the rows */
            const float own = square.weight[m] * (sides.left.root[i] * sides.right.root[at]) *
                              rounded(value[j], (const T *)NULL);
            if (first + at < job.right.rows)
                out[first + at] = square.mixed ? out[first + at] + own : own;
        }
    }
}

template <typename T, int ROWS>
static __device__ void tile_of_group(const tile_job &job, const card_group &group,
                                     tile_memory<ROWS * ACROSS> &memory, tile_sides &sides)
{
    enum { TALL = ROWS * ACROSS };
    float sum[ROWS][COLUMNS];
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLUMNS; j++)
            sum[i][j] = 0;
    switch (group.sum) {
    case SUM_PRODUCTS:
        add_up<SUM_PRODUCTS, ROWS>(job, group, memory, sum);
        break;
    case SUM_L1:
        add_up<SUM_L1, ROWS>(job, group, memory, sum);
        break;
    case SUM_CHI2:
        add_up<SUM_CHI2, ROWS>(job, group, memory, sum);
        break;
    default:
        add_up<SUM_MINIMA, ROWS>(job, group, memory, sum);
        break;
    }
    __syncthreads(); /* nobody reads the facts of another group any more */
    know_rows(&sides.left, job.left, group.view, blockIdx.y * TALL, TALL);
    know_rows(&sides.right, job.right, group.view, blockIdx.x * WIDE, WIDE);
    const unsigned down = threadIdx.x / ACROSS * ROWS;
    for (unsigned m = group.first; m < group.end; m++) {
        const md_device_form form = job.kernel[m].form;
        __syncthreads();
        know_kernel(&sides.left, job.left, m, TALL);
        know_kernel(&sides.right, job.right, m, WIDE);
        __syncthreads();
#pragma unroll
        for (int i = 0; i < ROWS; i++)
            if (blockIdx.y * TALL + down + i < job.left.rows)
                finish_row<T>(job, sides, form, m, down + i, blockIdx.y * TALL + down + i, sum[i]);
    }
}

template <typename T, int ROWS>
static __global__ void __launch_bounds__(THREADS, 2) tile_of_values(const tile_job job)
{
    __shared__ tile_memory<ROWS * ACROSS> memory;
    __shared__ tile_sides sides;
    const unsigned end = job.square.mixed ? job.groups : blockIdx.z + 1;
    for (unsigned g = blockIdx.z; g < end; g++)
        tile_of_group<T, ROWS>(job, job.group[g], memory, sides);
}

template <typename T, int ROWS> static void launch(const tile_job &job, cudaStream_t stream)
{
    const dim3 grid((unsigned)card_pieces(job.right.rows, WIDE),
                    (unsigned)card_pieces(job.left.rows, ROWS * ACROSS),
                    job.square.mixed ? 1 : job.groups);
    tile_of_values<T, ROWS><<<grid, THREADS, 0, stream>>>(job);
}

/* Few rows take low tiles, and so do few columns, so that there are more of them. Higher ones than
 * these would keep too few threads busy, since each has its sums in registers. */
template <typename T> static void launch_fitting(const tile_job &job, cudaStream_t stream)
{
#ifndef CARD_FEW_COLUMNS /* tests have fewer */
#define CARD_FEW_COLUMNS 4096
#endif
    enum { HIGH = 4, LOW = 2 };
    if (job.left.rows <= LOW * ACROSS || job.right.rows <= CARD_FEW_COLUMNS)
        launch<T, LOW>(job, stream);
    else
        launch<T, HIGH>(job, stream);
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
