/* SPDX-License-Identifier: BSD-3-Clause */
/* What several commands tell of a model and of its measures. */
#include "cli.h"

void cli_json_settings(const medley_summary *summary)
{
    json_string(stdout, "task", summary->task);
    json_string(stdout, "method", summary->method);
    json_string(stdout, "loss", summary->loss);
    json_string(stdout, "penalty", summary->lambda > 0 ? summary->penalty : "none");
    if (!(summary->lambda > 0))
        json_string(stdout, "norm", summary->penalty);
    json_number(stdout, "lambda", summary->lambda);
    json_number(stdout, "C", summary->C);
    json_number(stdout, "spicy_C", summary->spicy_C);
    if (summary->scale[0] != '\0')
        json_string(stdout, "scale", summary->scale);
}

void cli_json_blocks(const medley_model *model, const size_t *order)
{
    const medley_summary *summary = medley_model_summary(model);
    json_open(stdout, "blocks", '[');
    for (size_t m = 0; m < summary->block_count; m++) {
        const size_t which = order != NULL ? order[m] : m;
        const medley_block_info *block = &summary->blocks[which];
        const double gamma = medley_model_gamma(model, which);
        json_open(stdout, NULL, '{');
        json_string(stdout, "name", block->name);
        json_number(stdout, "weight", block->weight);
        json_number(stdout, "norm", block->norm);
        json_count(stdout, "features", block->features);
        if (!isnan(gamma))
            json_number(stdout, "gamma", gamma);
        json_close(stdout, '}');
    }
    json_close(stdout, ']');
}

void cli_json_labels(FILE *file, const medley_model *model, size_t count)
{
    json_open(file, "labels", '[');
    for (size_t l = 0; l < count; l++)
        json_string(file, NULL, medley_model_label_name(model, l));
    json_close(file, ']');
}

cli_device cli_device_of(const medley_model *model)
{
    const medley_summary *summary = medley_model_summary(model);
    cli_device device;
    snprintf(device.name, sizeof device.name, "%s", summary->device);
    snprintf(device.use, sizeof device.use, "%s", summary->device_use);
    snprintf(device.reason, sizeof device.reason, "%s", summary->device_reason);
    return device;
}

void cli_json_device(FILE *file, const cli_device *device)
{
    json_string(file, "device", device->name);
    json_string(file, "device_use", device->use);
    json_string(file, "device_reason", device->reason);
}

void cli_print_device(const cli_device *device)
{
    if (device->use[0] != '\0')
        printf("%s: %s\n", device->name, device->use);
    else if (device->reason[0] != '\0')
        printf("no card was used: %s\n", device->reason);
}

/* The key "epochs"; what a method does not measure is left out. */
static void json_epochs(const medley_summary *summary)
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
            if (summary->updates == 0)
                json_count(stdout, "active", epoch->active);
        }
        if (summary->updates > 0)
            json_count(stdout, "updates", epoch->updates);
        json_close(stdout, '}');
    }
    json_close(stdout, ']');
}

/* The key "calibration": an object, or null; nothing for a regression. */
static void json_calibration(const medley_model *model)
{
    const medley_summary *s = medley_model_summary(model);
    if (!medley_task_about(s->task)->has_labels)
        return;
    if (isnan(s->temperature)) {
        json_number(stdout, "calibration", NAN);
        return;
    }
    json_open(stdout, "calibration", '{');
    json_number(stdout, "temperature", s->temperature);
    if (s->offsets != NULL)
        json_numbers(stdout, "offsets", s->offsets, medley_model_label_count(model));
    json_close(stdout, '}');
}

/* The key "preselection", the best kernel first. */
static void json_preselection(const medley_summary *summary)
{
    json_open(stdout, "preselection", '{');
    json_count(stdout, "rows", summary->preselected_rows);
    json_open(stdout, "kernels", '[');
    for (size_t m = 0; m < summary->preselected_count; m++) {
        json_open(stdout, NULL, '{');
        json_string(stdout, "kernel", summary->preselected[m].name);
        json_number(stdout, "error", summary->preselected[m].error);
        json_bool(stdout, "kept", summary->preselected[m].kept);
        json_close(stdout, '}');
    }
    json_close(stdout, ']');
    json_close(stdout, '}');
}

