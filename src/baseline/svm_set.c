/* SPDX-License-Identifier: BSD-3-Clause */
/* Support vector machines that share a matrix. They are solved in rounds: all that are not yet good
 * enough run in parallel, then the scores of all of them come from one product of matrices, which
 * gives their certificates. Where libsvm has stopped too early it is asked again with a smaller
 * eps. */
#include "baseline/svm_set.h"

#include "base/parallel.h"
#include "baseline/one_kernel.h"
#include "batch/certificate.h"
#include "linalg/blas.h"
#include <stdatomic.h>

static const double LIBSVM_GAP = 1e-5; /* smaller ones are for our own solver */
static const double LEAST_EPS = 1e-9;  /* of libsvm */
static const double ROUGH_EPS = 1e-3;  /* libsvm's own default */
static const double ROUGH_GAP = 0.01;  /* of our own solver, for the same purpose */
static const double CACHE = 256;       /* megabytes of libsvm for a machine */
enum { PANEL = 64 };                   /* rows of a product */

struct work {
    md_svm_set *set;
    md_libsvm *matrix; /* NULL: our own solver serves */
    size_t *pending;   /* [count] machines that are to be solved */
    size_t pending_count;
    size_t ran;          /* number of them that were solved in this round */
    double *eps;         /* [count] of libsvm */
    double *gap;         /* [count] before this round */
    double *coefficient; /* [n][pending_count] of this round, as the next two */
    double *score;       /* [n][pending_count] without bias */
    double *dual;        /* [pending_count] as our own solver knows it */
    size_t done;         /* told to the watcher */
    atomic_bool out_of_memory;
};

static void clear_work(struct work *w)
{
    md_libsvm_free(w->matrix);
    free(w->pending);
    free(w->eps);
}

static size_t row_of(const md_svm *machine, size_t i)
{
    return machine->rows != NULL ? machine->rows[i] : i;
}

static bool has_both_labels(const md_svm *machine)
{
    for (size_t i = 1; i < machine->count; i++)
        if (machine->y[row_of(machine, i)] != machine->y[row_of(machine, 0)])
            return true;
    return false;
}

/* ---- solving ---- */

static medley_status copy_targets(double **y, const md_svm *machine, medley_error *error)
{
    MEDLEY_TRY(md_new(y, machine->count, sizeof **y, error));
    for (size_t i = 0; i < machine->count; i++)
        (*y)[i] = machine->y[row_of(machine, i)];
    return MEDLEY_OK;
}

static void put_coefficients(struct work *w, size_t place, const double *a)
{
    const md_svm *machine = &w->set->machines[w->pending[place]];
    for (size_t i = 0; i < machine->count; i++)
        w->coefficient[row_of(machine, i) * w->pending_count + place] = a[i];
}

static medley_status run_libsvm(struct work *w, size_t place)
{
    const md_svm *machine = &w->set->machines[w->pending[place]];
    MD_OWNED(free) double *a = NULL;
    MD_OWNED(free) double *y = NULL;
    MEDLEY_TRY(md_new(&a, machine->count, sizeof *a, NULL));
    MEDLEY_TRY(copy_targets(&y, machine, NULL));
    const md_libsvm_task task = {.rows = machine->rows,
                                 .count = machine->count,
                                 .y = y,
                                 .classifies = true,
                                 .C = 1 / w->set->strength,
                                 .eps = w->eps[w->pending[place]],
                                 .cache = CACHE};
    MEDLEY_TRY(md_libsvm_solve(w->matrix, &task, a, NULL));
    put_coefficients(w, place, a);
    return MEDLEY_OK;
}

static void run_item(void *context, size_t item, size_t worker)
{
    struct work *w = context;
    (void)worker;
    if (run_libsvm(w, w->ran + item) < 0)
        atomic_store(&w->out_of_memory, true);
}

