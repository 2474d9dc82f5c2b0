/* SPDX-License-Identifier: BSD-3-Clause */
/* Words of letters, three kernels learnt together in a chain (linear, quadratic, Gaussian; C = 10,
 * eta0 = 1, 20 epochs): what the Gram matrices, the epochs and the scoring of new words cost,
 * beside the machine's own limits in the same run. Training is bound by memory: kernel rows that
 * steps go through, and with the score rows they change, against copying large arrays. Scoring is
 * bound by matrix products: against plain ones of the same shapes. Best of five, of three where
 * words are scored, by one thread and by all.
 *
 *     bench_sequence [FILE]     letter.data: learns fold 0, scores folds 1 to 9
 *
 * Without FILE it takes ocr/letter.data.gz in the folder MEDLEY_DATA, or generated handwriting. */
#include "base/memory.h"
#include "base/parallel.h"
#include "linalg/blas.h"
#include "medley/generate.h"
#include "online/run.h"
#include <cblas.h>
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { REPEATS = 5, FEW_REPEATS = 3, STRIPE = 256, TRAINING_WORDS = 600, NEW_WORDS = 5400 };
enum { COPY_BYTES = 1 << 27, COPY_PIECES = 64 };

struct words {
    const char *source;
    medley_dataset *train, *test;
};

struct figures {
    size_t threads;
    double kernels, epochs, score, decode;    /* seconds */
    double kernel_row_bytes, score_row_bytes; /* of all steps; score rows are read and written */
    double copy;                              /* bytes read and written a second by memcpy */
    double product; /* seconds of plain products of the shapes of scoring */
    double flops;   /* of scoring */
    size_t steps, support, kernel_blocks;
};

static void stop_if(bool failed, const medley_error *error)
{
    if (!failed)
        return;
    char text[1024];
    medley_error_format(text, sizeof text, error);
    fprintf(stderr, "bench_sequence: %s\n", text);
    exit(1);
}

static void *checked(void *memory)
{
    stop_if(memory == NULL, &(medley_error){.message = "not enough memory"});
    return memory;
}

static double least(double a, double b)
{
    return a < b ? a : b;
}

/* ---- words ---- */

static void read_words(struct words *words, const char *path)
{
    medley_error error = {0};
    medley_dataset *all = NULL;
    const medley_read_options options = MEDLEY_READ_OPTIONS_INIT;
    words->source = path;
    stop_if(medley_dataset_read(&all, path, &options, &error) < 0, &error);
    stop_if(medley_dataset_folds(&words->train, all, "0", &error) < 0, &error);
    stop_if(medley_dataset_folds(&words->test, all, "1-9", &error) < 0, &error);
    medley_dataset_free(all);
}

static void generate_words(struct words *words)
{
    medley_error error = {0};
    medley_generate_options options = MEDLEY_GENERATE_OPTIONS_INIT;
    words->source = "generated handwriting";
    options.rows = TRAINING_WORDS;
    stop_if(medley_generate(&words->train, "handwriting", &options, &error) < 0, &error);
    options.rows = NEW_WORDS;
    options.seed = 2;
    stop_if(medley_generate(&words->test, "handwriting", &options, &error) < 0, &error);
}

static void find_words(struct words *words, const char *path)
{
    static char standard[4096];
    const char *folder = getenv("MEDLEY_DATA");
    if (path == NULL && folder != NULL) {
        snprintf(standard, sizeof standard, "%s/ocr/letter.data.gz", folder);
        if (access(standard, R_OK) == 0)
            path = standard;
    }
    if (path != NULL)
        read_words(words, path);
    else
        generate_words(words);
}

/* ---- counting what steps go through ---- */

/* Blocks may be stepped by several threads. */
static const md_block_class *plain_class;
static atomic_size_t counted_steps, counted_rows, counted_parts;

static void count_step(const md_step *step)
{
    for (size_t g = 0; g < step->count; g++) {
        const md_delta *delta = step->gradients[g].delta;
        atomic_fetch_add(&counted_steps, delta->row_count > 0);
        atomic_fetch_add(&counted_rows, delta->row_count);
        atomic_fetch_add(&counted_parts, delta->start[delta->row_count]);
    }
}

/* From theta = 0 the kernel rows are left for finish. */
static double counting_step(md_block *block, const md_step *step)
{
    if (block->norm > 0)
        count_step(step);
    return plain_class->step(block, step);
}

static void counting_finish(md_block *block, const md_step *step)
{
    if (block->norm <= 0)
        count_step(step);
    plain_class->finish(block, step);
}

/* ---- training ---- */

static medley_options *make_options(size_t threads)
{
    static const char *const values[][2] = {{"C", "10"},
                                            {"eta0", "1"},
                                            {"epochs", "20"},
                                            {"kernel", "linear(norm=diag)"},
                                            {"kernel", "poly(degree=2,norm=diag)"},
                                            {"kernel", "rbf(sigma2=5)"}};
    medley_error error = {0};
    medley_options *options = NULL;
    char text[32];
    stop_if(medley_options_create(&options, &error) < 0, &error);
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        stop_if(medley_options_set(options, values[i][0], values[i][1], &error) < 0, &error);
    snprintf(text, sizeof text, "%zu", threads);
    stop_if(medley_options_set(options, "threads", text, &error) < 0, &error);
    return options;
}

