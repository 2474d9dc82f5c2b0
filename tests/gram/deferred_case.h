/* SPDX-License-Identifier: BSD-3-Clause */
/* deferred scores over random kernels of several views, and beside it what its slots hold written
 * out: the coefficients in double precision and whole kernel matrices, so that every score is a
 * sum. For cmocka tests. */
#ifndef TESTS_GRAM_DEFERRED_CASE_H
#define TESTS_GRAM_DEFERRED_CASE_H

#include "gram_case.h"

enum { ACCOUNTS_MOST = 16, LABELS_MOST = 1000 };

typedef enum deferred_room { KEEPS_NONE, KEEPS_FEW, KEEPS_ALL } deferred_room;

typedef struct deferred_kind {
    size_t rows, labels, longest, threads;
    size_t columns; /* of the dense view; 0: 5 */
    deferred_room room;
    bool mixed;
    uint64_t seed;
    const md_device *device; /* NULL: the processor */
    bool precise;            /* values on the card are in single precision, not in half of it */
} deferred_kind;

/* What an slot should hold. */
typedef struct shadow {
    bool attached;
    float *score;          /* [labels][n] the deferred scores's */
    double *a, *mass;      /* [labels][n] A, and the sum of all that was added to it, unsigned */
    float *replaced;       /* [labels][n] */
    bool old[LABELS_MOST]; /* score of this label is left over from before it was forgotten */
} shadow;

typedef struct deferred_case {
    deferred_kind kind;
    medley_dataset *data;
    md_bank bank;
    md_prepared prepared;
    md_gram *gram;
    md_deferred *deferred;
    size_t n, labels, count;
    double *values[ACCOUNTS_MOST]; /* [n][n]; NULL: the kernel has no slot */
    double scale[ACCOUNTS_MOST];   /* what the rounding of a value is relative to */
    double *length[ACCOUNTS_MOST]; /* [n] sqrt(K(x,x)), which half precision is relative to */
    shadow shadows[ACCOUNTS_MOST];
    size_t *window; /* rows of the window */
    size_t window_count;
    size_t visited;        /* rows of the window before it are not looked at any more */
    size_t expected_count; /* rows of the window that were announced as the next ones */
    bool quiet;            /* scores are not compared: that takes longer than all the rest */
    md_random random;
} deferred_case;

/* ---- kernels ---- */

/* Two ready-made kernels: products of random factors, and their squares. */
static inline void add_ready_made(deferred_case *c)
{
    enum { RANK = 6 };
    double *x = md_calloc(c->n * RANK, sizeof *x);
    assert_non_null(x);
    for (size_t i = 0; i < c->n * RANK; i++)
        x[i] = md_random_normal(&c->random);
    for (size_t g = 0; g < 2; g++) {
        md_precomputed *given = NULL;
        assert_int_equal(md_dataset_new_gram(&given, c->data, g ? "squares" : "products", NULL),
                         MEDLEY_OK);
        assert_int_equal(md_matrix_init_dense(&given->values, c->n, c->n, NULL), MEDLEY_OK);
        for (size_t i = 0; i < c->n * c->n; i++) {
            double sum = 0;
            for (size_t k = 0; k < RANK; k++)
                sum += x[i / c->n * RANK + k] * x[i % c->n * RANK + k];
            given->values.dense[i] = (float)(g ? sum * sum : sum);
        }
    }
    free(x);
}

/* Some of every kind, on a dense and on a sparse view, with any normalisation. Cards have no
 * ready-made ones. */
