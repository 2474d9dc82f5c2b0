/* SPDX-License-Identifier: BSD-3-Clause */
/* Times inference in chains on random scores: best output (Viterbi), with costs, and
 * forward-backward. For each, rows (tokens) per second on one core, and what a row asks of the
 * machine: operations in its inner loops and bytes of tables these go through. Prints a table and
 * one line of JSON. */
#include "base/memory.h"
#include "base/random.h"
#include "base/text.h"
#include "structure/structure.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* few examples: scores are in the cache, as when a learner has just computed them */
enum { SEED = 1, EXAMPLES = 16, REPEATS = 100 };

static const double SECONDS = 0.002; /* of each repeat: so short that some are not interrupted */

struct input {
    const md_structure *structure;
    md_shape shape;
    size_t length, parts;
    float *score; /* [EXAMPLES][parts] */
    float *marginal;
    int32_t *gold, *output;
    md_workspace workspace;
};

typedef double (*operation)(struct input *input, const float *score);

static volatile double sink; /* keeps results alive */

static double run_decode(struct input *input, const float *score)
{
    return input->structure->decode(input->shape, input->length, score, NULL, input->output,
                                    &input->workspace);
}

static double run_with_cost(struct input *input, const float *score)
{
    return input->structure->decode_with_cost(input->shape, input->length, score, input->gold,
                                              input->output, &input->workspace);
}

static double run_sum(struct input *input, const float *score)
{
    return input->structure->log_partition(input->shape, input->length, score, input->marginal,
                                           &input->workspace);
}

/* passes: how often the inner loops go through all steps from state to state; each time a
 * multiplication or addition and an addition or maximum. */
static const struct {
    const char *name, *key;
    operation run;
    double passes;
} operations[] = {{"Viterbi", "viterbi", run_decode, 1},
                  {"Viterbi with costs", "with_cost", run_with_cost, 1},
                  {"forward-backward", "forward_backward", run_sum, 3}};

static bool make_input(struct input *input, size_t labels, size_t order, size_t length)
{
    *input = (struct input){.structure = md_structure_find("chain"),
                            .shape = {.labels = labels, .order = order, .ends = true},
                            .length = length};
    input->parts = input->structure->part_count(input->shape, length);
    input->score = md_alloc_aligned(EXAMPLES * input->parts, sizeof *input->score);
    input->marginal = md_alloc_aligned(input->parts, sizeof *input->marginal);
    input->gold = md_calloc(length, sizeof *input->gold);
    input->output = md_calloc(length, sizeof *input->output);
    if (!input->score || !input->marginal || !input->gold || !input->output ||
        md_workspace_reserve(&input->workspace,
                             input->structure->workspace_size(input->shape, length)))
        return false;
    md_random random;
    md_random_seed(&random, SEED);
    for (size_t p = 0; p < EXAMPLES * input->parts; p++)
        input->score[p] = (float)(2 * md_random_normal(&random));
    for (size_t t = 0; t < length; t++)
        input->gold[t] = (int32_t)md_random_below(&random, labels);
    return true;
}

static void clear_input(struct input *input)
{
    free(input->score);
    free(input->marginal);
    free(input->gold);
    free(input->output);
    md_workspace_clear(&input->workspace);
}

/* Rows per second: the best of several repeats. */
static double measure(operation run, struct input *input)
{
    double best = 0;
    for (int repeat = 0; repeat < REPEATS; repeat++) {
        const double start = md_clock_seconds();
        double elapsed = 0;
        size_t rows = 0;
        while (elapsed < SECONDS) {
            for (size_t e = 0; e < EXAMPLES; e++)
                sink = run(input, input->score + e * input->parts);
            rows += EXAMPLES * input->length;
            elapsed = md_clock_seconds() - start;
        }
        best = fmax(best, (double)rows / elapsed);
    }
    return best;
}

static void measure_all(struct input *input, md_text *json)
{
    const size_t labels = input->shape.labels;
    const size_t order = input->shape.order;
    const double steps = pow((double)labels, (double)order + 1);
    for (size_t i = 0; i < sizeof operations / sizeof *operations; i++) {
        const double rate = measure(operations[i].run, input);
        const double flops = 2 * operations[i].passes * steps;
        printf("L = %zu, order %zu, length %2zu, %-18s %7.3f million tokens/s (%6.1f ns a row), "
               "%.0f flops and %.0f bytes a row: %5.1f Gflop/s\n",
               labels, order, input->length, operations[i].name, rate / 1e6, 1e9 / rate, flops,
               operations[i].passes * steps * sizeof(float), rate * flops / 1e9);
        md_text_addf(json, ", \"%s_%zu_%zu_%zu\": %.0f", operations[i].key, labels, order,
                     input->length, rate);
    }
}

int main(void)
{
    static const size_t label_counts[] = {22, 26};
    static const size_t lengths[] = {24, 8};
    md_text json = {0};
    md_text_addf(&json, "{\"bench\": \"chain\", \"seed\": %d, \"unit\": \"tokens/s\"", SEED);
    for (size_t i = 0; i < 8; i++) {
        struct input input;
        const size_t order = i / 4 + 1;
        if (!make_input(&input, label_counts[i / 2 % 2], order, lengths[i % 2])) {
            fprintf(stderr, "not enough memory\n");
            return 1;
        }
        measure_all(&input, &json);
        clear_input(&input);
    }
    md_text_addf(&json, "}");
    puts(json.data ? json.data : "{}");
    md_text_clear(&json);
    return 0;
}
