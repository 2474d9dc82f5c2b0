/* SPDX-License-Identifier: BSD-3-Clause */
/* The calibration of rows that stand alone. With targets t_il = (1 - e) [l = y_i] + e/L, the
 * value is
 *
 *     F(a, b) = sum_i ( log sum_l exp(a s_il + b_l) - sum_l t_il (a s_il + b_l) ) + R/2 ||b||^2.
 *
 * It is convex, strictly unless all scores of each row are equal; adding a number to all b_l
 * changes only the ridge, so the least point has sum b = 0 by itself. */
#include "model/calibration.h"

#include "optim/optim.h"

static const double RIDGE = 10; /* as forty rows of which it is open whether they have a label */

/* Of the factor, on scores of unit size: scores that are worse than none get next to no weight,
 * but never a negative one. */
static const double LEAST_FACTOR = 1e-3;

void md_calibration_clear(md_calibration *calibration)
{
    free(calibration->offset);
    *calibration = (md_calibration){0};
}

void md_calibration_apply(const md_calibration *calibration, float *score, size_t parts,
                          size_t rows, size_t labels)
{
    for (size_t i = 0; i < parts; i++)
        score[i] = (float)(calibration->factor * (double)score[i]);
    for (size_t i = 0; calibration->offset != NULL && i < rows * labels; i++)
        score[i] = (float)((double)score[i] + calibration->offset[i % labels]);
}

void md_log_logistic(float *score, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const double s = (double)score[i];
        score[i] = (float)(fmin(s, 0) - log1p(exp(-fabs(s))));
    }
}

/* ---- what is minimised ---- */

/* Probabilities of row i into p; returns its smoothed log loss. */
static double row_value(const md_softmax_fit *fit, const double *x, size_t i, double *p)
{
    const size_t labels = fit->labels;
    const float *score = fit->score + i * labels;
    double most = -INFINITY;
    double mean = 0;
    for (size_t l = 0; l < labels; l++) {
        p[l] = x[0] * (double)score[l] + x[1 + l];
        most = fmax(most, p[l]);
        mean += p[l] / (double)labels;
    }
    const double right = p[fit->label[i]];
    double sum = 0;
    for (size_t l = 0; l < labels; l++) {
        p[l] = exp(p[l] - most);
        sum += p[l];
    }
    for (size_t l = 0; l < labels; l++)
        p[l] /= sum;
    return most + log(sum) - (1 - fit->smoothing) * right - fit->smoothing * mean;
}

static void add_gradient(md_softmax_fit *fit, size_t i, const double *p, double *gradient)
{
    const size_t labels = fit->labels;
    const float *score = fit->score + i * labels;
    for (size_t l = 0; l < labels; l++) {
        const double target =
            fit->smoothing / (double)labels + (l == (size_t)fit->label[i] ? 1 - fit->smoothing : 0);
        gradient[0] += (p[l] - target) * (double)score[l];
        gradient[1 + l] += p[l] - target;
        fit->share[i * labels + l] = (float)p[l];
    }
}

double md_softmax_value(md_softmax_fit *fit, const double *x, double *gradient)
{
    const size_t labels = fit->labels;
    double *p = fit->scratch;
    double value = 0;
    if (gradient != NULL)
        memset(gradient, 0, (1 + labels) * sizeof *gradient);
    for (size_t i = 0; i < fit->rows; i++) {
        value += row_value(fit, x, i, p);
        if (gradient != NULL)
            add_gradient(fit, i, p, gradient);
    }
    for (size_t l = 0; l < labels; l++) {
        value += RIDGE / 2 * x[1 + l] * x[1 + l];
        if (gradient != NULL)
            gradient[1 + l] += RIDGE * x[1 + l];
    }
    if (gradient != NULL && fit->holds_factor)
        gradient[0] = 0;
    return value;
}

/* H = sum_i J' (diag(p) - p p') J + ridge, J = (s_i, I). A factor that is held has a row of its own
 * that leaves it alone. */
void md_softmax_multiply(void *context, const double *v, double *product)
{
    const md_softmax_fit *fit = context;
    const size_t labels = fit->labels;
    const double factor = fit->holds_factor ? 0 : v[0];
    product[0] = fit->holds_factor ? v[0] : 0;
    for (size_t l = 0; l < labels; l++)
        product[1 + l] = RIDGE * v[1 + l];
    for (size_t i = 0; i < fit->rows; i++) {
        const float *score = fit->score + i * labels;
        const float *share = fit->share + i * labels;
        double mean = 0;
        for (size_t l = 0; l < labels; l++)
            mean += (double)share[l] * (factor * (double)score[l] + v[1 + l]);
        double change = 0;
        for (size_t l = 0; l < labels; l++) {
            const double q = (double)share[l] * (factor * (double)score[l] + v[1 + l] - mean);
            change += q * (double)score[l];
            product[1 + l] += q;
        }
        if (!fit->holds_factor)
            product[0] += change;
    }
}

/* ---- Newton's method ---- */

/* The inverse of the Hessian's diagonal. */
static void find_diagonal(const md_softmax_fit *fit, double *inverse)
{
    const size_t labels = fit->labels;
    memset(inverse, 0, (1 + labels) * sizeof *inverse);
    for (size_t i = 0; i < fit->rows; i++) {
        const float *score = fit->score + i * labels;
        const float *share = fit->share + i * labels;
        double mean = 0;
        double square = 0;
        for (size_t l = 0; l < labels; l++) {
            const double p = (double)share[l];
            const double s = (double)score[l];
            mean += p * s;
            square += p * s * s;
            inverse[1 + l] += p * (1 - p);
        }
        inverse[0] += fmax(0, square - mean * mean);
    }
    inverse[0] = fit->holds_factor || !(inverse[0] > 0) ? 1 : 1 / inverse[0];
    for (size_t l = 0; l < labels; l++)
        inverse[1 + l] = 1 / (inverse[1 + l] + RIDGE);
}