/* Its own threads help it, so these run one after the other. */
static medley_status run_newton(struct work *w, size_t place, medley_error *error)
{
    const md_svm_set *set = w->set;
    const md_svm *machine = &set->machines[w->pending[place]];
    const size_t k = machine->count;
    MD_CLEARED(md_batch_solution_clear) md_batch_solution solution = {0};
    MD_OWNED(free) double *y = NULL;
    MD_OWNED(free) double *part = NULL;
    MEDLEY_TRY(copy_targets(&y, machine, error));
    MEDLEY_TRY(md_new_aligned(&part, k * k, sizeof *part, error));
    for (size_t i = 0; i < k; i++)
        for (size_t j = i; j < k; j++)
            part[i * k + j] = set->kernel[row_of(machine, i) * set->n + row_of(machine, j)];
    const md_batch_problem problem = {
        .loss = &md_margin_hinge, .y = y, .strength = set->strength, .threads = set->threads};
    const md_one_kernel one = {.problem = &problem,
                               .kernel = part,
                               .n = k,
                               .gap = machine->rough ? fmax(set->gap, ROUGH_GAP) : set->gap};
    MEDLEY_TRY(md_one_kernel_solve(&solution, &one, NULL, error));
    if (solution.active > 0)
        put_coefficients(w, place, solution.coefficient);
    w->dual[place] = solution.dual;
    return MEDLEY_OK;
}

/* The reported count does not fall when some machines are solved again. */
static void tell_watcher(struct work *w)
{
    md_svm_set *set = w->set;
    const size_t done = set->count - (w->pending_count - w->ran);
    w->done = done > w->done ? done : w->done;
    if (set->watch != NULL && !set->watch(set->context, w->done))
        set->stopped = true;
}

/* All that are pending, or as many as there is time for. */
static medley_status run_pending(struct work *w, medley_error *error)
{
    const size_t step = w->matrix != NULL ? 4 * w->set->threads : 1;
    w->ran = 0;
    while (w->ran < w->pending_count && !w->set->stopped) {
        const size_t left = w->pending_count - w->ran;
        const size_t now = left < step ? left : step;
        if (w->matrix != NULL) {
            md_parallel_for(w->set->threads, now, run_item, w);
            if (atomic_load(&w->out_of_memory))
                return md_fail_memory(error, w->set->n * sizeof(double));
        } else {
            MEDLEY_TRY(run_newton(w, w->ran, error));
        }
        w->ran += now;
        tell_watcher(w);
    }
    return MEDLEY_OK;
}

/* ---- scores and certificates ---- */

static void multiply_panel(void *context, size_t item, size_t worker)
{
    const struct work *w = context;
    const size_t n = w->set->n;
    const size_t first = item * PANEL;
    const size_t rows = first + PANEL < n ? PANEL : n - first;
    const size_t columns = w->pending_count;
    (void)worker;
    md_dgemm_columns(rows, columns, n, 1, w->set->kernel + first, n, w->coefficient, columns, 0,
                     w->score + first * columns, columns);
}

static int by_size(const void *left, const void *right)
{
    const double difference = *(const double *)left - *(const double *)right;
    return difference < 0 ? -1 : difference > 0;
}

/* With b growing, every row +1 ends its loss at 1 - f and every row -1 begins it at -1 - f: each
 * such place adds 1 to a slope that begins at minus the number of rows +1. So the best b are those
 * between two places next to each other, and the middle of them is taken, as libsvm does. */
static double best_bias(const md_svm *machine, const double *f, double *places)
{
    size_t positive = 0;
    for (size_t i = 0; i < machine->count; i++) {
        const double y = machine->y[row_of(machine, i)];
        places[i] = y - f[i];
        positive += y > 0;
    }
    qsort(places, machine->count, sizeof *places, by_size);
    return places[positive - 1] / 2 + places[positive] / 2;
}

/* The coefficients times the strength C are a dual point, but for a factor: D(s) = s C sum |a| -
 * s^2 C/2 a'Ka for those s that leave it within the box. */
