/* SPDX-License-Identifier: BSD-3-Clause */
/* The threads of a kernel on the processor: those of a block take turns on stacks of their own, and
 * change at barriers. */
#include "cuda_runtime.h"

#include "cuda_fp16.h"
#include "cuda_threads.h"
#include <csetjmp>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ucontext.h>
#include <vector>
#if defined(__SANITIZE_ADDRESS__)
#define SWITCHES_ARE_TOLD 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SWITCHES_ARE_TOLD 1
#endif
#endif
#ifdef SWITCHES_ARE_TOLD
#include <sanitizer/common_interface_defs.h>
#define UNTOLD __attribute__((no_sanitize("address")))
#else
#define UNTOLD
#endif
/* What calls a function that others may run before it comes back must not know which registers it
 * leaves alone. */
#if defined(__GNUC__) && !defined(__clang__)
#define LEAVES __attribute__((noipa))
#else
#define LEAVES __attribute__((noinline))
#endif

/* Where a thread goes on. The compiler's own jumps where it has them: AddressSanitizer takes those
 * of the library for the ends of functions, and looks through the whole stack. */
#if defined(__x86_64__)
typedef void *jump[5];
#define mark_place(place) __builtin_setjmp(place)
#define go_to(place)      __builtin_longjmp(place, 1)
#else
typedef jmp_buf jump;
#define mark_place(place) _setjmp(place)
#define go_to(place)      _longjmp(place, 1)
#endif

dim3 threadIdx, blockIdx, blockDim, gridDim;

enum { STACK = 1 << 16, WARP = 32 };

/* A barrier that `size` threads come to, and that can be used again. */
struct barrier {
    unsigned size, arrived, generation;
};

struct thread {
    jump place;
    void *told; /* to the sanitizer */
    dim3 index;
    bool begun, ended;
    const barrier *at;   /* waits there, */
    unsigned generation; /* for the end of this */
    double shown;        /* to its warp */
};

static struct {
    jump place;
    void *told;
    const void *stack;
    size_t stack_size;
    thread *threads;
    char *stacks;
    unsigned room, count, current;
    barrier all;
    std::vector<barrier> warps;
    const std::function<void()> *body;
} scheduler;

void card_end(const char *why)
{
    fprintf(stderr, "card on the processor: %s\n", why);
    abort();
}

/* ---- turns ---- */

UNTOLD static void leave(void **told, const void *stack, size_t size)
{
#ifdef SWITCHES_ARE_TOLD
    __sanitizer_start_switch_fiber(told, stack, size);
#else
    (void)told, (void)stack, (void)size;
#endif
}

UNTOLD static void arrive(void *told, const void **stack, size_t *size)
{
#ifdef SWITCHES_ARE_TOLD
    __sanitizer_finish_switch_fiber(told, stack, size);
#else
    (void)told, (void)stack, (void)size;
#endif
}

LEAVES UNTOLD static void back_to_scheduler()
{
    leave(&scheduler.threads[scheduler.current].told, scheduler.stack, scheduler.stack_size);
    go_to(scheduler.place);
}

LEAVES UNTOLD static void wait_at(barrier *at)
{
    thread *own = &scheduler.threads[scheduler.current];
    own->at = at;
    own->generation = at->generation;
    if (++at->arrived == at->size) {
        at->arrived = 0;
        at->generation++;
    }
    if (mark_place(own->place) == 0)
        back_to_scheduler();
    arrive(own->told, &scheduler.stack, &scheduler.stack_size);
    own->at = NULL;
}

/* A stack is begun once, and has a thread of every block that comes. */
LEAVES UNTOLD static void begin_thread()
{
    void *told = NULL;
    for (;;) {
        arrive(told, &scheduler.stack, &scheduler.stack_size);
        (*scheduler.body)();
        thread *own = &scheduler.threads[scheduler.current];
        own->ended = true;
        if (mark_place(own->place) == 0)
            back_to_scheduler();
        told = scheduler.threads[scheduler.current].told;
    }
}

LEAVES UNTOLD static void take_turn(unsigned t)
{
    thread *own = &scheduler.threads[t];
    char *stack = scheduler.stacks + (size_t)t * STACK;
    scheduler.current = t;
    threadIdx = own->index;
    if (mark_place(scheduler.place) == 0) {
        leave(&scheduler.told, stack, STACK);
        if (own->begun)
            go_to(own->place);
        own->begun = true;
        ucontext_t begin;
        getcontext(&begin);
        begin.uc_stack.ss_sp = stack;
        begin.uc_stack.ss_size = STACK;
        begin.uc_link = NULL;
        makecontext(&begin, begin_thread, 0);
        setcontext(&begin);
    }
    arrive(scheduler.told, NULL, NULL);
}

