/* SPDX-License-Identifier: BSD-3-Clause */
/* Segments of a sequence, scored as segments: a signal is cut into stretches that rise, fall or
 * stay level. Every candidate segment is a row with features of its own (its slope, how straight it
 * is, its length), which no single point has. The program brings the structure: a label for each
 * candidate,
 * "-" for those that are not used, and the others must cover the signal without overlap. */
#include <math.h>
#include <medley/medley.h>
#include <stdio.h>

enum { POINTS = 20, SIGNALS = 40, LONGEST = 6, FEATURES = 4, KINDS = 4 };
static const char *const names[KINDS] = {"-", "falls", "level", "rises"};

/* ---- the structure: medley_example.info has begin and end of each candidate ---- */

/* best[e] = the best cover of the first e points; what a candidate adds is the score of its kind
 * minus that of not being used. */
static int decode(void *context, const medley_example *x, const float *score, int32_t *output,
                  void *workspace)
{
    double best[POINTS + 1] = {0};
    size_t last[POINTS + 1] = {0}; /* the candidate that ends there, and its kind */
    int32_t kind[POINTS + 1] = {0};
    (void)context, (void)workspace;
    for (int e = 1; e <= POINTS; e++)
        best[e] = -INFINITY;
    for (size_t c = 0; c < x->length; c++) { /* in the order of their ends */
        const int32_t begin = x->info[2 * c], end = x->info[2 * c + 1];
        const float *mine = score + c * x->labels;
        output[c] = 0;
        for (size_t k = 1; k < x->labels; k++) {
            const double value = best[begin] + (double)mine[k] - (double)mine[0];
            if (value > best[end]) {
                best[end] = value;
                last[end] = c;
                kind[end] = (int32_t)k;
            }
        }
    }
    for (int32_t end = POINTS; end > 0; end = x->info[2 * last[end]])
        output[last[end]] = kind[end];
    return 0;
}

/* ---- data ---- */

static double uniform(unsigned *state)
{
    *state = *state * 1664525u + 1013904223u;
    return (*state >> 8) / 16777216.0;
}

/* A signal, and where its stretches end (kind[e] of the stretch that ends at e, else 0). */
static void draw(double *signal, int32_t *kind, int32_t *begin, unsigned *state)
{
    double height = 0;
    for (int e = 0; e < POINTS;) {
        const int left = POINTS - e;
        const int length = left <= LONGEST ? left : 3 + (int)(uniform(state) * 2);
        const int32_t k = 1 + (int32_t)(uniform(state) * 3);
        for (int i = 0; i < length; i++) {
            height += k - 2;
            signal[e + i] = height + 0.6 * (uniform(state) - 0.5);
        }
        height += 5 * (uniform(state) - 0.5); /* the next stretch begins elsewhere */
        begin[e + length] = e;
        e += length;
        kind[e] = k;
    }
}

static void describe(const double *signal, int begin, int end, double *feature)
{
    const int n = end - begin;
    const double slope = n > 1 ? (signal[end - 1] - signal[begin]) / (n - 1) : 0;
    double bend = 0;
    for (int i = begin; i < end; i++)
        bend += fabs(signal[i] - signal[begin] - slope * (i - begin));
    feature[0] = slope;
    feature[1] = bend;
    feature[2] = n == 1;
    feature[3] = n / (double)LONGEST;
}

static medley_status make(medley_dataset **data, unsigned seed, medley_error *error)
{
    enum { MOST = SIGNALS * POINTS * LONGEST };
    static double features[MOST][FEATURES];
    static int32_t info[MOST][2], label[MOST];
    size_t lengths[SIGNALS] = {0}, rows = 0;
    medley_status status;
    for (size_t s = 0; s < SIGNALS; s++) {
        double signal[POINTS];
        int32_t kind[POINTS + 1] = {0}, start[POINTS + 1] = {0};
        draw(signal, kind, start, &seed);
        for (int end = 1; end <= POINTS; end++)
            for (int begin = end > LONGEST ? end - LONGEST : 0; begin < end; begin++) {
                describe(signal, begin, end, features[rows]);
                info[rows][0] = begin;
                info[rows][1] = end;
                label[rows++] = start[end] == begin ? kind[end] : 0;
                lengths[s]++;
            }
    }
    const medley_table table = {.struct_size = sizeof table,
                                .rows = rows,
                                .columns = FEATURES,
                                .type = MEDLEY_FLOAT64,
                                .values = features};
    if ((status = medley_dataset_create(data, error)) < 0 ||
        (status = medley_dataset_put_table(*data, &table, error)) < 0 ||
        (status = medley_dataset_put_sequences(*data, lengths, SIGNALS, error)) < 0 ||
        (status = medley_dataset_put_info(*data, info[0], rows, 2, error)) < 0)
        return status;
    return medley_dataset_put_labels(*data, label, rows, names, KINDS, error);
}

int main(void)
{
    medley_error error = {0};
    medley_structure segments = MEDLEY_STRUCTURE_INIT;
    medley_options *options = NULL;
    medley_model *trained = NULL, *model = NULL;
    medley_evaluation evaluation = MEDLEY_EVALUATION_INIT;
    medley_dataset *train = NULL, *test = NULL;
    segments.name = "segments";
    segments.decode = decode; /* without costs of its own: every wrong candidate costs 1 */
    const bool failed = make(&train, 1, &error) < 0 || make(&test, 2, &error) < 0 ||
                        medley_options_create(&options, &error) < 0 ||
                        medley_options_set(options, "kernel", "rbf(sigma2={0.5,2})", &error) < 0 ||
                        medley_options_set(options, "kernel", "poly(degree=2)", &error) < 0 ||
                        medley_options_set(options, "scale", "standard", &error) < 0 ||
                        medley_options_set_structure(options, &segments, &error) < 0 ||
                        medley_fit(&trained, train, NULL, options, NULL, &error) < 0 ||
                        medley_model_save(trained, "segments.medley", &error) < 0 ||
                        medley_model_load_with(&model, "segments.medley", &segments, &error) < 0 ||
                        medley_evaluate(&evaluation, model, test, 0, &error) < 0;
    char text[1024];
    medley_error_format(text, sizeof text, &error);
    if (failed)
        fprintf(stderr, "segments: %s\n", text);
    else
        printf("%zu signals: %.1f %% of the candidates right, %.1f %% of the signals entirely\n",
               evaluation.examples, 100 * evaluation.accuracy, 100 * evaluation.exact_match);
    medley_evaluation_clear(&evaluation);
    medley_model_free(trained);
    medley_model_free(model);
    medley_options_free(options);
    medley_dataset_free(train);
    medley_dataset_free(test);
    return failed;
}
