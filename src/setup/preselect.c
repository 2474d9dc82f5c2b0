/* SPDX-License-Identifier: BSD-3-Clause */
/* Kernels chosen before anything is learnt (--preselect), as OBSCURE's section 4.2 does: by the
 * leave-one-out error of a least-squares support vector machine on each kernel alone, which has a
 * closed form (optim/leave_one_out.c). Labels are told apart one against the rest, and the largest
 * score counts; numbers are their own targets. The machine has a bias, so centring a kernel
 * changes nothing. Of three ridges the best one counts.
 *
 * Beyond MOST_ROWS rows a sample is looked at: n rows take 24 n^2 bytes and about 2 n^3 operations
 * for a kernel, however many rows there are. */
#include "setup/setup.h"

#include "base/random.h"
#include "linalg/blas.h"
#include "optim/optim.h"

enum { MOST_ROWS = 1000, FEWEST_ROWS = 3, RIDGES = 3 };
static const double ridges[RIDGES] = {0.001, 0.03, 1}; /* of the mean of the centred diagonal */
static const double CONSTANT = 1e-6; /* its values vary by this share of their size, or less */

static const char VIEW[] = "view";

/* What comes first is the better kernel. */
struct judgement {
    double error;   /* share of wrong labels; of numbers 0 */
    double squares; /* mean square of the residuals */
};

struct preselection {
    md_problem *problem;
    md_bank bank;         /* all kernels as kernels, not centred */
    md_prepared prepared; /* all rows */
    md_prepared left, right;
    size_t *rows; /* [n] the sample */
    size_t n, outputs;
    double *y;               /* [outputs][n] */
    double *residual;        /* [outputs][n] */
    float *values;           /* [n][n] */
    double *matrix;          /* [n][n] */
    double *scratch;         /* [n][n + 2] */
    struct judgement *found; /* [bank.count] */
    size_t *order;           /* [bank.count] */
    md_pool pool;
};

static void clear(struct preselection *p)
{
    md_prepared_clear(&p->left);
    md_prepared_clear(&p->right);
    md_prepared_clear(&p->prepared);
    md_bank_clear(&p->bank);
    md_pool_clear(&p->pool);
}

/* ---- what is asked for ---- */

/* *count: how many; 0: one of every view. */
static medley_status read_option(const char *text, size_t *count, medley_error *error)
{
    double number;
    *count = 0;
    if (strcmp(text, VIEW) == 0)
        return MEDLEY_OK;
    if (!md_parse_double(text, &number) || !(number >= 1) || number > 1e9 ||
        number != floor(number))
        return md_fail(error, MEDLEY_USAGE,
                       "`preselect='%s'` is neither a number of kernels nor view", text);
    *count = (size_t)number;
    return MEDLEY_OK;
}

static medley_status check_problem(const md_problem *problem, medley_error *error)
{
    if (problem->bank.count == 0)
        return md_fail(error, MEDLEY_USAGE,
                       "`preselect` is about kernels, and here are templates only; use `from` and "
                       "`keep` for the best of these");
    if (problem->options->structure != NULL)
        return md_fail(error, MEDLEY_USAGE,
                       "`preselect` is about labels and numbers, and the structure '%s' was "
                       "brought; leave it out",
                       problem->options->structure->name);
    if (problem->train->rows < FEWEST_ROWS)
        return md_fail_at(error, MEDLEY_USAGE, problem->train->source, 0,
                          "`preselect` leaves out one row after the other and needs %d, here are "
                          "%zu; leave it out",
                          FEWEST_ROWS, problem->train->rows);
    return MEDLEY_OK;
}

/* ---- rows and targets ---- */

static medley_status draw_rows(struct preselection *p, medley_error *error)
{
    const size_t rows = p->problem->train->rows;
    size_t *all;
    md_random random;
    MEDLEY_TRY(md_pool_new(&p->pool, &all, rows, sizeof *all, error));
    for (size_t r = 0; r < rows; r++)
        all[r] = r;
    p->n = md_min(rows, MOST_ROWS);
    p->rows = all;
    if (rows <= MOST_ROWS)
        return MEDLEY_OK;
    md_random_seed(&random, (uint64_t)p->problem->options->seed);
    md_random_shuffle(&random, all, rows);
    return MEDLEY_OK;
}

static medley_status find_targets(struct preselection *p, medley_error *error)
{
    const int32_t *gold = p->problem->gold;
    const size_t labels = gold != NULL ? p->problem->space.shape.labels : 1;
    p->outputs = labels;
    MEDLEY_TRY(md_pool_new(&p->pool, &p->y, labels * p->n, sizeof *p->y, error));
    for (size_t o = 0; o < labels; o++)
        for (size_t i = 0; i < p->n; i++)
            p->y[o * p->n + i] = gold == NULL ? p->problem->train->target[p->rows[i]]
                                 : gold[p->rows[i]] == (int32_t)o ? 1
                                                                  : -1;
    return MEDLEY_OK;
}

