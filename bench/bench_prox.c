/* SPDX-License-Identifier: BSD-3-Clause */
/* Times the proximity operators on random block norms: the mkl threshold by selection and by
 * sorting beside one read of the norms, and the cost per block of the penalties that solve
 * equations. Prints a table and one line of JSON. */
#include "../tests/laws/mkl_sorted.h"
#include "base/memory.h"
#include "base/random.h"
#include "base/vector.h"
#include "penalty/block_weight.h"
#include "penalty/penalty.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SEED = 1, SMALL = 1000, LARGE = 1000000, REPEATS = 9 };

static const double TAU = 0.1;

struct input {
    size_t count;
    double *b, *weight, *shrunk, *scratch;
};

typedef double (*operation)(const struct input *input, const void *context);

static volatile double sink; /* keeps results alive */

MD_VECTOR(double, sum_of, (const double *b, size_t count), (b, count))
{
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (size_t m = 0; m < count; m++)
        sum += b[m];
    return sum;
}

static double read_once(const struct input *input, const void *context)
{
    (void)context;
    return sum_of(input->b, input->count);
}

static double select_threshold(const struct input *input, const void *context)
{
    return md_mkl_threshold(TAU, input->b, context, input->count, input->scratch);
}

static double sort_threshold(const struct input *input, const void *context)
{
    return mkl_threshold_sorted(TAU, input->b, context, input->count, input->scratch);
}

static double run_prox(const struct input *input, const void *context)
{
    memcpy(input->shrunk, input->b, input->count * sizeof *input->b);
    md_penalty_prox(context, TAU, input->shrunk, input->count, input->scratch);
    return input->shrunk[0];
}

/* Nanoseconds per block: the best of several runs, each long enough for the clock. */
static double measure(operation run, const struct input *input, const void *context)
{
    const size_t rounds = LARGE / input->count;
    double best = INFINITY;
    for (int repeat = 0; repeat < REPEATS; repeat++) {
        const double start = md_clock_seconds();
        for (size_t i = 0; i < rounds; i++)
            sink = run(input, context);
        best = fmin(best, md_clock_seconds() - start);
    }
    return best / (double)(rounds * input->count) * 1e9;
}

static double measure_penalty(const char *text, const struct input *input)
{
    md_penalty *penalty = NULL;
    medley_error error = {0};
    if (md_penalty_create(&penalty, text, &error) < 0) {
        fprintf(stderr, "%s\n", error.message);
        exit(1);
    }
    const double time = measure(run_prox, input, penalty);
    md_penalty_free(penalty);
    return time;
}

struct mkl_times {
    double read, selected, sorted;
};

static struct mkl_times measure_mkl(const struct input *input, const double *weight)
{
    const struct mkl_times times = {.read = measure(read_once, input, NULL),
                                    .selected = measure(select_threshold, input, weight),
                                    .sorted = measure(sort_threshold, input, weight)};
    printf(
        "mkl threshold, %s, M = %zu: selection %.2f ns/block, sorting %.2f (%.1f times as long), "
        "one read %.2f (selection takes %.1f reads)\n",
        weight ? "weights" : "no weights", input->count, times.selected, times.sorted,
        times.sorted / times.selected, times.read, times.selected / times.read);
    return times;
}

static bool make_input(struct input *input)
{
    double *memory = md_alloc_aligned((size_t)6 * LARGE, sizeof *memory);
    if (memory == NULL)
        return false;
    *input = (struct input){.count = LARGE,
                            .b = memory,
                            .weight = memory + LARGE,
                            .shrunk = memory + (size_t)2 * LARGE,
                            .scratch = memory + (size_t)3 * LARGE};
    md_random random;
    md_random_seed(&random, SEED);
    for (size_t m = 0; m < LARGE; m++) {
        input->b[m] = fabs(md_random_normal(&random));
        input->weight[m] = 0.5 + md_random_uniform(&random);
    }
    return true;
}

int main(void)
{
    static const char *const penalties[] = {"mkl",        "group-lasso",  "block(q=1.5)",
                                            "block(q=3)", "block(q=1.3)", "squared-block(q=1.5)",
                                            "elastic",    "elastic-mkl"};
    static const size_t sizes[] = {10, SMALL, LARGE};
    struct input input;
    md_text json = {0};
    if (!make_input(&input))
        return 1;
    md_text_addf(&json, "{\"bench\": \"prox\", \"seed\": %d, \"unit\": \"ns/block\"", SEED);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        input.count = sizes[i];
        measure_mkl(&input, input.weight);
        const struct mkl_times times = measure_mkl(&input, NULL);
        md_text_addf(&json,
                     ", \"mkl_%zu\": {\"selection\": %.3f, \"sorting\": %.3f, \"read\": %.3f}",
                     sizes[i], times.selected, times.sorted, times.read);
    }
    input.count = SMALL;
    for (size_t i = 0; i < sizeof penalties / sizeof *penalties; i++) {
        const double time = measure_penalty(penalties[i], &input);
        printf("prox of %s, M = %d: %.2f ns/block\n", penalties[i], SMALL, time);
        md_text_addf(&json, ", \"%s\": %.3f", penalties[i], time);
    }
    md_text_addf(&json, "}");
    puts(json.data ? json.data : "{}");
    md_text_clear(&json);
    free(input.b); /* the start of the one piece of memory */
    return 0;
}
