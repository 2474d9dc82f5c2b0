/* SPDX-License-Identifier: BSD-3-Clause */
/* medley demo: all steps on generated handwriting. Words are read letter by letter, as
 * sequences, with nine kernels that see different things; each alone, their average, and all of
 * them learnt together.
 *
 * The kernels, C and the number of epochs were chosen so that there is something to see, with seeds
 * 1 to 3 in sight; of seeds 1 to 20 the mixture was ahead of every other line on 17. */
#include "cli.h"

#define EDGES "orient(directions=4,stride=4)"
#define VIEWS "all+" EDGES "+grid:2x2+blur(3)+blur(4)+blur(6)"

static const struct {
    const char *spec, *title;
} kernels[] = {
    {"rbf(sigma2=5)@all", "the whole letter"},
    {"rbf(sigma2=1.5)@" EDGES, "directions of its edges"},
    {"rbf(sigma2=3)@tile1x1", "its upper left quarter"},
    {"rbf(sigma2=3)@tile1x2", "its upper right quarter"},
    {"rbf(sigma2=3)@tile2x1", "its lower left quarter"},
    {"rbf(sigma2=3)@tile2x2", "its lower right quarter"},
    {"linear(norm=diag)@blur(3)", "the letter, blurred"},
    {"linear(norm=diag)@blur(4)", "the letter, blurred more"},
    {"linear(norm=diag)@blur(6)", "the letter, hardly visible"},
};
enum { KERNEL_COUNT = 9, RUN_COUNT = KERNEL_COUNT + 2, AVERAGE = KERNEL_COUNT, MIXTURE };

static const char *const TITLES[] = {"the average of all nine", "all nine, learnt together"};

struct demo {
    medley_dataset *words, *train, *dev, *test;
    medley_contender lines[RUN_COUNT];
    medley_model *mixture;
    size_t seed;
    double seconds;
    const char *report; /* where it was written; NULL: it was not */
    bool json;
};

static const char *title_of(size_t run)
{
    return run < KERNEL_COUNT ? kernels[run].title : TITLES[run - KERNEL_COUNT];
}

/* What the demo calls a block of the mixture: a kernel, or the pairs of neighbouring letters. */
static const char *block_title(const char *name)
{
    for (size_t k = 0; k < KERNEL_COUNT; k++)
        if (strcmp(kernels[k].spec, name) == 0)
            return kernels[k].title;
    return "pairs of neighbouring letters";
}

/* ---- words in the terminal ---- */

/* One line of pixels of two rows, two pixels in a character. */
static void print_pixels(const float *image, size_t y, size_t width)
{
    for (size_t x = 0; x < width; x++) {
        const bool upper = image[y * width + x] > 0;
        const bool lower = image[(y + 1) * width + x] > 0;
        printf("%s", upper && lower ? "█" : upper ? "▀" : lower ? "▄" : " ");
    }
    printf(" ");
}

static void draw_word(const medley_dataset *words, size_t word, float *image)
{
    size_t height;
    size_t width;
    const size_t first = medley_dataset_sequence_row(words, word);
    const size_t end = medley_dataset_sequence_row(words, word + 1);
    if (!medley_dataset_image_shape(&height, &width, words))
        return;
    for (size_t y = 0; y + 1 < height; y += 2) {
        printf("  ");
        for (size_t r = first; r < end; r++) {
            medley_dataset_row(image, words, r);
            print_pixels(image, y, width);
        }
        printf("\n");
    }
    printf("  ");
    for (size_t r = first; r < end; r++)
        printf("   %-6s", medley_dataset_label_name(words, (size_t)medley_dataset_label(words, r)));
    printf("\n\n");
}

/* The first two words that fit a line. */
static void draw_words(const medley_dataset *words)
{
    enum { SHORTEST = 5, LONGEST = 8, COUNT = 2, PIXELS = 16 * 8 };
    float image[PIXELS] = {0};
    size_t drawn = 0;
    if (medley_dataset_columns(words) != PIXELS)
        return;
    for (size_t w = 0; drawn < COUNT && w < medley_dataset_sequences(words); w++) {
        const size_t length =
            medley_dataset_sequence_row(words, w + 1) - medley_dataset_sequence_row(words, w);
        if (length >= SHORTEST && length <= LONGEST) {
            draw_word(words, w, image);
            drawn++;
        }
    }
}

/* ---- learning ---- */

