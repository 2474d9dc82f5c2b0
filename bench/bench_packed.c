/* SPDX-License-Identifier: BSD-3-Clause */
/* What passes over packed kernel matrices cost, beside what cannot be avoided: reading as many
 * bytes of plain memory with the same number of threads. Best of so many repeats, in turn. The
 * target is a ratio of at most 1.5. For products and sums in one pass over large kernels, which
 * read them twice, the bytes are counted twice.
 *
 *     bench_store [KERNELS ROWS [THREADS [REPEATS]]] */
#include "base/memory.h"
#include "base/parallel.h"
#include "base/random.h"
#include "base/vector.h"
#include "data/dataset.h"
#include "packed/packed.h"
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COLUMNS = 20, STRIPES = 256 };

static void check(medley_status status, const medley_error *error)
{
    if (status < 0) {
        fprintf(stderr, "bench_store: %s\n", error->message);
        exit(1);
    }
}

static void *allocate(size_t count, size_t size)
{
    void *memory = md_alloc_aligned(count, size);
    if (memory == NULL) {
        fprintf(stderr, "bench_store: not enough memory\n");
        exit(1);
    }
    return memory;
}

/* ---- the floor ---- */

struct reading {
    const uint64_t *words;
    size_t count; /* of a stripe */
    uint64_t sums[STRIPES];
};

MD_VECTOR(uint64_t, sum_words, (const uint64_t *words, size_t count), (words, count))
{
    uint64_t sum = 0;
#pragma omp simd reduction(+ : sum)
    for (size_t i = 0; i < count; i++)
        sum += words[i];
    return sum;
}

static void read_stripe(void *context, size_t item, size_t worker)
{
    (void)worker;
    struct reading *reading = context;
    reading->sums[item] = sum_words(reading->words + item * reading->count, reading->count);
}

/* ---- the passes ---- */

struct passes {
    md_packed *packed;
    md_chosen all;
    double *x, *y, *norm2, *weight, *sum;
    struct reading reading;
    size_t threads;
};

static double weigh_evenly(void *context, size_t i, double norm2)
{
    (void)context;
    (void)i;
    return 1 / (1 + norm2);
}

static void read_plainly(struct passes *p, medley_error *error)
{
    (void)error;
    md_parallel_for(p->threads, STRIPES, read_stripe, &p->reading);
}

static void run_norms2(struct passes *p, medley_error *error)
{
    check(md_packed_norms2(p->packed, p->all, p->x, p->norm2, error), error);
}

static void run_multiply(struct passes *p, medley_error *error)
{
    check(md_packed_multiply(p->packed, p->all, p->x, p->y, error), error);
}

static void run_sum(struct passes *p, medley_error *error)
{
    check(md_packed_sum(p->packed, p->all, p->weight, p->sum, error), error);
}

static void run_both(struct passes *p, medley_error *error)
{
    check(md_packed_multiply_and_sum(p->packed, p->all, p->x, weigh_evenly, NULL, p->y, p->norm2,
                                     p->sum, error),
          error);
}

static void run_bounds(struct passes *p, medley_error *error)
{
    check(md_packed_bounds2(p->packed, p->all, p->x, p->norm2, error), error);
}

struct pass {
    const char *name;
    void (*run)(struct passes *p, medley_error *error);
};

static const struct pass passes[] = {{"plain read", read_plainly},
                                     {"norms2", run_norms2},
                                     {"multiply", run_multiply},
                                     {"sum", run_sum},
                                     {"multiply and sum", run_both}};
enum { PASSES = sizeof passes / sizeof *passes };

static void time_passes(struct passes *p, double bytes, int repeats)
{
    medley_error error = {0};
    double best[PASSES];
    const size_t kernels = md_packed_count(p->packed);
    const size_t rows = md_packed_rows(p->packed);
    for (size_t k = 0; k < PASSES; k++)
        best[k] = 1e30;
    for (int r = 0; r < repeats; r++)
        for (size_t k = 0; k < PASSES; k++) {
            const double begin = md_clock_seconds();
            passes[k].run(p, &error);
            const double seconds = md_clock_seconds() - begin;
            best[k] = seconds < best[k] ? seconds : best[k];
        }
    for (size_t k = 0; k < PASSES; k++) {
        const double read = k == PASSES - 1 && rows > 361 ? 2 * bytes : bytes;
        const double ratio = best[k] / best[0] * bytes / read;
        printf("%zu x %zu rows, %zu threads, %-16s %7.2f ms %6.2f GB/s  ratio %.2f\n", kernels,
               rows, p->threads, passes[k].name, 1e3 * best[k], read / best[k] / 1e9, ratio);
        printf("{\"bench\":\"packed\",\"case\":\"%s\",\"kernels\":%zu,\"rows\":%zu,\"threads\":%zu,"
               "\"seconds\":%.6f,\"gb_per_s\":%.2f,\"ratio\":%.4f}\n",
               passes[k].name, kernels, rows, p->threads, best[k], read / best[k] / 1e9, ratio);
    }
}

/* Upper bounds by factors, against what they replace. */
static void time_bounds(struct passes *p)
{
    medley_error error = {0};
    double best[2] = {1e30, 1e30};
    size_t factors = 0;
    const double begin = md_clock_seconds();
    check(md_packed_factor(p->packed, 1e-3, md_packed_rows(p->packed) / 8, &error), &error);
    const double factoring = md_clock_seconds() - begin;
    for (size_t m = 0; m < md_packed_count(p->packed); m++)
        factors += md_packed_has_factor(p->packed, m);
    for (int r = 0; r < 5; r++)
        for (size_t k = 0; k < 2; k++) {
            const double start = md_clock_seconds();
            (k ? run_bounds : run_norms2)(p, &error);
            const double seconds = md_clock_seconds() - start;
            best[k] = seconds < best[k] ? seconds : best[k];
        }
    printf("  factors: %zu of %zu kernels, %.1f MB, %.1f ms; bounds %.2f ms instead of %.2f ms\n",
           factors, md_packed_count(p->packed), (double)md_packed_factor_bytes(p->packed) / 1e6,
           1e3 * factoring, 1e3 * best[1], 1e3 * best[0]);
}

