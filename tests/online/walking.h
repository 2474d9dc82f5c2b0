/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the tests of online paths: the models of a path, kept in order. */
#ifndef TESTS_LEARNER_WALKING_H
#define TESTS_LEARNER_WALKING_H

#include "fit/fitting.h"

enum { MOST_MODELS = 40 };

struct walked {
    medley_model *models[MOST_MODELS];
    size_t count, wanted;
};

static inline bool keep_model(void *context, medley_model *model)
{
    struct walked *walked = context;
    walked->models[walked->count++] = model;
    return walked->count < (walked->wanted > 0 ? walked->wanted : MOST_MODELS);
}

static inline medley_path_options grid(size_t count, double ratio)
{
    medley_path_options path = MEDLEY_PATH_OPTIONS_INIT;
    path.count = count;
    path.ratio = ratio;
    return path;
}

static inline void walk_path(struct walked *walked, const medley_dataset *train, const char *text,
                             const medley_path_options *path)
{
    medley_error error = {0};
    medley_options *options = make_options(text);
    if (medley_fit_path(train, options, path, keep_model, walked, NULL, &error) != MEDLEY_OK)
        fail_msg("%s: %s", text, error.message);
    medley_options_free(options);
}

static inline void release_models(struct walked *walked)
{
    for (size_t i = 0; i < walked->count; i++)
        medley_model_free(walked->models[i]);
    walked->count = 0;
}

static inline const medley_summary *told(const struct walked *walked, size_t i)
{
    return medley_model_summary(walked->models[i]);
}

#endif
