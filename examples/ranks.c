/* SPDX-License-Identifier: BSD-3-Clause */
/* Several processes that learn one model together: mpirun -n 4 ./ranks. Started by itself the
 * program is alone, and learns the same model. */
#include <medley/medley.h>
#include <stdio.h>

#define TRY(call)                                                                                  \
    do {                                                                                           \
        if ((status = (call)) < 0)                                                                 \
            goto done;                                                                             \
    } while (0)

int main(void)
{
    medley_status status = MEDLEY_OK;
    medley_error error = {0};
    medley_comm *comm = NULL;
    medley_options *options = NULL;
    medley_dataset *train = NULL, *test = NULL;
    medley_model *model = NULL;
    medley_evaluation measured = MEDLEY_EVALUATION_INIT;
    medley_evaluate_options how = MEDLEY_EVALUATE_OPTIONS_INIT;
    medley_generate_options rows = MEDLEY_GENERATE_OPTIONS_INIT;
    size_t teller = 0;

    /* Every rank has the same data and makes the same calls. */
    TRY(medley_comm_open(&comm, NULL, &error));
    rows.rows = 600;
    TRY(medley_generate(&train, "waveform", &rows, &error));
    rows.seed = 2;
    TRY(medley_generate(&test, "waveform", &rows, &error));

    /* What the options and the evaluation are told of the ranks is all there is to it. */
    TRY(medley_options_create(&options, &error));
    TRY(medley_options_set(options, "method", "obscure", &error));
    TRY(medley_options_set(options, "kernel", "rbf(sigma={2,4,8})", &error));
    medley_options_set_comm(options, comm);
    TRY(medley_fit(&model, train, NULL, options, NULL, &error));
    how.comm = comm;
    TRY(medley_evaluate_with(&measured, model, test, &how, &error));

    /* All ranks have the model; one of them should print. */
    if (medley_comm_rank(comm) == 0)
        printf("%zu ranks: accuracy %.3f\n", medley_comm_size(comm), measured.accuracy);

done:
    /* All come together, or the one that has failed alone ends the others. */
    if (!medley_comm_settle(&teller, comm, status)) {
        fprintf(stderr, "ranks: rank %zu: %s\n", medley_comm_rank(comm), error.message);
        medley_comm_end(comm, 1);
    } else if (status < 0 && teller == medley_comm_rank(comm)) {
        fprintf(stderr, "ranks: %s\n", error.message);
    }
    medley_evaluation_clear(&measured);
    medley_model_free(model);
    medley_options_free(options);
    medley_dataset_free(test);
    medley_dataset_free(train);
    medley_comm_free(comm);
    return status < 0 ? 1 : 0;
}
