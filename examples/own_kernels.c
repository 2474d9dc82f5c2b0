/* SPDX-License-Identifier: BSD-3-Clause */
/* Kernels of your own: texts are compared by the pieces of k letters that they share, for four k,
 * and Medley learns from the four matrices which k matters. Half of the texts hide a word. */
#include <medley/medley.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TRY(call)                                                                                  \
    do {                                                                                           \
        if ((call) < 0)                                                                            \
            goto done;                                                                             \
    } while (0)

enum { TRAIN = 120, NEW = 80, LENGTH = 40 };

static char text[TRAIN + NEW][LENGTH + 1];
static int32_t label[TRAIN + NEW];

/* Random letters, and in every second text the word CATGA somewhere. */
static void make_texts(void)
{
    for (int i = 0; i < TRAIN + NEW; i++) {
        for (int j = 0; j < LENGTH; j++)
            text[i][j] = "ACGT"[rand() / 7 % 4];
        label[i] = i % 2;
        if (label[i])
            memcpy(text[i] + (size_t)rand() / 7 % (LENGTH - 5), "CATGA", 5);
    }
}

/* K(a,b): pairs of places, one in each text, with the same k letters. */
static double shared_pieces(const char *a, const char *b, size_t k)
{
    double count = 0;
    for (size_t i = 0; i + k <= LENGTH; i++)
        for (size_t j = 0; j + k <= LENGTH; j++)
            count += strncmp(a + i, b + j, k) == 0;
    return count;
}

/* A dataset of the texts from first on: a matrix [rows][TRAIN] for each k, K(x,x), and labels. */
static medley_status make_dataset(medley_dataset **data, size_t first, size_t rows,
                                  medley_error *error)
{
    static const char *const kernel_names[] = {"2-letters", "3-letters", "4-letters", "5-letters"};
    static const char *const label_names[] = {"random", "hides-a-word"};
    static double gram[TRAIN * TRAIN], diagonal[TRAIN];
    medley_table values = MEDLEY_TABLE_INIT; /* float64, copied: the array is used again */
    values.rows = rows;
    values.columns = TRAIN;
    values.values = gram;
    medley_status status = medley_dataset_create(data, error);
    for (size_t k = 2; k <= 5 && status >= 0; k++) {
        values.name = kernel_names[k - 2];
        for (size_t i = 0; i < rows; i++) {
            diagonal[i] = shared_pieces(text[first + i], text[first + i], k);
            for (size_t j = 0; j < TRAIN; j++)
                gram[i * TRAIN + j] = shared_pieces(text[first + i], text[j], k);
        }
        status = medley_dataset_put_gram(*data, &values, diagonal, error);
    }
    return status < 0
               ? status
               : medley_dataset_put_labels(*data, label + first, rows, label_names, 2, error);
}

int main(void)
{
    medley_error error = {0};
    medley_dataset *train = NULL, *new_texts = NULL;
    medley_options *options = NULL;
    medley_model *model = NULL;
    medley_evaluation measured = MEDLEY_EVALUATION_INIT;

    make_texts();
    TRY(make_dataset(&train, 0, TRAIN, &error));
    TRY(medley_options_create(&options, &error));
    TRY(medley_options_set(options, "normalize", "diag", &error)); /* K(x,x) = 1 for every k */
    TRY(medley_fit(&model, train, NULL, options, NULL, &error));
    const medley_summary *summary = medley_model_summary(model);
    for (size_t b = 0; b < summary->block_count; b++)
        printf("kernel %-12s weight %.3f\n", summary->blocks[b].name, summary->blocks[b].weight);

    /* New texts bring their kernel values with those of training. */
    TRY(make_dataset(&new_texts, TRAIN, NEW, &error));
    TRY(medley_evaluate(&measured, model, new_texts, 0, &error));
    printf("accuracy %.3f on %zu new texts\n", measured.accuracy, measured.examples);

done:
    if (error.code < 0)
        fprintf(stderr, "own_kernels: %s\n", error.message);
    medley_evaluation_clear(&measured);
    medley_model_free(model);
    medley_options_free(options);
    medley_dataset_free(new_texts);
    medley_dataset_free(train);
    return error.code < 0;
}
