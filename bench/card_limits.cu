/* SPDX-License-Identifier: BSD-3-Clause */
/* What a card can do at most: bytes of a copy within its memory, counted as they are read and
 * written, and multiplications with additions in single and double precision. bench_card puts its
 * figures beside these.
 *
 *     card_limits     GB/s, TFLOP/s in float, TFLOP/s in double */
#include <cstdio>
#include <cuda_runtime.h>

enum { BLOCKS = 4096, THREADS = 256, CHAINS = 16, STEPS = 4096, REPEATS = 20 };

/* Chains that do not wait for each other. */
template <typename T> static __global__ void multiply_and_add(T *out, T factor)
{
    T sum[CHAINS];
    for (int c = 0; c < CHAINS; c++)
        sum[c] = (T)(threadIdx.x + c);
    for (int step = 0; step < STEPS; step++)
#pragma unroll
        for (int c = 0; c < CHAINS; c++)
            sum[c] = sum[c] * factor + factor;
    T total = 0;
    for (int c = 0; c < CHAINS; c++)
        total += sum[c];
    if (total == (T)0.123456789) /* never: the loop stays */
        *out = total;
}

template <typename Work> static double seconds(Work work)
{
    cudaEvent_t from, to;
    float milliseconds = 0;
    cudaEventCreate(&from);
    cudaEventCreate(&to);
    work(); /* the first one starts things */
    cudaEventRecord(from);
    for (int i = 0; i < REPEATS; i++)
        work();
    cudaEventRecord(to);
    cudaEventSynchronize(to);
    cudaEventElapsedTime(&milliseconds, from, to);
    cudaEventDestroy(from);
    cudaEventDestroy(to);
    return (double)milliseconds * 1e-3 / REPEATS;
}

template <typename T> static double rate(void *memory)
{
    const double flops = 2.0 * BLOCKS * THREADS * CHAINS * STEPS;
    return flops / seconds([=] { multiply_and_add<<<BLOCKS, THREADS>>>((T *)memory, (T)0.999); }) /
           1e12;
}

int main()
{
    const size_t bytes = (size_t)1 << 30;
    char *memory = NULL;
    if (cudaMalloc(&memory, 2 * bytes) != cudaSuccess) {
        printf("skipped: there is no card that CUDA can use, or it lacks 2 GB\n");
        return 0;
    }
    const double copy =
        2.0 * (double)bytes /
        seconds([=] { cudaMemcpyAsync(memory + bytes, memory, bytes, cudaMemcpyDeviceToDevice); }) /
        1e9;
    printf("%.0f %.1f %.1f\n", copy, rate<float>(memory), rate<double>(memory));
    cudaFree(memory);
    return cudaGetLastError() != cudaSuccess;
}
