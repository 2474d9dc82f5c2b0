/* SPDX-License-Identifier: BSD-3-Clause */
/* medley inspect: what a model has learnt. */
#include "cli.h"

#include <stdlib.h>

static void print_json(const medley_model *model)
{
    const medley_summary *s = medley_model_summary(model);
    size_t *order = cli_blocks_by_weight(s);
    json_open(stdout, NULL, '{');
    cli_json_settings(s);
    json_count(stdout, "examples", s->examples);
    json_count(stdout, "support_rows", s->support_rows);
    json_number(stdout, "objective", s->objective);
    json_number(stdout, "gap", s->gap);
    json_count(stdout, "active_blocks", s->active_blocks);
    json_open(stdout, "labels", '[');
    for (size_t l = 0; l < medley_model_label_count(model); l++)
        json_string(stdout, NULL, medley_model_label_name(model, l));
    json_close(stdout, ']');
    json_open(stdout, "blocks", '[');
    for (size_t i = 0; order != NULL && i < s->block_count; i++)
        cli_json_block(&s->blocks[order[i]]);
    json_close(stdout, ']');
    json_close(stdout, '}');
    printf("\n");
    free(order);
}

static void print_text(const medley_model *model, size_t top)
{
    const medley_summary *s = medley_model_summary(model);
    printf("%s with %zu labels, learnt by %s from %zu examples\n", s->task,
           medley_model_label_count(model), s->method, s->examples);
    printf("%s loss, penalty %s, lambda %.4g (C %.4g), objective %.6g after %zu epochs\n", s->loss,
           s->penalty, s->lambda, s->C, s->objective, s->epoch_count);
    printf("%zu of %zu blocks active, %zu support rows\n\n", s->active_blocks, s->block_count,
           s->support_rows);
    cli_print_blocks(stdout, s, top);
}

static int run_inspect(cli_arguments *arguments)
{
    medley_error error = {0};
    medley_model *model = NULL;
    size_t top;
    if (!cli_count(arguments, "top", 20, &top))
        return CLI_USAGE;
    if (arguments->word_count != 1)
        return cli_usage_error(arguments, "give one model file: medley inspect MODEL");
    if (medley_model_load(&model, arguments->words[0], &error) < 0)
        return cli_fail(arguments, &error);
    if (arguments->json)
        print_json(model);
    else
        print_text(model, top);
    medley_model_free(model);
    return CLI_OK;
}

static const cli_option options[] = {{"top", "N", "20", "how many blocks to show", false}, {0}};

static const char *const examples[] = {"the kernels that matter",
                                       "medley inspect --top 10 model.medley", NULL};

extern const cli_command cli_command_inspect;
const cli_command cli_command_inspect = {
    .name = "inspect",
    .usage = "[options] MODEL",
    .summary = "show what a model has learnt: its blocks by weight",
    .description = "Lists the blocks (kernels, views) of a model by weight, with their norms and "
                   "how many rows or features carry them.",
    .options = options,
    .groups = CLI_RUN,
    .examples = examples,
    .run = run_inspect,
};
