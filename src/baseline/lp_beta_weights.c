/* SPDX-License-Identifier: BSD-3-Clause */
/* The linear program of LP-beta by lazy constraints. For given beta the best rho and xi are known:
 * with g_i the least margin of row i over all labels,
 *
 *     h(beta) = max over rho of rho - 1/(nu N) sum_i max(0, rho - g_i)
 *             = the mean of g_i over the worst nu N rows (the last of them by a fraction).
 *
 * Each g_i is that of one label, linear in beta, so the worst rows with their worst labels give one
 * linear function that is h at this beta and above h elsewhere. The program
 * max t, t <= all such functions so far, beta in the simplex, has a handful of rows in place of
 * N (labels - 1); its value bounds h from above, and it is solved and extended until h is there.
 * There are finitely many such functions, so that it ends at the optimum of the full program. */
#include "baseline/lp_beta.h"

#include "optim/linear_program.h"

enum { MOST_CUTS = 5000 };
static const double TOLERANCE = 1e-7; /* of the scale of margins */

struct margin {
    double value;
    size_t row;
    size_t other; /* the label that is nearest */
};

struct search {
    md_pool pool; /* of the arrays */
    const md_lp_beta *scores;
    const size_t *rows;
    size_t count;
    double nu;
    double scale;          /* of margins: the program works on shares of it */
    double *beta;          /* [kernels + 1] the next point, then the bound */
    double *cut;           /* [kernels + 1] */
    double *sum;           /* [outputs] scratch */
    struct margin *margin; /* [count] */
    md_linear_program *program;
};

static void clear_search(struct search *s)
{
    md_pool_clear(&s->pool);
    md_linear_program_free(s->program);
}

/* ---- margins ---- */

static double score_at(const md_lp_beta *scores, size_t m, size_t row, size_t label)
{
    if (scores->outputs == 1)
        return label == 1 ? scores->score[m][row] : 0;
    return scores->score[m][row * scores->outputs + label];
}

static void add_scores(const md_lp_beta *scores, const double *beta, size_t row, double *sum)
{
    const size_t outputs = scores->outputs;
    memset(sum, 0, outputs * sizeof *sum);
    for (size_t m = 0; m < scores->kernels; m++) {
        const double *from = scores->score[m] + row * outputs;
        if (beta[m] == 0)
            continue;
        for (size_t o = 0; o < outputs; o++)
            sum[o] += beta[m] * from[o];
    }
}

static struct margin margin_of(const md_lp_beta *scores, const double *sum, size_t row)
{
    const size_t label = (size_t)scores->label[row];
    if (scores->outputs == 1)
        return (struct margin){
            .value = label == 1 ? sum[0] : -sum[0], .row = row, .other = 1 - label};
    size_t other = label == 0;
    for (size_t o = 0; o < scores->outputs; o++)
        if (o != label && sum[o] > sum[other])
            other = o;
    return (struct margin){.value = sum[label] - sum[other], .row = row, .other = other};
}

static int worst_first(const void *left, const void *right)
{
    const struct margin *a = left;
    const struct margin *b = right;
    if (a->value != b->value)
        return a->value < b->value ? -1 : 1;
    return a->row < b->row ? -1 : a->row > b->row;
}

medley_status md_lp_beta_accuracy(double *accuracy, const md_lp_beta *scores, const double *beta,
                                  const size_t *rows, size_t count, medley_error *error)
{
    size_t right = 0;
    MD_OWNED(free) double *sum = NULL;
    MEDLEY_TRY(md_new(&sum, scores->outputs, sizeof *sum, error));
    for (size_t i = 0; i < count; i++) {
        add_scores(scores, beta, rows[i], sum);
        const struct margin margin = margin_of(scores, sum, rows[i]);
        right += margin.value > 0 ||
                 (margin.value == 0 && (size_t)scores->label[rows[i]] < margin.other);
    }
    *accuracy = count > 0 ? (double)right / (double)count : 0;
    return MEDLEY_OK;
}

/* ---- the program ---- */