static bool can_go_on(const thread *t)
{
    return !t->ended && (t->at == NULL || t->generation != t->at->generation);
}

/* ---- blocks ---- */

static void make_room(unsigned count)
{
    if (count <= scheduler.room)
        return;
    delete[] scheduler.threads;
    delete[] scheduler.stacks;
    scheduler.threads = new thread[count]();
    scheduler.stacks = new char[(size_t)count * STACK];
    scheduler.room = count;
}

static void open_block(unsigned count)
{
    make_room(count);
    scheduler.count = count;
    scheduler.all = {count, 0, 0};
    scheduler.warps.assign((count + WARP - 1) / WARP, barrier());
    for (unsigned t = 0; t < count; t++) {
        thread *own = &scheduler.threads[t];
        own->index = dim3(t, 0, 0);
        own->ended = false;
        own->at = NULL;
        scheduler.warps[t / WARP].size++;
    }
}

/* Every thread until its end, backwards in odd blocks. */
static void run_block(unsigned count, bool backwards)
{
    open_block(count);
    for (unsigned left = count, moved = 1; left > 0; moved = 0) {
        for (unsigned i = 0; i < count; i++) {
            const unsigned t = backwards ? count - 1 - i : i;
            if (!can_go_on(&scheduler.threads[t]))
                continue;
            take_turn(t);
            moved++;
            if (scheduler.threads[t].ended)
                left--;
        }
        if (left > 0 && moved == 0)
            card_end("some threads wait at a barrier that others have not come to");
    }
}

void card_run(dim3 grid, dim3 threads, const std::function<void()> &body)
{
    if (threads.y != 1 || threads.z != 1 || threads.x > 1024)
        card_end("blocks have up to 1,024 threads in one direction");
    if (grid.x == 0 || grid.y == 0 || grid.z == 0 || grid.y > 65535 || grid.z > 65535)
        card_end(
            "a grid is empty, or has more than 65,535 blocks in its second or third direction");
    scheduler.body = &body;
    gridDim = grid;
    blockDim = threads;
    for (unsigned z = 0; z < grid.z; z++)
        for (unsigned y = 0; y < grid.y; y++)
            for (unsigned x = 0; x < grid.x; x++) {
                blockIdx = dim3(x, y, z);
                run_block(threads.x, (x + y + z) % 2 == 1);
            }
}

/* ---- what threads call ---- */

void __syncthreads()
{
    wait_at(&scheduler.all);
}

double __shfl_down_sync(unsigned mask, double value, unsigned step)
{
    const unsigned t = scheduler.current;
    barrier *warp = &scheduler.warps[t / WARP];
    if (mask != 0xffffffffU || warp->size != WARP)
        card_end("all threads of a whole warp are asked for");
    scheduler.threads[t].shown = value;
    wait_at(warp);
    const unsigned other = t % WARP + step < WARP ? t + step : t;
    const double found = scheduler.threads[other].shown;
    wait_at(warp); /* it has been read */
    return found;
}

/* ---- half precision ---- */

static float from_bits(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static uint32_t to_bits(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* Exponents are 112 larger, and fractions 13 bits longer, in single precision. */
float __half2float(__half half)
{
    const uint32_t sign = (uint32_t)(half.bits & 0x8000) << 16;
    const uint32_t bits = (uint32_t)(half.bits & 0x7fff) << 13;
    const bool is_finite = (half.bits & 0x7c00) != 0x7c00;
    const uint32_t size = is_finite ? to_bits(from_bits(bits) * 0x1p112f) : bits | 0x7f800000;
    return from_bits(sign | size);
}

__half __float2half_rn(float value)
{
    const float size = fabsf(value);
    const uint32_t bits = to_bits(size);
    uint32_t half;
    if (std::isnan(value))
        return {0x7fff};
    if (size >= 65520.0f)
        half = 0x7c00;
    else if (size < 0x1p-14f) /* the sum is rounded to multiples of the smallest number */
        half = to_bits(size + 0.5f) - to_bits(0.5f);
    else
        half = (bits + 0xfff + (bits >> 13 & 1) - (112U << 23)) >> 13;
    return {(uint16_t)((std::signbit(value) ? 0x8000 : 0) | half)};
}
