/* SPDX-License-Identifier: BSD-3-Clause */
/* The operations of a card (src/device/device.h), each alone: values of changed rows that are
 * fresh, the same when they were kept, open rows, whole matrices and their products. Beside each
 * stand the flops and bytes that it needs at least, as rates and as shares of what the card can do
 * (card_limits, which stands beside this program). Skipped where there is no card.
 *
 *     bench_card [ROWS] */
#include "base/parallel.h"
#include "base/random.h"
#include "device/open_device.h"
#include <libgen.h>
#include <limits.h>
#include <unistd.h>

enum { VIEWS = 4, COLUMNS = 196, EACH = 3, KERNELS = VIEWS * EACH, LABELS = 10, REPEATS = 20 };

static double copy_limit, float_limit, double_limit; /* 0: not known */

/* What card_limits prints, if it is there. */
static void find_limits(void)
{
    char own[PATH_MAX];
    char command[PATH_MAX + 16];
    const ssize_t length = readlink("/proc/self/exe", own, sizeof own - 1);
    if (length <= 0)
        return;
    own[length] = '\0';
    snprintf(command, sizeof command, "%s/card_limits", dirname(own));
    FILE *limits = access(command, X_OK) == 0 ? popen(command, "r") : NULL;
    if (limits == NULL)
        return;
    if (fscanf(limits, "%lf %lf %lf", &copy_limit, &float_limit, &double_limit) != 3)
        copy_limit = float_limit = double_limit = 0;
    pclose(limits);
}

static void check(medley_status status, const medley_error *error)
{
    if (status == MEDLEY_OK)
        return;
    fprintf(stderr, "bench_card: %s\n", error->message);
    exit(1);
}

static void show(const char *what, double seconds, double flops, double bytes, double flop_limit)
{
    printf("%-44s %9.3f ms %7.2f TFLOP/s", what, 1e3 * seconds, flops / seconds / 1e12);
    if (flop_limit > 0)
        printf(" (%2.0f %%)", 100 * flops / seconds / 1e12 / flop_limit);
    printf(" %7.0f GB/s", bytes / seconds / 1e9);
    if (copy_limit > 0)
        printf(" (%2.0f %%)", 100 * bytes / seconds / 1e9 / copy_limit);
    printf("\n");
}

/* ---- rows ---- */

struct rows {
    md_device_rows rows;
    float *values, *norms;
    const float *view[VIEWS], *norm2[VIEWS], *none[KERNELS];
    size_t columns[VIEWS];
    md_device_kernel kernel[KERNELS];
    md_device_layout layout;
};

static void make_rows(struct rows *r, size_t n)
{
    md_random random;
    md_random_seed(&random, 1);
    memset(r, 0, sizeof *r);
    r->values = md_calloc(VIEWS * n * COLUMNS, sizeof *r->values);
    r->norms = md_calloc(VIEWS * n, sizeof *r->norms);
    if (r->values == NULL || r->norms == NULL)
        exit(1);
    for (size_t i = 0; i < VIEWS * n * COLUMNS; i++) {
        r->values[i] = (float)md_random_uniform(&random) / 14;
        r->norms[i / COLUMNS] += r->values[i] * r->values[i];
    }
    for (size_t v = 0; v < VIEWS; v++) {
        r->columns[v] = COLUMNS;
        r->view[v] = r->values + v * n * COLUMNS;
        r->norm2[v] = r->norms + v * n;
        r->kernel[v * EACH].form = (md_device_form){MD_ON_PRODUCT, MD_MAP_POWER, 1, 0, 1};
        r->kernel[v * EACH + 1].form = (md_device_form){MD_ON_PRODUCT, MD_MAP_POWER, 1, 1, 3};
        r->kernel[v * EACH + 2].form = (md_device_form){MD_ON_DISTANCE2, MD_MAP_EXP, -0.2F, 0, 0};
        for (size_t e = 0; e < EACH; e++)
            r->kernel[v * EACH + e].view = v;
    }
    r->rows = (md_device_rows){.rows = n,
                               .view = r->view,
                               .norm2 = r->norm2,
                               .lift = r->none,
                               .factor = r->none,
                               .shift = r->none,
                               .root = r->none};
    r->layout = (md_device_layout){VIEWS, r->columns, KERNELS, r->kernel, md_parallel_for, 1};
}

