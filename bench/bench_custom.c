/* SPDX-License-Identifier: BSD-3-Clause */
/* Sequence labelling by a structure that a program brings (medley/structure.h) beside the chains of
 * the library: the same kernels, losses and epochs, seconds of training, best of five in turn.
 * Prints a table and a line of JSON for each case.
 *
 *     bench_custom [WORDS]     of generated handwriting, 400 unless given */
#include "../tests/structure/custom_chain.h"

#include <stdio.h>
#include <stdlib.h>

static void stop(const medley_error *error)
{
    fprintf(stderr, "bench_custom: %s\n", error->message);
    exit(1);
}

struct run {
    double seconds, objective;
};

/* structure NULL: the library's. */
static struct run train(const medley_dataset *data, const char *const (*pairs)[2],
                        const medley_structure *structure)
{
    medley_error error = {0};
    medley_options *options = NULL;
    medley_model *model = NULL;
    if (medley_options_create(&options, &error) < 0)
        stop(&error);
    for (size_t i = 0; pairs[i][0] != NULL; i++)
        if (medley_options_set(options, pairs[i][0], pairs[i][1], &error) < 0)
            stop(&error);
    if (structure != NULL && medley_options_set_structure(options, structure, &error) < 0)
        stop(&error);
    if (medley_fit(&model, data, NULL, options, NULL, &error) < 0)
        stop(&error);
    const medley_summary *summary = medley_model_summary(model);
    const struct run run = {summary->seconds_train, summary->objective};
    medley_model_free(model);
    medley_options_free(options);
    return run;
}

static void compare(const char *name, const medley_dataset *data, const char *const (*pairs)[2])
{
    const medley_structure one = chain_structure();
    const medley_structure many = chain_structure_of_many();
    const medley_structure *const structures[] = {NULL, &one, &many};
    struct run best[3] = {{INFINITY, 0}, {INFINITY, 0}, {INFINITY, 0}};
    for (int time = 0; time < 5; time++)
        for (size_t s = 0; s < 3; s++) {
            const struct run run = train(data, pairs, structures[s]);
            if (run.seconds < best[s].seconds)
                best[s] = run;
        }
    printf("%-22s %10.4f %10.4f %10.4f %8.2f %8.2f   %.1e\n", name, best[0].seconds,
           best[1].seconds, best[2].seconds, best[1].seconds / best[0].seconds,
           best[2].seconds / best[0].seconds,
           fabs(best[1].objective - best[0].objective) / best[0].objective);
    printf("{\"bench\":\"custom\",\"case\":\"%s\",\"seconds\":%.4f,\"custom_seconds\":%.4f,"
           "\"batch_seconds\":%.4f,\"ratio\":%.3f,\"batch_ratio\":%.3f}\n",
           name, best[0].seconds, best[1].seconds, best[2].seconds,
           best[1].seconds / best[0].seconds, best[2].seconds / best[0].seconds);
}

int main(int argc, char **argv)
{
    static const char *const kernels[][2] = {{"bigram", "learned"},
                                             {"kernel", "linear(norm=diag)"},
                                             {"kernel", "poly(degree=2,norm=diag)"},
                                             {"kernel", "rbf(sigma2=5)"},
                                             {"eta0", "1"},
                                             {"epochs", "10"},
                                             {NULL, NULL}};
    static const char *const weights[][2] = {
        {"bigram", "learned"}, {"kernel", "linear(explicit=yes)"},
        {"penalty", "l2"},     {"eta0", "1"},
        {"epochs", "10"},      {NULL, NULL}};
    medley_error error = {0};
    medley_dataset *data = NULL;
    medley_generate_options how = MEDLEY_GENERATE_OPTIONS_INIT;
    how.rows = argc > 1 ? (size_t)atoi(argv[1]) : 400;
    if (medley_generate(&data, "handwriting", &how, &error) < 0)
        stop(&error);
    printf("%-22s %10s %10s %10s %8s %8s   objective differs by\n", "seconds of training",
           "library", "custom", "in batches", "ratio", "ratio");
    compare("kernels", data, kernels);
    compare("explicit weights", data, weights);
    medley_dataset_free(data);
    return 0;
}
