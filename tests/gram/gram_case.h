/* SPDX-License-Identifier: BSD-3-Clause */
/* A bank of random kernels with every normalisation over random data, and what each of its kernels
 * is by the formulas. For cmocka tests. */
#ifndef TESTS_GRAM_GRAM_CASE_H
#define TESTS_GRAM_GRAM_CASE_H

#include "gram/deferred.h"
#include "naive.h"

enum { CASE_KERNELS = 32 };

typedef struct gram_case {
    medley_dataset *data;
    md_bank bank;
    md_prepared prepared;
    size_t n, d;
    float *values;               /* [n][d] */
    naive kernels[CASE_KERNELS]; /* in the order of the bank */
    double *expected[CASE_KERNELS];
} gram_case;

/* Which data, which kernels (NULL: all of them) and which normalisations (NULL: all). */
typedef struct case_choice {
    data_kind kind;
    const char *const *kernels, *const *norms;
    uint64_t seed;
} case_choice;

static const char *const every_norm[] = {"none", "diag", "trace", "center", NULL};

static inline void check_ok(medley_status status, const medley_error *error)
{
    if (status < 0)
        fail_msg("%s", error->message);
}

static inline size_t draw_kernels(naive *drawn, const case_choice *choice)
{
    const char *const *names = choice->kernels ? choice->kernels : naive_names;
    const char *const *norms = choice->norms ? choice->norms : every_norm;
    md_random random;
    size_t count = 0;
    md_random_seed(&random, choice->seed);
    for (size_t i = 0; names[i] != NULL; i++)
        for (size_t j = 0; norms[j] != NULL; j++)
            drawn[count++] = naive_draw(names[i], norms[j], &random);
    return count;
}

/* The drawn kernel that a kernel of the bank was made from. */
static inline const naive *find_drawn(const naive *drawn, size_t count, const md_kernel *kernel)
{
    char norm[24];
    snprintf(norm, sizeof norm, "norm=%s)", md_norm_names[kernel->norm]);
    for (size_t i = 0; i < count; i++)
        if (drawn[i].kind == md_text_index(kernel->class->name, naive_names) &&
            strstr(drawn[i].spec, norm) != NULL)
            return &drawn[i];
    fail_msg("%s was never asked for", kernel->name);
    return NULL;
}

static inline void open_case(gram_case *c, const case_choice *choice)
{
    naive drawn[CASE_KERNELS];
    char *specs[CASE_KERNELS + 1] = {NULL};
    medley_error error = {0};
    const size_t count = draw_kernels(drawn, choice);
    for (size_t i = 0; i < count; i++)
        specs[i] = drawn[i].spec;
    const md_bank_options options = {.kernels = specs, .views = "all", .seed = 1};
    *c = (gram_case){.n = choice->kind.rows, .d = choice->kind.columns};
    c->data = make_data(&choice->kind, choice->seed);
    c->values = dense_values(&c->data->tables[0].features);
    check_ok(md_bank_make(&c->bank, c->data, &options, &error), &error);
    check_ok(md_prepared_make(&c->prepared, &c->bank, c->data, true, &error), &error);
    assert_int_equal(c->bank.count, count);
    for (size_t m = 0; m < count; m++) {
        c->kernels[m] = *find_drawn(drawn, count, &c->bank.kernels[m]);
        const naive_rows prepared = {c->values, c->n, c->d};
        c->expected[m] = naive_matrix(&c->kernels[m], c->bank.kernels[m].norm, prepared, prepared);
    }
}

static inline void close_case(gram_case *c)
{
    for (size_t m = 0; m < CASE_KERNELS; m++)
        free(c->expected[m]);
    free(c->values);
    md_prepared_clear(&c->prepared);
    md_bank_clear(&c->bank);
    medley_dataset_free(c->data);
}

static inline md_gram *open_gram(gram_case *c, size_t threads, size_t memory)
{
    md_gram *gram = NULL;
    medley_error error = {0};
    const md_gram_options options = {.threads = threads, .memory = memory};
    check_ok(md_gram_create(&gram, &c->bank, &c->prepared, &options, &error), &error);
    return gram;
}

static inline double largest_of(const double *values, size_t count)
{
    double largest = 0;
    for (size_t i = 0; i < count; i++)
        largest = fmax(largest, fabs(values[i]));
    return largest;
}

/* Single precision: each value is off by a few roundings (2^-24 = 6e-8) of the largest quantities
 * it comes from, times the slope of the map; the largest value of the matrix measures both. */
#define GRAM_TOLERANCE 2e-5