void cli_json_result(const medley_model *model)
{
    const medley_summary *summary = medley_model_summary(model);
    json_number(stdout, "objective", summary->objective);
    json_number(stdout, "dual", summary->dual);
    json_number(stdout, "gap", summary->gap);
    json_count(stdout, "iterations", summary->iterations);
    if (summary->updates > 0)
        json_count(stdout, "updates", summary->updates);
    if (summary->updates > 0)
        json_count(stdout, "steps_skipped", summary->steps_skipped);
    if (!isnan(summary->radius)) {
        json_number(stdout, "radius", summary->radius);
        json_number(stdout, "bound", summary->bound);
    }
    if (summary->regret.gradient > 0) {
        json_open(stdout, "theory", '{');
        json_number(stdout, "G", summary->regret.gradient);
        json_number(stdout, "F", summary->regret.diameter);
        json_number(stdout, "regret_bound", summary->regret.bound);
        json_number(stdout, "regret", summary->regret.measured);
        json_close(stdout, '}');
    }
    if (summary->mistakes.rounds > 0) {
        const medley_mistakes *online = &summary->mistakes;
        json_open(stdout, "theory", '{');
        json_count(stdout, "online_rounds", online->rounds);
        json_count(stdout, "mistakes", online->mistakes);
        json_count(stdout, "online_updates", online->updates);
        json_number(stdout, "mistake_bound", online->bound);
        json_number(stdout, "cumulative_loss", online->loss);
        json_close(stdout, '}');
    }
    if (!isnan(summary->bias)) {
        json_number(stdout, "bias", summary->bias);
        json_count(stdout, "newton_steps", summary->newton_steps);
        json_count(stdout, "passes", summary->passes);
    }
    if (summary->preselected_count > 0)
        json_preselection(summary);
    json_calibration(model);
    json_epochs(summary);
}

bool cli_aims_at_gap(const medley_summary *summary)
{
    const size_t count = summary->epoch_count;
    return !isnan(summary->gap) && (count == 0 || !isnan(summary->epochs[count - 1].gap));
}

void cli_print_certificate(FILE *file, const medley_summary *summary)
{
    if (isnan(summary->gap) && !isnan(summary->wanted_gap))
        fprintf(file,
                "no certificate: with this penalty no bound from below is known, and --gap is "
                "only estimated\n");
    if (isnan(summary->gap))
        return;
    if (!cli_aims_at_gap(summary)) {
        fprintf(file, "dual %.6g, gap %.2g %%: no weights have an objective below the dual\n",
                summary->dual, 100 * summary->gap);
        return;
    }
    fprintf(file,
            "%s: objective %.6g, dual %.6g, gap %.2g %%, %zu iterations, %zu of %zu kernels\n",
            summary->converged ? "certified" : "not certified", summary->objective, summary->dual,
            100 * summary->gap, summary->iterations, summary->active_blocks, summary->block_count);
    if (!summary->converged)
        fprintf(file, "the gap that was asked for (--gap) was not reached\n");
}

/* What method obscure tells of its stages; nothing of others. Bounds of theory are in the JSON. */
static void print_stages(FILE *file, const medley_summary *summary)
{
    const medley_mistakes *online = &summary->mistakes;
    if (isnan(summary->radius))
        return;
    fprintf(file, "%zu updates in %zu rounds", summary->updates, summary->iterations);
    if (online->rounds > 0)
        fprintf(file, ", of them in the online stage %zu in %zu, with %zu mistakes",
                online->updates, online->rounds, online->mistakes);
    fprintf(file, "\n");
    if (!summary->converged)
        fprintf(file, "still improving when it stopped: more epochs or --average would lower the "
                      "objective\n");
}

/* What was left undone on purpose. */
static void print_skipped(FILE *file, const medley_summary *summary)
{
    if (summary->steps_skipped > 0)
        fprintf(file, "%zu steps of nearly certain %s were left out (--skip-certain 0: none)\n",
                summary->steps_skipped,
                medley_task_about(summary->task)->has_heads ? "words and arcs" : "rows");
}

/* Option preselect: what was kept, and the best of what was not. */
static void print_preselection(FILE *file, const medley_summary *summary)
{
    enum { MOST = 20 };
    const bool numbers = !medley_task_about(summary->task)->has_labels;
    size_t kept = 0;
    size_t shown = 0;
    if (summary->preselected_count == 0)
        return;
    for (size_t m = 0; m < summary->preselected_count; m++)
        kept += summary->preselected[m].kept;
    fprintf(file, "%zu of %zu kernels kept, by leave-one-out %s on %zu rows:\n", kept,
            summary->preselected_count, numbers ? "rmse" : "error", summary->preselected_rows);
    for (size_t m = 0; m < summary->preselected_count && shown < MOST; m++) {
        const medley_preselected *kernel = &summary->preselected[m];
        if (!kernel->kept)
            continue;
        shown++;
        if (isnan(kernel->error))
            fprintf(file, "  a constant  %s\n", kernel->name);
        else
            fprintf(file, numbers ? "  %10.4g  %s\n" : "  %8.2f %%  %s\n",
                    numbers ? kernel->error : 100 * kernel->error, kernel->name);
    }
    if (kept > MOST)
        fprintf(file, "  and %zu more (--json has them)\n", kept - MOST);
}