static double dual_value(double strength, double sum, double most, double norm2)
{
    if (!(sum > 0))
        return 0;
    const double largest = 1 / (strength * most);
    const double s = norm2 > 0 ? fmin(largest, sum / norm2) : largest;
    return s * strength * (sum - s * norm2 / 2);
}

struct column {
    const double *values;
    size_t stride;
};

/* f: [machine->count], as scratch; dual NaN: that of the coefficients. */
static void certify_scores(md_svm *machine, double strength, struct column a, const double *f,
                           double dual, double *scratch)
{
    double sum = 0;
    double most = 0;
    double norm2 = 0;
    for (size_t i = 0; i < machine->count; i++) {
        const double value = a.values[row_of(machine, i) * a.stride];
        sum += fabs(value);
        most = fmax(most, fabs(value));
        norm2 += value * f[i];
    }
    norm2 = fmax(norm2, 0);
    machine->bias = best_bias(machine, f, scratch);
    machine->loss = 0;
    for (size_t i = 0; i < machine->count; i++)
        machine->loss += fmax(0, 1 - machine->y[row_of(machine, i)] * (f[i] + machine->bias));
    machine->primal = machine->loss + strength / 2 * norm2;
    machine->dual = isnan(dual) ? dual_value(strength, sum, most, norm2) : dual;
}

void md_svm_certify(md_svm *machine, const md_svm_set *set, const double *a, const double *f,
                    double dual, double *scratch)
{
    const struct column column = {a, set->count};
    certify_scores(machine, set->strength, column, f, dual, scratch);
}

/* Value, bias and dual value of the coefficients in a place. scratch: 2 n doubles. */
static md_svm certify(const struct work *w, size_t place, double *scratch)
{
    const md_svm_set *set = w->set;
    const size_t columns = w->pending_count;
    md_svm machine = set->machines[w->pending[place]];
    for (size_t i = 0; i < machine.count; i++)
        scratch[i] = w->score[row_of(&machine, i) * columns + place];
    certify_scores(&machine, set->strength, (struct column){w->coefficient + place, columns},
                   scratch, w->matrix != NULL ? (double)NAN : w->dual[place], scratch + set->n);
    return machine;
}

/* The best model and the best dual value of all attempts count, from the first one on. */
static void take(struct work *w, size_t place, double *scratch)
{
    const md_svm_set *set = w->set;
    const size_t c = w->pending[place];
    md_svm *machine = &set->machines[c];
    md_svm found = certify(w, place, scratch);
    found.dual = fmax(found.dual, machine->dual);
    if (isinf(w->gap[c]) || found.primal <= machine->primal) {
        *machine = found;
        for (size_t r = 0; r < set->n; r++) {
            const size_t from = r * w->pending_count + place;
            set->coefficient[r * set->count + c] = w->coefficient[from];
            set->score[r * set->count + c] = w->score[from] + found.bias;
        }
    }
    machine->dual = found.dual;
    machine->solved =
        machine->rough || md_certified_gap(machine->primal, machine->dual) <= set->gap;
}

/* ---- rounds ---- */

/* Those that are too far from the optimum and that libsvm can still improve: where it gives up
 * after its ten million steps, a smaller eps only takes as long again. */
static void find_unsolved(struct work *w)
{
    size_t count = 0;
    for (size_t place = 0; place < w->pending_count && w->matrix != NULL; place++) {
        const size_t c = w->pending[place];
        const md_svm *machine = &w->set->machines[c];
        const double gap = md_certified_gap(machine->primal, machine->dual);
        const bool improves = gap < 0.5 * w->gap[c];
        w->gap[c] = gap;
        if (machine->solved || !improves || !(w->eps[c] > LEAST_EPS))
            continue;
        const double level = w->set->gap * machine->primal / (double)machine->count;
        w->eps[c] = fmax(LEAST_EPS, fmin(w->eps[c] / 4, level));
        w->pending[count++] = c;
    }
    w->pending_count = count;
}

