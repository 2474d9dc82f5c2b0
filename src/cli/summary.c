/* SPDX-License-Identifier: BSD-3-Clause */
/* What train and inspect both tell of a model in JSON. */
#include "cli.h"

void cli_json_settings(const medley_summary *summary)
{
    json_string(stdout, "task", summary->task);
    json_string(stdout, "method", summary->method);
    json_string(stdout, "loss", summary->loss);
    json_string(stdout, "penalty", summary->penalty);
    json_number(stdout, "lambda", summary->lambda);
    json_number(stdout, "C", summary->C);
    json_number(stdout, "spicy_C", summary->spicy_C);
}

void cli_json_block(const medley_block_info *block)
{
    json_open(stdout, NULL, '{');
    json_string(stdout, "name", block->name);
    json_number(stdout, "weight", block->weight);
    json_number(stdout, "norm", block->norm);
    json_count(stdout, "features", block->features);
    json_close(stdout, '}');
}
