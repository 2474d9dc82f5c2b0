/* SPDX-License-Identifier: BSD-3-Clause */
/* Matching: which of the objects in one picture is which in the next? Every pair of objects is a
 * row with features of the pair; an output says "yes" to one pair of each object. The program
 * brings the structure: the best assignment, by shortest augmenting paths. */
#include <math.h>
#include <medley/medley.h>
#include <stdio.h>
#include <string.h>

enum { OBJECTS = 6, PICTURES = 60, PAIRS = OBJECTS * OBJECTS, FEATURES = 3 };

/* ---- the structure: row i * n + j of an example is the pair (i, j) ---- */

/* The gain of a pair is the score of "yes" (label 1) minus that of "no" (label 0). */
static double cost(const float *score, size_t n, size_t i, size_t j)
{
    return (double)score[2 * (i * n + j)] - (double)score[2 * (i * n + j) + 1];
}

/* The assignment of least cost (Kuhn, Munkres): u and v are the dual variables, owner[j] the row
 * that has column j, both from 1. One row after the other enters along the shortest path that leads
 * to a free column. */
static int decode(void *context, const medley_example *x, const float *score, int32_t *output,
                  void *workspace)
{
    const size_t n = (size_t)(sqrt((double)x->length) + 0.5);
    double u[OBJECTS + 1] = {0}, v[OBJECTS + 1] = {0};
    size_t owner[OBJECTS + 1] = {0}, previous[OBJECTS + 1] = {0};
    (void)context;
    (void)workspace;
    if (n > OBJECTS || n * n != x->length)
        return 1;
    for (size_t i = 1; i <= n; i++) {
        double least[OBJECTS + 1];
        bool used[OBJECTS + 1] = {false};
        size_t j = 0;
        owner[0] = i;
        for (size_t k = 0; k <= n; k++)
            least[k] = INFINITY;
        do {
            double step = INFINITY;
            size_t next = 0;
            used[j] = true;
            for (size_t k = 1; k <= n; k++) {
                const double reduced =
                    used[k] ? 0 : cost(score, n, owner[j] - 1, k - 1) - u[owner[j]] - v[k];
                if (used[k])
                    continue;
                if (reduced < least[k]) {
                    least[k] = reduced;
                    previous[k] = j;
                }
                if (least[k] < step) {
                    step = least[k];
                    next = k;
                }
            }
            for (size_t k = 0; k <= n; k++) {
                if (used[k]) {
                    u[owner[k]] += step;
                    v[k] -= step;
                } else {
                    least[k] -= step;
                }
            }
            j = next;
        } while (owner[j] != 0);
        for (; j != 0; j = previous[j])
            owner[j] = owner[previous[j]];
    }
    memset(output, 0, x->length * sizeof *output);
    for (size_t j = 1; j <= n; j++)
        output[(owner[j] - 1) * n + j - 1] = 1;
    return 0;
}

/* ---- data: objects move a little, change their brightness, and come in another order ---- */

static double uniform(unsigned *state)
{
    *state = *state * 1664525u + 1013904223u;
    return (*state >> 8) / 16777216.0;
}

static medley_status make(medley_dataset **data, unsigned seed, medley_error *error)
{
    static const char *const names[] = {"no", "yes"};
    static double features[PICTURES * PAIRS][FEATURES];
    static int32_t label[PICTURES * PAIRS];
    size_t lengths[PICTURES];
    medley_status status;
    for (size_t p = 0; p < PICTURES; p++) {
        double before[OBJECTS][FEATURES], after[OBJECTS][FEATURES];
        const size_t shift = (size_t)(uniform(&seed) * OBJECTS);
        for (size_t i = 0; i < OBJECTS; i++)
            for (size_t f = 0; f < FEATURES; f++) {
                before[i][f] = uniform(&seed);
                after[(i + shift) % OBJECTS][f] =
                    before[i][f] + (f == 2 ? 0.1 : 0.4) * (uniform(&seed) - 0.5);
            }
        for (size_t row = 0; row < PAIRS; row++) {
            const size_t i = row / OBJECTS, j = row % OBJECTS;
            for (size_t f = 0; f < FEATURES; f++)
                features[p * PAIRS + row][f] = fabs(before[i][f] - after[j][f]);
            label[p * PAIRS + row] = j == (i + shift) % OBJECTS;
        }
        lengths[p] = PAIRS;
    }
    const medley_table table = {.struct_size = sizeof table,
                                .rows = PICTURES * PAIRS,
                                .columns = FEATURES,
                                .type = MEDLEY_FLOAT64,
                                .values = features};
    if ((status = medley_dataset_create(data, error)) < 0 ||
        (status = medley_dataset_put_table(*data, &table, error)) < 0 ||
        (status = medley_dataset_put_sequences(*data, lengths, PICTURES, error)) < 0)
        return status;
    return medley_dataset_put_labels(*data, label, PICTURES * PAIRS, names, 2, error);
}

int main(void)
{
    medley_error error = {0};
    medley_structure matching = MEDLEY_STRUCTURE_INIT;
    medley_options *options = NULL;
    medley_model *model = NULL;
    medley_evaluation evaluation = MEDLEY_EVALUATION_INIT;
    medley_dataset *train = NULL, *test = NULL;
    matching.name = "matching";
    matching.decode = decode;
    const bool failed = /* each feature alone, and all of them together */
        make(&train, 1, &error) < 0 || make(&test, 2, &error) < 0 ||
        medley_options_create(&options, &error) < 0 ||
        medley_options_set(options, "views", "all+each", &error) < 0 ||
        medley_options_set(options, "kernel", "rbf(sigma2=0.05)", &error) < 0 ||
        medley_options_set_structure(options, &matching, &error) < 0 ||
        medley_fit(&model, train, NULL, options, NULL, &error) < 0 ||
        medley_evaluate(&evaluation, model, test, 0, &error) < 0;
    if (failed)
        fprintf(stderr, "matching: %s\n", error.message);
    else
        printf("%zu pairs of pictures, %.1f %% matched without an error\n", evaluation.examples,
               100 * evaluation.exact_match);
    medley_evaluation_clear(&evaluation);
    medley_model_free(model);
    medley_options_free(options);
    medley_dataset_free(train);
    medley_dataset_free(test);
    return failed;
}