/* Weights and centring are left to the run. */
static medley_status find_bank(struct preselection *p, medley_error *error)
{
    const md_bank *bank = &p->problem->bank;
    size_t *all;
    MEDLEY_TRY(md_pool_new(&p->pool, &all, bank->count, sizeof *all, error));
    for (size_t m = 0; m < bank->count; m++)
        all[m] = m;
    MEDLEY_TRY(md_bank_subset(&p->bank, bank, all, bank->count, error));
    for (size_t m = 0; m < bank->count; m++) {
        md_kernel *kernel = &p->bank.kernels[m];
        kernel->explicit_weights = kernel->primal = false;
        kernel->norm = kernel->norm == MD_NORM_CENTER ? MD_NORM_NONE : kernel->norm;
    }
    MEDLEY_TRY(md_prepared_make(&p->prepared, &p->bank, p->problem->train, true, error));
    MEDLEY_TRY(md_prepared_gather(&p->left, &p->prepared, p->rows, p->n, error));
    const md_prepared_choice choice = {
        .bank = &p->bank, .subset = &p->bank, .keep = all, .rows = p->rows, .row_count = p->n};
    return md_prepared_subset(&p->right, &p->prepared, &choice, error);
}

static medley_status find_room(struct preselection *p, medley_error *error)
{
    const size_t n = p->n;
    const size_t kernels = p->bank.count;
    MEDLEY_TRY(md_pool_new(&p->pool, &p->residual, p->outputs * n, sizeof(double), error));
    MEDLEY_TRY(md_pool_new(&p->pool, &p->values, n * n, sizeof(float), error));
    MEDLEY_TRY(md_pool_new(&p->pool, &p->matrix, n * n, sizeof(double), error));
    MEDLEY_TRY(md_pool_new(&p->pool, &p->scratch, n * (n + 2), sizeof(double), error));
    MEDLEY_TRY(md_pool_new(&p->pool, &p->found, kernels, sizeof *p->found, error));
    return md_pool_new(&p->pool, &p->order, kernels, sizeof *p->order, error);
}

/* ---- a kernel ---- */

/* The mean of the centred diagonal; 0: the kernel is a constant. */
static double spread_of(const struct preselection *p)
{
    double trace = 0;
    double sum = 0;
    for (size_t i = 0; i < p->n; i++)
        for (size_t j = 0; j < p->n; j++) {
            sum += (double)p->values[i * p->n + j];
            trace += i == j ? fabs((double)p->values[i * p->n + j]) : 0;
        }
    const double spread = trace - sum / (double)p->n;
    return spread > CONSTANT * trace ? spread / (double)p->n : 0;
}

/* Of the residuals: the label with the largest score is predicted, the first of several. */
static struct judgement judge(const struct preselection *p)
{
    const int32_t *gold = p->problem->gold;
    struct judgement judgement = {0};
    for (size_t i = 0; i < p->n; i++) {
        size_t best = 0;
        double most = -INFINITY;
        for (size_t o = 0; o < p->outputs; o++) {
            const double residual = p->residual[o * p->n + i];
            const double score = p->y[o * p->n + i] - residual;
            judgement.squares += residual * residual;
            if (score > most) {
                most = score;
                best = o;
            }
        }
        judgement.error += gold != NULL && gold[p->rows[i]] != (int32_t)best;
    }
    judgement.error /= (double)p->n;
    judgement.squares /= (double)p->n;
    return judgement;
}

static bool is_better(struct judgement one, struct judgement other)
{
    return one.error != other.error ? one.error < other.error : one.squares < other.squares;
}

/* A kernel that is far from positive definite is the worst. */
static medley_status look_at(struct preselection *p, size_t m, medley_error *error)
{
    const md_between between = {.bank = &p->bank,
                                .left = &p->left,
                                .right = &p->right,
                                .training_row = p->rows,
                                .threads = p->problem->threads};
    const size_t n = p->n;
    MEDLEY_TRY(md_between_values(&between, m, p->values, error));
    const double spread = spread_of(p);
    p->found[m] = (struct judgement){INFINITY, spread > 0 ? INFINITY : NAN};
    for (size_t k = 0; k < RIDGES && spread > 0; k++) {
        for (size_t i = 0; i < n * n; i++)
            p->matrix[i] = (double)p->values[i];
        for (size_t i = 0; i < n; i++)
            p->matrix[i * n + i] += ridges[k] * spread;
        if (!md_leave_one_out(p->matrix, n, p->y, p->outputs, p->residual, p->scratch,
                              p->problem->threads))
            continue;
        const struct judgement judgement = judge(p);
        if (is_better(judgement, p->found[m]))
            p->found[m] = judgement;
    }
    return MEDLEY_OK;
}

