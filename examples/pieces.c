/* SPDX-License-Identifier: BSD-3-Clause */
/* Learning piece by piece: rows come a few hundred at a time, each piece is learnt from once and
 * forgotten, and there is a model whenever one is wanted. */
#include <medley/medley.h>
#include <stdio.h>

#define TRY(call)                                                                                  \
    do {                                                                                           \
        if ((call) < 0)                                                                            \
            goto done;                                                                             \
    } while (0)

/* The next rows: here generated, elsewhere read from wherever they come from. */
static medley_status next_piece(medley_dataset **piece, size_t rows, size_t number,
                                medley_error *error)
{
    medley_generate_options how = MEDLEY_GENERATE_OPTIONS_INIT;
    how.rows = rows;
    how.seed = number;
    return medley_generate(piece, "waveform", &how, error);
}

int main(void)
{
    enum { PIECES = 6, ROWS = 300 };
    medley_error error = {0};
    medley_options *options = NULL;
    medley_learner *learner = NULL;
    medley_dataset *piece = NULL, *test = NULL;
    medley_model *model = NULL;
    medley_evaluation measured = MEDLEY_EVALUATION_INIT;

    /* What depends on data (widths, scales, the length of steps) is chosen from the first piece. */
    TRY(medley_options_create(&options, &error));
    TRY(medley_options_set(options, "scale", "standard", &error));
    TRY(medley_options_set(options, "kernel", "linear(norm=diag)", &error));
    TRY(medley_options_set(options, "kernel", "rbf(auto)", &error));
    TRY(medley_learner_create(&learner, options, &error));
    TRY(next_piece(&test, 1000, 99, &error));

    for (size_t number = 1; number <= PIECES; number++) {
        TRY(next_piece(&piece, ROWS, number, &error));
        TRY(medley_learner_partial_fit(learner, piece, &error));
        medley_dataset_free(piece);
        piece = NULL; /* so that the way out does not free it again */

        TRY(medley_learner_model(&model, learner, &error));
        TRY(medley_evaluate(&measured, model, test, 0, &error));
        printf("%4zu rows seen, %3zu kept: accuracy %.3f\n", number * ROWS,
               medley_model_summary(model)->support_rows, measured.accuracy);
        medley_evaluation_clear(&measured);
        if (number < PIECES) {
            medley_model_free(model);
            model = NULL;
        }
    }
    TRY(medley_model_save(model, "pieces.medley", &error));
    printf("saved in pieces.medley\n");

done:
    if (error.code < 0) {
        char text[1024];
        medley_error_format(text, sizeof text, &error);
        fprintf(stderr, "pieces: %s\n", text);
    }
    medley_evaluation_clear(&measured);
    medley_model_free(model);
    medley_dataset_free(piece);
    medley_dataset_free(test);
    medley_learner_free(learner);
    medley_options_free(options);
    return error.code < 0;
}