/* Every candidate is a block. Those that go through kernel rows count; returns how many they are.
 */
static size_t make_blocks(md_run_blocks *blocks, md_problem *problem)
{
    static md_block_class counting;
    medley_error error = {0};
    size_t counted = 0;
    stop_if(md_run_blocks_make(blocks, problem, MD_ALL_KERNELS, &error) < 0, &error);
    for (size_t b = 0; b < blocks->count; b++) {
        md_block *block = blocks->blocks[b];
        if (strcmp(block->class->name, "kernel") != 0)
            continue;
        plain_class = block->class;
        counting = *plain_class;
        counting.step = counting_step;
        counting.finish = counting_finish;
        block->class = &counting;
        counted++;
    }
    return counted;
}

/* model: built if it is not NULL. */
static void train(struct figures *figures, const medley_dataset *data, medley_model **model)
{
    medley_error error = {0};
    md_problem problem = {0};
    md_run_blocks blocks = {0};
    md_run_result result = {0};
    const md_method *method = NULL;
    medley_options *options = make_options(figures->threads);
    counted_steps = counted_rows = counted_parts = 0;
    stop_if(md_method_choose(&method, options, data, NULL, &error) < 0, &error);
    stop_if(md_problem_init(&problem, data, NULL, options, NULL, method, &error) < 0, &error);
    figures->kernel_blocks = make_blocks(&blocks, &problem);
    const md_run_plan plan = {.stage = "training"};
    stop_if(md_run_online(&problem, &plan, &blocks, &result, &error) < 0, &error);
    const double row = (double)data->rows * sizeof(float);
    figures->kernels = least(figures->kernels, problem.progress.seconds_kernels);
    figures->epochs = least(figures->epochs, result.epochs[result.epoch_count - 1].seconds);
    figures->kernel_row_bytes = (double)counted_rows * row;
    figures->score_row_bytes = 2 * (double)counted_parts * row;
    figures->steps = counted_steps;
    if (model != NULL)
        stop_if(md_model_of_blocks(model, &problem, &blocks, &result, &error) < 0, &error);
    md_run_blocks_clear(&blocks);
    md_run_result_clear(&result);
    md_problem_clear(&problem);
    medley_options_free(options);
}

/* ---- the machine ---- */

struct copy {
    char *from, *to;
};

static void copy_piece(void *context, size_t item, size_t worker)
{
    (void)worker;
    const struct copy *copy = context;
    const size_t bytes = COPY_BYTES / COPY_PIECES;
    memcpy(copy->to + item * bytes, copy->from + item * bytes, bytes);
}

static void measure_copy(struct figures *figures)
{
    struct copy copy = {checked(md_alloc_aligned(COPY_BYTES, 1)),
                        checked(md_alloc_aligned(COPY_BYTES, 1))};
    memset(copy.from, 1, COPY_BYTES);
    memset(copy.to, 2, COPY_BYTES);
    double seconds = INFINITY;
    for (int i = 0; i < REPEATS; i++) {
        const double begin = md_clock_seconds();
        md_parallel_for(figures->threads, COPY_PIECES, copy_piece, &copy);
        seconds = least(seconds, md_clock_seconds() - begin);
    }
    figures->copy = 2.0 * COPY_BYTES / seconds;
    free(copy.from);
    free(copy.to);
}

/* The products of scoring and nothing else: a stripe of new rows with all support rows, then those
 * values with the coefficients of each kernel. */
struct products {
    const float *left, *right, *coefficient;
    size_t rows, support, columns, labels, kernels;
    float *values; /* [threads][STRIPE][support] */
    float *scores; /* [threads][STRIPE][labels] */
};

static void multiply_stripe(void *context, size_t item, size_t worker)
{
    const struct products *p = context;
    const size_t first = item * STRIPE;
    const size_t rows = p->rows - first < STRIPE ? p->rows - first : STRIPE;
    float *values = p->values + worker * STRIPE * p->support;
    const int d = (int)p->columns;
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)rows, (int)p->support, d, 1,
                p->left + first * p->columns, d, p->right, d, 0, values, (int)p->support);
    for (size_t m = 0; m < p->kernels; m++)
        md_gemm(rows, p->labels, p->support, 1, values, p->support, p->coefficient, p->labels, 1,
                p->scores + worker * STRIPE * p->labels, p->labels);
}

