/* SPDX-License-Identifier: BSD-3-Clause */
/* Sequences: sentences whose words get labels, features by the templates of CRF++, and an observer
 * that shows how far learning is and ends it once held-out sentences are read well enough. */
#include <math.h>
#include <medley/medley.h>
#include <stdio.h>

#define TRY(call)                                                                                  \
    do {                                                                                           \
        if ((call) < 0)                                                                            \
            goto done;                                                                             \
    } while (0)

struct watch {
    double enough; /* accuracy */
    size_t epochs;
};

/* Called between steps. false asks to stop, and what has been learnt so far is the model. */
static bool show(void *context, const medley_progress *progress)
{
    struct watch *watch = context;
    if (isnan(progress->dev_accuracy))
        return true; /* reading, or the search for a rate */
    watch->epochs = progress->done;
    printf("%s %zu of %zu: objective %.4f, held-out accuracy %.4f\n", progress->stage,
           progress->done, progress->total, progress->objective, progress->dev_accuracy);
    return progress->dev_accuracy < watch->enough;
}

int main(void)
{
    medley_error error = {0};
    medley_generate_options how = MEDLEY_GENERATE_OPTIONS_INIT;
    medley_dataset *all = NULL, *train = NULL, *held_out = NULL;
    medley_options *options = NULL;
    medley_model *model = NULL;
    medley_prediction *prediction = NULL;
    struct watch watch = {.enough = 0.97};
    medley_observer observer = {sizeof observer, &watch, show};

    how.rows = 400; /* sentences: word, part of speech, label of a chunk */
    TRY(medley_generate(&all, "tagged", &how, &error));
    TRY(medley_dataset_split(&train, &held_out, all, 0.25, 1, &error));

    /* "chunk" is CRF++'s usual template file, which is built in; any file's name will do. */
    TRY(medley_options_create(&options, &error));
    TRY(medley_options_set(options, "template", "chunk", &error));
    TRY(medley_options_set(options, "loss", "logistic", &error));
    TRY(medley_options_set(options, "penalty", "l2", &error));
    medley_status status = medley_fit(&model, train, held_out, options, &observer, &error);
    TRY(status);
    printf("%s after %zu epochs\n", status == MEDLEY_STOPPED ? "good enough" : "learnt",
           watch.epochs);

    TRY(medley_predict(&prediction, model, held_out, 0, &error));
    for (size_t row = 0; row < medley_dataset_sequence_row(held_out, 1); row++)
        printf("%s\t%s\t%s\n", medley_dataset_word(held_out, row, 0),
               medley_dataset_word(held_out, row, 1),
               medley_model_label_name(model, (size_t)prediction->label[row]));

done:
    if (error.code < 0)
        fprintf(stderr, "sequences: %s\n", error.message);
    medley_prediction_free(prediction);
    medley_model_free(model);
    medley_options_free(options);
    medley_dataset_free(held_out);
    medley_dataset_free(train);
    medley_dataset_free(all);
    return error.code < 0;
}