static inline void open_bank(deferred_case *c)
{
    static const char *const names[] = {"linear",  "poly", "rbf", "laplace", "intersection",
                                        "bspline", "chi2", "rbf", "laplace", "bias"};
    static const char *const views[] = {"@dense", "@sparse"};
    enum { NAMES = sizeof names / sizeof *names };
    char specs[NAMES][240];
    char *list[NAMES + 1] = {NULL};
    size_t used = 0;
    medley_error error = {0};
    const data_kind dense = {.rows = c->n,
                             .columns = c->kind.columns ? c->kind.columns : 5,
                             .center = 1,
                             .spread = 1,
                             .zeros = 0.05};
    const data_kind sparse = {
        .rows = c->n, .columns = 9, .center = 1, .spread = 1, .zeros = 0.7, .sparse = true};
    c->data = add_data(NULL, "dense", &dense, c->kind.seed);
    c->data = add_data(c->data, "sparse", &sparse, c->kind.seed + 1);
    if (c->kind.device == NULL)
        add_ready_made(c);
    for (size_t i = 0; i < NAMES; i++) {
        if (i != 2 && md_random_below(&c->random, 3) == 0)
            continue; /* but one Gaussian in any case */
        const naive k =
            naive_draw(names[i], every_norm[md_random_below(&c->random, 4)], &c->random);
        snprintf(specs[used], sizeof *specs, "%s%s", k.spec,
                 i + 1 < NAMES ? views[md_random_below(&c->random, 2)] : "");
        list[used] = specs[used];
        used++;
    }
    const md_bank_options options = {.kernels = list,
                                     .views = "all",
                                     .normalize = (md_norm)md_random_below(&c->random, 4),
                                     .seed = 1};
    check_ok(md_bank_make(&c->bank, c->data, &options, &error), &error);
    check_ok(md_prepared_make(&c->prepared, &c->bank, c->data, true, &error), &error);
    assert_true(c->bank.count <= ACCOUNTS_MOST);
}

/* The matrix of a kernel and what its values are rounded to: before they were centred. */
static inline double *whole_matrix(deferred_case *c, size_t m, double *scale)
{
    const md_kernel *kernel = &c->bank.kernels[m];
    const md_between between = {
        .bank = &c->bank, .left = &c->prepared, .right = &c->prepared, .threads = 1};
    float *values = md_calloc(c->n * c->n, sizeof *values);
    double *wide = md_calloc(c->n * c->n, sizeof *wide);
    medley_error error = {0};
    assert_true(values != NULL && wide != NULL);
    check_ok(md_between_values(&between, m, values, &error), &error);
    for (size_t i = 0; i < c->n * c->n; i++)
        wide[i] = (double)values[i];
    *scale = largest_of(wide, c->n * c->n);
    for (size_t i = 0; kernel->norm == MD_NORM_CENTER && i < c->n; i++)
        *scale = fmax(*scale, fabs((double)kernel->column_mean[i]) + fabs(kernel->grand_mean));
    free(values);
    return wide;
}

/* All kernels become one, a few with no weight. */
static inline void mix_kernels(deferred_case *c)
{
    double weight[ACCOUNTS_MOST] = {0};
    double *sum = md_calloc(c->n * c->n, sizeof *sum);
    assert_non_null(sum);
    c->scale[0] = 0;
    for (size_t m = 0; m < c->bank.count; m++) {
        double scale = 0;
        double *values = whole_matrix(c, m, &scale);
        weight[m] = md_random_below(&c->random, 4) == 0 ? 0 : md_random_uniform(&c->random);
        for (size_t i = 0; i < c->n * c->n; i++)
            sum[i] += weight[m] * values[i];
        c->scale[0] += weight[m] * scale;
        free(values);
    }
    c->values[0] = sum;
    assert_int_equal(md_gram_mix(c->gram, weight, NULL), MEDLEY_OK);
}

static inline double *diagonal_roots(const double *values, size_t n)
{
    double *length = md_calloc(n, sizeof *length);
    assert_non_null(length);
    for (size_t i = 0; i < n; i++)
        length[i] = sqrt(fabs(values[i * n + i]));
    return length;
}

/* ---- slots ---- */

static inline void attach(deferred_case *c, size_t m)
{
    shadow *s = &c->shadows[m];
    medley_error error = {0};
    const size_t bytes = c->labels * c->n * sizeof(double);
    memset(s->score, 0, c->labels * c->n * sizeof(float));
    memset(s->a, 0, bytes);
    memset(s->mass, 0, bytes);
    memset(s->old, 0, sizeof s->old);
    check_ok(md_deferred_attach(c->deferred, m, s->score, &error), &error);
    s->attached = true;
}

static inline void detach(deferred_case *c, size_t m)
{
    md_deferred_detach(c->deferred, m);
    c->shadows[m].attached = false;
}

