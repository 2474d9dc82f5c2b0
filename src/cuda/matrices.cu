/* SPDX-License-Identifier: BSD-3-Clause */
/* Whole matrices of a bank's rows, in single precision, for solvers that look at all values of all
 * kernels: products, and weighted sums that stay on the card. All sums are in double precision and
 * in one order.
 *
 * Bytes and flops of f kernels of n rows: a product reads 4 n^2 f, 2 n^2 f flops; so does a sum. */
#include "cuda/bank.h"

enum { THREADS = 256, WARP = 32, WARPS = THREADS / WARP, ROWS = 4 };
enum { SLOTS = 16 }; /* parts of products that are on their way back at a time */
#ifndef CARD_SLOT    /* tests have less */
#define CARD_SLOT ((size_t)1 << 20)
#endif
enum { SUMMED = 256 }; /* kernels whose weights are at hand at a time */
enum { PARTS = 32 };   /* of a kernel's rows, whose squares are added up by themselves */

struct card_matrices {
    card_bank *bank;
    card_pool pool;
    size_t n, stride, row; /* floats from kernel to kernel of a row, and from row to row */
    float *values;         /* [n] of [kernels][stride] */
    double *x, *y;         /* room for vectors of all kernels: [kernels][n] */
    double *norm2;         /* [kernels] */
    double *square;        /* [PARTS][kernels] */
    double *weight;        /* [kernels] */
    unsigned *chosen;      /* [kernels] */
    double *sum;           /* [n][n] */
    double *sent;          /* [2 n] pinned: of products with the sum, which are many and small */
    char *results;         /* [SLOTS] of slot bytes, pinned: others on their way back */
    size_t slot;           /* of one product or more */
    cudaEvent_t arrived[SLOTS];
};

/* ---- products ---- */

static __device__ double sum_of_warp(double value)
{
    for (int step = WARP / 2; step > 0; step /= 2)
        value += __shfl_down_sync(0xffffffffu, value, step);
    return value;
}

