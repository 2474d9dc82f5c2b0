/* SPDX-License-Identifier: BSD-3-Clause */
/* Times inference in trees on random scores: best tree (Chu, Liu and Edmonds) with one root and
 * with any number, the same with costs, log-partition and marginals, and both for projective trees
 * (Eisner). For each, time and arcs per second on one core, and the operations of its inner loops.
 * Prints a table and one line of JSON. */
#include "base/memory.h"
#include "base/random.h"
#include "base/text.h"
#include "structure/structure.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { SEED = 1, EXAMPLES = 8, REPEATS = 20 };

static const double SECONDS = 0.005; /* of each repeat: so short that some are not interrupted */

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

/* flops: times length^power; of inside-outside these are exponentials, each of some 20 operations
 */
static const struct {
    const char *name, *key;
    operation run;
    md_shape shape;
    double flops, power;
} operations[] = {
    {"best tree", "decode", run_decode, {.projective = false}, 4, 2},
    {"best tree, any number of roots", "decode_roots", run_decode, {.many_roots = true}, 2, 2},
    {"best tree with costs", "with_cost", run_with_cost, {.projective = false}, 4, 2},
    {"sum over trees", "sum", run_sum, {.projective = false}, 2, 3},
    {"sum, any number of roots", "sum_roots", run_sum, {.many_roots = true}, 2, 3},
    {"best projective tree", "eisner", run_decode, {.projective = true}, 1, 3},
    {"sum over projective trees", "inside_outside", run_sum, {.projective = true}, 1, 3},
};
enum { OPERATIONS = sizeof operations / sizeof *operations };

static bool make_input(struct input *input, md_shape shape, size_t length)
{
    *input =
        (struct input){.structure = md_structure_find("tree"), .shape = shape, .length = length};
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
    for (size_t i = 0; i < length; i++) /* each word hangs from the one before */
        input->gold[i] = (int32_t)i;
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

/* Seconds for a sentence: the best of several repeats. */
static double measure(operation run, struct input *input)
{
    double best = INFINITY;
    for (int repeat = 0; repeat < REPEATS; repeat++) {
        const double start = md_clock_seconds();
        double elapsed = 0;
        size_t sentences = 0;
        while (elapsed < SECONDS) {
            sink = run(input, input->score + sentences % EXAMPLES * input->parts);
            sentences++;
            elapsed = md_clock_seconds() - start;
        }
        best = fmin(best, elapsed / (double)sentences);
    }
    return best;
}

int main(void)
{
    static const size_t lengths[] = {10, 16, 20, 40, 100, 500};
    md_text json = {0};
    md_text_addf(&json, "{\"bench\": \"tree\", \"seed\": %d, \"unit\": \"s/sentence\"", SEED);
    for (size_t i = 0; i < OPERATIONS; i++)
        for (size_t k = 0; k < sizeof lengths / sizeof *lengths; k++) {
            struct input input;
            if (!make_input(&input, operations[i].shape, lengths[k])) {
                fprintf(stderr, "not enough memory\n");
                return 1;
            }
            const double seconds = measure(operations[i].run, &input);
            const double flops =
                operations[i].flops * pow((double)input.length, operations[i].power);
            printf("%-30s %3zu words: %10.2f us a sentence, %7.1f million arcs/s, "
                   "%5.2f Gflop/s\n",
                   operations[i].name, input.length, 1e6 * seconds,
                   (double)input.parts / seconds / 1e6, flops / seconds / 1e9);
            md_text_addf(&json, ", \"%s_%zu\": %.4g", operations[i].key, input.length, seconds);
            clear_input(&input);
        }
    md_text_addf(&json, "}");
    puts(json.data ? json.data : "{}");
    md_text_clear(&json);
    return 0;
}