static inline void open_slots(deferred_case *c)
{
    for (size_t m = 0; m < c->count; m++) {
        shadow *s = &c->shadows[m];
        if (md_gram_is_kept(c->gram, m))
            continue;
        if (!c->kind.mixed)
            c->values[m] = whole_matrix(c, m, &c->scale[m]);
        c->length[m] = diagonal_roots(c->values[m], c->n);
        s->score = md_calloc(c->labels * c->n, sizeof *s->score);
        s->replaced = md_calloc(c->labels * c->n, sizeof *s->replaced);
        s->a = md_calloc(c->labels * c->n, sizeof *s->a);
        s->mass = md_calloc(c->labels * c->n, sizeof *s->mass);
        assert_true(s->score && s->replaced && s->a && s->mass);
        attach(c, m);
    }
}

static inline void open_deferred(deferred_case *c, const deferred_kind *kind)
{
    medley_error error = {0};
    *c = (deferred_case){.kind = *kind, .n = kind->rows, .labels = kind->labels};
    md_random_seed(&c->random, kind->seed);
    open_bank(c);
    const md_gram_options options = {.threads = kind->threads,
                                     .memory = 1,
                                     .device = kind->device,
                                     .device_rounds = kind->precise ? -INFINITY : INFINITY};
    check_ok(md_gram_create(&c->gram, &c->bank, &c->prepared, &options, &error), &error);
    assert_true(md_gram_is_streamed(c->gram));
    if (kind->mixed)
        mix_kernels(c);
    c->count = md_gram_count(c->gram);
    const size_t row = c->bank.count * c->n * sizeof(float);
    const md_deferred_options deferred_options = {.labels = kind->labels,
                                                  .longest = kind->longest,
                                                  .memory = kind->room == KEEPS_NONE  ? 1
                                                            : kind->room == KEEPS_FEW ? 4 * row
                                                                                      : 0};
    check_ok(md_deferred_create(&c->deferred, c->gram, &deferred_options, &error), &error);
    assert_true(md_deferred_open_most(c->deferred) >= kind->longest);
    c->window = md_calloc(c->n, sizeof *c->window);
    assert_non_null(c->window);
    for (size_t i = 0; i < c->n; i++)
        c->window[i] = i;
    open_slots(c);
}

static inline void close_deferred(deferred_case *c)
{
    for (size_t m = 0; m < ACCOUNTS_MOST; m++) {
        shadow *s = &c->shadows[m];
        if (s->attached && m % 2 == 0) /* the others are left to the deferred scores */
            detach(c, m);
        free(s->replaced);
        free(s->a);
        free(s->mass);
        free(c->values[m]);
        free(c->length[m]);
    }
    md_deferred_free(c->deferred);
    for (size_t m = 0; m < ACCOUNTS_MOST; m++)
        free(c->shadows[m].score);
    md_gram_free(c->gram);
    md_prepared_clear(&c->prepared);
    md_bank_clear(&c->bank);
    medley_dataset_free(c->data);
    free(c->window);
}

/* ---- comparison ---- */

/* How far value K(x_i, x_j) may be off. Cards add up in another order, and may round values to 11
 * bits after they were divided by the roots of the diagonal. */
static inline double tolerance_of(const deferred_case *c, size_t m, size_t i, size_t j)
{
    const double single = 1e-5 * fabs(c->values[m][i * c->n + j]) + 3e-6 * c->scale[m];
    if (c->kind.device == NULL)
        return single;
    return 4 * single + (c->kind.precise ? 0 : ldexp(1, -10) * c->length[m][i] * c->length[m][j]);
}

/* Is score what row j has of this label? */
static inline void check_score(const deferred_case *c, size_t m, size_t label, size_t j,
                               double score)
{
    const double *a = c->shadows[m].a + label * c->n;
    const double *mass = c->shadows[m].mass + label * c->n;
    double sum = 0;
    double tolerance = 0;
    for (size_t i = 0; !c->quiet && i < c->n; i++) {
        if (mass[i] == 0)
            continue;
        sum += a[i] * c->values[m][i * c->n + j];
        tolerance += mass[i] * tolerance_of(c, m, i, j);
    }
    if (!c->quiet && !(fabs(score - sum) <= tolerance))
        fail_msg("seed %u, %s, label %zu, row %zu of %zu: score %.9g, expected %.9g (within %g)",
                 (unsigned)c->kind.seed, c->kind.mixed ? "mixture" : c->bank.kernels[m].name, label,
                 j, c->n, score, sum, tolerance);
}