/* With room for half of the kernels, the others are computed anew each time. */
static void time_half(md_bank *bank, const md_prepared *prepared, struct passes *p)
{
    medley_error error = {0};
    double best = 1e30;
    const md_packed_options options = {.threads = p->threads,
                                       .memory = md_packed_bytes(p->packed) / 2};
    md_packed *whole = p->packed;
    check(md_packed_create(&p->packed, bank, prepared, &options, &error), &error);
    for (int r = 0; r < 3; r++) {
        const double begin = md_clock_seconds();
        run_norms2(p, &error);
        const double seconds = md_clock_seconds() - begin;
        best = seconds < best ? seconds : best;
    }
    printf("  with half the memory: norms2 %.1f ms\n", 1e3 * best);
    md_packed_free(p->packed);
    p->packed = whole;
}

/* ---- what they run on ---- */

static medley_dataset *make_rows(size_t rows)
{
    medley_error error = {0};
    medley_dataset *dataset = NULL;
    double *values = allocate(rows * COLUMNS, sizeof *values);
    md_random random;
    md_random_seed(&random, 1);
    for (size_t i = 0; i < rows * COLUMNS; i++)
        values[i] = md_random_normal(&random);
    check(medley_dataset_from_dense(&dataset, values, rows, COLUMNS, NULL, &error), &error);
    free(values);
    return dataset;
}

/* Gaussian kernels of every column, of more and more widths. */
static void make_bank(md_bank *bank, const medley_dataset *dataset, size_t kernels)
{
    medley_error error = {0};
    const size_t count = kernels / COLUMNS;
    char(*texts)[48] = allocate(count, sizeof *texts);
    char **specs = allocate(count + 1, sizeof *specs);
    for (size_t i = 0; i < count; i++) {
        snprintf(texts[i], sizeof texts[i], "rbf(gamma=%g)", 0.1 + 0.01 * (double)i);
        specs[i] = texts[i];
    }
    specs[count] = NULL;
    const md_bank_options options = {.kernels = specs, .views = "each"};
    check(md_bank_make(bank, dataset, &options, &error), &error);
    free(specs);
    free(texts);
}

static void run_case(size_t kernels, size_t rows, size_t threads, int repeats)
{
    medley_error error = {0};
    medley_dataset *dataset = make_rows(rows);
    md_bank bank = {0};
    md_prepared prepared = {0};
    struct passes p = {.threads = threads};
    make_bank(&bank, dataset, kernels);
    check(md_prepared_make(&prepared, &bank, dataset, true, &error), &error);
    const md_packed_options options = {.threads = threads};
    const double begin = md_clock_seconds();
    check(md_packed_create(&p.packed, &bank, &prepared, &options, &error), &error);
    printf("%zu x %zu rows: %.0f MB in %.3f s\n", bank.count, rows,
           (double)md_packed_bytes(p.packed) / 1e6, md_clock_seconds() - begin);
    const double bytes = (double)bank.count * (double)(rows * (rows + 1) / 2) * sizeof(float);
    p.all.count = bank.count;
    p.x = allocate(rows, sizeof(double));
    p.weight = allocate(bank.count, sizeof(double));
    p.norm2 = allocate(bank.count, sizeof(double));
    p.y = allocate(bank.count * rows, sizeof(double));
    p.sum = allocate(rows * rows, sizeof(double));
    for (size_t i = 0; i < rows; i++)
        p.x[i] = 1 / (double)(i + 1);
    for (size_t m = 0; m < bank.count; m++)
        p.weight[m] = 1 / (double)(m + 1);
    p.reading.count = (size_t)bytes / sizeof(uint64_t) / STRIPES;
    uint64_t *words = allocate(p.reading.count * STRIPES, sizeof *words);
    memset(words, 1, p.reading.count * STRIPES * sizeof *words);
    p.reading.words = words;
    time_passes(&p, bytes, repeats);
    time_bounds(&p);
    time_half(&bank, &prepared, &p);
    free(words);
    free(p.x);
    free(p.y);
    free(p.weight);
    free(p.norm2);
    free(p.sum);
    md_packed_free(p.packed);
    md_prepared_clear(&prepared);
    md_bank_clear(&bank);
    medley_dataset_free(dataset);
}

int main(int argc, char **argv)
{
    const size_t threads = argc > 3 ? strtoul(argv[3], NULL, 10) : 2;
    const int repeats = argc > 4 ? (int)strtol(argv[4], NULL, 10) : 10;
    if (argc > 2) {
        const size_t kernels = strtoul(argv[1], NULL, 10) / COLUMNS * COLUMNS;
        const size_t rows = strtoul(argv[2], NULL, 10);
        if (kernels == 0 || rows == 0 || threads == 0 || repeats <= 0) {
            fprintf(stderr, "usage: bench_store [KERNELS ROWS [THREADS [REPEATS]]]\n");
            return 2;
        }
        run_case(kernels, rows, threads, repeats);
        return 0;
    }
    run_case(6000, 200, threads, repeats);
    run_case(20, 2000, threads, repeats);
    return 0;
}
