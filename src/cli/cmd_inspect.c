/* SPDX-License-Identifier: BSD-3-Clause */
/* medley inspect: what a model has learnt. */
#include "cli.h"
#include "proba.h"
#include "summary.h"

#include <math.h>
#include <stdlib.h>

/* The strongest features of the blocks that are shown; kernels have none. */
static medley_status print_features(const medley_model *model, size_t top, size_t most,
                                    medley_error *error)
{
    const medley_summary *s = medley_model_summary(model);
    const char *none = medley_task_about(s->task)->no_features;
    if (none != NULL) {
        printf("\n%s\n", none);
        return MEDLEY_OK;
    }
    size_t *order = cli_blocks_by_weight(s);
    medley_status status = MEDLEY_OK;
    for (size_t i = 0; order != NULL && i < s->block_count && i < top && status >= 0; i++) {
        medley_feature *features;
        size_t count;
        status = medley_model_features(&features, &count, model, order[i], most, error);
        if (status < 0)
            break;
        if (count > 0)
            printf("\n%s\n", s->blocks[order[i]].name);
        for (size_t f = 0; f < count; f++)
            printf("  %+9.4f  %s\n", features[f].value, features[f].text);
        medley_features_free(features, count);
    }
    free(order);
    return status;
}

static medley_status print_json_features(const medley_model *model, size_t most,
                                         medley_error *error)
{
    const medley_summary *s = medley_model_summary(model);
    medley_status status = MEDLEY_OK;
    json_open(stdout, "strongest", '{');
    for (size_t m = 0; m < s->block_count && status >= 0; m++) {
        medley_feature *features;
        size_t count;
        status = medley_model_features(&features, &count, model, m, most, error);
        if (status < 0 || count == 0)
            continue;
        json_open(stdout, s->blocks[m].name, '{');
        for (size_t f = 0; f < count; f++)
            json_number(stdout, features[f].text, features[f].value);
        json_close(stdout, '}');
        medley_features_free(features, count);
    }
    json_close(stdout, '}');
    return status;
}

static medley_status print_json(const medley_model *model, size_t features, medley_error *error)
{
    const medley_summary *s = medley_model_summary(model);
    size_t *order = cli_blocks_by_weight(s);
    json_open(stdout, NULL, '{');
    cli_json_settings(s);
    json_count(stdout, "examples", s->examples);
    json_count(stdout, "support_rows", s->support_rows);
    cli_json_result(s);
    cli_json_calibration(model);
    cli_json_epochs(s);
    json_count(stdout, "active_blocks", s->active_blocks);
    cli_json_labels(stdout, model, medley_model_label_count(model));
    cli_json_blocks(s, order);
    const medley_status status =
        features > 0 ? print_json_features(model, features, error) : MEDLEY_OK;
    json_end(stdout);
    free(order);
    return status;
}

static medley_status print_text(const medley_model *model, size_t top, size_t features,
                                medley_error *error)
{
    const medley_summary *s = medley_model_summary(model);
    const medley_task_info *task = medley_task_about(s->task);
    printf("%s", s->task);
    if (task->has_labels)
        printf(" with %zu labels", medley_model_label_count(model));
    printf(", learnt by %s from %zu examples\n", s->method, s->examples);
    printf("%s loss, penalty %s, lambda %.4g (C %.4g)", s->loss, s->penalty, s->lambda, s->C);
    if (isnan(s->gap))
        printf(", objective %.6g after %zu epochs", s->objective, s->epoch_count);
    printf("\n");
    cli_print_certificate(stdout, s);
    printf("%zu of %zu blocks active, %zu support rows", s->active_blocks, s->block_count,
           s->support_rows);
    if (!isnan(s->bias))
        printf(", bias %.6g", s->bias);
    printf("\n");
    if (!cli_print_calibration(stdout, model) && task->has_probabilities)
        printf("probabilities are not calibrated (train --calibrate)\n");
    printf("\n");
    cli_print_blocks(stdout, s, top);
    return features > 0 ? print_features(model, top, features, error) : MEDLEY_OK;
}

static int run_inspect(cli_arguments *arguments)
{
    medley_error error = {0};
    medley_model *model = NULL;
    size_t top;
    size_t features;
    if (!cli_count(arguments, "top", 20, &top) || !cli_count(arguments, "features", 0, &features))
        return CLI_USAGE;
    if (arguments->word_count != 1)
        return cli_usage_error(arguments, "give one model file: medley inspect MODEL");
    if (medley_model_load(&model, arguments->words[0], &error) < 0)
        return cli_fail(arguments, &error);
    const medley_status status = arguments->json ? print_json(model, features, &error)
                                                 : print_text(model, top, features, &error);
    medley_model_free(model);
    return status < 0 ? cli_fail(arguments, &error) : CLI_OK;
}

static const cli_option options[] = {
    {"top", "N", "20", "how many blocks to show", false},
    {"features", "N", "0",
     "show the N strongest features of each of them (templates and label context)", false},
    {0}};

static const char *const examples[] = {
    "the kernels that matter", "medley inspect --top 10 model.medley",
    "templates and their strongest features", "medley inspect --features 5 chunk.medley", NULL};

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