static medley_status prepare(struct demo *demo, medley_error *error)
{
    medley_generate_options options = MEDLEY_GENERATE_OPTIONS_INIT;
    options.seed = demo->seed;
    CLI_TRY(medley_generate(&demo->words, "handwriting", &options, error));
    CLI_TRY(medley_dataset_folds(&demo->train, demo->words, "0-3", error));
    CLI_TRY(medley_dataset_folds(&demo->dev, demo->words, "4", error));
    return medley_dataset_folds(&demo->test, demo->words, "5-9", error);
}

static medley_status set_options(medley_options *options, size_t run, medley_error *error)
{
    const char *const settings[][2] = {
        {"task", "chain"}, {"method", run == AVERAGE ? "average" : "spom"},
        {"views", VIEWS},  {"C", "2"},
        {"epochs", "30"},  {"patience", "30"}}; /* see the whole curve */
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        CLI_TRY(medley_options_set(options, settings[i][0], settings[i][1], error));
    for (size_t k = 0; k < KERNEL_COUNT; k++)
        if (run >= KERNEL_COUNT || run == k)
            CLI_TRY(medley_options_set(options, "kernel", kernels[k].spec, error));
    return MEDLEY_OK;
}

static medley_status learn(struct demo *demo, size_t run, medley_error *error)
{
    CLI_OWNED(medley_options_free) medley_options *options = NULL;
    CLI_OWNED(medley_model_free) medley_model *model = NULL;
    CLI_CLEARED(medley_evaluation_clear) medley_evaluation evaluation = MEDLEY_EVALUATION_INIT;
    const double start = cli_clock();
    CLI_TRY(medley_options_create(&options, error));
    CLI_TRY(set_options(options, run, error));
    CLI_TRY(medley_fit(&model, demo->train, demo->dev, options, NULL, error));
    CLI_TRY(medley_evaluate(&evaluation, model, demo->test, 0, error));
    demo->lines[run] =
        (medley_contender){title_of(run), evaluation.accuracy, cli_clock() - start, run == MIXTURE};
    if (run == MIXTURE) {
        demo->mixture = model;
        model = NULL;
    }
    return MEDLEY_OK;
}

static medley_status learn_all(struct demo *demo, medley_error *error)
{
    if (!demo->json)
        printf("%-28s letters right    time\n", "reading by");
    for (size_t i = 0; i < RUN_COUNT; i++) {
        char bar[128];
        CLI_TRY(learn(demo, i, error));
        if (demo->json)
            continue;
        printf("%-28s      %6.2f %%  %4.1f s  %s\n", title_of(i), 100 * demo->lines[i].score,
               demo->lines[i].seconds, cli_bar(bar, demo->lines[i].score, 24));
        fflush(stdout);
    }
    return MEDLEY_OK;
}

/* ---- results ---- */

/* The folder may be one that must not be written to: then the demo goes on without a file. */
static void write_report(struct demo *demo, const cli_arguments *arguments, const char *path)
{
    medley_error error = {0};
    char text[1200];
    const char *names[KERNEL_COUNT + 1] = {NULL};
    const medley_summary *s = medley_model_summary(demo->mixture);
    medley_report_options options = MEDLEY_REPORT_OPTIONS_INIT;
    CLI_CLEARED(cli_provenance_clear) cli_provenance provenance = {0};
    for (size_t m = 0; m < s->block_count && m <= KERNEL_COUNT; m++)
        names[m] = block_title(s->blocks[m].name);
    options.block_names = names;
    options.title = "Handwritten words, read with nine kernels";
    options.data = demo->test;
    options.data_name = "words that training did not see";
    options.contenders = demo->lines;
    options.contender_count = RUN_COUNT;
    if (cli_tell_provenance(&options, &provenance, arguments, NULL, &error) >= 0 &&
        medley_report_write(demo->mixture, path, &options, &error) >= 0) {
        demo->report = path;
        return;
    }
    medley_error_format(text, sizeof text, &error);
    fprintf(stderr, "medley demo: no report: %s\n", text);
}