static bool is_constant(const struct preselection *p, size_t m)
{
    return isnan(p->found[m].squares);
}

/* ---- the choice ---- */

/* The best first; those that are as good, and constants, stay in their order. */
static void rank(struct preselection *p)
{
    for (size_t m = 0; m < p->bank.count; m++) {
        size_t place = m;
        for (; place > 0 && is_better(p->found[m], p->found[p->order[place - 1]]); place--)
            p->order[place] = p->order[place - 1];
        p->order[place] = m;
    }
}

/* Kernels of one view are of one family, and so are ready-made ones of one file. */
static bool are_relatives(const struct preselection *p, const md_kernel *one,
                          const md_kernel *other)
{
    const md_precomputed *grams = p->problem->train->grams;
    if (one->class == NULL || other->class == NULL)
        return one->class == other->class && grams[one->view].family == grams[other->view].family;
    return one->view == other->view;
}

static bool is_first_of_family(const struct preselection *p, size_t place)
{
    const md_kernel *kernel = &p->bank.kernels[p->order[place]];
    for (size_t k = 0; k < place; k++)
        if (are_relatives(p, kernel, &p->bank.kernels[p->order[k]]) && !is_constant(p, p->order[k]))
            return false;
    return true;
}

static double error_of(const struct preselection *p, size_t m)
{
    if (is_constant(p, m))
        return NAN;
    return p->problem->gold != NULL ? p->found[m].error : sqrt(p->found[m].squares);
}

static medley_status tell(struct preselection *p, size_t count, medley_error *error)
{
    md_preselection *told = &p->problem->preselection;
    size_t taken = 0;
    MEDLEY_TRY(md_preselection_init(told, p->bank.count, p->n, error));
    for (size_t place = 0; place < p->bank.count; place++) {
        const size_t m = p->order[place];
        const bool chosen = count > 0 ? taken < count : is_first_of_family(p, place);
        const medley_preselected kernel = {.name = p->bank.kernels[m].name,
                                           .error = error_of(p, m),
                                           .kept = chosen || is_constant(p, m)};
        MEDLEY_TRY(md_preselection_add(told, &kernel, error));
        taken += chosen && !is_constant(p, m);
    }
    return MEDLEY_OK;
}

/* Kernels stay in the order of the bank. */
static medley_status keep_chosen(struct preselection *p, medley_error *error)
{
    md_bank *bank = &p->problem->bank;
    const md_preselection *told = &p->problem->preselection;
    md_bank subset = {0};
    size_t *kept;
    bool *is_kept;
    size_t count = 0;
    MEDLEY_TRY(md_pool_new(&p->pool, &kept, bank->count, sizeof *kept, error));
    MEDLEY_TRY(md_pool_new(&p->pool, &is_kept, bank->count, sizeof *is_kept, error));
    for (size_t k = 0; k < told->count; k++)
        is_kept[p->order[k]] = told->kernels[k].kept;
    for (size_t m = 0; m < bank->count; m++)
        if (is_kept[m])
            kept[count++] = m;
    MEDLEY_TRY(md_bank_subset(&subset, bank, kept, count, error));
    md_bank_clear(bank);
    *bank = subset;
    return MEDLEY_OK;
}

medley_status md_preselect(md_problem *problem, medley_error *error)
{
    const char *text = problem->options->preselect;
    MD_CLEARED(clear) struct preselection p = {.problem = problem};
    const double start = md_clock_seconds();
    size_t count;
    if (text == NULL)
        return MEDLEY_OK;
    MEDLEY_TRY(read_option(text, &count, error));
    MEDLEY_TRY(check_problem(problem, error));
    md_blas_single_thread();
    MEDLEY_TRY(draw_rows(&p, error));
    MEDLEY_TRY(find_targets(&p, error));
    MEDLEY_TRY(find_bank(&p, error));
    MEDLEY_TRY(find_room(&p, error));
    for (size_t m = 0; m < p.bank.count; m++) {
        MEDLEY_TRY(look_at(&p, m, error));
        if (!md_problem_report(problem, (medley_progress){.stage = "preselecting kernels",
                                                          .done = m + 1,
                                                          .total = p.bank.count,
                                                          .objective = NAN,
                                                          .dev_accuracy = NAN}))
            return MEDLEY_OK; /* the run ends with what there is */
    }
    problem->progress.seconds_kernels += md_clock_seconds() - start;
    rank(&p);
    MEDLEY_TRY(tell(&p, count, error));
    return keep_chosen(&p, error);
}
