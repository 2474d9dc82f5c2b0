/* SPDX-License-Identifier: BSD-3-Clause */
/* As much of CUDA's runtime as src/cuda uses, on the processor: so the plug-in's own code, its
 * kernels included, is tested where there is no card, and under the sanitizers. It is as hard on
 * the code as a card may be:
 *
 * - What is put into a stream is done as late as it may be, when somebody waits for it: who reads a
 * result too early, or writes too early over memory that is still to be copied, finds out.
 * - The threads of a block run one after the other from barrier to barrier, in odd blocks from the
 * last one to the first: a barrier that is missing shows. One that only some threads come to ends
 * the program.
 * - New memory is filled with bits that are not a number.
 *
 * In the environment: MEDLEY_CARD_LOST=N, the N-th call that can fail does, and all that follow;
 * MEDLEY_CARD_MEMORY=MB, so much of it is there; MEDLEY_CARD_PAGES=1, it reads the processor's
 * pages by itself, and later. */
#ifndef TESTS_DEVICE_CUDA_RUNTIME_H
#define TESTS_DEVICE_CUDA_RUNTIME_H

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>

#define __global__
#define __device__
#define __forceinline__ inline
#define __shared__      static
#define __launch_bounds__(...)

struct alignas(8) float2 {
    float x, y;
};

struct alignas(16) float4 {
    float x, y, z, w;
};

struct alignas(8) uint2 {
    unsigned x, y;
};

static inline float4 make_float4(float x, float y, float z, float w)
{
    return {x, y, z, w};
}

struct dim3 {
    unsigned x, y, z;
    dim3(unsigned x_count = 1, unsigned y_count = 1, unsigned z_count = 1)
        : x(x_count), y(y_count), z(z_count)
    {
    }
};

/* ---- for kernels ---- */

extern dim3 threadIdx, blockIdx, blockDim, gridDim;
void __syncthreads();
double __shfl_down_sync(unsigned mask, double value, unsigned step);
using std::isfinite;

/* Rounded twice: in place of the mathematical library's, which is slow where the processor's own
 * may not be used. */
static inline float card_fmaf(float x, float y, float z)
{
    return x * y + z;
}
#define fmaf card_fmaf

/* ---- for the processor's side ---- */

enum cudaError_t {
    cudaSuccess = 0,
    cudaErrorInvalidValue = 1,
    cudaErrorMemoryAllocation = 2,
    cudaErrorLaunchFailure = 719
};
enum cudaMemcpyKind { cudaMemcpyHostToDevice = 1, cudaMemcpyDeviceToHost = 2 };
enum cudaDeviceAttr { cudaDevAttrPageableMemoryAccessUsesHostPageTables = 100 };
enum { cudaStreamNonBlocking = 1, cudaEventDisableTiming = 2 };

struct card_stream;
struct card_event;
typedef card_stream *cudaStream_t;
typedef card_event *cudaEvent_t;

struct cudaDeviceProp {
    char name[256];
    int major, minor;
};

cudaError_t cudaGetLastError();
const char *cudaGetErrorString(cudaError_t status);
cudaError_t cudaGetDeviceCount(int *count);
cudaError_t cudaGetDeviceProperties(cudaDeviceProp *properties, int number);
cudaError_t cudaSetDevice(int number);
cudaError_t cudaMemGetInfo(size_t *available, size_t *total);
cudaError_t cudaMalloc(void **place, size_t bytes);
cudaError_t cudaFree(void *place);
cudaError_t cudaMallocHost(void **place, size_t bytes);
enum { cudaHostRegisterDefault = 0 };
cudaError_t cudaHostRegister(void *memory, size_t bytes, unsigned flags);
cudaError_t cudaHostUnregister(void *memory);
cudaError_t cudaFreeHost(void *place);
cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream);
cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                              size_t width, size_t height, cudaMemcpyKind kind,
                              cudaStream_t stream);
cudaError_t cudaMemsetAsync(void *to, int byte, size_t bytes, cudaStream_t stream);
cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest);
cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr attribute, int number);
cudaError_t cudaStreamCreateWithPriority(cudaStream_t *stream, unsigned flags, int priority);
cudaError_t cudaStreamDestroy(cudaStream_t stream);
cudaError_t cudaStreamSynchronize(cudaStream_t stream);
cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned flags);
cudaError_t cudaEventDestroy(cudaEvent_t event);
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream);
cudaError_t cudaEventSynchronize(cudaEvent_t event);
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags);

/* ---- launches: kernel<<<grid, threads, shared, stream>>>(...) is rewritten to
 * card_launch(kernel, grid, threads, shared, stream)(...) (cmake/cuda_launches.cmake) ---- */

/* Puts a launch into the stream; body: what one thread does. */
void card_enqueue(dim3 grid, dim3 threads, cudaStream_t stream, std::function<void()> body);

template <typename... Arguments> struct card_launcher {
    void (*kernel)(Arguments...);
    dim3 grid, threads;
    cudaStream_t stream;
    void operator()(Arguments... arguments) const
    {
        void (*const own)(Arguments...) = kernel;
        card_enqueue(grid, threads, stream, [own, arguments...]() { own(arguments...); });
    }
};

template <typename... Arguments>
card_launcher<Arguments...> card_launch(void (*kernel)(Arguments...), dim3 grid, dim3 threads,
                                        size_t /*shared*/, cudaStream_t stream)
{
    return {kernel, grid, threads, stream};
}

#endif
