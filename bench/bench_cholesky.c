/* SPDX-License-Identifier: BSD-3-Clause */
/* Times Cholesky's factorisation on one and two threads beside LAPACK's (where the BLAS library
 * brings it) on one and two, and the ends of the spectrum. Prints a table and one line of JSON.
 *
 *     bench_cholesky [LARGEST]     sizes up to LARGEST, 2000 unless given */
#include "base/memory.h"
#include "base/random.h"
#include "base/text.h"
#include "linalg/blas.h"
#include "optim/optim.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* NOLINTBEGIN(readability-redundant-declaration): only OpenBLAS has both */
extern void openblas_set_num_threads(int count) __attribute__((weak));
extern void dpotrf_(const char *side, const int *n, double *a, const int *lda, int *info)
    __attribute__((weak));
/* NOLINTEND(readability-redundant-declaration) */

static const double LEAST_SECONDS = 0.3;

struct problem {
    size_t n;
    double *matrix, *work;
};

/* A kernel-like matrix: ones near the diagonal that fall off with distance, and a ridge. */
static void fill(struct problem *problem)
{
    const size_t n = problem->n;
    md_random random;
    md_random_seed(&random, 1);
    double *place = md_calloc(n, sizeof *place);
    if (place == NULL)
        abort();
    for (size_t i = 0; i < n; i++)
        place[i] = 10 * md_random_uniform(&random);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            problem->matrix[i * n + j] = exp(-fabs(place[i] - place[j])) + (i == j ? 0.1 : 0);
    free(place);
}

static void factor(const struct problem *problem, int threads)
{
    if (!md_cholesky(problem->work, problem->n, (size_t)threads))
        abort();
}

static void factor_by_lapack(const struct problem *problem, int threads)
{
    const int n = (int)problem->n;
    int info = 0;
    openblas_set_num_threads(threads);
    dpotrf_("L", &n, problem->work, &n, &info);
    openblas_set_num_threads(1);
    if (info != 0)
        abort();
}

static void find_ends(const struct problem *problem, int threads)
{
    double least;
    double most;
    (void)threads;
    if (md_extreme_eigenvalues(problem->work, problem->n, &least, &most, NULL) < 0)
        abort();
}

/* Milliseconds of the best run. */
static double measure(const struct problem *problem,
                      void (*run)(const struct problem *problem, int threads), int threads)
{
    const size_t bytes = problem->n * problem->n * sizeof(double);
    double best = INFINITY;
    const double begin = md_clock_seconds();
    do {
        memcpy(problem->work, problem->matrix, bytes);
        const double start = md_clock_seconds();
        run(problem, threads);
        best = fmin(best, md_clock_seconds() - start);
    } while (md_clock_seconds() - begin < LEAST_SECONDS);
    return best * 1e3;
}

int main(int count, char **arguments)
{
    static const size_t sizes[] = {50, 100, 200, 500, 1000, 2000, 4000};
    const size_t largest = count > 1 ? strtoul(arguments[1], NULL, 10) : 2000;
    const bool has_lapack = dpotrf_ != NULL && openblas_set_num_threads != NULL;
    md_text json = {0};
    md_blas_single_thread();
    printf("milliseconds\n%6s %10s %10s %10s %10s %12s\n", "n", "1 thread", "2 threads", "LAPACK 1",
           "LAPACK 2", "eigenvalues");
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes && sizes[i] <= largest; i++) {
        struct problem p = {.n = sizes[i]};
        p.matrix = md_alloc_aligned(p.n * p.n, sizeof(double));
        p.work = md_alloc_aligned(p.n * p.n, sizeof(double));
        if (p.matrix == NULL || p.work == NULL)
            return EXIT_FAILURE;
        fill(&p);
        double ms[5] = {measure(&p, factor, 1), measure(&p, factor, 2), NAN, NAN,
                        measure(&p, find_ends, 1)};
        for (int threads = 1; has_lapack && threads <= 2; threads++)
            ms[1 + threads] = measure(&p, factor_by_lapack, threads);
        printf("%6zu %10.3f %10.3f %10.3f %10.3f %12.3f\n", p.n, ms[0], ms[1], ms[2], ms[3], ms[4]);
        md_text_addf(&json, "%s\"cholesky_%zu_ms\":%.4f,\"cholesky_%zu_2_threads_ms\":%.4f",
                     i ? "," : "", p.n, ms[0], p.n, ms[1]);
        free(p.matrix);
        free(p.work);
    }
    printf("{\"bench\":\"cholesky\",%s}\n", json.data ? json.data : "");
    md_text_clear(&json);
    return EXIT_SUCCESS;
}