static medley_status run_round(struct work *w, medley_error *error)
{
    const size_t n = w->set->n;
    MD_OWNED(free) double *scratch = NULL;
    MD_OWNED(free) double *coefficient = NULL;
    MD_OWNED(free) double *score = NULL;
    MD_OWNED(free) double *dual = NULL;
    MEDLEY_TRY(md_new(&scratch, 2 * n, sizeof *scratch, error));
    MEDLEY_TRY(md_new(&coefficient, n * w->pending_count, sizeof *coefficient, error));
    MEDLEY_TRY(md_new_aligned(&score, n * w->pending_count, sizeof *score, error));
    MEDLEY_TRY(md_new(&dual, w->pending_count, sizeof *dual, error));
    w->coefficient = coefficient;
    w->score = score;
    w->dual = dual;
    MEDLEY_TRY(run_pending(w, error));
    md_parallel_for(w->set->threads, (n + PANEL - 1) / PANEL, multiply_panel, w);
    for (size_t place = 0; place < w->ran; place++)
        take(w, place, scratch);
    return MEDLEY_OK;
}

/* ---- all of them ---- */

/* Without coefficients: the bias of the label that there is. */
static void begin(struct work *w)
{
    md_svm_set *set = w->set;
    memset(set->coefficient, 0, set->n * set->count * sizeof *set->coefficient);
    for (size_t c = 0; c < set->count; c++) {
        md_svm *machine = &set->machines[c];
        size_t positive = 0;
        for (size_t i = 0; i < machine->count; i++)
            positive += machine->y[row_of(machine, i)] > 0;
        const size_t negative = machine->count - positive;
        machine->bias = positive > negative ? 1 : -1;
        machine->loss = machine->primal = 2 * (double)(positive < negative ? positive : negative);
        machine->dual = 0;
        machine->solved = !has_both_labels(machine);
        if (!machine->solved)
            w->pending[w->pending_count++] = c;
        w->eps[c] = fmin(0.1, set->gap * machine->primal / (double)(machine->count + 1));
        w->gap[c] = INFINITY;
        w->eps[c] = machine->rough ? ROUGH_EPS : fmax(LEAST_EPS, w->eps[c]);
        for (size_t r = 0; r < set->n; r++)
            set->score[r * set->count + c] = machine->bias;
    }
}

static void fill_lower_triangle(double *kernel, size_t n)
{
    for (size_t i = 0; i < n; i += PANEL)
        for (size_t j = i; j < n; j += PANEL)
            for (size_t r = i; r < n && r < i + PANEL; r++)
                for (size_t c = j > r ? j : r; c < n && c < j + PANEL; c++)
                    kernel[c * n + r] = kernel[r * n + c];
}

bool md_svm_has_libsvm(const md_svm_set *set)
{
    return !set->precise && set->gap >= LIBSVM_GAP && md_libsvm_takes(set->n);
}

medley_status md_svm_solve(md_svm_set *set, medley_error *error)
{
    MD_CLEARED(clear_work) struct work w = {.set = set};
    MEDLEY_TRY(md_new(&w.pending, set->count, sizeof *w.pending, error));
    MEDLEY_TRY(md_new(&w.eps, 2 * set->count, sizeof *w.eps, error));
    w.gap = w.eps + set->count;
    md_blas_single_thread();
    fill_lower_triangle(set->kernel, set->n);
    begin(&w);
    if (md_svm_has_libsvm(set) && w.pending_count > 0)
        MEDLEY_TRY(md_libsvm_create(&w.matrix, set->kernel, set->n, error));
    while (w.pending_count > 0 && !set->stopped) {
        MEDLEY_TRY(run_round(&w, error));
        find_unsolved(&w);
    }
    return MEDLEY_OK;
}
