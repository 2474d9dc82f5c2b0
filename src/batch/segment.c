/* SPDX-License-Identifier: BSD-3-Clause */
/* The best model between two, of a squared norm. Losses with kinks are straight along whole
 * stretches: there the sum of powers of one strength has many minima, and returns one from an end
 * of them, while the squared norm has its minimum in between. */
#include "batch/certificate.h"
#include "linalg/vectors.h"

/* One kernel of either model, with x = (1 - t) a + t b. */
struct part {
    size_t kernel;
    const double *a, *b; /* [n] coefficients; NULL: none */
    double aa, ab, bb;   /* a'K a ... */
};

struct segment {
    const md_batch_problem *problem;
    struct part *parts; /* [count] in the order of the kernels */
    size_t count;
    double *from, *to, *f; /* [n] scores of both models, scratch */
    double *norm;          /* [count] scratch */
};

static void clear_segment(struct segment *segment)
{
    free(segment->parts);
    free(segment->from);
    free(segment->norm);
}

static double plus(double x)
{
    return x > 0 ? x : 0;
}

static double value_at(const struct segment *segment, double t)
{
    const md_batch_problem *p = segment->problem;
    double bias;
    for (size_t i = 0; i < md_packed_rows(p->packed); i++)
        segment->f[i] = segment->from[i] + t * (segment->to[i] - segment->from[i]);
    for (size_t m = 0; m < segment->count; m++) {
        const struct part *part = &segment->parts[m];
        segment->norm[m] = sqrt(
            plus((1 - t) * (1 - t) * part->aa + 2 * t * (1 - t) * part->ab + t * t * part->bb));
    }
    return md_batch_loss(p, segment->f, &bias) +
           p->strength * md_batch_penalty(p, segment->norm, segment->count);
}

static double best_place(const struct segment *segment)
{
    static const double golden = 0.618033988749895;
    double low = 0;
    double high = 1;
    for (int step = 0; step < 50; step++) {
        const double left = high - golden * (high - low);
        const double right = low + golden * (high - low);
        if (value_at(segment, left) < value_at(segment, right))
            high = right;
        else
            low = left;
    }
    return (low + high) / 2;
}

/* ---- both models on the same kernels ---- */

static void list_parts(struct segment *segment, const md_batch_solution *a,
                       const md_batch_solution *b)
{
    const size_t n = b->rows;
    for (size_t i = 0, j = 0; i < a->active || j < b->active;) {
        struct part *part = &segment->parts[segment->count++];
        const bool has_a = i < a->active && (j == b->active || a->kernel[i] <= b->kernel[j]);
        const bool has_b = j < b->active && (i == a->active || b->kernel[j] <= a->kernel[i]);
        *part = (struct part){.kernel = has_a ? a->kernel[i] : b->kernel[j],
                              .a = has_a ? a->coefficient + i * n : NULL,
                              .b = has_b ? b->coefficient + j * n : NULL};
        i += has_a;
        j += has_b;
    }
}

/* Scores and products, by kernel values as they are stored. */
static medley_status measure(struct segment *segment, medley_error *error)
{
    const size_t n = md_packed_rows(segment->problem->packed);
    for (size_t m = 0; m < segment->count; m++) {
        struct part *part = &segment->parts[m];
        const md_chosen one = {.kernels = &part->kernel, .count = 1};
        md_packed *packed = segment->problem->packed;
        if (part->a != NULL) {
            MEDLEY_TRY(md_packed_multiply(packed, one, part->a, segment->f, error));
            part->aa = md_dot(part->a, segment->f, n);
            part->ab = part->b != NULL ? md_dot(part->b, segment->f, n) : 0;
            md_add_scaled(segment->from, 1, segment->f, n);
        }
        if (part->b != NULL) {
            MEDLEY_TRY(md_packed_multiply(packed, one, part->b, segment->f, error));
            part->bb = md_dot(part->b, segment->f, n);
            md_add_scaled(segment->to, 1, segment->f, n);
        }
    }
    return MEDLEY_OK;
}

medley_status md_batch_join(md_batch_solution *joined, const md_batch_problem *problem,
                            const md_batch_solution *a, const md_batch_solution *b,
                            medley_error *error)
{
    const size_t n = b->rows;
    const size_t most = a->active + b->active;
    MD_CLEARED(clear_segment) struct segment segment = {.problem = problem};
    MEDLEY_TRY(md_new(&segment.parts, most, sizeof *segment.parts, error));
    MEDLEY_TRY(md_new(&segment.norm, most, sizeof *segment.norm, error));
    MEDLEY_TRY(md_new(&segment.from, 3 * n, sizeof *segment.from, error));
    segment.to = segment.from + n;
    segment.f = segment.to + n;
    list_parts(&segment, a, b);
    MEDLEY_TRY(measure(&segment, error));
    const double t = best_place(&segment);
    MEDLEY_TRY(md_batch_allocate(joined, n, segment.count, b->rho, error));
    for (size_t m = 0; m < segment.count; m++) {
        const struct part *part = &segment.parts[m];
        joined->kernel[m] = part->kernel;
        for (size_t i = 0; i < n; i++)
            joined->coefficient[m * n + i] = (part->a != NULL ? (1 - t) * part->a[i] : 0) +
                                             (part->b != NULL ? t * part->b[i] : 0);
    }
    return md_batch_value_model(joined, problem, error);
}