/* x goes to the least point along the ray from it, or near it. False: nothing is left to gain. */
static bool walk(md_softmax_fit *fit, double *x, const double *step, double value, double slope,
                 double *trial)
{
    enum { HALVINGS = 40 };
    static const double ENOUGH = 1e-4; /* of what the slope promises */
    const size_t n = 1 + fit->labels;
    double length = 1;
    for (int i = 0; i < HALVINGS; i++, length /= 2) {
        for (size_t k = 0; k < n; k++)
            trial[k] = x[k] + length * step[k];
        if (md_softmax_value(fit, trial, NULL) <= value + ENOUGH * length * slope) {
            memcpy(x, trial, n * sizeof *x);
            return true;
        }
    }
    return false;
}

/* room: 9 n doubles, n = 1 + labels. */
static void minimise(md_softmax_fit *fit, double *x, double *room)
{
    enum { MOST_STEPS = 100, MOST_INNER_STEPS = 200 };
    static const double TOLERANCE = 1e-13; /* of the value, that a step must promise */
    const size_t n = 1 + fit->labels;
    double *gradient = room;
    double *step = room + n;
    double *inverse = room + 2 * n;
    double *trial = room + 3 * n;
    const md_linear_system system = {
        .n = n, .context = fit, .multiply = md_softmax_multiply, .inverse_diagonal = inverse};
    for (int i = 0; i < MOST_STEPS; i++) {
        const double value = md_softmax_value(fit, x, gradient);
        find_diagonal(fit, inverse);
        memset(step, 0, n * sizeof *step);
        for (size_t k = 0; k < n; k++)
            gradient[k] = -gradient[k];
        md_conjugate_gradient(&system, gradient, step, 1e-9, MOST_INNER_STEPS, room + 4 * n);
        double slope = 0;
        for (size_t k = 0; k < n; k++)
            slope -= gradient[k] * step[k];
        if (-slope <= TOLERANCE * value || !walk(fit, x, step, value, slope, trial))
            return;
    }
}

/* ---- the fit ---- */

static double mean_of_row(const md_held_rows *held, size_t i)
{
    double mean = 0;
    for (size_t l = 0; l < held->labels; l++)
        mean += (double)held->score[i * held->labels + l] / (double)held->labels;
    return mean;
}

/* Scores are centred in each row, which changes no probability, and divided by their size, which
 * comes back; 0: all are equal. */
static double take_scores(md_softmax_fit *fit, const md_held_rows *held)
{
    const size_t labels = held->labels;
    double squares = 0;
    for (size_t i = 0; i < held->rows; i++) {
        const double mean = mean_of_row(held, i);
        for (size_t l = 0; l < labels; l++) {
            const double score = (double)held->score[i * labels + l] - mean;
            squares += score * score;
        }
    }
    const double size = sqrt(squares / (double)(held->rows * labels));
    for (size_t i = 0; size > 0 && i < held->rows; i++) {
        const double mean = mean_of_row(held, i);
        for (size_t l = 0; l < labels; l++)
            fit->score[i * labels + l] =
                (float)(((double)held->score[i * labels + l] - mean) / size);
    }
    return size;
}

static void clear_fit(md_softmax_fit *fit)
{
    free(fit->score);
    free(fit->share);
}

medley_status md_calibration_fit(md_calibration *calibration, const md_held_rows *held,
                                 medley_error *error)
{
    const size_t n = 1 + held->labels;
    MD_CLEARED(clear_fit)
    md_softmax_fit fit = {.rows = held->rows,
                          .labels = held->labels,
                          .label = held->label,
                          .smoothing = 1 / (1 + (double)held->rows)};
    MD_OWNED(free) double *offset = NULL;
    MD_OWNED(free) double *x = NULL; /* x, 9 n of room, probabilities of a row */
    MEDLEY_TRY(md_new(&offset, held->labels, sizeof *offset, error));
    MEDLEY_TRY(md_new(&x, 11 * n, sizeof *x, error));
    MEDLEY_TRY(md_new(&fit.score, held->rows * held->labels, sizeof *fit.score, error));
    MEDLEY_TRY(md_new(&fit.share, held->rows * held->labels, sizeof *fit.share, error));
    fit.scratch = x + 10 * n;
    const double size = take_scores(&fit, held);
    if (!isfinite(size))
        return md_fail(error, MEDLEY_FAILED,
                       "the scores of held-out rows are not finite numbers: they cannot be "
                       "calibrated; use `scale=standard` or `normalize=diag`");
    x[0] = 1;
    fit.holds_factor = !(size > 0);
    minimise(&fit, x, x + n);
    if (!(x[0] >= LEAST_FACTOR)) {
        memset(x, 0, n * sizeof *x);
        x[0] = LEAST_FACTOR;
        fit.holds_factor = true;
        minimise(&fit, x, x + n);
    }
    double mean = 0;
    for (size_t l = 0; l < held->labels; l++)
        mean += x[1 + l] / (double)held->labels;
    for (size_t l = 0; l < held->labels; l++)
        offset[l] = x[1 + l] - mean; /* which is 0 but for rounding */
    *calibration =
        (md_calibration){.factor = size > 0 ? x[0] / size : 1, .offset = md_take(&offset)};
    return MEDLEY_OK;
}