void cli_print_saved(FILE *file, const medley_summary *summary, const char *path, size_t bytes,
                     bool interrupted)
{
    const double kilobytes = (double)bytes / 1e3;
    fprintf(file, "model with %zu support rows written to %s (%.4g %s)%s\n", summary->support_rows,
            path, kilobytes < 1000 ? kilobytes : kilobytes / 1000, kilobytes < 1000 ? "kB" : "MB",
            interrupted ? "; training was interrupted" : "");
}

void cli_print_gammas(FILE *file, const medley_model *model)
{
    const medley_summary *s = medley_model_summary(model);
    for (size_t m = 0; m < s->block_count; m++)
        if (!isnan(medley_model_gamma(model, m)))
            fprintf(file, "%s: exp(-d/gamma) of distances d, gamma %.6g\n", s->blocks[m].name,
                    medley_model_gamma(model, m));
}

bool cli_print_calibration(FILE *file, const medley_model *model)
{
    const medley_summary *s = medley_model_summary(model);
    if (isnan(s->temperature))
        return false;
    fprintf(file, "calibrated probabilities: temperature %.4g", s->temperature);
    if (s->offsets != NULL) {
        double least = s->offsets[0];
        double most = s->offsets[0];
        for (size_t l = 1; l < medley_model_label_count(model); l++) {
            least = fmin(least, s->offsets[l]);
            most = fmax(most, s->offsets[l]);
        }
        fprintf(file, ", offsets %.3g to %.3g", least, most);
    }
    fprintf(file, "\n");
    return true;
}

void cli_print_fit(FILE *file, const medley_evaluation *evaluation)
{
    fprintf(file, "rmse %.6g, ", evaluation->rmse);
    if (isnan(evaluation->r2))
        fprintf(file, "R2 not defined: the numbers in the data have no variance");
    else
        fprintf(file, "R2 %.4f", evaluation->r2);
}

void cli_json_model(const medley_model *model)
{
    const medley_summary *s = medley_model_summary(model);
    cli_json_settings(s);
    json_number(stdout, "eta0", s->eta0);
    json_count(stdout, "examples", s->examples);
    json_count(stdout, "parts", s->parts);
    cli_json_blocks(model, NULL);
    json_count(stdout, "active_blocks", s->active_blocks);
    cli_json_result(model);
}

void cli_print_model(FILE *file, const medley_model *model)
{
    const medley_summary *s = medley_model_summary(model);
    const bool penalised = s->lambda > 0;
    fprintf(file, "%s, %s loss, %s %s, method %s\n", s->task, s->loss,
            penalised ? "penalty" : "no penalty, norm", s->penalty, s->method);
    if (penalised)
        fprintf(file, "lambda %.4g (C %.4g, spicy_C %.4g), ", s->lambda, s->C, s->spicy_C);
    if (!cli_aims_at_gap(s) && !isnan(s->eta0))
        fprintf(file, "%s %g, ", isnan(s->radius) ? "eta0" : "eta", s->eta0);
    if (!cli_aims_at_gap(s))
        fprintf(file, "%zu epochs, ", s->epoch_count);
    fprintf(file, "seed %llu\n%zu examples", s->seed, s->examples);
    if (medley_task_about(s->task)->has_labels)
        fprintf(file, ", %zu labels", medley_model_label_count(model));
    fprintf(file, ", %zu of %zu blocks active, %s %.6g\n", s->active_blocks, s->block_count,
            penalised ? "objective" : "mean loss", s->objective);
    if (s->scale[0] != '\0')
        fprintf(file, "scale %s\n", s->scale);
    cli_print_gammas(file, model);
    print_preselection(file, s);
    cli_print_certificate(file, s);
    print_stages(file, s);
    print_skipped(file, s);
    cli_print_calibration(file, model);
    fprintf(file, "\n");
    cli_print_blocks(file, s, 20);
}