static __device__ __forceinline__ size_t least_of(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

/* Four values side by side, or fewer at the end of a row, from a place that is a multiple of four.
 */
static __device__ __forceinline__ float4 four_at(const float *row, unsigned j, unsigned n)
{
    if (j + 4 <= n)
        return *(const float4 *)(row + j);
    return make_float4(row[j], j + 1 < n ? row[j + 1] : 0.0f, j + 2 < n ? row[j + 2] : 0.0f, 0.0f);
}

static __device__ __forceinline__ double product_of_four(float4 a, const double *x)
{
    return (double)a.x * x[0] + (double)a.y * x[1] + ((double)a.z * x[2] + (double)a.w * x[3]);
}

/* A warp has some rows of a kernel, and goes along them 128 columns at a time. */
static __global__ void __launch_bounds__(THREADS)
    multiply_rows(const float *values, size_t row, size_t stride, unsigned n,
                  const unsigned *chosen, const double *x, size_t x_stride, double *y)
{
    const unsigned place = blockIdx.y;
    const unsigned lane = threadIdx.x % WARP;
    const unsigned first = (blockIdx.x * WARPS + threadIdx.x / WARP) * ROWS;
    const float *from = values + chosen[place] * stride;
    const double *own = x + place * x_stride;
    double sum[ROWS];
    for (int r = 0; r < ROWS; r++)
        sum[r] = 0;
#pragma unroll 2
    for (unsigned j = 4 * lane; j < n; j += 4 * WARP) {
        double factor[4];
        float4 value[ROWS];
#pragma unroll
        for (int r = 0; r < ROWS; r++)
            value[r] = four_at(from + least_of(first + r, n - 1) * row, j, n);
#pragma unroll
        for (unsigned c = 0; c < 4; c++)
            factor[c] = j + c < n ? own[j + c] : 0;
#pragma unroll
        for (int r = 0; r < ROWS; r++)
            sum[r] += product_of_four(value[r], factor);
    }
    for (int r = 0; r < ROWS; r++) {
        const double total = sum_of_warp(sum[r]);
        if (lane == 0 && first + r < n)
            y[(size_t)place * n + first + r] = total;
    }
}

/* x'y, a block for each kernel. */
static __global__ void __launch_bounds__(THREADS)
    multiply_vectors(const double *x, size_t x_stride, const double *y, unsigned n, double *norm2)
{
    __shared__ double part[WARPS];
    double sum = 0;
    for (unsigned j = threadIdx.x; j < n; j += THREADS)
        sum += x[blockIdx.x * x_stride + j] * y[(size_t)blockIdx.x * n + j];
    sum = sum_of_warp(sum);
    if (threadIdx.x % WARP == 0)
        part[threadIdx.x / WARP] = sum;
    __syncthreads();
    if (threadIdx.x > 0)
        return;
    for (int w = 1; w < WARPS; w++)
        sum += part[w];
    norm2[blockIdx.x] = sum;
}

static bool choose(card_matrices *m, const size_t *kernels, size_t count, char *message)
{
    unsigned *list = (unsigned *)malloc((count + 1) * sizeof *list);
    if (list == NULL) {
        snprintf(message, MD_DEVICE_MESSAGE, "out of memory");
        return true;
    }
    for (size_t i = 0; i < count; i++)
        list[i] = (unsigned)kernels[i];
    const bool failed = card_put(m->bank->on, m->chosen, list, count * sizeof *list, message);
    free(list);
    return failed;
}

/* The card is a thread's own choice, and may have changed since. */
static bool turn_to_card(const card_matrices *m, char *message)
{
    return card_failed(cudaSetDevice(m->bank->on->number), "turning to it", message);
}

static bool wait(const card_matrices *m, char *message)
{
    return card_failed(cudaStreamSynchronize(m->bank->on->stream), "waiting for it", message);
}

/* By way of pinned memory, which takes a fraction of the time. */
static bool get(const card_matrices *m, void *to, const void *from, size_t bytes, char *message)
{
    const size_t room = SLOTS * m->slot;
    for (size_t done = 0; done < bytes; done += room) {
        const size_t some = card_least(bytes - done, room);
        if (card_failed(cudaMemcpyAsync(m->results, (const char *)from + done, some,
                                        cudaMemcpyDeviceToHost, m->bank->on->stream),
                        "copying results from it", message) ||
            wait(m, message))
            return true;
        card_copy(m->bank, (char *)to + done, m->results, some);
    }
    return false;
}

static bool send_vectors(const card_matrices *m, const double *x, size_t x_stride, size_t count,
                         char *message)
{
    const size_t width = m->n * sizeof *x;
    const size_t vectors = x_stride > 0 ? count : 1;
    return card_failed(cudaMemcpy2DAsync(m->x, width, x,
                                         x_stride > 0 ? x_stride * sizeof *x : width, width,
                                         vectors, cudaMemcpyHostToDevice, m->bank->on->stream),
                       "copying vectors to it", message);
}

/* y of chosen kernels first .. first + count - 1. */
static bool launch_products(const card_matrices *m, size_t first, size_t count, size_t pitch,
                            char *message)
{
    const dim3 grid((unsigned)card_pieces(m->n, WARPS * ROWS), (unsigned)count);
    multiply_rows<<<grid, THREADS, 0, m->bank->on->stream>>>(
        m->values, m->row, m->stride, (unsigned)m->n, m->chosen + first, m->x + first * pitch,
        pitch, m->y + first * m->n);
    return card_failed(cudaGetLastError(), "multiplying", message);
}

/* Products on their way back, some kernels at a time. */
struct way_back {
    card_matrices *m;
    size_t count, each; /* kernels, and those of a part */
    double *y;
};

static size_t bytes_of_part(const way_back *w, size_t part)
{
    return card_least(w->count - part * w->each, w->each) * w->m->n * sizeof *w->y;
}

static bool begin_part(const way_back *w, size_t part, size_t pitch, char *message)
{
    const card_matrices *m = w->m;
    cudaStream_t stream = m->bank->on->stream;
    const size_t first = part * w->each;
    return launch_products(m, first, card_least(w->count - first, w->each), pitch, message) ||
           card_failed(cudaMemcpyAsync(m->results + part % SLOTS * m->slot, m->y + first * m->n,
                                       bytes_of_part(w, part), cudaMemcpyDeviceToHost, stream),
                       "copying results from it", message) ||
           card_failed(cudaEventRecord(m->arrived[part % SLOTS], stream), "copying results from it",
                       message);
}

static bool end_part(const way_back *w, size_t part, char *message)
{
    const card_matrices *m = w->m;
    if (card_failed(cudaEventSynchronize(m->arrived[part % SLOTS]), "waiting for it", message))
        return true;
    card_copy(m->bank, w->y + part * w->each * m->n, m->results + part % SLOTS * m->slot,
              bytes_of_part(w, part));
    return false;
}

/* While the card multiplies, the processor takes what is there. */
static bool multiply_and_get(card_matrices *m, size_t count, size_t pitch, double *y, char *message)
{
    const way_back w = {m, count, m->slot / (m->n * sizeof *y), y};
    const size_t parts = card_pieces(count, w.each);
    for (size_t part = 0; part < parts; part++)
        if ((part >= SLOTS && end_part(&w, part - SLOTS, message)) ||
            begin_part(&w, part, pitch, message))
            return true;
    for (size_t part = parts > SLOTS ? parts - SLOTS : 0; part < parts; part++)
        if (end_part(&w, part, message))
            return true;
    return false;
}

static int multiply(void *context, const size_t *kernels, size_t count, const double *x,
                    size_t x_stride, double *norm2, double *y, char *message)
{
    card_matrices *m = (card_matrices *)context;
    const size_t pitch = x_stride > 0 ? m->n : 0;
    if (count == 0 || m->n == 0)
        return 0;
    if (turn_to_card(m, message) || choose(m, kernels, count, message) ||
        send_vectors(m, x, x_stride, count, message))
        return 1;
    if (y != NULL ? multiply_and_get(m, count, pitch, y, message)
                  : launch_products(m, 0, count, pitch, message))
        return 1;
    if (norm2 == NULL)
        return 0;
    multiply_vectors<<<(unsigned)count, THREADS, 0, m->bank->on->stream>>>(
        m->x, pitch, m->y, (unsigned)m->n, m->norm2);
    return card_failed(cudaGetLastError(), "multiplying", message) ||
           get(m, norm2, m->norm2, count * sizeof *norm2, message);
}

/* ---- what is known of a matrix ---- */

/* Sums of squares: blocks have a share of the rows of a kernel, threads go along them.
 * square[PARTS][kernels]. */
static __global__ void __launch_bounds__(THREADS)
    add_squares(const float *values, size_t row, size_t stride, unsigned n, double *square)
{
    __shared__ double part[WARPS];
    const float *from = values + blockIdx.x * stride;
    double sum = 0;
    for (unsigned i = blockIdx.y * WARPS + threadIdx.x / WARP; i < n; i += PARTS * WARPS)
        for (unsigned j = threadIdx.x % WARP; j < n; j += WARP)
            sum += (double)from[i * row + j] * (double)from[i * row + j];
    sum = sum_of_warp(sum);
    if (threadIdx.x % WARP == 0)
        part[threadIdx.x / WARP] = sum;
    __syncthreads();
    if (threadIdx.x > 0)
        return;
    for (int w = 1; w < WARPS; w++)
        sum += part[w];
    square[(size_t)blockIdx.y * gridDim.x + blockIdx.x] = sum;
}

static int squares(void *context, double *square, char *message)
{
    card_matrices *m = (card_matrices *)context;
    const size_t kernels = m->bank->kernels;
    if (kernels == 0)
        return 0;
    double *parts = (double *)malloc(PARTS * kernels * sizeof *parts);
    if (parts == NULL) {
        snprintf(message, MD_DEVICE_MESSAGE, "out of memory");
        return 1;
    }
    bool failed = turn_to_card(m, message);
    if (!failed) {
        const dim3 grid((unsigned)kernels, PARTS);
        add_squares<<<grid, THREADS, 0, m->bank->on->stream>>>(m->values, m->row, m->stride,
                                                               (unsigned)m->n, m->square);
        failed = card_failed(cudaGetLastError(), "adding up squares", message) ||
                 get(m, parts, m->square, PARTS * kernels * sizeof *parts, message);
    }
    for (size_t k = 0; !failed && k < kernels; k++) {
        square[k] = 0;
        for (size_t p = 0; p < PARTS; p++)
            square[k] += parts[p * kernels + k];
    }
    free(parts);
    return failed;
}

/* ---- weighted sums ---- */

static __global__ void __launch_bounds__(THREADS)
    add_matrices(const float *values, size_t row, size_t stride, unsigned n, const unsigned *chosen,
                 const double *weight, unsigned count, double *sum)
{
    __shared__ double own_weight[SUMMED];
    __shared__ size_t own_place[SUMMED];
    const unsigned j = blockIdx.y * THREADS + threadIdx.x;
    const float *from = values + blockIdx.x * row;
    double total = 0;
    for (unsigned first = 0; first < count; first += SUMMED) {
        const unsigned some = count - first < SUMMED ? count - first : (unsigned)SUMMED;
        __syncthreads();
        for (unsigned k = threadIdx.x; k < some; k += THREADS) {
            own_weight[k] = weight[first + k];
            own_place[k] = chosen[first + k] * stride;
        }
        __syncthreads();
#pragma unroll 8
        for (unsigned k = 0; j < n && k < some; k++)
            total += own_weight[k] * (double)from[own_place[k] + j];
    }
    if (j < n)
        sum[(size_t)blockIdx.x * n + j] = total;
}

static int add_up(void *context, const size_t *kernels, size_t count, const double *weight,
                  double *sum, char *message)
{
    card_matrices *m = (card_matrices *)context;
    cudaStream_t stream = m->bank->on->stream;
    if (m->n == 0)
        return 0;
    if (turn_to_card(m, message))
        return 1;
    if (choose(m, kernels, count, message) ||
        card_put(m->bank->on, m->weight, weight, count * sizeof *weight, message))
        return 1;
    const dim3 grid((unsigned)m->n, (unsigned)card_pieces(m->n, THREADS));
    add_matrices<<<grid, THREADS, 0, stream>>>(m->values, m->row, m->stride, (unsigned)m->n,
                                               m->chosen, m->weight, (unsigned)count, m->sum);
    if (card_failed(cudaGetLastError(), "adding up kernels", message))
        return 1;
    return sum != NULL && get(m, sum, m->sum, m->n * m->n * sizeof *sum, message);
}

/* A warp has a row of the sum. */
static __global__ void __launch_bounds__(THREADS)
    multiply_sum_rows(const double *sum, unsigned n, const double *x, double *y)
{
    const unsigned i = blockIdx.x * WARPS + threadIdx.x / WARP;
    double total = 0;
    for (unsigned j = threadIdx.x % WARP; i < n && j < n; j += WARP)
        total += sum[(size_t)i * n + j] * x[j];
    total = sum_of_warp(total);
    if (i < n && threadIdx.x % WARP == 0)
        y[i] = total;
}

static int multiply_sum(void *context, const double *x, double *y, char *message)
{
    card_matrices *m = (card_matrices *)context;
    cudaStream_t stream = m->bank->on->stream;
    const size_t bytes = m->n * sizeof *x;
    if (m->n == 0)
        return 0;
    if (turn_to_card(m, message))
        return 1;
    memcpy(m->sent, x, bytes);
    if (card_failed(cudaMemcpyAsync(m->x, m->sent, bytes, cudaMemcpyHostToDevice, stream),
                    "copying vectors to it", message))
        return 1;
    multiply_sum_rows<<<(unsigned)card_pieces(m->n, WARPS), THREADS, 0, stream>>>(
        m->sum, (unsigned)m->n, m->x, m->sent + m->n); /* the card writes to the processor */
    if (card_failed(cudaGetLastError(), "multiplying", message) || wait(m, message))
        return 1;
    memcpy(y, m->sent + m->n, bytes);
    return 0;
}

static int column(void *context, size_t row, double *out, char *message)
{
    card_matrices *m = (card_matrices *)context;
    return turn_to_card(m, message) ||
           get(m, out, m->sum + row * m->n, m->n * sizeof *out, message);
}

/* ---- creation ---- */

static void free_matrices(void *context)
{
    card_matrices *m = (card_matrices *)context;
    if (m == NULL)
        return;
    (void)cudaStreamSynchronize(m->bank->on->stream);
    for (cudaEvent_t event : m->arrived)
        if (event != NULL)
            (void)cudaEventDestroy(event);
    card_pool_free(&m->pool);
    free(m);
}

/* All values: every row of the bank as a left row. */
static bool fill(card_matrices *m, char *message)
{
    card_bank *bank = m->bank;
    void **place = (void **)malloc((m->n + 1) * sizeof(void *));
    void **on_card = NULL;
    if (place == NULL) {
        snprintf(message, MD_DEVICE_MESSAGE, "out of memory");
        return true;
    }
    for (size_t i = 0; i < m->n; i++)
        place[i] = m->values + i * m->row;
    const bool failed =
        card_put_new(bank->on, &m->pool, &on_card, place, m->n, message) ||
        card_values(bank, bank->own.rows, true, true, on_card, bank->on->stream, message);
    free(place);
    return failed;
}

static bool make_events(card_matrices *m, char *message)
{
    for (cudaEvent_t &event : m->arrived)
        if (card_failed(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "starting it",
                        message))
            return true;
    return false;
}

static int create_matrices(void *context, void **result, char *message)
{
    card_bank *bank = (card_bank *)context;
    card_matrices *m = (card_matrices *)calloc(1, sizeof *m);
    *result = NULL;
    if (m == NULL) {
        snprintf(message, MD_DEVICE_MESSAGE, "out of memory");
        return 1;
    }
    m->bank = bank;
    m->n = bank->rows;
    m->stride = bank->stride;
    m->row = bank->kernels * bank->stride;
    m->slot = CARD_SLOT > m->n * sizeof(double) ? CARD_SLOT : m->n * sizeof(double);
    if (card_allocate(&m->pool, &m->values, m->n * m->row, message) ||
        card_allocate(&m->pool, &m->x, bank->kernels * m->n + m->n, message) ||
        card_allocate(&m->pool, &m->y, bank->kernels * m->n, message) ||
        card_allocate(&m->pool, &m->sum, m->n * m->n, message) ||
        card_allocate(&m->pool, &m->norm2, bank->kernels, message) ||
        card_allocate(&m->pool, &m->square, PARTS * bank->kernels, message) ||
        card_allocate(&m->pool, &m->weight, bank->kernels, message) ||
        card_allocate(&m->pool, &m->chosen, bank->kernels, message) ||
        card_pin(&m->pool, &m->sent, 2 * m->n, message) ||
        card_pin(&m->pool, &m->results, SLOTS * m->slot, message) || make_events(m, message) ||
        fill(m, message)) {
        free_matrices(m);
        return 1;
    }
    *result = m;
    return 0;
}

void card_matrices_functions(md_device_functions *functions)
{
    functions->matrices_create = create_matrices;
    functions->matrices_free = free_matrices;
    functions->multiply = multiply;
    functions->squares = squares;
    functions->sum = add_up;
    functions->multiply_sum = multiply_sum;
    functions->column = column;
}