/* Largest value of kernel m before it was centred: what rounding is relative to. */
static inline double case_scale(const gram_case *c, size_t m)
{
    double scale = largest_of(c->expected[m], c->n * c->n);
    for (size_t i = 0; c->bank.kernels[m].norm == MD_NORM_CENTER && i < c->n; i++)
        scale = fmax(scale, fabs(naive_value(&c->kernels[m], c->values + i * c->d,
                                             c->values + i * c->d, c->d)));
    return scale;
}

/* The hat has a kink at distance 0, where the rounding d of a squared distance q becomes
 * sqrt(q + d) - sqrt(q). */
static inline double kink(const naive *k, const float *x, const float *z, size_t d)
{
    if (k->kind != BSPLINE)
        return 0;
    const double rounding = 3e-7 * (naive_dot(x, x, d) + naive_dot(z, z, d));
    const double square = naive_distance2(x, z, d);
    return (sqrt(square + rounding) - sqrt(square)) / k->h;
}

/* Is value K_m(i, j)? */
static inline void check_near(const gram_case *c, size_t m, size_t i, size_t j, double value,
                              double scale)
{
    const double expected = c->expected[m][i * c->n + j];
    const double tolerance =
        GRAM_TOLERANCE + kink(&c->kernels[m], c->values + i * c->d, c->values + j * c->d, c->d);
    if (!(fabs(value - expected) <= tolerance * scale))
        fail_msg("%s, %zu rows, at %zu, %zu: %.9g, expected %.9g (largest %g)",
                 c->bank.kernels[m].name, c->n, i, j, value, expected, scale);
}

/* ---- rows by the interface that learners use ---- */

/* A row of every kernel at a time: of those whose values are kept from the Gram source, of the
 * others as what deferred scores makes of a change by 1 at that row. */
typedef struct gram_rows {
    md_gram *gram;
    md_deferred *deferred; /* NULL: all values are kept */
    size_t n, count;
    float *values; /* [count][n] of the row that was fetched last */
} gram_rows;

static inline bool is_computed(const gram_rows *rows, size_t m)
{
    return rows->deferred != NULL && !md_gram_is_kept(rows->gram, m);
}

static inline gram_rows open_rows(md_gram *gram)
{
    gram_rows rows = {.gram = gram, .n = md_gram_rows(gram), .count = md_gram_count(gram)};
    medley_error error = {0};
    const md_deferred_options options = {.labels = 1, .longest = 2, .memory = 1};
    if (md_gram_is_streamed(gram))
        check_ok(md_deferred_create(&rows.deferred, gram, &options, &error), &error);
    rows.values = md_calloc(rows.count * rows.n, sizeof *rows.values);
    assert_non_null(rows.values);
    for (size_t m = 0; m < rows.count; m++)
        if (is_computed(&rows, m))
            check_ok(md_deferred_attach(rows.deferred, m, rows.values + m * rows.n, &error),
                     &error);
    return rows;
}

static inline void close_rows(gram_rows *rows)
{
    for (size_t m = 0; m < rows->count; m++)
        if (is_computed(rows, m))
            md_deferred_detach(rows->deferred, m);
    md_deferred_free(rows->deferred);
    free(rows->values);
}

static inline void fetch_rows(gram_rows *rows, size_t i)
{
    const float one = 1;
    medley_error error = {0};
    memset(rows->values, 0, rows->count * rows->n * sizeof *rows->values);
    if (rows->deferred != NULL)
        check_ok(md_deferred_open(rows->deferred, &i, 1, &error), &error);
    for (size_t m = 0; m < rows->count; m++) {
        float *row = rows->values + m * rows->n;
        if (is_computed(rows, m)) {
            md_deferred_forget(rows->deferred, m);
            md_deferred_add(rows->deferred, m, i, &(md_label_change){0, 1}, 1);
        } else {
            md_gram_add_row(rows->gram, m, i, &(md_targets){.alpha = &one, .y = &row, .count = 1});
        }
    }
    if (rows->deferred != NULL)
        check_ok(md_deferred_close(rows->deferred, &error), &error);
}

static inline const float *row_of(const gram_rows *rows, size_t m)
{
    return rows->values + m * rows->n;
}

/* K(i, j), alone. */
static inline double entry_of(gram_rows *rows, size_t m, size_t i, size_t j)
{
    medley_error error = {0};
    const size_t pair[2] = {i, j};
    if (!is_computed(rows, m))
        return (double)md_gram_entry(rows->gram, m, i, j);
    check_ok(md_deferred_open(rows->deferred, pair, i == j ? 1 : 2, &error), &error);
    return (double)md_deferred_entry(rows->deferred, m, i, j);
}

#endif
