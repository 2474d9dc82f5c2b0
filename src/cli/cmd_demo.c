/* SPDX-License-Identifier: BSD-3-Clause */
/* medley demo: the whole story on generated handwriting. */
#include "cli.h"

#include <stdlib.h>
#include <string.h>

/* Kernels of whole images and of their four quarters: no single one sees it all. */
static const struct {
    const char *spec, *title;
} kernels[] = {
    {"linear(norm=diag)@all", "linear"},
    {"poly(degree=2,norm=diag)@all", "quadratic"},
    {"rbf(sigma2=5)@all", "Gaussian"},
    {"rbf(sigma2=2)@tile1x1", "Gaussian, upper left quarter"},
    {"rbf(sigma2=2)@tile1x2", "Gaussian, upper right quarter"},
    {"rbf(sigma2=2)@tile2x1", "Gaussian, lower left quarter"},
    {"rbf(sigma2=2)@tile2x2", "Gaussian, lower right quarter"},
};
enum { KERNEL_COUNT = 7, RUN_COUNT = KERNEL_COUNT + 2 };

struct demo_run {
    double accuracy, seconds;
    medley_model *model;
};

/* The letter's image beside the next ones, two pixels in a character. */
static void draw_letters(const medley_dataset *dataset, size_t count)
{
    size_t height;
    size_t width;
    float *image = calloc(medley_dataset_columns(dataset), sizeof *image);
    if (image == NULL || !medley_dataset_image_shape(dataset, &height, &width)) {
        free(image);
        return;
    }
    for (size_t y = 0; y + 1 < height; y += 2) {
        printf("  ");
        for (size_t i = 0; i < count; i++) {
            medley_dataset_row(dataset, i, image);
            for (size_t x = 0; x < width; x++) {
                const bool upper = image[y * width + x] > 0;
                const bool lower = image[(y + 1) * width + x] > 0;
                printf("%s", upper && lower ? "█" : upper ? "▀" : lower ? "▄" : " ");
            }
            printf(" ");
        }
        printf("\n");
    }
    free(image);
}

static medley_status set_options(medley_options *options, const char *method, int kernel,
                                 medley_error *error)
{
    const char *const settings[][2] = {
        {"task", "multiclass"}, {"method", method}, {"views", "all+grid:2x2"}, {"C", "3"}};
    medley_status status = MEDLEY_OK;
    for (size_t i = 0; i < sizeof settings / sizeof *settings && status >= 0; i++)
        status = medley_options_set(options, settings[i][0], settings[i][1], error);
    for (int k = 0; k < KERNEL_COUNT && status >= 0; k++)
        if (kernel < 0 || kernel == k)
            status = medley_options_set(options, "kernel", kernels[k].spec, error);
    return status;
}

/* kernel: the only one, or -1 for all. */
static medley_status learn(struct demo_run *run, const medley_dataset *train,
                           const medley_dataset *test, const char *method, int kernel,
                           medley_error *error)
{
    medley_options *options = NULL;
    medley_evaluation evaluation = {0};
    const double start = cli_clock();
    medley_status status = medley_options_create(&options, error);
    if (status >= 0)
        status = set_options(options, method, kernel, error);
    if (status >= 0)
        status = medley_fit(&run->model, train, NULL, options, NULL, error);
    if (status >= 0)
        status = medley_evaluate(&evaluation, run->model, test, 0, error);
    run->accuracy = evaluation.accuracy;
    run->seconds = cli_clock() - start;
    medley_evaluation_clear(&evaluation);
    medley_options_free(options);
    return status;
}

static medley_status learn_all(struct demo_run *runs, const medley_dataset *train,
                               const medley_dataset *test, medley_error *error)
{
    medley_status status = MEDLEY_OK;
    printf("\n%-32s accuracy    time\n", "kernel");
    for (int i = 0; i < RUN_COUNT && status >= 0; i++) {
        const bool single = i < KERNEL_COUNT;
        const bool average = i == KERNEL_COUNT;
        const char *title = single    ? kernels[i].title
                            : average ? "the average of all seven"
                                      : "all seven, learnt together";
        char bar[128];
        status = learn(&runs[i], train, test, average ? "average" : "spom", single ? i : -1, error);
        if (status >= 0)
            printf("%-32s %6.2f %%  %4.1f s  %s\n", title, 100 * runs[i].accuracy, runs[i].seconds,
                   cli_bar(bar, runs[i].accuracy, 24));
        fflush(stdout);
    }
    return status;
}

static int run_demo(cli_arguments *arguments)
{
    medley_error error = {0};
    medley_dataset *words = NULL;
    medley_dataset *train = NULL;
    medley_dataset *test = NULL;
    struct demo_run runs[RUN_COUNT] = {{0}};
    medley_generate_options options = MEDLEY_GENERATE_OPTIONS_INIT;
    size_t seed;
    if (!cli_count(arguments, "seed", 1, &seed))
        return CLI_USAGE;
    options.seed = seed;
    medley_status status = medley_generate(&words, "handwriting", &options, &error);
    if (status >= 0)
        status = medley_dataset_folds(&train, words, "0-4", &error);
    if (status >= 0)
        status = medley_dataset_folds(&test, words, "5-9", &error);
    if (status >= 0) {
        printf("Handwritten words, drawn with random slant, width, jitter and noise:\n\n");
        draw_letters(train, 8);
        printf("\n%zu letters to learn from, %zu others to be read, one by one.\n",
               medley_dataset_rows(train), medley_dataset_rows(test));
        status = learn_all(runs, train, test, &error);
    }
    int code = CLI_OK;
    if (status < 0) {
        code = cli_fail(arguments, &error);
    } else {
        printf("\nWhat the mixture has learnt about its kernels:\n\n");
        cli_print_blocks(stdout, medley_model_summary(runs[RUN_COUNT - 1].model), KERNEL_COUNT);
        printf("\nOn your own data:\n"
               "  medley train --model my.medley --scale standard --holdout 0.2 my.csv\n"
               "  medley predict --model my.medley new.csv\n");
    }
    for (int i = 0; i < RUN_COUNT; i++)
        medley_model_free(runs[i].model);
    medley_dataset_free(test);
    medley_dataset_free(train);
    medley_dataset_free(words);
    return code;
}

static const cli_option options[] = {{"seed", "N", "1", "of the generated data", false}, {0}};

static const char *const examples[] = {"everything, in under a minute", "medley demo", NULL};

extern const cli_command cli_command_demo;
const cli_command cli_command_demo = {
    .name = "demo",
    .usage = "[options]",
    .summary = "the whole story on generated handwriting, in under a minute",
    .description = "Generates handwritten letters, learns them with each of seven kernels alone, "
                   "with their average and with all seven together, and shows who reads best and "
                   "what weight each kernel got.",
    .options = options,
    .examples = examples,
    .run = run_demo,
};
