/* SPDX-License-Identifier: BSD-3-Clause */
/* What train and inspect both tell of a model. */
#include "summary.h"
#include "cli.h"

#include <math.h>

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

void cli_json_epochs(const medley_summary *summary)
{
    json_open(stdout, "epochs", '[');
    for (size_t e = 0; e < summary->epoch_count; e++) {
        const medley_epoch *epoch = &summary->epochs[e];
        json_open(stdout, NULL, '{');
        json_number(stdout, "objective", epoch->objective);
        json_number(stdout, "loss", epoch->loss);
        json_number(stdout, "dev_accuracy", epoch->dev_accuracy);
        json_number(stdout, "seconds", epoch->seconds);
        if (!isnan(epoch->dual))
            json_number(stdout, "dual", epoch->dual);
        if (!isnan(epoch->gap)) {
            json_number(stdout, "gap", epoch->gap);
            json_count(stdout, "active", epoch->active);
        } else if (summary->updates > 0) {
            json_count(stdout, "updates", epoch->updates);
        }
        json_close(stdout, '}');
    }
    json_close(stdout, ']');
}

void cli_json_result(const medley_summary *summary)
{
    json_number(stdout, "objective", summary->objective);
    json_number(stdout, "dual", summary->dual);
    json_number(stdout, "gap", summary->gap);
    json_count(stdout, "iterations", summary->iterations);
    if (summary->updates > 0)
        json_count(stdout, "updates", summary->updates);
    if (!isnan(summary->radius)) {
        json_number(stdout, "radius", summary->radius);
        json_number(stdout, "bound", summary->bound);
    }
    if (isnan(summary->bias))
        return;
    json_number(stdout, "bias", summary->bias);
    json_count(stdout, "newton_steps", summary->newton_steps);
    json_count(stdout, "passes", summary->passes);
}

void cli_print_certificate(FILE *file, const medley_summary *summary)
{
    if (isnan(summary->gap))
        return;
    fprintf(file,
            "certified: objective %.6g, dual %.6g, gap %.2g %%, %zu iterations, %zu of %zu "
            "kernels\n",
            summary->objective, summary->dual, 100 * summary->gap, summary->iterations,
            summary->active_blocks, summary->block_count);
    if (summary->dual - summary->objective > 1e-9 * summary->objective)
        fprintf(file, "the dual is above the objective: kernel values are too coarse for so little "
                      "penalty; use a stronger one (--spicy-C), or --storage float64 with "
                      "precomputed kernels\n");
    else if (!summary->converged)
        fprintf(file, "the gap that was asked for (--gap) was not reached\n");
}

void cli_print_stages(FILE *file, const medley_summary *summary)
{
    if (isnan(summary->radius))
        return;
    fprintf(file, "%zu updates in %zu rounds, R %.4g, bound of theorem 1 %.3g\n", summary->updates,
            summary->iterations, summary->radius, summary->bound);
    if (!summary->converged)
        fprintf(file, "the objective has not settled: more epochs or --average would lower it\n");
}

void cli_print_fit(FILE *file, const medley_evaluation *evaluation)
{
    fprintf(file, "rmse %.6g, ", evaluation->rmse);
    if (isnan(evaluation->r2))
        fprintf(file, "R2 not defined: all numbers in the data are the same");
    else
        fprintf(file, "R2 %.4f", evaluation->r2);
}