static inline void check_row(const deferred_case *c, size_t m, size_t j)
{
    size_t stride = 0;
    const float *scores = md_deferred_scores(c->deferred, m, j, &stride);
    for (size_t l = 0; l < c->labels; l++)
        if (!c->shadows[m].old[l])
            check_score(c, m, l, j, (double)scores[l * stride]);
}

static inline void check_window(const deferred_case *c)
{
    for (size_t m = 0; m < c->count; m++)
        for (size_t s = c->visited; c->shadows[m].attached && s < c->window_count; s++)
            check_row(c, m, c->window[s]);
}

/* Of the owner's array, once nothing is left to be flushed. */
static inline void check_all(const deferred_case *c)
{
    for (size_t m = 0; m < c->count; m++)
        for (size_t l = 0; c->shadows[m].attached && l < c->labels; l++)
            for (size_t j = 0; !c->shadows[m].old[l] && j < c->n; j++)
                check_score(c, m, l, j, (double)c->shadows[m].score[l * c->n + j]);
}

/* ---- what can be done, on both sides ---- */

/* The first `count` rows of c->window. */
static inline void open_window(deferred_case *c, size_t count)
{
    medley_error error = {0};
    check_ok(md_deferred_open(c->deferred, c->window, count, &error), &error);
    c->window_count = count;
    c->visited = 0;
}

/* Row number s of the window, of those that come after. */
static inline void visit(deferred_case *c, size_t s)
{
    md_deferred_visit(c->deferred, c->window[s]);
    c->visited = s;
}

static inline void close_window(deferred_case *c)
{
    medley_error error = {0};
    check_ok(md_deferred_close(c->deferred, &error), &error);
    c->window_count = 0;
}

/* As owners do it: a label that comes into use is cleared first. */
static inline void add_change(deferred_case *c, size_t m, size_t row, size_t label, float change)
{
    shadow *s = &c->shadows[m];
    if (s->old[label]) {
        memset(s->score + label * c->n, 0, c->n * sizeof *s->score);
        md_deferred_forget_label(c->deferred, m, label);
        s->old[label] = false;
    }
    md_deferred_add(c->deferred, m, row, &(md_label_change){label, change}, 1);
    s->a[label * c->n + row] += (double)change;
    s->mass[label * c->n + row] += fabs((double)change);
}

static inline void forget_label(deferred_case *c, size_t m, size_t label)
{
    shadow *s = &c->shadows[m];
    md_deferred_forget_label(c->deferred, m, label);
    memset(s->score + label * c->n, 0, c->n * sizeof *s->score);
    memset(s->a + label * c->n, 0, c->n * sizeof *s->a);
    memset(s->mass + label * c->n, 0, c->n * sizeof *s->mass);
    s->old[label] = false;
}

/* later: scores are cleared when a label comes into use again. */
static inline void forget(deferred_case *c, size_t m, bool later)
{
    shadow *s = &c->shadows[m];
    md_deferred_forget(c->deferred, m);
    memset(s->a, 0, c->labels * c->n * sizeof *s->a);
    memset(s->mass, 0, c->labels * c->n * sizeof *s->mass);
    if (!later)
        memset(s->score, 0, c->labels * c->n * sizeof *s->score);
    for (size_t l = 0; l < c->labels; l++)
        s->old[l] = later;
}

static inline void rescale(deferred_case *c, size_t m, float factor)
{
    shadow *s = &c->shadows[m];
    md_deferred_rescale(c->deferred, m, factor);
    for (size_t i = 0; i < c->labels * c->n; i++) {
        s->score[i] *= factor;
        s->a[i] *= (double)factor;
        s->mass[i] *= (double)factor;
    }
}

/* Some rows and some labels only; the window ends with it. */
static inline void replace(deferred_case *c, size_t m, float gain)
{
    shadow *s = &c->shadows[m];
    for (size_t i = 0; i < c->labels * c->n; i++) {
        const bool some = md_random_below(&c->random, 3) > 0 && (i / c->n + m) % 3 != 0;
        s->replaced[i] = some ? (float)md_random_normal(&c->random) : 0;
        s->a[i] = (double)gain * (double)s->replaced[i];
        s->mass[i] = fabs(s->a[i]);
    }
    memset(s->old, 0, sizeof s->old);
    md_deferred_replace(c->deferred, m, s->replaced, gain);
}

#endif
