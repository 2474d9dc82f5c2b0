/* SPDX-License-Identifier: BSD-3-Clause */
/* medley inspect: what a model has learnt. */
#include "cli.h"

/* The strongest features of one block: a paragraph, or a member of a JSON object. Kernels have
 * none. */
static medley_status print_block(const medley_model *model, size_t block, size_t most, bool json,
                                 medley_error *error)
{
    const char *name = medley_model_summary(model)->blocks[block].name;
    medley_feature *features;
    size_t count;
    CLI_TRY(medley_model_features(&features, &count, model, block, most, error));
    if (count > 0 && json)
        json_open(stdout, name, '{');
    else if (count > 0)
        printf("\n%s\n", name);
    for (size_t f = 0; f < count; f++)
        if (json)
            json_number(stdout, features[f].text, features[f].value);
        else
            printf("  %+9.4f  %s\n", features[f].value, features[f].text);
    if (count > 0 && json)
        json_close(stdout, '}');
    medley_features_free(features, count);
    return MEDLEY_OK;
}

/* Of the blocks that are shown. */
static medley_status print_features(const medley_model *model, const size_t *order, size_t top,
                                    size_t most, medley_error *error)
{
    const medley_summary *s = medley_model_summary(model);
    const char *none = medley_task_about(s->task)->no_features;
    if (none != NULL)
        printf("\n%s\n", none);
    for (size_t i = 0; none == NULL && i < s->block_count && i < top; i++)
        CLI_TRY(print_block(model, order[i], most, false, error));
    return MEDLEY_OK;
}

static medley_status print_json_features(const medley_model *model, size_t most,
                                         medley_error *error)
{
    json_open(stdout, "strongest", '{');
    for (size_t m = 0; m < medley_model_summary(model)->block_count; m++)
        CLI_TRY(print_block(model, m, most, true, error));
    json_close(stdout, '}');
    return MEDLEY_OK;
}

static medley_status print_json(const medley_model *model, const size_t *order, size_t features,
                                medley_error *error)
{
    const medley_summary *s = medley_model_summary(model);
    json_open(stdout, NULL, '{');
    cli_json_settings(s);
    json_count(stdout, "examples", s->examples);
    json_count(stdout, "support_rows", s->support_rows);
    cli_json_result(model);
    json_count(stdout, "active_blocks", s->active_blocks);
    cli_json_labels(stdout, model, medley_model_label_count(model));
    cli_json_blocks(model, order);
    if (features > 0)
        CLI_TRY(print_json_features(model, features, error));
    json_end(stdout);
    return MEDLEY_OK;
}

static void print_text(const medley_model *model, size_t top)
{
    const medley_summary *s = medley_model_summary(model);
    const medley_task_info *task = medley_task_about(s->task);
    printf("%s", s->task);
    if (task->has_labels)
        printf(" with %zu labels", medley_model_label_count(model));
    printf(", learnt by %s from %zu examples\n", s->method, s->examples);
    if (s->lambda > 0)
        printf("%s loss, penalty %s, lambda %.4g (C %.4g)", s->loss, s->penalty, s->lambda, s->C);
    else
        printf("%s loss, no penalty, norm %s", s->loss, s->penalty);
    if (!cli_aims_at_gap(s))
        printf(", %s %.6g after %zu epochs", s->lambda > 0 ? "objective" : "mean loss",
               s->objective, s->epoch_count);
    printf("\n");
    cli_print_certificate(stdout, s);
    printf("%zu of %zu blocks active, %zu support rows", s->active_blocks, s->block_count,
           s->support_rows);
    if (!isnan(s->bias))
        printf(", bias %.6g", s->bias);
    printf("\n");
    if (s->scale[0] != '\0')
        printf("scale %s\n", s->scale);
    cli_print_gammas(stdout, model);
    if (!cli_print_calibration(stdout, model) && task->has_probabilities)
        printf("probabilities are not calibrated (train --calibrate)\n");
    printf("\n");
    cli_print_blocks(stdout, s, top);
}

static medley_status run_inspect(cli_arguments *arguments, medley_error *error)
{
    CLI_OWNED(medley_model_free) medley_model *model = NULL;
    size_t top = 20;
    size_t features = 0;
    CLI_TRY(cli_count(arguments, "top", &top, error));
    CLI_TRY(cli_count(arguments, "features", &features, error));
    const char *path = cli_value(arguments, "model");
    if (path == NULL || arguments->word_count > 0)
        return cli_refuse(error, "give one model file: medley inspect MODEL");
    CLI_TRY(medley_model_load(&model, path, error));
    CLI_OWNED(free) size_t *order = cli_blocks_by_weight(medley_model_summary(model));
    if (order == NULL)
        return cli_error(error, MEDLEY_FAILED, "out of memory");
    if (arguments->json)
        return print_json(model, order, features, error);
    print_text(model, top);
    return features > 0 ? print_features(model, order, top, features, error) : MEDLEY_OK;
}

static const cli_option options[] = {
    {"model", "FILE", "", "the model, unless it is the first argument", .group = "output"},
    {"top", "N", "20", "how many blocks to show", .group = "output"},
    {"features", "N", "0",
     "show the N strongest features of each of them (templates and label context)",
     .group = "output"},
    {0}};

static const char *const examples[] = {
    "the kernels that matter", "medley inspect --top 10 model.medley",
    "templates and their strongest features", "medley inspect --features 5 chunk.medley", NULL};

const cli_command cli_command_inspect = {
    .name = "inspect",
    .usage = "[options] MODEL",
    .summary = "show what a model has learnt: its blocks by weight",
    .description = "Lists the blocks (kernels, views) of a model by weight, with their norms and "
                   "how many rows or features carry them.",
    .options = options,
    .groups = CLI_RUN,
    .model = CLI_READS_MODEL,
    .examples = examples,
    .run = run_inspect,
};