static void measure_products(struct figures *figures, const struct words *words, size_t labels)
{
    const md_matrix *inputs = &words->test->tables[0].features;
    struct products p = {.left = inputs->dense,
                         .right = words->train->tables[0].features.dense,
                         .rows = inputs->rows,
                         .support = figures->support,
                         .columns = inputs->columns,
                         .labels = labels,
                         .kernels = figures->kernel_blocks};
    float *coefficient = checked(md_calloc(p.support * labels, sizeof *coefficient));
    p.values = checked(md_calloc(figures->threads * STRIPE * p.support, sizeof *p.values));
    p.scores = checked(md_calloc(figures->threads * STRIPE * labels, sizeof *p.scores));
    for (size_t i = 0; i < p.support * labels; i++)
        coefficient[i] = 1e-6F;
    p.coefficient = coefficient;
    for (int i = 0; i < FEW_REPEATS; i++) {
        const double begin = md_clock_seconds();
        md_parallel_for(figures->threads, (p.rows + STRIPE - 1) / STRIPE, multiply_stripe, &p);
        figures->product = least(figures->product, md_clock_seconds() - begin);
    }
    figures->flops =
        2 * (double)p.rows * (double)p.support * (double)(p.columns + p.kernels * labels);
    free(coefficient);
    free(p.values);
    free(p.scores);
}

/* ---- all together ---- */

static void score(struct figures *figures, const struct words *words, const medley_model *model)
{
    medley_error error = {0};
    for (int i = 0; i < FEW_REPEATS; i++) {
        medley_prediction *prediction = NULL;
        stop_if(medley_predict(&prediction, model, words->test, figures->threads, &error) < 0,
                &error);
        figures->score = least(figures->score, prediction->seconds_score);
        figures->decode = least(figures->decode, prediction->seconds_decode);
        medley_prediction_free(prediction);
    }
}

static void print(const struct figures *f, const struct words *words)
{
    const double bytes = f->kernel_row_bytes + f->score_row_bytes;
    printf("%zu thread%s: Gram %.3f s + 20 epochs %.3f s; new words: scores %.3f s, decoding %.4f "
           "s\n",
           f->threads, f->threads > 1 ? "s" : "", f->kernels, f->epochs, f->score, f->decode);
    printf("    %zu steps of kernel blocks: kernel rows %.1f GB/s, with score rows %.1f GB/s; "
           "memcpy %.1f GB/s: %.2f and %.2f of it\n",
           f->steps, f->kernel_row_bytes / f->epochs / 1e9, bytes / f->epochs / 1e9, f->copy / 1e9,
           f->kernel_row_bytes / f->epochs / f->copy, bytes / f->epochs / f->copy);
    printf("    scoring %.1f Gflop/s; plain products of the same shapes %.1f Gflop/s: %.2f of "
           "them\n",
           f->flops / f->score / 1e9, f->flops / f->product / 1e9, f->product / f->score);
    printf("{\"bench\":\"sequence\",\"threads\":%zu,\"training_rows\":%zu,\"new_rows\":%zu,"
           "\"support_rows\":%zu,\"gram_seconds\":%.4f,\"epochs_seconds\":%.4f,\"steps\":%zu,"
           "\"kernel_row_gb_per_s\":%.2f,\"all_rows_gb_per_s\":%.2f,\"copy_gb_per_s\":%.2f,"
           "\"score_seconds\":%.4f,\"decode_seconds\":%.5f,\"score_gflop_per_s\":%.1f,"
           "\"product_gflop_per_s\":%.1f}\n",
           f->threads, words->train->rows, words->test->rows, f->support, f->kernels, f->epochs,
           f->steps, f->kernel_row_bytes / f->epochs / 1e9, bytes / f->epochs / 1e9, f->copy / 1e9,
           f->score, f->decode, f->flops / f->score / 1e9, f->flops / f->product / 1e9);
}

int main(int argc, char **argv)
{
    struct words words = {0};
    if (argc > 2) {
        fprintf(stderr, "usage: bench_sequence [FILE]\n");
        return 2;
    }
    find_words(&words, argc == 2 ? argv[1] : NULL);
    md_blas_single_thread();
    const size_t sequences = medley_dataset_sequences(words.train);
    printf("%s: %zu words of %zu letters, then %zu new letters\n", words.source, sequences,
           words.train->rows, words.test->rows);
    const size_t processors = md_processor_count();
    for (size_t threads = 1; threads <= processors;
         threads += processors > 1 ? processors - 1 : 1) {
        struct figures figures = {.threads = threads,
                                  .kernels = INFINITY,
                                  .epochs = INFINITY,
                                  .score = INFINITY,
                                  .decode = INFINITY,
                                  .product = INFINITY};
        medley_model *model = NULL;
        for (int i = 0; i < REPEATS; i++)
            train(&figures, words.train, i + 1 == REPEATS ? &model : NULL);
        figures.support = medley_model_summary(model)->support_rows;
        measure_copy(&figures);
        score(&figures, &words, model);
        measure_products(&figures, &words, medley_model_label_count(model));
        print(&figures, &words);
        medley_model_free(model);
    }
    medley_dataset_free(words.train);
    medley_dataset_free(words.test);
    return 0;
}