/* ---- scores ---- */

struct adding {
    md_device_scores *scores;
    float *change, *out;
    size_t *row;
    size_t n;
};

/* Seconds to add changes of so many rows, from `first` on, to the scores of all. */
static double add(struct adding *a, size_t first, size_t count)
{
    medley_error error = {0};
    for (size_t i = 0; i < count; i++)
        a->row[i] = (first + i) % a->n;
    check(md_device_read(a->scores, 0, a->out, &error), &error);
    const double begin = md_clock_seconds();
    check(md_device_add(a->scores, a->row, count, a->change, false, &error), &error);
    check(md_device_read(a->scores, 0, a->out, &error), &error);
    return md_clock_seconds() - begin;
}

/* The same, without what it takes to read the scores of a kernel. */
static double least_of(struct adding *a, size_t first, size_t step, size_t count)
{
    double least = INFINITY;
    double reading = INFINITY;
    for (int i = 0; i < REPEATS; i++) {
        least = fmin(least, add(a, first + (size_t)i * step, count));
        reading = fmin(reading, add(a, 0, 0));
    }
    return least - reading;
}

static void bench_scores(const md_device *device, const struct rows *r)
{
    enum { MOST = 1024, OPEN = 496 };
    static const size_t counts[] = {16, 64, 256, 1024};
    const size_t n = r->rows.rows;
    const size_t slots[KERNELS] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
    float weight[KERNELS];
    medley_error error = {0};
    md_device_bank *bank = NULL;
    struct adding a = {.n = n};
    char what[80];
    for (size_t m = 0; m < KERNELS; m++)
        weight[m] = 1;
    a.change = md_calloc(KERNELS * LABELS * MOST, sizeof *a.change);
    a.out = md_calloc(LABELS * n, sizeof *a.out);
    a.row = md_calloc(MOST, sizeof *a.row);
    const md_device_slots layout = {.slots = KERNELS,
                                    .labels = LABELS,
                                    .slot_of = slots,
                                    .weight = weight,
                                    .most = MOST,
                                    .most_open = OPEN};
    const double began = md_clock_seconds();
    check(md_device_bank_create(&bank, device, &r->layout, &r->rows, false, &error), &error);
    check(md_device_scores_create(&a.scores, bank, &layout, &error), &error);
    printf("%zu rows, %d views of %d columns, %d kernels: to the card in %.3f s\n", n, VIEWS,
           COLUMNS, KERNELS, md_clock_seconds() - began);
    size_t fresh = 0;
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
        const double values = (double)counts[c] * (double)n * KERNELS;
        const double products = 2.0 * (double)counts[c] * (double)n * VIEWS * COLUMNS;
        const double moved = 8.0 * (double)n * LABELS * KERNELS;
        snprintf(what, sizeof what, "%zu fresh rows: values, kept and added", counts[c]);
        const double seconds = least_of(&a, fresh, counts[c], counts[c]);
        show(what, seconds, products + 2 * values * LABELS, 4 * values + moved, float_limit);
        snprintf(what, sizeof what, "%zu kept rows: added", counts[c]);
        show(what, least_of(&a, fresh, 0, counts[c]), 2 * values * LABELS, 2 * values + moved,
             float_limit);
        fresh += REPEATS * counts[c];
    }
    double open = INFINITY;
    md_device_opened opened;
    for (int i = 0; i < REPEATS; i++) {
        for (size_t j = 0; j < OPEN; j++)
            a.row[j] = ((size_t)i + j) % n;
        const double begin = md_clock_seconds();
        check(md_device_open_rows(a.scores, a.row, OPEN, &opened, &error), &error);
        open = fmin(open, md_clock_seconds() - begin);
    }
    show("496 rows opened, nothing beforehand", open, 2.0 * OPEN * OPEN * VIEWS * COLUMNS,
         4.0 * OPEN * OPEN * KERNELS, float_limit);
    md_device_scores_free(a.scores);
    md_device_bank_free(bank);
    free(a.change);
    free(a.out);
    free(a.row);
}

