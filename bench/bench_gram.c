/* SPDX-License-Identifier: BSD-3-Clause */
/* What kernel matrices cost: three kernels of one view (linear, quadratic, Gaussian) on 5,000 x 128
 * inputs, beside what cannot be avoided: one matrix product of that size and writing three results
 * to fresh memory, both by the same number of threads. Best of five. The target is a ratio of at
 * most 2 to the two together.
 *
 *     bench_gram [ROWS [COLUMNS]] */
#include "base/memory.h"
#include "base/parallel.h"
#include "base/random.h"
#include "data/dataset.h"
#include "gram/gram.h"
#include "linalg/blas.h"
#include <cblas.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { REPEATS = 5, KERNELS = 3, STRIPES = 64 };

struct workload {
    const char *name;
    char *kernels[KERNELS + 1];
};

/* ---- the floor ---- */

/* A product or a result matrix, cut into stripes of rows. */
struct stripes {
    const float *inputs; /* [rows][columns] */
    float *values;       /* [rows][rows] */
    size_t rows, columns, height;
};

static size_t stripe_height(const struct stripes *work, size_t item)
{
    const size_t left = work->rows - item * work->height;
    return left < work->height ? left : work->height;
}

static void multiply_stripe(void *context, size_t item, size_t worker)
{
    (void)worker;
    const struct stripes *work = context;
    const size_t row = item * work->height;
    const int n = (int)work->rows;
    const int d = (int)work->columns;
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)stripe_height(work, item), n, d, 1,
                work->inputs + row * work->columns, d, work->inputs, d, 0,
                work->values + row * work->rows, n);
}

static void write_stripe(void *context, size_t item, size_t worker)
{
    (void)worker;
    const struct stripes *work = context;
    memset(work->values + item * work->height * work->rows, 1,
           stripe_height(work, item) * work->rows * sizeof(float));
}

/* The whole product, one stripe per thread: large pieces suit BLAS best. */
static double time_product(struct stripes work, size_t threads)
{
    work.height = (work.rows + threads - 1) / threads;
    const double begin = md_clock_seconds();
    md_parallel_for(threads, threads, multiply_stripe, &work);
    return md_clock_seconds() - begin;
}

static float *allocate(size_t count)
{
    float *values = md_alloc_aligned(count, sizeof *values);
    if (values == NULL) {
        fprintf(stderr, "bench_gram: not enough memory\n");
        exit(1);
    }
    return values;
}

static double time_writing(struct stripes work, size_t threads)
{
    work.height = (work.rows + STRIPES - 1) / STRIPES;
    const size_t items = (work.rows + work.height - 1) / work.height;
    double seconds = 0;
    float *results[KERNELS];
    for (size_t m = 0; m < KERNELS; m++) {
        const double begin = md_clock_seconds();
        work.values = results[m] = allocate(work.rows * work.rows);
        md_parallel_for(threads, items, write_stripe, &work);
        seconds += md_clock_seconds() - begin;
    }
    for (size_t m = 0; m < KERNELS; m++)
        free(results[m]);
    return seconds;
}

/* ---- the kernels ---- */

static void check(medley_status status, const medley_error *error)
{
    if (status < 0) {
        fprintf(stderr, "bench_gram: %s\n", error->message);
        exit(1);
    }
}

static double time_kernels(md_bank *bank, const medley_dataset *dataset, size_t threads)
{
    medley_error error = {0};
    md_prepared prepared = {0};
    md_gram *gram = NULL;
    const md_gram_options options = {.threads = threads};
    const double begin = md_clock_seconds();
    check(md_prepared_make(&prepared, bank, dataset, true, &error), &error);
    check(md_gram_create(&gram, bank, &prepared, &options, &error), &error);
    const double seconds = md_clock_seconds() - begin;
    md_gram_free(gram);
    md_prepared_clear(&prepared);
    return seconds;
}

static void run(const struct workload *workload, const medley_dataset *dataset, size_t threads)
{
    medley_error error = {0};
    md_bank bank = {0};
    const md_bank_options options = {.kernels = workload->kernels, .views = "all"};
    check(md_bank_make(&bank, dataset, &options, &error), &error);
    const md_matrix *inputs = &dataset->tables[0].features;
    const double rows = (double)inputs->rows;
    struct stripes work = {
        .inputs = inputs->dense, .rows = inputs->rows, .columns = inputs->columns};
    work.values = allocate(work.rows * work.rows);
    memset(work.values, 0, work.rows * work.rows * sizeof(float));

    double best[3] = {1e30, 1e30, 1e30};
    for (int i = 0; i < REPEATS; i++) {
        const double seconds[3] = {time_kernels(&bank, dataset, threads),
                                   time_product(work, threads), time_writing(work, threads)};
        for (int k = 0; k < 3; k++)
            best[k] = seconds[k] < best[k] ? seconds[k] : best[k];
    }
    free(work.values);
    md_bank_clear(&bank);

    const double ratio = best[0] / (best[1] + best[2]);
    const double gigabytes = KERNELS * rows * rows * sizeof(float) / 1e9;
    const double gigaflops = 2 * rows * rows * (double)inputs->columns / 1e9;
    printf("%-14s %zu thread%s: %6.1f ms = %.2f of product %5.1f ms (%.0f GFLOP/s) + writing "
           "%5.1f ms (%.1f GB/s); results at %.2f GB/s\n",
           workload->name, threads, threads > 1 ? "s" : " ", 1e3 * best[0], ratio, 1e3 * best[1],
           gigaflops / best[1], 1e3 * best[2], gigabytes / best[2], gigabytes / best[0]);
    printf("{\"bench\":\"gram\",\"case\":\"%s\",\"rows\":%zu,\"columns\":%zu,\"kernels\":%d,"
           "\"threads\":%zu,\"seconds\":%.6f,\"product_seconds\":%.6f,\"write_seconds\":%.6f,"
           "\"ratio\":%.4f,\"product_gflop_per_s\":%.1f,\"write_gb_per_s\":%.2f,"
           "\"result_gb_per_s\":%.2f}\n",
           workload->name, inputs->rows, inputs->columns, KERNELS, threads, best[0], best[1],
           best[2], ratio, gigaflops / best[1], gigabytes / best[2], gigabytes / best[0]);
}

int main(int argc, char **argv)
{
    static const struct workload workloads[] = {
        {"plain", {"linear", "poly(degree=2)", "rbf(sigma2=128)", NULL}},
        {"unit-diagonal",
         {"linear(norm=diag)", "poly(degree=2,norm=diag)", "rbf(sigma2=128)", NULL}}};
    const size_t rows = argc > 1 ? strtoul(argv[1], NULL, 10) : 5000;
    const size_t columns = argc > 2 ? strtoul(argv[2], NULL, 10) : 128;
    if (rows == 0 || columns == 0) {
        fprintf(stderr, "usage: bench_gram [ROWS [COLUMNS]]\n");
        return 2;
    }
    medley_error error = {0};
    medley_dataset *dataset = NULL;
    double *values = md_calloc(rows * columns, sizeof *values);
    md_random random;
    md_random_seed(&random, 1);
    for (size_t i = 0; values != NULL && i < rows * columns; i++)
        values[i] = md_random_normal(&random);
    check(medley_dataset_from_dense(&dataset, values, rows, columns, NULL, &error), &error);
    md_blas_single_thread();
    for (size_t threads = 1; threads <= 2; threads++)
        for (size_t w = 0; w < sizeof workloads / sizeof *workloads; w++)
            run(&workloads[w], dataset, threads);
    medley_dataset_free(dataset);
    free(values);
    return 0;
}
