/* SPDX-License-Identifier: BSD-3-Clause */
/* What a bank of very many kernels costs before any kernel value is computed: making views, kernels
 * and names, extracting the prepared rows, choosing a subset. 200 x 20 inputs. Best of three.
 *
 *   widths  5,000 random views with 10 Gaussian widths each: 50,000 kernels
 *   lines   6,000 specs that each name another one of 6,000 random views
 *   auto    5,000 random views with one width each that is chosen from the data
 *
 *     bench_bank [ROWS [COLUMNS]] */
#include "base/memory.h"
#include "base/random.h"
#include "gram/prepared_rows.h"
#include <stdio.h>
#include <stdlib.h>

enum { REPEATS = 3, LINES = 6000 };

struct workload {
    const char *name;
    char **kernels;
    const char *views;
    char *const *scale;
};

/* Seconds of each step. */
struct seconds {
    double make, prepared, subset, clear;
};

static void check(medley_status status, const medley_error *error)
{
    if (status < 0) {
        fprintf(stderr, "bench_bank: %s\n", error->message);
        exit(1);
    }
}

static medley_dataset *make_data(size_t rows, size_t columns)
{
    medley_error error = {0};
    medley_dataset *dataset = NULL;
    md_random random;
    md_random_seed(&random, 1);
    double *values = md_calloc(rows * columns, sizeof *values);
    if (values == NULL)
        exit(1);
    for (size_t i = 0; i < rows * columns; i++)
        values[i] = md_random_normal(&random);
    check(medley_dataset_from_dense(&dataset, values, rows, columns, NULL, &error), &error);
    free(values);
    return dataset;
}

static void keep_best(struct seconds *best, const double clock[5])
{
    double *const slots[] = {&best->make, &best->prepared, &best->subset, &best->clear};
    for (size_t i = 0; i < 4; i++) {
        const double took = clock[i + 1] - clock[i];
        if (*slots[i] == 0 || took < *slots[i])
            *slots[i] = took;
    }
}

static size_t run_once(struct seconds *best, const struct workload *work,
                       const medley_dataset *dataset)
{
    const md_bank_options options = {
        .kernels = work->kernels, .views = work->views, .scale = work->scale, .seed = 1};
    medley_error error = {0};
    md_bank bank;
    md_bank subset;
    md_prepared prepared;
    double clock[5];
    clock[0] = md_clock_seconds();
    check(md_bank_make(&bank, dataset, &options, &error), &error);
    clock[1] = md_clock_seconds();
    check(md_prepared_make(&prepared, &bank, dataset, true, &error), &error);
    clock[2] = md_clock_seconds();
    size_t *keep = md_calloc(bank.count, sizeof *keep);
    if (keep == NULL)
        exit(1);
    for (size_t m = 0; m < bank.count; m++)
        keep[m] = m;
    check(md_bank_subset(&subset, &bank, keep, bank.count, &error), &error);
    clock[3] = md_clock_seconds();
    const size_t count = bank.count;
    md_prepared_clear(&prepared);
    md_bank_clear(&subset);
    md_bank_clear(&bank);
    clock[4] = md_clock_seconds();
    free(keep);
    keep_best(best, clock);
    return count;
}

static void run(const struct workload *work, const medley_dataset *dataset)
{
    struct seconds best = {0};
    size_t count = 0;
    for (size_t i = 0; i < REPEATS; i++)
        count = run_once(&best, work, dataset);
    const double sum = best.make + best.prepared + best.subset + best.clear;
    printf("%-7s %6zu kernels: make %.3f s, points %.3f s, subset %.3f s, clear %.3f s, in all "
           "%.3f s\n",
           work->name, count, best.make, best.prepared, best.subset, best.clear, sum);
}

int main(int count, char **words)
{
    const size_t rows = count > 1 ? strtoul(words[1], NULL, 10) : 200;
    const size_t columns = count > 2 ? strtoul(words[2], NULL, 10) : 20;
    static char text[LINES][32];
    static char *lines[LINES + 1];
    static char *standard[] = {"standard", NULL};
    for (size_t i = 0; i < LINES; i++) {
        snprintf(text[i], sizeof text[i], "rbf(sigma=1.7)@random%zu", LINES - i);
        lines[i] = text[i];
    }
    medley_dataset *dataset = make_data(rows, columns);
    const struct workload workloads[] = {
        {"widths", (char *[]){"rbf(sigma={0.1,0.2,0.5,0.7,1,1.5,2,5,10,17})", NULL}, "random:5000",
         standard},
        {"lines", lines, "random:6000", NULL},
        {"auto", (char *[]){"rbf(auto)", NULL}, "random:5000", NULL},
    };
    for (size_t w = 0; w < sizeof workloads / sizeof *workloads; w++)
        run(&workloads[w], dataset);
    medley_dataset_free(dataset);
    return 0;
}