/* h at beta, and in cut the linear function that is h there. */
static double look(struct search *s)
{
    const md_lp_beta *scores = s->scores;
    const double worst = s->nu * (double)s->count;
    double value = 0;
    for (size_t i = 0; i < s->count; i++) {
        add_scores(scores, s->beta, s->rows[i], s->sum);
        s->margin[i] = margin_of(scores, s->sum, s->rows[i]);
    }
    qsort(s->margin, s->count, sizeof *s->margin, worst_first);
    memset(s->cut, 0, (scores->kernels + 1) * sizeof *s->cut);
    for (size_t i = 0; i < s->count && (double)i < worst; i++) {
        const struct margin *margin = &s->margin[i];
        const double weight = fmin(1, worst - (double)i) / worst;
        const size_t label = (size_t)scores->label[margin->row];
        value += weight * margin->value;
        for (size_t m = 0; m < scores->kernels; m++)
            s->cut[m] += weight * (score_at(scores, m, margin->row, label) -
                                   score_at(scores, m, margin->row, margin->other));
    }
    return value;
}

/* The mean of |score| over kernels, rows and outputs. */
static double scale_of(const struct search *s)
{
    const md_lp_beta *scores = s->scores;
    double sum = 0;
    for (size_t m = 0; m < scores->kernels; m++)
        for (size_t i = 0; i < s->count; i++)
            for (size_t o = 0; o < scores->outputs; o++)
                sum += fabs(scores->score[m][s->rows[i] * scores->outputs + o]);
    return sum / (double)(scores->kernels * s->count * scores->outputs);
}

/* Variables beta and t, from equal weights on. */
static medley_status open_program(struct search *s, medley_error *error)
{
    const size_t kernels = s->scores->kernels;
    MD_OWNED(free) double *low = NULL;
    MEDLEY_TRY(md_new(&low, 3 * (kernels + 1), sizeof *low, error));
    double *high = low + kernels + 1;
    double *cost = high + kernels + 1;
    for (size_t m = 0; m <= kernels; m++) {
        high[m] = INFINITY;
        s->cut[m] = m < kernels;
        s->beta[m] = 1 / (double)kernels;
    }
    low[kernels] = -INFINITY;
    cost[kernels] = -1;
    MEDLEY_TRY(md_linear_program_create(&s->program, cost, low, high, kernels + 1, error));
    return md_linear_program_add(s->program, s->cut, 1, 1, error);
}

static medley_status next_point(struct search *s, medley_error *error)
{
    const size_t kernels = s->scores->kernels;
    for (size_t m = 0; m < kernels; m++)
        s->cut[m] /= s->scale;
    s->cut[kernels] = -1;
    MEDLEY_TRY(md_linear_program_add(s->program, s->cut, 0, INFINITY, error));
    return md_linear_program_solve(s->program, s->beta, error);
}

/* What rounding has left of weights that are none, and of their sum. */
static void tidy(double *beta, size_t kernels)
{
    double sum = 0;
    for (size_t m = 0; m < kernels; m++) {
        beta[m] = beta[m] > 1e-9 ? beta[m] : 0;
        sum += beta[m];
    }
    for (size_t m = 0; m < kernels && sum > 0; m++)
        beta[m] /= sum;
}

static medley_status search(struct search *s, md_lp_weights *weights, medley_error *error)
{
    const size_t kernels = s->scores->kernels;
    weights->value = -INFINITY;
    weights->bound = INFINITY;
    s->scale = scale_of(s);
    for (size_t cuts = 0; cuts < MOST_CUTS; cuts++) {
        const double value = look(s);
        if (value > weights->value) {
            weights->value = value;
            memcpy(weights->beta, s->beta, kernels * sizeof *s->beta);
        }
        if (!(s->scale > 0)) /* all the same */
            weights->bound = value;
        if (weights->bound - weights->value <= TOLERANCE * s->scale)
            break;
        MEDLEY_TRY(next_point(s, error));
        weights->bound = fmin(weights->bound, s->beta[kernels] * s->scale);
        tidy(s->beta, kernels);
    }
    return MEDLEY_OK;
}

medley_status md_lp_beta_solve(md_lp_weights *weights, const md_lp_beta *scores, const size_t *rows,
                               size_t count, double nu, medley_error *error)
{
    MD_CLEARED(clear_search)
    struct search s = {.scores = scores, .rows = rows, .count = count, .nu = nu};
    MEDLEY_TRY(md_pool_new(&s.pool, &s.beta, scores->kernels + 1, sizeof *s.beta, error));
    MEDLEY_TRY(md_pool_new(&s.pool, &s.cut, scores->kernels + 1, sizeof *s.cut, error));
    MEDLEY_TRY(md_pool_new(&s.pool, &s.sum, scores->outputs, sizeof *s.sum, error));
    MEDLEY_TRY(md_pool_new(&s.pool, &s.margin, count, sizeof *s.margin, error));
    MEDLEY_TRY(open_program(&s, error));
    return search(&s, weights, error);
}
