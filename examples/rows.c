/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows of numbers: read a file, learn from it, measure, save, load, predict.
 *
 * Every call that can fail returns a status: negative is an error, and the medley_error then holds
 * one sentence about it, with file and line where a file is at fault. Free functions take NULL, so
 * one way out is enough. */
#include <medley/medley.h>
#include <stdio.h>

#define TRY(call)                                                                                  \
    do {                                                                                           \
        if ((call) < 0)                                                                            \
            goto done;                                                                             \
    } while (0)

/* A file to learn from. You have one of your own: leave this out. */
static medley_status write_data(const char *path, size_t rows, unsigned seed, medley_error *error)
{
    medley_generate_options how = MEDLEY_GENERATE_OPTIONS_INIT;
    medley_dataset *data = NULL;
    how.rows = rows;
    how.seed = seed;
    medley_status status = medley_generate(&data, "waveform", &how, error);
    if (status >= 0)
        status = medley_dataset_write(data, path, "csv", error);
    medley_dataset_free(data);
    return status;
}

int main(void)
{
    medley_error error = {0};
    medley_dataset *train = NULL, *new_rows = NULL;
    medley_options *options = NULL;
    medley_model *learnt = NULL, *model = NULL;
    medley_evaluation measured = MEDLEY_EVALUATION_INIT;
    medley_prediction *prediction = NULL;

    TRY(write_data("train.csv", 600, 1, &error));
    TRY(write_data("new.csv", 200, 2, &error));

    /* Options are those of `medley train`, by the same names; without any there are defaults. */
    TRY(medley_options_create(&options, &error));
    TRY(medley_options_set(options, "scale", "standard", &error));
    TRY(medley_options_set(options, "kernel", "linear(norm=diag)", &error));
    TRY(medley_options_set(options, "kernel", "rbf(auto)", &error));

    TRY(medley_dataset_read(&train, "train.csv", NULL, &error));
    TRY(medley_fit(&learnt, train, NULL, options, NULL, &error));
    const medley_summary *summary = medley_model_summary(learnt);
    for (size_t b = 0; b < summary->block_count; b++)
        printf("kernel %-24s weight %.3f\n", summary->blocks[b].name, summary->blocks[b].weight);
    TRY(medley_model_save(learnt, "wave.medley", &error));

    /* Later, in another program. The model knows how its data are to be read. */
    TRY(medley_model_load(&model, "wave.medley", &error));
    TRY(medley_dataset_read_for(&new_rows, model, "new.csv", NULL, &error));
    TRY(medley_evaluate(&measured, model, new_rows, 0, &error));
    printf("accuracy %.3f (%zu of %zu)\n", measured.accuracy, measured.correct, measured.examples);
    TRY(medley_predict(&prediction, model, new_rows, 0, &error));
    for (size_t row = 0; row < 3; row++)
        printf("row %zu: label %s\n", row + 1,
               medley_model_label_name(model, (size_t)prediction->label[row]));

done:
    if (error.code < 0) {
        char text[1024];
        medley_error_format(text, sizeof text, &error);
        fprintf(stderr, "rows: %s\n", text);
    }
    medley_prediction_free(prediction);
    medley_evaluation_clear(&measured);
    medley_model_free(model);
    medley_model_free(learnt);
    medley_options_free(options);
    medley_dataset_free(new_rows);
    medley_dataset_free(train);
    return error.code < 0;
}
