/* SPDX-License-Identifier: BSD-3-Clause */
/* What a model has learnt from tiny data, written out as one vector. */
#ifndef TESTS_LEARNER_TINY_MODEL_H
#define TESTS_LEARNER_TINY_MODEL_H

#include "fit/tiny_outputs.h"
#include "model/model.h"

/* Kernel expansions are sums of training rows; other weights are there as they are. */
static inline void read_term(const medley_model *model, const struct tiny_data *data, size_t t,
                             double *theta)
{
    const md_kernel *kernel = &model->bank.kernels[model->terms[t].kernel];
    const md_body *body = &model->bodies[model->terms[t].body];
    const size_t labels = data->kind.labels;
    const size_t b = strstr(kernel->name, "@second") != NULL;
    double *to = theta + data->group[b];
    for (size_t r = 0; r < body->rows; r++)
        for (size_t c = 0; c < COLUMNS; c++)
            for (size_t l = 0; l < labels; l++)
                if (!md_kernel_has_weights(kernel))
                    to[c * labels + l] += (double)body->values[r * labels + l] *
                                          (double)data->x[model->support_row[r]][b][c];
                else if (c == r)
                    to[c * labels + l] = (double)body->values[r * labels + l];
}

static inline void read_model(const medley_model *model, const struct tiny_data *data,
                              double *theta)
{
    memset(theta, 0, MOST_WEIGHTS * sizeof *theta);
    for (size_t t = 0; t < model->term_count; t++)
        read_term(model, data, t, theta);
    for (size_t w = 0; w < model->weights_count; w++) {
        const md_weights *weights = &model->weights[w];
        const size_t g = weights->kind == MD_PAIR_PARTS     ? TABLES
                         : weights->kind == MD_TRIPLE_PARTS ? TABLES + 1
                                                            : data->group_count - 1;
        assert_int_equal(weights->width, data->group[g + 1] - data->group[g]);
        for (size_t p = 0; p < weights->width; p++)
            theta[data->group[g] + p] = (double)weights->values[p] / data->kind.bigram_scale;
    }
}

#endif