/* ---- matrices ---- */

static void bench_matrices(const md_device *device, const struct rows *all)
{
    enum { ROWS = 5000 };
    const size_t n = md_min(all->rows.rows, ROWS);
    const size_t kernels[KERNELS] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
    const double values = (double)n * (double)n * KERNELS;
    double weight[KERNELS];
    md_device_rows rows = all->rows;
    medley_error error = {0};
    md_device_bank *bank = NULL;
    md_device_matrices *matrices = NULL;
    double *x = md_calloc(2 * n, sizeof *x);
    double *y = md_calloc(KERNELS * n, sizeof *y);
    if (x == NULL || y == NULL)
        exit(1);
    for (size_t m = 0; m < KERNELS; m++)
        weight[m] = 1;
    for (size_t i = 0; i < n; i++)
        x[i] = 1;
    rows.rows = n;
    check(md_device_bank_create(&bank, device, &all->layout, &rows, true, &error), &error);
    double begin = md_clock_seconds();
    check(md_device_matrices_create(&matrices, bank, &error), &error);
    check(md_device_multiply(matrices, kernels, 1, x, 0, NULL, y, &error), &error);
    printf("%d matrices of %zu rows:\n", KERNELS, n);
    show("computed", md_clock_seconds() - begin, 2.0 * (double)n * (double)n * VIEWS * COLUMNS,
         4 * values, float_limit);
    double product = INFINITY;
    double sum = INFINITY;
    double by_sum = INFINITY;
    for (int i = 0; i < REPEATS; i++) {
        begin = md_clock_seconds();
        check(md_device_multiply(matrices, kernels, KERNELS, x, 0, NULL, y, &error), &error);
        product = fmin(product, md_clock_seconds() - begin);
        begin = md_clock_seconds();
        check(md_device_sum(matrices, kernels, KERNELS, weight, NULL, &error), &error);
        check(md_device_multiply_sum(matrices, x, x + n, &error), &error);
        sum = fmin(sum, md_clock_seconds() - begin);
        begin = md_clock_seconds();
        check(md_device_multiply_sum(matrices, x, x + n, &error), &error);
        by_sum = fmin(by_sum, md_clock_seconds() - begin);
    }
    show("products with a vector", product, 2 * values, 4 * values, double_limit);
    show("their weighted sum", sum - by_sum, 2 * values, 4 * values, double_limit);
    show("a product with it", by_sum, 2.0 * (double)n * (double)n, 8.0 * (double)n * (double)n,
         double_limit);
    md_device_matrices_free(matrices);
    md_device_bank_free(bank);
    free(x);
    free(y);
}

int main(int count, char **words)
{
    const size_t rows = count > 1 ? (size_t)strtoull(words[1], NULL, 10) : 60000;
    char reason[MD_DEVICE_MESSAGE];
    medley_error error = {0};
    md_device *device = NULL;
    struct rows r;
    const double began = md_clock_seconds();
    if (md_device_open(&device, "cuda", reason, &error) != MEDLEY_OK) {
        printf("skipped: %s\n", error.message);
        return 0;
    }
    printf("%s, started in %.2f s\n", md_device_name(device), md_clock_seconds() - began);
    find_limits();
    if (copy_limit > 0)
        printf("limits: copy %.0f GB/s, %.1f TFLOP/s in float, %.1f in double\n", copy_limit,
               float_limit, double_limit);
    make_rows(&r, rows);
    bench_scores(device, &r);
    bench_matrices(device, &r);
    free(r.values);
    free(r.norms);
    md_device_close(device);
    return 0;
}