static void print_json(const struct demo *demo)
{
    json_open(stdout, NULL, '{');
    json_count(stdout, "seed", demo->seed);
    json_count(stdout, "words", medley_dataset_sequences(demo->train));
    json_count(stdout, "letters", medley_dataset_rows(demo->train));
    json_count(stdout, "test_letters", medley_dataset_rows(demo->test));
    json_open(stdout, "contenders", '[');
    for (size_t i = 0; i < RUN_COUNT; i++) {
        json_open(stdout, NULL, '{');
        json_string(stdout, "name", demo->lines[i].name);
        json_string(stdout, "kernel", i < KERNEL_COUNT ? kernels[i].spec : NULL);
        json_number(stdout, "accuracy", demo->lines[i].score);
        json_number(stdout, "seconds", demo->lines[i].seconds);
        json_close(stdout, '}');
    }
    json_close(stdout, ']');
    cli_json_blocks(demo->mixture, NULL);
    json_string(stdout, "report", demo->report);
    json_number(stdout, "seconds", demo->seconds);
    json_end(stdout);
}

/* Under the demo's own names. */
static void print_blocks(const medley_summary *summary)
{
    medley_summary named = *summary;
    medley_block_info blocks[KERNEL_COUNT + 1];
    named.block_count = 0;
    for (size_t m = 0; m < summary->block_count && m <= KERNEL_COUNT; m++) {
        blocks[m] = summary->blocks[m];
        blocks[m].name = block_title(blocks[m].name);
        named.block_count++;
    }
    named.blocks = blocks;
    cli_print_blocks(stdout, &named, KERNEL_COUNT + 1);
}

static void print_end(const struct demo *demo)
{
    printf("\nWhat the mixture has learnt about its kernels:\n\n");
    print_blocks(medley_model_summary(demo->mixture));
    printf("\n%.1f s altogether. ", demo->seconds);
    if (demo->report != NULL)
        printf("The report, with the words: open %s in a browser.", demo->report);
    printf("\n\nOn your own data:\n"
           "  medley train --model my.medley --scale standard --holdout 0.2 --report my.html "
           "my.csv\n"
           "  medley report my.medley test.csv\n"
           "  medley predict --model my.medley new.csv\n");
}

static void print_beginning(const struct demo *demo)
{
    printf("Handwritten words, drawn with random slant, width, jitter and noise:\n\n");
    draw_words(demo->train);
    printf("%zu words (%zu letters) to learn from, %zu others to read.\n\n",
           medley_dataset_sequences(demo->train), medley_dataset_rows(demo->train),
           medley_dataset_sequences(demo->test));
}

static void clear(struct demo *demo)
{
    medley_model_free(demo->mixture);
    medley_dataset_free(demo->test);
    medley_dataset_free(demo->dev);
    medley_dataset_free(demo->train);
    medley_dataset_free(demo->words);
}

static medley_status run_demo(cli_arguments *arguments, medley_error *error)
{
    CLI_CLEARED(clear) struct demo demo = {.json = arguments->json, .seed = 1};
    const double start = cli_clock();
    const char *path = cli_value(arguments, "report");
    if (arguments->word_count > 0)
        return cli_refuse(error, "'%s' was not expected; the demo makes its own data",
                          arguments->words[0]);
    CLI_TRY(cli_count(arguments, "seed", &demo.seed, error));
    cli_warn_of_slow_blas(arguments);
    CLI_TRY(prepare(&demo, error));
    if (!demo.json)
        print_beginning(&demo);
    CLI_TRY(learn_all(&demo, error));
    if (!cli_flag(arguments, "no-report"))
        write_report(&demo, arguments, path != NULL ? path : "medley-demo.html");
    demo.seconds = cli_clock() - start;
    if (demo.json)
        print_json(&demo);
    else
        print_end(&demo);
    return MEDLEY_OK;
}

static const cli_option options[] = {
    {"report", "FILE.html", "medley-demo.html", "where the report is written", .group = "output"},
    {"no-report", "", "", "write no file", .group = "output"},
    {"seed", "N", "1", "of the generated words", .group = "output"},
    {0}};

static const char *const examples[] = {"everything, in under a minute", "medley demo",
                                       "other words, and no file",
                                       "medley demo --seed 2 --no-report", NULL};

const cli_command cli_command_demo = {
    .name = "demo",
    .usage = "[options]",
    .summary = "all steps on generated handwriting, in under a minute",
    .description = "Generates handwritten words and learns to read them, letter by letter, with "
                   "each of nine kernels alone, with their average and with all nine together; "
                   "shows which reads best and what weight each kernel got, and writes a report to "
                   "look at in a browser.",
    .options = options,
    .groups = CLI_RUN,
    .examples = examples,
    .run = run_demo,
};
